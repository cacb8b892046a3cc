//! `__interpolate` and `__upsample`: the forms of `torch.nn.functional.interpolate` that are operators in older programs.

use super::args::Args;
use super::internal::operator;
use crate::runtime::list::List;
use crate::runtime::value::Value;
use rushlight_base::{Result, bail, ensure, list};

/// What is resized, and how.
struct Resize {
    input: Value,
    /// The sizes of the result.
    sizes: Vec<i64>,
    /// The factors, if coordinates are computed with them and not with those of the sizes.
    factors: Option<Vec<f64>>,
}

/// One number for all dimensions, or a number for each.
fn numbers<T: Copy>(value: &Value, dims: usize, kind: &str, number: impl Fn(&Value) -> Result<T>) -> Result<Vec<T>> {
    let Value::List(given) = value else { return list::filled(dims, number(value)?) };
    let given: Vec<T> = list::try_collect(given.values().iter().map(number))?;
    ensure!(
        given.len() == dims,
        Value,
        "{kind} shape must match input shape. Input is {dims}D, {kind} size is {}",
        given.len()
    );
    Ok(given)
}

impl Resize {
    fn of(input: &Value, size: &Value, factor: &Value, recompute: Option<bool>) -> Result<Resize> {
        let sizes = input.as_tensor()?.sizes();
        ensure!(
            (3..=5).contains(&sizes.len()),
            NotImplemented,
            "Input Error: Only 3D, 4D and 5D input Tensors supported (got {}D)",
            sizes.len()
        );
        let spatial = &sizes[2..];
        match (size.is_none(), factor.is_none()) {
            (true, true) => bail!(Value, "either size or scale_factor should be defined"),
            (false, false) => bail!(Value, "only one of size or scale_factor should be defined"),
            (false, true) => {
                let sizes = numbers(size, spatial.len(), "size", Value::as_int)?;
                Ok(Resize { input: input.clone(), sizes, factors: None })
            }
            (true, false) => {
                let number = |value: &Value| match value {
                    Value::Int(value) => Ok(*value as f64),
                    value => value.as_float(),
                };
                let factors = numbers(factor, spatial.len(), "scale_factor", number)?;
                let sizes = spatial.iter().zip(&factors).map(|(&size, factor)| (size as f64 * factor).floor() as i64);
                let sizes = list::collect(sizes)?;
                // Without the flag, coordinates are computed with the sizes, as older versions did.
                Ok(Resize {
                    input: input.clone(),
                    sizes,
                    factors: if recompute == Some(false) { Some(factors) } else { None },
                })
            }
        }
    }

    fn run(self, mode: &str, align_corners: Option<bool>) -> Result<Value> {
        let takes_corners = !matches!(mode, "nearest" | "area");
        ensure!(
            takes_corners || align_corners.is_none(),
            Value,
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        );
        let dims = self.sizes.len();
        let name = match (mode, dims) {
            ("nearest", dims) => format!("upsample_nearest{dims}d"),
            ("area", dims) => format!("adaptive_avg_pool{dims}d"),
            ("linear", 1) => "upsample_linear1d".to_owned(),
            ("bilinear", 2) => "upsample_bilinear2d".to_owned(),
            ("trilinear", 3) => "upsample_trilinear3d".to_owned(),
            ("bicubic", 2) => "upsample_bicubic2d".to_owned(),
            ("linear" | "bilinear" | "trilinear", _) => {
                let needed =
                    ["linear", "bilinear", "trilinear"].iter().position(|other| *other == mode).unwrap_or(0) + 3;
                bail!(NotImplemented, "Got {}D input, but {mode} mode needs {needed}D input", dims + 2)
            }
            _ => bail!(
                NotImplemented,
                "Input Error: Only 3D, 4D and 5D input Tensors supported (got {}D) for the modes: nearest | linear | \
                 bilinear | trilinear (got {mode})",
                dims + 2
            ),
        };
        let mut values = vec![self.input, List::ints(self.sizes).into()];
        if takes_corners {
            values.push(align_corners.unwrap_or(false).into());
        }
        if mode != "area" {
            match self.factors {
                Some(factors) => values.extend(factors.into_iter().map(Value::Float)),
                None => values.extend(std::iter::repeat_n(Value::None, dims)),
            }
        }
        operator(&name, "", &values)
    }
}

fn flag(args: &Args<'_>, index: usize) -> Result<Option<bool>> {
    match args.get(index)? {
        Value::None => Ok(None),
        value => value.as_bool().map(Some),
    }
}

/// `__interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)`. The last argument
/// changes nothing, as in PyTorch.
pub(super) fn interpolate(args: &mut Args<'_>) -> Result<Value> {
    let resize = Resize::of(args.get(0)?, args.get(1)?, args.get(2)?, flag(args, 5)?)?;
    resize.run(args.get(3)?.as_str()?, flag(args, 4)?)
}

/// `__upsample(input, size, scale_factor, mode, align_corners)`
pub(super) fn upsample(args: &mut Args<'_>) -> Result<Value> {
    let resize = Resize::of(args.get(0)?, args.get(1)?, args.get(2)?, None)?;
    resize.run(args.get(3)?.as_str()?, flag(args, 4)?)
}

/// `__upsample_nearest(input, size, scale_factor)`
pub(super) fn upsample_nearest(args: &mut Args<'_>) -> Result<Value> {
    Resize::of(args.get(0)?, args.get(1)?, args.get(2)?, None)?.run("nearest", None)
}

/// `__upsample_bilinear(input, size, scale_factor)`
pub(super) fn upsample_bilinear(args: &mut Args<'_>) -> Result<Value> {
    Resize::of(args.get(0)?, args.get(1)?, args.get(2)?, None)?.run("bilinear", Some(true))
}
