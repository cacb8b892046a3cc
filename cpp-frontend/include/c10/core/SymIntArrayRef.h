// SymIntArrayRef: a view of sizes, as libtorch's functions for symbolic shapes name it.
#pragma once

#include <c10/core/SymInt.h>
#include <c10/util/ArrayRef.h>

namespace c10 {
RLT_NAMESPACE_BEGIN

using SymIntArrayRef = ArrayRef<SymInt>;
using OptionalSymIntArrayRef = OptionalArrayRef<SymInt>;

/// The same memory: a SymInt is an int64_t.
inline IntArrayRef asIntArrayRefUnchecked(SymIntArrayRef sizes) { return {reinterpret_cast<const int64_t*>(sizes.data()), sizes.size()}; }
inline SymIntArrayRef fromIntArrayRefUnchecked(IntArrayRef sizes) { return {reinterpret_cast<const SymInt*>(sizes.data()), sizes.size()}; }
inline SymIntArrayRef fromIntArrayRefKnownNonNegative(IntArrayRef sizes) { return fromIntArrayRefUnchecked(sizes); }
inline SymIntArrayRef fromIntArrayRefSlow(IntArrayRef sizes) { return fromIntArrayRefUnchecked(sizes); }
inline IntArrayRef asIntArrayRefSlow(SymIntArrayRef sizes, const char*, int64_t) { return asIntArrayRefUnchecked(sizes); }
inline std::optional<IntArrayRef> asIntArrayRefSlowOpt(SymIntArrayRef sizes) { return asIntArrayRefUnchecked(sizes); }
#define C10_AS_INTARRAYREF_SLOW(sizes) ::c10::asIntArrayRefSlow(sizes, __FILE__, __LINE__)

RLT_NAMESPACE_END
}  // namespace c10
