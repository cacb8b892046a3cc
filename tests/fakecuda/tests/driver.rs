//! Contexts, memory, streams, events and graphs of the fake driver.

mod support;

use fakecuda::api::*;
use support::*;

const ADD: &str = ".visible .entry add(.param .u64 x, .param .u64 n)\n{\n.reg .pred %p1;\n.reg .b32 %r<5>;\n\
    .reg .b64 %d<5>;\nld.param.u64 %d1, [x];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n\
    mov.u32 %r4, %tid.x;\nmad.lo.s32 %r2, %r2, %r3, %r4;\nsetp.ge.u32 %p1, %r2, %r1;\n@%p1 bra END;\n\
    mad.wide.u32 %d2, %r2, 4, %d1;\nld.global.u32 %r3, [%d2];\nadd.s32 %r3, %r3, 1;\nst.global.u32 [%d2], %r3;\n\
    END: ret;\n}\n";

fn add() -> u64 {
    kernel(&format!("{HEAD}{ADD}"), "add")
}

fn stream() -> u64 {
    let mut stream = 0u64;
    ok!(cuStreamCreate(out(&mut stream), 1));
    stream
}

fn event() -> u64 {
    let mut event = 0u64;
    ok!(cuEventCreate(out(&mut event), 0));
    event
}

#[test]
fn kernels_run_over_blocks() {
    let _device = device();
    let x = upload(&(0..1000u32).collect::<Vec<_>>());
    assert_eq!(run(add(), 8, 128, &[x, 1000]), 0);
    assert_eq!(download::<u32>(x, 1000), (1..=1000).collect::<Vec<u32>>());
}

#[test]
fn a_stream_that_does_not_wait_reads_the_old_value() {
    let _device = device();
    let (x, y) = (upload(&[1u32, 2, 3]), upload(&[0u32; 3]));
    let (a, b, function) = (stream(), stream(), add());
    // Stream b copies while stream a has not run.
    assert_eq!(launch(function, 1, 32, 0, a, &[x, 3]), 0);
    ok!(cuMemcpyDtoDAsync_v2(y, x, 12, b));
    ok!(cuStreamSynchronize(b));
    let mut old = [0u32; 3];
    ok!(cuMemcpyDtoHAsync_v2(old.as_mut_ptr() as usize, y, 12, b));
    assert_eq!(old, [1, 2, 3]);
    // With an event it sees the result.
    let done = event();
    ok!(cuEventRecord(done, a));
    ok!(cuStreamWaitEvent(b, done, 0));
    ok!(cuMemcpyDtoDAsync_v2(y, x, 12, b));
    ok!(cuMemcpyDtoHAsync_v2(old.as_mut_ptr() as usize, y, 12, b));
    assert_eq!(old, [2, 3, 4]);
}

#[test]
fn synchronizing_one_stream_leaves_the_others() {
    let _device = device();
    let (x, function) = (upload(&[1u32]), add());
    let (a, b) = (stream(), stream());
    assert_eq!(launch(function, 1, 32, 0, a, &[x, 1]), 0);
    ok!(cuStreamSynchronize(b));
    assert_eq!(code!(cuStreamQuery(a)), 600);
    // Programs that wait in a loop see the end.
    let mut queries = 0;
    while code!(cuStreamQuery(a)) == 600 {
        queries += 1;
        assert!(queries < 100);
    }
    assert_eq!(download::<u32>(x, 1), [2]);
}

#[test]
fn the_newest_stream_runs_first() {
    let _device = device();
    let (x, a, b) = (allocate(4), stream(), stream());
    // Nothing orders the two: the result is that of the older stream.
    ok!(cuMemsetD32Async(x, 1, 1, a));
    ok!(cuMemsetD32Async(x, 2, 1, b));
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(x, 1), [1]);
    // The work of a stream that was destroyed is not lost.
    ok!(cuMemsetD32Async(x, 3, 1, a));
    ok!(cuStreamDestroy_v2(a));
    assert_eq!(code!(cuStreamSynchronize(a)), 400);
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(x, 1), [3]);
}

#[test]
fn the_legacy_default_stream_waits_for_blocking_streams_only() {
    let _device = device();
    let (x, y, function) = (upload(&[1u32]), upload(&[1u32]), add());
    let mut blocking = 0u64;
    ok!(cuStreamCreate(out(&mut blocking), 0));
    let free = stream();
    assert_eq!(launch(function, 1, 32, 0, blocking, &[x, 1]), 0);
    assert_eq!(launch(function, 1, 32, 0, free, &[y, 1]), 0);
    // The copies are work of the legacy stream.
    assert_eq!((download::<u32>(x, 1), download::<u32>(y, 1)), (vec![2], vec![1]));
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(y, 1), [2]);
    // The default stream of the thread is a blocking stream of its own.
    assert_eq!(launch(function, 1, 32, 0, 2, &[x, 1]), 0);
    assert_eq!(code!(cuStreamQuery(2)), 600);
    assert_eq!(download::<u32>(x, 1), [3]);
}

#[test]
fn pinned_memory_is_read_when_the_copy_runs() {
    let _device = device();
    let mut host = 0usize;
    ok!(cuMemHostAlloc(out(&mut host), 4096, 0));
    let values = host as *mut u32;
    let (x, s) = (allocate(4), stream());
    // SAFETY: the allocation has 4096 bytes.
    unsafe { *values = 1 };
    ok!(cuMemcpyHtoDAsync_v2(x, host, 4, s));
    // SAFETY: the allocation has 4096 bytes.
    unsafe { *values = 2 };
    ok!(cuStreamSynchronize(s));
    assert_eq!(download::<u32>(x, 1), [2]);
    // Pageable memory is read by the call.
    let mut pageable = [3u32];
    ok!(cuMemcpyHtoDAsync_v2(x, pageable.as_ptr() as usize, 4, s));
    pageable[0] = 4;
    ok!(cuStreamSynchronize(s));
    assert_eq!((download::<u32>(x, 1), pageable), (vec![3], [4]));
    // Kernels may use pinned memory.
    assert_eq!(run(add(), 1, 32, &[host as u64, 1]), 0, "{}", last_fault());
    // SAFETY: the allocation has 4096 bytes.
    assert_eq!(unsafe { *values }, 3);
    let mut kind = 0u32;
    ok!(cuPointerGetAttribute((&raw mut kind).cast(), 2, host as u64));
    assert_eq!(kind, 1);
    ok!(cuMemFreeHost(host));
    assert_eq!(code!(cuMemFreeHost(host)), 1);
}

#[test]
fn memory_is_limited_and_addresses_are_tagged() {
    let _device = device();
    let (mut free, mut total, mut address) = (0usize, 0usize, 0u64);
    ok!(cuMemGetInfo_v2(out(&mut free), out(&mut total)));
    assert_eq!((free, total), (4 << 30, 4 << 30));
    assert_eq!(code!(cuMemAlloc_v2(out(&mut address), (4 << 30) + 1)), 2);
    let x = allocate(3 << 30);
    assert_eq!(x >> 56, 2);
    assert_eq!(code!(cuMemAlloc_v2(out(&mut address), 2 << 30)), 2);
    ok!(cuMemGetInfo_v2(out(&mut free), out(&mut total)));
    assert_eq!(free, 1 << 30);
    ok!(cuMemFree_v2(x));
    assert_eq!(code!(cuMemFree_v2(x)), 1);
    let _again = allocate(4 << 30);
    assert_eq!(code!(cuMemAlloc_v2(out(&mut address), 0)), 1);
}

#[test]
fn released_memory_is_not_there() {
    let _device = device();
    let (x, s, function) = (upload(&[1u32]), stream(), add());
    ok!(cuMemFreeAsync(x, s));
    // Stream order: the release comes first.
    assert_eq!(launch(function, 1, 32, 0, s, &[x, 1]), 0);
    assert_eq!(code!(cuStreamSynchronize(s)), 700);
    assert!(last_fault().contains("kernel add"), "{}", last_fault());
}

#[test]
fn fills_and_rectangles() {
    let _device = device();
    let x = allocate(24);
    ok!(cuMemsetD8_v2(x, 1, 4));
    ok!(cuMemsetD16_v2(x + 4, 0x0203, 2));
    ok!(cuMemsetD32Async(x + 8, 7, 4, 0));
    assert_eq!(download::<u32>(x, 6), [0x0101_0101, 0x0203_0203, 7, 7, 7, 7]);
    assert_eq!(code!(cuMemsetD32_v2(x, 7, 7)), 1);
    assert_eq!(code!(cuMemsetD32_v2(x + 2, 7, 1)), 1);
}

#[test]
fn calls_fail_on_request() {
    let _device = device();
    let mut address = 0u64;
    fail("cuMemAlloc_v2:2");
    ok!(cuMemAlloc_v2(out(&mut address), 16));
    assert_eq!(code!(cuMemAlloc_v2(out(&mut address), 16)), 2);
    ok!(cuMemAlloc_v2(out(&mut address), 16));
    fail("*:3, cuMemFree_v2:1:999");
    ok!(cuMemAlloc_v2(out(&mut address), 16));
    assert_eq!(code!(cuMemFree_v2(address)), 999);
    assert_eq!(code!(cuCtxSynchronize()), 719);
    // Failures on request do not stay.
    ok!(cuCtxSynchronize());
    let before = fakecuda_calls();
    ok!(cuCtxSynchronize());
    assert_eq!(fakecuda_calls(), before + 1);
    fail("");
}

#[test]
fn graphs_replay_captured_work() {
    let _device = device();
    let (x, s, other, function) = (upload(&[1u32, 1]), stream(), stream(), add());
    ok!(cuStreamBeginCapture_v2(s, 0));
    let mut status = 9u32;
    ok!(cuStreamIsCapturing(s, out(&mut status)));
    assert_eq!(status, 1);
    assert_eq!(launch(function, 1, 32, 0, s, &[x, 1]), 0);
    let (fork, join) = (event(), event());
    ok!(cuEventRecord(fork, s));
    ok!(cuStreamWaitEvent(other, fork, 0));
    assert_eq!(launch(function, 1, 32, 0, other, &[x, 2]), 0);
    ok!(cuEventRecord(join, other));
    ok!(cuStreamWaitEvent(s, join, 0));
    let (mut graph, mut exec) = (0u64, 0u64);
    ok!(cuStreamEndCapture(s, out(&mut graph)));
    // Nothing ran.
    assert_eq!(download::<u32>(x, 2), [1, 1]);
    ok!(cuGraphInstantiateWithFlags(out(&mut exec), graph, 0));
    ok!(cuGraphDestroy(graph));
    ok!(cuGraphLaunch(exec, s));
    ok!(cuGraphLaunch(exec, s));
    ok!(cuStreamSynchronize(s));
    assert_eq!(download::<u32>(x, 2), [5, 3]);
    ok!(cuGraphExecDestroy(exec));
    assert_eq!(code!(cuGraphLaunch(exec, s)), 400);
}

#[test]
fn captures_reject_calls_that_wait() {
    let _device = device();
    let (s, other, function, x) = (stream(), stream(), add(), upload(&[1u32]));
    let mut graph = 0u64;
    ok!(cuStreamBeginCapture_v2(s, 0));
    assert_eq!(code!(cuStreamSynchronize(s)), 900);
    assert_eq!(code!(cuStreamEndCapture(s, out(&mut graph))), 901);
    let mut address = 0u64;
    ok!(cuStreamBeginCapture_v2(s, 0));
    assert_eq!(code!(cuMemAlloc_v2(out(&mut address), 8)), 900);
    assert_eq!(code!(cuStreamEndCapture(s, out(&mut graph))), 901);
    // Relaxed captures allow it.
    ok!(cuStreamBeginCapture_v2(s, 2));
    ok!(cuMemAlloc_v2(out(&mut address), 8));
    ok!(cuStreamEndCapture(s, out(&mut graph)));
    // A stream that was not joined.
    let fork = event();
    ok!(cuStreamBeginCapture_v2(s, 0));
    ok!(cuEventRecord(fork, s));
    ok!(cuStreamWaitEvent(other, fork, 0));
    assert_eq!(launch(function, 1, 32, 0, other, &[x, 1]), 0);
    assert_eq!(code!(cuStreamEndCapture(s, out(&mut graph))), 904);
    assert_eq!(code!(cuStreamBeginCapture_v2(0, 0)), 900);
}

#[test]
fn events_have_times() {
    let _device = device();
    let (start, end, s, function, x) = (event(), event(), stream(), add(), upload(&[1u32]));
    ok!(cuEventRecord(start, s));
    assert_eq!(launch(function, 1, 32, 0, s, &[x, 1]), 0);
    ok!(cuEventRecord(end, s));
    let mut time = 0f32;
    assert_eq!(code!(cuEventElapsedTime(out(&mut time), start, end)), 600);
    assert_eq!(code!(cuEventQuery(end)), 600);
    ok!(cuEventSynchronize(end));
    ok!(cuEventQuery(end));
    ok!(cuEventElapsedTime(out(&mut time), start, end));
    assert!(time > 0.0);
}

#[test]
fn functions_of_the_program_run_in_order() {
    use std::sync::atomic::{AtomicI32, Ordering};
    static SEEN: AtomicI32 = AtomicI32::new(-1);
    unsafe extern "C" fn function(data: *mut std::ffi::c_void) {
        // SAFETY: the arguments are valid; the call is not permitted.
        let code = unsafe { cuCtxSynchronize() };
        SEEN.store(code + data as usize as i32, Ordering::Relaxed);
    }
    let _device = device();
    let s = stream();
    ok!(cuLaunchHostFunc(s, Some(function), 5 as *mut std::ffi::c_void));
    assert_eq!(SEEN.load(Ordering::Relaxed), -1);
    ok!(cuStreamSynchronize(s));
    assert_eq!(SEEN.load(Ordering::Relaxed), 805);
}

#[test]
fn devices_have_memory_of_their_own() {
    let _device = device();
    let mut count = 0i32;
    ok!(cuDeviceGetCount(out(&mut count)));
    assert_eq!(count, 2);
    let mut name = [0u8; 32];
    ok!(cuDeviceGetName(name.as_mut_ptr().cast(), 32, 1));
    assert_eq!(&name[..12], b"Fake CUDA 1\0");
    let (mut major, mut warp) = (0i32, 0i32);
    ok!(cuDeviceGetAttribute(out(&mut major), 75, 0));
    ok!(cuDeviceGetAttribute(out(&mut warp), 10, 0));
    assert_eq!((major, warp), (8, 32));
    assert_eq!(code!(cuDeviceGetName(name.as_mut_ptr().cast(), 32, 2)), 101);

    let (x, first) = (upload(&[41u32]), add());
    let (mut context, mut old) = (0u64, 0u64);
    ok!(cuCtxGetCurrent(out(&mut old)));
    ok!(cuDevicePrimaryCtxRetain(out(&mut context), 1));
    ok!(cuCtxPushCurrent_v2(context));
    let (y, second) = (allocate(4), add());
    assert_ne!(x >> 44, y >> 44);
    ok!(cuMemcpyPeerAsync(y, context, x, old, 4, 0));
    assert_eq!(download::<u32>(y, 1), [41]);
    // A kernel of device 1 may not use memory of device 0 before peer access is enabled.
    ok!(cuCtxEnablePeerAccess(old, 0));
    assert_eq!(code!(cuCtxEnablePeerAccess(old, 0)), 704);
    assert_eq!(run(second, 1, 32, &[x, 1]), 0, "{}", last_fault());
    ok!(cuCtxDisablePeerAccess(old));
    assert_eq!(run(second, 1, 32, &[x, 1]), 700);
    let mut popped = 0u64;
    ok!(cuCtxPopCurrent_v2(out(&mut popped)));
    assert_eq!(popped, context);
    // The other device still works, and its function belongs to it.
    assert_eq!(download::<u32>(x, 1), [42]);
    assert_eq!(run(first, 1, 32, &[x, 1]), 0);
}

#[test]
fn wrong_arguments_are_errors() {
    let _device = device();
    let function = add();
    let x = upload(&[1u32]);
    assert_eq!(launch(function, 1, 2048, 0, 0, &[x, 1]), 1);
    assert_eq!(launch(function, 0, 32, 0, 0, &[x, 1]), 1);
    assert_eq!(launch(function, 1, 32, 64 << 10, 0, &[x, 1]), 1);
    ok!(cuFuncSetAttribute(function, 8, 64 << 10));
    assert_eq!(launch(function, 1, 32, 64 << 10, 0, &[x, 1]), 0);
    assert_eq!(code!(cuFuncSetAttribute(function, 8, 1 << 20)), 1);
    assert_eq!(launch(function, 1, 32, 0, 12345, &[x, 1]), 400);
    assert_eq!(launch(99, 1, 32, 0, 0, &[x, 1]), 400);
    let mut module = 0u64;
    assert_eq!(code!(cuModuleLoadData(out(&mut module), c"no PTX".as_ptr())), 218);
    assert_eq!(code!(cuModuleLoadData(out(&mut module), c"\x7fELF".as_ptr())), 209);
    let newer = c".version 8.0\n.target sm_90a\n.address_size 64\n";
    assert_eq!(code!(cuModuleLoadData(out(&mut module), newer.as_ptr())), 218);
    assert!(last_fault().contains("sm_90a"), "{}", last_fault());
    let mut host = [0u32; 2];
    assert_eq!(code!(cuMemcpyDtoH_v2(host.as_mut_ptr() as usize, x, 8)), 1);
    let mut name = std::ptr::null::<std::ffi::c_char>();
    ok!(cuGetErrorName(700, out(&mut name)));
    // SAFETY: the function set a string that lives as long as the library.
    assert_eq!(unsafe { std::ffi::CStr::from_ptr(name) }, c"CUDA_ERROR_ILLEGAL_ADDRESS");
}

#[test]
fn functions_are_found_by_name() {
    let _device = device();
    let symbol = std::ffi::CString::new("cuMemAlloc").expect("a name");
    let mut address = std::ptr::null_mut::<std::ffi::c_void>();
    let code = code!(cuGetProcAddress_v2(text(&symbol), out(&mut address), 12000, 0, out::<i32, i32>(&mut 0)));
    // The functions of a test are not exported; those of the library are.
    assert!(code == 0 || code == 500);
}
