/* SPDX-License-Identifier: MIT */
/* Faults as sentences: `drop the 2nd READ response of h1.qp`.
 *
 *	VERB { which | what | clause | filler }
 *	which   next | next N | first N | every | ORDINAL                    nth=, count=
 *	        every ORDINAL                                                every=
 *	        ORDINAL transmission | retransmission | message              transmission=, message=
 *	what    packet | frame | ACK | NAK | RNR NAK | sequence NAK | SEND | WRITE | READ [request]
 *	        | READ response | atomic [request] | atomic response | request | answer | OPCODE
 *	        | REQ | REP | REJ ... (enum cm_message)                      class=, opcode=, cm=
 *	clause  from HOST | to HOST | of QP | on A-B | psn N | message N | transmission N |
 *	        by TIME | within TIME | behind N | bit N | field FIELD | set FIELD to VALUE |
 *	        to N bytes | where EXPR
 *
 * For faults of a virtqueue (lose, postpone, stall, invent):
 *
 *	which   as above
 *	what    kick | interrupt | buffer | completion | data
 *	clause  of QUEUE | in QUEUE | QUEUE | by TIME | for TIME | chance CHANCE | where EXPR
 *
 * A sentence is only another notation: the reader turns its words into values of parameters.  So a
 * step has the same form in JSON and in saved scenarios.  Keys and flags may stand between the
 * words.
 */
#ifndef CLI_LANG_SENTENCE_H
#define CLI_LANG_SENTENCE_H

#include "cli/lang/pool.h"
#include "cli/lang/script.h"

/* A word that a sentence may contain, and its meaning, for completion. */
struct sentence_word {
    const char *word, *what;
};
extern const struct sentence_word sentence_words[];
extern const size_t n_sentence_words;

/* Returns the parameter of @cmd whose value follows the word @before in a sentence: "link" after
 * "on".  Returns NULL if no value follows.
 */
const struct param *sentence_wants(const struct cmd *cmd, const char *before);

/* State of the sentence parser between two words. */
struct sentence {
    bool begun;         /* a word that only sentences have was read */
    const char *want;   /* parameter whose value comes next; NULL: none */
    bool set;           /* after `set`: a field, `to` and its value follow */
    bool read, atomic;  /* after `READ`, `atomic`: request or response may follow */
    bool rnr, sequence; /* after `RNR`, `sequence`: NAK must follow */
    bool numbered;      /* after `next`, `first`: a number may follow */
    bool every;         /* after `every`: until its noun was read */
    bool periodic;      /* @ordinal follows `every`: its multiples are meant */
    uint32_t ordinal;   /* number of an ordinal ("2nd") until its noun was read; 0: none */
    struct span at;     /* position of the last word that was read */
    struct span ordinal_at, every_at;
};

enum sentence_take { SENTENCE_NOT, SENTENCE_TOOK, SENTENCE_BAD };

/* Parses @text, which stands at @at, as the next word of the sentence.  @st receives the values of
 * parameters.  Returns SENTENCE_TOOK if the word belongs to the sentence, SENTENCE_NOT if sentences
 * have no such word, and SENTENCE_BAD, with a message in @d, if the word is wrong here.
 */
enum sentence_take sentence_take(struct sentence *s, struct pool *p, struct step *st,
                                 const char *text, struct span at, struct diag *d);

/* Ends the sentence: gives @st the values that no word has decided, such as an ordinal without a
 * noun.  Returns false, with a message in @d, if a word is missing.
 */
bool sentence_end(struct sentence *s, struct pool *p, struct step *st, struct diag *d);

/* Reports @text as neither a word of sentences nor a key.  Returns false. */
bool sentence_unknown(const struct step *st, const char *text, struct span at, struct diag *d);

#endif
