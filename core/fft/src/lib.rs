//! Discrete Fourier transforms of strided memory along dimensions, over `rustfft` and `realfft`.
//!
//! `plans` keeps the transforms of one line by length; `lines` enumerates the lines along a dimension; `pass` gathers
//! lines into contiguous memory, transforms them on the threads of `rushlight-base` and writes them back; `symmetry`
//! completes a spectrum of real data. The functions here check sizes, so that no transform is called with a buffer of
//! another length. The rules of operators (normalization, which sizes are valid) are in `rushlight-tensor`.

mod lines;
mod number;
mod pass;
mod plans;
mod symmetry;

use lines::Lines;
pub use number::Real;
use pass::{Direct, Line, Pass, run};
use plans::{Kind, complex_plan, to_complex_plan, to_real_plan};
use rushlight_base::{Complex, DType, DimVec, Result, bail, ensure};
use rushlight_cpu::Array;

/// Calls a generic function with the real type of a complex dtype.
macro_rules! by_dtype {
    ($dtype:expr, $function:ident($($argument:expr),*)) => {
        match $dtype {
            DType::C64 => $function::<f32>($($argument),*),
            DType::C128 => $function::<f64>($($argument),*),
            other => bail!(Runtime, "Fourier transforms do not support tensors of type: {}", other.c10_name()),
        }
    };
}

/// `out` = transform of `input` along `dims`, times `scale`. Both are complex and have the same sizes; they may be the
/// same memory. Without dimensions the input is copied.
pub fn complex_to_complex(out: &Array, input: &Array, dims: &[usize], forward: bool, scale: f64) -> Result<()> {
    ensure!(out.sizes() == input.sizes(), Internal, "a transform into other sizes");
    check_dims(out, dims)?;
    by_dtype!(out.dtype(), complex_lines(out, input, dims, forward, scale))
}

/// `out` = spectrum of the real `input` along `dims`, times `scale`. The last dimension of `dims` has n / 2 + 1 elements
/// in `out` for n in `input`, or n: then the others are completed by symmetry.
pub fn real_to_complex(out: &Array, input: &Array, dims: &[usize], scale: f64) -> Result<()> {
    check_dims(out, dims)?;
    check_dims(input, dims)?;
    let Some((&last, others)) = dims.split_last() else { bail!(Internal, "a transform without dimensions") };
    let (size, half) = (input.sizes()[last], input.sizes()[last] / 2 + 1);
    let fits = out.sizes()[last] == half || out.sizes()[last] == size;
    ensure!(fits && same_but(out, input, last), Internal, "a spectrum of other sizes");
    by_dtype!(out.dtype(), spectrum(out, input, last, others, scale))
}

/// `out` = real signal along `dim` whose spectrum begins with `input`, times `scale`. `input` has at least n / 2 + 1
/// elements along `dim` for n in `out`; the imaginary parts that a real signal does not have are ignored.
pub fn complex_to_real(out: &Array, input: &Array, dim: usize, scale: f64) -> Result<()> {
    check_dims(out, &[dim])?;
    check_dims(input, &[dim])?;
    let fits = input.sizes()[dim] > out.sizes()[dim] / 2;
    ensure!(fits && same_but(out, input, dim), Internal, "a signal of other sizes");
    by_dtype!(input.dtype(), signal(out, input, dim, scale))
}

/// Frees the plans that are kept.
pub fn shutdown() {
    plans::clear::<f32>();
    plans::clear::<f64>();
}

fn check_dims(array: &Array, dims: &[usize]) -> Result<()> {
    ensure!(dims.iter().all(|&dim| dim < array.ndim()), Internal, "a transform along a dimension that does not exist");
    Ok(())
}

fn same_but(out: &Array, input: &Array, dim: usize) -> bool {
    let mut pairs = out.sizes().iter().zip(input.sizes()).enumerate();
    out.ndim() == input.ndim() && pairs.all(|(at, (own, other))| at == dim || own == other)
}

fn complex_lines<T: Real>(out: &Array, input: &Array, dims: &[usize], forward: bool, scale: f64) -> Result<()> {
    if dims.is_empty() {
        return copied::<T>(out, input, scale);
    }
    let kind = if forward { Kind::Forward } else { Kind::Inverse };
    // The last dimension first: in row-major memory its lines are read in place. The order does not depend on strides,
    // and so neither does the rounding.
    for (nth, &dim) in dims.iter().rev().enumerate() {
        let (from, scale) = if nth == 0 { (input, scale) } else { (out, 1.0) };
        complex_pass::<T>(out, from, dim, out.sizes()[dim], kind, scale)?;
    }
    Ok(())
}

/// A copy of complex numbers, through lines of the last dimension.
fn copied<T: Real>(out: &Array, input: &Array, scale: f64) -> Result<()> {
    let dim = out.ndim().saturating_sub(1);
    let to = Line::of(out, dim, out.size(dim) as i64, T::complex(out));
    let from = Line::of(input, dim, input.size(dim) as i64, T::complex(input));
    let copy = |from: &mut [Complex<T>], to: &mut [Complex<T>], _: &mut [Complex<T>]| to.copy_from_slice(from);
    let pass = Pass { to, from, scale: T::of(scale), scratch: 0, convert: &copy, direct: None };
    run(&Lines::new(out, input, dim), &pass)
}

/// Transforms the first `size` elements of each line along `dim`.
fn complex_pass<T: Real>(out: &Array, input: &Array, dim: usize, size: i64, kind: Kind, scale: f64) -> Result<()> {
    let plan = complex_plan::<T>(kind, size as usize)?;
    let to = Line::of(out, dim, size, T::complex(out));
    let from = Line::of(input, dim, size, T::complex(input));
    // The same function for lines of any layout: others round in another order.
    let direct = |from: &[Complex<T>], to: &mut [Complex<T>], scratch: &mut [Complex<T>]| {
        plan.process_immutable_with_scratch(from, to, scratch);
    };
    let convert = |from: &mut [Complex<T>], to: &mut [Complex<T>], scratch: &mut [Complex<T>]| {
        direct(from, to, scratch);
    };
    let scratch = plan.get_immutable_scratch_len();
    let elsewhere = T::complex(out) != T::complex(input);
    let direct: Option<Direct<'_, T, Complex<T>, Complex<T>>> = if elsewhere { Some(&direct) } else { None };
    run(&Lines::new(out, input, dim), &Pass { to, from, scale: T::of(scale), scratch, convert: &convert, direct })
}

fn spectrum<T: Real>(out: &Array, input: &Array, last: usize, others: &[usize], scale: f64) -> Result<()> {
    let size = input.sizes()[last];
    let half = size / 2 + 1;
    let plan = to_complex_plan::<T>(size as usize)?;
    let convert = |from: &mut [T], to: &mut [Complex<T>], scratch: &mut [Complex<T>]| {
        // It fails for buffers of other lengths only, which a pass does not have.
        let done = plan.process_with_scratch(from, to, scratch);
        debug_assert!(done.is_ok(), "a buffer of another length");
    };
    let to = Line::of(out, last, half, T::complex(out));
    let from = Line::of(input, last, size, input.as_ptr::<T>());
    let scratch = plan.get_scratch_len();
    let pass = Pass { to, from, scale: T::of(scale), scratch, convert: &convert, direct: None };
    run(&Lines::new(out, input, last), &pass)?;
    let sizes: DimVec =
        out.sizes().iter().enumerate().map(|(at, &size)| if at == last { half } else { size }).collect();
    // SAFETY: the array is the part of `out` with the first `half` elements along `last`, of which `out` has as many or
    // more (checked by the caller), and lives as long.
    let part = unsafe { Array::new(T::complex(out).cast(), out.dtype(), &sizes, out.strides()) };
    for &dim in others {
        complex_pass::<T>(&part, &part, dim, sizes[dim], Kind::Forward, 1.0)?;
    }
    if out.sizes()[last] > half { symmetry::complete::<T>(out, last, others) } else { Ok(()) }
}

fn signal<T: Real>(out: &Array, input: &Array, dim: usize, scale: f64) -> Result<()> {
    let size = out.sizes()[dim];
    let half = size / 2 + 1;
    let plan = to_real_plan::<T>(size as usize)?;
    let convert = |from: &mut [Complex<T>], to: &mut [T], scratch: &mut [Complex<T>]| {
        from[0].im = T::of(0.0);
        if let Some(middle) = from.last_mut()
            && size % 2 == 0
        {
            middle.im = T::of(0.0);
        }
        // It fails for buffers of other lengths only, which a pass does not have.
        let done = plan.process_with_scratch(from, to, scratch);
        debug_assert!(done.is_ok(), "a buffer of another length");
    };
    let to = Line::of(out, dim, size, out.as_ptr::<T>());
    let from = Line::of(input, dim, half, T::complex(input));
    let scratch = plan.get_scratch_len();
    let pass = Pass { to, from, scale: T::of(scale), scratch, convert: &convert, direct: None };
    run(&Lines::new(out, input, dim), &pass)
}
