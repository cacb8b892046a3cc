// ska::flat_hash_map: the map of an optimizer's states.
#pragma once

#include <c10/macros/Macros.h>

#include <unordered_map>

namespace ska {
template <class Key, class Value>
using flat_hash_map = std::unordered_map<Key, Value>;
}  // namespace ska
