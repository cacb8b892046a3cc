//! Reads and writes of global memory, in as few instructions as the alignment allows.

use crate::report::{Record, Watch};
use core::arch::asm;
use core::mem::{MaybeUninit, offset_of};

/// Reads `V` elements. `unit` is the alignment of the address, at least that of the element.
///
/// # Safety
/// They can be read.
#[inline(always)]
pub unsafe fn load<T: Copy, const V: usize>(at: u64, unit: usize) -> [T; V] {
    let mut values = MaybeUninit::<[T; V]>::uninit();
    let to = values.as_mut_ptr().cast::<u8>();
    let bytes = V * size_of::<T>();
    let mut done = 0;
    // SAFETY: the caller guarantees the elements; every piece is inside them and aligned.
    unsafe {
        while bytes - done >= 16 && unit >= 16 {
            let (a, b, c, d): (u32, u32, u32, u32);
            asm!("ld.global.v4.b32 {{{}, {}, {}, {}}}, [{}];", out(reg32) a, out(reg32) b, out(reg32) c,
                out(reg32) d, in(reg64) at + done as u64, options(pure, readonly, nostack, preserves_flags));
            to.add(done).cast::<[u32; 4]>().write_unaligned([a, b, c, d]);
            done += 16;
        }
        while bytes - done >= 8 && unit >= 8 {
            let value: u64;
            asm!("ld.global.b64 {}, [{}];", out(reg64) value, in(reg64) at + done as u64,
                options(pure, readonly, nostack, preserves_flags));
            to.add(done).cast::<u64>().write_unaligned(value);
            done += 8;
        }
        while bytes - done >= 4 && unit >= 4 {
            let value: u32;
            asm!("ld.global.b32 {}, [{}];", out(reg32) value, in(reg64) at + done as u64,
                options(pure, readonly, nostack, preserves_flags));
            to.add(done).cast::<u32>().write_unaligned(value);
            done += 4;
        }
        while bytes - done >= 2 && unit >= 2 {
            let value: u16;
            asm!("ld.global.b16 {}, [{}];", out(reg16) value, in(reg64) at + done as u64,
                options(pure, readonly, nostack, preserves_flags));
            to.add(done).cast::<u16>().write_unaligned(value);
            done += 2;
        }
        while bytes - done >= 1 {
            let value: u16;
            asm!("ld.global.u8 {}, [{}];", out(reg16) value, in(reg64) at + done as u64,
                options(pure, readonly, nostack, preserves_flags));
            to.add(done).write(value as u8);
            done += 1;
        }
        values.assume_init()
    }
}

/// Writes `V` elements. `unit` is the alignment of the address, at least that of the element.
///
/// # Safety
/// They can be written.
#[inline(always)]
pub unsafe fn store<T: Copy, const V: usize>(at: u64, unit: usize, values: [T; V]) {
    let from = (&raw const values).cast::<u8>();
    let bytes = V * size_of::<T>();
    let mut done = 0;
    // SAFETY: the caller guarantees the elements; every piece is inside them and aligned.
    unsafe {
        while bytes - done >= 16 && unit >= 16 {
            let [a, b, c, d] = from.add(done).cast::<[u32; 4]>().read_unaligned();
            asm!("st.global.v4.b32 [{}], {{{}, {}, {}, {}}};", in(reg64) at + done as u64, in(reg32) a, in(reg32) b,
                in(reg32) c, in(reg32) d, options(nostack, preserves_flags));
            done += 16;
        }
        while bytes - done >= 8 && unit >= 8 {
            asm!("st.global.b64 [{}], {};", in(reg64) at + done as u64,
                in(reg64) from.add(done).cast::<u64>().read_unaligned(), options(nostack, preserves_flags));
            done += 8;
        }
        while bytes - done >= 4 && unit >= 4 {
            asm!("st.global.b32 [{}], {};", in(reg64) at + done as u64,
                in(reg32) from.add(done).cast::<u32>().read_unaligned(), options(nostack, preserves_flags));
            done += 4;
        }
        while bytes - done >= 2 && unit >= 2 {
            asm!("st.global.b16 [{}], {};", in(reg64) at + done as u64,
                in(reg16) from.add(done).cast::<u16>().read_unaligned(), options(nostack, preserves_flags));
            done += 2;
        }
        while bytes - done >= 1 {
            asm!("st.global.u8 [{}], {};", in(reg64) at + done as u64, in(reg16) u16::from(from.add(done).read()),
                options(nostack, preserves_flags));
            done += 1;
        }
    }
}

/// Reports an element that is an error, unless something was reported before.
#[inline(always)]
pub fn report(watch: &Watch, found: i64) {
    first_report(watch.at, watch.mistake, watch.operator, watch.numbers[0], watch.numbers[1], found);
}

/// The fields of a report by value: a reference would move them to the memory of the thread.
#[inline(never)]
fn first_report(at: u64, mistake: u32, operator: u32, first: i64, second: i64, found: i64) {
    let before: u32;
    // SAFETY: the host passes the address of a record of the device, which lives as long as the process; the thread that
    // finds it untaken is the only one that writes its other fields.
    unsafe {
        asm!("atom.global.cas.b32 {}, [{}], 0, 1;", out(reg32) before, in(reg64) at, options(nostack));
        if before == 0 {
            store(at + offset_of!(Record, mistake) as u64, 4, [mistake]);
            store(at + offset_of!(Record, operator) as u64, 4, [operator]);
            store(at + offset_of!(Record, found) as u64, 8, [found]);
            store(at + offset_of!(Record, numbers) as u64, 8, [first, second]);
        }
    }
}
