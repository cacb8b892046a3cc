//! Initialization and devices.

use super::{Needs, Out, api, enter};
use crate::driver::code::{self, Code};
use crate::driver::settings::settings;
use crate::driver::{Result, module, state};
use std::ffi::c_char;

/// The version of the API: CUDA 12.8.
const VERSION: i32 = 12080;

/// A UUID: `CUuuid`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Uuid([u8; 16]);

pub(super) fn index(device: i32) -> Result<usize> {
    let index = usize::try_from(device).map_err(|_| code::INVALID_DEVICE)?;
    if index < settings().devices { Ok(index) } else { Err(code::INVALID_DEVICE) }
}

/// Copy a string with its final zero, cut to a length.
fn copy_text(text: &str, to: *mut c_char, length: i32) -> Result {
    if to.is_null() || length <= 0 {
        return Err(code::INVALID_VALUE);
    }
    let count = text.len().min(length as usize - 1);
    // SAFETY: callers pass a buffer of `length` bytes; the text and its zero fit.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), to, count);
        *to.add(count) = 0;
    }
    Ok(())
}

fn uuid(device: usize) -> Uuid {
    let mut bytes = *b"fake-cuda-device";
    bytes[15] = device as u8;
    Uuid(bytes)
}

/// Attributes: those that programs use to choose launches.
fn attribute(attribute: i32) -> Result<i32> {
    let (major, minor) = settings().capability;
    Ok(match attribute {
        // Threads of a block and its dimensions.
        1..=3 => 1024,
        4 => 64,
        // Dimensions of the grid.
        5 => i32::MAX,
        6 | 7 => 65535,
        8 => module::SHARED_DEFAULT as i32,
        // Constant memory, warp, pitch, registers, kHz.
        9 => 65536,
        10 => 32,
        11 => i32::MAX,
        12 => 65536,
        13 => 1_410_000,
        14 => 512,
        // Copies and kernels at the same time; multiprocessors.
        15 => 1,
        16 => 4,
        // No time limit, not integrated, host memory can be mapped.
        17 | 18 => 0,
        19 => 1,
        20 => 0,
        31 => 1,
        32 => 0,
        // PCI bus, device, domain.
        33 => 1,
        34 | 50 => 0,
        35 => 0,
        // Memory clock, bus width, cache.
        36 => 1_215_000,
        37 => 5120,
        38 => 4 << 20,
        39 => 2048,
        40 => 3,
        // Unified addressing.
        41 => 1,
        75 => major,
        76 => minor,
        // Stream priorities.
        78 => 1,
        81 => module::shared_limit() as i32,
        82 => 65536,
        83 => 0,
        84 | 85 => 0,
        86 => 0,
        88 | 89 => 0,
        // Registered memory has the host's addresses.
        91 => 1,
        95 => 1,
        96 => 0,
        97 => module::shared_limit() as i32,
        99 => 1,
        106 => 16,
        // Memory pools: `cuMemAllocAsync`.
        115 => 1,
        // Attributes that no program has asked for.
        value if value > 0 && value < 200 => 0,
        _ => return Err(code::INVALID_VALUE),
    })
}

api! {
    Nothing fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        if settings().devices == 0 {
            return Err(code::NO_DEVICE);
        }
        state().initialized = true;
        Ok(())
    }

    Nothing fn cuDriverGetVersion(version: Out<i32>) {
        version.set(VERSION)
    }

    Init fn cuDeviceGetCount(count: Out<i32>) {
        count.set(settings().devices as i32)
    }

    Init fn cuDeviceGet(device: Out<i32>, ordinal: i32) {
        index(ordinal)?;
        device.set(ordinal)
    }

    Init fn cuDeviceGetName(name: *mut c_char, length: i32, device: i32) {
        copy_text(&format!("Fake CUDA {}", index(device)?), name, length)
    }

    Init fn cuDeviceGetPCIBusId(id: *mut c_char, length: i32, device: i32) {
        copy_text(&format!("0000:{:02x}:00.0", index(device)? + 1), id, length)
    }

    Init fn cuDeviceGetUuid(id: Out<Uuid>, device: i32) {
        id.set(uuid(index(device)?))
    }

    Init fn cuDeviceGetUuid_v2(id: Out<Uuid>, device: i32) {
        id.set(uuid(index(device)?))
    }

    Init fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: i32) {
        index(device)?;
        bytes.set(settings().memory)
    }

    Init fn cuDeviceGetAttribute(value: Out<i32>, kind: i32, device: i32) {
        let device = index(device)?;
        let result = attribute(kind)?;
        value.set(if kind == 33 { device as i32 + 1 } else { result })
    }

    Init fn cuDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32) {
        let (device, peer) = (index(device)?, index(peer)?);
        can.set(i32::from(device != peer))
    }

    Init fn cuDeviceGetP2PAttribute(value: Out<i32>, kind: i32, from: i32, to: i32) {
        let (from, to) = (index(from)?, index(to)?);
        if from == to {
            return Err(code::INVALID_DEVICE);
        }
        // Performance rank, access, native atomics, access to arrays.
        value.set(i32::from(kind == 2))
    }
}
