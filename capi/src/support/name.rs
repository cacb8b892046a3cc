//! Names for messages, formatted only when there is a message.

use rushlight_tensor::dispatch::OpDef;
use std::fmt::{self, Display, Formatter, Write};

/// The name of an argument: a string, or data from which it is computed.
pub trait Name: Copy + Display {}

impl<T: Copy + Display> Name for T {}

/// The name of an operator's argument, by its index in the signature, in lower case as in the C header.
#[derive(Clone, Copy)]
pub struct At(pub &'static OpDef, pub usize);

impl Display for At {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = self.0.arguments().get(self.1).map_or("?", |argument| &argument.name);
        name.chars().try_for_each(|character| f.write_char(character.to_ascii_lowercase()))
    }
}

/// The slot of the result with this number.
#[derive(Clone, Copy)]
pub struct Slot(pub usize);

impl Display for Slot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "out{}", self.0)
    }
}

/// The name of an element of an array argument.
#[derive(Clone, Copy)]
pub struct Element(pub &'static str, pub usize);

impl Display for Element {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.0, self.1)
    }
}

/// The C function of an operator: `rlt_tensor_add_Tensor_` of `add_.Tensor`.
pub struct Function(pub &'static OpDef);

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = self.0.name();
        let (base, underscore) = name.strip_suffix('_').map_or((name, ""), |base| (base, "_"));
        let (dot, overload) = if self.0.overload().is_empty() { ("", "") } else { ("_", self.0.overload()) };
        write!(f, "rlt_tensor_{base}{dot}{overload}{underscore}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_tensor::dispatch::by_name;

    #[test]
    fn names_are_those_of_the_header() {
        let def = |full_name| by_name::all().find(|def| def.full_name() == full_name).unwrap();
        assert_eq!(Function(def("add_.Tensor")).to_string(), "rlt_tensor_add_Tensor_");
        assert_eq!(Function(def("abs")).to_string(), "rlt_tensor_abs");
        assert_eq!(At(def("add.out"), 3).to_string(), "out");
        assert_eq!(At(def("lu_solve"), 1).to_string(), "lu_data");
        assert_eq!(Slot(1).to_string(), "out1");
        assert_eq!(Element("args", 2).to_string(), "args[2]");
    }
}
