/* fuzz_sample.c - logit streams through gg-sample: a word at most, and what it
 * writes is a token stream in which no sequence goes on after its end
 *
 * The first byte says how it draws; where its seventh bit is set, CRCs are made
 * right before the rest is read, which mutations would hardly do; where its
 * eighth is, half of the sequences are another part's. */
#include <unistd.h>

static int sampled = -1;
#undef STDOUT_FILENO
#define STDOUT_FILENO sampled
#define main          sample_main
int
main(int argc, char **argv);
#include "gg-sample/main.c"
#undef main
#include "gg-sample/back.c"
#include "gg-sample/draws.c"
#include "gg-sample/news.c"

#include "fixtures/logit_stream.h"
#include "fuzz.h"
#include "tool.h"

const char fuzz_name[] = "sample";

static void
check(bool right)
{
    if (!right)
        abort();
}

struct input {
    int fd;
    uint8_t how;
};

static struct sampling_options
options_of(uint8_t how)
{
    struct sampling_options o = sampling_options_default();

    o.has_seed = true;
    o.params.seed = 1;
    o.count = how % 4;
    o.ignore_eog = how & 4;
    if (how & 8)
        o.params.repeat_penalty = 1.5F;
    if (how & 16)
        o.params.top_k = 2;
    if (how & 32)
        o.params.temperature = 0;
    return o;
}

static void
sample(void *arg)
{
    const struct input *in = arg;
    struct sampling_options o = options_of(in->how);
    const struct shard shard = { 1, in->how & 128 ? 2 : 0 };
    struct run r = { .asked = &o,
                     .sampling = &o,
                     .quiet = true,
                     .shard = &shard,
                     .name = "in" };
    struct gg_logit_record record;
    struct gg_error err;
    enum gg_status st;

    r.sampler = sampling_start(&o, NULL, false);
    r.remembers = gg_sampler_remembers(r.sampler);
    cli_check(gg_logit_reader_new(in->fd, "in", &r.reader, &err), &err);
    while ((st = gg_logit_read(r.reader, &record, &err)) == GG_OK)
        handle(&r, &record);
    gg_logit_reader_free(r.reader);
    draws_forget(&r);
    gg_sampler_free(r.sampler);
    sampling_clear(&o);
    free(r.logits);
    free(r.line);
    if (st != GG_EOF)
        cli_check(st, &err);
}

/* Checks the lines it wrote, up to the first that cannot be read: a head with
 * other numbering begins anew. */
static void
check_lines(void)
{
    struct gg_line_reader *r;
    struct gg_line line;
    struct gg_error err;

    check(lseek(sampled, 0, SEEK_SET) == 0);
    check(gg_line_reader_new(sampled, "out", &r, &err) == GG_OK);
    while (gg_line_read(r, &line, &err) == GG_OK) {
        check(line.kind != GG_LINE_IDS || line.n_ids == 1);
        check(line.kind != GG_LINE_IDS || line.ids[0] >= 0);
    }
    gg_line_reader_free(r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    struct input in;

    check(copy != NULL);
    if (size > 0) {
        memcpy(copy, data + 1, size - 1);
        if (data[0] & 64)
            logit_stream_sign(copy, size - 1);
        in = (struct input){ tool_file(copy, size - 1), data[0] };
        sampled = tool_file("", 0);
        (void)tool_run(sample, &in, NULL);
        check_lines();
        close(sampled);
        close(in.fd);
    }
    free(copy);
    return 0;
}

/* ---- the corpus ---------------------------------------------------------- */

/* Some records, one that failed, and their ends. */
static void
write_stream(int fd, bool numbered, enum gg_vector_encoding encoding)
{
    static const enum gg_record_kind kinds[] = {
        GG_RECORD_LOGITS, GG_RECORD_LOGITS, GG_RECORD_LOGITS,
        GG_RECORD_ERROR,  GG_RECORD_LOGITS, GG_RECORD_CLOSE,
        GG_RECORD_LOGITS, GG_RECORD_CLOSE,  GG_RECORD_END
    };

    logit_stream_write(fd, numbered, encoding, kinds,
                       sizeof(kinds) / sizeof(kinds[0]));
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    uint8_t *data;
    off_t end;
    int fd;

    if (i >= 12)
        return NULL;
    fd = tool_file("", 0);
    write_stream(fd, i % 2, (enum gg_vector_encoding)(i / 2 % 3));
    if (i >= 6)
        write_stream(fd, i % 4 < 2, GG_ENCODING_F16);
    end = lseek(fd, 0, SEEK_END);
    data = malloc((size_t)end + 1);
    check(end > 0 && data && pread(fd, data + 1, (size_t)end, 0) == end);
    close(fd);
    data[0] = (uint8_t)(64 | (i * 5 & 63));
    *size = (size_t)end + 1;
    return data;
}
