//! Stacks of products.

use super::direct::Cut;
use super::driver::{Operand, Problem, each, multiply};
use super::ways::{Ways, ways};
use super::{Epilogue, columns, problem, rows, turned, turns};
use crate::array::Array;
use crate::simd::{Level, level};
use rushlight_base::runtime::{FirstError, num_threads};
use rushlight_base::{Result, ensure};

/// Multiplications of one product from which on threads share its tiles, rather than the batch.
const LARGE: usize = 1 << 24;

/// out_i = epilogue(a_i b_i) for stacks of matrices, three dimensions each; a stack with a step of 0 repeats one
/// matrix. The addend is broadcast to the shape of `out`.
pub fn batched(out: &Array, a: &Array, b: &Array, epilogue: &Epilogue) -> Result<()> {
    if !out.is_on_host() {
        return crate::device::product(out, a, b, epilogue);
    }
    batched_at(level(), out, a, b, epilogue)
}

pub(super) fn batched_at(level: Level, out: &Array, a: &Array, b: &Array, epilogue: &Epilogue) -> Result<()> {
    ensure!(a.dtype() == b.dtype(), Internal, "gemm got operands of two dtypes");
    let stacks = out.ndim() == 3 && a.ndim() == 3 && b.ndim() == 3;
    ensure!(stacks, Internal, "a batch of matrices must have three dimensions");
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
    let (left_step, right_step) = (a.stride(0) * ways.element as isize, b.stride(0) * ways.element as isize);
    let out_bytes = ways.out_bytes as isize;
    let first = problem(&ways, out, [m, k, n], Operand::Strided(left), Operand::Strided(right), epilogue)?;
    let (left_step, right_step) = if turns(&first) { (right_step, left_step) } else { (left_step, right_step) };
    let first = turned(first);
    let steps = [left_step, right_step, out.stride(0) * out_bytes, add_step * out_bytes];
    Stack { cut: Cut::of(&first, &ways), ways, first, steps }.run(batch)
}

/// Products that differ in where their matrices begin.
struct Stack<'a> {
    ways: Ways,
    first: Problem<'a>,
    /// The cut of small products.
    cut: Option<Cut>,
    /// Bytes to the next left and right operand, output and addend.
    steps: [isize; 4],
}

impl Stack<'_> {
    #[inline(always)]
    fn product(&self, index: usize, serial: bool) -> Result<()> {
        let [left, right, out, add] = self.steps.map(|step| step * index as isize);
        if let Some(cut) = &self.cut {
            cut.compute([left, right, out, add]);
            return Ok(());
        }
        let mut problem = self.first;
        for (operand, step) in [(&mut problem.left, left), (&mut problem.right, right)] {
            if let Operand::Strided(source) = operand {
                source.at = source.at.wrapping_offset(step);
            }
        }
        problem.out = problem.out.wrapping_offset(out);
        if !problem.add.is_null() {
            problem.add = problem.add.wrapping_offset(add);
        }
        multiply(&problem, &self.ways, serial)
    }

    fn run(&self, batch: usize) -> Result<()> {
        let work = self.first.m.saturating_mul(self.first.n).saturating_mul(self.first.k);
        let threads = super::blocking::worthwhile(work.saturating_mul(batch), num_threads());
        if work >= LARGE && batch < 4 * threads {
            return (0..batch).try_for_each(|index| self.product(index, false));
        }
        // Small products go several to a share.
        let together = ((1 << 16) / work.max(1)).clamp(1, batch.div_ceil(4 * threads).max(1));
        let failed = FirstError::default();
        each(batch.div_ceil(together), threads, &|share| {
            let mut own = share * together..batch.min((share + 1) * together);
            failed.note(own.try_for_each(|index| self.product(index, true)));
        })?;
        failed.result()
    }
}
