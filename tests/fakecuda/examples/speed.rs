//! Measures the interpreter: lane instructions per second of a few kinds of loops, and the time of a small launch.
//!
//! `cargo run --release -p fakecuda --example speed`
#![allow(clippy::print_stdout)]

use fakecuda::exec::{Extent, Launch, View, launch};
use fakecuda::ptx::{decode, scan};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// Repeats the body 1,000 times in each thread.
fn source(body: &str) -> String {
    format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 x)\n{{\n.reg .pred %p<9>;\n\
         .reg .b32 %r<20>;\n.reg .b16 %h<9>;\n.reg .b64 %d<20>;\n.reg .f32 %f<20>;\n.reg .f64 %g<20>;\n.shared .align 16 .b8 s[4096];\n\
         ld.param.u64 %d1, [x];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\nmad.wide.u32 %d2, %r1, 4, %d1;\n\
         mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f3F000000;\nmov.f64 %g1, 0d3FF0000000000000;\nmov.u64 %d4, s;\n\
         mad.wide.u32 %d5, %r1, 4, %d4;\nst.shared.u32 [%d5], %r1;\nbar.sync 0;\n\
         L: {body}\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 1000;\n@%p1 bra L;\n\
         st.global.f32 [%d2], %f1;\nret;\n}}\n"
    )
}

fn main() {
    let cases = [
        ("fma.rn.f32", "fma.rn.f32 %f1, %f1, %f2, %f2;\n".repeat(10)),
        ("fma.rn.f64", "fma.rn.f64 %g1, %g1, %g1, %g1;\n".repeat(10)),
        ("div.rn.f32", "div.rn.f32 %f1, %f1, %f2;\n".repeat(10)),
        ("add.s32", "add.s32 %r3, %r1, %r2;\nxor.b32 %r4, %r3, %r2;\n".repeat(5)),
        ("mad.lo.s64", "mad.lo.s64 %d6, %d2, %d2, %d1;\n".repeat(10)),
        ("selp, setp", "setp.lt.f32 %p2, %f1, %f2;\nselp.f32 %f3, %f1, %f2, %p2;\n".repeat(5)),
        ("guarded add", "setp.lt.u32 %p2, %r1, 40;\n@%p2 add.s32 %r3, %r1, %r2;\n".repeat(5)),
        ("ld.global", "ld.global.f32 %f3, [%d2];\n".repeat(10)),
        ("st.global", "st.global.f32 [%d2], %f1;\n".repeat(10)),
        ("ld.shared", "ld.shared.u32 %r5, [%d5];\n".repeat(10)),
        ("st.shared", "st.shared.u32 [%d5], %r5;\n".repeat(10)),
        ("shfl", "shfl.sync.bfly.b32 %r5, %r1, 1, 31, -1;\n".repeat(10)),
        ("bar.sync", "bar.sync 0;\n".repeat(2)),
        ("add.s16", "add.s16 %h1, %h1, %h1;\n".repeat(10)),
        ("cvt.rn.f16.f32", "cvt.rn.f16.f32 %h1, %f2;\n".repeat(10)),
        ("cvt.f32.bf16", "cvt.f32.bf16 %f3, %h1;\n".repeat(10)),
        ("cvt.rzi.s64.f64", "cvt.rzi.s64.f64 %d6, %g1;\n".repeat(10)),
        ("setp.gt.u16", "setp.gt.u16 %p2, %h1, %h2;\n".repeat(10)),
    ];
    let mut data = vec![0u8; 1 << 20];
    let mut written = vec![1u8; 1 << 20];
    let start = 1 << 57;
    let extent = Extent { start, end: start + (1 << 20), data: data.as_mut_ptr(), written: written.as_mut_ptr() };
    let view = View { extents: vec![extent], strict: true };
    for (name, body) in cases {
        let module = match scan(&source(&body)) {
            Ok(module) => Arc::new(module),
            Err(error) => return println!("{error}"),
        };
        let kernel = match decode(&module, "k", &HashMap::new()) {
            Ok(kernel) => kernel,
            Err(error) => return println!("{error}"),
        };
        let params = start.to_le_bytes().to_vec();
        let one = Launch { grid: [8, 1, 1], block: [128, 1, 1], shared: 0, params, workers: 1, budget: 1 << 30 };
        let clock = Instant::now();
        match launch(&kernel, &one, &view) {
            Ok(stats) => {
                let rate = stats.steps as f64 / clock.elapsed().as_secs_f64() / 1e6;
                println!("{name:16} {rate:7.0} M lane instructions/s");
            }
            Err(fault) => println!("{name}: {}", fault.text),
        }
    }
    let module = Arc::new(scan(&source("")).unwrap_or_else(|e| panic!("{e}")));
    if let Ok(kernel) = decode(&module, "k", &HashMap::new()) {
        let params = start.to_le_bytes().to_vec();
        let small = Launch { grid: [4, 1, 1], block: [256, 1, 1], shared: 0, params, workers: 1, budget: 1 << 30 };
        let clock = Instant::now();
        let mut steps = 0;
        for _ in 0..20 {
            steps += launch(&kernel, &small, &view).map_or(0, |s| s.steps);
        }
        println!("a launch of {} lane instructions: {:?}", steps / 20, clock.elapsed() / 20);
    }
}
