/* SPDX-License-Identifier: MIT */
/* Tests of the texts about virtqueues in both formats: `show vq`, its rows, pictures, and what a
 * host and a register refuse.
 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "cli/own_directory.h"
#include "emu/lab/lab_state.h"
#include "looking.h"

#define HOSTS                                                                                      \
    "host h1; host h2 ring=packed; link h1 h2\n"                                                   \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq cqe=16 as cq\n"        \
    "  create_qp pd send_cq=cq recv_cq=cq max_send_wr=3 max_recv_wr=4 as qp }\n"                   \
    "connect h1.qp h2.qp\n"
#define POST "post_send h2.qp wr_id=1 sge=mr[0:64] nokick\n"

static void a_packed_ring_says_whose_each_descriptor_is(void **state)
{
    (void)state;
    assert_tells("a_packed_ring_says_whose_each_descriptor_is, posted", HOSTS POST,
                 "show vq h2.qp.sq",
                 "h2.qp.sq 21 3 packed 1/1 0/1 desc 0 A1 U0 id 0 SEND wr_id=1, mr[0:64]");
    assert_tells("a_packed_ring_says_whose_each_descriptor_is, back",
                 HOSTS POST "show vq h2.qp.sq; post_recv h1.qp sge=mr[0:64]; kick h2.qp.sq; run\n",
                 "show vq h2.qp.sq", "0/1 1/1 * desc 0 A1 U1 id 0 buffer 0");
    assert_tells("a_packed_ring_says_whose_each_descriptor_is, over_the_end",
                 HOSTS "post_recv h1.qp sge=mr[0:64]\n" POST "kick h2.qp.sq; run\n" POST POST POST,
                 "show vq h2.qp.sq", "1/0 1/1 desc 0 A0 U1 id 2");
}

static void rows_say_the_same(void **state)
{
    (void)state;
    assert_tells("rows_say_the_same, posted", HOSTS POST, "show vq h2.qp.sq csv",
                 "h2.qp.sq,avail.idx,driver, h2.qp.sq,desc 0,device, A1 U0 id 0; SEND wr_id=1 "
                 "driver area,driver, device area,device,");
    assert_tells("rows_say_the_same, back",
                 HOSTS POST "post_recv h1.qp sge=mr[0:64]; kick h2.qp.sq; run\n",
                 "show vq h2.qp.sq csv", "A1 U1 id 0; buffer 0");
}

/* A request of two buffers that the device has not read yet. */
static void a_table_is_shown_below_its_descriptor(void **state)
{
    (void)state;
    assert_tells("a_table_is_shown_below_its_descriptor, split 1",
                 "host h1 indirect\nalloc_pd h1 as pd\ngoto #2\n", "show vq h1.ctrl",
                 "table 0 reads CREATE_PD table 1 writes");
    assert_tells("a_table_is_shown_below_its_descriptor, split 2",
                 "host h1 indirect ring=packed\nalloc_pd h1 as pd\ngoto #2\n", "show vq h1.ctrl",
                 "table 0 reads CREATE_PD table 1 writes");
    assert_tells("a_table_is_shown_below_its_descriptor, chain",
                 "host h1 ring=packed\nalloc_pd h1 as pd\ngoto #2\n", "show vq h1.ctrl",
                 "desc 6 A1 U0 N id desc 7 A1 U0 id");
}

/* Guests of the lab have written the rings of h1.qp, which is QPN 2, h1.ud, QPN 3, and h2.qp,
 * QPN 3. Then both hosts are looked at as virtual machines.
 */
static void rings_of_a_machine_are_shown_from_the_side_of_its_device(void **state)
{
    static const char *const rows[][2] = {
        {"show vq h1.device.sq[2]",
         "h1.device.sq[2] that of a virtual machine avail.idx 1 0 not kicked used.idx ? 0 desc 0 "
         "device reads SEND wr_id=1, 1 SGE: mr[0:64] avail 0 -> desc 0 not taken it yet free 3 of "
         "4"},
        {"show vq h1.device.rq[2]",
         "avail.idx 1 0 the device looks when a packet comes desc 0 RECV wr_id=7, 1 SGE: mr[0:9]"},
        {"show vq h1.device.cq[1]", "avail.idx 16 0 room for a CQE desc 15 free 0 of 16"},
        {"show vq h1.device.sq[3]",
         "1 0 last kicked in # desc 0 SEND wr_id=5, 1 SGE: mr[0:8], to QPN 9 qkey 0x7"},
        {"show wqe h1.device.sq[3].desc[0]", "wr_id 5 remote_qpn 9"},
        {"show h1.device", "sq [2] number=19 qp_type=RC [3] number=21 qp_type=UD rq [2] cq [1]"},
        {"show vq h2.device.sq[3]", "packed is not known ?/? 0/1 free 3 of 3"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, HOSTS
            "create_qp h1.pd type=ud send_cq=h1.cq recv_cq=h1.cq as ud\n"
            "modify_qp h1.ud state=INIT pkey_index=0 port=1 qkey=7; modify_qp h1.ud state=RTR\n"
            "modify_qp h1.ud state=RTS sq_psn=1; create_ah h1.pd dgid=h2 as ah\n"
            "post_recv h1.qp wr_id=7 sge=mr[0:9]\n"
            "post_send h1.qp wr_id=1 sge=mr[0:64] nokick\n"
            "post_send h1.ud wr_id=5 sge=mr[0:8] ah=ah remote_qpn=9 remote_qkey=7 nokick\n"
            "reg_write h1 NOTIFY 21 queue=21\n" POST);
    for (uint32_t i = 0; i < 2; i++)
        l.s->lab->state->hosts[i]->is_external = true;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_answers(&l, rows[i][0], rows[i][1]);
    assert_false(lab_try(&l, "show vq h1.device.sq[4]"));
    lab_close(&l);
}

static char *read_file(const char *name)
{
    static char bytes[65536];
    FILE *f = fopen(name, "r");
    size_t n;

    assert_non_null(f);
    n = fread(bytes, 1, sizeof(bytes) - 1, f);
    bytes[n] = '\0';
    fclose(f);
    return bytes;
}

static void a_picture_has_what_show_vq_says(void **state)
{
    static const char *const marks[] = {"h2.qp.sq: virtqueue 21, 3 descriptors, packed, at #",
                                        "A1 U0 id 0", "SEND wr_id=1", "offers next, wrap 1",
                                        "takes next, wrap 1, gives back, wrap 1"};
    static const char *const split_marks[] = {"h1.cq.queue: virtqueue 1, 16 descriptors, split",
                                              "driver: avail.idx 16", "room for a CQE"};
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, HOSTS POST);
    lab_run(&l, "export vq h2.svg h2.qp");
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        assert_non_null(strstr(read_file("h2.svg"), marks[i]));
    lab_run(&l, "export vq h1.svg h1.cq");
    for (size_t i = 0; i < ARRAY_LEN(split_marks); i++)
        assert_non_null(strstr(read_file("h1.svg"), split_marks[i]));
    assert_false(lab_try(&l, "export vq - h2.mr"));
    assert_non_null(strstr(l.s->diag.message, "h2.mr has no virtqueue"));
    assert_false(lab_try(&l, "export vq - h2.net.tx")); /* which is one */
    assert_non_null(strstr(l.s->diag.message, "h2.net.tx carries frames, and no requests"));
    assert_false(lab_try(&l, "show vq h2.net.tx"));
    assert_non_null(strstr(l.s->diag.message, "h2.net.tx carries frames, and no requests"));
    assert_false(lab_try(&l, "export vq - h3.qp"));
    assert_false(lab_try(&l, "export vq -"));
    lab_close(&l);
    assert_int_equal(unlink("h1.svg"), 0);
    assert_int_equal(unlink("h2.svg"), 0);
    assert_tells("a_picture_has_what_show_vq_says, as_text", HOSTS POST, "export vq - h2.qp.sq",
                 "h2.qp.sq 21 3");
}

static void a_host_has_what_it_asks_for_or_says_why_not(void **state)
{
    static const char *const refused[][2] = {
        {"host h1 ring=packed features_off=RING_PACKED", "without RING_PACKED has no packed rings"},
        {"host h1 indirect features_off=INDIRECT_DESC",
         "without INDIRECT_DESC looks into no table"},
        {"host h1 ring=round", "ring"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct lab l;

        lab_open(&l, false);
        assert_false(lab_try(&l, refused[i][0]));
        assert_non_null(strstr(l.s->diag.message, refused[i][1]));
        lab_close(&l);
    }
    assert_tells("a_host_has_what_it_asks_for_or_says_why_not, packed", "host h1 ring=packed\n",
                 "show h1.ctrl.format", "packed");
}

/* A register accepts no number without a meaning. */
static void a_register_takes_only_the_numbers_that_it_has(void **state)
{
    static const char *const rows[][2] = {
        {"reg_read h1 QUEUE_SIZE queue=3", "QUEUE_SIZE takes no queue"},
        {"reg_write h1 COMMAND 0 vector=1", "COMMAND takes no vector"},
        {"reg_read h1 VECTOR_DATA queue=1", "VECTOR_DATA takes no queue"},
        {"reg_write h1 NOTIFY 3 function=net queue=16384", "no queue 16384: its BAR ends before"},
        {"reg_read h1 VECTOR_DATA function=net vector=2047", "no vector 2047: its BAR ends before"},
        {"reg_read h1 COMMAND width=8", "cannot be accessed with this width"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_false(lab_try(&l, rows[i][0]));
        if (!strstr(l.s->diag.message, rows[i][1]))
            fail_msg("%s: %s", rows[i][0], l.s->diag.message);
    }
    lab_run(&l, "reg_write h1 NOTIFY 1 function=net queue=1");
    lab_run(&l, "reg_read h1 VECTOR_DATA vector=1");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packed_ring_says_whose_each_descriptor_is),
        cmocka_unit_test(rows_say_the_same),
        cmocka_unit_test(a_table_is_shown_below_its_descriptor),
        cmocka_unit_test(rings_of_a_machine_are_shown_from_the_side_of_its_device),
        cmocka_unit_test(a_picture_has_what_show_vq_says),
        cmocka_unit_test(a_host_has_what_it_asks_for_or_says_why_not),
        cmocka_unit_test(a_register_takes_only_the_numbers_that_it_has),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, own_directory_enter, own_directory_leave);
}
