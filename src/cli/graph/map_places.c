/* SPDX-License-Identifier: MIT */
/* The places of guests: on which machine each is, with which virtual functions.  The guests know
 * that; a function names only as many of its guests as its text has room for.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/graph/map.h"
#include "emu/base/assert.h"
#include "rdmalab/inspect.h"
#include "tree/tree.h"

/* --- Ties ------------------------------------------------------------------------------------- */

/* Ties @guest to the machine called @machine. */
static struct map_tie *add_place(struct map *m, uint32_t guest, const char *machine,
                                 const char *what)
{
    const uint32_t on = map_find(m, machine);
    struct map_tie *tie = map_add_tie(m, guest, on, true);
    struct text t = text_on(tie->text, sizeof(tie->text));

    tie->is_place = true;
    text_add(&t, what);
    m->objects[guest].machine = on;
    return tie;
}

/* Ties @guest to virtual function @vf of @machine. */
static void add_function(struct map *m, uint32_t guest, const char *machine, uint64_t vf)
{
    char path[TREE_PATH_BYTES], what[32];
    struct text t = text_on(what, sizeof(what));
    struct map_tie *tie;

    text_addf(&t, "vf %llu", (unsigned long long)vf);
    tie = add_place(m, guest, machine, what);
    tie->function = vf;
    if (tree_element(m->lab, machine, CHILD_host_vfs, vf, path))
        tie->vf = map_find(m, path);
}

/* Ties @guest, whose virtual RNIC is at @vrnic, to the functions that it has. */
static void add_vrnic(struct map *m, uint32_t guest, const char *vrnic)
{
    char path[TREE_PATH_BYTES];
    struct rdl_value machine, vf;
    bool any = false, has_list = false;

    if (!tree_leaf(m->lab, vrnic, LEAF_vrnic_machine, &machine))
        return;
    for (uint64_t i = 0; tree_element(m->lab, vrnic, CHILD_vrnic_functions, i, path); i++) {
        has_list = true;
        if (!tree_leaf(m->lab, path, LEAF_vrnic_function_vf, &vf))
            continue;
        add_function(m, guest, machine.text, vf.number);
        any = true;
    }
    if (!has_list && tree_leaf(m->lab, vrnic, LEAF_vrnic_vf, &vf)) {
        add_function(m, guest, machine.text, vf.number);
        any = true;
    }
    if (!any)
        add_place(m, guest, machine.text, "no function")->is_idle = true;
}

/* Ties @host to its machine if it is a guest. */
static void add_guest(struct map *m, uint32_t host)
{
    const char *path = m->objects[host].path;
    char node[TREE_PATH_BYTES];
    struct rdl_value machine, vf;

    if (tree_child(m->lab, path, CHILD_host_vrnic, node))
        add_vrnic(m, host, node);
    else if (!tree_child(m->lab, path, CHILD_host_port, node) ||
             !tree_leaf(m->lab, node, LEAF_port_machine, &machine))
        return;
    else if (tree_leaf(m->lab, node, LEAF_port_vf, &vf))
        add_function(m, host, machine.text, vf.number);
    else
        add_place(m, host, machine.text, "shared port")->is_shared = true;
}

/* Those with a function come first, by machine and function. */
static int compare(const void *a, const void *b)
{
    const struct map_tie *x = a, *y = b;
    const uint64_t keys[][2] = {{x->is_idle || x->is_shared, y->is_idle || y->is_shared},
                                {x->b, y->b},
                                {x->function, y->function},
                                {x->a, y->a}};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    }
    return 0;
}

/* --- Functions -------------------------------------------------------------------------------- */

/* Reads the address on the wire that the virtual RNIC of @tie has at its function.  Returns false
 * if the guest has no virtual RNIC.
 */
static bool read_wire(const struct map *m, const struct map_tie *tie, struct rdl_value *ret)
{
    char vrnic[TREE_PATH_BYTES], path[TREE_PATH_BYTES];
    size_t at;

    if (!tree_child(m->lab, m->objects[tie->a].path, CHILD_host_vrnic, vrnic))
        return false;
    for (uint64_t i = 0; tree_element(m->lab, vrnic, CHILD_vrnic_functions, i, path); i++) {
        struct rdl_value of;

        if (tree_leaf(m->lab, path, LEAF_vrnic_function_vf, &of) && of.number == tie->function)
            return tree_leaf(m->lab, path, LEAF_vrnic_function_wire, ret);
    }
    return tree_element(m->lab, vrnic, CHILD_vrnic_wire, 0, path) &&
           rdl_inspect(m->lab, path, ret, &at) == RDL_OK;
}

/* Appends to the properties of the function at @tie the address on the wire that its guest has
 * there.  @is_first: no other guest has added one.
 */
static void add_wire(struct map *m, const struct map_tie *tie, bool is_first)
{
    struct map_object *vf = &m->objects[tie->vf];
    struct text t = {vf->about, strlen(vf->about), sizeof(vf->about), false};
    struct rdl_value wire;

    if (read_wire(m, tie, &wire) && wire.text[0])
        text_addf(&t, "%s%s", is_first ? ", on the wire " : ", ", wire.text);
}

static void add_link_state(struct map *m, struct map_object *vf)
{
    struct text t = {vf->about, strlen(vf->about), sizeof(vf->about), false};

    if (!tree_number(m->lab, vf->path, LEAF_vf_up))
        text_add(&t,
                 tree_number(m->lab, vf->path, LEAF_vf_enabled) ? ", link down" : ", not enabled");
}

void map_add_places(struct map *m)
{
    const size_t first = m->n_ties;

    for (uint32_t i = 0; i < m->n_objects; i++) {
        if (m->objects[i].kind == NODE_host)
            add_guest(m, i);
    }
    if (m->n_ties > first)
        qsort(&m->ties[first], m->n_ties - first, sizeof(*m->ties), compare);
    for (size_t k = first; k < m->n_ties; k++) {
        const struct map_tie *tie = &m->ties[k];

        if (tie->vf != MAP_NONE)
            add_wire(m, tie, k == first || tie[-1].vf != tie->vf);
    }
    for (uint32_t i = 0; i < m->n_objects; i++) {
        if (m->objects[i].kind == NODE_vf)
            add_link_state(m, &m->objects[i]);
    }
}
