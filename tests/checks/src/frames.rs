//! The stack frames of a library's functions, read from its machine code: what a function takes from the stack pointer when it
//! begins. Large frames take several steps, because each page is touched in order.

use object::{Architecture, Object, ObjectSection, ObjectSymbol, SymbolKind};

/// A page, which is touched before the next one is taken.
const PAGE: u32 = 4096;

/// The largest frame of each function that has one of more than `limit` bytes: bytes and name, the largest first.
pub fn larger_than(limit: u32, file: &object::File) -> Result<Vec<(u32, String)>, String> {
    let largest = match file.architecture() {
        Architecture::X86_64 => x86_64,
        Architecture::Aarch64 => aarch64,
        other => return Err(format!("the frames of {other:?} are not known")),
    };
    let text = file.section_by_name(".text").ok_or("there is no section .text")?;
    let code = text.data().map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
        let Some(start) = symbol.address().checked_sub(text.address()) else { continue };
        let Some(body) = code.get(start as usize..(start + symbol.size()) as usize) else { continue };
        let bytes = largest(body);
        if bytes > limit {
            found.push((bytes, symbol.name().unwrap_or("?").to_owned()));
        }
    }
    found.sort_by(|a, b| b.cmp(a));
    found.dedup();
    Ok(found)
}

/// `sub $n,%rsp`, of a page at a time with `movq $0,(%rsp)` between, or `mov %rsp,%r11; sub $n,%r11` and a loop down to there.
fn x86_64(code: &[u8]) -> u32 {
    const TAKE: [u8; 3] = [0x48, 0x81, 0xec];
    const TAKE_SMALL: [u8; 3] = [0x48, 0x83, 0xec];
    const TOUCH: [u8; 8] = [0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0];
    const END_OF_LOOP: [u8; 6] = [0x49, 0x89, 0xe3, 0x49, 0x81, 0xeb];
    // The loop takes a page, touches it, compares and jumps back.
    const LOOP: usize = 7 + TOUCH.len() + 3 + 2;
    let number = |at: usize| {
        code.get(at..at + 4).map_or(0, |bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let (mut largest, mut at) = (0, 0);
    while at < code.len() {
        let (mut frame, mut next) = (0, at);
        if code[next..].starts_with(&END_OF_LOOP) {
            frame = number(next + END_OF_LOOP.len());
            next += END_OF_LOOP.len() + 4 + LOOP;
        }
        while code.get(next..).is_some_and(|rest| rest.starts_with(&TAKE)) {
            let taken = number(next + TAKE.len());
            frame += if taken < 1 << 30 { taken } else { 0 };
            next += TAKE.len() + 4;
            if taken != PAGE || !code[next..].starts_with(&TOUCH) {
                break;
            }
            next += TOUCH.len();
        }
        if frame > 0 && code.get(next..).is_some_and(|rest| rest.starts_with(&TAKE_SMALL)) {
            frame += code.get(next + TAKE_SMALL.len()).map_or(0, |&byte| u32::from(byte));
        }
        largest = largest.max(frame);
        at = next.max(at + 1);
    }
    largest
}

/// `sub REGISTER, sp, #n`, where n may be shifted by 12 bits: the pages, and then the rest, of a frame.
fn aarch64(code: &[u8]) -> u32 {
    let (mut largest, mut pages) = (0, 0);
    for word in code.as_chunks::<4>().0 {
        let word = u32::from_le_bytes(*word);
        let number = word >> 10 & 0xfff;
        match word & 0xffc0_03e0 {
            // A page at a time, or the end of a loop of them.
            0xd140_03e0 => pages = number * PAGE,
            0xd100_03e0 => {
                largest = largest.max(pages + number);
                pages = 0;
            }
            _ => {}
        }
        largest = largest.max(pages);
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_one_step_and_of_pages() {
        // push %rbp; sub $0x88,%rsp
        assert_eq!(x86_64(&[0x55, 0x48, 0x81, 0xec, 0x88, 0, 0, 0]), 0x88);
        // Twice: sub $0x1000,%rsp; movq $0,(%rsp). Then sub $0x1f8,%rsp
        let page = [0x48, 0x81, 0xec, 0, 0x10, 0, 0, 0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0];
        let rest = [0x48, 0x81, 0xec, 0xf8, 1, 0, 0];
        assert_eq!(x86_64(&[&page[..], &page, &rest].concat()), 0x21f8);
        // mov %rsp,%r11; sub $0x14000,%r11; the loop, with cmp %r11,%rsp and jne; sub $0x40,%rsp
        let head = [0x49, 0x89, 0xe3, 0x49, 0x81, 0xeb, 0, 0x40, 1, 0];
        let tail = [0x4c, 0x39, 0xdc, 0x75, 0xec, 0x48, 0x83, 0xec, 0x40];
        assert_eq!(x86_64(&[&head[..], &page, &tail].concat()), 0x14040);
        // sub sp, sp, #8, lsl #12; sub sp, sp, #0x10
        assert_eq!(aarch64(&[0xff, 0x23, 0x40, 0xd1, 0xff, 0x43, 0, 0xd1]), 0x8010);
    }
}
