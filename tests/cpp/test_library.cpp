// Operators that a program defines with TORCH_LIBRARY, calls of operators by name with C++ types, and APIs of older
// programs and extensions: intrusive_ptr, dispatch keys, views that cannot be written, flattened lists.
#include <ATen/MetaFunctions.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/env.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/input_metadata.h>
#include <torch/csrc/utils/tensor_flatten.h>
#include <torch/script.h>
#include <torch/torch.h>

#include "messages.h"

namespace {

using at::Tensor;
using torch::autograd::CreationMeta;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class Signature>
auto op(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}

// A kernel for an operator that a later block defines: static objects of several files are initialized in any order.
TORCH_LIBRARY_IMPL(tl, CPU, m) { m.impl("late", [](const Tensor& self) { return self + 100; }); }

Tensor scaled_cpu(const Tensor& self, double scale, std::optional<int64_t> shift) { return self * scale + shift.value_or(0); }
struct Scaled : torch::autograd::Function<Scaled> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& self, double scale, std::optional<int64_t> shift) {
    context->saved_data["scale"] = scale;
    at::AutoDispatchBelowADInplaceOrView below;
    return op<Tensor(const Tensor&, double, std::optional<int64_t>)>("tl::scaled").call(self, scale, shift);
  }
  // Twice the true gradient, so that a test sees which derivative ran.
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context, torch::autograd::variable_list grads) {
    return {grads[0] * context->saved_data["scale"].toDouble() * 2, Tensor(), Tensor()};
  }
};
Tensor scaled_autograd(const Tensor& self, double scale, std::optional<int64_t> shift) { return Scaled::apply(self, scale, shift); }

TORCH_LIBRARY(tl, m) {
  m.def("scaled(Tensor self, float scale=2, int? shift=None) -> Tensor");
  m.impl("scaled", torch::dispatch(c10::DispatchKey::CPU, &scaled_cpu));
  m.def("late(Tensor self) -> Tensor");
  // The schema is inferred from the function; a composite operator has the gradient of its parts.
  m.def("mixed", [](const Tensor& self, at::TensorList others, at::IntArrayRef sizes, const std::string& how, bool twice,
                    const at::Scalar& plus) -> std::tuple<Tensor, int64_t, std::vector<Tensor>> {
    Tensor sum = self * (twice ? 2 : 1) + plus;
    for (const Tensor& other : others) sum = sum + other;
    return {how == "view" ? sum.view(sizes) : sum, static_cast<int64_t>(sizes.size()), others.vec()};
  });
  m.def("plus_(Tensor(a!) self, Tensor other) -> Tensor(a!)");
  m.def("peek(Tensor(a) self) -> Tensor(a)");
  m.def("parts(Tensor(a) self) -> Tensor[](a)");
  m.def("typed(ScalarType dtype, Device device, MemoryFormat format, float[] values, Tensor?[] maybe) -> (ScalarType, float, int)");
}
Tensor negated(const Tensor& self) { return self.neg(); }
TORCH_LIBRARY_FRAGMENT(tl, m) { m.def("more(Tensor self) -> Tensor", TORCH_FN(negated)); }
TORCH_LIBRARY_IMPL(tl, Autograd, m) {
  m.impl("scaled", TORCH_FN(scaled_autograd));
  m.impl("peek", torch::autograd::autogradNotImplementedFallback());
}
TORCH_LIBRARY_IMPL(tl, CPU, m) {
  m.impl("plus_", [](const Tensor& self, const Tensor& other) { return Tensor(self).add_(other); });
  m.impl("peek", [](const Tensor& self) { return self.alias(); });
  m.impl("parts", [](const Tensor& self) { return std::vector<Tensor>{self.alias(), self.alias()}; });
}
TORCH_LIBRARY_IMPL(tl, CompositeExplicitAutograd, m) {
  m.impl("typed", [](at::ScalarType dtype, at::Device device, at::MemoryFormat format, std::vector<double> values,
                     at::ArrayRef<std::optional<Tensor>> maybe) {
    return std::tuple<at::ScalarType, double, int64_t>(dtype, values.at(1), device.is_cpu() && format == at::MemoryFormat::ChannelsLast && maybe[0] && !maybe[1]);
  });
}

TEST(Library, CallsItsKernelsWithEveryKindOfValue) {
  Tensor x = torch::tensor({1.0, 2.0});
  auto scaled = op<Tensor(const Tensor&, double, std::optional<int64_t>)>("tl::scaled");
  EXPECT_TRUE(scaled.call(x, 3, 1).equal(torch::tensor({4.0, 7.0})));
  EXPECT_TRUE(op<Tensor(const Tensor&)>("tl::late").call(x).equal(x + 100));
  EXPECT_TRUE(op<Tensor(const Tensor&)>("tl::more").call(x).equal(-x));
  std::vector<Tensor> others = {x, x};
  auto mixed = op<std::tuple<Tensor, int64_t, std::vector<Tensor>>(const Tensor&, at::TensorList, at::IntArrayRef, const std::string&, bool,
                                                                   const at::Scalar&)>("tl::mixed");
  auto [sum, rank, same] = mixed.call(x, others, {2, 1}, "view", true, 0.5);
  EXPECT_TRUE(sum.equal(torch::tensor({{4.5}, {8.5}})));
  EXPECT_EQ(rank, 2);
  ASSERT_EQ(same.size(), 2u);
  EXPECT_TRUE(same[1].is_same(x));
  std::vector<double> values = {1, 2.5};
  rlt_tensor* const handles[] = {x.handle(), nullptr};
  rlt_value arguments[] = {rlt::Box<at::ScalarType>::lend(at::kHalf), rlt::Box<at::Device>::lend(at::kCPU),
                           rlt::Box<at::MemoryFormat>::lend(at::MemoryFormat::ChannelsLast), rlt::Box<std::vector<double>>::lend(values),
                           rlt::list_value(RLT_VALUE_TENSOR_LIST, &rlt_payload::tensors, handles, 2)};
  rlt_value results[3] = {};
  int64_t count = 0;
  rlt::check(rlt_op_call("tl::typed", "", arguments, 5, nullptr, 0, results, 3, &count));
  EXPECT_TRUE(results[0].tag == RLT_VALUE_DTYPE && results[0].as.i == static_cast<int64_t>(at::kHalf));
  EXPECT_TRUE(results[1].as.f == 2.5 && results[2].as.i == 1);
  // An operator of the library itself, and one with a different signature.
  EXPECT_TRUE(op<Tensor(const Tensor&, const Tensor&, const at::Scalar&)>("aten::add", "Tensor").call(x, x, 2).equal(x * 3));
  Tensor y = x.clone();
  EXPECT_EQ(&op<Tensor&(Tensor&, const Tensor&, const at::Scalar&)>("aten::add_", "Tensor").call(y, x, 1), &y);
  EXPECT_TRUE(y.equal(x * 2));
  EXPECT_TRUE(contains(message_of([&] { op<std::tuple<Tensor, Tensor>(const Tensor&)>("tl::late").call(x); }), "values"));
}

TEST(Library, FindsOnlyExistingOperators) {
  EXPECT_EQ(message_of([] { op<Tensor(const Tensor&)>("tl::absent"); }), "Could not find schema for tl::absent.");
  {
    torch::Library library(torch::Library::DEF, "tl_short", std::nullopt, __FILE__, __LINE__);
    library.def("id(Tensor self) -> Tensor", [](const Tensor& self) { return self; });
    torch::Library kernels(torch::Library::IMPL, "tl_short", c10::DispatchKey::CPU, __FILE__, __LINE__);
    kernels.impl("id", [](const Tensor& self) { return self + 1; });
    EXPECT_EQ(op<Tensor(const Tensor&)>("tl_short::id").call(torch::zeros({})).item<int>(), 1);
    EXPECT_TRUE(contains(message_of([&] { library.def("other::id(Tensor self) -> Tensor"); }), "not of the namespace"));
    EXPECT_TRUE(contains(message_of([&] { kernels.impl("id", [](const Tensor&, int64_t) { return Tensor(); });
                                          op<Tensor(const Tensor&)>("tl_short::id").call(torch::zeros({})); }), "the kernel takes 2 arguments"));
  }
  EXPECT_FALSE(c10::Dispatcher::singleton().findSchema({"tl_short::id", ""}));
}

TEST(Library, KernelForAutogradHasItsOwnDerivative) {
  Tensor x = torch::ones({2}).requires_grad_();
  op<Tensor(const Tensor&, double, std::optional<int64_t>)>("tl::scaled").call(x, 3, std::nullopt).sum().backward();
  EXPECT_TRUE(x.grad().equal(torch::full({2}, 6.0)));
}

TEST(Library, WithoutADerivativeBackwardNamesTheOperator) {
  Tensor x = torch::ones({2}).requires_grad_(), base = x.clone(), y = torch::ones({2});
  auto late = op<Tensor(const Tensor&)>("tl::late");
  EXPECT_FALSE(late.call(y).requires_grad());
  EXPECT_TRUE(contains(message_of([&] { late.call(x).sum().backward(); }), "derivative for tl::late is not implemented"));
  // In-place: the rules of writes, and a consistent history.
  auto plus = op<Tensor(const Tensor&, const Tensor&)>("tl::plus_");
  EXPECT_TRUE(contains(message_of([&] { plus.call(x, y); }), "a leaf Variable that requires grad is being used in an in-place operation"));
  int64_t version = y._version();
  EXPECT_TRUE(plus.call(y, base).is_same(y));
  EXPECT_GT(y._version(), version);
  EXPECT_TRUE(contains(message_of([&] { y.sum().backward(); }), "derivative for tl::plus_ is not implemented"));
  Tensor part = base.view({-1});
  plus.call(part, torch::ones({2}));
  EXPECT_TRUE(contains(part.grad_fn()->name(), "AsStridedBackward"));
  // A view refers to its base; neither can be written if backward has to follow it.
  Tensor from = x.clone(), seen = op<Tensor(const Tensor&)>("tl::peek").call(from);
  EXPECT_TRUE(seen._base().is_same(from));
  EXPECT_TRUE(contains(message_of([&] { seen.add_(x); }), "which does not have a derivative implemented is forbidden"));
  from.add_(x);
  EXPECT_TRUE(contains(message_of([&] { seen.grad_fn(); }), "which does not have a derivative implemented is forbidden"));
  for (const Tensor& each : op<std::vector<Tensor>(const Tensor&)>("tl::parts").call(from)) EXPECT_TRUE(each._base().is_same(from));
}

CreationMeta creation(const Tensor& view) {
  return static_cast<torch::autograd::DifferentiableViewMeta*>(view.unsafeGetTensorImpl()->autograd_meta())->get_creation_meta();
}

TEST(Views, KnowWhyTheyCannotBeWritten) {
  Tensor base = torch::ones({2, 3}).requires_grad_().clone(), quiet, inferred;
  EXPECT_EQ(creation(base.view({-1})), CreationMeta::DEFAULT);
  {
    torch::NoGradGuard guard;
    quiet = base.view({6});
  }
  {
    c10::InferenceMode guard;
    inferred = base.view({6});
    EXPECT_TRUE(c10::impl::tls_is_dispatch_keyset_excluded(c10::autograd_dispatch_keyset));
  }
  EXPECT_FALSE(c10::impl::tls_is_dispatch_keyset_excluded(c10::autograd_dispatch_keyset));
  // A view of a view has the stricter rule of both.
  EXPECT_EQ(creation(quiet.view({3, 2})), CreationMeta::NO_GRAD_MODE);
  EXPECT_EQ(creation(inferred.view({3, 2})), CreationMeta::INFERENCE_MODE);
  EXPECT_EQ(creation(base.unbind()[0]), CreationMeta::MULTI_OUTPUT_NODE);
  EXPECT_EQ(creation(base.unbind()[0].view({3})), CreationMeta::MULTI_OUTPUT_NODE);
  EXPECT_EQ(message_of([&] { base.unbind()[0].view({3}).add_(1); }),
            "Output 0 of ViewBackward0 is a view and is being modified inplace. This view is the output of a function that returns multiple "
            "views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an "
            "out-of-place one.");
  // A gradient does not end in a view for which nothing was recorded.
  (quiet * quiet).sum().backward();
  EXPECT_FALSE(quiet.grad().defined());
  base.mul_(2);
  EXPECT_TRUE(contains(message_of([&] { quiet.grad_fn(); }),
                       "A view was created in no_grad mode and its base or another view of its base has been modified inplace"));
  EXPECT_TRUE(contains(message_of([&] { inferred.grad_fn(); }),
                       "A view was created in inference mode and its base or another view of its base has been modified inplace"));
}

TEST(InferenceMode, ItsTensorsAreReadOnlyOutside) {
  Tensor t, s = torch::ones({2});
  {
    c10::InferenceMode guard;
    t = torch::ones({2}).set_requires_grad(true);
    EXPECT_EQ(message_of([&] { t._version(); }), "Inference tensors do not track version counter.");
    t.unsafeGetTensorImpl()->bump_version();
  }
  EXPECT_TRUE(t.is_inference());
  EXPECT_FALSE((t * t).requires_grad());
  std::string forbidden = "Inplace update to inference tensor outside InferenceMode is not allowed";
  EXPECT_TRUE(contains(message_of([&] { t.unsafeGetTensorImpl()->bump_version(); }), forbidden));
  EXPECT_TRUE(contains(message_of([&] { torch::mul_out(t, s, s); }), forbidden));
  s.unsafeGetTensorImpl()->bump_version();
  EXPECT_EQ(s.unsafeGetTensorImpl()->version_counter().current_version(), 1u);
}

TEST(Old, ProgramsFindTheirFunctions) {
  struct Counted : c10::intrusive_ptr_target {
    explicit Counted(int& alive) : alive(++alive) {}
    ~Counted() override { --alive; }
    int& alive;
  };
  int alive = 0;
  auto first = c10::make_intrusive<Counted>(alive);
  {
    c10::intrusive_ptr<c10::intrusive_ptr_target> second = first;
    EXPECT_EQ(first.use_count(), 2u);
    EXPECT_TRUE(second == first);
  }
  auto again = c10::intrusive_ptr<Counted>::reclaim(first.release());
  EXPECT_TRUE(again.unique() && !first);
  again.reset();
  EXPECT_EQ(alive, 0);

  Tensor x = torch::ones({3});
  EXPECT_EQ(x.getIntrusivePtr().get(), x.unsafeGetTensorImpl());
  EXPECT_EQ(x.use_count(), 1u);
  EXPECT_EQ(x.type().toString(), "CPUFloatType");
  EXPECT_EQ(torch::zeros({2}, x.type().toScalarType(at::kInt)).scalar_type(), at::kInt);
  EXPECT_EQ(message_of([&] { x.to(at::requires_grad()); }),
            "Operators taking TensorOptions cannot take a TensorOptions with options.requires_grad set as true. This isn't implemented yet.");
  EXPECT_EQ(message_of([&] { (torch::ones({}).requires_grad_() * at::Scalar(c10::complex<float>(0, 1))).backward(); }),
            "grad can be computed only for real scalar outputs but got ComplexFloat");
  EXPECT_EQ(torch::empty({0}).data_ptr(), nullptr);
  EXPECT_EQ(x.narrow(0, 1, 0).data_ptr(), nullptr);
  EXPECT_EQ(torch::empty({4, 0}).index({torch::tensor({1, 2})}).sizes(), (std::vector<int64_t>{2, 0}));
  EXPECT_TRUE(contains(message_of([] { torch::empty({4, 0}).index({torch::indexing::Slice(), torch::tensor({0})}); }),
                       "index is out of bounds for dimension with size 0"));
  EXPECT_TRUE(torch::special::gammaln(x * 3).allclose(torch::lgamma(x * 3)));
  c10::utils::set_env("RLT_TEST_VARIABLE", "1");
  EXPECT_EQ(c10::utils::check_env("RLT_TEST_VARIABLE"), std::optional<bool>(true));
}

TEST(Meta, FunctionsComputeShapesOnly) {
  Tensor x = torch::ones({3, 1}, at::kInt), y = torch::ones({4});
  Tensor sum = at::meta::add(x, y, 2);
  EXPECT_TRUE(sum.is_meta() && sum.scalar_type() == at::kFloat);
  EXPECT_EQ(sum.sizes(), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(at::meta::cat(std::vector<Tensor>{x, x}, 1).sizes(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(std::get<1>(at::meta::max(x, 0)).sizes(), (std::vector<int64_t>{1}));
  EXPECT_TRUE(contains(message_of([&] { at::meta::mm(x, y); }), "mat2 must be a matrix"));
  EXPECT_TRUE(x.is_cpu());
}

TEST(Old, ListsOfTensorsFlattenAndGradientsFit) {
  std::vector<Tensor> list = {torch::tensor({{1, 2}, {3, 4}}), torch::empty({0}, at::kLong), torch::tensor({5})};
  Tensor flat = torch::utils::flatten_dense_tensors(list);
  EXPECT_TRUE(flat.equal(torch::tensor({1, 2, 3, 4, 5})));
  std::vector<Tensor> back = torch::utils::unflatten_dense_tensors(flat, list);
  EXPECT_TRUE(back[0].equal(list[0]) && back[2].equal(list[2]));
  EXPECT_EQ(back[1].numel(), 0);

  std::vector<std::optional<torch::autograd::InputMetadata>> expected = {torch::autograd::InputMetadata(torch::ones({1, 2}))};
  std::vector<Tensor> gradients = {torch::ones({4, 3, 2}, at::kDouble)};
  auto plain = [](const std::string& text) { return text; };
  torch::autograd::validate_outputs(expected, gradients, plain);
  EXPECT_TRUE(gradients[0].equal(torch::full({1, 2}, 12.0f)) && gradients[0].scalar_type() == at::kFloat);
  gradients = {torch::ones({3})};
  EXPECT_EQ(message_of([&] { torch::autograd::validate_outputs(expected, gradients, plain); }),
            "invalid gradient at index 0 - got [3] but expected shape compatible with [1, 2]");
}

// Values of every kind pass through a kernel as IValue.
c10::IValue echoed(const c10::IValue& value) { return value; }
TORCH_LIBRARY(tv, m) {
  m.def("echo(Any value) -> Any");
  m.def("joined(str[] words) -> str");
}
TORCH_LIBRARY_IMPL(tv, CompositeImplicitAutograd, m) {
  m.impl("echo", [](const c10::IValue& value) { return echoed(value); });
  m.impl("joined", [](const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += word;
    return text;
  });
}

TEST(Library, ValuesOfEveryKindPassAsIValue) {
  auto echo = op<c10::IValue(const c10::IValue&)>("tv::echo");
  Tensor tensor = torch::ones({2});
  c10::List<c10::IValue> nested;
  nested.push_back(std::vector<int64_t>{1, 2});
  nested.push_back(std::string("text"));
  c10::Dict<std::string, at::Tensor> dict;
  dict.insert("a", tensor);
  c10::IValue back = echo.call(c10::IValue(std::make_tuple(int64_t{7}, nested, dict, tensor)));
  ASSERT_TRUE(back.isTuple());
  const auto& elements = back.toTuple()->elements();
  ASSERT_EQ(elements.size(), 4u);
  EXPECT_EQ(elements[0].toInt(), 7);
  EXPECT_EQ(elements[1].toList().get(1).toStringRef(), "text");
  EXPECT_EQ(elements[1].toList().get(0).toList().get(1).toInt(), 2);
  EXPECT_TRUE(elements[2].toGenericDict().at(c10::IValue("a")).toTensor().is_same(tensor));
  EXPECT_TRUE(elements[3].toTensor().is_same(tensor));
  EXPECT_TRUE(echo.call(c10::IValue()).isNone());
  EXPECT_EQ(echo.call(c10::IValue(2.5)).toDouble(), 2.5);
}

TEST(Library, ObjectsOfTheCInterfaceStayWhatTheyAre) {
  rlt_object* object = nullptr;
  rlt::check(rlt_object_new("my.Class", nullptr, nullptr, &object));
  c10::IValue held(c10::make_intrusive<c10::ivalue::Object>(object));
  c10::IValue back = op<c10::IValue(const c10::IValue&)>("tv::echo").call(held);
  EXPECT_TRUE(back.isObject() && !back.isFuture());
  EXPECT_EQ(back.toObjectRef().handle(), held.toObjectRef().handle());
  EXPECT_EQ(back.toObjectRef().name(), "my.Class");
  EXPECT_THROW(back.boxed(), c10::Error);
}

TEST(Library, StringsAndMetadataHaveTheirCppTypes) {
  EXPECT_EQ((op<std::string(const std::vector<std::string>&)>("tv::joined").call({"a", "bc"})), "abc");
  Tensor x = torch::zeros({2, 3});
  EXPECT_EQ((op<std::vector<int64_t>(const Tensor&)>("aten::size").call(x)), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ((op<int64_t(const Tensor&, int64_t)>("aten::size", "int").call(x, -1)), 3);
  EXPECT_TRUE((op<bool(const Tensor&)>("aten::is_floating_point").call(x)));
  EXPECT_EQ((op<at::Device(const Tensor&)>("prim::device").call(x)), at::Device("cpu"));
  EXPECT_EQ((op<std::string(at::Device)>("prim::type").call(at::Device("meta"))), "meta");
  EXPECT_EQ((op<std::tuple<int64_t, int64_t>(int64_t, int64_t)>("aten::divmod", "int").call(-7, 2)), (std::make_tuple(int64_t{-4}, int64_t{1})));
  EXPECT_EQ((op<std::vector<std::string>(std::string)>("aten::list").call("ab")), (std::vector<std::string>{"a", "b"}));
  rlt_value size = {}, given = {};
  given.tag = RLT_VALUE_TENSOR;
  given.as.tensor = x.handle();
  int64_t count = 0;
  rlt::check(rlt_op_call("aten::size", "", &given, 1, nullptr, 0, &size, 1, &count));
  EXPECT_EQ(rlt::adopt_ints(size), (std::vector<int64_t>{2, 3}));
}

Tensor first_rows(const Tensor& self, c10::SymInt count) { return self.narrow(0, 0, count.expect_int()); }
Tensor of_sizes(c10::SymIntArrayRef sizes) { return torch::zeros(C10_AS_INTARRAYREF_SLOW(sizes)); }
TORCH_LIBRARY(ts, m) {
  m.def("first_rows(Tensor self, SymInt count) -> Tensor", first_rows);
  m.def("of_sizes(SymInt[] sizes) -> Tensor", of_sizes);
}

TEST(Library, KernelsTakeSymbolicIntegers) {
  Tensor x = torch::arange(6).reshape({3, 2});
  EXPECT_TRUE((op<Tensor(const Tensor&, c10::SymInt)>("ts::first_rows").call(x, 2)).equal(x.slice(0, 0, 2)));
  EXPECT_EQ((op<Tensor(c10::SymIntArrayRef)>("ts::of_sizes").call(x.sym_sizes())).sizes(), x.sizes());
}

TEST(Library, OperatorsAreListedAndCalledOnAStack) {
  auto adds = torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString("aten::add"));
  auto found = std::find_if(adds.begin(), adds.end(), [](const auto& each) { return each->schema().overload_name() == "Tensor"; });
  ASSERT_NE(found, adds.end());
  torch::jit::Stack stack{1, torch::ones({2}), torch::ones({2}), 3};
  (*found)->getOperation()(stack);
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_TRUE(stack[1].toTensor().equal(torch::full({2}, 4.0)));
  torch::jit::Stack small{torch::ones({2})};
  EXPECT_THROW((*found)->getOperation()(small), c10::Error);
  EXPECT_EQ(small.size(), 1u);
  EXPECT_GT(torch::jit::getAllOperators().size(), 2000u);
}

}  // namespace
