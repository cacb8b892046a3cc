// Features of libtorch besides tensors: tests/data/semantics_programs.expected.txt.
//
// Settings of at::globalContext(), short names of dtypes, checks without a semicolon, bitwise operators, mixed arithmetic of half
// precision numbers, comparisons of scalars.

#include "show.h"

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace {

#define SETTING(getter, setter)                                              \
  do {                                                                       \
    auto& context = at::globalContext();                                     \
    bool before = context.getter();                                          \
    context.setter(!before);                                                 \
    std::cout << #getter << ": " << before << ", " << context.getter() << "\n"; \
    context.setter(before);                                                  \
  } while (0)

void settings() {
  SETTING(userEnabledCuDNN, setUserEnabledCuDNN);
  SETTING(userEnabledMkldnn, setUserEnabledMkldnn);
  SETTING(userEnabledNNPACK, setUserEnabledNNPACK);
  SETTING(benchmarkCuDNN, setBenchmarkCuDNN);
  SETTING(deterministicCuDNN, setDeterministicCuDNN);
  SETTING(deterministicMkldnn, setDeterministicMkldnn);
  SETTING(userEnabledFlashSDP, setSDPUseFlash);
  SETTING(userEnabledMemEfficientSDP, setSDPUseMemEfficient);
  SETTING(userEnabledMathSDP, setSDPUseMath);
  SETTING(userEnabledCuDNNSDP, setSDPUseCuDNN);
  SETTING(userEnabledOverrideableSDP, setSDPUseOverrideable);
  SETTING(allowFP16BF16ReductionMathSDP, setAllowFP16BF16ReductionMathSDP);
  SETTING(allowTF32CuDNN, setAllowTF32CuDNN);
  SETTING(allowTF32CuBLAS, setAllowTF32CuBLAS);
  SETTING(allowFP16ReductionCuBLAS, setAllowFP16ReductionCuBLAS);
  SETTING(allowBF16ReductionCuBLAS, setAllowBF16ReductionCuBLAS);
  SETTING(allowFP16AccumulationCuBLAS, setAllowFP16AccumulationCuBLAS);
  SETTING(checkSparseTensorInvariants, setCheckSparseTensorInvariants);
  SETTING(releaseWeightsWhenPrepacking, setReleaseWeightsWhenPrepacking);
  SETTING(areVmapFallbackWarningsEnabled, setDisplayVmapFallbackWarnings);
  SETTING(deterministicFillUninitializedMemory, setDeterministicFillUninitializedMemory);

  auto& context = at::globalContext();
  SHOW("benchmark limit", context.benchmarkLimitCuDNN());
  context.setBenchmarkLimitCuDNN(3);
  SHOW("benchmark limit, set", context.benchmarkLimitCuDNN());

  SHOW("deterministic", context.deterministicAlgorithms());
  context.setDeterministicAlgorithms(true, false);
  SHOW("deterministic, set", context.deterministicAlgorithms());
  SHOW("deterministic, only a warning", context.deterministicAlgorithmsWarnOnly());
  SHOW("memory that nobody wrote", torch::empty({2}));
  SHOW("memory that nobody wrote, integers", torch::empty({2}, torch::kI64));
  context.setDeterministicAlgorithms(false, false);

  SHOW("precision of products", context.float32MatmulPrecision() == at::Float32MatmulPrecision::HIGHEST);
  context.setFloat32MatmulPrecision("medium");
  SHOW("precision of products, by name", context.float32MatmulPrecision() == at::Float32MatmulPrecision::MEDIUM);
  SHOW("precision of products, TF32", context.allowTF32CuBLAS());
  context.setAllowTF32CuBLAS(true);
  SHOW("precision of products, TF32 set", context.float32MatmulPrecision() == at::Float32MatmulPrecision::HIGH);
  context.setAllowTF32CuBLAS(false);
  SHOW("precision of products, TF32 unset", context.float32MatmulPrecision() == at::Float32MatmulPrecision::HIGHEST);

  SHOW("linear algebra", context.linalgPreferredBackend() == at::LinalgBackend::Default);
  SHOW("linear algebra works", context.hasLAPACK() && at::hasLAPACK());
  SHOW("devices", context.hasMPS() || context.hasXLA() || context.hasHIP() || context.hasXPU() || at::hasMPS());
  SHOW("pinned", context.isPinnedPtr(nullptr));
  torch::manual_seed(5);
  SHOW("generator", context.defaultGenerator(at::kCPU).current_seed());
  at::init();
}

void dtypes() {
  SHOW("unsigned", c10::str(torch::kU8, torch::kU16, torch::kU32, torch::kU64));
  SHOW("signed", c10::str(torch::kI8, torch::kI16, torch::kI32, torch::kI64));
  SHOW("floats", c10::str(torch::kF16, torch::kF32, torch::kF64));
  SHOW("tensor", torch::ones({1}, torch::kF64).dtype());
  SHOW("numbers", static_cast<int>(torch::kQUInt4x2) << 8 | static_cast<int>(torch::kFloat8_e8m0fnu));
}

// A subclass of the template by its short name.
struct Squares : torch::data::Dataset<Squares> {
  torch::data::Example<> get(size_t index) override {
    auto number = torch::tensor(static_cast<int64_t>(index));
    return {number, number * number};
  }
  std::optional<size_t> size() const override { return 3; }
};
struct Batches : torch::data::BatchDataset<Batches, std::vector<int>> {
  std::vector<int> get_batch(at::ArrayRef<size_t> indices) override { return std::vector<int>(indices.begin(), indices.end()); }
  std::optional<size_t> size() const override { return 3; }
};

void datasets() {
  SHOW("get", Squares().get(2).target.item());
  SHOW("get_batch", Squares().get_batch({1, 2}).size());
  SHOW("batches", Batches().get_batch({1, 2}).size());
}

// Checks need no semicolon, and may stand in branches without braces.
int checked(int number) {
  TORCH_CHECK(number > -10, "number is ", number)
  TORCH_INTERNAL_ASSERT(number > -20)
  TORCH_CHECK_VALUE(number > -3, "value is ", number)
  TORCH_CHECK_INDEX(number > -4, "index")
  TORCH_CHECK_TYPE(true, "type")
  TORCH_CHECK_NOT_IMPLEMENTED(true, "missing")
  TORCH_CHECK_LINALG(true, "singular")
  TORCH_CHECK_ARG(number != 9, 1, "nine")
  TORCH_INTERNAL_ASSERT_DEBUG_ONLY(number > -20)
  if (number > 0) TORCH_CHECK(number < 5, "too large");
  if (number == 1)
    TORCH_CHECK_EQ(number, 1);
  else
    AT_ASSERT(number != 1);
  for (int round = 0; round < 2; ++round) TORCH_CHECK(number != 2);
  if (number == 3)
    AT_ERROR("three");
  else
    number += 1;
  return number;
}
int without_result(int number) {
  if (number == 1) return 1;
  TORCH_CHECK(false, "no result for ", number)
}

void checks() {
  SHOW("all hold", checked(0));
  SHOW("all hold, the other branch", checked(1));
  ERROR_OF("check", checked(-10));
  ERROR_OF("value", checked(-3));
  ERROR_OF("branch", checked(5));
  ERROR_OF("argument", without_result(2));
  ERROR_OF("loop", checked(2));
  ERROR_OF("error", checked(3));
  ERROR_OF("arg", checked(9));
  SHOW("returns", without_result(1));
  try {
    try {
      TORCH_CHECK(false, "inner")
    } catch (c10::Error& error) {
      TORCH_RETHROW(error, "while testing ", 1);
    }
  } catch (const c10::Error& error) {
    SHOW("context", error.context().size());
  }
}

void bits() {
  auto a = torch::tensor({12, 10}), b = torch::tensor({10, 6});
  SHOW("not", ~a);
  SHOW("not, bool", ~torch::tensor({true, false}));
  SHOW("and", a & b);
  SHOW("or", a | b);
  SHOW("xor", a ^ b);
  SHOW("and, number", a & 6);
  SHOW("or, number on the left", 1 | a);
  SHOW("xor, number", 3 ^ a);
  SHOW("masks", ((a > 10) & (b < 11)) | (b == 6));
  a &= b;
  SHOW("and, in place", a);
  a |= torch::tensor({1, 1});
  SHOW("or, in place", a);
  a ^= b;
  SHOW("xor, in place", a);
  SHOW("method, and", b.__and__(2));
  SHOW("method, or", b.__or__(a));
  SHOW("method, xor", b.__xor__(1));
  SHOW("method, shifts", b.__lshift__(2).__rshift__(torch::tensor({1, 2})));
  SHOW("method, in place", b.__iand__(14).__ior__(1).__ixor__(a).__ilshift__(1).__irshift__(1));
  SHOW("function", at::__and__(a, b));
  ERROR_OF("and, floats", torch::ones({2}) & 1);
}

void facts() {
  auto x = torch::ones({2, 3, 4});
  SHOW("same sizes", x.is_same_size(torch::zeros({2, 3, 4})));
  SHOW("same sizes, no", at::is_same_size(x, x[0]));
  SHOW("dense", torch::ones({2, 3}).t().is_non_overlapping_and_dense());
  SHOW("dense, slice", torch::ones({4, 6}).slice(1, 0, 6, 2).is_non_overlapping_and_dense());
  SHOW("dense, expanded", torch::ones({4, 1}).expand({4, 6}).is_non_overlapping_and_dense());
  SHOW("dense, without elements", torch::ones({4, 0}).is_non_overlapping_and_dense());
}

template <class Half>
void mixed() {
  Half h(5.0f);
  SHOW("with int", float(h / 2));
  SHOW("int first", float(7 - h));
  SHOW("with long", float(h * int64_t{3}));
  SHOW("with float", h + 0.25f);
  SHOW("with double", 0.1 * h);
  SHOW("sizes", c10::str(sizeof(h + 1), sizeof(h + 1.0f), sizeof(h + 1.0), sizeof(1 / h), sizeof(1.0f / h), sizeof(1.0 / h)));
  h += 2;
  h *= 3;
  SHOW("assignments", float(h));
  SHOW("rounded", float(Half(1000.0f) + 1));
}

void scalars() {
  using at::Scalar;
  SHOW("-1 and the largest unsigned number", Scalar(-1).equal(std::numeric_limits<uint64_t>::max()));
  SHOW("the largest unsigned number", Scalar(std::numeric_limits<uint64_t>::max()).equal(std::numeric_limits<uint64_t>::max()));
  SHOW("the largest unsigned number and -1", Scalar(std::numeric_limits<uint64_t>::max()).equal(-1));
  SHOW("-1", Scalar(-1).equal(-1) && Scalar(-1).equal(int8_t{-1}) && Scalar(-1).equal(-1.0));
  SHOW("300 and a byte", Scalar(300).equal(uint8_t{44}));
  SHOW("integer and float", Scalar(2).equal(2.0) && !Scalar(2).equal(2.5));
  SHOW("float and integer", Scalar(2.0).equal(2) && !Scalar(2.5).equal(2));
  SHOW("rounded to float", Scalar(16777217).equal(16777216.0f));
  SHOW("booleans", Scalar(true).equal(true) && !Scalar(true).equal(1) && !Scalar(1).equal(true));
  SHOW("complex", Scalar(c10::complex<double>(1, 2)).equal(c10::complex<double>(1, 2)));
  SHOW("complex, real", Scalar(c10::complex<double>(1, 0)).equal(1) && Scalar(1).equal(c10::complex<double>(1, 0)));
  SHOW("complex, not", Scalar(1).equal(c10::complex<double>(1, 2)));
  auto is_runtime_error = [](auto body) {
    try {
      body();
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("no std::runtime_error");
  };
  SHOW("overflow", is_runtime_error([] { Scalar(300).toByte(); }));
  SHOW("overflow, float", is_runtime_error([] { Scalar(1e300).toFloat(); }));
  SHOW("overflow, int", is_runtime_error([] { Scalar(3e9).toInt(); }));
  SHOW("overflow, half", is_runtime_error([] { Scalar(70000).toHalf(); }));
  SHOW("overflow, imaginary part", is_runtime_error([] { Scalar(c10::complex<double>(1, 2)).toDouble(); }));
  SHOW("overflow, item", is_runtime_error([] { torch::tensor(300).item<uint8_t>(); }));
}

void threads() {
  at::set_num_interop_threads(3);
  SHOW("between operators", at::get_num_interop_threads());
  MESSAGE_OF("set twice", at::set_num_interop_threads(3));
}

}  // namespace

int main() {
  std::cout << std::boolalpha;
  std::cout << "= threads\n";
  threads();
  std::cout << "= settings\n";
  settings();
  std::cout << "= dtypes\n";
  dtypes();
  std::cout << "= datasets\n";
  datasets();
  std::cout << "= checks\n";
  checks();
  std::cout << "= bits\n";
  bits();
  std::cout << "= facts\n";
  facts();
  std::cout << "= half\n";
  mixed<at::Half>();
  std::cout << "= bfloat16\n";
  mixed<at::BFloat16>();
  std::cout << "= scalars\n";
  scalars();
}
