//! The transposed convolution as PyTorch computes it without oneDNN: a product over the channels for each tap of the
//! kernel, accumulated one after another in the stored type. Half precision is thus rounded at every tap.

use super::Walk;
use super::axis::even_step;
use crate::array::Array;
use crate::gemm::gemm;
use crate::pointwise::Loop;
use crate::{arithmetic, fill};
use rushlight_base::{DimVec, Result, Scalar, Storage, contiguous_strides};

/// out = the transpose of the convolution, applied to `image`, + bias.
pub fn transposed_by_taps(out: &Array, image: &Array, weight: &Array, bias: Option<&Array>, walk: &Walk) -> Result<()> {
    if !out.is_on_host() {
        // Sums of a device are of `f32`.
        return super::transposed(out, image, weight, bias, walk);
    }
    fill::fill(&Loop::new([out.clone()])?, Scalar::Int(0))?;
    let channels = weight.size(1);
    let mut sizes = DimVec::from_slice(image.sizes());
    sizes[0] = 1;
    sizes[1] = channels as i64;
    let buffer = Storage::allocate(sizes.iter().product::<i64>() as usize * out.dtype().size())?;
    let strides = contiguous_strides(&sizes);
    // SAFETY: the buffer was allocated for exactly these sizes.
    let products = unsafe { Array::new(buffer.data(), out.dtype(), &sizes, &strides) };
    let taps: usize = weight.sizes()[2..].iter().product::<i64>() as usize;
    for sample in 0..image.size(0) {
        for group in 0..walk.groups as usize {
            for tap in 0..taps {
                let job = Job { image, weight, walk, place: place_of(tap, &weight.sizes()[2..]), sample, group };
                job.add_to(out, &products)?;
            }
        }
    }
    let Some(bias) = bias else { return Ok(()) };
    let mut steps = DimVec::from_elem(0, out.ndim());
    steps[1] = bias.stride(0) as i64;
    // SAFETY: the bias has an element for each output channel; the other dimensions have stride 0.
    let spread = unsafe { Array::new(bias.start(), bias.dtype(), out.sizes(), &steps) };
    arithmetic::add(&Loop::new([out.clone(), out.clone(), spread])?, Scalar::Int(1))
}

/// The position of the nth tap.
fn place_of(nth: usize, extents: &[i64]) -> DimVec {
    let mut rest = nth as i64;
    let mut place: DimVec = extents.iter().rev().map(|extent| (rest % extent, rest /= extent).0).collect();
    place.reverse();
    place
}

/// The contribution of one tap to a group of channels of a sample.
struct Job<'a> {
    image: &'a Array<'a>,
    weight: &'a Array<'a>,
    walk: &'a Walk<'a>,
    place: DimVec,
    sample: usize,
    group: usize,
}

impl Job<'_> {
    fn add_to(&self, out: &Array, products: &Array) -> Result<()> {
        let spatial = self.place.len();
        // Positions of the image whose product falls into the output: the first, and how many.
        let mut boxed: DimVec = DimVec::from_slice(&[1, products.sizes()[1]]);
        let (mut from, mut to) = (0isize, 0isize);
        let mut steps: DimVec = DimVec::from_slice(&out.strides()[..2]);
        for dim in 0..spatial {
            let (stride, at) =
                (self.walk.stride[dim], self.place[dim] * self.walk.dilation[dim] - self.walk.padding[dim]);
            let [length, extent] = [out, self.image].map(|array| array.size(2 + dim) as i64);
            let first = (-at).max(0).div_euclid(stride) + i64::from((-at).max(0) % stride != 0);
            let end = ((length - 1 - at).div_euclid(stride) + 1).min(extent);
            if end <= first {
                return Ok(());
            }
            boxed.push(end - first);
            from += first as isize * products.stride(2 + dim);
            to += (first * stride + at) as isize * out.stride(2 + dim);
            steps.push(stride * out.stride(2 + dim) as i64);
        }
        self.multiply(products)?;
        let channel = (self.group * products.size(1)) as isize;
        to += self.sample as isize * out.stride(0) + channel * out.stride(1);
        let dtype = out.dtype();
        let element = |array: &Array, offset: isize| array.start().wrapping_offset(offset * dtype.size() as isize);
        // SAFETY: the loop above computed positions inside the output and inside the products.
        let (target, source) = unsafe {
            (
                Array::new(element(out, to), dtype, &boxed, &steps),
                Array::new(element(products, from), dtype, &boxed, products.strides()),
            )
        };
        arithmetic::add(&Loop::new([target.clone(), target, source])?, Scalar::Int(1))
    }

    /// products = the tap's weights times the channels of the image, at every position.
    fn multiply(&self, products: &Array) -> Result<()> {
        let (image, weight, dtype) = (self.image, self.weight, products.dtype());
        let spatial = self.place.len();
        let (channels, outputs) = (image.size(1) / self.walk.groups as usize, products.size(1));
        let element = |array: &Array, offset: isize| array.start().wrapping_offset(offset * dtype.size() as isize);
        let first = (self.group * channels) as isize;
        let of_tap: isize = (0..spatial).map(|dim| self.place[dim] as isize * weight.stride(2 + dim)).sum();
        let (sizes, strides) = ([outputs as i64, channels as i64], [weight.stride(1) as i64, weight.stride(0) as i64]);
        // SAFETY: the group's weights at this tap are part of the weight array, with its strides.
        let left = unsafe { Array::new(element(weight, of_tap + first * weight.stride(0)), dtype, &sizes, &strides) };
        let base = self.sample as isize * image.stride(0) + first * image.stride(1);
        let of = |dim: usize| {
            let dim = (dim + spatial).checked_sub(3);
            dim.map_or((1, 0), |dim| (image.size(2 + dim), image.stride(2 + dim)))
        };
        let all = [of(0), of(1), of(2)];
        let product = |offset: isize, count: usize, step: isize, at: usize| {
            let (sizes, strides) = ([channels as i64, count as i64], [image.stride(1) as i64, step as i64]);
            let (to_sizes, to_strides) = ([outputs as i64, count as i64], [products.stride(1) as i64, 1]);
            // SAFETY: the columns are positions inside the image, and the products have as many.
            let (right, to) = unsafe {
                (
                    Array::new(element(image, base + offset), dtype, &sizes, &strides),
                    Array::new(element(products, at as isize), dtype, &to_sizes, &to_strides),
                )
            };
            gemm(&to, &left, &right, None, Scalar::Int(1))
        };
        let [(depth, d_step), (height, h_step), (width, w_step)] = all;
        if let Some(step) = even_step(all) {
            return product(0, depth * height * width, step, 0);
        }
        for d in 0..depth {
            for h in 0..height {
                product(d as isize * d_step + h as isize * h_step, width, w_step, (d * height + h) * width)?;
            }
        }
        Ok(())
    }
}
