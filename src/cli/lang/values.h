/* SPDX-License-Identifier: MIT */
/* Kinds of values that commands take: how each is written, checked, and put into JSON. */
#ifndef CLI_LANG_VALUES_H
#define CLI_LANG_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/source.h"
#include "emu/facts/enums.h"

struct param;

enum value_kind {
    VAL_FLAG,     /* a bare word, present or not */
    VAL_NEW_NAME, /* of something that is being made */
    VAL_HOST,     /* name of a host */
    VAL_NODE,     /* name of a host, switch or live port */
    VAL_SENDER,   /* name of a host or live port */
    VAL_LINK,     /* two nodes: h1-h2 */
    VAL_FAULT,    /* name of a fault */
    VAL_OBJECT,   /* path of an object: h1.qp */
    VAL_QUEUE,    /* path of a work queue: h1.qp.sq */
    VAL_PATH,     /* anything in the inspect tree, or an event */
    VAL_AT,       /* an address: h1.mr[0], or a number */
    VAL_BYTES,    /* a part of a region: h1.mr[0:64] */
    VAL_INT,
    VAL_SIZE,
    VAL_COUNT,
    VAL_TIME,
    VAL_RATE,
    VAL_CHANCE,
    VAL_WORD, /* of an enumeration */
    VAL_SET,  /* words of an enumeration */
    VAL_TEXT, /* anything, in quotes where needed */
    VAL_HEX,  /* bytes as hexadecimal digits */
    VAL_MAC,
    VAL_ADDR,    /* IPv4 or IPv6 */
    VAL_STATION, /* that, or the name of a host */
    VAL_EXPR,    /* see expr.h */
    VAL_FILE,    /* name of a file */
    VAL_TOPIC,   /* a word of `help` or `explain` */
    VAL_KEY,     /* of memory: a number, or the path of an object that has one */
    VAL_QPN,     /* a number, or the path of a queue pair */
    VAL_NUMBER,  /* an integer, or the path of one, or of an object that has one */
    N_VALUE_KINDS
};

struct value_kind_info {
    const char *placeholder; /* in usage lines: "SIZE" */
    const char *what;        /* "a size: 64, 4k, 1m" */
    const char *pattern;     /* regular expression of its JSON string; NULL: any */
    bool number;             /* may be a JSON integer too */
};
extern const struct value_kind_info value_kinds[N_VALUE_KINDS];

/* Is @text a value that @p takes?  Only what can be said without a lab is checked.  On failure @d
 * says why, with the place inside @at; @at is where @text came from.
 */
bool value_check(const struct param *p, const char *text, struct span at, struct diag *d);

/* Are its values numbers, with or without a unit? */
bool value_is_quantity(enum value_kind kind);

/* The value of a checked text. */
uint64_t value_number(const struct param *p, const char *text);

/* The row of @words that is called @text (all upper or all lower case, or for access flags the
 * short form); NULL if there is none.
 */
const struct enum_row *value_word(const struct enum_table *words, const char *text);

/* The word as it is written in a line: in lower case, access flags in their short form.  @ret has
 * VALUE_WORD_BYTES.
 */
#define VALUE_WORD_BYTES 48u
void value_word_text(const struct enum_table *words, const struct enum_row *row, char *ret);

/* Puts ASCII letters into lower case. */
void value_lower_case(char *s);

/* Decimal digits without a leading zero, up to 2^53: what JSON can carry as a number. */
bool value_is_plain_integer(const char *text);

/* Bytes of @hex, two digits each, into @ret (which may be NULL to count). */
size_t value_hex_bytes(const char *hex, uint8_t *ret);

/* "BASE[FROM:TO]", "BASE[AT]" or "BASE", the parts of a VAL_BYTES or VAL_AT. */
struct slice_text {
    size_t base_bytes; /* length of BASE in the text */
    bool has_from, has_to;
    uint64_t from, to;
};

/* NULL on success, or why @text is none; *@reterr_at is the offset of what is wrong. */
const char *value_slice(const char *text, struct slice_text *ret, size_t *reterr_at);

/* Is @text, the @name of @kind, one?  If not, @d says so of its part of @at. */
bool value_slice_check(const char *name, enum value_kind kind, const char *text, struct span at,
                       struct diag *d);

#endif
