/* SPDX-License-Identifier: MIT */
#include "emu/base/quantity.h"

#include <string.h>
#include <strings.h>

#include "emu/base/assert.h"

#define NUMBER_BYTES 32u

struct quantity_unit {
    enum quantity kind;
    const char *name;
    uint64_t factor;
    bool shown; /* quantity_add() uses it */
};

/* Sorted by kind, largest unit first.  Of several names for a unit the shown one comes first. */
static const struct quantity_unit units[] = {
    {QUANTITY_SIZE, "g", 1u << 30, true},
    {QUANTITY_SIZE, "gib", 1u << 30, false},
    {QUANTITY_SIZE, "m", 1u << 20, true},
    {QUANTITY_SIZE, "mib", 1u << 20, false},
    {QUANTITY_SIZE, "k", 1u << 10, true},
    {QUANTITY_SIZE, "kib", 1u << 10, false},
    {QUANTITY_SIZE, "b", 1, false},
    {QUANTITY_TIME, "s", 1000000000u, true},
    {QUANTITY_TIME, "ms", 1000000u, true},
    {QUANTITY_TIME, "us", 1000u, true},
    {QUANTITY_TIME, "ns", 1, true},
    {QUANTITY_RATE, "t", 1000000000000u, true},
    {QUANTITY_RATE, "tbps", 1000000000000u, false},
    {QUANTITY_RATE, "g", 1000000000u, true},
    {QUANTITY_RATE, "gbps", 1000000000u, false},
    {QUANTITY_RATE, "m", 1000000u, true},
    {QUANTITY_RATE, "mbps", 1000000u, false},
    {QUANTITY_RATE, "k", 1000u, true},
    {QUANTITY_RATE, "kbps", 1000u, false},
    {QUANTITY_RATE, "bps", 1, true},
    {QUANTITY_CHANCE, "%", 10000u, true},
    {QUANTITY_CHANCE, "ppm", 1, true},
};

/* Reads digits of @base at @s.  *@ret_end points behind them.  Returns false if the value
 * overflows.
 */
static bool digits(const char *s, unsigned base, uint64_t *ret, const char **ret_end)
{
    uint64_t v = 0;

    for (;; s++) {
        const int d = text_hex_digit(*s);

        if (d < 0 || (unsigned)d >= base)
            break;
        if (v > (UINT64_MAX - (uint64_t)d) / base)
            return false;
        v = v * base + (uint64_t)d;
    }
    *ret = v;
    *ret_end = s;
    return true;
}

static const struct quantity_unit *unit_find(enum quantity kind, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (units[i].kind == kind && strcasecmp(units[i].name, name) == 0)
            return &units[i];
    }
    return NULL;
}

static const char *unit_hint(enum quantity kind)
{
    switch (kind) {
    case QUANTITY_NUMBER:
        return "a number has no unit";
    case QUANTITY_SIZE:
        return "units of size are k, m, g (powers of 1024)";
    case QUANTITY_TIME:
        return "a time needs a unit: ns, us, ms or s";
    case QUANTITY_RATE:
        return "a rate needs a unit: k, m, g, t (bit/s, powers of 1000) or bps";
    case QUANTITY_CHANCE:
        return "a chance is a percentage like 1%";
    }
    return "unknown unit";
}

/* Kinds that refuse a bare number: 100 bit/s or 100 ppm would be a forgotten unit. */
static bool needs_unit(enum quantity kind)
{
    return kind != QUANTITY_NUMBER && kind != QUANTITY_SIZE;
}

/* Multiplies @whole.@frac (@frac_digits digits) by @factor.  Returns false if the product is not an
 * integer or overflows.
 */
static bool scale(uint64_t whole, uint64_t frac, unsigned frac_digits, uint64_t factor,
                  uint64_t *ret)
{
    uint64_t pow10 = 1;

    if (whole > UINT64_MAX / factor)
        return false;
    for (unsigned i = 0; i < frac_digits; i++)
        pow10 *= 10;
    if (frac && (frac > UINT64_MAX / factor || frac * factor % pow10 != 0))
        return false;
    *ret = whole * factor + (frac ? frac * factor / pow10 : 0);
    return *ret >= whole * factor;
}

/* Parses the ratio @n/DENOMINATOR, with the denominator at @s, to parts per million. */
static const char *parse_ratio(uint64_t n, const char *s, uint64_t *ret)
{
    uint64_t of;
    const char *end;

    if (!digits(s, 10, &of, &end) || end == s || *end != '\0')
        return "a whole number is needed after the slash";
    if (n > of || of == 0)
        return "a chance is at most 1/1";
    if (n > UINT64_MAX / 1000000u || n * 1000000u % of != 0)
        return "the chance is not a whole number of parts per million";
    *ret = n * 1000000u / of;
    return NULL;
}

static const char *parse_decimal(enum quantity kind, const char *s, uint64_t *ret)
{
    const struct quantity_unit *unit;
    uint64_t whole, frac = 0;
    unsigned frac_digits = 0;
    const char *end;

    if (!digits(s, 10, &whole, &end))
        return "the number is too large";
    if (end == s)
        return "a number is needed";
    if (kind == QUANTITY_CHANCE && *end == '/')
        return parse_ratio(whole, end + 1, ret);
    if (*end == '.') {
        const char *start = end + 1;

        if (!digits(start, 10, &frac, &end) || end - start > 12)
            return "too many digits after the point";
        if (end == start)
            return "a digit is needed after the point";
        frac_digits = (unsigned)(end - start);
    }
    if (*end == '\0') {
        if (needs_unit(kind) && (whole != 0 || frac != 0))
            return unit_hint(kind);
        if (frac)
            return "a whole number is needed";
        *ret = whole;
        return NULL;
    }
    unit = unit_find(kind, end);
    if (!unit)
        return unit_hint(kind);
    if (!scale(whole, frac, frac_digits, unit->factor, ret))
        return "the value is too large or not a whole number of the smallest unit";
    return NULL;
}

const char *quantity_parse(enum quantity kind, const char *s, uint64_t *ret)
{
    uint64_t v;
    const char *end;
    const char *err;

    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        if (!digits(s + 2, 16, &v, &end))
            return "the number is too large";
        if (end == s + 2)
            return "hexadecimal digits are needed after 0x";
        if (*end != '\0')
            return "not a hexadecimal digit";
        if (needs_unit(kind))
            return unit_hint(kind);
    } else {
        err = parse_decimal(kind, s, &v);
        if (err)
            return err;
    }
    if (kind == QUANTITY_CHANCE && v > 1000000u)
        return "a chance is at most 100%";
    *ret = v;
    return NULL;
}

bool quantity_add_with_units(struct text *t, enum quantity kind, const char *s)
{
    const char *fit[ARRAY_LEN(units)];
    size_t n = 0;

    if (!needs_unit(kind) || s[strspn(s, "0123456789.")] != '\0')
        return false;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        char buf[NUMBER_BYTES];
        struct text whole = text_on(buf, sizeof(buf));
        uint64_t v;

        text_addf(&whole, "%s%s", s, units[i].name);
        if (units[i].kind == kind && units[i].shown && !whole.cut && !quantity_parse(kind, buf, &v))
            fit[n++] = units[i].name;
    }
    for (size_t i = 0; i < n; i++)
        text_addf(t, "%s%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", s, fit[i]);
    return n > 0;
}

const char *quantity_parse_range(const char *s, uint64_t *ret_first, uint64_t *ret_last)
{
    const char *dots = strstr(s, ".."), *why;
    char buf[NUMBER_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    uint64_t first, last;

    if (!dots)
        return "it is written 1..100";
    text_addn(&t, s, (size_t)(dots - s));
    if (t.cut)
        return "the number is too long";
    why = quantity_parse(QUANTITY_NUMBER, buf, &first);
    if (!why)
        why = quantity_parse(QUANTITY_NUMBER, dots + 2, &last);
    if (why)
        return why;
    *ret_first = first;
    *ret_last = last;
    return NULL;
}

void quantity_add(struct text *t, enum quantity kind, uint64_t v)
{
    for (size_t i = 0; i < ARRAY_LEN(units) && v != 0; i++) {
        const struct quantity_unit *u = &units[i];

        if (u->kind == kind && u->shown && v % u->factor == 0) {
            text_addf(t, "%llu%s", (unsigned long long)(v / u->factor), u->name);
            return;
        }
    }
    text_addf(t, "%llu", (unsigned long long)v);
}

/* Appends a time in the largest unit in which it is at least 1, with at most @digits decimals. */
static void add_time(struct text *t, uint64_t ns, int digits)
{
    static const struct {
        uint64_t factor;
        int digits; /* decimals down to a nanosecond */
        const char *name;
    } rows[] = {{1000000000u, 9, "s"}, {1000000u, 6, "ms"}, {1000u, 3, "us"}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t frac = ns % rows[i].factor;
        int n = rows[i].digits;

        if (ns < rows[i].factor)
            continue;
        for (; n > 0 && (n > digits || frac % 10 == 0); n--)
            frac /= 10;
        text_addf(t, "%llu", (unsigned long long)(ns / rows[i].factor));
        if (n > 0)
            text_addf(t, ".%0*llu", n, (unsigned long long)frac);
        text_add(t, rows[i].name);
        return;
    }
    text_addf(t, ns ? "%lluns" : "%llu", (unsigned long long)ns);
}

void quantity_add_time_short(struct text *t, uint64_t ns)
{
    add_time(t, ns, 2);
}

void quantity_add_time(struct text *t, uint64_t ns)
{
    add_time(t, ns, 9);
}
