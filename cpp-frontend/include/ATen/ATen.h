// The tensor library without autograd's classes, nn and optim.
#pragma once

#include <ATen/Context.h>
#include <ATen/Formatting.h>
#include <ATen/Functions.h>
#include <ATen/TensorIndexing.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Reduction.h>
#include <c10/core/Device.h>
#include <c10/core/GradMode.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/Optional.h>
#include <c10/util/irange.h>

// Programs have these from libtorch's headers without asking for them.
#include <bitset>
#include <cassert>
#include <climits>
#include <iomanip>
#include <list>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <shared_mutex>
#include <stack>
#include <typeindex>
#include <unordered_set>
