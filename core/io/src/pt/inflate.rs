//! The decoder of the deflate format (RFC 1951). PyTorch compresses the source code in TorchScript archives.

use rushlight_base::{Result, bail, ensure, err};

/// Decodes `input` to `expected` bytes: neither more nor fewer.
pub(super) fn inflate(input: &[u8], expected: usize) -> Result<Vec<u8>> {
    let mut bits = Bits { input, at: 0, buffer: 0, count: 0 };
    let mut out = crate::reserve(expected)?;
    loop {
        let last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out, expected)?,
            1 => compressed(&mut bits, &Huffman::fixed_literals()?, &Huffman::of(&[5; 30])?, &mut out, expected)?,
            2 => {
                let (literals, distances) = dynamic_codes(&mut bits)?;
                compressed(&mut bits, &literals, &distances, &mut out, expected)?;
            }
            _ => bail!(Io, "compressed data has a block of an unknown kind"),
        }
        if last {
            break;
        }
    }
    ensure!(out.len() == expected, Io, "{} bytes are compressed, not {expected}", out.len());
    Ok(out)
}

/// Bits from the lowest of each byte.
struct Bits<'a> {
    input: &'a [u8],
    at: usize,
    buffer: u64,
    count: u32,
}

impl Bits<'_> {
    fn take(&mut self, count: u32) -> Result<u32> {
        while self.count < count {
            let byte = self.input.get(self.at).ok_or_else(|| err!(Io, "compressed data ends too early"))?;
            self.buffer |= u64::from(*byte) << self.count;
            self.at += 1;
            self.count += 8;
        }
        let value = self.buffer & ((1 << count) - 1);
        self.buffer >>= count;
        self.count -= count;
        Ok(value as u32)
    }

    /// Goes to the next whole byte.
    fn align(&mut self) {
        self.at -= (self.count / 8) as usize;
        (self.buffer, self.count) = (0, 0);
    }
}

fn stored(bits: &mut Bits<'_>, out: &mut Vec<u8>, expected: usize) -> Result<()> {
    bits.align();
    let (length, complement) = (bits.take(16)?, bits.take(16)?);
    ensure!(length == !complement & 0xffff, Io, "a stored block of compressed data has two lengths");
    bits.align();
    let bytes = bits.input.get(bits.at..bits.at + length as usize);
    let bytes = bytes.ok_or_else(|| err!(Io, "compressed data ends too early"))?;
    ensure!(out.len() + bytes.len() <= expected, Io, "more than {expected} bytes are compressed");
    out.extend_from_slice(bytes);
    bits.at += bytes.len();
    Ok(())
}

/// The longest code.
const MAX_BITS: usize = 15;

/// A Huffman code: how many codes there are of each length, and the symbols in the order of their codes.
struct Huffman {
    counts: [u16; MAX_BITS + 1],
    symbols: Vec<u16>,
}

impl Huffman {
    fn of(lengths: &[u8]) -> Result<Huffman> {
        let mut counts = [0u16; MAX_BITS + 1];
        for &length in lengths {
            match counts.get_mut(usize::from(length)) {
                Some(count) => *count += 1,
                None => bail!(Io, "a code of compressed data has {length} bits"),
            }
        }
        counts[0] = 0;
        let mut left = 1i32;
        for &count in &counts[1..] {
            left = 2 * left - i32::from(count);
            ensure!(left >= 0, Io, "the codes of compressed data are ambiguous");
        }
        let mut symbols: Vec<u16> = (0..lengths.len() as u16).filter(|&s| lengths[usize::from(s)] > 0).collect();
        symbols.sort_by_key(|&symbol| lengths[usize::from(symbol)]);
        Ok(Huffman { counts, symbols })
    }

    fn fixed_literals() -> Result<Huffman> {
        let lengths: Vec<u8> = (0..288)
            .map(|symbol| match symbol {
                0..=143 => 8,
                144..=255 => 9,
                256..=279 => 7,
                _ => 8,
            })
            .collect();
        Huffman::of(&lengths)
    }

    fn symbol(&self, bits: &mut Bits<'_>) -> Result<u16> {
        let (mut code, mut first, mut index) = (0i32, 0i32, 0i32);
        for &count in &self.counts[1..] {
            code |= bits.take(1)? as i32;
            let count = i32::from(count);
            if code - count < first {
                let symbol = self.symbols.get((index + (code - first)) as usize).copied();
                return symbol.ok_or_else(|| err!(Io, "compressed data has an unknown code"));
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        bail!(Io, "compressed data has an unknown code")
    }
}

/// Smallest value and further bits of the symbols of lengths and distances.
const LENGTHS: [(u16, u32); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];
const DISTANCES: [(u16, u32); 30] = [
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 1),
    (7, 1),
    (9, 2),
    (13, 2),
    (17, 3),
    (25, 3),
    (33, 4),
    (49, 4),
    (65, 5),
    (97, 5),
    (129, 6),
    (193, 6),
    (257, 7),
    (385, 7),
    (513, 8),
    (769, 8),
    (1025, 9),
    (1537, 9),
    (2049, 10),
    (3073, 10),
    (4097, 11),
    (6145, 11),
    (8193, 12),
    (12289, 12),
    (16385, 13),
    (24577, 13),
];

fn compressed(
    bits: &mut Bits<'_>,
    literals: &Huffman,
    distances: &Huffman,
    out: &mut Vec<u8>,
    expected: usize,
) -> Result<()> {
    loop {
        let symbol = literals.symbol(bits)?;
        if symbol < 256 {
            ensure!(out.len() < expected, Io, "more than {expected} bytes are compressed");
            out.push(symbol as u8);
            continue;
        }
        if symbol == 256 {
            return Ok(());
        }
        let unknown = || err!(Io, "compressed data has an unknown code");
        let (base, extra) = *LENGTHS.get(usize::from(symbol - 257)).ok_or_else(unknown)?;
        let length = usize::from(base) + bits.take(extra)? as usize;
        let (base, extra) = *DISTANCES.get(usize::from(distances.symbol(bits)?)).ok_or_else(unknown)?;
        let distance = usize::from(base) + bits.take(extra)? as usize;
        ensure!(distance <= out.len(), Io, "compressed data refers to bytes before its start");
        ensure!(out.len() + length <= expected, Io, "more than {expected} bytes are compressed");
        let start = out.len() - distance;
        for at in start..start + length {
            out.push(out[at]);
        }
    }
}

fn dynamic_codes(bits: &mut Bits<'_>) -> Result<(Huffman, Huffman)> {
    const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    let (literals, distances) = (bits.take(5)? as usize + 257, bits.take(5)? as usize + 1);
    let count = bits.take(4)? as usize + 4;
    let mut lengths = [0u8; 19];
    for &place in ORDER.iter().take(count) {
        lengths[place] = bits.take(3)? as u8;
    }
    let code = Huffman::of(&lengths)?;
    let mut lengths: Vec<u8> = Vec::new();
    while lengths.len() < literals + distances {
        let (value, repeat) = match code.symbol(bits)? {
            length @ 0..=15 => (length as u8, 1),
            16 => {
                let previous = lengths.last().copied();
                (previous.ok_or_else(|| err!(Io, "compressed data repeats nothing"))?, 3 + bits.take(2)?)
            }
            17 => (0, 3 + bits.take(3)?),
            _ => (0, 11 + bits.take(7)?),
        };
        lengths.extend(std::iter::repeat_n(value, repeat as usize));
    }
    ensure!(lengths.len() == literals + distances, Io, "compressed data has too many codes");
    let (literals, distances) = lengths.split_at(literals);
    Ok((Huffman::of(literals)?, Huffman::of(distances)?))
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
    }
}
