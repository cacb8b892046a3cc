// Convolutions: layers of the six networks, and every other kind: depthwise of all sizes and strides, grouped, dilated,
// transposed, of one and three dimensions; channels first and last, forward and with both gradients.
#include "harness.h"

#include <string>
#include <vector>

namespace compare {
namespace {

using torch::Tensor;
using Sizes = std::vector<int64_t>;

/// A layer. The sizes of the image without samples and channels have one to three elements.
struct Layer {
  const char* kind;
  int64_t samples, in, out;
  Sizes image;
  int64_t kernel, stride = 1, padding = 0, dilation = 1, groups = 1;
  bool transposed = false, last = false;

  std::string text() const {
    std::string text = std::to_string(samples) + 'x' + std::to_string(in);
    for (int64_t size : image) text += 'x' + std::to_string(size);
    text += " to " + std::to_string(out) + " by " + std::to_string(kernel);
    if (stride > 1) text += ", stride " + std::to_string(stride);
    if (dilation > 1) text += ", dilation " + std::to_string(dilation);
    if (groups > 1) text += ", groups " + std::to_string(groups);
    return text + (last ? ", channels last" : "");
  }

  double operations() const {
    double count = 2.0 * static_cast<double>(samples * in * out / groups);
    for (int64_t size : image) {
      int64_t positions = transposed ? size : (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
      count *= static_cast<double>(positions * kernel);
    }
    return count;
  }

  Sizes with(int64_t first, int64_t second, const Sizes& rest) const {
    Sizes sizes = {first, second};
    sizes.insert(sizes.end(), rest.begin(), rest.end());
    return sizes;
  }

  /// Random numbers in the format of the layer's images, generated in the order of their indices.
  Tensor random(torch::IntArrayRef sizes) const {
    Tensor tensor = torch::randn(sizes);
    return last ? tensor.contiguous(image.size() == 3 ? torch::MemoryFormat::ChannelsLast3d : torch::MemoryFormat::ChannelsLast) : tensor;
  }

  Tensor input() const { return random(with(samples, in, image)); }

  Tensor weight() const {
    Sizes sizes(image.size(), kernel);
    return torch::randn(transposed ? with(in, out / groups, sizes) : with(out, in / groups, sizes)) * 0.1;
  }
};

/// Every function of a layer's kind has these arguments.
Tensor forward(const Layer& l, const Tensor& input, const Tensor& weight) {
  Sizes stride(l.image.size(), l.stride), padding(l.image.size(), l.padding), dilation(l.image.size(), l.dilation);
  Sizes none(l.image.size(), 0);
  return torch::convolution(input, weight, {}, stride, padding, dilation, l.transposed, none, l.groups);
}

void layer(const Layer& l) {
  auto make_input = [l] { return l.input(); };
  auto make_weight = [l] { return l.weight(); };
  std::string kind = l.kind;
  {
    Lazy input(make_input), weight(make_weight);
    auto call = [l](const Tensor& x, const Tensor& w) {
      torch::NoGradGuard guard;
      return forward(l, x, w);
    };
    measure({"convolution", kind, l.text(), 0, l.operations()}, call, input, weight);
  }
  Lazy input([=] { return make_input().requires_grad_(); }), weight([=] { return make_weight().requires_grad_(); });
  Lazy gradient([l, make_input, make_weight] {
    Tensor out = forward(l, make_input(), make_weight());
    return l.random(out.sizes());
  });
  auto step = [l](Tensor& x, Tensor& w, const Tensor& g) {
    x.mutable_grad() = Tensor();
    w.mutable_grad() = Tensor();
    forward(l, x, w).backward(g);
    return w.grad();
  };
  measure({"convolution", kind + ", step", l.text(), 0, 3 * l.operations()}, step, input, weight, gradient);
}

}  // namespace

void convolution() {
  Sizes s224 = {224, 224}, s56 = {56, 56}, s28 = {28, 28}, s14 = {14, 14}, s7 = {7, 7};
  const std::vector<Layer> layers = {
      // The networks.
      {"plain", 2, 3, 64, s224, 7, 2, 3},
      {"plain", 2, 64, 64, s56, 3, 1, 1},
      {"plain", 2, 128, 128, s28, 3, 1, 1},
      {"plain", 2, 256, 256, s14, 3, 1, 1},
      {"plain", 2, 512, 512, s7, 3, 1, 1},
      {"strided", 2, 128, 128, s56, 3, 2, 1},
      {"strided", 2, 256, 512, s14, 3, 2, 1},
      {"pointwise", 2, 64, 256, s56, 1},
      {"pointwise", 2, 512, 128, s28, 1},
      {"pointwise", 2, 1024, 256, s14, 1},
      {"pointwise", 2, 512, 2048, s7, 1},
      {"pointwise", 2, 256, 512, s56, 1, 2},
      {"plain", 1, 3, 64, s224, 3, 1, 1},
      {"plain", 1, 256, 256, s56, 3, 1, 1},
      {"plain", 4, 3, 64, s224, 11, 4, 2},
      {"plain", 4, 64, 192, {27, 27}, 5, 1, 2},
      {"plain", 4, 192, 384, {13, 13}, 3, 1, 1},
      {"plain", 8, 1, 32, s28, 5},
      {"plain", 8, 32, 64, {12, 12}, 5},
      {"plain", 4, 32, 32, {32, 32}, 7, 1, 3},
      {"plain", 4, 16, 32, {32, 32}, 3, 1, 1},
      {"strided", 4, 32, 64, {32, 32}, 5, 2, 2},
      {"strided", 2, 3, 32, s224, 3, 2, 1},
      // Depthwise.
      {"depthwise", 2, 32, 32, {112, 112}, 3, 1, 1, 1, 32},
      {"depthwise", 2, 96, 96, {112, 112}, 3, 2, 1, 1, 96},
      {"depthwise", 2, 144, 144, s56, 3, 1, 1, 1, 144},
      {"depthwise", 2, 192, 192, s28, 3, 2, 1, 1, 192},
      {"depthwise", 2, 576, 576, s14, 3, 1, 1, 1, 576},
      {"depthwise", 2, 576, 576, s14, 3, 2, 1, 1, 576},
      {"depthwise", 2, 960, 960, s7, 3, 1, 1, 1, 960},
      {"depthwise", 1, 240, 240, {20, 20}, 5, 1, 2, 1, 240},
      {"depthwise", 2, 240, 240, s28, 5, 2, 2, 1, 240},
      {"depthwise", 2, 96, 96, s56, 7, 1, 3, 1, 96},
      {"depthwise", 2, 96, 96, s28, 3, 1, 2, 2, 96},
      {"depthwise", 2, 32, 64, s28, 3, 1, 1, 1, 32},
      {"depthwise", 4, 64, 64, {256}, 4, 1, 3, 1, 64},
      {"depthwise", 2, 144, 144, s56, 3, 1, 1, 1, 144, false, true},
      {"depthwise", 2, 192, 192, s28, 3, 2, 1, 1, 192, false, true},
      {"depthwise", 2, 240, 240, s28, 5, 1, 2, 1, 240, false, true},
      {"depthwise", 2, 96, 96, s56, 7, 1, 3, 1, 96, false, true},
      // Grouped.
      {"grouped", 2, 128, 128, s56, 3, 1, 1, 1, 32},
      {"grouped", 2, 256, 256, s28, 3, 1, 1, 1, 32},
      {"grouped", 2, 64, 64, s28, 3, 1, 1, 1, 2},
      {"grouped", 2, 96, 96, s14, 5, 1, 2, 1, 4},
      {"grouped", 2, 240, 240, s28, 1, 1, 0, 1, 3},
      {"grouped", 2, 128, 128, s28, 3, 1, 1, 1, 32, false, true},
      // Dilated.
      {"dilated", 2, 64, 64, s28, 3, 1, 2, 2},
      {"dilated", 1, 256, 256, s28, 3, 1, 4, 4},
      // Transposed.
      {"transposed", 2, 64, 32, s28, 4, 2, 1, 1, 1, true},
      {"transposed", 2, 256, 128, s14, 4, 2, 1, 1, 1, true},
      {"transposed", 2, 128, 64, s14, 2, 2, 0, 1, 1, true},
      {"transposed", 2, 64, 64, s28, 3, 1, 1, 1, 1, true},
      {"transposed", 2, 64, 32, s28, 4, 2, 1, 1, 1, true, true},
      // One and three dimensions.
      {"1-d", 4, 64, 128, {512}, 3, 1, 1},
      {"1-d", 4, 40, 64, {1000}, 5, 2, 2},
      {"3-d", 1, 16, 32, {16, 32, 32}, 3, 1, 1},
      {"3-d", 2, 32, 64, {8, 16, 16}, 3, 2, 1},
      {"3-d", 1, 32, 32, {8, 28, 28}, 3, 1, 1, 1, 1, false, true},
      // Channels last.
      {"channels last", 2, 3, 64, s224, 7, 2, 3, 1, 1, false, true},
      {"channels last", 2, 64, 64, s56, 3, 1, 1, 1, 1, false, true},
      {"channels last", 2, 256, 256, s14, 3, 1, 1, 1, 1, false, true},
      {"channels last", 2, 512, 512, s7, 3, 1, 1, 1, 1, false, true},
      {"channels last", 2, 128, 128, s56, 3, 2, 1, 1, 1, false, true},
      {"channels last", 2, 64, 256, s56, 1, 1, 0, 1, 1, false, true},
      {"channels last", 2, 1024, 256, s14, 1, 1, 0, 1, 1, false, true},
      {"channels last", 2, 256, 512, s56, 1, 2, 0, 1, 1, false, true},
      {"channels last", 4, 64, 192, {27, 27}, 5, 1, 2, 1, 1, false, true},
  };
  for (const Layer& l : layers) layer(l);
}

}  // namespace compare
