//! Nodes as expressions: operators, calls, attributes, containers, casts.

use super::function::Body;
use super::names::is_attribute;
use super::types::{is_told_by_elements, is_unnamed};
use crate::graph::{Attribute, NodeId, ValueId};
use crate::print::print_quoted;
use crate::runtime::{constant, schema_of};
use crate::types::Type;
use rushlight_base::{Result, bail, err};

impl Body<'_, '_> {
    /// The expression that a node computes.
    pub(super) fn expression(&mut self, id: NodeId) -> Result<String> {
        let node = self.graph.node(id)?;
        let inputs = self.uses(node.inputs())?;
        let one = || inputs.first().ok_or_else(|| err!(Runtime, "{} has no inputs", node.kind));
        let all = || inputs.join(", ");
        Ok(match &*node.kind {
            "prim::Uninitialized" => format!("uninitialized({})", self.output_type(id)?),
            "prim::ListConstruct" => self.container(id, format!("[{}]", all()), inputs.is_empty())?,
            "prim::DictConstruct" => {
                let pairs: Vec<String> = inputs.chunks(2).map(|pair| pair.join(": ")).collect();
                self.container(id, format!("{{{}}}", pairs.join(", ")), inputs.is_empty())?
            }
            "prim::TupleConstruct" => self.tuple(id, &inputs)?,
            "prim::TupleIndex" => match inputs.as_slice() {
                [tuple, index] => format!("({tuple})[{index}]"),
                _ => bail!(Runtime, "prim::TupleIndex needs a tuple and an index"),
            },
            "prim::TupleSlice" => format!("({})[{}:{}]", one()?, self.number(id, "beg")?, self.number(id, "end")?),
            "aten::__getitem__" => match inputs.as_slice() {
                [container, index] => format!("{container}[{index}]"),
                _ => bail!(Runtime, "aten::__getitem__ needs a container and an index"),
            },
            "prim::CreateObject" => {
                let class = self.output_type(id)?;
                format!("{class}.__new__({class})")
            }
            "prim::GetAttr" => {
                let name = self.attribute_name(id)?;
                match is_attribute(&name) {
                    true => format!("{}.{name}", one()?),
                    false => format!("getattr({}, {})", one()?, print_quoted(name.as_bytes())),
                }
            }
            "prim::CallFunction" => match inputs.split_first() {
                Some((function, arguments)) => format!("{function}({})", ended(arguments)),
                None => bail!(Runtime, "prim::CallFunction without function"),
            },
            "prim::CallMethod" => {
                let name = self.attribute_name(id)?;
                let arguments = ended(inputs.get(1..).unwrap_or_default());
                format!("({}).{name}({arguments})", one()?)
            }
            "aten::ScalarImplicit" | "aten::FloatImplicit" | "aten::IntImplicit" | "aten::ComplexImplicit" => {
                format!("annotate({}, {})", self.output_type(id)?, one()?)
            }
            "aten::Int" => format!("int({})", all()),
            "aten::Float" => format!("float({})", all()),
            "aten::Complex" => format!("complex({})", all()),
            "aten::Bool" => format!("bool({})", all()),
            "aten::str" => format!("str({})", all()),
            "aten::sorted" => format!("sorted({})", all()),
            "prim::Print" => format!("print({})", all()),
            "aten::_unwrap_optional" => match self.is_none(node.inputs())? {
                // The type of the element has no other sign.
                true => format!("torch._unwrap_optional(annotate(Optional[{}], None))", self.output_type(id)?),
                false => format!("torch._unwrap_optional({})", one()?),
            },
            "prim::unchecked_cast" | "prim::unchecked_unwrap_optional" => {
                format!("unchecked_cast({}, {})", self.output_type(id)?, one()?)
            }
            "prim::isinstance" => self.is_instance(id, one()?)?,
            "prim::tolist" => format!("annotate({}, ({}).tolist())", self.output_type(id)?, one()?),
            "prim::EnumName" => format!("({}).name", one()?),
            "prim::EnumValue" => format!("({}).value", one()?),
            "aten::backward" => format!("torch.autograd.backward({})", all()),
            "aten::grad" => format!("torch.autograd.grad({})", all()),
            kind => self.operator(kind, node.inputs(), &inputs)?,
        })
    }

    /// The value of a constant.
    pub(super) fn constant(&mut self, id: NodeId) -> Result<String> {
        let node = self.graph.node(id)?;
        let &[output] = node.outputs() else { bail!(Runtime, "a constant has {} outputs", node.outputs().len()) };
        match (&self.graph.value(output)?.kind, node.attribute("name"), node.attribute("value")) {
            (_, Some(Attribute::Str(name)), _) => {
                let name = String::from_utf8_lossy(name);
                Ok(self.printer.function(&name)?.to_string())
            }
            (Type::Enum(class), _, Some(Attribute::Str(member))) => {
                let member = String::from_utf8_lossy(member);
                let member = member.rsplit('.').next().unwrap_or_default();
                Ok(format!("{}.{member}", self.printer.qualified(&class.name)))
            }
            (kind, _, value) => {
                let value = constant(kind, value)?;
                self.printer.literal(&value)
            }
        }
    }

    fn output_type(&mut self, id: NodeId) -> Result<String> {
        let node = self.graph.node(id)?;
        let &[output] = node.outputs() else { bail!(Runtime, "{} has {} outputs", node.kind, node.outputs().len()) };
        let kind = &self.graph.value(output)?.kind;
        Ok(self.printer.annotation(kind))
    }

    /// The attribute `name` of a node.
    pub(super) fn attribute_name(&self, id: NodeId) -> Result<String> {
        let node = self.graph.node(id)?;
        match node.attribute("name") {
            Some(Attribute::Str(bytes)) => Ok(String::from_utf8_lossy(bytes).into_owned()),
            _ => bail!(Runtime, "{} needs the attribute 'name'", node.kind),
        }
    }

    fn number(&self, id: NodeId, name: &str) -> Result<i64> {
        match self.graph.node(id)?.attribute(name) {
            Some(Attribute::Int(value)) => Ok(*value),
            _ => bail!(Runtime, "the attribute '{name}' is missing"),
        }
    }

    /// A list or dict; annotated if its elements do not tell its type.
    fn container(&mut self, id: NodeId, text: String, is_empty: bool) -> Result<String> {
        let node = self.graph.node(id)?;
        let &[output] = node.outputs() else { bail!(Runtime, "{} has {} outputs", node.kind, node.outputs().len()) };
        let kind = &self.graph.value(output)?.kind;
        let told = match kind {
            Type::List(element) => is_told_by_elements(element) && self.elements_are(node.inputs(), &[element])?,
            Type::Dict(pair) => is_told_by_elements(kind) && self.elements_are(node.inputs(), &[&pair.0, &pair.1])?,
            // A type that an annotation of a literal cannot have.
            Type::Any | Type::AnyList => true,
            _ => false,
        };
        Ok(self.printer.annotated(kind, text, told && !is_empty))
    }

    fn is_none(&self, inputs: &[ValueId]) -> Result<bool> {
        inputs.first().map_or(Ok(false), |&input| Ok(self.graph.value(input)?.kind == Type::None))
    }

    /// Whether the inputs have these types in turn.
    fn elements_are(&self, inputs: &[ValueId], kinds: &[&Type]) -> Result<bool> {
        for (&input, &kind) in inputs.iter().zip(kinds.iter().cycle()) {
            if self.graph.value(input)?.kind != *kind {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn tuple(&mut self, id: NodeId, inputs: &[String]) -> Result<String> {
        let output = self.graph.node(id)?.outputs().first().copied();
        let output = output.ok_or_else(|| err!(Runtime, "prim::TupleConstruct has no output"))?;
        Ok(match (&self.graph.value(output)?.kind, inputs) {
            (Type::NamedTuple(class), inputs) if !is_unnamed(class) => {
                format!("{}({})", self.printer.qualified(&class.name), inputs.join(", "))
            }
            (_, [single]) => format!("({single},)"),
            (_, inputs) => format!("({})", inputs.join(", ")),
        })
    }

    fn is_instance(&mut self, id: NodeId, value: &str) -> Result<String> {
        let Some(Attribute::List(kinds)) = self.graph.node(id)?.attribute("types") else {
            bail!(Runtime, "prim::isinstance needs the attribute 'types'")
        };
        let mut names = Vec::new();
        for kind in kinds {
            if let Attribute::Type(kind) = kind {
                names.push(self.printer.annotation(kind));
            }
        }
        Ok(match names.as_slice() {
            [single] => format!("isinstance({value}, {single})"),
            names => format!("isinstance({value}, ({}))", names.join(", ")),
        })
    }

    /// `torch.add(x, y, alpha=2)`, `ops.prim.dtype(x)`
    fn operator(&mut self, kind: &str, inputs: &[ValueId], texts: &[String]) -> Result<String> {
        let mut types = Vec::new();
        for &input in inputs {
            types.push(self.graph.value(input)?.kind.clone());
        }
        let schema = schema_of(kind, &types, &**self.printer.program)?;
        let mut arguments = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            arguments.push(match schema.arguments.get(index) {
                Some(argument) if argument.keyword_only => format!("{}={text}", argument.name),
                _ => text.clone(),
            });
        }
        let (namespace, name) = kind.split_once("::").ok_or_else(|| err!(Runtime, "'{kind}' is no operator"))?;
        let function = match namespace {
            "aten" => format!("torch.{name}"),
            _ => format!("ops.{namespace}.{name}"),
        };
        Ok(format!("{function}({})", arguments.join(", ")))
    }
}

/// The arguments of a call, each with a comma after it.
fn ended(arguments: &[String]) -> String {
    arguments.iter().map(|argument| format!("{argument}, ")).collect()
}
