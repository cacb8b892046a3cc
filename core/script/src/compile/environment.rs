//! The state of the compiler in a function: the graph, and variables in frames.

use super::function::Function;
use super::sugar::Sugar;
use super::unit::{Definition, File, Unit};
use crate::ast::{self, ExprId, Name};
use crate::graph::{Attribute, BlockId, Graph, Location, NodeId, ValueId};
use crate::schema::{Literal, Schema};
use crate::source::Span;
use crate::types::Type;
use rushlight_base::{Error, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A bool that may be known while compiling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Flag {
    Known(bool),
    Value(ValueId),
}

/// A variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) sugar: Sugar,
    /// The type that values assigned in inner blocks must have: as in PyTorch, the one that it has, also where that was
    /// narrowed, or that of an annotation.
    pub(super) declared: Option<Type>,
    /// False for a variable whose type was only narrowed.
    pub(super) assigned: bool,
}

/// Variables and exits of one block.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) block: BlockId,
    pub(super) variables: BTreeMap<Name, Variable>,
    /// Why a name has no value although it was assigned in a block.
    pub(super) missing: HashMap<Name, String>,
    /// Whether a `return`, `break` or `continue` ended the statements of this block.
    pub(super) done: Flag,
    /// Whether the loop around goes on; known if `done`.
    pub(super) goes_on: Flag,
    /// Whether a `return` was executed.
    pub(super) returned: Flag,
    /// The result of the function, if it returned.
    pub(super) result: Option<ValueId>,
    /// Whether the block always raises an exception.
    pub(super) throws: bool,
}

impl Frame {
    pub(super) fn new(block: BlockId) -> Frame {
        Frame {
            block,
            variables: BTreeMap::new(),
            missing: HashMap::new(),
            done: Flag::Known(false),
            goes_on: Flag::Known(true),
            returned: Flag::Known(false),
            result: None,
            throws: false,
        }
    }

    /// Whether code after the block cannot be reached from it.
    pub(super) fn is_left(&self) -> bool {
        self.throws || self.done == Flag::Known(true)
    }
}

/// How deep blocks of the graph may nest.
const MAX_FRAMES: usize = 400;

/// How deep statements and expressions may nest in calls of the compiler itself.
const MAX_DEPTH: usize = 220;

/// Compiles one function.
pub(super) struct Compiler<'u> {
    pub(super) unit: &'u Unit,
    pub(super) file: &'u Arc<File>,
    pub(super) name: Name,
    /// The class of a method.
    pub(super) class: Option<Name>,
    pub(super) graph: Graph,
    pub(super) frames: Vec<Frame>,
    /// The declared type of the result.
    pub(super) declared: Option<Type>,
    /// The type of all results so far, without a declaration.
    pub(super) merged: Option<Type>,
    /// What nodes are about.
    pub(super) span: Span,
    /// How many loops are around the statement.
    pub(super) loops: usize,
    /// Whether the innermost loop is unrolled.
    pub(super) unrolled: bool,
    /// Variables of the function around a nested one.
    pub(super) outer: Option<HashMap<Name, Sugar>>,
    /// The types of values in `outer`.
    pub(super) outer_types: HashMap<ValueId, Type>,
    /// Values of the function around that are inputs, after its own parameters.
    pub(super) captured: Vec<ValueId>,
    pub(super) depth: usize,
    pub(super) calls: BTreeSet<Name>,
    constants: HashMap<String, ValueId>,
    last_constant: Option<NodeId>,
    uninitialized_results: Vec<ValueId>,
}

impl<'u> Compiler<'u> {
    pub(super) fn new(unit: &'u Unit, name: &str, file: &'u Arc<File>) -> Compiler<'u> {
        let graph = Graph::new();
        let top = graph.top();
        Compiler {
            unit,
            file,
            name: name.into(),
            class: None,
            graph,
            frames: vec![Frame::new(top)],
            declared: None,
            merged: None,
            span: Span::default(),
            loops: 0,
            unrolled: false,
            outer: None,
            outer_types: HashMap::new(),
            captured: Vec::new(),
            depth: 0,
            calls: BTreeSet::new(),
            constants: HashMap::new(),
            last_constant: None,
            uninitialized_results: Vec::new(),
        }
    }

    /// The graph and schema of a function.
    pub(super) fn compile(
        unit: &'u Unit,
        name: &str,
        definition: &Definition,
        file: &'u Arc<File>,
        tree: &ast::Function,
    ) -> Result<Function> {
        let mut compiler = Compiler::new(unit, name, file);
        if let Definition::Method(class, ..) | Definition::Added(class, ..) = definition {
            compiler.class = Some(class.clone());
        }
        let arguments = unit.arguments(Some(definition), file, tree)?;
        let top = compiler.graph.top();
        for argument in &arguments {
            let Some(kind) = argument.kind.concrete() else { continue };
            let input = compiler.graph.add_input(top, kind.clone())?;
            compiler.graph.set_name(input, &argument.name)?;
            compiler.bind(&argument.name, Sugar::Value(input), Some(kind));
        }
        compiler.declared = tree.returns.map(|returns| unit.annotation(file, returns)).transpose()?;
        let returns = compiler.body(tree)?;
        compiler.cleanup()?;
        Ok(Function {
            name: name.into(),
            schema: Schema::new(name, arguments, returns).into(),
            graph: compiler.graph,
            calls: compiler.calls.into_iter().collect(),
        })
    }

    /// The statements of a function and its result; returns the type of the result.
    pub(super) fn body(&mut self, tree: &ast::Function) -> Result<Type> {
        self.span = tree.span;
        self.function_statements(tree)?;
        let kind = self.declared.clone().or(self.merged.clone()).unwrap_or(Type::None);
        for value in std::mem::take(&mut self.uninitialized_results) {
            self.graph.value_mut(value)?.kind = kind.clone();
        }
        let frame = self.frame();
        let result = match (frame.result, frame.throws) {
            (Some(result), _) => result,
            (None, true) => self.uninitialized(&kind)?,
            (None, false) => self.none()?,
        };
        let top = self.graph.top();
        self.graph.add_output(top, result)?;
        Ok(kind)
    }

    /// Enters a level of recursion of the compiler.
    pub(super) fn deepen(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH || self.frames.len() > MAX_FRAMES {
            return Err(self.error("the code is nested too deeply"));
        }
        Ok(())
    }

    /// An error about what is being compiled.
    #[cold]
    pub(super) fn error(&self, message: impl AsRef<str>) -> Error {
        self.file.module.source.error(self.span, message)
    }

    pub(super) fn frame(&self) -> &Frame {
        // There is always the frame of the function.
        &self.frames[self.frames.len() - 1]
    }

    pub(super) fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn block(&self) -> BlockId {
        self.frame().block
    }

    pub(super) fn kind(&self, value: ValueId) -> Type {
        self.graph.value(value).map_or(Type::None, |value| value.kind.clone())
    }

    pub(super) fn type_name(&self, value: ValueId) -> String {
        self.kind(value).annotation_str()
    }

    pub(super) fn is_subtype(&self, kind: &Type, of: &Type) -> bool {
        kind.is_subtype_of(of, self.unit)
    }

    pub(super) fn expr_span(&self, id: ExprId) -> Span {
        self.file.module.expr(id).span
    }

    /// Runs `run` with another range for nodes and errors.
    pub(super) fn at<T>(&mut self, span: Span, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = std::mem::replace(&mut self.span, span);
        let result = run(self);
        self.span = outer;
        result
    }

    pub(super) fn location(&self) -> Location {
        let (line, column) = self.file.position(self.span.start);
        Location { file: self.file.module.source.name().into(), line, column }
    }

    /// Appends a node to the current block.
    pub(super) fn node(&mut self, kind: &str, inputs: &[ValueId], outputs: &[Type]) -> Result<NodeId> {
        let node = self.graph.append(self.block(), kind, inputs, outputs)?;
        self.graph.node_mut(node)?.location = Some(self.location());
        Ok(node)
    }

    /// Appends a node with one output.
    pub(super) fn apply(&mut self, kind: &str, inputs: &[ValueId], output: Type) -> Result<ValueId> {
        let node = self.node(kind, inputs, &[output])?;
        self.output(node)
    }

    /// [`apply`](Self::apply) for a node with one attribute.
    pub(super) fn apply_named(&mut self, kind: &str, name: &str, inputs: &[ValueId], output: Type) -> Result<ValueId> {
        let node = self.node(kind, inputs, &[output])?;
        let attribute = Attribute::Str(name.as_bytes().into());
        self.graph.node_mut(node)?.attributes.push(("name".into(), attribute));
        self.output(node)
    }

    pub(super) fn output(&self, node: NodeId) -> Result<ValueId> {
        let output = self.graph.node(node)?.outputs().first().copied();
        output.ok_or_else(|| self.error("internal error: a node without output is used as a value"))
    }

    /// A constant, at the start of the graph. Equal constants are one value.
    pub(super) fn constant(&mut self, kind: Type, value: Option<Attribute>) -> Result<ValueId> {
        let is_shared = !matches!(value, Some(Attribute::Opaque(_) | Attribute::List(_)));
        let key = format!("{} {value:?}", kind.schema_str());
        if is_shared && let Some(&known) = self.constants.get(&key) {
            return Ok(known);
        }
        let top = self.graph.top();
        let next = match self.last_constant {
            Some(last) => self.graph.nodes(top).skip_while(|&node| node != last).nth(1),
            None => self.graph.nodes(top).next(),
        };
        let node = match next {
            Some(next) => self.graph.insert_before(next, "prim::Constant", &[], &[kind])?,
            None => self.graph.append(top, "prim::Constant", &[], &[kind])?,
        };
        self.last_constant = Some(node);
        let location = self.location();
        let data = self.graph.node_mut(node)?;
        data.location = Some(location);
        data.attributes.extend(value.map(|value| ("value".into(), value)));
        let output = self.output(node)?;
        if is_shared {
            self.constants.insert(key, output);
        }
        Ok(output)
    }

    pub(super) fn int(&mut self, value: i64) -> Result<ValueId> {
        self.constant(Type::Int, Some(Attribute::Int(value)))
    }

    pub(super) fn bool(&mut self, value: bool) -> Result<ValueId> {
        self.constant(Type::Bool, Some(Attribute::Int(i64::from(value))))
    }

    pub(super) fn string(&mut self, value: &[u8]) -> Result<ValueId> {
        self.constant(Type::Str, Some(Attribute::Str(value.into())))
    }

    pub(super) fn none(&mut self) -> Result<ValueId> {
        self.constant(Type::None, None)
    }

    /// A function as a value.
    pub(super) fn function_constant(&mut self, name: &str) -> Result<ValueId> {
        let node = self.node("prim::Constant", &[], &[Type::Function(name.into())])?;
        let attribute = Attribute::Str(name.as_bytes().into());
        self.graph.node_mut(node)?.attributes.push(("name".into(), attribute));
        self.output(node)
    }

    /// A literal as a value of a type.
    pub(super) fn literal(&mut self, literal: &Literal, kind: &Type) -> Result<ValueId> {
        Ok(match literal {
            Literal::None => self.none()?,
            Literal::Bool(value) => self.bool(*value)?,
            Literal::Int(value) => self.int(*value)?,
            Literal::Float(value) => self.constant(Type::Float, Some(Attribute::Float(*value)))?,
            Literal::Complex(real, imaginary) => {
                self.constant(Type::Complex, Some(Attribute::Complex(*real, *imaginary)))?
            }
            Literal::Str(bytes) => self.string(bytes)?,
            Literal::List(items) => {
                let element = match kind.members().into_iter().find(|member| matches!(member, Type::List(_))) {
                    Some(Type::List(element)) => Type::clone(&element),
                    _ => items.first().map_or(Type::Tensor, super::literal::type_of_literal),
                };
                let values = items.iter().map(|item| self.literal(item, &element)).collect::<Result<Vec<_>>>()?;
                self.apply("prim::ListConstruct", &values, element.list())?
            }
            Literal::Tuple(items) => {
                let kinds = kind.elements().unwrap_or_default();
                let values = items.iter().enumerate().map(|(index, item)| {
                    let kind = kinds.get(index).cloned().unwrap_or(Type::Any);
                    self.literal(item, &kind)
                });
                let values = values.collect::<Result<Vec<_>>>()?;
                self.tuple(&values)?
            }
            Literal::Enum(member) => {
                let kind = super::literal::type_of_literal(literal);
                self.enum_constant(&kind, &member.name)?
            }
        })
    }

    pub(super) fn tuple(&mut self, values: &[ValueId]) -> Result<ValueId> {
        let kinds: Vec<Type> = values.iter().map(|&value| self.kind(value)).collect();
        self.apply("prim::TupleConstruct", values, Type::tuple(kinds))
    }

    /// The elements of a tuple.
    pub(super) fn unpack(&mut self, value: ValueId) -> Result<Vec<ValueId>> {
        let Some(kinds) = self.kind(value).elements() else {
            return Err(self.error(format!("{} cannot be used as a tuple", self.type_name(value))));
        };
        let node = self.node("prim::TupleUnpack", &[value], &kinds)?;
        Ok(self.graph.node(node)?.outputs().to_vec())
    }

    pub(super) fn uninitialized(&mut self, kind: &Type) -> Result<ValueId> {
        self.apply("prim::Uninitialized", &[], kind.clone())
    }

    /// What stands for the result where the function did not return; its type is set at the end.
    pub(super) fn uninitialized_result(&mut self) -> Result<ValueId> {
        let kind = self.declared.clone().or(self.merged.clone()).unwrap_or(Type::None);
        let value = self.uninitialized(&kind)?;
        self.uninitialized_results.push(value);
        Ok(value)
    }

    /// Marks a value whose type is that of the result.
    pub(super) fn results_changed(&mut self, value: ValueId) {
        self.uninitialized_results.push(value);
    }

    pub(super) fn flag(&mut self, flag: Flag) -> Result<ValueId> {
        match flag {
            Flag::Known(value) => self.bool(value),
            Flag::Value(value) => Ok(value),
        }
    }

    /// Sets a variable of the current frame without checks.
    pub(super) fn bind(&mut self, name: &Name, sugar: Sugar, declared: Option<Type>) {
        let frame = self.frame_mut();
        frame.missing.remove(name);
        frame.variables.insert(name.clone(), Variable { sugar, declared, assigned: true });
    }

    /// Narrows the type of a variable in the current frame.
    pub(super) fn refine(&mut self, name: &Name, value: ValueId) {
        let declared = Some(self.kind(value));
        let known = self.frame().variables.get(name).is_some_and(|variable| variable.assigned);
        let variable = Variable { sugar: Sugar::Value(value), declared, assigned: known };
        self.frame_mut().variables.insert(name.clone(), variable);
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Variable> {
        for frame in self.frames.iter().rev() {
            if let Some(variable) = frame.variables.get(name) {
                return Some(variable);
            }
            if frame.missing.contains_key(name) {
                return None;
            }
        }
        None
    }

    /// Why a name has no value.
    pub(super) fn missing(&self, name: &str) -> Option<&String> {
        self.frames.iter().rev().find_map(|frame| frame.missing.get(name))
    }

    /// The variable as inner blocks see it: in a frame around the current one.
    fn outer_variable(&self, name: &str) -> Option<&Variable> {
        self.frames.iter().rev().skip(1).find_map(|frame| frame.variables.get(name))
    }

    /// Assigns a variable, as `name = value` and `name: annotation = value` do.
    pub(super) fn assign_name(&mut self, name: &Name, sugar: Sugar, annotation: Option<Type>) -> Result<()> {
        let outer = self.outer_variable(name).map(|variable| (variable.sugar.clone(), variable.declared.clone()));
        let Sugar::Value(mut value) = sugar else {
            if outer.is_some() {
                let message = format!(
                    "Cannot re-assign '{name}' to a value of type {} because {name} is not a first-class value. Only \
                     reassignments to first-class values are allowed",
                    sugar.describe(self)
                );
                return Err(self.error(message));
            }
            self.bind(name, sugar, None);
            return Ok(());
        };
        if let Some(annotation) = &annotation {
            value = self.converted(value, annotation, false)?;
            if !self.is_subtype(&self.kind(value), annotation) {
                let message = format!(
                    "Variable '{name}' is annotated with type {} but is being assigned to a value of type {}",
                    annotation.annotation_str(),
                    self.type_name(value)
                );
                return Err(self.error(message));
            }
        }
        let mut declared = annotation.clone().unwrap_or_else(|| self.kind(value));
        if let Some((outer, outer_type)) = outer {
            if annotation.is_some() && self.frame().block != self.graph.top() {
                let message = format!(
                    "Attempting to declare and annotate the type of variable '{name}' that is already defined in an \
                     outer block"
                );
                return Err(self.error(message));
            }
            let (Sugar::Value(_), Some(expected)) = (outer, outer_type) else {
                let message = format!(
                    "Cannot re-assign '{name}' because it has type value and {name} is not a first-class value. Only \
                     reassignments to first-class values are allowed"
                );
                return Err(self.error(message));
            };
            value = self.converted(value, &expected, true)?;
            let kind = self.kind(value);
            if !self.is_subtype(&kind, &expected) {
                let mut message = format!(
                    "Variable '{name}' previously had type {} but is now being assigned to a value of type {}\n",
                    expected.annotation_str(),
                    kind.annotation_str()
                );
                if matches!((&expected, &kind), (Type::List(_), Type::List(_))) {
                    message.push_str(
                        "Empty lists default to List[Tensor]. Add a variable annotation to the assignment to create an \
                         empty list of another type (torch.jit.annotate(List[T, []]) where T is the type of elements in \
                         the list for Python 2)\n",
                    );
                }
                return Err(self.error(message));
            }
            declared = expected;
        }
        let unnamed = self.graph.value(value)?.origin();
        if is_meaningful(name) && matches!(unnamed, crate::graph::Origin::Node(_)) && !self.is_constant(value) {
            let current = self.graph.name(value);
            if current.bytes().all(|byte| byte.is_ascii_digit()) {
                self.graph.set_name(value, name)?;
            }
        }
        if annotation.is_some()
            && matches!(declared, Type::Optional(_) | Type::Union(_))
            && self.kind(value) != declared
        {
            value = self.apply("prim::unchecked_cast", &[value], declared.clone())?;
        }
        self.bind(name, Sugar::Value(value), Some(declared));
        Ok(())
    }

    pub(super) fn is_constant(&self, value: ValueId) -> bool {
        self.constant_of(value).is_some()
    }

    /// The node of a value, if it is a constant.
    pub(super) fn constant_of(&self, value: ValueId) -> Option<NodeId> {
        match self.graph.value(value).ok()?.origin() {
            crate::graph::Origin::Node(node) if &*self.graph.node(node).ok()?.kind == "prim::Constant" => Some(node),
            _ => None,
        }
    }

    /// The value of a constant int or bool.
    pub(super) fn constant_int(&self, value: ValueId) -> Option<i64> {
        match self.graph.node(self.constant_of(value)?).ok()?.attribute("value")? {
            Attribute::Int(value) => Some(*value),
            _ => None,
        }
    }
}

/// Whether a name is worth to be kept in the graph: `_0` and `_` are not.
fn is_meaningful(name: &str) -> bool {
    let rest = name.trim_start_matches('_');
    !rest.is_empty() && (!name.starts_with('_') || rest.bytes().any(|byte| !byte.is_ascii_digit()))
}
