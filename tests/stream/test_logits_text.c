/* test_logits_text.c - the text of gg-eval --top, read as a logit stream */
#include "logit_member.h"

static const char *
read_text(const char *text)
{
    static char all[1024];
    int fd = pipe_holding(text, strlen(text)), n = 0;
    struct gg_logit_reader *reader;
    struct gg_logit_record r;
    enum gg_status st;

    must(gg_logit_reader_new(fd, "in", &reader, &err));
    while ((st = gg_logit_read(reader, &r, &err)) == GG_OK) {
        n += sprintf(all + n, "%s%d:", r.head.numbered ? "#" : "", r.kind);
        if (r.kind == GG_RECORD_ERROR)
            n += sprintf(all + n, "%llu %s", (unsigned long long)r.sequence,
                         r.message);
        else if (r.kind == GG_RECORD_LOGITS)
            n += sprintf(all + n, "%llu@%llu", (unsigned long long)r.sequence,
                         (unsigned long long)r.position);
        for (size_t i = 0; r.kind == GG_RECORD_LOGITS && i < r.n_logits; i++)
            n += sprintf(all + n, " %ld=%g", (long)r.logit_ids[i], r.logits[i]);
        n += sprintf(all + n, "|");
    }
    sprintf(all + n, "%s", st == GG_EOF ? "eof" : err.message);
    gg_logit_reader_free(reader);
    close(fd);
    return all;
}

static void
expect_text(const char *text, const char *want)
{
    const char *got = read_text(text);
    bool same = strcmp(got, want) == 0;

    if (!same)
        printf("# got %s\n", got);
    ok(same, want);
}

static void
test_text(void)
{
    expect_text("-\t5\t1\t11\t-0.25\t,\n-\t5\t2\t67\t-1e1\t\\n\n\n",
                "0:|1:0@5 11=-0.25 67=-10|4:|eof");
    expect_text("3\t5\t1\t11\t-0.25\n\n4\t1\t1\t2\t-inf\tx\ty\n\n",
                "#0:|#1:3@5 11=-0.25|#1:4@1 2=-inf|#4:|eof");
    expect_text("3\t!went wrong\n3\t5\t1\t11\t0\n\n",
                "#0:|#2:3 went wrong|#1:3@5 11=0|#4:|eof");
    expect_text("-\t5\t1\t11\t-0.25\t,\n",
                "0:|in: line 1: cut off in the middle of a record");
    expect_text("-\t5\t1\t11\t-0.2",
                "0:|in: line 1: cut off in the middle of a record");
    expect_text("-\t5\t2\t11\t0\t,\n\n",
                "0:|in: line 1: \"2\" is not the next rank");
    expect_text("-\t5\t1\t11\t0\t,\n-\t6\t2\t1\t0\n\n",
                "0:|in: line 2: \"6\" is not the record's position");
    expect_text("1\t5\t1\t11\t0\n2\t5\t2\t1\t0\n\n",
                "#0:|in: line 2: \"2\" is another sequence within a record");
    expect_text("1\t5\t1\t11\t0\n\n-\t5\t1\t1\t0\n\n",
                "#0:|#1:1@5 11=0|in: line 3: \"-\" is unlike the sequences "
                "before");
    expect_text("1\t5\t1\t2147483648\t0\n\n",
                "#0:|in: line 1: \"2147483648\" is no token id");
    expect_text("1\t5\t1\t1\tnan\n\n",
                "#0:|in: line 1: \"nan\" is no log-probability");
    expect_text("2026-11-20 Welcome\n",
                "#0:|in: line 1: \"2026-11-20 Welcome\" is no sequence");
    expect_text("15 5 1\n",
                "#0:|in: line 1: \"15 5 1\" is no sequence; this is token "
                "ids, of which gg-eval makes logits");
    expect_text("15\t5\t1\n", "#0:|in: line 1: \"15\\t5\\t1\" does not have "
                              "the fields of a table of logits");
}

int
main(void)
{
    test_text();
    return tap_done();
}
