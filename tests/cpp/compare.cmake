# Runs PROGRAM (with EMULATOR, where it is of another processor) and compares what it prints with the file EXPECTED, byte for byte. What it printed stays in PRINTED.
execute_process(COMMAND ${CMAKE_COMMAND} -E env OMP_NUM_THREADS=1 ${EMULATOR} ${PROGRAM} OUTPUT_FILE ${PRINTED} ERROR_VARIABLE errors RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}: ${errors}")
endif()
execute_process(COMMAND diff -u ${EXPECTED} ${PRINTED} OUTPUT_VARIABLE difference RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} prints something else than ${EXPECTED}:\n${difference}")
endif()
