/* logit_nmse.c - how far two logit streams are apart
 *
 *   logit_nmse LIMIT FILE FILE
 *
 * Prints the mean square of the differences over that of the first file's
 * logits, from which their mean is taken; ends with 1 where a record's is above
 * LIMIT, or where the streams are not of the same records. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gg-stream.h>

static struct gg_error err;

static struct gg_logit_reader *
open_stream(const char *path)
{
    struct gg_logit_reader *r;
    int fd = open(path, O_RDONLY);

    if (fd >= 0 && gg_logit_reader_new(fd, path, &r, &err) == GG_OK)
        return r;
    fprintf(stderr, "%s: cannot be read\n", path);
    exit(2);
}

/* The next record with logits; false: there is none. */
static bool
next(struct gg_logit_reader *r, struct gg_logit_record *record)
{
    enum gg_status st;

    do
        st = gg_logit_read(r, record, &err);
    while (st == GG_OK && record->kind != GG_RECORD_LOGITS);
    if (st == GG_OK || st == GG_EOF)
        return st == GG_OK;
    fprintf(stderr, "%s\n", err.message);
    exit(2);
}

static double
nmse(const float *x, const float *y, size_t n)
{
    double mean = 0, square = 0, difference = 0;

    for (size_t i = 0; i < n; i++)
        mean += (double)x[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        square += ((double)x[i] - mean) * ((double)x[i] - mean);
        difference +=
            ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
    }
    return difference / square;
}

int
main(int argc, char **argv)
{
    struct gg_logit_record a, b;
    struct gg_logit_reader *x, *y;
    double limit, worst = 0;
    bool more, other;
    int n = 0;

    if (argc != 4)
        return 2;
    limit = strtod(argv[1], NULL);
    x = open_stream(argv[2]);
    y = open_stream(argv[3]);
    for (; more = next(x, &a), other = next(y, &b), more && other; n++) {
        double d;

        if (a.position != b.position || a.n_logits != b.n_logits)
            return 1;
        d = nmse(a.logits, b.logits, a.n_logits);
        if (!(d <= worst))
            worst = d; /* NaN as well */
    }
    gg_logit_reader_free(x);
    gg_logit_reader_free(y);
    printf("%.2e\n", worst);
    return more || other || n == 0 || !(worst <= limit);
}
