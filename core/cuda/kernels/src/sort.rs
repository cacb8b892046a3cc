//! Sorts: keys, runs of them, merges of runs, and what operators take from sorted rows.

use crate::bisect::place_of;
use crate::lines::{each, offsets, read, write};
use crate::memory::{load, report, store};
use crate::number::{Number, Ordered, Wide};
use crate::parameters::{Lines, RUN, RUN_THREADS, Runs};
use crate::rank::Ranked;
use crate::simt::{Word, barrier, block, blocks, combined, shared, thread, threads};

/// The places of the operands in [`Lines`].
const INPUT: usize = 0;
const VALUES: usize = 1;
const INDICES: usize = 2;

/// Stores the key of each element; in descending order (the option 1) the greatest have the smallest.
#[inline(always)]
fn sort_keys<T: Ranked>(p: &Lines) {
    let highest = u64::MAX >> (64 - T::BITS);
    each(u64::from(p.rows) * u64::from(p.length), |index| {
        let (row, place) = ((index / u64::from(p.length)) as u32, (index % u64::from(p.length)) as u32);
        let rank = read::<T>(p, INPUT, offsets(p, row)[INPUT], place).rank();
        // SAFETY: the host describes a key for each element.
        unsafe { store(p.between[0] + index * 8, 8, [if p.options[0] != 0 { highest - rank } else { rank }]) }
    });
}

#[inline(always)]
fn key_at(keys: u64, index: u64) -> u64 {
    // SAFETY: the host describes a key for each index.
    unsafe { load::<u64, 1>(keys + index * 8, 8)[0] }
}

#[inline(always)]
fn place_at(places: u64, index: u64) -> u32 {
    // SAFETY: the host describes a place for each index.
    unsafe { load::<u32, 1>(places + index * 4, 4)[0] }
}

/// Calls `visit` with the places of the keys equal to `key` among `length` sorted ones from number `start` on, in their order.
#[inline(always)]
pub(crate) fn each_equal([keys, places]: [u64; 2], start: u64, length: u64, key: u64, mut visit: impl FnMut(u32)) {
    let (mut nth, mut high) = (start, start + length);
    let end = high;
    while nth < high {
        let middle = (nth + high) / 2;
        if key_at(keys, middle) < key { nth = middle + 1 } else { high = middle }
    }
    while nth < end && key_at(keys, nth) == key {
        visit(place_at(places, nth));
        nth += 1;
    }
}

#[inline(always)]
fn put(p: &Runs, index: u64, key: u64, place: u32) {
    // SAFETY: the host describes a key and a place for each index.
    unsafe {
        store(p.to[0] + index * 8, 8, [key]);
        store(p.to[1] + index * 4, 4, [place]);
    }
}

/// Sorts runs of [`RUN`] keys: a key comes after those that are less, and after equal ones before it.
#[inline(always)]
fn sort_runs<T>(p: &Runs) {
    let in_row = p.length.div_ceil(RUN);
    let mut run = u64::from(block());
    while run < u64::from(p.rows) * u64::from(in_row) {
        let (row, first) = (run / u64::from(in_row), (run % u64::from(in_row)) as u32 * RUN);
        let start = row * u64::from(p.length) + u64::from(first);
        let count = if p.length - first < RUN { p.length - first } else { RUN };
        let mut index = thread();
        while index < count {
            // SAFETY: the host gives the block room for the keys of a run.
            unsafe { key_at(p.from[0], start + u64::from(index)).put(shared() + index * 8) }
            index += threads();
        }
        barrier();
        macro_rules! sorted {
            ($($nth:literal)*) => {{
                // SAFETY: the keys below `count` are stored.
                let read = |index: u32| unsafe { u64::get(shared() + index * 8) };
                let own = [$(thread() + $nth * RUN_THREADS),*];
                let keys = [$(if own[$nth] < count { read(own[$nth]) } else { 0 }),*];
                let mut ranks = [0u32; RUN as usize / RUN_THREADS as usize];
                let mut index = 0;
                while index < count {
                    let other = read(index);
                    $(ranks[$nth] += u32::from(other < keys[$nth] || other == keys[$nth] && index < own[$nth]);)*
                    index += 1;
                }
                $(if own[$nth] < count {
                    put(p, start + u64::from(ranks[$nth]), keys[$nth], first + own[$nth]);
                })*
            }};
        }
        sorted!(0 1 2 3);
        barrier();
        run += u64::from(blocks());
    }
}

/// Merges pairs of runs: the rank of a key is its place in its run, and the number of keys before it in the other.
#[inline(always)]
fn merge_runs<T>(p: &Runs) {
    let (length, width) = (u64::from(p.length), u64::from(p.width));
    each(u64::from(p.rows) * length, |index| {
        let (row, place) = (index / length, index % length);
        let run = place / width;
        let (is_left, start) = (run & 1 == 0, row * length);
        let other = if is_left { (run + 1) * width } else { (run - 1) * width };
        let first = if is_left { run * width } else { other };
        let key = key_at(p.from[0], index);
        let (mut low, mut high) = (other, if other + width < length { other + width } else { length });
        if low > high {
            low = high;
        }
        let bottom = low;
        while low < high {
            let middle = (low + high) / 2;
            let there = key_at(p.from[0], start + middle);
            // Of equal keys, those of the left run come first.
            if there < key || !is_left && there == key { low = middle + 1 } else { high = middle }
        }
        let rank = first + (place - run * width) + (low - bottom);
        put(p, start + rank, key, place_at(p.from[1], index));
    });
}

/// Stores the elements from number `option 0` on of each sorted row, and their indices.
#[inline(always)]
fn take_sorted<T: Copy>(p: &Lines) {
    each(u64::from(p.rows) * u64::from(p.results), |index| {
        let (row, nth) = ((index / u64::from(p.results)) as u32, (index % u64::from(p.results)) as u32);
        found::<T>(p, row, p.options[0] + nth, nth);
    });
}

/// Stores the element that is `nth` in the sorted row as element `to` of the results.
#[inline(always)]
fn found<T: Copy>(p: &Lines, row: u32, nth: u32, to: u32) {
    let place = place_at(p.between[1], u64::from(row) * u64::from(p.length) + u64::from(nth));
    let at = offsets(p, row);
    write(p, VALUES, at[VALUES], to, read::<T>(p, INPUT, at[INPUT], place));
    write(p, INDICES, at[INDICES], to, i64::from(place));
}

/// The lower of the middle two of each row. NaN is the median, or is left out with the option 1.
#[inline(always)]
fn median<T: Number<Wide: Ordered>>(p: &Lines) {
    each(u64::from(p.rows), |row| {
        let row = row as u32;
        let start = offsets(p, row)[INPUT];
        let is_nan = |nth: u32| {
            let place = place_at(p.between[1], u64::from(row) * u64::from(p.length) + u64::from(nth));
            read::<T>(p, INPUT, start, place).wide().is_nan()
        };
        let (mut low, mut high) = (0, p.length);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_nan(middle) { high = middle } else { low = middle + 1 }
        }
        let numbers = low;
        let middle = if numbers > 0 { (numbers - 1) / 2 } else { 0 };
        found::<T>(p, row, if numbers < p.length && p.options[0] == 0 { numbers } else { middle }, 0);
    });
}

/// The most frequent element of each row, the smallest of them, and the last of its indices. No NaN equals another.
#[inline(always)]
fn mode<T: Number<Wide: Ordered>>(p: &Lines) {
    let mut row = block();
    while row < p.rows {
        let (start, offset) = (u64::from(row) * u64::from(p.length), offsets(p, row)[INPUT]);
        // The number of equal elements above the place of the first, counted from the end.
        let mut best = 0u64;
        let mut nth = thread();
        while nth < p.length {
            let key = key_at(p.between[0], start + u64::from(nth));
            if nth == 0 || key_at(p.between[0], start + u64::from(nth) - 1) != key {
                let (mut low, mut high) = (nth + 1, p.length);
                while low < high {
                    let middle = low + (high - low) / 2;
                    if key_at(p.between[0], start + u64::from(middle)) > key { high = middle } else { low = middle + 1 }
                }
                let place = place_at(p.between[1], start + u64::from(nth));
                let is_nan = read::<T>(p, INPUT, offset, place).wide().is_nan();
                let count = if is_nan { 1 } else { low - nth };
                let candidate = u64::from(count) << 32 | u64::from(u32::MAX - nth);
                best = if candidate > best { candidate } else { best };
            }
            nth += threads();
        }
        let best = combined(best, 0, |a, b| if b > a { b } else { a });
        if thread() == 0 {
            let (count, first) = ((best >> 32) as u32, u32::MAX - best as u32);
            found::<T>(p, row, first + count - 1, 0);
        }
        row += blocks();
    }
}

/// The insertion index of each value. Options: the length of the sequence; 1: after equal elements; 1: of int32.
#[inline(always)]
fn search<T: Number<Wide: Ordered>>(p: &Lines) {
    const SEQUENCE: usize = 2;
    const SORTER: usize = 3;
    let [length, right, narrow, _] = p.options;
    each(u64::from(p.rows) * u64::from(p.length), |index| {
        let (row, place) = ((index / u64::from(p.length)) as u32, (index % u64::from(p.length)) as u32);
        let at = offsets(p, row);
        let value = read::<T>(p, INPUT, at[INPUT], place).wide();
        let nth = place_of(value, length as usize, right != 0, |nth| {
            let mut place = nth as u32;
            if p.at[SORTER] != 0 {
                let sorted = read::<i64>(p, SORTER, at[SORTER], place);
                if sorted as u64 >= u64::from(length) {
                    report(&p.watch, sorted);
                } else {
                    place = sorted as u32;
                }
            }
            read::<T>(p, SEQUENCE, at[SEQUENCE], place).wide()
        });
        match narrow {
            0 => write(p, VALUES, at[VALUES], place, nth as i64),
            _ => write(p, VALUES, at[VALUES], place, nth as i32),
        }
    });
}

macro_rules! sort_entries {
    ($($name:ident($type:ty): $($dtype:ident)*;)*) => {$(
        sort_entries!(@ $name($type), [$([$dtype])*]);
    )*};
    (@ $name:ident($type:ty), [$([$dtype:ident])*]) => {$(
        entry! { "sort" stringify!($name), $dtype, (p: $type) => $name::<element!($dtype)> }
    )*};
}

sort_entries! {
    sort_keys(Lines): U8 I8 I16 I32 I64 F16 BF16 F32 F64 Bool;
    sort_runs(Runs): U64;
    merge_runs(Runs): U64;
    take_sorted(Lines): U8 U16 U32 U64;
    median(Lines): U8 I8 I16 I32 I64 F16 BF16 F32 F64;
    mode(Lines): U8 I8 I16 I32 I64 F16 BF16 F32 F64 Bool;
    search(Lines): U8 I8 I16 I32 I64 F16 BF16 F32 F64;
}
