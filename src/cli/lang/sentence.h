/* SPDX-License-Identifier: MIT */
/* Faults as sentences: `drop the 2nd READ response of h1.qp`.
 *
 *	VERB { which | what | clause | filler }
 *	which   next | next N | first N | every | ORDINAL                    nth=, count=
 *	        ORDINAL transmission | retransmission | message              transmission=, message=
 *	what    packet | frame | ACK | NAK | RNR NAK | sequence NAK | SEND | WRITE | READ [request]
 *| READ response | atomic [request] | atomic response | request | answer | OPCODE class=, opcode=
 *	clause  from HOST | to HOST | of QP | on A-B | psn N | message N | transmission N |
 *	        by TIME | within TIME | behind N | bit N | field FIELD | set FIELD to VALUE |
 *	        to N bytes | where EXPR
 *
 * Of a virtqueue (lose, postpone, stall, invent):
 *
 *	which   as above
 *	what    kick | interrupt | buffer | completion | data
 *	clause  of QUEUE | in QUEUE | QUEUE | by TIME | for TIME | chance CHANCE | where EXPR
 *
 * It is sugar: each word becomes a value of the parameter that says the same, so that a step has
 * one form, in JSON and in saved scenarios too.  Keys and flags may stand between the words.
 */
#ifndef CLI_LANG_SENTENCE_H
#define CLI_LANG_SENTENCE_H

#include "cli/lang/pool.h"
#include "cli/lang/script.h"

/* A word that a sentence may have, for completion. */
struct sentence_word {
    const char *word, *what;
};
extern const struct sentence_word sentence_words[];
extern const size_t n_sentence_words;

/* The parameter of @cmd whose value follows the word @before in a sentence; NULL: none does. */
const struct param *sentence_wants(const struct cmd *cmd, const char *before);

/* What a sentence wants next, and what it has not yet made a value of. */
struct sentence {
    bool begun;         /* with a word that only sentences have */
    const char *want;   /* parameter whose value comes next; NULL: none */
    bool set;           /* behind `set`: a field comes, and then its value */
    bool read, atomic;  /* behind `READ`, `atomic`: request or response may follow */
    bool rnr, sequence; /* NAK must follow */
    bool numbered;      /* behind `next` and `first`: how many may follow */
    uint32_t ordinal;   /* the 2nd ... of what? 0: there is none */
    struct span at;     /* of the last word, and of the ordinal */
    struct span ordinal_at;
};

enum sentence_take { SENTENCE_NOT, SENTENCE_TOOK, SENTENCE_BAD };

/* Takes @text, which stands at @at, as the next word of the sentence that @st is.  SENTENCE_NOT: it
 * is no word of sentences; SENTENCE_BAD: @d says what is wrong.
 */
enum sentence_take sentence_take(struct sentence *s, struct pool *p, struct step *st,
                                 const char *text, struct span at, struct diag *d);

/* The sentence is over. */
bool sentence_end(struct sentence *s, struct pool *p, struct step *st, struct diag *d);

/* Fails: the word is none of sentences, nor a key. */
bool sentence_unknown(const struct step *st, const char *text, struct span at, struct diag *d);

#endif
