/* tensor_source.c - a tensor's data, wherever it lies, in bounded memory */
#include <config.h>

#include "common/cli.h"
#include "common/numbers.h"
#include "gg-inspect/tensor_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- bytes --------------------------------------------------------------- */

/* From the place in its file. */
static void
read_exactly(const struct tensor_source *s, void *data, size_t size,
             uint64_t offset)
{
    char *p = data;

    while (size) {
        ssize_t n = pread(s->fd, p, size, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            cli_die("%s: %s", s->path, strerror(errno));
        if (n == 0)
            cli_die("%s: %s: data ends past end of file", s->path,
                    gguf_get_tensor_name(s->f->gguf, s->tensor));
        p += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
}

/* Waits until the tensor and those that others hold are no more than the
 * largest one, which alone always has room. */
static void
take_room(struct inspected *f, size_t size)
{
    pthread_mutex_lock(&f->lock);
    while (f->held && (f->held > f->largest || size > f->largest - f->held))
        pthread_cond_wait(&f->freed, &f->lock);
    f->held += size;
    pthread_mutex_unlock(&f->lock);
}

static void
give_room(struct inspected *f, size_t size)
{
    pthread_mutex_lock(&f->lock);
    f->held -= size;
    pthread_cond_broadcast(&f->freed);
    pthread_mutex_unlock(&f->lock);
}

void
tensor_source_open(struct tensor_source *s, struct inspected *f, int64_t tensor)
{
    const char *shard =
        gguf_get_shard_name(f->gguf, gguf_get_tensor_shard(f->gguf, tensor));

    *s = (struct tensor_source){
        f,  tensor, shard ? shard : f->path,
        -1, NULL,   gguf_get_tensor_size(f->gguf, tensor)
    };
    if (!f->is_read && !gg_file_data(f->file, tensor)) { /* made of others */
        take_room(f, s->size);
        s->made = cli_alloc(NULL, s->size, 1);
        gg_file_read(f->file, tensor, s->made);
    }
    if (!f->is_read)
        return;
    s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0)
        cli_die("%s: %s", s->path, strerror(errno));
}

void
tensor_source_read(const struct tensor_source *s, void *data, size_t size,
                   uint64_t offset)
{
    if (s->made)
        memcpy(data, s->made + offset, size);
    else if (s->fd < 0)
        memcpy(data, (const char *)gg_file_data(s->f->file, s->tensor) + offset,
               size);
    else {
        read_exactly(s, data, size,
                     gguf_get_tensor_place(s->f->gguf, s->tensor) + offset);
        gguf_order_data(s->f->gguf, gguf_get_tensor_type(s->f->gguf, s->tensor),
                        data, size);
    }
}

size_t
tensor_source_whole(const struct tensor_source *s, size_t size)
{
    size_t block = ggml_type_size(gguf_get_tensor_type(s->f->gguf, s->tensor));

    return size / block * block;
}

void
tensor_source_close(struct tensor_source *s)
{
    if (s->fd >= 0)
        close(s->fd);
    if (!s->f->is_read)
        gg_file_forget(s->f->file, s->tensor);
    if (s->made)
        give_room(s->f, s->size);
    free(s->made);
}

/* ---- numbers ------------------------------------------------------------- */

bool
values_known(enum ggml_type type)
{
    return numbers_known(type);
}

void
values_open(struct values *v, struct inspected *f, int64_t tensor)
{
    *v = (struct values){
        .type = gguf_get_tensor_type(f->gguf, tensor),
        .n = totals_values(f->gguf, tensor),
        .data = cli_alloc(NULL, VALUES_PIECE, 8),
        .floats = cli_alloc(NULL, VALUES_PIECE, sizeof(float)),
        .x = cli_alloc(NULL, VALUES_PIECE, sizeof(double)),
    };
    tensor_source_open(&v->from, f, tensor);
}

size_t
values_next(struct values *v)
{
    uint64_t left = v->n - v->at;
    size_t n = left < VALUES_PIECE ? (size_t)left : VALUES_PIECE;
    size_t block = (size_t)ggml_blck_size(v->type);

    if (n == 0)
        return 0;
    tensor_source_read(&v->from, v->data, n / block * ggml_type_size(v->type),
                       v->at / block * ggml_type_size(v->type));
    numbers_widen(v->type, v->data, v->floats, v->x, n);
    v->at += n;
    return n;
}

void
values_rewind(struct values *v)
{
    v->at = 0;
}

void
values_close(struct values *v)
{
    tensor_source_close(&v->from);
    free(v->data);
    free(v->floats);
    free(v->x);
}
