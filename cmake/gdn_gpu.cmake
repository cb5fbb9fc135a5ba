# SPDX-License-Identifier: Apache-2.0
# The GPU kernels, *_gpu.cu: one source for nvcc, hipcc and the host's compiler.

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
  endforeach()
endfunction()
