/* SPDX-License-Identifier: MIT */
/* Tests of `why` of memory: who wrote the bytes, and where they came from. */
#include "cli/lab_session.h"

#define READERS                                                                                    \
    "host h1 h2; link h1 h2 latency=1us\n"                                                         \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rr,rw as mr; create_cq cqe=16 as cq\n"  \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                               \
    "connect h1.qp h2.qp mtu=256\n"

static void a_part_of_a_message_came_from_a_part(void **state)
{
    (void)state;
    assert_line_prints(STORY, "why h2.mr[8:16]", "came from h1.mr[8:16],");
    assert_line_prints(STORY, "why h2.mr[60:72]", "came from h1.mr[60:64],");
}

static void bytes_behind_a_write_are_not_written(void **state)
{
    (void)state;
    assert_line_prints(STORY, "why h2.mr[63:64]", "written last");
    assert_line_prints(STORY, "why h2.mr[64:72]", "nobody wrote there");
}

/* The second element of a scatter list begins behind the bytes of the first. */
static void a_scatter_list_divides_a_packet(void **state)
{
    (void)state;
    assert_line_prints(READERS "post_recv h2.qp sge=mr[0:16],mr[1k:1072]\n"
                               "post_send h1.qp sge=mr[100:164]; run\n",
                       "why h2.mr[1k:1028]", "came from h1.mr[116:120],");
}

/* Each response but the last one carries an MTU. */
static void a_read_has_several_responses(void **state)
{
    (void)state;
    assert_line_prints(READERS
                       "post_send h1.qp op=rdma_read sge=mr[0:1k] remote=h2.mr[2k] signaled; run\n",
                       "why h1.mr[600:604]", "came from h2.mr[2648:2652],");
}

/* Without one of its packets the position of a later one in the message is not known. */
static void a_packet_that_is_not_recorded_leaves_no_origin(void **state)
{
    static const struct {
        const char *off, *on; /* before and after the packet */
        bool is_known;
    } rows[] = {{"", "", true}, {"record off; ", "record on; ", false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, READERS "post_recv h2.qp sge=mr[0:1k]; post_send h1.qp sge=mr[0:1k]\n"
                            "until count(tx, host==h1) == 1; step\n");
        lab_run(&l, rows[i].off);
        lab_run(&l, "step\n"); /* sends the third of four packets */
        lab_run(&l, rows[i].on);
        lab_run(&l, "run; why h2.mr[800:804]\n");
        fflush(l.f);
        assert_non_null(strstr(l.out, "h2.mr[800:804]: written last in "));
        assert_int_equal(strstr(l.out, "came from h1.mr[800:804],") != NULL, rows[i].is_known);
        assert_int_equal(strstr(l.out, "came from") != NULL, rows[i].is_known);
        lab_close(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_a_message_came_from_a_part),
        cmocka_unit_test(bytes_behind_a_write_are_not_written),
        cmocka_unit_test(a_scatter_list_divides_a_packet),
        cmocka_unit_test(a_read_has_several_responses),
        cmocka_unit_test(a_packet_that_is_not_recorded_leaves_no_origin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
