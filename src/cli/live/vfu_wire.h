/* SPDX-License-Identifier: MIT */
/* vfio-user: the protocol by which QEMU (its device vfio-user-pci) passes accesses to a PCI
 * function to another process, which is the server.  A connection is for one function.
 *
 * Messages go over a UNIX stream socket in little-endian byte order: a header of 16 bytes, then a
 * body.  Structures and numbers are those of Linux's <linux/vfio.h>.
 *
 *   VERSION            major and minor version, and capabilities as JSON; begins the connection
 *   DMA_MAP            a region of guest memory: guest-physical address, size, and offset in the
 *                      file behind the descriptor, if there is one
 *   DMA_UNMAP          such a region, or all of them
 *   DEVICE_GET_INFO    numbers of regions and interrupt indexes
 *   GET_REGION_INFO    size of a region: a BAR, or configuration space
 *   GET_IRQ_INFO       number of interrupts of an index: INTx, MSI-X
 *   SET_IRQS           a descriptor (an eventfd) for each of some interrupts, or none
 *   REGION_READ/WRITE  an access at an offset of a region
 *   DEVICE_RESET
 *
 * A client that wants no reply says so in the header: writes to BARs are *posted*.  A reply has the
 * request's number and command, or an errno of Linux.
 *
 * Not here: messages to the client (DMA by messages, for memory that has no descriptor), regions
 * that the client maps, WRITE_MULTI, migration.
 */
#ifndef CLI_LIVE_VFU_WIRE_H
#define CLI_LIVE_VFU_WIRE_H

#include "cli/live/vm_socket.h"

enum vfu_command {
    VFU_VERSION = 1,
    VFU_DMA_MAP = 2,
    VFU_DMA_UNMAP = 3,
    VFU_DEVICE_GET_INFO = 4,
    VFU_GET_REGION_INFO = 5,
    VFU_GET_IRQ_INFO = 7,
    VFU_SET_IRQS = 8,
    VFU_REGION_READ = 9,
    VFU_REGION_WRITE = 10,
    VFU_DEVICE_RESET = 13,
    VFU_COMMANDS
};

enum vfu_header_flag {
    VFU_TYPE = 0xf, /* 0 in a request */
    VFU_REPLY = 1,
    VFU_NO_REPLY = 1 << 4, /* the client wants none */
    VFU_ERROR = 1 << 5
};

enum vfu_region {
    VFU_BAR_FIRST = 0, /* regions 0 to 5 are the BARs */
    VFU_REGION_CONFIG = 7,
    VFU_REGIONS = 9
};
enum vfu_region_flag { VFU_REGION_READS = 1, VFU_REGION_WRITES = 2 };

enum vfu_irq { VFU_IRQ_INTX = 0, VFU_IRQ_MSIX = 2, VFU_IRQ_ERROR = 3, VFU_IRQS = 5 };
enum vfu_irq_flag { /* of GET_IRQ_INFO */
                    VFU_IRQ_EVENTFD = 1,
                    VFU_IRQ_MASKABLE = 2,
                    VFU_IRQ_AUTOMASKED = 4,
                    VFU_IRQ_NORESIZE = 8
};
enum vfu_set_flag { /* of SET_IRQS: one kind of data, and one action */
                    VFU_SET_NONE = 1,
                    VFU_SET_BOOL = 2,
                    VFU_SET_EVENTFD = 4,
                    VFU_SET_MASK = 8,
                    VFU_SET_UNMASK = 16,
                    VFU_SET_TRIGGER = 32
};

enum vfu_map_flag { VFU_MAP_READ = 1, VFU_MAP_WRITE = 2 };
enum vfu_unmap_flag { VFU_UNMAP_ALL = 2 };

#define VFU_DATA_MAX    4096u /* bytes of a REGION_READ or REGION_WRITE: configuration space */
#define VFU_REPLY_BYTES (VM_HEADER_BYTES + 16u + VFU_DATA_MAX)

struct vfu_request {
    uint16_t id;
    uint16_t command;    /* enum vfu_command, if vfu_request_read() returned 0 */
    bool posted;         /* the client wants no reply */
    uint16_t major;      /* VERSION */
    uint32_t flags;      /* DMA_MAP, DMA_UNMAP, SET_IRQS */
    uint32_t index;      /* of a region or interrupt index */
    uint32_t start;      /* SET_IRQS: first interrupt of the index */
    uint32_t count;      /* SET_IRQS: number of interrupts; REGION_...: bytes of data */
    uint64_t offset;     /* DMA_MAP: in the file; REGION_...: in the region */
    uint64_t address;    /* DMA_...: guest-physical address */
    uint64_t bytes;      /* DMA_...: size */
    const uint8_t *data; /* REGION_WRITE: @count bytes of the message */
};

/* A reply that is being built.  @n is 0 if none is to be sent. */
struct vfu_reply {
    uint8_t bytes[VFU_REPLY_BYTES];
    size_t n;
};

/* The length of a message, for its socket.  Only requests are valid messages. */
vm_message_size vfu_message_size;

/* Parses a message that is as long as vfu_message_size() has said; *@ret refers to it.  Returns 0,
 * or the errno for the reply: ENOTSUP for an unknown command, EINVAL for a body of a wrong size or
 * with fields that contradict each other.  In all cases id and posted of *@ret are set.
 */
int vfu_request_read(const uint8_t *message, struct vfu_request *ret);

/* Build the reply to @r.  Nothing is sent to a request that wants none. */
void vfu_reply_empty(const struct vfu_request *r, struct vfu_reply *ret);
void vfu_reply_error(const struct vfu_request *r, int error, struct vfu_reply *ret);
void vfu_reply_version(const struct vfu_request *r, struct vfu_reply *ret);
void vfu_reply_device(const struct vfu_request *r, struct vfu_reply *ret);

/* Region r->index has @bytes; 0: there is no such region. */
void vfu_reply_region(const struct vfu_request *r, uint64_t bytes, struct vfu_reply *ret);

/* Interrupt index r->index has @count interrupts; @flags is a set of enum vfu_irq_flag. */
void vfu_reply_irqs(const struct vfu_request *r, uint32_t flags, uint32_t count,
                    struct vfu_reply *ret);

/* For REGION_READ and REGION_WRITE.  @data has the r->count bytes that were read. */
void vfu_reply_read(const struct vfu_request *r, const uint8_t *data, struct vfu_reply *ret);
void vfu_reply_written(const struct vfu_request *r, struct vfu_reply *ret);

#endif
