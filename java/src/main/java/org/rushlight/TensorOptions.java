package org.rushlight;

import org.jspecify.annotations.Nullable;

/**
 * Options of factories: dtype, device, layout, and whether gradients are required. Immutable; each {@code with} method
 * returns a changed copy. Unset options take PyTorch's defaults.
 *
 * <pre>{@code
 * Tensor a = Torch.zeros(new long[] {2, 3}, TensorOptions.of(DType.FLOAT64).withRequiresGrad(true));
 * System.out.println(a.requiresGrad()); // true
 * }</pre>
 */
public final class TensorOptions {
    /** Creates options with nothing set. */
    public static final TensorOptions DEFAULT = new TensorOptions(null, null, null, null, null);

    private final @Nullable DType dtype;
    private final @Nullable Layout layout;
    private final @Nullable Device device;
    private final @Nullable Boolean pinMemory;
    private final @Nullable Boolean requiresGrad;

    private TensorOptions(
            @Nullable DType dtype, @Nullable Layout layout, @Nullable Device device, @Nullable Boolean pinMemory,
            @Nullable Boolean requiresGrad) {
        this.dtype = dtype;
        this.layout = layout;
        this.device = device;
        this.pinMemory = pinMemory;
        this.requiresGrad = requiresGrad;
    }

    /**
     * Creates options with a dtype.
     *
     * @param dtype element type
     * @return the options
     */
    public static TensorOptions of(DType dtype) {
        return DEFAULT.withDtype(dtype);
    }

    /**
     * Creates options with a device.
     *
     * @param device the device
     * @return the options
     */
    public static TensorOptions of(Device device) {
        return DEFAULT.withDevice(device);
    }

    /**
     * Sets the element type.
     *
     * @param dtype element type, or null for the default
     * @return the changed options
     */
    public TensorOptions withDtype(@Nullable DType dtype) {
        return new TensorOptions(dtype, layout, device, pinMemory, requiresGrad);
    }

    /**
     * Sets the layout.
     *
     * @param layout layout, or null for the default
     * @return the changed options
     */
    public TensorOptions withLayout(@Nullable Layout layout) {
        return new TensorOptions(dtype, layout, device, pinMemory, requiresGrad);
    }

    /**
     * Sets the device.
     *
     * @param device device, or null for the default
     * @return the changed options
     */
    public TensorOptions withDevice(@Nullable Device device) {
        return new TensorOptions(dtype, layout, device, pinMemory, requiresGrad);
    }

    /**
     * Sets whether to use page-locked memory.
     *
     * @param pinMemory true for page-locked memory
     * @return the changed options
     */
    public TensorOptions withPinMemory(boolean pinMemory) {
        return new TensorOptions(dtype, layout, device, pinMemory, requiresGrad);
    }

    /**
     * Sets whether the tensor requires gradients.
     *
     * @param requiresGrad whether the tensor accumulates gradients
     * @return the changed options
     */
    public TensorOptions withRequiresGrad(boolean requiresGrad) {
        return new TensorOptions(dtype, layout, device, pinMemory, requiresGrad);
    }

    /** Encodes one byte per option, each value + 1 so that 0 means unset: dtype, layout, device (2 bytes), pin memory. */
    long packed() {
        long packed = dtype == null ? 0 : dtype.code() + 1;
        packed |= (layout == null ? 0L : layout.code() + 1) << 8;
        packed |= (device == null ? 0L : device.packed() + 1) << 16;
        packed |= (pinMemory == null ? 0L : pinMemory ? 2 : 1) << 32;
        return packed;
    }

    /** The last step of a factory: the native options do not include gradients. */
    static Tensor finish(TensorOptions options, Tensor tensor) {
        return options != null && Boolean.TRUE.equals(options.requiresGrad) ? tensor.requiresGrad_(true) : tensor;
    }

    static long packedOf(TensorOptions options) {
        return options == null ? 0 : options.packed();
    }
}
