// c10::IdWrapper: base of identifiers that are a number below but no number to the compiler.
#pragma once

#include <c10/macros/Macros.h>

#include <functional>
#include <utility>

namespace c10 {
RLT_NAMESPACE_BEGIN

template <class Concrete, class Underlying>
class IdWrapper {
 public:
  using underlying_type = Underlying;
  using concrete_type = Concrete;

 protected:
  constexpr explicit IdWrapper(Underlying id) noexcept(noexcept(Underlying(std::declval<Underlying>()))) : id_(id) {}
  constexpr Underlying underlyingId() const noexcept { return id_; }

 private:
  friend size_t hash_value(const Concrete& id) { return std::hash<Underlying>()(id.id_); }
  friend constexpr bool operator==(const Concrete& a, const Concrete& b) noexcept { return a.id_ == b.id_; }
  friend constexpr bool operator!=(const Concrete& a, const Concrete& b) noexcept { return !(a == b); }

  Underlying id_;
};

RLT_NAMESPACE_END
}  // namespace c10

#define C10_DEFINE_HASH_FOR_IDWRAPPER(Class)                             \
  template <>                                                            \
  struct std::hash<Class> {                                              \
    size_t operator()(const Class& id) const { return hash_value(id); }  \
  };
