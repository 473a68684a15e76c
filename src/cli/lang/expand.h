/* SPDX-License-Identifier: MIT */
/* Blocks with variables: the rounds of `foreach`, the calls of macros.
 *
 * In the block of a `foreach` or of a macro $NAME or $(NAME) may be in any value.  Such a value is
 * kept as it was typed, and checked once it is known what stands for the name: when the block is
 * expanded, which is to copy it with all names replaced.  That is done before anything runs, to see
 * whether it can be, and again when it runs.
 *
 * A macro knows only its own parameters, and only macros that are there when it is defined, so that
 * none can call itself.
 */
#ifndef CLI_LANG_EXPAND_H
#define CLI_LANG_EXPAND_H

#include "cli/lang/script.h"

#define FOREACH_ROUNDS_MAX 10000u  /* of one `foreach` */
#define MACRO_PARAMS_MAX   32u     /* of one macro */
#define EXPAND_STEPS_MAX   100000u /* commands that one line may become, `repeat` aside */

/* A variable, and those around it. */
struct var {
    const struct var *outer;
    const char *name;
    const char *text; /* that stands for it; NULL: that is not known yet */
};

/* Is there a $NAME or $(NAME) in @text? */
bool vars_in(const char *text);

/* Is each of them one of @known?  If not @d says so. */
bool vars_check(const struct var *known, const char *text, struct span at, struct diag *d);

/* --- foreach ---------------------------------------------------------------------------------- */

/* The values of a `foreach` one after the other. */
struct rounds {
    const struct arg *in;
    size_t i;   /* the next of them */
    bool range; /* the one before that is a range, and more of it is to come: */
    uint64_t next, last;
};

struct rounds rounds_of(const struct step *st);

/* The next value, in @p; NULL: that was all. */
const char *rounds_next(struct rounds *r, struct pool *p);

/* How many there are; FOREACH_ROUNDS_MAX + 1: too many. */
size_t rounds_count(const struct step *st);

/* Has @st a name that no variable @outer around it has, and values of those alone? */
bool foreach_check(const struct step *st, const struct var *outer, struct diag *d);

/* What is left of @r, as the values of a copy of @st without its block, in @p. */
struct step *rounds_rest(const struct rounds *r, const struct step *st, struct pool *p);

/* --- Macros ----------------------------------------------------------------------------------- */

/* NULL: no macro has this name. */
const struct macro *macro_find(const struct macros *list, const char *name);

/* Adds the macro that @def defines, which lives in @p, as does @src. */
void macro_put(struct macros *list, struct pool *p, const struct step *def,
               const struct source *src);

/* Are name and parameters of the macro that @def defines in order?  @ret: its parameters, in @p. */
bool macro_check(const struct step *def, struct pool *p, const struct var **ret, struct diag *d);

/* What the parameters of @m are in the call @st. */
bool macro_bind(const struct macro *m, const struct step *st, struct pool *p,
                const struct var **ret, struct diag *d);

/* The macro that @st, in @s, calls; NULL: there is none, and @d says so. */
const struct macro *macro_called(const struct macros *own, const struct macros *known,
                                 const struct step *st, struct diag *d);

/* --- Expanding -------------------------------------------------------------------------------- */

/* A copy of the list from @first on in @p, with what stands for @vars in place of their names.
 * False: a value is wrong then, and @d says so.
 */
bool expand_steps(const struct step *first, const struct var *vars, struct pool *p,
                  struct step **ret, struct diag *d);

/* Can @st, which stands outside of all blocks of @s and is in its pool, be expanded, with all that
 * it calls?  If it defines a macro, that can be called behind it.
 */
bool expand_whole(struct script *s, const struct step *st, struct diag *d);

#endif
