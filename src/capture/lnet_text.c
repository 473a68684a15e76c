/* SPDX-License-Identifier: MIT */
/* Prints how many messages of o2iblnd each side of a connection has sent. */
#include "capture/check.h"
#include "emu/facts/enum_table.h"
#include "print/show_text.h"

#define INDENT 4u

/* Prints the messages of flow @flow of connection number @number.  @is_first: with a headline. */
static void print_flow(FILE *out, const struct check *c, uint32_t number, uint32_t flow,
                       bool is_first)
{
    uint32_t counts[LNET_TYPES_MAX];
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    const char *before = ": ";

    (void)lnet_messages_count(&c->record, flow, counts);
    if (is_first)
        fputs("\nMessages of o2iblnd, by connection and sender\n", out);
    text_addf(&t, "%u", number);
    text_pad_to(&t, INDENT);
    addr_add(&t, check_src(c, flow)->gid);
    for (size_t i = 0; i < enum_lnet_msg.n_rows; i++) {
        if (counts[i] == 0)
            continue;
        text_addf(&t, "%s%u %s", before, counts[i], enum_lnet_msg.rows[i].name);
        before = ", ";
    }
    show_hanging(out, INDENT, buf);
}

void check_text_lnet(FILE *out, const struct check *c)
{
    uint32_t counts[LNET_TYPES_MAX];
    bool is_first = true;

    if (c->record.lnet.n == 0)
        return;
    for (uint32_t n = 0; n < c->n_shown; n++) {
        const struct connection *k = &c->v[c->shown[n]];

        for (unsigned way = 0; way < 2; way++) {
            if (k->flow[way] == SEEN_NONE || (way == 1 && k->flow[0] == k->flow[1]) ||
                lnet_messages_count(&c->record, k->flow[way], counts) == 0)
                continue;
            print_flow(out, c, c->shown[n] + 1, k->flow[way], is_first);
            is_first = false;
        }
    }
}

void check_json_lnet(FILE *out, const struct check *c, uint32_t flow)
{
    uint32_t counts[LNET_TYPES_MAX];
    const char *before = "";

    if (c->record.lnet.n == 0 || lnet_messages_count(&c->record, flow, counts) == 0)
        return;
    fputs(",\"lnet\":{", out);
    for (size_t i = 0; i < enum_lnet_msg.n_rows; i++) {
        if (counts[i] == 0)
            continue;
        fprintf(out, "%s\"%s\":%u", before, enum_lnet_msg.rows[i].name, counts[i]);
        before = ",";
    }
    fputc('}', out);
}
