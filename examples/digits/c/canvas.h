/* A picture as an SVG file: rectangles, text, squares and curves whose coordinates and colors come from tensors. */
#ifndef DIGITS_CANVAS_H
#define DIGITS_CANVAS_H

#include <rushlight/rushlight.h>
#include <stdio.h>

typedef struct color {
  int red, green, blue; /* 0 to 255 */
} color;

typedef struct area {
  int64_t y, x, height, width;
} area;

typedef enum align { LEFT, CENTER, RIGHT } align;

typedef struct canvas {
  FILE* file;
} canvas;

/* Creates the file, with a white background. */
canvas canvas_new(const char* path, int64_t height, int64_t width);
/* Completes and closes the file. */
void canvas_finish(canvas* self);

void canvas_fill(canvas* self, area where, color ink);
/* `y` is the top of the capital letters; `x` is the start, the middle or the end of the text. The text has no `<` or `&`. */
void canvas_text(canvas* self, int64_t y, int64_t x, const char* text, int size, color ink, align align);
/* Draws each color of a tensor [rows, columns, 3] as a square. */
void canvas_squares(canvas* self, int64_t y, int64_t x, const rlt_tensor* colors, int64_t size);
/* n values as a line between `low` at the bottom and `high` at the top of the area: value i is at (i + 1) / n of the width. */
void canvas_curve(canvas* self, area where, const rlt_tensor* values, double low, double high, int thickness, color ink);

/* Interpolates from one color (weight 0) to another (weight 1): [rows, columns, 3] for weights [rows, columns]. */
rlt_tensor* blend(color from, color to, const rlt_tensor* weight);

#endif
