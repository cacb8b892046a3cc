// The keys that a key stands for: a key for several backends, such as Autograd, is an alias.
#pragma once

#include <c10/core/DispatchKey.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

constexpr DispatchKeySet backend_dispatch_keyset = {DispatchKey::CPU, DispatchKey::CUDA, DispatchKey::Meta};

constexpr bool isAliasDispatchKey(DispatchKey key) {
  return key == DispatchKey::Autograd || key == DispatchKey::CompositeImplicitAutograd || key == DispatchKey::CompositeExplicitAutograd;
}
/// The keys of which a kernel for this key is the kernel, unless they have their own.
constexpr DispatchKeySet getRuntimeDispatchKeySet(DispatchKey key) {
  switch (key) {
    case DispatchKey::Autograd: return autograd_dispatch_keyset;
    case DispatchKey::CompositeImplicitAutograd: return backend_dispatch_keyset | autograd_dispatch_keyset;
    case DispatchKey::CompositeExplicitAutograd: return backend_dispatch_keyset;
    default: return DispatchKeySet(key);
  }
}
constexpr bool runtimeDispatchKeySetHas(DispatchKey alias, DispatchKey key) { return getRuntimeDispatchKeySet(alias).has(key); }

RLT_NAMESPACE_END
}  // namespace c10
