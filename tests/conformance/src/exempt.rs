//! Golden cases that are known not to agree, each with the reason.

/// An operator, the case (none: the whole operator is absent), and why.
const EXEMPT: &[(&str, Option<usize>, &str)] = &[
    ("aten::real", Some(12), "the real part of a complex tensor is a copy: views of another dtype come with `view_as_real`"),
];

/// Why this case of an operator need not agree.
pub fn reason(op: &str, case: Option<usize>) -> Option<&'static str> {
    EXEMPT.iter().find(|(name, at, _)| *name == op && *at == case).map(|(_, _, reason)| *reason)
}
