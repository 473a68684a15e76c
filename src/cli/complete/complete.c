/* SPDX-License-Identifier: MIT */
#include "cli/complete/complete.h"

#include <string.h>

#include "cli/complete/completion.h"
#include "cli/explain/c_names.h"
#include "cli/explain/explain.h"
#include "cli/lang/sentence.h"
#include "cli/lang/values.h"
#include "cli/session/history.h"
#include "cli/show/show.h"
#include "cli/show/show_rdma.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/rfc.h"
#include "emu/facts/virtio_rdma/config.h"
#include "emu/trace/kind.h"

static void offer_explained(void *ctx, const char *word)
{
    offer(ctx, word);
}

static void offer_topics(struct complete_request *c, const struct param *p)
{
    if (c->st->cmd == &cmd_table[CMD_explain] && strcmp(p->name, "more") == 0) {
        offer_told(c, "fields", "its fields and numbers");
        offer_told(c, "more", "all that is known of it");
        offer_told(c, "vs", "compare it with another word");
    }
    for (size_t i = 0; i < N_CMDS; i++)
        offer_told(c, cmd_table[i].name, c->typed[0] ? cmd_table[i].summary : "");
    for (size_t i = 0; i < N_CLASSES && strcmp(p->name, "topic") == 0; i++)
        offer_told(c, cmd_classes[i].name, c->typed[0] ? cmd_classes[i].what : "");
    if (c->typed[0] || strcmp(p->name, "topic") != 0)
        explain_each(offer_explained, c);
    if (c_name_begins(c->typed))
        c_name_each(offer_explained, c);
}

/* Offers the arguments of `help COMMAND`: its parameters and, once a letter is typed, any word. */
static void offer_parts(struct complete_request *c)
{
    const struct cmd *cmd = c->st->n >= 2 ? cmd_find(c->st->words[1], false) : NULL;

    for (size_t i = 0; cmd && i < cmd->n_params; i++)
        offer_told(c, cmd->params[i].name, c->typed[0] ? cmd->params[i].help : "");
    if (c->typed[0])
        explain_each(offer_explained, c);
}

static void offer_names(struct complete_request *c, const struct param *p)
{
    switch (p->kind) {
    case VAL_HOST:
    case VAL_STATION:
        offer_kinds(c, (const enum node_kind[]){NODE_host, NODE_none});
        break;
    case VAL_NODE:
        offer_kinds(
            c, (const enum node_kind[]){NODE_host, NODE_switch, NODE_external_port, NODE_none});
        break;
    case VAL_SENDER:
        offer_kinds(c, (const enum node_kind[]){NODE_host, NODE_external_port, NODE_none});
        break;
    case VAL_LINK:
        offer_kinds(c, (const enum node_kind[]){NODE_link, NODE_none});
        break;
    case VAL_FAULT:
        offer_kinds(c, (const enum node_kind[]){NODE_fault, NODE_none});
        break;
    default:
        break;
    }
}

static void offer_event_kinds(struct complete_request *c)
{
    for (unsigned kind = 0; kind < EV_COUNT; kind++)
        offer(c, ev_schema((enum ev_kind)kind)->name);
}

/* Offers what `tour` takes. */
static void offer_lessons(struct complete_request *c)
{
    static const char *const words[] = {"next", "back", "list", "stop"};
    const struct session_tour *tour = c->s->prompt.tour;

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        offer(c, words[i]);
    for (size_t i = 0; tour && tour->lesson(tour->ctx, i); i++)
        offer(c, tour->lesson(tour->ctx, i));
}

/* Offers the topics of `quiz`. */
static void offer_quiz(struct complete_request *c)
{
    const struct session_tour *tour = c->s->prompt.tour;

    for (size_t i = 0; tour && tour->topic(tour->ctx, i); i++)
        offer(c, tour->topic(tour->ctx, i));
}

/* @text: the line from the beginning of the value on. */
static void offer_values(struct complete_request *c, const struct param *p, const char *text)
{
    c->param = p;
    c->is_file = c->is_file || (p->opens == OPENS_PROGRAM && p->kind == VAL_TEXT);
    switch (p->kind) {
    case VAL_WORD:
    case VAL_SET:
        offer_words(c, p->words);
        break;
    case VAL_OBJECT:
        if (node_of_object(p->object) != NODE_none)
            offer_objects(c, node_of_object(p->object));
        break;
    case VAL_AT:
    case VAL_BYTES:
    case VAL_KEY:
        offer_objects(c, NODE_mr);
        if (p->kind == VAL_KEY)
            offer_objects(c, NODE_mw);
        break;
    case VAL_QPN:
        offer_objects(c, NODE_qp);
        break;
    case VAL_QUEUE:
        offer_queues(c);
        break;
    case VAL_PATH:
        offer_paths(c, false);
        break;
    case VAL_EXPR:
        if ((p->flags & P_NAMED) && !strpbrk(text, " (="))
            offer_next_completions(c);
        offer_expression(c, text, (p->flags & P_MOMENT) != 0);
        break;
    case VAL_TOPIC:
        if (strcmp(p->name, "part") == 0)
            offer_parts(c);
        else
            offer_topics(c, p);
        break;
    case VAL_FILE:
        if (strcmp(p->name, "lesson") == 0)
            offer_lessons(c);
        c->is_file = true;
        break;
    case VAL_NEW_NAME:
        if (strcmp(p->name, "topic") == 0)
            offer_quiz(c);
        if (strcmp(p->name, "kinds") == 0)
            offer_event_kinds(c);
        break;
    default:
        offer_names(c, p);
        break;
    }
    c->kind = NODE_none;
    c->param = NULL;
}

/* Offers arguments of `show device`: a host, then a field, or a field alone. */
static void offer_of_device(struct complete_request *c)
{
    const bool has_field = c->st->n > 2 && row_field_find(rfc_find("config"), c->st->words[2]);

    if (c->st->n == 2)
        offer_kinds(c, (const enum node_kind[]){NODE_host, NODE_none});
    for (size_t i = 0; !has_field && c->st->n <= 3 && i < n_config_rows; i++)
        offer_told(c, config_rows[i].field, c->typed[0] ? config_rows[i].means : "");
}

static void offer_of_rdma(struct complete_request *c)
{
    if (c->st->n == 3)
        offer_kinds(c, (const enum node_kind[]){NODE_host, NODE_none});
    for (size_t i = 0; c->st->n == 2 && show_rdma_view(i); i++)
        offer(c, show_rdma_view(i));
}

/* Offers arguments of `show SUBJECT`.  Returns false if the subject takes any path. */
static bool offer_of_subject(struct complete_request *c, const char *subject)
{
    const enum node_kind kind = node_find(subject, strlen(subject));

    if (strcmp(subject, "vq") == 0)
        offer_queues(c);
    else if (strcmp(subject, "device") == 0)
        offer_of_device(c);
    else if (strcmp(subject, "packet") == 0 || strcmp(subject, "events") == 0)
        offer(c, "last");
    else if (strcmp(subject, "rdma") == 0)
        offer_of_rdma(c);
    else if (kind != NODE_none && c->st->n == 2)
        offer_objects(c, kind);
    else
        return false;
    return true;
}

/* Offers output forms after all other arguments: `show qp csv`. */
static void offer_forms(struct complete_request *c)
{
    enum show_form form;

    for (size_t i = 1; i < c->st->n; i++) {
        if (show_form_of(c->st->words[i], &form) || strncmp(c->st->words[i], "format=", 7) == 0)
            return;
    }
    offer_words(c, &words_show_form);
}

static void offer_subjects(struct complete_request *c)
{
    for (size_t i = 0; show_subject(i); i++)
        offer(c, show_subject(i));
}

static void offer_stops(struct complete_request *c)
{
    for (const struct stop *stop = c->s->stops.first; stop; stop = stop->next) {
        char number[16];
        struct text t = text_on(number, sizeof(number));

        text_addf(&t, "%lu", (unsigned long)stop->id);
        if (stop->owner == STOP_OF_PROMPT)
            offer_told(c, number, stop->text);
    }
}

static void offer_places(struct complete_request *c)
{
    const struct marks *marks = &c->s->history->futures.marks;

    offer(c, "start");
    offer(c, "end");
    for (size_t i = 0; i < marks->n; i++)
        offer(c, marks->v[i].name);
}

/* Offers the alternative futures, the current one only with @any. */
static void offer_futures(struct complete_request *c, bool any)
{
    const struct futures *all = &c->s->history->futures;

    if (any)
        offer(c, futures_current(all));
    for (size_t i = 0; i < all->n; i++)
        offer(c, all->v[i].name);
}

/* Offers names of the session, which the lab does not know. */
static void offer_of_session(struct complete_request *c, const struct cmd *cmd)
{
    switch (cmd - cmd_table) {
    case CMD_delete:
    case CMD_enable:
    case CMD_disable:
        offer_stops(c);
        break;
    case CMD_clear:
        offer_told(c, "all", "every fault");
        break;
    case CMD_call:
        if (c->st->n == 1)
            offer_macros(c);
        break;
    case CMD_goto:
        offer_places(c);
        break;
    case CMD_future:
    case CMD_diff:
        offer_futures(c, cmd == &cmd_table[CMD_diff]);
        break;
    default:
        break;
    }
}

/* Returns true if the word may also be for the operand after @p: numbers are never offered. */
static bool may_be_left_out(const struct param *p)
{
    return value_is_quantity(p->kind) && !(p->flags & P_REQUIRED);
}

/* Offers a key or the name of a flag. */
static void offer_key(struct complete_request *c, const struct param *p)
{
    char key[WORD_BYTES];
    struct text t = text_on(key, sizeof(key));

    if (statement_gives(c->st, p))
        return;
    text_add(&t, p->name);
    if (p->kind == VAL_FLAG || (p->flags & P_NAMED)) {
        offer_told(c, key, c->typed[0] ? p->help : "");
        return;
    }
    text_add(&t, "=");
    offer_open(c, key, c->typed[0] ? p->help : "");
}

/* Offers values of operand @p.  @text is its beginning in the line. */
static void offer_operand(struct complete_request *c, const struct param *p, const char *text)
{
    const struct statement *st = c->st;

    if (p->flags & P_SUBJECT)
        offer_forms(c);
    if ((p->flags & P_SUBJECT) && st->n > 1 && offer_of_subject(c, st->words[1]))
        return;
    offer_values(c, p, text);
    c->typed = st->words[st->n]; /* restore it: an expression completes only a part */
    c->kept[0] = '\0';
    offer_of_session(c, st->cmd);
    if ((p->flags & P_SUBJECT) && st->n == 1)
        offer_subjects(c);
}

/* Offers words of a sentence that are not also keys or flags. */
static void offer_sentence(struct complete_request *c)
{
    for (size_t i = 0; i < n_sentence_words; i++) {
        const struct sentence_word *w = &sentence_words[i];

        if (strcmp(w->word, "next") != 0 && strcmp(w->word, "where") != 0)
            offer_told(c, w->word, w->what);
    }
}

/* Offers the fields for the condition of a fault: those of a packet, or of the hit of a device
 * fault.
 */
static void offer_packet_fields(struct complete_request *c)
{
    const struct ev_schema *tx =
        ev_schema(cmd_param(c->st->cmd, "queue") ? EV_device_fault : EV_tx);

    for (size_t i = 0; i < tx->n_fields; i++)
        offer(c, tx->fields[i].name);
}

/* Offers what a word without `=` may be: a value of the operand @next, which begins at @text, a key
 * or a flag.
 */
static void offer_arguments(struct complete_request *c, size_t next, const char *text)
{
    const struct cmd *cmd = c->st->cmd;
    /* Keys of CMD_WORDS stand between the first operand and the words. */
    const bool keys = !(cmd->flags & CMD_WORDS) || (next > 0 && next + 1 < cmd->n_params);
    bool offered = false;

    for (size_t i = 0; i < cmd->n_params; i++) {
        const struct param *p = &cmd->params[i];

        if (!statement_wants(c->st, p))
            continue;
        if (!(p->flags & P_OPERAND)) {
            if (keys)
                offer_key(c, p);
        } else if (i >= next && !offered) {
            offer_operand(c, p, text);
            offered = !may_be_left_out(p);
        }
    }
    if (cmd->flags & CMD_SENTENCE)
        offer_sentence(c);
    if (cmd->flags & CMD_NAMES)
        offer(c, cmd_as.name);
    if ((cmd->flags & CMD_MAY_BLOCK) && c->st->n > 1)
        offer_open(c, "do {", "what is to be done when it is hit");
}

/* Removes KEY= and complete list elements from the word to complete. */
static const struct param *take_key(struct complete_request *c, const struct cmd *cmd)
{
    struct text kept = text_on(c->kept, sizeof(c->kept));
    const char *from;
    const struct param *p = statement_key(cmd, c->typed, &from);

    if (!p)
        return NULL;
    if (param_is_list(p) && strrchr(from, ','))
        from = strrchr(from, ',') + 1;
    text_addn(&kept, c->typed, (size_t)(from - c->typed));
    c->typed = from;
    return p;
}

static void offer_commands(struct complete_request *c)
{
    for (size_t i = 0; i < N_CMDS; i++)
        offer_told(c, cmd_table[i].name, c->typed[0] ? cmd_table[i].summary : "");
}

bool complete_line(struct session *s, const char *line, complete_each *each, void *ctx)
{
    struct statement st;
    struct complete_request c = {.s = s, .each = each, .ctx = ctx, .st = &st};
    const struct param *p;
    size_t word, next;

    statement_read(s, line, &st);
    c.typed = st.words[st.n];
    if (offer_variables(&c))
        return false;
    if (st.n == 0) {
        offer_commands(&c);
        offer_macros(&c);
    } else if (!st.cmd) {
        offer_parameters(&c);
    }
    if (!st.cmd || st.n == LINE_WORDS - 1)
        return false;
    c.before = st.words[st.n - 1];
    p = statement_named(&st, &word);
    if (p) {
        if (st.cmd->flags & CMD_SENTENCE)
            offer_packet_fields(&c);
        offer_values(&c, p, st.at[word]);
        return false;
    }
    if ((st.cmd->flags & CMD_SENTENCE) && st.n > 1 && sentence_wants(st.cmd, c.before)) {
        offer_values(&c, sentence_wants(st.cmd, c.before), st.at[st.n]);
        return false;
    }
    p = statement_rest(&st);
    if (p) {
        offer_values(&c, p, st.at[st.n]);
        return c.is_file;
    }
    next = statement_operand(&st, &word);
    p = take_key(&c, st.cmd);
    if (p)
        offer_values(&c, p, st.at[st.n] + (c.typed - st.words[st.n]));
    else
        offer_arguments(&c, next, st.at[word]);
    return c.is_file;
}
