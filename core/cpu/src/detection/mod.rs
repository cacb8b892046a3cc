//! Kernels of object detection: non-maximum suppression, pooling of boxes, columns of deformable convolutions.
//!
//! Arrays are contiguous. Arithmetic is that of the element type, also in half precision, as torchvision computes. Every
//! loop over threads splits channels or boxes, whose results do not depend on each other.

mod align;
mod bins;
mod deform;
mod pool;
mod real;
mod taps;
mod windows;

pub use align::{align, align_backward};
pub use bins::Align;
pub use deform::{columns, columns_image, columns_mask, columns_offset};
pub use pool::{max, max_backward, mean, mean_backward};
pub use taps::Deform;
pub use windows::Windows;

use crate::array::Array;
use crate::shared::Shared;
use real::Real;
use rushlight_base::{Result, ensure, list};
use std::ops::{Add, Div, Mul, Sub};

/// Contiguous elements. Indices outside of them read 0 and write nothing.
#[derive(Clone, Copy)]
struct Flat<T> {
    at: Shared<T>,
    len: usize,
}

impl<T: Real> Flat<T> {
    fn of(array: &Array) -> Result<Flat<T>> {
        ensure!(array.is_contiguous(), Internal, "a kernel of object detection got a strided array");
        Ok(Flat { at: Shared::new(array.as_ptr::<T>()), len: array.numel() })
    }

    #[inline(always)]
    fn get(&self, index: usize) -> T {
        if index >= self.len {
            return T::default();
        }
        // SAFETY: the array is contiguous with `len` elements, and the index is less. Only the thread that owns the
        // element's channel or box writes it.
        unsafe { self.at.get().add(index).read() }
    }

    #[inline(always)]
    fn set(&self, index: usize, value: T) {
        if index < self.len {
            // SAFETY: the array is contiguous with `len` elements, and the index is less. The loops give each thread its
            // own channels or boxes of an output, so no other thread accesses the element.
            unsafe { self.at.get().add(index).write(value) }
        }
    }

    #[inline(always)]
    fn add(&self, index: usize, value: T) {
        self.set(index, self.get(index) + value);
    }

    /// Writes 0 to every element.
    fn clear(&self) {
        (0..self.len).for_each(|index| self.set(index, T::default()));
    }
}

/// Contiguous int32 elements, such as indices.
#[derive(Clone, Copy)]
struct Indices {
    at: Shared<i32>,
    len: usize,
}

impl Indices {
    fn of(array: &Array) -> Result<Indices> {
        ensure!(array.is_contiguous(), Internal, "a kernel of object detection got a strided array");
        Ok(Indices { at: Shared::new(array.as_ptr::<i32>()), len: array.numel() })
    }

    /// The index, or `None` if it is negative.
    fn get(&self, index: usize) -> Option<usize> {
        if index >= self.len {
            return None;
        }
        // SAFETY: the array is contiguous with `len` elements, and the index is less; inputs are not written meanwhile.
        usize::try_from(unsafe { self.at.get().add(index).read() }).ok()
    }

    fn set(&self, index: usize, value: i32) {
        if index < self.len {
            // SAFETY: the array is contiguous with `len` elements, and the index is less. Each thread writes the indices
            // of its own channels.
            unsafe { self.at.get().add(index).write(value) }
        }
    }
}

/// The corners x1, y1, x2, y2 of a box.
fn corners<T: Real>(rois: &Flat<T>, nth: usize) -> [T; 4] {
    [1, 2, 3, 4].map(|at| rois.get(nth * 5 + at))
}

/// The sizes of an array with four dimensions.
pub(crate) fn sizes4(array: &Array) -> Result<[usize; 4]> {
    let &[a, b, c, d] = array.sizes() else {
        return Err(rushlight_base::err!(Internal, "a kernel of object detection got sizes {:?}", array.sizes()));
    };
    Ok([a as usize, b as usize, c as usize, d as usize])
}

/// The image of a box, which is its first number.
fn image_of<T: Real>(operator: &str, rois: &Flat<T>, nth: usize, images: usize) -> Result<usize> {
    let image = rois.get(nth * 5).to_f64();
    ensure!(
        image > -1.0 && image < images as f64,
        Index,
        "{operator}: box {nth} is in image {image}, but the batch has {images} images"
    );
    Ok(image as usize)
}

/// Elements of output for which a second thread pays.
const GRAIN: usize = 2048;

/// Non-maximum suppression: the boxes in the order of their scores, without those that overlap an earlier one by more
/// than the threshold. `boxes` has four numbers for each.
pub fn suppress<T>(boxes: &[T], order: &[i64], threshold: f64) -> Result<Vec<i64>>
where
    T: Copy + Default + PartialOrd + Into<f64> + Sub<Output = T> + Add<Output = T> + Mul<Output = T> + Div<Output = T>,
{
    let corners: Vec<[T; 4]> =
        list::collect(boxes.chunks_exact(4).map(|corner| [corner[0], corner[1], corner[2], corner[3]]))?;
    let area = |[x1, y1, x2, y2]: [T; 4]| (x2 - x1) * (y2 - y1);
    // Like `std::max` and `std::min`, which keep the first of two numbers that do not compare.
    let larger = |a: T, b: T| if a < b { b } else { a };
    let smaller = |a: T, b: T| if b < a { b } else { a };
    let mut suppressed = list::filled(corners.len(), false)?;
    let mut kept = Vec::new();
    for (nth, &index) in order.iter().enumerate() {
        let (Some(&corner), Some(false)) = (corners.get(index as usize), suppressed.get(index as usize)) else {
            continue;
        };
        list::push(&mut kept, index)?;
        let own = area(corner);
        for &other in order.get(nth + 1..).unwrap_or(&[]) {
            let (Some(&second), Some(gone)) = (corners.get(other as usize), suppressed.get_mut(other as usize)) else {
                continue;
            };
            if *gone {
                continue;
            }
            let width = larger(T::default(), smaller(corner[2], second[2]) - larger(corner[0], second[0]));
            let height = larger(T::default(), smaller(corner[3], second[3]) - larger(corner[1], second[1]));
            let both = width * height;
            let overlap: f64 = (both / (own + area(second) - both)).into();
            *gone = overlap > threshold;
        }
    }
    Ok(kept)
}
