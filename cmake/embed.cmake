# A page is files that an editor understands and one text inside the program.
# Included, this file gives millrace_embed_page(TARGET FOLDER NAMESPACE SCRIPT...), which adds the joined text of the page in
# src/FOLDER to a target; run as a script (cmake -P) it does the joining.
#
# A page's folder holds page.html, page.css, script/ and page_html.h, which declares page_html() in its namespace. The scripts
# share one scope. Each may use those before it while it is read, and all of them once the page runs.
# page.html has the markers /*css*/, /*js*/, <!--title--> and <!--data--> once each, and where its policy names what may run
# by hash, /*css-hash*/ and /*js-hash*/ as well.

if(CMAKE_SCRIPT_MODE_FILE)
  # The SHA-256 of a text in base64, as a policy has it: CMake gives it in hexadecimal.
  function(policy_hash text result)
    set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    string(SHA256 hex "${text}")
    string(APPEND hex "00")  # 33 bytes are 44 characters
    set(code "")
    foreach(at RANGE 0 60 6)
      string(SUBSTRING "${hex}" ${at} 6 three)
      foreach(shift 18 12 6 0)
        math(EXPR index "(0x${three} >> ${shift}) & 63")
        string(SUBSTRING "${alphabet}" ${index} 1 character)
        string(APPEND code ${character})
      endforeach()
    endforeach()
    string(SUBSTRING "${code}" 0 43 code)
    set(${result} "sha256-${code}=" PARENT_SCOPE)
  endfunction()

  file(READ ${SOURCE}/src/${FOLDER}/page.html html)
  file(READ ${SOURCE}/src/${FOLDER}/page.css css)
  set(js "'use strict';\n(() => {\n")
  string(REPLACE "," ";" SCRIPTS "${SCRIPTS}")
  foreach(script IN LISTS SCRIPTS)
    file(READ ${SOURCE}/src/${FOLDER}/script/${script}.js part)
    string(APPEND js "\n${part}")
  endforeach()
  string(APPEND js "\n})();\n")

  # Each of these would end the text, its style or its script in the middle.
  foreach(hazard "</script" "</style" "<!--" ")MILLRACE\"")
    foreach(part css js)
      string(FIND "${${part}}" "${hazard}" at)
      if(NOT at EQUAL -1)
        message(FATAL_ERROR "the page's ${part} must not contain ${hazard}")
      endif()
    endforeach()
  endforeach()
  foreach(marker "/*css*/" "/*js*/" "<!--title-->" "<!--data-->")
    string(FIND "${html}" "${marker}" first)
    string(FIND "${html}" "${marker}" last REVERSE)
    if(first EQUAL -1 OR NOT first EQUAL last)
      message(FATAL_ERROR "page.html must contain ${marker} exactly once")
    endif()
  endforeach()

  policy_hash("\n${css}" css_hash)
  policy_hash("\n${js}" js_hash)
  string(REPLACE "/*css-hash*/" "${css_hash}" html "${html}")
  string(REPLACE "/*js-hash*/" "${js_hash}" html "${html}")
  string(REPLACE "/*css*/" "\n${css}" html "${html}")
  string(REPLACE "/*js*/" "\n${js}" html "${html}")
  file(WRITE ${OUTPUT} "// Made by cmake/embed.cmake from src/${FOLDER}/.
#include \"src/${FOLDER}/page_html.h\"

namespace ${NAMESPACE} {

std::string_view page_html() {
  return R\"MILLRACE(${html})MILLRACE\";
}

}  // namespace ${NAMESPACE}
")
  return()
endif()

set(MILLRACE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(millrace_embed_page target folder namespace)
  set(place ${CMAKE_SOURCE_DIR}/src/${folder})
  string(REPLACE "/" "_" name ${folder})
  set(output ${CMAKE_BINARY_DIR}/generated/${name}_html.cc)
  list(TRANSFORM ARGN REPLACE "(.+)" "${place}/script/\\1.js" OUTPUT_VARIABLE scripts)
  # A list would be taken apart on its way to the script.
  list(JOIN ARGN "," names)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DFOLDER=${folder} -DNAMESPACE=${namespace} -DSCRIPTS=${names}
      -DOUTPUT=${output} -P ${MILLRACE_EMBED_SCRIPT}
    DEPENDS ${place}/page.html ${place}/page.css ${scripts} ${MILLRACE_EMBED_SCRIPT}
    COMMENT "Joining the page of src/${folder}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
