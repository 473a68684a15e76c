/* SPDX-License-Identifier: MIT */
/* A recursive descent parser; the depth is bounded by EXPR_DEPTH_MAX. */
#include <ctype.h>
#include <string.h>

#include "cli/lang/expr.h"
#include "cli/lang/lex.h"
#include "cli/lang/suggest.h"
#include "cli/lang/values.h"
#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/quantity.h"
#include "emu/facts/device.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/psn.h"
#include "emu/trace/kind.h"
#include "emu/wire/addr.h"

struct parser {
    struct pool *pool;
    struct source text; /* the expression */
    size_t i;
    size_t depth;
    struct span from; /* its position in the source */
    struct diag *d;
    bool failed;
};

static const char *const op_texts[] = {"==", "!=", "<", "<=", ">", ">="};

const char *expr_op_text(enum compare op)
{
    return op_texts[op];
}

bool expr_number(bool time, const char *text, uint64_t *ret)
{
    static const enum quantity plain[] = {QUANTITY_NUMBER, QUANTITY_SIZE, QUANTITY_CHANCE,
                                          QUANTITY_RATE};

    if (time)
        return !quantity_parse(QUANTITY_TIME, text, ret) ||
               !quantity_parse(QUANTITY_NUMBER, text, ret);
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        if (!quantity_parse(plain[i], text, ret))
            return true;
    }
    return false;
}

/* Reports an error at @at of the expression.  Only the first error is kept. */
static struct expr *fail(struct parser *p, struct span at, const char *message, const char *remedy)
{
    if (p->failed)
        return NULL;
    p->failed = true;
    if (at.at < p->from.len)
        at.at += p->from.at;
    else
        at = (struct span){p->from.at + p->from.len, 0};
    diag_set(p->d, DIAG_SYNTAX, at, "%s", message);
    diag_remedy(p->d, "%s", remedy);
    return NULL;
}

/* The same for an unknown word, which is an error of a value and not of syntax. */
static void fail_word(struct parser *p, struct span at, const char *message, const char *remedy)
{
    fail(p, at, message, remedy);
    p->d->kind = DIAG_VALUE;
}

static char peek(struct parser *p)
{
    while (p->i < p->text.len && isspace((unsigned char)p->text.text[p->i]))
        p->i++;
    return p->text.text[p->i]; /* a NUL at the end */
}

static bool take(struct parser *p, const char *what)
{
    const size_t n = strlen(what);

    peek(p);
    if (strncmp(p->text.text + p->i, what, n) != 0)
        return false;
    p->i += n;
    return true;
}

/* Reads a word: letters, digits and the other characters of paths.  `:` is part of it only inside
 * brackets.
 */
static struct span word(struct parser *p)
{
    size_t start, depth = 0;

    peek(p);
    start = p->i;
    for (; p->i < p->text.len; p->i++) {
        const char c = p->text.text[p->i];

        if (c == '[')
            depth++;
        else if (c == ']' && depth > 0)
            depth--;
        else if (!isalnum((unsigned char)c) && !strchr("_.-%", c) && !(c == ':' && depth > 0))
            break;
    }
    return (struct span){start, p->i - start};
}

static bool take_word(struct parser *p, const char *what)
{
    const size_t before = p->i;
    const struct span w = word(p);

    if (w.len == strlen(what) && memcmp(p->text.text + w.at, what, w.len) == 0)
        return true;
    p->i = before;
    return false;
}

static const char *text_of(struct parser *p, struct span s)
{
    return pool_copy(p->pool, p->text.text + s.at, s.len);
}

static struct expr *node(struct parser *p, enum expr_kind kind, size_t start)
{
    struct expr *e = pool_alloc(p->pool, sizeof(*e));

    e->kind = kind;
    e->at = (struct span){start, p->i - start};
    return e;
}

/* Returns true, and the operator, if an operator comes next. */
static bool take_op(struct parser *p, enum compare *ret)
{
    static const enum compare longest_first[] = {CMP_EQ, CMP_NE, CMP_LE, CMP_GE, CMP_LT, CMP_GT};

    for (size_t i = 0; i < ARRAY_LEN(longest_first); i++) {
        if (take(p, op_texts[longest_first[i]])) {
            *ret = longest_first[i];
            return true;
        }
    }
    return false;
}

/* Reads the quoted string at the current position. */
static const char *string(struct parser *p, struct span *ret_at)
{
    struct diag why;
    const struct token t = lex_next(&p->text, p->i, &why);
    size_t end = p->i + 1;
    const char *s;

    while (end < p->text.len && p->text.text[end] != '"')
        end += p->text.text[end] == '\\' ? 2 : 1;
    *ret_at = (struct span){p->i, end + 1 - p->i};
    if (t.kind != TOKEN_WORD || end >= p->text.len) {
        fail(p, *ret_at, "the string does not end on its line",
             "end it with \"; inside a string write \\\" and \\n");
        return NULL;
    }
    s = lex_unquote(p->pool, &p->text, *ret_at, &why);
    if (!s)
        fail(p, *ret_at, why.message, why.remedy);
    p->i = end + 1;
    return s;
}

static void unknown_event(struct parser *p, struct span at)
{
    char message[96], remedy[96];
    struct text m = text_on(message, sizeof(message)), r = text_on(remedy, sizeof(remedy));
    const char *name = text_of(p, at);
    struct suggestion near = suggestion_for(name);

    for (unsigned k = 0; k < EV_COUNT; k++)
        suggest_offer(&near, ev_schema((enum ev_kind)k)->name);
    if (suggest_event(name))
        near.best = suggest_event(name);
    text_addf(&m, "no kind of event is called \"%s\"", name);
    if (near.best)
        text_addf(&r, "did you mean \"%s\"?", near.best);
    else
        text_add(&r, "like tx, rx, cqe, lost; \"show events\" tells the kind of each");
    fail_word(p, at, message, remedy);
}

static void unknown_field(struct parser *p, struct span at, enum ev_kind kind)
{
    char message[96], remedy[256];
    struct text m = text_on(message, sizeof(message)), r = text_on(remedy, sizeof(remedy));
    const struct ev_schema *schema = ev_schema(kind);
    const char *name = text_of(p, at);
    struct suggestion near = suggestion_for(name);

    for (size_t i = 0; i < schema->n_fields; i++)
        suggest_offer(&near, schema->fields[i].name);
    text_addf(&m, "%s events have no field \"%s\"", schema->name, name);
    if (near.best)
        text_addf(&r, "did you mean \"%s\"?", near.best);
    else
        text_add(&r, "they have:");
    for (size_t i = 0; i < schema->n_fields && !near.best; i++)
        text_addf(&r, " %s", schema->fields[i].name);
    fail_word(p, at, message, remedy);
}

/* Parses a word of @field's enumeration. */
static bool word_value(struct parser *p, struct ev_condition *c, struct span at, const char *text)
{
    const struct enum_table *words = *c->field->words;
    const struct enum_row *row = value_word(words, text);
    struct suggestion near = suggestion_for(text);
    char remedy[96];
    struct text r = text_on(remedy, sizeof(remedy));

    if (row) {
        c->number = row->value;
        return true;
    }
    for (size_t i = 0; i < words->n_rows; i++)
        suggest_offer(&near, words->rows[i].name);
    text_addf(&r, near.best ? "did you mean \"%s\"?" : "\"explain %s\" may help",
              near.best ? near.best : words->name);
    fail_word(p, at, "not a value of this field", remedy);
    return false;
}

/* Parses the value of a field of text: a string, a name or an address. */
static bool text_value(struct parser *p, struct ev_condition *c, struct span at, const char *text)
{
    struct text t = text_on(c->text, sizeof(c->text));
    const size_t room = c->field->print == EVP_HOST ? EV_NAME_BYTES : c->field->bytes;
    uint8_t gid[GID_BYTES];
    char remedy[96];
    struct text r = text_on(remedy, sizeof(remedy));

    if (strlen(text) >= room) {
        text_addf(&r, "there is room for %zu characters", room - 1);
        fail_word(p, at, "no event has a text that long here", remedy);
        return false;
    }
    if (strcmp(c->field->type, "addr") == 0 && text[0]) {
        if (!addr_parse(text, gid)) {
            fail_word(p, at, "not an IP address", "write it as 10.0.0.1 or \"fe80::1\"");
            return false;
        }
        addr_add(&t, gid); /* the form that events have */
        return true;
    }
    text_add(&t, text);
    return true;
}

/* The largest value that field @f can have in an event. */
static uint64_t largest(const struct ev_field *f)
{
    if (f->print == EVP_FLAG)
        return 1;
    if (strcmp(f->type, "psn") == 0 || strcmp(f->type, "any_psn") == 0)
        return PSN_MASK;
    if (strcmp(f->type, "qpn") == 0 || strcmp(f->type, "any_qpn") == 0)
        return QPN_MAX;
    return f->bytes == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
}

static bool number_value(struct parser *p, struct ev_condition *c, struct span at, const char *text)
{
    const bool time = c->field->print == EVP_TIME;
    char remedy[96];
    struct text r = text_on(remedy, sizeof(remedy));

    if (!expr_number(time, text, &c->number)) {
        fail_word(p, at, time ? "this field is a time" : "this field is a number",
                  time ? "write it as 500ns, 10us, 1.5ms" : "write it as 17, 0x11 or 4k");
        return false;
    }
    if (c->number > largest(c->field)) {
        text_addf(&r, "the largest is %llu", (unsigned long long)largest(c->field));
        fail_word(p, at, "no event has a number that large here", remedy);
        return false;
    }
    return true;
}

static bool mac_value(struct parser *p, struct ev_condition *c, struct span at, const char *text)
{
    uint8_t mac[MAC_BYTES];

    if (mac_parse(text, mac)) {
        c->number = ld_be(mac, MAC_BYTES);
        return true;
    }
    fail_word(p, at, "not a MAC address", "write it as \"02:00:00:00:00:01\"");
    return false;
}

/* Parses the value of a field into the condition @c. */
static bool field_value(struct parser *p, struct ev_condition *c, struct span at, const char *text)
{
    if (ev_field_takes_any(c->field) && strcmp(text, "any") == 0) {
        c->number = EV_ANY;
        return true;
    }
    switch (c->field->print) {
    case EVP_STR:
    case EVP_HOST:
        return text_value(p, c, at, text);
    case EVP_MAC:
        return mac_value(p, c, at, text);
    case EVP_ENUM:
        return word_value(p, c, at, text);
    case EVP_EVENT:
        if (ev_id_parse(text, &c->number))
            return true;
        fail_word(p, at, "this field is an event", "events are written #12.3");
        return false;
    case EVP_FLAG:
        if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
            c->number = text[0] == 't';
            return true;
        }
        break;
    case EVP_NUMBER:
    case EVP_HEX:
    case EVP_TIME:
        break;
    }
    return number_value(p, c, at, text);
}

/* Reads the next value as text, without quotes. */
static const char *field_text(struct parser *p, struct span *ret_at)
{
    const char *text;

    if (peek(p) == '"')
        return string(p, ret_at);
    if (peek(p) == '#')
        p->i++;
    *ret_at = word(p);
    if (ret_at->at > 0 && p->text.text[ret_at->at - 1] == '#')
        *ret_at = (struct span){ret_at->at - 1, ret_at->len + 1};
    text = text_of(p, *ret_at);
    if (ret_at->len == 0)
        fail(p, (struct span){p->i, 1}, "a value is missing", "for example psn==101");
    return text;
}

/* Returns true if the field can be compared with == and != only. */
static bool is_unordered(const struct ev_field *f)
{
    return f->print == EVP_STR || f->print == EVP_HOST || f->print == EVP_MAC;
}

static bool count_field(struct parser *p, struct ev_filter *filter)
{
    struct ev_condition *c = &filter->conditions[filter->n];
    const struct span name = word(p);
    struct span at;
    const char *text;

    if (filter->n == EXPR_FIELDS_MAX) {
        fail(p, name, "too many fields", "");
        return false;
    }
    c->field = ev_field_find(filter->kind, text_of(p, name));
    if (!c->field) {
        unknown_field(p, name, filter->kind);
        return false;
    }
    if (!take_op(p, &c->op)) {
        fail(p, (struct span){p->i, 1}, "a comparison is missing",
             peek(p) == '=' ? "equality is written ==" : "for example psn==101");
        return false;
    }
    text = field_text(p, &at);
    if (p->failed || !field_value(p, c, at, text))
        return false;
    if (is_unordered(c->field) && c->op != CMP_EQ && c->op != CMP_NE) {
        fail(p, name, "names can only be compared with == and !=", "");
        return false;
    }
    filter->n++;
    return true;
}

/* Returns a filter of the events called @kind, without conditions.  Returns NULL if there is no
 * such kind.
 */
static struct ev_filter *filter_of(struct parser *p, struct span kind)
{
    struct ev_filter *filter = pool_alloc(p->pool, sizeof(*filter));

    filter->conditions = pool_alloc(p->pool, EXPR_FIELDS_MAX * sizeof(*filter->conditions));
    filter->kind = ev_kind_find(text_of(p, kind));
    if (filter->kind == EV_COUNT) {
        unknown_event(p, kind);
        return NULL;
    }
    return filter;
}

/* Parses an EXPR_HAPPENS after its word @kind: the optional conditions in parentheses. */
static struct expr *happens(struct parser *p, struct span kind)
{
    struct expr *e = node(p, EXPR_HAPPENS, kind.at);

    e->at = kind;
    e->filter = filter_of(p, kind);
    if (!e->filter)
        return NULL;
    if (peek(p) != '(') {
        p->i = kind.at + kind.len; /* the node ends before the blanks */
        return e;
    }
    p->i++;
    if (!take(p, ")")) {
        do {
            if (peek(p) == '\0')
                break;
            if (!count_field(p, e->filter))
                return NULL;
        } while (take(p, ","));
        if (!take(p, ")"))
            return fail(p, (struct span){p->i, 1}, "a ) is missing",
                        "for example tx(host==h1, psn==101)");
    }
    e->at.len = p->i - kind.at;
    return e;
}

/* Returns true if @e is a single word that names a kind of event. */
static bool is_event_kind(const struct expr *e)
{
    return e->kind == EXPR_PATH && ev_kind_find(e->text) != EV_COUNT;
}

static struct expr *count(struct parser *p, size_t start)
{
    struct expr *e = node(p, EXPR_COUNT, start);

    if (!take(p, "("))
        return fail(p, (struct span){p->i, 1}, "count needs a (",
                    "for example count(tx, psn==101)");
    e->filter = filter_of(p, word(p));
    if (!e->filter)
        return NULL;
    while (take(p, ",")) {
        if (!count_field(p, e->filter))
            return NULL;
    }
    if (!take(p, ")"))
        return fail(p, (struct span){p->i, 1}, "count needs a ) here",
                    "for example count(tx, host==h1, psn==101)");
    e->at.len = p->i - start;
    return e;
}

static struct expr *event(struct parser *p, size_t start)
{
    struct expr *e;
    struct span w;
    ev_id id;

    p->i++;
    /* Elsewhere `#` would begin a comment. */
    if (!isdigit((unsigned char)p->text.text[p->i]))
        return fail(p, (struct span){start, 1}, "not the number of an event",
                    "events are written #12 or #12.3");
    w = word(p);
    e = node(p, EXPR_EVENT, start);
    e->text = text_of(p, w);
    /* The row number does not matter: the lab stops only between ticks. */
    if (!ev_id_parse(text_of(p, (struct span){start, p->i - start}), &id))
        return fail(p, e->at, "not the number of an event", "events are written #12 or #12.3");
    e->number = ev_tick(id);
    return e;
}

#define PATH_BYTES 256u /* a longer path counts as leading nowhere */

/* Sets the facts about a path that do not depend on the lab. */
static void know_path(struct expr *e)
{
    static const char *const words[] = {[EXPR_WORD_TIME] = "t",
                                        [EXPR_WORD_TICK] = "tick",
                                        [EXPR_WORD_TRUE] = "true",
                                        [EXPR_WORD_FALSE] = "false"};
    char buf[PATH_BYTES];
    struct text below_host = text_on(buf, sizeof(buf));

    text_addf(&below_host, "h1.%s", e->text); /* "h1" stands for any host name */
    for (unsigned i = EXPR_WORD_NONE + 1; i < ARRAY_LEN(words); i++) {
        if (strcmp(e->text, words[i]) == 0)
            e->word = (enum expr_word)i;
    }
    e->may_be_memory = strchr(e->text, '[') != NULL;
    e->may_be_program = strstr(e->text, "program") != NULL;
    e->leads = expr_path_leads(e->text, e->at, NULL);
    e->leads_from_host = !below_host.cut && expr_path_leads(below_host.buf, e->at, NULL);
}

static struct expr *term(struct parser *p)
{
    const char c = peek(p);
    const size_t start = p->i;
    struct span at;
    struct expr *e;

    if (c == '"') {
        const char *s = string(p, &at);

        e = node(p, EXPR_STRING, start);
        e->text = s;
        return s ? e : NULL;
    }
    if (c == '#')
        return event(p, start);
    if (take_word(p, "count"))
        return count(p, start);
    at = word(p);
    if (at.len == 0)
        return fail(p, (struct span){start, 1},
                    c ? "a value is needed here" : "the expression ends too early",
                    c == '\'' ? "a string stands in double quotes: \"text\""
                              : "values are paths, numbers, \"text\", words, count(...)");
    if (!isdigit((unsigned char)c) && peek(p) == '(')
        return happens(p, at);
    p->i = at.at + at.len; /* the node ends before the blanks */
    e = node(p, isdigit((unsigned char)c) ? EXPR_NUMBER : EXPR_PATH, start);
    e->at = at;
    e->text = text_of(p, at);
    if (e->kind == EXPR_NUMBER && !expr_number(false, e->text, &e->number) &&
        !expr_number(true, e->text, &e->number))
        return fail(p, at, "not a number", "numbers are written 17, 0x11, 4k, 10us");
    if (e->kind == EXPR_PATH)
        know_path(e);
    return e;
}

static struct expr *condition(struct parser *p);

static struct expr *one(struct parser *p)
{
    struct expr *e, *left;
    enum compare op;
    size_t start;

    peek(p); /* skip blanks: a term does not begin with them */
    start = p->i;
    if (p->failed || p->depth >= EXPR_DEPTH_MAX)
        return fail(p, (struct span){start, 1}, "the expression is nested too deeply", "");
    p->depth++;
    if (take_word(p, "not")) {
        struct expr *inner = one(p);

        e = node(p, EXPR_NOT, start);
        e->a = inner;
        left = inner ? e : NULL;
    } else if (take(p, "(")) {
        left = condition(p);
        if (left && !take(p, ")"))
            left = fail(p, (struct span){p->i, 1}, "a ) is missing", "");
    } else {
        left = term(p);
        if (left && take_op(p, &op)) {
            struct expr *right = left->kind == EXPR_HAPPENS ? left : term(p);

            if (right && right->kind == EXPR_HAPPENS)
                right = fail(p, right->at, "an event cannot be compared",
                             "it is a condition of its own, like: rx(host==h1) and t > 1us");

            e = node(p, EXPR_COMPARE, start);
            e->op = op;
            e->a = left;
            e->b = right;
            left = right ? e : NULL;
        } else if (left && is_event_kind(left)) {
            left = happens(p, left->at);
        } else if (left && (left->kind == EXPR_NUMBER || left->kind == EXPR_STRING)) {
            left = fail(p, (struct span){p->i, 1}, "a comparison is missing",
                        left->kind == EXPR_NUMBER
                            ? "a number alone is no condition: h1.cq.count == 2; \"run 50us\" "
                              "lets time pass"
                            : "there are == != < <= > >=");
        }
    }
    p->depth--;
    return left;
}

/* Parses a chain of operands with one operator between them: "one { and one }" or "all { or all }".
 */
static struct expr *chain(struct parser *p, const char *separator, enum expr_kind kind,
                          struct expr *(*part)(struct parser *))
{
    const size_t start = p->i;
    struct expr *left = part(p);

    while (left && take_word(p, separator)) {
        struct expr *right = part(p);
        struct expr *e = node(p, kind, start);

        e->a = left;
        e->b = right;
        left = right ? e : NULL;
    }
    return left;
}

static struct expr *all(struct parser *p)
{
    return chain(p, "and", EXPR_AND, one);
}

static struct expr *condition(struct parser *p)
{
    return chain(p, "or", EXPR_OR, all);
}

/* Reports conditions after an event's name that are not in parentheses. */
static struct expr *fail_bare_conditions(struct parser *p, const struct expr *e)
{
    char remedy[DIAG_REMEDY_BYTES];
    struct text t = text_on(remedy, sizeof(remedy));
    size_t at = p->i;

    if (take_word(p, "if") || take_word(p, "where"))
        (void)peek(p);
    text_addf(&t, "write: %s(%s)", text_of(p, e->at), p->text.text + p->i);
    return fail(p, (struct span){at, 1}, "the conditions of an event stand in parentheses", remedy);
}

struct expr *expr_parse(struct pool *pool, const char *text, struct span at, struct diag *d)
{
    struct parser p = {.pool = pool, .text = source_of(NULL, text), .from = at, .d = d};
    struct expr *e = condition(&p);

    if (e && e->kind == EXPR_HAPPENS && isalpha((unsigned char)peek(&p))) {
        e = fail_bare_conditions(&p, e);
    } else if (e && peek(&p) != '\0') {
        static const char single[] = "=";

        e = fail(&p, (struct span){p.i, 1}, "the expression should end here",
                 strncmp(text + p.i, single, 1) == 0 ? "equality is written =="
                                                     : "combine conditions with and, or");
    }
    /* cppcheck-suppress returnDanglingLifetime ; it lives in the pool, not in the parser */
    return e;
}

bool expr_has_happening(const struct expr *e)
{
    /* Depth is bounded by the parser. */
    return e->kind == EXPR_HAPPENS || (e->a && expr_has_happening(e->a)) ||
           (e->b && expr_has_happening(e->b));
}

struct span expr_place(const struct expr *e, struct span from)
{
    if (e->at.at + e->at.len > from.len)
        return from;
    return (struct span){from.at + e->at.at, e->at.len};
}

bool expr_check(const char *text, struct span at, struct diag *d)
{
    struct pool pool = {NULL};
    const struct expr *e = expr_parse(&pool, text, at, d);
    const bool ok = e && expr_paths_lead(e, at, d);

    pool_free(&pool);
    return ok;
}
