//! Functions of vectors of floats: for arithmetic that the compiler does not make vector code of by itself, which
//! is everything that calls the functions of `math`.

use super::Loop;
use crate::simd::{self, Float, FloatVector, Kernel, Simd};
use rushlight_base::Result;

/// A function of one number, written over vectors of any width. Lanes do not depend on one another, so that an
/// element's result does not depend on its place.
pub(crate) trait Function1: Copy + Send + Sync {
    /// The values of the function.
    fn of<V: FloatVector>(self, x: V) -> V;
}

/// `functions! { Exp: |x| math::exp(x); }` names functions that [`Loop::apply`] takes.
macro_rules! functions {
    ($($name:ident: |$x:ident| $value:expr;)*) => {$(
        #[derive(Clone, Copy)]
        struct $name;

        impl crate::pointwise::Function1 for $name {
            #[inline(always)]
            fn of<V: FloatVector>(self, $x: V) -> V {
                $value
            }
        }
    )*};
}

pub(crate) use functions;

struct Apply<T, F> {
    out: *mut T,
    a: *const T,
    len: usize,
    f: F,
}

impl<T: Float, F: Function1> Kernel for Apply<T, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Apply { out, a, len, f } = self;
        let lanes = T::Vector::<S>::LANES;
        let mut at = 0;
        while at + lanes <= len {
            // SAFETY: `Loop::run` hands out pointers to `len` elements.
            unsafe { T::store::<S>(f.of(T::load::<S>(a.add(at))), out.add(at)) };
            at += lanes;
        }
        if at < len {
            // SAFETY: as above; fewer than a vector are left.
            unsafe { T::store_partial::<S>(f.of(T::load_partial::<S>(a.add(at), len - at)), out.add(at), len - at) };
        }
    }
}

impl Loop<'_, 2> {
    /// `out = f(a)`, computed in vectors of `T`.
    #[inline(always)]
    pub(crate) fn apply<T: Float>(&self, grain: usize, f: impl Function1) -> Result<()> {
        self.run([T::DTYPE; 2], grain, |[out, a], len| {
            simd::run(Apply::<T, _> { out: out.cast(), a: a.cast(), len, f })
        })
    }
}
