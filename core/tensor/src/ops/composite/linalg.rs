//! Products of matrices of any rank, made of those of two matrices.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Category, DType, DimVec, MemoryFormat, Result, Scalar, ensure, format_sizes};

/// The product of vectors, matrices, or batches of matrices.
pub fn matmul(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    let (left, right) = (self_.ndim(), other.ndim());
    ensure!(
        left > 0 && right > 0,
        Runtime,
        "both arguments to matmul need to be at least 1D, but they are {left}D and {right}D"
    );
    match (left, right) {
        (1, 1) => {
            let (a, b) = (self_.numel(), other.numel());
            ensure!(
                a == b,
                Runtime,
                "inconsistent tensor size, expected tensor [{a}] and src [{b}] to have the same number of elements, but got {a} and {b} elements respectively"
            );
            let product = ops::mm(&ops::unsqueeze(self_, 0)?, &ops::unsqueeze(other, 1)?)?;
            ops::view(&product, &[])
        }
        (2, 2) => ops::mm(self_, other),
        (2, 1) => {
            let (rows, inner) = (self_.sizes()[0], other.numel());
            ensure!(
                self_.sizes()[1] == inner,
                Runtime,
                "size mismatch, got input ({rows}), mat ({rows}x{}), vec ({inner})",
                self_.sizes()[1]
            );
            ops::squeeze_dim(&ops::mm(self_, &ops::unsqueeze(other, 1)?)?, 1)
        }
        (1, 2) => ops::squeeze_dim(&ops::mm(&ops::unsqueeze(self_, 0)?, other)?, 0),
        // A batch times one matrix is one tall product.
        (_, 1 | 2) => {
            let matrix = if right == 1 { ops::unsqueeze(other, 1)? } else { other.clone() };
            let (sizes, inner) = (self_.sizes(), matrix.sizes()[0]);
            let (head, last) = (&sizes[..left - 1], sizes[left - 1]);
            let rows: i64 = head.iter().product();
            ensure!(
                last == inner,
                Runtime,
                "mat1 and mat2 shapes cannot be multiplied ({rows}x{last} and {inner}x{})",
                matrix.sizes()[1]
            );
            let product = ops::mm(&ops::reshape(self_, &[rows, last])?, &matrix)?;
            let mut shape = DimVec::from_slice(head);
            if right == 2 {
                shape.push(matrix.sizes()[1]);
            }
            ops::view(&product, &shape)
        }
        _ => batched(self_, other),
    }
}

/// Products of matrices in the last two dimensions, the others broadcast.
fn batched(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
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
    let product = ops::bmm(&stack(&left, a_tail)?, &stack(other, b_tail)?)?;
    let mut shape = batch.clone();
    if !vector {
        shape.push(a_tail[0]);
    }
    shape.push(b_tail[1]);
    ops::view(&product, &shape)
}

/// input weight^T + bias
pub fn linear(input: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    ensure!(
        weight.ndim() == 2 || (weight.ndim() == 1 && bias.is_none_or(|bias| bias.ndim() == 0)),
        Runtime,
        "linear(): weight must be a matrix or a vector, got {}",
        format_sizes(&weight.sizes())
    );
    let transposed = ops::t(weight)?;
    match bias {
        Some(bias) if input.ndim() == 2 && weight.ndim() == 2 => {
            ops::addmm(bias, input, &transposed, Scalar::Int(1), Scalar::Int(1))
        }
        // A stack of rows is one tall matrix: one pass writes product and bias.
        Some(bias) if input.ndim() > 2 && weight.ndim() == 2 && input.is_contiguous(MemoryFormat::Contiguous) => {
            let sizes = input.sizes();
            let (head, last) = (&sizes[..sizes.len() - 1], sizes[sizes.len() - 1]);
            let rows: i64 = head.iter().product();
            let stacked = ops::view(input, &[rows, last])?;
            let product = ops::addmm(bias, &stacked, &transposed, Scalar::Int(1), Scalar::Int(1))?;
            let mut shape = DimVec::from_slice(head);
            shape.push(weight.sizes()[0]);
            ops::view(&product, &shape)
        }
        Some(bias) => ops::add_tensor(&ops::matmul(input, &transposed)?, bias, Scalar::Int(1)),
        None => ops::matmul(input, &transposed),
    }
}

/// conj(self) other
pub fn vdot(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    ops::dot(&ops::conj(self_)?, other)
}

/// Sums of products along the last dimensions.
pub fn inner(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    ensure!(self_.dtype() == other.dtype(), Runtime, "both inputs should have same dtype");
    if self_.ndim() == 0 || other.ndim() == 0 {
        return ops::mul_tensor(self_, other);
    }
    let (a, b) = (self_.sizes(), other.sizes());
    let (last, same) = (a[a.len() - 1], a.last() == b.last());
    ensure!(
        same,
        Runtime,
        "inner() the last dimension must match on both input tensors but got shapes {} and {}",
        format_sizes(&a),
        format_sizes(&b)
    );
    if (a.len(), b.len()) == (1, 1) {
        return ops::dot(self_, other);
    }
    let rows = |sizes: &[i64]| [sizes[..sizes.len() - 1].iter().product::<i64>(), last];
    let (left, right) = (ops::reshape(self_, &rows(&a))?, ops::reshape(other, &rows(&b))?);
    let mut shape = DimVec::from_slice(&a[..a.len() - 1]);
    shape.extend_from_slice(&b[..b.len() - 1]);
    ops::view(&ops::mm(&left, &ops::t(&right)?)?, &shape)
}

fn outer_of(name: &str, [(first, self_), (second, vec2)]: [(&str, &Tensor); 2]) -> Result<Tensor> {
    for (argument, vector) in [(first, self_), (second, vec2)] {
        let dims = vector.ndim();
        ensure!(dims == 1, Runtime, "{name}: Expected 1-D argument {argument}, but got {dims}-D");
    }
    ops::mul_tensor(&ops::unsqueeze(self_, 1)?, vec2)
}

/// Each element of a vector times each of another one.
pub fn outer(self_: &Tensor, vec2: &Tensor) -> Result<Tensor> {
    outer_of("outer", [("self", self_), ("vec2", vec2)])
}

/// The same.
pub fn ger(self_: &Tensor, vec2: &Tensor) -> Result<Tensor> {
    outer(self_, vec2)
}

/// beta self + alpha vec1 vec2^T
pub fn addr(self_: &Tensor, vec1: &Tensor, vec2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    let dtype = self_.dtype();
    let vectors = vec1.ndim() == 1 && vec2.ndim() == 1;
    if vectors && dtype.category() > Category::Integral && vec1.dtype() == dtype && vec2.dtype() == dtype {
        // One rounding of each result.
        return ops::addmm(self_, &ops::unsqueeze(vec1, 1)?, &ops::unsqueeze(vec2, 0)?, beta, alpha);
    }
    let product = outer_of("addr", [("vec1", vec1), ("vec2", vec2)])?;
    ops::rules::check_expandable(&self_.sizes(), &product.sizes())?;
    for (name, factor) in [("beta", beta), ("alpha", alpha)] {
        check_factor(name, factor, [self_, &product])?;
    }
    let product = scaled(&product, alpha)?;
    if beta.to_complex() == Scalar::Int(0).to_complex() {
        let common = ops::rules::common_dtype(&[&*self_.dense()?, &*product.dense()?])?;
        return ops::to_dtype(&product, common, false, false, None);
    }
    ops::add_tensor(&scaled(self_, beta)?, &product, Scalar::Int(1))
}

/// Does the factor of a sum of these tensors have a kind of number that they can take?
fn check_factor(name: &str, factor: Scalar, tensors: [&Tensor; 2]) -> Result<()> {
    let integral = tensors.iter().all(|tensor| tensor.dtype().category() <= Category::Integral);
    ensure!(
        !integral || factor.category() <= Category::Integral,
        Runtime,
        "For integral input tensors, argument {name} must not be a floating point number."
    );
    Ok(())
}

/// `factor` times a tensor, in its dtype if the factor is 1 or the tensor one of truth values.
fn scaled(tensor: &Tensor, factor: Scalar) -> Result<Tensor> {
    if factor.to_complex() == Scalar::Int(1).to_complex() {
        return Ok(tensor.clone());
    }
    let factor = if tensor.dtype() == DType::Bool { Scalar::Bool(factor.to_bool()) } else { factor };
    ops::mul_scalar(tensor, factor)
}

/// The product of matrices.
pub fn chain_matmul(matrices: &[&Tensor]) -> Result<Tensor> {
    for matrix in matrices {
        let dims = matrix.ndim();
        ensure!(dims == 2, Runtime, "Tensor dimension is {dims}, expected 2 instead.");
    }
    match matrices {
        [] => Err(rushlight_base::err!(Runtime, "chain_matmul(): Expected one or more matrices")),
        [only] => Ok((*only).clone()),
        _ => linalg_multi_dot(matrices),
    }
}

/// The product of matrices, of which the first and the last may be vectors.
pub fn linalg_multi_dot(tensors: &[&Tensor]) -> Result<Tensor> {
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
    let product = multiply_in_order(&matrices, &cheapest_cuts(&matrices), 0, count - 1)?;
    let mut shape = DimVec::new();
    if tensors[0].ndim() == 2 {
        shape.push(product.sizes()[0]);
    }
    if tensors[count - 1].ndim() == 2 {
        shape.push(product.sizes()[1]);
    }
    ops::view(&product, &shape)
}

/// For each run of matrices, first to last, after which one to cut it so that its product takes the fewest
/// multiplications: the textbook's dynamic programming.
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
