//! Constants and minimax polynomials, lowest coefficient first: written by `tests/oracle/math_coefficients.py`, which
//! says how; edit that.

/// Constants that differ between `f32` and `f64`.
pub trait Coefficients: Copy + PartialOrd + 'static {
    /// ln(2), with so few bits that products with exponents are exact.
    const LN2_HIGH: Self;
    /// ln(2) minus `LN2_HIGH`.
    const LN2_LOW: Self;
    /// 1/ln(2).
    const LOG2_E: Self;
    /// The rounding error of `LOG2_E`.
    const LOG2_E_REST: Self;
    /// 1/ln(10).
    const LOG10_E: Self;
    /// The rounding error of `LOG10_E`.
    const LOG10_E_REST: Self;
    /// ln(2)/ln(10).
    const LOG10_2: Self;
    /// The rounding error of `LOG10_2`.
    const LOG10_2_REST: Self;
    /// 2/3.
    const TWO_THIRDS: Self;
    /// The rounding error of `TWO_THIRDS`.
    const TWO_THIRDS_REST: Self;
    /// pi/2.
    const PI_2: Self;
    /// The rounding error of `PI_2`.
    const PI_2_REST: Self;
    /// The rounding error of both.
    const PI_2_LAST: Self;
    /// 2/pi.
    const TWO_OVER_PI: Self;
    /// Below, e^x rounds to zero.
    const EXP_LEAST: Self;
    /// Above, e^x is infinite.
    const EXP_MOST: Self;
    /// Below, e^x - 1 rounds to -1.
    const EXPM1_LEAST: Self;
    /// Up to here tanh(x) is a polynomial.
    const TANH_NEAR: Self;
    /// Above, tanh(x) rounds to 1.
    const TANH_MOST: Self;
    /// Below, 2^x rounds to zero.
    const EXP2_LEAST: Self;
    /// Above, 2^x is infinite.
    const EXP2_MOST: Self;
    /// Above, erf(x) rounds to 1.
    const ERF_MOST: Self;
    /// Above, erfc(x) rounds to zero.
    const ERFC_MOST: Self;
    /// Arguments from which `ERFC` is zero.
    const ERFC_CENTER: Self;
    /// Above, sin(x) needs more bits of pi.
    const REDUCTION_MOST: Self;
    /// Splits a number into two halves.
    const SPLITTER: Self;
    /// The least normal number.
    const NORMAL_LEAST: Self;
    /// The binary logarithm of the factor that makes every number normal.
    const SUBNORMAL_SHIFT: Self;
    /// The factor that makes every number normal.
    const SUBNORMAL_SCALE: Self;
    /// The root of 1/2.
    const SQRT_HALF: Self;
    /// e^x = 1 + x + x^2 p(x), |x| <= ln(2)/2.
    const EXP: &'static [Self];
    /// e^x - 1 = x + x^2 p(x), |x| <= ln(2)/2.
    const EXPM1: &'static [Self];
    /// 2^x = 1 + x p(x), |x| <= 1/2.
    const EXP2: &'static [Self];
    /// log(1 + x) = x - x^2/2 + x^3 p(x), 1/sqrt(2) <= 1 + x <= sqrt(2); empty where ATANH is better.
    const LOG: &'static [Self];
    /// 2 atanh(x) = 2x + 2/3 x^3 + x^5 p(x^2), |x| <= (sqrt(2) - 1)/(sqrt(2) + 1).
    const ATANH: &'static [Self];
    /// erf(x) = x + x p(x^2), |x| <= 1.
    const ERF: &'static [Self];
    /// -log(1 - erf(x)) = p(x - 1), 1 <= x <= 4.0.
    const ERF_TAIL: &'static [Self];
    /// (1 + 2y) exp(y^2) erfc(y) = p((y - 2.0)/(y + 2.0)), 0 <= y <= 10.2.
    const ERFC: &'static [Self];
    /// sin(x) = x + x^3 p(x^2), |x| <= pi/4.
    const SIN: &'static [Self];
    /// cos(x) = 1 - x^2/2 + x^4 p(x^2), |x| <= pi/4.
    const COS: &'static [Self];
    /// sin(x) = x + x^3 p(x^2), |x| <= pi/2.
    const SIN_HALF: &'static [Self];
    /// tanh(x) = x + x^3 p(x^2), |x| <= 0.55.
    const TANH: &'static [Self];
    /// atan(x) = x + x^3 p(x^2), |x| <= 1.
    const ATAN: &'static [Self];
    /// asin(x) = x + x^3 p(x^2), |x| <= 1/2.
    const ASIN: &'static [Self];
}

#[allow(clippy::excessive_precision, clippy::approx_constant)]
impl Coefficients for f32 {
    const LN2_HIGH: Self = 6.9311523e-1;
    const LN2_LOW: Self = 3.1946183e-5;
    const LOG2_E: Self = 1.442695e0;
    const LOG2_E_REST: Self = 1.925963e-8;
    const LOG10_E: Self = 4.342945e-1;
    const LOG10_E_REST: Self = -1.010305e-8;
    const LOG10_2: Self = 3.0103e-1;
    const LOG10_2_REST: Self = -1.4320989e-8;
    const TWO_THIRDS: Self = 6.666667e-1;
    const TWO_THIRDS_REST: Self = -1.9868216e-8;
    const PI_2: Self = 1.5707964e0;
    const PI_2_REST: Self = -4.371139e-8;
    const PI_2_LAST: Self = -1.7151245e-15;
    const TWO_OVER_PI: Self = 6.3661975e-1;
    const EXP_LEAST: Self = -1.05e2;
    const EXP_MOST: Self = 8.9e1;
    const EXPM1_LEAST: Self = -1.8e1;
    const TANH_NEAR: Self = 5.5e-1;
    const TANH_MOST: Self = 1.0e1;
    const EXP2_LEAST: Self = -1.51e2;
    const EXP2_MOST: Self = 1.29e2;
    const ERF_MOST: Self = 4.0e0;
    const ERFC_MOST: Self = 1.02e1;
    const ERFC_CENTER: Self = 2.0e0;
    const REDUCTION_MOST: Self = 1.31072e5;
    const SPLITTER: Self = 4.097e3;
    const NORMAL_LEAST: Self = 1.1754944e-38;
    const SUBNORMAL_SHIFT: Self = 2.4e1;
    const SUBNORMAL_SCALE: Self = 1.6777216e7;
    const SQRT_HALF: Self = 7.0710677e-1;
    // e^x = 1 + x + x^2 p(x), |x| <= ln(2)/2; error 2^-28.3.
    const EXP: &'static [Self] = &[4.9999994e-1, 1.666652e-1, 4.1668393e-2, 8.368781e-3, 1.3814481e-3];
    // e^x - 1 = x + x^2 p(x), |x| <= ln(2)/2; error 2^-31.9.
    const EXPM1: &'static [Self] = &[5.0e-1, 1.6666666e-1, 4.166636e-2, 8.333391e-3, 1.394072e-3, 1.984533e-4];
    // 2^x = 1 + x p(x), |x| <= 1/2; error 2^-28.9.
    const EXP2: &'static [Self] = &[6.931472e-1, 2.4022648e-1, 5.5503324e-2, 9.618438e-3, 1.3398952e-3, 1.5353296e-4];
    // log(1 + x) = x - x^2/2 + x^3 p(x), 1/sqrt(2) <= 1 + x <= sqrt(2); empty where ATANH is better; error 2^-30.3.
    const LOG: &'static [Self] = &[
        3.3333313e-1,
        -2.500001e-1,
        2.0002118e-1,
        -1.6668e-1,
        1.4219561e-1,
        -1.2405538e-1,
        1.18880466e-1,
        -1.1675902e-1,
        6.747185e-2,
    ];
    // 2 atanh(x) = 2x + 2/3 x^3 + x^5 p(x^2), |x| <= (sqrt(2) - 1)/(sqrt(2) + 1); error 2^-43.2.
    const ATANH: &'static [Self] = &[3.9999998e-1, 2.8571877e-1, 2.2184862e-1, 1.9470519e-1];
    // erf(x) = x + x p(x^2), |x| <= 1; error 2^-29.6.
    const ERF: &'static [Self] =
        &[1.2837917e-1, -3.7612626e-1, 1.12835854e-1, -2.6853813e-2, 5.188328e-3, -8.0101914e-4, 7.8538375e-5];
    // -log(1 - erf(x)) = p(x - 1), 1 <= x <= 4.0; error 2^-29.9.
    const ERF_TAIL: &'static [Self] =
        &[1.8496056e0, 2.6389668e0, 8.431183e-1, 4.150068e-2, -9.890878e-3, 1.826152e-3, -1.8557099e-4];
    // (1 + 2y) exp(y^2) erfc(y) = p((y - 2.0)/(y + 2.0)), 0 <= y <= 10.2; error 2^-26.4.
    const ERFC: &'static [Self] = &[
        1.2769784e0,
        -9.276389e-2,
        -1.6603135e-1,
        1.6405298e-1,
        -5.4205257e-2,
        -8.043216e-3,
        8.639037e-3,
        1.2693859e-3,
        -1.2555433e-3,
        -3.6065347e-4,
        2.933431e-5,
    ];
    // sin(x) = x + x^3 p(x^2), |x| <= pi/4; error 2^-27.9.
    const SIN: &'static [Self] = &[-1.6666654e-1, 8.332113e-3, -1.9508741e-4];
    // cos(x) = 1 - x^2/2 + x^4 p(x^2), |x| <= pi/4; error 2^-33.1.
    const COS: &'static [Self] = &[4.1666646e-2, -1.3887306e-3, 2.4431203e-5];
    // sin(x) = x + x^3 p(x^2), |x| <= pi/2; error 2^-27.2.
    const SIN_HALF: &'static [Self] = &[-1.666666e-1, 8.333058e-3, -1.9808959e-4, 2.604283e-6];
    // tanh(x) = x + x^3 p(x^2), |x| <= 0.55; error 2^-29.8.
    const TANH: &'static [Self] = &[-3.3333316e-1, 1.3332586e-1, -5.3852353e-2, 2.10718e-2, -6.2743486e-3];
    // atan(x) = x + x^3 p(x^2), |x| <= 1; error 2^-28.5.
    const ATAN: &'static [Self] = &[
        -3.33333e-1,
        1.9998549e-1,
        -1.4264242e-1,
        1.0952186e-1,
        -8.403451e-2,
        5.795761e-2,
        -3.1177863e-2,
        1.0914616e-2,
        -1.7936241e-3,
    ];
    // asin(x) = x + x^3 p(x^2), |x| <= 1/2; error 2^-27.6.
    const ASIN: &'static [Self] = &[1.6666752e-1, 7.495303e-2, 4.546992e-2, 2.4181036e-2, 4.2164735e-2];
}

#[allow(clippy::excessive_precision, clippy::approx_constant)]
impl Coefficients for f64 {
    const LN2_HIGH: Self = 0.6931471805601177;
    const LN2_LOW: Self = -1.7239444525614835e-13;
    const LOG2_E: Self = 1.4426950408889634;
    const LOG2_E_REST: Self = 2.0355273740931033e-17;
    const LOG10_E: Self = 0.4342944819032518;
    const LOG10_E_REST: Self = 1.098319650216765e-17;
    const LOG10_2: Self = 0.3010299956639812;
    const LOG10_2_REST: Self = -2.8037281277851704e-18;
    const TWO_THIRDS: Self = 0.6666666666666666;
    const TWO_THIRDS_REST: Self = 3.700743415417188e-17;
    const PI_2: Self = 1.5707963267948966;
    const PI_2_REST: Self = 6.123233995736766e-17;
    const PI_2_LAST: Self = -1.4973849048591698e-33;
    const TWO_OVER_PI: Self = 0.6366197723675814;
    const EXP_LEAST: Self = -746.0;
    const EXP_MOST: Self = 710.0;
    const EXPM1_LEAST: Self = -38.0;
    const TANH_NEAR: Self = 0.55;
    const TANH_MOST: Self = 20.0;
    const EXP2_LEAST: Self = -1076.0;
    const EXP2_MOST: Self = 1025.0;
    const ERF_MOST: Self = 6.0;
    const ERFC_MOST: Self = 27.3;
    const ERFC_CENTER: Self = 3.5;
    const REDUCTION_MOST: Self = 1073741824.0;
    const SPLITTER: Self = 134217729.0;
    const NORMAL_LEAST: Self = 2.2250738585072014e-308;
    const SUBNORMAL_SHIFT: Self = 53.0;
    const SUBNORMAL_SCALE: Self = 9007199254740992.0;
    const SQRT_HALF: Self = 0.7071067811865476;
    // e^x = 1 + x + x^2 p(x), |x| <= ln(2)/2; error 2^-57.9.
    const EXP: &'static [Self] = &[
        0.5000000000000011,
        0.1666666666666641,
        0.04166666666652922,
        0.008333333333495948,
        0.0013888888943923837,
        0.00019841269504544456,
        2.4801492756331444e-5,
        2.7557587229021053e-6,
        2.7630382195994964e-7,
        2.5000074341642986e-8,
    ];
    // e^x - 1 = x + x^2 p(x), |x| <= ln(2)/2; error 2^-61.7.
    const EXPM1: &'static [Self] = &[
        0.5,
        0.16666666666666677,
        0.041666666666666505,
        0.008333333333321606,
        0.0013888888888962812,
        0.00019841269886208815,
        2.480158717199821e-5,
        2.755724410338095e-6,
        2.7557402818770697e-7,
        2.5109081652776363e-8,
        2.0875363736096307e-9,
    ];
    // 2^x = 1 + x p(x), |x| <= 1/2; error 2^-58.0.
    const EXP2: &'static [Self] = &[
        0.6931471805599453,
        0.2402265069591013,
        0.05550410866482008,
        0.00961812910759395,
        0.0013333558146775967,
        0.00015403530457346761,
        1.5252733492266834e-5,
        1.3215435156430102e-6,
        1.0178199746991541e-7,
        7.073806237449719e-9,
        4.4347720242626957e-10,
    ];
    const LOG: &'static [Self] = &[];
    // 2 atanh(x) = 2x + 2/3 x^3 + x^5 p(x^2), |x| <= (sqrt(2) - 1)/(sqrt(2) + 1); error 2^-72.9.
    const ATANH: &'static [Self] = &[
        0.39999999999999963,
        0.2857142857145209,
        0.22222222216175946,
        0.181818190094791,
        0.15384548728898342,
        0.1333659184025661,
        0.11669857069449761,
        0.12026302719978783,
    ];
    // erf(x) = x + x p(x^2), |x| <= 1; error 2^-56.9.
    const ERF: &'static [Self] = &[
        0.12837916709551256,
        -0.3761263890318352,
        0.11283791670944185,
        -0.026866170643111496,
        0.005223977606118701,
        -0.0008548325929324987,
        0.00012055293577206912,
        -1.4924712307793376e-5,
        1.6447131641696647e-6,
        -1.62063142916836e-7,
        1.3710982680134474e-8,
        -7.77947270516533e-10,
    ];
    // -log(1 - erf(x)) = p(x - 1), 1 <= x <= 6.0; error 2^-57.1.
    const ERF_TAIL: &'static [Self] = &[
        1.8496055099332482,
        2.6389675142347757,
        0.8431072563594129,
        0.04156109802507621,
        -0.010033825179098638,
        0.0019779012157777626,
        -0.00023731643511704944,
        -2.6296324994793088e-5,
        2.7198967633100317e-5,
        -9.671368838435877e-6,
        2.1319309510458004e-6,
        -2.048051042287024e-7,
        -5.801534703465938e-8,
        3.3392725519382804e-8,
        -8.519170368883996e-9,
        1.3191742150732977e-9,
        -1.1933343866544664e-10,
        4.865379168004128e-12,
    ];
    // (1 + 2y) exp(y^2) erfc(y) = p((y - 3.5)/(y + 3.5)), 0 <= y <= 27.3; error 2^-56.8.
    const ERFC: &'static [Self] = &[
        1.2423492448711544,
        -0.1400091801376193,
        -0.010555596332215828,
        0.0975190951532411,
        -0.11508959816034209,
        0.08798315382548433,
        -0.0488233258242529,
        0.01909933093249628,
        -0.004215019954187862,
        -0.00030226779114331465,
        0.0005643847677730771,
        -0.0001215128692116208,
        -4.278389922898801e-5,
        2.4262382589349076e-5,
        2.333456700841861e-6,
        -3.8173466019544535e-6,
        -5.449452834600886e-8,
        6.038694434891775e-7,
        4.799541491795356e-9,
        -9.562817104450723e-8,
        -8.374645483424588e-9,
        1.118582952747838e-8,
        2.7205685724090307e-9,
    ];
    // sin(x) = x + x^3 p(x^2), |x| <= pi/4; error 2^-57.7.
    const SIN: &'static [Self] = &[
        -0.16666666666666627,
        0.00833333333332094,
        -0.00019841269828619186,
        2.7557313276119237e-6,
        -2.505069248626901e-8,
        1.5892962160097651e-10,
    ];
    // cos(x) = 1 - x^2/2 + x^4 p(x^2), |x| <= pi/4; error 2^-64.0.
    const COS: &'static [Self] = &[
        0.04166666666666659,
        -0.001388888888887261,
        2.480158728849811e-5,
        -2.755731405812352e-7,
        2.0875682063745254e-9,
        -1.1357456945702649e-11,
    ];
    // sin(x) = x + x^3 p(x^2), |x| <= pi/2; error 2^-61.5.
    const SIN_HALF: &'static [Self] = &[
        -0.16666666666666666,
        0.008333333333333184,
        -0.00019841269841205423,
        2.7557319210471816e-6,
        -2.505210681059309e-8,
        1.6058936518892376e-10,
        -7.642907093517658e-13,
        2.7202719558424383e-15,
    ];
    // tanh(x) = x + x^3 p(x^2), |x| <= 0.55; error 2^-60.6.
    const TANH: &'static [Self] = &[
        -0.333333333333333,
        0.13333333333326622,
        -0.053968253963760704,
        0.021869488385858546,
        -0.008863232601484843,
        0.003592092030863223,
        -0.00145554284841487,
        0.0005884444968187245,
        -0.00023338159147032303,
        8.331648387076022e-5,
        -1.949470939994267e-5,
    ];
    // atan(x) = x + x^3 p(x^2), |x| <= 1; error 2^-57.6.
    const ATAN: &'static [Self] = &[
        -0.3333333333333307,
        0.19999999999951468,
        -0.14285714282575593,
        0.11111111007040338,
        -0.09090907003238426,
        0.07692279842109627,
        -0.06666404079939724,
        0.05880527943493081,
        -0.052535191076606785,
        0.04722324035479711,
        -0.042191835530689684,
        0.03664200115390505,
        -0.029903996264413018,
        0.021985016358980827,
        -0.013900708023377225,
        0.007196604179650128,
        -0.0028849686235131212,
        0.0008313389590747727,
        -0.00015216444813487804,
        1.3225422698109944e-5,
    ];
    // asin(x) = x + x^3 p(x^2), |x| <= 1/2; error 2^-55.9.
    const ASIN: &'static [Self] = &[
        0.16666666666665408,
        0.0750000000033697,
        0.04464285682836273,
        0.03038195913562117,
        0.02237175808117299,
        0.017359704319831675,
        0.013885239677271774,
        0.012169184962791584,
        0.006528086763660713,
        0.01952797029196022,
        -0.016223805529907865,
        0.03191197349773271,
    ];
}

/// The first 1280 bits of 2/pi, most significant first.
pub const TWO_OVER_PI_BITS: [u64; 20] = [
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
];
