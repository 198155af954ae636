/* resume.c - goes on where an earlier run has stopped */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "common/outside.h"
#include "gg-generate/records.h"

enum {
    MAX_ANSWER = 1 << 28, /* bytes: it holds what is passed through, too */
};

CLI_NORETURN static void
fail_resume(const char *path)
{
    cli_die("%s: %s", path, strerror(errno));
}

/* Where the last whole record of the file ends. */
static off_t
find_end(int fd, const char *path, char end)
{
    char text[1 << 13];
    off_t size = lseek(fd, 0, SEEK_END);

    if (size < 0 || lseek(fd, 0, SEEK_SET) < 0)
        fail_resume(path);
    while (size > 0) {
        size_t want = size < (off_t)sizeof(text) ? (size_t)size : sizeof(text);
        off_t from = size - (off_t)want;
        ssize_t n = pread(fd, text, want, from);
        const char *last = n > 0 ? memrchr(text, end, (size_t)n) : NULL;

        if (n < 0)
            fail_resume(path);
        if (last)
            return from + (last - text) + 1;
        size = from;
    }
    return 0;
}

int
resume_open(const char *path)
{
    char final[PATH_MAX];
    int fd = files_write_locked(path, O_RDWR | O_CREAT | O_APPEND, NULL, final);
    int in = outside_open(path, O_RDONLY);

    cli_name_output(path);
    if (in < 0 || dup2(fd, STDOUT_FILENO) < 0)
        fail_resume(path);
    if (fd != STDOUT_FILENO)
        close(fd); /* the lock is standard output's */
    return in;
}

void
resume_cut(const char *path, struct resumed *last)
{
    if (last->end >= 0 && ftruncate(STDOUT_FILENO, last->end))
        fail_resume(path);
    last->end = -1;
}

static void
keep(struct buffer *b, const char *text, size_t len)
{
    b->len = 0;
    buffer_add(b, text, len);
}

/* In the first answer that does. */
static bool
find_sampling(const struct form *form, struct reader *old, char **line)
{
    const char *out;
    size_t len;

    while (reader_next(old, true, &out, &len) == READER_RECORD)
        if (!old->too_long && form->sampling(out, len, line))
            return true;
    return false;
}

void
resume_sampling(struct generate *g)
{
    const struct form *form = g->o->form == FORM_JSONL ? jsonl_form : NULL;
    struct reader old = { .fd = g->resumed,
                          .name = g->o->resume,
                          .what = "a record",
                          .end = '\n',
                          .max = MAX_ANSWER,
                          .max_lost = MAX_ANSWER };
    char *line = NULL;

    if (!form || g->loaded)
        return;
    if (find_sampling(form, &old, &line))
        g->sampling = g->resumed_sampling = line;
    reader_clear(&old);
    if (lseek(g->resumed, 0, SEEK_SET) < 0)
        fail_resume(g->o->resume);
}

void
resume_check_sampling(const struct generate *g)
{
    const struct options *o = g->o;

    if (o->resume && o->form != FORM_JSONL && o->sampling.file.line &&
        !o->sampling.has_seed && o->sampling.params.temperature != 0 &&
        !o->choices.n && !cli_was_given("defaults"))
        cli_misuse("--resume %s: what the model's file says of sampling has no "
                   "place there: --defaults must say whose values count",
                   o->resume);
}

void
resume_skip(struct generate *g, const struct form *form,
            struct record_input *in, int fd, const char *path,
            struct resumed *last)
{
    struct reader old = { .fd = fd,
                          .name = path,
                          .what = "a record",
                          .end = in->reader.end,
                          .max = MAX_ANSWER,
                          .max_lost = MAX_ANSWER };
    off_t end = find_end(fd, path, in->reader.end);
    const char *text, *out;
    size_t len, out_len;

    while (reader_place(&old) < (uint64_t)end &&
           reader_next(&old, true, &out, &out_len) == READER_RECORD) {
        struct record r = { 0 };
        bool bad, same;

        if (old.too_long)
            cli_too_long(path, "a record", MAX_ANSWER);
        if (record_input_next(in, true, &text, &len, &r.request.number) !=
            READER_RECORD) {
            if (cli_signal())
                cli_raise(cli_signal());
            cli_die("%s: has more answers than %s has records", path,
                    in->reader.name);
        }
        same = form->matches(g, &r, text, len, out, out_len, &bad);
        buffer_clear(&r.text);
        if (!same)
            cli_die("%s: record %" PRIu64 " is no answer to that of %s", path,
                    r.request.number, in->reader.name);
        last->n++;
        last->number = r.request.number;
        last->failed |= bad;
        keep(&last->text, text, len);
        keep(&last->out, out, out_len);
        buffer_char(&last->out, old.end);
    }
    reader_clear(&old);
    close(fd);
    last->end = end;
    if (g->o->engine.verbose)
        cli_warn("%s: %" PRIu64 " records are answered already", path, last->n);
}
