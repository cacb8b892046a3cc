//! Functions of vectors of floats: for arithmetic that the compiler does not make vector code of by itself, which
//! is everything that calls the functions of `math`.

use super::Loop;
use crate::simd::{self, Float, FloatVector, Kernel, Simd};
use rushlight_base::Result;

/// Functions of so many numbers, written over vectors of any width, and their loops. Lanes do not depend on one another,
/// so that an element's result does not depend on its place.
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
                while at + lanes <= len {
                    // SAFETY: `Loop::run` hands out pointers to `len` elements.
                    unsafe { T::store::<S>(f.of($(T::load::<S>($x.add(at))),+), out.add(at)) };
                    at += lanes;
                }
                if at < len {
                    let rest = len - at;
                    // SAFETY: as above; fewer than a vector are left.
                    unsafe {
                        let result = f.of($(T::load_partial::<S>($x.add(at), rest)),+);
                        T::store_partial::<S>(result, out.add(at), rest);
                    }
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
}

/// `functions! { Exp: |x| math::exp(x); }` names functions that [`Loop::apply`] takes. Parameters that are the same for
/// all elements are fields: `Softplus { beta: f64 }: |x| ...`.
macro_rules! functions {
    ($($name:ident $({ $($field:ident: $type:ty),* })?: |$($x:ident),+| $value:expr;)*) => {$(
        #[derive(Clone, Copy)]
        struct $name { $($($field: $type),*)? }
        functions!(@of $name [$($($field)*)?] |$($x),+| $value);
    )*};
    (@of $name:ident [$($field:ident)*] |$x:ident| $value:expr) => {
        functions!(@impl Function1 $name [$($field)*] |$x| $value);
    };
    (@of $name:ident [$($field:ident)*] |$x:ident, $y:ident| $value:expr) => {
        functions!(@impl Function2 $name [$($field)*] |$x, $y| $value);
    };
    (@impl $Function:ident $name:ident [$($field:ident)*] |$($x:ident),+| $value:expr) => {
        impl crate::pointwise::$Function for $name {
            #[inline(always)]
            fn of<V: crate::simd::FloatVector>(self, $($x: V),+) -> V {
                let $name { $($field),* } = self;
                $value
            }
        }
    };
}

pub(crate) use functions;
