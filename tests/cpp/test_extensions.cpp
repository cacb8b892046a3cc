// Headers for operators outside of the library: registration by an object, checks of arguments, broadcasting, geometry, kernels' helpers.
#include <ATen/DeviceGuard.h>
#include <ATen/ExpandUtils.h>
#include <ATen/InferSize.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/NumericUtils.h>
#include <ATen/OpMathType.h>
#include <ATen/TensorGeometry.h>
#include <ATen/TensorUtils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/functional.h>
#include <ATen/core/op_registration/op_registration.h>
#include <c10/core/Event.h>
#include <c10/util/Array.h>
#include <c10/util/C++17.h>
#include <c10/util/Deprecated.h>
#include <c10/util/llvmMathExtras.h>
#include <c10/util/string_utils.h>
#include <c10/util/thread_name.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/jit/codegen/cuda/interface.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/extension.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <thread>

#include "messages.h"

namespace {

using at::Tensor;

template <class Signature>
auto op(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}

Tensor doubled(const Tensor& self) { return self * 2; }
struct Shift final : c10::OperatorKernel {
  explicit Shift(int64_t amount) : amount_(amount) {}
  Tensor operator()(const Tensor& self) const { return self + amount_; }

 private:
  int64_t amount_;
};

auto registered = torch::RegisterOperators()
                      .op("te::doubled", &doubled)
                      .op("te::halved(Tensor self) -> Tensor", [](const Tensor& self) { return self / 2; })
                      .op("te::shifted(Tensor self) -> Tensor", torch::RegisterOperators::options().kernel<Shift>(c10::DispatchKey::CPU, 10))
                      .op("te::joined", [](const std::vector<std::tuple<std::string, int64_t>>& parts) {
                        std::vector<std::tuple<int64_t, std::string>> results;
                        for (const auto& [text, number] : parts) results.emplace_back(number, text + "!");
                        return results;
                      })
                      .op(torch::RegisterOperators::options()
                              .schema("te::known.overload(Tensor self) -> Tensor")
                              .catchAllKernel<decltype(doubled), &doubled>()
                              .aliasAnalysis(c10::AliasAnalysisKind::PURE_FUNCTION));

// Kernels for modes that the library does not have are accepted and not called.
TORCH_LIBRARY_FRAGMENT(te, m) { m.def("cast(Tensor self) -> Tensor"); }
TORCH_LIBRARY_IMPL(te, CPU, m) { m.impl("cast", &doubled); }
TORCH_LIBRARY_IMPL(te, Autocast, m) {
  m.impl("cast", [](const Tensor&) -> Tensor { throw std::runtime_error("called"); });
}

TEST(Extensions, RegisterOperatorsDefinesOperators) {
  Tensor x = torch::tensor({1.0f, 2.0f});
  EXPECT_TRUE(op<Tensor(const Tensor&)>("te::doubled").call(x).equal(torch::tensor({2.0f, 4.0f})));
  EXPECT_TRUE(op<Tensor(const Tensor&)>("te::halved").call(x).equal(torch::tensor({0.5f, 1.0f})));
  EXPECT_TRUE(op<Tensor(const Tensor&)>("te::shifted").call(x).equal(torch::tensor({11.0f, 12.0f})));
  EXPECT_TRUE(op<Tensor(const Tensor&)>("te::known", "overload").call(x).equal(torch::tensor({2.0f, 4.0f})));
  EXPECT_TRUE(op<Tensor(const Tensor&)>("te::cast").call(x).equal(torch::tensor({2.0f, 4.0f})));
  using In = std::vector<std::tuple<std::string, int64_t>>;
  using Out = std::vector<std::tuple<int64_t, std::string>>;
  EXPECT_EQ(op<Out(const In&)>("te::joined").call({{"a", 1}, {"b", 2}}), (Out{{1, "a!"}, {2, "b!"}}));
  {
    auto scoped = c10::RegisterOperators("te::scoped(Tensor self) -> Tensor", &doubled);
    EXPECT_TRUE(c10::Dispatcher::singleton().findSchema({"te::scoped", ""}).has_value());
  }
  EXPECT_FALSE(c10::Dispatcher::singleton().findSchema({"te::scoped", ""}).has_value());
  EXPECT_EQ(message_of([] { c10::RegisterOperators().op(c10::RegisterOperators::options()); }),
            "In operator registration: Tried to register an operator without specifying a schema or operator name.");
  EXPECT_EQ(message_of([] { c10::RegisterOperators().op("te::nothing"); }),
            "Cannot infer operator schema in registration of operator te::nothing because there is no kernel specified.");
}

TEST(Extensions, DispatchKeysBeyondTheLibrarysOwn) {
  static_assert(c10::DispatchKey::Autocast == c10::DispatchKey::AutocastCUDA);
  EXPECT_STREQ(c10::toString(c10::DispatchKey::AutocastCPU), "AutocastCPU");
  c10::DispatchKeySet keys{c10::DispatchKey::CPU, c10::DispatchKey::CompositeExplicitAutogradNonFunctional};
  EXPECT_TRUE(keys.has(c10::DispatchKey::CompositeExplicitAutogradNonFunctional));
  std::vector<c10::DispatchKey> visited(keys.begin(), keys.end());
  EXPECT_EQ(visited, (std::vector<c10::DispatchKey>{c10::DispatchKey::CPU, c10::DispatchKey::CompositeExplicitAutogradNonFunctional}));
  Tensor x = torch::ones({2}, torch::requires_grad());
  {
    c10::impl::ExcludeDispatchKeyGuard none(c10::DispatchKey::Autocast);
    EXPECT_TRUE((x * 2).requires_grad());
    c10::impl::ExcludeDispatchKeyGuard autograd(c10::autograd_dispatch_keyset);
    EXPECT_FALSE((x * 2).requires_grad());
  }
  EXPECT_TRUE((x * 2).requires_grad());
}

TEST(Extensions, ChecksNameTheirArgument) {
  Tensor a = torch::zeros({2, 3}), b = torch::zeros({3, 2}), c = torch::zeros({2, 3}, torch::kLong), none;
  at::TensorArg first{a, "first", 1}, second{b, "second", 2}, integer{c, "integer", 0}, missing{none, "missing", 3};
  at::checkDim("f", first, 2);
  at::checkSize("f", first, {2, 3});
  at::checkSameNumel("f", first, second);
  at::checkAllContiguous("f", {first, second, missing});
  at::checkAllSameSize("f", {first, missing, integer});
  EXPECT_EQ(message_of([&] { at::checkDim("f", first, 3); }),
            "Expected 3-dimensional tensor, but got 2-dimensional tensor for argument #1 'first' (while checking arguments for f)");
  EXPECT_EQ(message_of([&] { at::checkSameSize("f", first, second); }),
            "Expected tensor for argument #1 'first' to have same size as tensor for argument #2 'second'; but [2, 3] does not equal [3, 2] (while checking "
            "arguments for f)");
  EXPECT_EQ(message_of([&] { at::checkSameType("f", first, integer); }),
            "Expected tensor for argument #1 'first' to have the same type as tensor for 'integer'; but type CPUFloatType does not equal CPULongType (while "
            "checking arguments for f)");
  EXPECT_EQ(message_of([&] { at::checkScalarTypes("f", integer, {at::kFloat, at::kDouble}); }),
            "Expected tensor for 'integer' to have one of the following scalar types: Float, Double; but got CPULongType instead (while checking arguments for "
            "f)");
  EXPECT_EQ(message_of([&] { at::checkDefined("f", missing); }),
            "Expected tensor for argument #3 'missing' to be non-null, but it was undefined  (while checking arguments for f)");
  EXPECT_THROW(at::checkContiguous("f", at::TensorGeometryArg(at::TensorGeometry(a.t()), "t", 1)), c10::Error);
  EXPECT_THROW(at::checkSameGPU("f", first, second), c10::Error);
  EXPECT_THROW(at::checkLayout("f", a, at::kSparse), c10::Error);
  EXPECT_EQ(at::maybe_data_ptr(none), nullptr);
  EXPECT_EQ(at::maybe_data_ptr(a), a.data_ptr());
  at::check_dim_size(a, 2, 1, 3);
  EXPECT_EQ(at::detail::defaultStrides({2, 3, 4}), (std::vector<int64_t>{12, 4, 1}));
  // The strides of views are those that `view` computes.
  Tensor t = torch::arange(24).view({2, 3, 4});
  EXPECT_EQ(*at::detail::computeStride(t.sizes(), t.strides(), at::IntArrayRef({6, 4})), t.view({6, 4}).strides());
  Tensor s = t.transpose(0, 1);
  EXPECT_EQ(*at::detail::computeStride(s.sizes(), s.strides(), at::IntArrayRef({3, 2, 2, 2})), s.view({3, 2, 2, 2}).strides());
  EXPECT_FALSE(at::detail::computeStride(s.sizes(), s.strides(), at::IntArrayRef({6, 4})).has_value());
  EXPECT_EQ(at::device_of(none), std::nullopt);
  EXPECT_EQ(at::device_of(at::TensorList({a, b})), at::Device(at::kCPU));
}

TEST(Extensions, GeometryIsThatOfATensor) {
  Tensor t = torch::arange(24).view({2, 3, 4}).transpose(0, 2).slice(1, 1);
  at::TensorGeometry geometry(t);
  EXPECT_EQ(geometry.sizes(), t.sizes());
  EXPECT_EQ(geometry.strides(), t.strides());
  EXPECT_EQ(geometry.storage_offset(), t.storage_offset());
  EXPECT_EQ(geometry.numel(), t.numel());
  EXPECT_FALSE(geometry.is_contiguous());
  EXPECT_EQ(geometry.transpose(0, -1), at::TensorGeometry(t.transpose(0, -1)));
  EXPECT_NE(geometry, at::TensorGeometry(t.sizes()));
  EXPECT_EQ(at::TensorGeometry({2, 0, 3}).strides(), torch::empty({2, 0, 3}).strides());
  EXPECT_TRUE(at::TensorGeometry({2, 1, 3}).is_contiguous());
  EXPECT_TRUE(at::geometry_is_contiguous({2, 1, 3}, {3, 77, 1}));
  EXPECT_THROW(geometry.size(3), c10::IndexError);
}

TEST(Extensions, BroadcastingByHand) {
  EXPECT_EQ(at::infer_size({2, 1, 3}, {4, 1}), (std::vector<int64_t>{2, 4, 3}));
  EXPECT_EQ(message_of([] { at::infer_size(at::IntArrayRef({2, 3}), at::IntArrayRef({4})); }),
            "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1");
  EXPECT_TRUE(at::are_expandable({2, 3}, {1}));
  EXPECT_TRUE(at::is_expandable_to({3}, {2, 3}));
  EXPECT_FALSE(at::is_expandable_to({2, 3}, {3}));
  Tensor a = torch::arange(3), b = torch::arange(2).view({2, 1});
  auto [x, y] = at::expand_outplace(a, b);
  EXPECT_EQ(x->sizes(), at::IntArrayRef({2, 3}));
  EXPECT_TRUE((*x + *y).equal(a + b));
  EXPECT_TRUE(at::expand_size(a, {3})->is_same(a));
  std::vector<Tensor> list = at::expand_outplace({a, Tensor(), b});
  EXPECT_FALSE(list[1].defined());
  EXPECT_EQ(list[2].sizes(), at::IntArrayRef({2, 3}));
  Tensor undefined;
  EXPECT_THROW(at::expand_inplace(a, b), c10::Error);
  EXPECT_EQ(message_of([&] { at::expand_inplace(a, undefined, "f"); }), "f(...) called with an undefined Tensor");
  EXPECT_TRUE(at::sum_to(torch::ones({4, 2, 3}), {2, 1}).equal(torch::full({2, 1}, 12.0f)));
  EXPECT_EQ(at::sum_to(torch::ones({4, 2}), {}).item<float>(), 8.0f);
  auto [sizes, strides] = at::inferExpandGeometry({3, 1}, {1, 1}, {2, -1, 4});
  EXPECT_EQ(sizes, (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(strides[2], 0);
  EXPECT_EQ(at::infer_dense_strides({2, 3, 4}, {1, 20, 5}), (std::vector<int64_t>{1, 8, 2}));
  EXPECT_EQ(at::infer_size(at::IntArrayRef({2, -1}), 6), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(message_of([] { at::infer_size(at::IntArrayRef({4, -1}), 6); }), "shape '[4, -1]' is invalid for input of size 6");
  EXPECT_EQ(message_of([] { at::infer_size(at::IntArrayRef({-1, -1}), 6); }), "only one dimension can be inferred");
  std::vector<int64_t> dims{-1, 0, -2};
  at::maybe_wrap_dims(dims, 3);
  EXPECT_EQ(dims, (std::vector<int64_t>{2, 0, 1}));
  EXPECT_EQ(at::legacy_cat_wrap_dim(-1, {torch::empty({0}), torch::empty({2, 3})}), 1);
  EXPECT_EQ(at::maybe_wrap_dim(-1, at::TensorList({b})), 1);
}

TEST(Extensions, OverlapOfMemory) {
  Tensor t = torch::arange(12).view({3, 4});
  EXPECT_EQ(at::has_internal_overlap(t), at::MemOverlap::No);
  EXPECT_EQ(at::has_internal_overlap(t.select(0, 0).expand({2, 4})), at::MemOverlap::Yes);
  EXPECT_EQ(at::has_internal_overlap(t.slice(1, 0, 4, 2)), at::MemOverlap::TooHard);
  EXPECT_THROW(at::assert_no_internal_overlap(t.select(0, 0).expand({2, 4})), c10::Error);
  EXPECT_EQ(at::get_overlap_status(t, t), at::MemOverlapStatus::Full);
  EXPECT_EQ(at::get_overlap_status(t, t.view({3, 4})), at::MemOverlapStatus::Full);
  EXPECT_EQ(at::get_overlap_status(t[0], t[1]), at::MemOverlapStatus::No);
  EXPECT_EQ(at::get_overlap_status(t.slice(0, 0, 2), t.slice(0, 1, 3)), at::MemOverlapStatus::Partial);
  EXPECT_THROW(at::assert_no_partial_overlap(t.slice(0, 0, 2), t.slice(0, 1, 3)), c10::Error);
  EXPECT_THROW(at::assert_no_overlap(t, t), c10::Error);
}

TEST(Extensions, NumbersOfKernels) {
  static_assert(std::is_same_v<at::opmath_type<at::Half>, float> && std::is_same_v<at::opmath_type<double>, double>);
  static_assert(std::is_same_v<at::opmath_type<c10::complex<at::Half>>, c10::complex<float>>);
  EXPECT_EQ(at::toOpMathType(at::kBFloat16), at::kFloat);
  EXPECT_EQ(at::toOpMathType(at::kLong), at::kLong);
  static_assert(std::is_same_v<at::scalar_value_type<c10::complex<double>>::type, double> && std::is_same_v<at::scalar_value_type<int>::type, int>);
  EXPECT_EQ(at::internal::GRAIN_SIZE, 32768);
  EXPECT_FALSE(at::_isnan(3));
  EXPECT_TRUE(at::_isnan(at::Half(std::nanf(""))));
  EXPECT_TRUE(at::_isnan(c10::complex<float>(0, std::nanf(""))));
  EXPECT_TRUE(at::_isinf(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(at::exp(0.5), std::exp(0.5));
  namespace bits = c10::llvm;
  EXPECT_EQ(bits::countLeadingZeros(uint32_t(1)), 31u);
  EXPECT_EQ(bits::countLeadingZeros(uint64_t(0)), 64u);
  EXPECT_EQ(bits::countTrailingZeros(uint32_t(8)), 3u);
  EXPECT_EQ(bits::findLastSet(uint16_t(0x0100)), 8);
  EXPECT_EQ(bits::findFirstSet(uint8_t(0)), 255);
  EXPECT_EQ(bits::reverseBits(uint8_t(0b00000110)), 0b01100000);
  EXPECT_EQ(bits::Log2_64_Ceil(33), 6u);
  EXPECT_EQ(bits::NextPowerOf2(32), 64u);
  EXPECT_EQ(bits::PowerOf2Ceil(32), 32u);
  EXPECT_EQ(bits::GreatestCommonDivisor64(12, 18), 6u);
  EXPECT_EQ(bits::alignTo(5, 8), 8u);
  EXPECT_EQ(bits::alignTo(5, 8, 7), 7u);
  EXPECT_EQ(bits::SignExtend32<8>(0xff), -1);
  EXPECT_TRUE(bits::isInt<8>(-128) && !bits::isInt<8>(128));
  EXPECT_EQ(bits::SaturatingAdd<uint8_t>(200, 100), 255);
  EXPECT_EQ(bits::SaturatingMultiply<uint8_t>(200, 2), 255);
  EXPECT_EQ(bits::FloatToBits(1.0f), 0x3f800000u);
}

TEST(Extensions, SmallHelpers) {
  std::vector<int> numbers{1, 2, 3};
  EXPECT_EQ(c10::fmap(numbers, [](int x) { return x * 2.5; }), (std::vector<double>{2.5, 5, 7.5}));
  EXPECT_EQ(c10::fmap<int64_t>(numbers), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(c10::filter(numbers, [](int x) { return x != 2; }), (std::vector<int>{1, 3}));
  EXPECT_EQ((c10::array_of<int>(1, 2)), (std::array<int, 2>{1, 2}));
  EXPECT_EQ(c10::guts::apply([](int a, int b) { return a - b; }, std::make_tuple(5, 2)), 3);
  static_assert(c10::is_pod_v<int>);
  std::ostringstream out;
  std::map<int, std::string> map{{1, "a"}, {2, "b"}};
  out << std::vector<double>{1.5, 2} << '|' << map << '|' << std::set<int>{3, 1} << '|' << std::vector<int>(101) << '|' << at::CPU(at::kFloat);
  std::string zeros = "0";
  for (int i = 1; i < 100; ++i) zeros += " 0";
  EXPECT_EQ(out.str(), "1.5 2|(1, a) (2, b)|1 3|" + zeros + " ...|CPUFloatType");
  std::thread([] {
    c10::setThreadName("a rather long name");
    EXPECT_EQ(c10::getThreadName(), "a rather long n");
  }).join();
}

TEST(Extensions, AutogradOfFunctionsOutside) {
  Tensor x = torch::ones({2}, torch::requires_grad()), y = torch::ones({2});
  EXPECT_TRUE(torch::autograd::any_variable_requires_grad({y, Tensor(), x}));
  EXPECT_FALSE(torch::autograd::any_variable_requires_grad({y, Tensor()}));
  EXPECT_TRUE(torch::autograd::compute_requires_grad(y, x));
  {
    at::NoGradGuard guard;
    EXPECT_FALSE(torch::autograd::compute_requires_grad(x));
  }
  EXPECT_EQ(message_of([&] { torch::autograd::check_inplace(x, true); }), "a leaf Variable that requires grad is being used in an in-place operation.");
  EXPECT_EQ(message_of([&] { torch::autograd::check_inplace(x.view({2, 1}), true); }),
            "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  torch::autograd::check_inplace(y, true);
  int64_t before = y._version();
  torch::autograd::increment_version(y);
  EXPECT_EQ(y._version(), before + 1);
  EXPECT_TRUE(torch::autograd::isDifferentiableType(at::kComplexFloat));
}

TEST(Extensions, SwitchesOfWhatDoesNotExist) {
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  at::autocast::set_autocast_enabled(at::kCPU, false);
  EXPECT_THROW(at::autocast::set_autocast_enabled(at::kCPU, true), c10::NotImplementedError);
  EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), at::kBFloat16);
  Tensor x = torch::ones({2});
  EXPECT_EQ(at::autocast::cached_cast(at::kBFloat16, x, at::kCPU).scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::autocast::cached_cast(at::kHalf, x).is_same(x));  // not on a CUDA device
  EXPECT_EQ(at::autocast::promote_type(at::kBFloat16, at::kCPU, x), at::kFloat);
  EXPECT_FALSE(torch::jit::texprReductionsEnabled());
  EXPECT_FALSE(torch::jit::setTexprReductionsEnabled(true));
  EXPECT_TRUE(torch::jit::setTexprReductionsEnabled(false));
  EXPECT_FALSE(torch::jit::fuser::cuda::isEnabled());
  EXPECT_FALSE(torch::xpu::is_available());
  EXPECT_FALSE(torch::mps::is_available());
  EXPECT_THROW(torch::xpu::synchronize(0), c10::Error);
}

TEST(Extensions, EventsOfTheCpuAreErrors) {
  c10::Event event(at::kCPU);
  c10::Stream stream(c10::Stream::DEFAULT, at::Device(at::kCPU, 0));
  EXPECT_EQ(message_of([&] { event.record(stream); }), "cpu backend doesn't support events.");
  EXPECT_FALSE(event.was_marked_for_recording());
  EXPECT_TRUE(event.query());
  event.block(stream);
  event.synchronize();
  EXPECT_EQ(event.device(), at::Device(at::kCPU, -1));
  c10::Event other(at::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
  EXPECT_EQ(message_of([&] { other.record(stream); }), "Event device type cuda does not match recording stream's device type cpu.");
  EXPECT_THROW(event.elapsedTime(other), c10::Error);
}

}  // namespace
