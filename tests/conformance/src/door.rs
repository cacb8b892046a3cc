//! Access to the library: the shipped shared object, loaded at run time, through its C functions only.

pub use crate::abi::tag;
use crate::abi::{Api, Payload, RltGradcheckOptions, RltNamed, RltScalar, RltTensor, RltValue};
use crate::cases::Item;
use crate::host::HostTensor;
use rushlight_base::{Complex, DType, Device, DeviceType, Layout, MemoryFormat, Scalar};
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::rc::Rc;

/// The prefix of error messages that only a bug in the library explains.
pub const INTERNAL: &str = "internal error";

/// The number of such an error: `RLT_ERROR_INTERNAL`.
const ERROR_INTERNAL: i32 = 13;

/// The library.
#[derive(Clone)]
pub struct Door {
    pub(crate) api: Rc<Api>,
    /// Where the tensors of cases are; the host if there is none.
    device: Option<Device>,
}

/// A tensor of the library.
#[derive(Clone)]
pub struct Tensor(Rc<Handle>);

struct Handle {
    api: Rc<Api>,
    raw: *mut RltTensor,
}

impl Tensor {
    pub(crate) fn raw(&self) -> *const RltTensor {
        self.0.raw
    }

    pub(crate) fn raw_mut(&self) -> *mut RltTensor {
        self.0.raw
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle owns one reference, which is released here, once.
        unsafe { (self.api.rlt_tensor_free)(self.raw) }
    }
}

/// An argument or result of a call.
#[derive(Clone)]
pub enum Value {
    /// None
    None,
    /// A tensor.
    Tensor(Tensor),
    /// Several, some of them None.
    Tensors(Vec<Option<Tensor>>),
    /// A number.
    Scalar(Scalar),
    /// Integers.
    Ints(Vec<i64>),
    /// Real numbers.
    Floats(Vec<f64>),
    /// Booleans.
    Bools(Vec<i32>),
    /// Numbers of several kinds.
    Scalars(Vec<RltScalar>),
    /// Text.
    Str(CString),
    /// A frozen number (dtype, layout, memory format) under its tag.
    Code(i32, i64),
    /// A device.
    Device(Device),
}

impl Value {
    /// The tensor, if it is one.
    pub fn tensor(&self) -> Option<&Tensor> {
        match self {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

/// The derivative that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// That of the function: `rlt_gradcheck`.
    First,
    /// That of its gradient: `rlt_gradgradcheck`.
    Second,
}

/// A function that is checked: tensors in, tensors out.
pub type Function<'a> = dyn FnMut(&[Tensor]) -> Result<Vec<Tensor>, String> + 'a;

/// The callback of the library's gradient check.
struct Checked<'a, 'f> {
    door: &'a Door,
    function: &'a mut Function<'f>,
    failure: Option<String>,
}

/// `rlt_gradcheck_function`
unsafe extern "C" fn checked(
    ctx: *mut c_void,
    inputs: *const *const RltTensor,
    count: i64,
    outputs: *mut *mut RltTensor,
    capacity: i64,
    found: *mut i64,
) -> i32 {
    // SAFETY: `Door::gradcheck` passes a pointer to this value, waits for the check to end, and does not access it
    // meanwhile.
    let call = unsafe { &mut *ctx.cast::<Checked<'_, '_>>() };
    let mut results = || -> Result<(), String> {
        // SAFETY: the library passes `count` live handles.
        let inputs = unsafe { std::slice::from_raw_parts(inputs, count as usize) };
        let inputs = inputs.iter().map(|&raw| call.door.retained(raw)).collect::<Result<Vec<_>, _>>()?;
        let results = (call.function)(&inputs)?;
        if results.len() > capacity as usize {
            return Err(format!("{} results are more than {capacity}", results.len()));
        }
        for (at, result) in results.iter().enumerate() {
            // SAFETY: `outputs` has space for `capacity` results, at least as many as `results` has; each entry gets its own
            // reference.
            unsafe { call.door.check((call.door.api.rlt_tensor_retain)(result.0.raw, outputs.add(at)))? };
        }
        // SAFETY: `found` points to the count that the library reads.
        unsafe { *found = results.len() as i64 };
        Ok(())
    };
    let outcome = results();
    call.failure = outcome.err().or(call.failure.take());
    i32::from(call.failure.is_some())
}

type Made<'a> = dyn FnMut(&str, &HostTensor) -> Result<Tensor, String> + 'a;

/// The library that `RUSHLIGHT_LIBRARY` names; without it, the file next to the running program, which Cargo built with it.
pub fn built_library() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("RUSHLIGHT_LIBRARY") {
        return Ok(path.into());
    }
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let name = libloading::library_filename("rushlight");
    let folders = program.ancestors().skip(1).take(2);
    let candidates = folders.flat_map(|folder| [folder.join(&name), folder.join("deps").join(&name)]);
    let newest = candidates.filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path))).max();
    newest.map(|(_, path)| path).ok_or_else(|| format!("there is no {} beside {}", name.display(), program.display()))
}

impl Door {
    /// Loads the library.
    pub fn open(path: &Path) -> Result<Door, String> {
        Ok(Door { api: Rc::new(Api::load(path)?), device: None })
    }

    /// The same library, with the tensors of cases on a device.
    pub fn on(self, device: Device) -> Door {
        Door { device: Some(device), ..self }
    }

    /// Whether tensors of cases are on a device that may lack kernels.
    pub fn is_on_device(&self) -> bool {
        self.device.is_some()
    }

    /// The tensor on another device.
    fn moved(&self, tensor: Tensor, device: Device) -> Result<Tensor, String> {
        let device = ("device".to_owned(), Value::Device(device));
        let moved = self.call("aten::to", "dtype_layout", vec![Value::Tensor(tensor)], vec![device])?;
        moved.first().and_then(Value::tensor).cloned().ok_or_else(|| "to gave no tensor".into())
    }

    pub(crate) fn check(&self, status: i32) -> Result<(), String> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: the message is a C string that lives until this thread's next failed call.
        let message = unsafe { CStr::from_ptr((self.api.rlt_last_error_message)()) };
        let message = message.to_string_lossy();
        Err(if status == ERROR_INTERNAL { format!("{INTERNAL}: {message}") } else { message.into_owned() })
    }

    /// The kind of this thread's last error, as its number.
    pub fn last_error_code(&self) -> i32 {
        // SAFETY: the function has no arguments and no precondition.
        unsafe { (self.api.rlt_last_error_code)() }
    }

    pub(crate) fn own(&self, raw: *mut RltTensor) -> Tensor {
        Tensor(Rc::new(Handle { api: self.api.clone(), raw }))
    }

    /// The schema of an operator, or nothing if it does not exist.
    pub fn schema(&self, name: &str, overload: &str) -> Option<String> {
        let (name, overload) = (CString::new(name).ok()?, CString::new(overload).ok()?);
        let mut out = RltValue::NONE;
        // SAFETY: both strings are NUL-terminated, and `out` is a valid place for one value.
        let status = unsafe { (self.api.rlt_op_schema)(name.as_ptr(), overload.as_ptr(), &mut out) };
        if status != 0 {
            return None;
        }
        // SAFETY: the schema was returned as an owned string in the payload, and is freed once, after the copy.
        unsafe {
            let text = CStr::from_ptr(out.payload.string).to_string_lossy().into_owned();
            (self.api.rlt_value_free)(&mut out);
            Some(text)
        }
    }

    /// Whether there is such an operator.
    pub fn has(&self, name: &str, overload: &str) -> bool {
        self.schema(name, overload).is_some()
    }

    /// Whether the operator returns views of its arguments.
    pub fn is_view(&self, name: &str, overload: &str) -> bool {
        self.schema(name, overload).is_some_and(|schema| schema.contains("(a)"))
    }

    /// A tensor with the recorded values and strides.
    pub fn tensor(&self, host: &HostTensor) -> Result<Tensor, String> {
        let bytes = host.bytes.as_deref().ok_or("an input without values")?;
        let Some(strides) = &host.strides else { return self.copied(bytes, &host.shape, host.dtype) };
        // Elements at their strides in a flat tensor, seen through `as_strided`.
        let size = host.dtype.size();
        let steps = host.shape.iter().zip(strides).map(|(extent, stride)| (extent - 1).max(0) * stride);
        let reach = 1 + steps.sum::<i64>();
        let mut flat = vec![0u8; reach as usize * size];
        let mut index = vec![0i64; host.shape.len()];
        for element in bytes.chunks_exact(size) {
            let at: i64 = index.iter().zip(strides).map(|(index, stride)| index * stride).sum();
            flat[at as usize * size..][..size].copy_from_slice(element);
            for (index, &extent) in index.iter_mut().zip(&host.shape).rev() {
                *index += 1;
                if *index < extent {
                    break;
                }
                *index = 0;
            }
        }
        let flat = self.copied(&flat, &[reach], host.dtype)?;
        let args = vec![Value::Tensor(flat), Value::Ints(host.shape.clone()), Value::Ints(strides.clone())];
        let view = self.call("aten::as_strided", "", args, Vec::new())?;
        // A separate leaf, not a view that autograd traces to its base.
        let leaf = self.call("aten::detach", "", view, Vec::new())?;
        leaf.first().and_then(Value::tensor).cloned().ok_or_else(|| "as_strided gave no tensor".into())
    }

    /// A tensor on the host, whatever the device of the others.
    pub fn tensor_on_host(&self, host: &HostTensor) -> Result<Tensor, String> {
        Door { device: None, ..self.clone() }.tensor(host)
    }

    fn copied(&self, bytes: &[u8], shape: &[i64], dtype: DType) -> Result<Tensor, String> {
        let mut raw = ptr::null_mut();
        // SAFETY: bytes and sizes have the lengths that are passed, and `raw` is a valid place for a handle.
        let status = unsafe {
            (self.api.rlt_tensor_from_data)(
                bytes.as_ptr().cast(),
                bytes.len() as i64,
                shape.as_ptr(),
                shape.len() as i64,
                dtype as i32,
                &mut raw,
            )
        };
        self.check(status)?;
        let tensor = self.own(raw);
        match self.device {
            Some(device) => self.moved(tensor, device),
            None => Ok(tensor),
        }
    }

    fn geometry(&self, tensor: &Tensor) -> Result<(Vec<i64>, Vec<i64>), String> {
        let (mut sizes, mut strides, mut ndim) = (ptr::null(), ptr::null(), 0);
        // SAFETY: the handle is live, and the borrowed arrays are copied before anything changes them.
        unsafe {
            self.check((self.api.rlt_tensor_geometry)(tensor.0.raw, &mut sizes, &mut strides, &mut ndim))?;
            if ndim == 0 {
                return Ok(Default::default());
            }
            let copy = |list: *const i64| std::slice::from_raw_parts(list, ndim as usize).to_vec();
            Ok((copy(sizes), copy(strides)))
        }
    }

    /// The values of a tensor.
    pub fn host(&self, tensor: &Tensor) -> Result<HostTensor, String> {
        let args = vec![Value::Tensor(tensor.clone())];
        let kwargs =
            vec![("memory_format".to_owned(), Value::Code(tag::MEMORY_FORMAT, MemoryFormat::Contiguous as i64))];
        let copies = self.call("aten::clone", "", args, kwargs)?;
        let copy = copies.first().and_then(Value::tensor).cloned().ok_or("clone gave no tensor")?;
        let copy = if self.device.is_some() { &self.moved(copy, Device::CPU)? } else { &copy };
        let shape = self.geometry(copy)?.0;
        let (mut code, mut data) = (0, ptr::null_mut());
        // SAFETY: the handle is live; the copy is contiguous, so its elements are adjacent.
        unsafe {
            self.check((self.api.rlt_tensor_dtype)(copy.0.raw, &mut code))?;
            self.check((self.api.rlt_tensor_data_ptr)(copy.0.raw, &mut data))?;
            let dtype = DType::from_code(code).map_err(|error| error.message().to_owned())?;
            let count = shape.iter().product::<i64>() as usize * dtype.size();
            let bytes = if count == 0 { &[][..] } else { std::slice::from_raw_parts(data.cast::<u8>(), count) };
            Ok(HostTensor { dtype, shape, strides: None, bytes: Some(bytes.to_vec()) })
        }
    }

    /// The strides of a tensor.
    pub fn strides(&self, tensor: &Tensor) -> Result<Vec<i64>, String> {
        Ok(self.geometry(tensor)?.1)
    }

    /// Makes gradients reach this tensor.
    pub fn require_grad(&self, tensor: &Tensor) -> Result<(), String> {
        // SAFETY: the handle is live, since `tensor` owns it.
        self.check(unsafe { (self.api.rlt_tensor_set_requires_grad)(tensor.0.raw, 1) })
    }

    /// A copy that gradients flow through.
    pub fn copy(&self, tensor: &Tensor) -> Result<Tensor, String> {
        let copies = self.call("aten::clone", "", vec![Value::Tensor(tensor.clone())], Vec::new())?;
        copies.first().and_then(Value::tensor).cloned().ok_or_else(|| "clone gave no tensor".into())
    }

    /// Sets the number of threads of operators.
    pub fn set_threads(&self, count: i32) -> Result<(), String> {
        // SAFETY: the argument is a plain number.
        self.check(unsafe { (self.api.rlt_set_num_threads)(count) })
    }

    /// Converts an argument; `made` creates tensors within it and receives their path within a list.
    pub fn value(&self, item: &Item, made: &mut Made<'_>) -> Result<Value, String> {
        let text = |text: &str| CString::new(text).map_err(|error| error.to_string());
        Ok(match item {
            Item::None => Value::None,
            Item::Scalar(value) => Value::Scalar(*value),
            Item::Str(value) => Value::Str(text(value)?),
            Item::DType(dtype) => Value::Code(tag::DTYPE, *dtype as i64),
            Item::Device(name)
                if name == "cpu"
                    && let Some(device) = self.device =>
            {
                Value::Device(device)
            }
            Item::Device(name) => Value::Device(Device::parse(name).map_err(|error| error.message().to_owned())?),
            Item::Layout => Value::Code(tag::LAYOUT, 0),
            Item::MemoryFormat(name) => {
                let format = match name.as_str() {
                    "contiguous_format" => MemoryFormat::Contiguous,
                    "preserve_format" => MemoryFormat::Preserve,
                    "channels_last" => MemoryFormat::ChannelsLast,
                    _ => MemoryFormat::ChannelsLast3d,
                };
                Value::Code(tag::MEMORY_FORMAT, format as i64)
            }
            Item::Tensor(host) => Value::Tensor(made("", host)?),
            Item::List(items) => list(items, made)?,
        })
    }

    /// A result in terms of recorded values.
    pub fn item(&self, value: &Value) -> Result<Item, String> {
        Ok(match value {
            Value::Tensor(tensor) => Item::Tensor(self.host(tensor)?),
            Value::Scalar(value) => Item::Scalar(*value),
            Value::Code(tag::DTYPE, code) => {
                Item::DType(DType::from_code(*code as i32).map_err(|error| error.message().to_owned())?)
            }
            Value::None => Item::None,
            _ => return Err("a result of a kind that was never recorded".into()),
        })
    }

    /// Calls an operator; lists among the results are spread.
    pub fn call(
        &self,
        name: &str,
        overload: &str,
        args: Vec<Value>,
        kwargs: Vec<(String, Value)>,
    ) -> Result<Vec<Value>, String> {
        let text = |text: &str| CString::new(text).map_err(|error| error.to_string());
        let (name, overload) = (text(name)?, text(overload)?);
        // Handle arrays and names must outlive the call.
        let lists: Vec<Vec<*mut RltTensor>> =
            args.iter().chain(kwargs.iter().map(|(_, value)| value)).map(handles).collect();
        let keys: Vec<CString> = kwargs.iter().map(|(name, _)| text(name)).collect::<Result<_, _>>()?;
        let (positional, named) = lists.split_at(args.len());
        let raw_args: Vec<RltValue> = args.iter().zip(positional).map(|(value, list)| borrow(value, list)).collect();
        let raw_kwargs: Vec<RltNamed> = kwargs
            .iter()
            .zip(named)
            .zip(&keys)
            .map(|(((_, value), list), key)| RltNamed { name: key.as_ptr(), value: borrow(value, list) })
            .collect();
        let (mut outs, mut count) = ([RltValue::NONE; 8], 0);
        // SAFETY: every pointer in the arguments borrows from `args`, `kwargs`, `lists` and `keys`, which live until
        // after the call; `outs` has space for the number of values that is passed.
        let status = unsafe {
            (self.api.rlt_op_call)(
                name.as_ptr(),
                overload.as_ptr(),
                raw_args.as_ptr(),
                raw_args.len() as i64,
                raw_kwargs.as_ptr(),
                raw_kwargs.len() as i64,
                outs.as_mut_ptr(),
                outs.len() as i64,
                &mut count,
            )
        };
        self.check(status)?;
        let mut results = Vec::new();
        for out in outs.iter_mut().take(count as usize) {
            self.take(out, &mut results)?;
        }
        Ok(results)
    }

    /// Moves an owned result into `results`.
    fn take(&self, out: &mut RltValue, results: &mut Vec<Value>) -> Result<(), String> {
        // SAFETY: the tag selects the valid field of the payload, and `rlt_value_free` releases the rest.
        unsafe {
            match out.tag {
                tag::TENSOR => {
                    results.push(Value::Tensor(self.own(out.payload.tensor)));
                    // The reference moved into the handle.
                    out.tag = tag::NONE;
                }
                tag::TENSOR_LIST => {
                    let list = std::slice::from_raw_parts(out.payload.tensors, out.len as usize);
                    for &raw in list {
                        let mut owned = ptr::null_mut();
                        self.check((self.api.rlt_tensor_retain)(raw, &mut owned))?;
                        results.push(Value::Tensor(self.own(owned)));
                    }
                }
                tag::NONE => results.push(Value::None),
                tag::BOOL => results.push(Value::Scalar(Scalar::Bool(out.payload.i != 0))),
                tag::INT => results.push(Value::Scalar(Scalar::Int(out.payload.i))),
                tag::FLOAT => results.push(Value::Scalar(Scalar::Float(out.payload.f))),
                tag::COMPLEX => {
                    results.push(Value::Scalar(Scalar::Complex(Complex::new(out.payload.c[0], out.payload.c[1]))));
                }
                other @ (tag::DTYPE | tag::LAYOUT | tag::MEMORY_FORMAT) => {
                    results.push(Value::Code(other, out.payload.i));
                }
                tag::STRING => results.push(Value::Str(CStr::from_ptr(out.payload.string).to_owned())),
                tag::INT_LIST => {
                    let list = std::slice::from_raw_parts(out.payload.ints, out.len as usize);
                    results.extend(list.iter().map(|&value| Value::Scalar(Scalar::Int(value))));
                }
                // What no property looks at: its kind is enough.
                other @ (tag::UINT | tag::DEVICE | tag::STRING_LIST) => results.push(Value::Code(other, 0)),
                other => return Err(format!("unexpected result with tag {other}")),
            }
            (self.api.rlt_value_free)(out);
        }
        Ok(())
    }

    /// The gradients of `inputs` for the given output gradients.
    pub fn gradients(&self, roots: &[(Tensor, Tensor)], inputs: &[Tensor]) -> Result<Vec<Option<HostTensor>>, String> {
        let found = self.gradient_tensors(roots, inputs, false)?;
        found.iter().map(|grad| grad.as_ref().map(|grad| self.host(grad)).transpose()).collect()
    }

    /// Like `gradients`, as tensors that can be differentiated again if `create_graph`.
    pub fn gradient_tensors(
        &self,
        roots: &[(Tensor, Tensor)],
        inputs: &[Tensor],
        create_graph: bool,
    ) -> Result<Vec<Option<Tensor>>, String> {
        let outputs: Vec<_> = roots.iter().map(|(output, _)| output.0.raw.cast_const()).collect();
        let grads: Vec<_> = roots.iter().map(|(_, grad)| grad.0.raw.cast_const()).collect();
        let leaves: Vec<_> = inputs.iter().map(|input| input.0.raw.cast_const()).collect();
        let mut found = vec![ptr::null_mut(); inputs.len()];
        let create_graph = i32::from(create_graph);
        // SAFETY: the handles are live and the arrays have the lengths that are passed; `found` has an entry for each
        // input.
        let status = unsafe {
            (self.api.rlt_grad)(
                outputs.as_ptr(),
                outputs.len() as i64,
                leaves.as_ptr(),
                leaves.len() as i64,
                grads.as_ptr(),
                create_graph,
                create_graph,
                1,
                found.as_mut_ptr(),
            )
        };
        self.check(status)?;
        Ok(found.into_iter().map(|raw| (!raw.is_null()).then(|| self.own(raw))).collect())
    }

    /// Another handle of a tensor that the library lends.
    pub(crate) fn retained(&self, raw: *const RltTensor) -> Result<Tensor, String> {
        let mut owned = ptr::null_mut();
        // SAFETY: the caller passes a handle that is live while it is borrowed.
        self.check(unsafe { (self.api.rlt_tensor_retain)(raw, &mut owned) })?;
        Ok(self.own(owned))
    }

    /// Compares the derivatives of `function` at `inputs` with finite differences. `fast`: by one random projection.
    pub fn gradcheck(
        &self,
        function: &mut Function<'_>,
        inputs: &[Tensor],
        order: Order,
        fast: bool,
    ) -> Result<(), String> {
        let options = RltGradcheckOptions {
            struct_size: size_of::<RltGradcheckOptions>(),
            fast_mode: i32::from(fast),
            ..RltGradcheckOptions::default()
        };
        let raw: Vec<_> = inputs.iter().map(|input| input.0.raw.cast_const()).collect();
        let (mut call, mut passed) = (Checked { door: self, function, failure: None }, 0);
        let (ctx, count) = ((&raw mut call).cast(), raw.len() as i64);
        // SAFETY: the handles are live, the array has the length that is passed, and `call` lives until the check has
        // ended.
        let status = unsafe {
            match order {
                Order::First => (self.api.rlt_gradcheck)(checked, ctx, raw.as_ptr(), count, &options, &mut passed),
                Order::Second => (self.api.rlt_gradgradcheck)(
                    checked,
                    ctx,
                    raw.as_ptr(),
                    count,
                    ptr::null(),
                    0,
                    &options,
                    &mut passed,
                ),
            }
        };
        match call.failure {
            Some(failure) => Err(failure),
            None => self.check(status),
        }
    }

    /// Whether a gradient reaches this tensor.
    pub fn requires_grad(&self, tensor: &Tensor) -> Result<bool, String> {
        let mut on = 0;
        // SAFETY: the handle is live, since `tensor` owns it.
        self.check(unsafe { (self.api.rlt_tensor_requires_grad)(tensor.0.raw, &mut on) })?;
        Ok(on != 0)
    }

    /// The schemas of all operators.
    pub fn schemas(&self) -> Result<Vec<String>, String> {
        let mut count = 0;
        // SAFETY: `count` is a valid place for the number.
        self.check(unsafe { (self.api.rlt_op_count)(&mut count) })?;
        let schema = |at| {
            let mut out = RltValue::NONE;
            // SAFETY: the schema is returned as an owned string, freed once, after the copy.
            unsafe {
                self.check((self.api.rlt_op_at)(at, &mut out))?;
                let text = CStr::from_ptr(out.payload.string).to_string_lossy().into_owned();
                (self.api.rlt_value_free)(&mut out);
                Ok(text)
            }
        };
        (0..count).map(schema).collect()
    }

    /// A tensor of the same layout on the meta device.
    pub fn on_meta(&self, tensor: &Tensor) -> Result<Tensor, String> {
        self.moved(tensor.clone(), Device::META)
    }

    /// dtype, sizes and strides.
    pub fn layout(&self, tensor: &Tensor) -> Result<(DType, Vec<i64>, Vec<i64>), String> {
        let mut code = 0;
        // SAFETY: the handle is live, since `tensor` owns it.
        self.check(unsafe { (self.api.rlt_tensor_dtype)(tensor.0.raw, &mut code) })?;
        let (sizes, strides) = self.geometry(tensor)?;
        Ok((DType::from_code(code).map_err(|error| error.message().to_owned())?, sizes, strides))
    }

    /// Whether the elements lie in memory at strides, not in a sparse layout.
    pub fn is_strided(&self, tensor: &Tensor) -> Result<bool, String> {
        let mut layout = 0;
        // SAFETY: the handle is live, since `tensor` owns it.
        self.check(unsafe { (self.api.rlt_tensor_layout)(tensor.0.raw, &mut layout) })?;
        Ok(layout == Layout::Strided as i32)
    }

    /// Whether the tensor is nested: it has no sizes.
    pub fn is_nested(&self, tensor: &Tensor) -> Result<bool, String> {
        let mut nested = 0;
        // SAFETY: the handle is live, since `tensor` owns it.
        self.check(unsafe { (self.api.rlt_tensor_is_nested)(tensor.0.raw, &mut nested) })?;
        Ok(nested != 0)
    }

    /// The kind of device a tensor is on.
    pub fn device(&self, tensor: &Tensor) -> Result<DeviceType, String> {
        let mut device = [0; 2];
        // SAFETY: the handle is live, since `tensor` owns it; an `rlt_device` is two numbers.
        self.check(unsafe { (self.api.rlt_tensor_device)(tensor.0.raw, device.as_mut_ptr()) })?;
        DeviceType::from_code(device[0]).map_err(|error| error.message().to_owned())
    }

    /// Seeds the default generator.
    pub fn seed(&self, seed: u64) -> Result<(), String> {
        // SAFETY: the argument is a plain number.
        self.check(unsafe { (self.api.rlt_manual_seed)(seed) })
    }

    /// Four uniform numbers, which identify the position of the generator.
    pub fn next_numbers(&self) -> Result<HostTensor, String> {
        let outs = self.call("aten::rand", "", vec![Value::Ints(vec![4])], Vec::new())?;
        self.host(outs.first().and_then(Value::tensor).ok_or("rand gave no tensor")?)
    }

    /// Handles that are live in the library.
    pub fn live_handles(&self) -> Result<i64, String> {
        let mut count = 0;
        // SAFETY: `count` is a valid place for the number.
        self.check(unsafe { (self.api.rlt_live_handles)(&mut count) })?;
        Ok(count)
    }
}

fn list(items: &[Item], made: &mut Made<'_>) -> Result<Value, String> {
    let number = |item: &Item| match item {
        Item::Scalar(value) => Ok(*value),
        other => Err(format!("unexpected {other:?} in a list")),
    };
    let is_float = |item: &Item| matches!(item, Item::Scalar(Scalar::Float(_)));
    if items.iter().any(is_float) && !items.iter().all(is_float) {
        return Ok(Value::Scalars(items.iter().map(|item| number(item).map(scalar)).collect::<Result<_, _>>()?));
    }
    Ok(match items.first() {
        Some(Item::Tensor(_) | Item::None) => {
            let tensor = |(at, item): (usize, &Item)| match item {
                Item::Tensor(host) => made(&at.to_string(), host).map(Some),
                _ => Ok(None),
            };
            Value::Tensors(items.iter().enumerate().map(tensor).collect::<Result<_, _>>()?)
        }
        Some(Item::Scalar(Scalar::Bool(_))) => {
            let flag = |item| number(item).map(|value: Scalar| i32::from(value.to_bool()));
            Value::Bools(items.iter().map(flag).collect::<Result<_, _>>()?)
        }
        Some(Item::Scalar(Scalar::Float(_))) => {
            Value::Floats(items.iter().map(|item| number(item).map(Scalar::to_f64)).collect::<Result<_, _>>()?)
        }
        _ => Value::Ints(items.iter().map(|item| number(item).map(Scalar::to_i64)).collect::<Result<_, _>>()?),
    })
}

/// A number as the C functions take it.
fn scalar(value: Scalar) -> RltScalar {
    let tag = match value {
        Scalar::Bool(_) => tag::BOOL,
        Scalar::Int(_) => tag::INT,
        Scalar::UInt(_) => tag::UINT,
        Scalar::Float(_) => tag::FLOAT,
        Scalar::Complex(_) => tag::COMPLEX,
    };
    let parts = value.to_complex();
    RltScalar { tag, reserved: 0, i: value.to_i64(), re: parts.re, im: parts.im }
}

/// The handles of a list of tensors.
fn handles(value: &Value) -> Vec<*mut RltTensor> {
    match value {
        Value::Tensors(list) => {
            list.iter().map(|item| item.as_ref().map_or(ptr::null_mut(), |item| item.0.raw)).collect()
        }
        _ => Vec::new(),
    }
}

/// A value that borrows from `value` and, for a list of tensors, from `list`.
fn borrow(value: &Value, list: &[*mut RltTensor]) -> RltValue {
    let (tag, len, payload) = match value {
        Value::None => (tag::NONE, 0, Payload { i: 0 }),
        Value::Tensor(tensor) => (tag::TENSOR, 0, Payload { tensor: tensor.0.raw }),
        Value::Tensors(_) => (tag::TENSOR_LIST, list.len(), Payload { tensors: list.as_ptr() }),
        Value::Scalar(Scalar::Bool(value)) => (tag::BOOL, 0, Payload { i: i64::from(*value) }),
        Value::Scalar(Scalar::Int(value)) => (tag::INT, 0, Payload { i: *value }),
        Value::Scalar(Scalar::UInt(value)) => (tag::UINT, 0, Payload { i: *value as i64 }),
        Value::Scalar(Scalar::Float(value)) => (tag::FLOAT, 0, Payload { f: *value }),
        Value::Scalar(Scalar::Complex(value)) => (tag::COMPLEX, 0, Payload { c: [value.re, value.im] }),
        Value::Ints(list) => (tag::INT_LIST, list.len(), Payload { ints: list.as_ptr() }),
        Value::Scalars(list) => (tag::SCALAR_LIST, list.len(), Payload { scalars: list.as_ptr() }),
        Value::Floats(list) => (tag::FLOAT_LIST, list.len(), Payload { floats: list.as_ptr() }),
        Value::Bools(list) => (tag::BOOL_LIST, list.len(), Payload { bools: list.as_ptr() }),
        Value::Str(text) => (tag::STRING, 0, Payload { string: text.as_ptr() as *const c_char }),
        Value::Code(tag, code) => (*tag, 0, Payload { i: *code }),
        Value::Device(device) => (tag::DEVICE, 0, Payload { device: [device.kind as i32, device.index.into()] }),
    };
    RltValue { tag, flags: 0, len: len as i64, payload }
}
