//! Nested tensors: a batch of tensors whose sizes differ, and the layer that calls their kernels, above autograd.
//!
//! The elements of all tensors lie one after the other in one buffer. The body (`Dense`) has the largest size of each
//! dimension, an empty storage and [`Nested`] as its component; the key `NESTED` sends every call with such a tensor
//! here. `table.rs` has a row for each operator with a kernel; an operator without one is an error that names it and the
//! backend. Saved models use them in the fast path of `TransformerEncoder`, which needs no derivative: a call that would
//! have to be recorded is an error.

mod attention;
mod convert;
mod pointwise;
mod shape;
mod table;

pub(crate) use convert::{from_mask, from_tensors, is_left_aligned};

use crate::components::Components;
use crate::dense::Dense;
use crate::dispatch::{Args, Op, OpDef, Value, Values};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, Error, Result, bail, ensure, err, list, numel};

/// The tensors of a nested tensor.
pub struct Nested {
    /// Their elements: one contiguous dimension.
    buffer: Tensor,
    /// The sizes of each. All have as many dimensions.
    sizes: Vec<DimVec>,
}

impl Nested {
    /// `buffer` is contiguous and has as many elements as `sizes` say.
    fn new(buffer: Tensor, sizes: Vec<DimVec>) -> Result<Nested> {
        let mut total = 0;
        for size in &sizes {
            total += numel(size)?;
        }
        ensure!(
            buffer.sizes().as_slice() == [total] && buffer.dense()?.is_contiguous(),
            Internal,
            "a nested tensor of {total} elements got a buffer of another shape"
        );
        Ok(Nested { buffer, sizes })
    }

    /// The nested tensor in parts; an error for any other.
    fn of(operator: &str, tensor: &Tensor) -> Result<Nested> {
        match tensor.nested() {
            Some(nested) => Ok(nested),
            None => Err(err!(
                NotImplemented,
                "Could not run 'aten::{operator}' with arguments from the 'CPU' backend: the tensor is not nested"
            )),
        }
    }

    /// Number of dimensions of each tensor.
    fn inner_dims(&self) -> usize {
        self.sizes.first().map_or(0, |sizes| sizes.len())
    }

    /// The size that all tensors have in `dim`; `None` if they differ.
    fn regular(&self, dim: usize) -> Option<i64> {
        let first = *self.sizes.first()?.get(dim)?;
        self.sizes.iter().all(|sizes| sizes[dim] == first).then_some(first)
    }

    /// The largest size in each dimension.
    fn largest(&self) -> DimVec {
        (0..self.inner_dims()).map(|dim| self.sizes.iter().map(|sizes| sizes[dim]).max().unwrap_or(0)).collect()
    }

    /// The tensors, as views of the buffer.
    fn parts(&self) -> Result<Vec<Tensor>> {
        let mut begin = 0;
        let each = self.sizes.iter().map(|sizes| {
            let length = numel(sizes)?;
            let part = ops::view(&ops::narrow(&self.buffer, 0, begin, length)?, sizes)?;
            begin += length;
            Ok(part)
        });
        list::try_collect(each)
    }

    /// The buffer as a matrix whose rows are the last dimension, which is regular.
    fn rows(&self, operator: &str) -> Result<Tensor> {
        let last = self.inner_dims().checked_sub(1).and_then(|last| self.regular(last)).ok_or_else(|| {
            err!(Runtime, "{operator}: the last dimension of the nested tensor is irregular and does not have a size")
        })?;
        let rows = if last == 0 { 0 } else { self.buffer.numel() / last };
        ops::view(&self.buffer, &[rows, last])
    }

    /// A tensor of the same sizes with other elements.
    fn with_buffer(&self, buffer: &Tensor) -> Result<Tensor> {
        let flat = ops::reshape(&ops::contiguous(buffer, rushlight_base::MemoryFormat::Contiguous)?, &[-1])?;
        Tensor::from_nested(Nested::new(flat, self.sizes.clone())?)
    }

    /// A tensor of the same sizes, but for the last one, with the rows of a matrix.
    fn with_rows(&self, rows: &Tensor) -> Result<Tensor> {
        let last = rows.sizes().last().copied().unwrap_or(0);
        let mut sizes = self.sizes.clone();
        for size in &mut sizes {
            if let Some(own) = size.last_mut() {
                *own = last;
            }
        }
        let flat = ops::reshape(&ops::contiguous(rows, rushlight_base::MemoryFormat::Contiguous)?, &[-1])?;
        Tensor::from_nested(Nested::new(flat, sizes)?)
    }
}

impl Tensor {
    /// A tensor of tensors.
    fn from_nested(nested: Nested) -> Result<Tensor> {
        crate::dispatch::NESTED.link(handle);
        let mut sizes = nested.largest();
        sizes.insert(0, nested.sizes.len() as i64);
        let dtype = nested.buffer.dtype();
        let elements = nested.buffer.numel();
        let body = Dense::without_bytes(&sizes, dtype, Components::Nested(nested))?.with_elements(elements);
        let tensor = Tensor::from_dense(body);
        tensor.mark_if_inference();
        Ok(tensor)
    }

    /// The tensors of a nested tensor; `None` for any other.
    pub fn nested(&self) -> Option<Nested> {
        match self.imp().body.pin().components.as_deref() {
            Some(Components::Nested(nested)) => {
                Some(Nested { buffer: nested.buffer.clone(), sizes: nested.sizes.clone() })
            }
            _ => None,
        }
    }
}

/// The layer's handler.
#[cold]
pub(crate) fn handle(op: &Op, args: &[Value], results: &mut Values) -> Result<()> {
    let Op::BuiltIn(def) = op else {
        // The operator's own kernels decide; the operators that they call pass this layer.
        return op.call_without_layer(args, results);
    };
    crate::dispatch::named_call(def.name(), || match find(def) {
        Some((kernel, false)) => {
            call(kernel, def.full_name(), args)?.into_iter().for_each(|value| results.put(value));
            Ok(())
        }
        Some((kernel, true)) => in_place(kernel, def, args),
        None => Err(missing(def.full_name(), args)),
    })
}

/// The kernel of an operator, and whether it is that of the functional form of an in-place form.
fn find(def: &OpDef) -> Option<(table::Kernel, bool)> {
    if let Some(kernel) = table::find(def.full_name()) {
        return Some((kernel, false));
    }
    table::find(&def.functional_of_in_place()?).map(|kernel| (kernel, true))
}

fn call(kernel: table::Kernel, name: &str, args: &[Value]) -> Result<Vec<Value>> {
    Args(args).check_unrecorded(name, "nested")?;
    kernel.call(name, &Args(args))
}

/// Computes the functional form, and stores its elements in the first argument.
fn in_place(kernel: table::Kernel, def: &OpDef, args: &[Value]) -> Result<()> {
    let Some(Value::Tensor(target)) = args.first() else { bail!(Internal, "an in-place form without a target") };
    Args(args).check_in_place(target)?;
    let functional = def.functional_of_in_place().unwrap_or_default();
    let results = call(kernel, &functional, args)?;
    let Some(Value::Tensor(result)) = results.first() else { bail!(Internal, "{functional} returns no tensor") };
    let (result, target) = (Nested::of(def.name(), result)?, Nested::of(def.name(), target)?);
    ensure!(result.sizes == target.sizes, Runtime, "a result of other sizes cannot be stored in place");
    ops::copy_(&target.buffer, &result.buffer, false)
}

/// The error of an operator without a kernel for nested tensors, in PyTorch's words.
#[cold]
fn missing(operator: &str, args: &[Value]) -> Error {
    let mut kinds = Vec::new();
    for value in args {
        value.for_each_tensor(|tensor| kinds.push(if tensor.is_nested() { "nested" } else { "dense" }));
    }
    err!(
        NotImplemented,
        "Could not run 'aten::{operator}' with arguments from the 'NestedTensorCPU' backend: the operator has no kernel \
         for tensors [{}]",
        kinds.join(", ")
    )
}
