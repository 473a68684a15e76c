/* SPDX-License-Identifier: MIT */
/* Tests of `why` with faults: one lab for each message, each of its frames and each fault, which
 * hits the first, second or third of these frames.  `why` must name the fault for each completion
 * that is late or different.  The same lab without the fault shows what is late.
 */
#include "cli/cli_testing.h"
#include "cli/lab_session.h"
#include "cli/printed.h"
#include "cli/why/why.h"
#include "emu/trace/event.h"
#include "tree/lab_past.h"

#define CONNECTED                                                                                  \
    "host h1 h2; link h1 h2 latency=1us\n"                                                         \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=64k access=lw,rr,rw,ra as mr; create_cq as cq\n"     \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                               \
    "connect h1.qp h2.qp timeout=4 retry_cnt=2 rnr_retry=2 min_rnr_timer=1\n"
#define RECEIVES                                                                                   \
    "post_recv h2.qp wr_id=7 sge=mr[0:4k]; post_recv h2.qp wr_id=8 sge=mr[4k:8k]\n"                \
    "post_recv h2.qp wr_id=9 sge=mr[8k:12k]\n"
#define SMALL "sge=mr[0:64]"
#define LARGE "sge=mr[0:3000]" /* three packets */
#define FAR   " remote=h2.mr[0]"

#define KNOWN "as known\n" /* a fault that is needed, and is named as well */

#define MESSAGES        3u
#define LINES_BYTES     2048u
#define COMPLETIONS_MAX 16u
#define COPY_NS         1000u /* a copy, or its acknowledgment, occupies the line for so long */

struct row {
    const char *op;     /* the operation that is posted three times */
    const char *before; /* commands that the frame needs */
    const char *frame;  /* the frame that the fault hits */
};

static const struct row rows[] = {
    {SMALL, RECEIVES, "from=h1"},
    {SMALL, RECEIVES, "from=h2"},
    {SMALL, RECEIVES "drop from=h1 nth=2 " KNOWN, "nak"},
    {SMALL, "", "syndrome=rnr_nak"},
    {LARGE, RECEIVES, "opcode=rc_send_first"},
    {LARGE, RECEIVES, "opcode=rc_send_middle"},
    {LARGE, RECEIVES, "opcode=rc_send_last"},
    {LARGE, RECEIVES, "ack"},
    {LARGE, RECEIVES "drop opcode=rc_send_middle nth=2 " KNOWN, "nak"},
    {LARGE, "", "syndrome=rnr_nak"},
    {"op=rdma_write " SMALL FAR, "", "from=h1"},
    {"op=rdma_write " SMALL FAR, "", "from=h2"},
    {"op=rdma_write " LARGE FAR, "", "opcode=rc_rdma_write_first"},
    {"op=rdma_write " LARGE FAR, "", "opcode=rc_rdma_write_middle"},
    {"op=rdma_write " LARGE FAR, "", "opcode=rc_rdma_write_last"},
    {"op=rdma_write " LARGE FAR, "", "ack"},
    {"op=rdma_write " LARGE FAR, "drop opcode=rc_rdma_write_middle nth=2 " KNOWN, "nak"},
    {"op=rdma_write_with_imm imm=1 " LARGE FAR, RECEIVES, "opcode=rc_rdma_write_last_with_imm"},
    {"op=rdma_write_with_imm imm=1 " LARGE FAR, "", "syndrome=rnr_nak"},
    {"op=rdma_read " SMALL FAR, "", "from=h1"},
    {"op=rdma_read " SMALL FAR, "", "from=h2"},
    {"op=rdma_read " SMALL FAR, "drop from=h1 nth=2 " KNOWN, "nak"},
    {"op=rdma_read " LARGE FAR, "", "from=h1"},
    {"op=rdma_read " LARGE FAR, "", "opcode=rc_rdma_read_response_first"},
    {"op=rdma_read " LARGE FAR, "", "opcode=rc_rdma_read_response_middle"},
    {"op=rdma_read " LARGE FAR, "", "opcode=rc_rdma_read_response_last"},
    {"op=atomic_fetch_and_add add=1 sge=mr[0:8]" FAR, "", "from=h1"},
    {"op=atomic_fetch_and_add add=1 sge=mr[0:8]" FAR, "", "from=h2"},
    {"op=atomic_fetch_and_add add=1 sge=mr[0:8]" FAR, "drop from=h1 nth=2 " KNOWN, "nak"},
};

static const struct kind {
    const char *verb, *how;
    bool is_exempt; /* changes no completion by more than COPY_NS */
} kinds[] = {
    {"drop", "", false},
    {"drop", " count=0", false},
    {"delay", " by=2us", false},
    {"delay", " by=40us", false}, /* less than the ACK timeout */
    {"delay", " by=90us", false}, /* more than the ACK timeout */
    {"corrupt", "", false},
    {"corrupt", " bit=0", false}, /* in the MAC */
    /* A copy is recognized by its PSN and dropped or acknowledged again. */
    {"duplicate", "", true},
    {"duplicate", " by=1us", true},
    {"duplicate", " by=90us", true},
};

/* How one completion ended. */
struct ended {
    ev_id id;
    uint32_t host, n;
    uint32_t status;
    uint64_t took_ns; /* since the last message was posted */
};

struct outcome {
    struct ended completions[COMPLETIONS_MAX];
    size_t n;
    bool is_hit; /* the fault took effect */
};

static bool is_hidden(const struct ev *e)
{
    return (e->kind == EV_fault && strcmp(e->u.fault.name.s, "hidden") == 0) ||
           (e->kind == EV_lost && strcmp(e->u.lost.name.s, "hidden") == 0);
}

static struct outcome outcome_of(const struct past *p)
{
    struct outcome o = {.n = 0};
    uint64_t posted_ns = 0;

    for (size_t i = 0; i < p->n; i++) {
        const struct ev *e = past_at(p, i);

        if (e->kind == EV_post_send)
            posted_ns = e->at_ns;
        o.is_hit = o.is_hit || is_hidden(e);
        if (e->kind != EV_cqe)
            continue;
        assert_true(o.n < COMPLETIONS_MAX);
        o.completions[o.n++] =
            (struct ended){e->id, e->u.cqe.host, e->u.cqe.n, e->u.cqe.status, e->at_ns - posted_ns};
    }
    return o;
}

/* Posts the messages one after the other, or all at once. */
static struct outcome perform(struct lab *l, const struct row *r, const char *fault,
                              bool one_by_one)
{
    char lines[LINES_BYTES];
    struct text t = text_on(lines, sizeof(lines));
    struct past p;

    lab_open(l, false);
    text_addf(&t, "%s%s%s", CONNECTED, r->before, fault);
    for (unsigned i = 0; i < MESSAGES; i++)
        text_addf(&t, "post_send h1.qp wr_id=%u %s signaled\n%s", i, r->op,
                  one_by_one ? "run\n" : "");
    text_add(&t, "run 20us\n" RECEIVES "run\n"); /* too late for a request that had none */
    lab_run(l, lines);
    p = past_of_lab(l->s->lab);
    return outcome_of(&p);
}

/* Returns true if @c equals the completion of @plain and is at most @late_ns later. */
static bool is_as_usual(const struct ended *c, const struct outcome *plain, uint64_t late_ns)
{
    for (size_t i = 0; i < plain->n; i++) {
        const struct ended *usual = &plain->completions[i];

        if (usual->host == c->host && usual->n == c->n)
            return usual->status == c->status && c->took_ns <= usual->took_ns + late_ns;
    }
    return false;
}

/* Fails unless `why` of event @id names the hidden fault and the known one.  0: `why` without an
 * event.
 */
static void assert_named(const struct lab *l, const struct row *r, const char *fault, ev_id id)
{
    const struct past p = past_of_lab(l->s->lab);
    struct printed out;

    assert_int_equal(why(printed_begin(&out)->out, &p, id), RDL_OK);
    if (!strstr(printed_text(&out), "hidden") ||
        (strstr(r->before, "known") && !strstr(printed_text(&out), "known")))
        fail_msg("%s%s, %s: not named in\n%s", r->before, r->op, fault, printed_text(&out));
    assert_lines_fit(&out);
    printed_end(&out);
}

/* The same for `why` alone, where it is about a packet that was dropped or missing. */
static void assert_trouble_is_named(const struct lab *l, const struct row *r, const char *fault)
{
    const struct past p = past_of_lab(l->s->lab);
    ev_id id = 0;
    size_t at;

    assert_int_equal(why_find(l->s->lab, &p, NULL, &id, &at), RDL_OK);
    if (past_find(&p, id)->kind == EV_drop || past_find(&p, id)->kind == EV_timeout)
        assert_named(l, r, fault, id);
}

/* Returns true if the fault hit a frame. */
static bool check(const struct row *r, const struct kind *k, unsigned nth, bool one_by_one,
                  const struct outcome *plain)
{
    char fault[128];
    struct text t = text_on(fault, sizeof(fault));
    struct outcome o;
    unsigned changed = 0;
    struct lab l;

    text_addf(&t, "%s %s nth=%u%s as hidden\n", k->verb, r->frame, nth, k->how);
    o = perform(&l, r, fault, one_by_one);
    for (size_t i = 0; i < o.n; i++) {
        if (is_as_usual(&o.completions[i], plain, k->is_exempt ? COPY_NS : 0))
            continue;
        changed++;
        assert_named(&l, r, fault, o.completions[i].id);
    }
    if (o.is_hit && (changed > 0) == k->is_exempt)
        fail_msg("%s%s, %s changes %u completions", r->before, r->op, fault, changed);
    if (o.is_hit)
        assert_trouble_is_named(&l, r, fault);
    lab_close(&l);
    return o.is_hit;
}

static void whatever_a_fault_delays_or_fails_is_told_with_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (unsigned one_by_one = 0; one_by_one < 2; one_by_one++) {
            struct lab l;
            const struct outcome plain = perform(&l, &rows[i], "", one_by_one);

            lab_close(&l);
            for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
                unsigned hit = 0;

                for (unsigned nth = 1; nth <= MESSAGES; nth++)
                    hit += check(&rows[i], &kinds[k], nth, one_by_one, &plain);
                if (hit == 0 && !(one_by_one && strstr(rows[i].before, "known")))
                    fail_msg("%s %s never hits", kinds[k].verb, rows[i].frame);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_a_fault_delays_or_fails_is_told_with_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
