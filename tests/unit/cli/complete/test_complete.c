/* SPDX-License-Identifier: MIT */
#include "cli/complete/complete.h"

#include "cli/lab_session.h"
#include "rdmalab/port.h"

struct found {
    char words[16384]; /* " h1.qp !h2.qp": unavailable choices have a ! */
    char told[32768];  /* " h1.qp (RC, RTS)": choices with their meaning */
};

static void add_word(void *ctx, const struct offer *o)
{
    struct found *found = ctx;
    struct text t = {found->words, strlen(found->words), sizeof(found->words), false};
    struct text m = {found->told, strlen(found->told), sizeof(found->told), false};

    text_addf(&t, " %s%s", o->barred ? "!" : "", o->word);
    text_addf(&m, " %s%s", o->barred ? "!" : "", o->word);
    if (o->meaning[0])
        text_addf(&m, " (%s)", o->meaning);
}

struct row {
    const char *line, *offered, *not_offered; /* words between blanks */
};

static void expect_offers(struct lab *l, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct found found = {"", ""};
        const char *in = strstr(rows[i].offered, " (") ? found.told : found.words;

        complete_line(l->s, rows[i].line, add_word, &found);
        if (!strstr(in, rows[i].offered) || strstr(found.words, rows[i].not_offered))
            fail_msg("%s:%s", rows[i].line, in);
    }
}

static const struct row what_fits[] = {
    {"pos", " post_send", " poll_cq"},
    {"run; on h1 { alloc", " alloc_pd", " run"},
    {"post_send ", " !h1.qp (is in RESET; post_send needs RTS)", " h1.cq"},
    {"post_send h1.qp s", " sge= swap= signaled solicited", " wr_id="},
    {"exec ", " h1 h2", "status="},
    {"exec h1 st", " status=", "h1"},
    {"exec h1 ./program st", "", "status="}, /* a word of the program */
    {"post_send h1.qp rkey=h2", " rkey=h2.mr", " rkey=h2.qp"},
    {"post_send h1.qp op=rdma_write remote=", " remote=h2.mr", " remote=h2.qp"},
    {"post_send h1.qp op=rdma_r", " op=rdma_read", " op=rdma_write"},
    {"post_send h1.qp op=atomic_", " op=atomic_cmp_and_swp op=atomic_fetch_and_add", "rdma"},
    {"post_send h1.qp c", " compare=", " add="},
    {"post_send h1.qp f", " fence", " inline"},
    {"connect h1.qp h2.qp access=rr,r", " access=rr,rw", " access=rr,lw"},
    {"modify_qp h1.qp max_", " max_rd_atomic= max_dest_rd_atomic=", " mtu="},
    {"expect h1.qp.pend", " h1.qp.pending_rd_atomic (READs and atomics of its peer", "kept"},
    {"explain IBV_WC_RNR", " IBV_WC_RNR_RETRY_EXC_ERR", " RNR_NAK"},
    {"explain RNR_RETRY_E", " RNR_RETRY_EXC_ERR", " IBV_WC_RNR_RETRY_EXC_ERR"},
    {"explain qp f", " fields", " more"},
    {"explain RC v", " vs", " fields"},
    {"explain implied", " implied_nak", " imm"},
    {"drop opcode=RC_ATOMIC", " opcode=RC_ATOMIC_ACKNOWLEDGE", "RC_ACK"},
    {"post_send h1.qp ah=", "", " ah="}, /* none exist */
    {"save ", " world", " h1"},
    {"post_list { post_", " post_send post_list", " run"},
    {"create_qp h1.pd send_cq=h", " send_cq=h1.cq", " send_cq=h1.qp"},
    {"create_qp h1.pd type=r", " type=rc", " type=uc"},
    {"reg_mr h1.pd access=lw,r", " access=lw,rr", " access=lw,lw"},
    {"on ", " h1", " h1.qp"},
    {"show h1.q", " h1.qp", " h1.cq"},
    {"show ev", " events", " qp"},
    {"step t", " tick timer", " wqe"},
    {"drop from=", " from=h1 from=h2 from=tap0", "h1-h2"},
    {"drop from=", " from=tap0", "s1"},
    {"drop the 2", " 2nd (let one pass, and take the next)", "every"},
    {"drop every ACK fr", " from (who sends it", " to"},
    {"drop every ACK from ", " h1 h2", "h1-h2"},
    {"drop every ACK of ", " h1.qp", "h1.mr"},
    {"drop every ACK on ", " h1-h2", " h1.qp"},
    {"forge the next ACK set ps", " psn", "msn"},
    {"drop where by", " bytes", "msn"},
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
    {"show h1.cq.wc[5].st", "", "status"}, /* it does not exist */
    {"why n", " not", " h1"},
    {"why not ", " h1.cq.wc[0] (the completion that comes next)", "json"},
    {"why not ", " tx", "json"},
    {"why not f", " f1", "h1"},
    {"why not h1.qp.sta", " h1.qp.state (its state", "h1.cq"},
    {"why not h1.qp.state == RTS and h2.q", " h2.qp", "h1.qp"},
    {"expect h1.nobody.st", "", "state"}, /* its kind is unknown */
    {"post_recv h", " !h1.qp (is in RESET; post_recv needs INIT, RTR or RTS)", " h1.qp"},
    {"connect h1.qp ", " !h1.qp (is the other end already)", "!h2.qp"},
    {"connect h1.qp ", " h2.qp (RC, RESET)", "h1.cq"},
    {"modify_qp h1.qp state=", " state=init ", " state=rtr"},
    {"modify_qp h1.qp state=", " !state=rtr (there is no way from RESET to it)", " state=rts"},
    {"create_qp h1.pd send_cq=", " send_cq=cq !send_cq=h2.cq", " send_cq=h1.cq"},
    {"create_qp h1.pd send_cq=", "h2.cq (is on h2, and what uses it on h1)", " qp"},
    {"post_send h1.qp sge=", " sge=mr", " sge=h2.mr"},
    {"post_send h1.qp op=atomic_fetch_and_add remote=h2",
     " !remote=h2.mr (has no access for peers: atomic_fetch_and_add needs REMOTE_ATOMIC)",
     " remote"},
    {"dealloc_pd h1.", " !h1.pd (2 objects use it)", " h1.pd"},
    {"attach_mcast ", " !h1.qp (is RC; only UD has multicast groups)", " h1.qp"},
    {"post_send h1.qp wr_id=1 ", " op=", "wr_id"}, /* given already */
    {"kick h1.", " h1.qp.sq h1.qp.rq", "cq"},
    {"on h1 { destroy_qp ", " qp", " h1.qp"},
    {"on h1 {\nalloc_pd as pd2\ndestroy_qp ", " qp", " h1.qp"},
    {"on h1 { run }; destroy_qp ", " h1.qp", " qp"},
    {"show vq h2.q", " h2.qp.sq h2.qp.rq", "h1"},
    {"show qp ", " h1.qp", "h1.cq"},
    {"show events kinds=tx,rx", " kinds=tx,rx", "lost"},
    {"help ver", " verbs", "verbs_peer"},
    {"help post_send ", " qp wr_id op sge", " swap_add"},
    {"help show s", " srq", "script"},
    {"show device h1 max_m", " max_mr_size max_mr max_mw", " max_qp"},
    {"show device ", " h1 h2 phys_port_cnt", "h1.qp"},
    {"show device max_mr m", " markdown", "max_mw"}, /* no second field, and no host */
    {"comp", " complete", " compare"},
    {"history f", " failed", "f1"},
    {"clear ", " all (every fault)", "h1"},
    {"clear a", " all", "f1"},
    {"show qp ", " json (", "tree"},
    {"show qp m", " markdown", " memory"},
    {"show vq h1.qp.sq n", " ndjson", "h1"},
    {"show qp csv j", "", "json"}, /* only one form is permitted */
    {"show c", " csv cq counters", "json"},
    {"show st", " states", "step"},
    {"export map x.dot h", " h1 h2", "from="},
    {"export states x.dot h1.q", " h1.qp", "h1.cq"},
    {"export ladder x.svg ", " from= to=", "h1"}, /* it takes no path */
    {"sen", " send (a macro)", " run"},
    {"call s", " send", "set"},
    {"send ", " from= to= n= (64 if it is not said) h1 h2", "h1.qp"},
    {"send fr", " from=", " to="},
    {"foreach x in h1,h2 { alloc_pd $", " $x (one value after the other)", "h1"},
    {"foreach x in 1..3 { on h1 { show h1.qp$(", " h1.qp$(x)", "h1.qp "},
    {"foreach x in 1..3 { }; show $", "", "$x"}, /* the block has ended */
    {"macro m from n=4 { post_send $fr", " $from (what the call says)", "$n"},
    {"macro m from n=4 {\nrun\npost_send h1.qp sge=mr[0:$n", " sge=mr[0:$n", "$from"},
};

static void completion_offers_what_fits(void **state)
{
    const struct rdl_port_config port = {"tap0"};
    rdl_port made;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    lab_run(&l, "switch s1; drop from=h1; macro send from to n=64 { post_send $from.qp }");
    assert_int_equal(rdl_port_add(l.s->lab, &port, &made), RDL_OK);
    expect_offers(&l, what_fits, ARRAY_LEN(what_fits));
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

static void completion_goes_into_expressions(void **state)
{
    static const struct row rows[] = {
        {"until count(t", " count(tx (host, qpn, opcode, psn", " timeout="},
        {"until count(tx, ", " host== qpn== opcode== psn==", " tx"},
        {"until count(tx, host==", " host==h1 host==h2", "opcode"},
        {"until count(tx,host==h", " count(tx,host==h1 count(tx,host==h2", "h1.qp"},
        {"until count(tx, host==h1, ", " opcode==", " host=="}, /* given already */
        {"until count(tx, opcode==RC_ATOMIC", " opcode==RC_ATOMIC_ACKNOWLEDGE", "RC_ACK"},
        {"until count(tx, opcode == rc_atomic_a", " rc_atomic_acknowledge", "RC_"},
        {"break tx(", " tx(host== tx(qpn==", " once"},
        {"break when=t", " when=timeout when=tx", "timeout="},
        {"break tx(host==h2, o", " opcode==", "host"},
        {"break qp_state(to==RT", " qp_state(to==RTR qp_state(to==RTS", "RESET"},
        {"break lost(by==", " lost(by==DROP", "h1"},
        {"why not cqe(status==LOC", " cqe(status==LOC_LEN_ERR", " h1"},
        {"back to tx(host==", " tx(host==h1 tx(host==h2", "psn"},
        {"until h1.qp.state == ", " RESET INIT RTR RTS", " h1"},
        {"until h1.qp.state == r", " reset rtr rts", "RTR"},
        {"until h1.qp.state==R", " h1.qp.state==RESET h1.qp.state==RTR", "INIT"},
        {"expect h1.cq.wc[3].status != LOC", " LOC_LEN_ERR", "RNR"}, /* no such completion yet */
        {"expect (h1.qp.state == RTS or h2.q", " h2.qp", "h1"},
        {"expect \"h1.q", "", "h1.qp"}, /* inside a string */
        {"until cou", " count(", "h1"},
        {"watch h1.qp.sta", " h1.qp.state (its state", "h2"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    expect_offers(&l, rows, ARRAY_LEN(rows));
    lab_close(&l);
}

/* In a lab of a thousand hosts, names of hosts are offered first, and then the objects of one. */
static void completion_stays_a_list_in_a_large_lab(void **state)
{
    static const struct row rows[] = {
        {"destroy_qp ", " h1. h2.", ".qp"},
        {"destroy_qp h12", " h12.qp", "h13"},
        {"destroy_qp h12.", " h12.qp", "h1.qp"},
        {"on h12 { destroy_qp ", " qp", "h13.qp"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    for (int i = 1; i <= 100; i++) {
        char line[64];
        struct text t = text_on(line, sizeof(line));

        text_addf(&t, "host h%d ram=1m", i);
        lab_run(&l, line);
    }
    lab_run(&l,
            "on h12 { alloc_pd as pd; create_cq as cq; create_qp pd send_cq=cq recv_cq=cq as qp }");
    expect_offers(&l, rows, ARRAY_LEN(rows));
    lab_close(&l);
}

static const struct row fits_machines[] = {
    {"guest g9 on ", " m1 !h1 (is no machine)", "device="},
    {"guest g9 on=", " on=m1", "device="},
    {"guest g9 on m1 vf", " vf=", " on="},
    {"guest g9 on m1 vrnic with=", " with=g1", "(is no machine)"},
    {"move g1 ", " m1 !h1 (is no machine)", "guest="},
    {"vf set ", " m1", "numvfs="},
    {"vf set ", " !g1 (is no machine)", " g1"},
    {"vf set m1 0 s", " spoofchk= state=", " mac="},
    {"vf enable m1 ", "", "spoofchk="},
    {"vf ", " set enable", "mac="},
    {"link ", " !g1 (is a guest of m1 and has no cable)", " g1"},
};

static void machines_are_offered_where_one_is_needed(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "machine m1 vfs=4; host h1; guest g1 on m1");
    expect_offers(&l, fits_machines, ARRAY_LEN(fits_machines));
    lab_close(&l);
}

static void hints_say_what_may_follow(void **state)
{
    static const struct {
        const char *line, *hint;
    } rows[] = {
        {"modify_qp", " QP [state=reset|init|rtr|rts|sqd|sqe|err]"},
        {"modify_qp ", "QP [state="},
        {"modify_qp h1.qp ", "[state=reset|init|err, now RESET] "},
        {"modify_qp h1.qp", " [state=reset|init|err, now RESET] "},
        {"modify_qp h1.qp state=init ", "pkey_index=N port=N access=lw,rw,rr,... [cur_state="},
        {"modify_qp h1.qp state=", "reset|init|err, now RESET"},
        {"modify_qp h1.qp sq_psn=", "24-bit, now 0"},
        {"create_cq h1 cqe=", "N, 16 if it is not said"},
        {"create_cq h1 ", "[cqe=16] [channel=OBJECT] [vector=N] [nowait] [as NAME]"},
        {"reg_mr h1.pd ", "len=SIZE [addr="},
        {"on h1 { create_cq ", "[HOST] [cqe=16]"},
        {"create_cq cqe ",
         "[cqe=16] [channel=OBJECT] [vector=N] [nowait] [as NAME]"}, /* a host may have this name */
        {"create_cq h1 cqe=4 ", "[channel=OBJECT] [vector=N] [nowait] [as NAME]"},
        {"step packet ", "[COUNT]"},
        {"guest g9 on ", "HOST"},
        {"vf set h1 0 ", "[mac=MAC] [vlan=N]"},
        {"vf enable h1 ", "NUMVFS"},
        {"mod", ""},
        {"", ""},
        {"nonsense ", ""},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char hint[512];
        struct text t = text_on(hint, sizeof(hint));

        complete_hint(l.s, rows[i].line, &t);
        if (strncmp(hint, rows[i].hint, strlen(rows[i].hint)) != 0 || (!rows[i].hint[0] && hint[0]))
            fail_msg("%s: %s", rows[i].line, hint);
    }
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(completion_offers_what_fits),
        cmocka_unit_test(completion_knows_places_futures_and_stops),
        cmocka_unit_test(completion_goes_into_expressions),
        cmocka_unit_test(completion_stays_a_list_in_a_large_lab),
        cmocka_unit_test(machines_are_offered_where_one_is_needed),
        cmocka_unit_test(hints_say_what_may_follow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
