/* SPDX-License-Identifier: MIT */
/* The rows of a comparison are facts of both words: functions that each append one cell.  Words of
 * the same enumeration have the rows of that enumeration; all words have their meaning, and the
 * structures, values and events that contain a field of this name.
 */
#include "cli/explain/compare.h"

#include <string.h>
#include <strings.h>

#include "cli/explain/c_names.h"
#include "cli/explain/explain.h"
#include "cli/explain/explain_asked.h"
#include "cli/explain/meaning.h"
#include "cli/explain/page.h"
#include "cli/explain/rfc_dump.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/leaf.h"
#include "emu/facts/opcode.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/roce.h"
#include "emu/facts/wr.h"
#include "emu/trace/kind.h"
#include "emu/trace/schema.h"

#define CELL_BYTES 2048u /* more than the longest text of a word */
#define OPCODES    256u
#define LISTED_MAX 6u /* names in a cell */

static void add_listed(struct text *t, const char *name)
{
    text_addf(t, "%s%s", t->len ? ", " : "", name);
}

/* Adds the headers that follow the BTH of a packet; NULL: none. */
static void add_headers(struct text *t, const struct op_info *op)
{
    for (size_t i = 0; op && i < n_op_headers; i++) {
        if (op->headers & op_headers[i].header)
            add_listed(t, op_headers[i].name);
    }
}

/* ---- Services ---- */

static void type_operations(struct text *t, uint32_t type)
{
    for (size_t i = 0; i < enum_wr_opcode.n_rows; i++) {
        if (wr_is_of_type(type, enum_wr_opcode.rows[i].value))
            add_listed(t, enum_wr_opcode.rows[i].name);
    }
}

/* Returns the packet opcode of a SEND on @type at @position of a message, or NULL. */
static const struct op_info *send_packet(uint32_t type, enum op_position position)
{
    const struct wr_info *send = wr_info(WR_SEND);
    const bool has_more =
        type < WR_TYPES && send->code[type][OPP_FIRST] != send->code[type][OPP_MIDDLE];

    if (type >= WR_TYPES || !wr_is_of_type(type, WR_SEND) || (position != OPP_ONLY && !has_more))
        return NULL;
    return op_info(send->code[type][position]);
}

static void type_message(struct text *t, uint32_t type)
{
    if (send_packet(type, OPP_FIRST))
        text_addf(t, "up to %u MiB, in packets of the path MTU", MESSAGE_BYTES_MAX >> 20);
    else if (send_packet(type, OPP_ONLY))
        text_add(t, "one packet: at most the path MTU");
}

static void type_peer(struct text *t, uint32_t type)
{
    text_add(t, qp_fsm_needs(type, QPS_RTR) & QPA_DEST_QPN
                    ? "one queue pair, which modify_qp names"
                    : "any queue pair: each request names one");
}

/* Returns true if a packet of @kind exists on the service of @type. */
static bool has_packet(uint32_t type, enum op_kind kind)
{
    const struct op_info *send = send_packet(type, OPP_ONLY);

    for (unsigned code = 0; send && code < OPCODES; code++) {
        const struct op_info *op = op_info((uint8_t)code);

        if (op->name && op->kind == kind && op->service == send->service)
            return true;
    }
    return false;
}

static void type_acknowledged(struct text *t, uint32_t type)
{
    text_add(t, has_packet(type, OPK_ACK) ? "yes" : "no");
}

static void type_repeated(struct text *t, uint32_t type)
{
    const unsigned needs = qp_fsm_needs(type, QPS_RTS);

    text_add(t, needs & QPA_TIMEOUT ? "yes, up to retry_cnt times; then the request fails"
                                    : "no, and the sender is not told");
}

static void type_headers(struct text *t, uint32_t type)
{
    text_add(t, "BTH");
    add_headers(t, send_packet(type, OPP_ONLY));
}

static void add_attributes(struct text *t, uint32_t type, enum qp_state to)
{
    for (size_t i = 0; i < enum_qp_attr.n_rows; i++) {
        if (qp_fsm_needs(type, to) & enum_qp_attr.rows[i].value)
            add_listed(t, enum_qp_attr.rows[i].text);
    }
}

static void type_rtr(struct text *t, uint32_t type)
{
    add_attributes(t, type, QPS_RTR);
}

static void type_rts(struct text *t, uint32_t type)
{
    add_attributes(t, type, QPS_RTS);
}

/* ---- Operations ---- */

static void wr_services(struct text *t, uint32_t opcode)
{
    for (size_t i = 0; i < enum_qp_type.n_rows; i++) {
        if (wr_is_of_type(enum_qp_type.rows[i].value, opcode))
            add_listed(t, enum_qp_type.rows[i].name);
    }
}

/* Returns the properties of the only packet of a request on RC.  Returns NULL if it has none. */
static const struct op_info *wr_packet(uint32_t opcode)
{
    const struct wr_info *wr = wr_info(opcode);

    return wr && !wr->local ? op_info(wr->code[QPT_RC][OPP_ONLY]) : NULL;
}

static void wr_own_memory(struct text *t, uint32_t opcode)
{
    const struct wr_info *wr = wr_info(opcode);

    if (wr)
        text_add(t, wr->data == WR_DATA_TAKES   ? "holds the message"
                    : wr->data == WR_DATA_FILLS ? "receives the answer"
                                                : "is not used");
}

static void wr_remote_memory(struct text *t, uint32_t opcode)
{
    const struct op_info *op = wr_packet(opcode);

    if (!op)
        text_add(t, "is not used");
    else if (op->kind == OPK_SEND)
        text_add(t, "is that of the posted receive");
    else
        text_add(t, "is named by the request: address and remote key");
}

static void wr_receive(struct text *t, uint32_t opcode)
{
    text_add(t, wr_takes_receive(opcode) ? "yes, and completes it" : "no");
}

/* Appends the opcodes of packets of RC that answer a request of @kind. */
static void wr_answer(struct text *t, uint32_t opcode)
{
    const struct op_info *op = wr_packet(opcode);
    const enum op_kind kind = op ? op_answer(op) : OPK_ACK;

    for (unsigned code = 0; op && code < OPCODES; code++) {
        const struct op_info *answer = op_info((uint8_t)code);

        if (answer->name && answer->kind == kind && answer->service == OPS_RC)
            add_listed(t, answer->name);
    }
}

static void wr_headers(struct text *t, uint32_t opcode)
{
    add_headers(t, wr_packet(opcode));
}

static void wr_completion(struct text *t, uint32_t opcode)
{
    const struct wr_info *wr = wr_info(opcode);

    if (wr)
        text_add(t, enum_name(&enum_wc_opcode, wr->wc));
}

/* Facts of the words of an enumeration, by their number. */
static const struct {
    const struct enum_table *table;
    const char *label;
    void (*add)(struct text *t, uint32_t value);
} facts[] = {
    {&enum_qp_type, "operations", type_operations},
    {&enum_qp_type, "peer", type_peer},
    {&enum_qp_type, "message", type_message},
    {&enum_qp_type, "acknowledged", type_acknowledged},
    {&enum_qp_type, "sent again", type_repeated},
    {&enum_qp_type, "a SEND has", type_headers},
    {&enum_qp_type, "RTR needs", type_rtr},
    {&enum_qp_type, "RTS needs", type_rts},
    {&enum_wr_opcode, "services", wr_services},
    {&enum_wr_opcode, "own memory", wr_own_memory},
    {&enum_wr_opcode, "peer's memory", wr_remote_memory},
    {&enum_wr_opcode, "takes a receive", wr_receive},
    {&enum_wr_opcode, "headers", wr_headers},
    {&enum_wr_opcode, "answer", wr_answer},
    {&enum_wr_opcode, "completion", wr_completion},
};

/* ---- Any word ---- */

static void in_structures(struct text *t, const char *word)
{
    const struct row_struct *s;
    unsigned n = 0;

    for (size_t i = 0; (s = explain_structure_at(i)) != NULL; i++) {
        for (size_t k = 0; k < s->n_fields; k++) {
            if (explain_same(s->fields[k].name, word) && n++ < LISTED_MAX)
                add_listed(t, s->name);
        }
    }
}

static void in_values(struct text *t, const char *word)
{
    unsigned n = 0;

    for (unsigned i = LEAF_none + 1; i < LEAF_COUNT; i++) {
        const struct leaf_row *leaf = &leaf_rows[i];

        if (!(leaf->flags & LEAF_KEYED) && explain_same(leaf->key, word) && n++ < LISTED_MAX)
            add_listed(t, node_rows[leaf->node].title);
    }
}

static void in_events(struct text *t, const char *word)
{
    unsigned n = 0;

    for (unsigned i = 0; i < EV_COUNT; i++) {
        const struct ev_schema *s = ev_schema((enum ev_kind)i);

        for (size_t k = 0; k < s->n_fields; k++) {
            if (explain_same(s->fields[k].name, word) && n++ < LISTED_MAX)
                add_listed(t, s->name);
        }
    }
}

static const struct {
    const char *label;
    void (*add)(struct text *t, const char *word);
} places[] = {
    {"in structures", in_structures},
    {"value of", in_values},
    {"in events", in_events},
};

/* The cells of a row. */
struct row_cells {
    char v[PAGE_COLUMNS_MAX][CELL_BYTES];
    size_t n;
};

/* Returns an empty text in cell @i. */
static struct text cell(struct row_cells *c, size_t i)
{
    return text_on(c->v[i], CELL_BYTES);
}

/* Adds a row of the table, unless all cells are empty. */
static void add_cells(struct answer_page *out, const char *label, const struct row_cells *c)
{
    const char *texts[PAGE_COLUMNS_MAX] = {NULL};
    bool any = false;

    for (size_t i = 0; i < c->n; i++) {
        any = any || c->v[i][0];
        texts[i] = c->v[i][0] ? c->v[i] : "-";
    }
    if (any)
        page_columns(out, label, texts, c->n);
}

static void add_row_facts(struct answer_page *out, const struct enum_table *table,
                          const char *const *words, size_t n)
{
    struct row_cells c = {.n = n}, numbers = {.n = n}, names = {.n = n};

    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        if (facts[i].table != table)
            continue;
        for (size_t k = 0; k < n; k++) {
            struct text t = cell(&c, k);

            facts[i].add(&t, enum_by_name(table, words[k])->value);
        }
        add_cells(out, facts[i].label, &c);
    }
    for (size_t k = 0; k < n; k++) {
        const struct enum_row *row = enum_by_name(table, words[k]);
        struct text number = cell(&numbers, k), name = cell(&names, k);

        text_addf(&number, "%u", row->value);
        (void)c_name_add(&name, table, row);
    }
    add_cells(out, "number", &numbers);
    add_cells(out, "in C", &names);
}

static bool has_all(const struct enum_table *table, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!enum_by_name(table, words[i]))
            return false;
    }
    return true;
}

/* Finds the enumeration that has all words; one that has facts comes first. */
static const struct enum_table *common_table(const char *const *words, size_t n)
{
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        if (has_all(facts[i].table, words, n))
            return facts[i].table;
    }
    for (const struct enum_table *const *t = enum_tables; *t; t++) {
        if (has_all(*t, words, n))
            return *t;
    }
    return NULL;
}

/* Adds the row of the first senses of the words, if all have one. */
static void add_senses(struct answer_page *out, const char *const *words, size_t n)
{
    const char *texts[PAGE_COLUMNS_MAX] = {NULL};

    for (size_t i = 0; i < n; i++) {
        if (!meaning_of(words[i]))
            return;
        texts[i] = meaning_of(words[i])->what;
    }
    page_columns(out, "is", texts, n);
}

bool compare_explain(struct answer_page *out, const char *const *asked, size_t n)
{
    const char *words[PAGE_COLUMNS_MAX] = {NULL};
    char title[CELL_BYTES], see[CELL_BYTES];
    struct text all = text_on(title, sizeof(title)), s = text_on(see, sizeof(see));
    const struct enum_table *table;
    struct row_cells c = {.n = n};

    for (size_t i = 0; i < n; i++) {
        struct text t = cell(&c, i);

        words[i] = explain_proper(asked[i]);
        if (!explain_gist(&t, words[i]))
            return false;
        text_addf(&all, "%s%s", i ? " vs " : "", words[i]);
        text_addf(&s, "%sexplain %s", i ? "; " : "", words[i]);
    }
    table = common_table(words, n);
    page_thing(out, "%s", title);
    page_columns(out, "", words, n);
    add_senses(out, words, n);
    add_cells(out, "meaning", &c);
    if (table)
        add_row_facts(out, table, words, n);
    for (size_t i = 0; !table && i < ARRAY_LEN(places); i++) {
        for (size_t k = 0; k < n; k++) {
            struct text t = cell(&c, k);

            places[i].add(&t, words[k]);
        }
        add_cells(out, places[i].label, &c);
    }
    page_see(out, see);
    return true;
}

/* Returns true if one kind of object has the values @a and @b: a region has lkey and rkey. */
static bool are_values_of_one_node(const char *a, const char *b)
{
    bool has_a[NODE_COUNT] = {false}, has_b[NODE_COUNT] = {false};

    for (unsigned i = LEAF_none + 1; i < LEAF_COUNT; i++) {
        const struct leaf_row *leaf = &leaf_rows[i];

        has_a[leaf->node] = has_a[leaf->node] || explain_same(leaf->key, a);
        has_b[leaf->node] = has_b[leaf->node] || explain_same(leaf->key, b);
        if (has_a[leaf->node] && has_b[leaf->node])
            return true;
    }
    return false;
}

bool compare_is_of_one_sort(const char *a, const char *b)
{
    const char *const words[] = {explain_proper(a), explain_proper(b)};

    return common_table(words, 2) || are_values_of_one_node(words[0], words[1]);
}

bool compare_split(const char *asked, char *ret_a, char *ret_b, bool *ret_said)
{
    static const char *const between[] = {" vs ", " vs. ",     " versus ",      " and ",
                                          " or ", " against ", " compared to ", " compared with ",
                                          "/",    " "};
    struct text a = text_on(ret_a, EXPLAIN_ASKED_BYTES), b = text_on(ret_b, EXPLAIN_ASKED_BYTES);

    for (size_t i = 0; i < ARRAY_LEN(between); i++) {
        const size_t n = strlen(between[i]);

        for (const char *at = asked; *at; at++) {
            if (strncasecmp(at, between[i], n) != 0 || at == asked || !at[n])
                continue;
            text_addn(&a, asked, (size_t)(at - asked));
            text_add(&b, at + n);
            *ret_said = strcmp(between[i], " ") != 0;
            return true;
        }
    }
    return false;
}
