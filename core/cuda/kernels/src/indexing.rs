//! Reading and writing at indexed positions. An index that is out of range is reported, and nothing is read or written
//! there. Elements of a lane are processed in the order of their indices.

use crate::join::{Divided, greater, less};
use crate::lines::each;
use crate::memory::{load, report, store};
use crate::number::{Number, Wide};
use crate::parameters::{Lookup, Places};
use crate::pointwise::{Bits, Parameter, parameter_32, parameter_64};
use crate::report::Watch;
use crate::scalar::Scalar;
use core::mem::offset_of;

/// The key of an index that is out of range.
const NOWHERE: u64 = u64::MAX;

/// Runs the body for each dimension of a traversal, with `$dim` a constant: registers need constant indices.
macro_rules! dimensions {
    ($p:ident, $dim:ident, $body:block) => {
        dimensions!(@ $p, $dim, $body; 0 1 2 3 4 5 6 7)
    };
    (@ $p:ident, $dim:ident, $body:block; $($value:literal)*) => {$(
        if $value < $p.rank {
            const $dim: usize = $value;
            $body
        }
    )*};
}

/// The offset of an element of a tensor that is not dense, by its number in row-major order. `base` is the address of the
/// parameter.
#[inline(always)]
fn offset_of_element(p: &Places, base: u64, number: i64) -> i64 {
    let (mut rest, mut offset, mut left) = (number as u64, 0, p.flat_rank);
    let mut at = base + offset_of!(Places, flat) as u64;
    while left != 0 {
        let (size, stride) = (parameter_64(at) as u64, parameter_64(at + 8));
        let next = if size > 1 { rest / size } else { rest };
        offset += (rest - next * size) as i64 * stride;
        rest = next;
        at += 16;
        left -= 1;
    }
    offset
}

/// The offsets of element `index` in the traversed operand and in the indexed tensor, and whether its indices are in
/// range.
#[inline(always)]
fn places(p: &Places, base: u64, index: u32) -> (i64, i64, bool) {
    let (mut walked, mut reached, mut rest) = (0, 0, index);
    let mut coordinates = [0i64; 8];
    dimensions!(p, DIM, {
        let (next, place) = p.sizes[DIM].divide(rest);
        rest = next;
        coordinates[DIM] = i64::from(place);
        walked += coordinates[DIM] * p.strides[DIM][0];
        reached += coordinates[DIM] * p.strides[DIM][1];
    });
    let _ = rest;
    let (mut inside, mut left) = (true, p.lookup_count);
    let mut lookup = base + offset_of!(Places, lookups) as u64;
    while left != 0 {
        let mut at = 0;
        dimensions!(p, DIM, {
            at += coordinates[DIM] * parameter_64(lookup + (offset_of!(Lookup, strides) + 8 * DIM) as u64);
        });
        let first = parameter_64(lookup + offset_of!(Lookup, at) as u64) as u64;
        let size = parameter_64(lookup + offset_of!(Lookup, size) as u64);
        // SAFETY: the host describes an index for each element of the traversal.
        let found = unsafe {
            match parameter_32(lookup + offset_of!(Lookup, narrow) as u64) {
                0 => load::<i64, 1>(first.wrapping_add((at * 8) as u64), 8)[0],
                _ => i64::from(load::<i32, 1>(first.wrapping_add((at * 4) as u64), 4)[0]),
            }
        };
        let wraps = parameter_32(lookup + offset_of!(Lookup, wraps) as u64) != 0;
        let place = if wraps && found < 0 { found + size } else { found };
        if place as u64 >= size as u64 {
            let numbers = [size, parameter_64(lookup + offset_of!(Lookup, dim) as u64)];
            report(&Watch { numbers, ..p.watch }, found);
            inside = false;
        } else if p.flat_rank != 0 {
            reached += offset_of_element(p, base, place);
        } else {
            reached += place * parameter_64(lookup + offset_of!(Lookup, stride) as u64);
        }
        lookup += size_of::<Lookup>() as u64;
        left -= 1;
    }
    (walked, reached, inside)
}

#[inline(always)]
fn place<T>(at: u64, offset: i64) -> u64 {
    at.wrapping_add((offset * size_of::<T>() as i64) as u64)
}

/// An element of the traversed operand.
#[inline(always)]
fn value<T: Copy>(p: &Places, offset: i64) -> T {
    if p.at[0] == 0 {
        return T::of_bits(p.constant);
    }
    // SAFETY: the host describes an element at each offset of the traversal.
    unsafe { load::<T, 1>(place::<T>(p.at[0], offset), align_of::<T>())[0] }
}

/// out = the elements at the indexed positions
#[inline(always)]
fn gather<T: Copy>(p: &Places, base: u64) {
    each(u64::from(p.count), |index| {
        let (walked, reached, inside) = places(p, base, index as u32);
        if inside {
            // SAFETY: the host describes an element at each place whose indices are in range.
            unsafe {
                let element = load::<T, 1>(place::<T>(p.at[1], reached), align_of::<T>());
                store(place::<T>(p.at[0], walked), align_of::<T>(), element);
            }
        }
    });
}

/// Stores the offset that the indices of each element lead to, to be sorted.
#[inline(always)]
fn keys<T>(p: &Places, base: u64) {
    each(u64::from(p.ordered), |index| {
        let (_, reached, inside) = places(p, base, index as u32);
        // SAFETY: the host describes a key for each element.
        unsafe { store(p.order[0] + index * 8, 8, [if inside { reached as u64 } else { NOWHERE }]) }
    });
}

/// Calls `visit` with the offsets of elements in both operands; those of one place in the order of their indices.
#[inline(always)]
fn each_place(p: &Places, base: u64, visit: impl Fn(i64, i64)) {
    let visit = |index: u32| {
        let (walked, reached, inside) = places(p, base, index);
        if inside {
            visit(walked, reached);
        }
    };
    if p.order[0] == 0 {
        each(u64::from(p.count / p.along), |lane| {
            let mut index = lane as u32 * p.along;
            let end = index + p.along;
            while index < end {
                visit(index);
                index += 1;
            }
        });
        return;
    }
    let lanes = if p.ordered == p.count { 1 } else { u64::from(p.count / p.along) };
    // SAFETY: the host describes a key for each element in order.
    let key = |nth: u64| unsafe { load::<u64, 1>(p.order[0] + nth * 8, 8)[0] };
    each(u64::from(p.ordered) * lanes, |number| {
        let (mut nth, lane) = (number / lanes, number % lanes);
        let place = key(nth);
        // The thread of the first element of a place processes all.
        if place == NOWHERE || nth > 0 && key(nth - 1) == place {
            return;
        }
        while nth < u64::from(p.ordered) && key(nth) == place {
            // SAFETY: the host describes where each key was.
            let along = unsafe { load::<u32, 1>(p.order[1] + nth * 4, 4)[0] };
            visit(lane as u32 * p.along + along);
            nth += 1;
        }
    });
}

/// Writes elements to the indexed positions.
#[inline(always)]
fn scatter<T: Copy>(p: &Places, base: u64) {
    each_place(p, base, |walked, reached| {
        // SAFETY: the host describes an element at each place whose indices are in range.
        unsafe { store(place::<T>(p.at[1], reached), align_of::<T>(), [value::<T>(p, walked)]) }
    });
}

/// Combines elements with those at the indexed positions.
#[inline(always)]
fn combine<T: Number>(p: &Places, base: u64, f: impl Fn(T::Wide, T::Wide) -> T::Wide) {
    each_place(p, base, |walked, reached| {
        let at = place::<T>(p.at[1], reached);
        // SAFETY: the host describes an element at each place whose indices are in range.
        unsafe {
            let there = load::<T, 1>(at, align_of::<T>())[0].wide();
            store(at, align_of::<T>(), [T::narrow(f(there, value::<T>(p, walked).wide()))]);
        }
    });
}

#[inline(always)]
fn sum<T: Number>(p: &Places, base: u64) {
    let alpha = T::Wide::from_scalar(Scalar::of_words(p.alpha));
    // A factor of 1 is skipped: the product of complex infinities with it is NaN.
    let is_one = alpha == T::Wide::ONE;
    combine::<T>(p, base, |there, new| there.add(if is_one { new } else { new.mul(alpha) }));
}

#[inline(always)]
fn product<T: Number>(p: &Places, base: u64) {
    combine::<T>(p, base, |there, new| there.mul(new));
}

/// Divides elements by counts, of int64, that are not 0.
#[inline(always)]
fn divide_by_counts<T: Number<Wide: Divided>>(p: &Places, base: u64) {
    each(u64::from(p.count), |index| {
        let (walked, reached, _) = places(p, base, index as u32);
        let at = place::<T>(p.at[1], reached);
        // SAFETY: the host describes a count for each element.
        unsafe {
            let count = load::<i64, 1>(place::<i64>(p.at[0], walked), 8)[0];
            if count != 0 {
                let there = load::<T, 1>(at, align_of::<T>())[0].wide();
                store(at, align_of::<T>(), [T::narrow(there.divided(count))]);
            }
        }
    });
}

/// Entries of functions that take the parameter and its address.
macro_rules! place_entries {
    ($($name:literal $function:path: $($dtype:ident)*;)*) => {$(
        place_entries!(@ $name $function, [$([$dtype])*]);
    )*};
    (@ $name:literal $function:path, [$([$dtype:ident])*]) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("indexing$", $name, "__", dtype_name!($dtype)))]
            unsafe extern "ptx-kernel" fn entry(p: Places) {
                let base = parameter!(concat!("indexing$", $name, "__", dtype_name!($dtype), "_param_0"));
                use $function as function;
                function::<element!($dtype)>(&p, base);
            }
        };
    )*};
}

#[inline(always)]
fn maximum<T: Number<Wide: crate::number::Ordered>>(p: &Places, base: u64) {
    combine::<T>(p, base, greater);
}

#[inline(always)]
fn minimum<T: Number<Wide: crate::number::Ordered>>(p: &Places, base: u64) {
    combine::<T>(p, base, less);
}

place_entries! {
    "gather" self::gather: U8 U16 U32 U64 C32 C64 C128;
    "scatter" self::scatter: U8 U16 U32 U64 C32 C64 C128;
    "places" self::keys: U64;
    "sum" self::sum: U8 I8 I16 I32 I64 F16 BF16 F32 F64 C32 C64 C128 Bool;
    "product" self::product: U8 I8 I16 I32 I64 F16 BF16 F32 F64 C32 C64 C128 Bool;
    "maximum" self::maximum: U8 I8 I16 I32 I64 F16 BF16 F32 F64 Bool;
    "minimum" self::minimum: U8 I8 I16 I32 I64 F16 BF16 F32 F64 Bool;
    "divide_by_counts" self::divide_by_counts: U8 I8 I16 I32 I64 F16 BF16 F32 F64 C32 C64 C128;
}
