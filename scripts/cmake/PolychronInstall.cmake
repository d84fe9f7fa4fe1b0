# Install and export: find_package(polychron) gives polychron::polychron, polychron::onnx,
# polychron::text and polychron::stress, as add_subdirectory() does by aliases. The libraries inside (CAF, oneDNN, Eigen,
# protobuf) stay hidden: a consumer needs none of their headers, and finds their shared libraries as the
# system does. tests/package tries it.
include(CMakePackageConfigHelpers)
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/polychron)

# Installed libraries and programs find each other under any prefix.
set_target_properties(polychron polychron_onnx polychron_text polychron_simulation PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS polychron polychron_onnx polychron_text polychron_simulation EXPORT polychron
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY include/polychron DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.hpp")
install(EXPORT polychron NAMESPACE polychron:: DESTINATION ${package_directory}
  FILE polychron-targets.cmake COMPONENT development)

configure_package_config_file(scripts/cmake/polychron-config.cmake.in
  ${PROJECT_BINARY_DIR}/polychron-config.cmake INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/polychron-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/polychron-config.cmake
  ${PROJECT_BINARY_DIR}/polychron-config-version.cmake scripts/cmake/FindCAF.cmake
  DESTINATION ${package_directory} COMPONENT development)

# For builds without CMake: pkg-config --cflags --libs polychron, polychron-onnx, polychron-text,
# polychron-stress.
function(polychron_pkg_config name library description)
  set(POLYCHRON_PC_NAME ${name})
  set(POLYCHRON_PC_LIBRARY ${library})
  set(POLYCHRON_PC_DESCRIPTION ${description})
  set(POLYCHRON_PC_REQUIRES ${ARGN})
  file(RELATIVE_PATH POLYCHRON_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
    ${CMAKE_INSTALL_PREFIX})
  configure_file(scripts/cmake/polychron.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT development)
endfunction()
polychron_pkg_config(polychron polychron ${PROJECT_DESCRIPTION})
polychron_pkg_config(polychron-onnx polychron_onnx "ONNX models as graphs of Polychron" polychron)
polychron_pkg_config(polychron-text polychron_text "Language models on Polychron" polychron)
polychron_pkg_config(polychron-stress polychron_simulation
  "Schedules of programs that embed Polychron" polychron)

if(POLYCHRON_TOOLS)
  file(RELATIVE_PATH libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(polychron_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
  install(TARGETS polychron_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endif()
