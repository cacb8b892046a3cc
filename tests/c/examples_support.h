/* Support for the generated examples: reads tensors from strings, makes the call, compares the results.
 *
 * A tensor is written `float32[2,1] 1.5 nan`: dtype, sizes, elements. A complex number is two numbers, a boolean 0 or 1;
 * `?` in place of the elements stands for any. `none` is no tensor. `; ` separates several. */
#ifndef RUSHLIGHT_TESTS_EXAMPLES_SUPPORT_H
#define RUSHLIGHT_TESTS_EXAMPLES_SUPPORT_H

#include <math.h>
#include <rushlight/rushlight.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXAMPLE_MOST = 32, EXAMPLE_SIZES = 8, EXAMPLE_ELEMENTS = 4096 };

/* The tensors of a list argument, and the bits of those tensors for `example_written`. */
#define TENSORS(place, count) (const rlt_tensor *const *)&in[place], count
#define RANGE(place, count) (((1u << (count)) - 1u) << (place))

/* Makes the call with the tensors `in` and leaves the results in `out`. */
typedef struct {
    const char *name;
    int32_t (*call)(rlt_tensor **in, rlt_tensor **out);
    const char *inputs;
    const char *results;
} example_case;

static int example_failures = 0;
static const char *example_name = "";
static rlt_tensor_list *example_results = NULL;
#define EXAMPLE_LIST &example_results

static void example_fail(const char *what) {
    fprintf(stderr, "%s: %s\n", example_name, what);
    example_failures += 1;
}

static void example_ok(int32_t status) {
    if (status != RLT_OK) {
        example_fail(rlt_last_error_message());
    }
}

/* Moves the tensors of the returned list to `out`. */
static inline int32_t example_list(int32_t status, rlt_tensor **out) {
    int64_t count = 0;
    if (status == RLT_OK) {
        status = rlt_tensor_list_len(example_results, &count);
    }
    for (int64_t index = 0; index < count && index < EXAMPLE_MOST && status == RLT_OK; ++index) {
        status = rlt_tensor_list_get(example_results, index, &out[index]);
    }
    rlt_tensor_list_free(example_results);
    example_results = NULL;
    return status;
}

/* Moves the arguments that a call has written to `out`. */
static inline int32_t example_written(int32_t status, rlt_tensor **in, rlt_tensor **out, unsigned written) {
    for (int place = 0; place < EXAMPLE_MOST; ++place) {
        if ((written >> place) & 1u) {
            *out++ = in[place];
            in[place] = NULL;
        }
    }
    return status;
}

typedef struct {
    int32_t dtype;
    int32_t wide; /* the dtype in which elements are read and compared: int64, float64 or complex128 */
    const char *name;
} example_dtype;

static const example_dtype *example_find(const char *text, size_t length) {
    static const example_dtype dtypes[] = {
        {RLT_DTYPE_BOOL, RLT_DTYPE_INT64, "bool"},
        {RLT_DTYPE_UINT8, RLT_DTYPE_INT64, "uint8"},
        {RLT_DTYPE_INT8, RLT_DTYPE_INT64, "int8"},
        {RLT_DTYPE_INT16, RLT_DTYPE_INT64, "int16"},
        {RLT_DTYPE_INT32, RLT_DTYPE_INT64, "int32"},
        {RLT_DTYPE_INT64, RLT_DTYPE_INT64, "int64"},
        {RLT_DTYPE_FLOAT16, RLT_DTYPE_FLOAT64, "float16"},
        {RLT_DTYPE_BFLOAT16, RLT_DTYPE_FLOAT64, "bfloat16"},
        {RLT_DTYPE_FLOAT32, RLT_DTYPE_FLOAT64, "float32"},
        {RLT_DTYPE_FLOAT64, RLT_DTYPE_FLOAT64, "float64"},
        {RLT_DTYPE_COMPLEX32, RLT_DTYPE_COMPLEX128, "complex32"},
        {RLT_DTYPE_COMPLEX64, RLT_DTYPE_COMPLEX128, "complex64"},
        {RLT_DTYPE_COMPLEX128, RLT_DTYPE_COMPLEX128, "complex128"},
    };
    for (size_t index = 0; index < sizeof dtypes / sizeof dtypes[0]; ++index) {
        if (strlen(dtypes[index].name) == length && strncmp(text, dtypes[index].name, length) == 0) {
            return &dtypes[index];
        }
    }
    return NULL;
}

static rlt_tensor *example_cast(const rlt_tensor *tensor, int32_t dtype) {
    rlt_tensor *out = NULL;
    example_ok(rlt_tensor_to_dtype(tensor, dtype, 0, 0, NULL, &out));
    return out;
}

/* Reads one tensor and moves `text` behind it. `any` is set where the elements are `?`. */
static rlt_tensor *example_read(const char **text, const example_dtype **dtype, int *any) {
    static double floats[EXAMPLE_ELEMENTS];
    static int64_t ints[EXAMPLE_ELEMENTS];
    int64_t sizes[EXAMPLE_SIZES] = {0};
    int64_t ndim = 0;
    int64_t count = 0;
    const char *at = *text;
    size_t length = strcspn(at, "[;");
    rlt_tensor *wide = NULL;
    rlt_tensor *out = NULL;
    *any = 0;
    *dtype = example_find(at, length);
    if (*dtype == NULL) {
        *text = at + length + (at[length] == ';' ? 2 : 0);
        return NULL; /* none */
    }
    for (at += length + 1; *at != ']'; at += *at == ',') {
        sizes[ndim++] = strtoll(at, (char **)&at, 10);
    }
    for (++at; *at != '\0' && *at != ';' && count < EXAMPLE_ELEMENTS; ++count) {
        if (strcmp(at, " ?") == 0 || strncmp(at, " ?;", 3) == 0) {
            *any = 1;
            at += 2;
        } else if ((*dtype)->wide == RLT_DTYPE_INT64) {
            ints[count] = strtoll(at, (char **)&at, 10);
        } else {
            floats[count] = strtod(at, (char **)&at);
        }
    }
    *text = at + (*at == ';' ? 2 : 0);
    if (*any) {
        rlt_tensor_options options = RLT_TENSOR_OPTIONS_INIT;
        options.dtype = (*dtype)->dtype;
        example_ok(rlt_tensor_zeros(sizes, ndim, &options, &out));
        return out;
    }
    const void *data = (*dtype)->wide == RLT_DTYPE_INT64 ? (const void *)ints : (const void *)floats;
    example_ok(rlt_tensor_from_data(data, count * 8, sizes, ndim, (*dtype)->wide, &wide));
    out = example_cast(wide, (*dtype)->dtype);
    rlt_tensor_free(wide);
    return out;
}

static int example_close(double actual, double expected) {
    if (isnan(expected) || isinf(expected)) {
        return isnan(expected) ? isnan(actual) : actual == expected;
    }
    return fabs(actual - expected) <= 1e-8 + 1e-5 * fabs(expected);
}

/* The elements of a tensor in the wide dtype, row-major. */
static rlt_tensor *example_dense(const rlt_tensor *tensor, int32_t wide, void **data) {
    rlt_tensor *cast = example_cast(tensor, wide);
    rlt_tensor *dense = NULL;
    example_ok(rlt_tensor_contiguous(cast, RLT_MEMORY_FORMAT_CONTIGUOUS, &dense));
    example_ok(rlt_tensor_data_ptr(dense, data));
    rlt_tensor_free(cast);
    return dense;
}

static void example_elements(const rlt_tensor *actual, const rlt_tensor *expected, int32_t wide) {
    void *left = NULL;
    void *right = NULL;
    int64_t count = 0;
    rlt_tensor *actual_dense = example_dense(actual, wide, &left);
    rlt_tensor *expected_dense = example_dense(expected, wide, &right);
    example_ok(rlt_tensor_numel(expected, &count));
    count *= wide == RLT_DTYPE_COMPLEX128 ? 2 : 1;
    for (int64_t index = 0; index < count; ++index) {
        const int same = wide == RLT_DTYPE_INT64
                             ? ((const int64_t *)left)[index] == ((const int64_t *)right)[index]
                             : example_close(((const double *)left)[index], ((const double *)right)[index]);
        if (!same) {
            if (wide == RLT_DTYPE_INT64) {
                fprintf(stderr, "element %lld is %lld\n", (long long)index, (long long)((const int64_t *)left)[index]);
            } else {
                fprintf(stderr, "element %lld is %.9g\n", (long long)index, ((const double *)left)[index]);
            }
            example_fail("the elements differ from the documented ones");
            break;
        }
    }
    rlt_tensor_free(actual_dense);
    rlt_tensor_free(expected_dense);
}

/* Dtype and sizes must be equal, floating point elements within a relative 1e-5, others equal. */
static void example_compare(const rlt_tensor *actual, const rlt_tensor *expected, const example_dtype *dtype, int any) {
    const int64_t *sizes[2] = {NULL, NULL};
    const int64_t *strides = NULL;
    int64_t ndim[2] = {-1, -1};
    int32_t actual_dtype = -1;
    if (actual == NULL || expected == NULL) {
        if (actual != NULL || dtype != NULL) {
            example_fail("a result is there or not, unlike in the documentation");
        }
        return;
    }
    example_ok(rlt_tensor_geometry(actual, &sizes[0], &strides, &ndim[0]));
    example_ok(rlt_tensor_geometry(expected, &sizes[1], &strides, &ndim[1]));
    example_ok(rlt_tensor_dtype(actual, &actual_dtype));
    if (ndim[0] != ndim[1] || (ndim[0] > 0 && memcmp(sizes[0], sizes[1], (size_t)ndim[0] * sizeof(int64_t)) != 0)) {
        example_fail("the sizes differ from the documented ones");
    } else if (actual_dtype != dtype->dtype) {
        example_fail("the dtype differs from the documented one");
    } else if (!any) {
        example_elements(actual, expected, dtype->wide);
    }
}

static void example_one(const example_case *example) {
    rlt_tensor *in[EXAMPLE_MOST] = {NULL};
    rlt_tensor *out[EXAMPLE_MOST] = {NULL};
    const example_dtype *dtype = NULL;
    int any = 0;
    int count = 0;
    const char *text = example->inputs;
    example_name = example->name;
    for (int place = 0; *text != '\0'; ++place) {
        in[place] = example_read(&text, &dtype, &any);
    }
    example_ok(rlt_manual_seed(0));
    const int32_t status = example->call(in, out);
    example_ok(status);
    for (text = example->results; *text != '\0'; ++count) {
        rlt_tensor *expected = example_read(&text, &dtype, &any);
        if (status == RLT_OK) {
            example_compare(out[count], expected, dtype, any);
        }
        rlt_tensor_free(expected);
    }
    if (count < EXAMPLE_MOST && out[count] != NULL) {
        example_fail("there are more results than the documented ones");
    }
    for (int place = 0; place < EXAMPLE_MOST; ++place) {
        rlt_tensor_free(in[place]);
        rlt_tensor_free(out[place]);
    }
}

/* The program's exit status; remaining handles are a failure too. */
static int example_run(const example_case *cases, size_t count) {
    int64_t live = -1;
    for (size_t index = 0; index < count; ++index) {
        example_one(&cases[index]);
    }
    example_name = "rlt_live_handles";
    example_ok(rlt_live_handles(&live));
    if (live != 0) {
        example_fail("handles are left over");
    }
    printf("%d failures in %d examples of the documentation\n", example_failures, (int)count);
    return example_failures == 0 ? 0 : 1;
}

#endif
