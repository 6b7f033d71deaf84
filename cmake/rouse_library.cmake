# rouse_library(NAME [TESTING_KIT] [WHOLE_ARCHIVE]
#   HEADERS file... [SOURCES file...] [DEFINES definition...] [FLAGS flag...] [DEPS target...])
#
# Adds the library rouse::NAME. The paths are relative to the root of the repository.
#
#   TESTING_KIT    The library exists only if ROUSE_BUILD_TESTING_KIT is on.
#   WHOLE_ARCHIVE  All objects of the library are linked into a program, even objects that the program does
#                  not refer to.
#   DEFINES        The definitions for the library, and for the targets that depend on the library.
#   FLAGS          The compiler flags for the library alone.
function(rouse_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TESTING_KIT;WHOLE_ARCHIVE" "" "HEADERS;SOURCES;DEFINES;FLAGS;DEPS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rouse_library(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(kind libraries)
  if(arg_TESTING_KIT)
    if(NOT ROUSE_BUILD_TESTING_KIT)
      return()
    endif()
    set(kind testing_kit)
  endif()
  set_property(GLOBAL APPEND PROPERTY ROUSE_${kind} ${name})

  set(archive ${name})
  if(arg_WHOLE_ARCHIVE)
    set(archive ${name}_archive)
    rouse_add_target(${name} ${kind} INTERFACE)
    target_link_libraries(rouse_${name} INTERFACE $<LINK_LIBRARY:WHOLE_ARCHIVE,rouse::${archive}>)
  endif()
  set(type INTERFACE)
  set(scope INTERFACE)
  if(arg_SOURCES)
    # A shared library has not been tested.
    set(type STATIC)
    set(scope PUBLIC)
  endif()
  rouse_add_target(${archive} ${kind} ${type})
  target_sources(rouse_${archive} PRIVATE ${arg_SOURCES})
  target_compile_features(rouse_${archive} ${scope} cxx_std_20)
  target_compile_definitions(rouse_${archive} ${scope} ${arg_DEFINES})
  target_compile_options(rouse_${archive} PRIVATE ${arg_FLAGS})
  target_include_directories(rouse_${archive} ${scope}
    "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(rouse_${archive} ${scope} ${arg_DEPS})

  if(ROUSE_INSTALL)
    foreach(header IN LISTS arg_HEADERS)
      cmake_path(GET header PARENT_PATH folder)
      install(FILES ${header} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/rouse/${folder}")
    endforeach()
  endif()
endfunction()

# rouse_add_target(NAME KIND TYPE): adds the target rouse_NAME, which users call rouse::NAME, and installs it
# with the others of its kind.
function(rouse_add_target name kind type)
  add_library(rouse_${name} ${type})
  add_library(rouse::${name} ALIAS rouse_${name})
  set_target_properties(rouse_${name} PROPERTIES EXPORT_NAME ${name})
  if(ROUSE_INSTALL)
    install(TARGETS rouse_${name} EXPORT rouse_${kind})
  endif()
endfunction()
