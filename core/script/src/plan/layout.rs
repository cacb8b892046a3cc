//! Chooses the memory format of images: from some call on, images are channels last, where that is expected to be faster.
//!
//! Depthwise convolutions of small images are faster with adjacent channels, which fill vectors where rows do not; large images
//! are faster channels first. Networks shrink their images, so one position is chosen, after which every call that can works
//! on channels last. Calls that depend on the order of elements, such as views, and the results of the function keep channels
//! first; images are copied where the formats meet. Measured on an AMD Zen 4, mobilenet_v2 with eight images: 0.87 of the time
//! of channels first.

use super::fuse::name_of;
use super::lower::{Lowered, Prepared, Steps};
use super::record::{Argument, Place, Slot, Source, Store, Stored};
use rushlight_base::{DType, MemoryFormat, Result, bail};
use rushlight_tensor::Geometry;
use rushlight_tensor::dense::strides_in;
use rushlight_tensor::dispatch::{Value, by_name};

/// Nanoseconds for each element of the result that a depthwise convolution saves with adjacent channels, by the width of the
/// result and the step. These and the following figures were measured on an AMD Zen 4 with one thread and eight images.
fn saved_by_depthwise(width: i64, step: i64) -> f64 {
    match (width, step) {
        (57.., 1) => 0.2,
        (8..=56, 1) => 0.35,
        (29.., _) => 0.3,
        (..=7, 1) => 0.5,
        _ => 1.2,
    }
}

/// The same for a convolution of single positions: products are 6 % faster, and fill vectors with output channels.
fn saved_by_pointwise([from, to]: [i64; 2], width: i64) -> f64 {
    let padded = (to as u64).next_multiple_of(LANES) as f64 / to as f64;
    let product = from as f64 * 0.02;
    match width {
        // Memory is the limit.
        57.. => 0.0,
        _ => product * (1.06 - padded),
    }
}

/// Lanes of a vector of `float32`.
const LANES: u64 = 16;

/// The same for a convolution of an image of few channels.
const SAVED_BY_FEW: f64 = 0.2;

/// The same for other convolutions: rows of images are unfolded faster, and Winograd's transforms work on them.
const LOST: f64 = 4.0;

/// Nanoseconds for each element of a copy between the formats: in the cache, and beyond.
fn copied(bytes: usize) -> f64 {
    let elements = (bytes / size_of::<f32>()) as f64;
    elements * if bytes <= CACHE { 0.13 } else { 0.6 }
}

/// Bytes of an image that the cache holds.
const CACHE: usize = 8 << 20;

/// Operators on images that compute each element, or each channel, alone, so that any format is right; with their in-place and
/// inner forms.
const POINTWISE: &str = "add sub mul div relu relu6 hardtanh clamp clamp_min leaky_relu sigmoid silu hardsigmoid hardswish \
                         gelu tanh mish elu avg_pool2d adaptive_avg_pool2d mean upsample_nearest2d";

fn is_pointwise(name: &str) -> bool {
    POINTWISE.split(' ').any(|known| known == name.trim_matches('_'))
}

/// Changes formats where that saves time.
pub(super) fn choose(steps: &mut Steps, outputs: &mut [Slot]) -> Result<()> {
    let calls = Calls::new(steps);
    if calls.gains.iter().all(|&gain| gain <= 0.0) {
        return Ok(());
    }
    let layouts = Layouts { steps, outputs, calls: &calls };
    let positions = (0..steps.calls.len()).filter(|&first| calls.is_free[first]);
    let best = positions
        .filter_map(|first| layouts.change(first).map(|change| (layouts.saves(&change), change)))
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    match best {
        Some((saves, change)) if saves > 0.0 => change.apply(&calls, steps, outputs),
        _ => Ok(()),
    }
}

/// What is known of the calls.
struct Calls {
    /// The slot of each storage that is an image.
    images: Vec<Option<Slot>>,
    /// Whether each call works in any format.
    is_free: Vec<bool>,
    /// Nanoseconds that each call saves with adjacent channels.
    gains: Vec<f64>,
}

impl Calls {
    fn new(steps: &Steps) -> Calls {
        let mut images = vec![None; steps.stores.len()];
        for (slot, place) in steps.places.iter().enumerate() {
            if is_image(place, &steps.stores[place.store]) {
                images[place.store].get_or_insert(slot);
            }
        }
        Calls {
            is_free: steps.calls.iter().map(|call| is_free(steps, &images, call)).collect(),
            gains: steps.calls.iter().map(|call| gain(steps, call)).collect(),
            images,
        }
    }

    /// Whether a call works on channels last, if images are channels last from `first` on.
    fn is_last(&self, index: usize, first: usize) -> bool {
        index >= first && self.is_free[index]
    }
}

fn is_free(steps: &Steps, images: &[Option<Slot>], call: &Lowered) -> bool {
    // What is no image has no format: channels of one position, numbers.
    let fits = |slot: Slot| images[steps.places[slot].store].is_none_or(|image| image == slot);
    match &call.prepared {
        Some(Prepared::Convolution(_)) => call.touched().all(fits),
        Some(Prepared::Product(_)) => false,
        None => name_of(&call.op).is_some_and(|(name, _)| is_pointwise(name)) && call.touched().all(fits),
    }
}

fn gain(steps: &Steps, call: &Lowered) -> f64 {
    let (Some(Prepared::Convolution(layer)), &[Some(out)]) = (&call.prepared, &call.fresh[..]) else { return 0.0 };
    let Some(input) = call.arguments.first().and_then(|argument| argument.slots().next()) else { return 0.0 };
    let [from, to] = [input, out].map(|slot| &steps.places[slot].geometry);
    let (&[_, _, _, width], &[_, _, _, before]) = (&to.sizes[..], &from.sizes[..]) else { return 0.0 };
    let elements = to.numel() as f64;
    match (layer.is_depthwise(), layer.kernel().iter().all(|&size| size == 1)) {
        (true, _) => elements * saved_by_depthwise(width, (before + width / 2) / width.max(1)),
        (false, _) if layer.reads_any_format() => elements * SAVED_BY_FEW,
        (false, true) => elements * saved_by_pointwise([from.sizes[1], to.sizes[1]], width),
        (false, false) => -elements * LOST,
    }
}

/// The position from which on images are channels last, and what follows from it.
struct Change {
    first: usize,
    /// Images that are made channels last.
    last: Vec<Store>,
    /// Images that calls in the other format read, and the first of these calls; the number of calls, if the image is only
    /// returned.
    copies: Vec<(Store, usize)>,
}

struct Layouts<'a> {
    steps: &'a Steps,
    outputs: &'a [Slot],
    calls: &'a Calls,
}

impl Layouts<'_> {
    fn store(&self, slot: Slot) -> Store {
        self.steps.places[slot].store
    }

    /// What follows if all free calls from `first` on work on channels last. `None`: an image would have to be in both
    /// formats while it is written.
    fn change(&self, first: usize) -> Option<Change> {
        let calls = &self.steps.calls;
        let in_last = |index: usize| self.calls.is_last(index, first);
        let mut change = Change { first, last: Vec::new(), copies: Vec::new() };
        for (store, image) in self.calls.images.iter().enumerate() {
            if image.is_none() {
                continue;
            }
            let is_own = |slot: Slot| self.store(slot) == store;
            let which = |touches: &dyn Fn(&Lowered) -> bool| -> Vec<usize> {
                (0..calls.len()).filter(|&index| touches(&calls[index])).collect()
            };
            let writers = which(&|call| call.written.iter().copied().chain(call.made()).any(is_own));
            let reads =
                |call: &Lowered| call.arguments.iter().skip(in_any_format(call)).flat_map(Argument::slots).any(is_own);
            let readers = which(&reads);
            let made_last = writers.first().is_some_and(|&index| in_last(index));
            let is_returned = self.outputs.iter().any(|&slot| self.store(slot) == store);
            let other = readers.iter().copied().find(|&index| in_last(index) != made_last);
            let copied_at = match (other, is_returned && made_last) {
                (Some(index), _) => Some(index),
                (None, true) => Some(calls.len()),
                (None, false) => None,
            };
            if made_last {
                change.last.push(store);
            }
            let Some(at) = copied_at else { continue };
            // The copy has to have the last value, and the image must not change after.
            if writers.iter().any(|&index| index >= at || in_last(index) != made_last) {
                return None;
            }
            change.copies.push((store, at));
        }
        Some(change)
    }

    /// Nanoseconds that a change is expected to save.
    fn saves(&self, change: &Change) -> f64 {
        let gains = &self.calls.gains;
        let last = (change.first..gains.len()).filter(|&index| self.calls.is_free[index]);
        let gains: f64 = last.map(|index| gains[index]).sum();
        gains - change.copies.iter().map(|(store, _)| copied(self.steps.stores[*store].bytes)).sum::<f64>()
    }
}

impl Change {
    fn apply(self, calls: &Calls, steps: &mut Steps, outputs: &mut [Slot]) -> Result<()> {
        for &store in &self.last {
            let Some(slot) = calls.images[store] else { continue };
            steps.places[slot].geometry = channels_last(&steps.places[slot].geometry)?;
        }
        let mut copies = Vec::new();
        for &(store, at) in &self.copies {
            let is_last = self.last.contains(&store);
            copies.push((at, self.copy(calls, steps, outputs, store, is_last)?));
        }
        // Backwards, so that positions stay right.
        copies.sort_by_key(|(at, _)| *at);
        for (at, copy) in copies.into_iter().rev() {
            steps.calls.insert(at, copy);
        }
        Ok(())
    }

    /// The copy of an image in the other format, which the calls of that format read from now on.
    fn copy(
        &self,
        calls: &Calls,
        steps: &mut Steps,
        outputs: &mut [Slot],
        store: Store,
        is_last: bool,
    ) -> Result<Lowered> {
        let Some(image) = calls.images[store] else { bail!(Internal, "a copied storage is no image") };
        let copied = steps.stores.len();
        steps.stores.push(Stored::made(steps.stores[store].bytes)?);
        let mut geometry = steps.places[image].geometry.clone();
        geometry = if is_last { channels_first(&geometry) } else { channels_last(&geometry)? };
        let target = steps.places.len();
        steps.places.push(Place { store: copied, geometry, ..steps.places[image].clone() });
        // Other calls may read views of the image.
        let mut moved = vec![(image, target)];
        let mut other = |slot: &mut Slot, places: &mut Vec<Place>| {
            if places[*slot].store != store {
                return;
            }
            if let Some((_, new)) = moved.iter().find(|(old, _)| old == slot) {
                *slot = *new;
                return;
            }
            places.push(Place { store: copied, ..places[*slot].clone() });
            moved.push((*slot, places.len() - 1));
            *slot = places.len() - 1;
        };
        for (index, call) in steps.calls.iter_mut().enumerate() {
            if calls.is_last(index, self.first) == is_last {
                continue;
            }
            let skipped = in_any_format(call);
            for argument in call.arguments.iter_mut().skip(skipped) {
                match argument {
                    Argument::Slot(slot) => other(slot, &mut steps.places),
                    Argument::Slots(slots) => {
                        slots.iter_mut().flatten().for_each(|slot| other(slot, &mut steps.places));
                    }
                    Argument::Value(_) => {}
                }
            }
        }
        if is_last {
            outputs.iter_mut().for_each(|slot| other(slot, &mut steps.places));
        }
        let op = by_name::find("aten::clone", "")?;
        Ok(Lowered::new(op, vec![Argument::Slot(image), Argument::Value(Value::None)], Vec::new(), vec![Some(target)]))
    }
}

/// How many arguments, from the first on, a call reads in any format.
fn in_any_format(call: &Lowered) -> usize {
    usize::from(matches!(&call.prepared, Some(Prepared::Convolution(layer)) if layer.reads_any_format()))
}

/// Whether a tensor of `float32` is an image, channels first, that fills its storage.
fn is_image(place: &Place, stored: &Stored) -> bool {
    let geometry = &place.geometry;
    let is_made = matches!(stored.source, Source::Made | Source::Input);
    let fills = geometry.offset == 0 && geometry.numel() as usize * size_of::<f32>() == stored.bytes;
    is_made
        && place.dtype == DType::F32
        && geometry.sizes.len() == 4
        && fills
        && geometry.is_contiguous()
        && geometry.sizes[2] * geometry.sizes[3] > 1
}

fn channels_first(geometry: &Geometry) -> Geometry {
    Geometry::contiguous(&geometry.sizes)
}

fn channels_last(geometry: &Geometry) -> Result<Geometry> {
    let strides = strides_in(&geometry.sizes, MemoryFormat::ChannelsLast)?;
    Ok(Geometry { sizes: geometry.sizes.clone(), strides, offset: 0 })
}
