# What a wheel holds (pyproject.toml): the package, all of it in one folder, where the extension finds the library and both
# find their helpers. Those that link libvips and FFmpeg are not in it (src/io/process/helper_path.h).
if(NOT TARGET millrace_python)
  message(FATAL_ERROR "A wheel needs a Python with nanobind")
endif()
# A wheel has no links: the library has the one name by which it is asked for.
set_property(TARGET millrace_shared PROPERTY VERSION)
set_target_properties(millrace_shared millrace_python millrace millrace-hdf5 PROPERTIES INSTALL_RPATH "\$ORIGIN")
install(TARGETS millrace_python millrace_shared millrace millrace-hdf5 COMPONENT wheel
  RUNTIME DESTINATION millrace LIBRARY DESTINATION millrace NAMELINK_SKIP)
if(TARGET millrace-openvino)
  # OpenVINO's own wheel lies beside this one where somebody wants models to run.
  set_target_properties(millrace-openvino PROPERTIES INSTALL_RPATH "\$ORIGIN/../openvino/libs")
  install(TARGETS millrace-openvino COMPONENT wheel LIBRARY DESTINATION millrace)
endif()
install(PROGRAMS python/scripts/millrace COMPONENT wheel DESTINATION ${SKBUILD_SCRIPTS_DIR})

# The licences of what is in it, of others: as the distribution's packages have them.
set(texts ${SKBUILD_METADATA_DIR}/licenses)
file(STRINGS ${CMAKE_SOURCE_DIR}/tools/wheel/libraries.txt rows REGEX "^[^#]")
foreach(row ${rows})
  separate_arguments(row UNIX_COMMAND "${row}")
  list(GET row 1 package)
  # What is missing, tools/wheel/check.py says.
  if(EXISTS /usr/share/doc/${package}/copyright)
    install(FILES /usr/share/doc/${package}/copyright COMPONENT wheel DESTINATION ${texts} RENAME ${package}.txt)
  endif()
endforeach()
# To which those of Debian refer.
install(FILES /usr/share/common-licenses/LGPL-2.1 COMPONENT wheel DESTINATION ${texts} RENAME LGPL-2.1.txt)
# nanobind's own, and that of the one header that it brings along.
file(GLOB text ${NB_DIR}/../nanobind-*.dist-info/licenses/LICENSE)
install(FILES ${text} COMPONENT wheel DESTINATION ${texts} RENAME nanobind.txt)
file(READ ${NB_DIR}/ext/robin_map/include/tsl/robin_map.h text)
string(FIND "${text}" "*/" end)
string(SUBSTRING "${text}" 0 ${end} text)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/robin-map.txt CONTENT "${text}*/\n")
install(FILES ${CMAKE_BINARY_DIR}/generated/robin-map.txt COMPONENT wheel DESTINATION ${texts})
