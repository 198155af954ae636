/* logit_member.h - a logit stream with a record of each kind */
#ifndef LOGIT_MEMBER_H
#define LOGIT_MEMBER_H

#include <gg-stream.h>
#include <math.h>
#include <stdlib.h>

#include "stream_pipe.h"
#include "harness/tap.h"

enum {
    N = 11, /* odd: parts must be padded */
    K = 3,
};

static struct gg_error err;
static const int32_t eog[] = { 2, 7 };
static const int32_t ids[] = { 5, 6, 10 };
static const float logits[N] = { 0.5f, -1, 2.25f, -INFINITY, 1e30f, -70000,
                                 0,    1,  65504, 3.0001f,   NAN };
static const float top[K] = { 4, 3, -1 };
static const int32_t top_ids[K] = { 8, 0, 10 };

static inline struct gg_logit_head
head_of(enum gg_vector_encoding encoding, bool numbered)
{
    return (struct gg_logit_head){
        .n_vocab = N,
        .fingerprint = UINT64_C(0x1122334455667788),
        .encoding = encoding,
        .numbered = numbered,
        .eog_ids = eog,
        .n_eog = 2,
        .writer = "test 1",
    };
}

static inline struct gg_logit_record
vector_of(enum gg_vector_encoding encoding)
{
    bool sparse = encoding == GG_ENCODING_SPARSE;

    return (struct gg_logit_record){
        .kind = GG_RECORD_LOGITS,
        .sequence = UINT64_MAX,
        .position = 77,
        .ids = ids,
        .n_ids = 3,
        .logits = sparse ? top : logits,
        .logit_ids = sparse ? top_ids : NULL,
        .n_logits = sparse ? K : N,
        .log_sum_exp = sparse ? 4.5 : 0,
    };
}

static inline void
must(enum gg_status st)
{
    if (st != GG_OK)
        abort();
}

/* A member of each kind of record, to the end of the file. */
static inline void
write_member(int fd, enum gg_vector_encoding encoding)
{
    struct gg_logit_head head = head_of(encoding, true);
    struct gg_logit_record vector = vector_of(encoding), other;
    struct gg_logit_writer *w;

    must(gg_logit_writer_new(fd, &head, &w, &err));
    must(gg_logit_write(w, &vector, &err));
    other = (struct gg_logit_record){ .kind = GG_RECORD_ERROR,
                                      .sequence = 3,
                                      .message = "went wrong" };
    must(gg_logit_write(w, &other, &err));
    other = (struct gg_logit_record){ .kind = GG_RECORD_CLOSE, .sequence = 9 };
    must(gg_logit_write(w, &other, &err));
    other = (struct gg_logit_record){ .kind = GG_RECORD_END };
    must(gg_logit_write(w, &other, &err));
    gg_logit_writer_free(w);
}

static inline uint8_t *
member(enum gg_vector_encoding encoding, size_t *size)
{
    int fd = pipe_holding("", 0);
    uint8_t *data;

    write_member(fd, encoding);
    data = pipe_contents(fd, size);
    close(fd);
    return data;
}

#endif
