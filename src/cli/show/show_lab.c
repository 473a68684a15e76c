/* SPDX-License-Identifier: MIT */
#include "cli/show/show_lab.h"

#include "cli/show/show_columns.h"
#include "cli/show/show_objects.h"
#include "cli/show/show_page.h"
#include "cli/show/show_rows.h"
#include "cli/show/show_vq.h"
#include "cli/show/show_wqe.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "print/show_text.h"
#include "tree/tree.h"
#include "tree/tree_pci.h"
#include "tree/tree_vfs.h"

#define DEPTH_MAX          8u
#define ELEMENTS_SHOWN_MAX 32u

/* Appends the P_Keys of a host, ", P_Keys 0xffff 0x8005", unless it has only the default one. */
static void add_pkeys(struct text *t, const struct rdl_lab *lab, const char *host)
{
    const uint64_t standard = 0xffff;
    char path[TREE_PATH_BYTES];

    if (!tree_element(lab, host, CHILD_host_pkey, 1, path) &&
        tree_element_number(lab, host, CHILD_host_pkey, 0) == standard)
        return;
    text_add(t, ", P_Keys");
    for (uint64_t i = 0; tree_element(lab, host, CHILD_host_pkey, i, path); i++)
        text_addf(t, " 0x%04llx",
                  (unsigned long long)tree_element_number(lab, host, CHILD_host_pkey, i));
}

/* Appends ", function 0 of m1" to the line about the port of a guest, and where to look to that of
 * a machine.
 */
static void add_place(struct text *t, const struct rdl_lab *lab, const char *host, const char *port)
{
    struct rdl_value machine, vf;
    char vfs[TREE_PATH_BYTES], mux[TREE_PATH_BYTES];

    if (tree_leaf(lab, port, LEAF_port_vf, &vf) &&
        tree_leaf(lab, port, LEAF_port_machine, &machine))
        text_addf(t, ", function %llu of %s", (unsigned long long)vf.number, machine.text);
    else if (tree_leaf(lab, port, LEAF_port_machine, &machine))
        text_addf(t, ", shares that of %s", machine.text);
    if (tree_child(lab, host, CHILD_host_vfs, vfs))
        text_addf(t, ", virtual functions: show %s", vfs);
    if (tree_child(lab, host, CHILD_host_mux, mux))
        text_addf(t, ", multiplexer: show %s", mux);
}

static enum rdl_status show_host(FILE *out, const struct rdl_lab *lab, const char *path)
{
    static const enum node_kind kinds[] = {
        NODE_pd, NODE_mr,  NODE_mw, NODE_channel,       NODE_cq,
        NODE_qp, NODE_srq, NODE_ah, NODE_event_channel, NODE_cm_id};
    static const enum leaf_id leaves[] = {LEAF_port_state, LEAF_port_mtu, LEAF_port_link,
                                          LEAF_port_sent_frames, LEAF_port_rcvd_frames};
    enum rdl_status st = show_kind(out, lab, path, NODE_host, SHOW_TEXT, NULL);
    char buf[SHOW_LINE_BYTES], device[TREE_PATH_BYTES], port[TREE_PATH_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    const bool has_device = tree_child(lab, path, CHILD_host_device, device);

    (void)tree_child(lab, path, CHILD_host_port, port);

    text_addf(&t, "%s   ", path);
    tree_add(&t, lab, path, LEAF_host_gid);
    text_add(&t, "   ");
    tree_add(&t, lab, path, LEAF_host_mac);
    text_add(&t, "   RAM ");
    tree_add(&t, lab, path, LEAF_host_ram_bytes);
    text_add(&t, "   device ");
    if (has_device)
        tree_add(&t, lab, device, LEAF_device_status);
    else
        text_add(&t, "none");
    show_line(out, &t);
    t = text_on(buf, sizeof(buf));
    text_add(&t, "  profile ");
    tree_add(&t, lab, path, LEAF_host_profile);
    add_pkeys(&t, lab, path);
    show_line(out, &t);
    if (tree_number(lab, path, LEAF_host_external))
        fputs("  guest    a virtual machine (show live)\n", out);
    t = text_on(buf, sizeof(buf));
    for (size_t i = 0; i < ARRAY_LEN(leaves); i++) {
        text_addf(&t, "%s%s ", i ? ", " : "", leaf_rows[leaves[i]].key);
        tree_add(&t, lab, port, leaves[i]);
    }
    add_place(&t, lab, path, port);
    show_wrap_behind(out, "  port", 8, buf);
    for (size_t i = 0; i < ARRAY_LEN(kinds) && st == RDL_OK; i++) {
        if (show_count(lab, path, kinds[i]) == 0)
            continue;
        fputc('\n', out);
        st = show_kind(out, lab, path, kinds[i], SHOW_TEXT, NULL);
    }
    return st;
}

/* Adds a row for each counter at or below @path that is not 0: "h1.port.sent_frames  3". */
static enum rdl_status add_counters(struct rows *r, const struct rdl_lab *lab, const char *path,
                                    unsigned depth)
{
    struct tree_list children;
    size_t at;
    enum rdl_status st = tree_children(lab, path, &children, &at);

    for (size_t i = 0; i < children.n && st == RDL_OK; i++) {
        const struct tree_child *c = &children.v[i];
        char sub[TREE_PATH_BYTES];
        struct text t = text_on(sub, sizeof(sub));

        tree_join(&t, path, c->key);
        if (c->value.type == RDL_NODE && c->key[0] != '[' && depth < DEPTH_MAX) {
            st = add_counters(r, lab, sub, depth + 1);
        } else if (c->value.type != RDL_NODE && c->value.number &&
                   leaf_rows[c->value.row].type == TYPE_COUNTER) {
            rows_text(r, sub);
            rows_number(r, c->value.number);
        }
    }
    tree_done(&children);
    return st;
}

enum rdl_status show_counters(FILE *out, const struct rdl_lab *lab, enum show_form form)
{
    enum rdl_status st;
    struct rows r;

    rows_begin_table(&r, out, form, TABLE_COUNTERS);
    st = add_counters(&r, lab, "", 0);
    rows_end(&r, "nothing has been counted yet");
    return st;
}

/* Adds a row for every leaf at or below @path, with its name after @name. */
static enum rdl_status add_leaves(struct rows *r, const struct rdl_lab *lab, const char *path,
                                  const char *name, bool tool_names, unsigned depth)
{
    struct tree_list children;
    size_t at;
    enum rdl_status st = tree_children(lab, path, &children, &at);

    for (size_t i = 0; i < children.n && st == RDL_OK; i++) {
        const struct tree_child *c = &children.v[i];
        char sub[TREE_PATH_BYTES], called[TREE_PATH_BYTES];
        struct text t = text_on(sub, sizeof(sub)), n = text_on(called, sizeof(called));

        tree_join(&t, path, c->key);
        tree_join(&n, name, tool_names ? tree_child_name(c) : c->key);
        if (c->value.type != RDL_NODE) {
            rows_text(r, called);
            rows_value(r, &c->value);
        } else if (depth < DEPTH_MAX) {
            st = add_leaves(r, lab, sub, called, tool_names, depth + 1);
        }
    }
    tree_done(&children);
    return st;
}

enum rdl_status show_leaves(FILE *out, const struct rdl_lab *lab, const char *path,
                            enum show_form form, bool tool_names, size_t *reterr_at)
{
    static const struct row_column columns[] = {{.name = "name"}, {.name = "value"}};
    struct rdl_value v = {.type = RDL_NODE};
    enum rdl_status st = path[0] ? rdl_inspect(lab, path, &v, reterr_at) : RDL_OK;
    struct rows r;

    if (st != RDL_OK)
        return st;
    rows_begin(&r, out, form, columns, ARRAY_LEN(columns));
    if (v.type == RDL_NODE) {
        st = add_leaves(&r, lab, path, tool_names ? "" : path, tool_names, 0);
    } else {
        rows_text(&r, path);
        rows_value(&r, &v);
    }
    rows_end(&r, NULL);
    return st;
}

/* Prints the leaves of a list element in one line: "[0] addr=0x402000 len=91". */
static void print_element(FILE *out, const struct rdl_lab *lab, const char *path, const char *key,
                          unsigned indent)
{
    struct tree_list children;
    size_t at;
    char buf[2 * SHOW_LINE_BYTES], lead[64];
    struct text t = text_on(buf, sizeof(buf)), l = text_on(lead, sizeof(lead));

    text_addf(&l, "%*s%s", (int)indent, "", key);
    if (tree_children(lab, path, &children, &at) == RDL_OK) {
        for (size_t i = 0; i < children.n; i++) {
            text_addf(&t, "%s%s=", i ? " " : "", children.v[i].key);
            tree_add_value(&t, &children.v[i].value);
        }
    }
    show_wrap_behind(out, lead, indent + 6, buf);
    tree_done(&children);
}

/* Prints the counters of drop reasons that are not 0. */
static void print_drops(FILE *out, const struct tree_list *reasons, unsigned indent)
{
    bool any = false;

    for (size_t i = 0; i < reasons->n; i++) {
        const struct tree_child *c = &reasons->v[i];

        if (c->value.number == 0)
            continue;
        fprintf(out, "%*s%-21s %llu\n", (int)indent, "", c->key,
                (unsigned long long)c->value.number);
        any = true;
    }
    if (!any)
        fprintf(out, "%*snone\n", (int)indent, "");
}

/* Appends one line for a virtqueue inside another node; `show vq` shows its rings. */
static void add_queue(struct text *line, const struct rdl_lab *lab, const char *queue)
{
    text_addf(line, "queue %u, %u entries; show vq %s",
              (unsigned)tree_number(lab, queue, LEAF_queue_number),
              (unsigned)tree_number(lab, queue, LEAF_queue_size), queue);
}

/* Prints every leaf below @path, indented by depth. */
static enum rdl_status print_tree(FILE *out, const struct rdl_lab *lab, const char *path,
                                  unsigned depth)
{
    struct tree_list children;
    const unsigned indent = 2 * depth;
    size_t at;
    enum rdl_status st = tree_children(lab, path, &children, &at);
    const bool drops = st == RDL_OK && tree_is(lab, path, NODE_drops);

    if (drops)
        print_drops(out, &children, indent);
    for (size_t i = 0; i < children.n && st == RDL_OK && !drops; i++) {
        const struct tree_child *c = &children.v[i];
        char sub[TREE_PATH_BYTES], buf[SHOW_LINE_BYTES];
        struct text t = text_on(sub, sizeof(sub)), line = text_on(buf, sizeof(buf));

        if (c->key[0] == '[' && i == ELEMENTS_SHOWN_MAX) {
            fprintf(out, "%*s... and %zu more\n", (int)indent, "", children.n - i);
            break;
        }
        tree_join(&t, path, c->key);
        text_addf(&line, "%*s%s", (int)indent, "", c->key);
        if (c->value.type != RDL_NODE) {
            text_pad_to(&line, indent + 22);
            tree_add_value(&line, &c->value);
            show_line(out, &line);
        } else if (c->key[0] == '[') {
            print_element(out, lab, sub, c->key, indent);
        } else if (tree_value_is(&c->value, NODE_queue) && ring_role_of(sub) != RING_NONE) {
            text_pad_to(&line, indent + 22);
            add_queue(&line, lab, sub);
            show_line(out, &line);
        } else {
            show_line(out, &line);
            if (depth < DEPTH_MAX)
                st = print_tree(out, lab, sub, depth + 1);
        }
    }
    tree_done(&children);
    return st;
}

/* Prints the registers of the device, and its feature bits by name. */
static enum rdl_status show_registers(FILE *out, const struct rdl_lab *lab, const char *path)
{
    const uint64_t features = tree_number(lab, path, LEAF_device_features);

    fprintf(out, "%s\n", path);
    for (uint32_t bit = 0; bit < 64; bit++) {
        const struct enum_row *row = enum_by_value(&enum_feature, bit);

        if (features >> bit & 1u)
            fprintf(out, "  feature %2u  %s%s%s\n", bit, row ? row->name : "?", row ? ": " : "",
                    row ? row->text : "");
    }
    return print_tree(out, lab, path, 1);
}

static void show_leaf(FILE *out, const char *path, const struct rdl_value *v)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%s = ", path);
    tree_add_value(&t, v);
    show_line(out, &t);
}

enum rdl_status show_path(FILE *out, const struct rdl_lab *lab, const struct past *p,
                          const char *path, size_t *reterr_at)
{
    struct rdl_value v;
    enum rdl_status st = rdl_inspect(lab, path, &v, reterr_at);

    if (st != RDL_OK)
        return st;
    if (v.type != RDL_NODE) {
        show_leaf(out, path, &v);
        return RDL_OK;
    }
    if (tree_value_is(&v, NODE_host))
        return show_host(out, lab, path);
    if (tree_value_is(&v, NODE_device))
        return show_registers(out, lab, path);
    if (tree_value_is(&v, NODE_pci)) {
        tree_pci_slot(out, lab, path);
        return RDL_OK;
    }
    if (tree_value_is(&v, NODE_pci_function)) {
        tree_pci_function(out, lab, path);
        return RDL_OK;
    }
    if (tree_value_is(&v, NODE_virtual_function)) {
        tree_pci_vf(out, lab, path);
        return RDL_OK;
    }
    if (tree_value_is(&v, NODE_qp))
        return show_qp(out, lab, path);
    if (tree_value_is(&v, NODE_cq))
        return show_cq(out, lab, path);
    if (tree_value_is(&v, NODE_queue) && ring_role_of(path) != RING_NONE)
        return show_vq(out, lab, p, path, &(struct vq_view){SHOW_TEXT, NULL}, reterr_at);
    if (tree_vfs(out, lab, path))
        return RDL_OK;
    fprintf(out, "%s\n", path);
    return print_tree(out, lab, path, 1);
}
