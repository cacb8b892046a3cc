//! Storages whose bytes are a mapped file.

use crate::{Error, Result, Storage, ensure, err};
use std::fs::File;
use std::io;

/// The message of an error of the operating system with its number: `No such file or directory (2)`.
fn described(error: &io::Error) -> String {
    let text = error.to_string();
    let message = text.split(" (os error").next().unwrap_or_default();
    error.raw_os_error().map_or_else(|| text.clone(), |number| format!("{message} ({number})"))
}

impl Storage {
    /// The first `bytes` bytes of a file. With `shared`, writes go to the file, which is created or extended if needed;
    /// otherwise they stay in memory. A file that another process truncates meanwhile must not be accessed.
    pub fn of_file(name: &str, shared: bool, bytes: usize) -> Result<Storage> {
        let mode = if shared { "read-write" } else { "read-only" };
        let opened = File::options().read(true).write(shared).create(shared).truncate(false).open(name);
        let file = opened
            .map_err(|error| err!(Runtime, "unable to open file <{name}> in {mode} mode: {}", described(&error)))?;
        let failed = |error: io::Error| err!(Runtime, "unable to stat the file <{name}>: {}", described(&error));
        let length = file.metadata().map_err(failed)?.len();
        if length < bytes as u64 {
            ensure!(
                shared,
                Runtime,
                "file <{name}> size <{length}> is smaller than the required mapping size <{bytes}>"
            );
            let failed =
                |error| err!(Runtime, "unable to stretch file <{name}> to the right size: {}", described(&error));
            file.set_len(bytes as u64).map_err(failed)?;
        }
        if bytes == 0 { Storage::allocate(0) } else { map(&file, name, shared, bytes) }
    }
}

#[cfg(unix)]
fn map(file: &File, name: &str, shared: bool, bytes: usize) -> Result<Storage> {
    use std::os::fd::AsRawFd;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = if shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
    // SAFETY: mmap with no address creates a new mapping and changes no memory that is in use; the descriptor is open.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, file.as_raw_fd(), 0) };
    if start == libc::MAP_FAILED {
        return Err(not_mapped(name, bytes, &io::Error::last_os_error()));
    }
    let unmap = move |start: *mut std::ffi::c_void| {
        // SAFETY: `start` is the whole mapping of `bytes` bytes, and the storage calls this once, when nothing uses it.
        unsafe { libc::munmap(start, bytes) };
    };
    // SAFETY: the mapping has `bytes` readable and writable bytes until `unmap` removes it.
    unsafe { Storage::foreign(start, bytes, Some(Box::new(unmap))) }
}

#[cfg(windows)]
fn map(file: &File, name: &str, shared: bool, bytes: usize) -> Result<Storage> {
    use crate::windows::{
        CloseHandle, CreateFileMappingW, FILE_MAP_COPY, FILE_MAP_READ, FILE_MAP_WRITE, MapViewOfFile, PAGE_READWRITE,
        PAGE_WRITECOPY, UnmapViewOfFile,
    };
    use std::os::windows::io::AsRawHandle;
    let (protection, access) =
        if shared { (PAGE_READWRITE, FILE_MAP_READ | FILE_MAP_WRITE) } else { (PAGE_WRITECOPY, FILE_MAP_COPY) };
    let none = std::ptr::null_mut();
    // SAFETY: the handle of the file is open. A view at no address of the caller's changes no memory that is in use, and keeps
    // the mapping whose handle is closed here, once.
    let start = unsafe {
        let mapping = CreateFileMappingW(file.as_raw_handle(), none, protection, 0, 0, none.cast());
        if mapping.is_null() {
            return Err(not_mapped(name, bytes, &io::Error::last_os_error()));
        }
        let start = MapViewOfFile(mapping, access, 0, 0, bytes);
        let error = io::Error::last_os_error();
        CloseHandle(mapping);
        if start.is_null() {
            return Err(not_mapped(name, bytes, &error));
        }
        start
    };
    let unmap = |start: *mut std::ffi::c_void| {
        // SAFETY: `start` is the beginning of the view, and the storage calls this once, when nothing uses it.
        unsafe { UnmapViewOfFile(start) };
    };
    // SAFETY: the view has `bytes` readable and writable bytes until `unmap` removes it.
    unsafe { Storage::foreign(start, bytes, Some(Box::new(unmap))) }
}

#[cfg(any(unix, windows))]
fn not_mapped(name: &str, bytes: usize, error: &io::Error) -> Error {
    err!(Runtime, "unable to mmap {bytes} bytes from file <{name}>: {}", described(error))
}

#[cfg(not(any(unix, windows)))]
fn map(_file: &File, name: &str, _shared: bool, _bytes: usize) -> Result<Storage> {
    Err(err!(NotImplemented, "from_file: mapping the file <{name}> is not implemented on this system"))
}

#[cfg(all(test, any(unix, windows)))]
mod tests {
    use super::*;

    fn bytes_of(storage: &Storage) -> Vec<u8> {
        // SAFETY: the storage holds this number of initialized bytes.
        unsafe { std::slice::from_raw_parts(storage.data(), storage.bytes()) }.to_vec()
    }

    #[test]
    fn shared_mappings_write_to_the_file_and_private_ones_do_not() {
        let path = std::env::temp_dir().join(format!("rushlight-mapped-{}", std::process::id()));
        let name = path.to_str().unwrap();
        std::fs::write(&path, [1, 2, 3]).unwrap();
        let error = Storage::of_file(name, false, 4).err().unwrap();
        assert_eq!(error.message(), format!("file <{name}> size <3> is smaller than the required mapping size <4>"));
        let private = Storage::of_file(name, false, 3).unwrap();
        // SAFETY: the storage has three bytes.
        unsafe { private.data().write(9) };
        assert_eq!((bytes_of(&private), std::fs::read(&path).unwrap()), (vec![9, 2, 3], vec![1, 2, 3]));
        let shared = Storage::of_file(name, true, 5).unwrap();
        // SAFETY: the storage has five bytes.
        unsafe { shared.data().add(4).write(7) };
        assert_eq!(std::fs::read(&path).unwrap(), [1, 2, 3, 0, 7]);
        // Windows keeps a file that is mapped.
        drop((shared, private));
        std::fs::remove_file(&path).unwrap();
        let error = Storage::of_file(name, false, 1).err().unwrap();
        assert!(error.message().contains("in read-only mode: ") && error.message().ends_with(" (2)"), "{error}");
    }
}
