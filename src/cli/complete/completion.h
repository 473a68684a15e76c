/* SPDX-License-Identifier: MIT */
/* Internal interface of the files of this directory: the statement that is being typed, and
 * functions that offer candidates for its last word.
 */
#ifndef CLI_COMPLETE_COMPLETION_H
#define CLI_COMPLETE_COMPLETION_H

#include "cli/complete/complete.h"
#include "cli/session/session.h"
#include "tree/tree.h"

#define WORD_BYTES SESSION_PATH_BYTES
#define LINE_WORDS 64u /* most words of a statement */

#define BLOCKS_MAX 16u /* most open blocks */

/* The last statement of a line, up to the cursor. */
struct statement {
    char words[LINE_WORDS][WORD_BYTES]; /* the last one is being typed */
    const char *at[LINE_WORDS];         /* beginning of each word in the line */
    size_t n; /* index in @words of the word that is being typed, and number of words before it */
    const struct cmd *cmd;     /* the command of the first word; NULL: incomplete or unknown */
    char host[RDL_NAME_BYTES]; /* host of names without one ("qp"); "": none */
    char home[RDL_NAME_BYTES]; /* host of the object that the first operand names; "": not known */
    char object[WORD_BYTES];   /* path of that object */
    const char *blocks[BLOCKS_MAX]; /* the statements around it whose blocks are open */
    size_t n_blocks;
};

/* Splits the last statement of @line into words. */
void statement_read(struct session *s, const char *line, struct statement *ret);

/* Returns the index in cmd->params of the parameter that the last word is for, if that word is an
 * operand, or cmd->n_params if no operand is left.  Each word before it is assigned to the next
 * operand that accepts it, as when the command is executed.  *@ret_word is the index in st->words
 * of the first word of the same parameter.
 */
size_t statement_operand(const struct statement *st, size_t *ret_word);

/* Returns true if the parameter @p may follow the words before the last one: see member after of
 * struct param.
 */
bool statement_wants(const struct statement *st, const struct param *p);

/* If a word before the last one is the name of a parameter whose expression follows (P_NAMED),
 * returns this parameter.  *@ret_word is the index of the expression's first word.  Returns NULL if
 * there is no such word.
 */
const struct param *statement_named(const struct statement *st, size_t *ret_word);

/* If the word before the last one is the name of a parameter whose value may follow a blank
 * (P_REST), as in `on m1`, returns this parameter.  Otherwise returns NULL.
 */
const struct param *statement_rest(const struct statement *st);

/* If @word begins with KEY= of a parameter, returns the parameter; *@ret_value is the text after
 * the "=".  Otherwise returns NULL.
 */
const struct param *statement_key(const struct cmd *cmd, const char *word, const char **ret_value);

/* Returns true if a word before the last one gives @p a value: as KEY=, or for a flag, a P_NAMED
 * or a P_REST parameter by its name alone.
 */
bool statement_gives(const struct statement *st, const struct param *p);

/* A word to complete, and the receiver of the candidates. */
struct complete_request {
    struct session *s;
    complete_each *each;
    void *ctx;
    const struct statement *st;
    /* Part of the word before the part to complete: "send_cq=", "access=lw,". */
    char kept[WORD_BYTES];
    const char *typed;         /* the part to complete */
    const char *before;        /* the word before the one that is being typed */
    enum node_kind kind;       /* kind of the wanted objects; NODE_none: any */
    const struct param *param; /* the parameter that the word is for */
    char parent[WORD_BYTES];   /* while children of a node are offered: path of that node */
    size_t n_offered;          /* number of candidates so far */
    bool is_file;              /* the word is a file name */
};

/* Offer a candidate: offer() only the word, offer_told() with its meaning, offer_one() with all
 * members of struct offer.
 */
void offer_one(struct complete_request *c, const struct offer *o);
void offer_told(struct complete_request *c, const char *candidate, const char *meaning);
void offer(struct complete_request *c, const char *candidate);

/* Offers a candidate that must not be followed by a blank: "count(". */
void offer_open(struct complete_request *c, const char *candidate, const char *meaning);

/* Offers all words of an enumeration. */
void offer_words(struct complete_request *c, const struct enum_table *words);

/* Offer things of the lab.  offer_paths(): the children of the node that the typed text names up to
 * its last dot; with @future also those that do not exist yet.  offer_objects(): objects of @kind.
 * offer_kinds(): nodes of these kinds (terminated by NODE_none).  offer_queues(): work queues.
 */
void offer_paths(struct complete_request *c, bool future);
void offer_objects(struct complete_request *c, enum node_kind kind);
void offer_kinds(struct complete_request *c, const enum node_kind *kinds);
void offer_queues(struct complete_request *c);

/* Offers the next completion of each completion queue, a frequent argument of `why not`. */
void offer_next_completions(struct complete_request *c);

/* offer_macros() offers macros as commands.  offer_parameters() offers the parameters of the macro
 * that the statement calls.
 */
void offer_macros(struct complete_request *c);
void offer_parameters(struct complete_request *c);

/* Offers variables of the open blocks if the word ends with $ and the beginning of a name, which
 * may be empty.  Otherwise returns false.
 */
bool offer_variables(struct complete_request *c);

/* Offers what may continue the expression @text.  @moment: it may contain events that happen. */
void offer_expression(struct complete_request *c, const char *text, bool moment);

/* Appends a description of the object at @path, of kind c->kind, as a value of c->param.  If the
 * command would be refused with this object, appends the reason instead and sets *@ret_barred.
 */
void bar_object(const struct complete_request *c, const char *path, struct text *ret,
                bool *ret_barred);

/* Like bar_object(), for the word @row of an enumeration. */
void bar_word(const struct complete_request *c, const struct enum_row *row, struct text *ret,
              bool *ret_barred);

/* Reads the queue pair that the first operand of the statement names.  Returns false if it names
 * none.
 */
bool statement_qp(struct session *s, const struct statement *st, struct rdl_qp_info *ret);

#endif
