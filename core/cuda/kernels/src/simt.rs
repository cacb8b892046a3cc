//! What a thread has beyond arithmetic: its place in the grid, barriers, shuffles and shared memory.

use core::arch::asm;
use core::arch::nvptx::{
    _block_dim_x, _block_idx_x, _block_idx_y, _block_idx_z, _grid_dim_x, _grid_dim_z, _syncthreads, _thread_idx_x,
};

core::arch::global_asm!(".extern .shared .align 16 .b8 shared_memory[];");

unsafe extern "C" {
    /// The value of another lane. An intrinsic rather than `asm!`: the compiler knows that lanes must arrive together.
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn exchange(lanes: i32, value: i32, mask: i32, clamp: i32) -> i32;
}

/// Threads of a warp.
pub(crate) const WARP: u32 = 32;

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident = $intrinsic:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $name() -> u32 {
            // SAFETY: a kernel may always read its place.
            unsafe { $intrinsic() as u32 }
        }
    )*};
}

places! {
    /// The thread in its block.
    thread = _thread_idx_x;
    /// The block in the grid.
    block = _block_idx_x;
    /// The block in the grid, second dimension.
    block_y = _block_idx_y;
    /// The block in the grid, third dimension.
    block_z = _block_idx_z;
    /// Threads of a block.
    threads = _block_dim_x;
    /// Blocks of the grid.
    blocks = _grid_dim_x;
    /// Blocks of the grid, third dimension.
    blocks_z = _grid_dim_z;
}

/// Waits for all threads of the block, and makes their writes to shared memory visible.
#[inline(always)]
pub(crate) fn barrier() {
    // SAFETY: every thread of the block calls it: the callers have no branch around it that differs between threads.
    unsafe { _syncthreads() }
}

/// `value`, of which the compiler does not know that it is: what is computed from it is not moved before other reads and
/// writes of memory.
#[inline(always)]
pub(crate) fn opaque(value: u32) -> u32 {
    let same;
    // SAFETY: copies a register.
    unsafe { asm!("mov.u32 {}, {};", out(reg32) same, in(reg32) value, options(nostack, preserves_flags)) };
    same
}

/// The start of the block's shared memory, aligned to 16 bytes.
#[inline(always)]
pub(crate) fn shared() -> u32 {
    let address;
    // SAFETY: reads an address that is constant in the block.
    unsafe { asm!("mov.u32 {}, shared_memory;", out(reg32) address, options(pure, nomem, nostack, preserves_flags)) };
    address
}

/// Reads 16 bytes of shared memory.
///
/// # Safety
/// The address is aligned to 16 bytes and inside the block's shared memory.
#[inline(always)]
pub(crate) unsafe fn shared_read16(at: u32) -> [u32; 4] {
    let (a, b, c, d): (u32, u32, u32, u32);
    // SAFETY: the caller guarantees the bytes.
    unsafe {
        asm!("ld.shared.v4.b32 {{{}, {}, {}, {}}}, [{}];", out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d,
            in(reg32) at, options(readonly, nostack, preserves_flags));
    }
    [a, b, c, d]
}

/// A value that shared memory and shuffles move as words.
pub(crate) trait Word: Copy {
    /// Bytes that it takes in memory.
    const BYTES: u32;
    /// # Safety
    /// The address is aligned for the value and inside the block's shared memory.
    unsafe fn put(self, at: u32);
    /// # Safety
    /// The address is aligned for the value and inside the block's shared memory.
    unsafe fn get(at: u32) -> Self;
    /// The value of the lane whose number differs by `mask`. All lanes of the warp call it.
    fn exchanged(self, mask: u32) -> Self;
    /// # Safety
    /// The address is aligned to 8 bytes, and `BYTES` bytes of global memory there can be written.
    unsafe fn store(self, at: u64);
    /// # Safety
    /// The address is aligned to 8 bytes, and `BYTES` bytes of global memory there can be read.
    unsafe fn load(at: u64) -> Self;
}

/// Several values, 8 bytes each.
macro_rules! tuples {
    ($($($name:ident $place:tt)+;)*) => {$(
        impl<$($name: Word),+> Word for ($($name,)+) {
            const BYTES: u32 = 0 $(+ { let _ = $name::BYTES; 8 })+;
            #[inline(always)]
            unsafe fn put(self, at: u32) {
                // SAFETY: the caller guarantees 8 bytes for each value.
                unsafe { $(self.$place.put(at + 8 * $place);)+ }
            }
            #[inline(always)]
            unsafe fn get(at: u32) -> Self {
                // SAFETY: the caller guarantees 8 bytes for each value.
                unsafe { ($($name::get(at + 8 * $place),)+) }
            }
            #[inline(always)]
            fn exchanged(self, mask: u32) -> Self {
                ($(self.$place.exchanged(mask),)+)
            }
            #[inline(always)]
            unsafe fn store(self, at: u64) {
                // SAFETY: the caller guarantees 8 bytes for each value.
                unsafe { $(self.$place.store(at + 8 * $place);)+ }
            }
            #[inline(always)]
            unsafe fn load(at: u64) -> Self {
                // SAFETY: the caller guarantees 8 bytes for each value.
                unsafe { ($($name::load(at + 8 * $place),)+) }
            }
        }
    )*};
}

tuples! {
    A 0 B 1;
    A 0 B 1 C 2;
}

impl<W: Word> Word for crate::Complex<W> {
    const BYTES: u32 = 16;
    #[inline(always)]
    unsafe fn put(self, at: u32) {
        // SAFETY: the caller guarantees 8 bytes for each part.
        unsafe {
            self.re.put(at);
            self.im.put(at + 8);
        }
    }
    #[inline(always)]
    unsafe fn get(at: u32) -> Self {
        // SAFETY: the caller guarantees 8 bytes for each part.
        unsafe { crate::Complex { re: W::get(at), im: W::get(at + 8) } }
    }
    #[inline(always)]
    fn exchanged(self, mask: u32) -> Self {
        crate::Complex { re: self.re.exchanged(mask), im: self.im.exchanged(mask) }
    }
    #[inline(always)]
    unsafe fn store(self, at: u64) {
        // SAFETY: the caller guarantees 8 bytes for each part.
        unsafe {
            self.re.store(at);
            self.im.store(at + 8);
        }
    }
    #[inline(always)]
    unsafe fn load(at: u64) -> Self {
        // SAFETY: the caller guarantees 8 bytes for each part.
        unsafe { crate::Complex { re: W::load(at), im: W::load(at + 8) } }
    }
}

impl Word for u32 {
    const BYTES: u32 = 4;
    #[inline(always)]
    unsafe fn store(self, at: u64) {
        // SAFETY: the caller guarantees the bytes.
        unsafe { crate::memory::store(at, 4, [self]) }
    }
    #[inline(always)]
    unsafe fn load(at: u64) -> u32 {
        // SAFETY: the caller guarantees the bytes.
        unsafe { crate::memory::load::<u32, 1>(at, 4)[0] }
    }
    #[inline(always)]
    unsafe fn put(self, at: u32) {
        // SAFETY: the caller guarantees the address.
        unsafe { asm!("st.shared.b32 [{}], {};", in(reg32) at, in(reg32) self, options(nostack, preserves_flags)) }
    }
    #[inline(always)]
    unsafe fn get(at: u32) -> u32 {
        let value;
        // SAFETY: the caller guarantees the address.
        unsafe {
            asm!("ld.shared.b32 {}, [{}];", out(reg32) value, in(reg32) at, options(readonly, nostack, preserves_flags));
        }
        value
    }
    #[inline(always)]
    fn exchanged(self, mask: u32) -> u32 {
        // SAFETY: all lanes of the warp take part.
        unsafe { exchange(-1, self as i32, mask as i32, 31) as u32 }
    }
}

impl Word for u64 {
    const BYTES: u32 = 8;
    #[inline(always)]
    unsafe fn store(self, at: u64) {
        // SAFETY: the caller guarantees the bytes.
        unsafe { crate::memory::store(at, 8, [self]) }
    }
    #[inline(always)]
    unsafe fn load(at: u64) -> u64 {
        // SAFETY: the caller guarantees the bytes.
        unsafe { crate::memory::load::<u64, 1>(at, 8)[0] }
    }
    #[inline(always)]
    unsafe fn put(self, at: u32) {
        // SAFETY: the caller guarantees the address.
        unsafe { asm!("st.shared.b64 [{}], {};", in(reg32) at, in(reg64) self, options(nostack, preserves_flags)) }
    }
    #[inline(always)]
    unsafe fn get(at: u32) -> u64 {
        let value;
        // SAFETY: the caller guarantees the address.
        unsafe {
            asm!("ld.shared.b64 {}, [{}];", out(reg64) value, in(reg32) at, options(readonly, nostack, preserves_flags));
        }
        value
    }
    #[inline(always)]
    fn exchanged(self, mask: u32) -> u64 {
        let (low, high) = ((self as u32).exchanged(mask), ((self >> 32) as u32).exchanged(mask));
        u64::from(low) | u64::from(high) << 32
    }
}

macro_rules! as_bits {
    ($($type:ty: $bits:ty;)*) => {$(
        impl Word for $type {
            const BYTES: u32 = size_of::<$type>() as u32;
            #[inline(always)]
            unsafe fn store(self, at: u64) {
                // SAFETY: the caller makes the same promises.
                unsafe { self.to_bits().store(at) }
            }
            #[inline(always)]
            unsafe fn load(at: u64) -> $type {
                // SAFETY: the caller makes the same promises.
                <$type>::from_bits(unsafe { <$bits>::load(at) })
            }
            #[inline(always)]
            unsafe fn put(self, at: u32) {
                // SAFETY: the caller makes the same promises.
                unsafe { self.to_bits().put(at) }
            }
            #[inline(always)]
            unsafe fn get(at: u32) -> $type {
                // SAFETY: the caller makes the same promises.
                <$type>::from_bits(unsafe { <$bits>::get(at) })
            }
            #[inline(always)]
            fn exchanged(self, mask: u32) -> $type {
                <$type>::from_bits(self.to_bits().exchanged(mask))
            }
        }
    )*};
}

as_bits! {
    f32: u32;
    f64: u64;
}

macro_rules! as_integer {
    ($($type:ty: $bits:ty;)*) => {$(
        impl Word for $type {
            const BYTES: u32 = size_of::<$type>() as u32;
            #[inline(always)]
            unsafe fn store(self, at: u64) {
                // SAFETY: the caller makes the same promises.
                unsafe { (self as $bits).store(at) }
            }
            #[inline(always)]
            unsafe fn load(at: u64) -> $type {
                // SAFETY: the caller makes the same promises.
                unsafe { <$bits>::load(at) as $type }
            }
            #[inline(always)]
            unsafe fn put(self, at: u32) {
                // SAFETY: the caller makes the same promises.
                unsafe { (self as $bits).put(at) }
            }
            #[inline(always)]
            unsafe fn get(at: u32) -> $type {
                // SAFETY: the caller makes the same promises.
                unsafe { <$bits>::get(at) as $type }
            }
            #[inline(always)]
            fn exchanged(self, mask: u32) -> $type {
                (self as $bits).exchanged(mask) as $type
            }
        }
    )*};
}

as_integer! {
    i32: u32;
    i64: u64;
}

/// The combination of one value of each thread, in every thread of the block. The order of the combinations depends on
/// the number of threads only. The block has a multiple of 32 threads, and shared memory for a value of each warp.
#[inline(always)]
pub(crate) fn combined<T: Word>(mut value: T, neutral: T, f: impl Fn(T, T) -> T) -> T {
    let size = T::BYTES;
    let (lane, warp, warps) = (thread() % WARP, thread() / WARP, threads() / WARP);
    let mut mask = WARP / 2;
    while mask > 0 {
        value = f(value, value.exchanged(mask));
        mask /= 2;
    }
    if warps == 1 {
        return value;
    }
    barrier();
    // SAFETY: the host gives each warp a place.
    unsafe {
        if lane == 0 {
            value.put(shared() + warp * size);
        }
        barrier();
        value = if lane < warps { T::get(shared() + lane * size) } else { neutral };
    }
    let mut mask = WARP / 2;
    while mask > 0 {
        value = f(value, value.exchanged(mask));
        mask /= 2;
    }
    value
}
