/* upload.c - upload of weights to a device's memory */
#include "session/upload.h"

#include <pthread.h>

#include "backend/impl.h"
#include "core/thread.h"
#include "session/readback.h"

enum {
    PIECE = 8 << 20, /* bytes; long enough for the bus, short for the end */
    MAX_READERS = 4,
    LANES = 2,
};

/* ---- pieces, in the order of the tensors -------------------------------- */

struct upload {
    const struct gguf_file *file;
    struct ggml_tensor *const *tensors;
    size_t n;
    pthread_mutex_t lock; /* of what follows */
    size_t next;          /* of the tensors, and */
    size_t offset;        /* in it */
    struct upload_progress *progress;
};

struct piece {
    struct ggml_tensor *tensor;
    const char *data;
    size_t offset, size;
};

static bool
take_piece(struct upload *u, struct piece *p)
{
    bool taken;

    pthread_mutex_lock(&u->lock);
    taken = u->next < u->n;
    if (taken) {
        struct ggml_tensor *t = u->tensors[u->next];
        const struct gguf_tensor *from =
            gguf_tensor_named(u->file->gguf, t->name);
        size_t left = from->size - u->offset;

        *p = (struct piece){ t, (const char *)from->data + u->offset, u->offset,
                             left < PIECE ? left : PIECE };
        u->offset += p->size;
        if (u->offset == from->size) {
            u->next++;
            u->offset = 0;
        }
    }
    pthread_mutex_unlock(&u->lock);
    return taken;
}

static void
report(struct upload *u, size_t n)
{
    struct upload_progress *p = u->progress;

    pthread_mutex_lock(&u->lock);
    p->done += n;
    if (p->params->progress)
        p->params->progress(p->params->progress_data, p->done, p->all);
    pthread_mutex_unlock(&u->lock);
}

/* ---- a reader ----------------------------------------------------------- */

struct lane {
    ggml_backend_buffer_t buffer; /* pinned */
    ggml_backend_event_t event;   /* after the copy out of it */
    bool used;
};

struct reader {
    struct upload *upload;
    ggml_backend_t stream;
    struct lane lanes[LANES];
    pthread_t thread;
    bool failed;
};

static void
send_piece(struct reader *r, struct lane *lane, const struct piece *p)
{
    char *room = ggml_backend_buffer_get_base(lane->buffer);

    if (lane->used)
        ggml_backend_event_synchronize(lane->event);
    memcpy(room, p->data, p->size);
    ggml_backend_tensor_set_async(r->stream, p->tensor, room, p->offset,
                                  p->size);
    ggml_backend_event_record(lane->event, r->stream);
    lane->used = true;
    report(r->upload, p->size);
}

static bool
has_failed(const struct reader *r)
{
    return r->stream->iface->get_error &&
           r->stream->iface->get_error(r->stream);
}

static void *
read_pieces(void *arg)
{
    struct reader *r = arg;
    struct piece piece;
    int n = 0;

    while (!has_failed(r) && take_piece(r->upload, &piece))
        send_piece(r, &r->lanes[n++ % LANES], &piece);
    ggml_backend_synchronize(r->stream);
    r->failed = has_failed(r);
    return NULL;
}

static void
stop_reader(struct reader *r)
{
    for (int i = 0; i < LANES; i++) {
        ggml_backend_event_free(r->lanes[i].event);
        ggml_backend_buffer_free(r->lanes[i].buffer);
    }
    ggml_backend_free(r->stream);
}

static bool
start_reader(struct reader *r, struct upload *u, ggml_backend_dev_t device)
{
    ggml_backend_buffer_type_t pinned =
        ggml_backend_dev_host_buffer_type(device);
    bool done;

    *r = (struct reader){ .upload = u };
    r->stream = ggml_backend_dev_init(device, NULL);
    done = r->stream != NULL;
    for (int i = 0; i < LANES && done; i++) {
        r->lanes[i].buffer = ggml_backend_buft_alloc_buffer(pinned, PIECE);
        r->lanes[i].event = ggml_backend_event_new(device);
        done = r->lanes[i].buffer && r->lanes[i].event;
    }
    if (!done)
        stop_reader(r);
    return done;
}

/* Without pinned memory. */
static void
copy_all(struct upload *u)
{
    struct piece p;

    while (take_piece(u, &p)) {
        ggml_backend_tensor_set(p.tensor, p.data, p.offset, p.size);
        report(u, p.size);
    }
}

/* One that cannot be started is done without; the first is this thread. */
static bool
upload_all(struct upload *u, ggml_backend_dev_t device)
{
    struct reader readers[MAX_READERS];
    int n = 0, want = thread_count_default();
    bool done = true;

    want = want < MAX_READERS ? want : MAX_READERS;
    while (n < want && start_reader(&readers[n], u, device)) {
        if (n > 0 &&
            thread_start(&readers[n].thread, read_pieces, &readers[n])) {
            stop_reader(&readers[n]);
            break;
        }
        n++;
    }
    if (n == 0) {
        copy_all(u);
        return true;
    }
    read_pieces(&readers[0]);
    for (int i = 0; i < n; i++) {
        if (i > 0)
            pthread_join(readers[i].thread, NULL);
        done = done && !readers[i].failed;
        stop_reader(&readers[i]);
    }
    return done;
}

/* ---- all of them -------------------------------------------------------- */

enum gg_status
session_upload_tensors(const struct gguf_file *file,
                       struct ggml_tensor *const *tensors, size_t n,
                       ggml_backend_dev_t device,
                       struct upload_progress *progress, struct gg_error *err)
{
    struct upload u = { .file = file,
                        .tensors = tensors,
                        .n = n,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .progress = progress };
    bool done = true;

    if (session_readback_is_async(device))
        done = upload_all(&u, device);
    else
        copy_all(&u);
    return done ? GG_OK
                : error_set(err, GG_ERR_IO,
                            "the weights could not be copied to %s",
                            ggml_backend_dev_name(device));
}
