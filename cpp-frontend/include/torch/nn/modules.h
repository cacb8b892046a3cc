// Every module.
#pragma once

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/loss.h>
#include <torch/nn/modules/rnn.h>
