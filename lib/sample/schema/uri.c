/* uri.c - references as RFC 3986 has them resolved */
#include <config.h>

#ifdef HAVE_JANSSON

#include <ctype.h>

#include "sample/schema/parts.h"

/* The parts of a URI without its fragment, each with what marks it: "http:",
 * "//host", "/a/b", "?c". */
struct uri {
    const char *scheme, *authority, *path, *query;
    int n_scheme, n_authority, n_path, n_query;
};

static int
scheme_length(const char *p)
{
    int n = 0;

    while (isalnum((unsigned char)p[n]) || (n && strchr("+-.", p[n]) && p[n]))
        n++;
    return n && isalpha((unsigned char)*p) && p[n] == ':' ? n + 1 : 0;
}

static struct uri
split_uri(const char *p)
{
    struct uri u = { .scheme = p, .n_scheme = scheme_length(p) };

    u.authority = p + u.n_scheme;
    if (!strncmp(u.authority, "//", 2))
        u.n_authority = 2 + (int)strcspn(u.authority + 2, "/?#");
    u.path = u.authority + u.n_authority;
    u.n_path = (int)strcspn(u.path, "?#");
    u.query = u.path + u.n_path;
    u.n_query = (int)strcspn(u.query, "#");
    return u;
}

/* Takes away the last segment of a path, which begins at p[from]. */
static size_t
cut_segment(const char *p, size_t from, size_t n)
{
    while (n > from && p[n - 1] != '/')
        n--;
    return n > from ? n - 1 : n;
}

/* "/a/./b/../c" becomes "/a/c", in place; returns its length. */
static size_t
remove_dots(char *p, size_t len)
{
    size_t n = 0;

    for (size_t i = 0, next; i < len; i = next) {
        size_t seg;

        for (next = i + 1; next < len && p[next] != '/';)
            next++;
        seg = next - i;
        if (seg == 3 && !memcmp(p + i, "/..", 3)) {
            n = cut_segment(p, 0, n);
        } else if (seg != 2 || memcmp(p + i, "/.", 2) != 0) {
            memmove(p + n, p + i, seg);
            n += seg;
            continue;
        }
        if (next == len)
            p[n++] = '/';
    }
    return n;
}

/* The path of a reference that has one but no authority. */
static int
join_paths(const struct uri *base, const struct uri *ref, char *out,
           size_t size)
{
    int keep = base->n_path, n;

    while (keep > 0 && base->path[keep - 1] != '/')
        keep--;
    if (*ref->path == '/')
        keep = 0;
    n = snprintf(out, size, "%s%.*s%.*s",
                 !keep && *ref->path != '/' && base->n_authority ? "/" : "",
                 keep, base->path, ref->n_path, ref->path);
    if (n >= 0 && (size_t)n < size && *out == '/')
        n = (int)remove_dots(out, (size_t)n);
    return n;
}

bool
sample_schema_resolve_uri(const char *base, const char *ref, char *out,
                          size_t size)
{
    struct uri b = split_uri(base), r = split_uri(ref);
    char path[SCHEMA_MAX_URI];
    const struct uri *authority = &r;

    if (r.n_scheme)
        return snprintf(out, size, "%.*s", (int)(r.query + r.n_query - ref),
                        ref) < (int)size;
    if (!r.n_authority) {
        authority = &b;
        if (!r.n_path) {
            r.path = b.path;
            r.n_path = b.n_path;
            if (!r.n_query) {
                r.query = b.query;
                r.n_query = b.n_query;
            }
        } else {
            r.n_path = join_paths(&b, &r, path, sizeof(path));
            r.path = path;
        }
    }
    return r.n_path < (int)sizeof(path) &&
           snprintf(out, size, "%.*s%.*s%.*s%.*s", b.n_scheme, b.scheme,
                    authority->n_authority, authority->authority, r.n_path,
                    r.path, r.n_query, r.query) < (int)size;
}

static int
hex(char c)
{
    return isdigit((unsigned char)c) ? c - '0'
                                     : tolower((unsigned char)c) - 'a' + 10;
}

void
sample_schema_percent_decode(char *text)
{
    char *out = text;

    for (; *text; text++) {
        bool coded = text[0] == '%' && isxdigit((unsigned char)text[1]) &&
                     isxdigit((unsigned char)text[2]);
        int c = coded ? 16 * hex(text[1]) + hex(text[2]) : 0;

        *out++ = c ? (char)c : *text;
        text += c ? 2 : 0;
    }
    *out = '\0';
}

#endif
