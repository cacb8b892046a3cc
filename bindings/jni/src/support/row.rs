//! Rows of the operator table, identified by their index, which is the same in every build.

use jni::sys::jint;
use rushlight_base::{Error, Result, err};
use rushlight_tensor::dispatch::OpDef;
use rushlight_tensor::ops::generated;
use std::fmt::{self, Display, Formatter};

/// The row at a place: its family in the upper half of the number, its index there in the lower.
#[inline]
pub fn row(place: jint) -> Result<&'static OpDef> {
    let (family, row) = split(place);
    let rows = generated::FAMILIES.get(family);
    rows.and_then(|rows| rows.get(row)).copied().ok_or_else(|| missing(place))
}

#[inline]
fn split(place: jint) -> (usize, usize) {
    ((place >> 16) as usize, (place & 0xffff) as usize)
}

#[cold]
fn missing(place: jint) -> Error {
    let (family, row) = split(place);
    match crate::ops::FAMILIES.get(family) {
        Some(name) if generated::FAMILIES[family].is_empty() => err!(
            UnknownOperator,
            "this build of the library has no operators of the family '{name}' (wanted: row {row}); the feature op-{name} \
             adds them"
        ),
        Some(name) => err!(UnknownOperator, "the family '{name}' of operators has no row {row}"),
        None => err!(UnknownOperator, "the operator table has no place {place:#x}"),
    }
}

/// The error of a shim that received a row of another call class: the versions of the jar and the library differ.
#[cold]
pub fn mismatch(op: &OpDef) -> Error {
    err!(Internal, "{} takes other arguments than those that Java passes", op.full_name())
}

/// The name of an argument in an error: a string, or its index in a row, whose name is looked up only in case of an
/// error.
#[derive(Clone, Copy)]
pub enum Argument<'a> {
    /// A string.
    Name(&'a str),
    /// The index of an argument.
    Of(&'static OpDef, usize),
}

impl<'a> From<&'a str> for Argument<'a> {
    fn from(name: &'a str) -> Argument<'a> {
        Argument::Name(name)
    }
}

impl From<(&'static OpDef, usize)> for Argument<'_> {
    #[inline]
    fn from((op, position): (&'static OpDef, usize)) -> Self {
        Argument::Of(op, position)
    }
}

impl Display for Argument<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Argument::Name(name) => write!(f, "argument '{name}'"),
            Argument::Of(op, position) => match op.arguments().get(*position) {
                Some(argument) => write!(f, "{}: argument '{}'", op.full_name(), argument.name),
                None => write!(f, "{}: argument {position}", op.full_name()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::ErrorKind;

    #[test]
    fn a_place_is_a_family_and_a_row_in_it() {
        for (family, rows) in (0..).zip(generated::FAMILIES) {
            for (index, wanted) in (0..).zip(*rows) {
                assert!(std::ptr::eq(row(family << 16 | index).unwrap(), *wanted), "{}", wanted.full_name());
            }
        }
    }

    #[test]
    fn a_place_without_a_row_is_an_unknown_operator() {
        let beyond = generated::FAMILIES.len() as jint;
        for place in [beyond << 16, 0xffff, -1] {
            let error = row(place).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::UnknownOperator, "{error}");
        }
    }

    /// Only small builds lack families: `cargo test -p rushlight-jni --no-default-features`.
    #[test]
    fn an_operator_of_a_family_that_the_build_lacks_is_named() {
        for (family, _) in generated::FAMILIES.iter().enumerate().filter(|(_, rows)| rows.is_empty()) {
            let error = row((family << 16) as jint | 5).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::UnknownOperator);
            let name = crate::ops::FAMILIES[family];
            assert!(error.message().contains(&format!("'{name}' (wanted: row 5)")), "{error}");
        }
    }

    #[test]
    fn errors_name_the_argument_and_its_operator() {
        let rows = generated::FAMILIES.iter().flat_map(|rows| rows.iter());
        let copy = rows.into_iter().find(|row| row.full_name() == "copy_").unwrap();
        assert_eq!(Argument::from((*copy, 1)).to_string(), "copy_: argument 'src'");
        assert_eq!(Argument::from("index").to_string(), "argument 'index'");
    }
}
