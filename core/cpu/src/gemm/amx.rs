//! Tiles of Intel's matrix registers (AMX): brain floats summed as floats, bytes summed in 32 bits.
//!
//! A tile register holds 16 rows of 64 bytes. One instruction multiplies 16 rows of the left operand, 64 bytes along k,
//! with the same range of k of 16 columns, and adds 16 x 16 sums. Left panels therefore hold 64 bytes along k of each
//! row side by side; right panels are those of the vector tiles. The compiler does not support these registers, so this
//! is assembly.

use super::lanes::Vector;
use super::tile::{Kernels, Tile, TileFn};
use super::x86::{F32x16, I32x16};
use std::arch::asm;
use std::sync::OnceLock;

/// Whether the processor multiplies bfloat16 and bytes in matrix registers, and the system permits it.
pub(super) fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| has_instructions() && may_use())
}

fn has_instructions() -> bool {
    const BF16: u32 = 1 << 22;
    const TILES: u32 = 1 << 24;
    const INT8: u32 = 1 << 25;
    let most = std::arch::x86_64::__cpuid(0).eax;
    let all = BF16 | TILES | INT8;
    most >= 7 && std::arch::x86_64::__cpuid_count(7, 0).edx & all == all
}

/// Requests permission from the kernel, which keeps the registers disabled until then.
#[cfg(target_os = "linux")]
fn may_use() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const REQUEST_PERMISSION: u64 = 0x1023;
    const TILE_DATA: u64 = 18;
    let answer: i64;
    // SAFETY: this system call only requests a permission of the process; it clobbers the two registers that are
    // listed.
    unsafe {
        asm!("syscall", inout("rax") ARCH_PRCTL => answer, in("rdi") REQUEST_PERMISSION, in("rsi") TILE_DATA,
            out("rcx") _, out("r11") _, options(nostack));
    }
    answer == 0
}

#[cfg(not(target_os = "linux"))]
fn may_use() -> bool {
    false
}

/// The tile configuration: all tiles have 16 rows of 64 bytes.
#[repr(C, align(64))]
struct Shape {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes: [u16; 16],
    rows: [u8; 16],
}

static SHAPE: Shape = Shape {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

/// Buffer for the sums of the largest tile.
#[repr(C, align(64))]
struct Buffer(#[allow(dead_code, reason = "only its place is used")] [u32; 32 * 32]);

/// Bytes of a row of sums.
const ROW: isize = 128;

/// Enables the registers, for any number of tiles: that takes as long as a small tile itself.
///
/// # Safety
/// The processor has AMX.
unsafe fn open() {
    // SAFETY: the caller guarantees a processor with AMX and the permission; `SHAPE` is a valid tile configuration.
    unsafe { asm!("ldtilecfg [{shape}]", shape = in(reg) &raw const SHAPE, options(nostack)) }
}

/// Disables them again: the system needs more time to switch between threads that use the registers.
///
/// # Safety
/// The contract of [`open`].
unsafe fn close() {
    // SAFETY: the caller guarantees a processor with AMX, whose registers were configured by `open`.
    unsafe { asm!("tilerelease", options(nostack)) }
}

macro_rules! tiles {
    ($name:ident, $multiply:literal, $vector:ty) => {
        /// A tile of `16 * M` rows and `16 * N` columns.
        ///
        /// # Safety
        /// The contract of [`TileFn`].
        #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2")]
        unsafe fn $name<const M: usize, const N: usize>(tile: &Tile) {
            let mut buffer = std::mem::MaybeUninit::<Buffer>::uninit();
            // SAFETY: the registers are `open`; the panels hold `depth` groups of 64 bytes for full tiles; the buffer holds
            // the sums.
            unsafe {
                asm!("tilezero tmm0", "tilezero tmm1", "tilezero tmm2", "tilezero tmm3", options(nostack),
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _, out("tmm4") _, out("tmm5") _,
                    out("tmm6") _, out("tmm7") _);
                let (left, right, depth) = (tile.left, tile.right, tile.depth);
                match (M, N) {
                    _ if depth == 0 => {}
                    (1, 1) => asm!("2:",
                        "tileloadd tmm4, [{left} + 1*{row}]", "tileloadd tmm6, [{right} + 1*{row}]",
                        concat!($multiply, " tmm0, tmm4, tmm6"),
                        "add {left}, 1024", "add {right}, 1024", "dec {depth}", "jnz 2b",
                        left = inout(reg) left => _, right = inout(reg) right => _, depth = inout(reg) depth => _,
                        row = in(reg) 64usize, options(nostack)),
                    (2, 1) => asm!("2:",
                        "tileloadd tmm4, [{left} + 1*{row}]", "tileloadd tmm6, [{right} + 1*{row}]",
                        concat!($multiply, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm5, [{left} + 1*{row} + 1024]",
                        concat!($multiply, " tmm2, tmm5, tmm6"),
                        "add {left}, 2048", "add {right}, 1024", "dec {depth}", "jnz 2b",
                        left = inout(reg) left => _, right = inout(reg) right => _, depth = inout(reg) depth => _,
                        row = in(reg) 64usize, options(nostack)),
                    (1, _) => asm!("2:",
                        "tileloadd tmm4, [{left} + 1*{row}]", "tileloadd tmm6, [{right} + 2*{row}]",
                        concat!($multiply, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm7, [{right} + 2*{row} + 64]",
                        concat!($multiply, " tmm1, tmm4, tmm7"),
                        "add {left}, 1024", "add {right}, 2048", "dec {depth}", "jnz 2b",
                        left = inout(reg) left => _, right = inout(reg) right => _, depth = inout(reg) depth => _,
                        row = in(reg) 64usize, options(nostack)),
                    _ => asm!("2:",
                        "tileloadd tmm4, [{left} + 1*{row}]", "tileloadd tmm6, [{right} + 2*{row}]",
                        concat!($multiply, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm5, [{left} + 1*{row} + 1024]",
                        concat!($multiply, " tmm2, tmm5, tmm6"),
                        "tileloadd tmm7, [{right} + 2*{row} + 64]",
                        concat!($multiply, " tmm1, tmm4, tmm7"),
                        concat!($multiply, " tmm3, tmm5, tmm7"),
                        "add {left}, 2048", "add {right}, 2048", "dec {depth}", "jnz 2b",
                        left = inout(reg) left => _, right = inout(reg) right => _, depth = inout(reg) depth => _,
                        row = in(reg) 64usize, options(nostack)),
                }
                // Whole tiles without an addend are stored directly in the output.
                let whole = tile.add.is_null() && tile.rows == 16 * M && tile.columns == 16 * N;
                let (sums, step) = match whole {
                    true => (tile.out, tile.out_row),
                    false => (buffer.as_mut_ptr().cast::<u8>(), ROW),
                };
                asm!("tilestored [{sums} + 1*{row}], tmm0", sums = in(reg) sums, row = in(reg) step, options(nostack));
                if N == 2 {
                    asm!("tilestored [{sums} + 1*{row} + 64], tmm1", sums = in(reg) sums, row = in(reg) step, options(nostack));
                }
                if M == 2 {
                    let sums = sums.offset(16 * step);
                    asm!("tilestored [{sums} + 1*{row}], tmm2", sums = in(reg) sums, row = in(reg) step, options(nostack));
                    if N == 2 {
                        asm!("tilestored [{sums} + 1*{row} + 64], tmm3", sums = in(reg) sums, row = in(reg) step,
                            options(nostack));
                    }
                }
                if whole {
                    return;
                }
                let sums = buffer.as_ptr().cast::<u8>();
                for row in 0..tile.rows {
                    for first in (0..tile.columns).step_by(16) {
                        let count = 16.min(tile.columns - first);
                        let at = sums.offset(row as isize * ROW).cast::<<$vector as Vector>::Sum>().add(first);
                        let mut total = <$vector>::read(at, 16);
                        if !tile.add.is_null() {
                            let add = tile.add.offset(row as isize * tile.add_row).cast::<<$vector as Vector>::Sum>();
                            total = <$vector>::add(total, <$vector>::read(add.add(first), count));
                        }
                        let out = tile.out.offset(row as isize * tile.out_row).cast::<<$vector as Vector>::Sum>();
                        <$vector>::write(total, out.add(first), count);
                    }
                }
            }
        }
    };
}

tiles!(brains, "tdpbf16ps", F32x16);
tiles!(bytes, "tdpbssd", I32x16);

const BRAINS: &[[TileFn; 3]] =
    &[[brains::<1, 1>, brains::<1, 2>, brains::<1, 2>], [brains::<2, 1>, brains::<2, 2>, brains::<2, 2>]];
const BYTES: &[[TileFn; 3]] =
    &[[bytes::<1, 1>, bytes::<1, 2>, bytes::<1, 2>], [bytes::<2, 1>, bytes::<2, 2>, bytes::<2, 2>]];

/// Tiles over brain floats.
pub(super) const BF16: &Kernels = &kernels(32, 2, BRAINS);
/// Tiles over signed bytes.
pub(super) const I8: &Kernels = &kernels(64, 1, BYTES);

const fn kernels(group: usize, in_bytes: usize, packed: &'static [[TileFn; 3]]) -> Kernels {
    Kernels {
        rows: 32,
        lanes: 16,
        vectors: 2,
        group,
        in_bytes,
        sum_bytes: 4,
        head: false,
        height_step: 16,
        packed,
        along: &[],
        across: &[],
        direct: &[],
        clamps: false,
        registers: Some((open, close)),
    }
}
