/* TorchScript: a module that Python saved (tests/oracle/script_models.py), and functions from source code. */
#include "check.h"

static char printed[256];

static void keep(void *ctx, const char *text, int64_t len) {
  CHECK(ctx == printed && strlen(printed) + (size_t)len < sizeof printed);
  strncat(printed, text, (size_t)len);
}

static void forget(void *ctx) { strcpy(ctx, "deleted"); }

static rlt_value of_tensor(rlt_tensor *tensor) {
  rlt_value value = {RLT_VALUE_TENSOR, 0, 0, {0}};
  value.as.tensor = tensor;
  return value;
}

/* The numbers that PyTorch gives for the same module and input. */
static void check_forward(rlt_module *module, double first, double second) {
  const float ones[3] = {1, 2, 3};
  rlt_tensor *x = matrix(ones, 1, 3);
  rlt_value argument = of_tensor(x), result = {RLT_VALUE_NONE, 0, 0, {0}};
  OK(rlt_module_run(module, "forward", &argument, 1, NULL, 0, &result));
  CHECK(result.tag == RLT_VALUE_TENSOR);
  CHECK(floats(result.as.tensor)[0] == (float)first && floats(result.as.tensor)[1] == (float)second);
  rlt_value_free(&result);
  rlt_tensor_free(x);
}

static void methods(rlt_module *module) {
  const float ones[3] = {1, 2, 3};
  rlt_tensor *x = matrix(ones, 1, 3);
  rlt_value argument = of_tensor(x), result = {RLT_VALUE_NONE, 0, 0, {0}};
  rlt_named_value shift = {"shift", {RLT_VALUE_FLOAT, 0, 0, {0}}}, unknown = {"shoft", {RLT_VALUE_FLOAT, 0, 0, {0}}};
  shift.value.as.f = 10.0;
  check_forward(module, 17, 51);
  OK(rlt_module_run(module, "forward", &argument, 1, &shift, 1, &result));
  CHECK(floats(result.as.tensor)[0] == 27 && floats(result.as.tensor)[1] == 61);
  rlt_value_free(&result);
  FAILS(rlt_module_run(module, "forward", NULL, 0, NULL, 0, &result), RLT_ERROR_RUNTIME, "forward() is missing value for argument 'x'");
  FAILS(rlt_module_run(module, "forward", &argument, 1, &unknown, 1, &result), RLT_ERROR_RUNTIME, "Unknown keyword argument 'shoft'");
  FAILS(rlt_module_run(module, "backward", &argument, 1, NULL, 0, &result), RLT_ERROR_RUNTIME, "backward");
  CHECK(result.tag == RLT_VALUE_NONE);
  OK(rlt_module_methods(module, &result));
  CHECK(result.tag == RLT_VALUE_STRING_LIST && result.len == 2);
  CHECK(strcmp(result.as.strings[0], "forward") == 0 && strcmp(result.as.strings[1], "describe") == 0);
  rlt_value_free(&result);
  OK(rlt_module_method_schema(module, "forward", &result));
  CHECK(strstr(result.as.string, "Tensor x, float? shift=None) -> Tensor") != NULL);
  rlt_value_free(&result);
  OK(rlt_module_method_graph(module, "forward", &result));
  CHECK(strstr(result.as.string, "prim::If(") != NULL && strstr(result.as.string, "aten::mul(") != NULL);
  rlt_value_free(&result);
  rlt_tensor_free(x);
}

/* Dicts and lists as arguments and results, what `print` writes, and an exception of the program. */
static void containers(rlt_module *module) {
  rlt_value entries[4] = {{RLT_VALUE_STRING, 0, 1, {0}}, {RLT_VALUE_INT, 0, 0, {2}}, {RLT_VALUE_STRING, 0, 1, {0}}, {RLT_VALUE_INT, 0, 0, {3}}};
  rlt_value counts = {RLT_VALUE_DICT, 0, 2, {0}}, result = {RLT_VALUE_NONE, 0, 0, {0}};
  entries[0].as.string = "x";
  entries[2].as.string = "y";
  counts.as.values = entries;
  OK(rlt_module_set_print(module, keep, printed, forget));
  OK(rlt_module_run(module, "describe", &counts, 1, NULL, 0, &result));
  CHECK(strcmp(printed, "x 2\ny 3\n") == 0);
  CHECK(result.tag == RLT_VALUE_TUPLE && result.len == 3);
  CHECK(result.as.values[0].tag == RLT_VALUE_STRING_LIST && strcmp(result.as.values[0].as.strings[1], "b") == 0);
  CHECK(result.as.values[1].tag == RLT_VALUE_INT && result.as.values[1].as.i == 5);
  CHECK(result.as.values[2].tag == RLT_VALUE_DICT && result.as.values[2].len == 3);
  CHECK(strcmp(result.as.values[2].as.values[4].as.string, "total") == 0 && result.as.values[2].as.values[5].as.i == 5);
  rlt_value_free(&result);
  OK(rlt_module_set_print(module, NULL, NULL, NULL));
  CHECK(strcmp(printed, "deleted") == 0);
  entries[1].as.i = -7;
  FAILS(rlt_module_run(module, "describe", &counts, 1, NULL, 0, &result), RLT_ERROR_RUNTIME, "the counts are negative");
  CHECK(strstr(rlt_last_error_message(), "Traceback of TorchScript") != NULL);
}

static void attributes(rlt_module *module) {
  rlt_value value = {RLT_VALUE_NONE, 0, 0, {0}}, calls = {RLT_VALUE_INT, 0, 0, {40}}, text = {RLT_VALUE_STRING, 0, 1, {0}};
  rlt_module *child = NULL;
  OK(rlt_module_attribute(module, "calls", &value));
  CHECK(value.tag == RLT_VALUE_INT && value.as.i == 2);
  OK(rlt_module_set_attribute(module, "calls", &calls));
  check_forward(module, 17, 51);
  OK(rlt_module_attribute(module, "calls", &value));
  CHECK(value.as.i == 41);
  text.as.string = "x";
  FAILS(rlt_module_set_attribute(module, "calls", &text), RLT_ERROR_RUNTIME, "Expected a value of type 'int' for field 'calls'");
  FAILS(rlt_module_attribute(module, "nothing", &value), RLT_ERROR_RUNTIME, "nothing");
  OK(rlt_module_children(module, &value));
  CHECK(value.len == 1 && strcmp(value.as.strings[0], "fc") == 0);
  rlt_value_free(&value);
  OK(rlt_module_child(module, "fc", &child));
  OK(rlt_module_attribute(child, "bias", &value));
  CHECK(floats(value.as.tensor)[0] == 0.5f);
  rlt_value_free(&value);
  rlt_module_free(child);
  FAILS(rlt_module_child(module, "conv", &child), RLT_ERROR_INDEX, "the module has no submodule 'conv'");
}

/* A copy has its own parameters; a loaded module can be trained. */
static void parameters(rlt_module *module) {
  const float ones[3] = {1, 2, 3};
  rlt_module *copy = NULL, *same = NULL;
  rlt_state_dict *dict = NULL;
  rlt_tensor *x = matrix(ones, 1, 3), *weight = NULL, *sum = NULL, *grad = NULL;
  rlt_value argument = of_tensor(x), result = {RLT_VALUE_NONE, 0, 0, {0}};
  int32_t dtype = RLT_DTYPE_FLOAT64;
  const char *name = NULL;
  OK(rlt_module_clone(module, &copy));
  OK(rlt_module_retain(module, &same));
  OK(rlt_module_parameters(copy, &dict));
  OK(rlt_state_dict_name_at(dict, 0, &name));
  CHECK(strcmp(name, "fc.weight") == 0);
  OK(rlt_state_dict_get(dict, "fc.weight", &weight));
  OK(rlt_module_train(copy, 1));
  check_forward(copy, -17, -51);
  check_forward(same, 17, 51);
  OK(rlt_module_run(copy, "forward", &argument, 1, NULL, 0, &result));
  OK(rlt_tensor_sum(result.as.tensor, NULL, &sum));
  OK(rlt_tensor_backward(sum, NULL, 0, 0));
  OK(rlt_tensor_grad(weight, &grad));
  CHECK(floats(grad)[0] == -2 && floats(grad)[4] == -4);
  rlt_value_free(&result);
  OK(rlt_module_to(copy, NULL, &dtype));
  OK(rlt_module_attribute(copy, "fc.weight", &result));
  CHECK(((const double *)(const void *)floats(result.as.tensor))[5] == 5.0);
  rlt_value_free(&result);
  rlt_tensor_free(grad);
  rlt_tensor_free(sum);
  rlt_tensor_free(weight);
  rlt_tensor_free(x);
  rlt_state_dict_free(dict);
  OK(rlt_module_buffers(module, &dict));
  OK(rlt_state_dict_name_at(dict, 0, &name));
  CHECK(strcmp(name, "scale") == 0);
  rlt_state_dict_free(dict);
  rlt_module_free(copy);
  rlt_module_free(same);
}

static void files(const char *path, rlt_module *module) {
  rlt_module *other = NULL;
  rlt_tensor *labels = NULL;
  void *bytes = NULL;
  size_t length = 0;
  OK(rlt_module_extra_file(module, "labels.txt", &labels));
  int64_t count = 0;
  OK(rlt_tensor_numel(labels, &count));
  CHECK(count == 8 && memcmp(floats(labels), "cat\ndog\n", 8) == 0);
  FAILS(rlt_module_extra_file(module, "other.txt", &labels), RLT_ERROR_INDEX, "the archive has no extra file 'other.txt'");
  rlt_tensor_free(labels);
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  bytes = malloc(1 << 20);
  length = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  OK(rlt_module_load_memory(bytes, (int64_t)length, &other));
  free(bytes);
  check_forward(other, 17, 51);
  rlt_module_free(other);
  other = NULL;
  FAILS(rlt_module_load_memory("PK\3\4 is no archive", 18, &other), RLT_ERROR_IO, "");
  FAILS(rlt_module_load("/no/such/file.pt", &other), RLT_ERROR_IO, "/no/such/file.pt");
  CHECK(other == NULL);
}

static void source(void) {
  rlt_script *script = NULL;
  rlt_value argument = {RLT_VALUE_INT, 0, 0, {10}}, result = {RLT_VALUE_NONE, 0, 0, {0}};
  OK(rlt_script_compile("def fib(n: int) -> int:\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n", &script));
  OK(rlt_script_run(script, "fib", &argument, 1, NULL, 0, &result));
  CHECK(result.tag == RLT_VALUE_INT && result.as.i == 55);
  FAILS(rlt_script_run(script, "fab", &argument, 1, NULL, 0, &result), RLT_ERROR_RUNTIME, "fab");
  rlt_script_free(script);
  script = NULL;
  FAILS(rlt_script_compile("def f(x: int) -> int:\n    return y\n", &script), RLT_ERROR_RUNTIME, "undefined value y");
  FAILS(rlt_script_compile("def f(x: int -> int:\n    return x\n", &script), RLT_ERROR_RUNTIME, "");
  CHECK(script == NULL);
}

/* A call that goes on step by step until it is done, and returns what the call as a whole returns. */
static void in_steps(rlt_module *module, const rlt_value *argument) {
  rlt_value result = {RLT_VALUE_NONE, 0, 0, {0}};
  rlt_run *run = NULL;
  OK(rlt_module_run(module, "forward", argument, 1, NULL, 0, &result));
  const float expected = floats(result.as.tensor)[0];
  rlt_value_free(&result);
  int32_t done = 0, parts = 0;
  double progress = 0;
  OK(rlt_module_begin(module, "forward", argument, 1, NULL, 0, &run));
  FAILS(rlt_run_result(run, &result), RLT_ERROR_RUNTIME, "not done");
  FAILS(rlt_run_step(run, -1, &done), RLT_ERROR_VALUE, "seconds");
  for (; !done; parts++) OK(rlt_run_step(run, 0, &done));
  CHECK(parts > 1);
  OK(rlt_run_progress(run, &progress));
  CHECK(progress == 1);
  OK(rlt_run_result(run, &result));
  CHECK(floats(result.as.tensor)[0] == expected);
  rlt_value_free(&result);
  rlt_run_free(run);
}

/* Calls in steps, and a compiled module: the same numbers, its plan, and the memory of it. */
static void compiled(rlt_module *module) {
  const float ones[3] = {1, 2, 3};
  rlt_tensor *x = matrix(ones, 1, 3);
  rlt_value argument = of_tensor(x), result = {RLT_VALUE_NONE, 0, 0, {0}};
  rlt_module *plain = NULL, *fast = NULL, *none = NULL;
  rlt_run *run = NULL;
  int32_t done = 0;
  int64_t bytes = 0, unshared = 0;
  OK(rlt_module_train(module, 1));
  FAILS(rlt_module_optimize_for_inference(module, NULL, 0, &none), RLT_ERROR_RUNTIME, "eval mode");
  in_steps(module, &argument);
  OK(rlt_module_new("Net", NULL, &plain));
  OK(rlt_module_define(plain, "def forward(self, x):\n    y = torch.relu(x * 2.0) - 1.0\n    return (y * y).sum(1)\n"));
  OK(rlt_module_optimize_for_inference(plain, NULL, 0, &fast));
  OK(rlt_module_method_memory(fast, "forward", &bytes, NULL));
  CHECK(bytes == -1);
  in_steps(plain, &argument);
  in_steps(fast, &argument);
  OK(rlt_module_run(fast, "forward", &argument, 1, NULL, 0, &result));
  CHECK(floats(result.as.tensor)[0] == 35);
  rlt_value_free(&result);
  OK(rlt_module_method_plan(fast, "forward", &result));
  CHECK(strstr(result.as.string, "forward(float32 [1, 3]): ") == result.as.string);
  CHECK(strstr(result.as.string, " steps, ") != NULL && strstr(result.as.string, "mul.out(") != NULL);
  rlt_value_free(&result);
  OK(rlt_module_method_memory(fast, "forward", &bytes, &unshared));
  CHECK(bytes > 0 && unshared > bytes);
  OK(rlt_module_method_plan(plain, "forward", &result));
  CHECK(result.len == 0);
  rlt_value_free(&result);
  /* A call that is freed before it is done. */
  OK(rlt_module_begin(fast, "forward", &argument, 1, NULL, 0, &run));
  OK(rlt_run_step(run, 0, &done));
  CHECK(!done);
  rlt_run_free(run);
  rlt_run_free(NULL);
  rlt_module_free(fast);
  rlt_module_free(plain);
  rlt_tensor_free(x);
}

/* Compiled modules with weights in less precision: powers of 2 are exact in each dtype. */
static void weights(void) {
  enum { INPUTS = 64, OUTPUTS = 48 };
  static float elements[INPUTS * OUTPUTS], ones[2 * INPUTS];
  const int32_t dtypes[3] = {RLT_DTYPE_FLOAT32, RLT_DTYPE_BFLOAT16, RLT_DTYPE_INT8};
  const char *const names[3] = {"weights float32", "weights bfloat16", "weights int8"};
  int64_t bytes[3];
  rlt_module *module = NULL, *none = NULL;
  for (int i = 0; i < INPUTS * OUTPUTS; ++i) elements[i] = 127.0f / 128;
  for (int i = 0; i < 2 * INPUTS; ++i) ones[i] = 1;
  rlt_tensor *x = matrix(ones, 2, INPUTS), *weight = matrix(elements, INPUTS, OUTPUTS);
  rlt_value argument = of_tensor(x), parameter = of_tensor(weight);
  OK(rlt_module_new("Linear", NULL, &module));
  OK(rlt_module_register(module, "w", NULL, &parameter, 1));
  OK(rlt_module_define(module, "def forward(self, x):\n    return torch.mm(x, self.w)\n"));
  for (int i = 0; i < 3; ++i) {
    rlt_module *fast = NULL;
    rlt_value result = {RLT_VALUE_NONE, 0, 0, {0}};
    OK(rlt_module_compile(module, NULL, 0, dtypes[i], &fast));
    OK(rlt_module_method_weights(fast, "forward", &bytes[i]));
    CHECK(bytes[i] == -1);
    OK(rlt_module_run(fast, "forward", &argument, 1, NULL, 0, &result));
    CHECK(floats(result.as.tensor)[0] == 63.5f && floats(result.as.tensor)[2 * OUTPUTS - 1] == 63.5f);
    rlt_value_free(&result);
    OK(rlt_module_method_plan(fast, "forward", &result));
    CHECK(strstr(result.as.string, names[i]) != NULL);
    rlt_value_free(&result);
    OK(rlt_module_method_weights(fast, "forward", &bytes[i]));
    rlt_module_free(fast);
  }
  CHECK(bytes[0] == sizeof elements && bytes[1] < bytes[0] && bytes[2] < bytes[1]);
  FAILS(rlt_module_compile(module, NULL, 0, RLT_DTYPE_FLOAT16, &none), RLT_ERROR_VALUE, "bfloat16 or int8");
  rlt_module_free(module);
  rlt_tensor_free(weight);
  rlt_tensor_free(x);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  rlt_module *module = NULL;
  OK(rlt_module_load(argv[1], &module));
  methods(module);
  containers(module);
  attributes(module);
  parameters(module);
  files(argv[1], module);
  compiled(module);
  weights();
  rlt_module_free(module);
  source();
  CHECK(live() == 0);
  OK(rlt_runtime_shutdown());
  return 0;
}
