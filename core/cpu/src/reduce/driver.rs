//! The code paths of a reduction: which elements are combined, in which order, on which thread.
//!
//! A [`Reducer`] folds *lines* (each one output's elements along a row of memory) or a *tile* (adjacent rows, one
//! output per column). Lines are used if the reduced dimension is the inner one, tiles if a kept dimension is: then a
//! row's elements belong to adjacent outputs, and vectors hold outputs. Leaves of bounded length are merged as a tree,
//! so that the error of a floating sum grows with the logarithm of its length.
//!
//! The shape alone determines what is computed together: outputs that are few and long are split into pieces of fixed
//! length, whose results are merged in order. Threads only determine who computes a piece.
//!
//! All this is written over addresses and a [`Worker`], so it is compiled once; [`reduce`] and [`flat`] are its typed
//! entry points.

use super::reducer::{LEAF, LEAF_ROWS, Reducer, Rows, Slot, Slots, Steps, Typed, WIDTH, Worker, slots};
use super::tree::{DEEP, Levels, Small, Tree};
use crate::array::Array;
use crate::shared::Shared;
use rushlight_base::Result;
use rushlight_base::list::with_capacity;
use rushlight_base::plan::Plan;
use rushlight_base::reduction::{Order, Reduction};
use rushlight_base::runtime::parallel_chunks;
use std::ops::Range;

/// A line this short is left to tiles that read across, where there are enough outputs for them.
const SHORT_LINE: usize = 16;

/// Reduces according to `plan`, from `from`. Results go to `sink`: called with the offset of an output, the step to the next and
/// the results of neighbours, from any thread, once for each.
///
/// # Safety
/// The elements that the plan visits from `from` must be readable.
pub(crate) unsafe fn reduce<R: Reducer>(
    reducer: R,
    plan: &Reduction,
    from: *const R::In,
    sink: impl Fn(isize, isize, &[R::Acc]) + Sync,
) -> Result<()> {
    let sink = |at: isize, step: isize, results: *const u8, count: usize| {
        // SAFETY: all drivers pass `count` results of this reducer to the sink.
        sink(at, step, unsafe { std::slice::from_raw_parts(results.cast(), count) });
    };
    // SAFETY: the caller guarantees that the elements that the plan visits from `from` are readable.
    unsafe { reduce_any(Worker::new(&Typed::new(reducer)), plan, from.cast(), &sink) }
}

/// Reduces `a` into `out`: [`reduce`] without types.
///
/// # Safety
/// The worker is one for elements of `a`.
pub(super) unsafe fn reduce_arrays(worker: Worker, out: &Array, a: &Array, sink: Sink) -> Result<()> {
    // SAFETY: the caller guarantees a worker for elements of `a`'s dtype; the plan stays within the elements that
    // `Array::new` guarantees.
    unsafe {
        if out.numel() == 1 && a.is_contiguous() {
            let mut acc = slots::<1>();
            let acc = acc.as_mut_ptr().cast::<u8>();
            flat_any(worker, a.first_byte(), a.numel(), acc)?;
            sink(0, 1, acc, 1);
            return Ok(());
        }
        reduce_any(worker, &super::plan(out, a, Order::Memory)?, a.first_byte(), sink)
    }
}

/// The result of `len` elements from `from`.
///
/// # Safety
/// They must be readable.
pub(crate) unsafe fn flat<R: Reducer>(reducer: R, from: *const R::In, len: usize) -> Result<R::Acc> {
    let (reducer, mut acc) = (Typed::new(reducer), reducer.empty());
    let to = (&raw mut acc).cast::<u8>();
    // SAFETY: the caller guarantees `len` readable elements and space for one result at `acc`.
    unsafe {
        if len <= LEAF {
            reducer.lines(from.cast(), len, Steps { row: 1, column: 0, number: 0 }, 0, to, 1);
        } else {
            flat_any(Worker::new(&reducer), from.cast(), len, to)?;
        }
    }
    Ok(acc)
}

/// The sink by address: an output's offset, the step to the next, `usize` results of neighbours.
type Sink<'a> = &'a (dyn Fn(isize, isize, *const u8, usize) + Sync);

/// A part of the reduced elements: rows of the traversal, and a range of each row.
#[derive(Clone, Debug)]
struct Part {
    rows: Range<usize>,
    cut: Range<usize>,
}

/// The parts into which `reduced` is split, of about `wanted` positions each.
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

/// The results of a part of `count` groups, `step` apart, line by line.
///
/// # Safety
/// The elements that `reduced` visits in `part` from the starts of the groups must be readable, and `acc` has space for
/// the results.
unsafe fn fold_lines(
    worker: Worker,
    at: *const u8,
    step: isize,
    reduced: &Plan<1>,
    part: &Part,
    acc: *mut u8,
    count: usize,
) {
    let (_, [row_step]) = reduced.inner();
    if part.rows.len() == 1 && part.cut.len() <= LEAF && part.rows.start == 0 {
        let start = part.cut.start;
        let (at, steps) =
            (worker.element(at, start as isize * row_step), Steps { row: row_step, column: step, number: 0 });
        // SAFETY: the caller guarantees readable elements for all of `part`, and space for the results at `acc`.
        unsafe { worker.lines(at, part.cut.len(), steps, start, acc, count) };
        return;
    }
    for nth in 0..count {
        let at = worker.element(at, nth as isize * step);
        // SAFETY: the caller guarantees readable elements for all of `part`; `nth` is below the number of results at
        // `acc`.
        unsafe { fold_long_line(worker, at, reduced, part, acc.add(nth * worker.size())) };
    }
}

/// [`fold_lines`] of one group of more elements than a leaf holds.
///
/// # Safety
/// The contract of [`fold_lines`].
unsafe fn fold_long_line(worker: Worker, at: *const u8, reduced: &Plan<1>, part: &Part, acc: *mut u8) {
    let (len, [step]) = reduced.inner();
    if part.rows.len() == 1 && part.rows.start == 0 {
        // SAFETY: the caller guarantees the elements that `reduced` visits in `part`, and space for one result at
        // `acc`.
        return unsafe { fold_row(worker, at, step, part.cut.clone(), acc) };
    }
    let (mut levels, [mut carry, mut line]) = (slots::<DEEP>(), slots());
    let mut tree = Tree::deep(worker, &mut levels);
    let (carry, line) = (carry.as_mut_ptr().cast::<u8>(), line.as_mut_ptr().cast::<u8>());
    let (mut places, mut lines) = (0, 0);
    let mut row = part.rows.start;
    reduced.rows_in(part.rows.clone(), |[offset]| {
        let mut start = part.cut.start;
        while start < part.cut.end {
            let count = LEAF.min(part.cut.end - start);
            let from = worker.element(at, offset + start as isize * step);
            let steps = Steps { row: step, column: 0, number: 0 };
            // SAFETY: the caller guarantees the elements that `reduced` visits in `part`; short lines together fill at
            // most a leaf.
            unsafe {
                if lines == 0 {
                    worker.lines(from, count, steps, row * len + start, carry, 1);
                } else {
                    worker.lines(from, count, steps, row * len + start, line, 1);
                    worker.merge(carry, line, 1);
                }
            }
            (places, lines, start) = (places + count, lines + 1, start + count);
            if places >= LEAF || lines == LEAF_ROWS {
                // SAFETY: `carry` holds one result, written by the last leaf.
                unsafe { tree.push(carry) };
                (places, lines) = (0, 0);
            }
        }
        row += 1;
    });
    // SAFETY: `carry` holds a result if lines were added; the caller guarantees space for one result at `acc`.
    unsafe {
        if lines > 0 {
            tree.push(carry);
        }
        tree.total(acc);
    }
}

/// Leaves that are folded together, which amortizes the overhead around them.
const LEAVES: usize = 16;

/// The result of the elements of `range`, `step` apart; number 0 is at `at`.
///
/// # Safety
/// They must be readable, and `acc` has space for one result.
unsafe fn fold_row(worker: Worker, at: *const u8, step: isize, range: Range<usize>, acc: *mut u8) {
    let steps = Steps { row: step, column: LEAF as isize * step, number: LEAF };
    if range.len() <= LEAF {
        let at = worker.element(at, range.start as isize * step);
        // SAFETY: the caller guarantees readable elements in `range`, and space for one result at `acc`.
        return unsafe { worker.lines(at, range.len(), steps, range.start, acc, 1) };
    }
    let (mut levels, mut leaves) = (slots::<DEEP>(), slots::<LEAVES>());
    let mut tree = Tree::deep(worker, &mut levels);
    let leaves = leaves.as_mut_ptr().cast::<u8>();
    let mut start = range.start;
    while start < range.end {
        let count = ((range.end - start) / LEAF).min(LEAVES);
        let (len, count) = if count == 0 { (range.end - start, 1) } else { (LEAF, count) };
        // SAFETY: the caller guarantees readable elements in `range`; `leaves` has space for `count` results.
        unsafe {
            worker.lines(worker.element(at, start as isize * step), len, steps, start, leaves, count);
            (0..count).for_each(|nth| tree.push(leaves.add(nth * worker.size())));
        }
        start += count * len;
    }
    // SAFETY: the tree holds results, and the caller guarantees space for one at `acc`.
    unsafe { tree.total(acc) };
}

/// The results of a part of `width` neighbouring groups, `step` apart, row by row.
///
/// # Safety
/// The contract of [`fold_lines`].
unsafe fn fold_tiles(
    worker: Worker,
    at: *const u8,
    step: isize,
    reduced: &Plan<1>,
    part: &Part,
    acc: *mut u8,
    width: usize,
) {
    let (_, [row_step]) = reduced.inner();
    let steps = Steps { row: row_step, column: step, number: 0 };
    // SAFETY: the caller guarantees readable elements for all of `part`, and space for the results at `acc`.
    unsafe {
        if part.rows.len() == 1 && part.cut.len() <= LEAF_ROWS && part.rows.start == 0 {
            let start = part.cut.start;
            worker.tile(worker.element(at, start as isize * row_step), part.cut.len(), steps, start, acc, width);
        } else {
            fold_tall_tiles(worker, at, steps, reduced, part, acc, width);
        }
    }
}

/// [`fold_tiles`] of more rows than a leaf holds.
///
/// # Safety
/// The contract of [`fold_tiles`].
#[inline(never)] // its frame is large
unsafe fn fold_tall_tiles(
    worker: Worker,
    at: *const u8,
    steps: Steps,
    reduced: &Plan<1>,
    part: &Part,
    acc: *mut u8,
    width: usize,
) {
    let len = reduced.row_len();
    let leaves = (part.rows.len() * part.cut.len()).div_ceil(LEAF_ROWS);
    let mut small = Small::uninit();
    let Some(mut levels) = Levels::new(worker, width, leaves, &mut small) else {
        // SAFETY: the caller guarantees readable elements for all of `part`, and space for the results at `acc`.
        return unsafe { worker.clear(acc, width) };
    };
    let mut leaf: Slots = slots();
    let mut tree = Tree::flat(worker, width, leaves, &mut levels);
    // Until the tree has its total, `acc` is where a leaf is collected.
    let (carry, leaf) = (acc, leaf.as_mut_ptr().cast::<u8>());
    let (mut rows, mut row) = (0, part.rows.start);
    reduced.rows_in(part.rows.clone(), |[offset]| {
        let mut start = part.cut.start;
        while start < part.cut.end {
            let count = (LEAF_ROWS - rows).min(part.cut.end - start);
            let from = worker.element(at, offset + start as isize * steps.row);
            // SAFETY: the caller guarantees readable elements for all of `part`, and space for the results at `acc`.
            unsafe {
                if rows == 0 {
                    worker.tile(from, count, steps, row * len + start, carry, width);
                } else {
                    worker.tile(from, count, steps, row * len + start, leaf, width);
                    worker.merge(carry, leaf, width);
                }
            }
            (rows, start) = (rows + count, start + count);
            if rows == LEAF_ROWS {
                // SAFETY: `carry` holds a row of results, written by the last leaf.
                unsafe { tree.push(carry) };
                rows = 0;
            }
        }
        row += 1;
    });
    // SAFETY: `carry` holds results if rows were added; the caller guarantees space for a row of results at `acc`.
    unsafe {
        if rows > 0 {
            tree.push(carry);
        }
        tree.total(acc);
    }
}

/// The unit of work of a code path: outputs that are folded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Traversal {
    /// One output per unit.
    Lines,
    /// As many adjacent outputs per unit as fit.
    Tiles,
}

/// A reduction with its code path.
#[derive(Clone, Copy)]
struct Job<'a> {
    worker: Worker<'a>,
    plan: &'a Reduction,
    from: Shared<u8>,
    traversal: Traversal,
}

impl Job<'_> {
    fn units(&self) -> usize {
        let (len, _) = self.plan.kept.inner();
        len.div_ceil(self.unit_width().max(1)) * self.plan.kept.outer()
    }

    /// Outputs of a unit, at most.
    fn unit_width(&self) -> usize {
        match self.traversal {
            Traversal::Lines => 1,
            Traversal::Tiles => self.plan.kept.inner().0.min(self.worker.width()),
        }
    }

    /// Calls `visit` with each run of up to `most` neighbouring units in `range`: the number of the first, its offsets
    /// (output, input), and how many outputs the run has.
    fn each_run(&self, range: Range<usize>, most: usize, mut visit: impl FnMut(usize, isize, isize, usize)) {
        let (len, [out_step, step]) = self.plan.kept.inner();
        let width = self.unit_width().max(1);
        let units = len.div_ceil(width).max(1);
        let mut nth = range.start;
        self.plan.kept.rows_in(range.start / units..range.end.div_ceil(units), |[out, from]| {
            let row_end = ((nth / units + 1) * units).min(range.end);
            while nth < row_end {
                let first = nth % units * width;
                let run = most.min(row_end - nth);
                visit(
                    nth,
                    out + first as isize * out_step,
                    from + first as isize * step,
                    (run * width).min(len - first),
                );
                nth += run;
            }
        });
    }

    /// The results of a part of the groups of a run of units.
    ///
    /// # Safety
    /// `from` and `count` are those of such a run, and `acc` has space for the results.
    unsafe fn fold(&self, from: isize, part: &Part, acc: *mut u8, count: usize) {
        let (_, [_, step]) = self.plan.kept.inner();
        let from = self.worker.element(self.from.get(), from);
        // SAFETY: the plan's offsets stay within the input, whose elements `Array::new` guarantees.
        unsafe {
            match self.traversal {
                Traversal::Lines => fold_lines(self.worker, from, step, &self.plan.reduced, part, acc, count),
                Traversal::Tiles => fold_tiles(self.worker, from, step, &self.plan.reduced, part, acc, count),
            }
        }
    }
}

/// Reduces whole groups of the units in `range`.
fn run_whole(job: Job, range: Range<usize>, sink: Sink) {
    let part = Parts::whole(&job.plan.reduced);
    let (_, [out_step, _]) = job.plan.kept.inner();
    let mut acc: Slots = slots();
    let acc = acc.as_mut_ptr().cast::<u8>();
    let most = if job.traversal == Traversal::Lines { job.worker.width() } else { 1 };
    job.each_run(range, most, |_, out, from, count| {
        // SAFETY: `acc` has space for the results of a run.
        unsafe { job.fold(from, &part, acc, count) };
        sink(out, out_step, acc, count);
    });
}

/// Reduces a range of the parts of all units: part `p` of unit `u` is number `u * parts + p`, its results go to `partial`.
fn run_pieces(job: Job, parts: &Parts, range: Range<usize>, partial: Shared<u8>) {
    let (count, bytes_per_part) = (parts.count(), job.unit_width() * job.worker.size());
    for piece in range {
        let part = parts.part(piece % count);
        job.each_run(piece / count..piece / count + 1, 1, |_, _, from, width| {
            // SAFETY: each piece has its own space for the results of a unit.
            unsafe { job.fold(from, &part, partial.get().add(piece * bytes_per_part), width) };
        });
    }
}

/// [`flat`], into `acc`.
///
/// # Safety
/// The contract of [`flat`]; `acc` has space for one result.
unsafe fn flat_any(worker: Worker, from: *const u8, len: usize, acc: *mut u8) -> Result<()> {
    let grain = worker.grain();
    if len <= grain {
        // SAFETY: the caller guarantees `len` readable elements at `from`, and space for one result at `acc`.
        unsafe { fold_row(worker, from, 1, 0..len, acc) };
        return Ok(());
    }
    let pieces = len.div_ceil(grain);
    let mut partial = Partial::new(pieces, worker.size())?;
    let (from, to) = (Shared::new(from.cast_mut()), partial.start());
    parallel_chunks(pieces, 1, &|range| {
        for piece in range {
            let range = piece * grain..len.min((piece + 1) * grain);
            // SAFETY: the range is inside the `len` elements that the caller guarantees; each piece has its own space
            // for a result.
            unsafe { fold_row(worker, from.get(), 1, range, to.get().add(piece * worker.size())) };
        }
    })?;
    // SAFETY: the loop above has written the result of every piece.
    unsafe { merge_in_order(worker, to.get(), worker.size(), pieces, 1, acc) };
    worker.check()
}

/// Space for the results of pieces.
struct Partial(Vec<Slot>);

impl Partial {
    /// Space for `count` times `bytes`.
    fn new(count: usize, bytes: usize) -> Result<Partial> {
        Ok(Partial(with_capacity((count * bytes).div_ceil(size_of::<Slot>()))?))
    }

    fn start(&mut self) -> Shared<u8> {
        Shared::new(self.0.as_mut_ptr().cast())
    }
}

/// Merges `count` times `width` results, which begin `between` bytes apart, into `acc`.
///
/// # Safety
/// The results are at `from`, and `acc` has space for `width` results.
unsafe fn merge_in_order(worker: Worker, from: *const u8, between: usize, count: usize, width: usize, acc: *mut u8) {
    // SAFETY: the caller guarantees `count` groups of `width` results at `from`, `between` bytes apart.
    let push_all = |tree: &mut Tree| unsafe {
        (0..count).for_each(|nth| tree.push(from.add(nth * between)));
    };
    if width == 1 {
        let mut levels = slots::<DEEP>();
        let mut tree = Tree::deep(worker, &mut levels);
        push_all(&mut tree);
        // SAFETY: results were pushed, and the caller guarantees space for `width` results at `acc`.
        unsafe { tree.total(acc) };
    } else {
        let mut small = Small::uninit();
        let Some(mut levels) = Levels::new(worker, width, count, &mut small) else {
            // SAFETY: the tree holds results, and the caller guarantees space for `width` results at `acc`.
            return unsafe { worker.clear(acc, width) };
        };
        let mut tree = Tree::flat(worker, width, count, &mut levels);
        push_all(&mut tree);
        // SAFETY: results were pushed, and the caller guarantees space for `width` results at `acc`.
        unsafe { tree.total(acc) };
    }
}

/// [`reduce`], without types.
///
/// # Safety
/// The contract of [`reduce`].
unsafe fn reduce_any(worker: Worker, plan: &Reduction, from: *const u8, sink: Sink) -> Result<()> {
    match Wide::of(plan).filter(|_| worker.commutes()) {
        // SAFETY: the caller guarantees that all elements that the plan visits from `from` are readable.
        Some(wide) => unsafe { reduce_wide(worker, plan, wide, from, sink) },
        // SAFETY: the caller guarantees that all elements that the plan visits from `from` are readable.
        None => unsafe { reduce_planned(worker, plan, from, sink) },
    }?;
    worker.check()
}

/// [`reduce`] by lines or tiles.
///
/// # Safety
/// The contract of [`reduce`].
unsafe fn reduce_planned(worker: Worker, plan: &Reduction, from: *const u8, sink: Sink) -> Result<()> {
    let outputs = plan.kept.numel();
    if outputs == 0 {
        return Ok(());
    }
    let (count, grain) = (plan.count(), worker.grain());
    let job = Job { worker, plan, from: Shared::new(from.cast_mut()), traversal: traversal(plan) };
    let (units, width) = (job.units(), job.unit_width());
    let per_unit = count * width;
    if outputs.saturating_mul(count.max(1)) <= grain {
        run_whole(job, 0..units, sink);
        return Ok(());
    }
    if units >= 16 || per_unit <= grain {
        return parallel_chunks(units, (grain / per_unit.max(1)).max(1), &|range| run_whole(job, range, sink));
    }
    reduce_in_pieces(job, sink)
}

/// [`reduce`] of few outputs: each unit is cut into parts, whose results are merged in order.
#[inline(never)] // its frame is large
fn reduce_in_pieces(job: Job, sink: Sink) -> Result<()> {
    let Job { worker, plan, .. } = job;
    let (units, width, grain) = (job.units(), job.unit_width(), worker.grain());
    let wanted = match job.traversal {
        Traversal::Lines => grain,
        Traversal::Tiles => (grain / width).max(LEAF_ROWS),
    };
    let parts = Parts::new(&plan.reduced, wanted);
    let (pieces, bytes_per_part) = (parts.count(), width * worker.size());
    let mut partial = Partial::new(units * pieces, bytes_per_part)?;
    let to = partial.start();
    parallel_chunks(units * pieces, 1, &|range| run_pieces(job, &parts, range, to))?;
    let (_, [out_step, _]) = plan.kept.inner();
    let mut acc: Slots = slots();
    let acc = acc.as_mut_ptr().cast::<u8>();
    job.each_run(0..units, 1, |unit, out, _, width| {
        // SAFETY: the loop above has written the results of every piece.
        unsafe {
            merge_in_order(worker, to.get().add(unit * pieces * bytes_per_part), bytes_per_part, pieces, width, acc)
        };
        sink(out, out_step, acc, width);
    });
    Ok(())
}

/// A narrow gap-free matrix reduced over its rows, seen as one of `side` times the width and fewer rows.
struct Wide {
    width: usize,
    side: usize,
    rows: usize,
    /// Rows beyond the last multiple of `side`.
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
/// The contract of [`reduce`].
#[inline(never)] // its frame is large
unsafe fn reduce_wide(worker: Worker, plan: &Reduction, wide: Wide, from: *const u8, sink: Sink) -> Result<()> {
    let (width, columns) = (wide.width as i64, (wide.width * wide.side) as i64);
    let bytes = wide.width * wide.side * worker.size();
    let mut on_stack: Slots = slots();
    let held;
    let start = if 3 * bytes <= size_of::<Slots>() {
        on_stack.as_mut_ptr().cast::<u8>()
    } else {
        let Some(scratch) = worker.scratch(3 * bytes) else { return worker.check() };
        held = scratch;
        held.start()
    };
    let [results, left, totals] = [0, 1, 2].map(|nth| Shared::new(start.wrapping_add(nth * bytes)));
    let into = |to: Shared<u8>| {
        move |at: isize, _, acc: *const u8, count: usize| {
            // SAFETY: `at` is the offset of an output, for which `results` and `left` have space.
            unsafe { to.get().add(at as usize * worker.size()).copy_from_nonoverlapping(acc, count * worker.size()) };
        }
    };
    // SAFETY: the elements are a part of the plan's, which the caller guarantees.
    unsafe {
        let (sizes, strides) = ([wide.rows as i64, columns], [columns, 1]);
        if let Some(plan) = Reduction::new(&[1, columns], &strides, &sizes, &strides, Order::Memory) {
            reduce_planned(worker, &plan, from, &into(results))?;
        }
        worker.clear(left.get(), wide.width);
        let (sizes, strides) = ([wide.rest as i64, width], [width, 1]);
        if let Some(plan) = Reduction::new(&[1, width], &strides, &sizes, &strides, Order::Memory) {
            reduce_planned(worker, &plan, worker.element(from, wide.rows as isize * columns as isize), &into(left))?;
        }
        merge_in_order(worker, results.get(), wide.width * worker.size(), wide.side, wide.width, totals.get());
        worker.merge(totals.get(), left.get(), wide.width);
    }
    let (_, [out_step, _]) = plan.kept.inner();
    sink(0, out_step, totals.get(), wide.width);
    Ok(())
}

/// Lines where they run along memory, unless they are short and many.
fn traversal(plan: &Reduction) -> Traversal {
    let ((kept, [_, kept_step]), (reduced, [reduced_step])) = (plan.kept.inner(), plan.reduced.inner());
    let across = kept_step.abs() < reduced_step.abs() && kept >= 4;
    if kept > 1 && (across || (reduced < SHORT_LINE && kept >= SHORT_LINE)) {
        Traversal::Tiles
    } else {
        Traversal::Lines
    }
}
