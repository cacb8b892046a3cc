//! Composite operators: differences, gradients, integrals and covariances of sampled values.

use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{Category, DType, DeviceType, Result, Scalar, bail, ensure, wrap_dim};

/// Elements `start` to `end` along `dim`; negative ones count from the end.
fn part(tensor: &Tensor, dim: i64, start: i64, end: Option<i64>) -> Result<Tensor> {
    ops::slice_tensor(tensor, dim, Some(start), end, 1)
}

fn add(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    ops::add_tensor(a, b, Scalar::Int(1))
}

fn sub(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    ops::sub_tensor(a, b, Scalar::Int(1))
}

/// nth-order differences along a dimension.
pub fn diff(self_: &Tensor, n: i64, dim: i64, prepend: Option<&Tensor>, append: Option<&Tensor>) -> Result<Tensor> {
    ensure!(self_.ndim() >= 1, Runtime, "diff expects input to be at least one-dimensional");
    ensure!(n >= 0, Runtime, "order must be non-negative but got {n}");
    let at = wrap_dim(dim, self_.ndim())?;
    for end in [prepend, append].into_iter().flatten() {
        check_end(self_, end, at)?;
    }
    if n == 0 {
        return ops::clone(self_, None);
    }
    let joined: Vec<&Tensor> = [prepend, Some(self_), append].into_iter().flatten().collect();
    let mut values = if joined.len() > 1 { ops::cat(&joined, dim)? } else { self_.clone() };
    for _ in 0..n.min(values.sizes()[at]) {
        let (before, after) = (part(&values, dim, 0, Some(-1))?, part(&values, dim, 1, None)?);
        values = match values.dtype() {
            DType::Bool => ops::ne_tensor(&after, &before)?,
            _ => sub(&after, &before)?,
        };
    }
    Ok(values)
}

fn check_end(self_: &Tensor, end: &Tensor, at: usize) -> Result<()> {
    ensure!(end.ndim() == self_.ndim(), Runtime, "diff expects prepend or append to be the same dimension as input");
    for (dim, (own, other)) in self_.sizes().iter().zip(&end.sizes()).enumerate() {
        ensure!(
            dim == at || own == other,
            Runtime,
            "diff expects the shape of tensor to prepend or append to match that of input except along the differencing \
             dimension; input.size({dim}) = {own}, but got tensor.size({dim}) = {other}"
        );
    }
    Ok(())
}

/// Sample spacing along a dimension.
enum Spacing<'a> {
    Even(Scalar),
    At(&'a Tensor),
}

/// The gradients along dimensions, one spacing for each.
fn gradients(self_: &Tensor, spacing: &[Spacing], dims: &[i64], edge_order: i64) -> Result<Vec<Tensor>> {
    ensure!(self_.dtype() != DType::U8, Runtime, "torch.gradient does not support uint8 input.");
    ensure!(matches!(edge_order, 1 | 2), Runtime, "torch.gradient only supports edge_order=1 and edge_order=2.");
    let mut seen = 0u64;
    for &dim in dims {
        let at = wrap_dim(dim, self_.ndim())?;
        ensure!(seen >> at & 1 == 0, Runtime, "dim {at} appears multiple times in the list of dims");
        seen |= 1 << at;
        let size = self_.sizes().get(at).copied().unwrap_or(1);
        ensure!(size > edge_order, Runtime, "torch.gradient expected each dimension size to be at least edge_order+1");
    }
    let along = |(&dim, spacing): (&i64, &Spacing)| match spacing {
        Spacing::Even(step) => even_gradient(self_, *step, dim, edge_order),
        Spacing::At(places) => gradient_at(self_, places, dim, edge_order),
    };
    dims.iter().zip(spacing).map(along).collect()
}

/// a s_i + b s_(i + 1) + c s_(i + 2), for the triple of neighbours that begins at `start`
fn weighted(self_: &Tensor, dim: i64, start: i64, weights: [f64; 3]) -> Result<Tensor> {
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    let start = if start < 0 { start + size } else { start };
    let term = |nth: usize| ops::mul_scalar(&ops::narrow(self_, dim, start + nth as i64, 1)?, weights[nth].into());
    add(&add(&term(0)?, &term(1)?)?, &term(2)?)
}

fn even_gradient(self_: &Tensor, step: Scalar, dim: i64, edge_order: i64) -> Result<Tensor> {
    let slope = |start: i64, end: Option<i64>, next: i64, next_end: Option<i64>, width: f64| {
        let difference = sub(&part(self_, dim, next, next_end)?, &part(self_, dim, start, end)?)?;
        ops::div_scalar(&difference, times(step, width))
    };
    let inner = slope(0, Some(-2), 2, None, 2.0)?;
    let (first, last) = if edge_order == 1 {
        (slope(0, Some(1), 1, Some(2), 1.0)?, slope(-2, Some(-1), -1, None, 1.0)?)
    } else {
        let end = |start: i64, weights| ops::div_scalar(&weighted(self_, dim, start, weights)?, times(step, 1.0));
        (end(0, [-1.5, 2.0, -0.5])?, end(-3, [0.5, -2.0, 1.5])?)
    };
    ops::cat(&[&first, &inner, &last], dim)
}

fn times(number: Scalar, factor: f64) -> Scalar {
    match number {
        Scalar::Complex(value) => Scalar::Complex(value * factor),
        number => Scalar::Float(number.to_f64() * factor),
    }
}

/// The slopes of parabolas through three neighbours each, at the middle one; at the ends of lines, or of parabolas.
fn gradient_at(self_: &Tensor, places: &Tensor, dim: i64, edge_order: i64) -> Result<Tensor> {
    let at = wrap_dim(dim, self_.ndim())?;
    let mut shape = vec![1; self_.ndim()];
    shape[at] = places.numel() - 1;
    let steps = ops::reshape(&sub(&part(places, 0, 1, None)?, &part(places, 0, 0, Some(-1))?)?, &shape)?;
    let size = self_.sizes()[at];
    let sample = |start: i64, count: i64| ops::narrow(self_, dim, start, count);
    let step = |start: i64, count: i64| ops::narrow(&steps, dim, start, count);
    // The slope at the first, middle or last of `count` triples that begin at `start`.
    let parabola = |start: i64, count: i64, where_: usize| -> Result<Tensor> {
        let (left, right) = (step(start, count)?, step(start + 1, count)?);
        let both = add(&left, &right)?;
        let (left_both, right_both) = (ops::mul_tensor(&left, &both)?, ops::mul_tensor(&right, &both)?);
        let product = ops::mul_tensor(&left, &right)?;
        let double = |a: &Tensor, b: &Tensor| add(&ops::mul_scalar(a, Scalar::Int(2))?, b);
        let [a, b, c] = match where_ {
            0 => [ops::neg(&double(&left, &right)?)?, both.clone(), ops::neg(&left)?],
            1 => [ops::neg(&right)?, sub(&right, &left)?, left.clone()],
            _ => [right.clone(), ops::neg(&both)?, double(&right, &left)?],
        };
        let term = |weight: &Tensor, divisor: &Tensor, offset: i64| {
            ops::mul_tensor(&ops::div_tensor(weight, divisor)?, &sample(start + offset, count)?)
        };
        add(&add(&term(&a, &left_both, 0)?, &term(&b, &product, 1)?)?, &term(&c, &right_both, 2)?)
    };
    let line = |start: i64| ops::div_tensor(&sub(&sample(start + 1, 1)?, &sample(start, 1)?)?, &step(start, 1)?);
    let inner = parabola(0, size - 2, 1)?;
    let (first, last) = match edge_order {
        1 => (line(0)?, line(size - 2)?),
        _ => (parabola(0, 1, 0)?, parabola(size - 3, 1, 2)?),
    };
    ops::cat(&[&first, &inner, &last], dim)
}

/// The given dimension, or all.
fn dims_of(self_: &Tensor, dim: Option<i64>) -> Vec<i64> {
    dim.map_or_else(|| (0..self_.ndim() as i64).collect(), |dim| vec![dim])
}

/// As many spacings as dimensions.
fn check_count(self_: &Tensor, count: usize, dims: &[i64], dim_given: bool, list: bool) -> Result<()> {
    if dim_given {
        let only = if list { " or it's spacing" } else { "" };
        ensure!(
            count == dims.len(),
            Runtime,
            "torch.gradient expected spacing to be unspecified, a scalar{only} and dim arguments to have the same length, \
             but got a spacing argument of length {count} and a dim argument of length {}.",
            dims.len()
        );
    }
    ensure!(
        count == dims.len(),
        Runtime,
        "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = {}', \
         since dim argument was not given, but got a list of length {count}",
        self_.ndim()
    );
    Ok(())
}

fn evenly(self_: &Tensor, spacing: &[Scalar], dims: &[i64], given: bool, edge_order: i64) -> Result<Vec<Tensor>> {
    check_count(self_, spacing.len(), dims, given, true)?;
    let spacing: Vec<Spacing> = spacing.iter().map(|&step| Spacing::Even(step)).collect();
    gradients(self_, &spacing, dims, edge_order)
}

fn at_places(self_: &Tensor, spacing: &[&Tensor], dims: &[i64], given: bool, edge_order: i64) -> Result<Vec<Tensor>> {
    check_count(self_, spacing.len(), dims, given, true)?;
    for (places, &dim) in spacing.iter().zip(dims) {
        ensure!(
            places.ndim() == 1,
            Runtime,
            "torch.gradient expected each element of spacing to have one dimension, but got an element with {} dimensions!",
            places.ndim()
        );
        let size = self_.sizes().get(wrap_dim(dim, self_.ndim())?).copied().unwrap_or(1);
        ensure!(
            places.numel() == size,
            Runtime,
            "torch.gradient expected as many coordinates as there are samples along dimension {dim}, {size}, but got {}",
            places.numel()
        );
    }
    let spacing: Vec<Spacing> = spacing.iter().map(|places| Spacing::At(places)).collect();
    gradients(self_, &spacing, dims, edge_order)
}

/// The gradient with one spacing.
pub fn gradient_scalarint(
    self_: &Tensor,
    spacing: Option<Scalar>,
    dim: Option<i64>,
    edge_order: i64,
) -> Result<Vec<Tensor>> {
    gradient_scalararray(self_, spacing.unwrap_or(Scalar::Int(1)), &dims_of(self_, dim), edge_order)
}

/// The gradient with one spacing along dimensions.
pub fn gradient_scalararray(self_: &Tensor, spacing: Scalar, dim: &[i64], edge_order: i64) -> Result<Vec<Tensor>> {
    evenly(self_, &vec![spacing; dim.len()], dim, true, edge_order)
}

/// The gradient along dimensions.
pub fn gradient_array(self_: &Tensor, dim: &[i64], edge_order: i64) -> Result<Vec<Tensor>> {
    gradient_scalararray(self_, Scalar::Int(1), dim, edge_order)
}

/// The gradient with a spacing for each dimension.
pub fn gradient_scalarrayint(
    self_: &Tensor,
    spacing: &[Scalar],
    dim: Option<i64>,
    edge_order: i64,
) -> Result<Vec<Tensor>> {
    evenly(self_, spacing, &dims_of(self_, dim), dim.is_some(), edge_order)
}

/// The gradient with a spacing for each of the given dimensions.
pub fn gradient_scalarrayarray(
    self_: &Tensor,
    spacing: &[Scalar],
    dim: &[i64],
    edge_order: i64,
) -> Result<Vec<Tensor>> {
    evenly(self_, spacing, dim, true, edge_order)
}

/// The gradient of samples at given coordinates.
pub fn gradient_tensorarrayint(
    self_: &Tensor,
    spacing: &[&Tensor],
    dim: Option<i64>,
    edge_order: i64,
) -> Result<Vec<Tensor>> {
    at_places(self_, spacing, &dims_of(self_, dim), dim.is_some(), edge_order)
}

/// The gradient of samples at given coordinates along dimensions.
pub fn gradient_tensorarray(self_: &Tensor, spacing: &[&Tensor], dim: &[i64], edge_order: i64) -> Result<Vec<Tensor>> {
    at_places(self_, spacing, dim, true, edge_order)
}

/// The sums of neighbours along a dimension.
fn pairs(y: &Tensor, dim: i64) -> Result<Tensor> {
    add(&part(y, dim, 0, Some(-1))?, &part(y, dim, 1, None)?)
}

fn check_sampled(name: &str, y: &Tensor, x: Option<&Tensor>) -> Result<()> {
    let dtypes = [Some(y), x].map(|tensor| tensor.map(Tensor::dtype));
    if dtypes.contains(&Some(DType::Bool)) {
        let which = if x.is_some() { "`x` or `y`" } else { "`y`" };
        bail!(Runtime, "{name}: received a bool input for {which}, but bool is not supported");
    }
    Ok(())
}

/// A spacing is an integer or a floating-point number.
fn check_spacing(name: &str, dx: Scalar) -> Result<()> {
    let is_real = matches!(dx.category(), Category::Integral | Category::Floating);
    ensure!(is_real, Runtime, "{name}: Currently, we only support dx as a real number.");
    Ok(())
}

/// The widths between sampling points, in a shape that broadcasts with the samples.
fn widths(name: &str, y: &Tensor, x: &Tensor, dim: i64) -> Result<Tensor> {
    let at = wrap_dim(dim, y.ndim())?;
    let points = if x.ndim() == 1 {
        ensure!(x.numel() == y.sizes()[at], Runtime, "{name}: There must be one `x` value for each sample point");
        let mut shape = vec![1; y.ndim()];
        shape[at] = x.numel();
        ops::reshape(x, &shape)?
    } else if x.ndim() < y.ndim() {
        let mut shape = vec![1; y.ndim() - x.ndim()];
        shape.extend_from_slice(&x.sizes());
        ops::reshape(x, &shape)?
    } else {
        x.clone()
    };
    // Dimension `at` of the samples: `x` may have more dimensions.
    let at = at as i64;
    sub(&part(&points, at, 1, None)?, &part(&points, at, 0, Some(-1))?)
}

/// Without samples the integral is 0.
fn no_area(y: &Tensor, dim: i64) -> Result<Option<Tensor>> {
    let mut sizes = y.sizes();
    ensure!(!sizes.is_empty(), Index, "Dimension specified as {dim} but tensor has no dimensions");
    let at = wrap_dim(dim, y.ndim())?;
    if sizes.remove(at) > 0 {
        return Ok(None);
    }
    ops::zeros(&sizes, y.options()).map(Some)
}

/// The trapezoidal integral of samples at given coordinates.
pub fn trapezoid_x(y: &Tensor, x: &Tensor, dim: i64) -> Result<Tensor> {
    if let Some(none) = no_area(y, dim)? {
        return Ok(none);
    }
    check_sampled("trapezoid", y, Some(x))?;
    let areas = ops::mul_tensor(&pairs(y, dim)?, &widths("trapezoid", y, x, dim)?)?;
    ops::div_scalar(&ops::sum_dim_intlist(&areas, Some(&[dim]), false, None)?, Scalar::Int(2))
}

/// The trapezoidal integral of equidistant samples.
pub fn trapezoid_dx(y: &Tensor, dx: Scalar, dim: i64) -> Result<Tensor> {
    if let Some(none) = no_area(y, dim)? {
        return Ok(none);
    }
    check_sampled("trapezoid", y, None)?;
    check_spacing("trapezoid", dx)?;
    let ends = add(&ops::select_int(y, dim, 0)?, &ops::select_int(y, dim, -1)?)?;
    let sum = ops::sum_dim_intlist(y, Some(&[dim]), false, None)?;
    ops::mul_scalar(&sub(&sum, &ops::mul_scalar(&ends, Scalar::Float(0.5))?)?, dx)
}

/// Another name of `trapezoid`.
pub fn trapz_x(y: &Tensor, x: &Tensor, dim: i64) -> Result<Tensor> {
    trapezoid_x(y, x, dim)
}

/// Another name of `trapezoid`.
pub fn trapz_dx(y: &Tensor, dx: f64, dim: i64) -> Result<Tensor> {
    trapezoid_dx(y, Scalar::Float(dx), dim)
}

/// The cumulative trapezoidal integral of samples at given coordinates.
pub fn cumulative_trapezoid_x(y: &Tensor, x: &Tensor, dim: i64) -> Result<Tensor> {
    check_sampled("cumulative_trapezoid", y, Some(x))?;
    let areas = ops::mul_tensor(&pairs(y, dim)?, &widths("cumulative_trapezoid", y, x, dim)?)?;
    ops::div_scalar(&ops::cumsum(&areas, dim, None)?, Scalar::Int(2))
}

/// The cumulative trapezoidal integral of equidistant samples.
pub fn cumulative_trapezoid_dx(y: &Tensor, dx: Scalar, dim: i64) -> Result<Tensor> {
    check_sampled("cumulative_trapezoid", y, None)?;
    check_spacing("cumulative_trapezoid", dx)?;
    ops::mul_scalar(&ops::cumsum(&pairs(y, dim)?, dim, None)?, times(dx, 0.5))
}

/// One nonnegative weight for each observation.
fn check_weights(name: &str, weights: &Tensor, count: i64) -> Result<()> {
    ensure!(
        weights.ndim() <= 1,
        Runtime,
        "cov(): expected {name} to have one or fewer dimensions but got {name} with {} dimensions",
        weights.ndim()
    );
    ensure!(
        weights.numel() == count,
        Runtime,
        "cov(): expected {name} to have the same numel as there are observations in the input but got {} != {count}",
        weights.numel()
    );
    let readable = weights.numel() > 0 && weights.device().kind != DeviceType::Meta;
    let negative = readable && ops::any(&ops::lt_scalar(weights, Scalar::Int(0))?)?.item()?.to_bool();
    ensure!(!negative, Runtime, "cov(): {name} cannot be negative");
    Ok(())
}

/// The covariances of variables in the rows of a matrix.
pub fn cov(self_: &Tensor, correction: i64, fweights: Option<&Tensor>, aweights: Option<&Tensor>) -> Result<Tensor> {
    ensure!(
        self_.ndim() <= 2,
        Runtime,
        "cov(): expected input to have two or fewer dimensions but got an input with {} dimensions",
        self_.ndim()
    );
    ensure!(self_.dtype() != DType::Bool, Runtime, "cov(): bool dtype is not supported for input");
    let rows = if self_.ndim() < 2 { ops::reshape(self_, &[1, -1])? } else { self_.clone() };
    let count = rows.sizes()[1];
    if let Some(weights) = fweights {
        ensure!(
            weights.dtype().is_integral(false),
            Runtime,
            "cov(): expected fweights to have integral dtype but got fweights with {} dtype",
            weights.dtype().c10_name()
        );
        check_weights("fweights", weights, count)?;
    }
    if let Some(weights) = aweights {
        ensure!(
            weights.dtype().is_floating(),
            Runtime,
            "cov(): expected aweights to have floating point dtype but got aweights with {} dtype",
            weights.dtype().c10_name()
        );
        check_weights("aweights", weights, count)?;
    }
    let weights = match (fweights, aweights) {
        (Some(frequencies), Some(importances)) => Some(ops::mul_tensor(frequencies, importances)?),
        (one, other) => one.or(other).cloned(),
    };
    let options = Options::of(DType::I64).on(self_.device());
    let total = match &weights {
        Some(weights) => ops::sum(weights, None)?,
        None => ops::full(&[], Scalar::Int(count), options)?,
    };
    let has_data = self_.device().kind != DeviceType::Meta;
    ensure!(
        weights.is_none() || !has_data || total.item()?.to_f64() != 0.0,
        Runtime,
        "cov(): weights sum to zero, can't be normalized"
    );
    let weighted =
        |rows: &Tensor| weights.as_ref().map_or_else(|| Ok(rows.clone()), |weights| ops::mul_tensor(rows, weights));
    let mean = ops::div_tensor(&ops::sum_dim_intlist(&weighted(&rows)?, Some(&[1]), true, None)?, &total)?;
    let norm = match (&weights, aweights) {
        (Some(weights), Some(importances)) if correction != 0 => {
            let squares = ops::sum(&ops::mul_tensor(weights, importances)?, None)?;
            sub(&total, &ops::mul_scalar(&ops::div_tensor(&squares, &total)?, Scalar::Int(correction))?)?
        }
        _ => ops::sub_scalar(&total, Scalar::Int(correction), Scalar::Int(1))?,
    };
    let norm = ops::masked_fill_scalar(&norm, &ops::le_scalar(&norm, Scalar::Int(0))?, Scalar::Int(0))?;
    let away = sub(&rows, &mean)?;
    let products = ops::mm(&away, &ops::conj(&ops::t(&weighted(&away)?)?)?)?;
    ops::squeeze(&ops::div_tensor(&products, &norm)?)
}

/// The correlations of variables in the rows of a matrix.
pub fn corrcoef(self_: &Tensor) -> Result<Tensor> {
    ensure!(
        self_.ndim() <= 2,
        Runtime,
        "corrcoef(): expected input to have two or fewer dimensions but got an input with {} dimensions",
        self_.ndim()
    );
    let covariances = cov(self_, 1, None, None)?;
    if covariances.ndim() == 0 {
        return ops::div_tensor(&covariances, &covariances);
    }
    let deviations = ops::sqrt(&ops::real(&ops::diagonal(&covariances, 0, 0, 1)?)?)?;
    let rows = ops::div_tensor(&covariances, &ops::unsqueeze(&deviations, 1)?)?;
    let result = ops::div_tensor(&rows, &ops::unsqueeze(&deviations, 0)?)?;
    let clamp = |part: &Tensor| ops::clamp(part, Some(Scalar::Int(-1)), Some(Scalar::Int(1)));
    if !result.dtype().is_complex() {
        return clamp(&result);
    }
    // Clips both parts to [-1, 1], which rounding errors may exceed.
    let excess = |part: &Tensor| sub(part, &clamp(part)?);
    let turn = |by: f64| Scalar::Complex(rushlight_base::Complex::new(0.0, by));
    let real = excess(&ops::real(&result)?)?;
    let imaginary = excess(&ops::real(&ops::mul_scalar(&result, turn(-1.0))?)?)?;
    sub(&sub(&result, &real)?, &ops::mul_scalar(&imaginary, turn(1.0))?)
}
