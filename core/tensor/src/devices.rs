//! Devices of this process, for the bindings: how many there are, and which one a device without an index names.

use rushlight_base::{Device, DeviceType, Result};

#[cfg(feature = "cuda")]
pub use rushlight_cuda as cuda;

/// Number of CUDA devices; 0 without a driver, without a GPU, and in a build without CUDA.
pub fn cuda_count() -> i32 {
    #[cfg(feature = "cuda")]
    return cuda::device_count();
    #[cfg(not(feature = "cuda"))]
    0
}

/// `device` with the index of the current device of its kind, if it has none and the kind has several.
pub fn indexed(device: Device) -> Result<Device> {
    if device.kind != DeviceType::Cuda {
        return Ok(device);
    }
    #[cfg(feature = "cuda")]
    {
        cuda::install()?;
        Ok(Device::cuda(cuda::resolved(device)?))
    }
    #[cfg(not(feature = "cuda"))]
    Err(no_cuda(device))
}

/// The error of every use of a CUDA device in a build without CUDA.
#[cfg(not(feature = "cuda"))]
#[cold]
pub fn no_cuda(device: Device) -> rushlight_base::Error {
    rushlight_base::err!(Runtime, "no CUDA device: this build of Rushlight has no CUDA, so {device} is not available")
}
