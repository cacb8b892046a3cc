package org.rushlight;

import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;

/** The part of {@link Tensor} that says what a tensor is. */
public abstract sealed class TensorMetadata extends TensorAutograd permits TensorValues {
    TensorMetadata(long handle, Runnable release) {
        super(handle, release);
    }

    /**
     * Size of each dimension.
     *
     * @return the sizes
     */
    public long[] shape() {
        Tensor.acquire(self());
        try {
            return NativeCore.sizes(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Size of one dimension.
     *
     * @param dim dimension, negative counts from the end
     * @return its size
     */
    public long size(long dim) {
        long[] shape = shape();
        long index = dim < 0 ? dim + shape.length : dim;
        if (index < 0 || index >= shape.length) {
            throw new TensorIndexException("Dimension out of range (expected to be in range of [" + -Math.max(shape.length, 1) + ", "
                + (Math.max(shape.length, 1) - 1) + "], but got " + dim + ")");
        }
        return shape[(int) index];
    }

    /**
     * Number of dimensions.
     *
     * @return the number
     */
    public int dim() {
        return shape().length;
    }

    /**
     * Distance of neighbours in each dimension, in elements.
     *
     * @return the strides
     */
    public long[] stride() {
        Tensor.acquire(self());
        try {
            return NativeCore.strides(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Number of elements.
     *
     * @return the number
     */
    public long numel() {
        Tensor.acquire(self());
        try {
            return NativeCore.numel(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Element type.
     *
     * @return the dtype
     */
    public DType dtype() {
        Tensor.acquire(self());
        try {
            return DType.of(NativeCore.dtype(self().handle()));
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Where the elements live.
     *
     * @return the device
     */
    public Device device() {
        Tensor.acquire(self());
        try {
            return Device.ofPacked(NativeCore.device(self().handle()));
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Position of the first element in the storage.
     *
     * @return the offset, in elements
     */
    public long storageOffset() {
        Tensor.acquire(self());
        try {
            return NativeCore.storageOffset(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Do the elements lie in row-major order without gaps?
     *
     * @return true if so
     */
    public boolean isContiguous() {
        return isContiguous(MemoryFormat.CONTIGUOUS);
    }

    /**
     * Do the elements lie in an order without gaps?
     *
     * @param format the order
     * @return true if so
     */
    public boolean isContiguous(MemoryFormat format) {
        Tensor.acquire(self());
        try {
            return NativeCore.isContiguous(self().handle(), MemoryFormat.codeOf(format));
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Does this tensor share the elements of another one that it was made from?
     *
     * @return true for the result of a view operator
     */
    public boolean isView() {
        Tensor.acquire(self());
        try {
            return NativeCore.isView(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Do two tensors share their storage?
     *
     * @param other another tensor
     * @return true if so
     */
    public boolean isAliasOf(Tensor other) {
        Tensor.acquire(self(), other);
        try {
            return NativeCore.isAlias(self().handle(), other.handle());
        } finally {
            Tensor.release(self(), other);
        }
    }

    /**
     * Do two objects stand for the same native tensor?
     *
     * @param other another tensor
     * @return true if so
     */
    public boolean isSame(Tensor other) {
        Tensor.acquire(self(), other);
        try {
            return self().handle() == other.handle();
        } finally {
            Tensor.release(self(), other);
        }
    }

    /**
     * How often the storage was written in place.
     *
     * @return the number
     */
    public long version() {
        Tensor.acquire(self());
        try {
            return NativeCore.version(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * The tensor that this one is a view of, recorded for gradients.
     *
     * @return the base, or null for what is no view
     */
    public @Nullable Tensor base() {
        Tensor.acquire(self());
        try {
            return Tensor.wrapNullable(NativeCore.viewBase(self().handle()));
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Are the elements the conjugates of what is stored? {@link #resolve_conj} carries that out.
     *
     * @return true if so
     */
    public boolean isConj() {
        Tensor.acquire(self());
        try {
            return NativeCore.isConj(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Are the elements the negatives of what is stored? {@link #resolve_neg} carries that out.
     *
     * @return true if so
     */
    public boolean isNeg() {
        Tensor.acquire(self());
        try {
            return NativeCore.isNeg(self().handle());
        } finally {
            Tensor.release(self());
        }
    }

    /**
     * Dtype and device, as factories take them: {@code Torch.zeros(shape, x.options())}.
     *
     * @return the options
     */
    public TensorOptions options() {
        return TensorOptions.of(dtype()).withDevice(device());
    }

    /**
     * Bytes per element.
     *
     * @return the size of the dtype
     */
    public int elementSize() {
        return dtype().size();
    }

    /**
     * Bytes of all elements, as if they lay without gaps.
     *
     * @return the number of bytes
     */
    public long nbytes() {
        return numel() * elementSize();
    }

    /**
     * Is the dtype a real floating-point one?
     *
     * @return true for float16, bfloat16, float32 and float64
     */
    public boolean isFloatingPoint() {
        return dtype().isFloatingPoint();
    }

    /**
     * Is the dtype a complex one?
     *
     * @return true for complex32, complex64 and complex128
     */
    public boolean isComplex() {
        return dtype().isComplex();
    }

    /**
     * Can the dtype hold negative numbers?
     *
     * @return false for bool and the unsigned integers
     */
    public boolean isSigned() {
        return dtype().isSigned();
    }

    /**
     * Are the elements in host memory?
     *
     * @return true if so
     */
    public boolean isCpu() {
        return device().type() == Device.Type.CPU;
    }

    /**
     * Are the elements on an NVIDIA GPU?
     *
     * @return true if so
     */
    public boolean isCuda() {
        return device().type() == Device.Type.CUDA;
    }

    /**
     * Is this a shape and a dtype without data?
     *
     * @return true if so
     */
    public boolean isMeta() {
        return device().type() == Device.Type.META;
    }

    /**
     * The order of dimensions that results should have to be as this tensor is.
     *
     * @return channels last for 4 or 5 dimensions that lie so, else row-major
     */
    public MemoryFormat suggestMemoryFormat() {
        MemoryFormat channelsLast = switch (dim()) {
            case 4 -> MemoryFormat.CHANNELS_LAST;
            case 5 -> MemoryFormat.CHANNELS_LAST_3D;
            default -> MemoryFormat.CONTIGUOUS;
        };
        return !isContiguous() && isContiguous(channelsLast) ? channelsLast : MemoryFormat.CONTIGUOUS;
    }
}
