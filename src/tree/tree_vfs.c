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

/* Prints the rates that are set.  The kernel reports the maximum twice: its first attribute for a
 * rate, which had no minimum, is still there.
 */
static void print_rates(FILE *out, const struct rdl_lab *lab, const char *vf)
{
    const uint64_t max = tree_number(lab, vf, LEAF_vf_max_tx_rate) / RDL_VF_RATE_UNIT;
    const uint64_t min = tree_number(lab, vf, LEAF_vf_min_tx_rate) / RDL_VF_RATE_UNIT;

    if (max > 0)
        fprintf(out, ", tx rate %" PRIu64 " (Mbps), max_tx_rate %" PRIu64 "Mbps", max, max);
    if (min > 0)
        fprintf(out, ", min_tx_rate %" PRIu64 "Mbps", min);
}

static const char *on_off(const struct rdl_lab *lab, const char *vf, enum leaf_id id)
{
    return tree_number(lab, vf, id) ? "on" : "off";
}

/* Prints a function as iproute2 does, and behind it the guest that uses it.  There is no
 * query_rss: a driver without that setting, as mlx5, does not report it.
 */
static void print_vf(FILE *out, const struct rdl_lab *lab, size_t number, const char *vf)
{
    struct rdl_value mac, state, guest;

    (void)tree_leaf(lab, vf, LEAF_vf_mac, &mac);
    (void)tree_leaf(lab, vf, LEAF_vf_state, &state);
    (void)tree_leaf(lab, vf, LEAF_vf_guest, &guest);
    fprintf(out, "    vf %zu     link/ether %s brd ff:ff:ff:ff:ff:ff", number,
            mac.text[0] ? mac.text : "00:00:00:00:00:00");
    if (tree_number(lab, vf, LEAF_vf_vlan))
        fprintf(out, ", vlan %" PRIu64, tree_number(lab, vf, LEAF_vf_vlan));
    if (tree_number(lab, vf, LEAF_vf_qos))
        fprintf(out, ", qos %" PRIu64, tree_number(lab, vf, LEAF_vf_qos));
    print_rates(out, lab, vf);
    fprintf(out, ", spoof checking %s, link-state %s, trust %s", on_off(lab, vf, LEAF_vf_spoofchk),
            state.text, on_off(lab, vf, LEAF_vf_trust));
    fprintf(out, "  %s%s\n", guest.text[0] ? guest.text : "no guest",
            guest.text[0] && !tree_number(lab, vf, LEAF_vf_up) ? " (link down)" : "");
}

/* Names the guests of the functions of @vfs from number @first on, which are not enabled. */
static void print_stranded(FILE *out, const struct rdl_lab *lab, const char *path,
                           const struct tree_list *vfs, size_t first)
{
    struct rdl_value guest;

    for (size_t i = first; i < vfs->n; i++) {
        char vf[TREE_PATH_BYTES];
        struct text t = text_on(vf, sizeof(vf));

        tree_join(&t, path, vfs->v[i].key);
        if (tree_leaf(lab, vf, LEAF_vf_guest, &guest) && guest.text[0])
            fprintf(out, "(vf %zu is that of %s, whose device does not exist now)\n", i,
                    guest.text);
    }
}

/* Names the functions from @first up to @n, which are not enabled.  iproute2 does not have them. */
static void print_rest(FILE *out, size_t first, size_t n)
{
    if (first + 1 == n)
        fprintf(out, "(vf %zu is not enabled)\n", first);
    else if (first < n)
        fprintf(out, "(vf %zu to %zu are not enabled)\n", first, n - 1);
}

bool tree_vfs(FILE *out, const struct rdl_lab *lab, const char *path)
{
    struct tree_list vfs;
    size_t at, i;

    if (!is_of_machine(lab, path) || tree_children(lab, path, &vfs, &at) != RDL_OK)
        return false;
    for (i = 0; i < vfs.n; i++) {
        char vf[TREE_PATH_BYTES];
        struct text t = text_on(vf, sizeof(vf));

        tree_join(&t, path, vfs.v[i].key);
        if (!tree_number(lab, vf, LEAF_vf_enabled))
            break;
        print_vf(out, lab, i, vf);
    }
    print_rest(out, i, vfs.n);
    print_stranded(out, lab, path, &vfs, i);
    tree_done(&vfs);
    return true;
}
