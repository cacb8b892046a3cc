//! Every code path returns the same bits as the kernel applied to one element at a time.

use super::flat::{Map2, Map3};
use super::*;
use crate::simd::{Level, run_at};
use crate::{arithmetic, compare, convert, elementary};
use rushlight_base::Scalar;

/// Memory of an operand: bytes of pseudo-random patterns that are ordinary numbers in most dtypes.
struct Memory {
    bytes: Vec<u64>,
    dtype: DType,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    start: usize,
}

impl Memory {
    fn new(dtype: DType, sizes: &[i64], strides: &[i64], seed: u64) -> Memory {
        let reach: i64 = sizes.iter().zip(strides).map(|(size, stride)| (size - 1).max(0) * stride).sum();
        // One element before the first, so that pointers are not always at the start of a line.
        let count = reach as usize + 2;
        let mut bytes = vec![0u64; count * 2 + 2];
        let mut state = seed;
        let mut memory = Memory { bytes: Vec::new(), dtype, sizes: sizes.into(), strides: strides.into(), start: 1 };
        let from = bytes.as_mut_ptr().cast::<u8>();
        for index in 0..count {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let value = Scalar::Float(((state >> 33) % 2001) as f64 / 8.0 - 120.0);
            let value = if dtype.is_complex() { value } else { Scalar::Float(value.to_f64().abs() + 0.125) };
            let element = crate::fill::element(value, dtype).unwrap();
            // SAFETY: the vector has 16 bytes for every element.
            unsafe {
                from.add(index * dtype.size()).copy_from_nonoverlapping(element.as_ptr().cast(), dtype.size());
            }
        }
        memory.bytes = bytes;
        memory
    }

    fn array(&self) -> Array<'_> {
        let at = self.bytes.as_ptr().cast_mut().cast::<u8>().wrapping_add(self.start * self.dtype.size());
        // SAFETY: `new` allocated memory for every index; tests use one thread's view at a time.
        unsafe { Array::new(at, self.dtype, &self.sizes, &self.strides) }
    }

    /// The element at `index`, broadcast, as an array without dimensions.
    fn element(&self, index: &[i64]) -> Array<'_> {
        let lead = index.len() - self.sizes.len();
        let dims = self.sizes.iter().zip(&self.strides).zip(&index[lead..]);
        let offset: i64 = dims.map(|((&size, stride), &at)| if size == 1 { 0 } else { at * stride }).sum();
        let at = self.array().start().wrapping_add(offset as usize * self.dtype.size());
        // SAFETY: `at` is the address of an element in the test's memory.
        unsafe { Array::new(at, self.dtype, &[], &[]) }
    }

    fn bits(&self, index: &[i64]) -> Vec<u8> {
        let element = self.element(index);
        // SAFETY: `element` is an array of one element of this dtype.
        unsafe { std::slice::from_raw_parts(element.start(), self.dtype.size()) }.to_vec()
    }
}

fn indices(sizes: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for &size in sizes {
        all = all.iter().flat_map(|index| (0..size).map(|at| [index.clone(), vec![at]].concat())).collect();
    }
    all
}

/// Sizes and strides of output and operands: one for each code path.
type Layout<'l> = (&'l [i64], &'l [i64], &'l [(&'l [i64], &'l [i64])]);
const LAYOUTS: &[Layout] = &[
    (&[1003], &[1], &[(&[1003], &[1]), (&[1003], &[1])]),
    (&[40001], &[1], &[(&[40001], &[1]), (&[40001], &[1])]),
    (&[5000], &[1], &[(&[5000], &[1]), (&[1], &[1])]),
    (&[5000], &[1], &[(&[], &[]), (&[5000], &[1])]),
    (&[777], &[1], &[(&[777], &[3]), (&[777], &[2])]),
    (&[777], &[2], &[(&[777], &[1]), (&[777], &[2])]),
    (&[67, 71], &[71, 1], &[(&[67, 71], &[1, 67]), (&[67, 71], &[71, 1])]),
    (&[130, 33], &[33, 1], &[(&[130, 33], &[33, 1]), (&[130, 33], &[1, 131])]),
    (&[211, 10], &[10, 1], &[(&[211, 10], &[10, 1]), (&[10], &[1])]),
    (&[211, 3], &[3, 1], &[(&[211, 3], &[3, 1]), (&[211, 1], &[1, 1])]),
    (&[31, 100], &[100, 1], &[(&[31, 100], &[100, 1]), (&[31, 1], &[1, 1])]),
    (&[31, 100], &[100, 1], &[(&[100], &[1]), (&[31, 100], &[100, 1])]),
    (&[40, 50], &[64, 1], &[(&[40, 50], &[70, 1]), (&[40, 50], &[1, 40])]),
    (&[7, 5, 3, 4], &[60, 1, 20, 5], &[(&[7, 5, 3, 4], &[60, 12, 4, 1]), (&[5, 1, 1], &[1, 1, 1])]),
    (&[9, 4, 6], &[24, 6, 1], &[(&[9, 4, 6], &[1, 54, 9]), (&[4, 1], &[1, 1])]),
    (&[3, 0], &[1, 1], &[(&[3, 0], &[1, 1]), (&[1], &[1])]),
    (&[], &[], &[(&[], &[]), (&[], &[])]),
];

/// Checks `kernel` on all layouts, with operands of these dtypes.
fn check_binary(common: DType, dtypes: [DType; 3], kernel: &dyn Fn(&Loop<3>) -> Result<()>) {
    for (which, (sizes, strides, inputs)) in LAYOUTS.iter().enumerate() {
        let out = Memory::new(dtypes[0], sizes, strides, 1);
        let a = Memory::new(dtypes[1], inputs[0].0, inputs[0].1, 2);
        let b = Memory::new(dtypes[2], inputs[1].0, inputs[1].1, 3);
        kernel(&Loop::computing(common, [out.array(), a.array(), b.array()]).unwrap()).unwrap();
        let one = Memory::new(dtypes[0], &[], &[], 4);
        for index in indices(sizes) {
            let single = [one.array(), a.element(&index), b.element(&index)];
            kernel(&Loop::computing(common, single).unwrap()).unwrap();
            assert_eq!(out.bits(&index), one.bits(&[]), "layout {which} at {index:?} of {dtypes:?}");
        }
    }
}

const ALL: [DType; 16] = [
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::C32,
    DType::C64,
    DType::C128,
    DType::Bool,
];

#[test]
fn every_code_path_is_bitwise_equal_to_single_elements() {
    for dtype in ALL {
        check_binary(dtype, [dtype; 3], &arithmetic::mul);
        check_binary(dtype, [DType::Bool, dtype, dtype], &compare::eq);
    }
    for dtype in [DType::F32, DType::BF16, DType::I64, DType::C64] {
        check_binary(dtype, [dtype; 3], &|walk| arithmetic::add(walk, Scalar::Int(3)));
    }
    for dtype in [DType::F16, DType::F64, DType::C128] {
        check_binary(dtype, [dtype; 3], &arithmetic::div);
    }
    for dtype in [DType::F16, DType::F32, DType::F64, DType::I32, DType::C64] {
        check_binary(dtype, [dtype; 3], &elementary::pow);
    }
}

#[test]
fn operands_of_other_dtypes_are_converted_on_the_way() {
    use DType::*;
    let cases = [[F32, I64, F32], [F16, F32, F16], [F64, Bool, F32], [C32, F16, I16], [I64, U8, Bool]];
    for dtypes in cases {
        check_binary(dtypes[0], dtypes, &|walk| arithmetic::add(walk, Scalar::Int(1)));
    }
    check_binary(F64, [Bool, I32, F32], &compare::lt);
}

#[test]
fn a_value_of_another_dtype_is_rounded_to_the_common_dtype_first() {
    // 1 + 2^-12 is 1 in float16.
    let (mut out, mut a, mut b) = ([0u16; 3], [0x3c00u16; 3], [1.0f32 + 1.0 / 4096.0; 3]);
    // SAFETY: each array has three elements.
    let arrays = unsafe {
        [
            Array::new(out.as_mut_ptr().cast(), DType::F16, &[3], &[1]),
            Array::new(a.as_mut_ptr().cast(), DType::F16, &[3], &[1]),
            Array::new(b.as_mut_ptr().cast(), DType::F32, &[3], &[1]),
        ]
    };
    arithmetic::sub(&Loop::new(arrays).unwrap(), Scalar::Int(1)).unwrap();
    assert_eq!(out, [0; 3]);
}

#[test]
fn the_output_may_be_an_input() {
    for (sizes, strides) in [(&[40001][..], &[1][..]), (&[777], &[2]), (&[60, 50], &[1, 60]), (&[60, 20], &[32, 1])] {
        for dtype in [DType::U8, DType::F16, DType::F32, DType::C128] {
            let (target, before) = (Memory::new(dtype, sizes, strides, 7), Memory::new(dtype, sizes, strides, 7));
            let other = Memory::new(dtype, sizes, strides, 8);
            arithmetic::mul(&Loop::new([target.array(), target.array(), target.array()]).unwrap()).unwrap();
            arithmetic::add(&Loop::new([target.array(), other.array(), target.array()]).unwrap(), Scalar::Int(1))
                .unwrap();
            let one = Memory::new(dtype, &[], &[], 4);
            for index in indices(sizes) {
                let element = before.element(&index);
                arithmetic::mul(&Loop::new([one.array(), element.clone(), element]).unwrap()).unwrap();
                arithmetic::add(&Loop::new([one.array(), other.element(&index), one.array()]).unwrap(), Scalar::Int(1))
                    .unwrap();
                assert_eq!(target.bits(&index), one.bits(&[]), "{sizes:?} at {index:?} of {dtype}");
            }
        }
    }
}

#[test]
fn copies_and_casts_agree_on_every_layout() {
    for (sizes, strides, inputs) in LAYOUTS {
        for (to, from) in ALL.iter().flat_map(|&to| [(to, to), (to, DType::F32), (DType::F64, to)]) {
            for (source, source_strides) in *inputs {
                let (out, a) = (Memory::new(to, sizes, strides, 1), Memory::new(from, source, source_strides, 2));
                convert::copy(&Loop::new([out.array(), a.array()]).unwrap()).unwrap();
                let one = Memory::new(to, &[], &[], 4);
                for index in indices(sizes).iter().step_by(7) {
                    convert::copy(&Loop::new([one.array(), a.element(index)]).unwrap()).unwrap();
                    assert_eq!(out.bits(index), one.bits(&[]), "{sizes:?} at {index:?} from {from} to {to}");
                }
            }
        }
    }
}

#[test]
fn fills_reach_every_element_and_no_other() {
    for dtype in ALL {
        for (sizes, strides) in [(&[40001][..], &[1][..]), (&[70, 30], &[61, 2]), (&[5, 4], &[1, 5]), (&[], &[])] {
            let (out, before) = (Memory::new(dtype, sizes, strides, 1), Memory::new(dtype, sizes, strides, 1));
            crate::fill::fill(&Loop::new([out.array()]).unwrap(), Scalar::Int(1)).unwrap();
            let value = crate::fill::element(Scalar::Int(1), dtype).unwrap();
            let mut expected = before;
            let start = expected.array().start() as usize - expected.bytes.as_ptr() as usize;
            // SAFETY: a vector of numbers is initialized memory of this many bytes.
            let bytes = unsafe {
                std::slice::from_raw_parts_mut(expected.bytes.as_mut_ptr().cast::<u8>(), expected.bytes.len() * 8)
            };
            for index in indices(sizes) {
                let at: i64 = index.iter().zip(strides).map(|(at, stride)| at * stride).sum();
                let at = start + at as usize * dtype.size();
                // SAFETY: 16 bytes hold an element.
                let element = unsafe { std::slice::from_raw_parts(value.as_ptr().cast::<u8>(), dtype.size()) };
                bytes[at..at + dtype.size()].copy_from_slice(element);
            }
            assert_eq!(out.bytes, expected.bytes, "{dtype} {sizes:?} {strides:?}");
        }
    }
}

#[test]
fn a_choice_moves_bits() {
    let layout = (&[53, 37], &[37, 1]);
    for dtype in ALL {
        let out = Memory::new(dtype, layout.0, layout.1, 1);
        let condition = Memory::new(DType::U8, &[53, 1], &[1, 1], 2);
        let (a, b) = (Memory::new(dtype, layout.0, &[1, 53], 3), Memory::new(dtype, &[], &[], 4));
        let arrays = [out.array(), condition.array(), a.array(), b.array()];
        arithmetic::select_where(&Loop::new(arrays).unwrap()).unwrap();
        for index in indices(layout.0) {
            let kept = condition.bits(&index) != [0];
            assert_eq!(out.bits(&index), if kept { a.bits(&index) } else { b.bits(&index) }, "{dtype} {index:?}");
        }
    }
}

#[test]
fn loops_are_bitwise_equal_at_every_level() {
    let a: Vec<f32> = (0..1003).map(|i| (i as f32 - 500.0) * 0.37).collect();
    let b: Vec<f32> = (0..1003).map(|i| (i as f32 * 7.0 % 13.0) - 6.0).collect();
    for len in [0, 1, 7, 16, 63, 64, 65, 1003] {
        let plain: Vec<f32> = (0..len).map(|i| a[i] + 0.3 * b[i]).collect();
        for level in Level::ALL {
            let mut out = vec![0f32; len];
            let f = |a: f32, b: f32| a + 0.3 * b;
            let ran = run_at(level, Map2 { out: out.as_mut_ptr(), a: a.as_ptr(), b: b.as_ptr(), len, f });
            assert!(ran.is_none() || out == plain, "{level:?} {len}");
            let f = |a: f32, b: f32, c: f32| if c < a { a + 0.3 * b } else { a * b };
            let chosen: Vec<f32> = (0..len).map(|i| f(a[i], b[i], b[i])).collect();
            let (a, b) = (a.as_ptr(), b.as_ptr());
            let ran = run_at(level, Map3 { out: out.as_mut_ptr(), a, b, c: b, len, f });
            assert!(ran.is_none() || out == chosen, "{level:?} {len}");
        }
    }
}
