/* SPDX-License-Identifier: MIT */
/* Tests of verbs_peer between two hosts of one lab.  The test carries the text between them.  Both
 * must print in each section what two instances printed on Linux with rxe
 * (tests/interop/verbs.expected).
 */
#define _GNU_SOURCE /* popen() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/programs/verbs_peer.h"
#include "emu/base/fnv.h"
#include "emu/base/text.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum_table.h"
#include "rdmalab/lab.h"
#include "testing.h"

#define SIDES       2u
#define STEPS_MAX   20000000u
#define IDLE_NS     1000000u
#define ARRAY(a)    (sizeof(a) / sizeof((a)[0]))
#define FILE_BYTES  (1u << 20)
#define COMMAND_MAX 256u

#define PPM 10000u /* parts per million in a percent */

struct setting {
    enum profile profile;
    uint32_t mtu;
    bool ipv6;
    uint32_t loss_percent;
};

struct pair {
    struct rdl_lab *lab;
    struct verbs_peer *p[SIDES]; /* sides a and b */
    FILE *out[SIDES];
    char *text[SIDES];
    size_t n[SIDES];
};

static void start(struct pair *t, const struct setting *s, const char *lines)
{
    static const char *const names[SIDES] = {"h1", "h2"};
    const struct rdl_lab_config lab = {.seed = 7, .check_invariants = true};
    const struct rdl_link_config link = {"h1", "h2", 1000, 0, s->loss_percent * PPM};
    rdl_link ret;

    *t = (struct pair){0};
    assert_int_equal(rdl_lab_new(&lab, &t->lab), RDL_OK);
    for (unsigned i = 0; i < SIDES; i++) {
        const struct rdl_host_config host = {.name = names[i], .profile = s->profile};
        struct verbs_peer_config c = {
            .gid_index = s->ipv6,
            .psn = 0xfffff0 + i,
            .patience = {.silence_ns = UINT64_C(90000000000), .client_ns = UINT64_C(5000000000)}};
        FILE *file = fmemopen(NULL, strlen(lines) + 1, "w+");

        assert_non_null(file);
        assert_int_equal(fputs(lines, file) >= 0, 1);
        rewind(file);
        assert_int_equal(rdl_host_add(t->lab, &host, &c.host), RDL_OK);
        snprintf(c.host_name, sizeof(c.host_name), "%s", names[i]);
        snprintf(c.server, sizeof(c.server), "%s", i == 1 ? "h1" : "");
        t->out[i] = open_memstream(&t->text[i], &t->n[i]);
        t->p[i] = verbs_peer_new(t->lab, &c, file, t->out[i]);
        assert_non_null(t->p[i]);
    }
    assert_int_equal(rdl_link_add(t->lab, &link, &ret), RDL_OK);
}

static void end(struct pair *t)
{
    for (unsigned i = 0; i < SIDES; i++) {
        verbs_peer_free(t->p[i]);
        fclose(t->out[i]);
        free(t->text[i]);
    }
    rdl_lab_free(t->lab);
}

static bool is_over(const struct pair *t)
{
    const enum verbs_peer_state a = verbs_peer_state(t->p[0]), b = verbs_peer_state(t->p[1]);

    return (a == VERBS_PEER_DONE && b == VERBS_PEER_DONE) || a == VERBS_PEER_FAILED ||
           b == VERBS_PEER_FAILED;
}

/* Exchanges what the TCP connection carries. */
static void carry(struct pair *t)
{
    for (unsigned i = 0; i < SIDES; i++) {
        size_t n;
        const char *text = verbs_peer_says(t->p[i], &n);

        verbs_peer_hears(t->p[1 - i], text, n);
    }
}

/* Lets both continue until they have ended or one has failed. */
static void play(struct pair *t)
{
    const struct rdl_limits none = {0};

    for (uint32_t n = 0; n < STEPS_MAX; n++) {
        for (unsigned i = 0; i < SIDES; i++)
            verbs_peer_go(t->p[i], rdl_now_ns(t->lab));
        carry(t);
        if (is_over(t)) {
            for (unsigned i = 0; i < SIDES; i++)
                fflush(t->out[i]);
            return;
        }
        if (rdl_broken_invariant(t->lab))
            fail_msg("%s", rdl_broken_invariant(t->lab));
        if (rdl_step(t->lab, RDL_STEP_TICK, none) == RDL_ERR_IDLE)
            assert_int_equal(rdl_run(t->lab, rdl_now_ns(t->lab) + IDLE_NS, none), RDL_OK);
    }
    fail_msg("it does not end");
}

/* Returns what verbs_lab.py prints.  The caller frees it. */
static char *printed(const char *arguments)
{
    char command[COMMAND_MAX];
    struct text t = text_on(command, sizeof(command));
    char *text = malloc(FILE_BYTES);
    FILE *pipe;
    size_t n;

    assert_non_null(text);
    text_addf(&t, "%s/verbs_lab.py %s", getenv("INTEROP"), arguments);
    assert_false(t.cut);
    pipe = popen(command, "r"); /* NOLINT(cert-env33-c): a test's own script */
    assert_non_null(pipe);
    n = fread(text, 1, FILE_BYTES - 1, pipe);
    text[n] = '\0';
    assert_int_equal(pclose(pipe), 0);
    return text;
}

/* Fails with the first different line, and its section. */
static void expect_same(const char *want, const char *got, const char *who)
{
    char section[64] = "";

    for (unsigned line = 1;; line++) {
        const size_t n = strcspn(want, "\n"), m = strcspn(got, "\n");

        if (n != m || memcmp(want, got, n) != 0)
            fail_msg("%s, line %u, %s: \"%.*s\" instead of \"%.*s\"", who, line, section, (int)m,
                     got, (int)n, want);
        if (!want[n] || !got[m]) {
            assert_int_equal(want[n], got[m]);
            return;
        }
        if (strncmp(want, "section", 7) == 0)
            snprintf(section, sizeof(section), "%.*s", (int)n, want);
        want += n + 1;
        got += m + 1;
    }
}

static void expect_transcripts(const struct setting *s)
{
    char arguments[64];
    char *lines, *want;
    struct pair t;

    snprintf(arguments, sizeof(arguments), "lines %u %u %s", s->mtu, s->loss_percent,
             s->ipv6 ? "ipv6" : "ipv4");
    lines = printed(arguments);
    start(&t, s, lines);
    play(&t);
    for (unsigned i = 0; i < SIDES; i++) {
        if (verbs_peer_state(t.p[i]) == VERBS_PEER_FAILED)
            print_message("# %c: %s\n", "ab"[i], verbs_peer_error(t.p[i]));
    }
    for (unsigned i = 0; i < SIDES; i++) {
        const char *who = i ? "b" : "a";

        snprintf(arguments, sizeof(arguments), "transcript %s %s %u %u", who,
                 enum_name(&enum_profile, s->profile), s->mtu, s->loss_percent);
        want = printed(arguments);
        expect_same(want, t.text[i], who);
        free(want);
    }
    end(&t);
    free(lines);
}

static void two_hosts_like_rxe_print_what_rxe_prints(void **state)
{
    static const struct setting rows[] = {
        {PROFILE_rxe, 256, false, 0},
        {PROFILE_rxe, 4096, true, 0},
        {PROFILE_rxe_7_3, 1024, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY(rows); i++)
        expect_transcripts(&rows[i]);
}

static void lost_frames_change_nothing_that_is_reliable(void **state)
{
    static const struct setting rows[] = {
        {PROFILE_rxe, 1024, false, 1},
        {PROFILE_iba, 512, true, 10},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY(rows); i++)
        expect_transcripts(&rows[i]);
}

/* The rows of verbs_likes.py state the reasons. */
static void two_hosts_by_the_specification_differ_where_it_is_said(void **state)
{
    const struct setting s = {PROFILE_iba, 1024, false, 0};

    (void)state;
    expect_transcripts(&s);
}

/* Returns a line for each section of @transcript: its name, and the FNV-1a hash of its lines.  The
 * caller frees it.
 */
static char *hashes_of(const char *transcript)
{
    static const char section[] = "section ";
    const size_t bytes = FILE_BYTES;
    char *ret = malloc(bytes);
    struct text t;

    assert_non_null(ret);
    t = text_on(ret, bytes);
    while (strncmp(transcript, section, strlen(section)) == 0) {
        const char *name = transcript + strlen(section), *body = strchr(name, '\n') + 1;
        const char *next = strstr(body, section), *end = strstr(body, "end\n");
        const char *to = next ? next : end;

        assert_non_null(to);
        text_addf(&t, "%.*s 0x%016" PRIx64 "\n", (int)(body - 1 - name), name,
                  fnv1a_64(FNV64_OF_NOTHING, body, (size_t)(to - body)));
        transcript = to;
    }
    assert_false(t.cut);
    return ret;
}

static void expect_random(const struct setting *s, const char *kind)
{
    char arguments[64];
    char *lines;
    struct pair t;

    snprintf(arguments, sizeof(arguments), "random lines %s", kind);
    lines = printed(arguments);
    start(&t, s, lines);
    play(&t);
    for (unsigned i = 0; i < SIDES; i++) {
        const char *who = i ? "b" : "a";
        char *want, *got = hashes_of(t.text[i]);

        if (verbs_peer_state(t.p[i]) == VERBS_PEER_FAILED)
            print_message("# %s: %s\n", who, verbs_peer_error(t.p[i]));
        snprintf(arguments, sizeof(arguments), "random %s %s", who, kind);
        want = printed(arguments);
        assert_string_equal(got, want);
        free(want);
        free(got);
    }
    end(&t);
    free(lines);
}

/* The results of random programs are compared with hashes of what two rxe devices printed
 * (tests/interop/random.expected).  tests/interop/run --seeds N shows the differences.
 */
static void random_programs_end_as_between_two_rxe(void **state)
{
    static const struct {
        const char *kind;
        struct setting s;
    } rows[] = {
        {"plain", {PROFILE_iba, 1024, false, 0}},
        {"mistake", {PROFILE_rxe, 1024, true, 0}},
        {"lossy", {PROFILE_iba, 1024, true, 2}},
        {"lossy", {PROFILE_rxe, 1024, false, 5}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY(rows); i++)
        expect_random(&rows[i].s, rows[i].kind);
}

/* Both sides read @lines.  Side a must fail with @why. */
static void expect_mistake(const char *lines, const char *why)
{
    const struct setting s = {PROFILE_iba, 1024, false, 0};
    struct pair t;

    start(&t, &s, lines);
    play(&t);
    assert_int_equal(verbs_peer_state(t.p[0]), VERBS_PEER_FAILED);
    assert_string_equal(verbs_peer_error(t.p[0]), why);
    assert_null(strstr(t.text[0], "end\n"));
    end(&t);
}

#define MADE                                                                                       \
    "alloc_pd as pd\nreg_mr pd len=4096 as mr\ncreate_cq as cq\n"                                  \
    "create_qp pd send_cq=cq recv_cq=cq as qp\n"

static void a_mistake_in_the_file_is_told_with_its_line(void **state)
{
    static const struct {
        const char *lines, *why;
    } rows[] = {
        {"dance\n", "line 1, dance: the lab has no such command"},
        {"# none\n\na: alloc_pd\n", "line 3, alloc_pd: it needs a new, short name"},
        {"alloc_pd as pd\nalloc_pd as pd\n", "line 2, alloc_pd: it needs a new, short name"},
        {"reg_mr pd len=1 as mr\n", "line 1, reg_mr: pd is unknown"},
        {"alloc_pd as pd\npoll_cq pd\n", "line 2, poll_cq: pd is of another kind"},
        {"alloc_pd as pd\nreg_mr pd len=x as mr\n", "line 2, reg_mr: x is no number"},
        {"alloc_pd as pd\nreg_mr pd access=lw,xx as mr\n", "line 2, reg_mr: access= has xx"},
        {"create_cq cqe=4 as a-name-that-no-host-takes\n",
         "line 1, create_cq: it needs a new, short name"},
        {"section\n", "line 1, section: it is too short"},
        {"section no-newline", "line 1 is too long, or does not end"},
        {"1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3\n",
         "line 1 has too many words"},
        {"a: sync one\nb: sync two\n", "line 1, sync: the other side waits at two"},
        {MADE "check mr[0:4097] fill=0\n", "line 5, check: mr[0:4097] is not all in its region"},
        {MADE "digest mr[4096:4097]\n", "line 5, digest: mr[4096:4097] is not all in its region"},
        {MADE "check mr[0:4] number=1\n", "line 5, check: what shall be there?"},
        {MADE "write mr[0:4]\n", "line 5, write: what shall be written?"},
        {MADE "write mr[4:0] fill=0\n", "line 5, write: mr[4:0] is no slice like mr[0:64]"},
        {MADE "connect qp peer.qp\n", "line 5, connect: the other side has told nothing about qp"},
        {MADE "connect qp qp\n", "line 5, connect: qp is no queue pair of the other side"},
        {MADE "poll_cq cq\n", "line 5, poll_cq: completion 1 of 1 does not come"},
        {MADE "post_send qp op=fly sge=mr[0:1]\n",
         "line 5, post_send: fly is no work request opcode"},
        {MADE "post_send qp op=rdma_write sge=mr[0:1]\n",
         "line 5, post_send: remote= must be like peer.mr[0]"},
        {MADE "post_send qp sge=mr[0:1025] inline\n",
         "line 5, post_send: so much cannot be sent inline"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY(rows); i++)
        expect_mistake(rows[i].lines, rows[i].why);
}

/* An errno of libibverbs is a line of the transcript, and the file continues. */
static void a_refused_call_is_a_line_of_the_transcript(void **state)
{
    static const char lines[] = MADE "post_send qp sge=mr[0:1]\n"
                                     "modify_qp qp state=RTS\n"
                                     "dealloc_pd pd\n"
                                     "check mr[0:64] pattern=1\n"
                                     "write mr[0:64] pattern=1\n"
                                     "write mr[3:4] fill=0xee\n"
                                     "check mr[0:64] pattern=1\n"
                                     "write mr[8:16] number=0x0102030405060708\n"
                                     "check mr[8:9] fill=8\n"
                                     "check mr[8:16] number=2\n"
                                     "digest mr[0:0]\n"
                                     "digest mr[4:8]\n"
                                     "digest mr[8:16]\n"
                                     "destroy_qp qp\n"
                                     "destroy_cq cq\n"
                                     "dereg_mr mr\n"
                                     "dealloc_pd pd\n";
    static const char want[] = "refused post_send: EINVAL\n"
                               "refused modify_qp: EINVAL\n"
                               "refused dealloc_pd: EBUSY\n"
                               "check pattern=1: wrong at byte 0\n"
                               "check pattern=1: wrong at byte 3\n"
                               "check fill=8: right\n"
                               "check number=2: wrong at byte 0\n"
                               "digest mr[0:0]: 0xcbf29ce484222325\n"
                               "digest mr[4:8]: 0xf7e9b9c02138bf70\n"
                               "digest mr[8:16]: 0x0c6d4496e17859d5\n"
                               "end\n";
    const struct setting s = {PROFILE_iba, 1024, false, 0};
    struct pair t;

    (void)state;
    start(&t, &s, lines);
    play(&t);
    assert_string_equal(t.text[0], want);
    assert_string_equal(t.text[1], want);
    end(&t);
}

/* A peer that is not verbs_peer is recognized by its first line. */
static void only_the_other_side_is_talked_to(void **state)
{
    static const struct {
        const char *line, *why;
    } rows[] = {
        {"0000:000011:842304:00000000000000000000ffff0a000101\n",
         "the other side does not speak verbs_peer's protocol"},
        {"verbs_peer 2 side=b gid=::ffff:10.0.0.2 psn=0x000001\n",
         "the other side does not speak verbs_peer's protocol"},
        {"verbs_peer 1 side=b gid=10.0.0 psn=0x000001\n",
         "the other side does not speak verbs_peer's protocol"},
        {"verbs_peer 1 side=b gid=::ffff:10.0.0.2\n",
         "the other side does not speak verbs_peer's protocol"},
        {"\n", "the other side does not speak verbs_peer's protocol"},
        {"verbs_peer 1 side=a gid=::ffff:10.0.0.2 psn=0x000001\n", "the other side is a, too"},
        {"verbs_peer 1 side=b gid=::ffff:10.0.0.2 psn=0x000001\nmr\n",
         "line 1, sync: the other side says: mr"},
    };
    static const char good[] = "verbs_peer 1 side=b gid=fe80::1 psn=0x00000a\nsync x\n";
    const struct setting s = {PROFILE_iba, 1024, false, 0};
    struct pair t;

    (void)state;
    for (size_t i = 0; i < ARRAY(rows); i++) {
        start(&t, &s, "sync x\n");
        verbs_peer_hears(t.p[0], rows[i].line, strlen(rows[i].line));
        verbs_peer_go(t.p[0], 0);
        assert_int_equal(verbs_peer_state(t.p[0]), VERBS_PEER_FAILED);
        assert_string_equal(verbs_peer_error(t.p[0]), rows[i].why);
        end(&t);
    }
    start(&t, &s, "sync x\n");
    for (size_t i = 0; i < strlen(good); i++) { /* it may come in parts */
        assert_int_not_equal(verbs_peer_state(t.p[0]), VERBS_PEER_DONE);
        verbs_peer_hears(t.p[0], good + i, 1);
        verbs_peer_go(t.p[0], 0);
    }
    assert_int_equal(verbs_peer_state(t.p[0]), VERBS_PEER_DONE);
    end(&t);
}

/* An endless line, or a silent side, ends the program. */
static void a_side_that_says_too_much_or_nothing_is_left(void **state)
{
    const struct setting s = {PROFILE_iba, 1024, false, 0};
    static const char hello[] = "verbs_peer 1 side=b gid=fe80::1 psn=0x00000a\n";
    struct pair t;

    (void)state;
    start(&t, &s, "sync x\n");
    for (unsigned i = 0; i < 20000; i++)
        verbs_peer_hears(t.p[0], "x", 1);
    verbs_peer_go(t.p[0], 0);
    assert_int_equal(verbs_peer_state(t.p[0]), VERBS_PEER_FAILED);
    end(&t);

    start(&t, &s, "sync x\n");
    verbs_peer_hears(t.p[0], hello, strlen(hello));
    verbs_peer_go(t.p[0], 0);
    verbs_peer_go(t.p[0], UINT64_C(90000000000));
    assert_int_equal(verbs_peer_state(t.p[0]), VERBS_PEER_RUN);
    verbs_peer_go(t.p[0], UINT64_C(90000000001));
    assert_string_equal(verbs_peer_error(t.p[0]),
                        "line 1, sync: the other side is silent: for 90s it has not said that it "
                        "is here, too");
    assert_true(verbs_peer_waited(t.p[0]));
    end(&t);

    start(&t, &s, "sync x\n");
    verbs_peer_go(t.p[0], 1000);
    verbs_peer_go(t.p[0], UINT64_C(5000001000));
    assert_int_equal(verbs_peer_state(t.p[0]), VERBS_PEER_HELLO);
    verbs_peer_go(t.p[0], UINT64_C(5000001001));
    assert_string_equal(verbs_peer_error(t.p[0]), "no client came within 5s");
    end(&t);

    start(&t, &s, "sync x\n");
    verbs_peer_go(t.p[0], 0);
    verbs_peer_met(t.p[0], 1000);
    verbs_peer_hears(t.p[0], hello, 9);
    verbs_peer_go(t.p[0], UINT64_C(90000001000));
    assert_int_equal(verbs_peer_state(t.p[0]), VERBS_PEER_HELLO);
    verbs_peer_go(t.p[0], UINT64_C(90000001001));
    assert_string_equal(verbs_peer_error(t.p[0]),
                        "the other side is silent: for 90s it has not said who it is");
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_hosts_like_rxe_print_what_rxe_prints),
        cmocka_unit_test(lost_frames_change_nothing_that_is_reliable),
        cmocka_unit_test(two_hosts_by_the_specification_differ_where_it_is_said),
        cmocka_unit_test(random_programs_end_as_between_two_rxe),
        cmocka_unit_test(a_mistake_in_the_file_is_told_with_its_line),
        cmocka_unit_test(a_refused_call_is_a_line_of_the_transcript),
        cmocka_unit_test(only_the_other_side_is_talked_to),
        cmocka_unit_test(a_side_that_says_too_much_or_nothing_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
