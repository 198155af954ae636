/* relay.c - a slow network between two network namespaces
 *
 * usage: relay NAME NAME DELAY BANDWIDTH
 *
 * Gives each namespace (as `ip netns` names them) a device gg0 and carries
 * packets between these, DELAY microseconds late, BANDWIDTH bytes a second each
 * way (0: as fast as it can). Ends with the first signal, and prints packets
 * and bytes of each way. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST = 1 << 16, /* bytes of a packet */
    QUEUE = 1 << 12,
};

/* One way. */
struct way {
    int from, to;
    struct packet {
        double due;
        size_t n;
        char *bytes;
    } queue[QUEUE];
    size_t first, n;
    double free; /* when the line is, in seconds */
    uint64_t packets, bytes;
};

static volatile sig_atomic_t ended;

static void
end(int signal)
{
    (void)signal;
    ended = 1;
}

static void
die(const char *what)
{
    perror(what);
    exit(1);
}

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A device in the namespace, which the process is in from now on. */
static int
open_device(const char *name)
{
    struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
    char path[256];
    int ns, fd;

    snprintf(path, sizeof(path), "/run/netns/%s", name);
    ns = open(path, O_RDONLY);
    if (ns < 0 || setns(ns, CLONE_NEWNET))
        die(path);
    close(ns);
    fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    strcpy(request.ifr_name, "gg0");
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request))
        die("/dev/net/tun");
    return fd;
}

/* All packets that have come; what finds no room is lost, as elsewhere. */
static void
take(struct way *w, double delay, double bandwidth)
{
    static char bytes[MOST];
    ssize_t n;

    while ((n = read(w->from, bytes, sizeof(bytes))) > 0) {
        struct packet *p = &w->queue[(w->first + w->n) % QUEUE];
        double t = now();

        w->packets++;
        w->bytes += (uint64_t)n;
        if (w->n == QUEUE)
            continue;
        w->free = w->free > t ? w->free : t;
        w->free += bandwidth > 0 ? (double)n / bandwidth : 0;
        *p = (struct packet){ w->free + delay, (size_t)n, malloc((size_t)n) };
        if (!p->bytes)
            die("malloc");
        memcpy(p->bytes, bytes, (size_t)n);
        w->n++;
    }
}

static void
deliver(struct way *w)
{
    while (w->n && w->queue[w->first].due <= now()) {
        struct packet *p = &w->queue[w->first];

        if (write(w->to, p->bytes, p->n) < 0) {
            /* the device is down, or full: lost */
        }
        free(p->bytes);
        w->first = (w->first + 1) % QUEUE;
        w->n--;
    }
}

static void
wait_for(const struct way *a, const struct way *b)
{
    struct pollfd fds[] = { { a->from, POLLIN, 0 }, { b->from, POLLIN, 0 } };
    double t = now(), due = t + 1;
    struct timespec left = { 0, 0 };

    if (a->n && a->queue[a->first].due < due)
        due = a->queue[a->first].due;
    if (b->n && b->queue[b->first].due < due)
        due = b->queue[b->first].due;
    if (due > t)
        left.tv_nsec = (long)((due - t) * 0.999e9);
    (void)ppoll(fds, 2, &left, NULL);
}

int
main(int argc, char **argv)
{
    static struct way ways[2];
    double delay, bandwidth;

    if (argc != 5) {
        fputs("usage: relay NAME NAME DELAY BANDWIDTH\n", stderr);
        return 2;
    }
    delay = atof(argv[3]) * 1e-6;
    bandwidth = atof(argv[4]);
    ways[0].from = ways[1].to = open_device(argv[1]);
    ways[1].from = ways[0].to = open_device(argv[2]);
    signal(SIGINT, end);
    signal(SIGTERM, end);
    while (!ended) {
        wait_for(&ways[0], &ways[1]);
        for (int i = 0; i < 2; i++) {
            take(&ways[i], delay, bandwidth);
            deliver(&ways[i]);
        }
    }
    for (int i = 0; i < 2; i++)
        printf("%s to %s: %llu packets, %llu bytes\n", argv[1 + i], argv[2 - i],
               (unsigned long long)ways[i].packets,
               (unsigned long long)ways[i].bytes);
    return 0;
}
