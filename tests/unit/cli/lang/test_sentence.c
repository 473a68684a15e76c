/* SPDX-License-Identifier: MIT */
/* Tests of faults written as sentences: each gives the same step as keys would, and what does not
 * fit is reported.
 */
#include "cli/cli_testing.h"
#include "cli/lang/line.h"
#include "cli/lang/sentence.h"

/* A sentence, and the same step in keys. */
struct row {
    const char *in, *out;
};

static void assert_becomes(const struct row *r)
{
    struct script s = script_of(r->in), again;
    char *once, *twice;

    must_read(&s, false);
    once = written(line_write_script, &s);
    /* Options may be in any order, so only the set of them is compared. */
    again = script_of(once);
    must_read(&again, false);
    twice = written(line_write_script, &again);
    assert_string_equal(once, twice);
    if (strcmp(once, r->out) != 0)
        print_message("%s\n  %s", r->in, once);
    assert_string_equal(once, r->out);
    free(once);
    free(twice);
    script_done(&again);
    script_done(&s);
}

static void sentences_become_keys(void **state)
{
    static const struct row rows[] = {
        {"drop the 2nd READ response of h1.qp", "drop nth=2 qp=h1.qp class=read_response\n"},
        {"delay the next ack from h2 for 5us", "delay from=h2 class=ACK by=5us next\n"},
        {"drop the next nack", "drop class=NAK next\n"},
        {"delay every ACK from h2 by 5us", "delay from=h2 count=0 class=ACK by=5us\n"},
        {"drop the next packet to h2", "drop to=h2 next\n"},
        {"duplicate the 3rd transmission of psn 5 of h1.qp",
         "duplicate psn=5 qp=h1.qp transmission=3\n"},
        {"drop the 2nd packet of the 3rd message of h1.qp", "drop nth=2 qp=h1.qp message=3\n"},
        {"drop message 3 of h1.qp", "drop qp=h1.qp message=3\n"},
        {"drop the first 3 frames from h1", "drop from=h1 count=3\n"},
        {"drop next 3 frames from h1", "drop from=h1 count=3 next\n"},
        {"drop the second retransmission of h1.qp", "drop qp=h1.qp transmission=3\n"},
        {"drop every retransmission of h1.qp", "drop count=0 qp=h1.qp where attempt >= 2\n"},
        {"drop the RNR NAK from h2", "drop from=h2 class=rnr_nak\n"},
        {"drop the 2nd sequence NAK", "drop nth=2 nak\n"},
        {"drop the NAK", "drop class=NAK\n"},
        {"drop every READ", "drop count=0 class=read_request\n"},
        {"drop the READ request of h1.qp", "drop qp=h1.qp class=read_request\n"},
        {"drop the atomic response to h1", "drop to=h1 class=atomic_response\n"},
        {"drop the 2nd RC_SEND_ONLY on h1-h2", "drop opcode=RC_SEND_ONLY nth=2 link=h1-h2\n"},
        {"drop every 3rd packet from h1", "drop from=h1 every=3\n"},
        {"delay every 2nd SEND of h1.qp by 5us count=4",
         "delay count=4 every=2 qp=h1.qp class=send by=5us\n"},
        {"drop every 3rd", "drop every=3\n"},
        {"lose every 2nd kick of h1.qp.sq", "lose what=kick queue=h1.qp.sq every=2\n"},
        {"drop every 2nd transmission of h1.qp", "drop count=0 qp=h1.qp transmission=2\n"},
        {"drop the 2nd of every SEND of h1.qp", "drop nth=2 count=0 qp=h1.qp class=send\n"},
        {"drop the next WRITE where bytes > 100 as f1",
         "drop class=write where bytes > 100 next as f1\n"},
        {"reorder the next SEND from h1 behind 2 frames within 20us",
         "reorder from=h1 class=send behind=2 within=20us next\n"},
        {"corrupt the next WRITE, field rkey", "corrupt class=write field=rkey next\n"},
        {"truncate the next SEND to 60 bytes", "truncate class=send bytes=60 next\n"},
        {"truncate the next SEND to h2 to 60 bytes", "truncate to=h2 class=send bytes=60 next\n"},
        {"mark every packet from h1", "mark from=h1 count=0\n"},
        {"forge the next ACK from h2: set psn to 7",
         "forge from=h2 class=ACK field=psn value=7 next\n"},
        {"forge the next ACK, set psn=7", "forge class=ACK field=psn value=7 next\n"},
        {"forge the next ACK set psn = 7", "forge class=ACK field=psn value=7 next\n"},
        /* The older key form still has the same meaning. */
        {"drop next ack from=h1 as f1", "drop from=h1 next ack as f1\n"},
        {"drop nak", "drop nak\n"},
        {"delay ack from=h2 by=5us", "delay from=h2 by=5us ack\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_becomes(&rows[i]);
}

/* A field without the name of its message is one of the message that the sentence is about. */
static void messages_become_keys(void **state)
{
    static const struct row rows[] = {
        {"drop the 2nd REP from h2", "drop from=h2 nth=2 cm=REP\n"},
        {"delay the next rtu by 10s", "delay cm=RTU by=10s next\n"},
        {"drop every SIDR_REQ to h2", "drop count=0 to=h2 cm=SIDR_REQ\n"},
        {"duplicate the first 2 REQs", "duplicate count=2 cm=REQ\n"},
        {"forge the next REJ from h2: set reason to STALE_CONN",
         "forge from=h2 cm=REJ field=REJ_reason value=10 next\n"},
        {"forge the next REJ, set reason=10", "forge cm=REJ field=REJ_reason value=10 next\n"},
        {"forge the next REQ: set pkey to 5", "forge cm=REQ field=REQ_pkey value=5 next\n"},
        {"forge the next packet: set pkey to 5", "forge field=pkey value=5 next\n"},
        {"corrupt the next REP, field starting_psn",
         "corrupt cm=REP field=REP_starting_psn next\n"},
        {"forge the next MRA: set mad_tid to 5", "forge cm=MRA field=mad_tid value=5 next\n"},
        {"drop the 2nd PUT_DONE from h1", "drop from=h1 nth=2 where lnet_type == PUT_DONE\n"},
        {"delay every noop by 1ms", "delay count=0 where lnet_type == NOOP by=1ms\n"},
        {"forge the next GET_DONE: set lnet_done_status to 7",
         "forge where lnet_type == GET_DONE field=lnet_done_status value=7 next\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_becomes(&rows[i]);
}

static void what_does_not_fit_is_said_where_it_is(void **state)
{
    static const struct {
        const char *in;
        size_t at;
        const char *message, *remedy;
    } rows[] = {
        {"drop the 2nd transmision of h1.qp", 13, "does not fit", "did you mean \"transmission\"?"},
        {"drop the next packet to", 21, "something must follow here: ", "for example: "},
        {"drop the last packet", 9, "is not known while it is sent", "say which it is"},
        {"drop if psn == 5", 5, "does not fit", "follows \"where\""},
        {"drop every other SEND", 11, "does not fit", "every 2nd"},
        {"drop every 2nd message of h1.qp", 11, "one message, or about all", "every 3rd packet"},
        {"drop every 0th packet", 11, "matches have the numbers 1 to 4294967294", "every packet"},
        {"drop the 4294967295th ACK", 9, "matches have the numbers 1 to", "is number 1"},
        {"drop every 2nd every 3rd packet", 21, "every is given twice", ""},
        {"drop the first two packets", 15, "does not fit", "in digits: next 2"},
        {"drop packet 22 from h1", 12, "does not fit", "the 22nd packet, next 22, psn 22"},
        {"delay acks from h2 5us", 19, "does not fit", "by 5us"},
        {"drop psn=5 h1.qp", 11, "does not fit", "of h1.qp"},
        {"drop the RNR", 9, "NAK must follow here", "RNR NAK"},
        {"drop psn 5 psn 6", 15, "psn is given twice", "psn=6"},
        {"drop the next ACK by 5us", 21, "drop has nothing to do with by=", "help drop"},
        {"drop the next packet psn x", 25, "", ""},
        {"mark the ACK NAK", 13, "class is given twice", ""},
        {"drop the next RPE", 14, "does not fit", "did you mean \"REP\"?"},
        {"drop the next DREQQ", 14, "does not fit", "did you mean \"DREQ\"?"},
        {"drop the REQ REP", 13, "cm is given twice", "cm=REP"},
        {"forge the next REJ: set reazon to 3", 24, "a REJ has no field",
         "did you mean \"reason\"?"},
        {"forge the next REJ: set reason to STALE_CON", 34, "no reason of a REJ is called",
         "did you mean \"STALE_CONN\"?"},
        {"forge the next REJ: set reason to HUNGRY", 34, "no reason of a REJ is called",
         "explain cm_reason"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct script s = script_of(rows[i].in);
        struct diag d = {.kind = DIAG_NONE};

        assert_false(line_read_script(&s, &d));
        if (d.at.at != rows[i].at || !strstr(d.message, rows[i].message) ||
            !strstr(d.remedy, rows[i].remedy))
            fail_msg("%s: at %zu, %s: %s", rows[i].in, d.at.at, d.message, d.remedy);
        script_done(&s);
    }
}

/* Returns true if a sentence of the command can begin with the word. */
static bool fits(struct pool *pool, enum cmd_id cmd, const char *word)
{
    struct step *st = step_new(pool, &cmd_table[cmd], (struct span){0, 0});
    struct sentence s = {.want = NULL};
    struct diag d = {.kind = DIAG_NONE};

    return sentence_take(&s, pool, st, word, (struct span){0, strlen(word)}, &d) == SENTENCE_TOOK;
}

/* Each word that TAB offers is understood, for frames or for a virtqueue. */
static void every_word_of_the_table_fits_somewhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_sentence_words; i++) {
        struct pool pool = {NULL};
        const char *word = sentence_words[i].word;

        if (strcmp(word, "where") != 0 && /* the line parser takes an expression there */
            !fits(&pool, CMD_forge, word) && !fits(&pool, CMD_lose, word) &&
            !fits(&pool, CMD_falsify, word))
            fail_msg("%s", word);
        pool_free(&pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_become_keys),
        cmocka_unit_test(messages_become_keys),
        cmocka_unit_test(what_does_not_fit_is_said_where_it_is),
        cmocka_unit_test(every_word_of_the_table_fits_somewhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
