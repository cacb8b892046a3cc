# The release of libtorch whose C++ API this stands in for (torch/version.h). Programs that ask for another one get it too:
# what they use of the API decides, not the number.
set(PACKAGE_VERSION "2.6.0")
set(PACKAGE_VERSION_COMPATIBLE TRUE)
set(PACKAGE_VERSION_EXACT TRUE)
