# Debian packages: cpack makes them of the files that PolychronInstall installs, one for each component.
# scripts/package.sh calls it; tests/package checks them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME polychron)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "native runtime of the W3C WebNN API")
set(CPACK_PACKAGE_CONTACT "The Polychron developers <polychron@example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL library development)
if(POLYCHRON_TOOLS)
  list(APPEND CPACK_COMPONENTS_ALL tools)
endif()
set(CPACK_STRIP_FILES ON)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # the present build is packed
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # packages depend on the linked libraries, in the installed versions
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
# For programs that include <polychron/caf.hpp>.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS libcaf-dev)

# Debian expects the history of a package in this place and form.
set(changes ${PROJECT_BINARY_DIR}/changelog.gz)
configure_file(CHANGELOG.md ${PROJECT_BINARY_DIR}/CHANGELOG.md COPYONLY)  # configures anew when it changes
execute_process(COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md OUTPUT_FILE ${changes} COMMAND_ERROR_IS_FATAL ANY)

# polychron_package(COMPONENT NAME SECTION DESCRIPTION [DEPENDS])
function(polychron_package component name section description)
  string(TOUPPER ${component} upper)
  foreach(setting "PACKAGE_NAME;${name}" "PACKAGE_SECTION;${section}" "PACKAGE_DEPENDS;${ARGN}")
    list(POP_FRONT setting key)
    set(CPACK_DEBIAN_${upper}_${key} "${setting}" PARENT_SCOPE)
  endforeach()
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}" PARENT_SCOPE)
  install(FILES ${changes} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
endfunction()
set(same_version "libpolychron0 (= ${PROJECT_VERSION})")
polychron_package(library libpolychron0 libs "WebNN for server processes: the shared libraries")
polychron_package(development libpolychron-dev libdevel
  "WebNN for server processes: headers, CMake and pkg-config files" "${same_version}")
polychron_package(tools polychron utils
  "WebNN for server processes: the command polychron" "${same_version}")
# Packages that link to the libraries depend on this exact version, and the linker's cache is renewed.
foreach(target polychron polychron_onnx polychron_text polychron_simulation)
  string(APPEND shlibs "lib${target} 0 ${same_version}\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/debian/shlibs CONTENT "${shlibs}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/debian/triggers CONTENT "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
  ${PROJECT_BINARY_DIR}/debian/shlibs ${PROJECT_BINARY_DIR}/debian/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
