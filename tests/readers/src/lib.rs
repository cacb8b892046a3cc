//! Every parser of untrusted bytes in Rushlight, each as a function of bytes.
//!
//! A reader may reject its input. It must not panic or allocate memory out of proportion, and accepted inputs must
//! satisfy the reader's property: mostly that the contents, written and read again, are the same. A violation is a
//! panic here.
//!
//! The fuzzer of `tests/fuzz` runs these functions; `tests/damaged.rs` runs them on damaged seeds and on the fuzzer's
//! findings.

mod dlpack;
mod files;
// The tool has no library; this is the one file of it that reads bytes.
#[allow(dead_code, reason = "the tool also writes such files by name")]
#[path = "../../../bindings/cli/src/npz.rs"]
mod npz;
mod script;
pub mod seeds;
mod state;
mod strings;

/// A function of bytes, and inputs to begin with.
pub struct Reader {
    /// Its name on the command line, and that of its folder in `regressions`.
    pub name: &'static str,
    /// Reads; panics if the contents violate a property.
    pub read: fn(&[u8]),
    /// Inputs that are valid, or nearly so.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub static READERS: [Reader; 14] = [
    Reader { name: "pt", read: files::pt, seeds: seeds::archives },
    Reader { name: "legacy", read: files::pt, seeds: seeds::streams },
    Reader { name: "pickle", read: files::pickle, seeds: seeds::pickles },
    Reader { name: "safetensors", read: files::safetensors, seeds: seeds::safetensors },
    Reader { name: "npz", read: files::npz, seeds: seeds::npz },
    Reader { name: "schema", read: strings::schema, seeds: seeds::schemas },
    Reader { name: "einsum", read: strings::einsum, seeds: seeds::equations },
    Reader { name: "names", read: strings::names, seeds: seeds::names },
    Reader { name: "generator", read: state::generator, seeds: seeds::generator_states },
    Reader { name: "dlpack", read: dlpack::import, seeds: seeds::dlpack },
    Reader { name: "torchscript", read: script::archive, seeds: seeds::modules },
    Reader { name: "lite", read: script::lite, seeds: seeds::lite },
    Reader { name: "source", read: script::source, seeds: seeds::programs },
    Reader { name: "graph", read: script::graph, seeds: seeds::graphs },
];

/// The reader of this name.
pub fn find(name: &str) -> Option<&'static Reader> {
    READERS.iter().find(|reader| reader.name == name)
}
