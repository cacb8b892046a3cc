//! Modules that are saved: the printed code of every construct, round trips, and changes before saving.

mod values;

use rushlight_base::Result;
use rushlight_script::module::Module;
use rushlight_script::program::Program;
use rushlight_script::runtime::function::Linker;
use rushlight_script::runtime::object::Object;
use rushlight_script::runtime::value::Value;
use values::{matches, read};

/// The module of a program with the class `M`. Its attribute `training` is set.
fn module(source: &str) -> Module {
    let program = Program::compile(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let object = Object::new(program.class("M").unwrap());
    if object.class().slot("training").is_some() {
        object.set("training", false.into()).unwrap();
    }
    Module::new(program, object)
}

fn again(module: &Module) -> Module {
    Module::from_bytes(module.to_bytes(&[]).unwrap()).unwrap()
}

/// The code of a module without the header of `M`.
fn body(source: &str) -> String {
    let module = module(source);
    let code = module.printed_code().unwrap();
    // Saving again and again does not change the code: after the casts of annotations, it stays the same.
    let second = again(&module);
    assert_eq!(second.printed_code().unwrap(), again(&second).printed_code().unwrap(), "{source}");
    code.into_values().collect()
}

#[track_caller]
fn prints(method: &str, expected: &str) {
    let indented: String = method.lines().map(|line| format!("    {line}\n")).collect();
    let printed = body(&format!("class M(Module):\n{indented}"));
    let header = "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n";
    let found = printed.strip_prefix(header).unwrap_or_else(|| panic!("{printed}"));
    assert_eq!(found, expected, "{found}");
}

#[test]
fn expressions_are_inlined_where_the_order_allows() {
    prints(
        "def forward(self, x: Tensor) -> Tensor:\n    y = torch.relu(x)\n    return torch.neg(torch.abs(y))",
        "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    y = torch.relu(x)\n    \
         return torch.neg(torch.abs(y))\n",
    );
    // `b` is computed before `a` is used: both are variables.
    prints(
        "def forward(self, l: List[int]) -> int:\n    a = l.pop()\n    b = l.pop()\n    return b - a",
        "  def forward(self: __torch__.M,\n    l: List[int]) -> int:\n    a = torch.pop(l, -1)\n    \
         b = torch.pop(l, -1)\n    return torch.sub(b, a)\n",
    );
}

#[test]
fn branches_assign_what_is_used_after_them() {
    prints(
        "def forward(self, n: int, flag: bool) -> Optional[int]:\n    y: Optional[int] = None\n    if flag:\n        y = n\n    \
         return y",
        "  def forward(self: __torch__.M,\n    n: int,\n    flag: bool) -> Optional[int]:\n    \
         _0 = unchecked_cast(Optional[int], None)\n    if flag:\n      y : Optional[int] = n\n    else:\n      y = _0\n    \
         return y\n",
    );
    prints(
        "def forward(self, flag: bool, l: List[int]):\n    if flag:\n        l.append(1)",
        "  def forward(self: __torch__.M,\n    flag: bool,\n    l: List[int]) -> NoneType:\n    if flag:\n      \
         _0 = torch.append(l, 1)\n    else:\n      pass\n    return None\n",
    );
}

#[test]
fn loops_are_printed_by_their_kind() {
    let head = "  def forward(self: __torch__.M,\n    n: int) -> int:\n    ";
    prints(
        "def forward(self, n: int) -> int:\n    s = 0\n    for i in range(n):\n        s = s + i\n    return s",
        &format!("{head}s = 0\n    for _0 in range(n):\n      s = torch.add(s, _0)\n    return s\n"),
    );
    prints(
        "def forward(self, n: int) -> int:\n    while n > 3:\n        n = n - 1\n    return n",
        &format!(
            "{head}n0 = n\n    _0 = torch.gt(n, 3)\n    while _0:\n      n1 = torch.sub(n0, 1)\n      \
             _0, n0 = torch.gt(n1, 3), n1\n    return n0\n"
        ),
    );
}

#[test]
fn literals_keep_their_types() {
    prints(
        "def forward(self):\n    return 1, 2.0, 1e20, 12345678901.0, -0.0, True, None, 'a\"b', 2j, torch.device('cpu')",
        "  def forward(self: __torch__.M) -> Tuple[int, float, float, float, float, bool, NoneType, str, complex, Device]:\n    \
         _0 = (1, 2., 1e+20, 12345678901., -0., True, None, \"a\\\"b\", 2.j, torch.device(\"cpu\"))\n    return _0\n",
    );
    prints(
        "def forward(self):\n    a: List[int] = []\n    b: Dict[str, float] = {}\n    c: List[Optional[int]] = [1, None]\n    \
         return a, b, c",
        "  def forward(self: __torch__.M) -> Tuple[List[int], Dict[str, float], List[Optional[int]]]:\n    \
         a = annotate(List[int], [])\n    b = annotate(Dict[str, float], {})\n    \
         c = annotate(List[Optional[int]], [1, None])\n    return (a, b, c)\n",
    );
}

#[test]
fn classes_are_printed_with_what_they_need() {
    let source = "
class Color(Enum):
    RED = 1
    BLUE = 2

class Pair(NamedTuple):
    a: int
    b: List[Color]

class Shape(Interface):
    def area(self, k: int) -> int:
        pass

class Square:
    side: int
    def area(self, k: int) -> int:
        return self.side * k

def twice(x: int, k: int = 2) -> int:
    return x * k

class M(Module):
    training: bool
    n: Final[int] = 3
    shape: Shape
    def forward(self, x: int) -> Pair:
        return Pair(twice(x) + self.shape.area(2), [Color.RED])
";
    let text = body_with(source, |module| {
        let square = Object::new(module.program().class("Square").unwrap());
        square.set("side", 5.into()).unwrap();
        module.object().set("shape", square.into()).unwrap();
    });
    for part in [
        "class Color(Enum):\n  RED = 1\n  BLUE = 2\n",
        "class Pair(NamedTuple):\n  a : int\n  b : List[__torch__.Color]\n",
        "class Shape(Interface):\n  def area(self,\n    k: int) -> int:\n    pass\n",
        "class Square:\n  side : int\n  def area(self: __torch__.Square,\n    k: int) -> int:\n",
        "def twice(x: int,\n    k: int=2) -> int:\n  return torch.mul(x, k)\n",
        "  shape : __torch__.Shape\n  n : Final[int] = 3\n",
        "    _1 = __torch__.Pair(_0, [__torch__.Color.RED])\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

fn body_with(source: &str, prepare: impl FnOnce(&Module)) -> String {
    let module = module(source);
    prepare(&module);
    let loaded = again(&module);
    let results = [&module, &loaded].map(|module| module.forward(vec![Value::Int(4)]).unwrap());
    assert_eq!(format!("{:?}", results[0]), format!("{:?}", results[1]));
    let code = module.printed_code().unwrap();
    assert_eq!(code, loaded.printed_code().unwrap());
    code.into_values().collect()
}

/// The programs of `data/control.txt` compute the same after they were saved and loaded.
#[test]
fn saved_programs_compute_what_they_computed() {
    let arguments = [[0, 0], [1, 2], [3, 1], [2, 7], [5, -3], [-2, 4]];
    let mut count = 0;
    for program in include_str!("data/control.txt").split("=== ").skip(1) {
        let (name, rest) = program.split_once('\n').unwrap();
        let (source, results) = rest.split_once("--- ").unwrap();
        let wrapper = "class M(Module):\n    def forward(self, a: int, b: int) -> int:\n        return f(a, b)\n";
        let loaded = again(&module(&format!("{source}\n{wrapper}")));
        for (args, expected) in arguments.into_iter().zip(results.split_whitespace()) {
            let result = loaded.forward(args.map(Value::Int).to_vec());
            let found = result.map_or_else(|_| "raises".to_owned(), |value| value.as_int().unwrap().to_string());
            assert_eq!(found, expected, "{name} {args:?}\n{source}");
            count += 1;
        }
    }
    assert_eq!(count, 3600);
}

const FILE: &[u8] = include_bytes!("data/module.pt");

#[test]
fn a_parameter_and_a_method_are_changed_before_saving() -> Result<()> {
    let module = Module::from_bytes(FILE)?;
    let x = read("T([1, 2], [1.0, 2.0])");
    matches(&module.forward(vec![x.clone()])?, &read("T([1, 2], [6.0, 12.0])")).unwrap();
    module.set_attribute("training", true.into())?;
    let bias = module.attribute("fc.bias")?.as_tensor()?.clone();
    let moved = Program::compile("def f(x: Tensor) -> Tensor:\n    return x.detach() + 1")?;
    let moved = moved.call("f", vec![bias.into()], Vec::new())?;
    module.children()[0].1.set_attribute("bias", moved)?;
    module.define("def thrice(self, x: Tensor) -> Tensor:\n    return self.fc(x) * 3.0")?;
    let before = module.run_method("thrice", vec![x.clone()], Vec::new())?;
    let bytes = module.to_bytes(&[("note", b"changed"), ("empty", b"")])?;
    let loaded = Module::from_bytes(bytes)?;
    assert_eq!(loaded.extra_file("note")?.as_deref(), Some(&b"changed"[..]));
    assert_eq!(loaded.extra_file("empty")?.as_deref(), Some(&b""[..]));
    assert!(loaded.attribute("training")?.as_bool()?);
    let after = loaded.run_method("thrice", vec![x], Vec::new())?;
    assert!(matches(&after, &before).is_ok());
    assert_eq!(module.printed_code()?, loaded.printed_code()?);
    let names = |module: &Module| module.parameters().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(&module), names(&loaded));
    Ok(())
}

#[test]
fn tensors_share_their_storage_after_loading() -> Result<()> {
    let source = "class M(Module):\n    a: Tensor\n    b: Tensor\n    c: Tensor\n    d: Dict[str, List[Tuple[int, str]]]\n    \
                  def forward(self) -> Tensor:\n        return self.b\n";
    let module = module(source);
    let make = Program::compile("def f() -> Tuple[Tensor, Tensor]:\n    x = torch.zeros([6])\n    return x, x[2:4]")?;
    let pair = make.call("f", Vec::new(), Vec::new())?;
    let [whole, part] = pair.as_tuple()?.items() else { panic!("two tensors") };
    module.set_attribute("a", whole.clone())?;
    module.set_attribute("b", part.clone())?;
    module.set_attribute("c", whole.clone())?;
    module.set_attribute("d", read("{'k': [(1, 'one')]}"))?;
    let loaded = again(&module);
    let fill = Program::compile("def f(x: Tensor) -> Tensor:\n    return x.fill_(7.0)")?;
    fill.call("f", vec![loaded.attribute("b")?], Vec::new())?;
    let expected = read("T([6], [0.0, 0.0, 7.0, 7.0, 0.0, 0.0])");
    matches(&loaded.attribute("a")?, &expected).unwrap();
    assert!(loaded.attribute("a")?.is(&loaded.attribute("c")?));
    matches(&loaded.attribute("d")?, &read("{'k': [(1, 'one')]}")).unwrap();
    Ok(())
}

#[test]
fn what_cannot_be_saved_is_an_error() -> Result<()> {
    let module = module("class M(Module):\n    l: List[List[int]]\n    g: Generator\n    def f(self):\n        pass\n");
    assert!(module.to_bytes(&[("a", b""), ("a", b"")]).unwrap_err().message().contains("two extra files"));
    assert!(module.to_bytes(&[("", b"")]).unwrap_err().message().contains("no name"));
    assert!(module.save("/nowhere/module.pt", &[]).unwrap_err().message().contains("cannot save /nowhere/module.pt"));
    let list = read("[[1]]");
    list.as_list()?.lock().push(list.clone())?;
    module.object().set("l", list)?;
    let error = module.to_bytes(&[]).unwrap_err();
    assert!(error.message().contains("attribute 'l' of M: a value that contains itself cannot be saved"), "{error}");
    module.object().set("l", Value::None)?;
    module.object().set("g", Value::Generator(rushlight_tensor::Generator::new(1)))?;
    assert!(module.to_bytes(&[]).unwrap_err().message().contains("a value of type Generator cannot be saved"));
    Ok(())
}
