# Finds all that is needed beside CUDA. What is missing is said at once, with the command that
# installs it; missing_packages.txt in the build folder has it for `run`, which also reads the names
# from here where there is no CMake yet.
set(missing "")

# find_package with the arguments behind the name of the package of Debian and Ubuntu.
macro(need package name)
  find_package(${name} QUIET ${ARGN})
  if(NOT ${name}_FOUND)
    list(APPEND missing ${package})
  endif()
endmacro()

set(Boost_USE_STATIC_LIBS ON)  # what is built here also runs where Boost is not installed
need(libboost-context-dev Boost 1.71 COMPONENTS context)
need(libcli11-dev CLI11)
need(nlohmann-json3-dev nlohmann_json)
if(BUILD_TESTING)
  need(libgtest-dev GTest)
  need(python3 Python3 COMPONENTS Interpreter)
endif()
if(HAVE_CUDA)
  find_program(PATCH patch)
  mark_as_advanced(PATCH)
  if(NOT PATCH)
    list(APPEND missing patch)
  endif()
endif()

string(JOIN " " missing ${missing})
file(WRITE ${PROJECT_BINARY_DIR}/missing_packages.txt "${missing}")
if(missing)
  message(FATAL_ERROR
    "Something is missing. On Debian and Ubuntu: sudo apt-get install ${missing}\n"
    "(Elsewhere: packages of such names; CMAKE_PREFIX_PATH finds what lies in a place of its own.)")
endif()
