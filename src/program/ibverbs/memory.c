/* SPDX-License-Identifier: MIT */
/* Protection domains, memory regions and memory windows. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "program/ibverbs/internal.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

#define ACCESS_WRITES                                                                              \
    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |                 \
     IBV_ACCESS_MW_BIND)

/* --- Protection domains ----------------------------------------------------------------------- */

/* ibv_alloc_pd(3).  Returns NULL and sets errno. */
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    const struct maker m = MAKER(ALLOC_PD);
    struct context *x = context_of(context);
    struct lib_pd *pd = calloc(1, sizeof(*pd));
    struct program_call call;
    struct program_answer answer;
    int error;

    if (!pd)
        return null_because(ENOMEM);
    call_init_by(&call, PROGRAM_ALLOC_PD, &m);
    error = connection_call(&x->c, &call, &answer, NULL);
    if (error) {
        free(pd);
        return null_because(error);
    }
    object_live(x, &pd->o, PROGRAM_PD, answer.u.alloc_pd.handle);
    pd->pub = (struct ibv_pd){context, (uint32_t)pd->o.handle};
    return &pd->pub;
}

/* A parent domain is a PD of the program alone: the lab does not know it. */
static int dealloc_parent_domain(struct lib_pd *pd)
{
    if (pd->n_children > 0)
        return EBUSY;
    pd->parent->n_children--;
    pd->o.handle = 0;
    object_bury(pd->o.context, pd);
    return 0;
}

/* ibv_dealloc_pd(3).  Returns 0, EBUSY or another errno value. */
int ibv_dealloc_pd(struct ibv_pd *pub)
{
    struct lib_pd *pd = pd_of(pub);
    int error;

    if (!pd)
        return EINVAL;
    if (pd->parent)
        return dealloc_parent_domain(pd);
    if (pd->n_children > 0)
        return EBUSY;
    error = object_destroy(&pd->o, -1);
    if (!error)
        object_bury(pd->o.context, pd);
    return error;
}

struct ibv_td *memory_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
    struct lib_td *td;

    if (attr->comp_mask)
        return null_because(EINVAL);
    td = calloc(1, sizeof(*td));
    if (!td)
        return null_because(ENOMEM);
    td->pub.context = context;
    return &td->pub;
}

int memory_dealloc_td(struct ibv_td *td)
{
    free(td);
    return 0;
}

struct ibv_pd *memory_alloc_parent_domain(struct ibv_context *context,
                                          struct ibv_parent_domain_init_attr *attr)
{
    struct lib_pd *parent = pd_of(attr->pd), *pd;

    if (!parent || parent->o.context != context_of(context))
        return null_because(EINVAL);
    if (attr->comp_mask & ~(uint32_t)IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
        return null_because(EOPNOTSUPP);
    pd = calloc(1, sizeof(*pd));
    if (!pd)
        return null_because(ENOMEM);
    pd->pub = parent->pub;
    pd->o = parent->o;
    pd->o.next = NULL;
    pd->parent = parent;
    parent->n_children++;
    return &pd->pub;
}

/* --- Memory regions --------------------------------------------------------------------------- */

/* Makes the pages present, as pinning them would.  Returns 0, or EFAULT if the program cannot
 * access all of the range as @access says.  A kernel before 5.14 cannot tell.
 */
static int populate(const void *addr, size_t length, unsigned access)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)addr & ~(page - 1);
    const int advice = access & ACCESS_WRITES ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
    char probe = 0;
    void *here = (void *)((uintptr_t)&probe & ~(page - 1));
    uintptr_t end;

    if (length == 0)
        return 0;
    if (__builtin_add_overflow((uintptr_t)addr, length, &end) || end > UINTPTR_MAX - page)
        return EINVAL;
    end = (end + page - 1) & ~(page - 1);
    while (madvise((void *)first, end - first, advice) != 0)
        if (errno != EAGAIN && errno != EINTR)
            return errno == EINVAL && madvise(here, 1, advice) != 0 ? 0 : EFAULT;
    return 0;
}

/* Returns 0 or an errno value.  Clears the flags in *@access that change nothing here. */
static int check_access(unsigned *access)
{
    if (*access & IBV_ACCESS_ON_DEMAND)
        return EOPNOTSUPP;
    *access &= ~(unsigned)(IBV_ACCESS_OPTIONAL_RANGE | IBV_ACCESS_HUGETLB);
    return 0;
}

static int call_reg_mr(struct lib_pd *pd, struct lib_mr *mr, uint64_t iova, const struct maker *m)
{
    struct program_call call;
    struct program_answer answer;
    int error;

    call_init_by(&call, PROGRAM_REG_MR, m);
    call.u.reg_mr.pd = pd->o.handle;
    call.u.reg_mr.addr = (uintptr_t)mr->pub.addr;
    call.u.reg_mr.length = mr->pub.length;
    call.u.reg_mr.iova = iova;
    call.u.reg_mr.access = mr->access;
    error = connection_call(&pd->o.context->c, &call, &answer, NULL);
    if (error)
        return error;
    object_live(pd->o.context, &mr->o, PROGRAM_MR, answer.u.reg_mr.handle);
    mr->pub.handle = (uint32_t)mr->o.handle;
    mr->pub.lkey = answer.u.reg_mr.lkey;
    mr->pub.rkey = answer.u.reg_mr.rkey;
    return 0;
}

/* A range of memory of the program, and its address for peers. */
struct range {
    void *addr;
    size_t length;
    uint64_t iova;
};

static struct ibv_mr *reg_mr(struct ibv_pd *pub, const struct range *r, unsigned access,
                             const struct maker *m)
{
    struct lib_pd *pd = pd_of(pub);
    struct lib_mr *mr;
    int error = pd ? check_access(&access) : EINVAL;

    if (!error)
        error = connection_state(&pd->o.context->c);
    if (!error)
        error = populate(r->addr, r->length, access);
    if (error)
        return null_because(error);
    mr = calloc(1, sizeof(*mr));
    if (!mr)
        return null_because(ENOMEM);
    mr->pub =
        (struct ibv_mr){.context = pub->context, .pd = pub, .addr = r->addr, .length = r->length};
    mr->access = access;
    error = call_reg_mr(pd, mr, r->iova, m);
    if (!error)
        return &mr->pub;
    free(mr);
    return null_because(error);
}

/* ibv_reg_mr(3).  Returns NULL and sets errno: EFAULT for memory that the program cannot access,
 * EOPNOTSUPP for IBV_ACCESS_ON_DEMAND.
 */
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                                unsigned int access)
{
    /* verbs.h makes this of both, if it does not know the flags. */
    const struct maker m = iova == (uintptr_t)addr ? MAKER(REG_MR) : MAKER(REG_MR_IOVA);

    return reg_mr(pd, &(struct range){addr, length, iova}, access, &m);
}

/* ibv_reg_mr(3).  Errors as ibv_reg_mr_iova2(). */
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    const struct maker m = MAKER(REG_MR);

    return reg_mr(pd, &(struct range){addr, length, (uintptr_t)addr}, (unsigned)access, &m);
}

/* ibv_reg_mr_iova(3).  Errors as ibv_reg_mr_iova2(). */
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                               int access)
{
    const struct maker m = MAKER(REG_MR_IOVA);

    return reg_mr(pd, &(struct range){addr, length, iova}, (unsigned)access, &m);
}

/* Checks as libibverbs does, and as registering does. */
static int check_rereg(const struct lib_mr *mr, int flags, struct ibv_pd *pd, const void *addr,
                       size_t length, unsigned *access)
{
    if (!mr || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED))
        return EINVAL;
    if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) && (!length || !addr))
        return EINVAL;
    if (*access && !(flags & IBV_REREG_MR_CHANGE_ACCESS))
        return EINVAL;
    if ((flags & IBV_REREG_MR_CHANGE_PD) && !pd_of(pd))
        return EINVAL;
    return check_access(access);
}

static int call_rereg_mr(struct lib_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
                         unsigned access, struct program_answer *ret)
{
    struct program_call call;

    call_init(&call, PROGRAM_REREG_MR);
    call.u.rereg_mr.mr = mr->o.handle;
    call.u.rereg_mr.flags = (uint32_t)flags;
    if (flags & IBV_REREG_MR_CHANGE_PD)
        call.u.rereg_mr.pd = pd_of(pd)->o.handle;
    if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
        call.u.rereg_mr.addr = (uintptr_t)addr;
        call.u.rereg_mr.length = length;
    }
    if (flags & IBV_REREG_MR_CHANGE_ACCESS)
        call.u.rereg_mr.access = access;
    return connection_call(&mr->o.context->c, &call, ret, NULL);
}

/* ibv_rereg_mr(3).  Returns 0, or a value of enum ibv_rereg_mr_err_code and sets errno. */
int ibv_rereg_mr(struct ibv_mr *pub, int flags, struct ibv_pd *pd, void *addr, size_t length,
                 int access)
{
    struct lib_mr *mr = mr_of(pub);
    unsigned wanted = (unsigned)access;
    struct program_answer answer;
    int error = check_rereg(mr, flags, pd, addr, length, &wanted);

    if (!error && !mr->o.context->c.device.can_rereg)
        error = EOPNOTSUPP;
    if (!error && (flags & IBV_REREG_MR_CHANGE_TRANSLATION))
        error = populate(addr, length, flags & IBV_REREG_MR_CHANGE_ACCESS ? wanted : mr->access);
    if (error) {
        errno = error;
        return IBV_REREG_MR_ERR_INPUT;
    }
    error = call_rereg_mr(mr, flags, pd, addr, length, wanted, &answer);
    if (error) {
        errno = error;
        return IBV_REREG_MR_ERR_CMD;
    }
    if (flags & IBV_REREG_MR_CHANGE_PD)
        pub->pd = pd;
    if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
        pub->addr = addr;
        pub->length = length;
    }
    if (flags & IBV_REREG_MR_CHANGE_ACCESS)
        mr->access = wanted;
    pub->lkey = answer.u.rereg_mr.lkey;
    pub->rkey = answer.u.rereg_mr.rkey;
    return 0;
}

/* ibv_dereg_mr(3).  Returns 0, EBUSY or another errno value. */
int ibv_dereg_mr(struct ibv_mr *pub)
{
    struct lib_mr *mr = mr_of(pub);
    const int error = mr ? object_destroy(&mr->o, -1) : EINVAL;

    if (!error)
        object_bury(mr->o.context, mr);
    return error;
}

/* --- Memory windows --------------------------------------------------------------------------- */

struct ibv_mw *memory_alloc_mw(struct ibv_pd *pub, enum ibv_mw_type type)
{
    const struct maker m = MAKER_INLINE(ALLOC_MW);
    struct lib_pd *pd = pd_of(pub);
    struct lib_mw *mw = pd ? calloc(1, sizeof(*mw)) : NULL;
    struct program_call call;
    struct program_answer answer;
    int error;

    if (!mw)
        return null_because(pd ? ENOMEM : EINVAL);
    call_init_by(&call, PROGRAM_ALLOC_MW, &m);
    call.u.alloc_mw.pd = pd->o.handle;
    call.u.alloc_mw.type = (uint32_t)type;
    error = connection_call(&pd->o.context->c, &call, &answer, NULL);
    if (error) {
        free(mw);
        return null_because(error);
    }
    object_live(pd->o.context, &mw->o, PROGRAM_MW, answer.u.alloc_mw.handle);
    mw->pub = (struct ibv_mw){.context = pub->context,
                              .pd = pub,
                              .rkey = answer.u.alloc_mw.rkey,
                              .handle = (uint32_t)mw->o.handle,
                              .type = type};
    return &mw->pub;
}

int memory_dealloc_mw(struct ibv_mw *pub)
{
    struct lib_mw *mw = mw_of(pub);
    const int error = mw ? object_destroy(&mw->o, -1) : EINVAL;

    if (!error)
        object_bury(mw->o.context, mw);
    return error;
}
