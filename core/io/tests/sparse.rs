//! Sparse tensors in `.pt` files: those that PyTorch wrote, and round trips.

use rushlight_base::Layout;
use rushlight_io::{Entry, pt, safetensors};
use rushlight_tensor::{Tensor, ops};
use std::io::Cursor;
use std::path::PathBuf;

const LAYOUTS: [(&str, Layout); 4] =
    [("coo", Layout::Sparse), ("coalesced", Layout::Sparse), ("csr", Layout::SparseCsr), ("csc", Layout::SparseCsc)];

fn from_pytorch() -> Vec<Entry> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/io/sparse.pt");
    pt::load(file).unwrap().entries
}

fn check(entries: &[Entry]) {
    assert_eq!(entries.len(), 5);
    for (entry, (name, layout)) in entries.iter().zip(LAYOUTS) {
        let tensor = entry.clone().into_tensor().unwrap();
        assert_eq!((entry.name.as_str(), tensor.layout(), tensor.sizes().to_vec()), (name, layout, vec![2, 3]));
        let strided = ops::to_dense(&tensor, None, None).unwrap();
        assert_eq!(strided.to_vec::<f32>().unwrap(), [0.0, 0.0, 4.0, 4.0, 0.0, 5.0], "{name}");
        if layout == Layout::Sparse {
            assert_eq!(
                (tensor.is_coalesced().unwrap(), tensor.nnz().unwrap()),
                if name == "coo" { (false, 4) } else { (true, 3) }
            );
        }
    }
    assert_eq!(entries[4].clone().into_tensor().unwrap().to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0]);
}

#[test]
fn sparse_tensors_of_pytorch_are_read() {
    check(&from_pytorch());
}

#[test]
fn sparse_tensors_make_a_round_trip() {
    let tensors: Vec<(String, Tensor)> =
        from_pytorch().into_iter().map(|entry| (entry.name.clone(), entry.into_tensor().unwrap())).collect();
    let entries: Vec<Entry> =
        tensors.iter().map(|(name, tensor)| Entry::from_tensor(name.clone(), tensor).unwrap()).collect();
    let mut file = Cursor::new(Vec::new());
    pt::write(&mut file, &entries).unwrap();
    check(&pt::read(&mut file).unwrap().entries);
    let mut visited = Vec::new();
    pt::visit(file, |at, entry| {
        visited.push((at, entry));
        Ok(())
    })
    .unwrap();
    visited.sort_by_key(|(at, _)| *at);
    check(&visited.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>());
}

#[test]
fn a_safetensors_file_has_no_sparse_tensors() {
    let error = safetensors::to_bytes(&from_pytorch()[..1], None).unwrap_err();
    assert!(error.message().contains("tensor 'coo' is sparse"), "{error}");
}
