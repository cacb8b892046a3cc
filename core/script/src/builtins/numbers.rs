//! Arithmetic, comparisons and conversions of numbers. Each function serves all overloads of its operator: the kinds of
//! the values decide, as C++ promotes them.

use super::args::Args;
use crate::runtime::compare::equal;
use crate::runtime::convert::scalar_of;
use crate::runtime::print::printed;
use crate::runtime::value::Value;
use rushlight_base::{Complex, Result, Scalar, bail, ensure, err};

/// Two numbers of the wider kind.
enum Pair {
    Ints(i64, i64),
    Floats(f64, f64),
    Complex(Complex<f64>, Complex<f64>),
}

fn pair(args: &Args<'_>) -> Result<Pair> {
    let (a, b) = (args.get(0)?, args.get(1)?);
    Ok(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Pair::Ints(*a, *b),
        (Value::Complex(_), _) | (_, Value::Complex(_)) => Pair::Complex(a.as_complex()?, b.as_complex()?),
        (Value::Int(_) | Value::Bool(_), Value::Int(_) | Value::Bool(_)) => Pair::Ints(a.as_int()?, b.as_int()?),
        _ => Pair::Floats(a.as_float()?, b.as_float()?),
    })
}

macro_rules! arithmetic {
    ($($name:ident: |$a:ident, $b:ident| $ints:expr, $floats:expr, $complex:expr;)*) => {$(
        pub(super) fn $name(args: &mut Args<'_>) -> Result<Value> {
            Ok(match pair(args)? {
                Pair::Ints($a, $b) => Value::from($ints),
                Pair::Floats($a, $b) => Value::from($floats),
                Pair::Complex($a, $b) => Value::from($complex),
            })
        }
    )*};
}

arithmetic! {
    add: |a, b| a.wrapping_add(b), a + b, a + b;
    sub: |a, b| a.wrapping_sub(b), a - b, a - b;
    mul: |a, b| a.wrapping_mul(b), a * b, a * b;
    div: |a, b| a as f64 / b as f64, a / b, a / b;
    eq: |a, b| a == b, a == b, a == b;
    ne: |a, b| a != b, a != b, a != b;
    lt: |a, b| a < b, a < b, a.re < b.re;
    le: |a, b| a <= b, a <= b, a.re <= b.re;
    gt: |a, b| a > b, a > b, a.re > b.re;
    ge: |a, b| a >= b, a >= b, a.re >= b.re;
}

fn division_by_zero() -> rushlight_base::Error {
    err!(Runtime, "division by 0")
}

/// The quotient rounded down.
pub(crate) fn floor_divide(a: i64, b: i64) -> Result<i64> {
    ensure!(b != 0, Runtime, "division by 0");
    let quotient = a.wrapping_div(b);
    Ok(if a.wrapping_rem(b) != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// The remainder with the sign of the divisor.
pub(crate) fn floor_remainder(a: i64, b: i64) -> Result<i64> {
    if b == 0 {
        return Err(division_by_zero());
    }
    let remainder = a.wrapping_rem(b);
    Ok(if remainder != 0 && (remainder < 0) != (b < 0) { remainder.wrapping_add(b) } else { remainder })
}

pub(super) fn floordiv(args: &mut Args<'_>) -> Result<Value> {
    match pair(args)? {
        Pair::Ints(a, b) => floor_divide(a, b).map(Value::from),
        Pair::Floats(a, b) => Ok((a / b).floor().into()),
        Pair::Complex(..) => bail!(Runtime, "floordiv is not defined for complex numbers"),
    }
}

pub(super) fn floordiv_towards_zero(args: &mut Args<'_>) -> Result<Value> {
    let (a, b) = (args.int(0)?, args.int(1)?);
    ensure!(b != 0, Runtime, "division by 0");
    Ok(a.wrapping_div(b).into())
}

pub(super) fn remainder(args: &mut Args<'_>) -> Result<Value> {
    match pair(args)? {
        Pair::Ints(a, b) => floor_remainder(a, b).map(Value::from),
        Pair::Floats(a, b) => Ok(((b + a % b) % b).into()),
        Pair::Complex(..) => bail!(Runtime, "remainder is not defined for complex numbers"),
    }
}

pub(super) fn fmod(args: &mut Args<'_>) -> Result<Value> {
    Ok((args.float(0)? % args.float(1)?).into())
}

pub(super) fn divmod(args: &mut Args<'_>) -> Result<Value> {
    let (quotient, remainder) = match pair(args)? {
        Pair::Ints(a, b) => {
            ensure!(b != 0, Runtime, "ZeroDivisionError: integer division or modulo by zero");
            (floor_divide(a, b)?.into(), floor_remainder(a, b)?.into())
        }
        Pair::Floats(a, b) => {
            ensure!(b != 0.0, Runtime, "ZeroDivisionError: float divmod()");
            let remainder = a % b;
            let remainder = if remainder != 0.0 && (remainder < 0.0) != (b < 0.0) { remainder + b } else { remainder };
            (((a - remainder) / b).into(), remainder.into())
        }
        Pair::Complex(..) => bail!(Runtime, "divmod is not defined for complex numbers"),
    };
    Ok(super::objects::tuple([quotient, remainder]))
}

pub(super) fn pow(args: &mut Args<'_>) -> Result<Value> {
    if let Pair::Complex(a, b) = pair(args)? {
        return Ok(a.powc(b).into());
    }
    let (a, b) = (args.float(0)?, args.float(1)?);
    ensure!(!(a == 0.0 && b < 0.0), Runtime, "0.0 cannot be raised to a negative power");
    Ok(a.powf(b).into())
}

pub(super) fn pow_ints(args: &mut Args<'_>) -> Result<Value> {
    let (a, b) = (args.int(0)?, args.int(1)?);
    ensure!(!(a == 0 && b < 0), Runtime, "0.0 cannot be raised to a negative power");
    Ok(match u32::try_from(b) {
        Ok(exponent) => a.wrapping_pow(exponent).into(),
        Err(_) => ((a as f64).powf(b as f64) as i64).into(),
    })
}

pub(super) fn max(args: &mut Args<'_>) -> Result<Value> {
    Ok(match pair(args)? {
        Pair::Ints(a, b) => a.max(b).into(),
        Pair::Floats(a, b) => (if a < b { b } else { a }).into(),
        Pair::Complex(..) => bail!(Runtime, "max is not defined for complex numbers"),
    })
}

pub(super) fn min(args: &mut Args<'_>) -> Result<Value> {
    Ok(match pair(args)? {
        Pair::Ints(a, b) => a.min(b).into(),
        Pair::Floats(a, b) => (if b < a { b } else { a }).into(),
        Pair::Complex(..) => bail!(Runtime, "min is not defined for complex numbers"),
    })
}

pub(super) fn neg(args: &mut Args<'_>) -> Result<Value> {
    Ok(match args.get(0)? {
        Value::Float(value) => (-value).into(),
        Value::Complex(value) => (-value).into(),
        other => other.as_int()?.wrapping_neg().into(),
    })
}

pub(super) fn abs(args: &mut Args<'_>) -> Result<Value> {
    Ok(match args.get(0)? {
        Value::Float(value) => value.abs().into(),
        Value::Complex(value) => value.norm().into(),
        other => other.as_int()?.wrapping_abs().into(),
    })
}

macro_rules! bits {
    ($($name:ident: $operator:tt;)*) => {$(
        pub(super) fn $name(args: &mut Args<'_>) -> Result<Value> {
            Ok(match (args.get(0)?, args.get(1)?) {
                (Value::Bool(a), Value::Bool(b)) => Value::Bool(a $operator b),
                (a, b) => Value::Int(a.as_int()? $operator b.as_int()?),
            })
        }
    )*};
}

bits! {
    and: &;
    or: |;
    xor: ^;
}

pub(super) fn not(args: &mut Args<'_>) -> Result<Value> {
    Ok((!args.bool(0)?).into())
}

pub(super) fn shift_left(args: &mut Args<'_>) -> Result<Value> {
    let (a, b) = (args.int(0)?, args.int(1)?);
    Ok(u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0).into())
}

pub(super) fn shift_right(args: &mut Args<'_>) -> Result<Value> {
    let (a, b) = (args.int(0)?, args.int(1)?);
    Ok(u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(if a < 0 { -1 } else { 0 }).into())
}

pub(super) fn equal_values(args: &mut Args<'_>) -> Result<Value> {
    Ok(equal(args.get(0)?, args.get(1)?)?.into())
}

pub(super) fn unequal_values(args: &mut Args<'_>) -> Result<Value> {
    Ok((!equal(args.get(0)?, args.get(1)?)?).into())
}

// ---- conversions -----------------------------------------------------------------------------------------------

/// A float as an int, towards zero; as C++ converts on x86, what does not fit is the lowest int.
pub(super) fn truncated(value: f64) -> i64 {
    if value >= 9_223_372_036_854_775_808.0 || value.is_nan() { i64::MIN } else { value as i64 }
}

pub(super) fn int(args: &mut Args<'_>) -> Result<Value> {
    Ok(match args.get(0)? {
        Value::Float(value) => truncated(*value).into(),
        Value::Complex(value) => {
            ensure!(value.im == 0.0, Runtime, "value cannot be converted to type int64_t without overflow");
            truncated(value.re).into()
        }
        Value::Str(bytes) => int_of_text(bytes)?.into(),
        other => other.as_int()?.into(),
    })
}

/// `int("12")`: only what C's `strtoll` reads to the end.
fn int_of_text(bytes: &[u8]) -> Result<i64> {
    let text = bytes.trim_ascii_start();
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    ensure!(length > 0, Runtime, "stoll");
    if length < digits.len() {
        bail!(Runtime, "invalid literal for int() with base 10: '{}'", String::from_utf8_lossy(bytes));
    }
    let text = std::str::from_utf8(text).unwrap_or_default();
    text.parse().map_err(|_| err!(Runtime, "stoll"))
}

pub(super) fn float(args: &mut Args<'_>) -> Result<Value> {
    Ok(match args.get(0)? {
        Value::Complex(value) => {
            ensure!(value.im == 0.0, Runtime, "value cannot be converted to type double without overflow");
            value.re.into()
        }
        Value::Str(bytes) => float_of_text(bytes)?.into(),
        other => other.as_float()?.into(),
    })
}

/// `float("1.5")`: only what C's `strtod` reads to the end.
fn float_of_text(bytes: &[u8]) -> Result<f64> {
    let text = String::from_utf8_lossy(bytes.trim_ascii_start()).into_owned();
    if let Ok(value) = text.parse() {
        return Ok(value);
    }
    let starts_with_number =
        (1..=text.len()).any(|end| text.get(..end).is_some_and(|head| head.parse::<f64>().is_ok()));
    ensure!(starts_with_number, Runtime, "stod");
    bail!(Runtime, "could not convert string to float: '{}'", String::from_utf8_lossy(bytes))
}

pub(super) fn bool(args: &mut Args<'_>) -> Result<Value> {
    Ok(scalar_of(args.get(0)?)?.to_bool().into())
}

pub(super) fn complex(args: &mut Args<'_>) -> Result<Value> {
    if args.len() == 1 {
        return Ok(args.complex(0)?.into());
    }
    Ok(Complex::new(args.float(0)?, args.float(1)?).into())
}

pub(super) fn str(args: &mut Args<'_>) -> Result<Value> {
    Ok(match args.take(0) {
        text @ Value::Str(_) => text,
        other => printed(&other).into(),
    })
}

pub(super) fn hex(args: &mut Args<'_>) -> Result<Value> {
    Ok(with_sign(args.int(0)?, |value| format!("0x{value:x}")))
}

pub(super) fn oct(args: &mut Args<'_>) -> Result<Value> {
    Ok(with_sign(args.int(0)?, |value| format!("0o{value:o}")))
}

pub(super) fn bin(args: &mut Args<'_>) -> Result<Value> {
    Ok(with_sign(args.int(0)?, |value| format!("0b{value:b}")))
}

fn with_sign(value: i64, print: impl Fn(u64) -> String) -> Value {
    let text = print(value.unsigned_abs());
    if value < 0 { format!("-{text}").into() } else { text.into() }
}

pub(super) fn chr(args: &mut Args<'_>) -> Result<Value> {
    // A string of PyTorch is bytes: the number is cut to one.
    Ok(vec![args.int(0)? as u8].into())
}

pub(super) fn ord(args: &mut Args<'_>) -> Result<Value> {
    match &**args.bytes(0)? {
        [byte] => Ok(i64::from(*byte).into()),
        bytes => bail!(Runtime, "String for ord() must be 1 character, found {}", bytes.len()),
    }
}

/// What `assert` checks in traced code.
pub(super) fn assert_scalar(args: &mut Args<'_>) -> Result<Value> {
    let holds = scalar_of(args.get(0)?)?.to_bool();
    ensure!(holds, Runtime, "{}", String::from_utf8_lossy(args.bytes(1)?));
    Ok(Value::None)
}

/// `range(lo, hi, step)`: how many numbers.
pub(super) fn range_length(args: &mut Args<'_>) -> Result<Value> {
    let (low, high, step) = (args.int(0)?, args.int(1)?, args.int(2)?);
    ensure!(step != 0, Runtime, "range() arg 3 must not be zero");
    let distance = if step > 0 { i128::from(high) - i128::from(low) } else { i128::from(low) - i128::from(high) };
    let step = i128::from(step).abs();
    let length = if distance <= 0 { 0 } else { (distance - 1) / step + 1 };
    Ok(i64::try_from(length).unwrap_or(i64::MAX).into())
}

pub(super) fn derive_index(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.int(1)?.wrapping_add(args.int(0)?.wrapping_mul(args.int(2)?)).into())
}

/// `hash(value)`. The numbers differ from PyTorch's, which differ between its builds.
pub(super) fn hash(args: &mut Args<'_>) -> Result<Value> {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    hash_value(args.get(0)?, &mut hasher, 64)?;
    Ok((hasher.finish() as i64).into())
}

fn hash_value(value: &Value, hasher: &mut impl std::hash::Hasher, depth: usize) -> Result<()> {
    use std::hash::Hash;
    ensure!(depth > 0, Runtime, "a value is nested too deeply to be hashed");
    match value {
        Value::Int(value) => value.hash(hasher),
        Value::Bool(value) => i64::from(*value).hash(hasher),
        Value::Float(value) => (value + 0.0).to_bits().hash(hasher),
        Value::Complex(value) => ((value.re + 0.0).to_bits(), (value.im + 0.0).to_bits()).hash(hasher),
        Value::Str(text) => text.hash(hasher),
        Value::None => 0u8.hash(hasher),
        Value::Device(device) => device.hash(hasher),
        Value::Tensor(tensor) => tensor.address().hash(hasher),
        Value::Object(object) => object.address().hash(hasher),
        Value::Enum(member) => (member.class(), member.name()).hash(hasher),
        Value::Tuple(tuple) => {
            for item in tuple.items() {
                hash_value(item, hasher, depth - 1)?;
            }
        }
        other => bail!(Runtime, "Can't hash IValues with tag '{}'", other.kind()),
    }
    Ok(())
}

/// The ints `0 .. n`.
pub(super) fn range_list(args: &mut Args<'_>) -> Result<Value> {
    let count = args.int(0)?.max(0);
    Ok(crate::runtime::list::List::ints(rushlight_base::list::collect(0..count)?).into())
}

/// Which of two dtypes holds the results of an operation on both.
pub(super) fn promote_types(args: &mut Args<'_>) -> Result<Value> {
    let dtype = |index| dtype_of(args.int(index)?);
    Ok((dtype(0)?.promote(dtype(1)?)? as i64).into())
}

pub(super) fn can_cast(args: &mut Args<'_>) -> Result<Value> {
    Ok(dtype_of(args.int(0)?)?.can_cast(dtype_of(args.int(1)?)?).into())
}

pub(super) fn dtype_of(code: i64) -> Result<rushlight_base::DType> {
    rushlight_base::DType::from_code(i32::try_from(code).unwrap_or(-1))
}

pub(super) fn result_type(args: &mut Args<'_>) -> Result<Value> {
    let dtype = |scalar: Scalar| match scalar {
        Scalar::Float(_) => rushlight_base::runtime::default_dtype(),
        Scalar::Complex(_) => rushlight_base::runtime::default_dtype().to_complex(),
        other => other.dtype(),
    };
    let (a, b) = (dtype(scalar_of(args.get(0)?)?), dtype(scalar_of(args.get(1)?)?));
    Ok((a.promote(b)? as i64).into())
}
