/* Dates. A broken-down time is [year, month 0-11, day, hours, minutes, seconds, weekday, yearday];
 * missing members count as 0. Calendar arithmetic is our own, in 64 bits and in UTC, so that no
 * number can overflow; the C library formats, parses and knows the local time zone. */
#define _GNU_SOURCE
#include "native.h"

#include "mem.h"

#include <limits.h>
#include <math.h>
#include <time.h>

enum { DAY = 86400, FIELDS = 8 };

/* Seconds that still give a year which fits an int. */
#define SECONDS_MAX 6.7e16

/* ---- the calendar ---- */

static int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

/* Days from 1970-01-01 to the first of a month, which may lie outside 0-11. Years begin in March
 * here, so that leap days come last. */
static int64_t days_to_month(int64_t year, int64_t month) {
    int64_t months = year * 12 + month - 2;
    int64_t y = floor_div(months, 12), m = months - y * 12;
    return y * 365 + floor_div(y, 4) - floor_div(y, 100) + floor_div(y, 400) + (m * 153 + 2) / 5 -
           719468;
}

static int64_t days_of(const struct tm *tm) {
    return days_to_month((int64_t)tm->tm_year + 1900, tm->tm_mon) + tm->tm_mday - 1;
}

static int64_t seconds_of(const struct tm *tm) {
    return days_of(tm) * DAY + (int64_t)tm->tm_hour * 3600 + (int64_t)tm->tm_min * 60 + tm->tm_sec;
}

/* The weekday and the day of the year follow from the date. */
static void set_days(struct tm *tm) {
    int64_t days = days_of(tm);
    tm->tm_wday = (int)(days + 4 - floor_div(days + 4, 7) * 7);
    tm->tm_yday = (int)(days - days_to_month((int64_t)tm->tm_year + 1900, 0));
}

/* False when the year does not fit. */
static bool utc_of(int64_t seconds, struct tm *tm) {
    int64_t days = floor_div(seconds, DAY), rest = seconds - days * DAY;
    if (fabs((double)seconds) > SECONDS_MAX) return false;
    *tm = (struct tm){.tm_hour = (int)(rest / 3600),
                      .tm_min = (int)(rest / 60 % 60),
                      .tm_sec = (int)(rest % 60),
                      .tm_zone = "GMT"};
    /* Splits a count of days since 1970 into year and month, and what remains as the day. */
    int64_t year = 1970 + floor_div(days * 400, 146097);
    year += days_to_month(year + 1, 0) <= days;
    year -= days_to_month(year, 0) > days;
    int month = 11;
    while (month > 0 && days_to_month(year, month) > days) month--;
    tm->tm_year = (int)(year - 1900);
    tm->tm_mon = month;
    tm->tm_mday = (int)(days - days_to_month(year, month)) + 1;
    set_days(tm);
    return true;
}

/* ---- broken-down times as values ---- */

static Json time_value(const struct tm *tm, double fraction) {
    Json items[FIELDS] = {
        json_int((int64_t)tm->tm_year + 1900),
        json_int(tm->tm_mon),
        json_int(tm->tm_mday),
        json_int(tm->tm_hour),
        json_int(tm->tm_min),
        native_number(tm->tm_sec + fraction),
        json_int(tm->tm_wday),
        json_int(tm->tm_yday),
    };
    return json_array_from(items, FIELDS);
}

/* False when it is not a broken-down time. */
static bool read_time(Json v, struct tm *tm) {
    int *const fields[FIELDS] = {&tm->tm_year, &tm->tm_mon, &tm->tm_mday, &tm->tm_hour,
                                 &tm->tm_min,  &tm->tm_sec, &tm->tm_wday, &tm->tm_yday};
    *tm = (struct tm){0};
    for (size_t i = 0; i < FIELDS; i++) {
        Json item = json_array_get(v, i);
        double d = json_is_none(item)               ? 0
                   : json_kind(item) == JSON_NUMBER ? json_to_double(item)
                                                    : NAN;
        if (isnan(d)) return false;
        d -= i == 0 ? 1900 : 0;
        *fields[i] = d < INT_MIN ? INT_MIN : d > INT_MAX ? INT_MAX : (int)d;
    }
    return true;
}

static Json fail_range(JqRun *run) {
    return jq_fail(run, "error converting number of seconds since epoch to datetime");
}

/* Sets *tm and *fraction from a count of seconds. False when it is out of range. */
static bool split_seconds(double d, bool local, struct tm *tm, double *fraction) {
    if (!(fabs(d) <= SECONDS_MAX)) return false;
    *fraction = d - floor(d);
    time_t seconds = (time_t)floor(d);
    return local ? localtime_r(&seconds, tm) != NULL : utc_of((int64_t)seconds, tm);
}

static Json broken_down(JqRun *run, Json v, bool local) {
    struct tm tm;
    double fraction;
    if (json_kind(v) != JSON_NUMBER) {
        return jq_fail(run, "%s() requires numeric inputs", local ? "localtime" : "gmtime");
    }
    return split_seconds(json_to_double(v), local, &tm, &fraction) ? time_value(&tm, fraction)
                                                                   : fail_range(run);
}

NATIVE(date_gmtime, broken_down(run, args[0], false))
NATIVE(date_localtime, broken_down(run, args[0], true))

static Json date_mktime(JqRun *run, Json *args) {
    Json v = args[0];
    struct tm tm;
    if (json_tag(v) != JSON_TAG_ARRAY) return jq_fail(run, "mktime requires array inputs");
    return read_time(v, &tm) ? native_number((double)seconds_of(&tm))
                             : jq_fail(run, "mktime requires parsed datetime inputs");
}

/* ---- formatting ---- */

/* False after jq_fail(). */
static bool time_to_format(JqRun *run, Json v, bool local, struct tm *tm) {
    double fraction;
    bool ok = true;
    if (json_kind(v) == JSON_NUMBER) {
        ok = split_seconds(json_to_double(v), local, tm, &fraction);
    } else if (json_tag(v) != JSON_TAG_ARRAY || !read_time(v, tm)) {
        jq_fail(run, "%s/1 requires parsed datetime inputs", local ? "strflocaltime" : "strftime");
        return false;
    } else if (local) { /* puts it into shape: days past the end of the month and so on */
        tm->tm_isdst = -1;
        mktime(tm);
    } else {
        ok = utc_of(seconds_of(tm), tm);
    }
    if (!ok) fail_range(run);
    return ok;
}

/* Formats into a buffer that grows as long as the result could reasonably need it. The space in
 * front tells an empty result from one that did not fit. */
static Json format_text(JqRun *run, const char *format, const struct tm *tm, const char *who) {
    Buf spaced = BUF_INIT, out = BUF_INIT;
    Json result = json_none();
    buf_printf(&spaced, " %s", format);
    size_t written = 0, most = spaced.len * 64 + 4096;
    for (size_t room = spaced.len + 128; !written && room <= most; room *= 2) {
        written = strftime(buf_reserve(&out, room), room, spaced.data, tm);
    }
    if (written) {
        result = json_string(out.data + 1, written - 1);
    } else {
        jq_fail(run, "%s/1: unknown system failure", who);
    }
    buf_clear(&spaced);
    buf_clear(&out);
    return result;
}

static Json format_time(JqRun *run, Json v, const Json *format, bool local) {
    const char *who = local ? "strflocaltime" : "strftime";
    struct tm tm;
    if (json_kind(v) != JSON_NUMBER && json_tag(v) != JSON_TAG_ARRAY) {
        return jq_fail(run, "%s/1 requires parsed datetime inputs", who);
    }
    if (json_kind(*format) != JSON_STRING) {
        return jq_fail(run, "%s/1 requires a string format", who);
    }
    Text text = native_text(format);
    if (!native_afford(run, text.len * 64) || !time_to_format(run, v, local, &tm)) {
        return json_none();
    }
    char *copy = mem_strndup(text.data, text.len);
    Json result = format_text(run, copy, &tm, who);
    mem_free(copy);
    return result;
}

NATIVE(date_strftime, format_time(run, args[0], &args[1], false))
NATIVE(date_strflocaltime, format_time(run, args[0], &args[1], true))

/* ---- parsing ---- */

static Json date_strptime(JqRun *run, Json *args) {
    if (json_kind(args[0]) != JSON_STRING || json_kind(args[1]) != JSON_STRING) {
        return jq_fail(run, "strptime/1 requires string inputs and arguments");
    }
    Text text = native_text(&args[0]), by = native_text(&args[1]);
    if (!native_afford(run, text.len + by.len)) return json_none();
    char *given = mem_strndup(text.data, text.len), *format = mem_strndup(by.data, by.len);
    struct tm tm = {0};
    const char *end = strptime(given, format, &tm);
    bool space = end && (*end == ' ' || (*end >= '\t' && *end <= '\r'));
    Json result = json_none();
    if (!end || (*end && !space)) {
        jq_fail(run, "date \"%s\" does not match format \"%s\"", given, format);
    } else {
        set_days(&tm);
        result = time_value(&tm, 0);
        if (*end) { /* what follows the time after white space becomes a ninth member */
            result = json_array_push(result, json_string_c(end));
        }
    }
    mem_free(given);
    mem_free(format);
    return result;
}

const JqNative jq_natives_date[] = {
    {"gmtime", 0, JQ_PURE, date_gmtime},
    {"localtime", 0, JQ_USES_CLOCK, date_localtime},
    {"mktime", 0, JQ_PURE, date_mktime},
    {"strftime", 1, JQ_PURE, date_strftime},
    {"strflocaltime", 1, JQ_USES_CLOCK, date_strflocaltime},
    {"strptime", 1, JQ_PURE, date_strptime},
    {0},
};
