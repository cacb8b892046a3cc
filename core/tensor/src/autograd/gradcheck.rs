//! `gradcheck` and `gradgradcheck`: compare analytical gradients with finite differences.
//!
//! Everything is compared in real numbers: a complex element counts as two. With `L = Re(conj(v) f(x))` the gradient
//! with respect to `x = a + ib` is `dL/da + i dL/db`, so that backward gives a row of the Jacobian for one real
//! component of the output, and finite differences give a column for one of the input.

use super::{grad, is_grad_enabled};
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, Result, ensure, format_sizes, list};

/// Options of the check. The defaults are PyTorch's.
#[derive(Clone, Copy, Debug)]
pub struct GradcheckOptions {
    /// Step of the differences.
    pub eps: f64,
    /// Absolute tolerance.
    pub atol: f64,
    /// Relative tolerance.
    pub rtol: f64,
    /// Largest allowed difference between two backward passes over the same input.
    pub nondet_tol: f64,
    /// Compare one random product with the Jacobian instead of all of it.
    pub fast_mode: bool,
    /// Check that a backward with undefined gradients of some outputs works, and returns zeros.
    pub check_undefined_grad: bool,
}

impl Default for GradcheckOptions {
    fn default() -> GradcheckOptions {
        GradcheckOptions {
            eps: 1e-6,
            atol: 1e-5,
            rtol: 1e-3,
            nondet_tol: 0.0,
            fast_mode: false,
            check_undefined_grad: true,
        }
    }
}

/// The function to check: tensors in, tensors out.
pub type Function<'a> = dyn Fn(&[Tensor]) -> Result<Vec<Tensor>> + 'a;

/// Describes the first mismatch of the gradients of `function` at `inputs`, if any; an error is the function's own.
/// Inputs that require a gradient are checked; they should have double precision.
pub fn gradcheck(function: &Function<'_>, inputs: &[Tensor], options: &GradcheckOptions) -> Result<Option<String>> {
    ensure!(
        inputs.iter().any(Tensor::requires_grad),
        Value,
        "gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True."
    );
    ensure!(is_grad_enabled(), Runtime, "gradcheck needs grad mode");
    for (index, input) in inputs.iter().enumerate().filter(|(_, input)| input.requires_grad()) {
        let overlaps = input.sizes().iter().zip(&input.strides()).any(|(&size, &stride)| size > 1 && stride == 0);
        ensure!(
            !overlaps,
            Runtime,
            "The {index}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping \
             to be able to compute the numerical gradients correctly. You should call .contiguous on the input before \
             passing it to gradcheck."
        );
    }
    let check = Check { function, inputs, options };
    check.run()
}

/// [`gradcheck`] of the gradients of `function`, as functions of its inputs and of the output gradients:
/// `grad_outputs`, one for each differentiable output, or random ones if there are none.
pub fn gradgradcheck(
    function: &Function<'_>,
    inputs: &[Tensor],
    grad_outputs: &[Tensor],
    options: &GradcheckOptions,
) -> Result<Option<String>> {
    let given = if grad_outputs.is_empty() {
        let outputs = differentiable(function(inputs)?);
        outputs.iter().enumerate().map(|(at, output)| random_like(output, at as u64)).collect::<Result<Vec<_>>>()?
    } else {
        grad_outputs.to_vec()
    };
    let count = inputs.len();
    let gradients = |all: &[Tensor]| -> Result<Vec<Tensor>> {
        let (inputs, cotangents) = all.split_at(count);
        let outputs = differentiable(function(inputs)?);
        ensure!(
            outputs.len() == cotangents.len(),
            Value,
            "gradgradcheck got {} gradients for {} outputs that require one",
            cotangents.len(),
            outputs.len()
        );
        let wanted: Vec<&Tensor> = inputs.iter().filter(|input| input.requires_grad()).collect();
        if outputs.is_empty() {
            return Ok(Vec::new());
        }
        let roots: Vec<&Tensor> = outputs.iter().collect();
        let starts: Vec<Option<&Tensor>> = cotangents.iter().map(Some).collect();
        Ok(grad(&roots, &wanted, &starts, true, true, true)?.into_iter().flatten().collect())
    };
    let all: Vec<Tensor> = inputs.iter().cloned().chain(given).collect();
    gradcheck(&gradients, &all, options)
}

fn differentiable(outputs: Vec<Tensor>) -> Vec<Tensor> {
    outputs.into_iter().filter(|output| output.dtype().is_differentiable() && output.requires_grad()).collect()
}

struct Check<'a> {
    function: &'a Function<'a>,
    inputs: &'a [Tensor],
    options: &'a GradcheckOptions,
}

/// Rows are real components of an output, columns of an input.
struct Jacobian {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Check<'_> {
    fn run(&self) -> Result<Option<String>> {
        let outputs: Vec<Tensor> =
            (self.function)(self.inputs)?.into_iter().filter(|output| output.dtype().is_differentiable()).collect();
        if !outputs.iter().any(Tensor::requires_grad) {
            return self.constant();
        }
        for (at, output) in outputs.iter().enumerate() {
            let problem =
                if self.options.fast_mode { self.fast(&outputs, at, output)? } else { self.slow(at, output)? };
            if problem.is_some() {
                return Ok(problem);
            }
        }
        if self.options.check_undefined_grad { self.undefined(&outputs) } else { Ok(None) }
    }

    fn wanted(&self) -> Vec<(usize, &Tensor)> {
        self.inputs.iter().enumerate().filter(|(_, input)| input.requires_grad()).collect()
    }

    /// No output requires a gradient: then none may depend on the inputs.
    fn constant(&self) -> Result<Option<String>> {
        for (index, input) in self.wanted() {
            let columns = components(input)?.len();
            for column in 0..columns {
                let moved = self.difference(index, input, &unit(columns, column)?)?;
                if moved.iter().flatten().any(|slope| slope.abs() > self.options.atol) {
                    return Ok(Some("Numerical gradient for function expected to be zero".into()));
                }
            }
        }
        Ok(None)
    }

    fn slow(&self, at: usize, output: &Tensor) -> Result<Option<String>> {
        let analytical = self.backward_rows(output)?;
        for ((index, input), analytical) in self.wanted().into_iter().zip(&analytical) {
            let mut numerical = Jacobian { values: Vec::new(), ..*analytical };
            numerical.values = list::filled(numerical.size(), 0.0)?;
            for column in 0..numerical.columns {
                let moved = self.difference(index, input, &unit(numerical.columns, column)?)?;
                let Some(slopes) = moved.get(at) else { continue };
                for (row, slope) in slopes.iter().enumerate().take(numerical.rows) {
                    numerical.values[row * numerical.columns + column] = *slope;
                }
            }
            let mut pairs = analytical.values.iter().zip(&numerical.values);
            if !pairs.all(|(analytical, numerical)| self.close(*analytical, *numerical, 1.0)) {
                return Ok(Some(format!(
                    "Jacobian mismatch for output {at} with respect to input {index},\nnumerical:{}\nanalytical:{}\n",
                    numerical.show(),
                    analytical.show()
                )));
            }
        }
        let again = self.backward_rows(output)?;
        let apart = analytical.iter().zip(&again).any(|(first, second)| {
            first.values.iter().zip(&second.values).any(|(a, b)| !((a - b).abs() <= self.options.nondet_tol || a == b))
        });
        Ok(apart.then(|| self.not_reentrant()))
    }

    fn not_reentrant(&self) -> String {
        format!(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives \
             different values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism \
             was {:?}.",
            self.options.nondet_tol
        )
    }

    fn close(&self, analytical: f64, numerical: f64, scale: f64) -> bool {
        (analytical - numerical).abs() <= self.options.atol * scale + self.options.rtol * numerical.abs()
    }

    /// `v J u` for random `u` and `v`, from one difference and from one backward.
    fn fast(&self, outputs: &[Tensor], at: usize, output: &Tensor) -> Result<Option<String>> {
        if !output.requires_grad() {
            return Ok(None);
        }
        let v = direction(components(output)?.len(), at as u64 + 1)?;
        let first = self.vector_product(output, &v)?;
        for ((index, input), gradient) in self.wanted().into_iter().zip(&first) {
            let u = direction(gradient.len(), index as u64 + 101)?;
            let moved = self.difference(index, input, &u)?;
            let numerical = dot(moved.get(at).map_or(&[], Vec::as_slice), &v);
            let analytical = dot(gradient, &u);
            // Each element of the Jacobian contributes its error, weighted by `u` and `v`.
            let scale = u.iter().sum::<f64>() * v.iter().sum::<f64>();
            if !self.close(analytical, numerical, scale.max(1.0)) {
                return Ok(Some(format!(
                    "Jacobian mismatch for output {at} with respect to input {index},\nnumerical:{numerical:?}\nanalytical:\
                     {analytical:?}\n\nThe above quantities relating the numerical and analytical jacobians are computed \
                     in fast mode."
                )));
            }
        }
        let again = self.vector_product(&outputs[at], &v)?;
        let pairs = first.iter().flatten().zip(again.iter().flatten());
        let apart = pairs.into_iter().any(|(a, b)| !((a - b).abs() <= self.options.nondet_tol || a == b));
        Ok(apart.then(|| self.not_reentrant()))
    }

    /// The Jacobians of an output by each input, row by row.
    fn backward_rows(&self, output: &Tensor) -> Result<Vec<Jacobian>> {
        let rows = components(output)?.len();
        let mut jacobians: Vec<Jacobian> = Vec::new();
        for (_, input) in self.wanted() {
            let columns = components(input)?.len();
            let mut jacobian = Jacobian { rows, columns, values: Vec::new() };
            jacobian.values = list::with_capacity(jacobian.size())?;
            jacobians.push(jacobian);
        }
        for row in 0..rows {
            let products =
                if output.requires_grad() { self.vector_product(output, &unit(rows, row)?)? } else { Vec::new() };
            for (at, jacobian) in jacobians.iter_mut().enumerate() {
                match products.get(at) {
                    Some(product) => jacobian.values.extend(product),
                    None => jacobian.values.extend(std::iter::repeat_n(0.0, jacobian.columns)),
                }
            }
        }
        Ok(jacobians)
    }

    /// `v J` for each input.
    fn vector_product(&self, output: &Tensor, v: &[f64]) -> Result<Vec<Vec<f64>>> {
        let inputs: Vec<&Tensor> = self.wanted().into_iter().map(|(_, input)| input).collect();
        let cotangent = like(output, v)?;
        let gradients = grad(&[output], &inputs, &[Some(&cotangent)], true, false, true)?;
        let product = |(gradient, input): (Option<Tensor>, &&Tensor)| match gradient {
            Some(gradient) => {
                ensure!(
                    gradient.sizes() == input.sizes() && gradient.dtype() == input.dtype(),
                    Runtime,
                    "Analytical gradient has incorrect size or dtype: {} {} for an input of {} {}",
                    format_sizes(&gradient.sizes()),
                    gradient.dtype(),
                    format_sizes(&input.sizes()),
                    input.dtype()
                );
                components(&gradient)
            }
            None => list::filled(components(input)?.len(), 0.0),
        };
        gradients.into_iter().zip(&inputs).map(product).collect()
    }

    /// The derivative of the components of each output along `direction` of one input.
    fn difference(&self, index: usize, input: &Tensor, direction: &[f64]) -> Result<Vec<Vec<f64>>> {
        let at = components(input)?;
        let eps = self.options.eps;
        let side = |step: f64| -> Result<Vec<Vec<f64>>> {
            let moved = list::collect(at.iter().zip(direction).map(|(value, along)| value + step * along))?;
            let mut inputs = self.inputs.to_vec();
            inputs[index] = like(input, &moved)?;
            inputs[index].set_requires_grad(true)?;
            let outputs = (self.function)(&inputs)?;
            outputs.iter().filter(|output| output.dtype().is_differentiable()).map(components).collect()
        };
        let (above, below) = (side(eps)?, side(-eps)?);
        let slope = |(above, below): (&Vec<f64>, &Vec<f64>)| {
            list::collect(above.iter().zip(below).map(|(above, below)| (above - below) / (2.0 * eps)))
        };
        above.iter().zip(&below).map(slope).collect()
    }

    /// Runs backward from one output with a gradient of zeros, the others undefined. All results must be zeros, or
    /// undefined.
    fn undefined(&self, outputs: &[Tensor]) -> Result<Option<String>> {
        let inputs: Vec<&Tensor> = self.wanted().into_iter().map(|(_, input)| input).collect();
        for output in outputs.iter().filter(|output| output.requires_grad()) {
            let zeros = ops::zeros(&output.sizes(), Options::of(output.dtype()).on(output.device()))?;
            let gradients = grad(&[output], &inputs, &[Some(&zeros)], true, false, true);
            let zero = match gradients {
                Ok(gradients) => {
                    let parts: Vec<Vec<f64>> = gradients.iter().flatten().map(components).collect::<Result<_>>()?;
                    parts.iter().flatten().all(|part| *part == 0.0)
                }
                Err(_) => false,
            };
            if !zero {
                return Ok(Some(
                    "Expected backward function to handle undefined output grads. Please look at \"Notes about undefined \
                     output gradients\" in \"tools/autograd/derivatives.yaml\""
                        .into(),
                ));
            }
        }
        Ok(None)
    }
}

impl Jacobian {
    fn size(&self) -> usize {
        self.rows.saturating_mul(self.columns)
    }

    /// As a matrix with a row for each component of the input, as PyTorch prints it; a large one by its shape.
    fn show(&self) -> String {
        if self.size() > 1 << 14 {
            return format!("a matrix of {} x {} numbers", self.columns, self.rows);
        }
        let element = |row: usize, column: usize| format!("{:.4}", self.values[row * self.columns + column]);
        let line = |column: usize| {
            format!("[{}]", (0..self.rows).map(|row| element(row, column)).collect::<Vec<_>>().join(", "))
        };
        format!("[{}]", (0..self.columns).map(line).collect::<Vec<_>>().join(",\n        "))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn unit(length: usize, at: usize) -> Result<Vec<f64>> {
    let mut unit = list::filled(length, 0.0)?;
    unit[at] = 1.0;
    Ok(unit)
}

/// Positive numbers without a pattern, of norm 1. The default generator is not used.
fn direction(length: usize, seed: u64) -> Result<Vec<f64>> {
    let number = |at: usize| 0.1 + (seed as f64 * 0.7 + at as f64 * 1.9).sin().abs();
    let mut numbers = list::collect((0..length).map(number))?;
    let norm = dot(&numbers, &numbers).sqrt();
    numbers.iter_mut().for_each(|number| *number /= norm);
    Ok(numbers)
}

fn random_like(tensor: &Tensor, seed: u64) -> Result<Tensor> {
    let numbers = components(&tensor.alias())?.len();
    let values = list::collect((0..numbers).map(|at| (seed as f64 * 1.3 + at as f64 * 2.7 + 0.5).sin()))?;
    let random = like(tensor, &values)?;
    random.set_requires_grad(true)?;
    Ok(random)
}

/// The real numbers in a tensor, row-major; of complex ones both parts.
fn components(tensor: &Tensor) -> Result<Vec<f64>> {
    let wide = if tensor.dtype().is_complex() { DType::C128 } else { DType::F64 };
    let plain = ops::to_dtype(&tensor.alias(), wide, false, false, None)?;
    if wide == DType::F64 {
        return plain.to_vec::<f64>();
    }
    list::collect(plain.to_vec::<rushlight_base::Complex128>()?.iter().flat_map(|number| [number.re, number.im]))
}

/// Whether two elements may share an address. They do not if each dimension steps over the extent of the shorter steps.
fn may_overlap(sizes: &[i64], strides: &[i64]) -> bool {
    let mut dims: Vec<(i64, i64)> =
        strides.iter().copied().zip(sizes.iter().copied()).filter(|dim| dim.1 > 1).collect();
    dims.sort_unstable();
    let mut reach = 0;
    dims.into_iter().any(|(stride, size)| {
        let over = stride <= reach;
        reach += stride * (size - 1);
        over
    })
}

/// A leaf with the metadata of `tensor`, including strides unless elements share their address, and these values.
fn like(tensor: &Tensor, numbers: &[f64]) -> Result<Tensor> {
    let sizes = tensor.sizes();
    let flat = if tensor.dtype().is_complex() {
        let pairs = numbers.chunks(2).map(|pair| rushlight_base::Complex128::new(pair[0], pair[1]));
        let pairs = list::collect(pairs)?;
        Tensor::from_slice(&pairs, &sizes)?
    } else {
        Tensor::from_slice(numbers, &sizes)?
    };
    let strides = if may_overlap(&sizes, &tensor.strides()) {
        rushlight_base::contiguous_strides(&sizes)
    } else {
        tensor.strides()
    };
    let result = ops::empty_strided(&sizes, &strides, Options::of(tensor.dtype()).on(tensor.device()))?;
    ops::copy_(&result, &flat, false)?;
    Ok(result)
}
