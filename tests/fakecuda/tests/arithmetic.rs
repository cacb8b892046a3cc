//! Integer and floating-point instructions, with results worked out by hand.

mod support;

use support::*;

/// Run one instruction on 32-bit operands: `%r2` to `%r4` in, `%r5` out.
fn op32(instruction: &str, cases: &[([u32; 3], u32)]) {
    let body = format!(
        "ld.global.u32 %r2, [%d4];\nld.global.u32 %r3, [%d4+4];\nld.global.u32 %r4, [%d4+8];\n\
         mov.b32 %f2, %r2;\nmov.b32 %f3, %r3;\nmov.b32 %f4, %r4;\n\
         cvt.u16.u32 %h2, %r2;\ncvt.u16.u32 %h3, %r3;\ncvt.u16.u32 %h4, %r4;\nmov.u32 %r5, 0;\n{instruction}"
    );
    let source = unary("", "st.global.u32 [%d3], %r5;", 12, 4, "", &body);
    let operands: Vec<u32> = cases.iter().flat_map(|(a, _)| *a).collect();
    let (input, output) = (upload(&operands), allocate(4 * cases.len()));
    assert_eq!(run(kernel(&source, "k"), 1, cases.len() as u32, &[output, input]), 0, "{}", last_fault());
    for ((operands, want), got) in cases.iter().zip(download::<u32>(output, cases.len())) {
        assert_eq!(got, *want, "{instruction} of {operands:x?}: {got:#x}, not {want:#x}");
    }
}

/// Run one instruction on 64-bit operands: `%d5` to `%d7` in, `%d8` out.
fn op64(instruction: &str, cases: &[([u64; 3], u64)]) {
    let body = format!(
        "ld.global.u64 %d5, [%d4];\nld.global.u64 %d6, [%d4+8];\nld.global.u64 %d7, [%d4+16];\n\
         mov.b64 %g5, %d5;\nmov.b64 %g6, %d6;\nmov.b64 %g7, %d7;\ncvt.u32.u64 %r6, %d6;\ncvt.u32.u64 %r7, %d7;\n\
         cvt.u32.u64 %r5, %d5;\nmov.u64 %d8, 0;\n{instruction}"
    );
    let source = unary("", "st.global.u64 [%d3], %d8;", 24, 8, "", &body);
    let operands: Vec<u64> = cases.iter().flat_map(|(a, _)| *a).collect();
    let (input, output) = (upload(&operands), allocate(8 * cases.len()));
    assert_eq!(run(kernel(&source, "k"), 1, cases.len() as u32, &[output, input]), 0, "{}", last_fault());
    for ((operands, want), got) in cases.iter().zip(download::<u64>(output, cases.len())) {
        assert_eq!(got, *want, "{instruction} of {operands:x?}: {got:#x}, not {want:#x}");
    }
}

const MINUS: u32 = u32::MAX;

#[test]
fn integers_of_32_bits_wrap() {
    let _device = device();
    op32("add.s32 %r5, %r2, %r3;", &[([MINUS, 2, 0], 1), ([1 << 31, 1 << 31, 0], 0)]);
    op32("add.sat.s32 %r5, %r2, %r3;", &[([0x7fff_ffff, 1, 0], 0x7fff_ffff), ([1 << 31, MINUS, 0], 1 << 31)]);
    op32("sub.s32 %r5, %r2, %r3;", &[([0, 1, 0], MINUS)]);
    op32("mul.lo.s32 %r5, %r2, %r3;", &[([0x10001, 0x10001, 0], 0x20001), ([MINUS, 5, 0], 0u32.wrapping_sub(5))]);
    op32("mul.hi.s32 %r5, %r2, %r3;", &[([MINUS, 5, 0], MINUS), ([1 << 30, 8, 0], 2)]);
    op32("mul.hi.u32 %r5, %r2, %r3;", &[([MINUS, 5, 0], 4)]);
    op32("mad.lo.s32 %r5, %r2, %r3, %r4;", &[([7, 6, 5], 47)]);
    op32("mad.hi.u32 %r5, %r2, %r3, %r4;", &[([MINUS, 5, 10], 14)]);
    op32("mul24.lo.u32 %r5, %r2, %r3;", &[([0x0100_0003, 5, 0], 15)]);
    op32("sad.s32 %r5, %r2, %r3, %r4;", &[([MINUS, 4, 1], 6)]);
    op32("div.s32 %r5, %r2, %r3;", &[([0u32.wrapping_sub(7), 2, 0], 0u32.wrapping_sub(3)), ([7, 2, 0], 3)]);
    op32("div.u32 %r5, %r2, %r3;", &[([MINUS, 2, 0], 0x7fff_ffff)]);
    op32("rem.s32 %r5, %r2, %r3;", &[([0u32.wrapping_sub(7), 2, 0], MINUS)]);
    op32("neg.s32 %r5, %r2;", &[([5, 0, 0], 0u32.wrapping_sub(5))]);
    op32("abs.s32 %r5, %r2;", &[([MINUS, 0, 0], 1), ([1 << 31, 0, 0], 1 << 31)]);
    op32("min.s32 %r5, %r2, %r3;", &[([MINUS, 1, 0], MINUS)]);
    op32("min.u32 %r5, %r2, %r3;", &[([MINUS, 1, 0], 1)]);
    op32("max.s32 %r5, %r2, %r3;", &[([MINUS, 1, 0], 1)]);
    op32("dp4a.s32.s32 %r5, %r2, %r3, %r4;", &[([0xff02_0304, 0x0101_0101, 10], 18)]);
}

#[test]
fn bits_of_32_bits() {
    let _device = device();
    op32("and.b32 %r5, %r2, %r3;", &[([0b1100, 0b1010, 0], 0b1000)]);
    op32("or.b32 %r5, %r2, %r3;", &[([0b1100, 0b1010, 0], 0b1110)]);
    op32("xor.b32 %r5, %r2, %r3;", &[([0b1100, 0b1010, 0], 0b0110)]);
    op32("not.b32 %r5, %r2;", &[([0xf, 0, 0], 0xffff_fff0)]);
    op32("cnot.b32 %r5, %r2;", &[([0xf, 0, 0], 0), ([0, 0, 0], 1)]);
    // The table of (a & b) ^ c is (0xf0 & 0xcc) ^ 0xaa.
    op32("lop3.b32 %r5, %r2, %r3, %r4, 0x6a;", &[([0b1100, 0b1010, 0b1111], 0b0111)]);
    op32("shl.b32 %r5, %r2, %r3;", &[([1, 31, 0], 1 << 31), ([1, 32, 0], 0), ([1, 1 << 16, 0], 0)]);
    op32("shr.u32 %r5, %r2, %r3;", &[([1 << 31, 31, 0], 1), ([MINUS, 32, 0], 0)]);
    op32("shr.s32 %r5, %r2, %r3;", &[([1 << 31, 31, 0], MINUS), ([1 << 31, 100, 0], MINUS)]);
    op32("shf.l.wrap.b32 %r5, %r2, %r3, %r4;", &[([0x8000_0000, 1, 33], 3)]);
    op32("shf.r.clamp.b32 %r5, %r2, %r3, %r4;", &[([7, 9, 40], 9), ([0, 1, 1], 1 << 31)]);
    op32("bfe.u32 %r5, %r2, %r3, %r4;", &[([0xabcd, 4, 8], 0xbc), ([MINUS, 0, 32], MINUS), ([MINUS, 40, 2], 0)]);
    op32(
        "bfe.s32 %r5, %r2, %r3, %r4;",
        &[([0xf00, 8, 4], MINUS), ([0x700, 8, 4], 7), ([1 << 31, 28, 16], 0xffff_fff8)],
    );
    op32("bfi.b32 %r5, %r2, %r3, 8, 4;", &[([0x5, 0xffff, 0], 0xf5ff)]);
    op32("brev.b32 %r5, %r2;", &[([1, 0, 0], 1 << 31), ([0x6, 0, 0], 0x6000_0000)]);
    op32("clz.b32 %r5, %r2;", &[([1, 0, 0], 31), ([0, 0, 0], 32)]);
    op32("popc.b32 %r5, %r2;", &[([0xf0f, 0, 0], 8)]);
    op32("bfind.u32 %r5, %r2;", &[([0x100, 0, 0], 8), ([0, 0, 0], MINUS)]);
    op32("bfind.s32 %r5, %r2;", &[([0xffff_fffe, 0, 0], 0)]);
    op32("prmt.b32 %r5, %r2, %r3, 0x0416;", &[([0x3322_1100, 0x7766_5544, 0], 0x0044_1166)]);
    op32("prmt.b32 %r5, %r2, %r3, 0x9;", &[([0x8000, 0, 0], 0xff)]);
    op32("slct.u32.s32 %r5, %r2, %r3, %r4;", &[([1, 2, 0], 1), ([1, 2, MINUS], 2)]);
}

#[test]
fn integers_of_16_bits_stay_within_16_bits() {
    let _device = device();
    let wide = "cvt.u32.u16 %r5, %h5;";
    op32(&format!("add.s16 %h5, %h2, %h3;\n{wide}"), &[([0xffff, 2, 0], 1)]);
    op32(&format!("sub.s16 %h5, %h2, %h3;\n{wide}"), &[([0, 1, 0], 0xffff)]);
    op32(&format!("mul.lo.s16 %h5, %h2, %h3;\n{wide}"), &[([0x101, 0x101, 0], 0x201)]);
    op32(&format!("not.b16 %h5, %h2;\n{wide}"), &[([0xf, 0, 0], 0xfff0)]);
    op32(&format!("shl.b16 %h5, %h2, %r3;\n{wide}"), &[([0xffff, 8, 0], 0xff00), ([1, 16, 0], 0)]);
    op32(&format!("shr.s16 %h5, %h2, %r3;\n{wide}"), &[([0x8000, 4, 0], 0xf800)]);
    op32(&format!("min.s16 %h5, %h2, %h3;\n{wide}"), &[([0xffff, 1, 0], 0xffff)]);
    op32(&format!("min.u16 %h5, %h2, %h3;\n{wide}"), &[([0xffff, 1, 0], 1)]);
    op32(&format!("rem.u16 %h5, %h2, %h3;\n{wide}"), &[([1000, 7, 0], 6)]);
    op32(&format!("cvt.s16.s8 %h5, %h2;\n{wide}"), &[([0x80, 0, 0], 0xff80), ([0x17f, 0, 0], 0x7f)]);
    op32("mul.wide.u16 %r5, %h2, %h3;", &[([0xffff, 0xffff, 0], 0xfffe_0001)]);
    op32("mul.wide.s16 %r5, %h2, %h3;", &[([0xffff, 2, 0], 0xffff_fffe)]);
    op32("cvt.s32.s16 %r5, %h2;", &[([0x8000, 0, 0], 0xffff_8000)]);
    op32("setp.gt.s16 %p1, %h2, %h3;\nselp.u32 %r5, 1, 0, %p1;", &[([0xffff, 1, 0], 0), ([1, 0xffff, 0], 1)]);
    op32("setp.gt.u16 %p1, %h2, %h3;\nselp.u32 %r5, 1, 0, %p1;", &[([0xffff, 1, 0], 1)]);
}

#[test]
fn integers_of_64_bits() {
    let _device = device();
    let all = u64::MAX;
    op64("add.s64 %d8, %d5, %d6;", &[([all, 2, 0], 1)]);
    op64("mul.lo.s64 %d8, %d5, %d6;", &[([1 << 33, 1 << 31, 0], 0), ([0x1_0000_0001, 3, 0], 0x3_0000_0003)]);
    op64("mul.hi.u64 %d8, %d5, %d6;", &[([all, all, 0], all - 1)]);
    op64("mul.hi.s64 %d8, %d5, %d6;", &[([all, 5, 0], all)]);
    op64("mad.lo.s64 %d8, %d5, %d6, %d7;", &[([7, 6, 5], 47)]);
    op64("mul.wide.s32 %d8, %r5, %r6;", &[([0xffff_ffff, 5, 0], 0u64.wrapping_sub(5))]);
    op64("mul.wide.u32 %d8, %r5, %r6;", &[([0xffff_ffff, 5, 0], 0x4_ffff_fffb)]);
    op64("mad.wide.s32 %d8, %r5, %r6, %d7;", &[([0xffff_ffff, 5, 6], 1)]);
    op64("div.s64 %d8, %d5, %d6;", &[([0u64.wrapping_sub(7), 2, 0], 0u64.wrapping_sub(3))]);
    op64("rem.u64 %d8, %d5, %d6;", &[([all, 10, 0], 5)]);
    op64("shl.b64 %d8, %d5, %r6;", &[([1, 63, 0], 1 << 63), ([1, 64, 0], 0)]);
    op64("shr.s64 %d8, %d5, %r6;", &[([1 << 63, 63, 0], all), ([1 << 63, 99, 0], all)]);
    op64("shr.u64 %d8, %d5, %r6;", &[([1 << 63, 63, 0], 1)]);
    op64("bfe.u64 %d8, %d5, %r6, %r7;", &[([0xabcd << 32, 36, 8], 0xbc)]);
    op64("brev.b64 %d8, %d5;", &[([1, 0, 0], 1 << 63)]);
    op64("clz.b64 %r8, %d5;\ncvt.u64.u32 %d8, %r8;", &[([1, 0, 0], 63), ([0, 0, 0], 64)]);
    op64("popc.b64 %r8, %d5;\ncvt.u64.u32 %d8, %r8;", &[([all, 0, 0], 64)]);
    op64("max.s64 %d8, %d5, %d6;", &[([all, 1, 0], 1)]);
    op64("abs.s64 %d8, %d5;", &[([all, 0, 0], 1)]);
    op64("setp.lt.s64 %p1, %d5, %d6;\nselp.b64 %d8, %d5, %d6, %p1;", &[([all, 1, 0], all), ([3, 2, 0], 2)]);
    op64("cvt.s64.s32 %d8, %r5;", &[([1 << 31, 0, 0], 0xffff_ffff_8000_0000)]);
    op64("cvt.u64.u32 %d8, %r5;", &[([1 << 31, 0, 0], 1 << 31)]);
    op64("cvt.s64.s8 %d8, %r5;", &[([0x80, 0, 0], 0xffff_ffff_ffff_ff80)]);
    op64("cvt.sat.u8.s32 %r8, %r5;\ncvt.u64.u32 %d8, %r8;", &[([300, 0, 0], 255), ([0xffff_ffff, 0, 0], 0)]);
}

#[test]
fn carries_chain() {
    let _device = device();
    // 128-bit sum of (d5, d6) and (d7, 0), the high half; then the difference.
    op64("add.cc.u64 %d9, %d5, %d7;\naddc.u64 %d8, %d6, 0;", &[([u64::MAX, 5, 1], 6), ([7, 5, 1], 5)]);
    op64("sub.cc.s64 %d9, %d5, %d7;\nsubc.s64 %d8, %d6, 0;", &[([0, 5, 1], 4), ([7, 5, 1], 5)]);
    op64(
        "sub.cc.s64 %d9, %d5, %d7;\nsubc.cc.s64 %d9, %d6, 0;\nsubc.s64 %d8, 0, 0;",
        &[([0, 0, 1], u64::MAX), ([0, 1, 1], 0)],
    );
}

/// Bits of an `f32`.
fn f(x: f32) -> u32 {
    x.to_bits()
}

/// Bits of an `f64`.
fn g(x: f64) -> u64 {
    x.to_bits()
}

const NAN: u32 = 0x7fff_ffff;

#[test]
fn f32_arithmetic_rounds_as_it_says() {
    let _device = device();
    let half_ulp = f(2f32.powi(-24));
    let one = f(1.0);
    let after = one + 1;
    let result = "mov.b32 %r5, %f5;";
    let op = |text: &str, cases: &[([u32; 3], u32)]| op32(&format!("{text}\n{result}"), cases);
    op("add.rn.f32 %f5, %f2, %f3;", &[([one, half_ulp, 0], one), ([f(3.0), f(-3.0), 0], 0), ([NAN, one, 0], NAN)]);
    op("add.rp.f32 %f5, %f2, %f3;", &[([one, half_ulp, 0], after), ([f(3.0), f(-3.0), 0], 0)]);
    op("add.rm.f32 %f5, %f2, %f3;", &[([one, half_ulp, 0], one), ([f(3.0), f(-3.0), 0], f(-0.0))]);
    op("add.rz.f32 %f5, %f2, %f3;", &[([f(-1.0), f(-2f32.powi(-24)), 0], f(-1.0))]);
    op("add.sat.f32 %f5, %f2, %f3;", &[([one, one, 0], one), ([f(-1.0), f(0.5), 0], 0), ([NAN, one, 0], 0)]);
    op("sub.rn.f32 %f5, %f2, %f3;", &[([one, f(0.75), 0], f(0.25))]);
    // 1 + 2^-12 squared is 1 + 2^-11 + 2^-24: the last bit is lost by rn and kept by rp.
    let x = f(1.0 + 2f32.powi(-12));
    op("mul.rn.f32 %f5, %f2, %f3;", &[([x, x, 0], f(1.0 + 2f32.powi(-11)))]);
    op("mul.rp.f32 %f5, %f2, %f3;", &[([x, x, 0], f(1.0 + 2f32.powi(-11)) + 1)]);
    // One rounding: x * x - (1 + 2^-11) is 2^-24.
    op("fma.rn.f32 %f5, %f2, %f3, %f4;", &[([x, x, f(-1.0 - 2f32.powi(-11))], f(2f32.powi(-24)))]);
    op("mad.rn.f32 %f5, %f2, %f3, %f4;", &[([x, x, f(-1.0 - 2f32.powi(-11))], f(2f32.powi(-24)))]);
    op("div.rn.f32 %f5, %f2, %f3;", &[([one, f(3.0), 0], 0x3eaa_aaab), ([one, 0, 0], f(f32::INFINITY))]);
    op("div.rz.f32 %f5, %f2, %f3;", &[([one, f(3.0), 0], 0x3eaa_aaaa)]);
    op("rcp.rn.f32 %f5, %f2;", &[([f(4.0), 0, 0], f(0.25))]);
    op("sqrt.rn.f32 %f5, %f2;", &[([f(2.0), 0, 0], 0x3fb5_04f3), ([f(-1.0), 0, 0], NAN)]);
    op("sqrt.rp.f32 %f5, %f2;", &[([f(2.0), 0, 0], 0x3fb5_04f4)]);
    op("neg.f32 %f5, %f2;", &[([0, 0, 0], f(-0.0))]);
    op("abs.f32 %f5, %f2;", &[([f(-2.0), 0, 0], f(2.0))]);
    op("min.f32 %f5, %f2, %f3;", &[([NAN, one, 0], one), ([0, f(-0.0), 0], f(-0.0)), ([NAN, NAN, 0], NAN)]);
    op("max.f32 %f5, %f2, %f3;", &[([one, NAN, 0], one), ([0, f(-0.0), 0], 0), ([f(2.0), one, 0], f(2.0))]);
    op("max.NaN.f32 %f5, %f2, %f3;", &[([one, NAN, 0], NAN)]);
    op("copysign.f32 %f5, %f2, %f3;", &[([f(-1.0), f(3.0), 0], f(-3.0))]);
    op("ex2.approx.f32 %f5, %f2;", &[([f(10.0), 0, 0], f(1024.0))]);
    op("lg2.approx.f32 %f5, %f2;", &[([f(0.125), 0, 0], f(-3.0))]);
}

#[test]
fn subnormal_numbers_stay_unless_flushed() {
    let _device = device();
    let op = |text: &str, cases: &[([u32; 3], u32)]| op32(&format!("{text}\nmov.b32 %r5, %f5;"), cases);
    op("add.rn.f32 %f5, %f2, %f3;", &[([1, 2, 0], 3), ([0x0080_0000, 0x8000_0001, 0], 0x007f_ffff)]);
    op("add.rn.ftz.f32 %f5, %f2, %f3;", &[([1, 2, 0], 0), ([0x0080_0000, 0x8000_0001, 0], 0x0080_0000)]);
    op("mul.rn.f32 %f5, %f2, %f3;", &[([0x0080_0000, f(0.5), 0], 0x0040_0000)]);
    op("mul.rn.ftz.f32 %f5, %f2, %f3;", &[([0x8080_0000, f(0.5), 0], 0x8000_0000)]);
    op("fma.rn.f32 %f5, %f2, %f3, %f4;", &[([0x0080_0000, f(0.5), 1], 0x0040_0001)]);
    op32("testp.subnormal.f32 %p1, %f2;\nselp.u32 %r5, 1, 0, %p1;", &[([1, 0, 0], 1), ([0x0080_0000, 0, 0], 0)]);
    op32("testp.infinite.f32 %p1, %f2;\nselp.u32 %r5, 1, 0, %p1;", &[([0xff80_0000, 0, 0], 1), ([NAN, 0, 0], 0)]);
}

#[test]
fn f64_arithmetic() {
    let _device = device();
    let op = |text: &str, cases: &[([u64; 3], u64)]| op64(&format!("{text}\nmov.b64 %d8, %g8;"), cases);
    let x = g(1.0 + 2f64.powi(-27));
    op("add.rn.f64 %g8, %g5, %g6;", &[([g(0.1), g(0.2), 0], g(0.30000000000000004))]);
    op("add.rz.f64 %g8, %g5, %g6;", &[([g(0.1), g(0.2), 0], g(0.3))]);
    op("mul.rn.f64 %g8, %g5, %g6;", &[([x, x, 0], g(1.0 + 2f64.powi(-26)))]);
    op("fma.rn.f64 %g8, %g5, %g6, %g7;", &[([x, x, g(-1.0 - 2f64.powi(-26))], g(2f64.powi(-54)))]);
    op("fma.rp.f64 %g8, %g5, %g6, %g7;", &[([x, x, 0], g(1.0 + 2f64.powi(-26)) + 1)]);
    op("div.rn.f64 %g8, %g5, %g6;", &[([g(1.0), g(3.0), 0], 0x3fd5_5555_5555_5555)]);
    op("div.rp.f64 %g8, %g5, %g6;", &[([g(1.0), g(3.0), 0], 0x3fd5_5555_5555_5556)]);
    op("sqrt.rn.f64 %g8, %g5;", &[([g(2.0), 0, 0], 0x3ff6_a09e_667f_3bcd)]);
    op("rcp.rn.f64 %g8, %g5;", &[([g(-8.0), 0, 0], g(-0.125))]);
    op("max.f64 %g8, %g5, %g6;", &[([g(1.0), g(f64::NAN), 0], g(1.0))]);
    op("copysign.f64 %g8, %g5, %g6;", &[([g(-1.0), g(3.0), 0], g(-3.0))]);
}

#[test]
fn comparisons_know_nan() {
    let _device = device();
    for (name, less, equal, greater, nan) in [
        ("eq", 0, 1, 0, 0),
        ("ne", 1, 0, 1, 0),
        ("lt", 1, 0, 0, 0),
        ("le", 1, 1, 0, 0),
        ("gt", 0, 0, 1, 0),
        ("ge", 0, 1, 1, 0),
        ("equ", 0, 1, 0, 1),
        ("neu", 1, 0, 1, 1),
        ("ltu", 1, 0, 0, 1),
        ("leu", 1, 1, 0, 1),
        ("gtu", 0, 0, 1, 1),
        ("geu", 0, 1, 1, 1),
        ("nan", 0, 0, 0, 1),
        ("num", 1, 1, 1, 0),
    ] {
        let (one, two) = (f(1.0), f(2.0));
        op32(
            &format!("setp.{name}.f32 %p1, %f2, %f3;\nselp.b32 %r5, 1, 0, %p1;"),
            &[
                ([one, two, 0], less),
                ([one, one, 0], equal),
                ([two, one, 0], greater),
                ([NAN, one, 0], nan),
                ([one, NAN, 0], nan),
            ],
        );
        let (one, two, none) = (g(1.0), g(2.0), g(f64::NAN));
        op64(
            &format!("setp.{name}.f64 %p1, %g5, %g6;\nselp.b64 %d8, 1, 0, %p1;"),
            &[
                ([one, two, 0], less.into()),
                ([one, one, 0], equal.into()),
                ([two, one, 0], greater.into()),
                ([none, one, 0], nan.into()),
            ],
        );
    }
    op32("setp.lt.and.u32 %p1|%p2, %r2, %r3, %p3;\nselp.b32 %r5, 1, 0, %p2;", &[([1, 2, 0], 0), ([2, 1, 0], 0)]);
    op32(
        "setp.eq.u32 %p3, 1, 1;\nsetp.lt.and.u32 %p1|%p2, %r2, %r3, %p3;\nselp.b32 %r5, 1, 0, %p2;",
        &[([2, 1, 0], 1)],
    );
    op32("set.lt.u32.f32 %r5, %f2, %f3;", &[([f(1.0), f(2.0), 0], MINUS), ([NAN, 0, 0], 0)]);
}

#[test]
fn conversions_round_and_saturate() {
    let _device = device();
    op32(
        "cvt.rzi.s32.f32 %r5, %f2;",
        &[([f(-2.9), 0, 0], 0u32.wrapping_sub(2)), ([f(3e9), 0, 0], 0x7fff_ffff), ([NAN, 0, 0], 0)],
    );
    op32("cvt.rni.s32.f32 %r5, %f2;", &[([f(2.5), 0, 0], 2), ([f(3.5), 0, 0], 4)]);
    op32("cvt.rmi.s32.f32 %r5, %f2;", &[([f(-2.1), 0, 0], 0u32.wrapping_sub(3))]);
    op32("cvt.rpi.s32.f32 %r5, %f2;", &[([f(2.1), 0, 0], 3)]);
    op32("cvt.rzi.u32.f32 %r5, %f2;", &[([f(-1.0), 0, 0], 0), ([f(1e10), 0, 0], MINUS)]);
    op32("cvt.rzi.u8.f32 %r5, %f2;", &[([f(300.0), 0, 0], 255)]);
    op64("cvt.rzi.s64.f64 %d8, %g5;", &[([g(-1e30), 0, 0], 1 << 63), ([g(1e15), 0, 0], 1_000_000_000_000_000)]);
    let op = |text: &str, cases: &[([u32; 3], u32)]| op32(&format!("{text}\nmov.b32 %r5, %f5;"), cases);
    op("cvt.rn.f32.s32 %f5, %r2;", &[([MINUS, 0, 0], f(-1.0)), ([0x0100_0001, 0, 0], f(16_777_216.0))]);
    op("cvt.rp.f32.s32 %f5, %r2;", &[([0x0100_0001, 0, 0], f(16_777_218.0))]);
    op("cvt.rn.f32.u32 %f5, %r2;", &[([MINUS, 0, 0], f(4_294_967_296.0))]);
    op("cvt.rni.f32.f32 %f5, %f2;", &[([f(2.5), 0, 0], f(2.0)), ([f(-0.4), 0, 0], f(-0.0))]);
    op("cvt.rzi.f32.f32 %f5, %f2;", &[([f(-2.9), 0, 0], f(-2.0))]);
    op("cvt.rpi.f32.f32 %f5, %f2;", &[([f(2.1), 0, 0], f(3.0))]);
    op("cvt.sat.f32.f32 %f5, %f2;", &[([f(2.5), 0, 0], f(1.0)), ([NAN, 0, 0], 0)]);
    op64("cvt.rn.f32.f64 %f5, %g5;\nmov.b32 %r8, %f5;\ncvt.u64.u32 %d8, %r8;", &[([g(0.1), 0, 0], f(0.1).into())]);
    op64("cvt.rz.f32.f64 %f5, %g5;\nmov.b32 %r8, %f5;\ncvt.u64.u32 %d8, %r8;", &[([g(0.1), 0, 0], 0x3dcc_cccc)]);
    op64("cvt.rn.f64.s64 %g8, %d5;\nmov.b64 %d8, %g8;", &[([(1 << 53) + 1, 0, 0], g(9_007_199_254_740_992.0))]);
    op64("cvt.rn.f64.u64 %g8, %d5;\nmov.b64 %d8, %g8;", &[([u64::MAX, 0, 0], g(18_446_744_073_709_551_616.0))]);
}

#[test]
fn half_precision() {
    let _device = device();
    let wide = "cvt.u32.u16 %r5, %h5;";
    op32(&format!("cvt.rn.f16.f32 %h5, %f2;\n{wide}"), &[([f(1.5), 0, 0], 0x3e00), ([f(70000.0), 0, 0], 0x7c00)]);
    op32(&format!("cvt.rz.f16.f32 %h5, %f2;\n{wide}"), &[([f(70000.0), 0, 0], 0x7bff)]);
    op32(
        &format!("cvt.rn.bf16.f32 %h5, %f2;\n{wide}"),
        &[([0x3f80_8000, 0, 0], 0x3f80), ([0x3f81_8000, 0, 0], 0x3f82)],
    );
    op32(&format!("cvt.rn.relu.f16.f32 %h5, %f2;\n{wide}"), &[([f(-1.5), 0, 0], 0)]);
    op32("cvt.f32.f16 %f5, %h2;\nmov.b32 %r5, %f5;", &[([0x3e00, 0, 0], f(1.5)), ([1, 0, 0], f(2f32.powi(-24)))]);
    op32("cvt.f32.bf16 %f5, %h2;\nmov.b32 %r5, %f5;", &[([0x3fc0, 0, 0], f(1.5))]);
    op32("cvt.rn.f16x2.f32 %r5, %f2, %f3;", &[([f(1.0), f(2.0), 0], 0x3c00_4000)]);
    op32("cvt.rn.bf16x2.f32 %r5, %f2, %f3;", &[([f(1.0), f(2.0), 0], 0x3f80_4000)]);
    op32("cvt.rna.tf32.f32 %r5, %f2;", &[([0x3f80_1000, 0, 0], 0x3f80_2000)]);
    op32(
        &format!("add.rn.f16 %h5, %h2, %h3;\n{wide}"),
        &[([0x3c00, 0x1000, 0], 0x3c00), ([0x3c00, 0x3c00, 0], 0x4000)],
    );
    op32(&format!("mul.rn.bf16 %h5, %h2, %h3;\n{wide}"), &[([0x3fc0, 0x3fc0, 0], 0x4010)]);
    op32(&format!("fma.rn.f16 %h5, %h2, %h3, %h4;\n{wide}"), &[([0x3c01, 0x3c01, 0xbc02], 0x0010)]);
    op32("fma.rn.f16x2 %r5, %r2, %r3, %r4;", &[([0x3c00_4000, 0x4000_4000, 0x3c00_0000], 0x4200_4400)]);
    op32(&format!("neg.f16 %h5, %h2;\n{wide}"), &[([0x3c00, 0, 0], 0xbc00)]);
    op32("setp.lt.f16 %p1, %h2, %h3;\nselp.u32 %r5, 1, 0, %p1;", &[([0xbc00, 0x3c00, 0], 1), ([0x7e00, 0x3c00, 0], 0)]);
}
