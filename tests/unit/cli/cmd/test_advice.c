/* SPDX-License-Identifier: MIT */
/* Tests of the advice on objects whose use will fail: each command that gives it, and its absence
 * where nothing is wrong.
 */
#include <string.h>

#include "cli/lab_session.h"

#define PAIR "host h1 h2; link h1 h2\n" OBJECTS
#define OBJECTS                                                                                    \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rw,rr as mr\n"                          \
    "create_cq cqe=64 as big; create_cq cqe=4 as cq; create_comp_channel as ch\n"                  \
    "create_cq cqe=8 channel=ch as eq }\n"

/* A queue pair with room for four sends, and its peer. */
#define SMALL                                                                                      \
    PAIR "on h1,h2 { create_qp pd send_cq=big recv_cq=big max_send_wr=4 as qp }\n"                 \
         "connect h1.qp h2.qp\n"
#define SEND(how) "post_send h1.qp op=rdma_write sge=mr[0:8] remote=h2.mr[0] " how "\n"

/* A completion queue with four entries, for eight sends and eight receives. */
#define OVERRUN                                                                                    \
    PAIR "on h1,h2 { create_qp pd send_cq=cq recv_cq=cq max_send_wr=8 max_recv_wr=8 as qp }\n"     \
         "connect h1.qp h2.qp\nrepeat 5 {\n" SEND("signaled") "}\nrun\n"

/* A completion that comes before its queue is armed. */
#define ARM(before, after)                                                                         \
    PAIR "create_qp h2.pd send_cq=big recv_cq=eq as qp\n"                                          \
         "create_qp h1.pd send_cq=big recv_cq=big as qp\nconnect h1.qp h2.qp\n"                    \
         "post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:8]\n" before "\nrun\n" after "\n"

#define READS(own, peer) READS_OF("", own, peer)
#define READS_OF(profile, own, peer)                                                               \
    "host h1; host h2" profile "; link h1 h2\n" OBJECTS                                            \
    "on h1,h2 { create_qp pd send_cq=big recv_cq=big as qp\n"                                      \
    "modify_qp qp state=INIT pkey_index=0 port=1 access=rr }\n"                                    \
    "modify_qp h1.qp state=RTR ah=h2 mtu=1024 dest_qpn=h2.qp rq_psn=0 "                            \
    "max_dest_rd_atomic=1 min_rnr_timer=1\n"                                                       \
    "modify_qp h2.qp state=RTR ah=h1 mtu=1024 dest_qpn=h1.qp rq_psn=0 "                            \
    "max_dest_rd_atomic=" peer " min_rnr_timer=1\n"                                                \
    "modify_qp h1.qp state=RTS sq_psn=0 timeout=4 retry_cnt=7 rnr_retry=7 max_rd_atomic=" own "\n"

static const struct {
    const char *story, *looks;
    const char *advice; /* all words, in any line breaks */
    bool is_given;
} rows[] = {
    {SMALL "repeat 4 {\n" SEND("") "}\nrun", "show qp h1.qp", "None of the last 4 sends", true},
    {SMALL "repeat 4 {\n" SEND("") "}\nrun", "why not h1.qp", "None of the last 4 sends", true},
    {SMALL "repeat 4 {\n" SEND("") "}\nrun", "why", "None of the last 4 sends", true},
    {SMALL "repeat 3 {\n" SEND("") "}\nrun", "show qp h1.qp", "was signaled", false},
    {SMALL "repeat 3 {\n" SEND("") "}\n" SEND("signaled") "run\nrepeat 3 {\n" SEND("") "}\nrun",
     "why not h1.qp", "was signaled", false},
    {SMALL "repeat 4 {\n" SEND("") "}\nrun", "why not h2.qp", "was signaled", false},

    {OVERRUN, "why", "Create it with cqe=16", true},
    {OVERRUN, "why h1.qp", "Create it with cqe=16", true},
    {OVERRUN, "why h1.cq", "8 sends (max_send_wr) and 8 receives (max_recv_wr)", true},
    {OVERRUN, "why not h1.cq", "Create it with cqe=16", true},
    {OVERRUN, "show cq h1.cq", "Create it with cqe=16", true},
    {OVERRUN, "show cq h2.cq", "Create it", false},
    {OVERRUN, "why h2.qp", "Create it", false},

    {SMALL SEND("rkey=0x1234 signaled") "run", "why", "h2.mr, which has the address", true},
    {SMALL SEND("rkey=0x1234 signaled") "run", "why h1.qp", ", not 0x1234.", true},
    {SMALL SEND("rkey=0x1234 signaled") "run", "why h2.qp", ", not 0x1234.", true},
    {SMALL "reg_mr h2.pd len=1k access=lw as own\npost_send h1.qp op=rdma_write sge=mr[0:8] "
           "remote=h2.own[0] rkey=0x1234\nrun",
     "why", "h2.own, which has the address", true},
    {SMALL "reg_mr h2.pd len=1k access=lw as own\npost_send h1.qp op=rdma_write sge=mr[0:8] "
           "remote=h2.own[0] rkey=0x1234\nrun",
     "why", "has no rkey: its access allows peers nothing.", true},
    {SMALL "reg_mr h2.pd len=1k access=rr as seen\npost_send h1.qp op=rdma_write sge=mr[0:8] "
           "remote=h2.seen[0]\nrun",
     "why", "The key is that of h2.seen, which was registered with access rr.", true},
    {SMALL SEND("signaled") "run", "why", "which has the address", false},

    {ARM("", "req_notify_cq h2.eq"), "why not", "no event tells of what was there before", true},
    {ARM("", "req_notify_cq h2.eq"), "why not h2.ch", "Arm first, then poll once more", true},
    {ARM("", "req_notify_cq h2.eq"), "why not h2.ch.pending == 1", "Arm first", true},
    {ARM("", "req_notify_cq h2.eq"), "why not h2.eq", "poll_cq h2.eq", true},
    {ARM("", "req_notify_cq h2.eq"), "why not h2.eq.wc[0]", "Arm first", true},
    {ARM("", "req_notify_cq h2.eq"), "why not cq_event(host==h2)", "Arm first", true},
    {ARM("", "req_notify_cq h2.eq"), "show cq h2.eq", "Arm first", true},
    {ARM("", "req_notify_cq h2.eq solicited"), "why not h2.ch", "or are not solicited", true},
    {ARM("", "req_notify_cq h2.eq; poll_cq h2.eq"), "why not h2.ch", "Arm", false},
    {ARM("", "poll_cq h2.eq; req_notify_cq h2.eq"), "why not", "Arm", false},
    {ARM("req_notify_cq h2.eq", ""), "why not h2.ch", "get_cq_event h2.ch", true},
    {ARM("req_notify_cq h2.eq", ""), "why not h2.ch", "Arm", false},
    {PAIR, "why not h1.ch", "h1.eq is not armed", true},

    {READS("9", "8"), "show qp h1.qp", "Give h1.qp max_rd_atomic=8", true},
    {READS("9", "8"), "why not h1.qp", "Give h1.qp max_rd_atomic=8", true},
    {READS("9", "8"), "why h1.qp", "Give h1.qp max_rd_atomic=8", true},
    {READS("9", "8"), "show qp h1.qp", "it refuses one more, and the connection ends.", true},
    {READS_OF(" profile=rxe", "9", "8"), "show qp h1.qp", "but forgets the oldest", true},
    {READS_OF(" profile=rxe", "9", "0"), "show qp h1.qp", "it refuses one more", true},
    {READS_OF(" profile=rxe", "9", "0"), "show qp h1.qp", "forgets", false},
    {READS("8", "8"), "show qp h1.qp", "Give", false},
    {READS("9", "8"), "show qp h2.qp", "Give", false},
    {READS("9", "8") "modify_qp h2.qp state=RESET", "show qp h1.qp", "Give", false},
};

/* Replaces each run of blanks and line ends in @s by one blank. */
static void join_lines(char *s)
{
    char *to = s;

    for (const char *from = s; *from; from++) {
        if (*from != ' ' && *from != '\n')
            *to++ = *from;
        else if (to > s && to[-1] != ' ')
            *to++ = ' ';
    }
    *to = '\0';
}

static void advice_is_given_where_it_applies_and_nowhere_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab l;
        size_t before;

        lab_open(&l, false);
        lab_run(&l, rows[i].story);
        fflush(l.f);
        before = l.n;
        lab_run(&l, rows[i].looks);
        fflush(l.f);
        join_lines(l.out + before);
        if ((strstr(l.out + before, rows[i].advice) != NULL) != rows[i].is_given)
            fail_msg("%s, behind\n%s\nprints %s", rows[i].looks, rows[i].story, l.out + before);
        lab_close(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advice_is_given_where_it_applies_and_nowhere_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
