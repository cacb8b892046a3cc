// A Transformer's encoder and decoder: stacks of layers.
#pragma once

#include <torch/nn/modules/container/any.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/options/transformercoder.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
/// The module, compiled where it is used.
template <class Derived>
class TransformerEncoderBase : public Cloneable<Derived> {
 public:
  explicit TransformerEncoderBase(TransformerEncoderOptions options_) : options(std::move(options_)) { TransformerEncoderBase::reset(); }

  void reset() override {
    layers = this->register_module("layers", ModuleList());
    for (int64_t i = 0; i < options.num_layers(); ++i) layers->push_back(options.encoder_layer()->clone());
    if (!options.norm().is_empty()) {
      norm = options.norm().clone();
      this->register_module("norm", norm.ptr());
    }
  }
  /// The norm becomes a copy of that in the options again.
  void reset_parameters() {
    TORCH_CHECK(static_cast<int64_t>(layers->size()) == options.num_layers(), "TransformerEncoder should have ", options.num_layers(),
                " encoder layers, but got ", layers->size());
    for (const auto& layer : *layers) layer->template as<TransformerEncoderLayer>()->reset_parameters();
    if (!norm.is_empty()) {
      this->unregister_module("norm");
      norm = AnyModule();
    }
    if (!options.norm().is_empty()) {
      norm = options.norm().clone();
      this->register_module("norm", norm.ptr());
    }
  }
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {}) {
    Tensor output = src;
    for (const auto& layer : *layers) output = layer->template as<TransformerEncoderLayer>()->forward(output, src_mask, src_key_padding_mask);
    return norm.is_empty() ? output : norm.forward(output);
  }

  TransformerEncoderOptions options;
  ModuleList layers = nullptr;
  AnyModule norm;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
}  // namespace detail

class TransformerEncoderImpl : public detail::TransformerEncoderBase<TransformerEncoderImpl> {
 public:
  RLT_LAZY TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers)
      : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}
  RLT_LAZY explicit TransformerEncoderImpl(TransformerEncoderOptions options_) : TransformerEncoderBase(std::move(options_)) {}
};
TORCH_MODULE(TransformerEncoder);

namespace detail {
/// The module, compiled where it is used.
template <class Derived>
class TransformerDecoderBase : public Cloneable<Derived> {
 public:
  explicit TransformerDecoderBase(TransformerDecoderOptions options_) : options(std::move(options_)) { TransformerDecoderBase::reset(); }

  void reset() override {
    layers = this->register_module("layers", ModuleList());
    for (int64_t i = 0; i < options.num_layers(); ++i) layers->push_back(options.decoder_layer()->clone());
    if (!options.norm().is_empty()) {
      norm = options.norm().clone();
      this->register_module("norm", norm.ptr());
    }
  }
  /// The norm becomes a copy of that in the options again.
  void reset_parameters() {
    TORCH_CHECK(static_cast<int64_t>(layers->size()) == options.num_layers(), "TransformerDecoder should have ", options.num_layers(),
                " decoder layers, but got ", layers->size());
    for (const auto& layer : *layers) layer->template as<TransformerDecoderLayer>()->reset_parameters();
    if (!norm.is_empty()) {
      this->unregister_module("norm");
      norm = AnyModule();
    }
    if (!options.norm().is_empty()) {
      norm = options.norm().clone();
      this->register_module("norm", norm.ptr());
    }
  }
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {}) {
    Tensor output = tgt;
    for (const auto& layer : *layers) {
      output = layer->template as<TransformerDecoderLayer>()->forward(output, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
    }
    return norm.is_empty() ? output : norm.forward(output);
  }

  TransformerDecoderOptions options;
  ModuleList layers{nullptr};
  AnyModule norm;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())})
};
}  // namespace detail

class TransformerDecoderImpl : public detail::TransformerDecoderBase<TransformerDecoderImpl> {
 public:
  RLT_LAZY TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers)
      : TransformerDecoderImpl(TransformerDecoderOptions(std::move(decoder_layer), num_layers)) {}
  RLT_LAZY explicit TransformerDecoderImpl(TransformerDecoderOptions options_) : TransformerDecoderBase(std::move(options_)) {}
};
TORCH_MODULE(TransformerDecoder);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
