// Functions of at:: that have no C function: out forms and functional forms that copy, operators that are called by name,
// and the functions with internal names that wrappers of libtorch call.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "messages.h"

namespace {

#define MESSAGE(statement, text) EXPECT_EQ(message_of([&] { statement; }), text)

using torch::Tensor;
using torch::indexing::Slice;
using torch::indexing::None;

Tensor randoms(torch::IntArrayRef sizes, uint64_t seed = 0) {
  torch::manual_seed(seed);
  return torch::randn(sizes, torch::kDouble);
}
/// The gradient of the sum of `result * grad` with respect to `input`.
Tensor gradient(const Tensor& result, const Tensor& input, const Tensor& grad) { return torch::autograd::grad({result}, {input}, {grad})[0]; }
void expect_close(const Tensor& actual, const Tensor& expected, double tolerance = 1e-10) {
  ASSERT_EQ(actual.sizes(), expected.sizes());
  EXPECT_TRUE(torch::allclose(actual.to(torch::kDouble), expected.to(torch::kDouble), tolerance, tolerance)) << actual << "\n" << expected;
}

// ---- Out forms and functional forms that copy ----

TEST(CopiedFunctions, OutFormsResizeAndWriteTheOutput) {
  Tensor x = randoms({2, 3}), out = torch::empty({0}, torch::kDouble), other = torch::empty({0}, torch::kDouble);
  Tensor& returned = torch::zeros_like_out(out, x);
  EXPECT_TRUE(returned.is_same(out));
  expect_close(out, torch::zeros({2, 3}));
  torch::std_mean_out(out, other, x, torch::IntArrayRef{1});
  expect_close(out, x.std({1}));
  expect_close(other, x.mean({1}));
  torch::div_out(out, x, 2, "floor");
  expect_close(out, (x / 2).floor());
  torch::repeat_out(out, x, torch::IntArrayRef{2, 1});
  expect_close(out, torch::cat({x, x}));
  torch::hann_window_out(out, 5, false);
  expect_close(out, torch::hann_window(5, false, torch::kDouble));
  Tensor first = torch::empty({0}, torch::kDouble), second = torch::empty({0}, torch::kDouble);
  std::vector<Tensor> list{first, second};
  torch::unbind_copy_out(list, x, 0);
  expect_close(first, x[0]);
  expect_close(second, x[1]);
}

TEST(CopiedFunctions, RefuseOtherDtypesAndGradients) {
  Tensor x = randoms({2}), out = torch::empty({0});
  MESSAGE(torch::zeros_like_out(out, x); torch::sum_out(out, x, torch::kDouble), "sum(): Expected out tensor to have dtype double, but got float instead");
  EXPECT_EQ(out.scalar_type(), torch::kFloat);
  Tensor doubles = torch::empty({3}, torch::kDouble);
  MESSAGE(torch::repeat_out(doubles, x.clone().requires_grad_(), torch::IntArrayRef{2}),
          "repeat(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.");
  EXPECT_EQ(doubles.sizes(), torch::IntArrayRef({3}));
  MESSAGE(torch::unbind_copy_out({doubles}, x, 0), "unbind_copy(): Expected 2 out tensors, but got 1");
}

TEST(CopiedFunctions, FunctionalFormsLeaveTheirInput) {
  Tensor x = torch::zeros({4}), expected = torch::zeros({4});
  torch::manual_seed(3);
  Tensor numbers = torch::uniform(x, 1.0, 2.0, std::nullopt);
  torch::manual_seed(3);
  expected.uniform_(1.0, 2.0);
  expect_close(numbers, expected);
  expect_close(x, torch::zeros({4}));
  EXPECT_EQ(torch::resize(x, torch::IntArrayRef{2}).sizes(), torch::IntArrayRef({2}));
  EXPECT_EQ(x.sizes(), torch::IntArrayRef({4}));
}

// ---- Operators that are called by name ----

TEST(NamedFunctions, ComputeAndAreDifferentiable) {
  Tensor v = randoms({3, 4}).requires_grad_(), g = randoms({3, 1}, 1);
  Tensor expected = v * (g / v.norm(2, {1}, true));
  expect_close(torch::_weight_norm(v, g, 0), expected);
  expect_close(gradient(torch::_weight_norm(v, g, 0), v, torch::ones_like(v)), gradient(expected, v, torch::ones_like(v)));
  Tensor x = randoms({1, 2, 5, 5}), weight = randoms({3, 2, 3, 3}, 1);
  expect_close(torch::_convolution(x, weight, {}, {2, 2}, {1, 1}, {1, 1}, false, {0, 0}, 1, false, false, true, true), torch::conv2d(x, weight, {}, 2, 1));
  expect_close(torch::_convolution_mode(x, weight, {}, {1, 1}, "same", {1, 1}, 1), torch::conv2d(x, weight, {}, 1, 1));
  Tensor out = torch::empty({0}, torch::kDouble);
  torch::_convolution_mode_out(out, x, weight, std::optional<Tensor>(), torch::IntArrayRef{1, 1}, "valid", torch::IntArrayRef{1, 1}, 1);
  expect_close(out, torch::conv2d(x, weight));
}

TEST(NamedFunctions, IndicesMayBeAList) {
  Tensor x = torch::arange(12).reshape({3, 4});
  c10::List<std::optional<Tensor>> indices({std::nullopt, torch::tensor({0, 3})});
  expect_close(torch::index(x, indices), x.index({Slice(), torch::tensor({0, 3})}));
  Tensor y = x.clone();
  torch::_index_put_impl_(y, indices, torch::tensor({-1, -2}));
  expect_close(y.index({Slice(), 3}), torch::full({3}, -2));
}

// ---- Functions with internal names ----

TEST(InternalFunctions, OfArithmetic) {
  Tensor x = randoms({2, 3}), y = randoms({2, 3}, 1), z = x.clone();
  expect_close(torch::_add_relu(x, y, 2), (x + 2 * y).clamp_min(0));
  expect_close(torch::_add_relu_(z, y), (x + y).clamp_min(0));
  expect_close(torch::_addmm_activation(y, randoms({2, 4}), randoms({4, 3}), 1, 1, true), torch::gelu(y + randoms({2, 4}).mm(randoms({4, 3}))));
  expect_close(torch::_compute_linear_combination(x, torch::tensor({{1.0, 2.0}, {0.0, -1.0}}, torch::kDouble)), torch::stack({x[0] + 2 * x[1], -x[1]}));
  Tensor a = randoms({2, 3}), b = randoms({4, 3}, 1), c = randoms({2, 4}, 2);
  expect_close(torch::_trilinear(a, b, c, {1}, {0}, {2}, {2}), torch::einsum("ik,jk,ij->ij", {a, b, c}));
  expect_close(std::get<1>(torch::_aminmax(x, 1, true)), x.amax({1}, true));
  expect_close(torch::_cast_Int(x), x.to(torch::kInt));
  auto [rows, places] = torch::_rowwise_prune(torch::arange(6).reshape({3, 2}), torch::tensor({true, false, true}), torch::kInt);
  expect_close(rows, torch::tensor({{0, 1}, {4, 5}}));
  expect_close(places, torch::tensor({0, -1, 1}));
  Tensor p = torch::tensor({0.0, 1.0}, torch::kDouble);
  expect_close(torch::bernoulli(torch::empty({2}), p), p);
  expect_close(torch::_reshape_from_tensor(x, torch::tensor({3, 2})), x.reshape({3, 2}));
  expect_close(torch::_shape_as_tensor(x), torch::tensor({2, 3}));
  expect_close(torch::_test_ambiguous_defaults(x, 1), torch::tensor(1));
  expect_close(torch::_test_ambiguous_defaults(x, 2, "2"), torch::tensor(2));
}

TEST(InternalFunctions, OfMixedPrecision) {
  Tensor scale = torch::tensor(4.0f), tracker = torch::zeros({}, torch::kInt), fine = torch::zeros({}), bad = torch::ones({});
  torch::_amp_update_scale_(scale, tracker, fine, 2.0, 0.5, 2);
  EXPECT_EQ(scale.item<float>(), 4);
  torch::_amp_update_scale_(scale, tracker, fine, 2.0, 0.5, 2);
  EXPECT_EQ(scale.item<float>(), 8);
  EXPECT_EQ(tracker.item<int>(), 0);
  EXPECT_EQ(std::get<0>(torch::_amp_update_scale(scale, tracker, bad, 2.0, 0.5, 2)).item<float>(), 4);
  EXPECT_EQ(scale.item<float>(), 8);
  Tensor first = torch::tensor({8.0f, 16.0f}), second = torch::tensor({INFINITY});
  torch::_amp_foreach_non_finite_check_and_unscale_({first}, fine, torch::tensor(0.125f));
  expect_close(first, torch::tensor({1.0, 2.0}));
  EXPECT_EQ(fine.item<float>(), 0);
  torch::_amp_foreach_non_finite_check_and_unscale_({first, second}, fine, torch::tensor(0.125f));
  EXPECT_EQ(fine.item<float>(), 1);
  Tensor half = torch::ones({1}, torch::kHalf);
  EXPECT_EQ(half._autocast_to_full_precision(false, true).scalar_type(), torch::kFloat);
  EXPECT_EQ(half._autocast_to_full_precision(true, false).scalar_type(), torch::kHalf);
}

TEST(InternalFunctions, OfChecks) {
  torch::_assert_async(torch::ones({1}), "fine");
  MESSAGE(torch::_assert_async(torch::zeros({1}), "not zero"), "not zero");
  MESSAGE(torch::_assert_scalar(0, "no"), "no");
  torch::_assert_tensor_metadata(torch::ones({2, 3}), torch::IntArrayRef{2, 3}, {}, torch::kFloat);
  MESSAGE(torch::_assert_tensor_metadata(torch::ones({2, 3}), {}, {}, torch::kLong), "Tensor dtype mismatch! Expected: Long, Got: Float");
  MESSAGE(torch::sym_constrain_range(7, 0, 5), "Invalid value range for 7 between [0, 5].");
  torch::_linalg_check_errors(torch::zeros({2}, torch::kInt), "linalg.inv", false);
  MESSAGE(torch::_linalg_check_errors(torch::tensor({0, 3}, torch::kInt), "linalg.inv", false),
          "linalg.inv: (Batch element 1): The algorithm failed with the error code 3.");
}

TEST(InternalFunctions, OfDerivatives) {
  Tensor x = randoms({4, 3}).requires_grad_();
  for (double p : {0.0, 1.0, 1.5, 2.0, 3.0, static_cast<double>(INFINITY)}) {
    Tensor distances = torch::pdist(x, p), grad = randoms({6}, 1);
    expect_close(torch::_pdist_backward(grad, x.detach(), p, distances.detach()), gradient(distances, x, grad));
  }
  Tensor weight = torch::tensor({0.25}, torch::kDouble).requires_grad_(), result = torch::prelu(x, weight), grad = randoms({4, 3}, 1);
  auto [of_self, of_weight] = torch::_prelu_kernel_backward(grad, x.detach(), weight.detach());
  expect_close(of_self, gradient(torch::prelu(x, weight), x, grad));
  expect_close(of_weight.sum().reshape({1}), gradient(result, weight, grad));
  Tensor wide = randoms({2, 6}), direction = randoms({2, 6}, 1);
  double step = 1e-6;
  Tensor slope = (torch::glu(wide + step * direction, 1) - torch::glu(wide - step * direction, 1)) / (2 * step);
  expect_close(torch::glu_jvp(torch::glu(wide, 1), wide, direction, 1), slope, 1e-8);
  Tensor padded = randoms({3, 2, 2}).requires_grad_();
  auto packed = torch::_pack_padded_sequence(padded, torch::tensor({3, 1}), false);
  Tensor of_packed = randoms(std::get<0>(packed).sizes(), 1);
  expect_close(torch::_pack_padded_sequence_backward(of_packed, padded.sizes(), std::get<1>(packed), false), gradient(std::get<0>(packed), padded, of_packed));
  Tensor log_probs = randoms({5, 1, 4}).log_softmax(2), targets = torch::tensor({{1, 2}});
  expect_close(std::get<0>(torch::_ctc_loss(log_probs, targets, torch::tensor({5}), torch::tensor({2}))),
               std::get<0>(torch::_ctc_loss(log_probs, targets, {5}, {2})));
}

TEST(InternalFunctions, OfBagsOfEmbeddings) {
  Tensor weight = randoms({5, 3}).requires_grad_(), indices = torch::tensor({0, 4, 4, 1}), offsets = torch::tensor({0, 2, 4}), grad = randoms({3, 3}, 1);
  for (int64_t mode : {0, 1, 2}) {
    auto [result, offset2bag, bag_size, maximum] = torch::_embedding_bag(weight, indices, offsets, false, mode);
    Tensor bags = offset2bag.numel() == 4 ? offset2bag : torch::tensor({0, 0, 1, 1}), sizes = torch::tensor({2, 2, 0});
    Tensor computed = torch::_embedding_bag_dense_backward(grad, indices, bags, sizes, maximum, 5, false, mode, {}, -1);
    expect_close(computed, gradient(result, weight, grad));
    if (mode != 2) expect_close(torch::_embedding_bag_backward(grad, indices, offsets, bags, sizes, maximum, 5, false, mode, true, {}).to_dense(), computed);
  }
  Tensor factors = randoms({4}, 2).requires_grad_();
  Tensor weighted = std::get<0>(torch::_embedding_bag(weight, indices, offsets, false, 0, false, factors));
  Tensor bags = torch::tensor({0, 0, 1, 1});
  expect_close(torch::_embedding_bag_per_sample_weights_backward(grad, weight.detach(), indices, offsets, bags, 0), gradient(weighted, factors, grad));
}

TEST(InternalFunctions, OfAttention) {
  Tensor q = randoms({1, 2, 3, 4}).requires_grad_(), k = randoms({1, 2, 3, 4}, 1).requires_grad_(), v = randoms({1, 2, 3, 4}, 2).requires_grad_();
  Tensor grad = randoms({1, 2, 3, 4}, 3);
  for (bool causal : {false, true}) {
    Tensor expected = torch::scaled_dot_product_attention(q, k, v, {}, 0.0, causal);
    expect_close(std::get<0>(torch::_scaled_dot_product_attention_math(q, k, v, {}, 0.0, causal)), expected);
    auto [out, logsumexp] = torch::_scaled_dot_product_flash_attention_for_cpu(q.detach(), k.detach(), v.detach(), 0.0, causal);
    expect_close(out, expected);
    auto [of_q, of_k, of_v] = torch::_scaled_dot_product_flash_attention_for_cpu_backward(grad, q.detach(), k.detach(), v.detach(), out, logsumexp, 0.0, causal);
    auto expected_grads = torch::autograd::grad({expected}, {q, k, v}, {grad});
    expect_close(of_q, expected_grads[0]);
    expect_close(of_k, expected_grads[1]);
    expect_close(of_v, expected_grads[2]);
  }
}

TEST(InternalFunctions, OfNormalization) {
  Tensor x = randoms({4, 3, 2}), mean = torch::zeros({3}, torch::kDouble), var = torch::ones({3}, torch::kDouble);
  Tensor expected_mean = mean.clone(), expected_var = var.clone();
  Tensor expected = torch::batch_norm(x, {}, {}, expected_mean, expected_var, true, 0.1, 1e-5, false);
  auto functional = torch::_native_batch_norm_legit_functional(x, {}, {}, mean, var, true, 0.1, 1e-5);
  expect_close(std::get<0>(functional), expected);
  expect_close(std::get<3>(functional), expected_mean);
  expect_close(std::get<4>(functional), expected_var);
  expect_close(mean, torch::zeros({3}));
  torch::batch_norm_update_stats(x, mean, var, 0.1);
  expect_close(mean, expected_mean);
  expect_close(var, expected_var);
  torch::manual_seed(0);
  auto [dropped, mask] = torch::_fused_dropout(torch::ones({1000}), 0.25);
  EXPECT_NEAR(mask.sum().item<double>() / 1000, 0.25, 0.06);
  expect_close(dropped, mask * 4);
  expect_close(torch::_pad_enum(x, {1, 1}, 1), torch::pad(x, {1, 1}, "replicate"));
}

TEST(InternalFunctions, OfQuantization) {
  Tensor x = torch::tensor({-1.0, -0.26, 0.1, 0.9}), scale = torch::tensor({0.1}), zero_point = torch::tensor({0.0});
  expect_close(torch::_fake_quantize_learnable_per_tensor_affine(x, scale, zero_point, -4, 4), torch::tensor({-0.4, -0.3, 0.1, 0.4}), 1e-6);
  auto [of_x, of_scale, of_zero] = torch::_fake_quantize_learnable_per_tensor_affine_backward(torch::ones({4}), x, scale, zero_point, -4, 4);
  expect_close(of_x, torch::tensor({0.0, 1.0, 1.0, 0.0}));
  // Below the range -4, above it 4; inside the rounded quotient less the quotient: -3 + 2.6 and 1 - 1.
  expect_close(of_scale, torch::tensor({-4 - 0.4 + 0.0 + 4}), 1e-5);
  expect_close(of_zero, torch::tensor({-0.2}), 1e-6);
  Tensor rows = torch::stack({x, x}), scales = torch::tensor({0.1, 0.2}), zeros = torch::zeros({2});
  Tensor per_channel = torch::_fake_quantize_learnable_per_channel_affine(rows, scales, zeros, 0, -4, 4);
  expect_close(per_channel[1], torch::tensor({-0.8, -0.2, 0.0, 0.8}), 1e-6);
  auto channels = torch::_fake_quantize_learnable_per_channel_affine_backward(torch::ones({2, 4}), rows, scales, zeros, 0, -4, 4);
  expect_close(std::get<1>(channels)[0], of_scale[0], 1e-5);
  EXPECT_EQ(std::get<1>(channels).sizes(), torch::IntArrayRef({2}));
  Tensor a = randoms({2, 3}).to(torch::kFloat), b = torch::tensor({{1, -2, 3}, {4, 5, -6}}, torch::kChar);
  expect_close(torch::_weight_int8pack_mm(a, b, torch::tensor({0.5, 2.0})), a.mm(b.to(torch::kFloat).t()) * torch::tensor({0.5, 2.0}), 1e-6);
  expect_close(torch::_scaled_mm(a, b.to(torch::kFloat).t(), torch::tensor(2.0), torch::tensor(0.25), torch::ones({2})), 0.5 * a.mm(b.to(torch::kFloat).t()) + 1, 1e-6);
}

TEST(InternalFunctions, OfSparseTensors) {
  Tensor dense = torch::tensor({{0.0, 2.0, 0.0}, {0.0, 0.0, 0.0}, {1.0, 0.0, 3.0}}, torch::kDouble), csr = dense.to_sparse_csr();
  Tensor places = torch::_convert_indices_from_csr_to_coo(csr.crow_indices(), csr.col_indices());
  expect_close(places, dense.nonzero().t());
  expect_close(torch::_convert_indices_from_coo_to_csr(places[0], 3), csr.crow_indices());
  Tensor right = randoms({3, 2});
  Tensor terms = dense.unsqueeze(2) * right.unsqueeze(0), filled = (dense != 0).unsqueeze(2).expand({3, 3, 2});
  expect_close(torch::_sparse_mm(csr, right, "sum"), dense.mm(right));
  expect_close(torch::_sparse_mm(csr, right, "mean"), dense.mm(right) / torch::tensor({{1}, {1}, {2}}));
  expect_close(torch::_sparse_mm(csr, right, "amax")[2], terms.masked_fill(filled.logical_not(), -INFINITY).amax({1})[2]);
  Tensor bands = torch::_spdiags(torch::tensor({{1, 2, 3}, {4, 5, 6}}), torch::tensor({0, 1}), {3, 3});
  expect_close(bands.to_dense(), torch::tensor({{1, 5, 0}, {0, 2, 6}, {0, 0, 3}}));
  Tensor x = randoms({2, 3}).requires_grad_(), index = torch::tensor({{0, 2}, {1, 1}}), grad = randoms({2, 2}, 1);
  expect_close(torch::_gather_sparse_backward(x, 1, index, grad).to_dense(), gradient(torch::gather(x, 1, index), x, grad));
  EXPECT_EQ(torch::_sparse_coo_tensor_with_dims(1, 1, {3, 2})._nnz(), 0);
  EXPECT_ANY_THROW(torch::_validate_sparse_csr_tensor_args(torch::tensor({0, 5}), torch::tensor({0}), torch::ones({1}), {1, 1}));
}

TEST(MissingFunctions, AreErrorsThatNameThem) {
  Tensor x = torch::ones({2, 2});
  EXPECT_THROW(torch::cudnn_convolution(x, x), c10::NotImplementedError);
  MESSAGE(torch::_make_dual(x, x, 0), "_make_dual is not available: forward-mode derivatives and vmap are not supported");
  MESSAGE(x.to_mkldnn(), "to_mkldnn is not available: tensors of oneDNN do not exist");
  auto taken = [&] { auto [out, mean, var, reserve] = torch::cudnn_batch_norm(x, x, x, x, x, true, 0.1, 1e-5); };
  MESSAGE(taken(), "cudnn_batch_norm is not available: cuDNN is not used");
  EXPECT_FALSE(torch::cudnn_is_acceptable(x));
}

}  // namespace
