/* SPDX-License-Identifier: MIT */
/* The RPCs of a test of LNet.  [Lustre, lnet_selftest] */
#ifndef EMU_FACTS_ENUM_LNET_TEST_OP_H
#define EMU_FACTS_ENUM_LNET_TEST_OP_H

#include "emu/facts/enum_table.h"

#define ENUM_SELFTEST_OP(X)                                                                        \
    X(SELFTEST, PING, 0, "a request and a reply")                                                  \
    X(SELFTEST, READ, 1, "the server puts bulk data")                                              \
    X(SELFTEST, WRITE, 2, "the server gets bulk data")

enum selftest_op { ENUM_SELFTEST_OP(ENUM_MEMBER) };

#endif
