//! Boxed calls: arguments as the generated code unboxes them, and results both ways.

use super::few::Few;
use super::value::{FromValue, Value};
#[cfg(any(feature = "op-nested", feature = "op-sparse", feature = "op-quantization"))]
use crate::autograd::{check_inplace, should_record};
use crate::generator::Generator;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, Device, DimVec, Layout, MemoryFormat, Result, Scalar, SmallVec, bail, err};
use std::ops::Deref;

/// The arguments of a boxed call, complete, in the order of the schema.
#[derive(Clone, Copy)]
pub struct Args<'a>(pub &'a [Value]);

macro_rules! typed {
    ($($(#[$doc:meta])* $name:ident -> $type:ty;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name(&self, index: usize) -> Result<$type> {
            self.get(index)
        }
    )*};
}

impl<'a> Args<'a> {
    /// The argument at `index`. The caller has checked the arguments against the schema, with their names; this
    /// function reports a wrong kind by position.
    #[inline(never)]
    pub fn get<T: FromValue<'a>>(&self, index: usize) -> Result<T> {
        let Some(value) = self.0.get(index) else { bail!(Type, "argument {index} is missing") };
        T::from_value(value).ok_or_else(|| err!(Type, "argument {index} must be {}, not {}", T::EXPECTED, value.kind()))
    }

    /// An error if the call would have to be recorded: the operator has no derivative for `kind` tensors.
    #[cfg(any(feature = "op-nested", feature = "op-sparse"))]
    pub(crate) fn check_unrecorded(&self, operator: &str, kind: &str) -> Result<()> {
        let mut records = false;
        self.0.iter().for_each(|value| value.for_each_tensor(|tensor| records |= should_record([tensor])));
        if records {
            bail!(NotImplemented, "the derivative for '{operator}' is not implemented for {kind} tensors");
        }
        Ok(())
    }

    /// Checks that the call may write `target` in place.
    #[cfg(any(feature = "op-nested", feature = "op-sparse", feature = "op-quantization"))]
    pub(crate) fn check_in_place(&self, target: &Tensor) -> Result<()> {
        let mut records = false;
        self.0.iter().for_each(|value| value.for_each_tensor(|tensor| records |= should_record([tensor])));
        check_inplace(target, records)
    }

    /// `Tensor`
    #[inline]
    pub fn tensor(&self, index: usize) -> Result<&'a Tensor> {
        match self.0.get(index) {
            Some(Value::Tensor(tensor)) => Ok(tensor),
            _ => self.get(index),
        }
    }

    /// `Scalar`
    #[inline]
    pub fn scalar(&self, index: usize) -> Result<Scalar> {
        match self.0.get(index) {
            Some(Value::Scalar(scalar)) => Ok(*scalar),
            _ => self.get(index),
        }
    }

    typed! {
        /// `Tensor?`
        tensor_opt -> Option<&'a Tensor>;
        /// `Tensor[]`
        tensors -> SmallVec<[&'a Tensor; 8]>;
        /// `Tensor?[]`
        tensors_opt -> SmallVec<[Option<&'a Tensor>; 8]>;
        /// `Scalar?`
        scalar_opt -> Option<Scalar>;
        /// `Scalar[]`
        scalars -> Vec<Scalar>;
        /// `int`
        int -> i64;
        /// `int?`
        int_opt -> Option<i64>;
        /// `int[]`
        ints -> DimVec;
        /// `int[]?`
        ints_opt -> Option<DimVec>;
        /// `float`
        float -> f64;
        /// `float?`
        float_opt -> Option<f64>;
        /// `float[]`
        floats -> Vec<f64>;
        /// `float[]?`
        floats_opt -> Option<Vec<f64>>;
        /// `bool`
        bool -> bool;
        /// `bool?`
        bool_opt -> Option<bool>;
        /// `bool[]`
        bools -> Vec<bool>;
        /// `str`
        str -> &'a str;
        /// `str?`
        str_opt -> Option<&'a str>;
        /// `ScalarType`
        dtype -> DType;
        /// `ScalarType?`
        dtype_opt -> Option<DType>;
        /// `Layout?`
        layout_opt -> Option<Layout>;
        /// `Device`
        device -> Device;
        /// `Device?`
        device_opt -> Option<Device>;
        /// `MemoryFormat`
        memory_format -> MemoryFormat;
        /// `MemoryFormat?`
        memory_format_opt -> Option<MemoryFormat>;
        /// `Generator?`
        generator_opt -> Option<&'a Generator>;
    }

    /// The four arguments from `index` on: dtype, layout, device, pin_memory.
    pub fn options(&self, index: usize) -> Result<Options> {
        Ok(Options {
            dtype: self.get(index)?,
            layout: self.get(index + 1)?,
            device: self.get(index + 2)?,
            pin_memory: self.get(index + 3)?,
        })
    }
}

/// The results of a boxed call, in the order of the schema.
#[derive(Clone, Debug, Default)]
pub struct Values(pub Few<2>);

impl Deref for Values {
    type Target = [Value];
    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl Values {
    /// No results yet.
    #[inline]
    pub fn new() -> Values {
        Values(Few::new())
    }

    /// The results as the typed function returns them.
    pub fn extract<T: FromValues>(mut self) -> Result<T> {
        T::from_values(&mut self)
    }

    /// Adds what a typed function returns.
    #[inline(never)]
    pub fn put(&mut self, results: impl IntoValues) {
        results.into_values(self);
    }
}

/// A return type of typed functions: to boxed results.
pub trait IntoValues {
    /// Appends the results.
    fn into_values(self, values: &mut Values);
}

/// A return type of typed functions: from boxed results.
pub trait FromValues: Sized {
    /// Takes the results out of `values`.
    fn from_values(values: &mut Values) -> Result<Self>;
}

impl<T: Into<Value>> IntoValues for T {
    #[inline]
    fn into_values(self, values: &mut Values) {
        values.0.push(self.into());
    }
}

impl IntoValues for () {
    fn into_values(self, _: &mut Values) {}
}

impl FromValues for () {
    fn from_values(_: &mut Values) -> Result<()> {
        Ok(())
    }
}

/// A result of a typed function that is taken out of a value.
pub trait Taken: Sized {
    /// The name of the type in schemas, for messages.
    const EXPECTED: &'static str;

    /// The value as this type. A value of another type stays.
    fn taken(value: &mut Value) -> Option<Self>;
}

impl Taken for Tensor {
    const EXPECTED: &'static str = "Tensor";

    #[inline]
    fn taken(value: &mut Value) -> Option<Tensor> {
        value.take_tensor()
    }
}

impl Taken for Value {
    const EXPECTED: &'static str = "Any";

    fn taken(value: &mut Value) -> Option<Value> {
        Some(std::mem::take(value))
    }
}

macro_rules! taken {
    ($($type:ty),* $(,)?) => {$(
        impl Taken for $type {
            const EXPECTED: &'static str = <$type as FromValue<'static>>::EXPECTED;

            fn taken(value: &mut Value) -> Option<$type> {
                <$type>::from_value(value)
            }
        }
    )*};
}

taken!(
    Vec<Tensor>,
    bool,
    i64,
    f64,
    Scalar,
    DType,
    Layout,
    MemoryFormat,
    Device,
    String,
    DimVec,
    Vec<f64>,
    Vec<bool>,
    Vec<Scalar>
);

#[inline(never)]
fn taken_at<T: Taken>(values: &mut Values, index: usize) -> Result<T> {
    let Some(value) = values.0.get_mut(index) else { bail!(Type, "result {index} is missing") };
    T::taken(value).ok_or_else(|| err!(Type, "result {index} must be {}, not {}", T::EXPECTED, value.kind()))
}

impl<T: Taken> FromValues for T {
    #[inline]
    fn from_values(values: &mut Values) -> Result<T> {
        taken_at(values, 0)
    }
}

macro_rules! tuple_results {
    ($($index:tt $name:ident),*) => {
        impl<$($name: Into<Value>),*> IntoValues for ($($name,)*) {
            fn into_values(self, values: &mut Values) {
                values.0.extend([$(self.$index.into()),*]);
            }
        }

        impl<$($name: Taken),*> FromValues for ($($name,)*) {
            fn from_values(values: &mut Values) -> Result<($($name,)*)> {
                Ok(($(taken_at::<$name>(values, $index)?,)*))
            }
        }
    };
}

tuple_results!(0 A, 1 B);
tuple_results!(0 A, 1 B, 2 C);
tuple_results!(0 A, 1 B, 2 C, 3 D);
tuple_results!(0 A, 1 B, 2 C, 3 D, 4 E);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_unbox_where_pytorch_accepts_them() {
        let values = [Value::from(2i64), Value::from(true), Value::from(0.5), Value::None];
        let args = Args(&values);
        assert_eq!(args.float(0).unwrap(), 2.0);
        assert_eq!(args.scalar(1).unwrap(), Scalar::Bool(true));
        assert_eq!(args.int_opt(3).unwrap(), None);
        assert_eq!(args.int(2).unwrap_err().message(), "argument 2 must be int, not float");
        assert!(args.int(4).is_err());
    }

    #[test]
    fn results_go_both_ways() {
        let mut values = Values::new();
        values.put((1i64, 2.5f64));
        assert_eq!(values.clone().extract::<(i64, f64)>().unwrap(), (1, 2.5));
        let error = values.extract::<Tensor>().unwrap_err();
        assert_eq!(error.message(), "result 0 must be Tensor, not int");
        values = Values::new();
        values.put(DimVec::from_slice(&[2, 3]));
        assert_eq!(values.clone().extract::<DimVec>().unwrap().as_slice(), [2, 3]);
        assert_eq!(values.extract::<Value>().unwrap(), Value::from(&[2, 3][..]));
    }
}
