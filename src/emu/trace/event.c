/* SPDX-License-Identifier: MIT */
/* The schema of events.def as a data structure. */
#include "emu/trace/event.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum_table.h"

enum {
#define FTYPE(name, ctype, how, table, none, again, hash) FT_##name,
#include "emu/trace/ftypes.def"
#undef FTYPE
};

/* FT_PRINT_type: how a field of the type is printed, as constants for initialisers. */
enum {
#define FTYPE(name, ctype, how, table, none, again, hash) FT_PRINT_##name = EVP_##how,
#include "emu/trace/ftypes.def"
#undef FTYPE
};

enum { FT_ZERO, FT_ONES }; /* the column `none`: the value of a field that is not set */

enum {
#define FTYPE(name, ctype, how, table, none, again, hash) FT_UNSET_##name = FT_##none,
#include "emu/trace/ftypes.def"
#undef FTYPE
};

enum { FT_VARIES, FT_SAME }; /* the column `again`: the value in a repetition */

enum {
#define FTYPE(name, ctype, how, table, none, again, hash) FT_REPEATS_##name = FT_##again,
#include "emu/trace/ftypes.def"
#undef FTYPE
};

enum { FT_DERIVED, FT_HASHED }; /* the column `hash` */

enum {
#define FTYPE(name, ctype, how, table, none, again, hash) FT_HASH_##name = FT_##hash,
#include "emu/trace/ftypes.def"
#undef FTYPE
};

static const struct enum_table *const ft_words[] = {
#define FTYPE(name, ctype, how, table, none, again, hash) [FT_##name] = table,
#include "emu/trace/ftypes.def"
#undef FTYPE
};

struct ev_str ev_str(const char *s)
{
    struct ev_str r = {{0}};
    const size_t n = strlen(s);

    memcpy(r.s, s, n < sizeof(r.s) ? n : sizeof(r.s) - 1);
    return r;
}

struct ev_addr ev_addr(const char *s)
{
    struct ev_addr r = {{0}};
    const size_t n = strlen(s);

    memcpy(r.s, s, n < sizeof(r.s) ? n : sizeof(r.s) - 1);
    return r;
}

/* The words that events.def uses in its column of uses. */
enum {
    STORY = EV_FOR_STORY,
    WHY = EV_FOR_WHY,
    LADDER = EV_FOR_LADDER,
    NAMES = EV_FOR_NAMES,
    WATCH = EV_FOR_WATCH
};

const struct ev_set ev_set_none = {{0}};
_Static_assert(EV_SET_WORDS == 3, "ev_set_all has a value for each word");
const struct ev_set ev_set_all = {{UINT64_MAX, UINT64_MAX, UINT64_MAX}};

/* Each case is a scope of its own, with this_event as the struct of its kind, which F() needs. */
const struct ev_schema *ev_schema(uint32_t kind)
{
    switch ((enum ev_kind)kind) {
#define F(ftype, field)                                                                            \
    {.name = #field,                                                                               \
     .type = #ftype,                                                                               \
     .offset = (uint16_t)(offsetof(struct ev, u) + offsetof(this_event, field)),                   \
     .bytes = (uint16_t)sizeof(evf_##ftype),                                                       \
     .print = (enum ev_print)FT_PRINT_##ftype,                                                     \
     .unset = FT_UNSET_##ftype ? UINT32_MAX : 0,                                                   \
     .repeats = FT_REPEATS_##ftype,                                                                \
     .hashed = FT_HASH_##ftype,                                                                    \
     .words = &ft_words[FT_##ftype]},
#define EVENT(event, all, news, rows, sentence)                                                    \
    case EV_##event: {                                                                             \
        typedef struct ev_##event this_event;                                                      \
        static const struct ev_field fields[] = {rows};                                            \
        static const struct ev_schema schema = {#event,   (all),  EV_TONE_##news,                  \
                                                sentence, fields, ARRAY_LEN(fields)};              \
                                                                                                   \
        return &schema;                                                                            \
    }
#include "emu/trace/events.def"
#undef EVENT
#undef F
    case EV_COUNT:
        break;
    }
    assert_fail("kind < EV_COUNT", __FILE__, __LINE__);
}

uint32_t ev_kind_find(const char *name)
{
    for (uint32_t i = 0; i < EV_COUNT; i++) {
        if (strcmp(ev_schema(i)->name, name) == 0)
            return i;
    }
    return EV_COUNT;
}

const struct ev_field *ev_field_find(uint32_t kind, const char *name)
{
    const struct ev_schema *schema = ev_schema(kind);

    for (size_t i = 0; i < schema->n_fields; i++) {
        if (strcmp(schema->fields[i].name, name) == 0)
            return &schema->fields[i];
    }
    return NULL;
}

bool ev_field_takes_any(const struct ev_field *f)
{
    return f->unset == EV_ANY && f->print != EVP_HOST;
}

uint64_t ev_field_number(const struct ev *e, const struct ev_field *f)
{
    const char *at = (const char *)e + f->offset;
    uint64_t wide;
    uint32_t narrow;

    if (f->print == EVP_STR)
        return 0;
    if (f->bytes == sizeof(narrow)) {
        memcpy(&narrow, at, sizeof(narrow));
        return narrow;
    }
    memcpy(&wide, at, sizeof(wide));
    return wide;
}

void ev_field_set(struct ev *e, const struct ev_field *f, uint64_t v)
{
    char *at = (char *)e + f->offset;
    const uint32_t narrow = (uint32_t)v;

    RDL_ASSERT(f->print != EVP_STR);
    if (f->bytes == sizeof(narrow))
        memcpy(at, &narrow, sizeof(narrow));
    else
        memcpy(at, &v, sizeof(v));
}

struct ev_set ev_set_for(enum ev_for whom)
{
    struct ev_set s = ev_set_none;

    for (uint32_t kind = 0; kind < EV_COUNT; kind++) {
        if (ev_is_for(kind, whom))
            ev_set_add(&s, kind);
    }
    return s;
}
