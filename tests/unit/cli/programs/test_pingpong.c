/* SPDX-License-Identifier: MIT */
/* Tests of the pingpong programs between two hosts of one lab.  The test carries the lines between
 * them.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/lang/words.h"
#include "cli/programs/pingpong.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "rdmalab/fault.h"
#include "rdmalab/lab.h"
#include "testing.h"

#define SIDES     2u
#define STEPS_MAX 2000000u
#define ARRAY(a)  (sizeof(a) / sizeof((a)[0]))

#define LINE(qpn, mark, host)                                                                      \
    "LID 0x0000, QPN 0x00000" qpn ", PSN 0xfffffd" mark " GID ::ffff:10.0.0." host "\n"
#define LOCAL(qpn, mark, host) "  local address:  " LINE(qpn, mark, host)
#define REMOTE(qpn, host)      "  remote address: " LINE(qpn, ",", host)

struct pair {
    struct rdl_lab *lab;
    struct pingpong p[SIDES]; /* server and client */
    FILE *out[SIDES];
    char *text[SIDES];
    size_t n[SIDES];
};

static void start(struct pair *t, const struct pingpong_config *config, uint32_t loss_ppm)
{
    static const char *const names[SIDES] = {"h1", "h2"};
    const struct rdl_lab_config lab = {.seed = 7, .check_invariants = true};
    const struct rdl_link_config link = {"h1", "h2", 1000, 0, loss_ppm};
    rdl_link ret;

    *t = (struct pair){0};
    assert_int_equal(rdl_lab_new(&lab, &t->lab), RDL_OK);
    for (unsigned i = 0; i < SIDES; i++) {
        const struct rdl_host_config host = {.name = names[i]};
        struct pingpong_config c = *config;

        assert_int_equal(rdl_host_add(t->lab, &host, &c.host), RDL_OK);
        snprintf(c.host_name, sizeof(c.host_name), "%s", names[i]);
        snprintf(c.server, sizeof(c.server), "%s", i == 1 ? "h1" : "");
        t->out[i] = open_memstream(&t->text[i], &t->n[i]);
        pingpong_init(&t->p[i], t->lab, &c, t->out[i]);
    }
    assert_int_equal(rdl_link_add(t->lab, &link, &ret), RDL_OK);
}

static void end(struct pair *t)
{
    for (unsigned i = 0; i < SIDES; i++) {
        pingpong_done(&t->p[i]);
        fclose(t->out[i]);
        free(t->text[i]);
    }
    rdl_lab_free(t->lab);
}

/* The attributes must be those of the original programs. */
static void check_attributes(const struct pair *t, const struct pingpong *p, uint32_t i)
{
    struct rdl_ah_attr ah;
    struct rdl_qp_info qp;

    assert_int_equal(rdl_qp_info(t->lab, p->ends[i].qp, &qp), RDL_OK);
    assert_int_equal(qp.type, p->config.kind->qp_type);
    assert_int_equal(qp.attr.state, QPS_RTS);
    assert_int_equal(qp.attr.sq_psn, 0xfffffd);
    ah = qp.attr.ah;
    if (qp.type == QPT_UD) {
        assert_int_equal(qp.attr.qkey, 0x11111111);
        assert_int_equal(rdl_ah_info(t->lab, p->ah, &ah), RDL_OK);
    }
    assert_int_equal(ah.sl, 3);
    assert_int_equal(ah.hop_limit, 1);
    assert_memory_equal(ah.dgid, p->ends[i].remote_gid, sizeof(ah.dgid));
}

static void tell(const struct pingpong *from, struct pingpong *to)
{
    char line[PINGPONG_LINE_BYTES];

    for (uint32_t i = 0; i < from->config.kind->n_lines; i++) {
        pingpong_line(from, i, line);
        assert_true(pingpong_remote(to, i, line));
    }
}

/* Exchanges what the TCP connection carries. */
static void exchange(struct pair *t)
{
    struct pingpong *server = &t->p[0], *client = &t->p[1];

    if (server->state == PP_EXCHANGE && client->state >= PP_EXCHANGE &&
        client->state < PP_CONNECTED)
        tell(client, server);
    if (server->state == PP_CONNECTED && client->state == PP_EXCHANGE)
        tell(server, client);
    if (server->state == PP_CONNECTED && client->state == PP_CONNECTED) {
        for (unsigned side = 0; side < SIDES; side++) {
            for (uint32_t i = 0; i < t->p[side].config.n_qp; i++)
                check_attributes(t, &t->p[side], i);
        }
        pingpong_start(server, rdl_now_ns(t->lab));
        pingpong_start(client, rdl_now_ns(t->lab));
    }
}

/* Lets both continue a little.  Returns false if they have ended or one has failed. */
static bool play_once(struct pair *t)
{
    const struct rdl_limits none = {0};

    for (unsigned i = 0; i < SIDES; i++)
        pingpong_go(&t->p[i], rdl_now_ns(t->lab));
    if ((t->p[0].state == PP_DONE && t->p[1].state == PP_DONE) || t->p[0].state == PP_FAILED ||
        t->p[1].state == PP_FAILED)
        return false;
    exchange(t);
    if (rdl_step(t->lab, RDL_STEP_TICK, none) == RDL_ERR_IDLE)
        assert_int_equal(rdl_run(t->lab, rdl_now_ns(t->lab) + 1000000, none), RDL_OK);
    return true;
}

/* Loses message @nth of the client. */
static void lose_message(struct pair *t, uint32_t nth)
{
    const struct rdl_fault_config config = {.kind = FLT_DROP,
                                            .from = t->p[1].config.host,
                                            .opcode = RDL_ANY,
                                            .syndrome = RDL_ANY,
                                            .psn = RDL_ANY,
                                            .dest_qpn = RDL_ANY,
                                            .nth = nth,
                                            .count = 1};
    rdl_fault ret;

    assert_int_equal(rdl_fault_add(t->lab, &config, &ret), RDL_OK);
}

/* Lets both continue until they have ended or one has failed. */
static void play(struct pair *t)
{
    for (uint32_t n = 0; n < STEPS_MAX; n++) {
        if (!play_once(t))
            return;
    }
    fail_msg("it does not end");
}

static struct pingpong_config config_of(uint32_t size, uint32_t mtu, uint32_t rx_depth, bool events)
{
    return (struct pingpong_config){.kind = pingpong_kind(PROGRAM_rc_pingpong),
                                    .size = size,
                                    .iters = 20,
                                    .n_qp = 1,
                                    .mtu = mtu,
                                    .rx_depth = rx_depth,
                                    .use_events = events,
                                    .psn = 0xfffffd,
                                    .sl = 3,
                                    .check = true};
}

static void both_ends_print_what_the_original_prints(void **state)
{
    static const struct {
        uint32_t program;
        const char *local[SIDES], *remote[SIDES];
    } rows[] = {
        {PROGRAM_rc_pingpong,
         {LOCAL("2", ",", "1"), LOCAL("3", ",", "2")},
         {REMOTE("3", "2"), REMOTE("2", "1")}},
        {PROGRAM_uc_pingpong,
         {LOCAL("2", ",", "1"), LOCAL("3", ",", "2")},
         {REMOTE("3", "2"), REMOTE("2", "1")}},
        {PROGRAM_ud_pingpong,
         {LOCAL("2", ":", "1"), LOCAL("3", ":", "2")},
         {REMOTE("3", "2"), REMOTE("2", "1")}},
    };

    (void)state;
    for (size_t n = 0; n < ARRAY(rows); n++) {
        struct pingpong_config c = config_of(4096, MTU_1024, 500, false);
        struct pair t;

        c.kind = pingpong_kind(rows[n].program);
        start(&t, &c, 0);
        play(&t);
        for (unsigned i = 0; i < SIDES; i++) {
            fflush(t.out[i]);
            assert_int_equal(t.p[i].state, PP_DONE);
            assert_non_null(strstr(t.text[i], rows[n].local[i]));
            assert_non_null(strstr(t.text[i], rows[n].remote[i]));
            assert_non_null(strstr(t.text[i], "163840 bytes in 0."));
            assert_non_null(strstr(t.text[i], "20 iters in 0."));
        }
        end(&t);
    }
}

static void each_kind_is_the_original_s(void **state)
{
    static const struct {
        uint32_t program, type, size;
    } rows[] = {
        {PROGRAM_rc_pingpong, QPT_RC, 4096},
        {PROGRAM_uc_pingpong, QPT_UC, 4096},
        {PROGRAM_ud_pingpong, QPT_UD, 2048},
        {PROGRAM_srq_pingpong, QPT_RC, 4096},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY(rows); i++) {
        const struct pingpong_kind *k = pingpong_kind(rows[i].program);

        assert_string_equal(k->name, enum_name(&words_program, rows[i].program));
        assert_int_equal(k->qp_type, rows[i].type);
        assert_int_equal(k->size, rows[i].size);
    }
}

static void unreliable_ones_work_with_every_size_and_option_and_leave_at_once(void **state)
{
    static const struct {
        uint32_t program, size, mtu, rx_depth, gid_index;
        bool events;
    } rows[] = {
        {PROGRAM_uc_pingpong, 1, MTU_256, 1, 0, false},
        {PROGRAM_uc_pingpong, 64, MTU_1024, 500, 1, true},
        {PROGRAM_uc_pingpong, 4097, MTU_4096, 2, 0, true},
        {PROGRAM_uc_pingpong, 65536, MTU_512, 3, 1, false},
        {PROGRAM_ud_pingpong, 1, 0, 1, 0, false},
        {PROGRAM_ud_pingpong, 64, 0, 500, 1, true},
        {PROGRAM_ud_pingpong, 4096, 0, 2, 1, false},
        {PROGRAM_ud_pingpong, 4095, 0, 3, 0, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY(rows); i++) {
        struct pingpong_config c =
            config_of(rows[i].size, rows[i].mtu, rows[i].rx_depth, rows[i].events);
        struct pair t;

        c.kind = pingpong_kind(rows[i].program);
        c.gid_index = rows[i].gid_index;
        start(&t, &c, 0);
        play(&t);
        for (unsigned side = 0; side < SIDES; side++) {
            assert_int_equal(t.p[side].state, PP_DONE);
            assert_int_equal(t.p[side].n_rcvd, c.iters);
            assert_int_equal(t.p[side].linger_ns, 0);
        }
        end(&t);
    }
}

static void queue_pairs_that_share_their_receives_work_with_every_number_and_loss(void **state)
{
    static const struct {
        uint32_t n_qp, size, mtu, rx_depth, loss_ppm;
        bool events;
    } rows[] = {
        {1, 64, MTU_1024, 1, 0, false},     {16, 4096, MTU_1024, 500, 0, false},
        {16, 64, MTU_256, 16, 0, true},     {3, 65536, MTU_4096, 4, 0, false},
        {7, 4097, MTU_512, 8, 10000, true}, {16, 4096, MTU_1024, 500, 10000, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY(rows); i++) {
        struct pingpong_config c =
            config_of(rows[i].size, rows[i].mtu, rows[i].rx_depth, rows[i].events);
        struct pair t;

        c.kind = pingpong_kind(PROGRAM_srq_pingpong);
        c.n_qp = rows[i].n_qp;
        c.iters = 100; /* all together */
        start(&t, &c, rows[i].loss_ppm);
        play(&t);
        for (unsigned side = 0; side < SIDES; side++) {
            assert_string_equal(t.p[side].error, "");
            assert_int_equal(t.p[side].state, PP_DONE);
            assert_in_range(t.p[side].n_rcvd, c.iters, c.iters + c.n_qp);
        }
        end(&t);
    }
}

static void lines_of_queue_pairs_that_are_not_there_are_zeros(void **state)
{
    struct pingpong_config c = config_of(64, MTU_1024, 16, false);
    struct pair t;
    char line[PINGPONG_LINE_BYTES];

    (void)state;
    c.kind = pingpong_kind(PROGRAM_srq_pingpong);
    c.n_qp = 2;
    assert_int_equal(c.kind->n_lines, 256);
    start(&t, &c, 0);
    while (t.p[0].state != PP_EXCHANGE)
        play_once(&t);
    pingpong_line(&t.p[0], 1, line);
    assert_string_equal(line, "0000:000003:fffffd:00000000000000000000ffff0a000001");
    pingpong_line(&t.p[0], 2, line);
    assert_string_equal(line, "0000:000000:000000:00000000000000000000000000000000");
    end(&t);
}

/* Like the originals, nothing is sent again. */
static void after_a_lost_message_the_unreliable_ones_wait(void **state)
{
    static const uint32_t programs[] = {PROGRAM_uc_pingpong, PROGRAM_ud_pingpong};
    const struct rdl_limits none = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY(programs); i++) {
        struct pingpong_config c = config_of(64, MTU_1024, 500, false);
        struct pair t;

        c.kind = pingpong_kind(programs[i]);
        start(&t, &c, 0);
        lose_message(&t, 5);
        while (t.p[1].n_sent < 5)
            play_once(&t);
        for (unsigned n = 0; n < 100; n++) {
            play_once(&t);
            assert_int_equal(rdl_run(t.lab, rdl_now_ns(t.lab) + 1000000, none), RDL_OK);
        }
        for (unsigned side = 0; side < SIDES; side++) {
            assert_int_equal(t.p[side].state, PP_RUN);
            assert_int_equal(t.p[side].n_rcvd, 4);
        }
        end(&t);
    }
}

static void every_size_and_option_works_with_loss(void **state)
{
    static const struct {
        uint32_t size, mtu, rx_depth, loss_ppm;
        bool events;
    } rows[] = {
        {1, MTU_256, 1, 0, false},         {64, MTU_1024, 500, 0, true},
        {4095, MTU_512, 2, 10000, true},   {4097, MTU_4096, 500, 100000, false},
        {65536, MTU_2048, 3, 10000, true}, {100000, MTU_256, 500, 1000, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY(rows); i++) {
        const struct pingpong_config c =
            config_of(rows[i].size, rows[i].mtu, rows[i].rx_depth, rows[i].events);
        struct pair t;

        start(&t, &c, rows[i].loss_ppm);
        play(&t);
        assert_int_equal(t.p[0].state, PP_DONE);
        assert_int_equal(t.p[1].state, PP_DONE);
        assert_int_equal(t.p[0].n_rcvd, c.iters);
        assert_int_equal(t.p[1].n_rcvd, c.iters);
        end(&t);
    }
}

static void a_changed_byte_is_found(void **state)
{
    const struct pingpong_config c = config_of(9000, MTU_1024, 500, false);
    const struct rdl_limits none = {0};
    const uint8_t wrong = 0x55;
    struct pair t;

    (void)state;
    start(&t, &c, 0);
    while (t.p[1].n_sent < 3) {
        for (unsigned i = 0; i < SIDES; i++)
            pingpong_go(&t.p[i], rdl_now_ns(t.lab));
        exchange(&t);
        (void)!rdl_step(t.lab, RDL_STEP_TICK, none);
        /* Changes the client's buffer behind its back, so that it sends wrong data. */
        if (t.p[1].n_sent == 2)
            assert_int_equal(rdl_mem_write(t.lab, t.p[1].config.host, t.p[1].buf + 5000, &wrong, 1),
                             RDL_OK);
    }
    play(&t);
    assert_int_equal(t.p[0].state, PP_FAILED);
    assert_non_null(strstr(t.p[0].error, "invalid data in message"));
    assert_non_null(strstr(t.p[0].error, "byte 5000: 0x55"));
    end(&t);
}

static void too_few_receives_of_the_right_size_end_with_an_error(void **state)
{
    const struct pingpong_config c = config_of(4096, MTU_1024, 1, false);
    struct pair t;

    (void)state;
    start(&t, &c, 0);
    t.p[1].config.size = 64; /* both sides must agree on the size, which is not sent */
    play(&t);
    assert_int_equal(t.p[0].state, PP_FAILED);
    assert_non_null(strstr(t.p[0].error, "64 bytes, not 4096"));
    end(&t);
}

static void a_line_has_52_bytes_and_all_of_them_count(void **state)
{
    static const char good[PINGPONG_LINE_BYTES] =
        "0000:000011:842304:00000000000000000000ffff0a000101";
    static const size_t separators[] = {4, 11, 18};
    const struct pingpong_config c = config_of(64, MTU_1024, 1, false);
    struct pair t;
    char line[PINGPONG_LINE_BYTES];

    (void)state;
    start(&t, &c, 0);
    t.p[0].state = PP_EXCHANGE;
    assert_true(pingpong_remote(&t.p[0], 0, good));
    assert_int_equal(t.p[0].ends[0].remote_qpn, 0x11);
    assert_int_equal(t.p[0].ends[0].remote_psn, 0x842304);
    assert_int_equal(t.p[0].ends[0].remote_gid[15], 1);
    for (size_t i = 0; i < sizeof(good) - 1; i++) {
        memcpy(line, good, sizeof(line));
        line[i] = 'x';
        t.p[0].state = PP_EXCHANGE;
        assert_false(pingpong_remote(&t.p[0], 0, line));
        assert_int_equal(t.p[0].state, PP_FAILED);
    }
    for (size_t i = 0; i < ARRAY(separators); i++)
        assert_int_equal(good[separators[i]], ':');
    end(&t);
}

static void a_server_knows_two_kinds_of_clients(void **state)
{
    struct pingpong_data d;
    size_t at;

    (void)state;
    assert_true(pingpong_data_init(&d, 5000));
    for (uint32_t i = 0; i < 3; i++) { /* of rdmalab: marks count up */
        pingpong_data_mark(&d, i);
        memcpy(d.got, d.want, d.bytes);
        assert_true(pingpong_data_take(&d, true, &at));
    }
    assert_false(pingpong_data_take(&d, true, &at)); /* an old mark */
    pingpong_data_done(&d);

    assert_true(pingpong_data_init(&d, 5000));
    memset(d.got, 0x7b, d.bytes); /* of the originals: always the same */
    assert_true(pingpong_data_take(&d, true, &at));
    assert_true(pingpong_data_take(&d, true, &at));
    d.got[4999] = 0;
    assert_false(pingpong_data_take(&d, true, &at));
    assert_int_equal(at, 4999);
    pingpong_data_done(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_print_what_the_original_prints),
        cmocka_unit_test(each_kind_is_the_original_s),
        cmocka_unit_test(every_size_and_option_works_with_loss),
        cmocka_unit_test(unreliable_ones_work_with_every_size_and_option_and_leave_at_once),
        cmocka_unit_test(queue_pairs_that_share_their_receives_work_with_every_number_and_loss),
        cmocka_unit_test(lines_of_queue_pairs_that_are_not_there_are_zeros),
        cmocka_unit_test(after_a_lost_message_the_unreliable_ones_wait),
        cmocka_unit_test(a_changed_byte_is_found),
        cmocka_unit_test(too_few_receives_of_the_right_size_end_with_an_error),
        cmocka_unit_test(a_line_has_52_bytes_and_all_of_them_count),
        cmocka_unit_test(a_server_knows_two_kinds_of_clients),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
