/* SPDX-License-Identifier: MIT */
/* The kinds of faults, of links and of devices. */
#ifndef EMU_FACTS_ENUM_FAULT_H
#define EMU_FACTS_ENUM_FAULT_H

#include "emu/facts/enum_table.h"

#define ENUM_FAULT(X)                                                                              \
    X(FLT, NONE, 0, "none")                                                                        \
    X(FLT, DROP, 1, "the frame is lost on the link")                                               \
    X(FLT, DUPLICATE, 2, "the frame arrives twice")                                                \
    X(FLT, DELAY, 3, "the frame arrives later")                                                    \
    X(FLT, CORRUPT, 4, "a bit of the frame is flipped on the link")                                \
    X(FLT, CHANCE, 5, "lost by the link's loss=, from the seed")                                   \
    X(FLT, REORDER, 6, "frames that were sent later overtake the frame")                           \
    X(FLT, TRUNCATE, 7, "the end of the frame is cut off")                                         \
    X(FLT, MARK, 8, "a congested switch marks the frame: ECN becomes CE")                          \
    X(FLT, FORGE, 9, "a field of the frame is changed, and the ICRC is made right again")          \
    X(FLT, BURST, 10, "lost in a burst of losses on the link, from the seed")                      \
    X(FLT, LOST_KICK, 11, "the device is not told that the driver has kicked a queue")             \
    X(FLT, LOST_INTERRUPT, 12, "the driver is not interrupted for a queue")                        \
    X(FLT, LATE_DATA, 13, "the device gives a buffer back before its bytes are there")             \
    X(FLT, STUCK_QUEUE, 14, "the device takes no buffers out of a queue")                          \
    X(FLT, SPURIOUS, 15, "the device gives a buffer back that nobody gave it")                     \
    X(FLT, LOST_CQE, 16, "the device does not write a completion into its queue")                  \
    X(FLT, FALSE_DATA, 17, "a byte that the device writes to a buffer is wrong")                   \
    X(FLT, FALSE_LENGTH, 18, "the device gives a buffer back with a wrong length")                 \
    X(FLT, FALSE_READ, 19, "the device answers a read of its registers wrongly")

enum fault_kind { ENUM_FAULT(ENUM_MEMBER) };

#endif
