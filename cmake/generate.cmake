# The generated files that no build script writes: tests of the examples, schema.json and the declarations for C#, below RUSHLIGHT_GENERATED.
# The target is rushlight_generated; it rewrites only what has changed.
set(RUSHLIGHT_GENERATED ${PROJECT_BINARY_DIR}/generated)
set(generated ${RUSHLIGHT_GENERATED}/schema.json ${RUSHLIGHT_GENERATED}/csharp/Native.cs)
foreach(name chapters.c chapters.txt examples.c examples.cpp)
  list(APPEND generated ${RUSHLIGHT_GENERATED}/tests/${name})
endforeach()
add_custom_target(rushlight_generated ${all}
  COMMAND ${CMAKE_COMMAND} -E env ${cargo_environment} ${RUSHLIGHT_CARGO} run -q --locked -p rushlight-generate -- --build --out ${RUSHLIGHT_GENERATED}
  BYPRODUCTS ${generated}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Generated files in ${RUSHLIGHT_GENERATED}"
  VERBATIM)
