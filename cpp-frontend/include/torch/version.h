// The release of the C++ API that this library implements.
#pragma once

#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 7
#define TORCH_VERSION_PATCH 1
#define TORCH_VERSION "2.7.1"
