# The files that `make install` and `cmake --install` install; docs/building.md lists them.
include(CMakePackageConfigHelpers)
if(RUSHLIGHT_IS_TOP_LEVEL)
  # With the type PATH, CMake would convert the value from the command line to an absolute path.
  set(CMAKE_INSTALL_LIBDIR lib CACHE STRING "Folder of libraries below the prefix")
endif()
include(GNUInstallDirs)

# ---- Components: runtime, development, debug ----
set(shared_install_folder ${CMAKE_INSTALL_LIBDIR})
set(installed_link_name ${RUSHLIGHT_LINK_NAME})
if(WIN32)
  # Programs find libraries beside themselves.
  set(shared_install_folder ${CMAKE_INSTALL_BINDIR})
  set(installed_link_name "\${Rushlight_LIBRARY_DIR}/librushlight.dll.a")
endif()
if(RUSHLIGHT_BUILD_SHARED)
  install(PROGRAMS ${RUSHLIGHT_SHARED} DESTINATION ${shared_install_folder} COMPONENT runtime)
  if(WIN32)
    install(FILES ${RUSHLIGHT_LINK_NAME} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  else()
    install(FILES ${library_folder}/${RUSHLIGHT_LINK_NAME} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
    install(FILES ${library_folder}/librushlight.so DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  endif()
endif()
# The kernels of CUDA devices, which the library looks for beside itself.
if(RUSHLIGHT_FEATURES STREQUAL full OR "cuda" IN_LIST RUSHLIGHT_FEATURES)
  install(DIRECTORY core/cuda/ptx/ DESTINATION ${shared_install_folder}/rushlight-kernels COMPONENT runtime)
endif()
install(FILES LICENSE-MIT LICENSE-APACHE THIRD_PARTY_NOTICES.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
if(RUSHLIGHT_TOOL)
  install(PROGRAMS ${RUSHLIGHT_TOOL} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endif()

install(DIRECTORY include/ cpp-frontend/include/ ${RUSHLIGHT_GENERATED}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
# The documents and examples that the headers refer to, at the paths they name, and those that these refer to.
install(FILES docs/c-abi.md docs/embedding.md docs/building.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT development)
install(FILES docs/guides/csharp.md docs/guides/platforms.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs/guides COMPONENT development)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(FILES ${RUSHLIGHT_GENERATED}/schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/rushlight COMPONENT development)
install(FILES ${RUSHLIGHT_GENERATED}/csharp/Native.cs DESTINATION ${CMAKE_INSTALL_DATADIR}/rushlight/csharp COMPONENT development)
if(RUSHLIGHT_BUILD_STATIC)
  install(FILES ${RUSHLIGHT_STATIC} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()
if(RUSHLIGHT_PREFIX_HEADER)
  install(FILES ${RUSHLIGHT_PREFIX_HEADER} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rushlight COMPONENT development)
endif()

if(RUSHLIGHT_DEBUG_FILE)
  install(FILES ${RUSHLIGHT_DEBUG_FILE} DESTINATION ${shared_install_folder}/.debug COMPONENT debug)
endif()

# ---- The packages of CMake and pkg-config ----
set(packages ${PROJECT_BINARY_DIR}/packages)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake)
configure_package_config_file(cmake/RushlightConfig.cmake.in ${packages}/RushlightConfig.cmake
  INSTALL_DESTINATION ${package_folder}/Rushlight
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR shared_install_folder)
write_basic_package_version_file(${packages}/RushlightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${packages}/RushlightConfig.cmake ${packages}/RushlightConfigVersion.cmake cmake/RushlightTargets.cmake
  DESTINATION ${package_folder}/Rushlight COMPONENT development)
install(FILES cmake/TorchConfig.cmake cmake/TorchConfigVersion.cmake DESTINATION ${package_folder}/Torch COMPONENT development)
# libtorch keeps its package in share/cmake, and programs point Torch_DIR there.
file(RELATIVE_PATH torch_package /${CMAKE_INSTALL_DATADIR}/cmake/Torch /${package_folder}/Torch)
configure_file(cmake/share/TorchConfig.cmake.in ${packages}/share/TorchConfig.cmake @ONLY)
install(FILES ${packages}/share/TorchConfig.cmake cmake/TorchConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/Torch COMPONENT development)

file(RELATIVE_PATH prefix_of_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_of_pc "${prefix_of_pc}")
list(TRANSFORM RUSHLIGHT_SYSTEM_LIBRARIES PREPEND -l OUTPUT_VARIABLE system_libraries)
list(JOIN system_libraries " " system_libraries)
set(static_flags "")
if(RUSHLIGHT_PREFIX_HEADER)
  set(static_flags " -include \${includedir}/rushlight/prefix.h")
endif()
# rushlight is the shared library if there is one; rushlight-static names the archive.
set(shared_or_static_flags "")
if(NOT RUSHLIGHT_BUILD_SHARED)
  set(shared_or_static_flags "${static_flags}")
endif()
set(package_files ${packages}/rushlight.pc)
configure_file(cmake/rushlight.pc.in ${packages}/rushlight.pc @ONLY)
if(RUSHLIGHT_BUILD_STATIC)
  configure_file(cmake/rushlight-static.pc.in ${packages}/rushlight-static.pc @ONLY)
  list(APPEND package_files ${packages}/rushlight-static.pc)
endif()
install(FILES ${package_files} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
