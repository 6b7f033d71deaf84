# The projects that Rouse depends on.

set(ROUSE_ABSEIL_ARCHIVE "" CACHE STRING
  "A path or URL of Abseil's source archive, which is built together with Rouse; empty: find_package()")
set(ROUSE_ABSEIL_SHA256 "" CACHE STRING "The SHA-256 of ROUSE_ABSEIL_ARCHIVE; a URL needs one")
set(ROUSE_GOOGLETEST_ARCHIVE "" CACHE STRING
  "A path or URL of GoogleTest's source archive, for the testing kit; empty: find_package()")
set(ROUSE_GOOGLETEST_SHA256 "" CACHE STRING "The SHA-256 of ROUSE_GOOGLETEST_ARCHIVE; a URL needs one")

# The oldest Abseil that Rouse is tested with.
set(ROUSE_ABSEIL_MINIMUM 20240722)

include(FetchContent)

# rouse_fetch(NAME VARIABLE): builds the project in the archive that ROUSE_VARIABLE_ARCHIVE names.
macro(rouse_fetch name variable)
  # Abseil's sources cannot be compiled together.
  set(CMAKE_UNITY_BUILD OFF)
  if(ROUSE_${variable}_SHA256)
    set(hash URL_HASH "SHA256=${ROUSE_${variable}_SHA256}")
  elseif(ROUSE_${variable}_ARCHIVE MATCHES "^[a-z]+://")
    message(FATAL_ERROR "rouse: ROUSE_${variable}_ARCHIVE is a URL; "
      "set ROUSE_${variable}_SHA256 to the archive's SHA-256, too")
  elseif(NOT EXISTS "${ROUSE_${variable}_ARCHIVE}")
    message(FATAL_ERROR "rouse: ROUSE_${variable}_ARCHIVE is ${ROUSE_${variable}_ARCHIVE}, "
      "which does not exist; name an archive by an absolute path or a URL")
  else()
    set(hash)
  endif()
  FetchContent_Declare(${name} URL "${ROUSE_${variable}_ARCHIVE}" ${hash} DOWNLOAD_EXTRACT_TIMESTAMP ON)
  FetchContent_MakeAvailable(${name})
endmacro()

# Provides Abseil's targets: the targets that the enclosing project has defined, or else the archive that
# the user names, or else an installed Abseil. Sets ROUSE_ABSEIL_VERSION, which is empty if Abseil is not a
# release.
function(rouse_abseil)
  set(absl_VERSION)
  if(TARGET absl::base)
    return()
  elseif(ROUSE_ABSEIL_ARCHIVE)
    set(ABSL_PROPAGATE_CXX_STD ON)
    set(ABSL_USE_SYSTEM_INCLUDES ON)
    set(ABSL_ENABLE_INSTALL ${ROUSE_INSTALL})
    rouse_fetch(absl ABSEIL)
    get_directory_property(absl_VERSION DIRECTORY "${absl_SOURCE_DIR}" DEFINITION absl_VERSION)
  else()
    find_package(absl CONFIG GLOBAL QUIET)
    if(absl_CONSIDERED_CONFIGS AND NOT absl_FOUND)
      message(FATAL_ERROR "rouse: ${absl_CONSIDERED_CONFIGS} cannot be used: ${absl_NOT_FOUND_MESSAGE}")
    elseif(NOT absl_FOUND)
      message(FATAL_ERROR "rouse: Abseil is not installed; name its folder with -DCMAKE_PREFIX_PATH=, "
        "or a source archive of Abseil ${ROUSE_ABSEIL_MINIMUM} or later with -DROUSE_ABSEIL_ARCHIVE=")
    endif()
  endif()
  if(absl_VERSION AND absl_VERSION VERSION_LESS ROUSE_ABSEIL_MINIMUM)
    message(FATAL_ERROR "rouse: Abseil ${absl_VERSION} (${absl_DIR}${ROUSE_ABSEIL_ARCHIVE}) is too old; name "
      "a source archive of Abseil ${ROUSE_ABSEIL_MINIMUM} or later with -DROUSE_ABSEIL_ARCHIVE=")
  endif()
  set(ROUSE_ABSEIL_VERSION "${absl_VERSION}" PARENT_SCOPE)
endfunction()

# Provides GoogleTest's targets in the same way.
function(rouse_googletest)
  if(TARGET GTest::gmock)
    return()
  elseif(ROUSE_GOOGLETEST_ARCHIVE)
    set(INSTALL_GTEST ${ROUSE_INSTALL})
    rouse_fetch(googletest GOOGLETEST)
  else()
    find_package(GTest CONFIG GLOBAL QUIET)
    if(NOT TARGET GTest::gmock)
      message(FATAL_ERROR "rouse: ROUSE_BUILD_TESTING_KIT is on, but GoogleTest with GoogleMock is not "
        "installed; name its folder with -DCMAKE_PREFIX_PATH=, or a source archive with "
        "-DROUSE_GOOGLETEST_ARCHIVE=")
    endif()
  endif()
endfunction()
