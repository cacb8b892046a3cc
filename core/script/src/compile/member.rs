//! Attributes: `value.name`.

use super::environment::Compiler;
use super::sugar::Sugar;
use crate::ast::{ClassKind, Name};
use crate::classes::PREFIX;
use crate::graph::ValueId;
use crate::types::Type;
use rushlight_base::Result;

/// The attributes of tensors that are operators of the namespace prim.
const TENSOR: [&str; 39] = [
    "dtype",
    "device",
    "grad",
    "data",
    "shape",
    "is_cuda",
    "is_cpu",
    "is_xpu",
    "is_sparse",
    "is_sparse_csr",
    "is_mkldnn",
    "is_mps",
    "is_mtia",
    "is_quantized",
    "is_vulkan",
    "is_ipu",
    "is_meta",
    "is_leaf",
    "is_nested",
    "requires_grad",
    "layout",
    "T",
    "H",
    "mT",
    "mH",
    "ndim",
    "name",
    "real",
    "imag",
    "retains_grad",
    "itemsize",
    "nbytes",
    "names",
    "is_hpu",
    "is_ort",
    "is_maia",
    "output_nr",
    "_version",
    "is_xla",
];

impl Compiler<'_> {
    /// `value.name`
    pub(super) fn member(&mut self, sugar: Sugar, name: &Name) -> Result<Sugar> {
        match sugar {
            Sugar::Value(value) => self.value_member(value, name),
            Sugar::Module(module) => self.module_member(&module, name),
            Sugar::Class(kind) => self.class_member(kind, name),
            Sugar::Builtin { object: None, name: operator } => {
                // An overload of an operator: `ops.aten.add.Tensor`.
                let overloads = self.unit.operators.overloads(&operator);
                let known = overloads.iter().any(|schema| schema.overload == *name || &**name == "default");
                if known {
                    return Ok(Sugar::Builtin { object: None, name: operator });
                }
                Err(self.error(format!("{operator} has no overload {name}")))
            }
            other => Err(self.error(format!("{} has no attribute {name}", other.describe(self)))),
        }
    }

    fn class_member(&mut self, kind: Type, name: &Name) -> Result<Sugar> {
        match &kind {
            Type::Enum(class) => {
                let data = self.unit.class(&class.name)?;
                if data.values.iter().any(|(other, ..)| other == name) {
                    return Ok(Sugar::Value(self.enum_constant(&kind, name)?));
                }
                Err(self.error(format!("{}' has no attribute '{name}'", kind.schema_str())))
            }
            Type::NamedTuple(_) | Type::Class(_) if &**name == "__new__" => Ok(Sugar::New(kind)),
            Type::Class(class) if class.starts_with(PREFIX) && self.unit.host.custom_method(class, name).is_some() => {
                // A static method has no object, but the node of a call has one.
                let object = self.apply("prim::CreateObject", &[], kind.clone())?;
                Ok(Sugar::Method { object, class: class.clone(), name: name.clone() })
            }
            Type::Class(class) => {
                let data = self.unit.class(class)?;
                if let Some((kind, value)) = data.constant(name) {
                    return Ok(Sugar::Value(self.class_constant(&kind.clone(), value.clone())?));
                }
                if data.static_methods.contains(name) || data.has_method(name) {
                    return Ok(Sugar::Function(format!("{class}.{name}").into()));
                }
                // A class inside of a module of the same name.
                if let Some(sugar) = self.defined(&format!("{class}.{name}"))? {
                    return Ok(sugar);
                }
                Err(self.error(format!("class '{class}' has no attribute '{name}'")))
            }
            _ => Err(self.error(format!("{} has no attribute '{name}'", kind.annotation_str()))),
        }
    }

    /// A member of an Enum: a constant whose value is the name of the member.
    pub(super) fn enum_constant(&mut self, kind: &Type, member: &Name) -> Result<ValueId> {
        let Type::Enum(class) = kind else { return Err(self.error("internal error: not an Enum")) };
        let text = format!("{}.{member}", class.name);
        self.constant(kind.clone(), Some(crate::graph::Attribute::Str(text.as_bytes().into())))
    }

    /// A constant of a class. Lists and tuples of numbers and strings are constants too.
    fn class_constant(&mut self, kind: &Type, value: crate::graph::Attribute) -> Result<ValueId> {
        if *kind == Type::None {
            return self.none();
        }
        self.constant(kind.clone(), Some(value))
    }

    fn value_member(&mut self, value: ValueId, name: &Name) -> Result<Sugar> {
        let kind = self.kind(value);
        match &kind {
            Type::Tensor if TENSOR.contains(&&**name) => {
                let operator = format!("prim::{name}");
                let known = !self.unit.operators.overloads(&operator).is_empty();
                let rewritten = !super::builtin::rewrites(&operator).is_empty();
                let operator = if known || rewritten { operator } else { format!("aten::{name}") };
                return Ok(Sugar::Value(self.operator(&operator, &[value])?));
            }
            Type::Tensor if &**name == "tolist" => return Ok(Sugar::ToList(value)),
            Type::Device if matches!(&**name, "type" | "index") => {
                return Ok(Sugar::Value(self.operator(&format!("prim::{name}"), &[value])?));
            }
            Type::NamedTuple(tuple) => {
                if let Some(index) = tuple.fields.iter().position(|(field, _)| field == name) {
                    return Ok(Sugar::Value(self.tuple_element(value, index)?));
                }
            }
            Type::Enum(class) if matches!(&**name, "name" | "value") => {
                let result = if &**name == "name" { Type::Str } else { class.value.clone() };
                return Ok(Sugar::Value(self.apply(
                    &format!("prim::Enum{}", if &**name == "name" { "Name" } else { "Value" }),
                    &[value],
                    result,
                )?));
            }
            Type::Class(class) => return self.object_member(value, &class.clone(), name),
            Type::Interface(interface) => {
                let data = self.unit.class(interface)?;
                if data.has_method(name) {
                    return Ok(Sugar::Method { object: value, class: interface.clone(), name: name.clone() });
                }
                if let Some(attribute) = data.attribute(name) {
                    let kind = attribute.kind.clone();
                    return Ok(Sugar::Value(self.apply_named("prim::GetAttr", name, &[value], kind)?));
                }
            }
            _ => {}
        }
        for namespace in ["aten", "prim"] {
            let operator = format!("{namespace}::{name}");
            if self.has_method(&operator, value) {
                return Ok(Sugar::Builtin { name: operator.into(), object: Some(value) });
            }
        }
        if let Type::Await(element) = &kind {
            let element = Type::clone(element);
            let waited = self.apply("prim::awaitable_wait", &[value], element)?;
            return self.value_member(waited, name);
        }
        Err(self.error(format!("'{}' object has no attribute or method '{name}'.", kind.annotation_str())))
    }

    fn object_member(&mut self, value: ValueId, class: &Name, name: &Name) -> Result<Sugar> {
        if class.starts_with(PREFIX) {
            if self.unit.host.custom_method(class, name).is_some() {
                return Ok(Sugar::Method { object: value, class: class.clone(), name: name.clone() });
            }
            let getter: Name = format!("{name}_getter").into();
            if self.unit.host.custom_method(class, &getter).is_some() {
                let call = super::matching::Arguments::default();
                return Ok(Sugar::Value(self.call_method(value, class, &getter, &call)?));
            }
            return Err(
                self.error(format!("Tried to access nonexistent attribute or method '{name}' of type '{class}'."))
            );
        }
        if let Some(sugar) = self.find_member(value, class, name)? {
            return Ok(sugar);
        }
        // Attributes of a class without declarations are those that its `__init__` sets.
        let data = self.unit.class(class)?;
        if !data.is_declared && self.class.as_ref() != Some(class) {
            self.unit.function(&format!("{class}.__init__"))?;
            if let Some(sugar) = self.find_member(value, class, name)? {
                return Ok(sugar);
            }
        }
        let mut message = format!("'{class}' object has no attribute or method '{name}'.");
        if data.kind == ClassKind::Plain {
            message.push_str(" Did you forget to initialize an attribute in __init__()?");
        }
        Err(self.error(message))
    }

    fn find_member(&mut self, value: ValueId, class: &Name, name: &Name) -> Result<Option<Sugar>> {
        let data = self.unit.class(class)?;
        if let Some(attribute) = data.attribute(name) {
            let kind = attribute.kind.clone();
            return Ok(Some(Sugar::Value(self.apply_named("prim::GetAttr", name, &[value], kind)?)));
        }
        if let Some((kind, constant)) = data.constant(name) {
            return Ok(Some(Sugar::Value(self.class_constant(&kind.clone(), constant.clone())?)));
        }
        if let Some((getter, _)) = data.properties.get(name) {
            return Ok(Some(Sugar::Value(self.call_method(
                value,
                class,
                getter,
                &super::matching::Arguments::default(),
            )?)));
        }
        if data.static_methods.contains(name) {
            return Ok(Some(Sugar::Function(format!("{class}.{name}").into())));
        }
        if data.has_method(name) {
            return Ok(Some(Sugar::Method { object: value, class: class.clone(), name: name.clone() }));
        }
        Ok(None)
    }

    /// Whether a value has an attribute or method.
    pub(super) fn has_member(&mut self, value: ValueId, name: &str) -> Result<bool> {
        let kind = self.kind(value);
        Ok(match &kind {
            Type::Class(class) | Type::Interface(class) => {
                let data = self.unit.class(class)?;
                data.attribute(name).is_some()
                    || data.constant(name).is_some()
                    || data.has_method(name)
                    || data.properties.contains_key(name)
            }
            Type::NamedTuple(tuple) => tuple.fields.iter().any(|(field, _)| &**field == name),
            Type::Tensor if TENSOR.contains(&name) => true,
            _ => self.has_method(&format!("aten::{name}"), value),
        })
    }

    /// `object.name = value`
    pub(super) fn set_member(
        &mut self,
        object: ValueId,
        name: &Name,
        value: Sugar,
        annotation: Option<Type>,
    ) -> Result<()> {
        let Sugar::Value(value) = value else {
            return Err(self.error(format!("{} cannot be assigned to an attribute", value.describe(self))));
        };
        let kind = self.kind(object);
        let Type::Class(class) = &kind else {
            if kind == Type::Tensor {
                let operator = format!("prim::set{name}");
                return Err(
                    self.error(format!("Tried to set the attribute {name} of a Tensor ({operator} does not exist)"))
                );
            }
            let message = format!("Tried to set an attribute: {name} on a non-class: {}", kind.annotation_str());
            return Err(self.error(message));
        };
        if class.starts_with(PREFIX) {
            let (class, setter): (Name, Name) = (class.clone(), format!("{name}_setter").into());
            if self.unit.host.custom_method(&class, &setter).is_none() {
                return Err(self.error(format!("Tried to set nonexistent or read-only attribute: {name} of '{class}'")));
            }
            self.call_method(object, &class, &setter, &super::matching::Arguments::of(&[value]))?;
            return Ok(());
        }
        let data = self.unit.class(class)?;
        if data.attribute(name).is_none() {
            if data.constant(name).is_some() {
                return Err(self
                    .error(format!("Assignments to attribute '{name}' of {class} are not allowed: it is a constant")));
            }
            if let Some((_, setter)) = data.properties.get(name) {
                let Some(setter) = setter.clone() else {
                    return Err(self.error(format!("Tried to set read-only attribute: {name}")));
                };
                let class = class.clone();
                self.call_method(object, &class, &setter, &super::matching::Arguments::of(&[value]))?;
                return Ok(());
            }
            let in_init = self.class.as_ref() == Some(class) && self.name.ends_with(".__init__");
            if !in_init || data.is_declared {
                let message = format!(
                    "Tried to set nonexistent attribute: {name}. Did you forget to initialize it in __init__()?"
                );
                return Err(self.error(message));
            }
            let kind = annotation.clone().unwrap_or_else(|| self.kind(value));
            let attribute = super::class::Attribute { name: name.clone(), kind, is_parameter: false, is_buffer: false };
            self.unit.add_attribute(class, attribute)?;
        }
        let data = self.unit.class(class)?;
        let wanted = data.attribute(name).map_or(Type::Any, |attribute| attribute.kind.clone());
        let value = self.converted(value, &wanted, true)?;
        if !self.is_subtype(&self.kind(value), &wanted) {
            let message = format!(
                "Wrong type for attribute assignment. Expected {} but got {}",
                wanted.annotation_str(),
                self.type_name(value)
            );
            return Err(self.error(message));
        }
        let node = self.node("prim::SetAttr", &[object, value], &[])?;
        let attribute = crate::graph::Attribute::Str(name.as_bytes().into());
        self.graph.node_mut(node)?.attributes.push(("name".into(), attribute));
        Ok(())
    }

    /// The element of a tuple at a known index.
    pub(super) fn tuple_element(&mut self, value: ValueId, index: usize) -> Result<ValueId> {
        let kinds = self.kind(value).elements().unwrap_or_default();
        let Some(kind) = kinds.get(index).cloned() else {
            return Err(self.error(format!("Tuple index out of range: {index} of {} elements", kinds.len())));
        };
        let index = self.int(index as i64)?;
        self.apply("prim::TupleIndex", &[value, index], kind)
    }
}
