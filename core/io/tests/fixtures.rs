//! Files that real PyTorch 2.7.1 wrote (tests/oracle/io_fixtures.py), read entry by entry.

use rushlight_base::{DType, ErrorKind, bf16, f16};
use rushlight_io::pt::{self, Checkpoint, Leaf};
use rushlight_io::{Entry, safetensors};
use std::path::PathBuf;

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name)
}

fn checkpoint(name: &str) -> Checkpoint {
    pt::load(data("io").join(name)).unwrap()
}

fn find<'a>(entries: &'a [Entry], name: &str) -> &'a Entry {
    entries.iter().find(|entry| entry.name == name).unwrap_or_else(|| panic!("no entry '{name}'"))
}

fn floats(entry: &Entry) -> Vec<f32> {
    assert_eq!(entry.dtype, DType::F32, "{entry:?}");
    let bytes = entry.row_major().unwrap();
    bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

fn names(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.name.as_str()).collect()
}

fn assert_is_the_model(entries: &[Entry]) {
    assert_eq!(names(entries), ["0.weight", "0.bias", "2.weight", "2.bias"]);
    assert_eq!(entries[0].sizes.as_slice(), [2, 3]);
    assert_eq!(floats(&entries[0]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(floats(&entries[1]), [10.0, 11.0]);
    assert_eq!(floats(&entries[2]), [20.0, 21.0]);
    assert_eq!(floats(&entries[3]), [30.0]);
}

#[test]
fn a_state_dict_keeps_names_order_and_values() {
    assert_is_the_model(&checkpoint("model.pt").entries);
    assert_is_the_model(&checkpoint("protocol5.pt").entries);
    assert_is_the_model(&checkpoint("a_name_of_21_letters_.pt").entries);
    assert_is_the_model(&rushlight_io::load(data("io/model.pt")).unwrap());
}

#[test]
fn every_dtype_arrives() {
    let entries = checkpoint("dtypes.pt").entries;
    assert_eq!(entries.len(), DType::all().count());
    for entry in &entries {
        assert_eq!(entry.name, entry.dtype.name());
        let expected: Vec<u8> = (0..4u8).flat_map(|value| bytes_of(entry.dtype, value)).collect();
        assert_eq!(*entry.row_major().unwrap(), expected, "{entry:?}");
    }
}

fn bytes_of(dtype: DType, value: u8) -> Vec<u8> {
    match dtype {
        DType::Bool => vec![u8::from(value != 0)],
        DType::F16 => f16::from_f32(value.into()).to_le_bytes().to_vec(),
        DType::BF16 => bf16::from_f32(value.into()).to_le_bytes().to_vec(),
        DType::F32 => f32::from(value).to_le_bytes().to_vec(),
        DType::F64 => f64::from(value).to_le_bytes().to_vec(),
        complex if complex.is_complex() => {
            [bytes_of(complex.to_real(), value), bytes_of(complex.to_real(), 0)].concat()
        }
        integer => {
            let mut bytes = vec![0; integer.size()];
            bytes[0] = value;
            bytes
        }
    }
}

#[test]
fn views_share_their_storage() {
    let entries = checkpoint("views.pt").entries;
    let base = find(&entries, "base");
    for name in ["transposed", "row", "tied", "column"] {
        assert!(find(&entries, name).storage.is(&base.storage), "{name}");
    }
    assert!(!find(&entries, "scalar").storage.is(&base.storage));
    assert_eq!(floats(find(&entries, "transposed"))[..4], [0.0, 4.0, 8.0, 1.0]);
    assert_eq!(floats(find(&entries, "row")), [4.0, 5.0, 6.0, 7.0]);
    assert_eq!(floats(find(&entries, "column")), [2.0, 6.0, 10.0]);
    assert_eq!(floats(find(&entries, "expanded")), [1.0; 3]);
    assert_eq!(find(&entries, "empty").sizes.as_slice(), [0, 3]);
    assert_eq!(floats(find(&entries, "scalar")), [7.0]);
    assert!(find(&entries, "parameter").requires_grad && !base.requires_grad);
    let conjugate = find(&entries, "conjugate");
    assert!(conjugate.conjugate && !conjugate.negative);
    assert!(conjugate.row_major().is_err());
}

#[test]
fn a_training_checkpoint_is_flattened() {
    let Checkpoint { entries, values, .. } = checkpoint("checkpoint.pt");
    assert_eq!(floats(find(&entries, "model.0.weight")).len(), 6);
    assert_eq!(floats(find(&entries, "optimizer.state.0.step")), [1.0]);
    assert_eq!(find(&entries, "optimizer.state.0.exp_avg").sizes.as_slice(), [2, 3]);
    assert_eq!(floats(find(&entries, "history.1")), [0.5]);
    let value = |name: &str| &values.iter().find(|value| value.0 == name).unwrap().1;
    assert_eq!(*value("epoch"), Leaf::Int(3));
    assert_eq!(*value("optimizer.param_groups.0.lr"), Leaf::Float(0.25));
    assert_eq!(*value("optimizer.param_groups.0.amsgrad"), Leaf::Bool(false));
    assert_eq!(*value("optimizer.param_groups.0.params.3"), Leaf::Int(3));
    assert_eq!(*value("note"), Leaf::Text("résumé".into()));
    assert_eq!(*value("best"), Leaf::None);
    assert_eq!(*value("dtype"), Leaf::Text("torch.float32".into()));
    assert_eq!(*value("shape.1"), Leaf::Int(3));
    assert_eq!(*value("big"), Leaf::Int(1 << 40));
    assert_eq!(*value("negative"), Leaf::Int(-5));
}

#[test]
fn archives_of_libtorch_are_objects_with_attributes() {
    let module = checkpoint("cpp_module.pt").entries;
    let expected =
        ["0.weight", "0.bias", "2.weight", "2.bias", "2.running_mean", "2.running_var", "2.num_batches_tracked"];
    assert_eq!(names(&module), [&expected[..], &["3.weight"]].concat());
    assert_eq!(floats(&module[0]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert!(module[0].requires_grad && !module[4].requires_grad);
    let adam = checkpoint("cpp_adam.pt");
    let value = |name: &str| &adam.values.iter().find(|value| value.0 == name).unwrap().1;
    assert_eq!(*value("param_groups.param_groups/1.options.betas.0"), Leaf::Float(0.8));
    assert_eq!(*value("param_groups.param_groups/1.options.amsgrad"), Leaf::Bool(true));
}

#[test]
fn values_are_entries_whose_names_state_their_type() {
    let entries = checkpoint("cpp_values.pt").into_entries_and_values().unwrap();
    let expected = [
        "inner.flag:bool",
        "inner.tensor",
        "number:int",
        "real:double",
        "text:str",
        "none:none",
        "ints:int_list",
        "ints.0:int",
        "ints.1:int",
        "ints.2:int",
        "doubles:double_list",
        "doubles.0:double",
        "doubles.1:double",
        "bools:bool_list",
        "bools.0:bool",
        "bools.1:bool",
        "tensors:tensor_list",
        "tensors.0",
        "tensors.1",
        "complex:complex",
    ];
    assert_eq!(names(&entries), expected);
    assert_eq!(*find(&entries, "number:int").row_major().unwrap(), (-7i64).to_le_bytes());
    assert_eq!(*find(&entries, "text:str").row_major().unwrap(), *"Grüß".as_bytes());
    assert_eq!(*find(&entries, "ints:int_list").row_major().unwrap(), 3i64.to_le_bytes());
    assert_eq!(
        (find(&entries, "complex:complex").dtype, find(&entries, "none:none").sizes.as_slice()),
        (DType::C128, &[0][..])
    );
    // The values of a Python checkpoint are between its tensors.
    let python = checkpoint("checkpoint.pt").into_entries_and_values().unwrap();
    let place = |name: &str| names(&python).iter().position(|other| *other == name).unwrap();
    assert!(
        place("epoch:int") < place("model.0.weight")
            && place("optimizer.state.0.step") < place("optimizer.param_groups.0.lr:double")
    );
}

#[test]
fn a_single_tensor_and_a_list_can_be_saved() {
    let single = checkpoint("single.pt").entries;
    assert_eq!((names(&single), single[0].dtype), (vec![""], DType::I16));
    assert_eq!(names(&checkpoint("list.pt").entries), ["0", "1"]);
}

/// Metadata of an entry, with the entry of the file with which it shares its storage.
fn described(entries: &[Entry]) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let shared = |entry: &Entry| entries.iter().position(|other| other.storage.data() == entry.storage.data());
    let rows = entries.iter().map(|entry| {
        let bytes = Entry { conjugate: false, negative: false, ..entry.clone() }.row_major().unwrap().into_owned();
        let geometry = (entry.sizes.clone(), entry.strides.clone(), entry.offset);
        let flags = (entry.requires_grad, entry.conjugate, entry.negative);
        (entry.name.clone(), entry.dtype, geometry, flags, bytes, shared(entry))
    });
    rows.collect()
}

#[test]
fn streams_of_before_1_6_hold_the_same() {
    for name in ["model", "dtypes", "views", "checkpoint", "single", "list"] {
        let (archive, stream) = (checkpoint(&format!("{name}.pt")), checkpoint(&format!("legacy_{name}.pt")));
        assert_eq!(described(&archive.entries), described(&stream.entries), "{name}");
        assert_eq!(archive.values, stream.values, "{name}");
    }
    assert_is_the_model(&checkpoint("legacy_protocol5.pt").entries);
    assert_is_the_model(&rushlight_io::load(data("io/legacy_model.pt")).unwrap());
}

#[test]
fn errors_of_other_files_name_their_contents() {
    let error = pt::load(data("io/whole_module.pt")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().contains("the file names 'torch.nn.modules.container.Sequential'"), "{error}");
    let error = pt::load(data("io/absent.pt")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
}

#[test]
fn a_safetensors_file_of_pythons_is_read_whole() {
    let file = safetensors::load(data("random.safetensors")).unwrap();
    assert!(file.metadata["cases"].starts_with('['));
    assert!(file.entries.len() > 2000);
    let first = find(&file.entries, "0");
    assert_eq!(floats(first), [0.496_256_6]);
}
