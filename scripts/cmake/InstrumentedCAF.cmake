# ThreadSanitizer must see every lock and atomic, CAF's too. This compiles CAF's core with the project's
# sanitizers from the sources of Debian's package, which `setup.sh tsan` unpacks. CAF::core then names it
# instead of Debian's binary. The headers stay the installed ones: same version.
set(caf_source ${PROJECT_SOURCE_DIR}/downloads/caf)
if(NOT EXISTS ${caf_source}/libcaf_core/src)
  message(FATAL_ERROR "CAF's sources are not there: sh scripts/setup.sh tsan")
endif()
file(STRINGS ${caf_source}/libcaf_core/caf/config.hpp caf_source_version
  REGEX "#define CAF_VERSION [0-9]+")
file(STRINGS ${CAF_INCLUDE_DIR}/caf/config.hpp caf_header_version REGEX "#define CAF_VERSION [0-9]+")
if(NOT caf_source_version STREQUAL caf_header_version)
  message(FATAL_ERROR "downloads/caf is not of the installed CAF's version: remove it and run "
    "sh scripts/setup.sh tsan")
endif()

file(GLOB_RECURSE sources ${caf_source}/libcaf_core/src/*.cpp)
add_library(caf_core SHARED ${sources})
target_include_directories(caf_core PRIVATE ${CAF_INCLUDE_DIR})
target_link_libraries(caf_core PRIVATE Threads::Threads)
# As Debian compiles it, except for the sanitizer. Debian's patch for newer compilers adds <limits>.
set_target_properties(caf_core PROPERTIES CXX_STANDARD 14)
target_compile_options(caf_core PRIVATE -w -include limits -fsanitize=${POLYCHRON_SANITIZE}
  -fno-omit-frame-pointer)
target_link_options(caf_core PRIVATE -fsanitize=${POLYCHRON_SANITIZE})
# Headers that every file includes take most of the time, so several files are compiled at once.
set_target_properties(caf_core PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 40)

set_target_properties(CAF::core PROPERTIES
  IMPORTED_LOCATION ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libcaf_core.so)
add_dependencies(CAF::core caf_core)
