//! The state of a random generator, as `torch.get_rng_state` saves it.

use rushlight_base::ErrorKind;
use rushlight_base::random::Generator;

/// An accepted state is returned unchanged, and numbers can be generated from it.
pub fn generator(bytes: &[u8]) {
    // Most inputs are shorter than a state, so they overwrite the start of a valid one; its length is checked
    // separately.
    let mut generator = Generator::new(1);
    if bytes.len() != Generator::STATE_BYTES {
        let error = generator.set_state(bytes).expect_err("a state of another length");
        assert_eq!(error.kind(), ErrorKind::Runtime);
    }
    let mut state = generator.get_state();
    // The seed, the position in the block of numbers and whether there are any come first; the cached samples are at
    // the end.
    let (front, back) = bytes.split_at(bytes.len() / 2);
    let front = &front[..front.len().min(state.len() / 2)];
    let back = &back[..back.len().min(state.len() / 2)];
    let end = state.len() - back.len();
    state[..front.len()].copy_from_slice(front);
    state[end..].copy_from_slice(back);
    if generator.set_state(&state).is_err() {
        assert_eq!(generator.get_state(), Generator::new(1).get_state(), "a rejected state changes nothing");
        return;
    }
    let taken = generator.get_state();
    let mut twin = Generator::new(2);
    twin.set_state(&taken).expect("a state that was given");
    // More than a block.
    for _ in 0..700 {
        assert_eq!(generator.random(), twin.random());
    }
}
