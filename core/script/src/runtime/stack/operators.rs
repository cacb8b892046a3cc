//! Calls of operators: their arguments with the defaults that files leave out, and how many values they leave.

use super::super::code::{Instruction, Operand};
use super::super::lower::arithmetic;
use super::super::resolve::{Candidate, Target, overload};
use super::super::value::Value;
use super::Translation;
use crate::arguments::literal;
use crate::builtins::{Args, Builtin};
use crate::lite::{Opcode, Step};
use crate::schema::Schema;
use crate::upgrade;
use rushlight_base::{Result, bail, ensure, err};

impl Translation<'_> {
    pub(super) fn builtin(&mut self, run: Builtin, inputs: &[Operand], outputs: usize) -> Result<()> {
        self.apply_to(inputs, outputs, |site| Instruction::Builtin { run, site })
    }

    /// Calls an operator of this library with the last `inputs` values.
    pub(super) fn call(&mut self, name: &str, overload_name: &str, inputs: usize) -> Result<()> {
        let found = overload(name, overload_name).ok_or_else(|| err!(Internal, "{name} is missing"))?;
        let operands = self.pop_several(inputs)?;
        self.invoke(&found, &operands, found.schema.returns.len())
    }

    fn invoke(&mut self, candidate: &Candidate, inputs: &[Operand], outputs: usize) -> Result<()> {
        match &candidate.target {
            Target::Builtin(row) => self.builtin(row.run, inputs, outputs),
            Target::Operator(op) => {
                let index = Self::intern(&mut self.code.operators, op.clone());
                self.apply_to(inputs, outputs, |site| Instruction::Operator { index, site })
            }
        }
    }

    /// Its schema leaves the arguments open: a tensor, the number of dimensions and the type of the elements.
    pub(super) fn tolist(&mut self) -> Result<()> {
        let found = overload("prim::tolist", "").ok_or_else(|| err!(Internal, "prim::tolist is missing"))?;
        let operands = self.pop_several(3)?;
        self.invoke(&found, &operands, 1)
    }

    /// How many values an instruction leaves, of which the file has no number: what the next instruction stores.
    fn open_results(&self, at: usize, inputs: usize) -> Result<usize> {
        let below = self.stack.len().checked_sub(inputs).ok_or_else(|| err!(Io, "the stack is empty"))?;
        if let Some(state) = self.labels.get(&(at + 1)).and_then(|label| label.state.as_ref()) {
            let count = state.len().checked_sub(below);
            return count.ok_or_else(|| err!(Io, "the stack has fewer values on one path than on another"));
        }
        Ok(match self.method.steps.get(at + 1) {
            Some(Step { opcode: Opcode::StoreN, n, .. }) => *n as usize,
            _ => 1,
        })
    }

    pub(super) fn operator(&mut self, at: usize, index: i32, given: Option<usize>) -> Result<()> {
        let method = self.method;
        let known = method.operators.len();
        let operator = usize::try_from(index).ok().and_then(|index| method.operators.get(index));
        let operator = operator.ok_or_else(|| err!(Io, "there is no operator {index}, the function has {known}"))?;
        let (name, overload_name) = (&*operator.name, &*operator.overload);
        match name {
            "prim::TupleUnpack" => {
                let outputs = self.open_results(at, 1)?;
                return self.apply(1, outputs, |site| Instruction::UnpackTuple { site });
            }
            "prim::ListUnpack" => {
                let outputs = self.open_results(at, 1)?;
                return self.apply(1, outputs, |site| Instruction::UnpackList { site });
            }
            // The value is on top already.
            "prim::unchecked_cast" => {
                ensure!(!self.stack.is_empty(), Io, "the stack is empty");
                return Ok(());
            }
            "prim::Uninitialized" => return self.undefined(),
            "prim::tolist" => return self.tolist(),
            "prim::RaiseException" => return self.raise(operator.arguments.unwrap_or(2)),
            _ => {}
        }
        if let Some(row) = upgrade::find_lite(name, overload_name, self.version) {
            let schema = row.old_schema()?;
            let inputs = self.complete(&schema, operator.arguments, given)?;
            let name = Self::intern(&mut self.code.names, row.function().into());
            return self.apply_to(&inputs, 1, |site| Instruction::CallFunction { name, site });
        }
        let Some(found) = overload(name, overload_name) else {
            return self.missing(name, overload_name);
        };
        let inputs = self.complete(&found.schema, operator.arguments, given)?;
        let ints = overload_name == "int";
        match (inputs.as_slice(), arithmetic(name, ints)) {
            (&[a, b], Some(operator)) if ints || overload_name == "float" => {
                let to = self.result()?;
                self.emit(Instruction::Arithmetic { operator, a, b, to });
                return Ok(());
            }
            (&[list, index], _) if name == "aten::__getitem__" && overload_name == "t" => {
                let to = self.result()?;
                self.emit(Instruction::ListGet { list, index, to });
                return Ok(());
            }
            _ => {}
        }
        let outputs = if found.schema.varret { self.open_results(at, 0)? } else { found.schema.returns.len() };
        self.invoke(&found, &inputs, outputs)
    }

    /// The arguments of a call: those on the stack, and the defaults of those that the file leaves out. Outputs that the
    /// call writes into come last on the stack and in the schema.
    fn complete(&mut self, schema: &Schema, stated: Option<usize>, given: Option<usize>) -> Result<Vec<Operand>> {
        if schema.vararg {
            return self.pop_several(given.or(stated).unwrap_or(schema.arguments.len()));
        }
        let arguments = &schema.arguments;
        let stated = stated.unwrap_or(arguments.len());
        ensure!(
            stated <= arguments.len(),
            Io,
            "{} is called with {stated} arguments, but takes {}",
            schema.full_name(),
            arguments.len()
        );
        let outputs = arguments.iter().rev().take_while(|argument| argument.keyword_only && argument.written).count();
        let mut operands = self.pop_several(stated)?;
        let missing = arguments.len() - stated;
        if missing == 0 {
            return Ok(operands);
        }
        let at = stated.checked_sub(outputs).ok_or_else(|| err!(Io, "{} has no output", schema.full_name()))?;
        let outputs = operands.split_off(at);
        for argument in arguments.iter().skip(at).take(missing) {
            let default = argument
                .default
                .as_ref()
                .ok_or_else(|| err!(Io, "{} is called without the argument '{}'", schema.full_name(), argument.name))?;
            operands.push(self.constant(literal(default))?);
        }
        operands.extend(outputs);
        Ok(operands)
    }

    /// An operator that this build does not have: an error when the program gets there.
    fn missing(&mut self, name: &str, overload_name: &str) -> Result<()> {
        let dot = if overload_name.is_empty() { "" } else { "." };
        let name = self.constant(Value::str(format!("{name}{dot}{overload_name}")))?;
        self.builtin(unknown_operator, &[name], 0)?;
        self.is_reachable = false;
        Ok(())
    }
}

fn unknown_operator(args: &mut Args<'_>) -> Result<Value> {
    bail!(UnknownOperator, "Unknown builtin op: {}. It is not in this build", args.get(0)?.as_str()?)
}
