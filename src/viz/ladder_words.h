/* SPDX-License-Identifier: MIT */
/* The words of a ladder, from events. */
#ifndef VIZ_LADDER_WORDS_H
#define VIZ_LADDER_WORDS_H

#include "viz/ladder_model.h"

/* What is said beside a lifeline about one event, or about a run of like events. */
struct ladder_saying {
    const struct ev *first; /* of a run of posts or completions, or the only one */
    uint32_t n;             /* how many events are in the run */
    uint64_t last_wr_id;    /* of the run */
    uint64_t armed_ns;      /* when the timer of a `timeout` was armed; UINT64_MAX: unknown */
    ev_id armed;            /* the event that armed it if that is before the picture, or 0 */
    bool kicked;            /* the device was kicked after the last post */
    bool name_qp;           /* the host has several */
    const struct ev_names *names;
};

/* Appends the note, or nothing if the event needs none.  Returns its tone. */
enum ladder_tone ladder_say(struct text *t, const struct ladder_saying *s);

/* May @next join a run of @n events that began with @first and has come to @last_wr_id?  Their
 * wr_ids count up, or are all the same.
 */
bool ladder_say_together(const struct ev *first, uint32_t n, uint64_t last_wr_id,
                         const struct ev *next);

/* The label of a packet, from its tx or rx event: "SEND_LAST psn=102 ackreq 2nd". */
void ladder_add_label(struct text *t, const struct ev *e, bool name_qp,
                      const struct ev_names *names);

/* What a fault did to a packet that goes on, for its label: ", delayed 5us by f1". */
void ladder_add_fault(struct text *t, const struct ev_fault *f);

enum ladder_tone ladder_packet_tone(uint32_t opcode, uint32_t syndrome);

#endif
