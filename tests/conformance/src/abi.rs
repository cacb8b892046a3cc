//! The part of the C interface that the runner uses, as its headers declare it (include/rushlight).

use std::ffi::{c_char, c_void};
use std::path::Path;

/// `rlt_tensor`
#[repr(C)]
pub struct RltTensor {
    _opaque: [u8; 0],
}

/// `rlt_payload`
#[repr(C)]
#[derive(Clone, Copy)]
pub union Payload {
    /// `BOOL`, `INT`, `UINT`, `DTYPE`, `LAYOUT`, `MEMORY_FORMAT`
    pub i: i64,
    /// `FLOAT`
    pub f: f64,
    /// `COMPLEX`: real and imaginary part
    pub c: [f64; 2],
    /// `DEVICE`: type and index
    pub device: [i32; 2],
    /// `STRING`
    pub string: *const c_char,
    /// `TENSOR`
    pub tensor: *mut RltTensor,
    /// `TENSOR_LIST`
    pub tensors: *const *mut RltTensor,
    /// `INT_LIST`
    pub ints: *const i64,
    /// `FLOAT_LIST`
    pub floats: *const f64,
    /// `BOOL_LIST`
    pub bools: *const i32,
    /// `SCALAR_LIST`
    pub scalars: *const RltScalar,
    /// `STRING_LIST`
    pub strings: *const *const c_char,
    /// `LIST`, `TUPLE`, `DICT`, `ENUM`
    pub values: *const RltValue,
}

/// `rlt_scalar`
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the headers explain each")]
pub struct RltScalar {
    pub tag: i32,
    pub reserved: i32,
    pub i: i64,
    pub re: f64,
    pub im: f64,
}

/// `rlt_module`
#[repr(C)]
pub struct RltModule {
    _opaque: [u8; 0],
}

/// `rlt_state_dict`
#[repr(C)]
pub struct RltStateDict {
    _opaque: [u8; 0],
}

/// `rlt_print_callback`
pub type Print = unsafe extern "C" fn(*mut c_void, *const c_char, i64);

/// `rlt_deleter`
pub type Deleter = unsafe extern "C" fn(*mut c_void);

/// `rlt_value`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RltValue {
    /// `RLT_VALUE_*`
    pub tag: i32,
    /// 0 or `RLT_VALUE_OWNED`
    pub flags: i32,
    /// elements of a list
    pub len: i64,
    /// its contents
    pub payload: Payload,
}

impl RltValue {
    /// No value.
    pub const NONE: RltValue = RltValue { tag: tag::NONE, flags: 0, len: 0, payload: Payload { c: [0.0; 2] } };
}

/// `rlt_named_value`
#[repr(C)]
pub struct RltNamed {
    /// the argument's name
    pub name: *const c_char,
    /// its value
    pub value: RltValue,
}

/// `RLT_VALUE_*`
#[allow(missing_docs, reason = "the headers explain each")]
pub mod tag {
    pub const NONE: i32 = 0;
    pub const BOOL: i32 = 1;
    pub const INT: i32 = 2;
    pub const UINT: i32 = 3;
    pub const FLOAT: i32 = 4;
    pub const COMPLEX: i32 = 5;
    pub const STRING: i32 = 6;
    pub const TENSOR: i32 = 7;
    pub const TENSOR_LIST: i32 = 8;
    pub const INT_LIST: i32 = 9;
    pub const FLOAT_LIST: i32 = 10;
    pub const BOOL_LIST: i32 = 11;
    pub const SCALAR_LIST: i32 = 12;
    pub const DTYPE: i32 = 13;
    pub const LAYOUT: i32 = 14;
    pub const MEMORY_FORMAT: i32 = 15;
    pub const DEVICE: i32 = 16;
    pub const LIST: i32 = 18;
    pub const TUPLE: i32 = 19;
    pub const DICT: i32 = 20;
    pub const STRING_LIST: i32 = 21;
    pub const ENUM: i32 = 24;
}

macro_rules! api {
    ($(#[$about:meta])* $api:ident { $($name:ident: $type:ty;)* }) => {
        $(#[$about])*
        #[allow(missing_docs, reason = "the headers explain each")]
        pub struct $api {
            $(pub $name: $type,)*
            _library: libloading::Library,
        }

        impl $api {
            /// Loads the library and finds the functions.
            pub fn load(path: &Path) -> Result<$api, String> {
                // The loader names the file by itself.
                let text = |error: libloading::Error| error.to_string();
                // SAFETY: loading the library runs no code of it (nothing happens at load time).
                let library = unsafe { libloading::Library::new(path) }.map_err(text)?;
                // SAFETY: the function types are those of the headers of the same version.
                unsafe {
                    $(let $name = *library.get::<$type>(concat!(stringify!($name), "\0").as_bytes()).map_err(text)?;)*
                    Ok($api { $($name,)* _library: library })
                }
            }
        }
    };
}

/// `rlt_node`
#[repr(C)]
pub struct RltNode {
    _opaque: [u8; 0],
}

type Tensors = *const *const RltTensor;

/// `rlt_gradcheck_function`
pub type Checked =
    unsafe extern "C" fn(*mut c_void, *const *const RltTensor, i64, *mut *mut RltTensor, i64, *mut i64) -> i32;

/// `rlt_gradcheck_options`
#[repr(C)]
#[derive(Default)]
#[allow(missing_docs, reason = "the headers explain each")]
pub struct RltGradcheckOptions {
    pub struct_size: usize,
    pub eps: f64,
    pub atol: f64,
    pub rtol: f64,
    pub nondet_tol: f64,
    pub fast_mode: i32,
    pub skip_undefined_grad: i32,
    pub check_batched_grad: i32,
    pub check_forward_ad: i32,
    pub no_exception: i32,
    pub reserved: i32,
}

api! {
    /// The functions that operators and autograd need, and the library that keeps them valid.
    Api {
        rlt_last_error_message: unsafe extern "C" fn() -> *const c_char;
        rlt_last_error_code: unsafe extern "C" fn() -> i32;
        rlt_manual_seed: unsafe extern "C" fn(u64) -> i32;
        rlt_set_num_threads: unsafe extern "C" fn(i32) -> i32;
        rlt_live_handles: unsafe extern "C" fn(*mut i64) -> i32;
        rlt_tensor_free: unsafe extern "C" fn(*mut RltTensor);
        rlt_tensor_retain: unsafe extern "C" fn(*const RltTensor, *mut *mut RltTensor) -> i32;
        rlt_tensor_from_data:
            unsafe extern "C" fn(*const c_void, i64, *const i64, i64, i32, *mut *mut RltTensor) -> i32;
        rlt_tensor_geometry:
            unsafe extern "C" fn(*const RltTensor, *mut *const i64, *mut *const i64, *mut i64) -> i32;
        rlt_tensor_dtype: unsafe extern "C" fn(*const RltTensor, *mut i32) -> i32;
        rlt_tensor_is_nested: unsafe extern "C" fn(*const RltTensor, *mut i32) -> i32;
        rlt_tensor_layout: unsafe extern "C" fn(*const RltTensor, *mut i32) -> i32;
        rlt_tensor_data_ptr: unsafe extern "C" fn(*const RltTensor, *mut *mut c_void) -> i32;
        rlt_tensor_device: unsafe extern "C" fn(*const RltTensor, *mut i32) -> i32;
        rlt_tensor_requires_grad: unsafe extern "C" fn(*const RltTensor, *mut i32) -> i32;
        rlt_op_count: unsafe extern "C" fn(*mut i64) -> i32;
        rlt_op_at: unsafe extern "C" fn(i64, *mut RltValue) -> i32;
        rlt_tensor_set_requires_grad: unsafe extern "C" fn(*const RltTensor, i32) -> i32;
        rlt_grad: unsafe extern "C" fn(
            Tensors, i64, Tensors, i64, Tensors, i32, i32, i32, *mut *mut RltTensor,
        ) -> i32;
        rlt_tensor_grad_fn: unsafe extern "C" fn(*const RltTensor, *mut *mut RltNode) -> i32;
        rlt_node_free: unsafe extern "C" fn(*mut RltNode);
        rlt_node_name: unsafe extern "C" fn(*const RltNode, *mut *const c_char) -> i32;
        rlt_node_sequence_nr: unsafe extern "C" fn(*const RltNode, *mut u64) -> i32;
        rlt_node_next_count: unsafe extern "C" fn(*const RltNode, *mut i64) -> i32;
        rlt_node_next_at: unsafe extern "C" fn(*const RltNode, i64, *mut *mut RltNode, *mut i64) -> i32;
        rlt_gradcheck: unsafe extern "C" fn(
            Checked, *mut c_void, Tensors, i64, *const RltGradcheckOptions, *mut i32,
        ) -> i32;
        rlt_gradgradcheck: unsafe extern "C" fn(
            Checked, *mut c_void, Tensors, i64, Tensors, i64, *const RltGradcheckOptions, *mut i32,
        ) -> i32;
        rlt_value_free: unsafe extern "C" fn(*mut RltValue);
        rlt_op_call: unsafe extern "C" fn(
            *const c_char, *const c_char, *const RltValue, i64, *const RltNamed, i64, *mut RltValue, i64, *mut i64,
        ) -> i32;
        rlt_op_schema: unsafe extern "C" fn(*const c_char, *const c_char, *mut RltValue) -> i32;
    }
}

api! {
    /// The functions that saved models need, which small builds of the library lack.
    ScriptApi {
        rlt_state_dict_load: unsafe extern "C" fn(*const c_char, i32, *mut *mut RltStateDict) -> i32;
        rlt_state_dict_len: unsafe extern "C" fn(*const RltStateDict, *mut i64) -> i32;
        rlt_state_dict_name_at: unsafe extern "C" fn(*const RltStateDict, i64, *mut *const c_char) -> i32;
        rlt_state_dict_tensor_at: unsafe extern "C" fn(*const RltStateDict, i64, *mut *mut RltTensor) -> i32;
        rlt_state_dict_free: unsafe extern "C" fn(*mut RltStateDict);
        rlt_backward: unsafe extern "C" fn(Tensors, i64, Tensors, i32, i32, Tensors, i64) -> i32;
        rlt_tensor_grad: unsafe extern "C" fn(*const RltTensor, *mut *mut RltTensor) -> i32;
        rlt_module_load: unsafe extern "C" fn(*const c_char, *mut *mut RltModule) -> i32;
        rlt_module_load_lite: unsafe extern "C" fn(*const c_char, *mut *mut RltModule) -> i32;
        rlt_module_free: unsafe extern "C" fn(*mut RltModule);
        rlt_module_run: unsafe extern "C" fn(
            *const RltModule, *const c_char, *const RltValue, i64, *const RltNamed, i64, *mut RltValue,
        ) -> i32;
        rlt_module_set_print: unsafe extern "C" fn(*mut RltModule, Option<Print>, *mut c_void, Option<Deleter>) -> i32;
        rlt_module_attribute: unsafe extern "C" fn(*const RltModule, *const c_char, *mut RltValue) -> i32;
        rlt_module_parameters: unsafe extern "C" fn(*const RltModule, *mut *mut RltStateDict) -> i32;
        rlt_module_buffers: unsafe extern "C" fn(*const RltModule, *mut *mut RltStateDict) -> i32;
        rlt_module_train: unsafe extern "C" fn(*const RltModule, i32) -> i32;
        rlt_module_optimize_for_inference: unsafe extern "C" fn(
            *const RltModule, *const *const c_char, i64, *mut *mut RltModule,
        ) -> i32;
        rlt_module_method_plan: unsafe extern "C" fn(*const RltModule, *const c_char, *mut RltValue) -> i32;
    }
}
