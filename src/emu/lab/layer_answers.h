/* SPDX-License-Identifier: MIT */
/* Answers to those who ask for the MAC of a further function of a virtual RNIC.
 *
 * The guest has one network device, at its first function, and its IP stack answers for the
 * addresses there.  At the port of a further function the layer answers, from the MAC of that
 * function: ARP and neighbour solicitations for its addresses on the wire.  The guest gets nothing
 * of it.
 *
 * SIMPLIFIED: nothing else is answered there, as a ping.  A function without an interface has no
 * use for it.
 */
#ifndef EMU_LAB_LAYER_ANSWERS_H
#define EMU_LAB_LAYER_ANSWERS_H

#include "emu/lab/layer.h"
#include "emu/net/frame.h"

#define LAYER_ANSWERS_MAX 16u /* that wait for the line */

struct layer_answer {
    struct frame *frame;
    ev_id asked; /* the event of the question */
};

struct layer_answers {
    struct lab_state *w;
    const struct vrnic_function *function;
    uint32_t port_user;
    struct layer_answer queue[LAYER_ANSWERS_MAX];
    uint32_t first, n; /* of @queue, which is a ring */
};

/* Makes @a the network device of the port of @f.  Neither may move afterwards. */
void layer_answers_init(struct layer_answers *a, struct lab_state *w,
                        const struct vrnic_function *f);

/* The function goes back: drops the answers that wait. */
void layer_answers_forget(struct layer_answers *a);

#endif
