//! The call classes of the operator table: `call.rs`, of which a macro in `core/tensor/src/dispatch/call.rs` makes the enum
//! `Call` with a variant for each class, and what calls a function of each class with boxed arguments.

use super::{Emitter, OutFile, Place, first_line};
use crate::class;
use crate::load::FOLDER;
use crate::model::Family;

/// The emitter.
pub const EMITTER: Emitter = Emitter {
    name: "rust-call",
    place: Place::Crate("core/tensor"),
    folders: &[],
    emit: |families| Ok(vec![OutFile { path: "call.rs".into(), text: text(families) }]),
};

fn text(families: &[Family]) -> String {
    let mut text = first_line(FOLDER) + "\ncalls! {\n";
    for (class, users) in class::all(families).into_values() {
        // The code of required families is part of every build, with their rows.
        if users.iter().all(|family| family.required.is_none()) {
            text.push_str(&class::condition(users.into_iter()));
        }
        text.push_str(&format!("{}({}): {};\n", class.name(), class.words(), class.function_type()));
    }
    text + "}\n"
}
