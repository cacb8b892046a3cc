//! Functions: the statements of a graph in order. Values that several nodes use are variables; others are part of the
//! expression that uses them.

use super::inline::{inlined, is_constant};
use super::names::Locals;
use super::program::Printer;
use crate::graph::{Attribute, BlockId, Graph, NodeId, ValueId};
use crate::runtime::function::Function;
use crate::schema::Argument;
use crate::types::Type;
use rushlight_base::{Result, bail, ensure, err};
use std::collections::{HashMap, HashSet};

/// Blocks in blocks.
const MAX_DEPTH: usize = 200;
/// An expression of this length is a statement, so that expressions do not grow without end.
const LONG: usize = 40;

/// Prints a function as `name`, indented by `level` steps.
pub(super) fn print(printer: &mut Printer<'_>, name: &str, function: &Function, level: usize) -> Result<String> {
    let graph = tidied(function.known_graph()?)?;
    let mut locals = Locals::default();
    let mut body = Body::new(printer, &graph, &mut locals, level + 1)?;
    let head = body.head(name, function)?;
    let text = body.text(0)?;
    Ok(format!("{:level$}{head}{text}", "", level = 2 * level))
}

/// The graph without what compiling printed code again has added.
fn tidied(graph: &Graph) -> Result<Graph> {
    let mut graph = graph.clone();
    graph.lower_simple_tuples()?;
    graph.remove_unused_carried()?;
    Ok(graph)
}

/// A graph that is being printed: that of a function, or of one that it forks.
pub(super) struct Body<'b, 'p> {
    pub(super) printer: &'b mut Printer<'p>,
    pub(super) graph: &'b Graph,
    locals: &'b mut Locals,
    inline: HashSet<NodeId>,
    /// The expressions of values.
    expressions: HashMap<ValueId, String>,
    /// Inlined expressions that no other has taken yet, in the order in which they run.
    pending: Vec<ValueId>,
    out: String,
    level: usize,
    /// The length of `out` where the body of each open `with` statement begins.
    contexts: Vec<usize>,
}

impl<'b, 'p> Body<'b, 'p> {
    fn new(
        printer: &'b mut Printer<'p>,
        graph: &'b Graph,
        locals: &'b mut Locals,
        level: usize,
    ) -> Result<Body<'b, 'p>> {
        let inline = inlined(graph)?;
        let expressions = HashMap::new();
        let (pending, out, contexts) = (Vec::new(), String::new(), Vec::new());
        Ok(Body { printer, graph, locals, inline, expressions, pending, out, level, contexts })
    }

    /// `def f(x: Tensor,\n    n: int=2) -> Tensor:`
    fn head(&mut self, name: &str, function: &Function) -> Result<String> {
        let inputs = self.graph.block(self.graph.top())?.inputs();
        let arguments = &function.schema.arguments;
        let mut parameters = Vec::new();
        for (index, &input) in inputs.iter().enumerate() {
            let argument = arguments.get(index).filter(|_| arguments.len() == inputs.len());
            parameters.push(self.parameter(input, argument)?);
        }
        let declared = function.schema.returns.first().and_then(|result| result.kind.concrete());
        let result = match declared {
            Some(kind) => kind,
            None => self.result()?,
        };
        Ok(format!("def {name}({}) -> {}:\n", parameters.join(",\n    "), self.printer.annotation(&result)))
    }

    fn parameter(&mut self, input: ValueId, argument: Option<&Argument>) -> Result<String> {
        let name = argument.map_or_else(|| self.graph.name(input), |argument| argument.name.to_string());
        let name = self.locals.argument(&name);
        let declared = argument.and_then(|argument| argument.kind.concrete());
        let kind = declared.unwrap_or(self.graph.value(input)?.kind.clone());
        let mut text = format!("{name}: {}", self.printer.annotation(&kind));
        if let Some(default) = argument.and_then(|argument| argument.default.as_ref()) {
            text.push('=');
            text.push_str(&self.printer.default(default, &kind)?);
        }
        self.expressions.insert(input, name);
        Ok(text)
    }

    /// The type of what the graph returns.
    fn result(&self) -> Result<Type> {
        let outputs = self.graph.block(self.graph.top())?.outputs();
        let kinds = outputs.iter().map(|&output| Ok(self.graph.value(output)?.kind.clone()));
        let kinds: Vec<Type> = kinds.collect::<Result<_>>()?;
        Ok(match kinds.as_slice() {
            [] => Type::None,
            [single] => single.clone(),
            _ => Type::tuple(kinds),
        })
    }

    /// The statements of the function.
    fn text(mut self, depth: usize) -> Result<String> {
        let top = self.graph.top();
        self.block(top, depth)?;
        let outputs = self.graph.block(top)?.outputs();
        self.split_long(outputs)?;
        let results = self.uses(outputs)?;
        match results.as_slice() {
            [] => self.line("return None"),
            [single] => self.line(&format!("return {single}")),
            several => self.line(&format!("return ({})", several.join(", "))),
        }
        Ok(self.out)
    }

    // ---- lines and names -----------------------------------------------------------------------------------

    fn line(&mut self, text: &str) {
        self.out.extend(std::iter::repeat_n("  ", self.level));
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// The expression of a value.
    pub(super) fn of(&mut self, value: ValueId) -> Result<String> {
        if let Some(known) = self.expressions.get(&value) {
            self.pending.retain(|&other| other != value);
            return Ok(known.clone());
        }
        match self.graph.value(value)?.origin() {
            crate::graph::Origin::Node(node) if is_constant(self.graph, node) => self.constant(node),
            _ => Err(err!(Runtime, "%{} is used before it is defined", self.graph.name(value))),
        }
    }

    pub(super) fn uses(&mut self, values: &[ValueId]) -> Result<Vec<String>> {
        values.iter().map(|&value| self.of(value)).collect()
    }

    /// Gives a value a variable.
    fn name(&mut self, value: ValueId) -> String {
        let name = self.graph.name(value);
        let is_number = name.bytes().all(|digit| digit.is_ascii_digit());
        let name = if is_number { self.locals.number() } else { self.locals.fresh(&name) };
        self.expressions.insert(value, name.clone());
        name
    }

    fn name_all(&mut self, values: &[ValueId]) -> Vec<String> {
        values.iter().map(|&value| self.name(value)).collect()
    }

    fn kind(&self, value: ValueId) -> Result<&'b Type> {
        Ok(&self.graph.value(value)?.kind)
    }

    // ---- nodes ---------------------------------------------------------------------------------------------

    /// The nodes of a block.
    fn block(&mut self, block: BlockId, depth: usize) -> Result<()> {
        ensure!(depth < MAX_DEPTH, Runtime, "blocks are nested more than {MAX_DEPTH} deep");
        let open = self.contexts.len();
        for node in self.graph.nodes(block) {
            if !is_constant(self.graph, node) {
                self.node(node, depth).map_err(|error| self.located(error, node))?;
            }
        }
        ensure!(self.contexts.len() == open, Runtime, "prim::Enter without prim::Exit in one block");
        Ok(())
    }

    fn located(&self, error: rushlight_base::Error, node: NodeId) -> rushlight_base::Error {
        let Ok(node) = self.graph.node(node) else { return error };
        match &node.location {
            Some(location) if node.blocks().is_empty() => {
                error.context(format!("{} ({}, line {})", node.kind, location.file, location.line))
            }
            None if node.blocks().is_empty() => error.context(&node.kind),
            _ => error,
        }
    }

    fn node(&mut self, id: NodeId, depth: usize) -> Result<()> {
        let node = self.graph.node(id)?;
        match &*node.kind {
            "prim::If" => {
                self.split_long(node.inputs())?;
                return self.branches(id, depth);
            }
            "prim::Loop" => {
                self.split_long(node.inputs())?;
                return self.repeated(id, depth);
            }
            "prim::fork" | "prim::forkClosure" | "prim::awaitable" => return self.forked(id, depth),
            _ => self.split_long(node.inputs())?,
        }
        match (&*node.kind, node.inputs(), node.outputs()) {
            ("prim::TupleUnpack" | "prim::ListUnpack", &[from], outputs) => {
                let from = self.of(from)?;
                let names: String = self.name_all(outputs).iter().map(|name| format!("{name}, ")).collect();
                if !names.is_empty() {
                    self.line(&format!("{names}= {from}"));
                }
            }
            ("prim::SetAttr", &[object, value], _) => self.set_attribute(id, object, value)?,
            ("prim::Enter", &[object], outputs) => {
                let object = self.of(object)?;
                let target = match outputs {
                    &[output] if !self.graph.value(output)?.users().is_empty() => format!(" as {}", self.name(output)),
                    _ => String::new(),
                };
                self.line(&format!("with {object}{target}:"));
                self.contexts.push(self.out.len());
                self.level += 1;
            }
            ("prim::Exit", ..) => {
                let start = self.contexts.pop().ok_or_else(|| err!(Runtime, "prim::Exit without prim::Enter"))?;
                self.pass_if_empty(start);
                self.level = self.level.saturating_sub(1);
            }
            (_, _, outputs) => {
                let expression = self.expression(id)?;
                match outputs {
                    &[output] if self.inline.contains(&id) => {
                        self.expressions.insert(output, expression);
                        self.pending.push(output);
                    }
                    outputs => self.define(outputs, &expression),
                }
            }
        }
        Ok(())
    }

    /// `a, b = expression`
    fn define(&mut self, outputs: &[ValueId], expression: &str) {
        let names = self.name_all(outputs);
        match names.is_empty() {
            true => self.line(expression),
            false => self.line(&format!("{} = {expression}", names.join(", "))),
        }
    }

    /// Assigns inlined expressions to variables if they are long, and those that have to run before them.
    fn split_long(&mut self, inputs: &[ValueId]) -> Result<()> {
        let is_long = |value: &ValueId| {
            inputs.contains(value) && self.expressions.get(value).is_some_and(|text| text.len() >= LONG)
        };
        let Some(last) = self.pending.iter().rposition(is_long) else { return Ok(()) };
        for value in self.pending.drain(..=last).collect::<Vec<_>>() {
            if let Some(expression) = self.expressions.get(&value).cloned() {
                self.define(&[value], &expression);
            }
        }
        Ok(())
    }

    fn set_attribute(&mut self, id: NodeId, object: ValueId, value: ValueId) -> Result<()> {
        let name = self.attribute_name(id)?;
        let (object, value) = (self.of(object)?, self.of(value)?);
        ensure!(
            super::names::is_attribute(&name),
            NotImplemented,
            "code cannot set an attribute that is called '{name}'"
        );
        self.line(&format!("{object}.{name} = {value}"));
        Ok(())
    }

    fn pass_if_empty(&mut self, start: usize) {
        if self.out.len() == start {
            self.line("pass");
        }
    }

    // ---- blocks --------------------------------------------------------------------------------------------

    fn branches(&mut self, id: NodeId, depth: usize) -> Result<()> {
        let node = self.graph.node(id)?;
        let (&[condition], &[yes, no]) = (node.inputs(), node.blocks()) else {
            bail!(Runtime, "prim::If needs a condition and two blocks")
        };
        let outputs = node.outputs();
        let condition = self.of(condition)?;
        let names = self.name_all(outputs);
        for (head, block, first) in [(format!("if {condition}:"), yes, true), ("else:".to_owned(), no, false)] {
            self.line(&head);
            self.level += 1;
            let start = self.out.len();
            self.block(block, depth + 1)?;
            self.branch_results(block, outputs, &names, first)?;
            self.pass_if_empty(start);
            self.level -= 1;
        }
        Ok(())
    }

    /// Assigns the results of a branch to those of the `if`. The first branch declares the types that the values of the
    /// branches do not tell.
    fn branch_results(&mut self, block: BlockId, outputs: &[ValueId], names: &[String], first: bool) -> Result<()> {
        let results = self.graph.block(block)?.outputs();
        ensure!(results.len() == outputs.len(), Runtime, "a branch of prim::If has another number of results");
        self.split_long(results)?;
        let mut types = Vec::new();
        for (&output, &result) in outputs.iter().zip(results) {
            let (wanted, found) = (self.kind(output)?, self.kind(result)?);
            let told = !matches!(wanted, Type::Optional(_) | Type::Union(_)) && wanted == found;
            types.push((first && !told).then(|| self.printer.annotation(wanted)));
        }
        let values = self.uses(results)?;
        if types.iter().all(Option::is_none) {
            if !names.is_empty() {
                self.line(&format!("{} = {}", names.join(", "), values.join(", ")));
            }
            return Ok(());
        }
        for ((name, kind), value) in names.iter().zip(types).zip(values) {
            match kind {
                Some(kind) => self.line(&format!("{name} : {kind} = {value}")),
                None => self.line(&format!("{name} = {value}")),
            }
        }
        Ok(())
    }

    fn repeated(&mut self, id: NodeId, depth: usize) -> Result<()> {
        let node = self.graph.node(id)?;
        let (&[limit, start, ref initial @ ..], &[body]) = (node.inputs(), node.blocks()) else {
            bail!(Runtime, "prim::Loop needs a limit, a condition and a block")
        };
        let outputs = node.outputs();
        let (&[index, ref carried @ ..], &[next, ref after @ ..]) =
            (self.graph.block(body)?.inputs(), self.graph.block(body)?.outputs())
        else {
            bail!(Runtime, "the block of prim::Loop has no counter or no condition")
        };
        let counts = [initial.len(), carried.len(), after.len()];
        ensure!(counts == [outputs.len(); 3], Runtime, "prim::Loop carries values of different numbers");
        let (limit_text, start_text) = (self.of(limit)?, self.of(start)?);
        let names = self.carry(outputs, carried, initial)?;
        let is_for = self.is_true(start) && self.is_true(next);
        let counted = is_for || self.graph.value(index)?.users().is_empty() && self.is_endless(limit);
        let header = Loop { body, index, next, after, names, depth };
        match (is_for, counted) {
            (true, _) => self.for_loop(header, &limit_text),
            (false, true) => self.while_loop(header, &start_text),
            (false, false) => self.while_counting(header, &limit_text, &start_text),
        }
    }

    /// Gives what a loop carries its variables, with the values before the loop.
    fn carry(&mut self, outputs: &[ValueId], carried: &[ValueId], initial: &[ValueId]) -> Result<Vec<String>> {
        let values = self.uses(initial)?;
        let names = self.name_all(outputs);
        for (((&output, &inner), &first), (name, value)) in
            outputs.iter().zip(carried).zip(initial).zip(names.iter().zip(values))
        {
            self.expressions.insert(inner, name.clone());
            let kind = self.kind(output)?;
            let told = !matches!(kind, Type::Optional(_) | Type::Union(_)) && kind == self.kind(first)?;
            match told {
                true => self.line(&format!("{name} = {value}")),
                false => {
                    let kind = self.printer.annotation(kind);
                    self.line(&format!("{name} : {kind} = {value}"));
                }
            }
        }
        Ok(names)
    }

    fn for_loop(&mut self, state: Loop<'_>, limit: &str) -> Result<()> {
        let index = self.name(state.index);
        self.line(&format!("for {index} in range({limit}):"));
        let names = state.names.clone();
        self.loop_body(&state, state.after, &names, &[])
    }

    fn while_loop(&mut self, state: Loop<'_>, start: &str) -> Result<()> {
        let condition = self.name(state.index);
        self.line(&format!("{condition} = {start}"));
        self.line(&format!("while {condition}:"));
        let names: Vec<String> = std::iter::once(condition).chain(state.names.iter().cloned()).collect();
        let results: Vec<ValueId> = std::iter::once(state.next).chain(state.after.iter().copied()).collect();
        self.loop_body(&state, &results, &names, &[])
    }

    /// A loop that ends after a number of iterations or by its condition.
    fn while_counting(&mut self, state: Loop<'_>, limit: &str, start: &str) -> Result<()> {
        let (index, end, condition) = (self.name(state.index), self.locals.number(), self.locals.number());
        self.line(&format!("{end} = {limit}"));
        self.line(&format!("{index} = 0"));
        self.line(&format!("{condition} = torch.__and__({start}, torch.gt({end}, 0))"));
        self.line(&format!("while {condition}:"));
        let (goes_on, following) = (self.locals.number(), self.locals.number());
        let names: Vec<String> = std::iter::once(goes_on.clone()).chain(state.names.iter().cloned()).collect();
        let results: Vec<ValueId> = std::iter::once(state.next).chain(state.after.iter().copied()).collect();
        let last = [
            format!("{following} = torch.add({index}, 1)"),
            format!("{condition} = torch.__and__({goes_on}, torch.lt({following}, {end}))"),
            format!("{index} = {following}"),
        ];
        self.loop_body(&state, &results, &names, &last)
    }

    fn loop_body(&mut self, state: &Loop<'_>, results: &[ValueId], names: &[String], last: &[String]) -> Result<()> {
        self.level += 1;
        let start = self.out.len();
        self.block(state.body, state.depth + 1)?;
        self.split_long(results)?;
        let values = self.uses(results)?;
        if !names.is_empty() {
            self.line(&format!("{} = {}", names.join(", "), values.join(", ")));
        }
        last.iter().for_each(|line| self.line(line));
        self.pass_if_empty(start);
        self.level -= 1;
        Ok(())
    }

    fn is_true(&self, value: ValueId) -> bool {
        self.int_of(value) == Some(1) && self.kind(value).is_ok_and(|kind| *kind == Type::Bool)
    }

    fn is_endless(&self, value: ValueId) -> bool {
        self.int_of(value) == Some(i64::MAX)
    }

    fn int_of(&self, value: ValueId) -> Option<i64> {
        let crate::graph::Origin::Node(node) = self.graph.value(value).ok()?.origin() else { return None };
        match self.graph.node(node).ok()?.attribute("value")? {
            Attribute::Int(number) if is_constant(self.graph, node) => Some(*number),
            _ => None,
        }
    }

    // ---- functions in functions ----------------------------------------------------------------------------

    /// The graph of a fork is a function in the function, which sees its variables.
    fn forked(&mut self, id: NodeId, depth: usize) -> Result<()> {
        ensure!(depth < MAX_DEPTH, Runtime, "functions are nested more than {MAX_DEPTH} deep");
        let node = self.graph.node(id)?;
        let (function, call) = match &*node.kind {
            "prim::awaitable" => ("__awaitable_function", "awaitable"),
            _ => ("__forked_function", "fork"),
        };
        let graph = match node.attribute("Subgraph") {
            Some(Attribute::Graph(graph)) => tidied(graph)?,
            _ => bail!(Runtime, "{} needs the attribute 'Subgraph'", node.kind),
        };
        let name = self.locals.fresh(function);
        let captured = self.uses(node.inputs())?;
        let inputs = graph.block(graph.top())?.inputs();
        ensure!(inputs.len() == captured.len(), Runtime, "a forked graph has {} inputs", inputs.len());
        let mut inner = Body::new(self.printer, &graph, self.locals, self.level + 1)?;
        inner.expressions.extend(inputs.iter().copied().zip(captured));
        let text = inner.text(depth + 1)?;
        self.line(&format!("def {name}():"));
        self.out.push_str(&text);
        self.define(node.outputs(), &format!("{call}({name})"));
        Ok(())
    }
}

/// A loop that is being printed.
struct Loop<'g> {
    body: BlockId,
    index: ValueId,
    next: ValueId,
    after: &'g [ValueId],
    names: Vec<String>,
    depth: usize,
}
