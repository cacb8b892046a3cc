//! The state behind the C functions: devices, streams, events, modules and graphs.
//!
//! One lock guards [`State`]. Work of streams runs without it, but in one thread at a time ([`stream`]).

pub mod arena;
pub mod code;
pub mod graph;
pub mod host;
pub mod module;
pub mod settings;
pub mod stream;
pub mod work;

use crate::exec::View;
use arena::Arena;
use code::Code;
use settings::settings;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The result of a call.
pub type Result<T = ()> = std::result::Result<T, Code>;

/// A device and its primary context.
#[derive(Debug)]
pub struct Device {
    /// Memory.
    pub arena: Arena,
    /// How often the primary context was retained.
    pub retained: u32,
    /// Flags of the primary context.
    pub flags: u32,
    /// The error that every call returns.
    pub sticky: Code,
    /// The stream of handle 0.
    pub legacy: u64,
    /// Devices whose memory kernels may use.
    pub peers: Vec<usize>,
}

/// Everything.
#[derive(Debug, Default)]
pub struct State {
    /// Whether `cuInit` was called.
    pub initialized: bool,
    /// Devices.
    pub devices: Vec<Device>,
    /// Streams by number.
    pub streams: HashMap<u64, stream::Stream>,
    /// Default streams of threads.
    pub thread_streams: HashMap<(usize, std::thread::ThreadId), u64>,
    /// Events by number.
    pub events: HashMap<u64, stream::Event>,
    /// Modules by number.
    pub modules: HashMap<u64, module::Module>,
    /// Functions by number.
    pub functions: HashMap<u64, module::Function>,
    /// Graphs by number.
    pub graphs: HashMap<u64, Arc<graph::Graph>>,
    /// Graphs that can run.
    pub execs: HashMap<u64, Arc<graph::Graph>>,
    /// Captures in progress.
    pub captures: HashMap<u64, graph::Capture>,
    /// Memory of the host that devices may use.
    pub host: host::Host,
    /// Counts handles; handles of different kinds are different numbers.
    last: u64,
    /// Microseconds of the devices' clock.
    pub clock: f64,
    views: HashMap<usize, (u64, Arc<View>)>,
}

impl State {
    /// A number that no handle has.
    pub fn fresh(&mut self) -> u64 {
        // Not below 4096: the first handles have meanings of their own.
        self.last = self.last.max(0x1000) + 0x10;
        self.last
    }

    /// A device.
    pub fn device(&mut self, index: usize) -> Result<&mut Device> {
        self.devices.get_mut(index).ok_or(code::INVALID_DEVICE)
    }

    /// What kernels of a device may use.
    pub fn view(&mut self, device: usize) -> Arc<View> {
        let peers = &self.devices[device].peers;
        let generation = self.host.generation
            + peers.iter().chain([&device]).map(|d| self.devices[*d].arena.generation).sum::<u64>()
            + ((peers.len() as u64) << 48);
        if let Some((made, view)) = self.views.get(&device)
            && *made == generation
        {
            return view.clone();
        }
        let mut view = View { extents: Vec::new(), strict: settings().strict };
        for d in peers.iter().chain([&device]) {
            self.devices[*d].arena.view(&mut view);
        }
        self.host.view(&mut view);
        view.extents.sort_by_key(|e| e.start);
        let view = Arc::new(view);
        self.views.insert(device, (generation, view.clone()));
        view
    }
}

/// The state, locked.
pub fn state() -> MutexGuard<'static, State> {
    static STATE: OnceLock<Mutex<State>> = OnceLock::new();
    let state = STATE.get_or_init(|| {
        let mut state = State::default();
        for index in 0..settings().devices {
            let legacy = state.fresh();
            state.streams.insert(legacy, stream::Stream::new(index, true, 0, true));
            state.devices.push(Device {
                arena: Arena::new(index),
                retained: 0,
                flags: 0,
                sticky: code::SUCCESS,
                legacy,
                peers: Vec::new(),
            });
        }
        Mutex::new(state)
    });
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The handle of device 0's primary context; the others follow. No address of the host.
const CONTEXTS: u64 = 0x100;

thread_local! {
    static CONTEXT: RefCell<Vec<Option<usize>>> = const { RefCell::new(Vec::new()) };
}

/// The context of a device as a handle.
pub fn context_handle(device: usize) -> u64 {
    CONTEXTS + device as u64
}

/// The device of a context's handle; `None` for the null handle.
pub fn context_device(handle: u64) -> Result<Option<usize>> {
    if handle == 0 {
        return Ok(None);
    }
    let device = handle.checked_sub(CONTEXTS).ok_or(code::INVALID_CONTEXT)? as usize;
    let mut state = state();
    let device_state = state.device(device).map_err(|_| code::INVALID_CONTEXT)?;
    if device_state.retained == 0 {
        return Err(code::INVALID_CONTEXT);
    }
    Ok(Some(device))
}

/// The device of the thread's current context.
pub fn current() -> Option<usize> {
    CONTEXT.with(|c| c.borrow().last().copied().flatten())
}

/// The device of the current context, or an error.
pub fn require() -> Result<usize> {
    current().ok_or(code::INVALID_CONTEXT)
}

/// Replace the thread's current context.
pub fn set_current(device: Option<usize>) {
    CONTEXT.with(|c| {
        let mut stack = c.borrow_mut();
        stack.pop();
        if device.is_some() || !stack.is_empty() {
            stack.push(device);
        }
    });
}

/// Push a context.
pub fn push_current(device: Option<usize>) {
    CONTEXT.with(|c| c.borrow_mut().push(device));
}

/// Pop the current context.
pub fn pop_current() -> Result<Option<usize>> {
    CONTEXT.with(|c| c.borrow_mut().pop()).ok_or(code::INVALID_CONTEXT)
}
