//! Names of errors, addresses of functions, profilers, and the functions that only the fake driver has.

use super::{Needs, Out, Text, api, enter};
use crate::driver::code::{self, Code};
use crate::driver::{arena, settings, state};
use std::ffi::{c_char, c_void};

api! {
    Nothing fn cuGetErrorName(error: Code, out: Out<*const c_char>) {
        let (name, _) = code::describe(error).ok_or(code::INVALID_VALUE)?;
        out.set(name.as_ptr())
    }

    Nothing fn cuGetErrorString(error: Code, out: Out<*const c_char>) {
        let (_, text) = code::describe(error).ok_or(code::INVALID_VALUE)?;
        out.set(text.as_ptr())
    }

    Nothing fn cuGetProcAddress_v2(name: Text, out: Out<*mut c_void>, _version: i32, _flags: u64, status: Out<i32>) {
        let name = name.get()?;
        // Functions with versions are asked for without them.
        for suffix in ["_v2", ""] {
            let symbol = std::ffi::CString::new(format!("{name}{suffix}")).map_err(|_| code::INVALID_VALUE)?;
            let address = own_symbol(&symbol);
            if !address.is_null() {
                status.set_optional(0);
                return out.set(address);
            }
        }
        status.set_optional(1);
        out.set(std::ptr::null_mut())?;
        Err(code::NOT_FOUND)
    }

    Context fn cuProfilerStart() {
        Ok(())
    }

    Context fn cuProfilerStop() {
        Ok(())
    }
}

/// A symbol of this library, wherever it was loaded.
fn own_symbol(name: &std::ffi::CStr) -> *mut c_void {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: `info` is a place for the result, which is complete if the call succeeds; the path in it lives as long as the
    // library, and the library is loaded already.
    unsafe {
        if libc::dladdr(own_symbol as *const c_void, info.as_mut_ptr()) == 0 {
            return std::ptr::null_mut();
        }
        let library = libc::dlopen(info.assume_init().dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD);
        let library = if library.is_null() { libc::RTLD_DEFAULT } else { library };
        libc::dlsym(library, name.as_ptr())
    }
}

/// Make calls fail: `symbol:N` or `symbol:N:CODE`, separated by commas; counts start again. Null or an empty string ends
/// that.
///
/// # Safety
/// The argument must be null or a string that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fakecuda_fail(text: Text) {
    settings::fail(text.get().unwrap_or(""));
}

/// The number of calls of the driver so far.
#[unsafe(no_mangle)]
pub extern "C" fn fakecuda_calls() -> u64 {
    settings::total()
}

/// Copy the text of the last fault, cut to the buffer. Returns the length of the text.
///
/// # Safety
/// The buffer must be null or have `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fakecuda_last_fault(buffer: *mut c_char, size: usize) -> usize {
    let text = settings::last_fault();
    if !buffer.is_null() && size > 0 {
        let count = text.len().min(size - 1);
        // SAFETY: the buffer has `size` bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, count);
            *buffer.add(count) = 0;
        }
    }
    text.len()
}

/// Mark device memory as unwritten, as an allocator may do with memory that it hands out again. Returns whether the bytes
/// are in an allocation.
#[unsafe(no_mangle)]
pub extern "C" fn fakecuda_poison(address: u64, size: usize) -> bool {
    let Some(device) = arena::device_of(address) else { return false };
    state().devices.get_mut(device).is_some_and(|d| d.arena.poison(address, size))
}
