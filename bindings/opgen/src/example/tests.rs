//! Calls are bound to the signature, and invalid calls are rejected.

use super::literal::Literal;
use super::value::Value;
use super::{Example, parse};
use crate::model::{Form, FormKind};

fn read(signature: &str, text: &str) -> Result<Example, String> {
    let signature: rushlight_schema::Signature = signature.parse().unwrap();
    let kind = if signature.writes() { FormKind::InPlace } else { FormKind::Functional };
    parse(text, &Form { kind, signature, function: true, method: false })
}

#[test]
fn a_call_is_bound_to_its_parameters() {
    let signature = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
    let example = read(signature, "add([1, 2], [3.5, 4], alpha=2) -> [[7, 10]]").unwrap();
    assert_eq!(example.values[2], Some(Value::Plain(Literal::Number("2".into()))));
    let inputs: Vec<String> = example.inputs().map(|tensor| tensor.packed()).collect();
    assert_eq!(inputs, ["int64[2] 1 2", "float32[2] 3.5 4"]);
    assert_eq!(example.packed(), "int64[1,2] 7 10");
}

#[test]
fn every_kind_of_value_is_bound() {
    let cases = [
        ("max.dim(Tensor self, int dim) -> (Tensor, Tensor)", "max([1, 5], 0) -> (5, 1)", "int64[] 5; int64[] 1"),
        ("f(Tensor x) -> (Tensor, Tensor)", "f(1) -> (None, [])", "none; float32[0]"),
        ("split(Tensor self) -> Tensor[]", "split([1, 2]) -> [[1], [2]]", "int64[1] 1; int64[1] 2"),
        ("cat(Tensor[] x, int dim=0) -> Tensor", "cat([[1], [2]]) -> [1, 2]", "int64[2] 1 2"),
        ("index(Tensor self, Tensor?[] i) -> Tensor", "index([[4]], [None, [0]]) -> [[4]]", "int64[1,1] 4"),
        ("fill_(Tensor(a!) self, Scalar v) -> Tensor(a!)", "fill_([1, 2], 3) -> [3, 3]", "int64[2] 3 3"),
        (
            "sgd_(Tensor(a!)[] self, Tensor[] g, Tensor(b!)[] m, *, float lr) -> ()",
            "sgd_([1, 2], [3, 4], [5], lr=1) -> ([6, 7], [8])",
            "int64[] 6; int64[] 7; int64[] 8",
        ),
        (
            "zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
            "zeros([1], dtype=float64, layout=strided, device=cpu, pin_memory=false) -> float64[0.0]",
            "float64[1] 0.0",
        ),
        ("g(Tensor x, float[]? s=None, str m=\"a\") -> Tensor", "g(1, s=[1, 2.5], m=\"b\") -> 2", "int64[] 2"),
        ("g(Tensor x, MemoryFormat? m=None) -> Tensor", "g(1, m=channels_last) -> shape [2]", "float32[2] ?"),
    ];
    for (signature, text, packed) in cases {
        assert_eq!(read(signature, text).map(|example| example.packed()), Ok(packed.into()), "{text}");
    }
}

#[test]
fn one_number_stands_for_a_list() {
    let list = |signature: &str, text: &str| match read(signature, text).unwrap().values[1].clone() {
        Some(Value::List(items)) => items.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(list("pool(Tensor self, int[2] k) -> Tensor", "pool([1], 3) -> [1]"), 2);
    assert_eq!(list("sum(Tensor self, int[1] dim) -> Tensor", "sum([1], 0) -> 1"), 1);
}

#[test]
fn invalid_calls_are_rejected() {
    let cases = [
        ("sub([1], 1) -> [1]", "does not begin with `add(`"),
        ("add([1]) -> [1]", "lacks `n`"),
        ("add([1], 2, float32, 4) -> [1]", "too many arguments"),
        ("add([1], x=2) -> 1", "no argument `x`"),
        ("add([1], 2, n=2) -> 1", "`n` is given twice"),
        ("add([1], 2.5) -> 1", "`n`: a value of type Int cannot be"),
        ("add([1], None) -> 1", "`n`: a value of type Int cannot be"),
        ("add([1], 2, dtype=float) -> 1", "`dtype`: a value of type DType cannot be"),
        ("add([[1], 2], 2) -> 1", "`self`: a tensor with rows of different lengths"),
        ("add([1] 2) -> 1", "`,` is missing"),
        ("add([1], 2)", "`->` is missing"),
        ("add([1], 2) -> (1, 2)", "has 2 results, the operator 1"),
        ("add([1], 2) -> 1 2", "unexpected text"),
    ];
    for (text, expected) in cases {
        let problem = read("add(Tensor self, int n, ScalarType? dtype=None) -> Tensor", text).unwrap_err();
        assert!(problem.contains(expected), "{text} gave {problem:?}");
    }
}
