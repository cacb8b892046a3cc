//! Splits PTX into one module for each kernel, with what it calls and reads, and checks its instructions.

use anyhow::{Result, bail, ensure};
use std::collections::{BTreeSet, HashMap};

/// A kernel.
pub(crate) struct Kernel {
    /// The file that it belongs to.
    pub(crate) file: String,
    /// Its name in the module.
    pub(crate) symbol: String,
    /// The module.
    pub(crate) text: String,
}

/// A declaration or definition at the top level.
struct Item {
    name: String,
    text: String,
    is_entry: bool,
    is_function: bool,
    /// Whether this has a body or a value.
    is_definition: bool,
}

/// The kernels of an assembly file: of its entries named `file$symbol` those that write memory.
pub(crate) fn kernels(assembly: &str) -> Result<Vec<Kernel>> {
    let (header, items) = items(assembly)?;
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        by_name.entry(&item.name).or_default().push(index);
    }
    let uses: Vec<BTreeSet<usize>> = items
        .iter()
        .map(|item| {
            let named = identifiers(&item.text).filter_map(|name| by_name.get(name));
            named.flatten().copied().filter(|&other| items[other].name != item.name).collect()
        })
        .collect();
    let mut kernels = Vec::new();
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item.is_entry) {
        let mut reached = BTreeSet::from([index]);
        let mut open = vec![index];
        while let Some(next) = open.pop() {
            for &other in &uses[next] {
                if reached.insert(other) {
                    open.push(other);
                }
            }
        }
        // A function without a loop for the dtype of the entry only traps.
        if !reached.iter().any(|&index| items[index].text.contains("st.global")) {
            continue;
        }
        for &function in &reached {
            let mut below: BTreeSet<usize> = uses[function].clone();
            let mut open: Vec<usize> = below.iter().copied().collect();
            while let Some(next) = open.pop() {
                open.extend(uses[next].iter().copied().filter(|&other| below.insert(other)));
            }
            let calls_itself = items[function].is_definition && calls(&items[function]) > 0;
            let is_below = below.iter().any(|&other| items[other].name == items[function].name);
            ensure!(!calls_itself && !is_below, "{} reaches {}, which calls itself", item.name, items[function].name);
        }
        let Some((file, symbol)) = item.name.split_once('$') else {
            bail!("the entry {} has no file: it is named <file>$<function>__<dtype>", item.name);
        };
        let mut text = header.clone();
        for pass in 0..3 {
            for &index in &reached {
                let item = &items[index];
                let place = if !item.is_function { 0 } else { 1 + usize::from(item.is_definition) };
                if place == pass {
                    text.push_str(&item.text);
                }
            }
        }
        for &index in &reached {
            let name = &items[index].name;
            let defined = reached.iter().any(|&other| items[other].name == *name && items[other].is_definition);
            ensure!(defined, "the kernel {symbol} needs {name}, which is not part of the module");
        }
        check_instructions(symbol, &text)?;
        let text = shortened(&text).replace(&format!("{}_param_", item.name), "p").replace(&item.name, symbol);
        let text = suited(file, &text);
        kernels.push(Kernel { file: file.to_string(), symbol: symbol.to_string(), text });
    }
    kernels.sort_by(|a, b| (&a.file, &a.symbol).cmp(&(&b.file, &b.symbol)));
    Ok(kernels)
}

/// The bounds of the launches of a file's kernels, for the compiler of the driver: a tile of sums leaves two blocks of 256
/// threads to a multiprocessor, and a row may be computed by 1,024 threads.
const BOUNDS: [(&str, &str); 5] = [
    ("convolution", ".maxntid 256, 1, 1\n.minnctapersm 2"),
    ("gemm", ".maxntid 256, 1, 1\n.minnctapersm 2"),
    ("loss", ".maxntid 1024, 1, 1"),
    ("norm", ".maxntid 1024, 1, 1"),
    ("rows", ".maxntid 1024, 1, 1"),
];

/// The module for the devices that have its instructions, with the bounds of its launches.
fn suited(file: &str, text: &str) -> String {
    let text =
        if text.contains("mma.sync") { text.replace(".target sm_70", ".target sm_80") } else { text.to_string() };
    let Some((_, bounds)) = BOUNDS.iter().find(|(name, _)| *name == file) else { return text };
    // The bounds stand between the parameters of the entry and its body.
    match text.find(".entry ").and_then(|entry| Some(entry + text[entry..].find("\n{")?)) {
        Some(at) => format!("{}\n{bounds}{}", &text[..at], &text[at..]),
        None => text,
    }
}

/// The header, and the items after it, without comments and indentation.
fn items(assembly: &str) -> Result<(String, Vec<Item>)> {
    let (mut header, mut items, mut text, mut depth) = (String::new(), Vec::new(), String::new(), 0i64);
    for line in assembly.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if [".version", ".target", ".address_size"].iter().any(|word| line.starts_with(word)) {
            header.push_str(&line.replace(", debug", ""));
            header.push('\n');
            continue;
        }
        text.push_str(line);
        text.push('\n');
        for letter in line.chars() {
            depth += match letter {
                '{' | '(' => 1,
                '}' | ')' => -1,
                _ => 0,
            };
        }
        if depth == 0 && (line.ends_with(';') || line.ends_with('}')) {
            items.push(item(std::mem::take(&mut text))?);
        }
    }
    ensure!(text.is_empty(), "the assembly ends in the middle of {text}");
    Ok((header, items))
}

/// How often a definition names itself again.
fn calls(item: &Item) -> usize {
    let body = item.text.split_once('{').map_or("", |(_, body)| body);
    identifiers(body).filter(|name| *name == item.name && item.is_function).count()
}

/// The module with names that depend only on it: modules that are alike have the same text, which compresses well, and a
/// change of one kernel leaves the files of others as they are.
fn shortened(text: &str) -> String {
    const CONSTANT: &str = "anon_$_";
    // Each function has one block of local memory.
    let text = replaced(&with_own_labels(text), "__local_depot", |_| "__local_depot".to_string());
    // The compiler names a constant by a digest of all of its input.
    let mut constants: Vec<String> = Vec::new();
    replaced(&text, CONSTANT, |name| {
        let known = constants.iter().position(|constant| constant == name);
        let index = known.unwrap_or_else(|| {
            constants.push(name.to_string());
            constants.len() - 1
        });
        format!("constant{index}")
    })
}

/// The text with another name for each identifier that starts with `word`, by what follows in the identifier.
fn replaced(text: &str, word: &str, mut name: impl FnMut(&str) -> String) -> String {
    let mut pieces = text.split(word);
    let mut out = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        let rest = identifiers(piece).next().filter(|rest| piece.starts_with(rest)).unwrap_or_default();
        out.push_str(&name(rest));
        out.push_str(&piece[rest.len()..]);
    }
    out
}

/// The text with labels that are numbered in each function.
fn with_own_labels(text: &str) -> String {
    const LABEL: &str = "$L__BB";
    let mut pieces = text.split(LABEL);
    let mut short = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        let digits = piece.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(piece.len());
        short.push_str("$L");
        short.push_str(piece[digits..].strip_prefix('_').unwrap_or(&piece[digits..]));
    }
    short
}

fn item(text: String) -> Result<Item> {
    let is_entry = text.contains(".entry ");
    let is_function = is_entry || text.contains(".func ");
    let start = if is_entry { ".entry " } else { ".func " };
    let name = if is_function {
        let rest = text.split_once(start).map_or("", |(_, rest)| rest).trim_start();
        // A function's result is declared before its name.
        let rest = if rest.starts_with('(') { rest.split_once(')').map_or("", |(_, rest)| rest) } else { rest };
        rest.trim_start().split(['(', '\n', ' ', ';']).next()
    } else {
        text.split(['[', '=', ';']).next().and_then(|head| head.split_whitespace().last())
    };
    let name = name.filter(|name| !name.is_empty());
    let Some(name) = name.map(str::to_string) else { bail!("no name in {text}") };
    // The host gives each launch its shared memory.
    let is_given = text.starts_with(".extern .shared");
    let is_definition = if is_function { text.contains('{') } else { is_given || !text.starts_with(".extern") };
    Ok(Item { name, text, is_entry, is_function, is_definition })
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_' || letter == '$'))
        .filter(|word| !word.is_empty())
}

/// Additions and products without a rounding could be joined to a fused multiply-add by the driver, and approximate
/// instructions differ between devices.
fn check_instructions(symbol: &str, text: &str) -> Result<()> {
    for line in text.lines() {
        let word = line.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
        let parts: Vec<&str> = word.split('.').collect();
        let is_float = parts.iter().any(|part| ["f16", "f16x2", "bf16", "f32", "f64"].contains(part));
        let is_rounded = parts.iter().any(|part| ["rn", "rz", "rm", "rp"].contains(part));
        if is_float && ["add", "sub", "mul", "fma", "mad", "div", "sqrt"].contains(&parts[0]) {
            ensure!(is_rounded, "the kernel {symbol} has an instruction without a rounding: {line}");
        }
        ensure!(!parts.contains(&"approx"), "the kernel {symbol} has an approximate instruction: {line}");
        ensure!(!parts.contains(&"ftz"), "the kernel {symbol} flushes subnormal numbers: {line}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "// comment\n.version 7.0\n.target sm_70\n.address_size 64\n\
        .global .align 4 .b8 table[4] = {1, 0, 0, 0};\n.global .align 4 .b8 other[4];\n\
        .func  (.param .b32 func_retval0) twice\n(\n.param .b32 twice_param_0\n)\n;\n\
        .visible .entry a$f__float32(\n.param .b64 p\n)\n{\n\tld.global.b32 %r1, [table];\n\tcall.uni twice;\n\
        st.global.b32 [%rd1], %r1;\n}\n\
        .visible .entry a$f__int8()\n{\n\ttrap;\n}\n\
        .func  (.param .b32 func_retval0) twice(\n.param .b32 twice_param_0\n)\n{\n\tadd.rn.f32 %f1, %f1, %f1;\n\tret;\n}\n";

    #[test]
    fn a_module_has_what_its_kernel_reaches() {
        let kernels = kernels(SOURCE).unwrap();
        assert_eq!(kernels.len(), 1);
        assert_eq!((kernels[0].file.as_str(), kernels[0].symbol.as_str()), ("a", "f__float32"));
        let text = &kernels[0].text;
        assert!(text.contains(".entry f__float32(") && text.contains("table[4]") && !text.contains("other"));
        assert_eq!(text.matches("twice(").count(), 1);
        assert!(text.find("twice\n(").unwrap() < text.find(".entry").unwrap());
    }

    #[test]
    fn labels_are_numbered_in_each_function() {
        assert_eq!(shortened("@%p1 bra $L__BB734_13;\n$L__BB734_13:\nret;"), "@%p1 bra $L13;\n$L13:\nret;");
    }

    #[test]
    fn names_of_constants_and_local_memory_do_not_depend_on_other_modules() {
        let module = |digest: &str, depot: u32| {
            let constant = |index: u32| format!("anon_$_{digest}_$_{index}");
            let (table, other) = (constant(1), constant(10));
            format!(
                ".b8 {table}[4];\n.b8 {other}[4];\n.local .b8 \t__local_depot{depot}[24];\nmov.b64 %rd1, {other};\n"
            )
        };
        let text = shortened(&module("e7cad8", 2770));
        assert_eq!(text, shortened(&module("a2028f", 12)));
        assert!(text.contains("mov.b64 %rd1, constant1;") && text.contains("__local_depot[24]"), "{text}");
    }

    #[test]
    fn instructions_that_may_round_otherwise_are_rejected() {
        let rejected = |from: &str, to: &str| kernels(&SOURCE.replace(from, to)).err().map(|error| error.to_string());
        assert!(rejected("add.rn.f32", "add.f32").unwrap().contains("without a rounding: add.f32"));
        assert!(rejected("add.rn.f32", "ex2.approx.f32").unwrap().contains("approximate"));
        assert!(rejected("call.uni twice", "call.uni missing").is_none());
        let unresolved =
            SOURCE.replace(".global .align 4 .b8 table[4] = {1, 0, 0, 0};", ".extern .global .align 4 .b8 table[4];");
        assert!(kernels(&unresolved).err().unwrap().to_string().contains("needs table"));
    }
}
