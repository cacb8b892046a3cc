//! Arguments and results of methods, and their C form.

use crate::abi::{Payload, RltScalar, RltTensor, RltValue, tag};
use crate::door::{Door, Tensor};
use rushlight_base::Device;
use std::ffi::{CStr, CString, c_char};
use std::fmt;

/// `RLT_SCALAR_*`; every other is a real number.
const SCALAR_BOOL: i32 = 1;
const SCALAR_INT: i32 = 2;
const SCALAR_UINT: i32 = 3;
const SCALAR_COMPLEX: i32 = 5;

/// An argument or result.
#[derive(Clone)]
pub enum Value {
    /// None
    None,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A complex number: real and imaginary part.
    Complex([f64; 2]),
    /// Text.
    Str(String),
    /// A device.
    Device(Device),
    /// A tensor.
    Tensor(Tensor),
    /// A list of any elements.
    List(Vec<Value>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// Keys and values, one after the other.
    Dict(Vec<Value>),
    /// A member of an enumeration: its value.
    Enum(Box<Value>),
    /// Another kind, by its tag.
    Other(i32),
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::None => f.write_str("None"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Complex([re, im]) => write!(f, "{re:?}+{im:?}j"),
            Value::Str(text) => write!(f, "{text:?}"),
            Value::Device(device) => write!(f, "device {device}"),
            Value::Tensor(_) => f.write_str("a tensor"),
            Value::List(items) => f.debug_list().entries(items).finish(),
            Value::Tuple(items) => write!(f, "tuple {items:?}"),
            Value::Dict(items) => {
                f.debug_map().entries(items.chunks_exact(2).map(|pair| (&pair[0], &pair[1]))).finish()
            }
            Value::Enum(value) => write!(f, "enum {value:?}"),
            Value::Other(tag) => write!(f, "a value with tag {tag}"),
        }
    }
}

impl Value {
    /// The first tensor in it.
    pub fn first_tensor(&self) -> Option<&Tensor> {
        match self {
            Value::Tensor(tensor) => Some(tensor),
            Value::List(items) | Value::Tuple(items) | Value::Dict(items) => items.iter().find_map(Value::first_tensor),
            _ => None,
        }
    }

    /// The value of a result, which it copies.
    ///
    /// # Safety
    /// The payload matches the tag, and its pointers are live.
    pub(crate) unsafe fn of_c(door: &Door, value: &RltValue) -> Result<Value, String> {
        let payload = &value.payload;
        let len = usize::try_from(value.len).map_err(|_| format!("a length of {}", value.len))?;
        // SAFETY: the caller guarantees that the payload matches the tag and that its pointers are live, which holds for
        // the values inside as well. A list that is not empty has elements.
        unsafe {
            let all = |values: *const RltValue, len| slice(values, len).iter().map(|value| Value::of_c(door, value));
            Ok(match value.tag {
                tag::NONE => Value::None,
                tag::BOOL => Value::Bool(payload.i != 0),
                tag::INT | tag::UINT | tag::DTYPE | tag::LAYOUT | tag::MEMORY_FORMAT => Value::Int(payload.i),
                tag::FLOAT => Value::Float(payload.f),
                tag::COMPLEX => Value::Complex(payload.c),
                tag::STRING => Value::Str(text(payload.string)),
                tag::DEVICE => Value::Device(device(payload.device)?),
                tag::TENSOR => Value::Tensor(door.retained(payload.tensor)?),
                tag::TENSOR_LIST => {
                    let tensor = |&raw: &*mut RltTensor| match raw {
                        raw if raw.is_null() => Ok(Value::None),
                        raw => door.retained(raw).map(Value::Tensor),
                    };
                    Value::List(slice(payload.tensors, len).iter().map(tensor).collect::<Result<_, _>>()?)
                }
                tag::INT_LIST => Value::List(slice(payload.ints, len).iter().copied().map(Value::Int).collect()),
                tag::FLOAT_LIST => Value::List(slice(payload.floats, len).iter().copied().map(Value::Float).collect()),
                tag::BOOL_LIST => {
                    Value::List(slice(payload.bools, len).iter().map(|&on| Value::Bool(on != 0)).collect())
                }
                tag::SCALAR_LIST => Value::List(slice(payload.scalars, len).iter().map(number).collect()),
                tag::STRING_LIST => {
                    Value::List(slice(payload.strings, len).iter().map(|&raw| Value::Str(text(raw))).collect())
                }
                tag::LIST => Value::List(all(payload.values, len).collect::<Result<_, _>>()?),
                tag::TUPLE => Value::Tuple(all(payload.values, len).collect::<Result<_, _>>()?),
                tag::DICT => Value::Dict(all(payload.values, 2 * len).collect::<Result<_, _>>()?),
                tag::ENUM => {
                    let [_, _, member] = slice(payload.values, 3) else { return Err("an incomplete member".into()) };
                    Value::Enum(Box::new(Value::of_c(door, member)?))
                }
                other => Value::Other(other),
            })
        }
    }
}

/// # Safety
/// `items` points to `len` elements that live as long as the result, or `len` is 0.
unsafe fn slice<'a, T>(items: *const T, len: usize) -> &'a [T] {
    // SAFETY: the contract of this function.
    if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(items, len) } }
}

/// # Safety
/// `raw` is a C string.
unsafe fn text(raw: *const c_char) -> String {
    // SAFETY: the contract of this function.
    unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned()
}

fn device([kind, index]: [i32; 2]) -> Result<Device, String> {
    let kind = rushlight_base::DeviceType::from_code(kind).map_err(|error| error.message().to_owned())?;
    let index = index.try_into().map_err(|_| format!("device index {index}"))?;
    Ok(Device { kind, index })
}

fn number(scalar: &RltScalar) -> Value {
    match scalar.tag {
        SCALAR_BOOL => Value::Bool(scalar.i != 0),
        SCALAR_INT | SCALAR_UINT => Value::Int(scalar.i),
        SCALAR_COMPLEX => Value::Complex([scalar.re, scalar.im]),
        _ => Value::Float(scalar.re),
    }
}

/// Values in their C form: what they point to lives here.
#[derive(Default)]
pub(crate) struct Lent {
    values: Vec<Vec<RltValue>>,
    strings: Vec<CString>,
}

impl Lent {
    /// The C form of a value, which borrows from it and from this.
    pub(crate) fn lend(&mut self, value: &Value) -> Result<RltValue, String> {
        let plain = |tag, payload| RltValue { tag, flags: 0, len: 0, payload };
        Ok(match value {
            Value::None => RltValue::NONE,
            Value::Bool(on) => plain(tag::BOOL, Payload { i: i64::from(*on) }),
            Value::Int(int) => plain(tag::INT, Payload { i: *int }),
            Value::Float(f) => plain(tag::FLOAT, Payload { f: *f }),
            Value::Complex(parts) => plain(tag::COMPLEX, Payload { c: *parts }),
            Value::Str(text) => plain(tag::STRING, Payload { string: self.text(text)? }),
            Value::Device(device) => plain(tag::DEVICE, Payload { device: [device.kind as i32, device.index.into()] }),
            Value::Tensor(tensor) => plain(tag::TENSOR, Payload { tensor: tensor.raw_mut() }),
            Value::List(items) => self.all(tag::LIST, items, items.len())?,
            Value::Tuple(items) => self.all(tag::TUPLE, items, items.len())?,
            Value::Dict(items) => self.all(tag::DICT, items, items.len() / 2)?,
            Value::Enum(_) | Value::Other(_) => return Err(format!("{value:?} is no argument")),
        })
    }

    /// The C form of several, in a row.
    pub(crate) fn lend_all(&mut self, values: &[Value]) -> Result<Vec<RltValue>, String> {
        values.iter().map(|value| self.lend(value)).collect()
    }

    /// A C string, which lives as long as this.
    pub(crate) fn text(&mut self, text: &str) -> Result<*const c_char, String> {
        let text = CString::new(text).map_err(|error| error.to_string())?;
        let raw = text.as_ptr();
        self.strings.push(text);
        Ok(raw)
    }

    fn all(&mut self, tag: i32, items: &[Value], len: usize) -> Result<RltValue, String> {
        let items = self.lend_all(items)?;
        // Moving a vector leaves its elements where they are.
        let values = items.as_ptr();
        self.values.push(items);
        Ok(RltValue { tag, flags: 0, len: len as i64, payload: Payload { values } })
    }
}
