//! Kernels of devices that are not pointwise: what a launch gets, from the arrays that the CPU's functions take. The
//! kernels themselves are in `core/cuda/kernels`.

mod boxes;
mod convolution;
mod deform;
mod fractional;
mod gemm;
mod grid;
mod images;
mod indexing;
mod lines;
mod loss;
mod masks;
mod multilabel;
mod norm;
pub mod parameters;
pub mod random;
mod reduce;
mod rows;
mod scan;
mod sort;
mod step;
mod unfold;

pub(crate) use boxes::{align, align_backward, windows_max, windows_max_backward, windows_mean, windows_mean_backward};
pub(crate) use convolution::{convolution, weight_gradient};
pub(crate) use deform::{deform_columns, deform_image, deform_mask, deform_offset};
pub(crate) use fractional::{fractional_max, spread_by_index};
pub(crate) use gemm::product;
pub use grid::grid_terms;
pub(crate) use images::{Table, bytes, largest, spread, spread_largest, spread_mean, sums};
pub(crate) use indexing::{Found, Indices, Traversal, combine, divide_by_counts, gather, scatter};
pub(crate) use lines::triangle;
pub(crate) use loss::{nll_loss, nll_loss_backward};
pub(crate) use masks::{coordinates, count as count_of_mask, scatter as scatter_by_mask, select as select_by_mask};
pub(crate) use multilabel::start as multilabel_margin;
pub(crate) use norm::{layer_norm, layer_norm_backward_input, layer_norm_backward_weight};
pub(crate) use reduce::reduce;
pub(crate) use rows::rows;
pub(crate) use scan::{running_extremum, scan};
pub(crate) use sort::{kth_value, median, one_of_each_row, search, sort, topk};
pub(crate) use step::step;
pub(crate) use unfold::{fold, unfold};

use crate::array::Array;
use crate::{Loop, convert};
use parameters::Parts;
use rushlight_base::backend::{self, Kernel, Launch, Place};
use rushlight_base::{DType, Device, Result, contiguous_strides};

/// The bytes of a parameter.
///
/// # Safety
/// The type has no padding.
pub(crate) unsafe fn bytes_of<T: Copy>(value: &T) -> &[u8] {
    // SAFETY: the value has as many bytes, all initialized because there is no padding, and the borrow keeps it alive.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}

/// Threads of a block of kernels that do not need a certain number.
const THREADS: u32 = 256;

/// Most blocks of a grid in its first dimension: each computes several elements if there are more.
const MOST_BLOCKS: u32 = 1 << 20;

/// The form of a launch.
pub(crate) struct Grid {
    pub(crate) blocks: [u32; 3],
    pub(crate) threads: u32,
    pub(crate) shared: u32,
}

impl Grid {
    /// A thread for each element.
    fn of(elements: usize) -> Grid {
        let blocks = elements.div_ceil(THREADS as usize).clamp(1, MOST_BLOCKS as usize) as u32;
        Grid { blocks: [blocks, 1, 1], threads: THREADS, shared: 0 }
    }
}

/// The address of the first element of an array.
fn address(array: &Array) -> u64 {
    array.address().addr() as u64
}

/// A number below 2^31, by which kernels can divide ([`parameters::Size`]).
fn small(value: impl TryInto<u32>) -> Option<u32> {
    value.try_into().ok().filter(|number| *number < 1 << 31)
}

/// Starts a kernel with one parameter.
///
/// # Safety
/// It is the parameter that the kernel declares, of a type without padding, and the memory that it names is allocated on
/// the device.
unsafe fn launch<T: Copy>(device: Device, kernel: Kernel, grid: Grid, parameter: &T) -> Result<()> {
    // SAFETY: the caller guarantees a type without padding that is the parameter of the kernel.
    unsafe { launch_with(device, kernel, grid, &[bytes_of(parameter)]) }
}

/// Starts a kernel.
///
/// # Safety
/// These are the parameters that the kernel declares, and the memory that they name is allocated on the device.
pub(crate) unsafe fn launch_with(device: Device, kernel: Kernel, grid: Grid, parameters: &[&[u8]]) -> Result<()> {
    let Grid { blocks, threads, shared } = grid;
    let launch = Launch { device, kernel, blocks, threads: [threads, 1, 1], shared, parameters };
    // SAFETY: the caller guarantees the parameters of the kernel.
    unsafe { backend::of(device.kind)?.launch(&launch) }
}

/// out = the sum of `parts`, each a sum for every element of `out`, one after the other.
fn add_parts(out: &Array, sums: &Temporary, parts: usize) -> Result<()> {
    let count = out.numel();
    let grid = Grid { blocks: [count.div_ceil(256).min(1 << 16) as u32, 1, 1], threads: 256, shared: 0 };
    let addends = Parts { at: [address(out), sums.at()], count: count as u64, parts: parts as u64 };
    let kernel = Kernel { file: "gemm", function: "combine", dtype: out.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; `out` is contiguous, and the caller has stored the
    // parts.
    unsafe { launch(out.device(), kernel, grid, &addends) }
}

/// Copies an array of the host without gaps, of one dimension, to one of a device with the same dtype and number of
/// elements.
pub(crate) fn send(out: &Array, host: &Array) -> Result<()> {
    let (device, bytes) = (out.device(), host.numel() * host.dtype().size());
    if bytes == 0 {
        return Ok(());
    }
    let memory = Temporary::new(device, bytes)?;
    let (from, to) = (Place { device: Device::CPU, at: host.start() }, Place { device, at: memory.at });
    // SAFETY: the array of the host has no gaps, and the block has as many bytes; the call returns when the host's may be
    // used again.
    unsafe { backend::of(device.kind)?.copy(to, from, bytes, false)? };
    let strides = contiguous_strides(out.sizes());
    convert::copy(&Loop::new([out.clone(), memory.array(host.dtype(), out.sizes(), &strides)])?)
}

/// Bytes of a sum of products.
fn sum_size(dtype: DType) -> u32 {
    match dtype {
        DType::C64 | DType::F64 | DType::I64 => 8,
        DType::C128 => 16,
        _ => 4,
    }
}

/// Memory of a device for the time of a call. Work that was submitted before may still use it when it is freed.
pub(crate) struct Temporary {
    device: Device,
    at: *mut u8,
    bytes: usize,
}

impl Temporary {
    pub(crate) fn new(device: Device, bytes: usize) -> Result<Temporary> {
        let bytes = bytes.max(1);
        Ok(Temporary { device, at: backend::of(device.kind)?.allocate(device, bytes)?, bytes })
    }

    pub(crate) fn at(&self) -> u64 {
        self.at.addr() as u64
    }

    /// A copy of the first element of an array of the host.
    fn copy_of(device: Device, array: &Array) -> Result<Temporary> {
        let bytes = array.dtype().size();
        let copy = Temporary::new(device, bytes)?;
        let from = Place { device: Device::CPU, at: array.start() };
        // SAFETY: `Array::new` guarantees an element in memory of the host; the block has as many bytes.
        unsafe { backend::of(device.kind)?.copy(Place { device, at: copy.at }, from, bytes, false)? };
        Ok(copy)
    }

    /// The memory as a dense array, which it is large enough for.
    fn array<'a>(&'a self, dtype: DType, sizes: &'a [i64], strides: &'a [i64]) -> Array<'a> {
        let count = sizes.iter().product::<i64>() as usize;
        let last: i64 = sizes.iter().zip(strides).map(|(size, stride)| (size - 1) * stride).sum();
        assert!(count == 0 || (last as usize + 1) * dtype.size() <= self.bytes, "an array beyond its memory");
        // SAFETY: the last element ends inside the block, which is aligned for every dtype and lives as long as the array.
        unsafe { Array::new(self.at, dtype, sizes, strides) }.on(self.device)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Ok(backend) = backend::of(self.device.kind) {
            // SAFETY: the block was allocated for this device and size, and later work does not know its address.
            unsafe { backend.free(self.device, self.at, self.bytes) };
        }
    }
}
