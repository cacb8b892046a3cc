//! Kernels of devices that are not pointwise: what a launch gets, from the arrays that the CPU's functions take. The
//! kernels themselves are in `core/cuda/kernels`.

mod convolution;
mod gemm;
mod loss;
mod norm;
pub mod parameters;
mod reduce;
mod rows;
mod step;

pub(crate) use convolution::{convolution, weight_gradient};
pub(crate) use gemm::product;
pub(crate) use loss::{nll_loss, nll_loss_backward};
pub(crate) use norm::{layer_norm, layer_norm_backward_input, layer_norm_backward_weight};
pub(crate) use reduce::reduce;
pub(crate) use rows::rows;
pub(crate) use step::step;

use crate::array::Array;
use parameters::Parts;
use rushlight_base::backend::{self, Kernel, Launch};
use rushlight_base::{DType, Device, Result};

/// The bytes of a parameter.
///
/// # Safety
/// The type has no padding.
pub(crate) unsafe fn bytes_of<T: Copy>(value: &T) -> &[u8] {
    // SAFETY: the value has as many bytes, all initialized because there is no padding, and the borrow keeps it alive.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}

/// The form of a launch.
pub(crate) struct Grid {
    pub(crate) blocks: [u32; 3],
    pub(crate) threads: u32,
    pub(crate) shared: u32,
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
    let addends = Parts { at: [out.address().addr() as u64, sums.at()], count: count as u64, parts: parts as u64 };
    let kernel = Kernel { file: "gemm", function: "combine", dtype: out.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; `out` is contiguous, and the caller has stored the
    // parts.
    unsafe { launch(out.device(), kernel, grid, &addends) }
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
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Ok(backend) = backend::of(self.device.kind) {
            // SAFETY: the block was allocated for this device and size, and later work does not know its address.
            unsafe { backend.free(self.device, self.at, self.bytes) };
        }
    }
}
