//! Composite operators: joining, splitting, repeating and reordering.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, MemoryFormat, Result, Scalar, bail, ensure, err, format_sizes, list, wrap_dim};

/// `cat` of temporary tensors.
fn joined(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
    let tensors: Vec<&Tensor> = tensors.iter().collect();
    ops::cat(&tensors, dim)
}

/// `joined`, written to `out`.
fn joined_into(tensors: &[Tensor], dim: i64, out: &Tensor) -> Result<()> {
    let tensors: Vec<&Tensor> = tensors.iter().collect();
    ops::cat_out(&tensors, dim, out)
}

fn all(tensors: &[&Tensor], each: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Vec<Tensor>> {
    tensors.iter().map(|tensor| each(tensor)).collect()
}

/// The tensor with at least one dimension.
pub fn atleast_1d(self_: &Tensor) -> Result<Tensor> {
    if self_.ndim() == 0 { ops::reshape(self_, &[1]) } else { Ok(self_.clone()) }
}

/// The tensor with at least two dimensions: a vector becomes a row.
pub fn atleast_2d(self_: &Tensor) -> Result<Tensor> {
    match self_.ndim() {
        0 => ops::reshape(self_, &[1, 1]),
        1 => ops::unsqueeze(self_, 0),
        _ => Ok(self_.clone()),
    }
}

/// The tensor with at least three dimensions: the last one is new.
pub fn atleast_3d(self_: &Tensor) -> Result<Tensor> {
    match self_.ndim() {
        0 => ops::reshape(self_, &[1, 1, 1]),
        1 => ops::unsqueeze(&ops::unsqueeze(self_, 0)?, -1),
        2 => ops::unsqueeze(self_, -1),
        _ => Ok(self_.clone()),
    }
}

/// The tensors with at least one dimension.
pub fn atleast_1d_all(tensors: &[&Tensor]) -> Result<Vec<Tensor>> {
    all(tensors, atleast_1d)
}

/// The tensors with at least two dimensions.
pub fn atleast_2d_all(tensors: &[&Tensor]) -> Result<Vec<Tensor>> {
    all(tensors, atleast_2d)
}

/// The tensors with at least three dimensions.
pub fn atleast_3d_all(tensors: &[&Tensor]) -> Result<Vec<Tensor>> {
    all(tensors, atleast_3d)
}

/// What `hstack` concatenates, and the dimension.
fn side_by_side(tensors: &[&Tensor]) -> Result<(Vec<Tensor>, i64)> {
    ensure!(!tensors.is_empty(), Runtime, "hstack expects a non-empty TensorList");
    let tensors = all(tensors, atleast_1d)?;
    let dim = i64::from(tensors[0].ndim() > 1);
    Ok((tensors, dim))
}

/// Concatenates along the second dimension; vectors along their only one.
pub fn hstack(tensors: &[&Tensor]) -> Result<Tensor> {
    let (tensors, dim) = side_by_side(tensors)?;
    joined(&tensors, dim)
}

/// Like `hstack`, written to `out`.
pub fn hstack_out(tensors: &[&Tensor], out: &Tensor) -> Result<()> {
    let (tensors, dim) = side_by_side(tensors)?;
    joined_into(&tensors, dim, out)
}

/// Concatenates along the first dimension.
pub fn vstack(tensors: &[&Tensor]) -> Result<Tensor> {
    ensure!(!tensors.is_empty(), Runtime, "vstack expects a non-empty TensorList");
    joined(&all(tensors, atleast_2d)?, 0)
}

/// Like `vstack`, written to `out`.
pub fn vstack_out(tensors: &[&Tensor], out: &Tensor) -> Result<()> {
    ensure!(!tensors.is_empty(), Runtime, "vstack expects a non-empty TensorList");
    joined_into(&all(tensors, atleast_2d)?, 0, out)
}

/// Concatenates along the third dimension.
pub fn dstack(tensors: &[&Tensor]) -> Result<Tensor> {
    ensure!(!tensors.is_empty(), Runtime, "dstack expects a non-empty TensorList");
    joined(&all(tensors, atleast_3d)?, 2)
}

/// Like `dstack`, written to `out`.
pub fn dstack_out(tensors: &[&Tensor], out: &Tensor) -> Result<()> {
    ensure!(!tensors.is_empty(), Runtime, "dstack expects a non-empty TensorList");
    joined_into(&all(tensors, atleast_3d)?, 2, out)
}

/// The tensors with vectors and numbers as columns.
fn columns(tensors: &[&Tensor]) -> Result<Vec<Tensor>> {
    ensure!(!tensors.is_empty(), Runtime, "column_stack expects a non-empty TensorList");
    all(tensors, |tensor| match tensor.ndim() {
        0 | 1 => ops::reshape(tensor, &[tensor.numel(), 1]),
        _ => Ok(tensor.clone()),
    })
}

/// Concatenates along the second dimension; vectors are columns.
pub fn column_stack(tensors: &[&Tensor]) -> Result<Tensor> {
    joined(&columns(tensors)?, 1)
}

/// Like `column_stack`, written to `out`.
pub fn column_stack_out(tensors: &[&Tensor], out: &Tensor) -> Result<()> {
    joined_into(&columns(tensors)?, 1, out)
}

/// At most this many parts of equal size.
pub fn chunk(self_: &Tensor, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
    ensure!(self_.ndim() > 0, Runtime, "chunk expects at least a 1-dimensional tensor");
    ensure!(chunks > 0, Runtime, "chunk expects `chunks` to be greater than 0, got: {chunks}");
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    let part = size / chunks + i64::from(size % chunks != 0);
    if part == 0 {
        super::view::check_room_for_views(chunks)?;
        // An empty dimension is split into as many parts as requested.
        return ops::split_with_sizes(self_, &list::filled(chunks as usize, 0)?, dim);
    }
    ops::split_tensor(self_, part, dim)
}

/// Chunks of the same index of every tensor, concatenated and zero-padded to one size.
pub fn chunk_cat(tensors: &[&Tensor], dim: i64, num_chunks: i64) -> Result<Tensor> {
    let Some(first) = tensors.first() else { bail!(Runtime, "_chunk_cat expects a non-empty input tensor list") };
    ensure!(num_chunks >= 1, Runtime, "_chunk_cat expects positive num_chunks");
    let dim = wrap_dim(dim, first.ndim())?;
    let leading = DimVec::from_slice(&first.sizes()[..dim.min(first.ndim())]);
    let parts = all(tensors, |tensor| {
        let sizes = tensor.sizes();
        ensure!(sizes.len() > dim, Runtime, "_chunk_cat expects all input tensors to have ndim > dim");
        ensure!(
            sizes[..dim] == *leading && tensor.dtype() == first.dtype(),
            Runtime,
            "_chunk_cat expects same sizes of 0,...,dim-1 dimensions and the same dtype for all tensors, but got {} {} \
             beside {} {}",
            format_sizes(&sizes),
            tensor.dtype(),
            format_sizes(&first.sizes()),
            first.dtype()
        );
        let missing = (num_chunks - sizes[dim] % num_chunks) % num_chunks;
        let mut pad = vec![0; 2 * (sizes.len() - dim)];
        if let Some(last) = pad.last_mut() {
            *last = missing;
        }
        let padded = ops::constant_pad_nd(tensor, &pad, Scalar::Int(0))?;
        let length = padded.numel().checked_div(leading.iter().product::<i64>() * num_chunks).unwrap_or(0);
        let shape: DimVec = leading.iter().copied().chain([num_chunks, length]).collect();
        ops::reshape(&padded, &shape)
    })?;
    joined(&parts, dim as i64 + 1)
}

/// The parts between `bounds`, and those before and after.
fn parts(self_: &Tensor, bounds: impl Iterator<Item = i64>, dim: i64) -> Result<Vec<Tensor>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for bound in bounds {
        parts.push(ops::slice_tensor(self_, dim, Some(start), Some(bound), 1)?);
        start = bound;
    }
    parts.push(ops::slice_tensor(self_, dim, Some(start), None, 1)?);
    Ok(parts)
}

/// Exactly this many parts, the first ones longer by one if they cannot be equal.
pub fn tensor_split_sections(self_: &Tensor, sections: i64, dim: i64) -> Result<Vec<Tensor>> {
    ensure!(
        self_.ndim() > 0,
        Runtime,
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
    );
    ensure!(sections > 0, Runtime, "number of sections must be larger than 0, got {sections}");
    super::view::check_room_for_views(sections)?;
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    let (length, longer) = (size / sections, size % sections);
    parts(self_, (1..sections).map(|at| at * length + at.min(longer)), dim)
}

/// Parts between the given indices.
pub fn tensor_split_indices(self_: &Tensor, indices: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    ensure!(
        self_.ndim() > 0,
        Runtime,
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
    );
    parts(self_, indices.iter().copied(), dim)
}

/// Like `tensor_split_sections`, with a number, or as `tensor_split_indices`, with a list.
pub fn tensor_split_tensor(self_: &Tensor, tensor: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
    ensure!(
        tensor.dtype() == DType::I64,
        Runtime,
        "tensor_split expected tensor_indices_or_sections to have dtype of long, but got {}",
        tensor.dtype().c10_name()
    );
    match tensor.ndim() {
        0 => tensor_split_sections(self_, tensor.item()?.to_i64(), dim),
        1 => tensor_split_indices(self_, &tensor.to_vec::<i64>()?, dim),
        ndim => bail!(
            Runtime,
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but \
             got a tensor with {ndim} dims"
        ),
    }
}

/// The dimension that hsplit, vsplit and dsplit split, and the required number of dimensions.
struct Split {
    name: &'static str,
    dim: i64,
    least: usize,
}

const HSPLIT: Split = Split { name: "hsplit", dim: 1, least: 1 };
const VSPLIT: Split = Split { name: "vsplit", dim: 0, least: 2 };
const DSPLIT: Split = Split { name: "dsplit", dim: 2, least: 3 };

impl Split {
    /// The dimension; for a vector its only one.
    fn dimension(&self, tensor: &Tensor) -> Result<i64> {
        ensure!(
            tensor.ndim() >= self.least,
            Runtime,
            "torch.{} requires a tensor with at least {} dimension{}, but got a tensor with {} dimensions!",
            self.name,
            self.least,
            if self.least == 1 { "" } else { "s" },
            tensor.ndim()
        );
        Ok(self.dim.min(tensor.ndim() as i64 - 1))
    }

    fn evenly(&self, tensor: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
        let dim = self.dimension(tensor)?;
        let size = tensor.sizes()[dim as usize];
        ensure!(
            sections > 0 && size % sections == 0,
            Runtime,
            "torch.{} attempted to split along dimension {dim}, but the size of the dimension {size} is not divisible by the \
             split_size {sections}!",
            self.name
        );
        tensor_split_sections(tensor, sections, dim)
    }

    fn at(&self, tensor: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
        tensor_split_indices(tensor, indices, self.dimension(tensor)?)
    }
}

/// The second dimension in equal parts.
pub fn hsplit_int(self_: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
    HSPLIT.evenly(self_, sections)
}

/// The second dimension at the given indices.
pub fn hsplit_array(self_: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
    HSPLIT.at(self_, indices)
}

/// The first dimension in equal parts.
pub fn vsplit_int(self_: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
    VSPLIT.evenly(self_, sections)
}

/// The first dimension at the given indices.
pub fn vsplit_array(self_: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
    VSPLIT.at(self_, indices)
}

/// The third dimension in equal parts.
pub fn dsplit_int(self_: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
    DSPLIT.evenly(self_, sections)
}

/// The third dimension at the given indices.
pub fn dsplit_array(self_: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
    DSPLIT.at(self_, indices)
}

/// The tensor repeated along its dimensions, with new ones in front.
pub fn repeat(self_: &Tensor, repeats: &[i64]) -> Result<Tensor> {
    ensure!(
        repeats.len() >= self_.ndim(),
        Runtime,
        "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
    );
    let own = self_.sizes();
    let new = repeats.len() - own.len();
    // No elements may be repeated any number of times.
    let repeated = |at: usize| if at < new { repeats[at] } else { repeats[at].saturating_mul(own[at - new]) };
    let sizes: DimVec = (0..repeats.len()).map(repeated).collect();
    if let Some(size) = sizes.iter().find(|&&size| size < 0) {
        bail!(Runtime, "Trying to create tensor with negative dimension {size}: {}", format_sizes(&sizes));
    }
    let repeats = &repeats.iter().map(|&count| count.max(0)).collect::<DimVec>();
    let extent = |dim: usize| if dim < new { 1 } else { own[dim - new] };
    let merged = (repeats.iter().enumerate())
        .map(|(dim, &count)| extent(dim).checked_mul(count))
        .collect::<Option<DimVec>>()
        .ok_or_else(|| err!(Runtime, "repeat: {} times {} is too large", format_sizes(&own), format_sizes(repeats)))?;
    // Each dimension is preceded by an expanded one: copying the elements merges the two.
    let (mut split, mut spread) = (DimVec::new(), DimVec::new());
    for (dim, &count) in repeats.iter().enumerate() {
        let size = extent(dim);
        split.extend_from_slice(&[1, size]);
        spread.extend_from_slice(&[count, size]);
    }
    let spread = ops::expand(&ops::reshape(self_, &split)?, &spread, false)?;
    // A reshape without a copy would return a view.
    ops::reshape(&ops::clone(&spread, Some(MemoryFormat::Contiguous))?, &merged)
}

/// Like `repeat`, for the last dimensions.
pub fn tile(self_: &Tensor, dims: &[i64]) -> Result<Tensor> {
    let missing = self_.ndim().saturating_sub(dims.len());
    let repeats: DimVec = std::iter::repeat_n(1, missing).chain(dims.iter().copied()).collect();
    repeat(self_, &repeats)
}

/// A larger shape, without copying.
pub fn broadcast_to(self_: &Tensor, size: &[i64]) -> Result<Tensor> {
    ops::expand(self_, size, false)
}

/// The tensors broadcast to their common shape.
pub fn broadcast_tensors(tensors: &[&Tensor]) -> Result<Vec<Tensor>> {
    let mut shape = DimVec::new();
    for tensor in tensors {
        shape = ops::rules::broadcast_sizes(&shape, &tensor.sizes())?;
    }
    all(tensors, |tensor| ops::expand(tensor, &shape, false))
}

/// Expands vectors to a grid.
pub fn meshgrid(tensors: &[&Tensor]) -> Result<Vec<Tensor>> {
    ensure!(!tensors.is_empty(), Runtime, "meshgrid expects a non-empty TensorList");
    for tensor in tensors {
        ensure!(
            tensor.ndim() <= 1,
            Runtime,
            "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got a tensor of sizes {}",
            format_sizes(&tensor.sizes())
        );
        ensure!(
            tensor.dtype() == tensors[0].dtype(),
            Runtime,
            "torch.meshgrid expects all tensors to have the same dtype"
        );
    }
    let shape: DimVec = tensors.iter().map(|tensor| tensor.numel()).collect();
    let spread = |(at, tensor): (usize, &&Tensor)| {
        let mut sizes = DimVec::from_elem(1, shape.len());
        sizes[at] = shape[at];
        ops::expand(&ops::reshape(tensor, &sizes)?, &shape, false)
    };
    tensors.iter().enumerate().map(spread).collect()
}

/// Like `meshgrid`, the first two dimensions exchanged for "xy".
pub fn meshgrid_indexing(tensors: &[&Tensor], indexing: &str) -> Result<Vec<Tensor>> {
    ensure!(
        matches!(indexing, "ij" | "xy"),
        Runtime,
        "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {indexing}"
    );
    if indexing == "ij" || tensors.len() < 2 {
        return meshgrid(tensors);
    }
    let mut swapped = tensors.to_vec();
    swapped.swap(0, 1);
    let mut grids = meshgrid(&swapped)?;
    grids.swap(0, 1);
    Ok(grids)
}

/// All combinations of elements, a row each.
pub fn cartesian_prod(tensors: &[&Tensor]) -> Result<Tensor> {
    for tensor in tensors {
        ensure!(tensor.ndim() == 1, Runtime, "Expect a 1D vector, but got shape {}", format_sizes(&tensor.sizes()));
    }
    if let [only] = tensors {
        return Ok((*only).clone());
    }
    let grids = meshgrid(tensors)?;
    let columns: Result<Vec<Tensor>> = grids.iter().map(|grid| ops::reshape(grid, &[-1])).collect();
    let columns = columns?;
    let columns: Vec<&Tensor> = columns.iter().collect();
    ops::stack(&columns, 1)
}

/// Matrices as blocks on a diagonal.
pub fn block_diag(tensors: &[&Tensor]) -> Result<Tensor> {
    ensure!(!tensors.is_empty(), Runtime, "torch.block_diag: Input tensor list is empty");
    for (at, tensor) in tensors.iter().enumerate() {
        ensure!(
            tensor.ndim() <= 2,
            Runtime,
            "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {at} has {} dimensions",
            tensor.ndim()
        );
    }
    // The result dtype follows from the tensors as given: a 0-dim one does not promote others of its category.
    let dense: Vec<_> = tensors.iter().map(|tensor| tensor.dense()).collect::<Result<_>>()?;
    let dtype = ops::rules::common_dtype(&dense.iter().map(|dense| &**dense).collect::<Vec<_>>())?;
    let blocks = all(tensors, |tensor| ops::to_dtype(&atleast_2d(tensor)?, dtype, false, false, None))?;
    let columns: i64 = blocks.iter().map(|block| block.sizes()[1]).sum();
    let mut before = 0;
    let rows: Result<Vec<Tensor>> = blocks
        .iter()
        .map(|block| {
            let width = block.sizes()[1];
            let row = ops::constant_pad_nd(block, &[before, columns - before - width], Scalar::Int(0));
            before += width;
            row
        })
        .collect();
    joined(&rows?, 0)
}

/// Reverses the second dimension.
pub fn fliplr(self_: &Tensor) -> Result<Tensor> {
    ensure!(self_.ndim() >= 2, Runtime, "Input must be >= 2-d.");
    ops::flip(self_, &[1])
}

/// Reverses the first dimension.
pub fn flipud(self_: &Tensor) -> Result<Tensor> {
    ensure!(self_.ndim() >= 1, Runtime, "Input must be >= 1-d.");
    ops::flip(self_, &[0])
}

/// Shifts dimensions cyclically; without dimensions, all elements as a vector.
pub fn roll(self_: &Tensor, shifts: &[i64], dims: &[i64]) -> Result<Tensor> {
    ensure!(!shifts.is_empty(), Runtime, "`shifts` required");
    if dims.is_empty() && shifts.len() == 1 {
        let flat = ops::reshape(self_, &[-1])?;
        return ops::reshape(&roll(&flat, shifts, &[0])?, &self_.sizes());
    }
    ensure!(
        shifts.len() == dims.len(),
        Runtime,
        "shifts and dimensions must align. shifts: {}, dims:{}",
        shifts.len(),
        dims.len()
    );
    // Dimensions of a tensor without elements are not checked.
    if self_.numel() == 0 || dims.is_empty() {
        return ops::clone(self_, None);
    }
    ensure!(self_.ndim() > 0, Index, "Dimension specified as {} but tensor has no dimensions", dims[0]);
    let first = rolled(self_, shifts[0], dims[0])?;
    shifts.iter().zip(dims).skip(1).try_fold(first, |result, (&shift, &dim)| rolled(&result, shift, dim))
}

fn rolled(self_: &Tensor, shift: i64, dim: i64) -> Result<Tensor> {
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    let start = size - shift.rem_euclid(size);
    let (head, tail) = (ops::narrow(self_, dim, 0, start)?, ops::narrow(self_, dim, start, size - start)?);
    ops::cat(&[&tail, &head], dim)
}

/// Rotates a plane by 90 degrees.
pub fn rot90(self_: &Tensor, k: i64, dims: &[i64]) -> Result<Tensor> {
    let &[first, second] = dims else {
        bail!(Runtime, "expected total rotation dims == 2, but got dims = {}", dims.len());
    };
    ensure!(self_.ndim() >= 2, Runtime, "expected total dims >= 2, but got total dims = {}", self_.ndim());
    let (from, to) = (wrap_dim(first, self_.ndim())?, wrap_dim(second, self_.ndim())?);
    ensure!(from != to, Runtime, "expected rotation dims to be different, but got dim0 = {first} and dim1 = {second}");
    match k.rem_euclid(4) {
        1 => ops::transpose_int(&ops::flip(self_, &[second])?, first, second),
        2 => ops::flip(self_, dims),
        3 => ops::transpose_int(&ops::flip(self_, &[first])?, first, second),
        _ => ops::clone(self_, Some(MemoryFormat::Contiguous)),
    }
}

/// Stacked sequences, padded to the length of the longest.
pub fn pad_sequence(
    sequences: &[&Tensor],
    batch_first: bool,
    padding_value: f64,
    padding_side: &str,
) -> Result<Tensor> {
    ensure!(!sequences.is_empty(), Runtime, "received an empty list of sequences");
    ensure!(
        matches!(padding_side, "left" | "right"),
        Runtime,
        "Expected padding_side to be one of left or right, but got {padding_side}."
    );
    for (nth, sequence) in sequences.iter().enumerate() {
        ensure!(
            sequence.ndim() > 0,
            Runtime,
            "pad_sequence: expected sequences of 1 dimension or more, got a {} without any at position {nth}",
            sequence.dtype()
        );
    }
    let longest = sequences.iter().map(|sequence| sequence.sizes()[0]).max().unwrap_or(0);
    let (count, mut sizes) = (sequences.len() as i64, sequences[0].sizes());
    sizes[0] = if batch_first { longest } else { count };
    sizes.insert(0, if batch_first { count } else { longest });
    let out = ops::full(&sizes, Scalar::Float(padding_value), sequences[0].options())?;
    for (nth, sequence) in sequences.iter().enumerate() {
        let length = sequence.sizes()[0];
        let start = if padding_side == "left" { longest - length } else { 0 };
        let place = ops::select_int(&out, if batch_first { 0 } else { 1 }, nth as i64)?;
        ops::copy_(&ops::narrow(&place, 0, start, length)?, sequence, false)?;
    }
    Ok(out)
}

/// The elements of tensors, one after the other.
pub fn flatten_dense_tensors(tensors: &[&Tensor]) -> Result<Tensor> {
    let flat = list::try_collect(tensors.iter().map(|tensor| ops::reshape(tensor, &[-1])))?;
    match &flat[..] {
        [single] => Ok(single.clone()),
        several => ops::cat(&several.iter().collect::<Vec<_>>(), 0),
    }
}

/// The elements of a tensor in the shapes of other tensors.
pub fn unflatten_dense_tensors(flat: &Tensor, tensors: &[&Tensor]) -> Result<Vec<Tensor>> {
    let mut start = 0;
    let part = |like: &&Tensor| {
        let (count, sizes) = (like.numel(), like.sizes());
        if count == 0 {
            return ops::empty_memory_format(&[0], flat.options(), None);
        }
        let part = ops::narrow(flat, 0, start, count)?;
        start += count;
        ops::view(&part, &sizes)
    };
    list::try_collect(tensors.iter().map(part))
}
