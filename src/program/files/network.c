/* SPDX-License-Identifier: MIT */
/* Names, addresses and TCP ports for programs on hosts of a lab.
 *
 * TCP and UDP do not go through the lab: all programs are processes of one machine.  But a program
 * uses one name or address for both, as on a real host: perftest exchanges keys over TCP with the
 * host to which it connects by rdma_cm.  So here
 *
 *	getaddrinfo(), gethostbyname()  know the names of the hosts of the lab
 *	connect(), bind(), sendto()     take an address of a host
 *	getsockname(), getpeername(), accept(), accept4(), recvfrom()
 *	                                return addresses of hosts
 *	getifaddrs()                    also lists the addresses of the program's host, because
 *	                                libfabric looks there for those that have an RDMA device
 *
 * Each host has an address of this machine in the place of its own ones.  The lab writes all of
 * them into the file PROGRAM_HOSTS_FILE.
 *
 * SIMPLIFIED: a server that listens at any address can be reached by the addresses of all hosts.  A
 * connection to an IPv6 address of a host is one to its IPv4 address.  sendmsg() and recvmsg() of
 * UDP, and gethostbyname_r(), do not know the hosts.
 *
 * bind() also sets SO_REUSEADDR.  A TCP connection that was closed keeps its port for a minute
 * (TIME_WAIT), at the end that closed it first, and bind() then refuses the port to a server that
 * does not set the option.  Programs of tutorials seldom set it.  A test that runs such a server
 * twice would fail the second time.  A port on which another program listens is still refused.
 * [socket(7), SO_REUSEADDR]
 */
#undef _GNU_SOURCE /* with it glibc declares bind() and connect() with a union of all addresses */
#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program/files/next.h"

#define LINE_BYTES 128
#define PATH_BYTES 4096
#define SOCKET     "/" PROGRAM_SOCKET_FILE
#define HOSTS      "/" PROGRAM_HOSTS_FILE
#define INTERFACE  "rdl0"
#define OWN_MAX    4u /* addresses of a host */

#define FOUND_AT_START(X)                                                                          \
    X(bind)                                                                                        \
    X(connect)                                                                                     \
    X(getsockname)                                                                                 \
    X(getpeername)                                                                                 \
    X(accept)                                                                                      \
    X(accept4) X(sendto) X(recvfrom) X(getaddrinfo) X(gethostbyname) X(getifaddrs) X(freeifaddrs)
FIND_AT_START(FOUND_AT_START)

/* --- The hosts of the lab --------------------------------------------------------------------- */

/* A line of the file. */
struct host_line {
    char address[LINE_BYTES], name[LINE_BYTES], here[LINE_BYTES];
};

/* Bytes of the file that were read. */
struct hosts_piece {
    char bytes[512];
    ssize_t at, n;
};

/* Returns true to end the search. */
typedef bool is_wanted(const struct host_line *line, void *ctx);

static bool read_line(const char *text, struct host_line *ret)
{
    return sscanf(text, "%127s %127s %127s", ret->address, ret->name, ret->here) == 3;
}

/* Opens the file, or returns -1: then the lab has ended, or there is none. */
static int open_hosts(void)
{
    const char *socket = getenv(PROGRAM_ENV_SOCKET);
    const size_t n = socket ? strlen(socket) : 0, end = sizeof(SOCKET) - 1;
    char path[PATH_BYTES];

    if (n < end || n >= sizeof(path) || strcmp(socket + n - end, SOCKET) != 0)
        return -1;
    memcpy(path, socket, n - end);
    memcpy(path + n - end, HOSTS, sizeof(HOSTS));
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

/* Reads the next byte of @fd, of which @block is a part.  Returns false at the end. */
static bool next_byte(int fd, struct hosts_piece *block, char *ret)
{
    if (block->at == block->n) {
        block->n = syscall(SYS_read, fd, block->bytes, sizeof(block->bytes));
        block->at = 0;
    }
    if (block->n <= 0)
        return false;
    *ret = block->bytes[block->at++];
    return true;
}

/* Looks through the file.  Returns true if a line is wanted.  It is called in connect(), which may
 * be called in a signal handler: so there is no memory of malloc().  read() and close() would be
 * points at which a thread is cancelled, and getsockname() is none.
 */
static bool search(is_wanted *wanted, void *ctx)
{
    const int before = errno, fd = open_hosts();
    struct hosts_piece block = {.n = 0};
    struct host_line line;
    char text[LINE_BYTES], byte;
    size_t n = 0;
    bool found = false;

    while (fd >= 0 && !found && next_byte(fd, &block, &byte)) {
        if (byte != '\n' && n < sizeof(text) - 1) {
            text[n++] = byte;
            continue;
        }
        text[n] = '\0';
        n = 0;
        found = read_line(text, &line) && wanted(&line, ctx);
    }
    if (fd >= 0)
        (void)syscall(SYS_close, fd);
    errno = before;
    return found;
}

/* --- Addresses -------------------------------------------------------------------------------- */

/* A socket address of IP, of either version. */
union ip_address {
    struct sockaddr head;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

#define MAPPED_AT 12 /* of the IPv4 address in ::ffff:a.b.c.d */

static const uint8_t mapped[MAPPED_AT] = {[10] = 0xff, [11] = 0xff};

/* Returns true if @fd is a socket of IP of this machine: a preloaded library may have others. */
static bool is_ip(int fd, int *ret_type)
{
    int domain;
    socklen_t n = sizeof(domain), m = sizeof(*ret_type);

    return syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) == 0 &&
           syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, ret_type, &m) == 0 &&
           (domain == AF_INET || domain == AF_INET6);
}

/* Copies the address @from of @n bytes.  Returns false if it is none of IP. */
static bool copy(const struct sockaddr *from, socklen_t n, union ip_address *ret)
{
    const int family = from && n >= sizeof(from->sa_family) ? from->sa_family : AF_UNSPEC;
    const size_t bytes = family == AF_INET    ? sizeof(ret->v4)
                         : family == AF_INET6 ? sizeof(ret->v6)
                                              : 0;

    if (bytes == 0 || n < bytes)
        return false;
    memcpy(ret, from, bytes);
    return true;
}

/* Returns the IPv4 address of @a, or NULL if it has none. */
static struct in_addr *ipv4_of(union ip_address *a)
{
    if (a->head.sa_family == AF_INET)
        return &a->v4.sin_addr;
    if (memcmp(&a->v6.sin6_addr, mapped, sizeof(mapped)) != 0)
        return NULL;
    return (struct in_addr *)(void *)&a->v6.sin6_addr.s6_addr[MAPPED_AT];
}

/* Sets the address of @a to an IPv4 address. */
static void set_ipv4(union ip_address *a, struct in_addr to)
{
    if (a->head.sa_family == AF_INET6) {
        memcpy(&a->v6.sin6_addr, mapped, sizeof(mapped));
        a->v6.sin6_scope_id = 0;
    }
    *ipv4_of(a) = to;
}

/* An address that is looked for, and what stands for it. */
struct looked_up {
    union ip_address *a;
    struct in_addr found;
};

static bool is_of_host(const struct host_line *line, void *ctx)
{
    struct looked_up *k = ctx;
    const struct in_addr *v4 = ipv4_of(k->a);
    struct in6_addr of_line;
    const bool is_v4 = inet_pton(AF_INET, line->address, &of_line) == 1;

    if (is_v4 ? !v4 || memcmp(v4, &of_line, sizeof(*v4)) != 0
              : inet_pton(AF_INET6, line->address, &of_line) != 1 ||
                    k->a->head.sa_family != AF_INET6 ||
                    memcmp(&k->a->v6.sin6_addr, &of_line, sizeof(of_line)) != 0)
        return false;
    return inet_pton(AF_INET, line->here, &k->found) == 1;
}

static bool is_here(const struct host_line *line, void *ctx)
{
    struct looked_up *k = ctx;
    const struct in_addr *v4 = ipv4_of(k->a);
    struct in_addr here;

    return v4 && inet_pton(AF_INET, line->here, &here) == 1 && v4->s_addr == here.s_addr &&
           inet_pton(AF_INET, line->address, &k->found) == 1;
}

static bool is_own(const struct host_line *line, void *ctx)
{
    struct looked_up *k = ctx;
    const char *host = getenv(PROGRAM_ENV_HOST);

    return host && strcmp(line->name, host) == 0 && inet_pton(AF_INET, line->here, &k->found) == 1;
}

/* Puts the address of this machine in the place of that of a host, for socket @fd.  Returns false
 * if @a is none.
 */
static bool go_home(int fd, union ip_address *a)
{
    struct looked_up k = {.a = a};
    const int off = 0;

    if (!search(is_of_host, &k))
        return false;
    if (a->head.sa_family == AF_INET6) /* the address is one of IPv4 in the place of one of IPv6 */
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    set_ipv4(a, k.found);
    return true;
}

/* Puts the address of a host in the place of that of this machine, if it is one.  @n is the room
 * that the program has given.
 */
static void go_abroad(struct sockaddr *address, socklen_t room)
{
    union ip_address a;
    struct looked_up k = {.a = &a};

    if (!is_on_host() || !copy(address, room, &a) || !search(is_here, &k))
        return;
    set_ipv4(&a, k.found);
    memcpy(address, &a, a.head.sa_family == AF_INET ? sizeof(a.v4) : sizeof(a.v6));
}

/* Binds a socket that is about to connect to a host to the address of its own host, unless it is
 * bound: so that the server sees who calls.
 */
static void bind_own(int fd, sa_family_t family)
{
    const int yes = 1;
    union ip_address a = {.head.sa_family = family};
    struct looked_up k = {.a = &a};
    union ip_address bound;
    socklen_t n = sizeof(bound);

    if (syscall(SYS_getsockname, fd, &bound, &n) != 0 || bound.v4.sin_port != 0 ||
        !search(is_own, &k))
        return;
    set_ipv4(&a, k.found);
    (void)setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof(yes));
    (void)syscall(SYS_bind, fd, &a, family == AF_INET ? sizeof(a.v4) : sizeof(a.v6));
}

/* bind(2) */
PUBLIC int bind(int fd, const struct sockaddr *address, socklen_t n)
{
    const int before = errno, on = 1;
    union ip_address a;
    int type;
    REAL(bind, int, int, const struct sockaddr *, socklen_t);

    if (!real)
        return -1;
    if (is_on_host() && is_ip(fd, &type)) {
        if (type == SOCK_STREAM)
            (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        if (copy(address, n, &a) && go_home(fd, &a))
            address = &a.head;
    }
    errno = before;
    return real(fd, address, n);
}

/* connect(2) */
PUBLIC int connect(int fd, const struct sockaddr *address, socklen_t n)
{
    const int before = errno;
    union ip_address a;
    int type;
    REAL(connect, int, int, const struct sockaddr *, socklen_t);

    if (!real)
        return -1;
    if (is_on_host() && is_ip(fd, &type) && copy(address, n, &a) && go_home(fd, &a)) {
        bind_own(fd, a.head.sa_family);
        address = &a.head;
    }
    errno = before;
    return real(fd, address, n);
}

/* Returns the bytes of @address that were filled in. */
static socklen_t filled_in(const struct sockaddr *address, const socklen_t *n, socklen_t room)
{
    return !address || !n ? 0 : *n < room ? *n : room;
}

/* getsockname(2) and getpeername(2) */
#define NAME(function)                                                                             \
    PUBLIC int function(int fd, struct sockaddr *address, socklen_t *n)                            \
    {                                                                                              \
        const socklen_t room = n ? *n : 0;                                                         \
        REAL(function, int, int, struct sockaddr *, socklen_t *);                                  \
        const int result = real ? real(fd, address, n) : -1;                                       \
                                                                                                   \
        if (result == 0)                                                                           \
            go_abroad(address, filled_in(address, n, room));                                       \
        return result;                                                                             \
    }
NAME(getsockname)
NAME(getpeername)

/* accept(2) */
PUBLIC int accept(int fd, struct sockaddr *address, socklen_t *n)
{
    const socklen_t room = address && n ? *n : 0;
    REAL(accept, int, int, struct sockaddr *, socklen_t *);
    const int result = real ? real(fd, address, n) : -1;

    if (result >= 0)
        go_abroad(address, filled_in(address, n, room));
    return result;
}

/* accept4(2), which glibc declares for _GNU_SOURCE alone */
PUBLIC int accept4(int fd, struct sockaddr *address, socklen_t *n, int flags);
PUBLIC int accept4(int fd, struct sockaddr *address, socklen_t *n, int flags)
{
    const socklen_t room = address && n ? *n : 0;
    REAL(accept4, int, int, struct sockaddr *, socklen_t *, int);
    const int result = real ? real(fd, address, n, flags) : -1;

    if (result >= 0)
        go_abroad(address, filled_in(address, n, room));
    return result;
}

/* sendto(2) */
PUBLIC ssize_t sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to,
                      socklen_t to_n)
{
    const int before = errno;
    union ip_address a;
    int type;
    REAL(sendto, ssize_t, int, const void *, size_t, int, const struct sockaddr *, socklen_t);

    if (!real)
        return -1;
    if (is_on_host() && copy(to, to_n, &a) && is_ip(fd, &type) && go_home(fd, &a)) {
        bind_own(fd, a.head.sa_family);
        to = &a.head;
    }
    errno = before;
    return real(fd, bytes, n, flags, to, to_n);
}

/* recvfrom(2) */
PUBLIC ssize_t recvfrom(int fd, void *bytes, size_t n, int flags, struct sockaddr *from,
                        socklen_t *from_n)
{
    const socklen_t room = from && from_n ? *from_n : 0;
    REAL(recvfrom, ssize_t, int, void *, size_t, int, struct sockaddr *, socklen_t *);
    const ssize_t result = real ? real(fd, bytes, n, flags, from, from_n) : -1;

    if (result >= 0)
        go_abroad(from, filled_in(from, from_n, room));
    return result;
}

/* --- Names ------------------------------------------------------------------------------------ */

/* A name, and its address of @family as text. */
struct named {
    const char *name;
    int family;
    char address[LINE_BYTES];
};

static bool has_name(const struct host_line *line, void *ctx)
{
    struct named *k = ctx;
    struct in6_addr ignored;

    if (strcmp(line->name, k->name) != 0 || inet_pton(k->family, line->address, &ignored) != 1)
        return false;
    memcpy(k->address, line->address, sizeof(k->address));
    return true;
}

/* Returns true if @name is a host of the lab. */
static bool look_up(const char *name, int family, struct named *ret)
{
    *ret = (struct named){.name = name, .family = family == AF_INET6 ? AF_INET6 : AF_INET};
    return name && is_on_host() && search(has_name, ret);
}

/* getaddrinfo(3) */
PUBLIC int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret)
{
    struct named host;
    REAL(getaddrinfo, int, const char *, const char *, const struct addrinfo *, struct addrinfo **);

    if (!real)
        return EAI_SYSTEM;
    if (!(hints && hints->ai_flags & AI_NUMERICHOST) &&
        look_up(name, hints ? hints->ai_family : AF_UNSPEC, &host))
        name = host.address;
    return real(name, service, hints, ret);
}

/* gethostbyname(3) */
PUBLIC struct hostent *gethostbyname(const char *name)
{
    struct named host;
    REAL(gethostbyname, struct hostent *, const char *);

    if (!real)
        return NULL;
    return real(look_up(name, AF_INET, &host) ? host.address : name);
}

/* --- Interfaces ------------------------------------------------------------------------------- */

/* The addresses of the program's host, in front of those of the machine. */
struct own_interfaces {
    struct ifaddrs entries[OWN_MAX];
    union ip_address address[OWN_MAX], mask[OWN_MAX];
    char name[sizeof(INTERFACE)];
    unsigned n;
    struct own_interfaces *next; /* in the list of those that are not freed */
};

static struct own_interfaces *lists;
static atomic_flag lists_lock = ATOMIC_FLAG_INIT;

static bool add_own(const struct host_line *line, void *ctx)
{
    const char *host = getenv(PROGRAM_ENV_HOST);
    struct own_interfaces *o = ctx;
    const unsigned i = o->n;

    if (!host || strcmp(line->name, host) != 0 || i == OWN_MAX)
        return false;
    if (inet_pton(AF_INET, line->address, &o->address[i].v4.sin_addr) == 1) {
        o->address[i].head.sa_family = o->mask[i].head.sa_family = AF_INET;
        o->mask[i].v4.sin_addr.s_addr = htonl(0xffffff00u);
    } else if (inet_pton(AF_INET6, line->address, &o->address[i].v6.sin6_addr) == 1) {
        o->address[i].head.sa_family = o->mask[i].head.sa_family = AF_INET6;
        memset(&o->mask[i].v6.sin6_addr, 0xff, 8);
    } else {
        return false;
    }
    o->entries[i].ifa_name = o->name;
    o->entries[i].ifa_flags = IFF_UP | IFF_RUNNING | IFF_BROADCAST | IFF_MULTICAST;
    o->entries[i].ifa_addr = &o->address[i].head;
    o->entries[i].ifa_netmask = &o->mask[i].head;
    if (i > 0)
        o->entries[i - 1].ifa_next = &o->entries[i];
    o->n++;
    return false;
}

static void lock_lists(void)
{
    while (atomic_flag_test_and_set(&lists_lock)) {
    }
}

/* getifaddrs(3) */
PUBLIC int getifaddrs(struct ifaddrs **ret)
{
    struct own_interfaces *o;
    REAL(getifaddrs, int, struct ifaddrs **);
    const int result = real ? real(ret) : -1;

    if (result != 0 || !is_on_host())
        return result;
    o = calloc(1, sizeof(*o));
    if (!o)
        return 0;
    memcpy(o->name, INTERFACE, sizeof(o->name));
    (void)search(add_own, o);
    if (o->n == 0) {
        free(o);
        return 0;
    }
    o->entries[o->n - 1].ifa_next = *ret;
    *ret = &o->entries[0];
    lock_lists();
    o->next = lists;
    lists = o;
    atomic_flag_clear(&lists_lock);
    return 0;
}

/* freeifaddrs(3) */
PUBLIC void freeifaddrs(struct ifaddrs *list)
{
    struct own_interfaces **at = &lists, *o;
    REAL(freeifaddrs, void, struct ifaddrs *);

    lock_lists();
    while (*at && list != &(*at)->entries[0])
        at = &(*at)->next;
    o = *at;
    if (o)
        *at = o->next;
    atomic_flag_clear(&lists_lock);
    if (o)
        list = o->entries[o->n - 1].ifa_next;
    if (real)
        real(list);
    free(o);
}
