# Builds librushlight with cargo into <build>/lib: the shared library with the symbolic links for its soname, the static one as a
# single object that exports only the C interface. The target is rushlight_libraries.
# For Windows, the shared library is in <build>/bin, as are programs that find it there, and <build>/lib has its import library.
# Sets RUSHLIGHT_SHARED, RUSHLIGHT_STATIC, RUSHLIGHT_PREFIX_HEADER, RUSHLIGHT_DEBUG_FILE (each only if it is built), RUSHLIGHT_LINK_NAME
# (the soname, for Windows the import library), RUSHLIGHT_SHARED_NAME, RUSHLIGHT_TOOL, RUSHLIGHT_CARGO, and RUSHLIGHT_CARGO_ARCHIVE (the static library as cargo builds it).

find_program(RUSHLIGHT_CARGO cargo HINTS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
if(NOT RUSHLIGHT_CARGO)
  message(FATAL_ERROR "cargo is needed to build Rushlight (https://rustup.rs)")
endif()

# ---- Where cargo builds ----
if(DEFINED ENV{CARGO_TARGET_DIR})
  set(cargo_folder "$ENV{CARGO_TARGET_DIR}")
elseif(RUSHLIGHT_IS_TOP_LEVEL)
  set(cargo_folder "${PROJECT_SOURCE_DIR}/target")
else()
  set(cargo_folder "${PROJECT_BINARY_DIR}/target")
endif()
set(cargo_environment CARGO_TARGET_DIR=${cargo_folder})

# ---- Names ----
set(library_folder ${PROJECT_BINARY_DIR}/lib)
if(WIN32)
  set(cargo_system pc-windows-gnu)
  set(cargo_shared rushlight.dll)
  set(RUSHLIGHT_SHARED_NAME rushlight.dll)
  set(shared_folder ${PROJECT_BINARY_DIR}/bin)
  set(RUSHLIGHT_LINK_NAME ${library_folder}/librushlight.dll.a)
else()
  set(cargo_system unknown-linux-gnu)
  set(cargo_shared librushlight.so)
  set(RUSHLIGHT_SHARED_NAME librushlight.so.${PROJECT_VERSION})
  set(shared_folder ${library_folder})
  set(RUSHLIGHT_LINK_NAME librushlight.so.${PROJECT_VERSION_MAJOR})
endif()

# ---- Targets ----
set(cargo_profile release)
if(RUSHLIGHT_SYMBOLS MATCHES "inside|apart")
  set(cargo_profile dist)
endif()
set(cargo_arguments build -q --locked --profile ${cargo_profile} -p rushlight-capi)
if(RUSHLIGHT_BUILD_TOOL)
  # In one command with the library: building the tool alone, with its features, would rebuild parts of the library.
  list(APPEND cargo_arguments -p rushlight-cli)
endif()
if(NOT RUSHLIGHT_FEATURES STREQUAL full)
  string(REPLACE ";" "," cargo_features "${RUSHLIGHT_FEATURES}")
  list(APPEND cargo_arguments --no-default-features --features ${cargo_features})
endif()
if(cargo_profile STREQUAL dist)
  # Debug information names the sources relative to the repository, without the paths of the build machine.
  set(cargo_home "$ENV{CARGO_HOME}")
  if(NOT cargo_home)
    set(cargo_home "$ENV{HOME}/.cargo")
  endif()
  # Where the component rust-src is installed, rustc names its files instead of /rustc/HASH.
  find_program(RUSHLIGHT_RUSTC rustc HINTS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
  execute_process(COMMAND ${RUSHLIGHT_RUSTC} --print sysroot WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE sysroot OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "rustc --print sysroot failed: ${failed}")
  endif()
  set(remapped)
  foreach(folder "${PROJECT_SOURCE_DIR}=/rushlight-${PROJECT_VERSION}" "${cargo_home}=/cargo" "${sysroot}/lib/rustlib/src/rust=/rust")
    list(APPEND remapped "'--remap-path-prefix=${folder}'")
  endforeach()
  list(JOIN remapped , remapped)
  list(APPEND cargo_arguments --config "target.'cfg(all())'.rustflags=[${remapped}]")
endif()
set(cargo_output ${cargo_folder}/${cargo_profile})
if(CMAKE_CROSSCOMPILING)
  set(cargo_triple ${CMAKE_SYSTEM_PROCESSOR}-${cargo_system})
  list(APPEND cargo_arguments --target ${cargo_triple})
  set(cargo_output ${cargo_folder}/${cargo_triple}/${cargo_profile})
  # (rustc knows the name of mingw-w64's.)
  if(NOT WIN32)
    string(TOUPPER "CARGO_TARGET_${cargo_triple}_LINKER" linker_variable)
    string(REPLACE - _ linker_variable "${linker_variable}")
    list(APPEND cargo_environment ${linker_variable}=${CMAKE_C_COMPILER})
  endif()
endif()

set(cargo_products ${cargo_output}/${cargo_shared} ${cargo_output}/librushlight.a)
set(cargo_tool ${cargo_output}/rushlight${CMAKE_EXECUTABLE_SUFFIX})
if(RUSHLIGHT_BUILD_TOOL)
  list(APPEND cargo_products ${cargo_tool})
endif()
string(REPLACE ";" " " cargo_comment "cargo ${cargo_arguments}")
add_custom_target(rushlight_cargo
  COMMAND ${CMAKE_COMMAND} -E env ${cargo_environment} ${RUSHLIGHT_CARGO} ${cargo_arguments}
  BYPRODUCTS ${cargo_products}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "${cargo_comment}"
  VERBATIM)
set(RUSHLIGHT_CARGO_ARCHIVE ${cargo_output}/librushlight.a)

# Outputs derived from cargo's libraries are rebuilt when the libraries, or these options, change.
set(choices ${PROJECT_BINARY_DIR}/choices.txt)
file(GENERATE OUTPUT ${choices} CONTENT "${cargo_arguments}\n${RUSHLIGHT_SYMBOLS}\n${RUSHLIGHT_SYMBOL_PREFIX}\n")

# ---- The shared library ----
set(outputs)
if(RUSHLIGHT_BUILD_SHARED)
  set(RUSHLIGHT_SHARED ${shared_folder}/${RUSHLIGHT_SHARED_NAME})
  set(shared_files ${RUSHLIGHT_SHARED})
  set(built ${cargo_output}/${cargo_shared})
  if(RUSHLIGHT_SYMBOLS STREQUAL stripped)
    set(finish COMMAND ${CMAKE_STRIP} -o ${RUSHLIGHT_SHARED} ${built})
  elseif(RUSHLIGHT_SYMBOLS STREQUAL apart)
    # Debuggers look for the file in this folder beside the library, by the name that the link gives.
    set(RUSHLIGHT_DEBUG_FILE ${shared_folder}/.debug/${RUSHLIGHT_SHARED_NAME}.debug)
    list(APPEND shared_files ${RUSHLIGHT_DEBUG_FILE})
    set(finish
      COMMAND ${CMAKE_COMMAND} -E make_directory ${shared_folder}/.debug
      COMMAND ${CMAKE_OBJCOPY} --only-keep-debug --compress-debug-sections ${built} ${RUSHLIGHT_DEBUG_FILE}
      COMMAND ${CMAKE_OBJCOPY} --strip-all --add-gnu-debuglink=${RUSHLIGHT_DEBUG_FILE} ${built} ${RUSHLIGHT_SHARED})
  else()
    set(finish COMMAND ${CMAKE_COMMAND} -E copy ${built} ${RUSHLIGHT_SHARED})
  endif()
  if(WIN32)
    list(APPEND shared_files ${RUSHLIGHT_LINK_NAME})
    set(beside
      COMMAND ${CMAKE_COMMAND} -E make_directory ${library_folder}
      COMMAND ${CMAKE_COMMAND} -E copy ${cargo_output}/librushlight.dll.a ${RUSHLIGHT_LINK_NAME}
      COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/core/cuda/ptx ${shared_folder}/rushlight-kernels)
  else()
    set(beside
      COMMAND ${CMAKE_COMMAND} -E create_symlink ${RUSHLIGHT_SHARED_NAME} ${library_folder}/${RUSHLIGHT_LINK_NAME}
      COMMAND ${CMAKE_COMMAND} -E create_symlink ${RUSHLIGHT_LINK_NAME} ${library_folder}/librushlight.so
      COMMAND ${CMAKE_COMMAND} -E create_symlink ${PROJECT_SOURCE_DIR}/core/cuda/ptx ${library_folder}/rushlight-kernels)
  endif()
  add_custom_command(OUTPUT ${shared_files}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${shared_folder}
    ${finish}
    ${beside}
    DEPENDS ${built} ${choices}
    COMMENT "${RUSHLIGHT_SHARED}"
    VERBATIM)
  list(APPEND outputs ${shared_files})
endif()

# ---- The static library ----
if(RUSHLIGHT_BUILD_STATIC)
  set(RUSHLIGHT_STATIC ${library_folder}/librushlight.a)
  set(static_files ${RUSHLIGHT_STATIC})
  if(RUSHLIGHT_SYMBOL_PREFIX)
    set(RUSHLIGHT_PREFIX_HEADER ${library_folder}/rushlight/prefix.h)
    list(APPEND static_files ${RUSHLIGHT_PREFIX_HEADER})
  endif()
  set(merge ${PROJECT_SOURCE_DIR}/capi/static/merge.sh)
  if(WIN32)
    set(merge ${PROJECT_SOURCE_DIR}/cmake/windows/archive.sh)
  endif()
  add_custom_command(OUTPUT ${static_files}
    COMMAND ${CMAKE_COMMAND} -E env LD=${CMAKE_LINKER} OBJCOPY=${CMAKE_OBJCOPY} READELF=${CMAKE_READELF} AR=${CMAKE_AR}
            KEEP_DEBUG_INFO=$<STREQUAL:${RUSHLIGHT_SYMBOLS},inside>
            ${merge} ${RUSHLIGHT_CARGO_ARCHIVE} ${library_folder} ${RUSHLIGHT_SYMBOL_PREFIX}
    DEPENDS ${RUSHLIGHT_CARGO_ARCHIVE} ${merge} ${choices}
    COMMENT "${RUSHLIGHT_STATIC}"
    VERBATIM)
  list(APPEND outputs ${static_files})
endif()

# ---- The tool ----
if(RUSHLIGHT_BUILD_TOOL)
  set(RUSHLIGHT_TOOL ${PROJECT_BINARY_DIR}/bin/rushlight${CMAKE_EXECUTABLE_SUFFIX})
  set(finish ${CMAKE_COMMAND} -E copy ${cargo_tool} ${RUSHLIGHT_TOOL})
  if(RUSHLIGHT_SYMBOLS MATCHES "stripped|apart")
    set(finish ${CMAKE_STRIP} -o ${RUSHLIGHT_TOOL} ${cargo_tool})
  endif()
  add_custom_command(OUTPUT ${RUSHLIGHT_TOOL}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/bin
    COMMAND ${finish}
    DEPENDS ${cargo_tool} ${choices}
    COMMENT "${RUSHLIGHT_TOOL}"
    VERBATIM)
  list(APPEND outputs ${RUSHLIGHT_TOOL})
endif()

set(all)
if(RUSHLIGHT_IS_TOP_LEVEL)
  set(all ALL)
endif()
add_custom_target(rushlight_libraries ${all} DEPENDS ${outputs})
add_dependencies(rushlight_libraries rushlight_cargo)
