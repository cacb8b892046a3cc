//! Types with the names that classes have in the file.

use crate::ast::Name;
use crate::types::{EnumType, NamedTuple, Type};
use std::sync::Arc;

/// The type with other names of its classes.
pub(super) fn renamed(kind: &Type, name: &mut impl FnMut(&str) -> Name) -> Type {
    let mut inner = |kind: &Arc<Type>| Arc::new(renamed(kind, name));
    match kind {
        Type::List(element) => Type::List(inner(element)),
        Type::Optional(element) => Type::Optional(inner(element)),
        Type::Future(element) => Type::Future(inner(element)),
        Type::RRef(element) => Type::RRef(inner(element)),
        Type::Await(element) => Type::Await(inner(element)),
        Type::Dict(pair) => Type::Dict(Arc::new((renamed(&pair.0, name), renamed(&pair.1, name)))),
        Type::Tuple(items) => Type::Tuple(items.iter().map(|item| renamed(item, name)).collect()),
        Type::Union(items) => Type::Union(items.iter().map(|item| renamed(item, name)).collect()),
        // The results of an operator have names, but no class.
        Type::NamedTuple(class) if is_unnamed(class) => {
            Type::Tuple(class.fields.iter().map(|(_, field)| renamed(field, name)).collect())
        }
        Type::NamedTuple(class) => {
            Type::NamedTuple(Arc::new(NamedTuple { name: name(&class.name), fields: Vec::new() }))
        }
        Type::Enum(class) => Type::Enum(Arc::new(EnumType { name: name(&class.name), value: class.value.clone() })),
        Type::Class(class) => Type::Class(name(class)),
        Type::Interface(class) => Type::Interface(name(class)),
        other => other.clone(),
    }
}

/// Whether this is the tuple of the results of an operator such as `aten::topk`, not a class.
pub(super) fn is_unnamed(class: &NamedTuple) -> bool {
    class.name.contains("::")
}

/// Whether the elements of a list literal tell this type. Otherwise the literal is annotated.
pub(super) fn is_told_by_elements(kind: &Type) -> bool {
    match kind {
        Type::Optional(_)
        | Type::Union(_)
        | Type::Any
        | Type::AnyList
        | Type::AnyTuple
        | Type::Number
        | Type::Interface(_)
        | Type::None => false,
        Type::List(element) | Type::Future(element) => is_told_by_elements(element),
        Type::Dict(pair) => is_told_by_elements(&pair.0) && is_told_by_elements(&pair.1),
        Type::Tuple(items) => items.iter().all(is_told_by_elements),
        _ => true,
    }
}
