//! Units: modules as archives have them, imports, interfaces, hooks, methods that are added, recursion and limits.

mod support;

use rushlight_base::Result;
use rushlight_script::Source;
use rushlight_script::compile::{Class, ClassAttribute, Constant, Host, NoHost, Unit};
use rushlight_script::graph::Attribute;
use rushlight_script::schema::Schema;
use rushlight_script::types::Type;
use std::sync::Arc;

/// Files by path.
struct Files(&'static [(&'static str, &'static str)]);

impl Host for Files {
    fn source(&self, path: &str) -> Result<Option<Source>> {
        let file = self.0.iter().find(|(other, _)| *other == path);
        file.map(|(path, text)| Source::new(&format!("{path}.py"), text)).transpose()
    }

    fn constant(&self, index: usize) -> Option<Constant> {
        (index < 2).then(|| Constant { kind: Type::Int, value: Attribute::Int(index as i64 + 40) })
    }

    fn custom_method(&self, class: &str, method: &str) -> Option<Arc<Schema>> {
        let known = class == "__torch__.torch.classes.demo.Stack" && method == "push";
        known.then(|| Arc::new(Schema::parse("x::push(int n, str s='a') -> Tensor").unwrap()))
    }
}

const NET: &[(&str, &str)] = &[
    (
        "__torch__",
        "class Net(Module):
  __parameters__ = [\"weight\", ]
  __buffers__ = [\"mean\", ]
  weight : Tensor
  mean : Optional[Tensor]
  training : bool
  stack : __torch__.torch.classes.demo.Stack
  block : __torch__.layers.Block
  scale : Final[float] = 2
  sizes : Final[List[int]] = [1, 2]
  __annotations__[\"0\"] = __torch__.layers.Block
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    weight = self.weight
    _0 = torch.mul(torch.matmul(x, weight), self.scale)
    _1 = (self.block).forward(_0, CONSTANTS.c1, )
    _2 = (getattr(self, \"0\")).forward(_1, 3, )
    if self.training:
      y = ops.prim.NumToTensor(torch.size(_2, 0))
    else:
      y = (self.stack).push(3, )
    return torch.add(y, __torch__.layers.helper(_2, ))
",
    ),
    (
        "__torch__.layers",
        "class Block(Module):
  __parameters__ = []
  __buffers__ = []
  def forward(self: __torch__.layers.Block,
    x: Tensor,
    n: int) -> Tensor:
    return torch.add(x, n)
def helper(x: Tensor) -> Tensor:
  return torch.relu(x)
",
    ),
];

fn unit(files: &'static [(&'static str, &'static str)]) -> Unit {
    Unit::new(support::operators(), Arc::new(Files(files)))
}

fn program(text: &str) -> Unit {
    let unit = Unit::new(support::operators(), Arc::new(NoHost));
    unit.define("", Source::new("<string>", text).unwrap()).unwrap();
    unit
}

fn fails(text: &str, message: &str) {
    let unit = program(text);
    let error = unit.function("f").map(|function| function.graph.to_string()).unwrap_err();
    assert!(error.message().contains(message), "{error}");
}

#[test]
fn modules_of_archives_are_read_on_demand() {
    let unit = unit(NET);
    let function = unit.function("__torch__.Net.forward").unwrap();
    function.graph.lint().unwrap();
    let expected = r#"graph(%self : __torch__.Net,
      %x : Tensor):
  %4 : float = prim::Constant[value=2.]() # __torch__.py:15:44
  %7 : int = prim::Constant[value=41]() # __torch__.py:16:34
  %10 : int = prim::Constant[value=3]() # __torch__.py:17:42
  %13 : int = prim::Constant[value=0]() # __torch__.py:19:46
  %17 : str = prim::Constant[value="a"]() # __torch__.py:21:10
  %22 : int = prim::Constant[value=1]() # __torch__.py:22:11
  %weight : Tensor = prim::GetAttr[name="weight"](%self) # __torch__.py:14:13
  %3 : Tensor = aten::matmul(%x, %weight) # __torch__.py:15:19
  %5 : Tensor = aten::mul(%3, %4) # __torch__.py:15:9
  %6 : __torch__.layers.Block = prim::GetAttr[name="block"](%self) # __torch__.py:16:10
  %8 : Tensor = prim::CallMethod[name="forward"](%6, %5, %7) # __torch__.py:16:9
  %9 : __torch__.layers.Block = prim::GetAttr[name="0"](%self) # __torch__.py:17:10
  %11 : Tensor = prim::CallMethod[name="forward"](%9, %8, %10) # __torch__.py:17:9
  %12 : bool = prim::GetAttr[name="training"](%self) # __torch__.py:18:7
  %y : Tensor = prim::If(%12) # __torch__.py:18:4
    block0():
      %14 : int = aten::size(%11, %13) # __torch__.py:19:31
      %y.1 : Tensor = prim::NumToTensor(%14) # __torch__.py:19:10
      -> (%y.1)
    block1():
      %16 : __torch__.torch.classes.demo.Stack = prim::GetAttr[name="stack"](%self) # __torch__.py:21:11
      %y.2 : Tensor = prim::CallMethod[name="push"](%16, %10, %17) # __torch__.py:21:10
      -> (%y.2)
  %20 : Function = prim::Constant[name="__torch__.layers.helper"]() # __torch__.py:22:24
  %21 : Tensor = prim::CallFunction(%20, %11) # __torch__.py:22:24
  %23 : Tensor = aten::add(%y, %21, %22) # __torch__.py:22:11
  return (%23)
"#;
    assert_eq!(shape(&function.graph.to_string()), shape(expected));
    let calls: Vec<&str> = function.calls.iter().map(|name| &**name).collect();
    assert_eq!(calls, ["__torch__.layers.Block.forward", "__torch__.layers.helper"]);
    assert_eq!(unit.compile_all("__torch__.Net.forward").unwrap().len(), 3);
    let class = unit.class("__torch__.Net").unwrap();
    assert!(class.attribute("weight").unwrap().is_parameter && class.attribute("mean").unwrap().is_buffer);
    assert_eq!(class.constants.len(), 2);
    assert!(unit.class("__torch__.Missing").is_err() && unit.function("__torch__.Net.missing").is_err());
}

#[test]
fn methods_can_be_added() {
    let unit = unit(NET);
    let text = "def double(self, x: Tensor, k: int = 2):\n    return self.forward(x) * k\n";
    let names = unit.define_methods("__torch__.Net", Source::new("<string>", text).unwrap()).unwrap();
    assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["double"]);
    let schema = unit.schema("__torch__.Net.double").unwrap();
    assert_eq!(schema.to_string(), "double(__torch__.Net self, Tensor x, int k=2) -> Tensor");
    let again = unit.define_methods("__torch__.Net", Source::new("<string>", text).unwrap());
    assert!(again.unwrap_err().message().contains("Can't redefine method"));
}

#[test]
fn classes_without_source_get_attributes_and_methods() {
    let unit = Unit::new(support::operators(), Arc::new(NoHost));
    unit.define_class(Class::module("__torch__.M")).unwrap();
    let weight = ClassAttribute { name: "w".into(), kind: Type::Tensor, is_parameter: true, is_buffer: false };
    unit.add_attribute("__torch__.M", weight.clone()).unwrap();
    assert!(unit.add_attribute("__torch__.M", weight).is_err());
    let text = "def forward(self, x):\n    self.w = self.w + x\n    return self.w\n";
    unit.define_methods("__torch__.M", Source::new("<string>", text).unwrap()).unwrap();
    let graph = unit.function("__torch__.M.forward").unwrap().graph.to_string();
    assert!(graph.contains("= prim::SetAttr[name=\"w\"](%self, "), "{graph}");
}

#[test]
fn interfaces_are_implemented_by_classes_with_their_methods() {
    let text = "class Shape(Interface):
    def area(self, scale: float) -> float:
        pass
class Square:
    def __init__(self, side: float):
        self.side = side
    def area(self, scale: float) -> float:
        return self.side * self.side * scale
class Line:
    def __init__(self, side: float):
        self.side = side
def total(shape: Shape) -> float:
    return shape.area(2.0)
def f(side: float):
    return total(Square(side))
def bad(side: float):
    return total(Line(side))
";
    let unit = program(text);
    let graph = unit.function("total").unwrap().graph.to_string();
    assert!(graph.contains("prim::CallMethod[name=\"area\"](%shape, "), "{graph}");
    unit.compile_all("f").unwrap().iter().for_each(|function| function.graph.lint().unwrap());
    let error = unit.function("bad").unwrap_err();
    assert!(error.message().contains("Expected a value of type 'Shape' for argument 'shape'"), "{error}");
}

#[test]
fn recursion_is_an_error() {
    fails("def f(n: int):\n    return f(n - 1)\n", "is called recursively. Recursive calls are not supported");
    fails("def f(n: int) -> int:\n    return f(n - 1)\n", "is called recursively");
    let unit = program("def f(n: int) -> int:\n    return g(n)\ndef g(n: int) -> int:\n    return f(n)\n");
    assert!(unit.compile_all("f").unwrap_err().message().contains("'g' is called recursively"));
}

#[test]
fn errors_show_file_line_and_source() {
    let unit = program("def f(x: Tensor):\n    y = x + 1\n    return y.foo(2)\n");
    let error = unit.function("f").unwrap_err();
    let expected = "'Tensor' object has no attribute or method 'foo'.:
  File \"<string>\", line 3
def f(x: Tensor):
    y = x + 1
    return y.foo(2)
           ~~~~~ <--- HERE
";
    assert_eq!(error.message(), expected);
}

#[test]
fn graphs_of_branches_and_loops_have_the_structure_of_pytorch() {
    let unit = program(
        "def f(x: Tensor, n: int):\n    for i in range(n):\n        if i == 3:\n            continue\n        x = x + i\n    \
         if n > 2:\n        return x\n    return x * 2\n",
    );
    let expected = "graph(%x : Tensor,
      %n : int):
  %2 : bool = prim::Constant[value=1]() # <string>:2:4
  %5 : int = prim::Constant[value=3]() # <string>:3:16
  %8 : int = prim::Constant[value=1]() # <string>:5:12
  %12 : int = prim::Constant[value=2]() # <string>:6:11
  %x.3 : Tensor = prim::Loop(%n, %2, %x) # <string>:2:4
    block0(%i : int, %x.1 : Tensor):
      %6 : bool = aten::eq(%i, %5) # <string>:3:11
      %x.5 : Tensor = prim::If(%6) # <string>:3:8
        block0():
          -> (%x.1)
        block1():
          %x.4 : Tensor = aten::add(%x.1, %i, %8) # <string>:5:12
          -> (%x.4)
      -> (%2, %x.5)
  %13 : bool = aten::gt(%n, %12) # <string>:6:7
  %15 : Tensor = prim::If(%13) # <string>:6:4
    block0():
      -> (%x.3)
    block1():
      %14 : Tensor = aten::mul(%x.3, %12) # <string>:8:11
      -> (%14)
  return (%15)
";
    assert_eq!(shape(&unit.function("f").unwrap().graph.to_string()), shape(expected));
}

/// A printed graph with values numbered in the order in which they occur, without constants.
fn shape(graph: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut out = String::new();
    for line in graph.lines().filter(|line| !line.contains("prim::Constant")) {
        let mut rest = line;
        while let Some(at) = rest.find('%') {
            let end = rest[at + 1..].find(|c: char| !c.is_alphanumeric() && c != '.' && c != '_');
            let end = end.map_or(rest.len(), |end| at + 1 + end);
            let name = rest[at..end].to_owned();
            let number = names.iter().position(|other| *other == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            out.push_str(&format!("{}%{number}", &rest[..at]));
            rest = &rest[end..];
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}

#[test]
fn hostile_programs_are_errors() {
    let early: String = (0..2000).map(|index| format!("    if n == {index}:\n        return {index}\n")).collect();
    fails(&format!("def f(n: int) -> int:\n{early}    return 0\n"), "nested too deeply");
    let elif: String = (0..2000).map(|index| format!("    elif n == {index}:\n        x = {index}\n")).collect();
    fails(
        &format!("def f(n: int):\n    x = 0\n    if n > 9:\n        x = 1\n{elif}    return x\n"),
        "nested too deeply",
    );
    // A chain is not nested.
    let chain: String = (0..5000).map(|_| " + n").collect();
    program(&format!("def f(n: int):\n    return n{chain}\n")).function("f").unwrap();
    let calls: String =
        (0..100).map(|index| format!("def f{index}(n: int):\n    return f{}(n)\n", index + 1)).collect();
    fails(&format!("{calls}def f100(n: int):\n    return n\ndef f(n: int):\n    return f0(n)\n"), "nest too deeply");
}

/// The deepest code that is not an error runs in the stack of a small thread.
#[test]
fn nesting_needs_little_stack() {
    let run = || {
        let wraps: [(&str, &str); 8] = [
            ("(", " + 1)"),
            ("g(", ")"),
            ("[", "][0]"),
            ("(1 if n > ", " else 2)"),
            ("[i for i in [", "]][0]"),
            ("-(", ")"),
            ("int(n < ", ")"),
            ("{1: ", "}[1]"),
        ];
        for (open, close) in wraps {
            for depth in [5, 20, 40, 80] {
                for blocks in [0, 40, 90] {
                    let mut text = String::from("def g(n: int) -> int:\n    return n\ndef f(n: int) -> int:\n");
                    for level in 1..=blocks {
                        text.push_str(&format!("{}if n > {level}:\n", " ".repeat(level)));
                    }
                    let pad = " ".repeat(blocks + 1);
                    text.push_str(&format!("{pad}n = {}n{}\n return n\n", open.repeat(depth), close.repeat(depth)));
                    let source = Source::new("<string>", &text).unwrap();
                    let unit = Unit::new(support::operators(), Arc::new(NoHost));
                    match unit.define("", source).and_then(|_| unit.function("f")) {
                        Ok(function) => function.graph.lint().unwrap(),
                        Err(error) => assert!(error.message().contains("nested too deeply"), "{error}"),
                    }
                }
            }
        }
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
}
