/* SPDX-License-Identifier: MIT */
/* The version; the build system gives it. */
#ifndef CLI_PRINT_VERSION_H
#define CLI_PRINT_VERSION_H

#ifndef RDMALAB_VERSION
#define RDMALAB_VERSION "0.1.0"
#endif

#endif
