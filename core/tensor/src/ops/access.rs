//! From a tensor's snapshot to the strided memory a kernel reads and writes, in the dtype it computes in.
//!
//! Inputs of another dtype are cast operand by operand, numbers and 0-dim inputs without an allocation.

use crate::dense::{Dense, Geometry, Spec};
use rushlight_base::{DType, Result, Scalar, format_sizes, same_sizes};
use rushlight_cpu::{Array, Loop, convert, fill};

/// The memory of `dense`.
#[inline]
pub(super) fn array(dense: &Dense) -> Array<'_> {
    array_as(dense, dense.sizes(), dense.strides())
}

/// Runs `kernel`, which computes in `common`, over these tensors, the output first.
#[inline(always)]
pub(super) fn over<const N: usize>(
    common: DType,
    operands: [&Dense; N],
    kernel: impl FnOnce(&Loop<N>) -> Result<()>,
) -> Result<()> {
    // A loop, not an iterator's `all`: these few instructions are a good part of a small call.
    let sizes = operands[0].sizes();
    let mut flat = operands[0].is_contiguous() && operands[0].is_on_host();
    for operand in &operands[1..] {
        flat = flat && operand.is_contiguous() && same_sizes(operand.sizes(), sizes) && operand.is_on_host();
    }
    if !flat {
        return kernel(&Loop::computing(common, operands.map(array))?);
    }
    let len = operands[0].numel() as usize;
    let (at, dtypes) = (operands.map(Dense::ptr), operands.map(|operand| operand.dtype));
    // SAFETY: all addresses come from `array_as` arguments: geometries inside their storages in memory of the host, which
    // the snapshots keep alive, with `len` contiguous elements of these dtypes.
    kernel(&unsafe { Loop::flat(common, len, at, dtypes) })
}

/// The memory of `dense` under other sizes and strides, which must name a subset of its elements: the
/// callers insert or drop dimensions of size 1, or take a slice whose bounds they have checked.
pub(super) fn array_as<'a>(dense: &'a Dense, sizes: &'a [i64], strides: &'a [i64]) -> Array<'a> {
    // SAFETY: a tensor's geometry stays within its storage (the constructors of views check it), the
    // snapshot keeps the storage alive for 'a, and storage is aligned for every dtype. Storage that another
    // thread writes at the same time gives unspecified values, as documented for users.
    unsafe { Array::new(dense.ptr(), dense.dtype, sizes, strides) }.on(dense.device)
}

/// The memory of `dense` under a geometry that names a subset of its elements.
pub(super) fn sub_array<'a>(dense: &Dense, geometry: &'a Geometry) -> Array<'a> {
    let at = dense.with_geometry(geometry.clone()).ptr();
    // SAFETY: the geometry is a part of `dense`'s, which stays inside its storage; every caller holds `dense`, and so
    // the storage, while it uses the array.
    unsafe { Array::new(at, dense.dtype, &geometry.sizes, &geometry.strides) }.on(dense.device)
}

/// One number, as an array without dimensions.
pub(super) struct Constant {
    /// Space for the largest element, aligned for every dtype.
    bytes: [u64; 2],
    dtype: DType,
}

impl Constant {
    /// `value` in `dtype`.
    pub(super) fn new(value: Scalar, dtype: DType) -> Result<Constant> {
        Ok(Constant { bytes: fill::element(value, dtype)?, dtype })
    }

    /// The first element of `element`, which must not be empty, in `dtype`. On a device this waits for the element.
    pub(super) fn cast_of(element: &Dense, dtype: DType) -> Result<Constant> {
        let element = &super::transfer::on_host(element)?;
        Ok(Constant { bytes: fill::element_of(&array(element), dtype)?, dtype })
    }

    pub(super) fn array(&self) -> Array<'_> {
        self.spread(&[], &[])
    }

    /// An array of these sizes in which every element is this number; `still` holds as many zero strides.
    pub(super) fn spread<'a>(&'a self, sizes: &'a [i64], still: &'a [i64]) -> Array<'a> {
        // A stride would lead beyond the single element.
        assert!(still.iter().all(|&stride| stride == 0), "a constant has no strides");
        // SAFETY: `bytes` holds one element and outlives the array; all strides are 0, and kernels only read their
        // inputs.
        unsafe { Array::new(self.bytes.as_ptr().cast_mut().cast(), self.dtype, sizes, still) }
    }
}

/// An input in the dtype that the kernel computes in.
pub(super) enum Operand<'a> {
    /// The input has the dtype.
    Borrowed(&'a Dense),
    /// A cast copy.
    Owned(Dense),
    /// One element, cast.
    Constant(Constant),
}

impl<'a> Operand<'a> {
    /// `dense` in `dtype`.
    #[inline]
    pub(super) fn cast(dense: &'a Dense, dtype: DType) -> Result<Operand<'a>> {
        if dense.dtype == dtype {
            return Ok(Operand::Borrowed(dense));
        }
        if dense.ndim() == 0 && dense.is_on_host() {
            return Ok(Operand::Constant(Constant::cast_of(dense, dtype)?));
        }
        Ok(Operand::Owned(cast(dense, dtype)?))
    }

    #[inline]
    pub(super) fn array(&self) -> Array<'_> {
        match self {
            Operand::Borrowed(dense) => array(dense),
            Operand::Owned(dense) => array(dense),
            Operand::Constant(constant) => constant.array(),
        }
    }
}

/// A copy of `dense` in `dtype`, dimensions in the same order.
pub(super) fn cast(dense: &Dense, dtype: DType) -> Result<Dense> {
    let strides = super::rules::preserved_strides(dense.sizes(), dense.strides());
    let out = Spec::new(dense.sizes(), dtype, dense.device).with_strides(strides).allocate()?;
    convert::copy(&Loop::new([array(&out), array(dense)])?)?;
    Ok(out)
}

/// A complex tensor as its real and imaginary parts, in a last dimension of 2; a real one as it is.
pub(super) fn parts(dense: &Dense) -> Dense {
    if !dense.dtype.is_complex() {
        return dense.clone();
    }
    let geometry = super::views::pairs(&dense.geometry);
    Dense::new(dense.storage.clone(), geometry, dense.dtype.to_real(), dense.device)
}

/// The first element of `dense` as a double.
pub(super) fn number_of(dense: &Dense) -> Result<f64> {
    Ok(f64::from_bits(Constant::cast_of(dense, DType::F64)?.bytes[0]))
}

/// Copies `from` into `to`, broadcasting and converting.
pub(super) fn copy_into(to: &Dense, from: &Dense) -> Result<()> {
    over(to.dtype, [to, from], convert::copy).map_err(|error| error.context(format_sizes(to.sizes())))
}

/// Copies `from` into `to` unless they are the same elements: the start of kernels that modify a few elements of their
/// input, which in-place calls pass twice.
pub(super) fn copy_unless_same(to: &Dense, from: &Dense) -> Result<()> {
    if to.ptr() == from.ptr() && to.strides() == from.strides() && to.dtype == from.dtype {
        return Ok(());
    }
    copy_into(to, from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::Device;

    #[test]
    fn a_constant_converts_like_a_tensor() {
        let out = Spec::new(&[3], DType::BF16, Device::CPU).allocate().unwrap();
        let constant = Constant::new(Scalar::Float(1.5), DType::I32).unwrap();
        convert::copy(&Loop::new([array(&out), constant.array()]).unwrap()).unwrap();
        let wide = cast(&out, DType::F32).unwrap();
        // SAFETY: the kernel above wrote three floats into `wide`, which outlives the slice.
        let values = unsafe { std::slice::from_raw_parts(wide.ptr().cast::<f32>(), 3) };
        assert_eq!(values, [1.0; 3]);
    }
}
