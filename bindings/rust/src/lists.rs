//! Lists as arguments: of integers, such as sizes and dimensions, and of tensors.

use crate::Tensor;
use std::borrow::Borrow;

mod sealed {
    pub trait Sealed {}
}

/// A list of integers as an argument: an integer (a list of one), an array, a slice or a `Vec` of `i64`.
///
/// ```
/// # use rushlight::Tensor;
/// let x = Tensor::zeros([2, 3])?;
/// assert_eq!(x.permute(vec![1, 0])?.sizes(), [3, 2]);
/// assert_eq!(x.reshape(-1)?.sizes(), [6]);
/// # Ok::<(), rushlight::Error>(())
/// ```
pub trait IntList: sealed::Sealed {
    /// The integers.
    fn as_ints(&self) -> &[i64];
}

/// A list of integers or `None` as an argument. `None` often means all dimensions.
///
/// ```
/// # use rushlight::Tensor;
/// let x = Tensor::ones([2, 3])?;
/// assert_eq!(x.sum_dim(0)?.sizes(), [3]);
/// assert_eq!(x.sum_dim([0, 1])?.item()?.to_f64(), 6.0);
/// assert_eq!(x.sum_dim(None)?.item()?.to_f64(), 6.0);
/// # Ok::<(), rushlight::Error>(())
/// ```
pub trait OptionalIntList: sealed::Sealed {
    /// The integers, if there is a list.
    fn as_optional_ints(&self) -> Option<&[i64]>;
}

macro_rules! int_lists {
    ($([$($generics:tt)*] $type:ty: $self:ident => $list:expr;)*) => {$(
        impl<$($generics)*> sealed::Sealed for $type {}

        impl<$($generics)*> IntList for $type {
            #[inline]
            fn as_ints(&$self) -> &[i64] {
                $list
            }
        }

        impl<$($generics)*> OptionalIntList for $type {
            #[inline]
            fn as_optional_ints(&$self) -> Option<&[i64]> {
                Some($list)
            }
        }
    )*};
}

int_lists! {
    [] i64: self => std::slice::from_ref(self);
    [] Vec<i64>: self => self;
    [] &Vec<i64>: self => self;
    [] &[i64]: self => self;
    [const N: usize] [i64; N]: self => self;
    [const N: usize] &[i64; N]: self => *self;
}

impl sealed::Sealed for Option<&[i64]> {}

impl OptionalIntList for Option<&[i64]> {
    #[inline]
    fn as_optional_ints(&self) -> Option<&[i64]> {
        *self
    }
}

/// The tensors as the operators take them.
pub(crate) fn references(tensors: &[impl Borrow<Tensor>]) -> Vec<&rushlight_tensor::Tensor> {
    tensors.iter().map(|tensor| &tensor.borrow().0).collect()
}

/// The optional tensors as the operators take them.
pub(crate) fn optional_references(tensors: &[Option<impl Borrow<Tensor>>]) -> Vec<Option<&rushlight_tensor::Tensor>> {
    tensors.iter().map(|tensor| tensor.as_ref().map(|tensor| &tensor.borrow().0)).collect()
}

/// The tensors that an operator returned.
pub(crate) fn tensors(list: Vec<rushlight_tensor::Tensor>) -> Vec<Tensor> {
    list.into_iter().map(Tensor).collect()
}
