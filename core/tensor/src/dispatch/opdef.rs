//! What is known of an operator at run time: the rows of the generated table.

use super::boxed::{Args, Values};
use rushlight_base::Result;

/// One row of the operator table: an operator form that can be called. Generated from `core/schema/ops`.
pub struct OpDef {
    /// The signature in PyTorch's grammar, which the name is cut out of: a name of its own in each row would make the library
    /// larger.
    pub schema: &'static str,
    /// What the form does with memory.
    pub form: Form,
    /// What stands behind it.
    pub kind: Kind,
    /// What mixed precision does with its inputs.
    pub autocast: Autocast,
    /// How it is vectorised over a hidden dimension.
    pub batching: Batching,
    /// Has it a derivative (or is it made of operators that have)?
    pub differentiable: bool,
    /// Does it draw random numbers?
    pub nondeterministic: bool,
    /// Call the typed function with boxed arguments, all filled in.
    pub call: fn(Args<'_>) -> Result<Values>,
}

/// What an operator form does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Returns its results.
    Function,
    /// Writes into its first argument.
    InPlace,
    /// Writes into its last arguments.
    Out,
}

/// What stands behind an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Device kernels.
    Kernel,
    /// A change of geometry over the same bytes.
    View,
    /// Calls of other operators.
    Composite,
}

/// What mixed precision does with the inputs of an operator (data for the autocast layer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autocast {
    /// Leaves them as they are.
    None,
    /// Brings them to the low-precision dtype.
    Lower,
    /// Brings them to float32.
    Fp32,
    /// Brings them to the widest dtype among them.
    Promote,
}

/// How an operator is vectorised over a hidden dimension (data for the vmap layer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batching {
    /// There is no rule.
    None,
    /// The hidden dimension is just one more dimension to broadcast over.
    Pointwise,
    /// Dimension arguments move by one.
    Reduction,
    /// As a reduction, and the result is a view.
    View,
}

impl OpDef {
    /// `add` or `add.Tensor`.
    pub fn full_name(&self) -> &'static str {
        self.schema.split_once('(').map_or(self.schema, |(name, _)| name)
    }

    /// `add`, `add_`
    pub fn name(&self) -> &'static str {
        self.full_name().split_once('.').map_or(self.full_name(), |(name, _)| name)
    }

    /// `Tensor`; empty for the default overload.
    pub fn overload(&self) -> &'static str {
        self.full_name().split_once('.').map_or("", |(_, overload)| overload)
    }

    /// Is this the operator `name` with this overload?
    pub fn is(&self, name: &str, overload: &str) -> bool {
        let rest = self.schema.strip_prefix(name);
        let rest = if overload.is_empty() {
            rest
        } else {
            rest.and_then(|rest| rest.strip_prefix('.')?.strip_prefix(overload))
        };
        rest.is_some_and(|rest| rest.starts_with('('))
    }
}

/// `add` or `add.Tensor`.
pub fn full_name(name: &str, overload: &str) -> String {
    if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") }
}
