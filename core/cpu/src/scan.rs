//! Cumulative sums and products along a dimension.
//!
//! Along memory, blocks of eight are summed independently of the chain from block to block, which is thus an eighth as
//! long; sums of blocks and of blocks of blocks are accumulated separately, so that errors do not grow with the length.
//! Across memory, whole rows are added to the previous row. Block boundaries depend on the row alone, so the bits are
//! the same whether one thread scans a long row or several do.

use crate::array::Array;
use crate::device;
use crate::log_add::LogAdd;
use crate::number::{Number, Wide as _};
use crate::reduce::fold::{Fold, Product, Sum};
use crate::rows::each_run;
use crate::shared::Shared;
use crate::simd::{Kernel, Simd, is_float, run, run_plain};
use rushlight_base::plan::Plan;
use rushlight_base::runtime::{num_threads, parallel_chunks};
use rushlight_base::{Result, Scalar, ensure};
use std::marker::PhantomData;
use std::ops::Range;

mod logs;

/// Elements worth another thread.
const GRAIN: usize = 16384;
/// Elements that are added one block to the next before their sum is carried apart.
const LEAF: usize = 256;
/// Elements of leaves whose sum is accumulated separately: the part of a long row that a thread scans.
const CHUNK: usize = LEAF * LEAF;
/// Chunks of a long row that are scanned together.
const TOGETHER: usize = 16;
/// Neighbouring rows that are scanned together.
const ACROSS: usize = 256;

/// A scan of its second argument into its first, along a dimension.
pub type Scan = fn(&Array, &Array, usize) -> Result<()>;

/// out[i] = a[0] + ... + a[i] along `dim`
pub fn cumsum(out: &Array, a: &Array, dim: usize) -> Result<()> {
    if !out.is_on_host() {
        return device::scan("cumsum", out, a, dim, false);
    }
    dispatch!(a.dtype(), "cumsum_out_cpu", integer half float complex chalf, T => scan(out, a, dim, false, &Scanning::<_, true>(Sum::<T>(PhantomData))))
}

/// out[i] = a[i] + ... + a[n - 1] along `dim`
pub fn cumsum_from_end(out: &Array, a: &Array, dim: usize) -> Result<()> {
    if !out.is_on_host() {
        return device::scan("cumsum", out, a, dim, true);
    }
    dispatch!(a.dtype(), "cumsum_out_cpu", integer half float complex chalf, T => scan(out, a, dim, true, &Scanning::<_, true>(Sum::<T>(PhantomData))))
}

/// out[i] = a[0] * ... * a[i] along `dim`
pub fn cumprod(out: &Array, a: &Array, dim: usize) -> Result<()> {
    if !out.is_on_host() {
        return device::scan("cumprod", out, a, dim, false);
    }
    dispatch!(a.dtype(), "cumprod_out_cpu", integer half float complex chalf, T => {
        scan(out, a, dim, false, &Scanning::<_, false>(Product::<T>(PhantomData)))
    })
}

/// out[i] = log(exp(a[0]) + ... + exp(a[i])) along `dim`
pub fn logcumsumexp(out: &Array, a: &Array, dim: usize) -> Result<()> {
    if !out.is_on_host() {
        return device::scan("logcumsumexp", out, a, dim, false);
    }
    if !a.dtype().is_complex() {
        return dispatch!(a.dtype(), "logcumsumexp_out_cpu", half float, T => {
            scan(out, a, dim, false, &logs::InLanes(LogSum::<T>(PhantomData)))
        });
    }
    dispatch!(a.dtype(), "logcumsumexp_out_cpu", complex, T => {
        scan(out, a, dim, false, &Scanning::<_, false>(LogSum::<T>(PhantomData)))
    })
}

/// The logarithm of a sum of exponentials.
struct LogSum<T>(PhantomData<T>);

impl<T> Clone for LogSum<T> {
    fn clone(&self) -> LogSum<T> {
        *self
    }
}

impl<T> Copy for LogSum<T> {}

impl<T: Number<Wide: LogAdd>> Fold for LogSum<T> {
    type In = T;
    type Acc = T::Wide;

    #[inline(always)]
    fn empty(self) -> T::Wide {
        T::Wide::from_scalar(Scalar::Float(f64::NEG_INFINITY))
    }

    #[inline(always)]
    fn lift(self, x: T) -> T::Wide {
        x.wide()
    }

    #[inline(always)]
    fn merge(self, a: T::Wide, b: T::Wide) -> T::Wide {
        a.log_add(b)
    }
}

/// A type-erased scan of rows: the traversal around it is compiled once.
trait Rows: Sync {
    /// Scans `width` neighbouring rows of `len` elements, `steps` (output, input) apart.
    ///
    /// # Safety
    /// The elements must be readable, and those of the output writable.
    unsafe fn across(&self, to: *mut u8, from: *const u8, steps: [isize; 2], len: usize, width: usize);

    /// Scans one row.
    ///
    /// # Safety
    /// The contract of the function above.
    unsafe fn along(&self, to: *mut u8, from: *const u8, steps: [isize; 2], len: usize);

    /// [`Rows::along`] by several threads: first the totals of chunks, then each chunk with the total before it.
    ///
    /// # Safety
    /// The contract of [`Rows::along`].
    unsafe fn along_in_parallel(&self, to: *mut u8, from: *const u8, steps: [isize; 2], len: usize) -> Result<()>;
}

/// What is scanned: its loops over parts of rows.
trait Scanner: Copy + Sync {
    type Element: Number;
    /// The result for no elements.
    fn empty(self) -> Wide<Self>;
    /// The result for the elements of both.
    fn merge(self, a: Wide<Self>, b: Wide<Self>) -> Wide<Self>;
    /// [`Rows::across`]
    ///
    /// # Safety
    /// Its contract.
    unsafe fn across(
        self,
        to: *mut Self::Element,
        from: *const Self::Element,
        steps: [isize; 2],
        len: usize,
        width: usize,
    );
    /// Scans a part of a row; returns the result for its elements alone.
    ///
    /// # Safety
    /// The elements of the part must be readable, and, if it is written, those of the output writable.
    unsafe fn part(self, part: Part<Self::Element>) -> Wide<Self>;
}

/// The computation type of a scan.
type Wide<S> = <<S as Scanner>::Element as Number>::Wide;

/// A part of a row, no longer than [`CHUNK`], of elements `steps` apart.
struct Part<T: Number> {
    to: *mut T,
    from: *const T,
    steps: [isize; 2],
    range: Range<usize>,
    /// The result for the elements before.
    before: T::Wide,
    /// Whether results are written.
    writes: bool,
}

impl<T: Number> Part<T> {
    #[inline(always)]
    fn read(&self, i: usize) -> T {
        debug_assert!(self.range.contains(&i));
        // SAFETY: the part was created for a range of live elements, and `i` is in it.
        unsafe { self.from.offset(i as isize * self.steps[1]).read() }
    }

    #[inline(always)]
    fn write(&self, i: usize, value: T::Wide) {
        debug_assert!(self.range.contains(&i));
        // SAFETY: the part was created for a range of writable elements, and `i` is in it.
        unsafe { self.to.offset(i as isize * self.steps[0]).write(T::narrow(value)) }
    }
}

/// The scan of a fold. `FAST`: floats are folded at every level. Other folds are rare, or call functions that do not
/// benefit from vectors, and one function for each dtype is enough.
#[derive(Clone, Copy)]
struct Scanning<F, const FAST: bool>(F);

impl<T: Number, F: Fold<In = T, Acc = T::Wide>, const FAST: bool> Scanning<F, FAST> {
    #[inline(always)]
    fn run<K: Kernel>(kernel: K) -> K::Output {
        if const { FAST && is_float(T::DTYPE) } { run(kernel) } else { run_plain(kernel) }
    }
}

impl<T: Number, F: Fold<In = T, Acc = T::Wide>, const FAST: bool> Scanner for Scanning<F, FAST> {
    type Element = T;

    fn empty(self) -> T::Wide {
        self.0.empty()
    }

    fn merge(self, a: T::Wide, b: T::Wide) -> T::Wide {
        self.0.merge(a, b)
    }

    unsafe fn across(self, to: *mut T, from: *const T, steps: [isize; 2], len: usize, width: usize) {
        Self::run(Across { fold: self.0, to, from, steps, len, width });
    }

    unsafe fn part(self, part: Part<T>) -> T::Wide {
        Self::run(Along { fold: self.0, part })
    }
}

impl<S: Scanner> Rows for S {
    unsafe fn across(&self, to: *mut u8, from: *const u8, steps: [isize; 2], len: usize, width: usize) {
        // SAFETY: the contract is the same.
        unsafe { Scanner::across(*self, to.cast(), from.cast(), steps, len, width) };
    }

    unsafe fn along(&self, to: *mut u8, from: *const u8, steps: [isize; 2], len: usize) {
        let mut before = self.empty();
        for start in (0..len).step_by(CHUNK) {
            let range = start..len.min(start + CHUNK);
            let part = Part { to: to.cast(), from: from.cast(), steps, range, before, writes: true };
            // SAFETY: the part is inside the row, of which the caller guarantees the elements.
            let total = unsafe { self.part(part) };
            before = self.merge(before, total);
        }
    }

    unsafe fn along_in_parallel(&self, to: *mut u8, from: *const u8, steps: [isize; 2], len: usize) -> Result<()> {
        let (to, from) = (Shared::new(to), Shared::new(from.cast_mut()));
        let scan = |chunk: usize, before: Wide<S>, writes: bool| -> Wide<S> {
            let range = chunk * CHUNK..len.min((chunk + 1) * CHUNK);
            let (to, from) = (to.get().cast(), from.get().cast_const().cast());
            // SAFETY: the part is inside the row, of which the caller guarantees the elements.
            unsafe { self.part(Part { to, from, steps, range, before, writes }) }
        };
        let mut before = self.empty();
        let mut carried = [before; TOGETHER];
        let chunks = len.div_ceil(CHUNK);
        // Several chunks at a time, so that they are still in a cache when they are read again.
        for first in (0..chunks).step_by(TOGETHER) {
            let count = TOGETHER.min(chunks - first);
            let places = Shared::new(carried.as_mut_ptr());
            parallel_chunks(count, 1, &|range| {
                for nth in range {
                    // SAFETY: there is an entry for each chunk, and chunk `nth` belongs to this share.
                    unsafe { places.get().add(nth).write(scan(first + nth, self.empty(), false)) };
                }
            })?;
            for place in &mut carried[..count] {
                (*place, before) = (before, self.merge(before, *place));
            }
            let carried = &carried;
            parallel_chunks(count, 1, &|range| {
                for nth in range {
                    scan(first + nth, carried[nth], true);
                }
            })?;
        }
        Ok(())
    }
}

fn scan(out: &Array, a: &Array, dim: usize, backwards: bool, rows: &dyn Rows) -> Result<()> {
    ensure!(out.sizes() == a.sizes(), Internal, "a scan got an output of another shape");
    ensure!(out.dtype() == a.dtype(), Internal, "a scan got an output of another dtype");
    let len = a.size(dim);
    let parts = [out, a].map(|array| array.without(dim));
    let walk = Plan::<2>::row_major(&parts[0].0, [&parts[0].1, &parts[1].1]);
    if len == 0 || walk.numel() == 0 {
        return Ok(());
    }
    let size = a.dtype().size() as isize;
    let mut steps = [out, a].map(|array| array.stride(dim));
    let (mut to, mut from) = (Shared::new(out.start()), Shared::new(a.start()));
    if backwards {
        // From the last element, in reverse.
        let last = (len - 1) as isize;
        to = Shared::new(to.get().wrapping_offset(last * steps[0] * size));
        from = Shared::new(from.get().wrapping_offset(last * steps[1] * size));
        steps = steps.map(|step| -step);
    }
    let at =
        |o: isize, x: isize| (to.get().wrapping_offset(o * size), from.get().wrapping_offset(x * size).cast_const());
    let (neighbours, row_steps) = walk.inner();
    if row_steps == [1; 2] && steps[1].abs() != 1 && neighbours >= 8 {
        let blocks = neighbours.div_ceil(ACROSS);
        return parallel_chunks(blocks * walk.outer(), (GRAIN / (len * ACROSS)).max(1), &|chunk| {
            each_run(&walk, blocks, chunk, |_, [o, x], blocks| {
                for first in blocks.map(|block| block * ACROSS) {
                    let (to, from) = at(o + first as isize, x + first as isize);
                    // SAFETY: the traversal and the loops stay within the sizes of the arrays, whose elements
                    // `Array::new` guarantees.
                    unsafe { rows.across(to, from, steps, len, ACROSS.min(neighbours - first)) };
                }
            });
        });
    }
    if walk.numel() < num_threads() && len >= 4 * CHUNK {
        let mut result = Ok(());
        walk.elements(&mut |[o, x]| {
            let (to, from) = at(o, x);
            if result.is_ok() {
                // SAFETY: the traversal stays within the sizes of the arrays, whose elements `Array::new` guarantees.
                result = unsafe { rows.along_in_parallel(to, from, steps, len) };
            }
        });
        return result;
    }
    parallel_chunks(walk.numel(), (GRAIN / len).max(1), &|chunk| {
        each_run(&walk, neighbours, chunk, |_, [o, x], part| {
            for row in part.map(|row| row as isize) {
                let (to, from) = at(o + row * row_steps[0], x + row * row_steps[1]);
                // SAFETY: the traversal stays within the sizes of the arrays, whose elements `Array::new` guarantees.
                unsafe { rows.along(to, from, steps, len) };
            }
        });
    })
}

/// `width` neighbouring rows of `len` elements, `steps` apart.
struct Across<T, F> {
    fold: F,
    to: *mut T,
    from: *const T,
    steps: [isize; 2],
    len: usize,
    width: usize,
}

/// Elements that are computed together, so that they are vectorized.
const BLOCK: usize = 16;

impl<T: Number, F: Fold<In = T, Acc = T::Wide>> Kernel for Across<T, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Across { fold, to, from, steps, len, width } = self;
        let none = fold.empty();
        let mut sums = [none; ACROSS];
        for row in 0..len as isize {
            let (to, from) = (to.wrapping_offset(row * steps[0]), from.wrapping_offset(row * steps[1]));
            let mut column = 0;
            while column + BLOCK <= width {
                // Through a local block: output and input may be the same.
                let mut block = [none; BLOCK];
                for lane in 0..BLOCK {
                    // SAFETY: the kernel was created for this many columns, and `column + lane` is one.
                    let x = unsafe { from.add(column + lane).read() };
                    block[lane] = fold.merge(sums[column + lane], fold.lift(x));
                }
                for (lane, &sum) in block.iter().enumerate() {
                    // SAFETY: the kernel was created for this many columns, and `column + lane` is one.
                    unsafe { to.add(column + lane).write(T::narrow(sum)) };
                }
                sums[column..column + BLOCK].copy_from_slice(&block);
                column += BLOCK;
            }
            for (column, sum) in sums[..width].iter_mut().enumerate().skip(column) {
                // SAFETY: the kernel was created for this many columns, and `column` is one.
                unsafe {
                    *sum = fold.merge(*sum, fold.lift(from.add(column).read()));
                    to.add(column).write(T::narrow(*sum));
                }
            }
        }
    }
}

/// The fold of a part of a row.
struct Along<T: Number, F> {
    fold: F,
    part: Part<T>,
}

impl<T: Number, F: Fold<In = T, Acc = T::Wide>> Kernel for Along<T, F> {
    type Output = T::Wide;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> T::Wide {
        let (fold, none) = (self.fold, self.fold.empty());
        let part = &self.part;
        let (mut leaves, mut start) = (none, part.range.start);
        while start < part.range.end {
            let end = part.range.end.min(start + LEAF);
            let base = fold.merge(part.before, leaves);
            let (mut sum, mut i) = (none, start);
            while i + 8 <= end {
                let mut x = [none; 8];
                for (lane, x) in x.iter_mut().enumerate() {
                    *x = fold.lift(part.read(i + lane));
                }
                if part.writes {
                    for distance in [1, 2, 4] {
                        for lane in (distance..8).rev() {
                            x[lane] = fold.merge(x[lane - distance], x[lane]);
                        }
                    }
                    let offset = fold.merge(base, sum);
                    for (lane, &x) in x.iter().enumerate() {
                        part.write(i + lane, fold.merge(offset, x));
                    }
                } else {
                    // Only those merges of the scan that the last result depends on.
                    for distance in [1, 2, 4] {
                        for lane in (2 * distance - 1..8).step_by(2 * distance) {
                            x[lane] = fold.merge(x[lane - distance], x[lane]);
                        }
                    }
                }
                sum = fold.merge(sum, x[7]);
                i += 8;
            }
            while i < end {
                sum = fold.merge(sum, fold.lift(part.read(i)));
                if part.writes {
                    part.write(i, fold.merge(base, sum));
                }
                i += 1;
            }
            leaves = fold.merge(leaves, sum);
            start = end;
        }
        leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::{DType, contiguous_strides};

    #[test]
    fn every_code_path_sums_like_a_plain_loop() {
        for (sizes, dim) in [
            (vec![1i64], 0usize),
            (vec![7], 0),
            (vec![70_000], 0),
            (vec![3, 300], 1),
            (vec![300, 3], 0),
            (vec![300, 37], 0),
            (vec![5, 0], 1),
            (vec![4, 30, 600], 1),
            (vec![4, 30, 6], 0),
        ] {
            let strides = contiguous_strides(&sizes);
            let count = sizes.iter().product::<i64>() as usize;
            let values: Vec<i64> = (0..count as i64).map(|i| i * 7919 % 101 - 50).collect();
            for backwards in [false, true] {
                let mut out = vec![0i64; count];
                // SAFETY: both vectors hold as many elements as the sizes and strides require.
                let [o, a] = [out.as_mut_ptr(), values.as_ptr().cast_mut()]
                    .map(|at| unsafe { Array::new(at.cast(), DType::I64, &sizes, &strides) });
                if backwards { cumsum_from_end(&o, &a, dim) } else { cumsum(&o, &a, dim) }.unwrap();
                let (len, step) = (sizes[dim] as usize, strides[dim] as usize);
                let mut sums = values.clone();
                for i in 0..count {
                    let at = if backwards { count - 1 - i } else { i };
                    let place = at / step % len;
                    match backwards {
                        false if place > 0 => sums[at] += sums[at - step],
                        true if place + 1 < len => sums[at] += sums[at + step],
                        _ => {}
                    }
                }
                assert_eq!(out, sums, "{sizes:?} {dim} {backwards}");
            }
        }
    }

    #[test]
    fn logarithms_of_sums_of_exponentials_are_those_of_a_plain_loop() {
        for (sizes, dim) in
            [(vec![1i64], 0usize), (vec![31], 0), (vec![70_000], 0), (vec![3, 300], 1), (vec![33, 70], 0)]
        {
            let strides = contiguous_strides(&sizes);
            let count = sizes.iter().product::<i64>() as usize;
            // Before the first number there are logarithms of 0, and far apart ones later.
            let value = |i: usize| if i < 100 { f32::NEG_INFINITY } else { (i * 7919 % 1009) as f32 * 0.2 - 90.0 };
            let values: Vec<f32> = (0..count).map(value).collect();
            let mut out = vec![0f32; count];
            // SAFETY: both vectors hold as many elements as the sizes and strides require.
            let [o, a] = [out.as_mut_ptr(), values.as_ptr().cast_mut()]
                .map(|at| unsafe { Array::new(at.cast(), DType::F32, &sizes, &strides) });
            logcumsumexp(&o, &a, dim).unwrap();
            let (len, step) = (sizes[dim] as usize, strides[dim] as usize);
            let mut sums: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
            for at in 0..count {
                if at / step % len > 0 {
                    sums[at] = sums[at].log_add(sums[at - step]);
                }
                let (got, wanted) = (f64::from(out[at]), sums[at]);
                assert!(got == wanted || (got - wanted).abs() < 1e-4, "{sizes:?} {dim} {at}: {got} {wanted}");
            }
        }
    }

    #[test]
    fn running_sums_are_equal_to_the_bit_at_any_number_of_threads() {
        let _held = crate::reduce::tests::hold_settings();
        let before = num_threads();
        for sizes in [vec![CHUNK as i64 * 19 + 12_345], vec![3, CHUNK as i64 * 2 + 7]] {
            let count = sizes.iter().product::<i64>() as usize;
            let values: Vec<f32> = (0..count).map(|i| (i * 7919 % 1009) as f32 * 0.1 - 50.0).collect();
            let strides = contiguous_strides(&sizes);
            let [first, rest @ ..] = [1, 2, 3, 8].map(|threads| {
                rushlight_base::runtime::set_num_threads(threads).unwrap();
                let mut out = vec![0f32; count];
                // SAFETY: both vectors hold as many elements as the sizes and strides require.
                let [o, a] = [out.as_mut_ptr(), values.as_ptr().cast_mut()]
                    .map(|at| unsafe { Array::new(at.cast(), DType::F32, &sizes, &strides) });
                cumsum_from_end(&o, &a, sizes.len() - 1).unwrap();
                out.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            });
            assert!(rest.iter().all(|bits| *bits == first), "{sizes:?}");
        }
        rushlight_base::runtime::set_num_threads(before as i64).unwrap();
    }

    #[test]
    fn a_long_running_sum_keeps_its_digits() {
        let mut values = vec![0.1f32; 1 << 22];
        let (sizes, strides) = ([1i64 << 22], [1i64]);
        // SAFETY: the vector holds as many elements as the size requires; the operation is in place.
        let a = unsafe { Array::new(values.as_mut_ptr().cast(), DType::F32, &sizes, &strides) };
        cumsum(&a, &a, 0).unwrap();
        for at in [1000usize, 100_000, (1 << 22) - 1] {
            let exact = f64::from(0.1f32) * (at + 1) as f64;
            assert!((f64::from(values[at]) / exact - 1.0).abs() < 2e-5, "{} {exact}", values[at]);
        }
    }
}
