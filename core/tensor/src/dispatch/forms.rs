//! The forms of operators: the macros that make typed functions of the lines which the build script writes, and what these
//! functions share.
//!
//! A line has the signature of the typed function, its row of the operator table, the keys that it looks at, what is above
//! the forward function, and what that does:
//!
//! ```ignore
//! mul_tensor(self_: &Tensor, other: &Tensor) -> Tensor, MUL_TENSOR("mul.Tensor" 19 2 1 Tensor2ToTensor) active gradient
//!     { result [self_, other]; rules::arithmetic(self_, other), pointwise::mul(self_, other) };
//! ```

use super::{LentValues, Op, OpDef, ToValue, Value, Values, boxed_op, unobserved};
use crate::keys::{KeySet, active_for_view};
use crate::{Generator, Options, Tensor, autograd};
use rushlight_base::{DType, Device, Layout, MemoryFormat, Result, Scalar};

/// An argument of a typed function.
pub trait Argument {
    /// The keys of its tensors.
    #[inline(always)]
    fn keys(&self) -> KeySet {
        KeySet::EMPTY
    }

    /// Whether one of its tensors requires a gradient, so that the call would be recorded.
    fn is_recorded(&self) -> bool {
        false
    }

    /// Appends it as the schema has it: options are four arguments there. Tensors are lent.
    fn lend_to<'a>(&'a self, values: &mut LentValues<'a>);
}

macro_rules! plain {
    ($($type:ty),* $(,)?) => {$(
        impl Argument for $type {
            fn lend_to<'a>(&'a self, values: &mut LentValues<'a>) {
                self.lend(values);
            }
        }
    )*};
}

plain! {
    Scalar, Option<Scalar>, &[Scalar], i64, Option<i64>, &[i64], Option<&[i64]>, f64, Option<f64>, &[f64], Option<&[f64]>, bool,
    Option<bool>, &[bool], &str, Option<&str>, DType, Option<DType>, Option<Layout>, Device, Option<Device>, MemoryFormat,
    Option<MemoryFormat>, Option<&Generator>,
}

macro_rules! tensors {
    ($($type:ty, $self:ident => $keys:expr, $each:expr;)*) => {$(
        impl Argument for $type {
            #[inline(always)]
            fn keys(&$self) -> KeySet {
                $keys
            }

            fn is_recorded(&$self) -> bool {
                autograd::should_record($each)
            }

            fn lend_to<'a>(&'a $self, values: &mut LentValues<'a>) {
                $self.lend(values);
            }
        }
    )*};
}

tensors! {
    &Tensor, self => Tensor::keys(self), [*self];
    Option<&Tensor>, self => self.map_or(KeySet::EMPTY, Tensor::keys), *self;
    &[&Tensor], self => keys_of(self), self.iter().copied();
    &[Option<&Tensor>], self => keys_of_some(self), self.iter().copied().flatten();
}

impl Argument for &Value {
    fn lend_to<'a>(&'a self, values: &mut LentValues<'a>) {
        values.push((*self).clone());
    }
}

impl Argument for Options {
    /// A factory with a sparse layout is a call of the layer of sparse tensors, one with a quantized dtype of that of
    /// quantized tensors.
    #[inline(always)]
    fn keys(&self) -> KeySet {
        if self.dtype.is_some_and(DType::is_quantized) {
            return KeySet::QUANTIZED;
        }
        match self.layout {
            None | Some(Layout::Strided) => KeySet::EMPTY,
            Some(_) => KeySet::SPARSE,
        }
    }

    fn lend_to<'a>(&'a self, values: &mut LentValues<'a>) {
        let fields: [&'a dyn ToValue; 4] = [&self.dtype, &self.layout, &self.device, &self.pin_memory];
        fields.iter().for_each(|field| field.lend(values));
    }
}

/// The keys of a list argument with elements that may be missing.
#[inline(never)]
fn keys_of_some(tensors: &[Option<&Tensor>]) -> KeySet {
    tensors.iter().flatten().fold(KeySet::EMPTY, |keys, tensor| keys | tensor.keys())
}

/// The keys of a list argument.
#[inline(never)]
fn keys_of(tensors: &[&Tensor]) -> KeySet {
    tensors.iter().fold(KeySet::EMPTY, |keys, tensor| keys | tensor.keys())
}

/// The layers of a call that creates a differentiable view: it is always tracked.
#[inline]
pub fn active_for_tracked_view(tensors: KeySet) -> KeySet {
    active_for_view(tensors | KeySet::AUTOGRAD)
}

/// Passes a built-in operator through the outermost boxed layer that is on.
#[cold]
#[inline(never)]
pub fn boxed<T: super::FromValues>(op: &'static OpDef, keys: KeySet, args: &[&dyn Argument]) -> Result<T> {
    let mut values = LentValues::new();
    args.iter().for_each(|arg| arg.lend_to(&mut values));
    let mut results = Values::new();
    boxed_op(&Op::BuiltIn(op), keys, &values, &mut results)?;
    results.extract()
}

/// The layers above a form that writes and records nothing: true if a boxed layer made the call. An error if it would have to
/// be recorded.
#[inline(never)]
pub fn done_above(op: &'static OpDef, keys: KeySet, args: &[&dyn Argument], rejected: Rejected) -> Result<bool> {
    let keys = unobserved(op, keys);
    if keys.is_boxed() {
        return boxed::<()>(op, keys, args).map(|()| true);
    }
    if args.iter().any(|arg| arg.is_recorded()) {
        return Err(rejected(op.name()));
    }
    Ok(false)
}

/// The error of a form that cannot be recorded.
pub type Rejected = fn(operator: &str) -> rushlight_base::Error;

/// The forms of a family: typed functions, forward functions, rows of the operator table, and `$rows`, all of the rows.
macro_rules! forms {
    ($rows:ident: $(
        $(#[$doc:meta])*
        $name:ident($($p:ident: $type:ty),*) -> $result:ty,
        $row:ident($full:literal $first:literal $arguments:literal $returns:literal $class:ident) $keys:ident $above:ident $body:tt;
    )* $(
        @ $alias:ident($alias_full:literal $alias_first:literal $alias_arguments:literal $alias_returns:literal $alias_class:ident)
            = $target:ident;
    )*) => {
        $(
            $(#[$doc])*
            #[doc = concat!("\n\nThe form `", $full, "`.")]
            #[allow(clippy::too_many_arguments, reason = "the signature is PyTorch's")]
            pub fn $name($($p: $type),*) -> Result<$result> {
                let keys = $crate::dispatch::$keys($crate::dispatch::KeySet::EMPTY $(| $crate::dispatch::Argument::keys(&$p))*);
                $crate::dispatch::above!($above keys $row $name [$($p)*] $body)
            }

            #[doc = concat!("The row of `", $full, "`.")]
            pub static $row: $crate::dispatch::OpDef =
                $crate::dispatch::OpDef::new($full, $first, $arguments, $returns, $crate::dispatch::Call::$class($name));
        )*

        $(
            #[doc = concat!("The row of the alias `", $alias_full, "`.")]
            pub static $alias: $crate::dispatch::OpDef = $crate::dispatch::OpDef::new(
                $alias_full, $alias_first, $alias_arguments, $alias_returns, $crate::dispatch::Call::$alias_class($target),
            );
        )*

        /// Below every layer: shape rule, memory, kernel.
        mod forward {
            #[allow(unused_imports, reason = "a family may have no assembled form")]
            use super::*;
            $($crate::dispatch::below! { $name($($p: $type),*) -> $result, $full $body })*
        }

        /// The rows of this family in the operator table.
        pub static $rows: &[&$crate::dispatch::OpDef] = &[$(&$row,)* $(&$alias),*];
    };
}

/// What a typed function does after it knows the keys that are left.
macro_rules! above {
    (none $keys:ident $row:ident $name:ident [$($p:ident)*] $body:tt) => {{
        if $keys.is_boxed() && $crate::dispatch::unobserved(&$row, $keys).is_boxed() {
            return $crate::dispatch::boxed(&$row, $keys, &[$(&$p),*]);
        }
        $crate::dispatch::forwarded!($name [$($p)*] $body)
    }};
    (recorded $keys:ident $row:ident $name:ident [$($p:ident)*] $body:tt) => {{
        let mut $keys = $keys;
        if $keys.is_boxed() {
            $keys = $crate::dispatch::unobserved(&$row, $keys);
            if $keys.is_boxed() {
                return $crate::dispatch::boxed(&$row, $keys, &[$(&$p),*]);
            }
        }
        let result = $crate::dispatch::forwarded!($name [$($p)*] $body)?;
        if $keys.is_empty() { Ok(result) } else { gradient::$name(result, $($p),*) }
    }};
    (gradient $keys:ident $row:ident $name:ident [$($p:ident)*] $body:tt) => {{
        if !$keys.is_empty() {
            let keys = $crate::dispatch::unobserved(&$row, $keys);
            if keys.is_boxed() {
                return $crate::dispatch::boxed(&$row, keys, &[$(&$p),*]);
            }
            if !keys.is_empty() {
                return gradient::$name($($p),*);
            }
        }
        $crate::dispatch::forwarded!($name [$($p)*] $body)
    }};
    ($rejected:ident $keys:ident $row:ident $name:ident [$($p:ident)*] $body:tt) => {{
        if !$keys.is_empty() && $crate::dispatch::done_above(&$row, $keys, &[$(&$p),*], $crate::autograd::$rejected)? {
            return Ok(());
        }
        $crate::dispatch::forwarded!($name [$($p)*] $body)
    }};
}

/// The call of the forward function.
macro_rules! forwarded {
    ($name:ident [$($p:ident)*] { written }) => { written::$name($($p),*) };
    ($name:ident [$($p:ident)*] { call $call:expr }) => { $call };
    ($name:ident [$($p:ident)*] $body:tt) => { forward::$name($($p),*) };
}

/// The forward function of a form, unless it is written elsewhere.
macro_rules! below {
    ($name:ident($($p:ident: $type:ty),*) -> $result:ty, $full:literal { written }) => {};
    ($name:ident($($p:ident: $type:ty),*) -> $result:ty, $full:literal { call $call:expr }) => {};
    // An in-place form is called from two places: directly, and while it is recorded.
    ($name:ident $parameters:tt -> $result:ty, $full:literal { in_place $($steps:tt)* }) => {
        $crate::dispatch::below! { @assembled #[inline(never)] $name $parameters -> $result, $full { in_place $($steps)* } }
    };
    ($name:ident $parameters:tt -> $result:ty, $full:literal $steps:tt) => {
        $crate::dispatch::below! { @assembled #[inline] $name $parameters -> $result, $full $steps }
    };
    (@assembled #[$inline:meta] $name:ident($($p:ident: $type:ty),*) -> $result:ty, $full:literal {
        $kind:ident [$($x:ident),*] $($setting:expr),*; $rule:expr, $($kernel:ident)::+($($given:expr),*)
    }) => {
        #[$inline]
        #[allow(clippy::too_many_arguments, reason = "the signature is PyTorch's")]
        #[allow(unused_variables, reason = "some rules and kernels do not need all arguments")]
        pub fn $name($($p: $type),*) -> Result<$result> {
            $crate::dispatch::assembly::$kind(
                $full,
                $($setting,)*
                [$($x),*],
                |&[$($x),*]| $rule,
                |result, &[$($x),*]| $($kernel)::+(result, $($given),*),
            )
        }
    };
}

pub(crate) use {above, below, forms, forwarded};
