/* SPDX-License-Identifier: MIT */
/* `show vq`: a virtqueue as driver and device see it: the indexes of both, the owner of each slot,
 * and the content of the buffers.
 */
#ifndef CLI_SHOW_SHOW_VQ_H
#define CLI_SHOW_SHOW_VQ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/inspect.h"
#include "tree/tree.h"

/* The indexes of driver and device in a virtqueue: free-running 16-bit counters. */
struct vq_indexes {
    /* Numbers of chains, modulo 65536: that the driver has posted, and has processed as used. */
    uint16_t driver_avail, driver_used;
    uint16_t device_avail, device_used; /* that the device has taken, and has returned */
};

/* Reads the indexes of the queue @queue ("h1.qp.sq").  If the driver is that of a virtual machine,
 * what is not known of it has the values of the device.
 */

struct vq_indexes vq_indexes_of(const struct rdl_lab *lab, const char *queue);

/* Virtqueues as a session has last shown them, to mark later changes.  Initialize with zeros. */
struct vq_look;
struct vq_looks {
    struct vq_look *first;
    size_t n;
};
void vq_looks_done(struct vq_looks *looks);

/* Output options. */
struct vq_view {
    enum show_form form;
    struct vq_looks *looks; /* NULL: changes are not marked */
};

/* Prints the queue @path ("h1.qp.sq"), or the queues of an object ("h1.qp", "h1.cq", "h1").  Marks
 * the changes since the queue was last shown, according to @view->looks.  Then stores the present
 * state there.
 *
 * Return: RDL_OK, RDL_ERR_NOT_FOUND (@reterr_at), RDL_ERR_INVAL (has no queue), RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status show_vq(FILE *out, const struct rdl_lab *lab, const struct past *p,
                                       const char *path, const struct vq_view *view,
                                       size_t *reterr_at);

/* Writes to @ret the path of the queue @path, or of the first queue of the object @path.  Errors
 * are those of show_vq().
 */
RDL_MUST_CHECK enum rdl_status vq_find(const struct rdl_lab *lab, const char *path,
                                       char ret[TREE_PATH_BYTES], size_t *reterr_at);

/* Writes a picture of that queue (vq_find()), an SVG document.  Errors are those of show_vq(). */
RDL_MUST_CHECK enum rdl_status export_vq(FILE *out, const struct rdl_lab *lab, const struct past *p,
                                         const char *path, size_t *reterr_at);

#endif
