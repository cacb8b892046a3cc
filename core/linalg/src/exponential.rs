//! The exponential of matrices, by Padé approximants with scaling and squaring (Higham, "The scaling and squaring method
//! for the matrix exponential revisited", 2005).

use crate::batch::{Batch, each};
use crate::block::{Block, set_product};
use crate::direct::{Pivots, solve_factored};
use crate::field::{Field, Real};
use crate::{lu, with_field};
use rushlight_base::Result;
use rushlight_cpu::Array;

/// The coefficients of the numerators of degree 3, 5, 7, 9 and 13.
const COEFFICIENTS: [&[f64]; 5] = [
    &[120.0, 60.0, 12.0, 1.0],
    &[30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0],
    &[17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0],
    &[17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0, 110880.0, 3960.0, 90.0, 1.0],
    &[
        64764752532480000.0,
        32382376266240000.0,
        7771770303897600.0,
        1187353796428800.0,
        129060195264000.0,
        10559470521600.0,
        670442572800.0,
        33522128640.0,
        1323241920.0,
        40840800.0,
        960960.0,
        16380.0,
        182.0,
        1.0,
    ],
];

/// The 1-norm up to which each of them is accurate in double precision, and in single precision.
const DOUBLE: [f64; 5] =
    [0.01495585217958292, 0.253939833006323, 9.504178996162932e-1, 2.097847961257068, 5.371920351148152];
const SINGLE: [f64; 3] = [4.258730016922831e-1, 1.880152677804762, 3.92572478313866];

/// out = e^a
pub fn exponential(out: &Array, a: &Array) -> Result<()> {
    with_field!("linalg_matrix_exp", a.dtype(), T => {
        let sizes = &a.sizes()[..a.ndim() - 2];
        let (to, from) = (Batch::<T>::new(out, 2, sizes)?, Batch::<T>::new(a, 2, sizes)?);
        let order = a.size(a.ndim() - 1);
        each::<T>(from.len(), 16 * order.pow(3), 8 * order * order, &|index, spare| {
            let (own, spare) = spare.split_at_mut(order * order);
            let mut own = Block::over(own, order, order);
            from.matrix(index).load(&mut own);
            to.matrix(index).write(spare, |block, spare| {
                if own.is_finite() {
                    return compute(&mut own, block, spare);
                }
                block.fill(T::from_real(<T as Field>::Real::NAN));
                Ok(())
            })
        })
    })
}

fn compute<T: Field>(a: &mut Block<'_, T>, out: &mut Block<'_, T>, spare: &mut [T]) -> Result<()> {
    let order = a.rows();
    let limits = if T::Real::EPSILON.to_f64() > 1e-10 { &SINGLE[..] } else { &DOUBLE[..] };
    let size = largest_column(a);
    let (degree, squarings) = match limits.iter().position(|&limit| size <= limit) {
        Some(degree) => (degree, 0),
        None => (limits.len() - 1, (size / limits[limits.len() - 1]).log2().ceil().max(0.0) as i32),
    };
    let factor = T::Real::from_f64(0.5f64.powi(squarings));
    for column in 0..order {
        a.column_mut(column).iter_mut().for_each(|value| *value = value.scale(factor));
    }
    approximate(COEFFICIENTS[degree], a, out, spare)?;
    let mut square = Block::over(&mut spare[..order * order], order, order);
    for _ in 0..squarings {
        set_product(&mut square, 1.0, out, out)?;
        out.copy_from(&square);
    }
    Ok(())
}

/// The largest sum of absolute values of a column.
fn largest_column<T: Field>(a: &Block<'_, T>) -> f64 {
    let sum = |column: usize| a.column(column).iter().map(|value| value.abs().to_f64()).sum();
    (0..a.columns()).map(sum).fold(0.0, f64::max)
}

/// out = (V - U)^-1 (V + U) for the odd part U and the even part V of the numerator.
fn approximate<T: Field>(b: &[f64], a: &mut Block<'_, T>, out: &mut Block<'_, T>, spare: &mut [T]) -> Result<()> {
    let order = a.rows();
    let mut parts = spare.chunks_exact_mut((order * order).max(1));
    let mut part = || Block::over(parts.next().unwrap_or_default(), order, order);
    let (mut square, mut power, mut next) = (part(), part(), part());
    let (mut odd, mut even) = (part(), part());
    set_product(&mut square, 1.0, a, a)?;
    power.set_identity();
    odd.fill(T::ZERO);
    even.fill(T::ZERO);
    for pair in b.chunks(2) {
        add_scaled(&mut even, pair[0], &power);
        add_scaled(&mut odd, pair[1], &power);
        if pair[1] != 1.0 {
            set_product(&mut next, 1.0, &power, &square)?;
            power.copy_from(&next);
        }
    }
    set_product(&mut next, 1.0, a, &odd)?;
    out.copy_from(&even);
    add_scaled(out, 1.0, &next);
    add_scaled(&mut even, -1.0, &next);
    let mut pivots = Pivots::new(order)?;
    lu::factorize(&mut even, pivots.numbers())?;
    solve_factored(&mut even, pivots.numbers(), false, out)
}

fn add_scaled<T: Field>(to: &mut Block<'_, T>, factor: f64, from: &Block<'_, T>) {
    let factor = T::Real::from_f64(factor);
    for column in 0..to.columns() {
        for (to, &from) in to.column_mut(column).iter_mut().zip(from.column(column)) {
            *to += from.scale(factor);
        }
    }
}
