//! Products of matrices of any rank, made of those of two matrices.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, MemoryFormat, Result, Scalar, ensure, format_sizes};

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
