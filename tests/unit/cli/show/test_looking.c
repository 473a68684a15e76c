/* SPDX-License-Identifier: MIT */
/* Tests of `show` in a session: the lab on one screen, the output forms, lives of requests, memory,
 * changes since the last look, and names that stand for numbers.
 */
#include "testing.h"

#include <cjson/cJSON.h>

#include "cli/lab_session.h"
#include "cli/lang/suggest.h"
#include "cli/show/show.h"
#include "golden.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"

/* Two connected hosts, before anything is posted. */
#define CONNECTED                                                                                  \
    "host h1 h2; link h1 h2 latency=1us\n"                                                         \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rr,rw as mr; create_cq cqe=16 as cq\n"  \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                               \
    "connect h1.qp h2.qp sq_psn=100 timeout=4\n"

/* Returns what @asked prints.  The caller frees it. */
static char *answer(struct lab *l, const char *asked)
{
    size_t before;

    fflush(l->f);
    before = l->n;
    lab_run(l, asked);
    fflush(l->f);
    return strdup(l->out + before);
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in\n%s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" is in\n%s", part, text);
}

/* Fails unless @asked prints each of @words in order. */
static void assert_answers(struct lab *l, const char *asked, const char *words)
{
    char *text = answer(l, asked);

    assert_in_order(text, words);
    free(text);
}

/* Like assert_answers(), and the output must be the golden section @name. */
static void assert_page(struct lab *l, const char *name, const char *asked, const char *words)
{
    char *text = answer(l, asked);

    assert_in_order(text, words);
    assert_golden(name, text);
    free(text);
}

/* Returns the number of lines; *@ret_widest is the width of the longest. */
static size_t lines_of(const char *text, size_t *ret_widest)
{
    size_t n = 0;

    *ret_widest = 0;
    for (; *text; n++) {
        const size_t width = strcspn(text, "\n");

        *ret_widest = width > *ret_widest ? width : *ret_widest;
        text += width + (text[width] == '\n');
    }
    return n;
}

static void the_lab_fits_a_screen(void **state)
{
    size_t widest;
    struct lab l;
    char *text;

    (void)state;
    lab_open(&l, false);
    assert_page(&l, "an empty lab", "show", "host h1 h2 t=0");
    lab_run(&l, CONNECTED "post_recv h2.qp wr_id=7 sge=mr[0:1k]; drop next from=h1 as f1\n"
                          "post_send h1.qp wr_id=1 sge=mr[0:64] signaled; step packet");
    assert_page(&l, "a frame under way", "show",
                "h1-h2 f1 rqpn under way: 1 2 h1.qp: SEND wr_id=1 psn=100 h2.qp h2.qp: 1 "
                "RC_SEND_ONLY psn=100 h1 ACK h1.qp");
    text = answer(&l, "show");
    assert_true(lines_of(text, &widest) <= 23);
    assert_true(widest <= 80);
    free(text);
    lab_run(&l, "run");
    assert_page(&l, "an idle lab", "show", "under way: nothing idle");
    lab_close(&l);

    lab_open(&l, false);
    lab_run(&l, "switch s1 s2 s3");
    for (unsigned i = 0; i < 40; i++) {
        char line[64];

        snprintf(line, sizeof(line), "host h%u; link h%u s1", i, i);
        lab_run(&l, line);
    }
    assert_page(&l, "a lab of many hosts", "show",
                "38 more: show hosts 2 more: show switches 38 more: show links");
    text = answer(&l, "show");
    assert_true(lines_of(text, &widest) <= 23);
    free(text);
    lab_close(&l);
}

/* A host with PVRDMA in addition to STORY. */
#define PVRDMA_HOST                                                                                \
    "host p device=pvrdma; on p { alloc_pd as pd; create_cq cqe=16 as cq\n"                        \
    "create_qp pd send_cq=cq recv_cq=cq as qp\n"                                                   \
    "modify_qp qp state=INIT port=1 pkey_index=0 access=lw; post_recv qp wr_id=1 }\n"

/* Questions with the same rows in each form. */
static const char *const tables[] = {"qp",
                                     "qp h1",
                                     "cq",
                                     "mr",
                                     "pd",
                                     "hosts",
                                     "links",
                                     "faults",
                                     "due",
                                     "memory",
                                     "counters",
                                     "life h1.qp",
                                     "vq h1.qp.sq",
                                     "memory h2",
                                     "srq",
                                     "cm",
                                     "event_channel",
                                     "mw",
                                     "ah",
                                     "packet",
                                     "events",
                                     "events all",
                                     "events last 3",
                                     "h1.qp",
                                     "tree",
                                     "qp h1.qp",
                                     "dump h1.qp.sq.desc[0]",
                                     "dump h1.ctrl.desc[0]",
                                     "wqe h1.qp.sq.desc[0]",
                                     "switches",
                                     "link",
                                     "device",
                                     "pci h1",
                                     "map",
                                     "map h1",
                                     "states h1.qp",
                                     "ring p.qp.rq",
                                     "ring p.qp.rq[0]",
                                     "ring p.cq",
                                     "ring p.dsr.notes",
                                     "dsr p",
                                     "dsr p commands",
                                     "uar p",
                                     ""};

/* Returns true if @subject is the first word of one of them. */
static bool is_asked_for(const char *subject)
{
    const size_t n = strlen(subject);

    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        if (strncmp(tables[i], subject, n) == 0 && (tables[i][n] == ' ' || !tables[i][n]))
            return true;
    }
    return strcmp(subject, "live") == 0; /* nothing outside is attached to this lab */
}

static void every_subject_is_asked_for_and_in_the_help(void **state)
{
    const struct param *what = cmd_param(cmd_find("show", false), "what");

    (void)state;
    for (size_t i = 0; show_subject(i); i++) {
        if (!is_asked_for(show_subject(i)))
            fail_msg("show has %s: say in tables[] how to ask for it", show_subject(i));
        if (!strstr(what->help, show_subject(i)))
            fail_msg("show has %s: commands.def does not name it", show_subject(i));
    }
}

/* `faults` alone is no command: the error says "show faults", unless the word is a command, or
 * short for one. */
static void every_subject_alone_leads_to_show(void **state)
{
    char asked[64];

    (void)state;
    for (size_t i = 0; show_subject(i); i++) {
        const char *subject = show_subject(i), *leads = suggest_other_word(subject);

        snprintf(asked, sizeof(asked), "show %s", subject);
        if (!cmd_find(subject, true) && (!leads || !strstr(leads, asked)))
            fail_msg("the error of \"%s\" does not lead to \"%s\": see other_words.def", subject,
                     asked);
    }
}

/* Returns the JSON, or NULL. */
static cJSON *json_of(struct lab *l, const char *question, const char *form)
{
    char asked[128], *text;
    cJSON *j;

    snprintf(asked, sizeof(asked), "show %s %s", question, form);
    text = answer(l, asked);
    j = cJSON_Parse(text);
    if (!j)
        fail_msg("%s is not JSON:\n%s", asked, text);
    free(text);
    return j;
}

static size_t records_of(struct lab *l, const char *question, const char *form)
{
    char asked[128], *text;
    size_t n = 0;

    snprintf(asked, sizeof(asked), "show %s %s", question, form);
    text = answer(l, asked);
    for (const char *s = text; *s; s++)
        n += *s == '\n';
    free(text);
    return n;
}

static void each_form_has_the_same_rows(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY PVRDMA_HOST);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        const size_t n = records_of(&l, tables[i], "ndjson");
        cJSON *j = json_of(&l, tables[i], "json");

        /* A heading, and in Markdown a line below it. */
        assert_int_equal(records_of(&l, tables[i], "csv"), n + 1);
        assert_int_equal(records_of(&l, tables[i], "markdown"), n + 2);
        assert_int_equal(records_of(&l, tables[i], "format=csv"), n + 1);
        if (cJSON_IsArray(j))
            assert_int_equal(cJSON_GetArraySize(j), n);
        else
            assert_true(cJSON_IsObject(j));
        cJSON_Delete(j);
    }
    lab_close(&l);
}

/* A subject of only one device is refused on the other, with the command to type instead. */
static void each_device_tells_what_to_type_instead(void **state)
{
    static const struct {
        const char *asked, *remedy;
    } rows[] = {
        {"show ring h1.qp.sq", "type \"show vq h1.qp.sq\""},
        {"show dsr h1", "type \"show device h1\""},
        {"show uar h1", "type \"show events kinds=kick host=h1\""},
        {"show vq p.qp.sq", "type \"show ring p.qp.sq\""},
        {"stall p.qp.sq", "virtio has lose kick and interrupt"},
        {"lose the next cqe of h1.cq", "PVRDMA has lose doorbell, irq and cqe"},
        {"lose the next doorbell of p.dsr", "doorbells are those of work queues"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY PVRDMA_HOST);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_false(lab_try(&l, rows[i].asked));
        assert_has(l.s->diag.remedy, rows[i].remedy);
    }
    assert_false(lab_try(&l, "show ring p.qp.rq[16]"));
    assert_false(lab_try(&l, "show ring p.qp.rq[x]"));
    assert_false(lab_try(&l, "show ring p.qp.rq[0"));
    assert_false(lab_try(&l, "show ring p.qp.rq[4294967296]"));
    assert_false(lab_try(&l, "show ring nobody"));
    lab_close(&l);
}

#define POSTED_RING                                                                                \
    "host p device=pvrdma; on p { alloc_pd as pd; create_cq cqe=16 as cq\n"                        \
    "create_qp pd send_cq=cq recv_cq=cq max_recv_wr=64 max_send_wr=1 as qp\n"                      \
    "modify_qp qp state=INIT port=1 pkey_index=0 access=lw }\n"

/* Of many slots in one state the first seven and the last one are printed, and all as rows. */
static void many_posted_slots_are_folded(void **state)
{
    static const struct {
        unsigned posted, lines; /* that begin with "slot" */
        const char *has, *lacks;
    } rows[] = {
        {1, 1, "slot 0   posted", "more that"},
        {9, 9, "slot 7   posted", "more that"},
        {10, 8, "...      2 more that are posted; \"show ring p.qp.rq csv\" prints all", "slot 7 "},
        {64, 8, "...      56 more that are posted;", "slot 62 "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char line[64], *text;
        unsigned n = 0;
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, POSTED_RING);
        snprintf(line, sizeof(line), "repeat %u { post_recv p.qp }", rows[i].posted);
        lab_run(&l, line);
        text = answer(&l, "show ring p.qp.rq");
        for (const char *at = strstr(text, "  slot "); at; at = strstr(at + 1, "  slot "))
            n++;
        assert_int_equal(n, rows[i].lines);
        assert_has(text, rows[i].has);
        assert_has_not(text, rows[i].lacks);
        snprintf(line, sizeof(line), "  slot %u", rows[i].posted - 1);
        assert_has(text, line);
        free(text);
        assert_int_equal(records_of(&l, "ring p.qp.rq", "csv"), rows[i].posted + 1);
        text = answer(&l, "show ring p.qp.sq");
        assert_has(text, "1 slot of ");
        assert_has(text, "free     1 of 1 slot\n");
        free(text);
        lab_close(&l);
    }
}

static void rows_have_the_names_of_the_rdma_tool(void **state)
{
    static const struct {
        const char *question, *keys[8];
    } rows[] = {
        {"qp", {"ifname", "lqpn", "rqpn", "type", "state", "rq-psn", "sq-psn", "path-mig-state"}},
        {"cq", {"ifname", "cqn", "cqe", "users"}},
        {"mr", {"ifname", "mrn", "mrlen", "rkey", "lkey", "iova", "pdn"}},
        {"pd", {"ifname", "pdn", "users"}},
    };
    struct lab l;
    cJSON *j;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        j = json_of(&l, rows[i].question, "json");
        for (size_t k = 0; k < ARRAY_LEN(rows[i].keys) && rows[i].keys[k]; k++) {
            if (!cJSON_GetObjectItem(cJSON_GetArrayItem(j, 0), rows[i].keys[k]))
                fail_msg("show %s json has no \"%s\"", rows[i].question, rows[i].keys[k]);
        }
        cJSON_Delete(j);
    }
    j = json_of(&l, "qp h1.qp", "json"); /* one object: all of its values */
    assert_int_equal(cJSON_GetObjectItem(j, "lqpn")->valueint, 2);
    assert_non_null(cJSON_GetObjectItem(j, "counters"));
    cJSON_Delete(j);
    j = json_of(&l, "h1.qp", "json"); /* a path: with the names of paths */
    assert_int_equal(cJSON_GetObjectItem(j, "qpn")->valueint, 2);
    cJSON_Delete(j);
    lab_close(&l);
}

static void a_life_is_told_with_what_is_missing(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, CONNECTED "post_recv h2.qp wr_id=7 sge=mr[0:1k]; drop next from=h1 as f1\n"
                          "post_send h1.qp wr_id=1 sge=mr[0:64] signaled; step packet");
    assert_page(&l, "the life of a send under way", "show life h1.qp wr_id=1",
                "post # answer - interrupt - req_notify");
    lab_run(&l, "run");
    assert_page(&l, "the life of a send that is complete", "show life h1.qp wr_id=1",
                "later by sent again # attempt 2 answer # completion # poll - poll_cq");
    assert_page(&l, "the life of a send that is complete", "show life h1.cq.wc[0]",
                "later by sent again # attempt 2 answer # completion # poll - poll_cq");
    assert_page(&l, "the life of a receive", "show life h2.qp.rq",
                "RECV wr_id=7 first packet # completion #");
    assert_page(&l, "the life of a receive", "show life h2.cq.wc[0]",
                "RECV wr_id=7 first packet # completion #");
    lab_run(&l, "poll_cq h1.cq");
    assert_page(&l, "the life of a send that was polled", "show life h1.qp", "interrupt - poll #");
    lab_run(&l, "post_recv h2.qp wr_id=8 sge=mr[0:1k]; req_notify_cq h1.cq\n"
                "post_send h1.qp wr_id=1 sge=mr[0:64] signaled; run; poll_cq h1.cq");
    assert_page(&l, "the life of a send with an interrupt", "show life h1.qp wr_id=1",
                "interrupt #"); /* the last one of that number */
    assert_page(&l, "the life of a send that was polled", "show life h1.cq.wc[0]",
                "interrupt - poll #"); /* still the first one */
    assert_false(lab_try(&l, "show life h1.qp wr_id=9"));
    assert_has(l.s->diag.message, "no work request with wr_id=9 is recorded there");
    assert_false(lab_try(&l, "show life h1.mr"));
    assert_has(l.s->diag.message, "h1.mr is no work request");
    assert_false(lab_try(&l, "show life h1.qq"));
    lab_close(&l);
}

/* Long messages, and services without responses. */
static void each_operation_has_its_life(void **state)
{
    static const struct {
        const char *lines, *asked, *name, *words;
    } rows[] = {
        {"post_recv h2.qp sge=mr[0:4k]; post_send h1.qp sge=mr[0:4k] signaled",
         "show life h1.qp.sq", "the life of a long send",
         "RC_SEND_FIRST psn=100 last packet # RC_SEND_LAST psn=103 answer #"},
        {"post_send h1.qp op=rdma_read sge=mr[0:64] remote=h2.mr[0] signaled", "show life h1.qp",
         "the life of a READ", "RC_RDMA_READ_REQUEST psn=100 RC_RDMA_READ_RESPONSE_ONLY psn=100"},
        {"post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64]", "show life h1.qp.sq",
         "the life of a send that was not signaled", "answer # given back # signaled"},
        {"post_recv h2.qp wr_id=3 sge=mr[0:64]; modify_qp h2.qp state=ERR", "show life h2.qp.rq",
         "the life of a receive that was flushed", "first packet - WR_FLUSH_ERR"},
        {"drop next from=h1; post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64]",
         "show life h1.qp.sq", "the life of a send that was lost", "lost # sent again #"},
        {"on h1,h2 { create_srq pd as srq; create_qp pd send_cq=cq recv_cq=cq srq=srq as q2 }\n"
         "connect h1.q2 h2.q2; post_srq_recv h2.srq wr_id=9 sge=mr[0:64]\n"
         "post_send h1.q2 sge=mr[0:64]",
         "show life h2.srq", "the life of a shared receive",
         "RECV wr_id=9 first packet # completion #"},
        /* Requests with the same number are distinguished, */
        {"post_recv h2.qp sge=mr[0:1k]; post_recv h2.qp sge=mr[0:1k]; drop next from=h2\n"
         "post_send h1.qp wr_id=5 sge=mr[0:64] signaled\n"
         "post_send h1.qp wr_id=5 sge=mr[0:128] signaled",
         "show life h1.cq.wc[0]", "the life of the first send of a number",
         "SEND wr_id=5, 64 RC_SEND_ONLY psn=100 answer"},
        {"post_recv h2.qp sge=mr[0:1k]; post_recv h2.qp sge=mr[0:1k]; drop next from=h2\n"
         "post_send h1.qp wr_id=5 sge=mr[0:64] signaled\n"
         "post_send h1.qp wr_id=5 sge=mr[0:128] signaled; run; poll_cq h1.cq max=2",
         "show life h1.cq.wc[1]", "the life of the second send of a number",
         "SEND wr_id=5, 128 RC_SEND_ONLY psn=101 poll #"},
        /* and a completion that found no space is no success without one. */
        {"repeat 17 { post_send h1.qp op=rdma_write sge=mr[0:8] remote=h2.mr[0] signaled; run }",
         "show life h1.qp", "the life of a send without room for its completion",
         "completion # h1.cq CQ error"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, CONNECTED);
        lab_run(&l, rows[i].lines);
        lab_run(&l, "run");
        assert_page(&l, rows[i].name, rows[i].asked, rows[i].words);
        lab_close(&l);
    }
}

static void a_refused_access_is_told_by_how_much_it_is_outside(void **state)
{
    static const struct {
        const char *remote, *name, *words;
    } rows[] = {
        {"h2.mr[4090]", "an access that ends behind the region", "h2 58"},
        {"139637976731648", "an access behind the region", "h2 64"},
        {"139637976727536", "an access that begins before the region", "h2 16"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char line[160];
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, CONNECTED);
        assert_page(&l, "no access was refused", "show memory", "mrlen h2.mr lw,rw,rr");
        snprintf(line, sizeof(line),
                 "post_send h1.qp op=rdma_write sge=mr[0:64] remote=%s rkey=h2.mr signaled; run",
                 rows[i].remote);
        lab_run(&l, line);
        assert_page(&l, rows[i].name, "show memory", rows[i].words);
        lab_run(&l, "rereg_mr h2.mr access=lw");
        assert_answers(&l, "show memory", "h2.mr");
        assert_int_equal(records_of(&l, "memory h1", "ndjson"), 1); /* h2 refused it */
        assert_int_equal(records_of(&l, "memory h2", "ndjson"), 2);
        lab_close(&l);
    }
}

static void what_changed_since_the_last_look_is_marked(void **state)
{
    struct lab l;
    uint64_t hash;
    char *text;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, CONNECTED "post_recv h2.qp wr_id=7 sge=mr[0:1k]");
    hash = rdl_hash(l.s->lab);
    text = answer(&l, "show vq h1.qp.sq");
    assert_has(text, "  free     16 of 16 descriptors, the driver's\n"); /* the first look */
    free(text);
    assert_int_equal(rdl_hash(l.s->lab), hash); /* looking changes nothing */
    lab_run(&l, "post_send h1.qp wr_id=1 sge=mr[0:64] signaled nokick");
    assert_page(&l, "a posted descriptor", "show vq h1.qp.sq",
                "* avail.idx 0 * desc 0 desc 0, kick * #");
    text = answer(&l, "show vq h1.qp.sq");
    assert_has_not(text, "\n*"); /* now it is known */
    free(text);
    lab_run(&l, "kick h1.qp.sq; run");
    assert_page(&l, "a used descriptor", "show vq h1.qp.sq", "* used.idx desc 0, poll_cq");
    assert_page(&l, "a used descriptor of a completion queue", "show vq h1.cq", "poll_cq");
    text = answer(&l, "show vq h1.qp.sq csv");
    assert_has(text, "queue,entry,owner,changed,addr,bytes,device,what,not-free\r\n");
    assert_has(text, "h1.qp.sq,desc 0,driver,false,");
    free(text);
    lab_close(&l);
}

static void a_packet_is_compared_with_the_one_before(void **state)
{
    struct lab l;
    cJSON *j, *field;
    bool found = false;
    char *text;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, CONNECTED "post_recv h2.qp wr_id=7 sge=mr[0:1k]; post_recv h2.qp sge=mr[0:1k]\n"
                          "post_send h1.qp wr_id=1 sge=mr[0:64]; step packet");
    text = answer(&l, "show packet");
    assert_has_not(text, "was");
    free(text);
    lab_run(&l, "run; post_send h1.qp wr_id=2 sge=mr[0:64]; step packet");
    assert_page(&l, "a packet and the one before", "show packet",
                "* 0033 00 00 65 PSN 101 100 * #");
    j = json_of(&l, "packet", "json");
    assert_non_null(cJSON_GetObjectItem(j, "before"));
    cJSON_ArrayForEach(field, cJSON_GetObjectItem(j, "fields"))
    {
        if (strcmp(cJSON_GetObjectItem(field, "name")->valuestring, "PSN") == 0) {
            assert_string_equal(cJSON_GetObjectItem(field, "was")->valuestring, "100");
            found = true;
        }
    }
    assert_true(found);
    cJSON_Delete(j);
    lab_close(&l);
}

static void events_are_the_story_unless_all_are_asked_for(void **state)
{
    struct lab l;
    char *story, *all, *later;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    story = answer(&l, "show events");
    all = answer(&l, "show events all");
    assert_has(story, "post_send");
    assert_has(story, "RC_SEND_ONLY psn=100");
    assert_has_not(story, "reg_write");
    assert_has(story, "... 25");
    assert_has(story, "show events all\n");
    assert_has(all, "reg_write");
    assert_true(strlen(all) > 10 * strlen(story));
    later = answer(&l, "show events from=#54");
    assert_has(later, "timeout");
    assert_has_not(later, "post_send");
    free(later);
    later = answer(&l, "show events #1");
    assert_has(later, "reg_write"); /* a tick has everything */
    free(later);
    later = answer(&l, "show events host=h1 from=#50");
    assert_has(later, ": show events all host=h1 from=#50\n"); /* the options are kept */
    free(later);
    free(story);
    free(all);
    assert_false(lab_try(&l, "show events from=x"));
    assert_has(l.s->diag.message, "from where?");
    lab_close(&l);
}

/* In a block on a host, too, where words may be names on that host. */
/* What a response of the control queue says is in every form. */
static void a_response_is_read_in_rows_as_well(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1; break ctrl_execute once; create_cq h1 as cq");
    assert_answers(&l, "show vq h1.ctrl", "OK cqn=1");
    assert_answers(&l, "show vq h1.ctrl csv", "OK cqn=1");
    lab_close(&l);
}

static void words_of_a_question_stay_words(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    assert_answers(&l, "on h1 { show events last 3 }", "cqe");
    assert_answers(&l, "on h1 { show life qp }", "SEND wr_id=1");
    assert_answers(&l, "on h1 { show qp qp json }", "\"lqpn\":2");
    assert_answers(&l, "show qp h1 json", "[{\"qp\":\"h1.qp\"");
    lab_close(&l);
}

static void names_stand_for_numbers(void **state)
{
    struct rdl_value v;
    struct lab l;
    size_t at;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; link h1 h2\n"
                "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rr,rw as mr\n"
                "  reg_mr pd len=4k as other; create_cq as cq\n"
                "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
                "modify_qp h1.qp state=INIT pkey_index=0 port=1 access=rw\n"
                "modify_qp h1.qp state=RTR ah=h2 mtu=1024 dest_qpn=h2.qp rq_psn=77 "
                "max_dest_rd_atomic=1 min_rnr_timer=12\n"
                "modify_qp h1.qp state=RTS sq_psn=55 timeout=4 retry_cnt=7 rnr_retry=7 "
                "max_rd_atomic=1\n"
                "modify_qp h2.qp state=INIT pkey_index=0 port=1 access=rw\n"
                "modify_qp h2.qp state=RTR ah=h1 mtu=1024 dest_qpn=h1.qp rq_psn=h1.qp "
                "max_dest_rd_atomic=1 min_rnr_timer=12\n"
                "modify_qp h2.qp state=RTS sq_psn=h1.qp.rq_psn timeout=4 retry_cnt=7 rnr_retry=7 "
                "max_rd_atomic=1\n"
                "post_recv h2.qp sge=mr[0:1k] lkey=mr\n"
                "post_send h1.qp sge=mr[0:64] lkey=h1.mr signaled; run");
    assert_int_equal(rdl_inspect(l.s->lab, "h2.qp.rq_psn", &v, &at), RDL_OK);
    assert_int_equal(v.number, 56);
    assert_int_equal(rdl_inspect(l.s->lab, "h2.qp.sq_psn", &v, &at), RDL_OK);
    assert_int_equal(v.number, 77);
    assert_answers(&l, "show cq h1.cq", "SUCCESS");
    assert_false(lab_try(&l, "post_send h1.qp sge=mr[0:64] lkey=h1.cq"));
    assert_has(l.s->diag.message, "lkey: h1.cq is a completion queue, which has no lkey");
    assert_false(lab_try(&l, "post_send h1.qp sge=mr[0:64] lkey=h1.mrr"));
    assert_has(l.s->diag.remedy, "did you mean \"h1.mr\"?");
    assert_false(lab_try(&l, "modify_qp h1.qp sq_psn=h1"));
    lab_run(&l, "post_send h1.qp sge=mr[0:64] lkey=other signaled; run");
    assert_answers(&l, "show cq h1.cq", "LOC_PROT_ERR");
    lab_close(&l);
}

/* The regions of setup are as large as the user says. */
static void setup_makes_regions_of_a_size(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "setup mr=16k; setup c d");
    assert_answers(&l, "show h2.mr.bytes", "16384");
    assert_answers(&l, "show d.mr.bytes", "4096");
    lab_close(&l);
}

/* A time at which a timer runs out is no duration. */
static void a_timer_is_printed_with_the_time_when_it_is_due(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "setup quiet; post_send h1.qp sge=mr[0:64]; run 500ns");
    assert_answers(&l, "show h1.qp", "ack timer due t=");
    assert_answers(&l, "show h2.qp", "ack timer off");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lab_fits_a_screen),
        cmocka_unit_test(every_subject_is_asked_for_and_in_the_help),
        cmocka_unit_test(every_subject_alone_leads_to_show),
        cmocka_unit_test(each_form_has_the_same_rows),
        cmocka_unit_test(many_posted_slots_are_folded),
        cmocka_unit_test(each_device_tells_what_to_type_instead),
        cmocka_unit_test(rows_have_the_names_of_the_rdma_tool),
        cmocka_unit_test(a_life_is_told_with_what_is_missing),
        cmocka_unit_test(each_operation_has_its_life),
        cmocka_unit_test(a_refused_access_is_told_by_how_much_it_is_outside),
        cmocka_unit_test(what_changed_since_the_last_look_is_marked),
        cmocka_unit_test(a_packet_is_compared_with_the_one_before),
        cmocka_unit_test(events_are_the_story_unless_all_are_asked_for),
        cmocka_unit_test(a_response_is_read_in_rows_as_well),
        cmocka_unit_test(words_of_a_question_stay_words),
        cmocka_unit_test(names_stand_for_numbers),
        cmocka_unit_test(setup_makes_regions_of_a_size),
        cmocka_unit_test(a_timer_is_printed_with_the_time_when_it_is_due),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
