//! Which values may share memory, and which memory is written.
//!
//! Values that may be the same, overlap, or contain one another are in one set, wherever in the graph that happens: the
//! order of nodes has no influence. What leaves the graph or comes from outside of it is in the same set as its inputs.

use super::effects::{calls_back, hidden_writes, is_structure, operator};
use crate::graph::{Attribute, Graph, Node, NodeId, ValueId};
use crate::runtime::resolve::{Candidate, Target};
use crate::schema::Schema;
use crate::types::{Resolver, Type};
use rushlight_base::Result;
use std::collections::{HashMap, HashSet};

/// What can be written: the elements of tensors, lists, dicts, the attributes of objects.
const TENSORS: u8 = 1;
const LISTS: u8 = 2;
const DICTS: u8 = 4;
const OBJECTS: u8 = 8;
const ALL: u8 = 15;

/// Types in types.
const MAX_DEPTH: usize = 32;

/// Operators whose result may be their argument or share its memory although their schema does not say so.
const SHARING: &[&str] = &[
    "aten::meshgrid",
    "aten::broadcast_tensors",
    "aten::dropout",
    "aten::feature_dropout",
    "aten::alpha_dropout",
    "aten::feature_alpha_dropout",
    "aten::atleast_1d",
    "aten::atleast_2d",
    "aten::atleast_3d",
    "aten::type_as",
    "aten::einsum",
    "aten::sum_to_size",
    "aten::cartesian_prod",
    "aten::pixel_shuffle",
    "aten::pixel_unshuffle",
    "aten::channel_shuffle",
    "aten::dequantize",
    "aten::to_dense",
    "aten::pad",
    "aten::_cast_Byte",
    "aten::_cast_Char",
    "aten::_cast_Double",
    "aten::_cast_Float",
    "aten::_cast_Half",
    "aten::_cast_Int",
    "aten::_cast_Long",
    "aten::_cast_Short",
    "aten::_conj_physical",
    "aten::_no_grad_embedding_renorm_",
    "aten::_pack_sequence",
    "aten::_pad_enum",
    "aten::_reshape_from_tensor",
    "aten::_to_cpu",
    "aten::_to_dense",
    "aten::_to_sparse",
    "aten::_unsafe_view",
    "prim::AutogradAdd",
    "quantized::dropout",
];

/// What of a value of this type can be written.
pub(super) fn mutable_parts(kind: &Type) -> u8 {
    parts(kind, MAX_DEPTH)
}

fn parts(kind: &Type, depth: usize) -> u8 {
    if depth == 0 {
        return ALL;
    }
    let any = |kinds: &[Type]| kinds.iter().fold(0, |mask, kind| mask | parts(kind, depth - 1));
    match kind {
        Type::Int
        | Type::Float
        | Type::Complex
        | Type::Number
        | Type::Bool
        | Type::Str
        | Type::None
        | Type::Device
        | Type::Stream
        | Type::Enum(_)
        | Type::Function(_) => 0,
        Type::Tensor => TENSORS,
        Type::List(element) => LISTS | parts(element, depth - 1),
        Type::Dict(kinds) => DICTS | parts(&kinds.0, depth - 1) | parts(&kinds.1, depth - 1),
        Type::Optional(element) => parts(element, depth - 1),
        Type::Tuple(elements) | Type::Union(elements) => any(elements),
        Type::NamedTuple(tuple) => tuple.fields.iter().fold(0, |mask, (_, kind)| mask | parts(kind, depth - 1)),
        _ => ALL,
    }
}

/// A part of memory that the caller of [`Aliases::with_places`] knows, such as the storage of a parameter.
pub(super) type Place = usize;

/// The place of all constants. No memory begins there.
const CONSTANTS: Place = Place::MAX;

/// The sets of values.
pub(super) struct Aliases {
    parents: Vec<u32>,
    values: HashMap<ValueId, u32>,
    written: Vec<u8>,
    /// Sets that are visible outside of the graph.
    visible: Vec<bool>,
    outside: u32,
    places: HashMap<Place, u32>,
}

impl Aliases {
    /// The sets of a graph.
    pub(super) fn new(graph: &Graph, types: &dyn Resolver) -> Result<Aliases> {
        Aliases::with_places(graph, types, &HashMap::new())
    }

    /// The sets of a graph in which the results of some nodes `prim::GetAttr` are known to be at certain places: they
    /// share memory with each other if the place is the same, and not with the other inputs of the graph.
    pub(super) fn with_places(
        graph: &Graph,
        types: &dyn Resolver,
        known: &HashMap<NodeId, Vec<Place>>,
    ) -> Result<Aliases> {
        let mut aliases = Aliases {
            parents: vec![0],
            values: HashMap::new(),
            written: vec![0],
            visible: vec![true],
            outside: 0,
            places: HashMap::new(),
        };
        for &input in graph.block(graph.top())?.inputs() {
            aliases.join_outside(graph, input)?;
        }
        let nodes = graph.all_nodes();
        let mut seen: HashSet<NodeId> = HashSet::new();
        for id in nodes {
            if !seen.insert(id) {
                continue;
            }
            match known.get(&id) {
                Some(places) => aliases.at_places(graph, id, places)?,
                None => aliases.node(graph, id, types)?,
            }
        }
        for &output in graph.block(graph.top())?.outputs() {
            if let Some(set) = aliases.set(graph, output)? {
                aliases.mark_visible(set);
            }
        }
        Ok(aliases)
    }

    // ---- questions -------------------------------------------------------------------------------------------

    /// Whether what the value is or refers to may be written anywhere in the graph.
    pub(super) fn is_written(&mut self, graph: &Graph, value: ValueId) -> Result<bool> {
        let mask = mutable_parts(&graph.value(value)?.kind);
        Ok(match self.set(graph, value)? {
            Some(set) => self.written.get(set as usize).is_some_and(|written| written & mask != 0),
            None => false,
        })
    }

    /// Whether the elements of a list may be replaced, added or removed anywhere in the graph. Writes into tensors that
    /// are its elements do not change which ones they are.
    pub(super) fn is_resized(&mut self, graph: &Graph, value: ValueId) -> Result<bool> {
        Ok(match self.set(graph, value)? {
            Some(set) => self.written.get(set as usize).is_some_and(|written| written & LISTS != 0),
            None => false,
        })
    }

    /// Whether what the value is or refers to may be known outside of the graph.
    pub(super) fn is_visible(&mut self, graph: &Graph, value: ValueId) -> Result<bool> {
        Ok(match self.set(graph, value)? {
            Some(set) => self.visible.get(set as usize).is_none_or(|visible| *visible),
            None => false,
        })
    }

    /// Whether a node reads memory that the graph writes somewhere, or gives out such memory.
    pub(super) fn touches_written(&mut self, graph: &Graph, node: &Node) -> Result<bool> {
        for &value in node.inputs().iter().chain(node.outputs()) {
            if self.is_written(graph, value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    // ---- sets ------------------------------------------------------------------------------------------------

    fn new_set(&mut self) -> u32 {
        let set = self.parents.len() as u32;
        self.parents.push(set);
        self.written.push(0);
        self.visible.push(false);
        set
    }

    fn root(&mut self, mut set: u32) -> u32 {
        while let Some(&parent) = self.parents.get(set as usize) {
            if parent == set {
                break;
            }
            let grandparent = self.parents.get(parent as usize).copied().unwrap_or(parent);
            if let Some(slot) = self.parents.get_mut(set as usize) {
                *slot = grandparent;
            }
            set = parent;
        }
        set
    }

    /// The set of a value; none for values that cannot change.
    fn set(&mut self, graph: &Graph, value: ValueId) -> Result<Option<u32>> {
        if mutable_parts(&graph.value(value)?.kind) == 0 {
            return Ok(None);
        }
        let set = match self.values.get(&value) {
            Some(&set) => set,
            None => {
                let set = self.new_set();
                self.values.insert(value, set);
                set
            }
        };
        Ok(Some(self.root(set)))
    }

    fn join_sets(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        let written = self.written.get(b as usize).copied().unwrap_or(ALL);
        let visible = self.visible.get(b as usize).copied().unwrap_or(true);
        if let Some(slot) = self.parents.get_mut(b as usize) {
            *slot = a;
        }
        if let Some(slot) = self.written.get_mut(a as usize) {
            *slot |= written;
        }
        if let Some(slot) = self.visible.get_mut(a as usize) {
            *slot |= visible;
        }
    }

    fn join(&mut self, graph: &Graph, a: ValueId, b: ValueId) -> Result<()> {
        if let (Some(a), Some(b)) = (self.set(graph, a)?, self.set(graph, b)?) {
            self.join_sets(a, b);
        }
        Ok(())
    }

    fn join_all(&mut self, graph: &Graph, values: impl IntoIterator<Item = ValueId>) -> Result<()> {
        let mut first: Option<u32> = None;
        for value in values {
            match (first, self.set(graph, value)?) {
                (Some(first), Some(set)) => self.join_sets(first, set),
                (None, set) => first = set,
                (_, None) => {}
            }
        }
        Ok(())
    }

    fn join_outside(&mut self, graph: &Graph, value: ValueId) -> Result<()> {
        let outside = self.outside;
        if let Some(set) = self.set(graph, value)? {
            self.join_sets(outside, set);
        }
        Ok(())
    }

    fn mark_visible(&mut self, set: u32) {
        let set = self.root(set);
        if let Some(slot) = self.visible.get_mut(set as usize) {
            *slot = true;
        }
    }

    fn write(&mut self, graph: &Graph, value: ValueId, mask: u8) -> Result<()> {
        if let Some(set) = self.set(graph, value)?
            && let Some(slot) = self.written.get_mut(set as usize)
        {
            *slot |= mask;
        }
        Ok(())
    }

    fn at_places(&mut self, graph: &Graph, id: NodeId, places: &[Place]) -> Result<()> {
        for &output in graph.node(id)?.outputs() {
            let Some(set) = self.set(graph, output)? else { continue };
            for &place in places {
                self.at_place(set, place);
            }
        }
        Ok(())
    }

    fn at_place(&mut self, set: u32, place: Place) {
        match self.places.get(&place) {
            Some(&known) => self.join_sets(known, set),
            None => {
                self.places.insert(place, set);
            }
        }
        self.mark_visible(set);
    }

    // ---- nodes -----------------------------------------------------------------------------------------------

    fn node(&mut self, graph: &Graph, id: NodeId, types: &dyn Resolver) -> Result<()> {
        let node = graph.node(id)?;
        let (inputs, outputs) = (node.inputs(), node.outputs());
        let everything = || inputs.iter().chain(outputs).copied();
        match &*node.kind {
            "prim::Constant" => self.constant(graph, node),
            "prim::If" => {
                for &block in node.blocks() {
                    let results = graph.block(block)?.outputs();
                    outputs.iter().zip(results).try_for_each(|(&output, &result)| self.join(graph, output, result))?;
                }
                Ok(())
            }
            "prim::Loop" => {
                for &block in node.blocks() {
                    let block = graph.block(block)?;
                    let carried = inputs.iter().skip(2).zip(block.inputs().iter().skip(1));
                    let results = block.outputs().iter().skip(1).zip(outputs);
                    for ((&input, &parameter), (&result, &output)) in carried.zip(results) {
                        self.join_all(graph, [input, parameter, result, output])?;
                    }
                }
                Ok(())
            }
            "prim::SetAttr" => {
                self.join_all(graph, everything())?;
                inputs.first().map_or(Ok(()), |&object| self.write(graph, object, OBJECTS))
            }
            // The element of a list of ints, say, refers to nothing.
            kind if is_structure(kind) => self.join_all(graph, everything()),
            _ => match operator(graph, node, types) {
                Some(candidate) if !calls_back(graph, node) => self.operator(graph, node, &candidate),
                _ => self.unknown(graph, node),
            },
        }
    }

    /// All constants with contents are one set: they may be parts of the same memory, and live as long as the graph.
    fn constant(&mut self, graph: &Graph, node: &Node) -> Result<()> {
        let is_shared = matches!(node.attribute("value"), Some(Attribute::Opaque(_) | Attribute::List(_)));
        for &output in node.outputs() {
            let Some(set) = self.set(graph, output)? else { continue };
            if is_shared {
                self.at_place(set, CONSTANTS);
            }
        }
        Ok(())
    }

    /// A node that may do anything with its inputs and with what is outside of the graph.
    fn unknown(&mut self, graph: &Graph, node: &Node) -> Result<()> {
        for &value in node.inputs().iter().chain(node.outputs()) {
            self.join_outside(graph, value)?;
        }
        let outside = self.root(self.outside);
        if let Some(slot) = self.written.get_mut(outside as usize) {
            *slot = ALL;
        }
        Ok(())
    }

    fn operator(&mut self, graph: &Graph, node: &Node, candidate: &Candidate) -> Result<()> {
        let schema = &candidate.schema;
        let is_builtin = matches!(candidate.target, Target::Builtin(_));
        for (argument, &input) in schema.arguments.iter().zip(node.inputs()) {
            if argument.written {
                let kind = &graph.value(input)?.kind;
                let mask = if is_builtin { outermost(kind) } else { mutable_parts(kind) };
                self.write(graph, input, mask)?;
                // What is put into a container becomes a part of it.
                if mask & TENSORS == 0 || &*node.kind == "aten::set_" {
                    self.join_all(graph, node.inputs().iter().chain(node.outputs()).copied())?;
                }
            }
        }
        for &at in hidden_writes(graph, node, candidate) {
            if let Some(&input) = node.inputs().get(at) {
                self.write(graph, input, TENSORS)?;
            }
        }
        for (at, &output) in node.outputs().iter().enumerate() {
            self.result(graph, node, schema, is_builtin, (at, output))?;
        }
        Ok(())
    }

    fn result(
        &mut self,
        graph: &Graph,
        node: &Node,
        schema: &Schema,
        is_builtin: bool,
        (at, output): (usize, ValueId),
    ) -> Result<()> {
        let aliases = schema.returns.get(at).map_or(&[][..], |value| &value.aliases);
        let kind = &graph.value(output)?.kind;
        // Elements of lists and dicts are passed on without being mentioned.
        let holds_others = is_builtin && mutable_parts(kind) & !outermost(kind) != 0 || mutable_parts(kind) == ALL;
        if holds_others || SHARING.contains(&&*node.kind) || aliases.iter().any(|set| &**set == "*") {
            return self.join_all(graph, node.inputs().iter().copied().chain([output]));
        }
        for (argument, &input) in schema.arguments.iter().zip(node.inputs()) {
            if argument.aliases.iter().any(|set| aliases.contains(set)) {
                self.join(graph, input, output)?;
            }
        }
        Ok(())
    }
}

/// The part of a value that is not in something else.
fn outermost(kind: &Type) -> u8 {
    match kind {
        Type::Tensor => TENSORS,
        Type::List(_) => LISTS,
        Type::Dict(_) => DICTS,
        Type::Optional(inner) => outermost(inner),
        _ => ALL,
    }
}
