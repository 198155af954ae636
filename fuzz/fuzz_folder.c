/* fuzz_folder.c - folders of Hugging Face's: a word at most, and tensors that
 * can be made where one was opened
 *
 * The first byte of an input says which file of a small model's folder the
 * rest becomes. */
#include <gg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folders.h"
#include "fuzz.h"
#include "harness/scratch.h"

const char fuzz_name[] = "folder";

static const char *const files[] = {
    "config.json",
    "tokenizer.json",
    "model-00001-of-00002.safetensors",
    "model.safetensors.index.json",
    "tokenizer_config.json",
    "model-00002-of-00002.safetensors",
    "tokenizer.model",
    "generation_config.json",
    "added_tokens.json",
};

enum {
    N_FILES = sizeof(files) / sizeof(files[0]),
    N_MADE = 6, /* of them are in every folder */
    TOKENIZER = 1,
    SENTENCES = 6,
};

static void
check(bool right)
{
    if (!right)
        abort();
}

/* A file goes away, or comes back. */
static void
hide(size_t of, size_t which, bool away)
{
    const char *path = folders_path(of, files[which]);
    const char *other = scratch_file("hidden");

    check(rename(away ? path : other, away ? other : path) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t which, of, old_size = 0;
    bool alone;
    uint8_t *old = NULL;
    struct gg_vocab *v = NULL;
    struct gg_file *f = NULL;
    struct gg_error err;
    static char path[SCRATCH_PATH], folder[SCRATCH_PATH];

    folders_make();
    if (size < 1)
        return 0;
    which = data[0] % N_FILES;
    of = data[0] / N_FILES % N_FOLDERS;
    strcpy(path, folders_path(of, files[which]));
    strcpy(folder, folders_path(of, NULL));
    if (which < N_MADE)
        old = fuzz_file(path, 0, &old_size);
    fuzz_write(path, data + 1, size - 1);
    alone = which == SENTENCES; /* it is taken where the other is not there */
    if (alone)
        hide(of, TOKENIZER, true);
    if (gg_file_open(folder, &f, &err) == GG_OK)
        folders_touch(f);
    gg_file_close(f);
    if (gg_vocab_open(folder, &v, &err) == GG_OK)
        gg_vocab_free(v);
    if (alone)
        hide(of, TOKENIZER, false);
    if (old)
        fuzz_write(path, old, old_size);
    else
        unlink(path);
    free(old);
    return 0;
}

/* A model of SentencePiece with the bytes and a few letters. */
static uint8_t *
sentences(size_t *size)
{
    static uint8_t out[1 << 14];
    size_t n = 1;
    uint8_t *copy;

    out[0] = SENTENCES;
    for (int i = 0; i < 300; i++) {
        char text[16];
        size_t len = (size_t)snprintf(text, sizeof(text),
                                      i < 3 ? "<%d>" : "<0x%02X>", i - 3);
        int type = i == 0 ? 2 : i < 3 ? 3 : 6;

        if (i > 258) {
            len = (size_t)snprintf(text, sizeof(text), "%c%c", 'a' + i % 26,
                                   'a' + i / 26);
            type = 1;
        }
        out[n++] = 0x0a; /* a piece: its text, score, type */
        out[n++] = (uint8_t)(len + 9);
        out[n++] = 0x0a;
        out[n++] = (uint8_t)len;
        memcpy(out + n, text, len);
        n += len;
        memcpy(out + n, "\x15\0\0\x80\xc0\x18", 6);
        n += 6;
        out[n++] = (uint8_t)type;
    }
    memcpy(out + n, "\x12\x02\x18\x02\x1a\x02\x18\x01", 8); /* BPE, a blank */
    n += 8;
    copy = malloc(n);
    check(copy != NULL);
    memcpy(copy, out, n);
    *size = n;
    return copy;
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    size_t of = i / N_MADE, which = i % N_MADE;
    uint8_t *data;

    folders_make();
    if (of == N_FOLDERS && which == 0)
        return sentences(size);
    if (of >= N_FOLDERS)
        return NULL;
    data = fuzz_file(folders_path(of, files[which]), 1, size);
    data[0] = (uint8_t)(of * N_FILES + which);
    return data;
}
