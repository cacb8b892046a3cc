//! The Java binding: `internal/Native.java`, the methods of `Tensor`, the functions of `Torch`, and the records that
//! hold several results.
//!
//! A signature with defaults becomes a series of overloads, each with one trailing argument less. `Calls.java`
//! (`calls.rs`) contains the code that all methods of a call class share: a method is its signature and one call.

mod calls;
mod doc;
mod member;
mod types;

use crate::class;
use crate::emit::{Emitter, OutFile, Place, first_line};
use crate::face::{self, Face};
use crate::load::FOLDER;
use crate::model::Family;
use crate::names;
use member::{Member, Spelling};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
pub use types::{default_value, public_type};

/// Generates the files.
pub const EMITTER: Emitter = Emitter { name: "java", place: Place::Java, folders: &["org"], emit };

fn emit(families: &[Family]) -> Result<Vec<OutFile>, String> {
    let file = |name: &str, text: String| OutFile { path: format!("org/rushlight/{name}"), text };
    Ok(vec![
        file("internal/Native.java", calls::native(families)),
        file("Calls.java", calls::calls(families)),
        file("TensorMethods.java", methods(families)),
        file("TorchFunctions.java", functions(families)),
        file("Results.java", results(families)),
    ])
}

const PACKAGE: &str = "package org.rushlight;\n\n";
const NULLABLE: &str = "import org.jspecify.annotations.Nullable;\n\n";

/// `org/rushlight/TensorMethods.java`
fn methods(families: &[Family]) -> String {
    let mut text = first_line(FOLDER) + PACKAGE + NULLABLE;
    text.push_str("/** The operators that are methods of {@link Tensor}; the names are PyTorch's. */\n");
    text.push_str(
        "public abstract sealed class TensorMethods extends NativeOwner permits TensorAutograd {\n\
         \x20   TensorMethods(long handle, Runnable release) {\n        super(handle, release);\n    }\n\n\
         \x20   final Tensor self() {\n        return (Tensor) this;\n    }\n",
    );
    text.push_str(&members(families, true));
    text + "}\n"
}

/// `org/rushlight/TorchFunctions.java`, which the generator adds to the hand-written part of `Torch`.
fn functions(families: &[Family]) -> String {
    let mut text = first_line(FOLDER) + PACKAGE + NULLABLE;
    text.push_str("/** The operators that are functions: part of {@link Torch}. */\n");
    text.push_str("abstract class TorchFunctions {\n    TorchFunctions() {}\n");
    text.push_str(&members(families, false));
    text + "}\n"
}

/// `org/rushlight/Results.java`
fn results(families: &[Family]) -> String {
    let mut text = first_line(FOLDER) + PACKAGE;
    text.push_str("/** What operators with several results return. */\n");
    text.push_str("public final class Results {\n    private Results() {}\n");
    let mut seen = BTreeSet::new();
    for face in families.iter().flat_map(Face::of).filter(|face| !face.op.internal) {
        let names = result_names(&face);
        if names.len() > 1 && seen.insert(names.clone()) {
            let fields: Vec<String> = names.iter().map(|name| format!("Tensor {name}")).collect();
            let _ = write!(
                text,
                "\n    /** The results {}. */\n    public record {}({}) {{}}\n",
                names.join(", "),
                record(&names),
                fields.join(", ")
            );
        }
    }
    text + "}\n"
}

/// The declarations of a form with all arguments: the static function of `Torch`, the method of `Tensor`.
pub fn declarations(face: &Face) -> Vec<String> {
    let offered = [(face.form.function, false, "Torch"), (face.form.method, true, "Tensor")];
    let declaration = |(_, method, class): (bool, bool, &str)| {
        let parameters = member::parameters(face, method, face.params.len(), Spelling::Boxed);
        let parameters: Vec<String> = parameters.iter().map(|p| format!("{} {}", p.ty, p.name)).collect();
        format!("{} {class}.{}({})", member::result(face), names::java_method(face.form), parameters.join(", "))
    };
    offered.into_iter().filter(|(is_offered, ..)| *is_offered).map(declaration).collect()
}

fn members(families: &[Family], method: bool) -> String {
    let mut text = String::new();
    let mut taken = BTreeSet::new();
    let places: BTreeMap<String, u32> = class::places(families);
    for family in families {
        let faces = Face::of(family);
        let chosen: Vec<Member> = faces
            .iter()
            .filter(|face| !face.op.internal && if method { face.form.method } else { face.form.function })
            .map(|face| Member { face, method })
            .collect();
        if !chosen.is_empty() {
            let _ = write!(text, "\n    // {}: {}\n", family.name, family.doc);
        }
        // Full signatures come first: an overload with fewer arguments must never hide another operator.
        for member in &chosen {
            taken.insert(member.key(&member.parameters(member.face.params.len(), Spelling::Boxed)));
        }
        for member in chosen {
            text.push_str(&member.complete(places[&member.face.form.signature.qualified_name()]));
            text.push_str(&member.ladder(&mut taken));
        }
        for (alias, target) in Face::aliases(family).iter().filter(|(alias, _)| !alias.op.internal) {
            if if method { alias.form.method } else { alias.form.function } {
                text.push_str(&Member { face: alias, method }.alias(target, &mut taken));
            }
        }
    }
    text
}

/// The names of several results, from the functional form.
fn result_names(face: &Face) -> Vec<String> {
    face.result_names().iter().map(|name| camel(name)).collect()
}

fn record(names: &[String]) -> String {
    names
        .iter()
        .map(|name| {
            let mut letters = name.chars();
            letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
        })
        .collect()
}

/// The name of a parameter or a result.
fn camel(name: &str) -> String {
    names::java_identifier(&face::camel(name))
}
