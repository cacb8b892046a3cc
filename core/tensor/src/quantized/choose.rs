//! The choice of scale and zero point for a range of numbers.

/// Scale and zero point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The distance of two representable values.
    pub scale: f64,
    /// The integer that represents 0.
    pub zero_point: i32,
}

/// The smallest scale, so that its reciprocal is far from overflow.
const SMALLEST: f32 = 6.1e-5;

/// Scale and zero point that represent the numbers from `min` to `max`, and 0, by integers in `range`. `symmetric`: 0 is
/// the middle of the integers. `reduced`: half of the integers, so that sums of two products fit into int16.
pub fn choose(min: f32, max: f32, range: (i32, i32), symmetric: bool, reduced: bool) -> Range {
    let (low, high) = if reduced { (range.0 / 2, range.1 / 2) } else { range };
    let (low, high) = (f64::from(low), f64::from(high));
    let (mut min, mut max) = (min, max);
    if symmetric && min < 0.0 && max > 0.0 {
        let half = ((high - low) / 2.0).trunc();
        let (symmetric_low, symmetric_high) = (-(half + 1.0), half);
        let scale = (f64::from(min) / symmetric_low).abs().max((f64::from(max) / symmetric_high).abs());
        (min, max) = ((scale * symmetric_low) as f32, (scale * symmetric_high) as f32);
    }
    // `if` and not `min`: a NaN stays.
    min = if 0.0 < min { 0.0 } else { min };
    max = if max < 0.0 { 0.0 } else { max };
    let mut scale = (f64::from(max) - f64::from(min)) / (high - low);
    if scale as f32 == 0.0 || (1.0 / scale as f32).is_infinite() {
        scale = 0.1;
    }
    if scale < f64::from(SMALLEST) {
        let (before, widest) = (scale as f32, SMALLEST * (high - low) as f32);
        scale = f64::from(SMALLEST);
        if min == 0.0 {
            max = widest;
        } else if max == 0.0 {
            min = -widest;
        } else {
            (min, max) = (min * (SMALLEST / before), max * (SMALLEST / before));
        }
    }
    let (below, above) = (f64::from(min) / scale, f64::from(max) / scale);
    // The end whose error is smaller decides.
    let from_min = low.abs() - below.abs() < high.abs() - above.abs();
    let mut zero = if from_min { low - below } else { high - above };
    if symmetric && min < 0.0 && max > 0.0 {
        zero = (low + high) / 2.0;
    }
    let zero_point = if zero < low {
        low
    } else if zero > high {
        high
    } else {
        zero.round_ties_even()
    };
    Range { scale, zero_point: zero_point as i32 }
}
