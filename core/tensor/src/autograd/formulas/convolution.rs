//! Derivatives of convolutions, which are convolutions.

use super::Expr;
use rushlight_base::DimVec;

/// The arguments of a convolution besides tensors.
#[derive(Debug)]
pub struct Convolution<'a> {
    stride: &'a [i64],
    padding: &'a [i64],
    dilation: &'a [i64],
    transposed: bool,
    groups: i64,
}

/// The parameters of a convolution, for its derivatives.
pub fn convolution<'a>(
    stride: &'a [i64],
    padding: &'a [i64],
    dilation: &'a [i64],
    transposed: bool,
    groups: i64,
) -> Convolution<'a> {
    Convolution { stride, padding, dilation, transposed, groups }
}

/// The value of a dimension, of one for all or one for each.
fn of(values: &[i64], dim: usize) -> i64 {
    values.get(dim).or(values.first()).copied().unwrap_or(1)
}

/// The first positions of each dimension: a kernel finds more positions than there were if the output padding is wider
/// than a step.
fn first(image: Expr, sizes: &[i64]) -> Expr {
    (2..sizes.len()).fold(image, |image, dim| {
        if image.sizes().get(dim).is_none_or(|&size| size == sizes[dim]) {
            return image;
        }
        image.narrow(dim as i64, 0, sizes[dim])
    })
}

impl Convolution<'_> {
    /// The gradient with respect to the image: the transposed convolution, with the part of the image that the stride
    /// skips restored.
    pub fn input(&self, grad: &Expr, weight: &Expr, input: &[i64]) -> Expr {
        let (sizes, weights) = (grad.sizes(), weight.sizes());
        let left_over = |dim: usize| {
            if self.transposed || sizes.len() != input.len() || weights.len() != input.len() {
                return 0;
            }
            let reach = of(self.dilation, dim) * (weights[2 + dim] - 1) + 1;
            input[2 + dim] - ((sizes[2 + dim] - 1) * of(self.stride, dim) - 2 * of(self.padding, dim) + reach)
        };
        let output_padding: DimVec = (0..input.len().saturating_sub(2)).map(left_over).collect();
        let transposed = !self.transposed;
        let result = grad.convolution(
            weight.conj(),
            None,
            self.stride,
            self.padding,
            self.dilation,
            transposed,
            &output_padding,
            self.groups,
        );
        first(result, input)
    }

    /// The gradient by the weights. Of a transposed convolution, image and gradient change roles.
    pub fn weight(&self, grad: &Expr, input: &Expr, weight: &[i64]) -> Expr {
        let input = input.conj();
        let (small, large) = if self.transposed { (&input, grad) } else { (grad, &input) };
        // The sum is of products with the conjugate of the image, in either position.
        small._convolution_weight(large, weight, self.stride, self.padding, self.dilation, self.groups)
    }

    /// The gradient by the bias: summed over samples and positions.
    pub fn bias(&self, grad: &Expr) -> Expr {
        let dims: DimVec = std::iter::once(0).chain(2..grad.ndim() as i64).collect();
        grad.sum_dim_intlist(Some(&dims), false, None)
    }
}

/// The derivative of the gradient by the weights, by the gradient it came from: `grad`, which has the shape of the
/// weights, convolved with the image.
pub fn convolution_weight_grad_output(grad: &Expr, input: &Expr, grad_output: &[i64], walk: &Convolution<'_>) -> Expr {
    let none = DimVec::from_elem(0, grad.ndim().saturating_sub(2));
    let input = input.conj();
    first(
        input.convolution(grad, None, walk.stride, walk.padding, walk.dilation, false, &none, walk.groups),
        grad_output,
    )
}

/// The derivative of the gradient by the weights, by the image.
pub fn convolution_weight_input(grad: &Expr, grad_output: &Expr, input: &[i64], walk: &Convolution<'_>) -> Expr {
    walk.input(&grad_output.conj(), &grad.conj(), input)
}
