# What `make install` and `cmake --install` lay out.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY cpp-frontend/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(PROGRAMS ${RUSHLIGHT_SHARED} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_BINARY_DIR}/lib/${RUSHLIGHT_SONAME} ${CMAKE_BINARY_DIR}/lib/librushlight.so ${RUSHLIGHT_STATIC}
  DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES bindings/schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/rushlight)
install(FILES LICENSE-MIT LICENSE-APACHE THIRD_PARTY_NOTICES.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(packages ${CMAKE_BINARY_DIR}/packages)
set(RUSHLIGHT_FULL_NAME librushlight.so.${PROJECT_VERSION})
configure_package_config_file(cmake/RushlightConfig.cmake.in ${packages}/RushlightConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Rushlight
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${packages}/RushlightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/rushlight.pc.in ${packages}/rushlight.pc @ONLY)

install(FILES ${packages}/RushlightConfig.cmake ${packages}/RushlightConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Rushlight)
install(FILES cmake/TorchConfig.cmake cmake/TorchConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Torch)
install(FILES cmake/share/TorchConfig.cmake cmake/TorchConfigVersion.cmake DESTINATION share/cmake/Torch)
install(FILES ${packages}/rushlight.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
