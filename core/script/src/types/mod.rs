//! The types of TorchScript: what annotations mean, how types relate, and how they are printed.

mod annotation;
mod print;
mod relation;

pub use annotation::{NoTypes, Resolver, attribute_type, parse_type, type_of};

use crate::ast::Name;
use rushlight_base::{Result, bail, ensure};
use std::sync::Arc;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `Any`
    Any,
    /// `Tensor`
    Tensor,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `complex`
    Complex,
    /// `number`: an int, a float or a complex number.
    Number,
    /// `bool`
    Bool,
    /// `str`
    Str,
    /// `NoneType`
    None,
    /// `Device`
    Device,
    /// `Generator`
    Generator,
    /// `Stream`
    Stream,
    /// `Capsule`
    Capsule,
    /// `list`: a list of any type.
    AnyList,
    /// `tuple`: a tuple of any types.
    AnyTuple,
    /// `List[T]`
    List(Arc<Type>),
    /// `Optional[T]`; created by [`Type::optional`].
    Optional(Arc<Type>),
    /// `Dict[K, V]`; created by [`Type::dict`].
    Dict(Arc<(Type, Type)>),
    /// `Tuple[...]`
    Tuple(Arc<[Type]>),
    /// `Union[...]`; created by [`Type::union`].
    Union(Arc<[Type]>),
    /// `Future[T]`
    Future(Arc<Type>),
    /// `RRef[T]`
    RRef(Arc<Type>),
    /// `Await[T]`
    Await(Arc<Type>),
    /// A NamedTuple.
    NamedTuple(Arc<NamedTuple>),
    /// An Enum.
    Enum(Arc<EnumType>),
    /// A class or module, by its qualified name.
    Class(Name),
    /// An interface, by its qualified name.
    Interface(Name),
    /// A function, by its qualified name.
    Function(Name),
}

/// A NamedTuple with its fields.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamedTuple {
    /// The qualified name.
    pub name: Name,
    /// Names and types of the fields.
    pub fields: Vec<(Name, Type)>,
}

/// An Enum with the type of its values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnumType {
    /// The qualified name.
    pub name: Name,
    /// The type of the values.
    pub value: Type,
}

impl Type {
    /// `List[self]`
    #[must_use]
    pub fn list(self) -> Type {
        Type::List(self.into())
    }

    /// `Future[self]`
    #[must_use]
    pub fn future(self) -> Type {
        Type::Future(self.into())
    }

    /// A tuple.
    pub fn tuple(elements: impl Into<Arc<[Type]>>) -> Type {
        Type::Tuple(elements.into())
    }

    /// `Optional[self]`, which is `self` if it accepts None already. `Optional[None]` is an error.
    pub fn optional(self) -> Result<Type> {
        match self {
            Type::Optional(_) => Ok(self),
            Type::None => Type::union(&[Type::None, Type::None]),
            Type::Union(members) if members.contains(&Type::None) => Ok(Type::Union(members)),
            Type::Union(members) => match &*members {
                [only] => Ok(Type::Optional(only.clone().into())),
                _ => Ok(Type::Optional(Type::Union(members).into())),
            },
            other => Ok(Type::Optional(other.into())),
        }
    }

    /// `Dict[key, value]`. The key must be a type whose values can be compared by value.
    pub fn dict(key: Type, value: Type) -> Result<Type> {
        let allowed = matches!(
            key,
            Type::Int
                | Type::Float
                | Type::Complex
                | Type::Bool
                | Type::Str
                | Type::Tensor
                | Type::Device
                | Type::Any
                | Type::Enum(_)
        );
        ensure!(
            allowed,
            Runtime,
            "Cannot create dict for key type '{}', only int, float, complex, Tensor, device and string keys are supported",
            key.schema_str()
        );
        Ok(Type::Dict(Arc::new((key, value))))
    }

    /// The union of types. Members that are subtypes of others are left out; int, float and complex together are
    /// number; a type and None are Optional.
    pub fn union(types: &[Type]) -> Result<Type> {
        let mut members: Vec<Type> = Vec::new();
        for member in types.iter().flat_map(Type::members) {
            if !members.iter().any(|other| member.is_subtype_of(other, &NoTypes)) {
                members.retain(|other| !other.is_subtype_of(&member, &NoTypes));
                members.push(member);
            }
        }
        let numbers = [Type::Int, Type::Float, Type::Complex];
        if numbers.iter().all(|number| members.contains(number)) {
            members.retain(|member| !numbers.contains(member));
            members.push(Type::Number);
        }
        members.sort_by_cached_key(|member| (member.rank(), member.schema_str()));
        match members.as_slice() {
            [first, second] if *first == Type::None || *second == Type::None => {
                let other = if *first == Type::None { second } else { first };
                Ok(Type::Optional(other.clone().into()))
            }
            // PyTorch keeps the union that three numbers become.
            [Type::Number] => Ok(Type::Union(members.into())),
            [single] => {
                let names: Vec<String> = types.iter().map(Type::annotation_str).collect();
                bail!(
                    Runtime,
                    "After type unification was performed, the Union with the original types {{{}}} has the single type \
                     {}. Use the common supertype instead of creating a Union type",
                    names.join(" "),
                    single.annotation_str()
                )
            }
            [] => bail!(Runtime, "Cannot create an empty Union"),
            _ => Ok(Type::Union(members.into())),
        }
    }

    /// The types whose union this is, with None for Optional.
    pub fn members(&self) -> Vec<Type> {
        match self {
            Type::Optional(element) => {
                let mut members = element.members();
                members.push(Type::None);
                members
            }
            Type::Union(members) => members.to_vec(),
            other => vec![other.clone()],
        }
    }

    /// The elements of a tuple or NamedTuple.
    pub fn elements(&self) -> Option<Vec<Type>> {
        match self {
            Type::Tuple(elements) => Some(elements.to_vec()),
            Type::NamedTuple(tuple) => Some(tuple.fields.iter().map(|(_, element)| element.clone()).collect()),
            _ => None,
        }
    }

    /// The position in the order in which PyTorch prints the members of a union.
    fn rank(&self) -> u8 {
        match self {
            Type::Any => 0,
            Type::Enum(_) => 1,
            Type::Tensor => 3,
            Type::Tuple(_) | Type::NamedTuple(_) => 5,
            Type::List(_) => 6,
            Type::Dict(_) => 7,
            Type::Number => 8,
            Type::Float => 9,
            Type::Complex => 10,
            Type::Future(_) => 11,
            Type::Await(_) => 12,
            Type::RRef(_) => 13,
            Type::Int => 14,
            Type::None => 15,
            Type::Str => 16,
            Type::Generator => 17,
            Type::Bool => 19,
            Type::Optional(_) => 20,
            Type::Device => 22,
            Type::Stream => 23,
            Type::Class(_) => 25,
            Type::Capsule => 27,
            Type::Interface(_) => 28,
            Type::Function(_) => 29,
            Type::AnyList => 31,
            Type::AnyTuple => 32,
            Type::Union(_) => 38,
        }
    }
}
