/* SPDX-License-Identifier: MIT */
/* Tests that every word shown to a user has an explanation. */
#include "testing.h"

#include "cli/explain/apropos.h"
#include "cli/explain/c_names.h"
#include "cli/explain/explain.h"
#include "cli/explain/explain_asked.h"
#include "cli/printed.h"
#include "emu/facts/enum/key_state.h"
#include "emu/facts/findings.h"
#include "emu/facts/leaf.h"
#include "emu/facts/qp_fsm.h"
#include "golden.h"
#include "print/show_text.h"
#include "rdmalab/status.h"

static void assert_explained(const char *word)
{
    struct printed p;

    if (!explain(printed_begin(&p)->out, word, false))
        fail_msg("no explanation of %s", word);
    if (strlen(printed_text(&p)) <= 60)
        fail_msg("the explanation of %s says nothing", word);
    assert_lines_fit(&p);
    printed_end(&p);
}

/* Fails unless `explain` prints the row itself: neither a synonym nor another meaning hides it. */
static void assert_row_explained(const struct enum_table *table, const struct enum_row *row)
{
    char head[SHOW_LINE_BYTES];
    struct text t = text_on(head, sizeof(head));
    struct printed p;

    text_addf(&t, "%s   %s", row->name, table->what);
    assert_true(explain(printed_begin(&p)->out, row->name, false));
    assert_prints(&p, head);
    assert_lines_fit(&p);
    printed_end(&p);
}

static void every_row_of_every_enumeration_is_explained(void **state)
{
    (void)state;
    for (const struct enum_table *const *t = enum_tables; *t; t++) {
        assert_explained((*t)->name);
        for (size_t i = 0; i < (*t)->n_rows; i++)
            assert_row_explained(*t, &(*t)->rows[i]);
    }
}

/* Words of forge and of conditions; "psn" is the PSN first, and "ttl" nothing else. */
static void every_field_of_a_frame_is_explained(void **state)
{
    struct printed p;

    (void)state;
    assert_explained(enum_wire_field.name);
    for (size_t i = 0; i < enum_wire_field.n_rows; i++)
        assert_explained(enum_wire_field.rows[i].name);
    assert_true(explain(printed_begin(&p)->out, "rej_reason", false));
    assert_prints(&p, "rej_reason   field of a frame");
    printed_end(&p);
}

/* Each page names the commands that show the thing. */
static void every_page_says_how_to_see_it(void **state)
{
    struct printed p;

    (void)state;
    for (const struct enum_table *const *t = enum_tables; *t; t++) {
        for (size_t i = 0; i < (*t)->n_rows; i++) {
            assert_true(explain(printed_begin(&p)->out, (*t)->rows[i].name, false));
            assert_prints(&p, "see it: ");
            printed_end(&p);
        }
    }
    for (unsigned i = 1; i < RDL_STATUS_COUNT; i++) {
        assert_true(explain(printed_begin(&p)->out, rdl_status_name((enum rdl_status)i), false));
        assert_prints(&p, "  remedy: ");
        assert_prints(&p, "see it: ");
        printed_end(&p);
    }
}

/* Each finding has a cause, a consequence and a place to look at next.  Words that the text names
 * with "explain WORD" are explained.
 */
static void every_finding_says_what_to_do(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FIND_COUNT; i++) {
        const struct finding_row *row = &finding_rows[i];
        struct printed p;

        if (strlen(row->cause) < 20 || strlen(row->effect) < 20 || strlen(row->next) < 10)
            fail_msg("%s is not explained", row->name);
        assert_true(explain(printed_begin(&p)->out, row->name, false));
        assert_prints(&p, "  cause        ");
        assert_prints(&p, "  consequence  ");
        assert_prints(&p, "  next         ");
        assert_lines_fit(&p);
        printed_end(&p);
        for (const char *at = strstr(row->next, "explain "); at; at = strstr(at, "explain ")) {
            char word[64];

            at += strlen("explain ");
            snprintf(word, sizeof(word), "%.*s", (int)strcspn(at, " .,;"), at);
            assert_explained(word);
        }
    }
}

static void every_status_of_a_call_is_explained(void **state)
{
    (void)state;
    for (unsigned i = 1; i < RDL_STATUS_COUNT; i++)
        assert_explained(rdl_status_name((enum rdl_status)i));
}

static void every_field_of_every_event_is_explained(void **state)
{
    (void)state;
    for (unsigned i = 0; i < EV_COUNT; i++) {
        const struct ev_schema *schema = ev_schema((enum ev_kind)i);

        for (size_t k = 0; k < schema->n_fields; k++)
            assert_explained(schema->fields[k].name);
    }
}

/* Events of machines and of the layer have a text of their own, and not only fields. */
static void every_event_of_machines_says_what_happened(void **state)
{
    static const enum ev_kind kinds[] = {
        EV_vfs,           EV_vf_read,     EV_vf_write,      EV_machine_up, EV_vf_given,
        EV_vf_set,        EV_vrnic_map,   EV_vrnic_unmap,   EV_vrnic_lost, EV_pool_grown,
        EV_centre_lookup, EV_centre_rule, EV_vrnic_refused,
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const char *name = ev_schema(kinds[i])->name;
        struct printed p;

        assert_true(explain(printed_begin(&p)->out, name, false));
        /* The text stands before the row. */
        if (strncmp(printed_text(&p), name, strlen(name)) != 0 ||
            printed_text(&p)[strlen(name)] != '\n')
            fail_msg("explain %s has no text", name);
        printed_end(&p);
    }
}

/* Words with which somebody asks, and the page that answers. */
static void words_of_questions_lead_to_their_page(void **state)
{
    static const struct {
        const char *word, *page;
    } asked[] = {
        {"completion event", "completion_event\n"},
        {"rearm", "closes the gap in which a wakeup"},
        {"lost wakeup", "completion_event\n"},
        {"immediate data", "imm\n"},
        {"rdma write with immediate", "RDMA_WRITE_WITH_IMM "},
        {"write arrived", "Three ways to tell its program"},
        {"polling memory", "only after a completion"},
        {"flush error", "WR_FLUSH_ERR "},
        {"first error", "first_error\n"},
        {"error state", "ERR "},
        {"recover", "move it to RESET"},
        {"resend", "retransmission\n"},
        {"no receive posted", "rnr "},
        {"sack", "selective_repeat\n"},
        {"fast retransmit", "NAK_PSN_SEQUENCE"},
        {"lost datagram", "loss "},
        {"doorbell cost", "VM exit"},
        {"kick suppression", "EVENT_IDX "},
        {"psn exchange", "rdma_cm exchange them"},
        {"unreliable", "UC or UD, repairs nothing"},
        {"memory key", "The lkey names it"},
        {"QP0", "no queue pair 0"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        struct printed p;

        assert_true(explain(printed_begin(&p)->out, asked[i].word, false));
        if (!strstr(printed_text(&p), asked[i].page))
            fail_msg("%s: no \"%s\" in\n%s", asked[i].word, asked[i].page, printed_text(&p));
        printed_end(&p);
    }
}

/* The page of the states begins with the posts that the verbs accept. */
static void states_say_first_what_may_be_posted(void **state)
{
    struct printed p;

    (void)state;
    assert_true(explain(printed_begin(&p)->out, "qp-states", false));
    assert_non_null(strstr(printed_text(&p), "\n  INIT   receives         "));
    assert_non_null(strstr(printed_text(&p), "\n  ERR    sends, receives  "));
    assert_true(strstr(printed_text(&p), "\n  ERR ") < strstr(printed_text(&p), "RESET -> INIT"));
    printed_end(&p);
}

/* A second row for a word would never be printed. */
static void no_word_has_two_rows(void **state)
{
    static const char *const words[] = {
#define SUBJECT(what, list)
#define NOTE(table, text, see)
#define WORD(word, text, see) #word,
#define SAME(word, as)        #word,
#include "cli/explain/explain.def"
#undef SAME
#undef WORD
#undef NOTE
#undef SUBJECT
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        for (size_t k = 0; k < i; k++) {
            if (explain_same(words[i], words[k]))
                fail_msg("%s and %s are the same word", words[k], words[i]);
        }
    }
}

/* Each word that `explain` alone lists is accepted as it is printed. */
static void every_word_of_a_subject_is_explained(void **state)
{
    static const char *const lists[] = {
#define SUBJECT(what, list) list,
#define NOTE(table, text, see)
#define WORD(word, text, see)
#define SAME(word, as)
#include "cli/explain/explain.def"
#undef SAME
#undef WORD
#undef NOTE
#undef SUBJECT
    };
    struct printed p;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        char list[256], *save;

        snprintf(list, sizeof(list), "%s", lists[i]);
        for (char *w = strtok_r(list, ", ", &save); w; w = strtok_r(NULL, ", ", &save))
            assert_explained(w);
    }
    explain_subjects(printed_begin(&p)->out);
    assert_non_null(strstr(printed_text(&p), "\n  services  "));
    assert_lines_fit(&p);
    printed_end(&p);
}

static void assert_one(void *ctx, const char *word)
{
    struct printed p;

    ++*(unsigned *)ctx;
    if (!explain(printed_begin(&p)->out, word, false))
        fail_msg("no explanation of %s", word);
    printed_end(&p);
}

static void every_word_that_is_offered_is_explained(void **state)
{
    unsigned n = 0;

    (void)state;
    explain_each(assert_one, &n);
    assert_true(n > 300);
}

/* A leaf is found by its key, by its node and key, and by its path. */
static void leaves_of_the_inspect_tree_are_explained(void **state)
{
    static const char *const words[] = {"next_psn", "qp.next_psn", "h1.qp.next_psn"};
    struct printed p;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        assert_true(explain(printed_begin(&p)->out, words[i], false));
        assert_golden("next_psn", printed_text(&p));
        printed_end(&p);
    }
    assert_false(explain(printed_begin(&p)->out, "mr.next_psn", false));
    printed_end(&p);
    assert_explained("counters");
    /* An object with a name of its own is found by the kind of object that can have the name. */
    assert_explained("h1.conn.next_psn");
    assert_explained("f1.psn");
    assert_false(explain(printed_begin(&p)->out, "h1.conn.xyzzy", false));
    printed_end(&p);
    assert_explained("h1.cq.wc[3].status");
    for (unsigned i = NODE_lab; i < NODE_COUNT; i++)
        assert_explained(node_rows[i].title);
}

static void the_states_show_what_each_move_needs(void **state)
{
    struct printed p;

    (void)state;
    assert_true(explain(printed_begin(&p)->out, "qp-states", false));
    assert_prints(&p, "RESET -> INIT   needs access, pkey_index, port\n");
    for (size_t i = 0; i < n_qp_edges; i++) {
        char move[64];
        struct text t = text_on(move, sizeof(move));

        text_addf(&t, "%s -> %s", enum_name(&enum_qp_state, qp_edges[i].from),
                  enum_name(&enum_qp_state, qp_edges[i].to));
        assert_prints(&p, move);
    }
    assert_lines_fit(&p);
    printed_end(&p);
}

static void case_and_dashes_do_not_matter(void **state)
{
    static const char *const words[] = {"retry_exc_err", "RETRY-EXC-ERR", "go-back-n",
                                        "Go_Back_N",     "avail.idx",     "RDL_ERR_BUSY"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        assert_explained(words[i]);
}

static void one_word_can_mean_several_things(void **state)
{
    struct printed p;

    (void)state;
    assert_true(explain(printed_begin(&p)->out, "SEND", false));
    assert_prints(&p, "SEND   work request opcode 2");
    assert_prints(&p, "SEND   completion opcode 0");
    printed_end(&p);
}

/* The number of a behaviour is enough to name it; an unverified source is shown only on request. */
static void a_behaviour_tells_who_shows_it(void **state)
{
    struct printed p;

    (void)state;
    assert_true(explain(printed_begin(&p)->out, "b33", false));
    assert_in_order(printed_text(&p),
                    "B33 4.096 us shown by scenarios/04-lost-request.json scenarios/07- "
                    "tests/unit/xport/test_rc.c: retries_run_out");
    assert_null(strstr(printed_text(&p), "sources"));
    assert_lines_fit(&p);
    printed_end(&p);
    assert_true(explain(printed_begin(&p)->out, "B33", true));
    assert_in_order(printed_text(&p),
                    "sources [IBTA1 9.7.6.1.3 (unverified)] rules RETRY_LIMIT shown by");
    printed_end(&p);
    assert_true(explain(printed_begin(&p)->out, "B74", false));
    assert_in_order(printed_text(&p), "sources [IBTA1 C9-88] shown by");
    printed_end(&p);
    assert_false(explain(printed_begin(&p)->out, "B999", false));
    printed_end(&p);
}

static void assert_asked(const char *asked, const char *part)
{
    struct printed p;

    if (!explain_asked(printed_begin(&p)->out, NULL, asked, false))
        fail_msg("no explanation of %s", asked);
    assert_prints(&p, part);
    assert_lines_fit(&p);
    printed_end(&p);
}

/* Each C name leads to its own row, and to no other with the same name. */
static void every_name_of_c_is_explained(void **state)
{
    char name[64], lower[64];
    struct printed p;
    unsigned n = 0;

    (void)state;
    for (const struct enum_table *const *t = enum_tables; *t; t++) {
        for (size_t i = 0; i < (*t)->n_rows; i++) {
            struct text c = text_on(name, sizeof(name)), head = text_on(lower, sizeof(lower));

            if (!c_name_add(&c, *t, &(*t)->rows[i]))
                continue;
            text_addf(&head, "%s   %s ", (*t)->rows[i].name, (*t)->what);
            assert_asked(name, lower);
            n++;
        }
    }
    assert_true(n > 120);
    assert_asked("RDMA_CM_EVENT_REJECTED", "REJECTED   event of rdma_cm 8, in C RDMA_CM_EVENT_REJ");
    assert_asked("ib_cm_rej_stale_conn", "STALE_CONN   reason of a REJ 0xa, in C IB_CM_REJ_STALE");
    assert_asked("ib_post_send", "a program calls ibv_post_send(); here: post_send");
    assert_asked("ib_wc_retry_exc_err", "RETRY_EXC_ERR   completion status 12, in C IBV_WC_RETRY");
    assert_asked("VIRTIO_F_IN_ORDER", "IN_ORDER\n  Feature 35");
    assert_asked("virtio_f_notification_data", "NOTIFICATION_DATA\n  Feature 38");
    assert_asked("VIRTIO_F_ACCESS_PLATFORM", "ACCESS_PLATFORM   virtio feature 33");
    assert_false(explain_asked(printed_begin(&p)->out, NULL, "VIRTIO_F_kick", false));
    printed_end(&p);
    assert_true(explain_asked(printed_begin(&p)->out, NULL, "ibv_post_send", false));
    assert_prints(&p, "post_send   command of the prompt\n  post a request");
    printed_end(&p);
}

static void a_number_is_told_by_subject(void **state)
{
    (void)state;
    assert_asked("12", "\n  completion status           RETRY_EXC_ERR: transport");
    assert_asked("12", "\n  BTH opcode                  RC_RDMA_READ_REQUEST");
    assert_asked("12", "\n  code of min_rnr_timer=      640us");
    assert_asked("0x60", "byte of an AETH syndrome    NAK_PSN_SEQUENCE");
    assert_asked("0x2c", "RNR_NAK, with timer code 12");
    assert_asked("15", "virtio device status bit    ACKNOWLEDGE, DRIVER, DRIVER_OK, FEATURES_OK");
    assert_asked("event 15", "SRQ_LIMIT_REACHED   asynchronous event 15, in C IBV_EVENT_SRQ");
    assert_asked("status 12", "  completion status           RETRY_EXC_ERR");
    assert_asked("vendor_err 12", "RESP_LENGTH   rule 12\n");
    assert_asked("opcode SEND", "SEND   completion opcode 0");
}

static void a_question_is_its_words(void **state)
{
    (void)state;
    assert_asked("avail ring", "avail_ring\n");
    assert_asked("what is a slot?", "slot\n");
    assert_asked("who owns the descriptor?", "owner\n");
    assert_asked("remote access", "remote_access\n");
    assert_asked("Remote-Key", "rkey\n");
}

/* Two words are compared by the facts that the tables have for both. */
static void two_words_are_compared(void **state)
{
    struct printed p;

    (void)state;
    assert_true(explain_asked(printed_begin(&p)->out, NULL, "RC vs UD", false));
    assert_in_order(printed_text(&p),
                    " RC UD is reliable connection unreliable datagram operations "
                    "SEND, SEND_WITH_IMM acknowledged yes no a SEND has BTH BTH, DETH");
    assert_lines_fit(&p);
    printed_end(&p);
    assert_true(explain_asked(printed_begin(&p)->out, NULL, "SEND versus WRITE", false));
    assert_in_order(printed_text(&p),
                    "SEND RDMA_WRITE takes a receive yes no headers - RETH answer "
                    "RC_ACKNOWLEDGE completion SEND RDMA_WRITE");
    printed_end(&p);
    assert_true(explain_asked(printed_begin(&p)->out, NULL, "RC vs UC vs UD more", false));
    assert_in_order(printed_text(&p),
                    " RC UC UD is reliable connection unreliable connection unreliable datagram "
                    "acknowledged yes no no number 2 3 4 explain RC; explain UC; explain UD");
    assert_lines_fit(&p);
    printed_end(&p);
    assert_asked("RC UC UD more", "acknowledged    yes                        no     ");
    assert_asked("kick vs doorbell vs polling", "explain kick; explain doorbell; explain polling");
    assert_false(explain_asked(printed_begin(&p)->out, NULL, "RC vs UC vs UD vs ERR", false));
    assert_false(explain_asked(p.out, NULL, "RC vs UC vs xyzzy", false));
    printed_end(&p);
    assert_asked("UC UD", "acknowledged    no                                       no\n");
    assert_asked("the difference between lkey and rkey", "\n  in structures   mr_keys, sge   ");
    assert_asked("PSN/MSN",
                 "\n  is              packet sequence number                   message seq");
    assert_asked("queue pair vs socket", "\n  meaning         One end of a connection");
    assert_asked("RTR vs RTS",
                 "\n  in C            IBV_QPS_RTR                              IBV_QPS_RTS\n");
    /* One of them is a table, which has no short meaning. */
    assert_asked("qp-states vs RTS", "explain qp_state RTS\n");
    assert_false(explain_asked(printed_begin(&p)->out, NULL, "RC vs xyzzy", false));
    assert_string_equal(printed_text(&p), "");
    printed_end(&p);
}

/* Two words of different sorts are one thing that has no page, or a question about both. */
static void only_words_of_one_sort_are_compared_without_being_asked(void **state)
{
    static const char *const asked[] = {"packet queue", "message socket", "error host"};
    struct printed p;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        assert_false(explain_asked(printed_begin(&p)->out, NULL, asked[i], false));
        assert_string_equal(printed_text(&p), "");
        printed_end(&p);
    }
    assert_asked("lkey rkey", "\n  meaning         Names a memory region");
    assert_asked("packet versus message", "\n  meaning         ");
}

/* The paragraphs of a cell stay in its column, and no cell is cut off. */
static void a_cell_may_have_paragraphs(void **state)
{
    struct printed p;

    (void)state;
    assert_true(explain_asked(printed_begin(&p)->out, NULL, "ACK vs ERR", false));
    assert_lines_fit(&p);
    for (const char *line = printed_text(&p); *line; line = strchr(line, '\n') + 1)
        assert_true(line[0] == ' ' || line[0] == '\n');
    printed_end(&p);
}

/* The words of documents lead to what a beginner means by them. */
static void words_of_documents_lead_to_what_they_mean(void **state)
{
    static const struct {
        const char *asked, *part;
    } rows[] = {
        {"accept", "to agree to a connection\n"},
        {"ack timeout", "how long a requester waits for an acknowledgement\n"},
        {"adapter", "device   RDMA device\n"},
        {"connection manager", "rdma_cm"},
        {"epoll", "epoll\n"},
        {"fragmentation", "segmentation   to cut a message into packets\n"},
        {"lost packet", "loss   a packet that does not arrive\n"},
        {"max message size", "message_size   "},
        {"memory registration", "registration   to make memory usable"},
        {"none", "none   no value\n"},
        {"ordering", "ordering   which work is done before which\n"},
        {"packet loss", "loss   a packet that does not arrive\n"},
        {"polling", "polling   to ask a completion queue"},
        {"write with immediate", "RDMA_WRITE_WITH_IMM   "},
        {"wrong rkey", "NAK_REMOTE_ACCESS   "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_asked(rows[i].asked, rows[i].part);
}

static void other_spellings_are_understood(void **state)
{
    static const struct {
        const char *asked, *head;
    } rows[] = {
        {"queue pairs", "qp   queue pair\n"},
        {"QueuePair", "qp   queue pair\n"},
        {"Q_Keys", "qkey   queue key"},
        {"retries", "retries   value of the node"},
        {"zero copy", "zero_copy   moving"},
        {"kernel-bypass", "kernel_bypass   using"},
        {"RoCE-v2", "RoCEv2   RDMA over"},
        {"IBV_ACCESS", "access   access flag"},
        {"rdma_listener", "listener\n"},
        {"ibv_ack_cq_event", "ack_cq_events   command"},
        {"send_wr", "ibv_send_wr   structure of libibverbs"},
        {"workrequests", "work_request   a request"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_asked(rows[i].asked, rows[i].head);
}

/* A word of many things names them, with the command that prints one; each such command works. */
static void other_things_of_a_word_can_be_asked_for(void **state)
{
    static const char *const words[] = {"access", "state", "qp",   "mr",
                                        "cq",     "lkey",  "kick", "SEND"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct printed p;
        unsigned n = 0;

        assert_true(explain_asked(printed_begin(&p)->out, NULL, words[i], false));
        assert_prints(&p, "\n  also:\n");
        for (const char *at = strstr(printed_text(&p), "  also:\n");
             (at = strstr(at, "  explain ")); n++) {
            char asked[64];

            at += strlen("  explain ");
            snprintf(asked, sizeof(asked), "%.*s", (int)strcspn(at, "\n"), at);
            assert_asked(asked, "\n");
        }
        assert_true(n > 0);
        printed_end(&p);
    }
    assert_asked("qp fields", "\n  qpn                   its number\n");
    assert_asked("qp more", "\nqp   value of the node cm");
    assert_asked("access values", "\nREMOTE_ATOMIC ");
    assert_asked("struct sge", "sge   structure of the virtio-rdma RFC");
    assert_asked("wr_reg.access", "access   field of wr_reg");
    assert_asked("event key", "key   kind of event");
}

static void near_words_are_told(void **state)
{
    static const struct {
        const char *asked, *near;
    } rows[] = {
        {"retr", "near it: retry, retries, retry_cnt, "},
        {"RETRY_EXC_ER", "did you mean \"RETRY_EXC_ERR\"?"},
        {"IBV_WC_RETRY_EXC_ER", "did you mean \"IBV_WC_RETRY_EXC_ERR\"?"},
        {"syn", "did you mean \"syndrome\"?"},
        {"PSN 100", "near it: psn, "},
        {"zzzzzzzzzzzz", EXPLAIN_WORDS},
    };
    struct printed p;
    char near[512];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct text t = text_on(near, sizeof(near));

        assert_false(explain_asked(printed_begin(&p)->out, NULL, rows[i].asked, false));
        assert_string_equal(printed_text(&p), "");
        printed_end(&p);
        explain_near(&t, rows[i].asked);
        if (strncmp(near, rows[i].near, strlen(rows[i].near)) != 0)
            fail_msg("%s: %s", rows[i].asked, near);
    }
}

static void what_fits_best_comes_first(void **state)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    const char *name, *part, *said;

    (void)state;
    assert_non_null(f);
    assert_false(apropos(f, "nothingofthesort", NULL));
    assert_false(apropos(f, "", NULL));
    assert_true(apropos(f, "notify", NULL));
    assert_int_equal(fclose(f), 0);
    name = strstr(text, "NOTIFY ");
    part = strstr(text, "req_notify_cq ");
    said = strstr(text, "interrupt ");
    assert_ptr_equal(name, text);
    assert_true(part && said && name < part && part < said);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_best_comes_first),
        cmocka_unit_test(every_row_of_every_enumeration_is_explained),
        cmocka_unit_test(every_field_of_a_frame_is_explained),
        cmocka_unit_test(every_page_says_how_to_see_it),
        cmocka_unit_test(every_name_of_c_is_explained),
        cmocka_unit_test(a_number_is_told_by_subject),
        cmocka_unit_test(a_question_is_its_words),
        cmocka_unit_test(two_words_are_compared),
        cmocka_unit_test(words_of_documents_lead_to_what_they_mean),
        cmocka_unit_test(only_words_of_one_sort_are_compared_without_being_asked),
        cmocka_unit_test(a_cell_may_have_paragraphs),
        cmocka_unit_test(other_spellings_are_understood),
        cmocka_unit_test(other_things_of_a_word_can_be_asked_for),
        cmocka_unit_test(near_words_are_told),
        cmocka_unit_test(every_finding_says_what_to_do),
        cmocka_unit_test(every_status_of_a_call_is_explained),
        cmocka_unit_test(every_field_of_every_event_is_explained),
        cmocka_unit_test(every_event_of_machines_says_what_happened),
        cmocka_unit_test(words_of_questions_lead_to_their_page),
        cmocka_unit_test(states_say_first_what_may_be_posted),
        cmocka_unit_test(no_word_has_two_rows),
        cmocka_unit_test(every_word_of_a_subject_is_explained),
        cmocka_unit_test(every_word_that_is_offered_is_explained),
        cmocka_unit_test(leaves_of_the_inspect_tree_are_explained),
        cmocka_unit_test(the_states_show_what_each_move_needs),
        cmocka_unit_test(case_and_dashes_do_not_matter),
        cmocka_unit_test(one_word_can_mean_several_things),
        cmocka_unit_test(a_behaviour_tells_who_shows_it),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
