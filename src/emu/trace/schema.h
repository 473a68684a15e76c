/* SPDX-License-Identifier: MIT */
/* The schema of events as data: for each kind its uses, its fields and their formats.
 *
 * Code that finds fields by name does not need the structs of the events (event.h).
 */
#ifndef EMU_TRACE_SCHEMA_H
#define EMU_TRACE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/trace/id.h"
#include "emu/trace/set.h"

struct ev;
struct enum_table;

/* The uses of a kind of events: a column of events.def. */
enum ev_for {
    EV_FOR_STORY = 1,  /* printed while a command runs */
    EV_FOR_WHY = 2,    /* a step in the answer of `why` */
    EV_FOR_LADDER = 4, /* drawn at a lifeline of the ladder diagram */
    EV_FOR_NAMES = 8,  /* contains the name of a host, an external port or an object */
    EV_FOR_WATCH = 16  /* input of the invariant checks */
};

/* Returns the kinds that have the use @whom. */
struct ev_set ev_set_for(enum ev_for whom);

/* The format in which a field is printed. */
enum ev_print {
    EVP_NUMBER,
    EVP_HEX,
    EVP_FLAG,
    EVP_TIME,
    EVP_HOST,
    EVP_EVENT,
    EVP_MAC,
    EVP_STR,
    EVP_ENUM
};

struct ev_field {
    const char *name;
    const char *type; /* type in ftypes.def: "psn" */
    uint16_t offset;  /* in struct ev */
    uint16_t bytes;   /* 4 or 8; for EVP_STR the capacity, including the NUL */
    enum ev_print print;
    uint32_t unset; /* value that means "not set": 0, or all ones (EV_HOST_NONE, EV_ANY) */
    bool repeats;   /* a repetition has the same value; false: see VARIES in ftypes.def */
    bool hashed;    /* part of the hash; false: see DERIVED in ftypes.def */
    const struct enum_table *const *words; /* EVP_ENUM: names of the values; otherwise NULL */
};

/* The colour of a kind of events. */
enum ev_tone {
    EV_TONE_PLAIN,
    EV_TONE_GOOD,
    EV_TONE_WAIT,  /* something must be retried, or arrives changed or late */
    EV_TONE_BAD,   /* something is lost or has failed */
    EV_TONE_STATUS /* depends on the event's field `status` */
};

struct ev_schema {
    const char *name; /* "tx" */
    unsigned whom;    /* set of enum ev_for */
    enum ev_tone tone;
    const char *text; /* sentence for the event, with fields in braces: "{name} to port {port}" */
    const struct ev_field *fields;
    size_t n_fields;
};

/* Returns true if the field can have the value "any", which is the number EV_ANY. */
bool ev_field_takes_any(const struct ev_field *f);

/* Returns the schema of @kind, an enum ev_kind below EV_COUNT. */
const struct ev_schema *ev_schema(uint32_t kind);

/* Returns true if @kind has the use @whom. */
static inline bool ev_is_for(uint32_t kind, enum ev_for whom)
{
    return (ev_schema(kind)->whom & whom) != 0;
}

/* Returns the kind with the name @name (enum ev_kind), or EV_COUNT if there is none. */
uint32_t ev_kind_find(const char *name);

/* Returns the field @name of @kind, or NULL if the kind has no such field. */
const struct ev_field *ev_field_find(uint32_t kind, const char *name);

/* Returns the value of field @f in @e, or 0 if it is a string field (EVP_STR). */
uint64_t ev_field_number(const struct ev *e, const struct ev_field *f);

/* Sets field @f in @e, which must not be a string field (EVP_STR).  A field of 4 bytes gets the low
 * 32 bits of @v.  The readers of trace files use it.
 */
void ev_field_set(struct ev *e, const struct ev_field *f, uint64_t v);

#endif
