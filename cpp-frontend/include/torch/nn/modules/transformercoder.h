// A Transformer's encoder and decoder: stacks of layers.
#pragma once

#include <torch/nn/modules/container/any.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/options/transformercoder.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {

struct EncoderStack {
  using Options = TransformerEncoderOptions;
  using Layer = TransformerEncoderLayer;
  static constexpr const char* name = "TransformerEncoder";
  static constexpr const char* layers = "encoder";
  static const Layer& layer(const Options& options) { return options.encoder_layer(); }
};

struct DecoderStack {
  using Options = TransformerDecoderOptions;
  using Layer = TransformerDecoderLayer;
  static constexpr const char* name = "TransformerDecoder";
  static constexpr const char* layers = "decoder";
  static const Layer& layer(const Options& options) { return options.decoder_layer(); }
};

/// A stack of copies of a layer, followed by a normalization. Compiled where it is used.
template <class Derived, class Kind>
class TransformerStack : public Cloneable<Derived> {
 public:
  using Options = typename Kind::Options;
  explicit TransformerStack(Options options_) : options(std::move(options_)) { TransformerStack::reset(); }

  void reset() override {
    layers = this->register_module("layers", ModuleList());
    for (int64_t i = 0; i < options.num_layers(); ++i) layers->push_back(Kind::layer(options)->clone());
    copy_norm();
  }
  /// The normalization is copied from the options again.
  void reset_parameters() {
    TORCH_CHECK(static_cast<int64_t>(layers->size()) == options.num_layers(), Kind::name, " should have ", options.num_layers(), " ", Kind::layers,
                " layers, but got ", layers->size());
    for (const auto& layer : *layers) layer->template as<typename Kind::Layer>()->reset_parameters();
    if (!norm.is_empty()) {
      this->unregister_module("norm");
      norm = AnyModule();
    }
    copy_norm();
  }

  Options options;
  ModuleList layers = nullptr;
  AnyModule norm;

 protected:
  /// Applies all layers to `output`, each with `others` as further arguments, and the normalization.
  template <class... Others>
  Tensor pass(Tensor output, const Others&... others) {
    for (const auto& layer : *layers) output = layer->template as<typename Kind::Layer>()->forward(output, others...);
    return norm.is_empty() ? output : norm.forward(output);
  }

 private:
  void copy_norm() {
    if (options.norm().is_empty()) return;
    norm = options.norm().clone();
    this->register_module("norm", norm.ptr());
  }
};

template <class Derived>
class TransformerEncoderBase : public TransformerStack<Derived, EncoderStack> {
 public:
  using TransformerStack<Derived, EncoderStack>::TransformerStack;

  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {}) {
    return this->pass(src, src_mask, src_key_padding_mask);
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};

template <class Derived>
class TransformerDecoderBase : public TransformerStack<Derived, DecoderStack> {
 public:
  using TransformerStack<Derived, DecoderStack>::TransformerStack;

  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {}) {
    return this->pass(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())})
};

}  // namespace detail

class TransformerEncoderImpl : public detail::TransformerEncoderBase<TransformerEncoderImpl> {
 public:
  RLT_LAZY TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers)
      : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}
  RLT_LAZY explicit TransformerEncoderImpl(TransformerEncoderOptions options_) : TransformerEncoderBase(std::move(options_)) {}
};
TORCH_MODULE(TransformerEncoder);

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
