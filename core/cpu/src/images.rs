//! Images for the tests of spatial kernels.

use crate::array::Array;
use rushlight_base::DType;

/// Sizes of a batch of images.
pub(crate) type Sizes = [i64; 4];

/// Images in either memory format; a seed gives the same numbers in both.
pub(crate) struct Image {
    pub(crate) memory: Vec<f32>,
    pub(crate) sizes: Sizes,
    strides: Sizes,
}

impl Image {
    /// Numbers of a seed; zeros for seed 0.
    pub(crate) fn new(sizes: Sizes, last: bool, seed: usize) -> Image {
        let [samples, channels, height, width] = sizes;
        let strides = if last {
            [height * width * channels, 1, width * channels, channels]
        } else {
            [channels * height * width, height * width, width, 1]
        };
        let mut image = Image { memory: vec![0.0; (samples * channels * height * width) as usize], sizes, strides };
        if seed > 0 {
            for nth in 0..image.memory.len() {
                let at = image.place(nth);
                image.memory[at] = ((nth * 37 + seed * 11) % 101) as f32 / 50.0 - 1.0;
            }
        }
        image
    }

    fn place(&self, mut nth: usize) -> usize {
        let mut at = 0;
        for dim in (0..4).rev() {
            at += nth % self.sizes[dim] as usize * self.strides[dim] as usize;
            nth /= self.sizes[dim] as usize;
        }
        at
    }

    pub(crate) fn numbers(&self) -> Vec<f32> {
        (0..self.memory.len()).map(|nth| self.memory[self.place(nth)]).collect()
    }

    pub(crate) fn array(&mut self) -> Array<'_> {
        // SAFETY: the memory has an element for each index within the sizes.
        unsafe { Array::new(self.memory.as_mut_ptr().cast(), DType::F32, &self.sizes, &self.strides) }
    }
}

/// The sum of products.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}
