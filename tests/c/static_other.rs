//! Another Rust library in the same program, with its own standard library and its own panic.

/// Catches a panic, and returns the length of its message.
#[unsafe(no_mangle)]
pub extern "C" fn other_catches_a_panic() -> usize {
    std::panic::set_hook(Box::new(|_| {}));
    let caught = std::panic::catch_unwind(|| panic!("elsewhere"));
    caught.err().and_then(|text| text.downcast::<&'static str>().ok()).map_or(0, |text| text.len())
}
