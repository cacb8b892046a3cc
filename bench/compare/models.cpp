// One training step (forward, backward, optimizer) of the six networks of Table 1 of "PyTorch: An Imperative Style,
// High-Performance Deep Learning Library" (Paszke et al., 2019), in f32, with random inputs. A brief run uses narrow
// ones.
#include "harness.h"
#include "layers.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace compare {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

/// The factor by which the networks of a brief run are narrower.
int64_t narrow() { return settings().brief ? 8 : 1; }

// ---- Images -----------------------------------------------------------------------------------------------------------

constexpr int64_t kClasses = 1000;

nn::ReLU relu() { return nn::ReLU(nn::ReLUOptions(true)); }
nn::Conv2d plain_conv(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).stride(stride).padding(padding));
}
nn::MaxPool2d pool(int64_t kernel, int64_t padding = 0) { return nn::MaxPool2d(nn::MaxPool2dOptions(kernel).stride(2).padding(padding)); }

void hidden_layer(nn::Sequential& net, int64_t in, int64_t out) {
  net->push_back(nn::Linear(in, out));
  net->push_back(relu());
}

nn::Sequential alexnet() {
  nn::Sequential net;
  int64_t in = 3;
  struct Layer {
    int64_t out, kernel, stride, padding;
    bool pooled;
  };
  for (const Layer& layer : {Layer{64, 11, 4, 2, true}, Layer{192, 5, 1, 2, true}, Layer{384, 3, 1, 1, false}, Layer{256, 3, 1, 1, false},
                             Layer{256, 3, 1, 1, true}}) {
    net->push_back(plain_conv(in, layer.out / narrow(), layer.kernel, layer.stride, layer.padding));
    net->push_back(relu());
    if (layer.pooled) net->push_back(pool(3));
    in = layer.out / narrow();
  }
  net->push_back(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({6, 6})));
  net->push_back(nn::Flatten());
  net->push_back(nn::Dropout());
  hidden_layer(net, in * 36, 4096 / narrow());
  net->push_back(nn::Dropout());
  hidden_layer(net, 4096 / narrow(), 4096 / narrow());
  net->push_back(nn::Linear(4096 / narrow(), kClasses));
  return net;
}

nn::Sequential vgg19() {
  nn::Sequential net;
  int64_t in = 3;
  for (auto [width, layers] : {std::pair<int64_t, int>{64, 2}, {128, 2}, {256, 4}, {512, 4}, {512, 4}}) {
    for (int layer = 0; layer < layers; ++layer) {
      net->push_back(plain_conv(in, width / narrow(), 3, 1, 1));
      net->push_back(relu());
      in = width / narrow();
    }
    net->push_back(pool(2));
  }
  net->push_back(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({7, 7})));
  net->push_back(nn::Flatten());
  hidden_layer(net, in * 49, 4096 / narrow());
  net->push_back(nn::Dropout());
  hidden_layer(net, 4096 / narrow(), 4096 / narrow());
  net->push_back(nn::Dropout());
  net->push_back(nn::Linear(4096 / narrow(), kClasses));
  return net;
}

/// x plus three convolutions of x, followed by a ReLU.
struct ResidualImpl : nn::Module {
  nn::Sequential branch, shortcut;
  ResidualImpl(int64_t in, int64_t width, int64_t stride) {
    branch->push_back(conv(in, width, 1));
    branch->push_back(nn::BatchNorm2d(width));
    branch->push_back(relu());
    branch->push_back(conv(width, width, 3, stride));
    branch->push_back(nn::BatchNorm2d(width));
    branch->push_back(relu());
    branch->push_back(conv(width, 4 * width, 1));
    branch->push_back(nn::BatchNorm2d(4 * width));
    register_module("branch", branch);
    if (in == 4 * width && stride == 1) return;
    shortcut->push_back(conv(in, 4 * width, 1, stride));
    shortcut->push_back(nn::BatchNorm2d(4 * width));
    register_module("shortcut", shortcut);
  }
  Tensor forward(Tensor x) { return branch->forward(x).add_(shortcut->is_empty() ? x : shortcut->forward(x)).relu_(); }
};
TORCH_MODULE(Residual);

nn::Functional spatial_mean() {
  return nn::Functional([](const Tensor& x) { return x.mean({2, 3}); });
}

nn::Sequential resnet50() {
  nn::Sequential net;
  int64_t in = 64 / narrow();
  net->push_back(conv(3, in, 7, 2));
  net->push_back(nn::BatchNorm2d(in));
  net->push_back(relu());
  net->push_back(pool(3, 1));
  int64_t width = in, stride = 1;
  for (int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block) {
      net->push_back(Residual(in, width, block == 0 ? stride : 1));
      in = 4 * width;
    }
    width *= 2;
    stride = 2;
  }
  net->push_back(spatial_mean());
  net->push_back(nn::Linear(in, kClasses));
  return net;
}

nn::Sequential mobilenet() {
  nn::Sequential net;
  auto add = [&](nn::Conv2d layer, int64_t width) {
    net->push_back(std::move(layer));
    net->push_back(nn::BatchNorm2d(width));
    net->push_back(relu());
  };
  int64_t in = 32 / narrow();
  add(conv(3, in, 3, 2), in);
  struct Block {
    int64_t width, stride;
  };
  for (const Block& block : {Block{64, 1}, Block{128, 2}, Block{128, 1}, Block{256, 2}, Block{256, 1}, Block{512, 2}, Block{512, 1}, Block{512, 1},
                             Block{512, 1}, Block{512, 1}, Block{512, 1}, Block{1024, 2}, Block{1024, 1}}) {
    // One filter per channel, then a product over the channels.
    add(conv(in, in, 3, block.stride, in), in);
    add(conv(in, block.width / narrow(), 1), block.width / narrow());
    in = block.width / narrow();
  }
  net->push_back(spatial_mean());
  net->push_back(nn::Linear(in, kClasses));
  return net;
}

void images(const char* name, nn::Sequential (*make)(), int64_t batch) {
  const int64_t side = settings().brief ? 64 : 224;
  if (settings().brief) batch = 2;
  nn::Sequential net{nullptr};
  std::unique_ptr<torch::optim::SGD> optimizer;
  Tensor classes;
  Lazy input([&] {
    net = make();
    optimizer = std::make_unique<torch::optim::SGD>(net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9).weight_decay(1e-4));
    classes = torch::randint(0, kClasses, {batch}, torch::kLong);
    return torch::randn({batch, 3, side, side});
  });
  auto step = [&](Tensor& x) {
    optimizer->zero_grad();
    Tensor loss = F::cross_entropy(net->forward(x), classes);
    loss.backward();
    optimizer->step();
    return loss;
  };
  measure({"models", name, std::to_string(batch) + " of 3x" + std::to_string(side) + 'x' + std::to_string(side)}, step, input);
}

// ---- Translation ------------------------------------------------------------------------------------------------------

/// An encoder with a bidirectional first layer, a decoder with attention to the encoder, residual connections around
/// the upper layers.
struct TranslatorImpl : nn::Module {
  int64_t width;
  nn::Embedding from, to;
  nn::LSTM both_ways, encoder, upper_encoder, decoder, attending, upper_decoder;
  nn::Linear query, key, score, words;

  static nn::Linear projection(int64_t in, int64_t out) { return nn::Linear(nn::LinearOptions(in, out).bias(false)); }
  TranslatorImpl(int64_t vocabulary, int64_t width)
      : width(width),
        from(vocabulary, width),
        to(vocabulary, width),
        both_ways(nn::LSTMOptions(width, width).bidirectional(true)),
        encoder(2 * width, width),
        upper_encoder(width, width),
        decoder(width, width),
        attending(2 * width, width),
        upper_decoder(2 * width, width),
        query(projection(width, width)),
        key(projection(width, width)),
        score(projection(width, 1)),
        words(width, vocabulary) {
    register_module("from", from);
    register_module("to", to);
    register_module("both_ways", both_ways);
    register_module("encoder", encoder);
    register_module("upper_encoder", upper_encoder);
    register_module("decoder", decoder);
    register_module("attending", attending);
    register_module("upper_decoder", upper_decoder);
    register_module("query", query);
    register_module("key", key);
    register_module("score", score);
    register_module("words", words);
  }

  static Tensor run(nn::LSTM& layer, const Tensor& x) { return std::get<0>(layer->forward(x)); }
  /// From sequences of words (length x batch) to scores of the vocabulary at each position.
  Tensor forward(const Tensor& source, const Tensor& target) {
    Tensor read = run(encoder, run(both_ways, from(source)));
    read = read + run(upper_encoder, read);
    Tensor said = run(decoder, to(target));
    Tensor pairs = torch::tanh(query(said).transpose(0, 1).unsqueeze(2) + key(read).transpose(0, 1).unsqueeze(1));
    Tensor attention = torch::softmax(score(pairs).squeeze(-1), -1);
    Tensor context = torch::bmm(attention, read.transpose(0, 1)).transpose(0, 1);
    said = run(attending, torch::cat({said, context}, -1));
    return words(said + run(upper_decoder, torch::cat({said, context}, -1)));
  }
};
TORCH_MODULE(Translator);

void translation() {
  const int64_t vocabulary = 8000 / narrow(), length = settings().brief ? 5 : 25, batch = settings().brief ? 2 : 16;
  Translator net{nullptr};
  std::unique_ptr<torch::optim::Adam> optimizer;
  Tensor target;
  Lazy source([&] {
    net = Translator(vocabulary, 256 / narrow());
    optimizer = std::make_unique<torch::optim::Adam>(net->parameters(), torch::optim::AdamOptions(1e-3));
    target = torch::randint(0, vocabulary, {length, batch}, torch::kLong);
    return torch::randint(0, vocabulary, {length, batch}, torch::kLong);
  });
  auto step = [&](Tensor& x) {
    optimizer->zero_grad();
    Tensor loss = F::cross_entropy(net->forward(x, target).reshape({-1, vocabulary}), target.reshape({-1}));
    loss.backward();
    optimizer->step();
    return loss;
  };
  measure({"models", "gnmt", std::to_string(batch) + " of " + std::to_string(length) + " words"}, step, source);
}

// ---- Ranking ----------------------------------------------------------------------------------------------------------

/// Predicts whether a user likes an item: the product of two embeddings, in parallel with a network over two others.
struct RankerImpl : nn::Module {
  nn::Embedding users, items, network_users, network_items;
  nn::Sequential network;
  nn::Linear like;
  RankerImpl(int64_t user_count, int64_t item_count)
      : users(user_count, 64), items(item_count, 64), network_users(user_count, 128), network_items(item_count, 128), like(128, 1) {
    hidden_layer(network, 256, 256);
    hidden_layer(network, 256, 128);
    hidden_layer(network, 128, 64);
    register_module("users", users);
    register_module("items", items);
    register_module("network_users", network_users);
    register_module("network_items", network_items);
    register_module("network", network);
    register_module("like", like);
  }
  Tensor forward(const Tensor& user, const Tensor& item) {
    Tensor deep = network->forward(torch::cat({network_users(user), network_items(item)}, -1));
    return like(torch::cat({users(user) * items(item), deep}, -1)).squeeze(-1);
  }
};
TORCH_MODULE(Ranker);

void ranking() {
  const int64_t user_count = 20000 / narrow(), item_count = 10000 / narrow(), batch = settings().brief ? 64 : 4096;
  Ranker net{nullptr};
  std::unique_ptr<torch::optim::Adam> optimizer;
  Tensor items, likes;
  Lazy users([&] {
    net = Ranker(user_count, item_count);
    optimizer = std::make_unique<torch::optim::Adam>(net->parameters(), torch::optim::AdamOptions(1e-3));
    items = torch::randint(0, item_count, {batch}, torch::kLong);
    likes = torch::randint(0, 2, {batch}, torch::kLong).to(torch::kFloat);
    return torch::randint(0, user_count, {batch}, torch::kLong);
  });
  auto step = [&](Tensor& x) {
    optimizer->zero_grad();
    Tensor loss = F::binary_cross_entropy_with_logits(net->forward(x, items), likes);
    loss.backward();
    optimizer->step();
    return loss;
  };
  measure({"models", "ncf", std::to_string(batch) + " pairs"}, step, users);
}

}  // namespace

void models() {
  images("alexnet", alexnet, 16);
  images("vgg19", vgg19, 2);
  images("resnet50", resnet50, 4);
  images("mobilenet", mobilenet, 8);
  translation();
  ranking();
}

}  // namespace compare
