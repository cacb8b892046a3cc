//! Packed sequences: the steps of a batch without padding, longest sequence first.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, DeviceType, DimVec, Result, Scalar, ensure, format_sizes, list};

/// A list of numbers that the shapes of results depend on.
pub(super) fn host_numbers(name: &str, tensor: &Tensor) -> Result<Vec<i64>> {
    ensure!(
        tensor.ndim() == 1 && tensor.dtype() == DType::I64 && tensor.device().kind == DeviceType::Cpu,
        Runtime,
        "'{name}' argument should be a 1D CPU int64 tensor, but got {}D {} {} tensor",
        tensor.ndim(),
        tensor.device(),
        tensor.dtype().c10_name()
    );
    let list = ops::contiguous(&ops::detach(tensor)?, rushlight_base::MemoryFormat::Contiguous)?;
    list.to_vec::<i64>()
}

/// Checks that the lengths are in decreasing order.
pub(super) fn check_batch_sizes(batch_sizes: &[i64], rows: i64) -> Result<()> {
    let shrink = batch_sizes.windows(2).all(|pair| pair[0] >= pair[1]);
    ensure!(
        !batch_sizes.is_empty() && shrink && batch_sizes.last().is_some_and(|&last| last > 0),
        Runtime,
        "batch_sizes should be positive and not increase, got {}",
        format_sizes(batch_sizes)
    );
    ensure!(
        batch_sizes.iter().sum::<i64>() == rows,
        Runtime,
        "batch_sizes should sum up to the number of rows of data, {rows}, got {}",
        format_sizes(batch_sizes)
    );
    Ok(())
}

/// The batch without padding, and the number of sequences at each step.
pub fn pack_padded_sequence(input: &Tensor, lengths: &Tensor, batch_first: bool) -> Result<(Tensor, Tensor)> {
    let lengths = host_numbers("lengths", lengths)?;
    ensure!(input.ndim() >= 2, Runtime, "Expected an input of 2 dimensions or more, got {}", input.ndim());
    let input = if batch_first { ops::transpose_int(input, 0, 1)? } else { input.clone() };
    ensure!(input.numel() > 0, Runtime, "Cannot pack empty tensors.");
    let sizes = input.sizes();
    ensure!(
        lengths.len() as i64 == sizes[1],
        Runtime,
        "Expected `len(lengths)` to be equal to batch_size, but got {} (batch_size={})",
        lengths.len(),
        sizes[1]
    );
    ensure!(
        lengths.last().is_some_and(|&least| least > 0),
        Runtime,
        "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
    );
    ensure!(
        lengths.windows(2).all(|pair| pair[0] >= pair[1]),
        Runtime,
        "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass \
         `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not \
         need ONNX exportability."
    );
    ensure!(
        lengths[0] <= sizes[0],
        Runtime,
        "Expected lengths of at most {}, the steps of the input, got {}",
        sizes[0],
        lengths[0]
    );
    let (mut parts, mut batch_sizes, mut first) = (Vec::new(), list::with_capacity(lengths[0] as usize)?, 0);
    let mut row = DimVec::from_slice(&sizes[1..]);
    row[0] = -1;
    // The steps up to the end of the next shortest sequence have the same number of sequences.
    for (nth, &end) in lengths.iter().enumerate().rev() {
        if end > first {
            let batch = nth as i64 + 1;
            let steps = ops::narrow(&ops::narrow(&input, 0, first, end - first)?, 1, 0, batch)?;
            list::push(&mut parts, ops::reshape(&steps, &row)?)?;
            batch_sizes.resize(end as usize, batch);
            first = end;
        }
    }
    let data = ops::cat(&list::collect(&parts)?, 0)?;
    Ok((data, Tensor::from_slice(&batch_sizes, &[batch_sizes.len() as i64])?))
}

/// The batch padded, and the length of each sequence.
pub fn pad_packed_sequence(
    data: &Tensor,
    batch_sizes: &Tensor,
    batch_first: bool,
    padding_value: Scalar,
    total_length: i64,
) -> Result<(Tensor, Tensor)> {
    let batch_sizes = host_numbers("batch_sizes", batch_sizes)?;
    ensure!(data.ndim() >= 1, Runtime, "Expected data of 1 dimension or more, got none");
    check_batch_sizes(&batch_sizes, data.sizes()[0])?;
    let longest = batch_sizes.len() as i64;
    ensure!(
        total_length <= 0 || total_length >= longest,
        Runtime,
        "Expected total_length to be at least the length of the longest sequence in input, but got \
         total_length={total_length} and max sequence length being {longest}"
    );
    let (batch, steps) = (batch_sizes[0], total_length.max(longest));
    let padding = |sizes: &[i64]| ops::full(sizes, padding_value, data.options());
    let tail = DimVec::from_slice(&data.sizes()[1..]);
    let shaped = |head: [i64; 2]| head.into_iter().chain(tail.iter().copied()).collect::<DimVec>();
    let (mut parts, mut first, mut row) = (Vec::new(), 0, 0);
    while first < batch_sizes.len() {
        let size = batch_sizes[first];
        let same = batch_sizes[first..].iter().take_while(|&&other| other == size).count();
        let rows = ops::narrow(data, 0, row, size * same as i64)?;
        let block = ops::reshape(&rows, &shaped([same as i64, size]))?;
        let block = if size == batch {
            block
        } else {
            ops::cat(&[&block, &padding(&shaped([same as i64, batch - size]))?], 1)?
        };
        list::push(&mut parts, block)?;
        (first, row) = (first + same, row + size * same as i64);
    }
    if steps > longest {
        parts.push(padding(&shaped([steps - longest, batch]))?);
    }
    let padded = ops::cat(&list::collect(&parts)?, 0)?;
    let length = |nth: i64| batch_sizes.partition_point(|&size| size > nth) as i64;
    let lengths = list::collect((0..batch).map(length))?;
    let padded = if batch_first { ops::transpose_int(&padded, 0, 1)? } else { padded };
    Ok((padded, Tensor::from_slice(&lengths, &[batch])?))
}
