# SPDX-License-Identifier: Apache-2.0
# gdn_embed(target file...): text files below this folder as constants of the target,
# gdn::embedded::kIndexHtml for page/index.html. Made anew when a file changes.
function(gdn_embed target)
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME)
    string(REGEX MATCHALL "[A-Za-z0-9]+" words "${name}")
    set(constant "k")
    foreach(word ${words})
      string(SUBSTRING ${word} 0 1 first)
      string(SUBSTRING ${word} 1 -1 rest)
      string(TOUPPER ${first} first)
      string(APPEND constant "${first}${rest}")
    endforeach()
    set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded/${name}.cc")
    add_custom_command(
      OUTPUT "${output}"
      COMMAND "${CMAKE_COMMAND}" "-DINPUT=${CMAKE_CURRENT_SOURCE_DIR}/${file}" "-DOUTPUT=${output}"
              "-DCONSTANT=${constant}" -P "${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake"
      DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${file}" "${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake"
      COMMENT "Embedding ${file}"
      VERBATIM)
    target_sources(${target} PRIVATE "${output}")
  endforeach()
endfunction()
