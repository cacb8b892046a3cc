// Layers, losses and functional forms, as libtorch has them: tests/data/semantics_layers.expected.txt.
//
// The same source, compiled against Rushlight, must print the same bytes: printed modules, initial parameters for a
// seed, results, and errors.

#include "show.h"

#include <cmath>
#include <vector>

using namespace torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

namespace {

void printing() {
  std::cout << Identity() << "\n";
  std::cout << Linear(3,4) << "\n";
  std::cout << Bilinear(3,2,4) << "\n";
  std::cout << Flatten() << "\n";
  std::cout << Unflatten(UnflattenOptions(1,{2,3})) << "\n";
  std::cout << Unflatten(UnflattenOptions("B",{{"B1",2},{"B2",2}})) << "\n";
  std::cout << ELU() << "\n";
  std::cout << ELU(ELUOptions().inplace(true)) << "\n";
  std::cout << SELU() << "\n";
  std::cout << SELU(true) << "\n";
  std::cout << Hardshrink() << "\n";
  std::cout << Hardtanh() << "\n";
  std::cout << LeakyReLU() << "\n";
  std::cout << LogSigmoid() << "\n";
  std::cout << Softmax(1) << "\n";
  std::cout << Softmin(1) << "\n";
  std::cout << LogSoftmax(1) << "\n";
  std::cout << Softmax2d() << "\n";
  std::cout << PReLU() << "\n";
  std::cout << ReLU() << "\n";
  std::cout << ReLU6(true) << "\n";
  std::cout << RReLU() << "\n";
  std::cout << CELU() << "\n";
  std::cout << GLU() << "\n";
  std::cout << GELU() << "\n";
  std::cout << GELU(GELUOptions().approximate("tanh")) << "\n";
  std::cout << SiLU() << "\n";
  std::cout << Mish() << "\n";
  std::cout << Sigmoid() << "\n";
  std::cout << Softplus() << "\n";
  std::cout << Softshrink() << "\n";
  std::cout << Softsign() << "\n";
  std::cout << Tanh() << "\n";
  std::cout << Tanhshrink() << "\n";
  std::cout << Threshold(0.1,20) << "\n";
  std::cout << Threshold(ThresholdOptions(1,2).inplace(true)) << "\n";
  std::cout << BatchNorm1d(3) << "\n";
  std::cout << BatchNorm2d(BatchNorm2dOptions(3).momentum(std::nullopt)) << "\n";
  std::cout << BatchNorm3d(BatchNormOptions(3).affine(false).track_running_stats(false)) << "\n";
  std::cout << InstanceNorm1d(3) << "\n";
  std::cout << InstanceNorm2d(InstanceNormOptions(3).affine(true)) << "\n";
  std::cout << InstanceNorm3d(3) << "\n";
  std::cout << Conv1d(3,4,5) << "\n";
  std::cout << Conv2d(3,4,5) << "\n";
  std::cout << Conv2d(Conv2dOptions(4,4,{3,5}).stride({1,2}).padding({1,2}).dilation(2).groups(2).bias(false).padding_mode(torch::kReflect)) << "\n";
  std::cout << Conv2d(Conv2dOptions(4,4,3).padding(torch::kSame)) << "\n";
  std::cout << Conv3d(Conv3dOptions(4,4,3).padding(torch::kValid).padding_mode(torch::kCircular)) << "\n";
  std::cout << ConvTranspose1d(ConvTranspose1dOptions(4,4,3).stride(2).output_padding(1).padding(1)) << "\n";
  std::cout << ConvTranspose2d(3,4,3) << "\n";
  std::cout << ConvTranspose3d(3,4,3) << "\n";
  std::cout << CosineSimilarity() << "\n";
  std::cout << PairwiseDistance() << "\n";
  std::cout << Dropout() << "\n";
  std::cout << Dropout2d(0.3) << "\n";
  std::cout << Dropout3d(DropoutOptions(0.25).inplace(true)) << "\n";
  std::cout << AlphaDropout() << "\n";
  std::cout << FeatureAlphaDropout(0.1) << "\n";
  std::cout << Embedding(3,4) << "\n";
  std::cout << Embedding(EmbeddingOptions(10,2).padding_idx(-3).max_norm(2).norm_type(2.5).scale_grad_by_freq(true).sparse(true)) << "\n";
  std::cout << EmbeddingBag(3,4) << "\n";
  std::cout << EmbeddingBag(EmbeddingBagOptions(10,2).mode(torch::kMax).include_last_offset(true).padding_idx(4).max_norm(1.5)) << "\n";
  std::cout << Fold(FoldOptions({2,2},{5,5})) << "\n";
  std::cout << Fold(FoldOptions(4,{2,3})) << "\n";
  std::cout << Unfold(2) << "\n";
  std::cout << PixelShuffle(2) << "\n";
  std::cout << PixelUnshuffle(2) << "\n";
  std::cout << L1Loss() << "\n";
  std::cout << KLDivLoss() << "\n";
  std::cout << MSELoss() << "\n";
  std::cout << BCELoss() << "\n";
  std::cout << HingeEmbeddingLoss() << "\n";
  std::cout << MultiMarginLoss() << "\n";
  std::cout << MultiMarginLoss(MultiMarginLossOptions().p(2).margin(0.5).weight(torch::ones({2})).reduction(torch::kSum)) << "\n";
  std::cout << CosineEmbeddingLoss() << "\n";
  std::cout << SmoothL1Loss() << "\n";
  std::cout << HuberLoss() << "\n";
  std::cout << MultiLabelMarginLoss() << "\n";
  std::cout << SoftMarginLoss() << "\n";
  std::cout << MultiLabelSoftMarginLoss() << "\n";
  std::cout << TripletMarginLoss() << "\n";
  std::cout << TripletMarginWithDistanceLoss() << "\n";
  std::cout << CTCLoss() << "\n";
  std::cout << PoissonNLLLoss() << "\n";
  std::cout << MarginRankingLoss() << "\n";
  std::cout << NLLLoss() << "\n";
  std::cout << CrossEntropyLoss() << "\n";
  std::cout << BCEWithLogitsLoss() << "\n";
  std::cout << LayerNorm(LayerNormOptions({2,3})) << "\n";
  std::cout << LayerNorm(LayerNormOptions({4}).elementwise_affine(false)) << "\n";
  std::cout << GroupNorm(2,4) << "\n";
  std::cout << LocalResponseNorm(3) << "\n";
  std::cout << CrossMapLRN2d(3) << "\n";
  std::cout << ReflectionPad1d(1) << "\n";
  std::cout << ReflectionPad2d(1) << "\n";
  std::cout << ReflectionPad3d(1) << "\n";
  std::cout << ReplicationPad1d(1) << "\n";
  std::cout << ReplicationPad2d(1) << "\n";
  std::cout << ReplicationPad3d(1) << "\n";
  std::cout << ZeroPad1d(1) << "\n";
  std::cout << ZeroPad2d(1) << "\n";
  std::cout << ZeroPad3d(1) << "\n";
  std::cout << ConstantPad1d(1,2.5) << "\n";
  std::cout << ConstantPad2d(1,2.5) << "\n";
  std::cout << ConstantPad3d(1,2) << "\n";
  std::cout << AvgPool1d(2) << "\n";
  std::cout << AvgPool2d(2) << "\n";
  std::cout << AvgPool3d(2) << "\n";
  std::cout << MaxPool1d(2) << "\n";
  std::cout << MaxPool2d(2) << "\n";
  std::cout << MaxPool3d(MaxPool3dOptions(2).ceil_mode(true)) << "\n";
  std::cout << AdaptiveMaxPool1d(2) << "\n";
  std::cout << AdaptiveMaxPool2d(2) << "\n";
  std::cout << AdaptiveMaxPool3d(AdaptiveMaxPool3dOptions({5,std::nullopt,7})) << "\n";
  std::cout << AdaptiveAvgPool1d(2) << "\n";
  std::cout << AdaptiveAvgPool2d(2) << "\n";
  std::cout << AdaptiveAvgPool3d(2) << "\n";
  std::cout << MaxUnpool1d(2) << "\n";
  std::cout << MaxUnpool2d(2) << "\n";
  std::cout << MaxUnpool3d(2) << "\n";
  std::cout << FractionalMaxPool2d(FractionalMaxPool2dOptions(2).output_size(3)) << "\n";
  std::cout << FractionalMaxPool3d(FractionalMaxPool3dOptions(2).output_ratio(0.5)) << "\n";
  std::cout << LPPool1d(2,3) << "\n";
  std::cout << LPPool2d(1.5,3) << "\n";
  std::cout << LPPool3d(2,3) << "\n";
  std::cout << Upsample(UpsampleOptions().scale_factor(std::vector<double>{2,2.5}).mode(torch::kBicubic)) << "\n";
  std::cout << Upsample(UpsampleOptions().size(std::vector<int64_t>{4})) << "\n";
}

/// The sum of a tensor and of its products with 0, 1, 2, ...: enough to detect a different order of the same numbers.
std::string sums(const Tensor& tensor) {
  Tensor flat = tensor.detach().to(torch::kDouble).flatten();
  Tensor places = torch::arange(flat.numel(), torch::kDouble);
  double sum = flat.sum().item<double>(), weighted = (flat * places).sum().item<double>() / (1 + flat.numel());
  return oracle::rounded(std::abs(sum) < 5e-5 ? 0 : sum) + " " + oracle::rounded(std::abs(weighted) < 5e-5 ? 0 : weighted);
}

void show(const char* name, const Tensor& tensor) { std::cout << name << " " << tensor.sizes() << " " << sums(tensor) << "\n"; }

/// Parameters after a seed, the output, and the gradient of the input.
template <class M, class... More>
void run(const char* name, M module, Tensor input, const More&... more) {
  for (const auto& parameter : module->named_parameters()) show((std::string(name) + "." + parameter.key()).c_str(), parameter.value());
  for (const auto& buffer : module->named_buffers()) show((std::string(name) + "." + buffer.key()).c_str(), buffer.value());
  if (input.is_floating_point()) input.requires_grad_();
  Tensor output = module->forward(input, more...);
  show(name, output);
  output.pow(2).sum().backward();
  if (input.grad().defined()) show("  gradient", input.grad());
}

#define RUN(...)          \
  torch::manual_seed(11); \
  run(#__VA_ARGS__, __VA_ARGS__)

Tensor numbers(torch::IntArrayRef shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return torch::arange(count, torch::kFloat).mul(0.7f).sin().reshape(shape);
}

void layers() {
  RUN(Linear(4, 3), numbers({2, 4}));
  RUN(Bilinear(4, 3, 2), numbers({2, 4}), numbers({2, 3}));
  RUN(Conv1d(Conv1dOptions(2, 4, 3).padding(torch::kSame).dilation(2)), numbers({2, 2, 9}));
  RUN(Conv2d(Conv2dOptions(4, 6, {3, 2}).stride({2, 1}).padding({1, 2}).groups(2)), numbers({2, 4, 7, 6}));
  RUN(Conv2d(Conv2dOptions(2, 3, 3).padding({1, 2}).padding_mode(torch::kCircular).bias(false)), numbers({1, 2, 5, 6}));
  RUN(Conv2d(Conv2dOptions(2, 3, {2, 4}).padding(torch::kSame).padding_mode(torch::kReflect)), numbers({1, 2, 5, 6}));
  RUN(Conv3d(Conv3dOptions(2, 2, 2).padding(1).padding_mode(torch::kReplicate)), numbers({1, 2, 3, 4, 5}));
  RUN(ConvTranspose1d(ConvTranspose1dOptions(2, 3, 3).stride(2).output_padding(1)), numbers({2, 2, 5}));
  RUN(ConvTranspose2d(ConvTranspose2dOptions(2, 4, 3).stride(2).groups(2)), numbers({1, 2, 4, 5}), std::vector<int64_t>{10, 12});
  RUN(ConvTranspose3d(2, 3, 2), numbers({1, 2, 3, 3, 3}));
  RUN(BatchNorm1d(3), numbers({4, 3}));
  RUN(BatchNorm2d(BatchNorm2dOptions(2).momentum(std::nullopt)), numbers({2, 2, 3, 3}));
  RUN(InstanceNorm2d(InstanceNorm2dOptions(2).affine(true).track_running_stats(true)), numbers({2, 2, 3, 3}));
  RUN(InstanceNorm1d(2), numbers({2, 5}));
  RUN(LayerNorm(LayerNormOptions({3, 4})), numbers({2, 3, 4}));
  RUN(GroupNorm(2, 4), numbers({2, 4, 3}));
  RUN(LocalResponseNorm(LocalResponseNormOptions(3).alpha(0.5)), numbers({2, 5, 3, 2}));
  RUN(CrossMapLRN2d(CrossMapLRN2dOptions(4).alpha(0.5)), numbers({2, 5, 3, 2}));
  RUN(Embedding(EmbeddingOptions(5, 3).padding_idx(-2).max_norm(1.0)), torch::tensor({{0, 3}, {4, 1}}));
  RUN(EmbeddingBag(EmbeddingBagOptions(5, 3).mode(torch::kSum)), torch::tensor({{0, 3}, {4, 1}}));
  RUN(MaxPool2d(MaxPool2dOptions(3).stride(2).padding(1)), numbers({1, 2, 7, 6}));
  RUN(AvgPool3d(AvgPool3dOptions(2).divisor_override(3)), numbers({1, 1, 4, 4, 4}));
  RUN(LPPool2d(3, 2), numbers({1, 2, 4, 4}).abs());
  RUN(AdaptiveAvgPool2d(AdaptiveAvgPool2dOptions({3, std::nullopt})), numbers({1, 2, 7, 6}));
  RUN(AdaptiveMaxPool1d(3), numbers({2, 7}));
  RUN(FractionalMaxPool2d(FractionalMaxPool2dOptions(2).output_ratio(0.6)), numbers({1, 2, 7, 6}));
  RUN(Dropout2d(0.4), numbers({2, 5, 2, 2}));
  RUN(AlphaDropout(0.4), numbers({3, 5}));
  RUN(FeatureAlphaDropout(0.4), numbers({2, 5, 2}));
  RUN(RReLU(), numbers({3, 5}));
  RUN(PReLU(PReLUOptions().num_parameters(3)), numbers({2, 3, 2}));
  RUN(Upsample(UpsampleOptions().scale_factor(std::vector<double>{2, 1.5}).mode(torch::kBilinear).align_corners(true)), numbers({1, 2, 3, 4}));
  RUN(Fold(FoldOptions({4, 5}, {2, 2}).padding(1)), numbers({1, 8, 30}));
  RUN(Unfold(UnfoldOptions({2, 3}).dilation(2)), numbers({1, 2, 5, 6}));
  RUN(ReflectionPad2d(ReflectionPad2dOptions({1, 2, 0, 1})), numbers({1, 2, 3, 4}));
  RUN(Softmin(1), numbers({2, 3}));
}

void losses() {
  Tensor input = numbers({4, 3}), target = numbers({3, 4}).t(), classes = torch::tensor({0, 2, 1, 1});
  RUN(SmoothL1Loss(SmoothL1LossOptions().beta(0.3)), input, target);
  RUN(HuberLoss(HuberLossOptions(torch::kSum).delta(0.3)), input, target);
  RUN(KLDivLoss(KLDivLossOptions(torch::kBatchMean)), input, target.softmax(1));
  RUN(BCEWithLogitsLoss(BCEWithLogitsLossOptions().pos_weight(torch::tensor({1., 2., 3.}))), input, target.sigmoid());
  RUN(MultiMarginLoss(MultiMarginLossOptions().p(2).weight(torch::tensor({1.f, 2.f, 3.f}))), input, classes);
  RUN(MultiLabelSoftMarginLoss(), input, target.gt(0).to(torch::kFloat));
  RUN(TripletMarginLoss(TripletMarginLossOptions().swap(true)), input, target, numbers({4, 3}).cos());
  RUN(TripletMarginWithDistanceLoss(), input, target, numbers({4, 3}).cos());
  RUN(CrossEntropyLoss(CrossEntropyLossOptions().label_smoothing(0.1).weight(torch::tensor({1.f, 2.f, 3.f}))), input, classes);
  RUN(NLLLoss(NLLLossOptions().ignore_index(1).reduction(torch::kSum)), input, classes);
  RUN(PoissonNLLLoss(PoissonNLLLossOptions().full(true)), input, target.exp() + 1);
  RUN(HingeEmbeddingLoss(), input, target.sign());
  RUN(CTCLoss(), numbers({6, 2, 4}).log_softmax(2).detach(), torch::tensor({{1, 2}, {3, 3}}), torch::tensor({6, 6}), torch::tensor({2, 2}));
}

/// The binary cross entropy pairs elements in order, ignoring dimensions of size one.
void pairs() {
  for (auto [from, to] : {std::pair<std::vector<int64_t>, std::vector<int64_t>>{{4, 1}, {4}}, {{4}, {4, 1}}, {{1, 4}, {4, 1}}, {{2, 3}, {3}}}) {
    Tensor input = numbers(from).sigmoid().requires_grad_(), target = numbers(to).cos().sigmoid();
    show("bce", torch::binary_cross_entropy(input, target, {}, at::Reduction::None));
    torch::binary_cross_entropy(input, target).backward();
    show("  gradient", input.grad());
  }
}

void errors() {
  ERROR_OF("groups", Conv2d(Conv2dOptions(3, 4, 2).groups(2)));
  ERROR_OF("no channels", Conv1d(0, 4, 2));
  ERROR_OF("same, strided", Conv1d(Conv1dOptions(2, 4, 3).padding(torch::kSame).stride(2)));
  ERROR_OF("output_size", ConvTranspose2d(2, 3, 2)->forward(numbers({1, 2, 3, 3}), std::vector<int64_t>{9, 4}));
  ERROR_OF("dimensions", BatchNorm2d(3)->forward(numbers({2, 3})));
  ERROR_OF("dimensions", InstanceNorm1d(3)->forward(numbers({3})));
  ERROR_OF("one value", BatchNorm1d(3)->forward(numbers({1, 3})));
  ERROR_OF("expanding", AvgPool2d(AvgPool2dOptions({1, 2, 3})));
  ERROR_OF("probability", Dropout3d(1.5));
  ERROR_OF("padding_idx", Embedding(EmbeddingOptions(3, 2).padding_idx(3)));
  ERROR_OF("pretrained", Embedding::from_pretrained(numbers({3})));
  ERROR_OF("bags", F::embedding_bag(torch::tensor({1, 2}), numbers({3, 2})));
  ERROR_OF("unpool", F::max_unpool1d(numbers({1, 1, 2}), torch::tensor({{{0, 2}}}), F::MaxUnpool1dFuncOptions(2).output_size(std::vector<int64_t>{1, 1, 9})));
  ERROR_OF("fractional", FractionalMaxPool2d(2));
  ERROR_OF("fractional", FractionalMaxPool3d(FractionalMaxPool3dOptions(2).output_ratio(1.5)));
  ERROR_OF("hardtanh", Hardtanh(HardtanhOptions().min_val(2)));
  ERROR_OF("softmax2d", Softmax2d()->forward(numbers({2})));
  ERROR_OF("interpolate", F::interpolate(numbers({1, 1, 4})));
  ERROR_OF("interpolate", F::interpolate(numbers({1, 1, 4}), F::InterpolateFuncOptions().size(std::vector<int64_t>{2}).align_corners(true)));
  ERROR_OF("interpolate", F::interpolate(numbers({1, 1, 4}), F::InterpolateFuncOptions().size(std::vector<int64_t>{2}).mode(torch::kBilinear).align_corners(true)));
  ERROR_OF("affine_grid", F::affine_grid(numbers({1, 2, 3}), {1, 2, 3}));
  ERROR_OF("affine_grid", F::affine_grid(numbers({1, 2, 2}), {1, 1, 2, 3}));
  ERROR_OF("bce", F::binary_cross_entropy(numbers({2}), numbers({3})));
  ERROR_OF("bce", F::binary_cross_entropy_with_logits(numbers({2}), numbers({3})));
  ERROR_OF("nll", F::nll_loss(numbers({2}), torch::tensor({1, 0})));
  ERROR_OF("fold", F::fold(numbers({2}), F::FoldFuncOptions(2, 2)));
  ERROR_OF("dirac", init::dirac_(numbers({2, 2})));
  ERROR_OF("sparse", init::sparse_(numbers({2}), 0.5));
}

void initialisation() {
  torch::manual_seed(5);
  show("sparse_", init::sparse_(torch::empty({7, 4}), 0.4));
  show("dirac_", init::dirac_(torch::ones({3, 4, 3, 2})));
  show("kaiming_normal_", init::kaiming_normal_(torch::empty({4, 5}), 0.1, torch::kFanOut, torch::kReLU));
  show("xavier_uniform_", init::xavier_uniform_(torch::empty({4, 5, 2})));
  torch::manual_seed(6);
  show("gumbel_softmax", F::gumbel_softmax(numbers({3, 4}), F::GumbelSoftmaxFuncOptions().hard(true)));
}

}  // namespace

int main() {
  printing();
  layers();
  losses();
  pairs();
  errors();
  initialisation();
}
