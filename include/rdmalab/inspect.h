/* SPDX-License-Identifier: MIT */
/* The inspect tree: everything that can be looked at, by path.
 *
 * "h1" is a host, "h1.qp" an object on it, "h1.qp.sq.driver.avail_idx" one number.  Elements of
 * lists are in brackets: "h1.cq.wc[0].status".  Guest memory is read with rdl_mem_read().
 */
#ifndef RDMALAB_INSPECT_H
#define RDMALAB_INSPECT_H

#include "rdmalab/lab.h"

enum rdl_type {
    RDL_NODE,   /* has children */
    RDL_NUMBER, /* decimal */
    RDL_HEX,
    RDL_FLAG,
    RDL_TIME, /* nanoseconds */
    RDL_SIZE, /* bytes */
    RDL_WORD, /* a name of an enumeration; @number is its value */
    RDL_TEXT
};

#define RDL_VALUE_BYTES 96u

struct rdl_value {
    enum rdl_type type;
    uint32_t row; /* of the schema of the tree: enum leaf_id; RDL_NODE: enum node_kind */
    uint64_t number;
    char text[RDL_VALUE_BYTES]; /* RDL_WORD, RDL_TEXT; RDL_NODE: the kind of object ("qp") */
};

#define RDL_PATH_BYTES 192u /* any path of the tree has room there */

/* Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  no such path: its first wrong word is at offset *@reterr_at
 */
RDL_MUST_CHECK enum rdl_status rdl_inspect(const struct rdl_lab *lab, const char *path,
                                           struct rdl_value *ret, size_t *reterr_at);

/* Calls @each for every child of @path ("" is the lab: hosts, switches, links, faults) in a fixed
 * order.  List elements have keys like "[0]".  Errors as rdl_inspect(); a leaf has no children.
 */
typedef void rdl_inspect_each(void *ctx, const char *key, const struct rdl_value *v);
RDL_MUST_CHECK enum rdl_status rdl_inspect_list(const struct rdl_lab *lab, const char *path,
                                                rdl_inspect_each *each, void *ctx,
                                                size_t *reterr_at);

/* Calls @each for all that is below @path, with its own path: a node, then what is below it, then
 * its next sibling; which costs less than a list of each.  Errors as rdl_inspect().
 */
RDL_MUST_CHECK enum rdl_status rdl_inspect_below(const struct rdl_lab *lab, const char *path,
                                                 rdl_inspect_each *each, void *ctx,
                                                 size_t *reterr_at);

/* The handle of the object called @path ("h1.qp"), which must be of @kind (enum object_kind).
 * RDL_ERR_NOT_FOUND: nothing has this name.  RDL_ERR_INVAL: it is something else.
 */
RDL_MUST_CHECK enum rdl_status rdl_find(const struct rdl_lab *lab, const char *path, uint32_t kind,
                                        uint64_t *ret_raw);
RDL_MUST_CHECK enum rdl_status rdl_find_host(const struct rdl_lab *lab, const char *name,
                                             rdl_host *ret);

/* The path of an object, "h1.qp", or the name of a fault, link or external port; "?" when the
 * handle is stale.  @ret has RDL_VALUE_BYTES.
 */
void rdl_path_of(const struct rdl_lab *lab, uint32_t kind, uint64_t raw, char *ret);

/* Copies guest RAM from guest-physical @addr, as descriptors and ring registers have it.
 * RDL_ERR_FAULT: not all of it is RAM; RDL_ERR_STALE.
 */
RDL_MUST_CHECK enum rdl_status rdl_ram_read(const struct rdl_lab *lab, rdl_host host, uint64_t addr,
                                            void *out, size_t bytes);

/* The other way: what a guest does that has rings of its own, or spoils those of its driver.  It is
 * all or nothing.  From then on what the rings of @host say may be anybody's, and no invariant of
 * the emulator is about them.  RDL_ERR_FAULT, RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_ram_write(struct rdl_lab *lab, rdl_host host, uint64_t addr,
                                             const void *in, size_t bytes);

/* An access to the registers of @function (enum pci_function) of @host, as its driver makes it, in
 * a tick of its own: @width is 1, 2, 4 or 8 bytes, and @offset in its BAR.  What is where is in
 * emu/facts/regs.h: the common configuration (enum reg), the interrupt status, whose reading clears
 * it, the configuration of the device, and a place for each queue to notify.  Offsets without a
 * register read as 0 and ignore writes.  Who writes takes the device from its driver, which is not
 * told: what was said of rdl_ram_write() holds here, too.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL  @function, @width, or an @offset behind the end of its BAR
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_reg_read(struct rdl_lab *lab, rdl_host host, uint32_t function,
                                            uint32_t offset, uint32_t width, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status rdl_reg_write(struct rdl_lab *lab, rdl_host host, uint32_t function,
                                             uint32_t offset, uint32_t width, uint64_t value);

/* Who waits for what, a sentence each: for a lab that stands still or never ends.
 * "h1.qp: SEND wr_id=1 waits for an ACK of psn=100 from h2.qp; ACK timer due t=85.6us"
 */
void rdl_waits(const struct rdl_lab *lab, void (*each)(void *ctx, const char *sentence), void *ctx);

/* Something that will happen. */
struct rdl_due {
    uint64_t at_ns;
    bool is_frame;    /* a frame is on the wire until then */
    const char *what; /* "the ACK timer of h1.qp runs out", valid during the call */
};

struct rdl_due_counts {
    uint64_t all;    /* that is due some time */
    uint64_t frames; /* of it, frames on the wire */
};

/* Calls @each for what happens next, at most @max and RDL_DUE_MAX times, the soonest first. */
#define RDL_DUE_MAX 64u
struct rdl_due_counts rdl_due(const struct rdl_lab *lab, size_t max,
                              void (*each)(void *ctx, const struct rdl_due *due), void *ctx);

#endif
