/* SPDX-License-Identifier: MIT */
/* cmocka with the headers it needs before it; the include order must survive clang-format. */
#ifndef TESTS_UNIT_TESTING_H
#define TESTS_UNIT_TESTING_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "emu/base/assert.h"

#endif
