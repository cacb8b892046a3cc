# find_package(Rushlight [COMPONENTS shared static]): the targets Rushlight::shared and Rushlight::static, as far as they were
# installed, and Rushlight::rushlight, which is the one that was asked for. Where both were, or neither, it is the shared one if there is one.
cmake_policy(VERSION 3.16)

####### Expanded from @PACKAGE_INIT@ by configure_package_config_file() #######
####### Any changes to this file will be overwritten by the next CMake run ####
####### The input file was RushlightConfig.cmake.in                            ########

get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../../../../usr/local" ABSOLUTE)

macro(set_and_check _var _file)
  set(${_var} "${_file}")
  if(NOT EXISTS "${_file}")
    message(FATAL_ERROR "File or directory ${_file} referenced by variable ${_var} does not exist !")
  endif()
endmacro()

macro(check_required_components _NAME)
  foreach(comp ${${_NAME}_FIND_COMPONENTS})
    if(NOT ${_NAME}_${comp}_FOUND)
      if(${_NAME}_FIND_REQUIRED_${comp})
        set(${_NAME}_FOUND FALSE)
      endif()
    endif()
  endforeach()
endmacro()

####################################################################################

set_and_check(Rushlight_INCLUDE_DIR "${PACKAGE_PREFIX_DIR}/include")
set_and_check(Rushlight_LIBRARY_DIR "/work/wt-dist/lib/x86_64-linux-gnu")
set(Rushlight_FEATURES "full")
set(Rushlight_SYMBOL_PREFIX "")
set(Rushlight_shared_FILE "${Rushlight_LIBRARY_DIR}/librushlight.so.0.1.0")
set(Rushlight_static_FILE "${Rushlight_LIBRARY_DIR}/librushlight.a")
set(Rushlight_PREFIX_HEADER "")
if(Rushlight_SYMBOL_PREFIX)
  set(Rushlight_PREFIX_HEADER "${Rushlight_INCLUDE_DIR}/rushlight/prefix.h")
endif()
include("${CMAKE_CURRENT_LIST_DIR}/RushlightTargets.cmake")

macro(_rushlight_target name component)
  if(TARGET ${name})
  elseif("${component}" STREQUAL static)
    rushlight_static_target(${name} "${Rushlight_static_FILE}" "${Rushlight_PREFIX_HEADER}" "${Rushlight_INCLUDE_DIR}")
  else()
    rushlight_shared_target(${name} "${Rushlight_shared_FILE}" "librushlight.so.0" "${Rushlight_INCLUDE_DIR}")
  endif()
endmacro()

# The last component that is there decides what Rushlight::rushlight is.
set(_rushlight_choice "")
foreach(component static shared)
  set(Rushlight_${component}_FOUND FALSE)
  if(EXISTS "${Rushlight_${component}_FILE}")
    set(Rushlight_${component}_FOUND TRUE)
    _rushlight_target(Rushlight::${component} ${component})
    if(NOT Rushlight_FIND_COMPONENTS OR component IN_LIST Rushlight_FIND_COMPONENTS)
      set(_rushlight_choice ${component})
    endif()
  endif()
endforeach()

foreach(component ${Rushlight_FIND_COMPONENTS})
  if(NOT component MATCHES "^(shared|static)$")
    set(_rushlight_reason "Rushlight has the components shared and static, not ${component}.")
  elseif(NOT Rushlight_${component}_FOUND)
    set(_rushlight_reason "The component ${component} of Rushlight was not installed: there is no ${Rushlight_${component}_FILE}.")
  else()
    continue()
  endif()
  if(Rushlight_FIND_REQUIRED_${component})
    set(Rushlight_FOUND FALSE)
    set(Rushlight_NOT_FOUND_MESSAGE "${_rushlight_reason}")
  endif()
endforeach()

if(_rushlight_choice)
  _rushlight_target(Rushlight::rushlight ${_rushlight_choice})
elseif(NOT Rushlight_FIND_COMPONENTS)
  set(Rushlight_FOUND FALSE)
  set(Rushlight_NOT_FOUND_MESSAGE "Neither ${Rushlight_shared_FILE} nor ${Rushlight_static_FILE} is there.")
endif()
