//! Results are recorded for a commit only: `--markdown` (`make compare RESULTS=file`) fails in a work tree with
//! changes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rushlight-compare-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let who = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
    let status = Command::new("git").args(who).args(arguments).current_dir(folder).status().unwrap();
    assert!(status.success(), "git {arguments:?}");
}

/// A repository with one commit.
fn repository(folder: &Path) {
    git(folder, &["init", "-q"]);
    std::fs::write(folder.join("source"), "first\n").unwrap();
    git(folder, &["add", "source"]);
    git(folder, &["commit", "-q", "-m", "first"]);
}

fn compare(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rushlight-compare")).args(arguments).current_dir(folder).output().unwrap()
}

/// Runs the driver with programs that do not exist, which is the error that it reports if it accepts the work tree.
fn run(folder: &Path) -> String {
    let output = compare(folder, &["run", "--rushlight", "./none", "--machine", "./none", "--markdown", "results.md"]);
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

/// Writes the record of a measurement without cases, at a commit.
fn record(folder: &Path, commit: &str) {
    let setting = format!(
        r#"{{"date": "2026-01-01", "commit": "{commit}", "cpu": "", "cores": 2, "system": "", "compiler": "", "rushlight": "0",
             "libtorch": null, "rounds": 1, "load": 0, "others": 0}}"#
    );
    std::fs::write(folder.join("record.json"), format!(r#"{{"setting": {setting}, "limits": [], "cases": []}}"#))
        .unwrap();
}

#[test]
fn a_run_in_a_tree_with_changes_ends_before_it_measures() {
    let folder = Folder::new("run");
    repository(&folder.0);
    let clean = run(&folder.0);
    assert!(clean.contains("./none") && !clean.contains("not written"), "{clean}");
    std::fs::write(folder.0.join("source"), "second\n").unwrap();
    let dirty = run(&folder.0);
    assert!(dirty.contains("results.md is not written: the figures are of ") && dirty.contains("-dirty"), "{dirty}");
}

#[test]
fn a_report_of_figures_without_a_commit_is_not_written() {
    let folder = Folder::new("report");
    let report = ["report", "record.json", "--markdown", "results.md"];
    for commit in ["597adfa-dirty", "unknown"] {
        record(&folder.0, commit);
        let output = compare(&folder.0, &report);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains("results.md is not written"), "{commit}: {text}");
        assert!(!folder.0.join("results.md").exists());
    }
    record(&folder.0, "597adfa");
    let output = compare(&folder.0, &report);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::read_to_string(folder.0.join("results.md")).unwrap().contains("597adfa"));
}
