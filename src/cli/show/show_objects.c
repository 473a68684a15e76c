/* SPDX-License-Identifier: MIT */
#include "cli/show/show_objects.h"

#include <string.h>

#include "cli/print/print_json.h"
#include "cli/print/show_text.h"
#include "cli/tree/tree.h"
#include "cli/tree/tree_json.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"

/* One column of a table of objects. */
struct object_column {
    const char *head;
    const char *leaf; /* below the object; "": its path */
    bool right;       /* aligned to the right: numbers */
    enum quantity unit;
};

/* How columns of words and of numbers stand. */
#define LEFT  false, QUANTITY_NUMBER
#define RIGHT true, QUANTITY_NUMBER

static const struct object_column host_columns[] = {
    {"host", "", LEFT},
    {"address", "gid[0]", LEFT},
    {"mac", "mac", LEFT},
    {"ram", "ram_bytes", RIGHT},
    {"device status", "device.status", LEFT},
};

static const struct object_column switch_columns[] = {{"switch", "", LEFT}};

static const struct object_column link_columns[] = {
    {"link", "", LEFT},
    {"latency", "latency", RIGHT},
    {"rate", "rate", true, QUANTITY_RATE},
    {"loss", "loss_ppm", true, QUANTITY_CHANCE},
    {"carried", "carried", RIGHT},
    {"lost", "lost", RIGHT},
};

static const struct object_column fault_columns[] = {
    {"fault", "", LEFT},
    {"does", "kind", LEFT},
    {"from", "from", LEFT},
    {"opcode", "opcode", LEFT},
    {"syndrome", "syndrome", LEFT},
    {"psn", "psn", RIGHT},
    {"dest-qpn", "dest_qpn", RIGHT},
    {"nth", "nth", RIGHT},
    {"left", "left", RIGHT},
    {"seen", "seen", RIGHT},
    {"hits", "hits", RIGHT},
};

/* The names of iproute2 ("rdma resource show qp"), then ours. */
static const struct object_column qp_columns[] = {
    {"qp", "", LEFT},
    {"lqpn", "qpn", RIGHT},
    {"type", "type", LEFT},
    {"state", "state", LEFT},
    {"rqpn", "dest_qpn", RIGHT},
    {"peer", "peer", LEFT},
    {"path-mtu", "mtu", RIGHT},
    {"sq-psn", "sq_psn", RIGHT},
    {"unacked-psn", "acked_psn", RIGHT},
    {"rq-psn", "rq_psn", RIGHT},
    {"wqes", "outstanding", RIGHT},
    {"retries", "retries", RIGHT},
};

static const struct object_column cq_columns[] = {
    {"cq", "", LEFT},
    {"cqn", "cqn", RIGHT},
    {"cqe", "cqe", RIGHT},
    {"done", "count", RIGHT},
    {"polled", "polled", RIGHT},
    {"armed", "armed", LEFT},
    {"events", "events", RIGHT},
    {"error", "error", LEFT},
};

static const struct object_column mr_columns[] = {
    {"mr", "", LEFT},        {"addr", "addr", RIGHT}, {"bytes", "bytes", RIGHT},
    {"lkey", "lkey", RIGHT}, {"rkey", "rkey", RIGHT}, {"access", "access", LEFT},
    {"pd", "pd", LEFT},
};

static const struct object_column pd_columns[] = {{"pd", "", LEFT}, {"pdn", "pdn", RIGHT}};

static const struct object_table {
    const char *kind;
    const struct object_column *columns;
    size_t n_columns;
} tables[] = {
    {"host", host_columns, ARRAY_LEN(host_columns)},
    {"switch", switch_columns, ARRAY_LEN(switch_columns)},
    {"link", link_columns, ARRAY_LEN(link_columns)},
    {"fault", fault_columns, ARRAY_LEN(fault_columns)},
    {"pd", pd_columns, ARRAY_LEN(pd_columns)},
    {"mr", mr_columns, ARRAY_LEN(mr_columns)},
    {"cq", cq_columns, ARRAY_LEN(cq_columns)},
    {"qp", qp_columns, ARRAY_LEN(qp_columns)},
};

/* Calls @each for every node of @kind that is a child of @path, or of a host that is. */
typedef void object_each(void *ctx, const char *path);

static enum rdl_status walk(const struct rdl_lab *lab, const char *path, const char *kind,
                            bool hosts, object_each *each, void *ctx)
{
    struct tree_list children;
    size_t at;
    enum rdl_status st = tree_children(lab, path, &children, &at);

    for (size_t i = 0; i < children.n && st == RDL_OK; i++) {
        const struct rdl_value *v = &children.v[i].value;
        char sub[TREE_PATH_BYTES];
        struct text t = text_on(sub, sizeof(sub));

        if (v->type != RDL_NODE)
            continue;
        tree_join(&t, path, children.v[i].key);
        if (strcmp(v->text, kind) == 0)
            each(ctx, sub);
        else if (hosts && strcmp(v->text, "host") == 0)
            st = walk(lab, sub, kind, false, each, ctx);
    }
    tree_done(&children);
    return st;
}

struct filling {
    const struct rdl_lab *lab;
    const struct object_table *table;
    size_t n_rows;
    struct grid grid;
};

static void add_cell(struct text *t, const struct rdl_lab *lab, const char *path,
                     const struct object_column *c)
{
    if (!c->leaf[0])
        text_add(t, path);
    else if (c->unit == QUANTITY_NUMBER)
        tree_add(t, lab, path, c->leaf);
    else
        quantity_add(t, c->unit, tree_number(lab, path, c->leaf));
}

static void add_row(void *ctx, const char *path)
{
    struct filling *f = ctx;

    f->n_rows++;
    for (size_t i = 0; i < f->table->n_columns; i++) {
        char buf[SHOW_LINE_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        add_cell(&t, f->lab, path, &f->table->columns[i]);
        grid_cell(&f->grid, buf);
    }
}

/* Prints @table of what there is at or below @path, or @none. */
static enum rdl_status print_table(FILE *out, const struct rdl_lab *lab, const char *path,
                                   const struct object_table *table, const char *none)
{
    struct filling f = {.lab = lab, .table = table};
    uint32_t right = 0;
    enum rdl_status st;

    for (size_t i = 0; i < table->n_columns; i++)
        right |= (uint32_t)table->columns[i].right << i;
    grid_init(&f.grid, (unsigned)table->n_columns, right);
    for (size_t i = 0; i < table->n_columns; i++)
        grid_cell(&f.grid, table->columns[i].head);
    st = walk(lab, path, table->kind, true, add_row, &f);
    if (st == RDL_OK && f.n_rows)
        grid_print(&f.grid, out, 0);
    else if (st == RDL_OK && none)
        fprintf(out, "%s\n", none);
    grid_done(&f.grid);
    return st;
}

struct json_filling {
    FILE *out;
    const struct rdl_lab *lab;
    size_t n;
    enum rdl_status st;
};

static void add_json(void *ctx, const char *path)
{
    struct json_filling *f = ctx;
    size_t at;

    if (f->st != RDL_OK)
        return;
    fputs(f->n++ ? "," : "", f->out);
    print_json_string(f->out, path);
    fputc(':', f->out);
    f->st = show_json(f->out, f->lab, path, &at);
}

enum rdl_status show_kind_json(FILE *out, const struct rdl_lab *lab, const char *path,
                               const char *kind)
{
    struct json_filling f = {out, lab, 0, RDL_OK};
    enum rdl_status st;

    fputc('{', out);
    st = walk(lab, path, kind, true, add_json, &f);
    fputs("}\n", out);
    return st == RDL_OK ? f.st : st;
}

enum rdl_status show_kind(FILE *out, const struct rdl_lab *lab, const char *path, const char *kind,
                          const char *none)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        if (strcmp(tables[i].kind, kind) == 0)
            return print_table(out, lab, path, &tables[i], none);
    }
    return RDL_ERR_INVAL;
}

static void count(void *ctx, const char *path)
{
    (void)path;
    ++*(size_t *)ctx;
}

size_t show_count(const struct rdl_lab *lab, const char *path, const char *kind)
{
    size_t n = 0;

    return walk(lab, path, kind, true, count, &n) == RDL_OK ? n : 0;
}

/* A line of detail: "  send     sq-psn 101, ..." made from pairs of words and leaves. */
struct pair {
    const char *word, *leaf;
    bool off_at_0; /* 0 means that it does not run */
};

static void print_pairs(FILE *out, const struct rdl_lab *lab, const char *path, const char *label,
                        const struct pair *pairs, size_t n)
{
    char buf[SHOW_LINE_BYTES], lead[32];
    struct text t = text_on(buf, sizeof(buf)), l = text_on(lead, sizeof(lead));

    text_addf(&l, "  %s", label);
    for (size_t i = 0; i < n; i++) {
        text_add(&t, i ? ", " : "");
        text_addf(&t, "%s ", pairs[i].word);
        if (pairs[i].off_at_0 && tree_number(lab, path, pairs[i].leaf) == 0)
            text_add(&t, "off");
        else
            tree_add(&t, lab, path, pairs[i].leaf);
    }
    show_wrap_behind(out, lead, 12, buf);
}

/* "  sq       queue 19, 16 entries, 1 posted, 1 taken by the device": the work queue @name. */
static void print_work_queue(FILE *out, const struct rdl_lab *lab, const char *qp, const char *name)
{
    char path[TREE_PATH_BYTES], buf[SHOW_LINE_BYTES], lead[32];
    struct text t = text_on(path, sizeof(path)), line = text_on(buf, sizeof(buf));
    struct text l = text_on(lead, sizeof(lead));
    uint16_t avail, seen, returned, reclaimed;

    tree_join(&t, qp, name);
    avail = (uint16_t)tree_number(lab, path, "driver.avail_idx");
    reclaimed = (uint16_t)tree_number(lab, path, "driver.used_idx");
    seen = (uint16_t)tree_number(lab, path, "device.avail_idx");
    returned = (uint16_t)tree_number(lab, path, "device.used_idx");
    text_addf(&l, "  %s", name);
    text_addf(&line, "queue %llu, %llu entries",
              (unsigned long long)tree_number(lab, path, "number"),
              (unsigned long long)tree_number(lab, path, "size"));
    text_addf(&line, ", %u in use", (uint16_t)(avail - reclaimed));
    text_addf(&line, ": %u not yet taken by the device", (uint16_t)(avail - seen));
    text_addf(&line, ", %u under way", (uint16_t)(seen - returned));
    text_addf(&line, ", %u given back", (uint16_t)(returned - reclaimed));
    show_wrap_behind(out, lead, 12, buf);
}

/* "  counters sent_pkts 3, ...": those that are not 0. */
static enum rdl_status print_counters(FILE *out, const struct rdl_lab *lab, const char *object)
{
    struct tree_list children;
    char path[TREE_PATH_BYTES], buf[2 * SHOW_LINE_BYTES];
    struct text t = text_on(path, sizeof(path)), line = text_on(buf, sizeof(buf));
    size_t at;
    enum rdl_status st;

    tree_join(&t, object, "counters");
    st = tree_children(lab, path, &children, &at);
    for (size_t i = 0; i < children.n && st == RDL_OK; i++) {
        const struct tree_child *c = &children.v[i];

        if (c->value.type != RDL_NODE && c->value.number)
            text_addf(&line, "%s%s %llu", line.len ? ", " : "", c->key,
                      (unsigned long long)c->value.number);
    }
    if (line.len)
        show_wrap_behind(out, "  counters", 12, buf);
    tree_done(&children);
    return st == RDL_ERR_NOT_FOUND ? RDL_OK : st;
}

enum rdl_status show_qp(FILE *out, const struct rdl_lab *lab, const char *path)
{
    static const struct pair about[] = {{"lqpn", "qpn", false},       {"rqpn", "dest_qpn", false},
                                        {"peer", "peer", false},      {"path-mtu", "mtu", false},
                                        {"pd", "pd", false},          {"send-cq", "send_cq", false},
                                        {"recv-cq", "recv_cq", false}};
    static const struct pair send[] = {{"sq-psn (next)", "sq_psn", false},
                                       {"oldest unacknowledged", "acked_psn", false},
                                       {"work requests under way", "outstanding", false}};
    static const struct pair recv[] = {{"rq-psn (expected)", "rq_psn", false},
                                       {"msn", "msn", false}};
    static const struct pair retry[] = {{"retries", "retries", false},
                                        {"retry_cnt", "retry_cnt", false},
                                        {"rnr_retries", "rnr_retries", false},
                                        {"rnr_retry", "rnr_retry", false}};
    static const struct pair timers[] = {{"timeout", "timeout", false},
                                         {"ack timer", "timer_due", true},
                                         {"rnr timer", "rnr_due", true},
                                         {"min_rnr_timer", "min_rnr_timer", false}};
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%s   ", path);
    tree_add(&t, lab, path, "type");
    text_add(&t, "   ");
    tree_add(&t, lab, path, "state");
    show_line(out, &t);
    print_pairs(out, lab, path, "", about, ARRAY_LEN(about));
    print_pairs(out, lab, path, "send", send, ARRAY_LEN(send));
    print_pairs(out, lab, path, "receive", recv, ARRAY_LEN(recv));
    print_pairs(out, lab, path, "retry", retry, ARRAY_LEN(retry));
    print_pairs(out, lab, path, "timers", timers, ARRAY_LEN(timers));
    print_work_queue(out, lab, path, "sq");
    print_work_queue(out, lab, path, "rq");
    return print_counters(out, lab, path);
}

#define COMPLETIONS_SHOWN_MAX 16u

/* The completions from @from on, in a table; those that were polled say so. */
static void print_completions(FILE *out, const struct rdl_lab *lab, const char *cq, uint64_t from,
                              uint64_t to)
{
    static const struct object_column columns[] = {
        {"", "", LEFT},
        {"wr_id", "wr_id", RIGHT},
        {"status", "status", LEFT},
        {"opcode", "opcode", LEFT},
        {"byte_len", "byte_len", RIGHT},
        {"qp_num", "qp_num", RIGHT},
    };
    const uint64_t polled = tree_number(lab, cq, "polled");
    struct grid g;

    grid_init(&g, ARRAY_LEN(columns) + 1, 1u << 1 | 1u << 4 | 1u << 5);
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        grid_cell(&g, columns[i].head);
    grid_cell(&g, "");
    for (uint64_t n = from; n < to; n++) {
        char key[TREE_KEY_BYTES], path[TREE_PATH_BYTES];
        struct text k = text_on(key, sizeof(key)), p = text_on(path, sizeof(path));

        text_addf(&k, "wc[%llu]", (unsigned long long)n);
        tree_join(&p, cq, key);
        grid_cell(&g, key);
        for (size_t i = 1; i < ARRAY_LEN(columns); i++) {
            char buf[SHOW_LINE_BYTES];
            struct text t = text_on(buf, sizeof(buf));

            tree_add(&t, lab, path, columns[i].leaf);
            grid_cell(&g, buf);
        }
        grid_cell(&g, n < polled ? "polled" : "");
    }
    grid_print(&g, out, 2);
    grid_done(&g);
}

enum rdl_status show_cq(FILE *out, const struct rdl_lab *lab, const char *path)
{
    static const struct pair about[] = {{"cqn", "cqn", false},
                                        {"entries", "cqe", false},
                                        {"completions so far", "count", false},
                                        {"polled", "polled", false},
                                        {"armed", "armed", false},
                                        {"events", "events", false},
                                        {"error", "error", false}};
    const uint64_t n = tree_number(lab, path, "count");
    const uint64_t from = n > COMPLETIONS_SHOWN_MAX ? n - COMPLETIONS_SHOWN_MAX : 0;

    fprintf(out, "%s\n", path);
    print_pairs(out, lab, path, "", about, ARRAY_LEN(about));
    if (n)
        print_completions(out, lab, path, from, n);
    return RDL_OK;
}
