/* SPDX-License-Identifier: MIT */
/* The schema of the inspect tree: the kinds of nodes, and the leaves and children of each kind.
 *
 * leaves.def has a row for each leaf and child.  Code that writes or reads a leaf names its row,
 * LEAF_qp_next_psn, and takes key, type and words from it.  Code that uses a renamed or removed
 * leaf therefore does not compile.  The rows also define the reserved names, the valid paths and
 * the meaning of each leaf.
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

/* T(NAME, type of the value in the tree, text for messages) */
#define LEAF_TYPES(T)                                                                              \
    T(NUMBER, RDL_NUMBER, "a number")                                                              \
    T(COUNTER, RDL_NUMBER, "a counter")                                                            \
    T(PSN, RDL_NUMBER, "a packet sequence number")                                                 \
    T(HEX, RDL_HEX, "a number, shown in hexadecimal")                                              \
    T(FLAG, RDL_FLAG, "true or false")                                                             \
    T(TIME, RDL_TIME, "a time")                                                                    \
    T(SIZE, RDL_SIZE, "a number of bytes")                                                         \
    T(RATE, RDL_RATE, "a rate in bits a second")                                                   \
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
    const char *title; /* "external port": shown as the value of such a node */
    const char *text;  /* description: "a list: its elements are [0], [1] and so on" */
};
extern const struct node_row node_rows[NODE_COUNT];

enum leaf_id {
    LEAF_none,
#define LEAF(node, key, type, flags, text) LEAF_##node##_##key,
#include "emu/facts/leaves.def"
    LEAF_COUNT
};

enum leaf_flag_bit {
    LEAF_OPTIONAL = 1u << 0, /* exists only with some devices, or while the device has the object */
    LEAF_ANY = 1u << 1,      /* can be the word "any" instead of a value: no restriction */
    LEAF_LISTED = 1u << 2,   /* the row stands for the elements of a list: gid[0], gid[1] */
    LEAF_KEYED = 1u << 3     /* one leaf for each word whose value is not 0: leaf_word_key() */
};

struct leaf_row {
    enum node_kind node; /* kind of node that contains the leaf */
    const char *key;
    enum leaf_type type;
    /* TYPE_WORD, TYPE_SET: table of its possible words.  LEAF_KEYED: table of its keys.  Otherwise
     * NULL.
     */
    const struct enum_table *words;
    unsigned flags; /* set of enum leaf_flag_bit */
    const char *text;
};
extern const struct leaf_row leaf_rows[LEAF_COUNT];

/* Returns the name of leaf @id in tables and in their JSON: the name that the tool rdma of iproute2
 * uses, or the leaf's key if rdma does not print such a value.
 */
const char *leaf_name(enum leaf_id id);

/* The children of nodes: other nodes, lists of nodes, and lists of leaves. */
enum child_id {
    CHILD_none,
#define CHILD(node, key, below, flags, text)        CHILD_##node##_##key,
#define EITHER(node, name, key, below, flags, text) CHILD_##node##_##name,
#define LIST(node, key, below, flags, text)         CHILD_##node##_##key,
#define LEAVES(node, key, type, flags, text)        CHILD_##node##_##key,
#define MANY(node, below, name, text)               CHILD_##node##_##below,
#include "emu/facts/leaves.def"
    CHILD_COUNT
};

struct child_row {
    enum node_kind node;  /* kind of node that contains the child */
    const char *key;      /* NULL: children with names of their own, such as hosts */
    const char *name;     /* a name for examples: "h1", or the key */
    enum node_kind below; /* kind of the child or of the elements; NODE_none: a list of leaves */
    enum leaf_id element; /* row of the elements of a list of leaves; otherwise LEAF_none */
    bool is_list;         /* the child is a list: of nodes, or of leaves */
    unsigned flags;       /* set of enum leaf_flag_bit */
    const char *text;
};
extern const struct child_row child_rows[CHILD_COUNT];

/* Returns the kind of node whose title is the @n bytes at @title, or NODE_none. */
enum node_kind node_find(const char *title, size_t n);

/* Returns the kind of node for objects of @kind (enum object_kind), or NODE_none for a @kind that
 * is not in the enumeration and for OBJ_NONE.
 */
enum node_kind node_of_object(uint32_t kind);

/* Appends a description of the node @v with its article: "a memory region".  Appends "a value" if
 * @v is a leaf.
 */
void node_add_text(struct text *t, const struct rdl_value *v);

/* Return the leaf or the child with the key @key (@n bytes) in a node of @kind.  Return LEAF_none
 * or CHILD_none if there is none.  leaf_find() does not find lists of leaves, and child_find() does
 * not find children with names of their own.  Of several children with the same key, child_find()
 * returns the first.
 */
enum leaf_id leaf_find(enum node_kind kind, const char *key, size_t n);
enum child_id child_find(enum node_kind kind, const char *key, size_t n);

/* Returns the description of the leaf or child with the key @name in a node of @kind.  Such a name
 * is reserved: no object in the node can have it.  Returns NULL if the name is not reserved.
 */
const char *leaf_reserved(enum node_kind kind, const char *name);

/* Writes the key of a LEAF_KEYED leaf for row @word to @ret: the row's name in lower case, with a
 * NUL.  @ret has RDL_NAME_BYTES; a longer name is truncated.
 */
void leaf_word_key(const struct enum_row *word, char *ret);

/* Appends a path at which a lab can have a node of @kind: "h1.cq.wc[0]".  Appends nothing for the
 * lab itself.
 */
void leaf_example(struct text *t, enum node_kind kind);

/* Returns the number of bytes of the first word of @path: the bytes before the next "." or "[", or
 * a whole "[n]".  Returns 0 if @path is empty, or begins with "." or with a bracket that is not a
 * number in brackets.
 */
size_t leaf_path_word(const char *path);

/* Returns the rest of @path after its first word, which has @n bytes: the next word, or the end of
 * the string.  Returns NULL if "." is not followed by a word, or if a word follows without ".".
 */
const char *leaf_path_behind(const char *path, size_t n);

/* A set of kinds of nodes. */
#define NODE_SET_WORDS (NODE_COUNT / 64u + 1)

struct node_set {
    uint64_t w[NODE_SET_WORDS];
};

static inline bool node_set_has(const struct node_set *s, enum node_kind kind)
{
    return (s->w[kind / 64u] >> kind % 64u & 1) != 0;
}

static inline void node_set_add(struct node_set *s, enum node_kind kind)
{
    s->w[kind / 64u] |= (uint64_t)1 << kind % 64u;
}

/* Returns the only element of @s; NODE_none if there is none, or more than one. */
enum node_kind node_set_only(const struct node_set *s);
bool node_set_is_empty(const struct node_set *s);

#define CHILD_SET_WORDS (CHILD_COUNT / 64u + 1)

/* The possible destinations of a path in a lab whose objects are not known. */
struct leaf_places {
    struct node_set nodes;
    uint64_t lists[CHILD_SET_WORDS]; /* set of enum child_id, 64 in each word */
    bool list;                       /* a list is possible: one of @lists is not empty */
    bool leaf;                       /* a leaf is possible */
    bool memory;                     /* a slice of a memory region is possible: "h1.mr[0:64]" */
};

/* Computes the destinations *@ret to which @path can lead from a lab or from a host.  Returns false
 * if it cannot lead anywhere: no row matches the word at offset *@reterr_at.  *@ret then has the
 * destinations of the path before that word.
 */
bool leaf_path_leads(const char *path, struct leaf_places *ret, size_t *reterr_at);

/* Calls @each for every leaf and child with a key in the nodes of @at.  @node is the kind of node
 * that contains it, @text its description.  Lists of leaves are passed as children.
 */
typedef void leaf_each(void *ctx, enum node_kind node, const char *key, const char *text);
void leaf_each_key(const struct leaf_places *at, leaf_each *each, void *ctx);

#endif
