//! Boxed calls: arguments as the generated code unboxes them, and results both ways.

use super::value::{FromValue, Value};
use crate::generator::Generator;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, Device, DimVec, Layout, MemoryFormat, Result, Scalar, SmallVec, bail, err, smallvec};
use std::ops::Deref;

/// The arguments of a boxed call, all filled in, in the order of the schema.
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
    /// The argument at `index`. The caller has checked the arguments against the schema, where names are
    /// known; here a wrong kind is told by position.
    #[inline(never)]
    pub fn get<T: FromValue<'a>>(&self, index: usize) -> Result<T> {
        let Some(value) = self.0.get(index) else { bail!(Type, "argument {index} is missing") };
        T::from_value(value).ok_or_else(|| err!(Type, "argument {index} must be {}, not {}", T::EXPECTED, value.kind()))
    }

    typed! {
        /// `Tensor`
        tensor -> &'a Tensor;
        /// `Tensor?`
        tensor_opt -> Option<&'a Tensor>;
        /// `Tensor[]`
        tensors -> SmallVec<[&'a Tensor; 8]>;
        /// `Tensor?[]`
        tensors_opt -> SmallVec<[Option<&'a Tensor>; 8]>;
        /// `Scalar`
        scalar -> Scalar;
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
pub struct Values(pub SmallVec<[Value; 2]>);

impl Deref for Values {
    type Target = [Value];
    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl Values {
    /// The results as the typed function returns them.
    pub fn extract<T: FromValues>(self) -> Result<T> {
        T::from_values(&self)
    }
}

/// A return type of typed functions.
pub trait FromValues: Sized {
    /// The results unboxed.
    fn from_values(values: &Values) -> Result<Self>;
}

macro_rules! single_results {
    ($($type:ty),* $(,)?) => {$(
        impl From<$type> for Values {
            #[inline(never)]
            fn from(value: $type) -> Values {
                Values(smallvec![value.into()])
            }
        }

        impl FromValues for $type {
            fn from_values(values: &Values) -> Result<$type> {
                Args(values).get(0)
            }
        }
    )*};
}

single_results!(Tensor, Vec<Tensor>, bool, i64, f64, Scalar, DType);

impl From<()> for Values {
    fn from((): ()) -> Values {
        Values::default()
    }
}

impl FromValues for () {
    fn from_values(_: &Values) -> Result<()> {
        Ok(())
    }
}

macro_rules! tuple_results {
    ($($index:tt $name:ident),*) => {
        impl<$($name: Into<Value>),*> From<($($name,)*)> for Values {
            fn from(values: ($($name,)*)) -> Values {
                Values(smallvec![$(values.$index.into()),*])
            }
        }

        impl<$($name: for<'a> FromValue<'a>),*> FromValues for ($($name,)*) {
            fn from_values(values: &Values) -> Result<($($name,)*)> {
                Ok(($(Args(values).get::<$name>($index)?,)*))
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
        let values = Values::from((1i64, 2.5f64));
        assert_eq!(values.extract::<(i64, f64)>().unwrap(), (1, 2.5));
        assert!(Values::from(true).extract::<Tensor>().is_err());
    }
}
