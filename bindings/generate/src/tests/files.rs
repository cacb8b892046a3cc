//! Writing is idempotent, stale files are found, and the checked-in headers are up to date.

use crate::output::{self, FileSet};
use opgen::emit::OutFile;
use std::path::{Path, PathBuf};

/// A scratch folder that is removed when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("generate-test-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_second_run_changes_nothing_and_stale_files_are_named() {
    let scratch = Scratch::new("idempotence");
    let file = |name: &str, text: &str| OutFile { path: format!("out/{name}"), text: text.into() };
    let set = FileSet {
        folder: scratch.0.clone(),
        owned: vec!["out".into()],
        files: vec![file("a.txt", "a\n"), file("deep/b.txt", "b\n")],
    };
    assert_eq!(output::write(&set).unwrap(), 2);
    assert_eq!(output::write(&set).unwrap(), 0);
    std::fs::write(scratch.0.join("out/a.txt"), "edited\n").unwrap();
    std::fs::write(scratch.0.join("out/old.txt"), "left over\n").unwrap();
    assert_eq!(output::stale(&set).unwrap(), ["out/a.txt", "out/old.txt"]);
    assert_eq!(output::write(&set).unwrap(), 2);
    assert!(!scratch.0.join("out/old.txt").exists());
    assert!(output::stale(&set).unwrap().is_empty());
}

#[test]
fn the_checked_in_headers_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let families = opgen::load().unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
    let set = output::headers(&root, &families).unwrap();
    assert_eq!(output::stale(&set).unwrap(), Vec::<String>::new(), "run `make headers`");
}

#[test]
fn broken_rust_is_rejected() {
    let error = output::formatted("x/broken.rs", "fn (".into()).unwrap_err();
    assert!(error.starts_with("rustfmt rejects the generated code:") && error.contains("x/broken.rs"), "{error}");
}
