# Every requested version of libtorch is accepted: compatibility depends on the API that a program uses, not on the number. Without a
# requested version, the result is the release whose C++ API this library implements (torch/version.h).
set(PACKAGE_VERSION "2.7.1")
if(PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION "${PACKAGE_FIND_VERSION}")
endif()
set(PACKAGE_VERSION_COMPATIBLE TRUE)
set(PACKAGE_VERSION_EXACT TRUE)
