//! Kernels of copies: into an existing tensor, into a new one, into another dtype.

use super::access::{array, cast, copy_into};
use super::transfer::{across, share_memory};
use crate::dense::Dense;
use crate::options::Options;
use rushlight_base::{MemoryFormat, Result};
use rushlight_cpu::{Loop, convert};

/// self = src, broadcast and converted.
pub fn copy_(self_: &Dense, src: &Dense, non_blocking: bool) -> Result<()> {
    super::rules::check_expandable(src.sizes(), self_.sizes())?;
    if !share_memory(self_, src) {
        return across(self_, src, non_blocking);
    }
    if self_.is_same_view(src) {
        return Ok(());
    }
    // If the source overlaps the target at other positions (x.copy_(x.t())), it is copied first.
    if self_.may_share_memory(src) {
        let source = cast(src, src.dtype)?;
        return convert::copy(&Loop::new([array(self_), array(&source)])?);
    }
    copy_into(self_, src)
}

/// out = self
pub fn clone(out: &Dense, self_: &Dense, _memory_format: Option<MemoryFormat>) -> Result<()> {
    copy_into(out, self_)
}

/// out = self, in the dtype of out
pub fn to_copy(
    out: &Dense,
    self_: &Dense,
    _options: Options,
    non_blocking: bool,
    _memory_format: Option<MemoryFormat>,
) -> Result<()> {
    if !share_memory(out, self_) {
        return across(out, self_, non_blocking);
    }
    copy_into(out, self_)
}
