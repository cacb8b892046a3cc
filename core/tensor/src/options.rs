//! Options of factories besides sizes and values: dtype, layout, device, pinned memory.

use rushlight_base::{DType, Device, Layout, Result, bail, runtime};

/// The trailing arguments `ScalarType? dtype, Layout? layout, Device? device, bool? pin_memory` of PyTorch's factories
/// as one argument. `None` has PyTorch's meaning: the default, or for `*_like` that of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Element type.
    pub dtype: Option<DType>,
    /// Arrangement of elements.
    pub layout: Option<Layout>,
    /// The device of the tensor.
    pub device: Option<Device>,
    /// Page-locked host memory, for transfers to a GPU.
    pub pin_memory: Option<bool>,
}

impl Options {
    /// Nothing but a dtype.
    pub fn of(dtype: DType) -> Options {
        Options { dtype: Some(dtype), ..Options::default() }
    }

    /// The same on a device.
    pub fn on(self, device: Device) -> Options {
        Options { device: Some(device), ..self }
    }

    /// The dtype, or the process's default floating-point dtype.
    pub fn dtype_or_default(&self) -> DType {
        self.dtype.unwrap_or_else(runtime::default_dtype)
    }

    /// The device, or the host.
    pub fn device_or_cpu(&self) -> Device {
        self.device.unwrap_or(Device::CPU)
    }

    /// Rejects options that no tensor supports here. Without a GPU there is no memory to pin.
    pub fn check(&self) -> Result<()> {
        if let Some(layout) = self.layout
            && layout != Layout::Strided
        {
            bail!(NotImplemented, "a tensor of layout {} cannot be created by this operator", layout.name());
        }
        if self.pin_memory == Some(true) {
            bail!(Runtime, "Cannot access accelerator device when none is available.");
        }
        Ok(())
    }
}

/// The C++ name of the element type, as PyTorch prints it.
pub(crate) fn cpp_name(dtype: DType) -> &'static str {
    match dtype {
        DType::U8 => "unsigned char",
        DType::I8 => "signed char",
        DType::I16 => "short int",
        DType::I32 => "int",
        DType::I64 => "long int",
        DType::U16 => "short unsigned int",
        DType::U32 => "unsigned int",
        DType::U64 => "long unsigned int",
        DType::Bool => "bool",
        DType::F16 => "c10::Half",
        DType::BF16 => "c10::BFloat16",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::C32 => "c10::complex<c10::Half>",
        DType::C64 => "c10::complex<float>",
        DType::C128 => "c10::complex<double>",
        DType::QI8 => "c10::qint8",
        DType::QU8 => "c10::quint8",
        DType::QI32 => "c10::qint32",
    }
}
