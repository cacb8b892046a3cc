//! Modules and functions.

use super::code;
use super::settings::{report, settings};
use super::work::Place;
use super::{Result, arena, require, state};
use crate::ptx::{self, Initial, Kernel, Space};
use std::collections::HashMap;
use std::sync::Arc;

/// A module that was loaded.
#[derive(Debug)]
pub struct Module {
    /// Its device.
    pub device: usize,
    /// The text.
    pub module: Arc<ptx::Module>,
    /// Addresses of its variables in global memory.
    pub addresses: HashMap<String, u64>,
    functions: HashMap<String, u64>,
}

/// A kernel of a module.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its device.
    pub device: usize,
    /// The module.
    pub module: u64,
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// Bytes of dynamic shared memory that launches may ask for.
    pub dynamic: i32,
    /// The name for C.
    pub name: std::ffi::CString,
}

/// Bytes of shared memory of a block without `cuFuncSetAttribute`.
pub const SHARED_DEFAULT: usize = 48 << 10;

/// Bytes of shared memory that a block can get.
pub fn shared_limit() -> usize {
    match settings().capability {
        (major, _) if major < 7 => 48 << 10,
        (7, 0) => 96 << 10,
        (7, _) => 64 << 10,
        (8, 6 | 9) => 99 << 10,
        (8, _) => 163 << 10,
        _ => 227 << 10,
    }
}

/// Load a module on the current device.
pub fn load(text: &str) -> Result<u64> {
    let device = require()?;
    let invalid = |error: String| {
        report(&error);
        code::INVALID_PTX
    };
    let module = Arc::new(ptx::scan(text).map_err(invalid)?);
    target(&module.text).map_err(invalid)?;
    let mut state = state();
    let mut addresses = HashMap::new();
    for variable in module.variables.iter().filter(|v| v.space == Space::Global) {
        let arena = &mut state.device(device)?.arena;
        let address = arena.allocate(variable.size.max(1), false).ok_or(code::OUT_OF_MEMORY)?;
        addresses.insert(variable.name.clone(), address);
    }
    for variable in module.variables.iter().filter(|v| v.space == Space::Global) {
        let mut bytes = vec![0u8; variable.size.max(1)];
        for (i, value) in variable.initial.iter().enumerate() {
            let bits = match value {
                Initial::Bits(bits) => *bits,
                Initial::Address(name, offset) => match addresses.get(name) {
                    Some(address) => address.wrapping_add(*offset as u64),
                    None => {
                        return Err(invalid(format!("{} has the address of {name}, which is unknown", variable.name)));
                    }
                },
            };
            bytes[i * variable.unit..(i + 1) * variable.unit].copy_from_slice(&bits.to_le_bytes()[..variable.unit]);
        }
        let extent = state.device(device)?.arena.find(addresses[&variable.name], bytes.len()).ok_or(code::UNKNOWN)?;
        // SAFETY: the allocation has these bytes and flags.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), extent.data, bytes.len());
            extent.written.write_bytes(1, bytes.len());
        }
    }
    let id = state.fresh();
    state.modules.insert(id, Module { device, module, addresses, functions: HashMap::new() });
    Ok(id)
}

/// Check that the device has what the module's target asks for.
fn target(text: &str) -> std::result::Result<(), String> {
    let line = text.lines().find_map(|l| l.trim().strip_prefix(".target")).unwrap_or("");
    let name = line.trim().trim_start_matches("sm_").split([',', ' ']).next().unwrap_or("");
    let number: i32 = name.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().unwrap_or(0);
    let (major, minor) = settings().capability;
    if number > major * 10 + minor {
        return Err(format!("the target sm_{name} is above the device's compute capability {major}.{minor}"));
    }
    Ok(())
}

/// Unload a module and release its variables.
pub fn unload(module: u64) -> Result {
    super::stream::synchronize_all()?;
    let mut state = state();
    let removed = state.modules.remove(&module).ok_or(code::INVALID_HANDLE)?;
    state.functions.retain(|_, f| f.module != module);
    for variable in removed.module.variables.iter().filter(|v| v.space == Space::Global) {
        let arena = &mut state.device(removed.device)?.arena;
        arena.release(removed.addresses[&variable.name]);
    }
    Ok(())
}

/// The function of a kernel.
pub fn function(module: u64, name: &str) -> Result<u64> {
    let (text, addresses, device) = {
        let state = state();
        let module = state.modules.get(&module).ok_or(code::INVALID_HANDLE)?;
        if let Some(function) = module.functions.get(name) {
            return Ok(*function);
        }
        if !module.module.functions.get(name).is_some_and(|f| f.entry) {
            return Err(code::NOT_FOUND);
        }
        (module.module.clone(), module.addresses.clone(), module.device)
    };
    let kernel = ptx::decode(&text, name, &addresses).map_err(|error| {
        report(&format!("kernel {name}: {error}"));
        code::INVALID_PTX
    })?;
    let c_name = std::ffi::CString::new(name).map_err(|_| code::INVALID_VALUE)?;
    let mut state = state();
    let id = state.fresh();
    let dynamic = SHARED_DEFAULT.saturating_sub(kernel.shared) as i32;
    state.functions.insert(id, Function { device, module, kernel: Arc::new(kernel), dynamic, name: c_name });
    if let Some(module) = state.modules.get_mut(&module) {
        module.functions.insert(name.into(), id);
    }
    Ok(id)
}

/// Whether `size` bytes at a device address are in one allocation, or in memory of the host that devices may use.
pub fn known(address: u64, size: usize) -> bool {
    let state = state();
    match arena::device_of(address) {
        Some(device) => state.devices.get(device).is_some_and(|d| d.arena.find(address, size).is_some()),
        None => state.host.find(address as usize, size).is_some(),
    }
}

/// The place of an address in the unified address space.
pub fn place(address: u64) -> Place {
    if arena::device_of(address).is_some() { Place::Device(address) } else { Place::Host(address as usize) }
}
