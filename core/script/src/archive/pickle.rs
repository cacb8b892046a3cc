//! Reads the pickles of TorchScript archives. Nothing in them is executed: classes are names, objects are their states,
//! calls are one of a short list of constructors, which become nodes.
//!
//! Containers are in an arena and refer to each other by number, so that shared and cyclic values cost nothing. The
//! limits are those of `rushlight-io`'s reader of checkpoints.

use rushlight_base::{DType, Result, bail, ensure, err};
use std::collections::HashMap;

/// Values a pickle may push.
const MAX_PUSHES: usize = 1 << 23;
/// Memo entries, and marks, of a pickle.
const MAX_MEMO: usize = 1 << 22;
/// Tensors of a pickle.
const MAX_TENSORS: usize = 1 << 20;

/// A value on the stack of the machine. Strings point into the pickle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Item<'a> {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Bytes(&'a [u8]),
    Global(Global<'a>),
    Node(usize),
}

/// What a pickle may name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Global<'a> {
    OrderedDict,
    RebuildTensor,
    RebuildQuantized,
    RebuildSparse,
    RebuildParameter,
    TensorFromId,
    TypeTag,
    /// A list of ints, floats, bools or tensors.
    TypedList,
    Device,
    Complex,
    Storage(DType),
    QScheme(i64),
    DType(DType),
    /// A class of the program: module and name.
    Class(&'a str, &'a str),
}

/// A value with parts.
#[derive(Clone, Debug)]
pub(super) enum Node<'a> {
    Tuple(Vec<Item<'a>>),
    List(Vec<Item<'a>>),
    Dict(Vec<(Item<'a>, Item<'a>)>),
    /// A value with its type as an annotation.
    Tagged(Item<'a>, &'a [u8]),
    Complex(f64, f64),
    Device(&'a [u8]),
    /// An object and its state: the dict of its attributes, or what `__getstate__` returned.
    Object {
        module: &'a str,
        name: &'a str,
        state: Option<Item<'a>>,
    },
    /// A class called with arguments: a NamedTuple, or a member of an Enum by its value.
    Call {
        module: &'a str,
        name: &'a str,
        arguments: Vec<Item<'a>>,
    },
    Storage(StorageRef<'a>),
    Tensor(Box<TensorRef<'a>>),
    /// Layout, sizes, whether gradients are required, and the components.
    Sparse(Box<[Item<'a>]>),
    /// The tensor with this number, from a table beside the pickle.
    Numbered(i64),
}

/// A storage of the archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct StorageRef<'a> {
    pub key: &'a str,
    pub dtype: DType,
    pub numel: i64,
}

/// A tensor over a storage.
#[derive(Clone, Debug)]
pub(super) struct TensorRef<'a> {
    pub storage: StorageRef<'a>,
    pub offset: i64,
    pub sizes: Vec<i64>,
    pub strides: Vec<i64>,
    pub requires_grad: bool,
    /// Scheme and parameters of a quantized tensor.
    pub quantizer: Option<Vec<Item<'a>>>,
    pub conj: bool,
    pub neg: bool,
}

/// The contents of a pickle.
#[derive(Debug)]
pub(super) struct Pickle<'a> {
    pub nodes: Vec<Node<'a>>,
    pub root: Item<'a>,
}

/// Reads the pickle `name`.
pub(super) fn read<'a>(bytes: &'a [u8], name: &str) -> Result<Pickle<'a>> {
    let mut machine = Machine {
        bytes,
        at: 0,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
        nodes: Vec::new(),
        pushes: 0,
        tensors: 0,
    };
    loop {
        let start = machine.at;
        let stopped = machine.step().map_err(|error| error.context(format_args!("{name}, byte {start}")))?;
        if let Some(root) = stopped {
            return Ok(Pickle { nodes: machine.nodes, root });
        }
    }
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Item<'a>>,
    marks: Vec<usize>,
    memo: HashMap<u32, Item<'a>>,
    nodes: Vec<Node<'a>>,
    pushes: usize,
    tensors: usize,
}

impl<'a> Machine<'a> {
    /// Executes one opcode; the root at the last one.
    fn step(&mut self) -> Result<Option<Item<'a>>> {
        match self.byte()? {
            b'.' => return self.pop().map(Some),
            0x80 => {
                let protocol = self.byte()?;
                ensure!((2..=5).contains(&protocol), Io, "pickle protocol {protocol} is not supported");
            }
            0x95 => drop(self.array::<8>()?),
            b'(' => {
                ensure!(self.marks.len() < MAX_MEMO, Io, "the pickle sets more than {MAX_MEMO} marks");
                self.marks.push(self.stack.len());
            }
            b'0' => drop(self.pop()?),
            b'N' => self.push(Item::None)?,
            0x88 => self.push(Item::Bool(true))?,
            0x89 => self.push(Item::Bool(false))?,
            b'K' => self.byte().and_then(|value| self.push(Item::Int(value.into())))?,
            b'M' => self.array().and_then(|bytes| self.push(Item::Int(u16::from_le_bytes(bytes).into())))?,
            b'J' => self.array().and_then(|bytes| self.push(Item::Int(i32::from_le_bytes(bytes).into())))?,
            0x8a => self.long()?,
            b'G' => self.array().and_then(|bytes| self.push(Item::Float(f64::from_be_bytes(bytes))))?,
            0x8c | b'U' => self.byte().and_then(|length| self.text(length.into()))?,
            b'X' | b'T' => self.u32().and_then(|length| self.text(length.into()))?,
            0x8d => self.array().map(u64::from_le_bytes).and_then(|length| self.text(length))?,
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.push(Item::Global(allowed(module, name)?))?;
            }
            0x93 => self.stack_global()?,
            b'q' => self.byte().and_then(|index| self.remember(index.into()))?,
            b'r' => self.u32().and_then(|index| self.remember(index))?,
            0x94 => self.remember(self.memo.len() as u32)?,
            b'h' => self.byte().and_then(|index| self.recall(index.into()))?,
            b'j' => self.u32().and_then(|index| self.recall(index))?,
            b')' => self.push_node(Node::Tuple(Vec::new()))?,
            0x85 => self.tuple_of(1)?,
            0x86 => self.tuple_of(2)?,
            0x87 => self.tuple_of(3)?,
            b't' => self.pop_mark().and_then(|items| self.push_node(Node::Tuple(items)))?,
            b']' => self.push_node(Node::List(Vec::new()))?,
            b'l' => self.pop_mark().and_then(|items| self.push_node(Node::List(items)))?,
            b'a' => self.pop().and_then(|item| self.append(vec![item]))?,
            b'e' => self.pop_mark().and_then(|items| self.append(items))?,
            b'}' => self.push_node(Node::Dict(Vec::new()))?,
            b'd' => {
                let items = self.pop_mark()?;
                self.push_node(Node::Dict(Vec::new()))?;
                self.set_items(&items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set_items(&[key, value])?;
            }
            b'u' => self.pop_mark().and_then(|items| self.set_items(&items))?,
            b'Q' => self.persistent()?,
            b'R' => self.reduce()?,
            0x81 => self.new_object()?,
            b'b' => self.build()?,
            opcode => bail!(Io, "pickle opcode {opcode:#04x} is not allowed in a model file"),
        }
        Ok(None)
    }

    // ---- bytes ---------------------------------------------------------------------------------------------

    fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = usize::try_from(count).ok().and_then(|count| rest.get(..count));
        let taken = taken.ok_or_else(|| err!(Io, "{count} bytes are announced, but {} are left", rest.len()))?;
        self.at += taken.len();
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0u8; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    fn byte(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn line(&mut self) -> Result<&'a str> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| err!(Io, "a line does not end"))?;
        let line = self.take(length as u64)?;
        self.at += 1;
        utf8(line)
    }

    // ---- stack ---------------------------------------------------------------------------------------------

    fn push(&mut self, item: Item<'a>) -> Result<()> {
        self.pushes += 1;
        ensure!(self.pushes <= MAX_PUSHES, Io, "the pickle creates more than {MAX_PUSHES} values");
        self.stack.push(item);
        Ok(())
    }

    fn push_node(&mut self, node: Node<'a>) -> Result<()> {
        self.push(Item::Node(self.nodes.len()))?;
        self.nodes.push(node);
        Ok(())
    }

    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> Result<Item<'a>> {
        ensure!(self.stack.len() > self.floor(), Io, "the pickle takes a value from an empty stack");
        self.stack.pop().ok_or_else(|| err!(Io, "the pickle takes a value from an empty stack"))
    }

    fn top(&self) -> Result<Item<'a>> {
        ensure!(self.stack.len() > self.floor(), Io, "the pickle reads a value of an empty stack");
        self.stack.last().copied().ok_or_else(|| err!(Io, "the pickle reads a value of an empty stack"))
    }

    fn pop_mark(&mut self) -> Result<Vec<Item<'a>>> {
        let mark = self.marks.pop().ok_or_else(|| err!(Io, "the pickle returns to a mark that it has not set"))?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }

    fn remember(&mut self, index: u32) -> Result<()> {
        ensure!(self.memo.len() < MAX_MEMO, Io, "the pickle memoizes more than {MAX_MEMO} values");
        let top = self.top()?;
        self.memo.insert(index, top);
        Ok(())
    }

    fn recall(&mut self, index: u32) -> Result<()> {
        let item = self.memo.get(&index).copied().ok_or_else(|| err!(Io, "memo entry {index} is not set"))?;
        self.push(item)
    }

    // ---- values --------------------------------------------------------------------------------------------

    fn text(&mut self, length: u64) -> Result<()> {
        let bytes = self.take(length)?;
        self.push(Item::Bytes(bytes))
    }

    fn long(&mut self) -> Result<()> {
        let length = self.byte()?;
        let bytes = self.take(length.into())?;
        ensure!(bytes.len() <= 8, Io, "an integer of {length} bytes is too large");
        let negative = bytes.last().is_some_and(|&high| high & 0x80 != 0);
        let mut wide = if negative { [0xff; 8] } else { [0; 8] };
        for (place, byte) in wide.iter_mut().zip(bytes) {
            *place = *byte;
        }
        self.push(Item::Int(i64::from_le_bytes(wide)))
    }

    fn tuple_of(&mut self, count: usize) -> Result<()> {
        ensure!(self.stack.len() >= self.floor() + count, Io, "the pickle takes {count} values from a shorter stack");
        let items = self.stack.split_off(self.stack.len() - count);
        self.push_node(Node::Tuple(items))
    }

    /// The node at the top of the stack, which the opcode changes.
    fn target(&mut self) -> Result<&mut Node<'a>> {
        match self.top()? {
            Item::Node(number) => self.nodes.get_mut(number).ok_or_else(|| err!(Io, "a node is missing")),
            other => bail!(Io, "the pickle adds items to {other:?}"),
        }
    }

    fn append(&mut self, mut items: Vec<Item<'a>>) -> Result<()> {
        match self.target()? {
            Node::List(list) => list.append(&mut items),
            _ => bail!(Io, "the pickle appends to a value that is no list"),
        }
        Ok(())
    }

    fn set_items(&mut self, items: &[Item<'a>]) -> Result<()> {
        ensure!(items.len().is_multiple_of(2), Io, "a key without a value");
        match self.target()? {
            Node::Dict(dict) => {
                dict.extend(items.chunks_exact(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?))))
            }
            _ => bail!(Io, "the pickle sets keys of a value that is no dict"),
        }
        Ok(())
    }

    // ---- names and calls -----------------------------------------------------------------------------------

    fn stack_global(&mut self) -> Result<()> {
        match (self.pop()?, self.pop()?) {
            (Item::Bytes(name), Item::Bytes(module)) => self.push(Item::Global(allowed(utf8(module)?, utf8(name)?)?)),
            _ => bail!(Io, "the pickle names a global by a value that is no string"),
        }
    }

    /// `("storage", class, key, device, numel)`
    fn persistent(&mut self) -> Result<()> {
        let id = self.pop()?;
        match *self.tuple(id)? {
            [
                Item::Bytes(b"storage"),
                Item::Global(Global::Storage(dtype)),
                Item::Bytes(key),
                Item::Bytes(_device),
                Item::Int(numel),
                ..,
            ] => {
                let key = utf8(key)?;
                self.push_node(Node::Storage(StorageRef { key, dtype, numel }))
            }
            _ => bail!(Io, "a persistent id that is not that of a storage"),
        }
    }

    fn reduce(&mut self) -> Result<()> {
        let (arguments, callable) = (self.pop()?, self.pop()?);
        let Item::Global(callable) = callable else { bail!(Io, "the pickle calls {callable:?}") };
        // A member of an Enum is written without a tuple around its value.
        let arguments = match (callable, self.tuple(arguments)) {
            (_, Ok(arguments)) => arguments.to_vec(),
            (Global::Class(..), Err(_)) => vec![arguments],
            (_, Err(error)) => return Err(error),
        };
        let node = match (callable, arguments.as_slice()) {
            (Global::OrderedDict, []) => Node::Dict(Vec::new()),
            (Global::TypedList, &[list @ Item::Node(_)]) => return self.push(list),
            (Global::TypeTag, &[value, Item::Bytes(kind)]) => Node::Tagged(value, kind),
            (Global::Device, &[Item::Bytes(name), ..]) => Node::Device(name),
            (Global::Complex, &[real, imaginary]) => Node::Complex(number(real)?, number(imaginary)?),
            (Global::TensorFromId, &[Item::Int(index)]) => Node::Numbered(index),
            (Global::Class(module, name), _) => Node::Call { module, name, arguments },
            (Global::RebuildTensor, &[storage, offset, sizes, strides, grad, _hooks, ref rest @ ..]) => {
                let mut tensor = self.tensor(storage, [offset, sizes, strides], grad)?;
                self.apply_metadata(&mut tensor, rest.first())?;
                self.tensor_node(tensor)?
            }
            (Global::RebuildQuantized, &[storage, offset, sizes, strides, quantizer, grad, ..]) => {
                let mut tensor = self.tensor(storage, [offset, sizes, strides], grad)?;
                tensor.quantizer = Some(self.tuple(quantizer)?.to_vec());
                self.tensor_node(tensor)?
            }
            (Global::RebuildSparse, &[_, _, _, _, _, ..]) => {
                self.count_tensor()?;
                Node::Sparse(arguments.into())
            }
            (Global::RebuildParameter, &[tensor, ..]) => return self.push(tensor),
            (callable, arguments) => bail!(Io, "{callable:?} is called with {} unexpected arguments", arguments.len()),
        };
        self.push_node(node)
    }

    fn count_tensor(&mut self) -> Result<()> {
        self.tensors += 1;
        ensure!(self.tensors <= MAX_TENSORS, Io, "the pickle creates more than {MAX_TENSORS} tensors");
        Ok(())
    }

    fn tensor_node(&mut self, tensor: TensorRef<'a>) -> Result<Node<'a>> {
        self.count_tensor()?;
        Ok(Node::Tensor(Box::new(tensor)))
    }

    fn new_object(&mut self) -> Result<()> {
        let (_arguments, class) = (self.pop()?, self.pop()?);
        let Item::Global(Global::Class(module, name)) = class else {
            bail!(Io, "the pickle creates an object of {class:?}")
        };
        self.push_node(Node::Object { module, name, state: None })
    }

    fn build(&mut self) -> Result<()> {
        let found = self.pop()?;
        match self.target()? {
            Node::Dict(_) => Ok(()),
            Node::Object { state: state @ None, .. } => {
                *state = Some(found);
                Ok(())
            }
            _ => bail!(Io, "the pickle sets the state of a value that is no new object"),
        }
    }

    fn tuple(&self, item: Item<'a>) -> Result<&[Item<'a>]> {
        match item {
            Item::Node(number) => match self.nodes.get(number) {
                Some(Node::Tuple(items)) => Ok(items),
                _ => bail!(Io, "a tuple is expected"),
            },
            other => bail!(Io, "a tuple is expected, not {other:?}"),
        }
    }

    fn tensor(
        &self,
        storage: Item<'a>,
        [offset, sizes, strides]: [Item<'a>; 3],
        grad: Item<'a>,
    ) -> Result<TensorRef<'a>> {
        let storage = match storage {
            Item::Node(number) => match self.nodes.get(number) {
                Some(Node::Storage(storage)) => *storage,
                _ => bail!(Io, "a tensor over a value that is no storage"),
            },
            other => bail!(Io, "a tensor over {other:?}"),
        };
        let (Item::Int(offset), Item::Bool(requires_grad)) = (offset, grad) else {
            bail!(Io, "a tensor with the offset {offset:?} and requires_grad {grad:?}")
        };
        let (sizes, strides) = (self.integers(sizes)?, self.integers(strides)?);
        Ok(TensorRef { storage, offset, sizes, strides, requires_grad, quantizer: None, conj: false, neg: false })
    }

    fn integers(&self, tuple: Item<'a>) -> Result<Vec<i64>> {
        let items = self.tuple(tuple)?;
        ensure!(items.len() <= 64, Io, "a tensor of {} dimensions", items.len());
        let integers = items.iter().map(|item| match item {
            Item::Int(value) => Ok(*value),
            other => Err(err!(Io, "an integer is expected, not {other:?}")),
        });
        integers.collect()
    }

    /// The last, optional argument of a tensor: its lazy bits.
    fn apply_metadata(&self, tensor: &mut TensorRef<'a>, metadata: Option<&Item<'a>>) -> Result<()> {
        let Some(Item::Node(number)) = metadata else { return Ok(()) };
        let Some(Node::Dict(items)) = self.nodes.get(*number) else { bail!(Io, "tensor metadata that is no dict") };
        for item in items {
            match item {
                (Item::Bytes(b"conj"), Item::Bool(on)) => tensor.conj = *on,
                (Item::Bytes(b"neg"), Item::Bool(on)) => tensor.neg = *on,
                (key, _) => bail!(Io, "the tensor metadata {key:?} is not supported"),
            }
        }
        Ok(())
    }
}

fn number(item: Item<'_>) -> Result<f64> {
    match item {
        Item::Float(value) => Ok(value),
        Item::Int(value) => Ok(value as f64),
        other => bail!(Io, "a number is expected, not {other:?}"),
    }
}

/// Names of quantization schemes, in the order of their numbers.
const QSCHEMES: [&str; 5] = [
    "per_tensor_affine",
    "per_channel_affine",
    "per_tensor_symmetric",
    "per_channel_symmetric",
    "per_channel_affine_float_qparams",
];

/// Classes of typed storages.
const STORAGES: [(&str, DType); 15] = [
    ("ByteStorage", DType::U8),
    ("CharStorage", DType::I8),
    ("ShortStorage", DType::I16),
    ("IntStorage", DType::I32),
    ("LongStorage", DType::I64),
    ("HalfStorage", DType::F16),
    ("FloatStorage", DType::F32),
    ("DoubleStorage", DType::F64),
    ("ComplexFloatStorage", DType::C64),
    ("ComplexDoubleStorage", DType::C128),
    ("BoolStorage", DType::Bool),
    ("BFloat16Storage", DType::BF16),
    ("QInt8Storage", DType::QI8),
    ("QUInt8Storage", DType::QU8),
    ("QInt32Storage", DType::QI32),
];

/// The whole list of items that a pickle may name.
fn allowed<'a>(module: &'a str, name: &'a str) -> Result<Global<'a>> {
    let global = match (module, name) {
        ("collections", "OrderedDict") => Some(Global::OrderedDict),
        ("torch._utils", "_rebuild_tensor_v2" | "_rebuild_tensor") => Some(Global::RebuildTensor),
        ("torch._utils", "_rebuild_qtensor") => Some(Global::RebuildQuantized),
        ("torch._utils", "_rebuild_sparse_tensor") => Some(Global::RebuildSparse),
        ("torch._utils", "_rebuild_parameter") => Some(Global::RebuildParameter),
        ("torch.jit._pickle", "build_tensor_from_id") => Some(Global::TensorFromId),
        ("torch.jit._pickle", "restore_type_tag") => Some(Global::TypeTag),
        ("torch.jit._pickle", "build_intlist" | "build_doublelist" | "build_boollist" | "build_tensorlist") => {
            Some(Global::TypedList)
        }
        ("builtins", "complex") => Some(Global::Complex),
        ("__torch__", _) => Some(Global::Class(module, name)),
        (module, _) if module.starts_with("__torch__.") => Some(Global::Class(module, name)),
        ("torch", "device") => Some(Global::Device),
        ("torch", name) => match STORAGES.iter().find(|row| row.0 == name) {
            Some((_, dtype)) => Some(Global::Storage(*dtype)),
            None => match QSCHEMES.iter().position(|scheme| *scheme == name) {
                Some(code) => Some(Global::QScheme(code as i64)),
                None => DType::from_name(name).ok().map(Global::DType),
            },
        },
        _ => None,
    };
    global.ok_or_else(|| {
        let full: String = format!("{module}.{name}").chars().take(120).collect();
        err!(Io, "the file names '{}', which is not supported in a TorchScript archive", full.escape_debug())
    })
}

fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| err!(Io, "a string that is not UTF-8"))
}
