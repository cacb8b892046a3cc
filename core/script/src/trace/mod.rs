//! Tracing: runs a function of the caller on examples, and writes the operators that it calls as a graph.
//!
//! `recorder` receives the calls of the thread from the tracing layer of the dispatcher and appends nodes; `convolution`
//! rewrites the calls that PyTorch records under another name. `tree` holds the modules, parameters and buffers of the
//! caller, which become classes and attributes. `sizes` compares two traces of one function: numbers that differ are
//! expressed by sizes of tensors. `check` runs the module and compares its results with those of the function.

mod check;
mod convolution;
mod names;
mod recorder;
mod sizes;
mod tree;

use crate::graph::{Graph, ValueId};
use crate::module::Module;
use crate::passes::eliminate_dead_code;
use crate::program::Program;
use crate::schema::{Argument, Schema};
use crate::types::Type;
use recorder::{Recorder, State};
use rushlight_base::{Result, bail, ensure};
use rushlight_tensor::dispatch::{self, trace};
use rushlight_tensor::{Generator, Tensor};
use std::sync::{Arc, PoisonError};

pub use tree::Kind;

/// A trace of the calls of the thread that began it. Dropping it ends the tracing.
pub struct Trace {
    recorder: Arc<Recorder>,
    tracer: Arc<dyn trace::Tracer>,
    /// The default generator as it was before the calls.
    generator: rushlight_base::random::Generator,
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Trace {
    /// Begins to trace the calls of this thread. `class` is the class of the module that is traced, in the notation of C++,
    /// Java or Python; `training` is its mode. An error if the thread is tracing already.
    pub fn begin(class: &str, training: bool) -> Result<Trace> {
        let recorder = Arc::new(Recorder::new(class, training)?);
        let tracer: Arc<dyn trace::Tracer> = recorder.clone();
        let generator = Generator::default_cpu().lock().clone();
        trace::start(tracer.clone())?;
        Ok(Trace { recorder, tracer, generator })
    }

    /// Whether a trace has the calls of this thread.
    pub fn is_active() -> bool {
        trace::current().is_some_and(|tracer| !tracer.is_over())
    }

    fn with<T>(&self, action: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        let _below = dispatch::KeyGuard::exclude(dispatch::KeySet::TRACE);
        action(&mut self.recorder.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Declares a module inside of the traced one: `layers.0`. Outer modules come before inner ones.
    pub fn module(&self, path: &str, class: &str, training: bool) -> Result<()> {
        self.with(|state| state.tree.add_module(path, class, training))
    }

    /// Declares a parameter or buffer: `layers.0.weight`. Where the function uses the tensor, the trace reads this
    /// attribute.
    pub fn attribute(&self, path: &str, tensor: &Tensor, kind: Kind) -> Result<()> {
        self.with(|state| state.tree.add_tensor(path, tensor, kind))
    }

    /// Declares the next argument, with the value for which the function is called: a tensor, or tuples, lists and dicts of
    /// tensors.
    pub fn input(&self, name: &str, value: &dispatch::Value) -> Result<()> {
        self.with(|state| state.input(name, value))
    }

    /// Declares what the function has returned, and ends the tracing.
    pub fn output(&self, value: &dispatch::Value) -> Result<()> {
        self.stop();
        self.with(|state| state.output(value))
    }

    /// Ends the tracing, on the thread that began it.
    pub fn stop(&self) {
        self.recorder.end();
        trace::stop(&self.tracer);
    }

    /// The traced function as a module with the method `forward`. `other` is a trace of the same function for examples of
    /// other sizes: numbers that differ between the two become expressions of sizes. With `check`, the module is run on the
    /// examples, and an error reports where its results are not those of the function.
    pub fn finish(&self, other: Option<&Trace>, check: bool) -> Result<Module> {
        self.stop();
        let module = match other {
            None => self.with(|state| state.build(None))?,
            Some(other) => {
                ensure!(!Arc::ptr_eq(&self.recorder, &other.recorder), Value, "a trace cannot be compared with itself");
                other.stop();
                other.with(|second| self.with(|state| state.build(Some(&*second))))?
            }
        };
        if check {
            for trace in [Some(self), other].into_iter().flatten() {
                let (inputs, output) = trace.with(|state| state.example())?;
                check::check(&module, inputs, &output, &trace.generator)?;
            }
        }
        Ok(module)
    }
}

impl State {
    /// The module of the graph.
    fn build(&mut self, other: Option<&State>) -> Result<Module> {
        let Some(result) = self.result.clone() else { bail!(Runtime, "the trace has no output yet") };
        let mut graph = self.graph.clone();
        if let Some(other) = other {
            ensure!(other.result.is_some(), Runtime, "the other trace has no output yet");
            sizes::generalize(&mut graph, &self.known_sizes(), &other.graph, &other.known_sizes())?;
        }
        let program = Program::new();
        let built = self.tree.build(&program, &mut graph, &self.modules)?;
        let mut arguments = vec![Argument::new("self", Type::Class(built.object.class().name.clone()))];
        for (name, input) in &self.inputs {
            arguments.push(Argument::new(name, graph.value(*input)?.kind.clone()));
        }
        let schema = Schema::new("forward", arguments, result);
        eliminate_dead_code(&mut graph, &*program)?;
        let graph = graph.compacted()?;
        graph.lint()?;
        program.define_frozen(&built.object, built.classes, vec![("forward".into(), graph, schema.into())], None)?;
        Ok(Module::new(program, built.object))
    }
}

/// The only output of the node that was added last to a graph.
fn appended(graph: &mut Graph, kind: &str, inputs: &[ValueId], output: Type) -> Result<ValueId> {
    let top = graph.top();
    let node = graph.append(top, kind, inputs, &[output])?;
    match graph.node(node)?.outputs() {
        [only] => Ok(*only),
        _ => bail!(Internal, "{kind} has no output"),
    }
}
