//! The modules of the files of kernels, and the architectures that run them.

use anyhow::{Context, Result, ensure};
use ruzstd::decoding::StreamingDecoder;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

/// An architecture: `sm_80`, `sm_90a`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arch {
    /// 80
    number: u32,
    /// `sm_90a` has instructions that no other architecture runs.
    is_specific: bool,
}

impl Arch {
    /// Reads `80`, `90a` or `sm_80`.
    pub(crate) fn parse(text: &str) -> Result<Arch> {
        let digits = text.strip_prefix("sm_").unwrap_or(text);
        let (digits, is_specific) = digits.strip_suffix('a').map_or((digits, false), |digits| (digits, true));
        let number = digits.parse().with_context(|| format!("'{text}' is not an architecture such as 80 or 90a"))?;
        Ok(Arch { number, is_specific })
    }

    /// Whether the driver compiles modules with this target for this architecture. Those without specific instructions
    /// are assembled for the general architecture of the same number.
    pub(crate) fn runs(&self, target: &Arch) -> bool {
        if self.is_specific || target.is_specific { self == target } else { self.number >= target.number }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.number, if self.is_specific { "a" } else { "" })
    }
}

/// A module of one kernel.
pub(crate) struct Module {
    /// The file that contains it, without extension.
    pub(crate) file: String,
    /// Its kernel.
    pub(crate) kernel: String,
    /// The oldest architecture that runs it.
    pub(crate) target: Arch,
    /// PTX.
    pub(crate) text: String,
}

impl Module {
    /// `file.kernel`
    pub(crate) fn name(&self) -> String {
        format!("{}.{}", self.file, self.kernel)
    }
}

/// The modules of all files of a folder.
pub(crate) fn read(folder: &Path) -> Result<Vec<Module>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "zst"));
    paths.sort();
    let mut modules = Vec::new();
    for path in &paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let damaged = || format!("{} is damaged", path.display());
        let mut text = String::new();
        StreamingDecoder::new(std::fs::File::open(path)?).with_context(damaged)?.read_to_string(&mut text)?;
        modules.extend(split(&name, &text).with_context(damaged)?);
    }
    ensure!(!modules.is_empty(), "{} has no files of kernels", folder.display());
    Ok(modules)
}

/// The modules of a file: each follows a line `//kernel <symbol>`.
fn split(file: &str, text: &str) -> Result<Vec<Module>> {
    let mut parts = text.split("//kernel ");
    ensure!(parts.next() == Some(""), "the file does not start with a kernel");
    let module = |part: &str| {
        let (kernel, text) = part.split_once('\n').context("a kernel without a module")?;
        let target = text.lines().find_map(|line| line.strip_prefix(".target "));
        let target = target.and_then(|names| names.split(',').next()).context("a module without a target")?;
        let target = Arch::parse(target.trim())?;
        Ok(Module { file: file.to_string(), kernel: kernel.to_string(), target, text: text.to_string() })
    };
    parts.map(module).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_architecture_runs_modules_of_older_ones() {
        let runs = |arch: &str, target: &str| Arch::parse(arch).unwrap().runs(&Arch::parse(target).unwrap());
        assert!(runs("75", "sm_70") && runs("80", "sm_80") && runs("120", "sm_80"));
        assert!(!runs("75", "sm_80"));
        assert!(runs("90a", "sm_90a") && !runs("90", "sm_90a") && !runs("120", "sm_90a") && !runs("90a", "sm_70"));
        assert!(Arch::parse("8.0").is_err());
    }

    #[test]
    fn a_file_is_split_into_its_modules() {
        let text =
            "//kernel f__float32\n.version 7.0\n.target sm_70\nf\n//kernel g__float32\n.target sm_90a, debug\ng\n";
        let modules = split("a", text).unwrap();
        assert_eq!(modules.iter().map(Module::name).collect::<Vec<_>>(), ["a.f__float32", "a.g__float32"]);
        assert_eq!(modules[0].text, ".version 7.0\n.target sm_70\nf\n");
        assert_eq!(modules[1].target.to_string(), "sm_90a");
        assert!(split("a", "//kernel f\nno target\n").is_err());
    }
}
