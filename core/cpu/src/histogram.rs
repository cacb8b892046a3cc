//! Counting elements, or adding up their weights, in bins.

use crate::array::Array;
use crate::number::{Analytic, Number, Ordered, Wide};
use crate::shared::Shared;
use rushlight_base::list::filled;
use rushlight_base::plan::Plan;
use rushlight_base::runtime::parallel_for;
use rushlight_base::{Result, Scalar, ensure};
use std::ops::Range;

/// How the bin of an element is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bins {
    /// All have the same width: by a division.
    Even,
    /// All have the same width: by a division, and then between the neighbouring edges.
    EvenByEdges,
    /// By a search between the edges.
    Sorted,
}

/// Rows of points in a share: the sums of shares are added in their order.
const SHARE: usize = 1 << 16;
/// Maximum number of shares, each with its own bins.
const SHARES: usize = 16;

/// Points, one per row of a matrix, and the edges of bins along each of its columns.
struct Points<'p, T> {
    at: Shared<T>,
    steps: [isize; 2],
    edges: Vec<&'p [T]>,
    how: Bins,
}

/// Points whose bins are found together: half of the time of one after the other, for 100,000 floats in 100 bins.
const BLOCK: usize = 64;
/// The bin of a point outside of the edges.
const NONE: usize = usize::MAX;

impl<T: Number<Wide: Ordered + Analytic + Into<f64>>> Points<'_, T> {
    /// The bins of the points from `first` on, counted in row-major order.
    fn bins(&self, first: usize, bins: &mut [usize]) {
        bins.fill(0);
        let mut along = [0; BLOCK];
        for (column, edges) in self.edges.iter().enumerate() {
            let x = |nth: usize| {
                let place = (first + nth) as isize * self.steps[0] + column as isize * self.steps[1];
                // SAFETY: row and column are below the numbers with which the points were created.
                unsafe { self.at.get().offset(place).read() }
            };
            let along = &mut along[..bins.len()];
            match self.how {
                Bins::Sorted => find(along, edges, x, |x| among(edges, x, 0..edges.len())),
                Bins::Even => find(along, edges, x, Self::guess(edges)),
                Bins::EvenByEdges => {
                    let guess = Self::guess(edges);
                    find(along, edges, x, |x| {
                        // Beyond the last bin if the number of bins is not representable in the dtype.
                        let guess = guess(x).min(edges.len() - 2);
                        among(edges, x, guess.saturating_sub(1)..(guess + 2).min(edges.len()))
                    });
                }
            }
            for (bin, &along) in bins.iter_mut().zip(along.iter()) {
                *bin = if *bin == NONE || along == NONE { NONE } else { *bin * (edges.len() - 1) + along };
            }
        }
    }

    /// The bin by a division, each step rounded to the dtype.
    fn guess(edges: &[T]) -> impl Fn(T::Wide) -> usize {
        let rounded = |value: T::Wide| T::narrow(value).wide();
        let (first, last) = (edges[0].wide(), edges[edges.len() - 1].wide());
        let bins = rounded(T::Wide::from_scalar(Scalar::Int(edges.len() as i64 - 1)));
        let width = rounded(last.sub(first));
        move |x| {
            let place: f64 = rounded(rounded(rounded(x.sub(first)).mul(bins)).div(width)).into();
            place as i64 as usize
        }
    }
}

/// The bin of `x` among those that begin at the edges of `range`.
fn among<T: Number<Wide: Ordered>>(edges: &[T], x: T::Wide, range: Range<usize>) -> usize {
    let low = range.start;
    (low + edges[range].partition_point(|edge| edge.wide() <= x)).max(1) - 1
}

/// The bins of some points along one column. The last bin includes its right edge.
#[inline(always)]
fn find<T: Number<Wide: Ordered>>(
    bins: &mut [usize],
    edges: &[T],
    x: impl Fn(usize) -> T,
    bin: impl Fn(T::Wide) -> usize,
) {
    let (first, last) = (edges[0].wide(), edges[edges.len() - 1].wide());
    for (nth, to) in bins.iter_mut().enumerate() {
        let x = x(nth).wide();
        *to = if x >= first && x <= last { bin(x).min(edges.len() - 2) } else { NONE };
    }
}

/// out = for each bin the number, or the sum of the `weights`, of the rows of `points` in it. Each array of `edges` is
/// the ascending edges of the bins along a column; `out` has a dimension for each, all is of the same dtype.
pub fn count_in_bins(out: &Array, points: &Array, edges: &[Array], weights: Option<&Array>, how: Bins) -> Result<()> {
    let fits = points.ndim() == 2 && points.size(1) == edges.len() && out.ndim() == edges.len() && !edges.is_empty();
    ensure!(fits, Internal, "a histogram got {:?} for {} edges", points.sizes(), edges.len());
    dispatch!(points.dtype(), "histogram_cpu", half float, T => {
        let mut lists = Vec::new();
        for (edges, &bins) in edges.iter().zip(out.sizes()) {
            ensure!(edges.numel() as i64 == bins + 1 && bins > 0, Internal, "a histogram got {:?}", edges.sizes());
            let (at, step, mut list) = (edges.as_ptr::<T>(), edges.stride(0), rushlight_base::list::with_capacity(edges.numel())?);
            // SAFETY: `i` is below the number of elements, all of which `Array::new` guarantees.
            list.extend((0..edges.numel() as isize).map(|i| unsafe { at.offset(i * step).read() }));
            lists.push(list);
        }
        let rows = points.size(0);
        let points = Points {
            at: Shared::new(points.as_ptr::<T>()),
            steps: [points.stride(0), points.stride(1)],
            edges: lists.iter().map(Vec::as_slice).collect(),
            how,
        };
        let weights = weights.map(|weights| (Shared::new(weights.as_ptr::<T>()), weights.stride(0)));
        // SAFETY: `row` is below the number of rows of the array.
        let read = |(at, step): (Shared<T>, isize), row: usize| unsafe { at.get().offset(row as isize * step).read() };
        let weight = |row: usize| weights.map_or(1.0, |weights| as_double(read(weights, row).wide()));
        let sums = sums(rows, out.numel(), |first, bins| points.bins(first, bins), weight)?;
        let (to, mut sums) = (out.as_ptr::<T>(), sums.into_iter());
        Plan::<1>::row_major(out.sizes(), [out.strides()]).elements(&mut |[place]| {
            let sum = <T as Number>::Wide::from_scalar(Scalar::Float(sums.next().unwrap_or(0.0)));
            // SAFETY: the plan stays within the sizes of `out`, whose elements `Array::new` guarantees.
            unsafe { to.offset(place).write(T::narrow(sum)) };
        });
        Ok(())
    })
}

fn as_double<W: Into<f64>>(value: W) -> f64 {
    value.into()
}

/// For each bin the sum of the weights of its rows; `find` writes the bins of some rows from one on. Shares of rows are
/// summed separately; their number follows from the number of rows and bins.
fn sums(
    rows: usize,
    bins: usize,
    find: impl Fn(usize, &mut [usize]) + Sync,
    weight: impl Fn(usize) -> f64 + Sync,
) -> Result<Vec<f64>> {
    let shares = (rows / SHARE).min(rows / bins.max(1)).clamp(1, SHARES);
    let mut all = filled(shares * bins, 0.0f64)?;
    let at = Shared::new(all.as_mut_ptr());
    parallel_for(shares, &|share| {
        let end = rows * (share + 1) / shares;
        let mut places = [NONE; BLOCK];
        for first in (rows * share / shares..end).step_by(BLOCK) {
            let places = &mut places[..BLOCK.min(end - first)];
            find(first, places);
            for (row, &bin) in (first..).zip(places.iter()).filter(|(_, bin)| **bin < bins) {
                // SAFETY: each share has its own `bins` sums.
                unsafe { *at.get().add(share * bins + bin) += weight(row) };
            }
        }
    })?;
    let (first, rest) = all.split_at_mut(bins);
    for share in rest.chunks(bins.max(1)) {
        first.iter_mut().zip(share).for_each(|(sum, own)| *sum += own);
    }
    all.truncate(bins);
    Ok(all)
}

/// out = numbers from `first` to `last` in equal steps, counted from the nearer end
pub fn even_edges(out: &Array, first: f64, last: f64) -> Result<()> {
    let count = out.numel();
    ensure!(out.ndim() == 1 && count >= 2, Internal, "even edges got {:?}", out.sizes());
    dispatch!(out.dtype(), "linspace_cpu", half float, T => {
        type W = <T as Number>::Wide;
        let to = out.as_ptr::<T>();
        let number = |value: f64| T::narrow(W::from_scalar(Scalar::Float(value))).wide();
        let (first, last) = (number(first), number(last));
        let step = last.sub(first).div(W::from_scalar(Scalar::Int(count as i64 - 1)));
        let times = |nth: usize| step.mul(W::from_scalar(Scalar::Int(nth as i64)));
        for nth in 0..count {
            let edge = if nth < count / 2 { first.add(times(nth)) } else { last.sub(times(count - 1 - nth)) };
            // SAFETY: `nth` is below the number of elements of `out`.
            unsafe { to.offset(nth as isize * out.stride(0)).write(T::narrow(edge)) };
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    #[test]
    fn elements_at_edges_belong_to_the_right_bin_and_the_last_edge_to_the_last() {
        let mut points = [0.0f32, 0.5, 1.0, 1.5, 2.0, 2.5, -0.5, f32::NAN];
        let mut edges = [0.0f32; 3];
        for how in [Bins::Even, Bins::EvenByEdges, Bins::Sorted] {
            let mut counts = [0.0f32; 2];
            // SAFETY: the three vectors hold as many elements as the sizes require and outlive the arrays.
            let [o, p, e] = unsafe {
                [
                    Array::new(counts.as_mut_ptr().cast(), DType::F32, &[2], &[1]),
                    Array::new(points.as_mut_ptr().cast(), DType::F32, &[8, 1], &[1, 1]),
                    Array::new(edges.as_mut_ptr().cast(), DType::F32, &[3], &[1]),
                ]
            };
            even_edges(&e, 0.0, 2.0).unwrap();
            count_in_bins(&o, &p, &[e], None, how).unwrap();
            assert_eq!(counts, [2.0, 3.0], "{how:?}");
        }
    }
}
