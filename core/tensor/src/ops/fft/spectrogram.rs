//! Short-time Fourier transforms and their inverse.

use super::rules::Normalization;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DeviceType, Error, Result, Scalar, bail, ensure, err, format_sizes};

/// How a message prints an optional argument.
fn shown<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(|| "None".to_string(), |value| value.to_string())
}

/// How a message of libtorch names the type of a tensor.
fn type_name(tensor: &Tensor) -> String {
    let device = if tensor.device().kind == DeviceType::Meta { "Meta" } else { "CPU" };
    format!("{device}{}Type", tensor.dtype().c10_name())
}

fn shown_window(window: Option<&Tensor>) -> String {
    match window {
        Some(window) => format!("{}{{{}}}", type_name(window), format_sizes(&window.sizes())),
        None => "None".into(),
    }
}

/// The arguments of `stft`.
struct Analysis<'a> {
    n_fft: i64,
    hop_length: i64,
    win_length: i64,
    window: Option<&'a Tensor>,
    normalized: bool,
    onesided: Option<bool>,
    return_complex: bool,
    align_to_window: Option<bool>,
}

impl Analysis<'_> {
    /// An error that shows the call.
    fn error(&self, self_: &Tensor, problem: impl std::fmt::Display) -> Error {
        err!(
            Runtime,
            "stft({}{}, n_fft={}, hop_length={}, win_length={}, window={}, normalized={}, onesided={}, \
             return_complex={}, align_to_window={}) : {problem}",
            type_name(self_),
            format_sizes(&self_.sizes()),
            self.n_fft,
            self.hop_length,
            self.win_length,
            shown_window(self.window),
            i32::from(self.normalized),
            shown(self.onesided.map(i32::from)),
            i32::from(self.return_complex),
            shown(self.align_to_window.map(i32::from))
        )
    }

    fn check(&self, self_: &Tensor, length: i64) -> Result<()> {
        let Analysis { n_fft, hop_length, win_length, .. } = *self;
        let problem = match self.window.map(Tensor::sizes) {
            _ if n_fft <= 0 || n_fft > length => format!("expected 0 < n_fft < {length}, but got n_fft={n_fft}"),
            _ if hop_length <= 0 => format!("expected hop_length > 0, but got hop_length={hop_length}"),
            _ if win_length <= 0 || win_length > n_fft => {
                format!("expected 0 < win_length <= n_fft, but got win_length={win_length}")
            }
            Some(sizes) if sizes[..] != [win_length] => format!(
                "expected a 1D window tensor of size equal to win_length={win_length}, but got window with size {}",
                format_sizes(&sizes)
            ),
            _ => return Ok(()),
        };
        Err(self.error(self_, problem))
    }

    /// Zeros on both sides of a window that is shorter than the transform.
    fn padding(&self) -> [i64; 2] {
        let left = (self.n_fft - self.win_length) / 2;
        [left, self.n_fft - self.win_length - left]
    }

    /// The window as long as the transform. None: all ones.
    fn whole_window(&self, input: &Tensor) -> Result<Option<Tensor>> {
        if self.win_length == self.n_fft {
            return Ok(self.window.cloned());
        }
        let window = match self.window {
            Some(window) => window.clone(),
            None => ops::ones(&[self.win_length], input.options())?,
        };
        ops::constant_pad_nd(&window, &self.padding(), Scalar::Int(0)).map(Some)
    }

    /// The spectra of the frames of a batch of signals, as (batch, frame, frequency).
    fn spectra(&self, input: &Tensor) -> Result<Tensor> {
        let frames = ops::unfold(input, 1, self.n_fft, self.hop_length)?;
        let frames = match self.whole_window(input)? {
            Some(window) => ops::mul_tensor(&frames, &window)?,
            None => frames,
        };
        let norm = if self.normalized { Normalization::ByRoot } else { Normalization::None } as i64;
        let is_complex = frames.dtype().is_complex();
        let onesided = self.onesided.unwrap_or(!is_complex);
        if !is_complex {
            return ops::_fft_r2c(&frames, &[2], norm, onesided);
        }
        ensure!(!onesided, Runtime, "Cannot have onesided output if window or input is complex");
        ops::_fft_c2c(&frames, &[2], norm, true)
    }
}

/// The spectra of overlapping frames of a signal.
#[allow(clippy::too_many_arguments, reason = "the operator has as many arguments")]
pub fn stft(
    self_: &Tensor,
    n_fft: i64,
    hop_length: Option<i64>,
    win_length: Option<i64>,
    window: Option<&Tensor>,
    normalized: bool,
    onesided: Option<bool>,
    return_complex: Option<bool>,
    align_to_window: Option<bool>,
) -> Result<Tensor> {
    stft_center(
        self_,
        n_fft,
        hop_length,
        win_length,
        window,
        false,
        "constant",
        normalized,
        onesided,
        return_complex,
        align_to_window,
    )
}

/// The spectra of overlapping frames of a signal, which may be padded first.
#[allow(clippy::too_many_arguments, reason = "the operator has as many arguments")]
pub fn stft_center(
    self_: &Tensor,
    n_fft: i64,
    hop_length: Option<i64>,
    win_length: Option<i64>,
    window: Option<&Tensor>,
    center: bool,
    pad_mode: &str,
    normalized: bool,
    onesided: Option<bool>,
    return_complex: Option<bool>,
    align_to_window: Option<bool>,
) -> Result<Tensor> {
    check_device(self_, window)?;
    let unaligned = !center || align_to_window.is_none();
    ensure!(unaligned, Runtime, "stft align_to_window should only be set when center = false.");
    let is_complex = self_.dtype().is_complex() || window.is_some_and(|window| window.dtype().is_complex());
    let Some(return_complex) = return_complex.or(is_complex.then_some(true)) else {
        bail!(
            Runtime,
            "stft requires the return_complex parameter be given for real inputs, and will further require that \
             return_complex=True in a future PyTorch release."
        );
    };
    let call = Analysis {
        n_fft,
        hop_length: hop_length.unwrap_or(n_fft >> 2),
        win_length: win_length.unwrap_or(n_fft),
        window,
        normalized,
        onesided,
        return_complex,
        align_to_window,
    };
    if !self_.dtype().is_differentiable() {
        return Err(call.error(self_, "expected a tensor of floating point or complex values"));
    }
    if !(1..=2).contains(&self_.ndim()) {
        return Err(call.error(self_, "expected a 1D or 2D tensor"));
    }
    let mut input = if self_.ndim() == 1 { ops::unsqueeze(self_, 0)? } else { self_.clone() };
    if center {
        let padded = ops::pad(&ops::unsqueeze(&input, 0)?, &[n_fft / 2, n_fft / 2], pad_mode, None)?;
        input = ops::squeeze_dim(&padded, 0)?;
    }
    call.check(self_, input.sizes()[1])?;
    if align_to_window == Some(true) {
        input = ops::constant_pad_nd(&input, &call.padding(), Scalar::Int(0))?;
    }
    let spectra = ops::transpose_int(&call.spectra(&input)?, 1, 2)?;
    let spectra = if self_.ndim() == 1 { ops::squeeze_dim(&spectra, 0)? } else { spectra };
    if return_complex { Ok(spectra) } else { ops::view_as_real(&spectra) }
}

fn check_device(self_: &Tensor, window: Option<&Tensor>) -> Result<()> {
    let (own, other) = (self_.device(), window.map_or(self_.device(), Tensor::device));
    ensure!(
        own == other,
        Runtime,
        "stft input and window must be on the same device but got self on {own} and window on {other}"
    );
    Ok(())
}

/// The arguments of `istft`.
struct Synthesis<'a> {
    n_fft: i64,
    hop_length: i64,
    win_length: i64,
    window: Option<&'a Tensor>,
    center: bool,
    normalized: bool,
    onesided: Option<bool>,
    length: Option<i64>,
    return_complex: bool,
}

impl Synthesis<'_> {
    /// An error that shows the call.
    fn error(&self, self_: &Tensor, problem: impl std::fmt::Display) -> Error {
        err!(
            Runtime,
            "istft({}{}, n_fft={}, hop_length={}, win_length={}, window={}, center={}, normalized={}, \
             onesided={}, length={}, return_complex={}) {problem}",
            type_name(self_),
            format_sizes(&self_.sizes()),
            self.n_fft,
            self.hop_length,
            self.win_length,
            shown_window(self.window),
            i32::from(self.center),
            i32::from(self.normalized),
            shown(self.onesided.map(i32::from)),
            shown(self.length),
            i32::from(self.return_complex)
        )
    }

    fn check(&self, self_: &Tensor, frequencies: i64, onesided: bool) -> Result<()> {
        let Synthesis { n_fft, hop_length, win_length, .. } = *self;
        let expected = if onesided { n_fft / 2 + 1 } else { n_fft };
        let problem = if self_.numel() == 0 {
            ": input tensor cannot be empty.".to_string()
        } else if !(2..=3).contains(&self_.ndim()) {
            format!(": expected a tensor with 3 or 4 dimensions, but got {}", self_.ndim() + 1)
        } else if frequencies != expected {
            let (size, flag) = if onesided { ("n_fft / 2 + 1", "True") } else { ("n_fft", "False") };
            format!(
                ": expected the frequency dimension (3rd to the last) of the input tensor to match {size} when \
                 onesided={flag}, but got {frequencies}"
            )
        } else if !(0 < hop_length && hop_length <= win_length) {
            ": expected 0 < hop_length <= win_length".to_string()
        } else if !(0 < win_length && win_length <= n_fft) {
            ": expected 0 < win_length <= n_fft".to_string()
        } else if self.window.is_some_and(|window| window.sizes()[..] != [win_length]) {
            ": Invalid window shape. window has to be 1D and length of `win_length`".to_string()
        } else {
            return Ok(());
        };
        Err(self.error(self_, problem))
    }

    /// The window as long as the transform.
    fn whole_window(&self, options: Options) -> Result<Tensor> {
        let window = match self.window {
            Some(window) => window.clone(),
            None => ops::ones(&[self.win_length], options)?,
        };
        let left = (self.n_fft - self.win_length) / 2;
        let right = self.n_fft - self.win_length - left;
        if left + right == 0 { Ok(window) } else { ops::constant_pad_nd(&window, &[left, right], Scalar::Int(0)) }
    }

    /// The frames of spectra, which are (batch, frame, frequency).
    fn frames(&self, spectra: &Tensor, onesided: bool) -> Result<Tensor> {
        let norm = if self.normalized { Normalization::ByRoot } else { Normalization::ByCount } as i64;
        if self.return_complex {
            ensure!(!onesided, Runtime, "Cannot have onesided output if window or input is complex");
            return ops::_fft_c2c(spectra, &[2], norm, false);
        }
        let is_complex = self.window.is_some_and(|window| window.dtype().is_complex());
        ensure!(!is_complex, Runtime, "Complex windows are incompatible with return_complex=False");
        let half = ops::slice_tensor(spectra, -1, Some(0), Some(self.n_fft / 2 + 1), 1)?;
        ops::_fft_c2r(&half, &[2], norm, self.n_fft)
    }

    /// The part of a sum of frames that is the signal.
    fn trimmed(&self, sum: &Tensor) -> Result<Tensor> {
        let start = if self.center { self.n_fft / 2 } else { 0 };
        let end = match self.length {
            Some(length) => Some(start.saturating_add(length)),
            None if self.center => Some(-(self.n_fft / 2)),
            None => None,
        };
        ops::slice_tensor(sum, 1, Some(start), end, 1)
    }

    /// Reports an error if the squares of the windows do not cover the whole signal.
    fn check_envelope(&self, self_: &Tensor, envelope: &Tensor) -> Result<()> {
        if envelope.device().kind == DeviceType::Meta {
            return Ok(());
        }
        let least = ops::min(&ops::abs(envelope)?)?.item()?.to_f64();
        if least < 1e-11 {
            return Err(self.error(self_, format_args!("window overlap add min: {least:e} is less than 1e-11")));
        }
        Ok(())
    }
}

/// The signal of overlapping spectra: the sum of their windowed frames, divided by the sum of the squared windows.
#[allow(clippy::too_many_arguments, reason = "the operator has as many arguments")]
pub fn istft(
    self_: &Tensor,
    n_fft: i64,
    hop_length: Option<i64>,
    win_length: Option<i64>,
    window: Option<&Tensor>,
    center: bool,
    normalized: bool,
    onesided: Option<bool>,
    length: Option<i64>,
    return_complex: bool,
) -> Result<Tensor> {
    let (hop_length, win_length) = (hop_length.unwrap_or(n_fft >> 2), win_length.unwrap_or(n_fft));
    ensure!(
        self_.dtype().is_complex(),
        Runtime,
        "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
    );
    let sizes = self_.sizes();
    let [.., frequencies, frames] = sizes[..] else {
        let (least, most) = (-(sizes.len() as i64) - 1, sizes.len());
        bail!(Index, "Dimension out of range (expected to be in range of [{least}, {most}], but got -3)");
    };
    let call =
        Synthesis { n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex };
    let onesided = onesided.unwrap_or(frequencies != n_fft);
    call.check(self_, frequencies, onesided)?;
    let input = if sizes.len() == 2 { ops::unsqueeze(self_, 0)? } else { self_.clone() };
    let signals = call.frames(&ops::transpose_int(&input, 1, 2)?, onesided)?;
    let window = call.whole_window(Options::of(self_.dtype().to_real()).on(self_.device()))?;
    let total = (frames - 1).checked_mul(hop_length).and_then(|hops| hops.checked_add(n_fft));
    let total = total.ok_or_else(|| call.error(self_, ": the signal is too long"))?;
    let sum = ops::mul_tensor(&signals, &window)?;
    let sum = call.trimmed(&ops::unfold_backward(&sum, &[sum.sizes()[0], total], 1, n_fft, hop_length)?)?;
    let squares = ops::expand(&ops::mul_tensor(&window, &window)?, &[1, frames, n_fft], false)?;
    let envelope = call.trimmed(&ops::unfold_backward(&squares, &[1, total], 1, n_fft, hop_length)?)?;
    call.check_envelope(self_, &envelope)?;
    let signal = ops::div_tensor(&sum, &envelope)?;
    let signal = if sizes.len() == 2 { ops::squeeze_dim(&signal, 0)? } else { signal };
    let missing = length.map_or(0, |length| length - (total - if center { n_fft / 2 } else { 0 }));
    if missing > 0 { ops::constant_pad_nd(&signal, &[0, missing], Scalar::Int(0)) } else { Ok(signal) }
}
