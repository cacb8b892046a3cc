//! Random arguments for a signature: mostly of the right kind and often of compatible shapes, so that calls pass the
//! initial checks; sometimes of a wrong kind, or extreme.

use crate::door::{Door, Tensor, Value, tag};
use crate::host::{HostTensor, bytes_of};
use crate::splitmix::SplitMix;
use rushlight_base::{Complex, DType, Device, Scalar};
use rushlight_schema::{Argument, BaseType, Signature, Type};
use std::ffi::CString;

/// The random numbers of one call: the same seed gives the same arguments.
pub struct Sampler<'a> {
    door: &'a Door,
    random: SplitMix,
    shape: Vec<i64>,
    dtype: DType,
    /// The arguments so far: one may be used twice.
    tensors: Vec<Tensor>,
}

/// The arguments of a random call.
pub struct Call {
    /// By position.
    pub args: Vec<Value>,
    /// By name.
    pub kwargs: Vec<(String, Value)>,
    /// The tensors among them that gradients can reach.
    pub leaves: Vec<Tensor>,
}

const EXTREME_INTS: [i64; 10] =
    [i64::MAX, i64::MIN, i64::MAX - 1, 1 << 31, -(1 << 31), 1 << 40, 1 << 62, 100_000, -1000, 1 << 16];

const FLOATS: [f64; 14] =
    [0.0, 1.0, -1.0, 0.5, 2.0, -0.0, 1e-5, 0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -3.5, 1e-310];

/// Strings that some operator accepts, and some that none does.
const TEXTS: [&str; 30] = [
    "",
    "mean",
    "sum",
    "prod",
    "amax",
    "amin",
    "multiply",
    "add",
    "floor",
    "trunc",
    "none",
    "tanh",
    "ij",
    "xy",
    "left",
    "right",
    "constant",
    "reflect",
    "replicate",
    "circular",
    "ij,jk->ik",
    "ii",
    "i,i->",
    "...i->...",
    "a->b->c",
    "fro",
    "nuc",
    "linear",
    "nearest",
    "\u{e9}\u{4e16}",
];

impl<'a> Sampler<'a> {
    /// The numbers of call `index` under `seed`.
    pub fn new(door: &'a Door, seed: u64, index: u64) -> Sampler<'a> {
        let random = SplitMix::new(seed ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut sampler = Sampler { door, random, shape: Vec::new(), dtype: DType::F32, tensors: Vec::new() };
        sampler.shape = sampler.any_shape();
        sampler.dtype = if sampler.chance(60) { sampler.of(&[DType::F32, DType::F64]) } else { sampler.any_dtype() };
        sampler
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        self.random.below(count)
    }

    /// True in `percent` of the cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Arguments for a call of `signature`.
    pub fn call(&mut self, signature: &Signature) -> Result<Call, String> {
        let mut call = Call { args: Vec::new(), kwargs: Vec::new(), leaves: Vec::new() };
        let mut by_position = true;
        for argument in signature.arguments.iter() {
            let may_lack = argument.default.is_some() || argument.ty.optional;
            let lacks = self.chance(if may_lack { 50 } else { 1 });
            by_position &= !argument.kwarg_only && !lacks;
            if lacks {
                continue;
            }
            let value = self.argument(argument)?;
            if by_position {
                call.args.push(value);
            } else {
                call.kwargs.push((argument.name.to_string(), value));
            }
        }
        if self.chance(1) {
            let extra = self.any_value()?;
            call.kwargs.push(("no_such_argument".to_owned(), extra));
        }
        for tensor in &self.tensors {
            if self.door.requires_grad(tensor)? {
                call.leaves.push(tensor.clone());
            }
        }
        Ok(call)
    }

    fn argument(&mut self, argument: &Argument) -> Result<Value, String> {
        if self.chance(4) {
            return self.any_value();
        }
        if argument.ty.optional && self.chance(30) {
            return Ok(Value::None);
        }
        self.value(&argument.ty, &argument.name)
    }

    fn value(&mut self, ty: &Type, name: &str) -> Result<Value, String> {
        if let Some(list) = ty.list {
            let length = match list.size {
                Some(size) if self.chance(70) => size,
                _ if name.contains("size") && self.chance(50) => self.shape.len(),
                _ => self.below(5),
            };
            return self.list(ty.base, length, list.optional_elements);
        }
        Ok(match ty.base {
            BaseType::Tensor => {
                let indices = ["index", "indices", "target", "offsets"].contains(&name) && self.chance(80);
                Value::Tensor(self.tensor(indices.then_some(DType::I64))?)
            }
            BaseType::Scalar => Value::Scalar(self.scalar()),
            BaseType::Int => Value::Scalar(Scalar::Int(self.int())),
            BaseType::Float => Value::Scalar(Scalar::Float(self.of(&FLOATS))),
            BaseType::Bool => Value::Scalar(Scalar::Bool(self.chance(50))),
            BaseType::Str => self.text()?,
            BaseType::ScalarType => Value::Code(tag::DTYPE, self.any_dtype() as i64),
            BaseType::Layout => Value::Code(tag::LAYOUT, 0),
            BaseType::MemoryFormat => Value::Code(tag::MEMORY_FORMAT, self.below(4) as i64),
            BaseType::Device => Value::Device(if self.chance(80) { Device::CPU } else { Device::META }),
            _ => Value::None,
        })
    }

    /// A value of any kind, and numbers with invalid tags.
    fn any_value(&mut self) -> Result<Value, String> {
        Ok(match self.below(12) {
            0 => Value::None,
            1 => Value::Tensor(self.tensor(None)?),
            2 => Value::Scalar(self.scalar()),
            3 => self.text()?,
            4 => {
                let length = self.below(4);
                self.list(BaseType::Tensor, length, true)?
            }
            5 => {
                let length = self.below(6);
                self.list(BaseType::Int, length, false)?
            }
            6 => Value::Code(self.of(&[tag::DTYPE, tag::LAYOUT, tag::MEMORY_FORMAT]), self.int()),
            7 => Value::Device(Device::META),
            8 => Value::Code(self.of(&[99, -1, i32::MAX]), self.int()),
            9 => Value::Floats(vec![self.of(&FLOATS); self.below(4)]),
            10 => Value::Bools(vec![1; self.below(4)]),
            _ => Value::Scalar(Scalar::Int(self.int())),
        })
    }

    fn list(&mut self, base: BaseType, length: usize, gaps: bool) -> Result<Value, String> {
        Ok(match base {
            BaseType::Tensor => Value::Tensors(
                (0..length)
                    .map(|_| Ok(if gaps && self.chance(30) { None } else { Some(self.tensor(None)?) }))
                    .collect::<Result<_, String>>()?,
            ),
            BaseType::Float | BaseType::Scalar => Value::Floats((0..length).map(|_| self.of(&FLOATS)).collect()),
            BaseType::Bool => Value::Bools((0..length).map(|_| self.below(2) as i32).collect()),
            _ => Value::Ints((0..length).map(|_| self.int()).collect()),
        })
    }

    fn text(&mut self) -> Result<Value, String> {
        CString::new(self.of(&TEXTS)).map(Value::Str).map_err(|error| error.to_string())
    }

    fn int(&mut self) -> i64 {
        if self.chance(4) { self.of(&EXTREME_INTS) } else { self.below(8) as i64 - 3 }
    }

    fn scalar(&mut self) -> Scalar {
        match self.below(5) {
            0 | 1 => Scalar::Int(self.int()),
            2 | 3 => Scalar::Float(self.of(&FLOATS)),
            _ if self.chance(50) => Scalar::Bool(self.chance(50)),
            _ => Scalar::Complex(Complex::new(self.of(&FLOATS), self.of(&FLOATS))),
        }
    }

    fn any_dtype(&mut self) -> DType {
        let all: Vec<DType> = DType::all().collect();
        self.of(&all)
    }

    fn any_shape(&mut self) -> Vec<i64> {
        let ndim = self.of(&[0, 1, 1, 2, 2, 2, 3, 3, 4, 5]);
        (0..ndim).map(|_| self.of(&[1, 2, 2, 3, 3, 4, 0, 5])).collect()
    }

    /// The shape of the call, one that broadcasts with it, or another.
    fn a_shape(&mut self) -> Vec<i64> {
        let mut shape = self.shape.clone();
        match self.below(10) {
            0..=5 => {}
            6 => {
                for extent in &mut shape {
                    if self.chance(50) {
                        *extent = 1;
                    }
                }
            }
            7 => {
                shape.drain(..self.below(self.shape.len() + 1));
            }
            8 => shape.reverse(),
            _ => shape = self.any_shape(),
        }
        shape
    }

    fn tensor(&mut self, dtype: Option<DType>) -> Result<Tensor, String> {
        if !self.tensors.is_empty() && self.chance(10) {
            let at = self.below(self.tensors.len());
            return Ok(self.tensors[at].clone());
        }
        let (shape, own) = (self.a_shape(), self.chance(75));
        let dtype = dtype.unwrap_or(if own { self.dtype } else { self.any_dtype() });
        let count = shape.iter().product::<i64>() as usize;
        let wild = self.chance(10);
        let bytes = (0..count).flat_map(|_| bytes_of(dtype, self.element(dtype, wild))).collect();
        let strides = self.strides(&shape);
        let mut tensor = self.door.tensor(&HostTensor { dtype, shape, strides, bytes: Some(bytes) })?;
        if self.chance(3) {
            tensor = self.door.on_meta(&tensor)?;
        }
        if dtype.is_differentiable() && self.chance(25) {
            self.door.require_grad(&tensor)?;
            // In-place calls need a non-leaf tensor, or they end at the first check.
            if self.chance(30) {
                let copy = self.door.copy(&tensor)?;
                self.tensors.push(tensor);
                tensor = copy;
            }
        }
        self.tensors.push(tensor.clone());
        Ok(tensor)
    }

    fn element(&mut self, dtype: DType, wild: bool) -> f64 {
        if wild {
            return self.of(&FLOATS) * 1e3;
        }
        if dtype.is_differentiable() { self.below(2000) as f64 / 500.0 - 2.0 } else { self.below(5) as f64 - 1.0 }
    }

    fn strides(&mut self, shape: &[i64]) -> Option<Vec<i64>> {
        let gap = match self.below(10) {
            0..=5 => return None,
            6 | 7 => 2,
            _ => 1,
        };
        // The dimensions in another order in memory, some of them expanded.
        let mut order: Vec<usize> = (0..shape.len()).collect();
        if self.chance(50) {
            order.reverse();
        }
        let mut strides = vec![0; shape.len()];
        let mut step = gap;
        for dim in order {
            if !self.chance(10) {
                strides[dim] = step;
                step *= shape[dim].max(1);
            }
        }
        Some(strides)
    }
}
