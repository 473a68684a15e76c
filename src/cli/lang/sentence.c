/* SPDX-License-Identifier: MIT */
#include "cli/lang/sentence.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/lang/field_word.h"
#include "cli/lang/suggest.h"
#include "cli/lang/values.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/lnet_msg.h"
#include "emu/facts/enum_table.h"
#include "emu/wire/field.h"

#define WORD_BYTES  64u
#define ORDINAL_MAX (UINT32_MAX - 1) /* of `nth` and `every` */

const struct sentence_word sentence_words[] = {
    {"the", ""},
    {"next", "the next one, or: next 3"},
    {"first", "the first one from now on, or: first 3"},
    {"every", "all of them, from now on, or: every 3rd"},
    {"2nd", "let one pass, and take the next"},
    {"3rd", "let two pass, and take the next"},
    {"packet", "any frame"},
    {"frame", "any frame"},
    {"ACK", "a packet that only acknowledges"},
    {"NAK", "a NAK of any kind, but no RNR NAK"},
    {"RNR", "RNR NAK: receiver not ready"},
    {"sequence", "sequence NAK: a packet is missing"},
    {"READ", "the request of a READ, or: READ response"},
    {"WRITE", "a packet of an RDMA WRITE"},
    {"SEND", "a packet of a SEND"},
    {"atomic", "the request of an atomic, or: atomic response"},
#define MESSAGE(prefix, name, value, text) {#name, text},
    ENUM_CM_MESSAGE(MESSAGE) ENUM_LNET_MSG(MESSAGE)
#undef MESSAGE
        {"request", "a packet that asks for something"},
    {"answer", "an ACK, a NAK or a response"},
    {"response", "behind READ or atomic: what it brings back"},
    {"transmission", "the n-th time that a packet is sent: 2nd transmission"},
    {"retransmission", "a packet that was sent before"},
    {"message", "a packet of the n-th message: 2nd message of h1.qp"},
    {"psn", "its number: psn 5"},
    {"from", "who sends it: from h1"},
    {"to", "whom it is for: to h2"},
    {"of", "the queue pair whose work it is for: of h1.qp"},
    {"on", "the link where it is met: on h1-h2"},
    {"by", "how much later: by 5us"},
    {"behind", "how many frames overtake it: behind 2"},
    {"within", "how long it is held at most: within 20us"},
    {"bit", "the bit that is flipped: bit 400"},
    {"field", "the field of which a bit is flipped: field psn"},
    {"set", "the field that changes: set psn to 7"},
    {"kick", "of a queue: what a driver tells the device"},
    {"interrupt", "of a queue: what the device tells a driver"},
    {"doorbell", "of a queue of PVRDMA: what a driver tells the device"},
    {"cqe", "of a completion queue of PVRDMA: what the device writes"},
    {"data", "what the device writes to a buffer: data of the 2nd completion"},
    {"buffer", "what a device takes out of a queue"},
    {"completion", "what a device gives back"},
    {"length", "how much of a buffer a device says that it has written"},
    {"byte", "the byte of a buffer that is wrong: byte 8"},
    {"flip", "the bits of it that are inverted: flip 1"},
    {"for", "how long a queue stands still: for 20us"},
    {"in", "the queue where it happens: in h1.cq"},
    {"where", "a condition: where bytes > 100"},
};
const size_t n_sentence_words = ARRAY_LEN(sentence_words);

/* Words that are skipped. */
static const char *const fillers[] = {"the", "a",    "an", "it",  "with", "one",  "that",
                                      "is",  "sent", "in", "and", "goes", "byte", "bytes"};

/* Words before the value of a parameter. */
static const struct {
    const char *word, *param;
} leads[] = {
    {"from", "from"},     {"to", "to"},   {"of", "qp"},       {"on", "link"},
    {"over", "link"},     {"psn", "psn"}, {"by", "by"},       {"behind", "behind"},
    {"within", "within"}, {"bit", "bit"}, {"field", "field"}, {"opcode", "opcode"},
    {"class", "class"},   {"for", "by"},
};

/* The same for faults of a virtqueue. */
static const struct {
    const char *word, *param;
} queue_leads[] = {
    {"of", "queue"}, {"in", "queue"},      {"at", "queue"}, {"to", "queue"},  {"by", "by"},
    {"for", "for"},  {"chance", "chance"}, {"id", "id"},    {"byte", "byte"}, {"flip", "flip"},
};

/* Nouns that a virtqueue fault can count, and the value of `what` for `lose`; NULL: none. */
static const struct {
    const char *word, *what;
} queue_nouns[] = {
    {"kick", "kick"},     {"notification", "kick"},
    {"doorbell", "kick"}, {"interrupt", "interrupt"},
    {"irq", "interrupt"}, {"buffer", NULL},
    {"cqe", "cqe"},       {"completion", NULL},
    {"write", NULL},      {"answer", NULL},
    {"event", NULL},      {"read", "read"},
    {"length", "length"},
};

static const struct {
    const char *word, *class;
} classes[] = {
    {"ack", "ACK"},       {"acks", "ACK"},       {"nak", "NAK"},         {"naks", "NAK"},
    {"nack", "NAK"},      {"nacks", "NAK"},      {"send", "send"},       {"sends", "send"},
    {"write", "write"},   {"writes", "write"},   {"request", "request"}, {"requests", "request"},
    {"answer", "answer"}, {"answers", "answer"}, {"response", "answer"}, {"responses", "answer"},
};

/* The condition for each message of o2iblnd. */
static const char *const lnet_conditions[] = {
#define CONDITION(prefix, name, value, text) "lnet_type == " #name,
    ENUM_LNET_MSG(CONDITION)
#undef CONDITION
};

static const char *const ordinals[] = {"",      "first",   "second", "third", "fourth", "fifth",
                                       "sixth", "seventh", "eighth", "ninth", "tenth"};

static const char *const numbers[] = {"",    "one",   "two",   "three", "four", "five",
                                      "six", "seven", "eight", "nine",  "ten"};

static bool is(const char *text, const char *word)
{
    return strcasecmp(text, word) == 0;
}

/* Returns true if @text is @word or its plural. */
static bool is_some(const char *text, const char *word)
{
    const size_t n = strlen(word);

    return strncasecmp(text, word, n) == 0 && (text[n] == '\0' || is(text + n, "s"));
}

/* Returns true for digits with the end of an ordinal: "2nd", and "0th", which is none. */
static bool has_ordinal_end(const char *text)
{
    static const char *const ends[] = {"st", "nd", "rd", "th"};
    const size_t n = strspn(text, "0123456789");

    for (size_t i = 0; n > 0 && i < ARRAY_LEN(ends); i++) {
        if (is(text + n, ends[i]))
            return true;
    }
    return false;
}

/* The number of an ordinal: 2 for "2nd" or "second".  Returns 0 if it is none. */
static uint32_t ordinal(const char *text)
{
    unsigned long n;

    for (uint32_t i = 2; i < ARRAY_LEN(ordinals); i++) {
        if (is(text, ordinals[i]))
            return i;
    }
    if (!has_ordinal_end(text))
        return 0;
    n = strtoul(text, NULL, 10);
    return n <= ORDINAL_MAX ? (uint32_t)n : 0;
}

/* Adds the value @text to parameter @name, which must not have one yet. */
static bool give(struct pool *p, struct step *st, const char *name, const char *text,
                 struct span at, struct diag *d)
{
    const struct param *param = cmd_param(st->cmd, name);
    const size_t i = param ? (size_t)(param - st->cmd->params) : 0;

    if (!param) {
        diag_set(d, DIAG_VALUE, at, "%s has nothing to do with %s=", st->cmd->name, name);
        return diag_remedy(d, "\"help %s\" lists what it takes", st->cmd->name);
    }
    if (st->args[i].n > 0) {
        diag_set(d, DIAG_VALUE, at, "%s is given twice", name);
        return diag_remedy(d, "this says %s=%s, and that was said before", name, text);
    }
    text = pool_copy(p, text, strlen(text));
    return value_check(param, text, at, d) && step_add(p, st, i, (struct value){text, at});
}

static bool give_number(struct pool *p, struct step *st, const char *name, uint32_t n,
                        struct span at, struct diag *d)
{
    char buf[16];

    snprintf(buf, sizeof(buf), "%u", n);
    return give(p, st, name, buf, at, d);
}

/* Makes the pending ordinal, if any, the value of parameter @name; behind `every` its multiples are
 * meant.
 */
static bool spend_ordinal(struct sentence *s, struct pool *p, struct step *st, const char *name,
                          struct diag *d)
{
    const uint32_t n = s->ordinal;
    const bool every = s->every, periodic = s->periodic && n > 0;

    s->ordinal = 0;
    s->every = s->periodic = false;
    if (every && (!periodic || strcmp(name, "nth") != 0) &&
        !give(p, st, "count", "0", s->every_at, d))
        return false;
    if (periodic && strcmp(name, "nth") == 0)
        return give_number(p, st, "every", n, s->ordinal_at, d);
    if (periodic && strcmp(name, "message") == 0) {
        diag_set(d, DIAG_VALUE, s->ordinal_at, "a fault is about one message, or about all");
        return diag_remedy(d, "\"every 3rd packet\" counts packets; \"the 3rd message\" is one");
    }
    return n == 0 || (n == 1 && strcmp(name, "nth") == 0) ||
           give_number(p, st, name, n, s->ordinal_at, d);
}

static enum sentence_take took(bool ok)
{
    return ok ? SENTENCE_TOOK : SENTENCE_BAD;
}

/* Returns the parameter for a word after `to`: the value of `set`, the bytes of `truncate`, else a
 * host.
 */
static const char *meaning_of_to(const struct sentence *s, const struct step *st, const char *text)
{
    if (s->set)
        return "value";
    if (isdigit((unsigned char)text[0]) && cmd_param(st->cmd, "bytes"))
        return "bytes";
    return "to";
}

/* Parses the word after `READ`, `atomic`, `RNR` or `sequence`.  Returns SENTENCE_NOT if it belongs
 * to the next part of the sentence.
 */
static enum sentence_take take_second_half(struct sentence *s, struct pool *p, struct step *st,
                                           const char *text, struct span at, struct diag *d)
{
    const bool read = s->read, atomic = s->atomic, response = is_some(text, "response");

    if ((s->rnr || s->sequence) && is_some(text, "nak")) {
        const bool rnr = s->rnr;

        s->rnr = s->sequence = false;
        return took(give(p, st, rnr ? "class" : "nak", rnr ? "rnr_nak" : "nak", at, d));
    }
    if (!read && !atomic)
        return SENTENCE_NOT;
    s->read = s->atomic = false;
    if (!give(p, st, "class",
              read       ? response ? "read_response" : "read_request"
              : response ? "atomic_response"
                         : "atomic_request",
              s->at, d))
        return SENTENCE_BAD;
    return response || is_some(text, "request") ? SENTENCE_TOOK : SENTENCE_NOT;
}

/* Parses `message`, `transmission` and `retransmission`. */
static enum sentence_take take_counted(struct sentence *s, struct pool *p, struct step *st,
                                       const char *text, struct span at, struct diag *d)
{
    if (is_some(text, "retransmission")) {
        if (s->ordinal == 0)
            return took(give(p, st, "where", "attempt >= 2", at, d));
        s->ordinal++;
        return took(spend_ordinal(s, p, st, "transmission", d));
    }
    if (!is_some(text, "transmission") && !is_some(text, "message"))
        return SENTENCE_NOT;
    text = is_some(text, "message") ? "message" : "transmission";
    if (s->ordinal)
        return took(spend_ordinal(s, p, st, text, d));
    s->want = text;
    return SENTENCE_TOOK;
}

/* Parses the words for which frames are meant: `every`, `next 3`, `2nd`. */
static enum sentence_take take_which(struct sentence *s, struct pool *p, struct step *st,
                                     const char *text, struct span at, struct diag *d)
{
    const uint32_t n = ordinal(text);

    if (s->numbered && isdigit((unsigned char)text[0]) && !n) {
        s->numbered = false;
        s->ordinal = 0;
        return took(give(p, st, "count", text, at, d));
    }
    if (!n && has_ordinal_end(text)) {
        diag_set(d, DIAG_VALUE, at, "\"%s\": matches have the numbers 1 to %u", text, ORDINAL_MAX);
        diag_remedy(d, "\"the first packet\" is number 1, \"every packet\" is each of them");
        return SENTENCE_BAD;
    }
    s->numbered = false;
    if (n || is(text, "first") || is(text, "next")) {
        if (s->ordinal && !spend_ordinal(s, p, st, "nth", d))
            return SENTENCE_BAD;
        s->numbered = !n;
        s->periodic = s->every && n;
        s->ordinal = is(text, "next") ? 0 : n ? n : 1;
        s->ordinal_at = at;
        return is(text, "next") ? took(give(p, st, "next", "next", at, d)) : SENTENCE_TOOK;
    }
    if (is(text, "every") || is(text, "each") || is(text, "all")) {
        if (s->ordinal && !spend_ordinal(s, p, st, "nth", d))
            return SENTENCE_BAD;
        s->every = true; /* until the next noun */
        s->every_at = at;
        return SENTENCE_TOOK;
    }
    if (!is(text, "last"))
        return SENTENCE_NOT;
    diag_set(d, DIAG_VALUE, at, "which one is the last is not known while it is sent");
    diag_remedy(d, "say which it is: its psn, or \"where\" and a condition");
    return SENTENCE_BAD;
}

/* Parses the kind of frame. */
static enum sentence_take take_what(struct sentence *s, struct pool *p, struct step *st,
                                    const char *text, struct span at, struct diag *d)
{
    if (is_some(text, "packet") || is(text, "frame") || is(text, "frames"))
        return took(spend_ordinal(s, p, st, "nth", d));
    if (is_some(text, "read") || is_some(text, "atomic")) {
        *(is_some(text, "read") ? &s->read : &s->atomic) = true;
        return took(spend_ordinal(s, p, st, "nth", d));
    }
    if (is(text, "rnr") || is(text, "sequence")) {
        *(is(text, "rnr") ? &s->rnr : &s->sequence) = true;
        return took(spend_ordinal(s, p, st, "nth", d));
    }
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        if (is(text, classes[i].word))
            return took(spend_ordinal(s, p, st, "nth", d) &&
                        give(p, st, "class", classes[i].class, at, d));
    }
    for (size_t i = 0; i < enum_cm_message.n_rows; i++) {
        const char *message = enum_cm_message.rows[i].name;

        if (is_some(text, message))
            return took(spend_ordinal(s, p, st, "nth", d) && give(p, st, "cm", message, at, d));
    }
    for (size_t i = 0; i < enum_lnet_msg.n_rows; i++) {
        if (is_some(text, enum_lnet_msg.rows[i].name))
            return took(spend_ordinal(s, p, st, "nth", d) &&
                        give(p, st, "where", lnet_conditions[i], at, d));
    }
    if (strchr(text, '_') && enum_by_name(&enum_opcode, text))
        return took(spend_ordinal(s, p, st, "nth", d) && give(p, st, "opcode", text, at, d));
    return SENTENCE_NOT;
}

static enum sentence_take take_clause(struct sentence *s, const char *text)
{
    if (is(text, "set")) {
        s->set = true;
        s->want = "field";
        return SENTENCE_TOOK;
    }
    if (s->set && is(text, "=")) {
        s->want = "to";
        return SENTENCE_TOOK;
    }
    for (size_t i = 0; i < ARRAY_LEN(leads); i++) {
        if (is(text, leads[i].word)) {
            s->want = leads[i].param;
            return SENTENCE_TOOK;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(fillers); i++) {
        if (is(text, fillers[i]))
            return SENTENCE_TOOK;
    }
    return SENTENCE_NOT;
}

static bool is_about_queue(const struct cmd *cmd)
{
    return cmd_param(cmd, "queue") != NULL;
}

/* Parses the words for a virtqueue fault: its kind, and its clauses.  A path alone names the queue.
 */
static enum sentence_take take_of_queue(struct sentence *s, struct pool *p, struct step *st,
                                        const char *text, struct span at, struct diag *d)
{
    const bool has_kinds = cmd_param(st->cmd, "what") != NULL;

    for (size_t i = 0; i < ARRAY_LEN(queue_nouns); i++) {
        const char *what = queue_nouns[i].what;

        if (!is_some(text, queue_nouns[i].word))
            continue;
        if (has_kinds && what && !give(p, st, "what", what, at, d))
            return SENTENCE_BAD;
        return took(spend_ordinal(s, p, st, "nth", d));
    }
    for (size_t i = 0; i < ARRAY_LEN(queue_leads); i++) {
        if (is(text, queue_leads[i].word)) {
            s->want = queue_leads[i].param;
            return SENTENCE_TOOK;
        }
    }
    if (is(text, "data"))
        return SENTENCE_TOOK;
    for (size_t i = 0; i < ARRAY_LEN(fillers); i++) {
        if (is(text, fillers[i]))
            return SENTENCE_TOOK;
    }
    return strchr(text, '.') ? took(give(p, st, "queue", text, at, d)) : SENTENCE_NOT;
}

/* Removes the mark at the end of "h2:" or "h2,". */
static const char *without_mark(struct pool *p, const char *text, struct span *at)
{
    const size_t n = strlen(text);

    if (n < 2 || (text[n - 1] != ':' && text[n - 1] != ',') || n != at->len)
        return text;
    at->len--;
    return pool_copy(p, text, n - 1);
}

/* Parses a word when no value is expected. */
static enum sentence_take take_plain(struct sentence *s, struct pool *p, struct step *st,
                                     const char *text, struct span at, struct diag *d)
{
    enum sentence_take r;

    if (is_about_queue(st->cmd)) {
        r = take_which(s, p, st, text, at, d);
        return r == SENTENCE_NOT ? take_of_queue(s, p, st, text, at, d) : r;
    }
    r = take_second_half(s, p, st, text, at, d);
    if (r == SENTENCE_NOT)
        r = take_counted(s, p, st, text, at, d);
    if (r == SENTENCE_NOT)
        r = take_which(s, p, st, text, at, d);
    if (r == SENTENCE_NOT)
        r = take_what(s, p, st, text, at, d);
    return r == SENTENCE_NOT ? take_clause(s, text) : r;
}

/* Returns true if the field @row is one of message @message: its name begins with that of the
 * message.
 */
static bool is_of_message(const struct enum_row *row, const char *message)
{
    const size_t n = strlen(message);

    return strncmp(row->name, message, n) == 0 && row->name[n] == '_';
}

/* Gives the field @text, whose place is @at.  If the sentence is about a message, a field of it is
 * meant: REJ_reason for `reason` of a REJ.
 */
static bool give_field(struct pool *p, struct step *st, const char *text, struct span at,
                       struct diag *d)
{
    const char *message = step_text(st, "cm");
    struct suggestion near = suggestion_for(text);

    for (size_t i = 0; message && i < enum_wire_field.n_rows; i++) {
        const struct enum_row *row = &enum_wire_field.rows[i];

        if (!is_of_message(row, message))
            continue;
        if (is(row->name + strlen(message) + 1, text))
            return give(p, st, "field", row->name, at, d);
        suggest_offer(&near, row->name + strlen(message) + 1);
    }
    if (!near.best || enum_by_name(&enum_wire_field, text))
        return give(p, st, "field", text, at, d);
    diag_set(d, DIAG_VALUE, at, "a %s has no field \"%s\"", message, text);
    return diag_remedy(d, "did you mean \"%s\"?", near.best);
}

/* Gives the value @text of the field that was given before: a number, a word of the field, or a
 * path.
 */
static bool give_field_value(struct pool *p, struct step *st, const char *text, struct span at,
                             struct diag *d)
{
    const char *field = step_has(st, "field") ? step_text(st, "field") : NULL;
    uint32_t number;

    switch (field_word_find(field, text, at, &number, d)) {
    case FIELD_WORD_IS:
        return give_number(p, st, "value", number, at, d);
    case FIELD_WORD_NOT:
        return give(p, st, "value", text, at, d);
    case FIELD_WORD_WRONG:
        break;
    }
    return false;
}

/* Parses the word after `to`, `from`, `psn` ..., as the value of that parameter. */
static enum sentence_take take_wanted(struct sentence *s, struct pool *p, struct step *st,
                                      const char *text, struct span at, struct diag *d)
{
    const char *want = s->want;
    const char *eq = strchr(text, '=');

    if (is(text, "the") || is(text, "a") || is(text, "least"))
        return SENTENCE_TOOK;
    s->want = NULL;
    /* Here `of` joins two nouns: "the 2nd packet of every SEND", "3rd transmission of psn 5". */
    if ((strcmp(want, "qp") == 0 || strcmp(want, "queue") == 0) && !strchr(text, '.')) {
        const enum sentence_take r = take_plain(s, p, st, text, at, d);

        if (r != SENTENCE_NOT)
            return r;
    }
    if (strcmp(want, "to") == 0) {
        want = meaning_of_to(s, st, text);
        s->set = false;
    }
    if (s->set && eq) { /* set psn=7 */
        const size_t n = (size_t)(eq - text);
        const struct span field = {at.at, n}, value = {at.at + n + 1, at.len - n - 1};

        s->set = false;
        return took(give_field(p, st, pool_copy(p, text, n), field, d) &&
                    give_field_value(p, st, eq + 1, value, d));
    }
    if (strcmp(want, "field") == 0)
        return took(give_field(p, st, text, at, d));
    return took(strcmp(want, "value") == 0 ? give_field_value(p, st, text, at, d)
                                           : give(p, st, want, text, at, d));
}

enum sentence_take sentence_take(struct sentence *s, struct pool *p, struct step *st,
                                 const char *text, struct span at, struct diag *d)
{
    enum sentence_take r;

    text = without_mark(p, text, &at);
    if (s->set && !s->want && isdigit((unsigned char)text[0])) /* set psn 7 */
        s->want = "to";
    r = s->want ? take_wanted(s, p, st, text, at, d) : take_plain(s, p, st, text, at, d);
    if (r == SENTENCE_TOOK) {
        s->begun = s->begun || !is(text, "next");
        s->at = at;
    }
    return r;
}

const struct param *sentence_wants(const struct cmd *cmd, const char *before)
{
    if (is(before, "set"))
        return cmd_param(cmd, "field");
    if (is_about_queue(cmd)) {
        for (size_t i = 0; i < ARRAY_LEN(queue_leads); i++) {
            if (is(before, queue_leads[i].word))
                return cmd_param(cmd, queue_leads[i].param);
        }
        return NULL;
    }
    for (size_t i = 0; i < ARRAY_LEN(leads); i++) {
        if (is(before, leads[i].word))
            return cmd_param(cmd, leads[i].param);
    }
    return NULL;
}

bool sentence_end(struct sentence *s, struct pool *p, struct step *st, struct diag *d)
{
    if (s->rnr || s->sequence) {
        diag_set(d, DIAG_SYNTAX, s->at, "NAK must follow here");
        return diag_remedy(d, "RNR NAK, sequence NAK, or NAK for any of them");
    }
    if (s->want) {
        const struct param *param = cmd_param(st->cmd, s->want);

        diag_set(d, DIAG_SYNTAX, s->at, "something must follow here%s%s", param ? ": " : "",
                 param ? value_kinds[param->kind].what : "");
        return diag_remedy(d, "for example: %s", st->cmd->example);
    }
    if (take_second_half(s, p, st, "", s->at, d) == SENTENCE_BAD)
        return false;
    return spend_ordinal(s, p, st, "nth", d);
}

/* Appends the right notation for a common wrong word; appends nothing if the word is not known. */
static void add_otherwise(struct text *ret, const char *text)
{
    static const struct {
        const char *word, *remedy;
    } others[] = {
        {"if", "a condition follows \"where\": where psn == 5"},
        {"when", "a condition follows \"where\": where psn == 5"},
        {"other", "say which: every 2nd one, the 2nd one, a psn, or \"where\" and a condition"},
    };
    uint64_t n;

    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (is(text, others[i].word))
            text_add(ret, others[i].remedy);
    }
    for (uint32_t i = 2; i < ARRAY_LEN(numbers); i++) {
        if (is(text, numbers[i]))
            text_addf(ret, "a number is written in digits: next %u", i);
    }
    if (!isdigit((unsigned char)text[0]))
        return;
    if (!quantity_parse(QUANTITY_NUMBER, text, &n))
        text_addf(ret, "say what it counts: the %s%s packet, next %s, psn %s", text,
                  n % 10 == 1 && n % 100 != 11   ? "st"
                  : n % 10 == 2 && n % 100 != 12 ? "nd"
                  : n % 10 == 3 && n % 100 != 13 ? "rd"
                                                 : "th",
                  text, text);
    else if (!quantity_parse(QUANTITY_TIME, text, &n))
        text_addf(ret, "a time follows \"by\": by %s", text);
}

bool sentence_unknown(const struct step *st, const char *text, struct span at, struct diag *d)
{
    struct suggestion near = suggestion_for(text);
    char buf[DIAG_REMEDY_BYTES];
    struct text otherwise = text_on(buf, sizeof(buf));

    diag_set(d, DIAG_VALUE, at, "\"%s\" does not fit into this sentence", text);
    add_otherwise(&otherwise, text);
    if (otherwise.len > 0)
        return diag_remedy(d, "%s", buf);
    for (size_t i = 0; i < n_sentence_words; i++)
        suggest_offer(&near, sentence_words[i].word);
    for (size_t i = 0; i < st->cmd->n_params; i++)
        suggest_offer(&near, st->cmd->params[i].name);
    for (size_t i = 0; i < enum_opcode.n_rows; i++)
        suggest_offer(&near, enum_opcode.rows[i].name);
    for (size_t i = 0; i < enum_cm_message.n_rows; i++)
        suggest_offer(&near, enum_cm_message.rows[i].name);
    if (near.best && strcasecmp(near.best, text) == 0) /* another fault takes this word */
        return diag_remedy(d, "%s is about %s", st->cmd->name,
                           is_about_queue(st->cmd)
                               ? "a virtqueue; of packets: drop the 2nd packet"
                               : "packets; of a virtqueue: lose the 2nd kick of h1.qp.sq");
    if (near.best)
        return diag_remedy(d, "did you mean \"%s\"?", near.best);
    if (is_about_queue(st->cmd))
        return diag_remedy(d, "for example: %s", st->cmd->example);
    if (strchr(text, '.'))
        return diag_remedy(d, "a queue pair follows \"of\": of %s", text);
    return diag_remedy(d, "for example: %s the 2nd READ response of h1.qp", st->cmd->name);
}
