//! Values as Python literals: `[1, 2.5]`, `T([2], [1.0, 2.0])` for a tensor of float32, `L` for one of
//! int64, `A(0, [2], [1.0, 2.0])` for one of the dtype with this number.

use rushlight_base::{Complex, DType, MemoryFormat};
use rushlight_script::ast::{ExprId, ExprKind, Module, UnaryOp};
use rushlight_script::runtime::dict::Dict;
use rushlight_script::runtime::list::List;
use rushlight_script::runtime::object::Tuple;
use rushlight_script::runtime::value::Value;
use rushlight_script::types::Type;
use rushlight_script::{Source, parse_expression};
use rushlight_tensor::{Tensor, ops};

/// The value that a literal is.
pub fn read(text: &str) -> Value {
    let (module, expr) = parse_expression(Source::new("literal", text).unwrap()).unwrap();
    value(&module, expr)
}

fn value(module: &Module, expr: ExprId) -> Value {
    let values = |items: &[ExprId]| items.iter().map(|&item| value(module, item)).collect::<Vec<_>>();
    match &module.expr(expr).kind {
        ExprKind::Int(number) => Value::Int(*number),
        ExprKind::Float(number) => Value::Float(*number),
        ExprKind::Imaginary(number) => Value::Complex(Complex::new(0.0, *number)),
        ExprKind::Bool(flag) => Value::Bool(*flag),
        ExprKind::None => Value::None,
        ExprKind::Str(bytes) => Value::str(bytes),
        ExprKind::Name(name) if &**name == "inf" => Value::Float(f64::INFINITY),
        ExprKind::Name(name) if &**name == "nan" => Value::Float(f64::NAN),
        ExprKind::Unary(UnaryOp::Neg, inner) => match value(module, *inner) {
            Value::Int(number) => Value::Int(-number),
            Value::Float(number) => Value::Float(-number),
            Value::Complex(number) => Value::Complex(-number),
            other => panic!("-{other:?}"),
        },
        ExprKind::Binary(operator, a, b) => {
            let (a, b) = (value(module, *a).as_complex().unwrap(), value(module, *b).as_complex().unwrap());
            Value::Complex(if format!("{operator:?}") == "Add" { a + b } else { a - b })
        }
        ExprKind::List(items) => {
            let items = values(items);
            let element = items.first().map_or(Type::Any, Value::type_of);
            List::from_values(element, items).unwrap().into()
        }
        ExprKind::Tuple(items) => Tuple::new(values(items)).into(),
        ExprKind::Dict(pairs) => {
            let pairs: Vec<_> = pairs.iter().map(|&(key, item)| (value(module, key), value(module, item))).collect();
            let kinds = pairs.first().map_or((Type::Str, Type::Any), |(k, v)| (k.type_of(), v.type_of()));
            Dict::from_entries(kinds.0, kinds.1, pairs).unwrap().into()
        }
        ExprKind::Call { function, args, .. } => tensor(&module.dotted(*function).unwrap(), &values(args)),
        other => panic!("{other:?} is no literal"),
    }
}

/// The dtype of `A(dtype, sizes, elements)`, and the double-precision tensor in it.
fn converted(args: &[Value]) -> Value {
    let dtype = DType::from_code(args[0].as_int().unwrap() as i32).unwrap();
    let items = |index: usize| args[index].as_list().unwrap().values();
    let sizes: Vec<i64> = items(1).iter().map(|size| size.as_int().unwrap()).collect();
    let elements: Vec<f64> = items(2).iter().map(|item| item.as_float().unwrap()).collect();
    let wide = Tensor::from_slice(&elements, &sizes).unwrap();
    ops::to_dtype(&wide, dtype, false, false, None).unwrap().into()
}

fn tensor(code: &str, args: &[Value]) -> Value {
    if code == "A" {
        return converted(args);
    }
    if code == "C" {
        return Complex::new(args[0].as_float().unwrap(), args[1].as_float().unwrap()).into();
    }
    let items = |index: usize| args[index].as_list().unwrap().values();
    let sizes: Vec<i64> = items(0).iter().map(|size| size.as_int().unwrap()).collect();
    let elements = items(1);
    match code {
        "T" => {
            let elements: Vec<f32> = elements.iter().map(|item| item.as_float().unwrap() as f32).collect();
            Tensor::from_slice(&elements, &sizes).unwrap().into()
        }
        _ => {
            let elements: Vec<i64> = elements.iter().map(|item| item.as_int().unwrap()).collect();
            Tensor::from_slice(&elements, &sizes).unwrap().into()
        }
    }
}

/// Whether a result is the expected one; the reason if not.
pub fn matches(actual: &Value, expected: &Value) -> Result<(), String> {
    let all = |a: &[Value], b: &[Value]| -> Result<(), String> {
        if a.len() != b.len() {
            return Err(format!("{} elements, not {}", a.len(), b.len()));
        }
        a.iter()
            .zip(b)
            .enumerate()
            .try_for_each(|(at, (a, b))| matches(a, b).map_err(|error| format!("[{at}] {error}")))
    };
    let equal = match (actual, expected) {
        (Value::Float(a), Value::Float(b)) => (a - b).abs() <= 1e-12 * b.abs() || a == b || a.is_nan() && b.is_nan(),
        (Value::Complex(a), Value::Complex(b)) => {
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs()) || a == b || a.is_nan() && b.is_nan();
            near(a.re, b.re) && near(a.im, b.im)
        }
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::List(a), Value::List(b)) => return all(&a.values(), &b.values()),
        (Value::Tuple(a), Value::Tuple(b)) => return all(a.items(), b.items()),
        (Value::Dict(a), Value::Dict(b)) => {
            let parts = |dict: &Dict| dict.entries().into_iter().flat_map(|(k, v)| [k, v]).collect::<Vec<_>>();
            return all(&parts(a), &parts(b));
        }
        (Value::Tensor(a), Value::Tensor(b)) => return tensors_match(a, b),
        (a, b) => a.is(b),
    };
    if equal { Ok(()) } else { Err(format!("{actual:?}, not {expected:?}")) }
}

fn tensors_match(a: &Tensor, b: &Tensor) -> Result<(), String> {
    if a.sizes() != b.sizes() || a.dtype() != b.dtype() {
        return Err(format!("{} {:?}, not {} {:?}", a.dtype(), a.sizes(), b.dtype(), b.sizes()));
    }
    let wide = |tensor: &Tensor| -> Vec<f64> {
        let wide = ops::to_dtype(tensor, DType::F64, false, false, None).unwrap();
        ops::contiguous(&wide, MemoryFormat::Contiguous).unwrap().to_vec().unwrap()
    };
    let (a, b) = (wide(a), wide(b));
    let close = a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-5 * (1.0 + b.abs()));
    if close { Ok(()) } else { Err(format!("{a:?}, not {b:?}")) }
}
