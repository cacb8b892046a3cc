// Options of every module.
#pragma once

#include <torch/nn/options/activation.h>
#include <torch/nn/options/adaptive.h>
#include <torch/nn/options/dropout.h>
#include <torch/nn/options/linear.h>
#include <torch/nn/options/loss.h>
#include <torch/nn/options/multihead_attention.h>
#include <torch/nn/options/normalization.h>
#include <torch/nn/options/rnn.h>
#include <torch/nn/options/transformer.h>
#include <torch/nn/options/transformercoder.h>
#include <torch/nn/options/transformerlayer.h>
