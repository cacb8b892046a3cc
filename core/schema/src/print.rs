//! Prints the canonical string of a signature. `parse.rs` parses it to an equal signature.

use crate::{Alias, Argument, BaseType, Default, Detail, Return, Signature, Type};
use std::fmt::{self, Display, Formatter, Write};

impl Display for Signature {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.namespace.is_empty() {
            write!(f, "{}::", self.namespace)?;
        }
        f.write_str(&self.name)?;
        if !self.overload.is_empty() {
            write!(f, ".{}", self.overload)?;
        }
        f.write_char('(')?;
        let mut starred = false;
        for (index, argument) in self.arguments.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            if argument.kwarg_only && !starred {
                starred = true;
                f.write_str("*, ")?;
            }
            write!(f, "{argument}")?;
        }
        if self.is_vararg {
            f.write_str(if self.arguments.is_empty() { "..." } else { ", ..." })?;
        }
        f.write_str(") -> ")?;
        match (&self.returns[..], self.is_varret) {
            ([], true) => f.write_str("..."),
            // Without the outer parentheses a tuple would be read as several returns.
            ([single], false) if single.name.is_none() && !single.ty.begins_with_parenthesis() => write!(f, "{single}"),
            (returns, further) => {
                f.write_char('(')?;
                list(f, returns)?;
                f.write_str(if further { ", ...)" } else { ")" })
            }
        }
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ty, self.name)?;
        match &self.default {
            Some(default) => write!(f, "={default}"),
            None => Ok(()),
        }
    }
}

impl Display for Return {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} {name}", self.ty),
            None => write!(f, "{}", self.ty),
        }
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let nested = self.base == BaseType::List;
        self.fmt_base(f)?;
        // The alias of a nested list follows it: before it, it would belong to the inner list.
        if let (Some(alias), false) = (&self.alias, nested) {
            write!(f, "({alias})")?;
        }
        if let Some(list) = self.list {
            if list.optional_elements {
                f.write_char('?')?;
            }
            match list.size {
                Some(size) => write!(f, "[{size}]")?,
                None => f.write_str("[]")?,
            }
        }
        if let (Some(alias), true) = (&self.alias, nested) {
            write!(f, "({alias})")?;
        }
        if self.optional { f.write_char('?') } else { Ok(()) }
    }
}

impl Type {
    fn fmt_base(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.base.name())?;
        let (open, close) = match self.base {
            BaseType::List => ("", ""),
            BaseType::Union => ("[", "]"),
            _ => ("(", ")"),
        };
        match &self.detail {
            Detail::None => Ok(()),
            Detail::Name(name) => f.write_str(name),
            Detail::Types(types) => {
                f.write_str(open)?;
                list(f, types)?;
                f.write_str(close)
            }
        }
    }

    fn begins_with_parenthesis(&self) -> bool {
        match self.base {
            BaseType::Tuple => true,
            BaseType::List => self.inner().first().is_some_and(Type::begins_with_parenthesis),
            _ => false,
        }
    }
}

impl Display for Alias {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sets.join("|"))?;
        if self.write {
            f.write_char('!')?;
        }
        if self.after.is_empty() { Ok(()) } else { write!(f, " -> {}", self.after.join("|")) }
    }
}

impl Display for Default {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Default::None => f.write_str("None"),
            Default::Bool(true) => f.write_str("True"),
            Default::Bool(false) => f.write_str("False"),
            Default::Int(value) => write!(f, "{value}"),
            Default::Float(value) => f.write_str(&python_float(*value)),
            Default::Str(text) => {
                f.write_char('"')?;
                for character in text.chars() {
                    match character {
                        '"' | '\\' => write!(f, "\\{character}")?,
                        '\n' => f.write_str("\\n")?,
                        '\t' => f.write_str("\\t")?,
                        '\r' => f.write_str("\\r")?,
                        '\u{b}' => f.write_str("\\v")?,
                        '\u{c}' => f.write_str("\\f")?,
                        other => f.write_char(other)?,
                    }
                }
                f.write_char('"')
            }
            Default::List(items) => {
                f.write_char('[')?;
                list(f, items)?;
                f.write_char(']')
            }
            Default::Constant(constant) => f.write_str(constant.name()),
        }
    }
}

fn list<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

/// A float in the format of Python's `repr` (`1e-05`, `0.125`, `1.0`), as in PyTorch's signatures.
fn python_float(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.into();
    }
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude) {
        let scientific = format!("{value:e}");
        if let Some((mantissa, exponent)) = scientific.split_once('e') {
            let (sign, digits) = match exponent.strip_prefix('-') {
                Some(digits) => ('-', digits),
                None => ('+', exponent),
            };
            return format!("{mantissa}e{sign}{digits:0>2}");
        }
    }
    format!("{value:?}")
}
