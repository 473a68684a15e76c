/* SPDX-License-Identifier: MIT */
/* The texts of a ladder, generated from events. */
#ifndef VIZ_LADDER_WORDS_H
#define VIZ_LADDER_WORDS_H

#include "emu/trace/events/frames.h"
#include "viz/ladder_model.h"

/* Input for the note of one event, or of a run of similar events. */
struct ladder_saying {
    const struct ev *first; /* first event of a run of posts or completions, or the only event */
    uint32_t n;             /* number of events in the run */
    uint64_t last_wr_id;    /* of the last event of the run */
    uint64_t armed_ns;      /* when the timer of a timeout was armed; UINT64_MAX: unknown */
    ev_id armed;            /* the event that armed it if that is before the picture, or 0 */
    bool kicked;            /* the device was kicked after the last post */
    bool name_qp;           /* the host has several QPs, so name this one */
    const struct ev_names *names;
};

/* Adds the note; nothing if the event needs none.  Returns its tone. */
enum ladder_tone ladder_say(struct text *t, const struct ladder_saying *s);

/* Returns true if @next may join a run of @n events from @first to @last_wr_id: it is similar, and
 * the wr_ids count up or are all the same.
 */
bool ladder_say_together(const struct ev *first, uint32_t n, uint64_t last_wr_id,
                         const struct ev *next);

/* Adds the label of a packet from an event that sends or ends it: "SEND_LAST psn=102 ackreq 2nd".
 */
void ladder_add_label(struct text *t, const struct ev *e, bool name_qp,
                      const struct ev_names *names);

/* Adds what a fault did to a packet that continued, for its label: ", delayed 5us by f1". */
void ladder_add_fault(struct text *t, const struct ev_fault *f);

enum ladder_tone ladder_packet_tone(uint32_t opcode, uint32_t syndrome);

#endif
