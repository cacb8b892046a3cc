//! The tensor: creation from values, metadata, conversion to values. Its operators are generated.

use crate::lists::IntList;
use crate::{DType, Device, Element, ErrorKind, Layout, MemoryFormat, Result, Scalar, TensorOptions};
use rushlight_base::{bail, ensure, err};
use rushlight_tensor::ops;
use std::ffi::c_void;

/// An n-dimensional array: sizes, strides and a dtype over a storage that several tensors may share.
///
/// A tensor is a handle of one pointer. [`Clone`] adds an owner of the *same* tensor; [`deep_clone`](Tensor::deep_clone)
/// copies its elements. The memory is freed with the last owner of the storage: views and saved tensors of a graph are owners,
/// too.
///
/// Handles can be shared between threads. In-place operators take `&self`, as in PyTorch. Two threads that write to the same
/// elements at once, or one that writes what another reads, may leave wrong values in them, never invalid memory: order such
/// accesses with a lock.
///
/// Operators are methods; [the guide](crate#operators) describes their names and arguments. [`Display`](std::fmt::Display)
/// prints a tensor as PyTorch does.
#[derive(Clone)]
pub struct Tensor(pub(crate) rushlight_tensor::Tensor);

// A panic inside an operator, a bug, leaves tensors that can be used.
impl std::panic::UnwindSafe for Tensor {}
impl std::panic::RefUnwindSafe for Tensor {}

// ---- Tensors from values ----

impl Tensor {
    /// Creates a tensor with a copy of `values` in row-major order.
    ///
    /// ```
    /// # use rushlight::{DType, Tensor};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// assert_eq!((x.dtype(), x.sizes()), (DType::F32, vec![2, 2]));
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    ///
    /// # Errors
    /// Raises an error if the sizes are negative or do not have this number of elements.
    pub fn from_slice<T: Element>(values: &[T], sizes: impl IntList) -> Result<Tensor> {
        rushlight_tensor::Tensor::from_slice(values, sizes.as_ints()).map(Tensor)
    }

    /// Creates a 0-dim tensor with the dtype of the value's type.
    pub fn from_value<T: Element>(value: T) -> Result<Tensor> {
        Tensor::from_slice(&[value], [])
    }
}

impl<T: Element> TryFrom<&[T]> for Tensor {
    type Error = crate::Error;

    /// A tensor of one dimension.
    fn try_from(values: &[T]) -> Result<Tensor> {
        Tensor::from_slice(values, values.len() as i64)
    }
}

impl<T: Element> TryFrom<Vec<T>> for Tensor {
    type Error = crate::Error;

    /// A tensor of one dimension.
    fn try_from(values: Vec<T>) -> Result<Tensor> {
        Tensor::try_from(&values[..])
    }
}

impl<T: Element, const N: usize> TryFrom<[T; N]> for Tensor {
    type Error = crate::Error;

    /// A tensor of one dimension.
    fn try_from(values: [T; N]) -> Result<Tensor> {
        Tensor::try_from(&values[..])
    }
}

// ---- Metadata ----

impl Tensor {
    /// The size of each dimension.
    pub fn sizes(&self) -> Vec<i64> {
        self.0.sizes().to_vec()
    }

    /// The size of dimension `dim`; negative numbers count from the end.
    ///
    /// # Errors
    /// Raises an error if there is no such dimension.
    pub fn size(&self, dim: i64) -> Result<i64> {
        let sizes = self.0.sizes();
        let size = sizes.get(rushlight_base::wrap_dim(dim, sizes.len())?).copied();
        size.ok_or_else(|| err!(Index, "Dimension specified as {dim} but tensor has no dimensions"))
    }

    /// The stride of each dimension, in elements.
    pub fn strides(&self) -> Vec<i64> {
        self.0.strides().to_vec()
    }

    /// Offset of the first element in the storage, in elements.
    pub fn storage_offset(&self) -> i64 {
        self.0.storage_offset()
    }

    /// The number of dimensions.
    pub fn ndim(&self) -> usize {
        self.0.ndim()
    }

    /// The number of elements.
    pub fn numel(&self) -> i64 {
        self.0.numel()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.0.dtype()
    }

    /// The device.
    pub fn device(&self) -> Device {
        self.0.device()
    }

    /// The layout.
    pub fn layout(&self) -> Layout {
        self.0.layout()
    }

    /// Dtype, layout and device, for another tensor.
    pub fn options(&self) -> TensorOptions {
        TensorOptions {
            dtype: Some(self.dtype()),
            layout: Some(self.layout()),
            device: Some(self.device()),
            pin_memory: None,
        }
    }

    /// Whether the elements are stored in row-major order without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.is_contiguous_in(MemoryFormat::Contiguous)
    }

    /// Whether the tensor is contiguous in a memory format.
    pub fn is_contiguous_in(&self, format: MemoryFormat) -> bool {
        self.0.is_contiguous(format)
    }

    /// Whether this tensor is a view of another one.
    pub fn is_view(&self) -> bool {
        self.0.is_view()
    }

    /// Whether both handles are the same tensor.
    pub fn is_same(&self, other: &Tensor) -> bool {
        self.0.is(&other.0)
    }

    /// The number of in-place writes so far.
    pub fn version(&self) -> u32 {
        self.0.version()
    }

    /// The address of the first element, for code in other languages; null on the meta device. It is valid until the tensor is
    /// resized, its data are replaced or its storage is freed.
    pub fn data_ptr(&self) -> *mut c_void {
        self.0.data_ptr()
    }

    /// The tensor on another device; the same tensor if it is there.
    ///
    /// # Errors
    /// Raises an error if there is no such device or not enough memory.
    pub fn on(&self, device: Device) -> Result<Tensor> {
        let options = rushlight_tensor::Options { device: Some(device), ..Default::default() };
        ops::to_dtype_layout(&self.0, options, false, false, None).map(Tensor)
    }

    /// Replaces dtype, sizes and elements by those of `other`, with which it shares its storage then. The gradient stays.
    ///
    /// # Errors
    /// Raises an error if the layouts differ, or if the tensor requires a gradient and `other` has a dtype without gradients.
    pub fn set_data(&self, other: &Tensor) -> Result<()> {
        self.0.set_data(&other.0)
    }
}

// ---- Values ----

impl Tensor {
    /// The only element, as a number.
    ///
    /// # Errors
    /// Raises an error if the tensor does not have one element, or has no data.
    pub fn item(&self) -> Result<Scalar> {
        self.0.item()
    }

    /// A copy of the elements in row-major order. `T` must be the tensor's dtype; convert with [`to`](Tensor::to) before.
    ///
    /// # Errors
    /// Raises an error if `T` is the type of another dtype, or if the tensor has no data.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.strided("to_vec")?;
        self.0.to_vec()
    }

    /// Copies the elements in row-major order into `values`.
    ///
    /// # Errors
    /// Raises an error if `T` is the type of another dtype, or if `values` has another length.
    pub fn copy_to_slice<T: Element>(&self, values: &mut [T]) -> Result<()> {
        let (count, length) = (self.numel(), values.len());
        ensure!(count == length as i64, Value, "a tensor of {count} elements cannot be copied to a slice of {length}");
        values.copy_from_slice(&self.to_vec()?);
        Ok(())
    }

    fn strided(&self, method: &str) -> Result<()> {
        if self.layout() != Layout::Strided {
            bail!(Runtime, "{method} needs a strided tensor but got {}: call to_dense() first", self.layout().name());
        }
        Ok(())
    }
}

impl<T: Element> TryFrom<&Tensor> for Vec<T> {
    type Error = crate::Error;

    /// [`Tensor::to_vec`]
    fn try_from(tensor: &Tensor) -> Result<Vec<T>> {
        tensor.to_vec()
    }
}

macro_rules! from_item {
    ($($type:ty: $scalar:ident => $value:expr;)*) => {$(
        impl TryFrom<&Tensor> for $type {
            type Error = crate::Error;

            /// The only element, converted. An error if the tensor has another number of elements, or if a complex number
            /// would lose its imaginary part.
            fn try_from(tensor: &Tensor) -> Result<$type> {
                let $scalar = tensor.item()?;
                if let Scalar::Complex(value) = $scalar && value.im != 0.0 {
                    let message = format!("{value} cannot be converted to {}", stringify!($type));
                    return Err(crate::Error::new(ErrorKind::Value, message));
                }
                Ok($value)
            }
        }
    )*};
}

from_item! {
    f64: scalar => scalar.to_f64();
    f32: scalar => scalar.to_f64() as f32;
    i64: scalar => scalar.to_i64();
    bool: scalar => scalar.to_bool();
}
