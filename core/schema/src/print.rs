//! The canonical text of a signature: what `parse.rs` reads comes back equal.

use crate::{Alias, Argument, Default, Return, Signature, Type};
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
        f.write_str(") -> ")?;
        match self.returns.as_slice() {
            [single] if single.name.is_none() => write!(f, "{single}"),
            returns => {
                f.write_char('(')?;
                list(f, returns)?;
                f.write_char(')')
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
        f.write_str(self.base.name())?;
        if let Some(alias) = &self.alias {
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
        if self.optional { f.write_char('?') } else { Ok(()) }
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

/// A float as Python's `repr` writes it (`1e-05`, `0.125`, `1.0`): the form that PyTorch's own texts have.
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
