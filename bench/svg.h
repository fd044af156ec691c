/* svg.h - a chart with two logarithmic axes, as a file. */
#ifndef PAWL_BENCH_SVG_H
#define PAWL_BENCH_SVG_H

#include <stdbool.h>
#include <stddef.h>

typedef struct SvgLine {
    const char *name;
    bool dashed;
    int color;       /* lines of one color are about one thing */
    const double *y; /* one for each x */
} SvgLine;

enum { SVG_LINES_MAX = 16 };

typedef struct SvgChart {
    const char *title, *x_title;
    const double *x;
    size_t nx;
    const SvgLine *lines;
    size_t nlines;
    const char *(*y_text)(double y, char *out); /* out has room for 32 bytes */
} SvgChart;

/* False, with a message on stderr, when the file cannot be written. */
bool svg_write(const SvgChart *chart, const char *path);

#endif
