// Same seed, same numbers: the initial parameters of every module that has some, and the first ten losses of four small
// networks in training, with dropout. tests/data/same_numbers.expected.txt.
//
//   same_numbers            prints a line per module or network: its name and its numbers same_numbers EXPECTED
// compares them with the lines of a file, and fails where they differ
//
// Both programs sample the same random numbers, so parameters agree within rounding error; losses result from long
// computations and may differ by 1e-4.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

namespace {

constexpr double kParameters = 1e-6, kLosses = 1e-4;

struct Numbers {
  std::string name;
  double tolerance;
  std::vector<double> values;
};

std::vector<Numbers> found;

// ---- Initialisation ---------------------------------------------------------------------------------------------------

/// Numbers that distinguish a tensor from one with other values, or with the same in another order.
void digest(std::vector<double>& numbers, const Tensor& tensor) {
  Tensor flat = tensor.detach().to(torch::kDouble).reshape({-1});
  Tensor waves = (torch::arange(flat.numel(), torch::kDouble) * 0.7).cos();
  for (const Tensor& number : {flat[0], flat[-1], flat.abs().mean(), (flat * waves).abs().mean(), ((flat + 1) * waves).mean()}) {
    numbers.push_back(number.item<double>());
  }
}

/// The parameters and buffers that `make` initializes after a seed, and the next random number.
void initial(const char* name, const std::function<std::shared_ptr<nn::Module>()>& make) {
  torch::manual_seed(17);
  auto module = make();
  Numbers entry{name, kParameters, {}};
  for (const Tensor& parameter : module->parameters()) digest(entry.values, parameter);
  for (const Tensor& buffer : module->buffers()) digest(entry.values, buffer);
  entry.values.push_back(torch::rand({1}).item<float>());
  found.push_back(std::move(entry));
}
#define INITIAL(...) initial(#__VA_ARGS__, [] { return nn::__VA_ARGS__.ptr(); })

void initialisation() {
  INITIAL(Linear(3, 5));
  INITIAL(Linear(300, 200));
  INITIAL(Linear(nn::LinearOptions(30, 20).bias(false)));
  INITIAL(Bilinear(3, 4, 5));
  INITIAL(Bilinear(nn::BilinearOptions(30, 20, 10).bias(false)));
  INITIAL(Conv1d(2, 4, 3));
  INITIAL(Conv1d(nn::Conv1dOptions(16, 24, 5).groups(4)));
  INITIAL(Conv2d(3, 8, 3));
  INITIAL(Conv2d(nn::Conv2dOptions(16, 32, {3, 5}).groups(2).bias(false)));
  INITIAL(Conv3d(2, 3, 2));
  INITIAL(Conv3d(nn::Conv3dOptions(4, 8, 3).groups(4)));
  INITIAL(ConvTranspose1d(2, 4, 3));
  INITIAL(ConvTranspose1d(nn::ConvTranspose1dOptions(16, 24, 5).groups(4)));
  INITIAL(ConvTranspose2d(3, 8, 3));
  INITIAL(ConvTranspose2d(nn::ConvTranspose2dOptions(16, 32, {3, 5}).groups(2).bias(false)));
  INITIAL(ConvTranspose3d(2, 3, 2));
  INITIAL(ConvTranspose3d(nn::ConvTranspose3dOptions(4, 8, 3).groups(4)));
  INITIAL(Embedding(3, 4));
  INITIAL(Embedding(nn::EmbeddingOptions(50, 21).padding_idx(7)));
  INITIAL(EmbeddingBag(3, 4));
  INITIAL(EmbeddingBag(nn::EmbeddingBagOptions(50, 21).mode(torch::kSum)));
  INITIAL(BatchNorm1d(5));
  INITIAL(BatchNorm2d(5));
  INITIAL(BatchNorm3d(5));
  INITIAL(InstanceNorm1d(nn::InstanceNormOptions(5).affine(true).track_running_stats(true)));
  INITIAL(InstanceNorm2d(nn::InstanceNormOptions(5).affine(true)));
  INITIAL(InstanceNorm3d(nn::InstanceNormOptions(5).affine(true)));
  INITIAL(LayerNorm(nn::LayerNormOptions({3, 4})));
  INITIAL(GroupNorm(2, 6));
  INITIAL(PReLU(nn::PReLUOptions().num_parameters(3).init(0.1)));
  INITIAL(RNN(3, 4));
  INITIAL(RNN(nn::RNNOptions(20, 30).num_layers(2).bidirectional(true).nonlinearity(torch::kReLU)));
  INITIAL(LSTM(3, 4));
  INITIAL(LSTM(nn::LSTMOptions(20, 30).num_layers(2).bidirectional(true).proj_size(7)));
  INITIAL(GRU(3, 4));
  INITIAL(GRU(nn::GRUOptions(20, 30).num_layers(3).bias(false)));
  INITIAL(RNNCell(20, 30));
  INITIAL(LSTMCell(20, 30));
  INITIAL(GRUCell(nn::GRUCellOptions(20, 30).bias(false)));
  INITIAL(MultiheadAttention(16, 4));
  INITIAL(MultiheadAttention(nn::MultiheadAttentionOptions(16, 4).kdim(5).vdim(6).add_bias_kv(true)));
  INITIAL(TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(16, 4).dim_feedforward(24)));
  INITIAL(TransformerDecoderLayer(nn::TransformerDecoderLayerOptions(16, 4).dim_feedforward(24)));
  INITIAL(TransformerEncoder(nn::TransformerEncoderOptions(nn::TransformerEncoderLayerOptions(16, 4).dim_feedforward(24), 2)));
  INITIAL(TransformerDecoder(nn::TransformerDecoderOptions(nn::TransformerDecoderLayerOptions(16, 4).dim_feedforward(24), 2)));
  INITIAL(Transformer(nn::TransformerOptions(16, 4, 2, 2).dim_feedforward(24)));
  INITIAL(AdaptiveLogSoftmaxWithLoss(nn::AdaptiveLogSoftmaxWithLossOptions(8, 10, {3, 6}).div_value(2.)));
}

// ---- Training ---------------------------------------------------------------------------------------------------------

void train(const char* name, torch::optim::Optimizer& optimizer, const std::function<Tensor()>& loss_of_a_step) {
  Numbers entry{name, kLosses, {}};
  for (int step = 0; step < 10; ++step) {
    optimizer.zero_grad();
    Tensor loss = loss_of_a_step();
    loss.backward();
    optimizer.step();
    entry.values.push_back(loss.item<double>());
  }
  found.push_back(std::move(entry));
}

void convolutional() {
  torch::manual_seed(1);
  // Compilers differ in the evaluation order of arguments; parameters are initialized in gcc's order on x86-64.
  nn::Linear out(12 * 3 * 3, 10);
  nn::Conv2d second(nn::Conv2dOptions(8, 12, 3).stride(2).groups(2)), first(nn::Conv2dOptions(3, 8, 3).padding(1));
  nn::Sequential net(first, nn::BatchNorm2d(8), nn::ReLU(), nn::MaxPool2d(2), second, nn::ReLU(), nn::Flatten(), nn::Dropout(0.3), out);
  Tensor images = torch::randn({8, 3, 16, 16}), classes = torch::randint(0, 10, {8}, torch::kLong);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(1e-3));
  train("a convolutional network, SGD", optimizer, [&] { return F::cross_entropy(net->forward(images), classes); });
}

struct WordsImpl : nn::Module {
  nn::Embedding embedding;
  nn::LSTM lstm{nullptr};
  nn::GRU gru{nullptr};
  nn::Linear out;
  WordsImpl(bool with_lstm, int64_t hidden) : embedding(30, 12), out(hidden, 30) {
    register_module("embedding", embedding);
    if (with_lstm) lstm = register_module("lstm", nn::LSTM(nn::LSTMOptions(12, hidden).num_layers(2).dropout(0.2)));
    else gru = register_module("gru", nn::GRU(nn::GRUOptions(12, hidden / 2).bidirectional(true)));
    register_module("out", out);
  }
  Tensor forward(const Tensor& words) {
    Tensor x = embedding(words);
    x = lstm.is_empty() ? std::get<0>(gru(x)) : std::get<0>(lstm(x));
    return out(x).reshape({-1, 30});
  }
};
TORCH_MODULE(Words);

template <class Optimizer, class Options>
void words(const char* name, bool with_lstm, const Options& options) {
  torch::manual_seed(2);
  Words net(with_lstm, 16);
  Tensor text = torch::randint(0, 30, {9, 4}, torch::kLong), next = torch::randint(0, 30, {9, 4}, torch::kLong).reshape({-1});
  Optimizer optimizer(net->parameters(), options);
  train(name, optimizer, [&] { return F::cross_entropy(net->forward(text), next); });
}

void transformer() {
  torch::manual_seed(3);
  nn::Transformer net(nn::TransformerOptions(16, 4, 2, 2).dim_feedforward(32).dropout(0.1).activation(torch::kGELU));
  nn::Linear out(16, 20);
  Tensor source = torch::randn({7, 3, 16}), target = torch::randn({5, 3, 16}), classes = torch::randint(0, 20, {15}, torch::kLong);
  Tensor mask = nn::TransformerImpl::generate_square_subsequent_mask(5);
  auto parameters = net->parameters();
  for (const Tensor& parameter : out->parameters()) parameters.push_back(parameter);
  torch::optim::AdamW optimizer(parameters, torch::optim::AdamWOptions(2e-3));
  train("a Transformer, AdamW", optimizer,
        [&] { return F::cross_entropy(out(net->forward(source, target, {}, mask)).reshape({-1, 20}), classes); });
}

// ---- Printing and comparing -------------------------------------------------------------------------------------------

void print() {
  for (const Numbers& entry : found) {
    std::printf("%s:", entry.name.c_str());
    for (double value : entry.values) std::printf(" %.9g", value);
    std::printf("\n");
  }
}

bool near(double value, double expected, double tolerance) {
  return std::abs(value - expected) <= tolerance * std::max(std::abs(expected), tolerance < kLosses ? 0.1 : 0.0);
}

/// Number of entries that differ from those of the file, which must have all of them.
int differing(const char* path) {
  std::map<std::string, std::vector<double>> expected;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    size_t end = line.rfind(':');
    std::istringstream numbers(line.substr(end + 1));
    for (double value; numbers >> value;) expected[line.substr(0, end)].push_back(value);
  }
  int count = expected.size() == found.size() ? 0 : 1;
  if (count > 0) std::printf("%zu entries instead of %zu\n", found.size(), expected.size());
  for (const Numbers& entry : found) {
    const std::vector<double>& wanted = expected[entry.name];
    bool same = wanted.size() == entry.values.size();
    for (size_t i = 0; same && i < wanted.size(); ++i) same = near(entry.values[i], wanted[i], entry.tolerance);
    if (same) continue;
    ++count;
    std::printf("%s\n", entry.name.c_str());
    for (size_t i = 0; i < std::max(wanted.size(), entry.values.size()); ++i) {
      std::printf("  %.9g instead of %.9g\n", i < entry.values.size() ? entry.values[i] : NAN, i < wanted.size() ? wanted[i] : NAN);
    }
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  initialisation();
  convolutional();
  words<torch::optim::Adam>("an LSTM, Adam", true, torch::optim::AdamOptions(5e-3));
  words<torch::optim::RMSprop>("a GRU, RMSprop", false, torch::optim::RMSpropOptions(2e-3));
  transformer();
  if (argc < 2) return print(), 0;
  return differing(argv[1]) == 0 ? 0 : 1;
}
