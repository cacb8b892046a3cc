//! Layers with constant weights: their weights are packed once, and what follows is computed while their output is in the
//! cache.
//!
//! | call | becomes | with what follows |
//! |---|---|---|
//! | `convolution` | [`Convolution`] | an addition of a tensor of the same shape, an activation |
//! | `addmm`, `mm` with a constant matrix | [`Product`] | the same, also of a view with more dimensions |
//!
//! A product keeps its matrix in the dtype that was asked for. Convolutions, matrices that are no right operand or do not
//! fit, and layers that have no prepared form keep their weights in `float32`.
//!
//! A following call is moved to the layer before it, so the other operand of an addition has to exist there. Of two
//! convolutions whose results are added, the later one takes the addition.

use super::lower::{Lowered, Prepared, Steps, tensor_at};
use super::record::{Argument, Place, Slot, Source, Store};
use rushlight_base::{DType, Result, Scalar};
use rushlight_tensor::dispatch::{Op, Value};
use rushlight_tensor::ops::prepared::{Activation, Convolution, Matrix, Product, Weights};
use rushlight_tensor::{Geometry, Tensor};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows from which on a product with a packed matrix of `float32` is faster: fewer rows read the matrix where it is.
const ROWS: i64 = 32;

/// Rows and columns from which on a matrix takes less memory in less precision.
const LEAST: [i64; 2] = [16, 32];

/// Operators with weights.
const LAYERS: [&str; 8] = ["addmm", "mm", "convolution", "bmm", "baddbmm", "addbmm", "mv", "addmv"];

/// The packed weights of a function, which all of its plans share.
pub(super) struct Packing {
    /// The dtype of the matrices of products, where they can have it: `F32`, `BF16` or `I8`.
    dtype: DType,
    weights: Mutex<Vec<(Key, Arc<Weights>)>>,
    matrices: Mutex<Vec<(Key, Arc<Matrix>)>>,
}

impl Packing {
    pub fn new(dtype: DType) -> Packing {
        Packing { dtype, weights: Mutex::default(), matrices: Mutex::default() }
    }

    /// A matrix of `float32`, packed for products with so many rows: in the dtype of the weights, if it fits. `None`: the
    /// product should read it where it is. Only a matrix that `is_lasting` is known by its address later.
    fn matrix(&self, matrix: &Tensor, rows: i64, is_lasting: bool) -> Result<Option<Arc<Matrix>>> {
        let key = is_lasting.then(|| Key::new(matrix, None, 1)).transpose()?;
        let mut matrices = self.matrices.lock().unwrap_or_else(PoisonError::into_inner);
        let is_useful = |matrix: &Arc<Matrix>| rows >= ROWS || matrix.dtype() != DType::F32;
        if let Some((_, known)) = matrices.iter().find(|(other, _)| Some(other) == key.as_ref()) {
            return Ok(Some(known.clone()).filter(is_useful));
        }
        let fits = matrix.sizes().iter().zip(LEAST).all(|(&size, least)| size >= least);
        let rounded = match self.dtype {
            DType::F32 => None,
            dtype if fits => Matrix::rounded(matrix, dtype)?,
            _ => None,
        };
        let packed = match rounded {
            Some(rounded) => Arc::new(rounded),
            None if rows < ROWS => return Ok(None),
            None => Arc::new(Matrix::new(matrix)?),
        };
        matrices.extend(key.map(|key| (key, packed.clone())));
        Ok(Some(packed))
    }
}

/// A tensor by its memory, which lives as long as what is packed, with a bias and a number of groups.
#[derive(Clone, PartialEq)]
struct Key {
    at: usize,
    geometry: Geometry,
    dtype: DType,
    bias: Option<usize>,
    groups: i64,
}

impl Key {
    fn new(weight: &Tensor, bias: Option<&Tensor>, groups: i64) -> Result<Key> {
        let dense = weight.dense()?;
        let (at, geometry, dtype) = (dense.ptr().addr(), dense.geometry.clone(), dense.dtype);
        let bias = bias.map(|bias| bias.dense().map(|dense| dense.ptr().addr())).transpose()?;
        Ok(Key { at, geometry, dtype, bias, groups })
    }
}

/// What is packed for a key.
fn packed<T>(known: &Mutex<Vec<(Key, Arc<T>)>>, key: Key, pack: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, packed)) = known.iter().find(|(other, _)| *other == key) {
        return Ok(packed.clone());
    }
    let packed = Arc::new(pack()?);
    known.push((key, packed.clone()));
    Ok(packed)
}

/// Replaces layers, and moves what follows into them. `outputs` are the slots of the result.
pub(super) fn fuse(steps: &mut Steps, outputs: &mut [Slot], packing: &Packing) -> Result<()> {
    let calls = std::mem::take(&mut steps.calls);
    let mut fusing = Fusing { calls: calls.into_iter().map(Some).collect(), steps, outputs };
    for index in 0..fusing.calls.len() {
        fusing.prepare(index, packing)?;
    }
    for index in 0..fusing.calls.len() {
        while fusing.absorb(index) {}
    }
    let calls = fusing.calls.into_iter().flatten().collect();
    steps.calls = calls;
    Ok(())
}

struct Fusing<'a> {
    /// None: it is part of another one.
    calls: Vec<Option<Lowered>>,
    steps: &'a mut Steps,
    outputs: &'a mut [Slot],
}

/// The name of a built-in operator, and of its overload.
pub(super) fn name_of(op: &Op) -> Option<(&'static str, &'static str)> {
    match op {
        Op::BuiltIn(row) => Some((row.name(), row.overload())),
        Op::Runtime(_) => None,
    }
}

fn number(argument: Option<&Argument>) -> Option<Scalar> {
    match argument {
        Some(Argument::Value(Value::Scalar(scalar))) => Some(*scalar),
        _ => None,
    }
}

fn is_one(argument: Option<&Argument>) -> bool {
    number(argument).is_some_and(|scalar| {
        matches!(scalar, Scalar::Int(1)) || matches!(scalar, Scalar::Float(value) if value == 1.0)
    })
}

impl Fusing<'_> {
    fn place(&self, slot: Slot) -> &Place {
        &self.steps.places[slot]
    }

    fn store(&self, slot: Slot) -> Store {
        self.steps.places[slot].store
    }

    // ---- layers ---------------------------------------------------------------------------------------------

    fn prepare(&mut self, index: usize, packing: &Packing) -> Result<()> {
        let Some(call) = &self.calls[index] else { return Ok(()) };
        let prepared = match (name_of(&call.op), &call.fresh[..]) {
            (Some(("convolution", "")), [Some(_)]) => self.convolution(&call.arguments, packing)?,
            (Some(("addmm", "")), [Some(_)]) => self.addmm(&call.arguments, packing)?,
            (Some(("mm", "")), [Some(_)]) => self.mm(&call.arguments, packing)?,
            _ => None,
        };
        if let (Some((prepared, input)), Some(call)) = (prepared, &mut self.calls[index]) {
            call.arguments = vec![Argument::Slot(input)];
            call.weights = Some(prepared.weights_dtype());
            call.prepared = Some(prepared);
        } else {
            let dtype = self.calls[index].as_ref().and_then(|call| self.weights_dtype(call));
            self.calls[index].iter_mut().for_each(|call| call.weights = dtype);
        }
        Ok(())
    }

    /// The dtype of the constant matrix that a layer reads in place.
    fn weights_dtype(&self, call: &Lowered) -> Option<DType> {
        let (name, _) = name_of(&call.op).filter(|(name, _)| LAYERS.contains(name))?;
        // The first argument of the others is added.
        let skipped = usize::from(matches!(name, "addmm" | "baddbmm" | "addbmm" | "addmv"));
        let constants = call.arguments.iter().skip(skipped).filter_map(|argument| self.constant(Some(argument)));
        constants.filter(|tensor| tensor.ndim() >= 2).map(|tensor| tensor.dtype()).find(|dtype| dtype.is_floating())
    }

    /// The constant that an argument is.
    fn constant(&self, argument: Option<&Argument>) -> Option<Tensor> {
        let Some(Argument::Slot(slot)) = argument else { return None };
        let place = self.place(*slot);
        match &self.steps.stores[place.store].source {
            Source::Constant(storage) => Some(tensor_at(place, storage.clone(), 0)),
            _ => None,
        }
    }

    fn convolution(&self, arguments: &[Argument], packing: &Packing) -> Result<Option<(Prepared, Slot)>> {
        let [Argument::Slot(input), weight, bias, rest @ ..] = arguments else { return Ok(None) };
        let [stride, padding, dilation, transposed, _, groups] = rest else { return Ok(None) };
        let is_direct = matches!(number(Some(transposed)), Some(Scalar::Bool(false)));
        let (Some(weight), true) = (self.constant(Some(weight)), is_direct) else { return Ok(None) };
        let bias = match bias {
            Argument::Value(Value::None) => None,
            bias => match self.constant(Some(bias)) {
                Some(bias) => Some(bias),
                None => return Ok(None),
            },
        };
        let ints = |argument: &Argument| match argument {
            Argument::Value(Value::Ints(ints)) => Some(ints.to_vec()),
            _ => None,
        };
        let (Some(stride), Some(padding), Some(dilation), Some(Scalar::Int(groups))) =
            (ints(stride), ints(padding), ints(dilation), number(Some(groups)))
        else {
            return Ok(None);
        };
        let key = Key::new(&weight, bias.as_ref(), groups)?;
        let weights = packed(&packing.weights, key, || Ok(Weights::new(weight, bias)))?;
        let layer = Convolution::new(weights, [&stride, &padding, &dilation], groups);
        Ok(Some((Prepared::Convolution(layer), *input)))
    }

    fn addmm(&self, arguments: &[Argument], packing: &Packing) -> Result<Option<(Prepared, Slot)>> {
        let [bias, Argument::Slot(input), matrix, beta, alpha] = arguments else { return Ok(None) };
        let Some(bias) = self.constant(Some(bias)).filter(|bias| bias.dtype() == DType::F32) else { return Ok(None) };
        if !is_one(Some(beta)) || !is_one(Some(alpha)) {
            return Ok(None);
        }
        self.product(*input, matrix, Some(bias), packing)
    }

    fn mm(&self, arguments: &[Argument], packing: &Packing) -> Result<Option<(Prepared, Slot)>> {
        let [Argument::Slot(input), matrix] = arguments else { return Ok(None) };
        self.product(*input, matrix, None, packing)
    }

    fn product(
        &self,
        input: Slot,
        matrix: &Argument,
        bias: Option<Tensor>,
        packing: &Packing,
    ) -> Result<Option<(Prepared, Slot)>> {
        let rows = self.place(input).geometry.sizes.first().copied().unwrap_or(0);
        let is_lasting = matrix.slots().all(|slot| self.steps.stores[self.store(slot)].is_lasting);
        let Some(matrix) = self.constant(Some(matrix)) else { return Ok(None) };
        let fits = self.place(input).dtype == DType::F32 && matrix.dtype() == DType::F32 && matrix.numel() > 0;
        if !fits {
            return Ok(None);
        }
        let matrix = packing.matrix(&matrix, rows, is_lasting)?;
        Ok(matrix.map(|matrix| (Prepared::Product(Product::new(matrix, bias)), input)))
    }

    // ---- what follows ---------------------------------------------------------------------------------------

    /// Moves the next call that touches the result of a layer into it. Whether it was moved.
    fn absorb(&mut self, index: usize) -> bool {
        let Some(call) = &self.calls[index] else { return false };
        let &[Some(out)] = &call.fresh[..] else { return false };
        if self.place(out).dtype != DType::F32 {
            return false;
        }
        let touching = self.touching(index + 1, self.store(out));
        let Some(&next) = touching.first() else { return false };
        let prepared = self.calls[index].as_mut().and_then(|call| call.prepared.as_mut());
        let is_free = prepared.is_some_and(|layer| *layer.then() == Activation::Identity);
        is_free && (self.absorb_activation(index, next, &touching) || self.absorb_addition(index, next, &touching))
    }

    /// The calls from `first` on that touch a storage.
    fn touching(&self, first: usize, store: Store) -> Vec<usize> {
        let touches = |index: &usize| {
            self.calls[*index].as_ref().is_some_and(|call| call.touched().any(|slot| self.store(slot) == store))
        };
        (first..self.calls.len()).filter(touches).collect()
    }

    fn is_returned(&self, store: Store) -> bool {
        self.outputs.iter().any(|&slot| self.store(slot) == store)
    }

    /// Whether a slot has the elements of the result of a layer: it is the same slot, or, of a product, a view of them in the
    /// same order.
    fn shows(&self, out: Slot, slot: Slot, is_product: bool) -> bool {
        let (own, view) = (self.place(out), self.place(slot));
        let in_order = |place: &Place| place.geometry.is_contiguous() && place.geometry.offset == own.geometry.offset;
        let is_view = own.store == view.store
            && own.dtype == view.dtype
            && own.geometry.numel() == view.geometry.numel()
            && in_order(own)
            && in_order(view);
        slot == out || (is_product && is_view)
    }

    /// Where the result of a call that follows a layer goes: into the memory of the layer's result, which the call reads as
    /// `shown`, or into other memory that takes its place because nothing else reads the result of the layer.
    fn result(&self, shown: Slot, next: usize, touching: &[usize]) -> Option<Slot> {
        let call = self.calls[next].as_ref()?;
        match (&call.written[..], &call.fresh[..]) {
            (&[written], fresh) if written == shown && fresh.iter().all(Option::is_none) => Some(shown),
            (&[], &[Some(result)]) => {
                let (old, new) = (self.place(shown), self.place(result));
                let is_private = touching == [next] && !self.is_returned(old.store);
                (is_private && old.geometry == new.geometry && old.dtype == new.dtype).then_some(result)
            }
            _ => None,
        }
    }

    fn absorb_activation(&mut self, index: usize, next: usize, touching: &[usize]) -> bool {
        let Some((call, follower)) = self.calls[index].as_ref().zip(self.calls[next].as_ref()) else { return false };
        let &[Some(out)] = &call.fresh[..] else { return false };
        let is_product = matches!(call.prepared, Some(Prepared::Product(_)));
        let read: Vec<Slot> = follower.arguments.iter().flat_map(Argument::slots).collect();
        let &[shown] = &read[..] else { return false };
        if follower.prepared.is_some() || !self.shows(out, shown, is_product) {
            return false;
        }
        let (Some(then), Some(result)) = (activation(follower), self.result(shown, next, touching)) else {
            return false;
        };
        let Some(layer) = self.calls[index].as_mut().and_then(|call| call.prepared.as_mut()) else { return false };
        *layer.then() = then;
        self.replace(index, next, result);
        true
    }

    fn absorb_addition(&mut self, index: usize, next: usize, touching: &[usize]) -> bool {
        let Some((call, follower)) = self.calls[index].as_ref().zip(self.calls[next].as_ref()) else { return false };
        let &[Some(out)] = &call.fresh[..] else { return false };
        let is_product = matches!(call.prepared, Some(Prepared::Product(_)));
        let is_addition =
            matches!(name_of(&follower.op), Some(("add" | "add_", "Tensor"))) && is_one(follower.arguments.get(2));
        let [Argument::Slot(a), Argument::Slot(b), ..] = follower.arguments[..] else { return false };
        let (shows_a, shows_b) = (self.shows(out, a, is_product), self.shows(out, b, is_product));
        if call.arguments.len() != 1 || !is_addition || shows_a == shows_b {
            return false;
        }
        let (shown, other) = if shows_a { (a, b) } else { (b, a) };
        let (own, theirs) = (self.place(shown), self.place(other));
        let alike = own.geometry.sizes == theirs.geometry.sizes
            && own.geometry.strides == theirs.geometry.strides
            && theirs.dtype == DType::F32
            && own.store != theirs.store;
        if !alike || !self.is_there(other, index, next) {
            return false;
        }
        let result = match self.result(shown, next, touching) {
            Some(result) => result,
            None if follower.written == [other] && touching == [next] => {
                // other += shown: what reads `other` from there on reads the result of the layer.
                if !self.rename(other, shown, next) {
                    return false;
                }
                shown
            }
            None => return false,
        };
        if let Some(call) = &mut self.calls[index] {
            call.arguments.push(Argument::Slot(other));
        }
        self.replace(index, next, result);
        true
    }

    /// Whether a tensor has its value before call `index`, and keeps it up to call `next`.
    fn is_there(&self, slot: Slot, index: usize, next: usize) -> bool {
        let store = self.store(slot);
        (index..next).all(|at| {
            self.calls[at].as_ref().is_none_or(|call| {
                !call.written.iter().copied().chain(call.made()).any(|slot| self.store(slot) == store)
            })
        })
    }

    /// Reads `new` in place of `old` after call `next`. False if a view of `old` is used there.
    fn rename(&mut self, old: Slot, new: Slot, next: usize) -> bool {
        let store = self.store(old);
        let later = self.touching(next + 1, store);
        let slots = later.iter().filter_map(|&at| self.calls[at].as_ref()).flat_map(Lowered::touched);
        let all: Vec<Slot> =
            slots.chain(self.outputs.iter().copied()).filter(|&slot| self.store(slot) == store).collect();
        if all.iter().any(|&slot| slot != old) || !matches!(self.steps.stores[store].source, Source::Made) {
            return false;
        }
        let swap = |slot: &mut Slot| {
            if *slot == old {
                *slot = new;
            }
        };
        for call in later.iter().filter_map(|&at| self.calls[at].take().map(|call| (at, call))).collect::<Vec<_>>() {
            let (at, mut call) = call;
            call.arguments.iter_mut().for_each(|argument| match argument {
                Argument::Slot(slot) => swap(slot),
                Argument::Slots(slots) => slots.iter_mut().flatten().for_each(swap),
                Argument::Value(_) => {}
            });
            call.written.iter_mut().for_each(swap);
            self.calls[at] = Some(call);
        }
        self.outputs.iter_mut().for_each(swap);
        true
    }

    /// Removes a call that is part of a layer now, whose result goes to `result`.
    fn replace(&mut self, index: usize, next: usize, result: Slot) {
        let Some(follower) = self.calls[next].take() else { return };
        if let Some(call) = &mut self.calls[index] {
            call.fresh = vec![Some(result)];
            let name = name_of(&follower.op).map_or("", |(name, _)| name);
            call.followed_by.push(name.trim_end_matches('_'));
        }
    }
}

/// The activation that a call computes.
fn activation(call: &Lowered) -> Option<Activation> {
    let (name, overload) = name_of(&call.op)?;
    let float = |at: usize| number(call.arguments.get(at)).map(|scalar| scalar.to_f64() as f32);
    let bound = |at: usize, missing: f32| match call.arguments.get(at) {
        None | Some(Argument::Value(Value::None)) => Some(missing),
        argument => number(argument).map(|scalar| scalar.to_f64() as f32).filter(|bound| !bound.is_nan()),
    };
    if !overload.is_empty() {
        return None;
    }
    Some(match name {
        "relu" | "relu_" => Activation::Clamp(0.0, f32::INFINITY),
        "relu6" | "relu6_" => Activation::Clamp(0.0, 6.0),
        "hardtanh" | "hardtanh_" | "clamp" | "clamp_" => {
            Activation::Clamp(bound(1, f32::NEG_INFINITY)?, bound(2, f32::INFINITY)?)
        }
        "clamp_min" | "clamp_min_" => Activation::Clamp(bound(1, f32::NEG_INFINITY)?, f32::INFINITY),
        "leaky_relu" | "leaky_relu_" => Activation::LeakyRelu(float(1)?),
        "sigmoid" | "sigmoid_" => Activation::Sigmoid,
        "silu" | "silu_" => Activation::Silu,
        "hardsigmoid" | "hardsigmoid_" => Activation::HardSigmoid,
        "hardswish" | "hardswish_" => Activation::HardSwish,
        "gelu" | "gelu_" => match call.arguments.get(1) {
            Some(Argument::Value(Value::Str(approximate))) if &**approximate == "tanh" => Activation::GeluTanh,
            None | Some(Argument::Value(Value::Str(_))) => Activation::Gelu,
            _ => return None,
        },
        "tanh" | "tanh_" => Activation::Tanh,
        _ => return None,
    })
}
