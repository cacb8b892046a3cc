// Options of a Transformer's encoder and decoder.
#pragma once

#include <torch/nn/modules/transformerlayer.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
/// TransformerEncoderOptions. (A template, so that only programs that use them compile the layer's holder.)
template <class Layer, class LayerOptions>
struct TransformerEncoderOptionsOf {
  TransformerEncoderOptionsOf(Layer encoder_layer, int64_t num_layers) : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
  TransformerEncoderOptionsOf(const LayerOptions& options, int64_t num_layers) : encoder_layer_(Layer(options)), num_layers_(num_layers) {}
  /// The layer that is copied for each layer.
  TORCH_ARG(Layer, encoder_layer) = nullptr;
  TORCH_ARG(int64_t, num_layers);
  /// Normalization after the last layer, if any.
  TORCH_ARG(AnyModule, norm);
};

/// TransformerDecoderOptions. (A template, so that only programs that use them compile the layer's holder.)
template <class Layer, class LayerOptions>
struct TransformerDecoderOptionsOf {
  TransformerDecoderOptionsOf(Layer decoder_layer, int64_t num_layers) : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
  TransformerDecoderOptionsOf(const LayerOptions& options, int64_t num_layers) : decoder_layer_(Layer(options)), num_layers_(num_layers) {}
  /// The layer that is copied for each layer.
  TORCH_ARG(Layer, decoder_layer) = nullptr;
  TORCH_ARG(int64_t, num_layers);
  /// Normalization after the last layer, if any.
  TORCH_ARG(AnyModule, norm);
};
}  // namespace detail

using TransformerEncoderOptions = detail::TransformerEncoderOptionsOf<TransformerEncoderLayer, TransformerEncoderLayerOptions>;
using TransformerDecoderOptions = detail::TransformerDecoderOptionsOf<TransformerDecoderLayer, TransformerDecoderLayerOptions>;

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
