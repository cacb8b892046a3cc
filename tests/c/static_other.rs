//! Another Rust library in the same program, with a standard library of its own and a panic of its own.

/// Catches a panic, and says how long its text is.
#[unsafe(no_mangle)]
pub extern "C" fn other_catches_a_panic() -> usize {
    std::panic::set_hook(Box::new(|_| {}));
    let caught = std::panic::catch_unwind(|| panic!("elsewhere"));
    caught.err().and_then(|text| text.downcast::<&'static str>().ok()).map_or(0, |text| text.len())
}
