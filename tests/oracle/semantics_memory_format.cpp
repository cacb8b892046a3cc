// Memory formats, as libtorch does them: tests/data/semantics_memory_format.expected.txt.
//
// The strides that factories and conversions return, and the memory format that the strides of random views imply.

#include "show.h"

#include <cstdint>
#include <vector>

using torch::IntArrayRef;
using torch::MemoryFormat;
using torch::TensorOptions;

namespace {

TensorOptions last() { return TensorOptions().memory_format(MemoryFormat::ChannelsLast); }
torch::Tensor image() { return torch::arange(120, torch::kFloat).reshape({2, 3, 4, 5}); }

#define STRIDES(name, ...) SHOW(name, (__VA_ARGS__).strides())

void conversions() {
  auto x = image();
  STRIDES("to, format alone", x.to(MemoryFormat::ChannelsLast));
  STRIDES("to, options", x.to(last()));
  STRIDES("to, options and dtype", x.to(last().dtype(torch::kDouble)));
  STRIDES("to, dtype and argument", x.to(torch::kDouble, false, false, MemoryFormat::ChannelsLast));
  STRIDES("to, device and argument", x.to(torch::kCPU, torch::kFloat, false, false, MemoryFormat::ChannelsLast));
  STRIDES("to, other and argument", x.to(x, false, false, MemoryFormat::ChannelsLast));
  STRIDES("to, other's format is not taken", x.to(x.contiguous(MemoryFormat::ChannelsLast)));
  STRIDES("to, back", x.contiguous(MemoryFormat::ChannelsLast).to(MemoryFormat::Contiguous));
  SHOW("to, the tensor itself", x.to(MemoryFormat::Contiguous).is_same(x));
  SHOW("to, a transposed matrix is contiguous in this sense", x[0][0].t().to(MemoryFormat::Contiguous).strides());
  SHOW("to, values", x.to(MemoryFormat::ChannelsLast).equal(x));
  STRIDES("_to_copy, options", at::_to_copy(x, last()));
  STRIDES("clone", x.clone(MemoryFormat::ChannelsLast));
  STRIDES("contiguous", x.contiguous(MemoryFormat::ChannelsLast));
  STRIDES("contiguous, preserve", x.contiguous(MemoryFormat::Preserve));
  ERROR_OF("contiguous, preserve of a transposed tensor", x.transpose(0, 1).contiguous(MemoryFormat::Preserve));
  ERROR_OF("to, format twice", x.to(last(), false, false, MemoryFormat::ChannelsLast));
  ERROR_OF("_to_copy, format twice", at::_to_copy(x, last(), false, MemoryFormat::ChannelsLast));
  ERROR_OF("to, gradients", x.to(last().requires_grad(true)));
}

void factories() {
  auto x = image();
  STRIDES("empty", torch::empty({2, 3, 4, 5}, last()));
  STRIDES("empty, 3d", torch::empty({2, 3, 4, 5, 6}, TensorOptions(MemoryFormat::ChannelsLast3d)));
  STRIDES("empty, argument", torch::empty({2, 3, 4, 5}, TensorOptions(), MemoryFormat::ChannelsLast));
  STRIDES("empty, without elements", torch::empty({2, 0, 3, 4}, last()));
  STRIDES("empty, without elements in the end", torch::empty({2, 3, 4, 0}, last()));
  STRIDES("empty, gradients", torch::empty({2, 3, 4, 5}, last().requires_grad(true)));
  STRIDES("empty_like", torch::empty_like(x, last()));
  STRIDES("empty_like, format alone", torch::empty_like(x, MemoryFormat::ChannelsLast));
  STRIDES("zeros_like", torch::zeros_like(x, last()));
  STRIDES("ones_like", torch::ones_like(x, last()));
  STRIDES("full_like", torch::full_like(x, 2, last()));
  STRIDES("rand_like", torch::rand_like(x, last()));
  STRIDES("randn_like", torch::randn_like(x, last()));
  STRIDES("randint_like", torch::randint_like(x, 4, last()));
  STRIDES("randint_like, low", torch::randint_like(x, 1, 4, last()));
  STRIDES("zeros_like, argument", torch::zeros_like(x, TensorOptions(), MemoryFormat::ChannelsLast));
  // These have no memory format, and ignore the one in the options.
  STRIDES("zeros", torch::zeros({2, 3, 4, 5}, last()));
  STRIDES("ones", torch::ones({2, 3, 4, 5}, last()));
  STRIDES("full", torch::full({2, 3, 4, 5}, 1, last()));
  STRIDES("rand", torch::rand({2, 3, 4, 5}, last()));
  STRIDES("randint", torch::randint(5, {2, 3, 4, 5}, last()));
  STRIDES("new_empty", x.new_empty({2, 3, 4, 5}, last()));
  STRIDES("new_zeros", x.new_zeros({2, 3, 4, 5}, last()));
  STRIDES("empty_strided", torch::empty_strided({2, 3, 4, 5}, {60, 20, 5, 1}, last()));
  SHOW("options", last());
  ERROR_OF("empty, format twice", torch::empty({2, 3, 4, 5}, last(), MemoryFormat::ChannelsLast));
  ERROR_OF("zeros_like, format twice", torch::zeros_like(x, last(), MemoryFormat::Contiguous));
  ERROR_OF("rand_like, format twice", torch::rand_like(x, last(), MemoryFormat::Contiguous));
}

void resizes() {
  auto x = image();
  STRIDES("resize_", x.resize_({1, 2, 3, 4}, MemoryFormat::ChannelsLast));
  STRIDES("resize_, the same sizes", x.resize_({1, 2, 3, 4}));
  STRIDES("resize_, the same sizes in another format", x.resize_({1, 2, 3, 4}, MemoryFormat::Contiguous));
  auto like = torch::empty({2, 3, 4, 6}, last());
  STRIDES("resize_as_, preserve", torch::empty({0}).resize_as_(like, MemoryFormat::Preserve));
  STRIDES("resize_as_, preserve of a slice", torch::empty({0}).resize_as_(like.slice(3, 0, 6, 2), MemoryFormat::Preserve));
  STRIDES("resize_as_", torch::empty({0}).resize_as_(like));
}

void suggestions() {
  SHOW("one channel", torch::empty({4, 1, 4, 4}).suggest_memory_format());
  SHOW("one channel, channels last", torch::empty({4, 1, 4, 4}, last()).suggest_memory_format());
  SHOW("one pixel", torch::empty({4, 3, 1, 1}).suggest_memory_format());
  SHOW("slice", torch::empty({2, 3, 4, 6}, last()).slice(3, 0, 6, 2).suggest_memory_format());
  SHOW("slice, exact", torch::empty({2, 3, 4, 6}, last()).slice(3, 0, 6, 2).suggest_memory_format(true));
  SHOW("exact", torch::empty({2, 3, 4, 6}, last()).suggest_memory_format(true));
  SHOW("strides", IntArrayRef(c10::get_channels_last_strides_2d({2, 3, 4, 5})));
  SHOW("strides, no samples", IntArrayRef(c10::get_channels_last_strides_2d({3, 4, 5})));
  SHOW("strides, 3d", IntArrayRef(c10::get_channels_last_strides_3d({2, 3, 4, 5, 6})));
  SHOW("strides, 3d, no samples", IntArrayRef(c10::get_channels_last_strides_3d({3, 4, 5, 6})));
}

// A separate generator, the same with every library.
struct Numbers {
  uint64_t state = 1;
  int64_t below(int64_t end) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(end));
  }
};

// A view in a random order of dimensions, with sizes of 1, gaps, and repeated elements.
torch::Tensor view(Numbers& numbers) {
  size_t dims = static_cast<size_t>(3 + numbers.below(3));
  std::vector<int64_t> sizes(dims), strides(dims);
  std::vector<size_t> order(dims);
  for (size_t d = 0; d < dims; ++d) {
    sizes[d] = 1 + numbers.below(3);
    order[d] = d;
  }
  if (numbers.below(16) == 0) sizes[static_cast<size_t>(numbers.below(static_cast<int64_t>(dims)))] = 0;
  if (numbers.below(2) == 0) {
    // Channels last.
    for (size_t d = 0; d < dims; ++d) order[d] = d == 0 ? 1 : d + 1 == dims ? 0 : dims - d;
  } else {
    for (size_t d = dims - 1; d > 0; --d) std::swap(order[d], order[static_cast<size_t>(numbers.below(static_cast<int64_t>(d) + 1))]);
  }
  int64_t step = 1;
  for (size_t d : order) {
    int64_t kind = numbers.below(12);
    if (kind == 0) step *= 2;
    strides[d] = kind == 1 ? 0 : step;
    if (sizes[d] == 1 && kind == 2) strides[d] = numbers.below(9);
    step *= std::max<int64_t>(sizes[d], 1);
  }
  return torch::arange(5000, torch::kFloat).as_strided(sizes, strides);
}

void views() {
  Numbers numbers;
  for (int round = 0; round < 200; ++round) {
    auto x = view(numbers);
    std::cout << x.sizes() << x.strides() << " " << x.suggest_memory_format() << (x.suggest_memory_format(true) == x.suggest_memory_format())
              << x.is_non_overlapping_and_dense() << x.is_contiguous() << x.is_contiguous(MemoryFormat::ChannelsLast)
              << x.is_contiguous(MemoryFormat::ChannelsLast3d);
    std::cout << " clone " << x.clone().strides() << " to " << x.to(torch::kDouble).strides() << " like " << torch::empty_like(x).strides()
              << " contiguous " << x.contiguous().strides();
    if (x.dim() > 3) {
      auto format = x.dim() == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
      std::cout << " last " << x.contiguous(format).strides() << x.clone(format).strides() << x.to(format).strides() << x.to(format).is_same(x);
    }
    std::cout << "\n";
  }
}

}  // namespace

int main() {
  std::cout << std::boolalpha;
  std::cout << "= conversions\n";
  conversions();
  std::cout << "= factories\n";
  factories();
  std::cout << "= resizes\n";
  resizes();
  std::cout << "= suggestions\n";
  suggestions();
  std::cout << "= views\n";
  views();
}
