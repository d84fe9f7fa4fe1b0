# Installs the build tree into a prefix of its own, and there configures, builds and runs the project
# beside this file. Called by CTest: cmake -D BUILD=... -D WORK=... [-D FLAGS=...] -P check.cmake
function(run_step name)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${name} failed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# compile PROGRAM SOURCE PACKAGE: as a makefile would, with the flags of pkg-config.
function(compile program source package)
  run_step("pkg-config ${package}" ${CMAKE_COMMAND} -E env
    PKG_CONFIG_PATH=${WORK}/prefix/${LIBDIR}/pkgconfig pkg-config --cflags --libs ${package})
  separate_arguments(flags UNIX_COMMAND "${FLAGS} -Wl,-rpath,${WORK}/prefix/${LIBDIR} ${output}")
  run_step("compile ${program}" ${COMPILER} -std=c++20 ${source} -o ${WORK}/${program} ${flags})
endfunction()

file(REMOVE_RECURSE ${WORK})
run_step(install ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
# The prefix is moved: nothing in it may know where it was.
file(RENAME ${WORK}/first ${WORK}/prefix)
run_step(configure ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build -G Ninja
  -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_COMPILER=${COMPILER}
  -D CMAKE_CXX_FLAGS=${FLAGS} -D QUICKSTART=${SOURCE}/examples/quickstart/quickstart.cpp
  -D EARLY_ANNOUNCEMENT=${SOURCE}/examples/stress/early_announcement.cpp)
run_step(build ${CMAKE_COMMAND} --build ${WORK}/build)

foreach(expected "quickstart;3 6 9 12 " "static;0.25" "consumer;bad_data" "embedder;embedded")
  list(GET expected 0 program)
  list(GET expected 1 text)
  run_step(${program} ${WORK}/build/${program})
  if(NOT output STREQUAL text)
    message(FATAL_ERROR "${program} printed '${output}', expected '${text}'")
  endif()
endforeach()
run_step(early_announcement ${WORK}/build/early_announcement)
if(NOT output MATCHES "^found: server, .*token s.*: server, .*mended: nothing found\n$")
  message(FATAL_ERROR "early_announcement printed '${output}'")
endif()
compile(plain_quickstart ${SOURCE}/examples/quickstart/quickstart.cpp polychron)
run_step(plain_quickstart ${WORK}/plain_quickstart)
if(NOT output STREQUAL "3 6 9 12 ")
  message(FATAL_ERROR "plain_quickstart printed '${output}'")
endif()
compile(plain_consumer ${CMAKE_CURRENT_LIST_DIR}/main.cpp polychron-onnx)
run_step(plain_consumer ${WORK}/plain_consumer)
compile(plain_stress ${SOURCE}/examples/stress/early_announcement.cpp polychron-stress)

# Programs by another compiler, with the libraries by g++.
find_program(CLANG NAMES clang++-14 clang++)
if(CLANG AND NOT FLAGS)
  run_step("configure for Clang" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/clang -G Ninja
    -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_CXX_COMPILER=${CLANG}
    -D QUICKSTART=${SOURCE}/examples/quickstart/quickstart.cpp
    -D EARLY_ANNOUNCEMENT=${SOURCE}/examples/stress/early_announcement.cpp)
  run_step("build with Clang" ${CMAKE_COMMAND} --build ${WORK}/clang)
  run_step("quickstart of Clang" ${WORK}/clang/quickstart)
  if(NOT output STREQUAL "3 6 9 12 ")
    message(FATAL_ERROR "Clang's quickstart printed '${output}'")
  endif()
  run_step("consumer of Clang" ${WORK}/clang/consumer)
elseif(NOT FLAGS)
  message("There is no Clang: its programs were not tried")
endif()

# As Debian packages: their dependencies, and programs that find their needs in them.
if(NOT FLAGS)
  run_step(packages ${CPACK} --config ${BUILD}/CPackConfig.cmake -B ${WORK}/packages)
  file(GLOB packages ${WORK}/packages/*.deb)
  foreach(expected "libpolychron0;libcaf-core0.17" "libpolychron0;libdnnl[23]" "libpolychron0;libonnx1"
      "libpolychron-dev;libpolychron0 \\(= " "polychron;libpolychron0 \\(= "
      "polychron;libtcmalloc-minimal4")
    list(GET expected 0 name)
    list(GET expected 1 dependency)
    set(found ${packages})
    list(FILTER found INCLUDE REGEX "/${name}_[^/]*\\.deb$")
    list(LENGTH found count)
    if(NOT count EQUAL 1)
      message(FATAL_ERROR "not one package ${name}: ${packages}")
    endif()
    run_step("fields of ${name}" dpkg-deb --field ${found} Depends)
    if(NOT output MATCHES "${dependency}")
      message(FATAL_ERROR "${name} depends on '${output}', which has no ${dependency}")
    endif()
    run_step("unpack ${name}" dpkg-deb --extract ${found} ${WORK}/root)
  endforeach()
  run_step("configure against packages" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/packaged
    -G Ninja -D CMAKE_PREFIX_PATH=${WORK}/root/usr -D CMAKE_CXX_COMPILER=${COMPILER}
    -D QUICKSTART=${SOURCE}/examples/quickstart/quickstart.cpp
    -D EARLY_ANNOUNCEMENT=${SOURCE}/examples/stress/early_announcement.cpp)
  run_step("build against packages" ${CMAKE_COMMAND} --build ${WORK}/packaged --target quickstart)
  run_step("quickstart from packages" ${WORK}/packaged/quickstart)
  run_step("the packaged tool" ${WORK}/root/usr/bin/polychron --version)
endif()

# Within another project: configured only, since the library would be compiled once more.
run_step(within ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/within -B ${WORK}/within -G Ninja
  -D POLYCHRON=${SOURCE} -D CMAKE_CXX_COMPILER=${COMPILER})
file(STRINGS ${WORK}/within/CMakeCache.txt chosen REGEX "^CMAKE_BUILD_TYPE:[A-Z]+=.")
if(chosen)
  message(FATAL_ERROR "another project would be built otherwise than it says: ${chosen}")
endif()
run_step("what within would build" ${CMAKE_COMMAND} --build ${WORK}/within --target help)
foreach(other test_api polychron_tool bench_dispatch)
  if(output MATCHES "${other}: phony")
    message(FATAL_ERROR "another project would build ${other}")
  endif()
endforeach()
foreach(own polychron polychron_onnx polychron_text polychron_simulation)
  if(NOT output MATCHES "${own}: phony")
    message(FATAL_ERROR "another project would not build ${own}:\n${output}")
  endif()
endforeach()

if(EXISTS ${WORK}/prefix/bin/polychron)
  run_step("the installed tool" ${WORK}/prefix/bin/polychron --help)
endif()
file(REMOVE_RECURSE ${WORK})
