/* vectors.c - vectors of images, as gg-eval --embed writes those of texts */
#include <config.h>

#include "gg-encode/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <gg-stream.h>

#include "common/cli.h"

struct vectors {
    struct gg_logit_writer *writer;
};

struct vectors *
vectors_new(size_t width)
{
    struct vectors *v = cli_alloc(NULL, 1, sizeof(*v));
    struct gg_logit_head head = { .n_vocab = (uint32_t)width,
                                  .kind = GG_VECTOR_EMBEDDING,
                                  .encoding = GG_ENCODING_F32,
                                  .numbered = true,
                                  .writer = "gg-encode " PACKAGE_VERSION };
    struct gg_error err;

    cli_check(gg_logit_writer_new(STDOUT_FILENO, &head, &v->writer, &err),
              &err);
    return v;
}

static void
put_record(struct vectors *v, const struct gg_logit_record *record)
{
    struct gg_error err;

    cli_check(gg_logit_write(v->writer, record, &err), &err);
}

void
vectors_put(struct vectors *v, uint64_t number, const struct gg_medium *m)
{
    put_record(v, &(struct gg_logit_record){ .kind = GG_RECORD_LOGITS,
                                             .sequence = number,
                                             .position = m->n,
                                             .logits = m->rows,
                                             .n_logits = m->width });
}

void
vectors_put_error(struct vectors *v, uint64_t number, const char *message)
{
    put_record(v, &(struct gg_logit_record){ .kind = GG_RECORD_ERROR,
                                             .sequence = number,
                                             .message = message });
}

void
vectors_end(struct vectors *v)
{
    put_record(v, &(struct gg_logit_record){ .kind = GG_RECORD_END });
    gg_logit_writer_free(v->writer);
    free(v);
}
