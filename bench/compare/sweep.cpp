// Single operators at a middle size, about 10^5 elements: those that the other groups do not measure.
#include "harness.h"

#include <functional>
#include <string>
#include <vector>

namespace compare {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
namespace F = torch::nn::functional;

constexpr int64_t kRows = 316, kElements = kRows * kRows;

/// An operator of float32 tensors x and y with [316, 316] elements, and of int64 indices i of the same shape.
struct Matrix {
  const char* name;
  std::function<Tensor(const Tensor& x, const Tensor& y, const Tensor& i)> call;
};

#define CALL(expression)                                                                    \
  [](const Tensor& x, const Tensor& y, const Tensor& i) -> Tensor {                         \
    (void)x, (void)y, (void)i;                                                              \
    return expression;                                                                      \
  }

const Matrix kElementwise[] = {
    {"fmod", CALL(torch::fmod(x, y))},
    {"remainder", CALL(torch::remainder(x, y))},
    {"erfinv", CALL(torch::erfinv(torch::tanh(x)))},
    {"lgamma", CALL(torch::lgamma(x))},
    {"digamma", CALL(torch::digamma(x))},
    {"i0", CALL(torch::i0(x))},
    {"atan2", CALL(torch::atan2(x, y))},
    {"hypot", CALL(torch::hypot(x, y))},
    {"pow", CALL(torch::pow(x.abs(), y))},
    {"floor_divide", CALL(torch::floor_divide(x, y))},
    {"logaddexp", CALL(torch::logaddexp(x, y))},
    {"xlogy", CALL(torch::xlogy(x, y.abs()))},
    {"lerp", CALL(torch::lerp(x, y, 0.3))},
    {"addcmul", CALL(torch::addcmul(x, x, y, 0.5))},
    {"addcdiv", CALL(torch::addcdiv(x, x, y, 0.5))},
    {"where", CALL(torch::where(x > 0, x, y))},
    {"clamp", CALL(torch::clamp(x, -0.5, 0.5))},
    {"nan_to_num", CALL(torch::nan_to_num(x))},
    {"round decimals", CALL(torch::round(x, 2))},
    {"frac", CALL(torch::frac(x))},
    {"sign", CALL(torch::sign(x))},
    {"softplus", CALL(torch::softplus(x))},
    {"mish", CALL(torch::mish(x))},
    {"hardswish", CALL(torch::hardswish(x))},
    {"prelu", CALL(torch::prelu(x, y.flatten().narrow(0, 0, 1)))},
    {"glu", CALL(torch::glu(x))},
    {"threshold", CALL(torch::threshold(x, 0.1, 0.2))},
    {"sigmoid of a transposed", CALL(torch::sigmoid(x.t()))},
    {"add of a transposed", CALL(x + y.t())},
    {"add of a row", CALL(x + y[0])},
    {"add of a column", CALL(x + y.narrow(1, 0, 1))},
    {"mul of int64", CALL(i * i)},
    {"div of int64", CALL(torch::div(i, 7, "floor"))},
    {"gt", CALL(x > y)},
    {"logical_and", CALL(torch::logical_and(x, y))},
    {"isfinite", CALL(torch::isfinite(x))},
    {"bitwise_and of int64", CALL(i & 255)},
    {"eq of int64", CALL(i == 3)},
    {"to float64", CALL(x.to(torch::kDouble))},
    {"to int32", CALL(x.to(torch::kInt))},
    {"to int8", CALL(x.to(torch::kChar))},
    {"to int64", CALL(x.to(torch::kLong))},
    {"to float16", CALL(x.to(torch::kHalf))},
    {"to bfloat16", CALL(x.to(torch::kBFloat16))},
    {"to bool", CALL(x.to(torch::kBool))},
    {"int64 to float32", CALL(i.to(torch::kFloat))},
};

const Matrix kComplex[] = {
    {"complex angle", CALL(torch::angle(x))},
    {"complex abs", CALL(torch::abs(x))},
    {"complex mul", CALL(x * y)},
    {"complex div", CALL(x / y)},
    {"complex exp", CALL(torch::exp(x))},
    {"complex conj", CALL(torch::conj(x).resolve_conj())},
    {"complex sum", CALL(x.sum())},
    {"complex view as real", CALL(torch::view_as_real(x).clone())},
};

const Matrix kReductions[] = {
    {"sum dim 0", CALL(x.sum(0))},
    {"sum dims 0 and 2", CALL(x.view({4, 79, 316}).sum(at::IntArrayRef{0, 2}))},
    {"sum of int64", CALL(i.sum())},
    {"prod", CALL(x.prod())},
    {"mean dim 1", CALL(x.mean(1))},
    {"var", CALL(x.var())},
    {"var dim 0", CALL(torch::var(x, 0))},
    {"std dim 1", CALL(torch::std(x, 1))},
    {"max dim 0", CALL(std::get<0>(x.max(0)))},
    {"max dim 1", CALL(std::get<0>(x.max(1)))},
    {"argmax", CALL(x.argmax())},
    {"argmin dim 1", CALL(x.argmin(1))},
    {"aminmax", CALL(std::get<0>(torch::aminmax(x)))},
    {"any", CALL(torch::any(x > 5))},
    {"all", CALL(torch::all(x > -9))},
    {"norm", CALL(torch::norm(x))},
    {"norm p 3 dim 1", CALL(torch::norm(x, 3, 1))},
    {"logsumexp", CALL(torch::logsumexp(x, 1))},
    {"cumprod", CALL(torch::cumprod(x, 1))},
    {"logcumsumexp", CALL(torch::logcumsumexp(x, 1))},
    {"cummax", CALL(std::get<0>(torch::cummax(x, 1)))},
    {"median", CALL(x.median())},
    {"median dim 1", CALL(std::get<0>(x.median(1)))},
    {"kthvalue", CALL(std::get<0>(torch::kthvalue(x, 50, 1)))},
    {"quantile", CALL(torch::quantile(x, 0.3))},
    {"mode", CALL(std::get<0>(torch::mode(i, 1)))},
    {"count_nonzero", CALL(torch::count_nonzero(x))},
    {"dist", CALL(torch::dist(x, y))},
    {"trace", CALL(torch::trace(x))},
    {"softmax dim 0", CALL(torch::softmax(x, 0))},
    {"log_softmax dim 1", CALL(torch::log_softmax(x, 1))},
    {"histc", CALL(torch::histc(x, 100))},
    {"bincount", CALL(torch::bincount(i.flatten()))},
    {"unique", CALL(std::get<0>(torch::_unique(i)))},
    {"unique of float32", CALL(std::get<0>(torch::_unique(x)))},
    {"allclose", CALL(torch::isclose(x, y))},
};

const Matrix kIndexing[] = {
    {"index_select dim 0", CALL(torch::index_select(x, 0, i[0]))},
    {"index_select dim 1", CALL(torch::index_select(x, 1, i[0]))},
    {"index_add dim 0", CALL(torch::index_add(x, 0, i[0], y))},
    {"index_add dim 1", CALL(torch::index_add(x, 1, i[0], y))},
    {"index_copy", CALL(torch::index_copy(x, 0, torch::arange(kRows), y))},
    {"index_fill", CALL(torch::index_fill(x, 0, i[0], 1.0))},
    {"index by a row of indices", CALL(x.index({i[0]}))},
    {"index by two tensors", CALL(x.index({i, i}))},
    {"index by a mask", CALL(x.index({x > 0}))},
    {"index_put by a mask", CALL(torch::index_put(x, {x > 0}, y[0][0]))},
    {"take", CALL(torch::take(x, i))},
    {"take_along_dim", CALL(torch::take_along_dim(x, i, 1))},
    {"gather dim 0", CALL(torch::gather(x, 0, i))},
    {"scatter dim 0", CALL(torch::scatter(x, 0, i, y))},
    {"scatter dim 1", CALL(torch::scatter(x, 1, i, y))},
    {"scatter_add dim 1", CALL(torch::scatter_add(x, 1, i, y))},
    {"scatter_reduce amax", CALL(torch::scatter_reduce(x, 1, i, y, "amax"))},
    {"masked_fill", CALL(torch::masked_fill(x, y > 0, 1.0))},
    {"masked_select", CALL(torch::masked_select(x, y > 0))},
    {"masked_scatter", CALL(torch::masked_scatter(x, y > 0, y))},
    {"nonzero", CALL(torch::nonzero(x > 0))},
    {"embedding", CALL(torch::embedding(x, i[0]))},
    {"embedding of a matrix", CALL(torch::embedding(x.narrow(1, 0, 16), i))},
    {"embedding_bag", CALL(std::get<0>(torch::embedding_bag(x.narrow(1, 0, 64).contiguous(), i.flatten().narrow(0, 0, 1600), torch::arange(0, 1600, 8))))},
    {"one_hot", CALL(torch::one_hot(i[0], kRows))},
    {"searchsorted", CALL(torch::searchsorted(std::get<0>(y[0].sort()), x))},
    {"bucketize", CALL(torch::bucketize(x, torch::arange(-3, 3, 0.1)))},
    {"isin", CALL(torch::isin(i, i[0].narrow(0, 0, 8)))},
    {"topk 5 dim 1", CALL(std::get<0>(torch::topk(x, 5, 1)))},
    {"argsort", CALL(torch::argsort(x, 1, false))},
    {"sort of int64", CALL(std::get<0>(torch::sort(i, 1)))},
};

const Matrix kShapes[] = {
    {"cat dim 0", CALL(torch::cat({x, y}, 0))},
    {"cat dim 1", CALL(torch::cat({x, y}, 1))},
    {"cat of narrow columns", CALL(torch::cat({x.narrow(1, 0, 3), y.narrow(1, 0, 5)}, 1))},
    {"stack dim 2", CALL(torch::stack({x, y}, 2))},
    {"repeat", CALL(x.narrow(0, 0, 32).repeat({3, 3}))},
    {"tile of a column", CALL(x.narrow(1, 0, 1).repeat({1, 316}))},
    {"repeat_interleave", CALL(torch::repeat_interleave(x.narrow(0, 0, 100), 3, 0))},
    {"flip", CALL(torch::flip(x, {1}))},
    {"flip both", CALL(torch::flip(x, {0, 1}))},
    {"roll", CALL(torch::roll(x, 5, 1))},
    {"roll dim 0", CALL(torch::roll(x, 5, 0))},
    {"rot90", CALL(torch::rot90(x))},
    {"transposed copy", CALL(x.t().contiguous())},
    {"permuted copy", CALL(x.view({4, 79, 316}).permute({2, 0, 1}).contiguous())},
    {"strided copy", CALL(x.slice(1, 0, 316, 2).contiguous())},
    {"expanded copy", CALL(x[0].expand({316, 316}).contiguous())},
    {"tril", CALL(torch::tril(x))},
    {"triu", CALL(torch::triu(x, 1))},
    {"diag", CALL(torch::diag(x[0]))},
    {"diagonal", CALL(x.diagonal().clone())},
    {"diag_embed", CALL(torch::diag_embed(x.narrow(0, 0, 10).narrow(1, 0, 100)))},
    {"block_diag", CALL(torch::block_diag({x.narrow(0, 0, 100), y.narrow(0, 0, 100)}))},
    {"unfold", CALL(x.unfold(1, 4, 2).contiguous())},
    {"im2col", CALL(torch::im2col(x.view({1, 4, 79, 316}), {3, 3}, {1, 1}, {1, 1}, {1, 1}))},
    {"col2im", CALL(torch::col2im(x.narrow(1, 0, 288).reshape({1, 36, 2528}), {79, 32}, {3, 3}, {1, 1}, {1, 1}, {1, 1}))},
    {"pixel_shuffle", CALL(torch::pixel_shuffle(x.view({1, 4, 79, 316}), 2))},
    {"channel_shuffle", CALL(torch::channel_shuffle(x.view({1, 4, 79, 316}), 2))},
    {"constant_pad", CALL(torch::constant_pad_nd(x.view({1, 4, 79, 316}), {1, 1, 1, 1}))},
    {"reflection_pad", CALL(torch::reflection_pad2d(x.view({1, 4, 79, 316}), {1, 1, 1, 1}))},
    {"replication_pad", CALL(torch::replication_pad2d(x.view({1, 4, 79, 316}), {1, 1, 1, 1}))},
    {"circular pad", CALL(F::pad(x.view({1, 4, 79, 316}), F::PadFuncOptions({1, 1, 1, 1}).mode(torch::kCircular)))},
    {"outer", CALL(torch::outer(x[0], y[0]))},
    {"kron", CALL(torch::kron(x.narrow(0, 0, 10).narrow(1, 0, 10), y.narrow(0, 0, 30).narrow(1, 0, 30)))},
    {"cross", CALL(torch::linalg_cross(x.narrow(1, 0, 3), y.narrow(1, 0, 3)))},
    {"meshgrid", CALL(torch::meshgrid({x[0], y[0]}, "ij")[0].clone())},
    {"cartesian_prod", CALL(torch::cartesian_prod({x[0], y[0]}))},
    {"cdist", CALL(torch::cdist(x.narrow(1, 0, 16), y.narrow(1, 0, 16)))},
    {"cdist p 1", CALL(torch::cdist(x.narrow(1, 0, 16), y.narrow(1, 0, 16), 1))},
    {"pdist", CALL(torch::pdist(x.narrow(1, 0, 16)))},
    {"cosine_similarity", CALL(torch::cosine_similarity(x, y, 1))},
    {"addmv", CALL(torch::addmv(x[0], x, y[0]))},
    {"dot", CALL(torch::dot(x.flatten(), y.flatten()))},
    {"addr", CALL(torch::addr(x, x[0], y[0]))},
    {"baddbmm", CALL(torch::baddbmm(x.view({4, 79, 316}).narrow(2, 0, 79), x.view({4, 79, 316}), y.view({4, 79, 316}).transpose(1, 2)))},
    {"einsum", CALL(torch::einsum("bij,bkj->bik", {x.view({4, 79, 316}), y.view({4, 79, 316})}))},
};

const Matrix kFactories[] = {
    {"zeros", CALL(torch::zeros({kRows, kRows}))},
    {"full", CALL(torch::full({kRows, kRows}, 2.5))},
    {"arange", CALL(torch::arange(kElements))},
    {"arange of float32", CALL(torch::arange(0, 1e4, 0.1))},
    {"linspace", CALL(torch::linspace(0, 1, kElements))},
    {"logspace", CALL(torch::logspace(0, 1, kElements))},
    {"eye", CALL(torch::eye(kRows))},
    {"rand", CALL(torch::rand({kRows, kRows}))},
    {"randn", CALL(torch::randn({kRows, kRows}))},
    {"randint", CALL(torch::randint(0, 100, {kRows, kRows}))},
    {"randperm", CALL(torch::randperm(kElements))},
    {"bernoulli", CALL(torch::bernoulli(x.sigmoid()))},
    {"dropout", CALL(torch::dropout(x, 0.5, true))},
    {"exponential", CALL(torch::empty_like(x).exponential_())},
    {"poisson", CALL(torch::poisson(x.abs() * 4))},
    {"multinomial", CALL(torch::multinomial(x.abs(), 20, true))},
    {"multinomial without replacement", CALL(torch::multinomial(x.abs(), 20, false))},
};

const Matrix kLayers[] = {
    {"layer_norm", CALL(torch::layer_norm(x, {kRows}))},
    {"group_norm", CALL(torch::group_norm(x.view({1, 4, 79, 316}), 2))},
    {"instance_norm", CALL(torch::instance_norm(x.view({1, 4, 79, 316}), {}, {}, {}, {}, true, 0.1, 1e-5, false))},
    {"batch_norm of a matrix", CALL(torch::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false))},
    {"rms_norm", CALL(torch::rms_norm(x, {kRows}))},
    {"local_response_norm", CALL(F::local_response_norm(x.view({1, 4, 79, 316}), F::LocalResponseNormFuncOptions(2)))},
    {"normalize", CALL(F::normalize(x))},
    {"cross_entropy", CALL(torch::cross_entropy_loss(x, i[0]))},
    {"mse_loss", CALL(torch::mse_loss(x, y))},
    {"smooth_l1_loss", CALL(torch::smooth_l1_loss(x, y))},
    {"binary_cross_entropy", CALL(torch::binary_cross_entropy(x.sigmoid(), y.sigmoid()))},
    {"binary_cross_entropy_with_logits", CALL(torch::binary_cross_entropy_with_logits(x, y))},
    {"kl_div", CALL(torch::kl_div(x, y.abs()))},
    {"triplet_margin_loss", CALL(torch::triplet_margin_loss(x, y, x.t()))},
    {"multi_margin_loss", CALL(torch::multi_margin_loss(x, i[0]))},
    {"attention", CALL(torch::scaled_dot_product_attention(x.view({4, 79, 4, 79}).transpose(1, 2), y.view({4, 79, 4, 79}).transpose(1, 2),
                                                        x.view({4, 79, 4, 79}).transpose(1, 2)))},
    {"lp_pool2d", CALL(F::lp_pool2d(x.abs().view({1, 4, 79, 316}), F::LPPool2dFuncOptions(2, 2)))},
    {"max_pool1d", CALL(torch::max_pool1d(x.view({4, 79, 316}), 3, 2, 1))},
    {"avg_pool1d", CALL(torch::avg_pool1d(x.view({4, 79, 316}), 3, 2, 1))},
    {"max_pool3d", CALL(torch::max_pool3d(x.view({1, 4, 4, 79, 79}), 2, 2))},
    {"max_unpool2d", CALL([&] {
       auto pooled = torch::max_pool2d_with_indices(x.view({1, 4, 79, 316}), 2, 2);
       return torch::max_unpool2d(std::get<0>(pooled), std::get<1>(pooled), {79, 316});
     }())},
};

/// Operators of images in both memory formats, [4, 32, 28, 28]; `grid` has [4, 28, 28, 2] elements between -1 and 1.
struct Image {
  const char* name;
  std::function<Tensor(const Tensor& x, const Tensor& grid)> call;
};

#define IMAGE(expression)                                                                   \
  [](const Tensor& x, const Tensor& grid) -> Tensor {                                       \
    (void)grid;                                                                             \
    return expression;                                                                      \
  }

const Image kImages[] = {
    {"upsample nearest", IMAGE(torch::upsample_nearest2d(x, {56, 56}))},
    {"upsample nearest to 40", IMAGE(torch::upsample_nearest2d(x, {40, 40}))},
    {"upsample bilinear", IMAGE(torch::upsample_bilinear2d(x, {56, 56}, false))},
    {"upsample bilinear to 40", IMAGE(torch::upsample_bilinear2d(x, {40, 40}, true))},
    {"upsample bicubic", IMAGE(torch::upsample_bicubic2d(x, {56, 56}, false))},
    {"downsample bilinear", IMAGE(torch::upsample_bilinear2d(x, {14, 14}, false))},
    {"downsample antialias", IMAGE(torch::_upsample_bilinear2d_aa(x, {14, 14}, false))},
    {"grid_sample bilinear", IMAGE(torch::grid_sampler(x, grid, 0, 0, false))},
    {"grid_sample nearest", IMAGE(torch::grid_sampler(x, grid, 1, 1, false))},
    {"grid_sample bicubic", IMAGE(torch::grid_sampler(x, grid, 2, 0, true))},
    {"relu", IMAGE(torch::relu(x))},
    {"batch_norm in training", IMAGE(torch::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false))},
    {"batch_norm in inference",
     IMAGE(torch::batch_norm(x, {}, {}, torch::zeros({32}), torch::ones({32}), false, 0.1, 1e-5, false))},
    {"cat of channels", IMAGE(torch::cat({x, x}, 1))},
    {"mean of planes", IMAGE(x.mean(at::IntArrayRef{2, 3}))},
    {"add of a channel", IMAGE(x + grid.flatten().narrow(0, 0, 32).view({1, 32, 1, 1}))},
    {"softmax of channels", IMAGE(torch::softmax(x, 1))},
    {"contiguous", IMAGE(x.contiguous(torch::MemoryFormat::ChannelsLast).contiguous())},
};

void matrices(const Matrix* first, size_t count, const std::function<Tensor()>& make) {
  const std::string size = std::to_string(kRows) + 'x' + std::to_string(kRows);
  Lazy x(make), y(make), i([] { return torch::randint(0, kRows, {kRows, kRows}, torch::kLong); });
  for (size_t at = 0; at < count; ++at) {
    const auto& call = first[at].call;
    measure(Case{"sweep", first[at].name, size, 8.0 * kElements},
            [&](const Tensor& a, const Tensor& b, const Tensor& c) { return call(a, b, c); }, x, y, i);
  }
}

template <size_t count>
void matrices(const Matrix (&list)[count], torch::Dtype dtype = torch::kFloat) {
  matrices(list, count, [dtype] { return torch::randn({kRows, kRows}, dtype); });
}

void images(bool last) {
  Lazy x([last] {
    Tensor image = torch::randn({4, 32, 28, 28});
    return last ? image.contiguous(torch::MemoryFormat::ChannelsLast) : image;
  });
  Lazy grid([] { return torch::rand({4, 28, 28, 2}) * 2 - 1; });
  for (const Image& image : kImages) {
    const std::string name = std::string(image.name) + (last ? ", channels last" : "");
    const auto& call = image.call;
    measure(Case{"sweep", name, "4x32x28x28", 8.0 * 4 * 32 * 28 * 28},
            [&](const Tensor& a, const Tensor& b) { return call(a, b); }, x, grid);
    // The gradient through the operator, with the forward pass.
    auto step = [&](const Tensor& a, const Tensor& b) {
      Tensor leaf = a.detach().set_requires_grad(true);
      Tensor y = call(leaf, b);
      return torch::autograd::grad({y}, {leaf}, {y.detach()})[0];
    };
    measure(Case{"sweep", name + ", with gradient", "4x32x28x28", 16.0 * 4 * 32 * 28 * 28}, step, x, grid);
  }
}

}  // namespace

void sweep() {
  matrices(kElementwise);
  matrices(kComplex, torch::kComplexFloat);
  matrices(kReductions);
  matrices(kIndexing);
  matrices(kShapes);
  matrices(kFactories);
  matrices(kLayers);
  images(false);
  images(true);
}

}  // namespace compare
