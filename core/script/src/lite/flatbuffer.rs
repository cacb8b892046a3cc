//! The flatbuffer form of files of the lite interpreter: one buffer with values, methods and the bytes of tensors. Values
//! refer to earlier values by number.

use super::flat::{Buffer, Table, Vector};
use super::opcode::Opcode;
use super::pickle::default;
use super::types::Types;
use super::{
    Contents, Method, OperatorUse, Step, attribute, check_version, define_classes, define_methods, finish,
    single_or_tuple,
};
use crate::archive::{Built, Layout, custom};
use crate::ast::Name;
use crate::builtins::call;
use crate::module::Module;
use crate::program::Program;
use crate::runtime::dict::Dict;
use crate::runtime::function::Linker;
use crate::runtime::list::List;
use crate::runtime::object::{Object, Role, Tuple};
use crate::runtime::value::Value;
use crate::schema::Argument;
use crate::types::Type;
use rushlight_base::{Complex, DType, Device, DimVec, Result, Storage, bail, ensure, err, list};
use rushlight_io::{Entry, filled_storage, normalise_bools};
use std::collections::{BTreeMap, HashMap, hash_map};

/// What a file begins with, after the first offset.
const IDENTIFIER: &[u8; 4] = b"PTMF";

/// Whether these are the first bytes of such a file.
pub(crate) fn is_flatbuffer(head: &[u8]) -> bool {
    head.get(4..8) == Some(IDENTIFIER)
}

// The fields of the tables, by their numbers.
mod module {
    pub const VERSION: usize = 0;
    pub const EXTRA_FILES: usize = 1;
    pub const STATE: usize = 3;
    pub const VALUES: usize = 4;
    pub const STORAGES: usize = 6;
    pub const CLASSES: usize = 7;
    pub const OPERATOR_VERSION: usize = 10;
    /// How many of the values belong to the program; those after them to its source code, if the file has it.
    pub const VALUE_COUNT: usize = 11;
}
mod function {
    pub const NAME: usize = 0;
    pub const STEPS: usize = 1;
    pub const OPERATORS: usize = 2;
    pub const CONSTANTS: usize = 3;
    pub const TYPES: usize = 4;
    pub const REGISTERS: usize = 5;
    pub const SCHEMA: usize = 6;
}
mod class {
    pub const NAME: usize = 0;
    pub const FORM: usize = 1;
    pub const ATTRIBUTES: usize = 2;
}
mod tensor {
    pub const STORAGE: usize = 0;
    pub const DTYPE: usize = 1;
    pub const OFFSET: usize = 2;
    pub const SIZES: usize = 3;
    pub const STRIDES: usize = 4;
    pub const REQUIRES_GRAD: usize = 5;
    pub const QUANTIZER: usize = 6;
}
mod quantizer {
    pub const SCHEME: usize = 0;
    pub const SCALE: usize = 1;
    pub const ZERO_POINT: usize = 2;
    pub const SCALES: usize = 3;
    pub const ZERO_POINTS: usize = 4;
    pub const AXIS: usize = 5;
}
/// Tables with a name and a value: operators, arguments, extra files, objects.
mod parts {
    pub const FIRST: usize = 0;
    pub const SECOND: usize = 1;
    pub const THIRD: usize = 2;
}

/// The kinds of values.
mod kind {
    pub const NONE: u8 = 0;
    pub const INT: u8 = 1;
    pub const BOOL: u8 = 2;
    pub const FLOAT: u8 = 3;
    pub const COMPLEX: u8 = 4;
    pub const TENSOR: u8 = 5;
    pub const STRING: u8 = 6;
    pub const LIST: u8 = 7;
    pub const TUPLE: u8 = 8;
    pub const DICT: u8 = 9;
    pub const OBJECT: u8 = 10;
    pub const INTS: u8 = 11;
    pub const FLOATS: u8 = 12;
    pub const BOOLS: u8 = 13;
    pub const DEVICE: u8 = 14;
    pub const FUNCTION: u8 = 16;
}

/// What an object of a class is made of.
mod form {
    pub const ATTRIBUTES: u8 = 1;
    pub const CUSTOM: u8 = 2;
    pub const STATE: u8 = 3;
}

/// A tensor of scales in a tensor of scales would be the next level.
const MAX_TENSOR_DEPTH: usize = 2;

/// Loads the module of a file.
pub(crate) fn load(bytes: &[u8]) -> Result<Module> {
    ensure!(is_flatbuffer(bytes), Io, "not a flatbuffer file of the lite interpreter");
    let buffer = Buffer::new(bytes);
    let root = buffer.root()?;
    check_version(root.u32(module::VERSION)?.into())?;
    let all = root.vector(module::VALUES, 4)?;
    let count = match root.u32(module::VALUE_COUNT)? as usize {
        0 => all.len(),
        count => count.min(all.len()),
    };
    let program = Program::of_lite(None, extra_files(root)?);
    let mut types = Types::default();
    // Classes have to be known before their objects, and methods before their classes; constants are values.
    let mut functions = Vec::new();
    for index in 0..count {
        let entry = all.table(index)?;
        if entry.u8(0)? == kind::FUNCTION {
            let table = entry.table(1)?.ok_or_else(|| err!(Io, "value {index} is missing"))?;
            list::push(&mut functions, (table, method(table, &mut types)?))?;
        }
    }
    let classes = classes(root, all, count)?;
    let layouts = classes.iter().filter(|class| class.form != form::CUSTOM).map(|class| class.layout.clone());
    define_classes(&program, functions.iter().map(|(_, method)| method), layouts.collect())?;
    let mut reader = Reader {
        root,
        program: &program,
        classes,
        types,
        storages: HashMap::new(),
        values: list::with_capacity(count)?,
        states: Vec::new(),
    };
    for index in 0..count {
        let value = reader.value(all.table(index)?);
        reader.values.push(value.map_err(|error| error.context(format_args!("value {index}")))?);
    }
    let mut methods = Vec::new();
    for (table, mut method) in functions {
        reader.complete(table, &mut method).map_err(|error| error.context(format_args!("method {}", method.name)))?;
        methods.push(method);
    }
    let value = reader.at(root.u32(module::STATE)? as usize)?;
    let Reader { types, states, .. } = reader;
    let operators = u64::from(root.u32(module::OPERATOR_VERSION)?);
    define_methods(&program, &Contents { methods, named_tuples: types.into_named_tuples(), operators })?;
    finish(program, Built { value, states })
}

fn extra_files(root: Table<'_>) -> Result<BTreeMap<String, Vec<u8>>> {
    let files = root.vector(module::EXTRA_FILES, 4)?.tables().map(|file| {
        let file = file?;
        Ok((file.str(parts::FIRST)?.to_owned(), list::copied(file.bytes(parts::SECOND)?)?))
    });
    files.collect()
}

/// A method without its constants and defaults.
fn method(table: Table<'_>, types: &mut Types) -> Result<Method> {
    let name: Name = table.str(function::NAME)?.into();
    // Code, a byte without meaning, N, X.
    let steps = table.vector(function::STEPS, 8)?.arrays::<8>()?.map(|[code, _, n0, n1, x @ ..]| {
        let n = u16::from_le_bytes([n0, n1]).into();
        Ok(Step { opcode: Opcode::from_code(code)?, x: i32::from_le_bytes(x), n })
    });
    let steps = list::try_collect(steps)?;
    let operators = table.vector(function::OPERATORS, 4)?.tables().map(|operator| {
        let operator = operator?;
        Ok(OperatorUse {
            name: operator.str(parts::FIRST)?.into(),
            overload: operator.str(parts::SECOND)?.into(),
            // -1 stands for all.
            arguments: usize::try_from(operator.i32_or(parts::THIRD, -1)?).ok(),
        })
    });
    let operators = list::try_collect(operators)?;
    let kinds = table.vector(function::TYPES, 4)?.strings().map(|kind| Ok(kind.and_then(|kind| types.parse(kind))));
    let kinds = list::try_collect(kinds)?;
    let registers = table.i32(function::REGISTERS)?;
    let registers = usize::try_from(registers).map_err(|_| err!(Io, "a function with {registers} registers"))?;
    Ok(Method { name, steps, operators, constants: Vec::new(), types: kinds, registers, signature: None })
}

/// A class of objects in the file.
struct ObjectClass {
    form: u8,
    layout: Layout,
}

/// The classes, with attributes whose roles the first object of a class shows.
fn classes(root: Table<'_>, all: Vector<'_>, count: usize) -> Result<Vec<ObjectClass>> {
    let mut first: HashMap<usize, Vec<usize>> = HashMap::new();
    for index in 0..count {
        let entry = all.table(index)?;
        if entry.u8(0)? == kind::OBJECT
            && let Some(object) = entry.table(1)?
        {
            let class = object.u32(0)? as usize;
            if let hash_map::Entry::Vacant(place) = first.entry(class) {
                place.insert(object.vector(parts::THIRD, 4)?.indices()?.collect());
            }
        }
    }
    let role = |index: Option<&usize>| -> Result<Role> {
        let Some(&index) = index.filter(|index| **index < count) else { return Ok(Role::Plain) };
        let entry = all.table(index)?;
        if entry.u8(0)? != kind::TENSOR {
            return Ok(Role::Plain);
        }
        let requires_grad = entry.table(1)?.map_or(Ok(0), |found| found.u8(tensor::REQUIRES_GRAD))? != 0;
        Ok(if requires_grad { Role::Parameter } else { Role::Buffer })
    };
    let classes = root.vector(module::CLASSES, 4)?.tables().enumerate().map(|(number, class)| {
        let class = class?;
        let values = first.get(&number);
        let names = class.vector(class::ATTRIBUTES, 4)?.strings().enumerate();
        let attributes = names.map(|(slot, name)| Ok(attribute(name?, role(values.and_then(|all| all.get(slot)))?)));
        let layout = Layout { class: class.str(class::NAME)?.into(), attributes: list::try_collect(attributes)? };
        Ok(ObjectClass { form: class.u8(class::FORM)?, layout })
    });
    list::try_collect(classes)
}

struct Reader<'b> {
    root: Table<'b>,
    program: &'b Program,
    classes: Vec<ObjectClass>,
    types: Types,
    storages: HashMap<(usize, bool), Storage>,
    values: Vec<Value>,
    states: Vec<(Object, Value)>,
}

impl Reader<'_> {
    /// A value that was read before.
    fn at(&self, index: usize) -> Result<Value> {
        let value = self.values.get(index).cloned();
        value.ok_or_else(|| err!(Io, "value {index} is used before it is known, there are {}", self.values.len()))
    }

    fn all(&self, indices: Vector<'_>) -> Result<Vec<Value>> {
        list::try_collect(indices.indices()?.map(|index| self.at(index)))
    }

    /// Adds the constants and the signature of a method.
    fn complete(&mut self, table: Table<'_>, method: &mut Method) -> Result<()> {
        method.constants = self.all(table.vector(function::CONSTANTS, 4)?)?;
        let Some(schema) = table.table(function::SCHEMA)? else { return Ok(()) };
        let mut arguments = Vec::new();
        for argument in schema.vector(parts::FIRST, 4)?.tables() {
            let argument = argument?;
            let kind = self.types.parse(argument.str(parts::SECOND)?).unwrap_or(Type::Any);
            let mut made = Argument::new(argument.str(parts::FIRST)?, kind);
            made.default = default(&self.at(argument.u32(parts::THIRD)? as usize)?, &made.kind);
            list::push(&mut arguments, made)?;
        }
        let mut returns = Vec::new();
        for value in schema.vector(parts::SECOND, 4)?.tables() {
            list::push(&mut returns, self.types.parse(value?.str(parts::SECOND)?).unwrap_or(Type::Any))?;
        }
        method.signature = Some((arguments, single_or_tuple(returns)));
        Ok(())
    }

    fn value(&mut self, entry: Table<'_>) -> Result<Value> {
        let form = entry.u8(0)?;
        Ok(match form {
            kind::NONE | kind::FUNCTION => Value::None,
            kind::INT => Value::Int(i64::from_le_bytes(entry.structure(1)?)),
            kind::BOOL => Value::Bool(entry.structure::<1>(1)? != [0]),
            kind::FLOAT => Value::Float(f64::from_le_bytes(entry.structure(1)?)),
            kind::COMPLEX => {
                let [real, imaginary] = pair(entry.structure::<16>(1)?);
                Complex::new(f64::from_le_bytes(real), f64::from_le_bytes(imaginary)).into()
            }
            _ => {
                let table = entry.table(1)?.ok_or_else(|| err!(Io, "it is empty"))?;
                self.compound(form, table)?
            }
        })
    }

    fn compound(&mut self, form: u8, table: Table<'_>) -> Result<Value> {
        Ok(match form {
            kind::TENSOR => self.tensor(table, MAX_TENSOR_DEPTH)?,
            kind::STRING => Value::str(table.bytes(0)?),
            kind::LIST => {
                let Type::List(element) = self.types.parse(table.str(parts::SECOND)?)? else {
                    bail!(Io, "a list of a type that is no list")
                };
                List::from_values((*element).clone(), self.all(table.vector(parts::FIRST, 4)?)?)?.into()
            }
            kind::TUPLE => Tuple::new(self.all(table.vector(parts::FIRST, 4)?)?).into(),
            kind::DICT => {
                let Type::Dict(kinds) = self.types.parse(table.str(parts::THIRD)?)? else {
                    bail!(Io, "a dict of a type that is no dict")
                };
                let keys = self.all(table.vector(parts::FIRST, 4)?)?;
                let values = self.all(table.vector(parts::SECOND, 4)?)?;
                ensure!(keys.len() == values.len(), Io, "a dict with {} keys and {} values", keys.len(), values.len());
                Dict::from_entries(kinds.0.clone(), kinds.1.clone(), keys.into_iter().zip(values))?.into()
            }
            kind::INTS => List::ints(list::collect(table.vector(0, 8)?.arrays()?.map(i64::from_le_bytes))?).into(),
            kind::FLOATS => {
                let values = table.vector(0, 8)?.arrays()?.map(|bytes| Value::Float(f64::from_le_bytes(bytes)));
                List::from_values(Type::Float, values)?.into()
            }
            kind::BOOLS => {
                let values = table.bytes(0)?.iter().map(|byte| Value::Bool(*byte != 0));
                List::from_values(Type::Bool, values)?.into()
            }
            kind::DEVICE => Device::parse(table.str(0)?)?.into(),
            kind::OBJECT => self.object(table)?,
            other => bail!(Io, "values of kind {other} are not supported"),
        })
    }

    /// An object: the number of its class, its state, the values of its attributes.
    fn object(&mut self, table: Table<'_>) -> Result<Value> {
        let number = table.u32(parts::FIRST)? as usize;
        let class = self.classes.get(number).ok_or_else(|| err!(Io, "there is no class {number}"))?;
        let name = &class.layout.class;
        if class.form == form::CUSTOM {
            return custom::restore(name, self.at(table.u32(parts::SECOND)? as usize)?);
        }
        let object = Object::new(self.program.class(name)?);
        match class.form {
            form::ATTRIBUTES => {
                let values = self.all(table.vector(parts::THIRD, 4)?)?;
                for (slot, value) in values.into_iter().enumerate() {
                    object.set_slot(slot, value)?;
                }
            }
            form::STATE => {
                let state = self.at(table.u32(parts::SECOND)? as usize)?;
                list::push(&mut self.states, (object.clone(), state))?;
            }
            other => bail!(Io, "the class {name} has objects of form {other}"),
        }
        Ok(object.into())
    }

    // ---- tensors -------------------------------------------------------------------------------------------

    fn storage(&mut self, number: usize, of_bools: bool) -> Result<Storage> {
        if let Some(known) = self.storages.get(&(number, of_bools)) {
            return Ok(known.clone());
        }
        let table = self.root.vector(module::STORAGES, 4)?.table(number)?;
        let bytes = table.bytes(0)?;
        let storage = filled_storage(bytes.len(), |into| {
            into.copy_from_slice(bytes);
            if of_bools {
                normalise_bools(into);
            }
            Ok(())
        })?;
        self.storages.insert((number, of_bools), storage.clone());
        Ok(storage)
    }

    fn tensor(&mut self, table: Table<'_>, depth: usize) -> Result<Value> {
        let depth = depth.checked_sub(1).ok_or_else(|| err!(Io, "tensors are nested too deeply"))?;
        let dtype = DType::from_code(table.i8(tensor::DTYPE)?.into())?;
        let number = table.u32(tensor::STORAGE)? as usize;
        let quantizer = table.table(tensor::QUANTIZER)?;
        let offset = table.i32(tensor::OFFSET)?;
        let offset = usize::try_from(offset).map_err(|_| err!(Io, "a tensor has the offset {offset}"))?;
        let ints = |field| -> Result<DimVec> {
            Ok(table.vector(field, 4)?.arrays()?.map(|bytes| i64::from(i32::from_le_bytes(bytes))).collect())
        };
        let entry = Entry {
            name: format!("of storage {number}"),
            dtype: dtype.to_integer(),
            sizes: ints(tensor::SIZES)?,
            strides: ints(tensor::STRIDES)?,
            offset,
            storage: self.storage(number, dtype == DType::Bool)?,
            requires_grad: table.u8(tensor::REQUIRES_GRAD)? != 0 && quantizer.is_none(),
            conjugate: false,
            negative: false,
            sparse: None,
        };
        let value: Value = entry.into_tensor()?.into();
        let Some(quantizer) = quantizer else { return Ok(value) };
        match quantizer.u8(quantizer::SCHEME)? {
            0 => {
                let scale = Value::Float(quantizer.f64(quantizer::SCALE)?);
                let zero_point = Value::Int(quantizer.i32(quantizer::ZERO_POINT)?.into());
                call("_make_per_tensor_quantized_tensor", "", &[value, scale, zero_point])
            }
            1 | 4 => {
                let part = |field| quantizer.table(field)?.ok_or_else(|| err!(Io, "a quantizer has no scales"));
                let (scales, zero_points) = (part(quantizer::SCALES)?, part(quantizer::ZERO_POINTS)?);
                let (scales, zero_points) = (self.tensor(scales, depth)?, self.tensor(zero_points, depth)?);
                let axis = Value::Int(quantizer.i32(quantizer::AXIS)?.into());
                call("_make_per_channel_quantized_tensor", "", &[value, scales, zero_points, axis])
            }
            other => bail!(Io, "tensors of quantization scheme {other} are not supported"),
        }
    }
}

fn pair(bytes: [u8; 16]) -> [[u8; 8]; 2] {
    let [a, b, c, d, e, f, g, h, rest @ ..] = bytes;
    [[a, b, c, d, e, f, g, h], rest]
}
