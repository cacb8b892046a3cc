package org.rushlight;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rushlight.internal.NativeCore;

/** The metadata part of {@link Tensor}. */
public abstract sealed class TensorMetadata extends TensorAutograd permits TensorValues {
    TensorMetadata(long handle, Runnable release) {
        super(handle, release);
    }

    /**
     * Returns the size of each dimension.
     *
     * @return the sizes
     */
    public long[] shape() {
        return read(NativeCore::sizes);
    }

    /**
     * Returns the size of one dimension.
     *
     * @param dim the dimension; negative counts from the end
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
     * Returns the number of dimensions.
     *
     * @return the number
     */
    public int dim() {
        return shape().length;
    }

    /**
     * Returns the stride of each dimension, in elements.
     *
     * @return the strides
     */
    public long[] stride() {
        return read(NativeCore::strides);
    }

    /**
     * Returns the number of elements.
     *
     * @return the number
     */
    public long numel() {
        return readLong(NativeCore::numel);
    }

    /**
     * Returns the element type.
     *
     * @return the dtype
     */
    public DType dtype() {
        return DType.of((int) readLong(NativeCore::dtype));
    }

    /**
     * Returns the layout: strided, or a sparse one.
     *
     * @return the layout
     */
    public Layout layout() {
        return Layout.of((int) readLong(NativeCore::layout));
    }

    /**
     * Returns whether this is a sparse tensor in coordinate format (COO).
     *
     * @return true if so
     */
    public boolean isSparse() {
        return layout() == Layout.SPARSE;
    }

    /**
     * Returns the number of specified elements of a sparse tensor.
     *
     * @return the number
     */
    public long nnz() {
        return readLong(NativeCore::nnz);
    }

    /**
     * Returns the number of dimensions with coordinates of a sparse tensor.
     *
     * @return the number; 0 for a strided tensor
     */
    public long sparseDim() {
        return readLong(NativeCore::sparseDim);
    }

    /**
     * Returns whether the tensor is quantized: its integers represent numbers by a scale and a zero point.
     *
     * @return true for the dtypes {@code qint8}, {@code quint8} and {@code qint32}
     */
    public boolean isQuantized() {
        return readLong(NativeCore::qscheme) >= 0;
    }

    /**
     * Returns how the integers of a quantized tensor represent numbers.
     *
     * @return the quantization scheme
     * @throws NotImplementedException if the tensor is not quantized
     */
    public QScheme qscheme() {
        int code = (int) readLong(NativeCore::qscheme);
        if (code < 0) {
            throw new NotImplementedException("qscheme: the tensor of dtype " + dtype() + " is not quantized");
        }
        return QScheme.of(code);
    }

    /**
     * Returns the number of dimensions of each value of a sparse tensor.
     *
     * @return the number
     */
    public long denseDim() {
        return readLong(NativeCore::denseDim);
    }

    /**
     * Returns whether the coordinates of a sparse tensor in coordinate format are sorted and distinct.
     *
     * @return true if so
     */
    public boolean isCoalesced() {
        return readBoolean(NativeCore::isCoalesced);
    }

    /**
     * Returns the device of the elements.
     *
     * @return the device
     */
    public Device device() {
        return Device.ofPacked((int) readLong(NativeCore::device));
    }

    /**
     * Returns the offset of the first element in the storage.
     *
     * @return the offset, in elements
     */
    public long storageOffset() {
        return readLong(NativeCore::storageOffset);
    }

    /**
     * Returns whether the tensor is contiguous: row-major without gaps.
     *
     * @return true if so
     */
    public boolean isContiguous() {
        return isContiguous(MemoryFormat.CONTIGUOUS);
    }

    /**
     * Returns whether the tensor is contiguous in a memory format.
     *
     * @param format the memory format
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
     * Returns whether this tensor is a view of another one.
     *
     * @return true for the result of a view operator
     */
    public boolean isView() {
        return readBoolean(NativeCore::isView);
    }

    /**
     * Returns whether two tensors share their storage.
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
     * Returns whether two objects refer to the same native tensor.
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
     * Returns the version counter: the number of in-place writes to the storage.
     *
     * @return the number
     */
    public long version() {
        return readLong(NativeCore::version);
    }

    /**
     * Returns the base of this view, as recorded by autograd.
     *
     * @return the base, or null if this is not a view
     */
    public @Nullable Tensor base() {
        return Tensor.wrapNullable(readLong(NativeCore::viewBase));
    }

    /**
     * Returns whether the conj bit is set: the elements are conjugated lazily. {@link #resolveConj} materializes the
     * conjugation.
     *
     * @return true if so
     */
    public boolean isConj() {
        return readBoolean(NativeCore::isConj);
    }

    /**
     * Returns whether the neg bit is set: the elements are negated lazily. {@link #resolveNeg} materializes the
     * negation.
     *
     * @return true if so
     */
    public boolean isNeg() {
        return readBoolean(NativeCore::isNeg);
    }

    /**
     * Returns dtype and device for factories: {@code Torch.zeros(shape, x.options())}.
     *
     * @return the options
     */
    public TensorOptions options() {
        return TensorOptions.of(dtype()).withDevice(device());
    }

    /**
     * Returns the number of bytes per element.
     *
     * @return the size of the dtype
     */
    public int elementSize() {
        return dtype().size();
    }

    /**
     * Returns the number of bytes of all elements, without gaps.
     *
     * @return the number of bytes
     */
    public long nbytes() {
        return numel() * elementSize();
    }

    /**
     * Returns whether the dtype is a real floating-point one.
     *
     * @return true for float16, bfloat16, float32 and float64
     */
    public boolean isFloatingPoint() {
        return dtype().isFloatingPoint();
    }

    /**
     * Returns whether the dtype is complex.
     *
     * @return true for complex32, complex64 and complex128
     */
    public boolean isComplex() {
        return dtype().isComplex();
    }

    /**
     * Returns whether the dtype can represent negative numbers.
     *
     * @return false for bool and the unsigned integers
     */
    public boolean isSigned() {
        return dtype().isSigned();
    }

    /**
     * Returns whether the elements are in host memory.
     *
     * @return true if so
     */
    public boolean isCpu() {
        return device().type() == Device.Type.CPU;
    }

    /**
     * Returns whether the elements are on an NVIDIA GPU.
     *
     * @return true if so
     */
    public boolean isCuda() {
        return device().type() == Device.Type.CUDA;
    }

    /**
     * Returns whether this is a meta tensor: a shape and a dtype without data.
     *
     * @return true if so
     */
    public boolean isMeta() {
        return device().type() == Device.Type.META;
    }

    /**
     * Returns the memory format that the order of the strides implies. It is the same for slices, which have gaps.
     *
     * @return channels last for 4 or 5 dimensions in that order, else contiguous
     */
    public MemoryFormat suggestMemoryFormat() {
        return MemoryFormat.ofCode((int) readLong(NativeCore::suggestMemoryFormat));
    }

    /**
     * Returns whether the elements fill a range of memory without gaps, each at its own address, in any order of
     * dimensions.
     *
     * @return true if the tensor is non-overlapping and dense
     */
    public boolean isNonOverlappingAndDense() {
        return readBoolean(NativeCore::isNonOverlappingAndDense);
    }

    /**
     * Returns whether both tensors have the same shape.
     *
     * @param other another tensor
     * @return true if the shapes are equal
     */
    public boolean isSameSize(Tensor other) {
        return Arrays.equals(shape(), other.shape());
    }
}
