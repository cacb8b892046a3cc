//! Philox 4x32-10 (Salmon et al. 2011), the numbers of CUDA devices: a function of a key and a counter, so that threads
//! need no state. The kernels include this file (`core/cuda/kernels`).

/// The four numbers for a counter and a key.
#[inline(always)]
pub fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    const FACTORS: [u64; 2] = [0xd251_1f53, 0xcd9e_8d57];
    const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
    let mut round = 0;
    while round < 10 {
        let first = FACTORS[0] * counter[0] as u64;
        let second = FACTORS[1] * counter[2] as u64;
        counter = [
            (second >> 32) as u32 ^ counter[1] ^ key[0],
            second as u32,
            (first >> 32) as u32 ^ counter[3] ^ key[1],
            first as u32,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        round += 1;
    }
    counter
}

/// The four numbers of call `call` of a thread. `offset` counts single numbers, and is a multiple of 4.
#[inline(always)]
pub fn numbers(seed: u64, offset: u64, thread: u64, call: u64) -> [u32; 4] {
    let place = (offset / 4).wrapping_add(call);
    let counter = [place as u32, (place >> 32) as u32, thread as u32, (thread >> 32) as u32];
    philox(counter, [seed as u32, (seed >> 32) as u32])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of the authors' library Random123.
    #[test]
    fn numbers_are_those_of_the_authors() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }
}
