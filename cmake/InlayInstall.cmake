# The program `inlay` with the files that it reads, which it finds beside itself: bin/inlay and share/inlay/.
# find_package(inlay) gives inlay::inlay, which needs the CUDA runtime and not the CUDA language, and inlay::inlay_shared, which
# has its own; with COMPONENTS replay it
# gives inlay::replay, which needs headers alone: cmake/inlay-config.cmake.in.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/inlay)
install(DIRECTORY include/inlay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(INLAY_NVCC)  # without kernels there is no library to install
  install(TARGETS inlay inlay_shared EXPORT inlay-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  file(RELATIVE_PATH to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/inlay.pc.in ${PROJECT_BINARY_DIR}/inlay.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/inlay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(EXPORT inlay-targets NAMESPACE inlay:: DESTINATION ${package})
endif()
if(TARGET inlay-lab)
  install(TARGETS inlay-lab RUNTIME DESTINATION bin)
  install(DIRECTORY suites results docs examples DESTINATION share/inlay)
  install(DIRECTORY src/kernels DESTINATION share/inlay/src FILES_MATCHING PATTERN *.h PATTERN *.def)
  install(DIRECTORY tutorial DESTINATION share/inlay FILES_MATCHING PATTERN *.h PATTERN *.def)
  install(FILES README.md LICENSE DESTINATION share/inlay)
endif()
if(TARGET inlay_replay)
  # Modules are included as in this repository: <inlay/replay/...>.
  foreach(module problem model block replay explain)
    install(DIRECTORY src/${module} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/inlay FILES_MATCHING PATTERN *.h)
  endforeach()
  target_include_directories(inlay_replay INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(inlay_replay INTERFACE $<INSTALL_INTERFACE:inlay::cute> $<INSTALL_INTERFACE:inlay::boost_context>)
  set_target_properties(inlay_replay PROPERTIES EXPORT_NAME replay)
  install(TARGETS inlay_replay EXPORT inlay-replay-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT inlay-replay-targets NAMESPACE inlay:: DESTINATION ${package})
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/inlay-config.cmake.in ${PROJECT_BINARY_DIR}/inlay-config.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/inlay-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/inlay-config.cmake ${PROJECT_BINARY_DIR}/inlay-config-version.cmake
        DESTINATION ${package})
