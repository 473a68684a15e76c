/* SPDX-License-Identifier: MIT */
/* /dev/infiniband/rdma_cm for a program: the lab is the kernel to Debian's own librdmacm.
 * [Linux, include/uapi/rdma/rdma_user_cm.h, version 4; drivers/infiniband/core/ucma.c]
 *
 * librdmacm opens the device once for each event channel and for each synchronous ID, and write()s
 * commands.  Our libibverbs passes them on (src/program/ibverbs/rdma_cm.c).  The lab reads a
 * command in the program's memory, and writes the response there, as the kernel does.
 *
 * SIMPLIFIED: it writes a response also into memory that the program itself can only read, where
 * the kernel would return EFAULT.  librdmacm has all responses on its stack.
 *
 * The descriptor in the program is one end of a pair of sockets.  It can be read exactly while the
 * file has events: then there is one byte in it.  The lab has the other end, and another descriptor
 * of the program's end, with which it takes the byte back.
 *
 *   exec_cm.c           files and IDs
 *   exec_cm_commands.c  the commands
 *   exec_cm_query.c     those that ask for addresses, paths and attributes of queue pairs
 */
#ifndef CLI_LIVE_EXEC_CM_H
#define CLI_LIVE_EXEC_CM_H

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>

#include "cli/live/exec_client.h"
#include "rdmalab/cm.h"

/* An open file of the device. */
struct exec_cm_file {
    uint64_t handle; /* 0: a free entry */
    rdl_cm_channel channel;
    int near, far; /* the lab's end, and the program's end */
    bool has_byte;
    uint64_t held_ns; /* since when a DISCONNECTED is held back; 0: none is */
};

/* An ID.  Its number for the program is its index. */
struct exec_cm_id {
    uint64_t file;   /* the handle; 0: a free entry */
    uint64_t uid;    /* what the program calls it; 0: it does not know it yet */
    rdl_cm_id id;    /* raw is 0: of port space IB, which librdmacm creates to try the commands */
    uint32_t events; /* that the program has got */
    bool is_placed;  /* librdmacm was told its device */
};

/* A membership in a multicast group.  Its number for the program is its index. */
struct exec_cm_group {
    uint64_t in_use; /* 0: a free entry */
    uint64_t uid;
    uint32_t id, membership, events;
};

struct exec_cm {
    struct exec_cm_file *files;
    struct exec_cm_id *ids;
    struct exec_cm_group *groups;
    size_t n_files, n_ids, n_groups;
    size_t ids_from; /* entries of @ids below this index are used */
    uint64_t n_opened;
    /* exec_client.n_calls at the last rdma_destroy_id(), and the events that its ID has had. */
    uint32_t destroyed_at, destroyed_events;
};

/* A command, as it came. */
struct exec_cm_command {
    uint64_t file; /* the handle of its file */
    uint64_t
        from_file; /* MIGRATE_ID: that of the file that its descriptor names; 0: none of ours */
    struct rdma_ucm_cmd_hdr head;
    union {
        uint64_t response; /* most begin with it */
        struct rdma_ucm_create_id create_id;
        struct rdma_ucm_destroy_id destroy_id;
        struct rdma_ucm_bind_ip bind_ip;
        struct rdma_ucm_bind bind;
        struct rdma_ucm_resolve_ip resolve_ip;
        struct rdma_ucm_resolve_addr resolve_addr;
        struct rdma_ucm_resolve_route resolve_route;
        struct rdma_ucm_query query;
        struct rdma_ucm_connect connect;
        struct rdma_ucm_listen listen;
        struct rdma_ucm_accept accept;
        struct rdma_ucm_reject reject;
        struct rdma_ucm_disconnect disconnect;
        struct rdma_ucm_init_qp_attr init_qp_attr;
        struct rdma_ucm_notify notify;
        struct rdma_ucm_join_ip_mcast join_ip;
        struct rdma_ucm_join_mcast join;
        struct rdma_ucm_get_event get_event;
        struct rdma_ucm_set_option set_option;
        struct rdma_ucm_migrate_id migrate_id;
    } u;
};

/* Opens the device.  *@ret_fd is the descriptor for the program.  RDL_ERR_BUSY: the lab must run
 * first, because a host has a request under way.
 */
enum rdl_status exec_cm_open(struct exec_client *c, uint64_t *ret, int *ret_fd);

/* Closes a file and destroys its IDs. */
enum rdl_status exec_cm_close(struct exec_client *c, uint64_t file);

/* Carries out PROGRAM_CM_WRITE, which is c->call.  Returns 0 or an errno value. */
int exec_cm_write(struct exec_client *c);

/* Makes each descriptor readable or not.  Returns true if one has become readable, or will soon. */
bool exec_cm_tell(struct exec_client *c);

/* Returns true if a program with @rank has an ID that listens. */
bool exec_cm_listens(const struct exec_server *s, uint32_t rank);

/* Returns the number of events of the ID that rdma_destroy_id() destroys in a program with @rank,
 * if this is the program's last call.  librdmacm waits there until all are acknowledged.
 */
uint32_t exec_cm_awaited(const struct exec_server *s, uint32_t rank);

/* Closes all descriptors, and frees what is known of files and IDs, which stay in the lab. */
void exec_cm_done(struct exec_client *c);

/* --- Between the files ------------------------------------------------------------------------ */

/* Returns the errno for a call of cm.h, which has set *@error; NULL: it has no such argument. */
int exec_cm_errno(enum rdl_status st, const int *error);

/* Finds the ID @number.  Returns 0; EINVAL: it is one of another file; ENOENT. */
int exec_cm_find(const struct exec_client *c, uint64_t file, uint32_t number,
                 struct exec_cm_id **ret);

/* Finds the ID with handle @id; NULL: the program has none such. */
struct exec_cm_id *exec_cm_id_of(const struct exec_client *c, rdl_cm_id id);

/* Destroys an ID in the lab, and forgets it and its groups. */
void exec_cm_destroy_id(const struct exec_client *c, struct exec_cm_id *id);

/* Returns the first free entry for an ID, or NULL. */
struct exec_cm_id *exec_cm_new_id(struct exec_client *c);

struct exec_cm_file *exec_cm_file_of(const struct exec_client *c, uint64_t handle);

/* Writes a response of @bytes, of which a program of an older version takes fewer.  Returns 0 or
 * EFAULT.
 */
int exec_cm_respond(const struct exec_client *c, const struct exec_cm_command *cmd,
                    uint64_t response, const void *from, size_t bytes);

/* The bytes of an address of family AF_IB.  [Linux, include/rdma/ib.h] */
#define EXEC_CM_IB_BYTES 48u

/* Returns the bytes of the socket address @addr, by its family; 0: it is of none that the kernel's
 * rdma_cm knows.  [Linux, rdma_addr_size()]
 */
size_t exec_cm_addr_size(const void *addr);

/* Conversions of addresses.  exec_cm_addr_in() returns false if there is none of @bytes for us. */
bool exec_cm_addr_in(const void *from, size_t bytes, struct rdl_cm_addr *ret);
size_t exec_cm_addr_out(const struct rdl_cm_addr *from, struct __kernel_sockaddr_storage *ret);
void exec_cm_ah_out(const struct rdl_ah_attr *from, struct ib_uverbs_ah_attr *ret);

/* The commands QUERY_ROUTE, QUERY and INIT_QP_ATTR. */
int exec_cm_query_route(struct exec_client *c, const struct exec_cm_command *cmd);
int exec_cm_query(struct exec_client *c, const struct exec_cm_command *cmd);
int exec_cm_init_qp_attr(struct exec_client *c, const struct exec_cm_command *cmd);

#endif
