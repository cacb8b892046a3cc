//! Normalisation by channels: each channel of each sample is a line `x * scale + shift`.

use crate::number::{Analytic, Number, Wide};
use crate::pointwise::{LIGHT, Loop};
use rushlight_base::Result;

kernels! { "channel_norm";
    /// out = 1 / sqrt(a + eps)
    pub fn reciprocal_deviations(walk: &Loop<2>, eps: f64) -> Result<()> {
        dispatch!(walk.common(), "batch_norm", float, T => {
            walk.map::<T, T>(LIGHT, move |a| T::ONE.div(Analytic::sqrt(a.add(T::from_f64(eps)))))
        })
    }

    /// out = bias - mean * scale
    pub fn shift(walk: &Loop<4>) -> Result<()> {
        dispatch!(walk.common(), "batch_norm", float, T => {
            walk.map::<T, T, T, T>(LIGHT, |bias, mean, scale| bias.sub(mean.mul(scale)))
        })
    }

    /// out = a * scale + shift
    pub fn along_lines(walk: &Loop<4>) -> Result<()> {
        compute!(walk.common(), "batch_norm", half float, T => {
            walk.map_wide::<T, T, T, T>(LIGHT, |x, scale, shift| x.mul(scale).add(shift))
        })
    }

    /// out = old running + share new
    pub fn follow(walk: &Loop<3>, old: f64, share: f64) -> Result<()> {
        compute!(walk.common(), "batch_norm", half float, T => {
            type W = <T as Number>::Wide;
            let [old, share] = [old, share].map(<W as Analytic>::from_f64);
            walk.map::<T, T, T>(LIGHT, move |running, new| running.mul(old).add(new.mul(share)))
        })
    }
}
