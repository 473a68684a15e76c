/* SPDX-License-Identifier: MIT */
/* What the files of this room share: a statement that is being typed, and offering words for it. */
#ifndef CLI_COMPLETE_COMPLETION_H
#define CLI_COMPLETE_COMPLETION_H

#include "cli/complete/complete.h"
#include "tree/tree.h"

#define WORD_BYTES SESSION_PATH_BYTES
#define LINE_WORDS 64u

#define BLOCKS_MAX 16u

/* The last statement of a line, up to the cursor. */
struct statement {
    char words[LINE_WORDS][WORD_BYTES]; /* the last is the one that is being typed */
    const char *at[LINE_WORDS];         /* where each begins in the line */
    size_t n;                           /* words before the last */
    const struct cmd *cmd;              /* of the first word; NULL: none is finished, or known */
    char host[RDL_NAME_BYTES];          /* of bare names; "": they are looked up nowhere */
    char home[RDL_NAME_BYTES];          /* of what the first operand names; "": not known */
    char object[WORD_BYTES];            /* its whole path */
    const char *blocks[BLOCKS_MAX];     /* where the statements begin whose blocks are open */
    size_t n_blocks;
};

/* Cuts the last statement of @line. */
void statement_read(struct session *s, const char *line, struct statement *ret);

/* The parameter that the operand behind the words before the last is for: as they are read, each is
 * for the next one that takes it.  *ret_word: where the words begin that are for the same one.
 */
size_t statement_operand(const struct statement *st, size_t *ret_word);

/* Does a word before the last one begin an expression that goes on to the end?  Its parameter, and
 * where it begins; NULL if none does.
 */
const struct param *statement_named(const struct statement *st, size_t *ret_word);

/* The parameter whose KEY= @word begins with, and what is behind that; NULL: it begins with none.
 */
const struct param *statement_key(const struct cmd *cmd, const char *word, const char **ret_value);

/* Was @p given in a word before the last, as KEY= or, if it may stand so, by its name alone? */
bool statement_gives(const struct statement *st, const struct param *p);

struct complete_request {
    struct session *s;
    complete_each *each;
    void *ctx;
    const struct statement *st;
    char kept[WORD_BYTES];     /* part of the word that stays: "send_cq=", "access=lw," */
    const char *typed;         /* the part that is completed */
    const char *before;        /* the word before it */
    enum node_kind kind;       /* of objects that are wanted; NODE_none: any */
    const struct param *param; /* for which they are */
    char parent[WORD_BYTES];
    size_t n_offered;
    bool is_file; /* the word is the name of one */
};

/* A candidate: with what it means, with what else there is to say of it, or alone. */
void offer_one(struct complete_request *c, const struct offer *o);
void offer_told(struct complete_request *c, const char *candidate, const char *meaning);
void offer(struct complete_request *c, const char *candidate);

/* A candidate behind which no blank belongs: "count(". */
void offer_open(struct complete_request *c, const char *candidate, const char *meaning);

/* All words of an enumeration. */
void offer_words(struct complete_request *c, const struct enum_table *words);

/* What the lab has: everything below what is typed up to its last dot (@future: also what may still
 * come), objects of a kind, nodes of these kinds (up to NODE_none), queues.
 */
void offer_paths(struct complete_request *c, bool future);
void offer_objects(struct complete_request *c, enum node_kind kind);
void offer_kinds(struct complete_request *c, const enum node_kind *kinds);
void offer_queues(struct complete_request *c);

/* What one asks for most that is not there: the completions that come next. */
void offer_next_completions(struct complete_request *c);

/* Macros, as commands; the parameters of the one that the statement calls. */
void offer_macros(struct complete_request *c);
void offer_parameters(struct complete_request *c);

/* Variables of the blocks around a word with a $ at its end; false if it has none. */
bool offer_variables(struct complete_request *c);

/* What may stand at the end of the expression @text; @moment: it may be about what happens. */
void offer_expression(struct complete_request *c, const char *text, bool moment);

/* What is to be said of the object at @path, of c->kind, where c->param wants one: what it is, or
 * why it would be refused.  *ret_barred tells which.
 */
void bar_object(const struct complete_request *c, const char *path, struct text *ret,
                bool *ret_barred);

/* The same for a word of an enumeration, where c->param wants one. */
void bar_word(const struct complete_request *c, const struct enum_row *row, struct text *ret,
              bool *ret_barred);

/* The queue pair that the statement is about, if it is one. */
bool statement_qp(struct session *s, const struct statement *st, struct rdl_qp_info *ret);

#endif
