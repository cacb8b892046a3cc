//! The instructions of the lite interpreter: a machine with a stack and numbered registers.

use rushlight_base::{Result, bail};

/// What an instruction does. `X` and `N` are its two numbers; `S` is the stack, whose last element is on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opcode {
    /// Calls operator `X`.
    Op,
    /// Calls operator `X`, which takes any number of arguments, with `N` of them.
    OpN,
    /// Pushes register `X`.
    Load,
    /// Pushes register `X` and empties it.
    Move,
    /// Pops register `X`.
    Store,
    /// Pops `N` registers, the first one is `X`.
    StoreN,
    /// Pops a value.
    Drop,
    /// Empties register `X`.
    DropRegister,
    /// Pushes constant `X`.
    Constant,
    /// Pops a condition and skips to `X` instructions from here if it does not hold.
    JumpIfFalse,
    /// Skips to `X` instructions from here.
    Jump,
    /// The head of a loop: the next iteration begins, or execution goes on `X` instructions from here. `S` ends with the
    /// number of the iteration, their maximal number, the condition, and the `N - 2` values that the loop carries.
    Loop,
    /// Returns the value on top.
    Return,
    /// Pops an object and pushes its attribute in slot `X`.
    GetAttribute,
    /// Pops a value and an object, whose attribute in slot `X` it sets.
    SetAttribute,
    /// Calls the method of an object that constant `X` names, with `N` arguments, the object included.
    CallMethod,
    /// Makes a list of type `X` of `N` values.
    List,
    /// Makes a dict of type `X` of `N` values: keys and values in turn.
    Dict,
    /// Makes a tuple of `X` values.
    Tuple,
    /// Makes a NamedTuple of type `X` of `N` values.
    NamedTuple,
    /// Pops a list and pushes its `X` elements.
    UnpackList,
    /// Replaces a tuple by `N` of its elements, from element `X` on.
    SliceTuple,
    /// Pops an index and a tuple and pushes the element.
    IndexTuple,
    /// Pops a key and a dict and pushes the value.
    IndexDict,
    /// Creates an object of type `X`.
    Create,
    /// Whether a value is of one of the `N` types from `X` on.
    IsInstance,
    /// Raises an exception.
    Raise,
    /// Issues a warning.
    Warn,
    /// Pushes a value that is never read.
    Undefined,
    /// `is`
    Is,
    /// `is not`
    IsNot,
    /// `not`
    Not,
    /// `str.format` of `X` values, the string included.
    Format,
    /// The device of a tensor.
    Device,
    /// The dtype of a tensor.
    DType,
    /// The number of dimensions of a tensor.
    Dim,
    /// Whether a tensor is on a CUDA device.
    IsCuda,
    /// The elements of a tensor as nested lists.
    ToList,
    /// A number as a tensor.
    NumberToTensor,
}

/// Name in `bytecode.pkl` and code in the flatbuffer form. The codes are those of PyTorch's whole instruction set, most
/// of whose others are instructions of its just-in-time compiler.
const OPCODES: [(&str, u8, Opcode); 39] = [
    ("OP", 0, Opcode::Op),
    ("OPN", 1, Opcode::OpN),
    ("LOAD", 2, Opcode::Load),
    ("MOVE", 3, Opcode::Move),
    ("STOREN", 4, Opcode::StoreN),
    ("STORE", 5, Opcode::Store),
    ("DROP", 6, Opcode::Drop),
    ("DROPR", 7, Opcode::DropRegister),
    ("LOADC", 8, Opcode::Constant),
    ("JF", 9, Opcode::JumpIfFalse),
    ("JMP", 10, Opcode::Jump),
    ("LOOP", 11, Opcode::Loop),
    ("RET", 12, Opcode::Return),
    ("INTERFACE_CALL", 20, Opcode::CallMethod),
    ("GET_ATTR", 21, Opcode::GetAttribute),
    ("SET_ATTR", 22, Opcode::SetAttribute),
    ("LIST_UNPACK", 23, Opcode::UnpackList),
    ("TUPLE_CONSTRUCT", 24, Opcode::Tuple),
    ("NAMED_TUPLE_CONSTRUCT", 25, Opcode::NamedTuple),
    ("LIST_CONSTRUCT", 26, Opcode::List),
    ("DICT_CONSTRUCT", 27, Opcode::Dict),
    ("CREATE_OBJECT", 28, Opcode::Create),
    ("ISINSTANCE", 29, Opcode::IsInstance),
    ("TUPLE_SLICE", 30, Opcode::SliceTuple),
    ("TUPLE_INDEX", 31, Opcode::IndexTuple),
    ("RAISE_EXCEPTION", 32, Opcode::Raise),
    ("DICT_INDEX", 33, Opcode::IndexDict),
    ("__IS__", 35, Opcode::Is),
    ("UN_INITIALIZED", 36, Opcode::Undefined),
    ("__ISNOT__", 37, Opcode::IsNot),
    ("FORMAT", 38, Opcode::Format),
    ("DEVICE", 39, Opcode::Device),
    ("DTYPE", 40, Opcode::DType),
    ("DIM", 41, Opcode::Dim),
    ("__NOT__", 42, Opcode::Not),
    ("TO_LIST", 43, Opcode::ToList),
    ("NUM_TO_TENSOR", 44, Opcode::NumberToTensor),
    ("IS_CUDA", 45, Opcode::IsCuda),
    ("WARN", 47, Opcode::Warn),
];

impl Opcode {
    /// The instruction with a name in `bytecode.pkl`.
    pub(super) fn from_name(name: &str) -> Result<Opcode> {
        match OPCODES.iter().find(|row| row.0 == name) {
            Some(row) => Ok(row.2),
            None => bail!(Io, "the instruction '{}' is not supported", name.escape_debug()),
        }
    }

    /// The instruction with a code of the flatbuffer form.
    pub(super) fn from_code(code: u8) -> Result<Opcode> {
        match OPCODES.iter().find(|row| row.1 == code) {
            Some(row) => Ok(row.2),
            None => bail!(Io, "the instruction {code} is not supported"),
        }
    }
}
