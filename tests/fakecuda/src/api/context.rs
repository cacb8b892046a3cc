//! Primary contexts and the current context of a thread.

use super::device::index;
use super::{Needs, Out, api, enter};
use crate::driver::code::{self, Code};
use crate::driver::{
    Result, context_device, context_handle, current, pop_current, push_current, require, set_current, state, stream,
};

/// Release what a context owns; the error that stayed goes too.
fn reset(device: usize) -> Result {
    // Work that is left is dropped by the error or runs; either way the queues are empty afterwards.
    let _ = stream::synchronize_device(device);
    let mut state = state();
    let legacy = state.device(device)?.legacy;
    state.streams.retain(|id, s| s.device != device || *id == legacy);
    state.thread_streams.retain(|(d, _), _| *d != device);
    state.modules.retain(|_, m| m.device != device);
    state.functions.retain(|_, f| f.device != device);
    if let Some(s) = state.streams.get_mut(&legacy) {
        *s = stream::Stream::new(device, true, 0, true);
    }
    let d = state.device(device)?;
    d.arena.clear();
    d.sticky = code::SUCCESS;
    d.peers.clear();
    Ok(())
}

fn release(device: i32) -> Result {
    let device = index(device)?;
    let last = {
        let mut state = state();
        let d = state.device(device)?;
        if d.retained == 0 {
            return Err(code::INVALID_CONTEXT);
        }
        d.retained -= 1;
        d.retained == 0
    };
    if last { reset(device) } else { Ok(()) }
}

fn set_flags(device: i32, flags: u32) -> Result {
    state().device(index(device)?)?.flags = flags;
    Ok(())
}

api! {
    Init fn cuDevicePrimaryCtxRetain(context: Out<u64>, device: i32) {
        let device = index(device)?;
        state().device(device)?.retained += 1;
        context.set(context_handle(device))
    }

    Init fn cuDevicePrimaryCtxRelease(device: i32) {
        release(device)
    }

    Init fn cuDevicePrimaryCtxRelease_v2(device: i32) {
        release(device)
    }

    Init fn cuDevicePrimaryCtxSetFlags(device: i32, flags: u32) {
        set_flags(device, flags)
    }

    Init fn cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) {
        set_flags(device, flags)
    }

    Init fn cuDevicePrimaryCtxGetState(device: i32, flags: Out<u32>, active: Out<i32>) {
        let mut state = state();
        let d = state.device(index(device)?)?;
        flags.set(d.flags)?;
        active.set(i32::from(d.retained > 0))
    }

    Init fn cuDevicePrimaryCtxReset(device: i32) {
        reset(index(device)?)
    }

    Init fn cuDevicePrimaryCtxReset_v2(device: i32) {
        reset(index(device)?)
    }

    Init fn cuCtxSetCurrent(context: u64) {
        set_current(context_device(context)?);
        Ok(())
    }

    Init fn cuCtxGetCurrent(context: Out<u64>) {
        context.set(current().map_or(0, context_handle))
    }

    Init fn cuCtxPushCurrent_v2(context: u64) {
        push_current(context_device(context)?);
        Ok(())
    }

    Init fn cuCtxPopCurrent_v2(context: Out<u64>) {
        let popped = pop_current()?;
        context.set_optional(popped.map_or(0, context_handle));
        Ok(())
    }

    Init fn cuCtxGetDevice(device: Out<i32>) {
        device.set(require()? as i32)
    }

    Init fn cuCtxGetFlags(flags: Out<u32>) {
        let device = require()?;
        let value = state().device(device)?.flags;
        flags.set(value)
    }

    Init fn cuCtxGetApiVersion(_context: u64, version: Out<u32>) {
        version.set(3020)
    }

    Context fn cuCtxSynchronize() {
        stream::synchronize_device(require()?)
    }

    Context fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        least.set_optional(0);
        greatest.set_optional(-5);
        Ok(())
    }

    Context fn cuCtxGetLimit(value: Out<usize>, limit: i32) {
        match limit {
            // Stack of a thread, buffer of printf, heap.
            0 => value.set(1024),
            1 => value.set(1 << 20),
            2 => value.set(8 << 20),
            _ => Err(code::INVALID_VALUE),
        }
    }

    Context fn cuCtxSetLimit(limit: i32, _value: usize) {
        if (0..=2).contains(&limit) { Ok(()) } else { Err(code::INVALID_VALUE) }
    }

    Context fn cuCtxGetCacheConfig(config: Out<i32>) {
        config.set(0)
    }

    Context fn cuCtxSetCacheConfig(_config: i32) {
        Ok(())
    }

    Context fn cuCtxEnablePeerAccess(peer: u64, flags: u32) {
        let device = require()?;
        let peer = context_device(peer)?.ok_or(code::INVALID_CONTEXT)?;
        if flags != 0 || peer == device {
            return Err(if flags != 0 { code::INVALID_VALUE } else { code::INVALID_DEVICE });
        }
        let mut state = state();
        let d = state.device(device)?;
        if d.peers.contains(&peer) {
            return Err(code::PEER_ALREADY_ENABLED);
        }
        d.peers.push(peer);
        Ok(())
    }

    Context fn cuCtxDisablePeerAccess(peer: u64) {
        let device = require()?;
        let peer = context_device(peer)?.ok_or(code::INVALID_CONTEXT)?;
        let mut state = state();
        let d = state.device(device)?;
        let at = d.peers.iter().position(|p| *p == peer).ok_or(code::PEER_NOT_ENABLED)?;
        d.peers.remove(at);
        Ok(())
    }
}
