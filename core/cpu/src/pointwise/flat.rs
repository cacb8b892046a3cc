//! The loops over contiguous memory, compiled for every instruction set.
//!
//! The compiler makes vector code of them where the output is apart from the inputs, which `drive.rs` sees to. It
//! does not reorder or fuse floating-point operations, so the rest of a loop after its last whole vector gives the
//! same bits.

use crate::simd::{Kernel, Simd};

macro_rules! flat_loops {
    ($($(#[$meta:meta])* $name:ident($($T:ident $at:ident),+);)*) => {$(
        $(#[$meta])*
        pub(super) struct $name<R, $($T,)+ F> {
            pub(super) out: *mut R,
            $(pub(super) $at: *const $T,)+
            pub(super) len: usize,
            pub(super) f: F,
        }

        impl<R: Copy, $($T: Copy,)+ F: Fn($($T),+) -> R + Copy> Kernel for $name<R, $($T,)+ F> {
            type Output = ();

            #[inline(always)]
            fn run<S: Simd>(self, _: S) {
                let $name { out, $($at,)+ len, f } = self;
                for i in 0..len {
                    // SAFETY: `Loop::run` hands out pointers to `len` elements of the types it was asked for. They
                    // are aligned for their dtypes, of which a bit pattern may be less aligned.
                    unsafe { out.add(i).write_unaligned(f($($at.add(i).read_unaligned()),+)) }
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
