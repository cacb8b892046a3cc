//! Rules and kernels of copies of views: the geometry is that of the view, the memory is new.

use super::access::copy_into;
use super::views;
use crate::dense::{Dense, Geometry, Spec};
use rushlight_base::{DType, Result};

/// The spec of a copy of a view.
fn spec_of(view: &Dense) -> Result<Spec> {
    Ok(Spec::new(view.sizes(), view.dtype, view.device))
}

/// A rule and a kernel for each view: `t_copy_shape, t_copy: t()` copies the elements that `views::t` shows.
macro_rules! copies {
    ($($shape:ident, $copy:ident: $view:ident($($name:ident: $type:ty),*);)*) => {$(
        #[doc = concat!("The sizes of `", stringify!($view), "`.")]
        pub fn $shape(self_: &Dense $(, $name: $type)*) -> Result<Spec> {
            spec_of(&self_.shown(views::$view(self_ $(, $name)*)?))
        }

        #[doc = concat!("out = what `", stringify!($view), "` shows of self")]
        pub fn $copy(out: &Dense, self_: &Dense $(, $name: $type)*) -> Result<()> {
            copy_into(out, &self_.shown(views::$view(self_ $(, $name)*)?))
        }
    )*};
}

copies! {
    alias_copy_shape, alias_copy: alias();
    as_strided_copy_shape, as_strided_copy: as_strided(size: &[i64], stride: &[i64], storage_offset: Option<i64>);
    diagonal_copy_shape, diagonal_copy: diagonal(offset: i64, dim1: i64, dim2: i64);
    expand_copy_shape, expand_copy: expand(size: &[i64], implicit: bool);
    narrow_copy_shape, narrow_copy: narrow(dim: i64, start: i64, length: i64);
    permute_copy_shape, permute_copy: permute(dims: &[i64]);
    select_copy_shape, select_copy: select(dim: i64, index: i64);
    slice_copy_shape, slice_copy: slice(dim: i64, start: Option<i64>, end: Option<i64>, step: i64);
    squeeze_copy_shape, squeeze_copy: squeeze();
    squeeze_dim_copy_shape, squeeze_dim_copy: squeeze_dim(dim: i64);
    squeeze_dims_copy_shape, squeeze_dims_copy: squeeze_dims(dim: &[i64]);
    t_copy_shape, t_copy: t();
    transpose_copy_shape, transpose_copy: transpose(dim0: i64, dim1: i64);
    unfold_copy_shape, unfold_copy: unfold(dimension: i64, size: i64, step: i64);
    unsqueeze_copy_shape, unsqueeze_copy: unsqueeze(dim: i64);
    view_as_complex_copy_shape, view_as_complex_copy: as_complex();
    view_as_real_copy_shape, view_as_real_copy: as_real();
    view_dtype_copy_shape, view_dtype_copy: view_dtype(dtype: DType);
}

/// The given sizes, one of which may be inferred.
pub fn view_copy_shape(self_: &Dense, size: &[i64]) -> Result<Spec> {
    Ok(Spec::new(&views::infer_size(size, self_.numel())?, self_.dtype, self_.device))
}

/// out = the elements of self in row-major order
pub fn view_copy(out: &Dense, self_: &Dense, _size: &[i64]) -> Result<()> {
    let mut whole = Geometry::contiguous(self_.sizes());
    whole.offset = out.geometry.offset;
    copy_into(&out.with_geometry(whole), self_)
}
