//! From a graph to code. Each value gets a register, which is emptied at its last use and then given to another value.

use super::code::{Arithmetic, AttributeName, Code, Instruction, MAX_INDEX, Operand, Reg, Site, UNUSED};
use super::constant::{constant, member};
use super::function::Linker;
use super::object::Class;
use super::resolve::{Target, resolve};
use super::value::Value;
use crate::ast::Name;
use crate::builtins;
use crate::graph::{Attribute, BlockId, Graph, NodeId, Origin, User, ValueId};
use crate::types::Type;
use rushlight_base::{Result, bail, ensure, err};
use std::collections::HashMap;
use std::sync::Arc;

/// Graphs in graphs (`prim::fork`).
const MAX_GRAPHS: usize = 64;

/// The code of a graph.
pub(super) fn lower(name: &Name, graph: &Graph, linker: &dyn Linker) -> Result<Code> {
    lower_within(name, graph, linker, MAX_GRAPHS)
}

fn lower_within(name: &Name, graph: &Graph, linker: &dyn Linker, depth: usize) -> Result<Code> {
    ensure!(depth > 0, Runtime, "graphs are nested more than {MAX_GRAPHS} deep");
    let mut lowering = Lowering {
        graph,
        linker,
        depth,
        code: Code::empty(name.clone()),
        operands: HashMap::new(),
        last_uses: last_uses(graph)?,
        free: Vec::new(),
        pinned: HashMap::new(),
        location: 0,
    };
    lowering.function()?;
    Ok(lowering.code)
}

/// Where a value is used last, in the block that defines it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastUse {
    /// As an input of the node or, if `nested`, somewhere in its blocks.
    Node { node: NodeId, nested: bool },
    /// As an output of the block.
    End,
}

/// Where the values of a graph are used last; those that are not used are not in it.
pub(crate) fn last_uses(graph: &Graph) -> Result<HashMap<ValueId, LastUse>> {
    // The order of the nodes, blocks inside of their node.
    let mut order: HashMap<NodeId, usize> = HashMap::new();
    let mut values: Vec<(ValueId, BlockId)> = Vec::new();
    let mut blocks = vec![graph.top()];
    while let Some(block) = blocks.pop() {
        values.extend(graph.block(block)?.inputs().iter().map(|&input| (input, block)));
        for (position, node) in graph.nodes(block).enumerate() {
            order.insert(node, position);
            values.extend(graph.node(node)?.outputs().iter().map(|&output| (output, block)));
            blocks.extend(graph.node(node)?.blocks());
        }
    }
    let mut last_uses = HashMap::new();
    for (value, home) in values {
        let mut last: Option<(usize, LastUse)> = None;
        for &user in graph.value(value)?.users() {
            let (position, found) = match user_in(graph, user, home)? {
                None => (usize::MAX, LastUse::End),
                Some((node, nested)) => (order.get(&node).copied().unwrap_or(0), LastUse::Node { node, nested }),
            };
            let later = match last {
                None => true,
                // A use in a block of the node is after its inputs were read.
                Some((best, known)) => {
                    position > best || position == best && matches!(known, LastUse::Node { nested: false, .. })
                }
            };
            if later {
                last = Some((position, found));
            }
        }
        if let Some((_, last)) = last {
            last_uses.insert(value, last);
        }
    }
    Ok(last_uses)
}

/// The node of the block `home` in which a use is, and whether it is in a block of that node; none at the block's end.
fn user_in(graph: &Graph, user: User, home: BlockId) -> Result<Option<(NodeId, bool)>> {
    let (mut node, mut nested) = match user {
        User::Node(node, _) => (node, false),
        User::Block(block, _) if block == home => return Ok(None),
        User::Block(block, _) => {
            let owner = graph.block(block)?.owner().ok_or_else(|| err!(Runtime, "a block has no node"))?;
            (owner, true)
        }
    };
    loop {
        let block = graph.node(node)?.block().ok_or_else(|| err!(Runtime, "a node that was removed is used"))?;
        if block == home {
            return Ok(Some((node, nested)));
        }
        let owner = graph.block(block)?.owner();
        node = owner.ok_or_else(|| err!(Runtime, "a value is used outside of the block that defines it"))?;
        nested = true;
    }
}

struct Lowering<'g> {
    graph: &'g Graph,
    linker: &'g dyn Linker,
    depth: usize,
    code: Code,
    operands: HashMap<ValueId, Operand>,
    last_uses: HashMap<ValueId, LastUse>,
    free: Vec<Reg>,
    /// Registers that loops keep.
    pinned: HashMap<Reg, ()>,
    location: u32,
}

/// What is still to be lowered, innermost last.
enum Step {
    Node(NodeId),
    Else(NodeId, usize),
    EndIf(NodeId, usize, usize),
    EndLoop { node: NodeId, head: usize, state: Reg, carried: Vec<Reg> },
}

impl Lowering<'_> {
    fn function(&mut self) -> Result<()> {
        let top = self.graph.top();
        for &input in self.graph.block(top)?.inputs() {
            let register = self.new_register()?;
            self.operands.insert(input, Operand::register(register));
        }
        self.code.inputs = self.code.registers;
        let unused: Vec<Reg> = (0..self.code.inputs)
            .zip(self.graph.block(top)?.inputs())
            .filter(|(_, input)| !self.last_uses.contains_key(input))
            .map(|(register, _)| register)
            .collect();
        self.drop_registers(&unused);
        let mut steps: Vec<Step> = self.nodes_of(top);
        while let Some(step) = steps.pop() {
            match step {
                Step::Node(node) => self.node(node, &mut steps)?,
                Step::Else(node, branch) => self.otherwise(node, branch, &mut steps)?,
                Step::EndIf(node, jump, block) => self.end_if(node, jump, block)?,
                Step::EndLoop { node, head, state, carried } => self.end_loop(node, head, state, &carried)?,
            }
        }
        let outputs = self.block_outputs(top)?;
        self.code.outputs = outputs.len();
        let first = self.code.operands.len() as u32;
        self.code.operands.extend(&outputs);
        self.location = 0;
        self.emit(Instruction::Return { first, count: outputs.len() as u32 });
        Ok(())
    }

    fn nodes_of(&self, block: BlockId) -> Vec<Step> {
        let mut steps: Vec<Step> = self.graph.nodes(block).map(Step::Node).collect();
        steps.reverse();
        steps
    }

    // ---- registers -----------------------------------------------------------------------------------------

    fn new_register(&mut self) -> Result<Reg> {
        let register = self.code.registers;
        ensure!(register < MAX_INDEX, Runtime, "a function has more than {MAX_INDEX} values");
        self.code.registers += 1;
        Ok(register)
    }

    fn register(&mut self) -> Result<Reg> {
        match self.free.pop() {
            Some(register) => Ok(register),
            None => self.new_register(),
        }
    }

    fn release(&mut self, register: Reg) {
        if !self.pinned.contains_key(&register) {
            self.free.push(register);
        }
    }

    fn operand(&self, value: ValueId) -> Result<Operand> {
        let operand = self.operands.get(&value).copied();
        operand.ok_or_else(|| err!(Runtime, "%{} is used before it is defined", self.graph.name(value)))
    }

    /// The inputs of a node. Registers whose last use this is are marked and released.
    fn inputs(&mut self, node: NodeId) -> Result<Vec<Operand>> {
        let inputs = self.graph.node(node)?.inputs();
        let mut operands = Vec::with_capacity(inputs.len());
        for (index, &input) in inputs.iter().enumerate() {
            let mut operand = self.operand(input)?;
            let last = self.last_uses.get(&input) == Some(&LastUse::Node { node, nested: false });
            let again = inputs.get(index + 1..).unwrap_or_default().contains(&input);
            if last && !again && !operand.is_constant() {
                self.release(operand.index() as Reg);
                operand = operand.last();
            }
            operands.push(operand);
        }
        Ok(operands)
    }

    /// The registers of a node's outputs.
    fn outputs(&mut self, node: NodeId) -> Result<Vec<Reg>> {
        let mut registers = Vec::new();
        for &output in self.graph.node(node)?.outputs() {
            registers.push(self.output(output)?);
        }
        Ok(registers)
    }

    fn output(&mut self, output: ValueId) -> Result<Reg> {
        if !self.last_uses.contains_key(&output) {
            return Ok(UNUSED);
        }
        let register = self.register()?;
        self.operands.insert(output, Operand::register(register));
        Ok(register)
    }

    /// The outputs of a block. Those whose last use this is are marked and released.
    fn block_outputs(&mut self, block: BlockId) -> Result<Vec<Operand>> {
        let outputs = self.graph.block(block)?.outputs();
        let mut operands = Vec::with_capacity(outputs.len());
        for (index, &output) in outputs.iter().enumerate() {
            let mut operand = self.operand(output)?;
            let ours = match self.graph.value(output)?.origin() {
                Origin::Block(home) => home == block,
                Origin::Node(node) => self.graph.node(node)?.block() == Some(block),
            };
            let again = outputs.get(index + 1..).unwrap_or_default().contains(&output);
            if ours && !again && self.last_uses.get(&output) == Some(&LastUse::End) && !operand.is_constant() {
                self.release(operand.index() as Reg);
                operand = operand.last();
            }
            operands.push(operand);
        }
        Ok(operands)
    }

    /// Empties the registers of values that the blocks of a node used last.
    fn drop_after(&mut self, node: NodeId) -> Result<()> {
        let mut registers: Vec<Reg> = Vec::new();
        let mut blocks: Vec<BlockId> = self.graph.node(node)?.blocks().to_vec();
        while let Some(block) = blocks.pop() {
            let mut used: Vec<ValueId> = self.graph.block(block)?.outputs().to_vec();
            for inner in self.graph.nodes(block) {
                used.extend(self.graph.node(inner)?.inputs());
                blocks.extend(self.graph.node(inner)?.blocks());
            }
            for value in used {
                if self.last_uses.get(&value) == Some(&LastUse::Node { node, nested: true })
                    && let Some(operand) = self.operands.get(&value)
                    && !operand.is_constant()
                {
                    registers.push(operand.index() as Reg);
                }
            }
        }
        registers.sort_unstable();
        registers.dedup();
        self.drop_registers(&registers);
        Ok(())
    }

    fn drop_registers(&mut self, registers: &[Reg]) {
        if registers.is_empty() {
            return;
        }
        let first = self.code.targets.len() as u32;
        self.code.targets.extend(registers);
        self.emit(Instruction::Drop { first, count: registers.len() as u32 });
        registers.iter().for_each(|&register| self.release(register));
    }

    // ---- instructions --------------------------------------------------------------------------------------

    fn emit(&mut self, instruction: Instruction) -> usize {
        self.code.instructions.push(instruction);
        self.code.places.push(self.location);
        self.code.instructions.len() - 1
    }

    fn here(&self) -> u32 {
        self.code.instructions.len() as u32
    }

    /// Sets the destination of a jump to the next instruction.
    fn land(&mut self, jump: usize) {
        let here = self.here();
        match self.code.instructions.get_mut(jump) {
            Some(Instruction::Jump { to } | Instruction::Unless { to, .. }) => *to = here,
            Some(Instruction::Loop { exit, .. }) => *exit = here,
            _ => {}
        }
    }

    fn locate(&mut self, node: NodeId) -> Result<()> {
        let location = self.graph.node(node)?.location.clone();
        self.location = match location {
            None => 0,
            Some(location) if self.code.locations.last() == Some(&location) => self.code.locations.len() as u32,
            Some(location) => {
                self.code.locations.push(location);
                self.code.locations.len() as u32
            }
        };
        Ok(())
    }

    /// The inputs and outputs of a node, stored.
    fn site(&mut self, node: NodeId) -> Result<u32> {
        let inputs = self.inputs(node)?;
        let outputs = self.outputs(node)?;
        self.site_of(&inputs, &outputs)
    }

    fn site_of(&mut self, inputs: &[Operand], outputs: &[Reg]) -> Result<u32> {
        let site = Site {
            inputs: (self.code.operands.len() as u32, inputs.len() as u32),
            outputs: (self.code.targets.len() as u32, outputs.len() as u32),
        };
        self.code.operands.extend(inputs);
        self.code.targets.extend(outputs);
        self.code.sites.push(site);
        Ok(self.code.sites.len() as u32 - 1)
    }

    fn name(&mut self, node: NodeId) -> Result<Name> {
        let node = self.graph.node(node)?;
        match node.attribute("name") {
            Some(Attribute::Str(bytes)) => Ok(String::from_utf8_lossy(bytes).into()),
            _ => bail!(Runtime, "{} needs the attribute 'name'", node.kind),
        }
    }

    fn intern<T>(list: &mut Vec<T>, item: T) -> u32 {
        list.push(item);
        list.len() as u32 - 1
    }

    fn node(&mut self, id: NodeId, steps: &mut Vec<Step>) -> Result<()> {
        self.locate(id)?;
        let kind = self.graph.node(id)?.kind.clone();
        match &*kind {
            "prim::Constant" => self.constant(id),
            "prim::Uninitialized" => self.undefined(id),
            "prim::If" => self.condition(id, steps),
            "prim::Loop" => self.begin_loop(id, steps),
            "prim::ListConstruct" | "prim::DictConstruct" => self.container(id),
            "prim::TupleConstruct" => self.tuple(id),
            "prim::TupleUnpack" => self.with_site(id, |site| Instruction::UnpackTuple { site }),
            "prim::ListUnpack" => self.with_site(id, |site| Instruction::UnpackList { site }),
            "prim::CreateObject" => self.create(id),
            "prim::GetAttr" => self.get_attribute(id),
            "prim::SetAttr" => self.set_attribute(id),
            "prim::isinstance" => self.is_instance(id),
            "prim::CallFunction" => self.call_function(id),
            "prim::CallMethod" => {
                let name = self.name(id)?;
                let name = Self::intern(&mut self.code.names, name);
                self.with_site(id, |site| Instruction::CallMethod { name, site })
            }
            "prim::fork" | "prim::forkClosure" => self.fork(id, true),
            "prim::awaitable" => self.fork(id, false),
            "aten::wait" => {
                let (from, to) = self.unary(id)?;
                self.emit(Instruction::Wait { from, to });
                Ok(())
            }
            "prim::Enter" => {
                let (object, to) = self.unary(id)?;
                self.emit(Instruction::Enter { object, to });
                Ok(())
            }
            "prim::Exit" => {
                let (_, to) = self.unary(id)?;
                self.emit(Instruction::Exit { to });
                Ok(())
            }
            "prim::RaiseException" => self.raise(id),
            "prim::unchecked_cast" | "prim::unchecked_unwrap_optional" | "prim::NoneGuard" | "prim::profile" => {
                let (from, to) = self.unary(id)?;
                if to != UNUSED {
                    self.emit(Instruction::Move { from, to });
                }
                Ok(())
            }
            kind => self.operator(id, kind),
        }
    }

    fn with_site(&mut self, id: NodeId, instruction: impl FnOnce(u32) -> Instruction) -> Result<()> {
        let site = self.site(id)?;
        self.emit(instruction(site));
        Ok(())
    }

    fn unary(&mut self, id: NodeId) -> Result<(Operand, Reg)> {
        let inputs = self.inputs(id)?;
        let outputs = self.outputs(id)?;
        match (inputs.as_slice(), outputs.as_slice()) {
            ([from], [to]) => Ok((*from, *to)),
            ([from, ..], []) => Ok((*from, UNUSED)),
            _ => bail!(
                Runtime,
                "{} has {} inputs and {} outputs",
                self.graph.node(id)?.kind,
                inputs.len(),
                outputs.len()
            ),
        }
    }

    fn add_constant(&mut self, output: ValueId, value: Value) -> Result<()> {
        ensure!(self.code.constants.len() < MAX_INDEX as usize, Runtime, "a function has too many constants");
        let index = Self::intern(&mut self.code.constants, value);
        self.operands.insert(output, Operand::constant(index));
        Ok(())
    }

    fn constant(&mut self, id: NodeId) -> Result<()> {
        let node = self.graph.node(id)?;
        let &[output] = node.outputs() else { bail!(Runtime, "a constant has {} outputs", node.outputs().len()) };
        // The name of a function, which is read where it is called.
        let value = match node.attribute("name") {
            Some(_) => Value::None,
            None => match (&self.graph.value(output)?.kind, node.attribute("value")) {
                (Type::Enum(class), Some(Attribute::Str(name))) => member(self.linker, &class.name, name)?,
                (kind, value) => constant(kind, value)?,
            },
        };
        self.add_constant(output, value)
    }

    fn undefined(&mut self, id: NodeId) -> Result<()> {
        for &output in self.graph.node(id)?.outputs() {
            self.add_constant(output, Value::None)?;
        }
        Ok(())
    }

    fn output_type(&self, id: NodeId) -> Result<Type> {
        let output = self.graph.node(id)?.outputs().first().copied();
        let output = output.ok_or_else(|| err!(Runtime, "a node without output"))?;
        Ok(self.graph.value(output)?.kind.clone())
    }

    fn container(&mut self, id: NodeId) -> Result<()> {
        let kind = match self.output_type(id)? {
            Type::Optional(inner) => (*inner).clone(),
            other => other,
        };
        match kind {
            Type::List(element) => {
                let kind = Self::intern(&mut self.code.kinds, (*element).clone());
                self.with_site(id, |site| Instruction::List { kind, site })
            }
            kind @ Type::Dict(_) => {
                let kind = Self::intern(&mut self.code.kinds, kind);
                self.with_site(id, |site| Instruction::Dict { kind, site })
            }
            // A list in a union: its elements decide.
            _ if &*self.graph.node(id)?.kind == "prim::ListConstruct" => {
                let kind = Self::intern(&mut self.code.kinds, Type::Any);
                self.with_site(id, |site| Instruction::List { kind, site })
            }
            _ => {
                let kind = Self::intern(&mut self.code.kinds, Type::Dict(Arc::new((Type::Any, Type::Any))));
                self.with_site(id, |site| Instruction::Dict { kind, site })
            }
        }
    }

    fn tuple(&mut self, id: NodeId) -> Result<()> {
        match self.output_type(id)? {
            Type::NamedTuple(class) => {
                let class = Self::intern(&mut self.code.named_tuples, class);
                self.with_site(id, |site| Instruction::NamedTuple { class, site })
            }
            _ => self.with_site(id, |site| Instruction::Tuple { site }),
        }
    }

    fn create(&mut self, id: NodeId) -> Result<()> {
        let Type::Class(name) = self.output_type(id)? else {
            bail!(Runtime, "prim::CreateObject creates a value that is no object")
        };
        let class = match name.starts_with(crate::classes::PREFIX) {
            true => Arc::new(Class::new(name, Vec::new())),
            false => self.linker.class(&name)?,
        };
        let class = Self::intern(&mut self.code.classes, class);
        let to = self.outputs(id)?.first().copied().unwrap_or(UNUSED);
        self.emit(Instruction::Create { class, to });
        Ok(())
    }

    fn attribute(&mut self, id: NodeId) -> Result<u32> {
        let name = self.name(id)?;
        Ok(Self::intern(&mut self.code.attributes, AttributeName { name, slot: 0.into() }))
    }

    fn get_attribute(&mut self, id: NodeId) -> Result<()> {
        let name = self.attribute(id)?;
        let (from, to) = self.unary(id)?;
        self.emit(Instruction::GetAttr { from, name, to });
        Ok(())
    }

    fn set_attribute(&mut self, id: NodeId) -> Result<()> {
        let name = self.attribute(id)?;
        let inputs = self.inputs(id)?;
        let &[object, value] = inputs.as_slice() else { bail!(Runtime, "prim::SetAttr has {} inputs", inputs.len()) };
        self.emit(Instruction::SetAttr { object, value, name });
        Ok(())
    }

    fn is_instance(&mut self, id: NodeId) -> Result<()> {
        let kinds = match self.graph.node(id)?.attribute("types") {
            Some(Attribute::List(kinds)) => kinds.iter().filter_map(|kind| match kind {
                Attribute::Type(kind) => Some(kind.clone()),
                _ => None,
            }),
            _ => bail!(Runtime, "prim::isinstance needs the attribute 'types'"),
        };
        let kinds = Self::intern(&mut self.code.instance_kinds, kinds.collect());
        let (from, to) = self.unary(id)?;
        self.emit(Instruction::IsInstance { from, kinds, to });
        Ok(())
    }

    /// The function that the first input names.
    fn call_function(&mut self, id: NodeId) -> Result<()> {
        let node = self.graph.node(id)?;
        let callee = node.inputs().first().copied().ok_or_else(|| err!(Runtime, "a call without function"))?;
        let origin = match self.graph.value(callee)?.origin() {
            Origin::Node(origin) => origin,
            Origin::Block(_) => bail!(Runtime, "a call of a function that is no constant"),
        };
        let name = self.name(origin)?;
        let name = Self::intern(&mut self.code.names, name);
        let inputs = self.inputs(id)?;
        let outputs = self.outputs(id)?;
        let site = self.site_of(inputs.get(1..).unwrap_or_default(), &outputs)?;
        self.emit(Instruction::CallFunction { name, site });
        Ok(())
    }

    fn fork(&mut self, id: NodeId, on_threads: bool) -> Result<()> {
        let graph = match self.graph.node(id)?.attribute("Subgraph") {
            Some(Attribute::Graph(graph)) => graph.clone(),
            _ => bail!(Runtime, "prim::fork needs the attribute 'Subgraph'"),
        };
        let child = lower_within(&self.code.name.clone(), &graph, self.linker, self.depth - 1)?;
        let child = Self::intern(&mut self.code.children, Arc::new(child));
        self.with_site(id, |site| Instruction::Fork { child, site, on_threads })
    }

    fn raise(&mut self, id: NodeId) -> Result<()> {
        let inputs = self.inputs(id)?;
        let none = Operand::constant(Self::intern(&mut self.code.constants, Value::None));
        let message = inputs.first().copied().unwrap_or(none);
        let class = inputs.get(1).copied().unwrap_or(none);
        self.emit(Instruction::Raise { message, class });
        Ok(())
    }

    fn operator(&mut self, id: NodeId, kind: &str) -> Result<()> {
        let mut types = Vec::new();
        for &input in self.graph.node(id)?.inputs() {
            types.push(self.graph.value(input)?.kind.clone());
        }
        if let Some(()) = self.short(id, kind, &types)? {
            return Ok(());
        }
        match &resolve(kind, &types, self.linker)?.target {
            Target::Builtin(row) => self.with_site(id, |site| Instruction::Builtin { run: row.run, site }),
            Target::Operator(op) => {
                let index = Self::intern(&mut self.code.operators, op.clone());
                self.with_site(id, |site| Instruction::Operator { index, site })
            }
        }
    }

    /// Operators with an instruction of their own.
    fn short(&mut self, id: NodeId, kind: &str, types: &[Type]) -> Result<Option<()>> {
        let instruction = match (kind, types) {
            (_, [Type::Int, Type::Int] | [Type::Float, Type::Float]) => {
                let ints = *types == [Type::Int, Type::Int];
                let Some(operator) = arithmetic(kind, ints) else { return Ok(None) };
                let (inputs, outputs) = (self.inputs(id)?, self.outputs(id)?);
                let (&[a, b], &[to]) = (inputs.as_slice(), outputs.as_slice()) else {
                    bail!(Runtime, "{kind} has {} outputs", outputs.len())
                };
                Instruction::Arithmetic { operator, a, b, to }
            }
            ("aten::__getitem__", [Type::List(_), Type::Int]) => {
                let (inputs, outputs) = (self.inputs(id)?, self.outputs(id)?);
                let (&[list, index], &[to]) = (inputs.as_slice(), outputs.as_slice()) else {
                    bail!(Runtime, "{kind} has {} outputs", outputs.len())
                };
                Instruction::ListGet { list, index, to }
            }
            ("aten::__not__", [Type::Bool]) => {
                let (from, to) = self.unary(id)?;
                Instruction::Not { from, to }
            }
            _ => return Ok(None),
        };
        self.emit(instruction);
        Ok(Some(()))
    }

    // ---- control flow --------------------------------------------------------------------------------------

    fn condition(&mut self, id: NodeId, steps: &mut Vec<Step>) -> Result<()> {
        let inputs = self.inputs(id)?;
        let &[condition] = inputs.as_slice() else { bail!(Runtime, "prim::If has {} inputs", inputs.len()) };
        let &[yes, _] = self.graph.node(id)?.blocks() else { bail!(Runtime, "prim::If needs two blocks") };
        // Both branches write the outputs; nothing else may use their registers meanwhile.
        for &output in self.graph.node(id)?.outputs() {
            self.output(output)?;
        }
        let branch = self.emit(Instruction::Unless { condition, to: 0 });
        steps.push(Step::Else(id, branch));
        steps.extend(self.nodes_of(yes));
        Ok(())
    }

    fn otherwise(&mut self, id: NodeId, branch: usize, steps: &mut Vec<Step>) -> Result<()> {
        let &[yes, no] = self.graph.node(id)?.blocks() else { return Ok(()) };
        self.write_outputs(id, yes)?;
        let jump = self.emit(Instruction::Jump { to: 0 });
        self.land(branch);
        steps.push(Step::EndIf(id, jump, 1));
        steps.extend(self.nodes_of(no));
        Ok(())
    }

    fn end_if(&mut self, id: NodeId, jump: usize, block: usize) -> Result<()> {
        if let Some(&block) = self.graph.node(id)?.blocks().get(block) {
            self.write_outputs(id, block)?;
        }
        self.land(jump);
        self.drop_after(id)
    }

    /// Moves the outputs of a branch to those of the node.
    fn write_outputs(&mut self, id: NodeId, block: BlockId) -> Result<()> {
        let from = self.block_outputs(block)?;
        let outputs = self.graph.node(id)?.outputs();
        ensure!(
            from.len() == outputs.len(),
            Runtime,
            "a branch has {} outputs, prim::If {}",
            from.len(),
            outputs.len()
        );
        for (from, output) in from.into_iter().zip(outputs) {
            if self.last_uses.contains_key(output) {
                let to = self.operand(*output)?.index() as Reg;
                self.emit(Instruction::Move { from, to });
            }
        }
        Ok(())
    }

    fn begin_loop(&mut self, id: NodeId, steps: &mut Vec<Step>) -> Result<()> {
        let inputs = self.inputs(id)?;
        let &[body] = self.graph.node(id)?.blocks() else { bail!(Runtime, "prim::Loop needs one block") };
        let parameters = self.graph.block(body)?.inputs();
        let outputs = self.graph.node(id)?.outputs();
        ensure!(
            inputs.len() == outputs.len() + 2 && parameters.len() == outputs.len() + 1,
            Runtime,
            "prim::Loop has {} inputs, {} outputs and {} parameters of its block",
            inputs.len(),
            outputs.len(),
            parameters.len()
        );
        // The state needs four registers in a row.
        let state = self.new_register()?;
        for _ in 0..3 {
            self.new_register()?;
        }
        let mut carried = Vec::new();
        for (&parameter, &output) in parameters.iter().skip(1).zip(outputs) {
            let register = self.new_register()?;
            carried.push(register);
            self.operands.insert(parameter, Operand::register(register));
            self.operands.insert(output, Operand::register(register));
        }
        self.pinned.extend((state..state + 4).chain(carried.iter().copied()).map(|register| (register, ())));
        if let Some(&index) = parameters.first() {
            self.operands.insert(index, Operand::register(state + 3));
        }
        let zero = Operand::constant(Self::intern(&mut self.code.constants, Value::Int(0)));
        let targets = [state + 1, state + 2].into_iter().chain(carried.iter().copied());
        self.emit(Instruction::Move { from: zero, to: state });
        for (from, to) in inputs.into_iter().zip(targets) {
            self.emit(Instruction::Move { from, to });
        }
        let head = self.emit(Instruction::Loop { state, exit: 0 });
        steps.push(Step::EndLoop { node: id, head, state, carried });
        steps.extend(self.nodes_of(body));
        Ok(())
    }

    fn end_loop(&mut self, id: NodeId, head: usize, state: Reg, carried: &[Reg]) -> Result<()> {
        let &[body] = self.graph.node(id)?.blocks() else { return Ok(()) };
        let outputs = self.block_outputs(body)?;
        let targets = std::iter::once(state + 2).chain(carried.iter().copied());
        let moves: Vec<(Operand, Reg)> = outputs
            .into_iter()
            .zip(targets)
            .filter(|(from, to)| from.is_constant() || from.index() != *to as usize)
            .collect();
        let is_target =
            |operand: &Operand| !operand.is_constant() && moves.iter().any(|(_, to)| *to as usize == operand.index());
        if moves.iter().any(|(from, _)| is_target(from)) {
            let first = self.code.moves.len() as u32;
            self.code.moves.extend(&moves);
            self.emit(Instruction::Moves { first, count: moves.len() as u32 });
        } else {
            for (from, to) in moves {
                self.emit(Instruction::Move { from, to });
            }
        }
        self.emit(Instruction::Jump { to: head as u32 });
        self.land(head);
        for register in (state..state + 4).chain(carried.iter().copied()) {
            self.pinned.remove(&register);
        }
        let mut unused: Vec<Reg> = vec![state + 3];
        for (&output, &register) in self.graph.node(id)?.outputs().iter().zip(carried) {
            if !self.last_uses.contains_key(&output) {
                unused.push(register);
            }
        }
        (state..state + 3).for_each(|register| self.release(register));
        self.drop_registers(&unused);
        self.drop_after(id)
    }
}

/// The instruction of an operator on two ints or, if not `ints`, two floats.
pub(super) fn arithmetic(kind: &str, ints: bool) -> Option<Arithmetic> {
    Some(match kind {
        "aten::add" => Arithmetic::Add,
        "aten::sub" => Arithmetic::Sub,
        "aten::mul" => Arithmetic::Mul,
        "aten::eq" => Arithmetic::Eq,
        "aten::ne" => Arithmetic::Ne,
        "aten::lt" => Arithmetic::Lt,
        "aten::le" => Arithmetic::Le,
        "aten::gt" => Arithmetic::Gt,
        "aten::ge" => Arithmetic::Ge,
        "aten::floordiv" if ints => Arithmetic::FloorDivide,
        "aten::remainder" if ints => Arithmetic::Remainder,
        _ => return None,
    })
}

/// The function that an instruction falls back to when its operands are of other kinds than the graph states.
pub(super) fn general(operator: Arithmetic) -> Option<builtins::Builtin> {
    let name = match operator {
        Arithmetic::Add => "aten::add",
        Arithmetic::Sub => "aten::sub",
        Arithmetic::Mul => "aten::mul",
        Arithmetic::Eq => "aten::eq",
        Arithmetic::Ne => "aten::ne",
        Arithmetic::Lt => "aten::lt",
        Arithmetic::Le => "aten::le",
        Arithmetic::Gt => "aten::gt",
        Arithmetic::Ge => "aten::ge",
        Arithmetic::FloorDivide => "aten::floordiv",
        Arithmetic::Remainder => "aten::remainder",
    };
    builtins::find(name, "").map(|row| row.run)
}
