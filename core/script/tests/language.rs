//! Programs of every construct, compared with what PyTorch's compiler does with them: it accepts or rejects them, with
//! this schema and these operators, or this message.

mod support;

use rushlight_script::Source;
use rushlight_script::compile::{NoHost, Unit};
use rushlight_script::graph::{BlockId, Graph};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What differs between correct graphs, as in language.py.
const LEFT_OUT: [&str; 19] = [
    "prim::Constant",
    "prim::If",
    "prim::Loop",
    "prim::unchecked_cast",
    "prim::Uninitialized",
    "prim::TupleIndex",
    "prim::TupleConstruct",
    "prim::TupleUnpack",
    "prim::ListConstruct",
    "prim::TupleSlice",
    "prim::Enter",
    "prim::Exit",
    "prim::isinstance",
    "aten::__and__",
    "aten::__not__",
    "aten::__is__",
    "aten::__isnot__",
    "aten::Bool",
    "prim::min",
];

/// The parts of a file that begin with `=== name`.
fn sections(text: &str) -> BTreeMap<String, String> {
    let parts = text.split("=== ").skip(1);
    parts.filter_map(|part| part.split_once('\n')).map(|(name, body)| (name.into(), body.into())).collect()
}

fn operators(graph: &Graph, block: BlockId, found: &mut BTreeSet<String>) {
    for node in graph.nodes(block) {
        let node = graph.node(node).unwrap();
        if !LEFT_OUT.contains(&&*node.kind) {
            found.insert(node.kind.to_string());
        }
        node.blocks().iter().for_each(|&block| operators(graph, block, found));
    }
}

/// Compiles a program as PyTorch's Python front end does: as a file `name.py` whose function is `f`.
fn compile(name: &str, text: &str) -> Result<(String, BTreeSet<String>), String> {
    let unit = Unit::new(support::operators(), Arc::new(NoHost));
    let prefix = format!("__torch__.{name}");
    let source = Source::new(&format!("{name}.py"), text).unwrap();
    let run = || {
        unit.define(&prefix, source)?;
        let function = unit.function(&format!("{prefix}.f"))?;
        for function in unit.compile_all(&function.name)? {
            function.graph.lint().map_err(|error| panic!("{name}: {error}\n{}", function.graph)).unwrap();
        }
        Ok(function)
    };
    let function = run().map_err(|error: rushlight_base::Error| {
        let lines = error.message().lines().take_while(|line| !line.starts_with("  File"));
        lines.map(str::trim_end).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    })?;
    let mut found = BTreeSet::new();
    if !name.ends_with("_free") {
        operators(&function.graph, function.graph.top(), &mut found);
    }
    let schema = function.schema.to_string();
    Ok((schema[schema.find('(').unwrap()..].to_owned(), found))
}

#[test]
fn programs_compile_as_in_pytorch() {
    let programs = sections(include_str!("data/language.txt"));
    let expected = sections(include_str!("data/language.expected"));
    assert!(programs.len() >= 130, "{}", programs.len());
    let mut differ = Vec::new();
    for (name, text) in &programs {
        let wanted = expected[name].trim_end();
        let found = match compile(name, text) {
            Ok((schema, found)) => {
                format!("ok {schema}\n{}", found.into_iter().collect::<Vec<_>>().join(" ")).trim_end().to_owned()
            }
            Err(message) => format!("fails {message}"),
        };
        // `_more`: a program that PyTorch rejects. `_own`: it is rejected with another message.
        let fits = match name.rsplit_once('_').map_or("", |(_, suffix)| suffix) {
            "more" => found.starts_with("ok") && wanted.starts_with("fails"),
            "own" => found.starts_with("fails") && wanted.starts_with("fails"),
            _ => found == wanted,
        };
        if !fits {
            differ.push(format!("=== {name}\n--- PyTorch\n{wanted}\n--- here\n{found}\n"));
        }
    }
    assert!(differ.is_empty(), "{} of {} differ\n{}", differ.len(), programs.len(), differ.join("\n"));
}

/// Random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((value ^ (value >> 31)) % limit as u64) as usize
    }
}

/// Words, numbers, blanks and single signs.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            ' ' => rest.find(|c| c != ' '),
            _ if is_word(first) => rest.find(|c| !is_word(c)),
            _ => Some(first.len_utf8()),
        };
        let (token, after) = rest.split_at(length.unwrap_or(rest.len()));
        tokens.push(token);
        rest = after;
    }
    tokens
}

/// Programs with a few wrong tokens are rejected, or compile to graphs that are well formed. Nothing panics.
#[test]
fn mutated_programs_do_not_panic() {
    let programs: Vec<String> = sections(include_str!("data/language.txt")).into_values().collect();
    let count = std::env::var("RUSHLIGHT_MUTANTS").map_or(3000, |count| count.parse().unwrap());
    let mut random = Random(1);
    let mut compiled = 0;
    for _ in 0..count {
        let text = &programs[random.below(programs.len())];
        let other = &programs[random.below(programs.len())];
        let pool: Vec<&str> = tokens(other).into_iter().filter(|token| !token.trim().is_empty()).collect();
        let mut mutant = tokens(text);
        let is_word = |token: &&str| token.starts_with(|c: char| c.is_alphanumeric());
        let words: Vec<&str> = pool.iter().copied().filter(is_word).collect();
        for _ in 0..=random.below(2) {
            let at = random.below(mutant.len());
            match random.below(20) {
                // Mostly a word for a word: such programs are often complete.
                2.. => {
                    let places: Vec<usize> = (0..mutant.len()).filter(|&at| is_word(&mutant[at])).collect();
                    mutant[places[random.below(places.len())]] = words[random.below(words.len())];
                }
                1 => mutant.insert(at, pool[random.below(pool.len())]),
                _ => {
                    let with = random.below(mutant.len());
                    mutant.swap(at, with);
                }
            }
        }
        compiled += usize::from(compile("mutant", &mutant.concat()).is_ok());
    }
    assert!(compiled > count / 40, "{compiled}");
}
