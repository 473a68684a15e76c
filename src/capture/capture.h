/* SPDX-License-Identifier: MIT */
/* Reads capture files: pcap and pcapng, of either byte order and any resolution of time, one frame
 * after the other.  [pcap, draft-ietf-opsawg-pcap; pcapng, draft-ietf-opsawg-pcapng]
 *
 * Nothing in a file is trusted: a length that cannot be is an error, which names the place.  A file
 * that ends in the middle of a frame, as that of a capture program that was killed does, gives what
 * is whole and says that it was cut.
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CAPTURE_INTERFACES_MAX 1024u
#define CAPTURE_FRAME_MAX      (256u * 1024) /* bytes of one that are there */

/* How frames begin.  [www.tcpdump.org/linktypes.html] */
enum capture_link {
    CAPTURE_ETHERNET = 1,
    CAPTURE_RAW = 101, /* an IP packet */
    CAPTURE_LINUX_SLL = 113,
    CAPTURE_IPV4 = 228,
    CAPTURE_IPV6 = 229,
    CAPTURE_LINUX_SLL2 = 276,
};

enum capture_direction { CAPTURE_UNKNOWN = 0, CAPTURE_INBOUND = 1, CAPTURE_OUTBOUND = 2 };

struct capture_frame {
    uint64_t number; /* in the file, from 1, as Wireshark counts */
    uint64_t at_ns;  /* since 1970 */
    uint32_t link;   /* enum capture_link, or another one */
    enum capture_direction direction;
    const uint8_t *bytes; /* until the next call */
    uint32_t n_bytes;
    uint32_t n_on_wire; /* more than @n_bytes: it was cut */
};

struct capture_interface {
    uint32_t link;
    uint32_t snaplen;       /* 0: none */
    uint64_t ticks;         /* a second */
    int64_t offset_seconds; /* of all times */
};

struct capture {
    FILE *f; /* the caller's */
    bool is_pcapng, is_swapped;
    uint64_t at; /* bytes that were read */
    uint64_t n_frames;
    uint64_t dropped;   /* frames that the capture program says that it has lost */
    bool tells_dropped; /* it says how many */
    bool was_cut;       /* the file ends in the middle of something */
    struct capture_interface *interfaces; /* of the section */
    uint32_t n_interfaces;
    uint8_t *block; /* that was read last */
    size_t cap;
    char wrong[128]; /* why capture_next() failed */
};

/* Reads the beginning of @f.  False: c->wrong says why it is no capture.  capture_done() is called
 * for either.
 */
bool capture_begin(struct capture *c, FILE *f);
void capture_done(struct capture *c);

enum capture_result { CAPTURE_FRAME, CAPTURE_END, CAPTURE_BAD };

/* The next frame. */
enum capture_result capture_next(struct capture *c, struct capture_frame *ret);

#endif
