//! The templates of pointwise kernels.
//!
//! A kernel is arithmetic on elements and its computation types: `walk.map::<T, T, T>(LIGHT, |a, b| a.add(b))`.
//! [`Loop`] has the operands' memory and how they are traversed together; `flat.rs` turns the arithmetic into a loop
//! over contiguous memory for every instruction set; `drive.rs` passes operands that are not contiguous, of another
//! dtype or in the output's own memory through blocks in the cache (`stage.rs`) to the same loop, and splits the work
//! into chunks for threads. There is thus one compiled loop per operator and type, and an element's result does not
//! depend on its location.
//!
//! The compiler vectorizes the scalar arithmetic of `map`. It cannot vectorize calls of `math`: a kernel that needs
//! them is a function over vectors (`function.rs`), such as `sin("sin_vml_cpu", HEAVY): |x| math::sin(x)` in
//! `elementary.rs`. `LIGHT` and `HEAVY` are the numbers of elements from which a second thread is worth its cost. Half
//! precision is computed in `f32` and rounded once, except where PyTorch rounds each intermediate result
//! (`stepwise.rs`).

mod drive;
mod flat;
mod function;
mod launch;
mod named;
pub(crate) mod stage;
#[cfg(test)]
mod tests;
#[allow(dead_code, reason = "devices read what the host writes")]
pub(crate) mod walk;

use crate::array::Array;
use crate::number::Number;
use crate::simd;
pub(crate) use drive::Cast;
use flat::{Map1, Map2, Map3};
pub(crate) use function::{Function1, Function2, Function3};
pub(crate) use launch::Call;
pub(crate) use named::{float_kernels, functions};
use rushlight_base::plan::Plan;
use rushlight_base::runtime::{BETWEEN_CHECKS, check_cancelled};
use rushlight_base::{DType, DimVec, Element, Result, same_sizes};
use std::cell::Cell;
use std::marker::PhantomData;
pub use walk::Divisor;
pub(crate) use walk::{Parameter, Words};

/// From this many elements of an addition on, a second thread pays.
pub(crate) const LIGHT: usize = 16384;

/// From this many elements of a complex division, or of a function of tens of instructions, a second thread pays.
pub(crate) const HEAVY: usize = 4096;

/// Elements that are generated together.
const TOGETHER: usize = 128;

/// `N` arrays traversed over the shape of the first (the output); the others are broadcast to it.
pub struct Loop<'a, const N: usize> {
    at: [*mut u8; N],
    dtypes: [DType; N],
    /// The dtype that inputs are brought to before anything is computed.
    common: DType,
    /// The traversal, unless it is flat: one row of `len` elements in which each operand is contiguous, or one element
    /// if its bit in `single` is set.
    plan: Option<Box<Plan<N>>>,
    len: usize,
    /// A bit for each operand that is one element of a flat traversal; or `launch::DEVICE` and more.
    single: Cell<u32>,
    arrays: PhantomData<&'a u8>,
}

impl<'a, const N: usize> Loop<'a, N> {
    /// The traversal of `arrays`, computing in the output's dtype. The shape rule has checked the shapes; here a
    /// mismatch is a bug.
    #[inline(always)]
    pub fn new(arrays: [Array<'a>; N]) -> Result<Loop<'a, N>> {
        Loop::computing(arrays[0].dtype(), arrays)
    }

    /// The traversal of `arrays` for a kernel that computes in `common`: inputs of other dtypes are converted block by
    /// block.
    #[inline(always)]
    pub fn computing(common: DType, arrays: [Array<'a>; N]) -> Result<Loop<'a, N>> {
        let sizes = arrays[0].sizes();
        if !arrays.iter().all(|array| same_sizes(array.sizes(), sizes) && array.is_contiguous() && array.is_on_host()) {
            return Loop::planned(common, &arrays);
        }
        Ok(Loop::of(common, &arrays, arrays[0].numel(), 0, None))
    }

    /// The traversal of contiguous arrays of one shape with `len` elements each: the most common case.
    ///
    /// # Safety
    /// Each address satisfies the requirements of [`Array::new`].
    #[inline(always)]
    pub unsafe fn flat(common: DType, len: usize, at: [*mut u8; N], dtypes: [DType; N]) -> Loop<'a, N> {
        Loop { at, dtypes, common, plan: None, len, single: Cell::new(0), arrays: PhantomData }
    }

    #[inline(always)]
    fn of(common: DType, arrays: &[Array<'a>; N], len: usize, single: u32, plan: Option<Box<Plan<N>>>) -> Self {
        let at = std::array::from_fn(|operand| arrays[operand].address());
        let single = Cell::new(single);
        let dtypes = std::array::from_fn(|operand| arrays[operand].dtype());
        Loop { at, dtypes, common, plan, len, single, arrays: PhantomData }
    }

    #[inline(never)]
    fn planned(common: DType, arrays: &[Array<'a>; N]) -> Result<Loop<'a, N>> {
        let sizes = arrays[0].sizes();
        let has_shape = |array: &Array| same_sizes(array.sizes(), sizes);
        let mut broadcast: [DimVec; N] = std::array::from_fn(|_| DimVec::new());
        for (broadcast, array) in broadcast.iter_mut().zip(arrays).filter(|(_, array)| !has_shape(array)) {
            *broadcast = array.broadcast_strides(sizes)?;
        }
        let strides = std::array::from_fn(|operand| match &arrays[operand] {
            array if has_shape(array) => array.strides(),
            _ => broadcast[operand].as_slice(),
        });
        // Constructed in place, because it is a large value.
        let mut plan = Box::new(Plan::unfinished());
        plan.lay_out(sizes, strides);
        if !arrays.iter().all(Array::is_on_host) {
            let single = launch::places(arrays)?;
            return Ok(Loop::of(common, arrays, plan.numel(), single, Some(plan)));
        }
        let steps = plan.row_steps();
        if plan.rank() == 1 && steps[0] == 1 && steps.iter().all(|step| (0..=1).contains(step)) {
            let single = (0..N).fold(0, |bits, operand| bits | u32::from(steps[operand] == 0) << operand);
            return Ok(Loop::of(common, arrays, plan.row_len(), single, None));
        }
        Ok(Loop::of(common, arrays, plan.numel(), 0, Some(plan)))
    }

    /// The dtype of operand `operand`.
    #[inline]
    pub fn dtype(&self, operand: usize) -> DType {
        self.dtypes[operand]
    }

    /// The computation dtype before half precision is widened.
    #[inline]
    pub fn common(&self) -> DType {
        self.common
    }

    /// Number of elements of the output.
    pub(crate) fn count(&self) -> usize {
        self.len
    }

    fn row_len(&self) -> usize {
        self.plan.as_ref().map_or(self.len, |plan| plan.row_len())
    }

    pub(crate) fn row_steps(&self) -> [isize; N] {
        match &self.plan {
            None => std::array::from_fn(|operand| isize::from(self.single.get() >> operand & 1 == 0)),
            Some(plan) => plan.row_steps(),
        }
    }

    fn rows(&self, row: &mut impl FnMut([isize; N])) {
        match &self.plan {
            None => row([0; N]),
            Some(plan) => plan.rows(row),
        }
    }

    /// Calls `piece` with the offsets and the length of one part of a row after the other, until the call is cancelled.
    pub(crate) fn pieces(&self, mut piece: impl FnMut([isize; N], isize)) -> Result<()> {
        let (len, steps) = (self.row_len(), self.row_steps());
        let mut result = Ok(());
        self.rows(&mut |offsets| {
            for first in (0..len).step_by(BETWEEN_CHECKS) {
                if result.is_ok() {
                    result = check_cancelled();
                }
                if result.is_err() {
                    return;
                }
                let starts = std::array::from_fn(|operand| offsets[operand] + first as isize * steps[operand]);
                piece(starts, BETWEEN_CHECKS.min(len - first) as isize);
            }
        });
        result
    }

    /// The first element of an operand, after checking that its dtype is `T`'s.
    fn start<T: Element>(&self, operand: usize) -> *mut T {
        assert_eq!(self.dtypes[operand], T::DTYPE, "kernel instantiated for another dtype");
        if let Some(device) = self.device() {
            rushlight_base::backend::no_kernel(device);
        }
        self.at[operand].cast()
    }

    /// Runs `kernel` over all elements, in pieces in which every operand is contiguous and of the dtype in
    /// `compute`. Pieces may run on several threads, from `grain` elements on.
    #[inline(always)]
    pub(crate) fn run(
        &self,
        compute: [DType; N],
        grain: usize,
        kernel: impl Fn([*mut u8; N], usize) + Sync,
    ) -> Result<()> {
        self.run_by_way_of(self.common, compute, grain, kernel)
    }

    /// Like [`Loop::run`], for inputs that are first converted to `common`.
    #[inline(always)]
    fn run_by_way_of(
        &self,
        common: DType,
        compute: [DType; N],
        grain: usize,
        kernel: impl Fn([*mut u8; N], usize) + Sync,
    ) -> Result<()> {
        if self.plan.is_none()
            && self.single.get() == 0
            && self.dtypes == compute
            && self.len <= grain
            && self.is_apart(compute)
        {
            kernel(self.at, self.len);
            return Ok(());
        }
        drive::drive(self, common, compute, grain, drive::Kernel::new(&kernel))
    }

    /// Whether no input of a flat traversal over these dtypes overlaps the memory of the output, unless the first is
    /// the output.
    #[inline(always)]
    fn is_apart(&self, dtypes: [DType; N]) -> bool {
        let bytes = |operand: usize| self.len * dtypes[operand].size();
        let start = |operand: usize| self.at[operand] as usize;
        let mut apart = true;
        // A loop, not an iterator's `all`, which is not inlined here.
        for input in 1..N {
            let same = input == 1 && start(0) == start(1) && dtypes[0].size() == dtypes[1].size();
            apart &= same || start(0) + bytes(0) <= start(input) || start(input) + bytes(input) <= start(0);
        }
        apart
    }
}

macro_rules! maps {
    ($($operands:literal, $Map:ident: $A:ident $a:ident $($B:ident $b:ident)*;)*) => {$(
        impl Loop<'_, $operands> {
            /// `out = f(...)`, computed in the wide types.
            #[inline(always)]
            pub(crate) fn map<R: Number, $A: Number, $($B: Number),*>(
                &self,
                grain: usize,
                f: impl Fn($A::Wide, $($B::Wide),*) -> R::Wide + Copy + Sync,
            ) -> Result<()> {
                let f = move |$a: $A, $($b: $B),*| R::narrow(f($a.wide(), $($b.wide()),*));
                self.run([R::DTYPE, $A::DTYPE, $($B::DTYPE),*], grain, |[out, $a, $($b),*], len| {
                    simd::run_rare::<$A, _>($Map { out: out.cast(), $a: $a.cast(), $($b: $b.cast(),)* len, f });
                })
            }

            /// [`map`](Self::map) for the operators in which models spend most time: floats get their own loop at every
            /// level.
            #[inline(always)]
            pub(crate) fn map_wide<R: Number, $A: Number, $($B: Number),*>(
                &self,
                grain: usize,
                f: impl Fn($A::Wide, $($B::Wide),*) -> R::Wide + Copy + Sync,
            ) -> Result<()> {
                let f = move |$a: $A, $($b: $B),*| R::narrow(f($a.wide(), $($b.wide()),*));
                self.run([R::DTYPE, $A::DTYPE, $($B::DTYPE),*], grain, |[out, $a, $($b),*], len| {
                    simd::run_over::<$A, _>($Map { out: out.cast(), $a: $a.cast(), $($b: $b.cast(),)* len, f });
                })
            }
        }
    )*};
}

maps! {
    2, Map1: A a;
    3, Map2: A a B b;
    4, Map3: A a B b C c;
}

impl Loop<'_, 3> {
    /// `out = f(a, b)` of elements as they are stored: half precision is not widened.
    pub(crate) fn map_bits<T: Element>(&self, grain: usize, f: impl Fn(T, T) -> T + Copy + Sync) -> Result<()> {
        self.run([T::DTYPE; 3], grain, |[out, a, b], len| {
            simd::run_over::<T, _>(Map2 { out: out.cast(), a: a.cast(), b: b.cast(), len, f });
        })
    }

    /// `out = f(a, b)` in memory order of the output, for functions with a state.
    pub(crate) fn transform<R: Element, A: Element, B: Element>(&self, mut f: impl FnMut(A, B) -> R) -> Result<()> {
        let (out, a, b) = (self.start::<R>(0), self.start::<A>(1), self.start::<B>(2));
        let steps = self.row_steps();
        self.pieces(|[o, x, y], len| {
            // In variables of the closure, which writing an element cannot change.
            let (out, a, b, steps) = (out.wrapping_offset(o), a.wrapping_offset(x), b.wrapping_offset(y), steps);
            for i in 0..len {
                // SAFETY: the plan only visits indices within the arrays' sizes, whose elements `Array::new`
                // guarantees.
                unsafe {
                    out.offset(i * steps[0]).write(f(a.offset(i * steps[1]).read(), b.offset(i * steps[2]).read()))
                }
            }
        })
    }
}

impl Loop<'_, 4> {
    /// `out = f(a, b, c)` on bit patterns: `T` has the size of the common dtype, which is `out`'s, `b`'s and `c`'s;
    /// `a` is a byte.
    #[inline(always)]
    pub(crate) fn choose<T: Copy>(&self, grain: usize, f: impl Fn(u8, T, T) -> T + Copy + Sync) -> Result<()> {
        let (common, by) = (self.common, self.dtypes[1]);
        assert_eq!((common.size(), by.size()), (size_of::<T>(), 1), "kernel instantiated for another size");
        self.run([common, by, common, common], grain, |[out, a, b, c], len| {
            simd::run(Map3 { out: out.cast(), a: a.cast(), b: b.cast(), c: c.cast(), len, f });
        })
    }
}

impl Loop<'_, 1> {
    /// `out = f()` at every element, in memory order of the output.
    pub(crate) fn generate<R: Element>(&self, mut f: impl FnMut() -> R) -> Result<()> {
        self.generate_together(|piece: &mut [R]| piece.fill_with(&mut f))
    }

    /// `out = what `fill` writes`, some elements at a time in memory order of the output.
    pub(crate) fn generate_together<R: Element>(&self, mut fill: impl FnMut(&mut [R])) -> Result<()> {
        let (out, [step]) = (self.start::<R>(0), self.row_steps());
        let mut buffer = [R::default(); TOGETHER];
        self.pieces(|[offset], len| {
            for first in (0..len).step_by(TOGETHER) {
                let part = &mut buffer[..TOGETHER.min((len - first) as usize)];
                fill(part);
                if step == 1 {
                    // SAFETY: the plan only visits indices within the array's sizes, whose elements `Array::new`
                    // guarantees; the buffer is apart from them.
                    unsafe { out.offset(offset + first).copy_from_nonoverlapping(part.as_ptr(), part.len()) };
                    continue;
                }
                for (i, &value) in (first..).zip(&*part) {
                    // SAFETY: the plan only visits indices within the array's sizes, whose elements `Array::new`
                    // guarantees.
                    unsafe { out.offset(offset + i * step).write(value) }
                }
            }
        })
    }

    /// `out = value`, of which as many bytes count as an element has.
    pub(crate) fn fill(&self, value: [u64; 2]) -> Result<()> {
        drive::fill(self, value)
    }
}

impl Loop<'_, 2> {
    /// Runs `convert` from the input's dtype to the output's, in pieces in which both are contiguous.
    pub(crate) fn convert(&self, convert: impl Fn([*mut u8; 2], usize) + Sync) -> Result<()> {
        if self.device().is_some() {
            return launch::copy(self);
        }
        // Through its own dtype: the input is not rounded to the output's first.
        self.run_by_way_of(self.dtypes[1], self.dtypes, LIGHT, convert)
    }

    /// `out = a`, both of one dtype.
    pub(crate) fn copy(&self) -> Result<()> {
        assert_eq!(self.dtypes[0], self.dtypes[1], "a copy does not convert");
        drive::copy(self)
    }

    /// `out = f(a)` in memory order of the output, for functions with a state.
    pub(crate) fn transform<R: Element, A: Element>(&self, mut f: impl FnMut(A) -> R) -> Result<()> {
        let (out, a) = (self.start::<R>(0), self.start::<A>(1));
        let steps = self.row_steps();
        self.pieces(|[o, x], len| {
            // In variables of the closure, which writing an element cannot change.
            let (out, a, steps) = (out.wrapping_offset(o), a.wrapping_offset(x), steps);
            for i in 0..len {
                // SAFETY: the plan only visits indices within the arrays' sizes, whose elements `Array::new`
                // guarantees.
                unsafe { out.offset(i * steps[0]).write(f(a.offset(i * steps[1]).read())) }
            }
        })
    }

    /// Calls `f` with every pair of elements.
    pub(crate) fn visit<A: Element, B: Element>(&self, mut f: impl FnMut(A, B)) -> Result<()> {
        let (a, b) = (self.start::<A>(0), self.start::<B>(1));
        let steps = self.row_steps();
        self.pieces(|[x, y], len| {
            for i in 0..len {
                // SAFETY: the plan only visits indices within the arrays' sizes, whose elements `Array::new`
                // guarantees.
                unsafe { f(a.offset(x + i * steps[0]).read(), b.offset(y + i * steps[1]).read()) }
            }
        })
    }
}
