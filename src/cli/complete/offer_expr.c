/* SPDX-License-Identifier: MIT */
/* Completion inside an expression: paths, event kinds, their fields, and words as values. */
#include <ctype.h>
#include <string.h>

#include "cli/complete/completion.h"
#include "cli/lang/values.h"
#include "emu/trace/kind.h"

#define FIELDS_BYTES 256u

/* Returns true for characters of names, numbers and paths. */
static bool is_part(char c)
{
    return isalnum((unsigned char)c) || strchr("_.[]:-#", c);
}

/* Position at the end of an incomplete expression. */
struct place_in {
    const char *token;       /* the word that is being typed; may be empty */
    const char *inside;      /* the text after the open (; NULL: none is open */
    char called[WORD_BYTES]; /* the word before the ( */
    bool quoted;
};

static void find_place(const char *text, struct place_in *ret)
{
    const char *open[LINE_WORDS];
    size_t depth = 0;
    const char *word = text;

    *ret = (struct place_in){.token = text};
    for (const char *s = text; *s; s++) {
        if (*s == '"')
            ret->quoted = !ret->quoted;
        if (ret->quoted)
            continue;
        if (*s == '(' && depth < LINE_WORDS)
            open[depth++] = s;
        else if (*s == ')' && depth > 0)
            depth--;
        if (!is_part(*s))
            ret->token = s + 1;
    }
    if (depth == 0)
        return;
    ret->inside = open[depth - 1] + 1;
    for (word = open[depth - 1]; word > text && is_part(word[-1]);)
        word--;
    if (ret->inside - word <= (ptrdiff_t)sizeof(ret->called))
        memcpy(ret->called, word, (size_t)(ret->inside - 1 - word));
}

/* Completes only the end of the word, from @token on. */
static void take_token(struct complete_request *c, const char *token)
{
    const char *word = c->st->at[c->st->n];
    struct text kept = text_on(c->kept, sizeof(c->kept));

    if (token < word)
        token = word;
    text_addn(&kept, word, (size_t)(token - word));
    c->typed = token;
}

/* Offers the words of an enumeration as events and paths print them. */
static void offer_names(struct complete_request *c, const struct enum_table *words)
{
    for (size_t i = 0; i < words->n_rows; i++) {
        char lower[VALUE_WORD_BYTES];

        value_word_text(words, &words->rows[i], lower);
        offer_told(c, islower((unsigned char)c->typed[0]) ? lower : words->rows[i].name,
                   words->rows[i].text);
    }
}

static void offer_hosts(struct complete_request *c)
{
    offer_kinds(c, (const enum node_kind[]){NODE_host, NODE_none});
}

/* Offers values of field @f. */
static void offer_field_values(struct complete_request *c, const struct ev_field *f)
{
    if (f->print == EVP_ENUM)
        offer_names(c, *f->words);
    else if (f->print == EVP_HOST)
        offer_hosts(c);
    else if (strcmp(f->type, "part") == 0)
        offer_kinds(c, (const enum node_kind[]){NODE_fault, NODE_link, NODE_switch, NODE_none});
}

static bool is_given(const char *from, const char *name)
{
    const size_t n = strlen(name);

    for (const char *s = strstr(from, name); s; s = strstr(s + 1, name)) {
        if ((s == from || !is_part(s[-1])) && strchr("=!<> ", s[n]) && s[n])
            return true;
    }
    return false;
}

/* Offers fields between the parentheses of count() or of an event kind.  @from is the beginning of
 * the list of fields.
 */
static void offer_fields(struct complete_request *c, enum ev_kind kind, const char *from)
{
    const struct ev_schema *schema = ev_schema(kind);
    const char *piece = strrchr(from, ',');
    char name[WORD_BYTES];
    struct text t = text_on(name, sizeof(name));
    size_t n;

    piece = piece ? piece + 1 : from;
    piece += strspn(piece, " ");
    n = strcspn(piece, "=!<> ");
    text_addn(&t, piece, n);
    if (piece[n + strspn(piece + n, " ")]) { /* after an operator */
        const struct ev_field *f = ev_field_find(kind, name);

        if (f)
            offer_field_values(c, f);
        return;
    }
    for (size_t i = 0; i < schema->n_fields && piece[n] == '\0'; i++) {
        char field[WORD_BYTES];
        struct text e = text_on(field, sizeof(field));

        text_addf(&e, "%s==", schema->fields[i].name);
        if (!is_given(from, schema->fields[i].name))
            offer_open(c, field,
                       schema->fields[i].print == EVP_ENUM ? (*schema->fields[i].words)->what : "");
    }
}

/* Offers event kinds, with their fields as the meaning. */
static void offer_event_kinds(struct complete_request *c)
{
    for (unsigned kind = 0; kind < EV_COUNT; kind++) {
        const struct ev_schema *schema = ev_schema((enum ev_kind)kind);
        char fields[FIELDS_BYTES];
        struct text t = text_on(fields, sizeof(fields));

        for (size_t i = 0; i < schema->n_fields && c->typed[0]; i++)
            text_addf(&t, i ? ", %s" : "%s", schema->fields[i].name);
        offer_told(c, schema->name, fields);
    }
}

/* Returns the path before the operator that ends right before @token; "" if there is none. */
static void compared_path(const char *text, const char *token, char ret[WORD_BYTES])
{
    const char *end = token, *begin;
    struct text t = text_on(ret, WORD_BYTES);

    ret[0] = '\0';
    while (end > text && end[-1] == ' ')
        end--;
    if (end - text < 2 || end[-1] != '=' || (end[-2] != '=' && end[-2] != '!'))
        return;
    end -= 2;
    while (end > text && end[-1] == ' ')
        end--;
    for (begin = end; begin > text && is_part(begin[-1]);)
        begin--;
    text_addn(&t, begin, (size_t)(end - begin));
}

/* Offers the words that the leaf @path may have as values.  Returns false if it has no words.  The
 * leaf need not exist yet.
 */
static bool offer_words_of(struct complete_request *c, const char *path)
{
    const struct scope in = {.lab = c->s->lab, .host = c->st->host};
    const char *dot = strrchr(path, '.');
    char whole[WORD_BYTES], parent[WORD_BYTES];
    struct text t = text_on(parent, sizeof(parent));
    struct leaf_places places;
    struct rdl_value v;
    size_t at;

    resolve_path(&in, path, whole);
    if (rdl_inspect(c->s->lab, whole, &v, &at) == RDL_OK) {
        if (v.type == RDL_WORD && leaf_rows[v.row].words)
            offer_names(c, leaf_rows[v.row].words);
        return v.type == RDL_WORD;
    }
    text_addn(&t, path, dot ? (size_t)(dot - path) : 0);
    if (!dot || !leaf_path_leads(parent, &places, &at))
        return false;
    for (unsigned kind = 1; kind < NODE_COUNT; kind++) {
        const enum leaf_id leaf = leaf_find((enum node_kind)kind, dot + 1, strlen(dot + 1));

        if (node_set_has(&places.nodes, kind) && leaf != LEAF_none && leaf_rows[leaf].words) {
            offer_names(c, leaf_rows[leaf].words);
            return true;
        }
    }
    return false;
}

void offer_expression(struct complete_request *c, const char *text, bool moment)
{
    struct place_in in;
    enum ev_kind kind;
    char path[WORD_BYTES];

    find_place(text, &in);
    if (in.quoted)
        return;
    take_token(c, in.token);
    if (in.inside && strcmp(in.called, "count") == 0) {
        const char *comma = strchr(in.inside, ',');
        char name[WORD_BYTES];
        struct text t = text_on(name, sizeof(name));

        if (!comma) {
            offer_event_kinds(c);
            return;
        }
        text_addn(&t, in.inside, strcspn(in.inside, ", "));
        kind = ev_kind_find(name);
        if (kind != EV_COUNT)
            offer_fields(c, kind, comma + 1);
        return;
    }
    kind = in.called[0] ? ev_kind_find(in.called) : EV_COUNT;
    if (kind != EV_COUNT) {
        offer_fields(c, kind, in.inside);
        return;
    }
    compared_path(text, in.token, path);
    if (path[0] && offer_words_of(c, path) && c->n_offered > 0)
        return;
    offer_paths(c, true);
    if (strchr(c->typed, '.'))
        return;
    offer_open(c, "count(", "how often something has happened");
    if (moment)
        offer_event_kinds(c);
}
