// Copy-on-write storages: lazy_clone_storage shares memory, and the first write to it makes a copy.
#pragma once

#include <c10/core/StorageImpl.h>
#include <c10/core/impl/COWDeleter.h>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace impl {
namespace cow {

/// The memory is shared until a write.
inline bool is_cow_data_ptr(const DataPtr& pointer) { return pointer.get_deleter() == &cow_deleter; }

/// The memory has no other owner than the storage.
inline bool has_simple_data_ptr(const StorageImpl& storage) {
  const DataPtr& pointer = storage.data_ptr();
  if (const Allocator* allocator = storage.allocator()) return allocator->is_simple_data_ptr(pointer);
  return pointer.get_context() == pointer.get();
}

/// A storage with the same memory, and nullptr if a context of an unknown kind owns it.
inline intrusive_ptr<StorageImpl> lazy_clone_storage(StorageImpl& storage) {
  DataPtr& original = storage._mutable_data_ptr_no_checks();
  auto* context = original.cast_context<COWDeleterContext>(&cow_deleter);
  if (!context) {
    if (!has_simple_data_ptr(storage)) return {};
    void* data = original.mutable_get();
    Device device = original.device();
    context = new COWDeleterContext(original.move_context());
    storage.set_data_ptr_noswap(DataPtr(data, context, &cow_deleter, device));
  }
  context->increment_refcount();
  DataPtr shared(original.mutable_get(), context, &cow_deleter, original.device());
  return make_intrusive<StorageImpl>(StorageImpl::use_byte_size_t(), storage.sym_nbytes(), std::move(shared), storage.allocator(), storage.resizable());
}

/// Gives the storage memory that it may write to: its own if it is the last owner, otherwise a copy.
inline void materialize_cow_storage(StorageImpl& storage) {
  DataPtr& pointer = storage._mutable_data_ptr_no_checks();
  auto* context = pointer.cast_context<COWDeleterContext>(&cow_deleter);
  TORCH_INTERNAL_ASSERT(context, "materialize_cow_storage requires copy-on-write memory");
  Device device = pointer.device();
  void* data = pointer.mutable_get();
  auto released = context->decrement_refcount();
  pointer.release_context();
  if (auto* last = std::get_if<COWDeleterContext::LastReference>(&released)) {
    DeleterFnPtr deleter = last->get_deleter();
    storage.set_data_ptr_noswap(DataPtr(data, last->release(), deleter, device));
    return;
  }
  // The lock in `released` keeps the shared memory. After an error the storage has none.
  pointer.clear();
  TORCH_CHECK(storage.allocator(), "a copy-on-write storage without an allocator cannot be written to");
  storage.set_data_ptr_noswap(storage.allocator()->clone(data, storage.nbytes()));
}

}  // namespace cow
}  // namespace impl
RLT_NAMESPACE_END
}  // namespace c10
