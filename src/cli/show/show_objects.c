/* SPDX-License-Identifier: MIT */
#include "cli/show/show_objects.h"

#include <string.h>

#include "cli/show/show_columns.h"
#include "cli/show/show_rows.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/facts/rfc.h"
#include "emu/facts/virtio_rdma/config.h"
#include "process/must.h"
#include "tree/tree.h"

/* Source of a column's value.  MADE_OF_LEAF: a leaf of the object; otherwise it is computed. */
enum computed {
    MADE_OF_LEAF,
    MADE_HOST,     /* the host of the object */
    MADE_MRN,      /* number of the region: its key without the low byte */
    MADE_PDN,      /* number of the object's protection domain */
    MADE_USERS,    /* of a completion queue: number of queue pairs that use it */
    MADE_MIGRATION /* state of the path migration; the emulator never migrates, so it is constant */
};

/* The forms of a table that have a column.  FOR_PROGRAMS_OR_IF_USED: tables for people have it if
 * one of their objects has a value.
 */
enum column_for { FOR_ALL, FOR_PROGRAMS, FOR_PROGRAMS_OR_IF_USED };

/* One column of a table of objects. */
struct object_column {
    const char *head;  /* NULL: the name of the leaf */
    enum leaf_id leaf; /* LEAF_none: the path of the object */
    bool right;        /* right-aligned: numbers */
    enum quantity unit;
    enum child_id in; /* child of the object that has the leaf; CHILD_none: the object itself */
    enum computed made;
    enum column_for shown;
};

/* Initializers for columns of words and of numbers. */
#define LEFT          false, QUANTITY_NUMBER, CHILD_none, MADE_OF_LEAF, FOR_ALL
#define RIGHT         true, QUANTITY_NUMBER, CHILD_none, MADE_OF_LEAF, FOR_ALL
#define RIGHT_IF_USED true, QUANTITY_NUMBER, CHILD_none, MADE_OF_LEAF, FOR_PROGRAMS_OR_IF_USED
/* Initializers for computed columns, from a leaf or without one. */
#define MADE_FROM(leaf, right, made, shown) leaf, right, QUANTITY_NUMBER, CHILD_none, made, shown
#define MADE(right, made, shown)            MADE_FROM(LEAF_none, right, made, shown)

/* Columns for programs that "rdma resource show" also has. */
#define IFNAME                                                                                     \
    {                                                                                              \
        "ifname", MADE(false, MADE_HOST, FOR_PROGRAMS)                                             \
    }
#define PDN(leaf)                                                                                  \
    {                                                                                              \
        "pdn", MADE_FROM(leaf, true, MADE_PDN, FOR_PROGRAMS)                                       \
    }

static const struct object_column host_columns[] = {
    {"host", LEAF_none, LEFT},
    {"address", LEAF_host_gid, LEFT},
    {"mac", LEAF_host_mac, LEFT},
    {"ram", LEAF_host_ram_bytes, RIGHT},
    {"device status", LEAF_device_status, false, QUANTITY_NUMBER, CHILD_host_device, MADE_OF_LEAF,
     FOR_ALL},
};

static const struct object_column switch_columns[] = {{"switch", LEAF_none, LEFT}};

static const struct object_column link_columns[] = {
    {"link", LEAF_none, LEFT},
    {"latency", LEAF_link_latency, RIGHT},
    {"rate", LEAF_link_rate, true, QUANTITY_RATE, CHILD_none, MADE_OF_LEAF, FOR_ALL},
    {"loss", LEAF_link_loss_ppm, true, QUANTITY_CHANCE, CHILD_none, MADE_OF_LEAF, FOR_ALL},
    {"jitter", LEAF_way_jitter, true, QUANTITY_NUMBER, CHILD_link_there, MADE_OF_LEAF, FOR_ALL},
    {"bursts", LEAF_way_burst_ppm, true, QUANTITY_CHANCE, CHILD_link_there, MADE_OF_LEAF, FOR_ALL},
    {"carried", LEAF_link_carried, RIGHT},
    {"lost", LEAF_link_lost, RIGHT},
};

static const struct object_column fault_columns[] = {
    {"#", LEAF_fault_number, RIGHT},     {"fault", LEAF_none, LEFT},
    {"matches", LEAF_fault_seen, RIGHT}, {"hits", LEAF_fault_hits, RIGHT},
    {"left", LEAF_fault_left, RIGHT},    {"what it does", LEAF_fault_about, LEFT},
};

/* Columns named as in iproute2 ("rdma resource show qp"), then further ones. */
static const struct object_column qp_columns[] = {
    {"qp", LEAF_none, LEFT},
    {NULL, LEAF_qp_qpn, RIGHT},
    {NULL, LEAF_qp_type, LEFT},
    {NULL, LEAF_qp_state, LEFT},
    {NULL, LEAF_qp_dest_qpn, RIGHT},
    {"peer", LEAF_qp_peer, LEFT},
    {"path-mtu", LEAF_qp_mtu, RIGHT},
    {NULL, LEAF_qp_sq_psn, RIGHT},
    {"unacked-psn", LEAF_qp_acked_psn, RIGHT},
    {NULL, LEAF_qp_rq_psn, RIGHT},
    {"wqes", LEAF_qp_outstanding, RIGHT},
    {"retries", LEAF_qp_retries, RIGHT},
    IFNAME,
    PDN(LEAF_qp_pd),
    {"path-mig-state", MADE(false, MADE_MIGRATION, FOR_PROGRAMS)},
};

static const struct object_column cq_columns[] = {
    {"cq", LEAF_none, LEFT},
    {"cqn", LEAF_cq_cqn, RIGHT},
    {"cqe", LEAF_cq_cqe, RIGHT},
    {"done", LEAF_cq_count, RIGHT},
    {"polled", LEAF_cq_polled, RIGHT},
    {"armed", LEAF_cq_armed, LEFT},
    {"events", LEAF_cq_events, RIGHT},
    {"ceq", LEAF_cq_ceq, RIGHT_IF_USED},
    {"error", LEAF_cq_error, LEFT},
    {"users", MADE(true, MADE_USERS, FOR_ALL)},
    IFNAME,
};

static const struct object_column mr_columns[] = {
    {"mr", LEAF_none, LEFT},
    {"mrn", MADE(true, MADE_MRN, FOR_ALL)},
    {"addr", LEAF_mr_addr, RIGHT},
    {NULL, LEAF_mr_bytes, RIGHT},
    {NULL, LEAF_mr_lkey, RIGHT},
    {NULL, LEAF_mr_rkey, RIGHT},
    {"access", LEAF_mr_access, LEFT},
    {"pd", LEAF_mr_pd, LEFT},
    IFNAME,
    {NULL, LEAF_mr_iova, true, QUANTITY_NUMBER, CHILD_none, MADE_OF_LEAF, true},
    PDN(LEAF_mr_pd),
};

static const struct object_column mw_columns[] = {
    {"mw", LEAF_none, LEFT},         {"type", LEAF_mw_type, RIGHT},
    {"rkey", LEAF_mw_rkey, RIGHT},   {"state", LEAF_mw_state, LEFT},
    {"mr", LEAF_mw_mr, LEFT},        {"addr", LEAF_mw_addr, RIGHT},
    {"bytes", LEAF_mw_bytes, RIGHT}, {"access", LEAF_mw_access, LEFT},
    {"pd", LEAF_mw_pd, LEFT},
};

static const struct object_column pd_columns[] = {
    {"pd", LEAF_none, LEFT}, {"pdn", LEAF_pd_pdn, RIGHT}, {"users", LEAF_pd_users, RIGHT}, IFNAME};

static const struct object_column ah_columns[] = {
    {"ah", LEAF_none, LEFT},    {"dgid", LEAF_ah_dgid, LEFT},
    {"mac", LEAF_ah_mac, LEFT}, {"sgid-index", LEAF_ah_sgid_index, RIGHT},
    {"pd", LEAF_ah_pd, LEFT},
};

static const struct object_column srq_columns[] = {
    {"srq", LEAF_none, LEFT},
    {"srqn", LEAF_srq_srqn, RIGHT},
    {"max-wr", LEAF_srq_max_wr, RIGHT},
    {"posted", LEAF_srq_posted, RIGHT},
    {"taken", LEAF_srq_taken, RIGHT},
    {"limit", LEAF_srq_limit, RIGHT},
    {"users", LEAF_srq_users, RIGHT},
    {"pd", LEAF_srq_pd, LEFT},
    {"error", LEAF_srq_error, LEFT},
    IFNAME,
    PDN(LEAF_srq_pd),
};

static const struct object_column channel_columns[] = {
    {"channel", LEAF_none, LEFT},
    {"cqs", LEAF_channel_users, RIGHT},
    {"pending", LEAF_channel_pending, RIGHT},
    {"next", LEAF_channel_next, LEFT},
};

static const struct object_column event_channel_columns[] = {
    {"event channel", LEAF_none, LEFT},
    {"ids", LEAF_event_channel_ids, RIGHT},
    {"pending", LEAF_event_channel_pending, RIGHT},
    {"next", LEAF_event_channel_next, LEFT},
    {"unacked", LEAF_event_channel_unacked, RIGHT},
};

static const struct object_column cm_id_columns[] = {
    {"id", LEAF_none, LEFT},
    {"ps", LEAF_cm_id_space, LEFT},
    {"state", LEAF_cm_id_state, LEFT},
    {"connection", LEAF_cm_id_ib_state, LEFT},
    {"local", LEAF_cm_id_local, LEFT},
    {"port", LEAF_cm_id_local_port, RIGHT},
    {"peer", LEAF_cm_id_peer, LEFT},
    {"port", LEAF_cm_id_peer_port, RIGHT},
    {"qp", LEAF_cm_id_qp, LEFT},
    {"remote", LEAF_cm_id_remote_qpn, RIGHT},
    {"retries", LEAF_cm_id_retries, RIGHT},
    {"due", LEAF_cm_id_due, RIGHT},
};

static const struct object_table {
    enum node_kind kind;
    const struct object_column *columns;
    size_t n_columns;
} tables[] = {
    {NODE_host, host_columns, ARRAY_LEN(host_columns)},
    {NODE_switch, switch_columns, ARRAY_LEN(switch_columns)},
    {NODE_link, link_columns, ARRAY_LEN(link_columns)},
    {NODE_fault, fault_columns, ARRAY_LEN(fault_columns)},
    {NODE_pd, pd_columns, ARRAY_LEN(pd_columns)},
    {NODE_mr, mr_columns, ARRAY_LEN(mr_columns)},
    {NODE_mw, mw_columns, ARRAY_LEN(mw_columns)},
    {NODE_cq, cq_columns, ARRAY_LEN(cq_columns)},
    {NODE_qp, qp_columns, ARRAY_LEN(qp_columns)},
    {NODE_ah, ah_columns, ARRAY_LEN(ah_columns)},
    {NODE_srq, srq_columns, ARRAY_LEN(srq_columns)},
    {NODE_channel, channel_columns, ARRAY_LEN(channel_columns)},
    {NODE_event_channel, event_channel_columns, ARRAY_LEN(event_channel_columns)},
    {NODE_cm_id, cm_id_columns, ARRAY_LEN(cm_id_columns)},
};

static enum rdl_status walk(const struct rdl_lab *lab, const char *path, enum node_kind kind,
                            bool hosts, show_each_object *each, void *ctx)
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
        if (tree_value_is(v, kind))
            each(ctx, sub);
        else if (hosts && tree_value_is(v, NODE_host))
            st = walk(lab, sub, kind, false, each, ctx);
    }
    tree_done(&children);
    return st;
}

enum rdl_status show_each(const struct rdl_lab *lab, const char *path, enum node_kind kind,
                          show_each_object *each, void *ctx)
{
    return walk(lab, path, kind, true, each, ctx);
}

struct table_filling {
    const struct rdl_lab *lab;
    const struct object_table *table;
    struct rows rows;
};

/* Returns true if @name names the object @path: its full path, or its name on its host. */
static bool is_called(const char *name, const char *path)
{
    const char *dot = strchr(path, '.');

    return strcmp(name, path) == 0 || (dot && strcmp(name, dot + 1) == 0);
}

struct using
{
    const struct rdl_lab *lab;
    const char *cq;
    uint64_t n;
};

static void count_user(void *ctx, const char *qp)
{
    struct using *u = ctx;
    struct rdl_value send, recv;

    if (tree_leaf(u->lab, qp, LEAF_qp_send_cq, &send) &&
        tree_leaf(u->lab, qp, LEAF_qp_recv_cq, &recv))
        u->n += is_called(send.text, u->cq) || is_called(recv.text, u->cq);
}

/* Adds the number of the protection domain that leaf @id of @path names. */
static void pdn_cell(struct rows *r, const struct rdl_lab *lab, const char *path, enum leaf_id id)
{
    char host[RDL_NAME_BYTES], pd[TREE_PATH_BYTES];
    struct text t = text_on(pd, sizeof(pd));
    struct rdl_value v;

    tree_host_of(path, host);
    if (!tree_leaf(lab, path, id, &v)) {
        rows_none(r);
        return;
    }
    if (!strchr(v.text, '.'))
        text_addf(&t, "%s.", host);
    text_add(&t, v.text);
    if (tree_is(lab, pd, NODE_pd))
        rows_leaf(r, lab, pd, LEAF_pd_pdn, QUANTITY_NUMBER);
    else
        rows_none(r);
}

static void made_cell(struct table_filling *f, const char *path, const struct object_column *c)
{
    char host[RDL_NAME_BYTES];
    struct using u = {f->lab, path, 0};

    tree_host_of(path, host);
    switch (c->made) {
    case MADE_OF_LEAF:
        break;
    case MADE_HOST:
        rows_text(&f->rows, host);
        break;
    case MADE_MRN:
        rows_number(&f->rows, tree_number(f->lab, path, LEAF_mr_lkey) >> 8);
        break;
    case MADE_PDN:
        pdn_cell(&f->rows, f->lab, path, c->leaf);
        break;
    case MADE_USERS:
        (void)!show_each(f->lab, host, NODE_qp, count_user, &u);
        rows_number(&f->rows, u.n);
        break;
    case MADE_MIGRATION:
        rows_text(&f->rows, "MIGRATED");
        break;
    }
}

static void leaf_cell(struct table_filling *f, const char *path, const struct object_column *c)
{
    char child[TREE_PATH_BYTES];

    if (c->in == CHILD_none)
        rows_leaf(&f->rows, f->lab, path, c->leaf, c->unit);
    else if (tree_child(f->lab, path, c->in, child))
        rows_leaf(&f->rows, f->lab, child, c->leaf, c->unit);
    else
        rows_none(&f->rows);
}

static void add_row(void *ctx, const char *path)
{
    struct table_filling *f = ctx;

    for (size_t i = 0; i < f->table->n_columns; i++) {
        const struct object_column *c = &f->table->columns[i];

        if (c->made != MADE_OF_LEAF)
            made_cell(f, path, c);
        else if (c->leaf == LEAF_none)
            rows_text(&f->rows, path);
        else
            leaf_cell(f, path, c);
    }
}

static const struct object_table *table_of(enum node_kind kind)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        if (tables[i].kind == kind)
            return &tables[i];
    }
    return NULL;
}

unsigned show_columns_of_kind(enum node_kind kind, struct row_column ret[GRID_COLUMNS_MAX])
{
    const struct object_table *table = table_of(kind);

    if (!table)
        return 0;
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct object_column *c = &table->columns[i];

        ret[i] = (struct row_column){
            .name = c->head ? c->head : leaf_name(c->leaf),
            .right = c->right,
            .flag = c->leaf != LEAF_none && leaf_rows[c->leaf].type == TYPE_FLAG,
            .data = c->shown != FOR_ALL,
            .key = c->unit != QUANTITY_NUMBER ? leaf_name(c->leaf) : NULL,
        };
    }
    return (unsigned)table->n_columns;
}

/* The columns of a table, some of which are found to be used. */
struct use {
    const struct rdl_lab *lab;
    const struct object_table *table;
    struct row_column *columns;
};

static void note_use(void *ctx, const char *path)
{
    const struct use *u = ctx;
    struct rdl_value v;

    for (size_t i = 0; i < u->table->n_columns; i++) {
        const struct object_column *c = &u->table->columns[i];

        if (c->shown == FOR_PROGRAMS_OR_IF_USED && tree_leaf(u->lab, path, c->leaf, &v))
            u->columns[i].data = false;
    }
}

enum rdl_status show_kind(FILE *out, const struct rdl_lab *lab, const char *path,
                          enum node_kind kind, enum show_form form, const char *none)
{
    struct row_column columns[GRID_COLUMNS_MAX];
    const unsigned n = show_columns_of_kind(kind, columns);
    struct table_filling f = {.lab = lab, .table = table_of(kind)};
    struct use use = {lab, f.table, columns};
    enum rdl_status st;

    if (n == 0)
        return RDL_ERR_INVAL;
    st = show_each(lab, path, kind, note_use, &use);
    if (st != RDL_OK)
        return st;
    rows_begin(&f.rows, out, form, columns, n);
    st = show_each(lab, path, kind, add_row, &f);
    rows_end(&f.rows, none);
    return st;
}

static void count(void *ctx, const char *path)
{
    (void)path;
    ++*(size_t *)ctx;
}

size_t show_count(const struct rdl_lab *lab, const char *path, enum node_kind kind)
{
    size_t n = 0;

    return show_each(lab, path, kind, count, &n) == RDL_OK ? n : 0;
}

/* --- The configuration of a device ------------------------------------------------------------ */

enum { INDENT_MEANS = 38, INDENT_CAP = 36 };

/* State while one device is printed. */
struct device {
    FILE *out;
    const struct rdl_lab *lab;
    const char *host;
    const char *field;            /* only this field; NULL: all */
    char config[TREE_PATH_BYTES]; /* path of its device configuration */
};

static uint16_t offset_of(const char *field)
{
    const struct row_field *f = row_field_find(rfc_find("config"), field);

    RDL_ASSERT(f); /* config.def has a row for every field */
    return f->offset;
}

static struct rdl_value value_of(const struct device *d, const char *field)
{
    const enum leaf_id id = leaf_find(NODE_config, field, strlen(field));
    struct rdl_value v = {0};

    (void)tree_leaf(d->lab, d->config, id, &v);
    return v;
}

static bool is_wanted(const struct device *d, const char *field)
{
    return !d->field || strcmp(d->field, field) == 0;
}

static bool has_cap(const struct device *d, const struct cap_row *cap)
{
    return (tree_number(d->lab, d->config, LEAF_config_device_cap_flags) >> cap->bit & 1) != 0;
}

static void print_caps(const struct device *d)
{
    char lead[SHOW_LINE_BYTES];

    if (!d->field)
        fputs("\ndevice_cap_flags\n", d->out);
    for (size_t i = 0; i < n_cap_rows; i++) {
        struct text t = text_on(lead, sizeof(lead));

        text_addf(&t, "  %s  %2u %s", has_cap(d, &cap_rows[i]) ? "set" : "-  ", cap_rows[i].bit,
                  cap_rows[i].name);
        show_wrap_behind(d->out, lead, INDENT_CAP, cap_rows[i].means);
    }
}

static void print_device(const struct device *d)
{
    char lead[SHOW_LINE_BYTES], device[TREE_PATH_BYTES] = "";
    struct text path = text_on(device, sizeof(device));

    tree_join(&path, d->host, "device");
    fprintf(d->out, "%s: device configuration, generation %llu\n", d->host,
            (unsigned long long)tree_number(d->lab, device, LEAF_device_config_generation));
    for (size_t i = 0; i < n_config_rows; i++) {
        const struct rdl_value v = value_of(d, config_rows[i].field);
        struct text t = text_on(lead, sizeof(lead));

        if (!is_wanted(d, config_rows[i].field))
            continue;
        text_addf(&t, "  %3u  %s = ", offset_of(config_rows[i].field), config_rows[i].field);
        tree_add_value(&t, &v);
        if (t.len >= INDENT_MEANS)
            show_line(d->out, &t);
        show_wrap_behind(d->out, t.len >= INDENT_MEANS ? "" : lead, INDENT_MEANS,
                         config_rows[i].means);
        show_wrap(d->out, INDENT_MEANS, config_rows[i].kept);
    }
    if (is_wanted(d, "device_cap_flags"))
        print_caps(d);
}

static void add_rows(const struct device *d, struct rows *r)
{
    for (size_t i = 0; i < n_config_rows; i++) {
        const struct rdl_value v = value_of(d, config_rows[i].field);
        char value[RDL_VALUE_BYTES];
        struct text t = text_on(value, sizeof(value));

        if (!is_wanted(d, config_rows[i].field))
            continue;
        tree_add_value(&t, &v);
        rows_text(r, d->host);
        rows_number(r, offset_of(config_rows[i].field));
        rows_text(r, config_rows[i].field);
        rows_text(r, value);
        rows_text(r, config_rows[i].means);
        rows_text(r, config_rows[i].kept);
    }
    for (size_t i = 0; is_wanted(d, "device_cap_flags") && i < n_cap_rows; i++) {
        char name[SHOW_LINE_BYTES];
        struct text t = text_on(name, sizeof(name));

        text_addf(&t, "device_cap_flags.%s", cap_rows[i].name);
        rows_text(r, d->host);
        rows_number(r, offset_of("device_cap_flags"));
        rows_text(r, name);
        rows_text(r, has_cap(d, &cap_rows[i]) ? "set" : "-");
        rows_text(r, cap_rows[i].means);
        rows_none(r);
    }
}

static void of_host(FILE *out, const struct rdl_lab *lab, const char *host, const char *field,
                    struct rows *r)
{
    struct device d = {.out = out, .lab = lab, .host = host, .field = field};
    char device[TREE_PATH_BYTES];
    const bool known = tree_child(lab, host, CHILD_host_device, device) &&
                       tree_child(lab, device, CHILD_device_config, d.config);

    if (!known && !r)
        fprintf(out, "%s: no device configuration, which only virtio-rdma has\n", host);
    if (!known)
        return;
    if (r)
        add_rows(&d, r);
    else
        print_device(&d);
}

void show_device(FILE *out, const struct rdl_lab *lab, const char *host, const char *field,
                 enum show_form form)
{
    struct rows rows = {0}, *r = form == SHOW_TEXT ? NULL : &rows;
    struct tree_list all = {0};
    size_t at, n = 0;

    if (r)
        rows_begin_table(r, out, form, TABLE_DEVICE);
    if (host[0]) {
        of_host(out, lab, host, field, r);
    } else if (tree_children(lab, "", &all, &at) == RDL_OK) {
        for (size_t i = 0; i < all.n; i++) {
            if (!tree_value_is(&all.v[i].value, NODE_host))
                continue;
            if (!r && n++ > 0)
                fputc('\n', out);
            of_host(out, lab, all.v[i].key, field, r);
        }
    }
    tree_done(&all);
    if (r)
        rows_end(r, NULL);
}
