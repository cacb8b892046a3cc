//! TorchScript: archives, source code, printed graphs, files of the lite interpreter. What is accepted is compiled; nothing
//! is called, except what a file's own `__setstate__` computes while it is loaded.

use rushlight_script::graph::Graph;
use rushlight_script::module::Module;
use rushlight_script::program::Program;

/// Archives of modules: every method has a graph, and the module can be copied.
pub fn archive(bytes: &[u8]) {
    let Ok(module) = Module::from_bytes(bytes.to_vec()) else { return };
    for name in module.methods().expect("a module lists its methods") {
        // A method may use operators that do not exist.
        if let Ok(function) = module.method(&name) {
            function.graph.lint().expect("a compiled graph is well-formed");
        }
    }
    let copy = module.deep_copy().expect("a loaded module can be copied");
    let names = |module: &Module| module.parameters().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(&module), names(&copy));
}

/// Files of the lite interpreter, archives and flatbuffers: every method is known, and the module can be copied.
pub fn lite(bytes: &[u8]) {
    let Ok(module) = Module::lite_from_bytes(bytes.to_vec()) else { return };
    for name in module.methods().expect("a module lists its methods") {
        module.method(&name).expect("the methods of a loaded file are known");
    }
    drop(module.deep_copy());
}

/// Source code.
pub fn source(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    drop(Program::compile(text));
}

/// Printed graphs: printed again, they are read as the same.
pub fn graph(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(first) = Graph::parse(text) else { return };
    let printed = first.to_string();
    let second = Graph::parse(&printed).expect("a printed graph is read");
    assert_eq!(printed, second.to_string());
}
