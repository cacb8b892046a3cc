//! Composite operators: sums of products over named or numbered dimensions.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, Result, bail, ensure, err, wrap_dim};

/// A subscript: a letter, or a dimension of an ellipsis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subscript {
    Letter(u8),
    /// Counted from the last dimension of the ellipsis.
    Hidden(usize),
}

/// The subscripts of an operand or of the output; `None` is the ellipsis.
fn parse(text: &str, start: usize, place: &str) -> Result<Vec<Option<u8>>> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b' ' => {}
            b'.' => {
                ensure!(
                    !found.contains(&None),
                    Runtime,
                    "einsum(): found '.' for {place} for which an ellipsis was already found"
                );
                ensure!(
                    bytes[at..].starts_with(b"..."),
                    Runtime,
                    "einsum(): found '.' for {place} that is not part of any ellipsis"
                );
                found.push(None);
                at += 2;
            }
            letter if letter.is_ascii_alphabetic() => found.push(Some(letter)),
            _ => bail!(
                Runtime,
                "einsum(): invalid subscript given at index {} in the equation string, subscripts must be in [a-zA-Z]",
                start + at
            ),
        }
        at += 1;
    }
    Ok(found)
}

/// An equation applied to operands: its dimensions, and their positions in each operand.
struct Equation {
    /// Those of the output first.
    labels: Vec<Subscript>,
    outputs: usize,
    /// Per operand, the subscript of each dimension.
    operands: Vec<Vec<Subscript>>,
}

impl Equation {
    fn read(equation: &str, tensors: &[&Tensor]) -> Result<Equation> {
        let (left, right) = match equation.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (equation, None),
        };
        let mut operands = Vec::new();
        let (mut start, mut hidden) = (0, 0);
        for (nth, text) in left.split(',').enumerate() {
            ensure!(
                nth < tensors.len(),
                Runtime,
                "einsum(): fewer operands were provided than specified in the equation"
            );
            let found = parse(text, start, &format!("operand {nth}"))?;
            start += text.len() + 1;
            let (named, dims) = (found.iter().flatten().count(), tensors[nth].ndim());
            let open = found.contains(&None);
            ensure!(
                if open { named <= dims } else { named == dims },
                Runtime,
                "einsum(): the number of subscripts in the equation ({named}) {} for operand {nth}{}",
                if open {
                    format!("is more than the number of dimensions ({dims})")
                } else {
                    format!("does not match the number of dimensions ({dims})")
                },
                if open { "" } else { " and no ellipsis was given" }
            );
            let covered = dims - named;
            hidden = hidden.max(if open { covered } else { 0 });
            operands.push(spread(&found, covered));
        }
        ensure!(
            operands.len() == tensors.len(),
            Runtime,
            "einsum(): more operands were provided than specified in the equation"
        );
        let mut labels = match right {
            Some(text) => explicit(text, left.len() + 2, hidden, &operands)?,
            None => implicit(hidden, &operands),
        };
        let outputs = labels.len();
        for label in operands.iter().flatten() {
            if !labels.contains(label) {
                labels.push(*label);
            }
        }
        Ok(Equation { labels, outputs, operands })
    }
}

/// Subscripts with those of an ellipsis expanded.
fn spread(found: &[Option<u8>], covered: usize) -> Vec<Subscript> {
    let mut list = Vec::new();
    for subscript in found {
        match subscript {
            Some(letter) => list.push(Subscript::Letter(*letter)),
            None => list.extend((0..covered).rev().map(Subscript::Hidden)),
        }
    }
    list
}

fn explicit(text: &str, start: usize, hidden: usize, operands: &[Vec<Subscript>]) -> Result<Vec<Subscript>> {
    let found = spread(&parse(text, start, "the output")?, hidden);
    for (at, label) in found.iter().enumerate() {
        let Subscript::Letter(letter) = label else { continue };
        let letter = char::from(*letter);
        ensure!(
            !found[..at].contains(label),
            Runtime,
            "einsum(): output subscript {letter} appears more than once in the output"
        );
        ensure!(
            operands.iter().flatten().any(|own| own == label),
            Runtime,
            "einsum(): output subscript {letter} does not appear in the equation for any input operand"
        );
    }
    Ok(found)
}

/// The dimensions of the ellipsis, followed by the letters that appear once, in alphabetical order.
fn implicit(hidden: usize, operands: &[Vec<Subscript>]) -> Vec<Subscript> {
    let mut labels: Vec<Subscript> = (0..hidden).rev().map(Subscript::Hidden).collect();
    let letters = (b'A'..=b'Z').chain(b'a'..=b'z').map(Subscript::Letter);
    labels.extend(letters.filter(|label| operands.iter().flatten().filter(|own| *own == label).count() == 1));
    labels
}

/// An operand with every dimension of the equation, size 1 for those that it lacks.
fn aligned(tensor: &Tensor, nth: usize, own: &[Subscript], labels: &[Subscript]) -> Result<Tensor> {
    let (mut tensor, mut own) = (tensor.clone(), own.to_vec());
    // Repeated subscripts select the diagonal.
    while let Some((first, second)) = repeated(&own) {
        let sizes = tensor.sizes();
        ensure!(
            sizes[first] == sizes[second],
            Runtime,
            "einsum(): subscript {} is repeated for operand {nth} but the sizes don't match, {} != {}",
            shown(own[second]),
            sizes[second],
            sizes[first]
        );
        tensor = ops::movedim_int(&ops::diagonal(&tensor, 0, first as i64, second as i64)?, -1, first as i64)?;
        own.remove(second);
    }
    let order: Vec<i64> =
        labels.iter().filter_map(|label| own.iter().position(|own| own == label)).map(|at| at as i64).collect();
    tensor = ops::permute(&tensor, &order)?;
    for (at, label) in labels.iter().enumerate() {
        if !own.contains(label) {
            tensor = ops::unsqueeze(&tensor, at as i64)?;
        }
    }
    Ok(tensor)
}

fn repeated(own: &[Subscript]) -> Option<(usize, usize)> {
    (0..own.len())
        .find_map(|second| own[..second].iter().position(|label| *label == own[second]).map(|first| (first, second)))
}

fn shown(label: Subscript) -> String {
    match label {
        Subscript::Letter(letter) => char::from(letter).to_string(),
        Subscript::Hidden(_) => "...".to_string(),
    }
}

/// Sizes that differ must be 1 in one of the operands.
fn check_sizes(operands: &[Tensor], labels: &[Subscript]) -> Result<()> {
    for (at, label) in labels.iter().enumerate() {
        let mut seen = 1;
        for (nth, operand) in operands.iter().enumerate() {
            let size = operand.sizes()[at];
            ensure!(
                size == 1 || seen == 1 || size == seen,
                Runtime,
                "einsum(): subscript {} has size {size} for operand {nth} which does not broadcast with previously seen \
                 size {seen}",
                shown(*label)
            );
            seen = if size == 1 { seen } else { size };
        }
    }
    Ok(())
}

/// The order of contractions: pairs of positions in the list of operands, whose product is appended.
fn pairs_of(path: Option<&[i64]>, count: usize) -> Result<Vec<(usize, usize)>> {
    let Some(path) = path else {
        // From left to right: the product of the previous operands is last in the list.
        return Ok((1..count).map(|nth| if nth == 1 { (0, 1) } else { (0, count - nth) }).collect());
    };
    ensure!(
        path.len() == 2 * (count - 1) || (count == 1 && path.len() <= 1),
        Runtime,
        "einsum(): expected contraction path given in path parameter to have size {} but got {}",
        2 * (count - 1),
        path.len()
    );
    let mut left = count as i64;
    let mut pairs = Vec::new();
    for pair in path.chunks_exact(2) {
        let (first, second) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
        ensure!(
            first >= 0 && first != second && second < left,
            Runtime,
            "einsum(): invalid contraction path ({}, {})",
            pair[0],
            pair[1]
        );
        pairs.push((first as usize, second as usize));
        left -= 1;
    }
    Ok(pairs)
}

/// A sum of products, after Einstein's convention.
pub fn einsum(equation: &str, tensors: &[&Tensor], path: Option<&[i64]>) -> Result<Tensor> {
    ensure!(!tensors.is_empty(), Runtime, "einsum(): must provide at least one operand");
    let Equation { labels, outputs, operands } = Equation::read(equation, tensors)?;
    let mut list: Vec<Tensor> = tensors
        .iter()
        .zip(&operands)
        .enumerate()
        .map(|(nth, (tensor, own))| aligned(tensor, nth, own, &labels))
        .collect::<Result<_>>()?;
    check_sizes(&list, &labels)?;
    for (first, second) in pairs_of(path, list.len())? {
        let right = list.remove(second);
        let left = list.remove(first);
        // Dimensions that neither another operand nor the output has are summed now.
        let summed: Vec<usize> =
            (outputs..labels.len()).filter(|&at| list.iter().all(|other| other.sizes()[at] == 1)).collect();
        list.push(sum_of_products(&left, &right, &summed)?);
    }
    let result = list.pop().ok_or_else(|| err!(Internal, "einsum lost its operands"))?;
    if outputs == labels.len() {
        return if tensors.len() == 1 { ops::alias(&result) } else { Ok(result) };
    }
    let rest: Vec<i64> = (outputs as i64..labels.len() as i64).collect();
    // A single operand is summed in any case, which promotes integers.
    if tensors.len() > 1 && result.sizes()[outputs..].iter().all(|&size| size == 1) {
        return ops::reshape(&result, &result.sizes()[..outputs]);
    }
    ops::sum_dim_intlist(&result, Some(&rest), false, None)
}

/// The product of two tensors of the same rank, which broadcast, summed over dimensions, which stay with size 1: one batch of
/// products of matrices.
fn sum_of_products(left: &Tensor, right: &Tensor, summed: &[usize]) -> Result<Tensor> {
    let rank = left.ndim();
    let (mut left, mut right) = (left.clone(), right.clone());
    let (mut batch, mut rows, mut columns, mut inner) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut is_product = true;
    for at in 0..rank {
        let (in_left, in_right) = (left.sizes()[at] != 1, right.sizes()[at] != 1);
        if summed.contains(&at) {
            // Dimensions of a single operand are summed beforehand, which promotes integers.
            if in_left != in_right {
                let alone = if in_left { &mut left } else { &mut right };
                *alone = ops::sum_dim_intlist(alone, Some(&[at as i64]), true, None)?;
            }
            is_product &= !(in_left && in_right);
            inner.push(at);
        } else if in_left && in_right {
            batch.push(at);
        } else if in_left {
            rows.push(at);
        } else {
            columns.push(at);
        }
    }
    if is_product {
        // No sum is left: a product promotes dtypes.
        return ops::mul_tensor(&left, &right);
    }
    let matrices = |tensor: &Tensor, groups: [&[usize]; 4]| {
        let order: Vec<i64> = groups.concat().iter().map(|&at| at as i64).collect();
        let sizes = tensor.sizes();
        // The size of the last group is 1 here.
        let sizes = [0, 1, 2].map(|group| groups[group].iter().map(|&at| sizes[at]).product::<i64>());
        ops::reshape(&ops::permute(tensor, &order)?, &sizes)
    };
    let product = ops::bmm(
        &matrices(&left, [&batch, &rows, &inner, &columns])?,
        &matrices(&right, [&batch, &inner, &columns, &rows])?,
    )?;
    let (own, other) = (left.sizes(), right.sizes());
    let order = [&batch[..], &rows, &columns, &inner].concat();
    let sizes: DimVec = order
        .iter()
        .map(|at| {
            if inner.contains(at) {
                1
            } else if columns.contains(at) {
                other[*at]
            } else {
                own[*at]
            }
        })
        .collect();
    let mut back = vec![0; rank];
    for (place, &at) in order.iter().enumerate() {
        back[at] = place as i64;
    }
    ops::permute(&ops::reshape(&product, &sizes)?, &back)
}

/// The sum of products over dimensions of two tensors.
pub fn tensordot(self_: &Tensor, other: &Tensor, dims_self: &[i64], dims_other: &[i64]) -> Result<Tensor> {
    ensure!(dims_self.len() == dims_other.len(), Runtime, "both dimension lists should have same length");
    ensure!(self_.dtype() == other.dtype(), Runtime, "both inputs should have same dtype");
    let (mut left, mut right) = (self_.clone(), other.clone());
    let (mut left_inner, mut right_inner) = (Vec::new(), Vec::new());
    for (&own, &others) in dims_self.iter().zip(dims_other) {
        for (dim, tensor) in [(own, &left), (others, &right)] {
            ensure!(tensor.ndim() > 0, Index, "Dimension specified as {dim} but tensor has no dimensions");
        }
        let (at, place) = (wrap_dim(own, left.ndim())?, wrap_dim(others, right.ndim())?);
        let (size, other_size) = (left.sizes()[at], right.sizes()[place]);
        if other_size == 1 {
            left = ops::sum_dim_intlist(&left, Some(&[own]), true, Some(left.dtype()))?;
        } else if size == 1 {
            right = ops::sum_dim_intlist(&right, Some(&[others]), true, Some(right.dtype()))?;
        } else {
            ensure!(
                size == other_size,
                Runtime,
                "contracted dimensions need to match, but first has size {size} in dim {own} and second has size \
                 {other_size} in dim {others}"
            );
        }
        ensure!(
            !left_inner.contains(&at) && !right_inner.contains(&place),
            Runtime,
            "dim {at} appears multiple times in the list of dims"
        );
        left_inner.push(at);
        right_inner.push(place);
    }
    let free = |tensor: &Tensor, inner: &[usize]| -> Vec<usize> {
        (0..tensor.ndim()).filter(|at| !inner.contains(at)).collect()
    };
    let (rows, columns) = (free(&left, &left_inner), free(&right, &right_inner));
    let matrix = |tensor: &Tensor, groups: [&[usize]; 2]| {
        let order: Vec<i64> = groups.concat().iter().map(|&at| at as i64).collect();
        let sizes = groups.map(|group| group.iter().map(|&at| tensor.sizes()[at]).product::<i64>());
        ops::reshape(&ops::permute(tensor, &order)?, &sizes)
    };
    let product = ops::mm(&matrix(&left, [&rows, &left_inner])?, &matrix(&right, [&right_inner, &columns])?)?;
    let sizes: DimVec =
        rows.iter().map(|&at| left.sizes()[at]).chain(columns.iter().map(|&at| right.sizes()[at])).collect();
    ops::reshape(&product, &sizes)
}
