// Products with packed weights of half precision, 8 and 4 bits. What libtorch packs for FBGEMM is a tensor of the same numbers here;
// weights of 4 bits have the layout of libtorch's kernels for AVX-512.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/out_forms.h>

#include <algorithm>
#include <cmath>

namespace at {
RLT_NAMESPACE_BEGIN
namespace rlt_packed {

/// The scale and zero point of integers for the numbers of a tensor and 0.
RLT_LAZY std::tuple<double, int64_t> parameters(const char* name, const Tensor& self, int64_t low, int64_t high) {
  TORCH_CHECK(self.numel() > 0, name, ": expected a tensor with elements");
  double from = std::min(self.min().item<float>(), 0.0f), to = std::max(self.max().item<float>(), 0.0f);
  double scale = (to - from) / static_cast<double>(high - low);
  if (static_cast<float>(scale) == 0 || std::isinf(1 / static_cast<float>(scale))) scale = 0.1;
  double first = static_cast<double>(low), last = static_cast<double>(high);
  bool from_low = std::abs(first) + std::abs(from / scale) < std::abs(last) + std::abs(to / scale);
  double zero = std::clamp(from_low ? first - from / scale : last - to / scale, first, last);
  return {static_cast<float>(scale), static_cast<int64_t>(std::nearbyint(zero))};
}
/// The integers of numbers; sums of their products are exact in double.
RLT_LAZY Tensor quantized(const Tensor& self, double scale, int64_t zero, int64_t low, int64_t high) {
  return ((self.to(kFloat) / scale).round() + zero).clamp(low, high).to(kDouble);
}
/// The product of an input, quantized to bytes, and quantized weights.
RLT_LAZY Tensor linear(const char* name, const Tensor& input, const Tensor& packed, const Scalar& weight_scale, const Scalar& weight_zero_point,
                       const Tensor& bias) {
  TORCH_CHECK(packed.dim() == 2 && packed.scalar_type() == kChar, name, ": expected weights packed by fbgemm_pack_quantized_matrix, but got ",
              packed.scalar_type(), " of shape ", packed.sizes());
  TORCH_CHECK(input.dim() >= 2 && input.size(-1) == packed.size(1), name, ": expected an input of shape [*, ", packed.size(1), "], but got ", input.sizes());
  auto [scale, zero] = rlt_packed::parameters(name, input, 0, 255);
  Tensor product = at::matmul(rlt_packed::quantized(input, scale, zero, 0, 255) - zero, (packed.to(kDouble) - weight_zero_point).t());
  return (product * (scale * weight_scale.to<double>()) + bias).to(kFloat);
}
/// The 4 bits of each weight (N, K) of _convert_weight_to_int4pack_for_cpu. Rows are packed in blocks of 64: row i of a block with row
/// i + 32; the rows of an incomplete block in pairs.
RLT_LAZY Tensor unpacked(const Tensor& packed) {
  int64_t rows = packed.size(0), columns = packed.size(1) * 2, whole = rows / 64 * 64;
  auto low = [](const Tensor& bytes) { return bytes.bitwise_and(15); };
  auto high = [](const Tensor& bytes) { return bytes.bitwise_right_shift(4); };
  Tensor blocks = packed.narrow(0, 0, whole).reshape({whole / 64, columns, 32}), rest = packed.narrow(0, whole, rows - whole).reshape({columns, (rows - whole) / 2});
  return at::cat({at::cat({low(blocks), high(blocks)}, 2).transpose(1, 2).reshape({whole, columns}),
                  at::stack({low(rest), high(rest)}, -1).reshape({columns, rows - whole}).t()});
}

}  // namespace rlt_packed

// ---- Half precision ----

RLT_LAZY Tensor fbgemm_pack_gemm_matrix_fp16(const Tensor& input) {
  TORCH_CHECK(input.dim() == 2, "fbgemm_pack_gemm_matrix_fp16: expected a matrix, but got shape ", input.sizes());
  return input.clamp(-65504, 65504).to(kHalf);
}
RLT_LAZY Tensor fbgemm_linear_fp16_weight_fp32_activation(const Tensor& input, const Tensor& packed_weight, const Tensor& bias) {
  TORCH_CHECK(packed_weight.scalar_type() == kHalf, "fbgemm_linear_fp16_weight: expected weights packed by fbgemm_pack_gemm_matrix_fp16, but got ",
              packed_weight.scalar_type());
  return at::linear(input.to(kFloat), packed_weight.to(kFloat), bias);
}
RLT_LAZY Tensor fbgemm_linear_fp16_weight(const Tensor& input, const Tensor& packed_weight, const Tensor& bias) {
  return at::fbgemm_linear_fp16_weight_fp32_activation(input, packed_weight, bias);
}

// ---- 8 bits ----

RLT_LAZY std::tuple<double, int64_t> _choose_qparams_per_tensor(const Tensor& self, bool reduce_range = false) {
  return rlt_packed::parameters("_choose_qparams_per_tensor", self, 0, reduce_range ? 127 : 255);
}
/// The weights as int8, the sums of the columns of their transpose that libtorch's kernels use, the scale and the zero point.
RLT_LAZY std::tuple<Tensor, Tensor, double, int64_t> fbgemm_linear_quantize_weight(const Tensor& input) {
  TORCH_CHECK(input.dim() == 2, "fbgemm_linear_quantize_weight: expected a matrix, but got shape ", input.sizes());
  auto [scale, zero] = rlt_packed::parameters("fbgemm_linear_quantize_weight", input, -128, 127);
  Tensor numbers = rlt_packed::quantized(input, scale, zero, -128, 127);
  return {numbers.to(kChar), (numbers.sum(1) - zero * input.size(1)).to(kInt), scale, zero};
}
RLT_LAZY Tensor fbgemm_pack_quantized_matrix(const Tensor& input) {
  TORCH_CHECK(input.dim() == 2 && input.scalar_type() == kChar, "fbgemm_pack_quantized_matrix: expected a matrix of int8, but got ", input.scalar_type(),
              " of shape ", input.sizes());
  return input.clone();
}
RLT_LAZY Tensor fbgemm_pack_quantized_matrix(const Tensor& input, int64_t K, int64_t N) {
  TORCH_CHECK(input.numel() == K * N, "fbgemm_pack_quantized_matrix: expected ", N, " rows of ", K, " numbers, but got shape ", input.sizes());
  return at::fbgemm_pack_quantized_matrix(input.reshape({N, K}));
}
RLT_LAZY Tensor fbgemm_linear_int8_weight_fp32_activation(const Tensor& input, const Tensor&, const Tensor& packed, const Tensor&, const Scalar& weight_scale,
                                                          const Scalar& weight_zero_point, const Tensor& bias) {
  return rlt_packed::linear("fbgemm_linear_int8_weight", input, packed, weight_scale, weight_zero_point, bias);
}
RLT_LAZY Tensor fbgemm_linear_int8_weight(const Tensor& input, const Tensor& weight, const Tensor& packed, const Tensor& col_offsets,
                                          const Scalar& weight_scale, const Scalar& weight_zero_point, const Tensor& bias) {
  return at::fbgemm_linear_int8_weight_fp32_activation(input, weight, packed, col_offsets, weight_scale, weight_zero_point, bias);
}
/// Weights of a scale and zero point as numbers, with the bias as a last column.
RLT_LAZY Tensor _wrapped_linear_prepack(const Tensor& weight, const Tensor& weight_scale, const Tensor& weight_zero_point, const Tensor& bias) {
  TORCH_CHECK(weight.dim() == 2 && bias.numel() == weight.size(0), "_wrapped_linear_prepack: expected a matrix and a bias of its rows, but got shapes ",
              weight.sizes(), " and ", bias.sizes());
  double scale = weight_scale.item<double>();
  int64_t zero = weight_zero_point.item<int64_t>();
  Tensor numbers = rlt_packed::quantized(weight, scale, zero, -128, 127) - zero;
  return at::cat({numbers * scale, bias.reshape({-1, 1}).to(kDouble)}, 1);
}
RLT_LAZY Tensor _wrapped_quantized_linear_prepacked(const Tensor& input, const Tensor& input_scale, const Tensor& input_zero_point, const Tensor& packed_weight,
                                                    const Tensor& output_scale, const Tensor& output_zero_point, int64_t out_channel) {
  TORCH_CHECK(packed_weight.dim() == 2 && packed_weight.scalar_type() == kDouble && packed_weight.size(0) == out_channel,
              "_wrapped_quantized_linear_prepacked: expected weights of ", out_channel, " channels packed by _wrapped_linear_prepack, but got shape ",
              packed_weight.sizes());
  double scale = input_scale.item<double>(), scale_of_output = output_scale.item<double>();
  int64_t zero = input_zero_point.item<int64_t>(), zero_of_output = output_zero_point.item<int64_t>();
  Tensor numbers = (rlt_packed::quantized(input, scale, zero, 0, 255) - zero) * scale;
  Tensor result = at::linear(numbers, packed_weight.slice(1, 0, -1), packed_weight.select(1, -1));
  return ((rlt_packed::quantized(result, scale_of_output, zero_of_output, 0, 255) - zero_of_output) * scale_of_output).to(kFloat);
}

// ---- Recurrent cells with weights of 8 bits ----

#define RLT_CELL_ARGUMENTS                                                                                                                           \
  const Tensor &w_ih, const Tensor &w_hh, const Tensor &b_ih, const Tensor &b_hh, const Tensor &packed_ih, const Tensor &packed_hh,                  \
      const Tensor &col_offsets_ih, const Tensor &col_offsets_hh, const Scalar &scale_ih, const Scalar &scale_hh, const Scalar &zero_point_ih,       \
      const Scalar &zero_point_hh
#define RLT_CELL_PRODUCTS(state)                                                                                                                     \
  Tensor of_input = at::fbgemm_linear_int8_weight(input, w_ih, packed_ih, col_offsets_ih, scale_ih, zero_point_ih, b_ih);                            \
  Tensor of_state = at::fbgemm_linear_int8_weight(state, w_hh, packed_hh, col_offsets_hh, scale_hh, zero_point_hh, b_hh);
RLT_LAZY std::tuple<Tensor, Tensor> quantized_lstm_cell(const Tensor& input, TensorList hx, RLT_CELL_ARGUMENTS) {
  TORCH_CHECK(hx.size() == 2, "quantized_lstm_cell: expected two hidden states, but got ", hx.size());
  RLT_CELL_PRODUCTS(hx[0])
  auto gates = (of_input + of_state).chunk(4, 1);
  Tensor cell = gates[1].sigmoid() * hx[1] + gates[0].sigmoid() * gates[2].tanh();
  return {gates[3].sigmoid() * cell.tanh(), cell};
}
RLT_LAZY Tensor quantized_gru_cell(const Tensor& input, const Tensor& hx, RLT_CELL_ARGUMENTS) {
  RLT_CELL_PRODUCTS(hx)
  auto by_input = of_input.chunk(3, 1), by_state = of_state.chunk(3, 1);
  Tensor update = (by_input[1] + by_state[1]).sigmoid(), candidate = (by_input[2] + (by_input[0] + by_state[0]).sigmoid() * by_state[2]).tanh();
  return (hx - candidate) * update + candidate;
}
RLT_LAZY Tensor quantized_rnn_relu_cell(const Tensor& input, const Tensor& hx, RLT_CELL_ARGUMENTS) {
  RLT_CELL_PRODUCTS(hx)
  return (of_input + of_state).relu();
}
RLT_LAZY Tensor quantized_rnn_tanh_cell(const Tensor& input, const Tensor& hx, RLT_CELL_ARGUMENTS) {
  RLT_CELL_PRODUCTS(hx)
  return (of_input + of_state).tanh();
}
#undef RLT_CELL_ARGUMENTS
#undef RLT_CELL_PRODUCTS

// ---- 4 bits ----

RLT_LAZY Tensor _convert_weight_to_int4pack_for_cpu(const Tensor& self, int64_t) {
  TORCH_CHECK(self.dim() == 2, "_convert_weight_to_int4pack_for_cpu: expect weight to be 2D tensor.");
  TORCH_CHECK(self.scalar_type() == kInt, "_convert_weight_to_int4pack_for_cpu: expect weight to be kInt.");
  int64_t rows = self.size(0), columns = self.size(1), whole = rows / 64 * 64;
  TORCH_CHECK(rows % 16 == 0, "_convert_weight_to_int4pack_for_cpu: expect N to be dividable by 16");
  TORCH_CHECK(columns % 2 == 0, "_convert_weight_to_int4pack_for_cpu: expect K to be dividable by 2");
  auto bytes = [](const Tensor& low, const Tensor& high) { return low.bitwise_and(15).bitwise_or(high.bitwise_and(15).bitwise_left_shift(4)).reshape({-1}); };
  Tensor blocks = self.narrow(0, 0, whole).reshape({whole / 64, 64, columns}).transpose(1, 2), rest = self.narrow(0, whole, rows - whole).t();
  rest = rest.reshape({columns, (rows - whole) / 2, 2});
  Tensor packed = at::cat({bytes(blocks.narrow(2, 0, 32), blocks.narrow(2, 32, 32)), bytes(rest.select(2, 0), rest.select(2, 1))});
  return packed.reshape({rows, columns / 2}).to(kByte);
}
RLT_LAZY Tensor _weight_int4pack_mm_for_cpu(const Tensor& self, const Tensor& mat2, int64_t qGroupSize, const Tensor& qScaleAndZeros) {
  const char* name = "_weight_int4pack_mm_for_cpu";
  TORCH_CHECK(self.dim() == 2 && self.is_floating_point(), name, ": expect A to be 2D tensor of floating point numbers.");
  TORCH_CHECK(mat2.dim() == 2 && mat2.scalar_type() == kByte, name, ": expect B to be 2D uint8 tensor.");
  TORCH_CHECK(mat2.size(1) * 2 == self.size(1) && mat2.size(0) % 16 == 0, name, ": expect B to have a multiple of 16 rows of K/2 bytes, got ", mat2.sizes());
  TORCH_CHECK(qGroupSize == 32 || qGroupSize == 64 || qGroupSize == 128 || qGroupSize == 256, name, ": expect qGroupSize to be 32, 64, 128 or 256, got ",
              qGroupSize);
  int64_t groups = (self.size(1) + qGroupSize - 1) / qGroupSize;
  TORCH_CHECK(qScaleAndZeros.scalar_type() == self.scalar_type(), "expected scalar type ", self.scalar_type(), " but found ", qScaleAndZeros.scalar_type());
  TORCH_CHECK(qScaleAndZeros.sizes() == IntArrayRef({groups, mat2.size(0), 2}), name, ": expect qScaleAndZeros to be 3d tensor with sizes [", groups, ", ",
              mat2.size(0), ", 2]");
  auto of_weights = [&](int64_t at) { return qScaleAndZeros.select(2, at).to(kFloat).t().repeat_interleave(qGroupSize, 1).narrow(1, 0, self.size(1)); };
  Tensor weights = (rlt_packed::unpacked(mat2).to(kFloat) - 8) * of_weights(0) + of_weights(1);
  return at::matmul(self.to(kFloat), weights.t()).to(self.scalar_type());
}
/// The bytes and then the scales, as float32.
RLT_LAZY Tensor _dyn_quant_pack_4bit_weight(const Tensor& weights, const Tensor& scales_zeros, const std::optional<Tensor>& bias, int64_t block_size,
                                            int64_t in_features, int64_t out_features) {
  const char* name = "_dyn_quant_pack_4bit_weight";
  TORCH_CHECK(weights.scalar_type() == kByte, name, " : expect weight to be kByte.");
  TORCH_CHECK(block_size > 0 && (block_size == in_features || (block_size % 32 == 0 && in_features % block_size == 0)), name,
              ": Group size should be multiple of 32, in_features [", in_features, "]. Provided ", block_size);
  TORCH_CHECK(!bias || !bias->defined(), name, " : Bias is unsupported in reference implementation");
  TORCH_CHECK(in_features % 2 == 0 && weights.numel() == out_features * in_features / 2 && scales_zeros.numel() == out_features * (in_features / block_size), name,
              ": expect ", out_features, " rows of ", in_features, " numbers of 4 bits and their scales, got shapes ", weights.sizes(), " and ", scales_zeros.sizes());
  return at::cat({weights.reshape({-1}).to(kFloat), scales_zeros.reshape({-1}).to(kFloat)});
}
/// The product with each row of the input quantized to int8.
RLT_LAZY Tensor _dyn_quant_matmul_4bit(const Tensor& inp, const Tensor& packed_weights, int64_t block_size, int64_t in_features, int64_t out_features) {
  const char* name = "_dyn_quant_matmul_4bit";
  TORCH_CHECK(inp.scalar_type() == kFloat, name, " : expect input to be 32-bit float tensor.");
  TORCH_CHECK(inp.dim() == 2 && inp.size(1) == in_features && inp.size(0) > 0, name, ": expect input to have shape [M, ", in_features, "], got ", inp.sizes());
  TORCH_CHECK(block_size > 0 && (block_size == in_features || (block_size % 32 == 0 && in_features % block_size == 0)), name,
              ": Group size should be multiple of 32, in_features [", in_features, "]. Provided ", block_size);
  int64_t bytes = out_features * in_features / 2, groups = in_features / block_size;
  TORCH_CHECK(packed_weights.numel() == bytes + out_features * groups, name, ": expect weights packed by _dyn_quant_pack_4bit_weight, got shape ",
              packed_weights.sizes());
  Tensor pairs = packed_weights.narrow(0, 0, bytes).to(kByte), scales = packed_weights.narrow(0, bytes, out_features * groups).reshape({out_features, groups});
  Tensor weights = at::stack({pairs.bitwise_and(15), pairs.bitwise_right_shift(4)}, -1).reshape({out_features, in_features}).to(kFloat) - 8;
  Tensor least = inp.amin({1}, true).clamp_max(0), most = inp.amax({1}, true).clamp_min(0);
  Tensor steps = at::where(least == most, at::ones_like(least), 255 / (most - least));
  Tensor first = -128 - least * steps, last = 127 - most * steps;
  Tensor zero = at::where((least * steps - 128) + (most * steps + 127) > 0, first, last).clamp(-128, 127).round();
  Tensor numbers = ((inp * steps).round() + zero).clamp(-128, 127);
  return at::matmul(numbers - zero, (weights * scales.repeat_interleave(block_size, 1)).t()) / steps;
}

RLT_NAMESPACE_END
}  // namespace at
