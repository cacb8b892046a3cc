//! The file that contains a function: the shared library of this code, or the program that it is linked to.
#![allow(clippy::not_unsafe_ptr_arg_deref, reason = "the system compares addresses, and never accesses them")]

use std::ffi::c_void;
use std::path::PathBuf;

/// The path of the file that was loaded with the function at `address`, as the loader has it. `None` if there is none.
#[cfg(unix)]
pub fn file_of(address: *const c_void) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `dladdr` compares the address, without accessing it, and writes the structure if it returns a number other
    // than 0. The name in it is NUL-terminated and lives as long as the library.
    let name = unsafe {
        if libc::dladdr(address, found.as_mut_ptr()) == 0 {
            return None;
        }
        let name = found.assume_init().dli_fname;
        if name.is_null() {
            return None;
        }
        std::ffi::CStr::from_ptr(name)
    };
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(name.to_bytes())))
}

/// The path of the file that was loaded with the function at `address`, as the loader has it. `None` if there is none.
#[cfg(windows)]
pub fn file_of(address: *const c_void) -> Option<PathBuf> {
    use crate::windows::{GetModuleFileNameW, GetModuleHandleExW, MODULE_FROM_ADDRESS, MODULE_UNCHANGED_REFCOUNT};
    use std::os::windows::ffi::OsStringExt;
    /// The longest path of Windows, in UTF-16 code units.
    const LONGEST: usize = 32_768;
    let mut module = std::ptr::null_mut();
    let mut name = vec![0; LONGEST];
    // SAFETY: the first function compares the address, without accessing it, and writes the handle; the second one writes
    // at most as many code units as `name` has.
    let length = unsafe {
        if GetModuleHandleExW(MODULE_FROM_ADDRESS | MODULE_UNCHANGED_REFCOUNT, address, &raw mut module) == 0 {
            return None;
        }
        GetModuleFileNameW(module, name.as_mut_ptr(), LONGEST as u32) as usize
    };
    (length > 0).then(|| PathBuf::from(std::ffi::OsString::from_wide(&name[..length])))
}

/// Keeps the file that contains the function at `address` loaded until the process ends.
#[cfg(windows)]
pub fn keep_loaded(address: *const c_void) {
    use crate::windows::{GetModuleHandleExW, MODULE_FROM_ADDRESS, MODULE_PIN};
    let mut module = std::ptr::null_mut();
    // SAFETY: the function compares the address, without accessing it, and writes the handle.
    unsafe { GetModuleHandleExW(MODULE_FROM_ADDRESS | MODULE_PIN, address, &raw mut module) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_in_the_file_of_the_program() {
        let here: fn(*const c_void) -> Option<PathBuf> = file_of;
        let found = file_of(here as *const c_void).unwrap().canonicalize().unwrap();
        assert_eq!(found, std::env::current_exe().unwrap().canonicalize().unwrap());
        assert_eq!(file_of((&raw const found).cast()), None);
    }
}
