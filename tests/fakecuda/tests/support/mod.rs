//! What the tests share: a context, modules, launches, copies.
#![allow(dead_code)]

use fakecuda::api::*;
use std::ffi::{CString, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Cast a place for a result to the type that the functions take.
pub fn out<T, U>(value: &mut T) -> Out<U> {
    // SAFETY: `Out` is a pointer; tests use the size that the function writes.
    unsafe { std::mem::transmute::<*mut T, Out<U>>(value) }
}

/// A string for C.
pub fn text(value: &CString) -> Text {
    // SAFETY: `Text` is a pointer to a string, which lives as long as the test's variable.
    unsafe { std::mem::transmute::<*const std::ffi::c_char, Text>(value.as_ptr()) }
}

/// Call a function that must succeed.
macro_rules! ok {
    ($call:expr) => {{
        // SAFETY: the arguments are valid, as the test says.
        let code = unsafe { $call };
        assert_eq!(code, 0, "{}: {}", stringify!($call), $crate::support::last_fault());
    }};
}

/// Call a function and return its code.
macro_rules! code {
    ($call:expr) => {{
        // SAFETY: the arguments are valid, as the test says.
        unsafe { $call }
    }};
}

#[allow(unused_imports)]
pub(crate) use {code, ok};

/// The driver's state is one for the process: tests run one after the other.
pub fn device() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    let guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    fail("");
    ok!(cuInit(0));
    let mut context = 0u64;
    ok!(cuDevicePrimaryCtxReset_v2(0));
    ok!(cuDevicePrimaryCtxReset_v2(1));
    ok!(cuDevicePrimaryCtxRetain(out(&mut context), 0));
    ok!(cuCtxSetCurrent(context));
    guard
}

/// Make calls fail.
pub fn fail(spec: &str) {
    let spec = CString::new(spec).expect("a string");
    // SAFETY: the string lives during the call.
    unsafe { fakecuda_fail(text(&spec)) };
}

/// The text of the last fault.
pub fn last_fault() -> String {
    let mut buffer = vec![0u8; 4096];
    // SAFETY: the buffer has this size.
    let length = unsafe { fakecuda_last_fault(buffer.as_mut_ptr().cast(), buffer.len()) };
    buffer.truncate(length.min(4095));
    String::from_utf8(buffer).expect("text")
}

/// Allocate device memory.
pub fn allocate(bytes: usize) -> u64 {
    let mut address = 0u64;
    ok!(cuMemAlloc_v2(out(&mut address), bytes));
    address
}

/// Device memory with the bytes of a slice.
pub fn upload<T: Copy>(values: &[T]) -> u64 {
    let address = allocate(size_of_val(values).max(1));
    ok!(cuMemcpyHtoD_v2(address, values.as_ptr() as usize, size_of_val(values)));
    address
}

/// Copy elements from the device.
pub fn download<T: Copy + Default>(address: u64, count: usize) -> Vec<T> {
    let mut values = vec![T::default(); count];
    ok!(cuMemcpyDtoH_v2(values.as_mut_ptr() as usize, address, size_of_val(values.as_slice())));
    values
}

/// The head of every module.
pub const HEAD: &str = ".version 7.0\n.target sm_70\n.address_size 64\n";

/// Load a module and return one of its kernels.
pub fn kernel(source: &str, name: &str) -> u64 {
    let image = CString::new(source).expect("PTX");
    let (mut module, mut function) = (0u64, 0u64);
    ok!(cuModuleLoadData(out(&mut module), image.as_ptr()));
    let name = CString::new(name).expect("a name");
    ok!(cuModuleGetFunction(out(&mut function), module, text(&name)));
    function
}

/// Launch a kernel whose parameters are 64-bit numbers. Returns the code of the launch.
pub fn launch(function: u64, grid: u32, block: u32, shared: u32, stream: u64, params: &[u64]) -> i32 {
    let pointers: Vec<*const u8> = params.iter().map(|p| std::ptr::from_ref(p).cast()).collect();
    code!(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, pointers.as_ptr(), std::ptr::null()))
}

/// Run a kernel and wait for it. Returns the code.
pub fn run(function: u64, grid: u32, block: u32, params: &[u64]) -> i32 {
    assert_eq!(launch(function, grid, block, 0, 0, params), 0, "{}", last_fault());
    code!(cuCtxSynchronize())
}

/// A kernel `k` with the parameters `out` and `in`, which runs `body` in each thread. The body's result is in `%out`,
/// its operands are loaded with `ld.global` from `%in`, an address for each thread.
pub fn unary(load: &str, store: &str, in_size: usize, out_size: usize, registers: &str, body: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 out, .param .u64 in)\n{{\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n\
         .reg .b32 %r<20>;\n.reg .b64 %d<20>;\n.reg .f32 %f<9>;\n.reg .f64 %g<9>;\n{registers}\n\
         ld.param.u64 %d1, [out];\nld.param.u64 %d2, [in];\nmov.u32 %r1, %tid.x;\n\
         mad.wide.u32 %d3, %r1, {out_size}, %d1;\nmad.wide.u32 %d4, %r1, {in_size}, %d2;\n{load}\n{body}\n{store}\nret;\n}}\n"
    )
}

/// Nothing, as an argument.
pub const NULL: *mut c_void = std::ptr::null_mut();
