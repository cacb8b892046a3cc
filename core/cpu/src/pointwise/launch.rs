//! Loops over memory of a device: the kernel with the name of the function, compiled for the common dtype, is started
//! there.
//!
//! `kernels!` announces the name and the parameters ([`Loop::with_kernel`]); the body of the function then runs on the
//! host up to `Loop::run`, which knows the dtypes that the kernel expects. Operands of other dtypes are converted in
//! buffers of the device, before or after. An input in memory of the host is a number, and becomes a part of the launch.

use super::walk::{Divisor, LANES, RANK, THREADS, Walk, Words, stored};
use super::{Array, Loop};
use crate::convert::caster;
use crate::device::{Grid, Temporary, bytes_of, launch_with};
use rushlight_base::backend::{self, Kernel};
use rushlight_base::report::{Mistake, Watch};
use rushlight_base::{DType, Device, Result, bail, ensure, err};
use std::cell::Cell;

/// Set in `Loop::single`: the operands are in memory of a device, whose index is in the bits from `INDEX` on.
const DEVICE: u32 = 1 << 31;
/// The name of a kernel is announced.
const NAMED: u32 = 1 << 30;
/// The kernel may divide an integer by zero.
const WATCHED: u32 = 1 << 29;
const INDEX: u32 = 16;
/// From this bit on: which operands are in memory of the host.
const HOST: u32 = 8;

/// Elements of a launch are counted in 31 bits.
const MOST: i64 = (1 << 31) - LANES as i64;

/// A call of a function that is a kernel.
pub(crate) struct Call<'c> {
    pub(crate) file: &'static str,
    pub(crate) function: &'static str,
    pub(crate) parameters: &'c [Words],
}

/// The call that is announced on this thread.
#[derive(Clone, Copy)]
struct Announced {
    file: &'static str,
    function: &'static str,
    parameters: [Words; 4],
    count: usize,
}

thread_local! {
    static ANNOUNCED: Cell<Option<Announced>> = const { Cell::new(None) };
}

/// Withdraws an announcement.
struct Withdraw<'s> {
    single: &'s Cell<u32>,
    before: Option<Announced>,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        self.single.set(self.single.get() & !(NAMED | WATCHED));
        ANNOUNCED.set(self.before);
    }
}

/// The bits of `Loop::single` for arrays of which some are on a device: the output must be, and inputs unless they are
/// one number. An output in memory of the host is that of a kernel of the host, which cannot read the device's.
#[cold]
pub(super) fn places<const N: usize>(arrays: &[Array; N]) -> Result<u32> {
    let device = arrays[0].device();
    if let Some(other) = arrays.iter().find(|array| device == Device::CPU && !array.is_on_host()) {
        backend::no_kernel(other.device());
    }
    let mut bits = DEVICE | (device.index as u32 & 0xff) << INDEX;
    for (operand, array) in arrays.iter().enumerate().skip(1) {
        let other = array.device();
        if array.is_on_host() && array.numel() == 1 {
            bits |= 1 << (HOST + operand as u32);
        } else if other != device {
            bail!(
                Runtime,
                "Expected all tensors to be on the same device, but found at least two devices, {device} and {other}!"
            );
        }
    }
    Ok(bits)
}

impl<const N: usize> Loop<'_, N> {
    /// The device of the operands, unless it is the host.
    #[inline]
    pub(crate) fn device(&self) -> Option<Device> {
        let bits = self.single.get();
        if bits & DEVICE == 0 { None } else { Some(Device::cuda((bits >> INDEX) as i8)) }
    }

    /// Whether this is a loop over memory of a device for which no kernel was announced.
    #[inline(always)]
    pub(crate) fn has_no_kernel(&self) -> bool {
        self.single.get() & (DEVICE | NAMED) == DEVICE
    }

    /// Lets the kernel report an integer that it divides by zero.
    pub(crate) fn watch(&self) {
        if self.device().is_some() {
            self.single.set(self.single.get() | WATCHED);
        }
    }

    /// Calls `body`, whose loops start this kernel.
    #[cold]
    #[inline(never)]
    pub(crate) fn with_kernel(&self, call: &Call, body: &dyn Fn(&Self) -> Result<()>) -> Result<()> {
        let mut parameters = [Words([0; 4]); 4];
        let count = call.parameters.len();
        ensure!(count <= parameters.len(), Internal, "{} has {count} parameters", call.function);
        parameters[..count].copy_from_slice(call.parameters);
        let announced = Announced { file: call.file, function: call.function, parameters, count };
        let before = ANNOUNCED.replace(Some(announced));
        self.single.set(self.single.get() | NAMED);
        let _withdraw = Withdraw { single: &self.single, before };
        body(self)
    }
}

/// An operand: its address, its elements, and, where it is one, the number.
#[derive(Clone, Copy)]
struct Operand {
    at: u64,
    dtype: DType,
    constant: Option<[u64; 2]>,
}

/// Operands and dimensions, whose steps are in bytes; innermost dimension first.
struct Traversal<const N: usize> {
    operands: [Operand; N],
    dimensions: Vec<(i64, [i64; N])>,
}

/// Starts the announced kernel for a loop that computes in `common`, with operands of the dtypes `compute` after half
/// precision was widened.
#[cold]
#[inline(never)]
pub(super) fn run<const N: usize>(walk: &Loop<N>, common: DType, compute: [DType; N], light: bool) -> Result<()> {
    let device = walk.device().ok_or_else(|| err!(Internal, "a loop of the host has no device"))?;
    let announced = if walk.single.get() & NAMED == 0 { None } else { ANNOUNCED.get() };
    let Some(call) = announced else { backend::no_kernel(device) };
    let wanted: [DType; N] = std::array::from_fn(|operand| stored(compute[operand], common));
    let mut traversal = traversal(walk, wanted)?;
    if walk.count() == 0 {
        return Ok(());
    }
    let mut held = Vec::new();
    for (operand, &dtype) in wanted.iter().enumerate().skip(1) {
        let Operand { dtype: from, constant, .. } = traversal.operands[operand];
        let crosses = wanted[0] == walk.dtypes[0] && traversal.crosses_output(operand);
        if constant.is_none() && (from != dtype || crosses) {
            held.push(traversal.bring(operand, dtype, device)?);
        }
    }
    let kernel = Kernel { file: call.file, function: call.function, dtype: common };
    let is_watched = walk.single.get() & WATCHED != 0;
    let watch = if is_watched { Some(backend::watch(device, Mistake::Division, [0; 2])?) } else { None };
    let target = Target { device, kernel, light, parameters: &call.parameters[..call.count], watch };
    if wanted[0] == walk.dtypes[0] {
        return traversal.start(&target);
    }
    let (out, steps) = (traversal.operands[0], traversal.steps_of(0));
    let buffer = Temporary::new(device, walk.count() * wanted[0].size())?;
    traversal.move_to(0, buffer.at(), wanted[0]);
    traversal.start(&target)?;
    let dimensions = traversal.dimensions.iter().zip(steps);
    let back = Traversal {
        operands: [out, traversal.operands[0]],
        dimensions: dimensions.map(|(&(size, from), to)| (size, [to, from[0]])).collect(),
    };
    back.start(&Target::copy(device, wanted[0], out.dtype))
}

/// `out = a`, converted.
#[cold]
#[inline(never)]
pub(super) fn copy(walk: &Loop<2>) -> Result<()> {
    let device = walk.device().ok_or_else(|| err!(Internal, "a loop of the host has no device"))?;
    let [to, from] = walk.dtypes;
    let mut traversal = traversal(walk, [to, from])?;
    if walk.count() == 0 {
        return Ok(());
    }
    // A number is converted here.
    if let Some(number) = traversal.operands[1].constant {
        traversal.operands[1] =
            Operand { constant: Some(number_in(number, from, to)?), dtype: to, ..traversal.operands[1] };
    }
    let _held = if traversal.operands[1].constant.is_none() && traversal.crosses_output(1) {
        Some(traversal.bring(1, from, device)?)
    } else {
        None
    };
    traversal.start(&Target::copy(device, traversal.operands[1].dtype, to))
}

/// The kernel that copies elements from one dtype to another.
fn copy_kernel(from: DType, to: DType) -> Kernel {
    let function = match to {
        _ if from == to => "bits",
        DType::U8 => "to_uint8",
        DType::I8 => "to_int8",
        DType::I16 => "to_int16",
        DType::I32 => "to_int32",
        DType::I64 => "to_int64",
        DType::U16 => "to_uint16",
        DType::U32 => "to_uint32",
        DType::U64 => "to_uint64",
        DType::F16 => "to_float16",
        DType::BF16 => "to_bfloat16",
        DType::F32 => "to_float32",
        DType::F64 => "to_float64",
        DType::C32 => "to_complex32",
        DType::C64 => "to_complex64",
        DType::C128 => "to_complex128",
        _ => "to_bool",
    };
    let same_bits = match from.size() {
        1 => DType::U8,
        2 => DType::U16,
        4 if !from.is_complex() => DType::U32,
        8 if !from.is_complex() => DType::U64,
        4 => DType::C32,
        8 => DType::C64,
        _ => DType::C128,
    };
    Kernel { file: "convert", function, dtype: if from == to { same_bits } else { from } }
}

/// An element in another dtype.
fn number_in(number: [u64; 2], from: DType, to: DType) -> Result<[u64; 2]> {
    if from == to {
        return Ok(number);
    }
    let mut converted = [0u64; 2];
    // SAFETY: both buffers hold an element of any dtype.
    unsafe { caster(from, to)?((&raw const number).cast(), (&raw mut converted).cast(), 1) };
    Ok(converted)
}

/// What a loop traverses; numbers in memory of the host are read, and converted to `wanted`.
fn traversal<const N: usize>(walk: &Loop<N>, wanted: [DType; N]) -> Result<Traversal<N>> {
    let mut operands = std::array::from_fn(|operand| Operand {
        at: walk.at[operand] as u64,
        dtype: walk.dtypes[operand],
        constant: None,
    });
    for (index, operand) in operands.iter_mut().enumerate() {
        if walk.single.get() >> (HOST + index as u32) & 1 == 0 {
            continue;
        }
        let mut number = [0u64; 2];
        // SAFETY: `places` found an operand of one element in memory of the host, which `Array::new` guarantees; a
        // buffer holds an element of any dtype.
        unsafe {
            (&raw mut number).cast::<u8>().copy_from_nonoverlapping(walk.at[index].cast_const(), operand.dtype.size());
        }
        *operand =
            Operand { at: 0, dtype: wanted[index], constant: Some(number_in(number, operand.dtype, wanted[index])?) };
    }
    let plan = walk.plan.as_ref().ok_or_else(|| err!(Internal, "a loop of a device has no plan"))?;
    let in_bytes = |steps: [isize; N]| {
        std::array::from_fn(|operand| {
            let bytes = steps[operand] as i64 * walk.dtypes[operand].size() as i64;
            if operands[operand].constant.is_some() { 0 } else { bytes }
        })
    };
    let dimensions = plan.dimensions().map(|(size, steps)| (size, in_bytes(steps))).collect();
    Ok(Traversal { operands, dimensions })
}

impl<const N: usize> Traversal<N> {
    fn steps_of(&self, operand: usize) -> Vec<i64> {
        self.dimensions.iter().map(|(_, steps)| steps[operand]).collect()
    }

    /// The bytes between which an operand lies.
    fn range(&self, operand: usize) -> (i128, i128) {
        let Operand { at, dtype, .. } = self.operands[operand];
        let (mut low, mut high) = (i128::from(at), i128::from(at) + dtype.size() as i128);
        for &(size, steps) in &self.dimensions {
            let far = i128::from(steps[operand]) * i128::from(size - 1);
            if far < 0 { low += far } else { high += far }
        }
        (low, high)
    }

    /// Whether an input shares memory with the output in another order of elements.
    fn crosses_output(&self, operand: usize) -> bool {
        let (out, input) = (self.range(0), self.range(operand));
        let apart = out.1 <= input.0 || input.1 <= out.0;
        let (target, source) = (self.operands[0], self.operands[operand]);
        let same = target.at == source.at
            && target.dtype.size() == source.dtype.size()
            && self.dimensions.iter().all(|(_, steps)| steps[0] == steps[operand]);
        !apart && !same
    }

    /// Moves an operand to a dense buffer of this dtype. Dimensions in which it does not move stay still.
    fn move_to(&mut self, operand: usize, at: u64, dtype: DType) {
        let mut step = dtype.size() as i64;
        for (size, steps) in &mut self.dimensions {
            if steps[operand] != 0 {
                steps[operand] = step;
                step *= *size;
            }
        }
        self.operands[operand] = Operand { at, dtype, constant: None };
    }

    /// Copies an input to a buffer, converted.
    fn bring(&mut self, operand: usize, dtype: DType, device: Device) -> Result<Temporary> {
        let (source, steps) = (self.operands[operand], self.steps_of(operand));
        let moved = self.dimensions.iter().filter(|(_, steps)| steps[operand] != 0);
        let count: i64 = moved.map(|(size, _)| size).product();
        let buffer = Temporary::new(device, count as usize * dtype.size())?;
        self.move_to(operand, buffer.at(), dtype);
        let mut dimensions: Vec<(i64, [i64; 2])> = Vec::new();
        for (&(size, to), from) in self.dimensions.iter().zip(steps) {
            if from != 0 {
                dimensions.push((size, [to[operand], from]));
            }
        }
        if dimensions.is_empty() {
            dimensions.push((1, [dtype.size() as i64, source.dtype.size() as i64]));
        }
        let copy = Traversal { operands: [self.operands[operand], source], dimensions };
        copy.start(&Target::copy(device, source.dtype, dtype))?;
        Ok(buffer)
    }

    /// Starts a kernel, once or, for more elements or dimensions than a launch has, several times.
    fn start(&self, target: &Target) -> Result<()> {
        let at = std::array::from_fn(|operand| self.operands[operand].at);
        self.start_part(target, at, &self.dimensions)
    }

    fn start_part(&self, target: &Target, at: [u64; N], dimensions: &[(i64, [i64; N])]) -> Result<()> {
        let total = dimensions.iter().try_fold(1i64, |total, (size, _)| total.checked_mul(*size));
        if let Some(count) = total.filter(|&count| count <= MOST && dimensions.len() <= RANK) {
            return self.launch(target, at, dimensions, count as u32);
        }
        let Some(((size, steps), inner)) = dimensions.split_last() else {
            return Ok(());
        };
        let below: i64 = inner.iter().fold(1i64, |total, (size, _)| total.saturating_mul(*size));
        // As many rows of the outermost dimension as a launch may have; groups of elements stay aligned.
        let rows = if inner.len() < RANK && below <= MOST { (MOST / below).min(*size) } else { 1 };
        let mut first = 0;
        while first < *size {
            let count = rows.min(size - first);
            let at = std::array::from_fn(|operand| at[operand].wrapping_add_signed(first * steps[operand]));
            if rows == 1 {
                self.start_part(target, at, inner)?;
            } else {
                let mut part = inner.to_vec();
                part.push((count, *steps));
                self.start_part(target, at, &part)?;
            }
            first += count;
        }
        Ok(())
    }

    fn launch(&self, target: &Target, at: [u64; N], dimensions: &[(i64, [i64; N])], count: u32) -> Result<()> {
        let mut walk = Walk {
            at,
            constants: self.operands.map(|operand| operand.constant.unwrap_or_default()),
            record: target.watch.map_or(0, |watch| watch.at),
            count,
            rank: dimensions.len().max(1) as u32,
            constant: 0,
            still: 0,
            whole: u32::from(dimensions.len() == 1),
            operator: target.watch.map_or(0, |watch| watch.operator),
            sizes: [Divisor::new(1); RANK],
            steps: [[0; N]; RANK],
        };
        for (dim, &(size, steps)) in dimensions.iter().enumerate() {
            walk.sizes[dim] = Divisor::new(size as u32);
            walk.steps[dim] = steps;
        }
        for (index, operand) in self.operands.iter().enumerate() {
            let (size, step) = (operand.dtype.size() as i64, walk.steps[0][index]);
            let alignment = (size as u64 * LANES as u64).min(16);
            if operand.constant.is_some() {
                walk.constant |= 1 << index;
            } else if step == 0 && index > 0 {
                walk.still |= 1 << index;
            } else if step != size || !at[index].is_multiple_of(alignment) {
                walk.whole = 0;
            }
        }
        let items = if target.light && walk.whole != 0 { count.div_ceil(LANES as u32) } else { count };
        // SAFETY: `Walk` has no padding: every field is a multiple of 8 bytes, or a row of numbers of 4 bytes that is.
        let walk = unsafe { bytes_of(&walk) };
        // SAFETY: `Words` is four numbers of 8 bytes.
        let words = target.parameters.iter().map(|words| unsafe { bytes_of(words) });
        let parameters: Vec<&[u8]> = std::iter::once(walk).chain(words).collect();
        let grid = Grid { blocks: [items.div_ceil(THREADS).max(1), 1, 1], threads: THREADS, shared: 0 };
        // SAFETY: the parameters are those that `kernels!` declares; the memory is that of arrays, or of buffers that are
        // freed after the launch.
        unsafe { launch_with(target.device, target.kernel, grid, &parameters) }
    }
}

/// The kernel of a launch, and where it runs.
struct Target<'t> {
    device: Device,
    kernel: Kernel,
    light: bool,
    parameters: &'t [Words],
    /// Where it reports an integer that it divides by zero.
    watch: Option<Watch>,
}

impl Target<'_> {
    /// The kernel that copies elements from one dtype to another.
    fn copy(device: Device, from: DType, to: DType) -> Self {
        Target { device, kernel: copy_kernel(from, to), light: true, parameters: &[], watch: None }
    }
}
