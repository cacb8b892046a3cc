// The values of an IValue that are shared by its copies: strings, tuples, objects, futures, members of enums.
#pragma once

#include <ATen/core/ivalue_base.h>
#include <rushlight/script.h>

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>

namespace c10 {
RLT_NAMESPACE_BEGIN
template <class RltLazy>
struct ClassTypeOf;
template <class RltLazy>
struct EnumTypeOf;
template <class RltLazy>
struct TupleTypeOf;
using ClassTypePtr = std::shared_ptr<ClassTypeOf<void>>;
using EnumTypePtr = std::shared_ptr<EnumTypeOf<void>>;
using TupleTypePtr = std::shared_ptr<TupleTypeOf<void>>;
using ClassTypeHandle = ClassTypePtr;

namespace detail {

using ScriptHandle = std::shared_ptr<rlt_script>;
using ModuleHandle = std::shared_ptr<rlt_module>;
inline ModuleHandle adopt_module(rlt_module* module) { return ModuleHandle(module, rlt_module_free); }
inline ScriptHandle adopt_script(rlt_script* script) { return ScriptHandle(script, rlt_script_free); }

/// The program whose values this thread converts: the objects among them belong to it.
inline ScriptHandle& current_program() {
  static thread_local ScriptHandle program;
  return program;
}
class ProgramScope {
 public:
  explicit ProgramScope(ScriptHandle program) : before_(rlt::exchange_value(current_program(), std::move(program))) {}
  ProgramScope(const ProgramScope&) = delete;
  ~ProgramScope() { current_program() = std::move(before_); }

 private:
  ScriptHandle before_;
};

/// The attributes of an object, and a copy of it with attributes that `copy` returns. Defined in ATen/core/type_of.h.
template <class Object>
std::vector<IValue> attributes_of(const Object& object);
template <class Object, class Copy>
IValue copied_object(const Object& object, const Copy& copy);

/// Gives up the reference to an object of a C++ class. Its address identifies such objects in the C interface.
inline void release_custom_object(void* holder) { intrusive_ptr<CustomClassHolder>::reclaim(static_cast<CustomClassHolder*>(holder)); }

}  // namespace detail

/// A class with the compilation unit that it belongs to.
struct StrongTypePtr {
  StrongTypePtr(std::shared_ptr<torch::jit::CompilationUnit> unit, TypePtr type) : cu_(std::move(unit)), type_(std::move(type)) {}
  std::shared_ptr<torch::jit::CompilationUnit> cu_;
  TypePtr type_;
};

namespace ivalue {

struct ConstantString final : intrusive_ptr_target {
  explicit ConstantString(std::string text) : text_(std::move(text)) {}
  explicit ConstantString(std::string_view text) : text_(text) {}
  static intrusive_ptr<ConstantString> create(std::string text) { return make_intrusive<ConstantString>(std::move(text)); }
  const std::string& string() const { return text_; }
  std::string_view string_view() const { return text_; }
  operator const std::string&() const { return text_; }
  friend std::ostream& operator<<(std::ostream& stream, const ConstantString& text) { return stream << text.text_; }

 private:
  std::string text_;
};

/// The values of a tuple: a vector with the functions of libtorch's class.
class TupleElements : public std::vector<IValue> {
 public:
  TupleElements() = default;
  explicit TupleElements(std::vector<IValue> values) : std::vector<IValue>(std::move(values)) {}
  explicit TupleElements(ArrayRef<IValue> values) : std::vector<IValue>(values.begin(), values.end()) {}
  explicit TupleElements(IValue first) : TupleElements(std::vector<IValue>{std::move(first)}) {}
  explicit TupleElements(IValue first, IValue second) : TupleElements(std::vector<IValue>{std::move(first), std::move(second)}) {}
  explicit TupleElements(IValue first, IValue second, IValue third) : TupleElements(std::vector<IValue>{std::move(first), std::move(second), std::move(third)}) {}

  void setContents(std::vector<IValue>&& values) { std::vector<IValue>::operator=(std::move(values)); }
  IValue& at(size_t index) {
    TORCH_CHECK(index < size(), "TupleElements: invalid index ", index, " for ", size(), " elements");
    return (*this)[index];
  }
  const IValue& at(size_t index) const { return const_cast<TupleElements*>(this)->at(index); }
  std::vector<IValue> vec() const& { return *this; }
  std::vector<IValue> vec() && { return std::move(*this); }
};

struct Tuple final : intrusive_ptr_target {
  explicit Tuple(std::vector<IValue> elements, TypePtr type = nullptr) : elements_(std::move(elements)), type_(std::move(type)) {}
  static intrusive_ptr<Tuple> create(std::vector<IValue> elements) { return make_intrusive<Tuple>(std::move(elements)); }
  static intrusive_ptr<Tuple> create(std::initializer_list<IValue> elements) { return make_intrusive<Tuple>(std::vector<IValue>(elements)); }
  template <class... Values>
  static intrusive_ptr<Tuple> create(Values&&... values) {
    return make_intrusive<Tuple>(std::vector<IValue>{IValue(std::forward<Values>(values))...});
  }
  static intrusive_ptr<Tuple> createNamed(std::vector<IValue> elements, TypePtr type) { return make_intrusive<Tuple>(std::move(elements), std::move(type)); }

  const TupleElements& elements() const& { return elements_; }
  TupleElements elements() && { return std::move(elements_); }
  size_t size() const { return elements_.size(); }
  void setElements(std::vector<IValue> elements) { elements_.setContents(std::move(elements)); }
  void unsafeSetElement(size_t index, IValue value) { elements_[index] = std::move(value); }
  /// The type of a NamedTuple; null for others.
  const TypePtr& named_type() const { return type_; }
  /// The type (ATen/core/jit_type.h).
  template <class Lazy = void>
  TupleTypePtr type() const;
  friend bool operator==(const Tuple& a, const Tuple& b) {
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
      if (a.elements_[i] != b.elements_[i]) return false;
    }
    return a.size() == b.size();
  }
  friend bool operator!=(const Tuple& a, const Tuple& b) { return !(a == b); }

 private:
  TupleElements elements_;
  TypePtr type_;
};

/// An object: of a class of a program, of a C++ class that torch::class_ registered, or one that C++ code built of slots.
struct Object final : intrusive_ptr_target {
  Object(StrongTypePtr type, size_t slots) : unit_(std::move(type.cu_)), type_(std::move(type.type_)), slots_(slots) {}
  static intrusive_ptr<Object> create(StrongTypePtr type, size_t slots) { return make_intrusive<Object>(std::move(type), slots); }
  template <class Class>
  static intrusive_ptr<Object> create(std::shared_ptr<Class> type, size_t slots) {
    return make_intrusive<Object>(StrongTypePtr(nullptr, std::move(type)), slots);
  }
  /// Adopts a handle of the C interface.
  explicit Object(rlt_object* handle, detail::ScriptHandle program = nullptr) : handle_(handle), program_(std::move(program)) {}
  Object(const Object&) = delete;
  ~Object() override { rlt_object_free(handle_); }

  RLT_LAZY std::string name() const {
    if (!handle_) return detail::class_name_of(type_);
    const char* text = nullptr;
    rlt::check(rlt_object_class_name(handle_, &text));
    return text;
  }
  RLT_LAZY IValue getAttr(const std::string& name) const;
  RLT_LAZY void setAttr(const std::string& name, IValue value);
  RLT_LAZY bool hasAttr(const std::string& name) const;
  const IValue& getSlot(size_t slot) const {
    check_slot(slot);
    return slots_[slot];
  }
  void setSlot(size_t slot, IValue value) {
    if (slot >= slots_.size()) slots_.resize(slot + 1);
    slots_[slot] = std::move(value);
  }
  const std::vector<IValue>& slots() const { return slots_; }
  void resizeObject(size_t slots) { slots_.resize(slots); }
  void unsafeRemoveSlot(size_t slot) {
    check_slot(slot);
    slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(slot));
  }
  RLT_LAZY void unsafeRemoveAttr(const std::string& name) { unsafeRemoveSlot(detail::slot_of(*this, name)); }
  /// The class (ATen/core/jit_type.h).
  template <class Lazy = void>
  ClassTypePtr type() const;
  const TypePtr& slot_type() const { return type_; }
  /// The unit of an object that C++ code built of slots.
  const std::shared_ptr<torch::jit::CompilationUnit>& slot_unit() const { return unit_; }
  template <class Lazy = void>
  std::shared_ptr<torch::jit::CompilationUnit> compilation_unit() const;

  /// The object of the C++ class; null for others.
  RLT_LAZY CustomClassHolder* custom() const {
    void* content = nullptr;
    if (handle_) rlt::check(rlt_object_content(handle_, &detail::release_custom_object, &content));
    return static_cast<CustomClassHolder*>(content);
  }
  /// The handles of the C interface. Borrowed; null if there is none.
  rlt_object* handle() const { return handle_; }
  const detail::ScriptHandle& program() const { return program_; }
  /// The object as a module of the C interface. An error if it has no attributes of TorchScript.
  RLT_LAZY const detail::ModuleHandle& module() const {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!module_) {
      rlt_module* module = nullptr;
      rlt::check(rlt_module_of_object(program_.get(), handle_, &module));
      module_ = detail::adopt_module(module);
    }
    return module_;
  }
  RLT_LAZY bool is(const Object& other) const {
    if (this == &other) return true;
    if (!handle_ || !other.handle_) return false;
    if (CustomClassHolder* holder = custom()) return holder == other.custom();
    if (!program_ || !other.program_ || other.custom()) return false;
    int64_t mine = 0, theirs = 0;
    rlt::check(rlt_module_identity(module().get(), &mine));
    rlt::check(rlt_module_identity(other.module().get(), &theirs));
    return mine == theirs;
  }

 private:
  void check_slot(size_t slot) const {
    if (slot >= slots_.size()) rlt::raise<IndexError>("the object has no slot " + std::to_string(slot));
  }

  std::shared_ptr<torch::jit::CompilationUnit> unit_;
  TypePtr type_;
  std::vector<IValue> slots_;
  rlt_object* handle_ = nullptr;
  detail::ScriptHandle program_;
  mutable std::mutex mutex_;
  mutable detail::ModuleHandle module_;
  mutable ClassTypePtr class_;
};

/// A member of an Enum.
struct EnumHolder final : intrusive_ptr_target {
  template <class Type>
  EnumHolder(std::shared_ptr<Type> type, std::string name, IValue value)
      : type_(type), class_(detail::class_name_of(type_)), name_(std::move(name)), value_(std::move(value)) {}
  EnumHolder(std::string class_name, std::string name, IValue value) : class_(std::move(class_name)), name_(std::move(name)), value_(std::move(value)) {}

  const std::string& qualifiedClassName() const { return class_; }
  std::string unqualifiedClassName() const { return class_.substr(class_.rfind('.') + 1); }
  const std::string& name() const { return name_; }
  const IValue& value() const { return value_; }
  const TypePtr& static_type() const { return type_; }
  /// The type (ATen/core/jit_type.h).
  template <class Lazy = void>
  EnumTypePtr type() const;
  bool is(const EnumHolder& other) const { return class_ == other.class_ && name_ == other.name_; }
  friend bool operator==(const EnumHolder& a, const EnumHolder& b) { return a.is(b); }
  friend bool operator!=(const EnumHolder& a, const EnumHolder& b) { return !a.is(b); }

 private:
  TypePtr type_;
  std::string class_, name_;
  IValue value_;
};

/// A value that is provided later.
struct Future final : intrusive_ptr_target {
  class FutureError final : public std::exception {
   public:
    FutureError() = default;
    explicit FutureError(std::string message) : message_(std::move(message)) {}
    const char* what() const noexcept override { return message_.c_str(); }

   private:
    std::string message_;
  };

  explicit Future(TypePtr type, std::vector<Device> devices = {}) : type_(std::move(type)), devices_(std::move(devices)) {}
  Future(const Future&) = delete;

  bool completed() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return completed_;
  }
  /// Waits for the value or the error.
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    finished_.wait(lock, [this] { return completed_; });
  }
  void waitAndThrow() {
    wait();
    if (error_) rethrow();
  }
  void markCompleted(IValue value = IValue()) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (completed_) rlt::raise<Error>("Attempting to mark a completed Future as complete again. Note that a Future can only be marked completed once.");
    value_ = std::move(value);
    finish(lock);
  }
  RLT_LAZY void setError(std::exception_ptr error) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (completed_) {
      rlt::raise<Error>("Error already set on this Future: " + (error_ ? message_of(error_) : "it has a value") + ", trying to set error: " + message_of(error));
    }
    error_ = std::move(error);
    finish(lock);
  }
  void setErrorIfNeeded(std::exception_ptr error) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (completed_) return;
    error_ = std::move(error);
    finish(lock);
  }
  /// The value; throws the error, if there is one.
  IValue value() {
    if (!completed()) rlt::raise<Error>("the future is not complete");
    if (error_) rethrow();
    return value_;
  }
  const IValue& constValue() const { return value_; }
  bool hasValue() const { return completed() && !error_; }
  bool hasError() const { return completed() && error_; }
  std::exception_ptr exception_ptr() const { return error_; }
  RLT_LAZY std::string tryRetrieveErrorMessage() const { return message_of(error_); }
  /// Calls `callback(future)` when the future is complete, at once if it is already.
  template <class Callback>
  void addCallback(Callback callback, bool = false) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!completed_) {
      callbacks_.emplace_back(std::move(callback));
      return;
    }
    lock.unlock();
    callback(*this);
  }
  /// A future of what `callback(future)` returns.
  template <class Callback>
  intrusive_ptr<Future> then(Callback callback, TypePtr type) {
    auto result = make_intrusive<Future>(std::move(type));
    addCallback([result, callback = std::move(callback)](Future& future) mutable {
#if RLT_EXCEPTIONS
      try {
        result->markCompleted(IValue(callback(future)));
      } catch (...) {
        result->setError(std::current_exception());
      }
#else
      result->markCompleted(IValue(callback(future)));
#endif
    });
    return result;
  }
  intrusive_ptr<Future> createInstance(TypePtr type) { return make_intrusive<Future>(std::move(type), devices_); }
  const TypePtr& elementType() const { return type_; }
  const std::vector<Device>& devices() const { return devices_; }

 private:
  void finish(std::unique_lock<std::mutex>& lock) {
    completed_ = true;
    auto callbacks = rlt::exchange_value(callbacks_, {});
    lock.unlock();
    finished_.notify_all();
    for (auto& callback : callbacks) callback(*this);
  }
  [[noreturn]] void rethrow() const {
#if RLT_EXCEPTIONS
    std::rethrow_exception(error_);
#else
    rlt::raise<Error>("the future has an error");
#endif
  }
  RLT_LAZY static std::string message_of(const std::exception_ptr& error) {
    if (!error) return "No Error";
#if RLT_EXCEPTIONS
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& exception) {
      return exception.what();
    } catch (...) {
      return "Unknown Exception Type";
    }
#else
    return "the future has an error";
#endif
  }

  TypePtr type_;
  std::vector<Device> devices_;
  mutable std::mutex mutex_;
  std::condition_variable finished_;
  bool completed_ = false;
  IValue value_;
  std::exception_ptr error_;
  std::vector<std::function<void(Future&)>> callbacks_;
};

}  // namespace ivalue

template <class T, std::enable_if_t<std::is_base_of_v<CustomClassHolder, T>, bool>>
IValue::IValue(intrusive_ptr<T> value) {
  std::string name = detail::registered_class_name<T>();
  CustomClassHolder* holder = value.release();
  rlt_object* object = nullptr;
  int32_t status = rlt_object_new(name.c_str(), holder, &detail::release_custom_object, &object);
  if (status != RLT_OK) detail::release_custom_object(holder);
  rlt::check(status);
  tag_ = Tag::Object;
  object_ = make_intrusive<ivalue::Object>(object);
}
template <class T>
intrusive_ptr<T> IValue::toCustomClass() const {
  ivalue::Object& object = toObjectRef();
  const std::string& name = detail::custom_class_name<T>();
  CustomClassHolder* holder = object.name() == name ? object.custom() : nullptr;
  if (!holder) rlt::raise<Error>("Tried to convert an IValue of type " + object.name() + " to custom class type " + (name.empty() ? demangle_type<T>() : name));
  return intrusive_ptr<T>::reclaim_copy(static_cast<T*>(holder));
}
template <class RltLazy>
bool IValue::isCustomClass() const {
  return isObject() && toObjectRef().custom();
}
template <class T>
IValue make_custom_class_value(intrusive_ptr<T> value) {
  return IValue(std::move(value));
}

RLT_NAMESPACE_END
}  // namespace c10

#include <ATen/core/ivalue_all.h>
