//! State dicts and checkpoints.

use crate::{data, floats};
use rushlight::{DType, ErrorKind, Format, IValue, StateDict, Tensor, checkpoint};

#[test]
fn files_of_pytorch_are_read() {
    let state = StateDict::load(data("digits_reference/model.pt")).unwrap();
    assert_eq!(state.get("conv1.weight").unwrap().sizes(), [16, 1, 3, 3]);
    let bytes = std::fs::read(data("digits_reference/model.pt")).unwrap();
    assert_eq!(StateDict::from_bytes(&bytes).unwrap().len(), state.len());
    assert!(state.require("conv9.weight").unwrap_err().message().contains("conv9.weight"));
}

#[test]
fn tensors_make_a_round_trip_in_both_formats() {
    let mut state = StateDict::new();
    state.insert("a", &floats(&[1.0, 2.0]));
    state.insert("b", &Tensor::try_from([true, false]).unwrap());
    state.insert("a", &floats(&[3.0]));
    state.insert("half", &floats(&[1.5]).to(DType::BF16).unwrap());
    assert_eq!(state.len(), 3);
    let folder = std::env::temp_dir().join(format!("rushlight-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (format, name) in [(Format::Pt, "state.pt"), (Format::SafeTensors, "state.safetensors")] {
        state.save(folder.join(name)).unwrap();
        let from_file = StateDict::load(folder.join(name)).unwrap();
        let from_bytes = StateDict::from_bytes(&state.to_bytes(format).unwrap()).unwrap();
        for read in [from_file, from_bytes] {
            assert_eq!(read.len(), 3);
            for (name, tensor) in state.iter() {
                assert!(read.get(name).unwrap().equal(tensor).unwrap(), "{name}");
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(state.save(folder.join("gone/state.pt")).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(StateDict::from_bytes(b"neither").unwrap_err().kind(), ErrorKind::Io);
    let mut meta = StateDict::new();
    meta.insert("meta", &Tensor::zeros_with([1], rushlight::Device::META).unwrap());
    assert_eq!(meta.to_bytes(Format::Pt).unwrap_err().kind(), ErrorKind::NotImplemented);
}

#[test]
fn checkpoints_hold_nested_values() {
    let value = IValue::Dict(vec![
        ("epoch".into(), 3i64.into()),
        ("lr".into(), 0.5.into()),
        ("model".into(), IValue::Dict(vec![("weight".into(), (&floats(&[1.0, 2.0])).into())])),
        ("names".into(), IValue::List(vec!["a".into(), IValue::None, true.into()])),
    ]);
    let read = checkpoint::from_bytes(&checkpoint::to_bytes(value).unwrap()).unwrap();
    assert_eq!(i64::try_from(read.get("epoch").unwrap().clone()).unwrap(), 3);
    assert_eq!(f64::try_from(read.get("lr").unwrap().clone()).unwrap(), 0.5);
    let weight = read.get("model").unwrap().get("weight").unwrap().clone();
    assert_eq!(Tensor::try_from(weight).unwrap().to_vec::<f32>().unwrap(), [1.0, 2.0]);
    assert!(read.get("missing").is_none() && IValue::None.get("epoch").is_none());
    let recorded = checkpoint::load(data("io/checkpoint.pt")).unwrap();
    assert!(matches!(recorded, IValue::Dict(_)));
}
