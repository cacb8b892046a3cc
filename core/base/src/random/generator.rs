//! The generator that users seed, save and restore (`at::CPUGeneratorImpl`).
//!
//! The engine, and the cached second sample of a pair of normals. The byte layout of a saved state is that of
//! `torch.get_rng_state()`, so that states can be exchanged with PyTorch in both directions.

use super::mt19937::{Mt19937, WORDS};
use crate::{Result, ensure, err};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// Offset of each field in a saved state. PyTorch writes a C struct: numbers are little-endian here, as on every
/// machine that PyTorch's files come from.
mod offset {
    pub const SEED: usize = 0;
    pub const LEFT: usize = 8;
    pub const SEEDED: usize = 12;
    pub const NEXT: usize = 16;
    pub const WORDS: usize = 24;
    pub const NORMAL_F64: usize = 5024;
    pub const NORMAL_F64_VALID: usize = 5040;
    pub const NORMAL_F32: usize = 5048;
    pub const NORMAL_F32_VALID: usize = 5052;
}

/// A source of random numbers. Methods take `&mut self`; a shared generator needs a lock.
#[derive(Clone)]
pub struct Generator {
    engine: Mt19937,
    /// Never set by PyTorch's own operators, but part of the state.
    pub(super) next_normal_f32: Option<f32>,
    pub(super) next_normal_f64: Option<f64>,
}

impl Generator {
    /// The default seed (c10's `default_rng_seed_val`).
    pub const DEFAULT_SEED: u64 = 67_280_421_310_721;
    /// Bytes of a saved state.
    pub const STATE_BYTES: usize = 5056;

    /// A generator seeded with `seed`.
    pub fn new(seed: u64) -> Generator {
        Generator { engine: Mt19937::new(seed), next_normal_f32: None, next_normal_f64: None }
    }

    /// Restarts from `seed` (pass the two's complement of a negative Python seed).
    pub fn manual_seed(&mut self, seed: u64) {
        *self = Generator::new(seed);
    }

    /// Restarts from a seed that differs each time, and returns it. It has 53 bits, so that a double holds it.
    pub fn seed(&mut self) -> u64 {
        let seed = nondeterministic_seed();
        self.manual_seed(seed);
        seed
    }

    /// The seed this generator was started from.
    pub fn initial_seed(&self) -> u64 {
        self.engine.seed()
    }

    /// The next 32 random bits.
    #[inline(always)]
    pub fn random(&mut self) -> u32 {
        self.engine.next_u32()
    }

    /// The next words of 32 random bits, in order: at least one and at most `most`, if `most` is not 0.
    pub fn words(&mut self, most: usize) -> &[u32] {
        self.engine.next_words(most)
    }

    /// The next 64 random bits; the first word is the high half.
    #[inline(always)]
    pub fn random64(&mut self) -> u64 {
        let high = u64::from(self.random());
        (high << 32) | u64::from(self.random())
    }

    /// The state, in the layout of `torch.get_rng_state()`.
    pub fn get_state(&self) -> [u8; Generator::STATE_BYTES] {
        let mut state = [0u8; Generator::STATE_BYTES];
        let mut put = |at: usize, bytes: &[u8]| state[at..at + bytes.len()].copy_from_slice(bytes);
        let (left, next) = self.engine.counters();
        put(offset::SEED, &self.engine.seed().to_le_bytes());
        put(offset::LEFT, &left.to_le_bytes());
        put(offset::SEEDED, &1i32.to_le_bytes());
        put(offset::NEXT, &next.to_le_bytes());
        for (index, word) in self.engine.words().iter().enumerate() {
            put(offset::WORDS + 8 * index, &u64::from(*word).to_le_bytes());
        }
        if let Some(sample) = self.next_normal_f64 {
            put(offset::NORMAL_F64, &sample.to_le_bytes());
            put(offset::NORMAL_F64_VALID, &1i32.to_le_bytes());
        }
        if let Some(sample) = self.next_normal_f32 {
            put(offset::NORMAL_F32, &sample.to_le_bytes());
            put(offset::NORMAL_F32_VALID, &[1]);
        }
        state
    }

    /// Continues from a state that [`Generator::get_state`] or PyTorch saved.
    pub fn set_state(&mut self, state: &[u8]) -> Result<()> {
        ensure!(
            state.len() == Generator::STATE_BYTES,
            Runtime,
            "Expected a CPUGeneratorImplState of size {} but found the input RNG state size to be {}",
            Generator::STATE_BYTES,
            state.len()
        );
        let mut words = [0u32; WORDS];
        for (index, word) in words.iter_mut().enumerate() {
            *word = u64::from_le_bytes(field(state, offset::WORDS + 8 * index)) as u32;
        }
        let seeded = i32::from_le_bytes(field(state, offset::SEEDED)) != 0;
        let engine = Mt19937::resume(
            u64::from_le_bytes(field(state, offset::SEED)),
            words,
            i32::from_le_bytes(field(state, offset::LEFT)),
            u64::from_le_bytes(field(state, offset::NEXT)),
        );
        let engine = engine.filter(|_| seeded).ok_or_else(|| err!(Runtime, "Invalid mt19937 state"))?;
        let has_f64 = i32::from_le_bytes(field(state, offset::NORMAL_F64_VALID)) != 0;
        let has_f32 = state[offset::NORMAL_F32_VALID] != 0;
        *self = Generator {
            engine,
            next_normal_f32: has_f32.then(|| f32::from_le_bytes(field(state, offset::NORMAL_F32))),
            next_normal_f64: has_f64.then(|| f64::from_le_bytes(field(state, offset::NORMAL_F64))),
        };
        Ok(())
    }
}

impl Default for Generator {
    fn default() -> Generator {
        Generator::new(Generator::DEFAULT_SEED)
    }
}

fn field<const N: usize>(state: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0u8; N];
    bytes.copy_from_slice(&state[at..at + N]);
    bytes
}

/// 53 unpredictable bits: the standard library's hasher is keyed by the operating system's entropy, and the clock
/// distinguishes two calls.
fn nondeterministic_seed() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    hasher.write_u128(now.as_nanos());
    hasher.finish() >> 11
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Normal;

    #[test]
    fn a_saved_state_continues_where_it_was_taken() {
        let mut generator = Generator::new(42);
        let normal = Normal::new(0.0, 1.0).unwrap();
        for _ in 0..777 {
            normal.sample(&mut generator);
        }
        let state = generator.get_state();
        let mut other = Generator::default();
        other.set_state(&state).unwrap();
        assert_eq!(other.get_state(), state);
        assert_eq!(other.initial_seed(), 42);
        for _ in 0..5 {
            assert_eq!(normal.sample(&mut other), normal.sample(&mut generator));
        }
    }

    #[test]
    fn states_that_no_engine_can_have_are_rejected() {
        let mut generator = Generator::new(1);
        assert!(generator.set_state(&[0; 8]).is_err());
        let mut state = generator.get_state();
        state[offset::LEFT] = 0;
        assert_eq!(generator.set_state(&state).unwrap_err().message(), "Invalid mt19937 state");
        let mut state = generator.get_state();
        state[offset::NEXT + 1] = 0xff;
        assert!(generator.set_state(&state).is_err());
    }

    #[test]
    fn an_unforeseeable_seed_fits_a_double() {
        let mut generator = Generator::default();
        let (first, second) = (generator.seed(), generator.seed());
        assert_ne!(first, second);
        assert_eq!(generator.initial_seed(), second);
        assert!(first < 1 << 53 && second < 1 << 53);
    }
}
