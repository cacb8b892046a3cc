/* The two pictures of a training run. */
#ifndef DIGITS_PICTURES_H
#define DIGITS_PICTURES_H

#include "digits.h"

/* The results of training: the loss of each step, and for each epoch the loss and the accuracy on the test rows. */
typedef struct history {
  int64_t epochs, batches;
  rlt_tensor *losses, *test_losses, *test_accuracies;
} history;

void draw_curves(const history* run, const char* path);
/* The confusion matrix, and the first misclassified images. */
void draw_confusion(const rlt_tensor* logits, const digits* test, const char* path);

#endif
