//! Reads the C headers back, as far as their generator writes them: functions with their parameters, constants,
//! and the bodies of structs.
//!
//! `snapshot` compares the interface with the one that is checked in, `null_arguments` writes a C program that passes
//! NULL in every pointer argument, and `bindings/generate` writes declarations for C#.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A declared function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// `rlt_tensor_add_Tensor`
    pub name: String,
    /// `int32_t`
    pub returns: String,
    /// In order.
    pub parameters: Vec<Parameter>,
    /// The comment before it.
    pub comment: String,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// `const rlt_tensor *`
    pub ty: String,
    /// `self`
    pub name: String,
}

impl Function {
    /// `int32_t rlt_tensor_ndim(const rlt_tensor *tensor, int64_t *out)`
    pub fn prototype(&self) -> String {
        let parameters: Vec<String> = self.parameters.iter().map(|p| join(&p.ty, &p.name)).collect();
        let list = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        join(&self.returns, &format!("{}({list})", self.name))
    }
}

fn join(ty: &str, name: &str) -> String {
    if ty.contains("(*") {
        return ty.replacen("(*", &format!("(*{name}"), 1);
    }
    if ty.ends_with('*') { format!("{ty}{name}") } else { format!("{ty} {name}") }
}

/// All the headers declare.
#[derive(Debug, Default)]
pub struct Interface {
    /// In the order of the headers.
    pub functions: Vec<Function>,
    /// `RLT_OK` to `0`.
    pub constants: BTreeMap<String, String>,
    /// Maps `rlt_device` to its definition on one line; also opaque types.
    pub types: BTreeMap<String, String>,
}

/// Read every header below `include/rushlight`.
pub fn read(include: &Path) -> io::Result<Interface> {
    let mut interface = Interface::default();
    for path in headers(&include.join("rushlight"))? {
        interface.add(&fs::read_to_string(path)?);
    }
    Ok(interface)
}

fn headers(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(headers(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "h") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

impl Interface {
    fn add(&mut self, text: &str) {
        let mut comment = String::new();
        let mut statement = String::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let trimmed = line.trim();
            if statement.is_empty() {
                if let Some(first) = trimmed.strip_prefix("/*") {
                    comment = String::from(first);
                    let mut last = trimmed;
                    while !last.ends_with("*/") {
                        let Some(next) = lines.next() else { return };
                        last = next.trim();
                        comment.push_str(last.trim_start_matches("* ").trim_end_matches("*/"));
                        comment.push('\n');
                    }
                    continue;
                }
                if let Some(definition) = trimmed.strip_prefix("#define RLT_") {
                    let (name, value) = without_comments(definition).split_once(' ').unwrap_or((definition, ""));
                    self.constants.insert(format!("RLT_{name}"), value.to_owned());
                }
                if trimmed.starts_with('#') || trimmed.is_empty() || trimmed.contains("extern \"C\"") || trimmed == "}"
                {
                    continue;
                }
            }
            let inside = without_comments(trimmed);
            if !inside.is_empty() {
                if !statement.is_empty() {
                    statement.push(' ');
                }
                statement.push_str(inside);
            }
            let open = statement.matches(['{', '(']).count() - statement.matches(['}', ')']).count();
            if statement.ends_with(';') && open == 0 {
                self.statement(statement.trim_end_matches(';'), &comment);
                statement.clear();
                comment.clear();
            }
        }
    }

    fn statement(&mut self, statement: &str, comment: &str) {
        if let Some(definition) = statement.strip_prefix("typedef ") {
            let name = match definition.rsplit_once('}') {
                Some((_, name)) => name.trim(),
                None => match definition.split_once("(*") {
                    Some((_, rest)) => rest.split(')').next().unwrap_or_default(),
                    None => definition.rsplit(' ').next().unwrap_or_default(),
                },
            };
            self.types.insert(name.to_owned(), definition.to_owned());
        } else if let Some(function) = function(statement, comment) {
            self.functions.push(function);
        }
    }
}

/// A line without comments.
fn without_comments(line: &str) -> &str {
    if line.starts_with("/*") || line.starts_with('*') {
        return "";
    }
    line.split_once("/**<").map_or(line, |(before, _)| before.trim_end())
}

fn function(statement: &str, comment: &str) -> Option<Function> {
    let open = statement.find('(')?;
    let (head, list) = (&statement[..open], statement[open + 1..].strip_suffix(')')?);
    let returned = parameter(head);
    let parameters = parameters(list);
    Some(Function { name: returned.name, returns: returned.ty, parameters, comment: comment.to_owned() })
}

/// The parameters of a list: `const rlt_tensor *self, int64_t dim`.
pub fn parameters(list: &str) -> Vec<Parameter> {
    match list.trim() {
        "void" | "" => Vec::new(),
        list => split(list).iter().map(|text| parameter(text)).collect(),
    }
}

/// At the commas that are not inside of parentheses.
fn split(list: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for letter in list.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts
}

/// `const rlt_tensor *self` to its type and name; a pointer to a function has its name inside. The type of an array
/// contains its name, and the name is empty.
pub fn parameter(text: &str) -> Parameter {
    let text = text.trim().replace("struct rlt_", "rlt_").replace("union rlt_", "rlt_");
    if let Some((before, rest)) = text.split_once("(*") {
        let (name, after) = rest.split_once(')').unwrap_or((rest, ""));
        return Parameter { ty: format!("{before}(*){after}"), name: name.to_owned() };
    }
    let end = text.trim_end_matches(|letter: char| letter.is_alphanumeric() || letter == '_').len();
    Parameter { ty: text[..end].trim().to_owned(), name: text[end..].to_owned() }
}

impl Interface {
    /// One line for each thing that a program can rely on.
    pub fn lines(&self) -> Vec<String> {
        let constants = self.constants.iter().map(|(name, value)| format!("#define {name} {value}"));
        let types = self.types.values().map(|definition| format!("typedef {definition};"));
        let mut functions: Vec<String> = self.functions.iter().map(|f| f.prototype() + ";").collect();
        functions.sort();
        constants.chain(types).chain(functions).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
/* Generated. */
#ifndef X_H
#define X_H
#include <stdint.h>

/* ---- Tags ---- */

#define RLT_ONE 1 /**< tag */

/**
 * A thing.
 */
typedef struct rlt_thing {
  size_t struct_size; /**< size */
  /**
   * A function.
   */
  void *(*allocate)(void *ctx, size_t size);
} rlt_thing;

typedef struct rlt_node rlt_node;

typedef int32_t (*rlt_hook)(void *ctx,
                            const struct rlt_node *node);

#ifdef __cplusplus
extern \"C\" {
#endif // __cplusplus

/**
 * A function.
 */
int32_t rlt_do(const struct rlt_thing *const *things,
               int64_t things_len,
               void (*deleter)(void *ctx, void *data),
               rlt_node **out);
void rlt_none(void);
const char *rlt_text(void);
#ifdef __cplusplus
}  // extern \"C\"
#endif
";

    #[test]
    fn headers_of_cbindgen_are_read_back() {
        let mut interface = Interface::default();
        interface.add(TEXT);
        assert_eq!(interface.constants["RLT_ONE"], "1");
        assert_eq!(
            interface.types["rlt_thing"],
            "struct rlt_thing { size_t struct_size; void *(*allocate)(void *ctx, size_t size); } rlt_thing"
        );
        assert_eq!(interface.types["rlt_node"], "struct rlt_node rlt_node");
        assert!(interface.types.contains_key("rlt_hook"));
        let prototypes: Vec<String> = interface.functions.iter().map(Function::prototype).collect();
        assert_eq!(
            prototypes,
            [
                "int32_t rlt_do(const rlt_thing *const *things, int64_t things_len, \
                 void (*deleter)(void *ctx, void *data), rlt_node **out)",
                "void rlt_none(void)",
                "const char *rlt_text(void)",
            ]
        );
        assert_eq!(interface.functions[0].parameters[2].name, "deleter");
        assert!(interface.functions[0].comment.contains("A function."));
    }
}
