//! Strings that programs pass: signatures of operators, equations, names.

use rushlight_base::{DType, Device, ErrorKind};
use rushlight_schema::Signature;
use rushlight_tensor::dispatch::{LentValues, by_name, runtime_ops};
use rushlight_tensor::{Options, Tensor, ops};
use std::str::{FromStr, from_utf8};

/// The signature of an operator that a program defines. Printed and read again it is the same.
pub fn schema(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    let signature = match Signature::from_str(text) {
        Ok(signature) => signature,
        Err(error) => {
            assert!(error.position() <= text.len() && text.is_char_boundary(error.position()));
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let printed = signature.to_string();
    let again = Signature::from_str(&printed).unwrap_or_else(|error| panic!("{printed}: {error}"));
    assert_eq!(printed, again.to_string());
    let own = !signature.namespace.is_empty() && signature.namespace != "aten";
    match runtime_ops::define(text) {
        Ok(op) => {
            assert!(own && runtime_ops::find(&name_of(&signature), &signature.overload).is_some());
            runtime_ops::undefine(&op).expect("it was defined");
        }
        Err(error) => assert!(!own && error.kind() == ErrorKind::Value, "{error}"),
    }
}

fn name_of(signature: &Signature) -> String {
    format!("{}::{}", signature.namespace, signature.name)
}

/// Sizes of the operands of an equation, of which the first byte of the input selects three.
const OPERANDS: [&[i64]; 8] = [&[2, 3], &[3, 2], &[3], &[], &[1, 3, 2], &[2, 2, 3], &[0, 3], &[3, 3]];

/// An equation of `einsum`. Meta tensors have a result of the same sizes, and are rejected for the same reason.
pub fn einsum(bytes: &[u8]) {
    let [choice, count, equation @ ..] = bytes else { return };
    let Ok(equation) = from_utf8(equation) else { return };
    let sizes = |nth: u8| OPERANDS[usize::from(choice.rotate_right(3 * u32::from(nth)) & 7)];
    let sizes: Vec<&[i64]> = (0..count % 4).map(sizes).collect();
    let result = |device: Device| {
        let options = Options { device: Some(device), ..Options::default() };
        let make = |sizes: &&[i64]| ops::ones(sizes, options);
        let operands: Vec<Tensor> = sizes.iter().map(make).collect::<Result<_, _>>().expect("small tensors");
        ops::einsum(equation, &operands.iter().collect::<Vec<_>>(), None)
    };
    match (result(Device::CPU), result(Device::META)) {
        (Ok(values), Ok(shape)) => assert_eq!(*values.sizes(), *shape.sizes(), "{equation}"),
        (Err(one), Err(other)) => assert_eq!(one.message(), other.message(), "{equation}"),
        (values, shape) => panic!("{equation}: {} and {}", values.is_ok(), shape.is_ok()),
    }
}

/// Names of devices, dtypes and operators.
pub fn names(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    if let Ok(device) = Device::parse(text) {
        assert_eq!(Device::parse(&device.to_string()).expect("its own name"), device);
    }
    if let Ok(dtype) = DType::from_name(text) {
        assert_eq!(DType::from_name(dtype.name()).expect("its own name"), dtype);
    }
    let (name, overload) = text.split_once('.').unwrap_or((text, ""));
    match by_name::find(name, overload) {
        Ok(op) => {
            let filled = by_name::fill(op.arguments(), &mut LentValues::new(), Vec::new());
            assert!(filled.is_ok() || !filled.unwrap_err().message().is_empty());
        }
        Err(error) => assert_eq!(error.kind(), ErrorKind::UnknownOperator, "{error}"),
    }
}
