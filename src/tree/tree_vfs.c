/* SPDX-License-Identifier: MIT */
#include "tree/tree_vfs.h"

#include <inttypes.h>
#include <string.h>

#include "rdmalab/machine.h"
#include "tree/tree.h"

static bool is_of_machine(const struct rdl_lab *lab, const char *path)
{
    char host[RDL_NAME_BYTES], vfs[TREE_PATH_BYTES];

    tree_host_of(path, host);
    return tree_is(lab, host, NODE_host) && tree_child(lab, host, CHILD_host_vfs, vfs) &&
           strcmp(vfs, path) == 0;
}

/* Prints ", NAME NMbps" for a rate that is set. */
static void print_rate(FILE *out, const struct rdl_lab *lab, const char *vf, enum leaf_id id)
{
    const uint64_t rate = tree_number(lab, vf, id);

    if (rate > 0)
        fprintf(out, ", %s %" PRIu64 "Mbps", leaf_rows[id].key, rate / RDL_VF_RATE_UNIT);
}

static const char *on_off(const struct rdl_lab *lab, const char *vf, enum leaf_id id)
{
    return tree_number(lab, vf, id) ? "on" : "off";
}

/* Prints a function in the words and the order of iproute2, and behind it the guest that uses it.
 */
static void print_vf(FILE *out, const struct rdl_lab *lab, size_t number, const char *vf)
{
    struct rdl_value mac, state, guest;

    (void)tree_leaf(lab, vf, LEAF_vf_mac, &mac);
    (void)tree_leaf(lab, vf, LEAF_vf_state, &state);
    (void)tree_leaf(lab, vf, LEAF_vf_guest, &guest);
    fprintf(out, "vf %-3zu link/ether %s brd ff:ff:ff:ff:ff:ff", number,
            mac.text[0] ? mac.text : "00:00:00:00:00:00");
    if (tree_number(lab, vf, LEAF_vf_vlan))
        fprintf(out, ", vlan %" PRIu64, tree_number(lab, vf, LEAF_vf_vlan));
    if (tree_number(lab, vf, LEAF_vf_qos))
        fprintf(out, ", qos %" PRIu64, tree_number(lab, vf, LEAF_vf_qos));
    print_rate(out, lab, vf, LEAF_vf_max_tx_rate);
    print_rate(out, lab, vf, LEAF_vf_min_tx_rate);
    fprintf(out, ", spoof checking %s, link-state %s, trust %s", on_off(lab, vf, LEAF_vf_spoofchk),
            state.text, on_off(lab, vf, LEAF_vf_trust));
    fprintf(out, "  %s%s\n",
            guest.text[0]                           ? guest.text
            : tree_number(lab, vf, LEAF_vf_enabled) ? "no guest"
                                                    : "not enabled",
            guest.text[0] && !tree_number(lab, vf, LEAF_vf_up) ? " (link down)" : "");
}

bool tree_vfs(FILE *out, const struct rdl_lab *lab, const char *path)
{
    struct tree_list vfs;
    size_t at;

    if (!is_of_machine(lab, path) || tree_children(lab, path, &vfs, &at) != RDL_OK)
        return false;
    for (size_t i = 0; i < vfs.n; i++) {
        char vf[TREE_PATH_BYTES];
        struct text t = text_on(vf, sizeof(vf));

        tree_join(&t, path, vfs.v[i].key);
        print_vf(out, lab, i, vf);
    }
    tree_done(&vfs);
    return true;
}
