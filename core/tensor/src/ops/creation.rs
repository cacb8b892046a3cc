//! Kernels of constants and sequences.

use super::access::{array, copy_into, over};
use crate::dense::Dense;
use crate::options::Options;
use rushlight_base::{MemoryFormat, Result, Scalar};

fn fill_with(out: &Dense, value: Scalar) -> Result<()> {
    over(out.dtype, [out], |walk| rushlight_cpu::fill::fill(walk, value))
}

/// out: as allocated
pub fn empty(_out: &Dense, _size: &[i64], _options: Options, _memory_format: Option<MemoryFormat>) -> Result<()> {
    Ok(())
}

/// out: as allocated
pub fn empty_like(_out: &Dense, _self: &Dense, _options: Options, _memory_format: Option<MemoryFormat>) -> Result<()> {
    Ok(())
}

/// out: as allocated
pub fn empty_strided(_out: &Dense, _size: &[i64], _stride: &[i64], _options: Options) -> Result<()> {
    Ok(())
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
    fill_with(out, value)
}

/// out = the element of value
pub fn fill_tensor(out: &Dense, _self: &Dense, value: &Dense) -> Result<()> {
    copy_into(out, value)
}

/// out = 0
pub fn zero(out: &Dense, _self: &Dense) -> Result<()> {
    fill_with(out, Scalar::Int(0))
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
