# Builds librushlight with cargo and puts it into <build>/lib: the shared library with the links that its soname asks for, the
# static one as a single object that exports the C interface only.

find_program(CARGO cargo HINTS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
set(RUSHLIGHT_CARGO_FLAGS "" CACHE STRING "More flags for cargo, as --no-default-features --features op-pointwise")

set(RUSHLIGHT_SYMBOL_PREFIX "" CACHE STRING "Goes before each name that the static library exports")

# Sets RUSHLIGHT_SHARED, RUSHLIGHT_STATIC, RUSHLIGHT_SONAME, RUSHLIGHT_CARGO_ARCHIVE (the static library as cargo makes it) and makes the target rushlight_cargo.
function(rushlight_cargo_build)
  if(NOT CARGO)
    message(FATAL_ERROR "cargo is needed to build Rushlight (https://rustup.rs)")
  endif()
  if(DEFINED ENV{CARGO_TARGET_DIR})
    set(target "$ENV{CARGO_TARGET_DIR}")
  else()
    set(target "${PROJECT_SOURCE_DIR}/target")
  endif()
  set(lib ${CMAKE_BINARY_DIR}/lib)
  set(full librushlight.so.${PROJECT_VERSION})
  set(soname librushlight.so.${PROJECT_VERSION_MAJOR})
  separate_arguments(flags UNIX_COMMAND "${RUSHLIGHT_CARGO_FLAGS}")
  add_custom_target(rushlight_cargo ALL
    COMMAND ${CMAKE_COMMAND} -E env CARGO_TARGET_DIR=${target} ${CARGO} build -q --release --locked -p rushlight-capi ${flags}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${lib}
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${target}/release/librushlight.so ${lib}/${full}
    COMMAND ${CMAKE_COMMAND} -E create_symlink ${full} ${lib}/${soname}
    COMMAND ${CMAKE_COMMAND} -E create_symlink ${soname} ${lib}/librushlight.so
    COMMAND ${PROJECT_SOURCE_DIR}/capi/static/merge.sh ${target}/release/librushlight.a ${lib} ${RUSHLIGHT_SYMBOL_PREFIX}
    BYPRODUCTS ${lib}/${full} ${lib}/librushlight.a
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMENT "cargo build --release -p rushlight-capi"
    VERBATIM)
  set(RUSHLIGHT_SHARED ${lib}/${full} PARENT_SCOPE)
  set(RUSHLIGHT_STATIC ${lib}/librushlight.a PARENT_SCOPE)
  set(RUSHLIGHT_SONAME ${soname} PARENT_SCOPE)
  set(RUSHLIGHT_CARGO_ARCHIVE ${target}/release/librushlight.a PARENT_SCOPE)
endfunction()
