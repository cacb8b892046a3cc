//! Derivatives of decompositions, linear systems, inverses and determinants.
//!
//! `g` stands for the gradient of what follows, `A^H` for the conjugate transpose.

use super::Expr;
use crate::autograd::is_grad_enabled;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Complex, DeviceType, Result, Scalar, ensure, err};

/// A^H
fn h(a: &Expr) -> Expr {
    let transposed = a.transpose_int(-2, -1);
    if a.dtype().is_complex() { transposed.conj() } else { transposed }
}

/// X of A X = B, for a lower (or upper) triangular A.
fn left(a: &Expr, b: impl Into<Expr>, upper: bool) -> Expr {
    a.linalg_solve_triangular(b, upper, true, false)
}

/// X of X A = B, for a lower (or upper) triangular A.
fn right(a: &Expr, b: impl Into<Expr>, upper: bool) -> Expr {
    a.linalg_solve_triangular(b, upper, false, false)
}

/// A diagonal matrix.
fn diagonal_matrix(diagonal: &Expr) -> Expr {
    diagonal.diag_embed(0, -2, -1)
}

fn diagonal(a: &Expr) -> Expr {
    a.diagonal(0, -2, -1)
}

/// Reduces a gradient to a shape that was broadcast.
fn fit(grad: Expr, sizes: &[i64]) -> Expr {
    if *grad.sizes() == *sizes { grad } else { grad.sum_to_size(sizes) }
}

fn extent(a: &Expr) -> [i64; 2] {
    let sizes = a.sizes();
    match sizes[..] {
        [.., rows, columns] => [rows, columns],
        _ => [0, 0],
    }
}

/// Cholesky: with the lower triangle P of L^H gL, mirrored below the diagonal, L^-H P L^-1 / 2.
pub fn cholesky(grad: &Expr, factor: &Expr, upper: bool) -> Expr {
    let (factor, grad) = if upper { (h(factor), h(grad)) } else { (factor.clone(), grad.clone()) };
    let product = h(&factor).matmul(grad);
    let mirrored = product.tril(0) + h(&product.tril(-1));
    right(&factor, left(&h(&factor), mirrored * 0.5, true), false)
}

/// The gradient of the solution of L L^H X = B with respect to B.
pub fn cholesky_solve_right(grad: &Expr, factor: &Expr, upper: bool, sizes: &[i64]) -> Expr {
    fit(grad.cholesky_solve(factor, upper), sizes)
}

/// The gradient of the solution of L L^H X = B with respect to L: with M = gB X^H, -(M + M^H) L.
pub fn cholesky_solve_factor(grad: &Expr, result: &Expr, factor: &Expr, upper: bool) -> Expr {
    let product = grad.cholesky_solve(factor, upper).matmul(h(result));
    let sum = &product + h(&product);
    let own = if upper { -factor.matmul(sum) } else { -sum.matmul(factor) };
    fit(own, &factor.sizes())
}

/// The gradient of the inverse X of L L^H with respect to L: with M = X (gX + gX^H) X, -M L.
pub fn cholesky_inverse(grad: &Expr, result: &Expr, factor: &Expr, upper: bool) -> Expr {
    let sum = grad + h(grad);
    let product = result.matmul(sum).matmul(result);
    if upper { -factor.matmul(product) } else { -product.matmul(factor) }
}

/// P, L and U of the factors in one matrix.
fn unpacked(factors: &Expr, pivots: &Expr) -> Result<[Expr; 3]> {
    let (p, l, u) = ops::lu_unpack(factors.tensor()?, pivots.tensor()?, true, true)?;
    Ok([p, l, u].map(Expr::from))
}

/// The gradient of both factors in one matrix.
pub fn lu_factor(grad: &Expr, factors: &Expr, pivots: &Expr) -> Expr {
    let [rows, columns] = extent(factors);
    let order = rows.min(columns);
    match unpacked(factors, pivots) {
        Ok([p, l, u]) => {
            let lower = grad.narrow(-1, 0, order).tril(-1);
            let upper = grad.narrow(-2, 0, order).triu(0);
            lu(&lower, &upper, &p, &l, &u)
        }
        Err(error) => Expr::from(error),
    }
}

/// LU: P L^-H (tril(L^H gL, -1) + triu(gU U^H)) U^-H, for the square part; the rest of a tall L, or of a wide U, is
/// computed from that.
fn lu(grad_l: &Expr, grad_u: &Expr, p: &Expr, l: &Expr, u: &Expr) -> Expr {
    let ([rows, order], [_, columns]) = (extent(l), extent(u));
    let (l1, u1) = (l.narrow(-2, 0, order), u.narrow(-1, 0, order));
    let mut lower = h(&l1).matmul(grad_l.narrow(-2, 0, order));
    let mut upper = grad_u.narrow(-1, 0, order).matmul(h(&u1));
    if columns > order {
        let (u2, grad2) = (u.narrow(-1, order, columns - order), grad_u.narrow(-1, order, columns - order));
        lower = lower - grad2.matmul(h(&u2));
    }
    let mut below = None;
    if rows > order {
        let (l2, grad2) = (l.narrow(-2, order, rows - order), grad_l.narrow(-2, order, rows - order));
        upper = upper - h(&l2).matmul(&grad2);
        below = Some(right(&h(&u1), grad2, false));
    }
    let inner = lower.tril(-1) + upper.triu(0);
    let mut own = left(&h(&l1), right(&h(&u1), inner, false), true);
    if let Some(below) = below {
        own = joined(&own, &below, -2);
    }
    if columns > order {
        let grad2 = grad_u.narrow(-1, order, columns - order);
        own = joined(&own, &left(&h(&l1), grad2, true), -1);
    }
    p.matmul(own)
}

fn joined(first: &Expr, second: &Expr, dim: i64) -> Expr {
    Expr::of(|| ops::cat(&[first.tensor()?, second.tensor()?], dim))
}

/// The gradient of the factors in one matrix, of those that were taken out of it.
pub fn lu_unpack(grad_l: &Expr, grad_u: &Expr, sizes: &[i64], unpack_data: bool) -> Expr {
    if !unpack_data {
        return Expr::of(|| ops::zeros(sizes, grad_l.options()));
    }
    let [rows, columns] = [sizes[sizes.len() - 2], sizes[sizes.len() - 1]];
    let order = rows.min(columns);
    let (lower, upper) = (grad_l.tril(-1), grad_u.triu(0));
    if columns > order {
        let rest = upper.narrow(-1, order, columns - order);
        joined(&(lower + upper.narrow(-1, 0, order)), &rest, -1)
    } else if rows > order {
        let rest = lower.narrow(-2, order, rows - order);
        joined(&(lower.narrow(-2, 0, order) + upper), &rest, -2)
    } else {
        lower + upper
    }
}

/// The gradient of the solution of P L U X = B with respect to B.
pub fn lu_solve_right(grad: &Expr, factors: &Expr, pivots: &Expr, side: [bool; 2], sizes: &[i64]) -> Expr {
    let [left, adjoint] = side;
    fit(factors.linalg_lu_solve(pivots, grad, left, !adjoint), sizes)
}

/// The gradient of the solution of P L U X = B with respect to the factors in one matrix.
pub fn lu_solve_factors(grad: &Expr, result: &Expr, factors: &Expr, pivots: &Expr, side: [bool; 2]) -> Expr {
    let [is_left, adjoint] = side;
    let [p, l, u] = match unpacked(factors, pivots) {
        Ok(parts) => parts,
        Err(error) => return Expr::from(error),
    };
    // X A = B is A^H X^H = B^H.
    let (grad, x, adjoint) =
        if is_left { (grad.clone(), result.clone(), adjoint) } else { (h(grad), h(result), !adjoint) };
    let (lower, upper) = if adjoint {
        // U^H L^H Y = B for Y = P^T X
        let product = -h(&p).matmul(&x).matmul(h(&grad)).matmul(&p);
        let lower = right(&h(&l), &product, true);
        let upper = right(&h(&u), h(&l).matmul(&lower), false);
        (lower, upper)
    } else {
        let product = -left(&h(&u), grad.matmul(h(&x)), false);
        (left(&h(&l), product.matmul(h(&u)), true), product)
    };
    let (lower, upper) = (lower.tril(-1), upper.triu(0));
    fit(lower + upper, &factors.sizes())
}

/// The gradient of a triangular matrix of which one triangle counts, without its diagonal if that is taken to be 1.
fn triangle(a: Expr, upper: bool, unitriangular: bool) -> Expr {
    let skip = i64::from(unitriangular);
    if upper { a.triu(skip) } else { a.tril(-skip) }
}

/// The gradient of the solution of a triangular system with respect to the right-hand side.
pub fn solve_triangular_right(grad: &Expr, a: &Expr, upper: bool, side: [bool; 2], sizes: &[i64]) -> Expr {
    let [left, unitriangular] = side;
    fit(h(a).linalg_solve_triangular(grad, !upper, left, unitriangular), sizes)
}

/// The gradient of the solution of a triangular system with respect to the matrix: -gB X^H, or -X^H gB.
pub fn solve_triangular_matrix(grad: &Expr, result: &Expr, a: &Expr, upper: bool, side: [bool; 2]) -> Expr {
    let [left, unitriangular] = side;
    let own = h(a).linalg_solve_triangular(grad, !upper, left, unitriangular);
    let product = if left { own.matmul(h(result)) } else { h(result).matmul(own) };
    fit(triangle(-product, upper, unitriangular), &a.sizes())
}

/// The factorization of A that a call has saved.
pub struct Factors<'a> {
    a: &'a Expr,
    /// Both factors in one matrix.
    lu: &'a Expr,
    /// Their row exchanges.
    pivots: &'a Expr,
}

/// The factorization of A that a call has saved.
pub fn factors<'a>(a: &'a Expr, lu: &'a Expr, pivots: &'a Expr) -> Factors<'a> {
    Factors { a, lu, pivots }
}

impl Factors<'_> {
    /// X of A^H X = B, or of X A^H = B. Only systems of A itself can be differentiated again.
    fn solve_adjoint(&self, b: &Expr, left: bool) -> Expr {
        if is_grad_enabled() {
            return h(self.a).linalg_solve(b, left);
        }
        self.lu.linalg_lu_solve(self.pivots, b, left, true)
    }
}

/// Whether B is a batch of vectors.
fn is_vectors(a: &[i64], b: &[i64]) -> bool {
    b.len() == 1 || *b == a[..a.len() - 1]
}

fn as_matrices(b: &Expr, vectors: bool) -> Expr {
    if vectors { b.unsqueeze(-1) } else { b.clone() }
}

/// The gradients of the solution of A X = B, or of X A = B, with respect to A and B: -gB X^H (or -X^H gB), and
/// gB = A^-H gX (or gX A^-H).
pub fn solve(
    grad: &Expr,
    result: &Expr,
    factors: Factors<'_>,
    left: bool,
    b: &[i64],
    needs: [bool; 2],
) -> [Option<Expr>; 2] {
    let vectors = is_vectors(&factors.a.sizes(), b);
    let own = factors.solve_adjoint(&as_matrices(grad, vectors), left);
    let x = as_matrices(result, vectors);
    let of_a = needs[0].then(|| {
        let product = if left { own.matmul(h(&x)) } else { h(&x).matmul(&own) };
        fit(-product, &factors.a.sizes())
    });
    let of_b = needs[1].then(|| fit(if vectors { own.squeeze_dim(-1) } else { own.clone() }, b));
    [of_a, of_b]
}

/// The gradient of the inverse: -A^-H g A^-H.
pub fn inverse(grad: &Expr, inverse: &Expr) -> Expr {
    let adjoint = h(inverse);
    -adjoint.matmul(grad).matmul(&adjoint)
}

/// The gradient of the determinant: g conj(det) A^-H, which is g times the conjugate transpose of the adjugate. Of a
/// singular matrix it is computed from its factors, with a tiny number for each diagonal element of U that is 0; this
/// cannot be differentiated again.
pub fn det(grad: &Expr, result: &Expr, factors: Factors<'_>) -> Expr {
    let singular = result.eq_scalar(0);
    let any = Expr::of(|| ops::any(singular.tensor()?));
    let any = match any.tensor().and_then(Tensor::item) {
        Ok(any) => any.to_bool(),
        Err(error) => return Expr::from(error),
    };
    let spread = |factor: Expr| diagonal_matrix(&factor.unsqueeze(-1).expand_as(diagonal(factors.a)));
    if !any {
        return factors.solve_adjoint(&spread(grad * result.conj()), true);
    }
    let singular = singular.unsqueeze(-1).unsqueeze(-1);
    let d = diagonal(factors.lu);
    let shift = d.eq_scalar(0).where_self(d.zeros() + f64::EPSILON * 1e-3, d.zeros());
    let lu = factors.lu + diagonal_matrix(&shift);
    let sign = Expr::of(|| Ok(ops::lu_unpack(lu.tensor()?, factors.pivots.tensor()?, false, true)?.0)).linalg_det();
    let product = diagonal(&lu).prod_dim_int(-1, false, None) * sign;
    let own = lu.linalg_lu_solve(factors.pivots, spread(grad * product.conj()), true, true);
    // The others have derivatives of any order.
    let regular = singular.where_self(spread(d.zeros().select_int(-1, 0) + 1.0), factors.a);
    let rest = h(&regular).linalg_solve(spread(grad * result.conj()), true);
    singular.where_self(own, rest)
}

/// The gradient of the sign and of the logarithm of the absolute value of the determinant.
pub fn slogdet(grad_sign: &Expr, grad_logarithm: &Expr, sign: &Expr, factors: Factors<'_>) -> Expr {
    let factor = if sign.dtype().is_complex() {
        let turn = (grad_sign.conj() * sign).imag();
        grad_logarithm - turn * Scalar::Complex(Complex::new(0.0, 1.0))
    } else {
        grad_logarithm.clone()
    };
    let spread = diagonal_matrix(&factor.unsqueeze(-1).expand_as(diagonal(factors.a)));
    factors.solve_adjoint(&spread, true)
}

/// X + X^H with the diagonal of the real part of X.
fn hermitian_of_upper(x: &Expr) -> Expr {
    let sum = x + h(x);
    &sum - diagonal_matrix(&diagonal(&sum)) * 0.5
}

/// QR: (gQ + Q S) R^-H, where S is the Hermitian matrix of the upper triangle of gR R^H - Q^H gQ, for the square part of
/// a wide R; the rest is A_2 = Q R_2.
pub fn qr(grad_q: &Expr, grad_r: &Expr, q: &Expr, r: &Expr, mode: &str) -> Expr {
    let ([rows, _], [order, columns]) = (extent(q), extent(r));
    if mode == "r" {
        return Expr::from(err!(
            Runtime,
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, \
             mode='reduced') if you are going to require gradients"
        ));
    }
    if mode == "complete" && rows > columns {
        return Expr::from(err!(
            Runtime,
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        ));
    }
    let own = order.min(columns);
    let (r1, grad1) = (r.narrow(-1, 0, own), grad_r.narrow(-1, 0, own));
    let mut grad_q = grad_q.clone();
    if columns > own {
        let (r2, grad2) = (r.narrow(-1, own, columns - own), grad_r.narrow(-1, own, columns - own));
        grad_q = grad_q + q.matmul(r2).matmul(h(&grad2));
    }
    let inner = grad1.matmul(h(&r1)) - h(q).matmul(&grad_q);
    let first = right(&h(&r1), grad_q + q.matmul(hermitian_of_upper(&inner.triu(0))), false);
    if columns == own {
        return first;
    }
    joined(&first, &q.matmul(grad_r.narrow(-1, own, columns - own)), -1)
}

/// Hermitian eigenvalues and eigenvectors: the Hermitian part of V (V^H gV / E + diag(gL)) V^H with E_ij = L_j - L_i.
pub fn eigh(given: [bool; 2], grad_values: &Expr, grad_vectors: &Expr, values: &Expr, vectors: &Expr) -> Expr {
    if values.numel() > 0 && vectors.numel() == 0 {
        return Expr::from(err!(
            Runtime,
            "linalg_eigh_backward: torch.linalg.eigvalsh cannot be differentiated without the eigenvectors"
        ));
    }
    if !given[1] {
        return (vectors * grad_values.unsqueeze(-2)).matmul(h(vectors));
    }
    let turn = h(vectors).matmul(grad_vectors);
    if let Err(error) = check_phases("linalg_eigh_backward: The eigenvectors", "quantity, so it is", &turn) {
        return Expr::from(error);
    }
    let inner = off_diagonal(&turn, &differences(values));
    let inner = if given[0] { inner + diagonal_matrix(grad_values) } else { inner };
    vectors.matmul((&inner + h(&inner)) * 0.5).matmul(h(vectors))
}

/// Complex vectors are computed up to factors e^(i phi), on which a loss must not depend: its derivatives by the phases are
/// the imaginary parts of the diagonal of `turn`.
fn check_phases(vectors: &str, quantity: &str, turn: &Expr) -> Result<()> {
    let turn = ops::detach(turn.tensor()?)?;
    if !turn.dtype().is_complex() || turn.numel() == 0 || turn.device().kind == DeviceType::Meta {
        return Ok(());
    }
    let slopes = ops::abs(&ops::imag(&ops::diagonal(&turn, 0, -2, -1)?)?)?;
    let largest = ops::max(&slopes)?.item()?.to_f64();
    ensure!(
        largest <= 1e-2,
        Runtime,
        "{vectors} in the complex case are specified up to multiplication by e^{{i phi}}. The specified loss function \
         depends on this {quantity} ill-defined."
    );
    Ok(())
}

/// x_j - x_i
fn differences(values: &Expr) -> Expr {
    values.unsqueeze(-2) - values.unsqueeze(-1)
}

/// a / b off the diagonal, 0 on it.
fn off_diagonal(a: &Expr, b: &Expr) -> Expr {
    let own = a - diagonal_matrix(&diagonal(a));
    own / (b + diagonal_matrix(&(diagonal(b).zeros() + 1.0)))
}

/// Eigenvalues and eigenvectors of length 1: V^-H ((V^H gV - V^H V Re(diag(V^H gV))) / conj(E) + diag(gL)) V^H.
pub fn eig(
    given: [bool; 2],
    grad_values: &Expr,
    grad_vectors: &Expr,
    values: &Expr,
    vectors: &Expr,
    real: bool,
) -> Expr {
    let adjoint = h(vectors);
    let inner = if given[1] {
        let turn = adjoint.matmul(grad_vectors);
        if let Err(error) = check_phases("linalg_eig_backward: The eigenvectors", "quantity, so it is", &turn) {
            return Expr::from(error);
        }
        let length = adjoint.matmul(vectors) * diagonal(&turn).real().unsqueeze(-2);
        let inner = off_diagonal(&(turn - length), &differences(values).conj());
        if given[0] { inner + diagonal_matrix(grad_values) } else { inner }
    } else {
        diagonal_matrix(grad_values)
    };
    let own = adjoint.linalg_solve(inner.matmul(&adjoint), true);
    if real { own.real() } else { own }
}

/// X - X^H
fn skew(x: &Expr) -> Expr {
    x - h(x)
}

/// Singular values and vectors: U ((skew(U^H gU) / E) S + S (skew(V^H gV) / E) + diag(gS)) V^H with
/// E_ij = S_j^2 - S_i^2, and what gU and gV have outside the spaces of U and V.
pub fn svd(given: [bool; 3], grads: [&Expr; 3], [u, s, vh]: [&Expr; 3]) -> Expr {
    let order = extent_of(s);
    if order > 0 && u.numel() == 0 && vh.numel() == 0 && (given[0] || given[1] || given[2]) && u.ndim() == 1 {
        return Expr::from(err!(
            Runtime,
            "svd_backward: Setting compute_uv to false in torch.svd doesn't compute singular matrices, hence we cannot \
             compute backward. Please use torch.svd(compute_uv=True)"
        ));
    }
    let ([rows, _], [_, columns]) = (extent(u), extent(vh));
    let (u, vh) = (&u.narrow(-1, 0, order), &vh.narrow(-2, 0, order));
    if !given[0] && !given[2] {
        return (u * grads[1].unsqueeze(-2)).matmul(vh);
    }
    let (grad_u, grad_vh) = (&grads[0].narrow(-1, 0, order), &grads[2].narrow(-2, 0, order));
    let squares = s * s;
    let e = differences(&squares);
    let left = h(u).matmul(grad_u);
    let right = vh.matmul(h(grad_vh));
    let turn = skew(&left) + skew(&right);
    if let Err(error) = check_phases("svd_backward: The singular vectors", "phase term, making it", &turn) {
        return Expr::from(error);
    }
    let (row, column) = (s.unsqueeze(-2), s.unsqueeze(-1));
    let mut inner = off_diagonal(&skew(&left), &e) * &row + off_diagonal(&skew(&right), &e) * &column;
    if given[1] {
        inner = inner + diagonal_matrix(grads[1]);
    }
    if u.dtype().is_complex() {
        inner = inner + diagonal_matrix(&(diagonal(&skew(&left)) / (s * 2.0)));
    }
    let mut own = u.matmul(inner);
    if given[0] && rows > order {
        own = own + (grad_u - u.matmul(&left)) / &row;
    }
    own = own.matmul(vh);
    if given[2] && columns > order {
        let outside = grad_vh - h(&right).matmul(vh);
        own = own + u.matmul(outside / &column);
    }
    own
}

fn extent_of(values: &Expr) -> i64 {
    values.sizes().last().copied().unwrap_or(0)
}

/// The gradients of reflections and their factors, of the product H_0 H_1 ... B: `a` is its gradient. H_i changes by
/// -(dtau v v^H + tau dv v^H + tau v dv^H), between the reflections before it, which are taken over to `a` one by one,
/// and the product of B with those behind it.
fn reflections(a: &Expr, b: &Expr, input: &Expr, tau: &Expr) -> [Option<Expr>; 2] {
    let ([rows, columns], count) = (extent(input), extent_of(tau));
    let ones = Expr::of(|| ops::eye_m(rows, columns, input.options()));
    let v = input.tril(-1) + ones;
    let vector = |at: i64| (v.narrow(-1, at, 1), tau.narrow(-1, at, 1).unsqueeze(-1));
    let mut behind = vec![b.clone()];
    for at in (1..count).rev() {
        let ((v, tau), last) = (vector(at), behind[behind.len() - 1].clone());
        behind.push(&last - (&v * tau).matmul(h(&v).matmul(&last)));
    }
    let mut a = a.clone();
    let (mut vectors, mut factors) = (Vec::new(), Vec::new());
    for (at, b) in (0..count).zip(behind.iter().rev()) {
        let (v, tau) = vector(at);
        let (left, right) = (h(&v).matmul(&a), h(&v).matmul(b));
        factors.push(-left.matmul(h(&right)).squeeze_dim(-1));
        vectors.push(-(a.matmul(h(&right)) * tau.conj() + b.matmul(h(&left)) * &tau));
        a = &a - (&v * tau.conj()).matmul(left);
    }
    let missing = columns - count;
    if missing > 0 {
        vectors.push(input.narrow(-1, count, missing).zeros());
    }
    let all = |parts: &[Expr]| {
        Expr::of(|| {
            let parts: Result<Vec<&Tensor>> = parts.iter().map(Expr::tensor).collect();
            ops::cat(&parts?, -1)
        })
    };
    let factors = if factors.is_empty() { tau.zeros() } else { all(&factors) };
    let vectors = if vectors.is_empty() { input.zeros() } else { all(&vectors).tril(-1) };
    [Some(vectors), Some(factors)]
}

/// The gradients of a product of reflections with the first columns of the identity.
pub fn householder_product(grad: &Expr, input: &Expr, tau: &Expr) -> [Option<Expr>; 2] {
    let [rows, columns] = extent(input);
    let identity = Expr::of(|| ops::eye_m(rows, columns, input.options())).expand_as(input);
    reflections(grad, &identity, input, tau)
}

/// The gradients of the reflections, and of their factors, of Q C, C Q, or of these with Q^H.
pub fn ormqr_reflections(grad: &Expr, input: &Expr, tau: &Expr, other: &Expr, side: [bool; 2]) -> [Option<Expr>; 2] {
    let [left, transpose] = side;
    // C Q is (Q^H C^H)^H, and the adjoint exchanges the gradient of Q C with C.
    let (grad, other) = if left { (grad.clone(), other.clone()) } else { (h(grad), h(other)) };
    if left == transpose { reflections(&other, &grad, input, tau) } else { reflections(&grad, &other, input, tau) }
}

/// The gradient of the pseudoinverse X of A (Golub and Pereyra): -X^H g X^H + (I - A X) g^H X X^H + X^H X g^H (I - X A).
pub fn pinv(grad: &Expr, x: &Expr, a: &Expr) -> Expr {
    let (adjoint, grad_adjoint) = (h(x), h(grad));
    let own = -adjoint.matmul(grad).matmul(&adjoint);
    let first = grad_adjoint.matmul(x).matmul(&adjoint);
    let first = &first - a.matmul(x.matmul(&first));
    let second = adjoint.matmul(x).matmul(&grad_adjoint);
    let second = &second - second.matmul(x).matmul(a);
    fit(own + first + second, &a.sizes())
}

/// The gradients of X = A^+ B.
pub fn lstsq(grad: &Expr, a: &Expr, b: &Expr, needs: [bool; 2]) -> [Option<Expr>; 2] {
    let x = a.linalg_pinv_atol_rtol_float(None, None, false);
    let of_a = needs[0].then(|| pinv(&grad.matmul(h(b)), &x, a));
    let of_b = needs[1].then(|| fit(h(&x).matmul(grad), &b.sizes()));
    [of_a, of_b]
}

/// The gradient of e^A: the block above right of the exponential of [A^H, g; 0, A^H].
pub fn matrix_exp(grad: &Expr, a: &Expr) -> Expr {
    let adjoint = h(a);
    let [order, _] = extent(a);
    let top = joined(&adjoint, grad, -1);
    let bottom = joined(&adjoint.zeros(), &adjoint, -1);
    joined(&top, &bottom, -2).linalg_matrix_exp().narrow(-2, 0, order).narrow(-1, order, order)
}
