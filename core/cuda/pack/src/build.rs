//! Compiles the kernels.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "nvptx64-nvidia-cuda";

/// Whether the source of the standard library is installed.
pub(crate) fn can_build() -> Result<bool> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().context("cannot run rustc")?;
    let root = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    Ok(root.join("lib/rustlib/src/rust/library/core/src/lib.rs").exists())
}

/// The PTX of all kernels.
pub(crate) fn assembly(crate_folder: &Path) -> Result<String> {
    // A folder of its own: the other builds of the workspace would wait for its lock.
    let target = crate_folder.join("../../../target/kernels");
    let status = Command::new("cargo")
        .current_dir(crate_folder)
        .args(["rustc", "--quiet", "--release", "--locked", "--lib", "--target", TARGET, "-Zbuild-std=core"])
        .arg("--target-dir")
        .arg(&target)
        // The oldest devices and drivers; more only where a kernel says so. Nontrivial unswitching would copy the loop of
        // a kernel for each operand that may be a constant. A switch has few cases, and is never a table of jumps.
        .args(["--", "--emit=asm", "-Ctarget-cpu=sm_70", "-Ctarget-feature=+ptx70"])
        .args(["-Cllvm-args=-enable-nontrivial-unswitch=false -min-jump-table-entries=1000"])
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_ENCODED_RUSTFLAGS", "-Zunstable-options\u{1f}-Cpanic=immediate-abort")
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "the kernels do not compile");
    let mut newest: Option<(std::time::SystemTime, PathBuf)> = None;
    for entry in std::fs::read_dir(target.join(TARGET).join("release/deps"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("rushlight_cuda_kernels") && name.ends_with(".s") {
            let time = entry.metadata()?.modified()?;
            if newest.as_ref().is_none_or(|(other, _)| time > *other) {
                newest = Some((time, entry.path()));
            }
        }
    }
    let (_, path) = newest.context("the compiler wrote no assembly")?;
    std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}
