# Kernel bodies (NAME_body.inc, docs/gpu.md). Included, this file gives millrace_bodies(TARGET FOLDER), which adds to a target,
# for every body of a folder, its PTX and its OpenCL C as a KernelSource: `bodies::NAME()`. Run as a script (cmake -P) it
# writes that source file.

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_policy(VERSION 3.24)
  file(READ ${HEADER} opencl)
  file(READ ${BODY} body)
  # The headers of a body, and theirs: each text once, before what includes it.
  set(seen "src/device/body/body.h")
  function(inline_headers text result)
    string(REGEX MATCHALL "#include \"[^\"]+\"" includes "${text}")
    set(before "")
    foreach(include IN LISTS includes)
      string(REGEX REPLACE "#include \"(.*)\"" "\\1" file "${include}")
      string(REPLACE "${include}" "" text "${text}")
      if(NOT file IN_LIST seen)
        list(APPEND seen ${file})
        set(seen "${seen}" PARENT_SCOPE)
        file(READ ${SOURCE}/${file} header)
        inline_headers("${header}" header)
        string(APPEND before "${header}")
      endif()
    endforeach()
    set(${result} "${before}${text}" PARENT_SCOPE)
  endfunction()
  inline_headers("${body}" body)
  string(APPEND opencl "${body}")
  string(REPLACE "#pragma once" "" opencl "${opencl}")
  if(opencl MATCHES "#include")
    message(FATAL_ERROR "${BODY}: an #include is left that no OpenCL driver would find")
  endif()
  set(singles false)
  set(doubles false)
  if(body MATCHES "\nMR_F32\n")
    set(singles true)
  endif()
  if(body MATCHES "\nMR_F64\n")
    set(doubles true)
  endif()
  set(ptx "")
  set(hash "")
  if(PTX)
    file(READ ${PTX} ptx)
    string(SHA256 hash "${ptx}")
  endif()
  file(WRITE ${OUTPUT} "// Made by cmake/bodies.cmake from a body.
#include \"src/device/kernel_source.h\"

namespace millrace::bodies {

const KernelSource& ${NAME}() {
  static const KernelSource source = {\"${NAME}\", R\"MILLRACE(${ptx})MILLRACE\", R\"MILLRACE(${opencl})MILLRACE\",
                                      \"${hash}\", ${singles}, ${doubles}, \"${COMPILER}\"};
  return source;
}

}  // namespace millrace::bodies
")
  return()
endif()

# One version, so that the same body has the same PTX wherever it is built; another compiler's is attested by nobody.
find_program(MILLRACE_CLANG NAMES clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang
  DOC "Clang, which makes the kernels for NVIDIA devices")
set(MILLRACE_BODY_COMPILER "")
if(MILLRACE_CLANG)
  execute_process(COMMAND ${MILLRACE_CLANG} --version OUTPUT_VARIABLE version ERROR_QUIET)
  string(REGEX MATCH "clang version [0-9.]+" MILLRACE_BODY_COMPILER "${version}")
  string(REPLACE "clang version" "clang" MILLRACE_BODY_COMPILER "${MILLRACE_BODY_COMPILER}")
  if(NOT MILLRACE_BODY_COMPILER MATCHES "clang 14")
    message(STATUS "Kernels for NVIDIA devices are made by ${MILLRACE_BODY_COMPILER}: what is attested is clang 14's")
  endif()
else()
  message(STATUS "No clang: the program is built without kernels for NVIDIA devices")
endif()

set(MILLRACE_BODIES_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
# BODY NAME FOLDER [FLAG...]: makes FOLDER/NAME.ptx and FOLDER/NAME_body.cc.
function(millrace_body body name folder)
  file(MAKE_DIRECTORY ${folder})
  set(ptx "")
  # Warnings are of the version that is meant; another's must not end the build.
  set(warnings "")
  if(MILLRACE_BODY_COMPILER MATCHES "clang 14")
    set(warnings -Wall -Werror)
  endif()
  if(MILLRACE_CLANG)
    set(ptx ${folder}/${name}.ptx)
    add_custom_command(
      OUTPUT ${ptx}
      # No CUDA SDK is looked for: what is found would choose the PTX's version.
      COMMAND ${MILLRACE_CLANG} -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 --cuda-path=/nonexistent -nocudainc -nocudalib
        -S -O3 -ffp-contract=off -fno-math-errno ${warnings} ${ARGN} -I${CMAKE_SOURCE_DIR} -MD -MF ${ptx}.d -MT ${ptx} ${body} -o ${ptx}
      DEPENDS ${body} ${MILLRACE_CLANG}
      DEPFILE ${ptx}.d
      COMMENT "Compiling the body ${name} for NVIDIA devices"
      VERBATIM)
  endif()
  add_custom_command(
    OUTPUT ${folder}/${name}_body.cc
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DHEADER=${CMAKE_SOURCE_DIR}/src/device/body/body.h -DBODY=${body}
      -DPTX=${ptx} -DNAME=${name} -DCOMPILER=${MILLRACE_BODY_COMPILER} -DOUTPUT=${folder}/${name}_body.cc -P ${MILLRACE_BODIES_SCRIPT}
    DEPENDS ${body} ${ptx} ${CMAKE_SOURCE_DIR}/src/device/body/body.h ${MILLRACE_BODIES_SCRIPT}
    VERBATIM)
endfunction()

function(millrace_bodies target folder)
  file(GLOB_RECURSE bodies CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*_body.inc)
  foreach(body ${bodies})
    get_filename_component(name ${body} NAME_WE)
    string(REGEX REPLACE "_body$" "" name ${name})
    millrace_body(${body} ${name} ${CMAKE_BINARY_DIR}/generated)
    target_sources(${target} PRIVATE ${CMAKE_BINARY_DIR}/generated/${name}_body.cc)
    set_source_files_properties(${CMAKE_BINARY_DIR}/generated/${name}_body.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()
