//! Tensors of other libraries. DLPack does not state how much memory there is, so only the description can be checked:
//! an input describes a tensor over a buffer of the test, and its elements are read if they are inside.

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
/// The memory of the tensors. All bytes are 0, which is a valid value of every dtype.
static BUFFER: [u64; 64] = [0; 64];

thread_local! {
    static DELETED: Cell<usize> = const { Cell::new(0) };
}

unsafe extern "C" fn count(_: *mut Managed) {
    DELETED.set(DELETED.get() + 1);
}

/// Takes bytes from the front; zeros if there are none.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let length = N.min(self.0.len());
        taken[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        taken
    }

    /// A small number, or, depending on a byte, any number.
    fn number(&mut self) -> i64 {
        match self.take() {
            [0xff] => i64::from_le_bytes(self.take()),
            [small] => i64::from(small as i8),
        }
    }
}

/// The description of a tensor; its deleter is called once if it is imported, and never if it is rejected.
pub fn import(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let [code, bits, lanes, flags, version, device, ndim, without_strides] = bytes.take();
    let byte_offset = bytes.number();
    let mut shape: [i64; DIMS] = std::array::from_fn(|_| bytes.number());
    let mut strides: [i64; DIMS] = std::array::from_fn(|_| bytes.number());
    let mut managed = Managed {
        // Most inputs should be accepted: one has a current version.
        version: [if version < 0xf0 { 1 } else { version.into() }, version.into()],
        manager_ctx: ptr::null_mut(),
        deleter: Some(count),
        flags: u64::from(flags),
        data: BUFFER.as_ptr().cast_mut().cast(),
        device: [i32::from(device as i8), 0],
        // Sizes beyond the arrays would be a false description; negative ones must be rejected by the library.
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
        // SAFETY: the message of this thread's last error is a C string, which is read before the next call.
        assert!(!unsafe { CStr::from_ptr(rlt_last_error_message()) }.is_empty());
        return;
    }
    assert_eq!((managed.code == 6 || managed.lanes == 1, managed.device[0]), (true, 1));
    if lies_inside(&managed, &shape, &strides) {
        // SAFETY: all elements were checked to be inside the buffer.
        unsafe { read_and_return(tensor) };
    }
    // SAFETY: the import returned an owned handle, which is freed once.
    unsafe { rlt_tensor_free(tensor) };
    assert_eq!(DELETED.get(), 1);
}

/// Whether all elements are inside the buffer.
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

/// Reads every element, and exports the tensor again.
///
/// # Safety
/// Whether all elements are in readable memory.
unsafe fn read_and_return(tensor: *mut rlt_tensor) {
    let (mut sum, mut managed) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the handle is live, and the caller guarantees readable elements; an exported struct is released once
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
