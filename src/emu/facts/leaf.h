/* SPDX-License-Identifier: MIT */
/* The schema of the inspect tree: which nodes there are, and what is in each of them.
 *
 * leaves.def has a row for everything that the tree can say.  The visitors of the lab name what
 * they say by its row, LEAF_qp_next_psn, and so does who reads it: key, type and words are the
 * row's, and what is renamed or gone does not compile.  The same rows tell which names are taken,
 * which paths lead nowhere, and what a leaf means.
 */
#ifndef EMU_FACTS_LEAF_H
#define EMU_FACTS_LEAF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/text.h"
#include "rdmalab/inspect.h"

struct enum_row;
struct enum_table;

/* T(NAME, how the tree has it, what it is) */
#define LEAF_TYPES(T)                                                                              \
    T(NUMBER, RDL_NUMBER, "a number")                                                              \
    T(COUNTER, RDL_NUMBER, "a counter")                                                            \
    T(PSN, RDL_NUMBER, "a packet sequence number")                                                 \
    T(HEX, RDL_HEX, "a number, shown in hexadecimal")                                              \
    T(FLAG, RDL_FLAG, "true or false")                                                             \
    T(TIME, RDL_TIME, "a time")                                                                    \
    T(SIZE, RDL_SIZE, "a number of bytes")                                                         \
    T(WORD, RDL_WORD, "a word")                                                                    \
    T(SET, RDL_TEXT, "words with commas between them")                                             \
    T(TEXT, RDL_TEXT, "text")

enum leaf_type {
#define T(name, type, text) TYPE_##name,
    LEAF_TYPES(T)
#undef T
        TYPE_COUNT
};

struct leaf_type_row {
    enum rdl_type type;
    const char *text;
};
extern const struct leaf_type_row leaf_types[TYPE_COUNT];

enum node_kind {
    NODE_none,
#define NODE(node, title, text) NODE_##node,
#include "emu/facts/leaves.def"
    NODE_COUNT
};

struct node_row {
    const char *title; /* "external port": what values of the tree say */
    const char *text;
};
extern const struct node_row node_rows[NODE_COUNT];

enum leaf_id {
    LEAF_none,
#define LEAF(node, key, type, flags, text) LEAF_##node##_##key,
#include "emu/facts/leaves.def"
    LEAF_COUNT
};

enum leaf_flag_bit {
    LEAF_OPTIONAL = 1u << 0, /* there only while the device has the object */
    LEAF_ANY = 1u << 1,      /* the word "any" where it does not matter */
    LEAF_LISTED = 1u << 2,   /* the elements of a list: gid[0], gid[1] */
    LEAF_KEYED = 1u << 3     /* one for each word of the table but 0, under that word */
};

struct leaf_row {
    enum node_kind node; /* that it is in */
    const char *key;
    enum leaf_type type;
    const struct enum_table *words; /* TYPE_WORD, TYPE_SET: its words; LEAF_KEYED: its keys */
    unsigned flags;                 /* set of enum leaf_flag_bit */
    const char *text;
};
extern const struct leaf_row leaf_rows[LEAF_COUNT];

/* What tables and their JSON call it: as the tool rdma of iproute2 does, or by its key. */
const char *leaf_name(enum leaf_id id);

/* What is below a node. */
enum child_id {
    CHILD_none,
#define CHILD(node, key, below, flags, text) CHILD_##node##_##key,
#define LIST(node, key, below, flags, text)  CHILD_##node##_##key,
#define LEAVES(node, key, type, flags, text) CHILD_##node##_##key,
#define MANY(node, below, name, text)        CHILD_##node##_##below,
#include "emu/facts/leaves.def"
    CHILD_COUNT
};

struct child_row {
    enum node_kind node;  /* that it is in */
    const char *key;      /* NULL: a name of its own */
    const char *name;     /* as it may be called in an example: "h1", or the key */
    enum node_kind below; /* the child, or an element of the list; NODE_none: elements are leaves */
    enum leaf_id element; /* of a list of leaves */
    bool is_list;
    unsigned flags; /* set of enum leaf_flag_bit */
    const char *text;
};
extern const struct child_row child_rows[CHILD_COUNT];

/* The kind of node whose title is the @n bytes at @title; NODE_none. */
enum node_kind node_find(const char *title, size_t n);

/* The kind of node that an object of @kind, an enum object_kind, is; NODE_none: of another kind
 * there is none. */
enum node_kind node_of_object(uint32_t kind);

/* Appends what the node @v is, with its article: "a memory region"; of a leaf, "a value". */
void node_add_text(struct text *t, const struct rdl_value *v);

/* The leaf, or the child with a key of its own, that is called the @n bytes at @key in a node of
 * @kind; LEAF_none, CHILD_none.
 */
enum leaf_id leaf_find(enum node_kind kind, const char *key, size_t n);
enum child_id child_find(enum node_kind kind, const char *key, size_t n);

/* What a node of @kind has under @name itself, so that nothing else in it can have that name; NULL:
 * nothing.
 */
const char *leaf_reserved(enum node_kind kind, const char *name);

/* The key that @word gives to a leaf with a table of keys: the word in lower case.  @ret has
 * RDL_NAME_BYTES.
 */
void leaf_word_key(const struct enum_row *word, char *ret);

/* Appends where a node of @kind may be in a lab: "h1.cq.wc[0]". */
void leaf_example(struct text *t, enum node_kind kind);

/* How many bytes at @path are its first word: up to a point or bracket, or a whole "[n]"; 0 if it
 * begins with a bracket that is none.
 */
size_t leaf_path_word(const char *path);

/* What comes after the first word of @path, which has @n bytes: the next word, or the end.  NULL: a
 * point before no word, or no point before one.
 */
const char *leaf_path_behind(const char *path, size_t n);

/* Where a path can lead whose words are known, but not the lab. */
struct leaf_places {
    uint64_t nodes; /* set of 1 << enum node_kind */
    uint64_t lists; /* set of 1 << enum child_id */
    bool leaf;
    bool memory; /* a part of a memory region: "h1.mr[0:64]" */
};

/* The places to which @path can lead in any lab, or from any host.  False if no row has what is at
 * offset *@reterr_at; *@ret then is the places that come before it.
 */
bool leaf_path_leads(const char *path, struct leaf_places *ret, size_t *reterr_at);

/* Calls @each with every key that can follow at @at: the node that has it, and what it means. */
typedef void leaf_each(void *ctx, enum node_kind node, const char *key, const char *text);
void leaf_each_key(const struct leaf_places *at, leaf_each *each, void *ctx);

#endif
