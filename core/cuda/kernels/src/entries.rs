//! `kernels!` of the device: a function of `core/cpu` and its entries, one for each dtype. `make kernels` drops those
//! that only trap: the function has no loop for their dtype.

macro_rules! kernels {
    ($file:literal; $($(#[$meta:meta])* $vis:vis fn $name:ident($walk:ident: &Loop<$n:literal>
        $(, $parameter:ident: $type:ty)* $(,)?) -> Result<()> $body:block)*) => {$(
        $(#[$meta])*
        #[inline(always)]
        $vis fn $name($walk: &Loop<$n> $(, $parameter: $type)*) -> Result<()> $body

        entries! { $file $name $n [$($parameter)*]; U8 I8 I16 I32 I64 U16 U32 U64 F16 BF16 F32 F64 C32 C64 C128 Bool }
    )*};
}

macro_rules! entries {
    ($file:literal $name:ident $n:literal $parameters:tt; $($dtype:ident)*) => {$(
        entries!(@one $file $name $n $parameters $dtype);
    )*};
    (@one $file:literal $name:ident $n:literal [$($parameter:ident)*] $dtype:ident) => {
        const _: () = {
            #[unsafe(export_name = concat!($file, "$", stringify!($name), "__", dtype_name!($dtype)))]
            unsafe extern "ptx-kernel" fn entry(
                walk: crate::pointwise::Walk<$n>,
                $($parameter: crate::pointwise::Words),*
            ) {
                let base = parameter!(concat!($file, "$", stringify!($name), "__", dtype_name!($dtype), "_param_0"));
                crate::pointwise::enter(&walk, base, crate::DType::$dtype, #[inline(always)] |walk| {
                    self::$name(walk $(, crate::pointwise::Parameter::of_words($parameter))*)
                });
            }
        };
    };
}

/// An entry that calls a function written for the device: `file$name__dtype`.
macro_rules! entry {
    ($file:literal $name:expr, $dtype:ident, ($($p:ident: $type:ty),*) => $function:path) => {
        const _: () = {
            #[unsafe(export_name = concat!($file, "$", $name, "__", dtype_name!($dtype)))]
            unsafe extern "ptx-kernel" fn entry($($p: $type),*) {
                $function($(&$p),*)
            }
        };
    };
}

/// Entries of functions written for the device, with their names, for the floating point dtypes.
macro_rules! float_entries {
    ($file:literal; $($name:ident $parameters:tt)*) => {$(
        entry! { $file stringify!($name), F32, $parameters => $name::<f32> }
        entry! { $file stringify!($name), F64, $parameters => $name::<f64> }
        entry! { $file stringify!($name), F16, $parameters => $name::<crate::f16> }
        entry! { $file stringify!($name), BF16, $parameters => $name::<crate::bf16> }
    )*};
}

/// The address of a parameter in the memory of parameters, by the name that the compiler gives it.
macro_rules! parameter {
    ($name:expr) => {{
        let at: u64;
        // SAFETY: an address is taken.
        unsafe { core::arch::asm!(concat!("mov.b64 {}, ", $name, ";"), out(reg64) at, options(pure, nomem, nostack)) }
        at
    }};
}

/// The name of a dtype, as [`DType::name`](crate::DType::name) has it.
macro_rules! dtype_name {
    (U8) => {
        "uint8"
    };
    (I8) => {
        "int8"
    };
    (I16) => {
        "int16"
    };
    (I32) => {
        "int32"
    };
    (I64) => {
        "int64"
    };
    (U16) => {
        "uint16"
    };
    (U32) => {
        "uint32"
    };
    (U64) => {
        "uint64"
    };
    (F16) => {
        "float16"
    };
    (BF16) => {
        "bfloat16"
    };
    (F32) => {
        "float32"
    };
    (F64) => {
        "float64"
    };
    (C32) => {
        "complex32"
    };
    (C64) => {
        "complex64"
    };
    (C128) => {
        "complex128"
    };
    (Bool) => {
        "bool"
    };
}
