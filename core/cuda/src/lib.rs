//! CUDA: detection of NVIDIA GPUs.
//!
//! The driver is searched at run time through cudarc, so that this crate builds, and a program that links it starts, on
//! a machine without GPU, driver or toolkit, where it reports no CUDA device. Kernels of operators will be added next
//! to those of `rushlight-cpu`; an operator without one is the dispatcher's error.

use cudarc::driver::{result, sys};
use rushlight_base::{Device, DeviceType, Result, ensure, err};

/// Number of CUDA devices that this process can use: 0 without driver or GPU.
pub fn device_count() -> i32 {
    // SAFETY: the check only tries to open the driver library.
    if !unsafe { sys::is_culib_present() } {
        return 0;
    }
    match result::init() {
        Ok(()) => result::device::get_count().unwrap_or(0),
        Err(_) => 0,
    }
}

/// Checks that a CUDA device exists. The error lists the available devices.
pub fn check_device(device: Device) -> Result<()> {
    ensure!(device.kind == DeviceType::Cuda, Value, "expected a CUDA device, got {device}");
    let count = device_count();
    ensure!(count > 0, Runtime, "no CUDA device: no NVIDIA driver with a GPU was found on this machine");
    let index = i32::from(device.index.max(0));
    if index >= count {
        return Err(err!(Runtime, "no CUDA device {index}: this machine has {count}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_gpu_the_error_names_the_missing_part() {
        if device_count() > 0 {
            assert!(check_device(Device::cuda(0)).is_ok());
            assert!(check_device(Device::cuda(100)).is_err());
        } else {
            let error = check_device(Device::cuda(0)).unwrap_err();
            assert!(error.message().starts_with("no CUDA device"), "{error}");
        }
        assert!(check_device(Device::CPU).is_err());
    }
}
