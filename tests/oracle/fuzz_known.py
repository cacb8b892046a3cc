"""What the random calls of fuzz_torch.py leave out, and the differences from PyTorch that are expected."""

import math
import re

import torch

# Operators whose results are arbitrary, or that change more than their arguments, by a pattern of their names.
SKIPPED = {
    r"empty.*|new_empty.*|resize.*|_empty.*|as_strided.*": "uninitialized memory",
    r"rand.*|.*dropout.*|bernoulli.*|multinomial|normal.*|poisson|binomial|_sample.*|_standard.*|rrelu.*|_rrelu.*": "random numbers",
    r"from_file|set_.*|record_stream|_fused.*|pin_memory": "not a function of tensors",
    r"fractional_max_pool.*|_scaled_dot.*|lstm.*|gru.*|rnn_.*|quantized.*": "arguments that random ones never fit",
}


def tensors(args, kwargs):
    return [value for value in [*args, *kwargs.values()] if isinstance(value, torch.Tensor)]


def given(args, kwargs, at, name, default=None):
    return args[at] if at < len(args) else kwargs.get(name, default)


def broadcasts_a_mean(args, kwargs):
    """Whether tensors of different shapes are compared, and losses are averaged."""
    numbers = [value for value in (*args[2:], *kwargs.values()) if isinstance(value, int)]
    return (1 in numbers or not numbers) and len({value.shape for value in tensors(args, kwargs)}) > 1


def is_one_wide(args, kwargs):
    """Whether an image of bytes is resized to columns of one element."""
    return args[0].dtype == torch.uint8 and list(given(args, kwargs, 1, "output_size", [0]) or [0])[-1] == 1


def is_complex_and_not_finite(args, kwargs):
    return any(value.is_complex() and not value.isfinite().all() for value in tensors(args, kwargs))


def has_nan(args, kwargs):
    return any(bool(value.isnan().any()) for value in tensors(args, kwargs))


def has_equal_elements(args, kwargs):
    return args[0].unique().numel() < args[0].numel()


def has_equal_elements_anywhere(args, kwargs):
    return any(value.unique().numel() < value.numel() for value in tensors(args, kwargs))


def is_not_stable(args, kwargs):
    is_stable = args[1] if len(args) > 1 and isinstance(args[1], bool) else kwargs.get("stable")
    return not is_stable and has_equal_elements(args, kwargs)


def is_wide(args, kwargs):
    """Whether numbers are so large that sums in another order lose or overflow."""
    return any(not value.isfinite().all() or value.abs().max() > 1e8 for value in tensors(args, kwargs) if value.numel())


def is_integral_and_empty(args, kwargs):
    return args[0].numel() == 0 and not args[0].is_floating_point()


def has_huge_exponents(args, kwargs):
    return any(bool((value.double().abs() >= 2**31).any()) for value in tensors(args, kwargs)[1:])


def hides_its_input(args, kwargs):
    return min(given(args, kwargs, 2, "scale", 1), given(args, kwargs, 3, "input_scale", 1)) < 0 or not math.isfinite(given(args, kwargs, 1, "alpha", 1))


def has_no_elements(args, kwargs):
    lists = [value for value in (*args, *kwargs.values()) if isinstance(value, (list, tuple))]
    return any(value.numel() == 0 for value in tensors(args, kwargs)) or any(0 in value for value in lists if all(isinstance(size, int) for size in value))


def is_near_0(args, kwargs):
    return bool((args[0].abs() < 0.05).any())


def overflows_powers(args, kwargs):
    return is_complex_and_not_finite(args, kwargs) or any(isinstance(value, float) and value < 1e-3 for value in args[1:])


def has_infinities(args, kwargs):
    return any(bool(value.isinf().any()) for value in tensors(args, kwargs))


def has_negative(args, kwargs):
    return bool((args[0] < 0).any())


def writes_twice(args, kwargs):
    places = args[1] % args[0].numel()
    return places.unique().numel() < places.numel()


def divides_complex_by_zero(args, kwargs):
    spacing = given(args, kwargs, 1, "spacing")
    spacing = spacing if isinstance(spacing, list) else [spacing]
    return 0 in spacing and (args[0].is_complex() or any(isinstance(value, complex) for value in spacing))


def is_complex_power(args, kwargs):
    """Whether a complex zero, or complex numbers that are not finite, are raised to a power."""
    values = [torch.as_tensor(value) for value in args if isinstance(value, (torch.Tensor, int, float, complex))]
    is_complex = torch.complex64 in kwargs.values() or torch.complex128 in kwargs.values() or any(value.is_complex() for value in values)
    return is_complex and any(bool((~value.isfinite() | (value == 0)).any()) for value in values)


def has_high_order(args, kwargs):
    return any(isinstance(value, int) and value > 20 for value in args)


def has_negative_beta(args, kwargs):
    return given(args, kwargs, 4, "beta") < 0


def overflows_exponential(args, kwargs):
    beta, threshold = float(given(args, kwargs, 2, "beta")), float(given(args, kwargs, 3, "threshold"))
    return not math.isfinite(beta) or threshold > 88


# Expected differences: a pattern of "operator: reason", why, and of which calls. Where PyTorch's own result is wrong,
# undefined or depends on the processor, the reason says so.
KNOWN = [
    (
        r": no error instead of '.*(not implemented|not differentiable|does not support automatic differentiation)",
        "PyTorch has no kernel for the dtype, or no derivative; Rushlight has", None,
    ),
    (
        r": no error instead of '.*(INTERNAL ASSERT FAILED|MKL FFT error|Could not run|itensor_view_from_dense)",
        "PyTorch fails internally", None,
    ),
    (
        r"^aten::(linalg_|svd|eig|qr|lu_|cholesky|pinv|lstsq|ormqr|orgqr|geqrf|ldl)[^:]*: (result|gradient|argument)",
        "factors of random matrices are determined up to signs and rounding", None,
    ),
    (
        r"^aten::logical_\w+_: gradient",
        "PyTorch does not record these writes: it returns the gradient of the value before, not 0", None,
    ),
    (
        r"^aten::(mse|smooth_l1|huber)_loss(_backward)?: (result|gradient)",
        "PyTorch divides the gradient of a mean by the elements of `self` before it is broadcast", broadcasts_a_mean,
    ),
    (
        r"^aten::upsample_bi(cubic|linear)2d",
        "PyTorch confuses the two passes over bytes, or fails an internal assertion", is_one_wide,
    ),
    (
        r"^aten::((relu6|hardtanh|elu|selu|celu|hardswish|softshrink)_?: gradient|(softshrink|hardswish)_backward\b)",
        "in PyTorch the gradient at NaN depends on the position of the element in a vector register", has_nan,
    ),
    (
        r"^aten::elu_: gradient",
        "PyTorch takes the input from the result, which a negative scale or an infinite alpha changes", hides_its_input,
    ),
    (
        r"^aten::(nan)?median\.dim: result 1",
        "which of several equal elements is the median is not defined", has_equal_elements,
    ),
    (
        r"^aten::(sort(\.\w+)?: (result 1|gradient|argument)|argsort(\.\w+)?: (result|argument))",
        "the order of equal elements is not defined unless the sort is stable", is_not_stable,
    ),
    (
        r"^aten::(nan)?median: result",
        "PyTorch converts NaN to an integer, which C++ does not define", is_integral_and_empty,
    ),
    (
        r"^aten::(unfold_backward: (call|no error)|choose_qparams_optimized: call)",
        "PyTorch does not check the shapes or numbers, and reads memory beyond the tensors", None,
    ),
    (
        r"^aten::fft_[\w.]+: (result|gradient|argument)",
        "the order of the sums in a Fourier transform decides which results infinities reach, and what is lost beside them", is_wide,
    ),
    (
        r"^aten::cumprod_?: (result|gradient)",
        "which parts of a complex product with an infinite factor are NaN depends on the order", is_complex_and_not_finite,
    ),
    (
        r"^aten::(special_)?log1p_?: (result|gradient)",
        "PyTorch's log1p of some numbers with an infinite part is NaN, depending on the rounding of the other part", is_complex_and_not_finite,
    ),
    (
        r"^aten::softplus_backward: (result|gradient)",
        "PyTorch divides e^(beta x) by 1 + e^(beta x), which overflows for large thresholds", overflows_exponential,
    ),
    (
        r"^aten::pow_?[.:].*(result|gradient)",
        "PyTorch's vectorized power loses the parity of exponents from 2^31 on", has_huge_exponents,
    ),
    (
        r": no error instead of '(one of the variables needed for gradient computation has been modified|Function \w+ returned an "
        r"invalid gradient|\w+\(\): functions with out=|(Negation|Subtraction), the `-` operator, (on|with) a bool|masked_scatter: expected self and |Expected isFloatingType|The input size \d+, plus "
        r"negative padding|cannot reshape tensor of 0 elements|adaptive_\w+_backward\(\): Expected grad_output to have non-zero)",
        "PyTorch's derivative fails", None,
    ),
    (
        r"^aten::((mse_loss|smooth_l1_loss|huber_loss): no error instead of 'Found dtype|addcdiv: no error instead of 'result type)",
        "PyTorch promotes the inputs, but its derivative fails", None,
    ),
    (
        r"^aten::[\w.]+: call: .*contained non-finite values",
        "LAPACK returns NaN for some infinite matrices; Rushlight fails as it does for others", None,
    ),
    (
        r"^aten::(elu|celu|leaky_relu)_: no error instead of 'In-place",
        "PyTorch computes the gradient from the result, which does not determine the input; Rushlight keeps the input", None,
    ),
    (
        r"^aten::slice_inverse: (gradient|no error)",
        "PyTorch differentiates a slice of `self`, although `src` decides alone which elements the result has", None,
    ),
    (
        r"^aten::(triu|tril|conj_physical|index_fill|nan_to_num|_foreach_\w+)_\b.*: call: unsupported operation: more than one element",
        "PyTorch's own loops do not check whether elements share memory: the result depends on the order of the writes", None,
    ),
    (
        r"^aten::take_along_dim: no error instead of 'view size",
        "PyTorch views a tensor whose strides do not allow it", None,
    ),
    (
        r"^aten::addr_?: no error instead of 'expected scalar type",
        "PyTorch promotes the inputs, but its derivative fails", None,
    ),
    (
        r"^aten::special_log_ndtr_?: gradient",
        "PyTorch adds infinities of opposite signs, or numbers that cancel", is_wide,
    ),
    (
        r"^aten::(special_)?sinc_?: gradient",
        "near 0 the difference of the formula cancels", is_near_0,
    ),
    (
        r"^aten::nuclear_norm\b.*: gradient",
        "factors of random matrices are determined up to signs and rounding", None,
    ),
    (
        r"^aten::lu_unpack\b.*: call: torch.lu_unpack: LU_pivots of shape",
        "PyTorch does not check the shape of the pivots, and reads other memory", None,
    ),
    (
        r"^aten::(adaptive_max_pool3d\.out|adaptive_avg_pool3d_backward\.grad_input|narrow_copy\.out): (result|argument)",
        "PyTorch ignores the strides of the output", None,
    ),
    (
        r"^aten::(max_pool[23]d_with_indices|conv\w+|_?convolution)\b.*: no error instead of '(integer out of range|could not create a primitive)",
        "PyTorch's library of kernels fails", None,
    ),
    (
        r"^aten::grid_sampler\w*: call: .*is not an? (padding|interpolation) mode",
        "PyTorch does not check the modes", None,
    ),
    (
        r"^aten::(huber_loss|hinge_embedding_loss|\w+_loss)\b.*: call: -?\d+ is not a valid value for reduction",
        "PyTorch takes unknown numbers for no reduction in composites", None,
    ),
    (
        r"^aten::(logaddexp|pdist)\b.*: gradient",
        "PyTorch's formula multiplies 0 by infinity, or divides infinities", overflows_powers,
    ),
    (
        r"^aten::scatter_add_?: backward",
        "PyTorch checks the dtype of an index in kernels, which do not run without elements", has_no_elements,
    ),
    (
        r"^aten::_foreach_\w+\b.*: no error instead of 'inconsistent range for TensorList|: no error instead of '(Expected a proper Tensor but got None|\w+_backward: The)",
        "PyTorch's derivative fails", None,
    ),
    (
        r": no error instead of '(view size is not compatible|setStorage: sizes)",
        "PyTorch views a tensor whose strides or storage do not allow it", None,
    ),
    (
        r"^aten::(special_)?sinc_?: gradient",
        "PyTorch divides overflowing terms", is_wide,
    ),
    (
        r"^aten::(_foreach_addcmul|_foreach_addcdiv|_foreach_lerp|lerp)_?\b.*: (gradient|result|argument)",
        "which parts of complex numbers with an infinite part are NaN depends on the formula", is_complex_and_not_finite,
    ),
    (
        r"^aten::fft_ihfft[2n]\.out",
        "PyTorch does not write the output", None,
    ),
    (
        r"^aten::_(log_)?softmax_backward_data: call",
        "PyTorch does not check the dtype of this inner operator", None,
    ),
    (
        r"^aten::kron: no error instead of 'view size",
        "PyTorch views a product whose strides do not allow it", None,
    ),
    (
        r"^aten::soft_margin_loss: no error instead of 'output with shape",
        "PyTorch's derivative does not broadcast", None,
    ),
    (
        r"^aten::polar: gradient",
        "PyTorch takes the direction from the sign of the result, which a negative absolute value changes", has_negative,
    ),
    (
        r"^aten::gelu_?(\.out)?: result",
        "oneDNN, which PyTorch calls for contiguous tensors, returns NaN for infinity", has_infinities,
    ),
    (
        r": call: .*(not implemented for|input dtype should be|expected scalar type|does not support complex|can't be cast|index out of range|Dimension out of range|Expected reduction dim)",
        "PyTorch checks dtypes and indices in kernels, which do not run without elements", has_no_elements,
    ),
    (
        r"^aten::(var|std)_mean\b.*: result 1",
        "PyTorch updates a mean with each element: it is NaN or not, depending on the place of the infinity", is_wide,
    ),
    (
        r"^aten::isin\.Tensor_Tensor: result",
        "`assume_unique` promises distinct elements", has_equal_elements_anywhere,
    ),
    (
        r"^aten::polygamma_?: (result|gradient)",
        "PyTorch multiplies a factorial that overflows by a sum that underflows", has_high_order,
    ),
    (
        r"^aten::smooth_l1_loss_backward: result",
        "the loss is not defined for a negative beta, which PyTorch checks in the forward pass only", has_negative_beta,
    ),
    (
        r"^aten::huber_loss: no error instead of 'result type",
        "PyTorch promotes the inputs, but its derivative fails", None,
    ),
    (
        r"^aten::embedding_dense_backward: call: index out of range",
        "PyTorch ignores rows beyond the matrix", None,
    ),
    (
        r"^aten::put_?: (result|gradient)",
        "which of several writes to an element is the last one is not defined", writes_twice,
    ),
    (
        r"^aten::native_channel_shuffle:",
        "PyTorch does not check the number of groups, and returns uninitialized memory", None,
    ),
    (
        r"^aten::logcumsumexp: gradient",
        "PyTorch adds the logarithm of the gradient to the elements: large ones absorb it", is_wide,
    ),
    (
        r"^aten::(logsumexp|poisson_nll_loss): (result|gradient)",
        "which parts of complex numbers with an infinite part are NaN depends on the formula", is_complex_and_not_finite,
    ),
    (
        r"^aten::gradient\b.*: result",
        "which parts of a complex quotient by 0 are NaN depends on the position in a vector register", divides_complex_by_zero,
    ),
    (
        r"^aten::(pow|float_power|logspace)_?\b.*: (result|gradient)",
        "PyTorch computes complex powers as e^(y ln x), which is NaN for 0^0; Rushlight returns 1", is_complex_power,
    ),
    (
        r"^aten::binary_cross_entropy_backward: gradient of 2",
        "PyTorch divides the gradient of a mean by the elements of `target` before it is broadcast", None,
    ),
    (
        r"^aten::tensordot\b",
        "which parts of a complex product with an infinite factor are NaN depends on the BLAS", is_complex_and_not_finite,
    ),
]  # fmt: skip
# Calls that would end this process, or whose result depends on an element's position in a vector register.
AVOIDED = {
    # PyTorch writes rows of another length, or of an output with other strides.
    "tril": lambda args, kwargs: "out" in kwargs and not (kwargs["out"].is_contiguous() and kwargs["out"].shape == args[0].shape),
    "triu": lambda args, kwargs: "out" in kwargs and not (kwargs["out"].is_contiguous() and kwargs["out"].shape == args[0].shape),
    # PyTorch does not check the dimensions, and reads and writes other memory.
    "affine_grid_generator_backward": lambda args, kwargs: len(given(args, kwargs, 1, "size")) not in (4, 5),
    "conv_tbc_backward": lambda args, kwargs: [value.ndim for value in tensors(args, kwargs)] != [3, 3, 3, 1],
    "native_channel_shuffle": lambda args, kwargs: args[0].ndim < 3 or args[1] <= 0 or args[0].shape[1] % args[1] != 0,
    "matrix_exp_backward": lambda args, kwargs: any(value.ndim < 2 for value in tensors(args, kwargs)),
    # PyTorch reads a second dimension that is not there.
    "linalg_matrix_norm": lambda args, kwargs: len(given(args, kwargs, 2, "dim", [-2, -1])) != 2,
    # The vectorized part truncates beta, and divides by 0.
    "smooth_l1_loss_backward": lambda args, kwargs: not any(value.is_floating_point() for value in tensors(args, kwargs)),
}
def explained(op, reason, args, kwargs):
    """Returns why the result of a call may differ, or None."""

    def holds(condition):
        try:
            return condition is None or condition(args, kwargs)
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
            return False

    return next((why for pattern, why, condition in KNOWN if re.search(pattern, f"{op}: {reason}") and holds(condition)), None)
