//! Places for intermediate results in one block of memory.
//!
//! Each storage lives from the first step that writes it to the last one that touches it. Storages are placed by size, the
//! largest first, each at the lowest address where none of those is that live at the same time.

/// Storages begin at multiples of this.
const ALIGNMENT: usize = 64;

/// The life of a storage: from step to step, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    pub first: usize,
    pub last: usize,
    pub bytes: usize,
}

impl Life {
    fn meets(&self, other: &Life) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// The offset of each storage, and the bytes of the block.
pub(super) fn place(lives: &[Life]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..lives.len()).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(lives[index].bytes), lives[index].first));
    let mut offsets = vec![0; lives.len()];
    let mut placed: Vec<usize> = Vec::new();
    let mut total = 0;
    for index in order {
        let life = lives[index];
        let mut taken: Vec<(usize, usize)> = placed
            .iter()
            .filter(|&&other| lives[other].meets(&life))
            .map(|&other| (offsets[other], offsets[other] + padded(lives[other].bytes)))
            .collect();
        taken.sort_unstable();
        let mut at = 0;
        for (start, end) in taken {
            if at + padded(life.bytes) <= start {
                break;
            }
            at = at.max(end);
        }
        offsets[index] = at;
        total = total.max(at + padded(life.bytes));
        placed.push(index);
    }
    (offsets, total)
}

/// The bytes that a storage takes.
pub(super) fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(ALIGNMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(first: usize, last: usize, bytes: usize) -> Life {
        Life { first, last, bytes }
    }

    #[test]
    fn storages_that_live_at_the_same_time_do_not_overlap() {
        let lives: Vec<Life> = (0..200usize)
            .map(|index| {
                let first = index * 7 % 50;
                life(first, first + index % 9, 1 + index * 131 % 5000)
            })
            .collect();
        let (offsets, total) = place(&lives);
        for (a, first) in lives.iter().enumerate() {
            assert!(offsets[a] % ALIGNMENT == 0 && offsets[a] + first.bytes <= total);
            for (b, second) in lives.iter().enumerate().skip(a + 1) {
                let apart = offsets[a] + first.bytes <= offsets[b] || offsets[b] + second.bytes <= offsets[a];
                assert!(apart || !first.meets(second), "{a} and {b}");
            }
        }
    }

    #[test]
    fn a_chain_takes_the_memory_of_two_neighbours() {
        // Each step reads the result of the one before.
        let lives: Vec<Life> = (0..10).map(|step| life(step, step + 1, 1024)).collect();
        assert_eq!(place(&lives).1, 2048);
        assert_eq!(place(&[]), (Vec::new(), 0));
    }
}
