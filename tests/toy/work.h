/* SPDX-License-Identifier: MIT */
/* Posts and completions: functions of struct verbs_driver_ops. */
#ifndef TESTS_TOY_WORK_H
#define TESTS_TOY_WORK_H

#include "toy/driver.h"

/* Returns the address vector of @a, with its port. */
struct av toy_av(const struct rdl_ah_attr *a);

enum rdl_status toy_post_send(struct guest_qp *qp, const struct verbs_send *send,
                              uint32_t *ret_entry);
enum rdl_status toy_post_recv(struct guest_qp *qp, const struct rdl_recv_wr *wr,
                              uint32_t *ret_entry);
enum rdl_status toy_post_srq_recv(struct guest_srq *srq, const struct rdl_recv_wr *wr,
                                  uint32_t *ret_entry);
void toy_kick(struct guest_qp *qp, bool send);
void toy_kick_srq(struct guest_srq *srq);

enum rdl_status toy_poll_cq(struct guest_cq *cq, size_t max, struct rdl_wc *ret, size_t *ret_n);
size_t toy_peek_cq(const struct guest_cq *cq, uint32_t skip, size_t max, struct rdl_wc *ret);
uint32_t toy_count_unpolled(const struct guest_cq *cq);
uint32_t toy_count_posted(const struct guest_object *o, bool sends);

#endif
