/* The two pictures of a training run. */
#ifndef DIGITS_PICTURES_H
#define DIGITS_PICTURES_H

#include "digits.h"

/* What training leaves: the loss of each step, and for each epoch the loss and the accuracy on the test rows. */
typedef struct history {
  int64_t epochs, batches;
  rlt_tensor *losses, *test_losses, *test_accuracies;
} history;

void draw_curves(const history* run, const char* font, const char* path);
/* Which digit was taken for which, and the first misread images. */
void draw_confusion(const rlt_tensor* logits, const digits* test, const char* font, const char* path);

#endif
