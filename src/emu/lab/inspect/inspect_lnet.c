/* SPDX-License-Identifier: MIT */
/* Inspect tree: the node of LNet of a host. */
#include "emu/facts/enum_table.h"
#include "emu/lab/inspect/inspect_nodes.h"
#include "emu/lab/lnet.h"

static struct lnd *lnd_of(const struct inode *n)
{
    return lnet_lnd(lab_lnet_node(n->host));
}

static void nid(struct visit *v, enum leaf_id id, uint64_t number)
{
    char buf[LNET_NID_TEXT_MAX];

    inspect_text(v, id, lnet_nid_text(number, buf));
}

/* Elements of the lists, counted: none has a number of its own. */
static uint64_t n_peers(const struct inode *n)
{
    struct lnd_peer_info p;
    uint32_t i = 0;

    while (lnd_peer_at(lnd_of(n), i, &p))
        i++;
    return i;
}

static uint64_t n_regions(const struct inode *n)
{
    struct lnd_region_info r;
    uint32_t i = 0;

    while (lnd_region_at(lnd_of(n), i, &r))
        i++;
    return i;
}

static uint64_t n_memories(const struct inode *n)
{
    struct lnet_memory_info m;
    uint32_t i = 0;

    while (lnet_memory_at(lab_lnet_node(n->host), i, &m))
        i++;
    return i;
}

static uint64_t n_tests(const struct inode *n)
{
    const struct selftest *t = n->host->lnet->selftest;

    return t ? selftest_tests(t) : 0;
}

static void visit_counts(const struct inode *n, struct visit *v)
{
    const struct lnd_counts *c = lnd_counts(lnd_of(n));

    inspect_leaf(v, LEAF_lnet_writes, c->writes);
    inspect_leaf(v, LEAF_lnet_write_bytes, c->write_bytes);
    inspect_leaf(v, LEAF_lnet_connects, c->connects);
    inspect_leaf(v, LEAF_lnet_accepts, c->accepts);
    inspect_leaf(v, LEAF_lnet_races, c->races);
    inspect_leaf(v, LEAF_lnet_rejects_sent, c->rejects_sent);
    inspect_leaf(v, LEAF_lnet_rejects_got, c->rejects_got);
    inspect_leaf(v, LEAF_lnet_closes, c->closes);
    inspect_leaf(v, LEAF_lnet_timeouts, c->timeouts);
    inspect_leaf(v, LEAF_lnet_stalls, c->stalls);
    inspect_leaf(v, LEAF_lnet_bad_messages, c->bad_messages);
    inspect_leaf(v, LEAF_lnet_dropped, lnet_counts(lab_lnet_node(n->host))->dropped);
}

void visit_lnet(const struct inode *n, struct visit *v)
{
    const struct lnd *lnd = lnd_of(n);
    const struct lnd_config *c = lnd_config(lnd);
    const struct lnd_counts *counts = lnd_counts(lnd);
    struct inode sent = *n, received = *n, events;
    const uint64_t all = n->host->lnet->n_events;

    sent.number = 0;
    received.number = 1;
    events = inspect_list_of(n, all, inspect_nth);
    events.list_first = all > RDL_LNET_EVENTS_MAX ? all - RDL_LNET_EVENTS_MAX : 0;
    nid(v, LEAF_lnet_nid, c->nid);
    inspect_leaf(v, LEAF_lnet_up, lnd_is_up(lnd));
    inspect_leaf(v, LEAF_lnet_error, lab_lnet_errno(lnd_error(lnd)));
    inspect_leaf(v, LEAF_lnet_stamp, c->stamp);
    inspect_leaf(v, LEAF_lnet_version, c->version);
    inspect_word(v, LEAF_lnet_map, c->map);
    inspect_leaf(v, LEAF_lnet_regions, counts->regions);
    inspect_leaf(v, LEAF_lnet_regions_now, counts->regions_now);
    inspect_leaf(v, LEAF_lnet_pinned_bytes, counts->pinned_bytes);
    inspect_leaf(v, LEAF_lnet_pinned_max, counts->pinned_max);
    inspect_child(v, CHILD_lnet_region, inspect_list_of(n, n_regions(n), inspect_nth));
    inspect_child(v, CHILD_lnet_peer, inspect_list_of(n, n_peers(n), inspect_nth));
    inspect_child(v, CHILD_lnet_memory, inspect_list_of(n, n_memories(n), inspect_nth));
    inspect_child(v, CHILD_lnet_event, events);
    inspect_child(v, CHILD_lnet_sent, sent);
    inspect_child(v, CHILD_lnet_received, received);
    inspect_child(v, CHILD_lnet_test, inspect_list_of(&sent, n_tests(n), inspect_nth));
    if (n->host->lnet->serves)
        inspect_child(v, CHILD_lnet_service, received);
    visit_counts(n, v);
}

static void visit_result(struct visit *v, const struct selftest_result *r)
{
    inspect_leaf(v, LEAF_lnet_test_started, r->started);
    inspect_leaf(v, LEAF_lnet_test_good, r->good);
    inspect_leaf(v, LEAF_lnet_test_failed, r->failed);
    inspect_leaf(v, LEAF_lnet_test_corrupt, r->corrupt);
    inspect_leaf(v, LEAF_lnet_test_bytes, r->bytes);
    inspect_leaf(v, LEAF_lnet_test_error, lab_lnet_errno(r->error));
    inspect_leaf(v, LEAF_lnet_test_begun, r->begun_ns);
    inspect_leaf(v, LEAF_lnet_test_ended, r->ended_ns);
}

static void visit_service(const struct inode *n, struct visit *v)
{
    const struct selftest_result r = selftest_served(n->host->lnet->selftest);

    inspect_leaf(v, LEAF_lnet_test_done, r.started == r.good + r.failed);
    visit_result(v, &r);
}

/* A test of the batch, or what the node serves. */
void visit_lnet_test(const struct inode *n, struct visit *v)
{
    const bool of_service = n->number == 1;
    struct selftest_test t;

    if (of_service) {
        visit_service(n, v);
        return;
    }
    if (!selftest_test_at(n->host->lnet->selftest, (uint32_t)n->index, &t))
        return;
    inspect_word(v, LEAF_lnet_test_op, t.op);
    inspect_leaf(v, LEAF_lnet_test_size, t.size);
    inspect_leaf(v, LEAF_lnet_test_peers, t.n_peers);
    inspect_leaf(v, LEAF_lnet_test_done, t.is_done);
    visit_result(v, &t.result);
    if (t.result.good == 0)
        return;
    inspect_leaf(v, LEAF_lnet_test_shortest, t.result.min_ns);
    inspect_leaf(v, LEAF_lnet_test_mean, t.result.sum_ns / t.result.good);
    inspect_leaf(v, LEAF_lnet_test_longest, t.result.max_ns);
}

void visit_lnet_messages(const struct inode *n, struct visit *v)
{
    const struct lnd_counts *c = lnd_counts(lnd_of(n));

    for (size_t i = 0; i < enum_lnet_msg.n_rows; i++) {
        const struct enum_row *row = &enum_lnet_msg.rows[i];
        const uint32_t at = lnd_count_index(row->value);

        inspect_keyed(v, LEAF_lnet_messages_type, row, n->number ? c->received[at] : c->sent[at]);
    }
}

/* The credits of LNet itself for the peer @of. */
static void visit_tx_credits(const struct inode *n, struct visit *v, uint64_t of)
{
    struct lnet_peer_info p;
    uint32_t i = 0;

    while (lnet_peer_at(lab_lnet_node(n->host), i, &p) && p.nid != of)
        i++;
    if (!lnet_peer_at(lab_lnet_node(n->host), i, &p))
        p = (struct lnet_peer_info){
            .tx_credits = (int32_t)lnd_config(lnd_of(n))->peer_credits}; /* it sent nothing yet */
    inspect_leaf(v, LEAF_lnet_peer_tx_credits, p.tx_credits > 0 ? (uint64_t)p.tx_credits : 0);
    inspect_leaf(v, LEAF_lnet_peer_tx_queued, p.tx_queued);
    inspect_leaf(v, LEAF_lnet_peer_tx_most_queued,
                 p.min_tx_credits < 0 ? (uint64_t)-p.min_tx_credits : 0);
}

void visit_lnet_peer(const struct inode *n, struct visit *v)
{
    struct lnd_peer_info p;

    if (!lnd_peer_at(lnd_of(n), (uint32_t)n->index, &p))
        return;
    nid(v, LEAF_lnet_peer_nid, p.nid);
    if (p.link) {
        inspect_word(v, LEAF_lnet_peer_state, p.state);
        inspect_leaf(v, LEAF_lnet_peer_qpn, lab_lnet_qpn(n->host, p.link));
        inspect_leaf(v, LEAF_lnet_peer_credits, p.credits);
        inspect_leaf(v, LEAF_lnet_peer_outstanding, p.outstanding);
        inspect_leaf(v, LEAF_lnet_peer_reserved, p.reserved);
    }
    inspect_leaf(v, LEAF_lnet_peer_version, p.version);
    inspect_leaf(v, LEAF_lnet_peer_stamp, p.stamp);
    inspect_leaf(v, LEAF_lnet_peer_queue_depth, p.queue_depth);
    inspect_leaf(v, LEAF_lnet_peer_max_frags, p.max_frags);
    inspect_leaf(v, LEAF_lnet_peer_queued, p.queued);
    inspect_leaf(v, LEAF_lnet_peer_active, p.active);
    inspect_leaf(v, LEAF_lnet_peer_waiting, p.waiting);
    visit_tx_credits(n, v, p.nid);
    inspect_leaf(v, LEAF_lnet_peer_connecting, p.n_connecting);
    inspect_leaf(v, LEAF_lnet_peer_accepting, p.n_accepting);
    inspect_leaf(v, LEAF_lnet_peer_error, lab_lnet_errno(p.error));
    inspect_leaf(v, LEAF_lnet_peer_reconnect, p.reconnect_ns);
}

void visit_lnet_region(const struct inode *n, struct visit *v)
{
    struct lnd_region_info r;

    if (!lnd_region_at(lnd_of(n), (uint32_t)n->index, &r))
        return;
    inspect_leaf(v, LEAF_lnet_region_addr, r.addr);
    inspect_leaf(v, LEAF_lnet_region_bytes, r.bytes);
    inspect_leaf(v, LEAF_lnet_region_rkey, r.key);
    inspect_leaf(v, LEAF_lnet_region_users, r.users);
    inspect_leaf(v, LEAF_lnet_region_current, r.is_current);
}

void visit_lnet_memory(const struct inode *n, struct visit *v)
{
    struct lnet_memory_info m;

    if (!lnet_memory_at(lab_lnet_node(n->host), (uint32_t)n->index, &m))
        return;
    inspect_leaf(v, LEAF_lnet_memory_number, m.handle);
    if (m.is_attached) {
        inspect_leaf(v, LEAF_lnet_memory_portal, m.match.portal);
        inspect_leaf(v, LEAF_lnet_memory_bits, m.match.bits);
        inspect_leaf(v, LEAF_lnet_memory_ignore, m.match.ignore);
        inspect_leaf(v, LEAF_lnet_memory_offset, m.offset);
    }
    inspect_leaf(v, LEAF_lnet_memory_pieces, m.pieces);
    inspect_leaf(v, LEAF_lnet_memory_bytes, m.bytes);
    inspect_leaf(v, LEAF_lnet_memory_users, m.users);
}

void visit_lnet_event(const struct inode *n, struct visit *v)
{
    const struct rdl_lnet_event *e = &n->host->lnet->events[n->index % RDL_LNET_EVENTS_MAX];

    inspect_leaf(v, LEAF_lnet_event_at, e->at_ns);
    inspect_word(v, LEAF_lnet_event_kind, e->kind);
    inspect_leaf(v, LEAF_lnet_event_memory, e->md);
    nid(v, LEAF_lnet_event_initiator, e->initiator);
    inspect_leaf(v, LEAF_lnet_event_portal, e->portal);
    inspect_leaf(v, LEAF_lnet_event_bits, e->bits);
    inspect_leaf(v, LEAF_lnet_event_hdr_data, e->hdr_data);
    inspect_leaf(v, LEAF_lnet_event_offset, e->offset);
    inspect_leaf(v, LEAF_lnet_event_mlength, e->mlength);
    inspect_leaf(v, LEAF_lnet_event_rlength, e->rlength);
    inspect_leaf(v, LEAF_lnet_event_error, lab_lnet_errno(e->status));
    inspect_leaf(v, LEAF_lnet_event_unlinked, e->unlinked);
}
