//! Values that are passed as plain numbers. The Java side of each is in `Scalar`, `DType`, `Device` and
//! `TensorOptions`.

use jni::sys::{jboolean, jdouble, jint, jlong};
use rushlight_base::{Complex, DType, Device, DeviceType, Layout, MemoryFormat, Result, Scalar, err};
use rushlight_tensor::Options;

/// Tags of a scalar, as `org.rushlight.Scalar` has them.
const BOOL: jint = 0;
const INT: jint = 1;
const UINT: jint = 2;
const FLOAT: jint = 3;
const COMPLEX: jint = 4;

/// A number as its tag, its bits and its imaginary part.
pub(super) fn parts(scalar: Scalar) -> (jint, jlong, jdouble) {
    match scalar {
        Scalar::Bool(value) => (BOOL, jlong::from(value), 0.0),
        Scalar::Int(value) => (INT, value, 0.0),
        Scalar::UInt(value) => (UINT, value as jlong, 0.0),
        Scalar::Float(value) => (FLOAT, value.to_bits() as jlong, 0.0),
        Scalar::Complex(value) => (COMPLEX, value.re.to_bits() as jlong, value.im),
    }
}

/// A required number.
pub fn scalar(tag: jint, bits: jlong, imag: jdouble) -> Result<Scalar> {
    optional_scalar(tag, bits, imag)?.ok_or_else(|| err!(NullPointer, "a number is required"))
}

/// A number, or `None` for a negative tag.
pub fn optional_scalar(tag: jint, bits: jlong, imag: jdouble) -> Result<Option<Scalar>> {
    let real = f64::from_bits(bits as u64);
    match tag {
        ..0 => Ok(None),
        BOOL => Ok(Some(Scalar::Bool(bits != 0))),
        INT => Ok(Some(Scalar::Int(bits))),
        UINT => Ok(Some(Scalar::UInt(bits as u64))),
        FLOAT => Ok(Some(Scalar::Float(real))),
        COMPLEX => Ok(Some(Scalar::Complex(Complex::new(real, imag)))),
        _ => Err(err!(Type, "unknown scalar tag {tag}")),
    }
}

/// A value, if its flag is set.
pub fn optional<T>(there: jboolean, value: T) -> Option<T> {
    there.then_some(value)
}

/// A boolean.
pub fn flag(value: jboolean) -> bool {
    value
}

/// A boolean, or `None` for a negative number.
pub fn optional_flag(value: jint) -> Option<bool> {
    (value >= 0).then_some(value != 0)
}

/// A dtype by its number.
pub fn dtype(code: jint) -> Result<DType> {
    DType::from_code(code)
}

/// A dtype by its number, or `None` for a negative one.
pub fn optional_dtype(code: jint) -> Result<Option<DType>> {
    (code >= 0).then(|| DType::from_code(code)).transpose()
}

/// A memory format by its number.
pub fn memory_format(code: jint) -> Result<MemoryFormat> {
    MemoryFormat::from_code(code)
}

/// A memory format by its number, or `None` for a negative one.
pub fn optional_memory_format(code: jint) -> Result<Option<MemoryFormat>> {
    (code >= 0).then(|| MemoryFormat::from_code(code)).transpose()
}

/// A layout by its number, or `None` for a negative one.
pub fn optional_layout(code: jint) -> Result<Option<Layout>> {
    (code >= 0).then(|| Layout::from_code(code)).transpose()
}

/// A device: its type in bits 8 to 15, its index + 1 below.
pub fn device(packed: jint) -> Result<Device> {
    let kind = DeviceType::from_code(packed >> 8)?;
    Ok(Device { kind, index: ((packed & 0xff) - 1) as i8 })
}

/// A device, or `None` for a negative number.
pub fn optional_device(packed: jint) -> Result<Option<Device>> {
    (packed >= 0).then(|| device(packed)).transpose()
}

/// The number of a device, as [`device`] reads it.
pub fn device_code(device: Device) -> jint {
    (device.kind as jint) << 8 | (jint::from(device.index) + 1)
}

/// The options of a factory: one byte each, value + 1, 0 is unset (`TensorOptions.packed`).
pub fn options(packed: jlong) -> Result<Options> {
    let byte = |shift: u32| (packed >> shift & 0xff) as jint - 1;
    Ok(Options {
        dtype: optional_dtype(byte(0))?,
        layout: optional_layout(byte(8))?,
        device: optional_device((packed >> 16 & 0xffff) as jint - 1)?,
        pin_memory: optional_flag(byte(32)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_unpack_the_form_that_java_packs() {
        // dtype float64, device cuda:1: as `TensorOptions.packed` computes it.
        let cuda: jlong = (1 << 8 | 2) + 1;
        let packed = 8 | cuda << 16;
        let unpacked = options(packed).unwrap();
        assert_eq!(unpacked.dtype, Some(DType::F64));
        assert_eq!(unpacked.device, Some(Device::cuda(1)));
        assert_eq!((unpacked.layout, unpacked.pin_memory), (None, None));
        assert_eq!(options(0).unwrap(), Options::default());
    }

    #[test]
    fn devices_survive_the_border() {
        for there in [Device::CPU, Device::META, Device::cuda(3)] {
            assert_eq!(device(device_code(there)).unwrap(), there);
        }
        assert_eq!(optional_device(-1).unwrap(), None);
    }

    #[test]
    fn scalars_keep_their_kind() {
        assert_eq!(scalar(BOOL, 1, 0.0).unwrap(), Scalar::Bool(true));
        assert_eq!(scalar(UINT, -1, 0.0).unwrap(), Scalar::UInt(u64::MAX));
        assert_eq!(scalar(COMPLEX, 1.5f64.to_bits() as i64, 2.0).unwrap(), Scalar::Complex(Complex::new(1.5, 2.0)));
        assert_eq!(optional_scalar(-1, 0, 0.0).unwrap(), None);
        assert!(scalar(-1, 0, 0.0).is_err());
        assert!(scalar(9, 0, 0.0).is_err());
    }
}
