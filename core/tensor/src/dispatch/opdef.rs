//! The rows of the operator table, one for each form of each operator. opgen generates them as constants from
//! `core/schema/ops`: the signature is parsed already, and the typed function is a variant of [`Call`].

use super::boxed::{Args, Values};
use super::call::Call;
use super::signatures::{ARGUMENTS, RETURNS, SIGNATURES};
use super::value::Value;
use rushlight_base::Result;
use rushlight_schema::{Argument, Name, Return, Signature};

/// One row of the operator table: an operator form that can be called.
pub struct OpDef {
    /// `add.Tensor`; `add` for the default overload; `prim::device` in another namespace than aten.
    full_name: &'static str,
    /// The index of the first argument in `SIGNATURES`; the returns follow the arguments.
    first: u16,
    arguments: u8,
    returns: u8,
    /// The typed function.
    pub call: Call,
}

impl OpDef {
    /// Creates a row; opgen generates the calls.
    pub const fn new(full_name: &'static str, first: u16, arguments: u8, returns: u8, call: Call) -> OpDef {
        OpDef { full_name, first, arguments, returns, call }
    }

    /// `add` or `add.Tensor`.
    pub const fn full_name(&self) -> &'static str {
        self.full_name
    }

    /// `add`, `add_`, `prim::device`
    pub fn name(&self) -> &'static str {
        self.full_name.split_once('.').map_or(self.full_name, |(name, _)| name)
    }

    /// `Tensor`; empty for the default overload.
    pub fn overload(&self) -> &'static str {
        self.full_name.split_once('.').map_or("", |(_, overload)| overload)
    }

    /// The functional form's name of an in-place form: `add.Tensor` of `add_.Tensor`. Whether there is one is open.
    #[cfg(any(feature = "op-nested", feature = "op-sparse", feature = "op-quantization"))]
    pub(crate) fn functional_of_in_place(&self) -> Option<String> {
        let base = self.name().strip_suffix('_')?;
        Some(if self.overload().is_empty() { base.to_owned() } else { format!("{base}.{}", self.overload()) })
    }

    /// The arguments, in order.
    pub fn arguments(&self) -> Arguments<'static> {
        let first = usize::from(self.first);
        Arguments::Row(&SIGNATURES[first..first + usize::from(self.arguments)])
    }

    /// The return values, in order.
    pub fn returns(&self) -> impl Iterator<Item = &'static Return> {
        let first = usize::from(self.first) + usize::from(self.arguments);
        SIGNATURES[first..first + usize::from(self.returns)].iter().map(|index| &RETURNS[usize::from(*index)])
    }

    /// The signature.
    pub fn signature(&self) -> Signature {
        let (namespace, name) = self.name().split_once("::").unwrap_or(("", self.name()));
        Signature {
            namespace: Name::Borrowed(namespace),
            name: Name::Borrowed(name),
            overload: Name::Borrowed(self.overload()),
            arguments: self.arguments().iter().cloned().collect(),
            returns: self.returns().cloned().collect(),
            is_vararg: false,
            is_varret: false,
        }
    }

    /// Calls the typed function with boxed arguments, all filled in. In-place and out forms return the tensors that they
    /// wrote.
    pub fn call(&self, args: &[Value], results: &mut Values) -> Result<()> {
        self.call.invoke(Args(args), results)?;
        if results.is_empty() && self.returns > 0 {
            self.return_written(args, results);
        }
        Ok(())
    }

    #[inline(never)]
    fn return_written(&self, args: &[Value], results: &mut Values) {
        let written = self.arguments().iter().zip(args).filter(|(argument, _)| argument.is_written());
        results.0.extend(written.map(|(_, value)| value.clone()).take(usize::from(self.returns)));
    }
}

/// The arguments of an operator: of a row, or of a signature that was parsed at run time.
#[derive(Clone, Copy)]
pub enum Arguments<'a> {
    /// Indices into the arguments of all rows.
    Row(&'static [u16]),
    /// The arguments themselves.
    Parsed(&'a [Argument]),
}

impl<'a> Arguments<'a> {
    /// The number of arguments.
    pub fn len(self) -> usize {
        match self {
            Arguments::Row(indices) => indices.len(),
            Arguments::Parsed(arguments) => arguments.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The argument at `index`.
    #[inline]
    pub fn get(self, index: usize) -> Option<&'a Argument> {
        match self {
            Arguments::Row(indices) => indices.get(index).and_then(|index| ARGUMENTS.get(usize::from(*index))),
            Arguments::Parsed(arguments) => arguments.get(index),
        }
    }

    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = &'a Argument> {
        (0..self.len()).filter_map(move |index| self.get(index))
    }
}

#[cfg(test)]
mod tests {
    use crate::dispatch::by_name;

    #[test]
    fn the_signature_of_a_row_is_the_declared_one() {
        let schemas = [
            ("add", "Tensor", "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"),
            ("add_", "Tensor", "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"),
            (
                "sum",
                "dim_IntList",
                "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
            ),
            ("prim::device", "", "prim::device(Tensor a) -> Device"),
            ("divmod", "int", "divmod.int(int x, int y) -> (int, int)"),
        ];
        for (name, overload, schema) in schemas {
            assert_eq!(by_name::find(name, overload).unwrap().signature().to_string(), schema);
        }
    }
}
