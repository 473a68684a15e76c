/* SPDX-License-Identifier: MIT */
/* Reads capture files frame by frame: pcap and pcapng, of either byte order and any time
 * resolution, also packed by gzip. [pcap, draft-ietf-opsawg-pcap; pcapng, draft-ietf-opsawg-pcapng]
 *
 * The file is untrusted: an impossible length is an error, and the message has its byte position.
 * A file may end in the middle of a frame, for example because the capture program was killed.
 * Then all whole frames are returned, and @was_cut is set.
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/unpack.h"

#define CAPTURE_INTERFACES_MAX 1024u         /* most interfaces of a section */
#define CAPTURE_FRAME_MAX      (256u * 1024) /* maximum captured bytes of one frame */

/* Link types: the header that a frame begins with.  [www.tcpdump.org/linktypes.html] */
enum capture_link {
    CAPTURE_NULL = 0, /* loopback of BSD: four bytes before an IP packet */
    CAPTURE_ETHERNET = 1,
    CAPTURE_RAW_BSD = 12, /* an IP packet */
    CAPTURE_RAW = 101,    /* an IP packet */
    CAPTURE_LOOP = 108,   /* as CAPTURE_NULL */
    CAPTURE_LINUX_SLL = 113,
    CAPTURE_IPV4 = 228,
    CAPTURE_IPV6 = 229,
    CAPTURE_LINUX_SLL2 = 276,
};

/* The direction of a frame, as seen from the machine that captured it. */
enum capture_direction { CAPTURE_UNKNOWN = 0, CAPTURE_INBOUND = 1, CAPTURE_OUTBOUND = 2 };

struct capture_frame {
    uint64_t number; /* position in the file, from 1, like in Wireshark */
    uint64_t at_ns;  /* ns since 1970 */
    uint32_t link;   /* enum capture_link, or another value */
    /* Number of the interface that captured it, from 0, over all sections of the file. */
    uint32_t interface;
    bool is_lost;      /* it was lost: that interface is PCAPNG_LOST */
    uint64_t clock_ns; /* the unit of its times, 0: a nanosecond or less */
    enum capture_direction direction;
    const uint8_t *bytes; /* valid until the next capture_next() */
    uint32_t n_bytes;     /* number of captured bytes */
    /* Length on the wire; more than @n_bytes if the capture truncated the frame. */
    uint32_t n_on_wire;
};

/* An interface of a pcapng section, or the only one of a pcap file. */
struct capture_interface {
    uint32_t link;          /* link type of its frames, as in struct capture_frame */
    uint32_t snaplen;       /* most bytes captured of a frame; 0: no limit */
    uint64_t ticks;         /* time units per second */
    int64_t offset_seconds; /* added to the times of its frames */
    bool has_lost;          /* its name is PCAPNG_LOST: its frames were lost on their way */
};

/* An open capture file.  capture_done() frees its memory. */
struct capture {
    struct unpack *in;                    /* owned: reads the file, which the caller keeps open */
    bool is_pcapng, is_swapped;           /* is_swapped: the numbers in the file are big-endian */
    uint64_t at;                          /* number of bytes read so far */
    uint64_t n_frames;                    /* number of frames returned so far */
    uint64_t dropped;                     /* number of frames that the file says were dropped */
    bool tells_dropped;                   /* the file has drop counters */
    bool was_cut;                         /* the file ends in the middle of a block or frame */
    struct capture_interface *interfaces; /* interfaces of the current section */
    uint32_t n_interfaces, n_before;      /* n_before: number of interfaces of earlier sections */
    uint8_t *block;                       /* the block that was read last */
    size_t cap;
    char wrong[128]; /* the error, after a call that failed */
};

/* Reads the file header from @f.  Returns false, with the reason in c->wrong, if it is not a
 * capture.  Call capture_done() in both cases.
 */
bool capture_begin(struct capture *c, FILE *f);
void capture_done(struct capture *c);

enum capture_result { CAPTURE_FRAME, CAPTURE_END, CAPTURE_BAD };

/* Reads the next frame into @ret.
 *
 * Return: CAPTURE_FRAME
 *	   CAPTURE_END    there is no further frame
 *	   CAPTURE_BAD    the file is invalid; c->wrong has the reason
 */
enum capture_result capture_next(struct capture *c, struct capture_frame *ret);

#endif
