//! Layers whose weights are packed once, for many runs with inputs of the same shapes: what compiled models call.
//!
//! They compute what the operators do, below every layer of dispatch: nothing is recorded.

use super::access::array;
use crate::dense::{Dense, Geometry};
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Result, SmallVec, ensure};
use rushlight_cpu::convolution::{self, Packed, Walk};
use rushlight_cpu::finish::Finish;
use rushlight_cpu::gemm::{NarrowB, PackedB, gemm_narrow, gemm_packed};
use std::sync::Arc;

pub use rushlight_cpu::finish::Activation;

/// The weights of a convolution, for any number of compiled models.
pub struct Weights {
    weight: Tensor,
    bias: Option<Tensor>,
    packed: Packed,
}

impl Weights {
    /// These weights, which are packed when they are first used.
    pub fn new(weight: Tensor, bias: Option<Tensor>) -> Weights {
        Weights { weight, bias, packed: Packed::default() }
    }

    /// Bytes of the weight and the bias as they were given.
    pub fn bytes(&self) -> usize {
        let bytes = |tensor: &Tensor| tensor.numel() as usize * tensor.dtype().size();
        bytes(&self.weight) + self.bias.as_ref().map_or(0, bytes)
    }
}

/// `then(convolution(input, weight, bias) + add)`.
pub struct Convolution {
    weights: Arc<Weights>,
    /// Stride, padding and dilation of each spatial dimension.
    steps: [SmallVec<[i64; 3]>; 3],
    groups: i64,
    /// The function that is applied last, of outputs in `float32`.
    pub then: Activation,
}

impl Convolution {
    /// A convolution that is not transposed, with arguments that the operator accepts: stride, padding and dilation are
    /// numbers, or lists of a number for each spatial dimension. All convolutions of the same weights have as many groups.
    pub fn new(weights: Arc<Weights>, steps: [&[i64]; 3], groups: i64) -> Convolution {
        let spatial = weights.weight.ndim().saturating_sub(2);
        let steps = steps.map(|given| match given {
            &[one] => SmallVec::from_elem(one, spatial),
            several => SmallVec::from_slice(several),
        });
        Convolution { weights, steps, groups, then: Activation::Identity }
    }

    /// Whether each channel of the image is convolved alone.
    pub fn is_depthwise(&self) -> bool {
        self.groups > 1 && self.weights.weight.sizes().get(1) == Some(&1)
    }

    /// Whether images of any format are read as fast into channels last: they have few channels.
    pub fn reads_any_format(&self) -> bool {
        let few = self.weights.weight.sizes().get(1).is_some_and(|&channels| channels <= convolution::FEW as i64);
        self.groups == 1 && few && self.kernel().iter().any(|&size| size > 1)
    }

    /// The spatial sizes of the weight.
    pub fn kernel(&self) -> DimVec {
        DimVec::from_slice(self.weights.weight.sizes().get(2..).unwrap_or_default())
    }

    /// Its weights.
    pub fn weights(&self) -> &Arc<Weights> {
        &self.weights
    }

    /// Writes the result into `out`. `add` has the shape and strides of `out`, which is of `float32` then.
    pub fn run(&self, out: &Tensor, input: &Tensor, add: Option<&Tensor>) -> Result<()> {
        let Weights { weight, bias, packed } = &*self.weights;
        let (out, input, weight) = (out.dense()?, input.dense()?, weight.dense()?);
        let bias = bias.as_ref().map(Tensor::dense).transpose()?;
        let add = add.map(Tensor::dense).transpose()?;
        let (bias, add) = (bias.as_deref().map(array), add.as_deref().map(array));
        let finish = Finish { add: add.as_ref(), then: self.then };
        let [stride, padding, dilation] = &self.steps;
        let walk = Walk { stride, padding, dilation, groups: self.groups };
        convolution::forward_packed(
            &array(&out),
            &array(&input),
            &array(&weight),
            bias.as_ref(),
            &walk,
            &finish,
            packed,
        )
    }
}

/// A matrix of `float32` that is packed as the right operand of products.
pub struct Matrix(Elements);

enum Elements {
    Exact(PackedB),
    Rounded(NarrowB),
}

impl Matrix {
    /// Packs a matrix as it is.
    pub fn new(matrix: &Tensor) -> Result<Matrix> {
        let matrix = matrix.dense()?;
        let fits = matrix.ndim() == 2 && matrix.dtype == DType::F32;
        ensure!(fits, Internal, "a product is prepared for a matrix of float32, not for {}", matrix.describe());
        PackedB::new(&array(&matrix)).map(|packed| Matrix(Elements::Exact(packed)))
    }

    /// Rounds a matrix to `bfloat16`, or to `int8` with a scale for each column, and packs it. `None`: it has elements that
    /// `int8` cannot represent.
    pub fn rounded(matrix: &Tensor, dtype: DType) -> Result<Option<Matrix>> {
        let matrix = matrix.dense()?;
        Ok(NarrowB::new(&array(&matrix), dtype)?.map(|packed| Matrix(Elements::Rounded(packed))))
    }

    /// The dtype of its elements in memory.
    pub fn dtype(&self) -> DType {
        match &self.0 {
            Elements::Exact(packed) => packed.dtype(),
            Elements::Rounded(packed) => packed.dtype(),
        }
    }

    /// Bytes of its elements in memory.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Elements::Exact(packed) => packed.bytes(),
            Elements::Rounded(packed) => packed.bytes(),
        }
    }
}

/// `then(input matrix + bias + add)`.
pub struct Product {
    matrix: Arc<Matrix>,
    bias: Option<Tensor>,
    /// The function that is applied last.
    pub then: Activation,
}

impl Product {
    /// A product with this matrix. The bias is broadcast to the result.
    pub fn new(matrix: Arc<Matrix>, bias: Option<Tensor>) -> Product {
        Product { matrix, bias, then: Activation::Identity }
    }

    /// The matrix.
    pub fn matrix(&self) -> &Arc<Matrix> {
        &self.matrix
    }

    /// Writes the result into `out`, which is contiguous and may have more dimensions than the product. `add` has the same
    /// shape and strides.
    pub fn run(&self, out: &Tensor, input: &Tensor, add: Option<&Tensor>) -> Result<()> {
        let input = input.dense()?;
        let rows = input.sizes().first().copied().unwrap_or(1);
        let (out, add) = (matrix_of(out, rows)?, add.map(|add| matrix_of(add, rows)).transpose()?);
        let bias = self.bias.as_ref().map(Tensor::dense).transpose()?;
        let (out, input) = (array(&out), array(&input));
        let (bias, add) = (bias.as_deref().map(array), add.as_ref().map(array));
        let finish = Finish { add: add.as_ref(), then: self.then };
        finish.product(&out, bias.as_ref(), |epilogue| match &self.matrix.0 {
            Elements::Exact(packed) => gemm_packed(&out, &input, packed, epilogue),
            Elements::Rounded(packed) => gemm_narrow(&out, &input, packed, epilogue),
        })
    }
}

/// A contiguous tensor as a matrix of so many rows.
fn matrix_of(tensor: &Tensor, rows: i64) -> Result<Dense> {
    let dense = tensor.dense()?;
    ensure!(dense.is_contiguous(), Internal, "a product is stored into {}, not into rows", dense.describe());
    let columns = if rows == 0 { dense.sizes().last().copied().unwrap_or(1) } else { dense.numel() / rows };
    let geometry = Geometry { offset: dense.geometry.offset, ..Geometry::contiguous(&[rows, columns]) };
    Ok(dense.with_geometry(geometry))
}
