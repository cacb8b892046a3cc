//! Eigenvalues and singular values: the algorithms of `faer` on one thread.

use crate::block::Block;
use crate::field::Field;
use crate::householder::norm;
use faer::diag::DiagMut;
use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::reborrow::IntoConst;
use faer::traits::{ComplexField, RealField};
use faer::{MatMut, MatRef, Par};
use num_complex::Complex;
use rushlight_base::{Result, Scratch};
use std::mem::MaybeUninit;

/// A field that the algorithms are compiled for.
pub trait Spectral: Field + ComplexField {
    /// The complex numbers of its precision.
    type Eigen: Field<Real = <Self as Field>::Real>;

    /// The eigenvalues of a general matrix, and the right eigenvectors of length 1 in the columns of `vectors`. `spare`
    /// has 2 n + n^2 elements. `false`: the algorithm did not converge.
    fn eigen(
        a: &mut Block<'_, Self>,
        values: &mut [Self::Eigen],
        vectors: Option<&mut Block<'_, Self::Eigen>>,
        spare: &mut [Self],
    ) -> Result<bool>;
}

fn read<'a, T: Field>(block: &'a mut Block<'_, T>) -> MatRef<'a, T> {
    write(block).into_const()
}

fn write<'a, T: Field>(block: &'a mut Block<'_, T>) -> MatMut<'a, T> {
    let (rows, columns) = (block.rows(), block.columns());
    let (at, step) = block.parts();
    // SAFETY: the elements of a block are valid and column-major, and the block is borrowed mutably during 'a.
    unsafe { MatMut::from_raw_parts_mut(at, rows, columns, 1, step as isize) }
}

fn with_memory<R>(needs: StackReq, run: impl FnOnce(&mut MemStack) -> R) -> Result<R> {
    let bytes = needs.unaligned_bytes_required();
    let memory = Scratch::new(bytes.max(1))?;
    // SAFETY: the block has so many bytes, which may be uninitialized, and lives until this function returns.
    let memory = unsafe { std::slice::from_raw_parts_mut(memory.start().cast::<MaybeUninit<u8>>(), bytes) };
    Ok(run(MemStack::new(memory)))
}

/// The eigenvalues of a Hermitian matrix in ascending order, of which the lower triangle is read, and its eigenvectors
/// in the columns of `vectors`. `false`: the algorithm did not converge. Of the diagonal the real part counts.
pub fn hermitian<T: Spectral>(
    a: &mut Block<'_, T>,
    values: &mut [T],
    vectors: Option<&mut Block<'_, T>>,
) -> Result<bool> {
    for at in 0..a.rows() {
        let real = <T as Field>::from_real(Field::re(a.get(at, at)));
        a.set(at, at, real);
    }
    let computes = if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let needs = evd::self_adjoint_evd_scratch::<T>(a.rows(), computes, Par::Seq, Default::default());
    with_memory(needs, |stack| {
        let (values, vectors) = (DiagMut::from_slice_mut(values), vectors.map(write));
        evd::self_adjoint_evd(read(a), values, vectors, Par::Seq, stack, Default::default()).is_ok()
    })
}

/// The singular values of a matrix in descending order, and the singular vectors in the columns of `u` and `v`.
/// `false`: the algorithm did not converge.
pub fn singular<T: Spectral>(
    a: &mut Block<'_, T>,
    values: &mut [T],
    vectors: Option<(&mut Block<'_, T>, &mut Block<'_, T>)>,
) -> Result<bool> {
    let order = a.rows().min(a.columns());
    let kind = |vectors: Option<usize>| match vectors {
        None => ComputeSvdVectors::No,
        Some(columns) if columns == order => ComputeSvdVectors::Thin,
        Some(_) => ComputeSvdVectors::Full,
    };
    let (left, right) = (kind(vectors.as_ref().map(|v| v.0.columns())), kind(vectors.as_ref().map(|v| v.1.columns())));
    let needs = svd::svd_scratch::<T>(a.rows(), a.columns(), left, right, Par::Seq, Default::default());
    with_memory(needs, |stack| {
        let (u, v) = vectors.map(|(u, v)| (write(u), write(v))).unzip();
        let values = DiagMut::from_slice_mut(values);
        svd::svd(read(a), values, u, v, Par::Seq, stack, Default::default()).is_ok()
    })
}

fn computes<T>(vectors: &Option<T>) -> ComputeEigenvectors {
    if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No }
}

fn real<T>(
    a: &mut Block<'_, T>,
    values: &mut [Complex<T>],
    vectors: Option<&mut Block<'_, Complex<T>>>,
    spare: &mut [T],
) -> Result<bool>
where
    T: Field<Real = T> + RealField,
    Complex<T>: Field<Real = T>,
{
    let order = a.rows();
    let (re, spare) = spare.split_at_mut(order);
    let (im, spare) = spare.split_at_mut(order);
    let needs = evd::evd_scratch::<T>(order, ComputeEigenvectors::No, computes(&vectors), Par::Seq, Default::default());
    let mut packed = vectors.is_some().then(|| Block::over(spare, order, order));
    let converged = with_memory(needs, |stack| {
        let (re, im) = (DiagMut::from_slice_mut(re), DiagMut::from_slice_mut(im));
        evd::evd_real(read(a), re, im, None, packed.as_mut().map(write), Par::Seq, stack, Default::default()).is_ok()
    })?;
    for (value, (&re, &im)) in values.iter_mut().zip(re.iter().zip(&*im)) {
        *value = Complex::new(re, im);
    }
    if let (Some(vectors), Some(packed)) = (vectors, &packed) {
        unpack(packed, im, vectors);
    }
    Ok(converged)
}

/// The complex eigenvectors: real and imaginary part of a conjugate pair are neighbors.
fn unpack<T>(packed: &Block<'_, T>, im: &[T], vectors: &mut Block<'_, Complex<T>>)
where
    T: Field<Real = T>,
    Complex<T>: Field<Real = T>,
{
    let mut at = 0;
    while at < im.len() {
        if im[at] == T::ZERO || at + 1 == im.len() {
            for (to, &re) in vectors.column_mut(at).iter_mut().zip(packed.column(at)) {
                *to = Complex::new(re, T::ZERO);
            }
            at += 1;
            continue;
        }
        for row in 0..im.len() {
            let (re, im) = (packed.get(row, at), packed.get(row, at + 1));
            vectors.set(row, at, Complex::new(re, im));
            vectors.set(row, at + 1, Complex::new(re, -im));
        }
        at += 2;
    }
    normalize(vectors);
}

/// Scales the columns to length 1.
fn normalize<T: Field>(vectors: &mut Block<'_, T>) {
    for column in 0..vectors.columns() {
        let column = vectors.column_mut(column);
        let factor = T::Real::ONE / norm(column);
        column.iter_mut().for_each(|value| *value = value.scale(factor));
    }
}

fn complex<T>(
    a: &mut Block<'_, Complex<T>>,
    values: &mut [Complex<T>],
    vectors: Option<&mut Block<'_, Complex<T>>>,
) -> Result<bool>
where
    T: Field<Real = T> + RealField,
    Complex<T>: Field<Real = T> + ComplexField,
{
    let (order, right) = (a.rows(), computes(&vectors));
    let needs = evd::evd_scratch::<Complex<T>>(order, ComputeEigenvectors::No, right, Par::Seq, Default::default());
    let mut vectors = vectors;
    let converged = with_memory(needs, |stack| {
        let vectors = vectors.as_mut().map(|vectors| write(vectors));
        let values = DiagMut::from_slice_mut(values);
        evd::evd_cplx(read(a), values, None, vectors, Par::Seq, stack, Default::default()).is_ok()
    })?;
    vectors.into_iter().for_each(normalize);
    Ok(converged)
}

macro_rules! spectral {
    ($($real:ident)*) => {$(
        impl Spectral for $real {
            type Eigen = Complex<$real>;

            fn eigen(
                a: &mut Block<'_, $real>,
                values: &mut [Complex<$real>],
                vectors: Option<&mut Block<'_, Complex<$real>>>,
                spare: &mut [$real],
            ) -> Result<bool> {
                real(a, values, vectors, spare)
            }
        }

        impl Spectral for Complex<$real> {
            type Eigen = Complex<$real>;

            fn eigen(
                a: &mut Block<'_, Complex<$real>>,
                values: &mut [Complex<$real>],
                vectors: Option<&mut Block<'_, Complex<$real>>>,
                _spare: &mut [Complex<$real>],
            ) -> Result<bool> {
                complex(a, values, vectors)
            }
        }
    )*};
}

spectral!(f32 f64);
