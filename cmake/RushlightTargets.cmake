# The CMake targets of Rushlight, for its own build and for the installed package.

# System libraries that the static library needs, for the CMake and pkg-config packages.
if(WIN32)
  set(RUSHLIGHT_SYSTEM_LIBRARIES ntdll userenv ws2_32)
else()
  set(RUSHLIGHT_SYSTEM_LIBRARIES pthread dl m)
endif()
# The archive is one object of many sections, of which a program needs a few: the linker removes unreferenced ones.
set(RUSHLIGHT_STATIC_LINK_OPTION --gc-sections)

# link_name is the soname, for Windows the import library.
function(rushlight_shared_target name library link_name headers)
  set(link_property IMPORTED_SONAME)
  if(WIN32)
    set(link_property IMPORTED_IMPLIB)
  endif()
  add_library(${name} SHARED IMPORTED)
  set_target_properties(${name} PROPERTIES
    IMPORTED_LOCATION "${library}"
    ${link_property} "${link_name}"
    INTERFACE_INCLUDE_DIRECTORIES "${headers}")
endfunction()

# prefix_header renames the functions for a library with a symbol prefix; "" without one.
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
