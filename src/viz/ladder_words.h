/* SPDX-License-Identifier: MIT */
/* The texts of a ladder, generated from events. */
#ifndef VIZ_LADDER_WORDS_H
#define VIZ_LADDER_WORDS_H

#include "emu/trace/events/frames.h"
#include "viz/ladder_model.h"

struct past; /* emu/past/past.h */
struct past_call;

/* Input for the note of one event, or of a run of similar events. */
struct ladder_saying {
    const struct ev *first; /* first event of a run of posts or completions, or the only event */
    uint32_t n;             /* number of events in the run */
    uint64_t last_wr_id;    /* wr_id of the last event of the run */
    uint64_t armed_ns;      /* timeout: when the timer was armed; UINT64_MAX: unknown */
    ev_id armed;            /* timeout: the arming event, if before the picture; otherwise 0 */
    bool kicked;            /* the device was kicked after the last post */
    bool name_qp;           /* name the QP, because the host has several */
    const struct ev_names *names;
};

/* Adds the note of an event or a run.  Adds nothing if the event needs no note.  Returns the tone
 * of the note, or TONE_PLAIN without a note.
 */
enum ladder_tone ladder_say(struct text *t, const struct ladder_saying *s);

/* Returns true if the event @next may join a run of @n similar events, of which @first is the first
 * and @last_wr_id the wr_id of the last: it is similar and of the same time, and the wr_ids count
 * up or are all the same.
 */
bool ladder_say_together(const struct ev *first, uint32_t n, uint64_t last_wr_id,
                         const struct ev *next);

/* Adds a call of a program: "rdma_connect(id)", or "rdma_get_cm_event: id ESTABLISHED". */
void ladder_add_call(struct text *t, const struct past_call *call, const struct ev_names *names);

/* Adds the label of the packet that event @e of @past sends or ends: "SEND_LAST psn=102 ackreq
 * 2nd", where 2nd means that it is sent for the second time.  @name_qp: add the name of the QP.
 */
void ladder_add_label(struct text *t, const struct ev *e, bool name_qp, const struct past *past);

/* Adds the effect of a fault that did not end the packet, for its label: ", delayed 5us by f1". */
void ladder_add_fault(struct text *t, const struct ev_fault *f);

/* Returns the tone of a packet with @opcode and @syndrome (enum syndrome; SYN_NONE: no AETH). */
enum ladder_tone ladder_packet_tone(uint32_t opcode, uint32_t syndrome);

#endif
