//! Operators that are functions on a set of matrices only, or that are determined up to a phase: what `gradcheck`
//! composes them with.
//!
//! An operator on Hermitian matrices reads one triangle, and its gradient is that with respect to the Hermitian matrix:
//! differences of single elements leave the set. The inputs pass through a projection onto it first.

use super::Properties;
use crate::cases::{Case, Item};
use crate::door::{Tensor, Value};
use crate::freedom;
use rushlight_base::Scalar;

/// The matrices that an operator is a function of.
#[derive(Clone, Copy)]
enum Domain {
    Hermitian,
    /// Lower triangular; upper triangular if the argument of this index, or `upper`, is true.
    Triangular(usize),
}

/// Operators with the key of the argument.
const DOMAINS: &[(&str, &str, Domain)] = &[
    ("aten::cholesky", "0", Domain::Hermitian),
    ("aten::linalg_cholesky", "0", Domain::Hermitian),
    ("aten::linalg_cholesky_ex", "0", Domain::Hermitian),
    ("aten::_linalg_eigh", "0", Domain::Hermitian),
    ("aten::linalg_eigh", "0", Domain::Hermitian),
    ("aten::linalg_eigvalsh", "0", Domain::Hermitian),
    ("aten::cholesky_inverse", "0", Domain::Triangular(1)),
    ("aten::cholesky_solve", "1", Domain::Triangular(2)),
];

/// Whether the operator is a function on a set of matrices only. `gradcheck` checks its second derivative on that set.
pub(super) fn is_restricted(case: &Case) -> bool {
    DOMAINS.iter().any(|(name, _, _)| *name == case.name().0)
}

impl Properties<'_> {
    /// The input of a call for this leaf.
    pub(super) fn projected(&self, case: &Case, key: &str, leaf: &Tensor) -> Result<Tensor, String> {
        let found = DOMAINS.iter().find(|(name, argument, _)| *name == case.name().0 && *argument == key);
        match found.map(|(_, _, domain)| *domain) {
            None => Ok(leaf.clone()),
            Some(Domain::Hermitian) => {
                let adjoint = self.apply("adjoint", "", vec![Value::Tensor(leaf.clone())])?;
                let sum = self.apply("add", "Tensor", vec![Value::Tensor(leaf.clone()), Value::Tensor(adjoint)])?;
                self.apply("mul", "Scalar", vec![Value::Tensor(sum), Value::Scalar(Scalar::Float(0.5))])
            }
            Some(Domain::Triangular(upper)) => {
                let named = case.kwargs.iter().find(|(name, _)| name == "upper").map(|(_, item)| item);
                let upper = matches!(case.args.get(upper).or(named), Some(Item::Scalar(Scalar::Bool(true))));
                self.apply(if upper { "triu" } else { "tril" }, "", vec![Value::Tensor(leaf.clone())])
            }
        }
    }

    /// A result that does not depend on a phase.
    pub(super) fn determined(&self, case: &Case, at: usize, result: &Tensor) -> Result<Tensor, String> {
        if freedom::has_phase(case.name().0, at) {
            return self.apply("abs", "", vec![Value::Tensor(result.clone())]);
        }
        Ok(result.clone())
    }

    fn apply(&self, name: &str, overload: &str, args: Vec<Value>) -> Result<Tensor, String> {
        let results = self.door.call(&format!("aten::{name}"), overload, args, Vec::new())?;
        results.first().and_then(Value::tensor).cloned().ok_or_else(|| format!("{name} returned no tensor"))
    }
}
