# millrace_in_groups(TARGET): two dozen files of a target are compiled as one. Most of the time of compiling goes into headers,
# and a group reads them once. Each file must compile on its own as well, which `./dev lint` and the preset `debug` see to; and a
# name in a nameless namespace must be the only one in its floor.
option(MILLRACE_GROUPS "Compile the files of a floor in groups" ON)
function(millrace_in_groups target)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    # Highway reads such a file again for each instruction set.
    file(STRINGS ${source} again REGEX "foreach_target\\.h" LIMIT_COUNT 1)
    if(again)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${MILLRACE_GROUPS} UNITY_BUILD_BATCH_SIZE 24)
  if(MILLRACE_GROUPS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A type of a .cc file may hold one of its nameless namespace; in a group GCC takes the file for a header.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()
