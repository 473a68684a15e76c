/* SPDX-License-Identifier: MIT */
/* The reasons why a device refuses a control request.  refusals.def has a row for each reason.
 *
 * Code that refuses a request gives the reason, which determines the response code.  The same
 * reason therefore always has the same response code.
 */
#ifndef EMU_FACTS_VIRTIO_RDMA_REFUSAL_H
#define EMU_FACTS_VIRTIO_RDMA_REFUSAL_H

#include "emu/facts/compared.h"
#include "emu/facts/virtio_rdma/refusal_rsp.h"

enum ctrl_refusal {
#define REFUSAL(name, number, rsp, lead, tail, form, text) REF_##name = (number),
#include "emu/facts/virtio_rdma/refusals.def"
#undef REFUSAL
};

/* The result of a control request: the reason of a refusal, and the compared values. */
struct refused {
    enum ctrl_refusal why; /* REF_NONE: the request was carried out */
    struct compared values;
};

#endif
