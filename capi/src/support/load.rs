//! What the shared library does when it is loaded (`-init` in `build.rs`).

/// Links the layers that other programs link on demand: this library contains them anyway.
#[unsafe(no_mangle)]
pub extern "C" fn rushlight_loaded() {
    rushlight_tensor::dispatch::link_layers();
}

// The name is for the linker (`build.rs`) alone: it is not part of the interface.
#[cfg(target_os = "linux")]
std::arch::global_asm!(".hidden rushlight_loaded");
