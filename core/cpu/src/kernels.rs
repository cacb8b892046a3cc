//! `kernels!`: functions over a [`Loop`](crate::Loop) that are also kernels of devices. `standard!`: functions of numbers that devices have in
//! another place.

/// `kernels! { "file"; pub fn add(walk: &Loop<3>, alpha: Scalar) -> Result<()> { ... } }`: functions that devices run as
/// well. Here, a loop over memory of a device is launched there, by the names of the file and the function, where the
/// body arrives at [`Loop::map`](crate::Loop) or a function like it. The macro of the same name in `core/cuda/kernels`
/// makes the kernels of these functions.
macro_rules! kernels {
    ($file:literal; $($(#[$meta:meta])* $vis:vis fn $name:ident($walk:ident: &Loop<$n:literal>
        $(, $parameter:ident: $type:ty)* $(,)?) -> Result<()> $body:block)*) => {$(
        $(#[$meta])*
        $vis fn $name($walk: &Loop<$n> $(, $parameter: $type)*) -> Result<()> {
            if $walk.has_no_kernel() {
                return $walk.with_kernel(
                    &crate::pointwise::Call {
                        file: $file,
                        function: stringify!($name),
                        parameters: &[$(crate::pointwise::Parameter::words($parameter)),*],
                    },
                    &|$walk| self::$name($walk $(, $parameter)*),
                );
            }
            $body
        }
    )*};
}

/// A function of the standard library. Devices have their own (`core/cuda/kernels/src/floats.rs`).
macro_rules! standard {
    ($type:ident::$name:ident($($argument:expr),+)) => {
        $type::$name($($argument),+)
    };
}
