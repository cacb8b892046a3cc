//! Element types: the enum with c10's frozen numbers, the Rust types behind it, and promotion.
//!
//! To add a dtype, change these places:
//!
//! 1. Here: the enum with c10's number, the row of `TABLE` with the index in `DType::row`, `Element` for the Rust type,
//!    and promotion.
//! 2. `core/cpu`: the arithmetic in `number.rs`, and a set of `dispatch!` in `dispatch.rs`, which names the dtypes that
//!    kernels are instantiated for; conversions from and to all other dtypes in `convert.rs`.
//! 3. Files: the names in `core/io` (`.pt`, `.safetensors`) and in `bindings/cli/src/npz.rs`.
//! 4. The bindings: the constants in `capi/src/tensor.rs`, the codes in `capi/src/dlpack.rs`, `c10/core/ScalarType.h`
//!    and `DType.java`.

use crate::{Result, err};
use half::{bf16, f16};
use num_complex::Complex;
use std::fmt;

/// Complex number of two half-precision parts (`torch.complex32`).
pub type Complex32 = Complex<f16>;
/// Complex number of two floats (`torch.complex64`).
pub type Complex64 = Complex<f32>;
/// Complex number of two doubles (`torch.complex128`).
pub type Complex128 = Complex<f64>;

/// Element type of a tensor. The numbers are those of `c10::ScalarType`, which files and scripts contain.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// Unsigned 8-bit integer (`Byte`).
    U8 = 0,
    /// Signed 8-bit integer (`Char`).
    I8 = 1,
    /// Signed 16-bit integer (`Short`).
    I16 = 2,
    /// Signed 32-bit integer (`Int`).
    I32 = 3,
    /// Signed 64-bit integer (`Long`).
    I64 = 4,
    /// IEEE half precision (`Half`).
    F16 = 5,
    /// IEEE single precision (`Float`).
    F32 = 6,
    /// IEEE double precision (`Double`).
    F64 = 7,
    /// Complex of two half-precision parts (`ComplexHalf`).
    C32 = 8,
    /// Complex of two single-precision parts (`ComplexFloat`).
    C64 = 9,
    /// Complex of two double-precision parts (`ComplexDouble`).
    C128 = 10,
    /// One byte, 0 or 1 (`Bool`).
    Bool = 11,
    /// Signed 8-bit integer with a quantizer (`QInt8`).
    QI8 = 12,
    /// Unsigned 8-bit integer with a quantizer (`QUInt8`).
    QU8 = 13,
    /// Signed 32-bit integer with a quantizer (`QInt32`).
    QI32 = 14,
    /// Brain floating point (`BFloat16`).
    BF16 = 15,
    /// Unsigned 16-bit integer (`UInt16`).
    U16 = 27,
    /// Unsigned 32-bit integer (`UInt32`).
    U32 = 28,
    /// Unsigned 64-bit integer (`UInt64`).
    U64 = 29,
}

/// The categories of dtypes: four of type promotion, lowest first, after that of quantized numbers, which are not
/// promoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// integers with a quantizer
    Quantized,
    /// `bool`
    Bool,
    /// signed and unsigned integers
    Integral,
    /// real floating point
    Floating,
    /// complex
    Complex,
}

/// Properties of each dtype, one row each, which the methods read.
struct Row {
    dtype: DType,
    name: &'static str,
    /// The name c10 prints (`Float`), as in tensor footers and libtorch's messages.
    c10: &'static str,
    size: usize,
    category: Category,
}

const fn row(dtype: DType, name: &'static str, c10: &'static str, size: usize, category: Category) -> Row {
    Row { dtype, name, c10, size, category }
}

const TABLE: [Row; 19] = [
    row(DType::U8, "uint8", "Byte", 1, Category::Integral),
    row(DType::I8, "int8", "Char", 1, Category::Integral),
    row(DType::I16, "int16", "Short", 2, Category::Integral),
    row(DType::I32, "int32", "Int", 4, Category::Integral),
    row(DType::I64, "int64", "Long", 8, Category::Integral),
    row(DType::F16, "float16", "Half", 2, Category::Floating),
    row(DType::F32, "float32", "Float", 4, Category::Floating),
    row(DType::F64, "float64", "Double", 8, Category::Floating),
    row(DType::C32, "complex32", "ComplexHalf", 4, Category::Complex),
    row(DType::C64, "complex64", "ComplexFloat", 8, Category::Complex),
    row(DType::C128, "complex128", "ComplexDouble", 16, Category::Complex),
    row(DType::Bool, "bool", "Bool", 1, Category::Bool),
    row(DType::QI8, "qint8", "QInt8", 1, Category::Quantized),
    row(DType::QU8, "quint8", "QUInt8", 1, Category::Quantized),
    row(DType::QI32, "qint32", "QInt32", 4, Category::Quantized),
    row(DType::BF16, "bfloat16", "BFloat16", 2, Category::Floating),
    row(DType::U16, "uint16", "UInt16", 2, Category::Integral),
    row(DType::U32, "uint32", "UInt32", 4, Category::Integral),
    row(DType::U64, "uint64", "UInt64", 8, Category::Integral),
];

/// The bytes per element by c10's number: every operator reads them several times.
const SIZES: [u8; 32] = {
    let mut sizes = [0; 32];
    let mut row = 0;
    while row < TABLE.len() {
        sizes[TABLE[row].dtype as usize] = TABLE[row].size as u8;
        row += 1;
    }
    sizes
};

impl DType {
    /// Every dtype of strided tensors, in the order of the table: quantized dtypes are left out.
    pub fn all() -> impl Iterator<Item = DType> {
        TABLE.iter().map(|row| row.dtype).filter(|dtype| !dtype.is_quantized())
    }

    /// Whether the elements are integers with a quantizer, for which only the layer of quantized tensors has kernels.
    #[inline]
    pub fn is_quantized(self) -> bool {
        matches!(self, DType::QI8 | DType::QU8 | DType::QI32)
    }

    /// The dtype of the integers of a quantized dtype; any other dtype is its own.
    pub fn to_integer(self) -> DType {
        match self {
            DType::QI8 => DType::I8,
            DType::QU8 => DType::U8,
            DType::QI32 => DType::I32,
            other => other,
        }
    }

    /// The quantized dtype with integers of this dtype.
    pub fn to_quantized(self) -> Option<DType> {
        match self {
            DType::I8 => Some(DType::QI8),
            DType::U8 => Some(DType::QU8),
            DType::I32 => Some(DType::QI32),
            _ => None,
        }
    }

    #[inline]
    fn row(self) -> &'static Row {
        let index = match self as i32 {
            low @ 0..=15 => low as usize,
            high => (high - 11) as usize,
        };
        &TABLE[index]
    }

    /// Bytes per element.
    #[inline(always)]
    pub fn size(self) -> usize {
        usize::from(SIZES[self as usize % SIZES.len()])
    }

    /// PyTorch's name without `torch.`: `float32`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// c10's name: `Float`.
    pub fn c10_name(self) -> &'static str {
        self.row().c10
    }

    /// Category of promotion.
    pub fn category(self) -> Category {
        self.row().category
    }

    /// Whether this is a real floating-point dtype.
    pub fn is_floating(self) -> bool {
        self.category() == Category::Floating
    }

    /// `float16` and `bfloat16`, which are computed in `float32`.
    pub fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::BF16)
    }

    /// Whether this is a complex dtype.
    pub fn is_complex(self) -> bool {
        self.category() == Category::Complex
    }

    /// Whether this is an integer dtype. `bool` counts if `include_bool`.
    pub fn is_integral(self, include_bool: bool) -> bool {
        self.category() == Category::Integral || (include_bool && self == DType::Bool)
    }

    /// Whether a tensor of this dtype can have a gradient.
    pub fn is_differentiable(self) -> bool {
        self.category() >= Category::Floating
    }

    /// `uint16`, `uint32`, `uint64`: PyTorch supports them in few operators and does not promote them.
    pub fn is_barebones_unsigned(self) -> bool {
        matches!(self, DType::U16 | DType::U32 | DType::U64)
    }

    /// The dtype of the real and imaginary parts (itself for a dtype that is not complex).
    pub fn to_real(self) -> DType {
        match self {
            DType::C32 => DType::F16,
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }

    /// The complex dtype whose parts hold this dtype.
    pub fn to_complex(self) -> DType {
        match self {
            DType::F16 => DType::C32,
            DType::F64 => DType::C128,
            DType::C32 | DType::C64 | DType::C128 => self,
            _ => DType::C64,
        }
    }

    /// The dtype that loops compute in: half precision is widened. PyTorch's `opmath` type.
    #[inline(always)]
    pub fn opmath(self) -> DType {
        match self {
            DType::F16 | DType::BF16 => DType::F32,
            DType::C32 => DType::C64,
            other => other,
        }
    }

    /// The dtype with c10's number `code`.
    pub fn from_code(code: i32) -> Result<DType> {
        TABLE
            .iter()
            .map(|row| row.dtype)
            .find(|dtype| *dtype as i32 == code)
            .ok_or_else(|| err!(Type, "dtype number {code} is not supported"))
    }

    /// The dtype that PyTorch calls `name` (with or without `torch.`, aliases included).
    pub fn from_name(name: &str) -> Result<DType> {
        let short = name.strip_prefix("torch.").unwrap_or(name);
        let short = match short {
            "float" => "float32",
            "double" => "float64",
            "half" => "float16",
            "int" => "int32",
            "long" => "int64",
            "short" => "int16",
            "chalf" => "complex32",
            "cfloat" => "complex64",
            "cdouble" => "complex128",
            other => other,
        };
        TABLE
            .iter()
            .find(|row| row.name == short)
            .map(|row| row.dtype)
            .ok_or_else(|| err!(Type, "dtype '{name}' is not supported"))
    }

    /// The dtype to which both operands are promoted (`torch.promote_types`).
    ///
    /// The higher category wins; within a category, the smallest dtype that holds both. `uint16`, `uint32` and `uint64`
    /// promote only with floating, complex and bool, as in PyTorch.
    pub fn promote(self, other: DType) -> Result<DType> {
        use DType::*;
        if self == other {
            return Ok(self);
        }
        let (low, high) = if self.category() <= other.category() { (self, other) } else { (other, self) };
        if low.is_quantized() {
            return Err(err!(
                Runtime,
                "promoteTypes with quantized numbers is not handled yet; offending types: {} {}",
                self.c10_name(),
                other.c10_name()
            ));
        }
        if low.category() != high.category() {
            return Ok(match (low, high) {
                // A complex operand is widened to the precision of a real one.
                (F64, C32 | C64) => C128,
                (F32 | BF16, C32) => C64,
                _ => high,
            });
        }
        match high.category() {
            Category::Integral => {
                if low.is_barebones_unsigned() || high.is_barebones_unsigned() {
                    return Err(err!(
                        Runtime,
                        "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {} and {}",
                        self.c10_name(),
                        other.c10_name()
                    ));
                }
                let wide = if low.size() >= high.size() { low } else { high };
                // uint8 against int8: neither holds the other.
                Ok(if low.size() == high.size() { I16 } else { wide })
            }
            Category::Floating if low.size() == high.size() => Ok(F32),
            _ => Ok(if low.size() > high.size() { low } else { high }),
        }
    }

    /// Whether a result of this dtype may be written into an output of dtype `to`: complex not into real, floating not
    /// into integral, and only bool into bool (`torch.can_cast`).
    pub fn can_cast(self, to: DType) -> bool {
        if self.is_quantized() || to.is_quantized() {
            return self == to;
        }
        self.category() <= to.category()
            || (self.category() == Category::Integral && to.category() == Category::Integral)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A Rust type that is stored in tensors.
///
/// # Safety
/// `DTYPE.size()` must be the size of the type, and every bit pattern that Rushlight stores for `DTYPE`
/// must be a valid value of it (tensors of `bool` are stored as bytes 0 and 1).
pub unsafe trait Element: Copy + Send + Sync + Default + PartialEq + fmt::Debug + 'static {
    /// The dtype of tensors that hold this type.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($rust:ty => $dtype:ident),* $(,)?) => {$(
        // SAFETY: the sizes agree (tested below); every dtype but bool accepts any bit pattern, and bool bytes are only
        // ever written as 0 or 1.
        unsafe impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
        }
    )*};
}

elements! {
    u8 => U8, i8 => I8, i16 => I16, i32 => I32, i64 => I64, f16 => F16, f32 => F32, f64 => F64,
    Complex32 => C32, Complex64 => C64, Complex128 => C128, bool => Bool, bf16 => BF16,
    u16 => U16, u32 => U32, u64 => U64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_agrees<T: Element>() {
        assert_eq!(T::DTYPE.size(), size_of::<T>(), "{}", T::DTYPE);
    }

    #[test]
    fn rust_types_have_the_size_of_their_dtype() {
        size_agrees::<u8>();
        size_agrees::<i8>();
        size_agrees::<i16>();
        size_agrees::<i32>();
        size_agrees::<i64>();
        size_agrees::<f16>();
        size_agrees::<f32>();
        size_agrees::<f64>();
        size_agrees::<Complex32>();
        size_agrees::<Complex64>();
        size_agrees::<Complex128>();
        size_agrees::<bool>();
        size_agrees::<bf16>();
        size_agrees::<u16>();
        size_agrees::<u32>();
        size_agrees::<u64>();
    }

    #[test]
    fn rows_are_stored_at_their_index() {
        for dtype in DType::all().chain([DType::QI8, DType::QU8, DType::QI32]) {
            assert_eq!(dtype.row().dtype, dtype);
            assert_eq!(DType::from_code(dtype as i32).unwrap(), dtype);
            assert_eq!(DType::from_name(dtype.name()).unwrap(), dtype);
        }
    }

    #[test]
    fn promotion_follows_torch_promote_types() {
        use DType::*;
        let cases = [
            (U8, I8, I16),
            (U8, I64, I64),
            (Bool, U8, U8),
            (I64, F16, F16),
            (F16, BF16, F32),
            (F32, BF16, F32),
            (F64, C64, C128),
            (F16, C64, C64),
            (BF16, C32, C64),
            (F32, C32, C64),
            (I64, C32, C32),
            (C32, C64, C64),
            (Bool, U16, U16),
            (U16, F32, F32),
        ];
        for (a, b, expected) in cases {
            assert_eq!(a.promote(b).unwrap(), expected, "{a} {b}");
            assert_eq!(b.promote(a).unwrap(), expected, "{b} {a}");
        }
        assert!(U16.promote(I32).is_err());
        assert!(QI8.promote(I8).is_err() && QI8.promote(QI8).is_ok());
        assert!(!QI8.can_cast(F32) && !I8.can_cast(QI8) && !QU8.is_differentiable() && !QU8.is_integral(true));
    }
}
