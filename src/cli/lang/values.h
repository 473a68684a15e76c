/* SPDX-License-Identifier: MIT */
/* Kinds of values that commands take: their syntax, checks and JSON form. */
#ifndef CLI_LANG_VALUES_H
#define CLI_LANG_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/source.h"
#include "emu/base/quantity.h"

struct enum_row;
struct enum_table;

struct param;

enum value_kind {
    VAL_FLAG,     /* a bare word, present or not */
    VAL_NEW_NAME, /* name of an object to be created */
    VAL_HOST,     /* name of a host */
    VAL_NODE,     /* name of a host, switch or live port */
    VAL_SENDER,   /* name of a host or live port */
    VAL_LINK,     /* two nodes: h1-h2 */
    VAL_FAULT,    /* name of a fault */
    VAL_OBJECT,   /* path of an object: h1.qp */
    VAL_QUEUE,    /* path of a work queue: h1.qp.sq */
    VAL_PATH,     /* any path of the inspect tree: h1.qp.sq; or the id of an event: #39.2 */
    VAL_AT,       /* an address: h1.mr[0], or a number */
    VAL_BYTES,    /* a byte range of a region: h1.mr[0:64] */
    VAL_INT,      /* an integer without a unit */
    VAL_SIZE,     /* bytes: 64, 4k */
    VAL_COUNT,    /* a number; k, m and g stand for powers of 1024: 500, 64k */
    VAL_TIME,     /* 10us, 1.5ms */
    VAL_RATE,     /* bit/s: 100g */
    VAL_CHANCE,   /* 1%, 100ppm */
    VAL_WORD,     /* a word of an enumeration */
    VAL_SET,      /* words of an enumeration: lw,rw */
    VAL_TEXT,     /* any text, quoted if needed */
    VAL_HEX,      /* bytes as hexadecimal digits */
    VAL_MAC,
    VAL_ADDR,    /* IPv4 or IPv6 */
    VAL_STATION, /* an IPv4 or IPv6 address, or the name of a host */
    VAL_EXPR,    /* see expr.h */
    VAL_FILE,    /* name of a file */
    VAL_TOPIC,   /* an argument of `help` or `explain` */
    VAL_KEY,     /* a memory key: a number, or the path of an object that has one */
    VAL_QPN,     /* a number, or the path of a queue pair */
    VAL_NUMBER,  /* an integer, the path of one, or of an object that has one: param.stands */
    N_VALUE_KINDS
};

struct value_kind_info {
    const char *placeholder; /* word for such a value in usage lines: "SIZE" */
    const char *what;        /* phrase for messages: "a size in bytes: 64, 4k, 1m" */
    const char *pattern;     /* regular expression of its JSON string; NULL: any */
    bool number;             /* may be a JSON integer too */
};
extern const struct value_kind_info value_kinds[N_VALUE_KINDS];

/* Checks that @text is a valid value of @p, as far as that is possible without a lab.  @at is the
 * position of @text in its source.  Returns false, with a message in @d, on failure.
 */
bool value_check(const struct param *p, const char *text, struct span at, struct diag *d);

/* Appends @v, the smallest or largest value of @p, as a value is written. */
void value_add_bound(struct text *t, const struct param *p, uint64_t v);

/* Returns true if values of this kind are always numbers, with or without a unit. */
bool value_is_quantity(enum value_kind kind);

/* Returns the number that @text, a value of @p that value_check() has accepted, stands for: a time
 * in ns, a size in bytes, or the value of a word's row.
 */
uint64_t value_number(const struct param *p, const char *text);

/* Returns the row of @words with the name @text.  @text is written as in the row, or all in lower
 * case.  Access flags may have their short form.  Returns NULL if there is no such row.
 */
const struct enum_row *value_word(const struct enum_table *words, const char *text);

/* Writes the name of @row to @ret as in a line: in lower case, and access flags in their short
 * form.  The buffer @ret must have VALUE_WORD_BYTES bytes.
 */
#define VALUE_WORD_BYTES 48u
void value_word_text(const struct enum_table *words, const struct enum_row *row, char *ret);

/* Writes the name of the field of frames @row, of enum_wire_field, to @ret: those of messages in
 * lower case, "lnet_rd_key", and those of headers as in the specification, "PSN".  The buffer has
 * VALUE_WORD_BYTES bytes.
 */
void value_field_text(const struct enum_row *row, char *ret);

/* Converts ASCII letters to lower case. */
void value_lower_case(char *s);

/* Returns true if @text has decimal digits only, no leading zero, and is at most 2^53, so that JSON
 * can carry it as a number.
 */
bool value_is_plain_integer(const char *text);

/* Converts hexadecimal digits, two per byte, to bytes.  Returns their number.  @ret may be NULL, to
 * count only.
 */
size_t value_hex_bytes(const char *hex, uint8_t *ret);

/* The parts of a VAL_BYTES or VAL_AT: "BASE[FROM:TO]", "BASE[AT]" or "BASE". */
struct slice_text {
    size_t base_bytes; /* length of BASE in the text */
    /* @has_from: @from is FROM or AT; otherwise 0.  @has_to: @to is TO; otherwise 0. */
    bool has_from, has_to;
    uint64_t from, to;
};

/* Parses a slice.  Returns NULL on success.  Otherwise returns the reason, and *@reterr_at is the
 * offset of the error.
 */
const char *value_slice(const char *text, struct slice_text *ret, size_t *reterr_at);

/* Checks that @text is a valid slice of kind @kind.  @name is the parameter's name for messages.
 * @at is the position of @text.  Returns false with the error in @d.
 */
bool value_slice_check(const char *name, enum value_kind kind, const char *text, struct span at,
                       struct diag *d);

/* Returns the quantity that a number of the kind @kind is. */
enum quantity value_quantity(enum value_kind kind);

#endif
