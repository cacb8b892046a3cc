//! What the tests share: programs with names, and trees without ranges.

use rushlight_script::ast::{ExprId, Module};
use rushlight_script::{Source, parse_module, print_module};

/// Parses a file called `test.py`.
#[allow(dead_code)]
pub fn parse(text: &str) -> rushlight_base::Result<Module> {
    parse_module(Source::new("test.py", text)?)
}

/// The tree as text, without ranges and indices.
#[allow(dead_code)]
pub fn dump(module: &Module) -> String {
    expand(module, &format!("{:?}", module.items))
}

/// The tree of one expression.
#[allow(dead_code)]
pub fn dump_expr(module: &Module, id: ExprId) -> String {
    expand(module, &format!("{:?}", module.expr(id).kind))
}

#[allow(dead_code)]
fn expand(module: &Module, text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("ExprId(").into_iter().chain(rest.find("Span {")).min() {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("ExprId(") {
            let (number, after) = after.split_once(')').unwrap();
            let id = module.expr_ids().nth(number.parse().unwrap()).unwrap();
            out.push_str(&dump_expr(module, id));
            rest = after;
        } else {
            rest = &rest[rest.find('}').unwrap() + 1..];
        }
    }
    out.push_str(rest);
    out
}

/// Fails unless the program parses, and its printed form parses to the same tree.
#[allow(dead_code)]
pub fn round_trip(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let printed = print_module(&module);
    let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\nprinted from\n{text}"));
    assert_eq!(dump(&module), dump(&again), "{text}\n{printed}");
    assert_eq!(printed, print_module(&again));
    module
}

/// The operators of PyTorch 2.7.1.
#[allow(dead_code)]
pub fn operators() -> std::sync::Arc<rushlight_script::operators::SchemaList> {
    type List = rushlight_script::operators::SchemaList;
    static LIST: std::sync::OnceLock<std::sync::Arc<List>> = std::sync::OnceLock::new();
    LIST.get_or_init(|| List::parse(include_str!("../data/schemas.txt")).unwrap().into()).clone()
}
