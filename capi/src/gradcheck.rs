//! Gradcheck: compares analytical gradients with finite differences.
//!
//! ```c top
//! static int32_t square(void *ctx, const rlt_tensor *const *inputs, int64_t n_inputs, rlt_tensor **outputs,
//!                       int64_t capacity, int64_t *n_outputs) {
//!   (void)ctx, (void)n_inputs, (void)capacity;
//!   *n_outputs = 1;
//!   return rlt_tensor_mul_Tensor(inputs[0], inputs[0], &outputs[0]);
//! }
//! ```
//!
//! ```c
//! const double values[2] = {1, -2};
//! const int64_t size = 2;
//! int32_t passed = 0;
//! rlt_tensor *x = NULL;
//! int32_t status = rlt_tensor_from_data(values, sizeof values, &size, 1, RLT_DTYPE_FLOAT64, &x);
//! if (!status) status = rlt_tensor_set_requires_grad(x, 1);
//! const rlt_tensor *inputs[1] = {x};
//! if (!status) status = rlt_gradcheck(square, NULL, inputs, 1, NULL, &passed);
//! if (!status && passed) printf("passed\n");  // prints passed
//! rlt_tensor_free(x);
//! ```

use crate::autograd::Lent;
use crate::support::callback;
use crate::support::sized::{self, SizedStruct};
use crate::support::{arg, guard, handle, out};
use crate::tensor::rlt_tensor;
use rushlight_base::{Result, bail, ensure, err};
use rushlight_tensor::Tensor;
use rushlight_tensor::autograd::{self, GradcheckOptions};
use std::ffi::c_void;
use std::ptr;

/// The function to check. It stores owned handles of its results in `outputs`, which holds `capacity` of them, and
/// their number in `*n_outputs`. It is called many times, and must always return the same number of results.
pub type rlt_gradcheck_function = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        inputs: *const *const rlt_tensor,
        n_inputs: i64,
        outputs: *mut *mut rlt_tensor,
        capacity: i64,
        n_outputs: *mut i64,
    ) -> i32,
>;

/// Maximum number of results of a checked function.
const CAPACITY: usize = 64;

/// Options of `rlt_gradcheck`. A NULL pointer selects PyTorch's defaults, as does 0 for a number with a stated default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlt_gradcheck_options {
    /// `sizeof(rlt_gradcheck_options)`
    pub struct_size: usize,
    /// Step of the finite differences; 0: 1e-6
    pub eps: f64,
    /// Absolute tolerance; 0: 1e-5
    pub atol: f64,
    /// Relative tolerance; 0: 1e-3
    pub rtol: f64,
    /// Largest allowed difference between two backward passes over the same input
    pub nondet_tol: f64,
    /// 1: compare one random projection instead of the whole Jacobian
    pub fast_mode: i32,
    /// 1: skip the check that backward accepts undefined output gradients
    pub skip_undefined_grad: i32,
    /// Must be 0: batched gradients need vectorization, which is not implemented
    pub check_batched_grad: i32,
    /// Must be 0: forward-mode differentiation is not implemented
    pub check_forward_ad: i32,
    /// 1: a mismatch is not an error; `*passed` reports it
    pub no_exception: i32,
    /// 0
    pub reserved: i32,
}

// SAFETY: `rlt_gradcheck_options` is repr(C) and begins with `struct_size`; its other fields are numbers, for which
// every value from C is valid.
unsafe impl SizedStruct for rlt_gradcheck_options {
    const UNSET: Self = rlt_gradcheck_options {
        struct_size: 0,
        eps: 0.0,
        atol: 0.0,
        rtol: 0.0,
        nondet_tol: 0.0,
        fast_mode: 0,
        skip_undefined_grad: 0,
        check_batched_grad: 0,
        check_forward_ad: 0,
        no_exception: 0,
        reserved: 0,
    };
    const NAME: &'static str = "rlt_gradcheck_options";
}

/// Compares the gradients of `function` at `inputs`, computed by backward, with finite differences. Inputs that require
/// a gradient are checked; they should have double precision. `*passed` is 1 if all agree. A mismatch is an error with
/// PyTorch's message (`RLT_ERROR_RUNTIME`), or with `no_exception` only `*passed` = 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_gradcheck(
    function: rlt_gradcheck_function,
    ctx: *mut c_void,
    inputs: *const *const rlt_tensor,
    n_inputs: i64,
    options: *const rlt_gradcheck_options,
    passed: *mut i32,
) -> i32 {
    guard("rlt_gradcheck", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `inputs` is NULL or points to
        // `n_inputs` live or NULL handles, and `passed` is NULL or writable.
        let (inputs, passed) = unsafe { (arg::tensors(inputs, n_inputs, "inputs")?, out::bool(passed, "passed")?) };
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `options` is NULL or points to
        // `struct_size` readable bytes.
        let (options, raises) = unsafe { read(options) }?;
        let call = checked(function, ctx)?;
        let inputs: Vec<Tensor> = inputs.refs().into_iter().cloned().collect();
        passed.set(verdict(autograd::gradcheck(&*call, &inputs, &options)?, raises)?)
    })
}

/// Like `rlt_gradcheck`, for second-order gradients: it checks the backward pass of `function` with respect to the
/// inputs and the output gradients `grad_outputs`, one per result that requires a gradient, or NULL for random ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_gradgradcheck(
    function: rlt_gradcheck_function,
    ctx: *mut c_void,
    inputs: *const *const rlt_tensor,
    n_inputs: i64,
    grad_outputs: *const *const rlt_tensor,
    n_grad_outputs: i64,
    options: *const rlt_gradcheck_options,
    passed: *mut i32,
) -> i32 {
    guard("rlt_gradgradcheck", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `inputs` is NULL or points to
        // `n_inputs` live or NULL handles, `grad_outputs` is NULL or points to `n_grad_outputs` live or NULL handles,
        // and `passed` is NULL or writable.
        let (inputs, given, passed) = unsafe {
            let inputs = arg::tensors(inputs, n_inputs, "inputs")?;
            (inputs, arg::tensors(grad_outputs, n_grad_outputs, "grad_outputs")?, out::bool(passed, "passed")?)
        };
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `options` is NULL or points to
        // `struct_size` readable bytes.
        let (options, raises) = unsafe { read(options) }?;
        let call = checked(function, ctx)?;
        let inputs: Vec<Tensor> = inputs.refs().into_iter().cloned().collect();
        let given: Vec<Tensor> = given.refs().into_iter().cloned().collect();
        passed.set(verdict(autograd::gradgradcheck(&*call, &inputs, &given, &options)?, raises)?)
    })
}

/// Returns the options, and whether a mismatch is an error.
///
/// # Safety
/// `options` is NULL or points to a struct of the size that it begins with.
unsafe fn read(options: *const rlt_gradcheck_options) -> Result<(GradcheckOptions, bool)> {
    let defaults = GradcheckOptions::default();
    if options.is_null() {
        return Ok((defaults, true));
    }
    // SAFETY: the caller guarantees that `options` is NULL or points to a struct of the size in its first field.
    let given = unsafe { sized::read(options, "options") }?;
    ensure!(
        given.check_batched_grad == 0,
        NotImplemented,
        "gradcheck: check_batched_grad needs vmap, which is not implemented"
    );
    ensure!(
        given.check_forward_ad == 0,
        NotImplemented,
        "gradcheck: check_forward_ad needs forward-mode differentiation, which is not implemented"
    );
    let or = |value: f64, default: f64| if value == 0.0 { default } else { value };
    let options = GradcheckOptions {
        eps: or(given.eps, defaults.eps),
        atol: or(given.atol, defaults.atol),
        rtol: or(given.rtol, defaults.rtol),
        nondet_tol: given.nondet_tol,
        fast_mode: arg::bool(given.fast_mode),
        check_undefined_grad: !arg::bool(given.skip_undefined_grad),
    };
    Ok((options, !arg::bool(given.no_exception)))
}

fn verdict(problem: Option<String>, raises: bool) -> Result<bool> {
    match problem {
        Some(problem) if raises => bail!(Runtime, "{problem}"),
        problem => Ok(problem.is_none()),
    }
}

type Checked = Box<dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>>;

fn checked(function: rlt_gradcheck_function, ctx: *mut c_void) -> Result<Checked> {
    let function = function.ok_or_else(|| err!(NullPointer, "argument `function` is NULL"))?;
    Ok(Box::new(move |inputs| {
        let lent = Lent::new(inputs);
        let (mut outputs, mut count) = (vec![ptr::null_mut::<rlt_tensor>(); CAPACITY], 0);
        let status = callback::call("gradcheck's function", || {
            let (given, slots) = (lent.0.as_ptr(), outputs.as_mut_ptr());
            // SAFETY: `function` has this signature; `given`, `slots` and `count` live until it returns, and `slots`
            // holds `CAPACITY` handles.
            unsafe { function(ctx, given, inputs.len() as i64, slots, CAPACITY as i64, &raw mut count) }
        });
        // SAFETY: the function stored NULL or owned handles in `outputs`; each is taken once, also on failure.
        let outputs: Vec<Option<Tensor>> = outputs.into_iter().map(|output| unsafe { handle::take(output) }).collect();
        status?;
        let count = usize::try_from(count).ok().filter(|count| *count <= CAPACITY);
        let count =
            count.ok_or_else(|| err!(Value, "the function for gradcheck reports an invalid number of results"))?;
        outputs
            .into_iter()
            .take(count)
            .map(|output| output.ok_or_else(|| err!(Value, "the function for gradcheck did not set a result")))
            .collect()
    }))
}
