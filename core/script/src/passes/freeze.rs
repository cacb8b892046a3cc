//! Modules whose attributes have become constants.

use super::alias::{Aliases, Place};
use super::inline::replace_call;
use super::prune::{Frozen, rebuild};
use super::{fold_batch_norms, insert_constant, only_output, optimize, remove_dropout, replace_node};
use crate::ast::Name;
use crate::builtins::call;
use crate::graph::{Attribute, Graph, NodeId, User, ValueId};
use crate::module::Module;
use crate::program::Program;
use crate::runtime::dict::Dict;
use crate::runtime::function::Linker;
use crate::runtime::list::List;
use crate::runtime::object::{Object, Tuple};
use crate::runtime::value::Value;
use crate::types::Type;
use rushlight_base::{DType, Result, bail, ensure, err, list};
use rushlight_tensor::Tensor;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// An attribute: the address of its object, and its name.
pub(super) type Slot = (usize, Name);

/// A copy of a module in which the attributes that its methods read are constants of the graphs: parameters, buffers,
/// settings. It has the method `forward` and those of `preserved`; attributes of `preserved` and those that methods
/// change stay attributes. Its tensors are those of the module, without gradients. With `optimize_numerics`, batch norms
/// are folded into the layers before them, which changes results by rounding.
pub fn freeze(module: &Module, preserved: &[&str], optimize_numerics: bool) -> Result<Module> {
    frozen(module, preserved, optimize_numerics, None)
}

fn frozen(module: &Module, preserved: &[&str], optimize_numerics: bool, compiled: Option<DType>) -> Result<Module> {
    let program = module.program();
    let root = module.object();
    if let Some(slot) = root.class().slot("training") {
        let is_training = matches!(root.attributes().get(slot), Some((_, Value::Bool(true))));
        ensure!(
            !is_training,
            Runtime,
            "Freezing is currently only implemented for modules in eval mode. Please call eval() on your module before \
             freezing."
        );
    }
    let mut freezer = Freezer::new(program, root);
    let mut methods: Vec<(Name, Graph)> = Vec::new();
    for name in freezer.choose(module, preserved)? {
        let method = module.method(&name)?;
        methods.push((name, Graph::clone(method.known_graph()?)));
    }
    for (_, graph) in &mut methods {
        freezer.inline(graph)?;
    }
    // Settings first: what a branch writes that never runs, such as that of training, does not count.
    let preserved = (freezer.kept.clone(), freezer.whole.clone(), freezer.written.clone());
    for (_, graph) in &methods {
        freezer.find_changes(graph)?;
    }
    for (_, graph) in &mut methods {
        freezer.insert_constants(graph, |places| places.is_empty())?;
        optimize(graph, &**program)?;
    }
    (freezer.kept, freezer.whole, freezer.written) = preserved;
    for (_, graph) in &methods {
        freezer.find_changes(graph)?;
    }
    for (_, graph) in &mut methods {
        freezer.insert_constants(graph, |_| true)?;
        optimize(graph, &**program)?;
        if optimize_numerics {
            fold_batch_norms(graph, &**program)?;
        }
        remove_dropout(graph)?;
        optimize(graph, &**program)?;
    }
    let frozen = rebuild(program, root, &freezer.kept, &freezer.whole, methods)?;
    define(module, frozen, compiled)
}

/// A module that is made to run fast: it is frozen with the method `forward` and `other_methods`, batch norms are folded,
/// dropout is removed, and each method is compiled for the shapes of the inputs that it is called with (see
/// [`plan`](crate::plan)). The module must be in evaluation mode.
pub fn optimize_for_inference(module: &Module, other_methods: &[&str]) -> Result<Module> {
    compile(module, other_methods, DType::F32)
}

/// Like [`optimize_for_inference`], with the matrices of linear layers in the dtype `weights`: `F32`, `BF16`, or `I8` with a
/// scale for each output. Results are those of the module with its weights rounded, up to the rounding of sums.
pub fn compile(module: &Module, other_methods: &[&str], weights: DType) -> Result<Module> {
    let is_known = matches!(weights, DType::F32 | DType::BF16 | DType::I8);
    ensure!(is_known, Value, "compiled modules keep weights in float32, bfloat16 or int8, not in {weights}");
    frozen(module, other_methods, true, Some(weights))
}

fn define(module: &Module, frozen: Frozen, compiled: Option<DType>) -> Result<Module> {
    let old = module.class();
    let mut methods = Vec::new();
    for (name, graph) in frozen.methods {
        let schema = module.method(&name)?.schema.clone();
        methods.push((name, graph, schema));
    }
    debug_assert!(old != &frozen.object.class().name);
    module.program().define_frozen(&frozen.object, frozen.children, methods, compiled)?;
    Ok(Module::new(module.program().clone(), frozen.object))
}

struct Freezer<'p> {
    program: &'p Arc<Program>,
    root: Object,
    /// Objects by their address; they are kept alive so that addresses stay unique.
    objects: HashMap<usize, Object>,
    /// Attributes that stay.
    kept: HashSet<Slot>,
    /// Modules that are used as values: nothing of them becomes a constant.
    whole: HashSet<usize>,
    /// Memory that a method writes.
    written: HashSet<Place>,
}

impl<'p> Freezer<'p> {
    fn new(program: &'p Arc<Program>, root: &Object) -> Freezer<'p> {
        Freezer {
            program,
            root: root.clone(),
            objects: HashMap::from([(root.address(), root.clone())]),
            kept: HashSet::new(),
            whole: HashSet::new(),
            written: HashSet::new(),
        }
    }

    /// The methods that are preserved. Attributes among the names are marked.
    fn choose(&mut self, module: &Module, preserved: &[&str]) -> Result<Vec<Name>> {
        let methods = module.methods()?;
        let mut chosen: Vec<Name> = methods.iter().filter(|name| &***name == "forward").cloned().collect();
        for &name in preserved {
            if let Some(method) = methods.iter().find(|method| &***method == name) {
                if !chosen.contains(method) {
                    chosen.push(method.clone());
                }
                continue;
            }
            self.keep_attribute(name).map_err(|_| err!(Runtime, "Unknown name: {name}"))?;
        }
        ensure!(!chosen.is_empty() || !preserved.is_empty(), Runtime, "the module has no method 'forward' to freeze");
        Ok(chosen)
    }

    /// Keeps `a.b.c`: the attribute `c` of the module `a.b`.
    fn keep_attribute(&mut self, path: &str) -> Result<()> {
        let mut object = self.root.clone();
        let mut parts = path.split('.').peekable();
        while let Some(part) = parts.next() {
            let value = object.get(part)?;
            self.kept.insert((object.address(), part.into()));
            match value {
                Value::Object(inner) if parts.peek().is_some() => object = self.remember(inner),
                Value::Object(inner) => self.keep_whole(inner),
                value if parts.peek().is_some() => return Err(value.is_not("object")),
                value => self.written.extend(places(&value)),
            }
        }
        Ok(())
    }

    fn remember(&mut self, object: Object) -> Object {
        self.objects.insert(object.address(), object.clone());
        object
    }

    /// Nothing of this object, or of what is in it, becomes a constant.
    fn keep_whole(&mut self, object: Object) {
        let mut pending = vec![Value::Object(object)];
        while let Some(value) = pending.pop() {
            match value {
                Value::Object(object) => {
                    if self.whole.insert(object.address()) {
                        pending.extend(object.attributes().into_iter().map(|(_, value)| value));
                        self.remember(object);
                    }
                }
                Value::List(list) if list.element() != &Type::Tensor => pending.extend(list.values()),
                Value::Dict(dict) => pending.extend(dict.entries().into_iter().map(|(_, value)| value)),
                Value::Tuple(tuple) => pending.extend(tuple.items().iter().cloned()),
                other => self.written.extend(places(&other)),
            }
        }
    }

    // ---- which module a value is ---------------------------------------------------------------------------

    /// Replaces calls by what they call. The classes of modules are those of the objects, also behind interfaces.
    fn inline(&mut self, graph: &mut Graph) -> Result<()> {
        let mut known = self.begin(graph)?;
        let mut pending: Vec<NodeId> = graph.all_nodes();
        pending.reverse();
        while let Some(id) = pending.pop() {
            let node = graph.node(id)?;
            if node.block().is_none() {
                continue;
            }
            let Some((callee, skipped)) = self.callee(graph, id, &known)? else {
                self.read(graph, id, &mut known)?;
                continue;
            };
            let before = graph.node_count();
            replace_call(graph, id, &callee, skipped)?;
            let mut new: Vec<NodeId> = graph.nodes_since(before).collect();
            new.reverse();
            pending.extend(new);
        }
        Ok(())
    }

    fn begin(&self, graph: &Graph) -> Result<HashMap<ValueId, Object>> {
        let own = graph.block(graph.top())?.inputs().first().copied();
        let own = own.ok_or_else(|| err!(Runtime, "a method has no argument 'self'"))?;
        Ok(HashMap::from([(own, self.root.clone())]))
    }

    fn callee(
        &self,
        graph: &Graph,
        id: NodeId,
        known: &HashMap<ValueId, Object>,
    ) -> Result<Option<(Arc<Graph>, usize)>> {
        let node = graph.node(id)?;
        if &*node.kind == "prim::CallMethod"
            && let Some(object) = node.inputs().first().and_then(|input| known.get(input))
            && let Some(Attribute::Str(name)) = node.attribute("name")
        {
            let method = self.program.method(&object.class().name, &String::from_utf8_lossy(name))?;
            return Ok(Some((method.known_graph()?.clone(), 0)));
        }
        Ok(super::inline::callee(graph, node, &**self.program)?
            .map(|(function, skipped)| (function.graph.clone(), skipped)))
    }

    /// The module that `prim::GetAttr` reads.
    fn read(&mut self, graph: &Graph, id: NodeId, known: &mut HashMap<ValueId, Object>) -> Result<()> {
        if let Some((object, name)) = slot_of(graph, id, known)?
            && let Ok(Value::Object(inner)) = object.get(&name)
            && self.program.is_module(&inner.class().name)
        {
            known.insert(only_output(graph, id)?, self.remember(inner));
        }
        Ok(())
    }

    /// The modules that the values of a graph without calls are.
    fn modules(&mut self, graph: &Graph) -> Result<HashMap<ValueId, Object>> {
        let mut known = self.begin(graph)?;
        for id in graph.all_nodes() {
            self.read(graph, id, &mut known)?;
        }
        Ok(known)
    }

    // ---- what changes --------------------------------------------------------------------------------------

    /// Finds the attributes that a method sets or whose value it writes.
    fn find_changes(&mut self, graph: &Graph) -> Result<()> {
        let known = self.modules(graph)?;
        for (&value, object) in &known {
            for user in graph.value(value)?.users() {
                if !is_access(graph, *user)? {
                    self.keep_whole(object.clone());
                }
            }
        }
        let mut at: HashMap<NodeId, Vec<Place>> = HashMap::new();
        for id in graph.all_nodes() {
            let Some((object, name)) = slot_of(graph, id, &known)? else { continue };
            let value = object.get(&name)?;
            if &*graph.node(id)?.kind == "prim::SetAttr" {
                let is_module = matches!(&value, Value::Object(inner) if self.program.is_module(&inner.class().name));
                ensure!(!is_module, Runtime, "Freezing does not support a method that replaces the module '{name}'");
                self.kept.insert((object.address(), name));
                self.written.extend(places(&value));
            } else {
                let places = places(&value);
                if !places.is_empty() {
                    at.insert(id, places);
                }
            }
        }
        let mut aliases = Aliases::with_places(graph, &**self.program, &at)?;
        for (id, places) in at {
            if aliases.is_written(graph, only_output(graph, id)?)? {
                self.written.extend(places);
            }
        }
        Ok(())
    }

    /// Replaces the attributes of modules that nothing changes, of those whose memory `is_chosen`.
    fn insert_constants(&mut self, graph: &mut Graph, is_chosen: fn(&[Place]) -> bool) -> Result<()> {
        let known = self.modules(graph)?;
        for id in graph.all_nodes() {
            let node = graph.node(id)?;
            if node.block().is_none() || &*node.kind != "prim::GetAttr" {
                continue;
            }
            let Some((object, name)) = slot_of(graph, id, &known)? else { continue };
            let value = object.get(&name)?;
            let memory = places(&value);
            let stays = self.whole.contains(&object.address())
                || self.kept.contains(&(object.address(), name))
                || memory.iter().any(|place| self.written.contains(place));
            if stays || !is_chosen(&memory) || has_object(&value, MAX_DEPTH) {
                continue;
            }
            let kind = graph.value(only_output(graph, id)?)?.kind.clone();
            let constant = insert_constant(graph, id, &detached(&value, MAX_DEPTH)?, &kind)?;
            replace_node(graph, id, constant)?;
        }
        Ok(())
    }
}

/// The attribute that a node reads or sets, if its object is known.
pub(super) fn slot_of(graph: &Graph, id: NodeId, known: &HashMap<ValueId, Object>) -> Result<Option<(Object, Name)>> {
    let node = graph.node(id)?;
    if !matches!(&*node.kind, "prim::GetAttr" | "prim::SetAttr") {
        return Ok(None);
    }
    let object = node.inputs().first().and_then(|input| known.get(input));
    Ok(match (object, node.attribute("name")) {
        (Some(object), Some(Attribute::Str(name))) => {
            Some((object.clone(), String::from_utf8_lossy(name).as_ref().into()))
        }
        _ => None,
    })
}

/// Whether a use of a module reads or sets one of its attributes.
fn is_access(graph: &Graph, user: User) -> Result<bool> {
    Ok(match user {
        User::Node(node, 0) => matches!(&*graph.node(node)?.kind, "prim::GetAttr" | "prim::SetAttr"),
        _ => false,
    })
}

/// Values in values.
const MAX_DEPTH: usize = 64;

/// The memory that a value refers to: storages of tensors, and what else can be changed.
fn places(value: &Value) -> Vec<Place> {
    let mut found = Vec::new();
    let mut pending = vec![value.clone()];
    while let Some(value) = pending.pop() {
        match value {
            Value::Tensor(tensor) => found.push(storage_of(&tensor)),
            Value::List(list) => {
                found.push(list.address());
                if !matches!(list.element(), Type::Int | Type::Float | Type::Bool | Type::Str) {
                    pending.extend(list.values());
                }
            }
            Value::Dict(dict) => {
                found.push(dict.address());
                pending.extend(dict.entries().into_iter().map(|(_, value)| value));
            }
            Value::Tuple(tuple) => pending.extend(tuple.items().iter().cloned()),
            // Each instance has its own copy of the name.
            Value::Custom(object) => found.push(object.class_name().as_ptr().addr()),
            _ => {}
        }
    }
    found
}

/// The address of the elements; that of the tensor itself if it has none, or has no storage.
fn storage_of(tensor: &Tensor) -> Place {
    let is_strided = tensor.components().is_none() && tensor.numel() > 0;
    let data = if is_strided { tensor.storage().data().addr() } else { 0 };
    if data == 0 { tensor.address() } else { data }
}

/// Whether a value holds instances of the program's classes, whose attributes can be changed, or what cannot be a
/// constant.
fn has_object(value: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    match value {
        Value::Object(_) | Value::Future(_) | Value::Generator(_) | Value::Stream(_) | Value::Storage(_) => true,
        Value::List(list) => list.values().iter().any(|value| has_object(value, depth)),
        Value::Tuple(tuple) => tuple.items().iter().any(|value| has_object(value, depth)),
        Value::Dict(dict) => dict.entries().iter().any(|(_, value)| has_object(value, depth)),
        _ => false,
    }
}

/// The value with tensors that need no gradient.
fn detached(value: &Value, depth: usize) -> Result<Value> {
    let Some(depth) = depth.checked_sub(1) else { bail!(Runtime, "values are nested more than {MAX_DEPTH} deep") };
    let all = |values: &[Value]| list::try_collect(values.iter().map(|value| detached(value, depth)));
    Ok(match value {
        Value::Tensor(tensor) if tensor.requires_grad() => call("detach", "", std::slice::from_ref(value))?,
        Value::List(list) if list.element() == &Type::Tensor => {
            List::from_values(list.element().clone(), all(&list.values())?)?.into()
        }
        Value::Tuple(tuple) => match tuple.class() {
            Some(class) => Tuple::named(class.clone(), all(tuple.items())?).into(),
            None => Tuple::new(all(tuple.items())?).into(),
        },
        Value::Dict(dict) if dict.value_type() == &Type::Tensor => {
            let entries = dict.entries();
            let entries = entries.iter().map(|(key, value)| Ok((key.clone(), detached(value, depth)?)));
            Dict::from_entries(dict.key_type().clone(), dict.value_type().clone(), list::try_collect(entries)?)?.into()
        }
        other => other.clone(),
    })
}
