// Enumerators that options take: a type and a value of it per name, for std::variant.
#pragma once

#include <ATen/core/Reduction.h>
#include <c10/util/Exception.h>

#include <string>
#include <variant>

#define TORCH_ENUM_DECLARE(name)                \
  namespace torch {                             \
  RLT_NAMESPACE_BEGIN                           \
  namespace enumtype {                          \
  struct k##name {                              \
    constexpr k##name() {}                      \
    static constexpr const char* text = "k" #name; \
  };                                            \
  }                                             \
  inline constexpr enumtype::k##name k##name{}; \
  RLT_NAMESPACE_END                             \
  }

TORCH_ENUM_DECLARE(Linear)
TORCH_ENUM_DECLARE(Conv1D)
TORCH_ENUM_DECLARE(Conv2D)
TORCH_ENUM_DECLARE(Conv3D)
TORCH_ENUM_DECLARE(ConvTranspose1D)
TORCH_ENUM_DECLARE(ConvTranspose2D)
TORCH_ENUM_DECLARE(ConvTranspose3D)
TORCH_ENUM_DECLARE(Sigmoid)
TORCH_ENUM_DECLARE(Tanh)
TORCH_ENUM_DECLARE(ReLU)
TORCH_ENUM_DECLARE(GELU)
TORCH_ENUM_DECLARE(SiLU)
TORCH_ENUM_DECLARE(Mish)
TORCH_ENUM_DECLARE(LeakyReLU)
TORCH_ENUM_DECLARE(FanIn)
TORCH_ENUM_DECLARE(FanOut)
TORCH_ENUM_DECLARE(Constant)
TORCH_ENUM_DECLARE(Reflect)
TORCH_ENUM_DECLARE(Replicate)
TORCH_ENUM_DECLARE(Circular)
TORCH_ENUM_DECLARE(Nearest)
TORCH_ENUM_DECLARE(Bilinear)
TORCH_ENUM_DECLARE(Bicubic)
TORCH_ENUM_DECLARE(Trilinear)
TORCH_ENUM_DECLARE(Area)
TORCH_ENUM_DECLARE(NearestExact)
TORCH_ENUM_DECLARE(Sum)
TORCH_ENUM_DECLARE(Mean)
TORCH_ENUM_DECLARE(Max)
TORCH_ENUM_DECLARE(None)
TORCH_ENUM_DECLARE(BatchMean)
TORCH_ENUM_DECLARE(Zeros)
TORCH_ENUM_DECLARE(Border)
TORCH_ENUM_DECLARE(Reflection)
TORCH_ENUM_DECLARE(RNN_TANH)
TORCH_ENUM_DECLARE(RNN_RELU)
TORCH_ENUM_DECLARE(LSTM)
TORCH_ENUM_DECLARE(GRU)
TORCH_ENUM_DECLARE(Valid)
TORCH_ENUM_DECLARE(Same)

namespace torch {
RLT_NAMESPACE_BEGIN
namespace enumtype {

/// `kMean` and its like as text.
template <class... Names>
std::string get_enum_name(const std::variant<Names...>& choice) {
  static constexpr const char* texts[] = {Names::text...};
  return texts[choice.index()];
}

/// One of several enumerators: what std::variant does, at a fraction of its compile time.
template <class... Names>
class OneOf {
 public:
  template <class Name, std::enable_if_t<(std::is_same_v<Name, Names> || ...), bool> = true>
  constexpr OneOf(Name) : index_(position<Name>()) {}
  template <class Name>
  constexpr bool is() const {
    return index_ == position<Name>();
  }

 private:
  template <class Name>
  static constexpr int position() {
    int index = 0;
    (void)((std::is_same_v<Name, Names> || (++index, false)) || ...);
    return index;
  }

  int index_;
};

/// The number that operators take for a reduction.
template <class... Names>
at::Reduction::Reduction reduction_get_enum(const std::variant<Names...>& choice) {
  static constexpr int numbers[] = {(std::is_same_v<Names, kNone>   ? at::Reduction::None
                                     : std::is_same_v<Names, kMean> ? at::Reduction::Mean
                                     : std::is_same_v<Names, kSum>  ? at::Reduction::Sum
                                                                    : at::Reduction::END)...};
  int number = numbers[choice.index()];
  if (number == at::Reduction::END) rlt::raise<Error>(get_enum_name(choice) + " is not a valid value for reduction");
  return static_cast<at::Reduction::Reduction>(number);
}

}  // namespace enumtype
RLT_NAMESPACE_END
}  // namespace torch

// Options that an enumerator alone makes, one constructor for each.
#define TORCH_OPTIONS_CTOR_VARIANT_ARG3(Options, argument, A, B, C) \
  Options() = default;                                              \
  Options(torch::enumtype::A value) : argument##_(value) {}         \
  Options(torch::enumtype::B value) : argument##_(value) {}         \
  Options(torch::enumtype::C value) : argument##_(value) {}
#define TORCH_OPTIONS_CTOR_VARIANT_ARG4(Options, argument, A, B, C, D) \
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(Options, argument, A, B, C)          \
  Options(torch::enumtype::D value) : argument##_(value) {}
