/* folder_wordpiece.c - BERT's files beside the weights: tokens, as JSON and a
 * line each, and what becomes of the vectors of a text */
#include "folder_parts.h"

#include <string.h>
#include <sys/stat.h>

enum {
    N_MADE = 296, /* the matrix has more rows than there are tokens */
    N_SPECIAL = 5,
};

static const char *const words[] = {
    "[PAD]", "[UNK]", "[CLS]", "[SEP]",  "[MASK]", ".",  ",",
    "!",     "?",     "the",   "cat",    "sat",    "on", "mat",
    "un",    "able",  "run",   "##ning", "##able",
};

enum {
    N_WORDS = sizeof(words) / sizeof(words[0])
};

static const char *
token(int id)
{
    static char made[32];

    if (id < N_WORDS)
        return words[id];
    id -= N_WORDS;
    if (id < 52)
        snprintf(made, sizeof(made), "%s%c", id < 26 ? "" : "##",
                 'a' + id % 26);
    else
        snprintf(made, sizeof(made), "[unused%d]", id - 52);
    return made;
}

static void
end(FILE *out)
{
    if (fclose(out))
        folder_die("cannot write");
}

static void
put_file(const struct folder *f, const char *name, const char *text)
{
    FILE *out = folder_open(f, name);

    fputs(text, out);
    end(out);
}

static void
put_json(const struct folder *f)
{
    FILE *out = folder_open(f, "tokenizer.json");

    fputs("{\"added_tokens\":[", out);
    for (int i = 0; i < N_SPECIAL; i++)
        fprintf(out, "%s{\"id\":%d,\"content\":\"%s\",\"special\":true}",
                i ? "," : "", i, token(i));
    fputs("],\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
          "\"handle_chinese_chars\":true,\"strip_accents\":null,"
          "\"lowercase\":true},\"pre_tokenizer\":{\"type\":"
          "\"BertPreTokenizer\"},\"post_processor\":{\"type\":"
          "\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":"
          "\"[CLS]\"}},{\"Sequence\":{\"id\":\"A\"}},{\"SpecialToken\":{"
          "\"id\":\"[SEP]\"}}]},\"model\":{\"type\":\"WordPiece\","
          "\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","
          "\"max_input_chars_per_word\":100,\"vocab\":{",
          out);
    for (int i = 0; i < N_MADE; i++)
        fprintf(out, "%s\"%s\":%d", i ? "," : "", token(i), i);
    fputs("}}}\n", out);
    end(out);
}

static void
put_lines(const struct folder *f)
{
    FILE *out = folder_open(f, "vocab.txt");

    for (int i = 0; i < N_MADE; i++)
        fprintf(out, "%s\n", token(i));
    end(out);
}

void
folder_wordpiece(const struct folder *f)
{
    bool old = !strcmp(f->arch, "bert");
    char path[4096];

    put_json(f);
    put_lines(f);
    put_file(f, "tokenizer_config.json",
             "{\"do_lower_case\":true,\"unk_token\":\"[UNK]\",\"sep_token\":"
             "\"[SEP]\",\"pad_token\":\"[PAD]\",\"cls_token\":\"[CLS]\","
             "\"mask_token\":\"[MASK]\"}\n");
    put_file(f, "modules.json",
             "[{\"idx\":0,\"path\":\"\",\"type\":"
             "\"sentence_transformers.models.Transformer\"},{\"idx\":1,"
             "\"path\":\"1_Pooling\",\"type\":"
             "\"sentence_transformers.models.Pooling\"},{\"idx\":2,\"path\":"
             "\"2_Normalize\",\"type\":"
             "\"sentence_transformers.models.Normalize\"}]\n");
    snprintf(path, sizeof(path), "%s/1_Pooling", f->to);
    mkdir(path, 0777);
    put_file(f, "1_Pooling/config.json",
             old ? "{\"pooling_mode_cls_token\":true,"
                   "\"pooling_mode_mean_tokens\":false}\n"
                 : "{\"pooling_mode\":\"mean\"}\n");
}
