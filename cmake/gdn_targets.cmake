# SPDX-License-Identifier: Apache-2.0
# One static library a layer, and its tests and fuzz targets beside the sources.
#
# A file's name says what it is: x_test.cc a test (label fast), x_slow_test.cc a slow one,
# x_fuzz.cc a fuzz target, everything else part of the library.

# gdn_add_layer(name DEPS <targets>): library gdn_<name> from the .cc files below this folder.
function(gdn_add_layer name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" *.cc)
  if(NOT GDN_VULKAN)
    list(FILTER sources EXCLUDE REGEX "(^|/)vulkan/|_vulkan(_test)?\\.cc$")
  endif()
  if(NOT GDN_GPU)
    list(FILTER sources EXCLUDE REGEX "(^|/)gpu/|_gpu(_test)?\\.cc$")
  endif()
  if(NOT GDN_CUDA)
    list(FILTER sources EXCLUDE REGEX "(^|/)cuda/")
  endif()
  if(NOT GDN_ROCM)
    list(FILTER sources EXCLUDE REGEX "(^|/)hip/")
  endif()
  gdn_set_vendor_macros(${sources})
  set(library_sources ${sources})
  list(FILTER library_sources EXCLUDE REGEX "_(test|fuzz)\\.cc$|(^|/)main\\.cc$")
  set(scope PUBLIC)
  if(library_sources)
    add_library(gdn_${name} STATIC ${library_sources})
  else()  # headers alone
    set(scope INTERFACE)
    add_library(gdn_${name} INTERFACE)
  endif()
  target_include_directories(gdn_${name} ${scope} "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(gdn_${name} ${scope} ${ARG_DEPS})
  if(GDN_TESTS)
    set(tests ${sources})
    list(FILTER tests INCLUDE REGEX "_test\\.cc$")
    foreach(test ${tests})
      gdn_add_test(${test} gdn_${name})
    endforeach()
    set(fuzzers ${sources})
    list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
    foreach(fuzzer ${fuzzers})
      gdn_add_fuzzer(${fuzzer} gdn_${name})
    endforeach()
  endif()
endfunction()

function(gdn_add_test source)
  get_filename_component(target ${source} NAME_WE)
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE ${ARGN} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE GDN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set(label fast)
  if(target MATCHES "_slow_test$")
    set(label slow)
  endif()
  if(GDN_SANITIZE MATCHES "thread" AND target MATCHES "_gpu_test$")
    return()  # ThreadSanitizer loses track of the emulation's fibers
  endif()
  if(target MATCHES "_vulkan_test$")
    gdn_add_vulkan_test(${target} ${source})
  elseif(target MATCHES "_gpu_test$" AND CMAKE_CURRENT_SOURCE_DIR MATCHES "/src/ops$|/src/parity$|/tests$")
    gdn_add_emulated_test(${target} ${source})
  else()
    gtest_discover_tests(${target} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS ${label} TIMEOUT 900)
  endif()
endfunction()

# A program is one test, since each would open the driver and compile its shaders anew, unless it may
# skip some, which has to be seen. Lavapipe's vectors are its subgroups, 8 lanes on most machines; the
# slow tests, of operators and golden cases, have 4 and 16.
function(gdn_add_vulkan_test target source)
  if(GDN_SANITIZE MATCHES "thread")
    return()  # the driver's own threads are not instrumented
  endif()
  set(environment "${GDN_VULKAN_TEST_ENVIRONMENT}")
  if(GDN_SANITIZE)
    list(APPEND environment "ASAN_OPTIONS=detect_leaks=0")  # of the driver
  endif()
  gdn_may_skip(skips ${source})
  set(suffixes "")
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "/src/(ops|parity)$")
    set(suffixes .width128 .width512)
  endif()
  foreach(suffix "" ${suffixes})
    set(label slow)
    string(REPLACE .width "LP_NATIVE_VECTOR_WIDTH=" width "${suffix}")
    if(NOT suffix)
      set(label fast)
    endif()
    set(variables "${environment};${width}")
    if(skips)
      string(REPLACE ";" "\\;" variables "${variables}")
      gtest_discover_tests(${target} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
        TEST_SUFFIX "${suffix}" TEST_LIST "${target}${suffix}"
        PROPERTIES LABELS ${label} TIMEOUT 900 ENVIRONMENT "${variables}")
    else()
      add_test(NAME ${target}${suffix} COMMAND ${target})
      set_tests_properties(${target}${suffix} PROPERTIES
        LABELS ${label} TIMEOUT 900 ENVIRONMENT "${variables}")
    endif()
  endforeach()
endfunction()

# Whether a test of a device, or the header with its cases, has any that may be skipped.
function(gdn_may_skip result source)
  file(STRINGS ${source} skips REGEX GTEST_SKIP)
  string(REGEX REPLACE "_(vulkan|gpu)_test\\.cc$" "_device_testing.h" header ${source})
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${header}")
    file(STRINGS ${header} more REGEX GTEST_SKIP)
  endif()
  set(${result} "${skips}${more}" PARENT_SCOPE)
endfunction()

# GPU kernels on each kind of emulation (src/ops/common/testing/gpu_testing.h). A program is one test,
# as of Vulkan.
function(gdn_add_emulated_test target source)
  gdn_may_skip(skips ${source})
  foreach(kind "32" "64 reversed" "32 shuffled" "64")
    string(REPLACE " " "_" suffix ".emu${kind}")
    set(label slow)
    if(kind MATCHES "^(32|64 reversed)$")
      set(label fast)
    endif()
    set(properties LABELS ${label} TIMEOUT 900 ENVIRONMENT "GDN_TEST_EMU=${kind}")
    if(skips)
      gtest_discover_tests(${target} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
        TEST_SUFFIX "${suffix}" TEST_LIST "${target}${suffix}" PROPERTIES ${properties})
    else()
      add_test(NAME ${target}${suffix} COMMAND ${target})
      set_tests_properties(${target}${suffix} PROPERTIES ${properties})
    endif()
  endforeach()
endfunction()

if(GDN_FUZZ)
  add_custom_target(gdn_fuzzers)  # all of them
endif()

# With GDN_FUZZ a libFuzzer binary that runs for a short while (label slow); without, a replay of
# the seeds in tests/fuzz/<target>/ (label fast), so that every build sees them.
function(gdn_add_fuzzer source)
  get_filename_component(target ${source} NAME_WE)
  set(seeds "${PROJECT_SOURCE_DIR}/tests/fuzz/${target}")
  if(GDN_FUZZ)
    add_executable(${target} ${source})
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    set(corpus "${CMAKE_CURRENT_BINARY_DIR}/${target}_corpus")
    file(MAKE_DIRECTORY "${corpus}")
    add_test(NAME fuzz.${target} COMMAND ${target} -max_total_time=30 -rss_limit_mb=2048 -timeout=25
                                         "${corpus}" "${seeds}")
    set_tests_properties(fuzz.${target} PROPERTIES LABELS slow)
    add_dependencies(gdn_fuzzers ${target})
  else()
    add_executable(${target} ${source} "${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc")
    add_test(NAME fuzz_replay.${target} COMMAND ${target} "${seeds}")
    set_tests_properties(fuzz_replay.${target} PROPERTIES LABELS fast)
  endif()
  target_link_libraries(${target} PRIVATE ${ARGN})
endfunction()
