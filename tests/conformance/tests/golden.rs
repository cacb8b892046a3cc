//! Every golden case of the repository, through the shipped library. A case that fails or is skipped must be
//! on the exempt list below, with its reason.

use rushlight_conformance::cases;
use rushlight_conformance::declared;
use rushlight_conformance::door::{Door, built_library};
use rushlight_conformance::pack;
use rushlight_conformance::properties::{self, Properties};
use rushlight_conformance::run::{self, Outcome};
use rushlight_conformance::suite;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The tests share the library's default generator and count its handles: one at a time.
static TURN: Mutex<()> = Mutex::new(());

fn data(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "data", name].iter().collect()
}

/// The files of all families: PyTorch's sample inputs, and the overloads that these do not reach.
fn recorded() -> Vec<Vec<u8>> {
    suite::contents(&data("golden")).unwrap()
}

/// Runs the cases of a file; returns how many passed and how many are excused, and adds the failures.
fn run_file(door: &Door, bytes: &[u8], wrong: &mut Vec<String>, only_known: bool) -> (usize, usize) {
    let (mut passed, mut excused) = (0, 0);
    for (op, cases) in cases::by_operator(cases::read(bytes).unwrap()) {
        for (at, case) in cases.iter().enumerate() {
            let (name, overload) = case.name();
            if !door.has(name, overload) {
                if !only_known {
                    wrong.push(format!("{op} case {at}: there is no such operator"));
                }
                continue;
            }
            match run::case(door, case) {
                Outcome::Passed => passed += 1,
                Outcome::Excused(_) => excused += 1,
                Outcome::WithoutKernel(reason) | Outcome::Failed(reason) => {
                    wrong.push(format!("{op} case {at}: {reason}"))
                }
            }
        }
    }
    (passed, excused)
}

/// Files and cases of the repository. Cases may be added; none may be lost.
const RECORDED: (usize, usize) = (1_060, 21_817);

#[test]
fn every_case_is_in_the_archive_of_its_family() {
    let (mut files, mut count, mut wrong) = (0, 0, Vec::new());
    for entry in std::fs::read_dir(data("golden")).unwrap() {
        let archive = entry.unwrap().path();
        let family = archive.file_name().unwrap().to_str().unwrap().strip_suffix(".tar.zst").unwrap().to_owned();
        for (name, bytes) in pack::read(&archive).unwrap() {
            let cases = cases::read(&bytes).unwrap();
            let stray = cases.iter().find(|case| {
                !declared::families(case.name().0).is_some_and(|families| families.contains(family.as_str()))
            });
            wrong.extend(stray.map(|case| format!("{family}: {name} has cases of {}", case.op)));
            (files, count) = (files + 1, count + cases.len());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(files >= RECORDED.0 && count >= RECORDED.1, "only {files} files, {count} cases");
}

#[test]
fn golden_cases_have_the_results_of_pytorch() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let door = Door::open(&built_library().unwrap()).unwrap();
    let (mut passed, mut excused, mut wrong) = (0, 0, Vec::new());
    for bytes in recorded() {
        let counts = run_file(&door, &bytes, &mut wrong, false);
        (passed, excused) = (passed + counts.0, excused + counts.1);
    }
    // Exemptions must stay rare.
    assert!(excused <= passed / 200, "{excused} of {} cases are excused", excused + passed);
    assert!(wrong.is_empty(), "{passed} passed, {} failed:\n{}", wrong.len(), wrong.join("\n"));
    assert!(passed > 3000, "only {passed} cases ran");
    assert_eq!(door.live_handles().unwrap(), 0);
}

#[test]
fn properties_hold_on_the_golden_inputs() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let door = Door::open(&built_library().unwrap()).unwrap();
    let properties = Properties::new(&door).unwrap();
    let (mut held, mut broken, mut on_threads) = (0, Vec::new(), 0);
    for (op, cases) in suite::by_operator(&data("golden")).unwrap() {
        let (name, overload) = cases[0].name();
        if !door.has(name, overload) {
            continue;
        }
        for case in &cases {
            let reasons = properties.check(case);
            held += usize::from(reasons.is_empty());
            broken.extend(reasons.into_iter().map(|reason| format!("{op}: {reason}")));
        }
        match properties.threads(&cases) {
            Ok(dtypes) => on_threads += usize::from(dtypes > 0),
            Err(reason) => broken.push(format!("{op}: threads: {reason}")),
        }
        let idle = properties.without_effect(&cases).unwrap();
        broken.extend(idle.into_iter().map(|name| format!("{op}: argument '{name}' has no effect")));
    }
    assert!(broken.is_empty(), "{held} cases hold, {} properties broken:\n{}", broken.len(), broken.join("\n"));
    assert!(held > 3000, "only {held} cases ran");
    assert!(on_threads > 200, "only {on_threads} operators ran on several threads");
}

/// Operators whose derivatives are checked by the golden inputs.
const DIFFERENTIABLE: usize = 400;

#[test]
fn derivatives_pass_gradcheck_and_gradgradcheck_in_double() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let door = Door::open(&built_library().unwrap()).unwrap();
    let properties = Properties::new(&door).unwrap();
    let (mut covered, mut wrong, mut operators) = (0, Vec::new(), HashSet::new());
    for bytes in recorded() {
        for (op, cases) in cases::by_operator(cases::read(&bytes).unwrap()) {
            let (name, overload) = cases[0].name();
            if !door.has(name, overload) {
                continue;
            }
            let mut checked = false;
            for (at, case) in cases.iter().enumerate() {
                match properties.gradcheck(case) {
                    Ok(nodes) => {
                        checked |= !nodes.is_empty();
                        operators.extend(nodes.iter().flat_map(|node| declared::operators_of_node(node)));
                    }
                    Err(reason) => wrong.push(format!("{op} case {at}: {reason}")),
                }
            }
            covered += usize::from(checked);
            operators.extend(declared::operator_of(&op).filter(|_| checked));
        }
    }
    assert!(wrong.is_empty(), "of {covered} operators {} cases fail:\n{}", wrong.len(), wrong.join("\n"));
    assert!(covered >= DIFFERENTIABLE, "only {covered} operators were checked");
    let mut missing = declared::differentiable();
    missing.retain(|name| !operators.contains(name) && !properties::is_defined(name));
    for (op, cases) in recorded().iter().flat_map(|bytes| cases::by_operator(cases::read(bytes).unwrap())) {
        let Some(at) = missing.iter().position(|name| declared::operator_of(&op).as_ref() == Some(name)) else {
            continue;
        };
        let checked: Result<Vec<_>, String> = cases.iter().map(|case| properties.gradcheck_declared(case)).collect();
        if checked.unwrap().iter().any(|nodes| !nodes.is_empty()) {
            missing.swap_remove(at);
        }
    }
    assert!(missing.is_empty(), "{} derivatives that no input checks:\n{}", missing.len(), missing.join("\n"));
    assert_eq!(door.live_handles().unwrap(), 0);
}

#[test]
fn random_numbers_are_those_of_pytorch() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let door = Door::open(&built_library().unwrap()).unwrap();
    let mut wrong = Vec::new();
    let bytes = std::fs::read(data("random.safetensors")).unwrap();
    let (passed, _) = run_file(&door, &bytes, &mut wrong, true);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(passed >= 780, "only {passed} cases ran");
}
