//! Layout of a header: headings of sections, and tables of constants and fields.

use opgen::names;
use std::collections::HashMap;

/// The width of cbindgen's lines.
const WIDTH: usize = 120;

/// Moves the comment of a constant or of a field behind it, if both fit on one line. Constants then follow each other
/// without empty lines.
pub fn with_tables(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut rows = Vec::with_capacity(lines.len());
    let mut at = 0;
    while at < lines.len() {
        match Row::at(&lines[at..]) {
            Some((row, used)) => {
                rows.push(Line::Row(row));
                at += used;
            }
            None => {
                rows.push(Line::Other(lines[at]));
                at += 1;
            }
        }
    }
    joined(&rows)
}

enum Line<'a> {
    Row(Row<'a>),
    Other(&'a str),
}

struct Row<'a> {
    declaration: &'a str,
    comment: &'a str,
}

impl Row<'_> {
    /// A comment of one line, and its constant or field; with the empty line after a constant.
    fn at<'a>(lines: &[&'a str]) -> Option<(Row<'a>, usize)> {
        let [open, comment, close, declaration, rest @ ..] = lines else { return None };
        let comment = comment.trim_start().strip_prefix("* ")?;
        if open.trim() != "/**" || close.trim() != "*/" {
            return None;
        }
        let constant = declaration.starts_with("#define ");
        let field = declaration.starts_with("  ") && declaration.ends_with(';');
        let fits = declaration.len() + comment.len() + " /**<  */".len() <= WIDTH;
        let empty = usize::from(constant && rest.first().is_some_and(|line| line.is_empty()));
        ((constant || field) && fits).then_some((Row { declaration, comment }, 4 + empty))
    }
}

/// Aligns the comments of consecutive rows in one column, if they fit.
fn joined(lines: &[Line]) -> String {
    let mut text = String::new();
    for run in lines.chunk_by(|a, b| matches!((a, b), (Line::Row(_), Line::Row(_)))) {
        let rows: Vec<&Row> =
            run.iter().filter_map(|line| if let Line::Row(row) = line { Some(row) } else { None }).collect();
        let width = rows.iter().map(|row| row.declaration.len()).max().unwrap_or_default();
        let aligned = rows.iter().all(|row| width + row.comment.len() + " /**<  */".len() <= WIDTH);
        for line in run {
            match line {
                Line::Row(row) if aligned => {
                    text.push_str(&format!("{:width$} /**< {} */\n", row.declaration, row.comment));
                }
                Line::Row(row) => text.push_str(&format!("{} /**< {} */\n", row.declaration, row.comment)),
                Line::Other(line) => {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        if rows.first().is_some_and(|row| row.declaration.starts_with('#')) {
            text.push('\n');
        }
    }
    text
}

/// Fills the lines of prototypes, where cbindgen has a line for each parameter, and makes a comment of one line of one that is as
/// short.
pub fn with_full_lines(text: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.starts_with('#') && declared(line).is_some() && !line.ends_with(';') {
            let mut prototype = vec![line.to_owned()];
            for parameter in lines.by_ref() {
                add_word(&mut prototype, parameter.trim());
                if parameter.ends_with(';') {
                    break;
                }
            }
            out.extend(prototype);
            continue;
        }
        if let (" */", [.., open, comment]) = (line, out.as_slice())
            && open == "/**"
            && let Some(comment) = comment.strip_prefix(" * ")
            && comment.len() + "/**  */".len() <= WIDTH
        {
            let short = format!("/** {comment} */");
            out.truncate(out.len() - 2);
            out.push(short);
            continue;
        }
        out.push(line.to_owned());
    }
    out.join("\n") + "\n"
}

/// Adds a parameter to the last line, or to one more if that is full.
fn add_word(lines: &mut Vec<String>, parameter: &str) {
    match lines.last_mut() {
        Some(line) if line.len() + 1 + parameter.len() <= WIDTH => {
            line.push(' ');
            line.push_str(parameter);
        }
        _ => lines.push(format!("    {parameter}")),
    }
}

/// Adds the headings of `source`, lines `// ---- title ----`, before the constant or function that follows them.
pub fn with_sections(text: &str, source: &str) -> Result<String, String> {
    let mut titles = titles(source);
    let mut out: Vec<String> = Vec::new();
    let mut start = 0;
    for line in text.lines() {
        // The start of the comment of the next item; without a comment, the line of the item.
        if line == "/**" || !(line.starts_with(" *") || out.get(start).is_some_and(|first| first == "/**")) {
            start = out.len();
        }
        if let Some(title) = declared(line).and_then(|name| titles.remove(name)) {
            out.insert(start, format!("/* ---- {title} ---- */\n"));
            start += 1;
        }
        out.push(line.to_owned());
        if line.is_empty() {
            start = out.len();
        }
    }
    match titles.values().next() {
        Some(title) => Err(format!("the section `{title}` does not begin with an item of the header")),
        None => Ok(out.join("\n") + "\n"),
    }
}

/// Gives parameters their names in the schema, some of which are keywords in Rust but not in C.
pub fn with_names_of_c(text: &str) -> String {
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_name) {
        let end = rest[start..].find(|character| !is_name(character)).map_or(rest.len(), |length| start + length);
        out.push_str(&rest[..start]);
        out.push_str(&names::c_parameter(&rest[start..end]));
        rest = &rest[end..];
    }
    out + rest
}

/// The title of the section that a name begins.
fn titles(source: &str) -> HashMap<&str, &str> {
    let mut titles = HashMap::new();
    let mut open = None;
    for line in source.lines() {
        if let Some(title) = line.strip_prefix("// ---- ").and_then(|line| line.strip_suffix(" ----")) {
            open = Some(title);
        } else if let (Some(title), Some(name)) = (open, exported(line)) {
            titles.insert(name, title);
            open = None;
        }
    }
    titles
}

/// The name of the constant or function that a line of Rust exports.
fn exported(line: &str) -> Option<&str> {
    let after = match line.strip_prefix("pub const ") {
        Some(after) => after,
        None if line.starts_with("pub ") => line.split_once("extern \"C\" fn ")?.1,
        None => return None,
    };
    after.split([':', '(']).next()
}

/// The name of the constant or function that a line of C declares.
fn declared(line: &str) -> Option<&str> {
    if let Some(constant) = line.strip_prefix("#define ") {
        return constant.split(' ').next();
    }
    if line.starts_with(' ') {
        return None;
    }
    let head = line.split_once('(')?.0;
    let name = head.rsplit([' ', '*']).next()?;
    (name.starts_with("rlt_") && name.len() < head.len()).then_some(name)
}
