/* forms.h - the forms that a logit stream can have, and what reads them
 *
 *     stream   gg-stream(5), by the library
 *     text     lines for awk; JSON lines; .npy: one array; .npz: all of it
 *
 * A reader gives records as gg_logit_read() does, a head first, and GG_EOF
 * only after an end. What it reads is not trusted. */
#ifndef LOGITS_FORMS_H
#define LOGITS_FORMS_H

#include "gg-logits/input.h"

enum form {
    FORM_STREAM,
    FORM_TEXT,
    FORM_JSONL,
    FORM_NPY,
    FORM_NPZ,
};

enum {
    LINE_LIMIT = 1 << 27,  /* bytes, as in token streams */
    LIMIT_VOCAB = 1 << 24, /* as gg-stream(5) has them */
    LIMIT_IDS = 1 << 24,
    LIMIT_EOG = 1 << 16,
    LIMIT_WRITER = 1 << 10,
    LIMIT_MESSAGE = 1 << 16,
    LIMIT_SAMPLING = 1 << 13,
};

/* A record that was made here, and what it points into. */
struct record_builder {
    struct gg_logit_record record;
    int32_t *eog, *suppressed, *ids, *logit_ids;
    float *logits;
    char *writer, *message, *sampling;
    uint8_t *seen; /* a bit for each id */
    size_t eog_cap, suppressed_cap, ids_cap, logit_ids_cap, logits_cap,
        writer_cap, message_cap, sampling_cap, seen_cap;
};

void
record_builder_clear(struct record_builder *d);
/* Begins a record of the kind under the head that there is. */
void
record_builder_begin(struct record_builder *d, enum gg_record_kind kind);
bool
record_builder_add_eog(struct record_builder *d, int32_t id);
bool
record_builder_add_suppressed(struct record_builder *d, int32_t id);
bool
record_builder_add_id(struct record_builder *d, int32_t id);
bool
record_builder_set_writer(struct record_builder *d, const char *s, size_t len);
/* An empty one is none. */
bool
record_builder_set_sampling(struct record_builder *d, const char *s,
                            size_t len);
bool
record_builder_set_message(struct record_builder *d, const char *s, size_t len);
/* Room for all values of a record, and the marks of what was seen, none. */
bool
record_builder_room(struct record_builder *d, size_t n);
/* True if the id was not seen before. */
bool
record_builder_mark(struct record_builder *d, int32_t id);
/* Why the head cannot be one; NULL: it can. */
const char *
record_builder_check_head(const struct record_builder *d);

/* ---- numbers and words ---- */

/* The number that text begins with, of at most max; *end gets what follows. */
bool
parse_u64(const char *s, uint64_t max, uint64_t *out, const char **end);
/* All of the text: as printf("%.9g") writes it, also "inf", "-inf", "nan". */
bool
parse_float(const char *s, float *out);
bool
parse_double(const char *s, double *out);
/* 16 hexadecimal digits. */
bool
parse_fingerprint(const char *s, uint64_t *out);
/* Which of the names, which NULL ends; -1: none. */
int
parse_name(const char *s, const char *const *names);

extern const char *const kind_names[];     /* "logits", "embeddings", NULL */
extern const char *const encoding_names[]; /* "f32", "f16", "sparse", NULL */

/* ---- readers ---- */

enum reader_state {
    WANT_HEAD, /* nothing else can come; an end of input neither */
    WANT_RECORD,
    WANT_MEMBER, /* a head, or the end */
};

struct lines_reader {
    enum reader_state state;
    struct record_builder builder;
};
enum gg_status
lines_read(struct lines_reader *t, struct input *in,
           struct gg_logit_record *out, struct gg_error *err);

struct jsonl_reader {
    enum reader_state state;
    struct record_builder builder;
};
enum gg_status
jsonl_read(struct jsonl_reader *j, struct input *in,
           struct gg_logit_record *out, struct gg_error *err);

/* In `state`, may a record of the kind come? Moves on, or complains. */
enum gg_status
reader_step(enum reader_state *state, enum gg_record_kind kind,
            const struct input *in, struct gg_error *err);
/* The status that the end of the input has in this state. */
enum gg_status
reader_end(enum reader_state state, const struct input *in,
           struct gg_error *err);

#endif
