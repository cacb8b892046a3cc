//! Convolutions of 8-bit integers. Images and results have their channels last in memory.
//!
//! | convolution | code path |
//! |---|---|
//! | one input and one output channel in each group | `Depthwise`: sums of 64 channels at a time in registers |
//! | any other | rows of a matrix for some positions of the result, made of runs of channels, times the packed weight |
//! | kernel of one element, stride 1, no padding, one group | the image itself is that matrix |
//!
//! Sums become bytes while they are in the cache. A share of the result belongs to one thread.

use super::product::{LIGHT, Requantize, SHARE, SIGN, Weight, flipped, in_shares};
use crate::simd::{Kernel, Simd, run_narrow};
use rushlight_base::runtime::chunk_length;
use rushlight_base::{Result, ensure, list};

/// Channels of a depthwise convolution that are summed together.
const BLOCK: usize = 64;

/// The geometry of a convolution of three spatial dimensions; missing ones have size 1.
pub struct Window {
    /// The spatial sizes of the image.
    pub size: [i64; 3],
    /// Those of the kernel.
    pub kernel: [i64; 3],
    /// Those of the result.
    pub result: [i64; 3],
    /// Steps of the kernel over the image.
    pub stride: [i64; 3],
    /// Elements added at each side.
    pub padding: [i64; 3],
    /// Steps between elements of the kernel.
    pub dilation: [i64; 3],
    /// Whether this is the gradient of a convolution with these numbers.
    pub transposed: bool,
}

/// The weight of a convolution, packed.
pub enum Filters {
    /// A matrix for each group: a row for each output channel, with the input channels of an element of the kernel
    /// together.
    Groups(Vec<Weight>),
    /// One channel in each group: for each element of the kernel, the distances of all channels from their zero points.
    Depthwise(Vec<i16>),
}

impl Filters {
    /// Packs `values`, for each output channel and element of the kernel the input channels, with zero points for each
    /// output channel.
    pub fn new(values: &[i8], zeros: &[i32], groups: usize, taps: usize) -> Result<Filters> {
        let (filters, depth) = (zeros.len(), values.len() / zeros.len().max(1));
        ensure!(
            groups > 0 && filters % groups == 0 && taps > 0 && depth % taps == 0 && filters * depth == values.len(),
            Internal,
            "filters of {} elements for {filters} channels in {groups} groups and {taps} elements of the kernel",
            values.len()
        );
        if filters == groups && depth == taps {
            let distance = |at: usize| {
                let (tap, filter) = (at / filters, at % filters);
                i16::from(values[filter * taps + tap]).wrapping_sub(zeros[filter] as i16)
            };
            return Ok(Filters::Depthwise(list::collect((0..taps * filters).map(distance))?));
        }
        let per_group = filters / groups;
        let packed = (0..groups).map(|group| {
            let rows = group * per_group..(group + 1) * per_group;
            Weight::new(&values[rows.start * depth..rows.end * depth], &zeros[rows])
        });
        Ok(Filters::Groups(list::try_collect(packed)?))
    }
}

impl Filters {
    fn groups(&self) -> usize {
        match self {
            Filters::Groups(weights) => weights.len().max(1),
            Filters::Depthwise(_) => 1,
        }
    }
}

impl Window {
    /// Where an element of the kernel reads the image along a dimension; -1 between the elements of a transposed one.
    #[inline]
    fn place(&self, d: usize, at: i64, tap: i64) -> i64 {
        if !self.transposed {
            return at * self.stride[d] - self.padding[d] + tap * self.dilation[d];
        }
        let spread = at + self.padding[d] - tap * self.dilation[d];
        if spread >= 0 && spread % self.stride[d] == 0 { spread / self.stride[d] } else { -1 }
    }

    /// The index of a place in an image; none outside.
    #[inline]
    fn index(&self, place: [i64; 3]) -> Option<usize> {
        let inside = place.iter().zip(&self.size).all(|(place, size)| (0..*size).contains(place));
        inside.then(|| ((place[0] * self.size[1] + place[1]) * self.size[2] + place[2]) as usize)
    }

    fn taps(&self) -> usize {
        self.kernel.iter().product::<i64>() as usize
    }

    /// Positions of a result.
    fn places(&self) -> usize {
        self.result.iter().product::<i64>() as usize
    }

    fn position(&self, place: usize) -> [i64; 3] {
        let (plane, place) = (self.result[1] * self.result[2], place as i64);
        [place / plane, place % plane / self.result[2], place % self.result[2]]
    }

    /// Whether each row of the matrix is an element of the image.
    fn is_pointwise(&self) -> bool {
        self.kernel == [1; 3] && self.stride == [1; 3] && self.padding == [0; 3]
    }
}

/// out = the convolution of a batch of images, whose zero point is `zero`, of `channels` channels: bytes with channels
/// last. The result has the channels of `by`.
pub fn convolve(
    window: &Window,
    filters: &Filters,
    images: &[u8],
    channels: usize,
    zero: u8,
    by: &Requantize,
) -> Result<Vec<u8>> {
    let image = (window.size.iter().product::<i64>() as usize) * channels;
    let places = window.places();
    let batch = images.len().checked_div(image).unwrap_or(0);
    let out_channels = by.channels.len();
    let mut out = list::filled(batch * places * out_channels, 0u8)?;
    let work = match filters {
        Filters::Depthwise(_) => LIGHT / (window.taps() * channels).max(1),
        Filters::Groups(_) => SHARE / (window.taps() * channels * out_channels / filters.groups()).max(1),
    };
    let share = chunk_length(batch * places, 1 + work).max(1);
    match filters {
        Filters::Depthwise(weight) => in_shares(&mut out, share * out_channels, |index, part| {
            let line = Depthwise { window, weight, images, image, zero, by, first: index * share };
            line.rows(part)
        })?,
        Filters::Groups(weights) => {
            let flipped = flipped(images)?;
            let rows = Rows { window, images: &flipped, image, channels, groups: weights.len(), padding: zero ^ SIGN };
            in_shares(&mut out, share * out_channels, |index, part| {
                rows.convolve(weights, zero, by, index * share, part)
            })?;
        }
    }
    Ok(out)
}

/// The matrix of an unfolded batch, row by row.
struct Rows<'a> {
    window: &'a Window,
    images: &'a [u8],
    image: usize,
    channels: usize,
    groups: usize,
    padding: u8,
}

impl Rows<'_> {
    /// Computes the positions from `first` on.
    fn convolve(&self, weights: &[Weight], zero: u8, by: &Requantize, first: usize, out: &mut [u8]) -> Result<()> {
        let count = out.len() / by.channels.len().max(1);
        let mut done = 0;
        let (mut matrix, mut sums) = (Vec::new(), Vec::new());
        for (group, weight) in weights.iter().enumerate() {
            list::reserve(&mut sums, count * weight.rows())?;
            sums.clear();
            sums.resize(count * weight.rows(), 0);
            if self.groups == 1 && self.window.is_pointwise() {
                let bytes = self.images.get(first * self.channels..(first + count) * self.channels).unwrap_or(&[]);
                weight.multiply(bytes, zero, &mut sums)?;
            } else {
                matrix.clear();
                list::reserve(&mut matrix, count * weight.depth())?;
                for row in first..first + count {
                    self.unfold(row, group, &mut matrix);
                }
                weight.multiply(&matrix, zero, &mut sums)?;
            }
            by.bytes(&sums, done, weight.rows(), out, by.channels.len())?;
            done += weight.rows();
        }
        Ok(())
    }

    /// Appends the bytes below the kernel at a position of the batch, which have been reserved.
    fn unfold(&self, row: usize, group: usize, matrix: &mut Vec<u8>) {
        let window = self.window;
        let (image, at) = (row / window.places(), window.position(row % window.places()));
        let image = &self.images[image * self.image..(image + 1) * self.image];
        let run = self.channels / self.groups;
        let adjacent = self.groups == 1 && !window.transposed && (window.dilation[2] == 1 || window.kernel[2] == 1);
        for a in 0..window.kernel[0] {
            for b in 0..window.kernel[1] {
                let place = |c: i64| [window.place(0, at[0], a), window.place(1, at[1], b), window.place(2, at[2], c)];
                let ends = (window.index(place(0)), window.index(place(window.kernel[2] - 1)));
                if let (true, (Some(start), Some(_))) = (adjacent, ends) {
                    let length = window.kernel[2] as usize * run;
                    matrix.extend_from_slice(&image[start * run..start * run + length]);
                    continue;
                }
                for c in 0..window.kernel[2] {
                    match window.index(place(c)) {
                        Some(index) => {
                            let start = index * self.channels + group * run;
                            matrix.extend_from_slice(&image[start..start + run]);
                        }
                        None => matrix.extend(std::iter::repeat_n(self.padding, run)),
                    }
                }
            }
        }
    }
}

/// A depthwise convolution from a position of the batch on.
struct Depthwise<'a> {
    window: &'a Window,
    weight: &'a [i16],
    images: &'a [u8],
    image: usize,
    zero: u8,
    by: &'a Requantize,
    first: usize,
}

impl Depthwise<'_> {
    fn rows(&self, out: &mut [u8]) -> Result<()> {
        let channels = self.by.channels.len();
        let mut sums = list::filled(channels, 0i32)?;
        for (row, to) in out.chunks_exact_mut(channels.max(1)).enumerate() {
            run_narrow(Position { of: self, row: self.first + row, sums: &mut sums });
            self.by.bytes(&sums, 0, channels, to, channels)?;
        }
        Ok(())
    }
}

/// The sums at a position.
struct Position<'a> {
    of: &'a Depthwise<'a>,
    row: usize,
    sums: &'a mut [i32],
}

impl Kernel for Position<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let (of, window) = (self.of, self.of.window);
        let (image, at) = (self.row / window.places(), window.position(self.row % window.places()));
        let image = &of.images[image * of.image..(image + 1) * of.image];
        let (channels, zero) = (self.sums.len(), i16::from(of.zero));
        for (block, sums) in self.sums.chunks_mut(BLOCK).enumerate() {
            let mut acc = [0i32; BLOCK];
            let mut tap = 0;
            for a in 0..window.kernel[0] {
                for b in 0..window.kernel[1] {
                    for c in 0..window.kernel[2] {
                        let place = [window.place(0, at[0], a), window.place(1, at[1], b), window.place(2, at[2], c)];
                        if let Some(index) = window.index(place) {
                            let bytes = &image[index * channels + block * BLOCK..][..sums.len()];
                            let weight = &of.weight[tap * channels + block * BLOCK..][..sums.len()];
                            for ((sum, &byte), &weight) in acc.iter_mut().zip(bytes).zip(weight) {
                                *sum = sum.wrapping_add(i32::from(i16::from(byte) - zero) * i32::from(weight));
                            }
                        }
                        tap += 1;
                    }
                }
            }
            sums.copy_from_slice(&acc[..sums.len()]);
        }
    }
}
