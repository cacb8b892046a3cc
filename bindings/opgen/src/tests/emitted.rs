//! The emitted text of typical operators is what is written in `data/`, a second run changes nothing, and stale
//! files are found.

use crate::emit::{self, Emitter, OutFile};
use crate::{load, output};
use std::path::Path;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// One operator of each kind, with everything that its kind brings.
const SAMPLES: &str = include_str!("data/sample.toml");

fn emitted(module: &str) -> String {
    let mut families =
        [load::family("core/schema/ops/sample.toml", SAMPLES).unwrap_or_else(|p| panic!("{}", p.join("\n")))];
    assert!(load::finish(&mut families).is_empty());
    let files = output::generate(root(), &[emit::rust_ops::EMITTER], &families).unwrap();
    let path = format!("{}/sample/{module}.rs", emit::rust_ops::FOLDER);
    files.into_iter().find(|file| file.path == path).unwrap_or_else(|| panic!("no {path}")).text
}

/// Compares, or writes the expected texts when `OPGEN_BLESS` is set (then look at the difference in git).
#[track_caller]
fn check(module: &str) {
    let path = root().join(format!("bindings/opgen/src/tests/data/{module}.rs.txt"));
    let text = emitted(module);
    if std::env::var_os("OPGEN_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    for (number, (found, wanted)) in text.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, wanted, "line {} of {module}", number + 1);
    }
    assert_eq!(text.len(), expected.len(), "{module}");
}

#[test]
fn a_kernel_with_all_its_forms() {
    check("mul");
}

#[test]
fn a_view() {
    check("transpose");
}

#[test]
fn a_list_and_metadata() {
    check("cat");
}

#[test]
fn a_composite_with_a_copied_form() {
    check("linear");
}

#[test]
fn several_outputs_with_a_joint_formula() {
    check("norm_pair");
}

#[test]
fn an_operator_that_exists_in_place_only() {
    check("uniform");
}

/// A scratch folder that goes when the test ends.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("opgen-test-{name}-{}", std::process::id()));
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
    let emitters = [Emitter { name: "test", folders: &["out"], emit: |_, _| Ok(Vec::new()) }];
    let file = |name: &str, text: &str| OutFile { path: format!("out/{name}"), text: text.into() };
    let files = [file("a.txt", "a\n"), file("deep/b.txt", "b\n")];
    assert_eq!(output::write(&scratch.0, &emitters, &files).unwrap(), ["out/a.txt", "out/deep/b.txt"]);
    assert!(output::write(&scratch.0, &emitters, &files).unwrap().is_empty());
    std::fs::write(scratch.0.join("out/a.txt"), "edited\n").unwrap();
    std::fs::write(scratch.0.join("out/old.txt"), "left over\n").unwrap();
    assert_eq!(output::stale(&scratch.0, &emitters, &files).unwrap(), ["out/a.txt", "out/old.txt"]);
    assert_eq!(output::write(&scratch.0, &emitters, &files).unwrap(), ["out/a.txt", "out/old.txt"]);
    assert!(!scratch.0.join("out/old.txt").exists());
    assert!(output::stale(&scratch.0, &emitters, &files).unwrap().is_empty());
}

#[test]
fn what_is_checked_in_is_what_is_emitted() {
    let families = load::load(root()).unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
    let files = output::generate(root(), emit::ALL, &families).unwrap();
    assert_eq!(output::stale(root(), emit::ALL, &files).unwrap(), Vec::<String>::new(), "run `make opgen`");
}

#[test]
fn broken_rust_is_refused() {
    let emitters = [Emitter {
        name: "test",
        folders: &[],
        emit: |_, _| Ok(vec![OutFile { path: "x/broken.rs".into(), text: "fn (".into() }]),
    }];
    let error = output::generate(root(), &emitters, &[]).unwrap_err();
    assert!(error.starts_with("rustfmt refuses generated code:") && error.contains("x/broken.rs"), "{error}");
}
