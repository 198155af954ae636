/* test_line.c - the token stream: what is read, refused, and written */
#include <gg-stream.h>
#include <signal.h>

#include "stream_pipe.h"
#include "harness/tap.h"

static struct gg_error err;

/* Shows a line as text that tells its parts. */
static void
show(char *out, size_t size, const struct gg_line *l)
{
    int n = l->numbered
                ? snprintf(out, size, "%llu: ", (unsigned long long)l->sequence)
                : snprintf(out, size, "-: ");

    if (l->kind == GG_LINE_END)
        snprintf(out + n, size - (size_t)n, "end");
    else if (l->kind == GG_LINE_ERROR)
        snprintf(out + n, size - (size_t)n, "error %s", l->message);
    for (size_t i = 0; l->kind == GG_LINE_IDS && i < l->n_ids; i++)
        n += snprintf(out + n, size - (size_t)n, "%ld,", (long)l->ids[i]);
}

/* All that the reader says of a text, in one string. */
static const char *
read_all(const char *text, size_t len, bool dripping)
{
    static char all[4096];
    int fd = dripping ? pipe_dripping(text, len) : pipe_holding(text, len);
    struct gg_line_reader *r = NULL;
    struct gg_line line;
    enum gg_status st;

    all[0] = '\0';
    if (gg_line_reader_new(fd, "in", &r, &err) != GG_OK)
        return "no reader";
    while ((st = gg_line_read(r, &line, &err)) == GG_OK) {
        size_t used = strlen(all);

        show(all + used, sizeof(all) - used, &line);
        strcat(all, "|");
    }
    strcat(all, st == GG_EOF ? "eof" : err.message);
    gg_line_reader_free(r);
    close(fd);
    return all;
}

static void
expect(const char *text, size_t len, const char *want)
{
    char name[160];
    const char *got = read_all(text, len, false);
    bool same = strcmp(got, want) == 0;

    snprintf(name, sizeof(name), "reads as %s", want);
    if (!same)
        printf("# got %s\n", got);
    ok(same, name);
}
#define EXPECT(text, want) expect(text, sizeof(text) - 1, want)

static void
test_lines(void)
{
    EXPECT("", "eof");
    EXPECT("1 2 3\n", "-: 1,2,3,|eof");
    EXPECT("1 2 3", "-: 1,2,3,|eof");
    EXPECT("1\n2\n", "-: 1,|-: 2,|eof");
    EXPECT("\n", "-: |eof");
    EXPECT("  7   8 \n", "-: 7,8,|eof");
    EXPECT("007\n", "-: 7,|eof");
    EXPECT("2147483647\n", "-: 2147483647,|eof");
    EXPECT("!went wrong\twith a tab\n", "-: error went wrong\\twith a tab|eof");
    EXPECT("5\t1 2\n6\t3\n5\t\n6\t!bad\n",
           "5: 1,2,|6: 3,|5: end|6: error bad|eof");
    EXPECT("5\t  \n", "5: end|eof");
    EXPECT("5\t!\n", "5: error |eof");
    EXPECT("18446744073709551615\t1\n", "18446744073709551615: 1,|eof");
}

static void
test_refused(void)
{
    EXPECT("1 x2\n", "in: line 1: \"x2\" is no token id");
    EXPECT("1\n2 3y 4\n", "-: 1,|in: line 2: \"3y\" is no token id");
    EXPECT("1 -2\n", "in: line 1: \"-2\" is no token id");
    EXPECT("2147483648\n", "in: line 1: \"2147483648\" is no token id");
    EXPECT("99999999999999999999999\n",
           "in: line 1: \"99999999999999999999999\" is no token id");
    EXPECT("1 2\r3\n", "in: line 1: \"2\\r3\" is no token id");
    EXPECT("1\0\n",
           "in: line 1: \"1\\x00\" is no token id; this is binary data");
    EXPECT("\x1b[2J\n",
           "in: line 1: \"\\x1b[2J\" is no token id; this is text, of "
           "which gg-tokenize makes token ids");
    EXPECT("1 2\t3\n", "in: line 1: \"1 2\" is no sequence number");
    EXPECT("\t3\n", "in: line 1: \"\" is no sequence number");
    EXPECT("18446744073709551616\t1\n",
           "in: line 1: \"18446744073709551616\" is no sequence number");
    EXPECT("1\t2\t3\n", "in: line 1: \"2\\t3\" is no token id");
    EXPECT("1\t2\n3\n",
           "1: 2,|in: line 2: has no sequence number, unlike the lines before");
    EXPECT("1\n3\t1\n",
           "-: 1,|in: line 2: has a sequence number, unlike the lines before");
    EXPECT("!a\0b\n", "in: line 1: \"a\\x00b\" has a NUL; this is binary data");
}

static void
test_dripping(void)
{
    static const char text[] = "5\t1 22 333\n6\t!no\n5\t\n";

    is(strcmp(read_all(text, sizeof(text) - 1, true),
              "5: 1,22,333,|6: error no|5: end|eof"),
       0, "bytes that come one by one");
}

/* A line is given as soon as it is whole, though no more has come. */
static void
test_at_once(void)
{
    struct gg_line_reader *r = NULL;
    struct gg_line line;
    int fd[2];
    bool good = pipe(fd) == 0 && write(fd[1], "1 2\n3", 5) == 5 &&
                gg_line_reader_new(fd[0], "in", &r, &err) == GG_OK;

    alarm(10);
    ok(good && gg_line_read(r, &line, &err) == GG_OK && line.n_ids == 2,
       "a whole line while another has begun");
    good = write(fd[1], "4\n", 2) == 2;
    ok(good && gg_line_read(r, &line, &err) == GG_OK && line.n_ids == 1 &&
           line.ids[0] == 34,
       "then the other");
    alarm(0);
    gg_line_reader_free(r);
    close(fd[0]);
    close(fd[1]);
}

static void
nothing(int sig)
{
    (void)sig;
}

static void
test_interrupted(void)
{
    struct sigaction act = { .sa_handler = nothing };
    struct gg_line_reader *r = NULL;
    struct gg_line line;
    int fd[2];
    bool good = pipe(fd) == 0 && write(fd[1], "1 ", 2) == 2 &&
                gg_line_reader_new(fd[0], "in", &r, &err) == GG_OK;

    sigaction(SIGALRM, &act, NULL);
    alarm(1);
    ok(good && gg_line_read(r, &line, &err) == GG_ERR_ABORTED,
       "a signal ends the wait");
    good = write(fd[1], "2\n", 2) == 2;
    ok(good && gg_line_read(r, &line, &err) == GG_OK && line.n_ids == 2,
       "and nothing of the line is lost");
    gg_line_reader_free(r);
    close(fd[0]);
    close(fd[1]);
}

static void
test_watch(void)
{
    struct gg_line_reader *r = NULL;
    struct gg_line line;
    int in[2], out[2];
    bool good = pipe(in) == 0 && pipe(out) == 0 &&
                gg_line_reader_new(in[0], "in", &r, &err) == GG_OK;

    gg_line_reader_watch(r, out[1]);
    good = good && write(in[1], "1\n", 2) == 2;
    ok(good && gg_line_read(r, &line, &err) == GG_OK, "somebody reads");
    close(out[0]);
    is(gg_line_read(r, &line, &err), GG_ERR_ABORTED, "nobody reads any more");
    gg_line_reader_free(r);
    close(in[0]);
    close(in[1]);
    close(out[1]);
}

/* A reader whose pipe gets the text, with what is said of it then. */
static bool
ready_after(struct gg_line_reader *r, int fd, const char *text)
{
    ssize_t n = (ssize_t)strlen(text);

    return write(fd, text, (size_t)n) == n && gg_line_ready(r);
}

static void
test_ready(void)
{
    struct gg_line_reader *r = NULL;
    struct gg_line line, next;
    int fd[2];
    bool good =
        pipe(fd) == 0 && gg_line_reader_new(fd[0], "in", &r, &err) == GG_OK;

    ok(good && !gg_line_ready(r), "nothing is ready in an empty pipe");
    ok(!ready_after(r, fd[1], "1 2"), "nor is half a line");
    ok(ready_after(r, fd[1], " 3\n4"), "a whole one is");
    ok(gg_line_ready(r), "and stays so until it is read");
    good = gg_line_read(r, &line, &err) == GG_OK && line.n_ids == 3;
    ok(good && !gg_line_ready(r), "half of the next is not");
    ok(ready_after(r, fd[1], "5\nx\n") && line.ids[2] == 3,
       "looking leaves the last line as it was");
    good = gg_line_read(r, &next, &err) == GG_OK && next.ids[0] == 45;
    ok(good && gg_line_ready(r) &&
           gg_line_read(r, &line, &err) == GG_ERR_FORMAT,
       "a bad line is ready");
    ok(!ready_after(r, fd[1], "6"), "a last line is not yet");
    close(fd[1]);
    good = gg_line_ready(r) && gg_line_read(r, &line, &err) == GG_OK;
    ok(good && line.ids[0] == 6, "but when the pipe has ended");
    ok(gg_line_ready(r) && gg_line_read(r, &line, &err) == GG_EOF,
       "the end is ready, too");
    gg_line_reader_free(r);
    close(fd[0]);
}

/* All ids of the lines of `text`, which come in parts, and how many parts. */
struct parts {
    int32_t ids[20000];
    size_t n_ids, n_parts, n_lines, n_ends, n_messages;
    bool numbers; /* each part has its line's sequence: 1 to n_lines */
    enum gg_status st;
};

static void
read_parts(struct parts *p, const char *text, size_t len, bool dripping)
{
    int fd = dripping ? pipe_dripping(text, len) : pipe_holding(text, len);
    struct gg_line_reader *r = NULL;
    struct gg_line line;

    memset(p, 0, sizeof(*p));
    p->numbers = true;
    p->st = gg_line_reader_new(fd, "in", &r, &err);
    if (p->st == GG_OK)
        gg_line_reader_split(r);
    while (p->st == GG_OK && (p->st = gg_line_read(r, &line, &err)) == GG_OK) {
        p->n_parts++;
        p->numbers = p->numbers && line.sequence == p->n_lines + 1;
        p->n_lines += !line.more;
        p->n_ends += line.kind == GG_LINE_END;
        p->n_messages += line.kind == GG_LINE_ERROR;
        for (size_t i = 0; line.kind == GG_LINE_IDS && i < line.n_ids; i++)
            p->ids[p->n_ids++ % 20000] = line.ids[i];
    }
    gg_line_reader_free(r);
    close(fd);
}

/* Two lines of 10,000 ids each, with numbers or without. */
static char *
two_lines(bool numbered, size_t *len)
{
    char *text = malloc(20000 * 12 + 100);

    *len = 0;
    for (int i = 0; i < 20000; i++)
        *len += (size_t)sprintf(text + *len, "%.*s%d%s",
                                numbered && i % 10000 == 0 ? 2 : 0,
                                i ? "2\t" : "1\t", i * 7919,
                                i % 10000 == 9999 ? "\n"
                                : i % 3           ? " "
                                                  : "  ");
    return text;
}

static void
test_parts(void)
{
    static struct parts p;
    size_t len;

    for (int i = 0; i < 4; i++) {
        char *text = two_lines(i % 2, &len);
        bool same = true;

        read_parts(&p, text, len, i / 2);
        for (int k = 0; k < 20000; k++)
            same = same && p.ids[k] == k * 7919;
        ok(p.st == GG_EOF && p.n_ids == 20000 && same && p.n_lines == 2 &&
               p.n_parts >= 10 && p.n_ends == 0 && (i % 2 == 0 || p.numbers),
           i % 2 ? "numbered lines in parts" : "lines in parts");
        free(text);
    }
}

/* Long lines that are no chunk. */
static void
test_odd_parts(void)
{
    static struct parts p;
    size_t n = 50000;
    char *text = malloc(n + 20);

    memset(text, ' ', n + 20);
    memcpy(text, "1\t", 2);
    memcpy(text + n, "\n2\t7\n", 5);
    read_parts(&p, text, n + 5, false);
    ok(p.st == GG_EOF && p.n_ends == 1 && p.n_ids == 1 && p.numbers,
       "a number and many blanks end a sequence");
    memcpy(text + n - 2, "5 \n2\t7\n", 7);
    read_parts(&p, text, n + 5, false);
    ok(p.st == GG_EOF && p.n_ends == 0 && p.n_ids == 2 && p.numbers,
       "but not with an id behind the blanks");
    memcpy(text, "1\t!", 3);
    read_parts(&p, text, n + 5, false);
    ok(p.st == GG_EOF && p.n_messages == 1 && p.n_parts == 2 && p.n_ids == 1,
       "a message comes whole");
    memcpy(text, "1\t ", 3);
    memcpy(text + n / 2, " !x ", 4);
    read_parts(&p, text, n + 5, false);
    ok(p.st == GG_ERR_FORMAT && strstr(err.message, "line 1: \"!x\""),
       "within a line there is none");
    memset(text, '0', n);
    memcpy(text + n, " 5\n", 3);
    read_parts(&p, text, n + 3, false);
    ok(p.st == GG_EOF && p.n_ids == 2 && p.ids[0] == 0 && p.ids[1] == 5,
       "an id of any length is one");
    free(text);
}

/* A part is there before its line is. */
static void
test_part_ready(void)
{
    static char text[20000];
    struct gg_line_reader *r = NULL;
    struct gg_line line;
    int fd[2];
    bool good =
        pipe(fd) == 0 && gg_line_reader_new(fd[0], "in", &r, &err) == GG_OK;

    for (size_t i = 0; i + 2 < sizeof(text); i += 2)
        memcpy(text + i, "7 ", 3);
    alarm(10);
    gg_line_reader_split(r);
    ok(good && ready_after(r, fd[1], text) &&
           gg_line_read(r, &line, &err) == GG_OK && line.more &&
           line.n_ids > 1000,
       "a part is ready before its line ends");
    ok(!gg_line_ready(r) && ready_after(r, fd[1], "\n") &&
           gg_line_read(r, &line, &err) == GG_OK && !line.more,
       "its end is when it comes");
    alarm(0);
    gg_line_reader_free(r);
    close(fd[0]);
    close(fd[1]);
}

static void
test_long(void)
{
    size_t n = 300000, len = 0;
    char *text = malloc(n * 8);
    struct gg_line_reader *r = NULL;
    struct gg_line line;
    bool same;
    int fd;

    for (size_t i = 0; i < n; i++)
        len += (size_t)sprintf(text + len, "%zu ", i);
    text[len++] = '\n';
    fd = pipe_holding(text, len);
    same = gg_line_reader_new(fd, "in", &r, &err) == GG_OK &&
           gg_line_read(r, &line, &err) == GG_OK && line.n_ids == n;
    for (size_t i = 0; same && i < n; i++)
        same = line.ids[i] == (int32_t)i;
    ok(same, "a line of 2 MB");
    gg_line_reader_free(r);
    close(fd);
    free(text);
}

/* ---- writing ---- */

static void
expect_written(const struct gg_line *line, const char *want)
{
    int fd = pipe_holding("", 0);
    size_t size = 0;
    char name[80];
    uint8_t *got;

    if (gg_line_write(fd, line, &err) != GG_OK)
        printf("# %s\n", err.message);
    got = pipe_contents(fd, &size);
    ok(size == strlen(want) && memcmp(got, want, size) == 0,
       gg_escape(name, sizeof(name), want, strlen(want)));
    free(got);
    close(fd);
}

static void
test_write(void)
{
    static const int32_t ids[] = { 0, 15496, INT32_MAX }, bad[] = { -1 };
    static int32_t many[1000];
    struct gg_line l = { .kind = GG_LINE_IDS, .ids = ids, .n_ids = 3 };
    char want[16000] = "";

    expect_written(&l, "0 15496 2147483647\n");
    l.numbered = true;
    l.sequence = UINT64_MAX;
    expect_written(&l, "18446744073709551615\t0 15496 2147483647\n");
    l.last = true;
    l.sequence = 7;
    l.n_ids = 1;
    expect_written(&l, "7\t0\n7\t\n");
    expect_written(&(struct gg_line){ .kind = GG_LINE_END, .numbered = true },
                   "0\t\n");
    expect_written(
        &(struct gg_line){ .kind = GG_LINE_ERROR, .message = "two\nlines" },
        "!two lines\n");
    for (int i = 0; i < 1000; i++) {
        many[i] = INT32_MAX - i;
        sprintf(want + strlen(want), "%ld%c", (long)many[i],
                i < 999 ? ' ' : '\n');
    }
    expect_written(&(struct gg_line){ .ids = many, .n_ids = 1000 }, want);
    l.ids = bad;
    is(gg_line_write(1, &l, &err), GG_ERR_ARG, "a negative id");
    is(gg_line_write(-1, &(struct gg_line){ .n_ids = 0 }, &err), GG_ERR_IO,
       "a descriptor that is none");
}

/* ---- rows ---------------------------------------------------------------- */

#define A "0101010101010101010101010101010101010101010101010101010101010101"
#define B "0202020202020202020202020202020202020202020202020202020202020202"

/* Words of a reader that has these media on the text's first line; "ok": it
 * has some ids. */
static const char *
with_rows(const char *text, const char *media, bool split)
{
    uint8_t hashes[2][GG_MEDIUM_HASH];
    int fd = pipe_holding(text, strlen(text));
    struct gg_line_reader *r = NULL;
    struct gg_line line;
    enum gg_status st;
    size_t n = media ? strlen(media) : 0;

    for (size_t i = 0; i < n; i++)
        memset(hashes[i], media[i] - 'A' + 1, GG_MEDIUM_HASH);
    st = gg_line_reader_new(fd, "in", &r, &err);
    if (st == GG_OK)
        st = gg_line_reader_rows(r, 300, media ? hashes[0] : NULL, n, &err);
    if (split)
        gg_line_reader_split(r);
    if (st == GG_OK)
        st = gg_line_read(r, &line, &err);
    if (st == GG_OK && line.n_ids == 0)
        st = GG_ERR_FORMAT;
    gg_line_reader_free(r);
    close(fd);
    return st == GG_OK ? "ok" : err.message;
}

static void
test_rows(void)
{
    static char many[70000] = "#rows";

    ok(!strcmp(with_rows("#rows " A " " B "\n1 300\n", "AB", false), "ok") &&
           !strcmp(with_rows("#rows " A "\r\n7\t1 300\n", NULL, true), "ok"),
       "a line names the media of rows");
    ok(!strcmp(with_rows("1 2 299\n", "A", false), "ok"),
       "ids of tokens need none");
    ok(strstr(with_rows("1 300\n", "A", false), "id 300 is of a row"),
       "rows without it are refused");
    ok(strstr(with_rows("#rows " B " " A "\n1\n", "AB", false), "another one"),
       "media in another order are refused");
    ok(strstr(with_rows("#rows " A "\n1\n", "AB", false), "1 media") &&
           strstr(with_rows("#rows " A " " B "\n1\n", "A", false),
                  "is not given"),
       "so are too few, and too many");
    ok(strstr(with_rows("#rows 12\n1\n", NULL, false), "no SHA-256"),
       "what is no hash is refused");
    ok(strstr(with_rows("1\n#rows " A "\n", "A", false), "ok") &&
           strstr(read_all("1\n#rows " A "\n", 73, false), "is no token id"),
       "it is the first line");
    ok(strstr(read_all("#rows " A "\n1\n", 73, false), "not taken here"),
       "a reader without media refuses it");
    for (int i = 0; i < 1000; i++)
        strcat(many, " " A);
    strcat(many, "\n1 300\n");
    ok(!strcmp(with_rows(many, NULL, true), "ok"),
       "however long it is, it comes whole");
}

/* The line `text` as read by a reader that takes lines with ids taken back. */
static const char *
with_back(const char *text)
{
    static char said[200];
    struct gg_line_reader *r = NULL;
    struct gg_line l;
    int fd = pipe_holding(text, strlen(text));

    if (gg_line_reader_new(fd, "in", &r, &err) != GG_OK)
        return "no reader";
    gg_line_reader_back(r);
    if (gg_line_read(r, &l, &err) == GG_OK) {
        show(said, sizeof(said), &l);
        snprintf(said + strlen(said), 40, " back %d%s", (int)l.back,
                 l.open ? " open" : "");
    } else {
        snprintf(said, sizeof(said), "%.199s", err.message);
    }
    gg_line_reader_free(r);
    close(fd);
    return said;
}

static void
test_back(void)
{
    static const char *const wrong[] = { "-2\n",    "-2 \n",           "- 5\n",
                                         "-0 5\n",  "5 -1\n",          "5??\n",
                                         "-5\t7\n", "-99999999999 1\n" };
    const int32_t ids[] = { 8, 9 };
    const struct gg_line line = { .numbered = true,
                                  .sequence = 3,
                                  .ids = ids,
                                  .n_ids = 2,
                                  .back = 4,
                                  .open = true };
    const struct gg_line none = { .back = 1 };
    char text[64] = "";
    int fd[2];

    is(with_back("5\n"), "-: 5, back 0", "ids that stay");
    is(with_back("5 6?\n"), "-: 5,6, back 0 open", "that may be taken back");
    is(with_back("7\t-2 5\n"), "7: 5, back 2", "in place of others");
    is(with_back("-12 5?\r\n"), "-: 5, back 12 open", "both");
    is(with_back("7\t!-2 5?\n"), "7: error -2 5? back 0", "a message");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ok(strstr(with_back(wrong[i]), "in: line 1: "), wrong[i]);
    ok(strstr(read_all("-2 5\n", 5, false), "is no token id") &&
           strstr(read_all("5?\n", 3, false), "is no token id"),
       "another reader refuses them");
    ok(pipe(fd) == 0 && gg_line_write(fd[1], &line, &err) == GG_OK &&
           read(fd[0], text, sizeof(text) - 1) > 0 &&
           !strcmp(text, "3\t-4 8 9?\n"),
       "and so it is written");
    ok(gg_line_write(fd[1], &none, &err) == GG_ERR_ARG,
       "but not without ids in place of those");
    close(fd[0]);
    close(fd[1]);
}

static void
test_write_rows(void)
{
    uint8_t hashes[2 * GG_MEDIUM_HASH];
    int fd[2];
    char text[256] = "";

    memset(hashes, 1, GG_MEDIUM_HASH);
    memset(hashes + GG_MEDIUM_HASH, 2, GG_MEDIUM_HASH);
    ok(pipe(fd) == 0 && gg_line_write_rows(fd[1], hashes, 2, &err) == GG_OK &&
           read(fd[0], text, sizeof(text) - 1) > 0 &&
           !strcmp(text, "#rows " A " " B "\n"),
       "and so it is written");
    close(fd[0]);
    close(fd[1]);
}

int
main(void)
{
    test_rows();
    test_write_rows();
    test_back();
    test_lines();
    test_refused();
    test_dripping();
    test_at_once();
    test_interrupted();
    test_watch();
    test_ready();
    test_parts();
    test_odd_parts();
    test_part_ready();
    test_long();
    test_write();
    return tap_done();
}
