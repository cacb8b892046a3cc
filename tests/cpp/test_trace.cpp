// torch::jit::trace: modules and functions of C++ as modules of TorchScript. With RUSHLIGHT_TRACED=FOLDER, the traced models
// are saved there, for tests/oracle/script_traced.py.
#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/trace.h>
#include <torch/torch.h>
#include <torch/script.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <sstream>

namespace {

namespace nn = torch::nn;
using torch::Tensor;

// ---- models ----

struct LeNetImpl : nn::Module {
  LeNetImpl()
      : conv1(register_module("conv1", nn::Conv2d(1, 6, 5))),
        conv2(register_module("conv2", nn::Conv2d(6, 16, 5))),
        fc1(register_module("fc1", nn::Linear(256, 120))),
        fc2(register_module("fc2", nn::Linear(120, 10))) {}
  Tensor forward(Tensor x) {
    x = torch::max_pool2d(torch::relu(conv1(x)), 2);
    x = torch::max_pool2d(torch::relu(conv2(x)), 2);
    x = x.view({x.size(0), -1});
    return torch::log_softmax(fc2(torch::relu(fc1(x))), 1);
  }
  nn::Conv2d conv1, conv2;
  nn::Linear fc1, fc2;
};
TORCH_MODULE(LeNet);

struct ClassifierImpl : nn::Module {
  ClassifierImpl()
      : embed(register_module("embed", nn::Embedding(20, 8))),
        lstm(register_module("lstm", nn::LSTM(nn::LSTMOptions(8, 16).batch_first(true).bidirectional(true)))),
        drop(register_module("drop", nn::Dropout(0.5))),
        fc(register_module("fc", nn::Linear(32, 3))) {}
  Tensor forward(const Tensor& tokens) {
    auto output = std::get<0>(lstm(embed(tokens)));
    return fc(drop(std::get<0>(output.max(1))));
  }
  nn::Embedding embed;
  nn::LSTM lstm;
  nn::Dropout drop;
  nn::Linear fc;
};
TORCH_MODULE(Classifier);

struct BlockImpl : nn::Module {
  explicit BlockImpl(int64_t channels)
      : conv(register_module("conv", nn::Conv2d(nn::Conv2dOptions(channels, channels, 3).padding(1).bias(false)))),
        bn(register_module("bn", nn::BatchNorm2d(channels))) {}
  Tensor forward(const Tensor& x) { return torch::relu(bn(conv(x)) + x); }
  nn::Conv2d conv;
  nn::BatchNorm2d bn;
};
TORCH_MODULE(Block);

struct ResNetImpl : nn::Module {
  ResNetImpl() : stem(register_module("stem", nn::Conv2d(3, 8, 3))), layers(register_module("layers", nn::Sequential(Block(8), Block(8)))), fc(register_module("fc", nn::Linear(8, 5))) {}
  Tensor forward(const Tensor& x) { return fc(torch::adaptive_avg_pool2d(layers->forward(stem(x)), {1, 1}).flatten(1)); }
  nn::Conv2d stem;
  nn::Sequential layers{nullptr};
  nn::Linear fc;
};
TORCH_MODULE(ResNet);

// ---- saving ----

void write(std::ostream& out, const Tensor& tensor) {
  Tensor flat = tensor.detach().to(torch::kDouble).flatten();
  out << "{\"dtype\": \"" << (tensor.scalar_type() == torch::kLong ? "int64" : "float32") << "\", \"shape\": [";
  for (int64_t i = 0; i < tensor.dim(); ++i) out << (i ? ", " : "") << tensor.size(i);
  out << "], \"data\": [";
  for (int64_t i = 0; i < flat.numel(); ++i) out << (i ? ", " : "") << flat[i].item<double>();
  out << "]}";
}

std::vector<Tensor> tensors_of(const torch::jit::IValue& value) {
  if (value.isTensor()) return {value.toTensor()};
  std::vector<Tensor> tensors;
  if (!value.isTuple()) return tensors;
  for (const auto& item : value.toTuple()->elements()) {
    for (const Tensor& tensor : tensors_of(item)) tensors.push_back(tensor);
  }
  return tensors;
}

/// The archive with a case for Python.
void keep(const std::string& name, const torch::jit::Module& module, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  const char* folder = std::getenv("RUSHLIGHT_TRACED");
  if (!folder) return;
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  auto list = [&](const char* key, const std::vector<Tensor>& tensors) {
    text << "\"" << key << "\": [";
    for (size_t i = 0; i < tensors.size(); ++i) {
      text << (i ? ", " : "");
      write(text, tensors[i]);
    }
    text << "]";
  };
  text << "{";
  list("inputs", inputs);
  text << ", ";
  list("outputs", outputs);
  text << "}";
  module.save(std::string(folder) + "/" + name + ".pt", {{"case.json", text.str()}});
}

/// Saved and loaded, the module computes the same as the function, for these inputs.
void check(const std::string& name, const torch::jit::Module& module, const std::vector<Tensor>& inputs, const torch::jit::IValue& expected) {
  SCOPED_TRACE(name);
  std::stringstream stream;
  module.save(stream);
  torch::jit::Module loaded = torch::jit::load(stream);
  std::vector<torch::jit::IValue> arguments(inputs.begin(), inputs.end());
  std::vector<Tensor> found = tensors_of(loaded.forward(arguments)), wanted = tensors_of(expected);
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(torch::allclose(found[i], wanted[i], 1e-5, 1e-6)) << found[i] << wanted[i];
  keep(name, module, inputs, wanted);
}

std::vector<std::string> names(const std::vector<torch::jit::NameTensor>& tensors) {
  std::vector<std::string> names;
  for (const auto& each : tensors) names.push_back(each.name);
  return names;
}

// ---- tests ----

TEST(Trace, AConvolutionalNetwork) {
  torch::manual_seed(0);
  LeNet net;
  Tensor x = torch::rand({2, 1, 28, 28}), y = torch::rand({5, 1, 28, 28});
  torch::jit::Module traced = torch::jit::trace(net, x, torch::rand({3, 1, 28, 28}));
  check("lenet", traced, {y}, net(y));
  EXPECT_EQ(names(traced.named_parameters()), net->named_parameters().keys());
  // The parameters are those of the module.
  EXPECT_TRUE(traced.named_parameters()[0].value.is_same(net->conv1->weight));
  std::string graph = traced.get_method("forward").graph()->toString();
  EXPECT_NE(graph.find("aten::_convolution"), std::string::npos) << graph;
  EXPECT_NE(graph.find("__torch__.torch.nn.modules.conv.Conv2d"), std::string::npos) << graph;
  EXPECT_FALSE(torch::jit::tracer::isTracing());
  // One example: the number of images is a constant.
  torch::jit::Module fixed = torch::jit::trace(net, x);
  EXPECT_TRUE(torch::allclose(fixed.forward({x}).toTensor(), net(x)));
  EXPECT_THROW(fixed.forward({torch::rand({3, 1, 28, 28})}), c10::Error);
}

TEST(Trace, ATextClassifier) {
  torch::manual_seed(0);
  Classifier net;
  net->eval();
  auto tokens = [](int64_t batch, int64_t length) { return torch::randint(20, {batch, length}); };
  torch::jit::Module traced = torch::jit::trace(net, tokens(2, 7), tokens(3, 5));
  Tensor other = tokens(4, 11);
  check("classifier", traced, {other}, net(other));
  EXPECT_EQ(names(traced.named_parameters()), net->named_parameters().keys());
}

TEST(Trace, ATransformerLayer) {
  torch::manual_seed(0);
  nn::TransformerEncoderLayer layer(nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16));
  layer->eval();
  torch::jit::Module traced = torch::jit::trace(layer, torch::rand({3, 2, 8}), torch::rand({5, 4, 8}));
  Tensor other = torch::rand({7, 3, 8});
  check("transformer_layer", traced, {other}, layer(other));
}

TEST(Trace, TrainingModeAndBuffers) {
  torch::manual_seed(0);
  ResNet net;
  torch::jit::Module traced = torch::jit::trace(net, torch::rand({2, 3, 8, 8}));
  EXPECT_TRUE(traced.is_training());
  // The function ran once, and the check on a copy.
  EXPECT_EQ(traced.named_buffers()[2].name, "layers.0.bn.num_batches_tracked");
  EXPECT_EQ(traced.named_buffers()[2].value.item<int64_t>(), 1);
  traced.forward({torch::rand({4, 3, 8, 8})});
  EXPECT_EQ(net->layers[0]->as<Block>()->bn->num_batches_tracked.item<int64_t>(), 2);
  net->eval();
  traced = torch::jit::trace(net, torch::rand({2, 3, 8, 8}));
  EXPECT_FALSE(traced.is_training());
  Tensor other = torch::rand({3, 3, 10, 10});
  check("resnet", traced, {other}, net(other));
  // Training the trace trains the module.
  traced.forward({other}).toTensor().sum().backward();
  EXPECT_TRUE(net->fc->weight.grad().defined());
}

TEST(Trace, LayersOfManyKinds) {
  torch::manual_seed(0);
  auto layer = [](const char* name, auto module, const Tensor& x) {
    module->eval();
    torch::jit::Module traced = torch::jit::trace(module, x);
    check(name, traced, {x}, module->forward(x));
  };
  Tensor image = torch::rand({2, 4, 9, 9}), line = torch::rand({2, 4, 9}), rows = torch::rand({3, 6});
  layer("conv1d_same", nn::Conv1d(nn::Conv1dOptions(4, 3, 3).padding(torch::kSame)), line);
  layer("conv_transpose2d", nn::ConvTranspose2d(nn::ConvTranspose2dOptions(4, 3, 3).stride(2).output_padding(1)), image);
  layer("conv_reflect", nn::Conv2d(nn::Conv2dOptions(4, 3, 3).padding(1).padding_mode(torch::kReflect)), image);
  layer("group_norm", nn::GroupNorm(2, 4), image);
  layer("instance_norm", nn::InstanceNorm2d(nn::InstanceNorm2dOptions(4).affine(true)), image);
  layer("layer_norm", nn::LayerNorm(nn::LayerNormOptions({6})), rows);
  layer("batch_norm1d", nn::BatchNorm1d(6), rows);
  layer("prelu", nn::PReLU(), rows);
  layer("glu", nn::GLU(1), rows);
  layer("upsample", nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>{2.0, 2.0}).mode(torch::kBilinear).align_corners(false)), image);
  layer("pixel_shuffle", nn::PixelShuffle(2), image);
  layer("avg_pool", nn::AvgPool2d(3), image);
  layer("local_response_norm", nn::LocalResponseNorm(2), image);
  layer("mlp", nn::Sequential(nn::Linear(6, 8), nn::GELU(), nn::Dropout(0.1), nn::Linear(8, 2), nn::Softmax(1)), rows);
  layer("gru", nn::GRU(nn::GRUOptions(9, 5).num_layers(2)), line);
  layer("rnn", nn::RNN(nn::RNNOptions(9, 5).nonlinearity(torch::kReLU)), line);
  layer("lstm_cell", nn::LSTMCell(6, 5), rows);
}

TEST(Trace, AttentionAndCells) {
  torch::manual_seed(0);
  nn::MultiheadAttention attention(nn::MultiheadAttentionOptions(8, 2));
  attention->eval();
  Tensor q = torch::rand({3, 2, 8}), k = torch::rand({5, 2, 8}), v = torch::rand({5, 2, 8});
  torch::jit::Module traced = torch::jit::trace(attention, std::make_tuple(q, k, v));
  check("attention", traced, {q, k, v}, attention(q, k, v));

  nn::TransformerEncoder encoder(nn::TransformerEncoderOptions(nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16), 2));
  encoder->eval();
  traced = torch::jit::trace(encoder, torch::rand({3, 2, 8}), torch::rand({5, 4, 8}));
  Tensor other = torch::rand({2, 3, 8});
  check("transformer_encoder", traced, {other}, encoder(other));
}

TEST(Trace, Functions) {
  torch::manual_seed(0);
  auto rotate = [](const Tensor& x, const Tensor& angle) {
    Tensor c = angle.cos(), s = angle.sin();
    Tensor matrix = torch::stack({torch::stack({c, -s}), torch::stack({s, c})});
    Tensor moved = x.matmul(matrix);
    moved.index_put_({torch::indexing::Slice(), 0}, moved.index({torch::indexing::Slice(), 0}) * 2);
    return std::make_tuple(moved, moved.norm());
  };
  torch::jit::TraceOptions options;
  options.argument_names({"x", "angle"}).class_name("Rotation");
  torch::jit::Module traced = torch::jit::trace(rotate, std::make_tuple(torch::rand({3, 2}), torch::tensor(0.5f)), options);
  EXPECT_EQ(traced.get_method("forward").schema().toText(), "forward(__torch__.Rotation self, Tensor x, Tensor angle) -> ((Tensor, Tensor))");
  Tensor x = torch::rand({4, 2}), angle = torch::tensor(0.25f);
  check("rotation", traced, {x, angle}, rotate(x, angle));
  std::function<Tensor(Tensor)> doubled = [](Tensor x) { return x * 2; };
  EXPECT_EQ(torch::jit::trace(doubled, torch::ones({1})).forward({torch::ones({3})}).toTensor().sum().item<float>(), 6);
}

TEST(Trace, LibtorchsTracer) {
  auto [state, outputs] = torch::jit::tracer::trace(
      {torch::ones({2}), torch::ones({2})},
      [](torch::jit::Stack stack) {
        EXPECT_TRUE(torch::jit::tracer::isTracing());
        return torch::jit::Stack{stack[0].toTensor() + stack[1].toTensor()};
      },
      [](const Tensor&) { return std::string(); });
  EXPECT_EQ(outputs[0].toTensor().sum().item<float>(), 4);
  EXPECT_NE(state->graph->toString().find("aten::add(%input_0, %input_1"), std::string::npos) << *state->graph;
  EXPECT_EQ(state->module.forward({torch::ones({3}), torch::ones({3})}).toTensor().sum().item<float>(), 6);
}

TEST(Trace, FunctionsThatThrowLeaveNothingBehind) {
  auto fails = [](const Tensor& x) -> Tensor {
    (void)(x + 1);
    throw std::runtime_error("no");
  };
  EXPECT_THROW(torch::jit::trace(fails, torch::ones({1})), std::runtime_error);
  EXPECT_FALSE(torch::jit::tracer::isTracing());
  auto nested = [](const Tensor& x) { return torch::jit::trace([](const Tensor& y) { return y + 1; }, torch::ones({1})).forward({x}).toTensor(); };
  EXPECT_THROW(torch::jit::trace(nested, torch::ones({1})), c10::Error);
  EXPECT_FALSE(torch::jit::tracer::isTracing());
  // A second example with other numbers that follow from no size.
  int calls = 0;
  auto counts = [&](const Tensor& x) { return x + ++calls * 10; };
  EXPECT_THROW(torch::jit::trace(counts, torch::ones({2}), torch::ones({3})), c10::Error);
  // A parameter of a module that is not traced.
  nn::Linear hidden(2, 2);
  EXPECT_THROW(torch::jit::trace([&](const Tensor& x) { return hidden(x); }, torch::ones({1, 2})), c10::Error);
}

TEST(Trace, BecomesAFunctionOfACompilationUnit) {
  std::function<torch::jit::Stack(torch::jit::Stack)> function = [](torch::jit::Stack inputs) {
    return torch::jit::Stack{torch::relu(inputs[0].toTensor()) + 1};
  };
  auto traced = torch::jit::tracer::trace({torch::zeros({2})}, function);
  torch::jit::CompilationUnit unit;
  torch::jit::Function* made = unit.create_function("f", std::get<0>(traced)->graph);
  EXPECT_TRUE((*made)({torch::tensor({-1.0, 3.0})}).toTensor().equal(torch::tensor({1.0, 4.0})));
  EXPECT_EQ(made->getSchema().arguments().size(), 1u);
  EXPECT_EQ(unit.find_function(c10::QualifiedName("f")), made);
  EXPECT_THROW(unit.create_function("f", std::get<0>(traced)->graph), c10::Error);
  EXPECT_EQ(unit.create_function("f", std::get<0>(traced)->graph->copy(), true)->name(), "f_1");
  EXPECT_NE(std::get<0>(traced)->graph->toString().find("aten::relu"), std::string::npos);
  // Programs cannot build graphs.
  EXPECT_THROW(torch::jit::tracer::setTracingState(std::make_shared<torch::jit::tracer::TracingState>()), c10::NotImplementedError);
  EXPECT_EQ(torch::jit::tracer::getTracingState(), nullptr);
}

}  // namespace
