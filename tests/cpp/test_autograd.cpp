// Gradients: backward, grad, hooks, custom functions, graph nodes.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <stdexcept>

namespace {

using torch::Tensor;
using namespace torch::autograd;

Tensor leaf() { return torch::tensor({1.0f, 2.0f, 3.0f}, torch::requires_grad()); }

struct Power : Function<Power> {
  static Tensor forward(AutogradContext* ctx, Tensor x, int64_t exponent, double factor) {
    Tensor result = torch::ones_like(x);
    for (int64_t i = 0; i < exponent; ++i) result = result * x;
    ctx->save_for_backward({x, result});
    ctx->saved_data["exponent"] = exponent;
    ctx->saved_data["factor"] = factor;
    EXPECT_EQ(torch::GradMode::is_enabled(), false);
    return result;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    variable_list saved = ctx->get_saved_variables();
    int64_t exponent = ctx->saved_data["exponent"].toInt();
    return {grads[0] * saved[1] / saved[0] * exponent * ctx->saved_data["factor"].toDouble(), Tensor(), Tensor()};
  }
};

TEST(Custom, SavesInputsOutputsAndNumbers) {
  Tensor x = leaf();
  Tensor y = Power::apply(x, 3, 1.0);
  EXPECT_EQ(y[2].item<float>(), 27);
  EXPECT_TRUE(y.requires_grad());
  EXPECT_EQ(y.grad_fn()->name(), "torch::autograd::CppNode<(anonymous namespace)::Power>");
  y.sum().backward();
  EXPECT_FLOAT_EQ(x.grad()[2].item<float>(), 27);
}

TEST(Custom, NoGradientNeeded) {
  torch::NoGradGuard guard;
  EXPECT_FALSE(Power::apply(leaf(), 2, 1.0).requires_grad());
}

TEST(Custom, BackwardTwiceFails) {
  Tensor x = leaf();
  Tensor y = Power::apply(x, 2, 1.0).sum();
  y.backward();
  EXPECT_THROW(y.backward(), c10::Error);
}

struct SplitSign : Function<SplitSign> {
  static variable_list forward(AutogradContext* ctx, const Tensor& x) {
    Tensor positive = x.clamp(0), where = x > 0;
    ctx->mark_non_differentiable({where});
    ctx->save_for_backward({where});
    return {positive, where};
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) { return {torch::where(ctx->get_saved_variables()[0], grads[0], 0)}; }
};

TEST(Custom, SeveralOutputs) {
  Tensor x = torch::tensor({-1.0f, 2.0f}, torch::requires_grad());
  variable_list outputs = SplitSign::apply(x);
  EXPECT_TRUE(outputs[0].requires_grad());
  EXPECT_FALSE(outputs[1].requires_grad());
  outputs[0].sum().backward();
  EXPECT_EQ(x.grad()[0].item<float>(), 0);
  EXPECT_EQ(x.grad()[1].item<float>(), 1);
}

struct Thrower : Function<Thrower> {
  static Tensor forward(AutogradContext*, Tensor x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list) { throw std::logic_error("from the depths"); }
};

TEST(Custom, ExceptionsOfBackwardComeThroughUnchanged) {
  Tensor y = Thrower::apply(leaf()).sum();
  try {
    y.backward();
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "from the depths");
  }
}

struct WrongCount : Function<WrongCount> {
  static Tensor forward(AutogradContext*, Tensor x, Tensor y) { return x + y; }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0]}; }
};

TEST(Custom, WrongNumberOfGradients) {
  EXPECT_THROW(WrongCount::apply(leaf(), leaf()).sum().backward(), std::exception);
}

struct Untouched : Function<Untouched> {
  static Tensor forward(AutogradContext*, Tensor x) { return x; }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};

TEST(Custom, AnInputMayBeTheOutput) {
  Tensor x = leaf();
  Untouched::apply(x).sum().backward();
  EXPECT_EQ(x.grad()[0].item<float>(), 2);
}

TEST(Hooks, SeeAndReplace) {
  Tensor x = leaf(), y = x * 2;
  int seen = 0;
  unsigned counter = y.register_hook([&](const Tensor& grad) { seen += static_cast<int>(grad.numel()); });
  y.register_hook([](Tensor grad) { return grad * 10; });
  y.sum().backward();
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(x.grad()[0].item<float>(), 20);
  Tensor z = x * 3;
  unsigned removed = z.register_hook([&](Tensor) { ++seen; });
  z.remove_hook(removed);
  z.sum().backward();
  EXPECT_EQ(seen, 3);
  (void)counter;
}

TEST(Hooks, Throw) {
  Tensor x = leaf();
  x.register_hook([](Tensor) -> Tensor { throw std::out_of_range("hook"); });
  EXPECT_THROW(x.sum().backward(), std::out_of_range);
}

TEST(Grad, Function) {
  Tensor x = leaf();
  variable_list first = grad({(x * x * x).sum()}, {x}, {}, true, true);
  EXPECT_EQ(first[0][1].item<float>(), 12);
  EXPECT_EQ(grad({first[0].sum()}, {x})[0][1].item<float>(), 12);
  EXPECT_FALSE(x.grad().defined());
  Tensor unused = leaf();
  EXPECT_FALSE(grad({(x * 2).sum()}, {unused}, {}, std::nullopt, false, true)[0].defined());
  EXPECT_THROW(grad({(x * 2).sum()}, {unused}), c10::Error);
  EXPECT_THROW(grad({(x * 2)}, {x}, {torch::ones({3}), torch::ones({3})}), c10::Error);
}

TEST(Grad, BackwardOnlyInto) {
  Tensor x = leaf(), y = leaf();
  (x * y).sum().backward({}, std::nullopt, false, torch::TensorList({x}));
  EXPECT_TRUE(x.grad().defined());
  EXPECT_FALSE(y.grad().defined());
}

TEST(Grad, MutableGrad) {
  Tensor x = leaf();
  x.mutable_grad() = torch::ones({3});
  EXPECT_EQ(x.grad().sum().item<float>(), 3);
  const auto& gradient = x.grad();
  EXPECT_TRUE(gradient.defined());
  x.mutable_grad().reset();
  EXPECT_FALSE(x.grad().defined());
}

TEST(Graph, Nodes) {
  Tensor x = leaf();
  Tensor y = (x * x).sum();
  auto node = y.grad_fn();
  EXPECT_EQ(node->name(), "SumBackward0");
  ASSERT_EQ(node->num_outputs(), 1u);
  EXPECT_EQ(node->next_edges()[0].function->name(), "MulBackward0");
  EXPECT_EQ(x.grad_fn(), nullptr);
  EXPECT_TRUE(x.is_leaf());
}

TEST(Guards, Nest) {
  Tensor x = leaf();
  {
    torch::NoGradGuard off;
    EXPECT_FALSE((x * 2).requires_grad());
    torch::AutoGradMode on(true);
    EXPECT_TRUE((x * 2).requires_grad());
  }
  {
    torch::InferenceMode mode;
    EXPECT_TRUE(torch::InferenceMode::is_enabled());
    EXPECT_FALSE((x * 2).requires_grad());
  }
  EXPECT_FALSE(torch::InferenceMode::is_enabled());
  EXPECT_TRUE((x * 2).requires_grad());
}

}  // namespace
