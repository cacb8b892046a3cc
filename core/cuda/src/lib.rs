//! CUDA: devices, memory, streams and launches of kernels on NVIDIA GPUs.
//!
//! The driver is searched at run time through cudarc, so that this crate builds, and a program that links it starts, on
//! a machine without GPU, driver or toolkit, where it reports no CUDA device. [`install`] registers the devices as the
//! backend of `rushlight_base::backend`; the kernels are files of PTX (`kernels.rs`) that the driver compiles.

mod allocator;
mod backend;
mod device;
mod driver;
mod file;
mod kernels;
mod modules;
mod record;
mod stream;

pub use allocator::{Counter, Stats, empty_cache, record_stream, reset_peak_stats, set_memory_fraction, stats};
pub use backend::install;
pub use device::{
    Properties, current_device, device_count, memory_info, properties, resolved, set_current_device, synchronize,
};
pub use kernels::provide;
pub use stream::{Event, Stream};
