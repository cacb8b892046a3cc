//! Writes generated files, or lists which of them are stale.

use crate::{csharp, headers, parts};
use opgen::emit::{self, OutFile, Place};
use opgen::model::Family;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Files with the folder that they are below.
pub struct FileSet {
    /// The folder
    pub folder: PathBuf,
    /// Folders below it that contain only generated files: any other file there is stale
    pub owned: Vec<String>,
    /// The files
    pub files: Vec<OutFile>,
}

/// The checked-in files: the headers of C and C++.
pub fn headers(root: &Path, families: &[Family]) -> Result<FileSet, String> {
    let mut set = emitted(Place::Repository, root.to_owned(), families)?;
    set.files.extend(headers::files(root, families)?);
    set.owned.push(headers::FOLDER.into());
    Ok(set)
}

/// The output for tests, documents and packages.
pub fn build(root: &Path, out: &Path, families: &[Family]) -> Result<FileSet, String> {
    let mut set = emitted(Place::Build, out.to_owned(), families)?;
    set.files.extend(headers::programs(root, families)?);
    set.files.extend(csharp::files(root)?);
    Ok(set)
}

/// Java's sources and tests, in the folders that Maven reads.
pub fn java(root: &Path, families: &[Family]) -> Result<[FileSet; 2], String> {
    let folder = |name: &str| root.join("java/target").join(name).join("rushlight");
    let mut sources = emitted(Place::Java, folder("generated-sources"), families)?;
    parts::merge(root, &mut sources.files)?;
    Ok([sources, emitted(Place::JavaTest, folder("generated-test-sources"), families)?])
}

/// A formatted copy of the code that build scripts write, in a folder per crate.
pub fn rust(root: &Path, out: &Path, families: &[Family]) -> Result<FileSet, String> {
    let mut files = Vec::new();
    for emitter in emit::ALL {
        if let Place::Crate(folder) = emitter.place {
            let of_crate = emitter.files(families)?;
            files.extend(of_crate.into_iter().map(|file| OutFile { path: format!("{folder}/{}", file.path), ..file }));
        }
    }
    format_rust(root, &mut files)?;
    Ok(FileSet { folder: out.to_owned(), owned: vec![".".into()], files })
}

fn emitted(place: Place, folder: PathBuf, families: &[Family]) -> Result<FileSet, String> {
    let mut set = FileSet { folder, owned: Vec::new(), files: Vec::new() };
    for emitter in emit::ALL.iter().filter(|emitter| emitter.place == place) {
        set.files.extend(emitter.files(families)?);
        set.owned.extend(emitter.folders.iter().map(|folder| folder.to_string()));
    }
    Ok(set)
}

/// Paths whose content on disk differs, is missing, or should not be there.
pub fn stale(set: &FileSet) -> Result<Vec<String>, String> {
    let differs =
        |file: &&OutFile| std::fs::read_to_string(set.folder.join(&file.path)).ok().as_deref() != Some(&file.text);
    let mut stale: Vec<String> = set.files.iter().filter(differs).map(|file| file.path.clone()).collect();
    stale.extend(leftovers(set)?);
    Ok(stale)
}

/// Writes changed files and removes stale ones; returns how many files changed.
pub fn write(set: &FileSet) -> Result<usize, String> {
    let stale = stale(set)?;
    for path in &stale {
        let target = set.folder.join(path);
        let result = match set.files.iter().find(|file| file.path == *path) {
            Some(file) => target
                .parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| std::fs::write(&target, &file.text)),
            None => std::fs::remove_file(&target),
        };
        result.map_err(|error| format!("{}: {error}", target.display()))?;
    }
    Ok(stale.len())
}

/// Files in the owned folders that do not belong to the set.
fn leftovers(set: &FileSet) -> Result<Vec<String>, String> {
    let known: BTreeSet<&Path> = set.files.iter().map(|file| Path::new(&file.path)).collect();
    let mut pending: Vec<PathBuf> = set.owned.iter().map(PathBuf::from).collect();
    let mut found = Vec::new();
    while let Some(folder) = pending.pop() {
        let Ok(listing) = std::fs::read_dir(set.folder.join(&folder)) else { continue };
        for entry in listing {
            let entry = entry.map_err(|error| format!("{}: {error}", folder.display()))?;
            let path = if folder == Path::new(".") {
                PathBuf::from(entry.file_name())
            } else {
                folder.join(entry.file_name())
            };
            if entry.path().is_dir() {
                pending.push(path);
            } else if !known.contains(path.as_path()) {
                found.push(path.display().to_string());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Formats this text as the Rust file `path`.
#[cfg(test)]
pub fn formatted(path: &str, text: String) -> Result<String, String> {
    let mut files = [OutFile { path: path.into(), text }];
    format_rust(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &mut files)?;
    let [file] = files;
    Ok(file.text)
}

/// Formats the Rust files in a scratch folder, with the repository's settings.
fn format_rust(root: &Path, files: &mut [OutFile]) -> Result<(), String> {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let scratch = std::env::temp_dir().join(format!("generate-{}-{run}", std::process::id()));
    let result = format_in(root, &scratch, files);
    // A scratch folder that cannot be removed changes no result.
    let _ = std::fs::remove_dir_all(&scratch);
    result
}

fn format_in(root: &Path, scratch: &Path, files: &mut [OutFile]) -> Result<(), String> {
    let mut rust: Vec<&mut OutFile> = files.iter_mut().filter(|file| file.path.ends_with(".rs")).collect();
    if rust.is_empty() {
        return Ok(());
    }
    let failed = |error: std::io::Error| format!("{}: {error}", scratch.display());
    let mut command = Command::new("rustfmt");
    command.args(["--edition", "2024", "--config-path"]).arg(root.join("rustfmt.toml"));
    std::fs::create_dir_all(scratch).map_err(failed)?;
    for (index, file) in rust.iter().enumerate() {
        let path = scratch.join(format!("f{index}.rs"));
        std::fs::write(&path, &file.text).map_err(failed)?;
        command.arg(path);
    }
    let output = command.output().map_err(|error| format!("rustfmt: {error}"))?;
    if !output.status.success() {
        let names: Vec<String> =
            rust.iter().enumerate().map(|(index, file)| format!("f{index}.rs = {}", file.path)).collect();
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("rustfmt rejects the generated code:\n{text}\n{}", names.join("\n")));
    }
    for (index, file) in rust.iter_mut().enumerate() {
        file.text = std::fs::read_to_string(scratch.join(format!("f{index}.rs"))).map_err(failed)?;
    }
    Ok(())
}
