/* SPDX-License-Identifier: MIT */
/* A message of o2iblnd that a queue pair sends is named wherever its packet is printed or drawn,
 * and faults find it.
 */
#include "cli/lab_session.h"
#include "emu/facts/enum/lnet_msg.h"
#include "lnet_frames.h"

#define PAIR                                                                                       \
    "host h1 h2; link h1 h2 latency=1us\n"                                                         \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=16k access=lw,rr,rw as mr; create_cq cqe=16 as cq\n" \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                               \
    "connect h1.qp h2.qp timeout=4 mtu=256 quiet\n"

#define LINES_MAX 16384u

/* Appends the lines with which h1 sends a message of @type to h2. */
static void add_send(struct text *t, enum lnet_msg_type type, bool big)
{
    const struct lnet_msg m = lnet_sample(type, big);
    uint8_t bytes[LNET_MSG_BYTES_MAX];
    const size_t n = lnet_build(&m, bytes);

    text_add(t, "post_recv h2.qp wr_id=7 sge=mr[4k:8k]\nwrite h1.mr[0] hex=");
    text_add_hex(t, bytes, n, "");
    text_addf(t, "\npost_send h1.qp wr_id=1 sge=mr[0:%zu] signaled\n", n);
}

/* Fails unless @asked prints @words in their order, after h1 has sent messages of @types. */
static void assert_named(const enum lnet_msg_type *types, size_t n, const char *asked,
                         const char *words)
{
    static char lines[LINES_MAX];
    struct text t = text_on(lines, sizeof(lines));
    struct lab l;
    char *text;

    text_add(&t, PAIR);
    for (size_t i = 0; i < n; i++) {
        add_send(&t, types[i], i % 2 != 0);
        text_add(&t, i + 1 < n ? "run\n" : "");
    }
    assert_false(t.cut);
    lab_open(&l, true);
    lab_run(&l, lines);
    text = lab_answer(&l, asked);
    assert_in_order(text, words);
    free(text);
    lab_close(&l);
}

static void run_names_it_where_it_is_sent_and_received(void **state)
{
    static const enum lnet_msg_type types[] = {LNET_MSG_PUT_REQ, LNET_MSG_PUT_DONE};

    (void)state;
    assert_named(types, 1, "run",
                 "tx RC_SEND_ONLY h2.qp, PUT_REQ credits=1 cookie=0x2a; PUT bytes=65536\n timer "
                 "rx ACCEPT, PUT_REQ RC_ACKNOWLEDGE h1.qp\n idle");
    assert_named(types, 2, "run", "tx PUT_DONE cookie=0x2b status=-61\n rx PUT_DONE idle");
}

/* The first packet of a message of several has its name. */
static void looks_at_the_past_name_it(void **state)
{
    static const enum lnet_msg_type types[] = {LNET_MSG_GET_REQ, LNET_MSG_NOOP};
    static const struct {
        const char *asked, *words;
    } rows[] = {
        {"run; show events kinds=tx", "RC_SEND_ONLY GET_REQ frags=3\n NOOP credits=1\n"},
        {"run; show events kinds=tx json", "\"lnet\":\"GET_REQ frags=3\"} \"lnet\":\"NOOP"},
        {"run; show events kinds=tx csv", "GET_REQ NOOP credits=1"},
        {"run; export ladder -", "SEND_ONLY ackreq GET_REQ credits=1 cookie=0x2a SEND_ONLY NOOP"},
        {"run; why h2.cq.wc[0]", "h1.qp's SEND wr_id=1 with GET_REQ credits=1 cookie=0x2a (psn=0)"},
        {"run 200ns; show packet last", "type 0xd0 NOOP credits returned 1"},
        {"run 200ns; show packet last json", "\"name\":\"credits returned\" \"value\":\"1\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_named(types, ARRAY_LEN(types), rows[i].asked, rows[i].words);
}

/* Each of these faults hits the second message, and it alone. */
static void faults_find_it(void **state)
{
    static const enum lnet_msg_type types[] = {LNET_MSG_PUT_REQ, LNET_MSG_PUT_DONE};
    static const struct {
        const char *asked, *words;
    } rows[] = {
        {"drop the next PUT_DONE; run 10us", "lost RC_SEND_ONLY f1, PUT_DONE"},
        {"drop where lnet_type == PUT_DONE; run 10us", "lost f1, PUT_DONE"},
        {"drop where lnet_done_cookie == 0x2b and lnet_credits > 0; run 10us", "lost f1, PUT_DONE"},
        {"drop where lnet_done_status == 0xffffffc3; run 10us", "lost f1, PUT_DONE"},
        {"forge the next PUT_DONE: set lnet_credits to 99; run 10us",
         "fault FORGE f1, PUT_DONE credits=99 rx ACCEPT, PUT_DONE credits=99"},
        {"corrupt next field=lnet_done_cookie; run 10us", "CORRUPT drop BAD_ICRC"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_named(types, ARRAY_LEN(types), rows[i].asked, rows[i].words);
}

static void ordinary_traffic_has_no_such_words(void **state)
{
    struct lab l;
    char *text;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, PAIR "post_recv h2.qp sge=mr[0:1k]\npost_send h1.qp sge=mr[0:64]\n"
                     "drop the next PUT_DONE\n");
    text = lab_answer(&l, "run; show events; export ladder -; show packet last; why h2.cq.wc[0]");
    assert_null(strstr(text, "o2iblnd"));
    assert_null(strstr(text, "lnet"));
    free(text);
    text = lab_answer(&l, "show faults");
    assert_in_order(text, "f1 0 0");
    free(text);
    lab_close(&l);
}

static void help_tells_what_has_no_byte_order_of_its_own(void **state)
{
    struct lab l;
    char *text;

    (void)state;
    lab_open(&l, true);
    text = lab_answer(&l, "help lnet_start");
    assert_in_order(text, "[endian=little|big] fields of o2iblnd header of LNet little-endian");
    free(text);
    lab_close(&l);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_names_it_where_it_is_sent_and_received),
        cmocka_unit_test(looks_at_the_past_name_it),
        cmocka_unit_test(faults_find_it),
        cmocka_unit_test(ordinary_traffic_has_no_such_words),
        cmocka_unit_test(help_tells_what_has_no_byte_order_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
