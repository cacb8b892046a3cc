/* Values of every kind: a program builds them, an operator passes them on, the program reads them. */
#include "check.h"

static rlt_value tagged(int32_t tag) {
  rlt_value value;
  memset(&value, 0, sizeof value);
  value.tag = tag;
  return value;
}

static rlt_value of_int(int64_t i) {
  rlt_value value = tagged(RLT_VALUE_INT);
  value.as.i = i;
  return value;
}

static rlt_value of_string(const char *text) {
  rlt_value value = tagged(RLT_VALUE_STRING);
  value.as.string = text;
  return value;
}

static rlt_value of_values(int32_t tag, const rlt_value *values, int64_t len) {
  rlt_value value = tagged(tag);
  value.len = len;
  value.as.values = values;
  return value;
}

static int32_t echo(void *ctx, const rlt_value *args, int64_t n_args, rlt_value *outs, int64_t n_outs) {
  (void)ctx;
  return n_args == n_outs ? rlt_value_copy(&args[0], &outs[0]) : RLT_ERROR_INTERNAL;
}

static rlt_op *define(const char *schema) {
  rlt_op *op = NULL;
  OK(rlt_op_define(schema, &op));
  OK(rlt_op_impl(op, RLT_KEY_COMPOSITE, echo, NULL, NULL));
  return op;
}

/* What the operator returns for the value. */
static rlt_value through(const rlt_op *op, rlt_value value) {
  rlt_value out = tagged(RLT_VALUE_NONE);
  int64_t count = 0;
  OK(rlt_op_invoke(op, &value, 1, NULL, 0, &out, 1, &count));
  CHECK(count == 1);
  return out;
}

static int32_t refused(const rlt_op *op, rlt_value value) {
  rlt_value out;
  int64_t count = 0;
  return rlt_op_invoke(op, &value, 1, NULL, 0, &out, 1, &count);
}

static void lists_and_tuples(const rlt_op *any) {
  const int64_t ints[2] = {1, 2};
  const char *const texts[2] = {"one", "two"};
  rlt_value inner[3], out;
  inner[0] = tagged(RLT_VALUE_INT_LIST);
  inner[0].len = 2;
  inner[0].as.ints = ints;
  inner[1] = tagged(RLT_VALUE_STRING_LIST);
  inner[1].len = 2;
  inner[1].as.strings = texts;
  inner[2] = of_string("end");

  out = through(any, of_values(RLT_VALUE_LIST, inner, 3));
  CHECK(out.tag == RLT_VALUE_LIST && out.len == 3 && out.flags == RLT_VALUE_OWNED);
  CHECK(out.as.values[0].tag == RLT_VALUE_INT_LIST && out.as.values[0].as.ints[1] == 2);
  CHECK(out.as.values[1].tag == RLT_VALUE_STRING_LIST && strcmp(out.as.values[1].as.strings[1], "two") == 0);
  CHECK(out.as.values[2].flags == 0 && strcmp(out.as.values[2].as.string, "end") == 0);
  rlt_value_free(&out);

  out = through(any, of_values(RLT_VALUE_TUPLE, inner, 2));
  CHECK(out.tag == RLT_VALUE_TUPLE && out.len == 2);
  rlt_value_free(&out);
  out = through(any, of_values(RLT_VALUE_LIST, NULL, 0));
  CHECK(out.tag == RLT_VALUE_LIST && out.len == 0);
  rlt_value_free(&out);

  FAILS(refused(any, of_values(RLT_VALUE_LIST, NULL, 1)), RLT_ERROR_NULL_POINTER, "args[0]");
  FAILS(refused(any, of_values(RLT_VALUE_LIST, inner, -1)), RLT_ERROR_VALUE, "negative");
  inner[1].as.strings = NULL;
  FAILS(refused(any, of_values(RLT_VALUE_TUPLE, inner, 2)), RLT_ERROR_NULL_POINTER, "args[0]");
  inner[0].tag = 28;
  FAILS(refused(any, of_values(RLT_VALUE_TUPLE, inner, 1)), RLT_ERROR_TYPE, "28 is not the tag of a value");
  /* A list that contains itself. */
  inner[0] = of_values(RLT_VALUE_LIST, inner, 1);
  FAILS(refused(any, inner[0]), RLT_ERROR_VALUE, "nested more than 64 deep");
}

static void dicts(const rlt_op *any, rlt_tensor *tensor) {
  rlt_value entries[4], out;
  entries[0] = of_string("a");
  entries[1] = tagged(RLT_VALUE_TENSOR);
  entries[1].as.tensor = tensor;
  entries[2] = of_string("b");
  entries[3] = of_int(2);
  out = through(any, of_values(RLT_VALUE_DICT, entries, 2));
  CHECK(out.tag == RLT_VALUE_DICT && out.len == 2);
  CHECK(strcmp(out.as.values[0].as.string, "a") == 0 && out.as.values[1].as.tensor == tensor);
  CHECK(strcmp(out.as.values[2].as.string, "b") == 0 && out.as.values[3].as.i == 2);
  rlt_value_free(&out);

  entries[2] = of_string("a");
  FAILS(refused(any, of_values(RLT_VALUE_DICT, entries, 2)), RLT_ERROR_VALUE, "occurs twice in a dict");
  entries[2] = of_int(1);
  FAILS(refused(any, of_values(RLT_VALUE_DICT, entries, 2)), RLT_ERROR_TYPE, "the keys of a dict are str and int");
  entries[0] = of_values(RLT_VALUE_LIST, NULL, 0);
  FAILS(refused(any, of_values(RLT_VALUE_DICT, entries, 1)), RLT_ERROR_TYPE, "list cannot be the key of a dict");
  FAILS(refused(any, of_values(RLT_VALUE_DICT, NULL, 1)), RLT_ERROR_NULL_POINTER, "args[0]");
}

static void simple(const rlt_op *any, rlt_tensor *tensor) {
  rlt_value parts[3], value, out;
  parts[0] = of_string("my.Color");
  parts[1] = of_string("RED");
  parts[2] = of_int(7);
  out = through(any, of_values(RLT_VALUE_ENUM, parts, 3));
  CHECK(out.tag == RLT_VALUE_ENUM && strcmp(out.as.values[0].as.string, "my.Color") == 0);
  CHECK(strcmp(out.as.values[1].as.string, "RED") == 0 && out.as.values[2].as.i == 7);
  rlt_value_free(&out);
  parts[2] = tagged(RLT_VALUE_NONE);
  FAILS(refused(any, of_values(RLT_VALUE_ENUM, parts, 3)), RLT_ERROR_TYPE, "must be int, float or str, not None");
  parts[1] = of_int(1);
  FAILS(refused(any, of_values(RLT_VALUE_ENUM, parts, 3)), RLT_ERROR_TYPE, "are not strings");
  FAILS(refused(any, of_values(RLT_VALUE_ENUM, NULL, 3)), RLT_ERROR_NULL_POINTER, "args[0]");

  value = tagged(RLT_VALUE_STREAM);
  value.as.stream.device.type = RLT_DEVICE_CPU;
  value.as.stream.device.index = -1;
  value.as.stream.id = 5;
  out = through(any, value);
  CHECK(out.tag == RLT_VALUE_STREAM && out.as.stream.id == 5 && out.as.stream.device.type == RLT_DEVICE_CPU);
  value = tagged(RLT_VALUE_QSCHEME);
  value.as.i = 1;
  out = through(any, value);
  CHECK(out.tag == RLT_VALUE_QSCHEME && out.as.i == 1);
  value.as.i = 9;
  FAILS(refused(any, value), RLT_ERROR_VALUE, "unknown quantization scheme 9");

  rlt_storage *storage = NULL, *other = NULL;
  void *data = NULL, *same = NULL;
  int64_t bytes = 0;
  OK(rlt_storage_of(tensor, &storage));
  OK(rlt_storage_data(storage, &data, &bytes));
  CHECK(bytes == 2 * (int64_t)sizeof(float));
  value = tagged(RLT_VALUE_STORAGE);
  value.as.storage = storage;
  out = through(any, value);
  CHECK(out.tag == RLT_VALUE_STORAGE);
  OK(rlt_storage_retain(out.as.storage, &other));
  OK(rlt_storage_data(other, &same, &bytes));
  CHECK(same == data);
  rlt_value_free(&out);
  rlt_storage_free(other);
  rlt_storage_free(storage);
  value.as.storage = NULL;
  FAILS(refused(any, value), RLT_ERROR_NULL_POINTER, "args[0]");
}

static int freed = 0;

static void count_free(void *content) {
  (void)content;
  ++freed;
}

static void other_free(void *content) { (void)content; }

static void objects(const rlt_op *any) {
  int content = 3;
  rlt_object *object = NULL, *more = NULL;
  const char *class_name = NULL;
  void *found = NULL;
  OK(rlt_object_new("__torch__.torch.classes.my.Stack", &content, count_free, &object));
  rlt_value value = tagged(RLT_VALUE_OBJECT);
  value.as.object = object;
  rlt_value out = through(any, value);
  CHECK(out.tag == RLT_VALUE_OBJECT && out.as.object == object);
  OK(rlt_object_class_name(out.as.object, &class_name));
  CHECK(strcmp(class_name, "__torch__.torch.classes.my.Stack") == 0);
  OK(rlt_object_content(out.as.object, count_free, &found));
  CHECK(found == &content);
  OK(rlt_object_content(out.as.object, other_free, &found));
  CHECK(found == NULL);

  rlt_op *stack = define("values::stack(__torch__.torch.classes.my.Stack self) -> __torch__.torch.classes.my.Stack");
  rlt_op *queue = define("values::queue(__torch__.torch.classes.my.Queue self) -> Any");
  rlt_value back = through(stack, value);
  CHECK(back.as.object == object);
  rlt_value_free(&back);
  FAILS(refused(queue, value), RLT_ERROR_TYPE, "not an object of __torch__.torch.classes.my.Stack");
  OK(rlt_op_unregister(stack));
  OK(rlt_op_unregister(queue));

  OK(rlt_object_retain(object, &more));
  rlt_object_free(object);
  rlt_value_free(&out);
  CHECK(freed == 0);
  rlt_object_free(more);
  CHECK(freed == 1);
  value.as.object = NULL;
  FAILS(refused(any, value), RLT_ERROR_NULL_POINTER, "args[0]");
  FAILS(rlt_object_new(NULL, NULL, NULL, &object), RLT_ERROR_NULL_POINTER, "class_name");
}

static void futures(const rlt_op *any) {
  rlt_future *future = NULL, *more = NULL;
  int32_t complete = 1;
  rlt_value three = of_int(3), value = tagged(RLT_VALUE_FUTURE), out;
  OK(rlt_future_new(&future));
  value.as.future = future;
  out = through(any, value);
  CHECK(out.tag == RLT_VALUE_FUTURE && out.as.future == future);
  OK(rlt_future_is_complete(future, &complete));
  CHECK(complete == 0);
  FAILS(rlt_future_set_value(future, &value), RLT_ERROR_VALUE, "cannot contain a future");
  OK(rlt_future_set_value(out.as.future, &three));
  FAILS(rlt_future_set_value(future, &three), RLT_ERROR_RUNTIME, "completed already");
  rlt_value_free(&out);
  OK(rlt_future_wait(future, &out));
  CHECK(out.tag == RLT_VALUE_INT && out.as.i == 3);
  rlt_future_free(future);

  OK(rlt_future_new(&future));
  OK(rlt_future_retain(future, &more));
  OK(rlt_future_set_error(more, RLT_ERROR_INDEX, "out of range"));
  FAILS(rlt_future_wait(future, &out), RLT_ERROR_INDEX, "out of range");
  FAILS(rlt_future_set_error(future, 12345, "x"), RLT_ERROR_VALUE, "12345 is not the code of an error");
  rlt_future_free(future);
  rlt_future_free(more);

  /* A wait ends when the program cancels. */
  OK(rlt_future_new(&future));
  OK(rlt_cancel_set(1));
  FAILS(rlt_future_wait(future, &out), RLT_ERROR_CANCELLED, "");
  OK(rlt_cancel_set(0));
  rlt_future_free(future);
}

/* A schema of containers checks and converts what is in them. */
static void typed_containers(void) {
  rlt_op *op = define("values::typed(Dict(str, float[][]) self) -> Dict(str, float[][])");
  const int64_t ints[2] = {1, 2};
  rlt_value row = tagged(RLT_VALUE_INT_LIST), entries[2], out;
  row.len = 2;
  row.as.ints = ints;
  entries[0] = of_string("rows");
  entries[1] = of_values(RLT_VALUE_LIST, &row, 1);
  out = through(op, of_values(RLT_VALUE_DICT, entries, 1));
  CHECK(out.as.values[1].tag == RLT_VALUE_LIST && out.as.values[1].as.values[0].len == 2);
  rlt_value_free(&out);
  entries[1] = of_int(1);
  FAILS(refused(op, of_values(RLT_VALUE_DICT, entries, 1)), RLT_ERROR_TYPE, "must be float[][], not int");
  FAILS(refused(op, of_int(1)), RLT_ERROR_TYPE, "argument 'self' must be Dict(str, float[][]), not int");
  OK(rlt_op_unregister(op));
}

/* A weak reference does not keep its tensor alive. */
static void weak_references(void) {
  const float numbers[2] = {1, 2};
  rlt_tensor *tensor = vector(numbers, 2), *locked = NULL;
  rlt_weak_tensor *weak = NULL, *other = NULL;
  int64_t count = 0, weak_count = 0;
  OK(rlt_weak_tensor_new(tensor, &weak));
  OK(rlt_weak_tensor_clone(weak, &other));
  OK(rlt_tensor_weak_use_count(tensor, &weak_count));
  CHECK(weak_count == 3);
  OK(rlt_weak_tensor_lock(weak, &locked));
  OK(rlt_weak_tensor_use_count(other, &count, &weak_count));
  CHECK(locked != NULL && count == 2 && weak_count == 3);
  rlt_tensor_free(locked);
  rlt_tensor_free(tensor);
  OK(rlt_weak_tensor_lock(other, &locked));
  OK(rlt_weak_tensor_use_count(other, &count, &weak_count));
  CHECK(locked == NULL && count == 0 && weak_count == 2);
  rlt_weak_tensor_free(weak);
  rlt_weak_tensor_free(other);
}

int main(void) {
  const float numbers[2] = {1, 2};
  int64_t live = -1;
  rlt_tensor *tensor = vector(numbers, 2);
  rlt_op *any = define("values::any(Any self) -> Any");
  lists_and_tuples(any);
  dicts(any, tensor);
  simple(any, tensor);
  objects(any);
  futures(any);
  typed_containers();
  weak_references();
  OK(rlt_op_unregister(any));
  rlt_tensor_free(tensor);
  OK(rlt_live_handles(&live));
  CHECK(live == 0);
  return 0;
}
