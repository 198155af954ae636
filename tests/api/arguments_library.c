/* arguments_library.c - arguments of functions of the library and of files */
#include "api/arguments.h"

/* ---- without a handle --------------------------------------------------- */

static bool
status_string(void)
{
    return strcmp(gg_status_string((enum gg_status) - 1), "unknown status") ==
               0 &&
           strcmp(gg_status_string((enum gg_status)10), "unknown status") == 0;
}

static bool
escape(void)
{
    char c = 'x';

    gg_escape(&c, 0, "ab", 2);
    gg_escape(NULL, 0, "ab", 2);
    gg_escape(buf, sizeof(buf), NULL, 2);
    return c == 'x' && buf[0] == '\0' && *gg_escape(&c, 1, "ab", 2) == '\0';
}

static bool
version(void)
{
    return gg_version()[0] != '\0';
}

/* That of the header is the package's, too. */
static bool
version_number(void)
{
    char text[32];

    snprintf(text, sizeof(text), "%d.%d.%d", GG_VERSION_MAJOR, GG_VERSION_MINOR,
             GG_VERSION_PATCH);
    return gg_version_number() == GG_VERSION && strcmp(gg_version(), text) == 0;
}

static bool
default_threads(void)
{
    return gg_default_threads() > 0;
}

static bool
log_sum_exp(void)
{
    return gg_log_sum_exp(NULL, 3) == -INFINITY &&
           gg_log_sum_exp(logits, 0) == -INFINITY;
}

/* ---- files -------------------------------------------------------------- */

static bool
set_open_callback(void)
{
    struct gg_file *f;

    gg_set_open_callback(NULL, NULL);
    must(gg_file_open(model_path, &f, &err));
    gg_file_close(f);
    return true;
}

static bool
set_opener(void)
{
    struct gg_file *f;

    gg_set_opener(NULL, NULL);
    must(gg_file_open(model_path, &f, &err));
    gg_file_close(f);
    return true;
}

/* "abc", of FIPS 180-4. */
static bool
sha256(void)
{
    static const uint8_t begin[] = { 0xba, 0x78, 0x16, 0xbf };
    uint8_t hash[GG_SHA256];

    must(gg_sha256("abc", 3, hash, &err));
    return memcmp(hash, begin, sizeof(begin)) == 0 &&
           refused(gg_sha256(NULL, 1, hash, &err)) &&
           refused(gg_sha256("a", 1, NULL, &err)) &&
           gg_sha256(NULL, 0, hash, &err) == GG_OK;
}

static bool
sha256_file(void)
{
    uint8_t hash[GG_SHA256], bytes[GG_SHA256], *data = malloc(1 << 22);
    FILE *f = fopen(model_path, "rb");
    size_t size = f && data ? fread(data, 1, 1 << 22, f) : 0;
    bool good = size > 0;

    if (good) {
        must(gg_sha256(data, size, bytes, &err));
        must(gg_sha256_file(fileno(f), hash, &err));
        good = memcmp(hash, bytes, sizeof(hash)) == 0 &&
               refused(gg_sha256_file(fileno(f), NULL, &err)) &&
               gg_sha256_file(-1, hash, &err) == GG_ERR_IO;
    }
    if (f)
        fclose(f);
    free(data);
    return good;
}

static bool
is_model_subfolder(void)
{
    return !gg_is_model_subfolder(NULL) && !gg_is_model_subfolder("") &&
           !gg_is_model_subfolder("..") && gg_is_model_subfolder("1_Pooling");
}

static bool
file_open(void)
{
    struct gg_file *f = NULL;

    return refused(gg_file_open(NULL, &f, &err)) && !f &&
           refused(gg_file_open(model_path, NULL, &err)) &&
           gg_file_open("", &f, &err) == GG_ERR_IO && !f;
}

static bool
file_open_metadata(void)
{
    struct gg_file *f = NULL;

    return refused(gg_file_open_metadata(NULL, 0, &f, &err)) &&
           refused(gg_file_open_metadata(model_path, 0, NULL, &err)) &&
           refused(gg_file_open_metadata(model_path, 2, &f, &err)) &&
           gg_file_open_metadata("", 0, &f, &err) == GG_ERR_IO && !f;
}

static bool
file_open_adapter(void)
{
    struct gg_file *f = NULL;

    return refused(gg_file_open_adapter(NULL, NULL, &f, &err)) &&
           refused(gg_file_open_adapter(model_path, NULL, NULL, &err)) &&
           gg_file_open_adapter("", NULL, &f, &err) != GG_OK && !f;
}

static bool
file_open_projector(void)
{
    struct gg_file *f = NULL;

    return refused(gg_file_open_projector(NULL, &f, &err)) &&
           refused(gg_file_open_projector(model_path, NULL, &err)) &&
           refused(gg_file_open_projector(model_path, &f, &err)) && !f;
}

static bool
file_close(void)
{
    gg_file_close(NULL);
    return true;
}

static bool
file_gguf(void)
{
    return !gg_file_gguf(NULL);
}

static bool
file_note(void)
{
    return !gg_file_note(NULL) && !gg_file_note(file);
}

static bool
file_format(void)
{
    return !gg_file_format(NULL);
}

static bool
file_data(void)
{
    int64_t end = gguf_get_n_tensors(gg_file_gguf(file));

    return !gg_file_data(NULL, 0) && !gg_file_data(file, -1) &&
           !gg_file_data(file, end) && !gg_file_data(file, INT64_MAX) &&
           gg_file_data(file, end - 1);
}

static bool
file_read(void)
{
    buf[0] = 'x';
    gg_file_read(NULL, 0, buf);
    gg_file_read(file, -1, buf);
    gg_file_read(file, INT64_MAX, buf);
    gg_file_read(file, 0, NULL);
    return buf[0] == 'x';
}

static bool
file_forget(void)
{
    gg_file_forget(NULL, 0);
    gg_file_forget(file, -1);
    gg_file_forget(file, INT64_MAX);
    return true;
}

const struct argument_test arguments_library[] = {
    TEST(status_string),     TEST(escape),
    TEST(version),           TEST(version_number),
    TEST(default_threads),   TEST(set_open_callback),
    TEST(set_opener),        TEST(sha256),
    TEST(sha256_file),       TEST(is_model_subfolder),
    TEST(file_open),         TEST(file_open_metadata),
    TEST(file_open_adapter), TEST(file_open_projector),
    TEST(file_close),        TEST(file_gguf),
    TEST(file_format),       TEST(file_note),
    TEST(file_data),         TEST(file_read),
    TEST(file_forget),       TEST(log_sum_exp),
    { .name = NULL },
};
