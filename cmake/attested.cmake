# devices/attested.json as C++. Included, this file adds it to the floor `device`; run as a script it writes it.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_policy(VERSION 3.24)
  file(READ ${JSON} json)
  string(JSON count LENGTH "${json}" attested)
  set(rows "")
  if(count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(at RANGE ${last})
      set(row "")
      foreach(key source ptx_sha256 compute_capability device driver date)
        string(JSON value GET "${json}" attested ${at} ${key})
        if(value MATCHES "[\"\\\\]" OR value MATCHES "[^ -~]")
          message(FATAL_ERROR "devices/attested.json: the entry ${at} has a ${key} that is no plain text")
        endif()
        string(APPEND row "\"${value}\", ")
      endforeach()
      string(APPEND rows "    {${row}},\n")
    endforeach()
  endif()
  file(WRITE ${OUTPUT} "// Made by cmake/attested.cmake from devices/attested.json.
#include \"src/device/attested.h\"

#include <vector>

namespace millrace {

std::span<const Attestation> attestations() {
  static const std::vector<Attestation> all = {
${rows}  };
  return all;
}

}  // namespace millrace
")
  return()
endif()

set(MILLRACE_ATTESTED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
# JSON OUTPUT: a source file of these entries.
function(millrace_attested json output)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DJSON=${json} -DOUTPUT=${output} -P ${MILLRACE_ATTESTED_SCRIPT}
    DEPENDS ${json} ${MILLRACE_ATTESTED_SCRIPT}
    VERBATIM)
endfunction()
millrace_attested(${CMAKE_SOURCE_DIR}/devices/attested.json ${CMAKE_BINARY_DIR}/generated/attested.cc)
target_sources(millrace_device PRIVATE ${CMAKE_BINARY_DIR}/generated/attested.cc)
set_source_files_properties(${CMAKE_BINARY_DIR}/generated/attested.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
