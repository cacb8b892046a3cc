//! `dispatch!`: from a dtype at run time to an element type at compile time. `by_size!`: to a type of the same size,
//! for kernels that only move elements.

use rushlight_base::{DType, Error, err};

/// The error of a kernel that has no loop for `dtype`, in PyTorch's words.
#[cold]
pub(crate) fn unsupported(kernel: &str, dtype: DType) -> Error {
    #[cfg(target_arch = "nvptx64")]
    crate::base::trap();
    #[cfg(not(target_arch = "nvptx64"))]
    err!(Runtime, "\"{kernel}\" not implemented for '{}'", dtype.c10_name())
}

/// `compute!(dtype, "kernel_name", sets..., T => body)`: like `dispatch!` for pointwise loops, with `T` the computation
/// type. `half` stands for f16 and bf16 in `f32` and requires `float`, as `chalf` requires `complex`: blocks of them
/// are converted on the fly (`pointwise/drive.rs`), so they need no loop of their own.
macro_rules! compute {
    ($dtype:expr, $kernel:expr, $($set:ident)+, $T:ident => $body:expr) => {
        compute!(@sets $dtype, $kernel, [$($set)+] [] [], $T => $body)
    };
    (@sets $dtype:expr, $kernel:expr, [half $($rest:tt)*] [$($plain:tt)*] [$($half:tt)*], $T:ident => $body:expr) => {
        compute!(@sets $dtype, $kernel, [$($rest)*] [$($plain)*] [$($half)* F16 BF16], $T => $body)
    };
    (@sets $dtype:expr, $kernel:expr, [chalf $($rest:tt)*] [$($plain:tt)*] [$($half:tt)*], $T:ident => $body:expr) => {
        compute!(@sets $dtype, $kernel, [$($rest)*] [$($plain)*] [$($half)* C32], $T => $body)
    };
    (@sets $dtype:expr, $kernel:expr, [$set:ident $($rest:tt)*] [$($plain:tt)*] [$($half:tt)*], $T:ident => $body:expr) => {
        compute!(@sets $dtype, $kernel, [$($rest)*] [$($plain)* $set] [$($half)*], $T => $body)
    };
    (@sets $dtype:expr, $kernel:expr, [] [$($plain:tt)*] [$($half:tt)*], $T:ident => $body:expr) => {{
        let dtype = $dtype;
        let wide = match dtype {
            $(rushlight_base::DType::$half => dtype.opmath(),)*
            other => other,
        };
        dispatch!(@sets wide, $kernel, [$($plain)*] [], $T => $body)
    }};
}

/// The element type for a dtype name.
macro_rules! element {
    (U8) => {
        u8
    };
    (I8) => {
        i8
    };
    (I16) => {
        i16
    };
    (I32) => {
        i32
    };
    (I64) => {
        i64
    };
    (U16) => {
        u16
    };
    (U32) => {
        u32
    };
    (U64) => {
        u64
    };
    (F16) => {
        rushlight_base::f16
    };
    (BF16) => {
        rushlight_base::bf16
    };
    (F32) => {
        f32
    };
    (F64) => {
        f64
    };
    (C32) => {
        rushlight_base::Complex32
    };
    (C64) => {
        rushlight_base::Complex64
    };
    (C128) => {
        rushlight_base::Complex128
    };
    (Bool) => {
        crate::Flag
    };
}

/// `dispatch!(dtype, "kernel_name", sets..., T => body)`: runs `body` (a `Result`) with `T` the element
/// type of `dtype`, or fails with "not implemented for" if no set holds it.
///
/// Sets: `integer` (u8 to i64), `unsigned` (u16, u32, u64), `half`, `float16`, `float`, `complex`, `chalf`, `bool`.
macro_rules! dispatch {
    ($dtype:expr, $kernel:expr, $($set:ident)+, $T:ident => $body:expr) => {
        dispatch!(@sets $dtype, $kernel, [$($set)+] [], $T => $body)
    };
    (@sets $dtype:expr, $kernel:expr, [integer $($rest:tt)*] [$($D:tt)*], $T:ident => $body:expr) => {
        dispatch!(@sets $dtype, $kernel, [$($rest)*] [$($D)* U8 I8 I16 I32 I64], $T => $body)
    };
    (@sets $dtype:expr, $kernel:expr, [unsigned $($rest:tt)*] [$($D:tt)*], $T:ident => $body:expr) => {
        dispatch!(@sets $dtype, $kernel, [$($rest)*] [$($D)* U16 U32 U64], $T => $body)
    };
    (@sets $dtype:expr, $kernel:expr, [half $($rest:tt)*] [$($D:tt)*], $T:ident => $body:expr) => {
        dispatch!(@sets $dtype, $kernel, [$($rest)*] [$($D)* F16 BF16], $T => $body)
    };
    (@sets $dtype:expr, $kernel:expr, [float16 $($rest:tt)*] [$($D:tt)*], $T:ident => $body:expr) => {
        dispatch!(@sets $dtype, $kernel, [$($rest)*] [$($D)* F16], $T => $body)
    };
    (@sets $dtype:expr, $kernel:expr, [float $($rest:tt)*] [$($D:tt)*], $T:ident => $body:expr) => {
        dispatch!(@sets $dtype, $kernel, [$($rest)*] [$($D)* F32 F64], $T => $body)
    };
    (@sets $dtype:expr, $kernel:expr, [complex $($rest:tt)*] [$($D:tt)*], $T:ident => $body:expr) => {
        dispatch!(@sets $dtype, $kernel, [$($rest)*] [$($D)* C64 C128], $T => $body)
    };
    (@sets $dtype:expr, $kernel:expr, [chalf $($rest:tt)*] [$($D:tt)*], $T:ident => $body:expr) => {
        dispatch!(@sets $dtype, $kernel, [$($rest)*] [$($D)* C32], $T => $body)
    };
    (@sets $dtype:expr, $kernel:expr, [bool $($rest:tt)*] [$($D:tt)*], $T:ident => $body:expr) => {
        dispatch!(@sets $dtype, $kernel, [$($rest)*] [$($D)* Bool], $T => $body)
    };
    (@sets $dtype:expr, $kernel:expr, [] [$($D:tt)*], $T:ident => $body:expr) => {
        match $dtype {
            $(rushlight_base::DType::$D => {
                type $T = element!($D);
                $body
            })*
            #[allow(unreachable_patterns)]
            other => Err(crate::dispatch::unsupported($kernel, other)),
        }
    };
}

/// Runs `$body` with `$T` a type of as many bytes, that is aligned wherever the element is.
macro_rules! by_size {
    ($array:expr, $T:ident => $body:expr) => {
        match $array.dtype().size() {
            1 => by_size!(@type u8, $T => $body),
            2 => by_size!(@type u16, $T => $body),
            4 if $array.dtype().is_complex() => by_size!(@type [u16; 2], $T => $body),
            4 => by_size!(@type u32, $T => $body),
            8 if $array.dtype().is_complex() => by_size!(@type [u32; 2], $T => $body),
            8 => by_size!(@type u64, $T => $body),
            _ => by_size!(@type [u64; 2], $T => $body),
        }
    };
    (@type $type:ty, $T:ident => $body:expr) => {{
        type $T = $type;
        $body
    }};
}
