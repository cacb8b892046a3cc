//! Gradients: modes of the thread, `backward` and `grad`, hooks, custom derivatives.
//!
//! ```
//! use rushlight::{Tensor, autograd};
//!
//! let x = Tensor::try_from([1.0f32, 2.0, 3.0])?.requiring_grad()?;
//! x.mul(&x)?.sum()?.backward()?;
//! assert_eq!(x.grad().unwrap().to_vec::<f32>()?, [2.0, 4.0, 6.0]);
//!
//! let y = autograd::no_grad(|| x.exp())?;
//! assert!(!y.requires_grad());
//! # Ok::<(), rushlight::Error>(())
//! ```

use crate::lists::{optional_references, references};
use crate::{Result, Tensor};
use rushlight_tensor::autograd::{
    self as core, CustomFunction, CustomSaved, GradModeGuard, GradcheckOptions, InferenceModeGuard, Registered,
};
use std::borrow::Borrow;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

// ---- Modes of the thread ----

/// A guard of a thread's mode: it may not move to another thread.
type OfThread = PhantomData<*const ()>;

/// Gradients are not recorded on this thread until the guard is dropped, or those inside of it are.
#[must_use = "the mode ends when the guard is dropped"]
pub struct NoGradGuard {
    _mode: GradModeGuard,
    _thread: OfThread,
}

impl NoGradGuard {
    /// Begins the mode.
    #[allow(clippy::new_without_default, reason = "a guard is no value")]
    pub fn new() -> NoGradGuard {
        NoGradGuard { _mode: GradModeGuard::new(false), _thread: PhantomData }
    }
}

/// Gradients are recorded on this thread until the guard is dropped, within a [`NoGradGuard`].
#[must_use = "the mode ends when the guard is dropped"]
pub struct EnableGradGuard {
    _mode: GradModeGuard,
    _thread: OfThread,
}

impl EnableGradGuard {
    /// Begins the mode.
    #[allow(clippy::new_without_default, reason = "a guard is no value")]
    pub fn new() -> EnableGradGuard {
        EnableGradGuard { _mode: GradModeGuard::new(true), _thread: PhantomData }
    }
}

/// Inference mode of this thread until the guard is dropped: gradients are not recorded, and tensors that are created have no
/// version counter. Outside of the mode they can be read, but neither written in place nor saved for backward.
#[must_use = "the mode ends when the guard is dropped"]
pub struct InferenceGuard {
    _mode: InferenceModeGuard,
    _thread: OfThread,
}

impl InferenceGuard {
    /// Begins the mode.
    #[allow(clippy::new_without_default, reason = "a guard is no value")]
    pub fn new() -> InferenceGuard {
        InferenceGuard { _mode: InferenceModeGuard::new(true), _thread: PhantomData }
    }
}

/// Runs `body` without recording gradients on this thread.
pub fn no_grad<T>(body: impl FnOnce() -> T) -> T {
    let _guard = NoGradGuard::new();
    body()
}

/// Runs `body` in inference mode ([`InferenceGuard`]).
pub fn inference_mode<T>(body: impl FnOnce() -> T) -> T {
    let _guard = InferenceGuard::new();
    body()
}

/// Whether this thread records gradients.
pub fn is_grad_enabled() -> bool {
    core::is_grad_enabled()
}

/// Whether this thread is in inference mode.
pub fn is_inference_mode() -> bool {
    core::is_inference_mode()
}

/// Sets anomaly mode for this thread: an error in backward has a note that names the forward call, and with `check_nan` a NaN
/// in a gradient is an error. [`Error::notes`](crate::Error::notes) has the notes.
pub fn set_anomaly_mode(on: bool, check_nan: bool) {
    core::set_anomaly_enabled(on);
    core::set_anomaly_nan_checked(check_nan);
}

// ---- backward and grad ----

/// The optional arguments of [`Tensor::backward_with`] and [`backward`].
#[derive(Clone, Copy, Debug, Default)]
pub struct BackwardOptions<'a> {
    /// The gradient of the result; `None` is 1, for a tensor of one element.
    pub gradient: Option<&'a Tensor>,
    /// Whether the graph can run again.
    pub retain_graph: bool,
    /// Whether the gradients can be differentiated again. This implies `retain_graph`.
    pub create_graph: bool,
    /// The leaves that accumulate gradients; empty: all.
    pub inputs: &'a [&'a Tensor],
}

/// Computes the gradients of several tensors and accumulates them in the `grad` of leaves. `gradients` has the gradient of each
/// tensor, or is empty: 1 for each.
///
/// # Errors
/// Raises an error if a tensor has no history, or if its gradient is missing and it has several elements.
pub fn backward(
    tensors: &[impl Borrow<Tensor>],
    gradients: &[Option<impl Borrow<Tensor>>],
    options: BackwardOptions<'_>,
) -> Result<()> {
    let retain = options.retain_graph || options.create_graph;
    let (tensors, gradients) = (references(tensors), optional_references(gradients));
    core::backward(&tensors, &gradients, retain, options.create_graph, &references(options.inputs))
}

/// The optional arguments of [`grad_with`].
#[derive(Clone, Copy, Debug, Default)]
pub struct GradOptions<'a> {
    /// The gradient of each output; empty: 1 for each.
    pub gradients: &'a [Option<&'a Tensor>],
    /// Whether the graph can run again.
    pub retain_graph: bool,
    /// Whether the gradients can be differentiated again. This implies `retain_graph`.
    pub create_graph: bool,
    /// Whether inputs that the outputs do not depend on are allowed: their gradient is `None`.
    pub allow_unused: bool,
}

/// The gradients of the outputs with respect to the inputs. Nothing is accumulated.
///
/// # Errors
/// Raises an error if an output has no history, or does not depend on an input.
pub fn grad(outputs: &[impl Borrow<Tensor>], inputs: &[impl Borrow<Tensor>]) -> Result<Vec<Tensor>> {
    let gradients = grad_with(outputs, inputs, GradOptions::default())?;
    // Without `allow_unused` a missing gradient is an error.
    Ok(gradients.into_iter().flatten().collect())
}

/// [`grad`] with its optional arguments.
///
/// # Errors
/// As [`grad`].
pub fn grad_with(
    outputs: &[impl Borrow<Tensor>],
    inputs: &[impl Borrow<Tensor>],
    options: GradOptions<'_>,
) -> Result<Vec<Option<Tensor>>> {
    let GradOptions { gradients, retain_graph, create_graph, allow_unused } = options;
    let (outputs, inputs, gradients) = (references(outputs), references(inputs), optional_references(gradients));
    let retain = retain_graph || create_graph;
    let result = core::grad(&outputs, &inputs, &gradients, retain, create_graph, allow_unused)?;
    Ok(result.into_iter().map(|gradient| gradient.map(Tensor)).collect())
}

impl Tensor {
    /// Whether gradients are computed for this tensor.
    pub fn requires_grad(&self) -> bool {
        self.0.requires_grad()
    }

    /// Sets whether gradients are computed for this leaf.
    ///
    /// # Errors
    /// Raises an error if the dtype has no gradients, or if the tensor is not a leaf.
    pub fn set_requires_grad(&self, requires_grad: bool) -> Result<()> {
        self.0.set_requires_grad(requires_grad)
    }

    /// The tensor, as a leaf that requires gradients.
    ///
    /// # Errors
    /// Raises an error if the dtype has no gradients.
    pub fn requiring_grad(self) -> Result<Tensor> {
        self.set_requires_grad(true)?;
        Ok(self)
    }

    /// Whether the tensor was created by the program, not by a recorded operator.
    pub fn is_leaf(&self) -> bool {
        self.0.is_leaf()
    }

    /// The name of the node that computed the tensor, such as `MulBackward0`.
    pub fn grad_fn(&self) -> Option<String> {
        self.0.grad_fn().map(|node| node.name())
    }

    /// Computes the gradients of this tensor of one element, and accumulates them in the `grad` of leaves.
    ///
    /// # Errors
    /// Raises an error if the tensor has no history or several elements, or if an operator's derivative fails.
    pub fn backward(&self) -> Result<()> {
        self.backward_with(BackwardOptions::default())
    }

    /// [`backward`](Tensor::backward) with its optional arguments.
    ///
    /// # Errors
    /// As [`backward`](Tensor::backward).
    pub fn backward_with(&self, options: BackwardOptions<'_>) -> Result<()> {
        backward(&[self], &[options.gradient], options)
    }

    /// The accumulated gradient.
    pub fn grad(&self) -> Option<Tensor> {
        self.0.grad().map(Tensor)
    }

    /// Replaces or removes the accumulated gradient.
    ///
    /// # Errors
    /// Raises an error if the gradient has another shape, dtype or device.
    pub fn set_grad(&self, grad: Option<&Tensor>) -> Result<()> {
        self.0.set_grad(grad.map(|grad| grad.0.clone()))
    }

    /// Makes backward keep the gradient of this tensor although it is not a leaf.
    ///
    /// # Errors
    /// Raises an error if the tensor does not require gradients.
    pub fn retain_grad(&self) -> Result<()> {
        self.0.retain_grad()
    }

    /// Registers a hook that backward calls with the gradient of this tensor. What it returns replaces the gradient. The hook
    /// may be called on any thread, and stays until it is removed or the graph is freed.
    ///
    /// # Errors
    /// Raises an error if the tensor does not require gradients.
    pub fn register_hook(
        &self,
        hook: impl Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync + 'static,
    ) -> Result<Hook> {
        let call = move |gradient: Option<&rushlight_tensor::Tensor>| match gradient {
            Some(gradient) => Ok(hook(&Tensor(gradient.clone()))?.map(|replaced| replaced.0)),
            None => Ok(None),
        };
        self.0.register_hook(Arc::new(call)).map(Hook)
    }
}

/// A registered hook. Dropping the handle leaves it registered.
pub struct Hook(Registered);

impl Hook {
    /// Removes the hook; false if it no longer exists.
    pub fn remove(&self) -> bool {
        self.0.remove()
    }
}

// ---- Custom derivatives ----

/// A function that defines its derivative, as `torch.autograd.Function`. [`apply`] calls it.
pub trait Function: Send + Sync + 'static {
    /// The name that errors and [`Tensor::grad_fn`] show.
    fn name(&self) -> &str;

    /// Computes the outputs, without recording. What the backward needs is saved in `saved`.
    fn forward(&self, inputs: &[&Tensor], saved: &mut Saved) -> Result<Vec<Tensor>>;

    /// Computes the gradient of each input, or `None`, from those of the outputs, which are zeros where an output was not used.
    /// `saved` are the saved tensors in order. `needed` says which inputs need a gradient.
    fn backward(&self, gradients: &[Tensor], saved: &[Tensor], needed: &[bool]) -> Result<Vec<Option<Tensor>>>;
}

/// The tensors that a [`Function`] saves for its backward: inputs, outputs or others.
#[derive(Default)]
pub struct Saved(Vec<Tensor>);

impl Saved {
    /// Saves a tensor. Backward fails if the tensor is changed in place in between.
    pub fn save(&mut self, tensor: &Tensor) {
        self.0.push(tensor.clone());
    }
}

struct Recorded<F> {
    function: F,
    saved: OnceLock<Vec<CustomSaved>>,
}

impl<F: Function> CustomFunction for Recorded<F> {
    fn name(&self) -> &str {
        self.function.name()
    }

    fn wants_zeros(&self) -> bool {
        true
    }

    fn backward(
        &self,
        grads: &[Option<rushlight_tensor::Tensor>],
        needs: &[bool],
    ) -> Result<Vec<Option<rushlight_tensor::Tensor>>> {
        let saved = self.saved.get().map_or(&[][..], Vec::as_slice);
        let saved = saved.iter().map(|saved| saved.unpack().map(Tensor)).collect::<Result<Vec<_>>>()?;
        // None is missing: zeros were asked for.
        let gradients: Vec<Tensor> = grads.iter().flatten().cloned().map(Tensor).collect();
        let results = self.function.backward(&gradients, &saved, needs)?;
        Ok(results.into_iter().map(|result| result.map(|tensor| tensor.0)).collect())
    }
}

/// Calls a function that defines its derivative, and records it.
///
/// ```
/// use rushlight::autograd::{Function, Saved, apply};
/// use rushlight::{Result, Tensor};
///
/// /// The square, with twice its gradient.
/// struct Steep;
///
/// impl Function for Steep {
///     fn name(&self) -> &str {
///         "Steep"
///     }
///
///     fn forward(&self, inputs: &[&Tensor], saved: &mut Saved) -> Result<Vec<Tensor>> {
///         saved.save(inputs[0]);
///         Ok(vec![inputs[0].square()?])
///     }
///
///     fn backward(&self, gradients: &[Tensor], saved: &[Tensor], _: &[bool]) -> Result<Vec<Option<Tensor>>> {
///         Ok(vec![Some(gradients[0].mul(&saved[0])?.mul_scalar(4.0)?)])
///     }
/// }
///
/// let x = Tensor::from_value(3.0f32)?.requiring_grad()?;
/// apply(Steep, &[&x])?[0].backward()?;
/// assert_eq!(x.grad().unwrap().item()?.to_f64(), 12.0);
/// # Ok::<(), rushlight::Error>(())
/// ```
///
/// # Errors
/// Raises an error if the forward does.
pub fn apply(function: impl Function, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
    let mut saved = Saved::default();
    let outputs = no_grad(|| function.forward(inputs, &mut saved))?;
    // A view of an input, or the input itself, would share its history: the outputs are new tensors.
    let recorded = Arc::new(Recorded { function, saved: OnceLock::new() });
    let given: Vec<Option<&rushlight_tensor::Tensor>> = inputs.iter().map(|input| Some(&input.0)).collect();
    if core::record_custom(recorded.clone(), &given, &references(&outputs), &[])? {
        let is_output = |tensor: &Tensor| outputs.iter().any(|output| output.is_same(tensor));
        let saved =
            saved.0.iter().map(|tensor| CustomSaved::new(&tensor.0, is_output(tensor))).collect::<Result<_>>()?;
        // The cell is new and empty.
        let _ = recorded.saved.set(saved);
    }
    Ok(outputs)
}

/// Compares the gradients of `function` with finite differences at `inputs`, which should have double precision. Returns the
/// first mismatch.
///
/// # Errors
/// Raises an error if no input requires gradients, or if the function does.
pub fn gradcheck(
    function: impl Fn(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[impl Borrow<Tensor>],
) -> Result<Option<String>> {
    let inputs: Vec<rushlight_tensor::Tensor> = references(inputs).into_iter().cloned().collect();
    let call = |given: &[rushlight_tensor::Tensor]| {
        let given: Vec<Tensor> = given.iter().cloned().map(Tensor).collect();
        Ok(function(&given)?.into_iter().map(|result| result.0).collect())
    };
    core::gradcheck(&call, &inputs, &GradcheckOptions::default())
}
