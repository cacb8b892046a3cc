//! The runner detects errors: of 500 golden cases in which one expected number is wrong, each fails.

use rushlight_conformance::cases::{self, Case, Item};
use rushlight_conformance::door::{Door, built_library};
use rushlight_conformance::exempt::{self, Extent};
use rushlight_conformance::freedom;
use rushlight_conformance::host::{Element, HostTensor};
use rushlight_conformance::run::{self, Outcome};
use rushlight_conformance::suite;
use std::path::PathBuf;

const CORRUPTIONS: usize = 500;
const SEED: u64 = 2026;

/// A position in a case whose expected number can be changed.
#[derive(Clone, Copy, Debug)]
enum Place {
    Result(usize),
    Gradient(usize),
    Mutated(usize),
}

fn next(state: &mut u64, below: usize) -> usize {
    // Knuth's linear congruential generator; the upper bits are the better ones.
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) % below as u64) as usize
}

fn has_values(item: &Item) -> bool {
    matches!(item, Item::Tensor(host) if host.numel() > 0 && host.bytes.is_some())
}

fn places(case: &Case) -> Vec<Place> {
    let results = case.outs.iter().enumerate().filter(|(_, item)| has_values(item)).map(|(at, _)| Place::Result(at));
    let results = results.filter(|_| !freedom::is_unwritten(case.name().0));
    let gradients = case.grads.iter().enumerate().filter(|(_, (_, item))| has_values(item));
    let mutated = case.mutated.iter().enumerate().filter(|(_, (_, item))| has_values(item));
    results
        .chain(gradients.map(|(at, _)| Place::Gradient(at)))
        .chain(mutated.map(|(at, _)| Place::Mutated(at)))
        .collect()
}

/// Changes one element by more than any tolerance allows.
fn corrupt(host: &mut HostTensor, at: usize) {
    let size = host.dtype.size();
    let Element::Number(before) = host.elements()[at] else {
        // Another integer; of a bool, the other one.
        let bytes = host.bytes.as_mut().unwrap();
        bytes[at * size] ^= 1;
        return;
    };
    let mut numbers = host.numbers();
    // A number that is not finite becomes one that is.
    if before.re.is_finite() {
        numbers[at].re += before.re.abs().max(1.0);
    } else {
        (numbers[at].re, numbers[at].im) = (0.5, 0.0);
    }
    host.set_numbers(&numbers);
}

fn tensor_at(case: &mut Case, place: Place) -> &mut HostTensor {
    let item = match place {
        Place::Result(at) => &mut case.outs[at],
        Place::Gradient(at) => &mut case.grads[at].1,
        Place::Mutated(at) => &mut case.mutated[at].1,
    };
    match item {
        Item::Tensor(host) => host,
        other => panic!("{other:?} has no values"),
    }
}

#[test]
fn every_corrupted_number_is_a_failure() {
    let door = Door::open(&built_library().unwrap()).unwrap();
    let golden: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "data", "golden"].iter().collect();
    let mut passing: Vec<Case> = Vec::new();
    for bytes in suite::contents(&golden).unwrap() {
        passing.extend(cases::read(&bytes).unwrap().into_iter().filter(|case| {
            let (name, overload) = case.name();
            door.has(name, overload) && !places(case).is_empty()
        }));
    }
    let (mut state, mut corrupted, mut kinds, mut unnoticed) = (SEED, 0, [0; 3], Vec::new());
    while corrupted < CORRUPTIONS {
        let index = next(&mut state, passing.len());
        // A case that fails unmodified proves nothing, nor does a case with exemptions.
        let excused = exempt::rule(&passing[index]).is_some_and(|rule| matches!(rule.extent, Extent::All));
        if excused || !matches!(run::case(&door, &passing[index]), Outcome::Passed) {
            continue;
        }
        let case = &mut passing[index];
        let places = places(case);
        let place = places[next(&mut state, places.len())];
        let host = tensor_at(case, place);
        let (before, element) = (host.clone(), next(&mut state, host.numel()));
        corrupt(host, element);
        let number = format!("{:?} instead of {:?}", host.elements()[element], before.elements()[element]);
        if !matches!(run::case(&door, case), Outcome::Failed(_)) {
            unnoticed.push(format!("{} {place:?} element {element}: {} {number}", case.op, before.dtype));
        }
        *tensor_at(case, place) = before;
        corrupted += 1;
        kinds[match place {
            Place::Result(_) => 0,
            Place::Gradient(_) => 1,
            Place::Mutated(_) => 2,
        }] += 1;
    }
    assert!(unnoticed.is_empty(), "{} of {CORRUPTIONS} unnoticed:\n{}", unnoticed.len(), unnoticed.join("\n"));
    assert!(kinds[0] > 100 && kinds[1] > 50, "results and gradients were corrupted: {kinds:?}");
}
