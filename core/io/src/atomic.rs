//! Atomic replacement of files.
//!
//! The new content is written to a file in the same folder, synced to disk, and then renamed to the target: a crash or
//! a full disk leaves the old file unchanged. The permissions of the replaced file are kept.

use rushlight_base::{Result, ensure, err};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes `path` through `write`, which receives the path of the new file (it exists and is empty).
pub fn replace(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    // A symbolic link is kept: the file it points to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    replace_target(&target, write).map_err(|error| error.context(format_args!("cannot save {}", path.display())))
}

fn replace_target(target: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let permissions = permissions_of(target)?;
    let temporary = create_beside(target, permissions.is_some())?;
    let written = write(&temporary).and_then(|()| publish(&temporary, target, permissions));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// The permissions of the existing file. A user without write permission may not replace it either, although the
/// directory would allow that; and anything that is not a regular file (a directory, /dev/null) is left alone.
fn permissions_of(target: &Path) -> Result<Option<Permissions>> {
    let found = match fs::metadata(target) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    ensure!(found.is_file(), Io, "it is not a regular file");
    OpenOptions::new().write(true).open(target)?;
    Ok(Some(found.permissions()))
}

/// Creates a new file next to the target. If it takes the permissions of another one in the end, it is private until
/// then.
fn create_beside(target: &Path, private: bool) -> Result<PathBuf> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = target.file_name().ok_or_else(|| err!(Io, "'{}' does not name a file", target.display()))?;
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let temporary = target.with_file_name(format!(".{}.{}.{number}.tmp", name.to_string_lossy(), std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    // On Windows, files have the permissions of their folder.
    #[cfg(not(unix))]
    let _ = private;
    match options.open(&temporary) {
        Ok(_) => Ok(temporary),
        Err(error) => Err(err!(Io, "cannot create {}: {error}", temporary.display())),
    }
}

fn publish(temporary: &Path, target: &Path, permissions: Option<Permissions>) -> Result<()> {
    let file = OpenOptions::new().write(true).open(temporary)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()?;
    fs::rename(temporary, target)?;
    // The new name is on disk once the directory is synced; if directories cannot be opened, the system syncs it
    // eventually.
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

    #[cfg(unix)]
    #[test]
    fn a_file_keeps_its_mode_and_a_new_one_follows_the_umask() {
        use std::os::unix::fs::PermissionsExt;
        let directory = std::env::temp_dir().join(format!("rushlight-modes-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let (usual, path, link) = (directory.join("usual"), directory.join("model.pt"), directory.join("link.pt"));
        fs::write(&usual, "").unwrap();
        replace(&path, |new| Ok(fs::write(new, "old")?)).unwrap();
        assert_eq!(mode(&path), mode(&usual));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        for wanted in [0o600, 0o664, 0o640] {
            fs::set_permissions(&path, Permissions::from_mode(wanted)).unwrap();
            replace(&link, |new| {
                assert_eq!(mode(new), 0o600);
                Ok(fs::write(new, "new")?)
            })
            .unwrap();
            assert_eq!((mode(&path), fs::read(&path).unwrap()), (wanted, b"new".to_vec()));
        }
        // Only the superuser may write without write permission; the mode is then also kept.
        fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
        let may_write = OpenOptions::new().write(true).open(&path).is_ok();
        let saved = replace(&path, |new| Ok(fs::write(new, "newer")?));
        assert_eq!(saved.is_ok(), may_write);
        assert_eq!((mode(&path), fs::read(&path).unwrap() == b"newer"), (0o444, may_write));
        fs::remove_dir_all(&directory).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn special_files_are_not_replaced() {
        let rejected = |path: &Path| replace(path, |_| unreachable!("nothing is written")).unwrap_err();
        assert_eq!(rejected(Path::new("/dev/null")).message(), "cannot save /dev/null: it is not a regular file");
        let directory = std::env::temp_dir();
        assert!(rejected(&directory).message().ends_with(": it is not a regular file"));
    }
}
