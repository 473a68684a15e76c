/* SPDX-License-Identifier: MIT */
/* Texts of saved traces for tests, and reading them. */
#ifndef TESTS_UNIT_CLI_TRACE_FILE_TRACE_TEXT_H
#define TESTS_UNIT_CLI_TRACE_FILE_TRACE_TEXT_H

#include "testing.h"

#include <stdio.h>

#include "cli/trace_file/trace_file.h"

#define HEADER "{\"format\":\"rdmalab-trace\",\"version\":1"
#define GOOD   "{\"at_ns\":5,\"id\":\"#1.1\",\"ev\":\"cq_event\",\"host\":\"h1\",\"cqn\":1}\n"

/* Reads the @n bytes at @text.  The caller frees the result. */
static inline enum rdl_status read_bytes(const char *text, size_t n, struct trace_file **ret,
                                         struct trace_file_error *err)
{
    FILE *f = tmpfile();
    enum rdl_status st;

    *ret = NULL;
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    rewind(f);
    st = trace_file_read(f, ret, err);
    fclose(f);
    return st;
}

#endif
