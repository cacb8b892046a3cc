//! Modules: programs that are compiled and run, attributes, and files that are damaged.

mod values;

use rushlight_base::{DType, Scalar};
use rushlight_script::module::Module;
use rushlight_script::program::Program;
use rushlight_script::runtime::value::Value;
use rushlight_tensor::dispatch as boxed;
use values::{matches, read};

fn call(program: &str, name: &str, arguments: &str) -> Value {
    let program = Program::compile(program).unwrap();
    let arguments = read(arguments).as_tuple().unwrap().items().to_vec();
    program.call(name, arguments, Vec::new()).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn returns(program: &str, arguments: &str, expected: &str) {
    let result = call(program, "f", arguments);
    if let Err(difference) = matches(&result, &read(expected)) {
        panic!("{difference}");
    }
}

#[test]
fn objects_are_shared_and_sorted_by_their_own_order() {
    let program = "
class Card:
    def __init__(self, rank: int, name: str):
        self.rank = rank
        self.name = name

    def __lt__(self, other: 'Card') -> bool:
        return self.rank < other.rank

    def raised(self, by: int) -> int:
        self.rank += by
        return self.rank

def f(n: int):
    cards = [Card(3, 'c'), Card(1, 'a'), Card(2, 'b')]
    same = cards[0]
    same.raised(n)
    cards.sort()
    return [card.name for card in cards], [card.rank for card in cards], same is cards[2], same.raised(1)
";
    returns(program, "(-3,)", "(['c', 'a', 'b'], [0, 1, 2], False, 1)");
}

#[test]
fn errors_name_the_functions_and_show_the_source() {
    let program = "def inner(x: int) -> int:
    if x > 2:
        raise ValueError('too big')
    return x

def f(x: int) -> int:
    return inner(x) + 1
";
    returns(program, "(1,)", "2");
    let error = Program::compile(program).unwrap().call("f", vec![Value::Int(5)], Vec::new()).unwrap_err();
    let message = error.message();
    assert!(message.contains("File \"<string>\", line 7, in f\n"), "{message}");
    assert!(message.contains("File \"<string>\", line 3, in inner\n"), "{message}");
    assert!(message.contains("<--- HERE"), "{message}");
    assert!(message.ends_with("builtins.ValueError: too big\n"), "{message}");
}

#[test]
fn arguments_are_completed_and_checked() {
    let program =
        Program::compile("def f(x: float, y: List[int], z: str = 'q') -> str:\n    return z + str(x) + str(y)\n")
            .unwrap();
    let ints = read("[1, 2]");
    let result = program.call("f", vec![Value::Int(1)], vec![("y", ints.clone())]).unwrap();
    assert_eq!(result.as_str().unwrap(), "q1.[1, 2]");
    let fails = |arguments: Vec<Value>, named: Vec<(&str, Value)>| {
        program.call("f", arguments, named).unwrap_err().message().to_owned()
    };
    assert!(fails(vec![Value::Int(1)], vec![]).contains("f() is missing value for argument 'y'"));
    assert!(
        fails(vec![Value::Int(1), ints.clone()], vec![("w", Value::None)]).contains("Unknown keyword argument 'w'")
    );
    assert!(fails(vec![Value::str("a"), ints], vec![]).contains("Expected a value of type 'float' for argument 'x'"));
}

/// `data/module.py` wrote the file with PyTorch: a linear layer and a counter, compressed as PyTorch compresses code.
const FILE: &[u8] = include_bytes!("data/module.pt");

#[test]
fn a_file_of_pytorch_is_loaded_and_changed() {
    let module = Module::from_bytes(FILE).unwrap();
    assert_eq!(module.extra_file("note").unwrap().as_deref(), Some(&b"hello"[..]));
    let names = |tensors: Vec<(String, rushlight_tensor::Tensor)>| {
        tensors.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names(module.parameters()), ["fc.weight", "fc.bias"]);
    assert_eq!(names(module.buffers()), ["seen"]);
    assert_eq!(module.children().iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["fc"]);
    let x = read("T([1, 2], [1.0, 2.0])");
    let expected = read("T([1, 2], [6.0, 12.0])");
    matches(&module.forward(vec![x.clone()]).unwrap(), &expected).unwrap();
    matches(&module.attribute("seen").unwrap(), &read("L([], [1])")).unwrap();
    let copy = module.deep_copy().unwrap();
    copy.forward(vec![x.clone()]).unwrap();
    matches(&module.attribute("seen").unwrap(), &read("L([], [1])")).unwrap();
    matches(&copy.attribute("seen").unwrap(), &read("L([], [2])")).unwrap();
    module.train(true).unwrap();
    assert!(module.attribute("fc.training").unwrap().as_bool().unwrap());
    copy.to(None, Some(DType::F64)).unwrap();
    assert_eq!(copy.attribute("fc.weight").unwrap().as_tensor().unwrap().dtype(), DType::F64);
    assert!(copy.attribute("fc.weight").unwrap().as_tensor().unwrap().requires_grad());
    assert!(module.method("nothing").is_err() && module.methods().unwrap().iter().any(|name| &**name == "twice"));
    let twice = module.run_method("twice", vec![], vec![("x", x)]).unwrap();
    matches(&twice, &read("T([1, 2], [12.0, 24.0])")).unwrap();
}

#[test]
fn one_module_runs_in_many_threads() {
    let module = Module::from_bytes(FILE).unwrap();
    let expected = read("T([1, 2], [6.0, 12.0])");
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let result = module.forward(vec![read("T([1, 2], [1.0, 2.0])")]).unwrap();
                    matches(&result, &expected).unwrap();
                }
            });
        }
    });
}

#[test]
fn damaged_files_are_errors() {
    for length in (0..FILE.len()).step_by(37) {
        assert!(Module::from_bytes(FILE[..length].to_vec()).is_err(), "{length}");
    }
    for at in (0..FILE.len()).step_by(3) {
        let mut bytes = FILE.to_vec();
        bytes[at] ^= 0x15;
        // Loading or calling it may fail; it may not panic.
        if let Ok(module) = Module::from_bytes(bytes) {
            drop(module.forward(vec![read("T([1, 2], [1.0, 2.0])")]));
        }
    }
}

#[test]
fn layouts_are_asked_for_and_numbers_are_copied_into_tensors() {
    let program = "
def f(n: int):
    x = torch.zeros([2, 3, 4, 5]).contiguous(memory_format=torch.channels_last)
    y = torch.zeros([2]).copy_(n).copy_(n + 0.5)
    return x.is_contiguous(), x.is_contiguous(memory_format=torch.channels_last), x[:, :, ::2].is_contiguous(), y.tolist()
";
    let program = program.replace("y.tolist()", "float(y.sum())");
    returns(&program, "(3,)", "(False, True, False, 7.0)");
}

/// Lists and dicts from outside whose elements are of several types are converted to the type of the parameter.
#[test]
fn mixed_numbers_become_those_of_the_parameter() {
    let program = Program::compile("def f(x: List[float], y: Dict[str, float]):\n    return x, y\n").unwrap();
    let numbers = [Scalar::Float(1.5), Scalar::Int(2)];
    let entries =
        numbers.iter().zip(["a", "b"]).map(|(number, key)| (boxed::Value::from(key), boxed::Value::Scalar(*number)));
    let dict = boxed::Value::Dict(boxed::Dict::new(entries.collect()).unwrap());
    let result = program.call_boxed("f", vec![boxed::Value::Scalars(numbers.to_vec()), dict], &[]).unwrap();
    assert_eq!(format!("{:?}", result).matches("Int").count(), 0, "{result:?}");
    assert!(
        matches!(result, boxed::Value::Tuple(items) if matches!(&items[0], boxed::Value::Floats(x) if *x == [1.5, 2.0]))
    );
}

/// `rows.pt` and `rows.txt` are written by `tests/oracle/script_models.py`.
#[test]
fn weights_with_floating_point_zero_points_are_read_and_written() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/script");
    let text = std::fs::read_to_string(folder.join("rows.txt")).unwrap();
    let (arguments, expected) = text.trim_end().split_once(" => ").unwrap();
    let module = Module::load(folder.join("rows.pt")).unwrap();
    let again = Module::from_bytes(module.to_bytes(&[]).unwrap()).unwrap();
    for module in [module, again] {
        let arguments = read(arguments).as_tuple().unwrap().items().to_vec();
        let result = module.run_method("forward", arguments, Vec::new()).unwrap();
        matches(&result, &read(expected)).unwrap_or_else(|difference| panic!("{difference}"));
    }
}
