/* svg.c - the chart. Every power of ten has a line across; names stand at the lines' right ends. */
#include "svg.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 860, HEIGHT = 480, LEFT = 80, RIGHT = 150, TOP = 50, BOTTOM = 60, LABEL = 15 };

typedef struct Axes {
    double x0, x1, y0, y1; /* powers of ten at the edges */
} Axes;

static const char *const colors[] = {"#1f6feb", "#d1242f", "#1a7f37", "#8250df"};

static double place_x(const Axes *a, double x) {
    return LEFT + (log10(x) - a->x0) / (a->x1 - a->x0) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const Axes *a, double y) {
    return HEIGHT - BOTTOM - (log10(y) - a->y0) / (a->y1 - a->y0) * (HEIGHT - TOP - BOTTOM);
}

static void widen(Axes *a, double y) {
    a->y0 = fmin(a->y0, floor(log10(y)));
    a->y1 = fmax(a->y1, ceil(log10(y)));
}

static Axes axes_of(const SvgChart *c) {
    Axes a = {log10(c->x[0]), log10(c->x[c->nx - 1]), INFINITY, -INFINITY};
    for (size_t l = 0; l < c->nlines; l++) {
        for (size_t i = 0; i < c->nx; i++) {
            widen(&a, c->lines[l].y[i]);
        }
    }
    return a;
}

static void write_grid(FILE *f, const SvgChart *c, const Axes *a) {
    char text[32];
    for (int p = (int)a->y0; p <= (int)a->y1; p++) {
        double y = place_y(a, pow(10, p));
        fprintf(f, "<path class='grid' d='M%d %.1fH%d'/>", LEFT, y, WIDTH - RIGHT);
        fprintf(f, "<text x='%d' y='%.1f' text-anchor='end'>%s</text>\n", LEFT - 8, y + 4,
                c->y_text(pow(10, p), text));
    }
    for (size_t i = 0; i < c->nx; i++) {
        fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%.0f</text>\n", place_x(a, c->x[i]),
                HEIGHT - BOTTOM + 20, c->x[i]);
    }
    fprintf(f, "<text x='%d' y='%d' text-anchor='middle'>%s</text>\n", (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - 15, c->x_title);
}

static const char *color_of(const SvgLine *line) {
    return colors[(size_t)line->color % (sizeof colors / sizeof colors[0])];
}

static void write_line(FILE *f, const SvgChart *c, const Axes *a, const SvgLine *line) {
    fprintf(f, "<path fill='none' stroke='%s' stroke-width='2'%s d='", color_of(line),
            line->dashed ? " stroke-dasharray='6 4'" : "");
    for (size_t i = 0; i < c->nx; i++) {
        fprintf(f, "%c%.1f %.1f", i ? 'L' : 'M', place_x(a, c->x[i]), place_y(a, line->y[i]));
    }
    fputs("'/>\n", f);
}

/* The line that ends highest on the page of those that are not yet named. */
static size_t highest(const SvgChart *c, const bool *named) {
    size_t best = c->nlines;
    for (size_t l = 0; l < c->nlines; l++) {
        if (!named[l] &&
            (best == c->nlines || c->lines[l].y[c->nx - 1] > c->lines[best].y[c->nx - 1])) {
            best = l;
        }
    }
    return best;
}

/* From the top down, each at least a line of text below the one before. */
static void write_names(FILE *f, const SvgChart *c, const Axes *a) {
    bool named[SVG_LINES_MAX] = {false};
    double last = 0;
    for (size_t l; (l = highest(c, named)) < c->nlines; named[l] = true) {
        last = fmax(place_y(a, c->lines[l].y[c->nx - 1]) + 4, last + LABEL);
        fprintf(f, "<text x='%d' y='%.1f' style='fill:%s'>%s</text>\n", WIDTH - RIGHT + 8, last,
                color_of(&c->lines[l]), c->lines[l].name);
    }
}

static void write_chart(FILE *f, const SvgChart *c) {
    Axes a = axes_of(c);
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d'>\n"
            "<style>text{font:13px sans-serif;fill:#57606a}.grid{stroke:#d0d7de}"
            ".title{font-size:16px;fill:#24292f}</style>\n"
            "<rect width='100%%' height='100%%' fill='#fff'/>\n"
            "<text class='title' x='%d' y='30'>%s</text>\n",
            WIDTH, HEIGHT, LEFT, c->title);
    write_grid(f, c, &a);
    for (size_t l = 0; l < c->nlines; l++) {
        write_line(f, c, &a, &c->lines[l]);
    }
    write_names(f, c, &a);
    fputs("</svg>\n", f);
}

bool svg_write(const SvgChart *chart, const char *path) {
    FILE *f = fopen(path, "w");
    if (f) {
        write_chart(f, chart);
    }
    if (!f || fclose(f) != 0) {
        fprintf(stderr, "The chart %s could not be written: %s.\n", path, strerror(errno));
        return false;
    }
    return true;
}
