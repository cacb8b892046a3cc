//! Values of any kind, for calls by name and operators defined at run time: a list of numbers and a list of strings, so
//! that a call needs one JNI transition. `org.rushlight.Boxed` is the Java side.
//!
//! A value is a tag followed by its contents: integers as they are, floating-point numbers as their bits, a list as its
//! length and its elements, a string as its index in the list of strings.

use super::convert;
use super::frame::Frame;
use super::guard::border;
use super::handle::{self, GeneratorHandle, TensorHandle};
use jni::objects::{JLongArray, JObject, JObjectArray, JString};
use jni::sys::{jint, jlong};
use jni::{Env, jni_str};
use rushlight_base::{DType, Layout, MemoryFormat, Result, Scalar, bail, ensure, err};
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::{Dict, Items, MAX_DEPTH, Value};

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
const STRINGS: jlong = 14;
const LIST: jlong = 15;
const TUPLE: jlong = 16;
const DICT: jlong = 17;

/// The owner of the tensors behind handles from Java.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Ownership {
    /// A wrapper, which holds them open during the call.
    Borrowed,
    /// Ownership of the handles was passed to the native side.
    Given,
}

/// Encoded values.
#[derive(Default)]
pub(super) struct Encoded {
    numbers: Vec<jlong>,
    strings: Vec<String>,
}

impl Encoded {
    /// Adds a value for Java, which gets its own handles.
    fn add(&mut self, value: &Value) {
        let numbers = &mut self.numbers;
        match value {
            Value::None => numbers.push(NONE),
            Value::Scalar(scalar) => {
                numbers.push(SCALAR);
                numbers.extend(parts(*scalar));
            }
            Value::Str(text) => {
                numbers.extend([STRING, self.strings.len() as jlong]);
                self.strings.push(text.to_string());
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
            Value::Strings(strings) => {
                numbers.extend([STRINGS, strings.len() as jlong]);
                numbers.extend((0..strings.len()).map(|index| (self.strings.len() + index) as jlong));
                self.strings.extend(strings.iter().map(|text| text.to_string()));
            }
            Value::List(items) => self.add_items(LIST, items),
            Value::Tuple(items) => self.add_items(TUPLE, items),
            Value::Dict(dict) => {
                numbers.extend([DICT, dict.len() as jlong]);
                for (key, value) in dict.iter() {
                    self.add(key);
                    self.add(value);
                }
            }
            // `check_forms` has rejected them.
            Value::Object(_)
            | Value::Future(_)
            | Value::Enum(_)
            | Value::Stream(_)
            | Value::Storage(_)
            | Value::QScheme(_) => numbers.push(NONE),
        }
    }

    fn add_items(&mut self, tag: jlong, items: &[Value]) {
        self.numbers.extend([tag, items.len() as jlong]);
        items.iter().for_each(|item| self.add(item));
    }

    /// Values for Java: an `Object[]` of a `long[]` and a `String[]`.
    pub(super) fn give<'l>(values: &[Value], env: &mut Env<'l>) -> jni::errors::Result<JObject<'l>> {
        let mut encoded = Encoded::default();
        values.iter().for_each(|value| encoded.add(value));
        let pair = encoded.to_java(env);
        if pair.is_err() {
            // Java did not receive the handles: free them.
            drop(encoded.values(Ownership::Given));
        }
        pair
    }

    fn to_java<'l>(&self, env: &mut Env<'l>) -> jni::errors::Result<JObject<'l>> {
        let numbers = JLongArray::new(env, self.numbers.len())?;
        numbers.set_region(env, 0, &self.numbers)?;
        let class = env.find_class(jni_str!("java/lang/String"))?;
        let strings = env.new_object_array(self.strings.len() as i32, &class, JObject::null())?;
        for (index, text) in self.strings.iter().enumerate() {
            let text = JObject::from(env.new_string(text)?);
            strings.set_element(env, index, &text)?;
            env.delete_local_ref(text);
        }
        let class = env.find_class(jni_str!("java/lang/Object"))?;
        let pair = env.new_object_array(2, &class, JObject::null())?;
        pair.set_element(env, 0, &numbers)?;
        pair.set_element(env, 1, &strings)?;
        Ok(pair.into())
    }

    /// Values from Java: an `Object[]` of a `long[]` and a `String[]`.
    pub(super) fn from_java(env: &mut Env<'_>, pair: JObject<'_>) -> jni::errors::Result<Encoded> {
        let pair = env.cast_local::<JObjectArray<'_, JObject<'_>>>(pair)?;
        let first = pair.get_element(env, 0)?;
        let first = env.cast_local::<JLongArray<'_>>(first)?;
        let mut numbers = vec![0; first.len(env)?];
        first.get_region(env, 0, &mut numbers)?;
        let second = pair.get_element(env, 1)?;
        let second = env.cast_local::<JObjectArray<'_, JObject<'_>>>(second)?;
        let mut strings = Vec::new();
        for index in 0..second.len(env)? {
            let text = second.get_element(env, index)?;
            let text = env.cast_local::<JString<'_>>(text)?;
            strings.push(text.try_to_string(env)?);
            env.delete_local_ref(text);
        }
        Ok(Encoded { numbers, strings })
    }

    /// Decodes the values. Owned handles are taken, also on failure.
    pub(super) fn values(&self, ownership: Ownership) -> Result<Vec<Value>> {
        let mut reader = Reader { encoded: self, at: 0, depth: 0, ownership };
        let mut values = Vec::new();
        while reader.at < self.numbers.len() {
            values.push(reader.value()?);
        }
        Ok(values)
    }
}

/// An error for a value that has no form in Java.
pub(super) fn check_forms(values: &[Value]) -> Result<()> {
    values.iter().try_for_each(|value| match value {
        Value::List(items) | Value::Tuple(items) => check_forms(items),
        Value::Dict(dict) => dict.iter().try_for_each(|(_, value)| check_forms(std::slice::from_ref(value))),
        Value::Object(_)
        | Value::Future(_)
        | Value::Enum(_)
        | Value::Stream(_)
        | Value::Storage(_)
        | Value::QScheme(_) => bail!(NotImplemented, "a value of type {} has no form in Java", value.kind()),
        _ => Ok(()),
    })
}

/// A number as its tag, its bits and its imaginary part's bits.
fn parts(scalar: Scalar) -> [jlong; 3] {
    let (tag, bits, imag) = convert::parts(scalar);
    [jlong::from(tag), bits, imag.to_bits() as jlong]
}

struct Reader<'a> {
    encoded: &'a Encoded,
    at: usize,
    /// How many containers the current value is in.
    depth: usize,
    ownership: Ownership,
}

impl Reader<'_> {
    fn next(&mut self) -> Result<jlong> {
        let number = self.encoded.numbers.get(self.at).copied();
        self.at += 1;
        number.ok_or_else(|| err!(Internal, "a value from Java is truncated"))
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

    fn text(&mut self) -> Result<&str> {
        let place = self.next()?;
        let text = usize::try_from(place).ok().and_then(|place| self.encoded.strings.get(place));
        Ok(text.ok_or_else(|| err!(Internal, "no string has the index {place}"))?.as_str())
    }

    /// The elements of a container. Java objects that contain themselves are rejected.
    fn nested<T>(&mut self, element: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        ensure!(self.depth < MAX_DEPTH, Value, "values are nested more than {MAX_DEPTH} deep");
        self.depth += 1;
        let elements = self.list(element);
        self.depth -= 1;
        elements
    }

    fn value(&mut self) -> Result<Value> {
        Ok(match self.next()? {
            NONE => Value::None,
            SCALAR => Value::Scalar(self.scalar()?),
            STRING => Value::from(self.text()?),
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
            STRINGS => Value::Strings(self.list(|reader| Ok(reader.text()?.into()))?),
            LIST => Value::List(Items::new(self.nested(Self::value)?)?),
            TUPLE => Value::Tuple(Items::new(self.nested(Self::value)?)?),
            DICT => Value::Dict(Dict::new(self.nested(|reader| Ok((reader.value()?, reader.value()?)))?)?),
            tag => bail!(Internal, "{tag} is not the tag of a value"),
        })
    }
}

/// Positional and named arguments of a call.
type CallArguments = (Vec<Value>, Vec<(String, Value)>);

impl Frame<'_> {
    /// Values from Java, which keeps its handles.
    pub(crate) fn values(
        &mut self,
        numbers: &JLongArray<'_>,
        strings: &JObjectArray<'_, JString<'_>>,
    ) -> Result<Vec<Value>> {
        let encoded = Encoded { numbers: self.longs(numbers, "values")?, strings: self.strings(strings, "values")? };
        encoded.values(Ownership::Borrowed)
    }

    /// Values from Java, the last of which belong to the names in `keywords`.
    pub(crate) fn call_arguments(
        &mut self,
        numbers: &JLongArray<'_>,
        strings: &JObjectArray<'_, JString<'_>>,
        keywords: &JObjectArray<'_, JString<'_>>,
    ) -> Result<CallArguments> {
        let mut positional = self.values(numbers, strings)?;
        let keywords = self.strings(keywords, "keywords")?;
        ensure!(keywords.len() <= positional.len(), Internal, "more names than arguments");
        let named = positional.split_off(positional.len() - keywords.len());
        Ok((positional, keywords.into_iter().zip(named).collect()))
    }

    /// Returns values to Java as an `Object[]` of a `long[]` and a `String[]`.
    pub(crate) fn give_values(&mut self, values: &[Value]) -> Result<jni::sys::jobject> {
        check_forms(values)?;
        self.check_pressure();
        Ok(Encoded::give(values, self.env()).map_err(border)?.into_raw())
    }
}
