//! The functions of Windows that this crate calls, with the names and constants of its documentation.
#![allow(non_snake_case)]

use std::ffi::c_void;

pub(crate) type Handle = *mut c_void;

pub(crate) const MEM_COMMIT: u32 = 0x1000;
pub(crate) const MEM_RESERVE: u32 = 0x2000;
pub(crate) const MEM_RELEASE: u32 = 0x8000;
pub(crate) const PAGE_READWRITE: u32 = 0x04;
pub(crate) const PAGE_WRITECOPY: u32 = 0x08;
pub(crate) const FILE_MAP_COPY: u32 = 0x01;
pub(crate) const FILE_MAP_WRITE: u32 = 0x02;
pub(crate) const FILE_MAP_READ: u32 = 0x04;
pub(crate) const MODULE_PIN: u32 = 0x01;
pub(crate) const MODULE_UNCHANGED_REFCOUNT: u32 = 0x02;
pub(crate) const MODULE_FROM_ADDRESS: u32 = 0x04;

/// `MEMORYSTATUSEX`
#[repr(C)]
pub(crate) struct MemoryStatus {
    /// The size of this structure, which the caller sets.
    pub(crate) length: u32,
    pub(crate) load: u32,
    pub(crate) physical: u64,
    pub(crate) others: [u64; 6],
}

#[link(name = "kernel32")]
unsafe extern "system" {
    pub(crate) fn GlobalMemoryStatusEx(status: *mut MemoryStatus) -> i32;
    pub(crate) fn VirtualAlloc(start: *mut c_void, bytes: usize, kind: u32, protection: u32) -> *mut c_void;
    pub(crate) fn VirtualFree(start: *mut c_void, bytes: usize, kind: u32) -> i32;
    pub(crate) fn CreateFileMappingW(
        file: Handle,
        attributes: *const c_void,
        protection: u32,
        size_high: u32,
        size_low: u32,
        name: *const u16,
    ) -> Handle;
    pub(crate) fn MapViewOfFile(
        mapping: Handle,
        access: u32,
        offset_high: u32,
        offset_low: u32,
        bytes: usize,
    ) -> *mut c_void;
    pub(crate) fn UnmapViewOfFile(start: *const c_void) -> i32;
    pub(crate) fn CloseHandle(handle: Handle) -> i32;
    pub(crate) fn GetModuleHandleExW(flags: u32, address: *const c_void, module: *mut Handle) -> i32;
    pub(crate) fn GetModuleFileNameW(module: Handle, name: *mut u16, capacity: u32) -> u32;
}
