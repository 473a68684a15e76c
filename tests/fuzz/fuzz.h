/* SPDX-License-Identifier: MIT */
/* What the fuzz targets share: how a finding is told, and what libFuzzer calls.
 *
 * Each target is one program: LLVMFuzzerTestOneInput() is called with one input after the other,
 * and must leave nothing behind, so that what an input does depends on its bytes alone.  A finding
 * is an abort: of FUZZ_CHECK, of RDL_ASSERT in what is tested, or of a sanitizer.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "emu/base/assert.h"

/* A promise of the target. */
#define FUZZ_CHECK(promise) RDL_ASSERT(promise)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Called by libFuzzer where a target has it, in place of its own mutations, which are
 * LLVMFuzzerMutate().
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max);

#endif
