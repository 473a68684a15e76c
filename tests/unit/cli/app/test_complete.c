/* SPDX-License-Identifier: MIT */
#include "cli/app/complete.h"

#include "cli/lab_session.h"
#include "rdmalab/port.h"

struct found {
    char words[4096];
};

static void add_word(void *ctx, const char *word, const char *meaning)
{
    struct found *found = ctx;
    struct text t = {found->words, strlen(found->words), sizeof(found->words), false};

    text_addf(&t, " %s", word);
    if (meaning[0])
        text_addf(&t, " (%s)", meaning);
}

struct row {
    const char *line, *offered, *not_offered; /* blanks around words */
};

static void expect_offers(struct lab *l, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct found found = {""};

        complete_line(l->s, rows[i].line, add_word, &found);
        if (!strstr(found.words, rows[i].offered) || strstr(found.words, rows[i].not_offered))
            fail_msg("%s:%s", rows[i].line, found.words);
    }
}

static void completion_offers_what_fits(void **state)
{
    static const struct row rows[] = {
        {"pos", " post_send", " poll_cq"},
        {"run; on h1 { alloc", " alloc_pd", " run"},
        {"post_send ", " h1.qp", " h1.cq"},
        {"post_send h1.qp s", " sge= swap= signaled solicited", " wr_id="},
        {"post_send h1.qp rkey=h2", " rkey=h2.mr", " rkey=h2.qp"},
        {"post_send h1.qp op=rdma_write remote=", " remote=h2.mr", " remote=h2.qp"},
        {"post_send h1.qp op=rdma_r", " op=rdma_read", " op=rdma_write"},
        {"post_send h1.qp op=atomic_", " op=atomic_cmp_and_swp op=atomic_fetch_and_add", "rdma"},
        {"post_send h1.qp c", " compare=", " add="},
        {"post_send h1.qp f", " fence", " inline"},
        {"connect h1.qp h2.qp access=rr,r", " access=rr,rw", " access=rr,lw"},
        {"modify_qp h1.qp max_", " max_rd_atomic= max_dest_rd_atomic=", " mtu="},
        {"expect h1.qp.pend", " h1.qp.pending_rd_atomic (READs and atomics of its peer", "kept"},
        {"explain implied", " implied_nak", " imm"},
        {"drop opcode=RC_ATOMIC", " opcode=RC_ATOMIC_ACKNOWLEDGE", "RC_ACK"},
        {"post_send h1.qp ah=", "", " ah="}, /* there are none */
        {"save ", " world", " h1"},
        {"post_list { post_", " post_send post_list", " run"},
        {"create_qp h1.pd send_cq=", " send_cq=h1.cq", " send_cq=h1.qp"},
        {"create_qp h1.pd type=r", " type=rc", " type=uc"},
        {"reg_mr h1.pd access=lw,r", " access=lw,rr", " access=lw,lw"},
        {"on ", " h1", " h1.qp"},
        {"show h1.q", " h1.qp", " h1.cq"},
        {"show ev", " events", " qp"},
        {"step t", " tick timer", " wqe"},
        {"drop from=", " from=h1 from=h2 from=tap0", "h1-h2"},
        {"drop from=", " from=tap0", "s1"},
        {"link ", " h1 h2 s1 tap0", "h1-h2"},
        {"set link ", " h1-h2", "s1"},
        {"set ", " link changes history", "h1"},
        {"set changes ", " off on all", "h1"},
        {"step host ", " h1 h2", "tick"},
        {"step packet ", "", "h1"},
        {"clear ", " f1", "h1"},
        {"host h3 profile=", " profile=iba profile=rxe", "h1"},
        {"host h3 ar", " arp", "h1"},
        {"xyzzy ", "", " h1"},
        {"expect h1.qp.next", " h1.qp.next_psn (the PSN of the next packet to be sent", "h1.qp.sq"},
        {"expect h1.cq.wc[5].st", " h1.cq.wc[5].status (how the work request ended)", "wr_id"},
        {"show h1.cq.wc[5].st", "", "status"}, /* it is not there */
        {"why n", " not", " h1"},
        {"why not ", " h1.cq.wc[0] (the completion that comes next)", "json"},
        {"why not ", " tx", "json"},
        {"why not f", " f1", "h1"},
        {"why not h1.qp.sta", " h1.qp.state (its state", "h1.cq"},
        {"why not h1.qp.state == RTS and h2.q", " h2.qp", "h1.qp"},
        {"expect h1.nobody.st", "", "state"}, /* of which kind would it be? */
    };
    const struct rdl_port_config port = {"tap0"};
    rdl_port made;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    lab_run(&l, "switch s1; drop from=h1");
    assert_int_equal(rdl_port_add(l.s->lab, &port, &made), RDL_OK);
    expect_offers(&l, rows, ARRAY_LEN(rows));
    lab_close(&l);
}

static void completion_knows_places_futures_and_stops(void **state)
{
    static const struct row rows[] = {
        {"back t", " tick timer to", " packet"},
        {"back 3 pa", " packet", " tick"},
        {"back to h1.q", " h1.qp", " h1.cq"},
        {"back to qp_s", " qp_state", " h1"},
        {"expect h1.qp.state == h2.q", " h2.qp", " h2.cq"},
        {"until h1.qp.state == RTS time", " timeout=", " h1"},
        {"goto ", " start end here", " main"},
        {"goto h", " here", " start"},
        {"future ", " main", " other"},
        {"diff o", " other", " main"},
        {"diff other m", " main", " other"},
        {"disable ", " 1 (h1.qp.state == ERR) 2 (h2.qp.state) all", " h1"},
        {"delete 1 ", " 2 (h2.qp.state)", " h1"},
        {"redo ", "", " h1"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    lab_run(&l, "break h1.qp.state == ERR; watch h2.qp.state");
    lab_run(&l, "fork other");
    lab_run(&l, "checkpoint here");
    expect_offers(&l, rows, ARRAY_LEN(rows));
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(completion_offers_what_fits),
        cmocka_unit_test(completion_knows_places_futures_and_stops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
