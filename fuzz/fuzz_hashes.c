/* fuzz_hashes.c - lists of hashes: a word at most, or lines each of which a
 * file keeps, breaks, or does not have
 *
 * The list is that of gg-inspect --hash-check; the file is a small one. */
#include "gg-inspect/hash.c"

#include "fixtures/gguf_bytes.h"
#include "fuzz.h"
#include "tool.h"

const char fuzz_name[] = "hashes";
const char cli_name[] = "fuzz_hashes";

/* Whether this build has them. */
enum {
#ifdef HAVE_NETTLE
    HASHES = 1,
#else
    HASHES = 0,
#endif
};

static void
check(bool right)
{
    if (!right)
        abort();
}

/* Stands for bin/gg-inspect/json.c, which this target does not link: no input
 * asks for JSON. */
void
inspect_json_begin(const struct inspected *f, const char *member)
{
    (void)f, (void)member;
}

/* The file, of which all hashes are known; it serves all inputs. */
static struct inspected file;
static struct digests digests;
static struct bytes small;

static void
start(void)
{
    struct gguf_init_params params = { .no_alloc = true };
    int64_t n;

    if (file.gguf)
        return;
    put_small_file(&small);
    file.gguf = gguf_init_from_buffer(small.data, small.n, params);
    check(file.gguf != NULL);
    digests_init(&digests, &file);
    n = digests.n_tensors;
    for (int64_t i = 0; i < n; i++) /* as if they had been computed */
        memset(digests.tensors[i].hex, 'a', DIGEST_HEX - 1);
    digests_keys(&digests);
    digests_whole(&digests);
}

struct input {
    const uint8_t *data;
    size_t size;
    char path[64];
};

static void
check_list(const struct list *l)
{
    size_t kept = 0;

    check(l->n > 0 && l->n <= l->cap);
    for (size_t i = 0; i < l->n; i++) {
        const struct claim *c = &l->claims[i];

        check(strlen(c->hex) == DIGEST_HEX - 1 && is_hash(c->hex));
        check(c->name[0] && !strchr(c->name, '\n'));
        check(!c->of || strcmp(c->of->name, c->name) == 0);
        kept += holds(c);
    }
    check(kept <= l->n);
}

static void
read_claims(void *arg)
{
    struct input *in = arg;
    struct list l;

    read_list(&l, in->path);
    find_names(&digests, &l);
    check_list(&l);
    free(l.claims);
    free(l.text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size, "" };
    int fd;

    if (!HASHES)
        return 0;
    start();
    fd = tool_pipe(data, size);
    snprintf(in.path, sizeof(in.path), "/dev/fd/%d", fd);
    (void)tool_run(read_claims, &in, NULL);
    close(fd);
    return 0;
}

/* ---- the corpus ---------------------------------------------------------- */

/* A list as --hash would print it; the same with carriage returns, a mark in
 * front and hashes that are others; and no list. */
uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    static const char *const texts[] = { "", "\xef\xbb\xbf\r\n", "# none\n" };
    char *text = malloc(1 << 14);
    size_t n;

    check(text != NULL);
    if (!HASHES || i > 3) {
        free(text);
        return NULL;
    }
    start();
    n = (size_t)sprintf(text, "%s", i < 3 ? texts[i] : "");
    for (int64_t k = 0; k < digests.n_tensors && i != 2; k++)
        n +=
            (size_t)sprintf(text + n, "%.64s  %s%s\n",
                            i == 3 ? digests.model.hex : digests.tensors[k].hex,
                            digests.tensors[k].name, i == 1 ? "\r" : "");
    n += (size_t)sprintf(text + n, "%s  %s\n", digests.model.hex,
                         digests.model.name);
    *size = n;
    return (uint8_t *)text;
}
