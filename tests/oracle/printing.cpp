// libtorch's printed output: tests/data/printing.expected.txt.
//
// The same source, compiled against Rushlight, must print the same bytes. Tensors are created only by torch::tensor,
// zeros, full, arange, reshape, transpose, expand and to. Warnings go to stderr and are not compared.

#include "show.h"

#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

namespace {

const float inf = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

void zero_dim() {
  SHOW("float", torch::tensor(2.5f));
  SHOW("float, whole", torch::tensor(3.0f));
  SHOW("double literal becomes the default dtype", torch::tensor(0.1));
  SHOW("six digits", torch::tensor(3.14159274f));
  SHOW("large", torch::tensor(1e10f));
  SHOW("small", torch::tensor(1.5e-7f));
  SHOW("int", torch::tensor(7));
  SHOW("bool", torch::tensor(true));
  SHOW("negative", torch::tensor(-4));
  SHOW("infinity", torch::tensor(-inf));
  SHOW("nan", torch::tensor(nan));
  SHOW("negative zero", torch::tensor(-0.0f));
  SHOW("half", torch::tensor(0.1f).to(torch::kHalf));
  SHOW("million", torch::tensor(1234567.0f));
}

void one_dim() {
  SHOW("whole floats", torch::tensor({1.0f, 2.0f, 3.0f}));
  SHOW("fractions", torch::tensor({0.5f, 1.25f, -2.75f}));
  SHOW("below one", torch::tensor({0.25f, 0.5f}));
  SHOW("scale below one", torch::tensor({0.001f, 0.002f, 0.0035f}));
  SHOW("scale, tiny", torch::tensor({1e-6f, 2e-6f}));
  SHOW("scale, hundreds of thousands", torch::tensor({100000.5f, 200000.25f}));
  SHOW("no scale at five digits", torch::tensor({10000.5f, 20000.25f}));
  SHOW("scientific", torch::tensor({0.0001f, 10000.5f}));
  SHOW("scientific, three-digit exponents", torch::tensor({1e-120, 2.5}, torch::kDouble));
  SHOW("scientific, positive exponents", torch::tensor({1e200, 0.5}, torch::kDouble));
  SHOW("whole and large", torch::tensor({1e10f, 1.0f}));
  SHOW("whole, nine digits", torch::tensor({123456789, 1}));
  SHOW("whole, ten digits", torch::tensor({1234567890, 1}));
  SHOW("zeros", torch::zeros({3}));
  SHOW("zero and fraction", torch::tensor({0.0f, 0.5f}));
  SHOW("negative zero", torch::tensor({-0.0f, 0.0f}));
  SHOW("largest negative decides", torch::tensor({-12345.5f, 1.5f}));
  SHOW("negative whole", torch::tensor({-1.0f, -20.0f, 3.0f}));
  SHOW("nan and inf among whole", torch::tensor({1.0f, nan, inf, -inf}));
  SHOW("nan and inf among fractions", torch::tensor({0.5f, nan, inf, -inf}));
  SHOW("inf first", torch::tensor({inf, 100.0f}));
  SHOW("only nan", torch::tensor({nan, nan}));
  SHOW("one element", torch::tensor({42.0f}));
  SHOW("exactly ten", torch::tensor({10.0f, 0.5f}));
  SHOW("rounds up to the next digit", torch::tensor({9.99999f, 0.5f}));
  SHOW("denormal", torch::tensor({1e-45f, 0.0f}));
  SHOW("largest float", torch::tensor({3.4028235e38f}));
  SHOW("arange", torch::arange(12));
  SHOW("strided", torch::arange(6).reshape({3, 2}).transpose(0, 1).select(0, 1));
  SHOW("vector", torch::tensor(std::vector<float>{1.5f, 2.5f}));
}

void two_dim() {
  SHOW("whole floats", torch::ones({2, 3}));
  SHOW("integers", torch::tensor({{1, 2}, {30, 4}}));
  SHOW("negative integers", torch::tensor({{-1, -2}, {-3, -4}}));
  SHOW("fractions", torch::tensor({{1.5f, 2.25f}, {-3.125f, 4.0f}}));
  SHOW("scale", torch::tensor({{0.001f, 0.002f}, {0.003f, 0.004f}}));
  SHOW("large scale", torch::tensor({{1000000.5f, 2000000.0f}, {3000000.0f, 4000000.0f}}));
  SHOW("scientific", torch::tensor({{1e-3f, 1e3f}, {1.0f, 1e5f}}));
  SHOW("column vector", torch::tensor({{1.5f}, {2.5f}, {3.5f}}));
  SHOW("one by one", torch::full({1, 1}, 7));
  SHOW("transposed", torch::arange(6).reshape({2, 3}).transpose(0, 1));
  SHOW("expanded", torch::tensor({1.0f, 2.0f}).expand({3, 2}));
  SHOW("nan", torch::tensor({{nan, 1.0f}, {2.5f, inf}}));
}

void wide() {
  SHOW("two digits, wraps", torch::arange(50).to(torch::kFloat).reshape({1, 50}));
  SHOW("one digit, fits", torch::zeros({1, 26}));
  SHOW("one digit, wraps", torch::zeros({2, 27}));
  SHOW("fractions", torch::full({2, 20}, 0.5f));
  SHOW("exactly one line", torch::full({2, 10}, 1.5f));
  SHOW("scaled", torch::full({2, 12}, 0.001f));
  SHOW("three dimensions", torch::full({2, 2, 12}, 0.25f));
  SHOW("three dimensions, scaled", torch::full({1, 2, 11}, 0.002f));
  SHOW("scientific", torch::arange(14).to(torch::kFloat).mul(1234.5f).reshape({2, 7}));
}

void more_dims() {
  SHOW("3-d", torch::arange(12).reshape({2, 2, 3}));
  SHOW("3-d, scale per matrix", torch::tensor({0.001f, 0.002f, 100.5f, 200.5f}).reshape({2, 1, 2}));
  SHOW("3-d, one matrix", torch::tensor({{{1.5f, -2.5f}}}));
  SHOW("4-d", torch::arange(16).reshape({2, 2, 2, 2}));
  SHOW("4-d, uneven", torch::arange(12).to(torch::kFloat).div(8).reshape({2, 3, 1, 2}));
  SHOW("5-d", torch::ones({1, 2, 1, 1, 2}));
}

void empty() {
  SHOW("[0]", torch::zeros({0}));
  SHOW("[2, 0]", torch::zeros({2, 0}));
  SHOW("[0, 3]", torch::zeros({0, 3}));
  SHOW("[2, 0, 3]", torch::zeros({2, 0, 3}));
  SHOW("[0, 2, 3]", torch::zeros({0, 2, 3}));
  SHOW("[0] of long", torch::zeros({0}, torch::kLong));
  SHOW("undefined", torch::Tensor());
}

void dtypes() {
  SHOW("uint8", torch::tensor({0, 128, 255}).to(torch::kUInt8));
  SHOW("int8", torch::tensor({-128, 0, 127}).to(torch::kInt8));
  SHOW("int16", torch::tensor({-32768, 32767}).to(torch::kInt16));
  SHOW("int32", torch::tensor({-2147483647, 2147483647}).to(torch::kInt32));
  SHOW("int64", torch::tensor({std::numeric_limits<int64_t>::max(), int64_t{1}}));
  SHOW("bool", torch::tensor({true, false, true}));
  SHOW("float16", torch::tensor({0.1f, 65504.0f, 1e-7f}).to(torch::kFloat16));
  SHOW("bfloat16", torch::tensor({0.1f, 3.14159f}).to(torch::kBFloat16));
  SHOW("float64", torch::tensor({0.1, 0.25}, torch::kFloat64));
  SHOW("uint16", torch::tensor({0, 65535}).to(torch::kUInt16));
  SHOW("uint32", torch::tensor({int64_t{0}, int64_t{4294967295}}).to(torch::kUInt32));
  SHOW("uint64", torch::tensor({0, 5}).to(torch::kUInt64));
  SHOW("complex64: the real part only", torch::tensor({c10::complex<float>(1.5f, 2.0f), c10::complex<float>(-3.0f, 0.5f)}));
  SHOW("complex128", torch::tensor({c10::complex<double>(0.0, 1.0)}));
  SHOW("complex, 0-d", torch::tensor(c10::complex<double>(2.0, 1.0)));
  SHOW("complex32", torch::tensor({1.5f, 2.0f}).to(torch::kComplexHalf));
}

void autograd() {
  SHOW("requires_grad", torch::tensor({1.5f, 2.5f}, torch::requires_grad()));
  SHOW("result of an operator", torch::tensor({1.5f, 2.5f}, torch::requires_grad()).mul(2));
}

void stream_state() {
  torch::Tensor small = torch::tensor({0.001f, 0.002f});
  std::cout << "== the stream keeps its format\n";
  std::cout.precision(3);
  std::cout << 3.14159 << "\n" << small << "\n" << 3.14159 << "\n";
  std::cout.precision(6);
  std::cout << "== precision of the stream holds for 0-d\n";
  std::ostringstream text;
  text.precision(3);
  text << torch::tensor(3.14159);
  std::cout << text.str() << "\n";
  std::cout << "== line width\n";
  at::print(std::cout, torch::full({2, 6}, 0.5f), 30);
  std::cout << "\n";
}

void types() {
  SHOW("ScalarType", torch::kFloat32);
  SHOW("ScalarType", torch::kBFloat16);
  SHOW("ScalarType", torch::kComplexDouble);
  SHOW("ScalarType", torch::kUInt16);
  SHOW("TypeMeta", torch::ones({1}).dtype());
  SHOW("TypeMeta", torch::ones({1}, torch::kLong).dtype());
  SHOW("TypeMeta", torch::ones({1}, torch::kBool).dtype());
  SHOW("TypeMeta", torch::ones({1}, torch::kHalf).dtype());
  SHOW("TypeMeta", torch::ones({1}, torch::kByte).dtype());
  SHOW("Device", torch::Device(torch::kCPU));
  SHOW("Device", torch::Device("cuda:1"));
  SHOW("Device", torch::Device(torch::kCUDA));
  SHOW("Device", torch::ones({1}).device());
  SHOW("DeviceType", torch::kCPU);
  SHOW("DeviceType", torch::kCUDA);
  SHOW("Layout", torch::kStrided);
  SHOW("Layout", torch::kSparse);
  SHOW("MemoryFormat", torch::MemoryFormat::Contiguous);
  SHOW("MemoryFormat", torch::MemoryFormat::ChannelsLast);
  SHOW("sizes", torch::ones({2, 3}).sizes());
  SHOW("strides", torch::ones({2, 3}).strides());
  SHOW("sizes of 0-d", torch::tensor(1).sizes());
  SHOW("IntArrayRef", torch::IntArrayRef({1, -1, 5}));
  SHOW("toString", torch::ones({1}, torch::kInt).toString());
  SHOW("Scalar int", torch::Scalar(3));
  SHOW("Scalar double", torch::Scalar(0.1));
  SHOW("Scalar, whole double", torch::Scalar(2.0));
  SHOW("Scalar bool", torch::Scalar(true));
  SHOW("Scalar complex", torch::Scalar(c10::complex<double>(1.0, -2.0)));
  SHOW("c10::complex", c10::complex<float>(1.5f, 0.0f));
  SHOW("TensorOptions", torch::TensorOptions());
  SHOW("TensorOptions", torch::TensorOptions().dtype(torch::kInt).requires_grad(false));
  SHOW("TensorOptions", torch::dtype(torch::kDouble).device(torch::kCUDA, 1).layout(torch::kSparse));
  SHOW("TensorOptions", torch::ones({1}).options());
  SHOW("Slice", torch::indexing::Slice());
  SHOW("Slice", torch::indexing::Slice(1, 5, 2));
  SHOW("TensorIndex", torch::indexing::TensorIndex(torch::indexing::None));
  SHOW("TensorIndex", torch::indexing::TensorIndex("..."));
  SHOW("TensorIndex", torch::indexing::TensorIndex(3));
  SHOW("TensorIndex", torch::indexing::TensorIndex(true));
}

}  // namespace

int main() {
  std::cout << "= zero dimensions\n";
  zero_dim();
  std::cout << "= one dimension\n";
  one_dim();
  std::cout << "= two dimensions\n";
  two_dim();
  std::cout << "= wide\n";
  wide();
  std::cout << "= more dimensions\n";
  more_dims();
  std::cout << "= empty\n";
  empty();
  std::cout << "= dtypes\n";
  dtypes();
  std::cout << "= autograd\n";
  autograd();
  std::cout << "= stream\n";
  stream_state();
  std::cout << "= types\n";
  types();
}
