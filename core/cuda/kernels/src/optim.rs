//! Optimizer steps: the arithmetic of `core/cpu/src/optim/update.rs` on the elements of contiguous arrays.

use crate::memory::{load, store};
use crate::number::Number;
use crate::simd::{Float, FloatVector, Thread};
use crate::simt::{block, blocks, thread, threads};
use crate::{bf16, f16};

#[path = "../../../cpu/src/optim/update.rs"]
mod update;
use crate::parameters::Step;
use update::{AdagradUpdate, AdamUpdate, Constant, Numbers, RmsPropUpdate, SgdUpdate, Update};

/// Updates this thread's elements.
#[inline(always)]
fn apply<T: Float, U: Update<T, N> + Constant, const N: usize>(p: &Step) {
    let update = U::take(&mut Numbers { values: p.numbers, at: 0 });
    let stride = u64::from(blocks()) * u64::from(threads());
    let mut index = u64::from(block()) * u64::from(threads()) + u64::from(thread());
    while index < p.count {
        let size = size_of::<T>();
        let place = |nth: usize| p.at[nth] + index * size as u64;
        let mut values = [T::Vector::<Thread>::from_f64(0.0); N];
        let mut nth = 0;
        while nth < N {
            // SAFETY: the host describes arrays of `count` elements.
            let value: T = unsafe { load::<T, 1>(place(nth), size)[0] };
            values[nth] = T::Vector::<Thread>::splat(value.wide());
            nth += 1;
        }
        let values = update.update::<Thread>(values);
        let mut nth = 0;
        while nth < N {
            if update.writes(nth) {
                // The sum of one lane is that lane.
                // SAFETY: the host describes arrays of `count` elements.
                unsafe { store(place(nth), size, [T::narrow(values[nth].sum())]) }
            }
            nth += 1;
        }
        index += stride;
    }
}

macro_rules! entries_of {
    ($($name:literal $update:ident $n:literal)*) => {$(
        entries_of!(@dtypes $name $update $n; F32 f32, F64 f64, F16 f16, BF16 bf16);
    )*};
    (@dtypes $name:literal $update:ident $n:literal; $($dtype:ident $type:ty),*) => {$(
        entry! { "optim" $name, $dtype, (p: Step) => apply::<$type, $update<<$type as Number>::Wide>, $n> }
    )*};
}

entries_of! {
    "sgd2" SgdUpdate 2
    "sgd3" SgdUpdate 3
    "adam4" AdamUpdate 4
    "adam5" AdamUpdate 5
    "adagrad3" AdagradUpdate 3
    "rmsprop3" RmsPropUpdate 3
    "rmsprop4" RmsPropUpdate 4
    "rmsprop5" RmsPropUpdate 5
}
