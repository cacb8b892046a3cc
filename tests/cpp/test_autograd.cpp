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

TEST(SavedVariable, KeepsATensorWithItsVersionAndHistory) {
  Tensor x = leaf();
  Tensor y = x * 2;
  torch::autograd::SavedVariable saved(y, /*is_output=*/false), moved(std::move(saved));
  EXPECT_FALSE(saved.unpack().defined());
  Tensor back = moved.unpack();
  EXPECT_TRUE(torch::equal(back, y));
  EXPECT_TRUE(back.requires_grad());
  EXPECT_EQ(back.grad_fn()->name(), y.grad_fn()->name());
  EXPECT_FALSE(torch::autograd::SavedVariable(std::nullopt, false).unpack().defined());
  y.add_(1);
  EXPECT_THROW(moved.unpack(), c10::Error);
  moved.reset_data();
  try {
    moved.unpack();
    FAIL() << "a released tensor was returned";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("backward through the graph a second time"), std::string::npos);
  }
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

struct Refusal {
  int level;
};

/// A function whose backward differentiates another of its kind, `levels` deep; the last one throws.
struct Refusing : Function<Refusing> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, int64_t levels) {
    ctx->saved_data["levels"] = levels;
    return x * 1;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    int64_t levels = ctx->saved_data["levels"].toInt();
    if (levels == 0) throw Refusal{7};
    torch::AutoGradMode on(true);
    Refusing::apply(leaf(), levels - 1).sum().backward();
    return {grads[0], Tensor()};
  }
};

// From 60 nested passes on, a pass runs on its own thread: its exceptions propagate.
TEST(Backward, ExceptionsComeFromAnyDepth) {
  for (int64_t levels : {0, 1, 59, 61, 130}) {
    Tensor y = Refusing::apply(leaf(), levels).sum();
    try {
      y.backward();
      FAIL() << levels;
    } catch (const Refusal& refusal) {
      EXPECT_EQ(refusal.level, 7) << levels;
    }
  }
  Tensor x = leaf();
  x.register_hook([](const Tensor&) -> Tensor { throw std::out_of_range("from a hook"); });
  EXPECT_THROW((x * 2).sum().backward(), std::out_of_range);
  // An error without an exception becomes one of the library's exceptions.
  EXPECT_THROW(x.sum(5), c10::IndexError);
}

// t_ and similar operators view the same memory differently; the base of a view is unchanged.
TEST(Backward, ViewsInPlace) {
  Tensor x = torch::arange(6, torch::kDouble).view({2, 3}).clone().requires_grad_();
  Tensor y = x * 1;
  const void* data = y.data_ptr();
  Tensor& same = y.transpose_(0, 1);
  EXPECT_TRUE(same.is_same(y));
  EXPECT_EQ(y.data_ptr(), data);
  EXPECT_EQ(y.strides(), torch::IntArrayRef({1, 3}));
  EXPECT_EQ(y._version(), 1);
  Tensor weights = torch::arange(6, torch::kDouble).view({3, 2});
  (y * weights).sum().backward();
  EXPECT_TRUE(x.grad().equal(weights.t()));

  Tensor base = x * 1;
  Tensor row = base[0];
  row.unsqueeze_(0);
  EXPECT_EQ(base.sizes(), torch::IntArrayRef({2, 3}));
  row.mul_(2);
  EXPECT_EQ(row.sizes(), torch::IntArrayRef({1, 3}));
  EXPECT_TRUE(grad({base.sum()}, {x}, {}, /*retain_graph=*/true)[0].equal(torch::tensor({{2.0, 2.0, 2.0}, {1.0, 1.0, 1.0}}, torch::kDouble)));
  base.mul_(3);
  EXPECT_TRUE(grad({row.sum()}, {x})[0].equal(torch::tensor({{6.0, 6.0, 6.0}, {0.0, 0.0, 0.0}}, torch::kDouble)));

  EXPECT_THROW(x.t_(), c10::Error);
  EXPECT_THROW(torch::ones({2, 3}).view({3, 2}).requires_grad_().t_(), c10::Error);
  {
    torch::NoGradGuard off;
    x.squeeze_().t_();
  }
  EXPECT_EQ(x.sizes(), torch::IntArrayRef({3, 2}));
  x.mutable_grad().reset();
  (x * weights).sum().backward();
  EXPECT_TRUE(x.grad().equal(weights));

  Tensor turned = torch::randn({2, 2}, torch::kComplexDouble);
  Tensor lazy = turned.conj(), before = turned.clone();
  lazy.t_();
  EXPECT_TRUE(turned.equal(before));
  EXPECT_TRUE(lazy.is_conj() && lazy.equal(before.conj().t()));
}

TEST(Backward, NeedsARealOutput) {
  Tensor y = (leaf() * c10::Scalar(c10::complex<float>(0, 0.5))).sum();
  try {
    y.backward();
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("grad can be computed only for real scalar outputs but got ComplexFloat"), std::string::npos);
  }
  y.backward(torch::ones({}, torch::kComplexFloat));
}

// The in-place form samples the same numbers, and gradients are the same.
TEST(Backward, RandomFormsInPlace) {
  using Form = std::pair<Tensor (*)(const Tensor&), void (*)(Tensor&)>;
  const Form forms[] = {
      {[](const Tensor& x) { return torch::rrelu(x, 0.1, 0.9, true); }, [](Tensor& x) { torch::rrelu_(x, 0.1, 0.9, true); }},
      {[](const Tensor& x) { return torch::rrelu(x, 0.1, 0.9, false); }, [](Tensor& x) { torch::rrelu_(x, 0.1, 0.9, false); }},
      {[](const Tensor& x) { return torch::alpha_dropout(x, 0.4, true); }, [](Tensor& x) { torch::alpha_dropout_(x, 0.4, true); }},
      {[](const Tensor& x) { return torch::feature_dropout(x, 0.4, true); }, [](Tensor& x) { torch::feature_dropout_(x, 0.4, true); }},
      {[](const Tensor& x) { return torch::feature_alpha_dropout(x, 0.4, true); }, [](Tensor& x) { torch::feature_alpha_dropout_(x, 0.4, true); }},
  };
  torch::manual_seed(1);
  Tensor start = torch::randn({6, 5, 3});
  for (const Form& form : forms) {
    Tensor x = start.clone().requires_grad_();
    torch::manual_seed(2);
    Tensor expected = form.first(x);
    torch::manual_seed(2);
    Tensor y = x * 1;
    const void* data = y.data_ptr();
    form.second(y);
    EXPECT_EQ(y.data_ptr(), data);
    EXPECT_TRUE(y.equal(expected));
    EXPECT_TRUE(grad({y.sum()}, {x})[0].equal(grad({expected.sum()}, {x})[0]));
    EXPECT_FALSE(expected.equal(start));
  }
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
