/* SPDX-License-Identifier: MIT */
/* The access flags of memory and of queue pairs.  [virtio-rdma RFC, enum ib_access_flags]
 *
 * The texts are the short forms of `access=lw,rr,rw`.
 */
#ifndef EMU_FACTS_ENUM_ACCESS_H
#define EMU_FACTS_ENUM_ACCESS_H

#include "emu/facts/enum_table.h"

#define ENUM_ACCESS(X)                                                                             \
    X(ACC, LOCAL_WRITE, 1u << 0, "lw")                                                             \
    X(ACC, REMOTE_WRITE, 1u << 1, "rw")                                                            \
    X(ACC, REMOTE_READ, 1u << 2, "rr")                                                             \
    X(ACC, REMOTE_ATOMIC, 1u << 3, "ra")                                                           \
    X(ACC, MW_BIND, 1u << 4, "mw")                                                                 \
    X(ACC, ZERO_BASED, 1u << 5, "zb")                                                              \
    X(ACC, HUGETLB, 1u << 7, "hugetlb")                                                            \
    X(ACC, FLUSH_GLOBAL, 1u << 8, "fg")                                                            \
    X(ACC, FLUSH_PERSISTENT, 1u << 9, "fp")                                                        \
    X(ACC, RELAXED_ORDERING, 1u << 20, "relaxed_ordering")

enum access_bit { ENUM_ACCESS(ENUM_MEMBER) };

/* The access flags for FLUSH, by placement type.  They are not of the RFC.  [libibverbs, enum
 * ibv_access_flags]
 */
#define ACCESS_FLUSH (unsigned)(ACC_FLUSH_GLOBAL | ACC_FLUSH_PERSISTENT)

/* Access flags that are hints.  They grant no access, and a device that cannot use one ignores it.
 * HUGETLB describes the pages of the program's memory.  Bits 20 to 29 are reserved for optional
 * flags.  [libibverbs, ibv_reg_mr(3); Linux, IB_ACCESS_OPTIONAL]
 */
#define ACCESS_HINTS (ACC_HUGETLB | 0x3ff00000u)

#endif
