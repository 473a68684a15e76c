/* SPDX-License-Identifier: MIT */
/* The inspect tree: the state of the lab as named values, addressed by path.
 *
 * "h1" is a host, "h1.qp" an object on it, "h1.qp.sq.driver.avail_idx" one number.  List elements
 * have an index in brackets: "h1.cq.wc[0].status".  Guest memory is not in the tree: use
 * rdl_mem_read().
 */
#ifndef RDMALAB_INSPECT_H
#define RDMALAB_INSPECT_H

#include "rdmalab/lab.h"

enum rdl_type {
    RDL_NODE,   /* has children */
    RDL_NUMBER, /* a number, printed in decimal */
    RDL_HEX,    /* a number, printed in hexadecimal */
    RDL_FLAG,   /* 0 or 1 */
    RDL_TIME,   /* nanoseconds */
    RDL_SIZE,   /* bytes */
    RDL_RATE,   /* bits a second */
    RDL_WORD,   /* enumerator name; @number is its value */
    RDL_TEXT
};

#define RDL_VALUE_BYTES 96u

struct rdl_value {
    enum rdl_type type;
    uint32_t row;    /* row of the schema: enum node_kind for RDL_NODE, otherwise enum leaf_id */
    uint64_t number; /* the value; meaningless for RDL_NODE and RDL_TEXT */
    /* RDL_WORD and RDL_TEXT: the text; RDL_NODE: the kind of object ("qp") */
    char text[RDL_VALUE_BYTES];
};

#define RDL_PATH_BYTES 192u /* enough for any path of the tree */

/* Reads the value at @path.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  no such path: *@reterr_at is the offset in @path of the first word
 *	                      that does not exist
 */
RDL_MUST_CHECK enum rdl_status rdl_inspect(const struct rdl_lab *lab, const char *path,
                                           struct rdl_value *ret, size_t *reterr_at);

/* Calls @each for every child of @path, in a fixed order.  The path "" is the lab itself.  List
 * elements have keys like "[0]".  A leaf has no children: the call then returns RDL_OK without
 * calling @each.  @key and @v are valid only during a call of @each.  Errors as rdl_inspect().
 */
typedef void rdl_inspect_each(void *ctx, const char *key, const struct rdl_value *v);
RDL_MUST_CHECK enum rdl_status rdl_inspect_list(const struct rdl_lab *lab, const char *path,
                                                rdl_inspect_each *each, void *ctx,
                                                size_t *reterr_at);

/* Calls @each for everything below @path in depth-first order: a node, its descendants, its next
 * sibling.  The key is the full path.  This is cheaper than one rdl_inspect_list() per node.
 * Errors as rdl_inspect().
 */
RDL_MUST_CHECK enum rdl_status rdl_inspect_below(const struct rdl_lab *lab, const char *path,
                                                 rdl_inspect_each *each, void *ctx,
                                                 size_t *reterr_at);

/* Sets *@ret_raw to the handle of the object at @path ("h1.qp").  The object must be of @kind (enum
 * object_kind).  rdl_find_host() finds the host with the name @name.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  no object has this path, or no host has this name
 *	   RDL_ERR_INVAL      the object is of another kind
 */
RDL_MUST_CHECK enum rdl_status rdl_find(const struct rdl_lab *lab, const char *path, uint32_t kind,
                                        uint64_t *ret_raw);
RDL_MUST_CHECK enum rdl_status rdl_find_host(const struct rdl_lab *lab, const char *name,
                                             rdl_host *ret);

/* Writes the path of an object ("h1.qp"), or the name of a fault, link or external port, to @ret,
 * which has RDL_VALUE_BYTES.  @kind is its enum object_kind, and @raw its handle.  Writes "?" if
 * the handle is stale.
 */
void rdl_path_of(const struct rdl_lab *lab, uint32_t kind, uint64_t raw, char *ret);

/* Copies guest RAM.  @addr is guest-physical, as in descriptors and ring registers.
 *
 * Return: RDL_OK, RDL_ERR_STALE
 *	   RDL_ERR_FAULT  part of the range is not RAM; nothing was copied
 */
RDL_MUST_CHECK enum rdl_status rdl_ram_read(const struct rdl_lab *lab, rdl_host host, uint64_t addr,
                                            void *out, size_t bytes);

/* Writes guest RAM.  Tests use it to set up their own rings, or to corrupt those of the driver.  If
 * part of the range is not RAM, nothing is written.  After the call the lab ignores broken
 * invariants of @host.  Errors as rdl_ram_read().
 */
RDL_MUST_CHECK enum rdl_status rdl_ram_write(struct rdl_lab *lab, rdl_host host, uint64_t addr,
                                             const void *in, size_t bytes);

/* Accesses the virtio registers of @function (enum pci_function) of @host as its driver would, in a
 * tick of its own.  @offset is in the BAR, @width is 1, 2, 4 or 8 bytes.
 *
 * emu/facts/regs.h has the layout: the common configuration (enum reg), the interrupt status (a
 * read clears it), the device configuration, and one notify register for each queue.  Offsets
 * without a register read as 0 and ignore writes.  A write interferes with the host's own driver,
 * which is not informed: see rdl_ram_write().
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL  @function, @width, or an @offset behind the end of the BAR
 *	   RDL_ERR_NO_DEVICE    the host has no such function
 *	   RDL_ERR_UNSUPPORTED  it is no virtio device
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_reg_read(struct rdl_lab *lab, rdl_host host, uint32_t function,
                                            uint32_t offset, uint32_t width, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status rdl_reg_write(struct rdl_lab *lab, rdl_host host, uint32_t function,
                                             uint32_t offset, uint32_t width, uint64_t value);

/* An object that waits for an event. */
struct rdl_wait {
    const char *path;     /* of the object, or of the host if its driver or a ping waits */
    const char *sentence; /* "h1.qp: SEND wr_id=1 waits for an ACK of psn=100 from h2.qp; ..." */
    bool held_back;       /* a send request that READs or atomics under way hold back */
};

/* Calls @each for each object that waits for an event, for a queue pair perhaps twice.  The
 * sentences explain why a lab makes no progress.
 */
void rdl_waits(const struct rdl_lab *lab, void (*each)(void *ctx, const struct rdl_wait *w),
               void *ctx);

/* A scheduled tick. */
struct rdl_due {
    uint64_t at_ns;
    bool is_frame;    /* a frame is on the wire until @at_ns */
    const char *what; /* "the ACK timer of h1.qp runs out", valid during the call */
};

struct rdl_due_counts {
    uint64_t all;    /* number of scheduled ticks */
    uint64_t frames; /* number of those that are arrivals or losses of frames on the wire */
};

/* Calls @each for the next scheduled ticks, soonest first: for at most @max of them, and never for
 * more than RDL_DUE_MAX.  Returns the counts of all scheduled ticks.
 */
#define RDL_DUE_MAX 64u
struct rdl_due_counts rdl_due(const struct rdl_lab *lab, size_t max,
                              void (*each)(void *ctx, const struct rdl_due *due), void *ctx);

#endif
