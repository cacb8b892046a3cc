using System;
using System.Runtime.InteropServices;
using Rushlight.Interop;

namespace Rushlight {
    /// <summary>
    /// A tensor. It is freed when it is disposed of, when its <see cref="Scope"/> is closed, or at the latest by its
    /// finalizer. TensorMath.cs has the operators.
    /// </summary>
    public sealed unsafe partial class Tensor : IDisposable {
        internal TensorHandle Handle { get; }

        internal Tensor(TensorHandle handle) {
            Handle = handle;
            Scope.Add(this);
        }

        /// <summary>Frees the handle. Disposing twice is allowed.</summary>
        public void Dispose() { Handle.Dispose(); }

        // ---- Creation ----

        /// <summary>Creates a float32 tensor with a copy of the values, in row-major order.</summary>
        public static Tensor FromArray(float[] values, params long[] sizes) {
            fixed (float* data = values) {
                RushlightException.Check(Native.rlt_tensor_from_data((IntPtr)data, sizeof(float) * values.LongLength, sizes,
                    sizes.LongLength, Native.RLT_DTYPE_FLOAT32, out TensorHandle handle));
                return new Tensor(handle);
            }
        }

        /// <summary>
        /// Creates a float32 tensor over the array, without a copy: the array is pinned until the last owner of its memory is
        /// freed, and a write to it is seen by the next call.
        /// </summary>
        public static Tensor Over(float[] memory, params long[] sizes) {
            long count = 1;
            foreach (long size in sizes) count = checked(count * size);
            if (count != memory.LongLength) throw new ArgumentException($"{memory.LongLength} values for {count} elements");
            TensorOptions options = Native.RLT_TENSOR_OPTIONS_INIT;
            options.dtype = Native.RLT_DTYPE_FLOAT32;
            GCHandle pinned = GCHandle.Alloc(memory, GCHandleType.Pinned);
            int status = Native.rlt_tensor_from_blob(pinned.AddrOfPinnedObject(), sizes, null, sizes.LongLength, &options, Unpin,
                GCHandle.ToIntPtr(pinned), out TensorHandle handle);
            // A function that fails does not take ownership.
            if (status != Native.RLT_OK) pinned.Free();
            RushlightException.Check(status);
            return new Tensor(handle);
        }

        /// <summary>Static, because the library may call it at any time. A runtime that compiles ahead of time, such as
        /// Unity's IL2CPP, needs its attribute MonoPInvokeCallback here.</summary>
        static readonly TensorFromBlobDeleter Unpin = (context, data) => GCHandle.FromIntPtr(context).Free();

        /// <summary>Creates a float32 tensor of zeros.</summary>
        public static Tensor Zeros(params long[] sizes) {
            RushlightException.Check(Native.rlt_tensor_zeros(sizes, sizes.LongLength, null, out TensorHandle handle));
            return new Tensor(handle);
        }

        /// <summary>Creates a float32 tensor of ones.</summary>
        public static Tensor Ones(params long[] sizes) {
            RushlightException.Check(Native.rlt_tensor_ones(sizes, sizes.LongLength, null, out TensorHandle handle));
            return new Tensor(handle);
        }

        // ---- Metadata and values ----

        /// <summary>The sizes.</summary>
        public long[] Sizes {
            get {
                RushlightException.Check(Native.rlt_tensor_geometry(Handle, out IntPtr sizes, out _, out long ndim));
                var copy = new long[ndim];
                if (ndim > 0) Marshal.Copy(sizes, copy, 0, copy.Length);
                GC.KeepAlive(this);
                return copy;
            }
        }

        /// <summary>The value of a tensor of one element.</summary>
        public double Item() {
            RushlightException.Check(Native.rlt_tensor_item(Handle, out Scalar value));
            return value.tag == Native.RLT_SCALAR_FLOAT ? value.re : value.i;
        }

        /// <summary>A copy of the values in row-major order, converted to float32.</summary>
        public float[] ToArray() {
            RushlightException.Check(Native.rlt_tensor_to_dtype(Handle, Native.RLT_DTYPE_FLOAT32, 0, 0, null, out TensorHandle converted));
            using (converted) {
                RushlightException.Check(Native.rlt_tensor_contiguous(converted, Native.RLT_MEMORY_FORMAT_CONTIGUOUS, out TensorHandle rows));
                using (rows) {
                    RushlightException.Check(Native.rlt_tensor_numel(rows, out long count));
                    RushlightException.Check(Native.rlt_tensor_data_ptr(rows, out IntPtr data));
                    var values = new float[count];
                    if (count > 0) Marshal.Copy(data, values, 0, values.Length);
                    return values;
                }
            }
        }

        // ---- Gradients ----

        /// <summary>Whether operators record this tensor for backward.</summary>
        public bool RequiresGrad {
            get {
                RushlightException.Check(Native.rlt_tensor_requires_grad(Handle, out int on));
                return on != 0;
            }
            set { RushlightException.Check(Native.rlt_tensor_set_requires_grad(Handle, value ? 1 : 0)); }
        }

        /// <summary>The accumulated gradient; null if there is none.</summary>
        public Tensor Grad {
            get {
                RushlightException.Check(Native.rlt_tensor_grad(Handle, out TensorHandle handle));
                return handle.IsInvalid ? null : new Tensor(handle);
            }
            set { RushlightException.Check(Native.rlt_tensor_set_grad(Handle, value == null ? TensorHandle.None : value.Handle)); }
        }

        /// <summary>Computes the gradients of the leaves.</summary>
        public void Backward() { RushlightException.Check(Native.rlt_tensor_backward(Handle, TensorHandle.None, 0, 0)); }
    }

    /// <summary>Operators of the thread record nothing for backward until it is disposed of.</summary>
    public sealed class NoGrad : IDisposable {
        readonly int before;

        /// <summary>Disables recording.</summary>
        public NoGrad() {
            RushlightException.Check(Native.rlt_get_grad_enabled(out before));
            RushlightException.Check(Native.rlt_set_grad_enabled(0));
        }

        /// <summary>Restores the previous mode.</summary>
        public void Dispose() { RushlightException.Check(Native.rlt_set_grad_enabled(before)); }
    }
}
