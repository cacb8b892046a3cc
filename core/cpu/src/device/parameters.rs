//! The parameters of kernels that are not pointwise: the same declarations for the host and for the device, which
//! includes this file (`core/cuda/kernels`). Strides are in elements.

pub use crate::pointwise::Divisor as Size;
use crate::pointwise::Words;
use rushlight_base::report::Watch;

/// Threads of a block of a product.
pub const GEMM_THREADS: u32 = 256;

/// Columns of the left operand that a block of a product multiplies at once.
pub const GEMM_DEPTH: u32 = 8;

/// Bytes of a row of the tile of an operand in shared memory: 16 threads with two pieces of 16 bytes each, and 16 bytes
/// so that the rows begin in different banks.
pub const GEMM_ROW: u32 = 2 * 16 * 16 + 16;

/// Bytes of shared memory of a product: the tiles of both operands, twice.
pub const GEMM_SHARED: u32 = 2 * 2 * GEMM_DEPTH * GEMM_ROW;

/// Rows and columns of the output that a block of a product computes, for sums of `size` bytes.
pub const fn gemm_tile(size: u32) -> u32 {
    2 * 16 * 16 / size
}

/// out = beta add + alpha a b, for a stack of matrices.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Gemm {
    /// Addresses of `out`, `a`, `b` and `add`; 0 where nothing is added.
    pub at: [u64; 4],
    /// Their strides: of the stack, of rows, of columns.
    pub strides: [[i64; 3]; 4],
    /// alpha and beta, as real and imaginary part.
    pub factors: [[f64; 2]; 2],
    /// alpha and beta of integers.
    pub integers: [i64; 2],
    /// Rows of `a`, its columns, columns of `b`.
    pub sizes: [u32; 3],
    /// Matrices of the stack.
    pub batch: u32,
    /// Bit 0: alpha is 1; bit 1: beta is 1.
    pub ones: u32,
    /// Unused.
    pub reserved: u32,
}

/// Rows and columns of the output that a block of a product on tensor cores computes.
pub const TENSOR_TILE: u32 = 128;

/// Bytes of shared memory of a product on tensor cores: two tiles of both operands.
pub const TENSOR_SHARED: u32 = 2 * 2 * 128 * 80;

/// Threads of a block that computes a row.
pub const ROW_THREADS: u32 = 256;

/// Bytes of shared memory of a block that computes a row: a value of 8 bytes for each warp.
pub const ROW_SHARED: u32 = 32 * 8;

/// Rows of operands: the elements along one dimension, for every place in the other dimensions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Rows<const N: usize> {
    /// The address of each operand's first element.
    pub at: [u64; N],
    /// Elements of a row.
    pub length: u32,
    /// Number of rows.
    pub count: u32,
    /// The step along a row.
    pub steps: [i64; N],
    /// Sizes of the other dimensions, innermost first; the rest is 1.
    pub sizes: [u32; ROW_RANK],
    /// Their strides.
    pub strides: [[i64; N]; ROW_RANK],
    /// A number whose meaning the kernel states.
    pub option: f64,
}

/// Other dimensions that rows can have.
pub const ROW_RANK: usize = 8;

/// Most arrays of an optimizer step.
pub const STEP_ARRAYS: usize = 5;

/// Most constants of an optimizer step.
pub const STEP_NUMBERS: usize = 24;

/// Threads of a block of an optimizer step.
pub const STEP_THREADS: u32 = 256;

/// A step of an optimizer over contiguous arrays: parameter, gradient and states.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The address of each array's first element.
    pub at: [u64; STEP_ARRAYS],
    /// Number of elements.
    pub count: u64,
    /// The constants of the update.
    pub numbers: [f64; STEP_NUMBERS],
}

/// A convolution with up to 3 spatial dimensions; missing ones have size 1. Strides are of samples, channels and the
/// spatial dimensions; those of the weight are of output channels, input channels and the taps.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Convolution {
    /// Addresses of output, image, weight and bias (0: none). Of a gradient by the weight: of the weight's gradient (or
    /// of the parts of its sums), the image and the output's gradient.
    pub at: [u64; 4],
    /// Strides of output, image and weight.
    pub strides: [[i64; 5]; 3],
    /// Spatial sizes of the output.
    pub out: [Size; 3],
    /// Spatial sizes of the weight.
    pub taps: [Size; 3],
    /// Product of the sizes of `out`.
    pub places: Size,
    /// Product of the sizes of `taps`.
    pub tap_count: Size,
    /// Spatial sizes of the image.
    pub image: [u32; 3],
    /// Steps of the window.
    pub step: [Size; 3],
    /// Padding on both sides.
    pub padding: [u32; 3],
    /// Steps of the taps.
    pub dilation: [u32; 3],
    /// Number of samples.
    pub batch: u32,
    /// Groups of channels.
    pub groups: Size,
    /// Channels of a group of the image.
    pub inputs: u32,
    /// Channels of a group of the output.
    pub outputs: u32,
    /// 1: the transpose, which spreads each element of the image over the taps.
    pub transposed: u32,
    /// Parts into which the sums of a gradient by the weight are split.
    pub parts: u32,
    /// The step of the bias.
    pub bias_step: u32,
    /// Unused.
    pub reserved: u32,
}

/// Sums in parts, to be added.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// Addresses of the result and of the first part, which is contiguous.
    pub at: [u64; 2],
    /// Number of elements.
    pub count: u64,
    /// Number of parts, one after the other.
    pub parts: u64,
}

/// What layer norm takes besides its rows: addresses of numbers of the wide type, 0 where there are none.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Norm {
    /// The mean of each row.
    pub mean: u64,
    /// The reciprocal of the standard deviation of each row.
    pub rstd: u64,
    /// The weight of each column.
    pub weight: u64,
    /// The bias of each column.
    pub bias: u64,
    /// Added to the variance.
    pub eps: f64,
}

/// Sums over the rows of a matrix: of parts of the rows, to be added.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// Addresses of the sums, the gradient and the input, and of mean and reciprocal standard deviation of each row.
    pub at: [u64; 5],
    /// Steps from row to row of the gradient and the input.
    pub steps: [i64; 2],
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub columns: u32,
    /// Parts of the rows.
    pub parts: u32,
    /// Unused.
    pub reserved: u32,
}

/// A negative log likelihood. A target belongs to a sample and a place; strides are in elements.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Likelihood {
    /// Addresses of the scores (or of their gradient), the targets, the weights of the classes (0: none), the loss (or the
    /// gradient by it) and the total weight.
    pub at: [u64; 5],
    /// Strides of the scores: of samples, classes and places.
    pub scores: [i64; 3],
    /// Strides of the targets: of samples and places.
    pub targets: [i64; 2],
    /// Strides of the losses: of samples and places.
    pub losses: [i64; 2],
    /// Step of the weights.
    pub weight: i64,
    /// Targets of this class count for nothing.
    pub ignore: i64,
    /// Number of targets.
    pub count: u32,
    /// Places of a sample.
    pub places: Size,
    /// Number of classes.
    pub classes: u32,
    /// 0: a loss for each target; 1: the weighted mean; 2: the sum.
    pub reduction: u32,
    /// 1: targets are bytes; 0: 64-bit integers.
    pub bytes: u32,
    /// Unused.
    pub reserved: u32,
    /// Where a target is reported that is no class.
    pub watch: Watch,
}

/// Dimensions that a reduction keeps, and as many that it reduces.
pub const REDUCE_RANK: usize = 8;

/// Threads of a block of a reduction.
pub const REDUCE_THREADS: u32 = 256;

/// Bytes of shared memory of a reduction: three values of 8 bytes for each warp.
pub const REDUCE_SHARED: u32 = 32 * 24;

/// Bytes that the partial result of a reduction takes.
pub const PARTIAL: u32 = 24;

/// A reduction: a result for each place in the kept dimensions, of the terms along the reduced ones. Dimensions are
/// innermost first, and missing ones have size 1. Strides are in elements.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    /// Addresses of the input, of the results, of the second results (indices), and of the parts. 0: none.
    pub at: [u64; 4],
    /// The kept dimensions.
    pub kept: [Size; REDUCE_RANK],
    /// Their strides in the input, the results and the second results.
    pub kept_strides: [[i64; 3]; REDUCE_RANK],
    /// The reduced dimensions.
    pub reduced: [Size; REDUCE_RANK],
    /// Their strides in the input.
    pub reduced_strides: [i64; REDUCE_RANK],
    /// Numbers whose meaning the function states.
    pub options: [f64; 2],
    /// Number of kept dimensions with a size above 1.
    pub kept_rank: u32,
    /// Number of reduced dimensions with a size above 1.
    pub reduced_rank: u32,
    /// Number of results.
    pub results: u32,
    /// Number of terms of a result.
    pub terms: u32,
    /// Parts into which the terms are split.
    pub parts: u32,
    /// 0: a block combines the terms of a result; 1: a thread does, and neighbouring threads have neighbouring results.
    pub across: u32,
    /// 1: the terms are the parts that an earlier launch has stored.
    pub last: u32,
    /// Unused.
    pub reserved: u32,
}

/// Dimensions of a traversal of indices.
pub const PLACES_RANK: usize = 8;

/// Dimensions that are indexed at once.
pub const LOOKUPS: usize = 8;

/// Indices into one dimension of a tensor, or into its elements in row-major order.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Lookup {
    /// The address of the first index.
    pub at: u64,
    /// Strides along the dimensions of the traversal.
    pub strides: [i64; PLACES_RANK],
    /// Indices are below.
    pub size: i64,
    /// The dimension, for the report of an index that is not.
    pub dim: i64,
    /// From one index to the next in the indexed tensor.
    pub stride: i64,
    /// 1: negative indices count from the end.
    pub wraps: u32,
    /// 1: indices have 32 bits; 0: 64.
    pub narrow: u32,
}

/// A traversal of indices: of lanes, in each of which the same places may be indexed again, and of the indices along a lane.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Addresses of the traversed operand (0: it is the constant), and of the indexed tensor.
    pub at: [u64; 2],
    /// Sizes, innermost dimension first: those along a lane, then those of the lanes; the rest is 1.
    pub sizes: [Size; PLACES_RANK],
    /// Strides of the traversed operand and of the indexed tensor.
    pub strides: [[i64; 2]; PLACES_RANK],
    /// The indices.
    pub lookups: [Lookup; LOOKUPS],
    /// Sizes and strides of the indexed tensor, innermost dimension first, where indices count its elements.
    pub flat: [[i64; 2]; PLACES_RANK],
    /// The element of an operand that is a constant, as it would be in memory.
    pub constant: [u64; 2],
    /// The factor of a sum.
    pub alpha: Words,
    /// Where an index is reported that is out of range.
    pub watch: Watch,
    /// Addresses of the places in ascending order and of where they occur, for a traversal in that order; else 0.
    pub order: [u64; 2],
    /// Number of elements.
    pub count: u32,
    /// Elements of a lane.
    pub along: u32,
    /// Number of dimensions.
    pub rank: u32,
    /// Number of lookups.
    pub lookup_count: u32,
    /// Dimensions in `flat`; 0: indices are into dimensions.
    pub flat_rank: u32,
    /// Places in `order`.
    pub ordered: u32,
}

/// Elements that a block sorts at once.
pub const RUN: u32 = 1024;

/// Threads of a block that sorts.
pub const RUN_THREADS: u32 = 256;

/// Rows of up to 4 operands along a dimension. Strides are in elements of each operand.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    /// The address of each operand's first element; 0: there is none.
    pub at: [u64; 4],
    /// The step along a row.
    pub steps: [i64; 4],
    /// Sizes of the other dimensions, innermost first; the rest is 1.
    pub sizes: [Size; ROW_RANK],
    /// Their strides.
    pub strides: [[i64; 4]; ROW_RANK],
    /// Addresses of memory between two launches, in which rows are dense.
    pub between: [u64; 2],
    /// Number of rows.
    pub rows: u32,
    /// Elements of a row.
    pub length: u32,
    /// Elements of a row of the results.
    pub results: u32,
    /// Number of other dimensions.
    pub rank: u32,
    /// Numbers whose meaning the kernel states.
    pub options: [u32; 4],
    /// Where an index is reported that is out of range.
    pub watch: Watch,
}

/// Sorted runs of keys, with the place of each in its row, that are merged in pairs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// Addresses of the keys and their places, before and after.
    pub from: [u64; 2],
    /// After.
    pub to: [u64; 2],
    /// Elements of a row.
    pub length: u32,
    /// Number of rows.
    pub rows: u32,
    /// Elements of a run; the last one of a row may have fewer.
    pub width: u32,
    /// Unused.
    pub reserved: u32,
}

/// Threads of a block of a scan.
pub const SCAN_THREADS: u32 = 256;

/// Neighbouring elements that a thread of a scan combines alone.
pub const SCAN_EACH: u32 = 4;

/// Bytes of shared memory of a scan: a value for each thread.
pub const SCAN_SHARED: u32 = SCAN_THREADS * 16;

/// The coordinates of elements by their numbers in row-major order.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Coordinates {
    /// Addresses of the coordinates and of the numbers, of 64 bits.
    pub at: [u64; 2],
    /// Strides of the coordinates: of elements and of dimensions.
    pub strides: [i64; 2],
    /// Sizes, innermost dimension first; the rest is 1.
    pub sizes: [Size; ROW_RANK],
    /// Number of dimensions.
    pub rank: u32,
    /// Number of elements.
    pub count: u32,
}

/// Sums over the inputs of each position of an output, which are listed for each spatial dimension apart. Missing
/// dimensions have size 1; strides are of samples, channels and the spatial dimensions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Images {
    /// Addresses of the output, the input, and the indices (0: none).
    pub at: [u64; 3],
    /// Their strides.
    pub strides: [[i64; 5]; 3],
    /// For each spatial dimension the address of where the inputs of each position start in the lists, of 32 bits.
    pub starts: [u64; 3],
    /// The inputs, of 32 bits.
    pub inputs: [u64; 3],
    /// Their weights, of type double.
    pub weights: [u64; 3],
    /// What each position counts as, of 32 bits, if a sum is divided by that; 0: it is not.
    pub counts: [u64; 3],
    /// What every sum is divided by; 0: by the counts, if there are any.
    pub divide_by: i64,
    /// Spatial sizes of the output.
    pub out: [Size; 3],
    /// Number of channels.
    pub channels: Size,
    /// Spatial sizes of the planes that the indices count the elements of.
    pub plane: [u32; 3],
    /// 1: channels are the innermost dimension of the output.
    pub channels_last: u32,
    /// Number of elements of the output.
    pub count: u32,
    /// Unused.
    pub reserved: u32,
}

/// The largest elements of windows whose places are random, in each plane its own, and the gradient. Missing dimensions
/// have size 1; strides are of samples, channels and the spatial dimensions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Fractional {
    /// Addresses of the images, the results, the indices and the random samples.
    pub at: [u64; 4],
    /// Strides of the first three.
    pub strides: [[i64; 5]; 3],
    /// Strides of the random samples: of samples, channels and dimensions.
    pub samples: [i64; 3],
    /// Of a gradient: addresses of the indices of each plane in ascending order, and of where they occur in the plane.
    pub order: [u64; 2],
    /// Where an index is reported that is out of range.
    pub watch: Watch,
    /// Spatial sizes of the results.
    pub out: [Size; 3],
    /// Spatial sizes of the images.
    pub sizes: [Size; 3],
    /// Number of channels.
    pub channels: Size,
    /// Spatial sizes of a window.
    pub window: [u32; 3],
    /// Number of spatial dimensions.
    pub spatial: u32,
    /// Number of elements that are written.
    pub count: u32,
    /// Unused.
    pub reserved: u32,
}

/// A kernel that slides over the last two dimensions of images, and the columns of its positions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Unfolding {
    /// Addresses of the columns and the images.
    pub at: [u64; 2],
    /// Strides of the columns: of samples, rows and positions.
    pub columns: [i64; 3],
    /// Strides of the images: of samples, channels, height and width.
    pub images: [i64; 4],
    /// Channels of an image, and rows of the columns.
    pub planes: [Size; 2],
    /// Elements of the kernel: height and width, as in the fields below.
    pub taps: [Size; 2],
    /// Positions of the kernel.
    pub positions: [Size; 2],
    /// Sizes of an image.
    pub sizes: [Size; 2],
    /// Steps of the kernel.
    pub steps: [Size; 2],
    /// Zeros around an image.
    pub padding: [u32; 2],
    /// Steps between elements of the kernel.
    pub dilation: [u32; 2],
    /// Number of elements that are written.
    pub count: u32,
    /// Unused.
    pub reserved: u32,
}

/// The margin loss of rows with several labels.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Labelled {
    /// Addresses of the losses (or the gradient by them), the marks of labels, the scores, the labels and the gradient.
    pub at: [u64; 5],
    /// Their steps from row to row.
    pub rows: [i64; 5],
    /// Their steps from class to class.
    pub classes: [i64; 5],
    /// A factor of the gradient.
    pub factor: f64,
    /// Number of rows.
    pub count: u32,
    /// Number of classes.
    pub width: u32,
    /// Where a label is reported that is no class.
    pub watch: Watch,
}

/// The points of a grid, and the terms of each.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct GridTerms {
    /// Addresses of the grid, and of the places and weights of the terms, which are dense.
    pub at: [u64; 3],
    /// Strides of the grid: of samples, points in three dimensions, and coordinates.
    pub strides: [i64; 5],
    /// Points along each dimension; the first has one if there are two.
    pub points: [Size; 3],
    /// Sizes of the image.
    pub sizes: [u32; 3],
    /// Order of the derivative along each dimension.
    pub orders: [u32; 3],
    /// Number of dimensions.
    pub spatial: u32,
    /// Terms of a point.
    pub most: u32,
    /// The codes of interpolation and padding.
    pub codes: [u32; 2],
    /// 1: -1 and 1 are the centres of the first and the last element.
    pub align_corners: u32,
    /// Number of points.
    pub count: u32,
}

/// Boxes in images, and their bins. All arrays are contiguous.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Boxes {
    /// Addresses of the images, the boxes, the bins, and of the indices or the channels of the bins (0: none).
    pub at: [u64; 4],
    /// Of a gradient by indices: addresses of the places in ascending order, and of the bins that lead to each.
    pub order: [u64; 2],
    /// Elements of an image for each unit of the boxes.
    pub scale: f64,
    /// Samples of a bin along each dimension; if not positive, as many as the bin has elements.
    pub sampling: i64,
    /// Where a box is reported that is in none of the images.
    pub watch: Watch,
    /// Number of images.
    pub images: u32,
    /// Number of boxes.
    pub boxes: u32,
    /// Channels of an image.
    pub channels: Size,
    /// Channels of the bins.
    pub results: Size,
    /// Height and width of an image.
    pub image: [u32; 2],
    /// The same as divisors, at least 1.
    pub sizes: [Size; 2],
    /// Bins of a box along height and width.
    pub bins: [Size; 2],
    /// 1: coordinates refer to the centres of elements.
    pub aligned: u32,
    /// 1: a box has at least one element along each dimension.
    pub at_least_one: u32,
    /// 1: each bin reads its own channel (position-sensitive).
    pub by_position: u32,
    /// 1: the last element belongs to the box.
    pub inclusive: u32,
    /// 1: windows may reach the last element of the image.
    pub whole: u32,
    /// Number of elements that are written.
    pub count: u32,
}

/// The columns of a deformable convolution. All arrays are contiguous.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Deforming {
    /// Addresses of the columns, the images, the offsets, the mask (0: none), and of the gradient by offsets or mask.
    pub at: [u64; 5],
    /// Of a gradient by the images: addresses of the elements that the taps of a group read, in ascending order, and of the
    /// readings of each; before they are sorted, of the elements alone.
    pub order: [u64; 2],
    /// Channels of an image.
    pub channels: Size,
    /// Number of groups of channels that share their offsets.
    pub groups: Size,
    /// Channels of a group.
    pub per_group: Size,
    /// Height and width of an image.
    pub image: [u32; 2],
    /// The same as divisors, at least 1. Other pairs are of height and width as well.
    pub sizes: [Size; 2],
    /// Elements of the kernel.
    pub kernel: [Size; 2],
    /// Positions of the kernel.
    pub positions: [Size; 2],
    /// Product of the elements of the kernel.
    pub taps: Size,
    /// Product of the positions.
    pub area: Size,
    /// Steps of the kernel.
    pub stride: [u32; 2],
    /// Zeros around an image.
    pub padding: [u32; 2],
    /// Steps between elements of the kernel.
    pub dilation: [u32; 2],
    /// The image with which the launch begins.
    pub first: u32,
    /// Number of elements that are written.
    pub count: u32,
    /// Elements that a tap reads at most.
    pub near: Size,
}

/// Threads of a block that generates random numbers: PyTorch's, so that numbers are.
pub const RANDOM_THREADS: u32 = 256;

/// Numbers that each element of a launch of [`Draws`] may take, a multiple of 4.
pub const DRAWS: u64 = 1 << 14;

/// Random numbers whose distributions are the elements of dense tensors. Each element samples from its
/// own subsequence.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// Addresses of the results and of the parameters of the distributions.
    pub at: [u64; 3],
    /// Number of elements, or of rows.
    pub count: u64,
    /// Elements of a row.
    pub length: u64,
    /// The seed, and how many numbers each thread has had before.
    pub seed: u64,
    /// A multiple of 4.
    pub offset: u64,
    /// Bounds of the results, where the function has some.
    pub bounds: [f64; 2],
    /// Where a parameter is reported that no distribution has.
    pub watch: Watch,
}

/// Random numbers for the elements of a dense tensor.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Random {
    /// The address of the first element.
    pub at: u64,
    /// Number of elements.
    pub count: u64,
    /// The seed, and how many numbers each thread has had before.
    pub seed: u64,
    /// A multiple of 4.
    pub offset: u64,
    /// Two numbers of the distribution: bounds, mean and deviation, or a probability.
    pub numbers: [f64; 2],
    /// How many integers there are.
    pub range: u64,
    /// The first of them.
    pub base: i64,
}
