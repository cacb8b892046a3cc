# Runs PROGRAM (with EMULATOR, if it is for another processor) and compares its output with the file EXPECTED, byte for byte. The output is kept in PRINTED.
# The program runs in an empty folder, which is removed with the files that it wrote there.
set(folder ${PRINTED}.folder)
file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${folder})
execute_process(COMMAND ${CMAKE_COMMAND} -E env OMP_NUM_THREADS=1 ${EMULATOR} ${PROGRAM} WORKING_DIRECTORY ${folder}
  OUTPUT_FILE ${PRINTED} ERROR_VARIABLE errors RESULT_VARIABLE status)
file(REMOVE_RECURSE ${folder})
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}: ${errors}")
endif()
execute_process(COMMAND diff -u ${EXPECTED} ${PRINTED} OUTPUT_VARIABLE difference RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} prints something else than ${EXPECTED}:\n${difference}")
endif()
