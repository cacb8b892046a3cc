//! Names for the functions that `Loop::apply` takes, on the CPU and on devices.

/// `functions! { Exp: |x| math::exp(x); }` names functions that [`Loop::apply`] takes. Parameters that are the same for
/// all elements are fields: `Softplus { beta: f64 }: |x| ...`.
macro_rules! functions {
    ($($name:ident $({ $($field:ident: $type:ty),* })?: |$($x:ident),+| $value:expr;)*) => {$(
        #[derive(Clone, Copy)]
        struct $name { $($($field: $type),*)? }
        $crate::pointwise::functions!(@of $name [$($($field)*)?] |$($x),+| $value);
    )*};
    (@of $name:ident [$($field:ident)*] |$x:ident| $value:expr) => {
        $crate::pointwise::functions!(@impl Function1 $name [$($field)*] |$x| $value);
    };
    (@of $name:ident [$($field:ident)*] |$x:ident, $y:ident| $value:expr) => {
        $crate::pointwise::functions!(@impl Function2 $name [$($field)*] |$x, $y| $value);
    };
    (@of $name:ident [$($field:ident)*] |$x:ident, $y:ident, $z:ident| $value:expr) => {
        $crate::pointwise::functions!(@impl Function3 $name [$($field)*] |$x, $y, $z| $value);
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

/// Kernels of functions of floats in a file of kernels: `name<operands>("name in PyTorch", grain, parameters...): |x, y| value;`. Parameters
/// are rounded to the computation type.
macro_rules! float_kernels {
    ($file:literal; $($(#[$doc:meta])* $name:ident<$n:literal>($kernel:literal, $grain:ident $(, $parameter:ident)*):
        |$($x:ident),+| $value:expr;)*) => {$(
        kernels! { $file;
            $(#[$doc])*
            pub fn $name(walk: &Loop<$n> $(, $parameter: f64)*) -> Result<()> {
                crate::pointwise::functions! {
                    F { $($parameter: f64),* }: |$($x),+| {
                        $(let $parameter = V::from_f64($parameter);)*
                        $value
                    };
                }
                compute!(walk.common(), $kernel, half float, T => walk.apply::<T>($grain, F { $($parameter),* }))
            }
        }
    )*};
}

pub(crate) use {float_kernels, functions};
