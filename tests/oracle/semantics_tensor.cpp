// Tensors without gradients, as libtorch does them: tests/data/semantics_tensor.expected.txt.
//
// The same source, compiled against Rushlight, must print the same bytes. Values are exactly representable, or far from
// a rounding boundary of the four printed decimals.

#include "show.h"

#include <cmath>

using torch::indexing::Ellipsis;
using torch::indexing::None;
using torch::indexing::Slice;

namespace {

const auto kF = torch::kFloat;

torch::Tensor grid() { return torch::arange(12, kF).reshape({3, 4}); }

void creation() {
  SHOW("empty has a shape", torch::empty({2, 3}).sizes());
  SHOW("full, integer", torch::full({2}, 3));
  SHOW("full, float", torch::full({2}, 1.5));
  SHOW("full, bool", torch::full({2}, true));
  SHOW("full with dtype", torch::full({2}, 3, kF));
  SHOW("arange, floats", torch::arange(0, 1, 0.25));
  SHOW("arange, backwards", torch::arange(5, 0, -2));
  SHOW("arange, dtype", torch::arange(3, torch::kInt));
  SHOW("arange, ints with a float step", torch::arange(1, 4, 1.0).dtype());
  SHOW("zeros with options", torch::zeros({2}, torch::dtype(torch::kDouble)).options());
  SHOW("numel, dim, element size", torch::IntArrayRef({grid().numel(), grid().dim(), grid().element_size()}));
  SHOW("item", torch::tensor(2.5).item<double>());
  SHOW("item as Scalar", torch::tensor(3).item());
}

void random_numbers() {
  torch::manual_seed(42);
  SHOW("rand", torch::rand({3}));
  SHOW("randn", torch::randn({2, 2}));
  SHOW("randn, sixteen and more", torch::randn({17}));
  SHOW("randint", torch::randint(10, {5}));
  SHOW("randint, low and high", torch::randint(-5, 5, {5}));
  SHOW("randperm", torch::randperm(6));
  SHOW("uniform_", torch::empty({3}).uniform_(-1, 1));
  SHOW("normal_", torch::empty({3}).normal_(5, 0.5));
  SHOW("bernoulli_", torch::empty({8}).bernoulli_(0.25));
  SHOW("bernoulli", torch::bernoulli(torch::full({4}, 0.5)));
  SHOW("double", torch::rand({2}, torch::kDouble));
  torch::manual_seed(42);
  SHOW("seeded again", torch::rand({3}));
}

void arithmetic() {
  auto a = torch::tensor({1.0f, -2.0f, 3.5f});
  auto b = torch::tensor({2.0f, 4.0f, -0.5f});
  SHOW("add", a + b);
  SHOW("add, alpha", torch::add(a, b, 2));
  SHOW("sub", a.sub(b));
  SHOW("sub, alpha", a.sub(b, 0.5));
  SHOW("mul", a * b);
  SHOW("div", a / b);
  SHOW("div, floor", torch::div(a, b, "floor"));
  SHOW("div, trunc", torch::div(a, b, "trunc"));
  SHOW("div of integers is true division", torch::tensor({7, -7}).div(2));
  SHOW("div of integers, floor", torch::tensor({7, -7}).div(2, "floor"));
  SHOW("div of integers, trunc", torch::tensor({7, -7}).div(2, "trunc"));
  SHOW("div by zero", torch::tensor({1.0f, -1.0f}).div(0));
  SHOW("scalar on the right", a + 1);
  SHOW("scalar on the left", 1 - a);
  SHOW("scalar over tensor", 1 / b);
  SHOW("scalar minus integers", 1.5 - torch::tensor({1, 2}));
  SHOW("neg", -a);
  SHOW("exp", torch::tensor({0.0f, 1.0f}).exp());
  SHOW("log", torch::tensor({1.0f, 10.0f, 0.0f}).log());
  SHOW("exp of integers", torch::tensor({0, 1}).exp());
  SHOW("relu", torch::relu(a));
  SHOW("clamp", a.clamp(-1, 2));
  SHOW("clamp, minimum only", a.clamp(0));
  SHOW("clamp, maximum only", torch::clamp(a, c10::nullopt, 1));
  SHOW("clamp, tensors", torch::clamp(a, torch::tensor({0.0f, -1.0f, 0.0f}), torch::tensor({0.5f})));
  SHOW("clamp, minimum above maximum", a.clamp(2, -2));
  SHOW("eq", a == torch::tensor({1.0f, 0.0f, 3.5f}));
  SHOW("lt", a < b);
  SHOW("lt, scalar", a < 1);
  SHOW("where", torch::where(a < b, a, b));
  SHOW("where, scalar", torch::where(a < b, a, 0));
  SHOW("in place", a.clone().add_(b).mul_(2).sub_(1).div_(2).neg_());
  a += 1;
  SHOW("operator +=", a);
  SHOW("overflow of uint8 wraps", torch::tensor({250, 5}).to(torch::kUInt8) + 10);
}

void promotion() {
  auto i = torch::tensor({1, 2});
  auto i32 = i.to(torch::kInt);
  auto u8 = i.to(torch::kUInt8);
  auto f = i.to(kF);
  auto d = i.to(torch::kDouble);
  auto h = i.to(torch::kHalf);
  auto bf = i.to(torch::kBFloat16);
  auto b = torch::tensor({true, false});
  SHOW("long + float", (i + f).dtype());
  SHOW("int + long", (i32 + i).scalar_type());
  SHOW("uint8 + int8", (u8 + i.to(torch::kInt8)).scalar_type());
  SHOW("float + double", (f + d).scalar_type());
  SHOW("half + bfloat16", (h + bf).scalar_type());
  SHOW("half + float", (h + f).scalar_type());
  SHOW("half + long", (h + i).scalar_type());
  SHOW("bool + bool", b + b);
  SHOW("bool + int scalar", (b + 1).scalar_type());
  SHOW("int + int scalar", (i32 + 1).scalar_type());
  SHOW("int + float scalar", (i32 + 1.5).scalar_type());
  SHOW("float + double scalar", (f + 1.5).scalar_type());
  SHOW("float + 0-d double", (f + torch::tensor(1.5, torch::kDouble)).scalar_type());
  SHOW("int + 0-d float", (i32 + torch::tensor(1.5f)).scalar_type());
  SHOW("int + 0-d long", (i32 + torch::tensor(1)).scalar_type());
  SHOW("0-d int + 0-d long", (torch::tensor(1, torch::kInt) + torch::tensor(1)).scalar_type());
  SHOW("half + 0-d float", (h + torch::tensor(1.5f)).scalar_type());
  SHOW("int / int", (i32 / i32).scalar_type());
  SHOW("where", torch::where(b, i, d).scalar_type());
  SHOW("cat", torch::cat({i, f}).scalar_type());
  SHOW("promote_types", torch::promote_types(torch::kInt, torch::kHalf));
  SHOW("in place keeps the dtype", f.clone().add_(d).scalar_type());
  ERROR_OF("in place cannot narrow", i.clone().add_(f));
  ERROR_OF("in place div of integers", i.clone().div_(2));
  ERROR_OF("bool minus bool", b - b);
  ERROR_OF("neg of bool", -b);
}

void broadcasting() {
  auto row = torch::tensor({1.0f, 2.0f, 3.0f});
  auto column = torch::tensor({{10.0f}, {20.0f}});
  SHOW("row and column", row + column);
  SHOW("0-d", torch::tensor(5.0f) + row);
  SHOW("empty with one", (torch::zeros({0, 3}) + torch::zeros({1, 3})).sizes());
  SHOW("leading dimension", (torch::zeros({2, 1, 3}) + torch::zeros({4, 1})).sizes());
  SHOW("expand", row.expand({2, -1}));
  SHOW("expand has zero strides", row.expand({2, 3}).strides());
  SHOW("copy_ broadcasts", torch::zeros({2, 3}).copy_(row));
  SHOW("in place, right side grows", torch::zeros({2, 3}).add_(row));
  ERROR_OF("in place, left side cannot grow", row.clone().add_(column));
  ERROR_OF("sizes do not match", row + torch::zeros({4}));
  ERROR_OF("expand a real dimension", torch::zeros({2, 3}).expand({2, 4}));
  ERROR_OF("expand to fewer", torch::zeros({2, 3}).expand({3}));
}

void reductions() {
  auto x = torch::tensor({{1.0f, 5.0f, -2.0f}, {4.0f, 0.5f, 6.0f}});
  SHOW("sum", x.sum());
  SHOW("sum, dim", x.sum(1));
  SHOW("sum, keepdim", x.sum({0}, true));
  SHOW("sum, several", x.sum(torch::IntArrayRef({0, 1})));
  SHOW("sum of bool", torch::tensor({true, true}).sum());
  SHOW("sum of int", torch::tensor({1, 2}).to(torch::kInt).sum().dtype());
  SHOW("sum with dtype", torch::tensor({1, 2}).sum(torch::kDouble));
  SHOW("sum of empty", torch::zeros({0}).sum());
  SHOW("mean", x.mean());
  SHOW("mean, dim", torch::mean(x, 0));
  SHOW("mean of empty is nan", std::isnan(torch::zeros({0}).mean().item<float>()));
  SHOW("max, values", std::get<0>(x.max(1)));
  SHOW("max, indices", std::get<1>(torch::max(x, 1)));
  SHOW("max, keepdim", std::get<1>(x.max(0, true)));
  SHOW("max of ties takes the first", std::get<1>(torch::tensor({2, 7, 7}).max(0)));
  SHOW("max with nan", std::get<1>(torch::tensor({1.0f, NAN, 9.0f}).max(0)));
  SHOW("argmax", x.argmax());
  SHOW("argmax, dim", x.argmax(1));
  SHOW("argmax, keepdim", x.argmax(0, true));
  SHOW("topk, values", std::get<0>(x.topk(2)));
  SHOW("topk, indices", std::get<1>(x.topk(2)));
  SHOW("topk, smallest, first dimension", std::get<0>(torch::topk(x, 1, 0, false)));
  ERROR_OF("mean of integers", torch::tensor({1, 2}).mean());
  ERROR_OF("max of nothing", torch::zeros({2, 0}).max(1));
  ERROR_OF("argmax of nothing", torch::zeros({0}).argmax());
  ERROR_OF("topk of too many", x.topk(4));
  ERROR_OF("same dimension twice", x.sum(torch::IntArrayRef({0, 0})));
}

void shapes() {
  auto x = grid();
  SHOW("view", x.view({2, 6}));
  SHOW("view, inferred", x.view({-1, 3}).sizes());
  SHOW("reshape copies when it must", x.transpose(0, 1).reshape({12}));
  SHOW("transpose", x.transpose(0, 1));
  SHOW("transpose, strides", x.transpose(-1, 0).strides());
  SHOW("is_contiguous", x.transpose(0, 1).is_contiguous());
  SHOW("t", x.t().sizes());
  SHOW("select", x.select(1, 2));
  SHOW("select, negative", x.select(0, -1));
  SHOW("slice", x.slice(0, 1, 3));
  SHOW("slice, step", x.slice(1, 0, 4, 2));
  SHOW("slice clamps", x.slice(0, 2, 100).sizes());
  SHOW("slice, nothing", x.slice(0, 3, 1).sizes());
  SHOW("slice, storage offset", x.slice(0, 1).storage_offset());
  SHOW("index_select", x.index_select(0, torch::tensor({2, 0, 2})));
  SHOW("index_select, columns", x.index_select(1, torch::tensor({3})));
  SHOW("cat", torch::cat({x.slice(0, 0, 1), x.slice(0, 2, 3)}, 0));
  SHOW("cat, columns", torch::cat({x.slice(1, 0, 1), x.slice(1, 3, 4)}, 1));
  SHOW("cat skips an empty vector", torch::cat({torch::zeros({0}), x.select(0, 0)}));
  SHOW("size", x.size(-1));
  SHOW("to, dtype", x.select(0, 0).to(torch::kInt));
  SHOW("to truncates", torch::tensor({1.9f, -1.9f}).to(torch::kLong));
  SHOW("to bool", torch::tensor({0.0f, 0.5f}).to(torch::kBool));
  SHOW("to the same returns the same", x.to(kF).is_same(x));
  auto view = x.select(0, 1);
  view.mul_(10);
  SHOW("a view writes through", x);
  ERROR_OF("view of a transposed tensor", x.transpose(0, 1).view({12}));
  MESSAGE_OF("view of a wrong size", x.view({5, 2}));
  MESSAGE_OF("view, two inferred", x.view({-1, -1}));
  MESSAGE_OF("view, not divisible", x.view({-1, 5}));
  MESSAGE_OF("reshape of a wrong size", x.reshape({7}));
  ERROR_OF("dimension out of range", x.sum(2));
  ERROR_OF("dimension out of range, size", x.size(-3));
  ERROR_OF("dimension out of range, transpose", x.transpose(0, 2));
  ERROR_OF("select out of range", x.select(0, 3));
  ERROR_OF("select of 0-d", torch::tensor(1).select(0, 0));
  ERROR_OF("slice step zero", x.slice(0, 0, 1, 0));
  ERROR_OF("index_select out of range", x.index_select(0, torch::tensor({3})));
  ERROR_OF("index_select with floats", x.index_select(0, torch::tensor({1.0f})));
  ERROR_OF("index_select with a matrix", x.index_select(0, torch::tensor({{0}})));
  ERROR_OF("cat of different sizes", torch::cat({x, torch::zeros({2, 3})}));
  ERROR_OF("cat of nothing", torch::cat(std::vector<torch::Tensor>{}));
  ERROR_OF("cat of different ranks", torch::cat({x, torch::zeros({2})}));
  ERROR_OF("item of many", x.item());
  ERROR_OF("negative size", torch::zeros({-1}));
  ERROR_OF("copy_ of a wrong size", torch::zeros({2}).copy_(torch::zeros({3})));
  ERROR_OF("write into an expanded tensor", torch::zeros({1}).expand({3}).add_(1));
  ERROR_OF("undefined tensor", torch::Tensor().add(1));
}

void indexing() {
  auto x = grid();
  SHOW("operator []", x[1]);
  SHOW("twice", x[1][2]);
  SHOW("integers", x.index({1, 2}));
  SHOW("negative", x.index({-1, -1}));
  SHOW("Slice", x.index({Slice(1, 3)}));
  SHOW("Slice and integer", x.index({Slice(), 1}));
  SHOW("Slice, step", x.index({Slice(None, None, 2)}));
  SHOW("Slice, negative", x.index({Slice(-2, None), Slice(None, -1)}));
  SHOW("None", x.index({None, 0}).sizes());
  SHOW("Ellipsis", x.index({Ellipsis, 0}));
  SHOW("string", x.index({"...", 1}));
  SHOW("Ellipsis in the middle", torch::arange(8).view({2, 2, 2}).index({1, Ellipsis, 0}));
  SHOW("an index is a view", x.index({Slice(0, 2)}).is_alias_of(x));
  auto y = grid();
  y.index_put_({0, Slice(1, 3)}, -1);
  SHOW("index_put_ with a number", y);
  y.index_put_({Slice(), 0}, torch::tensor({7.0f, 8.0f, 9.0f}));
  SHOW("index_put_ with a tensor", y);
  y[2] = torch::full({4}, 5.0f);
  SHOW("assign a row", y);
  y[2][0] = 1.5;
  SHOW("assign a number", y[2]);
  ERROR_OF("index out of range", x.index({3}));
  ERROR_OF("index out of range, second", x.index({0, 4}));
  ERROR_OF("too many indices", x.index({0, 0, 0}));
  ERROR_OF("operator [] out of range", x[-4]);
  ERROR_OF("operator [] of 0-d", torch::tensor(1)[0]);
}

void products() {
  auto a = torch::arange(6, kF).reshape({2, 3});
  auto b = torch::arange(12, kF).reshape({3, 4});
  SHOW("mm", torch::mm(a, b));
  SHOW("mm, transposed", a.t().mm(a));
  SHOW("mm, empty inner", torch::zeros({2, 0}).mm(torch::zeros({0, 2})));
  SHOW("mm of integers", torch::tensor({{1, 2}}).mm(torch::tensor({{3}, {4}})));
  SHOW("addmm", torch::addmm(torch::ones({4}), a, b));
  SHOW("addmm, beta and alpha", torch::addmm(torch::ones({2, 4}), a, b, 2, 0.5));
  SHOW("linear", torch::linear(a, torch::ones({2, 3}), torch::tensor({0.5f, -0.5f})));
  SHOW("linear, no bias", torch::linear(a, torch::ones({1, 3})));
  SHOW("linear, one vector", torch::linear(a[1], torch::ones({2, 3})));
  SHOW("linear, three dimensions", torch::linear(torch::ones({2, 2, 3}), torch::ones({1, 3})).sizes());
  SHOW("log_softmax", torch::log_softmax(torch::tensor({{1.0f, 2.0f, 3.0f}, {0.0f, 0.0f, 0.0f}}), 1));
  SHOW("log_softmax, large inputs", torch::log_softmax(torch::tensor({1000.0f, 999.5f}), 0));
  auto log_p = torch::tensor({{-0.5f, -1.5f}, {-2.0f, -0.25f}});
  SHOW("nll_loss", torch::nll_loss(log_p, torch::tensor({0, 1})));
  SHOW("nll_loss, sum", torch::nll_loss(log_p, torch::tensor({1, 1}), {}, torch::Reduction::Sum));
  SHOW("nll_loss, none", torch::nll_loss(log_p, torch::tensor({1, 0}), {}, torch::Reduction::None));
  SHOW("nll_loss, weights", torch::nll_loss(log_p, torch::tensor({0, 1}), torch::tensor({1.0f, 3.0f})));
  SHOW("nll_loss, ignored", torch::nll_loss(log_p, torch::tensor({0, -100})));
  ERROR_OF("mm, sizes", torch::mm(a, a));
  ERROR_OF("mm, ranks", torch::mm(a, a[0]));
  ERROR_OF("mm, dtypes", torch::mm(a, b.to(torch::kDouble)));
  ERROR_OF("addmm, sizes", torch::addmm(torch::ones({3}), a, b));
  ERROR_OF("linear, sizes", torch::linear(a, torch::ones({2, 4})));
  ERROR_OF("linear with bias, sizes", torch::linear(a, torch::ones({2, 4}), torch::ones({2})));
  ERROR_OF("nll_loss, target out of range", torch::nll_loss(log_p, torch::tensor({0, 2})));
  ERROR_OF("nll_loss, target of floats", torch::nll_loss(log_p, torch::tensor({0.0f, 1.0f})));
  ERROR_OF("nll_loss, batch sizes", torch::nll_loss(log_p, torch::tensor({0})));
  ERROR_OF("dropout, probability", torch::dropout(a, 1.5, true));
  ERROR_OF("bernoulli_, probability", torch::empty({2}).bernoulli_(2));
  ERROR_OF("uniform_, bounds", torch::empty({2}).uniform_(2, 1));
  ERROR_OF("normal_, deviation", torch::empty({2}).normal_(0, -1));
  ERROR_OF("randint, bounds", torch::randint(5, 5, {2}));
  ERROR_OF("randperm, negative", torch::randperm(-1));
  ERROR_OF("arange, sign of the step", torch::arange(0, 5, -1));
}

}  // namespace

int main() {
  std::cout << std::boolalpha;
  std::cout << "= creation\n";
  creation();
  std::cout << "= random numbers\n";
  random_numbers();
  std::cout << "= arithmetic\n";
  arithmetic();
  std::cout << "= promotion\n";
  promotion();
  std::cout << "= broadcasting\n";
  broadcasting();
  std::cout << "= reductions\n";
  reductions();
  std::cout << "= shapes\n";
  shapes();
  std::cout << "= indexing\n";
  indexing();
  std::cout << "= products\n";
  products();
}
