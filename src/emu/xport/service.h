/* SPDX-License-Identifier: MIT */
/* The transport services: differences between reliable connections, unreliable connections and
 * datagrams.  Everything else is the same for all services.  [IBTA1 9.7, 9.8]
 */
#ifndef EMU_XPORT_SERVICE_H
#define EMU_XPORT_SERVICE_H

#include <stdbool.h>

#include "emu/facts/enum/drop.h"
#include "emu/facts/opcode.h"
#include "emu/xport/xport.h"

struct xport_qp;

struct service {
    uint32_t type;           /* enum qp_type */
    enum op_service packets; /* service in the opcodes that its queue pairs receive */
    bool connected;          /* each queue pair has one peer and one path to it; false: datagrams */
    bool reliable;           /* requests are acknowledged, retransmitted and answered */

    /* Processes a packet that admit() has accepted.  Emits rx, and drop if the packet is dropped.
     * Returns DROP_NONE or the reason why the packet was dropped.
     */
    enum drop_reason (*receive)(struct xport_qp *xqp, const struct packet *p,
                                const struct rx_info *info);

    /* Called when a send request has failed.  Moves the queue pair to ERR if the service is
     * reliable, otherwise to SQE (TRAIT_SEND_ERROR_IS_SQE).
     */
    void (*send_failed)(struct xport_qp *xqp);
};

/* Returns the service of queue pairs of @type (enum qp_type), or NULL for an unknown or unsupported
 * type.
 */
const struct service *service_of(uint32_t type);

#endif
