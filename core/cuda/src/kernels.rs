//! The files of kernels: where they lie, and the text of a kernel in them.
//!
//! A file holds the kernels of one subject, compressed. It is read when the first of its kernels is used: from memory that
//! the program handed over ([`provide`]), from the folder in the environment variable `RUSHLIGHT_KERNELS`, from the folder
//! `rushlight-kernels` beside this library, or, with the feature `cuda-embedded`, from the library itself.

use crate::file::File;
use rushlight_base::backend::Kernel;
use rushlight_base::{Result, bail};
use std::collections::HashMap;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The name of the folder beside the library.
const FOLDER: &str = "rushlight-kernels";

#[cfg(feature = "cuda-embedded")]
mod embedded {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}

#[derive(Default)]
struct Files {
    /// Compressed files that the program handed over.
    provided: HashMap<String, Vec<u8>>,
    /// Files that were read.
    read: HashMap<&'static str, File>,
}

fn files() -> &'static Mutex<Files> {
    static FILES: OnceLock<Mutex<Files>> = OnceLock::new();
    FILES.get_or_init(Mutex::default)
}

/// Hands over the bytes of the file of kernels `name` (such as `arithmetic`), which precede those on disk.
pub fn provide(name: &str, bytes: &[u8]) {
    let mut files = files().lock().unwrap_or_else(PoisonError::into_inner);
    files.provided.insert(name.to_owned(), bytes.to_owned());
}

/// The PTX of a kernel.
pub(crate) fn text(kernel: &Kernel) -> Result<CString> {
    let mut files = files().lock().unwrap_or_else(PoisonError::into_inner);
    if !files.read.contains_key(kernel.file) {
        let file = File::read(kernel.file, &bytes(&files, kernel.file)?)?;
        files.read.insert(kernel.file, file);
    }
    match files.read.get(kernel.file) {
        Some(file) => file.module(kernel),
        None => bail!(Internal, "the file of kernels '{}' was not kept", kernel.file),
    }
}

fn bytes(files: &Files, name: &str) -> Result<Vec<u8>> {
    if let Some(bytes) = files.provided.get(name) {
        return Ok(bytes.clone());
    }
    let folders: Vec<PathBuf> =
        [std::env::var_os("RUSHLIGHT_KERNELS").map(PathBuf::from), library_folder().map(|folder| folder.join(FOLDER))]
            .into_iter()
            .flatten()
            .collect();
    if let Some(bytes) = folders.iter().find_map(|folder| std::fs::read(folder.join(format!("{name}.zst"))).ok()) {
        return Ok(bytes);
    }
    #[cfg(feature = "cuda-embedded")]
    if let Some((_, bytes)) = embedded::FILES.iter().find(|(file, _)| *file == name) {
        return Ok(bytes.to_vec());
    }
    let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    bail!(Runtime, "there is no file of CUDA kernels '{name}.zst' in {}", folders.join(" or "))
}

/// The folder of the file that contains this code.
fn library_folder() -> Option<PathBuf> {
    let here: fn() -> Option<PathBuf> = library_folder;
    let file = rushlight_base::image::file_of(here as *const std::ffi::c_void)?;
    Some(file.canonicalize().ok()?.parent()?.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_an_error() {
        provide("damaged", &[1, 2, 3]);
        let kernel = Kernel { file: "damaged", function: "f", dtype: rushlight_base::DType::F32 };
        assert_eq!(text(&kernel).unwrap_err().message(), "the file of CUDA kernels 'damaged' is damaged");
    }

    #[test]
    fn a_missing_file_is_an_error_that_names_the_folders() {
        let kernel = Kernel { file: "absent", function: "f", dtype: rushlight_base::DType::F32 };
        let error = text(&kernel).unwrap_err();
        assert!(error.message().starts_with("there is no file of CUDA kernels 'absent.zst' in "), "{error}");
    }
}
