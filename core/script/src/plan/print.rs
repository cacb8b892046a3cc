//! Plans as text.

use super::record::{Argument, Slot};
use super::step::{Home, Plan, Step};
use rushlight_base::{MemoryFormat, format_sizes};
use std::fmt::Write;

impl Plan {
    /// A line for each step, and the bytes of the memory.
    pub fn describe(&self, head: &str) -> String {
        let mut text = format!(
            "{head}: {} steps, {} of memory for intermediate results ({} without sharing), {} of constants, \
             {} of weights of layers\n",
            self.steps.len(),
            size(self.arena_bytes()),
            size(self.unshared_bytes()),
            size(self.constant_bytes()),
            size(self.weight_bytes())
        );
        for step in &self.steps {
            self.line(&mut text, step);
        }
        text
    }

    fn line(&self, text: &mut String, step: &Step) {
        let mut inputs = Vec::new();
        for slot in step.arguments.iter().flat_map(Argument::slots).filter(|slot| !step.shown.contains(slot)) {
            inputs.push(self.tensor(slot));
        }
        let results: Vec<String> = step.shown.iter().map(|&slot| self.tensor(slot)).collect();
        let name = step.name();
        let weights = step.weights.map(|dtype| format!(", weights {dtype}")).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {} = {name}({}){weights}", results.join(", "), inputs.join(", "));
    }

    fn tensor(&self, slot: Slot) -> String {
        let place = &self.places[slot];
        let home = match &self.homes[place.store] {
            Home::Constant(_) => "constant".to_owned(),
            Home::Input => "input".to_owned(),
            Home::Arena(offset) => format!("at {offset}"),
            Home::PerRun => "new".to_owned(),
            Home::Unused => "unused".to_owned(),
        };
        let geometry = &place.geometry;
        let is_last = geometry.is_contiguous_in(MemoryFormat::ChannelsLast) && !geometry.is_contiguous();
        let format = if is_last { "channels last " } else { "" };
        format!("{} {} {format}{home}", place.dtype, format_sizes(&geometry.sizes))
    }
}

impl Step {
    /// The operator, with those that were moved into it: `convolution + add + relu`.
    pub fn name(&self) -> String {
        self.followed_by.iter().fold(self.op.full_name(), |name, next| format!("{name} + {next}"))
    }
}

/// Bytes for people.
fn size(bytes: usize) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
