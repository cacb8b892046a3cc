using Rushlight.Interop;

namespace Rushlight {
    public sealed unsafe partial class Tensor {
        static Scalar Number(double value) { return new Scalar { tag = Native.RLT_SCALAR_FLOAT, re = value }; }

        static Scalar Number(long value) { return new Scalar { tag = Native.RLT_SCALAR_INT, i = value }; }

        static Tensor Returned(int status, TensorHandle result) {
            RushlightException.Check(status);
            return new Tensor(result);
        }

        // ---- Operators of C# ----

        /// <summary>Adds element-wise.</summary>
        public static Tensor operator +(Tensor self, Tensor other) {
            Scalar one = Number(1);
            return Returned(Native.rlt_tensor_add_Tensor(self.Handle, other.Handle, &one, out TensorHandle result), result);
        }

        /// <summary>Adds a number to each element.</summary>
        public static Tensor operator +(Tensor self, double other) {
            Scalar number = Number(other), one = Number(1);
            return Returned(Native.rlt_tensor_add_Scalar(self.Handle, &number, &one, out TensorHandle result), result);
        }

        /// <summary>Subtracts element-wise.</summary>
        public static Tensor operator -(Tensor self, Tensor other) {
            Scalar one = Number(1);
            return Returned(Native.rlt_tensor_sub_Tensor(self.Handle, other.Handle, &one, out TensorHandle result), result);
        }

        /// <summary>Negates each element.</summary>
        public static Tensor operator -(Tensor self) {
            return Returned(Native.rlt_tensor_neg(self.Handle, out TensorHandle result), result);
        }

        /// <summary>Multiplies element-wise.</summary>
        public static Tensor operator *(Tensor self, Tensor other) {
            return Returned(Native.rlt_tensor_mul_Tensor(self.Handle, other.Handle, out TensorHandle result), result);
        }

        /// <summary>Multiplies each element by a number.</summary>
        public static Tensor operator *(Tensor self, double other) {
            Scalar number = Number(other);
            return Returned(Native.rlt_tensor_mul_Scalar(self.Handle, &number, out TensorHandle result), result);
        }

        // ---- Functions ----

        /// <summary>The matrix product.</summary>
        public Tensor Matmul(Tensor other) {
            return Returned(Native.rlt_tensor_matmul(Handle, other.Handle, out TensorHandle result), result);
        }

        /// <summary>A linear layer; <paramref name="bias"/> may be null.</summary>
        public Tensor Linear(Tensor weight, Tensor bias) {
            TensorHandle optional = bias == null ? TensorHandle.None : bias.Handle;
            return Returned(Native.rlt_tensor_linear(Handle, weight.Handle, optional, out TensorHandle result), result);
        }

        /// <summary>The maximum of each element and 0.</summary>
        public Tensor Relu() { return Returned(Native.rlt_tensor_relu(Handle, out TensorHandle result), result); }

        /// <summary>The mean of all elements.</summary>
        public Tensor Mean() { return Returned(Native.rlt_tensor_mean(Handle, null, out TensorHandle result), result); }

        /// <summary>The index of the largest element along a dimension.</summary>
        public Tensor Argmax(long dim) {
            return Returned(Native.rlt_tensor_argmax(Handle, &dim, 0, out TensorHandle result), result);
        }

        /// <summary>The sums over dimensions.</summary>
        public Tensor Sum(params long[] dims) {
            return Returned(
                Native.rlt_tensor_sum_dim_IntList(Handle, dims, dims.LongLength, 0, null, out TensorHandle result), result);
        }

        /// <summary>Concatenates tensors along a dimension.</summary>
        public static Tensor Cat(long dim, params Tensor[] tensors) {
            using (var handles = new HandleArray(tensors)) {
                return Returned(
                    Native.rlt_tensor_cat(handles.Addresses, handles.Addresses.LongLength, dim, out TensorHandle result), result);
            }
        }

        /// <summary>Subtracts another tensor, multiplied by a number, in place.</summary>
        public Tensor Sub_(Tensor other, double alpha) {
            Scalar scale = Number(alpha);
            RushlightException.Check(Native.rlt_tensor_sub_Tensor_(Handle, other.Handle, &scale));
            return this;
        }
    }
}
