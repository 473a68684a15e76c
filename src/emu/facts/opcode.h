/* SPDX-License-Identifier: MIT */
/* The properties of BTH opcodes: service, operation, position in a message, extension headers. */
#ifndef EMU_FACTS_OPCODE_H
#define EMU_FACTS_OPCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/assert.h"

enum op_service { OPS_NONE, OPS_RC, OPS_UC, OPS_UD, OPS_CNP };
enum op_kind {
    OPK_NONE,
    OPK_SEND,
    OPK_WRITE,
    OPK_READ,
    OPK_READ_RESPONSE,
    OPK_ACK,
    OPK_ATOMIC,
    OPK_ATOMIC_ACK,
    OPK_FLUSH,
    OPK_ATOMIC_WRITE,
    OPK_CNP
};
enum op_position { OPP_NONE, OPP_FIRST, OPP_MIDDLE, OPP_LAST, OPP_ONLY };

#define BTH_BYTES  12u
#define ICRC_BYTES 4u

struct op_info {
    const char *name; /* "RC_SEND_FIRST"; NULL: the opcode is reserved */
    enum op_service service;
    enum op_kind kind;
    enum op_position pos;
    unsigned headers; /* set of enum op_header */
    bool carried;     /* the transport of this emulator implements the opcode */
};

/* Returns the row of @code.  The name in the row is NULL if the opcode is reserved. */
const struct op_info *op_info(uint8_t code);

/* One extension header. */
struct op_header_info {
    unsigned header;  /* enum op_header */
    const char *name; /* "AtomicETH" */
    size_t bytes;
};

/* The rows of headers.def, in wire order. */
extern const struct op_header_info op_headers[];
extern const size_t n_op_headers;

/* Returns the sum of the lengths of the extension headers in @headers, a set of enum op_header. */
static inline size_t op_headers_bytes(unsigned headers)
{
    size_t n = 0;

    for (unsigned left = headers; left != 0; left &= left - 1) {
        const unsigned row =
            (unsigned)__builtin_ctz(left); /* the bits of headers are in the order of rows */

        RDL_ASSERT(row < n_op_headers);
        n += op_headers[row].bytes;
    }
    return n;
}

/* Returns true if @op travels from the responder to the requester: an ACK, a READ response or an
 * atomic response.
 */
bool op_is_response(const struct op_info *op);

/* Returns true if @op is one of the memory placement extensions. */
static inline bool op_is_placement(const struct op_info *op)
{
    return op->kind == OPK_FLUSH || op->kind == OPK_ATOMIC_WRITE;
}

/* Returns true if a response of its own answers the request @op, and not an acknowledge.  Such a
 * request occupies one of the max_dest_rd_atomic resources of the responder.
 */
static inline bool op_has_response(const struct op_info *op)
{
    return op->kind == OPK_READ || op->kind == OPK_ATOMIC || op_is_placement(op);
}

/* Returns the kind of packet that answers the request @op.  A FLUSH or an ATOMIC WRITE is answered
 * as a READ of no bytes.
 */
static inline enum op_kind op_answer(const struct op_info *op)
{
    if (op->kind == OPK_ATOMIC)
        return OPK_ATOMIC_ACK;
    return op_has_response(op) ? OPK_READ_RESPONSE : OPK_ACK;
}

/* Returns true if @op travels from the requester to the responder. */
static inline bool op_is_request(const struct op_info *op)
{
    return op->kind == OPK_SEND || op->kind == OPK_WRITE || op_has_response(op);
}

/* Returns true if @op is the first packet of a message. */
static inline bool op_starts(const struct op_info *op)
{
    return op->pos == OPP_FIRST || op->pos == OPP_ONLY;
}

/* Returns true if @op is the last packet of a message. */
static inline bool op_ends(const struct op_info *op)
{
    return op->pos == OPP_LAST || op->pos == OPP_ONLY;
}

/* Returns true if packet @next may follow packet @prev (NULL: no packet yet).  FIRST and MIDDLE
 * leave a message open: only MIDDLE or LAST of the same kind may follow.  Otherwise only FIRST or
 * ONLY may follow.
 */
bool op_may_follow(const struct op_info *prev, const struct op_info *next);

#endif
