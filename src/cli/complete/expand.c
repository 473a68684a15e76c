/* SPDX-License-Identifier: MIT */
#include "cli/complete/expand.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complete/completion.h"
#include "cli/lang/expand.h"
#include "cli/lang/lex.h"
#include "cli/lang/suggest.h"
#include "cli/lang/values.h"
#include "cli/show/show.h"
#include "emu/base/assert.h"
#include "process/must.h"

#define EXAMINE_BYTES     16u /* default of `x` */
#define EXPAND_MACROS_MAX 16u /* per input; later ones count from the next input on */

static const struct {
    const char *word, *written, *what;
} also[] = {
#define ALSO(word, written, what) {word, written, what},
#include "cli/lang/other_words.def"
};

static const struct {
    const char *word, *written;
} infos[] = {
#define INFO(word, written) {word, written},
#include "cli/lang/other_words.def"
};

static const struct {
    const char *word, *wrong, *remedy;
} leads[] = {
#define LEADS(word, wrong, remedy) {word, wrong, remedy},
#include "cli/lang/other_words.def"
};

static const struct {
    const char *key, *word, *written;
} values[] = {
#define VALUE(key, word, written) {key, word, written},
#include "cli/lang/other_words.def"
};

struct expansion {
    struct session *s;
    struct source src;
    size_t from; /* all text before this offset has been copied to @out */
    FILE *out;
    char **text; /* text of @out after a flush */
    size_t *len;
    size_t begin;      /* beginning of the statement in @out */
    struct token verb; /* verb of the statement, as typed */
    const char *tail;  /* append it at the end of the statement, "": nothing */
    char macros[EXPAND_MACROS_MAX][RDL_NAME_BYTES]; /* macros defined earlier in the input */
    size_t n_macros;
    struct expanded *ret;
};

static struct token look(const struct expansion *x, size_t from)
{
    struct diag ignored;

    return lex_next(&x->src, from, &ignored);
}

static size_t end_of(struct token t)
{
    return t.at.at + t.at.len;
}

/* Returns the word at @t; "" if it is too long to be known. */
static const char *word_of(const struct expansion *x, struct token t, char ret[WORD_BYTES])
{
    struct text text = text_on(ret, WORD_BYTES);

    if (t.kind == TOKEN_WORD)
        text_addn(&text, x->src.text + t.at.at, t.at.len);
    if (text.cut)
        ret[0] = '\0';
    return ret;
}

/* Writes @written in place of @t. */
static void replace(struct expansion *x, struct token t, const char *written)
{
    fwrite(x->src.text + x->from, 1, t.at.at - x->from, x->out);
    fputs(written, x->out);
    x->from = end_of(t);
}

static void note(struct expansion *x, const char *word, const char *written, const char *what)
{
    struct expand_note *n = &x->ret->notes[x->ret->n_notes];
    struct text t;

    if (x->ret->n_notes == EXPAND_NOTES_MAX)
        return;
    t = text_on(n->word, sizeof(n->word));
    text_add(&t, word);
    n->written = written;
    n->what = what;
    x->ret->n_notes++;
}

/* Marks the input as wrong, with an error at @t. */
static void refuse(struct expansion *x, struct token t, const char *wrong, const char *remedy)
{
    if (x->ret->wrong)
        return;
    x->ret->wrong = true;
    diag_set(&x->ret->diag, DIAG_VALUE, t.at, "%s", wrong);
    diag_remedy(&x->ret->diag, "%s", remedy);
}

/* --- Words of other debuggers ----------------------------------------------------------------- */

/* Expands `info WORD`: words of gdb have equivalents here, any other word becomes `show WORD`. */
static void expand_info(struct expansion *x, struct token verb)
{
    const struct token t = look(x, end_of(verb));
    char word[WORD_BYTES];

    word_of(x, t, word);
    for (size_t i = 0; i < ARRAY_LEN(infos); i++) {
        if (strcmp(infos[i].word, word) != 0)
            continue;
        replace(x, verb, infos[i].written);
        x->from = end_of(t);
        note(x, "info", infos[i].written, "");
        return;
    }
    if (strcmp(word, "registers") == 0 || strcmp(word, "r") == 0) {
        const struct token host = look(x, end_of(t));
        char name[WORD_BYTES], written[WORD_BYTES + 16];
        struct text w = text_on(written, sizeof(written));

        word_of(x, host, name);
        if (!name[0] && !x->s->prompt.host[0]) {
            refuse(x, t, "each host has registers of its own", "say whose: info registers h1");
            return;
        }
        text_addf(&w, "show %s.device", name[0] ? name : x->s->prompt.host);
        replace(x, verb, written);
        x->from = name[0] ? end_of(host) : end_of(t);
        note(x, "info registers", "show HOST.device", "");
        return;
    }
    replace(x, verb, "show");
    note(x, "info", "show", "the lab, or anything in it");
}

/* Expands `p EXPR`: a path is shown, a comparison is evaluated. */
static void expand_print(struct expansion *x, struct token verb)
{
    struct token t = look(x, end_of(verb));
    char format[WORD_BYTES];
    bool asks = false, hex;

    if (word_of(x, t, format)[0] == '/') { /* "p /x" */
        verb.at.len = end_of(t) - verb.at.at;
        t = look(x, end_of(t));
    } else {
        word_of(x, verb, format);
    }
    hex = strstr(format, "/x") != NULL;
    for (; t.kind == TOKEN_WORD; t = look(x, end_of(t))) {
        char word[WORD_BYTES];

        asks |= strpbrk(word_of(x, t, word), "=<>(!") != NULL;
    }
    x->tail = hex ? "hex" : "";
    replace(x, verb, asks || hex ? "print" : "show");
    note(x, "p", asks || hex ? "print" : "show",
         asks ? "the value of an expression" : "a value, or an object");
}

/* Number of bytes that `x/16xb` prints. */
static uint64_t examined(const char *format)
{
    char *end;
    const unsigned long n = strtoul(format, &end, 10);
    uint64_t size = 1;

    if (end == format)
        return *format ? examined("1w") * 4 : EXAMINE_BYTES;
    for (; *end; end++)
        size = *end == 'g' ? 8 : *end == 'w' ? 4 : *end == 'h' ? 2 : *end == 'b' ? 1 : size;
    return n * size;
}

/* Expands `x/16xb h1.mr[8]`, which prints bytes of memory. */
static void expand_examine(struct expansion *x, struct token verb, const char *format)
{
    const struct token first = look(x, end_of(verb));
    char apart[WORD_BYTES];
    const bool is_apart = word_of(x, first, apart)[0] == '/'; /* "x /4xw" */
    const struct token t = is_apart ? look(x, end_of(first)) : first;
    char word[WORD_BYTES], written[WORD_BYTES + 64];
    struct text w = text_on(written, sizeof(written));
    const uint64_t n = examined(is_apart ? apart + 1 : format);
    struct slice_text slice;
    size_t at;

    word_of(x, t, word);
    if (!word[0] || value_slice(word, &slice, &at)) {
        refuse(x, word[0] ? t : verb, "x shows bytes of memory",
               "x/16xb h1.mr[0] is read h1.mr[0:16]");
        return;
    }
    text_addf(&w, "read %.*s[%llu:%llu]", (int)slice.base_bytes, word,
              (unsigned long long)slice.from,
              (unsigned long long)(slice.has_to ? slice.to : slice.from + n));
    replace(x, verb, written);
    x->from = end_of(t);
    note(x, "x", "read MR[FROM:TO]", "bytes of memory");
}

/* Expands a verb of another debugger.  Returns false if it is none. */
static bool expand_other(struct expansion *x, struct token verb, const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(also); i++) {
        if (strcmp(also[i].word, word) != 0)
            continue;
        replace(x, verb, also[i].written);
        note(x, also[i].word, also[i].written, also[i].what);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(leads); i++) {
        if (strcmp(leads[i].word, word) != 0)
            continue;
        refuse(x, verb, leads[i].wrong, leads[i].remedy);
        return true;
    }
    if (strcmp(word, "i") == 0 || strcmp(word, "info") == 0)
        expand_info(x, verb);
    else if (strcmp(word, "p") == 0 || strncmp(word, "p/", 2) == 0)
        expand_print(x, verb);
    else if (strcmp(word, "x") == 0 || strncmp(word, "x/", 2) == 0)
        expand_examine(x, verb, word[1] ? word + 2 : "");
    else if (strcmp(word, "tb") == 0 || strcmp(word, "tbreak") == 0) {
        replace(x, verb, "break");
        note(x, "tb", "break ... once", "a stop that is gone after its first hit");
        x->tail = "once";
    } else
        return false;
    return true;
}

/* --- Abbreviations ---------------------------------------------------------------------------- */

/* Returns the only word of @words that begins with @begin, ignoring case.  Returns NULL if there is
 * none or more than one.
 */
static const struct enum_row *only_word(const struct enum_table *words, const char *begin)
{
    const struct enum_row *found = NULL;
    const size_t n = strlen(begin);

    RDL_ASSERT(words->rows || words->n_rows == 0);
    for (size_t i = 0; i < words->n_rows && n > 0; i++) {
        char word[VALUE_WORD_BYTES];

        value_word_text(words, &words->rows[i], word);
        if (strncmp(word, begin, n) != 0 && strncmp(words->rows[i].name, begin, n) != 0)
            continue;
        if (found)
            return NULL;
        found = &words->rows[i];
    }
    return found;
}

static bool takes(const struct param *p, const char *word)
{
    struct diag ignored;

    return value_check(p, word, (struct span){0, 0}, &ignored);
}

/* Expands @word, an abbreviated value of @p.  Returns false if it is not abbreviated. */
static bool write_out(const struct param *p, const char *word, char ret[VALUE_WORD_BYTES])
{
    const struct enum_row *row;

    if ((p->kind != VAL_WORD && p->kind != VAL_SET) || takes(p, word))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct text t = text_on(ret, VALUE_WORD_BYTES);

        if (strcmp(values[i].key, p->name) != 0 || strcmp(values[i].word, word) != 0)
            continue;
        text_add(&t, values[i].written);
        return true;
    }
    row = only_word(p->words, word);
    if (row)
        value_word_text(p->words, row, ret);
    return row != NULL;
}

/* Notes that @word, a value of @p, is replaced by a word that does not begin like it. */
static void note_value(struct expansion *x, const struct param *p, const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        if (strcmp(values[i].key, p->name) == 0 && strcmp(values[i].word, word) == 0)
            note(x, word, values[i].written, "");
    }
}

static bool is_subject(const char *word)
{
    for (size_t i = 0; show_subject(i); i++) {
        if (strcmp(show_subject(i), word) == 0)
            return true;
    }
    return false;
}

/* Expands `show q` to the only subject that begins with the word, unless an object has that name.
 */
static const char *only_subject(struct session *s, const char *word)
{
    const struct scope in = {.lab = s->lab, .host = s->prompt.host};
    char path[SESSION_PATH_BYTES];
    const char *found = NULL;
    struct rdl_value v;
    size_t at;

    resolve_path(&in, word, path);
    if (is_subject(word) || rdl_inspect(s->lab, path, &v, &at) == RDL_OK)
        return NULL;
    for (size_t i = 0; show_subject(i); i++) {
        if (strncmp(show_subject(i), word, strlen(word)) != 0)
            continue;
        if (found)
            return NULL;
        found = show_subject(i);
    }
    return found;
}

/* Expands the operand that is the last word of @st.  Returns NULL if it stays as it is. */
static const char *operand_written(struct session *s, const struct statement *st,
                                   char ret[VALUE_WORD_BYTES])
{
    const struct cmd *cmd = st->cmd;
    const char *word = st->words[st->n];
    size_t from, next = statement_operand(st, &from);

    for (size_t i = next; i < cmd->n_params; i++) {
        const struct param *p = &cmd->params[i];

        if (!(p->flags & P_OPERAND) || !statement_wants(st, p))
            continue;
        if ((p->flags & P_SUBJECT) && st->n == 1)
            return only_subject(s, word);
        if (p->kind == VAL_EXPR || takes(p, word))
            return NULL;
        if (write_out(p, word, ret))
            return ret;
    }
    return NULL;
}

/* Expands a word after the verb.  The verb has been written to @out. */
static void expand_word(struct expansion *x, struct token t)
{
    char line[4 * WORD_BYTES], word[WORD_BYTES], written[VALUE_WORD_BYTES], whole[2 * WORD_BYTES];
    struct text l = text_on(line, sizeof(line)), w = text_on(whole, sizeof(whole));
    const char *value, *put = NULL;
    const struct param *p;
    struct statement st;

    if (!word_of(x, t, word)[0] || strpbrk(word, "\"\\"))
        return;
    if (strcmp(x->tail, "once") == 0 && strcmp(word, "do") == 0) {
        replace(x, t, "once do");
        x->tail = "";
        return;
    }
    fwrite(x->src.text + x->from, 1, t.at.at - x->from, x->out);
    x->from = t.at.at;
    fflush(x->out);
    text_addn(&l, *x->text + x->begin, *x->len - x->begin);
    text_add(&l, word);
    if (l.cut)
        return;
    if (strcmp(line, "break if") == 0) { /* of gdb; the condition is the stop */
        x->from = look(x, end_of(t)).at.at;
        return;
    }
    statement_read(x->s, line, &st);
    if (!st.cmd || st.n == 0 || (st.cmd->flags & CMD_NOTE))
        return;
    p = statement_key(st.cmd, word, &value);
    if (p && write_out(p, value, written)) {
        text_addn(&w, word, (size_t)(value - word));
        text_add(&w, written);
        put = w.cut ? NULL : whole;
        note_value(x, p, value);
    } else if (!strchr(word, '=') && !cmd_param(st.cmd, word)) {
        put = operand_written(x->s, &st, written);
    }
    if (put)
        replace(x, t, put);
}

/* --- Statements ------------------------------------------------------------------------------- */

/* Takes the rest of the line of `complete` unchanged. */
static struct token take_rest(struct expansion *x, struct token verb)
{
    size_t from = end_of(verb), to;
    struct token rest = {.kind = TOKEN_WORD};
    char *line;

    while (x->src.text[from] == ' ')
        from++;
    to = from + strcspn(x->src.text + from, "\n");
    rest.at = (struct span){from, to - from};
    if (to == from || x->src.text[from] == '"')
        return verb;
    line = must_malloc(to - from + 1);
    memcpy(line, x->src.text + from, to - from);
    line[to - from] = '\0';
    replace(x, (struct token){.kind = TOKEN_WORD, .at = {from, 0}}, "");
    lex_write_quoted(x->out, line);
    free(line);
    x->from = to;
    return rest;
}

/* Returns true if @word is a macro.  Its name has precedence over words of other debuggers and over
 * abbreviations.
 */
static bool is_macro(const struct expansion *x, const char *word)
{
    for (size_t i = 0; i < x->n_macros; i++) {
        if (strcmp(x->macros[i], word) == 0)
            return true;
    }
    return macro_find(&x->s->run.macros.list, word) != NULL;
}

/* Remembers the macro that @verb defines. */
static void remember_macro(struct expansion *x, struct token verb)
{
    char word[WORD_BYTES];
    struct text t;

    if (x->n_macros == EXPAND_MACROS_MAX)
        return;
    t = text_on(x->macros[x->n_macros], RDL_NAME_BYTES);
    text_add(&t, word_of(x, look(x, end_of(verb)), word));
    x->n_macros += word[0] && !t.cut;
}

static struct token expand_verb(struct expansion *x, struct token t)
{
    char word[WORD_BYTES];
    const struct cmd *cmd;

    x->tail = "";
    fwrite(x->src.text + x->from, 1, t.at.at - x->from, x->out);
    x->from = t.at.at;
    fflush(x->out);
    x->begin = *x->len;
    x->verb = t;
    word_of(x, t, word);
    cmd = cmd_find(word, false);
    if (!cmd && is_macro(x, word))
        return t;
    if (!cmd && expand_other(x, t, word))
        return x->from > end_of(t) ? (struct token){.at = {x->from, 0}} : t;
    if (!cmd)
        cmd = cmd_find(word, true);
    if (!cmd)
        return t;
    replace(x, t, cmd->name);
    if (cmd == &cmd_table[CMD_macro])
        remember_macro(x, t);
    return cmd == &cmd_table[CMD_complete] ? take_rest(x, t) : t;
}

/* Refuses a word before its number: it must be `back 3 tick`. */
static void check_order(struct expansion *x)
{
    char line[4 * WORD_BYTES], remedy[WORD_BYTES * 3];
    struct text l = text_on(line, sizeof(line)), r = text_on(remedy, sizeof(remedy));
    struct statement st;
    size_t digits;

    fflush(x->out);
    text_addn(&l, *x->text + x->begin, *x->len - x->begin);
    text_add(&l, " ");
    if (l.cut)
        return;
    statement_read(x->s, line, &st);
    if (st.n < 3 || (st.cmd != &cmd_table[CMD_back] && st.cmd != &cmd_table[CMD_redo]))
        return;
    digits = strspn(st.words[2], "0123456789");
    if (!digits || st.words[2][digits] || isdigit((unsigned char)st.words[1][0]) ||
        strcmp(st.words[1], "to") == 0)
        return;
    text_addf(&r, "write: %s %s %s", st.cmd->name, st.words[2], st.words[1]);
    refuse(x, x->verb, "the number stands before what it counts", remedy);
}

static void end_statement(struct expansion *x, struct token t)
{
    if (x->tail[0]) {
        size_t end = t.at.at;

        while (end > x->from && strchr(" \t", x->src.text[end - 1]))
            end--;
        fwrite(x->src.text + x->from, 1, end - x->from, x->out);
        fprintf(x->out, " %s", x->tail);
        x->from = end;
    }
    x->tail = "";
    if (x->from < t.at.at) {
        fwrite(x->src.text + x->from, 1, t.at.at - x->from, x->out);
        x->from = t.at.at;
    }
    check_order(x);
}

/* Returns true if the input is only `on HOST` or `on`. */
static bool is_context(struct expansion *x)
{
    const struct token on = look(x, 0), host = look(x, end_of(on));
    const struct token end = host.kind == TOKEN_WORD ? look(x, end_of(host)) : host;
    char word[WORD_BYTES];
    struct text t = text_on(x->ret->host, sizeof(x->ret->host));

    if (strcmp(word_of(x, on, word), "on") != 0 ||
        (end.kind != TOKEN_END &&
         (end.kind != TOKEN_SEPARATOR || look(x, end_of(end)).kind != TOKEN_END)))
        return false;
    x->ret->context = true;
    text_add(&t, word_of(x, host, word));
    if (!word[0] || (!t.cut && tree_is(x->s->lab, word, NODE_host)))
        return true;
    x->ret->host[0] = '\0';
    refuse(x, host, "this is no host",
           "\"on HOST\" alone makes bare names those of one host until \"on\" alone; "
           "\"on h1,h2 { ... }\" runs a block on each");
    return true;
}

static void expand_all(struct expansion *x)
{
    bool begins = true;
    struct token t = look(x, 0);

    for (; t.kind != TOKEN_END && t.kind != TOKEN_BAD; t = look(x, end_of(t))) {
        if (t.kind != TOKEN_WORD) {
            if (!begins)
                end_statement(x, t);
            begins = true;
        } else if (begins) {
            t = expand_verb(x, t);
            begins = false;
        } else {
            expand_word(x, t);
        }
    }
    if (!begins)
        end_statement(x, t);
}

void expand(struct session *s, const char *typed, struct expanded *ret)
{
    struct expansion x = {.s = s, .tail = "", .src = source_of(NULL, typed), .ret = ret};

    *ret = (struct expanded){.text = NULL};
    x.text = &ret->text;
    x.len = &ret->len;
    x.out = must_memstream(&ret->text, &ret->len);
    if (!is_context(&x))
        expand_all(&x);
    if (ret->wrong || ret->context) { /* positions of an error refer to the input as typed */
        rewind(x.out);
        x.from = 0;
    }
    fputs(typed + x.from, x.out);
    must_memstream_end(x.out, &ret->text);
    ret->text[ret->len] = '\0'; /* cut off the text that was written before rewind() */
}
