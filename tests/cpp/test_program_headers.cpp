// Names and headers that public programs of libtorch use without including what declares them.
#include <ATen/AccumulateType.h>
#include <ATen/Backtrace.h>
#include <ATen/BlasBackend.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/DynamicLibrary.h>
#include <ATen/LegacyBatchedTensorImpl.h>
#include <ATen/LinalgBackend.h>
#include <ATen/SDPBackend.h>
#include <ATen/TensorAccessor.h>
#include <ATen/Version.h>
#include <ATen/ceil_div.h>
#include <ATen/core/ScalarType.h>
#include <ATen/core/interned_strings.h>
#include <ATen/core/stack.h>
#include <ATen/core/symbol.h>
#include <ATen/cuda/Exceptions.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <c10/core/SymBool.h>
#include <c10/core/SymFloat.h>
#include <c10/util/Logging.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/runtime/jit_exception.h>
#include <torch/detail/TensorDataContainer.h>
#include <torch/nn/modules/container/any_module_holder.h>
#include <torch/nn/modules/container/any_value.h>
#include <torch/nn/modules/container/named_any.h>
#include <torch/sparse.h>
#include <torch/torch.h>

#include <atomic>

namespace {

// The methods are deprecated in libtorch, and old programs call them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(Programs, ReadElementsByDeprecatedMethods) {
  torch::Tensor x = torch::arange(6, torch::kFloat).view({2, 3});
  EXPECT_EQ(x.data<float>()[4], 4.0f);
  EXPECT_EQ(x.data().data_ptr(), x.data_ptr());
  auto elements = x.packed_accessor<float, 2>();
  EXPECT_EQ(elements[1][2], 5.0f);
  EXPECT_THROW(x.data<double>(), c10::Error);
}
#pragma GCC diagnostic pop

TEST(Programs, CheckArgumentsAfterTheUmbrellaHeader) {
  torch::Tensor x = torch::ones({2, 3}), y = torch::ones(1, torch::kInt);
  at::TensorArg arg{x, "x", 1};
  at::CheckedFrom name = "my_op";
  EXPECT_NO_THROW(at::checkDim(name, arg, 2));
  EXPECT_THROW(at::checkAllSameType(name, {arg, {y, "y", 2}}), c10::Error);
}

TEST(Programs, LoopInParallelAfterTheUmbrellaHeader) {
  std::atomic<int64_t> sum{0};
  at::parallel_for(0, 100, 10, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) sum += i;
  });
  EXPECT_EQ(sum, 4950);
}

TEST(Programs, AccumulateInTheTypeOfTheDevice) {
  static_assert(std::is_same_v<at::acc_type<float, false>, double>);
  static_assert(std::is_same_v<at::acc_type<float, true>, float>);
  static_assert(std::is_same_v<at::acc_type<c10::Half, false>, float>);
  static_assert(std::is_same_v<at::acc_type<int8_t, true>, int64_t>);
  static_assert(std::is_same_v<at::acc_type<bool, false>, bool>);
  static_assert(std::is_same_v<at::acc_type<c10::complex<float>, false>, c10::complex<double>>);
  // What libtorch 2.7.1 returns, for the CPU, CUDA and Metal.
  struct Row {
    at::ScalarType type, cpu, cuda, metal;
  } rows[] = {
      {at::kByte, at::kLong, at::kLong, at::kLong},
      {at::kLong, at::kLong, at::kLong, at::kLong},
      {at::kBool, at::kBool, at::kBool, at::kBool},
      {at::kHalf, at::kFloat, at::kFloat, at::kFloat},
      {at::kBFloat16, at::kFloat, at::kFloat, at::kFloat},
      {at::ScalarType::Float8_e5m2, at::kFloat, at::kFloat, at::kFloat},
      {at::kFloat, at::kDouble, at::kFloat, at::kFloat},
      {at::kDouble, at::kDouble, at::kDouble, at::kFloat},
      {at::kComplexFloat, at::kComplexDouble, at::kComplexFloat, at::kComplexFloat},
      {at::kComplexDouble, at::kComplexDouble, at::kComplexDouble, at::kComplexFloat},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(at::toAccumulateType(row.type, false), row.cpu) << row.type;
    EXPECT_EQ(at::toAccumulateType(row.type, true), row.cuda) << row.type;
    EXPECT_EQ(at::toAccumulateType(row.type, at::kMPS), row.metal) << row.type;
  }
  EXPECT_THROW(at::toAccumulateType(at::kComplexHalf, false), c10::Error);
}

TEST(Programs, DivideRoundingUp) {
  EXPECT_EQ(at::ceil_div(7, 3), 3);
  EXPECT_EQ(at::ceil_div(int64_t{6}, int64_t{3}), 2);
  EXPECT_EQ(at::round_up(7, 4), 8);
}

TEST(Programs, UseStacksAndSymbols) {
  torch::jit::Stack stack;
  torch::jit::push(stack, 1, 2.5);
  EXPECT_EQ(torch::jit::pop(stack).toDouble(), 2.5);
  EXPECT_STREQ(c10::Symbol::aten("add").toQualString(), "aten::add");
  EXPECT_TRUE(c10::isReducedFloatingType(at::ScalarType::Float8_e4m3fn));
}

// As in pyg-lib: an optional dict passes through the dispatcher, and macros without a semicolon follow each other.
using Weights = c10::Dict<std::string, torch::Tensor>;
torch::Tensor sum_of(const torch::Tensor& start, const std::optional<Weights>& weights, const std::optional<std::string>& key) {
  torch::Tensor sum = start.clone();
  if (weights) {
    for (const auto& entry : *weights) {
      at::TensorArg arg{entry.value(), entry.key().c_str(), 1};
      if (!key || entry.key() == *key) sum += *arg;
    }
  }
  return sum;
}
TORCH_LIBRARY(program_headers, m) { m.def("sum_of(Tensor start, Dict(str, Tensor)? weights, str? key) -> Tensor", sum_of); }

TEST(Programs, PassOptionalDictsThroughTheDispatcher) {
  C10_LOG_API_USAGE_ONCE("test_program_headers")
  static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("program_headers::sum_of", "").typed<decltype(sum_of)>();
  Weights weights;
  weights.insert("a", torch::ones(2));
  weights.insert("b", torch::full({2}, 4.0));
  EXPECT_TRUE(op.call(torch::zeros(2), weights, std::nullopt).equal(torch::full({2}, 5.0)));
  EXPECT_TRUE(op.call(torch::zeros(2), weights, "b").equal(torch::full({2}, 4.0)));
  EXPECT_TRUE(op.call(torch::zeros(2), std::nullopt, std::nullopt).equal(torch::zeros(2)));
}

// As in pyg-lib: a class whose constructor and methods take tensors by reference.
struct Table : torch::CustomClassHolder {
  explicit Table(torch::Tensor& rows, int64_t factor) : rows_(rows), factor_(factor) {}
  torch::Tensor scaled(torch::Tensor& by) { return rows_ * by * factor_; }
  torch::Tensor rows_;
  int64_t factor_;
};
TORCH_LIBRARY_FRAGMENT(program_headers, m) {
  m.class_<Table>("Table").def(torch::init<torch::Tensor&, int64_t>()).def("scaled", &Table::scaled).def("rows", [](const c10::intrusive_ptr<Table>& self) {
    return self->rows_;
  });
}

TEST(Programs, DefineClassesWithReferencesToTensors) {
  auto unit = torch::jit::compile(R"(
def use(rows: Tensor, by: Tensor):
    table = torch.classes.program_headers.Table(rows, 2)
    return table.scaled(by), table.rows()
)");
  c10::IValue result = unit->run_method("use", torch::ones(2), torch::full({2}, 3.0));
  // As in sherpa: the elements of a tuple as a vector.
  EXPECT_TRUE(result.toTuple()->elements().vec()[0].toTensor().equal(torch::full({2}, 6.0)));
  std::vector<c10::IValue> copy = result.toTuple()->elements();
  EXPECT_TRUE(copy.at(1).toTensor().equal(torch::ones(2)));
  EXPECT_THROW(result.toTuple()->elements().at(2), c10::Error);
}

TEST(Programs, KeepReferencesToListsOfOperators) {
  auto& all = torch::jit::getAllOperators();
  EXPECT_GT(all.size(), 1000u);
  auto& overloads = torch::jit::getAllOperatorsFor(torch::jit::Symbol::fromQualString("aten::add"));
  EXPECT_GE(overloads.size(), 4u);
  EXPECT_EQ(&torch::jit::getAllOperatorsFor(c10::Symbol::aten("add")), &overloads);
}

TEST(Programs, CallTheFunctionsOfLayersWithSingleArguments) {
  torch::Tensor weight = torch::arange(6, torch::kFloat).view({3, 2}), rows = torch::tensor({2, 0});
  torch::Tensor found = torch::nn::functional::detail::embedding(rows, weight, std::nullopt, std::nullopt, 2.0, false, false);
  EXPECT_TRUE(found.equal(weight.index_select(0, rows)));
}

TEST(Programs, ReadListsOfSymbolicIntegersAndOptionalTensors) {
  c10::IValue sizes(std::vector<int64_t>{2, 3});
  std::vector<c10::SymInt> numbers = sizes.toSymIntVector();
  ASSERT_EQ(numbers.size(), 2u);
  EXPECT_EQ(numbers[1], 3);
  c10::List<std::optional<torch::Tensor>> list;
  list.push_back(torch::ones(1));
  list.push_back(std::nullopt);
  EXPECT_FALSE(c10::IValue(list).toOptionalTensorVector()[1].has_value());
  c10::List<std::optional<torch::Tensor>>::const_iterator first = list.begin();
  EXPECT_TRUE(std::optional<torch::Tensor>(*first)->equal(torch::ones(1)));
}

TEST(Programs, DispatchUpToEightMoreTypes) {
  auto size_of = [](at::ScalarType type) {
    return AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND8(at::kHalf, at::kBFloat16, at::kBool, at::kUInt16, at::kUInt32, at::kUInt64, at::kComplexHalf,
                                                  at::kQInt8, type, "size_of", [] { return sizeof(scalar_t); });
  };
  EXPECT_EQ(size_of(at::kComplexDouble), 16u);
  EXPECT_EQ(size_of(at::kUInt32), 4u);
  EXPECT_EQ(size_of(at::kComplexHalf), 4u);
  auto is_real = [](at::ScalarType type) { return AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(at::kHalf, type, "is_real", [] { return !c10::is_complex<scalar_t>::value; }); };
  EXPECT_TRUE(is_real(at::kHalf));
  EXPECT_FALSE(is_real(at::kComplexFloat));
}

TEST(Programs, KeepOptionalListsForCalls) {
  c10::OptionalArray<int64_t> none, sizes(std::vector<int64_t>{2, 3});
  EXPECT_FALSE(std::optional<at::IntArrayRef>(none).has_value());
  EXPECT_EQ(std::optional<at::IntArrayRef>(sizes)->size(), 2u);
  EXPECT_EQ(at::OptionalIntArrayRef(sizes)->at(1), 3);
  sizes = at::OptionalIntArrayRef();
  EXPECT_FALSE(sizes.list.has_value());
  std::vector<c10::SymInt> symbolic = c10::fmap(std::vector<int64_t>{4, 5}, [](int64_t size) { return c10::SymInt(size); });
  EXPECT_EQ(symbolic[1].expect_int(), 5);
}

TEST(Programs, CatchErrorsOfScripts) {
  torch::jit::JITException error("message", "module.Class", "original");
  EXPECT_STREQ(error.what(), "message");
  EXPECT_EQ(error.getPythonClassName(), "module.Class");
  EXPECT_EQ(error.getOriginalMsg(), "original");
  torch::jit::JITException::setCaughtOriginalMsg("caught");
  EXPECT_EQ(torch::jit::JITException::getCaughtOriginalMsg(), "caught");
}

TEST(Programs, LoadSymbolsOfLibraries) {
#ifdef __linux__
  at::DynamicLibrary library("no_such_library.so", "libm.so.6");
  auto cosine = reinterpret_cast<double (*)(double)>(library.sym("cos"));
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_THROW(library.sym("no_such_symbol"), c10::DynamicLibraryError);
#endif
  EXPECT_THROW(at::DynamicLibrary("no_such_library.so"), c10::DynamicLibraryError);
}

TEST(Programs, AskForTheAccelerator) {
  EXPECT_TRUE(at::accelerator::isAccelerator(c10::DeviceType::CUDA));
  EXPECT_FALSE(at::isAccelerator(c10::DeviceType::CPU));
  EXPECT_FALSE(at::accelerator::isAcceleratorExcluded(c10::DeviceType::CUDA, c10::DeviceType::CPU, c10::DeviceType::CUDA));
  EXPECT_EQ(at::getAccelerator().has_value(), at::accelerator::deviceCount() > 0);
  if (at::accelerator::deviceCount() == 0) {
    EXPECT_THROW(at::accelerator::getDeviceIndex(), c10::Error);
  }
}

TEST(Programs, NameBatchedTensors) {
  torch::Tensor x = torch::ones({2, 3});
  EXPECT_FALSE(at::isBatchedTensor(x));
  EXPECT_EQ(at::maybeGetBatchedImpl(x), nullptr);
  at::BatchDims dims;
  dims.push_back(at::BatchDim(1, 0));
  EXPECT_TRUE(at::createVmapLevelsBitset(dims)[1]);
  EXPECT_THROW(at::makeBatched(x, dims), c10::NotImplementedError);
}

TEST(Programs, CreateNestedTensors) {
  torch::Tensor a = torch::ones(2), b = torch::full(3, 2.0);
  torch::Tensor nested = torch::nested::nested_tensor({a, b});
  EXPECT_TRUE(torch::equal(torch::nested::to_padded_tensor(nested, 0.0), torch::tensor({{1.0f, 1.0f, 0.0f}, {2.0f, 2.0f, 2.0f}})));
  EXPECT_TRUE(torch::nested::as_nested_tensor({a, b}, torch::kDouble).scalar_type() == torch::kDouble);
}

TEST(Programs, ReadTheConfiguration) {
  EXPECT_EQ(at::show_config(), torch::show_config());
  torch::Tensor x = torch::ones(2);
  x.unsafeGetTensorImpl()->set_allow_tensor_metadata_change(false);
  EXPECT_TRUE(x.unsafeGetTensorImpl()->allow_tensor_metadata_change());
}

template <class Activation>
struct BlockImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return activation->forward(x); }
  Activation activation;
};
template <class Activation>
class Block : public torch::nn::ModuleHolder<BlockImpl<Activation>> {
 public:
  using torch::nn::ModuleHolder<BlockImpl<Activation>>::ModuleHolder;
  using Impl TORCH_UNUSED_EXCEPT_CUDA = BlockImpl<Activation>;
};

TEST(Programs, WriteHoldersOfTemplates) {
  Block<torch::nn::ReLU> block;
  EXPECT_EQ(block->forward(torch::tensor({-1.0f, 2.0f})).sum().item<float>(), 2.0f);
}

TEST(Programs, NameEveryDevice) {
  EXPECT_EQ(torch::kFPGA, c10::DeviceType::FPGA);
  EXPECT_EQ(torch::kMAIA, c10::DeviceType::MAIA);
  EXPECT_EQ(torch::kHPU, c10::DeviceType::HPU);
  EXPECT_EQ(torch::kVE, c10::DeviceType::VE);
  EXPECT_EQ(torch::kLazy, c10::DeviceType::Lazy);
  EXPECT_EQ(torch::kIPU, c10::DeviceType::IPU);
  EXPECT_EQ(at::kMTIA, c10::DeviceType::MTIA);
}

TEST(Programs, CallBackwardInTheOrderOfTheOperator) {
  torch::Tensor x = torch::ones(2, torch::requires_grad()), y = torch::ones(2, torch::requires_grad());
  torch::Tensor loss = (x * y * 3).sum();
  loss._backward({x}, std::nullopt, true);
  EXPECT_EQ(x.grad()[0].item<float>(), 3.0f);
  EXPECT_FALSE(y.grad().defined());
  loss._backward({}, torch::tensor(2.0f));
  EXPECT_EQ(x.grad()[0].item<float>(), 9.0f);
  EXPECT_EQ(y.grad()[0].item<float>(), 6.0f);
}

TEST(Programs, BraceTheArgumentsOfSlices) {
  using namespace torch::indexing;
  torch::Tensor x = torch::arange(6).view({2, 3});
  EXPECT_TRUE(torch::equal(x.index({Slice(None), Slice({None, 2})}), x.slice(1, 0, 2)));
  Slice last = {1, None};
  EXPECT_TRUE(torch::equal(x.index({last}), x.slice(0, 1)));
}

TEST(Programs, EndTheProcessIfACheckFails) {
  EXPECT_DEATH(CHECK(1 + 1 == 3) << "sum", "Check failed: 1 \\+ 1 == 3 sum");
  int* nothing = nullptr;
  EXPECT_DEATH(TORCH_CHECK_NOTNULL(nothing), "Check failed: 'nothing' Must be non NULL");
  LOG_AT_FILE_LINE(INFO, "file.cpp", 3) << "not printed";
}

TEST(Programs, NameTheImplementationsOfLibraries) {
  EXPECT_EQ(at::LinalgBackendToString(at::LinalgBackend::Magma), "at::LinalgBackend::Magma");
  std::ostringstream stream;
  stream << at::BlasBackend::Cublaslt;
  EXPECT_EQ(stream.str(), "at::BlasBackend::Cublaslt");
  EXPECT_EQ(static_cast<int>(at::SDPBackend::overrideable), at::num_sdp_backends - 1);
  EXPECT_TRUE(c10::SymBool(true).guard_bool(__FILE__, __LINE__));
  EXPECT_EQ(c10::SymFloat(1.5).guard_float(__FILE__, __LINE__), 1.5);
}

// CUDA's runtime, as far as the macros use it.
#if !__has_include(<cuda_runtime_api.h>)
enum cudaError_t { cudaSuccess, cudaErrorInvalidValue };
const char* cudaGetErrorString(cudaError_t) { return "invalid argument"; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
#endif

TEST(Programs, CheckCallsOfTheCudaRuntime) {
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  AT_CUDA_CHECK(cudaSuccess);
  try {
    C10_CUDA_CHECK(cudaErrorInvalidValue);
    ADD_FAILURE() << "no exception";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("CUDA error: invalid argument"), std::string::npos) << error.what();
  }
}

}  // namespace
