//! The state of a random generator, as `torch.get_rng_state` saves it.

use rushlight_base::ErrorKind;
use rushlight_base::random::Generator;

/// A state that is taken is given back, and numbers can be drawn from it.
pub fn generator(bytes: &[u8]) {
    // Most inputs are shorter than a state, so they are put over the start of a sound one; its length is checked apart.
    let mut generator = Generator::new(1);
    if bytes.len() != Generator::STATE_BYTES {
        let error = generator.set_state(bytes).expect_err("a state of another length");
        assert_eq!(error.kind(), ErrorKind::Runtime);
    }
    let mut state = generator.get_state();
    // The seed, the place in the block of numbers and whether there are any stand in front; the kept samples at the end.
    let (front, back) = bytes.split_at(bytes.len() / 2);
    let front = &front[..front.len().min(state.len() / 2)];
    let back = &back[..back.len().min(state.len() / 2)];
    let end = state.len() - back.len();
    state[..front.len()].copy_from_slice(front);
    state[end..].copy_from_slice(back);
    if generator.set_state(&state).is_err() {
        assert_eq!(generator.get_state(), Generator::new(1).get_state(), "a refused state changes nothing");
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
