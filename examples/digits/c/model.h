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
  /* The same tensors in two lists: what the optimizer changes, and what is saved, under the names that a module of PyTorch gives. */
  rlt_tensor* parameters[PARAMETERS];
  rlt_state_dict* state;
} model;

/* Draws the first weights. */
model model_new(void);
void model_free(model* self);
/* Takes the weights of a file: every one must be there, in its shape, and no other. */
void model_load(model* self, const char* path);
/* Writes safetensors if the path ends so, else the format of PyTorch. */
void model_save(const model* self, const char* path);

/* The scores of each class, [N, 10]. In training, dropout draws a mask and the norms take the statistics of the batch. */
rlt_tensor* model_forward(const model* self, const rlt_tensor* images, int training);

/* The scores without training and without recording gradients. */
rlt_tensor* logits_of(const model* self, const rlt_tensor* images);
rlt_tensor* cross_entropy(const rlt_tensor* logits, const rlt_tensor* labels);
/* The class of the highest score. */
rlt_tensor* predict(const rlt_tensor* logits);
/* The share of rows whose highest score is the label's. */
double accuracy(const rlt_tensor* logits, const rlt_tensor* labels);
/* Counts, int64 [10, 10]: row = the digit, column = what the model says. */
rlt_tensor* confusion_matrix(const rlt_tensor* logits, const rlt_tensor* labels);

#endif
