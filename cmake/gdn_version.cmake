# SPDX-License-Identifier: Apache-2.0
# Library gdn_version: the texts of src/base/version.h. The commit is looked up in every build, and
# the source only written when it changed, so that a new commit recompiles one small file.
set(GDN_BACKENDS "cpu")
if(GDN_VULKAN)
  string(APPEND GDN_BACKENDS ", vulkan")
endif()
if(GDN_CUDA)
  string(APPEND GDN_BACKENDS ", cuda")
endif()
if(GDN_ROCM)
  string(APPEND GDN_BACKENDS ", rocm")
endif()
set(gdn_version_source "${PROJECT_BINARY_DIR}/generated/version.cc")
find_package(Git QUIET)

add_custom_target(gdn_commit
  COMMAND "${CMAKE_COMMAND}"
          "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${gdn_version_source}"
          "-DVERSION=${PROJECT_VERSION}" "-DBACKENDS=${GDN_BACKENDS}" "-DGIT=${GIT_EXECUTABLE}"
          -P "${CMAKE_CURRENT_LIST_DIR}/write_version.cmake"
  BYPRODUCTS "${gdn_version_source}"
  COMMENT "Looking up the commit"
  VERBATIM)

add_library(gdn_version STATIC "${gdn_version_source}")
add_dependencies(gdn_version gdn_commit)
target_include_directories(gdn_version PRIVATE "${PROJECT_SOURCE_DIR}/src")
