# Installs the package for find_package(rouse).

include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY ROUSE_libraries)
get_property(testing_kit GLOBAL PROPERTY ROUSE_testing_kit)
set(folder "${CMAKE_INSTALL_LIBDIR}/cmake/rouse")

install(EXPORT rouse_libraries NAMESPACE rouse:: FILE rouseLibraries.cmake DESTINATION "${folder}")
if(testing_kit)
  install(EXPORT rouse_testing_kit NAMESPACE rouse:: FILE rouseTestingKit.cmake DESTINATION "${folder}")
endif()

configure_package_config_file(
  cmake/rouseConfig.cmake.in "${PROJECT_BINARY_DIR}/rouseConfig.cmake" INSTALL_DESTINATION "${folder}")
# Until version 1.0, a minor version can change the interface.
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/rouseConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/rouseConfig.cmake" "${PROJECT_BINARY_DIR}/rouseConfigVersion.cmake"
  DESTINATION "${folder}")
