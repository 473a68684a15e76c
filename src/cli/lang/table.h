/* SPDX-License-Identifier: MIT */
/* The command table: the rows of commands.def as data.
 *
 * Parser, checks, help, completion, the JSON form and the JSON Schema are generated from these
 * rows; no other file lists the commands.  The functions that execute them are in cli/cmd and
 * cli/exec.
 */
#ifndef CLI_LANG_TABLE_H
#define CLI_LANG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/permit.h"
#include "cli/lang/values.h"
#include "emu/facts/leaf.h"

/* Properties of a parameter, a set. */
enum param_bit {
    P_OPERAND = 1u << 0,  /* given by position; key=value works too */
    P_REQUIRED = 1u << 1, /* must be given */
    P_LIST = 1u << 2,     /* several values: a,b,c */
    P_MANY = 1u << 3,     /* several values, each an operand of its own; must be the last operand */
    P_SUBJECT = 1u << 4,  /* the first value may be a table that `show` prints ("vq", "events") */
    /* of a flag: its name is recognized only after an operand, since an operand may have the same
     * text; written --NAME, it is recognized anywhere
     */
    P_BEHIND = 1u << 5,
    P_MOMENT = 1u << 6,  /* of an expression: may contain events that happen (EXPR_HAPPENS) */
    P_SESSION = 1u << 9, /* sets something of the session, not of the lab; no scenario has it */
    P_ONE_OF = 1u << 10, /* one of the parameters with this bit must be given */
    P_RDMA = 1u << 11,   /* describes an RDMA device: refused for a host without one */
    P_VIRTIO = 1u << 12, /* describes virtio-rdma: refused for a host with another device */
    P_PVRDMA = 1u << 13, /* describes PVRDMA: refused for a host with another device */
    P_HEX = 1u << 14,    /* of a number: its range is shown in hexadecimal */
    P_REST = 1u << 8,    /* may be written `on m1`; of a list: `in a b c`, to the end of the line */
    /* of an expression or event: written after its name without `=` (`why not h1.cq.wc[1]`); the
     * name may also stand alone, and the value is then ""
     */
    P_NAMED = 1u << 7
};

struct param {
    const char *name; /* key in a line, and in JSON unless @json is set */
    enum value_kind kind;
    unsigned flags;                 /* set of enum param_bit */
    const char *help;               /* phrase for the help and the schema */
    const struct enum_table *words; /* the enumeration of VAL_WORD and VAL_SET */
    uint32_t object;                /* of VAL_OBJECT: enum object_kind */
    /* Of VAL_NUMBER: the path of an object that has this leaf is accepted, too, and means the
     * number in the leaf.  LEAF_none: only a number, or a path to one.
     */
    enum leaf_id stands;
    /* Of VAL_NUMBER: the parameter that names a field of frames, whose words for values are
     * accepted, too.  NULL: there is none.
     */
    const char *of_field;
    uint64_t min, max;     /* smallest and largest number; max 0: no limit */
    const char *standard;  /* default value; NULL: none */
    const char *shown;     /* in a usage line, with "..." and all; NULL: as the kind says */
    const char *otherwise; /* the default as a phrase, if it is not a fixed value: "any" */
    /* Of an operand: it is allowed, and P_REQUIRED applies, only if an operand before it is this
     * word.  Completion offers any parameter only behind it.  NULL: always.
     */
    const char *after;
    /* The thing on the machine that the value lets the command open.  Of VAL_FILE: OPENS_READ or
     * OPENS_WRITE. See session/gate.h.
     */
    enum opening opens;
    char letter;      /* `-s 64` works like `size=64`; 0: none */
    const char *json; /* JSON key; NULL: @name; "limits.ticks": the key ticks in an object limits */
};

enum cmd_class {
    CLASS_LAB,
    CLASS_VERBS,
    CLASS_CM,
    CLASS_LNET,
    CLASS_RUN,
    CLASS_FAULTS,
    CLASS_LOOK,
    CLASS_SCRIPT,
    N_CLASSES
};

/* Properties of a command, a set. */
enum cmd_bit {
    CMD_NAMES = 1u << 0,       /* takes `as NAME` */
    CMD_BLOCK = 1u << 1,       /* takes { ... } */
    CMD_LOOKS = 1u << 2,       /* does not change the lab; not part of a saved session */
    CMD_SHOWS = 1u << 3,       /* prints the events as they happen */
    CMD_HEADER = 1u << 4,      /* the first line of a script, with metadata */
    CMD_NOTE = 1u << 5,        /* a comment: it does nothing */
    CMD_PROMPT_ONLY = 1u << 6, /* not allowed in a scenario */
    CMD_OUTSIDE = 1u << 7, /* needs something outside the process; tests do not run its example */
    CMD_PASSES = 1u << 8,  /* only lets simulated time pass */
    CMD_AGAIN = 1u << 9,   /* an empty line at the prompt repeats it */
    /* Prints no events of a lab that follows real time: there are too many. */
    CMD_QUIET_LIVE = 1u << 10,
    CMD_SOURCES = 1u << 11, /* executes steps of a file or macro; the log has these steps instead */
    CMD_KEEPS_LOOKS = 1u << 12, /* its block is saved including CMD_LOOKS commands */
    CMD_AT_ONCE = 1u << 13, /* its block is an operand: logged with the command, not step by step */
    CMD_MAY_BLOCK = 1u << 14, /* may be followed by do { ... }, which is executed later */
    /* All words after the first operand are values of the last parameter.  Parameters in between
     * are KEY=VALUE, before these words.
     */
    CMD_WORDS = 1u << 15,
    CMD_ALONE = 1u << 16,    /* not allowed in a block or a sourced file */
    CMD_SENTENCE = 1u << 17, /* may be written as a sentence; see sentence.h */
    CMD_PAGES = 1u << 19,    /* pauses at a terminal where its output fills the screen */
    CMD_VIRTUAL = 1u << 18,  /* of CMD_OUTSIDE: works in virtual time, and so in tests */
    CMD_PARTLY = 1u << 20    /* may have changed the lab when it fails, though no time has passed */
};

/* The lab that an example needs: an index into examples_before[], which has the commands that build
 * it.
 */
enum before {
    BEFORE_NOTHING,   /* an empty lab */
    BEFORE_HOSTS,     /* two hosts with a link */
    BEFORE_OBJECTS,   /* and each with a PD, an MR, a CQ and a queue pair */
    BEFORE_CONNECTED, /* and the queue pairs connected */
    BEFORE_POSTED,    /* and a receive posted at h2, a send at h1 */
    BEFORE_LNET,      /* as BEFORE_OBJECTS, and each with a node of LNet that is up */
    BEFORE_MACHINES,  /* a machine with four virtual functions, linked to a host */
    N_BEFORE
};

struct cmd {
    const char *name;
    enum cmd_class class;
    unsigned flags;      /* set of enum cmd_bit */
    const char *summary; /* phrase for `help` */
    enum before before;
    const char *example; /* works after examples_before[before] */
    const struct param *params;
    size_t n_params;
};

/* Smallest value of `set history`, in bytes. */
#define HISTORY_BYTES_MIN 1048576

/* Defaults of a scenario's header, also used for a session without a scenario. */
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
    const char *name; /* the word after `help` that lists the class */
    const char *what; /* a phrase about its commands */
};
extern const struct cmd_class_info cmd_classes[N_CLASSES];

/* Returns the command called @name, or NULL if there is none.  With @abbreviated, @name may be a
 * prefix that only one command has.
 */
const struct cmd *cmd_find(const char *name, bool abbreviated);

/* Returns the parameter called @name.  Returns NULL if @cmd has none. */
const struct param *cmd_param(const struct cmd *cmd, const char *name);

/* The name after `as` in the form of a parameter, which every CMD_NAMES command has. */
extern const struct param cmd_as;

/* cmd_has_letters() returns true if @cmd takes options like `-s 64`.  cmd_param_of_letter() returns
 * the parameter that the option -@letter sets, or NULL if @cmd has no such option.
 */
bool cmd_has_letters(const struct cmd *cmd);
const struct param *cmd_param_of_letter(const struct cmd *cmd, char letter);

/* Returns true if @p may have more than one value. */
static inline bool param_is_list(const struct param *p)
{
    return (p->flags & (P_LIST | P_MANY)) != 0 || p->kind == VAL_SET;
}

#endif
