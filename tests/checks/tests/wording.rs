//! Comments, messages and documents use the words of PyTorch's documentation.

use rushlight_checks::{root, wording};
use std::fs::read_to_string;
use std::process::Command;

fn phrases() -> Vec<Vec<String>> {
    wording::phrases(&read_to_string(root().join("CONTRIBUTING.md")).unwrap())
}

#[test]
fn no_file_has_words_that_the_list_replaces() {
    let listed = Command::new("git").args(["ls-files"]).current_dir(root()).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let paths: Vec<&str> = listed.lines().filter(|path| wording::applies(path)).collect();
    assert!(paths.len() > 1000, "{} files", paths.len());
    let read = |path: &&str| read_to_string(root().join(path)).ok();
    let texts: Vec<Option<String>> = paths.iter().map(read).collect();
    let files = paths.iter().zip(&texts).filter_map(|(path, text)| Some((*path, text.as_deref()?)));
    let problems = wording::problems(&phrases(), files);
    assert!(problems.is_empty(), "CONTRIBUTING.md has other words for these:\n{}", problems.join("\n"));
}

#[test]
fn comments_strings_names_and_documents_are_searched_and_code_is_not() {
    let phrases = phrases();
    assert!(phrases.len() > 10, "{phrases:?}");
    let problems = |path: &str, text: &str| wording::problems(&phrases, [(path, text)]);
    for (path, text) in [
        ("a.rs", "/// The conjugate, put\n/// off.\nfn conj() {}"),
        ("a.rs", "fn the_law_holds() {}"),
        ("a.c", "puts(\"the faces\"); /* ok */"),
        ("a.py", "x = 1  # whoever calls"),
        ("a.md", "It is *put\noff* here."),
    ] {
        assert_eq!(problems(path, text).len(), 1, "{path}: {text}");
    }
    assert_eq!(problems("a.rs", "let faces = shape.faces();\n// A surface.\n"), [""; 0]);
}
