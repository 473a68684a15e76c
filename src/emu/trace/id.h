/* SPDX-License-Identifier: MIT */
/* The ids of events, and their text form #tick.row.
 *
 * A tick is one dispatch of the simulation, or one action of a guest.  The row numbers the events
 * of a tick from 1.  Row 0 stands for the whole tick.
 */
#ifndef EMU_TRACE_ID_H
#define EMU_TRACE_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/text.h"

struct text;

#define EV_ROW_BITS   20u
#define EV_ROW_MAX    ((1u << EV_ROW_BITS) - 1u)
#define EV_HOST_NONE  0xffffffffu /* a field of type host that names no host */
#define EV_ANY        0xffffffffu /* a field of a type any_*: any value */
#define EV_PORT_FIRST 4096u /* a field of type host: number of external port 0; hosts are below */
#define EV_PORTS_MAX  64u
#define EV_NAME_BYTES 24u       /* a short name inside an event, with its NUL */
#define EV_ADDR_BYTES 46u       /* an address as text, with its NUL */
#define EV_CHANCE     "chance"  /* field `name` of an event `lost`: lost by chance (loss_ppm) */
#define EV_BURST      "a burst" /* field `name` of an event `lost`: lost in a burst of losses */

/* The id of an event: tick << EV_ROW_BITS | row.  0 is "no event": the cause of an event that an
 * action of the user caused.
 */
typedef uint64_t ev_id;

static inline ev_id ev_id_of(uint64_t tick, uint32_t row)
{
    return tick << EV_ROW_BITS | row;
}

static inline uint64_t ev_tick(ev_id id)
{
    return id >> EV_ROW_BITS;
}

static inline uint32_t ev_row(ev_id id)
{
    return (uint32_t)(id & EV_ROW_MAX);
}

/* Returns the last event that @id can mean: @id itself, or the highest row of a whole tick (#12).
 */
static inline ev_id ev_id_last(ev_id id)
{
    return ev_row(id) ? id : id | EV_ROW_MAX;
}

/* Appends the text form of @id: "#34.1", or "#34" for row 0. */
void ev_add_id(struct text *t, ev_id id);

/* Returns true if @s starts with an id: "#" or a digit.  The # is optional because in a shell it
 * starts a comment.  An id without # cannot be confused with a name: names start with a letter.
 */
bool ev_id_begins(const char *s);

/* Parses an id at the start of @s ("#34" has row 0).  Returns the text after it, or NULL if @s does
 * not start with an id.
 */
const char *ev_id_take(const char *s, ev_id *ret);

/* Parses the whole of @s as an id.  Returns false and leaves *@ret unchanged if @s is not an id. */
bool ev_id_parse(const char *s, ev_id *ret);

#endif
