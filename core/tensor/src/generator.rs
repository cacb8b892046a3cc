//! The handle of a random generator, and the process's default one.

use rushlight_base::{Device, Result, ensure, random};
use rushlight_cpu::device::random::Philox;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A shared CPU generator: PyTorch's mt19937 stream. Clones are the same generator.
#[derive(Clone)]
pub struct Generator(Arc<Mutex<random::Generator>>);

static DEFAULT: Mutex<Option<Generator>> = Mutex::new(None);

/// The generators of devices.
struct OfDevices {
    /// The seed of a device that has none yet; none: an unpredictable one.
    seed: Option<u64>,
    generators: Vec<(Device, Philox)>,
}

static OF_DEVICES: Mutex<OfDevices> = Mutex::new(OfDevices { seed: None, generators: Vec::new() });

fn of_devices() -> MutexGuard<'static, OfDevices> {
    OF_DEVICES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a kernel of `device` with the device's generator. Generators that programs create are those of the CPU.
pub(crate) fn on_device<R>(
    device: Device,
    given: Option<&Generator>,
    run: impl FnOnce(&mut Philox) -> Result<R>,
) -> Result<R> {
    ensure!(given.is_none(), Runtime, "Expected a '{}' device type for generator but found 'cpu'", device.kind.name());
    let mut of_devices = of_devices();
    let seed = of_devices.seed;
    let nth = of_devices.generators.iter().position(|(other, _)| *other == device).unwrap_or_else(|| {
        let seed = seed.unwrap_or_else(|| random::Generator::default().seed());
        of_devices.generators.push((device, Philox { seed, offset: 0 }));
        of_devices.generators.len() - 1
    });
    run(&mut of_devices.generators[nth].1)
}

impl Generator {
    /// A generator that starts from `seed`.
    pub fn new(seed: u64) -> Generator {
        Generator(Arc::new(Mutex::new(random::Generator::new(seed))))
    }

    /// A generator with an unpredictable seed.
    fn unforeseen() -> Generator {
        let generator = Generator::new(random::Generator::DEFAULT_SEED);
        generator.lock().seed();
        generator
    }

    /// The default generator. Until it is seeded, its numbers differ from process to process.
    pub fn default_cpu() -> Generator {
        DEFAULT.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Generator::unforeseen).clone()
    }

    /// Whether both are the same generator.
    pub fn is(&self, other: &Generator) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Locks it for sampling. An operator holds the lock for its whole output, so that concurrent calls do not
    /// interleave.
    pub fn lock(&self) -> MutexGuard<'_, random::Generator> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The given generator, or the default one.
    pub fn or_default(generator: Option<&Generator>) -> Generator {
        generator.cloned().unwrap_or_else(Generator::default_cpu)
    }

    /// Converts the reference to a C handle.
    pub fn into_raw(self) -> *const Mutex<random::Generator> {
        Arc::into_raw(self.0)
    }

    /// Takes back a reference from [`Generator::into_raw`].
    ///
    /// # Safety
    /// `raw` came from `into_raw` and was not taken back before.
    pub unsafe fn from_raw(raw: *const Mutex<random::Generator>) -> Generator {
        // SAFETY: the caller guarantees that `raw` came from `into_raw`, that is from `Arc::into_raw`, and is taken
        // back once.
        Generator(unsafe { Arc::from_raw(raw) })
    }
}

impl std::fmt::Debug for Generator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Generator")
    }
}

/// Seeds the default generators of the CPU and of all devices (`torch::manual_seed`).
pub fn manual_seed(seed: u64) {
    *of_devices() = OfDevices { seed: Some(seed), generators: Vec::new() };
    Generator::default_cpu().lock().manual_seed(seed);
}

/// Forgets the default generator; the next use creates a new one.
pub fn shutdown() {
    *of_devices() = OfDevices { seed: None, generators: Vec::new() };
    DEFAULT.lock().unwrap_or_else(PoisonError::into_inner).take();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seed is unpredictable, so that programs that never seed do not repeat each other's numbers.
    #[test]
    fn an_unseeded_generator_differs_each_time() {
        let seed = || Generator::unforeseen().lock().initial_seed();
        assert_ne!(seed(), seed());
        assert_ne!(seed(), random::Generator::DEFAULT_SEED);
    }
}
