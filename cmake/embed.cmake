# The report page is files that an editor understands and one text inside the program.
# Included, this file gives millrace_embed_page(TARGET), which adds the joined text to a target;
# run as a script (cmake -P) it does the joining.

# The scripts share one scope. Each may use those before it while it is read, and all of them once the page runs.
set(MILLRACE_PAGE_SCRIPTS words model decide store export messages group list keys start)

if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${PAGE_FOLDER}/page.html html)
  file(READ ${PAGE_FOLDER}/page.css css)
  set(js "'use strict';\n(() => {\n")
  foreach(script IN LISTS MILLRACE_PAGE_SCRIPTS)
    file(READ ${PAGE_FOLDER}/script/${script}.js part)
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

  string(REPLACE "/*css*/" "\n${css}" html "${html}")
  string(REPLACE "/*js*/" "\n${js}" html "${html}")
  file(WRITE ${OUTPUT} "// Made by cmake/embed.cmake from src/jobs/dedupe/page/.
#include \"src/jobs/dedupe/page/page_html.h\"

namespace millrace::dedupe {

std::string_view page_html() {
  return R\"MILLRACE(${html})MILLRACE\";
}

}  // namespace millrace::dedupe
")
  return()
endif()

set(MILLRACE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(millrace_embed_page target)
  set(folder ${CMAKE_SOURCE_DIR}/src/jobs/dedupe/page)
  set(output ${CMAKE_BINARY_DIR}/generated/page_html.cc)
  list(TRANSFORM MILLRACE_PAGE_SCRIPTS REPLACE "(.+)" "${folder}/script/\\1.js" OUTPUT_VARIABLE scripts)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DPAGE_FOLDER=${folder} -DOUTPUT=${output} -P ${MILLRACE_EMBED_SCRIPT}
    DEPENDS ${folder}/page.html ${folder}/page.css ${scripts} ${MILLRACE_EMBED_SCRIPT}
    COMMENT "Joining the report page"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
