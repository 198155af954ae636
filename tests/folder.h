/* folder.h - models as Hugging Face's transformers saves them, for tests */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

/* Writes the model of that name, "llama-f32", as models_named() knows it, to
 * the folder `to`, which is made: config.json, safetensors in so many files,
 * tokenizer.json, tokenizer_config.json. `gguf` is the same model, which is
 * read. Ends the program where it cannot. `kind`, if not NULL, is that of
 * weights that are quantised, with values of their own: folder_parts.h has the
 * kinds. */
void
folder_write(const char *name, const char *gguf, const char *to, int n_files,
             const char *kind);

#endif
