//! Golden files as suites: their contents, and the results of an operator's cases.

use crate::cases::{self, Case};
use crate::door::Door;
use crate::pack;
use crate::properties::Properties;
use crate::run::{self, Outcome};
use std::path::{Path, PathBuf};

/// The results of the cases of an operator. Cases are counted from 0.
pub struct Tally {
    /// `aten::add.Tensor`
    pub op: String,
    /// Number of cases that agree with PyTorch.
    pub passed: usize,
    /// The cases that do not, with the reasons.
    pub failed: Vec<(usize, String)>,
    /// The cases that do not for a stated reason.
    pub excused: Vec<(usize, &'static str)>,
    /// Number of cases of operators that the library does not have.
    pub skipped: usize,
    /// The cases for which the device has no kernel, with the errors.
    pub without_kernel: Vec<(usize, String)>,
}

/// The cases of the golden files at `path` by operator, with those of all files of an operator in a row.
pub fn by_operator(path: &Path) -> Result<Vec<(String, Vec<Case>)>, String> {
    let mut all = Vec::new();
    for bytes in contents(path)? {
        all.extend(cases::read(&bytes).map_err(|error| format!("{}: {error}", path.display()))?);
    }
    Ok(cases::by_operator(all))
}

/// The contents of the golden files at `path`: of a folder with such files and packed archives, or of one.
pub fn contents(path: &Path) -> Result<Vec<Vec<u8>>, String> {
    let mut all = Vec::new();
    for file in files(path)? {
        if has_extension(&file, "zst") {
            all.extend(pack::read(&file)?.into_iter().map(|(_, bytes)| bytes));
        } else {
            all.push(std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?);
        }
    }
    Ok(all)
}

fn has_extension(file: &Path, wanted: &str) -> bool {
    file.extension().is_some_and(|extension| extension == wanted)
}

fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| has_extension(file, "safetensors") || has_extension(file, "zst"));
    files.sort();
    Ok(files)
}

/// Runs the cases of an operator, or checks the properties on their inputs.
pub fn tally(door: &Door, properties: Option<&Properties>, op: String, cases: &[Case]) -> Tally {
    let mut tally =
        Tally { op, passed: 0, failed: Vec::new(), excused: Vec::new(), skipped: 0, without_kernel: Vec::new() };
    for (at, case) in cases.iter().enumerate() {
        let (name, overload) = case.name();
        if !door.has(name, overload) {
            tally.skipped += 1;
            continue;
        }
        if let Some(properties) = properties {
            let mut broken = properties.check(case);
            broken.extend(properties.gradcheck(case).err().map(|reason| format!("gradcheck: {reason}")));
            tally.passed += usize::from(broken.is_empty());
            tally.failed.extend(broken.into_iter().map(|reason| (at, reason)));
            continue;
        }
        match run::case(door, case) {
            Outcome::Passed => tally.passed += 1,
            Outcome::Failed(reason) => tally.failed.push((at, reason)),
            Outcome::Excused(reason) => tally.excused.push((at, reason)),
            Outcome::WithoutKernel(reason) => tally.without_kernel.push((at, reason)),
        }
    }
    if let Some(properties) = properties {
        match properties.without_effect(cases) {
            Ok(idle) => tally.failed.extend(idle.into_iter().map(|name| (0, format!("'{name}' has no effect")))),
            Err(error) => tally.failed.push((0, format!("effects: {error}"))),
        }
        if door.has(cases[0].name().0, cases[0].name().1)
            && let Err(error) = properties.threads(cases)
        {
            tally.failed.push((0, format!("threads: {error}")));
        }
    }
    tally
}
