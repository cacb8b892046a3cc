//! The roads of a reduction: which elements meet, in which order, on which thread.
//!
//! A [`Reducer`] folds a *line* (one output's elements along a row of memory) or a *tile* (rows side by side, one output
//! per column). The line is taken where the reduced dimension is the inner one, the tile where a kept dimension is: then
//! a row's elements belong to neighbouring outputs, and vectors hold outputs. Leaves of bounded length are merged as a
//! tree, so that the error of a floating sum grows with the logarithm of its length.
//!
//! What is computed together depends on the shape alone: outputs that are few and long are cut into pieces of fixed
//! length, whose results are merged in order. Threads only decide who computes a piece.

use crate::room::filled;
use crate::shared::Shared;
use rushlight_base::plan::Plan;
use rushlight_base::reduction::{Order, Reduction};
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Element, Result};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Elements of a line that are folded before the tree takes over.
pub(crate) const LEAF: usize = 2048;
/// Rows of a tile, and short lines, that are folded before the tree takes over.
const LEAF_ROWS: usize = 64;
/// Columns of a tile.
pub(crate) const WIDTH: usize = 256;
/// Elements worth another thread.
const GRAIN: usize = 32768;
/// A line this short is left to tiles that read across, where there are enough outputs for them.
const SHORT_LINE: usize = 16;

/// How elements become one result.
pub(crate) trait Reducer: Copy + Send + Sync {
    /// What lies in memory.
    type In: Element;
    /// What is carried.
    type Acc: Copy + Send + Sync;
    /// May elements be folded in any order? Then narrow columns are folded several rows at a time.
    const COMMUTES: bool = true;
    /// How many elements of this fold cost as much as one addition.
    const COST: usize = 1;

    /// The result of nothing.
    fn empty(self) -> Self::Acc;

    /// The result of `a`'s elements and then `b`'s.
    fn merge(self, a: Self::Acc, b: Self::Acc) -> Self::Acc;

    /// The result of `len` elements (up to [`LEAF`]), `step` apart; the first is number `index` of its group.
    ///
    /// # Safety
    /// The elements must be readable.
    unsafe fn line(self, at: *const Self::In, len: usize, step: isize, index: usize) -> Self::Acc;

    /// The results of columns: `acc[w]` becomes that of `rows` elements, `row_step` apart, from `at + w * step`; the
    /// first ones are number `index` of their groups.
    ///
    /// # Safety
    /// The elements must be readable.
    unsafe fn tile(self, at: *const Self::In, rows: usize, steps: Steps, index: usize, acc: &mut [Self::Acc]);
}

/// Steps of a tile, in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    /// From a row to the next.
    pub(crate) row: isize,
    /// From a column to the next.
    pub(crate) column: isize,
}

/// Partial results by size: a level holds up to `fanout` of those below. The last level holds any number.
struct Tree<A, const LEVELS: usize> {
    levels: [MaybeUninit<A>; LEVELS],
    counts: [u32; LEVELS],
    fanout: u32,
}

impl<A: Copy, const LEVELS: usize> Tree<A, LEVELS> {
    #[inline(always)]
    fn new(fanout: u32) -> Tree<A, LEVELS> {
        Tree { levels: [const { MaybeUninit::uninit() }; LEVELS], counts: [0; LEVELS], fanout }
    }

    #[inline(always)]
    fn push(&mut self, mut leaf: A, merge: impl Fn(&mut A, &A)) {
        for level in 0..LEVELS {
            if self.counts[level] == 0 {
                self.levels[level] = MaybeUninit::new(leaf);
                self.counts[level] = 1;
                return;
            }
            // SAFETY: a level that counts something has been written.
            let held = unsafe { self.levels[level].assume_init_mut() };
            merge(held, &leaf);
            self.counts[level] += 1;
            if self.counts[level] < self.fanout || level + 1 == LEVELS {
                return;
            }
            self.counts[level] = 0;
            leaf = *held;
        }
    }

    #[inline(always)]
    fn total(&self, empty: A, merge: impl Fn(&mut A, &A)) -> A {
        let mut total: Option<A> = None;
        for level in 0..LEVELS {
            if self.counts[level] > 0 {
                // SAFETY: a level that counts something has been written.
                let mut held = unsafe { self.levels[level].assume_init() };
                if let Some(total) = &total {
                    merge(&mut held, total);
                }
                total = Some(held);
            }
        }
        total.unwrap_or(empty)
    }
}

/// A part of the reduced elements: rows of the walk, and of each row a range.
#[derive(Clone, Debug)]
struct Part {
    rows: Range<usize>,
    cut: Range<usize>,
}

/// The parts that `reduced` is cut into, each of about `wanted` places.
struct Parts {
    outer: usize,
    len: usize,
    /// Rows of a part; 0: parts of a single row.
    rows: usize,
    places: usize,
}

impl Parts {
    fn new(reduced: &Plan<1>, wanted: usize) -> Parts {
        let (outer, (len, _)) = (reduced.outer(), reduced.inner());
        if outer == 1 {
            Parts { outer, len, rows: 0, places: wanted }
        } else {
            Parts { outer, len, rows: (wanted / len.max(1)).max(1), places: 0 }
        }
    }

    fn count(&self) -> usize {
        if self.rows == 0 { self.len.div_ceil(self.places) } else { self.outer.div_ceil(self.rows) }
    }

    fn part(&self, nth: usize) -> Part {
        if self.rows == 0 {
            let start = nth * self.places;
            Part { rows: 0..1, cut: start..self.len.min(start + self.places) }
        } else {
            let start = nth * self.rows;
            Part { rows: start..self.outer.min(start + self.rows), cut: 0..self.len }
        }
    }

    fn whole(reduced: &Plan<1>) -> Part {
        Part { rows: 0..reduced.outer(), cut: 0..reduced.inner().0 }
    }
}

/// The result of a part of one group, line by line.
///
/// # Safety
/// The elements that `reduced` visits from `at` in `part` must be readable.
unsafe fn fold_lines<R: Reducer>(reducer: R, at: *const R::In, reduced: &Plan<1>, part: &Part) -> R::Acc {
    let (len, [step]) = reduced.inner();
    let merge = |a: &mut R::Acc, b: &R::Acc| *a = reducer.merge(*a, *b);
    if part.rows.len() == 1 && part.cut.len() <= LEAF && part.rows.start == 0 {
        let start = part.cut.start;
        // SAFETY: the caller's promise.
        return unsafe { reducer.line(at.offset(start as isize * step), part.cut.len(), step, start) };
    }
    let mut tree = Tree::<R::Acc, 40>::new(2);
    let (mut carry, mut places, mut lines) = (reducer.empty(), 0, 0);
    let mut row = part.rows.start;
    reduced.rows_in(part.rows.clone(), |[offset]| {
        let mut start = part.cut.start;
        while start < part.cut.end {
            let count = LEAF.min(part.cut.end - start);
            // SAFETY: the caller's promise.
            let line =
                unsafe { reducer.line(at.offset(offset + start as isize * step), count, step, row * len + start) };
            // Short lines fill a leaf together.
            carry = if lines == 0 { line } else { reducer.merge(carry, line) };
            (places, lines, start) = (places + count, lines + 1, start + count);
            if places >= LEAF || lines == LEAF_ROWS {
                tree.push(carry, merge);
                (places, lines) = (0, 0);
            }
        }
        row += 1;
    });
    if lines > 0 {
        tree.push(carry, merge);
    }
    tree.total(reducer.empty(), merge)
}

/// The results of a part of neighbouring groups: `acc[w]` becomes that of the group at `at + w * step`.
///
/// # Safety
/// The elements that `reduced` visits from there in `part` must be readable.
unsafe fn fold_tiles<R: Reducer>(
    reducer: R,
    at: *const R::In,
    step: isize,
    reduced: &Plan<1>,
    part: &Part,
    acc: &mut [R::Acc],
) {
    let width = acc.len();
    let (len, [row_step]) = reduced.inner();
    let steps = Steps { row: row_step, column: step };
    if part.rows.len() == 1 && part.cut.len() <= LEAF_ROWS && part.rows.start == 0 {
        let start = part.cut.start;
        // SAFETY: the caller's promise.
        unsafe { reducer.tile(at.offset(start as isize * row_step), part.cut.len(), steps, start, acc) };
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { fold_tall_tiles(reducer, at, reduced, part, (len, steps), &mut acc[..width]) };
}

/// [`fold_tiles`] of more rows than a leaf holds.
///
/// # Safety
/// As there.
#[inline(never)] // its frame is large
unsafe fn fold_tall_tiles<R: Reducer>(
    reducer: R,
    at: *const R::In,
    reduced: &Plan<1>,
    part: &Part,
    (len, steps): (usize, Steps),
    acc: &mut [R::Acc],
) {
    let width = acc.len();
    let merge = |a: &mut [R::Acc; WIDTH], b: &[R::Acc; WIDTH]| {
        for (a, b) in a[..width].iter_mut().zip(b) {
            *a = reducer.merge(*a, *b);
        }
    };
    // Eight levels, wide enough for all leaves: 256 of them pairwise, 65536 by four, ...
    let leaves = (part.rows.len() * part.cut.len()).div_ceil(LEAF_ROWS);
    let mut fanout = 2u32;
    while (fanout as usize).pow(8) < leaves && fanout < 64 {
        fanout *= 2;
    }
    let mut tree = Tree::<[R::Acc; WIDTH], 8>::new(fanout);
    let (mut carry, mut leaf, mut rows) = ([reducer.empty(); WIDTH], [reducer.empty(); WIDTH], 0);
    let mut row = part.rows.start;
    reduced.rows_in(part.rows.clone(), |[offset]| {
        let mut start = part.cut.start;
        while start < part.cut.end {
            let count = (LEAF_ROWS - rows).min(part.cut.end - start);
            let into = if rows == 0 { &mut carry } else { &mut leaf };
            // SAFETY: the caller's promise.
            unsafe {
                let from = at.offset(offset + start as isize * steps.row);
                reducer.tile(from, count, steps, row * len + start, &mut into[..width]);
            }
            if rows > 0 {
                merge(&mut carry, &leaf);
            }
            (rows, start) = (rows + count, start + count);
            if rows == LEAF_ROWS {
                tree.push(carry, merge);
                rows = 0;
            }
        }
        row += 1;
    });
    if rows > 0 {
        tree.push(carry, merge);
    }
    acc.copy_from_slice(&tree.total([reducer.empty(); WIDTH], merge)[..width]);
}

/// Where results go: called with the offset of an output, the step to the next and the results of neighbours, from any
/// thread, once for each. Behind a pointer, so that a reducer has one set of roads whatever becomes of its results.
pub(crate) type Sink<'a, A> = &'a (dyn Fn(isize, isize, &[A]) + Sync);

/// The unit of work of a road: outputs that are folded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Road {
    /// One output per unit.
    Lines,
    /// Up to [`WIDTH`] neighbouring outputs per unit.
    Tiles,
}

/// A reduction with its road.
#[derive(Clone, Copy)]
struct Job<'a, R: Reducer> {
    reducer: R,
    plan: &'a Reduction,
    from: Shared<R::In>,
    road: Road,
}

impl<R: Reducer> Job<'_, R> {
    fn units(&self) -> usize {
        let (len, _) = self.plan.kept.inner();
        match self.road {
            Road::Lines => len * self.plan.kept.outer(),
            Road::Tiles => len.div_ceil(WIDTH) * self.plan.kept.outer(),
        }
    }

    /// Outputs of a unit, at most.
    fn unit_width(&self) -> usize {
        match self.road {
            Road::Lines => 1,
            Road::Tiles => self.plan.kept.inner().0.min(WIDTH),
        }
    }

    /// Calls `unit` with the offsets (output, input) and the width of each unit in `range`.
    fn each_unit(&self, range: Range<usize>, mut unit: impl FnMut(usize, isize, isize, usize)) {
        let (len, [out_step, step]) = self.plan.kept.inner();
        let width = self.unit_width().max(1);
        let blocks = len.div_ceil(width).max(1);
        let mut nth = range.start;
        self.plan.kept.rows_in(range.start / blocks..range.end.div_ceil(blocks), |[out, from]| {
            let row_end = (nth / blocks + 1) * blocks;
            while nth < row_end.min(range.end) {
                let first = nth % blocks * width;
                let at = first as isize;
                unit(nth, out + at * out_step, from + at * step, width.min(len - first));
                nth += 1;
            }
        });
    }
}

/// Reduces whole groups of the units in `range`.
fn run_whole<R: Reducer>(job: Job<'_, R>, range: Range<usize>, sink: Sink<'_, R::Acc>) {
    let (reducer, reduced) = (job.reducer, &job.plan.reduced);
    let part = Parts::whole(reduced);
    let (_, [out_step, step]) = job.plan.kept.inner();
    match job.road {
        Road::Lines => job.each_unit(range, |_, out, from, _| {
            // SAFETY: the plan's offsets stay within the input, which `Array::new` vouches for.
            let acc = unsafe { fold_lines(reducer, job.from.get().offset(from), reduced, &part) };
            sink(out, out_step, &[acc]);
        }),
        Road::Tiles => {
            let mut acc = [reducer.empty(); WIDTH];
            job.each_unit(range, |_, out, from, width| {
                let acc = &mut acc[..width];
                // SAFETY: as above.
                unsafe { fold_tiles(reducer, job.from.get().offset(from), step, reduced, &part, acc) };
                sink(out, out_step, acc);
            });
        }
    }
}

/// Reduces a range of the parts of all units: part `p` of unit `u` is number `u * parts + p`, its results go to `partial`.
fn run_pieces<R: Reducer>(job: Job<'_, R>, parts: &Parts, range: Range<usize>, partial: Shared<R::Acc>) {
    let (reducer, reduced, count, room) = (job.reducer, &job.plan.reduced, parts.count(), job.unit_width());
    let (_, [_, step]) = job.plan.kept.inner();
    for piece in range {
        let part = parts.part(piece % count);
        job.each_unit(piece / count..piece / count + 1, |_, _, from, width| {
            // SAFETY: the plan's offsets stay within the input, which `Array::new` vouches for; each piece has a
            // place for `room` results of its own.
            unsafe {
                let (from, to) = (job.from.get().offset(from), partial.get().add(piece * room));
                match job.road {
                    Road::Lines => to.write(fold_lines(reducer, from, reduced, &part)),
                    Road::Tiles => {
                        let acc = std::slice::from_raw_parts_mut(to, width);
                        fold_tiles(reducer, from, step, reduced, &part, acc);
                    }
                }
            }
        });
    }
}

/// The result of the elements in `range`, which lie without gaps from `from`.
///
/// # Safety
/// They must be readable.
unsafe fn fold_flat<R: Reducer>(reducer: R, from: *const R::In, range: Range<usize>) -> R::Acc {
    if range.len() <= LEAF {
        // SAFETY: the caller's promise.
        return unsafe { reducer.line(from.add(range.start), range.len(), 1, range.start) };
    }
    let leaf = |start: usize| {
        // SAFETY: as above.
        unsafe { reducer.line(from.add(start), LEAF.min(range.end - start), 1, start) }
    };
    merge_in_order(reducer, range.clone().step_by(LEAF).map(leaf))
}

/// The result of `len` elements from `from`.
///
/// # Safety
/// They must be readable.
pub(crate) unsafe fn flat<R: Reducer>(reducer: R, from: *const R::In, len: usize) -> Result<R::Acc> {
    let from = Shared::new(from.cast_mut());
    let grain = GRAIN / R::COST;
    if len <= grain {
        // SAFETY: the caller's promise.
        return Ok(unsafe { fold_flat(reducer, from.get(), 0..len) });
    }
    let pieces = len.div_ceil(grain);
    let mut partial = filled(pieces, reducer.empty())?;
    let to = Shared::new(partial.as_mut_ptr());
    parallel_chunks(pieces, 1, &|range| {
        for piece in range {
            let range = piece * grain..len.min((piece + 1) * grain);
            // SAFETY: each piece has a place of its own.
            unsafe { to.get().add(piece).write(fold_flat(reducer, from.get(), range)) };
        }
    })?;
    Ok(merge_in_order(reducer, partial.iter().copied()))
}

fn merge_in_order<R: Reducer>(reducer: R, results: impl Iterator<Item = R::Acc>) -> R::Acc {
    let merge = |a: &mut R::Acc, b: &R::Acc| *a = reducer.merge(*a, *b);
    let mut tree = Tree::<R::Acc, 40>::new(2);
    results.for_each(|result| tree.push(result, merge));
    tree.total(reducer.empty(), merge)
}

/// Reduces as `plan` says, from `from`; every output's offset and result go to `sink`.
///
/// # Safety
/// The elements that the plan visits from `from` must be readable.
pub(crate) unsafe fn reduce<R: Reducer>(
    reducer: R,
    plan: &Reduction,
    from: *const R::In,
    sink: Sink<'_, R::Acc>,
) -> Result<()> {
    match Wide::of(plan).filter(|_| R::COMMUTES) {
        // SAFETY: the caller's promise.
        Some(wide) => unsafe { reduce_wide(reducer, plan, wide, from, sink) },
        // SAFETY: as above.
        None => unsafe { reduce_planned(reducer, plan, from, sink) },
    }
}

/// [`reduce`] by lines or tiles.
///
/// # Safety
/// As there.
unsafe fn reduce_planned<R: Reducer>(
    reducer: R,
    plan: &Reduction,
    from: *const R::In,
    sink: Sink<'_, R::Acc>,
) -> Result<()> {
    let outputs = plan.kept.numel();
    if outputs == 0 {
        return Ok(());
    }
    let (count, grain) = (plan.count(), GRAIN / R::COST);
    let job = Job { reducer, plan, from: Shared::new(from.cast_mut()), road: road(plan) };
    let units = job.units();
    let per_unit = count * job.unit_width();
    if outputs.saturating_mul(count.max(1)) <= grain {
        run_whole(job, 0..units, sink);
        return Ok(());
    }
    if units >= 16 || per_unit <= grain {
        return parallel_chunks(units, (grain / per_unit.max(1)).max(1), &|range| run_whole(job, range, sink));
    }
    let wanted = match job.road {
        Road::Lines => grain,
        Road::Tiles => (grain / job.unit_width()).max(LEAF_ROWS),
    };
    let (parts, room) = (Parts::new(&plan.reduced, wanted), job.unit_width());
    let pieces = parts.count();
    let mut partial = filled(units * pieces * room, reducer.empty())?;
    let to = Shared::new(partial.as_mut_ptr());
    parallel_chunks(units * pieces, 1, &|range| run_pieces(job, &parts, range, to))?;
    let (_, [out_step, _]) = plan.kept.inner();
    job.each_unit(0..units, |unit, out, _, width| {
        for w in 0..width {
            let results = (0..pieces).map(|piece| partial[(unit * pieces + piece) * room + w]);
            sink(out + w as isize * out_step, out_step, &[merge_in_order(reducer, results)]);
        }
    });
    Ok(())
}

/// A narrow gap-free matrix reduced over its rows, seen as one of `side` times the width and fewer rows.
struct Wide {
    width: usize,
    side: usize,
    rows: usize,
    /// Rows that are left.
    rest: usize,
}

impl Wide {
    fn of(plan: &Reduction) -> Option<Wide> {
        let ((width, [_, step]), (rows, [row_step])) = (plan.kept.inner(), plan.reduced.inner());
        let gap_free = plan.kept.outer() == 1 && plan.reduced.outer() == 1 && step == 1 && row_step == width as isize;
        let side = WIDTH / width.max(1);
        let pays = gap_free && (2..=WIDTH / 4).contains(&width) && rows >= 4 * side;
        pays.then(|| Wide { width, side, rows: rows / side, rest: rows % side })
    }
}

/// [`reduce`] of a narrow matrix: first to `side` results per column, then those, then the rows that are left.
///
/// # Safety
/// As there.
unsafe fn reduce_wide<R: Reducer>(
    reducer: R,
    plan: &Reduction,
    wide: Wide,
    from: *const R::In,
    sink: Sink<'_, R::Acc>,
) -> Result<()> {
    let (width, columns) = (wide.width as i64, (wide.width * wide.side) as i64);
    let sizes = [wide.rows as i64, columns];
    let strides = [columns, 1];
    let mut results = [reducer.empty(); WIDTH];
    let to = Shared::new(results.as_mut_ptr());
    let into = |to: Shared<R::Acc>| {
        move |at: isize, _, acc: &[R::Acc]| {
            // SAFETY: the offsets of the outputs are those of `results` and `left`.
            unsafe { to.get().offset(at).copy_from_nonoverlapping(acc.as_ptr(), acc.len()) };
        }
    };
    if let Some(plan) = Reduction::new(&[1, columns], &strides, &sizes, &strides, Order::Memory) {
        // SAFETY: the elements are among the plan's.
        unsafe { reduce_planned(reducer, &plan, from, &into(to))? };
    }
    let mut left = [reducer.empty(); WIDTH];
    let to = Shared::new(left.as_mut_ptr());
    let (sizes, strides) = ([wide.rest as i64, width], [width, 1]);
    if let Some(plan) = Reduction::new(&[1, width], &strides, &sizes, &strides, Order::Memory) {
        // SAFETY: as above.
        unsafe { reduce_planned(reducer, &plan, from.add(wide.rows * columns as usize), &into(to))? };
    }
    let (_, [out_step, _]) = plan.kept.inner();
    for column in 0..wide.width {
        let sides = results[column..].iter().step_by(wide.width).take(wide.side).copied();
        let total = reducer.merge(merge_in_order(reducer, sides), left[column]);
        sink(column as isize * out_step, out_step, &[total]);
    }
    Ok(())
}

/// Lines where they run along memory, unless they are short and many.
fn road(plan: &Reduction) -> Road {
    let ((kept, [_, kept_step]), (reduced, [reduced_step])) = (plan.kept.inner(), plan.reduced.inner());
    let across = kept_step.abs() < reduced_step.abs() && kept >= 4;
    if kept > 1 && (across || (reduced < SHORT_LINE && kept >= SHORT_LINE)) { Road::Tiles } else { Road::Lines }
}
