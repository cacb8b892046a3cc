//! A CUDA driver for tests on machines without a GPU: `libcuda.so.1` that interprets PTX.
#![allow(non_snake_case)]

pub mod api;
pub mod driver;
pub mod exec;
pub mod ptx;
