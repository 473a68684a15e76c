/* SPDX-License-Identifier: MIT */
/* Completion of macros, their parameters, and variables of blocks. */
#include <string.h>

#include "cli/complete/completion.h"
#include "cli/lang/expand.h"

void offer_macros(struct complete_request *c)
{
    for (const struct macro *m = c->s->run.macros.list.first; m; m = m->next) {
        const char *name = step_text(m->def, "name");

        if (macro_find(&c->s->run.macros.list, name) == m) /* skip one that was redefined */
            offer_told(c, name, c->typed[0] ? "a macro" : "");
    }
}

void offer_parameters(struct complete_request *c)
{
    const struct macro *m = macro_find(&c->s->run.macros.list, c->st->words[0]);
    const struct arg *params = m ? step_arg(m->def, "params") : NULL;

    for (size_t i = 0; params && i < params->n; i++) {
        const char *text = params->v[i].text, *equals = strchr(text, '=');
        char key[WORD_BYTES], meaning[WORD_BYTES] = "";
        struct text k = text_on(key, sizeof(key)), t = text_on(meaning, sizeof(meaning));

        text_addn(&k, text, strcspn(text, "="));
        text_add(&k, "=");
        if (equals)
            text_addf(&t, "%s if it is not said", equals + 1);
        offer_open(c, key, meaning);
    }
    if (m) /* the most frequent argument */
        offer_kinds(c, (const enum node_kind[]){NODE_host, NODE_none});
}

/* Reads the next word of a statement from *@at, up to its brace.  Returns false if there is none.
 */
static bool next_word(const char **at, char ret[WORD_BYTES])
{
    struct text t = text_on(ret, WORD_BYTES);
    size_t n;

    *at += strspn(*at, " \t\n");
    n = strcspn(*at, " \t\n{;");
    text_addn(&t, *at, n);
    *at += n;
    return n > 0;
}

static void offer_variable(struct complete_request *c, const char *name, const char *meaning)
{
    char word[WORD_BYTES];
    struct text t = text_on(word, sizeof(word));
    const bool brackets = c->typed[1] == '(';

    text_addf(&t, brackets ? "$(%.*s)" : "$%.*s", (int)strcspn(name, "="), name);
    offer_open(c, word, meaning);
}

bool offer_variables(struct complete_request *c)
{
    const char *word = c->st->words[c->st->n], *dollar = strrchr(word, '$');
    struct text kept = text_on(c->kept, sizeof(c->kept));

    /* The word continues after the variable's name. */
    if (!dollar || dollar[1 + strcspn(dollar + 1, ".,:=)[]")])
        return false;
    text_addn(&kept, word, (size_t)(dollar - word));
    c->typed = dollar;
    for (size_t i = c->st->n_blocks; i-- > 0;) {
        const char *at = c->st->blocks[i];
        char verb[WORD_BYTES], name[WORD_BYTES], param[WORD_BYTES];

        if (!next_word(&at, verb) || !next_word(&at, name))
            continue;
        if (strcmp(verb, "foreach") == 0)
            offer_variable(c, name, "one value after the other");
        while (strcmp(verb, "macro") == 0 && next_word(&at, param))
            offer_variable(c, param, "what the call says");
    }
    c->typed = word;
    c->kept[0] = '\0';
    return true;
}
