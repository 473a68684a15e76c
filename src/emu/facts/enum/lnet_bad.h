/* SPDX-License-Identifier: MIT */
/* Reasons why bytes are no message of o2iblnd. */
#ifndef EMU_FACTS_ENUM_LNET_BAD_H
#define EMU_FACTS_ENUM_LNET_BAD_H

#include "emu/facts/enum_table.h"

#define ENUM_LNET_BAD(X)                                                                           \
    X(LNET, GOOD, 0, "a message")                                                                  \
    X(LNET, SHORT, 1, "fewer bytes than its head, its type or its descriptor needs")               \
    X(LNET, BAD_MAGIC, 2, "another protocol")                                                      \
    X(LNET, BAD_VERSION, 3, "neither version 0x11 nor 0x12")                                       \
    X(LNET, BAD_LENGTH, 4, "its length exceeds the bytes that came")                               \
    X(LNET, BAD_TYPE, 5, "no such type")                                                           \
    X(LNET, BAD_CKSUM, 6, "its checksum is wrong")                                                 \
    X(LNET, BAD_FRAGS, 7, "its descriptor has no fragment, or more than 256")

enum lnet_bad { ENUM_LNET_BAD(ENUM_MEMBER) };

#endif
