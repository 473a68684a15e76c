/* SPDX-License-Identifier: MIT */
/* Shared by the fuzz targets: how a finding is reported, and the functions that libFuzzer calls.
 *
 * Each target is one program.  libFuzzer calls LLVMFuzzerTestOneInput() with one input after the
 * other.  The function must leave no state behind, so that the effect of an input depends on its
 * bytes only.  A finding is an abort: by FUZZ_CHECK, by RDL_ASSERT in the tested code, or by a
 * sanitizer.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "emu/base/assert.h"
#include "rdmalab/status.h"

/* Aborts unless a property that the target guarantees holds. */
#define FUZZ_CHECK(promise) RDL_ASSERT(promise)

/* Aborts unless a call of the API that the target relies on succeeded. */
static inline void must(enum rdl_status st)
{
    FUZZ_CHECK(st == RDL_OK);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Optional: libFuzzer calls it instead of its own mutations, which are LLVMFuzzerMutate(). */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max);

#endif
