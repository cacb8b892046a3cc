// gradcheck and gradgradcheck: compare analytical gradients with finite differences. libtorch has them only in Python;
// these are Rushlight's own, with Python's names and defaults:
//
//   Tensor x = torch::rand({3}, torch::dtype(torch::kDouble).requires_grad(true)); torch::autograd::gradcheck([](const
// variable_list& inputs) { return inputs[0].sin(); }, {x});
#pragma once

#include <rushlight/gradcheck.h>
#include <torch/arg.h>
#include <torch/csrc/autograd/function.h>

#include <limits>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

/// Options of the gradient check.
struct GradcheckOptions {
  /// Step of the differences.
  TORCH_ARG(double, eps) = 1e-6;
  /// Absolute and relative tolerance.
  TORCH_ARG(double, atol) = 1e-5;
  TORCH_ARG(double, rtol) = 1e-3;
  /// Whether a mismatch throws an exception, or returns false.
  TORCH_ARG(bool, raise_exception) = true;
  /// Largest allowed difference between two backward passes over the same input.
  TORCH_ARG(double, nondet_tol) = 0.0;
  /// Check that backward accepts undefined gradients of some outputs.
  TORCH_ARG(bool, check_undefined_grad) = true;
  /// Compare one random product with the Jacobian instead of all of it.
  TORCH_ARG(bool, fast_mode) = false;
};

namespace detail {

/// A function of a list of tensors, whose result is a tensor or a list, wrapped for rlt_gradcheck_function.
template <class Function>
struct CheckedFunction {
  Function& function;
  static int32_t call(void* ctx, const rlt_tensor* const* inputs, int64_t n_inputs, rlt_tensor** outputs, int64_t capacity, int64_t* n_outputs) {
    return rlt::trampoline([&] {
      variable_list results = listed(static_cast<CheckedFunction*>(ctx)->function(borrowed_list(inputs, n_inputs)));
      if (static_cast<int64_t>(results.size()) > capacity) rlt::raise<c10::ValueError>("gradcheck: the function has too many results");
      for (size_t i = 0; i < results.size(); ++i) outputs[i] = results[i].release();
      *n_outputs = static_cast<int64_t>(results.size());
    });
  }
  static variable_list listed(Variable result) { return {std::move(result)}; }
  static variable_list listed(variable_list results) { return results; }
};

RLT_LAZY rlt_gradcheck_options c_options(const GradcheckOptions& options) {
  // The C interface uses 0 for the default; here it means zero.
  auto number = [](double value) { return value == 0 ? std::numeric_limits<double>::min() : value; };
  rlt_gradcheck_options given = {};
  given.struct_size = sizeof given;
  given.eps = number(options.eps());
  given.atol = number(options.atol());
  given.rtol = number(options.rtol());
  given.nondet_tol = options.nondet_tol();
  given.fast_mode = options.fast_mode();
  given.skip_undefined_grad = !options.check_undefined_grad();
  given.no_exception = !options.raise_exception();
  return given;
}

}  // namespace detail

/// Compares the gradients of `function(const variable_list&)`, which returns a tensor or a list, at `inputs` with
/// finite differences. Inputs that require a gradient are checked; they should have double precision.
template <class Function>
bool gradcheck(Function&& function, const variable_list& inputs, const GradcheckOptions& options = {}) {
  detail::CheckedFunction<std::remove_reference_t<Function>> checked{function};
  rlt_gradcheck_options given = detail::c_options(options);
  int32_t passed = 0;
  rlt::check(rlt_gradcheck(&checked.call, &checked, rlt::handles(inputs), static_cast<int64_t>(inputs.size()), &given, &passed));
  return passed != 0;
}

/// gradcheck of the backward pass of `function`, with respect to the inputs and the output gradients: `grad_outputs`,
/// one for each result that requires a gradient, or random ones.
template <class Function>
bool gradgradcheck(Function&& function, const variable_list& inputs, const variable_list& grad_outputs = {}, const GradcheckOptions& options = {}) {
  detail::CheckedFunction<std::remove_reference_t<Function>> checked{function};
  rlt_gradcheck_options given = detail::c_options(options);
  int32_t passed = 0;
  rlt::check(rlt_gradgradcheck(&checked.call, &checked, rlt::handles(inputs), static_cast<int64_t>(inputs.size()),
                               grad_outputs.empty() ? nullptr : rlt::handles(grad_outputs), static_cast<int64_t>(grad_outputs.size()), &given,
                               &passed));
  return passed != 0;
}

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
