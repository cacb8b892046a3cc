//! Loops over memory of a device start kernels there. The device here writes down what it is asked for.

use rushlight_base::backend::{self, Backend, Launch, Place};
use rushlight_base::{DType, Device, ErrorKind, Result, Scalar};
use rushlight_cpu::{Array, Loop, arithmetic, compare, convert, elementary, fill};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// Symbol, blocks, threads and parameters of each launch.
type Record = (String, u32, u32, Vec<Vec<u8>>);

static LAUNCHES: Mutex<Vec<Record>> = Mutex::new(Vec::new());
static BLOCKS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

struct Recorder;

impl Backend for Recorder {
    fn capability(&self, _: Device) -> Result<(i32, i32)> {
        Ok((9, 0))
    }

    fn processors(&self, _: Device) -> Result<[u32; 2]> {
        Ok([132, 2048])
    }

    /// No kernel here reports an error of an element.
    fn record(&self, _: Device) -> Result<u64> {
        Ok(0x6_0000_0000)
    }

    fn current_device(&self) -> Result<i8> {
        Ok(0)
    }

    fn allocate(&self, _: Device, bytes: usize) -> Result<*mut u8> {
        let mut blocks = BLOCKS.lock().unwrap();
        let at = 0x7_0000_0000 + 4096 * blocks.len();
        blocks.push((at, bytes));
        Ok(std::ptr::without_provenance_mut(at))
    }

    unsafe fn free(&self, _: Device, at: *mut u8, bytes: usize) {
        let block = BLOCKS.lock().unwrap().pop();
        assert_eq!(block, Some((at as usize, bytes)));
    }

    unsafe fn copy(&self, _: Place, _: Place, _: usize, _: bool) -> Result<()> {
        Ok(())
    }

    unsafe fn launch(&self, launch: &Launch) -> Result<()> {
        let name = format!("{}/{}", launch.kernel.file, launch.kernel.symbol());
        let parameters = launch.parameters.iter().map(|bytes| bytes.to_vec()).collect();
        LAUNCHES.lock().unwrap().push((name, launch.blocks[0], launch.threads[0], parameters));
        Ok(())
    }
}

/// An array at an address that no memory has.
fn array<'a>(at: usize, dtype: DType, sizes: &'a [i64], strides: &'a [i64]) -> Array<'a> {
    // SAFETY: the array is on a device, whose memory the host neither reads nor writes.
    unsafe { Array::new(std::ptr::without_provenance_mut(at), dtype, sizes, strides) }.on(Device::cuda(0))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn launches() -> Vec<Record> {
    std::mem::take(&mut *LAUNCHES.lock().unwrap())
}

// One test: the launches are in one list.
#[test]
fn loops_of_a_device_are_launches() {
    backend::register(&Recorder);
    let (sizes, strides) = ([1000i64], [1i64]);
    let floats = |at| array(at, DType::F32, &sizes, &strides);

    // Contiguous floats: 4 elements a thread, 256 threads a block; alpha is the second parameter.
    arithmetic::add(&Loop::new([floats(4096), floats(8192), floats(12288)]).unwrap(), Scalar::Int(3)).unwrap();
    let all = launches();
    let (name, blocks, threads, parameters) = &all[0];
    assert_eq!((all.len(), name.as_str(), *blocks, *threads), (1, "arithmetic/add__float32", 1, 256));
    assert_eq!((word(&parameters[0], 0), word(&parameters[0], 8), word(&parameters[0], 16)), (4096, 8192, 12288));
    assert_eq!((word(&parameters[1], 0), word(&parameters[1], 8)), (1, 3));

    // An operand of another dtype is converted in a buffer first, and a number of the host becomes a constant.
    let integers = array(8192, DType::I64, &sizes, &strides);
    let number = 2.5f64;
    // SAFETY: the number outlives the array.
    let number = unsafe { Array::new((&raw const number).cast_mut().cast(), DType::F64, &[], &[]) };
    arithmetic::mul(&Loop::computing(DType::F32, [floats(4096), integers, number]).unwrap()).unwrap();
    let all = launches();
    let names: Vec<&str> = all.iter().map(|launch| launch.0.as_str()).collect();
    assert_eq!(names, ["convert/to_float32__int64", "arithmetic/mul__float32"]);
    // Constants follow the three addresses; that of the third operand is 2.5 in float32.
    assert_eq!(word(&all[1].3[0], 24 + 32), u64::from(2.5f32.to_bits()));
    assert!(BLOCKS.lock().unwrap().is_empty());

    // The name is that of the outer function; half precision is widened by the kernel itself.
    let halves = |at| array(at, DType::F16, &sizes, &strides);
    elementary::exp(&Loop::new([halves(4096), halves(8192)]).unwrap()).unwrap();
    convert::copy(&Loop::new([halves(4096), floats(8192)]).unwrap()).unwrap();
    convert::copy(&Loop::new([halves(4096), halves(8192)]).unwrap()).unwrap();
    fill::fill(&Loop::new([halves(4096)]).unwrap(), Scalar::Int(1)).unwrap();
    let names: Vec<String> = launches().into_iter().map(|launch| launch.0).collect();
    let expected =
        ["elementary/exp__float16", "convert/to_float16__float32", "convert/bits__uint16", "fill/fill__float16"];
    assert_eq!(names, expected);

    // An input that overlaps the output in another order of elements is copied first.
    convert::copy(&Loop::new([floats(4096), floats(4100)]).unwrap()).unwrap();
    assert_eq!(launches().len(), 2);
    arithmetic::mul(&Loop::new([floats(4096), floats(4096), floats(8192)]).unwrap()).unwrap();
    assert_eq!(launches().len(), 1);

    // More elements than a launch counts: several launches, at addresses that follow.
    let (large, step) = ([5_000_000_000i64], [1i64]);
    fill::fill(&Loop::new([array(4096, DType::U8, &large, &step)]).unwrap(), Scalar::Int(1)).unwrap();
    let all = launches();
    assert_eq!(all.len(), 3);
    assert_eq!(word(&all[1].3[0], 0), 4096 + (1 << 31) - 4);

    // Nothing is read from the host: an array elsewhere, a function that is no kernel, a dtype without a loop.
    let mut host = [0f32; 1000];
    // SAFETY: the vector outlives the array.
    let of_host = unsafe { Array::new(host.as_mut_ptr().cast(), DType::F32, &sizes, &strides) };
    let error = Loop::new([floats(4096), of_host.clone()]).err().unwrap();
    assert!(error.message().contains("two devices, cuda:0 and cpu"), "{error}");
    let both = Loop::new([floats(4096), floats(8192)]).unwrap();
    let caught = catch_unwind(AssertUnwindSafe(|| compare::all_equal(&both))).unwrap_err();
    let error = backend::missing_kernel(caught).unwrap();
    assert_eq!((error.kind(), error.message()), (ErrorKind::NotImplemented, "no kernel on device cuda:0"));
    let caught = catch_unwind(AssertUnwindSafe(|| Loop::new([of_host.clone(), floats(4096)]).map(drop))).unwrap_err();
    let error = backend::missing_kernel(caught).unwrap();
    assert_eq!((error.kind(), error.message()), (ErrorKind::NotImplemented, "no kernel on device cuda:0"));
    let error = elementary::erf(&Loop::new([array(4096, DType::I32, &sizes, &strides), floats(8192)]).unwrap());
    assert_eq!(error.unwrap_err().message(), "\"erf_vml_cpu\" not implemented for 'Int'");
    assert!(launches().is_empty());
}
