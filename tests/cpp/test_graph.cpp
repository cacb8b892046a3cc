// The autograd graph as libtorch programs use it: hooks of every kind, custom functions, saved-tensor hooks, anomaly
// and deterministic mode, gradcheck, warnings.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/torch.h>

#include <cmath>
#include <thread>

#include "messages.h"

namespace {

using torch::Tensor;
using namespace torch::autograd;

Tensor leaf(std::vector<double> values) {
  return torch::tensor(values, torch::dtype(torch::kDouble)).set_requires_grad(true);
}

bool begins(const std::string& text, const std::string& with) { return text.compare(0, with.size(), with) == 0; }

struct Warnings : c10::WarningHandler {
  Warnings() : guard(this) {}
  void process(const c10::Warning& warning) override { texts.push_back(warning.msg()); }
  std::vector<std::string> texts;
  c10::WarningUtils::WarningHandlerGuard guard;
};

struct Notes : FunctionPreHook, FunctionPostHook, PostAccumulateGradHook {
  explicit Notes(std::vector<std::string>& log) : log(log) {}
  variable_list operator()(const variable_list& grads) override {
    log.push_back("pre");
    return {grads[0] * 10};
  }
  variable_list operator()(const variable_list& outputs, const variable_list& inputs) override {
    EXPECT_EQ(inputs[0][0].item<double>() * 2, outputs[0][0].item<double>());
    log.push_back("post");
    return outputs;
  }
  void operator()(const Tensor& leaf) override {
    EXPECT_TRUE(leaf.grad().defined());
    log.push_back("landed");
  }
  std::vector<std::string>& log;
};

TEST(Hooks, FireInPyTorchsOrder) {
  std::vector<std::string> log;
  Tensor x = leaf({1, 2}), y = x * 2;
  y.retain_grad();
  auto node = y.grad_fn();
  node->add_pre_hook(std::make_unique<Notes>(log));
  uintptr_t post = node->add_post_hook(std::make_unique<Notes>(log));
  y.register_hook([&](const Tensor& grad) {
    log.push_back("tensor");
    return grad + 1;
  });
  x.register_hook([&](const Tensor&) { log.push_back("leaf"); });
  unsigned landed = register_post_accumulate_grad_hook(x, Notes(log));
  y.sum().backward({}, true);
  EXPECT_EQ(log, (std::vector<std::string>{"tensor", "pre", "post", "leaf", "landed"}));
  EXPECT_EQ(y.grad()[0].item<double>(), 2);
  EXPECT_EQ(x.grad()[0].item<double>(), 40);
  x.remove_hook(landed);
  EXPECT_TRUE(node->del_post_hook(post));
  EXPECT_FALSE(node->del_post_hook(post));
  log.clear();
  y.sum().backward();
  EXPECT_EQ(log, (std::vector<std::string>{"tensor", "pre", "leaf"}));
  EXPECT_TRUE(begins(message_of([&] { x.remove_hook(landed); }), "Invalid index, no hook"));
}

TEST(Hooks, RunWithRecordingOnUnderCreateGraph) {
  Tensor x = leaf({3});
  bool recording = false;
  x.register_hook([&](const Tensor& grad) {
    recording = torch::GradMode::is_enabled();
    return grad * x;
  });
  Tensor first = grad({(x * x).sum()}, {x}, {}, true, true)[0];
  EXPECT_TRUE(recording);
  EXPECT_EQ(first.item<double>(), 18);
  // d(2 x^2)/dx, through the hook again: 4 x * x.
  EXPECT_EQ(grad({first.sum()}, {x})[0].item<double>(), 36);
}

TEST(Hooks, SeeGradientsThatDoNotArrive) {
  Tensor x = leaf({1}), y = x * 1;
  int undefined = 0;
  y.register_hook([&](const Tensor& grad) { undefined += !grad.defined(); });
  x.register_hook([&](Tensor grad) -> Tensor { return undefined += !grad.defined(), grad; });
  UndefinedGrad().apply({y})[0].backward();
  EXPECT_EQ(undefined, 2);
  EXPECT_FALSE(x.grad().defined());
}

struct Wants : Function<Wants> {
  static Tensor forward(AutogradContext* ctx, Tensor x, Tensor y, double factor) {
    EXPECT_TRUE(ctx->needs_input_grad(0) && ctx->needs_input_grad(1) && !ctx->needs_input_grad(2));
    ctx->save_for_backward({x, y});
    return x * y * factor;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    EXPECT_EQ(ctx->needs_input_grad({{0, 2}}), true);
    variable_list saved = ctx->get_saved_variables(), results(3);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(ctx->needs_input_grad({{i, i + 1}}), ctx->needs_input_grad(i));
      if (ctx->needs_input_grad(i)) results[i] = grads[0] * saved[1 - i];
    }
    calls += ctx->needs_input_grad(0) + 10 * ctx->needs_input_grad(1);
    return results;
  }
  static int calls;
};
int Wants::calls = 0;

TEST(Functions, KnowWhichGradientsAreWanted) {
  Tensor x = leaf({2}), y = leaf({5});
  Tensor z = Wants::apply(x, y, 1.0);
  EXPECT_EQ(grad({z}, {y}, {}, true)[0].item<double>(), 2);
  EXPECT_EQ(Wants::calls, 10);
  z.backward();
  EXPECT_EQ(Wants::calls, 21);
}

struct Dirty : Function<Dirty> {
  static variable_list forward(AutogradContext* ctx, Tensor x, int outputs) {
    ctx->mark_dirty({x});
    *x.data_ptr<double>() = 7;
    if (outputs == 0) return {x * 1};
    if (outputs == 1) return {x};
    return {x, x * 2};
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 3, Tensor()}; }
};

TEST(Functions, MarkDirty) {
  Tensor x = leaf({1, 2});
  EXPECT_EQ(message_of([&] { Dirty::apply(x, 1); }), "a leaf Variable that requires grad has been used in an in-place operation.");
  EXPECT_TRUE(begins(message_of([&] { Dirty::apply(x * 1, 0); }), "Some elements marked as dirty during the forward method were not returned"));
  EXPECT_TRUE(begins(message_of([&] { Dirty::apply((x * 1).slice(0, 0, 1), 2); }), "If your Function modifies inplace an input that is a view"));
  Tensor y = x * 1;
  int64_t version = y._version();
  Tensor out = Dirty::apply(y, 1)[0];
  EXPECT_TRUE(out.is_same(y));
  EXPECT_EQ(y._version(), version + 1);
  out.sum().backward();
  EXPECT_EQ(x.grad()[1].item<double>(), 3);
  x.mutable_grad().reset();
  // Writing a view also changes the history of its base.
  Tensor base = x * 1;
  Dirty::apply(base.slice(0, 0, 1), 1);
  base.sum().backward();
  EXPECT_EQ(x.grad()[0].item<double>(), 3);
  EXPECT_EQ(x.grad()[1].item<double>(), 1);
}

struct AsItIs : Function<AsItIs> {
  static variable_list forward(AutogradContext*, Tensor x) { return {x, x.slice(0, 0, 1)}; }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0]}; }
};

TEST(Functions, ViewsThatTheyGiveOutCannotBeWritten) {
  Tensor x = leaf({1, 2});
  variable_list out = AsItIs::apply(x);
  EXPECT_FALSE(out[0].is_same(x));
  for (int i : {0, 1}) {
    std::string text = message_of([&] { out[i].mul_(2); });
    EXPECT_TRUE(begins(text, "Output " + std::to_string(i) + " of torch::autograd::CppNode<(anonymous namespace)::AsItIs> is a view and is being modified inplace."));
    EXPECT_NE(text.find("This view was created inside a custom Function (or because an input was returned as-is)"), std::string::npos);
  }
}

struct Zeros : Function<Zeros> {
  static variable_list forward(AutogradContext* ctx, Tensor x, bool materialize) {
    ctx->set_materialize_grads(materialize);
    ctx->saved_data["materialize"] = materialize;
    return {x * 1, x * 2};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    EXPECT_EQ(grads[1].defined(), ctx->saved_data["materialize"].toBool());
    EXPECT_TRUE(!grads[1].defined() || !grads[1].is_nonzero());
    return {grads[0], Tensor()};
  }
};

TEST(Functions, MissingGradientsAreZerosOrUndefined) {
  Tensor x = leaf({1});
  Zeros::apply(x, true)[0].backward();
  Zeros::apply(x, false)[0].backward();
  EXPECT_EQ(x.grad().item<double>(), 2);
}

struct TooMany : Function<TooMany> {
  static Tensor forward(AutogradContext*, Tensor x, int) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0], grads[0]}; }
};

TEST(Functions, WrongGradientsAreErrors) {
  Tensor x = leaf({1});
  EXPECT_EQ(message_of([&] { TooMany::apply(x, 1).backward(); }),
            "function torch::autograd::CppNode<(anonymous namespace)::TooMany> returned a gradient different from None at position 2, but the "
            "corresponding forward input was not a Variable");
}

// Each level differentiates its own graph; the last one throws if requested.
struct Deep : Function<Deep> {
  static Tensor forward(AutogradContext* ctx, Tensor x, int64_t levels) {
    ctx->saved_data["levels"] = levels;
    return x * 1;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    int64_t levels = ctx->saved_data["levels"].toInt();
    EXPECT_FALSE(torch::GradMode::is_enabled());
    if (levels == -1) throw std::logic_error("from the depths");
    if (levels != 0) {
      torch::AutoGradMode on(true);
      Tensor x = leaf({1});
      apply(x, levels - 1).backward();
      EXPECT_EQ(x.grad().item<double>(), 1);
    }
    return {grads[0], Tensor()};
  }
};

TEST(Functions, BackwardWithinBackwardDoesNotRunOutOfStack) {
  Tensor x = leaf({1});
  Deep::apply(x, 5000).backward();
  EXPECT_EQ(x.grad().item<double>(), 1);
}

TEST(Functions, SixteenThreadsReenter) {
  Tensor shared = leaf({2});
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) Deep::apply(shared * shared, 65).backward();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared.grad().item<double>(), 16 * 10 * 4);
}

TEST(Saved, HooksPackAndUnpack) {
  int packed = 0, unpacked = 0;
  Tensor x = leaf({0.1, 2});
  Tensor loss;
  {
    SavedTensorsHooks hooks([&](const Tensor& tensor) { return ++packed, tensor.to(torch::kFloat); },
                            [&](const Tensor& kept) { return ++unpacked, kept.to(torch::kDouble); });
    loss = x.exp().sum();
  }
  EXPECT_EQ(packed, 1);
  loss.backward();
  EXPECT_EQ(unpacked, 1);
  EXPECT_EQ(x.grad()[1].item<double>(), static_cast<double>(static_cast<float>(std::exp(2.0))));
  // A packed value may be of any type; exceptions propagate unchanged.
  SavedTensorsHooks sums([](const Tensor& tensor) { return tensor.sum().item<double>(); },
                         [](double) -> Tensor { throw std::out_of_range("unpack"); });
  EXPECT_THROW(x.exp().sum().backward(), std::out_of_range);
}

TEST(Saved, HooksMayBeForbidden) {
  DisableSavedTensorsHooks none("not here");
  auto make = [] { SavedTensorsHooks hooks([](const Tensor& t) { return t; }, [](const Tensor& t) { return t; }); };
  EXPECT_EQ(message_of(make), "not here");
}

TEST(Anomaly, WarnsOfTheForwardCalls) {
  DetectAnomalyGuard guard;
  Tensor x = leaf({0});
  Tensor first = grad({x.pow(1.5)}, {x}, {}, true, true)[0];
  Tensor zero = torch::zeros({1}, torch::kDouble);
  {
    Warnings warnings;
    std::string text = message_of([&] { grad({first}, {x}, {zero}, true); });
    EXPECT_NE(text.find("returned nan values in its 0th output."), std::string::npos);
    ASSERT_EQ(warnings.texts.size(), 2u);
    EXPECT_NE(warnings.texts[0].find("Traceback of forward call that caused the error"), std::string::npos);
    EXPECT_NE(warnings.texts[1].find("Previous calculation was induced by PowBackward0."), std::string::npos);
  }
  DetectAnomalyGuard loose(/*check_nan=*/false);
  EXPECT_FALSE(AnomalyMode::should_check_nan());
  EXPECT_TRUE(std::isnan(grad({first}, {x}, {zero})[0].item<double>()));
}

TEST(Warnings, OfProbableMistakes) {
  c10::WarningUtils::WarnAlways always;
  Warnings warnings;
  Tensor x = leaf({1}), y = x * 2;
  EXPECT_FALSE(y.grad().defined());
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_TRUE(begins(warnings.texts[0], "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed."));
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(warnings.texts.size(), 1u);
  y.backward({}, std::nullopt, /*create_graph=*/true);
  EXPECT_TRUE(begins(warnings.texts.at(1), "Using backward() with create_graph=True will create a reference cycle"));
  x.mutable_grad().reset();
}

TEST(Deterministic, FillsUninitializedMemory) {
  at::globalContext().setDeterministicAlgorithms(true);
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  EXPECT_TRUE(std::isnan(torch::empty({2})[1].item<float>()));
  EXPECT_EQ(torch::empty_like(torch::zeros({2}, torch::kByte))[1].item<int64_t>(), 255);
  EXPECT_TRUE(torch::empty({1}, torch::kBool).item<bool>());
  EXPECT_TRUE(begins(message_of([] { at::globalContext().alertNotDeterministic("mine"); }), "mine does not have a deterministic implementation"));
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  EXPECT_FALSE(at::globalContext().deterministicFillUninitializedMemory());
  at::globalContext().setDeterministicFillUninitializedMemory(true);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
  EXPECT_TRUE(at::globalContext().deterministicAlgorithmsWarnOnly());
  Warnings warnings;
  at::globalContext().alertNotDeterministic("mine");
  EXPECT_EQ(warnings.texts.size(), 1u);
  at::globalContext().setDeterministicAlgorithms(false);
  EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
}

TEST(Gradcheck, NamesTheMismatch) {
  Tensor x = leaf({0.5, 1.5}), y = leaf({2, 3});
  auto right = [](const variable_list& inputs) { return variable_list{inputs[0].sin() * inputs[1], inputs[1].exp()}; };
  EXPECT_TRUE(gradcheck(right, {x, y}));
  EXPECT_TRUE(gradgradcheck(right, {x, y}));
  EXPECT_TRUE(gradcheck(right, {x, y}, GradcheckOptions().fast_mode(true)));
  auto wrong = [](const variable_list& inputs) { return inputs[0] * inputs[0].detach(); };
  std::string text = message_of([&] { gradcheck(wrong, {x}); });
  EXPECT_TRUE(begins(text, "Jacobian mismatch for output 0 with respect to input 0,\nnumerical:"));
  EXPECT_FALSE(gradcheck(wrong, {x}, GradcheckOptions().raise_exception(false)));
  EXPECT_TRUE(gradcheck(wrong, {x}, GradcheckOptions().atol(10)));
  EXPECT_FALSE(gradcheck(right, {x, y}, GradcheckOptions().raise_exception(false).atol(0).rtol(0)));
  EXPECT_THROW(gradcheck([](const variable_list&) -> Tensor { throw std::out_of_range("mine"); }, {x}), std::out_of_range);
}

TEST(Errors, OfBackwardAndGrad) {
  Tensor x = leaf({1, 2}), plain = torch::ones({2}, torch::kDouble);
  EXPECT_EQ(message_of([&] { plain.sum().backward(); }), "element 0 of tensors does not require grad and does not have a grad_fn");
  EXPECT_EQ(message_of([&] { (x * 2).backward(); }), "grad can be implicitly created only for scalar outputs");
  EXPECT_EQ(message_of([&] { x.sum().backward({}, false, false, torch::TensorList()); }), "'inputs' argument to backward cannot be empty");
  EXPECT_EQ(message_of([&] { grad({x.sum()}, {}); }), "grad requires non-empty inputs.");
  EXPECT_EQ(message_of([&] { grad({x.sum()}, {plain}); }), "element 0 of the input tensors does not require grad");
}

/// A node of the program: multiplies by a saved tensor.
struct Product : Node {
  Product(const Tensor& factor, std::vector<std::string>& log) : factor(factor, false), log(log) {}
  ~Product() override { log.push_back("freed"); }
  variable_list apply(variable_list&& grads) override {
    log.push_back(task_should_compute_output(0) ? "needed" : "not needed");
    return {grads[0] * factor.unpack()};
  }
  void release_variables() override { factor.reset_data(); }
  SavedVariable factor;
  std::vector<std::string>& log;
};

Tensor product(const Tensor& input, const Tensor& factor, std::vector<std::string>& log) {
  auto node = std::shared_ptr<Product>(new Product(factor, log), deleteNode);
  node->set_next_edges(collect_next_edges(input));
  Tensor result;
  {
    torch::NoGradGuard off;
    result = input * factor;
  }
  set_history(result, node);
  EXPECT_EQ(result.grad_fn(), node);
  return result;
}

TEST(NodesOfTheProgram, ComputeGradientsAndAreFreedWithTheGraph) {
  std::vector<std::string> log;
  Tensor x = leaf({1, 2}), factor = torch::tensor({3.0, 5.0}, torch::kDouble);
  {
    Tensor y = product(product(x, factor, log), factor, log);
    auto node = y.grad_fn();
    EXPECT_EQ(node->num_inputs(), 1u);
    ASSERT_EQ(node->num_outputs(), 1u);
    EXPECT_NE(dynamic_cast<Product*>(node->next_edge(0).function.get()), nullptr);
    EXPECT_NE(node->name().find("Product"), std::string::npos);
    node->register_prehook([](const variable_list& grads) { return variable_list{grads[0] * 2}; });
    uintptr_t post = node->register_hook([](const variable_list&, const variable_list&) -> variable_list { throw std::runtime_error("hook"); });
    EXPECT_TRUE(node->del_post_hook(post) && !node->del_post_hook(post));
    (y * 7).sum().backward({}, /*retain_graph=*/true);
    EXPECT_TRUE(x.grad().equal(torch::tensor({126.0, 350.0}, torch::kDouble))) << x.grad();
    y.sum().backward();
    EXPECT_THROW(y.sum().backward(), c10::Error);
    EXPECT_THROW(node->set_next_edges({}), c10::Error);
  }
  // Twice two nodes, and the one whose saved tensor was released.
  EXPECT_EQ(std::count(log.begin(), log.end(), "needed"), 5);
  EXPECT_EQ(std::count(log.begin(), log.end(), "freed"), 2);
}

TEST(NodesOfTheProgram, ReturnOneGradientForEachEdge) {
  struct Wrong : Node {
    variable_list apply(variable_list&& grads) override { return {grads[0], grads[0]}; }
  };
  Tensor x = leaf({1, 2}), y = x.detach().clone();
  auto node = std::make_shared<Wrong>();
  node->set_next_edges(collect_next_edges(x));
  set_history(y, node);
  try {
    y.sum().backward();
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("returned an invalid number of gradients - expected 1, but got 2"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(x.grad().defined());
}

TEST(NodesOfTheProgram, WrapOutputsOfACustomForward) {
  struct Doubled : Node {
    variable_list apply(variable_list&& grads) override { return {grads[0] * 2}; }
  };
  auto wrap = [](variable_list inputs, Tensor output, bool is_dirty, bool is_differentiable) {
    auto node = std::make_shared<Doubled>();
    node->set_next_edges(collect_next_edges(inputs));
    std::unordered_set<at::TensorImpl*> dirty, constant;
    if (is_dirty) dirty.insert(output.unsafeGetTensorImpl());
    if (!is_differentiable) constant.insert(output.unsafeGetTensorImpl());
    auto as_self = [](const Tensor& tensor) { return tensor.view_as(tensor); };
    return *_wrap_outputs(inputs, constant, dirty, to_optional(output), node, {}, {}, as_self, false)[0];
  };
  Tensor x = leaf({1, 2});
  Tensor same = wrap({x}, x, false, true);
  EXPECT_FALSE(same.is_same(x));
  EXPECT_TRUE(torch::autograd::grad({same.sum()}, {x})[0].equal(torch::full({2}, 2.0, torch::kDouble)));
  Tensor y = x * 3;
  {
    torch::NoGradGuard off;
    y.mul_(2);
  }
  Tensor written = wrap({y}, y, true, true);
  EXPECT_TRUE(written.is_same(y));
  EXPECT_TRUE(torch::autograd::grad({written.sum()}, {x})[0].equal(torch::full({2}, 6.0, torch::kDouble)));
  EXPECT_FALSE(wrap({x}, torch::ones(2), false, false).requires_grad());
}

TEST(Engine, RunsTheGraphFromEdges) {
  Tensor x = leaf({1, 2}), y = leaf({3, 4}), product = x * y;
  auto edge = [](const Tensor& tensor) { return impl::gradient_edge(tensor); };
  Engine& engine = Engine::get_default_engine();
  Tensor grad = torch::tensor({10.0, 1.0}, torch::kDouble);
  variable_list grads = engine.execute({edge(product)}, {grad}, true, false, false, {edge(y), edge(x), edge(product)});
  EXPECT_TRUE(grads[0].equal(grad * x));
  EXPECT_TRUE(grads[1].equal(grad * y));
  EXPECT_TRUE(grads[2].equal(grad));
  EXPECT_FALSE(x.grad().defined());
  Tensor unused = leaf({1});
  EXPECT_FALSE(engine.execute({edge(product)}, {grad}, true, false, false, {edge(unused)})[0].defined());
  engine.execute({edge(product)}, {grad}, true, false, true);
  EXPECT_TRUE(x.grad().equal(grad * y));
  EXPECT_EQ(message_of([&] { engine.execute({edge(product)}, {torch::ones({3}, torch::kDouble)}, false, false, true); }),
            "invalid gradient at index 0 - got [3] but expected shape compatible with [2]");
  EXPECT_EQ(message_of([&] { engine.execute({edge(torch::ones({1}))}, {torch::ones({1})}, false, false, true); }), "element 0 of roots does not require a gradient");
  EXPECT_EQ(message_of([&] { engine.execute({edge(product)}, {grad}, false, false, false); }), "run_backward: there are no outputs, and nothing is accumulated");
  EXPECT_EQ(message_of([&] { engine.execute({edge(product)}, {}, false, false, true); }), "Engine::execute: got 1 roots and 0 gradients");
}

TEST(VariableInfo, CreatesZerosLikeATensor) {
  at::OptionalDeviceGuard guard;
  Tensor x = leaf({1, 2, 3});
  VariableInfo info(x);
  EXPECT_TRUE(info.requires_grad);
  EXPECT_TRUE(info.zeros(guard).equal(torch::zeros({3}, torch::kDouble)));
  EXPECT_FALSE(VariableInfo().zeros(guard).defined());
}

}  // namespace
