/* SPDX-License-Identifier: MIT */
/* The version of rdmalab.  The build system defines it. */
#ifndef PRINT_VERSION_H
#define PRINT_VERSION_H

#ifndef RDMALAB_VERSION
#define RDMALAB_VERSION "0.1.0"
#endif

#endif
