//! Convolutions over one, two and three dimensions.

use super::{Forward, Module, Part, bias, weight};
use crate::lists::IntList;
use crate::{Result, Tensor, options};
use rushlight_base::ensure;

/// The options of a convolution; numbers are those of each dimension.
///
/// ```
/// # use rushlight::nn::{Conv2d, ConvOptions};
/// let layer = Conv2d::with(1, 16, 3, ConvOptions { padding: 1, bias: false, ..Default::default() })?;
/// # Ok::<(), rushlight::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvOptions {
    /// Distance of the positions of the kernel.
    pub stride: i64,
    /// Zeros that are added at each end.
    pub padding: i64,
    /// Distance of the elements of the kernel.
    pub dilation: i64,
    /// Number of groups that channels are split into.
    pub groups: i64,
    /// Whether there is a bias.
    pub bias: bool,
}

impl Default for ConvOptions {
    fn default() -> ConvOptions {
        ConvOptions { stride: 1, padding: 0, dilation: 1, groups: 1, bias: true }
    }
}

macro_rules! convolutions {
    ($($name:ident, $method:ident, $dims:literal, $shape:literal;)*) => {$(
        #[doc = concat!("A convolution over inputs `", $shape, "`.")]
        #[derive(Debug)]
        pub struct $name {
            /// `[outputs, inputs / groups, kernel...]`
            pub weight: Tensor,
            /// `[outputs]`
            pub bias: Option<Tensor>,
            options: ConvOptions,
        }

        impl $name {
            /// A layer with a kernel of these sizes; a single one is that of each dimension.
            ///
            /// # Errors
            /// Raises an error if a size is negative.
            pub fn new(inputs: i64, outputs: i64, kernel: impl IntList) -> Result<$name> {
                $name::with(inputs, outputs, kernel, ConvOptions::default())
            }

            /// A layer with options.
            ///
            /// # Errors
            /// Raises an error if a size is negative, or if the inputs cannot be split into the groups.
            pub fn with(inputs: i64, outputs: i64, kernel: impl IntList, options: ConvOptions) -> Result<$name> {
                let (groups, kernel) = (options.groups, kernel.as_ints());
                ensure!(
                    [1, $dims].contains(&kernel.len()),
                    Value,
                    "the kernel of {} needs 1 or {} sizes but has {}",
                    stringify!($name),
                    $dims,
                    kernel.len()
                );
                ensure!(groups > 0 && inputs % groups == 0, Value, "in_channels {inputs} must be divisible by groups {groups}");
                let mut sizes = vec![outputs, inputs / groups];
                sizes.extend(kernel.iter().cycle().take($dims));
                let weight = weight(&sizes)?;
                let bias = if options.bias { Some(bias(outputs, &sizes)?) } else { None };
                Ok($name { weight, bias, options })
            }

            /// The result.
            ///
            /// # Errors
            /// Raises an error if the sizes do not fit.
            pub fn forward(&self, input: &Tensor) -> Result<Tensor> {
                let ConvOptions { stride, padding, dilation, groups, .. } = self.options;
                let options = options::$name {
                    bias: self.bias.as_ref(),
                    stride: &[stride],
                    padding: &[padding],
                    dilation: &[dilation],
                    groups,
                };
                input.$method(&self.weight, options)
            }
        }
    )*};
}

convolutions! {
    Conv1d, conv1d_with, 1, "[N, channels, length]";
    Conv2d, conv2d_with, 2, "[N, channels, height, width]";
    Conv3d, conv3d_with, 3, "[N, channels, depth, height, width]";
}

macro_rules! modules {
    ($($name:ident),*) => {$(
        impl Module for $name {
            fn visit<'a>(&'a self, visit: &mut dyn FnMut(&str, Part<'a>)) {
                visit("weight", Part::Parameter(&self.weight));
                if let Some(bias) = &self.bias {
                    visit("bias", Part::Parameter(bias));
                }
            }
        }
    )*};
}

modules!(Conv1d, Conv2d, Conv3d);
super::sequential::forwards!(Conv1d, Conv2d, Conv3d);
