//! A reader for the pickles inside `.pt` files that executes nothing.
//!
//! A pickle is a program for a stack machine; the dangerous part of that language is that it may call anything. Here it
//! can only name the items of [`Global`], and calling one builds a plain node. The opcodes are those of PyTorch's own
//! files (protocol 2, and their replacements in protocols 4 and 5). Archives of libtorch's `torch::save` hold objects
//! of classes below `__torch__`, whose code is stored next to the pickle: it is never read, an object is its
//! attributes. Containers are stored in an arena and referred to by number, so shared and cyclic graphs cost nothing to
//! build, copy or drop; `flatten` traverses them under its own limits.

use super::STORAGES;
use rushlight_base::{DType, DimVec, Layout, Result, bail, ensure, err};
use std::collections::HashMap;

/// Values a pickle may push. A checkpoint of 100,000 tensors pushes about 4 million.
const MAX_PUSHES: usize = 1 << 23;
/// Memo entries of a pickle.
const MAX_MEMO: usize = 1 << 22;

/// Tensors that a pickle may create or, shared, list.
pub(super) const MAX_TENSORS: usize = 1 << 20;

/// The layouts of sparse tensors, by their names in files.
pub(super) const LAYOUTS: [(&str, Layout); 3] = [
    ("torch.sparse_coo", Layout::Sparse),
    ("torch.sparse_csr", Layout::SparseCsr),
    ("torch.sparse_csc", Layout::SparseCsc),
];

/// A value on the machine's stack. Strings point into the pickle.
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
    RebuildSparse,
    GetLayout,
    Layout(Layout),
    Size,
    Device,
    /// A typed storage class, or the untyped one.
    Storage(Option<DType>),
    DType(DType),
    Complex,
    /// Any class defined in the archive.
    Class,
    /// Converts a list to a list of a type.
    BuildList(Kind),
}

/// The type of the elements of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Several types, or no elements.
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
    /// A list with a declared element type: the number of its node.
    ListOf(Kind, usize),
    /// An object: the number of the dict of its attributes, once it is known.
    Object(Option<usize>),
    Dict(Vec<(Value<'a>, Value<'a>)>),
    Storage(StorageRef<'a>),
    /// Boxed, because a pickle can create millions of the small nodes.
    Tensor(Box<TensorRef<'a>>),
}

/// A storage of the file, by its key.
#[derive(Clone, Copy, Debug)]
pub(super) struct StorageRef<'a> {
    pub key: &'a str,
    /// `None`: untyped, counted in bytes.
    pub dtype: Option<DType>,
    pub numel: i64,
    /// Offset of its first element, for a slice of a storage in old files.
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
    /// What makes it the values of a sparse tensor.
    pub sparse: Option<Box<SparseRef<'a>>>,
}

/// A sparse tensor besides its values.
#[derive(Clone, Debug)]
pub(super) struct SparseRef<'a> {
    pub layout: Layout,
    pub sizes: DimVec,
    pub coalesced: bool,
    /// The coordinates, or compressed and plain indices.
    pub indices: Vec<TensorRef<'a>>,
}

/// The result of a pickle.
#[derive(Debug)]
pub(super) struct Graph<'a> {
    pub nodes: Vec<Node<'a>>,
    pub root: Value<'a>,
}

/// Runs the pickle of an archive.
pub(super) fn read(bytes: &[u8]) -> Result<Graph<'_>> {
    read_at(bytes, 0, "data.pkl").map(|(graph, _)| graph)
}

/// Runs the pickle that begins at `at`, `name` in messages, and returns where it ends.
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
        ensure!(self.pushes <= MAX_PUSHES, Io, "the pickle creates more than {MAX_PUSHES} values");
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
        ensure!(self.tensors <= MAX_TENSORS, Io, "the pickle creates more than {MAX_TENSORS} tensors");
        self.push_node(Node::Tensor(Box::new(tensor)))
    }

    /// Start of the part of the stack above the last mark.
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
        ensure!(self.stack.len() > self.floor(), Io, "the pickle memoizes a value from an empty stack");
        ensure!(self.memo.len() < MAX_MEMO, Io, "the pickle memoizes more than {MAX_MEMO} values");
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

    /// An integer of any length; those beyond 64 bits are rejected.
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
            other => bail!(Io, "the pickle adds items to {other:?}"),
        }
    }

    fn append(&mut self, mut items: Vec<Value<'a>>) -> Result<()> {
        match self.target()? {
            Node::List(list) => list.append(&mut items),
            _ => bail!(Io, "the pickle appends to something that is not a list"),
        }
        Ok(())
    }

    fn set_items(&mut self, items: &[Value<'a>]) -> Result<()> {
        ensure!(items.len().is_multiple_of(2), Io, "a key without a value");
        match self.target()? {
            Node::Dict(dict) => dict.extend(items.chunks_exact(2).map(|pair| (pair[0], pair[1]))),
            _ => bail!(Io, "the pickle sets keys of something that is not a dict"),
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
            _ => bail!(Io, "the pickle names a global by something that is not a string"),
        }
    }

    /// A persistent id: `("storage", class, key, device, numel)`; in old files also a slice of the storage: all of it,
    /// or `(key of the slice, first element, elements)`.
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
                _ => bail!(Io, "a view that is out of range of its storage"),
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
                let Node::Tensor(tensor) = &self.nodes[tensor] else { bail!(Io, "a parameter that is not a tensor") };
                let parameter = TensorRef { requires_grad, ..(**tensor).clone() };
                self.push_tensor(parameter)
            }
            (Global::GetLayout, &[Value::Text(name)]) => {
                let layout = LAYOUTS.iter().find(|row| row.0 == name);
                let (_, layout) =
                    layout.ok_or_else(|| err!(Io, "the layout '{}' is not supported", name.escape_debug()))?;
                self.push(Value::Global(Global::Layout(*layout)))
            }
            (Global::RebuildSparse, &[Value::Global(Global::Layout(layout)), parts]) => {
                let tensor = self.sparse(layout, parts)?;
                self.push_tensor(tensor)
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
        ensure!(class == Value::Global(Global::Class), Io, "the pickle creates an object of {class:?}");
        ensure!(self.tuple(arguments)?.is_empty(), Io, "an object is made with arguments");
        self.push_node(Node::Object(None))
    }

    /// State of an existing object: the attributes of one of libtorch's. A state dict stores versions of its modules
    /// this way, which loading does not need.
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
            Node::Object(_) => bail!(Io, "the attributes of an object are {state:?}"),
            _ => bail!(Io, "the pickle sets the state of something that is not a dict"),
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
                _ => bail!(Io, "a tensor over something that is not a storage"),
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
        Ok(TensorRef {
            storage,
            dtype,
            offset,
            sizes,
            strides,
            requires_grad,
            conjugate: false,
            negative: false,
            sparse: None,
        })
    }

    /// A sparse tensor: its values, with the indices beside them.
    fn sparse(&self, layout: Layout, parts: Value<'a>) -> Result<TensorRef<'a>> {
        let (indices, values, sizes, coalesced) = match (layout, self.tuple(parts)?) {
            (Layout::Sparse, &[indices, values, sizes]) => (vec![indices], values, sizes, false),
            (Layout::Sparse, &[indices, values, sizes, Value::Bool(coalesced)]) => {
                (vec![indices], values, sizes, coalesced)
            }
            (Layout::Sparse, &[indices, values, sizes, Value::None]) => (vec![indices], values, sizes, false),
            (Layout::SparseCsr | Layout::SparseCsc, &[compressed, plain, values, sizes]) => {
                (vec![compressed, plain], values, sizes, false)
            }
            (layout, parts) => bail!(Io, "a tensor of layout {} with {} components", layout.name(), parts.len()),
        };
        let strided = |value: Value<'a>| match value {
            Value::Node(number) => match &self.nodes[number] {
                Node::Tensor(tensor) if tensor.sparse.is_none() => Ok((**tensor).clone()),
                _ => bail!(Io, "a component of a sparse tensor is no strided tensor"),
            },
            other => bail!(Io, "a component of a sparse tensor is {other:?}"),
        };
        let indices = indices.into_iter().map(strided).collect::<Result<Vec<_>>>()?;
        let sparse = SparseRef { layout, sizes: self.integers(sizes)?, coalesced, indices };
        Ok(TensorRef { sparse: Some(Box::new(sparse)), ..strided(values)? })
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

    /// The last, optional argument of a tensor: its lazy bits.
    fn apply_metadata(&self, tensor: &mut TensorRef<'a>, metadata: Option<&Value<'a>>) -> Result<()> {
        let Some(Value::Node(number)) = metadata else { return Ok(()) };
        let Node::Dict(items) = &self.nodes[*number] else { bail!(Io, "tensor metadata that is not a dict") };
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

/// The whole list of items that a pickle may name.
fn allowed(module: &str, name: &str) -> Result<Global> {
    let global = match (module, name) {
        ("collections", "OrderedDict") => Some(Global::OrderedDict),
        ("torch._utils", "_rebuild_tensor") => Some(Global::RebuildTensor),
        ("torch._utils", "_rebuild_tensor_v2") => Some(Global::RebuildTensorV2),
        ("torch._utils", "_rebuild_tensor_v3") => Some(Global::RebuildTensorV3),
        ("torch._utils", "_rebuild_parameter") => Some(Global::RebuildParameter),
        ("torch._utils", "_rebuild_sparse_tensor") => Some(Global::RebuildSparse),
        ("torch.serialization", "_get_layout") => Some(Global::GetLayout),
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
        err!(Io, "the file names '{}', which is not supported in a file of tensors", full.escape_debug())
    })
}

fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| err!(Io, "a string that is not UTF-8"))
}
