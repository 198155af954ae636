/* foreign.c - words of other programs in a command line */
#include <config.h>

#include "common/foreign.h"

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
           foreign_is_passed(cli_name, row) ||
           foreign_own(w->rows, row->ours, n);
}

/* False where the row is for other values. No value is like an option that
 * follows. */
static bool
fits(const struct foreign_word *row, const char *value)
{
    value = value ? value : "-";
    return !row->only ||
           foreign_has_part(row->only, value, strlen(value), true);
}

/* Its row, of those of a group. */
static const struct foreign_word *
find_row(const struct walk *w, const struct foreign_group *g, const char *word,
         size_t len, const char *value, bool *known)
{
    bool own = !(w->program && g->rows != foreign_llama) && is_this_tool(w) &&
               foreign_own(w->rows, word, len);

    for (const struct foreign_word *r = g->rows; r->words; r++) {
        if (!foreign_has_part(r->words, word, len, true) ||
            (own && !r->only && !(w->program && r->tool)) ||
            (r->tool && strcmp(r->tool, tool_of(w)) != 0) ||
            (r->args > 0 && !value) || !fits(r, value))
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
        if (foreign_has_part(r->words, word, len, true)) {
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
        if (foreign_has_part(words, w->argv[i], strcspn(w->argv[i], "="),
                             false))
            return true;
    return false;
}

/* The argument of one of these words, or NULL. */
static const char *
value_of(const struct walk *w, const char *words)
{
    for (int i = 1; i < w->argc; i++) {
        size_t n = strcspn(w->argv[i], "=");

        if (!foreign_has_part(words, w->argv[i], n, false))
            continue;
        return w->argv[i][n] ? w->argv[i] + n + 1 : w->argv[i + 1];
    }
    return NULL;
}

/* The value of another word that this word's value is joined with. */
static const char *
other_value(const struct walk *w, const char *word)
{
    if (strcmp(word, "--host") == 0)
        return value_of(w, "--port");
    return value_of(w,
                    strcmp(word, "--port") == 0 ? "--host" : "-hff|--hf-file");
}

/* ---- one step ------------------------------------------------------------ */

/* True where the argument after a word, which may have one, is its value: no
 * option, nor an argument of the program. */
static bool
takes_next(const struct walk *w, int i)
{
    const char *next = i + 1 < w->argc ? w->argv[i + 1] : "-", *kinds;

    if (strchr(w->argv[i], '=') ||
        (next[0] == '-' && !strchr("0123456789.", next[1] ? next[1] : '-')))
        return false;
    if (!w->program)
        return access(next, F_OK) != 0 && !foreign_is_model(next);
    kinds = w->program->arguments;
    return w->program->group->rows == foreign_llama &&
           (!kinds || strcmp(kinds, "G") == 0);
}

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

/* An option of ours, unless its value is one that it has with them only. */
static int
keep_own(struct walk *w, int i, const struct cli_option *o, const char *value)
{
    const char *arg = w->argv[i];
    int end = after_own(w, i);
    struct gg_error err;

    if (w->line && o && arg[1] == '-' && value && w->line->rows &&
        !foreign_is_value(o, value, &err)) {
        char *word = cli_copy(arg, strcspn(arg, "="));
        const char *why = strstr(err.message, ": ");

        foreign_leave(w->line, word, why ? why + 2 : err.message);
        free(word);
        return end;
    }
    return keep(w, i, end, o ? arg : NULL);
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
    int args = row->args < 0 ? takes_next(w, i) : row->args - (sign != NULL),
        first = i + 1;
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
        foreign_translate(w->line, row, word, values, other_value(w, word));
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
        return i + 1 + takes_next(w, i);
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

/* -ngl is an option of ours by another name, of one hyphen; llama.cpp takes
 * --ctx_size for --ctx-size. */
static const char *
option_at(struct walk *w, int i)
{
    static char gpu_layers[] = "--gpu-layers";

    if (strcmp(w->argv[i], "-ngl") == 0 && !w->program &&
        foreign_own(w->rows, gpu_layers, strlen(gpu_layers)))
        w->argv[i] = gpu_layers;
    if (w->line && strncmp(w->argv[i], "--", 2) == 0)
        for (char *p = w->argv[i]; *p && *p != '='; p++)
            *p = *p == '_' ? '-' : *p;
    return w->argv[i];
}

/* False where a row is for words with two such values, and the second one is
 * another: --control-vector-layer-range 1 model.gguf. */
static bool
fits_second(const struct walk *w, int i, const struct foreign_word *row)
{
    const char *value = i + 2 < w->argc ? w->argv[i + 2] : "";

    return row->args < 2 || !row->only ||
           foreign_has_part(row->only, value, strlen(value), true);
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
    same = row && row->ours && strcmp(row->ours, "=") == 0 &&
           !foreign_is_passed(tool_of(w), row);
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
        return i + 1 + takes_next(w, i);
    }
    return keep_own(w, i, o, value);
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

static void
add_source(struct walk *w, const char *name)
{
    char *source = foreign_source(name);

    add_argument(w, "", source, "", NULL);
    free(source);
}

/* A model: a file, or what gg-fetch brings; in front of it "-m " or nothing. */
static void
add_model(struct walk *w, const char *before, const char *name,
          const char *option)
{
    bool file = foreign_is_model(name);
    char *source = foreign_source(name), front[32];

    snprintf(front, sizeof(front), "%s%s", before, file ? "" : "\"$(gg-fetch ");
    add_argument(w, front, file ? name : source, file ? "" : ")\"", option);
    free(source);
}

/* llama-quantize makes up a name where the second argument is the type. */
static bool
add_quantized(struct walk *w, const char *type)
{
    char name[100];

    if (strpbrk(type, "./"))
        return false;
    snprintf(name, sizeof(name), "ggml-model-%s.gguf", type);
    add_argument(w, "", name, "", NULL);
    w->n_arguments++;
    return true;
}

/* An argument of one of their programs. */
static void
take_argument(struct walk *w, const char *text)
{
    const char *kinds = w->program ? w->program->arguments : NULL;
    size_t n = kinds ? strlen(kinds) : 0, k = (size_t)w->n_arguments++;
    char kind = !n ? 'a' : kinds[k < n ? k : n - 1];

    if (kind == 'Q')
        kind = add_quantized(w, foreign_type(text)) ? 'q' : 'a';
    if (kind == 'q')
        text = foreign_type(text);
    if (strchr("aq", kind))
        add_argument(w, "", text, "", NULL);
    else if (kind == 't')
        add_argument(w, "-t ", text, "", "-t");
    else if (kind == 'M' || (kind == 'G' && foreign_is_model(text)))
        add_model(w, "-m ", text, "-m");
    else if (kind == 'W')
        add_model(w, "", text, NULL);
    else if (kind == 'F')
        add_source(w, text);
    else if (kind == 'P')
        buffer_format(&w->line->prompt, "%s%s", w->line->prompt.len ? " " : "",
                      text);
    else
        foreign_leave(w->line, text, "it takes no argument");
}

/* ---- the command line ---------------------------------------------------- */

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
        w.program = foreign_find_program(argc, argv, &n);
    if (!w.program)
        walk_through(&w, 1);
    if (!w.program && !w.found)
        return;
    w.line = &line;
    if (w.program)
        add_program(&w, n);
    line.tool = tool_of(&w);
    line.rows = is_this_tool(&w) ? rows : NULL;
    line.passed = strcmp(cli_name, "gg-generate") == 0 ? rows : NULL;
    walk_through(&w, 1 + n);
    foreign_print(&line, w.whose ? w.whose->name : groups[0].name);
}
