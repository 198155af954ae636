/* source.c - records from a file of any form */
#include <config.h>

#include "gg-logits/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cli.h"
#include "gg-logits/npz.h"

struct source {
    enum form form;
    struct input in;
    struct gg_logit_reader *stream;
    struct lines_reader text;
    struct jsonl_reader json;
    struct npz_reader *npz;
    int scratch; /* a copy of what came through a pipe, or -1 */
};

int
scratch_file(void)
{
    const char *dir = getenv("TMPDIR");
    char path[PATH_MAX];
    int fd;

    if (!dir || !*dir)
        dir = "/tmp";
    if (snprintf(path, sizeof(path), "%s/gg-XXXXXX", dir) >=
        (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* All that is there and comes, to a file that can be read at any place. */
static enum gg_status
copy(struct source *s, struct gg_error *err)
{
    struct input *in = &s->in;
    enum gg_status st = GG_OK;

    s->scratch = scratch_file();
    if (s->scratch < 0)
        return fail(err, GG_ERR_IO, "a temporary file: %s", strerror(errno));
    while (st == GG_OK && (st = input_fill(in, 1, err)) == GG_OK &&
           input_left(in) > 0) {
        ssize_t n = write(s->scratch, in->data + in->start, input_left(in));

        if (n < 0 && errno != EINTR)
            st = fail(err, GG_ERR_IO, "a temporary file: %s", strerror(errno));
        in->start += n > 0 ? (size_t)n : 0;
    }
    return st;
}

static bool
is_regular(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static enum gg_status
open_archive(struct source *s, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    int fd = s->in.fd;

    if (!is_regular(fd)) {
        st = copy(s, err);
        fd = s->scratch;
    }
    return st == GG_OK ? npz_open(&s->npz, &s->in, fd, err) : st;
}

static enum gg_status
open_stream(struct source *s, struct gg_error *err)
{
    enum gg_status st =
        gg_logit_reader_new(s->in.fd, s->in.name, &s->stream, err);

    return st == GG_OK
               ? gg_logit_reader_begin(s->stream, s->in.data + s->in.start,
                                       input_left(&s->in), err)
               : st;
}

/* What begins as nothing known is left to the library to complain about. */
static enum form
form_of(const uint8_t *p, size_t n)
{
    size_t mark = cli_mark((const char *)p, n);
    int c = n > mark ? p[mark] : -1;

    return c == 'h'    ? FORM_TEXT
           : c == '{'  ? FORM_JSONL
           : c == 0x93 ? FORM_NPY
           : c == 'P'  ? FORM_NPZ
                       : FORM_STREAM;
}

static enum gg_status
open_form(struct source *s, struct gg_error *err)
{
    struct input *in = &s->in;
    enum gg_status st = input_fill(in, 1, err);

    if (st == GG_OK && input_left(in) && in->data[in->start] == 0xef)
        st = input_fill(in, 4, err); /* a mark and what follows */
    if (st != GG_OK)
        return st;
    s->form = FORM_STREAM;
    if (input_left(in))
        s->form = form_of(in->data + in->start, input_left(in));
    if (s->form == FORM_TEXT || s->form == FORM_JSONL)
        in->start +=
            cli_mark((const char *)in->data + in->start, input_left(in));
    switch (s->form) {
    case FORM_STREAM:
        return open_stream(s, err);
    case FORM_NPY:
        return npz_open(&s->npz, &s->in, -1, err);
    case FORM_NPZ:
        return open_archive(s, err);
    default:
        return GG_OK;
    }
}

enum gg_status
source_open(struct source **out, int fd, const char *name, struct gg_error *err)
{
    struct source *s = calloc(1, sizeof(*s));
    enum gg_status st;

    if (!s)
        return fail(err, GG_ERR_NOMEM, "out of memory");
    s->in = (struct input){ .fd = fd, .name = name };
    s->scratch = -1;
    st = open_form(s, err);
    if (st == GG_OK)
        *out = s;
    else
        source_close(s);
    return st;
}

void
source_close(struct source *s)
{
    if (!s)
        return;
    gg_logit_reader_free(s->stream);
    draft_clear(&s->text.draft);
    draft_clear(&s->json.draft);
    npz_close(s->npz);
    if (s->scratch >= 0)
        close(s->scratch);
    input_clear(&s->in);
    free(s);
}

static enum gg_status
read_stream(struct source *s, struct gg_logit_record *record,
            struct gg_error *err)
{
    enum gg_status st = gg_logit_read(s->stream, record, err);

    if (st == GG_OK && record->kind == GG_RECORD_HEAD &&
        record->head.n_vocab == 0)
        return fail(err, GG_ERR_UNSUPPORTED,
                    "%s: the text of gg-eval --top, which lacks a head; "
                    "--to text has one",
                    s->in.name);
    return st;
}

enum gg_status
source_read(struct source *s, struct gg_logit_record *record,
            struct gg_error *err)
{
    switch (s->form) {
    case FORM_STREAM:
        return read_stream(s, record, err);
    case FORM_TEXT:
        return lines_read(&s->text, &s->in, record, err);
    case FORM_JSONL:
        return jsonl_read(&s->json, &s->in, record, err);
    default:
        return npz_read(s->npz, record, err);
    }
}

enum form
source_form(const struct source *s)
{
    return s->form;
}
