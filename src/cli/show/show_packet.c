/* SPDX-License-Identifier: MIT */
#include "cli/show/show_packet.h"

#include <stdlib.h>
#include <string.h>

#include "cli/show/packet_rows.h"
#include "cli/show/show_events.h"
#include "cli/show/show_rows.h"
#include "cli/why/fate_text.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum/frame_kind.h"
#include "emu/facts/opcode.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"
#include "emu/wire/packet.h"
#include "emu/wire/parse.h"
#include "print/print_json.h"
#include "print/show_text.h"
#include "process/must.h"

#define HEX_PER_LINE      8u   /* bytes of a field per line */
#define PAYLOAD_PER_LINE  16u  /* bytes of payload per line */
#define PAYLOAD_SHOWN_MAX 256u /* bytes; more are only counted */
#define COLUMN_OF_FIELD   14u  /* of a field of an event */
#define NAME_BYTES        64u  /* of a field, with its number in a list */

/* The previous packet of the flow, field by field. */
struct packet_before {
    const struct ev *tx; /* NULL: there is none */
    const uint8_t *frame;
    struct packet_row *rows;
    size_t n, room;
};

struct printer {
    FILE *out;
    const uint8_t *frame;
    const char *header; /* header of the previous row */
    bool first;
    const struct packet_before *before;
    struct rows *rows;
};

static void keep_row(void *ctx, const struct packet_row *row)
{
    struct packet_before *b = ctx;

    b->rows = must_grow(b->rows, b->n, &b->room, sizeof(*b->rows));
    b->rows[b->n++] = *row;
}

/* Returns the same field of the previous packet.  Returns NULL if it has none. */
static const struct packet_row *before_of(const struct packet_before *b,
                                          const struct packet_row *row)
{
    for (size_t i = 0; i < b->n; i++) {
        if (strcmp(b->rows[i].header, row->header) == 0 &&
            strcmp(b->rows[i].name, row->name) == 0 && b->rows[i].item == row->item)
            return &b->rows[i];
    }
    return NULL;
}

static bool is_data(const struct packet_row *row)
{
    return row->bytes > GID_BYTES || strcmp(row->name, "data") == 0;
}

/* Appends the value of the field in the previous packet: ", was 100".  Appends nothing if it is the
 * same, or if there is no previous packet.
 */
static void add_was(struct text *t, const struct packet_before *b, const uint8_t *frame,
                    const struct packet_row *row)
{
    const struct packet_row *was = b->tx ? before_of(b, row) : NULL;
    size_t at = 0;

    if (!b->tx)
        return;
    if (!was) {
        text_add(t, "not there");
        return;
    }
    if (!is_data(row)) {
        if (strcmp(was->value, row->value) != 0) /* of a CRC: without the verdict */
            text_addn(t, was->value, strcspn(was->value, ","));
        return;
    }
    while (at < was->bytes && at < row->bytes &&
           b->frame[was->offset + at] == frame[row->offset + at])
        at++;
    if (was->bytes != row->bytes)
        text_addf(t, "%zu bytes", was->bytes);
    else if (at < row->bytes)
        text_addf(t, "other bytes from byte %zu on", at);
}

/* Appends the masked bits of one or two bytes: "1011 ....". */
static void add_bits(struct text *t, const uint8_t *at, size_t bytes, uint32_t mask)
{
    const uint32_t v = bytes == 1 ? at[0] : (uint32_t)at[0] << 8 | at[1];

    for (size_t i = 8 * bytes; i > 0; i--) {
        const uint32_t bit = 1u << (i - 1);

        text_add(t, !(mask & bit) ? "." : v & bit ? "1" : "0");
        if (i % 4 == 1 && i > 1)
            text_add(t, " ");
    }
}

static void add_hex(struct text *t, const uint8_t *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        text_addf(t, i ? " %02x" : "%02x", at[i]);
}

/* Text columns of a row: offset, bytes, name, value. */
enum { COLUMN_HEX = 8, COLUMN_NAME = 33, COLUMN_VALUE = 54 };

static void print_payload(const struct printer *pr, const struct packet_row *row, const char *was)
{
    const size_t shown = row->bytes < PAYLOAD_SHOWN_MAX ? row->bytes : PAYLOAD_SHOWN_MAX;

    for (size_t i = 0; i < shown; i += PAYLOAD_PER_LINE) {
        const size_t n = shown - i < PAYLOAD_PER_LINE ? shown - i : PAYLOAD_PER_LINE;
        const uint8_t *at = pr->frame + row->offset + i;
        char buf[SHOW_LINE_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        text_addf(&t, "  %04zx", row->offset + i);
        text_pad_to(&t, COLUMN_HEX);
        add_hex(&t, at, n);
        text_pad_to(&t, COLUMN_HEX + 3 * PAYLOAD_PER_LINE + 1);
        for (size_t k = 0; k < n; k++)
            text_addf(&t, "%c", at[k] >= 0x20 && at[k] < 0x7f ? at[k] : '.');
        show_line(pr->out, &t);
    }
    if (shown < row->bytes)
        fprintf(pr->out, "  ....  %zu more bytes\n", row->bytes - shown);
    if (was[0])
        fprintf(pr->out, "* %-*swas %s\n", COLUMN_HEX - 2, "", was);
}

static void print_row(void *ctx, const struct packet_row *row)
{
    struct printer *pr = ctx;
    const uint8_t *at = pr->frame + row->offset;
    char was[96];
    struct text w = text_on(was, sizeof(was));

    add_was(&w, pr->before, pr->frame, row);
    if (!pr->header || strcmp(pr->header, row->header) != 0)
        fprintf(pr->out, "%s\n", row->header);
    pr->header = row->header;
    if (is_data(row)) {
        if (strcmp(row->name, "data") != 0)
            fprintf(pr->out, "  %s\n", row->value);
        print_payload(pr, row, was);
        return;
    }
    for (size_t i = 0; i < row->bytes; i += HEX_PER_LINE) {
        const size_t n = row->bytes - i < HEX_PER_LINE ? row->bytes - i : HEX_PER_LINE;
        char buf[SHOW_LINE_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        text_addf(&t, "%c %04zx", was[0] && i == 0 ? '*' : ' ', row->offset + i);
        text_pad_to(&t, COLUMN_HEX);
        if (row->mask && row->bytes <= 2)
            add_bits(&t, at, row->bytes, row->mask);
        else
            add_hex(&t, at + i, n);
        text_pad_to(&t, COLUMN_NAME);
        if (i == 0) {
            packet_row_add_name(&t, row);
            text_pad_to(&t, COLUMN_VALUE);
            text_add(&t, row->value);
            if (was[0])
                text_addf(&t, "   was %s", was);
        }
        show_line(pr->out, &t);
    }
}

/* Prints all fields, the payload, and the ICRC with its verdict. */
static void show_frame(FILE *out, const uint8_t *frame, size_t len,
                       const struct packet_before *before)
{
    struct printer pr = {.out = out, .frame = frame, .before = before};
    struct packet parsed;
    const enum drop_reason why = packet_parse(&parsed, frame, len);

    packet_rows(frame, len, print_row, &pr);
    if (why != DROP_NONE)
        fprintf(out, "a receiver drops it: %s, %s\n", enum_name(&enum_drop, why),
                enum_by_value(&enum_drop, why)->text);
}

static void print_row_json(void *ctx, const struct packet_row *row)
{
    struct printer *pr = ctx;
    char was[96], name[NAME_BYTES];
    struct text w = text_on(was, sizeof(was)), n = text_on(name, sizeof(name));

    packet_row_add_name(&n, row);
    fprintf(pr->out, "%s{\"header\":\"%s\",\"name\":", pr->first ? "" : ",", row->header);
    print_json_string(pr->out, name);
    fprintf(pr->out, ",\"offset\":%zu,\"bytes\":%zu,\"hex\":\"", row->offset, row->bytes);
    for (size_t i = 0; i < row->bytes; i++)
        fprintf(pr->out, "%02x", pr->frame[row->offset + i]);
    fputs("\",\"value\":", pr->out);
    print_json_string(pr->out, row->value);
    add_was(&w, pr->before, pr->frame, row);
    if (was[0]) {
        fputs(",\"was\":", pr->out);
        print_json_string(pr->out, was);
    }
    fputc('}', pr->out);
    pr->first = false;
}

static void show_frame_json(FILE *out, const uint8_t *frame, size_t len,
                            const struct packet_before *before)
{
    struct printer pr = {.out = out, .frame = frame, .first = true, .before = before};
    struct packet parsed;
    const enum drop_reason why = packet_parse(&parsed, frame, len);

    fprintf(out, "\"bytes\":%zu,\"verdict\":\"%s\",\"fields\":[", len, enum_name(&enum_drop, why));
    packet_rows(frame, len, print_row_json, &pr);
    fputc(']', out);
}

static void print_flat_row(void *ctx, const struct packet_row *row)
{
    struct printer *pr = ctx;
    char was[96], hex[2 * PAYLOAD_SHOWN_MAX + 4], name[NAME_BYTES];
    struct text w = text_on(was, sizeof(was)), h = text_on(hex, sizeof(hex));
    struct text t = text_on(name, sizeof(name));
    const size_t n = row->bytes < PAYLOAD_SHOWN_MAX ? row->bytes : PAYLOAD_SHOWN_MAX;

    rows_text(pr->rows, row->header);
    packet_row_add_name(&t, row);
    rows_text(pr->rows, name);
    rows_number(pr->rows, row->offset);
    rows_number(pr->rows, row->bytes);
    for (size_t i = 0; i < n; i++)
        text_addf(&h, "%02x", pr->frame[row->offset + i]);
    text_add(&h, n < row->bytes ? "..." : "");
    rows_text(pr->rows, hex);
    rows_text(pr->rows, row->value);
    add_was(&w, pr->before, pr->frame, row);
    if (was[0])
        rows_text(pr->rows, was);
    else
        rows_none(pr->rows);
}

static void show_frame_flat(FILE *out, const uint8_t *frame, size_t len, enum show_form form,
                            const struct packet_before *before)
{
    static const struct row_column columns[] = {{.name = "header"},
                                                {.name = "name"},
                                                {.name = "offset", .right = true},
                                                {.name = "bytes", .right = true},
                                                {.name = "hex"},
                                                {.name = "value"},
                                                {.name = "was"}};
    struct rows r;
    struct printer pr = {.out = out, .frame = frame, .before = before, .rows = &r};

    rows_begin(&r, out, form, columns, ARRAY_LEN(columns));
    packet_rows(frame, len, print_flat_row, &pr);
    rows_end(&r, NULL);
}

/* Returns the frame of event @e.  Returns NULL if the event has no frame or it was not kept. */
static const uint8_t *frame_of(const struct past *p, const struct ev *e, size_t *ret_bytes)
{
    const struct ev_field *f = ev_field_find(e->kind, "tx");
    const uint8_t *frame = NULL;

    if (e->kind == EV_tx || e->kind == EV_fault)
        /* A fault event has the frame if the fault changed it. */
        frame = past_frame(p, e->id, ret_bytes);
    if (!frame && f)
        frame = past_frame(p, ev_field_number(e, f), ret_bytes);
    return frame;
}

/* Returns the first event with a frame at or after @id in the tick of @id.  Returns NULL if there
 * is none.
 */
static const struct ev *find_with_frame(const struct past *p, ev_id id)
{
    for (size_t i = past_lower_bound(p, id); i < p->n; i++) {
        const struct ev *e = past_at(p, i);

        if (ev_row(id) ? e->id != id : ev_tick(e->id) != ev_tick(id))
            return NULL;
        if (e->kind == EV_tx || ev_field_find(e->kind, "tx"))
            return e;
    }
    return NULL;
}

static const struct ev *find_last_tx(const struct past *p)
{
    for (size_t i = p->n; i > 0; i--) {
        const struct ev *e = past_at(p, i - 1);

        if (e->kind == EV_tx && event_has_frame(e))
            return e;
    }
    return NULL;
}

/* Prints what happened to the packet of event @e, if a queue pair sent it. */
static void show_fate(FILE *out, const struct past *p, const struct ev *e)
{
    const struct ev *tx = e->kind == EV_tx ? e : past_tx_of(p, e);
    struct past_index *index;
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (!tx || tx->kind != EV_tx)
        return;
    index = fate_index(p);
    text_add(&t, "it ");
    fate_add(&t, index, tx);
    show_wrap(out, 2, buf);
    past_index_free(index);
}

/* Returns true if packet @e is in the flow of packet @tx: both from the same queue pair, and both
 * requests or both responses.
 */
static bool is_of_flow(const struct ev *e, const struct ev *tx)
{
    return e->kind == EV_tx && e->u.tx.host == tx->u.tx.host && e->u.tx.qpn == tx->u.tx.qpn &&
           e->u.tx.opcode < FRAME_OTHER &&
           op_is_response(op_info((uint8_t)e->u.tx.opcode)) ==
               op_is_response(op_info((uint8_t)tx->u.tx.opcode));
}

/* Returns the previous packet in the flow of the packet of @e.  Returns NULL if it is not known. */
static const struct ev *tx_before(const struct past *p, const struct ev *e)
{
    const struct ev *tx = e->kind == EV_tx ? e : past_tx_of(p, e);

    if (!tx || tx->kind != EV_tx || tx->u.tx.opcode >= FRAME_OTHER)
        return NULL;
    for (size_t i = past_lower_bound(p, tx->id); i > 0; i--) {
        if (is_of_flow(past_at(p, i - 1), tx))
            return past_at(p, i - 1);
    }
    return NULL;
}

/* Prints the legend of the marks. */
static void print_before(FILE *out, const struct ev *before)
{
    char id[EV_NAME_BYTES];
    struct text t = text_on(id, sizeof(id));

    if (!before)
        return;
    ev_add_id(&t, before->id);
    fprintf(out,
            "* is different from %s, the packet before it of the same queue pair and direction\n",
            id);
}

/* Appends the value of the field in the event of the previous packet.  Appends nothing if it is the
 * same.
 */
static void add_event_was(struct text *t, const struct past *p, const struct ev *e,
                          const struct ev *before, const struct ev_field *f)
{
    if (before && e->kind == EV_tx && ev_field_number(e, f) != ev_field_number(before, f))
        ev_add_field(t, before, f, p->names);
}

static void show_event_json(FILE *out, const struct past *p, const struct ev *e,
                            const struct ev *before)
{
    const struct ev_schema *schema = ev_schema(e->kind);
    char buf[PAST_JSON_BYTES], id[EV_NAME_BYTES];
    struct text t = text_on(buf, sizeof(buf)), i = text_on(id, sizeof(id));
    bool begun = false;

    past_add_json(&t, p, e);
    if (!before) {
        fprintf(out, "%s\n", buf);
        return;
    }
    ev_add_id(&i, before->id);
    fprintf(out, "%.*s,\"before\":\"%s\",\"was\":{", (int)t.len - 1, buf, id);
    for (size_t k = 0; k < schema->n_fields; k++) {
        char was[EV_TEXT_BYTES];
        struct text w = text_on(was, sizeof(was));

        add_event_was(&w, p, e, before, &schema->fields[k]);
        if (!was[0])
            continue;
        fprintf(out, "%s\"%s\":", begun ? "," : "", schema->fields[k].name);
        print_json_string(out, was);
        begun = true;
    }
    fputs("}}\n", out);
}

/* Prints the fields of the event, if the bytes of its frame are not available. */
static void show_event(FILE *out, const struct past *p, const struct ev *e)
{
    const struct ev_schema *schema = ev_schema(e->kind);
    const struct ev *before = tx_before(p, e);
    char buf[EV_JSON_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    ev_add_line(&t, e, p->names);
    text_add(&t, ", t=");
    quantity_add_time_short(&t, e->at_ns);
    show_line(out, &t);
    for (size_t i = 0; i < schema->n_fields; i++) {
        char was[EV_TEXT_BYTES];
        struct text w = text_on(was, sizeof(was));

        add_event_was(&w, p, e, before, &schema->fields[i]);
        t = text_on(buf, sizeof(buf));
        text_addf(&t, "%c %s", was[0] ? '*' : ' ', schema->fields[i].name);
        text_pad_to(&t, COLUMN_OF_FIELD);
        ev_add_field(&t, e, &schema->fields[i], p->names);
        if (was[0])
            text_addf(&t, "   was %s", was);
        show_line(out, &t);
    }
    t = text_on(buf, sizeof(buf));
    text_add(&t, "  lnet");
    text_pad_to(&t, COLUMN_OF_FIELD);
    if (past_add_lnet(&t, p, e, false))
        show_line(out, &t);
    if (e->kind == EV_tx)
        print_before(out, before);
    show_fate(out, p, e);
    fputs("  a saved trace has no bytes of packets, so that it cannot know headers, payload and "
          "ICRC:\n  \"export pcapng FILE\" in the lab writes those\n",
          out);
}

/* Loads the previous packet in the flow of @e, with its fields if its bytes were kept.  Free
 * @ret->rows.
 */
static void find_before(const struct past *p, const struct ev *e, struct packet_before *ret)
{
    size_t bytes = 0;

    *ret = (struct packet_before){.tx = tx_before(p, e)};
    ret->frame = ret->tx ? past_frame(p, ret->tx->id, &bytes) : NULL;
    if (!ret->frame)
        ret->tx = NULL;
    else
        packet_rows(ret->frame, bytes, keep_row, ret);
}

struct framed {
    const struct ev *e;
    const uint8_t *frame;
    size_t bytes;
};

static void print_packet(FILE *out, const struct past *p, const struct framed *packet,
                         enum show_form form, const struct packet_before *before)
{
    const struct ev *e = packet->e;
    const uint8_t *frame = packet->frame;
    const size_t bytes = packet->bytes;
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (rows_are_flat(form)) {
        show_frame_flat(out, frame, bytes, form, before);
    } else if (form == SHOW_JSON) {
        ev_add_id(&t, e->id);
        fprintf(out, "{\"id\":\"%s\",", buf);
        if (before->tx) {
            t = text_on(buf, sizeof(buf));
            ev_add_id(&t, before->tx->id);
            fprintf(out, "\"before\":\"%s\",", buf);
        }
        show_frame_json(out, frame, bytes, before);
        fputs("}\n", out);
    } else {
        ev_add_line(&t, e, p->names);
        text_addf(&t, ", %zu bytes, t=", bytes);
        quantity_add_time_short(&t, e->at_ns);
        show_line(out, &t);
        show_frame(out, frame, bytes, before);
        print_before(out, before->tx);
        show_fate(out, p, e);
    }
}

enum rdl_status show_packet(FILE *out, const struct past *p, ev_id id, enum show_form form)
{
    const struct ev *e = id ? find_with_frame(p, id) : find_last_tx(p);
    const uint8_t *frame;
    struct packet_before before;
    size_t bytes = 0;

    if (!e)
        return id && past_find(p, id) ? RDL_ERR_INVAL : RDL_ERR_NOT_FOUND;
    if (p->without_frames && (form == SHOW_CSV || form == SHOW_MARKDOWN)) {
        struct event_filter only = event_filter_all();

        only.from = only.to = e->id;
        only.story = false;
        show_events_as(out, p, &only, &(struct event_look){.form = form});
        return RDL_OK;
    }
    if (p->without_frames) {
        if (form == SHOW_TEXT)
            show_event(out, p, e);
        else
            show_event_json(out, p, e, e->kind == EV_tx ? tx_before(p, e) : NULL);
        return RDL_OK;
    }
    frame = frame_of(p, e, &bytes);
    if (!frame)
        return RDL_ERR_NOT_FOUND;
    find_before(p, e, &before);
    print_packet(out, p, &(struct framed){e, frame, bytes}, form, &before);
    free(before.rows);
    return RDL_OK;
}
