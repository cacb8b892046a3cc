// Support for the generated examples: reads tensors from strings, makes the calls, compares the results.
//
// A tensor is written `float32[2,1] 1.5 nan`: dtype, sizes, elements. A complex number is two numbers, a boolean 0 or 1;
// `?` in place of the elements stands for any. `none` is no tensor. `; ` separates several.
#pragma once

#include <cmath>
#include <iostream>
#include <sstream>
#include <string>
#include <torch/torch.h>
#include <tuple>
#include <vector>

inline at::ScalarType dtype_of(const std::string& name) {
  static const std::pair<const char*, at::ScalarType> dtypes[] = {
      {"bool", at::kBool}, {"uint8", at::kByte}, {"int8", at::kChar}, {"int16", at::kShort}, {"int32", at::kInt},
      {"int64", at::kLong}, {"float16", at::kHalf}, {"bfloat16", at::kBFloat16}, {"float32", at::kFloat},
      {"float64", at::kDouble}, {"complex32", at::kComplexHalf}, {"complex64", at::kComplexFloat},
      {"complex128", at::kComplexDouble}};
  for (const auto& [known, dtype] : dtypes) {
    if (name == known) return dtype;
  }
  throw std::runtime_error("no dtype " + name);
}

// A tensor; undefined for `none`.
inline at::Tensor tensor(const std::string& text) {
  if (text == "none") return {};
  const size_t open = text.find('['), close = text.find(']');
  const at::ScalarType dtype = dtype_of(text.substr(0, open));
  std::vector<int64_t> sizes;
  std::stringstream inside(text.substr(open + 1, close - open - 1));
  for (std::string size; std::getline(inside, size, ',');) sizes.push_back(std::stoll(size));
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::stringstream elements(text.substr(close + 1));
  for (std::string element; elements >> element;) {
    if (element == "?") return at::zeros(sizes, dtype);
    if (at::isIntegralType(dtype, true)) ints.push_back(std::stoll(element));
    else floats.push_back(std::strtod(element.c_str(), nullptr));
  }
  if (at::isIntegralType(dtype, true)) return torch::tensor(ints, at::kLong).reshape(sizes).to(dtype);
  const at::Tensor numbers = torch::tensor(floats, at::kDouble);
  if (!at::isComplexType(dtype)) return numbers.reshape(sizes).to(dtype);
  return at::view_as_complex(numbers.reshape({-1, 2})).reshape(sizes).to(dtype);
}

// The results of a call, in order.
struct Results {
  std::vector<at::Tensor> tensors;

  void add(const at::Tensor& result) { tensors.push_back(result); }
  void add(const std::vector<at::Tensor>& results) { tensors.insert(tensors.end(), results.begin(), results.end()); }
  template <class... T>
  void add(const std::tuple<T...>& results) {
    std::apply([this](const auto&... result) { (add(result), ...); }, results);
  }
};

struct Example {
  const char* name;
  void (*call)(Results& out);
  const char* expected;
};

// Dtype and sizes must be equal, floating point elements within a relative 1e-5, others equal.
inline bool agrees(const at::Tensor& actual, const std::string& text) {
  const at::Tensor expected = tensor(text);
  if (!actual.defined() || !expected.defined()) return actual.defined() == expected.defined();
  if (actual.sizes() != expected.sizes() || actual.scalar_type() != expected.scalar_type()) return false;
  if (text.back() == '?') return true;
  if (at::isIntegralType(expected.scalar_type(), true)) return at::equal(actual, expected);
  // allclose does not compute in complex32.
  const at::ScalarType wide = at::isComplexType(expected.scalar_type()) ? at::kComplexDouble : at::kDouble;
  return at::allclose(actual.to(wide), expected.to(wide), 1e-5, 1e-8, true);
}

inline bool check(const Example& example) {
  std::vector<std::string> expected;
  std::string rest = example.expected;
  for (size_t end; (end = rest.find("; ")) != std::string::npos; rest = rest.substr(end + 2)) {
    expected.push_back(rest.substr(0, end));
  }
  expected.push_back(rest);
  try {
    Results results;
    torch::manual_seed(0);
    example.call(results);
    bool same = results.tensors.size() == expected.size();
    for (size_t index = 0; same && index < expected.size(); ++index) {
      same = agrees(results.tensors[index], expected[index]);
    }
    if (same) return true;
    std::cerr << example.name << ": the documentation says " << example.expected << ", but the result is\n";
    for (const at::Tensor& result : results.tensors) std::cerr << result << "\n";
  } catch (const std::exception& error) {
    std::cerr << example.name << ": " << error.what() << "\n";
  }
  return false;
}

inline int run(const Example* examples, size_t count) {
  int failures = 0;
  for (size_t index = 0; index < count; ++index) failures += check(examples[index]) ? 0 : 1;
  std::cout << failures << " of " << count << " examples differ from the documentation\n";
  return failures == 0 ? 0 : 1;
}
