/* SPDX-License-Identifier: MIT */
/* A number is looked up in every table whose values users see as numbers.  The meanings are counted
 * first: a single one is printed in full, several in one line each.
 */
#include "cli/explain/explain_number.h"

#include <string.h>
#include <strings.h>

#include "cli/explain/explain_row.h"
#include "cli/explain/page.h"
#include "cli/lang/suggest.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/facts/aeth.h"
#include "print/cite.h"
#include "print/show_text.h"

#define MEANING_COLUMN 30u

static const struct {
    const struct enum_table *table;
    bool is_bits; /* values may be combined */
} numbered[] = {
    {&enum_wc_status, false}, {&enum_wc_opcode, false},    {&enum_rule, false},
    {&enum_opcode, false},    {&enum_wr_opcode, false},    {&enum_qp_state, false},
    {&enum_qp_type, false},   {&enum_async_event, false},  {&enum_ctrl_cmd, false},
    {&enum_ctrl_rsp, false},  {&enum_feature, false},      {&enum_net_feature, false},
    {&enum_mtu, false},       {&enum_device_status, true}, {&enum_access, true},
    {&enum_send_flag, true},  {&enum_wc_flag, true},       {&enum_qp_attr, false},
};

/* Further names of a table. */
static const struct {
    const char *word;
    const struct enum_table *table;
} about[] = {
    {"vendor_err", &enum_rule}, {"error", &enum_wc_status},   {"wc", &enum_wc_status},
    {"wc", &enum_wc_opcode},    {"response", &enum_ctrl_rsp}, {"command", &enum_ctrl_cmd},
    {"nak", &enum_syndrome},    {"aeth", &enum_syndrome},
};

/* State of the lookup. */
struct number_search {
    struct answer_page *out;
    const char *subject; /* NULL: any */
    uint64_t number;
    unsigned n;
    bool told; /* print each meaning in a line; false: only count them */
    bool alone, source;
};

bool explain_is_about(const char *subject, const struct enum_table *table)
{
    const size_t n = strlen(subject);

    if (strcasecmp(subject, table->name) == 0 || suggest_is_part(subject, table->name))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(about); i++) {
        if (about[i].table == table && strcasecmp(about[i].word, subject) == 0)
            return true;
    }
    for (const char *w = table->what; *w; w += strspn(w, " ")) {
        const size_t word = strcspn(w, " ");

        if (word == n && strncasecmp(w, subject, n) == 0)
            return true;
        w += word;
    }
    return false;
}

static void print_meaning(struct number_search *a, const char *what, const char *text)
{
    char lead[SHOW_LINE_BYTES];
    struct text t = text_on(lead, sizeof(lead));

    a->n++;
    if (!a->told)
        return;
    text_addf(&t, "  %s ", what);
    page_cite_behind(a->out, lead, MEANING_COLUMN, text, a->source);
}

/* Looks up the number in the rows of a table. */
static void look_in_rows(struct number_search *a, const struct enum_table *table)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct enum_row *row = &table->rows[i];
        char buf[SHOW_LINE_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        if (row->value != a->number)
            continue;
        text_addf(&t, "%s: %s", row->name, row->text);
        if (a->told && a->alone) {
            explain_row(a->out, table, row, a->source);
            return;
        }
        print_meaning(a, table->what, buf);
    }
}

/* Looks up the number as a combination of several bits of @table. */
static void look_in_bits(struct number_search *a, const struct enum_table *table)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    uint64_t left = a->number;
    unsigned n = 0;

    for (size_t i = 0; i < table->n_rows; i++) {
        if (!(a->number & table->rows[i].value))
            continue;
        text_addf(&t, n++ ? ", %s" : "%s", table->rows[i].name);
        left &= ~(uint64_t)table->rows[i].value;
    }
    if (left == 0 && n > 1)
        print_meaning(a, table->what, buf);
}

static bool is_wanted(const struct number_search *a, const char *word, const char *other)
{
    return !a->subject || strcasecmp(a->subject, word) == 0 || strcasecmp(a->subject, other) == 0;
}

/* Looks up the number as the byte of an AETH, and as timer codes, which have no enumeration. */
static void look_in_codes(struct number_search *a)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct aeth_word word;

    if (a->number <= UINT8_MAX && (!a->subject || explain_is_about(a->subject, &enum_syndrome))) {
        word = aeth_unpack((uint8_t)a->number);
        text_add(&t, enum_name(&enum_syndrome, word.kind));
        if (word.kind == SYN_ACK && word.value == AETH_NO_CREDITS)
            text_add(&t, ", no credits given");
        else if (word.kind == SYN_ACK)
            text_addf(&t, ", credits for %u messages", aeth_credits(word.value));
        else if (word.kind == SYN_RNR_NAK)
            text_addf(&t, ", with timer code %u", word.value);
        print_meaning(a, "byte of an AETH syndrome", buf);
    }
    if (a->number > 31)
        return;
    t = text_on(buf, sizeof(buf));
    if (a->number == 0)
        text_add(&t, "never");
    else
        quantity_add_time_short(&t, ack_timeout_ns((uint8_t)a->number));
    text_add(&t, ": how long a requester waits for an answer; explain timeout");
    if (is_wanted(a, "timeout", "time"))
        print_meaning(a, "code of timeout=", buf);
    t = text_on(buf, sizeof(buf));
    quantity_add_time_short(&t, rnr_timer_ns((uint8_t)a->number));
    text_add(&t, ": the wait that an RNR NAK asks for; explain rnr");
    if (is_wanted(a, "min_rnr_timer", "rnr_timer"))
        print_meaning(a, "code of min_rnr_timer=", buf);
}

static void look(struct number_search *a)
{
    a->n = 0;
    for (size_t i = 0; i < ARRAY_LEN(numbered); i++) {
        if (a->subject && !explain_is_about(a->subject, numbered[i].table))
            continue;
        look_in_rows(a, numbered[i].table);
        if (numbered[i].is_bits)
            look_in_bits(a, numbered[i].table);
    }
    look_in_codes(a);
}

bool explain_number(struct answer_page *out, const char *subject, uint64_t number, bool source)
{
    struct number_search a = {.out = out, .subject = subject, .number = number, .source = source};

    look(&a);
    if (a.n == 0)
        return false;
    a.told = true;
    page_thing(out, "%llu", (unsigned long long)number);
    a.alone = a.n == 1;
    if (!a.alone)
        page_line(out, "%llu (0x%llx) means, as", (unsigned long long)number,
                  (unsigned long long)number);
    look(&a);
    if (!a.alone && !subject)
        page_line(out,
                  "\"explain status %llu\" asks for one of them, and so do opcode, rule, state, "
                  "event, timeout",
                  (unsigned long long)number);
    return true;
}
