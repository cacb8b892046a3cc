//! Rules of sequences, identities, and `*_like` factories.

use super::creation::{check_alike, made};
use crate::dense::{Dense, Spec};
use crate::options::Options;
use rushlight_base::{Category, DType, DimVec, Result, Scalar, ensure, format_sizes, runtime, wrap_dim};

/// A number, in the default dtype unless specified.
pub fn scalar_tensor(s: Scalar, options: Options) -> Result<Spec> {
    s.check_convertible(options.dtype_or_default())?;
    made(&[], options.dtype_or_default(), options)
}

/// A square matrix.
pub fn eye(n: i64, options: Options) -> Result<Spec> {
    eye_m(n, n, options)
}

/// A matrix.
pub fn eye_m(n: i64, m: i64, options: Options) -> Result<Spec> {
    ensure!(n >= 0, Runtime, "n must be greater or equal to 0, got {n}");
    ensure!(m >= 0, Runtime, "m must be greater or equal to 0, got {m}");
    made(&[n, m], options.dtype_or_default(), options)
}

/// `steps` numbers between two, complex if one of them is and no dtype is given.
fn spaced(complex: bool, steps: i64, options: Options) -> Result<Spec> {
    ensure!(steps >= 0, Runtime, "number of steps must be non-negative");
    let inferred = if complex { runtime::default_dtype().to_complex() } else { runtime::default_dtype() };
    let dtype = options.dtype.unwrap_or(inferred);
    ensure!(
        !complex || dtype.is_complex(),
        Runtime,
        "inferred dtype {} can't be safely cast to passed dtype {}",
        inferred.c10_name(),
        dtype.c10_name()
    );
    made(&[steps], dtype, options)
}

fn is_complex(number: Scalar) -> bool {
    number.category() == Category::Complex
}

/// Bounds that are tensors must be 0-dim.
fn check_bounds(name: &str, start: usize, end: usize) -> Result<()> {
    ensure!(
        start == 0 && end == 0,
        Runtime,
        "{name} only supports 0-dimensional start and end tensors, but got start with {start} dimension(s) and end \
         with {end} dimension(s)."
    );
    Ok(())
}

/// From number to number.
pub fn linspace(start: Scalar, end: Scalar, steps: i64, options: Options) -> Result<Spec> {
    spaced(is_complex(start) || is_complex(end), steps, options)
}

/// From tensor to tensor.
pub fn linspace_tensors(start: &Dense, end: &Dense, steps: i64, options: Options) -> Result<Spec> {
    check_bounds("linspace", start.ndim(), end.ndim())?;
    spaced(start.dtype.is_complex() || end.dtype.is_complex(), steps, options)
}

/// From tensor to number.
pub fn linspace_from_tensor(start: &Dense, end: Scalar, steps: i64, options: Options) -> Result<Spec> {
    check_bounds("linspace", start.ndim(), 0)?;
    spaced(start.dtype.is_complex() || is_complex(end), steps, options)
}

/// From number to tensor.
pub fn linspace_to_tensor(start: Scalar, end: &Dense, steps: i64, options: Options) -> Result<Spec> {
    check_bounds("linspace", 0, end.ndim())?;
    spaced(is_complex(start) || end.dtype.is_complex(), steps, options)
}

/// From power to power.
pub fn logspace(start: Scalar, end: Scalar, steps: i64, _base: f64, options: Options) -> Result<Spec> {
    linspace(start, end, steps, options)
}

/// Like `logspace`, from tensor to tensor.
pub fn logspace_tensors(start: &Dense, end: &Dense, steps: i64, _base: f64, options: Options) -> Result<Spec> {
    check_bounds("logspace", start.ndim(), end.ndim())?;
    linspace_tensors(start, end, steps, options)
}

/// Like `logspace`, from tensor to number.
pub fn logspace_from_tensor(start: &Dense, end: Scalar, steps: i64, _base: f64, options: Options) -> Result<Spec> {
    check_bounds("logspace", start.ndim(), 0)?;
    linspace_from_tensor(start, end, steps, options)
}

/// Like `logspace`, from number to tensor.
pub fn logspace_to_tensor(start: Scalar, end: &Dense, steps: i64, _base: f64, options: Options) -> Result<Spec> {
    check_bounds("logspace", 0, end.ndim())?;
    linspace_to_tensor(start, end, steps, options)
}

/// Number of elements of a matrix on or below a diagonal.
fn count_below(row: i64, col: i64, offset: i64) -> Result<i64> {
    ensure!(row >= 0, Runtime, "row must be non-negative, got{row}");
    ensure!(col >= 0, Runtime, "col must be non-negative, got{col}");
    // Rows grow by one element from the first that has any to the first that has all.
    let first = (-i128::from(offset)).clamp(0, i128::from(row));
    let full = (i128::from(col) - i128::from(offset) - 1).clamp(first, i128::from(row));
    let shortest = (first + 1 + i128::from(offset)).clamp(0, i128::from(col));
    let growing = full - first;
    let count = growing * (2 * shortest + growing - 1) / 2 + (i128::from(row) - full) * i128::from(col);
    i64::try_from(count).map_err(|_| rushlight_base::err!(Runtime, "too many elements: {row} by {col}"))
}

/// The dtype of a list of indices.
fn index_dtype(name: &str, options: Options) -> Result<DType> {
    let dtype = options.dtype.unwrap_or(DType::I64);
    ensure!(matches!(dtype, DType::I32 | DType::I64), Runtime, "\"{name}\" not implemented for '{}'", dtype.c10_name());
    Ok(dtype)
}

/// Rows and columns of the lower triangle.
pub fn tril_indices(row: i64, col: i64, offset: i64, options: Options) -> Result<Spec> {
    made(&[2, count_below(row, col, offset)?], index_dtype("tril_indices", options)?, options)
}

/// Rows and columns of the upper triangle: the elements above the previous diagonal.
pub fn triu_indices(row: i64, col: i64, offset: i64, options: Options) -> Result<Spec> {
    let below = count_below(row, col, offset.saturating_sub(1))?;
    let all = row.checked_mul(col).ok_or_else(|| rushlight_base::err!(Runtime, "too many elements: {row} by {col}"))?;
    made(&[2, all - below], index_dtype("triu_indices", options)?, options)
}

/// Dimensions in a given memory order.
pub fn empty_permuted(size: &[i64], physical_layout: &[i64], options: Options) -> Result<Spec> {
    ensure!(
        size.len() == physical_layout.len(),
        Runtime,
        "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = {} is not \
         equal to len(physical_layout) = {}",
        size.len(),
        physical_layout.len()
    );
    let spec = made(size, options.dtype_or_default(), options)?;
    let mut strides = DimVec::from_elem(-1, size.len());
    let mut step = 1i64;
    for &dim in physical_layout.iter().rev() {
        ensure!(
            (0..size.len() as i64).contains(&dim),
            Runtime,
            "Dimension out of range (expected to be between 0 and {}, but got {dim} at index {}).  NB: negative dims not \
             currently supported; file an issue if you want it.",
            size.len() as i64 - 1,
            physical_layout.iter().position(|&other| other == dim).unwrap_or(0)
        );
        let dim = wrap_dim(dim, size.len())?;
        ensure!(
            strides[dim] < 0,
            Runtime,
            "Duplicate dim not allowed: {dim} in physical_layout {}",
            format_sizes(physical_layout)
        );
        strides[dim] = step;
        step = step.saturating_mul(size[dim].max(1));
    }
    Ok(spec.with_strides(strides))
}

/// Options with unset ones taken from `self_`.
fn in_image(self_: &Dense, options: Options) -> Options {
    Options { dtype: options.dtype.or(Some(self_.dtype)), device: options.device.or(Some(self_.device)), ..options }
}

/// A tensor of this size with the options of another.
pub fn new_sized(self_: &Dense, size: &[i64], options: Options) -> Result<Spec> {
    super::sized(size, in_image(self_, options))
}

/// Like `new_sized`, with strides.
pub fn new_empty_strided(self_: &Dense, size: &[i64], stride: &[i64], options: Options) -> Result<Spec> {
    super::empty_strided(size, stride, in_image(self_, options))
}

/// Like `new_sized`, to be filled.
pub fn new_full(self_: &Dense, size: &[i64], fill_value: Scalar, options: Options) -> Result<Spec> {
    let spec = new_sized(self_, size, options)?;
    fill_value.check_convertible(spec.dtype)?;
    Ok(spec)
}

/// Complex numbers of sizes and angles.
pub fn polar(abs: &Dense, angle: &Dense) -> Result<Spec> {
    let is_part = |dtype| matches!(dtype, DType::F32 | DType::F64);
    ensure!(
        is_part(abs.dtype) && is_part(angle.dtype),
        Runtime,
        "Expected both inputs to be Half, Float or Double tensors but got {} and {}",
        abs.dtype.c10_name(),
        angle.dtype.c10_name()
    );
    check_alike(abs, angle)?;
    super::elementwise(abs.dtype.to_complex(), &[abs, angle])
}

/// A copy.
pub fn copied(self_: &Dense) -> Result<Spec> {
    super::clone(self_, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_have_as_many_elements_as_one_counts() {
        for (row, col) in [(0, 3), (3, 0), (3, 3), (2, 5), (5, 2)] {
            for offset in -7..=7 {
                let below = (0..row).flat_map(|i| (0..col).map(move |j| (i, j))).filter(|(i, j)| *j <= i + offset);
                let (counted, shape) =
                    (below.count() as i64, tril_indices(row, col, offset, Options::default()).unwrap());
                assert_eq!(shape.sizes.as_slice(), &[2, counted], "{row} by {col}, {offset}");
                let upper = triu_indices(row, col, offset + 1, Options::default()).unwrap();
                assert_eq!(upper.sizes[1], row * col - counted, "{row} by {col}, {offset}");
            }
        }
        assert!(tril_indices(-1, 2, 0, Options::default()).is_err());
    }

    #[test]
    fn a_physical_layout_names_every_dimension_once() {
        let strides = |layout: &[i64]| empty_permuted(&[1, 3, 5], layout, Options::default());
        assert_eq!(strides(&[0, 2, 1]).unwrap().strides.unwrap().as_slice(), &[15, 1, 3]);
        assert!(strides(&[0, 2, 2]).is_err() && strides(&[0, 1]).is_err() && strides(&[0, 1, -1]).is_err());
    }
}
