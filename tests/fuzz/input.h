/* SPDX-License-Identifier: MIT */
/* An input, read as numbers. */
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

/* The rest of an input.  Reading beyond its end gives zeros. */
struct input {
    const uint8_t *at;
    size_t n;
};
uint8_t input_u8(struct input *in);
uint16_t input_u16(struct input *in);
uint32_t input_u32(struct input *in);
uint64_t input_u64(struct input *in);

#endif
