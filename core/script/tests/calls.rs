//! Calls of compiled source code: defaults that are no literals, and tuples whose index is a variable.

mod values;

use rushlight_script::program::Program;
use rushlight_script::runtime::value::Value;
use values::{matches, read};

fn fails(source: &str, message: &str) {
    let error = Program::compile(source).and_then(|program| program.call("f", Vec::new(), Vec::new())).unwrap_err();
    assert!(error.message().contains(message), "{}", error.message());
}

/// As torchvision's `resize` has it. Programs that leave out the argument, and callers outside, get the member.
#[test]
fn a_member_of_an_enum_is_the_default_of_a_parameter() {
    let source = "class Mode(Enum):
    NEAREST = 'nearest'
    BILINEAR = 'bilinear'
def f(size: int, mode: Mode=Mode.BILINEAR, other: Optional[Mode]=Mode.NEAREST) -> Tuple[int, str]:
    if other is None:
        return size, mode.name
    return size, mode.value
def g(size: int):
    return f(size), f(size, Mode.NEAREST), f(size, other=None)
";
    let program = Program::compile(source).unwrap();
    let found = program.call("f", vec![Value::Int(3)], Vec::new()).unwrap();
    matches(&found, &read("(3, 'bilinear')")).unwrap();
    let found = program.call("g", vec![Value::Int(3)], Vec::new()).unwrap();
    matches(&found, &read("((3, 'bilinear'), (3, 'nearest'), (3, 'BILINEAR'))")).unwrap();
    let wrong = source.replace("mode: Mode=Mode.BILINEAR", "mode: Mode=Mode.CUBIC");
    fails(&wrong, "the default of a parameter must be a literal or a member of an Enum");
}

/// As torchvision's Swin transformers for videos have it.
#[test]
fn a_tuple_of_one_type_is_indexed_by_a_variable() {
    let source = "def f(sizes: Tuple[int, int, int], count: int):
    found = [0]
    for i in range(count):
        found.append(sizes[i] * 10 + sizes[i - 3])
    return found
";
    let program = Program::compile(source).unwrap();
    let sizes = read("(4, 5, 6)");
    let found = program.call("f", vec![sizes.clone(), Value::Int(3)], Vec::new()).unwrap();
    matches(&found, &read("[0, 44, 55, 66]")).unwrap();
    let error = program.call("f", vec![sizes, Value::Int(4)], Vec::new()).unwrap_err();
    assert!(error.message().contains("Tuple index out of range"), "{}", error.message());
    let mixed = "def f(i: int=0):\n    return (1, 'a')[i]\n";
    fails(mixed, "with a non-integer literal because we cannot resolve the output type");
}
