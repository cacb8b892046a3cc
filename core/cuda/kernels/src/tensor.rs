//! Products of half-precision matrices on tensor cores: out = beta add + alpha a b, from any strides, with sums in `f32`.
//!
//! A block of 8 warps computes 128 x 128 elements, 32 columns of `a` at a time. Operands are copied to shared memory in
//! pieces of 8 elements along whichever dimension is contiguous, and `ldmatrix` turns those that lie across. A warp keeps
//! 64 x 32 sums. Needs compute capability 8.0.

use crate::gemm::Sum;
use crate::memory::{load, store};
use crate::number::Number;
use crate::parameters::Gemm;
use crate::simt::{barrier, block, block_z, blocks_z, opaque, shared, thread};
use crate::{bf16, f16};
use core::arch::asm;

/// Rows and columns of a tile.
const TILE: u32 = 128;
/// Columns of `a` that are multiplied at once.
const DEPTH: u32 = 32;
/// Bytes from row to row of a tile whose rows run along the dimension of the sum, so that 8 rows are in different banks.
const LONG: u32 = DEPTH * 2 + 16;
/// Bytes from row to row of a tile that lies across.
const WIDE: u32 = TILE * 2 + 16;
/// Bytes of a tile of one operand.
const BYTES: u32 = TILE * LONG;

/// A half-precision type that tensor cores multiply.
trait Half: Number<Wide = f32> {
    /// d += a b
    fn multiply(d: &mut [f32; 4], a: [u32; 4], b: [u32; 2]);
}

macro_rules! halves {
    ($($type:ty: $name:literal;)*) => {$(
        impl Half for $type {
            #[inline(always)]
            fn multiply(d: &mut [f32; 4], a: [u32; 4], b: [u32; 2]) {
                let (mut r, mut s, mut t, mut u) = (d[0].to_bits(), d[1].to_bits(), d[2].to_bits(), d[3].to_bits());
                // SAFETY: all lanes of the warp take part: the caller has no branch around it.
                unsafe {
                    asm!(
                        concat!(
                            "mma.sync.aligned.m16n8k16.row.col.f32.", $name, ".", $name, ".f32 ",
                            "{{{0},{1},{2},{3}}}, {{{4},{5},{6},{7}}}, {{{8},{9}}}, {{{0},{1},{2},{3}}};"
                        ),
                        inout(reg32) r, inout(reg32) s, inout(reg32) t, inout(reg32) u,
                        in(reg32) a[0], in(reg32) a[1], in(reg32) a[2], in(reg32) a[3], in(reg32) b[0], in(reg32) b[1],
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                *d = [f32::from_bits(r), f32::from_bits(s), f32::from_bits(t), f32::from_bits(u)];
            }
        }
    )*};
}

halves! {
    f16: "f16";
    bf16: "bf16";
}

/// Four 8 x 8 matrices, whose rows of 16 bytes lie at the addresses of 8 lanes each; turned if `across`.
#[inline(always)]
fn matrices(at: u32, across: bool) -> [u32; 4] {
    let (a, b, c, d): (u32, u32, u32, u32);
    // SAFETY: the addresses are inside the tiles and aligned to 16 bytes; all lanes of the warp take part.
    unsafe {
        if across {
            asm!("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {{{}, {}, {}, {}}}, [{}];", out(reg32) a, out(reg32) b,
                out(reg32) c, out(reg32) d, in(reg32) at, options(readonly, nostack, preserves_flags));
        } else {
            asm!("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{}, {}, {}, {}}}, [{}];", out(reg32) a, out(reg32) b,
                out(reg32) c, out(reg32) d, in(reg32) at, options(readonly, nostack, preserves_flags));
        }
    }
    [a, b, c, d]
}

#[inline(always)]
fn put(at: u32, [a, b, c, d]: [u32; 4]) {
    // SAFETY: the pieces are inside the tiles and aligned to 16 bytes.
    unsafe {
        asm!("st.shared.v4.b32 [{}], {{{}, {}, {}, {}}};", in(reg32) at, in(reg32) a, in(reg32) b, in(reg32) c,
            in(reg32) d, options(nostack, preserves_flags));
    }
}

/// An operand: `along` counts the rows of `a` or the columns of `b`, `depth` the dimension of the sum.
#[derive(Clone, Copy)]
struct Operand {
    at: u64,
    /// Steps in bytes.
    along: i64,
    depth: i64,
    /// Sizes.
    count: u32,
    length: u32,
    /// Whether pieces lie along the depth; else across.
    is_long: bool,
    /// Whether pieces are aligned to 16 bytes and contiguous.
    is_aligned: bool,
}

impl Operand {
    #[inline(always)]
    fn new(p: &Gemm, which: usize, batch: u32, [along, depth]: [i64; 2], count: u32, length: u32) -> Operand {
        let at = p.at[which].wrapping_add((i64::from(batch) * p.strides[which][0] * 2) as u64);
        let is_long = depth == 1 || along != 1;
        let other = if is_long { along } else { depth };
        let is_aligned = (depth == 1 || along == 1) && other % 8 == 0 && at % 16 == 0;
        Operand { at, along: along * 2, depth: depth * 2, count, length, is_long, is_aligned }
    }

    /// Where piece `index` of a tile begins: the steps along and in depth.
    #[inline(always)]
    fn start(&self, index: u32) -> (u32, u32) {
        if self.is_long { (index / 4, index % 4 * 8) } else { (index % 16 * 8, index / 16) }
    }

    /// Piece `index` of the tile that begins at these steps; elements outside are 0.
    #[inline(always)]
    fn piece(&self, index: u32, along0: u32, depth0: u32) -> [u32; 4] {
        let (along, depth) = self.start(index);
        let (along, depth) = (along0 + along, depth0 + depth);
        let at = self.at.wrapping_add((i64::from(along) * self.along + i64::from(depth) * self.depth) as u64);
        let whole = if self.is_long {
            along < self.count && depth + 8 <= self.length
        } else {
            along + 8 <= self.count && depth < self.length
        };
        if self.is_aligned && whole {
            // SAFETY: the 8 elements are inside the operand, which the host describes.
            return unsafe { load::<[u32; 4], 1>(at, 16)[0] };
        }
        let (step, left) = if self.is_long {
            (self.depth, if along < self.count { self.length.saturating_sub(depth) } else { 0 })
        } else {
            (self.along, if depth < self.length { self.count.saturating_sub(along) } else { 0 })
        };
        let one = |nth: u32| -> u32 {
            if nth >= left {
                return 0;
            }
            // SAFETY: the element is inside the operand, which the host describes.
            u32::from(unsafe { load::<u16, 1>(at.wrapping_add((i64::from(nth) * step) as u64), 2)[0] })
        };
        let two = |nth: u32| one(nth) | one(nth + 1) << 16;
        [two(0), two(2), two(4), two(6)]
    }

    /// The place of piece `index` in a tile in shared memory.
    #[inline(always)]
    fn place(&self, index: u32) -> u32 {
        if self.is_long { index / 4 * LONG + index % 4 * 16 } else { index / 16 * WIDE + index % 16 * 16 }
    }

    /// Four matrices of 8 x 8: 16 steps along from `along` on, 16 in depth. The second one is 8 steps further along, or
    /// in depth if `depth_first`.
    #[inline(always)]
    fn fragment(&self, tile: u32, along: u32, depth: u32, depth_first: bool) -> [u32; 4] {
        let lane = thread() % 32;
        let (second, third) = (lane / 8 % 2 * 8, lane / 16 * 8);
        let (further, deeper) = if depth_first { (third, second) } else { (second, third) };
        let (along, depth) = (along + further, depth + deeper);
        if self.is_long {
            matrices(tile + (along + lane % 8) * LONG + depth * 2, false)
        } else {
            matrices(tile + (depth + lane % 8) * WIDE + along * 2, true)
        }
    }
}

macro_rules! four {
    ($i:ident, $body:block) => {
        four!(@ $i, $body; 0 1 2 3)
    };
    (@ $i:ident, $body:block; $($value:literal)*) => {$({
        const $i: usize = $value;
        $body
    })*};
}

/// The sums of this warp.
#[inline(always)]
fn sums<T: Half>(a: &Operand, b: &Operand, (row0, column0): (u32, u32), k: u32) -> [[[f32; 4]; 4]; 4] {
    let warp = thread() / 32;
    let (row, column) = (warp / 4 * 64, warp % 4 * 32);
    let mut sums = [[[0.0; 4]; 4]; 4];
    let second = thread() + 256;
    let read = #[inline(always)]
    |depth: u32| {
        [a.piece(thread(), row0, depth), a.piece(second, row0, depth), b.piece(thread(), column0, depth), b.piece(second, column0, depth)]
    };
    let write = #[inline(always)]
    |buffer: u32, [left, more_left, right, more_right]: [[u32; 4]; 4]| {
        put(buffer + a.place(thread()), left);
        put(buffer + a.place(second), more_left);
        put(buffer + BYTES + b.place(thread()), right);
        put(buffer + BYTES + b.place(second), more_right);
    };
    // The tiles of an earlier matrix of the stack may still be read.
    barrier();
    write(shared(), read(0));
    barrier();
    let (mut buffer, mut depth) = (0, 0);
    while depth < k {
        let next = depth + DEPTH;
        let ahead = if next < k { Some(read(next)) } else { None };
        let from = shared() + buffer * 2 * BYTES;
        let mut step = 0;
        while step < DEPTH {
            let right = [
                b.fragment(from + BYTES, column, step, true),
                b.fragment(from + BYTES, column + 16, step, true),
            ];
            four!(I, {
                let left = a.fragment(from, row + 16 * I as u32, step, false);
                four!(J, {
                    let pair = [right[J / 2][J % 2 * 2], right[J / 2][J % 2 * 2 + 1]];
                    T::multiply(&mut sums[I][J], left, pair);
                });
            });
            step += 16;
        }
        if let Some(ahead) = ahead {
            write(shared() + (1 - buffer) * 2 * BYTES, ahead);
        }
        barrier();
        buffer = 1 - buffer;
        depth = next;
    }
    sums
}

/// The tile of a block: tiles of 8 rows of tiles follow each other, so that blocks that run together share operands.
#[inline(always)]
fn tile(index: u32, rows: u32, columns: u32) -> (u32, u32) {
    let group = index / (8 * columns);
    let height = if rows - group * 8 < 8 { rows - group * 8 } else { 8 };
    let rest = index - group * 8 * columns;
    (group * 8 + rest % height, rest / height)
}

#[inline(always)]
fn product<T: Half>(p: &Gemm) {
    let [m, k, n] = p.sizes;
    let (row, column) = tile(block(), m.div_ceil(TILE), n.div_ceil(TILE));
    let start = (row * TILE, column * TILE);
    let (lane, warp) = (thread() % 32, thread() / 32);
    let mut batch = block_z();
    while batch < p.batch {
        let [_, of_row, of_column] = p.strides[1];
        let a = Operand::new(p, 1, batch, [of_row, of_column], m, k);
        let [_, of_row, of_column] = p.strides[2];
        let b = Operand::new(p, 2, batch, [of_column, of_row], n, k);
        let sums = sums::<T>(&a, &b, start, k);
        let base = |which: usize| p.at[which].wrapping_add((i64::from(batch) * p.strides[which][0] * 2) as u64);
        let (out, add) = (base(0), base(3));
        let place = |which: usize, base: u64, row: u32, column: u32| {
            let [_, of_row, of_column] = p.strides[which];
            base.wrapping_add(((i64::from(row) * of_row + i64::from(column) * of_column) * 2) as u64)
        };
        four!(I, {
            let row = start.0 + opaque(warp / 4 * 64 + 16 * I as u32 + lane / 4);
            four!(J, {
                let column = start.1 + opaque(warp % 4 * 32 + 8 * J as u32 + lane % 4 * 2);
                four!(E, {
                    let (row, column) = (row + E as u32 / 2 * 8, column + E as u32 % 2);
                    if row < m && column < n {
                        let value = sums[I][J][E].finished(p, || {
                            // SAFETY: the addend has an element for each place, with steps of 0 where it is repeated.
                            unsafe { load::<T, 1>(place(3, add, row, column), 2)[0].wide() }
                        });
                        // SAFETY: the element is inside the output, which the host describes.
                        unsafe { store(place(0, out, row, column), 2, [T::narrow(value)]) }
                    }
                });
            });
        });
        batch += blocks_z();
    }
}

entry! { "tensor" "tensor_gemm", F16, (p: Gemm) => product::<f16> }
entry! { "tensor" "tensor_gemm", BF16, (p: Gemm) => product::<bf16> }
