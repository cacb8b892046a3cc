//! References to closures, without their type.
//!
//! Rushlight has thousands of small functions that differ only in one closure: the C and Java boundaries, the assembly
//! of operators. Their shared code is compiled once and receives the closure as an address and a function. A trait
//! object of `FnMut` would also work, but its vtable and the functions in it, most of which are never called, are
//! larger than the closures themselves.

/// `callee! { pub struct Rule<const N: usize>: fn(inputs: [&Dense; N]) -> Result<Spec>; }` declares the type
/// `Rule<'_, N>` of references to closures with this signature: `Rule::new(&mut closure)`, `rule.call(inputs)`. With
/// `shared fn` they are closures that several threads may call at once: `Chunk::new(&closure)`.
#[macro_export]
macro_rules! callee {
    ($(#[$meta:meta])* $visible:vis struct $Name:ident $(<const $N:ident: usize>)?:
        fn($($arg:ident: $type:ty),*) $(-> $result:ty)?;) => {
        $(#[$meta])*
        $visible struct $Name<'f $(, const $N: usize)?> {
            closure: *mut (),
            call: unsafe fn(*mut (), $($type),*) $(-> $result)?,
            borrowed: ::std::marker::PhantomData<&'f mut ()>,
        }

        impl<'f $(, const $N: usize)?> $Name<'f $(, $N)?> {
            /// A reference to this closure.
            #[inline(always)]
            $visible fn new<F: FnMut($($type),*) $(-> $result)?>(closure: &'f mut F) -> Self {
                unsafe fn call<$(const $N: usize,)? F: FnMut($($type),*) $(-> $result)?>(
                    closure: *mut (),
                    $($arg: $type),*
                ) $(-> $result)? {
                    // SAFETY: `new` paired this function with the address of an `F`, which the lifetime of `Self` keeps
                    // exclusively borrowed.
                    unsafe { (*closure.cast::<F>())($($arg),*) }
                }
                $Name {
                    closure: ::std::ptr::from_mut(closure).cast(),
                    call: call::<$($N,)? F>,
                    borrowed: ::std::marker::PhantomData,
                }
            }

            /// Calls it.
            #[inline(always)]
            $visible fn call(&mut self, $($arg: $type),*) $(-> $result)? {
                // SAFETY: the lifetime of `self` keeps the closure borrowed, and `self.call` is the function for its
                // type.
                unsafe { (self.call)(self.closure, $($arg),*) }
            }
        }
    };
    ($(#[$meta:meta])* $visible:vis struct $Name:ident $(<const $N:ident: usize>)?:
        shared fn($($arg:ident: $type:ty),*) $(-> $result:ty)?;) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        $visible struct $Name<'f $(, const $N: usize)?> {
            closure: *const (),
            call: unsafe fn(*const (), $($type),*) $(-> $result)?,
            borrowed: ::std::marker::PhantomData<&'f ()>,
        }

        // SAFETY: `new` requires the closure to be `Sync`, and the value only calls it through a shared reference.
        unsafe impl $(<const $N: usize>)? Send for $Name<'_ $(, $N)?> {}
        // SAFETY: `new` requires the closure to be `Sync`, and `call` only uses a shared reference.
        unsafe impl $(<const $N: usize>)? Sync for $Name<'_ $(, $N)?> {}

        impl<'f $(, const $N: usize)?> $Name<'f $(, $N)?> {
            /// A reference to this closure.
            #[inline(always)]
            $visible fn new<F: Fn($($type),*) $(-> $result)? + Sync>(closure: &'f F) -> Self {
                unsafe fn call<$(const $N: usize,)? F: Fn($($type),*) $(-> $result)?>(
                    closure: *const (),
                    $($arg: $type),*
                ) $(-> $result)? {
                    // SAFETY: `new` paired this function with the address of an `F`, which the lifetime of `Self` keeps
                    // borrowed.
                    unsafe { (*closure.cast::<F>())($($arg),*) }
                }
                $Name {
                    closure: ::std::ptr::from_ref(closure).cast(),
                    call: call::<$($N,)? F>,
                    borrowed: ::std::marker::PhantomData,
                }
            }

            /// Calls it.
            #[inline(always)]
            $visible fn call(&self, $($arg: $type),*) $(-> $result)? {
                // SAFETY: the lifetime of `self` keeps the closure borrowed, and `self.call` is the function for its
                // type.
                unsafe { (self.call)(self.closure, $($arg),*) }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    callee! { struct Longer<const N: usize>: fn(words: [&str; N], than: usize) -> usize; }
    callee! { struct Tick: fn(); }
    callee! { struct Add: shared fn(amount: usize) -> usize; }

    #[test]
    fn shared_closures_are_called_from_several_threads() {
        let sum = std::sync::atomic::AtomicUsize::new(0);
        let add = |amount: usize| sum.fetch_add(amount, std::sync::atomic::Ordering::Relaxed);
        let add = Add::new(&add);
        std::thread::scope(|scope| {
            for amount in 1..=4 {
                scope.spawn(move || add.call(amount));
            }
        });
        assert_eq!(add.call(0), 10);
    }

    #[test]
    fn closures_are_called_with_their_borrows() {
        let unit = 2;
        let mut calls = 0;
        let mut count = |words: [&str; 3], than: usize| {
            calls += 1;
            words.iter().filter(|word| word.len() > than * unit).count()
        };
        let mut longer = Longer::new(&mut count);
        assert_eq!(longer.call(["a", "abc", "abcde"], 1), 2);
        assert_eq!(longer.call([&"abcde".repeat(2), "", "abcd"], 2), 1);
        assert_eq!(calls, 2);
        Tick::new(&mut || calls += 1).call();
        assert_eq!(calls, 3);
    }
}
