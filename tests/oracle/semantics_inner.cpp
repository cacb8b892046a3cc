// Functions of at:: with internal names that wrappers of libtorch call: tests/data/semantics_inner.expected.txt.
//
// Packed weights, nested tensors from parts of a buffer, alignment of names, gradients of segments and samples, inner sparse
// operators. Packed tensors themselves are not shown where their contents are not defined.

#include "show.h"

#include <vector>

namespace {

using torch::Tensor;

Tensor counted(torch::IntArrayRef sizes, double from, double step) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return (torch::arange(count) * step + from).reshape(sizes).to(torch::kFloat);
}

void half_precision() {
  Tensor weight = counted({3, 4}, -0.7, 0.13), input = counted({2, 4}, -0.6, 0.21), bias = torch::tensor({0.5f, -1.0f, 2.0f});
  Tensor packed = at::fbgemm_pack_gemm_matrix_fp16(weight);
  SHOW("half", at::fbgemm_linear_fp16_weight(input, packed, bias));
  SHOW("half, three dimensions", at::fbgemm_linear_fp16_weight_fp32_activation(input.unsqueeze(0), packed, bias));
}

void eight_bits() {
  Tensor weight = counted({3, 4}, -0.7, 0.13), input = counted({2, 4}, -0.6, 0.21), bias = torch::tensor({0.5f, -1.0f, 2.0f});
  auto [numbers, offsets, scale, zero] = at::fbgemm_linear_quantize_weight(weight);
  SHOW("numbers", numbers);
  SHOW("offsets", offsets);
  SHOW("scale", scale);
  SHOW("zero point", zero);
  auto [input_scale, input_zero] = at::_choose_qparams_per_tensor(input);
  SHOW("scale of the input", input_scale);
  SHOW("zero point of the input", input_zero);
  SHOW("reduced range", std::get<1>(at::_choose_qparams_per_tensor(input, true)));
  SHOW("positive numbers", std::get<1>(at::_choose_qparams_per_tensor(input.abs())));
  SHOW("zeros", std::get<0>(at::_choose_qparams_per_tensor(torch::zeros({2}))));
  Tensor packed = at::fbgemm_pack_quantized_matrix(numbers), same = at::fbgemm_pack_quantized_matrix(numbers, 4, 3);
  SHOW("product", at::fbgemm_linear_int8_weight(input, numbers, packed, offsets, scale, zero, bias));
  SHOW("product", at::fbgemm_linear_int8_weight_fp32_activation(input, numbers, same, offsets, scale, zero, bias));
  Tensor prepacked = at::_wrapped_linear_prepack(weight, torch::tensor(scale), torch::tensor(zero), bias);
  SHOW("wrapped", at::_wrapped_quantized_linear_prepacked(input, torch::tensor(0.01), torch::tensor(100), prepacked, torch::tensor(0.02), torch::tensor(120), 3));
}

void cells() {
  auto weights = [](int64_t gates, double from) { return at::fbgemm_linear_quantize_weight(counted({2 * gates, 2}, from, 0.07)); };
  Tensor input = counted({2, 2}, -0.6, 0.41), state = counted({2, 2}, 0.3, -0.25), memory = counted({2, 2}, 0.1, 0.2);
#define CELL(name, gates, hidden)                                                                                                              \
  do {                                                                                                                                         \
    auto [first, first_offsets, first_scale, first_zero] = weights(gates, -0.5);                                                              \
    auto [second, second_offsets, second_scale, second_zero] = weights(gates, -0.3);                                                          \
    Tensor bias = counted({2 * gates}, -0.1, 0.05), none = torch::zeros({2 * gates});                                                          \
    SHOW("cell", at::name(input, hidden, first, second, bias, none, at::fbgemm_pack_quantized_matrix(first),                                   \
                          at::fbgemm_pack_quantized_matrix(second), first_offsets, second_offsets, first_scale, second_scale, first_zero, second_zero)); \
  } while (0)
  CELL(quantized_gru_cell, 3, state);
  CELL(quantized_rnn_relu_cell, 1, state);
  CELL(quantized_rnn_tanh_cell, 1, state);
  std::vector<Tensor> both{state, memory};
  auto [first, first_offsets, first_scale, first_zero] = weights(4, -0.5);
  auto [second, second_offsets, second_scale, second_zero] = weights(4, -0.3);
  Tensor bias = counted({8}, -0.1, 0.05), none = torch::zeros({8});
  auto [hidden, cell] = at::quantized_lstm_cell(input, both, first, second, bias, none, at::fbgemm_pack_quantized_matrix(first),
                                                at::fbgemm_pack_quantized_matrix(second), first_offsets, second_offsets, first_scale, second_scale,
                                                first_zero, second_zero);
  SHOW("hidden", hidden);
  SHOW("cell", cell);
}

void four_bits() {
  Tensor weight = (torch::arange(80 * 32) * 7 % 16).reshape({80, 32}).to(torch::kInt), input = counted({2, 32}, -1, 0.03);
  Tensor scales = counted({1, 80, 2}, -0.8, 0.01);
  Tensor packed = at::_convert_weight_to_int4pack_for_cpu(weight, 2);
  SHOW("sizes", packed.sizes());
  SHOW("product", at::_weight_int4pack_mm_for_cpu(input, packed, 32, scales).slice(1, 58, 70));
  SHOW("product", at::_weight_int4pack_mm_for_cpu(input, at::_convert_weight_to_int4pack_for_cpu(weight.slice(0, 0, 16), 2), 32, scales.slice(1, 0, 16)).slice(1, 0, 5));
  SHOW("dtype", at::_weight_int4pack_mm_for_cpu(input.to(torch::kBFloat16), packed, 32, scales.to(torch::kBFloat16)).dtype());
  Tensor bytes = (torch::arange(3 * 32) * 37 % 256).reshape({3, 32}).to(torch::kByte), rows = counted({2, 64}, -1, 0.017);
  for (int64_t block : {32, 64}) {
    Tensor parameters = counted({3, 64 / block}, 0.1, 0.05), dynamic = at::_dyn_quant_pack_4bit_weight(bytes, parameters, {}, block, 64, 3);
    SHOW("sizes", dynamic.sizes());
    SHOW("product", at::_dyn_quant_matmul_4bit(rows, dynamic, block, 64, 3));
  }
}

void nested() {
  Tensor sizes = torch::tensor({2, 3, 1, 3}).reshape({2, 2}), buffer = counted({9}, 0, 1);
  auto [strides, offsets] = at::_nested_compute_contiguous_strides_offsets(torch::tensor({2, 3, 4, 1, 5, 2}).reshape({2, 3}));
  SHOW("strides", strides);
  SHOW("offsets", offsets);
  auto parts = [](const Tensor& batch) { return batch.unbind(0); };
  SHOW("parts", parts(at::_nested_view_from_buffer(buffer, sizes, torch::tensor({3, 1, 3, 1}).reshape({2, 2}), torch::tensor({0, 6}))));
  SHOW("parts", parts(at::_nested_view_from_buffer_copy(buffer, sizes, torch::tensor({1, 2, 1, 1}).reshape({2, 2}), torch::tensor({0, 6}))));
  Tensor batch = at::_nested_from_padded(counted({2, 2, 3}, 0, 1), sizes);
  SHOW("padded", parts(batch));
  SHOW("transformed", parts(at::_nested_from_padded(counted({2, 2, 2, 3}, 0, 1), torch::tensor({2, 6, 1, 6}).reshape({2, 2}), true)));
  SHOW("like another", parts(at::_nested_from_padded_and_nested_example(counted({2, 2, 3}, 5, 1), batch)));
  SHOW("select", parts(at::_nested_select_backward(counted({2, 3}, 1, 1), batch, 0, 0)));
  Tensor sums = at::_nested_from_padded(counted({2, 2, 1}, 1, 1), torch::tensor({2, 1, 1, 1}).reshape({2, 2}));
  SHOW("sum", parts(at::_nested_sum_backward(sums, batch, -1, true)));
}

void names() {
  auto shapes = [](const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) std::cout << tensor.sizes() << " ";
    return tensors.size();
  };
  SHOW("without names", shapes(at::align_tensors({torch::zeros({2}), torch::zeros({3, 4})})));
  auto with_names = [](torch::IntArrayRef sizes, const std::vector<std::string>& names) {
    std::vector<torch::Dimname> labels;
    for (const std::string& name : names) labels.push_back(torch::Dimname::fromSymbol(torch::Symbol::dimname(name)));
    return torch::zeros(sizes).rename(labels);
  };
  auto aligned = at::align_tensors({with_names({2}, {"a"}), with_names({3, 2, 4}, {"b", "a", "c"}), with_names({3, 4}, {"b", "c"})});
  SHOW("with names", shapes(aligned));
  SHOW("names", aligned[0].names());
  ERROR_OF("another order", at::align_tensors({with_names({4, 3}, {"a", "b"}), with_names({3, 4}, {"b", "a"})}));
  SHOW("dual", std::get<0>(at::_unpack_dual(counted({2}, 0, 1), 0)));
  SHOW("tangent", std::get<1>(at::_unpack_dual(counted({2}, 0, 1), 0)).defined());
  SHOW("batch", at::_remove_batch_dim(counted({2}, 0, 1), 1, 3, 0));
}

void gradients() {
  Tensor data = counted({5, 2}, -1, 0.5), lengths = torch::tensor({2, 3});
  Tensor grad = counted({2, 2}, 1, 1), result = torch::segment_reduce(data, "prod", lengths);
  SHOW("segments", at::_segment_reduce_backward(grad, result, data, "prod", lengths));
  SHOW("segments of offsets", torch::segment_reduce(data, "sum", std::optional<Tensor>(), std::optional<Tensor>(), torch::tensor({1, 3, 4})));
  Tensor samples = torch::tensor({0.001f, 0.01f}), concentrations = torch::tensor({0.4f, 1.5f});
  SHOW("samples", at::_dirichlet_grad(samples, concentrations, torch::tensor({2.0f, 2.5f})));
}

void sparse() {
  Tensor indices = torch::tensor({0, 1, 1, 2, 0, 2}).reshape({2, 3}), matrix = torch::sparse_coo_tensor(indices, counted({3}, 1, 1), {3, 3}).coalesce();
  Tensor other = torch::sparse_coo_tensor(indices.slice(1, 1), counted({2}, 5, 1), {3, 3}).coalesce(), rows = matrix.to_sparse_csr();
  SHOW("softmax", at::_sparse_softmax(matrix, 1, false).to_dense());
  SHOW("softmax", at::_sparse_softmax(matrix, 0, torch::kDouble).to_dense());
  SHOW("log_softmax", at::_sparse_log_softmax(matrix, 1, std::optional<torch::ScalarType>()).to_dense());
  SHOW("sums", at::_sparse_csr_sum(rows, {1}, true).to_dense());
  SHOW("products", at::_sparse_csr_prod(rows, {0}, true).to_dense());
  SHOW("broadcast", at::_sparse_broadcast_to(matrix, {2, 3, 3}).to_dense());
  SHOW("projection", matrix._sparse_mask_projection(other).to_dense());
  SHOW("sum backward", at::_sparse_sum_backward(counted({3}, 1, 1).to_sparse(), matrix, {1}).to_dense());
  SHOW("norm", at::native_norm(matrix, 2));
  SHOW("mean", std::get<0>(at::_sparse_mm_reduce_impl(rows, counted({3, 2}, -1, 1), "mean")));
  SHOW("maximum", at::_sparse_mm(rows, counted({3, 2}, -1, 1), "amax"));
  SHOW("sizes", at::_sparse_compressed_tensor_with_dims(2, 0, {3, 4}, {}, torch::kLong, torch::dtype(torch::kFloat).layout(torch::kSparseCsr)).values().sizes());
}

}  // namespace

int main() {
  std::cout << "= half precision\n";
  half_precision();
  std::cout << "= 8 bits\n";
  eight_bits();
  std::cout << "= cells\n";
  cells();
  std::cout << "= 4 bits\n";
  four_bits();
  std::cout << "= nested tensors\n";
  nested();
  std::cout << "= names\n";
  names();
  std::cout << "= gradients\n";
  gradients();
  std::cout << "= sparse tensors\n";
  sparse();
}
