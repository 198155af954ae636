/* foreign_program.c - other programs, and what their arguments name */
#include <config.h>

#include "common/foreign.h"

#include <fnmatch.h>

bool
foreign_has_part(const char *parts, const char *word, size_t len, bool globs)
{
    while (parts && *parts) {
        size_t n = strcspn(parts, "|");
        char part[200], text[200];

        snprintf(part, sizeof(part), "%.*s", (int)n, parts);
        snprintf(text, sizeof(text), "%.*s", (int)len, word);
        if (globs ? fnmatch(part, text, 0) == 0 : strcmp(part, text) == 0)
            return true;
        parts += n + (parts[n] == '|');
    }
    return false;
}

/* The name of a program without its folder, also Windows', and ".exe". */
static char *
program_name(const char *arg)
{
    const char *name = arg + strlen(arg);
    size_t n;

    while (name > arg && !strchr("/\\", name[-1]))
        name--;
    n = strlen(name);
    return cli_copy(name,
                    n > 4 && strcmp(name + n - 4, ".exe") == 0 ? n - 4 : n);
}

const struct foreign_program *
foreign_find_program(int argc, char **argv, int *n)
{
    char *name = program_name(argv[1]);
    const struct foreign_program *found = NULL;
    size_t len = strlen(name);

    for (const struct foreign_program *p = foreign_programs; p->names && !found;
         p++) {
        bool program = foreign_has_part(p->names, name, len, false);
        bool command =
            p->command && argc > 2 &&
            foreign_has_part(p->command, argv[2], strlen(argv[2]), false);

        if (program && (!p->command || command)) {
            found = p;
            *n = p->command ? 2 : 1;
        } else if (p->command && strcmp(p->names, "ollama") == 0 && p->tool &&
                   foreign_has_part(p->command, argv[1], strlen(argv[1]),
                                    false) &&
                   (argc > 2 || strcmp(cli_name, p->tool) == 0)) {
            found = p;
            *n = 1;
        }
    }
    free(name);
    return found;
}

/* Numbers of types, which llama-quantize takes for their names. */
static const char *const types[] = {
    "F32",    "F16",    "Q4_0",    "Q4_1",      NULL,     NULL,      NULL,
    "Q8_0",   "Q5_0",   "Q5_1",    "Q2_K",      "Q3_K_S", "Q3_K_M",  "Q3_K_L",
    "Q4_K_S", "Q4_K_M", "Q5_K_S",  "Q5_K_M",    "Q6_K",   "IQ2_XXS", "IQ2_XS",
    "Q2_K_S", "IQ3_XS", "IQ3_XXS", "IQ1_S",     "IQ4_NL", "IQ3_S",   "IQ3_M",
    "IQ2_S",  "IQ2_M",  "IQ4_XS",  "IQ1_M",     "BF16",   NULL,      NULL,
    NULL,     "TQ1_0",  "TQ2_0",   "MXFP4_MOE",
};

const char *
foreign_type(const char *name)
{
    size_t n = strspn(name, "0123456789");
    unsigned long i = n && n < 4 && !name[n] ? strtoul(name, NULL, 10) : 99;

    return i < sizeof(types) / sizeof(types[0]) && types[i] ? types[i] : name;
}

bool
foreign_is_model(const char *name)
{
    size_t n = strlen(name);

    return n > 5 && strcmp(name + n - 5, ".gguf") == 0;
}

char *
foreign_source(const char *name)
{
    struct buffer text = { 0 };
    size_t host = strncmp(name, "hf.co/", 6) == 0             ? 6
                  : strncmp(name, "huggingface.co/", 15) == 0 ? 15
                                                              : 0;

    buffer_format(&text, "%s%s", host ? "hf:" : "ollama:", name + host);
    buffer_char(&text, '\0');
    return text.p;
}
