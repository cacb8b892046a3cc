//! The device and layout of a tensor, with c10's frozen numbers.

use crate::{Result, bail, ensure, err};
use std::fmt;

/// Device type. The numbers are those of `c10::DeviceType`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceType {
    /// The CPU.
    Cpu = 0,
    /// An NVIDIA GPU.
    Cuda = 1,
    /// The meta device: shape and dtype without data.
    Meta = 14,
}

impl DeviceType {
    /// The device type with c10's number `code`.
    pub fn from_code(code: i32) -> Result<DeviceType> {
        match code {
            0 => Ok(DeviceType::Cpu),
            1 => Ok(DeviceType::Cuda),
            14 => Ok(DeviceType::Meta),
            _ => Err(err!(Value, "device type number {code} is not supported")),
        }
    }

    /// Its name in a device string.
    pub fn name(self) -> &'static str {
        match self {
            DeviceType::Cpu => "cpu",
            DeviceType::Cuda => "cuda",
            DeviceType::Meta => "meta",
        }
    }
}

/// A device: type and index (-1: the current one of its type).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Device {
    /// Device type.
    pub kind: DeviceType,
    /// Index, or -1.
    pub index: i8,
}

impl Device {
    /// The CPU.
    pub const CPU: Device = Device { kind: DeviceType::Cpu, index: -1 };
    /// The meta device.
    pub const META: Device = Device { kind: DeviceType::Meta, index: -1 };

    /// The CUDA device with this index.
    pub const fn cuda(index: i8) -> Device {
        Device { kind: DeviceType::Cuda, index }
    }

    /// Parses a device string: `cpu`, `cuda`, `cuda:1`, `meta`.
    pub fn parse(text: &str) -> Result<Device> {
        let (name, index) = match text.split_once(':') {
            None => (text, -1),
            Some((name, digits)) => {
                let index = digits.parse::<i8>().ok().filter(|index| *index >= 0);
                (name, index.ok_or_else(|| err!(Runtime, "Invalid device string: '{text}'"))?)
            }
        };
        let kind = match name {
            "cpu" => DeviceType::Cpu,
            "cuda" => DeviceType::Cuda,
            "meta" => DeviceType::Meta,
            _ => bail!(Runtime, "Expected one of cpu, cuda, meta device type at start of device string: {text}"),
        };
        ensure!(kind != DeviceType::Cpu || index <= 0, Runtime, "CPU device index must be -1 or zero, got {index}");
        Ok(Device { kind, index })
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if self.index >= 0 { write!(f, ":{}", self.index) } else { Ok(()) }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Memory layout. The numbers are those of `c10::Layout`.
#[repr(i8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Dense with strides.
    Strided = 0,
    /// Sparse in coordinate format (COO).
    Sparse = 1,
    /// Sparse with compressed rows.
    SparseCsr = 2,
    /// Dense, in the layout of a library for neural networks. No tensor has it here.
    Mkldnn = 3,
    /// Sparse with compressed columns.
    SparseCsc = 4,
    /// Sparse with compressed rows of blocks. No tensor has it here.
    SparseBsr = 5,
    /// Sparse with compressed columns of blocks. No tensor has it here.
    SparseBsc = 6,
    /// Nested tensors of different lengths. No tensor has it here.
    Jagged = 7,
}

impl Layout {
    /// The layout with c10's number `code`.
    pub fn from_code(code: i32) -> Result<Layout> {
        let known = usize::try_from(code).ok().and_then(|code| Layout::ALL.get(code));
        known.copied().ok_or_else(|| err!(Value, "unknown layout number {code}"))
    }

    /// All layouts, in the order of their numbers.
    const ALL: [Layout; 8] = [
        Layout::Strided,
        Layout::Sparse,
        Layout::SparseCsr,
        Layout::Mkldnn,
        Layout::SparseCsc,
        Layout::SparseBsr,
        Layout::SparseBsc,
        Layout::Jagged,
    ];

    /// The name as c10 prints it.
    pub fn name(self) -> &'static str {
        ["Strided", "Sparse", "SparseCsr", "Mkldnn", "SparseCsc", "SparseBsr", "SparseBsc", "Jagged"][self as usize]
    }

    /// Whether rows or columns are compressed.
    pub fn is_compressed(self) -> bool {
        matches!(self, Layout::SparseCsr | Layout::SparseCsc | Layout::SparseBsr | Layout::SparseBsc)
    }
}

/// Memory format: the order of dimensions in memory. The numbers are those of `c10::MemoryFormat`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryFormat {
    /// Row-major.
    Contiguous = 0,
    /// The format of the input is preserved.
    Preserve = 1,
    /// NHWC, for 4 dimensions.
    ChannelsLast = 2,
    /// NDHWC, for 5 dimensions.
    ChannelsLast3d = 3,
}

impl MemoryFormat {
    /// The memory format with c10's number `code`.
    pub fn from_code(code: i32) -> Result<MemoryFormat> {
        match code {
            0 => Ok(MemoryFormat::Contiguous),
            1 => Ok(MemoryFormat::Preserve),
            2 => Ok(MemoryFormat::ChannelsLast),
            3 => Ok(MemoryFormat::ChannelsLast3d),
            _ => Err(err!(Value, "unknown memory format number {code}")),
        }
    }
}
