/* SPDX-License-Identifier: MIT */
/* The list of devices: one device, if the environment names a lab and the lab accepts the program.
 *
 * The first list connects to the lab, to learn the GUID of the device.  The first
 * ibv_open_device() takes over that connection, the following ones make their own.
 */
#include <stdio.h>
#include <stdlib.h>

#include "program/ibverbs/internal.h"
#include "program/ibverbs/redirect.h"
#include "program/on_host.h"

#define DEVICE_NAME "rdl0"
#define UVERBS_NAME "uverbs0"

/* The device.  Providers such as libmlx5 look for their own fields behind the public structure:
 * they find zeros.
 */
static struct {
    struct ibv_device pub;
    uint64_t zero[32];
} device;

static pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t device_guid[8];
static bool is_known;        /* the lab has accepted this program, or the parent of it */
static struct context *kept; /* has a connection that no one has opened; else NULL */

static void init_device(void)
{
    struct ibv_device *d = &device.pub;

    d->node_type = IBV_NODE_CA;
    d->transport_type = IBV_TRANSPORT_IB;
    snprintf(d->name, sizeof(d->name), "%s", DEVICE_NAME);
    snprintf(d->dev_name, sizeof(d->dev_name), "%s", UVERBS_NAME);
    snprintf(d->dev_path, sizeof(d->dev_path), "/sys/class/infiniband_verbs/%s", UVERBS_NAME);
    snprintf(d->ibdev_path, sizeof(d->ibdev_path), "/sys/class/infiniband/%s", DEVICE_NAME);
}

/* Makes a context with a connection.  Returns NULL and sets errno. */
static struct context *context_new(void)
{
    struct context *x = calloc(1, sizeof(*x));
    const char *arm = getenv(PROGRAM_ENV_ARM);
    char why[PROGRAM_WHY_BYTES];
    int error;

    if (!x)
        return null_because(ENOMEM);
    error = connection_open(&x->c, why);
    if (error) {
        fprintf(stderr, "libibverbs of rdmalab: no device: %s (%s=%s)\n", why, PROGRAM_ENV_SOCKET,
                getenv(PROGRAM_ENV_SOCKET) ? getenv(PROGRAM_ENV_SOCKET) : "");
        free(x);
        return null_because(error);
    }
    pthread_mutex_init(&x->objects_lock, NULL);
    x->arms_unpolled = arm && strcmp(arm, PROGRAM_ARM_UNPOLLED) == 0;
    return x;
}

/* ibv_get_device_list(3).  Returns an empty list if there is no lab. */
struct ibv_device **ibv_get_device_list(int *num_devices)
{
    struct ibv_device **list = calloc(2, sizeof(*list));

    if (num_devices)
        *num_devices = 0;
    if (!list)
        return null_because(ENOMEM);
    if (!is_on_host())
        return list;
    redirect_librdmacm();
    pthread_mutex_lock(&device_lock);
    if (!is_known) {
        init_device();
        kept = context_new();
        if (kept)
            memcpy(device_guid, kept->c.device.guid, sizeof(device_guid));
        is_known = kept != NULL;
    }
    if (is_known)
        list[0] = &device.pub;
    if (num_devices)
        *num_devices = is_known;
    pthread_mutex_unlock(&device_lock);
    return list;
}

/* ibv_free_device_list(3) */
void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

/* ibv_get_device_name(3) */
const char *ibv_get_device_name(struct ibv_device *dev)
{
    return dev->name;
}

/* ibv_get_device_guid(3) */
__be64 ibv_get_device_guid(struct ibv_device *dev)
{
    __be64 guid;

    (void)dev;
    memcpy(&guid, device_guid, sizeof(guid));
    return guid;
}

/* ibv_get_device_index(3) */
int ibv_get_device_index(struct ibv_device *dev)
{
    (void)dev;
    return 0;
}

static void set_operations(struct verbs_context *v)
{
    struct ibv_context_ops *ops = &v->context.ops;

    v->sz = sizeof(*v);
    v->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    ops->alloc_mw = memory_alloc_mw;
    ops->dealloc_mw = memory_dealloc_mw;
    ops->bind_mw = post_bind_mw;
    ops->poll_cq = poll_cq;
    ops->req_notify_cq = cq_req_notify;
    ops->post_send = post_send;
    ops->post_recv = post_recv;
    ops->post_srq_recv = post_srq_recv;
    v->query_port = query_port;
    v->query_device_ex = query_device_ex;
    v->alloc_td = memory_alloc_td;
    v->dealloc_td = memory_dealloc_td;
    v->alloc_parent_domain = memory_alloc_parent_domain;
    v->create_cq_ex = cq_create_ex;
    v->create_srq_ex = srq_create_ex;
    v->get_srq_num = srq_number;
    v->create_qp_ex = qp_create_ex;
}

/* Takes over the connection that the first list has made, unless it was made before a fork(). */
static struct context *take_kept(void)
{
    struct context *x;

    pthread_mutex_lock(&device_lock);
    x = kept;
    kept = NULL;
    pthread_mutex_unlock(&device_lock);
    if (x && connection_state(&x->c) == EINVAL) {
        connection_close(&x->c);
        x = NULL;
    }
    return x;
}

/* ibv_open_device(3).  Sets errno: EIO, or the lab's or connect(2)'s. */
struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
    struct context *x = take_kept();

    if (!x)
        x = context_new();
    if (!x)
        return NULL;
    set_operations(&x->v);
    x->v.context.device = dev;
    x->v.context.cmd_fd = x->c.fd;
    x->v.context.async_fd = x->c.async_fd;
    x->v.context.num_comp_vectors = (int)x->c.device.comp_vectors;
    pthread_mutex_init(&x->v.context.mutex, NULL);
    return &x->v.context;
}

/* ibv_close_device(3).  The lab destroys the objects that are left.  Their memory stays, so that
 * later calls with them return EIO.
 */
int ibv_close_device(struct ibv_context *context)
{
    struct context *x = context_of(context);
    const bool is_child = !*x->c.alive;

    connection_close(&x->c);
    if (is_child || x->n_objects > 0)
        return 0;
    for (size_t i = 0; i < OBJECT_GRAVES; i++)
        free(x->graves[i]);
    connection_free(&x->c);
    free(x);
    return 0;
}
