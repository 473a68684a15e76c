/* SPDX-License-Identifier: MIT */
/* Memory for bulk data of a test: its fragments, its bytes, and the guards around them. */
#ifndef LNET_SELFTEST_DATA_H
#define LNET_SELFTEST_DATA_H

#include "lnet/selftest.h"

/* The memory, and the operations that reach it.  Zeroed, with @ops and @ctx set, it is empty. */
struct selftest_data {
    const struct lnd_ops *ops;
    void *ctx;
    uint64_t pages, pages_bytes; /* 0: none */
    struct lnet_frag frags[LNET_IOV_MAX];
    uint32_t n;
};

/* Wrong bytes that were found: their number, and the offset of the first. */
struct selftest_bad {
    uint64_t n;
    uint32_t at;
};

/* Lays out @bytes bytes in the form @shape, in memory that is there already or that is allocated,
 * and writes the guards.  0, -ENOMEM or -EFAULT.
 */
int selftest_data_lay_out(struct selftest_data *d, const struct selftest_shape *shape,
                          uint32_t bytes);
void selftest_data_free(struct selftest_data *d);

/* Write the data of @seed, or its complement.  Return false if the memory is not mapped. */
bool selftest_data_fill(const struct selftest_data *d, uint64_t seed);
bool selftest_data_spoil(const struct selftest_data *d, uint64_t seed);

/* Compares with the data of @seed, and compares the guards: a wrong one counts as a wrong byte at
 * the offset of the fragment beside it.  Returns false if the memory is not mapped.
 */
bool selftest_data_check(const struct selftest_data *d, uint64_t seed, struct selftest_bad *ret);

#endif
