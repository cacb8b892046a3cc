//! Classes as the compiler sees them.

use crate::ast::{ClassKind, Name};
use crate::graph::Attribute as Constant;
use crate::types::Type;
use std::collections::BTreeMap;

/// A class, module or interface.
#[derive(Clone, Debug)]
pub struct Class {
    /// The qualified name.
    pub name: Name,
    /// What it is.
    pub kind: ClassKind,
    /// Attributes that objects have, in order.
    pub attributes: Vec<Attribute>,
    /// Attributes that all objects share, with type and value.
    pub constants: Vec<(Name, Type, Constant)>,
    /// The values of an Enum by name.
    pub values: Vec<(Name, Type, Constant)>,
    /// The names of methods, in order.
    pub methods: Vec<Name>,
    /// Methods that are called without an object.
    pub static_methods: Vec<Name>,
    /// Properties: the name of the method that reads it, and of the one that writes it.
    pub properties: BTreeMap<Name, (Name, Option<Name>)>,
    /// The names in `__forward_hooks__`.
    pub forward_hooks: Vec<Name>,
    /// The names in `__forward_pre_hooks__`.
    pub forward_pre_hooks: Vec<Name>,
    /// Whether attributes are declared: those of other classes are found when `__init__` is compiled.
    pub is_declared: bool,
}

/// An attribute of the objects of a class.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The name.
    pub name: Name,
    /// The type.
    pub kind: Type,
    /// Whether it is a parameter.
    pub is_parameter: bool,
    /// Whether it is a buffer.
    pub is_buffer: bool,
}

impl Class {
    /// A module without attributes and methods.
    pub fn module(name: &str) -> Class {
        Class {
            name: name.into(),
            kind: ClassKind::Module,
            attributes: Vec::new(),
            constants: Vec::new(),
            values: Vec::new(),
            methods: Vec::new(),
            static_methods: Vec::new(),
            properties: BTreeMap::new(),
            forward_hooks: Vec::new(),
            forward_pre_hooks: Vec::new(),
            is_declared: true,
        }
    }

    /// The attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| &*attribute.name == name)
    }

    /// Type and value of the constant of this name.
    pub fn constant(&self, name: &str) -> Option<(&Type, &Constant)> {
        self.constants.iter().find(|(other, ..)| &**other == name).map(|(_, kind, value)| (kind, value))
    }

    /// Whether there is a method of this name.
    pub fn has_method(&self, name: &str) -> bool {
        self.methods.iter().any(|method| &**method == name)
    }
}
