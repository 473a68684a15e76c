/* SPDX-License-Identifier: MIT */
/* Files of /dev/infiniband/rdma_cm, and the IDs in them. */
#include "cli/live/exec_cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli/live/exec_hint.h"
#include "cli/live/exec_memory.h"
#include "emu/facts/enum/cma_state.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/wire/addr.h"

#define NS_PER_S 1000000000u
#define HELD_NS  20000000u

/* --- Finding ---------------------------------------------------------------------------------- */

int exec_cm_errno(enum rdl_status st, const int *error)
{
    return st == RDL_ERR_ERRNO ? *error : exec_error(st, NULL);
}

struct exec_cm_file *exec_cm_file_of(const struct exec_client *c, uint64_t handle)
{
    for (size_t i = 0; c->cm && handle && i < c->cm->n_files; i++) {
        if (c->cm->files[i].handle == handle)
            return &c->cm->files[i];
    }
    return NULL;
}

int exec_cm_find(const struct exec_client *c, uint64_t file, uint32_t number,
                 struct exec_cm_id **ret)
{
    if (number >= c->cm->n_ids || !c->cm->ids[number].file)
        return ENOENT;
    *ret = &c->cm->ids[number];
    return (*ret)->file == file ? 0 : EINVAL;
}

struct exec_cm_id *exec_cm_id_of(const struct exec_client *c, rdl_cm_id id)
{
    for (size_t i = 0; i < c->cm->n_ids && id.raw; i++) {
        if (c->cm->ids[i].file && c->cm->ids[i].id.raw == id.raw)
            return &c->cm->ids[i];
    }
    return NULL;
}

struct exec_cm_id *exec_cm_new_id(struct exec_client *c)
{
    struct exec_cm *cm = c->cm;
    void *array = cm->ids;
    struct exec_cm_id *id;

    while (cm->ids_from < cm->n_ids && cm->ids[cm->ids_from].file)
        cm->ids_from++;
    if (cm->ids_from < cm->n_ids)
        return &cm->ids[cm->ids_from];
    id = exec_entry_for(&array, &cm->n_ids, sizeof(*id));
    cm->ids = array;
    return id;
}

static void forget_groups(const struct exec_client *c, uint32_t id)
{
    for (size_t i = 0; i < c->cm->n_groups; i++) {
        if (c->cm->groups[i].in_use && c->cm->groups[i].id == id)
            c->cm->groups[i] = (struct exec_cm_group){0};
    }
}

void exec_cm_destroy_id(const struct exec_client *c, struct exec_cm_id *id)
{
    const size_t i = (size_t)(id - c->cm->ids);

    if (id->id.raw)
        (void)!rdl_cm_destroy_id(c->lab, id->id); /* the user may have destroyed it */
    forget_groups(c, (uint32_t)i);
    *id = (struct exec_cm_id){0};
    c->cm->ids_from = i < c->cm->ids_from ? i : c->cm->ids_from;
}

/* --- Opening and closing ---------------------------------------------------------------------- */

/* A pair of sockets of the type SOCK_STREAM: a byte wakes all threads that wait.  One of the type
 * SOCK_DGRAM wakes one of them, and the others sleep on while there are events for them.
 */
static bool open_ends(struct exec_cm_file *f)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    f->near = ends[0];
    f->far = ends[1];
    return true;
}

static void close_ends(const struct exec_cm_file *f)
{
    close(f->near);
    close(f->far);
}

enum rdl_status exec_cm_open(struct exec_client *c, uint64_t *ret, int *ret_fd)
{
    struct exec_cm_file f = {.has_byte = false}, *entry;
    enum rdl_status st;
    void *array;

    if (!c->cm)
        c->cm = calloc(1, sizeof(*c->cm));
    if (!c->cm)
        return RDL_ERR_NOMEM;
    array = c->cm->files;
    entry = exec_entry_for(&array, &c->cm->n_files, sizeof(*entry));
    c->cm->files = array;
    if (!entry || !open_ends(&f))
        return RDL_ERR_NOMEM;
    *ret_fd = fcntl(f.far, F_DUPFD_CLOEXEC, 0);
    st = *ret_fd >= 0 ? rdl_cm_create_channel(c->lab, c->host, NULL, &f.channel) : RDL_ERR_NOMEM;
    if (st != RDL_OK) {
        close_ends(&f);
        if (*ret_fd >= 0)
            close(*ret_fd);
        *ret_fd = -1;
        return st;
    }
    f.handle = ++c->cm->n_opened;
    *entry = f;
    *ret = f.handle;
    return RDL_OK;
}

enum rdl_status exec_cm_close(struct exec_client *c, uint64_t file)
{
    struct exec_cm_file *f = exec_cm_file_of(c, file);
    enum rdl_status st;

    if (!f)
        return RDL_ERR_STALE;
    for (size_t i = 0; i < c->cm->n_ids; i++) {
        if (c->cm->ids[i].file == file)
            exec_cm_destroy_id(c, &c->cm->ids[i]);
    }
    st = rdl_cm_destroy_channel(c->lab, f->channel);
    close_ends(f);
    *f = (struct exec_cm_file){0};
    return st == RDL_ERR_STALE ? RDL_OK : st; /* the user may have destroyed it */
}

static bool listens(const struct exec_client *c)
{
    struct rdl_cm_id_info info;

    for (size_t i = 0; c->cm && i < c->cm->n_ids; i++) {
        const struct exec_cm_id *id = &c->cm->ids[i];

        if (id->file && rdl_cm_id_info(c->lab, id->id, &info) == RDL_OK && info.state == CMA_LISTEN)
            return true;
    }
    return false;
}

bool exec_cm_listens(const struct exec_server *s, uint32_t rank)
{
    for (const struct exec_client *c = s->clients; c; c = c->next) {
        if (c->rank == rank && listens(c))
            return true;
    }
    return false;
}

uint32_t exec_cm_awaited(const struct exec_server *s, uint32_t rank)
{
    for (const struct exec_client *c = s->clients; c; c = c->next) {
        if (c->rank == rank && c->cm && c->cm->destroyed_at == c->n_calls)
            return c->cm->destroyed_events;
    }
    return 0;
}

void exec_cm_done(struct exec_client *c)
{
    if (!c->cm)
        return;
    exec_hint_ids(c);
    for (size_t i = 0; i < c->cm->n_files; i++) {
        if (c->cm->files[i].handle)
            close_ends(&c->cm->files[i]);
    }
    free(c->cm->files);
    free(c->cm->ids);
    free(c->cm->groups);
    free(c->cm);
    c->cm = NULL;
}

/* --- Events ----------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Returns true if process @pid has completions that it has not polled. */
static bool has_unpolled(const struct exec_server *s, int pid)
{
    for (const struct exec_client *c = s->clients; c; c = c->next) {
        for (size_t i = 0; c->pid == pid && i < c->n_cqs; i++) {
            if (c->cqs[i].handle && c->cqs[i].written != c->cqs[i].polled)
                return true;
        }
    }
    return false;
}

/* Returns true if the next event is to wait.
 *
 * A kernel needs a while to make an event of a DREQ, so that programs poll what came before it.
 * rsockets rely on that: a thread that takes DISCONNECTED ends a read() of another one, which loses
 * what it has not polled.  Here both come at the same moment if the program was not given a
 * processor meanwhile.
 */
static bool is_held(const struct exec_client *c, struct exec_cm_file *f, uint32_t kind)
{
    const bool can_wait = kind == RDMA_CM_EVENT_DISCONNECTED && !c->server->is_virtual &&
                          !f->has_byte && has_unpolled(c->server, c->pid);
    const uint64_t now = can_wait ? now_ns() : 0;

    if (can_wait && !f->held_ns)
        f->held_ns = now;
    if (can_wait && now - f->held_ns < HELD_NS)
        return true;
    f->held_ns = 0;
    return false;
}

/* Puts the byte into the pair of sockets, or takes it back.  A program that reads it itself harms
 * itself alone.
 */
static bool tell_file(const struct exec_client *c, struct exec_cm_file *f)
{
    uint32_t kind = 0;
    const bool wanted = rdl_cm_next_event(c->lab, f->channel, &kind);
    char byte = 0;

    if (wanted && is_held(c, f, kind))
        return true;
    if (wanted == f->has_byte)
        return false;
    if (wanted)
        (void)!send(f->near, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    else
        (void)!recv(f->far, &byte, 1, MSG_DONTWAIT);
    f->has_byte = wanted;
    return wanted;
}

bool exec_cm_tell(struct exec_client *c)
{
    bool any = false;

    for (size_t i = 0; c->cm && i < c->cm->n_files; i++) {
        if (c->cm->files[i].handle)
            any = tell_file(c, &c->cm->files[i]) || any;
    }
    c->stirred = c->stirred || any;
    return any;
}

/* --- Memory and addresses of a program -------------------------------------------------------- */

int exec_cm_respond(const struct exec_client *c, const struct exec_cm_command *cmd,
                    uint64_t response, const void *from, size_t bytes)
{
    const size_t n = cmd->head.out < bytes ? cmd->head.out : bytes;

    return exec_memory_write(c->memory, response, from, n) ? 0 : EFAULT;
}

size_t exec_cm_addr_size(const void *addr)
{
    sa_family_t family;

    memcpy(&family, addr, sizeof(family));
    switch (family) {
    case AF_INET:
        return sizeof(struct sockaddr_in);
    case AF_INET6:
        return sizeof(struct sockaddr_in6);
    case AF_IB:
        return EXEC_CM_IB_BYTES;
    default:
        return 0;
    }
}

/* The addresses are in the order of the network; ::ffff:a.b.c.d is the address of IPv4. */
bool exec_cm_addr_in(const void *from, size_t bytes, struct rdl_cm_addr *ret)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    sa_family_t family;

    *ret = (struct rdl_cm_addr){.version = 0};
    if (bytes < sizeof(family))
        return false;
    memcpy(&family, from, sizeof(family));
    if (family == AF_INET && bytes >= sizeof(v4)) {
        memcpy(&v4, from, sizeof(v4));
        ret->version = 4;
        gid_from_ipv4(ret->gid, (const uint8_t *)&v4.sin_addr);
        ret->port = ntohs(v4.sin_port);
    } else if (family == AF_INET6 && bytes >= sizeof(v6)) {
        memcpy(&v6, from, sizeof(v6));
        memcpy(ret->gid, &v6.sin6_addr, sizeof(ret->gid));
        ret->version = gid_is_ipv4(ret->gid) ? 4 : 6;
        ret->port = ntohs(v6.sin6_port);
    }
    return ret->version != 0;
}

size_t exec_cm_addr_out(const struct rdl_cm_addr *from, struct __kernel_sockaddr_storage *ret)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(from->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(from->port)};

    memset(ret, 0, sizeof(*ret));
    if (from->version == 4) {
        memcpy(&v4.sin_addr, from->gid + GID_IPV4_AT, sizeof(v4.sin_addr));
        memcpy(ret, &v4, sizeof(v4));
        return sizeof(v4);
    }
    if (from->version == 0)
        return 0;
    memcpy(&v6.sin6_addr, from->gid, sizeof(v6.sin6_addr));
    memcpy(ret, &v6, sizeof(v6));
    return sizeof(v6);
}

void exec_cm_ah_out(const struct rdl_ah_attr *from, struct ib_uverbs_ah_attr *ret)
{
    *ret = (struct ib_uverbs_ah_attr){
        .grh = {.flow_label = from->flow_label,
                .sgid_index = (uint8_t)from->sgid_index,
                .hop_limit = (uint8_t)from->hop_limit,
                .traffic_class = (uint8_t)from->traffic_class},
        .sl = (uint8_t)from->sl,
        .static_rate = (uint8_t)from->static_rate,
        .is_global = 1,
        .port_num = 1,
    };
    memcpy(ret->grh.dgid, from->dgid, sizeof(ret->grh.dgid));
}
