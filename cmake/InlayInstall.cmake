# find_package(inlay) gives inlay::inlay. It needs the CUDA runtime and not the CUDA language.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
if(NOT INLAY_NVCC)
  return()  # without kernels there is nothing to install
endif()
install(TARGETS inlay EXPORT inlay-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/inlay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT inlay-targets NAMESPACE inlay:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/inlay)
file(WRITE ${PROJECT_BINARY_DIR}/inlay-config.cmake
     "include(CMakeFindDependencyMacro)\nfind_dependency(CUDAToolkit 13)\ninclude(\${CMAKE_CURRENT_LIST_DIR}/inlay-targets.cmake)\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/inlay-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/inlay-config.cmake ${PROJECT_BINARY_DIR}/inlay-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/inlay)
