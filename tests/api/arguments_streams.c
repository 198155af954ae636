/* arguments_streams.c - arguments of functions of streams of tokens and of
 * logits */
#include "api/arguments.h"

/* ---- token streams ------------------------------------------------------ */

static bool
line_reader_new(void)
{
    struct gg_line_reader *r = NULL;

    return refused(gg_line_reader_new(0, NULL, &r, &err)) && !r &&
           refused(gg_line_reader_new(0, "name", NULL, &err));
}

static bool
line_reader_free(void)
{
    gg_line_reader_free(NULL);
    return true;
}

static bool
line_reader_split(void)
{
    gg_line_reader_split(NULL);
    return true;
}

static bool
line_reader_back(void)
{
    gg_line_reader_back(NULL);
    return true;
}

static bool
line_reader_watch(void)
{
    gg_line_reader_watch(NULL, 0);
    return true;
}

static bool
line_read(void)
{
    struct gg_line_reader *r;
    struct gg_line line;
    bool right;

    must(gg_line_reader_new(-1, "none", &r, &err));
    right = refused(gg_line_read(NULL, &line, &err)) &&
            refused(gg_line_read(r, NULL, &err)) &&
            gg_line_read(r, &line, &err) == GG_ERR_IO;
    gg_line_reader_free(r);
    return right;
}

static bool
line_ready(void)
{
    return !gg_line_ready(NULL);
}

static bool
line_write(void)
{
    static const int32_t wild[] = { -1 };
    static const struct gg_line wrong[] = {
        { .kind = (enum gg_line_kind)3 },
        { .kind = (enum gg_line_kind) - 1 },
        { .kind = GG_LINE_IDS, .n_ids = 1 },
        { .kind = GG_LINE_IDS, .n_ids = 1, .ids = wild },
        { .kind = GG_LINE_ERROR },
    };
    struct gg_line good = { .kind = GG_LINE_IDS };
    bool right = refused(gg_line_write(null_fd, NULL, &err)) &&
                 gg_line_write(-1, &good, &err) == GG_ERR_IO;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        right &= refused(gg_line_write(null_fd, &wrong[i], &err));
    return right;
}

static bool
line_reader_rows(void)
{
    static const uint8_t hash[GG_MEDIUM_HASH];
    struct gg_line_reader *r;
    bool right;

    must(gg_line_reader_new(-1, "none", &r, &err));
    right = refused(gg_line_reader_rows(NULL, 9, hash, 1, &err)) &&
            refused(gg_line_reader_rows(r, -1, hash, 1, &err)) &&
            gg_line_reader_rows(r, 9, hash, 1, &err) == GG_OK;
    gg_line_reader_free(r);
    return right;
}

static bool
line_reader_has_rows(void)
{
    return !gg_line_reader_has_rows(NULL);
}

static bool
line_write_rows(void)
{
    static const uint8_t hash[GG_MEDIUM_HASH];

    return refused(gg_line_write_rows(null_fd, NULL, 1, &err)) &&
           gg_line_write_rows(-1, hash, 1, &err) == GG_ERR_IO;
}

/* ---- logit streams ------------------------------------------------------ */

static bool
logit_reader_new(void)
{
    struct gg_logit_reader *r = NULL;

    return refused(gg_logit_reader_new(0, NULL, &r, &err)) && !r &&
           refused(gg_logit_reader_new(0, "name", NULL, &err));
}

static bool
logit_reader_free(void)
{
    gg_logit_reader_free(NULL);
    return true;
}

static bool
logit_reader_begin(void)
{
    struct gg_logit_reader *r;
    bool right;

    must(gg_logit_reader_new(-1, "none", &r, &err));
    right = refused(gg_logit_reader_begin(NULL, "a", 1, &err)) &&
            refused(gg_logit_reader_begin(r, NULL, 1, &err));
    gg_logit_reader_free(r);
    return right;
}

static bool
logit_read(void)
{
    struct gg_logit_reader *r;
    struct gg_logit_record record;
    bool right;

    must(gg_logit_reader_new(-1, "none", &r, &err));
    right = refused(gg_logit_read(NULL, &record, &err)) &&
            refused(gg_logit_read(r, NULL, &err)) &&
            gg_logit_read(r, &record, &err) == GG_ERR_IO;
    gg_logit_reader_free(r);
    return right;
}

static bool
logit_reader_logits(void)
{
    return !gg_logit_reader_logits(NULL);
}

static bool
logit_writer_new(void)
{
    static const struct gg_logit_head wrong[] = {
        { .n_vocab = 0 },
        { .n_vocab = UINT32_MAX },
        { .n_vocab = 9, .kind = (enum gg_vector_kind)2 },
        { .n_vocab = 9, .encoding = (enum gg_vector_encoding)3 },
        { .n_vocab = 9, .n_eog = 1 },
        { .n_vocab = 5, .n_eog = 1, .eog_ids = ids },
        { .n_vocab = 9, .n_eog = SIZE_MAX, .eog_ids = ids },
        { .n_vocab = 9, .n_suppressed = 1 },
        { .n_vocab = 5, .n_suppressed = 1, .suppressed = ids },
        { .n_vocab = 9, .n_suppressed = SIZE_MAX, .suppressed = ids },
    };
    struct gg_logit_head good = { .n_vocab = 9 };
    struct gg_logit_writer *w = NULL;
    bool right = refused(gg_logit_writer_new(null_fd, NULL, &w, &err)) &&
                 refused(gg_logit_writer_new(null_fd, &good, NULL, &err)) &&
                 gg_logit_writer_new(-1, &good, &w, &err) == GG_ERR_IO;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        right &= refused(gg_logit_writer_new(null_fd, &wrong[i], &w, &err));
    return right && !w;
}

static bool
logit_writer_free(void)
{
    gg_logit_writer_free(NULL);
    return true;
}

static bool
logit_write(void)
{
    static const struct gg_logit_record wrong[] = {
        { .kind = GG_RECORD_HEAD },
        { .kind = (enum gg_record_kind)9 },
        { .kind = GG_RECORD_ERROR },
        { .kind = GG_RECORD_LOGITS },
        { .kind = GG_RECORD_LOGITS, .n_logits = V },
        { .kind = GG_RECORD_LOGITS, .logits = logits, .n_logits = 1 },
        { .kind = GG_RECORD_LOGITS,
          .logits = logits,
          .n_logits = V,
          .logit_ids = ids },
        { .kind = GG_RECORD_LOGITS,
          .logits = logits,
          .n_logits = V,
          .n_ids = 1 },
        { .kind = GG_RECORD_LOGITS,
          .logits = logits,
          .n_logits = V,
          .ids = ids,
          .n_ids = SIZE_MAX },
        { .kind = GG_RECORD_LOGITS,
          .logits = logits,
          .n_logits = V,
          .n_past = 1 },
        { .kind = GG_RECORD_LOGITS,
          .logits = logits,
          .n_logits = V,
          .past = ids,
          .n_past = SIZE_MAX },
    };
    struct gg_logit_head head = { .n_vocab = V };
    struct gg_logit_writer *w;
    bool right;

    must(gg_logit_writer_new(null_fd, &head, &w, &err));
    right = refused(gg_logit_write(NULL, &wrong[0], &err)) &&
            refused(gg_logit_write(w, NULL, &err));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (!refused(gg_logit_write(w, &wrong[i], &err))) {
            printf("# record %zu\n", i);
            right = false;
        }
    gg_logit_writer_free(w);
    return right;
}

/* ---- rows streams ------------------------------------------------------- */

static bool
rows_reader_new(void)
{
    struct gg_rows_reader *r = NULL;

    return refused(gg_rows_reader_new(0, NULL, &r, &err)) && !r &&
           refused(gg_rows_reader_new(0, "name", NULL, &err));
}

static bool
rows_reader_free(void)
{
    gg_rows_reader_free(NULL);
    return true;
}

static bool
rows_read(void)
{
    struct gg_rows_reader *r;
    struct gg_rows_record record;
    bool right;

    must(gg_rows_reader_new(-1, "none", &r, &err));
    right = refused(gg_rows_read(NULL, &record, &err)) &&
            refused(gg_rows_read(r, NULL, &err)) &&
            gg_rows_read(r, &record, &err) == GG_ERR_IO;
    gg_rows_reader_free(r);
    return right;
}

static bool
rows_writer_new(void)
{
    static const struct gg_rows_head wrong[] = {
        { .first = 0, .width = 4 },
        { .first = INT32_MAX, .width = 4 },
        { .first = 9, .width = 0 },
        { .first = 9, .width = SIZE_MAX },
        { .first = 9, .width = 4, .n_deeper = SIZE_MAX },
    };
    struct gg_rows_head good = { .first = 9, .width = 4 };
    struct gg_rows_writer *w = NULL;
    bool right = refused(gg_rows_writer_new(null_fd, NULL, &w, &err)) &&
                 refused(gg_rows_writer_new(null_fd, &good, NULL, &err)) &&
                 gg_rows_writer_new(-1, &good, &w, &err) == GG_ERR_IO;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        right &= refused(gg_rows_writer_new(null_fd, &wrong[i], &w, &err));
    return right && !w;
}

static bool
rows_writer_free(void)
{
    gg_rows_writer_free(NULL);
    return true;
}

static bool
rows_write(void)
{
    static const struct gg_media_rows none = { .kind = GG_MEDIA_IMAGE };
    static const struct gg_rows_record wrong[] = {
        { .kind = GG_ROWS_HEAD },
        { .kind = (enum gg_rows_kind)9 },
        { .kind = GG_ROWS_ERROR },
        { .kind = GG_ROWS_MEDIUM },
        { .kind = GG_ROWS_MEDIUM, .rows = &none },
    };
    struct gg_rows_head head = { .first = 9, .width = 4 };
    struct gg_rows_writer *w;
    bool right;

    must(gg_rows_writer_new(null_fd, &head, &w, &err));
    right = refused(gg_rows_write(NULL, &wrong[0], &err)) &&
            refused(gg_rows_write(w, NULL, &err));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        right &= refused(gg_rows_write(w, &wrong[i], &err));
    gg_rows_writer_free(w);
    return right;
}

static bool
stream_kind(void)
{
    bool is_text = false;

    return !gg_stream_kind(NULL, 1, &is_text) && is_text &&
           !gg_stream_kind("", 0, NULL) &&
           gg_stream_kind("{\"a\": 1}", 8, NULL);
}

const struct argument_test arguments_streams[] = {
    TEST(stream_kind),
    TEST(line_reader_new),
    TEST(line_reader_free),
    TEST(line_reader_split),
    TEST(line_reader_back),
    TEST(line_reader_watch),
    TEST(line_read),
    TEST(line_ready),
    TEST(line_write),
    TEST(line_reader_rows),
    TEST(line_reader_has_rows),
    TEST(line_write_rows),
    TEST(logit_reader_new),
    TEST(logit_reader_free),
    TEST(logit_reader_begin),
    TEST(logit_read),
    TEST(logit_reader_logits),
    TEST(logit_writer_new),
    TEST(logit_writer_free),
    TEST(logit_write),
    TEST(rows_reader_new),
    TEST(rows_reader_free),
    TEST(rows_read),
    TEST(rows_writer_new),
    TEST(rows_writer_free),
    TEST(rows_write),
    { .name = NULL },
};
