/* SPDX-License-Identifier: MIT */
/* Conversions of structures of the kernel, and files of sysfs: librdmacm and providers call them.
 */
#include <fcntl.h>
#include <infiniband/sa.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "program/ibverbs/internal.h"

#define PATH_BYTES 512

void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, struct ib_uverbs_ah_attr *src);
void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, struct ib_uverbs_qp_attr *src);
void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst, struct ib_user_path_rec *src);
void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *dst, struct ibv_sa_path_rec *src);
const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, struct ib_uverbs_ah_attr *src)
{
    memcpy(dst->grh.dgid.raw, src->grh.dgid, sizeof(dst->grh.dgid.raw));
    dst->grh.flow_label = src->grh.flow_label;
    dst->grh.sgid_index = src->grh.sgid_index;
    dst->grh.hop_limit = src->grh.hop_limit;
    dst->grh.traffic_class = src->grh.traffic_class;
    dst->dlid = src->dlid;
    dst->sl = src->sl;
    dst->src_path_bits = src->src_path_bits;
    dst->static_rate = src->static_rate;
    dst->is_global = src->is_global;
    dst->port_num = src->port_num;
}

void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, struct ib_uverbs_qp_attr *src)
{
    dst->qp_state = src->qp_state;
    dst->cur_qp_state = src->cur_qp_state;
    dst->path_mtu = src->path_mtu;
    dst->path_mig_state = src->path_mig_state;
    dst->qkey = src->qkey;
    dst->rq_psn = src->rq_psn;
    dst->sq_psn = src->sq_psn;
    dst->dest_qp_num = src->dest_qp_num;
    dst->qp_access_flags = src->qp_access_flags;
    dst->cap.max_send_wr = src->max_send_wr;
    dst->cap.max_recv_wr = src->max_recv_wr;
    dst->cap.max_send_sge = src->max_send_sge;
    dst->cap.max_recv_sge = src->max_recv_sge;
    dst->cap.max_inline_data = src->max_inline_data;
    ibv_copy_ah_attr_from_kern(&dst->ah_attr, &src->ah_attr);
    ibv_copy_ah_attr_from_kern(&dst->alt_ah_attr, &src->alt_ah_attr);
    dst->pkey_index = src->pkey_index;
    dst->alt_pkey_index = src->alt_pkey_index;
    dst->en_sqd_async_notify = src->en_sqd_async_notify;
    dst->sq_draining = src->sq_draining;
    dst->max_rd_atomic = src->max_rd_atomic;
    dst->max_dest_rd_atomic = src->max_dest_rd_atomic;
    dst->min_rnr_timer = src->min_rnr_timer;
    dst->port_num = src->port_num;
    dst->timeout = src->timeout;
    dst->retry_cnt = src->retry_cnt;
    dst->rnr_retry = src->rnr_retry;
    dst->alt_port_num = src->alt_port_num;
    dst->alt_timeout = src->alt_timeout;
}

/* X(member, type here, type of the kernel): the members with the same name but for @mtu_selector.
 */
#define PATH_MEMBERS(X)                                                                            \
    X(dlid, __be16, __be16)                                                                        \
    X(slid, __be16, __be16)                                                                        \
    X(raw_traffic, int, uint32_t)                                                                  \
    X(flow_label, __be32, __be32)                                                                  \
    X(hop_limit, uint8_t, uint8_t)                                                                 \
    X(traffic_class, uint8_t, uint8_t)                                                             \
    X(reversible, int, uint32_t)                                                                   \
    X(numb_path, uint8_t, uint8_t)                                                                 \
    X(pkey, __be16, __be16)                                                                        \
    X(sl, uint8_t, uint8_t)                                                                        \
    X(mtu_selector, uint8_t, uint8_t)                                                              \
    X(mtu, uint8_t, uint32_t)                                                                      \
    X(rate_selector, uint8_t, uint8_t)                                                             \
    X(rate, uint8_t, uint8_t)                                                                      \
    X(packet_life_time_selector, uint8_t, uint8_t)                                                 \
    X(packet_life_time, uint8_t, uint8_t)                                                          \
    X(preference, uint8_t, uint8_t)

void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst, struct ib_user_path_rec *src)
{
    memcpy(dst->dgid.raw, src->dgid, sizeof(dst->dgid));
    memcpy(dst->sgid.raw, src->sgid, sizeof(dst->sgid));
#define FROM(member, here, there) dst->member = (here)src->member;
    PATH_MEMBERS(FROM)
#undef FROM
}

void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *dst, struct ibv_sa_path_rec *src)
{
    memcpy(dst->dgid, src->dgid.raw, sizeof(src->dgid));
    memcpy(dst->sgid, src->sgid.raw, sizeof(src->sgid));
#define TO(member, here, there) dst->member = (there)src->member;
    PATH_MEMBERS(TO)
#undef TO
}

/* Returns the directory where sysfs is mounted, or that of the environment. */
const char *ibv_get_sysfs_path(void)
{
    const char *path = getenv("SYSFS_PATH");

    return path && path[0] ? path : "/sys";
}

/* Reads a file without its last newline.  Returns the length, or -1 and sets errno. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
    char path[PATH_BYTES];
    ssize_t n;
    int fd;

    if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path))
        return minus_1_because(ENAMETOOLONG);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    n = read(fd, buf, size);
    close(fd);
    if (n > 0 && buf[n - 1] == '\n')
        buf[--n] = '\0';
    else if (n >= 0 && (size_t)n < size)
        buf[n] = '\0';
    else if (n >= 0)
        return minus_1_because(EOVERFLOW);
    return (int)n;
}
