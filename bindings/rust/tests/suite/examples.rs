//! Every example of the operators' documentation, as `opgen` writes it, gives the documented result.
//!
//! `float32[2,1] 1.5 nan` has dtype, sizes and elements. A complex number is two numbers, a boolean 0 or 1; a question mark
//! stands for any elements. Semicolons separate several tensors.

use crate::seeded;
#[allow(unused_imports, reason = "the generated examples decide")]
use rushlight::{
    Complex, DType, Device, Layout, MemoryFormat, Reduction, Result, Scalar, Tensor, TensorOptions, autograd, options,
};

/// Name, call, documented results.
type Example = (&'static str, fn(&mut Vec<Tensor>) -> Result<()>, &'static str);

include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// The results of a method.
trait Report {
    fn report(&self, out: &mut Vec<Tensor>);
}

impl Report for Tensor {
    fn report(&self, out: &mut Vec<Tensor>) {
        out.push(self.clone());
    }
}

impl Report for Vec<Tensor> {
    fn report(&self, out: &mut Vec<Tensor>) {
        out.extend(self.iter().cloned());
    }
}

impl Report for [Tensor] {
    fn report(&self, out: &mut Vec<Tensor>) {
        out.extend(self.iter().cloned());
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {$(
        impl<$($name: Report),*> Report for ($($name,)*) {
            #[allow(non_snake_case, reason = "the names of types are also those of values")]
            fn report(&self, out: &mut Vec<Tensor>) {
                let ($($name,)*) = self;
                $($name.report(out);)*
            }
        }
    )*};
}

tuples!((A B)(A B C)(A B C D)(A B C D E));

/// The dtype of this name.
fn dtype(name: &str) -> DType {
    DType::from_name(name).unwrap()
}

/// Dtype, sizes and elements; no elements for a question mark.
fn parts(text: &str) -> (DType, Vec<i64>, Option<Vec<&str>>) {
    let (name, rest) = text.split_once('[').unwrap();
    let (sizes, elements) = rest.split_once(']').unwrap();
    let sizes = sizes.split(',').filter(|size| !size.is_empty()).map(|size| size.parse().unwrap()).collect();
    let elements = elements.trim();
    (dtype(name), sizes, (elements != "?").then(|| elements.split_whitespace().collect()))
}

/// The tensor of numbers, two for each complex one, in this dtype.
fn of_numbers(dtype: DType, sizes: &[i64], elements: &[&str]) -> Result<Tensor> {
    let floats = || elements.iter().map(|number| number.parse().unwrap()).collect::<Vec<f64>>();
    if dtype.is_complex() {
        let pairs = floats();
        let values: Vec<Complex<f64>> = pairs.chunks(2).map(|pair| Complex::new(pair[0], pair[1])).collect();
        return Tensor::from_slice(&values, sizes)?.to(dtype);
    }
    if dtype.is_floating() {
        return Tensor::from_slice(&floats(), sizes)?.to(dtype);
    }
    let values: Vec<i64> = elements.iter().map(|number| number.parse().unwrap()).collect();
    Tensor::from_slice(&values, sizes)?.to(dtype)
}

/// A tensor of an example.
fn tensor(text: &str) -> Tensor {
    let (dtype, sizes, elements) = parts(text);
    match elements {
        Some(elements) => of_numbers(dtype, &sizes, &elements).unwrap(),
        None => Tensor::zeros_with(&sizes, dtype).unwrap(),
    }
}

/// What differs from the documented result, if anything does.
fn difference(documented: &str, actual: &Tensor) -> Result<Option<String>> {
    let (dtype, sizes, elements) = parts(documented);
    if (actual.dtype(), actual.sizes()) != (dtype, sizes.clone()) {
        return Ok(Some(format!("{actual:?} instead of {documented}")));
    }
    let Some(elements) = elements else { return Ok(None) };
    let wide = |tensor: &Tensor| -> Result<Tensor> {
        let tensor = tensor.detach()?.resolve_conj()?.resolve_neg()?;
        if dtype.is_complex() { tensor.to(DType::C128)?.view_as_real() } else { tensor.to(DType::F64) }
    };
    let expected = wide(&of_numbers(dtype, &sizes, &elements)?)?;
    let options =
        options::Allclose { rtol: if dtype.is_floating() || dtype.is_complex() { 1e-5 } else { 0.0 }, ..close() };
    let same = wide(actual)?.allclose_with(&expected, options)?;
    Ok((!same).then(|| format!("{actual} instead of {documented}")))
}

fn close() -> options::Allclose {
    options::Allclose { rtol: 0.0, atol: 1e-8, equal_nan: true }
}

#[test]
fn examples_give_the_documented_results() {
    assert!(EXAMPLES.len() > 500, "{}", EXAMPLES.len());
    let mut wrong = Vec::new();
    for (name, call, documented) in EXAMPLES {
        let mut results = Vec::new();
        if let Err(error) = seeded(0, || call(&mut results)) {
            wrong.push(format!("{name}: {error}"));
            continue;
        }
        let expected: Vec<&str> = documented.split("; ").collect();
        if expected.len() != results.len() {
            wrong.push(format!("{name}: {} results instead of {}", results.len(), expected.len()));
            continue;
        }
        for (documented, result) in expected.iter().zip(&results) {
            match difference(documented, result) {
                Ok(None) => {}
                Ok(Some(text)) => wrong.push(format!("{name}: {text}")),
                Err(error) => wrong.push(format!("{name}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), EXAMPLES.len(), wrong.join("\n"));
}
