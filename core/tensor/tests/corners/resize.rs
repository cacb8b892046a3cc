//! Images whose sizes stay or double although the scale factor is another: PyTorch ignores the factor in some kernels.

use super::{of, values};
use rushlight_base::{DType, MemoryFormat};
use rushlight_tensor::{Options, Tensor, autograd, ops};

fn image(side: i64) -> Tensor {
    let numbers = ops::arange((side * side).into(), Options::of(DType::F32)).unwrap();
    ops::reshape(&numbers, &[1, 1, side, side]).unwrap()
}

#[test]
fn small_images_take_the_nearest_elements_by_index() {
    let small = ops::upsample_nearest2d_vec(&image(2), None, Some(&[2.4, 1.2])).unwrap();
    assert_eq!(values(&small), [0.0, 1.0, 0.0, 1.0, 2.0, 3.0, 2.0, 3.0]);
    // Large ones take them by the factor, unless their channels are last.
    let column = |image: &Tensor| values(&ops::select_int(&ops::select_int(image, 1, 0).unwrap(), 2, 0).unwrap());
    let large = ops::upsample_nearest2d_vec(&image(80), None, Some(&[1.01, 1.01])).unwrap();
    assert_eq!(column(&large)[78..], [77.0 * 80.0, 78.0 * 80.0]);
    let channels = ops::expand(&image(80), &[1, 4, 80, 80], false).unwrap();
    let last = ops::contiguous(&channels, MemoryFormat::ChannelsLast).unwrap();
    let large = ops::upsample_nearest2d_vec(&last, None, Some(&[1.01, 1.01])).unwrap();
    assert_eq!(column(&large)[78..], [78.0 * 80.0, 79.0 * 80.0]);
}

#[test]
fn gradients_of_the_nearest_elements_go_by_index() {
    let signal = of(&[0.0, 1.0], &[1, 1, 2]);
    signal.set_requires_grad(true).unwrap();
    let same = ops::upsample_nearest1d_vec(&signal, None, Some(&[1.2])).unwrap();
    assert_eq!(values(&same), [0.0, 0.0]);
    autograd::backward(&[&same], &[Some(&of(&[1.0, 10.0], &[1, 1, 2]))], false, false, &[]).unwrap();
    assert_eq!(values(&signal.grad().unwrap()), [1.0, 10.0]);
}

#[test]
fn linear_interpolation_and_antialiasing_leave_a_dimension_that_stays() {
    let expected = [0.0, 1.0, 2.0, 3.0];
    let factors = Some(&[1.2, 1.2][..]);
    assert_eq!(values(&ops::upsample_bilinear2d_vec(&image(2), None, false, factors).unwrap()), expected);
    assert_eq!(values(&ops::_upsample_bilinear2d_aa_vec(&image(2), None, false, factors).unwrap()), expected);
    assert_eq!(values(&ops::_upsample_bicubic2d_aa_vec(&image(2), None, false, factors).unwrap()), expected);
    assert_ne!(values(&ops::upsample_bicubic2d_vec(&image(2), None, false, factors).unwrap()), expected);
}
