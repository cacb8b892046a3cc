//! Random numbers whose distributions are elements of tensors. Each element has a subsequence of Philox's numbers, as many
//! as its distribution takes.

use crate::lines::each;
use crate::memory::{load, report, store};
use crate::number::{Analytic, Flag, Number};
use crate::parameters::Draws;
use crate::philox::numbers;
use crate::random::{doubles, normal_doubles, single};
use crate::rejection::{Source, binomial_of, gamma_of, poisson_of};

/// The numbers of an element.
struct Own<'p> {
    p: &'p Draws,
    element: u64,
    call: u64,
}

impl Own<'_> {
    #[inline(always)]
    fn next(&mut self) -> [u32; 4] {
        let next = numbers(self.p.seed, self.p.offset, self.element, self.call);
        self.call += 1;
        next
    }
}

impl Source for Own<'_> {
    #[inline(always)]
    fn unit(&mut self) -> f64 {
        1.0 - doubles(self.next())[0]
    }

    #[inline(always)]
    fn normal(&mut self) -> f64 {
        normal_doubles(self.next())[0]
    }
}

#[inline(always)]
fn parameter<T: Number<Wide: Into<f64>>>(p: &Draws, which: usize, index: u64) -> f64 {
    // SAFETY: the host describes `count` elements.
    unsafe { load::<T, 1>(p.at[which] + index * size_of::<T>() as u64, align_of::<T>())[0].wide().into() }
}

#[inline(always)]
fn put<T: Copy>(p: &Draws, index: u64, value: T) {
    // SAFETY: the host describes `count` elements.
    unsafe { store(p.at[0] + index * size_of::<T>() as u64, align_of::<T>(), [value]) }
}

#[inline(always)]
fn rounded<T: Number<Wide: Analytic>>(value: f64) -> T {
    T::narrow(<T::Wide as Analytic>::from_f64(value))
}

/// Stores a sample for each element.
#[inline(always)]
fn sampled<T: Number<Wide: Analytic + Into<f64>>>(p: &Draws, sample: impl Fn(&mut Own, u64) -> f64) {
    each(p.count, |index| {
        let value = sample(&mut Own { p, element: index, call: 0 }, index);
        put::<T>(p, index, rounded(value));
    });
}

/// 0 or 1, of type bool, with a probability for each element.
#[inline(always)]
fn coins_of<T: Number<Wide: Into<f64>>>(p: &Draws) {
    each(p.count, |index| {
        let probability = parameter::<T>(p, 1, index);
        if !(probability >= 0.0 && probability <= 1.0) {
            report(&p.watch, probability.to_bits() as i64);
        }
        let bits = Own { p, element: index, call: 0 }.next();
        let number = if size_of::<T>() == 8 { doubles(bits)[0] } else { f64::from(single(bits[0])) };
        put(p, index, Flag(u8::from(number <= probability)));
    });
}

#[inline(always)]
fn poisson<T: Number<Wide: Analytic + Into<f64>>>(p: &Draws) {
    sampled::<T>(p, |own, index| {
        let rate = parameter::<T>(p, 1, index);
        if rate >= 0.0 {
            return poisson_of(own, rate);
        }
        report(&p.watch, 0);
        0.0
    });
}

#[inline(always)]
fn binomial<T: Number<Wide: Analytic + Into<f64>>>(p: &Draws) {
    sampled::<T>(p, |own, index| {
        let round = |value: f64| rounded::<T>(value).wide().into();
        binomial_of(own, parameter::<T>(p, 1, index), parameter::<T>(p, 2, index), round)
    });
}

#[inline(always)]
fn standard_gamma<T: Number<Wide: Analytic + Into<f64>>>(p: &Draws) {
    sampled::<T>(p, |own, index| at_least(gamma_of(own, parameter::<T>(p, 1, index)), p.bounds[0]));
}

/// The number if it is not less, and not NaN.
#[inline(always)]
fn at_least(number: f64, least: f64) -> f64 {
    if number >= least { number } else { least }
}

/// Shares of rows of samples, of type double, within the bounds.
#[inline(always)]
fn shares<T: Number<Wide: Analytic>>(p: &Draws) {
    each(p.count, |row| {
        let (first, mut sum) = (row * p.length, 0.0);
        for index in 0..p.length {
            sum += parameter::<f64>(p, 1, first + index);
        }
        for index in 0..p.length {
            let share = at_least(parameter::<f64>(p, 1, first + index) / sum, p.bounds[0]);
            put::<T>(p, first + index, rounded(if share > p.bounds[1] { p.bounds[1] } else { share }));
        }
    });
}

float_entries! {
    "random";
    coins_of(p: Draws)
    poisson(p: Draws)
    binomial(p: Draws)
    standard_gamma(p: Draws)
    shares(p: Draws)
}
