/* folder.c - writes a GGUF model as a folder with safetensors */
#include "folder_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void
folder_die(const char *what)
{
    fprintf(stderr, "folder_write: %s\n", what);
    exit(99);
}

FILE *
folder_open(const struct folder *f, const char *name)
{
    char path[4096];
    FILE *out;

    snprintf(path, sizeof(path), "%s/%s", f->to, name);
    out = fopen(path, "wb");
    if (!out)
        folder_die(path);
    return out;
}

double
folder_key(const struct folder *f, const char *name, double other)
{
    char key[96];
    uint64_t u;
    float x;

    snprintf(key, sizeof(key), "%s.%s", f->arch, name);
    if (gguf_find_key(f->gguf, key) < 0)
        return other;
    if (gguf_get_u64(f->gguf, key, &u, NULL) == GG_OK)
        return (double)u;
    if (gguf_get_f32(f->gguf, key, &x, NULL) == GG_OK)
        return (double)x;
    return gguf_get_val_bool(f->gguf, gguf_find_key(f->gguf, key));
}

/* ---- safetensors --------------------------------------------------------- */

static const char *
dtype(enum ggml_type type)
{
    return type == GGML_TYPE_F32   ? "F32"
           : type == GGML_TYPE_F16 ? "F16"
                                   : "BF16";
}

static void
put_header(FILE *out, const struct folder_tensor *t, size_t *at)
{
    fprintf(out, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", t->name,
            t->dtype ? t->dtype : dtype(t->type));
    for (int i = 0; i < t->n_dims; i++)
        fprintf(out, "%s%d", i ? "," : "", (int)t->shape[i]);
    fprintf(out, "],\"data_offsets\":[%zu,%zu]}", *at, *at + t->size);
    *at += t->size;
}

/* Those from `first` on, `step` apart. */
static void
put_file(const struct folder *f, const char *name,
         const struct folder_tensors *all, int first, int step)
{
    FILE *out = folder_open(f, name);
    uint64_t length = 0;
    size_t at = 0;

    fwrite(&length, 8, 1, out);
    fputs("{\"__metadata__\":{\"format\":\"pt\"}", out);
    for (int i = first; i < all->n; i += step)
        put_header(out, &all->list[i], &at);
    fputs("}", out);
    while (ftell(out) % 8)
        fputc(' ', out);
    length = (uint64_t)ftell(out) - 8;
    for (int i = first; i < all->n; i += step)
        fwrite(all->list[i].data, 1, all->list[i].size, out);
    rewind(out);
    fwrite(&length, 8, 1, out);
    if (fclose(out))
        folder_die("cannot write");
}

static void
put_index(const struct folder *f, const struct folder_tensors *all, int n)
{
    FILE *out = folder_open(f, "model.safetensors.index.json");

    fputs("{\"metadata\":{\"total_size\":1},\"weight_map\":{", out);
    for (int i = 0; i < all->n; i++)
        fprintf(out, "%s\"%s\":\"model-%05d-of-%05d.safetensors\"",
                i ? "," : "", all->list[i].name, i % n + 1, n);
    fputs("}}\n", out);
    if (fclose(out))
        folder_die("cannot write");
}

static void
put_weights(const struct folder *f, int n)
{
    struct folder_tensors *all = calloc(1, sizeof(*all));
    char name[64];

    folder_tensors(f, all);
    if (f->kind)
        folder_scale(all, f->kind);
    for (int i = 0; n > 1 && i < n; i++) {
        snprintf(name, sizeof(name), "model-%05d-of-%05d.safetensors", i + 1,
                 n);
        put_file(f, name, all, i, n);
    }
    if (n > 1)
        put_index(f, all, n);
    else
        put_file(f, "model.safetensors", all, 0, 1);
    for (int i = 0; i < all->n; i++)
        free(all->list[i].data);
    free(all);
}

void
folder_write(const char *name, const char *gguf, const char *to, int n_files,
             const char *kind)
{
    struct gguf_file file;
    struct gguf_str arch;
    struct gg_error err;
    char family[32], architecture[32];
    struct folder f = {
        .family = family, .arch = architecture, .to = to, .kind = kind
    };

    if (gguf_file_open(gguf, GGUF_OPEN_ALL, &file, &err) != GG_OK ||
        gguf_get_str(file.gguf, "general.architecture", &arch, &err) != GG_OK)
        folder_die(err.message);
    snprintf(family, sizeof(family), "%.*s", (int)(strrchr(name, '-') - name),
             name);
    snprintf(architecture, sizeof(architecture), "%.*s", (int)arch.n, arch.s);
    f.gguf = file.gguf;
    f.n_head = (uint32_t)folder_key(&f, "attention.head_count", 0);
    f.n_head_kv = (uint32_t)folder_key(&f, "attention.head_count_kv", f.n_head);
    f.n_expert = (uint32_t)folder_key(&f, "expert_count", 0);
    mkdir(to, 0777);
    put_weights(&f, n_files);
    folder_config(&f);
    if (strstr(architecture, "bert"))
        folder_wordpiece(&f);
    else
        folder_tokenizer(&f);
    gguf_file_close(&file);
}
