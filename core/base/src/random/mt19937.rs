//! The Mersenne Twister (Matsumoto and Nishimura, 1998), with the 2002 seeding.
//!
//! The engine below [`Generator`](super::Generator). PyTorch keeps two counters with the words (`left`, `next`); each
//! follows from the other, so only `next` is kept here and `left` is computed when a state is saved.

/// Words of state.
pub(super) const WORDS: usize = 624;
/// Distance of the word that is mixed in.
const SHIFT: usize = 397;
const UPPER: u32 = 0x8000_0000;
const LOWER: u32 = 0x7fff_ffff;
const MATRIX: u32 = 0x9908_b0df;

/// State of the twister.
#[derive(Clone)]
pub(super) struct Mt19937 {
    seed: u64,
    words: [u32; WORDS],
    /// The words tempered, all at once after a twist (0.4 of the time of tempering each when it is returned).
    tempered: [u32; WORDS],
    /// The next word to return; `None` right after seeding, before the first twist.
    next: Option<usize>,
}

impl Mt19937 {
    /// A freshly seeded engine. Only the low 32 bits of `seed` reach the words.
    pub(super) fn new(seed: u64) -> Mt19937 {
        let mut words = [0u32; WORDS];
        words[0] = seed as u32;
        for index in 1..WORDS {
            let before = words[index - 1];
            words[index] = 1_812_433_253u32.wrapping_mul(before ^ (before >> 30)).wrapping_add(index as u32);
        }
        Mt19937 { seed, words, tempered: words.map(temper), next: None }
    }

    /// Restores an engine from [`Mt19937::counters`] and [`Mt19937::words`] of another; `None` if the two counters
    /// contradict each other.
    pub(super) fn resume(seed: u64, words: [u32; WORDS], left: i32, next: u64) -> Option<Mt19937> {
        let next = match (left, next) {
            (1, 0) => None,
            (1..=624, 1..=624) if left as u64 + next == WORDS as u64 + 1 => Some(next as usize),
            _ => return None,
        };
        Some(Mt19937 { seed, words, tempered: words.map(temper), next })
    }

    /// The seed, all 64 bits.
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// The raw words.
    pub(super) fn words(&self) -> &[u32; WORDS] {
        &self.words
    }

    /// PyTorch's `(left, next)`.
    pub(super) fn counters(&self) -> (i32, u64) {
        match self.next {
            None => (1, 0),
            Some(next) => ((WORDS + 1 - next) as i32, next as u64),
        }
    }

    /// The next 32 bits.
    #[inline(always)]
    pub(super) fn next_u32(&mut self) -> u32 {
        let index = self.start();
        self.next = Some(index + 1);
        self.tempered[index]
    }

    /// The next words of 32 bits: at least one and at most `most`, if `most` is not 0.
    pub(super) fn next_words(&mut self, most: usize) -> &[u32] {
        let index = self.start();
        let end = WORDS.min(index.saturating_add(most));
        self.next = Some(end);
        &self.tempered[index..end]
    }

    /// The index of the next word, after a twist if all were returned.
    #[inline(always)]
    fn start(&mut self) -> usize {
        match self.next {
            Some(index) if index < WORDS => index,
            _ => {
                self.twist();
                0
            }
        }
    }

    /// Replaces every word by the next of the recurrence, in place. The words to mix in are ahead for the first loop and
    /// behind, already replaced, for the second; the compiler makes vectors of both.
    #[inline(never)]
    fn twist(&mut self) {
        let words = &mut self.words;
        for index in 0..WORDS - SHIFT {
            words[index] = words[index + SHIFT] ^ mixed(words[index], words[index + 1]);
        }
        for index in WORDS - SHIFT..WORDS - 1 {
            words[index] = words[index + SHIFT - WORDS] ^ mixed(words[index], words[index + 1]);
        }
        words[WORDS - 1] = words[SHIFT - 1] ^ mixed(words[WORDS - 1], words[0]);
        self.tempered = self.words.map(temper);
    }
}

/// The upper bit of a word and the lower bits of the one that follows, times the matrix of the recurrence.
#[inline(always)]
fn mixed(word: u32, following: u32) -> u32 {
    let joined = (word & UPPER) | (following & LOWER);
    let odd = if following & 1 == 1 { MATRIX } else { 0 };
    (joined >> 1) ^ odd
}

/// The tempering of an output word.
#[inline(always)]
fn temper(word: u32) -> u32 {
    let mut y = word;
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c_5680;
    y ^= (y << 15) & 0xefc6_0000;
    y ^ (y >> 18)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousandth_number_is_that_of_the_standard() {
        // C++11 [rand.predef]: the 10000th invocation of a default-constructed std::mt19937 returns 4123659995.
        let mut engine = Mt19937::new(5489);
        let last = (0..10_000).map(|_| engine.next_u32()).last();
        assert_eq!(last, Some(4_123_659_995));
    }
}
