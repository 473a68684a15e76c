/* SPDX-License-Identifier: MIT */
/* The services of queue pairs: what differs between reliable connections, unreliable connections
 * and datagrams.  Whatever has no member here is the same for all.  [IBTA1 9.7, 9.8]
 */
#ifndef EMU_XPORT_SERVICE_H
#define EMU_XPORT_SERVICE_H

#include <stdbool.h>

#include "emu/facts/opcode.h"
#include "emu/xport/xport.h"

struct xport_qp;

struct service {
    enum qp_type type;
    enum op_service packets; /* of this service are for its queue pairs */
    bool connected;          /* a queue pair has one far side, and one path to it */
    bool reliable;           /* requests are acknowledged, sent again, and answered */

    /* A packet that admit() let in.  Emits rx, and drop.  DROP_NONE, or why it was thrown away. */
    enum drop_reason (*receive)(struct xport_qp *xqp, const struct packet *p,
                                const struct rx_info *info);

    /* The send queue cannot go on: its oldest request ended with an error. */
    void (*send_failed)(struct xport_qp *xqp);
};

/* NULL: a queue pair of @type, which may be anything, is not carried. */
const struct service *service_of(uint32_t type);

#endif
