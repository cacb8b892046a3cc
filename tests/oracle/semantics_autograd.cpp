// Gradients and errors of libtorch's autograd: tests/data/semantics_autograd.expected.txt.
//
// The same source, compiled against Rushlight, must print the same bytes.

#include "show.h"

#include <vector>

using torch::Tensor;
using torch::indexing::Slice;

namespace {

const auto kGrad = torch::requires_grad();

Tensor leaf() { return torch::tensor({1.0f, 2.0f, -4.0f}, kGrad); }
Tensor matrix() { return torch::tensor({{1.0f, 2.0f}, {3.0f, -4.0f}}, kGrad); }

void basics() {
  auto x = leaf();
  auto y = (x * x + 3 * x).sum();
  SHOW("requires_grad", y.requires_grad());
  SHOW("is_leaf", x.is_leaf());
  SHOW("is_leaf of a result", y.is_leaf());
  SHOW("no gradient yet", x.grad());
  y.backward();
  SHOW("gradient", x.grad());
  (x * 2).sum().backward();
  SHOW("gradients add up", x.grad());
  x.mutable_grad() = Tensor();
  (x * 2).backward(torch::tensor({1.0f, 0.5f, 0.25f}));
  SHOW("backward with a gradient", x.grad());
  SHOW("the gradient does not require one", x.grad().requires_grad());
  SHOW("detach", y.detach().requires_grad());
  SHOW("detach shares memory", x.detach().is_alias_of(x));
  SHOW("output_nr", y.output_nr());
  auto z = torch::zeros({2});
  SHOW("set_requires_grad", z.set_requires_grad(true).requires_grad());
  SHOW("requires_grad_", z.requires_grad_(false).requires_grad());
  {
    torch::NoGradGuard guard;
    SHOW("NoGradGuard", (x * 2).requires_grad());
    SHOW("GradMode", torch::GradMode::is_enabled());
  }
  SHOW("GradMode afterwards", torch::GradMode::is_enabled());
  {
    torch::NoGradGuard off;
    torch::AutoGradMode on(true);
    SHOW("AutoGradMode", (x * 2).requires_grad());
  }
  SHOW("an integer result needs no gradient", x.argmax().requires_grad());
  SHOW("a comparison needs no gradient", (x < 1).requires_grad());
}

// The gradient of sum(weights * result), so that every element has a different weight.
Tensor gradient(const Tensor& x, const Tensor& result) {
  auto weights = torch::arange(1, result.numel() + 1, torch::kFloat).reshape(result.sizes());
  return torch::autograd::grad({result}, {x}, {weights})[0];
}

void operators() {
  auto x = leaf();
  auto p = torch::tensor({0.5f, 2.0f, 4.0f}, kGrad);
  auto m = matrix();
  auto ties = torch::tensor({2.0f, 7.0f, 7.0f}, kGrad);
  SHOW("add, alpha", gradient(x, torch::add(torch::ones({3}), x, 3)));
  SHOW("add, broadcast", gradient(x, x + torch::zeros({2, 3})));
  SHOW("sub", gradient(x, 1 - x));
  SHOW("mul, both sides the same", gradient(x, x * x));
  SHOW("mul, broadcast", gradient(x, x * torch::tensor({{1.0f}, {2.0f}})));
  SHOW("div, numerator", gradient(p, p / 4));
  SHOW("div, denominator", gradient(p, 1 / p));
  SHOW("div, floor has gradient zero", gradient(p, torch::div(p, 2, "floor")));
  SHOW("neg", gradient(x, -x));
  SHOW("exp", gradient(x, x.exp()));
  SHOW("log", gradient(p, p.log()));
  SHOW("relu", gradient(x, torch::relu(x)));
  SHOW("relu at zero", gradient(x, torch::relu(x - 2)));
  SHOW("clamp, inclusive", gradient(x, x.clamp(-1, 2)));
  SHOW("where", gradient(x, torch::where(x < 0, x * 2, x * 3)));
  SHOW("to", gradient(x, x.to(torch::kDouble).to(torch::kFloat)));
  SHOW("sum", gradient(m, m.sum()));
  SHOW("sum, dim", gradient(m, m.sum(1)));
  SHOW("mean", gradient(m, m.mean()));
  SHOW("mean, keepdim", gradient(m, m.mean({0}, true)));
  SHOW("max", gradient(m, std::get<0>(m.max(1))));
  SHOW("max of ties: the first", gradient(ties, std::get<0>(ties.max(0))));
  SHOW("topk", gradient(x, std::get<0>(x.topk(2))));
  SHOW("view", gradient(m, m.view({4})));
  SHOW("reshape of transpose", gradient(m, m.transpose(0, 1).reshape({4})));
  SHOW("select", gradient(m, m.select(1, 0)));
  SHOW("slice", gradient(m, m.slice(0, 1)));
  SHOW("expand", gradient(x, x.expand({2, 3})));
  SHOW("index_select, repeated", gradient(x, x.index_select(0, torch::tensor({2, 0, 2}))));
  SHOW("cat", gradient(x, torch::cat({x, x * 2})));
  SHOW("index", gradient(m, m.index({Slice(), 1})));
  SHOW("mm, left", gradient(m, m.mm(torch::tensor({{1.0f}, {2.0f}}))));
  SHOW("mm, right", gradient(m, torch::tensor({{1.0f, 2.0f}}).mm(m)));
  SHOW("addmm, beta", gradient(m, torch::addmm(m, torch::ones({2, 1}), torch::ones({1, 2}), 2, 3)));
  SHOW("linear, weight", gradient(m, torch::linear(torch::tensor({{1.0f, 2.0f}, {3.0f, 4.0f}}), m)));
  SHOW("log_softmax", gradient(m, torch::log_softmax(m, 1)));
  SHOW("nll_loss", gradient(m, torch::nll_loss(m, torch::tensor({1, 0}))));
  SHOW("nll_loss, weights", gradient(m, torch::nll_loss(m, torch::tensor({1, 0}), torch::tensor({1.0f, 3.0f}))));
  SHOW("copy_ into a buffer", gradient(x, torch::zeros({2, 3}).copy_(x)));
  SHOW("not reached", gradient(x, torch::cat({x, torch::ones({1})}).slice(0, 3)));
  auto b = torch::tensor({1.0f, 2.0f}, kGrad);
  auto w = torch::tensor({{0.5f, -0.5f}, {1.0f, 2.0f}}, kGrad);
  torch::linear(m, w, b).sum().backward();
  SHOW("linear, input", m.grad());
  SHOW("linear, weight, by backward", w.grad());
  SHOW("linear, bias", b.grad());
}

void in_place() {
  auto x = leaf();
  auto y = x * 1;
  y.mul_(2);
  y.add_(1);
  SHOW("in place on a result", gradient(x, y));
  auto z = x * 1;
  z.select(0, 0).mul_(5);
  SHOW("in place on a view", gradient(x, z));
  auto v = x * 1;
  auto first = v.slice(0, 0, 2);
  v.mul_(3);
  SHOW("a view follows its base", gradient(x, first));
  auto w = torch::zeros({3});
  w.index_put_({Slice(0, 2)}, x.index({Slice(1, 3)}));
  SHOW("write into a plain tensor", gradient(x, w));
  SHOW("version counter", torch::zeros({1}).add_(1).mul_(2)._version());
  auto base = torch::zeros({2, 2});
  base.select(0, 0).add_(1);
  SHOW("a view bumps its base", base._version());
  SHOW("detach shares the counter", base.detach().add_(1)._version());
  {
    torch::NoGradGuard guard;
    x.add_(1);
  }
  SHOW("a leaf under NoGradGuard", x);
}

void grad_function() {
  auto x = leaf();
  auto y = (x * x).sum();
  auto unused = leaf();
  SHOW("grad", torch::autograd::grad({y}, {x}, {}, true)[0]);
  SHOW("grad leaves .grad alone", x.grad());
  SHOW("allow_unused", torch::autograd::grad({y}, {unused}, {}, true, false, true)[0]);
  auto first = torch::autograd::grad({(x * x * x).sum()}, {x}, {}, true, true)[0];
  SHOW("create_graph", first.requires_grad());
  SHOW("second derivative", torch::autograd::grad({first.sum()}, {x})[0]);
  auto middle = x * 2;
  SHOW("grad of an inner tensor", torch::autograd::grad({(middle * middle).sum()}, {middle})[0]);
  auto kept = x * 2;
  kept.retain_grad();
  kept.sum().backward();
  SHOW("retain_grad", kept.grad());
  auto h = leaf();
  h.register_hook([](Tensor grad) { return grad * 10; });
  h.sum().backward();
  SHOW("register_hook", h.grad());
  auto one = leaf();
  auto two = leaf();
  torch::autograd::backward({one.sum(), (two * one.detach()).sum()}, {});
  SHOW("autograd::backward, first", one.grad());
  SHOW("autograd::backward, second", two.grad());
  ERROR_OF("grad of an unused tensor", torch::autograd::grad({(x * x).sum()}, {unused}));
}

void names() {
  auto x = leaf();
  auto m = matrix();
  SHOW("add", (x + 1).grad_fn()->name());
  SHOW("sub", (x - x).grad_fn()->name());
  SHOW("mul", (x * x).grad_fn()->name());
  SHOW("div", (x / 2).grad_fn()->name());
  SHOW("neg", (-x).grad_fn()->name());
  SHOW("exp", x.exp().grad_fn()->name());
  SHOW("log", x.log().grad_fn()->name());
  SHOW("relu", x.relu().grad_fn()->name());
  SHOW("clamp", x.clamp(0, 1).grad_fn()->name());
  SHOW("where", torch::where(x < 0, x, x).grad_fn()->name());
  SHOW("sum", x.sum().grad_fn()->name());
  SHOW("sum, dim", m.sum(1).grad_fn()->name());
  SHOW("mean", x.mean().grad_fn()->name());
  SHOW("mean, dim", m.mean(1).grad_fn()->name());
  SHOW("max", std::get<0>(m.max(1)).grad_fn()->name());
  SHOW("topk", std::get<0>(x.topk(1)).grad_fn()->name());
  SHOW("view", m.view({4}).grad_fn()->name());
  SHOW("transpose", m.transpose(0, 1).grad_fn()->name());
  SHOW("t", m.t().grad_fn()->name());
  SHOW("select", m[0].grad_fn()->name());
  SHOW("slice", m.slice(0, 1).grad_fn()->name());
  SHOW("expand", x.expand({2, 3}).grad_fn()->name());
  SHOW("index_select", x.index_select(0, torch::tensor({0})).grad_fn()->name());
  SHOW("cat", torch::cat({x, x}).grad_fn()->name());
  SHOW("mm", m.mm(m).grad_fn()->name());
  SHOW("linear with bias", torch::linear(m, m, m[0]).grad_fn()->name());
  SHOW("log_softmax", torch::log_softmax(m, 1).grad_fn()->name());
  SHOW("nll_loss", torch::nll_loss(m, torch::tensor({0, 1})).grad_fn()->name());
  SHOW("to", x.to(torch::kDouble).grad_fn()->name());
  SHOW("clone", x.clone().grad_fn()->name());
  SHOW("a leaf has none", x.grad_fn() == nullptr);
}

void errors() {
  auto x = leaf();
  auto m = matrix();
  ERROR_OF("in place on a leaf", x.add_(1));
  ERROR_OF("in place on a view of a leaf", x.select(0, 0).add_(1));
  ERROR_OF("backward on several numbers", (x * 2).backward());
  ERROR_OF("backward without a graph", torch::ones({}).backward());
  auto y = (x * x).sum();
  y.backward();
  ERROR_OF("backward twice", y.backward());
  auto e = x.exp();
  auto s = e.sum();
  e.mul_(2);
  ERROR_OF("a saved result was changed", s.backward());
  auto a = x * 1;
  auto product = (a * a).sum();
  a.add_(1);
  ERROR_OF("a saved input was changed", product.backward());
  auto q = m * 1;
  auto mm = q.mm(q).sum();
  q.select(0, 0).add_(1);
  ERROR_OF("a saved input was changed through a view", mm.backward());
  ERROR_OF("gradient of a wrong shape", (x * 2).backward(torch::ones({2})));
  ERROR_OF("requires_grad on integers", torch::ones({2}, torch::kLong).set_requires_grad(true));
  ERROR_OF("requires_grad on integers, options", torch::ones({2}, torch::dtype(torch::kLong).requires_grad(true)));
  MESSAGE_OF("requires_grad_(false) on a result", (x * 2).requires_grad_(false));
  ERROR_OF("retain_grad without a graph", torch::ones({1}).retain_grad());
  auto retained = (x * x).sum();
  retained.backward({}, /*keep_graph=*/true);
  ERROR_OF("backward twice, the first with keep_graph", retained.backward());
}

}  // namespace

int main() {
  std::cout << std::boolalpha;
  std::cout << "= basics\n";
  basics();
  std::cout << "= operators\n";
  operators();
  std::cout << "= in place\n";
  in_place();
  std::cout << "= grad\n";
  grad_function();
  std::cout << "= names\n";
  names();
  std::cout << "= errors\n";
  errors();
}
