//! Modules, functions and launches.

use super::{Needs, Out, Text, api, enter};
use crate::driver::code::{self, Code};
use crate::driver::module::{self, Function};
use crate::driver::settings::{report, settings};
use crate::driver::work::Work;
use crate::driver::{Result, require, state, stream};
use crate::exec::{Launch, check};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

fn load(out: Out<u64>, image: *const c_char) -> Result {
    if image.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: callers pass an image: PTX ends with a zero, and the images of other formats have at least four bytes before
    // their first zero or are shorter strings.
    let bytes = unsafe { CStr::from_ptr(image) }.to_bytes();
    // Binaries for cards begin with these bytes: ELF and fat binaries.
    if bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"P\xedU\xba") {
        return Err(code::NO_BINARY_FOR_GPU);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| code::INVALID_IMAGE)?;
    out.set(module::load(text)?)
}

fn function(handle: u64) -> Result<Function> {
    state().functions.get(&handle).cloned().ok_or(code::INVALID_HANDLE)
}

/// Collect the parameters of a launch, from an array of pointers or from one buffer.
fn parameters(function: &Function, params: *const *const u8, extra: *const *const c_void) -> Result<Vec<u8>> {
    let kernel = &function.kernel;
    let mut bytes = vec![0u8; kernel.param_bytes];
    if !params.is_null() {
        for (i, (at, size)) in kernel.params.iter().enumerate() {
            // SAFETY: callers pass a pointer for each parameter, to as many bytes as the kernel declares.
            unsafe {
                let from = *params.add(i);
                if from.is_null() {
                    return Err(code::INVALID_VALUE);
                }
                std::ptr::copy_nonoverlapping(from, bytes[*at..].as_mut_ptr(), *size);
            }
        }
        return Ok(bytes);
    }
    if kernel.params.is_empty() {
        return Ok(bytes);
    }
    if extra.is_null() {
        return Err(code::INVALID_VALUE);
    }
    let (mut buffer, mut size) = (std::ptr::null::<u8>(), 0usize);
    let mut i = 0;
    loop {
        // SAFETY: callers end the list with a zero; each key has a value behind it.
        let (key, value) = unsafe {
            let key = *extra.add(i) as usize;
            if key == 0 {
                break;
            }
            (key, *extra.add(i + 1))
        };
        match key {
            1 => buffer = value.cast(),
            // SAFETY: the value of this key is a pointer to the size.
            2 => size = unsafe { *value.cast::<usize>() },
            _ => return Err(code::INVALID_VALUE),
        }
        i += 2;
    }
    if buffer.is_null() || size < bytes.len() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: the buffer has `size` bytes, which are enough.
    unsafe { std::ptr::copy_nonoverlapping(buffer, bytes.as_mut_ptr(), bytes.len()) };
    Ok(bytes)
}

fn start(
    handle: u64,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: u64,
    params: *const *const u8,
    extra: *const *const c_void,
) -> Result {
    let function = function(handle)?;
    let stream = stream::resolve(stream)?;
    let device = state().streams.get(&stream).ok_or(code::INVALID_HANDLE)?.device;
    if device != function.device {
        return Err(code::INVALID_CONTEXT);
    }
    if shared as i64 > i64::from(function.dynamic) {
        report(&format!(
            "kernel {}: {shared} bytes of dynamic shared memory, of which cuFuncSetAttribute allowed {}",
            function.kernel.name, function.dynamic
        ));
        return Err(code::INVALID_VALUE);
    }
    let params = parameters(&function, params, extra)?;
    let settings = settings();
    let launch = Launch { grid, block, shared, params, workers: settings.workers, budget: settings.budget };
    if let Err(fault) = check(&function.kernel, &launch, module::shared_limit()) {
        report(&format!("kernel {}: {}", function.kernel.name, fault.text));
        return Err(code::INVALID_VALUE);
    }
    stream::push(stream, Work::Launch(function.kernel, Arc::new(launch))).map(|_| ())
}

/// `CUlaunchConfig`, without attributes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: u64,
    attributes: usize,
    count: u32,
}

/// Blocks of a kernel that fit on a multiprocessor.
fn occupancy(handle: u64, threads: i32, dynamic: usize) -> Result<i32> {
    let function = function(handle)?;
    if threads <= 0 {
        return Err(code::INVALID_VALUE);
    }
    if threads > 1024 {
        return Ok(0);
    }
    let by_threads = 2048 / (threads as usize).next_multiple_of(32);
    let shared = function.kernel.shared + dynamic;
    let by_shared = module::shared_limit().checked_div(shared).unwrap_or(32);
    Ok(by_threads.min(by_shared).min(32) as i32)
}

fn function_attribute(kind: i32, handle: u64) -> Result<i32> {
    let function = function(handle)?;
    let (major, minor) = settings().capability;
    Ok(match kind {
        // Threads of a block, static shared, constant and local memory, registers.
        0 => 1024,
        1 => function.kernel.shared as i32,
        2 => 0,
        3 => function.kernel.local as i32,
        4 => (function.kernel.registers as i32).clamp(16, 255),
        // Versions of the PTX and of the binary, and the cache mode.
        5 | 6 => major * 10 + minor,
        7 => 0,
        8 => function.dynamic,
        9 => -1,
        _ => return Err(code::INVALID_VALUE),
    })
}

api! {
    Context fn cuModuleLoadData(out: Out<u64>, image: *const c_char) {
        load(out, image)
    }

    Context fn cuModuleLoadDataEx(
        out: Out<u64>, image: *const c_char, _count: u32, _options: *mut i32, _values: *mut *mut c_void,
    ) {
        load(out, image)
    }

    Context fn cuModuleLoad(out: Out<u64>, path: Text) {
        let text = std::fs::read_to_string(path.get()?).map_err(|_| code::FILE_NOT_FOUND)?;
        out.set(module::load(&text)?)
    }

    Context fn cuModuleUnload(module: u64) {
        module::unload(module)
    }

    Context fn cuModuleGetFunction(out: Out<u64>, module: u64, name: Text) {
        out.set(module::function(module, name.get()?)?)
    }

    Context fn cuModuleGetGlobal_v2(address: Out<u64>, size: Out<usize>, module: u64, name: Text) {
        let state = state();
        let name = name.get()?;
        let module = state.modules.get(&module).ok_or(code::INVALID_HANDLE)?;
        let at = *module.addresses.get(name).ok_or(code::NOT_FOUND)?;
        let variable = module.module.variables.iter().find(|v| v.name == name).ok_or(code::NOT_FOUND)?;
        address.set_optional(at);
        size.set_optional(variable.size);
        Ok(())
    }

    Nothing fn cuModuleGetLoadingMode(mode: Out<i32>) {
        mode.set(2)
    }

    Context fn cuFuncGetAttribute(value: Out<i32>, kind: i32, handle: u64) {
        value.set(function_attribute(kind, handle)?)
    }

    Context fn cuFuncSetAttribute(handle: u64, kind: i32, value: i32) {
        let mut state = state();
        let function = state.functions.get_mut(&handle).ok_or(code::INVALID_HANDLE)?;
        match kind {
            8 if value >= 0 && function.kernel.shared + value as usize <= module::shared_limit() => {
                function.dynamic = value;
                Ok(())
            }
            9 if (-1..=100).contains(&value) => Ok(()),
            _ => Err(code::INVALID_VALUE),
        }
    }

    Context fn cuFuncSetCacheConfig(handle: u64, _config: i32) {
        function(handle).map(|_| ())
    }

    Context fn cuFuncGetName(name: Out<*const c_char>, handle: u64) {
        let state = state();
        let function = state.functions.get(&handle).ok_or(code::INVALID_HANDLE)?;
        name.set(function.name.as_ptr())
    }

    Context fn cuFuncGetModule(module: Out<u64>, handle: u64) {
        module.set(function(handle)?.module)
    }

    Context fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: Out<i32>, handle: u64, threads: i32, dynamic: usize) {
        blocks.set(occupancy(handle, threads, dynamic)?)
    }

    Context fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<i32>, handle: u64, threads: i32, dynamic: usize, _flags: u32,
    ) {
        blocks.set(occupancy(handle, threads, dynamic)?)
    }

    Context fn cuLaunchKernel(
        handle: u64,
        grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, stream: u64, params: *const *const u8, extra: *const *const c_void,
    ) {
        require()?;
        start(handle, [grid_x, grid_y, grid_z], [block_x, block_y, block_z], shared, stream, params, extra)
    }

    Context fn cuLaunchKernelEx(
        config: *const Config, handle: u64, params: *const *const u8, extra: *const *const c_void,
    ) {
        if config.is_null() {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: callers pass null or a valid description.
        let config = unsafe { *config };
        start(handle, config.grid, config.block, config.shared, config.stream, params, extra)
    }
}
