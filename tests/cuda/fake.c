/* fake.c - CUDA's run-time in the host's memory: streams, events, graphs */
#include <config.h>

#include "cuda/fake_parts.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_counts fake;

/* ---- work --------------------------------------------------------------- */

enum kind {
    LAUNCH,
    COPY,
    FILL,
    WAIT,
    GEMM
};

struct work {
    struct work *next;
    enum kind kind;
    unsigned long ticket;
    void (*run)(void *arg);
    void *to;
    const void *from; /* `own`, or the caller's */
    size_t size;
    unsigned char value;
    struct stream *other; /* WAIT: for it to have come to `until` */
    unsigned long until;
    struct cuda_gemm gemm;
    _Alignas(16) char own[]; /* arguments, or data that was taken at once */
};

struct list {
    struct work *first, **end;
};

struct stream {
    int device;
    struct list queue;
    unsigned long given, done;
    bool capturing, spoiled;
    struct list record;
};

struct event {
    struct stream *stream;
    unsigned long ticket;
};

struct exec {
    struct list works;
    int n;
};

static void
clear_list(struct list *l)
{
    for (struct work *w = l->first, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    l->first = NULL;
    l->end = &l->first;
}

static struct work *
new_work(enum kind kind, const void *own, size_t size)
{
    struct work *w = calloc(1, sizeof(*w) + size);

    assert(w);
    w->kind = kind;
    w->size = size;
    w->from = w->own;
    if (own)
        memcpy(w->own, own, size);
    return w;
}

static void
append(struct list *l, struct work *w)
{
    *l->end = w;
    l->end = &w->next;
}

static void
give(struct stream *s, struct work *w)
{
    if (s->capturing) {
        append(&s->record, w);
        return;
    }
    w->ticket = ++s->given;
    append(&s->queue, w);
}

static void
run_until(struct stream *s, unsigned long ticket);

static void
do_work(const struct stream *s, struct work *w)
{
    switch (w->kind) {
    case LAUNCH:
        fake_count_launch(s->device);
        fake_allow(s->device);
        if (!fake_is_lost(s->device))
            w->run(w->own);
        break;
    case COPY:
        fake_allow(FAKE_ALL);
        memmove(w->to, w->from, w->size);
        break;
    case FILL:
        fake_allow(s->device);
        memset(w->to, w->value, w->size);
        break;
    case WAIT:
        run_until(w->other, w->until);
        break;
    case GEMM:
        fake_allow(s->device);
        fake_gemm(&w->gemm);
    }
}

static void
run_until(struct stream *s, unsigned long ticket)
{
    while (s->queue.first && s->queue.first->ticket <= ticket) {
        struct work *w = s->queue.first;

        s->queue.first = w->next;
        if (!s->queue.first)
            s->queue.end = &s->queue.first;
        do_work(s, w);
        s->done = w->ticket;
        free(w);
    }
}

static void
flush(struct stream *s, unsigned long ticket)
{
    fake_open_memory();
    run_until(s, ticket);
    fake_close_memory();
}

/* ---- streams ------------------------------------------------------------ */

enum {
    MAX_STREAMS = 256
};
static struct stream *streams[MAX_STREAMS];

enum cuda_status
cuda_stream_new(void **out)
{
    struct stream *s = calloc(1, sizeof(*s));
    enum cuda_status st = fake_enter();

    assert(s);
    s->device = fake_current();
    s->queue.end = &s->queue.first;
    s->record.end = &s->record.first;
    for (int i = 0; i < MAX_STREAMS; i++)
        if (!streams[i]) {
            streams[i] = s;
            break;
        }
    *out = s;
    return fake_leave(st);
}

void
fake_flush_all(void)
{
    for (int i = 0; i < MAX_STREAMS; i++)
        if (streams[i])
            flush(streams[i], streams[i]->given);
}

bool
fake_is_capturing(void)
{
    for (int i = 0; i < MAX_STREAMS; i++)
        if (streams[i] && streams[i]->capturing)
            return streams[i]->spoiled = true;
    return false;
}

void
cuda_stream_free(void *stream)
{
    struct stream *s = stream;

    if (!s)
        return;
    fake_enter();
    flush(s, s->given);
    clear_list(&s->record);
    for (int i = 0; i < MAX_STREAMS; i++)
        if (streams[i] == s)
            streams[i] = NULL;
    free(s);
    fake_leave(CUDA_OK);
}

enum cuda_status
cuda_stream_wait(void *stream)
{
    struct stream *s = stream;
    enum cuda_status st = fake_enter_on(s->device);

    if (s->capturing) {
        s->spoiled = true;
        return fake_leave(fake_fail("operation not permitted when stream is "
                                    "capturing"));
    }
    flush(s, s->given);
    if (st == CUDA_OK && fake_is_lost(s->device))
        st = CUDA_FAILED;
    return fake_leave(st);
}

/* ---- events ------------------------------------------------------------- */

enum cuda_status
cuda_event_new(void **out)
{
    *out = calloc(1, sizeof(struct event));
    assert(*out);
    return CUDA_OK;
}

enum cuda_status
cuda_event_new_timed(void **out)
{
    return cuda_event_new(out);
}

/* A microsecond for each piece of work between them. */
enum cuda_status
cuda_event_elapsed(void *from, void *to, uint64_t *ns)
{
    const struct event *a = from, *b = to;

    if (a->stream != b->stream || b->ticket > b->stream->done)
        return fake_fail("device not ready");
    *ns = (b->ticket - a->ticket) * 1000;
    return CUDA_OK;
}

void
cuda_event_free(void *event)
{
    free(event);
}

enum cuda_status
cuda_event_record(void *event, void *stream)
{
    struct event *e = event;
    enum cuda_status st = fake_enter_on(((struct stream *)stream)->device);

    e->stream = stream;
    e->ticket = e->stream->given;
    return fake_leave(st);
}

enum cuda_status
cuda_event_wait(void *event)
{
    struct event *e = event;
    enum cuda_status st =
        e->stream ? fake_enter_on(e->stream->device) : fake_enter();

    if (e->stream)
        flush(e->stream, e->ticket);
    return fake_leave(st);
}

enum cuda_status
cuda_stream_wait_event(void *stream, void *event)
{
    struct event *e = event;
    enum cuda_status st = fake_enter_on(((struct stream *)stream)->device);
    struct work *w;

    if (e->stream) {
        w = new_work(WAIT, NULL, 0);
        w->other = e->stream;
        w->until = e->ticket;
        give(stream, w);
    }
    return fake_leave(st);
}

/* ---- copies ------------------------------------------------------------- */

static void
count_copy(const struct stream *s, bool in, bool out, size_t size)
{
    if (in && !out) {
        fake_count_copy_in(s->device);
        fake.bytes_in += size;
    } else if (out && !in) {
        fake.copies_out++;
        fake.bytes_out += size;
    } else {
        fake.copies_between++;
    }
}

enum cuda_status
cuda_copy(void *to, const void *from, size_t size, void *stream)
{
    enum fake_memory t = fake_memory_of(to), f = fake_memory_of(from);
    struct stream *s = stream;
    enum cuda_status st = fake_enter_on(s->device);
    struct work *w;

    if (st != CUDA_OK)
        return fake_leave(st);
    w = new_work(COPY, f == FAKE_PAGED ? from : NULL,
                 f == FAKE_PAGED ? size : 0);
    w->to = to;
    w->size = size;
    if (f != FAKE_PAGED)
        w->from = from;
    count_copy(s, f != FAKE_DEVICE, t != FAKE_DEVICE, size);
    if (f != FAKE_DEVICE && t == FAKE_DEVICE)
        fake_delay();
    give(s, w);
    if (t == FAKE_PAGED && !s->capturing)
        flush(s, s->given);
    return fake_leave(st);
}

enum cuda_status
cuda_copy_peer(void *to, int to_device, const void *from, int from_device,
               size_t size, void *stream)
{
    enum cuda_status st = fake_enter_on(from_device);

    assert(((struct stream *)stream)->device == to_device);
    fake_leave(st);
    return st == CUDA_OK ? cuda_copy(to, from, size, stream) : st;
}

enum cuda_status
cuda_fill(void *p, unsigned char value, size_t size, void *stream)
{
    enum cuda_status st = fake_enter_on(((struct stream *)stream)->device);
    struct work *w = new_work(FILL, NULL, 0);

    w->to = p;
    w->value = value;
    w->size = size;
    give(stream, w);
    return fake_leave(st);
}

/* ---- launches ----------------------------------------------------------- */

void
cuda_emulate(void *stream, void (*run)(void *arg), const void *arg, size_t size)
{
    struct work *w;

    fake_enter();
    assert(((struct stream *)stream)->device == fake_current());
    w = new_work(LAUNCH, arg, size);
    w->run = run;
    give(stream, w);
    fake_leave(CUDA_OK);
}

enum cuda_status
cuda_launched(void)
{
    return fake_is_lost(fake_current()) ? CUDA_FAILED : CUDA_OK;
}

enum cuda_status
cuda_blas_new(void **out)
{
    if (!fake_has_blas())
        return fake_fail("libcublas.so.13: cannot open shared object file");
    *out = malloc(1);
    return CUDA_OK;
}

void
cuda_blas_free(void *blas)
{
    free(blas);
}

enum cuda_status
cuda_blas_gemm(void *blas, void *stream, const struct cuda_gemm *g)
{
    struct work *w;

    (void)blas;
    fake_enter();
    w = new_work(GEMM, NULL, 0);
    w->gemm = *g;
    give(stream, w);
    return fake_leave(CUDA_OK);
}

/* ---- graphs ------------------------------------------------------------- */

enum cuda_status
cuda_capture_begin(void *stream)
{
    struct stream *s = stream;
    enum cuda_status st = fake_enter_on(s->device);

    s->capturing = st == CUDA_OK;
    s->spoiled = false;
    return fake_leave(st);
}

static int
length(const struct list *l)
{
    int n = 0;

    for (const struct work *w = l->first; w; w = w->next)
        n++;
    return n;
}

enum cuda_status
cuda_capture_end(void *stream, void **exec)
{
    enum cuda_status st = fake_enter();
    struct stream *s = stream;
    struct exec *e = *exec;
    int n = length(&s->record);

    s->capturing = false;
    if (s->spoiled) {
        clear_list(&s->record);
        return fake_leave(fake_fail("operation failed due to a previous error "
                                    "during capture"));
    }
    if (e && e->n == n)
        fake.updates++;
    if (!e)
        *exec = e = calloc(1, sizeof(*e));
    assert(e);
    clear_list(&e->works);
    e->works = s->record;
    if (!e->works.first)
        e->works.end = &e->works.first;
    e->n = n;
    s->record.first = NULL;
    s->record.end = &s->record.first;
    fake.captures++;
    return fake_leave(st);
}

enum cuda_status
cuda_graph_launch(void *exec, void *stream)
{
    enum cuda_status st = fake_enter_on(((struct stream *)stream)->device);
    struct exec *e = exec;

    for (const struct work *w = e->works.first; w && st == CUDA_OK;
         w = w->next) {
        size_t own = w->from == w->own ? w->size : 0;
        struct work *again = new_work(w->kind, w->own, own);
        struct work *next = again->next;
        const void *from = again->from;

        *again = *w;
        again->next = next;
        again->from = own ? from : w->from;
        give(stream, again);
    }
    fake.replays++;
    return fake_leave(st);
}

void
cuda_graph_free(void *exec)
{
    struct exec *e = exec;

    clear_list(&e->works);
    free(e);
}
