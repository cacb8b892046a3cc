//! Devices with memory and kernels of their own, as the crates see them that know no driver.
//!
//! A [`Backend`] is what a kind of device needs: memory, copies, launches of kernels. It is registered
//! when its first device is used ([`register`]), so that this crate depends on no driver. The CPU has none: its kernels
//! are called directly.

use crate::random::{wrong_probability, wrong_rate};
use crate::report::{Mistake, Record, Watch};
use crate::{DType, Device, DeviceType, Error, Result, err};
use std::any::Any;
use std::cell::Cell;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A kernel, by the names under which the files of kernels hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The file of kernels: a subject such as `arithmetic`.
    pub file: &'static str,
    /// The function in it.
    pub function: &'static str,
    /// The dtype for which the function is compiled.
    pub dtype: DType,
}

impl Kernel {
    /// The symbol of the kernel: `add__f32`.
    pub fn symbol(&self) -> String {
        format!("{}__{}", self.function, self.dtype.name())
    }
}

/// A call of a kernel on a device. It runs after all earlier work of the device's current stream.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The device.
    pub device: Device,
    /// The kernel.
    pub kernel: Kernel,
    /// Blocks of the grid in x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block in x, y and z.
    pub threads: [u32; 3],
    /// Bytes of shared memory that the launch adds to the kernel's own.
    pub shared: u32,
    /// The bytes of each parameter, as the kernel declares it. Addresses are those of the device.
    pub parameters: &'a [&'a [u8]],
}

/// Memory of a device, or of the host.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The device. [`Device::CPU`] for memory of the host.
    pub device: Device,
    /// The first byte. Not an address of the host, unless `device` is the CPU.
    pub at: *mut u8,
}

/// A kind of device.
pub trait Backend: Send + Sync {
    /// The compute capability of a device: 9.0 is (9, 0).
    fn capability(&self, device: Device) -> Result<(i32, i32)>;

    /// How many multiprocessors a device has, and how many threads one of them holds.
    fn processors(&self, device: Device) -> Result<[u32; 2]>;

    /// The index of the current device of this thread.
    fn current_device(&self) -> Result<i8>;

    /// Allocates `bytes` bytes, more than 0, on a device with an index. Work of the current stream may use them at once.
    fn allocate(&self, device: Device, bytes: usize) -> Result<*mut u8>;

    /// Frees what [`Backend::allocate`] returned, with the same device and size. Work in the device's streams that uses
    /// it may still be running.
    ///
    /// # Safety
    /// The block is live, and nothing that is submitted later uses it.
    unsafe fn free(&self, device: Device, at: *mut u8, bytes: usize);

    /// Copies `bytes` bytes after all earlier work of the current stream. One of the places is on a device of this kind.
    /// Memory of the host may be used as soon as this returns; `wait` is whether the caller reads it then.
    ///
    /// # Safety
    /// Both places have as many bytes, which stay allocated until the copy has run.
    unsafe fn copy(&self, to: Place, from: Place, bytes: usize, wait: bool) -> Result<()>;

    /// Starts a kernel.
    ///
    /// # Safety
    /// The parameters are those that the kernel declares, and the memory that they name is allocated on the device.
    unsafe fn launch(&self, launch: &Launch) -> Result<()>;

    /// The address of the [`Record`] of a device, for a kernel that is about to be started on its current stream. When the
    /// stream is next waited for, a report in the record is an error ([`reported`]).
    fn record(&self, device: Device) -> Result<u64>;
}

thread_local! {
    /// The operator that runs on a device in this thread.
    static OPERATOR: Cell<&'static str> = const { Cell::new("") };
}

/// Names the operator whose kernel is about to run on a device, for [`no_kernel`].
pub fn enter_operator(operator: &'static str) {
    OPERATOR.set(operator);
}

/// The operators that kernels may report, by number.
static REPORTING: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// Where a kernel of the operator that runs on this thread reports a mistake. For the next launch on `device`.
pub fn watch(device: Device, mistake: Mistake, numbers: [i64; 2]) -> Result<Watch> {
    let at = of(device.kind)?.record(device)?;
    let name = OPERATOR.get();
    let mut names = REPORTING.lock().unwrap_or_else(PoisonError::into_inner);
    let known = names.iter().position(|other| *other == name);
    let operator = known.unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    });
    Ok(Watch { at, mistake: mistake as u32, operator: operator as u32, numbers })
}

/// The name of an operator by the number in a [`Watch`].
fn operator_name(number: u32) -> &'static str {
    let names = REPORTING.lock().unwrap_or_else(PoisonError::into_inner);
    names.get(number as usize).copied().unwrap_or_default()
}

/// The error that a kernel has reported, in the words of the same kernel on the CPU. It names the operator of the kernel,
/// because another one may be the first to wait for it.
#[cold]
pub fn reported(record: &Record, device: Device) -> Error {
    let (found, [size, dim]) = (record.found, record.numbers);
    let error = match Mistake::ALL.into_iter().find(|mistake| *mistake as u32 == record.mistake) {
        Some(Mistake::Index) => {
            err!(Index, "index {found} is out of bounds for dimension {dim} with size {size}")
        }
        Some(Mistake::Slice) => err!(
            Index,
            "index out of range in self\nindex {found} is out of bounds for dimension {dim} with size {size}"
        ),
        Some(Mistake::Row) => err!(Index, "index out of range in self: index {found} for {size} rows"),
        Some(Mistake::Element) => {
            err!(Index, "out of range: tried to access index {found} on a tensor of {size} elements.")
        }
        Some(Mistake::Target) => err!(Index, "Target {found} is out of bounds."),
        Some(Mistake::Division) => err!(Runtime, "ZeroDivisionError"),
        Some(Mistake::Probability) => wrong_probability(f64::from_bits(found as u64)),
        Some(Mistake::Rate) => wrong_rate(),
        Some(Mistake::Label) => wrong_label(),
        None => err!(Internal, "a kernel has reported a mistake of number {}", record.mistake),
    };
    error.in_operator(&format!("{} on device {device}", operator_name(record.operator)))
}

/// The error of a label of a row with several that is no class.
#[cold]
pub fn wrong_label() -> Error {
    err!(Runtime, "argument #2 'target' is out of range")
}

/// Ends a kernel that was about to read or write memory of `device` from the host, because the device has no kernel for
/// it. It unwinds, so that the thousand kernels of the host need no branch for it; nothing is printed. The border to
/// other languages turns it into an error ([`missing_kernel`]). Nothing was written.
#[cold]
pub fn no_kernel(device: Device) -> ! {
    let error = match OPERATOR.get() {
        "" => err!(NotImplemented, "no kernel on device {device}"),
        operator => err!(NotImplemented, "no kernel for operator {operator} on device {device}"),
    };
    std::panic::resume_unwind(Box::new(error))
}

/// The error of [`no_kernel`], if that is what was caught.
pub fn missing_kernel(payload: Box<dyn Any + Send>) -> std::result::Result<Error, Box<dyn Any + Send>> {
    payload.downcast::<Error>().map(|error| *error)
}

static CUDA: OnceLock<&'static dyn Backend> = OnceLock::new();

/// Registers the backend of CUDA devices. The first one stays.
pub fn register(backend: &'static dyn Backend) {
    let _ = CUDA.set(backend);
}

/// The backend of the devices of this kind.
pub fn of(kind: DeviceType) -> Result<&'static dyn Backend> {
    let backend = if kind == DeviceType::Cuda { CUDA.get() } else { None };
    backend.copied().ok_or_else(|| err!(Runtime, "no device of type {} is in use", kind.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_the_operator_of_the_kernel() {
        REPORTING.lock().unwrap().extend(["index_select", "gather"]);
        let number = REPORTING.lock().unwrap().iter().position(|name| *name == "gather").unwrap() as u32;
        let mut record = Record {
            taken: 1,
            mistake: Mistake::Index as u32,
            operator: number,
            reserved: 0,
            found: 7,
            numbers: [5, 1],
        };
        let error = reported(&record, Device::cuda(0)).in_operator("add.Tensor");
        assert_eq!(
            error.message(),
            "index 7 is out of bounds for dimension 1 with size 5\n  in operator gather on device cuda:0"
        );
        record.mistake = Mistake::Division as u32;
        let error = reported(&record, Device::cuda(1));
        assert_eq!(error.message(), "ZeroDivisionError\n  in operator gather on device cuda:1");
    }
}
