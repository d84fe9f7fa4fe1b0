# Debian packages: cpack makes them of what PolychronInstall installs, a component each. scripts/package.sh
# is the way to call it; tests/package looks into them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME polychron)
set(CPACK_PACKAGE_CONTACT "The Polychron developers <polychron@example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL library development)
if(POLYCHRON_TOOLS)
  list(APPEND CPACK_COMPONENTS_ALL tools)
endif()
set(CPACK_STRIP_FILES ON)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # what is built is packed
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # what is linked to is depended on, in the versions that are here
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})

# polychron_package(COMPONENT NAME SECTION DESCRIPTION [DEPENDS])
function(polychron_package component name section description)
  string(TOUPPER ${component} upper)
  foreach(setting "PACKAGE_NAME;${name}" "PACKAGE_SECTION;${section}" "PACKAGE_DEPENDS;${ARGN}")
    list(POP_FRONT setting key)
    set(CPACK_DEBIAN_${upper}_${key} "${setting}" PARENT_SCOPE)
  endforeach()
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}" PARENT_SCOPE)
endfunction()
set(same_version "libpolychron0 (= ${PROJECT_VERSION})")
polychron_package(library libpolychron0 libs "WebNN for server processes: the shared libraries")
polychron_package(development libpolychron-dev libdevel
  "WebNN for server processes: headers, CMake and pkg-config files" "${same_version}")
polychron_package(tools polychron utils
  "WebNN for server processes: the command polychron" "${same_version}")
include(CPack)
