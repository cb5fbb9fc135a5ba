# SPDX-License-Identifier: Apache-2.0
# Vulkan shaders, compiled at build time and embedded.
if(GDN_VULKAN)
  find_program(GDN_GLSLC glslc REQUIRED)
  find_path(GDN_VULKAN_HEADERS vulkan/vulkan_core.h REQUIRED)
  # Tests run on Mesa's software driver where it is installed, whatever else there is, and under the
  # validation layer.
  file(GLOB lavapipe /usr/share/vulkan/icd.d/lvp_icd.*.json)
  set(GDN_VULKAN_TEST_ICD "${lavapipe}" CACHE STRING "Driver manifest that the tests use")
  set(GDN_VULKAN_TEST_ENVIRONMENT "VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation")
  if(GDN_VULKAN_TEST_ICD)
    list(APPEND GDN_VULKAN_TEST_ENVIRONMENT "VK_ICD_FILENAMES=${GDN_VULKAN_TEST_ICD}")
  endif()
endif()

# gdn_add_shaders(target): every <name>_vulkan.comp below this folder becomes the Shader of that
# name, compiled for each dtype. Shaders include what they share from src/.
function(gdn_add_shaders target)
  file(GLOB_RECURSE shaders CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" *.comp)
  foreach(shader ${shaders})
    get_filename_component(name ${shader} NAME_WE)
    set(base "${CMAKE_CURRENT_BINARY_DIR}/shaders/${name}")
    set(outputs)
    foreach(dtype 0 1 2)
      set(output "${base}_${dtype}.inc")
      add_custom_command(
        OUTPUT "${output}"
        COMMAND "${GDN_GLSLC}" --target-env=vulkan1.2 -O -Werror -mfmt=num -DDTYPE=${dtype}
                -I "${PROJECT_SOURCE_DIR}/src" -MD -MF "${output}.d" -o "${output}"
                "${CMAKE_CURRENT_SOURCE_DIR}/${shader}"
        DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${shader}"
        DEPFILE "${output}.d"
        COMMENT "Compiling shader ${shader} (dtype ${dtype})"
        VERBATIM)
      list(APPEND outputs "${output}")
    endforeach()
    set(GDN_SHADER_NAME ${name})
    configure_file("${PROJECT_SOURCE_DIR}/cmake/shader.cc.in" "${base}.cc" @ONLY)
    set_source_files_properties("${base}.cc" PROPERTIES OBJECT_DEPENDS "${outputs}")
    target_sources(${target} PRIVATE "${base}.cc" ${outputs})
  endforeach()
endfunction()
