# The targets of Rushlight, as its own build and the installed package make them.

# What the static library asks of the system: CMake's package and pkg-config's say it.
set(RUSHLIGHT_SYSTEM_LIBRARIES pthread dl m)
# The archive is one object of many sections, and a program needs a few of them: the linker leaves out what nothing refers to.
set(RUSHLIGHT_STATIC_LINK_OPTION --gc-sections)

function(rushlight_shared_target name library soname headers)
  add_library(${name} SHARED IMPORTED)
  set_target_properties(${name} PROPERTIES
    IMPORTED_LOCATION "${library}"
    IMPORTED_SONAME "${soname}"
    INTERFACE_INCLUDE_DIRECTORIES "${headers}")
endfunction()

# prefix_header renames the functions for a library whose names have a prefix; "" where they have none.
function(rushlight_static_target name library prefix_header headers)
  add_library(${name} STATIC IMPORTED)
  set_target_properties(${name} PROPERTIES
    IMPORTED_LOCATION "${library}"
    INTERFACE_LINK_LIBRARIES "${RUSHLIGHT_SYSTEM_LIBRARIES}"
    INTERFACE_LINK_OPTIONS "LINKER:${RUSHLIGHT_STATIC_LINK_OPTION}"
    INTERFACE_INCLUDE_DIRECTORIES "${headers}")
  if(prefix_header)
    set_target_properties(${name} PROPERTIES INTERFACE_COMPILE_OPTIONS "SHELL:-include \"${prefix_header}\"")
  endif()
endfunction()
