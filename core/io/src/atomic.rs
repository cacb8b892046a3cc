//! Files that are replaced whole or not at all.
//!
//! The new content goes to a file beside the target, reaches the disk, and only then takes the target's name:
//! a crash or a full disk leaves the old file as it was.

use rushlight_base::{Result, err};
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes `path` through `write`, which is given the path of the new file (it exists and is empty).
pub fn replace(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    // A link keeps pointing where it points: the file behind it is the one to replace.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let temporary = create_beside(&target)?;
    let written = write(&temporary).and_then(|()| publish(&temporary, &target));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(|error| error.context(format_args!("cannot save {}", path.display())))
}

fn create_beside(target: &Path) -> Result<PathBuf> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = target.file_name().ok_or_else(|| err!(Io, "'{}' does not name a file", target.display()))?;
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let temporary = target.with_file_name(format!(".{}.{}.{number}.tmp", name.to_string_lossy(), std::process::id()));
    match OpenOptions::new().write(true).create_new(true).open(&temporary) {
        Ok(_) => Ok(temporary),
        Err(error) => Err(err!(Io, "cannot create {}: {error}", temporary.display())),
    }
}

fn publish(temporary: &Path, target: &Path) -> Result<()> {
    OpenOptions::new().write(true).open(temporary)?.sync_all()?;
    fs::rename(temporary, target)?;
    // The new name is on the disk once the directory is; where directories cannot be opened, the system's own
    // pace has to do.
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::bail;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let directory = std::env::temp_dir().join(format!("rushlight-atomic-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("model.pt");
        replace(&path, |new| Ok(fs::write(new, "old")?)).unwrap();
        let failed = replace(&path, |new| {
            fs::write(new, "half")?;
            bail!(Io, "disk full")
        });
        assert!(failed.unwrap_err().message().ends_with("disk full"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        replace(&path, |new| Ok(fs::write(new, "new")?)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        fs::remove_dir_all(&directory).unwrap();
    }
}
