/* fake_memory.c - CUDA's run-time in the host's memory: devices, memory */
#define _DEFAULT_SOURCE
#include <config.h>

#include "cuda/fake_parts.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* ---- the machine -------------------------------------------------------- */

enum {
    MAX_DEVICES = 16
};

static struct {
    int devices;
    size_t memory[MAX_DEVICES];
    const char *driver; /* "none", "old", or NULL */
    long lost, cut, slow;
    int gpu; /* which is lost; or FAKE_ALL */
    bool no_blas;
} machine;
/* Counts of each device: lost= and cut= are compared with them. */
static long launches[MAX_DEVICES], copies_in[MAX_DEVICES];

static pthread_mutex_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local char words[128];
static const char *given;

static long
number(const char *text, const char *key, long otherwise)
{
    const char *p = text ? strstr(text, key) : NULL;

    return p ? strtol(p + strlen(key), NULL, 10) : otherwise;
}

static void
read_memory(const char *text)
{
    size_t first = (size_t)number(text, "memory=", 256) << 20;
    const char *more = text ? strstr(text, "memory=") : NULL;

    more = more ? more + strcspn(more, ", ") : NULL;
    for (int i = 0; i < MAX_DEVICES; i++) {
        machine.memory[i] = first;
        if (i > 0 && more && *more == ',')
            machine.memory[i] = (size_t)strtol(more + 1, NULL, 10) << 20;
    }
}

static void
read_machine(void)
{
    const char *text = given ? given : getenv("GG_FAKE_CUDA");
    pthread_mutexattr_t recursive;

    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &recursive);
    machine.devices = (int)number(text, "devices=", 1);
    read_memory(text);
    machine.gpu = (int)number(text, "gpu=", FAKE_ALL);
    machine.lost = number(text, "lost=", -1);
    machine.cut = number(text, "cut=", -1);
    machine.slow = number(text, "slow=", 0);
    machine.no_blas = text && strstr(text, "blas=none");
    if (text && strstr(text, "driver=none"))
        machine.driver = "no NVIDIA driver is running";
    else if (text && strstr(text, "driver=old"))
        machine.driver = "the NVIDIA driver is too old: it knows CUDA 11.4, "
                         "and this build needs 13.0";
}

void
fake_machine(const char *text)
{
    given = text;
}

void
fake_lose(bool lost)
{
    fake_lose_one(FAKE_ALL, lost);
}

void
fake_lose_one(int device, bool lost)
{
    machine.gpu = device;
    machine.lost = lost ? 0 : -1;
}

bool
fake_has_blas(void)
{
    return !machine.no_blas;
}

void
fake_delay(void)
{
    struct timespec t = { machine.slow / 1000, machine.slow % 1000 * 1000000 };

    if (machine.slow > 0)
        nanosleep(&t, NULL);
}

static bool
has_come(long limit, const long *counts, int device)
{
    long n = 0;

    for (int i = 0; i < MAX_DEVICES; i++)
        n += machine.gpu == FAKE_ALL || i == device ? counts[i] : 0;
    return limit >= 0 && n >= limit;
}

bool
fake_is_lost(int device)
{
    if ((machine.gpu != FAKE_ALL && machine.gpu != device) ||
        (!has_come(machine.lost, launches, device) &&
         !has_come(machine.cut, copies_in, device)))
        return false;
    snprintf(words, sizeof(words), "an illegal memory access was encountered");
    return true;
}

void
fake_count_launch(int device)
{
    fake.launches++;
    launches[device]++;
}

void
fake_count_copy_in(int device)
{
    fake.copies_in++;
    copies_in[device]++;
}

enum cuda_status
fake_enter_on(int device)
{
    pthread_once(&once, read_machine);
    pthread_mutex_lock(&lock);
    return fake_is_lost(device) ? CUDA_FAILED : CUDA_OK;
}

static _Thread_local int current;

int
fake_current(void)
{
    return current;
}

enum cuda_status
fake_enter(void)
{
    return fake_enter_on(current);
}

enum cuda_status
fake_leave(enum cuda_status st)
{
    pthread_mutex_unlock(&lock);
    return st;
}

enum cuda_status
fake_fail(const char *what)
{
    snprintf(words, sizeof(words), "%s", what);
    return CUDA_FAILED;
}

const char *
cuda_error(void)
{
    return words;
}

enum cuda_status
cuda_count(int *n)
{
    pthread_once(&once, read_machine);
    *n = 0;
    if (machine.driver) {
        fake_fail(machine.driver);
        return CUDA_NO_DRIVER;
    }
    *n = machine.devices;
    if (*n > 0)
        return CUDA_OK;
    fake_fail("the NVIDIA driver shows no device (see CUDA_VISIBLE_DEVICES)");
    return CUDA_NO_DEVICE;
}

enum cuda_status
cuda_properties(int device, struct cuda_properties *out)
{
    if (device < 0 || device >= machine.devices)
        return fake_fail("invalid device ordinal");
    *out = (struct cuda_properties){
        .name = "a GPU of the tests",
        .bus_id = "0000:00:00.0",
        .arch = 90,
        .n_sm = 2,
        .max_shared = (size_t)227 << 10,
        .total = machine.memory[device],
    };
    return CUDA_OK;
}

enum cuda_status
cuda_use(int device)
{
    enum cuda_status st = fake_enter_on(device);

    if (device < 0 || device >= machine.devices)
        return fake_leave(fake_fail("invalid device ordinal"));
    current = device;
    return fake_leave(st);
}

/* ---- memory ------------------------------------------------------------- */

enum {
    MAX_PIECES = 4096
};

struct piece {
    char *p;
    size_t size;
    int device; /* or -1: pinned */
    bool foreign;
};

static struct piece pieces[MAX_PIECES];
static int depth; /* of fake_open_memory() */
enum {
    NOBODY = -2
};
static int open_for = NOBODY; /* whose memory can be touched */

static struct piece *
piece_of(const void *p)
{
    for (int i = 0; i < MAX_PIECES; i++)
        if (pieces[i].p && (const char *)p >= pieces[i].p &&
            (const char *)p < pieces[i].p + pieces[i].size)
            return &pieces[i];
    return NULL;
}

enum fake_memory
fake_memory_of(const void *p)
{
    const struct piece *piece;
    enum fake_memory kind;

    fake_enter();
    piece = piece_of(p);
    kind = !piece ? FAKE_PAGED : piece->device < 0 ? FAKE_PINNED : FAKE_DEVICE;
    fake_leave(CUDA_OK);
    return kind;
}

void
fake_allow(int device)
{
    assert(depth > 0 || device == NOBODY);
    if (open_for == device)
        return;
    open_for = device;
    for (int i = 0; i < MAX_PIECES; i++)
        if (pieces[i].p && pieces[i].device >= 0)
            mprotect(pieces[i].p, pieces[i].size,
                     device == FAKE_ALL || device == pieces[i].device
                         ? PROT_READ | PROT_WRITE
                         : PROT_NONE);
}

void
fake_open_memory(void)
{
    depth++;
}

void
fake_close_memory(void)
{
    if (--depth == 0)
        fake_allow(NOBODY);
}

static struct piece *
new_piece(void *p, size_t size, int device, bool foreign)
{
    for (int i = 0; i < MAX_PIECES; i++)
        if (!pieces[i].p) {
            pieces[i] = (struct piece){ p, size, device, foreign };
            return &pieces[i];
        }
    abort();
}

static size_t
used(int device)
{
    size_t n = 0;

    for (int i = 0; i < MAX_PIECES; i++)
        if (pieces[i].p && pieces[i].device == device)
            n += pieces[i].size;
    return n;
}

enum cuda_status
cuda_memory(size_t *available, size_t *total)
{
    enum cuda_status st = fake_enter();

    *total = machine.memory[current];
    *available = *total - used(current);
    return fake_leave(st);
}

enum cuda_status
cuda_malloc(size_t size, void **out)
{
    enum cuda_status st = fake_enter();
    size_t pages = (size + 4095) / 4096 * 4096;
    void *p;

    if (st != CUDA_OK)
        return fake_leave(st);
    if (fake_is_capturing())
        return fake_leave(fake_fail("operation not permitted when stream is "
                                    "capturing"));
    if (pages > machine.memory[current] - used(current)) {
        fake_fail("out of memory");
        return fake_leave(CUDA_NOMEM);
    }
    p = mmap(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
             -1, 0);
    assert(p != MAP_FAILED);
    memset(p, 0xff, pages); /* a float of that is NaN */
    if (open_for != current && open_for != FAKE_ALL)
        mprotect(p, pages, PROT_NONE);
    new_piece(p, pages, current, false);
    fake.allocated += pages;
    *out = p;
    return fake_leave(st);
}

void
cuda_free(void *p)
{
    struct piece *piece;

    if (!p)
        return;
    fake_enter();
    fake_flush_all();
    piece = piece_of(p);
    assert(piece && piece->p == p && piece->device >= 0);
    munmap(piece->p, piece->size);
    fake.allocated -= piece->size;
    piece->p = NULL;
    fake_leave(CUDA_OK);
}

enum cuda_status
cuda_host_malloc(size_t size, void **out)
{
    enum cuda_status st = fake_enter();

    *out = aligned_alloc(256, (size + 255) / 256 * 256);
    assert(*out);
    new_piece(*out, size, -1, false);
    return fake_leave(st);
}

void
cuda_host_free(void *p)
{
    struct piece *piece;

    if (!p)
        return;
    fake_enter();
    fake_flush_all();
    piece = piece_of(p);
    assert(piece && piece->p == p && piece->device < 0 && !piece->foreign);
    free(p);
    piece->p = NULL;
    fake_leave(CUDA_OK);
}

enum cuda_status
cuda_host_register(void *p, size_t size)
{
    enum cuda_status st = fake_enter();

    new_piece(p, size, -1, true);
    return fake_leave(st);
}

void
cuda_host_unregister(void *p)
{
    struct piece *piece;

    fake_enter();
    fake_flush_all();
    piece = piece_of(p);
    assert(piece && piece->p == p && piece->foreign);
    piece->p = NULL;
    fake_leave(CUDA_OK);
}

/* Only counts: copies that can be direct need not be. */
void
cuda_open_peer(int device, int other)
{
    fake_enter_on(device);
    assert(device != other);
    fake.peers++;
    fake_leave(CUDA_OK);
}

/* ---- products ----------------------------------------------------------- */

static float
element(const void *p, enum ggml_type type, int64_t i)
{
    if (type == GGML_TYPE_F32)
        return ((const float *)p)[i];
    return type == GGML_TYPE_F16
               ? ggml_fp16_to_fp32(((const ggml_fp16_t *)p)[i])
               : ggml_bf16_to_fp32(((const ggml_bf16_t *)p)[i]);
}

void
fake_gemm(const struct cuda_gemm *g)
{
    for (int b = 0; b < g->n_batch; b++)
        for (int i = 0; i < g->n; i++)
            for (int j = 0; j < g->m; j++) {
                float *to = g->c + b * g->stride_c + i * g->ld_c + j;
                float sum = g->add ? *to : 0;

                for (int k = 0; k < g->k; k++)
                    sum += element(g->a, g->type,
                                   b * g->stride_a +
                                       cuda_gemm_at(g->a_by_k, g->ld_a, j, k)) *
                           element(g->b, g->type,
                                   b * g->stride_b +
                                       cuda_gemm_at(g->b_by_k, g->ld_b, i, k));
                *to = sum;
            }
}
