// Recurrent layers, attention, transformers, containers and nn::utils, as libtorch has them:
// tests/data/semantics_sequence.expected.txt.
//
// The same source, compiled against Rushlight, must print the same bytes: the order of parameters, of their random
// numbers and of dropout's, results, error messages and printing. Tensors are shown by size and by two sums that
// distinguish elements.

#include "show.h"

#include <cmath>

namespace nn = torch::nn;
namespace rnn = torch::nn::utils::rnn;
using torch::Tensor;

namespace {

void digest(const std::string& name, const Tensor& tensor) {
  if (!tensor.defined()) {
    std::cout << name << " undefined\n";
    return;
  }
  Tensor flat = tensor.detach().to(torch::kDouble).reshape({-1});
  double weighted = (flat * (torch::arange(flat.numel(), torch::kDouble) * 0.7).cos()).sum().item<double>();
  char text[80];
  std::snprintf(text, sizeof text, " %.3f %.3f", weighted, flat.square().sum().item<double>());
  std::cout << name << " " << tensor.sizes() << text << "\n";
}
template <class M>
void parameters(M& module) {
  for (auto& item : module->named_parameters()) digest(item.key(), item.value());
}
template <class Call>
void failing(const std::string& name, Call call) {
  try {
    call();
    std::cout << name << ": no error\n";
  } catch (const c10::Error& error) {
    std::string text = error.what_without_backtrace();
    std::cout << name << ": " << text.substr(0, text.find('\n')) << "\n";
  }
}

void recurrent() {
  torch::manual_seed(3);
  std::cout << nn::LSTM(nn::LSTMOptions(3, 4).num_layers(2).bias(false).dropout(0.25).bidirectional(true).proj_size(2)) << "\n"
            << nn::GRU(3, 4) << "\n" << nn::RNN(nn::RNNOptions(3, 4).nonlinearity(torch::kReLU)) << "\n" << nn::LSTMCell(3, 4) << "\n"
            << nn::RNNCell(nn::RNNCellOptions(3, 4).bias(false).nonlinearity(torch::kReLU)) << "\n";
  nn::LSTM lstm(nn::LSTMOptions(3, 4).num_layers(2).bidirectional(true).proj_size(2));
  parameters(lstm);
  Tensor x = torch::randn({5, 2, 3});
  auto [output, state] = lstm->forward(x);
  digest("lstm", output);
  digest("hidden", std::get<0>(state));
  digest("cell", std::get<1>(state));
  output.sum().backward();
  digest("gradient", lstm->parameters()[0].grad());
  nn::GRU gru(nn::GRUOptions(3, 4).num_layers(2).batch_first(true));
  digest("gru", std::get<0>(gru->forward(x)));
  nn::RNN relu(nn::RNNOptions(3, 4).nonlinearity(torch::kReLU).bias(false));
  auto packed = rnn::pack_padded_sequence(x, torch::tensor({3, 5}), /*batch_first=*/false, /*enforce_sorted=*/false);
  auto [steps, last] = relu->forward_with_packed_input(packed);
  digest("packed", steps.data());
  digest("last", last);
  std::cout << steps.batch_sizes() << "\n" << steps.sorted_indices() << "\n";
  auto [padded, lengths] = rnn::pad_packed_sequence(steps, false, -1.0, 6);
  digest("padded", padded);
  std::cout << lengths << "\n" << rnn::pad_sequence({torch::ones({2}), torch::ones({3})}, true, -1, "left") << "\n";
  nn::LSTMCell cell(3, 4);
  digest("cell", std::get<1>(cell->forward(x[0])));
  digest("gru cell", nn::GRUCell(3, 4)->forward(x[0], torch::randn({2, 4})));
  failing("dimensions", [&] { gru->forward(x[0]); });
  failing("features", [&] { gru->forward(torch::randn({5, 2, 7})); });
  failing("hidden", [&] { relu->forward(x, torch::randn({2, 2, 4})); });
  failing("cell state", [&] { nn::LSTM(3, 4)->forward(x, std::make_tuple(torch::randn({1, 2, 4}), torch::randn({1, 3, 4}))); });
  failing("dropout", [&] { nn::GRU(nn::GRUOptions(3, 4).dropout(1.5)); });
  failing("projection", [&] { nn::LSTM(nn::LSTMOptions(3, 4).proj_size(4)); });
  failing("unsorted", [&] { rnn::pack_sequence({torch::ones({2, 2}), torch::ones({3, 2})}); });
  failing("total length", [&] { rnn::pad_packed_sequence(packed, false, 0, 1); });
}

void attention() {
  torch::manual_seed(5);
  nn::MultiheadAttention heads(nn::MultiheadAttentionOptions(8, 2).kdim(5).vdim(5).add_bias_kv(true).add_zero_attn(true).dropout(0.3));
  parameters(heads);
  Tensor q = torch::randn({3, 2, 8}), k = torch::randn({4, 2, 5}), v = torch::randn({4, 2, 5});
  Tensor padding = torch::zeros({2, 4}, torch::kBool);
  padding.index_put_({0, 1}, true);
  auto [result, weights] = heads->forward(q, k, v, padding, true, torch::full({3, 4}, -0.5));
  digest("attention", result);
  digest("weights", weights);
  nn::TransformerEncoderLayer layer(nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(6));
  digest("layer", layer->forward(q));
  layer->options.activation([](const Tensor& t) { return t.tanh(); });
  nn::TransformerEncoder encoder(nn::TransformerEncoderOptions(layer, 2).norm(nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({8})))));
  std::cout << encoder << "\n";
  digest("encoder", encoder->forward(q));
  nn::Transformer whole(nn::TransformerOptions(8, 2, 1, 1).dim_feedforward(6));
  parameters(whole);
  digest("transformer", whole->forward(q, torch::randn({4, 2, 8}), {}, nn::TransformerImpl::generate_square_subsequent_mask(4)));
  whole->eval();
  auto copy = std::dynamic_pointer_cast<nn::TransformerImpl>(whole->clone());
  digest("copy", copy->forward(q, q));
  failing("heads", [&] { nn::MultiheadAttention(7, 2); });
  failing("batch", [&] { whole->forward(q, torch::randn({4, 3, 8})); });
  nn::AdaptiveLogSoftmaxWithLoss softmax(nn::AdaptiveLogSoftmaxWithLossOptions(8, 10, {3, 6}).div_value(2.).head_bias(true));
  parameters(softmax);
  Tensor rows = q.reshape({6, 8}), targets = torch::tensor({0, 4, 9, 2, 6, 5});
  digest("adaptive", softmax->forward(rows, targets).output);
  digest("log_prob", softmax->log_prob(rows));
  std::cout << softmax->predict(rows) << "\n" << softmax << "\n";
  failing("targets", [&] { softmax->forward(rows, targets + 1); });
  failing("cutoffs", [&] { nn::AdaptiveLogSoftmaxWithLoss(8, 10, std::vector<int64_t>{6, 3}); });
}

void containers() {
  nn::ModuleList list(nn::Linear(1, 2), nn::Dropout(0.5));
  list->insert(1, nn::ReLU());
  std::cout << list << "\n";
  failing("index", [&] { list->at<nn::LinearImpl>(5); });
  failing("class", [&] { list->at<nn::LinearImpl>(2); });
  nn::ModuleDict dictionary(std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>>{{"b", nn::ReLU().ptr()}, {"a", nn::Linear(1, 1).ptr()}});
  std::cout << dictionary << "\n";
  failing("key", [&] { dictionary["c"]; });
  nn::ParameterDict parameters;
  parameters->insert("w", torch::ones({2}, torch::requires_grad()));
  parameters->insert("v", torch::ones({2, 2}, torch::kDouble));
  std::cout << nn::ParameterList(torch::ones({2, 3}), torch::ones({1})) << "\n" << parameters << "\n";
  failing("parameter", [&] { parameters["q"]; });
  Tensor a = torch::ones({3}, torch::requires_grad());
  a.mutable_grad() = torch::ones({3}) * 4;
  std::cout << nn::utils::clip_grad_norm_(a, 1.0) << " " << nn::utils::clip_grad_norm_({a}, 0.5, INFINITY) << " " << a.grad() << "\n";
  nn::utils::clip_grad_value_(a, 0.01);
  std::cout << a.grad() << "\n";
  a.mutable_grad() = torch::full({3}, INFINITY);
  failing("norm", [&] { nn::utils::clip_grad_norm_(a, 1.0, 2.0, true); });
  nn::utils::vector_to_parameters(torch::arange(3.0), {a});
  std::cout << nn::utils::parameters_to_vector({a, a}) << "\n";
}

}  // namespace

int main() {
  recurrent();
  attention();
  containers();
}
