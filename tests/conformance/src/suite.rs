//! Golden files as suites: what is in them, and how an operator's cases went.

use crate::cases::Case;
use crate::door::Door;
use crate::laws::Laws;
use crate::pack;
use crate::run::{self, Outcome};
use std::path::{Path, PathBuf};

/// How the cases of an operator went. Cases are counted from 0.
pub struct Tally {
    /// `aten::add.Tensor`
    pub op: String,
    /// How many agree with PyTorch.
    pub passed: usize,
    /// Which do not, and why.
    pub failed: Vec<(usize, String)>,
    /// Which do not for a stated reason.
    pub excused: Vec<(usize, &'static str)>,
    /// How many call an operator that the library does not have.
    pub skipped: usize,
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

/// Runs the cases of an operator, or the laws on their inputs.
pub fn tally(door: &Door, laws: Option<&Laws>, op: String, cases: &[Case]) -> Tally {
    let mut tally = Tally { op, passed: 0, failed: Vec::new(), excused: Vec::new(), skipped: 0 };
    for (at, case) in cases.iter().enumerate() {
        let (name, overload) = case.name();
        if !door.has(name, overload) {
            tally.skipped += 1;
            continue;
        }
        if let Some(laws) = laws {
            let mut broken = laws.check(case);
            broken.extend(laws.gradcheck(case).err().map(|reason| format!("gradcheck: {reason}")));
            tally.passed += usize::from(broken.is_empty());
            tally.failed.extend(broken.into_iter().map(|reason| (at, reason)));
            continue;
        }
        match run::case(door, case) {
            Outcome::Passed => tally.passed += 1,
            Outcome::Failed(reason) => tally.failed.push((at, reason)),
            Outcome::Excused(reason) => tally.excused.push((at, reason)),
        }
    }
    if let Some(laws) = laws {
        match laws.without_effect(cases) {
            Ok(idle) => tally.failed.extend(idle.into_iter().map(|name| (0, format!("'{name}' has no effect")))),
            Err(error) => tally.failed.push((0, format!("effects: {error}"))),
        }
        if door.has(cases[0].name().0, cases[0].name().1)
            && let Err(error) = laws.threads(cases)
        {
            tally.failed.push((0, format!("threads: {error}")));
        }
    }
    tally
}
