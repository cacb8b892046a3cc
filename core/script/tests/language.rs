//! Programs of every construct, compared with what PyTorch's compiler does with them: it accepts or rejects them, with
//! this schema and these operators, or this message.

mod support;

use rushlight_script::Source;
use rushlight_script::compile::{NoHost, Unit};
use rushlight_script::graph::{BlockId, Graph};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What differs between correct graphs, as in language.py.
const LEFT_OUT: [&str; 19] = [
    "prim::Constant",
    "prim::If",
    "prim::Loop",
    "prim::unchecked_cast",
    "prim::Uninitialized",
    "prim::TupleIndex",
    "prim::TupleConstruct",
    "prim::TupleUnpack",
    "prim::ListConstruct",
    "prim::TupleSlice",
    "prim::Enter",
    "prim::Exit",
    "prim::isinstance",
    "aten::__and__",
    "aten::__not__",
    "aten::__is__",
    "aten::__isnot__",
    "aten::Bool",
    "prim::min",
];

/// The parts of a file that begin with `=== name`.
fn sections(text: &str) -> BTreeMap<String, String> {
    let parts = text.split("=== ").skip(1);
    parts.filter_map(|part| part.split_once('\n')).map(|(name, body)| (name.into(), body.into())).collect()
}

fn operators(graph: &Graph, block: BlockId, found: &mut BTreeSet<String>) {
    for node in graph.nodes(block) {
        let node = graph.node(node).unwrap();
        if !LEFT_OUT.contains(&&*node.kind) {
            found.insert(node.kind.to_string());
        }
        node.blocks().iter().for_each(|&block| operators(graph, block, found));
    }
}

/// Compiles a program as PyTorch's Python front end does: as a file `name.py` whose function is `f`.
fn compile(name: &str, text: &str) -> Result<(String, BTreeSet<String>), String> {
    let unit = Unit::new(support::operators(), Arc::new(NoHost));
    let prefix = format!("__torch__.{name}");
    let source = Source::new(&format!("{name}.py"), text).unwrap();
    let run = || {
        unit.define(&prefix, source)?;
        let function = unit.function(&format!("{prefix}.f"))?;
        for function in unit.compile_all(&function.name)? {
            function.graph.lint().map_err(|error| panic!("{name}: {error}\n{}", function.graph)).unwrap();
        }
        Ok(function)
    };
    let function = run().map_err(|error: rushlight_base::Error| {
        let lines = error.message().lines().take_while(|line| !line.starts_with("  File"));
        lines.map(str::trim_end).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    })?;
    let mut found = BTreeSet::new();
    if !name.ends_with("_free") {
        operators(&function.graph, function.graph.top(), &mut found);
    }
    let schema = function.schema.to_string();
    Ok((schema[schema.find('(').unwrap()..].to_owned(), found))
}

#[test]
fn programs_compile_as_in_pytorch() {
    let programs = sections(include_str!("data/language.txt"));
    let expected = sections(include_str!("data/language.expected"));
    assert!(programs.len() >= 130, "{}", programs.len());
    let mut differ = Vec::new();
    for (name, text) in &programs {
        let wanted = expected[name].trim_end();
        let found = match compile(name, text) {
            Ok((schema, found)) => {
                format!("ok {schema}\n{}", found.into_iter().collect::<Vec<_>>().join(" ")).trim_end().to_owned()
            }
            Err(message) => format!("fails {message}"),
        };
        // `_more`: a program that PyTorch rejects. `_own`: it is rejected with another message.
        let fits = match name.rsplit_once('_').map_or("", |(_, suffix)| suffix) {
            "more" => found.starts_with("ok") && wanted.starts_with("fails"),
            "own" => found.starts_with("fails") && wanted.starts_with("fails"),
            _ => found == wanted,
        };
        if !fits {
            differ.push(format!("=== {name}\n--- PyTorch\n{wanted}\n--- here\n{found}\n"));
        }
    }
    assert!(differ.is_empty(), "{} of {} differ\n{}", differ.len(), programs.len(), differ.join("\n"));
}
