# find_package(Torch) for the CMake files of libtorch programs: their variables and targets, provided by Rushlight.
include(CMakeFindDependencyMacro)
find_dependency(Rushlight HINTS "${CMAKE_CURRENT_LIST_DIR}/../Rushlight")

foreach(name torch torch_library torch_cpu c10)
  if(NOT TARGET ${name})
    add_library(${name} INTERFACE IMPORTED)
    set_property(TARGET ${name} PROPERTY INTERFACE_LINK_LIBRARIES Rushlight::rushlight)
    set_property(TARGET ${name} PROPERTY INTERFACE_COMPILE_FEATURES cxx_std_17)
  endif()
endforeach()

set(TORCH_FOUND TRUE)
set(Torch_FOUND TRUE)
set(TORCH_INCLUDE_DIRS "${Rushlight_INCLUDE_DIR}")
set(TORCH_LIBRARIES torch)
set(TORCH_LIBRARY torch)
get_filename_component(TORCH_INSTALL_PREFIX "${Rushlight_INCLUDE_DIR}" DIRECTORY)
# libtorch stores the C++ ABI flag here; Rushlight's headers work with either ABI.
set(TORCH_CXX_FLAGS "")
