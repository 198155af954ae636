/* chat_date.c - the date that templates take for now */
#include <config.h>

#include "common/chat.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LATEST (INT64_C(1) << 40) /* second of a date */

/* A number of `digits` digits after the byte `before`, unless that is 0. */
static bool
take_number(const char **text, char before, int digits, int *out)
{
    const char *p = *text;

    if (before && *p++ != before)
        return false;
    for (*out = 0; digits > 0 && *p >= '0' && *p <= '9'; digits--)
        *out = 10 * *out + (*p++ - '0');
    *text = p;
    return digits == 0;
}

/* T12:30:59, of which all but the hour and the minute may lack. */
static bool
take_time(const char **text, struct tm *tm)
{
    return take_number(text, 'T', 2, &tm->tm_hour) &&
           take_number(text, ':', 2, &tm->tm_min) &&
           (**text != ':' || take_number(text, ':', 2, &tm->tm_sec));
}

/* False: it is no such date. */
static bool
read_iso(const char *text, int64_t *out)
{
    struct tm tm = { 0 }, same;

    if (!take_number(&text, 0, 4, &tm.tm_year) ||
        !take_number(&text, '-', 2, &tm.tm_mon) ||
        !take_number(&text, '-', 2, &tm.tm_mday) ||
        (*text == 'T' && !take_time(&text, &tm)) ||
        (*text && strcmp(text, "Z") != 0))
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    same = tm;
    *out = (int64_t)timegm(&same); /* which turns Feb 30 into Mar 1 */
    return same.tm_mon == tm.tm_mon && same.tm_mday == tm.tm_mday &&
           same.tm_hour == tm.tm_hour && same.tm_min == tm.tm_min &&
           same.tm_sec == tm.tm_sec && *out > 0;
}

enum gg_status
chat_set_date(void *options, const struct cli_option *row, const char *value,
              struct gg_error *err)
{
    int64_t *date = (int64_t *)((char *)options + row->at);

    if (read_iso(value, date) ||
        cli_read_int("--date", value, 1, LATEST, date, err) == GG_OK)
        return GG_OK;
    return cli_error(err, GG_ERR_ARG,
                     "--date: '%s' is neither seconds since 1970, nor "
                     "YYYY-MM-DD, nor YYYY-MM-DDTHH:MM:SSZ",
                     value);
}

bool
chat_date_is_fixed(void)
{
    return getenv("SOURCE_DATE_EPOCH") != NULL;
}

int64_t
chat_date(void)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    int64_t date = (int64_t)time(NULL);
    struct gg_error err;

    if (epoch)
        cli_check(
            cli_read_int("SOURCE_DATE_EPOCH", epoch, 1, LATEST, &date, &err),
            &err);
    return date;
}
