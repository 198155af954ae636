/* foreign_value.c - values of other programs' options, in our form */
#include <config.h>

#include "common/foreign.h"

#include <ctype.h>

static bool
add_inverse(struct buffer *out, const char *value)
{
    char *end;
    double x = strtod(value, &end);

    if (*end || end == value || !(x > 0))
        return false;
    buffer_format(out, "%g", 1 / x);
    return true;
}

/* "15043+1": the id, then the bias. */
static bool
add_bias(struct buffer *out, const char *value)
{
    size_t n = strspn(value, "0123456789");

    if (!n || !strchr("+-", value[n]) || !value[n + 1])
        return false;
    buffer_format(out, "%.*s=%s", (int)n, value, value + n + (value[n] == '+'));
    return true;
}

/* "FILE:SCALE" as "FILE=SCALE". */
static bool
add_scaled(struct buffer *out, const char *value)
{
    const char *colon = strrchr(value, ':');
    struct buffer text = { 0 };

    if (!colon)
        return false;
    buffer_format(&text, "%.*s=%s", (int)(colon - value), value, colon + 1);
    buffer_char(&text, '\0');
    foreign_quote(out, text.p);
    buffer_clear(&text);
    return true;
}

/* "KEY=VALUE" of two values. */
static bool
add_joined(struct buffer *out, const char *a, const char *sign, const char *b)
{
    struct buffer text = { 0 };

    buffer_format(&text, "%s%s%s", a, sign, b);
    buffer_char(&text, '\0');
    foreign_quote(out, text.p);
    buffer_clear(&text);
    return true;
}

/* "$(gg-fetch SOURCE)" */
static bool
add_fetched(struct buffer *out, const char *scheme, const char *name,
            const char *file)
{
    const char *colon = strrchr(name, ':');
    size_t n = file && colon ? (size_t)(colon - name) : strlen(name);
    struct buffer source = { 0 };

    buffer_format(&source, "%s%.*s%s%s", scheme, (int)n, name, file ? ":" : "",
                  file ? file : "");
    buffer_char(&source, '\0');
    buffer_format(out, "\"$(gg-fetch ");
    foreign_quote(out, source.p);
    buffer_format(out, ")\"");
    buffer_clear(&source);
    return true;
}

/* Capitals are how types are written here. */
static bool
add_capitals(struct buffer *out, const char *value)
{
    char *copy = cli_copy(value, strlen(value));

    for (char *p = copy; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    foreign_quote(out, copy);
    free(copy);
    return true;
}

/* PATTERN=TYPE: their patterns are parts of names. */
static bool
add_pattern(struct buffer *out, const char *value)
{
    const char *sign = strchr(value, '=');
    struct buffer text = { 0 };

    if (!sign)
        return false;
    buffer_format(&text, "*%.*s*%s", (int)(sign - value), value, sign);
    buffer_char(&text, '\0');
    foreign_quote(out, text.p);
    buffer_clear(&text);
    return true;
}

static bool
add_file(struct buffer *out, const char *value)
{
    buffer_format(out, "\"$(cat ");
    foreign_quote(out, value);
    buffer_format(out, ")\"");
    return true;
}

/* "true" and "false" are on and off. */
static bool
add_thought(struct buffer *out, const char *value)
{
    foreign_quote(out, strcmp(value, "false") == 0 ? "off" : "on");
    return true;
}

/* Where a server listens: addresses, or a socket, and a port, one of which
 * another word may say. */
static bool
add_listen(struct buffer *out, const char *value, const char *other)
{
    bool is_port = !value[strspn(value, "0123456789")];
    const char *hosts = is_port ? other : value;
    const char *port = is_port ? value : other;
    const char *sign = "";

    for (hosts = hosts ? hosts : "127.0.0.1"; *hosts;) {
        size_t n = strcspn(hosts, ",");
        bool is_file = n > 5 && strncmp(hosts + n - 5, ".sock", 5) == 0;
        bool is_six = memchr(hosts, ':', n) != NULL;
        struct buffer text = { 0 };

        if (is_file)
            buffer_format(&text, "%s%.*s", memchr(hosts, '/', n) ? "" : "./",
                          (int)n, hosts);
        else
            buffer_format(&text, is_six ? "[%.*s]:%s" : "%.*s:%s", (int)n,
                          hosts, port ? port : "8080");
        buffer_char(&text, '\0');
        buffer_format(out, "%s", sign);
        foreign_quote(out, text.p);
        buffer_clear(&text);
        sign = " -l ";
        hosts += n + (hosts[n] == ',');
    }
    return true;
}

bool
foreign_value(struct buffer *out, char how, const char *const values[2],
              const char *file, const char **why)
{
    const char *v = values[0];

    *why = "its value has no form of ours";
    switch (how) {
    case 'i':
        return add_inverse(out, v);
    case 'b':
        return add_bias(out, v);
    case 's':
        return add_scaled(out, v);
    case '2':
        return add_joined(out, v, "=", values[1]);
    case 'r':
        return add_joined(out, v, "-", values[1]);
    case 'f':
        return add_file(out, v);
    case 'h':
        return add_fetched(out, "hf:", v, file);
    case 'g':
        return add_fetched(out, "", v, NULL);
    case 'w':
        return add_fetched(out, "ollama:", v, NULL);
    case 'd':
        return add_joined(out, "cuda:", "", v + strlen("CUDA"));
    case 'u':
        return add_capitals(out, v);
    case 't':
        return add_pattern(out, v);
    case 'o':
        return add_thought(out, v);
    case 'L':
        return add_listen(out, v, file);
    case 'M':
        return add_joined(out, v, "", "M");
    case 'e':
        return add_joined(out, "reasoning_effort=\"", v, "\"");
    default:
        foreign_quote(out, v);
        return true;
    }
}
