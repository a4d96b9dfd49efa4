# The shared library, which holds what include/millrace declares and shows nothing else; and what `cmake --install` puts
# where: the program, the library and its headers, the helpers, which only these start, and a package for find_package().
include(CMakePackageConfigHelpers)

# What defines something of include/millrace is the library's own; the linker takes the rest from the floors.
# error.cc is compiled for both: it must stand alone in the floor's archive, or the linker would find all beside it twice.
set_source_files_properties(src/base/error.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
add_library(millrace_shared SHARED src/base/error.cc $<TARGET_OBJECTS:millrace_api>)
set_target_properties(millrace_shared PROPERTIES OUTPUT_NAME millrace EXPORT_NAME millrace
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
target_include_directories(millrace_shared PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(millrace_shared PRIVATE millrace_jobs)
# A reader of a file is not linked to who only draws; and no archive's symbols are shown.
target_link_options(millrace_shared PRIVATE -Wl,--as-needed -Wl,--gc-sections -Wl,--exclude-libs,ALL)
target_compile_features(millrace_shared PUBLIC cxx_std_20)

if(MILLRACE_WHEEL)
  return()  # cmake/wheel.cmake
endif()
install(TARGETS millrace RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS millrace-decoder millrace-hdf5 millrace-film RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/millrace)
install(TARGETS millrace_shared EXPORT millrace LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/millrace DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES README.md LICENSE SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/millrace)
install(EXPORT millrace NAMESPACE millrace:: FILE millraceConfig.cmake DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/millraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/millraceConfigVersion.cmake DESTINATION ${package})
