//! GEMM in percent of the measured peak: `gemm_peak [f32|f64|f16|bf16|i8|c64] [threads] [nn|nt] [MxNxK ...]`.
//!
//! The peak is that of a loop of independent fused multiply-adds in registers, on as many threads. It is measured next
//! to each block of products, since clock rates change: the share is the median over the blocks.

use rushlight_base::{DType, Scalar, Storage, runtime};
use rushlight_cpu::{Array, gemm};
use std::io::Write;
use std::time::Instant;

/// Multiply-adds of 32-bit floats per second, per thread.
fn peak(threads: usize) -> f64 {
    let run = || {
        let start = Instant::now();
        let done = spin(400_000);
        done / start.elapsed().as_secs_f64()
    };
    let each: Vec<f64> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut rates = vec![run()];
        rates.extend(others.into_iter().map(|other| other.join().unwrap_or(0.0)));
        rates
    });
    each.iter().sum::<f64>() / threads as f64
}

/// So many rounds of independent multiply-adds. In assembly: compilers keep some of the sums in memory.
#[cfg(target_arch = "x86_64")]
fn spin(rounds: usize) -> f64 {
    if !is_x86_feature_detected!("avx512f") {
        return f64::NAN;
    }
    // SAFETY: the caller has checked the instruction set, and all clobbered registers are declared.
    unsafe {
        std::arch::asm!(
            "vpxord zmm30, zmm30, zmm30",
            "vpxord zmm31, zmm31, zmm31",
            "2:",
                "vfmadd231ps zmm0, zmm30, zmm31",
                "vfmadd231ps zmm1, zmm30, zmm31",
                "vfmadd231ps zmm2, zmm30, zmm31",
                "vfmadd231ps zmm3, zmm30, zmm31",
                "vfmadd231ps zmm4, zmm30, zmm31",
                "vfmadd231ps zmm5, zmm30, zmm31",
                "vfmadd231ps zmm6, zmm30, zmm31",
                "vfmadd231ps zmm7, zmm30, zmm31",
                "vfmadd231ps zmm8, zmm30, zmm31",
                "vfmadd231ps zmm9, zmm30, zmm31",
                "vfmadd231ps zmm10, zmm30, zmm31",
                "vfmadd231ps zmm11, zmm30, zmm31",
                "vfmadd231ps zmm12, zmm30, zmm31",
                "vfmadd231ps zmm13, zmm30, zmm31",
                "vfmadd231ps zmm14, zmm30, zmm31",
                "vfmadd231ps zmm15, zmm30, zmm31",
                "vfmadd231ps zmm16, zmm30, zmm31",
                "vfmadd231ps zmm17, zmm30, zmm31",
                "vfmadd231ps zmm18, zmm30, zmm31",
                "vfmadd231ps zmm19, zmm30, zmm31",
                "vfmadd231ps zmm20, zmm30, zmm31",
                "vfmadd231ps zmm21, zmm30, zmm31",
                "vfmadd231ps zmm22, zmm30, zmm31",
                "vfmadd231ps zmm23, zmm30, zmm31",
            "dec {rounds}",
            "jnz 2b",
            rounds = inout(reg) rounds => _,
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _, out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _, out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _, out("zmm14") _, out("zmm15") _, out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _, out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _, out("zmm30") _, out("zmm31") _,
        );
    }
    rounds as f64 * 24.0 * 16.0
}

#[cfg(not(target_arch = "x86_64"))]
fn spin(rounds: usize) -> f64 {
    let mut sums = [1.0f32; 96];
    let (x, y) = (std::hint::black_box(0.9999f32), std::hint::black_box(1e-4f32));
    for _ in 0..rounds {
        for sum in &mut sums {
            *sum = sum.mul_add(x, y);
        }
    }
    std::hint::black_box(sums);
    rounds as f64 * 96.0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut dtype = DType::F32;
    let (mut threads, mut transposed, mut shapes) = (1usize, false, Vec::new());
    for argument in &arguments {
        match argument.as_str() {
            "f32" => dtype = DType::F32,
            "f64" => dtype = DType::F64,
            "f16" => dtype = DType::F16,
            "bf16" => dtype = DType::BF16,
            "i8" => dtype = DType::I8,
            "i32" => dtype = DType::I32,
            "c64" => dtype = DType::C64,
            "nn" => transposed = false,
            "nt" => transposed = true,
            other => match other.split('x').map(str::parse).collect::<Result<Vec<usize>, _>>()?[..] {
                [m, n, k] => shapes.push([m, n, k]),
                [count] => threads = count,
                _ => return Err("expected a shape MxNxK".into()),
            },
        }
    }
    if shapes.is_empty() {
        shapes = [16, 32, 64, 128, 256, 512, 1024, 2048].map(|n| [n, n, n]).to_vec();
        shapes.extend([
            [1, 1000, 4096],
            [64, 10, 320],
            [128, 512, 784],
            [3136, 64, 576],
            [784, 128, 1152],
            [196, 256, 2304],
            [49, 512, 4608],
            [32, 4096, 4096],
        ]);
    }
    runtime::set_num_threads(threads as i64)?;
    let out_dtype = if dtype == DType::I8 { DType::I32 } else { dtype };
    let mut to = std::io::stdout().lock();
    writeln!(to, "# {dtype} {threads} threads")?;
    for [m, n, k] in shapes {
        let element = dtype.size();
        // Like tensors; unwritten zeros would all be mapped to the kernel's single zero page.
        let allocate = |count: usize| -> rushlight_base::Result<Storage> {
            let storage = Storage::allocate(count)?;
            // SAFETY: the storage was just allocated with `count` bytes and has no other user.
            unsafe { storage.data().write_bytes(0x3c, count) };
            Ok(storage)
        };
        let (a, b, out) = (allocate(m * k * element)?, allocate(k * n * element)?, allocate(m * n * out_dtype.size())?);
        let (sa, sb, so) = ([m as i64, k as i64], [k as i64, n as i64], [m as i64, n as i64]);
        let strides = if transposed { [1, k as i64] } else { [n as i64, 1] };
        let (ta, to_strides) = ([k as i64, 1], [n as i64, 1]);
        // SAFETY: the storages hold all elements of these sizes; any bits are values of these dtypes.
        let (a, b, o) = unsafe {
            (
                Array::new(a.data(), dtype, &sa, &ta),
                Array::new(b.data(), dtype, &sb, &strides),
                Array::new(out.data(), out_dtype, &so, &to_strides),
            )
        };
        let (plain, work) = (gemm::Epilogue { alpha: Scalar::Int(1), ..Default::default() }, (m * n * k) as f64);
        let repeats = ((2e9 / work) as usize).clamp(1, 20_000) / 5 + 1;
        let (mut times, mut shares) = (Vec::new(), Vec::new());
        for _ in 0..9 {
            let before = peak(threads);
            let start = Instant::now();
            for _ in 0..repeats {
                gemm::gemm_with(&o, &a, &b, &plain)?;
            }
            let time = start.elapsed().as_secs_f64() / repeats as f64;
            let rate = (before + peak(threads)) / 2.0;
            times.push(time);
            shares.push(100.0 * work / time / (rate * threads as f64));
        }
        let middle = |values: &mut Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let (time, share) = (middle(&mut times), middle(&mut shares));
        writeln!(to, "{m:5} x {n:5} x {k:5}  {:11.2} us  {:8.1} GF/s  {share:6.1} %", time * 1e6, 2e-9 * work / time)?;
    }
    Ok(())
}
