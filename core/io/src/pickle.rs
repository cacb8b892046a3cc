//! The stack machine of pickles, which executes nothing.
//!
//! A pickle is a program for a stack machine; the dangerous part of that language is that it may call anything. Here a
//! [`Dialect`] says what a pickle may name, and calling that builds a plain node. The opcodes are those of PyTorch's
//! own files (protocol 2, and their replacements in protocols 4 and 5). Containers are stored in an arena and referred
//! to by number, so shared and cyclic graphs cost nothing to build, copy or drop; who traverses them sets limits.

use rushlight_base::{DimVec, Result, bail, ensure, err};
use std::collections::HashMap;
use std::fmt::Debug;

/// Values a pickle may push. A checkpoint of 100,000 tensors pushes about 4 million.
const MAX_PUSHES: usize = 1 << 23;
/// Memo entries, and marks, of a pickle.
const MAX_MEMO: usize = 1 << 22;
/// Dimensions of a tensor.
const MAX_DIMS: usize = 64;

/// Tensors that a pickle may create or, shared, list.
pub const MAX_TENSORS: usize = 1 << 20;

/// A value on the stack: strings are of type `T`, what a pickle may name of type `G`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item<T, G> {
    /// `None`
    None,
    /// `True` or `False`
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Text(T),
    /// A name.
    Global(G),
    /// Number of a [`Node`].
    Node(usize),
}

/// A value with parts. `P` are those that only one dialect has.
#[derive(Clone, Debug)]
pub enum Node<T, G, P> {
    /// A tuple.
    Tuple(Vec<Item<T, G>>),
    /// A list.
    List(Vec<Item<T, G>>),
    /// A dict: keys and values in order.
    Dict(Vec<(Item<T, G>, Item<T, G>)>),
    /// A value of the dialect.
    Part(P),
}

/// The result of a pickle.
#[derive(Debug)]
pub struct Graph<T, G, P> {
    /// Values with parts.
    pub nodes: Vec<Node<T, G, P>>,
    /// The value of the pickle.
    pub root: Item<T, G>,
}

/// A value of a dialect.
pub type ItemOf<'a, D> = Item<<D as Dialect<'a>>::Text, <D as Dialect<'a>>::Global>;
/// A value with parts of a dialect.
pub type NodeOf<'a, D> = Node<<D as Dialect<'a>>::Text, <D as Dialect<'a>>::Global, <D as Dialect<'a>>::Part>;
/// The result of a pickle of a dialect.
pub type GraphOf<'a, D> = Graph<<D as Dialect<'a>>::Text, <D as Dialect<'a>>::Global, <D as Dialect<'a>>::Part>;

/// What the pickles of a kind of file may name, and what they build by it.
pub trait Dialect<'a>: Sized {
    /// A string in the pickle.
    type Text: Copy + Debug + PartialEq + AsRef<[u8]>;
    /// What may be named.
    type Global: Copy + Debug + PartialEq;
    /// The nodes besides tuples, lists and dicts.
    type Part;

    /// A string.
    fn text(bytes: &'a [u8]) -> Result<Self::Text>;

    /// A string that is a name.
    fn name(text: Self::Text) -> Result<&'a str>;

    /// What a name stands for; an error unless it is on the dialect's list.
    fn global(module: &'a str, name: &'a str) -> Result<Self::Global>;

    /// Pushes what a persistent id refers to.
    fn persistent(machine: &mut Machine<'a, Self>, id: ItemOf<'a, Self>) -> Result<()>;

    /// Pushes the result of a call.
    fn reduce(machine: &mut Machine<'a, Self>, callable: Self::Global, arguments: ItemOf<'a, Self>) -> Result<()>;

    /// Pushes a new object of a class.
    fn new_object(machine: &mut Machine<'a, Self>, class: Self::Global, arguments: ItemOf<'a, Self>) -> Result<()>;

    /// Sets the state of the part with this number.
    fn set_state(machine: &mut Machine<'a, Self>, number: usize, state: ItemOf<'a, Self>) -> Result<()>;
}

/// Runs the pickle `name` that begins at `at`, and returns where it ends.
pub fn read_at<'a, D: Dialect<'a>>(bytes: &'a [u8], at: usize, name: &str) -> Result<(GraphOf<'a, D>, usize)> {
    let mut machine = Machine::<'a, D> {
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

/// The machine while it runs.
pub struct Machine<'a, D: Dialect<'a>> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<ItemOf<'a, D>>,
    marks: Vec<usize>,
    memo: HashMap<u32, ItemOf<'a, D>>,
    nodes: Vec<NodeOf<'a, D>>,
    pushes: usize,
    tensors: usize,
}

impl<'a, D: Dialect<'a>> Machine<'a, D> {
    /// Executes one opcode; the root at the last one.
    fn step(&mut self) -> Result<Option<ItemOf<'a, D>>> {
        match self.byte()? {
            b'.' => return self.pop().map(Some),
            0x80 => {
                let protocol = self.byte()?;
                ensure!((2..=5).contains(&protocol), Io, "pickle protocol {protocol} is not supported");
            }
            // FRAME only announces a length, which reading does not need.
            0x95 => drop(self.u64()?),
            b'(' => self.mark()?,
            b'0' => drop(self.pop()?),
            b'N' => self.push(Item::None)?,
            0x88 => self.push(Item::Bool(true))?,
            0x89 => self.push(Item::Bool(false))?,
            b'K' => self.byte().and_then(|value| self.push(Item::Int(value.into())))?,
            b'M' => self.array().and_then(|bytes| self.push(Item::Int(u16::from_le_bytes(bytes).into())))?,
            b'J' => self.array().and_then(|bytes| self.push(Item::Int(i32::from_le_bytes(bytes).into())))?,
            0x8a => self.long()?,
            b'G' => self.array().and_then(|bytes| self.push(Item::Float(f64::from_be_bytes(bytes))))?,
            // Text of Python 2 ('U', 'T') is ASCII where PyTorch wrote it.
            0x8c | b'U' => self.byte().and_then(|length| self.text(length.into()))?,
            b'X' | b'T' => self.u32().and_then(|length| self.text(length.into()))?,
            0x8d => self.u64().and_then(|length| self.text(length))?,
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.push(Item::Global(D::global(module, name)?))?;
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
            b'Q' => {
                let id = self.pop()?;
                D::persistent(self, id)?;
            }
            b'R' => self.reduce()?,
            0x81 => self.new_object()?,
            b'b' => self.build()?,
            opcode => bail!(Io, "pickle opcode {opcode:#04x} is not allowed in a model file"),
        }
        Ok(None)
    }

    // ---- bytes -------------------------------------------------------------------------------------------

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let rest = self.rest();
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

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn line(&mut self) -> Result<&'a str> {
        let length = self.rest().iter().position(|&byte| byte == b'\n');
        let line = self.take(length.ok_or_else(|| err!(Io, "a line does not end"))? as u64)?;
        self.at += 1;
        utf8(line)
    }

    // ---- stack -------------------------------------------------------------------------------------------

    /// Pushes a value.
    pub fn push(&mut self, item: ItemOf<'a, D>) -> Result<()> {
        self.pushes += 1;
        ensure!(self.pushes <= MAX_PUSHES, Io, "the pickle creates more than {MAX_PUSHES} values");
        self.stack.push(item);
        Ok(())
    }

    /// Pushes a value with parts.
    pub fn push_node(&mut self, node: NodeOf<'a, D>) -> Result<()> {
        self.push(Item::Node(self.nodes.len()))?;
        self.nodes.push(node);
        Ok(())
    }

    /// Pushes a value of the dialect.
    pub fn push_part(&mut self, part: D::Part) -> Result<()> {
        self.push_node(Node::Part(part))
    }

    /// Counts a tensor; there is a limit.
    pub fn count_tensor(&mut self) -> Result<()> {
        self.tensors += 1;
        ensure!(self.tensors <= MAX_TENSORS, Io, "the pickle creates more than {MAX_TENSORS} tensors");
        Ok(())
    }

    /// Start of the part of the stack above the last mark.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> Result<ItemOf<'a, D>> {
        ensure!(self.stack.len() > self.floor(), Io, "the pickle takes a value from an empty stack");
        self.stack.pop().ok_or_else(|| err!(Io, "the pickle takes a value from an empty stack"))
    }

    fn top(&self) -> Result<ItemOf<'a, D>> {
        ensure!(self.stack.len() > self.floor(), Io, "the pickle reads a value of an empty stack");
        self.stack.last().copied().ok_or_else(|| err!(Io, "the pickle reads a value of an empty stack"))
    }

    fn mark(&mut self) -> Result<()> {
        ensure!(self.marks.len() < MAX_MEMO, Io, "the pickle sets more than {MAX_MEMO} marks");
        self.marks.push(self.stack.len());
        Ok(())
    }

    fn pop_mark(&mut self) -> Result<Vec<ItemOf<'a, D>>> {
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

    // ---- values ------------------------------------------------------------------------------------------

    fn text(&mut self, length: u64) -> Result<()> {
        let text = D::text(self.take(length)?)?;
        self.push(Item::Text(text))
    }

    /// An integer of any length; those beyond 64 bits are rejected.
    fn long(&mut self) -> Result<()> {
        let length = self.byte()?;
        let bytes = self.take(length.into())?;
        ensure!(bytes.len() <= 8, Io, "an integer of {length} bytes is too large");
        let negative = bytes.last().is_some_and(|&high| high & 0x80 != 0);
        let mut wide = if negative { [0xff; 8] } else { [0; 8] };
        wide.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
        self.push(Item::Int(i64::from_le_bytes(wide)))
    }

    fn tuple_of(&mut self, count: usize) -> Result<()> {
        ensure!(self.stack.len() >= self.floor() + count, Io, "the pickle takes {count} values from a shorter stack");
        let items = self.stack.split_off(self.stack.len() - count);
        self.push_node(Node::Tuple(items))
    }

    /// The node at the top of the stack, which the opcode changes.
    fn target(&mut self) -> Result<(usize, &mut NodeOf<'a, D>)> {
        match self.top()? {
            Item::Node(number) => {
                let node = self.nodes.get_mut(number);
                Ok((number, node.ok_or_else(|| err!(Io, "a node is missing"))?))
            }
            other => bail!(Io, "the pickle adds items to {other:?}"),
        }
    }

    fn append(&mut self, mut items: Vec<ItemOf<'a, D>>) -> Result<()> {
        match self.target()? {
            (_, Node::List(list)) => list.append(&mut items),
            _ => bail!(Io, "the pickle appends to something that is not a list"),
        }
        Ok(())
    }

    fn set_items(&mut self, items: &[ItemOf<'a, D>]) -> Result<()> {
        let (pairs, rest) = items.as_chunks::<2>();
        ensure!(rest.is_empty(), Io, "a key without a value");
        match self.target()? {
            (_, Node::Dict(dict)) => dict.extend(pairs.iter().map(|&[key, value]| (key, value))),
            _ => bail!(Io, "the pickle sets keys of something that is not a dict"),
        }
        Ok(())
    }

    // ---- names and calls ---------------------------------------------------------------------------------

    fn stack_global(&mut self) -> Result<()> {
        match (self.pop()?, self.pop()?) {
            (Item::Text(name), Item::Text(module)) => {
                self.push(Item::Global(D::global(D::name(module)?, D::name(name)?)?))
            }
            _ => bail!(Io, "the pickle names a global by something that is not a string"),
        }
    }

    fn reduce(&mut self) -> Result<()> {
        let (arguments, callable) = (self.pop()?, self.pop()?);
        let Item::Global(callable) = callable else { bail!(Io, "the pickle calls {callable:?}") };
        D::reduce(self, callable, arguments)
    }

    fn new_object(&mut self) -> Result<()> {
        let (arguments, class) = (self.pop()?, self.pop()?);
        let Item::Global(class) = class else { bail!(Io, "the pickle creates an object of {class:?}") };
        D::new_object(self, class, arguments)
    }

    /// State of an existing object. A state dict stores versions of its modules this way, which loading does not need.
    fn build(&mut self) -> Result<()> {
        let state = self.pop()?;
        match self.target()? {
            (_, Node::Dict(_)) => Ok(()),
            (number, Node::Part(_)) => D::set_state(self, number, state),
            _ => bail!(Io, "the pickle sets the state of something that is not a dict"),
        }
    }

    // ---- what dialects read --------------------------------------------------------------------------------

    /// The node of a value.
    pub fn node(&self, item: ItemOf<'a, D>) -> Option<&NodeOf<'a, D>> {
        match item {
            Item::Node(number) => self.nodes.get(number),
            _ => None,
        }
    }

    /// A part of the dialect.
    pub fn part(&self, item: ItemOf<'a, D>) -> Option<&D::Part> {
        match self.node(item) {
            Some(Node::Part(part)) => Some(part),
            _ => None,
        }
    }

    /// A part of the dialect, by its number.
    pub fn part_mut(&mut self, number: usize) -> Option<&mut D::Part> {
        match self.nodes.get_mut(number) {
            Some(Node::Part(part)) => Some(part),
            _ => None,
        }
    }

    /// The elements of a tuple.
    pub fn tuple(&self, item: ItemOf<'a, D>) -> Result<&[ItemOf<'a, D>]> {
        match (self.node(item), item) {
            (Some(Node::Tuple(items)), _) => Ok(items),
            (_, Item::Node(_)) => bail!(Io, "a tuple is expected"),
            (_, other) => bail!(Io, "a tuple is expected, not {other:?}"),
        }
    }

    /// The sizes or strides of a tensor.
    pub fn integers(&self, tuple: ItemOf<'a, D>) -> Result<DimVec> {
        let items = self.tuple(tuple)?;
        ensure!(items.len() <= MAX_DIMS, Io, "a tensor of {} dimensions", items.len());
        let integers = items.iter().map(|item| match item {
            Item::Int(value) => Ok(*value),
            other => Err(err!(Io, "an integer is expected, not {other:?}")),
        });
        integers.collect()
    }

    /// The last, optional argument of a tensor: its lazy bits, conj and neg.
    pub fn lazy_bits(&self, metadata: Option<&ItemOf<'a, D>>) -> Result<(bool, bool)> {
        let mut bits = (false, false);
        let Some(item @ Item::Node(_)) = metadata else { return Ok(bits) };
        let Some(Node::Dict(items)) = self.node(*item) else { bail!(Io, "tensor metadata that is not a dict") };
        for item in items {
            match item {
                (Item::Text(key), Item::Bool(on)) if key.as_ref() == b"conj" => bits.0 = *on,
                (Item::Text(key), Item::Bool(on)) if key.as_ref() == b"neg" => bits.1 = *on,
                (key, _) => bail!(Io, "the tensor metadata {key:?} is not supported"),
            }
        }
        Ok(bits)
    }
}

/// A string that must be UTF-8.
pub fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| err!(Io, "a string that is not UTF-8"))
}

/// The error for a name that is not on the list of a dialect, whose files are called `file`.
pub fn not_allowed(module: &str, name: &str, file: &str) -> rushlight_base::Error {
    let full: String = format!("{module}.{name}").chars().take(120).collect();
    err!(Io, "the file names '{}', which is not supported in {file}", full.escape_debug())
}
