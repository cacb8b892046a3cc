//! The operators of Python's `&`, `|`, `^`, `<<` and `>>`.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, Scalar};

macro_rules! python {
    ($($name:ident($other:ty) -> $result:ty = $target:ident;)*) => {$(
        #[doc = concat!("`", stringify!($target), "` for the operator of Python")]
        pub fn $name(self_: &Tensor, other: $other) -> Result<$result> {
            ops::$target(self_, other)
        }
    )*};
}

python! {
    python_bitwise_and_tensor(&Tensor) -> Tensor = bitwise_and_tensor;
    python_bitwise_and_scalar(Scalar) -> Tensor = bitwise_and_scalar;
    python_bitwise_and_tensor_(&Tensor) -> () = bitwise_and_tensor_;
    python_bitwise_and_scalar_(Scalar) -> () = bitwise_and_scalar_;
    python_bitwise_or_tensor(&Tensor) -> Tensor = bitwise_or_tensor;
    python_bitwise_or_scalar(Scalar) -> Tensor = bitwise_or_scalar;
    python_bitwise_or_tensor_(&Tensor) -> () = bitwise_or_tensor_;
    python_bitwise_or_scalar_(Scalar) -> () = bitwise_or_scalar_;
    python_bitwise_xor_tensor(&Tensor) -> Tensor = bitwise_xor_tensor;
    python_bitwise_xor_scalar(Scalar) -> Tensor = bitwise_xor_scalar;
    python_bitwise_xor_tensor_(&Tensor) -> () = bitwise_xor_tensor_;
    python_bitwise_xor_scalar_(Scalar) -> () = bitwise_xor_scalar_;
    python_bitwise_left_shift_tensor(&Tensor) -> Tensor = bitwise_left_shift_tensor;
    python_bitwise_left_shift_tensor_scalar(Scalar) -> Tensor = bitwise_left_shift_tensor_scalar;
    python_bitwise_left_shift_tensor_(&Tensor) -> () = bitwise_left_shift_tensor_;
    python_bitwise_left_shift_tensor_scalar_(Scalar) -> () = bitwise_left_shift_tensor_scalar_;
    python_bitwise_right_shift_tensor(&Tensor) -> Tensor = bitwise_right_shift_tensor;
    python_bitwise_right_shift_tensor_scalar(Scalar) -> Tensor = bitwise_right_shift_tensor_scalar;
    python_bitwise_right_shift_tensor_(&Tensor) -> () = bitwise_right_shift_tensor_;
    python_bitwise_right_shift_tensor_scalar_(Scalar) -> () = bitwise_right_shift_tensor_scalar_;
}
