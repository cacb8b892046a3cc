//! The derivatives of operators: the macros that make nodes of the formulas which the build script writes, and the wrappers that
//! record calls.

/// `derivative! { MulTensorBackward "MulBackward0" true { self_: Saved, other: Saved } formulas }`: a node with PyTorch's name,
/// whether it holds tensors, and its fields. A formula is `slot [grad output] (kept) => gradient;`: it runs if the gradient of
/// the slot is needed and, where it uses one, that of the output is there. `kept` names the fields that it uses, each with the
/// way in which it takes them.
macro_rules! derivative {
    ($node:ident $name:literal $saves:literal { $($field:ident: $type:ty),* }
        $($slot:literal [$($grad:ident $output:literal)?] ($($how:ident $kept:ident),*) => $gradient:expr;)*) => {
        struct $node { $($field: $type),* }

        impl $crate::autograd::Backward for $node {
            fn name(&self) -> &str {
                $name
            }

            fn saves(&self) -> bool {
                $saves
            }

            #[allow(unused_variables, reason = "some derivatives are constants")]
            fn backward(
                &self,
                call: &$crate::autograd::BackwardCall<'_>,
                gradients: &mut $crate::autograd::Gradients,
            ) -> Result<()> {
                $(if call.needs($slot) $(&& let Some($grad) = call.grad($output))? {
                    $($crate::autograd::kept!($how call self $kept);)*
                    gradients.set($slot, $gradient)?;
                })*
                Ok(())
            }
        }
    };
}

/// Binds the name of a field to what formulas take for it.
macro_rules! kept {
    (value $call:ident $node:ident $field:ident) => {
        let $field = $node.$field;
    };
    (meta $call:ident $node:ident $field:ident) => {
        let $field = &$node.$field;
    };
    (tensor $call:ident $node:ident $field:ident) => {
        let $field = &$call.unpack(&$node.$field)?;
    };
    (option $call:ident $node:ident $field:ident) => {
        let $field = $call.unpack_option(&$node.$field)?;
        let $field = $field.as_ref();
    };
    (tensors $call:ident $node:ident $field:ident) => {
        let $field = &$call.unpack_list(&$node.$field)?;
    };
    (list $call:ident $node:ident $field:ident) => {
        let $field = $node.$field.as_slice();
    };
    (text $call:ident $node:ident $field:ident) => {
        let $field = $node.$field.as_str();
    };
    (optional $call:ident $node:ident $field:ident) => {
        let $field = $node.$field.as_deref();
    };
}

/// The wrapper of a functional form, which records the result of the forward function by a node.
macro_rules! recorded {
    ($name:ident($($p:ident: $type:ty),*) [$($input:ident),*] $(view of $base:ident)? |$edges:ident, $result:ident| $node:expr) => {
        #[allow(unused_variables, reason = "few derivatives need all arguments")]
        #[allow(clippy::too_many_arguments, reason = "the signature is PyTorch's")]
        pub fn $name(result: Tensor, $($p: $type),*) -> Result<Tensor> {
            $(let result = $crate::autograd::as_view($base, result)?;)?
            $crate::autograd::recorded(result, &[$($input),*], |$edges, $result| Ok($node))
        }
    };
}

/// The wrapper of a form that writes `$target`: the node is made before the write.
macro_rules! recorded_write {
    ($name:ident($($p:ident: $type:ty),*) $target:ident [$($input:ident),*] $write:expr, |$edges:ident| $node:expr) => {
        #[allow(unused_variables, reason = "few derivatives need the edges")]
        #[allow(clippy::too_many_arguments, reason = "the signature is PyTorch's")]
        pub fn $name($($p: $type),*) -> Result<()> {
            $crate::autograd::recorded_write($target, &[$($input),*], || $write, |$edges| Ok($node))
        }
    };
}

pub(crate) use {derivative, kept, recorded, recorded_write};
