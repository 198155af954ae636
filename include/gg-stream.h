/* gg-stream.h - token, logit and rows streams: gg-stream(5)
 *
 * Readers and writers take a file descriptor, which stays the caller's. Each is
 * used by one thread at a time; what a read hands out lives until the next call
 * on that reader. Errors are as in gg.h.
 */
#ifndef GG_STREAM_H
#define GG_STREAM_H

#include "gg-media.h"
#include "gg.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of a stream that begins with these bytes, for a message that refuses
 * it: "JSON", "token ids, of which gg-eval makes logits", "a picture (PNG)".
 * NULL: of no kind that is known. *is_text, unless NULL, says whether it could
 * be any text: it has no bytes of a format of its own. A static string. */
GG_API const char *
gg_stream_kind(const void *data, size_t n, bool *is_text);

/* ---- Token stream -------------------------------------------------------- */

enum gg_line_kind {
    GG_LINE_IDS,   /* a chunk */
    GG_LINE_END,   /* the sequence ends */
    GG_LINE_ERROR, /* the record failed upstream */
};

struct gg_line {
    enum gg_line_kind kind;
    bool numbered;
    uint64_t sequence;   /* 0 where not numbered */
    const int32_t *ids;  /* GG_LINE_IDS */
    size_t n_ids;        /* 0 for an empty line without a number */
    bool more;           /* reading: the line goes on in the next one read */
    bool last;           /* for writing: the sequence's end in the same write */
    const char *message; /* GG_LINE_ERROR; NUL-ended */
    uint64_t back;       /* ids before these that are taken back */
    bool open; /* these may be taken back, as may open ones before them */
};

struct gg_line_reader;

/* Reads from `fd`, which stays the caller's. `name` is for messages. */
GG_API GG_MUST_CHECK enum gg_status
gg_line_reader_new(int fd, const char *name, struct gg_line_reader **out,
                   struct gg_error *err);
GG_API void
gg_line_reader_free(struct gg_line_reader *reader);

/* From now on ids of a long line come in parts, each as soon as it is there, so
 * that a line of any length takes little memory. Messages come whole. */
GG_API void
gg_line_reader_split(struct gg_line_reader *reader);

/* From now on lines may take ids back, as those of a program that draws do;
 * without it they are refused. */
GG_API void
gg_line_reader_back(struct gg_line_reader *reader);

/* From now on waiting for a line also ends, by GG_ERR_ABORTED, when `fd` is a
 * pipe that nobody reads any more. */
GG_API void
gg_line_reader_watch(struct gg_line_reader *reader, int fd);

/* From now on ids from `first` on may come: rows of n media with these SHA-256,
 * of 32 bytes each, in this order, which the line `#rows HASH...` that the
 * stream begins with has to name. `hashes` NULL: it may name any. To be called
 * before anything is read; without it the line is refused. */
GG_API GG_MUST_CHECK enum gg_status
gg_line_reader_rows(struct gg_line_reader *reader, int32_t first,
                    const uint8_t *hashes, size_t n, struct gg_error *err);

/* Whether that line has come. */
GG_API bool
gg_line_reader_has_rows(const struct gg_line_reader *reader);

/* The next line, as soon as it is there; GG_EOF after the last. What *line
 * points to lives until the next call. A signal whose handler does not restart
 * calls gives GG_ERR_ABORTED: calling again goes on. */
GG_API GG_MUST_CHECK enum gg_status
gg_line_read(struct gg_line_reader *reader, struct gg_line *line,
             struct gg_error *err);

/* True where gg_line_read() would return at once: with a line that is there
 * as a whole, a part of one, the end, or a complaint. The last line read stays
 * as it is. */
GG_API bool
gg_line_ready(struct gg_line_reader *reader);

/* Writes one line to `fd` at once; a newline in a message becomes a blank. */
GG_API GG_MUST_CHECK enum gg_status
gg_line_write(int fd, const struct gg_line *line, struct gg_error *err);

/* Writes the line that names n media, before any other: gg_line_reader_rows().
 */
GG_API GG_MUST_CHECK enum gg_status
gg_line_write_rows(int fd, const uint8_t *hashes, size_t n,
                   struct gg_error *err);

/* ---- Logit stream -------------------------------------------------------- */

enum gg_vector_kind {
    GG_VECTOR_LOGITS = 0,
    GG_VECTOR_EMBEDDING = 1,
};

enum gg_vector_encoding {
    GG_ENCODING_F32 = 0,
    GG_ENCODING_F16 = 1,
    GG_ENCODING_SPARSE = 2, /* pairs of id and logit, and the log-sum-exp */
};

struct gg_logit_head {
    uint32_t n_vocab; /* length of a dense vector */
    uint64_t fingerprint;
    enum gg_vector_kind kind;
    enum gg_vector_encoding encoding;
    bool numbered;
    const int32_t *eog_ids; /* end a generation */
    size_t n_eog;
    const char *writer;        /* "gg-eval 0.1.0"; NUL-ended */
    const int32_t *suppressed; /* are not drawn, in ascending order; or NULL */
    size_t n_suppressed;
    const char *sampling; /* that of the file: gg_vocab_sampling(); or NULL */
};

enum gg_record_kind {
    GG_RECORD_HEAD,
    GG_RECORD_LOGITS,
    GG_RECORD_ERROR, /* a chunk that failed */
    GG_RECORD_CLOSE, /* a numbered sequence ended */
    GG_RECORD_END,   /* end of this member; a head may follow */
};

struct gg_logit_record {
    enum gg_record_kind kind;
    struct gg_logit_head head; /* the head in force; set for every kind */
    uint64_t sequence;
    uint64_t position;  /* ids that the sequence holds after the chunk */
    const int32_t *ids; /* the chunk */
    size_t n_ids;
    const float *logits;      /* widened to f32; dense: n = n_vocab */
    const int32_t *logit_ids; /* NULL: dense, logits[i] belongs to id i */
    size_t n_logits;
    double log_sum_exp;  /* over the whole vocabulary; sparse only */
    const char *message; /* GG_RECORD_ERROR */
    /* With a sequence's first logits, where it goes on from a state: ids that
     * it held in front of the chunk, perhaps not all; and what Mirostat has
     * learnt there, or NULL. */
    const int32_t *past;
    size_t n_past;
    const double *mirostat;
};

struct gg_logit_reader;
struct gg_logit_writer;

/* As gg_line_reader_new(). Reads the text of `gg-eval --top`, too: as sparse
 * log-probabilities under a head whose n_vocab is 0, and an end record. */
GG_API GG_MUST_CHECK enum gg_status
gg_logit_reader_new(int fd, const char *name, struct gg_logit_reader **out,
                    struct gg_error *err);
GG_API void
gg_logit_reader_free(struct gg_logit_reader *reader);

/* To be called before anything is read: data[0..n), which was read from `fd`
 * to see what it holds, comes first. */
GG_API GG_MUST_CHECK enum gg_status
gg_logit_reader_begin(struct gg_logit_reader *reader, const void *data,
                      size_t n, struct gg_error *err);

/* The next record, a head at first; GG_EOF only after an end record,
 * GG_ERR_TRUNCATED where the stream was cut off. Pointers live until the next
 * call; GG_ERR_ABORTED is as for gg_line_read(). Logits may be NaN. */
GG_API GG_MUST_CHECK enum gg_status
gg_logit_read(struct gg_logit_reader *reader, struct gg_logit_record *record,
              struct gg_error *err);

/* The logits of the last record, to be changed where they are until the next
 * is read; NULL: it had none. */
GG_API float *
gg_logit_reader_logits(struct gg_logit_reader *reader);

/* `fd` stays the caller's. The head is written at once. */
GG_API GG_MUST_CHECK enum gg_status
gg_logit_writer_new(int fd, const struct gg_logit_head *head,
                    struct gg_logit_writer **out, struct gg_error *err);
GG_API void
gg_logit_writer_free(struct gg_logit_writer *writer);

/* Writes the record whole, at once: kinds LOGITS, ERROR, CLOSE and END; its
 * head is not looked at. Logits are stored in the head's encoding, and must be
 * dense or sparse as it says. */
GG_API GG_MUST_CHECK enum gg_status
gg_logit_write(struct gg_logit_writer *writer,
               const struct gg_logit_record *record, struct gg_error *err);

/* ---- Rows stream --------------------------------------------------------- */

struct gg_rows_head {
    uint8_t projector[GG_MEDIUM_HASH]; /* SHA-256 of its file */
    int32_t first; /* id of the first row: gg_model_n_vocab() */
    size_t width;  /* values of a row: gg_model_n_embd() */
    size_t n_deeper;
    const char *writer; /* "gg-encode 0.1.0"; NUL-ended */
};

enum gg_rows_kind {
    GG_ROWS_HEAD,
    GG_ROWS_MEDIUM,
    GG_ROWS_ERROR, /* a medium that failed; its rows have no ids */
    GG_ROWS_END,   /* end of this member; a head may follow */
};

struct gg_rows_record {
    enum gg_rows_kind kind;
    struct gg_rows_head head; /* the head in force; set for every kind */
    const struct gg_media_rows *rows; /* GG_ROWS_MEDIUM */
    const char *message;              /* GG_ROWS_ERROR; NUL-ended */
};

struct gg_rows_reader;
struct gg_rows_writer;

/* As gg_line_reader_new(). */
GG_API GG_MUST_CHECK enum gg_status
gg_rows_reader_new(int fd, const char *name, struct gg_rows_reader **out,
                   struct gg_error *err);
GG_API void
gg_rows_reader_free(struct gg_rows_reader *reader);

/* The next record, a head at first; GG_EOF only after an end record,
 * GG_ERR_TRUNCATED where the stream was cut off. Pointers live until the next
 * call; GG_ERR_ABORTED is as for gg_line_read(). All members have the same
 * projector, width and first id. What is given can be written again. */
GG_API GG_MUST_CHECK enum gg_status
gg_rows_read(struct gg_rows_reader *reader, struct gg_rows_record *record,
             struct gg_error *err);

/* `fd` stays the caller's. The head is written at once. */
GG_API GG_MUST_CHECK enum gg_status
gg_rows_writer_new(int fd, const struct gg_rows_head *head,
                   struct gg_rows_writer **out, struct gg_error *err);
GG_API void
gg_rows_writer_free(struct gg_rows_writer *writer);

/* Writes the record whole, at once: kinds MEDIUM, ERROR and END; its head is
 * not looked at. GG_ERR_ARG: pieces and rows contradict each other or the head,
 * or a value is no finite number. */
GG_API GG_MUST_CHECK enum gg_status
gg_rows_write(struct gg_rows_writer *writer,
              const struct gg_rows_record *record, struct gg_error *err);

#ifdef __cplusplus
}
#endif

#endif
