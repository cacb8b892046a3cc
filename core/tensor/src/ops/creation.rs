//! Kernels of constants and sequences.

use super::access::{array, copy_into, over, parts};
use super::views;
use crate::dense::{Dense, Geometry};
use crate::options::Options;
use rushlight_base::{DType, MemoryFormat, Result, Scalar, runtime};

fn fill_with(out: &Dense, value: Scalar) -> Result<()> {
    over(out.dtype, [out], |walk| rushlight_cpu::fill::fill(walk, value))
}

/// out: uninitialized; in deterministic mode, filled with NaN or the largest integer
pub fn unset(out: &Dense) -> Result<()> {
    if !runtime::fills_unset_memory() {
        return Ok(());
    }
    fill_with(out, stands_for_unset(out.dtype))
}

/// The fill value of uninitialized elements in deterministic mode.
pub fn stands_for_unset(dtype: DType) -> Scalar {
    match dtype {
        DType::Bool => Scalar::Bool(true),
        DType::U8 => Scalar::Int(u8::MAX.into()),
        DType::I8 => Scalar::Int(i8::MAX.into()),
        DType::I16 => Scalar::Int(i16::MAX.into()),
        DType::U16 => Scalar::Int(u16::MAX.into()),
        DType::I32 => Scalar::Int(i32::MAX.into()),
        DType::U32 => Scalar::Int(u32::MAX.into()),
        DType::I64 => Scalar::Int(i64::MAX),
        DType::U64 => Scalar::UInt(u64::MAX),
        _ => Scalar::Float(f64::NAN),
    }
}

/// out: uninitialized
pub fn empty(out: &Dense, _size: &[i64], _options: Options, _memory_format: Option<MemoryFormat>) -> Result<()> {
    unset(out)
}

/// out: uninitialized
pub fn empty_like(out: &Dense, _self: &Dense, _options: Options, _memory_format: Option<MemoryFormat>) -> Result<()> {
    unset(out)
}

/// out: uninitialized
pub fn empty_strided(out: &Dense, _size: &[i64], _stride: &[i64], _options: Options) -> Result<()> {
    unset(out)
}

/// out = 0
pub fn zeros(out: &Dense, _size: &[i64], _options: Options) -> Result<()> {
    fill_with(out, Scalar::Int(0))
}

/// out = 0
pub fn zeros_like(out: &Dense, _self: &Dense, _options: Options, _memory_format: Option<MemoryFormat>) -> Result<()> {
    fill_with(out, Scalar::Int(0))
}

/// out = 1
pub fn ones(out: &Dense, _size: &[i64], _options: Options) -> Result<()> {
    fill_with(out, Scalar::Int(1))
}

/// out = 1
pub fn ones_like(out: &Dense, _self: &Dense, _options: Options, _memory_format: Option<MemoryFormat>) -> Result<()> {
    fill_with(out, Scalar::Int(1))
}

/// out = fill_value
pub fn full(out: &Dense, _size: &[i64], fill_value: Scalar, _options: Options) -> Result<()> {
    fill_with(out, fill_value)
}

/// out = fill_value
pub fn full_like(
    out: &Dense,
    _self: &Dense,
    fill_value: Scalar,
    _options: Options,
    _memory_format: Option<MemoryFormat>,
) -> Result<()> {
    fill_with(out, fill_value)
}

/// out = value
pub fn fill(out: &Dense, _self: &Dense, value: Scalar) -> Result<()> {
    if out.has_internal_overlap() { fill_with(&once(out), value) } else { fill_with(out, value) }
}

/// The tensor without the repetitions of `expand`, so that threads write no element twice.
fn once(tensor: &Dense) -> Dense {
    let mut geometry = tensor.geometry.clone();
    for (size, stride) in geometry.sizes.iter_mut().zip(&geometry.strides) {
        if *stride == 0 {
            *size = 1;
        }
    }
    tensor.with_geometry(geometry)
}

/// out = the element of value
pub fn fill_tensor(out: &Dense, _self: &Dense, value: &Dense) -> Result<()> {
    copy_into(out, value)
}

/// out = 0
pub fn zero(out: &Dense, self_: &Dense) -> Result<()> {
    fill(out, self_, Scalar::Int(0))
}

/// out_i = i
pub fn arange(out: &Dense, end: Scalar, options: Options) -> Result<()> {
    arange_start_step(out, Scalar::Int(0), end, Scalar::Int(1), options)
}

/// out_i = start + i
pub fn arange_start(out: &Dense, start: Scalar, end: Scalar, options: Options) -> Result<()> {
    arange_start_step(out, start, end, Scalar::Int(1), options)
}

/// out_i = start + i step
pub fn arange_start_step(out: &Dense, start: Scalar, _end: Scalar, step: Scalar, _options: Options) -> Result<()> {
    rushlight_cpu::fill::arange(&array(out), start, step)
}

/// out_i = start + i, with the end
pub fn range(out: &Dense, start: Scalar, end: Scalar, options: Options) -> Result<()> {
    range_step(out, start, end, Scalar::Int(1), options)
}

/// out_i = start + i step, with the end
pub fn range_step(out: &Dense, start: Scalar, end: Scalar, step: Scalar, options: Options) -> Result<()> {
    arange_start_step(out, start, end, step, options)
}

/// The real (0) or imaginary (1) parts of a complex tensor.
pub(super) fn part(dense: &Dense, which: i64) -> Result<Dense> {
    let parts = parts(dense);
    let geometry: Geometry = views::select(&parts, -1, which)?;
    Ok(parts.with_geometry(geometry))
}

/// out = real + i imag
pub fn complex(out: &Dense, real: &Dense, imag: &Dense) -> Result<()> {
    copy_into(&part(out, 0)?, real)?;
    copy_into(&part(out, 1)?, imag)
}
