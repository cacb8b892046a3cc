//! The loop of a thread: what `core/cpu/src/pointwise` is on the CPU.

use crate::memory::{load, report, store};
use crate::report::{Mistake, Watch};
use crate::number::{Number, bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32};
use crate::simd::{Float, FloatVector, Thread};
use crate::{Complex, DType, Element, Result, bf16, f16};
use core::arch::asm;
use core::mem::offset_of;
use core::arch::nvptx::{_block_dim_x, _block_idx_x, _grid_dim_x, _thread_idx_x};

#[path = "../../../cpu/src/pointwise/named.rs"]
mod named;
#[path = "../../../cpu/src/pointwise/walk.rs"]
mod walk;

pub(crate) use named::{float_kernels, functions};
pub use walk::{Divisor, LANES, Parameter, THREADS, Walk, Words, stored};

/// Kernels with little arithmetic read several elements at once.
pub(crate) const LIGHT: usize = 1;
/// The others one, so that their code is there once.
pub(crate) const HEAVY: usize = 0;

/// `N` operands; the elements are those of this thread.
pub struct Loop<'a, const N: usize> {
    walk: &'a Walk<N>,
    /// The address of `walk` among the parameters.
    base: u64,
    common: DType,
}

/// Runs a function over this thread's elements, and reports its error, which is always an integer divided by zero.
#[inline(always)]
pub fn enter<const N: usize>(walk: &Walk<N>, base: u64, common: DType, run: impl FnOnce(&Loop<N>) -> Result<()>) {
    if run(&Loop { walk, base, common }).is_err() && walk.record != 0 {
        let (mistake, operator) = (Mistake::Division as u32, walk.operator);
        report(&Watch { at: walk.record, mistake, operator, numbers: [0; 2] }, 0);
    }
}

/// A number of the parameters at a place that is known at run time. (Through a reference, the compiler would copy the
/// parameters to the memory of the thread.)
#[inline(always)]
pub(crate) fn parameter_32(at: u64) -> u32 {
    let value: u32;
    // SAFETY: `places` passes the addresses of fields of a parameter.
    unsafe { asm!("ld.param.b32 {}, [{}];", out(reg32) value, in(reg64) at, options(pure, nomem, nostack)) }
    value
}

/// Like [`parameter_32`].
#[inline(always)]
pub(crate) fn parameter_64(at: u64) -> i64 {
    let value: i64;
    // SAFETY: `places` passes the addresses of fields of a parameter.
    unsafe { asm!("ld.param.b64 {}, [{}];", out(reg64) value, in(reg64) at, options(pure, nomem, nostack)) }
    value
}

/// The addresses of an element of each operand; `walk` is at `base` among the parameters.
#[inline(always)]
fn places<const N: usize>(walk: &Walk<N>, base: u64, index: u32) -> [u64; N] {
    let (mut at, mut rest, mut left) = (walk.at, index, walk.rank);
    let mut size = base + offset_of!(Walk<N>, sizes) as u64;
    let mut step = base + offset_of!(Walk<N>, steps) as u64;
    loop {
        left -= 1;
        let (mut next, mut place) = (0, rest);
        if left != 0 {
            let (extent, magic, shift) = (parameter_32(size), parameter_32(size + 4), parameter_32(size + 8));
            (next, place) = Divisor { size: extent, magic, shift }.divide(rest);
        }
        let mut k = 0;
        while k < N {
            at[k] = at[k].wrapping_add(i64::from(place).wrapping_mul(parameter_64(step)) as u64);
            step += 8;
            k += 1;
        }
        if left == 0 {
            return at;
        }
        rest = next;
        size += size_of::<Divisor>() as u64;
    }
}

/// Calls `group` with the addresses of `LANES` elements each, where operands are contiguous and `light` is set, and
/// `element` with those of the other elements.
#[inline(always)]
pub(crate) fn each<const N: usize>(walk: &Walk<N>, base: u64, light: bool, group: impl Fn([u64; N]), element: impl Fn([u64; N])) {
    // SAFETY: a kernel may always read where it stands.
    let (block, width, blocks, thread) = unsafe {
        (_block_idx_x() as u32, _block_dim_x() as u32, _grid_dim_x() as u32, _thread_idx_x() as u32)
    };
    let (first, threads) = (block * width + thread, blocks * width);
    let mut index = first;
    if light && walk.whole != 0 {
        let groups = walk.count / LANES as u32;
        let mut at = first;
        while at < groups {
            let place = i64::from(at) * LANES as i64;
            let mut places = walk.at;
            let mut k = 0;
            while k < N {
                places[k] = places[k].wrapping_add((place.wrapping_mul(walk.steps[0][k])) as u64);
                k += 1;
            }
            group(places);
            at += threads;
        }
        index += groups * LANES as u32;
    }
    while index < walk.count {
        element(places(walk, base, index));
        index += threads;
    }
}

/// The bits of `value` as another type of the same size.
#[inline(always)]
fn bits_of<A: Copy, B: Copy>(value: A) -> B {
    if size_of::<A>() > 16 || size_of::<B>() > size_of::<A>() {
        crate::base::trap();
    }
    // SAFETY: the second type is no larger; types of elements are valid for all bits.
    unsafe { core::mem::transmute_copy(&value) }
}

/// Elements as bits.
pub(crate) trait Bits: Copy {
    /// The alignment of `LANES` elements.
    const GROUP: usize = if LANES * size_of::<Self>() < 16 { LANES * size_of::<Self>() } else { 16 };

    /// The element in the first of 16 bytes.
    #[inline(always)]
    fn of_bits(bits: [u64; 2]) -> Self {
        bits_of(bits)
    }
}

impl<T: Copy> Bits for T {}

/// The alignment of `V` elements that the host promises.
#[inline(always)]
fn unit<T, const V: usize>(aligned: bool) -> usize {
    if !aligned {
        return align_of::<T>();
    }
    if V * size_of::<T>() < 16 { V * size_of::<T>() } else { 16 }
}

/// An element that is stored in the dtype `stored` of the same or a narrower type.
trait Stored: Element {
    /// # Safety
    /// There are `V` elements at this address.
    #[inline(always)]
    unsafe fn read<const V: usize>(stored: DType, at: u64, aligned: bool) -> [Self; V] {
        // SAFETY: the caller guarantees the elements; the host has stored elements of the dtype `stored`.
        unsafe {
            match stored {
                DType::F16 if size_of::<Self>() == 4 => {
                    load::<f16, V>(at, unit::<f16, V>(aligned)).map(|half| bits_of(f16_to_f32(half)))
                }
                DType::BF16 if size_of::<Self>() == 4 => {
                    load::<bf16, V>(at, unit::<bf16, V>(aligned)).map(|half| bits_of(bf16_to_f32(half)))
                }
                DType::C32 if size_of::<Self>() == 8 => load::<Complex<f16>, V>(at, unit::<Complex<f16>, V>(aligned))
                    .map(|half| bits_of(Complex::new(f16_to_f32(half.re), f16_to_f32(half.im)))),
                _ => load::<Self, V>(at, unit::<Self, V>(aligned)),
            }
        }
    }

    /// # Safety
    /// There is room for `V` elements at this address.
    #[inline(always)]
    unsafe fn write<const V: usize>(stored: DType, at: u64, aligned: bool, values: [Self; V]) {
        // SAFETY: the caller guarantees room for elements of the dtype `stored`.
        unsafe {
            match stored {
                DType::F16 if size_of::<Self>() == 4 => {
                    store(at, unit::<f16, V>(aligned), values.map(|value| f16_from_f32(bits_of(value))))
                }
                DType::BF16 if size_of::<Self>() == 4 => {
                    store(at, unit::<bf16, V>(aligned), values.map(|value| bf16_from_f32(bits_of(value))))
                }
                DType::C32 if size_of::<Self>() == 8 => store(at, unit::<Complex<f16>, V>(aligned), values.map(|value| {
                    let value: Complex<f32> = bits_of(value);
                    Complex::new(f16_from_f32(value.re), f16_from_f32(value.im))
                })),
                _ => store(at, unit::<Self, V>(aligned), values),
            }
        }
    }

    /// The value of a constant.
    #[inline(always)]
    fn of_constant(stored: DType, constant: [u64; 2]) -> Self {
        match stored {
            DType::F16 if size_of::<Self>() == 4 => bits_of(f16_to_f32(f16::from_bits(constant[0] as u16))),
            DType::BF16 if size_of::<Self>() == 4 => bits_of(bf16_to_f32(bf16::from_bits(constant[0] as u16))),
            DType::C32 if size_of::<Self>() == 8 => bits_of(Complex::new(
                f16_to_f32(f16::from_bits(constant[0] as u16)),
                f16_to_f32(f16::from_bits((constant[0] >> 16) as u16)),
            )),
            _ => bits_of(constant),
        }
    }
}

impl<T: Element> Stored for T {}

impl<const N: usize> Loop<'_, N> {
    /// The computation dtype before half precision is widened.
    #[inline(always)]
    pub fn common(&self) -> DType {
        self.common
    }

    /// The dtype of an operand of a kernel in which all have the common dtype.
    #[inline(always)]
    pub fn dtype(&self, _operand: usize) -> DType {
        self.common
    }

    /// `LANES` elements of an input.
    #[inline(always)]
    fn group<A: Element>(&self, operand: usize, at: u64) -> [A; LANES] {
        let stored = stored(A::DTYPE, self.common);
        if self.walk.constant >> operand & 1 != 0 {
            return [A::of_constant(stored, self.walk.constants[operand]); LANES];
        }
        // SAFETY: the host describes memory of the device.
        unsafe {
            if self.walk.still >> operand & 1 != 0 {
                return [A::read::<1>(stored, at, false)[0]; LANES];
            }
            A::read::<LANES>(stored, at, true)
        }
    }

    /// An element of an input.
    #[inline(always)]
    fn element<A: Element>(&self, operand: usize, at: u64) -> A {
        let stored = stored(A::DTYPE, self.common);
        if self.walk.constant >> operand & 1 != 0 {
            return A::of_constant(stored, self.walk.constants[operand]);
        }
        // SAFETY: the host describes memory of the device.
        unsafe { A::read::<1>(stored, at, false)[0] }
    }
}

macro_rules! loops {
    ($($operands:literal $Function:ident: $($A:ident $a:ident $V:ident $place:literal)+;)*) => {$(
        /// A function of vectors; see `core/cpu/src/pointwise/function.rs`.
        pub(crate) trait $Function: Copy + Send + Sync {
            fn of<V: FloatVector>(self, $($a: V),+) -> V;
        }

        impl Loop<'_, $operands> {
            #[inline(always)]
            fn run<R: Element, $($A: Element),+>(&self, grain: usize, f: impl Fn($($A),+) -> R) -> Result<()> {
                let out = stored(R::DTYPE, self.common);
                each(
                    self.walk,
                    self.base,
                    grain == LIGHT,
                    #[inline(always)]
                    |at| {
                        $(let $a = self.group::<$A>($place, at[$place]);)+
                        let results = [f($($a[0]),+), f($($a[1]),+), f($($a[2]),+), f($($a[3]),+)];
                        // SAFETY: the host describes memory of the device.
                        unsafe { R::write(out, at[0], true, results) }
                    },
                    #[inline(always)]
                    |at| {
                        $(let $a = self.element::<$A>($place, at[$place]);)+
                        // SAFETY: the host describes memory of the device.
                        unsafe { R::write(out, at[0], false, [f($($a),+)]) }
                    },
                );
                Ok(())
            }

            #[inline(always)]
            pub(crate) fn map<R: Number, $($A: Number),+>(
                &self,
                grain: usize,
                f: impl Fn($($A::Wide),+) -> R::Wide + Copy + Sync,
            ) -> Result<()> {
                self.run::<R, $($A),+>(grain, #[inline(always)] |$($a),+| R::narrow(f($($a.wide()),+)))
            }

            #[inline(always)]
            pub(crate) fn map_wide<R: Number, $($A: Number),+>(
                &self,
                grain: usize,
                f: impl Fn($($A::Wide),+) -> R::Wide + Copy + Sync,
            ) -> Result<()> {
                self.map::<R, $($A),+>(grain, f)
            }

            #[inline(always)]
            pub(crate) fn apply<T: Float>(&self, grain: usize, f: impl $Function) -> Result<()> {
                loops!(@apply self grain f $($a $V)+)
            }
        }
    )*};
    (@apply $self:ident $grain:ident $f:ident $($a:ident $V:ident)+) => {
        $self.run::<T, $($V),+>($grain, #[inline(always)] |$($a),+| {
            // The sum of one lane is that lane.
            T::narrow($f.of($(T::Vector::<Thread>::splat($a.wide())),+).sum())
        })
    };
}

loops! {
    2 Function1: A a T 1;
    3 Function2: A a T 1 B b T 2;
    4 Function3: A a T 1 B b T 2 C c T 3;
}

impl Loop<'_, 3> {
    /// `out = f(a, b)` of elements as they are stored.
    #[inline(always)]
    pub(crate) fn map_bits<T: Element>(&self, grain: usize, f: impl Fn(T, T) -> T + Copy + Sync) -> Result<()> {
        self.run::<T, T, T>(grain, f)
    }
}

impl Loop<'_, 4> {
    /// `out = f(a, b, c)` on bit patterns; `a` is a byte.
    #[inline(always)]
    pub(crate) fn choose<T: Copy>(&self, grain: usize, f: impl Fn(u8, T, T) -> T + Copy + Sync) -> Result<()> {
        let walk = self.walk;
        let one = |operand: usize, at: u64| -> T {
            if walk.constant >> operand & 1 != 0 {
                return bits_of(walk.constants[operand]);
            }
            // SAFETY: the host describes memory of the device.
            unsafe { load::<T, 1>(at, self.common.alignment())[0] }
        };
        each(walk, self.base, false, |_| (), #[inline(always)] |at| {
            let condition = self.element::<u8>(1, at[1]);
            let result = f(condition, one(2, at[2]), one(3, at[3]));
            // SAFETY: the host describes memory of the device.
            unsafe { store(at[0], self.common.alignment(), [result]) }
        });
        Ok(())
    }
}

impl Loop<'_, 1> {
    /// `out = value`, of which as many bytes count as an element has.
    #[inline(always)]
    pub(crate) fn fill(&self, value: [u64; 2]) -> Result<()> {
        match self.common.size() {
            1 => self.put(value[0] as u8),
            2 => self.put(value[0] as u16),
            4 => self.put(value[0] as u32),
            8 => self.put(value[0]),
            _ => self.put(value),
        }
        Ok(())
    }

    #[inline(always)]
    fn put<T: Copy>(&self, value: T) {
        let aligned = if LANES * size_of::<T>() < 16 { LANES * size_of::<T>() } else { 16 };
        each(
            self.walk,
            self.base,
            true,
            // SAFETY: the host describes memory of the device.
            |at| unsafe { store(at[0], aligned, [value; LANES]) },
            // SAFETY: the host describes memory of the device.
            |at| unsafe { store(at[0], self.common.alignment(), [value]) },
        );
    }
}

impl DType {
    /// The alignment of an element.
    #[inline(always)]
    fn alignment(self) -> usize {
        match self {
            DType::C32 | DType::C64 | DType::C128 => self.size() / 2,
            _ => self.size(),
        }
    }
}
