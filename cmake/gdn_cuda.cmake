# SPDX-License-Identifier: Apache-2.0
# nvcc compiles the kernels; the host's code is the host compiler's, with the static runtime, so that
# the program starts on a machine without a driver.
set(GDN_CUDA_ARCHS "80;86;89;90;100;120" CACHE STRING
    "CUDA architectures, ascending: machine code of each that nvcc knows, and PTX of the last")

find_program(GDN_NVCC nvcc HINTS /usr/local/cuda/bin /opt/cuda/bin /usr/lib/nvidia-cuda-toolkit/bin)
if(NOT GDN_NVCC)
  message(FATAL_ERROR "nvcc of CUDA 12 or later is not on PATH nor in /usr/local/cuda/bin: "
                      "install the CUDA toolkit, or say where it is with -DGDN_NVCC=<path>")
endif()
file(REAL_PATH "${GDN_NVCC}" nvcc)
get_filename_component(cuda_root "${nvcc}" DIRECTORY)
get_filename_component(cuda_root "${cuda_root}" DIRECTORY)
file(GLOB cuda_targets "${cuda_root}/targets/*")
find_path(GDN_CUDA_HEADERS cuda_runtime_api.h HINTS "${cuda_root}/include" ${cuda_targets}
          PATH_SUFFIXES include REQUIRED)
find_library(GDN_CUDART cudart_static HINTS "${cuda_root}" ${cuda_targets}
             PATH_SUFFIXES lib64 lib REQUIRED)

execute_process(COMMAND "${GDN_NVCC}" --list-gpu-code OUTPUT_VARIABLE known RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${GDN_NVCC} --list-gpu-code fails: want CUDA 12 or later")
endif()
set(gdn_cuda_archs)
foreach(arch ${GDN_CUDA_ARCHS})
  if(known MATCHES "sm_${arch}\n")
    list(APPEND gdn_cuda_archs ${arch})
  else()
    message(STATUS "Without kernels for sm_${arch}, which ${GDN_NVCC} does not know")
  endif()
endforeach()
if(NOT gdn_cuda_archs)
  message(FATAL_ERROR "${GDN_NVCC} knows none of GDN_CUDA_ARCHS, ${GDN_CUDA_ARCHS}")
endif()

# Rounding is part of the contract, as on the host: products and sums are fused by name alone.
set(gdn_nvcc_flags -std=c++20 -O3 --fmad=false --expt-relaxed-constexpr -Xcompiler=-fPIC)
foreach(arch ${gdn_cuda_archs})
  list(APPEND gdn_nvcc_flags "-gencode=arch=compute_${arch},code=sm_${arch}")
endforeach()
list(GET gdn_cuda_archs -1 newest)
list(APPEND gdn_nvcc_flags "-gencode=arch=compute_${newest},code=compute_${newest}")

set(gdn_nvcc_command "${GDN_NVCC}")
if(GDN_CCACHE)
  list(PREPEND gdn_nvcc_command ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# gdn_add_cuda_object(target source name)
function(gdn_add_cuda_object target source name)
  set(object "${CMAKE_CURRENT_BINARY_DIR}/gpu/${name}_cuda.o")
  add_custom_command(
    OUTPUT "${object}"
    COMMAND ${gdn_nvcc_command} ${gdn_nvcc_flags} -I "${PROJECT_SOURCE_DIR}/src"
            -MD -MF "${object}.d" -c "${source}" -o "${object}"
    DEPENDS "${source}"
    DEPFILE "${object}.d"
    COMMENT "Compiling CUDA kernels ${name}"
    VERBATIM)
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_sources(${target} PRIVATE "${object}")
endfunction()

function(gdn_add_cuda_runtime target)
  string(REPLACE ";" "," archs "${gdn_cuda_archs}")
  gdn_vendor_source(gpu/cuda/cuda_runtime.cc "${GDN_CUDA_HEADERS}" "-DGDN_CUDA_ARCHS=${archs}")
  target_link_libraries(${target} PUBLIC "${GDN_CUDART}" ${CMAKE_DL_LIBS} rt Threads::Threads)
endfunction()
