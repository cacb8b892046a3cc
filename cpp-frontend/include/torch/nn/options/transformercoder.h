// Options of a Transformer's encoder and decoder.
#pragma once

#include <torch/nn/modules/transformerlayer.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

struct TransformerEncoderOptions {
  RLT_LAZY TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers)
      : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
  RLT_LAZY TransformerEncoderOptions(const TransformerEncoderLayerOptions& options, int64_t num_layers)
      : encoder_layer_(TransformerEncoderLayer(options)), num_layers_(num_layers) {}
  /// The layer of which each layer becomes a copy.
  TORCH_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;
  TORCH_ARG(int64_t, num_layers);
  /// What follows the last layer, if anything.
  TORCH_ARG(AnyModule, norm);
};

struct TransformerDecoderOptions {
  RLT_LAZY TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers)
      : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
  RLT_LAZY TransformerDecoderOptions(const TransformerDecoderLayerOptions& options, int64_t num_layers)
      : decoder_layer_(TransformerDecoderLayer(options)), num_layers_(num_layers) {}
  /// The layer of which each layer becomes a copy.
  TORCH_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;
  TORCH_ARG(int64_t, num_layers);
  /// What follows the last layer, if anything.
  TORCH_ARG(AnyModule, norm);
};

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
