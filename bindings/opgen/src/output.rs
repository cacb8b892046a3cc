//! Puts generated files on disk, or says which of them are stale.

use crate::emit::{Emitter, OutFile};
use crate::model::Family;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs the emitters and formats what is Rust.
pub fn generate(root: &Path, emitters: &[Emitter], families: &[Family]) -> Result<Vec<OutFile>, String> {
    let mut files: Vec<OutFile> = Vec::new();
    for emitter in emitters {
        files.extend((emitter.emit)(root, families).map_err(|problem| format!("{}: {problem}", emitter.name))?);
    }
    for file in &mut files {
        if !file.text.ends_with('\n') {
            file.text.push('\n');
        }
    }
    format_rust(root, &mut files)?;
    Ok(files)
}

/// Paths whose content on disk differs, is missing, or should not be there.
pub fn stale(root: &Path, emitters: &[Emitter], files: &[OutFile]) -> Result<Vec<String>, String> {
    let mut stale: Vec<String> = Vec::new();
    for file in files {
        if std::fs::read_to_string(root.join(&file.path)).ok().as_deref() != Some(&file.text) {
            stale.push(file.path.clone());
        }
    }
    stale.extend(leftovers(root, emitters, files)?);
    Ok(stale)
}

/// Writes what differs and removes what no emitter writes any more; returns those paths.
pub fn write(root: &Path, emitters: &[Emitter], files: &[OutFile]) -> Result<Vec<String>, String> {
    let stale = stale(root, emitters, files)?;
    for path in &stale {
        let target = root.join(path);
        let result = match files.iter().find(|file| file.path == *path) {
            Some(file) => target
                .parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| std::fs::write(&target, &file.text)),
            None => std::fs::remove_file(&target),
        };
        result.map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(stale)
}

/// Files in the emitters' own folders that no emitter writes.
fn leftovers(root: &Path, emitters: &[Emitter], files: &[OutFile]) -> Result<Vec<String>, String> {
    let known: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let mut pending: Vec<String> =
        emitters.iter().flat_map(|emitter| emitter.folders).map(|folder| folder.to_string()).collect();
    let mut found = Vec::new();
    while let Some(folder) = pending.pop() {
        let Ok(listing) = std::fs::read_dir(root.join(&folder)) else { continue };
        for entry in listing {
            let entry = entry.map_err(|error| format!("{folder}: {error}"))?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                pending.push(path);
            } else if !known.contains(path.as_str()) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Formats the Rust files in a scratch folder, with the repository's settings.
fn format_rust(root: &Path, files: &mut [OutFile]) -> Result<(), String> {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let scratch = std::env::temp_dir().join(format!("opgen-{}-{run}", std::process::id()));
    let result = format_in(root, &scratch, files);
    // The scratch folder is ours alone; that it is gone or cannot go changes no result.
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
    // Flat names, so that `mod x;` in one file does not make rustfmt look for another.
    std::fs::create_dir_all(scratch).map_err(failed)?;
    for (index, file) in rust.iter().enumerate() {
        let path = scratch.join(format!("f{index}.rs"));
        std::fs::write(&path, without_modules(&file.text)).map_err(failed)?;
        command.arg(path);
    }
    let output = command.output().map_err(|error| format!("rustfmt: {error}"))?;
    if !output.status.success() {
        let names: Vec<String> =
            rust.iter().enumerate().map(|(index, file)| format!("f{index}.rs = {}", file.path)).collect();
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("rustfmt refuses generated code:\n{text}\n{}", names.join("\n")));
    }
    for (index, file) in rust.iter_mut().enumerate() {
        let text = std::fs::read_to_string(scratch.join(format!("f{index}.rs"))).map_err(failed)?;
        file.text = with_modules(&text);
    }
    Ok(())
}

const MODULE_MARK: &str = "const OPGEN_MODULE_";

/// `mod x;` as a constant, which rustfmt formats alike but does not follow.
fn without_modules(text: &str) -> String {
    let lines = text.lines().map(|line| match module(line) {
        Some((visibility, name)) => format!("{visibility}{MODULE_MARK}{name}: () = ();"),
        None => line.to_string(),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn with_modules(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once(MODULE_MARK) {
        Some((visibility, rest)) => format!("{visibility}mod {};", rest.trim_end_matches(": () = ();")),
        None => line.to_string(),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn module(line: &str) -> Option<(&str, &str)> {
    let at = line.find("mod ").filter(|at| matches!(&line[..*at], "" | "pub " | "pub(crate) "))?;
    let name = line[at + 4..].strip_suffix(';')?;
    Some((&line[..at], name))
}
