# SPDX-License-Identifier: Apache-2.0
# hipcc compiles the kernels; the host's code is the host compiler's. (CMake's HIP language does not
# work with Debian's packages.)
set(GDN_ROCM_ARCHS "gfx90a;gfx942;gfx1030;gfx1100" CACHE STRING
    "ROCm architectures: code of each that hipcc's compiler knows")

find_program(GDN_HIPCC hipcc HINTS /opt/rocm/bin)
if(NOT GDN_HIPCC)
  message(FATAL_ERROR "hipcc is not on PATH nor in /opt/rocm/bin: install it (Debian: hipcc "
                      "libamdhip64-dev rocm-device-libs), or say where it is with -DGDN_HIPCC=<path>")
endif()
find_path(GDN_HIP_HEADERS hip/hip_runtime_api.h HINTS /opt/rocm/include REQUIRED)
find_library(GDN_AMDHIP amdhip64 HINTS /opt/rocm/lib REQUIRED)

# What the compiler knows: an empty kernel tells, without the libraries, once for a build folder.
set(gdn_rocm_archs)
set(empty "${PROJECT_BINARY_DIR}/rocm/empty.hip")
file(CONFIGURE OUTPUT "${empty}" CONTENT "")
foreach(arch ${GDN_ROCM_ARCHS})
  if(NOT DEFINED GDN_HIPCC_KNOWS_${arch})
    execute_process(
      COMMAND "${GDN_HIPCC}" --offload-arch=${arch} -x hip -nogpulib -nogpuinc --cuda-device-only
              -fsyntax-only "${empty}"
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
      message(STATUS "Without kernels for ${arch}, which the compiler of ${GDN_HIPCC} does not know")
      set(GDN_HIPCC_KNOWS_${arch} OFF CACHE INTERNAL "")
    else()
      set(GDN_HIPCC_KNOWS_${arch} ON CACHE INTERNAL "")
    endif()
  endif()
  if(GDN_HIPCC_KNOWS_${arch})
    list(APPEND gdn_rocm_archs ${arch})
  endif()
endforeach()
if(NOT gdn_rocm_archs)
  message(FATAL_ERROR "the compiler of ${GDN_HIPCC} knows none of GDN_ROCM_ARCHS, ${GDN_ROCM_ARCHS}")
endif()

# Rounding is part of the contract, as on the host: products and sums are fused by name alone.
set(gdn_hipcc_flags -x hip -std=c++20 -O3 -ffp-contract=off -fPIC)
foreach(arch ${gdn_rocm_archs})
  list(APPEND gdn_hipcc_flags --offload-arch=${arch})
endforeach()

# Of what Debian's device libraries have for each architecture, some lack but the constant that says
# which it is. A folder of links to them takes it besides.
function(gdn_complete_device_libs)
  find_path(GDN_ROCM_DEVICE_LIBS ocml.bc
            HINTS "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}" /usr/lib/x86_64-linux-gnu /opt/rocm
            PATH_SUFFIXES amdgcn/bitcode)
  if(NOT GDN_ROCM_DEVICE_LIBS)
    return()  # hipcc knows where its own are
  endif()
  set(folder "${PROJECT_BINARY_DIR}/rocm/device_libs")
  set(is_complete TRUE)
  foreach(arch ${gdn_rocm_archs})
    string(REPLACE gfx "" number ${arch})
    set(library "oclc_isa_version_${number}.bc")
    if(EXISTS "${GDN_ROCM_DEVICE_LIBS}/${library}")
      continue()
    endif()
    set(is_complete FALSE)
    find_program(GDN_LLVM_AS NAMES llvm-as-15 llvm-as HINTS /opt/rocm/llvm/bin REQUIRED)
    # gfx90a: major 9, minor 0, stepping 10 in base 16: 9010.
    string(REGEX MATCH "^([0-9]+)([0-9a-f])([0-9a-f])$" parts ${number})
    math(EXPR version "${CMAKE_MATCH_1} * 1000 + 0x${CMAKE_MATCH_2} * 100 + 0x${CMAKE_MATCH_3}")
    set(text "${PROJECT_BINARY_DIR}/rocm/oclc_isa_version_${number}.ll")
    file(CONFIGURE OUTPUT "${text}" CONTENT
"target triple = \"amdgcn-amd-amdhsa\"
@__oclc_ISA_version = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i32 ${version}, align 4
")
    file(MAKE_DIRECTORY "${folder}")
    execute_process(COMMAND "${GDN_LLVM_AS}" "${text}" -o "${folder}/${library}"
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  if(is_complete)
    return()
  endif()
  file(GLOB libraries "${GDN_ROCM_DEVICE_LIBS}/*.bc")
  foreach(library ${libraries})
    get_filename_component(name "${library}" NAME)
    file(CREATE_LINK "${library}" "${folder}/${name}" SYMBOLIC)
  endforeach()
  list(APPEND gdn_hipcc_flags "--rocm-device-lib-path=${folder}")
  set(gdn_hipcc_flags "${gdn_hipcc_flags}" PARENT_SCOPE)
endfunction()
gdn_complete_device_libs()

# gdn_add_rocm_object(target source name)
function(gdn_add_rocm_object target source name)
  set(object "${CMAKE_CURRENT_BINARY_DIR}/gpu/${name}_rocm.o")
  add_custom_command(
    OUTPUT "${object}"
    COMMAND "${GDN_HIPCC}" ${gdn_hipcc_flags} -I "${PROJECT_SOURCE_DIR}/src"
            -MD -MF "${object}.d" -MT "${object}" -c "${source}" -o "${object}"
    DEPENDS "${source}"
    DEPFILE "${object}.d"
    COMMENT "Compiling ROCm kernels ${name}"
    VERBATIM)
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_sources(${target} PRIVATE "${object}")
endfunction()

function(gdn_add_rocm_runtime target)
  list(TRANSFORM gdn_rocm_archs REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE archs)
  string(REPLACE ";" "," archs "${archs}")
  gdn_vendor_source(gpu/hip/hip_runtime.cc "${GDN_HIP_HEADERS}"
                    -D__HIP_PLATFORM_AMD__ "-DGDN_ROCM_ARCHS=${archs}")
  target_link_libraries(${target} PUBLIC "${GDN_AMDHIP}")
endfunction()
