// Training steps and inference of networks of other families than those of models.cpp, in f32, with random inputs: what
// programs run that nobody has measured here. A brief run uses narrow ones.
#include "harness.h"
#include "layers.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace compare {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

int64_t part(int64_t full, int64_t brief) { return settings().brief ? brief : full; }

nn::Sequential block(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1, int64_t groups = 1) {
  return nn::Sequential(conv(in, out, kernel, stride, groups), nn::BatchNorm2d(out), nn::ReLU());
}

// ---- Images -----------------------------------------------------------------------------------------------------------

/// Segmentation: two levels down and up again, with bilinear upsampling and concatenation.
struct UNetImpl : nn::Module {
  nn::Sequential down0, down1, bottom, up1, up0, out;
  explicit UNetImpl(int64_t width)
      : down0(twice(3, width)), down1(twice(width, 2 * width)), bottom(twice(2 * width, 4 * width)),
        up1(twice(6 * width, 2 * width)), up0(twice(3 * width, width)), out(conv(width, 2, 1, 1, 1, true)) {
    register_module("down0", down0);
    register_module("down1", down1);
    register_module("bottom", bottom);
    register_module("up1", up1);
    register_module("up0", up0);
    register_module("out", out);
  }
  static nn::Sequential twice(int64_t in, int64_t width) {
    return nn::Sequential(conv(in, width, 3), nn::BatchNorm2d(width), nn::ReLU(), conv(width, width, 3), nn::BatchNorm2d(width), nn::ReLU());
  }
  static Tensor larger(const Tensor& x) {
    return F::interpolate(x, F::InterpolateFuncOptions().scale_factor(std::vector<double>{2, 2}).mode(torch::kBilinear).align_corners(false));
  }
  Tensor forward(const Tensor& x) {
    Tensor a = down0->forward(x), b = down1->forward(torch::max_pool2d(a, 2)), c = bottom->forward(torch::max_pool2d(b, 2));
    b = up1->forward(torch::cat({larger(c), b}, 1));
    return out->forward(up0->forward(torch::cat({larger(b), a}, 1))).mean({2, 3});
  }
};
TORCH_MODULE(UNet);

/// Every layer reads the outputs of all before it.
struct DenseNetImpl : nn::Module {
  nn::Sequential stem, classes;
  std::vector<nn::Sequential> layers, transitions;
  DenseNetImpl(int64_t growth, int64_t depth) {
    int64_t width = 2 * growth;
    stem = register_module("stem", block(3, width, 7, 2));
    for (int64_t stage = 0; stage < 3; ++stage) {
      for (int64_t i = 0; i < depth; ++i, width += growth) {
        nn::Sequential layer(nn::BatchNorm2d(width), nn::ReLU(), conv(width, 4 * growth, 1), nn::BatchNorm2d(4 * growth), nn::ReLU(),
                             conv(4 * growth, growth, 3));
        layers.push_back(register_module("layer" + std::to_string(layers.size()), layer));
      }
      nn::Sequential transition(nn::BatchNorm2d(width), nn::ReLU(), conv(width, width / 2, 1), nn::AvgPool2d(2));
      transitions.push_back(register_module("transition" + std::to_string(stage), transition));
      width /= 2;
    }
    classes = register_module("classes", nn::Sequential(nn::Linear(width, 100)));
  }
  Tensor forward(Tensor x) {
    x = stem->forward(x);
    const size_t depth = layers.size() / transitions.size();
    for (size_t i = 0; i < layers.size(); ++i) {
      x = torch::cat({x, layers[i]->forward(x)}, 1);
      if ((i + 1) % depth == 0) x = transitions[i / depth]->forward(x);
    }
    return classes->forward(x.mean({2, 3}));
  }
};
TORCH_MODULE(DenseNet);

/// Inverted bottlenecks with depthwise 5 x 5 kernels, SiLU, and channels weighted by squeeze and excitation.
struct InvertedImpl : nn::Module {
  nn::Sequential expand, depthwise, project;
  nn::Conv2d squeeze, excite;
  bool residual;
  InvertedImpl(int64_t in, int64_t out, int64_t kernel, int64_t stride)
      : expand(conv(in, 6 * in, 1), nn::BatchNorm2d(6 * in), nn::SiLU()),
        depthwise(conv(6 * in, 6 * in, kernel, stride, 6 * in), nn::BatchNorm2d(6 * in), nn::SiLU()),
        project(conv(6 * in, out, 1), nn::BatchNorm2d(out)), squeeze(conv(6 * in, in / 4, 1, 1, 1, true)),
        excite(conv(in / 4, 6 * in, 1, 1, 1, true)), residual(in == out && stride == 1) {
    register_module("expand", expand);
    register_module("depthwise", depthwise);
    register_module("project", project);
    register_module("squeeze", squeeze);
    register_module("excite", excite);
  }
  Tensor forward(const Tensor& x) {
    Tensor y = depthwise->forward(expand->forward(x));
    y = y * torch::sigmoid(excite(torch::silu(squeeze(torch::adaptive_avg_pool2d(y, {1, 1})))));
    y = project->forward(y);
    return residual ? x + y : y;
  }
};
TORCH_MODULE(Inverted);

/// The mean over all positions, and a linear layer.
nn::Sequential classified(nn::Sequential net, int64_t width) {
  net->push_back(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({1, 1})));
  net->push_back(nn::Flatten());
  net->push_back(nn::Linear(width, 100));
  return net;
}

nn::Sequential inverted_bottlenecks(int64_t width) {
  nn::Sequential net = block(3, width, 3, 2);
  net->push_back(Inverted(width, width, 3, 1));
  net->push_back(Inverted(width, 2 * width, 5, 2));
  net->push_back(Inverted(2 * width, 2 * width, 5, 1));
  net->push_back(Inverted(2 * width, 4 * width, 3, 2));
  net->push_back(Inverted(4 * width, 4 * width, 3, 1));
  net->push_back(Inverted(4 * width, 8 * width, 5, 2));
  return classified(net, 8 * width);
}

/// Bottlenecks whose 3 x 3 convolutions have 32 groups.
struct GroupedImpl : nn::Module {
  nn::Sequential body, projection{nullptr};
  GroupedImpl(int64_t in, int64_t out, int64_t stride)
      : body(conv(in, out, 1), nn::BatchNorm2d(out), nn::ReLU(), conv(out, out, 3, stride, 32), nn::BatchNorm2d(out), nn::ReLU(),
             conv(out, out, 1), nn::BatchNorm2d(out)) {
    register_module("body", body);
    if (in != out || stride != 1) projection = register_module("projection", nn::Sequential(conv(in, out, 1, stride), nn::BatchNorm2d(out)));
  }
  Tensor forward(const Tensor& x) { return torch::relu(body->forward(x) + (projection.is_empty() ? x : projection->forward(x))); }
};
TORCH_MODULE(Grouped);

nn::Sequential grouped_bottlenecks(int64_t width) {
  nn::Sequential net = block(3, width, 3, 2);
  net->push_back(Grouped(width, 2 * width, 1));
  net->push_back(Grouped(2 * width, 2 * width, 1));
  net->push_back(Grouped(2 * width, 4 * width, 2));
  net->push_back(Grouped(4 * width, 4 * width, 1));
  return classified(net, 4 * width);
}

/// Generates images from noise by transposed convolutions, and judges them.
nn::Sequential generator_and_critic(int64_t width) {
  auto larger = [](int64_t in, int64_t out) {
    return nn::ConvTranspose2d(nn::ConvTranspose2dOptions(in, out, 4).stride(2).padding(1).bias(false));
  };
  auto smaller = [](int64_t in, int64_t out) { return nn::Conv2d(nn::Conv2dOptions(in, out, 4).stride(2).padding(1).bias(false)); };
  auto leaky = [] { return nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)); };
  nn::Sequential net(larger(64, 4 * width), nn::BatchNorm2d(4 * width), nn::ReLU(), larger(4 * width, 2 * width), nn::BatchNorm2d(2 * width),
                        nn::ReLU(), larger(2 * width, width), nn::BatchNorm2d(width), nn::ReLU(), larger(width, 3), nn::Tanh(), smaller(3, width),
                        leaky(), smaller(width, 2 * width), nn::BatchNorm2d(2 * width), leaky(), smaller(2 * width, 4 * width),
                        nn::BatchNorm2d(4 * width), leaky());
  return classified(net, 4 * width);
}

// ---- Sequences --------------------------------------------------------------------------------------------------------

/// Patches of an image, or words, through encoder layers with self-attention.
struct EncoderImpl : nn::Module {
  nn::Conv2d patches{nullptr};
  nn::Embedding words{nullptr};
  nn::TransformerEncoder layers{nullptr};
  nn::Linear classes{nullptr};
  EncoderImpl(int64_t width, int64_t depth, bool of_images) {
    if (of_images) {
      patches = register_module("patches", nn::Conv2d(nn::Conv2dOptions(3, width, 16).stride(16)));
    } else {
      words = register_module("words", nn::Embedding(5000, width));
    }
    auto layer = nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(width, width / 32).dim_feedforward(4 * width).activation(torch::kGELU));
    layers = register_module("layers", nn::TransformerEncoder(nn::TransformerEncoderOptions(layer, depth)));
    classes = register_module("classes", nn::Linear(width, 100));
  }
  Tensor forward(const Tensor& x) {
    Tensor y = words.is_empty() ? patches(x).flatten(2).permute({2, 0, 1}) : words(x.t());
    return classes(layers(y).mean(0));
  }
};
TORCH_MODULE(Encoder);

/// Labels words: an embedding, a recurrent layer in both directions, a linear layer.
template <class Layer>
struct TaggerImpl : nn::Module {
  nn::Embedding words;
  Layer layer;
  nn::Linear classes;
  explicit TaggerImpl(int64_t width, Layer recurrent) : words(5000, width), layer(std::move(recurrent)), classes(2 * width, 100) {
    register_module("words", words);
    register_module("layer", layer);
    register_module("classes", classes);
  }
  Tensor forward(const Tensor& x) { return classes(std::get<0>(layer(words(x.t()))).mean(0)); }
};

template <class Layer, class Options>
nn::ModuleHolder<TaggerImpl<Layer>> tagger(int64_t width) {
  return nn::ModuleHolder<TaggerImpl<Layer>>(width, Layer(Options(width, width).num_layers(2).bidirectional(true)));
}

/// Sound: dilated convolutions with gates, whose outputs are added to their inputs.
struct GatesImpl : nn::Module {
  std::vector<nn::Conv1d> layers;
  nn::Conv1d first{nullptr};
  nn::Linear classes{nullptr};
  explicit GatesImpl(int64_t width) {
    first = register_module("first", nn::Conv1d(nn::Conv1dOptions(1, width, 1)));
    for (int64_t dilation = 1; dilation <= 64; dilation *= 2) {
      nn::Conv1d layer(nn::Conv1dOptions(width, 2 * width, 3).padding(dilation).dilation(dilation));
      layers.push_back(register_module("layer" + std::to_string(dilation), layer));
    }
    classes = register_module("classes", nn::Linear(width, 100));
  }
  Tensor forward(const Tensor& x) {
    Tensor y = first(x);
    for (nn::Conv1d& layer : layers) {
      std::vector<Tensor> halves = layer(y).chunk(2, 1);
      y = y + torch::tanh(halves[0]) * torch::sigmoid(halves[1]);
    }
    return classes(y.mean(2));
  }
};
TORCH_MODULE(Gates);

/// Features of 64 patches, mixed across patches and across channels in turn.
struct MixerImpl : nn::Module {
  std::vector<nn::LayerNorm> norms;
  std::vector<nn::Sequential> layers;
  nn::Linear classes{nullptr};
  MixerImpl(int64_t width, int64_t depth) {
    for (int64_t i = 0; i < 2 * depth; ++i) {
      const int64_t own = i % 2 == 0 ? 64 : width;
      norms.push_back(register_module("norm" + std::to_string(i), nn::LayerNorm(nn::LayerNormOptions({width}))));
      layers.push_back(register_module("layer" + std::to_string(i), nn::Sequential(nn::Linear(own, 2 * own), nn::GELU(), nn::Linear(2 * own, own))));
    }
    classes = register_module("classes", nn::Linear(width, 100));
  }
  Tensor forward(Tensor x) {
    for (size_t i = 0; i < layers.size(); ++i) {
      Tensor y = norms[i](x);
      x = x + (i % 2 == 0 ? layers[i]->forward(y.transpose(1, 2)).transpose(1, 2) : layers[i]->forward(y));
    }
    return classes(x.mean(1));
  }
};
TORCH_MODULE(Mixer);

/// Messages along the edges of a graph.
struct GraphImpl : nn::Module {
  nn::Linear first, second, classes;
  Tensor sources, targets;
  GraphImpl(int64_t nodes, int64_t edges, int64_t width) : first(width, width), second(width, width), classes(width, 100) {
    register_module("first", first);
    register_module("second", second);
    register_module("classes", classes);
    sources = register_buffer("sources", torch::randint(0, nodes, {edges}, torch::kLong));
    targets = register_buffer("targets", torch::randint(0, nodes, {edges}, torch::kLong));
  }
  Tensor forward(Tensor x) {
    for (nn::Linear* layer : {&first, &second}) {
      Tensor messages = (*layer)(x).index_select(0, sources);
      x = torch::relu(torch::zeros_like(x).index_add(0, targets, messages));
    }
    return classes(x).slice(0, 0, 64);
  }
};
TORCH_MODULE(Graph);

// ---- Cases ------------------------------------------------------------------------------------------------------------

/// A module and its function.
struct Network {
  std::shared_ptr<nn::Module> module;
  std::function<Tensor(const Tensor&)> forward;
};

/// A training step, and inference, of the network that `make` makes, whose results are rows of classes.
template <class Make>
void network(const char* name, const std::string& size, Make make, const std::function<Tensor()>& input) {
  Network net;
  std::unique_ptr<torch::optim::AdamW> optimizer;
  Tensor classes;
  Lazy x([&] {
    auto made = make();
    net = {made.ptr(), [made](const Tensor& batch) mutable { return made->forward(batch); }};
    optimizer = std::make_unique<torch::optim::AdamW>(net.module->parameters(), torch::optim::AdamWOptions(1e-3));
    return input();
  });
  auto train = [&](Tensor& batch) {
    net.module->train();
    optimizer->zero_grad();
    Tensor out = net.forward(batch);
    if (!classes.defined() || classes.size(0) != out.size(0)) classes = torch::arange(out.size(0)).remainder(out.size(1));
    Tensor loss = F::cross_entropy(out, classes);
    loss.backward();
    optimizer->step();
    return loss;
  };
  auto infer = [&](Tensor& batch) {
    torch::NoGradGuard guard;
    net.module->eval();
    return net.forward(batch);
  };
  measure({"networks", std::string(name) + ", step", size}, train, x);
  measure({"networks", name, size}, infer, x);
}

/// Images of this side.
std::function<Tensor()> images(int64_t batch, int64_t side) {
  return [=] { return torch::randn({part(batch, 2), 3, part(side, 32), part(side, 32)}); };
}
std::string of_images(int64_t batch, int64_t side) {
  return std::to_string(part(batch, 2)) + " of 3x" + std::to_string(part(side, 32)) + 'x' + std::to_string(part(side, 32));
}

}  // namespace

void networks() {
  network("unet", of_images(2, 96), [] { return UNet(part(16, 4)); }, images(2, 96));
  network("densenet", of_images(4, 64), [] { return DenseNet(part(16, 4), part(4, 2)); }, images(4, 64));
  network("inverted bottlenecks", of_images(4, 96), [] { return inverted_bottlenecks(part(16, 4)); }, images(4, 96));
  network("grouped bottlenecks", of_images(4, 64), [] { return grouped_bottlenecks(part(64, 32)); }, images(4, 64));
  network("generator and critic", std::to_string(part(8, 2)) + " of 64x4x4", [] { return generator_and_critic(part(32, 4)); },
          [] { return torch::randn({part(8, 2), 64, 4, 4}); });
  network("image transformer", of_images(4, 128), [] { return Encoder(part(192, 32), part(4, 1), true); }, images(4, 128));
  auto words = [] { return torch::randint(0, 5000, {part(16, 2), part(48, 8)}, torch::kLong); };
  const std::string size = std::to_string(part(16, 2)) + " of " + std::to_string(part(48, 8)) + " words";
  network("text transformer", size, [] { return Encoder(part(192, 32), part(3, 1), false); }, words);
  network("gru tagger", size, [] { return tagger<nn::GRU, nn::GRUOptions>(part(128, 16)); }, words);
  network("lstm tagger", size, [] { return tagger<nn::LSTM, nn::LSTMOptions>(part(128, 16)); }, words);
  network("dilated sound", std::to_string(part(4, 2)) + " of 1x" + std::to_string(part(2000, 100)), [] { return Gates(part(32, 4)); },
          [] { return torch::randn({part(4, 2), 1, part(2000, 100)}); });
  network("mixer", std::to_string(part(16, 2)) + " of 64 patches", [] { return Mixer(part(192, 16), part(4, 1)); },
          [] { return torch::randn({part(16, 2), 64, part(192, 16)}); });
  const int64_t nodes = part(5000, 100), edges = part(40000, 500);
  network("graph", std::to_string(nodes) + " nodes", [=] { return Graph(nodes, edges, part(64, 8)); },
          [=] { return torch::randn({nodes, part(64, 8)}); });
}

}  // namespace compare
