//! Checked indices.

use crate::array::Array;
use crate::device::{Found, Indices as Lists, Traversal};
use crate::shared::Shared;
use rushlight_base::list::{filled, with_capacity};
use rushlight_base::plan::Plan;
use rushlight_base::report::Mistake;
use rushlight_base::{DType, DimVec, Result, bail, ensure, err};
use std::ops::Range;

/// Indices into a tensor, expanded over the elements of a traversal. All are in range: they were when they were
/// checked, and the loops check again, since another thread may write them meanwhile. Indices on a device are checked by
/// its kernels only, which report those that are not.
#[derive(Debug)]
pub struct Places<'a> {
    indices: Indices<'a>,
    /// Sizes of the traversal, at least one dimension.
    sizes: DimVec,
    /// Steps in `indices`.
    strides: DimVec,
    /// Indices are below.
    extent: usize,
    /// The dimensions of the traversal along which the index differs, and the step from one index to the next in the
    /// indexed tensor.
    along: Range<usize>,
    stride: isize,
    /// Steps of the indexed tensor along the other dimensions, 0 along those.
    slices: DimVec,
    reached: Geometry,
}

#[derive(Debug)]
enum Indices<'a> {
    There(Array<'a>),
    Made(Vec<i64>),
    OnDevice(Found<'a>),
}

/// A dimension that is indexed, and the indices, of int64, which are broadcast; negative ones count from the end.
pub struct Indexed<'a> {
    /// The dimension of the tensor.
    pub dim: usize,
    /// Into that dimension.
    pub index: Array<'a>,
}

/// Sizes and strides.
#[derive(Debug, PartialEq)]
struct Geometry {
    sizes: DimVec,
    strides: DimVec,
}

impl Geometry {
    fn of(array: &Array) -> Geometry {
        Geometry { sizes: DimVec::from_slice(array.sizes()), strides: DimVec::from_slice(array.strides()) }
    }
}

impl<'a> Places<'a> {
    /// An index into dimension `dim` of `reached` for each element of the traversal: `index`, of int64, which is
    /// traversed in its own shape.
    pub fn elements(index: Array<'a>, reached: &Array, dim: usize) -> Result<Places<'a>> {
        let extent = reached.size(dim);
        let (sizes, strides) = (one_at_least(index.sizes(), 1), one_at_least(index.strides(), 0));
        if !index.is_on_host() {
            let indices = into_dimension(index, &strides, reached, dim, Mistake::Index);
            return Places::into_dimension(indices, [sizes, strides], reached, dim);
        }
        if let Some(bad) = first_outside(&index, extent) {
            bail!(Index, "index {bad} is out of bounds for dimension {dim} with size {extent}");
        }
        Places::into_dimension(Indices::There(index), [sizes, strides], reached, dim)
    }

    /// A list of indices, of int32 or int64 and with at most one dimension: the slice of index `i` of the list of
    /// dimension `dim` of `reached` is slice `i` of a traversal over `sizes`.
    pub fn slices_of(
        operator: &str,
        index: Array<'a>,
        sizes: &[i64],
        reached: &Array,
        dim: usize,
    ) -> Result<Places<'a>> {
        let extent = reached.size(dim);
        let is_there = !index.is_on_host() && matches!(index.dtype(), DType::I32 | DType::I64);
        let (indices, step) = match index.dtype() {
            _ if is_there => (Indices::There(index.clone()), index.stride(0)),
            DType::I64 => (Indices::There(index.clone()), index.stride(0)),
            DType::I32 => (Indices::Made(widened(&index)?), 1),
            other => {
                bail!(Runtime, "{operator}(): Expected dtype int32 or int64 for index but got: {}", other.c10_name())
            }
        };
        let sizes = one_at_least(sizes, 1);
        let fits = sizes.get(dim).is_some_and(|&size| size as usize == index.numel());
        ensure!(fits, Internal, "{operator} got {} indices for dimension {dim} of {sizes:?}", index.numel());
        let mut strides = DimVec::from_elem(0, sizes.len());
        strides[dim] = step as i64;
        let indices = if is_there { into_dimension(index, &strides, reached, dim, Mistake::Slice) } else { indices };
        let bad = match &indices {
            Indices::There(index) => first_outside(index, extent),
            Indices::Made(list) => list.iter().copied().find(|index| !is_inside(*index, extent)),
            Indices::OnDevice(_) => None,
        };
        if let Some(bad) = bad {
            bail!(
                Index,
                "index out of range in self\n{operator}(): index {bad} is out of bounds for dimension {dim} with size {extent}"
            );
        }
        Places::into_dimension(indices, [sizes, strides], reached, dim)
    }

    /// Positions from indices into dimension `dim` of `reached`, which has the dimensions of the traversal.
    fn into_dimension(
        indices: Indices<'a>,
        [sizes, strides]: [DimVec; 2],
        reached: &Array,
        dim: usize,
    ) -> Result<Places<'a>> {
        let fits = has_rank(reached, sizes.len()) && dim < sizes.len();
        ensure!(fits, Internal, "an index kernel got {:?} for a walk over {sizes:?}", reached.sizes());
        let mut slices = one_at_least(reached.strides(), 0);
        slices[dim] = 0;
        let (extent, stride) = (reached.size(dim), reached.stride(dim));
        let reached = Geometry::of(reached);
        Ok(Places { indices, sizes, strides, extent, along: dim..dim + 1, stride, slices, reached })
    }

    /// Indices of the shape `shape` into several dimensions of `reached` at once. The traversal covers the dimensions
    /// that are not indexed, and those of `shape` before the one with index `at` among them.
    pub fn together(indexed: &[Indexed<'a>], shape: &[i64], at: usize, reached: &Array) -> Result<Places<'a>> {
        let is_free = |dim: &usize| indexed.iter().all(|indexed| indexed.dim != *dim);
        let free: DimVec = (0..reached.ndim()).filter(is_free).map(|dim| dim as i64).collect();
        let fits = at <= free.len() && indexed.iter().all(|indexed| indexed.dim < reached.ndim());
        ensure!(fits, Internal, "an index kernel received dimensions out of range for {:?}", reached.sizes());
        let spread = |of_free: &dyn Fn(usize) -> i64, of_shape: &[i64]| -> DimVec {
            let of_free: DimVec = free.iter().map(|&dim| of_free(dim as usize)).collect();
            of_free[..at].iter().chain(of_shape).chain(&of_free[at..]).copied().collect()
        };
        let (rows, still) = (row_major(shape), DimVec::from_elem(0, shape.len()));
        let sizes = spread(&|dim| reached.sizes()[dim], shape);
        let (strides, slices) = (spread(&|_| 0, &rows), spread(&|dim| reached.strides()[dim], &still));
        let (layout, along) = ([sizes, strides, slices], at..at + shape.len());
        if indexed.iter().any(|indexed| !indexed.index.is_on_host()) {
            let lists = indexed.iter().map(|Indexed { dim, index }| {
                let strides = one_at_least(&spread(&|_| 0, &index.broadcast_strides(shape)?), 0);
                let (size, stride) = (reached.size(*dim), reached.stride(*dim));
                Ok(Lists { index: index.clone(), strides, size, dim: *dim, stride })
            });
            let indices = lists.collect::<Result<Vec<_>>>()?;
            let found = Found { indices, mistake: Mistake::Index, wraps: true, flat: None, distinct: false };
            let places = Places::of_offsets(Vec::new(), layout, along, reached);
            return Ok(Places { indices: Indices::OnDevice(found), ..places });
        }
        let mut offsets = filled(shape.iter().product::<i64>() as usize, 0)?;
        for Indexed { dim, index } in indexed {
            let (size, strides) = (reached.size(*dim) as i64, index.broadcast_strides(shape)?);
            match add_offsets(&mut offsets, index, [shape, &strides], [size, reached.stride(*dim) as i64]) {
                Some(_) if size == 0 => bail!(Index, "index is out of bounds for dimension with size 0"),
                Some(bad) => bail!(Index, "index {bad} is out of bounds for dimension {dim} with size {size}"),
                None => {}
            }
        }
        Ok(Places::of_offsets(offsets, layout, along, reached))
    }

    /// The positions of the elements of `reached` with these numbers in row-major order, of which none is there twice.
    pub(crate) fn distinct(index: Array<'a>, reached: &Array) -> Result<Places<'a>> {
        let mut places = Places::linear(&index, reached)?;
        if let Indices::OnDevice(found) = &mut places.indices {
            found.distinct = true;
        }
        Ok(places)
    }

    /// Lets negative indices on a device count from the end. On the CPU the caller has replaced them.
    pub fn wrapping(mut self) -> Places<'a> {
        if let Indices::OnDevice(found) = &mut self.indices {
            found.wraps = true;
        }
        self
    }

    /// Lets a device report an index that is out of range as one of a row of a table, which may not be negative.
    pub fn of_rows(mut self) -> Places<'a> {
        if let Indices::OnDevice(found) = &mut self.indices {
            (found.wraps, found.mistake) = (false, Mistake::Row);
        }
        self
    }

    /// Indices into the elements of `reached` in row-major order; negative ones count from the end.
    pub fn linear(index: &Array<'a>, reached: &Array) -> Result<Places<'a>> {
        if !index.is_on_host() {
            let flat = [DimVec::from_slice(reached.sizes()), DimVec::from_slice(reached.strides())];
            let (size, strides) = (reached.numel(), DimVec::from_slice(index.strides()));
            let list = Lists { index: index.clone(), strides: one_at_least(&strides, 0), size, dim: 0, stride: 1 };
            let flat = if reached.is_contiguous() { None } else { Some(flat) };
            let found = Found { indices: vec![list], mistake: Mistake::Element, wraps: true, flat, distinct: false };
            let still = DimVec::from_elem(0, index.ndim());
            let layout = [DimVec::from_slice(index.sizes()), still.clone(), still];
            let places = Places::of_offsets(Vec::new(), layout, 0..index.ndim(), reached);
            return Ok(Places { indices: Indices::OnDevice(found), ..places });
        }
        let (numel, sizes) = (reached.numel() as i64, index.sizes());
        let mut offsets = filled(index.numel(), 0)?;
        let bad = add_offsets(&mut offsets, index, [sizes, index.strides()], [numel, 1]);
        if let Some(bad) = bad {
            bail!(Index, "out of range: tried to access index {bad} on a tensor of {numel} elements.");
        }
        if !reached.is_contiguous() {
            offsets.iter_mut().for_each(|offset| *offset = offset_of(*offset, reached));
        }
        let layout = [DimVec::from_slice(sizes), row_major(sizes), DimVec::from_elem(0, index.ndim())];
        Ok(Places::of_offsets(offsets, layout, 0..index.ndim(), reached))
    }

    /// Positions from offsets inside `reached`, with the sizes of the traversal, steps in the offsets, and steps of
    /// slices.
    fn of_offsets(offsets: Vec<i64>, layout: [DimVec; 3], along: Range<usize>, reached: &Array) -> Places<'a> {
        let along = if layout[0].is_empty() { 0..1 } else { along };
        let [sizes, strides, slices] = layout;
        let last = |dim: usize| (reached.size(dim).saturating_sub(1)) * reached.stride(dim).unsigned_abs();
        Places {
            extent: if offsets.is_empty() { 0 } else { (0..reached.ndim()).map(last).sum::<usize>() + 1 },
            indices: Indices::Made(offsets),
            sizes: one_at_least(&sizes, 1),
            strides: one_at_least(&strides, 0),
            along,
            stride: 1,
            slices: one_at_least(&slices, 0),
            reached: Geometry::of(reached),
        }
    }

    /// Positions are valid for the tensor they were computed for.
    pub(super) fn check_reached(&self, array: &Array) -> Result<()> {
        ensure!(self.reached == Geometry::of(array), Internal, "an index kernel got indices into another shape");
        Ok(())
    }

    /// The indices, if they are on a device.
    pub(super) fn on_device(&self) -> Option<&Found<'a>> {
        if let Indices::OnDevice(found) = &self.indices { Some(found) } else { None }
    }

    pub(super) fn traversal(&self) -> Traversal<'_> {
        Traversal { sizes: &self.sizes, slices: &self.slices, along: self.along.clone() }
    }

    pub(super) fn sizes(&self) -> &[i64] {
        &self.sizes
    }

    pub(super) fn strides(&self) -> &[i64] {
        &self.strides
    }

    pub(super) fn slices(&self) -> &[i64] {
        &self.slices
    }

    pub(super) fn along(&self) -> Range<usize> {
        self.along.clone()
    }

    /// From an index to an offset in the indexed tensor; none if the index is not (or no longer) in range.
    pub(super) fn reach(&self) -> Reach {
        Reach { extent: self.extent, stride: self.stride }
    }

    pub(super) fn start(&self) -> Shared<i64> {
        Shared::new(match &self.indices {
            Indices::There(array) => array.as_ptr::<i64>(),
            Indices::Made(list) => list.as_ptr().cast_mut(),
            Indices::OnDevice(found) => found.first(),
        })
    }

    /// The strides of an operand of the traversal; a 0-dim one has a single element.
    pub(super) fn strides_of(&self, operand: &Array) -> Result<DimVec> {
        ensure!(
            has_rank(operand, self.sizes.len()),
            Internal,
            "an index kernel got {:?} for a walk over {:?}",
            operand.sizes(),
            self.sizes
        );
        Ok(one_at_least(operand.strides(), 0))
    }
}

/// Indices on a device into dimension `dim` of `reached`, none of them negative.
fn into_dimension<'a>(
    index: Array<'a>,
    strides: &DimVec,
    reached: &Array,
    dim: usize,
    mistake: Mistake,
) -> Indices<'a> {
    let (size, stride) = (reached.size(dim), reached.stride(dim));
    let list = Lists { index, strides: strides.clone(), size, dim, stride };
    Indices::OnDevice(Found { indices: vec![list], mistake, wraps: false, flat: None, distinct: false })
}

/// The position that an index refers to.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    extent: usize,
    stride: isize,
}

impl Reach {
    #[inline(always)]
    pub fn offset(self, index: i64) -> Option<isize> {
        is_inside(index, self.extent).then_some(index as isize * self.stride)
    }
}

/// The offset of an element that is counted in row-major order.
fn offset_of(mut nth: i64, array: &Array) -> i64 {
    let mut offset = 0;
    for (size, stride) in array.sizes().iter().zip(array.strides()).rev() {
        offset += nth % size * stride;
        nth /= size;
    }
    offset
}

/// Adds `stride` times the index to each offset of a list, in row-major order of `index` under these sizes and strides;
/// negative indices count from the end of `size`. Returns the first one that is out of range, if there is one.
fn add_offsets(
    offsets: &mut [i64],
    index: &Array,
    [sizes, strides]: [&[i64]; 2],
    [size, stride]: [i64; 2],
) -> Option<i64> {
    let (at, mut bad, mut done) = (index.as_ptr::<i64>(), None, 0);
    let plan = Plan::row_major(sizes, [strides]);
    let (len, [step]) = plan.inner();
    plan.rows(&mut |[offset]| {
        // SAFETY: the plan stays within the sizes of the array, whose elements `Array::new` guarantees.
        let get = |i: usize, step: isize| unsafe { at.offset(offset + i as isize * step).read() };
        let add = |row: &mut [i64], step: isize| {
            row.iter_mut().enumerate().fold(0, |beyond, (i, to)| {
                let index = get(i, step);
                let index = index + (index >> 63 & size);
                *to = to.wrapping_add(index.wrapping_mul(stride));
                beyond | outside(index, size)
            })
        };
        // The compiler vectorizes the loop with a step that it knows.
        let row = &mut offsets[done..done + len];
        let beyond = if step == 1 { add(row, 1) } else { add(row, step) };
        if beyond < 0 && bad.is_none() {
            bad = (0..len).map(|i| get(i, step)).find(|index| !(-size..size).contains(index));
        }
        done += len;
    });
    bad
}

/// Whether `array` has this many dimensions. A 0-dim one may stand for one of size 1.
fn has_rank(array: &Array, rank: usize) -> bool {
    array.ndim() == rank || array.ndim() == 0 && rank == 1
}

/// Strides without gaps.
fn row_major(sizes: &[i64]) -> DimVec {
    let mut strides = DimVec::from_elem(1, sizes.len());
    for dim in (1..sizes.len()).rev() {
        strides[dim - 1] = strides[dim] * sizes[dim];
    }
    strides
}

fn one_at_least(list: &[i64], value: i64) -> DimVec {
    if list.is_empty() { DimVec::from_elem(value, 1) } else { DimVec::from_slice(list) }
}

#[inline(always)]
fn is_inside(index: i64, extent: usize) -> bool {
    // Negative numbers are too large as unsigned ones.
    (index as u64) < extent as u64
}

/// Raises an error if an index is negative or not below `extent`, as `embedding` does.
/// Those on a device are checked by the kernel that reads them ([`Places::of_rows`]).
pub fn check_inside(index: &Array, extent: usize) -> Result<()> {
    if !index.is_on_host() {
        return Ok(());
    }
    match first_outside(index, extent) {
        Some(bad) => Err(err!(Index, "index out of range in self: index {bad} for {extent} rows")),
        None => Ok(()),
    }
}

/// The first index in row-major order that is out of range.
fn first_outside(index: &Array, extent: usize) -> Option<i64> {
    let at = index.as_ptr::<i64>();
    // Elements that a broadcast index repeats are checked once.
    let sizes: DimVec = index
        .sizes()
        .iter()
        .zip(index.strides())
        .map(|(&size, &stride)| if stride == 0 { size.min(1) } else { size })
        .collect();
    let plan = Plan::row_major(&sizes, [index.strides()]);
    let (len, [step]) = plan.inner();
    let mut found = None;
    plan.rows(&mut |[offset]| {
        // SAFETY: the plan stays within the sizes of the array, whose elements `Array::new` guarantees, and `i` is
        // below the row's length.
        let get = |i: usize, step: isize| unsafe { at.offset(offset + i as isize * step).read() };
        let outside = |step: isize| (0..len).fold(0, |bits, i| bits | outside(get(i, step), extent as i64));
        // Usually all indices are valid. The compiler vectorizes the loop with a step that it knows.
        if found.is_none() && (if step == 1 { outside(1) } else { outside(step) }) < 0 {
            found = (0..len).map(|i| get(i, step)).find(|index| !is_inside(*index, extent));
        }
    });
    found
}

/// A number that is negative if the index is not between 0 and `extent`; by arithmetic alone, without comparisons of 64-bit
/// integers, of which the smallest instruction set has none.
#[inline(always)]
fn outside(index: i64, extent: i64) -> i64 {
    index | (extent - 1).wrapping_sub(index)
}

fn widened(index: &Array) -> Result<Vec<i64>> {
    let (at, step) = (index.as_ptr::<i32>(), index.stride(0));
    let mut list = with_capacity(index.numel())?;
    // SAFETY: `i` is below the number of elements, all of which `Array::new` guarantees.
    list.extend((0..index.numel()).map(|i| i64::from(unsafe { at.offset(i as isize * step).read() })));
    Ok(list)
}
