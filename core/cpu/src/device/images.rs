//! Pooling and resampling on a device: an output is a sum over the inputs that tables list for each of its positions, or the
//! largest of them. Gradients are the same with the tables transposed, so that each element is added up by one thread.

use super::parameters::{Images, Size};
use super::{Grid, Temporary, address, launch, small};
use crate::array::Array;
use crate::pooling::Window;
use crate::resample::Taps;
use rushlight_base::backend::{self, Kernel, Place};
use rushlight_base::list::{filled, with_capacity};
use rushlight_base::{Device, Result, ensure, err};

/// The inputs of each position along one dimension, with their weights.
pub(crate) struct Table {
    /// Where the inputs of a position start; the last entry is where all end.
    starts: Vec<u32>,
    inputs: Vec<u32>,
    weights: Vec<f64>,
    /// What a position counts as, if sums are divided by that.
    counts: Vec<u32>,
}

impl Table {
    /// The inputs of a table of taps.
    pub(crate) fn of_taps(taps: &Taps) -> Result<Table> {
        let positions = taps.index.len() / taps.width.max(1);
        let mut table = Table::with_space(positions, taps.index.len())?;
        table.starts.extend((0..=positions).map(|position| (position * taps.width) as u32));
        table.inputs.extend(taps.index.iter().map(|&at| at as u32));
        table.weights.extend_from_slice(&taps.weights);
        Ok(table)
    }

    /// The inputs of windows, all of weight 1.
    pub(crate) fn of_windows(windows: &[Window]) -> Result<Table> {
        let entries = windows.iter().map(|window| (window.end - window.start).div_ceil(window.step)).sum();
        let mut table = Table::with_space(windows.len(), entries)?;
        table.starts.push(0);
        for window in windows {
            table.inputs.extend((window.start..window.end).step_by(window.step).map(|at| at as u32));
            table.starts.push(table.inputs.len() as u32);
            table.counts.push(window.counted as u32);
        }
        table.weights.resize(entries, 1.0);
        Ok(table)
    }

    fn with_space(positions: usize, entries: usize) -> Result<Table> {
        ensure!(u32::try_from(entries).is_ok(), Runtime, "an image on a device has {entries} inputs along a dimension");
        Ok(Table {
            starts: with_capacity(positions + 1)?,
            inputs: with_capacity(entries)?,
            weights: with_capacity(entries)?,
            counts: with_capacity(positions)?,
        })
    }

    /// The same with weights divided by the counts.
    fn shared(mut self) -> Table {
        for (nth, count) in self.counts.iter().enumerate() {
            for weight in &mut self.weights[self.starts[nth] as usize..self.starts[nth + 1] as usize] {
                *weight /= f64::from(*count);
            }
        }
        self
    }

    /// For each of `inputs` inputs the positions that it contributes to, in their order.
    fn transposed(&self, inputs: usize) -> Result<Table> {
        let mut starts = filled(inputs + 1, 0u32)?;
        self.inputs.iter().for_each(|&at| starts[at as usize + 1] += 1);
        for at in 0..inputs {
            starts[at + 1] += starts[at];
        }
        let mut table = Table {
            inputs: filled(self.inputs.len(), 0)?,
            weights: filled(self.inputs.len(), 0.0)?,
            counts: Vec::new(),
            starts: with_capacity(inputs + 1)?,
        };
        table.starts.extend_from_slice(&starts);
        for position in 0..self.starts.len() - 1 {
            for entry in self.starts[position] as usize..self.starts[position + 1] as usize {
                let next = &mut starts[self.inputs[entry] as usize];
                table.inputs[*next as usize] = position as u32;
                table.weights[*next as usize] = self.weights[entry];
                *next += 1;
            }
        }
        Ok(table)
    }
}

/// Tables in memory of a device, one after the other, with those of doubles first.
struct Sent {
    _memory: Temporary,
    starts: [u64; 3],
    inputs: [u64; 3],
    weights: [u64; 3],
    counts: [u64; 3],
}

fn send(device: Device, tables: &[Table; 3]) -> Result<Sent> {
    let entries =
        |table: &Table| 2 * table.weights.len() + table.starts.len() + table.inputs.len() + table.counts.len();
    let mut words: Vec<u32> = with_capacity(tables.iter().map(entries).sum())?;
    let mut weights = [0; 3];
    for (at, table) in weights.iter_mut().zip(tables) {
        *at = words.len();
        words.extend(table.weights.iter().flat_map(|weight| {
            let bits = weight.to_bits();
            [bits as u32, (bits >> 32) as u32]
        }));
    }
    let mut others = [[0; 3]; 3];
    for (which, of) in others.iter_mut().enumerate() {
        for (at, table) in of.iter_mut().zip(tables) {
            *at = words.len();
            words.extend([&table.starts, &table.inputs, &table.counts][which]);
        }
    }
    let memory = Temporary::new(device, words.len() * size_of::<u32>())?;
    let from = Place { device: Device::CPU, at: words.as_mut_ptr().cast() };
    let to = Place { device, at: memory.at };
    // SAFETY: both places have the bytes of the words, which may be used again when the call returns.
    unsafe { backend::of(device.kind)?.copy(to, from, words.len() * size_of::<u32>(), false)? };
    let address = |word: usize| memory.at() + (word * size_of::<u32>()) as u64;
    let [starts, inputs, counts] = others.map(|of| of.map(address));
    let counts = if tables.iter().all(|table| !table.counts.is_empty()) { counts } else { [0; 3] };
    Ok(Sent { weights: weights.map(address), starts, inputs, counts, _memory: memory })
}

/// Sizes of channels and of the spatial dimensions, and all strides; the last `spatial` dimensions are the spatial ones.
pub(super) fn geometry(array: &Array, spatial: usize) -> Result<([usize; 5], [i64; 5])> {
    let lead = array.ndim().checked_sub(spatial).filter(|&lead| lead <= 2 && spatial <= 3);
    let lead = lead.ok_or_else(|| err!(Internal, "a spatial kernel got {} dimensions", array.ndim()))?;
    let (mut sizes, mut strides) = ([1; 5], [0; 5]);
    for dim in 0..array.ndim() {
        let to = if dim < lead { 2 - lead + dim } else { 5 - spatial + dim - lead };
        (sizes[to], strides[to]) = (array.size(dim), array.stride(dim) as i64);
    }
    Ok((sizes, strides))
}

fn start(
    function: &'static str,
    arrays: [Option<&Array>; 3],
    tables: &[Table; 3],
    plane: [usize; 3],
    divide_by: i64,
    spatial: usize,
) -> Result<()> {
    let [Some(out), Some(input), indices] = arrays else {
        return Err(err!(Internal, "{function} got no arrays"));
    };
    if out.numel() == 0 {
        return Ok(());
    }
    let number = |size: usize| small(size).ok_or_else(|| err!(Runtime, "an image on a device has a size of {size}"));
    let device = out.device();
    let (sizes, strides) = geometry(out, spatial)?;
    let sent = send(device, tables)?;
    let p = Images {
        at: [address(out), address(input), indices.map_or(0, address)],
        strides: [
            strides,
            geometry(input, spatial)?.1,
            indices.map(|indices| geometry(indices, spatial)).transpose()?.map_or([0; 5], |(_, strides)| strides),
        ],
        starts: sent.starts,
        inputs: sent.inputs,
        weights: sent.weights,
        counts: sent.counts,
        divide_by,
        out: [Size::new(number(sizes[2])?), Size::new(number(sizes[3])?), Size::new(number(sizes[4])?)],
        channels: Size::new(number(sizes[1])?),
        plane: [number(plane[0])?, number(plane[1])?, number(plane[2])?],
        channels_last: u32::from(strides[1] == 1 && sizes[1] > 1),
        count: number(out.numel())?,
        reserved: 0,
    };
    let kernel = Kernel { file: "images", function, dtype: out.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; the arrays are on the device, with an element for
    // each index, and the tables list inputs that exist.
    unsafe { launch(device, kernel, Grid::of(out.numel()), &p) }
}

/// out = the sums of the inputs times their weights, which are divided by `divide_by`, or by the counts if that is 0.
pub(crate) fn sums(out: &Array, input: &Array, tables: &[Table; 3], divide_by: i64, spatial: usize) -> Result<()> {
    start("sums", [Some(out), Some(input), None], tables, [0; 3], divide_by, spatial)
}

/// out = bytes interpolated along width and height. Each pass is rounded to bytes: the weights are integers divided by powers
/// of two, whose sums are exact.
pub(crate) fn bytes(out: &Array, input: &Array, tables: &[Table; 3]) -> Result<()> {
    start("bytes", [Some(out), Some(input), None], tables, [0; 3], 0, 2)
}

/// out = the transpose of [`sums`].
pub(crate) fn spread(out: &Array, grad: &Array, tables: &[Table; 3], divide_by: i64, spatial: usize) -> Result<()> {
    let sizes = geometry(out, spatial)?.0;
    let [d, h, w] = tables;
    let transposed = [d.transposed(sizes[2])?, h.transposed(sizes[3])?, w.transposed(sizes[4])?];
    start("sums", [Some(out), Some(grad), None], &transposed, [0; 3], divide_by, spatial)
}

/// out = the transpose of a mean of windows.
pub(crate) fn spread_mean(
    out: &Array,
    grad: &Array,
    tables: [Table; 3],
    divide_by: Option<i64>,
    spatial: usize,
) -> Result<()> {
    let tables = if divide_by.is_some() { tables } else { tables.map(Table::shared) };
    spread(out, grad, &tables, divide_by.unwrap_or(0), spatial)
}

/// out = the largest of the inputs, and its number in its plane.
pub(crate) fn largest(out: &Array, indices: &Array, input: &Array, tables: &[Table; 3], spatial: usize) -> Result<()> {
    let [_, _, depth, height, width] = geometry(input, spatial)?.0;
    start("largest", [Some(out), Some(input), Some(indices)], tables, [depth, height, width], 0, spatial)
}

/// out = the gradients of the outputs whose indices lead to each element.
pub(crate) fn spread_largest(
    out: &Array,
    grad: &Array,
    indices: &Array,
    tables: &[Table; 3],
    spatial: usize,
) -> Result<()> {
    let [_, _, depth, height, width] = geometry(out, spatial)?.0;
    let [d, h, w] = tables;
    let transposed = [d.transposed(depth)?, h.transposed(height)?, w.transposed(width)?];
    let arrays = [Some(out), Some(grad), Some(indices)];
    start("spread_largest", arrays, &transposed, [depth, height, width], 0, spatial)
}
