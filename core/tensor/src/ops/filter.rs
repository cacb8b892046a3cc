//! Recursive filters of signals: the rule and the kernel.

use super::access::array;
use crate::dense::{Dense, Spec};
use rushlight_base::{DType, Result, ensure, format_sizes};

/// out = waveform filtered with the coefficients of each channel
pub fn lfilter(out: &Dense, waveform: &Dense, a_coeffs: &Dense, b_coeffs: &Dense) -> Result<()> {
    rushlight_cpu::filter::recursive(&array(out), &array(waveform), &array(a_coeffs), &array(b_coeffs))
}

/// The shape of the waveform.
pub fn lfilter_rule(waveform: &Dense, a_coeffs: &Dense, b_coeffs: &Dense) -> Result<Spec> {
    let [x, a, b] = [waveform, a_coeffs, b_coeffs].map(Dense::sizes);
    let dtypes = [waveform.dtype, a_coeffs.dtype, b_coeffs.dtype];
    ensure!(
        matches!(dtypes[0], DType::F32 | DType::F64) && dtypes == [dtypes[0]; 3],
        Runtime,
        "_lfilter: expected waveform, a_coeffs and b_coeffs to be all float32 or all float64, but got {}, {} and {}",
        dtypes[0].name(),
        dtypes[1].name(),
        dtypes[2].name()
    );
    ensure!(x.len() == 3, Runtime, "_lfilter: expected a waveform of 3 dimensions, but got {}", format_sizes(x));
    ensure!(
        a.len() == 2 && a == b && a[0] == x[1] && a[1] > 0,
        Runtime,
        "_lfilter: expected coefficients of shape ({}, order + 1) for a waveform of shape {}, but got a_coeffs of shape {} and \
         b_coeffs of shape {}",
        x[1],
        format_sizes(x),
        format_sizes(a),
        format_sizes(b)
    );
    Ok(Spec::new(x, waveform.dtype, waveform.device))
}

#[cfg(test)]
mod tests {
    use crate::Tensor;
    use crate::autograd::{self, GradcheckOptions};
    use crate::ops;

    const WAVEFORM: [f64; 20] =
        [0.5, -1.0, 0.25, 2.0, -0.75, 1.0, 0.0, -0.5, 0.5, 0.25, 0.1, 0.2, 0.3, 0.4, 0.5, -1.0, 1.0, -1.0, 1.0, -1.0];
    const A: [f64; 6] = [2.0, -0.5, 0.25, 1.0, 0.3, -0.2];
    const B: [f64; 6] = [1.0, 0.5, -0.25, 0.0, 1.0, 0.5];

    // Of torchaudio 2.7.1.
    const RESULT: [f64; 20] = [
        0.25, -0.3125, -0.296875, 1.152344, 0.418945, 0.0, 1.0, 0.2, -0.36, 0.398, 0.05, 0.1375, 0.215625, 0.286719,
        0.357227, 0.0, -1.0, 0.8, -0.94, 0.942,
    ];
    const BY_WAVEFORM: [f64; 20] = [
        -0.709766, -0.642188, -0.60625, -0.575, -0.3, -0.4878, -0.354, -0.22, -0.1, 0.0, -0.004687, 0.06875, 0.175,
        0.3, 0.2, 0.8502, 0.986, 0.98, 0.9, 0.0,
    ];

    fn inputs() -> [Tensor; 3] {
        let shapes: [(&[f64], &[i64]); 3] = [(&WAVEFORM, &[2, 2, 5]), (&A, &[2, 3]), (&B, &[2, 3])];
        shapes.map(|(values, sizes)| {
            let tensor = Tensor::from_slice(values, sizes).unwrap();
            tensor.set_requires_grad(true).unwrap();
            tensor
        })
    }

    fn near(found: &Tensor, expected: &[f64]) {
        let found: Vec<f64> = found.to_vec().unwrap();
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn results_and_gradients_are_those_of_torchaudio() {
        let [x, a, b] = inputs();
        let found = ops::torchaudio_lfilter(&x, &a, &b).unwrap();
        near(&found, &RESULT);
        let weights: Vec<f64> = (0..20).map(|at| f64::from(at) / 10.0 - 1.0).collect();
        let weighted = ops::mul_tensor(&found, &Tensor::from_slice(&weights, &[2, 2, 5]).unwrap()).unwrap();
        autograd::backward(&[&ops::sum(&weighted, None).unwrap()], &[], false, false, &[]).unwrap();
        near(&x.grad().unwrap(), &BY_WAVEFORM);
        near(&a.grad().unwrap(), &[0.29470703125, 0.08109375, -0.1815625, -0.051, 1.41, 0.0]);
        near(&b.grad().unwrap(), &[-0.2844921875, -0.32390625, 0.228125, -1.5219, 0.283, -1.31]);
    }

    #[test]
    fn derivatives_of_both_orders_fit_differences() {
        let function = |given: &[Tensor]| Ok(vec![ops::torchaudio_lfilter(&given[0], &given[1], &given[2])?]);
        let options = GradcheckOptions::default();
        assert_eq!(autograd::gradcheck(&function, &inputs(), &options).unwrap(), None);
        assert_eq!(autograd::gradgradcheck(&function, &inputs(), &[], &options).unwrap(), None);
    }

    #[test]
    fn signals_without_elements_and_wrong_shapes() {
        let none = |sizes: &[i64]| Tensor::from_slice::<f64>(&[], sizes).unwrap();
        let [x, a, b] = inputs();
        assert_eq!(ops::torchaudio_lfilter(&none(&[0, 2, 5]), &a, &b).unwrap().sizes().to_vec(), [0, 2, 5]);
        let short = ops::narrow(&x, 2, 0, 1).unwrap();
        let found = ops::torchaudio_lfilter(&short, &a, &b).unwrap();
        autograd::backward(&[&ops::sum(&found, None).unwrap()], &[], false, false, &[]).unwrap();
        near(&b.grad().unwrap(), &[0.3, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let error = ops::torchaudio_lfilter(&x, &ops::narrow(&a, 0, 0, 1).unwrap(), &b).unwrap_err();
        let expected = "_lfilter: expected coefficients of shape (2, order + 1) for a waveform of shape [2, 2, 5], but got a_coeffs \
                        of shape [1, 3] and b_coeffs of shape [2, 3]";
        assert_eq!(error.message().lines().next(), Some(expected));
        assert!(ops::torchaudio_lfilter(&x, &a, &none(&[2, 0])).is_err());
    }
}
