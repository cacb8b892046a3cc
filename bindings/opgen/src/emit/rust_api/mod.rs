//! The Rust binding (`bindings/rust`): the methods of its `Tensor`, and the structs of optional arguments.
//!
//! `ops.rs` has a module per family, whose file is in `ops/`. An operator is a method if an argument is the receiver
//! ([`Member::receiver`]), otherwise an associated function. `names.rs` chooses the names, `types.rs` has the types.

mod member;
pub mod names;
pub mod types;

use super::{Emitter, OutFile, Place, first_line, include, rust_ops};
use crate::face::Face;
use crate::load::FOLDER;
use crate::model::Family;
pub use member::Member;
use names::Names;
use std::collections::BTreeMap;

/// Generates the files.
pub const EMITTER: Emitter = Emitter { name: "rust-api", place: Place::Crate("bindings/rust"), folders: &[], emit };

/// Lints that fit hand-written functions, but not PyTorch's names and signatures.
const ALLOWED: &str = "#[allow(clippy::too_many_arguments, clippy::wrong_self_convention, clippy::should_implement_trait, \
                       reason = \"names and signatures are PyTorch's\")]\n";

fn emit(families: &[Family]) -> Result<Vec<OutFile>, String> {
    let names = Names::new(families)?;
    let mut files = Vec::new();
    let mut modules = String::new();
    let mut structs = String::new();
    for family in families {
        let mut methods = String::new();
        // Forms with the same optional arguments share a struct: `add` and `add_`.
        let mut options: BTreeMap<String, String> = BTreeMap::new();
        for face in Face::of(family).iter().filter(|face| !face.op.internal) {
            let member = Member::new(face, &names);
            methods.push_str(&member.methods()?);
            if let Some((name, text)) = member.options()? {
                match options.get(&name) {
                    Some(other) if *other != text => return Err(format!("two structs have the name {name}")),
                    _ => options.insert(name, text),
                };
            }
        }
        for (alias, target) in Face::aliases(family).iter().filter(|(alias, _)| !alias.op.internal) {
            if !alias.form.is_by_name_only() {
                methods.push_str(&Member::new(target, &names).alias(&names.of(alias), &alias.form.signature)?);
            }
        }
        if methods.is_empty() {
            continue;
        }
        let condition = rust_ops::condition(family);
        modules.push_str(&format!("{condition}{ALLOWED}{}\n", include(family)));
        let mut text = first_line(&family.source);
        text.push_str("#[allow(unused_imports, reason = \"not every family has every type\")]\nuse crate::generated::prelude::*;\n\n");
        text.push_str(&format!("/// {}\nimpl Tensor {{\n{methods}}}\n", member::prose(&family.doc)));
        if !options.is_empty() {
            structs.push_str(&format!("{condition}pub use super::{}::options::*;\n", family.name));
            text.push_str(
                "\npub mod options {\n    #[allow(unused_imports, reason = \"not every struct has every type\")]\n    ",
            );
            text.push_str("use crate::generated::prelude::*;\n");
            options.values().for_each(|text_of| text.push_str(text_of));
            text.push_str("}\n");
        }
        files.push(OutFile { path: format!("ops/{}.rs", family.name), text });
    }
    let root = format!(
        "{}{modules}\n/// Optional arguments of the operators: a struct for each method with several of them.\n\
         pub mod options {{\n{structs}}}\n",
        first_line(FOLDER)
    );
    files.push(OutFile { path: "ops.rs".into(), text: root });
    Ok(files)
}
