/* SPDX-License-Identifier: MIT */
/* The profiles: the implementations whose behaviour a host can show.  profiles.def lists the
 * differences between them.
 */
#ifndef EMU_FACTS_ENUM_PROFILE_H
#define EMU_FACTS_ENUM_PROFILE_H

/* X(member, word, value, text).  A user writes the word; that of a kernel's release has characters
 * that the name of a constant has not.
 */
#define PROFILES(X)                                                                                \
    X(iba, "iba", 0, "what the InfiniBand specification says")                                     \
    X(rxe, "rxe", 1, "what rxe does, the RDMA device in software of Linux 6.1")                    \
    X(rxe_7_3, "rxe-7.3", 2, "what rxe does in Linux 7.3")

#define PROFILE_MEMBER(member, word, value, text) PROFILE_##member = (value),
enum profile { PROFILES(PROFILE_MEMBER) PROFILE_COUNT };
#undef PROFILE_MEMBER

#endif
