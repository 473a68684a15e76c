/* SPDX-License-Identifier: MIT */
/* The states of a memory key. */
#ifndef EMU_FACTS_ENUM_KEY_STATE_H
#define EMU_FACTS_ENUM_KEY_STATE_H

#include "emu/facts/enum_table.h"

#define ENUM_KEY_STATE(X)                                                                          \
    X(KEY, FREE, 0, "opens nothing: not registered, not bound, or made invalid")                   \
    X(KEY, VALID, 1, "opens its memory to who may come with it")

enum key_state { ENUM_KEY_STATE(ENUM_MEMBER) };

#endif
