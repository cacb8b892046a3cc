// Operators of images and boxes on a CUDA device against the CPU, in larger sizes than the recorded cases.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "support.h"

namespace {

using torch::Tensor;

/// Numbers from -1 to 1 in no order, of which few are equal.
Tensor scattered(at::IntArrayRef sizes, torch::Dtype dtype = torch::kFloat, int64_t seed = 1) {
  Tensor numbers = torch::arange(c10::multiply_integers(sizes), torch::kLong) * 7919 + seed * 104729;
  return ((numbers % 10007).to(torch::kDouble) / 5003 - 1).to(dtype).view(sizes);
}

template <class Signature>
auto named(const std::string& name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(("torchvision::" + name).c_str(), "").typed<Signature>();
}

/// Boxes of two images of 17 x 23 elements: inside, beyond the edges, larger than the image, turned around and empty.
Tensor boxes(int64_t count, torch::Dtype dtype) {
  Tensor rois = scattered({count, 5}, torch::kDouble, 3) * 20 + 8;
  rois.select(1, 0).copy_(torch::arange(count, torch::kDouble) % 2);
  rois.select(0, 1).slice(0, 1).copy_(torch::tensor({-30.0, -40.0, 60.0, 50.0}, torch::kDouble));
  rois.select(0, 2).slice(0, 1).copy_(torch::tensor({5.0, 5.0, 5.0, 5.0}, torch::kDouble));
  return rois.to(dtype);
}

const std::array<torch::Dtype, 3> dtypes = {torch::kFloat, torch::kDouble, torch::kHalf};

TEST(CudaBoxes, AlignAsOnTheCpu) {
  using Forward = Tensor(const Tensor&, const Tensor&, double, int64_t, int64_t, int64_t, bool);
  using Backward = Tensor(const Tensor&, const Tensor&, double, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, bool);
  auto forward = named<Forward>("roi_align");
  auto backward = named<Backward>("_roi_align_backward");
  for (auto dtype : dtypes) {
    for (auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
      Tensor image = scattered({2, 5, 17, 23}, dtype).contiguous(format), rois = boxes(21, dtype), grad = scattered({21, 5, 3, 4}, dtype);
      for (int64_t sampling : {0, 2}) {
        for (bool aligned : {false, true}) {
          Tensor expected = forward.call(image, rois, 0.75, 3, 4, sampling, aligned);
          EXPECT_TRUE(forward.call(image.cuda(), rois.cuda(), 0.75, 3, 4, sampling, aligned).cpu().equal(expected))
              << dtype << sampling << aligned;
        }
      }
      for (int64_t sampling : {0, 2}) {
        Tensor expected = backward.call(grad, rois, 0.75, 3, 4, 2, 5, 17, 23, sampling, true);
        EXPECT_TRUE(backward.call(grad.cuda(), rois.cuda(), 0.75, 3, 4, 2, 5, 17, 23, sampling, true).cpu().equal(expected))
            << dtype << sampling;
      }
    }
  }
}

TEST(CudaBoxes, HaveGradientsOfTheirImages) {
  auto align = named<Tensor(const Tensor&, const Tensor&, double, int64_t, int64_t, int64_t, bool)>("roi_align");
  auto gradient = [&](torch::Device device) {
    Tensor image = scattered({2, 5, 17, 23}).to(device).requires_grad_();
    Tensor bins = align.call(image, boxes(21, torch::kFloat).to(device), 0.5, 4, 4, 2, false);
    return torch::autograd::grad({(bins * scattered({21, 5, 4, 4}).to(device)).sum()}, {image})[0].cpu();
  };
  EXPECT_TRUE(gradient(torch::kCUDA).equal(gradient(torch::kCPU)));
}

TEST(CudaBoxes, PoolMaximaAsOnTheCpu) {
  using Forward = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, double, int64_t, int64_t);
  using Backward = Tensor(const Tensor&, const Tensor&, const Tensor&, double, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
  auto forward = named<Forward>("roi_pool");
  auto backward = named<Backward>("_roi_pool_backward");
  for (auto dtype : dtypes) {
    Tensor image = scattered({2, 5, 17, 23}, dtype), rois = boxes(200, dtype), grad = scattered({200, 5, 3, 4}, dtype);
    auto [expected, indices] = forward.call(image, rois, 0.75, 3, 4);
    auto [actual, there] = forward.call(image.cuda(), rois.cuda(), 0.75, 3, 4);
    EXPECT_TRUE(actual.cpu().equal(expected)) << dtype;
    EXPECT_TRUE(there.cpu().equal(indices)) << dtype;
    // 12,000 bins: their indices are sorted in several runs.
    Tensor sums = backward.call(grad, rois, indices, 0.75, 3, 4, 2, 5, 17, 23);
    EXPECT_TRUE(backward.call(grad.cuda(), rois.cuda(), there, 0.75, 3, 4, 2, 5, 17, 23).cpu().equal(sums)) << dtype;
  }
}

TEST(CudaBoxes, PoolByPositionAsOnTheCpu) {
  using Align = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, double, int64_t, int64_t, int64_t);
  using AlignBack = Tensor(const Tensor&, const Tensor&, const Tensor&, double, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
  using Pool = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, double, int64_t, int64_t);
  using PoolBack = Tensor(const Tensor&, const Tensor&, const Tensor&, double, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
  auto align = named<Align>("ps_roi_align");
  auto align_back = named<AlignBack>("_ps_roi_align_backward");
  auto pool = named<Pool>("ps_roi_pool");
  auto pool_back = named<PoolBack>("_ps_roi_pool_backward");
  auto same = [](const std::tuple<Tensor, Tensor>& actual, const std::tuple<Tensor, Tensor>& expected) {
    // Means of no samples are not numbers.
    return std::get<0>(actual).cpu().nan_to_num(100).equal(std::get<0>(expected).nan_to_num(100)) &&
           std::get<1>(actual).cpu().equal(std::get<1>(expected));
  };
  for (auto dtype : dtypes) {
    Tensor image = scattered({2, 24, 17, 23}, dtype), rois = boxes(40, dtype), grad = scattered({40, 4, 2, 3}, dtype);
    for (int64_t sampling : {0, 2}) {
      auto expected = align.call(image, rois, 0.75, 2, 3, sampling);
      auto actual = align.call(image.cuda(), rois.cuda(), 0.75, 2, 3, sampling);
      EXPECT_TRUE(same(actual, expected)) << dtype << sampling;
      Tensor sums = align_back.call(grad, rois, std::get<1>(expected), 0.75, 2, 3, sampling, 2, 24, 17, 23);
      EXPECT_TRUE(align_back.call(grad.cuda(), rois.cuda(), std::get<1>(actual), 0.75, 2, 3, sampling, 2, 24, 17, 23).cpu().equal(sums))
          << dtype << sampling;
    }
    auto expected = pool.call(image, rois, 0.75, 2, 3), actual = pool.call(image.cuda(), rois.cuda(), 0.75, 2, 3);
    EXPECT_TRUE(same(actual, expected)) << dtype;
    Tensor sums = pool_back.call(grad, rois, std::get<1>(expected), 0.75, 2, 3, 2, 24, 17, 23);
    EXPECT_TRUE(pool_back.call(grad.cuda(), rois.cuda(), std::get<1>(actual), 0.75, 2, 3, 2, 24, 17, 23).cpu().equal(sums)) << dtype;
  }
}

TEST(CudaBoxes, AreSuppressedAsOnTheCpu) {
  auto nms = named<Tensor(const Tensor&, const Tensor&, double)>("nms");
  Tensor corners = scattered({300, 2}) * 20, dets = torch::cat({corners, corners + 5 + scattered({300, 2}, torch::kFloat, 4)}, 1);
  Tensor scores = scattered({300}, torch::kFloat, 8), kept = nms.call(dets.cuda(), scores.cuda(), 0.3);
  EXPECT_TRUE(kept.is_cuda());
  EXPECT_TRUE(kept.cpu().equal(nms.call(dets, scores, 0.3)));
}

TEST(CudaBoxes, ReportABoxInNoImage) {
  auto align = named<Tensor(const Tensor&, const Tensor&, double, int64_t, int64_t, int64_t, bool)>("roi_align");
  Tensor rois = torch::tensor({{7.0f, 0.0f, 0.0f, 3.0f, 3.0f}}).cuda();
  Tensor bins = align.call(scattered({2, 1, 5, 5}).cuda(), rois, 1, 2, 2, 2, true);
  EXPECT_EQ(error_of([&] { bins.cpu(); }),
            "index 7 is out of bounds for dimension 0 with size 2\n  in operator torchvision::roi_align on device cuda:0");
  // The device works on, and a box with more samples than a loop could visit has the mean of those inside of the image.
  rois.copy_(torch::tensor({{1.0f, -1e9f, -1e9f, 1e9f, 1e9f}}));
  EXPECT_TRUE(align.call(torch::ones({2, 1, 5, 5}, on_gpu), rois, 1, 2, 2, 0, true).isfinite().all().item<bool>());
}

TEST(CudaDeform, MovesTapsAsOnTheCpu) {
  using Columns = Tensor(const Tensor&, const Tensor&, const Tensor&, at::IntArrayRef, at::IntArrayRef, at::IntArrayRef,
                         at::IntArrayRef, int64_t, bool);
  using OfImage = Tensor(const Tensor&, const Tensor&, const Tensor&, at::IntArrayRef, at::IntArrayRef, at::IntArrayRef,
                         at::IntArrayRef, at::IntArrayRef, int64_t, bool);
  using OfMoves = Tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&, at::IntArrayRef, at::IntArrayRef,
                         at::IntArrayRef, at::IntArrayRef, int64_t, bool);
  auto columns = named<Columns>("_deform_columns");
  auto of_image = named<OfImage>("_deform_columns_image");
  auto of_offset = named<OfMoves>("_deform_columns_offset"), of_mask = named<OfMoves>("_deform_columns_mask");
  std::vector<int64_t> kernel{3, 2}, stride{2, 1}, padding{1, 2}, dilation{1, 2}, sizes{3, 4, 19, 14};
  for (auto dtype : dtypes) {
    for (bool masked : {false, true}) {
      // Positions: 10 x 16. Offsets of up to 4 elements lead beyond the edges, and some to elements themselves.
      Tensor image = scattered(sizes, dtype), grad = scattered({3, 24, 160}, dtype, 5);
      Tensor offset = (scattered({3, 24, 10, 16}, torch::kDouble, 7) * 16).round().div(4).to(dtype);
      Tensor mask = scattered({3, 12, 10, 16}, dtype, 9);
      auto there = [](const Tensor& x) { return x.cuda(); };
      EXPECT_TRUE(columns.call(there(image), there(offset), there(mask), kernel, stride, padding, dilation, 2, masked)
                      .cpu()
                      .equal(columns.call(image, offset, mask, kernel, stride, padding, dilation, 2, masked)))
          << dtype << masked;
      EXPECT_TRUE(of_image.call(there(grad), there(offset), there(mask), sizes, kernel, stride, padding, dilation, 2, masked)
                      .cpu()
                      .equal(of_image.call(grad, offset, mask, sizes, kernel, stride, padding, dilation, 2, masked)))
          << dtype << masked;
      for (auto& by : {of_offset, of_mask}) {
        EXPECT_TRUE(by.call(there(grad), there(image), there(offset), there(mask), kernel, stride, padding, dilation, 2, masked)
                        .cpu()
                        .equal(by.call(grad, image, offset, mask, kernel, stride, padding, dilation, 2, masked)))
            << dtype << masked;
      }
    }
  }
}

TEST(CudaDeform, ConvolvesWithGradientsInBothFormats) {
  using Convolution = Tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t, int64_t, int64_t,
                             int64_t, int64_t, int64_t, int64_t, int64_t, bool);
  auto convolution = named<Convolution>("deform_conv2d");
  for (auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    auto gradients = [&](torch::Device device) {
      std::vector<Tensor> leaves{scattered({2, 4, 12, 13}).contiguous(format), scattered({6, 2, 3, 3}, torch::kFloat, 2),
                                 scattered({2, 36, 12, 13}, torch::kFloat, 3) * 3, scattered({2, 18, 12, 13}, torch::kFloat, 4),
                                 scattered({6}, torch::kFloat, 5)};
      for (Tensor& leaf : leaves) leaf = leaf.to(device).requires_grad_();
      Tensor out = convolution.call(leaves[0], leaves[1], leaves[2], leaves[3], leaves[4], 1, 1, 1, 1, 1, 1, 2, 2, true);
      std::vector<Tensor> all = torch::autograd::grad({(out * scattered({2, 6, 12, 13}).to(device)).sum()}, leaves);
      all.push_back(out.detach());
      return all;
    };
    std::vector<Tensor> actual = gradients(torch::kCUDA), expected = gradients(torch::kCPU);
    for (size_t nth = 0; nth < expected.size(); ++nth) EXPECT_TRUE(actual[nth].cpu().allclose(expected[nth], 1e-4, 1e-4)) << nth;
  }
}

TEST(CudaImages, PoolFractionallyInBothFormats) {
  for (auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16}) {
    for (bool last : {false, true}) {
      auto check = [&](const Tensor& image, auto pool, auto back, at::IntArrayRef out) {
        Tensor samples = (scattered({2, 3, image.dim() - 2}, dtype, 2) + 1) / 2;
        auto [expected, indices] = pool(image, samples);
        auto [actual, there] = pool(image.cuda(), samples.cuda());
        EXPECT_EQ(expected.sizes().slice(2), out);
        EXPECT_TRUE(actual.cpu().equal(expected)) << dtype << last;
        EXPECT_TRUE(there.cpu().equal(indices)) << dtype << last;
        // Windows overlap, so that an element is the largest of several.
        Tensor grad = scattered(expected.sizes(), dtype, 6);
        Tensor sums = back(grad, image, indices);
        EXPECT_TRUE(back(grad.cuda(), image.cuda(), there).cpu().equal(sums)) << dtype << last;
      };
      Tensor flat = scattered({2, 3, 61, 53}, dtype), deep = scattered({2, 3, 11, 9, 14}, dtype);
      if (last) flat = flat.contiguous(at::MemoryFormat::ChannelsLast), deep = deep.contiguous(at::MemoryFormat::ChannelsLast3d);
      flat.select(3, 7).select(2, 11).fill_(NAN);
      check(
          flat.nan_to_num(2), [](const Tensor& x, const Tensor& s) { return torch::fractional_max_pool2d(x, {3, 4}, {45, 40}, s); },
          [](const Tensor& g, const Tensor& x, const Tensor& i) { return torch::fractional_max_pool2d_backward(g, x, {3, 4}, {45, 40}, i); },
          {45, 40});
      check(
          deep, [](const Tensor& x, const Tensor& s) { return torch::fractional_max_pool3d(x, {2, 3, 2}, {7, 5, 9}, s); },
          [](const Tensor& g, const Tensor& x, const Tensor& i) { return torch::fractional_max_pool3d_backward(g, x, {2, 3, 2}, {7, 5, 9}, i); },
          {7, 5, 9});
      // The index of a maximum that is not a number.
      Tensor samples = torch::full({2, 3, 2}, 0.5, dtype);
      auto [values, indices] = torch::fractional_max_pool2d(flat.cuda(), {3, 4}, {45, 40}, samples.cuda());
      auto [expected, places] = torch::fractional_max_pool2d(flat, {3, 4}, {45, 40}, samples);
      EXPECT_TRUE(indices.cpu().equal(places)) << dtype << last;
      EXPECT_TRUE(values.cpu().isnan().equal(expected.isnan())) << dtype << last;
    }
  }
}

TEST(CudaImages, ReportAnIndexOfNoElement) {
  Tensor grad = torch::ones({1, 1, 2, 2}, on_gpu), image = torch::ones({1, 1, 4, 4}, on_gpu);
  Tensor indices = torch::tensor({0, 3, -1, 16}, torch::kLong).view({1, 1, 2, 2}).cuda();
  Tensor sums = torch::fractional_max_pool2d_backward(grad, image, {2, 2}, {2, 2}, indices);
  EXPECT_EQ(error_of([&] { sums.cpu(); }),
            "out of range: tried to access index 16 on a tensor of 16 elements.\n  in operator fractional_max_pool2d_backward on "
            "device cuda:0");
  EXPECT_EQ(sums.sum().item<float>(), 2.0f);
}

TEST(CudaImages, InterpolateBytesInBothFormats) {
  for (auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    Tensor image = ((scattered({2, 3, 37, 41}) + 1) * 127.5).round().to(torch::kByte).contiguous(format), gpu = image.cuda();
    for (std::vector<int64_t> size : {std::vector<int64_t>{80, 95}, {11, 9}, {37, 20}, {1, 1}}) {
      for (bool corners : {false, true}) {
        EXPECT_TRUE(torch::upsample_bilinear2d(gpu, size, corners).cpu().equal(torch::upsample_bilinear2d(image, size, corners))) << size;
        EXPECT_TRUE(torch::upsample_bicubic2d(gpu, size, corners).cpu().equal(torch::upsample_bicubic2d(image, size, corners))) << size;
        EXPECT_TRUE(torch::_upsample_bilinear2d_aa(gpu, size, corners).cpu().equal(torch::_upsample_bilinear2d_aa(image, size, corners)))
            << size;
        EXPECT_TRUE(torch::_upsample_bicubic2d_aa(gpu, size, corners).cpu().equal(torch::_upsample_bicubic2d_aa(image, size, corners)))
            << size;
      }
    }
  }
}

}  // namespace
