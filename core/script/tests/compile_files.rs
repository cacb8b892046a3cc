//! Compiles every method of the programs that PyTorch wrote.

mod support;

use rushlight_script::compile::{Constant, Host, Unit};
use rushlight_script::graph::{Attribute, Opaque};
use rushlight_script::operators::SchemaList;
use rushlight_script::schema::Schema;
use rushlight_script::types::Type;
use rushlight_script::{Source, ast, parse_module};
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct Archive(PathBuf);

#[derive(Debug)]
struct Missing;

impl Opaque for Missing {
    fn print(&self) -> String {
        "<Tensor>".into()
    }
}

impl Host for Archive {
    fn source(&self, path: &str) -> rushlight_base::Result<Option<Source>> {
        let file = self.0.join(format!("{}.py", path.replace('.', "/")));
        match std::fs::read_to_string(&file) {
            Ok(text) => Source::new(&format!("{}.py", path.replace('.', "/")), &text).map(Some),
            Err(_) => Ok(None),
        }
    }

    fn constant(&self, _index: usize) -> Option<Constant> {
        Some(Constant { kind: Type::Tensor, value: Attribute::Opaque(Arc::new(Missing)) })
    }

    fn custom_method(&self, class: &str, method: &str) -> Option<Arc<Schema>> {
        custom_method(class, method)
    }
}

/// The methods of PyTorch's classes of packed parameters, as far as files call them.
fn custom_method(class: &str, method: &str) -> Option<Arc<Schema>> {
    let name = class.strip_prefix("__torch__.torch.classes.")?;
    let text = match (name, method) {
        ("quantized.Conv2dPackedParamsBase", "unpack") => "x::unpack() -> (Tensor, Tensor?)",
        ("quantized.LinearPackedParamsBase", "unpack") => "x::unpack() -> (Tensor, Tensor?)",
        _ => return None,
    };
    Some(Arc::new(Schema::parse(text).unwrap()))
}

fn collect(folder: &Path, path: &str, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap().path();
        let name = entry.file_stem().unwrap().to_str().unwrap().to_owned();
        let inner = if path.is_empty() { name } else { format!("{path}.{name}") };
        if entry.is_dir() {
            collect(&entry, &inner, names);
        } else if entry.extension().is_some_and(|extension| extension == "py") {
            let text = std::fs::read_to_string(&entry).unwrap();
            let module = parse_module(Source::new("x", &text).unwrap()).unwrap();
            for item in &module.items {
                match item {
                    ast::Item::Function(function) => names.push(format!("{inner}.{}", function.name)),
                    ast::Item::Class(class) => names.extend(class.members.iter().filter_map(|member| match member {
                        ast::Member::Method(method) => Some(format!("{inner}.{}.{}", class.name, method.name)),
                        _ => None,
                    })),
                    ast::Item::Version(..) => {}
                }
            }
        }
    }
}

/// Compiles all functions below a folder `code`: how many, and the errors.
fn compile(code: &Path, operators: &Arc<SchemaList>) -> (usize, Vec<String>) {
    let unit = Unit::new(operators.clone(), Arc::new(Archive(code.to_owned())));
    let mut names = Vec::new();
    collect(code, "", &mut names);
    let mut errors = Vec::new();
    for name in &names {
        match unit.function(name) {
            Ok(function) => {
                if let Err(error) = function.graph.lint() {
                    errors.push(format!("{name}: {error}\n{}", function.graph));
                }
            }
            Err(error) => errors.push(format!("{name}: {error}")),
        }
    }
    (names.len(), errors)
}

/// The models below the folder in `RUSHLIGHT_ZOO_CODE`: `<model>/<archive>/code/__torch__/...`.
#[test]
fn every_method_of_the_zoo_compiles() {
    let Some(folder) = std::env::var_os("RUSHLIGHT_ZOO_CODE") else { return };
    let operators = support::operators();
    let (mut models, mut methods, mut failed) = (0, 0, Vec::<String>::new());
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    for model in folders {
        for archive in std::fs::read_dir(&model).unwrap().map(|entry| entry.unwrap().path()) {
            let (count, errors) = compile(&archive.join("code"), &operators);
            models += 1;
            methods += count;
            if !errors.is_empty() {
                failed.push(format!("{}: {} of {count} fail\n{}", model.display(), errors.len(), errors[0]));
            }
        }
    }
    assert!(models > 0 && methods > 0, "the folder has no models");
    assert!(failed.is_empty(), "{} of {models} models fail\n{}", failed.len(), failed.join("\n"));
}
