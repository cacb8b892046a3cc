/* The network: two convolutions, each with batch norm, GELU and mean pooling; dropout; a linear layer. */
#ifndef DIGITS_MODEL_H
#define DIGITS_MODEL_H

#include "digits.h"

enum { PARAMETERS = 8 };

/* Parameters and running statistics of a batch norm. */
typedef struct norm {
  rlt_tensor *weight, *bias, *mean, *variance, *batches;
} norm;

typedef struct model {
  rlt_tensor *conv1, *conv2, *weight, *bias;
  norm norm1, norm2;
  /* The same tensors in two lists: those that the optimizer updates, and those that are saved, under PyTorch's names. */
  rlt_tensor* parameters[PARAMETERS];
  rlt_state_dict* state;
} model;

/* Initializes the weights. */
model model_new(void);
void model_free(model* self);
/* Loads the weights of a file: names and shapes must match exactly. */
void model_load(model* self, const char* path);
/* Writes safetensors if the path has that extension, else PyTorch's format. */
void model_save(const model* self, const char* path);

/* The logits of each class, [N, 10]. In training, dropout is active and the norms use the statistics of the batch. */
rlt_tensor* model_forward(const model* self, const rlt_tensor* images, int training);

/* The logits in evaluation mode, without recording gradients. */
rlt_tensor* logits_of(const model* self, const rlt_tensor* images);
rlt_tensor* cross_entropy(const rlt_tensor* logits, const rlt_tensor* labels);
/* The class of the largest logit. */
rlt_tensor* predict(const rlt_tensor* logits);
/* The accuracy: the fraction of rows whose largest logit is the label's. */
double accuracy(const rlt_tensor* logits, const rlt_tensor* labels);
/* Counts, int64 [10, 10]: row = the digit, column = the prediction. */
rlt_tensor* confusion_matrix(const rlt_tensor* logits, const rlt_tensor* labels);

#endif
