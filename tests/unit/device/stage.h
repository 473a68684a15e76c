/* SPDX-License-Identifier: MIT */
/* A machine with small limits and an object of each kind, for tests of refused control requests. */
#ifndef TESTS_UNIT_DEVICE_STAGE_H
#define TESTS_UNIT_DEVICE_STAGE_H

#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "machine.h"

#define PAGES_AT 0x100000u /* a list of pages */
#define PAGE_AT  0x5000u   /* the first of them */

#define UD_QPN   3u /* beside PAIR_SENDER, which is RC */
#define USER_MRN 1u
#define FAST_MRN 2u
#define MWN      3u

/* Small enough that a test reaches each of them at once. */
extern const struct rdl_device_limits stage_limits;

#define OK(cmd, name, ...) assert_int_equal(ASK(m, CMD_##cmd, name, __VA_ARGS__), RSP_OK)

/* Moves PAIR_SENDER to the state @to, with the attributes of stage_attr_to(). */
#define MOVE(to)                                                                                   \
    do {                                                                                           \
        const struct rfc_qp_attr a_ = stage_attr_to(to);                                           \
                                                                                                   \
        assert_int_equal(machine_move(m, PAIR_SENDER, &a_), RSP_OK);                               \
    } while (0)

/* PD 1, CQ 1, an RC and a UD queue pair, SRQ 1, a user region, a fast region, and a window. */
int stage_set_up(void **state);

/* Writes the list at PAGES_AT: @n pages from @first on. */
void stage_put_pages(struct machine *m, uint64_t first, uint32_t n);

/* CREATE_QP of @type; returns the response code. */
int stage_new_qp(struct machine *m, uint8_t type);

/* A hash of the device's whole state without the control queue's own indexes and the reason of the
 * last refusal.
 */
uint64_t stage_digest(const struct machine *m);

/* Attributes for a move from the state before @state to it.  Tests can still make them larger. */
struct rfc_qp_attr stage_attr_to(enum qp_state state);

#endif
