/* SPDX-License-Identifier: MIT */
/* The feature bits of virtio-net, by number.  [virtio 1.2, 5.1.3] */
#ifndef EMU_FACTS_VIRTIO_NET_FEATURE_H
#define EMU_FACTS_VIRTIO_NET_FEATURE_H

#include "emu/facts/enum_table.h"

#define ENUM_NET_FEATURE(X)                                                                        \
    X(NF, MTU, 3, "the device says its MTU")                                                       \
    X(NF, MAC, 5, "the device has a MAC address")                                                  \
    X(NF, STATUS, 16, "the device says whether its link is up")                                    \
    X(NF, MRG_RXBUF, 15, "a frame that arrives may fill more than one buffer")

enum net_feature_number { ENUM_NET_FEATURE(ENUM_MEMBER) };

#endif
