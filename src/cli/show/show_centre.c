/* SPDX-License-Identifier: MIT */
#include "cli/show/show_centre.h"

#include "cli/show/show_columns.h"
#include "cli/show/show_rows.h"
#include "emu/base/text.h"
#include "rdmalab/layer.h"
#include "tree/tree.h"

/* Writes the groups that guests of @group may connect to: "1, 3". */
static void write_reach(struct rows *r, const struct rdl_lab *lab, uint32_t group)
{
    char buf[RDL_VALUE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    for (uint32_t other = 1; other <= RDL_GROUPS_MAX; other++) {
        if (rdl_centre_allows(lab, group, other))
            text_addf(&t, "%s%u", t.len ? ", " : "", other);
    }
    rows_text(r, buf);
}

static void write_address(struct rows *r, const struct rdl_lab *lab, const char *vrnic,
                          enum child_id list)
{
    struct rdl_value v;
    char path[TREE_PATH_BYTES];
    size_t at;

    if (tree_element(lab, vrnic, list, 0, path) && rdl_inspect(lab, path, &v, &at) == RDL_OK &&
        v.text[0])
        rows_text(r, v.text);
    else
        rows_none(r);
}

/* Writes the columns of a row that say which guest it is about. */
static void write_guest(struct rows *r, const struct rdl_lab *lab, const char *guest,
                        const char *vrnic)
{
    const uint32_t group = (uint32_t)tree_number(lab, vrnic, LEAF_vrnic_group);

    rows_text(r, guest);
    rows_number(r, group);
    write_reach(r, lab, group);
    write_address(r, lab, vrnic, CHILD_vrnic_vgid);
}

static void write_first(struct rows *r, const struct rdl_lab *lab, const char *guest,
                        const char *vrnic)
{
    write_guest(r, lab, guest, vrnic);
    write_address(r, lab, vrnic, CHILD_vrnic_wire);
    rows_leaf(r, lab, vrnic, LEAF_vrnic_machine, QUANTITY_NUMBER);
    rows_leaf(r, lab, vrnic, LEAF_vrnic_vf, QUANTITY_NUMBER);
}

/* Writes a row for each further function that the virtual RNIC @vrnic of @guest has. */
static void write_further(struct rows *r, const struct rdl_lab *lab, const char *guest,
                          const char *vrnic)
{
    char f[TREE_PATH_BYTES];
    struct rdl_value vf;

    for (uint64_t i = 1; tree_element(lab, vrnic, CHILD_vrnic_functions, i, f); i++) {
        if (!tree_leaf(lab, f, LEAF_vrnic_function_vf, &vf))
            continue;
        write_guest(r, lab, guest, vrnic);
        rows_leaf(r, lab, f, LEAF_vrnic_function_wire, QUANTITY_NUMBER);
        rows_leaf(r, lab, vrnic, LEAF_vrnic_machine, QUANTITY_NUMBER);
        rows_leaf(r, lab, f, LEAF_vrnic_function_vf, QUANTITY_NUMBER);
    }
}

void show_centre(FILE *out, const struct rdl_lab *lab, enum show_form form)
{
    struct tree_list nodes;
    struct rows r;
    size_t at;

    rows_begin_table(&r, out, form, TABLE_CENTRE);
    if (tree_children(lab, "", &nodes, &at) != RDL_OK)
        nodes.n = 0;
    for (size_t i = 0; i < nodes.n; i++) {
        char vrnic[TREE_PATH_BYTES];

        if (tree_value_is(&nodes.v[i].value, NODE_host) &&
            tree_child(lab, nodes.v[i].key, CHILD_host_vrnic, vrnic)) {
            write_first(&r, lab, nodes.v[i].key, vrnic);
            write_further(&r, lab, nodes.v[i].key, vrnic);
        }
    }
    tree_done(&nodes);
    rows_end(&r, "no guest has a virtual RNIC");
}
