//! `tests/stages.sh`, which `make test` runs: the table of times, failures, and the check that the work tree stays clean.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

const MAKEFILE: &str = "\
begin-%:
	@tests/stages.sh --begin $*
end-%: %
	@tests/stages.sh --end $*
shared:
	@echo shared
good: shared
	@echo good
other: shared
	@echo other
bad:
	@false
dirty:
	@echo text >model.pt
ignored:
	@echo text >build/model.pt
waits:
	@i=0; while [ $$i -lt 100 ] && ! test -e build/ahead; do sleep 0.1; i=$$((i+1)); done; test -e build/ahead
";

/// A repository with a Makefile and the script, which is removed at the end.
struct Repository(PathBuf);

impl Repository {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("rushlight-stages-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(folder.join("tests")).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stages.sh");
        std::fs::copy(script, folder.join("tests/stages.sh")).unwrap();
        std::fs::write(folder.join("Makefile"), MAKEFILE).unwrap();
        std::fs::write(folder.join(".gitignore"), "/build\n").unwrap();
        let repository = Repository(folder);
        for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "first"]] {
            let who = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
            let status = Command::new("git").args(who).args(arguments).current_dir(&repository.0).status().unwrap();
            assert!(status.success(), "git {arguments:?}");
        }
        repository
    }

    fn stages(&self, arguments: &[&str]) -> Output {
        // Without the variables of the make that may run this test.
        let mut command = Command::new(self.0.join("tests/stages.sh"));
        command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").env_remove("MFLAGS");
        command.args(arguments).current_dir(&self.0).output().unwrap()
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn stages_run_in_order_and_their_times_are_printed() {
    let output = Repository::new().stages(&["good", "other"]);
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{printed}{}", text(&output.stderr));
    let lines: Vec<&str> = printed.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines[..5], ["== good", "shared", "good", "== other", "other"]);
    let names: Vec<&str> = lines[5..].iter().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(names, ["good", "other", "all"]);
    assert!(lines[5..].iter().all(|line| line.contains(" min ") && line.ends_with(" s")), "{printed}");
}

#[test]
fn stages_after_a_failed_one_still_run() {
    let output = Repository::new().stages(&["good", "bad", "other"]);
    let printed = text(&output.stdout);
    assert!(!output.status.success());
    assert!(printed.contains("== bad\n") && printed.contains("== other\nother"), "{printed}");
    let failed: Vec<&str> = printed.lines().filter(|line| line.ends_with("failed")).collect();
    assert!(failed.len() == 1 && failed[0].starts_with("bad "), "{printed}");
}

#[test]
fn a_clean_work_tree_must_stay_clean() {
    let repository = Repository::new();
    assert!(repository.stages(&["ignored"]).status.success());
    let output = repository.stages(&["dirty"]);
    assert!(!output.status.success());
    let errors = text(&output.stderr);
    assert!(errors.contains("changed the work tree") && errors.contains("?? model.pt"), "{errors}");
    // This time it was not clean before: a developer may edit while the tests run.
    assert!(repository.stages(&["dirty"]).status.success());
}

#[test]
fn a_background_command_serves_later_stages_and_ends_with_them() {
    let repository = Repository::new();
    let output = repository.stages(&["--ahead", "touch build/ahead", "waits"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    std::fs::remove_file(repository.0.join("build/ahead")).unwrap();
    let output = repository.stages(&["--ahead", "echo $$ >build/pid; touch build/ahead; sleep 60", "waits", "bad"]);
    assert!(!output.status.success());
    let pid = std::fs::read_to_string(repository.0.join("build/pid")).unwrap();
    let runs = || {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    let start = std::time::Instant::now();
    while runs() && start.elapsed().as_secs() < 10 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(!runs(), "the command in the background was not ended");
}
