//! Appends a node for each operator call of the thread. Tensors are known by identity.

use super::tree::Tree;
use super::{appended, convolution};
use crate::ast::Name;
use crate::graph::{Graph, NodeId, ValueId};
use crate::runtime::attribute_of;
use crate::runtime::convert::from_operator;
use crate::runtime::value::Value;
use crate::types::Type;
use rushlight_base::runtime::{self, LogLevel};
use rushlight_base::{DimVec, Result, Scalar, bail, ensure, err, list};
use rushlight_schema::{self as signature, BaseType, Signature};
use rushlight_tensor::dispatch::{self, MAX_DEPTH, Values, trace::Tracer};
use rushlight_tensor::{Op, Tensor, WeakTensor, ops};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The tracer of a thread.
pub(super) struct Recorder {
    pub(super) state: Mutex<State>,
    /// Whether calls are recorded: false after the end, also on a thread that was not told.
    on: AtomicBool,
}

/// A trace so far.
pub(super) struct State {
    pub(super) graph: Graph,
    pub(super) tree: Tree,
    pub(super) inputs: Vec<(Name, ValueId)>,
    /// The type of what the function returns, when it has returned.
    pub(super) result: Option<Type>,
    /// The values that are modules, by path.
    pub(super) modules: HashMap<String, ValueId>,
    /// The values of tensors by address. The weak references keep the addresses from being used again.
    values: HashMap<usize, (WeakTensor, ValueId)>,
    /// Parameters and buffers that were read, by path.
    attributes: HashMap<String, ValueId>,
    /// The sizes of the tensors that values were, in the order of the values.
    sizes: Vec<(ValueId, DimVec)>,
    /// Copies of the arguments, and the result.
    examples: Vec<dispatch::Value>,
    output: Option<dispatch::Value>,
}

impl Recorder {
    pub(super) fn new(class: &str, training: bool) -> Result<Recorder> {
        let tree = Tree::new(class, training)?;
        let mut graph = Graph::new();
        let own = graph.add_input(graph.top(), Type::Class("__torch__.Module".into()))?;
        graph.set_name(own, "self")?;
        let state = State {
            graph,
            tree,
            inputs: Vec::new(),
            result: None,
            modules: HashMap::from([(String::new(), own)]),
            values: HashMap::new(),
            attributes: HashMap::new(),
            sizes: Vec::new(),
            examples: Vec::new(),
            output: None,
        };
        Ok(Recorder { state: Mutex::new(state), on: AtomicBool::new(true) })
    }

    pub(super) fn end(&self) {
        self.on.store(false, Ordering::Relaxed);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tracer for Recorder {
    fn call(&self, op: &Op, args: &[dispatch::Value], results: &mut Values) -> Result<()> {
        if !self.on.load(Ordering::Relaxed) {
            return op.call_into(args, results);
        }
        let replaced = convolution::recorded(op, args)?;
        let (recorded, values) = match &replaced {
            Some((op, args)) => (op, args.as_slice()),
            None => (op, args),
        };
        let signature = recorded.signature();
        if !is_recorded(&signature) {
            self.state().warn_of_numbers(&signature, args);
            return op.call_into(args, results);
        }
        // In-place operators: the inputs are the values that the tensors have before the call.
        let inputs = self.state().arguments(&signature, values)?;
        op.call_into(args, results)?;
        self.state().call(&signature, &inputs, results)
    }

    fn is_over(&self) -> bool {
        !self.on.load(Ordering::Relaxed)
    }

    fn read_number(&self, tensor: &Tensor) {
        if self.on.load(Ordering::Relaxed) && self.state().is_tracked(tensor) {
            warn("a number");
        }
    }
}

/// Whether a node stands for the call: if it returns tensors, or only writes into arguments.
fn is_recorded(signature: &Signature) -> bool {
    let is_written = |ty: &signature::Type| ty.alias.as_ref().is_some_and(|alias| alias.write);
    match &*signature.returns {
        [] => signature.arguments.iter().any(|argument| is_written(&argument.ty)),
        returns => returns.iter().any(|result| result.ty.base == BaseType::Tensor),
    }
}

/// In PyTorch's words.
fn warn(kind: &str) {
    runtime::log(LogLevel::Warning, || {
        format!(
            "TracerWarning: Converting a tensor to {kind} might cause the trace to be incorrect. We can't record the data \
             flow of Python values, so this value will be treated as a constant in the future. This means that the trace \
             might not generalize to other inputs!"
        )
    });
}

impl State {
    // ---- arguments of calls --------------------------------------------------------------------------------

    /// The values of the arguments of a call.
    fn arguments(&mut self, signature: &Signature, args: &[dispatch::Value]) -> Result<Vec<ValueId>> {
        let mut inputs = list::with_capacity(args.len())?;
        for (argument, value) in signature.arguments.iter().zip(args) {
            let input = match value {
                dispatch::Value::Tensor(tensor) if is_written(argument) => self.written(tensor),
                _ => self.value(value, &argument.ty),
            };
            let context =
                |error: rushlight_base::Error| error.context(format!("{} cannot be traced", name_of(signature)));
            inputs.push(input.map_err(context)?);
        }
        Ok(inputs)
    }

    fn value(&mut self, value: &dispatch::Value, ty: &signature::Type) -> Result<ValueId> {
        match value {
            // Generators are of the process: the trace uses the default one.
            dispatch::Value::None | dispatch::Value::Generator(_) => self.constant(Value::None),
            dispatch::Value::Tensor(tensor) => self.tensor(tensor),
            dispatch::Value::Tensors(tensors) => {
                let optional = ty.list.as_ref().is_some_and(|list| list.optional_elements);
                let element = if optional { Type::Tensor.optional()? } else { Type::Tensor };
                self.list(element, tensors, |state, tensor| match tensor {
                    Some(tensor) => state.tensor(tensor),
                    None => state.constant(Value::None),
                })
            }
            dispatch::Value::Ints(ints) => self.list(Type::Int, ints, |state, &int| state.constant(Value::Int(int))),
            dispatch::Value::Floats(floats) => {
                self.list(Type::Float, floats, |state, &float| state.constant(Value::Float(float)))
            }
            dispatch::Value::Bools(bools) => {
                self.list(Type::Bool, bools, |state, &flag| state.constant(Value::Bool(flag)))
            }
            dispatch::Value::Scalar(scalar) => {
                let number = match (ty.base, *scalar) {
                    (BaseType::Float, scalar) if ty.list.is_none() => Scalar::Float(scalar.to_f64()),
                    (BaseType::Bool, Scalar::Int(int)) => Scalar::Bool(int != 0),
                    (BaseType::Int, Scalar::Bool(flag)) => Scalar::Int(i64::from(flag)),
                    (_, scalar) => scalar,
                };
                self.constant(from_operator(dispatch::Value::Scalar(number))?)
            }
            other => self.constant(from_operator(other.clone())?),
        }
    }

    fn list<T>(
        &mut self,
        element: Type,
        items: &[T],
        mut value: impl FnMut(&mut State, &T) -> Result<ValueId>,
    ) -> Result<ValueId> {
        let mut inputs = list::with_capacity(items.len())?;
        for item in items {
            inputs.push(value(self, item)?);
        }
        appended(&mut self.graph, "prim::ListConstruct", &inputs, element.list())
    }

    fn constant(&mut self, value: Value) -> Result<ValueId> {
        let kind = value.type_of();
        let top = self.graph.top();
        let node = self.graph.append(top, "prim::Constant", &[], &[kind])?;
        self.graph.node_mut(node)?.attributes.extend(attribute_of(&value).map(|value| ("value".into(), value)));
        self.output_of(node, 0)
    }

    fn output_of(&self, node: NodeId, index: usize) -> Result<ValueId> {
        let node = self.graph.node(node)?;
        node.outputs().get(index).copied().ok_or_else(|| err!(Internal, "{} has no output {index}", node.kind))
    }

    // ---- tensors -------------------------------------------------------------------------------------------

    fn known(&self, tensor: &Tensor) -> Option<ValueId> {
        self.values.get(&tensor.address()).map(|(_, value)| *value)
    }

    fn is_tracked(&self, tensor: &Tensor) -> bool {
        self.known(tensor).is_some() || self.tree.path_of(tensor).is_some()
    }

    /// The value of a tensor: what a call has computed, an argument, an attribute of a module, or a constant.
    fn tensor(&mut self, tensor: &Tensor) -> Result<ValueId> {
        if let Some(value) = self.known(tensor) {
            return Ok(value);
        }
        if let Some(path) = self.tree.path_of(tensor).map(str::to_owned) {
            return self.attribute(&path, tensor);
        }
        if tensor.requires_grad() {
            bail!(
                Runtime,
                "Cannot insert a Tensor that requires grad as a constant. Consider making it a parameter or input, or \
                 detaching the gradient"
            );
        }
        // A copy: a constant does not change when the program writes into the tensor.
        let value = self.constant(Value::Tensor(ops::clone(tensor, None)?))?;
        self.set(tensor, value)?;
        Ok(value)
    }

    /// The value of a tensor that the call writes. A constant is copied first: it stays what it is.
    fn written(&mut self, tensor: &Tensor) -> Result<ValueId> {
        if self.is_tracked(tensor) {
            return self.tensor(tensor);
        }
        let constant = self.tensor(tensor)?;
        let format = self.constant(Value::None)?;
        let copy = appended(&mut self.graph, "aten::clone", &[constant, format], Type::Tensor)?;
        self.set(tensor, copy)?;
        Ok(copy)
    }

    fn set(&mut self, tensor: &Tensor, value: ValueId) -> Result<()> {
        self.values.insert(tensor.address(), (tensor.downgrade(), value));
        list::push(&mut self.sizes, (value, tensor.sizes()))
    }

    /// The value of a parameter or buffer, by its path.
    fn attribute(&mut self, path: &str, tensor: &Tensor) -> Result<ValueId> {
        if let Some(value) = self.attributes.get(path) {
            return Ok(*value);
        }
        let mut owner = String::new();
        let mut object = self.modules.get("").copied().ok_or_else(|| err!(Internal, "the trace has no module"))?;
        let mut parts = path.split('.').peekable();
        while let Some(part) = parts.next() {
            let is_last = parts.peek().is_none();
            let inner = if owner.is_empty() { part.to_owned() } else { format!("{owner}.{part}") };
            object = match self.modules.get(&inner) {
                Some(&known) => known,
                None => {
                    // The class of a module gets its name when all attributes are known.
                    let kind = if is_last { Type::Tensor } else { Type::Class("__torch__.Module".into()) };
                    self.read(object, part, kind)?
                }
            };
            if !is_last {
                self.modules.insert(inner.clone(), object);
            }
            owner = inner;
        }
        self.attributes.insert(owner, object);
        list::push(&mut self.sizes, (object, tensor.sizes()))?;
        Ok(object)
    }

    fn read(&mut self, object: ValueId, name: &str, kind: Type) -> Result<ValueId> {
        let top = self.graph.top();
        let node = self.graph.append(top, "prim::GetAttr", &[object], &[kind])?;
        let name = crate::graph::Attribute::Str(name.as_bytes().into());
        self.graph.node_mut(node)?.attributes.push(("name".into(), name));
        self.output_of(node, 0)
    }

    // ---- calls ---------------------------------------------------------------------------------------------

    /// Appends the node of a call.
    fn call(&mut self, signature: &Signature, inputs: &[ValueId], results: &[dispatch::Value]) -> Result<()> {
        let kinds: Vec<Type> = list::try_collect(signature.returns.iter().map(|result| kind_of(&result.ty)))?;
        let top = self.graph.top();
        let node = self.graph.append(top, &name_of(signature), inputs, &kinds)?;
        for (index, result) in results.iter().enumerate().take(kinds.len()) {
            let output = self.output_of(node, index)?;
            self.bind(output, result)?;
        }
        Ok(())
    }

    /// The tensors of a result are the values that it consists of.
    fn bind(&mut self, value: ValueId, result: &dispatch::Value) -> Result<()> {
        match result {
            dispatch::Value::Tensor(tensor) => self.set(tensor, value),
            dispatch::Value::Tensors(tensors) => {
                let kinds = vec![Type::Tensor; tensors.len()];
                let top = self.graph.top();
                let node = self.graph.append(top, "prim::ListUnpack", &[value], &kinds)?;
                for (index, tensor) in tensors.iter().enumerate() {
                    let output = self.output_of(node, index)?;
                    if let Some(tensor) = tensor {
                        self.set(tensor, output)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn warn_of_numbers(&self, signature: &Signature, args: &[dispatch::Value]) {
        let kind = match &*signature.name {
            "equal" | "is_nonzero" | "allclose" => "a boolean",
            "item" | "_local_scalar_dense" => "a number",
            _ => return,
        };
        let mut tracked = false;
        args.iter().for_each(|value| value.for_each_tensor(|tensor| tracked |= self.is_tracked(tensor)));
        if tracked {
            warn(kind);
        }
    }

    // ---- arguments and results of the function -------------------------------------------------------------

    pub(super) fn input(&mut self, name: &str, value: &dispatch::Value) -> Result<()> {
        let is_new = name != "self" && !self.inputs.iter().any(|(other, _)| &**other == name);
        ensure!(super::names::is_argument(name) && is_new, Value, "'{name}' cannot be the name of an argument");
        let kind = traced_type(value, MAX_DEPTH)?;
        let copy = copied(value, MAX_DEPTH)?;
        let top = self.graph.top();
        let input = self.graph.add_input(top, kind)?;
        self.graph.set_name(input, name)?;
        self.unpack(input, value, name)?;
        list::push(&mut self.inputs, (name.into(), input))?;
        list::push(&mut self.examples, copy)
    }

    fn unpack(&mut self, value: ValueId, given: &dispatch::Value, name: &str) -> Result<()> {
        match given {
            dispatch::Value::Tensor(tensor) => {
                ensure!(
                    !self.is_tracked(tensor),
                    Value,
                    "the argument '{name}' has a tensor that is another argument or a parameter: pass a view or copy of it"
                );
                self.set(tensor, value)
            }
            dispatch::Value::Tensors(tensors) => {
                for tensor in tensors.iter().flatten() {
                    ensure!(
                        !self.is_tracked(tensor),
                        Value,
                        "the argument '{name}' has a tensor that is another argument"
                    );
                }
                self.bind(value, given)
            }
            dispatch::Value::List(items) => self.unpack_items("prim::ListUnpack", value, items, name),
            dispatch::Value::Tuple(items) => self.unpack_items("prim::TupleUnpack", value, items, name),
            dispatch::Value::Dict(entries) => {
                for (key, item) in entries.iter() {
                    let index = self.constant(from_operator(key.clone())?)?;
                    let kind = traced_type(item, MAX_DEPTH)?;
                    let found = appended(&mut self.graph, "aten::__getitem__", &[value, index], kind)?;
                    self.unpack(found, item, name)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn unpack_items(&mut self, kind: &str, value: ValueId, items: &[dispatch::Value], name: &str) -> Result<()> {
        let kinds: Vec<Type> = list::try_collect(items.iter().map(|item| traced_type(item, MAX_DEPTH)))?;
        let top = self.graph.top();
        let node = self.graph.append(top, kind, &[value], &kinds)?;
        for (index, item) in items.iter().enumerate() {
            let output = self.output_of(node, index)?;
            self.unpack(output, item, name)?;
        }
        Ok(())
    }

    pub(super) fn output(&mut self, value: &dispatch::Value) -> Result<()> {
        ensure!(self.result.is_none(), Runtime, "the trace has an output already");
        let kind = match value {
            dispatch::Value::None => Type::None,
            value => traced_type(value, MAX_DEPTH).map_err(|_| {
                err!(
                    Runtime,
                    "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions, not {}",
                    value.kind()
                )
            })?,
        };
        let output = self.pack(value)?;
        let top = self.graph.top();
        self.graph.add_output(top, output)?;
        self.result = Some(kind);
        self.output = Some(value.clone());
        Ok(())
    }

    fn pack(&mut self, value: &dispatch::Value) -> Result<ValueId> {
        match value {
            dispatch::Value::Tensor(tensor) => self.tensor(tensor),
            dispatch::Value::Tensors(tensors) => self.list(Type::Tensor, tensors, |state, tensor| match tensor {
                Some(tensor) => state.tensor(tensor),
                None => state.constant(Value::None),
            }),
            dispatch::Value::Tuple(items) => self.construct("prim::TupleConstruct", items, value),
            dispatch::Value::List(items) => self.construct("prim::ListConstruct", items, value),
            dispatch::Value::Dict(entries) => {
                let mut inputs = Vec::new();
                for (key, item) in entries.iter() {
                    list::push(&mut inputs, self.constant(from_operator(key.clone())?)?)?;
                    list::push(&mut inputs, self.pack(item)?)?;
                }
                appended(&mut self.graph, "prim::DictConstruct", &inputs, traced_type(value, MAX_DEPTH)?)
            }
            _ => self.constant(Value::None),
        }
    }

    fn construct(&mut self, kind: &str, items: &[dispatch::Value], whole: &dispatch::Value) -> Result<ValueId> {
        let mut inputs = list::with_capacity(items.len())?;
        for item in items {
            inputs.push(self.pack(item)?);
        }
        appended(&mut self.graph, kind, &inputs, traced_type(whole, MAX_DEPTH)?)
    }

    /// The arguments and the result of the example.
    pub(super) fn example(&self) -> Result<(Vec<dispatch::Value>, dispatch::Value)> {
        let inputs = list::try_collect(self.examples.iter().map(|value| copied(value, MAX_DEPTH)))?;
        Ok((inputs, self.output.clone().unwrap_or_default()))
    }

    /// The sizes of values that are tensors, the arguments first.
    pub(super) fn known_sizes(&self) -> Vec<(ValueId, DimVec)> {
        self.sizes.clone()
    }
}

fn is_written(argument: &signature::Argument) -> bool {
    argument.ty.alias.as_ref().is_some_and(|alias| alias.write)
}

/// `aten::add`
fn name_of(signature: &Signature) -> String {
    match &*signature.namespace {
        "" => format!("aten::{}", signature.name),
        namespace => format!("{namespace}::{}", signature.name),
    }
}

/// The type of a result.
fn kind_of(ty: &signature::Type) -> Result<Type> {
    let element = match ty.base {
        BaseType::Tensor => Type::Tensor,
        BaseType::Int | BaseType::ScalarType | BaseType::Layout | BaseType::MemoryFormat => Type::Int,
        BaseType::Float => Type::Float,
        BaseType::Bool => Type::Bool,
        BaseType::Str => Type::Str,
        BaseType::Scalar => Type::Number,
        BaseType::Device => Type::Device,
        _ => Type::Any,
    };
    let whole = if ty.list.is_some() { element.list() } else { element };
    if ty.optional { whole.optional() } else { Ok(whole) }
}

/// The type of an argument or result of a traced function.
fn traced_type(value: &dispatch::Value, depth: usize) -> Result<Type> {
    let inner = |value: &dispatch::Value| match depth {
        0 => Err(err!(Value, "values are nested more than {MAX_DEPTH} deep")),
        depth => traced_type(value, depth - 1),
    };
    match value {
        dispatch::Value::Tensor(_) => Ok(Type::Tensor),
        // A tensor that is not defined, in a tuple.
        dispatch::Value::None if depth < MAX_DEPTH => Ok(Type::None),
        dispatch::Value::Tensors(tensors) if tensors.iter().all(Option::is_some) => Ok(Type::Tensor.list()),
        dispatch::Value::Tuple(items) => Ok(Type::tuple(list::try_collect(items.iter().map(inner))?)),
        dispatch::Value::List(items) => {
            let kinds: Vec<Type> = list::try_collect(items.iter().map(inner))?;
            let first = kinds.first().cloned().unwrap_or(Type::Tensor);
            ensure!(kinds.iter().all(|kind| *kind == first), Type, "a list in a trace has values of different types");
            Ok(first.list())
        }
        dispatch::Value::Dict(entries) => {
            let kinds: Vec<Type> = list::try_collect(entries.iter().map(|(_, value)| inner(value)))?;
            let Some(first) = kinds.first() else { bail!(Type, "an empty dict cannot be traced") };
            ensure!(kinds.iter().all(|kind| kind == first), Type, "a dict in a trace has values of different types");
            let key = entries.iter().next().map_or(Type::Str, |(key, _)| match key {
                dispatch::Value::Scalar(_) => Type::Int,
                _ => Type::Str,
            });
            Type::dict(key, first.clone())
        }
        other => bail!(
            Type,
            "Type '{}' cannot be traced. Only Tensors and (possibly nested) Lists, Dicts, and Tuples of Tensors can be traced",
            other.kind()
        ),
    }
}

/// The value with copies of its tensors, which need no gradient.
fn copied(value: &dispatch::Value, depth: usize) -> Result<dispatch::Value> {
    let copy = |tensor: &Tensor| ops::clone(&ops::detach(tensor)?, None);
    let Some(depth) = depth.checked_sub(1) else { bail!(Value, "values are nested more than {MAX_DEPTH} deep") };
    let all = |items: &[dispatch::Value]| list::try_collect(items.iter().map(|item| copied(item, depth)));
    Ok(match value {
        dispatch::Value::Tensor(tensor) => dispatch::Value::Tensor(copy(tensor)?),
        dispatch::Value::Tensors(tensors) => {
            let tensors = tensors.iter().map(|tensor| tensor.as_ref().map(&copy).transpose());
            dispatch::Value::Tensors(list::try_collect(tensors)?)
        }
        dispatch::Value::Tuple(items) => dispatch::Value::Tuple(dispatch::Items::new(all(items)?)?),
        dispatch::Value::List(items) => dispatch::Value::List(dispatch::Items::new(all(items)?)?),
        dispatch::Value::Dict(entries) => {
            let entries = entries.iter().map(|(key, value)| Ok((key.clone(), copied(value, depth)?)));
            dispatch::Value::Dict(dispatch::Dict::new(list::try_collect(entries)?)?)
        }
        other => other.clone(),
    })
}
