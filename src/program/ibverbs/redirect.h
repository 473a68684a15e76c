/* SPDX-License-Identifier: MIT */
/* Calls of librdmacm that this library takes over, so that the lab is the kernel's rdma_cm. */
#ifndef PROGRAM_IBVERBS_REDIRECT_H
#define PROGRAM_IBVERBS_REDIRECT_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Points the calls of librdmacm at the functions below, if it is loaded and they are not yet. */
void redirect_librdmacm(void);

/* Returns nl_connect() of libnl, or NULL. */
int (*redirect_nl_connect(void))(void *socket, int protocol);

/* open(), fstat(), write(), close() and nl_connect() of librdmacm. */
int rdma_cm_open(const char *path, int flags, ...);
int rdma_cm_fstat(int fd, struct stat *ret);
ssize_t rdma_cm_write(int fd, const void *bytes, size_t n);
int rdma_cm_close(int fd);
int rdma_cm_nl_connect(void *socket, int protocol);

#endif
