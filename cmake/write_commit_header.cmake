# Writes harness/commit.h with the commit of SOURCE_DIR ("+" if files differ from it).
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --show-toplevel
  OUTPUT_VARIABLE top ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
file(REAL_PATH ${SOURCE_DIR} source)
if(top STREQUAL source)  # else it is a copy inside some other repository
  execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty=+ --abbrev=10 --match=
    OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT commit)
  set(commit "unknown")
endif()
set(text "#pragma once\n\nnamespace harness {\ninline constexpr const char* kCommit = \"${commit}\";\n}\n")
if(EXISTS ${HEADER})
  file(READ ${HEADER} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${HEADER} "${text}")
endif()
