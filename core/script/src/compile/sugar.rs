//! What expressions mean while compiling: values of the graph, and things that have no value, such as modules, types,
//! functions and methods.

use super::environment::Compiler;
use crate::ast::{self, Name};
use crate::graph::ValueId;
use crate::types::Type;
use std::collections::HashMap;
use std::sync::Arc;

/// What an expression means.
#[derive(Clone, Debug)]
pub(super) enum Sugar {
    /// A value.
    Value(ValueId),
    /// A Python module: `torch`, `ops.aten`, a prefix of qualified names.
    Module(Name),
    /// An operator (`aten::relu`), bound to an object if it is a method.
    Builtin { name: Name, object: Option<ValueId> },
    /// A function that the compiler handles.
    Special(Special),
    /// A function of the program.
    Function(Name),
    /// A method of the program or of a custom class.
    Method { object: ValueId, class: Name, name: Name },
    /// A class, NamedTuple or Enum.
    Class(Type),
    /// `Class.__new__`
    New(Type),
    /// A type that converts: `int`, `str`.
    Cast(Type),
    /// Several things: the elements of `zip`, a tuple of functions.
    Tuple(Vec<Sugar>),
    /// What only a loop can use: `range(n)`, `enumerate(x)`.
    Iterable(Arc<super::iteration::Iterable>),
    /// A function inside of a function, with the variables that it sees.
    Closure(Arc<(ast::Function, HashMap<Name, Sugar>)>),
    /// `x.tolist`
    ToList(ValueId),
}

macro_rules! specials {
    ($($Variant:ident $($name:literal)+;)*) => {
        /// Functions that the compiler handles.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(super) enum Special { $($Variant),* }

        impl Special {
            /// The function of this name.
            pub(super) fn find(name: &str) -> Option<Special> {
                match name {
                    $($($name)|+ => Some(Special::$Variant),)*
                    _ => None,
                }
            }
        }
    };
}

specials! {
    Print "print";
    Annotate "annotate" "torch.jit.annotate";
    UncheckedCast "unchecked_cast";
    Uninitialized "uninitialized";
    UncheckedUnwrap "unchecked_unwrap_optional" "torch.jit._unwrap_optional" "_unwrap_optional" "torch.jit.unwrap_optional";
    IsInstance "isinstance" "torch.jit.isinstance" "_isinstance" "torch.jit._isinstance";
    HasAttr "hasattr";
    GetAttr "getattr";
    IsScripting "torch.jit.is_scripting" "torch._jit_internal.is_scripting";
    IsTracing "torch.jit.is_tracing" "torch._C._get_tracing_state" "torch._jit_internal.is_tracing";
    Range "range";
    Enumerate "enumerate";
    Zip "zip";
    Reversed "reversed";
    List "list";
    Tuple "tuple";
    Dict "dict";
    Fork "fork" "torch.jit.fork" "torch.jit._fork";
    Awaitable "awaitable" "torch.jit._awaitable";
    Cast "cast" "typing.cast";
    RangeList "rangelist";
    Contains "torch._contains";
}

impl Sugar {
    /// The words of an error message for something without value.
    pub(super) fn describe(&self, compiler: &Compiler<'_>) -> String {
        match self {
            Sugar::Value(value) => compiler.type_name(*value),
            Sugar::Module(_) => "python module".into(),
            Sugar::Builtin { .. } | Sugar::Special(_) => "builtin".into(),
            Sugar::Function(_) => "function".into(),
            Sugar::Method { .. } => "method".into(),
            Sugar::Class(_) | Sugar::New(_) | Sugar::Cast(_) => "class".into(),
            Sugar::Tuple(_) => "tuple".into(),
            Sugar::Iterable(_) => "iterabletree".into(),
            Sugar::Closure(_) => "closure".into(),
            Sugar::ToList(_) => "method".into(),
        }
    }
}
