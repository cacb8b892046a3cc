//! Sparse tensors: the layer that calls their kernels, above autograd.
//!
//! A tensor of another layout than strided (`components.rs`) has the key `SPARSE`, which sends every call with it here, as do
//! options that ask for such a layout. `table.rs` has a row for each operator with a kernel; an operator without one is an
//! error that names it and the backend. Kernels are compositions of strided operators over indices and values; only
//! products have a loop of their own (`rushlight_cpu::sparse`). The layer is above autograd, so a row names its
//! derivative (`record.rs`), or is computed by operators that are recorded themselves.
//!
//! In-place forms compute the functional form and replace the components of the target; out= forms copy the result.
//! Operators of the family `sparse` on strided tensors (`to_sparse`, `sparse_coo_tensor`) call their rows directly
//! (`called`).

mod binary;
mod compressed;
mod convert;
mod coo;
mod create;
#[cfg(feature = "op-optim")]
mod optim;
mod product;
mod record;
mod reduce;
mod shape;
mod softmax;
mod table;
mod unary;
mod write;

pub use compressed::Compressed;
pub use coo::Coo;

use crate::dispatch::{Args, Argument, FromValues, LentValues, Op, OpDef, Value, Values, write_result};
use crate::keys::{KeyGuard, KeySet};
use crate::tensor::Tensor;
use rushlight_base::{Error, Layout, Result, bail, ensure, err};

/// The layer's handler.
#[cold]
pub(crate) fn handle(op: &Op, args: &[Value], results: &mut Values) -> Result<()> {
    let Op::BuiltIn(def) = op else {
        // The operator's own kernels decide; the operators that they call pass this layer.
        return op.call_without_layer(args, results);
    };
    if table::is_metadata(def.full_name()) {
        // These operators read sizes, dtype and device of a tensor and nothing else.
        let _below = KeyGuard::exclude(KeySet::SPARSE);
        return op.call_into(args, results);
    }
    let Some((row, form)) = find(def) else { return Err(missing(def.full_name(), args)) };
    crate::dispatch::named_call(def.name(), || match form {
        Form::Functional => call_row(row, args, results),
        Form::InPlace => in_place(row, args),
        Form::Out => out(row, args),
    })
}

/// Calls the row `name` with the arguments of a typed function.
pub(crate) fn called<T: FromValues>(name: &str, args: &[&dyn Argument]) -> Result<T> {
    let mut values = LentValues::new();
    args.iter().for_each(|arg| arg.lend_to(&mut values));
    let Some(row) = table::find(name) else { bail!(Internal, "there is no sparse kernel of {name}") };
    let mut results = Values::new();
    call_row(row, &values, &mut results)?;
    results.extract()
}

fn call_row(row: &'static table::Row, args: &[Value], results: &mut Values) -> Result<()> {
    match row.call(Args(args))? {
        Value::None => {}
        // Several results; no sparse operator returns a list.
        Value::Tensors(several) => several.into_iter().for_each(|result| results.put(Value::from(result))),
        result => results.put(result),
    }
    Ok(())
}

/// How an operator's form is computed with the row of the functional form.
enum Form {
    Functional,
    InPlace,
    Out,
}

/// The row that computes an operator's form.
fn find(def: &OpDef) -> Option<(&'static table::Row, Form)> {
    if let Some(row) = table::find(def.full_name()) {
        return Some((row, Form::Functional));
    }
    if let Some(row) = table::find_functional(def) {
        return Some((row, Form::Out));
    }
    table::find(&def.functional_of_in_place()?).map(|row| (row, Form::InPlace))
}

/// Computes the functional form, and writes its result to the first argument.
fn in_place(row: &'static table::Row, args: &[Value]) -> Result<()> {
    let Some(Value::Tensor(target)) = args.first() else { bail!(Internal, "an in-place form without a target") };
    Args(args).check_in_place(target)?;
    let result = row.call(Args(args))?;
    let Value::Tensor(result) = result else { bail!(Internal, "{} returns no tensor", row.name) };
    write::replace(target, &result)
}

/// Computes the functional form, and writes its result to the last argument.
fn out(row: &'static table::Row, args: &[Value]) -> Result<()> {
    let Some((Value::Tensor(target), inputs)) = args.split_last() else {
        bail!(Internal, "an out= form without an output")
    };
    let mut recorded = args.iter().filter_map(|arg| if let Value::Tensor(tensor) = arg { Some(tensor) } else { None });
    if recorded.any(|tensor| crate::autograd::should_record([tensor])) {
        return Err(crate::autograd::rejected_out(row.name));
    }
    let result = row.call(Args(inputs))?;
    let Value::Tensor(result) = result else { bail!(Internal, "{} returns no tensor", row.name) };
    match (target.is_any_sparse(), result.is_any_sparse()) {
        (false, false) => write_result(&result, target)?,
        (true, true) => write::replace(target, &result)?,
        _ => bail!(
            Runtime,
            "Expected out tensor to have layout {}, but got {} instead",
            result.layout().name(),
            target.layout().name()
        ),
    }
    Ok(())
}

/// The error of an operator without a kernel for these layouts, in PyTorch's words.
#[cold]
fn missing(operator: &str, args: &[Value]) -> Error {
    let mut layout = Layout::Strided;
    let mut others = Vec::new();
    for value in args {
        if let Value::Layout(asked) = value {
            layout = *asked;
        }
        value.for_each_tensor(|tensor| {
            others.push(tensor.layout().name());
            if tensor.is_any_sparse() {
                layout = tensor.layout();
            }
        });
    }
    let backend = if layout == Layout::Sparse { "SparseCPU" } else { "SparseCsrCPU" };
    err!(
        NotImplemented,
        "Could not run 'aten::{operator}' with arguments from the '{backend}' backend: the operator has no kernel for \
         tensors of layout [{}]",
        others.join(", ")
    )
}

/// The sparse result in the layout of `like`.
fn in_layout_of(like: &Tensor, result: Coo) -> Result<Tensor> {
    convert::to_layout(result, like.layout())
}

/// An error unless the tensor has `wanted` layouts.
fn expect_coo(operator: &str, tensor: &Tensor) -> Result<Coo> {
    ensure!(
        tensor.layout() == Layout::Sparse,
        Runtime,
        "{operator} expected sparse coordinate tensor layout but got {}",
        tensor.layout().name()
    );
    Coo::of(tensor)
}
