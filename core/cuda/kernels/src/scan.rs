//! Scans: each element of a row combined with those before it. A block scans a row, or a part of it, in chunks; which
//! elements are combined first depends on the sizes only.

use crate::lines::{each, offsets, read, write};
use crate::log_add::LogAdd;
use crate::memory::{load, store};
use crate::number::{Flag, Number, Wide};
use crate::parameters::{Coordinates, Lines, SCAN_EACH as EACH};
use crate::rank::Ranked;
use crate::reduce::Total;
use crate::scalar::Scalar;
use crate::simt::{Word, barrier, block, block_y, blocks, shared, thread, threads};
use core::marker::PhantomData;

/// The places of the operands in [`Lines`].
const INPUT: usize = 0;
const OUTPUT: usize = 1;
const INDICES: usize = 2;

/// Bytes of the total of a part, and of a value in shared memory.
const TOTAL: u32 = 16;

/// How elements are combined.
trait Scan {
    type Item: Copy;
    type Total: Word;
    /// Of no elements.
    fn none() -> Self::Total;
    /// Of one element.
    fn of(item: Self::Item, index: u32) -> Self::Total;
    /// Of earlier and later elements.
    fn joined(a: Self::Total, b: Self::Total) -> Self::Total;
    /// Stores the result for an element of a row with these offsets.
    fn put(p: &Lines, at: &[i64; 4], index: u32, total: Self::Total);
}

/// The total of the threads before this one, and of all.
#[inline(always)]
fn before<S: Scan>(own: S::Total) -> (S::Total, S::Total) {
    let place = |thread: u32| shared() + thread * TOTAL;
    let mut total = own;
    // SAFETY: the host gives each thread a place; barriers separate writes from reads.
    unsafe {
        total.put(place(thread()));
        barrier();
        let mut distance = 1;
        while distance < threads() {
            if thread() >= distance {
                total = S::joined(S::Total::get(place(thread() - distance)), total);
            }
            barrier();
            total.put(place(thread()));
            barrier();
            distance *= 2;
        }
        let earlier = if thread() > 0 { S::Total::get(place(thread() - 1)) } else { S::none() };
        let all = S::Total::get(place(threads() - 1));
        barrier();
        (earlier, all)
    }
}

/// Options: the number of parts of a row; 1: only the totals of the parts are stored, 2: these are there.
#[inline(always)]
fn scan<S: Scan>(p: &Lines) {
    let [parts, phase, ..] = p.options;
    let share = p.length.div_ceil(parts);
    let part = block_y();
    let total_at = |row: u32, part: u32| {
        p.between[0] + (u64::from(row) * u64::from(parts) + u64::from(part)) * u64::from(TOTAL)
    };
    let mut row = block();
    while row < p.rows {
        let at = offsets(p, row);
        let mut carry = S::none();
        if phase == 2 {
            let mut earlier = 0;
            while earlier < part {
                // SAFETY: the first launch has stored the total of each part.
                carry = S::joined(carry, unsafe { S::Total::load(total_at(row, earlier)) });
                earlier += 1;
            }
        }
        let mut start = part * share;
        let end = if p.length - start < share { p.length } else { start + share };
        while start < end {
            let first = start + thread() * EACH;
            let mut totals = [S::none(); EACH as usize];
            macro_rules! elements {
                ($nth:ident, $body:block) => {
                    elements!(@ $nth, $body; 0 1 2 3)
                };
                (@ $nth:ident, $body:block; $($value:literal)*) => {$(
                    if first + $value < end {
                        const $nth: u32 = $value;
                        $body
                    }
                )*};
            }
            let mut own = S::none();
            elements!(NTH, {
                let element = S::of(read::<S::Item>(p, INPUT, at[INPUT], first + NTH), first + NTH);
                own = if NTH == 0 { element } else { S::joined(own, element) };
                totals[NTH as usize] = own;
            });
            let (earlier, all) = before::<S>(own);
            let earlier = if thread() == 0 { carry } else { S::joined(carry, earlier) };
            if phase != 1 {
                elements!(NTH, {
                    S::put(p, &at, first + NTH, S::joined(earlier, totals[NTH as usize]));
                });
            }
            carry = S::joined(carry, all);
            start += threads() * EACH;
        }
        if phase == 1 && thread() == 0 {
            // SAFETY: the host gives each part a place.
            unsafe { carry.store(total_at(row, part)) }
        }
        row += blocks();
    }
}

/// Scans over totals: the neutral element and the combination of two.
macro_rules! totals {
    ($($name:ident: $none:expr, |$a:ident, $b:ident| $join:expr;)*) => {$(
        struct $name<T>(PhantomData<T>);

        impl<T: Total> Scan for $name<T> {
            type Item = T;
            type Total = T::Total;
            #[inline(always)]
            fn none() -> T::Total {
                $none
            }
            #[inline(always)]
            fn of(item: T, _: u32) -> T::Total {
                T::total(item.wide())
            }
            #[inline(always)]
            fn joined($a: T::Total, $b: T::Total) -> T::Total {
                $join
            }
            #[inline(always)]
            fn put(p: &Lines, at: &[i64; 4], index: u32, total: T::Total) {
                write(p, OUTPUT, at[OUTPUT], index, T::of(total));
            }
        }
    )*};
}

totals! {
    Sum: T::ZERO, |a, b| T::add(a, b);
    Product: T::ONE, |a, b| T::mul(a, b);
}

/// The logarithm of the sum of exponentials.
struct LogSum<T>(PhantomData<T>);

impl<T: Number<Wide: LogAdd + Word>> Scan for LogSum<T> {
    type Item = T;
    type Total = T::Wide;
    #[inline(always)]
    fn none() -> T::Wide {
        T::Wide::from_scalar(Scalar::Float(f64::NEG_INFINITY))
    }
    #[inline(always)]
    fn of(item: T, _: u32) -> T::Wide {
        item.wide()
    }
    #[inline(always)]
    fn joined(a: T::Wide, b: T::Wide) -> T::Wide {
        a.log_add(b)
    }
    #[inline(always)]
    fn put(p: &Lines, at: &[i64; 4], index: u32, total: T::Wide) {
        write(p, OUTPUT, at[OUTPUT], index, T::narrow(total));
    }
}

/// The extremum and its index: the last of equals, and the last NaN once there is one.
struct Extremum<T, const MAX: bool>(PhantomData<T>);

impl<T: Ranked, const MAX: bool> Scan for Extremum<T, MAX> {
    type Item = T;
    type Total = (u64, u32);
    #[inline(always)]
    fn none() -> (u64, u32) {
        (0, 0)
    }
    #[inline(always)]
    fn of(item: T, index: u32) -> (u64, u32) {
        let highest = u64::MAX >> (64 - T::BITS);
        let rank = item.rank();
        (if MAX || item.wide().is_nan() { rank } else { highest - rank }, index)
    }
    #[inline(always)]
    fn joined(a: (u64, u32), b: (u64, u32)) -> (u64, u32) {
        if b.0 >= a.0 { b } else { a }
    }
    #[inline(always)]
    fn put(p: &Lines, at: &[i64; 4], index: u32, total: (u64, u32)) {
        write(p, OUTPUT, at[OUTPUT], index, read::<T>(p, INPUT, at[INPUT], total.1));
        write(p, INDICES, at[INDICES], index, i64::from(total.1));
    }
}

/// The number of true elements.
struct Count;

impl Scan for Count {
    type Item = Flag;
    type Total = i64;
    #[inline(always)]
    fn none() -> i64 {
        0
    }
    #[inline(always)]
    fn of(item: Flag, _: u32) -> i64 {
        i64::from(item.wide())
    }
    #[inline(always)]
    fn joined(a: i64, b: i64) -> i64 {
        a + b
    }
    #[inline(always)]
    fn put(p: &Lines, at: &[i64; 4], index: u32, total: i64) {
        write(p, OUTPUT, at[OUTPUT], index, total);
    }
}

/// Stores the places of the true elements of a mask: of the operands (mask, counts up to each element, places).
#[inline(always)]
fn positions(p: &Lines) {
    each(u64::from(p.length), |index| {
        if read::<Flag>(p, 0, 0, index as u32).wide() {
            let nth = read::<i64>(p, 1, 0, index as u32) - 1;
            if nth < i64::from(p.results) {
                write(p, 2, 0, nth as u32, index as i64);
            }
        }
    });
}

/// Stores the coordinates of elements.
#[inline(always)]
fn coordinates(p: &Coordinates) {
    each(u64::from(p.count), |nth| {
        // SAFETY: the host describes a number, and a coordinate in each dimension, for each element.
        unsafe {
            let mut rest = load::<i64, 1>(p.at[1] + nth * 8, 8)[0] as u32;
            macro_rules! dimensions {
                ($($dim:literal)*) => {$(
                    if $dim < p.rank {
                        let (next, place) = p.sizes[$dim].divide(rest);
                        let offset = nth as i64 * p.strides[0] + i64::from(p.rank - 1 - $dim) * p.strides[1];
                        store(p.at[0].wrapping_add((offset * 8) as u64), 8, [i64::from(place)]);
                        rest = next;
                    }
                )*};
            }
            dimensions!(0 1 2 3 4 5 6 7);
            let _ = rest;
        }
    });
}

macro_rules! scan_entries {
    ($($name:literal $scan:ident: $($dtype:ident)*;)*) => {$(
        scan_entries!(@ $name $scan, [$([$dtype])*]);
    )*};
    (@ $name:literal $scan:ident, [$([$dtype:ident])*]) => {$(
        entry! { "scan" $name, $dtype, (p: Lines) => scan::<$scan<element!($dtype)>> }
    )*};
}

type Maxima<T> = Extremum<T, true>;
type Minima<T> = Extremum<T, false>;

scan_entries! {
    "cumsum" Sum: U8 I8 I16 I32 I64 F16 BF16 F32 F64 C32 C64 C128;
    "cumprod" Product: U8 I8 I16 I32 I64 F16 BF16 F32 F64 C32 C64 C128;
    "logcumsumexp" LogSum: F16 BF16 F32 F64 C64 C128;
    "cummax" Maxima: U8 I8 I16 I32 I64 F16 BF16 F32 F64 Bool;
    "cummin" Minima: U8 I8 I16 I32 I64 F16 BF16 F32 F64 Bool;
}

entry! { "scan" "count_true", Bool, (p: Lines) => scan::<Count> }
entry! { "scan" "positions", Bool, (p: Lines) => positions }
entry! { "scan" "coordinates", I64, (p: Coordinates) => coordinates }
