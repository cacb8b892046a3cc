// TypePtr, and the types of C++ types as constants: what IValue and the containers need to know without the classes of
// ATen/core/jit_type.h.
#pragma once

#include <c10/macros/Macros.h>

#include <memory>
#include <string>

namespace c10 {
RLT_NAMESPACE_BEGIN

struct Type;
using TypePtr = std::shared_ptr<Type>;
using ConstTypePtr = TypePtr;
template <class T>
using TypePtrOf = std::shared_ptr<T>;

namespace detail {

/// The type of a C++ type. `kind` is the annotation of a type without parameters; the parameters of a tuple are linked by
/// `next`.
struct StaticType {
  const char* kind;
  const StaticType* first = nullptr;
  const StaticType* next = nullptr;
  /// The qualified name of a class.
  std::string (*name)() = nullptr;
};

/// `value` is the StaticType of T; defined for every type that an IValue can hold.
template <class T, class = void>
struct StaticTypeOf;

template <class... Ts>
struct StaticTuple {
  static constexpr const StaticType* elements = nullptr;
};
template <class T, class... Rest>
struct StaticTuple<T, Rest...> {
  static constexpr StaticType element{"", &StaticTypeOf<T>::value, StaticTuple<Rest...>::elements};
  static constexpr const StaticType* elements = &element;
};

#define RLT_STATIC_TYPE(type, annotation)                  \
  template <>                                              \
  struct StaticTypeOf<type> {                              \
    static constexpr StaticType value{annotation};         \
  }

/// Defined in ATen/core/jit_type.h.
template <class Pointer>
std::string kind_of_type(const Pointer& type);
template <class Impl>
TypePtr element_type_of(const Impl& list);
template <class Impl>
TypePtr key_type_of(const Impl& dict);
template <class Impl>
TypePtr value_type_of(const Impl& dict);
template <class Object>
size_t slot_of(const Object& object, const std::string& name);
template <class Pointer>
std::string class_name_of(const Pointer& type);

}  // namespace detail
RLT_NAMESPACE_END
}  // namespace c10
