//! Reads the packed golden files of the repository: a tar archive under zstd.

use std::io::Read;
use std::path::Path;

/// Size of a tar header, and the padding of every entry.
const BLOCK: usize = 512;

/// Names and contents of the files in a `.tar.zst` archive.
pub fn read(path: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let packed = std::fs::File::open(path).map_err(|error| error.to_string());
    packed.and_then(unpack).map_err(|error| format!("{}: {error}", path.display()))
}

/// Names and contents of the files in such an archive, from any source.
pub fn unpack(packed: impl Read) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut unpacked = Vec::new();
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(packed).map_err(|error| error.to_string())?;
    decoder.read_to_end(&mut unpacked).map_err(|error| error.to_string())?;
    entries(&unpacked).ok_or_else(|| "not a tar archive".to_owned())
}

fn entries(mut archive: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    // Two empty blocks end the archive.
    while archive.first().is_some_and(|byte| *byte != 0) {
        let header = archive.get(..BLOCK)?;
        let field = |range: std::ops::Range<usize>| {
            let bytes = header[range].split(|byte| *byte == 0).next().unwrap_or_default();
            std::str::from_utf8(bytes).ok().map(str::trim)
        };
        let size = usize::from_str_radix(field(124..136)?, 8).ok()?;
        let body = archive.get(BLOCK..BLOCK + size)?;
        // Type "0" is a plain file.
        if header[156] == b'0' {
            files.push((field(0..100)?.to_owned(), body.to_vec()));
        }
        archive = archive.get(BLOCK + size.next_multiple_of(BLOCK)..)?;
    }
    Some(files)
}
