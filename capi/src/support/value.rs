//! `rlt_value`: between what C sees and the boxed [`Value`] of the dispatcher.
//!
//! A C value either borrows what it points to (flags 0) or owns it (`RLT_VALUE_OWNED`). Reading never consumes:
//! a Rust value takes references of its own. Values that go to C own what they point to.

use super::arg;
use super::handle;
use crate::dispatch::*;
use crate::generator::rlt_generator;
use crate::tensor::{rlt_device, rlt_scalar, rlt_tensor};
use rushlight_base::{DType, Layout, MemoryFormat, Result, Scalar, bail, ensure, err};
use rushlight_tensor::dispatch::{Value, Values};
use std::ffi::{CString, c_char};
use std::ptr;

/// A value that is None and owns nothing.
pub const NONE: rlt_value = rlt_value { tag: RLT_VALUE_NONE, flags: 0, len: 0, r#as: rlt_payload { i: 0 } };

/// What a C value says. `name` is for messages.
///
/// # Safety
/// The payload is what the tag says, and what it points to is live.
pub unsafe fn read(value: &rlt_value, name: &str) -> Result<Value> {
    let code = |code: i64| i32::try_from(code).unwrap_or(i32::MIN);
    let payload = &value.r#as;
    // SAFETY: as this function's own contract.
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
            tag => bail!(Type, "argument `{name}`: {tag} is not the tag of a value"),
        })
    }
}

/// An owned C value.
pub fn write(value: Value) -> rlt_value {
    let plain = |tag, payload| rlt_value { tag, flags: RLT_VALUE_OWNED, len: 0, r#as: payload };
    let number = |tag, i: i64| plain(tag, rlt_payload { i });
    let listed = |tag, len: usize, payload| rlt_value { len: len as i64, ..plain(tag, payload) };
    match value {
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
        Value::Tensor(tensor) => plain(RLT_VALUE_TENSOR, rlt_payload { tensor: handle::give(tensor) }),
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
    }
}

/// Release what an owned value points to, and make the value None. A borrowed one only becomes None.
///
/// # Safety
/// An owned value came from [`write`] and is released once.
pub unsafe fn release(value: &mut rlt_value) {
    let value = std::mem::replace(value, NONE);
    if value.flags & RLT_VALUE_OWNED == 0 {
        return;
    }
    // SAFETY: as this function's own contract; each payload is what its tag says.
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
            _ => {}
        }
    }
}

fn give_text(text: &str) -> (usize, *const c_char) {
    // A text with a NUL inside cannot cross as it is: the NUL becomes a space.
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
    // SAFETY: the pointer and length are those that `give_array` made of a boxed slice.
    unsafe { Box::from_raw(list) }.into_vec()
}

/// C values that a callback may look at while it runs.
pub struct Lent(Vec<rlt_value>);

impl Lent {
    /// Lend the values.
    pub fn new(values: &[Value]) -> Lent {
        let lend = |value: &Value| rlt_value { flags: 0, ..write(value.clone()) };
        Lent(values.iter().map(lend).collect())
    }

    /// The first of them, and how many there are.
    pub fn parts(&self) -> (*const rlt_value, i64) {
        (self.0.as_ptr(), self.0.len() as i64)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        for value in &mut self.0 {
            value.flags = RLT_VALUE_OWNED;
            // SAFETY: the values were written by `new`; the callback saw them as borrowed.
            unsafe { release(value) }
        }
    }
}

/// Slots that a callback fills. What it left owned is released with them.
pub struct Slots(Vec<rlt_value>);

impl Slots {
    /// `count` slots, all None.
    pub fn new(count: usize) -> Slots {
        Slots(vec![NONE; count])
    }

    /// The first of them, and how many there are.
    pub fn parts(&mut self) -> (*mut rlt_value, i64) {
        (self.0.as_mut_ptr(), self.0.len() as i64)
    }

    /// What the callback put in.
    ///
    /// # Safety
    /// As [`read`].
    pub unsafe fn values(&self) -> Result<Values> {
        let each = self.0.iter().enumerate().map(|(index, slot)| {
            // SAFETY: as this function's own contract.
            unsafe { read(slot, "outs") }.map_err(|error| err!(Callback, "result {index}: {}", error.message()))
        });
        Ok(Values(each.collect::<Result<_>>()?))
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        for slot in &mut self.0 {
            // SAFETY: an owned value can only have been made by this library.
            unsafe { release(slot) }
        }
    }
}

/// Write results into the caller's array, all or nothing.
///
/// # Safety
/// `outs` is valid for writing `capacity` values.
pub unsafe fn write_all(values: Values, outs: *mut rlt_value, capacity: i64) -> Result<i64> {
    let count = values.len();
    ensure!(count as i64 <= capacity, Value, "the operator returns {count} values, but outs_capacity is {capacity}");
    for (index, value) in values.0.into_iter().enumerate() {
        // SAFETY: as this function's own contract.
        unsafe { outs.add(index).write(write(value)) }
    }
    Ok(count as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DimVec;
    use rushlight_tensor::Tensor;

    #[test]
    fn every_kind_of_value_crosses_and_comes_back() {
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
            Value::Ints(DimVec::from_slice(&[1, 2, 3])),
            Value::Floats(vec![0.5]),
            Value::Bools(vec![true, false]),
            Value::Scalars(vec![Scalar::Int(1), Scalar::Float(2.0)]),
            Value::Ints(DimVec::new()),
        ];
        for value in values {
            let mut c = write(value.clone());
            // SAFETY: the value was just written, and is released once.
            unsafe {
                assert_eq!(format!("{:?}", read(&c, "x").unwrap()), format!("{value:?}"));
                release(&mut c);
                assert_eq!(c.tag, RLT_VALUE_NONE);
            }
        }
        assert_eq!(tensor.use_count(), 1);
    }
}
