//! Values of any kind, as calls by name and operators defined at run time pass them: a list of numbers and a list of
//! texts, so that a call crosses the border once. `org.rushlight.Boxed` is the other side.
//!
//! A value is a tag and what belongs to it: numbers as they are, real numbers by their bits, a list as its length and
//! its elements, a text as its place among the texts.

use super::convert;
use super::frame::Frame;
use super::guard::border;
use super::handle::{self, GeneratorHandle, TensorHandle};
use jni::objects::{JLongArray, JObject, JObjectArray, JString};
use jni::sys::{jint, jlong};
use jni::{Env, jni_str};
use rushlight_base::{DType, Layout, MemoryFormat, Result, Scalar, bail, err};
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::Value;

const NONE: jlong = 0;
const SCALAR: jlong = 1;
const STRING: jlong = 2;
const DTYPE: jlong = 3;
const LAYOUT: jlong = 4;
const DEVICE: jlong = 5;
const MEMORY_FORMAT: jlong = 6;
const GENERATOR: jlong = 7;
const TENSOR: jlong = 8;
const TENSORS: jlong = 9;
const INTS: jlong = 10;
const FLOATS: jlong = 11;
const BOOLS: jlong = 12;
const SCALARS: jlong = 13;

/// Who owns the tensors behind the handles that come from Java.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Ownership {
    /// A wrapper, which holds them open during the call.
    Borrowed,
    /// The handles were given to this side.
    Given,
}

/// Values on their way.
#[derive(Default)]
pub(crate) struct Encoded {
    pub(crate) numbers: Vec<jlong>,
    pub(crate) texts: Vec<String>,
}

impl Encoded {
    /// Adds a value that goes to Java, which gets handles of its own.
    fn add(&mut self, value: &Value) {
        let numbers = &mut self.numbers;
        match value {
            Value::None => numbers.push(NONE),
            Value::Scalar(scalar) => {
                numbers.push(SCALAR);
                numbers.extend(parts(*scalar));
            }
            Value::Str(text) => {
                numbers.extend([STRING, self.texts.len() as jlong]);
                self.texts.push(text.to_string());
            }
            Value::DType(dtype) => numbers.extend([DTYPE, *dtype as jlong]),
            Value::Layout(layout) => numbers.extend([LAYOUT, *layout as jlong]),
            Value::Device(device) => numbers.extend([DEVICE, jlong::from(convert::device_code(*device))]),
            Value::MemoryFormat(format) => numbers.extend([MEMORY_FORMAT, *format as jlong]),
            Value::Generator(generator) => {
                numbers.extend([GENERATOR, handle::give_generator(generator.clone())]);
            }
            Value::Tensor(tensor) => numbers.extend([TENSOR, handle::give(tensor.clone())]),
            Value::Tensors(tensors) => {
                numbers.extend([TENSORS, tensors.len() as jlong]);
                numbers.extend(tensors.iter().map(|tensor| tensor.clone().map_or(0, handle::give)));
            }
            Value::Ints(ints) => {
                numbers.extend([INTS, ints.len() as jlong]);
                numbers.extend_from_slice(ints);
            }
            Value::Floats(floats) => {
                numbers.extend([FLOATS, floats.len() as jlong]);
                numbers.extend(floats.iter().map(|float| float.to_bits() as jlong));
            }
            Value::Bools(bools) => {
                numbers.extend([BOOLS, bools.len() as jlong]);
                numbers.extend(bools.iter().map(|truth| jlong::from(*truth)));
            }
            Value::Scalars(scalars) => {
                numbers.extend([SCALARS, scalars.len() as jlong]);
                numbers.extend(scalars.iter().flat_map(|scalar| parts(*scalar)));
            }
        }
    }

    /// Values for Java: an `Object[]` of a `long[]` and a `String[]`.
    pub(crate) fn give<'l>(values: &[Value], env: &mut Env<'l>) -> jni::errors::Result<JObject<'l>> {
        let mut encoded = Encoded::default();
        values.iter().for_each(|value| encoded.add(value));
        let pair = encoded.to_java(env);
        if pair.is_err() {
            // Nobody got the handles: take them back.
            drop(encoded.values(Ownership::Given));
        }
        pair
    }

    fn to_java<'l>(&self, env: &mut Env<'l>) -> jni::errors::Result<JObject<'l>> {
        let numbers = JLongArray::new(env, self.numbers.len())?;
        numbers.set_region(env, 0, &self.numbers)?;
        let class = env.find_class(jni_str!("java/lang/String"))?;
        let texts = env.new_object_array(self.texts.len() as i32, &class, JObject::null())?;
        for (index, text) in self.texts.iter().enumerate() {
            let text = JObject::from(env.new_string(text)?);
            texts.set_element(env, index, &text)?;
            env.delete_local_ref(text);
        }
        let class = env.find_class(jni_str!("java/lang/Object"))?;
        let pair = env.new_object_array(2, &class, JObject::null())?;
        pair.set_element(env, 0, &numbers)?;
        pair.set_element(env, 1, &texts)?;
        Ok(pair.into())
    }

    /// What Java made: an `Object[]` of a `long[]` and a `String[]`.
    pub(crate) fn from_java(env: &mut Env<'_>, pair: JObject<'_>) -> jni::errors::Result<Encoded> {
        let pair = env.cast_local::<JObjectArray<'_, JObject<'_>>>(pair)?;
        let first = pair.get_element(env, 0)?;
        let first = env.cast_local::<JLongArray<'_>>(first)?;
        let mut numbers = vec![0; first.len(env)?];
        first.get_region(env, 0, &mut numbers)?;
        let second = pair.get_element(env, 1)?;
        let second = env.cast_local::<JObjectArray<'_, JObject<'_>>>(second)?;
        let mut texts = Vec::new();
        for index in 0..second.len(env)? {
            let text = second.get_element(env, index)?;
            let text = env.cast_local::<JString<'_>>(text)?;
            texts.push(text.try_to_string(env)?);
            env.delete_local_ref(text);
        }
        Ok(Encoded { numbers, texts })
    }

    /// The values. Handles that were given are taken over, whatever happens.
    pub(crate) fn values(&self, ownership: Ownership) -> Result<Vec<Value>> {
        let mut reader = Reader { encoded: self, at: 0, ownership };
        let mut values = Vec::new();
        while reader.at < self.numbers.len() {
            values.push(reader.value()?);
        }
        Ok(values)
    }
}

/// A number as its tag, its bits and its imaginary part's bits.
fn parts(scalar: Scalar) -> [jlong; 3] {
    let (tag, bits, imag) = convert::parts(scalar);
    [jlong::from(tag), bits, imag.to_bits() as jlong]
}

struct Reader<'a> {
    encoded: &'a Encoded,
    at: usize,
    ownership: Ownership,
}

impl Reader<'_> {
    fn next(&mut self) -> Result<jlong> {
        let number = self.encoded.numbers.get(self.at).copied();
        self.at += 1;
        number.ok_or_else(|| err!(Internal, "a value from Java ends too early"))
    }

    fn code(&mut self) -> Result<jint> {
        Ok(self.next()? as jint)
    }

    fn scalar(&mut self) -> Result<Scalar> {
        let (tag, bits, imag) = (self.code()?, self.next()?, self.next()?);
        convert::scalar(tag, bits, f64::from_bits(imag as u64))
    }

    fn tensor(&mut self) -> Result<Option<Tensor>> {
        let handle = self.next()?;
        Ok(match self.ownership {
            Ownership::Given => TensorHandle::take(handle),
            Ownership::Borrowed => TensorHandle::of_element(handle).optional().map(|tensor| tensor.clone()),
        })
    }

    fn list<T>(&mut self, mut element: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let length = self.next()?;
        (0..length).map(|_| element(self)).collect()
    }

    fn value(&mut self) -> Result<Value> {
        Ok(match self.next()? {
            NONE => Value::None,
            SCALAR => Value::Scalar(self.scalar()?),
            STRING => {
                let place = self.next()?;
                let text = usize::try_from(place).ok().and_then(|place| self.encoded.texts.get(place));
                Value::from(text.ok_or_else(|| err!(Internal, "there is no text {place}"))?.as_str())
            }
            DTYPE => Value::from(DType::from_code(self.code()?)?),
            LAYOUT => Value::from(Layout::from_code(self.code()?)?),
            DEVICE => Value::from(convert::device(self.code()?)?),
            MEMORY_FORMAT => Value::from(MemoryFormat::from_code(self.code()?)?),
            GENERATOR => {
                let handle = GeneratorHandle::of_element(self.next()?);
                let generator = (*handle.get()?).clone();
                if self.ownership == Ownership::Given {
                    handle.free();
                }
                Value::Generator(generator)
            }
            TENSOR => self.tensor()?.map_or(Value::None, |tensor| Value::from(&tensor)),
            TENSORS => Value::Tensors(self.list(Self::tensor)?),
            INTS => Value::Ints(self.list(Self::next)?.into_iter().collect()),
            FLOATS => Value::Floats(self.list(|reader| Ok(f64::from_bits(reader.next()? as u64)))?),
            BOOLS => Value::Bools(self.list(|reader| Ok(reader.next()? != 0))?),
            SCALARS => Value::Scalars(self.list(Self::scalar)?),
            tag => bail!(Internal, "{tag} is not the tag of a value"),
        })
    }
}

impl Frame<'_> {
    /// Hand values to Java as an `Object[]` of a `long[]` and a `String[]`.
    pub(crate) fn give_values(&mut self, values: &[Value]) -> Result<jni::sys::jobject> {
        Ok(Encoded::give(values, self.env()).map_err(border)?.into_raw())
    }
}
