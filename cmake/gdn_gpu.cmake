# SPDX-License-Identifier: Apache-2.0
# The GPU kernels, *_gpu.cu: one source for nvcc, hipcc and the host's compiler.

if((GDN_CUDA OR GDN_ROCM) AND NOT GDN_GPU)
  message(FATAL_ERROR "GDN_CUDA and GDN_ROCM want GDN_GPU=ON")
endif()

# gdn_vendor_source(source headers options...): the one source that sees a vendor's headers. Where they
# are the system's own, naming the folder would change the order of the compiler's.
function(gdn_vendor_source source headers)
  set(options ${ARGN})
  if(NOT headers STREQUAL "/usr/include")
    list(PREPEND options -isystem "${headers}")
  endif()
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${options}")
endfunction()

if(GDN_CUDA)
  include(gdn_cuda)
endif()
if(GDN_ROCM)
  include(gdn_rocm)
endif()

# Of the host's sources only those below know which vendors there are, so that a build for one has
# the objects of every other build for the rest.
function(gdn_set_vendor_macros)
  set(macros)
  foreach(vendor CUDA ROCM)
    if(GDN_${vendor})
      list(APPEND macros "-DGDN_IF_${vendor}(...)=__VA_ARGS__")
    else()
      list(APPEND macros "-DGDN_IF_${vendor}(...)=")
    endif()
  endforeach()
  foreach(source ${ARGN})
    if(source MATCHES "_gpu\\.cc$|_gpu_test\\.cc$")
      set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "${macros}")
    endif()
  endforeach()
endfunction()

# gdn_add_gpu_kernels(target): compiles every *_gpu.cu below this folder into target.
function(gdn_add_gpu_kernels target)
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" *_gpu.cu)
  foreach(kernel ${kernels})
    get_filename_component(name ${kernel} NAME_WE)
    foreach(warp 32 64)
      set(source "${CMAKE_CURRENT_BINARY_DIR}/gpu/${name}_emu${warp}.cc")
      file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"${CMAKE_CURRENT_SOURCE_DIR}/${kernel}\"\n")
      set_source_files_properties("${source}" PROPERTIES COMPILE_DEFINITIONS
        "GDN_GPU_WARP=${warp};GDN_GPU_NAMESPACE=gpu_emu${warp}")
      target_sources(${target} PRIVATE "${source}")
    endforeach()
    if(GDN_CUDA)
      gdn_add_cuda_object(${target} "${CMAKE_CURRENT_SOURCE_DIR}/${kernel}" ${name})
    endif()
    if(GDN_ROCM)
      gdn_add_rocm_object(${target} "${CMAKE_CURRENT_SOURCE_DIR}/${kernel}" ${name})
    endif()
  endforeach()
endfunction()

# gdn_add_gpu_runtimes(target): what launches them, below this folder's gpu/.
function(gdn_add_gpu_runtimes target)
  if(GDN_CUDA)
    gdn_add_cuda_runtime(${target})
  endif()
  if(GDN_ROCM)
    gdn_add_rocm_runtime(${target})
  endif()
endfunction()
