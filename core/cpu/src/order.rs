//! Order-preserving integer keys of elements, packed with their indices, so that sorting needs no comparison of floats.
//!
//! An entry is the key of an element above its index in the row. NaN has the largest key; 0 and -0 have the same one.
//! No two entries are equal, so every sorting algorithm returns the same order, which is the stable one, on any number
//! of threads. Each short row is sorted by one thread. A long row is sorted in parts, which are then merged in pairs;
//! every thread computes its own part of the merged output. Rows and parts of some length are sorted by radix.
//!
//! `topk`, `kthvalue` and `mode` must return the same index as PyTorch among equal elements, and use `select.rs`
//! instead.

pub(crate) use crate::rank::Ranked;
use crate::shared::Shared;
use rushlight_base::Result;
use rushlight_base::list::filled;
use rushlight_base::runtime::{num_threads, parallel_for};

/// A key and an index in one number.
pub(crate) trait Entry: Copy + Ord + Send + Sync {
    /// Bytes of the key.
    const DIGITS: usize;
    /// The key above the index.
    fn pack(rank: u64, place: usize) -> Self;
    /// The index of the element.
    fn place(self) -> usize;
    /// A byte of the key, counted from the lowest.
    fn digit(self, nth: usize) -> usize;
}

impl Entry for u64 {
    const DIGITS: usize = 4;

    #[inline(always)]
    fn pack(rank: u64, place: usize) -> u64 {
        rank << 32 | place as u64
    }

    #[inline(always)]
    fn place(self) -> usize {
        self as u32 as usize
    }

    #[inline(always)]
    fn digit(self, nth: usize) -> usize {
        (self >> (32 + 8 * nth)) as u8 as usize
    }
}

impl Entry for u128 {
    const DIGITS: usize = 8;

    #[inline(always)]
    fn pack(rank: u64, place: usize) -> u128 {
        u128::from(rank) << 64 | place as u128
    }

    #[inline(always)]
    fn place(self) -> usize {
        self as u64 as usize
    }

    #[inline(always)]
    fn digit(self, nth: usize) -> usize {
        (self >> (64 + 8 * nth)) as u8 as usize
    }
}

/// Whether a `u64` holds the entries of a row of `T`.
pub(crate) fn is_narrow<T: Ranked>(len: usize) -> bool {
    T::BITS <= 32 && u32::try_from(len).is_ok()
}

/// Number of entries that one thread sorts, and merges, at a time.
const PART: usize = 1 << 15;

/// Number of entries from which a row is worth several threads.
pub(crate) const LONG: usize = 4 * PART;

/// Number of entries from which on they are sorted by radix: 2,000 floats take 0.8 of the time of a sort by comparison, 100,000
/// numbers below 1,000 in int64 a third.
const BY_RADIX: usize = 1 << 10;

/// Sorts entries whose indices ascend; a long list on several threads.
#[inline(never)] // once for each kind of entry, not for each dtype
pub(crate) fn sort<E: Entry>(entries: &mut Vec<E>) -> Result<()> {
    let len = entries.len();
    if len < BY_RADIX {
        entries.sort_unstable();
        return Ok(());
    }
    let mut other = match filled(len, entries[0]) {
        Ok(other) => other,
        Err(_) if len < LONG => {
            entries.sort_unstable();
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    if len < LONG || num_threads() == 1 {
        sort_by_radix(entries, &mut other);
        return Ok(());
    }
    let (at, spare) = (Shared::new(entries.as_mut_ptr()), Shared::new(other.as_mut_ptr()));
    parallel_for(len.div_ceil(PART), &|part| {
        let (start, end) = (part * PART, len.min((part + 1) * PART));
        // SAFETY: the part is inside both lists, and each part belongs to one thread.
        let [part, spare] =
            [at, spare].map(|list| unsafe { std::slice::from_raw_parts_mut(list.get().add(start), end - start) });
        sort_by_radix(part, spare);
    })?;
    let mut width = PART;
    while width < len {
        merge_pairs(entries, &mut other, width)?;
        std::mem::swap(entries, &mut other);
        width *= 2;
    }
    Ok(())
}

/// Sorts entries whose indices ascend by one byte of the key after the other, from the lowest; `other` has as many.
fn sort_by_radix<E: Entry>(entries: &mut [E], other: &mut [E]) {
    let len = entries.len();
    let mut counts = [[0usize; 256]; 8];
    for entry in entries.iter() {
        for (nth, counts) in counts[..E::DIGITS].iter_mut().enumerate() {
            counts[entry.digit(nth)] += 1;
        }
    }
    let (mut from, mut to, mut is_swapped) = (&mut *entries, &mut *other, false);
    for (nth, counts) in counts[..E::DIGITS].iter_mut().enumerate() {
        // All have the same byte.
        if counts[from[0].digit(nth)] == len {
            continue;
        }
        let mut next = 0;
        for count in counts.iter_mut() {
            (*count, next) = (next, next + *count);
        }
        for &entry in from.iter() {
            let place = &mut counts[entry.digit(nth)];
            to[*place] = entry;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
        is_swapped = !is_swapped;
    }
    if is_swapped {
        to.copy_from_slice(from);
    }
}

/// Merges sorted runs of `width` entries in pairs. Each share finds where its part of the output begins in both runs.
fn merge_pairs<E: Entry>(from: &[E], to: &mut [E], width: usize) -> Result<()> {
    let len = from.len();
    let out = Shared::new(to.as_mut_ptr());
    parallel_for(len.div_ceil(PART), &|part| {
        let (start, end) = (part * PART, len.min((part + 1) * PART));
        // SAFETY: the part is inside the output, which is as long as the input, and belongs to one thread.
        let to = unsafe { std::slice::from_raw_parts_mut(out.get().add(start), end - start) };
        let first = start / (2 * width) * (2 * width);
        let (middle, last) = (len.min(first + width), len.min(first + 2 * width));
        merge(&from[first..middle], &from[middle..last], start - first, to);
    })
}

/// Fills `to` with the entries after the `skip` smallest of two sorted lists.
fn merge<E: Entry>(a: &[E], b: &[E], skip: usize, to: &mut [E]) {
    let (mut low, mut high) = (skip.saturating_sub(b.len()), skip.min(a.len()));
    while low < high {
        let middle = (low + high) / 2;
        if a[middle] < b[skip - 1 - middle] { low = middle + 1 } else { high = middle }
    }
    let (mut i, mut j) = (low, skip - low);
    for place in to {
        let takes_a = j == b.len() || i < a.len() && a[i] < b[j];
        *place = if takes_a { a[i] } else { b[j] };
        i += usize::from(takes_a);
        j += usize::from(!takes_a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::{bf16, f16};

    #[test]
    fn ranks_are_in_the_order_of_the_elements() {
        fn check<T: Ranked>(ascending: &[T]) {
            assert!(ascending.windows(2).all(|pair| pair[0].rank() < pair[1].rank()));
        }
        check(&[f32::NEG_INFINITY, -1.0, -1e-45, 0.0, 1e-45, 1.0, f32::INFINITY, f32::NAN]);
        check(&[f64::NEG_INFINITY, -1.0, 0.0, 1.0, f64::INFINITY, f64::NAN]);
        check(&[-2.0f32, 0.5, f32::NAN].map(f16::from_f32));
        check(&[-2.0f32, 0.5, f32::NAN].map(bf16::from_f32));
        check(&[i64::MIN, -1, 0, i64::MAX]);
        check(&[i8::MIN, -1, 0, i8::MAX]);
        assert_eq!((-0.0f32).rank(), 0.0f32.rank());
        assert_eq!((-f32::NAN).rank(), f32::NAN.rank());
    }

    #[test]
    fn radix_sorts_as_comparisons_do() {
        fn check<E: Entry + std::fmt::Debug>(len: usize, rank: impl Fn(u64) -> u64) {
            let mut list: Vec<E> =
                (0..len).map(|i| E::pack(rank((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)), i)).collect();
            let (mut expected, mut other) = (list.clone(), list.clone());
            expected.sort_unstable();
            sort_by_radix(&mut list, &mut other);
            assert_eq!(list, expected, "{len}");
        }
        for len in [1, 2, 255, 257, 5000] {
            check::<u64>(len, |bits| bits >> 32);
            check::<u64>(len, |bits| bits % 7);
            check::<u64>(len, |_| 3);
            check::<u128>(len, |bits| bits);
            check::<u128>(len, |bits| (bits >> 60) << 48);
        }
    }

    #[test]
    fn a_long_list_is_sorted_on_several_threads() {
        let _held = crate::reduce::tests::hold_settings();
        let before = num_threads();
        for len in [LONG - 1, LONG, LONG + 1, 7 * PART + 3, 16 * PART] {
            let list: Vec<u64> = (0..len).map(|i| u64::pack((i * 7919 % 1009) as u64, i)).collect();
            let mut expected = list.clone();
            expected.sort_unstable();
            for threads in [1, 2, 3] {
                rushlight_base::runtime::set_num_threads(threads).unwrap();
                let mut sorted = list.clone();
                sort(&mut sorted).unwrap();
                assert!(sorted == expected, "{len} {threads}");
            }
        }
        rushlight_base::runtime::set_num_threads(before as i64).unwrap();
    }
}
