//! The pickles inside `.pt` files: what they may name, and what that builds.
//!
//! Archives of libtorch's `torch::save` hold objects of classes below `__torch__`, whose code is stored next to the
//! pickle: it is never read, an object is its attributes. `flatten` traverses the result under its own limits.

use super::STORAGES;
use crate::pickle::{self, Dialect, Item, not_allowed, utf8};
use rushlight_base::{DType, DimVec, Layout, Result, bail, ensure, err};

pub(super) use crate::pickle::MAX_TENSORS;

/// The layouts of sparse tensors, by their names in files.
pub(super) const LAYOUTS: [(&str, Layout); 3] = [
    ("torch.sparse_coo", Layout::Sparse),
    ("torch.sparse_csr", Layout::SparseCsr),
    ("torch.sparse_csc", Layout::SparseCsc),
];

/// A value on the machine's stack. Strings point into the pickle.
pub(super) type Value<'a> = Item<&'a str, Global>;
/// A value with parts.
pub(super) type Node<'a> = pickle::Node<&'a str, Global, Part<'a>>;
/// The result of a pickle.
pub(super) type Graph<'a> = pickle::Graph<&'a str, Global, Part<'a>>;
type Machine<'a> = pickle::Machine<'a, Checkpoint>;

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

/// A value with parts that only checkpoints have.
#[derive(Clone, Debug)]
pub(super) enum Part<'a> {
    /// Real and imaginary part.
    Complex(f64, f64),
    /// A list with a declared element type: the number of its node.
    ListOf(Kind, usize),
    /// An object: the number of the dict of its attributes, once it is known.
    Object(Option<usize>),
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

/// Runs the pickle of an archive.
pub(super) fn read(bytes: &[u8]) -> Result<Graph<'_>> {
    read_at(bytes, 0, "data.pkl").map(|(graph, _)| graph)
}

/// Runs the pickle that begins at `at`, `name` in messages, and returns where it ends.
pub(super) fn read_at<'a>(bytes: &'a [u8], at: usize, name: &str) -> Result<(Graph<'a>, usize)> {
    pickle::read_at::<Checkpoint>(bytes, at, name)
}

/// The pickles of checkpoints.
pub(super) struct Checkpoint;

impl<'a> Dialect<'a> for Checkpoint {
    type Text = &'a str;
    type Global = Global;
    type Part = Part<'a>;

    fn text(bytes: &'a [u8]) -> Result<&'a str> {
        utf8(bytes)
    }

    fn name(text: &'a str) -> Result<&'a str> {
        Ok(text)
    }

    fn global(module: &'a str, name: &'a str) -> Result<Global> {
        allowed(module, name)
    }

    /// A persistent id: `("storage", class, key, device, numel)`; in old files also a slice of the storage: all of it,
    /// or `(key of the slice, first element, elements)`.
    fn persistent(machine: &mut Machine<'a>, id: Value<'a>) -> Result<()> {
        let (storage, part) = match machine.tuple(id)? {
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
            Some(part) => match machine.tuple(part)? {
                [Value::Text(_), Value::Int(first), Value::Int(_)] => *first,
                _ => bail!(Io, "a view that is out of range of its storage"),
            },
        };
        machine.push_part(Part::Storage(StorageRef { start, ..storage }))
    }

    fn reduce(machine: &mut Machine<'a>, callable: Global, arguments: Value<'a>) -> Result<()> {
        let arguments = machine.tuple(arguments)?.to_vec();
        match (callable, arguments.as_slice()) {
            (Global::OrderedDict, []) => machine.push_node(Node::Dict(Vec::new())),
            (Global::RebuildTensor, &[storage, offset, sizes, strides]) => {
                let tensor = tensor(machine, storage, [offset, sizes, strides], Value::Bool(false), None)?;
                push_tensor(machine, tensor)
            }
            (Global::RebuildTensorV2, &[storage, offset, sizes, strides, grad, _hooks, ref rest @ ..])
                if rest.len() < 2 =>
            {
                let tensor = tensor(machine, storage, [offset, sizes, strides], grad, None)?;
                push_lazy(machine, tensor, rest.first())
            }
            (
                Global::RebuildTensorV3,
                &[storage, offset, sizes, strides, grad, _hooks, Value::Global(Global::DType(dtype)), ref rest @ ..],
            ) if rest.len() < 2 => {
                let tensor = tensor(machine, storage, [offset, sizes, strides], grad, Some(dtype))?;
                push_lazy(machine, tensor, rest.first())
            }
            (Global::RebuildParameter, &[tensor @ Value::Node(_), Value::Bool(requires_grad), _hooks]) => {
                let Some(Part::Tensor(tensor)) = machine.part(tensor) else {
                    bail!(Io, "a parameter that is not a tensor")
                };
                let parameter = TensorRef { requires_grad, ..(**tensor).clone() };
                push_tensor(machine, parameter)
            }
            (Global::GetLayout, &[Value::Text(name)]) => {
                let layout = LAYOUTS.iter().find(|row| row.0 == name);
                let (_, layout) =
                    layout.ok_or_else(|| err!(Io, "the layout '{}' is not supported", name.escape_debug()))?;
                machine.push(Value::Global(Global::Layout(*layout)))
            }
            (Global::RebuildSparse, &[Value::Global(Global::Layout(layout)), parts]) => {
                let tensor = sparse(machine, layout, parts)?;
                push_tensor(machine, tensor)
            }
            (Global::BuildList(kind), &[list @ Value::Node(number)])
                if matches!(machine.node(list), Some(Node::List(_))) =>
            {
                machine.push_part(Part::ListOf(kind, number))
            }
            (Global::Complex, &[Value::Float(real), Value::Float(imaginary)]) => {
                machine.push_part(Part::Complex(real, imaginary))
            }
            (Global::Size, &[sizes]) => machine.push(sizes),
            (Global::Device, &[name] | &[name, _]) => machine.push(name),
            (callable, arguments) => bail!(Io, "{callable:?} is called with {} unexpected arguments", arguments.len()),
        }
    }

    /// An object without attributes yet.
    fn new_object(machine: &mut Machine<'a>, class: Global, arguments: Value<'a>) -> Result<()> {
        ensure!(class == Global::Class, Io, "the pickle creates an object of {:?}", Value::Global(class));
        ensure!(machine.tuple(arguments)?.is_empty(), Io, "an object is made with arguments");
        machine.push_part(Part::Object(None))
    }

    /// The attributes of an object of one of libtorch's classes.
    fn set_state(machine: &mut Machine<'a>, number: usize, state: Value<'a>) -> Result<()> {
        let attributes = match (machine.node(state), state) {
            (Some(Node::Dict(_)), Value::Node(attributes)) => Some(attributes),
            _ => None,
        };
        match machine.part_mut(number) {
            Some(Part::Object(known @ None)) if attributes.is_some() => *known = attributes,
            Some(Part::Object(_)) => bail!(Io, "the attributes of an object are {state:?}"),
            _ => bail!(Io, "the pickle sets the state of something that is not a dict"),
        }
        Ok(())
    }
}

fn push_tensor<'a>(machine: &mut Machine<'a>, tensor: TensorRef<'a>) -> Result<()> {
    machine.count_tensor()?;
    machine.push_part(Part::Tensor(Box::new(tensor)))
}

fn push_lazy<'a>(machine: &mut Machine<'a>, tensor: TensorRef<'a>, metadata: Option<&Value<'a>>) -> Result<()> {
    let (conjugate, negative) = machine.lazy_bits(metadata)?;
    push_tensor(machine, TensorRef { conjugate, negative, ..tensor })
}

fn tensor<'a>(
    machine: &Machine<'a>,
    storage: Value<'a>,
    [offset, sizes, strides]: [Value<'a>; 3],
    requires_grad: Value<'a>,
    dtype: Option<DType>,
) -> Result<TensorRef<'a>> {
    let storage = match machine.part(storage) {
        Some(Part::Storage(storage)) => *storage,
        _ => bail!(Io, "a tensor over something that is not a storage"),
    };
    let dtype = dtype.or(storage.dtype).ok_or_else(|| err!(Io, "a tensor over an untyped storage needs a dtype"))?;
    let (Value::Int(offset), Value::Bool(requires_grad)) = (offset, requires_grad) else {
        bail!(Io, "a tensor with the offset {offset:?} and requires_grad {requires_grad:?}")
    };
    let offset = offset.checked_add(storage.start).ok_or_else(|| err!(Io, "a tensor with the offset {offset}"))?;
    let (sizes, strides) = (machine.integers(sizes)?, machine.integers(strides)?);
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
fn sparse<'a>(machine: &Machine<'a>, layout: Layout, parts: Value<'a>) -> Result<TensorRef<'a>> {
    let (indices, values, sizes, coalesced) = match (layout, machine.tuple(parts)?) {
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
    let strided = |value: Value<'a>| match machine.part(value) {
        Some(Part::Tensor(tensor)) if tensor.sparse.is_none() => Ok((**tensor).clone()),
        _ => bail!(Io, "a component of a sparse tensor is no strided tensor"),
    };
    let indices = indices.into_iter().map(strided).collect::<Result<Vec<_>>>()?;
    let sparse = SparseRef { layout, sizes: machine.integers(sizes)?, coalesced, indices };
    Ok(TensorRef { sparse: Some(Box::new(sparse)), ..strided(values)? })
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
    global.ok_or_else(|| not_allowed(module, name, "a file of tensors"))
}
