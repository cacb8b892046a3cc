//! Environment variables and the shared library: each test runs a part of this program in a process of its own.

mod support;

use fakecuda::api::*;
use std::process::Command;
use support::*;

/// Names the part that a child process runs.
const PART: &str = "FAKECUDA_TEST_PART";

/// Run the test `child` in a process with these variables.
fn in_child(part: &str, variables: &[(&str, &str)]) {
    let program = std::env::current_exe().expect("the program");
    let mut command = Command::new(program);
    command.args(["--exact", "child", "--nocapture"]).env(PART, part).envs(variables.iter().copied());
    let output = command.output().expect("a process");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{part}: {text}");
    assert!(text.contains(&format!("{part} is done")), "{part}: {text}");
}

/// The parts.
#[test]
#[allow(clippy::print_stdout)]
fn child() {
    let Ok(part) = std::env::var(PART) else { return };
    match part.as_str() {
        "memory" => memory(),
        "unwritten" => unwritten(),
        "errors" => errors(),
        "capability" => capability(),
        "failure" => failure(),
        "nothing" => nothing(),
        "branches" => branches(),
        "log" => log(),
        "host" => host(),
        other => panic!("no part {other}"),
    }
    println!("{part} is done");
}

fn memory() {
    let _device = device();
    let mut address = 0u64;
    assert_eq!(code!(cuMemAlloc_v2(out(&mut address), 1001)), 2);
    ok!(cuMemAlloc_v2(out(&mut address), 1000));
    assert_eq!(code!(cuMemAllocAsync(out(&mut address), 1, 0)), 2);
}

#[test]
fn the_limit_of_memory() {
    in_child("memory", &[("FAKECUDA_MEMORY", "1000")]);
}

fn unwritten() {
    let _device = device();
    let source = unary("ld.global.u32 %r2, [%d4];", "st.global.u32 [%d3], %r2;", 4, 4, "", "");
    let (input, output) = (allocate(4), allocate(4));
    assert_eq!(run(kernel(&source, "k"), 1, 1, &[output, input]), 0, "{}", last_fault());
    assert_eq!(download::<u32>(output, 1), [0xcdcd_cdcd]);
}

#[test]
fn unwritten_memory_is_allowed() {
    in_child("unwritten", &[("FAKECUDA_UNWRITTEN", "allow")]);
}

fn errors() {
    let _device = device();
    let memory = allocate(4);
    let source = unary("", "", 4, 4, "", "trap;");
    assert_eq!(run(kernel(&source, "k"), 1, 1, &[memory, memory]), 719);
    ok!(cuCtxSynchronize());
    ok!(cuMemFree_v2(memory));
}

#[test]
fn errors_do_not_stay() {
    in_child("errors", &[("FAKECUDA_STICKY", "0")]);
}

fn capability() {
    let _device = device();
    let (mut major, mut minor, mut count, mut module) = (0i32, 0i32, 0i32, 0u64);
    ok!(cuDeviceGetAttribute(out(&mut major), 75, 0));
    ok!(cuDeviceGetAttribute(out(&mut minor), 76, 0));
    ok!(cuDeviceGetCount(out(&mut count)));
    assert_eq!((major, minor, count), (7, 5, 3));
    let newer = c".version 7.0\n.target sm_80\n.address_size 64\n";
    assert_eq!(code!(cuModuleLoadData(out(&mut module), newer.as_ptr())), 218);
    let older = c".version 7.0\n.target sm_75\n.address_size 64\n";
    ok!(cuModuleLoadData(out(&mut module), older.as_ptr()));
}

#[test]
fn the_compute_capability_and_the_number_of_devices() {
    in_child("capability", &[("FAKECUDA_CC", "7.5"), ("FAKECUDA_DEVICES", "3")]);
}

fn failure() {
    assert_eq!(code!(cuInit(0)), 0);
    assert_eq!(code!(cuInit(0)), 3);
    assert_eq!(code!(cuInit(0)), 0);
}

#[test]
fn calls_fail_from_the_start() {
    in_child("failure", &[("FAKECUDA_FAIL", "cuInit:2:3")]);
}

fn nothing() {
    assert_eq!(code!(cuInit(0)), 100);
    assert_eq!(code!(cuCtxSynchronize()), 3);
}

#[test]
fn there_may_be_no_device() {
    in_child("nothing", &[("FAKECUDA_DEVICES", "0")]);
}

fn branches() {
    let _device = device();
    let memory = allocate(4);
    let source = unary("", "", 4, 4, "", "L: bra L;");
    assert_eq!(run(kernel(&source, "k"), 1, 1, &[memory, memory]), 702);
    assert!(last_fault().contains("does not end"), "{}", last_fault());
}

#[test]
fn loops_without_end_end() {
    in_child("branches", &[("FAKECUDA_BRANCHES", "1000")]);
}

fn log() {
    errors_of_one_kernel();
}

fn errors_of_one_kernel() {
    let _device = device();
    let memory = allocate(4);
    assert_eq!(run(kernel(&unary("", "", 4, 4, "", "trap;"), "k"), 1, 1, &[memory, memory]), 719);
}

#[test]
fn faults_are_printed() {
    let program = std::env::current_exe().expect("the program");
    let mut command = Command::new(program);
    command.args(["--exact", "child", "--nocapture"]).env(PART, "log").env("FAKECUDA_LOG", "1");
    let text = String::from_utf8(command.output().expect("a process").stderr).expect("text");
    assert!(text.contains("fakecuda: kernel k, block (0, 0, 0), thread (0, 0, 0)"), "{text}");
}

/// Reads device memory as if it were the host's.
fn host() {
    let _device = device();
    let memory = upload(&[1u32]);
    // SAFETY: the read does not return: no processor has this address.
    let value = unsafe { std::ptr::read_volatile(memory as *const u32) };
    panic!("the host read {value}");
}

#[test]
fn the_host_cannot_use_device_memory() {
    use std::os::unix::process::ExitStatusExt;
    let program = std::env::current_exe().expect("the program");
    let mut command = Command::new(program);
    command.args(["--exact", "child", "--nocapture"]).env(PART, "host");
    let status = command.output().expect("a process").status;
    assert_eq!(status.signal(), Some(libc::SIGSEGV), "{status}");
}

/// The shared library that cargo built beside this program.
fn library() -> std::path::PathBuf {
    let mut folder = std::env::current_exe().expect("the program");
    folder.pop();
    folder.join("libfakecuda.so")
}

#[test]
fn the_library_exports_its_functions() {
    let path = std::ffi::CString::new(library().to_str().expect("a path")).expect("a path");
    // SAFETY: the library has no code that runs when it is loaded.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null(), "{path:?}");
    let symbol = |name: &std::ffi::CStr| {
        // SAFETY: the handle is that of a loaded library.
        unsafe { libc::dlsym(handle, name.as_ptr()) }
    };
    // What the library calls, and the functions of the tests.
    let names = [
        c"cuInit",
        c"cuMemAlloc_v2",
        c"cuMemcpyPeerAsync",
        c"cuStreamCreateWithPriority",
        c"cuLaunchKernel",
        c"cuGraphLaunch",
        c"cuMemHostAlloc",
        c"fakecuda_fail",
        c"fakecuda_calls",
        c"fakecuda_last_fault",
    ];
    for name in names {
        assert!(!symbol(name).is_null(), "{name:?}");
    }
    type Find = unsafe extern "C" fn(*const i8, *mut usize, i32, u64, *mut i32) -> i32;
    // SAFETY: this is the function's type.
    let find: Find = unsafe { std::mem::transmute(symbol(c"cuGetProcAddress_v2")) };
    let (mut address, mut status) = (0usize, 9i32);
    // SAFETY: the pointers are valid during the calls.
    let codes = unsafe {
        let first = find(c"cuMemAlloc".as_ptr().cast(), &mut address, 12000, 0, &mut status);
        (first, find(c"cuNothing".as_ptr().cast(), &mut 0, 12000, 0, &mut 0))
    };
    assert_eq!((codes, status), ((0, 500), 0));
    assert_eq!(address, symbol(c"cuMemAlloc_v2") as usize);
}
