//! Tensors of other libraries. DLPack does not say how much memory there is, so only the description can be checked: an input
//! describes a tensor over a buffer of ours, and its elements are read where they lie inside.

use rushlight::core::rlt_last_error_message;
use rushlight::dlpack::{DLManagedTensorVersioned, rlt_tensor_from_dlpack, rlt_tensor_to_dlpack};
use rushlight::ops::reduction::rlt_tensor_sum;
use rushlight::tensor::{rlt_tensor, rlt_tensor_free};
use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::ptr;

/// `DLManagedTensorVersioned` as `dlpack.h` has it.
#[repr(C)]
struct Managed {
    version: [u32; 2],
    manager_ctx: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
    flags: u64,
    data: *mut c_void,
    device: [i32; 2],
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// Dimensions that an input can describe.
const DIMS: usize = 6;
/// The memory that tensors lie in. All bytes are 0, which is a value of every dtype.
static BUFFER: [u64; 64] = [0; 64];

thread_local! {
    static DELETED: Cell<usize> = const { Cell::new(0) };
}

unsafe extern "C" fn count(_: *mut Managed) {
    DELETED.set(DELETED.get() + 1);
}

/// Takes bytes from the front; zeros where there are none.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let length = N.min(self.0.len());
        taken[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        taken
    }

    /// A small number, or, behind a byte that says so, any.
    fn number(&mut self) -> i64 {
        match self.take() {
            [0xff] => i64::from_le_bytes(self.take()),
            [small] => i64::from(small as i8),
        }
    }
}

/// The description of a tensor; its deleter is called once if it is taken, and never if it is refused.
pub fn import(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let [code, bits, lanes, flags, version, device, ndim, without_strides] = bytes.take();
    let byte_offset = bytes.number();
    let mut shape: [i64; DIMS] = std::array::from_fn(|_| bytes.number());
    let mut strides: [i64; DIMS] = std::array::from_fn(|_| bytes.number());
    let mut managed = Managed {
        // Most inputs should come through: one is a version of today.
        version: [if version < 0xf0 { 1 } else { version.into() }, version.into()],
        manager_ctx: ptr::null_mut(),
        deleter: Some(count),
        flags: u64::from(flags),
        data: BUFFER.as_ptr().cast_mut().cast(),
        device: [i32::from(device as i8), 0],
        // Beyond the arrays it would be the caller who lies; below zero is for the library to refuse.
        ndim: i32::from(ndim as i8).min(DIMS as i32),
        code,
        bits,
        lanes: lanes.into(),
        shape: shape.as_mut_ptr(),
        strides: if without_strides & 1 == 1 { ptr::null_mut() } else { strides.as_mut_ptr() },
        byte_offset: byte_offset as u64,
    };
    DELETED.set(0);
    let mut tensor: *mut rlt_tensor = ptr::null_mut();
    let description = (&raw mut managed).cast::<DLManagedTensorVersioned>();
    // SAFETY: the struct and the arrays that it points to live until its deleter was called, below.
    let status = unsafe { rlt_tensor_from_dlpack(description, &raw mut tensor) };
    if status != 0 {
        assert!(tensor.is_null() && DELETED.get() == 0);
        // SAFETY: the text of this thread's last error, which is read before the next call.
        assert!(!unsafe { CStr::from_ptr(rlt_last_error_message()) }.is_empty());
        return;
    }
    assert_eq!((managed.code == 6 || managed.lanes == 1, managed.device[0]), (true, 1));
    if lies_inside(&managed, &shape, &strides) {
        // SAFETY: the elements lie in the buffer.
        unsafe { read_and_return(tensor) };
    }
    // SAFETY: the handle is ours.
    unsafe { rlt_tensor_free(tensor) };
    assert_eq!(DELETED.get(), 1);
}

/// Do all elements lie in the buffer?
fn lies_inside(managed: &Managed, shape: &[i64], strides: &[i64]) -> bool {
    let dims = managed.ndim as usize;
    let (shape, mut last, mut step) = (&shape[..dims], 0i128, 1i128);
    for dim in (0..dims).rev() {
        let stride = if managed.strides.is_null() { step } else { strides[dim].into() };
        last += i128::from(shape[dim] - 1).max(0) * stride;
        step *= i128::from(shape[dim].max(1));
    }
    let size = i128::from(managed.bits) / 8;
    let start = i128::from(managed.byte_offset);
    // An element read many times over is no danger, but slow.
    step < 1 << 16 && start + (last + 1) * size <= size_of_val(&BUFFER) as i128
}

/// Reads every element, and gives the tensor out again.
///
/// # Safety
/// All elements lie in readable memory.
unsafe fn read_and_return(tensor: *mut rlt_tensor) {
    let (mut sum, mut managed) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the handle is valid, and so is what this function's caller promises; a struct that was given out is returned once
    // through its deleter.
    unsafe {
        if rlt_tensor_sum(tensor, ptr::null(), &raw mut sum) == 0 {
            rlt_tensor_free(sum);
        }
        assert_eq!(rlt_tensor_to_dlpack(tensor, &raw mut managed), 0);
        let managed = managed.cast::<Managed>();
        ((*managed).deleter.expect("a deleter"))(managed);
    }
}
