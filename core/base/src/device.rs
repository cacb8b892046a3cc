//! Where a tensor lives and how it is laid out, with c10's frozen numbers.

use crate::{Result, bail, ensure, err};
use std::fmt;

/// Kind of device. The numbers are those of `c10::DeviceType`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceType {
    /// The host processor.
    Cpu = 0,
    /// An NVIDIA GPU.
    Cuda = 1,
    /// Shape and dtype without data.
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

/// A device: kind and ordinal (-1: the current one of its kind).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Device {
    /// Kind of device.
    pub kind: DeviceType,
    /// Ordinal, or -1.
    pub index: i8,
}

impl Device {
    /// The host.
    pub const CPU: Device = Device { kind: DeviceType::Cpu, index: -1 };
    /// The device of tensors without data.
    pub const META: Device = Device { kind: DeviceType::Meta, index: -1 };

    /// The CUDA device with this ordinal.
    pub const fn cuda(index: i8) -> Device {
        Device { kind: DeviceType::Cuda, index }
    }

    /// A device as text: `cpu`, `cuda`, `cuda:1`, `meta`.
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

/// How elements are arranged. The numbers are those of `c10::Layout`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Dense with strides.
    Strided = 0,
}

impl Layout {
    /// The layout with c10's number `code`.
    pub fn from_code(code: i32) -> Result<Layout> {
        match code {
            0 => Ok(Layout::Strided),
            1..=8 => Err(err!(NotImplemented, "layout number {code} (sparse, mkldnn or jagged) is not supported")),
            _ => Err(err!(Value, "unknown layout number {code}")),
        }
    }
}

/// The order of dimensions in memory that a result should have. The numbers are those of `c10::MemoryFormat`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryFormat {
    /// Row-major.
    Contiguous = 0,
    /// As the input is laid out.
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
