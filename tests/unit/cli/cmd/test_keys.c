/* SPDX-License-Identifier: MIT */
/* Tests of commands for regions and windows: messages name the error and a remedy, and who uses
 * memory is shown.
 */
#include <string.h>

#include "cli/lab_session.h"

static void what_is_wrong_with_a_region_or_window_is_named(void **state)
{
    static const struct {
        const char *line, *message, *remedy;
    } rows[] = {
        {"reg_mr w.pd len=4k access=rw", "need local write", "add lw"},
        {"reg_mr w.pd len=4k iova=0x10", "at byte 0 of its page, iova= at byte 16", "the same"},
        {"reg_mr w.pd len=10 addr=mr[5] iova=4096", "at byte 5 of its page", "the same"},
        {"reg_mr w.pd len=4k access=zb iova=4096", "begins at address 0", "leave out iova="},
        {"rereg_mr w.mr", "nothing is to be changed", "give access="},
        {"rereg_mr w.mr access=ra", "need local write", "add lw"},
        {"rereg_mr w.mr pd=h1.pd", "the protection domain is on another host", "share a device"},
        {"rereg_mr w.mr access=zb iova=4096", "begins at address 0", "leave out"},
        {"rereg_mr w.dma access=lw", "only what reg_mr made", "make another"},
        {"rereg_mr w.mr len=20k", "address outside the memory", ""},
        {"rereg_mr h1.mr access=rr", "does not offer rereg_mr", "without features_off=MW"},
        {"rereg_mr w.w1 access=rr", "w.w1 is a memory window, not a memory region", ""},
        {"alloc_mw h1.pd", "does not offer alloc_mw", "without features_off=MW"},
        {"alloc_mw w.pd type=3", "", ""},
        {"dealloc_mw w.mr", "w.mr is a memory region, not a memory window", ""},
        {"alloc_mr h1.pd", "does not offer alloc_mr", "without features_off=MW"},
        {"alloc_mr w.pd access=rw", "need local write", "add lw"},
        {"map_mr_sg w.fmr sg=mr[4095:8193]", "more pages than w.fmr was made for", "max_pages="},
        {"map_mr_sg w.fmr sg=mr[0:0]", "no bytes", ""},
        {"map_mr_sg w.fmr sg=mr[0:8k] iova=1", "at byte 0 of its page", ""},
        {"map_mr_sg w.fmr sg=h1.mr[0:8]", "on another host", ""},
        {"map_mr_sg w.mr sg=mr[0:8]", "no region for fast registration", "alloc_mr"},
        {"get_dma_mr w.pd access=ra", "need local write", "add lw"},
        {"read w.dma[0:8]", "address outside the memory", ""},
        {"dealloc_pd w.pd", "in use by w.one and 4 more", "destroy what uses it first"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l,
            "host w; host h1 features_off=MW; on w,h1 { alloc_pd as pd; reg_mr pd len=4k as one; "
            "reg_mr pd len=12k as mr }");
    lab_run(&l, "alloc_mw w.pd as w1; alloc_mr w.pd max_pages=2 as fmr; get_dma_mr w.pd as dma");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_false(lab_try(&l, rows[i].line));
        if (!strstr(l.s->diag.message, rows[i].message) ||
            !strstr(l.s->diag.remedy, rows[i].remedy))
            fail_msg("%s: %s (%s)", rows[i].line, l.s->diag.message, l.s->diag.remedy);
    }
    lab_run(&l,
            "rereg_mr w.one access=zb; expect w.one.iova == 0; rereg_mr w.one access=lw len=1k; "
            "expect w.one.iova == w.one.addr and w.one.bytes == 1024; "
            "rereg_mr w.one iova=0x5000; rereg_mr w.one len=4k; expect w.one.iova == 0x5000");
    lab_run(&l, "expect w.mr.access == LOCAL_WRITE and w.mr.bytes == 12k and w.pd.users == 5");
    lab_close(&l);
}

static void what_is_wrong_with_a_bind_is_named(void **state)
{
    static const struct {
        const char *line, *message, *remedy;
    } rows[] = {
        {"bind_mw w.qp w2 mr=mr[0:64]", "w2 is a window of type 2", "op=bind_mw mw=w2"},
        {"bind_mw w.qp w1 mr=x.mr[0:8]", "x.mr[0:8] is not of the host", "POST_PARTS"},
        {"bind_mw w.qp x.mw mr=mr[0:8]", "x.mw is not of the host", "POST_PARTS"},
        {"post_send w.qp op=bind_mw mw=x.mw mr=mr[0:8]", "x.mw is not of the host", "POST_PARTS"},
        {"bind_mw w.qp mr mr=mr[0:8]", "is a memory region, not a memory window", ""},
        {"bind_mw w.qp w1 mr=mr[8]", "a length is missing", "a slice"},
        {"bind_mw w.ud w1 mr=mr[0:8]", "UD queue pairs have no bind_mw", "POST_OPCODE"},
        {"bind_mw w.new w1 mr=mr[0:8]", "w.new is in RESET; bind_mw needs RTS", "connect"},
        {"post_list { bind_mw w.qp w1 mr=mr[0:8] }", "a list of work requests has no bind_mw",
         "post_send"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host w x; link w x; on w,x { alloc_pd as pd; create_cq as cq; "
                "create_qp pd send_cq=cq recv_cq=cq as qp; reg_mr pd len=4k access=lw,mw as mr; "
                "create_qp pd type=ud send_cq=cq recv_cq=cq as ud; "
                "create_qp pd send_cq=cq recv_cq=cq as new }");
    lab_run(&l, "connect w.qp x.qp; alloc_mw w.pd as w1; "
                "alloc_mw w.pd type=2 as w2; alloc_mw x.pd as mw; "
                "modify_qp w.ud state=INIT pkey_index=0 port=1 qkey=1; modify_qp w.ud state=RTR; "
                "modify_qp w.ud state=RTS sq_psn=0");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_false(lab_try(&l, rows[i].line));
        if (!strstr(l.s->diag.message, rows[i].message) ||
            !strstr(l.s->diag.remedy, rows[i].remedy))
            fail_msg("%s: %s (%s)", rows[i].line, l.s->diag.message, l.s->diag.remedy);
    }
    lab_run(&l, "expect count(post_send) == 0; bind_mw w.qp w1 wr_id=5 fence signaled; run; "
                "expect w.cq.wc[0].wr_id == 5 and w.w1.state == FREE; "
                "expect w.w1.rkey == w.w1.device_rkey");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_with_a_region_or_window_is_named),
        cmocka_unit_test(what_is_wrong_with_a_bind_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
