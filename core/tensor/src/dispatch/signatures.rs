//! The constants that rows of the operator table refer to: each argument and each return value once. Generated, with
//! the functions below.

use rushlight_schema::{Alias, Argument, BaseType, Constant, Default, Detail, List, ListType, Name, Return, Type};

include!(concat!(env!("OUT_DIR"), "/signatures.rs"));

/// An argument.
const fn argument(name: &'static str, ty: Type, default: Option<Default>, kwarg_only: bool) -> Argument {
    Argument { name: Name::Borrowed(name), ty, default, kwarg_only }
}

/// A return value.
const fn returned(name: Option<&'static str>, ty: Type) -> Return {
    match name {
        Some(name) => Return { name: Some(Name::Borrowed(name)), ty },
        None => Return { name: None, ty },
    }
}

/// A type without alias annotation, list and `?`.
const fn plain(base: BaseType) -> Type {
    Type::plain(base)
}

/// A type with all its parts.
const fn typed(base: BaseType, alias: Option<Alias>, list: Option<ListType>, optional: bool) -> Type {
    Type { base, detail: Detail::None, alias, list, optional }
}

/// The list part of a type.
const fn list(size: Option<usize>, optional_elements: bool) -> ListType {
    ListType { size, optional_elements }
}

/// An alias annotation.
const fn alias(sets: &'static [Name], write: bool, after: &'static [Name]) -> Alias {
    Alias { sets: List::Borrowed(sets), write, after: List::Borrowed(after) }
}
