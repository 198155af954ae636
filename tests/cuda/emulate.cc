/* emulate.cc - blocks as loops, threads as fibers */
#include "cuda/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define MOST_THREADS 1024
#define MOST_ARRAYS  32
#define MOST_COPIES  256
#define STACK        ((size_t)256 << 10)
#define STACKS_APART 832  /* so that they begin in different sets of a cache */
#define LEFT         4096 /* of it, at most, by the frame that never returns */

int emulate_order;
long emulate_launches;
size_t emulate_most_shared = (size_t)227 << 10;
struct emulate_place emulate_at;

#if defined(__x86_64__)
/* From one stack to another, without the system calls of swapcontext(). */
typedef void *place_t;

extern "C" void
emulate_switch(place_t *from, place_t to);
__asm__(".text\n"
        ".globl emulate_switch\n"
        ".hidden emulate_switch\n"
        ".type emulate_switch, @function\n"
        "emulate_switch:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\n"
        "mov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\n"
        "ret\n"
        ".size emulate_switch, .-emulate_switch\n"
        ".section .note.GNU-stack, \"\", @progbits\n"
        ".text\n");

static void
switch_to(place_t *from, place_t *to)
{
    emulate_switch(from, *to);
}

/* A place at which f begins, on an empty stack. */
static void
begin_at(place_t *p, char *stack, size_t size, void (*f)(void))
{
    void **top = (void **)(void *)(stack + size) - 2;

    *top = (void *)f; /* where emulate_switch() returns to */
    *p = top - 6;     /* the registers that it takes from there */
}
#else
typedef ucontext_t place_t;

static void
switch_to(place_t *from, place_t *to)
{
    swapcontext(from, to);
}

static void
begin_at(place_t *p, char *stack, size_t size, void (*f)(void))
{
    getcontext(p);
    p->uc_stack.ss_sp = stack;
    p->uc_stack.ss_size = size;
    p->uc_link = NULL;
    makecontext(p, f, 0);
}
#endif

enum waiting {
    FOR_NOTHING,
    FOR_BLOCK,
    FOR_WARP,
    DONE
};

struct copy {
    void *to;
    const void *from;
    int group;
};

struct fiber {
    place_t place;
    char *stack;
    void *fake_stack;
    enum waiting waiting;
    long phase; /* of the barrier that it waits at */
    int n_copies, group;
    int parity; /* which of the warp's slots are next */
    int any_parity;
    int syncs; /* how often it called cuda_grid_dependency_sync() */
    struct copy copies[MOST_COPIES];
};

struct warp {
    unsigned arrived;
    long phase;
    char slots[2][LANES][EMULATE_PUT];
};

static struct fiber fibers[MOST_THREADS];
static struct warp warps[MOST_THREADS / LANES];
static struct fiber *running;
static place_t scheduler;

/* The block that runs. */
static struct {
    const char *name;
    unsigned threads, arrived, done;
    bool any[2]; /* of this time and the next */
    long phase;
    void (*thread)(void *arg);
    void *arg;
    struct {
        const void *key;
        void *data;
        size_t size;
    } arrays[MOST_ARRAYS];
    int n_arrays;
    char *bytes;
    size_t n_bytes;
} block;

static void
fail(const char *what)
{
    fprintf(stderr, "kernel %s: %s\n", block.name, what);
    abort();
}

#if defined(__SANITIZE_ADDRESS__)
static const void *scheduler_stack;
static size_t scheduler_size;
#endif

static void
to_scheduler(bool for_good)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(for_good ? NULL : &running->fake_stack,
                                   scheduler_stack, scheduler_size);
#else
    (void)for_good;
#endif
    switch_to(&running->place, &scheduler);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(running->fake_stack, &scheduler_stack,
                                    &scheduler_size);
#endif
}

static void
finish_copies(struct fiber *f, int up_to_group)
{
    int kept = 0;

    for (int i = 0; i < f->n_copies; i++)
        if (f->copies[i].group <= up_to_group)
            memcpy(f->copies[i].to, f->copies[i].from, 16);
        else
            f->copies[kept++] = f->copies[i];
    f->n_copies = kept;
}

static void
begin_fiber(void)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(NULL, &scheduler_stack, &scheduler_size);
#endif
    block.thread(block.arg);
    if (running->syncs != 1)
        fail("a thread does not call cuda_grid_dependency_sync() once");
    running->waiting = DONE;
    block.done++;
    to_scheduler(true);
}

static void
init_fiber(struct fiber *f)
{
    size_t used = STACK - (size_t)(f - fibers) % 64 * STACKS_APART;

    if (!f->stack)
        f->stack = (char *)mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (f->stack == MAP_FAILED)
        fail("no memory for stacks");
#if defined(__SANITIZE_ADDRESS__)
    ASAN_UNPOISON_MEMORY_REGION(f->stack + used - LEFT, LEFT);
#endif
    begin_at(&f->place, f->stack, used, begin_fiber);
    f->waiting = FOR_NOTHING;
    f->n_copies = f->group = f->parity = f->any_parity = f->syncs = 0;
}

void
emulate_grid_dependency_sync(void)
{
    running->syncs++;
}

static bool
may_run(const struct fiber *f, unsigned i)
{
    if (f->waiting == FOR_BLOCK)
        return f->phase != block.phase;
    if (f->waiting == FOR_WARP)
        return f->phase != warps[i / LANES].phase;
    return f->waiting == FOR_NOTHING;
}

static void
run_fiber(struct fiber *f, unsigned i)
{
    emulate_at.thread = i;
    f->waiting = FOR_NOTHING;
    running = f;
#if defined(__SANITIZE_ADDRESS__)
    void *fake;

    __sanitizer_start_switch_fiber(&fake, f->stack, STACK);
#endif
    switch_to(&scheduler, &f->place);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

/* The i-th of n, in the order that was asked for. */
static unsigned
in_order(unsigned i, unsigned n)
{
    if (emulate_order == 0)
        return i;
    if (emulate_order == 1)
        return n - 1 - i;
    if (n % 7919 == 0) /* a prime */
        return i;
    return (unsigned)(((uint64_t)i * 7919 + 13) % n);
}

static void
run_block(void)
{
    block.arrived = block.done = 0;
    block.phase = 0;
    block.any[0] = block.any[1] = false;
    memset(warps, 0, sizeof(warps));
    for (unsigned i = 0; i < block.threads; i++)
        init_fiber(&fibers[i]);
    while (block.done < block.threads) {
        bool progress = false;

        for (unsigned j = 0; j < block.threads; j++) {
            unsigned i = in_order(j, block.threads);

            if (!may_run(&fibers[i], i))
                continue;
            run_fiber(&fibers[i], i);
            progress = true;
        }
        if (!progress)
            fail("some threads wait where others never come");
    }
}

static void
clear_shared(void)
{
    for (int i = 0; i < block.n_arrays; i++)
        free(block.arrays[i].data);
    block.n_arrays = 0;
    free(block.bytes);
    block.bytes = NULL;
}

void
emulate_blocks(struct cuda_launch_config config, const char *name,
               void (*thread)(void *arg), void *arg)
{
    block.name = name;
    if (config.blocks == 0 || config.blocks > 0x7fffffff ||
        config.threads == 0 || config.threads > MOST_THREADS ||
        config.threads % LANES != 0 || config.shared > emulate_most_shared)
        fail("a launch that no device takes");
    emulate_launches++;
    block.threads = config.threads;
    block.n_bytes = config.shared;
    block.thread = thread;
    block.arg = arg;
    for (unsigned i = 0; i < config.blocks; i++) {
        emulate_at.block = in_order(i, config.blocks);
        emulate_at.blocks = config.blocks;
        emulate_at.threads = config.threads;
        run_block();
        clear_shared();
    }
}

static void *
noise(size_t size)
{
    void *p = aligned_alloc(16, (size + 15) & ~(size_t)15);

    if (!p)
        fail("no memory");
    memset(p, 0xff, size);
    return p;
}

void *
emulate_shared(const void *key, size_t size)
{
    for (int i = 0; i < block.n_arrays; i++)
        if (block.arrays[i].key == key)
            return block.arrays[i].data;
    if (block.n_arrays == MOST_ARRAYS)
        fail("too many shared arrays");
    block.arrays[block.n_arrays].key = key;
    block.arrays[block.n_arrays].data = noise(size);
    return block.arrays[block.n_arrays++].data;
}

void *
emulate_shared_bytes(void)
{
    if (!block.bytes)
        block.bytes = (char *)noise(block.n_bytes);
    return block.bytes;
}

static void
wait(enum waiting what, long phase)
{
    running->waiting = what;
    running->phase = phase;
    to_scheduler(false);
}

void
emulate_barrier(void)
{
    if (++block.arrived < block.threads) {
        wait(FOR_BLOCK, block.phase);
        return;
    }
    block.arrived = 0;
    block.phase++;
}

/* Between its two barriers nobody writes to either flag but to clear the one
 * of the next time. */
bool
emulate_barrier_any(bool any)
{
    int which = running->any_parity;

    running->any_parity ^= 1;
    block.any[which] |= any;
    emulate_barrier();
    any = block.any[which];
    block.any[which ^ 1] = false;
    emulate_barrier();
    return any;
}

void
emulate_warp_barrier(void)
{
    struct warp *w = &warps[emulate_at.thread / LANES];

    if (++w->arrived < LANES) {
        wait(FOR_WARP, w->phase);
        return;
    }
    w->arrived = 0;
    w->phase++;
}

/* Two sets of slots: while some lanes still read one, others are at most at
 * the next exchange. */
void
emulate_exchange(const void *value, size_t size)
{
    struct warp *w = &warps[emulate_at.thread / LANES];

    if (size > EMULATE_PUT)
        fail("too much to exchange");
    memcpy(w->slots[running->parity][emulate_at.thread % LANES], value, size);
    emulate_warp_barrier();
    running->parity ^= 1;
}

const char *
emulate_put(void)
{
    return warps[emulate_at.thread / LANES].slots[running->parity ^ 1][0];
}

void
emulate_aligned(const void *p, size_t size)
{
    if ((uintptr_t)p % size != 0)
        fail("a vector that is not aligned");
}

void
emulate_copy(void *shared, const void *global)
{
    emulate_aligned(shared, 16);
    emulate_aligned(global, 16);
    if (running->n_copies == MOST_COPIES)
        fail("too many copies under way");
    running->copies[running->n_copies++] =
        (struct copy){ shared, global, running->group };
}

void
emulate_copy_commit(void)
{
    running->group++;
}

void
emulate_copy_wait(int n)
{
    finish_copies(running, running->group - 1 - n);
}
