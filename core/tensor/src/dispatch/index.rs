//! Finds the rows of the operator table by name: a hash table that the compiler computes from the rows of this build.

use super::opdef::OpDef;
use crate::ops::generated::FAMILIES;

/// Slots of the table: a power of two, at least twice the number of rows, so that collisions are rare.
const SLOTS: usize = 8192;

/// Row plus one of a family, with the family in the upper bits; 0 in an empty slot.
const ROW_BITS: u32 = 16;

static TABLE: [u32; SLOTS] = table();

/// The row of the operator `name` with this overload.
pub fn find(name: &str, overload: &str) -> Option<&'static OpDef> {
    let mut hash = hashed(START, name.as_bytes());
    if !overload.is_empty() {
        hash = hashed(hashed(hash, b"."), overload.as_bytes());
    }
    let mut slot = hash as usize % SLOTS;
    loop {
        let entry = TABLE[slot];
        if entry == 0 {
            return None;
        }
        let row = FAMILIES[(entry >> ROW_BITS) as usize][(entry & ((1 << ROW_BITS) - 1)) as usize - 1];
        if is(row.full_name(), name, overload) {
            return Some(row);
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// Whether `full_name` is that of `name` with this overload.
fn is(full_name: &str, name: &str, overload: &str) -> bool {
    match full_name.strip_prefix(name) {
        Some("") => overload.is_empty(),
        Some(rest) => !overload.is_empty() && rest.strip_prefix('.') == Some(overload),
        None => false,
    }
}

const START: u32 = 0x811c_9dc5;

/// FNV-1a: short names, and computed by the compiler as well.
const fn hashed(mut hash: u32, bytes: &[u8]) -> u32 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

const fn table() -> [u32; SLOTS] {
    let mut table = [0; SLOTS];
    let mut rows = 0;
    let mut family = 0;
    while family < FAMILIES.len() {
        let mut row = 0;
        while row < FAMILIES[family].len() {
            let mut slot = hashed(START, FAMILIES[family][row].full_name().as_bytes()) as usize % SLOTS;
            while table[slot] != 0 {
                slot = (slot + 1) % SLOTS;
            }
            table[slot] = ((family as u32) << ROW_BITS) | (row as u32 + 1);
            row += 1;
            rows += 1;
        }
        family += 1;
    }
    assert!(2 * rows <= SLOTS, "the table of names is too full");
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_by_its_name_and_no_other() {
        let rows = FAMILIES.iter().flat_map(|family| family.iter());
        for row in rows {
            let found = find(row.name(), row.overload());
            assert!(found.is_some_and(|found| std::ptr::eq(found, *row)), "{}", row.full_name());
        }
        assert!(find("add", "").is_none() && find("add", "tensor").is_none() && find("add.Tensor", "").is_some());
        assert!(find("", "").is_none());
    }
}
