/* SPDX-License-Identifier: MIT */
/* One event of the trace, and the schema as data.
 *
 * An event is named #tick.row.  The tick is one dispatch of the simulation (or one action of a
 * guest), the row counts the events within it from 1.  Row 0 names the whole tick.
 */
#ifndef EMU_TRACE_EVENT_H
#define EMU_TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/text.h"
#include "emu/facts/enums.h"

#define EV_ROW_BITS   20u
#define EV_ROW_MAX    ((1u << EV_ROW_BITS) - 1u)
#define EV_NAME_BYTES 24u
#define EV_ADDR_BYTES 46u
#define EV_CHANCE     "chance"    /* what lost events call the loss of a link */
#define EV_BURST      "a burst"   /* and a burst of losses there */
#define EV_HOST_NONE  0xffffffffu /* a field of type host that names none */
#define EV_ANY        0xffffffffu /* a field of a type any_*: it holds for every frame */
#define EV_PORT_FIRST 4096u       /* a field of type host: external port 0; hosts are below */
#define EV_PORTS_MAX  64u

/* tick << EV_ROW_BITS | row; 0 is "no event": the cause of what a person did. */
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

/* The last event that @id means: itself, or for a whole tick, `#12`, the last that it can have. */
static inline ev_id ev_id_last(ev_id id)
{
    return ev_row(id) ? id : id | EV_ROW_MAX;
}

/* A short name inside an event, cut if it must be. */
struct ev_str {
    char s[EV_NAME_BYTES];
};

struct ev_str ev_str(const char *s);

/* An IP address as text: any fits.  Empty: none. */
struct ev_addr {
    char s[EV_ADDR_BYTES];
};

struct ev_addr ev_addr(const char *s);

enum ev_kind {
#define F(type, field)
#define EVENT(name, whom, tone, fields, text) EV_##name,
#include "emu/trace/events.def"
#undef EVENT
    EV_COUNT
};

/* A set of kinds. */
#define EV_SET_WORDS 2u
_Static_assert(EV_COUNT <= 64 * EV_SET_WORDS, "a set has room for every kind");
struct ev_set {
    uint64_t w[EV_SET_WORDS];
};

extern const struct ev_set ev_set_none, ev_set_all;

static inline bool ev_set_has(const struct ev_set *s, enum ev_kind kind)
{
    return (s->w[(unsigned)kind / 64u] >> (unsigned)kind % 64u & 1u) != 0;
}

static inline void ev_set_add(struct ev_set *s, enum ev_kind kind)
{
    s->w[(unsigned)kind / 64u] |= (uint64_t)1 << (unsigned)kind % 64u;
}

/* For whom events of a kind are: a column of events.def. */
enum ev_for {
    EV_FOR_STORY = 1,  /* printed while a command runs */
    EV_FOR_WHY = 2,    /* a step of `why` */
    EV_FOR_LADDER = 4, /* drawn at a lifeline */
    EV_FOR_NAMES = 8,  /* names are learnt from it */
    EV_FOR_WATCH = 16  /* the invariants are about it */
};

/* All kinds that are for @whom. */
struct ev_set ev_set_for(enum ev_for whom);

#define FTYPE(name, ctype, print, table, none) typedef ctype evf_##name;
#include "emu/trace/ftypes.def"
#undef FTYPE

#undef F
#define F(type, field) evf_##type field;
#define EVENT(name, whom, tone, fields, text)                                                      \
    struct ev_##name {                                                                             \
        fields                                                                                     \
    };
#include "emu/trace/events.def"
#undef EVENT
#undef F

struct ev {
    uint64_t at_ns; /* simulated time */
    ev_id id;
    ev_id cause; /* the event that led to this one; 0: a person or script did */
    enum ev_kind kind;
    union {
#define EVENT(name, whom, tone, fields, text) struct ev_##name name;
#include "emu/trace/events.def"
#undef EVENT
    } u;
};

/* How a field is printed and what its words are. */
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
    const char *type; /* "psn" */
    uint16_t offset;  /* in struct ev */
    uint16_t bytes;   /* 4, 8; EVP_STR: room for the string and its NUL */
    enum ev_print print;
    uint32_t unset; /* its value in an event that does not say it: 0, EV_HOST_NONE, EV_ANY */
    const struct enum_table *const *words; /* of EVP_ENUM */
};

/* Is it good news that such an event happened? */
enum ev_tone {
    EV_TONE_PLAIN,
    EV_TONE_GOOD,
    EV_TONE_WAIT,  /* something must be tried again, or comes otherwise than it was sent */
    EV_TONE_BAD,   /* something is lost, or went wrong */
    EV_TONE_STATUS /* its field `status` says which */
};

struct ev_schema {
    const char *name;
    unsigned whom; /* set of enum ev_for */
    enum ev_tone tone;
    const char *text;
    const struct ev_field *fields;
    size_t n_fields;
};

/* Is "any" a value of the field?  It is the number EV_ANY then. */
bool ev_field_takes_any(const struct ev_field *f);

/* The row of events.def; @kind < EV_COUNT. */
const struct ev_schema *ev_schema(enum ev_kind kind);

static inline bool ev_is_for(enum ev_kind kind, enum ev_for whom)
{
    return (ev_schema(kind)->whom & whom) != 0;
}

/* The kind called @name, or EV_COUNT. */
enum ev_kind ev_kind_find(const char *name);

/* The field @name of @kind, or NULL. */
const struct ev_field *ev_field_find(enum ev_kind kind, const char *name);

/* A number field's value; a string field has none (0). */
uint64_t ev_field_number(const struct ev *e, const struct ev_field *f);

/* Sets a number field, for readers of saved traces. */
void ev_field_set(struct ev *e, const struct ev_field *f, uint64_t v);

/* Names of hosts, external ports and objects, learnt from the events host_up, port_up and named, so
 * that a saved trace prints like a live one.  A number keeps its name when its object is gone,
 * until another takes it.  Owned by the caller; ev_names_free() gives the memory back.
 */
struct ev_names;
struct ev_names *ev_names_new(void);
void ev_names_free(struct ev_names *n);
void ev_names_learn(struct ev_names *n, const struct ev *e);

/* Was memory short since the last question, so that numbers are printed in place of names? */
bool ev_names_were_short(struct ev_names *n);

/* "h1" or "host5"; "h1.qp" or "h1.qpn7".  @names may be NULL. */
void ev_names_host(const struct ev_names *n, struct text *t, uint32_t host);
void ev_names_object(const struct ev_names *n, struct text *t, uint32_t host,
                     enum object_kind object, uint32_t number);

/* The host called @name, or EV_HOST_NONE. */
uint32_t ev_names_find_host(const struct ev_names *n, const char *name);

/* What is known, one at a time, as the event that teaches it again (its id and time are 0): hosts,
 * ports, objects.  *@at is 0 before the first; false: there is no more.
 */
bool ev_names_next(const struct ev_names *n, size_t *at, struct ev *ret);

/* "#34.1", or "#34" for row 0. */
void ev_add_id(struct text *t, ev_id id);

/* Is @s meant as an id?  A shell takes # for a comment, so that it may be left out: no name begins
 * with a digit.
 */
bool ev_id_begins(const char *s);

/* Reads an id ("#34" is row 0 of it) at the start of @s; returns what follows, or NULL. */
const char *ev_id_take(const char *s, ev_id *ret);

/* Reads the whole of @s; false if it is no id, and @ret is untouched then. */
bool ev_id_parse(const char *s, ev_id *ret);

/* One field as people write it: "RC_SEND_ONLY", "100", "h1", "0x1a3". */
void ev_add_field(struct text *t, const struct ev *e, const struct ev_field *f,
                  const struct ev_names *names);

/* ", expected psn=50, found psn=100": what the rule or the reason of an rx, drop, key or cqe
 * compared.  Nothing for other kinds, or where nothing was compared; @say_psn as in compared.h.
 */
void ev_add_compared(struct text *t, const struct ev *e, bool say_psn);

/* The sentence of an event, without its id: "h1.qp RESET -> INIT". */
void ev_add_text(struct text *t, const struct ev *e, const struct ev_names *names);

/* "#34.1 fetch    h1.qp desc 0, ...": id, kind in a column, sentence. */
void ev_add_line(struct text *t, const struct ev *e, const struct ev_names *names);

/* One JSON object, without a line end.  64-bit fields beyond 2^53 are strings. */
void ev_add_json(struct text *t, const struct ev *e, const struct ev_names *names);

/* Longest result of the functions above. */
#define EV_TEXT_BYTES 512u
#define EV_JSON_BYTES 1024u

#endif
