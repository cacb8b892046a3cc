//! Subtypes, and the type of values that come from two branches.

use super::{Resolver, Type};

impl Type {
    /// Whether a value of this type may be used where `other` is expected. `types` knows which classes implement
    /// which interfaces.
    pub fn is_subtype_of(&self, other: &Type, types: &dyn Resolver) -> bool {
        if self == other || *other == Type::Any {
            return true;
        }
        match (self, other) {
            (Type::Optional(_) | Type::Union(_), _) => {
                self.members().iter().all(|member| member.is_subtype_of(other, types))
            }
            (_, Type::Optional(element)) => *self == Type::None || self.is_subtype_of(element, types),
            (_, Type::Union(members)) => members.iter().any(|member| self.is_subtype_of(member, types)),
            (Type::Int | Type::Float | Type::Complex, Type::Number) => true,
            (Type::List(_), Type::AnyList) | (Type::Tuple(_) | Type::NamedTuple(_), Type::AnyTuple) => true,
            (Type::Tuple(elements), Type::Tuple(others)) => all_subtypes(elements, others, types),
            (Type::NamedTuple(_), Type::Tuple(others)) => {
                self.elements().is_some_and(|elements| all_subtypes(&elements, others, types))
            }
            (Type::Future(element), Type::Future(other)) | (Type::Await(element), Type::Await(other)) => {
                element.is_subtype_of(other, types)
            }
            (Type::Class(name) | Type::Interface(name), Type::Interface(interface)) => {
                types.implements(name, interface)
            }
            _ => false,
        }
    }

    /// The type that holds values of both types, for example None and int: Optional[int]. `None` if there is none
    /// short of a union.
    pub fn unify(&self, other: &Type, types: &dyn Resolver) -> Option<Type> {
        if self.is_subtype_of(other, types) {
            return Some(other.clone());
        }
        if other.is_subtype_of(self, types) {
            return Some(self.clone());
        }
        match (self, other) {
            (Type::None, value) | (value, Type::None) => value.clone().optional().ok(),
            (Type::Optional(element), other) | (other, Type::Optional(element)) => {
                element.unify(other, types)?.optional().ok()
            }
            (Type::Tuple(elements), Type::Tuple(others)) if elements.len() == others.len() => {
                let unified: Option<Vec<Type>> =
                    elements.iter().zip(others.iter()).map(|(left, right)| left.unify(right, types)).collect();
                unified.map(Type::tuple)
            }
            (Type::Future(element), Type::Future(other)) => Some(element.unify(other, types)?.future()),
            _ => None,
        }
    }
}

fn all_subtypes(elements: &[Type], others: &[Type], types: &dyn Resolver) -> bool {
    elements.len() == others.len()
        && elements.iter().zip(others).all(|(element, other)| element.is_subtype_of(other, types))
}
