//! [`Array`]: memory with sizes and strides.

use rushlight_base::{DType, Device, DeviceType, DimVec, Element, Result, backend, ensure};

/// Strided memory that a kernel reads or writes.
///
/// Arrays may alias one another (an in-place operator gets the same memory twice), so elements are only accessed
/// through raw pointers.
#[derive(Clone, Debug)]
pub struct Array<'a> {
    at: *mut u8,
    dtype: DType,
    /// The index of a CUDA device; -1: the memory of the host.
    cuda: i8,
    sizes: &'a [i64],
    strides: &'a [i64],
}

impl<'a> Array<'a> {
    /// # Safety
    /// For every index within `sizes` there must be an element, at `strides` elements from `at`, in live memory that
    /// may be read, and written if the array is passed as an output; no other thread may write it meanwhile (or the
    /// values read are unspecified). `at` must be aligned for `dtype`.
    pub unsafe fn new(at: *mut u8, dtype: DType, sizes: &'a [i64], strides: &'a [i64]) -> Array<'a> {
        debug_assert_eq!(sizes.len(), strides.len());
        Array { at, dtype, cuda: -1, sizes, strides }
    }

    /// The same array, whose address is one of `device`, with an index. The host never reads or writes there: kernels
    /// that `device` has are launched, and for the others [`backend::no_kernel`] ends the call with an error.
    #[inline]
    pub fn on(self, device: Device) -> Array<'a> {
        let cuda = if device.kind == DeviceType::Cuda { device.index.max(0) } else { -1 };
        Array { cuda, ..self }
    }

    /// Whether the host may read and write the memory.
    #[inline(always)]
    pub(crate) fn is_on_host(&self) -> bool {
        self.cuda < 0
    }

    /// Where the memory is.
    #[inline]
    pub fn device(&self) -> Device {
        if self.cuda < 0 { Device::CPU } else { Device::cuda(self.cuda) }
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The same memory, read as elements of another dtype of the same size. Their alignment may be less than that of
    /// the new dtype.
    pub(crate) fn seen_as(&self, dtype: DType) -> Array<'a> {
        assert_eq!(dtype.size(), self.dtype.size(), "a dtype of another size");
        Array { dtype, ..*self }
    }

    /// Extent of each dimension.
    pub fn sizes(&self) -> &'a [i64] {
        self.sizes
    }

    /// Step of each dimension, in elements.
    pub fn strides(&self) -> &'a [i64] {
        self.strides
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.sizes.len()
    }

    /// Number of elements.
    #[inline]
    pub fn numel(&self) -> usize {
        self.sizes.iter().product::<i64>() as usize
    }

    /// Size of dimension `dim`, counting a 0-dim array as one dimension of size 1.
    pub fn size(&self, dim: usize) -> usize {
        self.sizes.get(dim).map_or(1, |&size| size as usize)
    }

    /// Stride of dimension `dim`, counting a 0-dim array as one dimension.
    pub fn stride(&self, dim: usize) -> isize {
        self.strides.get(dim).map_or(1, |&stride| stride as isize)
    }

    /// Whether the memory is row-major without gaps. An array without elements is, whatever its strides.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        for (&size, &stride) in self.sizes.iter().zip(self.strides).rev() {
            if size == 0 {
                return true;
            }
            if size != 1 {
                if stride != expected {
                    return self.sizes.contains(&0);
                }
                expected *= size;
            }
        }
        true
    }

    /// The first byte of the first element.
    #[inline]
    pub(crate) fn start(&self) -> *mut u8 {
        if self.cuda >= 0 {
            backend::no_kernel(self.device());
        }
        self.at
    }

    /// The address of the first byte, on the array's device.
    #[inline]
    pub(crate) fn address(&self) -> *mut u8 {
        self.at
    }

    /// The first element, after checking that the dtype is `T`'s.
    pub fn as_ptr<T: Element>(&self) -> *mut T {
        assert_eq!(self.dtype, T::DTYPE, "kernel instantiated for another dtype");
        self.start().cast()
    }

    /// The first byte of the first element.
    pub(crate) fn first_byte(&self) -> *mut u8 {
        self.start()
    }

    /// Element `index` of the first dimension.
    pub fn select(&self, index: i64) -> Result<Array<'a>> {
        let inside = self.sizes.first().is_some_and(|&size| (0..size).contains(&index));
        ensure!(inside, Internal, "no element {index} in an array of sizes {:?}", self.sizes);
        let at = self.at.wrapping_offset((index * self.strides[0]) as isize * self.dtype.size() as isize);
        Ok(Array { at, sizes: &self.sizes[1..], strides: &self.strides[1..], ..*self })
    }

    /// The first elements of an array of one dimension.
    pub(crate) fn shortened<'b>(&self, sizes: &'b [i64; 1]) -> Array<'b>
    where
        'a: 'b,
    {
        assert!(self.ndim() == 1 && (0..=self.sizes[0]).contains(&sizes[0]), "more elements than an array has");
        Array { sizes, ..*self }
    }

    /// Sizes and strides with dimension `dim` taken out (of a 0-dim array: nothing to take out).
    pub(crate) fn without(&self, dim: usize) -> (DimVec, DimVec) {
        let keep = |list: &[i64]| -> DimVec {
            list.iter().enumerate().filter(|(at, _)| *at != dim).map(|(_, &value)| value).collect()
        };
        (keep(self.sizes), keep(self.strides))
    }

    /// Strides of this array seen with shape `sizes`: 0 along dimensions that it is broadcast over.
    pub(crate) fn broadcast_strides(&self, sizes: &[i64]) -> Result<DimVec> {
        if self.sizes == sizes {
            return Ok(DimVec::from_slice(self.strides));
        }
        let lead = sizes.len().checked_sub(self.ndim());
        let lead =
            lead.filter(|&lead| self.sizes.iter().zip(&sizes[lead..]).all(|(&own, &wanted)| own == wanted || own == 1));
        ensure!(lead.is_some(), Internal, "a kernel got an operand of shape {:?} for shape {sizes:?}", self.sizes);
        let lead = lead.unwrap_or(0);
        let mut strides = DimVec::from_elem(0, sizes.len());
        for (dim, (&size, &stride)) in self.sizes.iter().zip(self.strides).enumerate() {
            strides[lead + dim] = if size == 1 { 0 } else { stride };
        }
        Ok(strides)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contiguous(sizes: &[i64], strides: &[i64]) -> bool {
        let mut element = 0f32;
        // SAFETY: only the geometry is read; no element is accessed through the array.
        unsafe { Array::new((&raw mut element).cast(), DType::F32, sizes, strides) }.is_contiguous()
    }

    #[test]
    fn is_contiguous_ignores_the_strides_of_an_empty_array() {
        assert!(contiguous(&[2, 3], &[3, 1]));
        assert!(contiguous(&[2, 1], &[1, 7]));
        assert!(!contiguous(&[2, 3], &[6, 2]));
        assert!(contiguous(&[0, 4, 3], &[24, 6, 2]));
        assert!(contiguous(&[4, 0, 3], &[24, 6, 2]));
    }
}
