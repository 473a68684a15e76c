/* SPDX-License-Identifier: MIT */
#include "swarm/draw/extend.h"

#include "emu/base/assert.h"
#include "emu/base/prng.h"
#include "emu/base/text.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/virtio/feature.h"

#define CEQS_DRAWN 6u

struct extend extend_draw(struct prng *rng)
{
    const uint64_t kind = prng_below(rng, 4);
    const uint64_t part = prng_next(rng) & RDMA_EXTENSIONS;
    struct extend e = {.ceqs = 1 + (uint32_t)prng_below(rng, CEQS_DRAWN)};

    if (kind > 0)
        e.extensions = kind == 1 ? part : RDMA_EXTENSIONS;
    return e;
}

const char *extend_words(const struct extend *e, char out[EXTEND_WORDS_BYTES])
{
    struct text t = text_on(out, EXTEND_WORDS_BYTES);
    const char *between = " extensions=";

    for (uint32_t bit = 0; bit < 64; bit++) {
        if (!(e->extensions >> bit & 1u))
            continue;
        text_addf(&t, "%s%s", between, enum_name(&enum_extension, bit));
        between = ",";
    }
    if (e->extensions && e->ceqs)
        text_addf(&t, " ceqs=%u", e->ceqs);
    RDL_ASSERT(!t.cut);
    return out;
}
