# Programs that ask for any version of libtorch get it: what they use of the API decides, not the number. Without a wish the answer is
# the release whose C++ API this stands in for (torch/version.h).
set(PACKAGE_VERSION "2.6.0")
if(PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION "${PACKAGE_FIND_VERSION}")
endif()
set(PACKAGE_VERSION_COMPATIBLE TRUE)
set(PACKAGE_VERSION_EXACT TRUE)
