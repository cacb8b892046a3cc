//! Seeds of every reader, damaged by a generator with a fixed seed, and the fuzzer's findings: nothing panics, no
//! allocation is out of proportion.

mod watch;

use rushlight_base::memory::memory_stats;
use rushlight_readers::{READERS, seeds};
use watch::within;

/// Damaged inputs of each reader.
const INPUTS: u64 = 5000;
/// No allocation for one of them is larger. The largest seed has 40 KB.
const LIMIT: usize = 4 << 20;

/// A small separate generator, so that a failure can be repeated from its number.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.roll(6) {
            if bytes.is_empty() {
                return;
            }
            let at = self.roll(bytes.len());
            match self.roll(7) {
                0 => drop(bytes.remove(at)),
                1 => bytes.insert(at, self.roll(256) as u8),
                2 => bytes[at] = [0, 0xff, 0x7f, 0x80][self.roll(4)],
                3 => bytes[at] ^= 1 << self.roll(8),
                4 => bytes.truncate(at),
                5 => {
                    // A part again.
                    let end = bytes.len().min(at + self.roll(64));
                    let part = bytes[at..end].to_vec();
                    let place = self.roll(bytes.len());
                    bytes.splice(place..place, part);
                }
                _ => bytes[at] = self.roll(256) as u8,
            }
        }
    }
}

#[test]
fn damaged_inputs_keep_the_properties() {
    for reader in &READERS {
        let seeds = (reader.seeds)();
        assert!(!seeds.is_empty() && seeds.iter().all(|seed| seed.len() < 50_000), "{}", reader.name);
        for seed in &seeds {
            within(LIMIT, || (reader.read)(seed));
        }
        for number in 0..INPUTS {
            let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ number);
            let mut input = seeds[dice.roll(seeds.len())].clone();
            dice.damage(&mut input);
            let run = || within(LIMIT, || (reader.read)(&input));
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            assert!(outcome.is_ok(), "input {number} of '{}': {}", reader.name, input.escape_ascii());
        }
    }
    // Storages use a separate allocator with separate accounting.
    assert!(memory_stats().peak < 4 << 20, "{}", memory_stats().peak);
}

#[test]
fn findings_of_the_fuzzer_stay_fixed() {
    for reader in &READERS {
        for input in seeds::regressions(reader.name) {
            within(LIMIT, || (reader.read)(&input));
        }
    }
}
