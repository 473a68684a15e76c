/* SPDX-License-Identifier: MIT */
/* The response codes with which a virtio-rdma device refuses control requests. */
#ifndef EMU_FACTS_VIRTIO_RDMA_REFUSAL_RSP_H
#define EMU_FACTS_VIRTIO_RDMA_REFUSAL_RSP_H

#include <stdint.h>

/* Returns the response code (enum ctrl_rsp) for the reason @why (enum refusal_reason). */
uint32_t refusal_rsp(uint32_t why);

/* Returns the errno for the response code @rsp: that of the reasons with this code.  Returns EIO
 * for a code that no reason has, such as RSP_ERR.
 */
int ctrl_rsp_errno(uint32_t rsp);

#endif
