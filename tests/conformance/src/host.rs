//! Tensors as the golden files hold them: bytes in row-major order.

use rushlight_base::{Complex64, Complex128, DType, bf16, f16};

/// A tensor on the host, row-major; without bytes where only dtype and shape were recorded.
#[derive(Clone, Debug)]
pub struct HostTensor {
    /// Element type.
    pub dtype: DType,
    /// Extent of each dimension.
    pub shape: Vec<i64>,
    /// Strides, where the recorded tensor was not contiguous.
    pub strides: Option<Vec<i64>>,
    /// Elements, row-major.
    pub bytes: Option<Vec<u8>>,
}

/// An element as a number that can be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Element {
    /// An integer or bool.
    Int(i128),
    /// A real or complex number.
    Number(Complex128),
}

impl HostTensor {
    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.shape.iter().product::<i64>() as usize
    }

    /// The same shape and dtype with `value` for each element: the real part of complex numbers, cast to integers.
    pub fn filled(&self, value: f64) -> HostTensor {
        HostTensor { bytes: Some(bytes_of(self.dtype, value).repeat(self.numel())), ..self.clone() }
    }

    /// With every extent above 1 `by` times as large, the elements repeated in a row.
    pub fn repeated(&self, by: i64) -> HostTensor {
        let shape: Vec<i64> = self.shape.iter().map(|&extent| if extent > 1 { extent * by } else { extent }).collect();
        let count = shape.iter().product::<i64>() as usize * self.dtype.size();
        let bytes = self.bytes.as_ref().map(|bytes| cycled(bytes, count));
        HostTensor { dtype: self.dtype, shape, strides: None, bytes }
    }

    /// The same shape and dtype with numbers between 0 and 1 that an operator has no part in.
    pub fn tapered(&self) -> HostTensor {
        let number = |at: usize| bytes_of(self.dtype, (1.0 + (0.7 * at as f64).sin()) / 2.0);
        let numbers: Vec<u8> = (0..self.numel().min(PERIOD)).flat_map(number).collect();
        let bytes = Some(cycled(&numbers, self.numel() * self.dtype.size()));
        HostTensor { dtype: self.dtype, shape: self.shape.clone(), strides: self.strides.clone(), bytes }
    }

    /// The elements as complex numbers.
    pub fn numbers(&self) -> Vec<Complex128> {
        let number = |element| match element {
            Element::Int(value) => Complex128::new(value as f64, 0.0),
            Element::Number(value) => value,
        };
        self.elements().into_iter().map(number).collect()
    }

    /// Other elements for the same dtype: of a real one the imaginary parts are dropped.
    pub fn set_numbers(&mut self, numbers: &[Complex128]) {
        let dtype = self.dtype;
        let bytes = |number: &Complex128| {
            if dtype.is_complex() {
                [bytes_of(dtype.to_real(), number.re), bytes_of(dtype.to_real(), number.im)].concat()
            } else {
                bytes_of(dtype, number.re)
            }
        };
        self.bytes = Some(numbers.iter().flat_map(bytes).collect());
        self.strides = None;
    }

    /// The elements in row-major order.
    pub fn elements(&self) -> Vec<Element> {
        let bytes = self.bytes.as_deref().unwrap_or_default();
        bytes.chunks_exact(self.dtype.size()).map(|bytes| element(self.dtype, bytes)).collect()
    }
}

/// After this many elements the numbers of [`HostTensor::tapered`] repeat.
const PERIOD: usize = 1009;

/// The first `count` bytes of an endless repetition.
fn cycled(bytes: &[u8], count: usize) -> Vec<u8> {
    let mut repeated = bytes.repeat(count.div_ceil(bytes.len().max(1)));
    repeated.truncate(count);
    repeated
}

pub(crate) fn bytes_of(dtype: DType, value: f64) -> Vec<u8> {
    match dtype {
        DType::Bool => vec![u8::from(value != 0.0)],
        DType::U8 | DType::QU8 => vec![value as u8],
        DType::I8 | DType::QI8 => (value as i8).to_le_bytes().into(),
        DType::I16 => (value as i16).to_le_bytes().into(),
        DType::I32 | DType::QI32 => (value as i32).to_le_bytes().into(),
        DType::I64 => (value as i64).to_le_bytes().into(),
        DType::U16 => (value as u16).to_le_bytes().into(),
        DType::U32 => (value as u32).to_le_bytes().into(),
        DType::U64 => (value as u64).to_le_bytes().into(),
        DType::F16 => f16::from_f64(value).to_le_bytes().into(),
        DType::BF16 => bf16::from_f64(value).to_le_bytes().into(),
        DType::F32 => (value as f32).to_le_bytes().into(),
        DType::F64 => value.to_le_bytes().into(),
        DType::C32 | DType::C64 | DType::C128 => {
            [bytes_of(dtype.to_real(), value), bytes_of(dtype.to_real(), 0.0)].concat()
        }
    }
}

macro_rules! read {
    ($type:ty, $bytes:expr) => {
        <$type>::from_le_bytes($bytes.try_into().unwrap_or_default())
    };
}

fn element(dtype: DType, bytes: &[u8]) -> Element {
    let real = |value: f64| Element::Number(Complex128::new(value, 0.0));
    let half = |bytes: &[u8]| f64::from(f16::from_bits(read!(u16, bytes)));
    match dtype {
        DType::U8 | DType::QU8 => Element::Int(bytes[0].into()),
        DType::Bool => Element::Int(i128::from(bytes[0] != 0)),
        DType::I8 | DType::QI8 => Element::Int(read!(i8, bytes).into()),
        DType::I16 => Element::Int(read!(i16, bytes).into()),
        DType::I32 | DType::QI32 => Element::Int(read!(i32, bytes).into()),
        DType::I64 => Element::Int(read!(i64, bytes).into()),
        DType::U16 => Element::Int(read!(u16, bytes).into()),
        DType::U32 => Element::Int(read!(u32, bytes).into()),
        DType::U64 => Element::Int(read!(u64, bytes).into()),
        DType::F16 => real(half(bytes)),
        DType::BF16 => real(bf16::from_bits(read!(u16, bytes)).into()),
        DType::F32 => real(read!(f32, bytes).into()),
        DType::F64 => real(read!(f64, bytes)),
        DType::C32 => Element::Number(Complex128::new(half(&bytes[..2]), half(&bytes[2..]))),
        DType::C64 => {
            let value = Complex64::new(read!(f32, bytes[..4]), read!(f32, bytes[4..]));
            Element::Number(Complex128::new(value.re.into(), value.im.into()))
        }
        DType::C128 => Element::Number(Complex128::new(read!(f64, bytes[..8]), read!(f64, bytes[8..]))),
    }
}
