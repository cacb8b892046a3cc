# libtorch keeps its package in share/cmake, and programs point Torch_DIR there. Everything is in lib/cmake.
include("${CMAKE_CURRENT_LIST_DIR}/../../../lib/cmake/Torch/TorchConfig.cmake")
