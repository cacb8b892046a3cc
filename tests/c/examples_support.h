/* What the generated examples call: make a tensor, check a status, compare a result. */
#ifndef RUSHLIGHT_TESTS_EXAMPLES_SUPPORT_H
#define RUSHLIGHT_TESTS_EXAMPLES_SUPPORT_H

#include <rushlight/rushlight.h>
#include <stdio.h>
#include <string.h>

static int example_failures = 0;

static void example_fail(const char *name, const char *what) {
    fprintf(stderr, "%s: %s\n", name, what);
    example_failures += 1;
}

static void example_ok(int32_t status, const char *name) {
    if (status != RLT_OK) {
        example_fail(name, rlt_last_error_message());
    }
}

static rlt_tensor *example_tensor(const void *data, size_t nbytes, const int64_t *sizes, int64_t ndim, int32_t dtype) {
    rlt_tensor *out = NULL;
    example_ok(rlt_tensor_from_data(data, (int64_t)nbytes, sizes, ndim, dtype, &out), "rlt_tensor_from_data");
    return out;
}

/* Sizes, dtype and every byte must agree. Frees `out`. */
static void example_expect(rlt_tensor *out, const char *name, const void *data, size_t nbytes, const int64_t *sizes,
                           int64_t ndim, int32_t dtype) {
    rlt_tensor *dense = NULL;
    const int64_t *out_sizes = NULL;
    const int64_t *out_strides = NULL;
    int64_t out_ndim = -1;
    int32_t out_dtype = -1;
    void *out_data = NULL;
    if (out == NULL) {
        return; /* the failed call has been reported */
    }
    example_ok(rlt_tensor_contiguous(out, RLT_MEMORY_FORMAT_CONTIGUOUS, &dense), name);
    example_ok(rlt_tensor_geometry(dense, &out_sizes, &out_strides, &out_ndim), name);
    example_ok(rlt_tensor_dtype(dense, &out_dtype), name);
    example_ok(rlt_tensor_data_ptr(dense, &out_data), name);
    if (out_ndim != ndim || (ndim > 0 && memcmp(out_sizes, sizes, (size_t)ndim * sizeof(int64_t)) != 0)) {
        example_fail(name, "the sizes differ from the documented ones");
    } else if (out_dtype != dtype) {
        example_fail(name, "the dtype differs from the documented one");
    } else if (memcmp(out_data, data, nbytes) != 0) {
        example_fail(name, "the elements differ from the documented ones");
    }
    rlt_tensor_free(dense);
    rlt_tensor_free(out);
}

/* The program's exit status; handles left over are a failure too. */
static int example_report(void) {
    int64_t live = -1;
    example_ok(rlt_live_handles(&live), "rlt_live_handles");
    if (live != 0) {
        example_fail("rlt_live_handles", "handles are left over");
    }
    if (example_failures == 0) {
        printf("every example gives what the documentation says\n");
    }
    return example_failures == 0 ? 0 : 1;
}

#endif
