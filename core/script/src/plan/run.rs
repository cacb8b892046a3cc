//! Runs that go on step by step: a program that draws frames runs a network within the time that a frame leaves.

use super::below_autograd;
use super::instance::Instance;
use super::step::Plan;
use crate::runtime::Suspended;
use crate::runtime::value::Value;
use rushlight_base::{Result, bail};
use rushlight_tensor::Tensor;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A call of a method that is carried out in parts. Each part runs whole operators: at least one, and further ones while
/// time is left.
pub struct Run {
    state: State,
}

enum State {
    Planned(Box<Planned>),
    Interpreted(Box<Suspended>),
    Done(Value),
    /// An error ended it.
    Failed,
}

impl Run {
    /// A run of a plan.
    pub(crate) fn planned(run: Planned) -> Run {
        Run { state: State::Planned(Box::new(run)) }
    }

    /// A run of the interpreter.
    pub(crate) fn interpreted(run: Suspended) -> Run {
        Run { state: State::Interpreted(Box::new(run)) }
    }

    /// Runs operators until the call is done or `budget` is over. Whether it is done. After an error the run has ended.
    pub fn step(&mut self, budget: Duration) -> Result<bool> {
        let until = Instant::now().checked_add(budget);
        let result = match &mut self.state {
            State::Planned(run) => run.step(until),
            State::Interpreted(run) => run.step(until),
            State::Done(_) => return Ok(true),
            State::Failed => bail!(Runtime, "the run ended with an error"),
        };
        match result {
            Ok(None) => Ok(false),
            Ok(Some(value)) => {
                self.state = State::Done(value);
                Ok(true)
            }
            Err(error) => {
                self.state = State::Failed;
                Err(error)
            }
        }
    }

    /// The result. An error if the run is not done.
    pub fn result(&self) -> Result<&Value> {
        match &self.state {
            State::Done(value) => Ok(value),
            State::Failed => bail!(Runtime, "the run ended with an error"),
            _ => bail!(Runtime, "the run is not done: call step until it is"),
        }
    }

    /// The part of the operators that are done, from 0 to 1. `None`: the interpreter does not know how many follow.
    pub fn progress(&self) -> Option<f64> {
        match &self.state {
            State::Planned(run) => Some(run.progress()),
            State::Done(_) => Some(1.0),
            State::Interpreted(_) | State::Failed => None,
        }
    }
}

/// A run of a plan.
pub(crate) struct Planned {
    plan: Arc<Plan>,
    inputs: Vec<Tensor>,
    instance: Option<Instance>,
}

impl Planned {
    pub fn new(plan: Arc<Plan>, inputs: &[Tensor]) -> Result<Planned> {
        let instance = Some(plan.begin(inputs)?);
        Ok(Planned { plan, inputs: inputs.to_vec(), instance })
    }

    fn step(&mut self, until: Option<Instant>) -> Result<Option<Value>> {
        let _below = below_autograd();
        let Some(instance) = &mut self.instance else { bail!(Internal, "a run has no memory") };
        while let Some(step) = self.plan.steps.get(instance.done()) {
            if let Some(reason) = instance.run(&self.plan, step)? {
                bail!(Runtime, "a compiled method cannot run: {reason}");
            }
            if until.is_some_and(|until| Instant::now() >= until) && instance.done() < self.plan.steps.len() {
                return Ok(None);
            }
        }
        let Some(instance) = self.instance.take() else { bail!(Internal, "a run has no memory") };
        self.plan.finish(instance, &self.inputs).map(Some)
    }

    fn progress(&self) -> f64 {
        let done = self.instance.as_ref().map_or(self.plan.steps.len(), Instance::done);
        done as f64 / self.plan.steps.len().max(1) as f64
    }
}
