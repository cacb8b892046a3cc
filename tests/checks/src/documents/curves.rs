//! The curves of activations and losses in the reference of the operators, computed with the library and drawn as SVG.

use super::places::write;
use opgen::model::Op;
use plotters::prelude::{ChartBuilder, Color, IntoDrawingArea, LineSeries, RGBColor, SVGBackend};
use rushlight_base::{DType, DimVec, Scalar};
use rushlight_tensor::dispatch::{Value, by_name};
use rushlight_tensor::{Options, Tensor, ops};
use std::path::Path;

/// Points of a curve. An odd number, so that 0 is a point of a symmetric range.
const POINTS: i64 = 401;
/// The size of a plot, in pixels.
const SIZE: (u32, u32) = (420, 280);
/// The curve and its derivative.
const COLORS: [RGBColor; 2] = [RGBColor(0x1f, 0x77, 0xb4), RGBColor(0xff, 0x7f, 0x0e)];

/// Writes `<operator>.svg` for each operator whose declaration has a curve.
pub fn draw(folder: &Path) -> Result<usize, String> {
    let families = opgen::load().map_err(|problems| problems.join("\n"))?;
    let ops: Vec<&Op> = families.iter().flat_map(|family| &family.ops).filter(|op| op.doc.has_curve()).collect();
    for op in &ops {
        let lines = lines(op).map_err(|error| format!("{}: {error}", op.name()))?;
        write(&folder.join(format!("{}.svg", op.name())), svg(&lines)?)?;
    }
    Ok(ops.len())
}

type Line = Vec<(f64, f64)>;

/// The values of the operator over the range of its curve, and those of its derivative.
fn lines(op: &Op) -> rushlight_base::Result<[Line; 2]> {
    let (from, to) = (op.doc.curve[0], op.doc.curve[1]);
    let x = ops::linspace(Scalar::Float(from), Scalar::Float(to), POINTS, Options::of(DType::F64))?;
    x.set_requires_grad(true)?;
    let y = call(op, &x)?;
    let slopes = {
        let ones = ops::ones(&y.sizes(), Options::of(DType::F64))?;
        rushlight_tensor::autograd::backward(&[&y], &[Some(&ones)], false, false, &[])?;
        x.grad().unwrap_or_else(|| ones.clone())
    };
    let x = ops::detach(&x)?.to_vec::<f64>()?;
    let line = |y: Tensor| -> rushlight_base::Result<Line> {
        Ok(x.iter().copied().zip(y.to_vec::<f64>()?).filter(|(_, y)| y.is_finite()).collect())
    };
    Ok([line(ops::detach(&y)?)?, line(slopes)?])
}

/// The operator of x, element-wise: tensors without a default are the third number of the curve, losses are not reduced.
fn call(op: &Op, x: &Tensor) -> rushlight_base::Result<Tensor> {
    let mut args = vec![Value::Tensor(x.clone())];
    let mut named = Vec::new();
    for argument in op.primary().signature.arguments.iter().skip(1) {
        if let (None, Some(value)) = (&argument.default, op.doc.curve.get(2)) {
            let target = ops::full(&DimVec::from_slice(&x.sizes()), Scalar::Float(*value), Options::of(DType::F64))?;
            args.push(Value::Tensor(target));
        } else if argument.name == "reduction" {
            named.push(("reduction".to_owned(), Value::Scalar(Scalar::Int(0))));
        }
    }
    let signature = &op.primary().signature;
    let results = by_name::call(&signature.name, &signature.overload, args, named)?;
    match results.0.into_iter().next() {
        Some(Value::Tensor(result)) => Ok(result),
        _ => rushlight_base::bail!(Internal, "a curve needs an operator that returns a tensor"),
    }
}

/// The plot: y over x, and the derivative in another color.
fn svg(lines: &[Line; 2]) -> Result<String, String> {
    let problem = |error: &dyn std::fmt::Display| format!("a curve cannot be drawn: {error}");
    let points = || lines.iter().flatten();
    let bounds = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (left, right) = bounds(&mut points().map(|point| point.0));
    let (low, high) = bounds(&mut points().map(|point| point.1));
    let margin = 0.05 * (high - low).max(f64::MIN_POSITIVE);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .x_label_area_size(24)
            .y_label_area_size(40)
            .build_cartesian_2d(left..right, low - margin..high + margin)
            .map_err(|error| problem(&error))?;
        chart.configure_mesh().light_line_style(RGBColor(0xee, 0xee, 0xee)).draw().map_err(|error| problem(&error))?;
        for (line, color) in lines.iter().zip(COLORS) {
            chart
                .draw_series(LineSeries::new(line.iter().copied(), color.stroke_width(2)))
                .map_err(|error| problem(&error))?;
        }
        area.present().map_err(|error| problem(&error))?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_have_the_values_of_the_operator_and_its_derivative() {
        let families = opgen::load().unwrap();
        let find = |name: &str| families.iter().flat_map(|family| &family.ops).find(|op| op.name() == name).unwrap();
        let [values, slopes] = lines(find("mse_loss")).unwrap();
        assert_eq!((values[0], slopes[0]), ((-2.0, 4.0), (-2.0, -4.0)));
        let [values, slopes] = lines(find("sigmoid")).unwrap();
        assert_eq!((values[200], slopes[200]), ((0.0, 0.5), (0.0, 0.25)));
    }

    #[test]
    fn every_curve_is_drawn() {
        for op in opgen::load().unwrap().iter().flat_map(|family| &family.ops).filter(|op| op.doc.has_curve()) {
            let lines = lines(op).unwrap_or_else(|error| panic!("{}: {error}", op.name()));
            assert!(lines.iter().all(|line| line.len() as i64 >= POINTS - 2), "{}: not finite", op.name());
            assert_eq!(svg(&lines).unwrap().matches("<polyline").count().min(2), 2, "{}", op.name());
        }
    }
}
