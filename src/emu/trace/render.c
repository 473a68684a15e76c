/* SPDX-License-Identifier: MIT */
/* Prints events as text and as JSON, by interpreting the schema. */
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/json.h"
#include "emu/base/quantity.h"
#include "emu/facts/compared.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/frame_kind.h"
#include "emu/facts/enum/object.h"
#include "emu/trace/event.h"

#define KIND_COLUMN 10u /* width of the id column, then of the kind column */

void ev_add_id(struct text *t, ev_id id)
{
    text_addf(t, "#%llu", (unsigned long long)ev_tick(id));
    if (ev_row(id))
        text_addf(t, ".%u", ev_row(id));
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool ev_id_begins(const char *s)
{
    return s[0] == '#' || is_digit(s[0]);
}

const char *ev_id_take(const char *s, ev_id *ret)
{
    char *end;
    unsigned long long tick, row = 0;

    s += s[0] == '#';
    if (!is_digit(s[0]))
        return NULL;
    tick = strtoull(s, &end, 10);
    if (end[0] == '.' && is_digit(end[1]))
        row = strtoull(end + 1, &end, 10);
    if (row > EV_ROW_MAX || tick > UINT64_MAX >> EV_ROW_BITS)
        return NULL;
    *ret = ev_id_of(tick, (uint32_t)row);
    return end;
}

bool ev_id_parse(const char *s, ev_id *ret)
{
    ev_id id;
    const char *end = ev_id_take(s, &id);

    if (!end || *end)
        return false;
    *ret = id;
    return true;
}

static const char *field_string(const struct ev *e, const struct ev_field *f)
{
    return (const char *)e + f->offset;
}

static void add_mac(struct text *t, uint64_t mac)
{
    uint8_t bytes[6];
    struct wr_cur out = wr_cur(bytes, sizeof(bytes));

    wr_be(&out, sizeof(bytes), mac);
    text_add_hex(t, bytes, sizeof(bytes), ":");
}

void ev_add_field(struct text *t, const struct ev *e, const struct ev_field *f,
                  const struct ev_names *names)
{
    const uint64_t v = ev_field_number(e, f);

    if (ev_field_takes_any(f) && v == EV_ANY) {
        text_add(t, "any");
        return;
    }
    switch (f->print) {
    case EVP_NUMBER:
        text_addf(t, "%llu", (unsigned long long)v);
        break;
    case EVP_HEX:
        text_addf(t, "0x%llx", (unsigned long long)v);
        break;
    case EVP_FLAG:
        text_add(t, v ? f->name : "-");
        break;
    case EVP_TIME:
        quantity_add_time_short(t, v);
        break;
    case EVP_HOST:
        ev_names_host(names, t, (uint32_t)v);
        break;
    case EVP_EVENT:
        ev_add_id(t, v);
        break;
    case EVP_MAC:
        add_mac(t, v);
        break;
    case EVP_STR:
        text_add(t, field_string(e, f));
        break;
    case EVP_ENUM:
        text_add(t, enum_name(*f->words, (uint32_t)v));
        break;
    }
}

/* Returns true if a part in brackets is printed because of this field. */
static bool field_is_set(const struct ev *e, const struct ev_field *f)
{
    if (f->print == EVP_STR)
        return field_string(e, f)[0] != '\0';
    return ev_field_number(e, f) != f->unset;
}

static uint32_t number_of(const struct ev *e, const char *name)
{
    const struct ev_field *f = ev_field_find(e->kind, name);

    RDL_ASSERT(f);
    return (uint32_t)ev_field_number(e, f);
}

/* Appends the opcode of a frame, and the PSN if it has a BTH. */
static void add_frame(struct text *t, const struct ev *e)
{
    const uint32_t opcode = number_of(e, "opcode");

    text_add(t, enum_name(&enum_opcode, opcode));
    if (opcode < FRAME_OTHER)
        text_addf(t, " psn=%u", number_of(e, "psn"));
}

void ev_add_compared(struct text *t, const struct ev *e, bool say_psn)
{
    const struct ev_field *rule = ev_field_find(e->kind, "rule");
    const struct ev_field *reason = ev_field_find(e->kind, "reason");
    const struct ev_field *refusal = ev_field_find(e->kind, "refusal");
    const struct ev_field *least = ev_field_find(e->kind, "least");
    struct compared c;

    if (!least)
        return;
    c = (struct compared){.least = ev_field_number(e, least),
                          .most = ev_field_number(e, ev_field_find(e->kind, "most")),
                          .found = ev_field_number(e, ev_field_find(e->kind, "found"))};
    if (rule)
        compared_add_rule(t, (uint32_t)ev_field_number(e, rule), &c, say_psn);
    else if (refusal)
        compared_add_refusal(t, (uint32_t)ev_field_number(e, refusal), &c);
    else
        compared_add_drop(t, (uint32_t)ev_field_number(e, reason), &c, say_psn);
}

/* Appends the object that the event is about, or the host if it has none. */
static void add_object(struct text *t, const struct ev *e, const struct ev_names *names)
{
    const enum object_kind object = (enum object_kind)number_of(e, "object");

    if (object == OBJ_NONE)
        ev_names_host(names, t, number_of(e, "host"));
    else
        ev_names_object(names, t, number_of(e, "host"), object, number_of(e, "number"));
}

/* Returns true if the drop @e is about a frame with a BTH, whose PSN may be 0.  If all three are 0,
 * the BTH was not read.
 */
static bool drop_has_psn(const struct ev *e)
{
    const uint32_t opcode = number_of(e, "opcode"), psn = number_of(e, "psn");

    return psn != 0 || (opcode < FRAME_OTHER && (opcode != 0 || number_of(e, "qpn") != 0));
}

/* Appends a placeholder that combines several fields: {@qp}, {@cq}, {@host}, {@peer}, {@object},
 * {@frame}, {@psn}, {@may}, {@compared}.
 */
static void add_composite(struct text *t, const struct ev *e, const char *what,
                          const struct ev_names *names)
{
    if (strcmp(what, "host") == 0) {
        ev_names_host(names, t, number_of(e, "host"));
    } else if (strcmp(what, "qp") == 0) {
        ev_names_object(names, t, number_of(e, "host"), OBJ_QP, number_of(e, "qpn"));
    } else if (strcmp(what, "cq") == 0) {
        ev_names_object(names, t, number_of(e, "host"), OBJ_CQ, number_of(e, "cqn"));
    } else if (strcmp(what, "object") == 0) {
        add_object(t, e, names);
    } else if (strcmp(what, "frame") == 0) {
        add_frame(t, e);
    } else if (strcmp(what, "psn") == 0) {
        if (drop_has_psn(e))
            text_addf(t, ", psn=%u", number_of(e, "psn"));
    } else if (strcmp(what, "may") == 0) {
        text_add(t, number_of(e, "forbidden") ? "may not" : "may");
    } else if (strcmp(what, "compared") == 0) {
        ev_add_compared(t, e, e->kind == EV_drop && !drop_has_psn(e));
    } else {
        RDL_ASSERT(strcmp(what, "peer") == 0);
        if (number_of(e, "dest_qpn") == QPN_MULTICAST)
            text_add(t, "every member of the group");
        else if (number_of(e, "peer") == EV_HOST_NONE)
            text_addf(t, "QPN %u", number_of(e, "dest_qpn"));
        else
            ev_names_object(names, t, number_of(e, "peer"), OBJ_QP, number_of(e, "dest_qpn"));
    }
}

/* The text between two braces: a field, or a field and what it counts. */
struct placeholder {
    char word[EV_NAME_BYTES];
    char counted[EV_NAME_BYTES]; /* "" or a noun, of which there may be several */
};

/* Reads the placeholder at @s.  Returns the text behind the closing brace. */
static const char *take_placeholder(const char *s, struct placeholder *ret)
{
    const size_t all = strcspn(s + 1, "}"), n = strcspn(s + 1, "} ");
    struct text word = text_on(ret->word, sizeof(ret->word));
    struct text counted = text_on(ret->counted, sizeof(ret->counted));

    text_addn(&word, s + 1, n);
    if (n < all)
        text_addn(&counted, s + 1 + n + 1, all - n - 1);
    RDL_ASSERT(s[1 + all] && !word.cut && !counted.cut);
    return s + all + 2;
}

/* Appends a field, and what it counts: "1 RDMA WRITE", "2 RDMA WRITEs". */
static void add_placeholder(struct text *t, const struct ev *e, const struct placeholder *p,
                            const struct ev_names *names)
{
    const struct ev_field *f = ev_field_find(e->kind, p->word);

    ev_add_field(t, e, f, names);
    if (p->counted[0])
        text_addf(t, " %s%s", p->counted, ev_field_number(e, f) == 1 ? "" : "s");
}

/* Returns true if all fields of the bracketed part at @s (behind the bracket) are set.  Of the
 * placeholders only {@qp} and {@cq} count, by their number.
 */
static bool part_is_set(const struct ev *e, const char *s)
{
    struct placeholder p;
    char *word = p.word;

    while (*s != ']') {
        RDL_ASSERT(*s);
        if (*s != '{') {
            s++;
            continue;
        }
        s = take_placeholder(s, &p);
        if (strcmp(word, "@qp") == 0 || strcmp(word, "@cq") == 0)
            memcpy(word, word[1] == 'q' ? "qpn" : "cqn", sizeof("qpn"));
        if (word[0] != '@' && !field_is_set(e, ev_field_find(e->kind, word)))
            return false;
    }
    return true;
}

void ev_add_text(struct text *t, const struct ev *e, const struct ev_names *names)
{
    const char *s = ev_schema(e->kind)->text;
    struct placeholder p;

    while (*s) {
        if (*s == '{') {
            s = take_placeholder(s, &p);
            if (p.word[0] == '@')
                add_composite(t, e, p.word + 1, names);
            else
                add_placeholder(t, e, &p, names);
        } else if (*s == '[' && !part_is_set(e, s + 1)) {
            s = strchr(s, ']') + 1;
        } else {
            if (*s != '[' && *s != ']')
                text_addn(t, s, 1);
            s++;
        }
    }
}

void ev_add_line(struct text *t, const struct ev *e, const struct ev_names *names)
{
    const size_t start = t->len;

    ev_add_id(t, e->id);
    while (t->len - start < 7 && !t->cut)
        text_add(t, " ");
    text_add(t, " ");
    text_add(t, ev_schema(e->kind)->name);
    while (t->len - start < 8 + KIND_COLUMN && !t->cut)
        text_add(t, " ");
    text_add(t, " ");
    ev_add_text(t, e, names);
}

void ev_add_json(struct text *t, const struct ev *e, const struct ev_names *names)
{
    const struct ev_schema *schema = ev_schema(e->kind);

    text_add(t, "{\"at_ns\":");
    json_add_number(t, e->at_ns);
    text_add(t, ",\"id\":\"");
    ev_add_id(t, e->id);
    text_add(t, "\"");
    if (e->cause) {
        text_add(t, ",\"cause\":\"");
        ev_add_id(t, e->cause);
        text_add(t, "\"");
    }
    text_addf(t, ",\"ev\":\"%s\"", schema->name);
    for (size_t i = 0; i < schema->n_fields; i++) {
        const struct ev_field *f = &schema->fields[i];
        char buf[EV_ADDR_BYTES];
        struct text word = text_on(buf, sizeof(buf));
        const uint64_t v = ev_field_number(e, f);
        const bool any = ev_field_takes_any(f) && v == EV_ANY;

        /* A word that there is not, such as the message of a frame without one, or a value that a
         * trace file has lost.
         */
        if (f->print == EVP_ENUM && !any && !enum_by_value(*f->words, (uint32_t)v))
            continue;
        text_addf(t, ",\"%s\":", f->name);
        if ((f->print == EVP_NUMBER || f->print == EVP_TIME) && !any) {
            json_add_number(t, v);
        } else if (f->print == EVP_FLAG) {
            text_add(t, v ? "true" : "false");
        } else {
            ev_add_field(&word, e, f, names);
            json_add_string(t, buf);
        }
    }
    text_add(t, "}");
}
