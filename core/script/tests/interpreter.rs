//! Graphs that PyTorch printed, run with the arguments and results that it recorded (`data/graphs.py`).

mod values;

use rushlight_base::{ErrorKind, Result, err};
use rushlight_script::graph::Graph;
use rushlight_script::runtime::function::{Function, Linker};
use rushlight_script::runtime::object::Class;
use rushlight_script::runtime::value::Value;
use rushlight_script::runtime::{Environment, Exception, run};
use rushlight_script::schema::Schema;
use rushlight_script::types::{Resolver, Type};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use values::{matches, read};

/// A program of functions.
#[derive(Default)]
struct Functions(HashMap<String, Arc<Function>>);

impl Resolver for Functions {
    fn resolve(&self, _name: &str) -> Option<Type> {
        None
    }

    fn implements(&self, _name: &str, _interface: &str) -> bool {
        false
    }
}

impl Linker for Functions {
    fn function(&self, name: &str) -> Result<Arc<Function>> {
        self.0.get(name).cloned().ok_or_else(|| err!(Runtime, "there is no function '{name}'"))
    }

    fn method(&self, class: &str, name: &str) -> Result<Arc<Function>> {
        self.function(&format!("{class}.{name}"))
    }

    fn class(&self, name: &str) -> Result<Arc<Class>> {
        Err(err!(Runtime, "there is no class '{name}'"))
    }
}

fn function(name: &str, graph: &str) -> Arc<Function> {
    let graph = Graph::parse(graph).unwrap_or_else(|error| panic!("{name}: {error}\n{graph}"));
    graph.lint().unwrap();
    Arc::new(Function::new(name, graph, Schema::new(name, Vec::new(), Type::Any)))
}

fn program(functions: &[(&str, &str)]) -> Environment {
    let functions = functions.iter().map(|(name, graph)| ((*name).to_owned(), function(name, graph))).collect();
    Environment::new(Arc::new(Functions(functions)))
}

fn call(environment: &Environment, name: &str, arguments: Vec<Value>) -> Result<Value> {
    run(&environment.linker.function(name).unwrap(), arguments, environment)
}

fn check_file(text: &str) {
    let mut cases = 0;
    for part in text.split("def ").skip(1) {
        let (name, rest) = part.split_once('\n').unwrap();
        let at = rest.find("\ncase ").unwrap();
        let (graph, runs) = rest.split_at(at + 1);
        let environment = program(&[(name, graph)]);
        let printed = Graph::parse(graph).unwrap();
        // Numbers of values may differ after reading, so the form is stable only from the second time on.
        let again = Graph::parse(&printed.to_string()).unwrap();
        assert_eq!(printed.to_string(), again.to_string(), "{name}");
        for case in runs.lines().filter(|line| !line.is_empty()) {
            let (arguments, expected, fails) = match case.split_once(" !! ") {
                Some((arguments, message)) => (arguments.strip_prefix("case ").unwrap(), message, true),
                None => {
                    let (arguments, result) = case.split_once(" => ").unwrap();
                    (arguments.strip_prefix("case ").unwrap(), result, false)
                }
            };
            let arguments = read(arguments).as_tuple().unwrap().items().to_vec();
            match call(&environment, name, arguments) {
                Ok(result) => {
                    assert!(!fails, "{name}: {case}\nreturned {result:?}");
                    let found = matches(&result, &read(expected));
                    assert!(found.is_ok(), "{name}: {case}\n{}", found.unwrap_err());
                }
                Err(error) => {
                    assert!(fails, "{name}: {case}\n{error}");
                    let last = error.message().lines().find(|line| line.starts_with(expected));
                    assert!(last.is_some(), "{name}: {case}\n{error}");
                }
            }
            cases += 1;
        }
    }
    assert!(cases > 8);
}

#[test]
fn control_flow_runs_as_in_pytorch() {
    check_file(include_str!("data/graphs/control.txt"));
}

#[test]
fn containers_and_scalars_behave_as_in_pytorch() {
    check_file(include_str!("data/graphs/containers.txt"));
}

#[test]
fn operators_with_tensors_are_called() {
    check_file(include_str!("data/graphs/tensors.txt"));
}

const COUNTDOWN: &str = "graph(%n.1 : int):
  %f : Function = prim::Constant[name=\"down\"]()
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %done : bool = aten::eq(%n.1, %0)
  %r : int = prim::If(%done)
    block0():
      -> (%0)
    block1():
      %m : int = aten::sub(%n.1, %1)
      %s : int = prim::CallFunction(%f, %m)
      %t : int = aten::add(%s, %1)
      -> (%t)
  return (%r)
";

#[test]
fn recursion_is_not_limited_by_the_stack_of_the_host() {
    let environment = program(&[("down", COUNTDOWN)]);
    let result = call(&environment, "down", vec![Value::Int(1_000_000)]).unwrap();
    assert_eq!(result.as_int().unwrap(), 1_000_000);
}

#[test]
fn errors_show_the_call_stack_and_carry_the_exception() {
    let inner = "graph(%x : int):
  %m : str = prim::Constant[value=\"no\"]()
  %c : str = prim::Constant[value=\"builtins.ValueError\"]()
   = prim::RaiseException(%m, %c) # model.py:7:4
  return (%x)
";
    let outer = "graph(%x : int):
  %f : Function = prim::Constant[name=\"inner\"]()
  %y : int = prim::CallFunction(%f, %x) # model.py:2:8
  return (%y)
";
    let environment = program(&[("inner", inner), ("outer", outer)]);
    let error = call(&environment, "outer", vec![Value::Int(1)]).unwrap_err();
    assert_eq!(
        error.message(),
        "The following operation failed in the TorchScript interpreter.\nTraceback of TorchScript (most recent call \
         last):\n  File \"model.py\", line 2, in outer\n  File \"model.py\", line 7, in inner\nbuiltins.ValueError: no\n"
    );
    let exception = error.payload().unwrap().downcast_ref::<Exception>().unwrap();
    assert_eq!((exception.class.as_deref(), &*exception.message), (Some("builtins.ValueError"), "no"));
    assert_eq!(error.kind(), ErrorKind::Runtime);
}

#[test]
fn an_error_of_a_forked_function_is_returned_by_wait() {
    let graph = "graph(%x : int, %take : bool):
  %f : Future[int] = prim::fork_0(%x)
  %r : int = prim::If(%take)
    block0():
      %y : int = aten::wait(%f)
      -> (%y)
    block1():
      -> (%x)
  return (%r)
with prim::fork_0 = graph(%x : int):
  %0 : int = prim::Constant[value=0]()
  %y : int = aten::floordiv(%x, %0)
  return (%y)
";
    let environment = program(&[("f", graph)]);
    assert_eq!(call(&environment, "f", vec![Value::Int(3), Value::Bool(false)]).unwrap().as_int().unwrap(), 3);
    let error = call(&environment, "f", vec![Value::Int(3), Value::Bool(true)]).unwrap_err();
    assert!(error.message().contains("RuntimeError: division by 0"), "{error}");
}

#[test]
fn printed_text_goes_to_the_sink() {
    let graph = "graph(%x : int, %y : float[]):
  %s : str = prim::Constant[value=\"a\\n\"]()
   = prim::Print(%s, %x, %y)
  %n : NoneType = prim::Constant()
  return (%n)
";
    let mut environment = program(&[("f", graph)]);
    let text = Arc::new(Mutex::new(Vec::new()));
    let sink = text.clone();
    environment.print = Some(Arc::new(move |bytes: &[u8]| sink.lock().unwrap().extend_from_slice(bytes)));
    call(&environment, "f", vec![Value::Int(2), read("[1.0, 0.1]")]).unwrap();
    assert_eq!(text.lock().unwrap().as_slice(), b"a\n 2 [1., 0.10000000000000001]\n");
}

#[test]
fn deep_values_are_dropped_without_recursion() {
    let mut value = Value::None;
    for _ in 0..1_000_000 {
        let list = rushlight_script::runtime::list::List::from_values(Type::Any, [value]).unwrap();
        value = rushlight_script::runtime::object::Tuple::new(vec![list.into()]).into();
    }
    drop(value);
}

#[test]
fn threads_share_values() {
    let graph = "graph(%l : int[], %n : int):
  %true : bool = prim::Constant[value=1]()
   = prim::Loop(%n, %true)
    block0(%i : int):
      %a : int[] = aten::append(%l, %i)
      -> (%true)
  %k : int = aten::len(%l)
  return (%k)
";
    let environment = program(&[("f", graph)]);
    let list = read("[0]");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| call(&environment, "f", vec![list.clone(), Value::Int(1000)]).unwrap());
        }
    });
    assert_eq!(list.as_list().unwrap().len(), 8001);
}

/// The time of a node in a loop of scalars. Run it in the release profile: `cargo test --release -- --ignored`.
#[test]
#[ignore = "a measurement"]
fn time_of_a_node() {
    let graph = "graph(%x.1 : int):
  %i.1 : int = prim::Constant[value=0]()
  %2 : int = prim::Constant[value=9223372036854775807]()
  %10 : int = prim::Constant[value=2]()
  %23 : int = prim::Constant[value=1]()
  %42 : bool = aten::lt(%i.1, %x.1)
  %s : int, %i : int = prim::Loop(%2, %42, %i.1, %i.1)
    block0(%7 : int, %s.19 : int, %i.17 : int):
      %11 : int = aten::remainder(%i.17, %10)
      %12 : bool = aten::eq(%11, %i.1)
      %s.17 : int = prim::If(%12)
        block0():
          %s.3 : int = aten::add(%s.19, %i.17)
          -> (%s.3)
        block1():
          -> (%s.19)
      %i.13 : int = aten::add(%i.17, %23)
      %5 : bool = aten::lt(%i.13, %x.1)
      -> (%5, %s.17, %i.13)
  return (%s)
";
    let environment = program(&[("f", graph)]);
    let count = 3_000_000;
    let start = std::time::Instant::now();
    let result = call(&environment, "f", vec![Value::Int(count)]).unwrap();
    let time = start.elapsed().as_secs_f64();
    assert_eq!(result.as_int().unwrap(), (count - 2) * count / 4);
    // remainder, eq, If, add in every second iteration, add, lt, Loop.
    panic!("{:.1} ns per node", time * 1e9 / (count as f64 * 6.5));
}
