//! Branches and loops with exits: the graphs of random programs compute what Python computes.

mod support;

use rushlight_script::Source;
use rushlight_script::compile::{NoHost, Unit};
use rushlight_script::graph::{Attribute, BlockId, Graph, NodeId, ValueId};
use std::collections::HashMap;
use std::sync::Arc;

/// An interpreter of graphs over int and bool. None stands for a value that must not be used.
struct Machine<'a> {
    graph: &'a Graph,
    values: HashMap<ValueId, Option<i64>>,
    steps: usize,
}

/// An exception.
struct Raised;

impl Machine<'_> {
    fn get(&self, value: ValueId) -> i64 {
        self.values[&value].unwrap_or_else(|| panic!("%{} is used uninitialized", self.graph.name(value)))
    }

    fn block(&mut self, block: BlockId) -> Result<Vec<Option<i64>>, Raised> {
        for node in self.graph.nodes(block).collect::<Vec<_>>() {
            self.steps += 1;
            assert!(self.steps < 100_000, "the program does not end");
            self.node(node)?;
        }
        Ok(self.graph.block(block).unwrap().outputs().iter().map(|output| self.values[output]).collect())
    }

    fn node(&mut self, id: NodeId) -> Result<(), Raised> {
        let node = self.graph.node(id).unwrap();
        let inputs = node.inputs();
        let int = |index: usize| self.get(inputs[index]);
        let outputs = match &*node.kind {
            "prim::Constant" => vec![match node.attribute("value") {
                Some(Attribute::Int(value)) => Some(*value),
                _ => None,
            }],
            "prim::Uninitialized" => vec![None],
            "prim::RaiseException" => return Err(Raised),
            "prim::If" => {
                let branch = node.blocks()[usize::from(int(0) == 0)];
                self.block(branch)?
            }
            "prim::Loop" => {
                let body = node.blocks()[0];
                let parameters = self.graph.block(body).unwrap().inputs().to_vec();
                let (limit, mut goes_on) = (int(0), int(1) != 0);
                let mut state: Vec<Option<i64>> = inputs[2..].iter().map(|input| self.values[input]).collect();
                let mut trip = 0;
                while goes_on && trip < limit {
                    self.values.insert(parameters[0], Some(trip));
                    self.values.extend(parameters[1..].iter().copied().zip(state));
                    let mut next = self.block(body)?;
                    goes_on = next.remove(0).unwrap() != 0;
                    state = next;
                    trip += 1;
                }
                state
            }
            kind => {
                let result = match kind {
                    "aten::add" => int(0) + int(1),
                    "aten::sub" => int(0) - int(1),
                    "aten::mul" => int(0) * int(1),
                    "aten::neg" => -int(0),
                    "aten::remainder" => int(0).rem_euclid(int(1)),
                    "aten::lt" => i64::from(int(0) < int(1)),
                    "aten::gt" => i64::from(int(0) > int(1)),
                    "aten::eq" => i64::from(int(0) == int(1)),
                    "aten::ne" => i64::from(int(0) != int(1)),
                    "aten::__not__" => i64::from(int(0) == 0),
                    "aten::__derive_index" => int(1) + int(0) * int(2),
                    "aten::__range_length" => {
                        let (low, high, step) = (int(0), int(1), int(2));
                        let distance = if step > 0 { high - low } else { low - high };
                        (distance.max(0) + step.abs() - 1) / step.abs()
                    }
                    other => panic!("{other} is not known here"),
                };
                vec![Some(result)]
            }
        };
        self.values.extend(node.outputs().iter().copied().zip(outputs));
        Ok(())
    }
}

fn run(graph: &Graph, args: [i64; 2]) -> String {
    let inputs = graph.block(graph.top()).unwrap().inputs();
    let values = inputs.iter().copied().zip(args.map(Some)).collect();
    match (Machine { graph, values, steps: 0 }).block(graph.top()) {
        Ok(results) => results[0].expect("the result is uninitialized").to_string(),
        Err(Raised) => "raises".into(),
    }
}

#[test]
fn random_programs_compute_what_python_computes() {
    let text = include_str!("data/control.txt");
    let mut count = 0;
    for program in text.split("=== ").skip(1) {
        let (name, rest) = program.split_once('\n').unwrap();
        let (source, results) = rest.split_once("--- ").unwrap();
        let unit = Unit::new(support::operators(), Arc::new(NoHost));
        unit.define("", Source::new("<string>", source).unwrap()).unwrap();
        let function = unit.function("f").unwrap_or_else(|error| panic!("{name}: {error}\n{source}"));
        function.graph.lint().unwrap_or_else(|error| panic!("{name}: {error}\n{source}\n{}", function.graph));
        let arguments = [[0, 0], [1, 2], [3, 1], [2, 7], [5, -3], [-2, 4]];
        for (args, expected) in arguments.into_iter().zip(results.split_whitespace()) {
            assert_eq!(run(&function.graph, args), expected, "{name} {args:?}\n{source}\n{}", function.graph);
            count += 1;
        }
    }
    assert_eq!(count, 3600);
}
