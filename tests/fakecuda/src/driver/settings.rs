//! Environment variables, failures on request, and the text of the last fault.

use super::code::{self, Code};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Settings that do not change.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Number of devices.
    pub devices: usize,
    /// Bytes of memory of each device.
    pub memory: usize,
    /// Compute capability.
    pub capability: (i32, i32),
    /// Whether reads of unwritten memory are errors.
    pub strict: bool,
    /// Whether errors of kernels stay.
    pub sticky: bool,
    /// Whether faults are printed.
    pub log: bool,
    /// Threads of the host for a launch.
    pub workers: usize,
    /// Branches that a warp may run in a launch.
    pub budget: u64,
}

/// Read the environment, once.
pub fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let text = |name: &str| std::env::var(name).ok();
        let number = |name: &str, default: usize| text(name).and_then(|v| v.trim().parse().ok()).unwrap_or(default);
        let capability = text("FAKECUDA_CC").and_then(|v| {
            let (major, minor) = v.trim().split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        });
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        Settings {
            devices: number("FAKECUDA_DEVICES", 2).min(16),
            memory: number("FAKECUDA_MEMORY", 4 << 30),
            capability: capability.unwrap_or((8, 0)),
            strict: text("FAKECUDA_UNWRITTEN").as_deref() != Some("allow"),
            sticky: text("FAKECUDA_STICKY").as_deref() != Some("0"),
            log: text("FAKECUDA_LOG").is_some_and(|v| !v.is_empty() && v != "0"),
            workers: number("FAKECUDA_THREADS", cores.min(8)).max(1),
            budget: number("FAKECUDA_BRANCHES", 1 << 28).max(1) as u64,
        }
    })
}

/// A call that is to fail.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Failure {
    symbol: String,
    call: u64,
    code: Option<Code>,
}

#[derive(Default)]
struct Calls {
    total: u64,
    /// Calls of each symbol since the failures were set.
    counts: HashMap<&'static str, u64>,
    since: u64,
    failures: Vec<Failure>,
    fault: String,
}

fn calls() -> MutexGuard<'static, Calls> {
    static CALLS: OnceLock<Mutex<Calls>> = OnceLock::new();
    let calls = CALLS.get_or_init(|| {
        let failures = std::env::var("FAKECUDA_FAIL").map(|v| parse(&v)).unwrap_or_default();
        Mutex::new(Calls { failures, ..Calls::default() })
    });
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Read `symbol:N` or `symbol:N:CODE`, separated by commas.
fn parse(text: &str) -> Vec<Failure> {
    text.split(',')
        .filter_map(|part| {
            let mut fields = part.trim().split(':');
            let symbol = fields.next().filter(|s| !s.is_empty())?.to_string();
            let call = fields.next()?.parse().ok()?;
            Some(Failure { symbol, call, code: fields.next().and_then(|c| c.parse().ok()) })
        })
        .collect()
}

/// Set the calls that fail; counts start again.
pub fn fail(text: &str) {
    let mut calls = calls();
    calls.failures = parse(text);
    calls.counts.clear();
    calls.since = 0;
}

/// The number of calls so far.
pub fn total() -> u64 {
    calls().total
}

/// Count a call. Returns the code of a failure on request.
pub fn count(symbol: &'static str) -> Code {
    let mut calls = calls();
    calls.total += 1;
    calls.since += 1;
    let since = calls.since;
    let own = calls.counts.entry(symbol).or_default();
    *own += 1;
    let own = *own;
    let hit = calls.failures.iter().find(|f| match f.symbol.as_str() {
        "*" => f.call == since,
        name => name == symbol && f.call == own,
    });
    hit.map_or(code::SUCCESS, |f| f.code.unwrap_or_else(|| usual(symbol)))
}

/// The code with which a call usually fails.
fn usual(symbol: &str) -> Code {
    const CODES: [(&str, Code); 13] = [
        ("cuMemAlloc", code::OUT_OF_MEMORY),
        ("cuMemHost", code::OUT_OF_MEMORY),
        ("cuInit", code::NO_DEVICE),
        ("cuDevicePrimaryCtxRetain", code::OUT_OF_MEMORY),
        ("cuDevice", code::INVALID_DEVICE),
        ("cuModuleLoad", code::INVALID_PTX),
        ("cuModuleGet", code::NOT_FOUND),
        ("cuStreamCreate", code::OUT_OF_MEMORY),
        ("cuEventCreate", code::OUT_OF_MEMORY),
        ("cuGraph", code::OUT_OF_MEMORY),
        ("cuLaunch", code::OUT_OF_RESOURCES),
        ("cuFunc", code::INVALID_VALUE),
        ("cuMem", code::INVALID_VALUE),
    ];
    CODES.iter().find(|(prefix, _)| symbol.starts_with(prefix)).map_or(code::LAUNCH_FAILED, |(_, code)| *code)
}

/// Keep the text of a fault, and print it if the environment asks for that.
pub fn report(text: &str) {
    if settings().log {
        #[allow(clippy::print_stderr)]
        {
            eprintln!("fakecuda: {text}");
        }
    }
    calls().fault = text.to_string();
}

/// The text of the last fault.
pub fn last_fault() -> String {
    calls().fault.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_read() {
        let one = |symbol: &str, call, code| Failure { symbol: symbol.into(), call, code };
        assert_eq!(parse("cuMemAlloc_v2:3"), [one("cuMemAlloc_v2", 3, None)]);
        assert_eq!(parse("*:1:700, cuInit:2"), [one("*", 1, Some(700)), one("cuInit", 2, None)]);
        assert_eq!(parse("nothing"), []);
        assert_eq!(usual("cuMemAllocAsync"), code::OUT_OF_MEMORY);
        assert_eq!(usual("cuLaunchKernel"), code::OUT_OF_RESOURCES);
    }
}
