//! Methods as code for the lite interpreter, the record `bytecode.pkl`: a stack machine with registers. Calls are inlined;
//! each value of a graph has a register, which is emptied by its last use. The reader is `crate::lite`.

use super::program::Printer;
use super::types::{is_unnamed, renamed};
use crate::ast::Name;
use crate::graph::{Attribute, BlockId, Graph, NodeId, ValueId};
use crate::module::Module;
use crate::passes::inline;
use crate::runtime::function::{Function, Linker};
use crate::runtime::object::Tuple;
use crate::runtime::value::Value;
use crate::runtime::{LastUse, constant, last_uses, resolve};
use crate::schema::{Argument, Formal};
use crate::types::Type;
use rushlight_base::{Result, bail, ensure, err};
use std::collections::{BTreeSet, HashMap};

/// The version of the code.
const VERSION: i64 = 8;

/// The contents of `bytecode.pkl` for the methods of a module, and those of the modules in it that keep their state in
/// `__getstate__` or are called through an interface.
pub(super) fn bytecode(module: &Module, printer: &mut Printer<'_>) -> Result<Value> {
    let program = module.program().clone();
    let mut methods: BTreeSet<(Name, Name)> =
        module.methods()?.into_iter().map(|name| (module.class().clone(), name)).collect();
    let classes: BTreeSet<Name> = module.modules().into_iter().map(|(_, object)| object.class().name.clone()).collect();
    let mut pending: Vec<(Name, Name)> = methods.iter().cloned().collect();
    for class in &classes {
        for name in program.methods(class)? {
            if matches!(&*name, "__setstate__" | "__getstate__") && methods.insert((class.clone(), name.clone())) {
                pending.push((class.clone(), name));
            }
        }
    }
    let mut items = vec![Value::Int(VERSION)];
    while let Some((class, name)) = pending.pop() {
        let function = program.method(&class, &name)?;
        let emitted = method(&function, &class, printer).map_err(|error| {
            error.context(format_args!("method '{name}' of {class} cannot be saved for the lite interpreter"))
        })?;
        items.push(emitted.value);
        for called in emitted.called {
            for class in &classes {
                let has = program.methods(class)?.contains(&called);
                if has && methods.insert((class.clone(), called.clone())) {
                    pending.push((class.clone(), called.clone()));
                }
            }
        }
    }
    Ok(Tuple::new(items).into())
}

struct Emitted {
    value: Value,
    /// Methods that are called through interfaces.
    called: BTreeSet<Name>,
}

fn tuple(items: impl Into<Vec<Value>>) -> Value {
    Tuple::new(items.into()).into()
}

/// A table: pairs of a name and a value.
fn table(fields: Vec<(&str, Value)>) -> Value {
    let fields: Vec<Value> = fields.into_iter().map(|(name, value)| tuple([Value::str(name), value])).collect();
    tuple(fields)
}

fn method(function: &Function, class: &str, printer: &mut Printer<'_>) -> Result<Emitted> {
    let program = printer.program.clone();
    let mut graph = Graph::clone(function.known_graph()?);
    inline(&mut graph, &*program)?;
    let mut emitter = Emitter {
        printer,
        last_uses: last_uses(&graph)?,
        graph: &graph,
        steps: Vec::new(),
        operators: Vec::new(),
        constants: Vec::new(),
        types: Vec::new(),
        places: HashMap::new(),
        registers: 0,
        free: Vec::new(),
        called: BTreeSet::new(),
    };
    let top = graph.top();
    emitter.store(graph.block(top)?.inputs())?;
    emitter.block(top)?;
    emitter.load_outputs(top)?;
    emitter.step("RET", 0, 0);
    let steps: Vec<Value> =
        emitter.steps.iter().map(|(name, x, n)| tuple([Value::str(name), Value::Int(*x), Value::Int(*n)])).collect();
    let operators: Vec<Value> = emitter
        .operators
        .iter()
        .map(|(name, overload, count)| tuple([Value::str(&**name), Value::str(&**overload), Value::Int(*count)]))
        .collect();
    let types: Vec<Value> = emitter.types.iter().map(Value::str).collect();
    let code = table(vec![
        ("instructions", tuple(steps)),
        ("operators", tuple(operators)),
        ("constants", tuple(std::mem::take(&mut emitter.constants))),
        ("types", tuple(types)),
        ("register_size", Value::Int(emitter.registers)),
    ]);
    let called = std::mem::take(&mut emitter.called);
    let schema = &function.schema;
    let mut arguments = Vec::new();
    for argument in &schema.arguments {
        arguments.push(self::argument(argument, printer)?);
    }
    let mut returns = Vec::new();
    for value in &schema.returns {
        let kind = value.kind.concrete().unwrap_or(Type::Any);
        returns.push(table(vec![
            ("name", Value::str("")),
            ("type", Value::str(type_text(&kind, printer)?)),
            ("default_value", Value::None),
        ]));
    }
    let signature = table(vec![("arguments", tuple(arguments)), ("returns", tuple(returns))]);
    let name = format!("{}.{}", printer.qualified(class), function.name);
    Ok(Emitted { value: tuple([Value::str(name), code, signature]), called })
}

fn argument(argument: &Argument, printer: &mut Printer<'_>) -> Result<Value> {
    let kind = match &argument.kind {
        Formal::Type(kind) => kind.clone(),
        _ => Type::Any,
    };
    let default = argument.default.as_ref().map_or(Value::None, crate::arguments::literal);
    Ok(table(vec![
        ("name", Value::str(&*argument.name)),
        ("type", Value::str(type_text(&kind, printer)?)),
        ("default_value", default),
    ]))
}

/// A type as these files have it: NamedTuples bring their fields.
fn type_text(kind: &Type, printer: &mut Printer<'_>) -> Result<String> {
    if let Type::NamedTuple(class) = kind
        && !is_unnamed(class)
    {
        let name = printer.qualified(&class.name);
        let mut fields = Vec::new();
        for (field, kind) in &class.fields {
            fields.push(format!("[{field}, {}]", type_text(kind, printer)?));
        }
        return Ok(format!("{name}[NamedTuple, [{}]]", fields.join(", ")));
    }
    Ok(match kind {
        Type::List(element) => format!("List[{}]", type_text(element, printer)?),
        Type::Optional(element) => format!("Optional[{}]", type_text(element, printer)?),
        Type::Dict(pair) => format!("Dict[{}, {}]", type_text(&pair.0, printer)?, type_text(&pair.1, printer)?),
        Type::Tuple(items) if !items.is_empty() => {
            let items = items.iter().map(|item| type_text(item, printer)).collect::<Result<Vec<_>>>()?;
            format!("Tuple[{}]", items.join(", "))
        }
        other => renamed(other, &mut |name| printer.qualified(name)).annotation_str(),
    })
}

struct Emitter<'e, 'p> {
    printer: &'e mut Printer<'p>,
    graph: &'e Graph,
    last_uses: HashMap<ValueId, LastUse>,
    steps: Vec<(&'static str, i64, i64)>,
    operators: Vec<(Name, Name, i64)>,
    constants: Vec<Value>,
    types: Vec<String>,
    places: HashMap<ValueId, Place>,
    registers: i64,
    free: Vec<i64>,
    called: BTreeSet<Name>,
}

/// Where a value is.
#[derive(Clone, Copy)]
enum Place {
    Register(i64),
    Constant(usize),
}

/// What is still to be emitted, innermost last.
enum Task {
    Node(NodeId),
    Else(NodeId, usize),
    EndIf(NodeId, usize),
    EndLoop(NodeId, usize),
}

impl Emitter<'_, '_> {
    fn step(&mut self, name: &'static str, x: i64, n: i64) {
        self.steps.push((name, x, n));
    }

    /// Pops values into new registers; those that nothing uses are dropped.
    fn store(&mut self, values: &[ValueId]) -> Result<()> {
        for value in values.iter().rev() {
            if !self.last_uses.contains_key(value) {
                self.step("DROP", 0, 0);
                continue;
            }
            let register = match self.free.pop() {
                Some(register) => register,
                None => {
                    self.registers += 1;
                    self.registers
                }
            };
            self.places.insert(*value, Place::Register(register));
            self.step("STORE", register, 0);
        }
        Ok(())
    }

    fn place(&self, value: ValueId) -> Result<Place> {
        let place = self.places.get(&value).copied();
        place.ok_or_else(|| err!(Runtime, "%{} is used before it is defined", self.graph.name(value)))
    }

    /// Pushes a value; with `last` its register is empty afterwards.
    fn load(&mut self, value: ValueId, last: bool) -> Result<()> {
        match self.place(value)? {
            Place::Constant(index) => self.step("LOADC", index as i64, 0),
            Place::Register(register) if last => {
                self.step("MOVE", register, 0);
                self.free.push(register);
            }
            Place::Register(register) => self.step("LOAD", register, 0),
        }
        Ok(())
    }

    fn load_inputs(&mut self, id: NodeId) -> Result<()> {
        let graph = self.graph;
        let inputs = graph.node(id)?.inputs();
        for (index, &input) in inputs.iter().enumerate() {
            let is_last = self.last_uses.get(&input) == Some(&LastUse::Node { node: id, nested: false });
            let again = inputs.get(index + 1..).unwrap_or_default().contains(&input);
            self.load(input, is_last && !again)?;
        }
        Ok(())
    }

    /// Pushes the outputs of a block. They are copied: their registers may be those of values outside of the block.
    fn load_outputs(&mut self, block: BlockId) -> Result<()> {
        let graph = self.graph;
        graph.block(block)?.outputs().iter().try_for_each(|&output| self.load(output, false))
    }

    /// Empties the registers of values that the blocks of a node used last, and of those that the blocks returned.
    fn drop_after(&mut self, id: NodeId) -> Result<()> {
        let graph = self.graph;
        let mut registers = BTreeSet::new();
        let mut blocks: Vec<BlockId> = graph.node(id)?.blocks().to_vec();
        while let Some(block) = blocks.pop() {
            let mut used: Vec<ValueId> = graph.block(block)?.outputs().to_vec();
            for inner in graph.nodes(block) {
                used.extend(graph.node(inner)?.inputs());
                blocks.extend(graph.node(inner)?.blocks());
            }
            for value in used {
                if self.last_uses.get(&value) == Some(&LastUse::Node { node: id, nested: true })
                    && let Some(Place::Register(register)) = self.places.get(&value)
                {
                    registers.insert(*register);
                }
            }
        }
        for register in registers {
            self.step("DROPR", register, 0);
            self.free.push(register);
        }
        Ok(())
    }

    fn block(&mut self, block: BlockId) -> Result<()> {
        let mut tasks = self.tasks(block);
        while let Some(task) = tasks.pop() {
            match task {
                Task::Node(id) => self.node(id, &mut tasks)?,
                Task::Else(id, branch) => {
                    let graph = self.graph;
                    let &[yes, no] = graph.node(id)?.blocks() else { continue };
                    self.load_outputs(yes)?;
                    let jump = self.steps.len();
                    self.step("JMP", 0, 0);
                    self.land(branch);
                    tasks.push(Task::EndIf(id, jump));
                    tasks.extend(self.tasks(no));
                }
                Task::EndIf(id, jump) => {
                    let graph = self.graph;
                    if let Some(&no) = graph.node(id)?.blocks().get(1) {
                        self.load_outputs(no)?;
                    }
                    self.land(jump);
                    self.store(graph.node(id)?.outputs())?;
                    self.drop_after(id)?;
                }
                Task::EndLoop(id, head) => {
                    let graph = self.graph;
                    if let Some(&body) = graph.node(id)?.blocks().first() {
                        self.load_outputs(body)?;
                    }
                    let here = self.steps.len();
                    self.step("JMP", head as i64 - here as i64, 0);
                    self.land(head);
                    self.store(graph.node(id)?.outputs())?;
                    self.drop_after(id)?;
                }
            }
        }
        Ok(())
    }

    fn tasks(&self, block: BlockId) -> Vec<Task> {
        let mut tasks: Vec<Task> = self.graph.nodes(block).map(Task::Node).collect();
        tasks.reverse();
        tasks
    }

    /// Sets the destination of a jump to the next instruction.
    fn land(&mut self, jump: usize) {
        let distance = self.steps.len() as i64 - jump as i64;
        if let Some((_, x, _)) = self.steps.get_mut(jump) {
            *x = distance;
        }
    }

    fn kind(&mut self, kind: &Type) -> Result<i64> {
        let text = type_text(kind, self.printer)?;
        if let Some(index) = self.types.iter().position(|known| *known == text) {
            return Ok(index as i64);
        }
        self.types.push(text);
        Ok(self.types.len() as i64 - 1)
    }

    fn constant(&mut self, value: Value) -> usize {
        self.constants.push(value);
        self.constants.len() - 1
    }

    fn name(&self, id: NodeId) -> Result<Name> {
        match self.graph.node(id)?.attribute("name") {
            Some(Attribute::Str(bytes)) => Ok(String::from_utf8_lossy(bytes).into()),
            _ => bail!(Runtime, "{} needs the attribute 'name'", self.graph.node(id)?.kind),
        }
    }

    /// The slot of the attribute that a node names, of the object that is its first input.
    fn slot(&self, id: NodeId) -> Result<i64> {
        let name = self.name(id)?;
        let object = self.graph.node(id)?.inputs().first().copied();
        let object = object.ok_or_else(|| err!(Runtime, "an attribute without an object"))?;
        match &self.graph.value(object)?.kind {
            Type::Class(class) => {
                let class = self.printer.program.class(class)?;
                let slot = class.slot(&name);
                Ok(slot.ok_or_else(|| err!(Runtime, "'{}' has no attribute '{name}'", class.name))? as i64)
            }
            other => bail!(NotImplemented, "the attribute '{name}' of a value of type {other} is not supported"),
        }
    }

    fn node(&mut self, id: NodeId, tasks: &mut Vec<Task>) -> Result<()> {
        let graph = self.graph;
        let node = graph.node(id)?;
        let (inputs, outputs) = (node.inputs().len() as i64, node.outputs());
        let output_kind = || -> Result<Type> {
            let output = outputs.first().ok_or_else(|| err!(Runtime, "{} has no output", node.kind))?;
            Ok(match &graph.value(*output)?.kind {
                Type::Optional(kind) => (**kind).clone(),
                kind => kind.clone(),
            })
        };
        let (name, x, n): (&'static str, i64, i64) = match &*node.kind {
            "prim::Constant" => return self.constant_node(id),
            "prim::Uninitialized" => {
                for &output in outputs {
                    self.step("UN_INITIALIZED", 0, 0);
                    self.store(&[output])?;
                }
                return Ok(());
            }
            "prim::If" => {
                let &[yes, _] = node.blocks() else { bail!(Runtime, "prim::If needs two blocks") };
                self.load_inputs(id)?;
                let branch = self.steps.len();
                self.step("JF", 0, 0);
                tasks.push(Task::Else(id, branch));
                tasks.extend(self.tasks(yes));
                return Ok(());
            }
            "prim::Loop" => {
                let &[body] = node.blocks() else { bail!(Runtime, "prim::Loop needs one block") };
                let zero = self.constant(Value::Int(0));
                self.step("LOADC", zero as i64, 0);
                self.load_inputs(id)?;
                let head = self.steps.len();
                self.step("LOOP", 0, inputs);
                self.store(graph.block(body)?.inputs())?;
                tasks.push(Task::EndLoop(id, head));
                tasks.extend(self.tasks(body));
                return Ok(());
            }
            "prim::ListConstruct" => ("LIST_CONSTRUCT", self.kind(&output_kind()?)?, inputs),
            "prim::DictConstruct" => ("DICT_CONSTRUCT", self.kind(&output_kind()?)?, inputs),
            "prim::TupleConstruct" => match output_kind()? {
                Type::NamedTuple(class) if !is_unnamed(&class) => {
                    ("NAMED_TUPLE_CONSTRUCT", self.kind(&Type::NamedTuple(class))?, inputs)
                }
                _ => ("TUPLE_CONSTRUCT", inputs, 0),
            },
            "prim::TupleUnpack" => return self.unpack(id),
            "prim::ListUnpack" => ("LIST_UNPACK", outputs.len() as i64, 0),
            "prim::TupleIndex" => ("TUPLE_INDEX", 0, 0),
            "prim::unchecked_cast" => ("OP", self.operator("prim::unchecked_cast", "", 1), 0),
            "prim::tolist" => ("TO_LIST", 0, 0),
            "prim::GetAttr" => ("GET_ATTR", self.slot(id)?, 0),
            "prim::SetAttr" => ("SET_ATTR", self.slot(id)?, 0),
            "prim::isinstance" => {
                let Some(Attribute::List(kinds)) = node.attribute("types") else {
                    bail!(Runtime, "prim::isinstance needs the attribute 'types'")
                };
                // The types have to be one after the other.
                let first = self.types.len() as i64;
                for kind in kinds {
                    let Attribute::Type(kind) = kind else { bail!(Runtime, "prim::isinstance of a value") };
                    let text = type_text(kind, self.printer)?;
                    self.types.push(text);
                }
                ("ISINSTANCE", first, kinds.len() as i64)
            }
            "prim::RaiseException" => {
                self.load_inputs(id)?;
                if inputs == 1 {
                    let none = self.constant(Value::None);
                    self.step("LOADC", none as i64, 0);
                }
                self.step("RAISE_EXCEPTION", 0, 0);
                return Ok(());
            }
            "prim::CallMethod" => {
                let name = self.name(id)?;
                let constant = self.constant(Value::str(&*name));
                self.called.insert(name);
                ("INTERFACE_CALL", constant as i64, inputs)
            }
            "aten::format" => ("FORMAT", inputs, 0),
            "aten::__is__" => ("__IS__", 0, 0),
            "aten::__isnot__" => ("__ISNOT__", 0, 0),
            "aten::__not__" => ("__NOT__", 0, 0),
            "prim::CreateObject" => bail!(
                NotImplemented,
                "the code creates objects of type {}; the lite interpreter has modules only",
                output_kind()?
            ),
            "prim::fork" | "prim::awaitable" | "prim::Enter" | "prim::Exit" => {
                bail!(NotImplemented, "{} has no instruction", node.kind)
            }
            kind => self.call(id, kind)?,
        };
        self.load_inputs(id)?;
        self.step(name, x, n);
        self.store(outputs)
    }

    fn constant_node(&mut self, id: NodeId) -> Result<()> {
        let graph = self.graph;
        let node = graph.node(id)?;
        let &[output] = node.outputs() else { bail!(Runtime, "a constant has {} outputs", node.outputs().len()) };
        // The name of a function, whose calls were inlined.
        if node.attribute("name").is_some() {
            return Ok(());
        }
        let kind = &graph.value(output)?.kind;
        ensure!(!matches!(kind, Type::Enum(_)), NotImplemented, "members of an Enum are not supported");
        let value = constant(kind, node.attribute("value"))?;
        let index = self.constant(value);
        self.places.insert(output, Place::Constant(index));
        Ok(())
    }

    /// The elements of a tuple. A reader that does not know the type counts them by the instruction that stores them.
    fn unpack(&mut self, id: NodeId) -> Result<()> {
        let graph = self.graph;
        self.load_inputs(id)?;
        let operator = self.operator("prim::TupleUnpack", "", 1);
        self.step("OP", operator, 0);
        let outputs = graph.node(id)?.outputs();
        let first = self.registers + 1;
        self.step("STOREN", first, outputs.len() as i64);
        for (register, output) in (first..).zip(outputs) {
            self.registers = register;
            if self.last_uses.contains_key(output) {
                self.places.insert(*output, Place::Register(register));
            } else {
                self.step("DROPR", register, 0);
                self.free.push(register);
            }
        }
        Ok(())
    }

    fn operator(&mut self, name: &str, overload: &str, arguments: i64) -> i64 {
        let entry = (Name::from(name), Name::from(overload), arguments);
        if let Some(index) = self.operators.iter().position(|known| *known == entry) {
            return index as i64;
        }
        self.operators.push(entry);
        self.operators.len() as i64 - 1
    }

    /// An operator with all of its arguments.
    fn call(&mut self, id: NodeId, kind: &str) -> Result<(&'static str, i64, i64)> {
        let node = self.graph.node(id)?;
        let mut types = Vec::new();
        for &input in node.inputs() {
            types.push(self.graph.value(input)?.kind.clone());
        }
        let schema = resolve(kind, &types, &**self.printer.program)?.schema.clone();
        let count = node.inputs().len() as i64;
        let index = self.operator(kind, &schema.overload, count);
        Ok(if schema.vararg { ("OPN", index, count) } else { ("OP", index, 0) })
    }
}
