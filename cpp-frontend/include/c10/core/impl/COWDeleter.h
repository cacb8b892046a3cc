// COWDeleterContext: the owner of memory that several storages share until one of them writes to it.
#pragma once

#include <c10/util/Exception.h>
#include <c10/util/UniqueVoidPtr.h>

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <variant>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace impl {
namespace cow {

/// Created with one reference by new; decrement_refcount deletes it.
class COWDeleterContext {
 public:
  /// The memory cannot be freed while this lock is held.
  using NotLastReference = std::shared_lock<std::shared_mutex>;
  /// The memory now belongs to the caller.
  using LastReference = std::unique_ptr<void, DeleterFnPtr>;

  explicit COWDeleterContext(std::unique_ptr<void, DeleterFnPtr> data) : data_(std::move(data)) {
    TORCH_INTERNAL_ASSERT_DEBUG_ONLY(data_.get_deleter() != nullptr, "the data of a COWDeleterContext requires a deleter");
  }
  COWDeleterContext(const COWDeleterContext&) = delete;
  COWDeleterContext& operator=(const COWDeleterContext&) = delete;

  void increment_refcount() {
    int64_t references = references_.fetch_add(1) + 1;
    TORCH_INTERNAL_ASSERT(references > 1, "a COWDeleterContext without a reference was used");
  }
  std::variant<NotLastReference, LastReference> decrement_refcount() {
    NotLastReference lock(mutex_);
    int64_t references = references_.fetch_sub(1) - 1;
    TORCH_INTERNAL_ASSERT(references >= 0, "a COWDeleterContext has fewer references than were released");
    if (references > 0) return {std::move(lock)};
    lock.unlock();
    {
      // Waits for others that gave up their reference and still copy the memory.
      std::unique_lock<std::shared_mutex> exclusive(mutex_);
    }
    LastReference result = std::move(data_);
    delete this;
    return {std::move(result)};
  }

 private:
  ~COWDeleterContext() = default;

  std::shared_mutex mutex_;
  std::unique_ptr<void, DeleterFnPtr> data_;
  std::atomic<int64_t> references_{1};
};

/// The deleter of a DataPtr with a COWDeleterContext.
inline void cow_deleter(void* context) { static_cast<COWDeleterContext*>(context)->decrement_refcount(); }

}  // namespace cow
}  // namespace impl
RLT_NAMESPACE_END
}  // namespace c10
