/* SPDX-License-Identifier: MIT */
/* The command table: commands.def as data.
 *
 * Parsing, checking, help, completion, the JSON form and the JSON Schema are made from these rows;
 * nothing else knows the commands.  The functions that carry them out are in dispatch.c.
 */
#ifndef CLI_LANG_TABLE_H
#define CLI_LANG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/values.h"
#include "emu/facts/enums.h"
#include "emu/facts/leaf.h"

/* Properties of a parameter, a set. */
enum param_bit {
    P_OPERAND = 1u << 0,  /* given by its place; key=value works too */
    P_REQUIRED = 1u << 1, /* must be given */
    P_LIST = 1u << 2,     /* several values: a,b,c */
    P_MANY = 1u << 3,     /* several values, each an operand of its own; the last operand */
    P_SUBJECT = 1u << 4,  /* the first value may be a subject of `show` */
    P_BEHIND =
        1u << 5, /* of a flag: it stands behind the operands, where it is no word of theirs */
    P_MOMENT = 1u << 6,  /* of an expression: it may be about what happens */
    P_SESSION = 1u << 9, /* it sets what belongs to the session, and no scenario has it */
    P_REST = 1u << 8,    /* of a list: behind its name, without =, stand its values */
    P_NAMED = 1u << 7 /* an expression, or an event, behind its own name: `why not ...`; or the name
                         alone */
};

struct param {
    const char *name; /* key in a line, and in JSON unless @json is set */
    enum value_kind kind;
    unsigned flags;                 /* set of enum param_bit */
    const char *help;               /* a phrase for help and schema */
    const struct enum_table *words; /* of VAL_WORD and VAL_SET */
    enum object_kind object;        /* of VAL_OBJECT */
    enum leaf_id stands;   /* of VAL_NUMBER: what an object stands for; LEAF_none: nothing, only a
                              path that leads to a number does */
    uint64_t min, max;     /* of numbers; max 0: no limit */
    const char *standard;  /* its value if it is not given; NULL: there is none */
    const char *otherwise; /* the same where that is no value but a phrase: "any" */
    const char *after;     /* of an operand: it only follows this word, which is the operand
                              before it; P_REQUIRED there alone.  NULL: any */
    char letter;           /* `-s 64` works like `size=64`; 0: none */
    const char *json;      /* JSON key; "limits.ticks" is the key ticks in an object limits */
};

enum cmd_class {
    CLASS_LAB,
    CLASS_VERBS,
    CLASS_RUN,
    CLASS_FAULTS,
    CLASS_LOOK,
    CLASS_SCRIPT,
    N_CLASSES
};

/* Properties of a command, a set. */
enum cmd_bit {
    CMD_NAMES = 1u << 0,        /* takes `as NAME` */
    CMD_BLOCK = 1u << 1,        /* takes { ... } */
    CMD_LOOKS = 1u << 2,        /* changes nothing: not part of a saved session */
    CMD_SHOWS = 1u << 3,        /* the events that happen in it are shown as they happen */
    CMD_HEADER = 1u << 4,       /* the first line of a script: metadata */
    CMD_NOTE = 1u << 5,         /* a comment */
    CMD_PROMPT_ONLY = 1u << 6,  /* not part of a scenario */
    CMD_OUTSIDE = 1u << 7,      /* needs the world outside: its example is not run in tests */
    CMD_PASSES = 1u << 8,       /* does nothing but let the lab go on */
    CMD_AGAIN = 1u << 9,        /* an empty line at the prompt repeats it */
    CMD_QUIET_LIVE = 1u << 10,  /* shows no events of a lab that follows real time: too many */
    CMD_SOURCES = 1u << 11,     /* carries out steps from elsewhere, which are kept in its place */
    CMD_KEEPS_LOOKS = 1u << 12, /* is saved with what only looks: its block is about that, too */
    CMD_AT_ONCE = 1u << 13,     /* its block is carried out as one: no command of it on its own */
    CMD_MAY_BLOCK = 1u << 14,   /* takes do { ... }, or not; what is in it is not done now */
    CMD_WORDS = 1u << 15,       /* behind its first operand all words are values of its second */
    CMD_ALONE = 1u << 16,       /* works neither in a block nor in a sourced file */
    CMD_SENTENCE = 1u << 17     /* may be written as a sentence; see sentence.h */
};

/* What an example needs before it: lines that examples_before[] has. */
enum before {
    BEFORE_NOTHING,
    BEFORE_HOSTS,
    BEFORE_OBJECTS,
    BEFORE_CONNECTED,
    BEFORE_POSTED,
    N_BEFORE
};

struct cmd {
    const char *name;
    enum cmd_class class;
    unsigned flags; /* set of enum cmd_bit */
    const char *summary;
    enum before before;
    const char *example; /* works after examples_before[before] */
    const struct param *params;
    size_t n_params;
};

/* The least that `set history` takes. */
#define HISTORY_BYTES_MIN 1048576

/* What a scenario has whose header does not say it, and a session that is none. */
#define SCENARIO_SEED      1
#define SCENARIO_TICKS_MAX 10000000

enum cmd_id {
#define CMD(name, ...) CMD_##name,
#include "cli/lang/commands.def"
#undef CMD
    N_CMDS
};

extern const struct cmd cmd_table[N_CMDS];
extern const char *const examples_before[N_BEFORE];

struct cmd_class_info {
    const char *name; /* as `help` takes it */
    const char *what;
};
extern const struct cmd_class_info cmd_classes[N_CLASSES];

/* The command called @name; NULL if there is none.  @abbreviated: a unique prefix will do. */
const struct cmd *cmd_find(const char *name, bool abbreviated);

/* The parameter called @name; NULL if @cmd has none. */
const struct param *cmd_param(const struct cmd *cmd, const char *name);

/* What stands behind `as`, of each command that is CMD_NAMES. */
extern const struct param cmd_as;

/* Does @cmd take option letters?  The parameter of one; NULL if @cmd has not that. */
bool cmd_has_letters(const struct cmd *cmd);
const struct param *cmd_param_of_letter(const struct cmd *cmd, char letter);

/* Has it more than one value? */
static inline bool param_is_list(const struct param *p)
{
    return (p->flags & (P_LIST | P_MANY)) != 0 || p->kind == VAL_SET;
}

#endif
