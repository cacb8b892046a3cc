// LSTM, GRU and RNN, and their cells. The recurrences are operators.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/container/any.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/options/rnn.h>
#include <torch/nn/pimpl.h>
#include <torch/nn/utils/rnn.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {

/// Base of LSTM, GRU and RNN: weights and checks. (A template, so that only programs that instantiate one compile it.)
template <class Derived>
class RNNWeights {
 public:
  explicit RNNWeights(const RNNOptionsBase& options) : options_base(options) {}

  /// For devices whose kernels need the weights in one block. On the CPU it has no effect.
  void flatten_parameters() {}
  std::vector<Tensor> all_weights() const { return flat_weights_; }

  RNNOptionsBase options_base;

 protected:
  /// Shape of a hidden state.
  struct Sizes {
    int64_t layers, batch, features;
  };

  void make_weights(Module& owner) {
    const RNNOptionsBase& options = options_base;
    check_options();
    int64_t hidden = options.hidden_size(), state = state_size();
    int64_t gates = hidden * (is<enumtype::kLSTM>() ? 4 : is<enumtype::kGRU>() ? 3 : 1);
    flat_weights_names_.clear();
    flat_weights_.clear();
    for (int64_t layer = 0; layer < options.num_layers(); ++layer) {
      for (int64_t direction = 0; direction < directions(); ++direction) {
        std::string suffix = "_l" + std::to_string(layer) + (direction == 1 ? "_reverse" : "");
        int64_t features = layer == 0 ? options.input_size() : state * directions();
        auto add = [&](const char* name, IntArrayRef sizes) {
          flat_weights_names_.push_back(name + suffix);
          flat_weights_.push_back(owner.register_parameter(name + suffix, torch::empty(sizes)));
        };
        add("weight_ih", {gates, features});
        add("weight_hh", {gates, state});
        if (options.bias()) {
          add("bias_ih", {gates});
          add("bias_hh", {gates});
        }
        if (options.proj_size() > 0) add("weight_hr", {options.proj_size(), hidden});
      }
    }
    init_parameters(owner, hidden);
  }
  static void init_parameters(const Module& owner, int64_t hidden) {
    c10::NoGradGuard guard;
    double bound = 1.0 / std::sqrt(static_cast<double>(hidden));
    for (const Tensor& weight : owner.parameters()) init::uniform_(weight, -bound, bound);
  }

  void describe(std::ostream& stream) const {
    const RNNOptionsBase& options = options_base;
    auto text = [](bool value) { return value ? "true" : "false"; };
    stream << "torch::nn::" << (is<enumtype::kLSTM>() ? "LSTM" : is<enumtype::kGRU>() ? "GRU" : "RNN") << "(input_size=" << options.input_size()
           << ", hidden_size=" << options.hidden_size() << ", num_layers=" << options.num_layers() << ", bias=" << text(options.bias())
           << ", batch_first=" << text(options.batch_first()) << ", dropout=" << options.dropout()
           << ", bidirectional=" << text(options.bidirectional());
    if (options.proj_size() > 0) stream << ", proj_size=" << options.proj_size();
    stream << ")";
  }

  template <class Mode>
  bool is() const {
    return std::holds_alternative<Mode>(options_base.mode());
  }
  int64_t directions() const { return options_base.bidirectional() ? 2 : 1; }
  /// Features of a hidden state.
  int64_t state_size() const { return options_base.proj_size() > 0 ? options_base.proj_size() : options_base.hidden_size(); }
  int64_t batch_of(const Tensor& input) const { return input.size(options_base.batch_first() ? 0 : 1); }

  void check_input(const Tensor& input, const Tensor& batch_sizes) const {
    int64_t expected = batch_sizes.defined() ? 2 : 3;
    TORCH_CHECK(input.dim() == expected, "input must have ", expected, " dimensions, got ", input.dim());
    TORCH_CHECK(input.size(-1) == options_base.input_size(), "input.size(-1) must be equal to input_size. Expected ", options_base.input_size(),
                ", got ", input.size(-1));
  }
  Sizes get_expected_hidden_size(const Tensor& input, const Tensor& batch_sizes) const {
    return expected_size(input, batch_sizes, state_size());
  }
  Sizes expected_size(const Tensor& input, const Tensor& batch_sizes, int64_t features) const {
    int64_t batch = batch_sizes.defined() ? batch_sizes[0].template item<int64_t>() : batch_of(input);
    return {options_base.num_layers() * directions(), batch, features};
  }
  void check_hidden_size(const Tensor& hx, const Sizes& expected, const char* what = "hidden") const {
    auto [layers, batch, features] = expected;
    TORCH_CHECK(hx.sizes() == IntArrayRef({layers, batch, features}), "Expected ", what, " size ", layers, " ", batch, " ", features, ", got ", hx.sizes());
  }
  Tensor permute_hidden(const Tensor& hx, const Tensor& permutation) const {
    return permutation.defined() ? hx.index_select(1, permutation) : hx;
  }
  Tensor zero_state(const Tensor& input, int64_t batch, int64_t features) const {
    return torch::zeros({options_base.num_layers() * directions(), batch, features}, TensorOptions(input.scalar_type()).device(input.device()));
  }

  std::vector<std::string> flat_weights_names_;
  std::vector<Tensor> flat_weights_;

 private:
  void check_options() const {
    const RNNOptionsBase& options = options_base;
    TORCH_CHECK(0 <= options.dropout() && options.dropout() <= 1,
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed");
    if (options.dropout() > 0 && options.num_layers() == 1) {
      TORCH_WARN("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than 1, but got dropout=",
                 options.dropout(), " and num_layers=", options.num_layers());
    }
    TORCH_CHECK(options.hidden_size() > 0, "hidden_size must be greater than zero");
    TORCH_CHECK(options.num_layers() > 0, "num_layers must be greater than zero");
    TORCH_CHECK(0 <= options.proj_size() && options.proj_size() < options.hidden_size(),
                "proj_size has to be a positive integer, smaller than hidden_size or zero to disable projections");
    TORCH_CHECK(options.proj_size() == 0 || is<enumtype::kLSTM>(), "proj_size argument is only supported for LSTM, not RNN or GRU");
  }
};

/// Base of LSTM, GRU and RNN.
template <class Derived>
class RNNImplBase : public Cloneable<Derived>, public RNNWeights<Derived> {
 public:
  explicit RNNImplBase(const RNNOptionsBase& options) : RNNWeights<Derived>(options) { RNNImplBase::reset(); }

  void reset() override { this->make_weights(*this); }
  void reset_parameters() { this->init_parameters(*this, this->options_base.hidden_size()); }
  void pretty_print(std::ostream& stream) const override { this->describe(stream); }
};

template <class Options>
RNNOptionsBase base_options(RNNOptionsBase::rnn_options_base_mode_t mode, const Options& options) {
  RNNOptionsBase base(mode, options.input_size(), options.hidden_size());
  base.num_layers(options.num_layers()).bias(options.bias()).batch_first(options.batch_first()).dropout(options.dropout());
  base.bidirectional(options.bidirectional());
  return base;
}
RLT_LAZY RNNOptionsBase options_of(const RNNOptions& options) {
  bool relu = std::holds_alternative<enumtype::kReLU>(options.nonlinearity());
  return relu ? base_options(torch::kRNN_RELU, options) : base_options(torch::kRNN_TANH, options);
}
RLT_LAZY RNNOptionsBase options_of(const GRUOptions& options) { return base_options(torch::kGRU, options); }
RLT_LAZY RNNOptionsBase options_of(const LSTMOptions& options) {
  return base_options(torch::kLSTM, options).proj_size(options.proj_size());
}

/// GRU and RNN, whose state is one tensor. Compiled where it is used.
template <class Derived, class Options, class Packed = utils::rnn::PackedSequence>
class OneStateBase : public RNNImplBase<Derived> {
 public:
  explicit OneStateBase(const Options& options_) : RNNImplBase<Derived>(options_of(options_)), options(options_) {}

  /// The outputs of all steps, and the last hidden state.
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {}) {
    return forward_helper(input, {}, {}, this->batch_of(input), std::move(hx));
  }
  std::tuple<Packed, Tensor> forward_with_packed_input(const Packed& packed, Tensor hx = {}) {
    auto [output, hidden] = forward_helper(packed.data(), packed.batch_sizes(), packed.sorted_indices(),
                                           packed.batch_sizes()[0].template item<int64_t>(), std::move(hx));
    return {Packed(output, packed.batch_sizes(), packed.sorted_indices(), packed.unsorted_indices()), this->permute_hidden(hidden, packed.unsorted_indices())};
  }

  Options options;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
  std::tuple<Tensor, Tensor> forward_helper(const Tensor& input, const Tensor& batch_sizes, const Tensor& sorted_indices, int64_t max_batch_size,
                                            Tensor hx) {
    hx = hx.defined() ? this->permute_hidden(hx, sorted_indices) : this->zero_state(input, max_batch_size, this->options_base.hidden_size());
    this->check_input(input, batch_sizes);
    this->check_hidden_size(hx, this->get_expected_hidden_size(input, batch_sizes));
    auto [padded, packed] = operators();
    const RNNOptionsBase& base = this->options_base;
    if (!batch_sizes.defined()) {
      return padded(input, hx, this->flat_weights_, base.bias(), base.num_layers(), base.dropout(), this->is_training(), base.bidirectional(),
                    base.batch_first());
    }
    return packed(input, batch_sizes, hx, this->flat_weights_, base.bias(), base.num_layers(), base.dropout(), this->is_training(), base.bidirectional());
  }

 private:
  using Padded = std::tuple<Tensor, Tensor> (*)(const Tensor&, const Tensor&, TensorList, bool, int64_t, double, bool, bool, bool);
  using PackedSteps = std::tuple<Tensor, Tensor> (*)(const Tensor&, const Tensor&, const Tensor&, TensorList, bool, int64_t, double, bool, bool);
  struct Operators {
    Padded padded;
    PackedSteps packed;
  };
  Operators operators() const {
    if (this->template is<enumtype::kGRU>()) return {torch::gru, torch::gru};
    if (this->template is<enumtype::kRNN_RELU>()) return {torch::rnn_relu, torch::rnn_relu};
    return {torch::rnn_tanh, torch::rnn_tanh};
  }
};

}  // namespace detail

/// h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh), or relu instead of tanh
class RNNImpl : public detail::OneStateBase<RNNImpl, RNNOptions> {
 public:
  RLT_LAZY RNNImpl(int64_t input_size, int64_t hidden_size) : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  RLT_LAZY explicit RNNImpl(const RNNOptions& options_) : OneStateBase(options_) {}
};
TORCH_MODULE(RNN);

namespace detail {
/// The module, compiled where it is used.
template <class Derived, class Packed = utils::rnn::PackedSequence, class State = std::tuple<Tensor, Tensor>>
class LSTMBase : public RNNImplBase<Derived> {
 public:
  explicit LSTMBase(const LSTMOptions& options_) : RNNImplBase<Derived>(options_of(options_)), options(options_) {}

  /// The outputs of all steps, and the last hidden and cell state.
  std::tuple<Tensor, State> forward(const Tensor& input, std::optional<State> hx_opt = {}) {
    return forward_helper(input, {}, {}, this->batch_of(input), std::move(hx_opt));
  }
  std::tuple<Packed, State> forward_with_packed_input(const Packed& packed, std::optional<State> hx_opt = {}) {
    auto [output, hidden] = forward_helper(packed.data(), packed.batch_sizes(), packed.sorted_indices(),
                                           packed.batch_sizes()[0].template item<int64_t>(), std::move(hx_opt));
    return {Packed(output, packed.batch_sizes(), packed.sorted_indices(), packed.unsorted_indices()), this->permute_state(hidden, packed.unsorted_indices())};
  }

  LSTMOptions options;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<State>())})
  State permute_state(const State& state, const Tensor& permutation) const {
    return {this->permute_hidden(std::get<0>(state), permutation), this->permute_hidden(std::get<1>(state), permutation)};
  }
  std::tuple<Tensor, State> forward_helper(const Tensor& input, const Tensor& batch_sizes, const Tensor& sorted_indices,
                                                    int64_t max_batch_size, std::optional<State> hx_opt) {
    int64_t cells = this->options_base.hidden_size();
    State state = hx_opt ? this->permute_state(*hx_opt, sorted_indices)
                         : State(this->zero_state(input, max_batch_size, this->state_size()), this->zero_state(input, max_batch_size, cells));
    this->check_input(input, batch_sizes);
    this->check_hidden_size(std::get<0>(state), this->get_expected_hidden_size(input, batch_sizes), "hidden[0]");
    this->check_hidden_size(std::get<1>(state), this->expected_size(input, batch_sizes, cells), "hidden[1]");
    const RNNOptionsBase& base = this->options_base;
    const Tensor both[] = {std::get<0>(state), std::get<1>(state)};
    auto [output, hidden, cell] =
        batch_sizes.defined()
            ? torch::lstm(input, batch_sizes, both, this->flat_weights_, base.bias(), base.num_layers(), base.dropout(), this->is_training(), base.bidirectional())
            : torch::lstm(input, both, this->flat_weights_, base.bias(), base.num_layers(), base.dropout(), this->is_training(), base.bidirectional(), base.batch_first());
    return {output, State(hidden, cell)};
  }
};
}  // namespace detail

/// i, f, g, o = gates of W_ih x_t + b_ih + W_hh h_(t-1) + b_hh; c_t = f c_(t-1) + i g; h_t = o tanh(c_t)
class LSTMImpl : public detail::LSTMBase<LSTMImpl> {
 public:
  RLT_LAZY LSTMImpl(int64_t input_size, int64_t hidden_size) : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  RLT_LAZY explicit LSTMImpl(const LSTMOptions& options_) : LSTMBase(options_) {}
};
TORCH_MODULE(LSTM);

/// r, z = gates; n = tanh(W_in x_t + b_in + r (W_hn h_(t-1) + b_hn)); h_t = (1 - z) n + z h_(t-1)
class GRUImpl : public detail::OneStateBase<GRUImpl, GRUOptions> {
 public:
  RLT_LAZY GRUImpl(int64_t input_size, int64_t hidden_size) : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  RLT_LAZY explicit GRUImpl(const GRUOptions& options_) : OneStateBase(options_) {}
};
TORCH_MODULE(GRU);

namespace detail {

/// Base of the cells. (A template, so that only programs that instantiate one compile it.)
template <class Derived>
class RNNCellWeights {
 public:
  explicit RNNCellWeights(const RNNCellOptionsBase& options) : options_base(options) {}

  RNNCellOptionsBase options_base;
  Tensor weight_ih;
  Tensor weight_hh;
  Tensor bias_ih;
  Tensor bias_hh;

 protected:
  void make_weights(Module& owner) {
    const RNNCellOptionsBase& options = options_base;
    int64_t gates = options.num_chunks() * options.hidden_size();
    weight_ih = owner.register_parameter("weight_ih", torch::empty({gates, options.input_size()}));
    weight_hh = owner.register_parameter("weight_hh", torch::empty({gates, options.hidden_size()}));
    bias_ih = owner.register_parameter("bias_ih", options.bias() ? torch::empty({gates}) : Tensor(), /*requires_grad=*/options.bias());
    bias_hh = owner.register_parameter("bias_hh", options.bias() ? torch::empty({gates}) : Tensor(), /*requires_grad=*/options.bias());
    init_parameters(owner);
  }
  void init_parameters(const Module& owner) const {
    double bound = 1.0 / std::sqrt(static_cast<double>(options_base.hidden_size()));
    for (const Tensor& weight : owner.parameters()) init::uniform_(weight, -bound, bound);
  }
  void describe(std::ostream& stream, const std::string& nonlinearity) const {
    static const char* const names[] = {"RNNCell", "GRUCell", "LSTMCell"};
    int64_t gates = options_base.num_chunks();
    stream << "torch::nn::" << names[gates == 1 ? 0 : gates == 3 ? 1 : 2] << "(" << options_base.input_size() << ", " << options_base.hidden_size();
    if (!options_base.bias()) stream << ", bias=false";
    if (!nonlinearity.empty() && nonlinearity != "kTanh") stream << ", nonlinearity=" << nonlinearity;
    stream << ")";
  }
  void check_forward_input(const Tensor& input, const char* name) const {
    TORCH_CHECK(input.dim() == 1 || input.dim() == 2, "Expected ", name, " to be 1D or 2D, got ", input.dim(), "D instead");
  }
  Tensor zero_state(const Tensor& input) const {
    return torch::zeros({input.size(0), options_base.hidden_size()}, TensorOptions(input.scalar_type()).device(input.device()));
  }
};

/// Base of the cells.
template <class Derived>
class RNNCellImplBase : public Cloneable<Derived>, public RNNCellWeights<Derived> {
 public:
  explicit RNNCellImplBase(const RNNCellOptionsBase& options) : RNNCellWeights<Derived>(options) { RNNCellImplBase::reset(); }

  void reset() override { this->make_weights(*this); }
  void reset_parameters() { this->init_parameters(*this); }
  void pretty_print(std::ostream& stream) const override { this->describe(stream, get_nonlinearity_str()); }

 protected:
  virtual std::string get_nonlinearity_str() const { return {}; }
};

}  // namespace detail

namespace detail {
/// The cells of GRU and RNN, whose state is one tensor. Compiled where it is used.
template <class Derived, class Options, int64_t Gates>
class OneStateCellBase : public RNNCellImplBase<Derived> {
 public:
  explicit OneStateCellBase(const Options& options_)
      : RNNCellImplBase<Derived>(RNNCellOptionsBase(options_.input_size(), options_.hidden_size(), options_.bias(), Gates)), options(options_) {}

  Tensor forward(const Tensor& input, const Tensor& hx = {}) {
    this->check_forward_input(input, "input");
    if (hx.defined()) this->check_forward_input(hx, "hidden");
    auto step = step_of(options);
    return step(input, hx.defined() ? hx : this->zero_state(input), this->weight_ih, this->weight_hh, this->bias_ih, this->bias_hh);
  }

  Options options;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
  std::string get_nonlinearity_str() const override {
    if constexpr (Gates == 1) return enumtype::get_enum_name(options.nonlinearity());
    return {};
  }

 private:
  using Step = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const std::optional<Tensor>&, const std::optional<Tensor>&);
  static Step step_of(const RNNCellOptions& options) {
    return std::holds_alternative<enumtype::kReLU>(options.nonlinearity()) ? Step(torch::rnn_relu_cell) : Step(torch::rnn_tanh_cell);
  }
  static Step step_of(const GRUCellOptions&) { return torch::gru_cell; }
};
}  // namespace detail

/// One step of an RNN of one layer.
class RNNCellImpl : public detail::OneStateCellBase<RNNCellImpl, RNNCellOptions, 1> {
 public:
  RLT_LAZY RNNCellImpl(int64_t input_size, int64_t hidden_size) : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  RLT_LAZY explicit RNNCellImpl(const RNNCellOptions& options_) : OneStateCellBase(options_) {}
};
TORCH_MODULE(RNNCell);

namespace detail {
/// The module, compiled where it is used.
template <class Derived, class State = std::tuple<Tensor, Tensor>>
class LSTMCellBase : public RNNCellImplBase<Derived> {
 public:
  explicit LSTMCellBase(const LSTMCellOptions& options_) : RNNCellImplBase<Derived>(RNNCellOptionsBase(options_.input_size(), options_.hidden_size(), options_.bias(), 4)), options(options_) {}

  /// The new hidden and cell state.
  State forward(const Tensor& input, std::optional<State> hx_opt = {}) {
    this->check_forward_input(input, "input");
    if (hx_opt) {
      this->check_forward_input(std::get<0>(*hx_opt), "hx[0]");
      this->check_forward_input(std::get<1>(*hx_opt), "hx[1]");
    }
    Tensor zeros = hx_opt ? Tensor() : this->zero_state(input);
    const Tensor state[] = {hx_opt ? std::get<0>(*hx_opt) : zeros, hx_opt ? std::get<1>(*hx_opt) : zeros};
    return torch::lstm_cell(input, state, this->weight_ih, this->weight_hh, this->bias_ih, this->bias_hh);
  }

  LSTMCellOptions options;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<State>())})
};
}  // namespace detail

/// One step of an LSTM of one layer.
class LSTMCellImpl : public detail::LSTMCellBase<LSTMCellImpl> {
 public:
  RLT_LAZY LSTMCellImpl(int64_t input_size, int64_t hidden_size) : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  RLT_LAZY explicit LSTMCellImpl(const LSTMCellOptions& options_) : LSTMCellBase(options_) {}
};
TORCH_MODULE(LSTMCell);

/// One step of a GRU of one layer.
class GRUCellImpl : public detail::OneStateCellBase<GRUCellImpl, GRUCellOptions, 3> {
 public:
  RLT_LAZY GRUCellImpl(int64_t input_size, int64_t hidden_size) : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  RLT_LAZY explicit GRUCellImpl(const GRUCellOptions& options_) : OneStateCellBase(options_) {}
};
TORCH_MODULE(GRUCell);

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
