//! `rushlight-cuda-pack`: compiles `core/cuda/kernels` for nvptx64 and writes `core/cuda/ptx/*.zst`, a file for each
//! subject: a zstd stream of PTX modules, each of one kernel and after a line `//kernel <symbol>`. `--check` compares
//! instead. Both need the source of the standard library (`rustup component add rust-src`) and the command `zstd`.

mod build;
mod module;
#[cfg(test)]
#[path = "../../src/file.rs"]
mod reader;

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;

fn main() -> Result<()> {
    let check = std::env::args().nth(1).is_some_and(|argument| argument == "--check");
    let mut out = std::io::stdout().lock();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels");
    if !build::can_build()? {
        ensure!(check, "the source of the standard library is missing: rustup component add rust-src");
        writeln!(out, "check-kernels: skipped, not proven: rust-src is missing (rustup component add rust-src)")?;
        return Ok(());
    }
    let files = packed(&build::assembly(&root)?)?;
    let folder = root.join("../ptx");
    let (mut kernels, mut bytes) = (0, 0);
    let mut stale = Vec::new();
    for (name, file) in &files {
        let path = folder.join(format!("{name}.zst"));
        kernels += file.kernels;
        bytes += file.bytes.len();
        if !check {
            std::fs::write(&path, &file.bytes).with_context(|| format!("cannot write {}", path.display()))?;
            writeln!(out, "{name}: {} kernels, {} of {} bytes", file.kernels, file.bytes.len(), file.text.len())?;
        } else if checked_in(&path).as_deref() != Some(&file.text) {
            stale.push(name.clone());
        }
    }
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if path.extension().is_some_and(|extension| extension == "zst") && !files.contains_key(name) {
            if check {
                stale.push(name.to_string());
            } else {
                std::fs::remove_file(&path)?;
            }
        }
    }
    ensure!(stale.is_empty(), "run `make kernels`: these files of kernels are not what the source gives: {stale:?}");
    writeln!(out, "{kernels} kernels, {bytes} bytes")?;
    Ok(())
}

/// A file of kernels.
struct File {
    text: String,
    bytes: Vec<u8>,
    kernels: usize,
}

/// The text of a checked-in file: releases of zstd may compress it to different bytes.
fn checked_in(path: &Path) -> Option<String> {
    let output = Command::new("zstd").args(["-d", "-q", "-c"]).arg(path).output().ok()?;
    String::from_utf8(output.stdout).ok().filter(|_| output.status.success())
}

fn packed(assembly: &str) -> Result<BTreeMap<String, File>> {
    let mut texts: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for kernel in module::kernels(assembly)? {
        let (text, kernels) = texts.entry(kernel.file).or_default();
        text.push_str(&format!("//kernel {}\n", kernel.symbol));
        text.push_str(&kernel.text);
        *kernels += 1;
    }
    let file = |(name, (text, kernels)): (String, (String, usize))| {
        Ok((name, File { bytes: compressed(&text)?, kernels, text }))
    };
    texts.into_iter().map(file).collect()
}

/// The text as a zstd stream.
fn compressed(text: &str) -> Result<Vec<u8>> {
    let mut input = tempfile::NamedTempFile::new()?;
    input.write_all(text.as_bytes())?;
    let output = Command::new("zstd").args(["-19", "--long=24", "--no-check", "-q", "-c"]).arg(input.path()).output();
    let output = output.context("cannot run zstd")?;
    ensure!(output.status.success(), "zstd failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}
