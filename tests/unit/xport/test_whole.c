/* SPDX-License-Identifier: MIT */
/* Messages that go whole, by the shortcut. */
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/hca/ctrl.h"
#include "emu/trace/event.h"
#include "rig.h"
#include "testing.h"

#define BYTES  1000u /* four packets of 256 bytes */
#define N_PKTS 4u
#define FIRST  100u /* the first PSN, see rig_defaults() */

static struct rig *rig_whole(enum profile profile, uint32_t peer_mtu)
{
    struct rig_config c = rig_defaults();
    struct rig *r;

    c.rd_atomic = 4;
    c.profile[0] = c.profile[1] = profile;
    c.peer_mtu = peer_mtu;
    r = rig_new(&c);
    r->shortcut = 1000;
    rig_fill(r, 0, 1);
    rig_fill(r, 1, 2);
    return r;
}

static void rdma(struct rig *r, enum wr_opcode opcode, uint64_t wr_id, uint32_t bytes)
{
    struct rig_post *p = rig_prepare_remote(r, opcode, wr_id, 0, bytes, 8192);

    p->flags = SF_SIGNALED;
    rig_post(r, 0, WQ_SEND);
}

static const struct ev_tx *tx(const struct rig *r, uint32_t host, uint32_t n)
{
    return &rig_event(r, EV_tx, host, n)->u.tx;
}

/* Whatever it takes to bring them: both ends count as with frames. */
static void a_message_takes_the_numbers_of_its_packets(void **state)
{
    struct rig *r = rig_whole(PROFILE_iba, 0);

    (void)state;
    rig_recv(r, 1, 0, BYTES);
    rig_send(r, 2, 0, BYTES);
    rdma(r, WR_RDMA_READ, 3, BYTES);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 2, WCS_SUCCESS);
    rig_expect(r, 0, WQ_SEND, 1, 3, WCS_SUCCESS);
    rig_expect(r, 1, WQ_RECV, 0, 1, WCS_SUCCESS);
    assert_int_equal(r->host[1].wc[WQ_RECV][0].bytes, BYTES);
    assert_true(rig_same(r, 0, 8192, BYTES));

    assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), 2);
    assert_int_equal(tx(r, 0, 0)->opcode, OP_RC_SEND_ONLY);
    assert_int_equal(tx(r, 0, 0)->psn, FIRST);
    assert_int_equal(tx(r, 0, 0)->copied, N_PKTS);
    assert_int_equal(tx(r, 0, 0)->wire_bytes, 0);
    assert_int_equal(tx(r, 0, 1)->psn, FIRST + N_PKTS);
    assert_int_equal(tx(r, 0, 1)->copied, 1); /* a request for a READ is one packet */
    assert_int_equal(rig_event(r, EV_rx, 1, 0)->u.rx.copied, N_PKTS);
    assert_int_equal(tx(r, 1, 1)->opcode, OP_RC_RDMA_READ_RESPONSE_ONLY);
    assert_int_equal(tx(r, 1, 1)->copied, N_PKTS);
    assert_int_equal(rig_event(r, EV_rx, 0, 1)->u.rx.copied, N_PKTS);

    assert_int_equal(rig_rc(r, 0)->req.una.v, FIRST + 2 * N_PKTS);
    assert_int_equal(rig_rc(r, 1)->resp.expected.v, FIRST + 2 * N_PKTS);
    assert_int_equal(rig_rc(r, 1)->resp.msn, 2);
    assert_int_equal(r->host[0].x.count.sent_pkts, N_PKTS + 1);
    assert_int_equal(r->host[1].x.count.rcvd_pkts, N_PKTS + 1);
    assert_int_equal(r->host[1].x.count.sent_pkts, 1 + N_PKTS);
    assert_int_equal(r->host[0].x.count.rcvd_pkts, 1 + N_PKTS);
    rig_free(r);
}

/* The shortcut opens when two packets of a message have left. */
static void what_began_in_frames_ends_in_frames(void **state)
{
    struct rig *r = rig_whole(PROFILE_iba, 0);

    (void)state;
    r->shortcut = 0;
    rig_recv(r, 1, 0, BYTES);
    rig_recv(r, 2, 0, BYTES);
    rig_send(r, 3, 0, BYTES);
    rig_send(r, 4, 0, BYTES);
    rig_run_until(r, RIG_EACH_NS);
    assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), 2);
    r->shortcut = 1000;
    rig_run(r);
    rig_expect(r, 1, WQ_RECV, 0, 1, WCS_SUCCESS);
    rig_expect(r, 1, WQ_RECV, 1, 2, WCS_SUCCESS);
    assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), N_PKTS + 1);
    assert_int_equal(rig_count(r, EV_tx, 0, "copied", 0), N_PKTS);
    assert_int_equal(tx(r, 0, N_PKTS)->psn, FIRST + N_PKTS);
    assert_int_equal(tx(r, 0, N_PKTS)->copied, N_PKTS);
    rig_free(r);
}

/* A message is named when it is sent: keys are checked then, not only when it is fetched. */
static void a_region_that_is_gone_is_not_read(void **state)
{
    struct rig *r = rig_whole(PROFILE_iba, 0);
    const uint32_t key = r->host[0].mr->key;

    (void)state;
    rig_send(r, 1, 0, BYTES); /* no receive: it is to be sent again */
    rig_run_until(r, 2 * RIG_WIRE_NS + 4 * RIG_EACH_NS);
    assert_true(rig_rc(r, 0)->req.rnr_wait);
    assert_int_equal(hca_mr_destroy(&r->host[0].hca, key_number(key)), REF_NONE);
    rig_recv(r, 2, 0, BYTES);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_LOC_PROT_ERR);
    assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), 1);
    rig_free(r);
}

/* Pages are found again by their guest-physical addresses if one of them is freed before the
 * message is accepted: it reads as zero then, as for any late packet.  It may be in the middle of
 * pages that would have been copied at once.
 */
static void a_page_that_is_freed_on_the_way_reads_as_zero(void **state)
{
    enum { LONG = 5 * RAM_PAGE_BYTES, PAGE = 2 };
    static uint8_t before[LONG], after[LONG];
    struct rig *r = rig_whole(PROFILE_iba, 0);
    const uint32_t at = PAGE * RAM_PAGE_BYTES - r->host[0].mr->pages.offset;
    struct rig_post *p;

    (void)state;
    rig_read(r, 0, 0, before, LONG);
    p = rig_prepare_remote(r, WR_RDMA_WRITE, 1, 0, LONG, 0);
    p->flags = SF_SIGNALED;
    rig_post(r, 0, WQ_SEND);
    rig_run_until(r, RIG_WIRE_NS / 2); /* it is under way */
    assert_non_null(r->frames[0]);
    assert_true(r->frames[0]->whole->n_spans > 0);
    ram_forget(r->host[0].hca.ram, r->host[0].mr->pages.gpa[PAGE] >> RAM_PAGE_BITS);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_read(r, 1, 0, after, LONG);
    assert_memory_equal(after, before, at);
    for (uint32_t i = at; i < at + RAM_PAGE_BYTES; i++)
        assert_int_equal(after[i], 0);
    assert_memory_equal(after + at + RAM_PAGE_BYTES, before + at + RAM_PAGE_BYTES,
                        LONG - at - RAM_PAGE_BYTES);
    rig_fill(r, 0, 1); /* the page is there again: rig_free() counts memory */
    rig_free(r);
}

/* The same for regions that READs ask for: two were accepted when the region goes, and one of them
 * was answered.
 */
static void a_read_of_a_region_that_is_gone_is_refused(void **state)
{
    struct rig *r = rig_whole(PROFILE_iba, 0);
    const uint32_t key = r->host[1].mr->key;
    uint32_t n_refused = 0;

    (void)state;
    for (uint32_t i = 0; i < 12; i++) { /* own messages of the responder, in turn with responses */
        rig_prepare(r, 0, WQ_RECV, i, 16384, BYTES);
        rig_post(r, 0, WQ_RECV);
        rig_prepare(r, 1, WQ_SEND, i, 0, BYTES);
        rig_post(r, 1, WQ_SEND);
    }
    for (uint32_t i = 0; i < 4; i++)
        rdma(r, WR_RDMA_READ, i, BYTES);
    for (uint32_t i = 0; i < 40 && rig_rc(r, 1)->resp.rds.next - rig_rc(r, 1)->resp.rds.done < 2;
         i++)
        rig_run_until(r, sim_now(&r->sim) + RIG_EACH_NS / 2);
    assert_int_equal(hca_mr_destroy(&r->host[1].hca, key_number(key)), REF_NONE);
    rig_run(r);
    assert_true(r->host[0].n_wc[WQ_SEND] == 4);
    for (uint32_t i = 0; i < 4; i++)
        n_refused += r->host[0].wc[WQ_SEND][i].status == WCS_REM_ACCESS_ERR;
    assert_int_equal(n_refused, 1);
    assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_NAK_REMOTE_ACCESS), 1);
    rig_free(r);
}

/* The second message comes too early, too, and both are sent a second time. */
static void events_count_how_often_a_message_was_sent(void **state)
{
    static const uint32_t attempts[] = {0, 0, 2, 2};
    struct rig *r = rig_whole(PROFILE_iba, 0);

    (void)state;
    rig_send(r, 1, 0, BYTES);
    rig_send(r, 2, 0, BYTES);
    rig_run_until(r, 2 * RIG_WIRE_NS + 4 * RIG_EACH_NS);
    rig_recv(r, 3, 0, BYTES);
    rig_recv(r, 4, 0, BYTES);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
    assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(tx(r, 0, i)->attempt, attempts[i]);
    rig_free(r);
}

/* Responses in place of more packets than the READ has PSNs are of no use: the PSNs behind it would
 * be those of other requests.
 */
static void a_response_fits_the_numbers_of_its_read(void **state)
{
    struct rig *r = rig_whole(PROFILE_rxe, 0);
    struct rig *other;
    struct rig_config c = rig_defaults();

    (void)state;
    rdma(r, WR_RDMA_READ, 1, BYTES);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_free(r);
    c.rd_atomic = 1;
    c.mtu = MTU_1024;
    c.peer_mtu = MTU_256;
    c.profile[0] = c.profile[1] = PROFILE_rxe;
    other = rig_new(&c);
    other->shortcut = 1000;
    rdma(other, WR_RDMA_READ, 1, BYTES);
    rig_run(other);
    rig_expect(other, 0, WQ_SEND, 0, 1, WCS_RETRY_EXC_ERR);
    assert_true(rig_count(other, EV_drop, 0, "reason", DROP_GHOST_ACK) > 0);
    rig_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_takes_the_numbers_of_its_packets),
        cmocka_unit_test(what_began_in_frames_ends_in_frames),
        cmocka_unit_test(a_region_that_is_gone_is_not_read),
        cmocka_unit_test(a_read_of_a_region_that_is_gone_is_refused),
        cmocka_unit_test(a_page_that_is_freed_on_the_way_reads_as_zero),
        cmocka_unit_test(events_count_how_often_a_message_was_sent),
        cmocka_unit_test(a_response_fits_the_numbers_of_its_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
