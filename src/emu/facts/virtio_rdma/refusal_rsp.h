/* SPDX-License-Identifier: MIT */
/* Questions about the reason of a refused control request, for code that names no reason itself. */
#ifndef EMU_FACTS_VIRTIO_RDMA_REFUSAL_RSP_H
#define EMU_FACTS_VIRTIO_RDMA_REFUSAL_RSP_H

#include "emu/facts/compared.h"

/* Returns the response code (enum ctrl_rsp) for the reason @why (enum ctrl_refusal). */
uint32_t refusal_rsp(uint32_t why);

/* Appends the values @c that the reason @why (enum ctrl_refusal) compared: ", expected at most 16
 * entries, found 17".  Appends nothing for a reason that compares no values.
 */
void compared_add_refusal(struct text *t, uint32_t why, const struct compared *c);

#endif
