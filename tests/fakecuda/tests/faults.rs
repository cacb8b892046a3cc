//! Mistakes of kernels: each is an error with its place.

mod support;

use fakecuda::api::*;
use support::*;

const ILLEGAL_ADDRESS: i32 = 700;
const ILLEGAL_INSTRUCTION: i32 = 715;
const MISALIGNED: i32 = 716;
const LAUNCH_FAILED: i32 = 719;

/// Run a kernel of `threads` threads that must fail; its parameters are 64 written bytes and 64 unwritten ones.
fn fault(threads: u32, body: &str) -> (i32, String) {
    let _device = device();
    let source = unary("", "", 4, 4, ".shared .align 16 .b8 s[256];", body);
    let (written, unwritten) = (upload(&[0u32; 16]), allocate(64));
    let code = run(kernel(&source, "k"), 1, threads, &[written, unwritten]);
    (code, last_fault())
}

fn check(threads: u32, body: &str, code: i32, parts: &[&str]) {
    let (got, text) = fault(threads, body);
    assert_eq!(got, code, "{text}");
    for part in parts {
        assert!(text.contains(part), "`{text}` does not contain `{part}`");
    }
}

#[test]
fn accesses_outside_of_allocations() {
    let line = "`st.global.u32 [%d3], %r1;`";
    // 16 elements; thread 16 is behind them.
    check(
        32,
        "st.global.u32 [%d3], %r1;",
        ILLEGAL_ADDRESS,
        &[
            "kernel k",
            "block (0, 0, 0)",
            "thread (16, 0, 0)",
            "line 19",
            line,
            "illegal write of 4 bytes",
            "0 bytes behind the end of an allocation of 64",
        ],
    );
    check(1, "ld.global.u32 %r2, [%d3+-4];", ILLEGAL_ADDRESS, &["illegal read of 4 bytes"]);
    check(1, "ld.global.u64 %d5, [%d3+60];", MISALIGNED, &["misaligned"]);
    check(1, "mov.u64 %d5, 16;\nst.u32 [%d5], %r1;", ILLEGAL_ADDRESS, &["0x10"]);
    check(
        1,
        "mov.u32 %r2, s;\nst.shared.u32 [%r2+256], %r1;",
        ILLEGAL_ADDRESS,
        &["byte 256 of 256 bytes of shared memory"],
    );
}

#[test]
fn misaligned_accesses() {
    check(2, "st.global.u32 [%d1+2], %r1;", MISALIGNED, &["4 bytes", "misaligned"]);
    check(1, "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d1+8];", MISALIGNED, &["16 bytes"]);
}

#[test]
fn reads_of_unwritten_memory() {
    check(
        4,
        "setp.eq.u32 %p1, %r1, 3;\n@%p1 ld.global.u32 %r2, [%d4];",
        ILLEGAL_ADDRESS,
        &["thread (3, 0, 0)", "unwritten memory", "byte 12 of an allocation of 64"],
    );
    check(1, "st.global.u8 [%d2], %r1;\nld.global.u16 %r2, [%d2];", ILLEGAL_ADDRESS, &["2 bytes of unwritten memory"]);
    check(1, "mov.u32 %r2, s;\nld.shared.u32 %r3, [%r2];", LAUNCH_FAILED, &["unwritten shared memory at byte 0"]);
}

#[test]
fn copies_take_unwritten_bytes_along() {
    let _device = device();
    let (a, b) = (allocate(8), upload(&[1u32, 2]));
    ok!(cuMemcpyDtoD_v2(b, a, 4));
    assert_eq!(download::<u32>(b, 2), [0xcdcd_cdcd, 2]);
    let source = unary("", "", 4, 4, "", "ld.global.u32 %r2, [%d4];");
    assert_eq!(run(kernel(&source, "k"), 1, 1, &[b, b]), ILLEGAL_ADDRESS);
    // Memory that was handed out again.
    let _ = code!(cuDevicePrimaryCtxReset_v2(0));
    let c = upload(&[1u32]);
    assert!(fakecuda_poison(c, 4));
    assert_eq!(run(kernel(&source, "k"), 1, 1, &[c, c]), ILLEGAL_ADDRESS);
}

#[test]
fn races_in_shared_memory() {
    let address = "mov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\nadd.s32 %r4, %r2, %r3;\n";
    // A neighbour's element without a barrier, in one warp and in two.
    let neighbour = format!(
        "{address}st.shared.u32 [%r4], %r1;\nxor.b32 %r5, %r3, 4;\nadd.s32 %r5, %r5, %r2;\nld.shared.u32 %r6, [%r5];"
    );
    check(32, &neighbour, LAUNCH_FAILED, &["a race in shared memory", "thread 0 reads byte 4", "thread 1 wrote it"]);
    let across = format!(
        "{address}st.shared.u32 [%r4], %r1;\nsub.s32 %r5, 252, %r3;\nadd.s32 %r5, %r5, %r2;\nld.shared.u32 %r6, [%r5];"
    );
    let (code, text) = fault(64, &across);
    assert!(code == LAUNCH_FAILED && (text.contains("race") || text.contains("unwritten")), "{text}");
    // Two threads write the same byte.
    check(
        2,
        "mov.u32 %r2, s;\nst.shared.u32 [%r2], %r1;",
        LAUNCH_FAILED,
        &["thread 1 writes byte 0", "thread 0 wrote it"],
    );
    // Written again while others may still read.
    let again = format!(
        "{address}st.shared.u32 [%r4], %r1;\nbar.sync 0;\nld.shared.u32 %r5, [%r2];\nst.shared.u32 [%r4], %r5;"
    );
    check(32, &again, LAUNCH_FAILED, &["writes byte 0", "read it"]);
}

#[test]
fn barriers_of_warps_order_their_threads() {
    let _device = device();
    let body = "mov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\nadd.s32 %r4, %r2, %r3;\nst.shared.u32 [%r4], %r1;\nbar.warp.sync -1;\n\
                xor.b32 %r5, %r3, 4;\nadd.s32 %r5, %r5, %r2;\nld.shared.u32 %r6, [%r5];\nst.global.u32 [%d3], %r6;";
    let output = allocate(128);
    let source = unary("", "", 4, 4, ".shared .align 16 .b8 s[256];", body);
    assert_eq!(run(kernel(&source, "k"), 1, 32, &[output, output]), 0, "{}", last_fault());
    assert_eq!(download::<u32>(output, 32), (0..32).map(|i| i ^ 1).collect::<Vec<u32>>());
}

#[test]
fn divergent_barriers() {
    let half = "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\nbar.sync 0;\nA:";
    check(32, half, LAUNCH_FAILED, &["a divergent barrier", "thread (16, 0, 0)", "`bar.sync 0;`"]);
    // One warp of two goes past it and waits at another.
    let other = "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.sync 1;\nbra B;\nA: bar.sync 2;\nB:";
    check(64, other, LAUNCH_FAILED, &["a barrier that 64 of 64 threads reach"]);
}

#[test]
fn lanes_that_are_not_there() {
    let shuffle = "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\nshfl.sync.idx.b32 %r2, %r1, 3, 31, -1;\nA:";
    // The others returned.
    check(32, shuffle, LAUNCH_FAILED, &["shfl.sync reads lane 3, which is not at it"]);
    // The others wait at a barrier.
    let wait = format!("{shuffle} bar.sync 0;");
    check(32, &wait, LAUNCH_FAILED, &["thread (16, 0, 0)", "shfl.sync", "lane 0 is not at it"]);
    check(8, "shfl.sync.idx.b32 %r2, %r1, 9, 31, 255;", LAUNCH_FAILED, &["shfl.sync reads lane 9"]);
    check(
        16,
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r2, %r3}, {%r4}, {%f1, %f2, %f3, %f4};",
        LAUNCH_FAILED,
        &["mma.sync by part of a warp"],
    );
}

#[test]
fn instructions_that_cannot_run() {
    check(1, "trap;", LAUNCH_FAILED, &["trap"]);
    check(
        1,
        "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r1}];",
        ILLEGAL_INSTRUCTION,
        &["unknown instruction tex"],
    );
    check(1, "call.uni nowhere, ();", ILLEGAL_INSTRUCTION, &["a call of nowhere"]);
    // Where it does not run, it does no harm.
    let (code, text) = fault(1, "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\ntrap;\nA:");
    assert_eq!(code, 0, "{text}");
}

#[test]
fn errors_stay_until_the_context_is_reset() {
    let (code, text) = fault(1, "trap;");
    assert_eq!(code, LAUNCH_FAILED, "{text}");
    let _device = device();
    let source = unary("", "", 4, 4, "", "trap;");
    let memory = allocate(4);
    assert_eq!(run(kernel(&source, "k"), 1, 1, &[memory, memory]), LAUNCH_FAILED);
    let mut other = 0u64;
    assert_eq!(code!(cuMemAlloc_v2(out(&mut other), 4)), LAUNCH_FAILED);
    assert_eq!(code!(cuMemFree_v2(memory)), LAUNCH_FAILED);
    ok!(cuDevicePrimaryCtxReset_v2(0));
    ok!(cuMemAlloc_v2(out(&mut other), 4));
}

#[test]
fn the_first_block_with_a_mistake_is_reported() {
    let _device = device();
    // Blocks from 40 on fail, after enough work for several threads of the host.
    let body = "mov.u32 %r2, 0;\nL: add.s32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 3000;\n@%p1 bra L;\nmov.u32 %r3, %ctaid.x;\n\
                setp.ge.u32 %p2, %r3, 40;\n@%p2 trap;";
    let memory = allocate(4);
    assert_eq!(run(kernel(&unary("", "", 4, 4, "", body), "k"), 100, 64, &[memory, memory]), LAUNCH_FAILED);
    assert!(last_fault().contains("block (40, 0, 0)"), "{}", last_fault());
}
