//! Saved models in the library: loaded, called and trained through its C functions only.

use super::value::{Lent, Value};
use crate::abi::{RltModule, RltNamed, RltStateDict, RltValue, ScriptApi};
use crate::door::{Door, Tensor};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::ptr;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

/// The tensors of a state dict by name.
pub type Tensors = HashMap<String, Tensor>;

/// What the methods of a module printed.
type Printed = Mutex<Vec<u8>>;

/// The library, with the functions for saved models.
#[derive(Clone)]
pub struct Library {
    /// Its operators.
    pub door: Door,
    api: Rc<ScriptApi>,
}

/// A loaded module.
pub struct Module {
    library: Library,
    raw: *mut RltModule,
    printed: Arc<Printed>,
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: this value owns the handle, which is freed here, once.
        unsafe { (self.library.api.rlt_module_free)(self.raw) }
    }
}

/// `rlt_print_callback`
unsafe extern "C" fn print(ctx: *mut c_void, text: *const c_char, len: i64) {
    // SAFETY: `Module::load` passes a pointer that `forget` releases after the last call; `len` bytes are readable.
    let (printed, text) = unsafe {
        let text = if len > 0 { std::slice::from_raw_parts(text.cast::<u8>(), len as usize) } else { &[] };
        (&*ctx.cast_const().cast::<Printed>(), text)
    };
    printed.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(text);
}

/// `rlt_deleter`
unsafe extern "C" fn forget(ctx: *mut c_void) {
    // SAFETY: the pointer comes from `Arc::into_raw` in `Module::load`; the library calls this once.
    drop(unsafe { Arc::from_raw(ctx.cast_const().cast::<Printed>()) });
}

fn c_path(path: &Path) -> Result<CString, String> {
    CString::new(path.as_os_str().as_encoded_bytes()).map_err(|error| error.to_string())
}

fn c_text(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|error| error.to_string())
}

impl Library {
    /// Loads the library.
    pub fn open(path: &Path) -> Result<Library, String> {
        Ok(Library { door: Door::open(path)?, api: Rc::new(ScriptApi::load(path)?) })
    }

    /// The tensors of a file.
    pub fn tensors(&self, path: &Path) -> Result<Tensors, String> {
        let (path, mut raw) = (c_path(path)?, ptr::null_mut());
        // SAFETY: the path is a C string, `raw` a valid place for a handle; 0 is RLT_FORMAT_AUTO.
        self.door.check(unsafe { (self.api.rlt_state_dict_load)(path.as_ptr(), 0, &mut raw) })?;
        self.entries(raw)
    }

    /// The entries of a state dict, which is freed.
    fn entries(&self, raw: *mut RltStateDict) -> Result<Tensors, String> {
        let read = || {
            let mut count = 0;
            // SAFETY: the handle is live, and `count` a valid place.
            self.door.check(unsafe { (self.api.rlt_state_dict_len)(raw, &mut count) })?;
            let entry = |at| {
                let (mut name, mut tensor) = (ptr::null(), ptr::null_mut());
                // SAFETY: the handle is live; the name is copied while it is.
                unsafe {
                    self.door.check((self.api.rlt_state_dict_name_at)(raw, at, &mut name))?;
                    self.door.check((self.api.rlt_state_dict_tensor_at)(raw, at, &mut tensor))?;
                    Ok((CStr::from_ptr(name).to_string_lossy().into_owned(), self.door.own(tensor)))
                }
            };
            (0..count).map(entry).collect()
        };
        let entries = read();
        // SAFETY: the caller gave the handle up.
        unsafe { (self.api.rlt_state_dict_free)(raw) };
        entries
    }

    /// The gradients of the leaves that the sum of a tensor depends on.
    pub fn backward(&self, output: &Tensor) -> Result<(), String> {
        let outputs = [output.raw()];
        // SAFETY: the array has one live handle; no gradients and no inputs are given.
        let status = unsafe { (self.api.rlt_backward)(outputs.as_ptr(), 1, ptr::null(), 0, 0, ptr::null(), 0) };
        self.door.check(status)
    }

    /// The gradient of a leaf.
    pub fn grad(&self, tensor: &Tensor) -> Result<Option<Tensor>, String> {
        let mut raw = ptr::null_mut();
        // SAFETY: the handle is live, and `raw` a valid place for another.
        self.door.check(unsafe { (self.api.rlt_tensor_grad)(tensor.raw(), &mut raw) })?;
        Ok((!raw.is_null()).then(|| self.door.own(raw)))
    }
}

impl Module {
    /// Loads a file; with `lite`, its code for the lite interpreter.
    pub fn load(library: &Library, path: &Path, lite: bool) -> Result<Module, String> {
        let (path, mut raw) = (c_path(path)?, ptr::null_mut());
        let load = if lite { library.api.rlt_module_load_lite } else { library.api.rlt_module_load };
        // SAFETY: the path is a C string, `raw` a valid place for a handle.
        library.door.check(unsafe { load(path.as_ptr(), &mut raw) })?;
        Module::printing(library, raw)
    }

    /// The module made to run fast with these methods beside `forward`. An error if it cannot be frozen.
    pub fn compiled(&self, methods: &[String]) -> Result<Module, String> {
        let names = methods.iter().map(|name| c_text(name)).collect::<Result<Vec<_>, _>>()?;
        let names: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
        let mut raw = ptr::null_mut();
        // SAFETY: the handle is live, the names are C strings that live until after the call, `raw` a valid place.
        self.library.door.check(unsafe {
            (self.library.api.rlt_module_optimize_for_inference)(self.raw, names.as_ptr(), names.len() as i64, &mut raw)
        })?;
        Module::printing(&self.library, raw)
    }

    /// The plans of a compiled method, as text.
    pub fn plan(&self, method: &str) -> Result<String, String> {
        let method = c_text(method)?;
        // SAFETY: the handle is live, the name a C string, and `out` a valid place for one value.
        match self.result(|out| unsafe { (self.library.api.rlt_module_method_plan)(self.raw, method.as_ptr(), out) })? {
            Value::Str(text) => Ok(text),
            _ => Err("the plan is no text".into()),
        }
    }

    /// The module of a new handle, which this value owns.
    fn printing(library: &Library, raw: *mut RltModule) -> Result<Module, String> {
        let module = Module { library: library.clone(), raw, printed: Arc::default() };
        let ctx = Arc::into_raw(module.printed.clone()).cast_mut().cast::<c_void>();
        // SAFETY: the callback can be called with `ctx` until the library calls the deleter.
        let status = unsafe { (library.api.rlt_module_set_print)(raw, Some(print), ctx, Some(forget)) };
        if status != 0 {
            // SAFETY: a call that fails does not call the deleter.
            unsafe { forget(ctx) };
        }
        library.door.check(status)?;
        Ok(module)
    }

    /// What was printed since the last call of this.
    pub fn printed(&self) -> String {
        let bytes = std::mem::take(&mut *self.printed.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Calls a method.
    pub fn run(&self, method: &str, args: &[Value], kwargs: &[(String, Value)]) -> Result<Value, String> {
        let (method, mut lent) = (c_text(method)?, Lent::default());
        let args = lent.lend_all(args)?;
        let named = |(name, value): &(String, Value)| {
            Ok::<_, String>(RltNamed { name: lent.text(name)?, value: lent.lend(value)? })
        };
        let kwargs = kwargs.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        self.result(|out| {
            // SAFETY: the pointers in the arguments borrow from the values and from `lent`, which live until after the
            // call; the handle is live, and `out` a valid place for one value.
            unsafe {
                (self.library.api.rlt_module_run)(
                    self.raw,
                    method.as_ptr(),
                    args.as_ptr(),
                    args.len() as i64,
                    kwargs.as_ptr(),
                    kwargs.len() as i64,
                    out,
                )
            }
        })
    }

    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Result<Value, String> {
        let name = c_text(name)?;
        // SAFETY: the handle is live, the name a C string, and `out` a valid place for one value.
        self.result(|out| unsafe { (self.library.api.rlt_module_attribute)(self.raw, name.as_ptr(), out) })
    }

    fn result(&self, call: impl FnOnce(*mut RltValue) -> i32) -> Result<Value, String> {
        let mut out = RltValue::NONE;
        self.library.door.check(call(&mut out))?;
        // SAFETY: the library returned an owned value, which is copied and then freed once.
        unsafe {
            let value = Value::of_c(&self.library.door, &out);
            (self.library.door.api.rlt_value_free)(&mut out);
            value
        }
    }

    /// Sets the training mode.
    pub fn train(&self) -> Result<(), String> {
        // SAFETY: the handle is live.
        self.library.door.check(unsafe { (self.library.api.rlt_module_train)(self.raw, 1) })
    }

    /// The parameters.
    pub fn parameters(&self) -> Result<Tensors, String> {
        let mut raw = ptr::null_mut();
        // SAFETY: the handle is live, and `raw` a valid place for another.
        self.library.door.check(unsafe { (self.library.api.rlt_module_parameters)(self.raw, &mut raw) })?;
        self.library.entries(raw)
    }

    /// The buffers.
    pub fn buffers(&self) -> Result<Tensors, String> {
        let mut raw = ptr::null_mut();
        // SAFETY: the handle is live, and `raw` a valid place for another.
        self.library.door.check(unsafe { (self.library.api.rlt_module_buffers)(self.raw, &mut raw) })?;
        self.library.entries(raw)
    }
}
