//! Code that lies is rejected when it is translated; what is accepted cannot fail otherwise than with an error.

use super::opcode::Opcode;
use super::types::Types;
use super::{Method, OperatorUse, Step};
use crate::program::Program;
use crate::runtime::function::Function;
use crate::runtime::value::Value;
use crate::runtime::{Environment, run, translate};
use crate::schema::Argument;
use crate::types::{NoTypes, Type};
use rushlight_base::Result;

/// A method with two inputs: `STOREN 1 2; LOAD 1; RET`. Constants are 0, True, "text" and None, operators `aten::add.int`,
/// `aten::append.t`, `aten::no_such` and `prim::TupleUnpack`, types `List[int]`, `Dict[str, int]` and `int`.
fn method(text: &str) -> Result<Method> {
    let steps = text.split(';').map(|step| {
        let words: Vec<&str> = step.split_whitespace().collect();
        let number = |at: usize| words.get(at).map_or(0, |word| word.parse().unwrap());
        let n = words.get(2).map_or(0, |word| word.parse().unwrap());
        Ok(Step { opcode: Opcode::from_name(words[0])?, x: number(1), n })
    });
    let operators = [("aten::add", "int"), ("aten::append", "t"), ("aten::no_such", ""), ("prim::TupleUnpack", "")];
    let kinds = ["List[int]", "Dict[str, int]", "int"];
    Ok(Method {
        name: "__torch__.M.f".into(),
        steps: steps.collect::<Result<_>>()?,
        operators: operators
            .map(|(name, overload)| OperatorUse { name: name.into(), overload: overload.into(), arguments: None })
            .into(),
        constants: vec![Value::Int(0), Value::Bool(true), Value::str("text"), Value::None],
        types: kinds.map(|kind| crate::types::parse_type(kind, &NoTypes)).into(),
        registers: 4,
        signature: Some((["a", "b"].map(|name| Argument::new(name, Type::Any)).into(), Type::Any)),
    })
}

fn call(text: &str, a: i64, b: i64) -> Result<Value> {
    let program = Program::new();
    let method = method(text)?;
    let code = translate(&method, 10, &*program)?;
    let function = Function::of_code("f", method.schema(), code)?;
    run(&function, vec![Value::Int(a), Value::Int(b)], &Environment::new(program))
}

#[track_caller]
fn returns(text: &str, expected: i64) {
    assert_eq!(call(text, 7, 2).unwrap().as_int().unwrap(), expected);
}

#[track_caller]
fn fails(text: &str, message: &str) {
    let error = call(text, 7, 2).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains(message), "{text}: '{error}'");
}

#[test]
fn values_move_between_the_stack_and_registers() {
    returns("STOREN 1 2; LOAD 1; LOAD 2; OP 0; RET", 9);
    // A copy on the stack keeps its value when the register is moved, stored or emptied.
    returns("STOREN 1 2; LOAD 1; MOVE 1; OP 0; RET", 14);
    returns("STOREN 1 2; LOAD 1; LOAD 2; STORE 1; RET", 7);
    returns("STOREN 1 2; LOAD 1; DROPR 1; RET", 7);
    returns("STOREN 1 2; LOAD 1; LOAD 2; STORE 1; LOAD 1; OP 0; RET", 9);
    // Stores to the same registers in another order, and without them.
    returns("STOREN 1 2; LOAD 2; LOAD 1; STOREN 1 2; LOAD 1; RET", 2);
    returns("STORE 3; STORE 4; LOAD 4; RET", 7);
    returns("STOREN 2 2; LOAD 2; LOAD 3; DROP; RET", 7);
}

#[test]
fn paths_meet_with_the_same_stack() {
    // One branch leaves a register, the other a constant.
    let branch = |condition: &str| format!("STOREN 1 2; LOADC {condition}; JF 3; LOAD 1; JMP 2; LOADC 0; RET");
    returns(&branch("1"), 7);
    fails(&branch("2"), "bool");
    // The stack has two values, in another order on each path.
    returns("STOREN 1 2; LOADC 1; JF 4; LOAD 1; LOAD 2; JMP 3; LOAD 2; LOAD 1; DROP; RET", 7);
    fails("STOREN 1 2; LOADC 1; JF 3; LOAD 1; JMP 3; LOAD 2; LOAD 1; RET", "the stack has 2 values on one path and 1");
    // A sum in a loop: 7 + 2 + 2, with the number of iterations in register 2.
    returns(
        "STOREN 1 2; LOADC 0; LOAD 2; LOADC 1; LOAD 1; LOOP 7 3; STOREN 3 2; LOADC 1; LOAD 4; LOAD 2; OP 0; JMP -6; RET",
        11,
    );
    returns(
        "STOREN 1 2; LOADC 0; LOADC 0; LOADC 1; LOAD 1; LOOP 7 3; STOREN 3 2; LOADC 1; LOAD 4; LOAD 2; OP 0; JMP -6; RET",
        7,
    );
}

#[test]
fn jumps_outside_of_the_code_are_rejected() {
    fails("STOREN 1 2; JMP 5; LOAD 1; RET", "instruction 1 jumps out of the 4 instructions");
    fails("STOREN 1 2; JMP -2; LOAD 1; RET", "instruction 1 jumps out");
    fails("STOREN 1 2; JMP 0; LOAD 1; RET", "instruction 1 jumps back to instruction 1, which is no loop");
    fails("STOREN 1 2; LOADC 1; JF -1; LOAD 1; RET", "jumps back to instruction 1");
    fails("STOREN 1 2; LOAD 1; JMP 2147483647; RET", "jumps out");
    fails("STOREN 1 2; LOAD 1; RET; JMP 1", "jumps out");
    fails("STOREN 1 2; LOAD 1", "does not end with RET");
    fails("STOREN 1 2; JMP 2; LOOP 3 2; LOADC 0; JMP -2; RET", "a jump goes back to code that is never run");
}

#[test]
fn numbers_without_meaning_are_rejected() {
    fails("STOREN 1 2; RET", "instruction 1: the stack is empty");
    fails("STOREN 1 3; LOAD 1; RET", "3 values are taken from a stack of");
    fails("STOREN 1 2; LOAD 5; RET", "there is no register 5, the function has 4");
    fails("STOREN 1 2; LOAD 0; RET", "there is no register 0");
    fails("STOREN 1 2; LOAD -1; RET", "there is no register -1");
    fails("STOREN 1 2; LOADC 4; RET", "there is no constant 4, the function has 4");
    fails("STOREN 1 2; LOADC -1; RET", "a count of -1");
    fails("STOREN 1 2; LOAD 1; OP 4; RET", "there is no operator 4, the function has 4");
    fails("STOREN 1 2; LOAD 1; OP 0; RET", "2 values are taken from a stack of 1");
    fails("STOREN 1 2; LOAD 1; LIST_CONSTRUCT 9 1; RET", "there is no type 9, the function has 3");
    fails("STOREN 1 2; LOAD 1; LIST_CONSTRUCT 1 1; RET", "a list of type");
    fails("STOREN 1 2; LOAD 1; LIST_CONSTRUCT 0 4000000000; RET", "values are taken from a stack of 1");
    fails("STOREN 1 2; LOAD 1; DICT_CONSTRUCT 1 1; RET", "a dict of 1 keys and values");
    fails("STOREN 1 2; LOAD 1; NAMED_TUPLE_CONSTRUCT 0 1; RET", "a NamedTuple of type");
    fails("STOREN 1 2; CREATE_OBJECT 0; RET", "an object of type");
    fails("STOREN 1 2; LOAD 1; ISINSTANCE 2 2; RET", "there is no type 3");
    fails("STOREN 1 2; LOAD 1; GET_ATTR 70000; RET", "an object has no attribute 70000");
    fails("STOREN 1 2; LOAD 1; LOOP 1 1; RET", "a loop with 1 inputs");
    fails("STOREN 1 2; LOAD 1; LOOP 1 2; RET", "a loop takes 3 values from a stack of 1");
    fails("STOREN 1 2; LOAD 1; INTERFACE_CALL 0 1; RET", "the name of a method is constant 0, which is no string");
    fails("STOREN 1 2; LOAD 1; INTERFACE_CALL 2 0; RET", "a method is called without an object");
    fails("STOREN 1 2; LOAD 1; LIST_UNPACK 2000000; RET", "an instruction has 2000000 results");
    fails("STOREN 1 2; LOAD 1; FORK 0 0; RET", "the instruction 'FORK' is not supported");
}

#[test]
fn values_of_other_types_are_errors_of_the_run() {
    fails("STOREN 1 2; LOAD 1; GET_ATTR 0; RET", "object");
    fails("STOREN 1 2; LOAD 1; LOADC 2; OP 0; RET", "str");
    fails("STOREN 1 2; LOAD 1; OP 3; STOREN 3 2; LOAD 3; RET", "tuple");
    fails(
        "STOREN 1 2; LOAD 1; LOAD 2; TUPLE_CONSTRUCT 2; OP 3; STOREN 1 3; LOAD 1; RET",
        "Expected 3 elements in a tuple but found 2",
    );
    fails(
        "STOREN 1 2; LOADC 0; LOADC 2; LOADC 1; LOOP 4 2; STORE 3; LOADC 1; JMP -3; LOAD 1; RET",
        "the condition of a loop is no bool",
    );
    fails(
        "STOREN 1 2; LOAD 1; LOAD 2; TUPLE_CONSTRUCT 2; TUPLE_SLICE 1 2; RET",
        "a tuple of 2 elements has no 2 from 1 on",
    );
    fails("STOREN 1 2; LOADC 2; LOADC 3; RAISE_EXCEPTION; LOAD 1; RET", "text");
    // An operator that does not exist is an error only where it is called.
    fails("STOREN 1 2; LOAD 1; OP 2; RET", "Unknown builtin op: aten::no_such");
    returns("STOREN 1 2; LOADC 1; JF 3; LOAD 1; RET; LOAD 1; OP 2; RET", 7);
}

#[test]
fn named_tuples_bring_their_fields() {
    let mut types = Types::default();
    let text = "Dict[str, __torch__.A[NamedTuple, [[x, Tensor], [inner, List[__torch__.B[NamedTuple, [[y, int]]]]]]]]";
    let kind = types.parse(text).unwrap();
    let Type::Dict(pair) = kind else { panic!("{kind}") };
    let Type::NamedTuple(a) = &pair.1 else { panic!("{}", pair.1) };
    assert_eq!((&*a.name, &*a.fields[0].0, &a.fields[0].1), ("__torch__.A", "x", &Type::Tensor));
    assert_eq!((&*a.fields[1].0, a.fields[1].1.annotation_str().as_str()), ("inner", "List[__torch__.B]"));
    assert_eq!(types.parse("__torch__.B").unwrap(), types.parse("__torch__.B[NamedTuple, [[y, int]]]").unwrap());
    for wrong in
        ["A[NamedTuple", "A[NamedTuple, [[x]]]", "A[NamedTuple, [[x, int]", "A[NamedTuple]", "A[NamedTuple, [x, int]]"]
    {
        assert!(types.parse(wrong).is_err(), "{wrong}");
    }
    let error = types.parse("__torch__.B[NamedTuple, [[y, str]]]").unwrap_err().to_string();
    assert!(error.contains("two NamedTuples are called '__torch__.B'"), "{error}");
}
