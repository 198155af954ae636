/* convert.h - model files of other formats, seen as if they were GGUF
 *
 * - ggml, ggmf, ggjt: what ggml's GPT-2 example and llama.cpp read before GGUF;
 * - checkpoints of llama2.c, with their tokenizer.bin next to them;
 * - folders with a model of Hugging Face's transformers.
 * Everything that such a file says is checked as a GGUF file's would be. */
#ifndef CONVERT_CONVERT_H
#define CONVERT_CONVERT_H

#include "gguf/reader.h"

/* Opens a file that is none of GGUF, as gguf_file_open() does one that is.
 * Without GGUF_OPEN_ALL, a tensor whose blocks must be rewritten has no data.
 * *format gets the name of the format, which is static. */
enum gg_status
convert_open(const char *path, unsigned flags, struct gguf_file *out,
             const char **format, struct gg_error *err);

/* Opens a folder as Hugging Face's transformers saves a model. The tensors,
 * which GGUF_OPEN_ALL asks for, are made of those in its files: in memory, all
 * of them; or, where `made` is not NULL, one by one by convert_make(), and have
 * no data. Then close *made after the file. */
struct convert_folder;
enum {
    CONVERT_PROJECTOR = 1 << 8, /* with GGUF_OPEN_ALL: not the model, but its
                                   encoders of pictures and sounds */
};
enum gg_status
convert_open_folder(const char *path, unsigned flags, struct gguf_file *out,
                    struct convert_folder **made, struct gg_error *err);
/* Opens a folder with a LoRA adapter of Hugging Face's PEFT likewise; `base`:
 * the folder of its model, where its configuration names none. Or that of a
 * drafter, which gets the tokens of `base`, a folder or a GGUF file. */
enum gg_status
convert_open_adapter(const char *path, const char *base, unsigned flags,
                     struct gguf_file *out, struct convert_folder **made,
                     struct gg_error *err);
void
convert_close_folder(struct convert_folder *folder); /* takes NULL */

/* True if files of such a folder may be in a subfolder of that name. */
bool
convert_is_subfolder(const char *name);
#define CONVERT_TEMPLATES "additional_chat_templates" /* is one */

/* Writes the data of a tensor of the file's context. */
void
convert_make(const struct convert_folder *folder,
             const struct gguf_context *gguf, int64_t tensor, void *out);
/* Gives memory back that reading its files took. */
void
convert_forget(const struct convert_folder *folder, int64_t tensor);

#endif
