//! Graphs: printing as PyTorch prints them, the check, and changes.

use rushlight_script::graph::{Attribute, BlockId, Graph, Location, NodeId, ValueId};
use rushlight_script::types::{NoTypes, Type, parse_type};
use std::sync::Arc;

fn constant(graph: &mut Graph, block: BlockId, kind: &str, value: Option<Attribute>) -> ValueId {
    let kind = parse_type(kind, &NoTypes).unwrap();
    let node = graph.append(block, "prim::Constant", &[], &[kind]).unwrap();
    let attributes = value.map(|value| ("value".into(), value));
    graph.node_mut(node).unwrap().attributes.extend(attributes);
    graph.node(node).unwrap().outputs()[0]
}

fn call(graph: &mut Graph, block: BlockId, kind: &str, inputs: &[ValueId], name: &str, at: (usize, usize)) -> ValueId {
    let node = graph.append(block, kind, inputs, &[Type::Tensor]).unwrap();
    graph.node_mut(node).unwrap().location = Some(Location { file: "<string>".into(), line: at.0, column: at.1 });
    let output = graph.node(node).unwrap().outputs()[0];
    graph.set_name(output, name).unwrap();
    output
}

/// `y = x * 2.5 if flag else x`, in the notation of PyTorch.
fn conditional() -> (Graph, NodeId, ValueId) {
    let mut graph = Graph::new();
    let top = graph.top();
    let x = graph.add_input(top, Type::Tensor).unwrap();
    let flag = graph.add_input(top, Type::Bool).unwrap();
    graph.set_name(x, "x.1").unwrap();
    graph.set_name(flag, "flag.1").unwrap();
    let factor = constant(&mut graph, top, "float", Some(Attribute::Float(2.5)));
    let node = graph.append(top, "prim::If", &[flag], &[Type::Tensor]).unwrap();
    let result = graph.node(node).unwrap().outputs()[0];
    let (yes, no) = (graph.add_block(node).unwrap(), graph.add_block(node).unwrap());
    let product = call(&mut graph, yes, "aten::mul", &[x, factor], "y.5", (5, 12));
    graph.add_output(yes, product).unwrap();
    graph.add_output(no, x).unwrap();
    graph.add_output(top, result).unwrap();
    (graph, node, product)
}

#[test]
fn graphs_print_as_in_pytorch() {
    let (graph, ..) = conditional();
    graph.lint().unwrap();
    let expected = "graph(%x.1 : Tensor,\n      %flag.1 : bool):\n  %2 : float = prim::Constant[value=2.5]()\n  %3 : \
                    Tensor = prim::If(%flag.1)\n    block0():\n      %y.5 : Tensor = aten::mul(%x.1, %2) # \
                    <string>:5:12\n      -> (%y.5)\n    block1():\n      -> (%x.1)\n  return (%3)\n";
    assert_eq!(graph.to_string(), expected);
}

/// The printed form of each constant is that of PyTorch 2.7.1.
#[test]
fn constants_print_as_in_pytorch() {
    let floats = |values: &[f64]| Attribute::List(values.iter().map(|&value| Attribute::Float(value)).collect());
    let mut graph = Graph::new();
    let top = graph.top();
    constant(&mut graph, top, "str", Some(Attribute::Str(Arc::from(&b"a\"b\n"[..]))));
    constant(&mut graph, top, "NoneType", None);
    constant(&mut graph, top, "complex", Some(Attribute::Complex(0.0, 1.0)));
    constant(&mut graph, top, "List[float]", Some(floats(&[1.5, 1e10, 2.0, f64::INFINITY])));
    constant(&mut graph, top, "List[float]", Some(floats(&[0.1, 3e-5, 1e17, 1e100, -0.5, 123_456_789.123])));
    let list = Attribute::List(vec![Attribute::List(vec![Attribute::Int(1)])]);
    constant(&mut graph, top, "List[List[int]]", Some(list));
    let print = graph.append(top, "prim::Print", &[], &[]).unwrap();
    graph.node_mut(print).unwrap().attributes.push(("name".into(), Attribute::Type(Type::Int.list())));
    let mut body = Graph::new();
    let value = body.add_input(body.top(), Type::Tensor).unwrap();
    body.add_output(body.top(), value).unwrap();
    let fork = graph.append(top, "prim::fork", &[], &[Type::Tensor.future()]).unwrap();
    graph.node_mut(fork).unwrap().attributes.push(("Subgraph".into(), Attribute::Graph(body.into())));
    let expected = r#"graph():
  %0 : str = prim::Constant[value="a\"b\n"]()
  %1 : NoneType = prim::Constant()
  %2 : complex = prim::Constant[value=0.+1.j]()
  %3 : float[] = prim::Constant[value=[1.5, 10000000000, 2., inf]]()
  %4 : float[] = prim::Constant[value=[0.10000000000000001, 3.0000000000000001e-05, 1e+17, 1e+100, -0.5, 123456789.123]]()
  %5 : int[][] = prim::Constant[value=[[1]]]()
   = prim::Print[name=int[]]()
  %6 : Future[Tensor] = prim::fork_0()
  return ()
with prim::fork_0 = graph(%0 : Tensor):
  return (%0)
"#;
    assert_eq!(graph.to_string(), expected);
}

#[test]
fn names_are_unique() {
    let mut graph = Graph::new();
    let top = graph.top();
    let values: Vec<ValueId> = (0..3).map(|_| graph.add_input(top, Type::Int).unwrap()).collect();
    for &value in &values {
        graph.set_name(value, "x").unwrap();
    }
    let names: Vec<String> = values.iter().map(|&value| graph.name(value)).collect();
    assert_eq!(names, ["x.1", "x.2", "x"]);
    graph.set_name(values[2], "x.1").unwrap();
    assert_eq!((graph.name(values[0]), graph.name(values[2])), ("x.3".into(), "x.1".into()));
    assert!(graph.set_name(values[0], "12").is_err());
}

#[test]
fn edits_keep_the_graph_consistent() {
    let (mut graph, node, product) = conditional();
    let top = graph.top();
    let x = graph.block(top).unwrap().inputs()[0];
    assert!(graph.remove(node).unwrap_err().to_string().contains("its output %3 has 1 uses"));
    let relu = graph.insert_before(node, "aten::relu", &[x], &[Type::Tensor]).unwrap();
    let output = graph.node(relu).unwrap().outputs()[0];
    graph.replace_uses(x, output).unwrap();
    // The node reads its own output now.
    assert!(graph.lint().unwrap_err().to_string().contains("used by aten::relu where it is not defined"));
    graph.replace_input(relu, 0, x).unwrap();
    graph.lint().unwrap();
    let inner = graph.nodes(graph.node(node).unwrap().blocks()[0]).next().unwrap();
    assert_eq!(graph.node(inner).unwrap().outputs(), [product]);
    assert!(graph.move_before(node, inner).is_err());
    graph.move_before(relu, inner).unwrap();
    assert!(graph.lint().unwrap_err().to_string().contains("used by the end of a block where it is not defined"));
    graph.move_before(relu, node).unwrap();
    graph.lint().unwrap();
    assert!(graph.replace_input(relu, 1, x).is_err());
    graph.replace_uses(graph.node(node).unwrap().outputs()[0], x).unwrap();
    graph.remove(node).unwrap();
    graph.lint().unwrap();
    assert!(graph.remove(node).is_err() && graph.node(inner).unwrap().block().is_none());
    graph.remove(relu).unwrap();
    let expected = "graph(%x.1 : Tensor,\n      %flag.1 : bool):\n  %2 : float = prim::Constant[value=2.5]()\n  return \
                    (%x.1)\n";
    assert_eq!(graph.to_string(), expected);
}

#[test]
fn values_of_a_block_are_not_visible_outside() {
    let (mut graph, _, product) = conditional();
    graph.add_output(graph.top(), product).unwrap();
    assert!(graph.lint().unwrap_err().to_string().contains("%y.5 is used by the end of a block where it is not"));
    let (mut graph, node, _) = conditional();
    let result = graph.node(node).unwrap().outputs()[0];
    let no = graph.node(node).unwrap().blocks()[1];
    graph.add_output(no, result).unwrap();
    assert!(graph.lint().is_err());
}
