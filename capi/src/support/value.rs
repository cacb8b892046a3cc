//! `rlt_value`: conversion between the C form and the boxed [`Value`] of the dispatcher.
//!
//! A C value either borrows its contents (flags 0) or owns them (`RLT_VALUE_OWNED`). Reading never consumes: a Rust
//! value takes its own references. Values returned to C own their contents.

use super::arg;
use super::handle;
use super::name::Name;
use crate::dispatch::*;
use crate::generator::rlt_generator;
use crate::object::{rlt_future, rlt_object, rlt_storage};
use crate::tensor::{rlt_device, rlt_scalar, rlt_tensor};
use rushlight_base::{DType, Layout, MemoryFormat, Result, Scalar, bail, ensure, err, list};
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::{Dict, EnumValue, Items, MAX_DEPTH, QScheme, Stream, Value, Values};
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::ptr;

/// A value that is None and owns nothing.
pub const NONE: rlt_value = rlt_value { tag: RLT_VALUE_NONE, flags: 0, len: 0, r#as: rlt_payload { i: 0 } };

/// Converts a C value. `name` is for messages.
///
/// # Safety
/// The payload matches the tag, and its pointers are live.
pub unsafe fn read(value: &rlt_value, name: impl Name) -> Result<Value> {
    let code = |code: i64| i32::try_from(code).unwrap_or(i32::MIN);
    let payload = &value.r#as;
    // SAFETY: the caller guarantees that the payload matches the tag and that its pointers are live.
    unsafe {
        Ok(match value.tag {
            RLT_VALUE_NONE => Value::None,
            RLT_VALUE_BOOL => Value::from(payload.i != 0),
            RLT_VALUE_INT => Value::from(payload.i),
            RLT_VALUE_UINT => match payload.i {
                int @ 0.. => Value::from(int),
                bits => Value::Scalar(Scalar::UInt(bits.cast_unsigned())),
            },
            RLT_VALUE_FLOAT => Value::from(payload.f),
            RLT_VALUE_COMPLEX => {
                Value::Scalar(Scalar::Complex(rushlight_base::Complex::new(payload.c.re, payload.c.im)))
            }
            RLT_VALUE_STRING => Value::from(arg::string(payload.string, name)?),
            RLT_VALUE_TENSOR => Value::from(&*arg::tensor(payload.tensor, name)?),
            RLT_VALUE_TENSOR_LIST => {
                Value::Tensors(arg::tensors_opt(payload.tensors.cast(), value.len, name)?.to_vec())
            }
            RLT_VALUE_INT_LIST => Value::Ints(arg::list(arg::ints(payload.ints, value.len, name)?, |int| Ok(*int))?),
            RLT_VALUE_FLOAT_LIST => Value::Floats(
                arg::list::<_, [f64; 1]>(arg::floats(payload.floats, value.len, name)?, |f| Ok(*f))?.into_vec(),
            ),
            RLT_VALUE_BOOL_LIST => Value::Bools(arg::bools(payload.bools, value.len, name)?.into_vec()),
            RLT_VALUE_SCALAR_LIST => Value::Scalars(arg::scalars(payload.scalars, value.len, name)?.into_vec()),
            RLT_VALUE_DTYPE => Value::from(DType::from_code(code(payload.i))?),
            RLT_VALUE_LAYOUT => Value::from(Layout::from_code(code(payload.i))?),
            RLT_VALUE_MEMORY_FORMAT => Value::from(MemoryFormat::from_code(code(payload.i))?),
            RLT_VALUE_DEVICE => Value::from(payload.device.to_device()?),
            RLT_VALUE_GENERATOR => Value::from(&*arg::handle::<rlt_generator>(payload.generator, name)?),
            RLT_VALUE_STREAM => {
                Value::Stream(Stream { device: payload.stream.device.to_device()?, id: payload.stream.id })
            }
            RLT_VALUE_QSCHEME => Value::from(QScheme::from_code(code(payload.i))?),
            RLT_VALUE_OBJECT => Value::Object((*arg::handle::<rlt_object>(payload.object, name)?).clone()),
            RLT_VALUE_FUTURE => Value::Future((*arg::handle::<rlt_future>(payload.future, name)?).clone()),
            RLT_VALUE_STORAGE => Value::Storage((**arg::handle::<rlt_storage>(payload.storage, name)?).clone()),
            _ => read_container(value, &name, 0)?,
        })
    }
}

/// Converts a list of strings, a list, tuple, dict or member of an enumeration, which `depth` others contain.
///
/// # Safety
/// The contract of [`read`].
unsafe fn read_container(value: &rlt_value, name: &dyn Display, depth: usize) -> Result<Value> {
    // A C program can make a list that contains itself.
    ensure!(depth < MAX_DEPTH, Value, "argument `{name}`: values are nested more than {MAX_DEPTH} deep");
    let payload = &value.r#as;
    // SAFETY: the caller guarantees that the payload matches the tag and that its pointers are live, which holds for the
    // values inside as well.
    unsafe {
        let inner = |value: &rlt_value| match value.tag {
            RLT_VALUE_LIST | RLT_VALUE_TUPLE | RLT_VALUE_DICT | RLT_VALUE_ENUM => {
                read_container(value, name, depth + 1)
            }
            _ => read(value, name),
        };
        Ok(match value.tag {
            RLT_VALUE_STRING_LIST => {
                let strings = arg::slice(payload.strings, value.len, name)?;
                Value::Strings(list::try_collect(strings.iter().map(|text| Ok(arg::string(*text, name)?.into())))?)
            }
            RLT_VALUE_LIST | RLT_VALUE_TUPLE => {
                let values = arg::slice(payload.values, value.len, name)?;
                let items = Items::new(list::try_collect(values.iter().map(inner))?)?;
                if value.tag == RLT_VALUE_TUPLE { Value::Tuple(items) } else { Value::List(items) }
            }
            RLT_VALUE_DICT => {
                let values = arg::slice(payload.values, value.len.saturating_mul(2), name)?;
                let entries = values.as_chunks::<2>().0.iter();
                let entries = entries.map(|[key, value]| Ok((inner(key)?, inner(value)?)));
                Value::Dict(Dict::new(list::try_collect(entries)?)?)
            }
            RLT_VALUE_ENUM => {
                let [class, member, value] = arg::slice(payload.values, 3, name)? else {
                    bail!(NullPointer, "argument `{name}` is NULL")
                };
                match (inner(class)?, inner(member)?) {
                    (Value::Str(class), Value::Str(member)) => {
                        Value::Enum(EnumValue::new(&class, &member, inner(value)?)?)
                    }
                    _ => bail!(Type, "argument `{name}`: the class and the name of a member are not strings"),
                }
            }
            tag => bail!(Type, "argument `{name}`: {tag} is not the tag of a value"),
        })
    }
}

/// An owned C value of a tensor.
#[inline]
fn of_tensor(tensor: Tensor) -> rlt_value {
    let tensor = handle::give(tensor);
    rlt_value { tag: RLT_VALUE_TENSOR, flags: RLT_VALUE_OWNED, len: 0, r#as: rlt_payload { tensor } }
}

/// Creates an owned C value.
pub fn write(value: Value) -> rlt_value {
    let plain = |tag, payload| rlt_value { tag, flags: RLT_VALUE_OWNED, len: 0, r#as: payload };
    let number = |tag, i: i64| plain(tag, rlt_payload { i });
    let listed = |tag, len: usize, payload| rlt_value { len: len as i64, ..plain(tag, payload) };
    match value {
        Value::Tensor(tensor) => of_tensor(tensor),
        Value::None => NONE,
        Value::Scalar(Scalar::Bool(flag)) => number(RLT_VALUE_BOOL, i64::from(flag)),
        Value::Scalar(Scalar::Int(int)) => number(RLT_VALUE_INT, int),
        Value::Scalar(Scalar::UInt(int)) => number(RLT_VALUE_UINT, int.cast_signed()),
        Value::Scalar(Scalar::Float(f)) => plain(RLT_VALUE_FLOAT, rlt_payload { f }),
        Value::Scalar(Scalar::Complex(value)) => {
            plain(RLT_VALUE_COMPLEX, rlt_payload { c: rlt_complex { re: value.re, im: value.im } })
        }
        Value::Str(text) => {
            let (len, string) = give_text(&text);
            listed(RLT_VALUE_STRING, len, rlt_payload { string })
        }
        Value::DType(dtype) => number(RLT_VALUE_DTYPE, dtype as i64),
        Value::Layout(layout) => number(RLT_VALUE_LAYOUT, layout as i64),
        Value::MemoryFormat(format) => number(RLT_VALUE_MEMORY_FORMAT, format as i64),
        Value::Device(device) => plain(RLT_VALUE_DEVICE, rlt_payload { device: rlt_device::from(device) }),
        Value::Generator(generator) => plain(RLT_VALUE_GENERATOR, rlt_payload { generator: handle::give(generator) }),
        Value::Tensors(tensors) => {
            let handles = tensors.into_iter().map(|tensor| tensor.map_or(ptr::null_mut(), handle::give));
            let (len, tensors) = give_array::<*mut rlt_tensor>(handles.collect());
            listed(RLT_VALUE_TENSOR_LIST, len, rlt_payload { tensors })
        }
        Value::Ints(list) => {
            let (len, ints) = give_array(list.into_vec());
            listed(RLT_VALUE_INT_LIST, len, rlt_payload { ints })
        }
        Value::Floats(list) => {
            let (len, floats) = give_array(list);
            listed(RLT_VALUE_FLOAT_LIST, len, rlt_payload { floats })
        }
        Value::Bools(list) => {
            let (len, bools) = give_array(list.into_iter().map(i32::from).collect());
            listed(RLT_VALUE_BOOL_LIST, len, rlt_payload { bools })
        }
        Value::Scalars(list) => {
            let (len, scalars) = give_array(list.into_iter().map(rlt_scalar::from).collect());
            listed(RLT_VALUE_SCALAR_LIST, len, rlt_payload { scalars })
        }
        Value::Strings(list) => {
            let (len, strings) = give_array(list.iter().map(|text| give_text(text).1).collect());
            listed(RLT_VALUE_STRING_LIST, len, rlt_payload { strings })
        }
        Value::List(items) => {
            let (len, values) = give_array(items.iter().map(inner).collect());
            listed(RLT_VALUE_LIST, len, rlt_payload { values })
        }
        Value::Tuple(items) => {
            let (len, values) = give_array(items.iter().map(inner).collect());
            listed(RLT_VALUE_TUPLE, len, rlt_payload { values })
        }
        Value::Dict(dict) => {
            let values = dict.iter().flat_map(|(key, value)| [inner(key), inner(value)]);
            let (_, values) = give_array(values.collect());
            listed(RLT_VALUE_DICT, dict.len(), rlt_payload { values })
        }
        Value::Enum(member) => {
            let names = [member.class_name(), member.name()].map(|name| inner(&Value::from(name)));
            let (len, values) = give_array(vec![names[0], names[1], inner(member.value())]);
            listed(RLT_VALUE_ENUM, len, rlt_payload { values })
        }
        Value::Object(object) => plain(RLT_VALUE_OBJECT, rlt_payload { object: handle::give(object) }),
        Value::Future(future) => plain(RLT_VALUE_FUTURE, rlt_payload { future: handle::give(future) }),
        Value::Storage(storage) => plain(RLT_VALUE_STORAGE, rlt_payload { storage: handle::give(Box::new(storage)) }),
        Value::Stream(Stream { device, id }) => {
            let stream = rlt_stream { device: rlt_device::from(device), id };
            plain(RLT_VALUE_STREAM, rlt_payload { stream })
        }
        Value::QScheme(scheme) => number(RLT_VALUE_QSCHEME, scheme as i64),
    }
}

/// A C value inside another one, which owns its contents: nobody frees it alone.
fn inner(value: &Value) -> rlt_value {
    rlt_value { flags: 0, ..write(value.clone()) }
}

/// Releases the contents of an owned value and sets it to None. A borrowed value only becomes None.
///
/// # Safety
/// An owned value came from [`write`] and is released once.
pub unsafe fn release(value: &mut rlt_value) {
    if value.tag == RLT_VALUE_TENSOR && value.flags & RLT_VALUE_OWNED != 0 {
        // SAFETY: the payload matches the tag. The caller guarantees that an owned value came from `write` and is released
        // once: it is None before the tensor is dropped.
        unsafe {
            let tensor = value.r#as.tensor;
            *value = NONE;
            drop(handle::take(tensor));
        }
        return;
    }
    let value = std::mem::replace(value, NONE);
    if value.flags & RLT_VALUE_OWNED != 0 {
        // SAFETY: the caller guarantees that an owned value came from `write` and is released once.
        unsafe { release_contents(value) }
    }
}

/// Releases the contents of a value whatever its flags.
///
/// # Safety
/// The value came from [`write`] or [`inner`] and is released once.
unsafe fn release_contents(value: rlt_value) {
    // SAFETY: the caller guarantees that an owned value came from `write` and is released once; its payload matches its
    // tag.
    unsafe {
        match value.tag {
            RLT_VALUE_STRING => drop(CString::from_raw(value.r#as.string.cast_mut())),
            RLT_VALUE_TENSOR => drop(handle::take(value.r#as.tensor)),
            RLT_VALUE_GENERATOR => drop(handle::take(value.r#as.generator)),
            RLT_VALUE_TENSOR_LIST => {
                for tensor in take_array(value.r#as.tensors, value.len) {
                    drop(handle::take(tensor));
                }
            }
            RLT_VALUE_INT_LIST => drop(take_array(value.r#as.ints, value.len)),
            RLT_VALUE_FLOAT_LIST => drop(take_array(value.r#as.floats, value.len)),
            RLT_VALUE_BOOL_LIST => drop(take_array(value.r#as.bools, value.len)),
            RLT_VALUE_SCALAR_LIST => drop(take_array(value.r#as.scalars, value.len)),
            RLT_VALUE_STRING_LIST => {
                for text in take_array(value.r#as.strings, value.len) {
                    drop(CString::from_raw(text.cast_mut()));
                }
            }
            RLT_VALUE_LIST | RLT_VALUE_TUPLE | RLT_VALUE_DICT | RLT_VALUE_ENUM => {
                let len = if value.tag == RLT_VALUE_DICT { 2 * value.len } else { value.len };
                for inner in take_array(value.r#as.values, len) {
                    release_contents(inner);
                }
            }
            RLT_VALUE_OBJECT => drop(handle::take(value.r#as.object)),
            RLT_VALUE_FUTURE => drop(handle::take(value.r#as.future)),
            RLT_VALUE_STORAGE => drop(handle::take(value.r#as.storage)),
            _ => {}
        }
    }
}

fn give_text(text: &str) -> (usize, *const c_char) {
    // A NUL inside a string would truncate it in C, so it becomes a space.
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    (text.as_bytes().len(), text.into_raw())
}

fn give_array<T>(list: Vec<T>) -> (usize, *const T) {
    let list = list.into_boxed_slice();
    (list.len(), Box::into_raw(list).cast())
}

unsafe fn take_array<T>(first: *const T, len: i64) -> Vec<T> {
    if first.is_null() {
        return Vec::new();
    }
    let list = ptr::slice_from_raw_parts_mut(first.cast_mut(), len as usize);
    // SAFETY: pointer and length are those of a boxed slice leaked by `give_array`, and the list is taken once.
    unsafe { Box::from_raw(list) }.into_vec()
}

/// C values that a callback may use while it runs.
pub struct Lent(Vec<rlt_value>);

impl Lent {
    /// Lends the values.
    pub fn new(values: &[Value]) -> Lent {
        let lend = |value: &Value| rlt_value { flags: 0, ..write(value.clone()) };
        Lent(values.iter().map(lend).collect())
    }

    /// Pointer to the first, and their number.
    pub fn parts(&self) -> (*const rlt_value, i64) {
        (self.0.as_ptr(), self.0.len() as i64)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        for value in &mut self.0 {
            value.flags = RLT_VALUE_OWNED;
            // SAFETY: `new` wrote the values with `write`; the callback received them as borrowed, so each is still
            // owned here and released once.
            unsafe { release(value) }
        }
    }
}

/// Slots that a callback fills. Owned values left in them are released with them.
pub struct Slots(Vec<rlt_value>);

impl Slots {
    /// Creates `count` slots, all None.
    pub fn new(count: usize) -> Slots {
        Slots(vec![NONE; count])
    }

    /// Pointer to the first, and their number.
    pub fn parts(&mut self) -> (*mut rlt_value, i64) {
        (self.0.as_mut_ptr(), self.0.len() as i64)
    }

    /// Reads the values that the callback stored.
    ///
    /// # Safety
    /// The contract of [`read`] holds for each slot.
    pub unsafe fn values(&self) -> Result<Values> {
        let each = self.0.iter().enumerate().map(|(index, slot)| {
            // SAFETY: the caller guarantees that the payload of each slot matches its tag and is live.
            unsafe { read(slot, "outs") }.map_err(|error| err!(Callback, "result {index}: {}", error.message()))
        });
        Ok(Values(each.collect::<Result<_>>()?))
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        for slot in &mut self.0 {
            // SAFETY: only this library creates owned values, and each slot is dropped once.
            unsafe { release(slot) }
        }
    }
}

/// Writes results into the caller's array, all or nothing.
///
/// # Safety
/// `outs` is valid for writing `capacity` values.
pub unsafe fn write_all(values: &mut Values, outs: *mut rlt_value, capacity: i64) -> Result<i64> {
    let count = values.len();
    ensure!(count as i64 <= capacity, Value, "the operator returns {count} values, but outs_capacity is {capacity}");
    for (index, value) in values.0.iter_mut().enumerate() {
        // SAFETY: the caller guarantees that `outs` is writable for `capacity` values, and `index` is below the number
        // of results, which was checked against `capacity`.
        unsafe {
            match value.take_tensor() {
                Some(tensor) => outs.add(index).write(of_tensor(tensor)),
                None => outs.add(index).write(write(std::mem::take(value))),
            }
        }
    }
    Ok(count as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_tensor::dispatch::{Future, Ints, Object};

    fn list(items: Vec<Value>) -> Value {
        Value::List(Items::new(items).unwrap())
    }

    #[test]
    fn every_kind_of_value_makes_a_round_trip() {
        let tensor = Tensor::from_slice(&[1.0f32, 2.0], &[2]).unwrap();
        let values = [
            Value::None,
            Value::from(true),
            Value::from(-7i64),
            Value::Scalar(Scalar::UInt(u64::MAX)),
            Value::from(2.5),
            Value::Scalar(Scalar::Complex(rushlight_base::Complex::new(1.0, 2.0))),
            Value::from("text"),
            Value::from(DType::BF16),
            Value::from(Layout::Strided),
            Value::from(MemoryFormat::ChannelsLast),
            Value::from(rushlight_base::Device::META),
            Value::Tensor(tensor.clone()),
            Value::Tensors(vec![Some(tensor.clone()), None]),
            Value::Ints(Ints::from_slice(&[1, 2, 3])),
            Value::Floats(vec![0.5]),
            Value::Bools(vec![true, false]),
            Value::Scalars(vec![Scalar::Int(1), Scalar::Float(2.0)]),
            Value::Ints(Ints::new()),
            Value::Strings(vec!["a".into(), "b".into()]),
            list(vec![Value::from("x"), list(vec![Value::from(&tensor)])]),
            Value::Tuple(Items::new(vec![Value::from(1i64), Value::Tensors(vec![Some(tensor.clone())])]).unwrap()),
            Value::Dict(Dict::new(vec![("k".into(), Value::from(&tensor)), ("l".into(), list(Vec::new()))]).unwrap()),
            Value::Dict(Dict::new(vec![(Value::from(&tensor), Value::None)]).unwrap()),
            Value::Object(Object::new("my.Class", ()).unwrap()),
            Value::Future(Future::new()),
            Value::Enum(EnumValue::new("my.Color", "RED", Value::from(1i64)).unwrap()),
            Value::Stream(Stream { device: rushlight_base::Device::CPU, id: 3 }),
            Value::Storage(tensor.storage()),
            Value::QScheme(QScheme::PerChannelAffine),
        ];
        for value in values {
            let mut c = write(value.clone());
            // SAFETY: `c` was just created by `write`, and is released once at the end.
            unsafe {
                assert_eq!(read(&c, "x").unwrap(), value);
                release(&mut c);
                assert_eq!(c.tag, RLT_VALUE_NONE);
            }
        }
        assert_eq!(tensor.use_count(), 1);
    }
}
