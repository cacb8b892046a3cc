//! Control flow and instructions that the lanes of a warp run together.

mod support;

use support::*;

/// Run a kernel of one warp whose lanes write `%r9` to `out[tid]`.
fn lanes(body: &str) -> Vec<u32> {
    block(32, body)
}

fn block(threads: usize, body: &str) -> Vec<u32> {
    let source = unary("mov.u32 %r9, 0;", "st.global.u32 [%d3], %r9;", 4, 4, ".shared .align 16 .b8 s[4096];", body);
    let output = allocate(4 * threads);
    assert_eq!(run(kernel(&source, "k"), 1, threads as u32, &[output, output]), 0, "{}", last_fault());
    download(output, threads)
}

fn each(f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..32).map(f).collect()
}

#[test]
fn lanes_leave_a_loop_one_by_one() {
    let _device = device();
    let body =
        "mov.u32 %r2, 0;\nL: add.s32 %r9, %r9, %r2;\nadd.s32 %r2, %r2, 1;\nsetp.le.u32 %p1, %r2, %r1;\n@%p1 bra L;";
    assert_eq!(lanes(body), each(|i| i * (i + 1) / 2));
}

#[test]
fn branches_join_again() {
    let _device = device();
    let body = "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 1;\n@%p1 bra ODD;\nmov.u32 %r9, 10;\nbra.uni JOIN;\n\
                ODD: mov.u32 %r9, 20;\nJOIN: activemask.b32 %r3;\nsetp.eq.u32 %p2, %r3, -1;\n@%p2 add.s32 %r9, %r9, 1;";
    assert_eq!(lanes(body), each(|i| if i % 2 == 1 { 21 } else { 11 }));
}

#[test]
fn tables_of_branches() {
    let _device = device();
    let body = "and.b32 %r2, %r1, 3;\nT: .branchtargets A, B, C, B;\nbrx.idx %r2, T;\nA: mov.u32 %r9, 1;\nbra E;\n\
                B: mov.u32 %r9, 2;\nbra E;\nC: mov.u32 %r9, 3;\nE:";
    assert_eq!(lanes(body), each(|i| [1, 2, 3, 2][i as usize % 4]));
}

#[test]
fn functions_are_called() {
    let _device = device();
    let source = format!(
        "{HEAD}.func (.param .b32 r) twice(.param .b32 a, .param .align 4 .b8 b[8])\n;\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .b32 %r<9>;\n.reg .b64 %d<4>;\n.reg .pred %p<3>;\n\
         ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nmad.wide.u32 %d2, %r1, 4, %d1;\nmov.u32 %r2, 7;\n\
         {{\n.param .b32 p0;\n.param .align 4 .b8 p1[8];\n.param .b32 q;\nst.param.b32 [p0], %r1;\n\
         st.param.v2.b32 [p1], {{%r2, %r1}};\ncall.uni (q), twice, (p0, p1);\nld.param.b32 %r3, [q];\n}}\n\
         st.global.u32 [%d2], %r3;\nret;\n}}\n\
         .func (.param .b32 r) twice(.param .b32 a, .param .align 4 .b8 b[8])\n{{\n.reg .b32 %r<9>;\n.reg .pred %p<2>;\n\
         ld.param.b32 %r1, [a];\nld.param.b32 %r2, [b+4];\nld.param.b32 %r3, [b];\nsetp.lt.u32 %p1, %r1, 8;\n@%p1 bra LOW;\n\
         mad.lo.s32 %r4, %r1, %r2, %r3;\nst.param.b32 [r], %r4;\nret;\nLOW: mov.b32 %r4, 100;\nst.param.b32 [r], %r4;\nret;\n}}\n"
    );
    let output = allocate(128);
    assert_eq!(run(kernel(&source, "k"), 1, 32, &[output]), 0, "{}", last_fault());
    assert_eq!(download::<u32>(output, 32), each(|i| if i < 8 { 100 } else { i * i + 7 }));
}

#[test]
fn shuffles() {
    let _device = device();
    let get = |text: &str| lanes(&format!("mul.lo.s32 %r2, %r1, 10;\n{text}"));
    assert_eq!(get("shfl.sync.idx.b32 %r9, %r2, 3, 31, -1;"), each(|_| 30));
    assert_eq!(get("shfl.sync.bfly.b32 %r9, %r2, 1, 31, -1;"), each(|i| (i ^ 1) * 10));
    assert_eq!(get("shfl.sync.up.b32 %r9, %r2, 2, 0, -1;"), each(|i| if i < 2 { i * 10 } else { (i - 2) * 10 }));
    assert_eq!(get("shfl.sync.down.b32 %r9, %r2, 30, 31, -1;"), each(|i| if i < 2 { (i + 30) * 10 } else { i * 10 }));
    // Segments of eight lanes, and the predicate that says whether the source was within.
    assert_eq!(
        get("shfl.sync.down.b32 %r3|%p1, %r2, 1, 0x181f, -1;\nselp.u32 %r9, %r3, 999, %p1;"),
        each(|i| if i % 8 == 7 { 999 } else { (i + 1) * 10 })
    );
}

#[test]
fn lanes_wait_for_each_other() {
    let _device = device();
    // Odd lanes take a path behind the shuffle and come back: even lanes wait for them.
    let body = "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 1;\nmov.u32 %r3, 5;\n@%p1 bra AWAY;\n\
                BACK: shfl.sync.bfly.b32 %r9, %r3, 1, 31, -1;\nbar.warp.sync -1;\nbar.sync 0;\nbra END;\n\
                AWAY: mov.u32 %r3, 7;\nbra BACK;\nEND:";
    assert_eq!(lanes(body), each(|i| if i % 2 == 1 { 5 } else { 7 }));
    // The same at a barrier.
    let body = "setp.lt.u32 %p1, %r1, 9;\n@%p1 bra AWAY;\nBACK: bar.sync 0;\nbra END;\n\
                AWAY: mov.u32 %r9, 7;\nbra BACK;\nEND:";
    assert_eq!(lanes(body), each(|i| if i < 9 { 7 } else { 0 }));
}

#[test]
fn votes_and_matches() {
    let _device = device();
    let odd = "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 1;\n";
    assert_eq!(lanes(&format!("{odd}vote.sync.ballot.b32 %r9, %p1, -1;")), each(|_| 0xaaaa_aaaa));
    let vote = |kind: &str| lanes(&format!("{odd}vote.sync.{kind}.pred %p2, %p1, -1;\nselp.u32 %r9, 1, 0, %p2;"));
    assert_eq!((vote("all"), vote("any"), vote("uni")), (each(|_| 0), each(|_| 1), each(|_| 0)));
    assert_eq!(lanes("and.b32 %r2, %r1, 3;\nmatch.any.sync.b32 %r9, %r2, -1;"), each(|i| 0x1111_1111 << (i % 4)));
    assert_eq!(lanes("redux.sync.add.u32 %r9, %r1, -1;"), each(|_| 496));
    assert_eq!(lanes("mov.u32 %r9, %lanemask_lt;"), each(|i| (1u32 << i) - 1));
}

#[test]
fn barriers_order_shared_memory() {
    let _device = device();
    let reversed = "mov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\nadd.s32 %r4, %r2, %r3;\nst.shared.u32 [%r4], %r1;\nbar.sync 0;\n\
                    sub.s32 %r5, 252, %r3;\nadd.s32 %r5, %r5, %r2;\nld.shared.u32 %r9, [%r5];";
    assert_eq!(block(64, reversed), (0..64).rev().collect::<Vec<u32>>());
    let count = "setp.lt.u32 %p1, %r1, 40;\nbarrier.cta.red.popc.aligned.u32 %r9, 0, %p1;";
    assert_eq!(block(64, count), vec![40; 64]);
    let all = "setp.lt.u32 %p1, %r1, 63;\nbar.red.or.pred %p2, 0, %p1;\nbar.red.and.pred %p3, 0, %p1;\nselp.u32 %r9, 1, 0, %p2;\n\
               @%p3 add.s32 %r9, %r9, 2;";
    assert_eq!(block(64, all), vec![1; 64]);
}

#[test]
fn atomics_of_all_lanes() {
    let _device = device();
    let get = |text: &str| {
        let body = "setp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, s;\n@%p1 st.shared.u32 [%r2], %r9;\nbar.sync 0;\n";
        block(64, &format!("{body}{text}\nbar.sync 0;\nld.shared.u32 %r9, [%r2];"))[63]
    };
    assert_eq!(get("red.shared.add.u32 [%r2], %r1;"), 64 * 63 / 2);
    assert_eq!(get("atom.shared.max.u32 %r3, [%r2], %r1;"), 63);
    assert_eq!(get("atom.shared.or.b32 %r3, [%r2], %r1;"), 63);
    assert_eq!(get("add.s32 %r4, %r1, 1;\natom.shared.cas.b32 %r3, [%r2], %r1, %r4;"), 64);
    assert_eq!(get("mov.f32 %f1, 0f3F000000;\nred.shared.add.f32 [%r2], %f1;"), 32f32.to_bits());
    // Global memory: blocks and warps in any order.
    let source = unary("", "", 4, 4, "", "red.global.add.u64 [%d1], 1;\natom.global.exch.b32 %r3, [%d2], 5;");
    let (a, b) = (upload(&[5u64]), upload(&[0u32]));
    assert_eq!(run(kernel(&source, "k"), 10, 100, &[a, b]), 0, "{}", last_fault());
    assert_eq!((download::<u64>(a, 1)[0], download::<u32>(b, 1)[0]), (1005, 5));
}

#[test]
fn vectors_and_packed_registers() {
    let _device = device();
    let body = "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d4];\nmov.b64 %d5, {%r3, %r4};\nmov.b64 {%r6, %r7}, %d5;\n\
                mov.b32 {%h1, %h2}, %r5;\nmov.b32 %r8, {%h2, %h1};";
    let source = unary(body, "st.global.v4.u32 [%d3], {%r8, %r7, %r6, %r2};", 16, 16, "", "");
    let (input, output) = (upload(&[1u32, 2, 3, 0x0005_0004, 5, 6, 7, 0x0009_0008]), allocate(32));
    assert_eq!(run(kernel(&source, "k"), 1, 2, &[output, input]), 0, "{}", last_fault());
    assert_eq!(download::<u32>(output, 8), [0x0004_0005, 3, 2, 1, 0x0008_0009, 7, 6, 5]);
    // Bytes, with and without sign.
    let body = "ld.global.s8 %r2, [%d4];\nld.global.u8 %r3, [%d4];\nld.global.s8 %h1, [%d4];\ncvt.u32.u16 %r4, %h1;";
    let store = "st.global.u32 [%d3], %r2;\nst.global.u32 [%d3+4], %r3;\nst.global.u32 [%d3+8], %r4;\nst.global.u8 [%d3+12], %r4;";
    let output = upload(&[0u32; 4]);
    assert_eq!(run(kernel(&unary(body, store, 1, 16, "", ""), "k"), 1, 1, &[output, upload(&[0x81u8])]), 0);
    assert_eq!(download::<u32>(output, 4), [0xffff_ff81, 0x81, 0xff81, 0x81]);
}

#[test]
fn local_memory_and_generic_addresses() {
    let _device = device();
    let body = "mov.u64 %d5, frame;\ncvta.local.u64 %d6, %d5;\nst.local.u32 [%d5+4], %r1;\nadd.s64 %d7, %d6, 4;\n\
                ld.u32 %r2, [%d7];\nmov.u64 %d8, s;\ncvta.shared.u64 %d8, %d8;\nmad.wide.u32 %d9, %r1, 4, %d8;\nst.u32 [%d9], %r2;\n\
                ld.u32 %r9, [%d9];\nadd.s32 %r9, %r9, 1;";
    let local = ".local .align 8 .b8 frame[16];\n.shared .align 16 .b8 s[4096];";
    let source = unary("", "st.global.u32 [%d3], %r9;", 4, 4, local, body);
    let output = allocate(128);
    assert_eq!(run(kernel(&source, "k"), 1, 32, &[output, output]), 0, "{}", last_fault());
    assert_eq!(download::<u32>(output, 32), each(|i| i + 1));
}

#[test]
fn variables_and_dynamic_shared_memory() {
    let _device = device();
    let source = format!(
        "{HEAD}.global .align 4 .b8 bytes[4] = {{1, 2, 3, 4}};\n.global .align 8 .u64 table[2] = {{generic(bytes), 40}};\n\
         .const .f32 half = 0f3F000000;\n.extern .shared .align 16 .b8 pool[];\n.visible .entry k(.param .u64 out)\n{{\n\
         .shared .align 4 .b8 fixed[20];\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\nld.param.u64 %d1, [out];\n\
         mov.u64 %d2, table;\nld.global.u64 %d3, [%d2];\nld.global.u32 %r1, [%d3];\nst.global.u32 [%d1], %r1;\n\
         ld.global.u32 %r2, [table+8];\nst.global.u32 [%d1+4], %r2;\nld.const.u32 %r3, [half];\nst.global.u32 [%d1+8], %r3;\n\
         mov.u32 %r4, pool;\nst.shared.u32 [%r4+12], %r2;\nld.shared.u32 %r5, [pool+12];\nadd.s32 %r5, %r5, %r4;\n\
         mov.u32 %r6, fixed;\nsub.s32 %r5, %r5, %r6;\nst.global.u32 [%d1+12], %r5;\nret;\n}}\n"
    );
    let (function, output) = (kernel(&source, "k"), allocate(16));
    assert_eq!(launch(function, 1, 1, 16, 0, &[output]), 0);
    // Dynamic memory is 32 bytes behind the static 20: 40 + 32.
    assert_eq!(download::<u32>(output, 4), [0x0403_0201, 40, 0.5f32.to_bits(), 72]);
}

/// A matrix product of small integers on tensor cores.
fn product(shape: &str, ty: &str, inner: usize, pack: impl Fn(&[f32]) -> Vec<u32>) {
    let packed = if ty == "tf32" { 1 } else { 2 };
    let (na, nb) = (16 * inner / 32 / packed, 8 * inner / 32 / packed);
    let a: Vec<f32> = (0..16 * inner).map(|i| ((i * 7) % 11) as f32 - 5.0).collect();
    let b: Vec<f32> = (0..inner * 8).map(|i| ((i * 5) % 9) as f32 - 4.0).collect();
    // Fragments as the instruction set describes them: groups of four lanes hold a row of A or a column of B.
    let mut fragments = vec![0f32; 32 * (na + nb) * packed];
    for lane in 0..32 {
        let (group, within) = (lane / 4, lane % 4);
        for register in 0..na + nb {
            for part in 0..packed {
                let value = if register < na {
                    let row = group + 8 * (register % 2);
                    a[row * inner + register / 2 * 4 * packed + within * packed + part]
                } else {
                    b[((register - na) * 4 * packed + within * packed + part) * 8 + group]
                };
                fragments[(lane * (na + nb) + register) * packed + part] = value;
            }
        }
    }
    let names =
        |from: usize, count: usize| (from..from + count).map(|i| format!("%r{i}")).collect::<Vec<_>>().join(", ");
    let loads: String = (0..na + nb).map(|i| format!("ld.global.u32 %r{}, [%d4+{}];\n", i + 2, 4 * i)).collect();
    let body = format!(
        "{loads}mov.f32 %f5, 0f3F800000;\nmma.sync.aligned.{shape}.row.col.f32.{ty}.{ty}.f32 {{%f1, %f2, %f3, %f4}}, \
         {{{}}}, {{{}}}, {{%f5, %f5, %f5, %f5}};",
        names(2, na),
        names(2 + na, nb)
    );
    let source = unary("", "st.global.v4.f32 [%d3], {%f1, %f2, %f3, %f4};", 4 * (na + nb), 16, "", &body);
    let source = source.replace("sm_70", "sm_80");
    let (input, output) = (upload(&pack(&fragments)), allocate(32 * 16));
    assert_eq!(run(kernel(&source, "k"), 1, 32, &[output, input]), 0, "{}", last_fault());
    let results = download::<f32>(output, 128);
    for m in 0..16 {
        for n in 0..8 {
            let want: f32 = 1.0 + (0..inner).map(|k| a[m * inner + k] * b[k * 8 + n]).sum::<f32>();
            let lane = (m % 8) * 4 + n / 2;
            assert_eq!(results[lane * 4 + m / 8 * 2 + n % 2], want, "{shape} {ty}: row {m}, column {n}");
        }
    }
}

#[test]
fn tensor_cores() {
    let _device = device();
    let bf16 = |v: &[f32]| v.chunks(2).map(|p| (p[0].to_bits() >> 16) | p[1].to_bits() & 0xffff_0000).collect();
    product("m16n8k16", "bf16", 16, bf16);
    product("m16n8k8", "bf16", 8, bf16);
    product("m16n8k8", "tf32", 8, |v| v.iter().map(|x| x.to_bits()).collect());
    product("m16n8k4", "tf32", 4, |v| v.iter().map(|x| x.to_bits()).collect());
}

#[test]
fn matrices_are_loaded_from_shared_memory() {
    let _device = device();
    // Row r of the matrix is at 16 r, its element c is 8 r + c.
    let fill = "mov.u32 %r2, s;\nshl.b32 %r3, %r1, 2;\nadd.s32 %r4, %r2, %r3;\nshl.b32 %r5, %r1, 1;\nadd.s32 %r6, %r5, 1;\n\
                shl.b32 %r6, %r6, 16;\nor.b32 %r5, %r5, %r6;\nst.shared.u32 [%r4], %r5;\nbar.sync 0;\nand.b32 %r7, %r1, 7;\n\
                shl.b32 %r7, %r7, 4;\nadd.s32 %r7, %r7, %r2;\n";
    let plain = lanes(&format!("{fill}ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r9}}, [%r7];"));
    assert_eq!(plain, each(|i| ((2 * i + 1) << 16) | (2 * i)));
    let transposed = lanes(&format!("{fill}ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {{%r9}}, [%r7];"));
    assert_eq!(transposed, each(|i| (8 * (i % 4 * 2 + 1) + i / 4) << 16 | (8 * (i % 4 * 2) + i / 4)));
}

#[test]
fn asynchronous_copies_to_shared_memory() {
    let _device = device();
    let body = "mov.u32 %r2, s;\nshl.b32 %r3, %r1, 4;\nadd.s32 %r2, %r2, %r3;\ncp.async.ca.shared.global [%r2], [%d4], 16;\n\
                cp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\nld.shared.u32 %r9, [%r2+8];";
    let source = unary("", "st.global.u32 [%d3], %r9;", 16, 4, ".shared .align 16 .b8 s[512];", body);
    let (input, output) = (upload(&(0..128u32).collect::<Vec<_>>()), allocate(128));
    let source = source.replace("sm_70", "sm_80");
    assert_eq!(run(kernel(&source, "k"), 1, 32, &[output, input]), 0, "{}", last_fault());
    assert_eq!(download::<u32>(output, 32), each(|i| 4 * i + 2));
}
