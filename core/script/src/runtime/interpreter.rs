//! Runs code. Calls of the program's functions are frames in a vector: recursion is limited by memory and by the cancel
//! flag, not by the stack of the host.

use super::code::{Arithmetic, Code, Instruction, Operand, Reg, UNUSED};
use super::construct::{construct, spread};
use super::convert::{from_operator, to_operator};
use super::fork::{Callers, Forks, Running, Task};
use super::function::{Function, Linker};
use super::list::List;
use super::lower::general;
use super::object::{Future, Tuple};
use super::trace::{Frame as Trace, failure};
use super::value::Value;
use crate::builtins::{Args, Context, floor_divide, floor_remainder, position};
use rushlight_base::{Error, Result, bail, ensure, err, list, runtime};
use rushlight_tensor::Values;
use rushlight_tensor::autograd::ThreadModes;
use rushlight_tensor::dispatch::LentValues;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

/// Receives what programs print. It must be safe to call from any thread.
pub type Sink = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// What a run needs besides the function: the rest of the program, and where printed text goes.
#[derive(Clone)]
pub struct Environment {
    /// Finds functions, methods and classes.
    pub linker: Arc<dyn Linker>,
    /// Receives the output of `print`. Without one it is discarded: a library does not print.
    pub print: Option<Sink>,
    /// Receives warnings. Without one they go to the log of Rushlight.
    pub warn: Option<Sink>,
}

impl Environment {
    /// An environment that discards what programs print.
    pub fn new(linker: Arc<dyn Linker>) -> Environment {
        Environment { linker, print: None, warn: None }
    }
}

/// Runs a function with complete arguments: one value for each input of its graph.
///
/// Forked functions run on other threads (`fork.rs`), and have ended when this returns.
pub fn run(function: &Function, arguments: Vec<Value>, environment: &Environment) -> Result<Value> {
    if let Some(plans) = function.plans()
        && let Some(result) = plans.run(&arguments, &environment.linker)?
    {
        return Ok(result);
    }
    let code = function.code(&*environment.linker)?;
    let mut forks = Forks::of_run();
    Interpreter { forks: Some(&mut forks), ..Interpreter::new(environment) }.run_whole(code, arguments)
}

/// Runs a forked function on this thread.
pub(super) fn run_task(task: Task) -> Result<Value> {
    let Task { code, arguments, environment, modes, callers, tasks } = task;
    let before = ThreadModes::here();
    modes.put_in_force();
    let mut forks = Forks::of(tasks);
    let interpreter = Interpreter { forks: Some(&mut forks), callers: Some(callers), ..Interpreter::new(&environment) };
    let result = interpreter.run_whole(code, arguments);
    if let Some(before) = before {
        before.put_in_force();
    }
    result
}

/// A run that can be suspended after each operator.
pub(crate) struct Suspended {
    environment: Environment,
    stack: Vec<Value>,
    frames: Vec<Frame>,
}

impl Suspended {
    /// Begins a function with complete arguments. No operator has run yet.
    pub fn new(function: &Function, arguments: Vec<Value>, environment: Environment) -> Result<Suspended> {
        let code = function.code(&*environment.linker)?;
        let mut interpreter = Interpreter::new(&environment);
        interpreter.begin(code, arguments)?;
        let Interpreter { stack, frames, .. } = interpreter;
        Ok(Suspended { environment, stack, frames })
    }

    /// Goes on until the function returns or the time is over. The result, if it returned.
    pub fn step(&mut self, until: Option<Instant>) -> Result<Option<Value>> {
        let (stack, frames) = (std::mem::take(&mut self.stack), std::mem::take(&mut self.frames));
        let mut interpreter = Interpreter { stack, frames, until, ..Interpreter::new(&self.environment) };
        let results = interpreter.run()?;
        let Interpreter { stack, frames, .. } = interpreter;
        (self.stack, self.frames) = (stack, frames);
        Ok(results.map(|mut results| one(&mut results)))
    }
}

/// Interpreters on the stack of the host: one that sorts objects calls their `__lt__` in another one.
const MAX_NESTED: usize = 32;

thread_local! {
    static NESTED: Cell<usize> = const { Cell::new(0) };
}

/// What happens with the results of a function.
enum Return {
    /// They are those of the run.
    Top,
    /// They go to registers of the caller, by the outputs of this site.
    Site(u32),
    /// They become the value of a future in this register of the caller.
    Future(Reg),
    /// They become the value of a future that the caller waits for, and go to its register.
    Wait(Box<Waiting>),
    /// They go to one register of the caller.
    Register(Reg),
}

/// A forked function that runs in the interpreter of the one that waits for it.
struct Waiting {
    future: Option<Running>,
    callers: Arc<Callers>,
    /// The modes of the function that waits.
    modes: ThreadModes,
    to: Reg,
}

impl Waiting {
    /// Completes the future; the register of the value.
    fn end(mut self, result: Result<Value>) -> Reg {
        if let Some(future) = self.future.take() {
            future.complete(result);
        }
        self.to
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.modes.put_in_force();
    }
}

struct Frame {
    code: Arc<Code>,
    /// The next instruction.
    next: usize,
    /// The first register.
    base: usize,
    results: Return,
    /// The objects of `with` statements that have begun.
    entered: Vec<Value>,
}

struct Interpreter<'e> {
    environment: &'e Environment,
    stack: Vec<Value>,
    frames: Vec<Frame>,
    scratch: Vec<Value>,
    /// When to suspend the run.
    until: Option<Instant>,
    /// Runs the forked functions; without it they run at once.
    forks: Option<&'e mut Forks>,
    /// The functions around the first one, which was forked.
    callers: Option<Arc<Callers>>,
}

/// Why the loop over the instructions of a frame ends.
enum Leave {
    /// The call is done already.
    Nothing,
    /// The time is over.
    Suspended,
    Call(Arc<Code>, Return),
    /// Another thread may run the function; its future goes to this register.
    Fork(Arc<Code>, Reg),
    Return,
}

static NONE: Value = Value::None;

#[inline(always)]
pub(super) fn read<'a>(registers: &'a [Value], code: &'a Code, operand: Operand) -> &'a Value {
    let values = if operand.is_constant() { &code.constants[..] } else { registers };
    values.get(operand.index()).unwrap_or(&NONE)
}

#[inline(always)]
pub(super) fn fetch(registers: &mut [Value], code: &Code, operand: Operand) -> Value {
    if operand.is_constant() {
        return code.constants.get(operand.index()).cloned().unwrap_or_default();
    }
    match registers.get_mut(operand.index()) {
        Some(register) if operand.is_last() => std::mem::take(register),
        Some(register) => register.clone(),
        None => Value::None,
    }
}

#[inline(always)]
pub(super) fn write(registers: &mut [Value], register: Reg, value: Value) {
    if let Some(slot) = registers.get_mut(register as usize) {
        *slot = value;
    }
}

impl<'e> Interpreter<'e> {
    fn new(environment: &'e Environment) -> Interpreter<'e> {
        Interpreter {
            environment,
            stack: Vec::new(),
            frames: Vec::new(),
            scratch: Vec::new(),
            until: None,
            forks: None,
            callers: None,
        }
    }

    /// Runs a function from its beginning to its end.
    fn run_whole(mut self, code: Arc<Code>, arguments: Vec<Value>) -> Result<Value> {
        self.begin(code, arguments)?;
        match self.run()? {
            Some(mut results) => Ok(one(&mut results)),
            None => bail!(Internal, "a run without a deadline was suspended"),
        }
    }

    /// Begins a function with complete arguments.
    fn begin(&mut self, code: Arc<Code>, arguments: Vec<Value>) -> Result<()> {
        ensure!(
            arguments.len() == code.inputs as usize,
            Runtime,
            "Expected at most {} argument(s) for operator '{}', but received {} argument(s)",
            code.inputs,
            code.name,
            arguments.len()
        );
        self.scratch = arguments;
        self.enter(code, Return::Top)
    }

    /// Runs until the first function returns; `None` if the time is over before.
    fn run(&mut self) -> Result<Option<Vec<Value>>> {
        loop {
            let result = match self.execute() {
                Ok(Leave::Suspended) => return Ok(None),
                Ok(Leave::Call(code, results)) => runtime::check_may_begin().and_then(|()| self.enter(code, results)),
                Ok(Leave::Nothing) => Ok(()),
                Ok(Leave::Fork(code, to)) => runtime::check_may_begin().and_then(|()| self.fork(code, to)),
                Ok(Leave::Return) => match self.leave() {
                    Ok(Some(results)) => return Ok(Some(results)),
                    other => other.map(drop),
                },
                Err(error) => Err(error),
            };
            if let Err(error) = result {
                self.unwind(error)?;
            }
        }
    }

    /// Begins a function, whose arguments are in `scratch`.
    fn enter(&mut self, code: Arc<Code>, results: Return) -> Result<()> {
        let base = self.stack.len();
        let count = code.registers as usize;
        ensure!(
            self.scratch.len() == code.inputs as usize,
            Runtime,
            "{} expects {} arguments, but {} are given",
            code.name,
            code.inputs,
            self.scratch.len()
        );
        let memory = |_| err!(OutOfMemory, "not enough memory for a call of {}", code.name);
        self.stack.try_reserve(count).map_err(memory)?;
        self.frames.try_reserve(1).map_err(memory)?;
        self.stack.append(&mut self.scratch);
        self.stack.resize(base + count, Value::None);
        self.frames.push(Frame { code, next: 0, base, results, entered: Vec::new() });
        Ok(())
    }

    /// Forks a function, whose arguments are in `scratch`.
    fn fork(&mut self, code: Arc<Code>, to: Reg) -> Result<()> {
        let Some((tasks, modes)) = self.forks.as_mut().and_then(|forks| forks.tasks()) else {
            return self.enter(code, Return::Future(to));
        };
        let (outer, from) = self.boundary();
        let frames = self.frames.get(from..).unwrap_or_default();
        let frames = list::collect(frames.iter().map(|frame| (frame.code.clone(), frame.next)))?;
        let callers = Arc::new(Callers { frames, outer });
        let arguments = std::mem::take(&mut self.scratch);
        let task =
            Task { code, arguments, environment: self.environment.clone(), modes, callers, tasks: tasks.clone() };
        let future = tasks.fork(task)?;
        if let Some(caller) = self.frames.last() {
            let registers = self.stack.get_mut(caller.base..).unwrap_or_default();
            write(registers, to, future.into());
        }
        Ok(())
    }

    /// The forked function that runs innermost: the functions around it, and the index of its frame.
    fn boundary(&self) -> (Option<Arc<Callers>>, usize) {
        let forked = self.frames.iter().enumerate().rev().find_map(|(index, frame)| match &frame.results {
            Return::Wait(waiting) => Some((Some(waiting.callers.clone()), index)),
            _ => None,
        });
        forked.unwrap_or_else(|| (self.callers.clone(), 0))
    }

    /// Ends a function, whose results are in `scratch`. Returns them if it was the first.
    fn leave(&mut self) -> Result<Option<Vec<Value>>> {
        let Some(frame) = self.frames.pop() else { bail!(Internal, "no function is running") };
        self.stack.truncate(frame.base);
        let mut results = std::mem::take(&mut self.scratch);
        let Some(caller) = self.frames.last_mut() else { return Ok(Some(results)) };
        let registers = self.stack.get_mut(caller.base..).unwrap_or_default();
        match frame.results {
            Return::Top => bail!(Internal, "the first function has a caller"),
            Return::Site(site) => {
                for (value, &to) in results.drain(..).zip(caller.code.outputs_of(site)) {
                    write(registers, to, value);
                }
            }
            Return::Future(to) => {
                let value = one(&mut results);
                write(registers, to, Future::completed(Ok(value)).into());
            }
            Return::Wait(waiting) => {
                let value = one(&mut results);
                let to = waiting.end(Ok(value.clone()));
                write(registers, to, value);
            }
            Return::Register(to) => {
                let value = one(&mut results);
                write(registers, to, value);
            }
        }
        results.clear();
        self.scratch = results;
        Ok(None)
    }

    /// Ends functions up to one that was forked, whose future gets the error. Without one, the run fails.
    #[cold]
    fn unwind(&mut self, error: Error) -> Result<()> {
        self.scratch.clear();
        let (callers, from) = self.boundary();
        let around = callers.map(|callers| callers.positions()).unwrap_or_default();
        let within = self.frames.get(from..).unwrap_or_default();
        let trace = around.iter().map(|(code, next)| Trace::of(code, *next));
        let trace: Vec<Trace> = trace.chain(within.iter().map(|frame| Trace::of(&frame.code, frame.next))).collect();
        let error = failure(error, &trace, &*self.environment.linker);
        while let Some(frame) = self.frames.pop() {
            self.stack.truncate(frame.base);
            for object in frame.entered.into_iter().rev() {
                self.exit_after_error(object);
            }
            match frame.results {
                Return::Future(to) => {
                    if let Some(caller) = self.frames.last() {
                        let registers = self.stack.get_mut(caller.base..).unwrap_or_default();
                        write(registers, to, Future::completed(Err(error)).into());
                        return Ok(());
                    }
                }
                // The function that waits fails too.
                Return::Wait(waiting) => drop(waiting.end(Err(error.clone()))),
                _ => {}
            }
        }
        Err(error)
    }

    /// Calls `__exit__` of an object whose `with` statement an error has ended. Its own errors are lost, as in PyTorch.
    #[cold]
    fn exit_after_error(&self, object: Value) {
        let call = || -> Result<Value> {
            let class = object.as_object()?.class().name.clone();
            let method = self.environment.linker.method(&class, "__exit__")?;
            let count = method.graph.block(method.graph.top())?.inputs().len();
            let mut arguments = vec![object.clone()];
            arguments.resize(count.min(4), Value::None);
            nested(&method, arguments, self.environment)
        };
        drop(call());
    }

    /// Runs instructions of the current frame until it calls or returns.
    fn execute(&mut self) -> Result<Leave> {
        let Some(frame) = self.frames.last_mut() else { bail!(Internal, "no function is running") };
        let code = frame.code.clone();
        let code = &*code;
        let mut next = frame.next;
        let until = self.until;
        let is_over = || until.is_some_and(|until| Instant::now() >= until);
        let end = frame.base + code.registers as usize;
        let Some(registers) = self.stack.get_mut(frame.base..end) else { bail!(Internal, "registers are missing") };
        let result = loop {
            let Some(&instruction) = code.instructions.get(next) else {
                break Err(err!(Internal, "code does not return"));
            };
            next += 1;
            match instruction {
                Instruction::Move { from, to } => {
                    let value = fetch(registers, code, from);
                    write(registers, to, value);
                }
                Instruction::Arithmetic { operator, a, b, to } => {
                    let value = match (read(registers, code, a), read(registers, code, b)) {
                        (&Value::Int(a), &Value::Int(b)) => ints(operator, a, b),
                        (&Value::Float(a), &Value::Float(b)) => floats(operator, a, b),
                        (a, b) => other_numbers(operator, a, b, self.environment),
                    };
                    match value {
                        Ok(value) => write(registers, to, value),
                        Err(error) => break Err(error),
                    }
                }
                Instruction::Unless { condition, to } => match read(registers, code, condition) {
                    Value::Bool(true) => {}
                    Value::Bool(false) => next = to as usize,
                    other => match other.as_bool() {
                        Ok(true) => {}
                        Ok(false) => next = to as usize,
                        Err(error) => break Err(error),
                    },
                },
                Instruction::Jump { to } => next = to as usize,
                Instruction::Loop { state, exit } => {
                    if let Err(error) = runtime::check_cancelled() {
                        break Err(error);
                    }
                    let state = state as usize;
                    match registers.get_mut(state..state + 4) {
                        Some([Value::Int(trip), Value::Int(count), Value::Bool(true), index]) if *trip < *count => {
                            *index = Value::Int(*trip);
                            *trip += 1;
                        }
                        Some([_, Value::Int(_), Value::Bool(_), _]) => next = exit as usize,
                        _ => break Err(err!(Type, "the condition of a loop is no bool")),
                    }
                }
                Instruction::ListGet { list, index, to } => {
                    let value = match (read(registers, code, list), read(registers, code, index)) {
                        (Value::List(list), &Value::Int(index)) => element(list, index),
                        (other, _) => Err(other.is_not("list")),
                    };
                    match value {
                        Ok(value) => {
                            if list.is_last() {
                                write(registers, list.index() as Reg, Value::None);
                            }
                            write(registers, to, value);
                        }
                        Err(error) => break Err(error),
                    }
                }
                Instruction::Not { from, to } => match read(registers, code, from).as_bool() {
                    Ok(value) => write(registers, to, Value::Bool(!value)),
                    Err(error) => break Err(error),
                },
                Instruction::Drop { first, count } => {
                    let (first, count) = (first as usize, count as usize);
                    for &register in code.targets.get(first..first + count).unwrap_or_default() {
                        write(registers, register, Value::None);
                    }
                }
                Instruction::Moves { first, count } => {
                    let (first, count) = (first as usize, count as usize);
                    let moves = code.moves.get(first..first + count).unwrap_or_default();
                    let scratch = &mut self.scratch;
                    scratch.extend(moves.iter().map(|(from, _)| fetch(registers, code, *from)));
                    for (value, (_, to)) in scratch.drain(..).zip(moves) {
                        write(registers, *to, value);
                    }
                }
                Instruction::Builtin { run, site } => {
                    let scratch = &mut self.scratch;
                    scratch.clear();
                    for &input in code.inputs_of(site) {
                        scratch.push(fetch(registers, code, input));
                    }
                    match run(&mut Args::new(scratch, self.environment)) {
                        Ok(value) => match code.outputs_of(site) {
                            [] => {}
                            [to] => write(registers, *to, value),
                            several => {
                                if let Err(error) = spread(value, several, registers) {
                                    break Err(error);
                                }
                            }
                        },
                        Err(error) => break Err(error),
                    }
                    scratch.clear();
                    if is_over() {
                        break Ok(Leave::Suspended);
                    }
                }
                Instruction::Operator { index, site } => {
                    if let Err(error) = call_operator(index, site, code, registers) {
                        break Err(error);
                    }
                    if is_over() {
                        break Ok(Leave::Suspended);
                    }
                }
                Instruction::Return { first, count } => {
                    let (first, count) = (first as usize, count as usize);
                    let scratch = &mut self.scratch;
                    scratch.clear();
                    for &operand in code.operands.get(first..first + count).unwrap_or_default() {
                        scratch.push(fetch(registers, code, operand));
                    }
                    break Ok(Leave::Return);
                }
                Instruction::CallFunction { .. }
                | Instruction::CallMethod { .. }
                | Instruction::Fork { .. }
                | Instruction::Wait { .. }
                | Instruction::Enter { .. }
                | Instruction::Exit { .. } => {
                    break call(instruction, code, registers, &mut self.scratch, &mut frame.entered, self.environment);
                }
                other => {
                    if let Err(error) = construct(other, code, registers) {
                        break Err(error);
                    }
                }
            }
        };
        frame.next = next;
        result
    }
}

/// The result of a function as one value.
fn one(results: &mut Vec<Value>) -> Value {
    match results.len() {
        0 => Value::None,
        1 => results.pop().unwrap_or_default(),
        _ => Tuple::new(std::mem::take(results)).into(),
    }
}

#[inline(always)]
fn ints(operator: Arithmetic, a: i64, b: i64) -> Result<Value> {
    Ok(match operator {
        Arithmetic::Add => Value::Int(a.wrapping_add(b)),
        Arithmetic::Sub => Value::Int(a.wrapping_sub(b)),
        Arithmetic::Mul => Value::Int(a.wrapping_mul(b)),
        Arithmetic::Eq => Value::Bool(a == b),
        Arithmetic::Ne => Value::Bool(a != b),
        Arithmetic::Lt => Value::Bool(a < b),
        Arithmetic::Le => Value::Bool(a <= b),
        Arithmetic::Gt => Value::Bool(a > b),
        Arithmetic::Ge => Value::Bool(a >= b),
        Arithmetic::FloorDivide => Value::Int(floor_divide(a, b)?),
        Arithmetic::Remainder => Value::Int(floor_remainder(a, b)?),
    })
}

#[inline(always)]
fn floats(operator: Arithmetic, a: f64, b: f64) -> Result<Value> {
    Ok(match operator {
        Arithmetic::Add => Value::Float(a + b),
        Arithmetic::Sub => Value::Float(a - b),
        Arithmetic::Mul => Value::Float(a * b),
        Arithmetic::Eq => Value::Bool(a == b),
        Arithmetic::Ne => Value::Bool(a != b),
        Arithmetic::Lt => Value::Bool(a < b),
        Arithmetic::Le => Value::Bool(a <= b),
        Arithmetic::Gt => Value::Bool(a > b),
        Arithmetic::Ge => Value::Bool(a >= b),
        Arithmetic::FloorDivide => Value::Float((a / b).floor()),
        Arithmetic::Remainder => Value::Float((b + a % b) % b),
    })
}

#[cold]
fn other_numbers(operator: Arithmetic, a: &Value, b: &Value, environment: &Environment) -> Result<Value> {
    let run = general(operator).ok_or_else(|| err!(Internal, "an operator of numbers is missing"))?;
    run(&mut Args::new(&mut [a.clone(), b.clone()], environment))
}

#[inline(always)]
fn element(list: &List, index: i64) -> Result<Value> {
    let items = list.lock();
    let at = position(index, items.len());
    at.and_then(|at| items.get(at)).ok_or_else(|| err!(Index, "list index out of range"))
}

/// Calls an operator with tensors. The tensors are lent: the registers keep them meanwhile.
#[inline]
fn call_operator(index: u32, site: u32, code: &Code, registers: &mut [Value]) -> Result<()> {
    let Some(op) = code.operators.get(index as usize) else { bail!(Internal, "an operator is missing") };
    let inputs = code.inputs_of(site);
    let mut results = Values::new();
    {
        let mut args = LentValues::new();
        for &input in inputs {
            match read(registers, code, input) {
                Value::Tensor(tensor) => args.lend(tensor),
                other => args.push(to_operator(other)?),
            }
        }
        op.call_complete(&mut args, &mut results)?;
    }
    for &input in inputs {
        if input.is_last() {
            write(registers, input.index() as Reg, Value::None);
        }
    }
    let outputs = code.outputs_of(site);
    if outputs.len() > results.len() {
        bail!(Runtime, "{} returns {} values, but {} are expected", op.full_name(), results.len(), outputs.len());
    }
    for (&to, result) in outputs.iter().zip(results.0.iter_mut()) {
        let value = from_operator(std::mem::take(result))?;
        write(registers, to, value);
    }
    Ok(())
}

/// Instructions that begin another function, whose arguments are put into `scratch`.
fn call(
    instruction: Instruction,
    code: &Code,
    registers: &mut [Value],
    scratch: &mut Vec<Value>,
    entered: &mut Vec<Value>,
    environment: &Environment,
) -> Result<Leave> {
    let linker = &*environment.linker;
    let missing = || err!(Internal, "a part of the code is missing");
    let mut gather = |site: u32, registers: &mut [Value]| {
        scratch.clear();
        scratch.extend(code.inputs_of(site).iter().map(|&input| fetch(registers, code, input)));
    };
    match instruction {
        Instruction::CallFunction { name, site } => {
            gather(site, registers);
            let function = linker.function(code.names.get(name as usize).ok_or_else(missing)?)?;
            Ok(Leave::Call(function.code(linker)?, Return::Site(site)))
        }
        Instruction::CallMethod { name, site } => {
            gather(site, registers);
            let name = code.names.get(name as usize).ok_or_else(missing)?;
            let class = match scratch.first() {
                Some(Value::Object(object)) => object.class().name.clone(),
                Some(Value::Custom(object)) => {
                    let class = object.class_name();
                    let method = linker.custom_method(class, name);
                    let method =
                        method.ok_or_else(|| err!(Runtime, "'{class}' has no method '{name}' in this build"))?;
                    let value = method.call(scratch, environment)?;
                    scratch.clear();
                    if let Some(&to) = code.outputs_of(site).first() {
                        write(registers, to, value);
                    }
                    return Ok(Leave::Nothing);
                }
                Some(other) => return Err(other.is_not("object")),
                None => return Err(missing()),
            };
            Ok(Leave::Call(linker.method(&class, name)?.code(linker)?, Return::Site(site)))
        }
        Instruction::Fork { child, site, on_threads } => {
            gather(site, registers);
            let child = code.children.get(child as usize).ok_or_else(missing)?.clone();
            let to = code.outputs_of(site).first().copied().unwrap_or(UNUSED);
            Ok(if on_threads { Leave::Fork(child, to) } else { Leave::Call(child, Return::Future(to)) })
        }
        Instruction::Wait { from, to } => {
            let future = match fetch(registers, code, from) {
                Value::Future(future) => future,
                other => return Err(other.is_not("Future")),
            };
            let claimed = ThreadModes::here().and_then(|modes| Some((Running::claim(&future)?, modes)));
            let Some(((task, future), modes)) = claimed else {
                write(registers, to, future.wait()?);
                return Ok(Leave::Nothing);
            };
            let waiting = Waiting { future: Some(future), callers: task.callers, modes, to };
            task.modes.put_in_force();
            *scratch = task.arguments;
            Ok(Leave::Call(task.code, Return::Wait(Box::new(waiting))))
        }
        Instruction::Enter { object, to } => {
            let object = fetch(registers, code, object);
            let method = linker.method(&object.as_object()?.class().name, "__enter__")?;
            entered.push(object.clone());
            scratch.clear();
            scratch.push(object);
            Ok(Leave::Call(method.code(linker)?, Return::Register(to)))
        }
        Instruction::Exit { to } => {
            let object = entered.pop().ok_or_else(|| err!(Runtime, "a with statement ends that has not begun"))?;
            let method = linker.method(&object.as_object()?.class().name, "__exit__")?;
            let code = method.code(linker)?;
            scratch.clear();
            scratch.push(object);
            scratch.resize(code.inputs as usize, Value::None);
            Ok(Leave::Call(code, Return::Register(to)))
        }
        _ => Err(missing()),
    }
}

/// Runs a function inside of an operator that this interpreter calls.
fn nested(function: &Function, arguments: Vec<Value>, environment: &Environment) -> Result<Value> {
    let depth = NESTED.get();
    ensure!(depth < MAX_NESTED, Runtime, "functions that operators call are nested more than {MAX_NESTED} deep");
    NESTED.set(depth + 1);
    let result = run(function, arguments, environment);
    NESTED.set(depth);
    result
}

impl Context for Environment {
    fn print(&self, text: &[u8]) {
        if let Some(print) = &self.print {
            print(text);
        }
    }

    fn warn(&self, text: &str) {
        match &self.warn {
            Some(warn) => warn(text.as_bytes()),
            None => runtime::log(runtime::LogLevel::Warning, || text.to_owned()),
        }
    }

    fn less(&self, a: &Value, b: &Value) -> Result<bool> {
        let class = a.as_object()?.class().name.clone();
        let method = self.linker.method(&class, "__lt__")?;
        nested(&method, vec![a.clone(), b.clone()], self)?.as_bool()
    }
}

impl Trace<'_> {
    fn of(code: &Code, next: usize) -> Trace<'_> {
        Trace { function: &code.name, location: code.location(next.saturating_sub(1)) }
    }
}
