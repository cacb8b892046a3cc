//! Passes: the graphs that they make, and that programs compute the same before and after all of them.

mod values;

use rushlight_base::Result;
use rushlight_script::graph::Graph;
use rushlight_script::module::Module;
use rushlight_script::passes;
use rushlight_script::program::Program;
use rushlight_script::runtime::function::{Function, Linker};
use rushlight_script::runtime::value::Value;
use rushlight_script::runtime::{Environment, run};
use rushlight_script::schema::Schema;
use rushlight_script::types::Type;
use std::sync::Arc;
use values::{matches, read};

/// The graph as text, without where its code is.
fn text(graph: &Graph) -> String {
    graph.lint().unwrap_or_else(|error| panic!("{error}\n{graph}"));
    let lines = graph.to_string();
    lines.lines().map(|line| line.split(" # <string>").next().unwrap().to_owned() + "\n").collect()
}

/// The function `f` of a program; or a graph.
fn compiled(source: &str) -> (Arc<Program>, Graph) {
    if source.starts_with("graph(") {
        return (Program::new(), Graph::parse(source).unwrap_or_else(|error| panic!("{error}\n{source}")));
    }
    let program = Program::compile(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let graph = Graph::clone(&program.function("f").unwrap().graph);
    (program, graph)
}

fn apply(pass: &str, graph: &mut Graph, program: &Program) -> bool {
    let changed: Result<bool> = match pass {
        "inline" => passes::inline(graph, program),
        "dead_code" => passes::eliminate_dead_code(graph, program),
        "constants" => passes::propagate_constants(graph, program),
        "subexpressions" => passes::eliminate_common_subexpressions(graph, program),
        "peephole" => passes::peephole(graph, program),
        "pooling" => passes::pool_constants(graph, program),
        "dropout" => passes::remove_dropout(graph),
        other => panic!("there is no pass {other}"),
    };
    changed.unwrap()
}

/// `data/passes.txt`: programs, and after `---` the graph that a pass makes of `f`; nothing for programs that it must not
/// change. RUSHLIGHT_RECORD=1 writes the graphs, to be read before they are committed.
#[test]
fn passes_make_these_graphs() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/passes.txt");
    let data = std::fs::read_to_string(path).unwrap();
    let record = std::env::var_os("RUSHLIGHT_RECORD").is_some();
    let (mut recorded, mut cases) = (String::new(), 0);
    for part in data.split("=== ").skip(1) {
        let (title, rest) = part.split_once('\n').unwrap();
        let (source, expected) = rest.split_once("---\n").unwrap_or((rest, ""));
        let (pass, kind) = title.split_once(' ').unwrap();
        let (program, mut graph) = compiled(source);
        let before = text(&graph);
        let changed = apply(pass, &mut graph, &program);
        let after = text(&graph);
        recorded += &format!("=== {title}\n{source}");
        if kind == "same" {
            assert!(!changed, "{title} says that it changed\n{after}");
            assert_eq!(after, before, "{title}");
        } else {
            assert!(changed, "{title} says that it did not change\n{after}");
            assert_ne!(after, before, "{title}");
            recorded += &format!("---\n{after}");
            assert!(record || after == expected, "{title}: found\n{after}\nexpected\n{expected}");
        }
        cases += 1;
    }
    assert!(cases >= 28, "{cases}");
    if record {
        std::fs::write(path, recorded).unwrap();
    }
}

/// All passes that keep numbers as they are.
fn simplified(program: &Program, graph: &Graph) -> Graph {
    let mut graph = graph.clone();
    passes::inline(&mut graph, program).unwrap();
    graph.lint().unwrap_or_else(|error| panic!("{error}\n{graph}"));
    passes::optimize(&mut graph, program).unwrap();
    passes::fold_batch_norms(&mut graph, program).unwrap();
    passes::remove_dropout(&mut graph).unwrap();
    graph.lint().unwrap_or_else(|error| panic!("{error}\n{graph}"));
    let compacted = graph.compacted().unwrap();
    compacted.lint().unwrap();
    compacted
}

fn call(program: &Arc<Program>, graph: Graph, arguments: Vec<Value>) -> Result<Value> {
    let function = Function::new("f", graph, Schema::new("f", Vec::new(), Type::Any));
    run(&function, arguments, &Environment::new(program.clone()))
}

/// The graphs of `data/graphs` return what PyTorch returned, also after the passes.
#[test]
fn graphs_of_pytorch_compute_the_same_after_all_passes() {
    let files = [
        include_str!("data/graphs/control.txt"),
        include_str!("data/graphs/containers.txt"),
        include_str!("data/graphs/tensors.txt"),
    ];
    let program = Program::new();
    let mut cases = 0;
    for part in files.into_iter().flat_map(|file| file.split("def ").skip(1)) {
        let (name, rest) = part.split_once('\n').unwrap();
        let (graph, runs) = rest.split_at(rest.find("\ncase ").unwrap() + 1);
        let graph = simplified(&program, &Graph::parse(graph).unwrap());
        for case in runs.lines().filter(|line| !line.is_empty()) {
            let (arguments, expected) = case.split_once(" => ").or_else(|| case.split_once(" !! ")).unwrap();
            let arguments = read(arguments.strip_prefix("case ").unwrap()).as_tuple().unwrap().items().to_vec();
            match call(&program, graph.clone(), arguments) {
                Ok(result) => {
                    matches(&result, &read(expected)).unwrap_or_else(|e| panic!("{name}: {case}\n{e}\n{graph}"))
                }
                Err(error) => {
                    assert!(case.contains(" !! ") && error.message().contains(expected), "{case}\n{error}\n{graph}")
                }
            }
            cases += 1;
        }
    }
    assert!(cases > 30, "{cases}");
}

/// The random programs of `data/control.txt`, with the results of Python.
#[test]
fn random_programs_compute_the_same_after_all_passes() {
    let mut cases = 0;
    for part in include_str!("data/control.txt").split("=== ").skip(1) {
        let (name, rest) = part.split_once('\n').unwrap();
        let (source, results) = rest.split_once("--- ").unwrap();
        let (program, graph) = compiled(source);
        let graph = simplified(&program, &graph);
        let arguments = [[0, 0], [1, 2], [3, 1], [2, 7], [5, -3], [-2, 4]];
        for (args, expected) in arguments.into_iter().zip(results.split_whitespace()) {
            let found = match call(&program, graph.clone(), args.map(Value::Int).to_vec()) {
                Ok(value) => value.as_int().unwrap().to_string(),
                Err(_) => "raises".into(),
            };
            assert_eq!(found, expected, "{name} {args:?}\n{source}\n{graph}");
            cases += 1;
        }
    }
    assert_eq!(cases, 3600);
}

/// The programs of `data/language.txt` that compile stay well formed; passes do not fail on them.
#[test]
fn programs_of_every_construct_survive_all_passes() {
    let mut graphs = 0;
    for part in include_str!("data/language.txt").split("=== ").skip(1) {
        let (name, source) = part.split_once('\n').unwrap();
        let Ok(program) = Program::compile(source) else { continue };
        let Ok(function) = program.function("f") else { continue };
        let once = simplified(&program, &function.graph);
        let again = simplified(&program, &once);
        assert!(again.to_string().lines().count() <= once.to_string().lines().count(), "{name}\n{once}\n{again}");
        graphs += 1;
    }
    assert!(graphs > 70, "{graphs}");
}

/// Members of an Enum that source code names are compared as members, not as names.
#[test]
fn a_condition_on_members_of_an_enum_is_decided_by_their_values() {
    let source = "class Mode(Enum):
    A = 'a'
    B = 'b'
def shifted(x: int, mode: Mode) -> int:
    if mode == Mode.B:
        return x + 1
    return x
def f(x: int) -> Tuple[int, int]:
    return shifted(x, Mode.A), shifted(x, Mode.B)
";
    let program = Program::compile(source).unwrap();
    let graph = simplified(&program, &program.function("f").unwrap().graph);
    assert!(!graph.to_string().contains("prim::If"), "{graph}");
    matches(&call(&program, graph, vec![Value::Int(4)]).unwrap(), &read("(4, 5)")).unwrap();
}

// ---- freezing ------------------------------------------------------------------------------------------------------

const FILE: &[u8] = include_bytes!("data/module.pt");

/// The buffer that `forward` counts in stays an attribute; the parameters are constants.
#[test]
fn a_frozen_module_keeps_what_its_methods_change() {
    let module = Module::from_bytes(FILE).unwrap();
    let x = read("T([1, 2], [1.0, 2.0])");
    let expected = module.forward(vec![x.clone()]).unwrap();
    for numerics in [false, true] {
        let frozen = passes::freeze(&module, &[], numerics).unwrap();
        let graph = text(&frozen.method("forward").unwrap().graph);
        assert!(!graph.contains("CallMethod") && graph.matches("GetAttr").count() == 1, "{graph}");
        let names: Vec<String> = frozen.object().attributes().iter().map(|(a, _)| a.name.to_string()).collect();
        assert_eq!(names, ["seen"]);
        assert_eq!(frozen.methods().unwrap().iter().map(|name| &**name).collect::<Vec<_>>(), ["forward"]);
        matches(&frozen.forward(vec![x.clone()]).unwrap(), &expected).unwrap();
        assert!(frozen.parameters().is_empty() && frozen.buffers().len() == 1 && frozen.children().is_empty());
    }
    // The tensors are shared, as in PyTorch: each call of a frozen module counts.
    matches(&module.attribute("seen").unwrap(), &read("L([], [3])")).unwrap();
}

#[test]
fn methods_and_attributes_can_be_preserved() {
    let module = Module::from_bytes(FILE).unwrap();
    let frozen = passes::freeze(&module, &["twice", "fc.weight"], true).unwrap();
    assert_eq!(frozen.methods().unwrap().len(), 2);
    let x = read("T([1, 2], [1.0, 2.0])");
    matches(&frozen.run_method("twice", vec![x.clone()], vec![]).unwrap(), &read("T([1, 2], [12.0, 24.0])")).unwrap();
    // A preserved attribute is read when the method runs.
    let weight = frozen.attribute("fc.weight").unwrap();
    assert!(frozen.attribute("fc.bias").is_err());
    let fc = &frozen.children()[0].1;
    fc.set_attribute("weight", read("T([2, 2], [0.0, 0.0, 0.0, 0.0])")).unwrap();
    matches(&frozen.forward(vec![x]).unwrap(), &read("T([1, 2], [1.0, 1.0])")).unwrap();
    assert!(weight.as_tensor().unwrap().requires_grad());
    let again = passes::optimize_for_inference(&frozen, &["twice"]).unwrap();
    assert_eq!(again.methods().unwrap().len(), 2);
    assert!(passes::freeze(&module, &["nothing"], true).err().unwrap().message().contains("Unknown name: nothing"));
    assert!(
        passes::freeze(&module, &["fc.nothing"], true).err().unwrap().message().contains("Unknown name: fc.nothing")
    );
}

#[test]
fn modules_in_training_are_not_frozen() {
    let module = Module::from_bytes(FILE).unwrap();
    module.train(true).unwrap();
    let error = passes::freeze(&module, &[], true).err().unwrap();
    assert!(error.message().contains("eval mode"), "{error}");
}
