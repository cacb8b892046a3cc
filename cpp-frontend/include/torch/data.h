// Datasets, samplers, transforms and the loader of batches.
#pragma once

#include <torch/data/dataloader.h>
#include <torch/data/datasets.h>
#include <torch/data/example.h>
#include <torch/data/samplers.h>
#include <torch/data/transforms.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace data {
using datasets::BatchDataset;
using datasets::Dataset;
}  // namespace data
RLT_NAMESPACE_END
}  // namespace torch
