// Enumerators that options take: a type and a value of it per name, and OneOf, which holds one of them.
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

template <class Name>
inline constexpr Name enumerator{};

/// Base of types that are a std::variant in libtorch: converts from and to `Choice::Variant`, and works with
/// std::get_if and similar functions. Options use many choices, and each instantiation of std::variant would cost every
/// program 10 ms of compile time.
template <class Choice>
struct VariantLike {
  constexpr bool valueless_by_exception() const noexcept { return false; }
};

/// One of several enumerators.
template <class... Names>
class OneOf : public VariantLike<OneOf<Names...>> {
 public:
  using Variant = std::variant<Names...>;

  /// Holds the first enumerator.
  constexpr OneOf() = default;
  template <class Name, std::enable_if_t<(std::is_same_v<Name, Names> || ...), bool> = true>
  constexpr OneOf(Name) : index_(position<Name>()) {}
  template <class Other, std::enable_if_t<std::is_same_v<Other, Variant>, bool> = true>
  constexpr OneOf(const Other& choice) : index_(static_cast<unsigned char>(choice.index())) {}
  operator Variant() const {
    static constexpr Variant variants[] = {Names()...};
    return variants[index_];
  }

  constexpr size_t index() const noexcept { return index_; }
  template <class Name>
  constexpr bool is() const noexcept {
    return index_ == position<Name>();
  }
  /// The enumerator if it is `Name`, else nullptr.
  template <class Name>
  constexpr const Name* get_if() const noexcept {
    return is<Name>() ? &enumerator<Name> : nullptr;
  }

 private:
  template <class Name>
  static constexpr unsigned char position() {
    static_assert((std::is_same_v<Name, Names> || ...), "not one of these enumerators");
    unsigned char index = 0;
    (void)((std::is_same_v<Name, Names> || (++index, false)) || ...);
    return index;
  }

  unsigned char index_ = 0;
};

/// `kMean` and similar enumerators as strings.
template <class... Names>
std::string get_enum_name(const OneOf<Names...>& choice) {
  static constexpr const char* texts[] = {Names::text...};
  return texts[choice.index()];
}
template <class... Names>
std::string get_enum_name(const std::variant<Names...>& choice) {
  return get_enum_name(OneOf<Names...>(choice));
}

/// The number that operators take for a reduction.
template <class... Names>
at::Reduction::Reduction reduction_get_enum(const OneOf<Names...>& choice) {
  static constexpr int numbers[] = {(std::is_same_v<Names, kNone>   ? at::Reduction::None
                                     : std::is_same_v<Names, kMean> ? at::Reduction::Mean
                                     : std::is_same_v<Names, kSum>  ? at::Reduction::Sum
                                                                    : at::Reduction::END)...};
  int number = numbers[choice.index()];
  if (number == at::Reduction::END) rlt::raise<Error>(get_enum_name(choice) + " is not a valid value for reduction");
  return static_cast<at::Reduction::Reduction>(number);
}
template <class... Names>
at::Reduction::Reduction reduction_get_enum(const std::variant<Names...>& choice) {
  return reduction_get_enum(OneOf<Names...>(choice));
}

}  // namespace enumtype
RLT_NAMESPACE_END
}  // namespace torch

// Support for programs that query the std::variant that libtorch has instead.
namespace std {
template <class Alternative, class Choice>
constexpr bool holds_alternative(const torch::enumtype::VariantLike<Choice>& choice) noexcept {
  return static_cast<const Choice&>(choice).template get_if<Alternative>() != nullptr;
}
template <class Alternative, class Choice>
constexpr const Alternative* get_if(const torch::enumtype::VariantLike<Choice>* choice) noexcept {
  return choice ? static_cast<const Choice*>(choice)->template get_if<Alternative>() : nullptr;
}
template <class Alternative, class Choice>
Alternative get(const torch::enumtype::VariantLike<Choice>& choice) {
  return get<Alternative>(typename Choice::Variant(static_cast<const Choice&>(choice)));
}
template <class Visitor, class Choice>
decltype(auto) visit(Visitor&& visitor, const torch::enumtype::VariantLike<Choice>& choice) {
  return visit(static_cast<Visitor&&>(visitor), typename Choice::Variant(static_cast<const Choice&>(choice)));
}
}  // namespace std

// Options that consist of an enumerator only, with one constructor for each.
#define TORCH_OPTIONS_CTOR_VARIANT_ARG3(Options, argument, A, B, C) \
  Options() = default;                                              \
  Options(torch::enumtype::A value) : argument##_(value) {}         \
  Options(torch::enumtype::B value) : argument##_(value) {}         \
  Options(torch::enumtype::C value) : argument##_(value) {}
#define TORCH_OPTIONS_CTOR_VARIANT_ARG4(Options, argument, A, B, C, D) \
  TORCH_OPTIONS_CTOR_VARIANT_ARG3(Options, argument, A, B, C)          \
  Options(torch::enumtype::D value) : argument##_(value) {}
