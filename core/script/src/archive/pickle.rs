//! The pickles of TorchScript archives: what they may name, and what that builds. Nothing in them is executed: classes
//! are names, objects are their states, calls are one of a short list of constructors, which become nodes.

use rushlight_base::{DType, DimVec, Result, bail};
use rushlight_io::pickle::{self, Dialect, not_allowed, utf8};

/// A value on the stack of the machine. Strings point into the pickle.
pub(super) type Item<'a> = pickle::Item<&'a [u8], Global<'a>>;
/// A value with parts.
pub(super) type Node<'a> = pickle::Node<&'a [u8], Global<'a>, Part<'a>>;
/// The contents of a pickle.
pub(super) type Pickle<'a> = pickle::Graph<&'a [u8], Global<'a>, Part<'a>>;
type Machine<'a> = pickle::Machine<'a, Script>;

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

/// A value with parts that only programs have.
#[derive(Clone, Debug)]
pub(super) enum Part<'a> {
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
    pub sizes: DimVec,
    pub strides: DimVec,
    pub requires_grad: bool,
    /// Scheme and parameters of a quantized tensor.
    pub quantizer: Option<Vec<Item<'a>>>,
    pub conj: bool,
    pub neg: bool,
}

/// Reads the pickle `name`.
pub(super) fn read<'a>(bytes: &'a [u8], name: &str) -> Result<Pickle<'a>> {
    pickle::read_at::<Script>(bytes, 0, name).map(|(pickle, _)| pickle)
}

/// The pickles of TorchScript archives.
pub(super) struct Script;

impl<'a> Dialect<'a> for Script {
    type Text = &'a [u8];
    type Global = Global<'a>;
    type Part = Part<'a>;

    fn text(bytes: &'a [u8]) -> Result<&'a [u8]> {
        Ok(bytes)
    }

    fn name(text: &'a [u8]) -> Result<&'a str> {
        utf8(text)
    }

    fn global(module: &'a str, name: &'a str) -> Result<Global<'a>> {
        allowed(module, name)
    }

    /// `("storage", class, key, device, numel)`
    fn persistent(machine: &mut Machine<'a>, id: Item<'a>) -> Result<()> {
        match *machine.tuple(id)? {
            [
                Item::Text(b"storage"),
                Item::Global(Global::Storage(dtype)),
                Item::Text(key),
                Item::Text(_device),
                Item::Int(numel),
                ..,
            ] => {
                let key = utf8(key)?;
                machine.push_part(Part::Storage(StorageRef { key, dtype, numel }))
            }
            _ => bail!(Io, "a persistent id that is not that of a storage"),
        }
    }

    fn reduce(machine: &mut Machine<'a>, callable: Global<'a>, arguments: Item<'a>) -> Result<()> {
        // A member of an Enum is written without a tuple around its value.
        let arguments = match (callable, machine.tuple(arguments)) {
            (_, Ok(arguments)) => arguments.to_vec(),
            (Global::Class(..), Err(_)) => vec![arguments],
            (_, Err(error)) => return Err(error),
        };
        let part = match (callable, arguments.as_slice()) {
            (Global::OrderedDict, []) => return machine.push_node(Node::Dict(Vec::new())),
            (Global::TypedList, &[list @ Item::Node(_)]) => return machine.push(list),
            (Global::TypeTag, &[value, Item::Text(kind)]) => Part::Tagged(value, kind),
            (Global::Device, &[Item::Text(name), ..]) => Part::Device(name),
            (Global::Complex, &[real, imaginary]) => Part::Complex(number(real)?, number(imaginary)?),
            (Global::TensorFromId, &[Item::Int(index)]) => Part::Numbered(index),
            (Global::Class(module, name), _) => Part::Call { module, name, arguments },
            (Global::RebuildTensor, &[storage, offset, sizes, strides, grad, _hooks, ref rest @ ..]) => {
                let (conj, neg) = machine.lazy_bits(rest.first())?;
                let tensor = tensor(machine, storage, [offset, sizes, strides], grad)?;
                counted(machine, TensorRef { conj, neg, ..tensor })?
            }
            (Global::RebuildQuantized, &[storage, offset, sizes, strides, quantizer, grad, ..]) => {
                let tensor = tensor(machine, storage, [offset, sizes, strides], grad)?;
                let quantizer = Some(machine.tuple(quantizer)?.to_vec());
                counted(machine, TensorRef { quantizer, ..tensor })?
            }
            (Global::RebuildSparse, &[_, _, _, _, _, ..]) => {
                machine.count_tensor()?;
                Part::Sparse(arguments.into())
            }
            (Global::RebuildParameter, &[tensor, ..]) => return machine.push(tensor),
            (callable, arguments) => bail!(Io, "{callable:?} is called with {} unexpected arguments", arguments.len()),
        };
        machine.push_part(part)
    }

    fn new_object(machine: &mut Machine<'a>, class: Global<'a>, _arguments: Item<'a>) -> Result<()> {
        let Global::Class(module, name) = class else { bail!(Io, "the pickle creates an object of {class:?}") };
        machine.push_part(Part::Object { module, name, state: None })
    }

    fn set_state(machine: &mut Machine<'a>, number: usize, found: Item<'a>) -> Result<()> {
        match machine.part_mut(number) {
            Some(Part::Object { state: state @ None, .. }) => {
                *state = Some(found);
                Ok(())
            }
            _ => bail!(Io, "the pickle sets the state of a value that is no new object"),
        }
    }
}

fn counted<'a>(machine: &mut Machine<'a>, tensor: TensorRef<'a>) -> Result<Part<'a>> {
    machine.count_tensor()?;
    Ok(Part::Tensor(Box::new(tensor)))
}

fn tensor<'a>(
    machine: &Machine<'a>,
    storage: Item<'a>,
    [offset, sizes, strides]: [Item<'a>; 3],
    grad: Item<'a>,
) -> Result<TensorRef<'a>> {
    let Some(Part::Storage(storage)) = machine.part(storage) else {
        bail!(Io, "a tensor over a value that is no storage")
    };
    let (Item::Int(offset), Item::Bool(requires_grad)) = (offset, grad) else {
        bail!(Io, "a tensor with the offset {offset:?} and requires_grad {grad:?}")
    };
    let (sizes, strides) = (machine.integers(sizes)?, machine.integers(strides)?);
    Ok(TensorRef { storage: *storage, offset, sizes, strides, requires_grad, quantizer: None, conj: false, neg: false })
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
    global.ok_or_else(|| not_allowed(module, name, "a TorchScript archive"))
}
