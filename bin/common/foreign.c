/* foreign.c - words of other programs in a command line */
#include <config.h>

#include "common/foreign.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <unistd.h>

/* How a command line is walked through. */
struct walk {
    int argc;
    char **argv;
    const struct cli_rows *rows;
    bool first_only;
    const struct foreign_program *program; /* NULL: the tool's own words, too */
    int n_arguments;                       /* that were seen */
    struct foreign_line *line;             /* NULL: words are only counted */
    int found;
    const struct foreign_group *whose; /* of the first one */
};

static const struct foreign_group groups[] = {
    { "llama.cpp", foreign_llama },
    { "ollama", foreign_ollama },
    { "llm", foreign_llm },
};

/* ---- words of theirs ----------------------------------------------------- */

/* True where a part of "a|b" is the word, or, as a glob, fits it. */
static bool
has_part(const char *parts, const char *word, size_t len, bool globs)
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

static const char *
tool_of(const struct walk *w)
{
    return w->program ? w->program->tool : cli_name;
}

static bool
is_this_tool(const struct walk *w)
{
    return strcmp(tool_of(w), cli_name) == 0;
}

/* True if the tool has the option that the row is written with. */
static bool
can_write(const struct walk *w, const struct foreign_word *row)
{
    size_t n = row->ours ? strcspn(row->ours, " ") : 0;

    return n < 2 || row->ours[0] != '-' || !is_this_tool(w) ||
           foreign_own(w->rows, row->ours, n);
}

/* Its row, of those of a group. */
static const struct foreign_word *
find_row(const struct walk *w, const struct foreign_group *g, const char *word,
         size_t len, const char *value, bool *known)
{
    bool own = !(w->program && g->rows != foreign_llama) && is_this_tool(w) &&
               foreign_own(w->rows, word, len);

    for (const struct foreign_word *r = g->rows; r->words; r++) {
        if (!has_part(r->words, word, len, false) ||
            (own && !r->only && !(w->program && r->tool)) ||
            (r->tool && strcmp(r->tool, tool_of(w)) != 0) ||
            (r->args && !value) ||
            (r->only && !has_part(r->only, value, strlen(value), true)))
            continue;
        if (can_write(w, r))
            return r;
        *known = *known || !own; /* a letter of ours keeps our meaning */
    }
    return NULL;
}

/* Words that our tool has no option for. */
static const struct foreign_word *
no_option(const struct foreign_group *g, const char *word, size_t len)
{
    static struct foreign_word none;

    for (const struct foreign_word *r = g->rows; r->words; r++)
        if (has_part(r->words, word, len, false)) {
            none = *r;
            none.ours = NULL;
            none.note = "this tool has no such option";
            return &none;
        }
    return NULL;
}

static const struct foreign_word *
find_word(struct walk *w, const char *word, size_t len, const char *value,
          const struct foreign_group **group)
{
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        const struct foreign_group *g = &groups[i];
        bool known = false;
        const struct foreign_word *row;

        if (w->program && w->program->group->rows != g->rows)
            continue;
        *group = g;
        row = find_row(w, g, word, len, value, &known);
        if (row || known)
            return row ? row : no_option(g, word, len);
    }
    return NULL;
}

/* True where one of these words is an option of the command line. */
static bool
has_any(const struct walk *w, const char *words)
{
    for (int i = 1; words && i < w->argc; i++)
        if (has_part(words, w->argv[i], strcspn(w->argv[i], "="), false))
            return true;
    return false;
}

/* The argument of one of these words, or NULL. */
static const char *
value_of(const struct walk *w, const char *words)
{
    for (int i = 1; i + 1 < w->argc; i++)
        if (has_part(words, w->argv[i], strlen(w->argv[i]), false))
            return w->argv[i + 1];
    return NULL;
}

/* ---- one step ------------------------------------------------------------ */

/* Arguments i to `end` as they are. */
static int
keep(struct walk *w, int i, int end, const char *option)
{
    struct buffer text = { 0 };

    end = end < w->argc ? end : w->argc;
    for (int k = i; w->line && k < end; k++) {
        if (k > i)
            buffer_char(&text, ' ');
        foreign_quote(&text, w->argv[k]);
    }
    if (w->line) {
        buffer_char(&text, '\0');
        foreign_add(w->line, text.p, option, NULL);
    }
    return end;
}

static void
tell_word(struct walk *w, const struct foreign_group *g, const char *word)
{
    if (!w->found++)
        w->whose = g;
    if (w->line)
        buffer_format(&w->line->words, "%s%s", w->line->words.len ? ", " : "",
                      word);
}

/* A word of theirs, whose value may be glued to it by '='. */
static int
take_word(struct walk *w, int i, const struct foreign_word *row,
          const struct foreign_group *g)
{
    char *arg = w->argv[i], *sign = arg[1] == '-' ? strchr(arg, '=') : NULL;
    int args = row->args - (sign != NULL), first = i + 1;
    const char *values[2] = { sign ? sign + 1 : NULL, NULL };
    char *word = cli_copy(arg, sign ? (size_t)(sign - arg) : strlen(arg));

    for (int k = 0; k < args && first + k < w->argc; k++)
        values[(sign != NULL) + k] = w->argv[first + k];
    tell_word(w, g, word);
    if (!w->line ||
        (row->unless && !*row->unless && has_any(w, "-hf|-hfr|--hf-repo")))
        ;
    else if (row->unless && *row->unless && has_any(w, row->unless))
        foreign_leave(w->line, word, "another word says it");
    else if (row->args == 2 && !values[1])
        foreign_leave(w->line, word, "it takes two values");
    else
        foreign_translate(w->line, row, word, values,
                          value_of(w, "-hff|--hf-file"));
    free(word);
    return first + (args > 0 ? args : 0);
}

/* True where letters of ours make the argument, without a glued value: -qv. */
static bool
is_cluster(const struct walk *w, const char *arg)
{
    for (const char *p = arg + 1; *p; p++) {
        const struct cli_option *o = foreign_letter(w->rows, *p);

        if (!o || strchr("hV", *p) || (o->argument && p[1]))
            return false;
    }
    return arg[1] && arg[2];
}

/* Where the next option is, after one of ours. */
static int
after_own(const struct walk *w, int i)
{
    const char *arg = w->argv[i];
    size_t len = strcspn(arg, "=");
    const struct cli_option *o;

    if (arg[1] == '-') {
        o = foreign_own(w->rows, arg, len);
        o = o ? o : foreign_prefix(w->rows, arg, len);
        return i + 1 + (o && o->argument && !arg[len]);
    }
    for (const char *p = arg + 1; *p; p++) {
        o = foreign_letter(w->rows, *p);
        if (o && o->argument)
            return i + 1 + !p[1];
    }
    return i + 1;
}

/* A long option that nobody has: the nearest of ours, or left out. */
static int
take_unknown(struct walk *w, int i)
{
    const char *arg = w->argv[i], *near;
    const struct cli_option *o;
    struct buffer text = { 0 };
    size_t n = strcspn(arg, "=");
    bool glued = arg[n] == '=', value;

    near = is_this_tool(w) ? foreign_nearest(w->rows, arg) : NULL;
    if (!near) {
        if (w->line)
            foreign_leave(w->line, arg, "nothing of ours is called so");
        return i + 1;
    }
    o = foreign_own(w->rows, near, strlen(near));
    value = o && o->argument && !glued && i + 1 < w->argc;
    if (w->line) {
        buffer_format(&text, "%s", near);
        if (glued || value) {
            buffer_char(&text, ' ');
            foreign_quote(&text, glued ? arg + n + 1 : w->argv[i + 1]);
        }
        buffer_char(&text, '\0');
        foreign_add(w->line, text.p, near, NULL);
    }
    return i + 1 + value;
}

/* A letter of ours with its value glued to it, as -n-1, which may be one that
 * means something else. */
static const struct foreign_word *
find_glued(struct walk *w, const char *arg, const struct foreign_group **g)
{
    const struct cli_option *o = foreign_letter(w->rows, arg[1]);

    return o && o->argument && arg[2] && !w->program
               ? find_word(w, arg, 2, arg + 2, g)
               : NULL;
}

/* -ngl is an option of ours by another name, of one hyphen. */
static const char *
option_at(struct walk *w, int i)
{
    static char gpu_layers[] = "--gpu-layers";

    if (strcmp(w->argv[i], "-ngl") == 0 && !w->program &&
        foreign_own(w->rows, gpu_layers, strlen(gpu_layers)))
        w->argv[i] = gpu_layers;
    return w->argv[i];
}

/* False where a row is for words with two such values, and the second one is
 * another: --control-vector-layer-range 1 model.gguf. */
static bool
fits_second(const struct walk *w, int i, const struct foreign_word *row)
{
    const char *value = i + 2 < w->argc ? w->argv[i + 2] : "";

    return row->args < 2 || !row->only ||
           has_part(row->only, value, strlen(value), true);
}

static int
take_option(struct walk *w, int i)
{
    const char *arg = option_at(w, i);
    size_t len = arg[1] == '-' ? strcspn(arg, "=") : strlen(arg);
    const char *value = arg[len]          ? arg + len + 1
                        : i + 1 < w->argc ? w->argv[i + 1]
                                          : NULL;
    const struct foreign_group *g = NULL;
    const struct foreign_word *row = find_word(w, arg, len, value, &g);
    bool own = is_this_tool(w), same;
    const struct cli_option *o = own ? foreign_own(w->rows, arg, len) : NULL;

    row = row && fits_second(w, i, row) ? row : NULL;
    same = row && row->ours && strcmp(row->ours, "=") == 0;
    if (row && !same && !(own && !w->program && is_cluster(w, arg)))
        return take_word(w, i, row, g);
    if (!row && own && arg[1] != '-' && (row = find_glued(w, arg, &g)) &&
        strcmp(row->ours ? row->ours : "", "=") != 0) {
        tell_word(w, g, arg);
        if (w->line)
            foreign_leave(w->line, arg, row->note ? row->note : row->ours);
        return i + 1;
    }
    if (!o && own && arg[1] == '-' && !foreign_prefix(w->rows, arg, len))
        return take_unknown(w, i);
    if (!own && !same) {
        if (w->line)
            foreign_leave(w->line, arg, "nothing of ours is called so");
        return i + 1;
    }
    return keep(w, i, after_own(w, i), o ? arg : NULL);
}

/* ---- arguments ----------------------------------------------------------- */

static void
add_argument(struct walk *w, const char *before, const char *text,
             const char *after, const char *option)
{
    struct buffer out = { 0 };

    buffer_format(&out, "%s", before);
    foreign_quote(&out, text);
    buffer_format(&out, "%s", after);
    buffer_char(&out, '\0');
    foreign_add(w->line, out.p, option, NULL);
}

/* "ollama:NAME", which gg-fetch takes, or a hub's with its own scheme. */
static char *
name_to_fetch(const char *name)
{
    struct buffer text = { 0 };
    size_t host = strncmp(name, "hf.co/", 6) == 0             ? 6
                  : strncmp(name, "huggingface.co/", 15) == 0 ? 15
                                                              : 0;

    buffer_format(&text, "%s%s", host ? "hf:" : "ollama:", name + host);
    buffer_char(&text, '\0');
    return text.p;
}

static void
add_fetched(struct walk *w, const char *before, const char *name,
            const char *after, const char *option)
{
    char *source = name_to_fetch(name);

    add_argument(w, before, source, after, option);
    free(source);
}

/* llama-quantize makes up a name where the second argument is the type. */
static void
add_quantized(struct walk *w, const char *type)
{
    char name[100];

    if (strpbrk(type, "./"))
        return;
    snprintf(name, sizeof(name), "ggml-model-%s.gguf", type);
    add_argument(w, "", name, "", NULL);
    w->n_arguments++;
}

/* An argument of one of their programs. */
static void
take_argument(struct walk *w, const char *text)
{
    const char *kinds = w->program ? w->program->arguments : NULL;
    size_t n = kinds ? strlen(kinds) : 0, k = (size_t)w->n_arguments++;
    char kind = !n ? 'a' : kinds[k < n ? k : n - 1];

    if (kind == 'a' && n == 4 && k == 1)
        add_quantized(w, text);
    if (kind == 'a')
        add_argument(w, "", text, "", NULL);
    else if (kind == 't')
        add_argument(w, "-t ", text, "", "-t");
    else if (kind == 'M')
        add_fetched(w, "-m \"$(gg-fetch ", text, ")\"", "-m");
    else if (kind == 'W')
        add_fetched(w, "\"$(gg-fetch ", text, ")\"", NULL);
    else if (kind == 'F')
        add_fetched(w, "", text, "", NULL);
    else if (kind == 'P')
        buffer_format(&w->line->prompt, "%s%s", w->line->prompt.len ? " " : "",
                      text);
    else
        foreign_leave(w->line, text, "it takes no argument");
}

/* ---- the command line ---------------------------------------------------- */

/* The name of a program without its folder and ".exe". */
static char *
program_name(const char *arg)
{
    const char *slash = strrchr(arg, '/');
    char *name =
        cli_copy(slash ? slash + 1 : arg, strlen(slash ? slash + 1 : arg));
    size_t n = strlen(name);

    if (n > 4 && strcmp(name + n - 4, ".exe") == 0)
        name[n - 4] = '\0';
    return name;
}

/* The program that the first words name: "ollama run", or "run" alone where
 * there is no file of that name. *n gets how many words it takes. */
static const struct foreign_program *
find_program(int argc, char **argv, int *n)
{
    char *name = program_name(argv[1]);
    const struct foreign_program *found = NULL;
    size_t len = strlen(name);

    for (const struct foreign_program *p = foreign_programs; p->names && !found;
         p++) {
        bool program = has_part(p->names, name, len, false);
        bool command = p->command && argc > 2 &&
                       has_part(p->command, argv[2], strlen(argv[2]), false);

        if (program && (!p->command || command)) {
            found = p;
            *n = p->command ? 2 : 1;
        } else if (p->command && strcmp(p->names, "ollama") == 0 && p->tool &&
                   has_part(p->command, argv[1], strlen(argv[1]), false) &&
                   (argc > 2 || strcmp(cli_name, p->tool) == 0)) {
            found = p;
            *n = 1;
        }
    }
    free(name);
    return found;
}

static void
walk_through(struct walk *w, int first)
{
    int i = first;

    w->found = w->n_arguments = 0;
    while (i < w->argc) {
        const char *arg = w->argv[i];

        if (strcmp(arg, "--") == 0)
            break;
        if (arg[0] == '-' && arg[1]) {
            i = take_option(w, i);
        } else if (w->first_only && !w->program) {
            break;
        } else {
            if (w->line)
                take_argument(w, arg);
            i++;
        }
    }
    if (i < w->argc)
        keep(w, i, w->argc, NULL);
}

/* A program of theirs, whose counterpart is a tool. */
static void
add_program(struct walk *w, int n)
{
    const struct foreign_program *p = w->program;
    struct buffer name = { 0 };
    size_t len = p->adds ? strcspn(p->adds, " ") : 0;
    char *option = p->adds ? cli_copy(p->adds, len) : NULL;

    for (int i = 0; i < n; i++)
        buffer_format(&name, "%s%s", i ? " " : "", w->argv[1 + i]);
    buffer_char(&name, '\0');
    if (!p->tool)
        cli_misuse("%s: of %s, and ours have no counterpart: %s", name.p,
                   p->group->name, p->note);
    buffer_format(&w->line->words, "%s", name.p);
    buffer_clear(&name);
    w->whose = p->group;
    if (p->arguments && strchr(p->arguments, '>'))
        w->line->last = cli_copy("model.gguf", strlen("model.gguf"));
    if (option && !has_any(w, p->unless))
        foreign_add(w->line, cli_copy(p->adds, strlen(p->adds)), option, NULL);
    free(option);
}

void
cli_check_foreign(int argc, char **argv, const struct cli_rows *rows,
                  bool first_only)
{
    struct walk w = { argc, argv, rows, first_only, NULL, 0, NULL, 0, NULL };
    struct foreign_line line = { 0 };
    int n = 0;

    if (argc < 2)
        return;
    if (argv[1][0] != '-' && access(argv[1], F_OK) != 0)
        w.program = find_program(argc, argv, &n);
    if (!w.program)
        walk_through(&w, 1);
    if (!w.program && !w.found)
        return;
    w.line = &line;
    if (w.program)
        add_program(&w, n);
    line.tool = tool_of(&w);
    line.rows = is_this_tool(&w) ? rows : NULL;
    walk_through(&w, 1 + n);
    foreign_print(&line, w.whose ? w.whose->name : groups[0].name);
}
