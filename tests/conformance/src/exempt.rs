//! Golden cases that are known not to agree, each with the reason.

const ONE_ELEMENT: &str = "a row of one element, whose normalised value and so the gradient by the weight is 0; what PyTorch has there is a \
                           rounding error times 1 / sqrt(eps)";

const LATER: &str = "an overload of an operator at hand that comes with its family";

const CANCELS: &str = "sums that nearly cancel, added in another order: both are off by the rounding of their terms";

const ONCE: &str = "halves that PyTorch rounds after each of four steps, and that are rounded once here";

const LOGARITHMS: &str = "a gradient that PyTorch takes of logarithms, apart for each sign, and that is off by up to 3e-3 of itself there; here it \
                          is within rounding of that in double";

/// An operator, the case (none: the whole overload is absent), and why.
const EXEMPT: &[(&str, Option<usize>, &str)] = &[
    ("aten::addbmm", Some(0), CANCELS),
    ("aten::addbmm", Some(1), CANCELS),
    ("aten::addbmm", Some(4), CANCELS),
    ("aten::addmv", Some(19), CANCELS),
    ("aten::addr", Some(21), ONCE),
    ("aten::addr", Some(23), ONCE),
    ("aten::baddbmm", Some(13), CANCELS),
    ("aten::dot", Some(6), CANCELS),
    ("aten::linalg_multi_dot", Some(6), CANCELS),
    ("aten::vdot", Some(6), CANCELS),
    ("aten::logcumsumexp", Some(0), LOGARITHMS),
    ("aten::logcumsumexp", Some(1), LOGARITHMS),
    ("aten::logcumsumexp", Some(8), LOGARITHMS),
    ("aten::logcumsumexp", Some(9), LOGARITHMS),
    ("aten::narrow.Tensor", None, LATER),
    ("aten::layer_norm", Some(2), ONE_ELEMENT),
    ("aten::native_layer_norm", Some(8), ONE_ELEMENT),
    ("aten::normal.Tensor_Tensor", None, LATER),
    ("aten::normal.Tensor_float", None, LATER),
    ("aten::squeeze.dims", None, LATER),
    (
        "aten::real",
        Some(12),
        "the real part of a complex tensor is a copy, not a view: views of another dtype come with `view_as_real`",
    ),
];

/// Why this case of an operator need not agree.
pub fn reason(op: &str, case: Option<usize>) -> Option<&'static str> {
    EXEMPT.iter().find(|(name, at, _)| *name == op && *at == case).map(|(_, _, reason)| *reason)
}
