//! The decoded form of instructions.
//!
//! Registers are rows of 32 lanes: a row holds 32-bit elements (also those of narrower registers, zero-extended), a
//! 64-bit register is two rows. Predicates are masks with a bit per lane. Constants and special registers are rows that
//! are filled before the kernel starts, so that every operand is a row.

use super::{Module, Space, Ty};
use std::sync::Arc;

/// No register.
pub const NONE: u32 = u32::MAX;

/// Integer operations on whole rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Int {
    Add,
    Sub,
    Mul,
    Mad,
    And,
    Or,
    Xor,
    Not,
    Neg,
    Shl,
    ShrU,
    ShrS,
    MinU,
    MaxU,
    MinS,
    MaxS,
    BfeU,
}

/// Floating-point operations on whole rows, rounded to nearest even.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Float {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Neg,
    Abs,
    Min,
    Max,
    Sqrt,
    Rcp,
    Copysign,
    Trunc,
    Floor,
    Ceil,
    Even,
}

/// Comparisons. The names with `U` are true for NaN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    EqU,
    NeU,
    LtU,
    LeU,
    GtU,
    GeU,
    Nan,
    Num,
}

/// Operations on predicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Logic {
    Mov,
    And,
    Or,
    Xor,
    Not,
}

/// Conversions of whole rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Wide {
    /// 32 bits to 64 with zeros.
    Zero,
    /// 32 bits to 64 with the sign.
    Sign,
    /// 64 bits to 32.
    Low,
    /// 64 bits to 16 with zeros above.
    Low16,
    /// 32 bits to 16 with zeros above.
    Cut16,
    F32ToF64,
    F64ToF32,
    S32ToF32,
    U32ToF32,
    S32ToF64,
}

/// Operations that run one lane at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Scalar {
    Mov,
    Add,
    Sub,
    Mul,
    MulHi,
    MulWide,
    Mul24,
    Mad,
    MadHi,
    MadWide,
    Mad24,
    Sad,
    Div,
    Rem,
    Neg,
    Abs,
    Min,
    Max,
    And,
    Or,
    Xor,
    Not,
    Cnot,
    Lop3,
    Shl,
    Shr,
    ShfLeft,
    ShfRight,
    Bfe,
    Bfi,
    Brev,
    Clz,
    Popc,
    Bfind,
    BfindShift,
    Prmt,
    Slct,
    Fma,
    Sqrt,
    Rcp,
    Rsqrt,
    Sin,
    Cos,
    Ex2,
    Lg2,
    Tanh,
    Copysign,
    Cvt,
    /// Two numbers into the halves of a register.
    CvtPack,
    Set(Cmp),
    Dp4a,
}

/// Properties that `testp` asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Property {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// How lanes of a warp exchange a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Shuffle {
    Up,
    Down,
    Bfly,
    Idx,
}

/// Votes of a warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Vote {
    All,
    Any,
    Uni,
    Ballot,
    Active,
}

/// Atomic operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Atomic {
    Add,
    Cas,
    Exch,
    Min,
    Max,
    And,
    Or,
    Xor,
    Inc,
    Dec,
}

/// Values that differ between threads or blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    Lane,
    Warp,
    Warps,
    LaneMask(Cmp),
    Zero,
    One,
}

/// An operation.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Op {
    Mov32,
    Mov64,
    Int32(Int),
    Int64(Int),
    F32(Float),
    F64(Float),
    Set32(Cmp),
    Set32S(Cmp),
    Set64(Cmp),
    Set64S(Cmp),
    SetF32(Cmp),
    SetF64(Cmp),
    Set16(Cmp),
    Select32,
    Select64,
    Widen(Wide),
    MulWideU,
    MulWideS,
    MadWideU,
    MadWideS,
    Mask(Logic),
    Testp(Property),
    Scalar(Scalar),
    /// `add.cc` and similar: subtract, read the carry, write the carry.
    Carry {
        subtract: bool,
        reads: bool,
        writes: bool,
    },
    LoadParam,
    Load(Space, u8),
    Store(Space, u8),
    Atomic(Atomic, Space),
    Branch,
    BranchTable,
    Barrier {
        aligned: bool,
        wait: bool,
    },
    /// A barrier that counts or combines predicates: and, or, population count.
    BarrierReduce(Logic),
    WarpBarrier,
    Return,
    Trap,
    /// An instruction that cannot run; the message is `Kernel::messages[imm]`.
    Unknown,
    Shuffle(Shuffle),
    Vote(Vote),
    /// `match.any.sync` or `match.all.sync`.
    Match(bool),
    /// `redux.sync`.
    Redux(Atomic),
    Pack(u8),
    Unpack(u8),
    /// Shape m16n8k16 or m16n8k8 with types of the operands in `ty`.
    Mma(u8),
    /// Matrices, transposed.
    LoadMatrix(u8, bool),
    CopyAsync,
    Nop,
}

/// Rounding to integers or to the precision of the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Round {
    /// To nearest, ties to even.
    Near,
    /// To nearest, ties away from zero.
    Away,
    /// Toward zero.
    Zero,
    /// Toward minus infinity.
    Down,
    /// Toward plus infinity.
    Up,
}

/// Modifiers of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mods {
    /// Rounding.
    pub round: Round,
    /// Round to an integer (`.rni` and similar).
    pub integer: bool,
    /// Saturate.
    pub sat: bool,
    /// Flush subnormal numbers to zero.
    pub ftz: bool,
    /// `min` and `max` return NaN if an operand is NaN.
    pub nan: bool,
    /// Negative results become zero.
    pub relu: bool,
    /// 1 if a shift of `shf` has `.clamp`, the mode of `prmt`, or 1 if a load or conversion writes a 16-bit register.
    pub mode: u8,
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug)]
pub struct Ins {
    /// The operation.
    pub op: Op,
    /// Type of the operands.
    pub ty: Ty,
    /// Second type: that of the source of `cvt`.
    pub ty2: Ty,
    /// Modifiers.
    pub mods: Mods,
    /// Bits 0 to 3: source n is a 64-bit register. Bit 7: the destination is one.
    pub wide: u8,
    /// Predicate times 2, plus 1 if it is negated; [`NONE`] without a guard.
    pub guard: u32,
    /// Destination.
    pub dst: u32,
    /// Second destination: a predicate.
    pub dst2: u32,
    /// Sources; the second of vector loads and stores is an index into [`Kernel::lists`].
    pub src: [u32; 4],
    /// Offset, target of a branch, or a number of the operation.
    pub imm: i64,
    /// Line of the text, from 1.
    pub line: u32,
}

/// A kernel that can run.
#[derive(Debug)]
pub struct Kernel {
    /// The name.
    pub name: String,
    /// The module's text, for error messages.
    pub module: Arc<Module>,
    /// Instructions.
    pub code: Vec<Ins>,
    /// Rows of a warp.
    pub rows: usize,
    /// Predicates of a warp.
    pub predicates: usize,
    /// Rows that hold a constant: row with [`CONSTANT`](super::CONSTANT), bits, whether it is 64 bits wide.
    pub constants: Vec<(u32, u64, bool)>,
    /// Rows of special registers.
    pub specials: Vec<(u32, Special)>,
    /// Registers of vector operands.
    pub lists: Vec<u32>,
    /// Targets of `brx.idx`.
    pub tables: Vec<Vec<u32>>,
    /// Messages of [`Op::Unknown`].
    pub messages: Vec<String>,
    /// Offset and size of each parameter.
    pub params: Vec<(usize, usize)>,
    /// Bytes of all parameters.
    pub param_bytes: usize,
    /// Bytes of static shared memory.
    pub shared: usize,
    /// Bytes of local memory per thread.
    pub local: usize,
    /// Bytes of one cell of the check of shared memory: no access is smaller.
    pub grain: usize,
    /// Whether it changes global memory with atomic operations: its blocks then run one after the other.
    pub atomics: bool,
    /// Registers that the text uses.
    pub registers: usize,
}
