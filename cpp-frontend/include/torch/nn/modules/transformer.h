// Transformer: an encoder and a decoder that attends to its result (Vaswani et al. 2017).
#pragma once

#include <torch/nn/modules/transformercoder.h>
#include <torch/nn/options/transformer.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
/// The module, compiled where it is used.
template <class Derived>
class TransformerBase : public Cloneable<Derived> {
 public:
  explicit TransformerBase(TransformerOptions options_) : options(std::move(options_)) { TransformerBase::reset(); }

  void reset() override { make(); }
  void reset_parameters() {
    for (const Tensor& parameter : this->parameters()) {
      if (parameter.dim() > 1) init::xavier_uniform_(parameter);
    }
  }
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {}, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& src_key_padding_mask = {}, const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {}) {
    check(src, tgt);
    Tensor memory = encoder.forward(src, src_mask, src_key_padding_mask);
    return decoder.forward(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
  }

  /// A mask that excludes later steps for each step.
  static Tensor generate_square_subsequent_mask(int64_t sz) {
    TORCH_CHECK(sz >= 0, "Input size must be non-negative to generate a valid square subsequent mask, but got ", sz);
    return torch::triu(torch::full({sz, sz}, -std::numeric_limits<double>::infinity(), TensorOptions(kFloat)), 1);
  }

  TransformerOptions options;
  AnyModule encoder;
  AnyModule decoder;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())},
                           {6, AnyValue(Tensor())}, {7, AnyValue(Tensor())})

 private:
  void make() {
    int64_t model = options.d_model();
    if (options.custom_encoder().is_empty()) {
      LayerNorm norm(LayerNormOptions({model}));
      TransformerEncoderLayerOptions layer(model, options.nhead());
      layer.dim_feedforward(options.dim_feedforward()).dropout(options.dropout()).activation(options.activation());
      encoder = AnyModule(TransformerEncoder(TransformerEncoderOptions(layer, options.num_encoder_layers()).norm(AnyModule(norm))));
    } else {
      encoder = options.custom_encoder().clone();
    }
    this->register_module("encoder", encoder.ptr());
    if (options.custom_decoder().is_empty()) {
      LayerNorm norm(LayerNormOptions({model}));
      TransformerDecoderLayerOptions layer(model, options.nhead());
      layer.dim_feedforward(options.dim_feedforward()).dropout(options.dropout()).activation(options.activation());
      decoder = AnyModule(TransformerDecoder(TransformerDecoderOptions(layer, options.num_decoder_layers()).norm(AnyModule(norm))));
    } else {
      decoder = options.custom_decoder().clone();
    }
    this->register_module("decoder", decoder.ptr());
    reset_parameters();
  }
  void check(const Tensor& src, const Tensor& tgt) const {
    TORCH_CHECK(src.dim() == 3 && tgt.dim() == 3, "src and tgt should have 3 dimensions, but got ", src.dim(), " and ", tgt.dim());
    TORCH_CHECK(src.size(1) == tgt.size(1), "src and tgt should have equal batch size (at dim 1), but got ", src.size(1), " and ", tgt.size(1));
    TORCH_CHECK(src.size(2) == options.d_model() && tgt.size(2) == options.d_model(),
                "src and tgt should have same feature size as d_model (at dim 2), but got ", src.size(2), " and ", tgt.size(2), " while d_model is ",
                options.d_model());
  }
};
}  // namespace detail

class TransformerImpl : public detail::TransformerBase<TransformerImpl> {
 public:
  RLT_LAZY explicit TransformerImpl(TransformerOptions options_) : TransformerBase(std::move(options_)) {}
};
TORCH_MODULE(Transformer);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
