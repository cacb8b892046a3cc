//! The lines of two arrays along a dimension.

use rushlight_base::DimVec;
use rushlight_cpu::Array;

/// A line for each index of the other dimensions.
pub struct Lines {
    sizes: DimVec,
    /// Strides of the output and of the input.
    strides: [DimVec; 2],
}

impl Lines {
    /// The lines along `dim` of arrays with the same sizes elsewhere. Successive lines are close in the output.
    pub fn new(out: &Array, input: &Array, dim: usize) -> Lines {
        let mut others: DimVec = (0..out.ndim() as i64).filter(|&at| at != dim as i64).collect();
        others.retain(|at| out.sizes()[*at as usize] != 1);
        // A few dimensions: sorting them needs no memory.
        others.sort_by_key(|&at| std::cmp::Reverse(out.strides()[at as usize]));
        let of = |list: &[i64]| others.iter().map(|&at| list[at as usize]).collect();
        Lines { sizes: of(out.sizes()), strides: [of(out.strides()), of(input.strides())] }
    }

    /// Number of lines.
    pub fn count(&self) -> usize {
        self.sizes.iter().product::<i64>() as usize
    }

    /// Where line number `index` begins in the output and the input.
    pub fn start(&self, index: usize) -> [isize; 2] {
        let (mut rest, mut offset) = (index as i64, [0; 2]);
        for (at, &size) in self.sizes.iter().enumerate().rev() {
            let own = rest % size;
            rest /= size;
            offset[0] += (own * self.strides[0][at]) as isize;
            offset[1] += (own * self.strides[1][at]) as isize;
        }
        offset
    }
}
