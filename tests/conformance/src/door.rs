//! The way into the library: operators by name, tensors in and out, gradients.

use crate::cases::Item;
use crate::host::HostTensor;
use rushlight_base::{Device, Layout, MemoryFormat, Scalar};
use rushlight_tensor::dispatch::by_name;
use rushlight_tensor::{Geometry, autograd, manual_seed};

pub use rushlight_tensor::Tensor;

/// An argument or result of a call.
#[derive(Clone, Debug)]
pub struct Value(rushlight_tensor::Value);

impl Value {
    /// The tensor, if it is one.
    pub fn tensor(&self) -> Option<&Tensor> {
        match &self.0 {
            rushlight_tensor::Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

/// The library.
pub struct Door;

type Made<'a> = dyn FnMut(&str, &HostTensor) -> Result<Tensor, String> + 'a;

fn text(error: rushlight_base::Error) -> String {
    error.message().to_owned()
}

impl Door {
    /// Is there such an operator?
    pub fn has(&self, name: &str, overload: &str) -> bool {
        by_name::find(name, overload).is_ok()
    }

    /// Does the operator return views of its arguments?
    pub fn is_view(&self, name: &str, overload: &str) -> Result<bool, String> {
        let op = by_name::find(name, overload).map_err(text)?;
        Ok(match op {
            rushlight_tensor::Op::BuiltIn(def) => def.schema.contains("(a)"),
            rushlight_tensor::Op::Runtime(_) => false,
        })
    }

    /// A tensor with the recorded values and strides.
    pub fn tensor(&self, host: &HostTensor) -> Result<Tensor, String> {
        let bytes = host.bytes.as_deref().ok_or("an input without values")?;
        let strides = match &host.strides {
            Some(strides) => strides.clone(),
            None => rushlight_base::contiguous_strides(&host.shape).to_vec(),
        };
        let reach: i64 =
            1 + host.shape.iter().zip(&strides).map(|(size, stride)| (size - 1).max(0) * stride).sum::<i64>();
        let base = rushlight_tensor::Spec::new(&[reach], host.dtype, Device::CPU).allocate().map_err(text)?;
        let size = host.dtype.size();
        let mut index = vec![0i64; host.shape.len()];
        for element in bytes.chunks_exact(size) {
            let at: i64 = index.iter().zip(&strides).map(|(index, stride)| index * stride).sum();
            // SAFETY: `reach` counted the elements up to the farthest index.
            unsafe { base.ptr().add(at as usize * size).copy_from_nonoverlapping(element.as_ptr(), size) };
            for (index, &extent) in index.iter_mut().zip(&host.shape).rev() {
                *index += 1;
                if *index < extent {
                    break;
                }
                *index = 0;
            }
        }
        let geometry = Geometry {
            sizes: host.shape.iter().copied().collect(),
            strides: strides.iter().copied().collect(),
            offset: 0,
        };
        Ok(Tensor::from_dense(base.with_geometry(geometry)))
    }

    /// The values of a tensor.
    pub fn host(&self, tensor: &Tensor) -> Result<HostTensor, String> {
        let contiguous = rushlight_tensor::ops::clone(tensor, Some(MemoryFormat::Contiguous)).map_err(text)?;
        let dense = contiguous.dense().map_err(text)?;
        let count = dense.numel() as usize * dense.dtype.size();
        if count == 0 {
            return Ok(HostTensor {
                bytes: Some(Vec::new()),
                dtype: dense.dtype,
                shape: dense.sizes().to_vec(),
                strides: None,
            });
        }
        // SAFETY: the clone is contiguous and holds this many bytes.
        let bytes = unsafe { std::slice::from_raw_parts(dense.ptr(), count) }.to_vec();
        Ok(HostTensor { dtype: dense.dtype, shape: dense.sizes().to_vec(), strides: None, bytes: Some(bytes) })
    }

    /// The strides of a tensor.
    pub fn strides(&self, tensor: &Tensor) -> Result<Vec<i64>, String> {
        Ok(tensor.strides().to_vec())
    }

    /// Let gradients reach this tensor.
    pub fn require_grad(&self, tensor: &Tensor) -> Result<(), String> {
        tensor.set_requires_grad(true).map_err(text)
    }

    /// An argument; tensors within it are made by `made`, which is told their path within a list.
    pub fn value(&self, item: &Item, made: &mut Made<'_>) -> Result<Value, String> {
        use rushlight_tensor::Value as V;
        Ok(Value(match item {
            Item::None => V::None,
            Item::Scalar(value) => V::Scalar(*value),
            Item::Str(text) => V::Str(text.as_str().into()),
            Item::DType(dtype) => V::DType(*dtype),
            Item::Device(name) => V::Device(Device::parse(name).map_err(text)?),
            Item::Layout => V::Layout(Layout::Strided),
            Item::MemoryFormat(name) => V::MemoryFormat(match name.as_str() {
                "contiguous_format" => MemoryFormat::Contiguous,
                "preserve_format" => MemoryFormat::Preserve,
                "channels_last" => MemoryFormat::ChannelsLast,
                _ => MemoryFormat::ChannelsLast3d,
            }),
            Item::Tensor(host) => V::Tensor(made("", host)?),
            Item::List(items) => self.list(items, made)?,
        }))
    }

    fn list(&self, items: &[Item], made: &mut Made<'_>) -> Result<rushlight_tensor::Value, String> {
        use rushlight_tensor::Value as V;
        let number = |item: &Item| match item {
            Item::Scalar(value) => Ok(*value),
            other => Err(format!("unexpected {other:?} in a list")),
        };
        Ok(match items.first() {
            None => V::Ints(Default::default()),
            Some(Item::Tensor(_) | Item::None) => {
                let tensor = |(at, item): (usize, &Item)| match item {
                    Item::Tensor(host) => made(&at.to_string(), host).map(Some),
                    _ => Ok(None),
                };
                V::Tensors(items.iter().enumerate().map(tensor).collect::<Result<_, _>>()?)
            }
            Some(Item::Scalar(Scalar::Bool(_))) => {
                V::Bools(items.iter().map(|item| number(item).map(Scalar::to_bool)).collect::<Result<_, _>>()?)
            }
            Some(Item::Scalar(Scalar::Float(_))) => {
                V::Floats(items.iter().map(|item| number(item).map(Scalar::to_f64)).collect::<Result<_, _>>()?)
            }
            _ => V::Ints(items.iter().map(|item| number(item).map(Scalar::to_i64)).collect::<Result<_, _>>()?),
        })
    }

    /// A result in terms of recorded values.
    pub fn item(&self, value: &Value) -> Result<Item, String> {
        use rushlight_tensor::Value as V;
        Ok(match &value.0 {
            V::Tensor(tensor) => Item::Tensor(self.host(tensor)?),
            V::Scalar(value) => Item::Scalar(*value),
            V::DType(dtype) => Item::DType(*dtype),
            V::None => Item::None,
            other => return Err(format!("unexpected result of kind {}", other.kind())),
        })
    }

    /// Calls an operator; a single list result is spread.
    pub fn call(
        &self,
        name: &str,
        overload: &str,
        args: Vec<Value>,
        kwargs: Vec<(String, Value)>,
    ) -> Result<Vec<Value>, String> {
        let args = args.into_iter().map(|value| value.0).collect();
        let kwargs = kwargs.into_iter().map(|(name, value)| (name, value.0)).collect();
        let outs = by_name::call(name, overload, args, kwargs).map_err(text)?;
        let mut spread = Vec::new();
        for out in outs.iter() {
            match out {
                rushlight_tensor::Value::Tensors(list) => {
                    let wrap = |tensor: &Option<Tensor>| {
                        Value(tensor.as_ref().map(rushlight_tensor::Value::from).unwrap_or_default())
                    };
                    spread.extend(list.iter().map(wrap));
                }
                other => spread.push(Value(other.clone())),
            }
        }
        Ok(spread)
    }

    /// The gradients of `inputs` for gradients given to results.
    pub fn gradients(&self, roots: &[(Tensor, Tensor)], inputs: &[Tensor]) -> Result<Vec<Option<HostTensor>>, String> {
        let outputs: Vec<&Tensor> = roots.iter().map(|(output, _)| output).collect();
        let grads: Vec<Option<&Tensor>> = roots.iter().map(|(_, grad)| Some(grad)).collect();
        let inputs: Vec<&Tensor> = inputs.iter().collect();
        let found = autograd::grad(&outputs, &inputs, &grads, false, false, true).map_err(text)?;
        found.iter().map(|grad| grad.as_ref().map(|grad| self.host(grad)).transpose()).collect()
    }

    /// Seeds the default generator.
    pub fn seed(&self, seed: u64) -> Result<(), String> {
        manual_seed(seed);
        Ok(())
    }

    /// Four uniform numbers: where the generator stands.
    pub fn next_numbers(&self) -> Result<HostTensor, String> {
        self.host(&rushlight_tensor::ops::rand(&[4], Default::default()).map_err(text)?)
    }
}
