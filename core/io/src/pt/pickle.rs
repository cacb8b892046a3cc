//! A reader for the pickles inside `.pt` files that executes nothing.
//!
//! A pickle is a program for a stack machine; the dangerous part of that language is that it may call anything.
//! Here the only things it can name are those of [`Global`], and calling one builds a plain node. The opcodes
//! are those that PyTorch's own files contain (protocol 2, and what protocols 4 and 5 put in their place).
//! Archives of libtorch's `torch::save` hold objects of classes below `__torch__`, whose code lies beside the
//! pickle: it is never looked at, an object is its attributes.
//! Containers live in an arena and are referred to by number, so shared and cyclic graphs cost nothing to
//! build, copy or drop; `flatten` walks them under its own limits.

use super::STORAGES;
use rushlight_base::{DType, DimVec, Result, bail, ensure, err};
use std::collections::HashMap;

/// Values a pickle may push. A checkpoint of 100,000 tensors pushes about 4 million.
const MAX_PUSHES: usize = 1 << 23;
/// Values a pickle may remember.
const MAX_MEMO: usize = 1 << 22;

/// Tensors a pickle may make or, shared, list.
pub(super) const MAX_TENSORS: usize = 1 << 20;

/// A value on the machine's stack. Text points into the pickle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Real and imaginary part.
    Complex(f64, f64),
    Text(&'a str),
    Global(Global),
    /// Number of a [`Node`].
    Node(usize),
}

/// Everything a pickle may name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Global {
    OrderedDict,
    RebuildTensor,
    RebuildTensorV2,
    RebuildTensorV3,
    RebuildParameter,
    Size,
    Device,
    /// A typed storage class, or the untyped one.
    Storage(Option<DType>),
    DType(DType),
    Complex,
    /// Any class of an archive's own.
    Class,
    /// Makes a list of a type out of a list.
    BuildList(Kind),
}

/// What the elements of a sequence are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of several types, or none.
    Any,
    /// Tensors.
    Tensor,
    /// Integers.
    Int,
    /// Floats.
    Float,
    /// Booleans.
    Bool,
}

/// A value with parts.
#[derive(Clone, Debug)]
pub(super) enum Node<'a> {
    Tuple(Vec<Value<'a>>),
    List(Vec<Value<'a>>),
    /// A list whose elements are said to be of a kind: the number of its node.
    ListOf(Kind, usize),
    /// An object, by the number of the dict of its attributes, once it is known.
    Object(Option<usize>),
    Dict(Vec<(Value<'a>, Value<'a>)>),
    Storage(StorageRef<'a>),
    /// Boxed, because a pickle can make millions of the small nodes.
    Tensor(Box<TensorRef<'a>>),
}

/// A storage of the file, by its key.
#[derive(Clone, Copy, Debug)]
pub(super) struct StorageRef<'a> {
    pub key: &'a str,
    /// `None`: untyped, counted in bytes.
    pub dtype: Option<DType>,
    pub numel: i64,
    /// The element at which it begins, of a part of a storage that old files name.
    pub start: i64,
}

/// A tensor over a storage.
#[derive(Clone, Debug)]
pub(super) struct TensorRef<'a> {
    pub storage: StorageRef<'a>,
    pub dtype: DType,
    pub offset: i64,
    pub sizes: DimVec,
    pub strides: DimVec,
    pub requires_grad: bool,
    pub conjugate: bool,
    pub negative: bool,
}

/// What a pickle describes.
#[derive(Debug)]
pub(super) struct Graph<'a> {
    pub nodes: Vec<Node<'a>>,
    pub root: Value<'a>,
}

/// Runs the pickle of an archive.
pub(super) fn read(bytes: &[u8]) -> Result<Graph<'_>> {
    read_at(bytes, 0, "data.pkl").map(|(graph, _)| graph)
}

/// Runs the pickle that begins at `at`, `name` in messages, and says where it ends.
pub(super) fn read_at<'a>(bytes: &'a [u8], at: usize, name: &str) -> Result<(Graph<'a>, usize)> {
    let mut machine = Machine {
        bytes,
        at,
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
            return Ok((Graph { nodes: machine.nodes, root }, machine.at));
        }
    }
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Value<'a>>,
    marks: Vec<usize>,
    memo: HashMap<u32, Value<'a>>,
    nodes: Vec<Node<'a>>,
    pushes: usize,
    tensors: usize,
}

impl<'a> Machine<'a> {
    /// Executes one opcode; the root at the last one.
    fn step(&mut self) -> Result<Option<Value<'a>>> {
        match self.byte()? {
            b'.' => return self.pop().map(Some),
            0x80 => {
                let protocol = self.byte()?;
                ensure!((2..=5).contains(&protocol), Io, "pickle protocol {protocol} is not supported");
            }
            // FRAME only announces a length, which reading does not need.
            0x95 => drop(self.u64()?),
            b'(' => self.mark()?,
            b'N' => self.push(Value::None)?,
            0x88 => self.push(Value::Bool(true))?,
            0x89 => self.push(Value::Bool(false))?,
            b'K' => self.byte().and_then(|value| self.push(Value::Int(value.into())))?,
            b'M' => self.array().and_then(|bytes| self.push(Value::Int(u16::from_le_bytes(bytes).into())))?,
            b'J' => self.array().and_then(|bytes| self.push(Value::Int(i32::from_le_bytes(bytes).into())))?,
            0x8a => self.long()?,
            b'G' => self.array().and_then(|bytes| self.push(Value::Float(f64::from_be_bytes(bytes))))?,
            // Text of Python 2 ('U', 'T') is ASCII where PyTorch wrote it.
            0x8c | b'U' => self.byte().and_then(|length| self.text(length.into()))?,
            b'X' | b'T' => self.u32().and_then(|length| self.text(length.into()))?,
            0x8d => self.u64().and_then(|length| self.text(length))?,
            b'c' => self.global_lines()?,
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

    // ---- bytes -------------------------------------------------------------------------------------------

    fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let left = self.bytes.len() - self.at;
        ensure!(count <= left as u64, Io, "{count} bytes are announced, but {left} are left");
        let start = self.at;
        self.at += count as usize;
        Ok(&self.bytes[start..self.at])
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

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn line(&mut self) -> Result<&'a str> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| err!(Io, "a line does not end"))?;
        self.at += length + 1;
        utf8(&rest[..length])
    }

    // ---- stack -------------------------------------------------------------------------------------------

    fn push(&mut self, value: Value<'a>) -> Result<()> {
        self.pushes += 1;
        ensure!(self.pushes <= MAX_PUSHES, Io, "the pickle makes more than {MAX_PUSHES} values");
        self.stack.push(value);
        Ok(())
    }

    fn push_node(&mut self, node: Node<'a>) -> Result<()> {
        self.push(Value::Node(self.nodes.len()))?;
        self.nodes.push(node);
        Ok(())
    }

    fn push_tensor(&mut self, tensor: TensorRef<'a>) -> Result<()> {
        self.tensors += 1;
        ensure!(self.tensors <= MAX_TENSORS, Io, "the pickle makes more than {MAX_TENSORS} tensors");
        self.push_node(Node::Tensor(Box::new(tensor)))
    }

    /// Where the part of the stack above the last mark begins.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> Result<Value<'a>> {
        ensure!(self.stack.len() > self.floor(), Io, "the pickle takes a value from an empty stack");
        self.stack.pop().ok_or_else(|| err!(Io, "the pickle takes a value from an empty stack"))
    }

    fn mark(&mut self) -> Result<()> {
        ensure!(self.marks.len() < MAX_MEMO, Io, "the pickle sets more than {MAX_MEMO} marks");
        self.marks.push(self.stack.len());
        Ok(())
    }

    fn pop_mark(&mut self) -> Result<Vec<Value<'a>>> {
        let mark = self.marks.pop().ok_or_else(|| err!(Io, "the pickle returns to a mark that it has not set"))?;
        Ok(self.stack.split_off(mark))
    }

    fn remember(&mut self, index: u32) -> Result<()> {
        ensure!(self.stack.len() > self.floor(), Io, "the pickle remembers a value of an empty stack");
        ensure!(self.memo.len() < MAX_MEMO, Io, "the pickle remembers more than {MAX_MEMO} values");
        self.memo.insert(index, self.stack[self.stack.len() - 1]);
        Ok(())
    }

    fn recall(&mut self, index: u32) -> Result<()> {
        let value = self.memo.get(&index).ok_or_else(|| err!(Io, "memo entry {index} is not set"))?;
        self.push(*value)
    }

    // ---- values ------------------------------------------------------------------------------------------

    fn text(&mut self, length: u64) -> Result<()> {
        let text = utf8(self.take(length)?)?;
        self.push(Value::Text(text))
    }

    /// An integer of any length; those beyond 64 bits have no use in a model file.
    fn long(&mut self) -> Result<()> {
        let length = self.byte()?;
        let bytes = self.take(length.into())?;
        ensure!(bytes.len() <= 8, Io, "an integer of {length} bytes is too large");
        let negative = bytes.last().is_some_and(|&high| high & 0x80 != 0);
        let mut wide = if negative { [0xff; 8] } else { [0; 8] };
        wide[..bytes.len()].copy_from_slice(bytes);
        self.push(Value::Int(i64::from_le_bytes(wide)))
    }

    fn tuple_of(&mut self, count: usize) -> Result<()> {
        ensure!(self.stack.len() >= self.floor() + count, Io, "the pickle takes {count} values from a shorter stack");
        let items = self.stack.split_off(self.stack.len() - count);
        self.push_node(Node::Tuple(items))
    }

    /// The node under the top of the stack, which the opcode is about to change.
    fn target(&mut self) -> Result<&mut Node<'a>> {
        let top = self.stack[self.floor().min(self.stack.len())..].last();
        match top {
            Some(Value::Node(number)) => Ok(&mut self.nodes[*number]),
            other => bail!(Io, "the pickle puts parts into {other:?}"),
        }
    }

    fn append(&mut self, mut items: Vec<Value<'a>>) -> Result<()> {
        match self.target()? {
            Node::List(list) => list.append(&mut items),
            _ => bail!(Io, "the pickle appends to something that is no list"),
        }
        Ok(())
    }

    fn set_items(&mut self, items: &[Value<'a>]) -> Result<()> {
        ensure!(items.len().is_multiple_of(2), Io, "a key without a value");
        match self.target()? {
            Node::Dict(dict) => dict.extend(items.chunks_exact(2).map(|pair| (pair[0], pair[1]))),
            _ => bail!(Io, "the pickle sets keys of something that is no dict"),
        }
        Ok(())
    }

    // ---- names and calls ---------------------------------------------------------------------------------

    fn global_lines(&mut self) -> Result<()> {
        let (module, name) = (self.line()?, self.line()?);
        self.push(Value::Global(allowed(module, name)?))
    }

    fn stack_global(&mut self) -> Result<()> {
        match (self.pop()?, self.pop()?) {
            (Value::Text(name), Value::Text(module)) => self.push(Value::Global(allowed(module, name)?)),
            _ => bail!(Io, "the pickle names a global by something that is no text"),
        }
    }

    /// A persistent id: `("storage", class, key, device, numel)`; in old files also which part of the storage: all of it,
    /// or `(key of the part, first element, elements)`.
    fn persistent(&mut self) -> Result<()> {
        let id = self.pop()?;
        let (storage, part) = match self.tuple(id)? {
            [
                Value::Text("storage"),
                Value::Global(Global::Storage(dtype)),
                Value::Text(key),
                Value::Text(_),
                Value::Int(numel),
                rest @ ..,
            ] if rest.len() < 2 => (StorageRef { key, dtype: *dtype, numel: *numel, start: 0 }, rest.first().copied()),
            _ => bail!(Io, "a persistent id that does not describe a storage"),
        };
        let start = match part {
            None | Some(Value::None) => 0,
            Some(part) => match self.tuple(part)? {
                [Value::Text(_), Value::Int(first), Value::Int(_)] => *first,
                _ => bail!(Io, "a part of a storage that has no place in it"),
            },
        };
        self.push_node(Node::Storage(StorageRef { start, ..storage }))
    }

    fn reduce(&mut self) -> Result<()> {
        let (arguments, callable) = (self.pop()?, self.pop()?);
        let Value::Global(callable) = callable else { bail!(Io, "the pickle calls {callable:?}") };
        let arguments = self.tuple(arguments)?.to_vec();
        match (callable, arguments.as_slice()) {
            (Global::OrderedDict, []) => self.push_node(Node::Dict(Vec::new())),
            (Global::RebuildTensor, &[storage, offset, sizes, strides]) => {
                let tensor = self.tensor(storage, [offset, sizes, strides], Value::Bool(false), None)?;
                self.push_tensor(tensor)
            }
            (Global::RebuildTensorV2, &[storage, offset, sizes, strides, grad, _hooks, ref rest @ ..])
                if rest.len() < 2 =>
            {
                let mut tensor = self.tensor(storage, [offset, sizes, strides], grad, None)?;
                self.apply_metadata(&mut tensor, rest.first())?;
                self.push_tensor(tensor)
            }
            (
                Global::RebuildTensorV3,
                &[storage, offset, sizes, strides, grad, _hooks, Value::Global(Global::DType(dtype)), ref rest @ ..],
            ) if rest.len() < 2 => {
                let mut tensor = self.tensor(storage, [offset, sizes, strides], grad, Some(dtype))?;
                self.apply_metadata(&mut tensor, rest.first())?;
                self.push_tensor(tensor)
            }
            (Global::RebuildParameter, &[Value::Node(tensor), Value::Bool(requires_grad), _hooks]) => {
                let Node::Tensor(tensor) = &self.nodes[tensor] else { bail!(Io, "a parameter that is no tensor") };
                let parameter = TensorRef { requires_grad, ..(**tensor).clone() };
                self.push_tensor(parameter)
            }
            (Global::BuildList(kind), &[Value::Node(list)]) if matches!(self.nodes[list], Node::List(_)) => {
                self.push_node(Node::ListOf(kind, list))
            }
            (Global::Complex, &[Value::Float(real), Value::Float(imaginary)]) => {
                self.push(Value::Complex(real, imaginary))
            }
            (Global::Size, &[sizes]) => self.push(sizes),
            (Global::Device, &[name] | &[name, _]) => self.push(name),
            (callable, arguments) => bail!(Io, "{callable:?} is called with {} unexpected arguments", arguments.len()),
        }
    }

    /// An object without attributes yet.
    fn new_object(&mut self) -> Result<()> {
        let (arguments, class) = (self.pop()?, self.pop()?);
        ensure!(class == Value::Global(Global::Class), Io, "the pickle makes an object of {class:?}");
        ensure!(self.tuple(arguments)?.is_empty(), Io, "an object is made with arguments");
        self.push_node(Node::Object(None))
    }

    /// State of an object that is already there: the attributes of one of libtorch's. A state dict carries versions
    /// of its modules this way, which loading does not need.
    fn build(&mut self) -> Result<()> {
        let state = self.pop()?;
        let attributes = match state {
            Value::Node(number) if matches!(self.nodes[number], Node::Dict(_)) => Some(number),
            _ => None,
        };
        match self.target()? {
            Node::Dict(_) => Ok(()),
            Node::Object(known @ None) if attributes.is_some() => {
                *known = attributes;
                Ok(())
            }
            Node::Object(_) => bail!(Io, "an object takes {state:?} for its attributes"),
            _ => bail!(Io, "the pickle sets the state of something that is no dict"),
        }
    }

    fn tuple(&self, value: Value<'a>) -> Result<&[Value<'a>]> {
        match value {
            Value::Node(number) => match &self.nodes[number] {
                Node::Tuple(items) => Ok(items),
                _ => bail!(Io, "a tuple is expected"),
            },
            other => bail!(Io, "a tuple is expected, not {other:?}"),
        }
    }

    fn tensor(
        &self,
        storage: Value<'a>,
        [offset, sizes, strides]: [Value<'a>; 3],
        requires_grad: Value<'a>,
        dtype: Option<DType>,
    ) -> Result<TensorRef<'a>> {
        let storage = match storage {
            Value::Node(number) => match self.nodes[number] {
                Node::Storage(storage) => storage,
                _ => bail!(Io, "a tensor over something that is no storage"),
            },
            other => bail!(Io, "a tensor over {other:?}"),
        };
        let dtype =
            dtype.or(storage.dtype).ok_or_else(|| err!(Io, "a tensor over an untyped storage needs a dtype"))?;
        let (Value::Int(offset), Value::Bool(requires_grad)) = (offset, requires_grad) else {
            bail!(Io, "a tensor with the offset {offset:?} and requires_grad {requires_grad:?}")
        };
        let offset = offset.checked_add(storage.start).ok_or_else(|| err!(Io, "a tensor with the offset {offset}"))?;
        let (sizes, strides) = (self.integers(sizes)?, self.integers(strides)?);
        Ok(TensorRef { storage, dtype, offset, sizes, strides, requires_grad, conjugate: false, negative: false })
    }

    fn integers(&self, tuple: Value<'a>) -> Result<DimVec> {
        let items = self.tuple(tuple)?;
        ensure!(items.len() <= 64, Io, "a tensor of {} dimensions", items.len());
        let integers = items.iter().map(|item| match item {
            Value::Int(value) => Ok(*value),
            other => Err(err!(Io, "an integer is expected, not {other:?}")),
        });
        integers.collect()
    }

    /// The last, optional argument of a tensor: which lazy bits it has.
    fn apply_metadata(&self, tensor: &mut TensorRef<'a>, metadata: Option<&Value<'a>>) -> Result<()> {
        let Some(Value::Node(number)) = metadata else { return Ok(()) };
        let Node::Dict(items) = &self.nodes[*number] else { bail!(Io, "tensor metadata that is no dict") };
        for item in items {
            match item {
                (Value::Text("conj"), Value::Bool(on)) => tensor.conjugate = *on,
                (Value::Text("neg"), Value::Bool(on)) => tensor.negative = *on,
                (key, _) => bail!(Io, "the tensor metadata {key:?} is not supported"),
            }
        }
        Ok(())
    }
}

/// The whole list of what a pickle may name.
fn allowed(module: &str, name: &str) -> Result<Global> {
    let global = match (module, name) {
        ("collections", "OrderedDict") => Some(Global::OrderedDict),
        ("torch._utils", "_rebuild_tensor") => Some(Global::RebuildTensor),
        ("torch._utils", "_rebuild_tensor_v2") => Some(Global::RebuildTensorV2),
        ("torch._utils", "_rebuild_tensor_v3") => Some(Global::RebuildTensorV3),
        ("torch._utils", "_rebuild_parameter") => Some(Global::RebuildParameter),
        ("torch.storage", "UntypedStorage") => Some(Global::Storage(None)),
        ("builtins", "complex") => Some(Global::Complex),
        ("torch.jit._pickle", "build_intlist") => Some(Global::BuildList(Kind::Int)),
        ("torch.jit._pickle", "build_doublelist") => Some(Global::BuildList(Kind::Float)),
        ("torch.jit._pickle", "build_boollist") => Some(Global::BuildList(Kind::Bool)),
        ("torch.jit._pickle", "build_tensorlist") => Some(Global::BuildList(Kind::Tensor)),
        ("__torch__", _) => Some(Global::Class),
        (module, _) if module.starts_with("__torch__.") => Some(Global::Class),
        ("torch", "Size") => Some(Global::Size),
        ("torch", "device") => Some(Global::Device),
        ("torch", name) => match STORAGES.iter().find(|row| row.0 == name) {
            Some((_, dtype)) => Some(Global::Storage(Some(*dtype))),
            None => DType::from_name(name).ok().map(Global::DType),
        },
        _ => None,
    };
    global.ok_or_else(|| {
        let full: String = format!("{module}.{name}").chars().take(120).collect();
        err!(Io, "the file names '{}', which a file of tensors has no use for: refused", full.escape_debug())
    })
}

fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| err!(Io, "text that is not UTF-8"))
}
