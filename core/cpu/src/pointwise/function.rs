//! Functions of vectors of floats, for arithmetic that the compiler does not vectorize: everything that calls the
//! functions of `math`.

use super::Loop;
use crate::simd::{self, Float, FloatVector, Kernel, Simd};
use rushlight_base::Result;

/// Functions of one or more numbers, written over vectors of any width, and their loops. Lanes are independent, so that
/// an element's result does not depend on its position.
macro_rules! arities {
    ($($Function:ident, $Apply:ident, $operands:literal: $($x:ident)+;)*) => {$(
        pub(crate) trait $Function: Copy + Send + Sync {
            /// The values of the function.
            fn of<V: FloatVector>(self, $($x: V),+) -> V;
        }

        struct $Apply<T, F> {
            out: *mut T,
            $($x: *const T,)+
            len: usize,
            f: F,
        }

        impl<T: Float, F: $Function> Kernel for $Apply<T, F> {
            type Output = ();

            #[inline(always)]
            fn run<S: Simd>(self, _: S) {
                let $Apply { out, $($x,)+ len, f } = self;
                let lanes = T::Vector::<S>::LANES;
                let mut at = 0;
                // The last one is not whole: functions are long, and are therefore instantiated once here.
                while at < len {
                    let count = lanes.min(len - at);
                    // SAFETY: `Loop::run` passes pointers to `len` elements, and `at + count` is at most `len`.
                    unsafe {
                        let result = f.of($(T::load_some::<S>($x.add(at), count)),+);
                        T::store_some::<S>(result, out.add(at), count);
                    }
                    at += count;
                }
            }
        }

        impl Loop<'_, $operands> {
            /// `out = f(...)`, computed in vectors of `T`.
            #[inline(always)]
            pub(crate) fn apply<T: Float>(&self, grain: usize, f: impl $Function) -> Result<()> {
                self.run([T::DTYPE; $operands], grain, |[out, $($x),+], len| {
                    simd::run($Apply::<T, _> { out: out.cast(), $($x: $x.cast(),)+ len, f })
                })
            }
        }
    )*};
}

arities! {
    Function1, Apply1, 2: a;
    Function2, Apply2, 3: a b;
    Function3, Apply3, 4: a b c;
}
