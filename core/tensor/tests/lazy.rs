//! Lazy conjugation and negation, and views of the parts of complex numbers.

use rushlight_base::{Complex64, Scalar};
use rushlight_tensor::{Tensor, autograd, ops};

fn number(re: f32, im: f32) -> Complex64 {
    Complex64::new(re, im)
}

fn numbers() -> Tensor {
    Tensor::from_slice(&[number(1.0, 2.0), number(3.0, -4.0)], &[2]).unwrap()
}

fn complex(tensor: &Tensor) -> Vec<Complex64> {
    tensor.to_vec().unwrap()
}

fn leaf() -> Tensor {
    let leaf = numbers();
    leaf.set_requires_grad(true).unwrap();
    leaf
}

/// A tensor of the same values that may be written in place.
fn copy_of(tensor: &Tensor) -> Tensor {
    ops::mul_scalar(tensor, Scalar::Int(1)).unwrap()
}

fn gradient(loss: &Tensor, leaf: &Tensor) -> Tensor {
    let loss = ops::sum(loss, None).unwrap();
    autograd::backward(&[&loss], &[], false, false, &[]).unwrap();
    leaf.grad().expect("a gradient")
}

#[test]
fn a_conjugate_shares_its_memory_until_it_is_used() {
    let z = numbers();
    let conjugate = ops::conj(&z).unwrap();
    assert!(conjugate.is_conj() && conjugate.data_ptr() == z.data_ptr());
    assert_eq!(complex(&conjugate), [number(1.0, -2.0), number(3.0, 4.0)]);
    assert!(!ops::conj(&conjugate).unwrap().is_conj());
    let product = ops::mul_tensor(&conjugate, &z).unwrap();
    assert!(!product.is_conj());
    assert_eq!(complex(&product), [number(5.0, 0.0), number(25.0, 0.0)]);
    let resolved = ops::resolve_conj(&conjugate).unwrap();
    assert!(!resolved.is_conj() && resolved.data_ptr() != z.data_ptr());
    let part = ops::select_int(&conjugate, 0, 1).unwrap();
    assert_eq!(part.item().unwrap(), Scalar::Complex(rushlight_base::Complex::new(3.0, 4.0)));
}

#[test]
fn values_written_to_a_conjugate_are_stored_conjugated() {
    let z = numbers();
    let conjugate = ops::conj(&z).unwrap();
    ops::mul_scalar_(&conjugate, Scalar::Complex(rushlight_base::Complex::new(0.0, 1.0))).unwrap();
    assert_eq!(complex(&conjugate), [number(2.0, 1.0), number(-4.0, 3.0)]);
    assert_eq!(complex(&z), [number(2.0, -1.0), number(-4.0, -3.0)]);
    ops::neg_out(&numbers(), &conjugate).unwrap();
    assert_eq!(complex(&z), [number(-1.0, 2.0), number(-3.0, -4.0)]);
}

#[test]
fn parts_are_views() {
    let z = numbers();
    let imaginary = ops::imag(&ops::conj(&z).unwrap()).unwrap();
    assert!(imaginary.is_neg());
    assert_eq!(imaginary.to_vec::<f32>().unwrap(), [-2.0, 4.0]);
    ops::fill_scalar_(&imaginary, Scalar::Int(7)).unwrap();
    ops::mul_scalar_(&ops::real(&z).unwrap(), Scalar::Int(2)).unwrap();
    assert_eq!(complex(&z), [number(2.0, -7.0), number(6.0, -7.0)]);
    assert!(ops::view_as_real(&ops::conj(&z).unwrap()).is_err());
}

#[test]
fn a_write_to_a_part_is_part_of_the_history() {
    let z = leaf();
    let w = copy_of(&z);
    // w = 3 a + i b, of which |w|^2 is the sum of 9 a^2 and b^2.
    ops::mul_scalar_(&ops::real(&w).unwrap(), Scalar::Int(3)).unwrap();
    let size = ops::real(&ops::mul_tensor(&w, &ops::conj(&w).unwrap()).unwrap()).unwrap();
    assert_eq!(complex(&gradient(&size, &z)), [number(18.0, 4.0), number(54.0, -8.0)]);
}

#[test]
fn a_write_to_a_conjugate_is_part_of_the_history() {
    let z = leaf();
    let w = copy_of(&z);
    // The conjugate of i conj(w) is -i w, whose real part is the imaginary one of w.
    let conjugate = ops::conj(&w).unwrap();
    ops::mul_scalar_(&conjugate, Scalar::Complex(rushlight_base::Complex::new(0.0, 1.0))).unwrap();
    let loss = ops::real(&w).unwrap();
    assert_eq!(loss.to_vec::<f32>().unwrap(), [2.0, -4.0]);
    assert_eq!(complex(&gradient(&loss, &z)), [number(0.0, 1.0); 2]);
}

#[test]
fn a_view_made_before_a_write_follows_it() {
    let z = leaf();
    let w = copy_of(&z);
    let imaginary = ops::imag(&w).unwrap();
    ops::mul_scalar_(&w, Scalar::Complex(rushlight_base::Complex::new(0.0, 2.0))).unwrap();
    // The imaginary part of 2 i (a + b i) is 2 a.
    assert_eq!(complex(&gradient(&imaginary, &z)), [number(2.0, 0.0), number(2.0, 0.0)]);
}

#[test]
fn pairs_of_real_numbers_are_written_as_complex_ones() {
    let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
    x.set_requires_grad(true).unwrap();
    let y = copy_of(&x);
    let turned = ops::view_as_complex(&y).unwrap();
    ops::mul_scalar_(&turned, Scalar::Complex(rushlight_base::Complex::new(0.0, 1.0))).unwrap();
    assert_eq!(y.to_vec::<f32>().unwrap(), [-2.0, 1.0, -4.0, 3.0]);
    let first = ops::select_int(&y, 1, 0).unwrap();
    assert_eq!(gradient(&first, &x).to_vec::<f32>().unwrap(), [0.0, -1.0, 0.0, -1.0]);
}
