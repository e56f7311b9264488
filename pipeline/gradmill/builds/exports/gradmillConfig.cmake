# find_package(gradmill): gradmill as a generator of sources for a target of yours.
#
#   gradmill_generate(TARGET <target> [SPECS <core, torch, or a path>] [RELEASE <X.Y.Z>]
#                     [FAMILIES <family>...] [LAYOUT split|upstream] [SHARDS <number>]
#                     [OPERATORS <file>] [GRAPHS <path>] [NAMESPACE <name>] [STRICT] [LINES] [PYTHON] [NO_TORCH])
#
# adds the generated sources to the target, and puts the folder of generated files before its other include folders. It
# links the target with PyTorch: the one that the project found, else that of find_package(Torch), which also looks in the
# environment of gradmill. With NO_TORCH the project adds headers and libraries itself.
# FAMILIES defaults to nodes, LAYOUT to split: an edit of a formula changes one source (docs/consumers.md). With LINES a
# compiler reports a formula by its file and line in the specs. PYTHON adds the Nodes' Python bindings. The function sets
# these variables in the scope of the caller, for includes of files that are not generated:
#
#   gradmill_TEMPLATES   the folders of the spec set's templates, which also hold its own headers
#   gradmill_GENERATED   the folder of the generated files
#   gradmill_MANIFEST    the manifest

cmake_minimum_required(VERSION 3.21...4.0)

find_program(GRADMILL_EXECUTABLE gradmill
  HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../bin" "${CMAKE_CURRENT_LIST_DIR}/../../../../../../bin"
  DOC "gradmill's command")
mark_as_advanced(GRADMILL_EXECUTABLE)
if(NOT GRADMILL_EXECUTABLE)
  set(gradmill_FOUND FALSE)
  set(gradmill_NOT_FOUND_MESSAGE "the command gradmill is not on the PATH; pass -DGRADMILL_EXECUTABLE=")
  return()
endif()

# Translates the arguments of gradmill_generate into the variables of gradmill's command line.
function(_gradmill_words result)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STRICT;LINES;PYTHON;NO_TORCH" "TARGET;SPECS;RELEASE;LAYOUT;SHARDS;OPERATORS;GRAPHS;NAMESPACE" "FAMILIES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gradmill_generate: '${arg_UNPARSED_ARGUMENTS}' is not expected")
  endif()
  if(NOT arg_FAMILIES)
    set(arg_FAMILIES nodes)
  endif()
  if(NOT arg_LAYOUT)
    set(arg_LAYOUT split)
  endif()
  if(NOT arg_SPECS)
    set(arg_SPECS core)
  elseif(NOT arg_SPECS MATCHES "^(core|torch)$")
    get_filename_component(arg_SPECS "${arg_SPECS}" ABSOLUTE)
  endif()
  foreach(name OPERATORS GRAPHS)
    if(arg_${name})
      get_filename_component(arg_${name} "${arg_${name}}" ABSOLUTE)
    endif()
  endforeach()
  list(JOIN arg_FAMILIES "," arg_FAMILIES)
  set(words "settings=none")
  foreach(name SPECS RELEASE FAMILIES LAYOUT SHARDS OPERATORS GRAPHS NAMESPACE)
    if(NOT "${arg_${name}}" STREQUAL "")
      string(TOLOWER "${name}" variable)
      list(APPEND words "${variable}=${arg_${name}}")
    endif()
  endforeach()
  foreach(name STRICT LINES)
    if(arg_${name})
      string(TOLOWER "${name}" variable)
      list(APPEND words "${variable}=1")
    endif()
  endforeach()
  set(${result} "${words}" PARENT_SCOPE)
endfunction()

# Links a target with PyTorch. `installed`: the folder of the package next to gradmill, or nothing.
function(_gradmill_link_torch target installed)
  if(NOT TARGET torch)
    find_package(Torch QUIET HINTS "${installed}/share/cmake/Torch")
  endif()
  if(NOT TARGET torch)
    message(FATAL_ERROR
      "gradmill_generate: TARGET ${target}: PyTorch was not found. Install it next to gradmill, pip install torch;"
      " or pass -DTorch_DIR=\"$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')/Torch\";"
      " or write NO_TORCH, and add its headers and libraries to the target")
  endif()
  # Not by target_link_libraries: its forms with and without PRIVATE exclude each other, and the project chooses one.
  set_property(TARGET "${target}" APPEND PROPERTY LINK_LIBRARIES torch)
  get_target_property(standard torch CXX_STANDARD)
  if(standard)
    target_compile_features("${target}" PRIVATE "cxx_std_${standard}")
  endif()
endfunction()

function(gradmill_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "PYTHON;NO_TORCH" "TARGET" "")
  if(NOT CMAKE_GENERATOR MATCHES "Ninja")
    message(FATAL_ERROR
      "gradmill_generate: use cmake -G Ninja: other generators do not check whether a command changed its outputs")
  endif()
  if(NOT TARGET "${arg_TARGET}")
    message(FATAL_ERROR "gradmill_generate: TARGET '${arg_TARGET}': there is no such target")
  endif()
  _gradmill_words(words ${ARGV})
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/gradmill/${arg_TARGET}")
  list(APPEND words "generated=${folder}/generated" "cache=${folder}/cache")

  # The rule, and the lists of generated files. Errors in the spec set are reported here, as in the build.
  execute_process(
    COMMAND "${GRADMILL_EXECUTABLE}" export cmake ${words}
    OUTPUT_VARIABLE text ERROR_VARIABLE report RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "gradmill_generate: TARGET ${arg_TARGET}\n${report}")
  endif()
  file(WRITE "${folder}/files.cmake" "${text}")
  set(gradmill_folder_is_private TRUE)  # no other run writes to it
  include("${folder}/files.cmake")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${gradmill_configure_depends})
  if(arg_PYTHON)
    list(APPEND gradmill_sources ${gradmill_python_sources})
  endif()
  target_sources("${arg_TARGET}" PRIVATE ${gradmill_sources} "${gradmill_manifest}")
  # Before all others: templates and torch's own headers have the same names.
  target_include_directories("${arg_TARGET}" BEFORE PRIVATE "${folder}/generated")
  if(NOT arg_NO_TORCH)
    _gradmill_link_torch("${arg_TARGET}" "${gradmill_torch}")
  endif()

  set(gradmill_TEMPLATES "${gradmill_templates}" PARENT_SCOPE)
  set(gradmill_GENERATED "${folder}/generated" PARENT_SCOPE)
  set(gradmill_MANIFEST "${gradmill_manifest}" PARENT_SCOPE)
endfunction()
