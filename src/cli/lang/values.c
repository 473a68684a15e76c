/* SPDX-License-Identifier: MIT */
#include "cli/lang/values.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/lang/expr.h"
#include "cli/lang/suggest.h"
#include "cli/lang/table.h"
#include "emu/base/assert.h"
#include "emu/base/json.h"
#include "emu/base/name.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum/wire_field.h"
#include "emu/facts/enum_table.h"
#include "emu/wire/addr.h"
#include "rdmalab/lab.h"

#define TEXT_BYTES_MAX 65536u
#define PATH_BYTES_MAX 160u

/* Parts of the regular expressions below. */
#define RE_INT   "(0[xX][0-9a-fA-F]+|[0-9]+)"
#define RE_NUM   "[0-9]+(\\.[0-9]+)?"
#define RE_SIZE  "(0[xX][0-9a-fA-F]+|" RE_NUM "([bB]|[kKmMgG]([iI][bB])?)?)"
#define RE_PATH  "[A-Za-z][A-Za-z0-9_.\\[\\]-]*"
#define RE_SLICE RE_PATH "(\\[" RE_SIZE "(:" RE_SIZE ")?\\])?"

const struct value_kind_info value_kinds[N_VALUE_KINDS] = {
    [VAL_FLAG] = {"", "a flag: the bare word", NULL, false},
    [VAL_NEW_NAME] = {"NAME", "a name: a letter, then letters, digits, _ and -", "^" NAME_REGEX "$",
                      false},
    [VAL_HOST] = {"HOST", "the name of a host", "^" NAME_REGEX "$", false},
    [VAL_NODE] = {"NODE", "the name of a host, switch or live port", "^" NAME_REGEX "$", false},
    [VAL_SENDER] = {"SENDER", "the name of a host or live port", "^" NAME_REGEX "$", false},
    [VAL_LINK] = {"A-B", "the two nodes of a link: h1-h2", "^" NAME_REGEX "-" NAME_REGEX "$",
                  false},
    [VAL_FAULT] = {"FAULT", "the name of a fault", "^" NAME_REGEX "$", false},
    [VAL_OBJECT] = {"OBJECT", "an object: h1.qp, or its bare name where the host is known",
                    "^" NAME_REGEX "(\\." NAME_REGEX ")?$", false},
    [VAL_QUEUE] = {"QUEUE", "a work queue: h1.qp.sq",
                   "^" NAME_REGEX "(\\." NAME_REGEX ")?\\.(sq|rq)$", false},
    [VAL_PATH] = {"PATH", "anything in the lab (h1.qp.sq) or an event (#12.3)", NULL, false},
    [VAL_AT] = {"ADDRESS", "an address: h1.mr[0], or a number", "^(" RE_INT "|" RE_SLICE ")$",
                false},
    [VAL_BYTES] = {"BYTES", "a part of a memory region: h1.mr[0:64]", "^" RE_SLICE "$", false},
    [VAL_INT] = {"N", "an integer of 0 or more: 17, 0x11", "^" RE_INT "$", true},
    [VAL_SIZE] = {"SIZE", "a size in bytes: 64, 4k, 1m", "^" RE_SIZE "$", true},
    [VAL_COUNT] = {"COUNT", "a number: 500, 64k, 4m", "^" RE_SIZE "$", true},
    [VAL_TIME] = {"TIME", "a time: 500ns, 10us, 1.5ms, 1s", "^(0|" RE_NUM "(ns|us|ms|s))$", false},
    [VAL_RATE] = {"RATE", "a rate in bit/s: 100g, 25g, 10m",
                  "^" RE_NUM "([kKmMgGtT]([bB][pP][sS])?|[bB][pP][sS])$", false},
    [VAL_CHANCE] = {"CHANCE", "a chance: 1%, 0.5%", "^(0|" RE_NUM "(%|[pP][pP][mM]))$", false},
    [VAL_WORD] = {"WORD", "a word", NULL, false},
    [VAL_SET] = {"WORD,...", "words with commas between them", NULL, false},
    [VAL_TEXT] = {"TEXT", "text, in quotes where it has blanks", NULL, false},
    [VAL_HEX] = {"HEX", "bytes as hexadecimal digits: 00ff12", "^([0-9a-fA-F]{2})+$", false},
    [VAL_MAC] = {"MAC", "an Ethernet address: 02:00:00:00:00:01",
                 "^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$", false},
    [VAL_ADDR] = {"IP", "an IPv4 or IPv6 address", "^[0-9a-fA-F:.]+$", false},
    [VAL_STATION] = {"HOST|IP", "a host, or an IPv4 or IPv6 address", "^[0-9a-zA-Z:._-]+$", false},
    [VAL_EXPR] = {"EXPR", "an expression: h1.qp.state == RTS", NULL, false},
    [VAL_FILE] = {"FILE", "the name of a file", NULL, false},
    [VAL_TOPIC] = {"WORD", "a word to be explained", NULL, false},
    [VAL_KEY] = {"KEY", "a key: 0x1234, or an object that has one: h2.mr",
                 "^(" RE_INT "|" NAME_REGEX "(\\." NAME_REGEX ")?)$", true},
    [VAL_QPN] = {"QPN", "the number of a queue pair: 3, or a queue pair: h2.qp",
                 "^(" RE_INT "|" NAME_REGEX "(\\." NAME_REGEX ")?)$", true},
    [VAL_NUMBER] = {"NUMBER", "a number: 17, 0x11, or what has it: h1.qp.sq_psn",
                    "^(" RE_INT "|" RE_PATH ")$", true},
};

bool value_is_plain_integer(const char *text)
{
    uint64_t v;

    if (!isdigit((unsigned char)text[0]) || (text[0] == '0' && text[1] != '\0'))
        return false;
    for (const char *s = text; *s; s++) {
        if (!isdigit((unsigned char)*s))
            return false;
    }
    return !quantity_parse(QUANTITY_NUMBER, text, &v) && v <= JSON_EXACT_MAX;
}

/* Returns true if @text is the word @name, all in upper or all in lower case. */
static bool is_word(const char *text, const char *name)
{
    if (strcmp(text, name) == 0)
        return true;
    return strcasecmp(text, name) == 0 &&
           strcspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(text);
}

const struct enum_row *value_word(const struct enum_table *words, const char *text)
{
    for (size_t i = 0; i < words->n_rows; i++) {
        if (is_word(text, words->rows[i].name) ||
            (words == &enum_access && strcmp(text, words->rows[i].text) == 0))
            return &words->rows[i];
    }
    return NULL;
}

void value_lower_case(char *s)
{
    for (; *s; s++)
        *s = (char)tolower((unsigned char)*s);
}

void value_word_text(const struct enum_table *words, const struct enum_row *row, char *ret)
{
    struct text t = text_on(ret, VALUE_WORD_BYTES);

    text_add(&t, words == &enum_access ? row->text : row->name);
    value_lower_case(ret);
}

void value_field_text(const struct enum_row *row, char *ret)
{
    struct text t = text_on(ret, VALUE_WORD_BYTES);

    text_add(&t, row->name);
    if (WF_IS_MAD(row->value) || WF_IS_LNET(row->value))
        value_lower_case(ret);
}

bool value_is_quantity(enum value_kind kind)
{
    switch (kind) {
    case VAL_INT:
    case VAL_SIZE:
    case VAL_COUNT:
    case VAL_TIME:
    case VAL_RATE:
    case VAL_CHANCE:
        return true;
    default:
        return false;
    }
}

enum quantity value_quantity(enum value_kind kind)
{
    switch (kind) {
    case VAL_SIZE:
    case VAL_COUNT:
        return QUANTITY_SIZE;
    case VAL_TIME:
        return QUANTITY_TIME;
    case VAL_RATE:
        return QUANTITY_RATE;
    case VAL_CHANCE:
        return QUANTITY_CHANCE;
    default:
        return QUANTITY_NUMBER;
    }
}

void value_add_bound(struct text *t, const struct param *p, uint64_t v)
{
    if (p->flags & P_HEX)
        text_addf(t, "0x%llx", (unsigned long long)v);
    else
        quantity_add(t, value_quantity(p->kind), v);
}

static bool check_number(const struct param *p, const char *text, struct span at, struct diag *d)
{
    char buf[DIAG_REMEDY_BYTES];
    struct text range = text_on(buf, sizeof(buf));
    const enum quantity q = value_quantity(p->kind);
    uint64_t v = 0;
    const char *why = quantity_parse(q, text, &v);

    if (why) {
        diag_set(d, DIAG_VALUE, at, "%s: \"%s\" is not %s", p->name, text,
                 value_kinds[p->kind].what);
        if (quantity_add_with_units(&range, q, text))
            return diag_remedy(d, "it needs a unit: %s", buf);
        return diag_remedy(d, "%s", why);
    }
    if (v >= p->min && (p->max == 0 || v <= p->max))
        return true;
    diag_set(d, DIAG_VALUE, at, "%s: %s is out of range", p->name, text);
    text_add(&range, "it must be ");
    value_add_bound(&range, p, p->min);
    text_add(&range, p->max ? " to " : " or more");
    if (p->max)
        value_add_bound(&range, p, p->max);
    return diag_remedy(d, "%s", buf);
}

/* Returns the shortest word of the parameter that has @text between its underscores: rdma_write for
 * "write".  Returns NULL if there is none.
 */
static const char *word_around(const struct param *p, const char *text)
{
    const char *best = NULL;

    for (size_t i = 0; i < p->words->n_rows; i++) {
        const char *name = p->words->rows[i].name;

        if (suggest_is_part(text, name) && (!best || strlen(name) < strlen(best)))
            best = name;
    }
    return best;
}

static bool check_word(const struct param *p, const char *text, struct span at, struct diag *d)
{
    struct suggestion near = suggestion_for(text);
    char list[DIAG_REMEDY_BYTES - 16];
    struct text words = text_on(list, sizeof(list));

    if (value_word(p->words, text))
        return true;
    for (size_t i = 0; i < p->words->n_rows; i++) {
        char word[VALUE_WORD_BYTES];

        value_word_text(p->words, &p->words->rows[i], word);
        text_addf(&words, i ? ", %s" : "%s", word);
        suggest_offer(&near, p->words->rows[i].name);
        if (p->words == &enum_access)
            suggest_offer(&near, p->words->rows[i].text);
    }
    diag_set(d, DIAG_VALUE, at, "%s: no %s is called \"%s\"", p->name, p->words->what, text);
    if (!near.best)
        near.best = word_around(p, text);
    if (near.best) {
        char word[VALUE_WORD_BYTES], other[VALUE_WORD_BYTES];

        value_word_text(p->words, value_word(p->words, near.best), word);
        near.best = word;
        if (near.also) {
            value_word_text(p->words, value_word(p->words, near.also), other);
            near.also = strcmp(word, other) != 0 ? other : NULL;
        }
        return diag_remedy(d, "did you mean %s?", SUGGESTED(&near));
    }
    return diag_remedy(d, words.cut ? "\"explain %s\" lists them" : "one of: %s",
                       words.cut ? p->words->name : list);
}

static const char *take_size(const char *text, size_t from, size_t end, uint64_t *ret)
{
    char buf[32];

    if (end - from >= sizeof(buf))
        return "the number is too long";
    memcpy(buf, text + from, end - from);
    buf[end - from] = '\0';
    return quantity_parse(QUANTITY_SIZE, buf, ret);
}

/* Returns true if the @n characters are words separated by dots, with brackets in pairs.  Otherwise
 * *@reterr_at is the offset of the error.
 */
static bool is_path(const char *text, size_t n, size_t *reterr_at)
{
    bool bracket = false;

    for (size_t i = 0; i < n; i++) {
        const char c = text[i];

        *reterr_at = i;
        if (i == 0 ? !isalpha((unsigned char)c) : !isalnum((unsigned char)c) && !strchr("_-.[]", c))
            return false;
        if ((c == '[' && bracket) || (c == ']' && !bracket))
            return false;
        bracket = c == '[' || (bracket && c != ']');
    }
    return !bracket;
}

static const char *const ends_first = "the end is before the beginning";

/* Like value_slice(), but also fills @ret if it returns @ends_first. */
static const char *read_slice(const char *text, struct slice_text *ret, size_t *reterr_at)
{
    const size_t len = strlen(text);
    const char *open = strrchr(text, '['), *colon;
    struct slice_text s = {.base_bytes = len};
    const char *why;
    size_t end, to_at = 0;

    *reterr_at = 0;
    if (len > PATH_BYTES_MAX)
        return "the path is too long";
    if (open) {
        const size_t from = (size_t)(open - text) + 1;

        *reterr_at = from;
        if (text[len - 1] != ']')
            return "a ] is missing";
        colon = strchr(open, ':');
        end = colon ? (size_t)(colon - text) : len - 1;
        s.base_bytes = from - 1;
        s.has_from = true;
        why = take_size(text, from, end, &s.from);
        if (!why && colon) {
            *reterr_at = to_at = end + 1;
            s.has_to = true;
            why = take_size(text, end + 1, len - 1, &s.to);
        }
        if (why)
            return why;
    }
    if (!is_path(text, s.base_bytes, reterr_at))
        return "not a path";
    if (s.base_bytes == 0)
        return "the name of a memory region is missing";
    *reterr_at = to_at;
    *ret = s;
    return s.has_to && s.to < s.from ? ends_first : NULL;
}

const char *value_slice(const char *text, struct slice_text *ret, size_t *reterr_at)
{
    struct slice_text s;
    const char *why = read_slice(text, &s, reterr_at);

    if (!why)
        *ret = s;
    return why;
}

/* Suggests the slice that [4090:20] probably means: 20 bytes from 4090 on. */
static bool meant_length(const char *text, const struct slice_text *s, struct diag *d)
{
    const unsigned long long from = s->from, to = s->to;

    if (s->to == 0 || s->from > UINT64_MAX - s->to)
        return diag_remedy(d, "a slice is [FROM:TO], and TO is the first byte that is not in it");
    return diag_remedy(d, "a slice is [FROM:TO]; %llu bytes from %llu on are %.*s[%llu:%llu]", to,
                       from, (int)s->base_bytes, text, from, from + to);
}

bool value_slice_check(const char *name, enum value_kind kind, const char *text, struct span at,
                       struct diag *d)
{
    struct slice_text s = {0};
    size_t off;
    const char *why = read_slice(text, &s, &off);

    if (!why)
        return true;
    if (at.len >= off) {
        at.at += off;
        at.len -= off;
    }
    diag_set(d, DIAG_VALUE, at, "%s: \"%s\": %s", name, text, why);
    if (why == ends_first)
        return meant_length(text, &s, d);
    if (strchr(text, ',') || (strchr(text, '[') != NULL) != (strchr(text, ']') != NULL))
        return diag_remedy(d, "a range is written with a colon: mr[0:10]");
    return diag_remedy(d, "it is %s", value_kinds[kind].what);
}

static bool check_slice(const struct param *p, const char *text, struct span at, struct diag *d)
{
    uint64_t number;

    if (p->kind == VAL_AT && isdigit((unsigned char)text[0]) &&
        !quantity_parse(QUANTITY_NUMBER, text, &number))
        return true;
    return value_slice_check(p->name, p->kind, text, at, d);
}

/* Returns true if @text is "NAME" or "NAME.NAME" followed by one of @tails (NULL-terminated); by
 * nothing if @tails is NULL.
 */
static bool is_object_path(const char *text, const char *const *tails)
{
    char buf[2 * RDL_NAME_BYTES + 8];
    struct text t = text_on(buf, sizeof(buf));
    char *dot;

    text_add(&t, text);
    if (t.cut)
        return false;
    if (tails) {
        dot = strrchr(buf, '.');
        if (!dot)
            return false;
        while (*tails && strcmp(*tails, dot + 1) != 0)
            tails++;
        if (!*tails)
            return false;
        *dot = '\0';
    }
    dot = strchr(buf, '.');
    if (dot)
        *dot = '\0';
    return name_is_valid(buf) && (!dot || name_is_valid(dot + 1));
}

size_t value_hex_bytes(const char *hex, uint8_t *ret)
{
    const size_t n = strlen(hex) / 2;

    for (size_t i = 0; ret && i < n; i++) {
        const char digits[] = {hex[2 * i], hex[2 * i + 1], '\0'};

        ret[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return n;
}

static bool is_hex(const char *text)
{
    const size_t n = strlen(text);

    return n > 0 && n % 2 == 0 && strspn(text, "0123456789abcdefABCDEF") == n;
}

/* Returns true if @text is valid, for the kinds whose check needs no further message. */
static bool has_form(enum value_kind kind, const char *text)
{
    static const char *const queues[] = {"sq", "rq", NULL};
    uint8_t bytes[GID_BYTES];
    const char *dash;
    size_t at = 0;

    switch (kind) {
    case VAL_NEW_NAME:
    case VAL_HOST:
    case VAL_NODE:
    case VAL_SENDER:
    case VAL_FAULT:
        return name_is_valid(text);
    case VAL_LINK:
        dash = strchr(text, '-');
        return dash && dash != text && dash[1] && isalpha((unsigned char)text[0]) &&
               strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                   strlen(text);
    case VAL_OBJECT:
    case VAL_KEY:
    case VAL_QPN:
        return is_object_path(text, NULL);
    case VAL_QUEUE:
        return is_object_path(text, queues);
    case VAL_HEX:
        return is_hex(text);
    case VAL_MAC:
        return mac_parse(text, bytes);
    case VAL_ADDR:
        return addr_parse(text, bytes);
    case VAL_STATION:
        return name_is_valid(text) || addr_parse(text, bytes);
    case VAL_NUMBER:
        return strlen(text) <= PATH_BYTES_MAX && is_path(text, strlen(text), &at);
    case VAL_FILE:
    case VAL_TOPIC:
    case VAL_PATH:
        return text[0] != '\0';
    default:
        return true;
    }
}

bool value_check(const struct param *p, const char *text, struct span at, struct diag *d)
{
    uint64_t id;

    RDL_ASSERT(text); /* gcc's sanitizers assume that it may be NULL, and gcc warns of it then */
    if (strlen(text) > TEXT_BYTES_MAX)
        return diag_set(d, DIAG_VALUE, at, "%s: more than %u bytes", p->name, TEXT_BYTES_MAX);
    if (value_is_quantity(p->kind))
        return check_number(p, text, at, d);
    switch (p->kind) {
    case VAL_WORD:
    case VAL_SET:
        return check_word(p, text, at, d);
    case VAL_AT:
    case VAL_BYTES:
        return check_slice(p, text, at, d);
    case VAL_KEY:
    case VAL_QPN:
    case VAL_NUMBER:
        if (isdigit((unsigned char)text[0]))
            return check_number(p, text, at, d);
        break;
    case VAL_EXPR:
        if ((p->flags & P_NAMED) && (text[0] == '\0' || ev_id_parse(text, &id)))
            return true;
        return expr_check(text, at, d);
    default:
        break;
    }
    if (has_form(p->kind, text))
        return true;
    if (p->kind == VAL_NEW_NAME && strlen(text) >= RDL_NAME_BYTES) {
        diag_set(d, DIAG_VALUE, at, "%s: \"%s\" is too long for a name", p->name, text);
        return diag_remedy(d, "a name has at most %u characters; this has %zu", RDL_NAME_BYTES - 1,
                           strlen(text));
    }
    diag_set(d, DIAG_VALUE, at, "%s: \"%s\" is not %s", p->name, text, value_kinds[p->kind].what);
    if (p->kind == VAL_QUEUE && is_object_path(text, NULL))
        diag_remedy(d, "a queue pair has sq and rq; \"reg_write h1 notify N\" kicks any virtqueue, "
                       "by its number");
    if (p->kind == VAL_HOST && strpbrk(text, ".@"))
        diag_remedy(d, "the host has a name like h1, and addresses: \"show hosts\" lists both");
    return false;
}

uint64_t value_number(const struct param *p, const char *text)
{
    const char *why;
    uint64_t v = 0;

    if (p->kind == VAL_WORD || p->kind == VAL_SET) {
        const struct enum_row *row = value_word(p->words, text);

        RDL_ASSERT(row);
        return row->value;
    }
    why = quantity_parse(value_quantity(p->kind), text, &v);
    RDL_ASSERT(!why);
    return v;
}
