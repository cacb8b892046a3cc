//! Derivatives of recursive filters. Filters of one signal commute: y = A^-1 B x, and its gradient is filtered backwards in time.

use super::Expr;
use crate::ops;

/// The gradient with respect to the waveform: the gradient, filtered from the end.
pub fn lfilter_waveform(grad: &Expr, a: &Expr, b: &Expr) -> Expr {
    grad.flip(&[-1]).torchaudio_lfilter(a, b).flip(&[-1])
}

/// The gradient with respect to `a_coeffs`: the negative products of A^-H g and the delayed result.
pub fn lfilter_a(grad: &Expr, a: &Expr, result: &Expr) -> Expr {
    -delayed_products(&unfiltered(grad, a), result, a.sizes()[1])
}

/// The gradient with respect to `b_coeffs`: the products of A^-H g and the delayed waveform.
pub fn lfilter_b(grad: &Expr, a: &Expr, waveform: &Expr) -> Expr {
    delayed_products(&unfiltered(grad, a), waveform, a.sizes()[1])
}

/// A^-H g
fn unfiltered(grad: &Expr, a: &Expr) -> Expr {
    let first = a.narrow(1, 0, 1);
    let rest = a.narrow(1, 1, a.sizes()[1] - 1);
    let unit = Expr::of(|| ops::cat(&[(first.zeros() + 1.0).tensor()?, rest.zeros().tensor()?], 1));
    lfilter_waveform(grad, a, &unit)
}

/// out[c, k] = the sum of x[., c, n] y[., c, n - k] over all samples and n
fn delayed_products(x: &Expr, y: &Expr, order: i64) -> Expr {
    let len = x.sizes()[2];
    let delayed = |k: i64| {
        let count = (len - k).max(0);
        let product = x.narrow(2, len - count, count) * y.narrow(2, 0, count);
        product.sum_dim_intlist(Some(&[0, 2]), false, None)
    };
    Expr::of(|| {
        let sums: Vec<Expr> = (0..order).map(delayed).collect();
        let sums = sums.iter().map(Expr::tensor).collect::<rushlight_base::Result<Vec<_>>>()?;
        ops::stack(&sums, 1)
    })
}
