# Writes harness/commit.h with the commit of SOURCE_DIR ("+" if files differ from it).
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty=+ --abbrev=10 --match=
  OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(commit STREQUAL "")
  set(commit "unknown")
endif()
set(text "#pragma once\n\nnamespace harness {\ninline constexpr const char* kCommit = \"${commit}\";\n}\n")
if(EXISTS ${HEADER})
  file(READ ${HEADER} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${HEADER} "${text}")
endif()
