/* SPDX-License-Identifier: MIT */
/* Tests that post_send, post_recv and post_list build the right work requests, or report an error
 * that names its cause.
 */
#include "cli/cmd/request.h"
#include "cli/lab_session.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"

static void begin(struct lab *l, const char *qp_more)
{
    lab_open(l, true);
    lab_run(l, "host h1 h2; link h1 h2\n"
               "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rr,rw as mr\n"
               "  create_cq as cq }\n");
    lab_run(l, qp_more);
    lab_run(l, "connect h1.qp h2.qp");
}

#define QPS    "on h1,h2 { create_qp pd send_cq=cq recv_cq=cq as qp }"
#define INLINE "on h1,h2 { create_qp pd send_cq=cq recv_cq=cq max_inline_data=32 as qp }"

/* Parses @line, one command, into a request.  The caller keeps the script as long as the request.
 */
static bool read_line(struct lab *l, const char *line, struct script *s, struct request *ret)
{
    *s = script_of(line);
    must_read(s, false);
    l->s->diag.kind = DIAG_NONE;
    return request_read(l->s, s->first, ret);
}

struct keys {
    uint64_t addr;
    uint32_t lkey, rkey;
    rdl_mr mr;
};

static struct keys keys_of(const struct lab *l, const char *path)
{
    struct rdl_mr_info info;
    struct keys k;

    assert_int_equal(rdl_find(l->s->lab, path, OBJ_MR, &k.mr.raw), RDL_OK);
    assert_int_equal(rdl_mr_info(l->s->lab, k.mr, &info), RDL_OK);
    k.addr = info.addr;
    k.lkey = info.lkey;
    k.rkey = info.rkey;
    return k;
}

static void remote_is_an_address_and_the_key_of_its_region(void **state)
{
    struct lab l;
    struct script s;
    struct request r;
    struct keys own, far;

    (void)state;
    begin(&l, QPS);
    own = keys_of(&l, "h1.mr");
    far = keys_of(&l, "h2.mr");
    assert_int_not_equal(own.rkey, far.rkey);
    assert_true(
        read_line(&l, "post_send h1.qp op=rdma_write sge=mr[0:64] remote=h2.mr[8]", &s, &r));
    assert_int_equal(r.send.opcode, WR_RDMA_WRITE);
    assert_int_equal(r.send.n_sge, 1);
    assert_int_equal(r.sge[0].lkey, own.lkey);
    assert_true(r.send.remote_addr == far.addr + 8);
    assert_int_equal(r.send.rkey, far.rkey);
    script_done(&s);

    assert_true(read_line(&l, "post_send h1.qp op=rdma_read sge=mr[0:8] remote=h2.mr rkey=0x12345",
                          &s, &r));
    assert_true(r.send.remote_addr == far.addr);
    assert_int_equal(r.send.rkey, 0x12345);
    script_done(&s);

    assert_true(read_line(&l, "post_send h1.qp op=rdma_read remote=0x1000 rkey=h2.mr", &s, &r));
    assert_true(r.send.remote_addr == 0x1000);
    assert_int_equal(r.send.rkey, far.rkey);
    script_done(&s);

    /* A bare name belongs to the requester. */
    assert_true(read_line(&l, "post_send h1.qp op=rdma_write remote=mr[16:32]", &s, &r));
    assert_true(r.send.remote_addr == own.addr + 16);
    script_done(&s);
    lab_close(&l);
}

static void each_operation_has_its_operands(void **state)
{
    struct lab l;
    struct script s;
    struct request r;
    struct keys own;

    (void)state;
    begin(&l, QPS);
    own = keys_of(&l, "h1.mr");
    assert_true(read_line(&l,
                          "post_send h1.qp op=atomic_cmp_and_swp sge=mr[0:8] remote=h2.mr[0] "
                          "compare=0xffffffffffffffff swap=7 fence signaled",
                          &s, &r));
    assert_true(r.send.compare_add == UINT64_MAX && r.send.swap == 7);
    assert_int_equal(r.send.flags, SF_FENCE | SF_SIGNALED);
    script_done(&s);
    assert_true(read_line(
        &l, "post_send h1.qp op=atomic_fetch_and_add sge=mr[0:8] remote=h2.mr[0] add=5", &s, &r));
    assert_true(r.send.compare_add == 5);
    script_done(&s);
    assert_true(read_line(&l, "post_send h1.qp op=send_with_inv inv=0x77 sge=mr[0:8]", &s, &r));
    assert_int_equal(r.send.invalidate_rkey, 0x77);
    script_done(&s);
    assert_true(read_line(&l, "post_send h1.qp op=local_inv inv=mr", &s, &r));
    assert_int_equal(r.send.invalidate_rkey, own.rkey);
    script_done(&s);
    assert_true(read_line(&l, "post_send h1.qp op=rdma_write_with_imm imm=0x01020304 remote=h2.mr",
                          &s, &r));
    assert_memory_equal(r.send.imm, "\1\2\3\4", 4);
    script_done(&s);
    /* Drivers increment the low byte of a key unless another one is given. */
    assert_true(read_line(&l, "post_send h1.qp op=reg_mr mr=mr access=lw,rr", &s, &r));
    assert_true(r.send.reg.mr.raw == own.mr.raw);
    assert_int_equal(r.send.reg.key, (own.rkey & ~0xffu) | ((own.rkey + 1) & 0xff));
    assert_int_equal(r.send.reg.access, ACC_LOCAL_WRITE | ACC_REMOTE_READ);
    script_done(&s);
    assert_true(read_line(&l, "post_send h1.qp op=reg_mr mr=h1.mr key=0x9ff", &s, &r));
    assert_int_equal(r.send.reg.key, 0x9ff);
    assert_int_equal(r.send.reg.access, 0);
    script_done(&s);
    lab_close(&l);
}

/* Executes @line, which must fail with @message and @remedy. */
static void must_refuse(struct lab *l, const char *line, const char *message, const char *remedy)
{
    const struct diag *d = &l->s->diag;

    if (lab_try(l, line))
        fail_msg("%s: is not refused", line);
    if (!strstr(d->message, message) || !strstr(d->remedy, remedy))
        fail_msg("%s: %s\n  %s", line, d->message, d->remedy);
}

static void what_is_wrong_with_a_request_is_named(void **state)
{
    static const struct {
        const char *rest, *message, *remedy;
    } rows[] = {
        {"op=rdma_write sge=mr[0:8]", "rdma_write needs remote=", "remote=h2.mr[0]"},
        {"op=rdma_read remote=0x1000", "an address alone has no key", "rkey="},
        {"op=rdma_read remote=h2.nothing[0]", "nothing", ""},
        {"op=rdma_read remote=0x1000 rkey=h2.pd", "h2.pd has no key", "region"},
        {"op=rdma_read remote=0x1000 rkey=h2.rm", "nothing is called \"h2.rm\"", "h2.mr"},
        {"remote=h2.mr[0]", "send has no remote=", "rdma_write, rdma_write_with_imm, rdma_read"},
        {"op=rdma_write remote=h2.mr add=1", "rdma_write has no add=", "atomic_fetch_and_add"},
        {"op=send imm=5", "send has no imm=", "send_with_imm"},
        {"inv=5", "send has no inv=", "send_with_inv"},
        {"op=atomic_cmp_and_swp remote=h2.mr swap=1", "needs compare=", "compare=N"},
        {"op=atomic_cmp_and_swp remote=h2.mr compare=1", "needs swap=", "swap=N"},
        {"op=atomic_fetch_and_add remote=h2.mr", "needs add=", "add=N"},
        {"op=local_inv", "local_inv needs inv=", "h2.mr"},
        {"op=local_inv inv=mr sge=mr[0:8]", "local_inv moves no data", "POST_SGE_COUNT"},
        {"op=local_inv inv=mr inline", "local_inv carries no data inline", "POST_INLINE_OPCODE"},
        {"op=rdma_read remote=h2.mr inline", "rdma_read carries no data inline", "POST_INLINE"},
        {"inline sge=mr[0:33]", "max_inline_data, which is 32", "leave out inline"},
        {"op=rdma_write remote=h2.mr inline sge=mr[0:33]", "which is 32", "max_inline_data="},
        {"op=rdma_read remote=h2.mr sge=mr[0:1],mr[0:1],mr[0:1],mr[0:1],mr[0:1]",
         "5 SGEs, but max_send_sge is 4", "max_send_sge="},
        {"op=reg_mr mr=mr[0:8]", "whole region", "name alone"},
        {"op=reg_mr mr=h2.mr", "h2.mr is not of the host of the queue pair", "POST_PARTS"},
        {"op=bind_mw mr=mr[0:8]", "bind_mw needs mw=", "mw=h1.mw"},
        {"op=bind_mw mr=mr[0:8] mw=w", "nothing is called \"h1.w\"", ""},
        {"ah=a", "only a UD queue pair has ah=", "peer"},
        {"remote_qpn=5", "only a UD queue pair has remote_qpn=", "peer"},
        {"op=recv", "no work request opcode is called", "rdma_read_with_inv"},
        {"op=write remote=h2.mr", "no work request opcode", "did you mean \"rdma_write\"?"},
        {"op=READ remote=h2.mr", "no work request opcode", "did you mean \"rdma_read\"?"},
        {"op=writ remote=h2.mr", "no work request opcode", "one of: rdma_write,"},
    };
    struct lab l;

    (void)state;
    begin(&l, INLINE);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char line[256];

        snprintf(line, sizeof(line), "post_send h1.qp %s", rows[i].rest);
        must_refuse(&l, line, rows[i].message, rows[i].remedy);
    }
    lab_run(&l, "expect count(post_send) == 0 and count(kick, host==h1, queue==19) == 0");
    must_refuse(&l, "post_recv h1.qp sge=mr[0:1],mr[0:1],mr[0:1],mr[0:1],mr[0:1]",
                "5 SGEs, but max_recv_sge is 4", "max_recv_sge=");
    lab_close(&l);
}

static void a_list_is_one_tick_and_one_kick(void **state)
{
    struct lab l;
    uint64_t before;

    (void)state;
    begin(&l, QPS);
    lab_run(&l, "write h1.mr[0] \"onetwo\"");
    before = rdl_tick(l.s->lab);
    lab_run(&l, "on h2 { post_list {\n"
                "  # two receives\n"
                "  post_recv qp wr_id=8 sge=mr[0:64]; post_recv qp wr_id=9 sge=mr[64:128] } }");
    assert_int_equal(rdl_tick(l.s->lab), before + 1);
    lab_run(&l, "post_list { post_send h1.qp wr_id=1 sge=mr[0:3]\n"
                "  post_send h1.qp wr_id=2 sge=mr[3:6] imm=7 signaled }");
    assert_int_equal(rdl_tick(l.s->lab), before + 2);
    lab_run(&l, "expect count(post_recv) == 2 and count(post_send) == 2\n"
                "expect count(kick, host==h2, queue==22) == 1\n"
                "expect count(kick, host==h1, queue==19) == 1\n"
                "run\n"
                "expect h2.mr[0:3] == \"one\" and h2.mr[64:67] == \"two\"\n"
                "expect h2.cq.wc[0].wr_id == 8 and h2.cq.wc[1].wr_id == 9\n"
                "expect h1.cq.wc[0].wr_id == 2 and h1.cq.wc[0].status == SUCCESS");
    lab_close(&l);
}

static void a_list_that_is_not_kicked_waits(void **state)
{
    struct lab l;

    (void)state;
    begin(&l, QPS);
    lab_run(&l, "post_list nokick { post_send h1.qp; post_send h1.qp }; run\n"
                "expect count(fetch, host==h1) == 0 and h1.qp.sq.driver.avail_idx == 2\n"
                "post_recv h2.qp; post_recv h2.qp; kick h1.qp.sq; run\n"
                "expect count(fetch, host==h1) == 2\n"
                "post_list { # nothing\n }");
    lab_close(&l);
}

static void the_request_that_is_refused_is_named_and_those_before_it_are_posted(void **state)
{
    struct lab l;

    (void)state;
    begin(&l, "on h1,h2 { create_qp pd send_cq=cq recv_cq=cq max_send_wr=3 as qp }");
    must_refuse(&l,
                "post_list { post_send h1.qp wr_id=1; post_send h1.qp wr_id=2\n"
                "post_send h1.qp wr_id=3 op=rdma_read remote=h2.mr inline; post_send h1.qp }",
                "request 3 of 4 was refused: rdma_read carries no data inline; 2 were posted",
                "POST_INLINE_OPCODE");
    lab_run(&l, "expect count(post_send) == 2 and count(kick, host==h1, queue==19) == 1");
    must_refuse(&l, "post_list { post_send h1.qp; post_send h1.qp }",
                "request 2 of 2 was refused: the queue is full; 1 was posted",
                "none of its 3 sends is signaled");
    lab_run(&l, "expect h1.qp.unsignaled == 3\non h1,h2 { modify_qp qp state=RESET }\n"
                "connect h1.qp h2.qp; expect h1.qp.unsignaled == 0\n"
                "repeat 2 { post_send h1.qp signaled }\npost_send h1.qp\n"
                "expect h1.qp.unsignaled == 1");
    must_refuse(&l, "post_list { post_send h1.qp; post_send h1.qp }",
                "request 1 of 2 was refused: the queue is full; 0 were posted", "more entries");
    /* An unknown name is found before anything is posted. */
    must_refuse(&l, "post_list { post_recv h1.qp; post_recv h1.qp sge=rm[0:8] }",
                "nothing is called \"h1.rm\"", "h1.mr");
    lab_run(&l, "expect count(post_send) == 6 and count(post_recv) == 0");
    lab_close(&l);
}

static void a_list_takes_requests_of_one_queue_and_nothing_else(void **state)
{
    struct lab l;

    (void)state;
    begin(&l, QPS);
    must_refuse(&l, "post_list { post_send h1.qp; post_send h2.qp }", "one queue of one queue pair",
                "another post_list");
    must_refuse(&l, "post_list { post_send h1.qp; post_recv h1.qp }", "one queue of one queue pair",
                "another post_list");
    must_refuse(&l, "post_list { post_send h1.qp; run }", "a list of work requests has no run",
                "post_send");
    must_refuse(&l, "post_list { post_send h1.qp; post_send h1.qp nokick }", "kicked as a whole",
                "post_list nokick");
    lab_run(&l, "expect count(post_send) == 0");
    lab_close(&l);
}

/* Lines and JSON have one written form each. */
static void a_list_is_written_as_it_is_read(void **state)
{
    static const char lines[] = "post_list nokick {\n"
                                "    post_send h1.qp wr_id=1 op=rdma_write sge=mr[0:64] "
                                "remote=h2.mr[0] rkey=0x105 signaled\n"
                                "    post_send h1.qp op=local_inv inv=77\n"
                                "}\n";
    char *json = converted(lines, false), *back = converted(json, true);

    (void)state;
    assert_non_null(strstr(json, "{\"do\": \"post_list\", \"flags\": [\"nokick\"], \"steps\": ["));
    assert_non_null(strstr(json, "\"op\": \"rdma_write\", \"sge\": [\"mr[0:64]\"], \"remote\": "
                                 "\"h2.mr[0]\", \"rkey\": \"0x105\""));
    assert_non_null(strstr(json, "\"inv\": 77}"));
    assert_non_null(strstr(back, "op=rdma_write sge=mr[0:64] remote=h2.mr[0] rkey=0x105 signaled"));
    assert_non_null(strstr(back, "op=local_inv inv=77"));
    free(json);
    free(back);
}

static void a_key_is_a_number_or_a_name(void **state)
{
    static const struct {
        const char *rkey;
        bool good;
    } rows[] = {
        {"0", true},           {"0xffffffff", true},  {"4294967295", true}, {"h2.mr", true},
        {"mr", true},          {"4294967296", false}, {"12x", false},       {"h2.mr[0]", false},
        {"h2.mr.rkey", false}, {"-1", false},         {"\"\"", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char line[64];
        struct script s;
        struct diag d = {.kind = DIAG_NONE};

        snprintf(line, sizeof(line), "post_send h1.qp rkey=%s", rows[i].rkey);
        s = script_of(line);
        if (line_read_script(&s, &d) != rows[i].good)
            fail_msg("%s: %s", line, d.message);
        script_done(&s);
    }
}

/* Two queue pairs of UD, in RESET. */
#define DATAGRAMS                                                                                  \
    "host h1 h2; link h1 h2\n"                                                                     \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq as cq\n"               \
    "  create_qp pd type=ud send_cq=cq recv_cq=cq as qp }\n"

static void a_queue_pair_is_named_by_itself_or_by_its_number(void **state)
{
    static const struct {
        const char *remote, *message, *remedy;
    } wrong[] = {
        {"h2.cq", "h2.cq is a completion queue, not a queue pair", "show h2.cq"},
        {"h2.none", "nothing is called \"h2.none\"", ""},
        {"16777216", "16777216 is out of range", "16777215"},
        {"h2.qp.sq", "is not the number of a queue pair", ""},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, DATAGRAMS);
    must_refuse(&l, "post_send h1.qp sge=mr[0:64]",
                "a datagram needs ah=, remote_qpn=, remote_qkey=", "each request names");
    must_refuse(&l, "post_send h1.qp sge=mr[0:64] remote_qpn=3",
                "a datagram needs ah=, remote_qkey=", "each request names");
    must_refuse(&l, "connect h1.qp h2.qp", "h1.qp is UD, which has no connection", "remote_qpn=");
    lab_run(&l, "on h1,h2 { modify_qp qp state=INIT pkey_index=0 port=1 qkey=5\n"
                "  modify_qp qp state=RTR; modify_qp qp state=RTS sq_psn=0 }\n"
                "create_ah h1.pd dgid=h2 as ah\n"
                "post_recv h2.qp sge=mr[0:1k]; post_recv h2.qp sge=mr[0:1k]\n"
                "expect h2.qp.qpn == 3\n"
                "post_send h1.qp sge=mr[0:64] ah=ah remote_qpn=h2.qp remote_qkey=5\n"
                "post_send h1.qp sge=mr[0:64] ah=ah remote_qpn=3 remote_qkey=5; run\n"
                "expect h2.cq.count == 2");
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        char line[128];

        snprintf(line, sizeof(line),
                 "post_send h1.qp sge=mr[0:64] ah=ah remote_qpn=%s remote_qkey=5", wrong[i].remote);
        must_refuse(&l, line, wrong[i].message, wrong[i].remedy);
    }
    lab_run(&l, "expect count(post_send) == 2\n"
                "on h1,h2 { create_qp pd send_cq=cq recv_cq=cq as rc }\n"
                "modify_qp h1.rc state=INIT pkey_index=0 port=1 access=rw\n"
                "modify_qp h1.rc state=RTR ah=h2 mtu=1024 dest_qpn=h2.rc rq_psn=0 "
                "max_dest_rd_atomic=1 min_rnr_timer=12\n"
                "expect h1.rc.dest_qpn == h2.rc.qpn");
    lab_close(&l);
}

/* The remedy is followed by the word to explain: a rule, or the status of the lab. */
static void a_refusal_names_what_to_explain(void **state)
{
    static const struct {
        const char *line, *remedy;
    } rows[] = {
        {"post_send h1.qp op=rdma_read remote=h2.mr inline", "\"explain POST_INLINE_OPCODE\""},
        {"post_send h1.qp sge=mr[0:1],mr[0:1],mr[0:1],mr[0:1],mr[0:1]",
         "create_qp takes max_send_sge= (explain POST_SGE_COUNT)"},
        {"host h1", "choose another name (explain ERR_EXISTS)"},
    };
    struct lab l;

    (void)state;
    begin(&l, QPS);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        must_refuse(&l, rows[i].line, "", rows[i].remedy);
    lab_close(&l);
}

/* A device judges bytes outside of a region.  It never sees where a piece of no bytes is. */
static void an_empty_slice_is_inside_of_its_region(void **state)
{
    static const struct {
        const char *line, *says; /* NULL: it is taken */
    } rows[] = {
        {"post_send h1.qp sge=mr[4097:4097]", "begins behind its region, which has 4096 bytes"},
        {"post_recv h1.qp sge=mr[0:8],mr[5000:5000]", "begins behind its region"},
        {"write h1.mr[4097:4097] fill=1", "begins behind its region"},
        {"read h1.mr[4097:4097]", "begins behind its region"},
        {"post_send h1.qp sge=mr[8:4]", "the end is before the beginning"},
        {"post_send h1.qp sge=mr[4097:4096]", "the end is before the beginning"},
        {"post_send h1.qp sge=mr[0:0]", NULL},
        {"post_send h1.qp sge=mr[8:8],mr[0:8]", NULL},
        {"post_send h1.qp sge=mr[4096:4096]", NULL},
        {"post_send h1.qp sge=mr[4090:5000]", NULL}, /* will be refused by the device */
        {"write h1.mr[8:8] fill=1", NULL},
        {"read h1.mr[4096:4096]", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab l;

        begin(&l, QPS);
        assert_int_equal(lab_try(&l, rows[i].line), !rows[i].says);
        if (rows[i].says && !strstr(l.s->diag.message, rows[i].says))
            fail_msg("%s: %s", rows[i].line, l.s->diag.message);
        if (rows[i].says)
            assert_true(l.s->diag.remedy[0] != '\0');
        lab_close(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remote_is_an_address_and_the_key_of_its_region),
        cmocka_unit_test(each_operation_has_its_operands),
        cmocka_unit_test(what_is_wrong_with_a_request_is_named),
        cmocka_unit_test(a_list_is_one_tick_and_one_kick),
        cmocka_unit_test(a_list_that_is_not_kicked_waits),
        cmocka_unit_test(the_request_that_is_refused_is_named_and_those_before_it_are_posted),
        cmocka_unit_test(a_list_takes_requests_of_one_queue_and_nothing_else),
        cmocka_unit_test(a_list_is_written_as_it_is_read),
        cmocka_unit_test(a_key_is_a_number_or_a_name),
        cmocka_unit_test(a_queue_pair_is_named_by_itself_or_by_its_number),
        cmocka_unit_test(a_refusal_names_what_to_explain),
        cmocka_unit_test(an_empty_slice_is_inside_of_its_region),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
