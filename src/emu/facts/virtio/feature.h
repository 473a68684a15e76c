/* SPDX-License-Identifier: MIT */
/* The feature bits of virtio and of virtio-rdma, by number.  [virtio 1.2, chapter 6] */
#ifndef EMU_FACTS_VIRTIO_FEATURE_H
#define EMU_FACTS_VIRTIO_FEATURE_H

#include <stdint.h>

#include "emu/facts/enum_table.h"

/* Features that the RFC lacks for the driver of a real kernel.  A device offers them only if its
 * configuration asks for them.  @P is the prefix of the rows.  [decisions 0061 to 0065]
 */
#define RDMA_EXTENSION_ROWS(X, P)                                                                  \
    X(P, CEQ, 7, "virtio-rdma, ours: completion events come in queues of their own")               \
    X(P, ARM_MEM, 8, "virtio-rdma, ours: a CQ is armed by a store in guest memory; needs CEQ")     \
    X(P, REG_IN_WQE, 9,                                                                            \
      "virtio-rdma, ours: REG_MR carries its page list, in place of MAP_MR_SG; needs MW")          \
    X(P, QP_END, 10,                                                                               \
      "virtio-rdma, ours: RESET or DESTROY_QP completes all buffers of a queue pair, and ends "    \
      "its completions")

/* The words for extensions in commands.  The numbers of ALL and NONE are those of no feature. */
#define ENUM_EXTENSION(X)                                                                          \
    RDMA_EXTENSION_ROWS(X, EXT)                                                                    \
    X(EXT, NONE, 62, "no extension, which is what virtual machines need to say")                   \
    X(EXT, ALL, 63, "all extensions of virtio-rdma")

enum extension { ENUM_EXTENSION(ENUM_MEMBER) };

#define ENUM_FEATURE(X)                                                                            \
    X(VF, INDIRECT_DESC, 28, "descriptors may refer to a table of descriptors")                    \
    X(VF, EVENT_IDX, 29, "notifications are suppressed by index")                                  \
    X(VF, VERSION_1, 32, "virtio 1.0 or later")                                                    \
    X(VF, ACCESS_PLATFORM, 33,                                                                     \
      "addresses are those of the device's bus, which a platform may translate")                   \
    X(VF, RING_PACKED, 34, "the two sides share one ring of descriptors: a packed ring")           \
    X(VF, SR_IOV, 37, "the function has virtual functions, which the driver may enable: SR-IOV")   \
    X(VF, RING_RESET, 40, "a single queue can be reset")                                           \
    X(VF, EVENTQ, 0,                                                                               \
      "virtio-rdma, ours: the device tells asynchronous events in a queue of its own")             \
    X(VF, MW, 4, "virtio-rdma, ours: memory windows, and memory regions that can be changed")      \
    X(VF, RESIZE, 1, "virtio-rdma, ours: CQs and queue pairs can be resized; needs RING_RESET")    \
    X(VF, MCAST, 5, "virtio-rdma, ours: queue pairs can be attached to multicast groups")          \
    X(VF, CREDITS, 6, "virtio-rdma, ours: reliable connections can have end-to-end credits")       \
    X(VF, SRQ, 3, "virtio-rdma, ours: shared receive queues")                                      \
    X(VF, ON_DEMAND, 2, "virtio-rdma, ours: queues are set up when an object needs them")          \
    RDMA_EXTENSION_ROWS(X, VF)

enum feature_number { ENUM_FEATURE(ENUM_MEMBER) };

#define VIRTIO_FEATURE(number) ((uint64_t)1 << (number))

/* The features that every virtio device of a lab offers, unless they are switched off. */
#define VIRTIO_FEATURES_ALL                                                                        \
    (VIRTIO_FEATURE(VF_INDIRECT_DESC) | VIRTIO_FEATURE(VF_EVENT_IDX) |                             \
     VIRTIO_FEATURE(VF_VERSION_1) | VIRTIO_FEATURE(VF_RING_RESET))

/* VIRTIO_FEATURES_ALL, and those that a device of any type offers only if its configuration asks
 * for them.
 */
#define VIRTIO_FEATURES_COMMON                                                                     \
    (VIRTIO_FEATURES_ALL | VIRTIO_FEATURE(VF_RING_PACKED) | VIRTIO_FEATURE(VF_ACCESS_PLATFORM))

/* Features of the virtio-rdma device, in addition to those of every virtio device. */
#define RDMA_FEATURES_OWN                                                                          \
    ((uint64_t)1 << VF_EVENTQ | (uint64_t)1 << VF_RESIZE | (uint64_t)1 << VF_MW |                  \
     (uint64_t)1 << VF_CREDITS | (uint64_t)1 << VF_MCAST | (uint64_t)1 << VF_SRQ |                 \
     (uint64_t)1 << VF_ON_DEMAND)

/* The extensions of RDMA_EXTENSION_ROWS. */
#define RDMA_EXTENSION_BIT(prefix, name, value, text) | VIRTIO_FEATURE(value)
#define RDMA_EXTENSIONS                               (0 RDMA_EXTENSION_ROWS(RDMA_EXTENSION_BIT, VF))

/* Returns the extensions that @asked names, a set of 1 << enum extension. */
static inline uint64_t rdma_extensions(uint64_t asked)
{
    return asked & VIRTIO_FEATURE(EXT_ALL) ? RDMA_EXTENSIONS : asked & RDMA_EXTENSIONS;
}

#endif
