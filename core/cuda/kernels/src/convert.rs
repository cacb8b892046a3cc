//! Copies and casts between any two dtypes. The host names them in `core/cpu/src/pointwise/launch.rs`.

use crate::DType;
use crate::cast::{Source, Target};
use crate::memory::{load, store};
use crate::pointwise::{Bits, LANES, Walk, each};

/// A kernel for each pair: the dtype of the output is in the name of the function.
macro_rules! casts {
    ($($to:ident)*) => {$(
        casts!(@from $to U8 I8 I16 I32 I64 U16 U32 U64 F16 BF16 F32 F64 C32 C64 C128 Bool);
    )*};
    (@from $to:ident $($from:ident)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("convert$to_", dtype_name!($to), "__", dtype_name!($from)))]
            unsafe extern "ptx-kernel" fn entry(walk: Walk<2>) {
                let base =
                    parameter!(concat!("convert$to_", dtype_name!($to), "__", dtype_name!($from), "_param_0"));
                if !matches!((DType::$to, DType::$from), (DType::$from, DType::$to)) {
                    // SAFETY: the host describes memory of the device.
                    unsafe { cast::<element!($from), element!($to)>(&walk, base) }
                }
            }
        };
    )*};
}

casts! { U8 I8 I16 I32 I64 U16 U32 U64 F16 BF16 F32 F64 C32 C64 C128 Bool }

/// A kernel that moves elements of a size, for each size.
macro_rules! moves {
    ($($dtype:ident)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("convert$bits__", dtype_name!($dtype)))]
            unsafe extern "ptx-kernel" fn entry(walk: Walk<2>) {
                let base = parameter!(concat!("convert$bits__", dtype_name!($dtype), "_param_0"));
                // SAFETY: the host describes memory of the device.
                unsafe { transform::<element!($dtype), element!($dtype)>(&walk, base, |a| a) }
            }
        };
    )*};
}

moves! { U8 U16 U32 U64 C32 C64 C128 }

#[inline(always)]
unsafe fn cast<A: Source, R: Target>(walk: &Walk<2>, base: u64) {
    // SAFETY: the caller guarantees the memory.
    unsafe { transform::<A, R>(walk, base, R::cast) }
}

#[inline(always)]
unsafe fn transform<A: Copy + Default, R: Copy + Default>(walk: &Walk<2>, base: u64, f: impl Fn(A) -> R) {
    let constant = walk.constant >> 1 & 1 != 0;
    each(
        walk,
        base,
        true,
        #[inline(always)]
        |[to, from]| {
            let a: [A; LANES] = if constant {
                [A::of_bits(walk.constants[1]); LANES]
            } else if walk.still >> 1 & 1 != 0 {
                // SAFETY: the caller guarantees the memory.
                unsafe { [load::<A, 1>(from, align_of::<A>())[0]; LANES] }
            } else {
                // SAFETY: the caller guarantees the memory.
                unsafe { load::<A, LANES>(from, A::GROUP) }
            };
            // SAFETY: the caller guarantees the memory.
            unsafe { store(to, R::GROUP, [f(a[0]), f(a[1]), f(a[2]), f(a[3])]) }
        },
        #[inline(always)]
        |[to, from]| {
            // SAFETY: the caller guarantees the memory.
            unsafe {
                let a = if constant { A::of_bits(walk.constants[1]) } else { load::<A, 1>(from, align_of::<A>())[0] };
                store(to, align_of::<R>(), [f(a)]);
            }
        },
    );
}
