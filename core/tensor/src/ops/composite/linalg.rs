//! Matrix products of any rank, composed of those of two matrices.

use crate::dense::Spec;
use crate::dispatch::{self, Overlap};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Category, DType, DimVec, MemoryFormat, Result, Scalar, ensure, format_sizes};

/// The product of vectors, matrices, or batches of matrices.
pub fn matmul(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    if (self_.ndim(), other.ndim()) == (2, 2) {
        return ops::mm(self_, other);
    }
    let Product { left, right, sizes } = Product::of(self_, other)?;
    ops::view(&if left.ndim() == 2 { ops::mm(&left, &right)? } else { ops::bmm(&left, &right)? }, &sizes)
}

/// Like `matmul`, written to `out`.
pub fn matmul_out(self_: &Tensor, other: &Tensor, out: &Tensor) -> Result<()> {
    if (self_.ndim(), other.ndim()) == (2, 2) {
        return ops::mm_out(self_, other, out);
    }
    // Aliases: giving `out` its shape must not change an operand that is the same tensor.
    let Product { left, right, sizes } = Product::of(&ops::alias(self_)?, &ops::alias(other)?)?;
    let rows = left.sizes()[left.ndim() - 2];
    let columns = right.sizes()[right.ndim() - 1];
    match left.ndim() {
        2 => write_as(out, &left, &sizes, &[rows, columns], |out| ops::mm_out(&left, &right, out)),
        _ => write_as(out, &left, &sizes, &[left.sizes()[0], rows, columns], |out| ops::bmm_out(&left, &right, out)),
    }
}

/// Resizes `out` to `sizes` for a result like `like`, and calls `write` with a view of it of the shape `seen`; if its
/// strides allow no view, a temporary is used.
fn write_as(
    out: &Tensor,
    like: &Tensor,
    sizes: &[i64],
    seen: &[i64],
    write: impl FnOnce(&Tensor) -> Result<()>,
) -> Result<()> {
    Spec::new(sizes, like.dtype(), like.device()).prepare_out(out, Overlap::Temporary, [])?;
    match ops::view(out, seen) {
        Ok(view) => write(&view),
        Err(_) => {
            let result = ops::empty_memory_format(seen, out.options(), None)?;
            write(&result)?;
            ops::copy_(out, &ops::view(&result, sizes)?, false)
        }
    }
}

/// A product as the product of two matrices, or of two batches of the same size, and the shape of the result.
struct Product {
    left: Tensor,
    right: Tensor,
    sizes: DimVec,
}

impl Product {
    fn of(self_: &Tensor, other: &Tensor) -> Result<Product> {
        let (left, right) = (self_.ndim(), other.ndim());
        ensure!(
            left > 0 && right > 0,
            Runtime,
            "both arguments to matmul need to be at least 1D, but they are {left}D and {right}D"
        );
        let (a, b) = (self_.sizes(), other.sizes());
        match (left, right) {
            (1, 1) => {
                ensure!(
                    a == b,
                    Runtime,
                    "inconsistent tensor size, expected tensor [{}] and src [{}] to have the same number of elements, but got \
                     {} and {} elements respectively",
                    a[0],
                    b[0],
                    a[0],
                    b[0]
                );
                let (left, right) = (ops::unsqueeze(self_, 0)?, ops::unsqueeze(other, 1)?);
                Ok(Product { left, right, sizes: DimVec::new() })
            }
            (2, 2) => {
                Ok(Product { left: self_.clone(), right: other.clone(), sizes: DimVec::from_slice(&[a[0], b[1]]) })
            }
            (2, 1) => {
                ensure!(
                    a[1] == b[0],
                    Runtime,
                    "size mismatch, got input ({}), mat ({}x{}), vec ({})",
                    a[0],
                    a[0],
                    a[1],
                    b[0]
                );
                Ok(Product { left: self_.clone(), right: ops::unsqueeze(other, 1)?, sizes: DimVec::from_elem(a[0], 1) })
            }
            (1, 2) => {
                Ok(Product { left: ops::unsqueeze(self_, 0)?, right: other.clone(), sizes: DimVec::from_elem(b[1], 1) })
            }
            (_, 1 | 2) => Product::tall(self_, other),
            _ => Product::batched(self_, other),
        }
    }

    /// A batch times one matrix is computed as the product of one tall matrix.
    fn tall(self_: &Tensor, other: &Tensor) -> Result<Product> {
        let right = if other.ndim() == 1 { ops::unsqueeze(other, 1)? } else { other.clone() };
        let (a, inner) = (self_.sizes(), right.sizes()[0]);
        let (head, last) = (&a[..a.len() - 1], a[a.len() - 1]);
        let rows: i64 = head.iter().product();
        ensure!(
            last == inner,
            Runtime,
            "mat1 and mat2 shapes cannot be multiplied ({rows}x{last} and {inner}x{})",
            right.sizes()[1]
        );
        let mut sizes = DimVec::from_slice(head);
        if other.ndim() == 2 {
            sizes.push(right.sizes()[1]);
        }
        Ok(Product { left: ops::reshape(self_, &[rows, last])?, right, sizes })
    }

    /// Matrices in the last two dimensions, the others broadcast.
    fn batched(self_: &Tensor, other: &Tensor) -> Result<Product> {
        let vector = self_.ndim() == 1;
        let left = if vector { ops::unsqueeze(self_, 0)? } else { self_.clone() };
        let (a, b) = (left.sizes(), other.sizes());
        let (a_head, a_tail) = a.split_at(a.len() - 2);
        let (b_head, b_tail) = b.split_at(b.len() - 2);
        let batch = ops::rules::broadcast_sizes(a_head, b_head)?;
        let count: i64 = batch.iter().product();
        let stack = |tensor: &Tensor, tail: &[i64]| {
            let mut shape = batch.clone();
            shape.extend_from_slice(tail);
            ops::reshape(&ops::expand(tensor, &shape, false)?, &[count, tail[0], tail[1]])
        };
        ensure!(
            a_tail[1] == b_tail[0],
            Runtime,
            "Expected size for first two dimensions of batch2 tensor to be: [{count}, {}] but got: [{count}, {}].",
            a_tail[1],
            b_tail[0]
        );
        let mut sizes = batch.clone();
        if !vector {
            sizes.push(a_tail[0]);
        }
        sizes.push(b_tail[1]);
        Ok(Product { left: stack(&left, a_tail)?, right: stack(other, b_tail)?, sizes })
    }
}

/// input weight^T + bias
pub fn linear(input: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    check_weight(weight, bias)?;
    let transposed = ops::t(weight)?;
    match bias {
        Some(bias) if input.ndim() == 2 && weight.ndim() == 2 => {
            ops::addmm(bias, input, &transposed, Scalar::Int(1), Scalar::Int(1))
        }
        Some(bias) if is_stack(input, weight) => {
            let (rows, sizes) = stacked(input, weight)?;
            ops::view(&ops::addmm(bias, &rows, &transposed, Scalar::Int(1), Scalar::Int(1))?, &sizes)
        }
        Some(bias) => ops::add_tensor(&ops::matmul(input, &transposed)?, bias, Scalar::Int(1)),
        None => ops::matmul(input, &transposed),
    }
}

/// Like `linear`, written to `out`.
pub fn linear_out(input: &Tensor, weight: &Tensor, bias: Option<&Tensor>, out: &Tensor) -> Result<()> {
    check_weight(weight, bias)?;
    let transposed = ops::t(weight)?;
    match bias {
        Some(bias) if input.ndim() == 2 && weight.ndim() == 2 => {
            ops::addmm_out(bias, input, &transposed, Scalar::Int(1), Scalar::Int(1), out)
        }
        Some(bias) if is_stack(input, weight) => {
            let ((rows, sizes), bias) = (stacked(&ops::alias(input)?, weight)?, ops::alias(bias)?);
            let seen = [rows.sizes()[0], weight.sizes()[0]];
            write_as(out, &rows, &sizes, &seen, |out| {
                ops::addmm_out(&bias, &rows, &transposed, Scalar::Int(1), Scalar::Int(1), out)
            })
        }
        Some(bias) => ops::add_out(&ops::matmul(input, &transposed)?, bias, Scalar::Int(1), out),
        None => matmul_out(input, &transposed, out),
    }
}

/// A stack of rows is one tall matrix: one pass computes product and bias.
fn is_stack(input: &Tensor, weight: &Tensor) -> bool {
    input.ndim() > 2 && weight.ndim() == 2 && input.is_contiguous(MemoryFormat::Contiguous)
}

/// The rows of a stack, and the sizes of their products with the columns.
fn stacked(input: &Tensor, weight: &Tensor) -> Result<(Tensor, DimVec)> {
    let sizes = input.sizes();
    let (head, last) = (&sizes[..sizes.len() - 1], sizes[sizes.len() - 1]);
    let mut shape = DimVec::from_slice(head);
    shape.push(weight.sizes()[0]);
    Ok((ops::view(input, &[head.iter().product(), last])?, shape))
}

fn check_weight(weight: &Tensor, bias: Option<&Tensor>) -> Result<()> {
    ensure!(
        weight.ndim() == 2 || (weight.ndim() == 1 && bias.is_none_or(|bias| bias.ndim() == 0)),
        Runtime,
        "linear(): weight must be a matrix or a vector, got {}",
        format_sizes(&weight.sizes())
    );
    Ok(())
}

/// conj(self) other
pub fn vdot(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    ops::dot(&ops::conj(self_)?, other)
}

/// Like `vdot`, written to `out`.
pub fn vdot_out(self_: &Tensor, other: &Tensor, out: &Tensor) -> Result<()> {
    ops::dot_out(&ops::conj(self_)?, other, out)
}

/// Sums of products along the last dimensions.
pub fn inner(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    check_inner(self_, other)?;
    match (self_.ndim(), other.ndim()) {
        (0, _) | (_, 0) => ops::mul_tensor(self_, other),
        _ => {
            let Product { left, right, sizes } = inner_product(self_, other)?;
            ops::view(&ops::mm(&left, &right)?, &sizes)
        }
    }
}

/// Like `inner`, written to `out`.
pub fn inner_out(self_: &Tensor, other: &Tensor, out: &Tensor) -> Result<()> {
    check_inner(self_, other)?;
    match (self_.ndim(), other.ndim()) {
        (0, _) | (_, 0) => ops::mul_out(self_, other, out),
        _ => {
            let Product { left, right, sizes } = inner_product(&ops::alias(self_)?, &ops::alias(other)?)?;
            let seen = [left.sizes()[0], right.sizes()[1]];
            write_as(out, &left, &sizes, &seen, |out| ops::mm_out(&left, &right, out))
        }
    }
}

fn check_inner(self_: &Tensor, other: &Tensor) -> Result<()> {
    let (a, b) = (self_.sizes(), other.sizes());
    if a.is_empty() || b.is_empty() {
        return Ok(());
    }
    ensure!(self_.dtype() == other.dtype(), Runtime, "both inputs should have same dtype");
    ensure!(
        a.last() == b.last(),
        Runtime,
        "inner() the last dimension must match on both input tensors but got shapes {} and {}",
        format_sizes(&a),
        format_sizes(&b)
    );
    Ok(())
}

fn inner_product(self_: &Tensor, other: &Tensor) -> Result<Product> {
    let (a, b) = (self_.sizes(), other.sizes());
    let rows = |sizes: &[i64]| [sizes[..sizes.len() - 1].iter().product::<i64>(), sizes[sizes.len() - 1]];
    let mut sizes = DimVec::from_slice(&a[..a.len() - 1]);
    sizes.extend_from_slice(&b[..b.len() - 1]);
    let (left, right) = (ops::reshape(self_, &rows(&a))?, ops::t(&ops::reshape(other, &rows(&b))?)?);
    Ok(Product { left, right, sizes })
}

/// The first of two vectors as a column.
fn column(name: &str, [(first, self_), (second, vec2)]: [(&str, &Tensor); 2]) -> Result<Tensor> {
    for (argument, vector) in [(first, self_), (second, vec2)] {
        let dims = vector.ndim();
        ensure!(dims == 1, Runtime, "{name}: Expected 1-D argument {argument}, but got {dims}-D");
    }
    ops::unsqueeze(self_, 1)
}

/// Each element of a vector times each of another one.
pub fn outer(self_: &Tensor, vec2: &Tensor) -> Result<Tensor> {
    ops::mul_tensor(&column("outer", [("self", self_), ("vec2", vec2)])?, vec2)
}

/// Like `outer`, written to `out`.
pub fn outer_out(self_: &Tensor, vec2: &Tensor, out: &Tensor) -> Result<()> {
    ops::mul_out(&column("outer", [("self", self_), ("vec2", vec2)])?, vec2, out)
}

/// beta self + alpha vec1 vec2^T
pub fn addr(self_: &Tensor, vec1: &Tensor, vec2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let dtype = self_.dtype();
    // Half precision rounds the product before it is added.
    if !dtype.is_half()
        && dtype.category() >= Category::Floating
        && [vec1, vec2].iter().all(|vec| vec.dtype() == dtype)
        && !is_zero(beta)
    {
        let column = checked_column(self_, vec1, vec2, beta, alpha)?;
        return ops::addcmul(&scaled(self_, beta)?, &scaled(&column, alpha)?, vec2, Scalar::Int(1));
    }
    match scaled_terms(self_, vec1, vec2, beta, alpha)? {
        (Some(first), product) => ops::add_tensor(&first, &product, Scalar::Int(1)),
        (None, product) => Ok(product),
    }
}

/// Like `addr`, written to `out`.
pub fn addr_out(self_: &Tensor, vec1: &Tensor, vec2: &Tensor, beta: Scalar, alpha: Scalar, out: &Tensor) -> Result<()> {
    match scaled_terms(self_, vec1, vec2, beta, alpha)? {
        (Some(first), product) => ops::add_out(&first, &product, Scalar::Int(1), out),
        (None, product) => dispatch::write_result(&product, out),
    }
}

/// Like `addr`, in place.
pub fn addr_(self_: &Tensor, vec1: &Tensor, vec2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<()> {
    match scaled_terms(self_, vec1, vec2, beta, alpha)? {
        (Some(_), product) if beta.to_complex() == Scalar::Int(1).to_complex() => {
            ops::add_tensor_(self_, &product, Scalar::Int(1))
        }
        (Some(first), product) => ops::copy_(self_, &ops::add_tensor(&first, &product, Scalar::Int(1))?, false),
        (None, product) => ops::copy_(self_, &product, false),
    }
}

fn is_zero(factor: Scalar) -> bool {
    factor.to_complex() == Scalar::Int(0).to_complex()
}

/// beta self, unless beta is 0, and alpha vec1 vec2^T, which has the dtype of the sum then.
fn scaled_terms(
    self_: &Tensor,
    vec1: &Tensor,
    vec2: &Tensor,
    beta: Scalar,
    alpha: Scalar,
) -> Result<(Option<Tensor>, Tensor)> {
    let column = checked_column(self_, vec1, vec2, beta, alpha)?;
    let product = ops::mul_tensor(&scaled(&column, alpha)?, vec2)?;
    if is_zero(beta) {
        let common = ops::rules::common_dtype(&[&*self_.dense()?, &*product.dense()?])?;
        return Ok((None, ops::to_dtype(&product, common, false, false, None)?));
    }
    Ok((Some(scaled(self_, beta)?), product))
}

/// `vec1` as a column, after the checks of `addr`.
fn checked_column(self_: &Tensor, vec1: &Tensor, vec2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let column = column("addr", [("vec1", vec1), ("vec2", vec2)])?;
    ops::rules::check_expandable(&self_.sizes(), &[vec1.numel(), vec2.numel()])?;
    for (name, factor) in [("beta", beta), ("alpha", alpha)] {
        check_factor(name, factor, [self_, vec1, vec2])?;
    }
    Ok(column)
}

/// Whether the category of the factor of a sum is allowed for these tensors.
fn check_factor(name: &str, factor: Scalar, tensors: [&Tensor; 3]) -> Result<()> {
    let boolean = tensors.iter().all(|tensor| tensor.dtype() == DType::Bool);
    ensure!(boolean || factor.dtype() != DType::Bool, Runtime, "Boolean {name} only supported for Boolean results.");
    let integral = tensors.iter().all(|tensor| tensor.dtype().category() <= Category::Integral);
    ensure!(
        !integral || factor.category() <= Category::Integral,
        Runtime,
        "For integral input tensors, argument {name} must not be a floating point number."
    );
    Ok(())
}

/// `factor` times a tensor, in its dtype if the factor is 1 or the tensor is boolean.
fn scaled(tensor: &Tensor, factor: Scalar) -> Result<Tensor> {
    if factor.to_complex() == Scalar::Int(1).to_complex() {
        return Ok(tensor.clone());
    }
    let factor = if tensor.dtype() == DType::Bool { Scalar::Bool(factor.to_bool()) } else { factor };
    ops::mul_scalar(tensor, factor)
}

/// The product of several matrices.
pub fn chain_matmul(matrices: &[&Tensor]) -> Result<Tensor> {
    check_chain(matrices)?;
    match matrices {
        [only] => Ok((*only).clone()),
        _ => linalg_multi_dot(matrices),
    }
}

/// Like `chain_matmul`, written to `out`.
pub fn chain_matmul_out(matrices: &[&Tensor], out: &Tensor) -> Result<()> {
    check_chain(matrices)?;
    match matrices {
        [only] => dispatch::write_result(only, out),
        _ => linalg_multi_dot_out(matrices, out),
    }
}

fn check_chain(matrices: &[&Tensor]) -> Result<()> {
    ensure!(!matrices.is_empty(), Runtime, "chain_matmul(): Expected one or more matrices");
    for matrix in matrices {
        let dims = matrix.ndim();
        ensure!(dims == 2, Runtime, "Tensor dimension is {dims}, expected 2 instead.");
    }
    Ok(())
}

/// The product of several matrices, of which the first and the last may be vectors.
pub fn linalg_multi_dot(tensors: &[&Tensor]) -> Result<Tensor> {
    let Product { left, right, sizes } = last_product(tensors)?;
    ops::view(&ops::mm(&left, &right)?, &sizes)
}

/// Like `linalg_multi_dot`, written to `out`.
pub fn linalg_multi_dot_out(tensors: &[&Tensor], out: &Tensor) -> Result<()> {
    let aliases: Vec<Tensor> = tensors.iter().map(|tensor| ops::alias(tensor)).collect::<Result<_>>()?;
    let Product { left, right, sizes } = last_product(&aliases.iter().collect::<Vec<_>>())?;
    let seen = [left.sizes()[0], right.sizes()[1]];
    write_as(out, &left, &sizes, &seen, |out| ops::mm_out(&left, &right, out))
}

/// All products but the last one.
fn last_product(tensors: &[&Tensor]) -> Result<Product> {
    let count = tensors.len();
    ensure!(count >= 2, Runtime, "multi_dot(): expected at least 2 tensors but got {count}");
    let mut matrices = Vec::with_capacity(count);
    for (index, tensor) in tensors.iter().enumerate() {
        let (dims, outermost) = (tensor.ndim(), index == 0 || index + 1 == count);
        ensure!(
            dims == 2 || (dims == 1 && outermost),
            Runtime,
            "multi_dot(): tensor {index} must be {} but got {dims}D",
            if outermost { "1D or 2D" } else { "2D" }
        );
        matrices.push(match (dims, index) {
            (2, _) => (*tensor).clone(),
            (_, 0) => ops::unsqueeze(tensor, 0)?,
            _ => ops::unsqueeze(tensor, 1)?,
        });
    }
    for (index, pair) in matrices.windows(2).enumerate() {
        let (a, b) = (&tensors[index], &tensors[index + 1]);
        ensure!(
            a.dtype() == b.dtype(),
            Runtime,
            "multi_dot(): all tensors must have be the same dtype but tensor 0 is {} and tensor {} {}",
            tensors[0].dtype().c10_name(),
            index + 1,
            b.dtype().c10_name()
        );
        ensure!(
            pair[0].sizes()[1] == pair[1].sizes()[0],
            Runtime,
            "multi_dot(): tensors {index} and {} with shapes {} and {} cannot be multiplied",
            index + 1,
            format_sizes(&a.sizes()),
            format_sizes(&b.sizes())
        );
    }
    let (cuts, last) = (cheapest_cuts(&matrices), count - 1);
    let cut = cuts[0][last];
    let left = multiply_in_order(&matrices, &cuts, 0, cut)?;
    let right = multiply_in_order(&matrices, &cuts, cut + 1, last)?;
    let mut sizes = DimVec::new();
    if tensors[0].ndim() == 2 {
        sizes.push(left.sizes()[0]);
    }
    if tensors[last].ndim() == 2 {
        sizes.push(right.sizes()[1]);
    }
    Ok(Product { left, right, sizes })
}

/// For each run of matrices, the split that minimizes the number of multiplications: the textbook dynamic programming.
fn cheapest_cuts(matrices: &[Tensor]) -> Vec<Vec<usize>> {
    let count = matrices.len();
    let rows = |index: usize| matrices[index].sizes()[0] as f64;
    let columns = |index: usize| matrices[index].sizes()[1] as f64;
    let (mut costs, mut cuts) = (vec![vec![0.0; count]; count], vec![vec![0; count]; count]);
    for length in 1..count {
        for first in 0..count - length {
            let last = first + length;
            costs[first][last] = f64::INFINITY;
            for cut in first..last {
                let own = rows(first) * columns(cut) * columns(last);
                let cost = costs[first][cut] + costs[cut + 1][last] + own;
                if cost < costs[first][last] {
                    (costs[first][last], cuts[first][last]) = (cost, cut);
                }
            }
        }
    }
    cuts
}

fn multiply_in_order(matrices: &[Tensor], cuts: &[Vec<usize>], first: usize, last: usize) -> Result<Tensor> {
    if first == last {
        return Ok(matrices[first].clone());
    }
    let cut = cuts[first][last];
    ops::mm(&multiply_in_order(matrices, cuts, first, cut)?, &multiply_in_order(matrices, cuts, cut + 1, last)?)
}
