# SPDX-License-Identifier: Apache-2.0
# Flags of every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# The kernels are vectorised by hand: -O3 brings them nothing and costs a third of the build time.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(GDN_CCACHE ccache)
if(GDN_CCACHE)
  # Relative paths in the key, so that another clone of the same sources finds its objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
                                  CCACHE_NOHASHDIR=1 "${GDN_CCACHE}")
endif()

# Rounding is part of the contract: an fma is one only where the source names it.
add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
                    -Wno-missing-field-initializers -Werror
                    -ffp-contract=off -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-restrict)  # false on std::string operator+ in GCC 12 (GCC bug 105651)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_compile_options(-march=x86-64-v2)
endif()

# Three x86 targets are enough (SSE4, AVX2, AVX-512); the kernels use no AES or carry-less product.
add_compile_definitions(HWY_DISABLE_PCLMUL_AES)

if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  # Highway's NEON asks for AES, which no kernel uses: in the baseline it is no attribute that
  # implicit constructors would lack. Kernels hold vectors in arrays, for which SVE's have no size.
  add_compile_options(-march=armv8-a+crypto)
  add_compile_definitions(HWY_DISABLED_TARGETS=HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)
endif()

# What of a source is for a backend that the build may leave out.
if(GDN_VULKAN)
  add_compile_options("-DGDN_IF_VULKAN(...)=__VA_ARGS__")
else()
  add_compile_options("-DGDN_IF_VULKAN(...)=")
endif()
if(GDN_GPU)
  add_compile_options("-DGDN_IF_GPU(...)=__VA_ARGS__")
else()
  add_compile_options("-DGDN_IF_GPU(...)=")
endif()

if(GDN_SANITIZE)
  # At -O2 -g the sanitized kernels take five times as long to compile as at -O1 -g1. Without NDEBUG
  # the GDN_DCHECKs are on too.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
  add_compile_options(-fsanitize=${GDN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # At every member access, and more than half of the compiler's time on the JSON and option headers.
  # AddressSanitizer stops at a null or freed object too.
  add_compile_options(-fno-sanitize=null,vptr)
  add_link_options(-fsanitize=${GDN_SANITIZE})
  # A third of the time of the kernels, for code that this machine could not run.
  file(STRINGS /proc/cpuinfo cpu REGEX "^flags.* avx512f " LIMIT_COUNT 1)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND NOT cpu)
    add_compile_definitions(HWY_DISABLED_TARGETS=HWY_AVX3)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False inside std::function and std::regex once GCC 12 has instrumented them; the release build
    # keeps the warning.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()

if(GDN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # coverage of the libraries too
  add_compile_definitions(HWY_COMPILE_ONLY_STATIC)  # kernels are linked, not fuzzed
endif()
