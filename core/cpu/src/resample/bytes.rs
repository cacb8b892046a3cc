//! Interpolation of bytes: along one dimension after the other, with weights of 16 bits, each pass rounded to bytes.

use super::taps::Taps;
use crate::array::Array;
use crate::device;
use crate::volume::{Volume, try_each_planes};
use rushlight_base::list::filled;
use rushlight_base::{Result, list};

/// Weights as integers, and the bits behind their point: as many as fit the largest weight into 15 bits. Beyond an edge,
/// where inputs repeat, their weights are added before they are rounded.
fn fixed(taps: &Taps) -> Result<(Vec<i32>, u32)> {
    let mut weights = list::with_capacity(taps.weights.len())?;
    weights.extend_from_slice(&taps.weights);
    for (index, weights) in taps.index.chunks_exact(taps.width).zip(weights.chunks_exact_mut(taps.width)) {
        for at in 1..taps.width {
            if index[at] == index[at - 1] {
                weights[at] += weights[at - 1];
                weights[at - 1] = 0.0;
            }
        }
    }
    let largest = weights.iter().fold(0.0f64, |largest, &weight| largest.max(weight));
    let mut bits = 0;
    while bits < 22 && ((largest * f64::from(1u32 << (bits + 1)) + 0.5) as i64) < 1 << 15 {
        bits += 1;
    }
    let one = f64::from(1u32 << bits);
    Ok((list::collect(weights.iter().map(|weight| (weight * one).round() as i32))?, bits))
}

/// The sum of bytes times weights, rounded.
fn rounded(sum: i32, bits: u32) -> u8 {
    ((sum + if bits > 0 { 1 << (bits - 1) } else { 0 }) >> bits).clamp(0, 255) as u8
}

/// The rounded weights as numbers, which are exact.
fn fixed_taps(taps: &Taps) -> Result<Taps> {
    let (weights, bits) = fixed(taps)?;
    let one = f64::from(1u32 << bits);
    let weights = list::collect(weights.iter().map(|&weight| f64::from(weight) / one))?;
    Ok(Taps { width: taps.width, index: list::copied(&taps.index)?, weights })
}

/// out = `input` interpolated along height and width.
pub fn interpolate_bytes(out: &Array, input: &Array, taps: &[Taps; 3]) -> Result<()> {
    if !out.is_on_host() {
        let tables = super::tables(&[Taps::none(), fixed_taps(&taps[1])?, fixed_taps(&taps[2])?])?;
        return device::bytes(out, input, &tables);
    }
    let (to, from) = (Volume::<u8>::of(out, 2)?, Volume::<u8>::of(input, 2)?);
    let ([.., height, width], rows) = (to.sizes, from.sizes[1]);
    let (across, across_bits) = fixed(&taps[2])?;
    let (down, down_bits) = fixed(&taps[1])?;
    try_each_planes(to.planes(), width * rows * taps[2].width + width * height * taps[1].width, &|planes| {
        for plane in planes {
            let mut lines = filled(rows * width, 0u8)?;
            let (target, source) = (to.plane(plane), from.plane(plane));
            for h in 0..rows {
                for w in 0..width {
                    let own = w * taps[2].width..(w + 1) * taps[2].width;
                    let at = |k: usize| from.row([0, h]) + taps[2].index[k] as isize * from.steps[2];
                    // SAFETY: the table of taps was built for this input size, so the position is inside the input.
                    let value = |k: usize| i32::from(unsafe { source.offset(at(k)).read() });
                    lines[h * width + w] = rounded(own.map(|k| across[k] * value(k)).sum(), across_bits);
                }
            }
            for h in 0..height {
                let own = h * taps[1].width..(h + 1) * taps[1].width;
                for w in 0..width {
                    let value = |k: usize| i32::from(lines[taps[1].index[k] * width + w]);
                    let byte = rounded(own.clone().map(|k| down[k] * value(k)).sum(), down_bits);
                    // SAFETY: the position is inside the output, in a plane that belongs to this share alone.
                    unsafe { target.offset(to.row([0, h]) + w as isize * to.steps[2]).write(byte) };
                }
            }
        }
        Ok(())
    })
}
