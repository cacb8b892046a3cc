//! What the shared library does when it is loaded (`build.rs`: `-init`; on Windows, its `DllMain`).

/// Links the layers that other programs link on demand: this library contains them anyway.
#[cfg_attr(target_os = "linux", unsafe(no_mangle))]
pub extern "C" fn rushlight_loaded() {
    rushlight_tensor::dispatch::link_layers();
}

// The name is for the linker (`build.rs`) alone: it is not part of the interface.
#[cfg(target_os = "linux")]
std::arch::global_asm!(".hidden rushlight_loaded");

#[cfg(all(windows, target_arch = "x86_64"))]
mod windows {
    use std::ffi::c_void;

    /// `DllMain`, which Windows also calls when threads begin and end, and when the library is unloaded.
    extern "system" fn main(_library: *mut c_void, reason: u32, _reserved: *mut c_void) -> i32 {
        const LOADED: u32 = 1;
        if reason == LOADED {
            super::rushlight_loaded();
        }
        1
    }

    // The name is for the linker (`build.rs`) alone: the library would export a function of Rust that has a fixed name. In the
    // static library nothing refers to this section, and the linker removes it.
    std::arch::global_asm!(
        ".section .text$rushlight_dll_main, \"xr\"",
        ".globl rushlight_dll_main",
        "rushlight_dll_main: jmp {main}",
        ".text",
        main = sym main,
    );
}
