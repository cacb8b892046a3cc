// Prints tensors in libtorch's format: one number of digits per matrix, a common scale if it saves width, columns
// wrapped at the line's width.
#pragma once

#include <ATen/core/TensorBody.h>

#include <cmath>
#include <ostream>

namespace at {
RLT_NAMESPACE_BEGIN

namespace detail {

/// Restores a stream's format at the end of a scope.
class FormatGuard {
 public:
  explicit FormatGuard(std::ostream& out) : out_(out), flags_(out.flags()), precision_(out.precision()), fill_(out.fill()) {}
  ~FormatGuard() {
    out_.flags(flags_);
    out_.precision(precision_);
    out_.fill(fill_);
  }
  FormatGuard(const FormatGuard&) = delete;
  FormatGuard& operator=(const FormatGuard&) = delete;

 private:
  std::ostream& out_;
  std::ios_base::fmtflags flags_;
  std::streamsize precision_;
  char fill_;
};

struct NumberFormat {
  double scale = 1;
  int width = 0;
};

/// Digits before the decimal point of a magnitude (0 and below: leading zeros after it).
inline int digits_of(double magnitude) { return magnitude == 0 ? 1 : static_cast<int>(std::floor(std::log10(magnitude))) + 1; }

/// Chooses width, scale and notation for `count` numbers and sets the notation on the stream.
inline NumberFormat choose_format(std::ostream& out, const double* values, int64_t count) {
  bool whole = true, any = false;
  double least = 1, largest = 1;
  for (int64_t i = 0; i < count; ++i) {
    double magnitude = std::fabs(values[i]);
    if (!std::isfinite(magnitude)) continue;
    whole = whole && magnitude == std::ceil(magnitude);
    if (!any || magnitude < least) least = magnitude;
    // Like libtorch, this widens the columns for a negative number only if it comes first.
    if (!any || values[i] > largest) largest = magnitude;
    any = true;
  }
  int low = digits_of(least), high = digits_of(largest);
  if (whole && high <= 9) {
    out << std::defaultfloat;
    return {1, high + 1};
  }
  if (whole || high - low > 4) {
    out << std::scientific;
    out.precision(4);
    bool long_exponent = !whole && (std::abs(high) > 99 || std::abs(low) > 99);
    return {1, long_exponent ? 12 : 11};
  }
  out << std::fixed;
  out.precision(4);
  if (high > 5 || high < 0) return {std::pow(10.0, high - 1), 7};
  return {1, high == 0 ? 7 : high + 6};
}

inline void print_scale(std::ostream& out, double scale) {
  FormatGuard guard(out);
  out << std::defaultfloat << scale << " *\n";
}

inline void print_matrix(std::ostream& out, const double* values, int64_t rows, int64_t columns, int64_t line_width, const char* indent) {
  NumberFormat format = choose_format(out, values, rows * columns);
  bool scaled = format.scale != 1;
  int64_t indent_width = *indent ? 1 : 0;
  int64_t per_line = (line_width - indent_width) / (format.width + 1);
  if (per_line < 1) per_line = 1;
  out << indent;
  for (int64_t first = 0; first < columns; first += per_line) {
    int64_t last = first + per_line < columns ? first + per_line : columns;
    if (per_line < columns) {
      if (first != 0) out << "\n";
      out << "Columns " << first + 1 << " to " << last << indent;
    }
    if (scaled) {
      print_scale(out, format.scale);
      out << indent;
    }
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = first; column < last; ++column) {
        out.width(format.width);
        out << values[row * columns + column] / format.scale << (column + 1 < last ? " " : "\n");
      }
      if (row + 1 < rows) out << (scaled ? " " : "") << indent;
    }
  }
}

/// Prints the matrices of a tensor with three or more dimensions, each under its own heading.
inline void print_matrices(std::ostream& out, const double* values, IntArrayRef sizes, int64_t line_width) {
  size_t outer = sizes.size() - 2;
  int64_t rows = sizes[outer], columns = sizes[outer + 1];
  std::vector<int64_t> counter(outer, 0);
  for (bool first = true;; first = false) {
    if (!first) out << "\n";
    int64_t matrix = 0;
    out << "(";
    for (size_t i = 0; i < outer; ++i) {
      out << counter[i] + 1 << ",";
      matrix = matrix * sizes[i] + counter[i];
    }
    out << ".,.) = \n";
    print_matrix(out, values + matrix * rows * columns, rows, columns, line_width, " ");
    size_t i = 0;
    while (i < outer && ++counter[i] == sizes[i]) counter[i++] = 0;
    if (i == outer) return;
  }
}

}  // namespace detail

/// Writes a tensor, wrapping matrices at `line_width`.
inline std::ostream& print(std::ostream& out, const Tensor& tensor, int64_t line_width) {
  detail::FormatGuard guard(out);
  if (!tensor.defined()) return out << "[ Tensor (undefined) ]";
  if (tensor.is_sparse()) {
    out << "[ " << tensor.toString() << "{}\n";
    print(out << "indices:\n", tensor._indices(), 80);
    print(out << "\nvalues:\n", tensor._values(), 80);
    return out << "\nsize:\n" << tensor.sizes() << "\n]";
  }
  // A meta tensor has no values to show.
  if (!tensor.is_meta()) {
    Tensor numbers = tensor.is_quantized() ? tensor.dequantize() : tensor.detach().resolve_neg();
    Tensor values = numbers.to(TensorOptions(kCPU).dtype(kDouble)).contiguous();
    const double* data = values.const_data_ptr<double>();
    IntArrayRef sizes = values.sizes();
    if (sizes.empty()) {
      out << std::defaultfloat << data[0] << "\n";
    } else if (values.numel() > 0) {
      if (sizes.size() == 1) {
        detail::NumberFormat format = detail::choose_format(out, data, sizes[0]);
        if (format.scale != 1) detail::print_scale(out, format.scale);
        for (int64_t i = 0; i < sizes[0]; ++i) {
          out.width(format.width);
          out << data[i] / format.scale << "\n";
        }
      } else if (sizes.size() == 2) {
        detail::print_matrix(out, data, sizes[0], sizes[1], line_width, "");
      } else {
        detail::print_matrices(out, data, sizes, line_width);
      }
    }
  }
  out << "[ " << tensor.toString() << "{";
  const char* separator = "";
  for (int64_t size : tensor.sizes()) {
    out << separator << size;
    separator = ",";
  }
  out << "}";
  if (tensor.is_quantized()) {
    out << ", qscheme: " << toString(tensor.qscheme());
    if (tensor.qscheme() == kPerTensorAffine) {
      out << ", scale: " << tensor.q_scale() << ", zero_point: " << tensor.q_zero_point();
    } else {
      print(out << ", scales: ", tensor.q_per_channel_scales(), line_width);
      print(out << ", zero_points: ", tensor.q_per_channel_zero_points(), line_width);
      out << ", axis: " << tensor.q_per_channel_axis();
    }
  }
  return out << " ]";
}

inline std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return print(out, tensor, 80); }

inline void print(const Tensor& tensor, int64_t line_width = 80) {
  std::ostringstream text;
  print(text, tensor, line_width);
  std::fputs(text.str().c_str(), stdout);
}

inline void Tensor::print() const {
  std::string text = defined() ? c10::str("[", toString(), " ", sizes(), "]") : std::string("[UndefinedTensor]");
  std::fprintf(stderr, "%s\n", text.c_str());
}

RLT_NAMESPACE_END
}  // namespace at
