//! The loops over contiguous memory, compiled for every instruction set.
//!
//! The compiler vectorizes them if the output does not overlap the inputs, which `drive.rs` ensures, or is the first of
//! them (an in-place operator). It does not reorder or fuse floating-point operations, so the remainder of a loop after
//! its last whole vector gives the same bits.

use crate::simd::{Kernel, Simd};

macro_rules! flat_loops {
    ($($(#[$meta:meta])* $name:ident($A:ident $a:ident $(, $T:ident $at:ident)*);)*) => {$(
        $(#[$meta])*
        pub(super) struct $name<R, $A, $($T,)* F> {
            pub(super) out: *mut R,
            pub(super) $a: *const $A,
            $(pub(super) $at: *const $T,)*
            pub(super) len: usize,
            pub(super) f: F,
        }

        impl<R: Copy, $A: Copy, $($T: Copy,)* F: Fn($A, $($T),*) -> R + Copy> Kernel for $name<R, $A, $($T,)* F> {
            type Output = ();

            #[inline(always)]
            fn run<S: Simd>(self, _: S) {
                let $name { out, $a, $($at,)* len, f } = self;
                if size_of::<R>() == size_of::<$A>() && out.cast_const().cast() == $a {
                    for i in 0..len {
                        // SAFETY: `Loop::run` passes pointers to `len` elements of these types. A single pointer tells
                        // the compiler that an element is read where it is written.
                        unsafe {
                            let $a = out.add(i).cast::<$A>().read_unaligned();
                            out.add(i).write_unaligned(f($a, $($at.add(i).read_unaligned()),*));
                        }
                    }
                    return;
                }
                for i in 0..len {
                    // SAFETY: `Loop::run` passes pointers to `len` elements of the requested types. They are aligned
                    // for their dtypes, which may be less than for a type of the same size, hence the unaligned
                    // accesses.
                    unsafe {
                        let $a = $a.add(i).read_unaligned();
                        out.add(i).write_unaligned(f($a, $($at.add(i).read_unaligned()),*));
                    }
                }
            }
        }
    )*};
}

flat_loops! {
    /// out = f(a)
    Map1(A a);
    /// out = f(a, b)
    Map2(A a, B b);
    /// out = f(a, b, c)
    Map3(A a, B b, C c);
}
