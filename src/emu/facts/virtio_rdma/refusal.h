/* SPDX-License-Identifier: MIT */
/* Why a device refuses a control request; refusals.def has the reasons.
 *
 * Whoever refuses names the reason, and the response code follows from it, so that no two places
 * can answer the same thing differently.
 */
#ifndef EMU_FACTS_VIRTIO_RDMA_REFUSAL_H
#define EMU_FACTS_VIRTIO_RDMA_REFUSAL_H

#include "emu/facts/compared.h"

enum ctrl_refusal {
#define REFUSAL(name, number, rsp, lead, tail, form, text) REF_##name = (number),
#include "emu/facts/virtio_rdma/refusals.def"
#undef REFUSAL
};

/* A reason, and what it compared. */
struct refused {
    enum ctrl_refusal why; /* REF_NONE: the request was carried out */
    struct compared values;
};

/* The response code that says so, an enum ctrl_rsp. */
uint32_t refusal_rsp(enum ctrl_refusal why);

/* Appends ", expected at most 16 entries, found 17 entries"; nothing for a reason that compares
 * nothing.
 */
void compared_add_refusal(struct text *t, uint32_t why, const struct compared *c);

#endif
