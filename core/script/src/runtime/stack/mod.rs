//! From the code of a stack machine, which files of the lite interpreter hold, to code over registers.
//!
//! The stack is simulated: each of its elements is a constant, a register of the stack code or a register that this
//! translation adds, so most instructions of the stack code that only move values disappear. Where several paths meet,
//! the elements are in the same registers on each of them. Everything that running could stumble over is checked here:
//! places of jumps, the number of elements on the stack, indices of registers, constants, types and operators.

mod operators;

use super::code::{Code, Instruction, MAX_INDEX, Operand, Reg, Site, UNUSED};
use super::function::Linker;
use super::object::Tuple;
use super::value::Value;
use crate::builtins::Args;
use crate::lite::{Method, Opcode, Step};
use crate::types::Type;
use rushlight_base::{Result, bail, ensure, err, list};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Elements of the stack that are moved or compared where paths meet: more than any compiler's code needs.
const MAX_WORK: usize = 1 << 25;
/// The number of an object's attributes.
const MAX_SLOTS: usize = 1 << 14;

/// The code of a method. `version` is that of the operators that the file was written for.
pub(crate) fn translate(method: &Method, version: u64, linker: &dyn Linker) -> Result<Code> {
    let short = method.name.rsplit('.').next().unwrap_or_default();
    let mut translation = Translation {
        method,
        version,
        linker,
        code: Code::empty(short.into()),
        stack: Vec::new(),
        is_reachable: true,
        locals: HashMap::new(),
        free: Vec::new(),
        added: Vec::new(),
        labels: method.labels()?.into_iter().map(|at| (at, Label::default())).collect(),
        heads: HashMap::new(),
        stubs: Vec::new(),
        fresh: None,
        work: 0,
    };
    translation.function()?;
    Ok(translation.code)
}

/// An element of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Constant(u32),
    /// A copy of a register of the stack code.
    Local(Reg),
    /// The value of a register of the stack code, which is empty afterwards.
    Moved(Reg),
    /// A register that this translation added.
    Own(Reg),
    /// A register of a loop's state, which is not used for anything else.
    Kept(Reg),
}

impl Entry {
    fn operand(self) -> Operand {
        match self {
            Entry::Constant(index) => Operand::constant(index),
            Entry::Local(register) => Operand::register(register),
            Entry::Moved(register) | Entry::Own(register) | Entry::Kept(register) => Operand::register(register).last(),
        }
    }

    /// The register, if it belongs to this element of the stack only.
    fn owned(self) -> Option<Reg> {
        match self {
            Entry::Own(register) | Entry::Kept(register) => Some(register),
            _ => None,
        }
    }
}

/// Where paths meet.
#[derive(Default)]
struct Label {
    /// The elements of the stack; none before the first path arrives.
    state: Option<Vec<Entry>>,
    /// The jumps that end here.
    jumps: Vec<usize>,
    /// The instruction.
    place: Option<u32>,
}

/// The head of a loop.
struct Head {
    state: Vec<Entry>,
    at: u32,
}

/// A jump that has to move elements of the stack first.
struct Stub {
    jump: usize,
    moves: Vec<(Operand, Reg)>,
    label: usize,
}

struct Translation<'m> {
    method: &'m Method,
    version: u64,
    linker: &'m dyn Linker,
    code: Code,
    stack: Vec<Entry>,
    is_reachable: bool,
    /// Registers of the stack code.
    locals: HashMap<i32, Reg>,
    /// Registers that this translation added, and those of them that are not in use.
    added: Vec<Reg>,
    free: Vec<Reg>,
    labels: BTreeMap<usize, Label>,
    heads: HashMap<usize, Head>,
    stubs: Vec<Stub>,
    /// The last instruction's only output: its place in `targets`, and how many instructions there are.
    fresh: Option<(usize, usize)>,
    work: usize,
}

impl Translation<'_> {
    fn function(&mut self) -> Result<()> {
        let method = self.method;
        self.code.constants = list::copied(&method.constants)?;
        let inputs = method.inputs();
        ensure!(inputs < 1 << 16, Io, "a function has {inputs} inputs");
        let first = match method.steps.first() {
            Some(Step { opcode: Opcode::StoreN, x: 1, n }) => *n as usize,
            Some(Step { opcode: Opcode::Store, x: 1, .. }) => 1,
            _ => 0,
        };
        // Nearly all functions begin with storing their inputs, which are in the first registers already.
        let stored = first == inputs && first > 0;
        for input in 0..inputs as u32 {
            let register = self.new_register()?;
            if stored {
                self.locals.insert(input as i32 + 1, register);
            } else {
                self.added.push(register);
                self.stack.push(Entry::Own(register));
            }
        }
        self.code.inputs = inputs as u32;
        self.code.outputs = 1;
        for (at, step) in method.steps.iter().enumerate().skip(usize::from(stored)) {
            self.arrive(at)?;
            if self.is_reachable {
                self.step(at, *step).map_err(|error| error.context(format_args!("instruction {at}")))?;
            }
        }
        ensure!(!self.is_reachable, Io, "the code does not end with RET");
        for stub in std::mem::take(&mut self.stubs) {
            let here = self.here();
            self.set_target(stub.jump, here);
            self.emit_moves(&stub.moves);
            let jump = self.emit(Instruction::Jump { to: 0 });
            self.label(stub.label)?.jumps.push(jump);
            self.land(stub.label)?;
        }
        Ok(())
    }

    // ---- registers and the stack ---------------------------------------------------------------------------

    fn new_register(&mut self) -> Result<Reg> {
        let register = self.code.registers;
        ensure!(register < MAX_INDEX, Io, "a function has more than {MAX_INDEX} values");
        self.code.registers += 1;
        Ok(register)
    }

    fn own_register(&mut self) -> Result<Reg> {
        if let Some(register) = self.free.pop() {
            return Ok(register);
        }
        let register = self.new_register()?;
        list::push(&mut self.added, register)?;
        Ok(register)
    }

    /// A register of the stack code.
    fn local(&mut self, number: i32) -> Result<Reg> {
        ensure!(
            number >= 1 && number as usize <= self.method.registers,
            Io,
            "there is no register {number}, the function has {}",
            self.method.registers
        );
        if let Some(register) = self.locals.get(&number) {
            return Ok(*register);
        }
        let register = self.new_register()?;
        self.locals.insert(number, register);
        Ok(register)
    }

    fn push(&mut self, entry: Entry) -> Result<()> {
        list::push(&mut self.stack, entry)
    }

    fn pop(&mut self) -> Result<Entry> {
        let entry = self.stack.pop().ok_or_else(|| err!(Io, "the stack is empty"))?;
        if let Entry::Own(register) = entry {
            self.free.push(register);
        }
        Ok(entry)
    }

    /// The last `count` elements, in the order in which they were pushed.
    fn pop_several(&mut self, count: usize) -> Result<Vec<Operand>> {
        let Some(start) = self.stack.len().checked_sub(count) else {
            bail!(Io, "{count} values are taken from a stack of {}", self.stack.len())
        };
        let entries: Vec<Entry> = self.stack.drain(start..).collect();
        for entry in &entries {
            if let Entry::Own(register) = entry {
                self.free.push(*register);
            }
        }
        list::collect(entries.into_iter().map(Entry::operand))
    }

    fn spend(&mut self, count: usize) -> Result<()> {
        self.work += count;
        ensure!(self.work < MAX_WORK, Io, "the code is too complex");
        Ok(())
    }

    /// Copies an element into a register of its own, unless it has one.
    fn settle(&mut self, index: usize) -> Result<()> {
        let Some(&entry) = self.stack.get(index) else { return Ok(()) };
        if entry.owned().is_some() {
            return Ok(());
        }
        let to = self.own_register()?;
        self.emit(Instruction::Move { from: entry.operand(), to });
        if let Some(place) = self.stack.get_mut(index) {
            *place = Entry::Own(to);
        }
        Ok(())
    }

    fn settle_all(&mut self, range: std::ops::Range<usize>) -> Result<()> {
        self.spend(range.len())?;
        range.into_iter().try_for_each(|index| self.settle(index))
    }

    /// Copies the elements that are this register of the stack code, which is about to change.
    fn detach(&mut self, local: Reg) -> Result<()> {
        self.spend(self.stack.len())?;
        for index in 0..self.stack.len() {
            if matches!(self.stack.get(index), Some(Entry::Local(other) | Entry::Moved(other)) if *other == local) {
                self.settle(index)?;
            }
        }
        Ok(())
    }

    fn store(&mut self, number: i32) -> Result<()> {
        let to = self.local(number)?;
        let entry = self.stack.pop().ok_or_else(|| err!(Io, "the stack is empty"))?;
        self.detach(to)?;
        if let Entry::Own(register) = entry {
            self.free.push(register);
        }
        if entry != Entry::Moved(to) {
            self.emit(Instruction::Move { from: entry.operand(), to });
        }
        Ok(())
    }

    fn constant(&mut self, value: Value) -> Result<Operand> {
        ensure!(self.code.constants.len() < MAX_INDEX as usize, Io, "a function has too many constants");
        list::push(&mut self.code.constants, value)?;
        Ok(Operand::constant(self.code.constants.len() as u32 - 1))
    }

    // ---- instructions --------------------------------------------------------------------------------------

    fn emit(&mut self, instruction: Instruction) -> usize {
        self.code.instructions.push(instruction);
        self.code.places.push(0);
        self.code.instructions.len() - 1
    }

    fn here(&self) -> u32 {
        self.code.instructions.len() as u32
    }

    fn emit_moves(&mut self, moves: &[(Operand, Reg)]) {
        let targets: HashSet<usize> = moves.iter().map(|(_, to)| *to as usize).collect();
        let conflict = moves.iter().any(|(from, _)| !from.is_constant() && targets.contains(&from.index()));
        if conflict {
            let first = self.code.moves.len() as u32;
            self.code.moves.extend(moves);
            self.emit(Instruction::Moves { first, count: moves.len() as u32 });
        } else {
            for &(from, to) in moves {
                self.emit(Instruction::Move { from, to });
            }
        }
    }

    fn drop_register(&mut self, register: Reg) {
        let first = self.code.targets.len() as u32;
        self.code.targets.push(register);
        self.emit(Instruction::Drop { first, count: 1 });
    }

    /// Stores inputs and outputs; the outputs are pushed.
    fn site(&mut self, inputs: &[Operand], outputs: usize) -> Result<u32> {
        ensure!(outputs < 1 << 20, Io, "an instruction has {outputs} results");
        let first = self.code.targets.len();
        for _ in 0..outputs {
            let register = self.own_register()?;
            self.code.targets.push(register);
            self.push(Entry::Own(register))?;
        }
        let site = Site {
            inputs: (self.code.operands.len() as u32, inputs.len() as u32),
            outputs: (first as u32, outputs as u32),
        };
        self.code.operands.extend(inputs);
        self.code.sites.push(site);
        Ok(self.code.sites.len() as u32 - 1)
    }

    /// An instruction that pops `inputs` values and pushes `outputs`.
    fn apply(&mut self, inputs: usize, outputs: usize, make: impl FnOnce(u32) -> Instruction) -> Result<()> {
        let operands = self.pop_several(inputs)?;
        self.apply_to(&operands, outputs, make)
    }

    fn apply_to(&mut self, inputs: &[Operand], outputs: usize, make: impl FnOnce(u32) -> Instruction) -> Result<()> {
        let site = self.site(inputs, outputs)?;
        self.emit(make(site));
        self.fresh = (outputs == 1).then(|| (self.code.targets.len() - 1, self.code.instructions.len()));
        Ok(())
    }

    /// The register of a result, which is pushed.
    fn result(&mut self) -> Result<Reg> {
        let register = self.own_register()?;
        self.push(Entry::Own(register))?;
        Ok(register)
    }

    fn intern<T>(list: &mut Vec<T>, item: T) -> u32 {
        list.push(item);
        list.len() as u32 - 1
    }

    // ---- paths ---------------------------------------------------------------------------------------------

    fn label(&mut self, at: usize) -> Result<&mut Label> {
        self.labels.get_mut(&at).ok_or_else(|| err!(Io, "no jump ends at instruction {at}"))
    }

    /// The moves that bring the stack to another state of the same size.
    fn moves_to(&mut self, state: &[Entry]) -> Result<Vec<(Operand, Reg)>> {
        ensure!(
            state.len() == self.stack.len(),
            Io,
            "the stack has {} values on one path and {} on another",
            self.stack.len(),
            state.len()
        );
        self.spend(state.len())?;
        let pairs = self.stack.iter().zip(state).filter_map(|(from, to)| Some((*from, to.owned()?)));
        Ok(pairs.filter(|(from, to)| from.owned() != Some(*to)).map(|(from, to)| (from.operand(), to)).collect())
    }

    /// Continues with a state: its registers are in use, no others.
    fn resume(&mut self, state: Vec<Entry>) -> Result<()> {
        self.spend(state.len() + self.added.len())?;
        let used: HashSet<Reg> = state.iter().filter_map(|entry| entry.owned()).collect();
        self.free = self.added.iter().copied().filter(|register| !used.contains(register)).collect();
        self.stack = state;
        self.is_reachable = true;
        Ok(())
    }

    /// The beginning of an instruction where jumps may end.
    fn arrive(&mut self, at: usize) -> Result<()> {
        if !self.labels.contains_key(&at) {
            return Ok(());
        }
        let known = self.label(at)?.state.clone();
        match known {
            Some(state) => {
                if self.is_reachable {
                    let moves = self.moves_to(&state)?;
                    self.emit_moves(&moves);
                }
                self.resume(state)?;
            }
            None if self.is_reachable => {
                self.settle_all(0..self.stack.len())?;
                self.label(at)?.state = Some(self.stack.clone());
            }
            None => return Ok(()),
        }
        self.fresh = None;
        self.land(at)
    }

    /// The jumps of a label end at the next instruction. Those of stubs, which are behind the code, end where the first
    /// ones ended.
    fn land(&mut self, at: usize) -> Result<()> {
        let here = self.here();
        let Some(label) = self.labels.get_mut(&at) else { return Ok(()) };
        let jumps = std::mem::take(&mut label.jumps);
        let to = *label.place.get_or_insert(here);
        jumps.into_iter().for_each(|jump| self.set_target(jump, to));
        Ok(())
    }

    fn set_target(&mut self, jump: usize, target: u32) {
        match self.code.instructions.get_mut(jump) {
            Some(Instruction::Jump { to } | Instruction::Unless { to, .. }) => *to = target,
            Some(Instruction::Loop { exit, .. }) => *exit = target,
            _ => {}
        }
    }

    /// A jump that leaves the path that is translated, from the instruction `jump`, with the stack as it is.
    fn branch(&mut self, jump: usize, label: usize) -> Result<()> {
        match self.label(label)?.state.clone() {
            None => {
                let state = self.stack.clone();
                self.spend(state.len())?;
                self.label(label)?.state = Some(state);
                self.label(label)?.jumps.push(jump);
            }
            Some(state) => {
                let moves = self.moves_to(&state)?;
                if moves.is_empty() {
                    self.label(label)?.jumps.push(jump);
                } else {
                    self.stubs.push(Stub { jump, moves, label });
                }
            }
        }
        Ok(())
    }

    fn jump(&mut self, at: usize, offset: i32) -> Result<()> {
        let to = target(at, offset)?;
        self.is_reachable = false;
        if offset < 0 {
            let Some(head) = self.heads.get(&to) else { bail!(Io, "a jump goes back to code that is never run") };
            let (state, to) = (head.state.clone(), head.at);
            let moves = self.moves_to(&state)?;
            self.emit_moves(&moves);
            self.emit(Instruction::Jump { to });
            return Ok(());
        }
        match self.label(to)?.state.clone() {
            Some(state) => {
                let moves = self.moves_to(&state)?;
                self.emit_moves(&moves);
                self.stack = state;
            }
            None => self.settle_all(0..self.stack.len())?,
        }
        let jump = self.emit(Instruction::Jump { to: 0 });
        self.branch(jump, to)
    }

    fn jump_if_false(&mut self, at: usize, offset: i32) -> Result<()> {
        let to = target(at, offset)?;
        let below = self.stack.len().checked_sub(1).ok_or_else(|| err!(Io, "the stack is empty"))?;
        self.settle_all(0..below)?;
        let condition = self.pop()?.operand();
        let jump = self.emit(Instruction::Unless { condition, to: 0 });
        self.branch(jump, to)
    }

    fn begin_loop(&mut self, at: usize, offset: i32, count: usize) -> Result<()> {
        let exit = target(at, offset)?;
        ensure!(count >= 2, Io, "a loop with {count} inputs");
        let Some(base) = self.stack.len().checked_sub(count + 1) else {
            bail!(Io, "a loop takes {} values from a stack of {}", count + 1, self.stack.len())
        };
        self.settle_all(0..base)?;
        self.settle_all(base + 3..self.stack.len())?;
        // The state needs four registers in a row.
        let state = self.new_register()?;
        for _ in 0..3 {
            self.new_register()?;
        }
        for (register, index) in (state..state + 3).zip(base..) {
            let Some(place) = self.stack.get_mut(index) else { continue };
            let from = std::mem::replace(place, Entry::Kept(register));
            if let Entry::Own(register) = from {
                self.free.push(register);
            }
            self.emit(Instruction::Move { from: from.operand(), to: register });
        }
        self.spend(self.stack.len())?;
        self.heads.insert(at, Head { state: self.stack.clone(), at: self.here() });
        let head = self.emit(Instruction::Loop { state, exit: 0 });
        let inside = self.stack.clone();
        self.stack.drain(base..base + 3);
        self.branch(head, exit)?;
        self.stack = inside;
        if let Some(index) = self.stack.get_mut(base + 2) {
            *index = Entry::Kept(state + 3);
        }
        Ok(())
    }

    // ---- one instruction -----------------------------------------------------------------------------------

    fn step(&mut self, at: usize, step: Step) -> Result<()> {
        let (x, n) = (step.x, step.n as usize);
        let count = || usize::try_from(x).map_err(|_| err!(Io, "a count of {x}"));
        match step.opcode {
            Opcode::Op => self.operator(at, x, None),
            Opcode::OpN => self.operator(at, x, Some(n)),
            Opcode::Load => {
                let local = self.local(x)?;
                self.push(Entry::Local(local))
            }
            Opcode::Move => {
                let local = self.local(x)?;
                self.detach(local)?;
                self.push(Entry::Moved(local))
            }
            Opcode::Store => self.store(x),
            Opcode::StoreN => {
                ensure!(n <= self.stack.len(), Io, "{n} values are taken from a stack of {}", self.stack.len());
                (0..n as i32).rev().try_for_each(|index| self.store(x.saturating_add(index)))
            }
            Opcode::Drop => self.drop_top(),
            Opcode::DropRegister => {
                let local = self.local(x)?;
                self.detach(local)?;
                self.drop_register(local);
                Ok(())
            }
            Opcode::Constant => {
                let index = count()?;
                let known = self.method.constants.len();
                ensure!(index < known, Io, "there is no constant {index}, the function has {known}");
                self.push(Entry::Constant(index as u32))
            }
            Opcode::JumpIfFalse => self.jump_if_false(at, x),
            Opcode::Jump => self.jump(at, x),
            Opcode::Loop => self.begin_loop(at, x, n),
            Opcode::Return => {
                let value = self.pop()?.operand();
                let first = Self::intern(&mut self.code.operands, value);
                self.emit(Instruction::Return { first, count: 1 });
                self.is_reachable = false;
                Ok(())
            }
            Opcode::GetAttribute => {
                let slot = slot(x)?;
                let from = self.pop()?.operand();
                let to = self.result()?;
                self.emit(Instruction::GetSlot { from, slot, to });
                Ok(())
            }
            Opcode::SetAttribute => {
                let slot = slot(x)?;
                let value = self.pop()?.operand();
                let object = self.pop()?.operand();
                self.emit(Instruction::SetSlot { object, value, slot });
                Ok(())
            }
            Opcode::CallMethod => {
                ensure!(n > 0, Io, "a method is called without an object");
                let name = match self.method.constants.get(count()?) {
                    Some(name @ Value::Str(_)) => name.as_str()?.into(),
                    _ => bail!(Io, "the name of a method is constant {x}, which is no string"),
                };
                let name = Self::intern(&mut self.code.names, name);
                self.apply(n, 1, |site| Instruction::CallMethod { name, site })
            }
            Opcode::List => {
                let element = match self.kind(x)? {
                    Type::List(element) => (**element).clone(),
                    other => bail!(Io, "a list of type {other}"),
                };
                let kind = Self::intern(&mut self.code.kinds, element);
                self.apply(n, 1, |site| Instruction::List { kind, site })
            }
            Opcode::Dict => {
                let kind = match self.kind(x)? {
                    kind @ Type::Dict(_) => kind.clone(),
                    other => bail!(Io, "a dict of type {other}"),
                };
                ensure!(n.is_multiple_of(2), Io, "a dict of {n} keys and values");
                let kind = Self::intern(&mut self.code.kinds, kind);
                self.apply(n, 1, |site| Instruction::Dict { kind, site })
            }
            Opcode::Tuple => self.apply(count()?, 1, |site| Instruction::Tuple { site }),
            Opcode::NamedTuple => {
                let class = match self.kind(x)? {
                    Type::NamedTuple(class) if class.fields.len() == n => class.clone(),
                    other => bail!(Io, "a NamedTuple of type {other} with {n} fields"),
                };
                let class = Self::intern(&mut self.code.named_tuples, class);
                self.apply(n, 1, |site| Instruction::NamedTuple { class, site })
            }
            Opcode::UnpackList => self.apply(1, count()?, |site| Instruction::UnpackList { site }),
            Opcode::SliceTuple => {
                let bounds = [Value::Int(x.into()), Value::Int(n as i64)];
                let tuple = self.pop()?.operand();
                let [start, length] = bounds.map(|value| self.constant(value));
                self.builtin(slice_tuple, &[tuple, start?, length?], 1)
            }
            Opcode::IndexTuple => self.call("prim::TupleIndex", "", 2),
            Opcode::IndexDict => self.call("aten::__getitem__", "Dict_str", 2),
            Opcode::Create => {
                let class = match self.kind(x)? {
                    Type::Class(name) => self.linker.class(name)?,
                    other => bail!(Io, "an object of type {other}"),
                };
                let class = Self::intern(&mut self.code.classes, class);
                let to = self.result()?;
                self.emit(Instruction::Create { class, to });
                Ok(())
            }
            Opcode::IsInstance => {
                let mut kinds = Vec::new();
                for offset in 0..n as i32 {
                    kinds.push(self.kind(x.saturating_add(offset))?.clone());
                }
                let kinds = Self::intern(&mut self.code.instance_kinds, kinds);
                let from = self.pop()?.operand();
                let to = self.result()?;
                self.emit(Instruction::IsInstance { from, kinds, to });
                Ok(())
            }
            Opcode::Raise => self.raise(2),
            Opcode::Warn => self.call("aten::warn", "", 2),
            Opcode::Undefined => self.undefined(),
            Opcode::Is => self.call("aten::__is__", "", 2),
            Opcode::IsNot => self.call("aten::__isnot__", "", 2),
            Opcode::Not => {
                let from = self.pop()?.operand();
                let to = self.result()?;
                self.emit(Instruction::Not { from, to });
                Ok(())
            }
            Opcode::Format => self.call("aten::format", "", count()?),
            Opcode::Device => self.call("prim::device", "", 1),
            Opcode::DType => self.call("prim::dtype", "", 1),
            Opcode::Dim => self.call("aten::dim", "", 1),
            Opcode::IsCuda => self.call("prim::is_cuda", "", 1),
            Opcode::ToList => self.tolist(),
            Opcode::NumberToTensor => self.call("prim::NumToTensor", "Scalar", 1),
        }
    }

    fn kind(&self, index: i32) -> Result<&Type> {
        let found = usize::try_from(index).ok().and_then(|index| self.method.types.get(index));
        let known = self.method.types.len();
        let found = found.ok_or_else(|| err!(Io, "there is no type {index}, the function has {known}"))?;
        found.as_ref().map_err(Clone::clone)
    }

    fn drop_top(&mut self) -> Result<()> {
        let fresh = self.fresh.take().filter(|(_, count)| *count == self.code.instructions.len());
        let entry = self.pop()?;
        match (entry, fresh) {
            (Entry::Own(register), Some((target, _))) if self.code.targets.get(target) == Some(&register) => {
                if let Some(place) = self.code.targets.get_mut(target) {
                    *place = UNUSED;
                }
            }
            (Entry::Own(register) | Entry::Moved(register), _) => self.drop_register(register),
            _ => {}
        }
        Ok(())
    }

    fn undefined(&mut self) -> Result<()> {
        let none = self.constant(Value::None)?;
        self.push(Entry::Constant(none.index() as u32))
    }

    /// Raises the exception whose message, and class if there are two values, are on top. What follows is never run,
    /// unless a jump leads there.
    fn raise(&mut self, values: usize) -> Result<()> {
        let operands = self.pop_several(values.min(self.stack.len()).max(1))?;
        let none = self.constant(Value::None)?;
        let message = operands.first().copied().unwrap_or(none);
        let class = operands.get(1).copied().unwrap_or(none);
        self.emit(Instruction::Raise { message, class });
        self.is_reachable = false;
        Ok(())
    }
}

/// The instruction at which a jump ends. [`Method::labels`] has checked that there is one.
fn target(at: usize, offset: i32) -> Result<usize> {
    at.checked_add_signed(offset as isize).ok_or_else(|| err!(Io, "a jump ends outside of the function"))
}

fn slot(number: i32) -> Result<u32> {
    match usize::try_from(number) {
        Ok(slot) if slot < MAX_SLOTS => Ok(slot as u32),
        _ => bail!(Io, "an object has no attribute {number}"),
    }
}

/// Tuple, the first element, and how many.
fn slice_tuple(args: &mut Args<'_>) -> Result<Value> {
    let items = args.tuple(0)?.items();
    let (start, count) = (args.int(1)? as usize, args.int(2)? as usize);
    let part = start.checked_add(count).and_then(|end| items.get(start..end));
    let part = part.ok_or_else(|| err!(Index, "a tuple of {} elements has no {count} from {start} on", items.len()))?;
    Ok(Tuple::new(list::copied(part)?).into())
}
