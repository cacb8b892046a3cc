//! The options of sampling. The kernels of devices include this file (`core/cuda/kernels`).

use rushlight_base::{Result, bail};

/// Interpolation between elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The two elements around it along each dimension.
    Linear,
    /// The nearest one.
    Nearest,
    /// The four around it.
    Cubic,
}

impl Interpolation {
    /// Elements along a dimension.
    pub fn taps(self) -> usize {
        match self {
            Interpolation::Linear => 2,
            Interpolation::Nearest => 1,
            Interpolation::Cubic => 4,
        }
    }
}

/// Padding mode: values beyond the borders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Zeros.
    Zeros,
    /// The last element.
    Border,
    /// The image mirrored.
    Reflection,
}

/// Sampling options.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Between elements.
    pub interpolation: Interpolation,
    /// Beyond the borders.
    pub beyond: Beyond,
    /// Whether -1 and 1 refer to the centres of the first and the last element, rather than their outer edges.
    pub align_corners: bool,
}

impl Sampling {
    /// PyTorch's numbers of the interpolation and the padding.
    pub fn codes(&self) -> [u32; 2] {
        let interpolation = match self.interpolation {
            Interpolation::Linear => 0,
            Interpolation::Nearest => 1,
            Interpolation::Cubic => 2,
        };
        let beyond = match self.beyond {
            Beyond::Zeros => 0,
            Beyond::Border => 1,
            Beyond::Reflection => 2,
        };
        [interpolation, beyond]
    }

    /// The sampling with PyTorch's numbers.
    pub fn from_codes(interpolation: i64, beyond: i64, align_corners: bool) -> Result<Sampling> {
        let interpolation = match interpolation {
            0 => Interpolation::Linear,
            1 => Interpolation::Nearest,
            2 => Interpolation::Cubic,
            _ => bail!(Value, "grid_sampler(): {interpolation} is not an interpolation mode (0, 1 or 2)"),
        };
        let beyond = match beyond {
            0 => Beyond::Zeros,
            1 => Beyond::Border,
            2 => Beyond::Reflection,
            _ => bail!(Value, "grid_sampler(): {beyond} is not a padding mode (0, 1 or 2)"),
        };
        Ok(Sampling { interpolation, beyond, align_corners })
    }
}
