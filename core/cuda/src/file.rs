//! A file of kernels that `make kernels` writes (`core/cuda/ptx`): a zstd stream of PTX modules, each
//! after a line `//kernel <symbol>`.

use rushlight_base::backend::Kernel;
use rushlight_base::{Result, err};
use ruzstd::decoding::StreamingDecoder;
use std::ffi::CString;
use std::io::Read;

/// More bytes than any file has.
const MOST: u64 = 1 << 27;

fn unpacked(bytes: &[u8]) -> Option<String> {
    let mut text = String::new();
    let stream = StreamingDecoder::new(bytes).ok()?;
    stream.take(MOST).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The modules of a file.
pub(crate) struct File {
    text: String,
}

impl File {
    /// Reads the compressed bytes of the file `name`.
    pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<File> {
        let text = unpacked(bytes);
        let text = text.ok_or_else(|| err!(Runtime, "the file of CUDA kernels '{name}' is damaged"))?;
        Ok(File { text })
    }

    /// The module of a kernel. `NotImplemented`: the file has none, because the function has no loop for the dtype.
    pub(crate) fn module(&self, kernel: &Kernel) -> Result<CString> {
        let line = format!("//kernel {}\n", kernel.symbol());
        // A symbol is looked for at the start of lines.
        let start =
            if self.text.starts_with(&line) { Some(0) } else { self.text.find(&format!("\n{line}")).map(|at| at + 1) };
        let start = start.ok_or_else(|| {
            err!(NotImplemented, "no kernel for {} of dtype {} on CUDA devices", kernel.function, kernel.dtype.name())
        })?;
        let rest = &self.text[start + line.len()..];
        let end = rest.find("//kernel ").unwrap_or(rest.len());
        CString::new(&rest[..end]).map_err(|_| err!(Runtime, "the file of CUDA kernels '{}' is damaged", kernel.file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    #[test]
    fn a_module_ends_where_the_next_one_begins() {
        let text = "//kernel add__float32\n.version 7.0\none\n//kernel add__float64\n.version 7.0\ntwo\n";
        let file = File::read("a", &compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)).unwrap();
        let module = |function, dtype| file.module(&Kernel { file: "a", function, dtype });
        assert_eq!(module("add", DType::F32).unwrap().to_str().unwrap(), ".version 7.0\none\n");
        assert_eq!(module("add", DType::F64).unwrap().to_str().unwrap(), ".version 7.0\ntwo\n");
        let error = module("add", DType::I8).unwrap_err();
        assert_eq!(error.message(), "no kernel for add of dtype int8 on CUDA devices");
        assert!(module("dd", DType::F32).is_err());
        assert!(File::read("a", b"not zstd").is_err());
    }
}
