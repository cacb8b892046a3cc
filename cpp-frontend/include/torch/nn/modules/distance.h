// Distances between vectors.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/distance.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

/// The cosine similarity of vectors.
class CosineSimilarityImpl : public detail::WithOptions<CosineSimilarityImpl, CosineSimilarityOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::CosineSimilarity(").named("dim", options.dim()).named("eps", options.eps()).close(stream); }
  Tensor forward(const Tensor& input1, const Tensor& input2) { return functional::cosine_similarity(input1, input2, options); }
};
TORCH_MODULE(CosineSimilarity);

/// The norm of the difference.
class PairwiseDistanceImpl : public detail::WithOptions<PairwiseDistanceImpl, PairwiseDistanceOptions> {
 public:
  using WithOptions::WithOptions;
  void pretty_print(std::ostream& stream) const override { detail::Words("torch::nn::PairwiseDistance(").named("p", options.p()).named("eps", options.eps()).named("keepdim", options.keepdim()).close(stream); }
  Tensor forward(const Tensor& input1, const Tensor& input2) { return functional::pairwise_distance(input1, input2, options); }
};
TORCH_MODULE(PairwiseDistance);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
