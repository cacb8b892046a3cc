//! [`Array`]: memory with sizes and strides. [`Loop`]: several arrays walked together.

use crate::number::Number;
use rushlight_base::plan::Plan;
use rushlight_base::{DType, DimVec, Element, Result, ensure, same_sizes};

/// Strided memory that a kernel reads or writes.
///
/// Arrays may alias one another (an in-place operator gets the same memory twice), so elements are only
/// ever touched through raw pointers.
#[derive(Clone, Debug)]
pub struct Array<'a> {
    at: *mut u8,
    dtype: DType,
    sizes: &'a [i64],
    strides: &'a [i64],
}

impl<'a> Array<'a> {
    /// # Safety
    /// Every index within `sizes` must lie, at `strides` elements from `at`, in live memory that may be
    /// read, and written if the array is passed as an output; no other thread may write it meanwhile
    /// (or the values read are unspecified). `at` must be aligned for `dtype`.
    pub unsafe fn new(at: *mut u8, dtype: DType, sizes: &'a [i64], strides: &'a [i64]) -> Array<'a> {
        debug_assert_eq!(sizes.len(), strides.len());
        Array { at, dtype, sizes, strides }
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Extent of each dimension.
    pub fn sizes(&self) -> &'a [i64] {
        self.sizes
    }

    /// Step of each dimension, in elements.
    pub fn strides(&self) -> &'a [i64] {
        self.strides
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.sizes.len()
    }

    /// Number of elements.
    #[inline]
    pub fn numel(&self) -> usize {
        self.sizes.iter().product::<i64>() as usize
    }

    /// Size of dimension `dim`, counting a 0-dim array as one dimension of size 1.
    pub fn size(&self, dim: usize) -> usize {
        self.sizes.get(dim).map_or(1, |&size| size as usize)
    }

    /// Stride of dimension `dim`, counting a 0-dim array as one dimension.
    pub fn stride(&self, dim: usize) -> isize {
        self.strides.get(dim).map_or(1, |&stride| stride as isize)
    }

    /// Is the memory row-major without gaps?
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        for (&size, &stride) in self.sizes.iter().zip(self.strides).rev() {
            if size == 0 {
                return true;
            }
            if size != 1 {
                if stride != expected {
                    return false;
                }
                expected *= size;
            }
        }
        true
    }

    /// The first element, after checking that the dtype is `T`'s.
    pub(crate) fn as_ptr<T: Element>(&self) -> *mut T {
        assert_eq!(self.dtype, T::DTYPE, "kernel instantiated for another dtype");
        self.at.cast()
    }

    /// The first byte.
    pub(crate) fn as_ptr_of_byte(&self) -> *mut u8 {
        assert_eq!(self.dtype.size(), 1, "kernel wants elements of one byte");
        self.at
    }

    /// Sizes and strides with dimension `dim` taken out (of a 0-dim array: nothing to take out).
    pub(crate) fn without(&self, dim: usize) -> (DimVec, DimVec) {
        let keep = |list: &[i64]| -> DimVec {
            list.iter().enumerate().filter(|(at, _)| *at != dim).map(|(_, &value)| value).collect()
        };
        (keep(self.sizes), keep(self.strides))
    }

    /// Strides of this array seen with shape `sizes`: 0 along dimensions that it is broadcast over.
    pub(crate) fn broadcast_strides(&self, sizes: &[i64]) -> Result<DimVec> {
        let lead = sizes.len().checked_sub(self.ndim());
        let lead =
            lead.filter(|&lead| self.sizes.iter().zip(&sizes[lead..]).all(|(&own, &wanted)| own == wanted || own == 1));
        ensure!(lead.is_some(), Internal, "a kernel got an operand of shape {:?} for shape {sizes:?}", self.sizes);
        let lead = lead.unwrap_or(0);
        let mut strides = DimVec::from_elem(0, sizes.len());
        for (dim, (&size, &stride)) in self.sizes.iter().zip(self.strides).enumerate() {
            strides[lead + dim] = if size == 1 { 0 } else { stride };
        }
        Ok(strides)
    }
}

/// `N` arrays walked over the shape of the first (the output); the others are broadcast to it.
pub struct Loop<'a, const N: usize> {
    walk: Walk<N>,
    arrays: [Array<'a>; N],
}

/// How the arrays are walked. A plan is large; the usual flat walk does without one.
enum Walk<const N: usize> {
    /// All arrays are contiguous: one row of so many elements.
    Flat(usize),
    Planned(Box<Plan<N>>),
}

impl<'a, const N: usize> Loop<'a, N> {
    /// The walk over `arrays`. The shape rule has checked the shapes; here a mismatch is a bug.
    #[inline(always)]
    pub fn new(arrays: [Array<'a>; N]) -> Result<Loop<'a, N>> {
        let sizes = arrays[0].sizes;
        if arrays.iter().all(|array| same_sizes(array.sizes, sizes) && array.is_contiguous()) {
            return Ok(Loop { walk: Walk::Flat(arrays[0].numel()), arrays });
        }
        Loop::planned(arrays)
    }

    fn planned(arrays: [Array<'a>; N]) -> Result<Loop<'a, N>> {
        let sizes = arrays[0].sizes;
        let mut strides: [DimVec; N] = std::array::from_fn(|_| DimVec::new());
        for (strides, array) in strides.iter_mut().zip(&arrays) {
            *strides = array.broadcast_strides(sizes)?;
        }
        let plan = Plan::new(sizes, std::array::from_fn(|operand| strides[operand].as_slice()));
        Ok(Loop { walk: Walk::Planned(Box::new(plan)), arrays })
    }

    fn row_len(&self) -> usize {
        match &self.walk {
            Walk::Flat(numel) => *numel,
            Walk::Planned(plan) => plan.row_len(),
        }
    }

    fn row_steps(&self) -> [isize; N] {
        match &self.walk {
            Walk::Flat(_) => [1; N],
            Walk::Planned(plan) => plan.row_steps(),
        }
    }

    fn rows(&self, row: &mut dyn FnMut([isize; N])) {
        match &self.walk {
            Walk::Flat(_) => row([0; N]),
            Walk::Planned(plan) => plan.rows(row),
        }
    }

    /// The dtype of operand `operand`.
    pub fn dtype(&self, operand: usize) -> DType {
        self.arrays[operand].dtype
    }

    fn at<T: Element>(&self, operand: usize) -> *mut T {
        self.arrays[operand].as_ptr()
    }
}

impl Loop<'_, 1> {
    /// `out = f()` at every element, in memory order of the output.
    pub(crate) fn generate<R: Element>(&self, mut f: impl FnMut() -> R) {
        let out = self.at::<R>(0);
        let (len, [step]) = (self.row_len(), self.row_steps());
        self.rows(&mut |[offset]| {
            for i in 0..len as isize {
                // SAFETY: the plan only visits indices within the array's sizes, which `Array::new` vouches for.
                unsafe { out.offset(offset + i * step).write(f()) }
            }
        });
    }
}

impl Loop<'_, 2> {
    /// `out = f(a)`, on the stored types.
    pub(crate) fn map_raw<R: Element, A: Element>(&self, f: impl Fn(A) -> R) {
        let (out, a) = (self.at::<R>(0), self.at::<A>(1));
        let (len, steps) = (self.row_len() as isize, self.row_steps());
        self.rows(&mut |[o, x]| {
            // SAFETY: the plan only visits indices within the arrays' sizes, which `Array::new` vouches for.
            unsafe {
                let (out, a) = (out.offset(o), a.offset(x));
                if steps == [1, 1] {
                    for i in 0..len {
                        out.offset(i).write(f(a.offset(i).read()));
                    }
                } else {
                    for i in 0..len {
                        out.offset(i * steps[0]).write(f(a.offset(i * steps[1]).read()));
                    }
                }
            }
        });
    }

    /// `out = f(a)`, computed in the wide types.
    pub(crate) fn map<R: Number, A: Number>(&self, f: impl Fn(A::Wide) -> R::Wide) {
        self.map_raw(|a: A| R::narrow(f(a.widen())));
    }
}

impl Loop<'_, 3> {
    /// `out = f(a, b)`, computed in the wide types.
    pub(crate) fn map<R: Number, A: Number, B: Number>(&self, f: impl Fn(A::Wide, B::Wide) -> R::Wide) {
        let (out, a, b) = (self.at::<R>(0), self.at::<A>(1), self.at::<B>(2));
        let (len, steps) = (self.row_len() as isize, self.row_steps());
        let f = |a: A, b: B| R::narrow(f(a.widen(), b.widen()));
        self.rows(&mut |[o, x, y]| {
            // SAFETY: the plan only visits indices within the arrays' sizes, which `Array::new` vouches for.
            unsafe {
                let (out, a, b) = (out.offset(o), a.offset(x), b.offset(y));
                if steps == [1, 1, 1] {
                    for i in 0..len {
                        out.offset(i).write(f(a.offset(i).read(), b.offset(i).read()));
                    }
                } else if steps == [1, 1, 0] {
                    let b = b.read();
                    for i in 0..len {
                        out.offset(i).write(f(a.offset(i).read(), b));
                    }
                } else {
                    for i in 0..len {
                        let (a, b) = (a.offset(i * steps[1]).read(), b.offset(i * steps[2]).read());
                        out.offset(i * steps[0]).write(f(a, b));
                    }
                }
            }
        });
    }
}

impl Loop<'_, 4> {
    /// `out = f(a, b, c)`, on the stored types.
    pub(crate) fn map_raw<R: Element, A: Element, B: Element, C: Element>(&self, f: impl Fn(A, B, C) -> R) {
        let (out, a, b, c) = (self.at::<R>(0), self.at::<A>(1), self.at::<B>(2), self.at::<C>(3));
        let (len, steps) = (self.row_len() as isize, self.row_steps());
        self.rows(&mut |[o, x, y, z]| {
            // SAFETY: the plan only visits indices within the arrays' sizes, which `Array::new` vouches for.
            unsafe {
                let (out, a, b, c) = (out.offset(o), a.offset(x), b.offset(y), c.offset(z));
                if steps == [1, 1, 1, 1] {
                    for i in 0..len {
                        out.offset(i).write(f(a.offset(i).read(), b.offset(i).read(), c.offset(i).read()));
                    }
                } else {
                    for i in 0..len {
                        let (a, b) = (a.offset(i * steps[1]).read(), b.offset(i * steps[2]).read());
                        out.offset(i * steps[0]).write(f(a, b, c.offset(i * steps[3]).read()));
                    }
                }
            }
        });
    }
}

impl Loop<'_, 2> {
    /// `out = f(a)` in memory order of the output, for functions with a state.
    pub(crate) fn transform<R: Element, A: Element>(&self, mut f: impl FnMut(A) -> R) {
        let (out, a) = (self.at::<R>(0), self.at::<A>(1));
        let (len, steps) = (self.row_len() as isize, self.row_steps());
        self.rows(&mut |[o, x]| {
            for i in 0..len {
                // SAFETY: the plan only visits indices within the arrays' sizes, which `Array::new` vouches for.
                unsafe { out.offset(o + i * steps[0]).write(f(a.offset(x + i * steps[1]).read())) }
            }
        });
    }

    /// Calls `f` with every pair of elements.
    pub(crate) fn visit<A: Element, B: Element>(&self, mut f: impl FnMut(A, B)) {
        let (a, b) = (self.at::<A>(0), self.at::<B>(1));
        let (len, steps) = (self.row_len() as isize, self.row_steps());
        self.rows(&mut |[x, y]| {
            for i in 0..len {
                // SAFETY: the plan only visits indices within the arrays' sizes, which `Array::new` vouches for.
                unsafe { f(a.offset(x + i * steps[0]).read(), b.offset(y + i * steps[1]).read()) }
            }
        });
    }
}
