//! Optimizers: a step changes all parameters by one call of a fused operator.
//!
//! ```
//! use rushlight::Tensor;
//! use rushlight::optim::{Optimizer, Sgd, SgdOptions};
//!
//! let w = Tensor::from_value(1.0f32)?.requiring_grad()?;
//! let mut optimizer = Sgd::new(vec![w.clone()], SgdOptions { lr: 0.1, momentum: 0.9, ..Default::default() });
//! optimizer.zero_grad()?;
//! w.mul(&w)?.backward()?;
//! optimizer.step()?;
//! assert_eq!(w.item()?.to_f64() as f32, 0.8);
//! # Ok::<(), rushlight::Error>(())
//! ```
//!
//! Parameters with other options get an optimizer of their own.

use crate::autograd::no_grad;
use crate::{Result, StateDict, Tensor};
use rushlight_base::{bail, ensure, err};
use rushlight_tensor::{Options, Tensor as Core, ops};

/// What all optimizers do.
pub trait Optimizer {
    /// The parameters.
    fn parameters(&self) -> &[Tensor];

    /// The learning rate.
    fn lr(&self) -> f64;

    /// Sets the learning rate.
    fn set_lr(&mut self, lr: f64);

    /// Changes the parameters that have gradients.
    ///
    /// # Errors
    /// Raises an error if an option has an invalid value, or if a gradient is sparse.
    fn step(&mut self) -> Result<()>;

    /// The state of the parameters, such as momentum, by position and name: `0.exp_avg`.
    fn state_dict(&self) -> StateDict;

    /// Replaces the state by copies of these tensors.
    ///
    /// # Errors
    /// Raises an error if a name or a shape does not fit, and then nothing is changed.
    fn load_state_dict(&mut self, state: &StateDict) -> Result<()>;

    /// Removes the gradients of the parameters.
    ///
    /// # Errors
    /// Never; the result is that of [`Tensor::set_grad`].
    fn zero_grad(&self) -> Result<()> {
        self.parameters().iter().try_for_each(|parameter| parameter.set_grad(None))
    }
}

/// Parameters and their state: a slot for each name, empty until it is used.
struct States {
    parameters: Vec<Tensor>,
    names: &'static [&'static str],
    slots: Vec<Vec<Option<Core>>>,
}

/// The name of the counter of steps, a 0-dim float32 tensor; other states are like their parameter.
const STEP: &str = "step";

/// Parameters with gradients in this step, and their gradients.
struct Active {
    places: Vec<usize>,
    values: Vec<Core>,
    grads: Vec<Core>,
}

impl States {
    fn new(parameters: Vec<Tensor>, names: &'static [&'static str]) -> States {
        let slots = vec![vec![None; names.len()]; parameters.len()];
        States { parameters, names, slots }
    }

    fn active(&self) -> Active {
        let mut active = Active { places: Vec::new(), values: Vec::new(), grads: Vec::new() };
        for (place, parameter) in self.parameters.iter().enumerate() {
            if let Some(grad) = parameter.0.grad() {
                active.places.push(place);
                active.values.push(parameter.0.clone());
                active.grads.push(grad);
            }
        }
        active
    }

    /// The state `name` of these parameters, zeros at first.
    fn get(&mut self, places: &[usize], name: &str) -> Result<Vec<Core>> {
        let slot = self.slot(name)?;
        let mut states = Vec::with_capacity(places.len());
        for &place in places {
            let parameter = &self.parameters[place].0;
            let state = match &self.slots[place][slot] {
                Some(state) => state.clone(),
                None if name == STEP => {
                    let options = Options::of(crate::DType::F32).on(parameter.device());
                    ops::zeros(&[], options)?
                }
                None => ops::zeros_like(parameter, Options::default(), None)?,
            };
            self.slots[place][slot] = Some(state.clone());
            states.push(state);
        }
        Ok(states)
    }

    /// The steps of these parameters, counted.
    fn count(&mut self, places: &[usize]) -> Result<Vec<Core>> {
        let steps = self.get(places, STEP)?;
        steps.iter().try_for_each(|step| ops::add_scalar_(step, 1.into(), 1.into()))?;
        Ok(steps)
    }

    fn slot(&self, name: &str) -> Result<usize> {
        let slot = self.names.iter().position(|known| *known == name);
        slot.ok_or_else(|| err!(Value, "the optimizer has no state called '{name}'"))
    }

    fn state_dict(&self) -> StateDict {
        let mut state = StateDict::new();
        for (place, slots) in self.slots.iter().enumerate() {
            for (name, slot) in self.names.iter().zip(slots) {
                if let Some(tensor) = slot {
                    state.insert(format!("{place}.{name}"), &Tensor(tensor.clone()));
                }
            }
        }
        state
    }

    fn load(&mut self, state: &StateDict) -> Result<()> {
        let mut slots: Vec<Vec<Option<Core>>> = vec![vec![None; self.names.len()]; self.parameters.len()];
        for (full, tensor) in state.iter() {
            let (place, name) = full.split_once('.').unwrap_or((full, ""));
            let slot = self.slot(name)?;
            let place = place.parse::<usize>().ok().filter(|place| *place < self.parameters.len());
            let Some(place) = place else { bail!(Value, "the optimizer has no parameter for the state '{full}'") };
            let parameter: &Tensor = &self.parameters[place];
            let sizes = if name == STEP { Vec::new() } else { parameter.sizes() };
            ensure!(
                tensor.sizes() == sizes,
                Value,
                "the state '{full}' has the sizes {:?} instead of {sizes:?}",
                tensor.sizes()
            );
            let dtype = if name == STEP { crate::DType::F32 } else { parameter.dtype() };
            let copy: Tensor = tensor.on(parameter.device())?.to(dtype)?.deep_clone()?;
            slots[place][slot] = Some(copy.0);
        }
        self.slots = slots;
        Ok(())
    }
}

fn refs(tensors: &[Core]) -> Vec<&Core> {
    tensors.iter().collect()
}

fn check(lr: f64, weight_decay: f64) -> Result<()> {
    ensure!(lr >= 0.0, Value, "Invalid learning rate: {lr}");
    ensure!(weight_decay >= 0.0, Value, "Invalid weight_decay value: {weight_decay}");
    Ok(())
}

macro_rules! optimizers {
    ($($(#[$doc:meta])* $name:ident($options:ident): $states:expr, $update:path;)*) => {$(
        $(#[$doc])*
        pub struct $name {
            states: States,
            options: $options,
        }

        impl $name {
            /// An optimizer of these parameters.
            pub fn new(parameters: Vec<Tensor>, options: $options) -> $name {
                $name { states: States::new(parameters, $states), options }
            }

            /// The options.
            pub fn options(&self) -> $options {
                self.options
            }

            /// Sets the options, from the next step on.
            pub fn set_options(&mut self, options: $options) {
                self.options = options;
            }
        }

        impl Optimizer for $name {
            fn parameters(&self) -> &[Tensor] {
                &self.states.parameters
            }

            fn lr(&self) -> f64 {
                self.options.lr
            }

            fn set_lr(&mut self, lr: f64) {
                self.options.lr = lr;
            }

            fn step(&mut self) -> Result<()> {
                check(self.options.lr, self.options.weight_decay)?;
                let active = self.states.active();
                if active.places.is_empty() {
                    return Ok(());
                }
                no_grad(|| $update(&mut self.states, &self.options, &active))
            }

            fn state_dict(&self) -> StateDict {
                self.states.state_dict()
            }

            fn load_state_dict(&mut self, state: &StateDict) -> Result<()> {
                no_grad(|| self.states.load(state))
            }
        }
    )*};
}

optimizers! {
    /// Stochastic gradient descent, with momentum if it is not 0.
    Sgd(SgdOptions): &["momentum_buffer"], update_sgd;
    /// Adam (Kingma and Ba 2014).
    Adam(AdamOptions): &["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"], update_adam;
    /// Adam with decoupled weight decay (Loshchilov and Hutter 2017).
    AdamW(AdamWOptions): &["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"], update_adamw;
    /// RMSprop (Hinton 2012).
    RmsProp(RmsPropOptions): &["square_avg", "grad_avg", "momentum_buffer"], update_rmsprop;
    /// Adagrad (Duchi, Hazan and Singer 2011).
    Adagrad(AdagradOptions): &["step", "sum"], update_adagrad;
}

/// The options of [`Sgd`]. The defaults are PyTorch's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SgdOptions {
    /// Learning rate.
    pub lr: f64,
    /// Factor of the momentum.
    pub momentum: f64,
    /// Dampening of the momentum.
    pub dampening: f64,
    /// L2 penalty.
    pub weight_decay: f64,
    /// Whether the momentum is Nesterov's.
    pub nesterov: bool,
    /// Whether to maximize.
    pub maximize: bool,
}

impl Default for SgdOptions {
    fn default() -> SgdOptions {
        SgdOptions { lr: 1e-3, momentum: 0.0, dampening: 0.0, weight_decay: 0.0, nesterov: false, maximize: false }
    }
}

fn update_sgd(states: &mut States, options: &SgdOptions, active: &Active) -> Result<()> {
    let SgdOptions { lr, momentum, dampening, weight_decay, nesterov, maximize } = *options;
    ensure!(momentum >= 0.0, Value, "Invalid momentum value: {momentum}");
    ensure!(
        !nesterov || momentum > 0.0 && dampening == 0.0,
        Value,
        "Nesterov momentum requires a momentum and zero dampening"
    );
    let step = |chosen: &[usize], buffers: &[Core], is_first: bool| {
        let pick = |from: &[Core]| -> Vec<Core> { chosen.iter().map(|index| from[*index].clone()).collect() };
        let (values, grads) = (pick(&active.values), pick(&active.grads));
        let (values, grads, buffers) = (refs(&values), refs(&grads), refs(buffers));
        ops::_fused_sgd_(
            &values,
            &grads,
            &buffers,
            weight_decay,
            momentum,
            lr,
            dampening,
            nesterov,
            maximize,
            is_first,
            None,
            None,
        )
    };
    if momentum == 0.0 {
        let all: Vec<usize> = (0..active.places.len()).collect();
        return step(&all, &[], false);
    }
    // The first step of a parameter initializes its buffer.
    let (fresh, known): (Vec<usize>, Vec<usize>) =
        (0..active.places.len()).partition(|index| states.slots[active.places[*index]][0].is_none());
    for (chosen, is_first) in [(fresh, true), (known, false)] {
        if !chosen.is_empty() {
            let places: Vec<usize> = chosen.iter().map(|index| active.places[*index]).collect();
            let buffers = states.get(&places, "momentum_buffer")?;
            step(&chosen, &buffers, is_first)?;
        }
    }
    Ok(())
}

macro_rules! adam_options {
    ($($(#[$doc:meta])* $name:ident: $decay:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            /// Learning rate.
            pub lr: f64,
            /// Decay of the averages of gradients and of their squares.
            pub betas: (f64, f64),
            /// Added to the denominator.
            pub eps: f64,
            /// Weight decay.
            pub weight_decay: f64,
            /// Whether the maximum of the averages of squares is used.
            pub amsgrad: bool,
            /// Whether to maximize.
            pub maximize: bool,
        }

        impl Default for $name {
            fn default() -> $name {
                $name { lr: 1e-3, betas: (0.9, 0.999), eps: 1e-8, weight_decay: $decay, amsgrad: false, maximize: false }
            }
        }
    )*};
}

adam_options! {
    /// The options of [`Adam`]. The defaults are PyTorch's.
    AdamOptions: 0.0;
    /// The options of [`AdamW`]. The defaults are PyTorch's.
    AdamWOptions: 1e-2;
}

macro_rules! adam_updates {
    ($($function:ident($options:ident) = $operator:path;)*) => {$(
        fn $function(states: &mut States, options: &$options, active: &Active) -> Result<()> {
            let $options { lr, betas: (beta1, beta2), eps, weight_decay, amsgrad, maximize } = *options;
            ensure!((0.0..1.0).contains(&beta1), Value, "Invalid beta parameter at index 0: {beta1}");
            ensure!((0.0..1.0).contains(&beta2), Value, "Invalid beta parameter at index 1: {beta2}");
            ensure!(eps >= 0.0, Value, "Invalid epsilon value: {eps}");
            let places = &active.places;
            let (means, squares) = (states.get(places, "exp_avg")?, states.get(places, "exp_avg_sq")?);
            let maxima = if amsgrad { states.get(places, "max_exp_avg_sq")? } else { Vec::new() };
            let steps = states.count(places)?;
            let (values, grads) = (refs(&active.values), refs(&active.grads));
            let (means, squares, maxima, steps) = (refs(&means), refs(&squares), refs(&maxima), refs(&steps));
            $operator(
                &values, &grads, &means, &squares, &maxima, &steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize,
                None, None,
            )
        }
    )*};
}

adam_updates! {
    update_adam(AdamOptions) = ops::_fused_adam_;
    update_adamw(AdamWOptions) = ops::_fused_adamw_;
}

/// The options of [`RmsProp`]. The defaults are PyTorch's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RmsPropOptions {
    /// Learning rate.
    pub lr: f64,
    /// Decay of the average of squares.
    pub alpha: f64,
    /// Added to the denominator.
    pub eps: f64,
    /// Weight decay.
    pub weight_decay: f64,
    /// Factor of the momentum.
    pub momentum: f64,
    /// Whether gradients are normalized by an estimate of their variance.
    pub centered: bool,
    /// Whether to maximize.
    pub maximize: bool,
}

impl Default for RmsPropOptions {
    fn default() -> RmsPropOptions {
        let (lr, alpha, eps) = (1e-2, 0.99, 1e-8);
        RmsPropOptions { lr, alpha, eps, weight_decay: 0.0, momentum: 0.0, centered: false, maximize: false }
    }
}

fn update_rmsprop(states: &mut States, options: &RmsPropOptions, active: &Active) -> Result<()> {
    let RmsPropOptions { lr, alpha, eps, weight_decay, momentum, centered, maximize } = *options;
    ensure!(momentum >= 0.0, Value, "Invalid momentum value: {momentum}");
    ensure!(alpha >= 0.0, Value, "Invalid alpha value: {alpha}");
    ensure!(eps >= 0.0, Value, "Invalid epsilon value: {eps}");
    let places = &active.places;
    let squares = states.get(places, "square_avg")?;
    let averages = if centered { states.get(places, "grad_avg")? } else { Vec::new() };
    let buffers = if momentum > 0.0 { states.get(places, "momentum_buffer")? } else { Vec::new() };
    let (values, grads) = (refs(&active.values), refs(&active.grads));
    let (squares, averages, buffers) = (refs(&squares), refs(&averages), refs(&buffers));
    ops::_fused_rmsprop_(
        &values,
        &grads,
        &squares,
        &averages,
        &buffers,
        lr,
        alpha,
        eps,
        weight_decay,
        momentum,
        centered,
        maximize,
        None,
        None,
    )
}

/// The options of [`Adagrad`]. The defaults are PyTorch's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdagradOptions {
    /// Learning rate.
    pub lr: f64,
    /// Decay of the learning rate.
    pub lr_decay: f64,
    /// Weight decay.
    pub weight_decay: f64,
    /// Added to the denominator.
    pub eps: f64,
    /// Whether to maximize.
    pub maximize: bool,
}

impl Default for AdagradOptions {
    fn default() -> AdagradOptions {
        AdagradOptions { lr: 1e-2, lr_decay: 0.0, weight_decay: 0.0, eps: 1e-10, maximize: false }
    }
}

fn update_adagrad(states: &mut States, options: &AdagradOptions, active: &Active) -> Result<()> {
    let AdagradOptions { lr, lr_decay, weight_decay, eps, maximize } = *options;
    ensure!(lr_decay >= 0.0, Value, "Invalid lr_decay value: {lr_decay}");
    ensure!(eps >= 0.0, Value, "Invalid epsilon value: {eps}");
    let sums = states.get(&active.places, "sum")?;
    let steps = states.count(&active.places)?;
    let (values, grads) = (refs(&active.values), refs(&active.grads));
    let (sums, steps) = (refs(&sums), refs(&steps));
    ops::_fused_adagrad_(&values, &grads, &sums, &steps, lr, lr_decay, weight_decay, eps, maximize, None, None)
}
