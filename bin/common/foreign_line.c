/* foreign_line.c - another program's command line, written as ours */
#include <config.h>

#include "common/foreign.h"

#include <unistd.h>

/* ---- pieces -------------------------------------------------------------- */

static char *
end_text(struct buffer *b)
{
    buffer_char(b, '\0');
    return b->p;
}

void
foreign_add(struct foreign_line *line, char *text, const char *option,
            const char *word)
{
    for (size_t i = 0; i < line->n && word; i++)
        if (strcmp(line->p[i].text, text) == 0) {
            free(text);
            return;
        }
    line->p = cli_alloc(line->p, line->n + 1, sizeof(*line->p));
    line->p[line->n++] = (struct foreign_piece){
        text, option ? cli_copy(option, strlen(option)) : NULL,
        word ? cli_copy(word, strlen(word)) : NULL, line->passes
    };
}

bool
foreign_is_passed(const char *tool, const struct foreign_word *row)
{
    return row->ours && strcmp(tool, "gg-serve") == 0 &&
           (!row->tool || strncmp(row->ours, "-- ", 3) == 0);
}

void
foreign_leave(struct foreign_line *line, const char *word, const char *why)
{
    size_t i = 0;

    while (i < line->n_left && strcmp(line->left[i].why, why) != 0)
        i++;
    if (i == line->n_left) {
        line->left =
            cli_alloc(line->left, line->n_left + 1, sizeof(*line->left));
        line->left[line->n_left++] =
            (struct foreign_left){ .why = cli_copy(why, strlen(why)) };
    }
    buffer_format(&line->left[i].words, "%s%s",
                  line->left[i].words.len ? ", " : "", word);
}

/* True where the value is in the option's list, or may be a file. */
static bool
is_listed(const struct cli_option *o, const char *value)
{
    if (cli_has_word(o->values, value) || strpbrk(value, "./") ||
        access(value, F_OK) == 0)
        return true;
    for (size_t i = 0; o->list(i); i++)
        if (strcmp(o->list(i), value) == 0)
            return true;
    return false;
}

bool
foreign_is_value(const struct cli_option *o, const char *value,
                 struct gg_error *err)
{
    struct cli_option row = *o;
    int64_t field[4];

    if (o->kind == CLI_CALL && o->list && o->opens && !is_listed(o, value)) {
        snprintf(err->message, sizeof(err->message),
                 "--%s list has no '%.100s'", o->name, value);
        return false;
    }
    row.at = 0;
    return o->kind < CLI_TEXT || o->kind > CLI_WORD ||
           cli_option_set(&row, field, value, err) == GG_OK;
}

/* "--opt %x" of one value. */
static void
add_option(struct foreign_line *line, const char *ours, const char *word,
           const char *const values[2], const char *file)
{
    const struct cli_rows *rows = line->passes ? line->passed : line->rows;
    const char *percent = strchr(ours, '%'), *why;
    size_t n = strcspn(ours, " ");
    char *option = cli_copy(ours, n);
    const struct cli_option *o;
    struct buffer text = { 0 };
    struct gg_error err;

    o = rows ? foreign_own(rows, option, n) : NULL;
    if (percent && !percent[1] && o && values[0] &&
        !foreign_is_value(o, values[0], &err)) {
        bool named = strncmp(err.message, word, strlen(word)) == 0;

        foreign_leave(line, word, err.message + (named ? strlen(word) + 2 : 0));
        free(option);
        return;
    }
    buffer_format(&text, "%.*s", percent ? (int)(percent - ours) : -1, ours);
    if (percent && !foreign_value(&text, percent[1], values, file, &why)) {
        foreign_leave(line, word, why);
        buffer_clear(&text);
    } else {
        foreign_add(line, end_text(&text), option, word);
    }
    free(option);
}

/* One for each part between commas. */
static void
add_each(struct foreign_line *line, const char *ours, const char *word,
         const char *value, const char *file)
{
    while (*value) {
        size_t n = strcspn(value, ",");
        char *part = cli_copy(value, n);
        const char *const values[2] = { part, NULL };

        add_option(line, ours, word, values, file);
        free(part);
        value += n + (value[n] == ',');
    }
}

/* Values that become no option: the prompt, a file, a text. */
static void
add_elsewhere(struct foreign_line *line, char where, const char *value)
{
    struct buffer text = { 0 };
    char **at = where == 'f'   ? &line->file
                : where == 'o' ? &line->last
                               : &line->text;

    foreign_quote(&text, value);
    free(*at);
    *at = end_text(&text);
}

/* "temperature" of llm is a member of records. */
static void
add_member(struct foreign_line *line, const char *word,
           const char *const values[2])
{
    char option[CLI_OPTION_NAME + 4];
    const char *const value[2] = { values[1], NULL };

    for (size_t i = 0; line->rows && i < line->rows->n; i++) {
        const struct cli_option *o = line->rows->p[i].o;

        if (!o->record || !(cli_has_word(o->name, values[0]) ||
                            cli_has_word(o->aliases, values[0]) ||
                            cli_has_word(o->members, values[0])))
            continue;
        snprintf(option, sizeof(option), "--%s %%", o->name);
        add_option(line, option, word, value, NULL);
        return;
    }
    foreign_leave(line, word, "no option of ours has this name");
}

/* The members of a flat object in JSON: --template-arg NAME=VALUE each. */
static void
add_members(struct foreign_line *line, const char *word, const char *json)
{
    const char *p = json + strspn(json, "{ \t\n");
    bool any = false;

    while (*p == '"') {
        size_t n = strcspn(p + 1, "\""), len;
        const char *v = p + 1 + n + (p[1 + n] == '"');
        struct buffer text = { 0 };
        const char *value;
        struct buffer pair = { 0 };

        v += strspn(v, ": \t\n");
        len = *v == '"' ? 2 + strcspn(v + 1, "\"") : strcspn(v, ",} \t\n");
        buffer_format(&pair, "%.*s=%.*s", (int)n, p + 1, (int)len, v);
        value = end_text(&pair);
        buffer_format(&text, "--template-arg ");
        foreign_quote(&text, value);
        foreign_add(line, end_text(&text), "--template-arg", word);
        buffer_clear(&pair);
        any = true;
        if (strlen(v) <= len)
            break;
        p = v + len;
        p += strspn(p, ", \t\n");
    }
    if (!any)
        foreign_leave(line, word, "its value is no object of JSON");
}

/* A word that the tool which gets it has, too. */
static void
add_same(struct foreign_line *line, const char *word,
         const char *const values[2])
{
    struct buffer ours = { 0 };

    buffer_format(&ours, "%s%s", word, values[0] ? " %" : "");
    add_option(line, end_text(&ours), word, values, NULL);
    buffer_clear(&ours);
}

void
foreign_translate(struct foreign_line *line, const struct foreign_word *row,
                  const char *word, const char *const values[2],
                  const char *file)
{
    bool passed = foreign_is_passed(line->tool, row);
    const char *ours = row->ours;
    const char *percent = ours ? strchr(ours, '%') : NULL;

    if (passed && strncmp(ours, "-- ", 3) == 0)
        ours += 3;
    line->passes = passed;
    if (!ours)
        foreign_leave(line, word, row->note);
    else if (strcmp(ours, "=") == 0)
        add_same(line, word, values);
    else if (*ours == '|')
        add_elsewhere(line, ours[1], values[0]);
    else if (percent && percent[1] == 'k')
        add_member(line, word, values);
    else if (percent && percent[1] == 'j')
        add_members(line, word, values[0]);
    else if (percent && (percent[1] == 'l' || percent[1] == 's'))
        add_each(line, ours, word, values[0], file);
    else
        add_option(line, ours, word, values, file);
    line->passes = false;
}

/* ---- what goes together -------------------------------------------------- */

static bool
is_given(const struct foreign_line *line, const char *names,
         const struct foreign_piece *but)
{
    for (size_t i = 0; i < line->n; i++) {
        const struct foreign_piece *p = &line->p[i];
        const struct cli_option *o =
            p->option && p != but && p->text
                ? foreign_own(line->rows, p->option, strlen(p->option))
                : NULL;

        if (o && o->name && cli_has_word(names, o->name))
            return true;
    }
    return false;
}

/* Leaves out an option that is there as it is, where one of their words says
 * the same option: --batch-size N and --ubatch-size N. */
static void
leave_doubles(struct foreign_line *line, const struct foreign_piece *theirs,
              const struct cli_option *o)
{
    for (size_t i = 0; i < line->n; i++) {
        struct foreign_piece *p = &line->p[i];

        if (p == theirs || p->word || !p->option || !p->text ||
            foreign_own(line->rows, p->option, strlen(p->option)) != o)
            continue;
        foreign_leave(line, p->option, "another word says it");
        free(p->text);
        p->text = NULL;
    }
}

/* Leaves out what came of their words and does not go with the rest. */
static void
check_pieces(struct foreign_line *line)
{
    char why[300], with[200];

    for (size_t i = 0; line->rows && i < line->n; i++) {
        struct foreign_piece *p = &line->p[i];
        const struct cli_option *o =
            p->option && p->word && !p->is_passed
                ? foreign_own(line->rows, p->option, strlen(p->option))
                : NULL;

        if (!o)
            continue;
        if (o->kind != CLI_CALL && p->text)
            leave_doubles(line, p, o);
        if (o->only_with && !is_given(line, o->only_with, p)) {
            cli_list_options(line->rows, o->only_with, with, sizeof(with));
            snprintf(why, sizeof(why), "%s goes with %s only", p->option, with);
        } else if (o->not_with && is_given(line, o->not_with, p)) {
            snprintf(why, sizeof(why), "%s does not go with the rest",
                     p->option);
        } else {
            continue;
        }
        foreign_leave(line, p->word, why);
        free(p->text);
        p->text = NULL;
    }
}

/* ---- what is printed ----------------------------------------------------- */

static const char *
model_of(const struct foreign_line *line)
{
    for (size_t i = 0; i < line->n; i++)
        if (line->p[i].text && line->p[i].option &&
            (strcmp(line->p[i].option, "-m") == 0 ||
             strcmp(line->p[i].option, "--model") == 0))
            return line->p[i].text;
    return NULL;
}

/* Adds gg-tokenize, whose pipe leads into the command line. */
static void
add_front(struct buffer *out, const struct foreign_line *line)
{
    const char *model = model_of(line);

    if (line->text)
        buffer_format(out, "printf %%s %s | ", line->text);
    if (strcmp(line->tool, "gg-eval") == 0 && (line->text || line->file))
        buffer_format(out, "gg-tokenize%s%s%s%s | ", model ? " " : "",
                      model ? model : "", line->file ? " " : "",
                      line->file ? line->file : "");
}

static void
add_pieces(struct buffer *out, const struct foreign_line *line, bool passed)
{
    const char *sign = passed ? " --" : "";

    for (size_t i = 0; i < line->n; i++) {
        if (!line->p[i].text || line->p[i].is_passed != passed)
            continue;
        buffer_format(out, "%s %s", sign, line->p[i].text);
        sign = "";
    }
}

void
foreign_print(struct foreign_line *line, const char *whose)
{
    struct buffer out = { 0 };

    if (line->prompt.len) {
        struct buffer text = { 0 };

        buffer_format(&text, "-p ");
        foreign_quote(&text, end_text(&line->prompt));
        foreign_add(line, end_text(&text), "-p", NULL);
    }
    check_pieces(line);
    add_front(&out, line);
    buffer_format(&out, "%s", line->tool);
    add_pieces(&out, line, false);
    add_pieces(&out, line, true);
    if (line->last)
        buffer_format(&out, " %s", line->last);
    cli_warn("%s: of %s; ours is:", end_text(&line->words), whose);
    fprintf(stderr, "%s\n", end_text(&out));
    for (size_t i = 0; i < line->n_left; i++)
        cli_warn("left out: %s: %s", end_text(&line->left[i].words),
                 line->left[i].why);
    exit(EXIT_USAGE);
}
