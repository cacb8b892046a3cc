//! Weights that are packed once for many runs, of images of any shapes.

use crate::gemm::{PackedA, PackedB};
use rushlight_base::Result;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The elements of a kernel that the taps of a phase have, for each spatial dimension.
pub(super) type Taps = [Vec<usize>; 3];

/// The weights of a convolution as its kernels read them: each form is packed when it is first used. Depthwise convolutions
/// read weights as they are.
#[derive(Default)]
pub struct Packed {
    /// Rows of products (`correlation.rs`), for each selection of taps.
    rows: Mutex<Vec<(Taps, Arc<PackedA>)>>,
    /// The points of the kernels (`winograd.rs`).
    points: OnceLock<PackedA>,
    /// The columns of products (`pointwise.rs`, `few.rs`, `adjacent.rs`), for each phase and group.
    columns: Mutex<Vec<Option<Arc<PackedB>>>>,
}

// SAFETY: what is packed is written before it is shared, and only read afterwards; its memory may be freed by any thread.
unsafe impl Send for Packed {}
// SAFETY: several threads only read what is packed, which does not change; a lock and a cell guard the places.
unsafe impl Sync for Packed {}

impl Packed {
    /// The rows for these taps.
    pub(super) fn rows(&self, taps: Taps, pack: impl FnOnce() -> Result<PackedA>) -> Result<Arc<PackedA>> {
        let mut known = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, rows)) = known.iter().find(|(other, _)| *other == taps) {
            return Ok(rows.clone());
        }
        let rows = Arc::new(pack()?);
        known.push((taps, rows.clone()));
        Ok(rows)
    }

    /// The columns of a phase and a group, which are counted together.
    pub(super) fn columns(&self, group: usize, pack: impl FnOnce() -> Result<PackedB>) -> Result<Arc<PackedB>> {
        let mut known = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Some(columns)) = known.get(group) {
            return Ok(columns.clone());
        }
        let columns = Arc::new(pack()?);
        if known.len() <= group {
            known.resize(group + 1, None);
        }
        known[group] = Some(columns.clone());
        Ok(columns)
    }

    /// The points.
    pub(super) fn points(&self, pack: impl FnOnce() -> Result<PackedA>) -> Result<&PackedA> {
        if let Some(points) = self.points.get() {
            return Ok(points);
        }
        let points = pack()?;
        Ok(self.points.get_or_init(|| points))
    }
}
