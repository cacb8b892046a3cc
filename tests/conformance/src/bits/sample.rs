//! Arguments of an element-wise operator, from its signature: tensors of a dtype in a layout, and scalars.

use super::numbers::{Range, elements, patterns};
use crate::cases::Item;
use crate::host::HostTensor;
use crate::splitmix::SplitMix;
use rushlight_base::{Complex, DType, Scalar};
use rushlight_schema::{Argument, BaseType, Signature};

/// How the tensors of a call are stored, and how their shapes and dtypes differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Contiguous, with one dimension.
    Contiguous,
    /// Matrices with other strides than a contiguous one.
    Strided,
    /// A matrix, and operands that are broadcast to it.
    Broadcast,
    /// Operands without dimensions after the first.
    ZeroDim,
    /// Operands of other dtypes after the first.
    Promoted,
    /// Every value of a dtype of 16 bits.
    Patterns,
}

impl Layout {
    /// Those of a signature: operators of one tensor have no others to broadcast.
    pub fn of(signature: &Signature) -> &'static [Layout] {
        const ALL: [Layout; 6] = [
            Layout::Contiguous,
            Layout::Strided,
            Layout::Patterns,
            Layout::Broadcast,
            Layout::ZeroDim,
            Layout::Promoted,
        ];
        let is_order =
            signature.arguments.iter().any(|argument| argument.ty.base == BaseType::Tensor && argument.name == "n");
        match tensors(signature) {
            // The largest values of a dtype are no orders.
            1 if is_order => &ALL[..2],
            1 => &ALL[..3],
            _ => &[ALL[0], ALL[1], ALL[3], ALL[4], ALL[5]],
        }
    }
}

/// The number of arguments that are tensors.
fn tensors(signature: &Signature) -> usize {
    signature.arguments.iter().filter(|argument| argument.ty.base == BaseType::Tensor).count()
}

/// What distinguishes a call from the others of its operator.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The dtype of the first tensor.
    pub dtype: DType,
    /// How the tensors are stored.
    pub layout: Layout,
    /// Counts the calls that are alike: their numbers differ.
    pub round: u64,
}

/// The arguments of a call by name.
pub struct Sampler {
    random: SplitMix,
    kind: Kind,
    /// Number of elements of the largest tensor, about.
    count: usize,
    /// Tensors so far.
    tensors: usize,
    /// Whether gradients of results have half as many columns as the inputs: those of gated linear units.
    is_gated: bool,
}

impl Sampler {
    /// The same seed, name and kind have the same arguments.
    pub fn new(seed: u64, name: &str, kind: Kind, count: usize) -> Sampler {
        let parts = [kind.dtype as u64, kind.layout as u64, kind.round];
        let letters = name.bytes().map(u64::from).chain(parts);
        let seed = letters.fold(seed, |hash, part| SplitMix::new(hash ^ part).bits());
        Sampler { random: SplitMix::new(seed), kind, count, tensors: 0, is_gated: false }
    }

    /// Values for the arguments of a signature. Some of those that have a default keep it.
    pub fn arguments(&mut self, signature: &Signature) -> Vec<(String, Item)> {
        let mut items = Vec::new();
        self.is_gated = signature.arguments.iter().any(|argument| argument.name == "dim");
        for argument in signature.arguments.iter() {
            let may_lack = argument.default.is_some() || argument.ty.optional;
            if may_lack && self.random.below(4) == 0 {
                continue;
            }
            if let Some(item) = self.argument(argument) {
                items.push((argument.name.to_string(), item));
            }
        }
        items
    }

    fn argument(&mut self, argument: &Argument) -> Option<Item> {
        let range = self.range(&argument.name);
        Some(match (argument.ty.base, &*argument.name) {
            (BaseType::Tensor, name) => Item::Tensor(self.tensor(name, range)),
            (BaseType::Scalar, _) => Item::Scalar(self.scalar(range)),
            (BaseType::Float, _) => Item::Scalar(Scalar::Float(self.random.of(&[0.0, 0.25, 1e-3, 1e-6, 0.7]))),
            (BaseType::Bool, _) => Item::Scalar(Scalar::Bool(self.random.below(2) == 0)),
            (BaseType::Int, "dim") => Item::Scalar(Scalar::Int(-1)),
            (BaseType::Int, _) => Item::Scalar(Scalar::Int(self.random.below(5) as i64)),
            (BaseType::Str, "approximate") => Item::Str(self.random.of(&["none", "tanh"]).into()),
            (BaseType::Str, _) => Item::Str(self.random.of(&["trunc", "floor"]).into()),
            (BaseType::ScalarType, _) => Item::DType(self.any_dtype()),
            (BaseType::Device, _) if argument.default.is_none() && !argument.ty.optional => Item::Device("cpu".into()),
            // Layouts, memory formats, devices and generators have defaults.
            _ => return None,
        })
    }

    /// The numbers that an argument takes: half of the calls divide integers by 0.
    fn range(&self, name: &str) -> Range {
        match name {
            "n" => Range::Order,
            _ if self.kind.round.is_multiple_of(2) => Range::Nonzero,
            _ => Range::All,
        }
    }

    fn tensor(&mut self, name: &str, range: Range) -> HostTensor {
        let position = self.tensors;
        self.tensors += 1;
        let layout = self.kind.layout;
        let dtype = match name {
            "condition" | "mask" => DType::Bool,
            _ if position > 0 && layout == Layout::Promoted => self.any_dtype(),
            _ => self.kind.dtype,
        };
        if layout == Layout::Patterns {
            return HostTensor { dtype, shape: vec![1 << 16], strides: None, bytes: Some(patterns()) };
        }
        let (mut shape, strides) = self.shape(position);
        if self.is_gated
            && name == "grad_output"
            && let Some(columns) = shape.last_mut()
        {
            *columns /= 2;
        }
        let count = shape.iter().product::<i64>() as usize;
        HostTensor { dtype, shape, strides, bytes: Some(elements(&mut self.random, dtype, range, count)) }
    }

    /// Sizes of the tensor at a position, and its strides if it is not contiguous. Rows have an even number of elements.
    fn shape(&mut self, position: usize) -> (Vec<i64>, Option<Vec<i64>>) {
        // No multiple of a vector's lanes, so that loops have a rest.
        let count = self.count.next_multiple_of(8) as i64 + 2;
        let (rows, columns) = (6, (count / 12).max(1) * 2);
        match (self.kind.layout, position) {
            (Layout::Strided, 0) => (vec![rows, columns], Some(vec![1, rows])),
            (Layout::Strided, 1) => (vec![rows, columns], Some(vec![3 * columns, 3])),
            (Layout::Strided, _) => (vec![rows, columns], None),
            (Layout::Broadcast, 0) => (vec![rows, columns], None),
            (Layout::Broadcast, 1) if self.kind.round.is_multiple_of(2) => (vec![columns], None),
            (Layout::Broadcast, _) => (vec![rows, 1], None),
            (Layout::ZeroDim, position) if position > 0 => (Vec::new(), None),
            _ => (vec![count], None),
        }
    }

    fn any_dtype(&mut self) -> DType {
        let all: Vec<DType> = DType::all().collect();
        self.random.of(&all)
    }

    /// A scalar of the kind of the dtype, or an integer or a real number.
    fn scalar(&mut self, range: Range) -> Scalar {
        if range == Range::Order {
            return Scalar::Int(self.random.below(20) as i64 - 1);
        }
        const INTEGERS: [i64; 12] = [1, 2, 3, -1, -2, 5, 7, 16, 100, -100, 1 << 20, 0];
        const REALS: [f64; 16] =
            [1.0, 0.5, 2.0, 3.0, -1.0, 0.1, -0.0, 1e-3, 2.5, -2.5, 20.0, 1e10, 1e-30, f64::INFINITY, f64::NAN, 0.0];
        let integers = if range == Range::Nonzero { &INTEGERS[..11] } else { &INTEGERS[..] };
        let dtype = self.kind.dtype;
        if dtype == DType::Bool && self.random.below(2) == 0 {
            return Scalar::Bool(self.random.below(2) == 0);
        }
        if dtype.is_complex() && self.random.below(2) == 0 {
            return Scalar::Complex(Complex::new(self.random.of(&REALS), self.random.of(&REALS)));
        }
        let is_integer = self.random.below(4) != 0;
        if is_integer != dtype.is_differentiable() {
            Scalar::Int(self.random.of(integers))
        } else if self.random.below(4) == 0 {
            Scalar::Float((self.random.unit() - 0.5) * 20.0)
        } else {
            Scalar::Float(self.random.of(&REALS))
        }
    }
}
