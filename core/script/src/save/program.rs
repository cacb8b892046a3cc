//! The code of a program: classes and functions, printed when the module or printed code needs them, in one file for
//! each prefix of their names.

use super::function;
use super::names::Qualified;
use super::types::renamed;
use crate::ast::Name;
use crate::program::Program;
use crate::runtime::function::Linker;
use crate::runtime::value::Value;
use crate::types::Type;
use rushlight_base::{Result, ensure};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// No program has more classes and functions.
const MAX_ITEMS: usize = 1 << 20;

/// Prints what a module needs.
pub(super) struct Printer<'p> {
    pub(super) program: &'p Arc<Program>,
    /// `CONSTANTS.c0`, ...
    pub(super) constants: Vec<Value>,
    names: Qualified,
    /// Classes and functions that are still to be printed, in the order in which they were named.
    pending: Vec<Item>,
    seen: HashSet<Name>,
    /// The code by prefix.
    files: BTreeMap<String, String>,
}

enum Item {
    /// A class, NamedTuple, Enum or interface.
    Class(Name),
    /// A function, with its name in the file.
    Function(Name, Name),
}

impl<'p> Printer<'p> {
    pub(super) fn new(program: &'p Arc<Program>) -> Printer<'p> {
        Printer {
            program,
            constants: Vec::new(),
            names: Qualified::default(),
            pending: Vec::new(),
            seen: HashSet::new(),
            files: BTreeMap::new(),
        }
    }

    /// The name of a class in the file. The class is printed too.
    pub(super) fn qualified(&mut self, class: &str) -> Name {
        if class.starts_with("__torch__.torch.classes.") {
            return class.into();
        }
        if self.seen.insert(class.into()) {
            self.pending.push(Item::Class(class.into()));
        }
        self.names.of(class)
    }

    /// The name of a function in the file. The function is printed too.
    pub(super) fn function(&mut self, name: &str) -> Result<Name> {
        let owner = match name.rsplit_once('.') {
            Some((class, short)) if self.program.named_type(class)?.is_some() => Some((class, short)),
            _ => None,
        };
        let printed = match owner {
            Some((class, short)) => self.names.of_static(class, short),
            None => self.names.of(name),
        };
        if self.seen.insert(name.into()) {
            self.pending.push(Item::Function(name.into(), printed.clone()));
        }
        Ok(printed)
    }

    /// A type as an annotation. Its classes are printed too.
    pub(super) fn annotation(&mut self, kind: &Type) -> String {
        renamed(kind, &mut |name| self.qualified(name)).annotation_str()
    }

    /// Prints everything that was named, and what that names.
    pub(super) fn print_pending(&mut self) -> Result<()> {
        while !self.pending.is_empty() {
            ensure!(self.seen.len() < MAX_ITEMS, Runtime, "a program of more than {MAX_ITEMS} classes and functions");
            for item in std::mem::take(&mut self.pending) {
                let (name, text) = match item {
                    Item::Class(name) => {
                        let text = self.class(&name).map_err(|error| error.context(format!("cannot save {name}")))?;
                        (self.names.of(&name), text)
                    }
                    Item::Function(name, printed) => {
                        let text = self.plain(&name, &printed);
                        (printed, text.map_err(|error| error.context(format!("cannot save {name}")))?)
                    }
                };
                let path = name.rsplit_once('.').map_or("__torch__", |(path, _)| path);
                self.files.entry(path.to_owned()).or_default().push_str(&text);
            }
        }
        Ok(())
    }

    /// A function of the program.
    fn plain(&mut self, name: &str, printed: &str) -> Result<String> {
        let function = self.program.function(name)?;
        let short = printed.rsplit('.').next().unwrap_or(printed);
        function::print(self, short, &function, 0)
    }

    /// The files by the prefix of the names in them.
    pub(super) fn into_files(self) -> BTreeMap<String, String> {
        self.files
    }
}
