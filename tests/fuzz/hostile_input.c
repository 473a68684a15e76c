/* SPDX-License-Identifier: MIT */
/* Decodes an input into the actions of a hostile driver. */
#include "emu/facts/enum/send_flag.h"
#include "hostile_host.h"

enum hostile_ring hostile_ring_of(struct input *in)
{
    return (enum hostile_ring)(input_u8(in) % RING_COUNT);
}

void hostile_do_kick(const struct hostile_lab *h, struct input *in)
{
    hostile_kick(h, hostile_ring_of(in));
}

void hostile_do_wait(const struct hostile_lab *h, struct input *in)
{
    static const uint64_t waits[] = {100, 1000, 10000, 1000000};

    hostile_go_on(h, waits[input_u8(in) % ARRAY_LEN(waits)]);
}

void hostile_do_post(const struct hostile_lab *h, struct input *in)
{
    const uint8_t how = input_u8(in);
    const struct testbed_side *s = &h->ours[how % HOSTILE_SERVICES];
    const uint64_t at = input_u16(in) % (HOSTILE_REGION_BYTES - 4096u);
    const uint32_t n = input_u16(in) & 0x0fff;
    const enum rdl_status any =
        how & 0x80 ? testbed_side_recv(h->lab, s, how, at, n)
                   : testbed_side_send(h->lab, s, how, at, n, how & 0x40 ? SF_SIGNALED : 0);

    (void)any;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    hostile_init();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct hostile_target *t = &hostile_target;
    struct input in = {data, n};
    struct hostile_lab *h = hostile_begin(input_u8(&in));

    if (t->begin)
        t->begin();
    for (unsigned i = 0; i < t->deeds_max && in.n > 0; i++)
        t->deed(h, &in);
    if (t->end)
        t->end(h);
    hostile_end(h);
    return 0;
}
