//! Code that PyTorch wrote.

mod support;

use std::path::{Path, PathBuf};

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            files.push(path);
        }
    }
}

/// The files below `tests/data/code`, or below the folder in `RUSHLIGHT_CODE`.
#[test]
fn files_parse_print_and_parse_to_the_same_tree() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/code");
    let folder = std::env::var_os("RUSHLIGHT_CODE").map_or(own, PathBuf::from);
    let mut files = Vec::new();
    collect(&folder, &mut files);
    assert!(files.len() >= 8, "{} has only {} files", folder.display(), files.len());
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let module = support::round_trip(&text);
        let defs = text.lines().filter(|line| line.trim_start().starts_with("def ")).count();
        assert_eq!(support::dump(&module).matches("Function {").count(), defs, "{}", file.display());
    }
}
