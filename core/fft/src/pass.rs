//! A transform of all lines along one dimension.
//!
//! Lines whose elements are adjacent in both arrays are transformed where they are stored, if the transform can do
//! that. Others are gathered into contiguous memory, several lines at a time, because lines along a dimension with a
//! stride share cache lines with their neighbours.

use crate::lines::Lines;
use crate::number::{Real, Value};
use rushlight_base::runtime::try_parallel_chunks;
use rushlight_base::{Complex, Result, Scratch};
use rushlight_cpu::Array;
use std::ops::Range;

/// Bytes of a cache line.
const CACHE_LINE: usize = 64;
/// Lines that are gathered together: the elements of a cache line, or two.
const TOGETHER: usize = 16;
/// Gathered lines have at most this number of elements, of which two arrays fit into the second-level cache.
const GATHERED: usize = 1 << 14;
/// Work that justifies a second thread, in elements times the logarithm of the length.
const GRAIN: usize = 1 << 16;

/// A line of an array: `size` elements at steps of `step`, the first line beginning at `at`.
#[derive(Clone, Copy)]
pub struct Line<V> {
    at: *mut V,
    step: isize,
    size: usize,
}

// SAFETY: a line is an address with a geometry. Shares of a pass write different lines of the output, and read the same
// lines of the input; elements are plain numbers.
unsafe impl<V: Send> Sync for Line<V> {}

impl<V: Copy> Line<V> {
    /// The first `size` elements along `dim` of an array that begins at `at`.
    pub fn of(array: &Array, dim: usize, size: i64, at: *mut V) -> Line<V> {
        assert!(size as usize <= array.size(dim), "a line that is longer than the array");
        Line { at, step: array.stride(dim), size: size as usize }
    }

    /// Elements from one gathered line to the next: one cache line more than needed, because lines at a distance of a
    /// power of two would compete for the same few places of the first-level cache.
    fn pitch(&self) -> usize {
        let cache_line = CACHE_LINE / size_of::<V>();
        self.size.next_multiple_of(cache_line).saturating_add(cache_line)
    }

    fn is_dense(&self) -> bool {
        self.step == 1 || self.size == 1
    }

    /// Copies the lines that begin at `starts` into rows of `rows`.
    fn gather(&self, starts: &[isize], rows: *mut V) {
        for (row, &start) in starts.iter().enumerate().filter(|_| self.is_dense()) {
            // SAFETY: the array has `size` adjacent elements from `start` on (`Line::of`), and `rows` has a row of as
            // many for each start; the rows are scratch memory, which does not overlap a tensor.
            unsafe { self.at.offset(start).copy_to_nonoverlapping(rows.add(row * self.pitch()), self.size) };
        }
        if self.is_dense() {
            return;
        }
        for index in 0..self.size {
            for (row, &start) in starts.iter().enumerate() {
                // SAFETY: index `index` of the line is an element of the array (`Line::of`); `rows` has a row of `size`
                // elements for each start.
                unsafe {
                    *rows.add(row * self.pitch() + index) = *self.at.offset(start + index as isize * self.step);
                }
            }
        }
    }

    /// Copies rows of `rows` to the lines that begin at `starts`, times `scale`.
    fn scatter<T: Copy>(&self, starts: &[isize], rows: *const V, scale: T)
    where
        V: Value<T>,
    {
        for index in 0..self.size {
            for (row, &start) in starts.iter().enumerate() {
                // SAFETY: index `index` of the line is an element of the output (`Line::of`), which this share alone
                // writes; `rows` has a row of `size` elements, which were written, for each start.
                unsafe {
                    *self.at.offset(start + index as isize * self.step) =
                        (*rows.add(row * self.pitch() + index)).times(scale);
                }
            }
        }
    }

    /// The elements of a dense line.
    ///
    /// # Safety
    /// No other reference to them may exist meanwhile.
    unsafe fn slice<'a>(self, start: isize) -> &'a mut [V] {
        // SAFETY: the line is dense, so the array has `size` adjacent elements here (`Line::of`), which no one else
        // refers to as the caller guarantees.
        unsafe { std::slice::from_raw_parts_mut(self.at.offset(start), self.size) }
    }
}

/// Transforms a gathered line, which it may overwrite, into another, with working memory.
pub type Convert<'a, T, A, B> = &'a (dyn Fn(&mut [A], &mut [B], &mut [Complex<T>]) + Sync);
/// Transforms a line that it does not change.
pub type Direct<'a, T, A, B> = &'a (dyn Fn(&[A], &mut [B], &mut [Complex<T>]) + Sync);

/// What is done with each line.
pub struct Pass<'a, T, A, B> {
    pub to: Line<B>,
    pub from: Line<A>,
    pub scale: T,
    /// Working memory of the transform, in complex numbers.
    pub scratch: usize,
    pub convert: Convert<'a, T, A, B>,
    /// The transform of dense lines of other memory than the output, if there is one.
    pub direct: Option<Direct<'a, T, A, B>>,
}

/// Runs a pass over all lines, on any threads.
pub fn run<T: Real, A: Value<T>, B: Value<T>>(lines: &Lines, pass: &Pass<'_, T, A, B>) -> Result<()> {
    let longest = pass.to.size.max(pass.from.size);
    let width = (GATHERED / longest.max(1)).clamp(1, TOGETHER);
    let blocks = lines.count().div_ceil(width);
    let work = longest * (longest.max(2).ilog2() as usize) * width;
    try_parallel_chunks(blocks, (GRAIN / work.max(1)).max(1), &|range: Range<usize>| {
        let memory = Memory::new(pass, width)?;
        for block in range {
            let first = block * width;
            pass.block(lines, first..lines.count().min(first + width), &memory);
        }
        Ok(())
    })
}

/// Working memory of a share: gathered lines, transformed lines, and that of the transform.
struct Memory<A, B, C> {
    _block: Scratch,
    from: *mut A,
    to: *mut B,
    scratch: *mut C,
}

impl<A: Copy, B: Copy, C> Memory<A, B, C> {
    fn new<T>(pass: &Pass<'_, T, A, B>, width: usize) -> Result<Memory<A, B, C>> {
        let aligned = |bytes: usize| bytes.saturating_add(CACHE_LINE - 1) & !(CACHE_LINE - 1);
        let from = aligned(pass.from.pitch().saturating_mul(width * size_of::<A>()));
        let to = aligned(pass.to.pitch().saturating_mul(width * size_of::<B>()));
        let own = aligned(pass.scratch.saturating_mul(size_of::<C>()));
        let block = Scratch::new(from.saturating_add(to).saturating_add(own).max(1))?;
        let at = block.start();
        Ok(Memory {
            _block: block,
            from: at.cast(),
            to: at.wrapping_add(from).cast(),
            scratch: at.wrapping_add(from + to).cast(),
        })
    }
}

impl<T: Real, A: Value<T>, B: Value<T>> Pass<'_, T, A, B> {
    fn block(&self, lines: &Lines, range: Range<usize>, memory: &Memory<A, B, Complex<T>>) {
        // SAFETY: the block has that many complex numbers behind the lines (`Memory::new`), aligned to a cache line, and
        // belongs to this share. A transform writes its working memory before it reads it.
        let scratch = unsafe { std::slice::from_raw_parts_mut(memory.scratch, self.scratch) };
        let mut starts = [[0isize; TOGETHER]; 2];
        let count = range.len();
        for (nth, index) in range.enumerate() {
            let [to, from] = lines.start(index);
            (starts[0][nth], starts[1][nth]) = (to, from);
        }
        let (to, from) = (&starts[0][..count], &starts[1][..count]);
        if self.to.is_dense() {
            self.write_dense(to, from, memory, scratch);
        } else {
            self.write_strided(to, from, memory, scratch);
        }
    }

    /// Lines of the output whose elements are adjacent.
    fn write_dense(&self, to: &[isize], from: &[isize], memory: &Memory<A, B, Complex<T>>, scratch: &mut [Complex<T>]) {
        let direct = self.direct.filter(|_| self.from.is_dense());
        if direct.is_none() {
            self.from.gather(from, memory.from);
        }
        for (nth, (&to, &from)) in to.iter().zip(from).enumerate() {
            // SAFETY: this share alone accesses this line of the output, and no reference to it exists but this one.
            let line = unsafe { self.to.slice(to) };
            match direct {
                // SAFETY: the input is other memory than the output, and is only read.
                Some(direct) => direct(unsafe { self.from.slice(from) }, line, scratch),
                None => (self.convert)(self.gathered(memory, nth), line, scratch),
            }
            if self.scale != T::one() {
                line.iter_mut().for_each(|value| *value = value.times(self.scale));
            }
        }
    }

    fn write_strided(
        &self,
        to: &[isize],
        from: &[isize],
        memory: &Memory<A, B, Complex<T>>,
        scratch: &mut [Complex<T>],
    ) {
        self.from.gather(from, memory.from);
        for nth in 0..to.len() {
            // SAFETY: the block has a row of this size for each line of a block (`Memory::new`), apart from the gathered
            // lines and the scratch memory. The transform writes it before it is read.
            let row = unsafe { std::slice::from_raw_parts_mut(memory.to.add(nth * self.to.pitch()), self.to.size) };
            (self.convert)(self.gathered(memory, nth), row, scratch);
        }
        self.to.scatter(to, memory.to, self.scale);
    }

    /// Gathered line number `nth`.
    #[allow(clippy::mut_from_ref, reason = "the memory is a block behind raw pointers")]
    fn gathered<'m>(&self, memory: &'m Memory<A, B, Complex<T>>, nth: usize) -> &'m mut [A] {
        // SAFETY: the block has a row of this size for each line of a block (`Memory::new`), which `gather` has written;
        // it belongs to this share, which holds one row at a time.
        unsafe { std::slice::from_raw_parts_mut(memory.from.add(nth * self.from.pitch()), self.from.size) }
    }
}
