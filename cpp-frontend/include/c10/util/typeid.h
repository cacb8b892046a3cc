// caffe2::TypeMeta for any type: its name and number, and functions that construct, copy and destroy arrays of it.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/TypeIndex.h>

#include <algorithm>
#include <memory>
#include <string>

namespace caffe2 {
RLT_NAMESPACE_BEGIN

/// The number of a type in this program.
struct TypeIdentifier final : c10::IdWrapper<TypeIdentifier, uint64_t> {
  constexpr explicit TypeIdentifier(uint64_t id) : IdWrapper(id) {}
  template <class T>
  static constexpr TypeIdentifier Get() noexcept {
    return TypeIdentifier(c10::util::crc64(c10::util::get_fully_qualified_type_name<T>()).checksum());
  }
  static constexpr TypeIdentifier uninitialized() { return TypeIdentifier(0); }
  constexpr uint64_t value() const noexcept { return underlyingId(); }
  friend constexpr bool operator<(TypeIdentifier a, TypeIdentifier b) noexcept { return a.value() < b.value(); }
  friend std::ostream& operator<<(std::ostream& out, TypeIdentifier id) { return out << id.value(); }
};

namespace detail {

[[noreturn]] inline void not_possible(const char* what, std::string_view type) {
  rlt::raise<c10::Error>("Type " + std::string(type) + what);
}
template <class T>
void* _New() {
  return new T;
}
template <class T>
void* _NewNotDefault() {
  not_possible(" is not default-constructible.", c10::util::get_fully_qualified_type_name<T>());
}
template <class T>
void _PlacementNew(void* target, size_t count) {
  std::uninitialized_default_construct_n(static_cast<T*>(target), count);
}
template <class T>
void _PlacementNewNotDefault(void*, size_t) {
  not_possible(" is not default-constructible.", c10::util::get_fully_qualified_type_name<T>());
}
template <class T>
void _Copy(const void* source, void* target, size_t count) {
  std::copy_n(static_cast<const T*>(source), count, static_cast<T*>(target));
}
template <class T>
void _CopyNotAllowed(const void*, void*, size_t) {
  not_possible(" does not allow assignment.", c10::util::get_fully_qualified_type_name<T>());
}
template <class T>
void _PlacementDelete(void* target, size_t count) {
  std::destroy_n(static_cast<T*>(target), count);
}
template <class T>
void _Delete(void* target) {
  delete static_cast<T*>(target);
}

template <class T>
struct TypeMetaDataOf {
  static std::string_view name() { return c10::util::get_fully_qualified_type_name<T>(); }
  static constexpr TypeIdentifier identifier() noexcept { return TypeIdentifier::Get<T>(); }
  static uint64_t number() { return identifier().value(); }

 private:
  static constexpr auto create() {
    if constexpr (std::is_default_constructible_v<T>) return &_New<T>;
    else return &_NewNotDefault<T>;
  }
  static constexpr auto construct() {
    if constexpr (std::is_default_constructible_v<T>) return &_PlacementNew<T>;
    else return &_PlacementNewNotDefault<T>;
  }
  static constexpr auto copy() {
    if constexpr (std::is_copy_assignable_v<T>) return &_Copy<T>;
    else return &_CopyNotAllowed<T>;
  }

 public:
  static constexpr TypeMetaData data{sizeof(T), create(), construct(), copy(), &_PlacementDelete<T>, &_Delete<T>, &name, &number};
};

/// The numbers of dtypes and of other types.
template <class>
struct TypeMetaIds {
  static TypeIdentifier of(c10::ScalarType dtype, const TypeMetaData* data) {
    using namespace c10;
    if (data) return TypeIdentifier(data->id());
    switch (dtype) {
#define RLT_ID(cpp, name, python, spelled, kind) \
  case c10::ScalarType::name: return TypeIdentifier::Get<cpp>();
      RLT_FORALL_SCALAR_TYPES(RLT_ID)
#undef RLT_ID
      default: return TypeIdentifier::uninitialized();
    }
  }
};

}  // namespace detail
RLT_NAMESPACE_END
}  // namespace caffe2

C10_DEFINE_HASH_FOR_IDWRAPPER(caffe2::TypeIdentifier)

// A type needs no registration: these check that it is complete.
#define CAFFE_KNOWN_TYPE_NOEXPORT(Type) static_assert(sizeof(Type) != 0, "CAFFE_KNOWN_TYPE requires a complete type")
#define CAFFE_KNOWN_TYPE(Type) CAFFE_KNOWN_TYPE_NOEXPORT(Type)
#define CAFFE_DECLARE_KNOWN_TYPE(Type, name) CAFFE_KNOWN_TYPE_NOEXPORT(Type)
#define CAFFE_DEFINE_KNOWN_TYPE(Type, name) CAFFE_KNOWN_TYPE_NOEXPORT(Type)
