//! Lists in Rust's own memory do not grow with the sizes of tensors, or report an error if they do.
//!
//! The test's allocator rejects requests above a few KiB while operators run. Tensors are expanded from one element, so that large
//! sizes cost nothing; their memory comes from elsewhere. A list that was allocated with a fallible function ends in an
//! `OutOfMemory` error; any other ends the process, which is why the calls run in a child.

use rushlight_base::memory::{AllocatorHooks, set_allocator};
use rushlight_base::{DType, ErrorKind, Result, Scalar};
use rushlight_schema::{BaseType, Type};
use rushlight_tensor::dispatch::by_name;
use rushlight_tensor::{Options, Tensor, Value, autograd, ops};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Requests above this are rejected while an operator runs: lists with an entry for each dimension or argument are shorter.
const LARGEST: usize = 16 << 10;
/// A size that a list must not follow.
const MANY: i64 = 5000;
/// Calls of each operator.
const CALLS: u64 = 24;
/// Operators whose plans stay in a cache.
const FOURIER: [&str; 4] = ["fft_", "_fft_", "stft", "istft"];
/// Passes the index of the first call to the child.
const BEGIN: &str = "RUSHLIGHT_ALLOCATIONS_BEGIN";

/// The most bytes that may be asked for at once.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);

struct Limited;

/// Prints a line. The parent notices if it is missing.
fn say(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn is_rejected(size: usize) -> bool {
    let most = MOST.load(Ordering::Relaxed);
    if size > most && std::env::var_os("RUSHLIGHT_ALLOCATIONS_TRACE").is_some() {
        MOST.store(usize::MAX, Ordering::Relaxed);
        let trace = std::backtrace::Backtrace::force_capture();
        say(format_args!("rejected {size} bytes\n{trace}"));
        MOST.store(most, Ordering::Relaxed);
    }
    size > most
}

// SAFETY: forwards to `System`; an allocator may return null if it has no memory.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees what `System.alloc` requires.
        if is_rejected(layout.size()) { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: every block came from `System` with this layout.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: every block came from `System` with this layout.
        if is_rejected(size) { std::ptr::null_mut() } else { unsafe { System.realloc(block, layout, size) } }
    }
}

#[global_allocator]
static ALLOCATOR: Limited = Limited;

/// Memory of tensors: at most 4 MiB for each, so that no call takes long.
unsafe extern "C" fn allocate(_: *mut c_void, size: usize, alignment: usize) -> *mut c_void {
    let layout = Layout::from_size_align(size, alignment).ok().filter(|layout| layout.size() <= 4 << 20);
    // SAFETY: the library requests at least one byte, so the layout is valid and has a nonzero size.
    layout.map_or(std::ptr::null_mut(), |layout| unsafe { System.alloc(layout) }.cast())
}

unsafe extern "C" fn deallocate(_: *mut c_void, block: *mut c_void, size: usize, alignment: usize) {
    if let Ok(layout) = Layout::from_size_align(size, alignment) {
        // SAFETY: the block came from `allocate` with the same size and alignment.
        unsafe { System.dealloc(block.cast(), layout) }
    }
}

/// Runs `body` under the limit.
fn limited<T>(body: impl FnOnce() -> T) -> T {
    MOST.store(LARGEST, Ordering::Relaxed);
    let result = body();
    MOST.store(usize::MAX, Ordering::Relaxed);
    result
}

/// Numbers without a pattern that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

fn expanded(sizes: &[i64], value: i64, dtype: DType) -> Tensor {
    let value = Scalar::Int(value);
    let value = if value.check_convertible(dtype).is_ok() { value } else { Scalar::Int(1) };
    let one = ops::full(&[1], value, Options::of(dtype)).unwrap();
    let one = ops::reshape(&one, &vec![1; sizes.len()]).unwrap();
    ops::expand(&one, sizes, false).unwrap()
}

fn tensor(numbers: &mut Numbers) -> Tensor {
    let shapes: [&[i64]; 12] = [
        &[MANY],
        &[MANY, 2],
        &[2, MANY],
        &[MANY, 1],
        &[1, MANY],
        &[MANY, 0],
        &[1, 2, MANY],
        &[MANY, 2, 1],
        &[1, 1, 1, MANY],
        &[1, 1, MANY, 1, 1],
        &[2, 2],
        &[],
    ];
    let dtype = numbers.one_of(&[DType::F32, DType::F32, DType::F32, DType::I64, DType::I64, DType::Bool, DType::U8]);
    let tensor = expanded(numbers.one_of(&shapes), numbers.one_of(&[0, 1, 1, 2, MANY]), dtype);
    if dtype == DType::F32 && numbers.below(3) == 0 {
        tensor.set_requires_grad(true).unwrap();
    }
    tensor
}

/// A value for an argument; None where the default is taken.
fn argument(name: &str, ty: &Type, numbers: &mut Numbers) -> Option<Value> {
    if ty.optional && numbers.below(2) == 0 {
        return Some(Value::None);
    }
    let int = |numbers: &mut Numbers| match name.starts_with("dim") {
        true => numbers.one_of(&[0, 1, -1]),
        false => numbers.one_of(&[0, 1, 1, 2, 3, -1, MANY]),
    };
    let count = ty.list.and_then(|list| list.size).unwrap_or(1 + numbers.below(3));
    Some(match (ty.base, ty.list.is_some()) {
        (BaseType::Tensor, false) => Value::Tensor(tensor(numbers)),
        (BaseType::Tensor, true) => Value::Tensors((0..count).map(|_| Some(tensor(numbers))).collect()),
        (BaseType::Int, false) => Value::Scalar(Scalar::Int(int(numbers))),
        (BaseType::Int, true) => Value::Ints((0..count).map(|_| int(numbers)).collect()),
        (BaseType::Float, false) => Value::Scalar(Scalar::Float(numbers.one_of(&[0.0, 0.5, 1.0, 2.0]))),
        (BaseType::Float, true) => Value::Floats(vec![1.0; count]),
        (BaseType::Scalar, false) => {
            Value::Scalar(numbers.one_of(&[Scalar::Int(1), Scalar::Int(2), Scalar::Float(0.5)]))
        }
        (BaseType::Bool, false) => Value::Scalar(Scalar::Bool(numbers.below(2) == 0)),
        (BaseType::Bool, true) => Value::Bools(vec![true; count]),
        (BaseType::Str, _) => Value::from(numbers.one_of(&["sum", "mean", "none", "floor", "trunc", "linear"])),
        _ => return None,
    })
}

/// A call by name, and a backward pass if the result is differentiable. Errors are valid results.
fn call_by_name(index: usize, round: u64) -> Result<()> {
    let def = by_name::all().nth(index).unwrap();
    let signature = by_name::find(def.name(), def.overload())?.signature();
    let mut numbers = Numbers(index as u64 * 1000 + round);
    let (mut args, mut named, mut skipped) = (Vec::new(), Vec::new(), false);
    for argument_of in signature.arguments.iter() {
        let may_be_left_out = argument_of.default.is_some() || argument_of.ty.optional;
        let leave_out = may_be_left_out && numbers.below(3) == 0;
        let value = if leave_out { None } else { argument(&argument_of.name, &argument_of.ty, &mut numbers) };
        match value {
            Some(value) if !argument_of.kwarg_only && !skipped => args.push(value),
            Some(value) => named.push((argument_of.name.to_string(), value)),
            None => skipped = true,
        }
    }
    if FOURIER.iter().any(|prefix| def.name().starts_with(prefix)) {
        // Plans are lists of rustfft; the memory that they need is requested first. This call leaves them in the cache.
        let _ = differentiated(def.name(), def.overload(), args.clone(), named.clone());
    }
    limited(|| differentiated(def.name(), def.overload(), args, named))
}

/// A call, and a backward pass if a result is differentiable.
fn differentiated(name: &str, overload: &str, args: Vec<Value>, named: Vec<(String, Value)>) -> Result<()> {
    let results = by_name::call(name, overload, args, named)?;
    for value in results.0 {
        if let Value::Tensor(result) = value
            && result.requires_grad()
        {
            let sum = ops::sum(&result, None)?;
            autograd::backward(&[&sum], &[], false, false, &[])?;
        }
    }
    Ok(())
}

type Case = (&'static str, fn() -> Result<()>);

fn float(sizes: &[i64]) -> Tensor {
    expanded(sizes, 1, DType::F32)
}

/// Calls with valid arguments, which random ones seldom are.
const CASES: [Case; 24] = [
    ("pdist", || ops::pdist(&float(&[MANY, 3]), 2.0).map(drop)),
    ("pdist of rows without elements", || ops::pdist(&float(&[1 << 20, 0]), 2.0).map(drop)),
    ("rnn", || {
        let (input, state) = (float(&[MANY, 1, 0]), float(&[1, 1, 1]));
        let params = [&float(&[1, 0]), &float(&[1, 1])];
        ops::rnn_tanh_input(&input, &state, &params, false, 1, 0.0, false, false, false).map(drop)
    }),
    ("gru of more steps than there is memory for", || {
        let (input, state) = (float(&[1 << 40, 1, 0]), float(&[2, 1, 1]));
        let params = [&float(&[3, 0]), &float(&[3, 1]), &float(&[3, 0]), &float(&[3, 1])];
        ops::gru_input(&input, &state, &params, false, 1, 0.0, false, true, false).map(drop)
    }),
    ("unbind", || ops::unbind_int(&float(&[MANY]), 0).map(drop)),
    ("unbind of more than there is memory for", || ops::unbind_int(&float(&[1 << 40]), 0).map(drop)),
    ("chunk of nothing", || ops::chunk(&float(&[0]), 1 << 40, 0).map(drop)),
    ("split", || ops::split_tensor(&float(&[MANY]), 1, 0).map(drop)),
    ("tensor_split", || ops::tensor_split_sections(&float(&[MANY]), MANY, 0).map(drop)),
    ("tensor_split by a tensor", || {
        ops::tensor_split_tensor_indices_or_sections(&float(&[MANY]), &expanded(&[MANY], 1, DType::I64), 0).map(drop)
    }),
    ("conv1d", || ops::conv1d(&float(&[1, 1, MANY]), &float(&[1, 1, MANY]), None, &[1], &[0], &[1], 1).map(drop)),
    ("conv1d backward", || {
        let weight = ops::ones(&[1, 1, MANY], Options::of(DType::F32))?;
        weight.set_requires_grad(true)?;
        let out = ops::conv1d(&float(&[1, 1, 2 * MANY]), &weight, None, &[1], &[0], &[1], 1)?;
        autograd::backward(&[&ops::sum(&out, None)?], &[], false, false, &[])
    }),
    ("conv_transpose1d with a long stride", || {
        let weight = float(&[1, 1, 2 * MANY]);
        ops::conv_transpose1d(&float(&[1, 1, 2]), &weight, None, &[MANY], &[0], &[0], 1, &[1]).map(drop)
    }),
    ("multinomial", || ops::multinomial(&float(&[MANY]), 3, true, None).map(drop)),
    ("multinomial without replacement", || ops::multinomial(&float(&[MANY]), 3, false, None).map(drop)),
    ("interpolated bytes", || {
        let image = expanded(&[1, 1, 2, 2], 1, DType::U8);
        ops::upsample_bilinear2d(&image, &[2, MANY], false, None, None).map(drop)
    }),
    ("pack_padded_sequence", || {
        let lengths = expanded(&[1], MANY, DType::I64);
        ops::_pack_padded_sequence(&float(&[MANY, 1, 1]), &lengths, false).map(drop)
    }),
    ("pad_packed_sequence", || {
        let (data, sizes) = (float(&[MANY, 1]), expanded(&[MANY], 1, DType::I64));
        ops::_pad_packed_sequence(&data, &sizes, false, Scalar::Int(0), -1).map(drop)
    }),
    ("quantize_per_tensor and dequantize", || {
        let x = ops::quantize_per_tensor(&float(&[MANY]), 0.5, 3, DType::QU8)?;
        ops::dequantize_self(&x).map(drop)
    }),
    ("quantize_per_channel", || {
        let (scales, zeros) = (float(&[MANY]), expanded(&[MANY], 0, DType::I64));
        ops::quantize_per_channel(&float(&[MANY]), &scales, &zeros, 0, DType::QI8).map(drop)
    }),
    ("quantized::linear", || {
        let weight = ops::quantize_per_tensor(&float(&[MANY, 1]), 0.5, 0, DType::QI8)?;
        let x = ops::quantize_per_tensor(&float(&[1, 1]), 0.5, 0, DType::QU8)?;
        let packed = by_name::call("quantized::linear_prepack", "", vec![weight.into(), Value::None], Vec::new())?;
        let args = vec![x.into(), packed[0].clone(), Value::from(1.0), Value::from(0i64)];
        by_name::call("quantized::linear", "", args, Vec::new()).map(drop)
    }),
    ("quantized::conv2d with more padding than there is memory for", || {
        let weight = ops::quantize_per_tensor(&float(&[1, 1, 1, 1]), 0.5, 0, DType::QI8)?;
        let x = ops::quantize_per_tensor(&float(&[1, 1, 1, 1]), 0.5, 0, DType::QU8)?;
        let pair = |value: i64| Value::from(&[value, value][..]);
        let args = vec![weight.into(), Value::None, pair(1), pair(1 << 20), pair(1), Value::from(1i64)];
        let packed = by_name::call("quantized::conv2d_prepack", "", args, Vec::new())?;
        let args = vec![x.into(), packed[0].clone(), Value::from(1.0), Value::from(0i64)];
        by_name::call("quantized::conv2d", "new", args, Vec::new()).map(drop)
    }),
    ("combinations", || ops::combinations(&float(&[MANY]), 1, false).map(drop)),
    ("a backward pass of many nodes", || {
        let leaf = ops::ones(&[1], Options::of(DType::F32))?;
        leaf.set_requires_grad(true)?;
        let mut x = ops::alias(&leaf)?;
        for _ in 0..MANY {
            x = ops::neg(&x)?;
        }
        autograd::backward(&[&x], &[], false, false, &[])
    }),
];

/// Runs the calls from `begin` on, and prints the index of the next one.
fn child(begin: usize) {
    let hooks = AllocatorHooks { context: std::ptr::null_mut(), allocate, deallocate };
    set_allocator(Some(hooks));
    // Threads of the pool would run past the end of the limit.
    rushlight_base::runtime::set_num_threads(1).unwrap();
    let operators = by_name::all().count();
    for index in begin..CASES.len() + operators {
        let name = match CASES.get(index) {
            Some((name, _)) => (*name).to_owned(),
            None => by_name::all().nth(index - CASES.len()).unwrap().full_name().to_owned(),
        };
        say(format_args!("call {index} {name}"));
        match CASES.get(index) {
            Some((_, run)) => {
                // With invalid arguments the call would fail with another error, and the case would test nothing.
                let result = limited(run).map_err(|error| (error.kind(), error.message().to_owned()));
                assert!(!matches!(&result, Err((kind, _)) if *kind != ErrorKind::OutOfMemory), "{name}: {result:?}");
            }
            None => (0..CALLS).for_each(|round| drop(call_by_name(index - CASES.len(), round))),
        }
    }
    say(format_args!("call end"));
}

/// Why a child ended: the first line about memory, or its whole output.
fn reason(printed: &str) -> &str {
    printed.lines().find(|line| line.contains("memory allocation of")).unwrap_or(printed)
}

#[test]
fn lists_that_follow_sizes_end_in_an_error() {
    match std::env::var(BEGIN).as_deref() {
        // Allocates like an infallible list, to check that the test detects one.
        Ok("infallible") => return drop(limited(|| vec![1u8; LARGEST + 1])),
        Ok(begin) => return child(begin.parse().unwrap()),
        Err(_) => {}
    }
    // Operators that write files, such as `from_file`, write them there.
    let folder = std::env::temp_dir().join(format!("rushlight-allocations-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let run = |begin: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .current_dir(&folder)
            .args(["--nocapture", "--test-threads=1"])
            .env(BEGIN, begin)
            .env("RUST_BACKTRACE", "0")
            .output()
            .unwrap()
    };
    assert!(!run("infallible").status.success(), "a large list that is infallible goes unnoticed");
    let (mut begin, mut failed) = (0, Vec::new());
    loop {
        let output = run(&begin.to_string());
        let printed = String::from_utf8_lossy(&output.stdout);
        let last = printed.lines().filter_map(|line| line.split_once("call ")).next_back().map_or("", |(_, call)| call);
        if last == "end" {
            break;
        }
        let (index, name) = last.split_once(' ').expect("the child says what it calls");
        failed.push(format!("{name}: {}", reason(&String::from_utf8_lossy(&output.stderr))));
        begin = index.parse::<usize>().unwrap() + 1;
        assert!(failed.len() < 60, "many lists follow the sizes of tensors:\n{}", failed.join("\n"));
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(
        failed.is_empty(),
        "lists that follow the sizes of tensors without an error at their end:\n{}",
        failed.join("\n")
    );
}
