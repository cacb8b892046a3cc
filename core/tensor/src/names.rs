//! Names of dimensions. They are labels: views that rename share the elements, and operators ignore the names of their
//! arguments and return tensors without names.

use crate::tensor::Tensor;
use rushlight_base::{Result, ensure};
use std::ffi::{CStr, CString};
use std::sync::Arc;

/// A name for each dimension; `None` is the wildcard `*`.
pub type DimNames = Arc<[Option<CString>]>;

impl Tensor {
    /// The names of the dimensions. `None`: no dimension has a name.
    pub fn names(&self) -> Option<DimNames> {
        let names = self.autograd_meta()?.names.lock().clone()?;
        // An in-place operator may have changed the number of dimensions.
        (names.len() == self.ndim()).then_some(names)
    }

    /// Sets a name for each dimension, `None` for the wildcard; or removes the names. A name is an identifier and stands once.
    pub fn set_names(&self, names: Option<&[Option<&CStr>]>) -> Result<()> {
        let names = names.map(|names| self.checked_names(names)).transpose()?.flatten();
        if names.is_some() || self.autograd_meta().is_some() {
            let before = std::mem::replace(&mut *self.autograd_meta_or_new().names.lock(), names);
            drop(before);
        }
        Ok(())
    }

    /// `None` if all are wildcards.
    fn checked_names(&self, names: &[Option<&CStr>]) -> Result<Option<DimNames>> {
        ensure!(
            names.len() == self.ndim(),
            Runtime,
            "Number of names ({}) and number of dimensions in tensor ({}) do not match. Attempted to create a tensor with \
             names {}",
            names.len(),
            self.ndim(),
            listed(names)
        );
        for (index, name) in names.iter().enumerate() {
            let Some(name) = name else { continue };
            ensure!(
                is_identifier(name.to_bytes()),
                Runtime,
                "Invalid name: a valid identifier contains only digits, alphabetical characters, and/or underscore and \
                 starts with a non-digit. got: '{}'.",
                name.to_string_lossy()
            );
            ensure!(
                !names[..index].contains(&Some(name)),
                Runtime,
                "Cannot construct a tensor with duplicate names. Got names: {}.",
                listed(names)
            );
        }
        let owned = || names.iter().map(|name| name.map(CStr::to_owned)).collect();
        Ok(names.iter().any(Option::is_some).then(owned))
    }
}

fn is_identifier(name: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    name.first().is_some_and(is_letter) && name.iter().all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

fn listed(names: &[Option<&CStr>]) -> String {
    let shown = |name: &Option<&CStr>| name.map_or("None".into(), |name| format!("'{}'", name.to_string_lossy()));
    format!("[{}]", names.iter().map(shown).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use crate::ops;
    use crate::options::Options;
    use rushlight_base::DType;

    #[test]
    fn names_are_identifiers_one_for_each_dimension_without_duplicates() {
        let tensor = ops::zeros(&[2, 3], Options::of(DType::F32)).unwrap();
        assert!(tensor.names().is_none());
        let error = |names: &[Option<&std::ffi::CStr>]| tensor.set_names(Some(names)).unwrap_err().to_string();
        assert!(error(&[Some(c"N")]).contains("Number of names (1) and number of dimensions in tensor (2)"));
        assert!(error(&[Some(c"N"), Some(c"2C")]).contains("got: '2C'"));
        assert!(error(&[Some(c"N"), Some(c"N")]).contains("Got names: ['N', 'N']"));
        assert!(tensor.names().is_none());
        tensor.set_names(Some(&[Some(c"N"), None])).unwrap();
        assert_eq!(tensor.names().unwrap()[0].as_deref(), Some(c"N"));
        tensor.set_names(Some(&[None, None])).unwrap();
        assert!(tensor.names().is_none());
    }

    #[test]
    fn names_end_with_another_number_of_dimensions() {
        let tensor = ops::zeros(&[2, 3], Options::of(DType::F32)).unwrap();
        tensor.set_names(Some(&[Some(c"N"), Some(c"C")])).unwrap();
        ops::unsqueeze_(&tensor, 0).unwrap();
        assert!(tensor.names().is_none());
    }
}
