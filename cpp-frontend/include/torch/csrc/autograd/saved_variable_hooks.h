// Saved-tensor hooks: transform the tensors that are saved for backward.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace autograd {

/// While it exists, `pack` is called with each tensor that this thread saves for backward, and its result, a value of
/// any type, is stored instead; `unpack` restores the tensor when backward needs it:
///
///   SavedTensorsHooks half([](const Tensor& x) { return x.to(kHalf); }, [](const Tensor& kept) { return
/// kept.to(kFloat); });
template <class Pack, class Unpack>
class SavedTensorsHooks {
 public:
  SavedTensorsHooks(Pack pack, Unpack unpack) {
    std::unique_ptr<Hooks> hooks(new Hooks{std::move(pack), std::move(unpack)});
    rlt::check(rlt_saved_tensors_hooks_push(&Hooks::call_pack, &Hooks::call_unpack, &Hooks::free_packed, hooks.get(), &Hooks::free));
    hooks.release();
  }
  ~SavedTensorsHooks() { rlt_saved_tensors_hooks_pop(); }
  SavedTensorsHooks(const SavedTensorsHooks&) = delete;
  SavedTensorsHooks& operator=(const SavedTensorsHooks&) = delete;

 private:
  using Packed = std::decay_t<decltype(std::declval<Pack&>()(std::declval<const at::Tensor&>()))>;

  struct Hooks {
    Pack pack;
    Unpack unpack;

    static int32_t call_pack(void* ctx, const rlt_tensor* tensor, void** packed) {
      return rlt::trampoline([&] {
        rlt_tensor* held = nullptr;
        rlt::check(rlt_tensor_retain(tensor, &held));
        const at::Tensor given(held);
        *packed = new Packed(static_cast<Hooks*>(ctx)->pack(given));
      });
    }
    static int32_t call_unpack(void* ctx, void* packed, rlt_tensor** tensor) {
      return rlt::trampoline([&] {
        at::Tensor result = static_cast<Hooks*>(ctx)->unpack(*static_cast<const Packed*>(packed));
        *tensor = result.release();
      });
    }
    static void free_packed(void* packed) { delete static_cast<Packed*>(packed); }
    static void free(void* ctx) { delete static_cast<Hooks*>(ctx); }
  };
};

/// While it exists, creating SavedTensorsHooks on this thread is an error with `message`.
class DisableSavedTensorsHooks {
 public:
  explicit DisableSavedTensorsHooks(const std::string& message) { rlt::check(rlt_saved_tensors_hooks_disable(message.c_str())); }
  ~DisableSavedTensorsHooks() { rlt_saved_tensors_hooks_disable(nullptr); }
  DisableSavedTensorsHooks(const DisableSavedTensorsHooks&) = delete;
  DisableSavedTensorsHooks& operator=(const DisableSavedTensorsHooks&) = delete;
};

}  // namespace autograd
RLT_NAMESPACE_END
}  // namespace torch
