/* SPDX-License-Identifier: MIT */
#include "cli/show/show_page.h"

#include "cli/show/show_vq.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/facts/enum/qp_type.h"
#include "print/show_text.h"
#include "tree/advice.h"
#include "tree/tree.h"

/* A word and a leaf of a detail line: "  send     sq-psn 101, ...". */
struct word_leaf {
    const char *word;
    enum leaf_id leaf;
    bool is_timer; /* a time at which a timer runs out; print "off" for 0 */
};

static void print_pairs(FILE *out, const struct rdl_lab *lab, const char *path, const char *label,
                        const struct word_leaf *pairs, size_t n)
{
    char buf[SHOW_LINE_BYTES], lead[32];
    struct text t = text_on(buf, sizeof(buf)), l = text_on(lead, sizeof(lead));

    text_addf(&l, "  %s", label);
    for (size_t i = 0; i < n; i++) {
        text_add(&t, i ? ", " : "");
        text_addf(&t, "%s ", pairs[i].word);
        if (pairs[i].is_timer && tree_number(lab, path, pairs[i].leaf) == 0) {
            text_add(&t, "off");
            continue;
        }
        text_add(&t, pairs[i].is_timer ? "due t=" : "");
        tree_add(&t, lab, path, pairs[i].leaf);
    }
    show_wrap_behind(out, lead, 12, buf);
}

/* Prints a line for a work queue: "  sq       queue 19, 16 entries, 2 in use: 1 not yet taken by
 * the device, ...".
 */
static void print_work_queue(FILE *out, const struct rdl_lab *lab, const char *qp, enum child_id id)
{
    char path[TREE_PATH_BYTES], buf[SHOW_LINE_BYTES], lead[32];
    struct text line = text_on(buf, sizeof(buf)), l = text_on(lead, sizeof(lead));
    struct vq_indexes at;

    if (!tree_child(lab, qp, id, path))
        return; /* the device has not created it */
    at = vq_indexes_of(lab, path);
    text_addf(&l, "  %s", child_rows[id].key);
    text_addf(&line, "queue %llu, %llu entries",
              (unsigned long long)tree_number(lab, path, LEAF_queue_number),
              (unsigned long long)tree_number(lab, path, LEAF_queue_size));
    text_addf(&line, ", %u in use", (uint16_t)(at.driver_avail - at.driver_used));
    text_addf(&line, ": %u not yet taken by the device",
              (uint16_t)(at.driver_avail - at.device_avail));
    text_addf(&line, ", %u under way", (uint16_t)(at.device_avail - at.device_used));
    text_addf(&line, ", %u given back", (uint16_t)(at.device_used - at.driver_used));
    show_wrap_behind(out, lead, 12, buf);
}

/* Prints the ring of a work queue of PVRDMA, under the key that it has. */
static void print_work_ring(FILE *out, const struct rdl_lab *lab, const char *qp, enum child_id id)
{
    char path[TREE_PATH_BYTES];
    uint64_t slots;

    if (!tree_child(lab, qp, id, path))
        return;
    slots = tree_number(lab, path, LEAF_ring_slots);
    fprintf(out, "  %-10sring of %llu slot%s: %llu posted and not yet taken, %llu under way%s\n",
            child_rows[id].key, (unsigned long long)slots, plural_s(slots),
            (unsigned long long)tree_number(lab, path, LEAF_ring_waiting),
            (unsigned long long)tree_number(lab, path, LEAF_ring_held),
            tree_number(lab, path, LEAF_ring_broken) ? ", BROKEN" : "");
}

/* Prints the counters that are not 0: "  counters sent_pkts 3, ...". */
static enum rdl_status print_counters(FILE *out, const struct rdl_lab *lab, const char *qp)
{
    struct tree_list children;
    char path[TREE_PATH_BYTES], buf[2 * SHOW_LINE_BYTES];
    struct text line = text_on(buf, sizeof(buf));
    size_t at;
    enum rdl_status st;

    if (!tree_child(lab, qp, CHILD_qp_counters, path))
        return RDL_OK;
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
    return st;
}

/* Prints @advice if it applies to the object @path. */
static void print_advice(FILE *out, const struct rdl_lab *lab, const char *path,
                         bool (*advice)(struct text *, const struct rdl_lab *, const char *))
{
    char buf[2 * SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (advice(&t, lab, path))
        show_wrap_behind(out, "  note", 12, buf);
}

/* A line of the page, and the types of queue pairs that have it. */
#define CONNECTED (1u << QPT_RC | 1u << QPT_UC)
#define DATAGRAM  (1u << QPT_UD | 1u << QPT_GSI)
#define RC_ONLY   (1u << QPT_RC)

#define LINE(label, types, pairs)                                                                  \
    {                                                                                              \
        label, types, pairs, ARRAY_LEN(pairs)                                                      \
    }

static const struct word_leaf qp_ends[] = {
    {"lqpn", LEAF_qp_qpn, false},       {"rqpn", LEAF_qp_dest_qpn, false},
    {"peer", LEAF_qp_peer, false},      {"path-mtu", LEAF_qp_mtu, false},
    {"pd", LEAF_qp_pd, false},          {"send-cq", LEAF_qp_send_cq, false},
    {"recv-cq", LEAF_qp_recv_cq, false}};
static const struct word_leaf qp_end[] = {{"lqpn", LEAF_qp_qpn, false},
                                          {"qkey", LEAF_qp_qkey, false},
                                          {"pd", LEAF_qp_pd, false},
                                          {"send-cq", LEAF_qp_send_cq, false},
                                          {"recv-cq", LEAF_qp_recv_cq, false}};
static const struct word_leaf qp_partition[] = {{"pkey", LEAF_qp_pkey, false},
                                                {"pkey_index", LEAF_qp_pkey_index, false}};
static const struct word_leaf qp_srq[] = {{"receives from", LEAF_qp_srq, false}};
static const struct word_leaf qp_send[] = {{"sq-psn (next)", LEAF_qp_sq_psn, false},
                                           {"oldest unacknowledged", LEAF_qp_acked_psn, false},
                                           {"work requests under way", LEAF_qp_outstanding, false}};
static const struct word_leaf qp_send_only[] = {
    {"sq-psn (next)", LEAF_qp_sq_psn, false},
    {"work requests under way", LEAF_qp_outstanding, false}};
static const struct word_leaf qp_credits[] = {
    {"the last message that was begun", LEAF_qp_ssn, false},
    {"the last that the peer has a receive for", LEAF_qp_credit_ssn, false}};
static const struct word_leaf qp_recv[] = {{"rq-psn (expected)", LEAF_qp_rq_psn, false},
                                           {"msn", LEAF_qp_msn, false}};
static const struct word_leaf qp_reads[] = {
    {"max_rd_atomic", LEAF_qp_max_rd_atomic, false},
    {"under way", LEAF_qp_outstanding_rd_atomic, false},
    {"max_dest_rd_atomic", LEAF_qp_max_dest_rd_atomic, false},
    {"to be answered", LEAF_qp_pending_rd_atomic, false}};
static const struct word_leaf qp_access[] = {{"the peer may", LEAF_qp_access, false}};
static const struct word_leaf qp_retry[] = {{"retries", LEAF_qp_retries, false},
                                            {"retry_cnt", LEAF_qp_retry_cnt, false},
                                            {"rnr_retries", LEAF_qp_rnr_retries, false},
                                            {"rnr_retry", LEAF_qp_rnr_retry, false}};
static const struct word_leaf qp_timers[] = {{"timeout", LEAF_qp_timeout, false},
                                             {"ack timer", LEAF_qp_timer_due, true},
                                             {"rnr timer", LEAF_qp_rnr_due, true},
                                             {"min_rnr_timer", LEAF_qp_min_rnr_timer, false}};

static const struct qp_line {
    const char *label;
    unsigned types; /* set of 1 << enum qp_type */
    const struct word_leaf *pairs;
    size_t n;
} qp_lines[] = {
    LINE("", CONNECTED, qp_ends),
    LINE("", DATAGRAM, qp_end),
    LINE("partition", CONNECTED | DATAGRAM, qp_partition),
    LINE("srq", CONNECTED | DATAGRAM, qp_srq),
    LINE("send", RC_ONLY, qp_send),
    LINE("send", DATAGRAM | 1u << QPT_UC, qp_send_only),
    LINE("credits", RC_ONLY, qp_credits),
    LINE("receive", CONNECTED, qp_recv),
    LINE("reads", RC_ONLY, qp_reads),
    LINE("access", CONNECTED, qp_access),
    LINE("retry", RC_ONLY, qp_retry),
    LINE("timers", RC_ONLY, qp_timers),
};

/* Returns false for a line whose values are all the default, which most queue pairs have. */
static bool qp_has(const struct rdl_lab *lab, const char *path, const struct word_leaf *pairs)
{
    const uint64_t default_pkey = 0xffff;
    struct rdl_value v;

    if (pairs == qp_partition)
        return tree_leaf(lab, path, LEAF_qp_pkey, &v) && v.number != default_pkey;
    if (pairs == qp_srq)
        return tree_leaf(lab, path, LEAF_qp_srq, &v) && v.text[0];
    if (pairs == qp_credits)
        return tree_number(lab, path, LEAF_qp_credits) != 0;
    return true;
}

enum rdl_status show_qp(FILE *out, const struct rdl_lab *lab, const char *path)
{
    const uint64_t type = tree_number(lab, path, LEAF_qp_type);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%s   ", path);
    tree_add(&t, lab, path, LEAF_qp_type);
    text_add(&t, "   ");
    tree_add(&t, lab, path, LEAF_qp_state);
    show_line(out, &t);
    for (size_t i = 0; i < ARRAY_LEN(qp_lines); i++) {
        const struct qp_line *l = &qp_lines[i];

        if ((l->types >> type & 1u) && qp_has(lab, path, l->pairs))
            print_pairs(out, lab, path, l->label, l->pairs, l->n);
    }
    print_work_queue(out, lab, path, CHILD_qp_sq);
    print_work_queue(out, lab, path, CHILD_qp_rq);
    print_work_ring(out, lab, path, CHILD_qp_send_ring);
    print_work_ring(out, lab, path, CHILD_qp_recv_ring);
    print_advice(out, lab, path, advice_unsignaled);
    print_advice(out, lab, path, advice_rd_atomic);
    return print_counters(out, lab, path);
}

#define COMPLETIONS_SHOWN_MAX 16u

/* Prints the completions from @from to @to as a table; it says which were polled. */
static void print_completions(FILE *out, const struct rdl_lab *lab, const char *cq, uint64_t from,
                              uint64_t to)
{
    static const struct {
        const char *head;
        enum leaf_id leaf;
        bool right;
    } columns[] = {
        {"wr_id", LEAF_wc_wr_id, true},    {"status", LEAF_wc_status, false},
        {"opcode", LEAF_wc_opcode, false}, {"byte_len", LEAF_wc_byte_len, true},
        {"qp_num", LEAF_wc_qp_num, true},
    };
    const uint64_t polled = tree_number(lab, cq, LEAF_cq_polled);
    uint32_t right = 0;
    struct grid g;

    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        right |= (uint32_t)columns[i].right << (i + 1);
    grid_init(&g, ARRAY_LEN(columns) + 2, right);
    grid_cell(&g, "");
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        grid_cell(&g, columns[i].head);
    grid_cell(&g, "");
    for (uint64_t n = from; n < to; n++) {
        char path[TREE_PATH_BYTES];

        if (!tree_element(lab, cq, CHILD_cq_wc, n, path))
            continue;
        grid_cellf(&g, "%s[%llu]", child_rows[CHILD_cq_wc].key, (unsigned long long)n);
        for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
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
    static const struct word_leaf about[] = {{"cqn", LEAF_cq_cqn, false},
                                             {"entries", LEAF_cq_cqe, false},
                                             {"completions so far", LEAF_cq_count, false},
                                             {"polled", LEAF_cq_polled, false},
                                             {"armed", LEAF_cq_armed, false},
                                             {"events", LEAF_cq_events, false},
                                             {"error", LEAF_cq_error, false}};
    const uint64_t n = tree_number(lab, path, LEAF_cq_count);
    const uint64_t from = n > COMPLETIONS_SHOWN_MAX ? n - COMPLETIONS_SHOWN_MAX : 0;

    fprintf(out, "%s\n", path);
    print_pairs(out, lab, path, "", about, ARRAY_LEN(about));
    print_advice(out, lab, path, advice_armed);
    if (tree_number(lab, path, LEAF_cq_error))
        print_advice(out, lab, path, advice_cq_size);
    if (n)
        print_completions(out, lab, path, from, n);
    return RDL_OK;
}
