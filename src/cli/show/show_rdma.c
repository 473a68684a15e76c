/* SPDX-License-Identifier: MIT */
#include "cli/show/show_rdma.h"

#include <inttypes.h>
#include <string.h>

#include "cli/show/show_columns.h"
#include "cli/show/show_rows.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/wire/addr.h"
#include "print/show_text.h"
#include "tree/advice.h"
#include "tree/tree.h"

#define NETDEV     "eth0" /* of every host: its virtio-net interface */
#define GUID_BYTES 20u    /* "0200:00ff:fe00:0001" */

/* An RDMA device.  The values that are paths are "" if there is no such node. */
struct adapter {
    const struct rdl_lab *lab;
    const char *name; /* of its host */
    size_t index;
    char port[TREE_PATH_BYTES], vfs[TREE_PATH_BYTES], vrnic[TREE_PATH_BYTES];
    struct rdl_value machine; /* of a guest */
    bool has_vf;
    uint64_t vf;
};

/* Finds the device of host @name.  Returns false if it has none. */
static bool device_of(const struct rdl_lab *lab, const char *name, struct adapter *ret)
{
    char device[TREE_PATH_BYTES];
    struct rdl_value vf;

    *ret = (struct adapter){.lab = lab, .name = name};
    if (!tree_child(lab, name, CHILD_host_device, device) ||
        !tree_child(lab, name, CHILD_host_port, ret->port))
        return false;
    if (!tree_child(lab, name, CHILD_host_vfs, ret->vfs))
        ret->vfs[0] = '\0';
    if (!tree_child(lab, name, CHILD_host_vrnic, ret->vrnic))
        ret->vrnic[0] = '\0';
    ret->has_vf = tree_leaf(lab, ret->port, LEAF_port_vf, &vf);
    ret->vf = ret->has_vf ? vf.number : 0;
    if (!tree_leaf(lab, ret->port, LEAF_port_machine, &ret->machine) &&
        !(ret->vrnic[0] && tree_leaf(lab, ret->vrnic, LEAF_vrnic_machine, &ret->machine)))
        ret->machine.text[0] = '\0';
    return true;
}

/* Prints the numbers of the functions that the virtual RNIC of @d has. */
static void print_functions(FILE *out, const struct adapter *d)
{
    char buf[RDL_VALUE_BYTES], path[TREE_PATH_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct rdl_value vf;
    uint32_t n = 0;

    for (uint64_t i = 0; tree_element(d->lab, d->vrnic, CHILD_vrnic_functions, i, path); i++) {
        if (tree_leaf(d->lab, path, LEAF_vrnic_function_vf, &vf))
            text_addf(&t, "%s%" PRIu64, n++ ? ", " : "", vf.number);
    }
    if (n > 1)
        fprintf(out, "  virtual RNIC, functions %s of %s", buf, d->machine.text);
    else
        fprintf(out, "  virtual RNIC, function %" PRIu64 " of %s", d->vf, d->machine.text);
}

/* Prints which part of an adapter the device is, behind the line of the tool. */
static void print_part(FILE *out, const struct adapter *d)
{
    char buf[SHOW_LINE_BYTES];
    struct text off = text_on(buf, sizeof(buf));

    if (d->vfs[0])
        fputs("  physical function", out);
    else if (d->vrnic[0] && d->has_vf)
        print_functions(out, d);
    else if (d->vrnic[0])
        fprintf(out, "  virtual RNIC on %s, no function", d->machine.text);
    else if (d->has_vf)
        fprintf(out, "  function %" PRIu64 " of %s", d->vf, d->machine.text);
    if (advice_function_off(&off, d->lab, d->name))
        fputs(", which is not enabled", out);
    fputc('\n', out);
}

/* The last two columns of each table. */
static void add_part(struct rows *r, const struct adapter *d)
{
    if (d->machine.text[0])
        rows_text(r, d->machine.text);
    else
        rows_none(r);
    if (d->has_vf)
        rows_number(r, d->vf);
    else
        rows_none(r);
}

/* --- rdma link -------------------------------------------------------------------------------- */

static const char *physical_state(const struct rdl_value *state)
{
    return strcmp(state->text, "ACTIVE") == 0 ? "LINK_UP" : "DISABLED";
}

static struct rdl_value state_of(const struct adapter *d)
{
    struct rdl_value state = {.text = ""};

    (void)tree_leaf(d->lab, d->port, LEAF_port_state, &state);
    return state;
}

static void print_link(FILE *out, const struct adapter *d)
{
    const struct rdl_value state = state_of(d);

    fprintf(out, "link %s/1 state %s physical_state %s netdev " NETDEV, d->name, state.text,
            physical_state(&state));
    print_part(out, d);
}

static void add_link(struct rows *r, const struct adapter *d)
{
    const struct rdl_value state = state_of(d);

    rows_text(r, d->name);
    rows_number(r, 1);
    rows_text(r, state.text);
    rows_text(r, physical_state(&state));
    rows_text(r, NETDEV);
    add_part(r, d);
}

/* --- rdma dev --------------------------------------------------------------------------------- */

/* Writes the GUID of @d, node and system image alike: the EUI-64 of its MAC. */
static void write_guid(const struct adapter *d, char ret[GUID_BYTES])
{
    uint8_t mac[MAC_BYTES] = {0}, id[EUI64_BYTES];
    struct rdl_value v;

    if (tree_leaf(d->lab, d->name, LEAF_host_mac, &v))
        (void)mac_parse(v.text, mac);
    eui64_from_mac(id, mac);
    snprintf(ret, GUID_BYTES, "%02x%02x:%02x%02x:%02x%02x:%02x%02x", id[0], id[1], id[2], id[3],
             id[4], id[5], id[6], id[7]);
}

static void print_dev(FILE *out, const struct adapter *d)
{
    char guid[GUID_BYTES];

    write_guid(d, guid);
    fprintf(out, "%zu: %s: node_type ca node_guid %s sys_image_guid %s", d->index, d->name, guid,
            guid);
    print_part(out, d);
}

static void add_dev(struct rows *r, const struct adapter *d)
{
    char guid[GUID_BYTES];

    write_guid(d, guid);
    rows_number(r, d->index);
    rows_text(r, d->name);
    rows_text(r, "ca");
    rows_text(r, guid);
    rows_text(r, guid);
    add_part(r, d);
}

/* --- rdma resource ---------------------------------------------------------------------------- */

/* Objects in the order of the tool.  It counts those of kernels, too: so does the device. */
static const struct {
    const char *name;
    enum leaf_id leaf; /* LEAF_none: IDs of rdma_cm, of which a device knows nothing */
} resources[] = {
    {"pd", LEAF_objects_pd}, {"cq", LEAF_objects_cq}, {"qp", LEAF_objects_qp},
    {"cm_id", LEAF_none},    {"mr", LEAF_objects_mr}, {"srq", LEAF_objects_srq},
};

static uint64_t count_cm_ids(const struct adapter *d)
{
    struct tree_list nodes;
    uint64_t n = 0;
    size_t at;

    if (tree_children(d->lab, d->name, &nodes, &at) != RDL_OK)
        nodes.n = 0;
    for (size_t i = 0; i < nodes.n; i++)
        n += tree_value_is(&nodes.v[i].value, NODE_cm_id);
    tree_done(&nodes);
    return n;
}

static uint64_t count_of(const struct adapter *d, size_t i)
{
    char device[TREE_PATH_BYTES], objects[TREE_PATH_BYTES];

    if (resources[i].leaf == LEAF_none)
        return count_cm_ids(d);
    if (!tree_child(d->lab, d->name, CHILD_host_device, device) ||
        !tree_child(d->lab, device, CHILD_device_objects, objects))
        return 0;
    return tree_number(d->lab, objects, resources[i].leaf);
}

static void print_resource(FILE *out, const struct adapter *d)
{
    fprintf(out, "%zu: %s:", d->index, d->name);
    for (size_t i = 0; i < ARRAY_LEN(resources); i++)
        fprintf(out, " %s %" PRIu64, resources[i].name, count_of(d, i));
    print_part(out, d);
}

static void add_resource(struct rows *r, const struct adapter *d)
{
    rows_number(r, d->index);
    rows_text(r, d->name);
    for (size_t i = 0; i < ARRAY_LEN(resources); i++)
        rows_number(r, count_of(d, i));
    add_part(r, d);
}

/* --- All -------------------------------------------------------------------------------------- */

static const struct view {
    const char *name;
    enum table_id table;
    void (*print)(FILE *out, const struct adapter *d);
    void (*add)(struct rows *r, const struct adapter *d);
} views[] = {
    {"link", TABLE_RDMA_LINK, print_link, add_link},
    {"dev", TABLE_RDMA_DEV, print_dev, add_dev},
    {"resource", TABLE_RDMA_RESOURCE, print_resource, add_resource},
};

const char *show_rdma_view(size_t i)
{
    return i < ARRAY_LEN(views) ? views[i].name : NULL;
}

static const struct view *view_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        if (strcmp(views[i].name, name) == 0)
            return &views[i];
    }
    return NULL;
}

static bool is_asked_for(const struct adapter *d, const char *host)
{
    return !host[0] || strcmp(d->name, host) == 0 || strcmp(d->machine.text, host) == 0;
}

bool show_rdma(FILE *out, const struct rdl_lab *lab, const char *view, const char *host,
               enum show_form form)
{
    const struct view *w = view_named(view);
    size_t at, n = 0, shown = 0;
    struct tree_list nodes;
    struct adapter d;
    struct rows r;

    if (!w)
        return false;
    if (form != SHOW_TEXT)
        rows_begin_table(&r, out, form, w->table);
    if (tree_children(lab, "", &nodes, &at) != RDL_OK)
        nodes.n = 0;
    for (size_t i = 0; i < nodes.n; i++) {
        if (!tree_value_is(&nodes.v[i].value, NODE_host) || !device_of(lab, nodes.v[i].key, &d))
            continue;
        d.index = n++;
        if (!is_asked_for(&d, host))
            continue;
        shown++;
        if (form == SHOW_TEXT)
            w->print(out, &d);
        else
            w->add(&r, &d);
    }
    tree_done(&nodes);
    if (form != SHOW_TEXT)
        rows_end(&r, NULL);
    else if (shown == 0)
        fputs("there is no RDMA device\n", out);
    return true;
}
