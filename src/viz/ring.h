/* SPDX-License-Identifier: MIT */
/* The picture of a virtqueue as an SVG document, drawn from a description.
 *
 * A split ring has three columns: avail ring, descriptor table, used ring.  Lines lead from the
 * ring entries that are not processed yet to their descriptors and along each chain.  A packed ring
 * has one column, with the wrap counter flags of each descriptor.  The indices or positions of both
 * sides stand beside the columns.
 *
 * A colour and a letter show who owns a descriptor: free, posted, taken or back.  The same
 * description gives the same bytes.  The document adapts to a viewer's light or dark colour scheme.
 */
#ifndef VIZ_RING_H
#define VIZ_RING_H

#include "viz/picture.h"

#define RING_NONE_AT UINT32_MAX /* no descriptor, where an index of one is expected */

/* The owner of a descriptor. */
enum ring_owner {
    OWNER_FREE,   /* the driver: the descriptor is free for the next request */
    OWNER_POSTED, /* the device, which has not taken the descriptor yet */
    OWNER_TAKEN,  /* the device, which has taken the descriptor */
    OWNER_BACK,   /* the driver: the device has returned it, the driver has not processed it yet */
    OWNER_COUNT
};

/* A descriptor. */
struct ring_slot {
    enum ring_owner owner;
    const char *flags; /* flags and id: "A1 U0 id 3"; NULL in a split ring */
    const char *text;  /* description of its buffer; NULL: none */
    uint32_t next;     /* next descriptor of its chain, or RING_NONE_AT */
};

/* An entry of the avail or the used ring. */
struct ring_entry {
    uint32_t desc; /* index of its descriptor; RING_NONE_AT: an old entry, already processed */
};

/* The columns of the picture. */
enum ring_column { COLUMN_AVAIL, COLUMN_DESC, COLUMN_USED };
/* A position of the driver or the device, shown as @text beside entry @at of @column. */
struct ring_marker {
    enum ring_column column;
    uint32_t at;
    bool of_device; /* the device's position, otherwise the driver's */
    const char *text;
};

struct ring_picture {
    const char *title, *subtitle;          /* subtitle may be NULL */
    const char *head;                      /* heading of the slots; NULL: that of virtio */
    bool packed;                           /* a packed ring, or one of PVRDMA: one column */
    uint32_t size;                         /* number of descriptors */
    const struct ring_slot *slots;         /* @size descriptors */
    const struct ring_entry *avail, *used; /* @size entries each; NULL for a packed ring */
    const struct ring_marker *markers;
    uint32_t n_markers;
};

/* Draws @p as one SVG document to @sink.  Returns RDL_OK, or RDL_ERR_NOMEM before any output. */
RDL_MUST_CHECK enum rdl_status ring_draw(const struct ring_picture *p, const struct viz_sink *sink);

#endif
