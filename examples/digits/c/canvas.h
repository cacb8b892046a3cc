/* A picture that is drawn with operators: a tensor of colors that rectangles, letters and curves are mixed into. */
#ifndef DIGITS_CANVAS_H
#define DIGITS_CANVAS_H

#include <rushlight/rushlight.h>

typedef struct color {
  float red, green, blue; /* 0 to 255 */
} color;

typedef struct area {
  int64_t y, x, height, width;
} area;

typedef enum align { LEFT, CENTER, RIGHT } align;

typedef struct canvas {
  rlt_tensor* pixels; /* float32 [height, width, 3] */
  rlt_tensor* glyphs; /* float32 [95, 9, 6], 1 is ink: the characters from ' ' to '~' */
} canvas;

/* A white one. `font` is the file of the examples, with the tensor `glyphs`. */
canvas canvas_new(const char* font, int64_t height, int64_t width);
/* Writes a PNG file and frees the canvas. */
void canvas_finish(canvas* self, const char* path);

void canvas_fill(canvas* self, area where, color ink);
/* Mixes a color in: coverage [height, width] 0 leaves a pixel as it is, 1 paints it over. */
void canvas_blend(canvas* self, int64_t y, int64_t x, const rlt_tensor* coverage, color ink);
/* Paints [height, width, 3] over. */
void canvas_paste(canvas* self, int64_t y, int64_t x, const rlt_tensor* picture);
/* Letters of 7 * scale pixels above the line; `x` is where the text begins, its middle, or its end. */
void canvas_text(canvas* self, int64_t y, int64_t x, const char* text, int scale, color ink, align align);
/* n values as a line between `low` at the bottom and `high` at the top of the area: value i stands at (i + 1) / n of the width. */
void canvas_curve(canvas* self, area where, const rlt_tensor* values, double low, double high, double thickness, color ink);

/* The three numbers of a color. */
rlt_tensor* color_tensor(color ink);
/* Every element as a square of size * size. */
rlt_tensor* enlarge(const rlt_tensor* picture, int64_t size);

#endif
