//! Stacks of products.

use super::driver::{Operand, Problem, multiply};
use super::ways::{Ways, ways};
use super::{Epilogue, columns, problem, rows, turned};
use crate::array::Array;
use crate::simd::{Level, level};
use rushlight_base::runtime::{num_threads, parallel_for};
use rushlight_base::{Error, Result, ensure};
use std::sync::OnceLock;

/// Multiplications of one product from which its own tiles are shared among threads, rather than the batch.
const LARGE: usize = 1 << 24;

/// out_i = epilogue(a_i b_i) for stacks of matrices, three dimensions each; a stack with a step of 0 is one matrix
/// used again and again. What is added is broadcast to the shape of `out`.
pub fn batched(out: &Array, a: &Array, b: &Array, epilogue: &Epilogue) -> Result<()> {
    batched_at(level(), out, a, b, epilogue)
}

pub(super) fn batched_at(level: Level, out: &Array, a: &Array, b: &Array, epilogue: &Epilogue) -> Result<()> {
    ensure!(a.dtype() == b.dtype(), Internal, "gemm got operands of two dtypes");
    let stacks = out.ndim() == 3 && a.ndim() == 3 && b.ndim() == 3;
    ensure!(stacks, Internal, "a stack of matrices has three dimensions");
    let (batch, m, k, n) = (out.size(0), a.size(1), a.size(2), b.size(2));
    let fits =
        out.sizes() == [batch as i64, m as i64, n as i64] && b.size(1) == k && a.size(0) == batch && b.size(0) == batch;
    ensure!(fits, Internal, "gemm got stacks of other shapes");
    let ways = ways(a.dtype(), out.dtype(), level)?;
    let first = |array: &Array<'_>| (array.stride(1), array.stride(2));
    let (mut left, mut right) = (rows(a), columns(b));
    (left.lane, left.depth) = first(a);
    (right.depth, right.lane) = first(b);
    let add_step = match epilogue.add {
        Some((c, _)) => c.broadcast_strides(out.sizes())?[0] as isize,
        None => 0,
    };
    let element = ways.element as isize;
    let out_bytes = ways.out_bytes as isize;
    let stack = Stack {
        ways,
        left_step: a.stride(0) * element,
        right_step: b.stride(0) * element,
        out_step: out.stride(0) * out_bytes,
        add_step: add_step * out_bytes,
        first: problem(&ways, out, [m, k, n], Operand::Strided(left), Operand::Strided(right), epilogue)?,
    };
    stack.run(batch)
}

/// Products that differ in where their matrices begin. Steps are in bytes.
struct Stack<'a> {
    ways: Ways,
    first: Problem<'a>,
    left_step: isize,
    right_step: isize,
    out_step: isize,
    add_step: isize,
}

impl Stack<'_> {
    fn product(&self, index: usize, serial: bool) -> Result<()> {
        let index = index as isize;
        let mut problem = self.first;
        if let (Operand::Strided(left), Operand::Strided(right)) = (&mut problem.left, &mut problem.right) {
            left.at = left.at.wrapping_offset(index * self.left_step);
            right.at = right.at.wrapping_offset(index * self.right_step);
        }
        problem.out = problem.out.wrapping_offset(index * self.out_step);
        if !problem.add.is_null() {
            problem.add = problem.add.wrapping_offset(index * self.add_step);
        }
        multiply(&turned(problem), &self.ways, serial)
    }

    fn run(&self, batch: usize) -> Result<()> {
        let work = self.first.m.saturating_mul(self.first.n).saturating_mul(self.first.k);
        let threads = super::blocking::worthwhile(work.saturating_mul(batch), num_threads());
        if threads == 1 || (work >= LARGE && batch < 4 * threads) {
            for index in 0..batch {
                self.product(index, threads == 1)?;
            }
            return Ok(());
        }
        // Small products go several to a share.
        let together = ((1 << 16) / work.max(1)).clamp(1, batch.div_ceil(4 * threads).max(1));
        let failed: OnceLock<Error> = OnceLock::new();
        parallel_for(batch.div_ceil(together), &|share| {
            for index in share * together..batch.min((share + 1) * together) {
                if let Err(error) = self.product(index, true) {
                    // The first one is told.
                    let _ = failed.set(error);
                    return;
                }
            }
        })?;
        failed.into_inner().map_or(Ok(()), Err)
    }
}
