//! Reductions over any dimensions. A block, or a thread, combines the terms of a result in an order that depends on the
//! sizes only; where there are few results, their terms are split into parts that a second launch combines.

use crate::memory::{load, store};
use crate::number::{Analytic, Flag, Number, Wide};
use crate::parameters::{PARTIAL, Reduction, Size};
use crate::rows::Real;
use crate::simt::{Word, block, block_y, blocks, combined, thread, threads};
use crate::{Complex, Complex32, Complex64, Complex128, bf16, f16};

/// How terms are combined.
trait Fold {
    /// An element of the input.
    type Input: Number;
    /// A partial result.
    type Partial: Word;
    /// Of no terms.
    fn none(p: &Reduction) -> Self::Partial;
    /// With a term, whose index is its place along the reduced dimensions in row-major order.
    fn with(partial: Self::Partial, term: <Self::Input as Number>::Wide, index: u32, p: &Reduction) -> Self::Partial;
    /// Of earlier and later terms.
    fn joined(a: Self::Partial, b: Self::Partial, p: &Reduction) -> Self::Partial;
    /// Stores the result at these offsets.
    fn finish(partial: Self::Partial, p: &Reduction, at: [i64; 2]);
}

/// Stores an element of a result.
#[inline(always)]
fn put<T: Copy>(base: u64, offset: i64, value: T, alignment: usize) {
    // SAFETY: the host describes results at these offsets.
    unsafe { store(base.wrapping_add((offset * size_of::<T>() as i64) as u64), alignment, [value]) }
}

/// The offset of a place.
#[inline(always)]
fn offset(sizes: &[Size; 8], strides: &[i64; 8], rank: u32, index: u32) -> i64 {
    let (mut at, mut rest) = (0, index);
    macro_rules! dimensions {
        ($($dim:literal)*) => {$(
            if $dim < rank {
                let (next, place) = sizes[$dim].divide(rest);
                at += i64::from(place) * strides[$dim];
                rest = next;
            }
        )*};
    }
    dimensions!(0 1 2 3 4 5 6 7);
    let _ = rest;
    at
}

/// The offsets of a result's place in the input and both results.
#[inline(always)]
fn place(p: &Reduction, index: u32) -> [i64; 3] {
    let (mut at, mut rest) = ([0; 3], index);
    macro_rules! dimensions {
        ($($dim:literal)*) => {$(
            if $dim < p.kept_rank {
                let (next, place) = p.kept[$dim].divide(rest);
                at[0] += i64::from(place) * p.kept_strides[$dim][0];
                at[1] += i64::from(place) * p.kept_strides[$dim][1];
                at[2] += i64::from(place) * p.kept_strides[$dim][2];
                rest = next;
            }
        )*};
    }
    dimensions!(0 1 2 3 4 5 6 7);
    let _ = rest;
    at
}

#[inline(always)]
fn term<F: Fold>(p: &Reduction, start: i64, index: u32) -> <F::Input as Number>::Wide {
    let at = start + offset(&p.reduced, &p.reduced_strides, p.reduced_rank, index);
    let size = size_of::<F::Input>();
    // Parts of complex numbers are aligned to their parts.
    let alignment = if align_of::<F::Input>() < size { align_of::<F::Input>() } else { size };
    // SAFETY: the host describes the input.
    unsafe { load::<F::Input, 1>(p.at[0].wrapping_add((at * size as i64) as u64), alignment)[0].wide() }
}

/// The address of a part.
#[inline(always)]
fn part_of(p: &Reduction, part: u32, result: u32) -> u64 {
    p.at[3] + (u64::from(part) * u64::from(p.results) + u64::from(result)) * u64::from(PARTIAL)
}

#[inline(always)]
fn reduce<F: Fold>(p: &Reduction) {
    if p.across == 0 {
        let mut result = block();
        while result < p.results {
            let partial = folded::<F>(p, result, thread(), threads());
            let partial = combined(partial, F::none(p), |a, b| F::joined(a, b, p));
            if thread() == 0 {
                done::<F>(p, result, partial);
            }
            result += blocks();
        }
        return;
    }
    let mut result = block() * threads() + thread();
    while result < p.results {
        done::<F>(p, result, folded::<F>(p, result, 0, 1));
        result += blocks() * threads();
    }
}

/// The terms of this part from `first` on, by steps of `step`.
#[inline(always)]
fn folded<F: Fold>(p: &Reduction, result: u32, first: u32, step: u32) -> F::Partial {
    let mut partial = F::none(p);
    if p.last != 0 {
        let mut part = first;
        while part < p.parts {
            // SAFETY: the earlier launch has stored a partial result for each part.
            let next = unsafe { F::Partial::load(part_of(p, part, result)) };
            partial = F::joined(partial, next, p);
            part += step;
        }
        return partial;
    }
    let share = p.terms.div_ceil(p.parts);
    let begin = block_y() * share;
    let end = if begin + share < p.terms { begin + share } else { p.terms };
    let start = place(p, result)[0];
    let mut index = begin + first;
    // Four terms at a time, so that their reads overlap.
    while index + 3 * step < end {
        let terms = [
            term::<F>(p, start, index),
            term::<F>(p, start, index + step),
            term::<F>(p, start, index + 2 * step),
            term::<F>(p, start, index + 3 * step),
        ];
        partial = F::with(partial, terms[0], index, p);
        partial = F::with(partial, terms[1], index + step, p);
        partial = F::with(partial, terms[2], index + 2 * step, p);
        partial = F::with(partial, terms[3], index + 3 * step, p);
        index += 4 * step;
    }
    while index < end {
        partial = F::with(partial, term::<F>(p, start, index), index, p);
        index += step;
    }
    partial
}

#[inline(always)]
fn done<F: Fold>(p: &Reduction, result: u32, partial: F::Partial) {
    if p.parts > 1 && p.last == 0 {
        // SAFETY: the host gives room for each part.
        unsafe { partial.store(part_of(p, block_y(), result)) }
        return;
    }
    let [_, first, second] = place(p, result);
    F::finish(partial, p, [first, second]);
}

/// The type in which elements are added and multiplied.
pub(crate) trait Total: Number {
    type Total: Word;
    const ZERO: Self::Total;
    const ONE: Self::Total;
    fn total(value: Self::Wide) -> Self::Total;
    fn of(total: Self::Total) -> Self;
    fn add(a: Self::Total, b: Self::Total) -> Self::Total;
    fn mul(a: Self::Total, b: Self::Total) -> Self::Total;
    fn divided(a: Self::Total, by: f64) -> Self::Total;
    fn is_true(value: Self::Wide) -> bool;
}

macro_rules! real_totals {
    ($($type:ty, $wide:ident;)*) => {$(
        impl Total for $type {
            type Total = $wide;
            const ZERO: $wide = 0.0;
            const ONE: $wide = 1.0;
            #[inline(always)]
            fn total(value: $wide) -> $wide {
                value
            }
            #[inline(always)]
            fn of(total: $wide) -> $type {
                <$type as Number>::narrow(total)
            }
            #[inline(always)]
            fn add(a: $wide, b: $wide) -> $wide {
                a + b
            }
            #[inline(always)]
            fn mul(a: $wide, b: $wide) -> $wide {
                a * b
            }
            #[inline(always)]
            fn divided(a: $wide, by: f64) -> $wide {
                a / by as $wide
            }
            #[inline(always)]
            fn is_true(value: $wide) -> bool {
                value != 0.0
            }
        }
    )*};
}

real_totals! {
    f32, f32;
    f64, f64;
    f16, f32;
    bf16, f32;
}

macro_rules! complex_totals {
    ($($type:ty, $part:ident;)*) => {$(
        impl Total for $type {
            type Total = Complex<$part>;
            const ZERO: Self::Total = Complex::new(0.0, 0.0);
            const ONE: Self::Total = Complex::new(1.0, 0.0);
            #[inline(always)]
            fn total(value: Self::Total) -> Self::Total {
                value
            }
            #[inline(always)]
            fn of(total: Self::Total) -> $type {
                <$type as Number>::narrow(total)
            }
            #[inline(always)]
            fn add(a: Self::Total, b: Self::Total) -> Self::Total {
                Complex::new(a.re + b.re, a.im + b.im)
            }
            #[inline(always)]
            fn mul(a: Self::Total, b: Self::Total) -> Self::Total {
                Complex::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
            }
            #[inline(always)]
            fn divided(a: Self::Total, by: f64) -> Self::Total {
                Complex::new(a.re / by as $part, a.im / by as $part)
            }
            #[inline(always)]
            fn is_true(value: Self::Total) -> bool {
                value.re != 0.0 || value.im != 0.0
            }
        }
    )*};
}

complex_totals! {
    Complex32, f32;
    Complex64, f32;
    Complex128, f64;
}

macro_rules! integer_totals {
    ($($type:ty: $value:ident => $to:expr, $total:ident => $from:expr;)*) => {$(
        impl Total for $type {
            type Total = i64;
            const ZERO: i64 = 0;
            const ONE: i64 = 1;
            #[inline(always)]
            fn total($value: <$type as Number>::Wide) -> i64 {
                $to
            }
            #[inline(always)]
            fn of($total: i64) -> $type {
                $from
            }
            #[inline(always)]
            fn add(a: i64, b: i64) -> i64 {
                a.wrapping_add(b)
            }
            #[inline(always)]
            fn mul(a: i64, b: i64) -> i64 {
                a.wrapping_mul(b)
            }
            #[inline(always)]
            fn divided(a: i64, _: f64) -> i64 {
                a
            }
            #[inline(always)]
            fn is_true($value: <$type as Number>::Wide) -> bool {
                ($to) != 0
            }
        }
    )*};
}

integer_totals! {
    u8: value => value as i64, total => total as u8;
    i8: value => value as i64, total => total as i8;
    i16: value => value as i64, total => total as i16;
    i32: value => value as i64, total => total as i32;
    i64: value => value, total => total;
    u16: value => value as i64, total => total as u16;
    u32: value => value as i64, total => total as u32;
    u64: value => value as i64, total => total as u64;
    Flag: value => i64::from(value), total => Flag(u8::from(total != 0));
}

/// Declares folds over totals: the neutral element, the combination with a term and of two, and the result.
macro_rules! folds {
    ($($(#[$doc:meta])* $name:ident: $none:expr, |$partial:ident, $term:ident| $with:expr, |$a:ident, $b:ident| $join:expr,
        |$total:ident, $p:ident| $result:expr;)*) => {$(
        $(#[$doc])*
        struct $name<T>(core::marker::PhantomData<T>);

        impl<T: Total> Fold for $name<T> {
            type Input = T;
            type Partial = T::Total;
            #[inline(always)]
            fn none(_: &Reduction) -> T::Total {
                $none
            }
            #[inline(always)]
            fn with($partial: T::Total, $term: T::Wide, _: u32, _: &Reduction) -> T::Total {
                $with
            }
            #[inline(always)]
            fn joined($a: T::Total, $b: T::Total, _: &Reduction) -> T::Total {
                $join
            }
            #[inline(always)]
            fn finish($total: T::Total, $p: &Reduction, at: [i64; 2]) {
                let value = $result;
                put($p.at[1], at[0], value, align_of_val(&value));
            }
        }
    )*};
}

folds! {
    /// The sum, in the dtype of the input.
    Sum: T::ZERO, |partial, term| T::add(partial, T::total(term)), |a, b| T::add(a, b), |total, p| T::of(total);
    /// The sum divided by the first option.
    Mean: T::ZERO, |partial, term| T::add(partial, T::total(term)), |a, b| T::add(a, b),
        |total, p| T::of(T::divided(total, p.options[0]));
    /// The product, in the dtype of the input.
    Product: T::ONE, |partial, term| T::mul(partial, T::total(term)), |a, b| T::mul(a, b), |total, p| T::of(total);
    /// The sum as it is: of integers in 64 bits.
    WideSum: T::ZERO, |partial, term| T::add(partial, T::total(term)), |a, b| T::add(a, b), |total, p| total;
    /// The product as it is: of integers in 64 bits.
    WideProduct: T::ONE, |partial, term| T::mul(partial, T::total(term)), |a, b| T::mul(a, b), |total, p| total;
}

/// Folds that count elements that differ from zero.
macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident: |$count:ident, $p:ident| $result:expr;)*) => {$(
        $(#[$doc])*
        struct $name<T>(core::marker::PhantomData<T>);

        impl<T: Total> Fold for $name<T> {
            type Input = T;
            type Partial = i64;
            #[inline(always)]
            fn none(_: &Reduction) -> i64 {
                0
            }
            #[inline(always)]
            fn with(partial: i64, term: T::Wide, _: u32, _: &Reduction) -> i64 {
                partial + i64::from(T::is_true(term))
            }
            #[inline(always)]
            fn joined(a: i64, b: i64, _: &Reduction) -> i64 {
                a + b
            }
            #[inline(always)]
            fn finish($count: i64, $p: &Reduction, at: [i64; 2]) {
                let value = $result;
                put($p.at[1], at[0], value, align_of_val(&value));
            }
        }
    )*};
}

counts! {
    /// Whether any element differs from zero.
    Any: |count, p| u8::from(count != 0);
    /// Whether all elements differ from zero.
    All: |count, p| u8::from(count == i64::from(p.terms));
    /// The number of elements that differ from zero.
    Count: |count, p| count;
}

/// What an extremum compares.
trait Ordered: Number {
    type Key: Word;
    fn key(value: Self::Wide) -> Self::Key;
    fn of(key: Self::Key) -> Self;
    /// Whether `b` is further than `a`; NaN is furthest.
    fn is_further(a: Self::Key, b: Self::Key, max: bool) -> bool;
}

macro_rules! ordered_floats {
    ($($type:ty, $wide:ty;)*) => {$(
        impl Ordered for $type {
            type Key = $wide;
            #[inline(always)]
            fn key(value: $wide) -> $wide {
                value
            }
            #[inline(always)]
            fn of(key: $wide) -> $type {
                <$type as Number>::narrow(key)
            }
            #[inline(always)]
            fn is_further(a: $wide, b: $wide, max: bool) -> bool {
                if a != a {
                    return false;
                }
                b != b || if max { b > a } else { b < a }
            }
        }
    )*};
}

ordered_floats! {
    f32, f32;
    f64, f64;
    f16, f32;
    bf16, f32;
}

macro_rules! ordered_integers {
    ($($type:ty)*) => {$(
        impl Ordered for $type {
            type Key = i64;
            #[inline(always)]
            fn key(value: <$type as Number>::Wide) -> i64 {
                <$type as Total>::total(value)
            }
            #[inline(always)]
            fn of(key: i64) -> $type {
                <$type as Total>::of(key)
            }
            #[inline(always)]
            fn is_further(a: i64, b: i64, max: bool) -> bool {
                if max { b > a } else { b < a }
            }
        }
    )*};
}

ordered_integers!(u8 i8 i16 i32 i64 Flag);

/// The extremum, its first index, and whether there is a term.
struct Extreme<T, const MAX: bool>(core::marker::PhantomData<T>);

impl<T: Total + Ordered, const MAX: bool> Fold for Extreme<T, MAX> {
    type Input = T;
    type Partial = (T::Key, u32, u32);
    #[inline(always)]
    fn none(_: &Reduction) -> Self::Partial {
        (<T as Ordered>::key(T::default().wide()), 0, 0)
    }
    #[inline(always)]
    fn with(partial: Self::Partial, term: T::Wide, index: u32, p: &Reduction) -> Self::Partial {
        Self::joined(partial, (<T as Ordered>::key(term), index, 1), p)
    }
    #[inline(always)]
    fn joined(a: Self::Partial, b: Self::Partial, _: &Reduction) -> Self::Partial {
        if b.2 == 0 {
            return a;
        }
        if a.2 == 0 {
            return b;
        }
        let (further, nearer) = (T::is_further(a.0, b.0, MAX), T::is_further(b.0, a.0, MAX));
        // Of equals the first.
        if further || (!nearer && b.1 < a.1) { b } else { a }
    }
    #[inline(always)]
    fn finish(partial: Self::Partial, p: &Reduction, at: [i64; 2]) {
        if p.at[1] != 0 {
            let value = <T as Ordered>::of(partial.0);
            put(p.at[1], at[0], value, align_of_val(&value));
        }
        if p.at[2] != 0 {
            put(p.at[2], at[1], i64::from(partial.1), 8);
        }
    }
}

/// A number whose absolute value a norm combines.
trait Magnitude: Number {
    /// The dtype of the norm.
    type Norm: Number<Wide: Real>;
    fn magnitude(value: Self::Wide) -> <Self::Norm as Number>::Wide;
}

macro_rules! magnitudes {
    ($($type:ty, $norm:ty: |$value:ident| $magnitude:expr;)*) => {$(
        impl Magnitude for $type {
            type Norm = $norm;
            #[inline(always)]
            fn magnitude($value: Self::Wide) -> <$norm as Number>::Wide {
                $magnitude
            }
        }
    )*};
}

#[inline(always)]
fn absolute<W: Real>(value: W) -> W {
    if value < W::ZERO { W::ZERO.sub(value) } else { value }
}

magnitudes! {
    f32, f32: |value| absolute(value);
    f64, f64: |value| absolute(value);
    f16, f16: |value| absolute(value);
    bf16, bf16: |value| absolute(value);
    Complex64, f32: |value| distance(value.re, value.im);
    Complex128, f64: |value| distance(value.re, value.im);
}

/// sqrt(x^2 + y^2) without overflow in between.
#[inline(always)]
fn distance<W: Real>(x: W, y: W) -> W {
    let (x, y) = (absolute(x), absolute(y));
    let (large, small) = if y > x { (y, x) } else { (x, y) };
    if large == W::ZERO || large.sub(large) != W::ZERO {
        return x.add(y);
    }
    let ratio = small.div(large);
    large.mul(W::ONE.add(ratio.mul(ratio)).sqrt())
}

/// The norm whose order is the first option.
struct Norm<T>(core::marker::PhantomData<T>);

impl<T: Magnitude> Fold for Norm<T> {
    type Input = T;
    type Partial = <T::Norm as Number>::Wide;
    #[inline(always)]
    fn none(p: &Reduction) -> Self::Partial {
        Self::Partial::from_f64(if p.options[0] == f64::NEG_INFINITY { f64::INFINITY } else { 0.0 })
    }
    #[inline(always)]
    fn with(partial: Self::Partial, term: T::Wide, _: u32, p: &Reduction) -> Self::Partial {
        let (value, order) = (T::magnitude(term), p.options[0]);
        let part = if order == 2.0 {
            value.mul(value)
        } else if order == 0.0 {
            if value != Self::Partial::ZERO { Self::Partial::ONE } else { Self::Partial::ZERO }
        } else if order == 1.0 || order == f64::INFINITY || order == f64::NEG_INFINITY {
            value
        } else {
            power(value, order)
        };
        Self::joined(partial, part, p)
    }
    #[inline(always)]
    fn joined(a: Self::Partial, b: Self::Partial, p: &Reduction) -> Self::Partial {
        let order = p.options[0];
        if a != a {
            return a;
        }
        if order == f64::INFINITY {
            return if b != b || b > a { b } else { a };
        }
        if order == f64::NEG_INFINITY {
            return if b != b || b < a { b } else { a };
        }
        a.add(b)
    }
    #[inline(always)]
    fn finish(partial: Self::Partial, p: &Reduction, at: [i64; 2]) {
        let order = p.options[0];
        let value = if order == 2.0 {
            partial.sqrt()
        } else if order == 0.0 || order == 1.0 || order == f64::INFINITY || order == f64::NEG_INFINITY {
            partial
        } else {
            power(partial, 1.0 / order)
        };
        let value = <T::Norm as Number>::narrow(value);
        put(p.at[1], at[0], value, align_of_val(&value));
    }
}

/// value^order, for values that are not negative.
#[inline(always)]
fn power<W: Real>(value: W, order: f64) -> W {
    if value == W::ZERO {
        return W::from_f64(if order > 0.0 { 0.0 } else { f64::INFINITY });
    }
    value.ln().mul(W::from_f64(order)).exp()
}

/// Number, mean and squared deviations of the terms (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm
/// for computing sample variances", 1979).
struct Moments<T, const PAIR: bool>(core::marker::PhantomData<T>);

impl<T: Number<Wide: Real>, const PAIR: bool> Fold for Moments<T, PAIR> {
    type Input = T;
    type Partial = (T::Wide, T::Wide, T::Wide);
    #[inline(always)]
    fn none(_: &Reduction) -> Self::Partial {
        (T::Wide::ZERO, T::Wide::ZERO, T::Wide::ZERO)
    }
    #[inline(always)]
    fn with((count, mean, squares): Self::Partial, term: T::Wide, _: u32, _: &Reduction) -> Self::Partial {
        let count = count.add(T::Wide::ONE);
        let way = term.sub(mean);
        let mean = mean.add(way.div(count));
        (count, mean, squares.add(way.mul(term.sub(mean))))
    }
    #[inline(always)]
    fn joined(a: Self::Partial, b: Self::Partial, _: &Reduction) -> Self::Partial {
        if b.0 == T::Wide::ZERO {
            return a;
        }
        if a.0 == T::Wide::ZERO {
            return b;
        }
        let count = a.0.add(b.0);
        let (way, share) = (b.1.sub(a.1), b.0.div(count));
        (count, a.1.add(way.mul(share)), a.2.add(b.2).add(way.mul(way).mul(a.0.mul(share))))
    }
    /// The variance with the first option as degrees of freedom, and its root if the second one is not 0; or mean and
    /// variance of all as the parts of a complex number.
    #[inline(always)]
    fn finish((count, mean, squares): Self::Partial, p: &Reduction, at: [i64; 2]) {
        if PAIR {
            let pair = Complex::new(mean, squares.div(count));
            put(p.at[1], at[0], pair, align_of_val(&mean));
            return;
        }
        let nan = T::Wide::from_f64(f64::NAN);
        let variance = if count == T::Wide::ZERO { nan } else { squares.div(T::Wide::from_f64(p.options[0])) };
        let value = T::narrow(if p.options[1] != 0.0 { variance.sqrt() } else { variance });
        put(p.at[1], at[0], value, align_of_val(&value));
    }
}

macro_rules! with_flag {
    ($($name:literal $fold:ident $flag:literal: $($dtype:ident $type:ty),*;)*) => {$($(
        entry! { "reduce" $name, $dtype, (p: Reduction) => reduce::<$fold<$type, $flag>> }
    )*)*};
}

macro_rules! plain {
    ($($name:literal $fold:ident: $($dtype:ident $type:ty),*;)*) => {$($(
        entry! { "reduce" $name, $dtype, (p: Reduction) => reduce::<$fold<$type>> }
    )*)*};
}

plain! {
    "sum" Sum: F32 f32, F64 f64, F16 f16, BF16 bf16, C32 Complex32, C64 Complex64, C128 Complex128, U8 u8, I8 i8, I16 i16,
        I32 i32, I64 i64, Bool Flag;
    "mean" Mean: F32 f32, F64 f64, F16 f16, BF16 bf16, C32 Complex32, C64 Complex64, C128 Complex128;
    "prod" Product: F32 f32, F64 f64, F16 f16, BF16 bf16, C32 Complex32, C64 Complex64, C128 Complex128, U8 u8, I8 i8,
        I16 i16, I32 i32, I64 i64, Bool Flag;
    "sum_to_int64" WideSum: U8 u8, I8 i8, I16 i16, I32 i32, U16 u16, U32 u32, U64 u64, Bool Flag;
    "prod_to_int64" WideProduct: U8 u8, I8 i8, I16 i16, I32 i32, U16 u16, U32 u32, U64 u64, Bool Flag;
    "any" Any: F32 f32, F64 f64, F16 f16, BF16 bf16, C32 Complex32, C64 Complex64, C128 Complex128, U8 u8, I8 i8, I16 i16,
        I32 i32, I64 i64, U16 u16, U32 u32, U64 u64, Bool Flag;
    "all" All: F32 f32, F64 f64, F16 f16, BF16 bf16, C32 Complex32, C64 Complex64, C128 Complex128, U8 u8, I8 i8, I16 i16,
        I32 i32, I64 i64, U16 u16, U32 u32, U64 u64, Bool Flag;
    "count_nonzero" Count: F32 f32, F64 f64, F16 f16, BF16 bf16, C32 Complex32, C64 Complex64, C128 Complex128, U8 u8, I8 i8,
        I16 i16, I32 i32, I64 i64, U16 u16, U32 u32, U64 u64, Bool Flag;
    "norm" Norm: F32 f32, F64 f64, F16 f16, BF16 bf16, C64 Complex64, C128 Complex128;
}

with_flag! {
    "max" Extreme true: F32 f32, F64 f64, F16 f16, BF16 bf16, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, Bool Flag;
    "min" Extreme false: F32 f32, F64 f64, F16 f16, BF16 bf16, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, Bool Flag;
    "variance" Moments false: F32 f32, F64 f64, F16 f16, BF16 bf16;
    "moments" Moments true: F32 f32, F64 f64, F16 f16, BF16 bf16;
}
