/* SPDX-License-Identifier: MIT */
/* Events of the trace, and the schema of events as data.
 *
 * An event has the id #tick.row.  A tick is one dispatch of the simulation, or one action of a
 * guest.  The row numbers the events of a tick from 1.  Row 0 stands for the whole tick.
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
#define EV_CHANCE     "chance"    /* name of a lost event's cause: the link's loss, */
#define EV_BURST      "a burst"   /* or a burst of losses on the link */
#define EV_HOST_NONE  0xffffffffu /* a field of type host that names no host */
#define EV_ANY        0xffffffffu /* a field of a type any_*: any value */
#define EV_PORT_FIRST 4096u /* a field of type host: number of external port 0; hosts are below */
#define EV_PORTS_MAX  64u

/* tick << EV_ROW_BITS | row.  0 is "no event": the cause of what the user did. */
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

/* A short name inside an event, truncated if too long. */
struct ev_str {
    char s[EV_NAME_BYTES];
};

struct ev_str ev_str(const char *s);

/* An IP address as text, of either version.  Empty: none. */
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

/* A set of kinds of events. */
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

/* The uses of a kind of events: a column of events.def. */
enum ev_for {
    EV_FOR_STORY = 1,  /* printed while a command runs */
    EV_FOR_WHY = 2,    /* a step in the answer of `why` */
    EV_FOR_LADDER = 4, /* drawn at a lifeline of the ladder diagram */
    EV_FOR_NAMES = 8,  /* tells the name of a host or an object */
    EV_FOR_WATCH = 16  /* input of the invariant checks */
};

/* Returns the kinds that have the use @whom. */
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
    ev_id cause; /* the event that caused this one; 0: the user did */
    enum ev_kind kind;
    union {
#define EVENT(name, whom, tone, fields, text) struct ev_##name name;
#include "emu/trace/events.def"
#undef EVENT
    } u;
};

/* How a field is printed. */
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
    uint32_t unset; /* value that means "not set": 0, or EV_HOST_NONE or EV_ANY (all ones) */
    const struct enum_table *const *words; /* names of the values, for EVP_ENUM */
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
    const char *name;
    unsigned whom; /* set of enum ev_for */
    enum ev_tone tone;
    const char *text;
    const struct ev_field *fields;
    size_t n_fields;
};

/* Returns true if the field can have the value "any", which is the number EV_ANY. */
bool ev_field_takes_any(const struct ev_field *f);

/* Returns the row of events.def.  @kind < EV_COUNT. */
const struct ev_schema *ev_schema(enum ev_kind kind);

static inline bool ev_is_for(enum ev_kind kind, enum ev_for whom)
{
    return (ev_schema(kind)->whom & whom) != 0;
}

/* Returns the kind called @name, or EV_COUNT. */
enum ev_kind ev_kind_find(const char *name);

/* Returns the field @name of @kind, or NULL. */
const struct ev_field *ev_field_find(enum ev_kind kind, const char *name);

/* Returns the value of a number field; 0 for a string field. */
uint64_t ev_field_number(const struct ev *e, const struct ev_field *f);

/* Sets a number field.  Used by the readers of trace files. */
void ev_field_set(struct ev *e, const struct ev_field *f, uint64_t v);

/* Names of hosts, external ports and objects, collected from the events host_up, port_up and named.
 * With them a trace file prints like a running lab.  A number keeps the name of a destroyed object
 * until another object takes the number.  Free with ev_names_free().
 */
struct ev_names;
struct ev_names *ev_names_new(void);
void ev_names_free(struct ev_names *n);
void ev_names_learn(struct ev_names *n, const struct ev *e);

/* Returns true if memory ran short since the last call, so that numbers are printed instead of
 * names.
 */
bool ev_names_were_short(struct ev_names *n);

/* Append "h1" or, without a name, "host5"; "h1.qp" or "h1.qpn7".  @n may be NULL. */
void ev_names_host(const struct ev_names *n, struct text *t, uint32_t host);
void ev_names_object(const struct ev_names *n, struct text *t, uint32_t host,
                     enum object_kind object, uint32_t number);

/* Returns the number of the host called @name, or EV_HOST_NONE. */
uint32_t ev_names_find_host(const struct ev_names *n, const char *name);

/* Iterates over the names: hosts, ports, objects.  *@ret is an event that would teach the name (its
 * id and time are 0).  *@at is 0 before the first call.  Returns false at the end.
 */
bool ev_names_next(const struct ev_names *n, size_t *at, struct ev *ret);

/* Appends "#34.1", or "#34" for row 0. */
void ev_add_id(struct text *t, ev_id id);

/* Returns true if @s starts like an id.  The # may be missing, because a shell takes it for a
 * comment.  Names do not start with a digit.
 */
bool ev_id_begins(const char *s);

/* Parses an id at the start of @s ("#34" has row 0).  Returns the text behind it, or NULL. */
const char *ev_id_take(const char *s, ev_id *ret);

/* Parses the whole of @s as an id.  If it is none, returns false and leaves *@ret unchanged. */
bool ev_id_parse(const char *s, ev_id *ret);

/* Appends the value of one field: "RC_SEND_ONLY", "100", "h1", "0x1a3". */
void ev_add_field(struct text *t, const struct ev *e, const struct ev_field *f,
                  const struct ev_names *names);

/* Appends the values that a rule, a drop reason or a refusal compared: ", expected psn=50, found
 * psn=100".  Appends nothing if the event has none.  @say_psn as in compared.h.
 */
void ev_add_compared(struct text *t, const struct ev *e, bool say_psn);

/* Appends the sentence of an event, without its id: "h1.qp RESET -> INIT". */
void ev_add_text(struct text *t, const struct ev *e, const struct ev_names *names);

/* Appends the id, the kind in a column, and the sentence: "#34.1 fetch    h1.qp desc 0, ...". */
void ev_add_line(struct text *t, const struct ev *e, const struct ev_names *names);

/* Appends the event as one JSON object, without a newline.  Numbers above 2^53 are strings. */
void ev_add_json(struct text *t, const struct ev *e, const struct ev_names *names);

/* Buffer sizes that hold any result of the functions above. */
#define EV_TEXT_BYTES 512u
#define EV_JSON_BYTES 1024u

#endif
