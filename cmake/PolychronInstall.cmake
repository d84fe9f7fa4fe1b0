# Install and export: find_package(polychron) gives polychron::polychron and polychron::onnx.
include(CMakePackageConfigHelpers)
install(TARGETS polychron polychron_onnx EXPORT polychron
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/polychron DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT polychron NAMESPACE polychron:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/polychron
  FILE polychron-targets.cmake)
file(WRITE ${PROJECT_BINARY_DIR}/polychron-config.cmake
  "include(\${CMAKE_CURRENT_LIST_DIR}/polychron-targets.cmake)\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/polychron-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/polychron-config.cmake
  ${PROJECT_BINARY_DIR}/polychron-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/polychron)
if(POLYCHRON_TOOLS)
  install(TARGETS polychron_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
