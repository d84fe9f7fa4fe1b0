# Warnings, sanitizers and ccache for every target, and polychron_objects(): a folder of the library.

# Within another project only our own targets have a build type of our choice.
if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
elseif(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers need all of SLOPPINESS: see "Precompiled headers" in ccache's manual. No BASEDIR:
  # another clone would get this clone's precompiled headers, which name this clone's files, and include its
  # own a second time. With COMMENTS, as a header that changed only in comments would get the precompiled header
  # of before, which the compiler then takes for another file, and includes both.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_COMMENTS=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

add_library(polychron_flags INTERFACE)
# g++ 12 warns wrongly of the lengths in std::string's own operator+ (GCC bug 105651 and similar ones), and of
# small vectors that are copied. It does not know that precompiled headers are the system's. The sanitizers
# check the same places.
set(doubts -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
# In a unity build g++ takes a neighbour's file-local names for global ones, and a source file for a header.
set(neighbours -Wno-shadow -Wno-subobject-linkage)
target_compile_options(polychron_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  "$<$<CXX_COMPILER_ID:GNU>:${doubts}>" "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${POLYCHRON_UNITY}>>:${neighbours}>" $<$<BOOL:${POLYCHRON_WERROR}>:-Werror>)
# g++ collects garbage from 128 MiB on. Later it takes a fifth more memory and a quarter less time.
target_compile_options(polychron_flags INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-expand=100;--param=ggc-min-heapsize=600000>)
if(POLYCHRON_SANITIZE)
  # -fno-sanitize=null: CAF 0.17.6 binds a null reference on each spawn of a function without arguments. vptr
  # needs type information that CAF's internals hide. object-size costs a fifth of Clang's time, and the address
  # sanitizer finds the same. With function Clang 14 does not compile coroutines. -Wmaybe-uninitialized does not know
  # the checks that sanitizers insert, and warns of them.
  target_compile_options(polychron_flags INTERFACE
    -fsanitize=${POLYCHRON_SANITIZE} -fno-sanitize=null,object-size,vptr -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
    $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  # Undefined behaviour of the tests themselves is not looked for: it takes up to a third of their compilation.
  target_compile_options(polychron_flags INTERFACE
    $<$<BOOL:$<TARGET_PROPERTY:IS_TEST>>:-fno-sanitize=undefined>)
  target_link_options(polychron_flags INTERFACE -fsanitize=${POLYCHRON_SANITIZE})
  # g++ has a macro that says so, Clang has none.
  if(POLYCHRON_SANITIZE MATCHES address)
    target_compile_definitions(polychron_flags INTERFACE $<$<CXX_COMPILER_ID:Clang>:__SANITIZE_ADDRESS__=1>)
  endif()
  # An element of an empty vector, or the value of an empty optional, may look like nothing to a sanitizer.
  target_compile_definitions(polychron_flags INTERFACE _GLIBCXX_ASSERTIONS)
endif()

# Only the library is slow under sanitizers. Everything else compiles in half the time without optimisation, and so do
# its parts of which little runs: those with the property UNOPTIMISED.
add_library(polychron_library_flags INTERFACE)
target_link_libraries(polychron_library_flags INTERFACE polychron_flags)
if(POLYCHRON_SANITIZE)
  target_compile_options(polychron_library_flags INTERFACE
    $<IF:$<BOOL:$<TARGET_PROPERTY:UNOPTIMISED>>,-O0,-O1>)
endif()

# libFuzzer has to see which branches are taken in the code that fuzz targets reach.
add_library(polychron_coverage INTERFACE)
if(POLYCHRON_FUZZ)
  target_compile_options(polychron_coverage INTERFACE -fsanitize=fuzzer-no-link)
endif()

# polychron_precompile(TARGET HEADER...): headers of the project that nearly every source of TARGET includes.
# A cold build is mostly parsing.
function(polychron_precompile target)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/)
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# polychron_objects(NAME [FOLDERS FOLDER...] [LIBRARIES ...] [PRECOMPILE HEADER...] [REUSE NAME]): compiles FOLDERS
# (NAME's if none are given) and their subfolders into the library polychron. LIBRARIES are seen by these folders only and
# linked privately. REUSE takes the precompiled headers of another set of objects with the same options.
function(polychron_objects name)
  cmake_parse_arguments(arg "" "REUSE" "FOLDERS;LIBRARIES;PRECOMPILE" ${ARGN})
  set(patterns ${arg_FOLDERS})
  if(NOT patterns)
    set(patterns ${name})
  endif()
  list(TRANSFORM patterns REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/*.cpp")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
  add_library(polychron_${name} OBJECT ${sources})
  target_include_directories(polychron_${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(polychron_${name} PRIVATE polychron_library_flags ${arg_LIBRARIES})
  if(arg_PRECOMPILE)
    polychron_precompile(polychron_${name} ${arg_PRECOMPILE})
  elseif(arg_REUSE)
    target_precompile_headers(polychron_${name} REUSE_FROM polychron_${arg_REUSE})
  endif()
  target_sources(polychron PRIVATE $<TARGET_OBJECTS:polychron_${name}>)
  target_link_libraries(polychron PRIVATE $<BUILD_INTERFACE:polychron_flags> ${arg_LIBRARIES}
    Threads::Threads)
endfunction()

# polychron_exports(LIBRARY): exports only the project's own symbols.
function(polychron_exports library)
  set(map ${PROJECT_SOURCE_DIR}/scripts/cmake/exports.map)
  target_link_options(${library} PRIVATE -Wl,--version-script=${map})
  set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()
