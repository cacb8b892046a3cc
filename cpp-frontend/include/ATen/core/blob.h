// caffe2::Blob: a value of any type, by its address and a function that deletes it.
#pragma once

#include <c10/util/Exception.h>
#include <c10/util/intrusive_ptr.h>

#include <memory>

namespace caffe2 {
RLT_NAMESPACE_BEGIN

class Blob final : public c10::intrusive_ptr_target {
 public:
  Blob() = default;
  Blob(Blob&& other) noexcept { swap(other); }
  Blob& operator=(Blob&& other) noexcept {
    Blob moved(std::move(other));
    swap(moved);
    return *this;
  }
  Blob(const Blob&) = delete;
  Blob& operator=(const Blob&) = delete;

  bool has_value() const { return value_ != nullptr; }
  template <class T>
  bool IsType() const {
    return value_ && type_ == &type_of<T>;
  }
  template <class T>
  const T& Get() const {
    TORCH_CHECK(IsType<T>(), "the Blob does not hold a value of the requested type");
    return *static_cast<const T*>(value_.get());
  }
  /// The value; a new one if the blob holds none or one of another type.
  template <class T>
  T* GetMutable() {
    if (!IsType<T>()) return Reset(new T());
    return static_cast<T*>(value_.get());
  }
  /// Owns the value from now on.
  template <class T>
  T* Reset(T* value) {
    value_ = std::shared_ptr<void>(value, [](void* held) { delete static_cast<T*>(held); });
    type_ = &type_of<T>;
    return value;
  }
  void Reset() {
    value_.reset();
    type_ = nullptr;
  }
  const void* GetRaw() const { return value_.get(); }
  void swap(Blob& other) noexcept {
    rlt::swap_values(value_, other.value_);
    rlt::swap_values(type_, other.type_);
  }

 private:
  /// Its address identifies the type.
  template <class T>
  static inline char type_of = 0;

  std::shared_ptr<void> value_;
  const void* type_ = nullptr;
};

RLT_NAMESPACE_END
}  // namespace caffe2
