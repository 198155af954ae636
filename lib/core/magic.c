/* magic.c - what a file of another format is, by its first bytes */
#include "core/magic.h"

#include <string.h>
#include <strings.h>

/* A text may begin with blanks, and in capitals or not. */
static const struct {
    const char *magic, *what;
    size_t at;
} known[] = {
    { "version https://git-lfs.github.com/spec/",
      "a Git LFS pointer: `git lfs pull` gets the file itself", 0 },
    { "<!doctype html", "an HTML page, downloaded in place of the file", 0 },
    { "<html", "an HTML page, downloaded in place of the file", 0 },
    { "<?xml", "an XML text, as servers answer in place of the file", 0 },
    { "Entry not found", "a server's answer: it has no such file", 0 },
    { "{\"", "a safetensors file: name its folder, with config.json", 8 },
    { "{", "a JSON text", 0 },
    { "PK\3\4", "a zip archive (PyTorch?): safetensors can be read", 0 },
    { "\x80\2", "a pickle of Python (PyTorch?): safetensors can be read", 0 },
    { "\x89HDF", "an HDF5 file (Keras?): safetensors can be read", 0 },
    { "algg", "an adapter (ggla)", 0 },
    { "\x1f\x8b", "compressed: gzip -d makes it a file again", 0 },
    { "BZh", "compressed: bzip2 -d makes it a file again", 0 },
    { "\xfd"
      "7zXZ",
      "compressed: xz -d makes it a file again", 0 },
    { "\x28\xb5\x2f\xfd", "compressed: zstd -d makes it a file again", 0 },
    { "7z\xbc\xaf", "a 7z archive", 0 },
    { "ustar", "a tar archive", 257 },
    { "\x7f"
      "ELF",
      "a program", 0 },
    { "MZ", "a program (a llamafile?)", 0 },
    { "#!", "a script", 0 },
    { "\x8bGGL", "a logit stream, which gg-sample reads", 0 },
    { "\x8bGGR", "rows of images or sounds, which gg-encode writes", 0 },
    { "\x8bGGD", "a table of drafts, which gg-generate keeps", 0 },
    { "GGUF", "a GGUF file: a model, an adapter or a state", 0 },
    { "\x89PNG", "a picture (PNG)", 0 },
    { "\xff\xd8\xff", "a picture (JPEG)", 0 },
    { "GIF8", "a picture (GIF)", 0 },
    { "RIFF", "a sound or a picture (RIFF)", 0 },
    { "fLaC", "a sound (FLAC)", 0 },
    { "OggS", "a sound (Ogg)", 0 },
    { "ID3", "a sound (MP3)", 0 },
    { "%PDF-", "a document (PDF)", 0 },
    { "\x93NUMPY", "an array of NumPy", 0 },
};

static size_t
skip_leading_blanks(const char *p, size_t size)
{
    size_t n = size >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    while (n < size && p[n] && strchr(" \t\r\n", p[n]))
        n++;
    return n;
}

const char *
magic_name(const void *data, size_t size)
{
    size_t blanks = skip_leading_blanks(data, size);

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        size_t at = known[i].at ? known[i].at : blanks;
        size_t n = strlen(known[i].magic);

        if (at <= size && n <= size - at &&
            strncasecmp((const char *)data + at, known[i].magic, n) == 0)
            return known[i].what;
    }
    return NULL;
}
