//! TorchScript: models that Python saved with `torch.jit.save`, and programs in source code.
//!
//! ```
//! use rushlight::{IValue, Script, Tensor};
//!
//! let script = Script::compile("def scaled(x: Tensor, factor: float = 2.0) -> Tensor:\n    return x * factor + 1\n")?;
//! let x = Tensor::from_value(3.0f32)?;
//! let y = Tensor::try_from(script.run("scaled", &[(&x).into()], &[])?)?;
//! assert_eq!(y.item()?.to_f64(), 7.0);
//! # Ok::<(), rushlight::Error>(())
//! ```

use crate::{DType, Device, IValue, Result, StateDict, Tensor};
use rushlight_script::module::Module;
use rushlight_script::passes;
use rushlight_script::program::Program;
use rushlight_tensor::dispatch::Value;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A module of TorchScript: a saved model.
///
/// Nothing in a file is executed while it is read. Any number of threads may call the methods of one module; clones are the same
/// module. Its parameters are leaves that require gradients, so that it can be trained.
#[derive(Clone)]
pub struct ScriptModule(Module);

impl fmt::Debug for ScriptModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScriptModule({})", &**self.0.class())
    }
}

/// Arguments as the interpreter takes them.
fn values(args: &[IValue]) -> Result<Vec<Value>> {
    args.iter().cloned().map(IValue::into_core).collect()
}

fn named(kwargs: &[(&str, IValue)]) -> Result<Vec<(String, Value)>> {
    kwargs.iter().map(|(name, value)| Ok((name.to_string(), value.clone().into_core()?))).collect()
}

fn state(tensors: Vec<(String, rushlight_tensor::Tensor)>) -> StateDict {
    tensors.into_iter().map(|(name, tensor)| (name, Tensor(tensor))).collect()
}

// ---- Files ----

impl ScriptModule {
    /// Loads a file that `torch.jit.save` or `_save_for_lite_interpreter` of PyTorch wrote, to the CPU.
    ///
    /// # Errors
    /// Raises an error of the kind `Io` if the file cannot be read, or is not valid.
    pub fn load(path: impl AsRef<Path>) -> Result<ScriptModule> {
        Module::load(path).map(ScriptModule)
    }

    /// Loads the contents of a file.
    ///
    /// # Errors
    /// As [`load`](ScriptModule::load).
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Result<ScriptModule> {
        Module::from_bytes(bytes).map(ScriptModule)
    }

    /// Saves the module as a file that `torch.jit.load` reads, with extra files by name. An existing file is replaced
    /// atomically.
    ///
    /// # Errors
    /// Raises an error if the file cannot be written, or if the module has no source code.
    pub fn save(&self, path: impl AsRef<Path>, extra: &[(&str, &[u8])]) -> Result<()> {
        self.0.save(path, extra)
    }

    /// The contents of the file that [`save`](ScriptModule::save) writes.
    ///
    /// # Errors
    /// As [`save`](ScriptModule::save).
    pub fn to_bytes(&self, extra: &[(&str, &[u8])]) -> Result<Vec<u8>> {
        self.0.to_bytes(extra)
    }

    /// An extra file of the archive; `None` if there is none of this name.
    ///
    /// # Errors
    /// Raises an error if the archive cannot be read.
    pub fn extra_file(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.0.extra_file(name)
    }
}

// ---- Methods ----

impl ScriptModule {
    /// Calls `forward`. A result of several values is a tuple.
    ///
    /// # Errors
    /// Raises an error if the arguments do not fit, or if the program does.
    pub fn forward(&self, args: &[IValue]) -> Result<IValue> {
        self.run("forward", args, &[])
    }

    /// Calls `forward` of a module that takes tensors and returns one.
    ///
    /// # Errors
    /// As [`forward`](ScriptModule::forward), and if the result is not a tensor.
    pub fn forward_tensors(&self, tensors: &[&Tensor]) -> Result<Tensor> {
        let args: Vec<IValue> = tensors.iter().map(|tensor| IValue::from(*tensor)).collect();
        self.forward(&args)?.try_into()
    }

    /// Calls a method. Missing arguments take their defaults.
    ///
    /// # Errors
    /// As [`forward`](ScriptModule::forward), and if there is no such method.
    pub fn run(&self, method: &str, args: &[IValue], kwargs: &[(&str, IValue)]) -> Result<IValue> {
        self.0.run_boxed(method, values(args)?, &named(kwargs)?).map(|value| IValue::from_core(&value))
    }

    /// The names of the methods.
    ///
    /// # Errors
    /// Raises an error if the program cannot be compiled.
    pub fn methods(&self) -> Result<Vec<String>> {
        Ok(self.0.methods()?.iter().map(|name| name.to_string()).collect())
    }

    /// The graph of a method as text.
    ///
    /// # Errors
    /// Raises an error if there is no such method, or if it cannot be compiled.
    pub fn method_graph(&self, method: &str) -> Result<String> {
        Ok(self.0.method(method)?.graph.to_string())
    }

    /// Adds methods from source code: functions whose first parameter is `self`.
    ///
    /// # Errors
    /// Raises an error that shows the line if the source code is not valid.
    pub fn define(&self, source: &str) -> Result<()> {
        self.0.define(source).map(drop)
    }

    /// A handle of the same module whose methods print to `sink`. Without it, printed text is discarded.
    #[must_use]
    pub fn printing_to(&self, sink: impl Fn(&str) + Send + Sync + 'static) -> ScriptModule {
        let sink = Arc::new(move |text: &[u8]| sink(&String::from_utf8_lossy(text)));
        ScriptModule(self.0.clone().printing_to(sink))
    }
}

// ---- Attributes and parameters ----

impl ScriptModule {
    /// An attribute: `scale`, or `layer.weight` of a submodule.
    ///
    /// # Errors
    /// Raises an error if there is no such attribute.
    pub fn attribute(&self, name: &str) -> Result<IValue> {
        self.0.attribute_boxed(name).map(|value| IValue::from_core(&value))
    }

    /// Sets an attribute, whose type must be that of the value.
    ///
    /// # Errors
    /// Raises an error if there is no such attribute, or if it has another type.
    pub fn set_attribute(&self, name: &str, value: IValue) -> Result<()> {
        self.0.set_attribute_boxed(name, value.into_core()?)
    }

    /// The modules that are attributes of this one, by name. They share their tensors with it.
    pub fn children(&self) -> Vec<(String, ScriptModule)> {
        self.0.children().into_iter().map(|(name, child)| (name, ScriptModule(child))).collect()
    }

    /// The parameters of this module and of those inside of it.
    pub fn parameters(&self) -> StateDict {
        state(self.0.parameters())
    }

    /// The buffers of this module and of those inside of it.
    pub fn buffers(&self) -> StateDict {
        state(self.0.buffers())
    }

    /// Sets training mode, or evaluation mode.
    ///
    /// # Errors
    /// Raises an error if an attribute `training` is not a bool.
    pub fn train(&self, on: bool) -> Result<()> {
        self.0.train(on)
    }

    /// Sets evaluation mode.
    ///
    /// # Errors
    /// As [`train`](ScriptModule::train).
    pub fn eval(&self) -> Result<()> {
        self.train(false)
    }

    /// Moves parameters and buffers to a device, and converts those with a floating-point dtype.
    ///
    /// # Errors
    /// Raises an error if there is no such device or not enough memory.
    pub fn to(&self, device: impl Into<Option<Device>>, dtype: impl Into<Option<DType>>) -> Result<()> {
        self.0.to(device.into(), dtype.into())
    }

    /// A module of the same classes with copies of all tensors and containers.
    ///
    /// # Errors
    /// Raises an error if there is not enough memory.
    pub fn deep_clone(&self) -> Result<ScriptModule> {
        self.0.deep_copy().map(ScriptModule)
    }
}

// ---- Passes ----

impl ScriptModule {
    /// A copy in which the attributes that methods only read are constants. It has `forward`, and the methods and attributes in
    /// `preserved`. With `optimize_numerics` batch norms are folded into the layers before them, which changes results by
    /// rounding.
    ///
    /// # Errors
    /// Raises an error if the module is in training mode.
    pub fn freeze(&self, preserved: &[&str], optimize_numerics: bool) -> Result<ScriptModule> {
        passes::freeze(&self.0, preserved, optimize_numerics).map(ScriptModule)
    }

    /// A copy that runs fast: it is frozen with `forward` and `other_methods`, batch norms are folded, dropout is removed.
    ///
    /// # Errors
    /// As [`freeze`](ScriptModule::freeze).
    pub fn optimize_for_inference(&self, other_methods: &[&str]) -> Result<ScriptModule> {
        passes::optimize_for_inference(&self.0, other_methods).map(ScriptModule)
    }

    /// [`optimize_for_inference`](ScriptModule::optimize_for_inference) with the weights of linear layers in `weights`:
    /// `F32`, `BF16`, or `I8` with a scale for each output. Inputs and sums stay in `float32`.
    ///
    /// # Errors
    /// As [`freeze`](ScriptModule::freeze), and for other dtypes.
    pub fn compile(&self, other_methods: &[&str], weights: DType) -> Result<ScriptModule> {
        passes::compile(&self.0, other_methods, weights).map(ScriptModule)
    }
}

/// Functions and classes that were compiled from source code.
#[derive(Clone)]
pub struct Script(Arc<Program>);

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Script")
    }
}

impl Script {
    /// Compiles functions and classes.
    ///
    /// # Errors
    /// Raises an error that shows the line if the source code is not valid.
    pub fn compile(source: &str) -> Result<Script> {
        Program::compile(source).map(Script)
    }

    /// Calls a function. Missing arguments take their defaults.
    ///
    /// # Errors
    /// Raises an error if there is no such function, if the arguments do not fit, or if the program does.
    pub fn run(&self, function: &str, args: &[IValue], kwargs: &[(&str, IValue)]) -> Result<IValue> {
        self.0.call_boxed(function, values(args)?, &named(kwargs)?).map(|value| IValue::from_core(&value))
    }
}
