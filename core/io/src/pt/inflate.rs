//! Decompression of records of an archive. PyTorch compresses the source code in TorchScript archives.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::decompress_slice_iter_to_slice;
use rushlight_base::{Result, bail, ensure};

/// The most bytes that one byte of compressed data can stand for.
const MAX_EXPANSION: usize = 1032;

/// Decodes `input` (deflate, RFC 1951) to `expected` bytes: neither more nor fewer.
pub(super) fn inflate(input: &[u8], expected: usize) -> Result<Vec<u8>> {
    let possible = expected <= input.len().saturating_mul(MAX_EXPANSION);
    ensure!(possible, Io, "{expected} bytes cannot be compressed to {}", input.len());
    let mut out = crate::reserve(expected)?;
    out.resize(expected, 0);
    let length = match decompress_slice_iter_to_slice(&mut out, std::iter::once(input), false, true) {
        Ok(length) => length,
        Err(TINFLStatus::HasMoreOutput) => bail!(Io, "more than {expected} bytes are compressed"),
        Err(TINFLStatus::NeedsMoreInput | TINFLStatus::FailedCannotMakeProgress) => {
            bail!(Io, "compressed data ends too early")
        }
        Err(_) => bail!(Io, "compressed data is damaged"),
    };
    ensure!(length == expected, Io, "{length} bytes are compressed, not {expected}");
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `zlib.compressobj(9, zlib.DEFLATED, -15)` of Python.
    #[test]
    fn blocks_of_all_kinds_are_decoded() {
        let stored = [1u8, 3, 0, 0xfc, 0xff, b'a', b'b', b'c'];
        assert_eq!(inflate(&stored, 3).unwrap(), b"abc");
        // "aaaaaaaaaa" with the fixed codes.
        assert_eq!(inflate(&[0x4b, 0x4c, 0x84, 0x01, 0x00], 10).unwrap(), b"aaaaaaaaaa");
        assert!(inflate(&[0x4b, 0x4c, 0x84, 0x01, 0x00], 9).is_err());
        assert!(inflate(&[0x4b, 0x4c], 10).is_err());
        assert!(inflate(&[7], 10).is_err());
        // More than deflate can compress to these bytes: no memory is reserved.
        assert!(inflate(&[0x4b, 0x4c, 0x84, 0x01, 0x00], 1 << 40).is_err());
    }
}
