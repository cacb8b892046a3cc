//! What the files of `core/cpu` use of `core/base`, without an allocator: errors that say nothing.

/// An error of a kernel: the host reads that there was one.
#[derive(Clone, Copy, Debug)]
pub struct Error;

pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Ends the launch with an error.
#[inline(always)]
pub fn trap() -> ! {
    // SAFETY: a trap has no precondition.
    unsafe { core::arch::nvptx::trap() }
}

#[macro_export]
macro_rules! err {
    ($kind:ident, $($text:tt)+) => {
        $crate::base::Error
    };
}

#[macro_export]
macro_rules! bail {
    ($kind:ident, $($text:tt)+) => {
        return Err($crate::base::Error)
    };
}

#[macro_export]
macro_rules! ensure {
    ($condition:expr, $kind:ident, $($text:tt)+) => {
        if !$condition {
            return Err($crate::base::Error);
        }
    };
}

/// A function of `f32` or `f64` that `core` has not.
macro_rules! standard {
    ($type:ident::$name:ident($($argument:expr),+)) => {
        crate::floats::$type::$name($($argument),+)
    };
}

/// A function of complex numbers that needs such functions.
macro_rules! complex {
    (exp($argument:expr)) => {
        complex_exp($argument)
    };
    (sqrt($argument:expr)) => {
        complex_sqrt($argument)
    };
}

/// The number, of which the compiler knows nothing. It takes a shift by the lower half of a number of 64 bits, chosen
/// where that is less than 64, for the device's shift, which does not see the upper half.
#[inline(always)]
pub fn hidden(number: u32) -> u32 {
    let same: u32;
    // SAFETY: a register is copied.
    unsafe { core::arch::asm!("mov.b32 {}, {};", out(reg32) same, in(reg32) number, options(pure, nomem, nostack)) }
    same
}
