/* SPDX-License-Identifier: MIT */
/* Numbers from an input; see input.h. */
#include "input.h"

uint8_t input_u8(struct input *in)
{
    if (in->n == 0)
        return 0;
    in->n--;
    return *in->at++;
}

uint16_t input_u16(struct input *in)
{
    const unsigned low = input_u8(in);

    return (uint16_t)(low | (unsigned)input_u8(in) << 8);
}

uint32_t input_u32(struct input *in)
{
    const uint32_t low = input_u16(in);

    return low | (uint32_t)input_u16(in) << 16;
}

uint64_t input_u64(struct input *in)
{
    const uint64_t low = input_u32(in);

    return low | (uint64_t)input_u32(in) << 32;
}
