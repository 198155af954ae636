/* file.c - a model file of any format */
#include "api/file.h"

#include <sys/stat.h>

#include "convert/convert.h"
#include "core/mem.h"

struct gg_file {
    struct gguf_file file;
    struct convert_folder *folder; /* that tensors are made of; or NULL */
    const char *format;
};

static enum gg_status
is_gguf(const char *path, bool *out, struct gg_error *err)
{
    char magic[4];
    size_t n = 0;
    enum gg_status st = file_peek(path, magic, sizeof(magic), &n, err);

    *out = st == GG_OK && n == 4 && memcmp(magic, GGUF_MAGIC, 4) == 0;
    return st;
}

static const char gguf_format[] = "GGUF";
static const char folder_format[] = "Hugging Face";

static bool
is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

enum gg_status
api_open(const char *path, unsigned flags, struct gguf_file *out,
         const char **format, struct gg_error *err)
{
    const char *name = gguf_format;
    bool gguf = false;
    enum gg_status st;

    if (is_folder(path))
        return convert_open_folder(path, flags, out, NULL, err);
    st = is_gguf(path, &gguf, err);
    if (st == GG_OK)
        st = gguf ? gguf_file_open(path, flags, out, err)
                  : convert_open(path, flags, out, &name, err);
    if (st == GG_OK && format)
        *format = name;
    return st;
}

bool
gg_is_model_subfolder(const char *name)
{
    return name && convert_is_subfolder(name);
}

void
gg_set_open_callback(gg_open_callback callback, void *data)
{
    file_on_open(callback, data);
}

void
gg_set_opener(gg_opener opener, void *data)
{
    file_set_opener(opener, data);
}

/* Other files that have keys and tensors, too. */
static const struct {
    const char *key, *value, *what;
} others[] = {
    { "general.type", "adapter", "a LoRA adapter, which changes a model" },
    { "general.type", "mmproj",
      "a projector of pictures or sound, which goes with a model" },
    { "general.type", "imatrix",
      "an importance matrix, which gg-quantize reads" },
    { "general.type", "gg-state", "a saved state of a model" },
    { "general.architecture", "clip",
      "a projector of pictures or sound, which goes with a model" },
    { "general.architecture", "controlvector",
      "a control vector, which changes a model" },
};

enum gg_status
api_check_model(const struct gguf_context *gguf, struct gg_error *err)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct gguf_str s = { 0 };

        if (gguf_opt_str(gguf, others[i].key, &s, NULL) == GG_OK &&
            s.n == strlen(others[i].value) &&
            memcmp(s.s, others[i].value, s.n) == 0) {
            (void)gguf_bad_value(gguf, others[i].key, err,
                                 "'%s': no model, but %s", others[i].value,
                                 others[i].what);
            return GG_ERR_UNSUPPORTED;
        }
    }
    return GG_OK;
}

enum gg_status
gg_file_open(const char *path, struct gg_file **out, struct gg_error *err)
{
    struct gg_file *f;
    enum gg_status st;

    if (!path || !out)
        return error_null(err);
    f = mem_zalloc(sizeof(*f));
    st = f ? GG_OK : error_nomem(err);
    if (st == GG_OK && is_folder(path)) {
        f->format = folder_format;
        st =
            convert_open_folder(path, GGUF_OPEN_ALL, &f->file, &f->folder, err);
    } else if (st == GG_OK) {
        st = api_open(path, GGUF_OPEN_ALL, &f->file, &f->format, err);
    }
    if (st == GG_OK)
        *out = f;
    else
        mem_free(f);
    return st;
}

enum gg_status
gg_file_open_adapter(const char *path, const char *base, struct gg_file **out,
                     struct gg_error *err)
{
    struct gg_file *f;
    enum gg_status st;

    if (!path || !out)
        return error_null(err);
    f = mem_zalloc(sizeof(*f));
    st = f ? convert_open_adapter(path, base, GGUF_OPEN_ALL, &f->file,
                                  &f->folder, err)
           : error_nomem(err);
    if (st == GG_OK) {
        f->format = folder_format;
        *out = f;
    } else {
        mem_free(f);
    }
    return st;
}

enum gg_status
gg_file_open_projector(const char *path, struct gg_file **out,
                       struct gg_error *err)
{
    struct gg_file *f;
    enum gg_status st;

    if (!path || !out)
        return error_null(err);
    if (!is_folder(path)) {
        st = error_set(err, GG_ERR_ARG,
                       "no folder of a model that sees or "
                       "hears");
        return error_prefix(err, st, "%s", path);
    }
    f = mem_zalloc(sizeof(*f));
    st = f ? convert_open_folder(path, GGUF_OPEN_ALL | CONVERT_PROJECTOR,
                                 &f->file, &f->folder, err)
           : error_nomem(err);
    if (st == GG_OK) {
        f->format = folder_format;
        *out = f;
    } else {
        mem_free(f);
    }
    return st;
}

static enum gg_status
open_metadata(const char *path, bool alone, struct gg_file **out,
              struct gg_error *err)
{
    struct gg_file *f = mem_zalloc(sizeof(*f));
    enum gg_status st = f ? GG_OK : error_nomem(err);

    if (st == GG_OK)
        st = gguf_read_metadata(path, !alone, &f->file.gguf, err);
    if (st == GG_OK) {
        f->format = gguf_format;
        *out = f;
    } else {
        mem_free(f);
    }
    return st;
}

enum gg_status
gg_file_open_metadata(const char *path, unsigned flags, struct gg_file **out,
                      struct gg_error *err)
{
    bool gguf = false;
    enum gg_status st = GG_OK;

    if (!path || !out)
        return error_null(err);
    if (flags & ~(unsigned)GG_FILE_ALONE)
        return error_set(err, GG_ERR_ARG, "flags: %u are none", flags);
    if (!is_folder(path))
        st = is_gguf(path, &gguf, err);
    if (st != GG_OK)
        return st;
    return gguf ? open_metadata(path, flags & GG_FILE_ALONE, out, err)
                : gg_file_open(path, out, err);
}

void
gg_file_close(struct gg_file *file)
{
    if (!file)
        return;
    gguf_file_close(&file->file);
    convert_close_folder(file->folder);
    mem_free(file);
}

const struct gguf_context *
gg_file_gguf(const struct gg_file *file)
{
    return file ? file->file.gguf : NULL;
}

const char *
gg_file_format(const struct gg_file *file)
{
    return file ? file->format : NULL;
}

const char *
gg_file_note(const struct gg_file *file)
{
    return file ? file->file.note : NULL;
}

/* NULL: there is none of that number. */
static const struct gguf_tensor *
tensor_of(const struct gg_file *file, int64_t i)
{
    if (!file || i < 0 || i >= gguf_get_n_tensors(file->file.gguf))
        return NULL;
    return gguf_tensor(file->file.gguf, i);
}

const void *
gg_file_data(const struct gg_file *file, int64_t tensor)
{
    const struct gguf_tensor *t = tensor_of(file, tensor);

    return t ? t->data : NULL;
}

void
gg_file_forget(const struct gg_file *file, int64_t tensor)
{
    const struct gguf_tensor *t = tensor_of(file, tensor);

    if (!t)
        return;
    if (file->folder)
        convert_forget(file->folder, tensor);
    else if (t->data && file->file.maps[t->shard].filed)
        file_forget(t->data, t->size);
}

void
gg_file_read(const struct gg_file *file, int64_t tensor, void *out)
{
    const struct gguf_tensor *t = tensor_of(file, tensor);

    if (!t || !out)
        return;
    if (file->folder)
        convert_make(file->folder, file->file.gguf, tensor, out);
    else if (t->data)
        memcpy(out, t->data, t->size);
}
