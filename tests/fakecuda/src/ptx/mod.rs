//! PTX: scan the text of a module, decode kernels into [`Ins`].
//!
//! [`scan`] finds functions and variables, [`decode`] turns a kernel with all functions that it calls into one list of
//! instructions, [`select`] knows the opcodes.

mod allocate;
mod decode;
mod fast;
mod ins;
mod scan;
mod select;

pub use allocate::CONSTANT;
pub use decode::decode;
pub use ins::*;
pub use scan::{Function, Initial, Module, Parameter, Variable, scan};

/// A type of PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Ty {
    Pred,
    B8,
    B16,
    B32,
    B64,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    TF32,
    F32,
    F64,
}

impl Ty {
    /// The type of a name without its dot.
    pub fn of(name: &str) -> Option<Ty> {
        Some(match name {
            "pred" => Ty::Pred,
            "b8" => Ty::B8,
            "b16" => Ty::B16,
            "b32" => Ty::B32,
            "b64" => Ty::B64,
            "u8" => Ty::U8,
            "u16" => Ty::U16,
            "u32" => Ty::U32,
            "u64" => Ty::U64,
            "s8" => Ty::S8,
            "s16" => Ty::S16,
            "s32" => Ty::S32,
            "s64" => Ty::S64,
            "f16" => Ty::F16,
            "f16x2" => Ty::F16x2,
            "bf16" => Ty::BF16,
            "bf16x2" => Ty::BF16x2,
            "tf32" => Ty::TF32,
            "f32" => Ty::F32,
            "f64" => Ty::F64,
            _ => return None,
        })
    }

    /// Bytes in memory.
    pub fn size(self) -> usize {
        match self {
            Ty::Pred | Ty::B8 | Ty::U8 | Ty::S8 => 1,
            Ty::B16 | Ty::U16 | Ty::S16 | Ty::F16 | Ty::BF16 => 2,
            Ty::B32 | Ty::U32 | Ty::S32 | Ty::F32 | Ty::F16x2 | Ty::BF16x2 | Ty::TF32 => 4,
            Ty::B64 | Ty::U64 | Ty::S64 | Ty::F64 => 8,
        }
    }

    /// The number of bits.
    pub fn bits(self) -> u32 {
        self.size() as u32 * 8
    }

    /// All bits of the type.
    pub fn mask(self) -> u64 {
        match self {
            Ty::Pred => 1,
            _ => u64::MAX >> (64 - self.bits()),
        }
    }

    /// Whether the type is a signed integer.
    pub fn signed(self) -> bool {
        matches!(self, Ty::S8 | Ty::S16 | Ty::S32 | Ty::S64)
    }

    /// Whether the type is a number with a point.
    pub fn float(self) -> bool {
        matches!(self, Ty::F16 | Ty::F16x2 | Ty::BF16 | Ty::BF16x2 | Ty::TF32 | Ty::F32 | Ty::F64)
    }

    /// The value of the type's bits, sign-extended if the type is signed and zero-extended otherwise.
    pub fn extend(self, bits: u64) -> u64 {
        let shift = 64 - self.bits();
        if self.signed() { ((bits << shift) as i64 >> shift) as u64 } else { bits & self.mask() }
    }
}

/// A state space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Space {
    Generic,
    Global,
    Shared,
    Local,
    Param,
}

/// The first address of shared memory: windows of addresses that no allocation uses.
pub const SHARED: u64 = 0x7e00_0000_0000_0000;
/// The first address of a thread's local memory.
pub const LOCAL: u64 = 0x7d00_0000_0000_0000;
/// The first address of the kernel's parameters.
pub const PARAM: u64 = 0x7c00_0000_0000_0000;
