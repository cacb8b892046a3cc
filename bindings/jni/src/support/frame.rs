//! One call from Java: arrays and strings in, tensors out.
//!
//! Classes are looked up with `find_class`, which uses the class loader of the calling method: the crate's own lookup
//! by name first uses that of the thread, and with two copies of Rushlight in a JVM finds the other one's.

use super::convert;
use super::guard::border;
use super::handle::{self, BorrowedList, BorrowedOptionalList, TensorHandle};
use super::row::Argument;
use super::{JBooleans, JDoubles, JInts, JLongs};
use jni::objects::{JObject, JObjectArray, JPrimitiveArray, JString, JValue, TypeArray};
use jni::sys::{JNIEnv, jlong, jlongArray, jobject, jobjectArray};
use jni::{AttachGuard, Env, EnvUnowned, JavaVM, jni_sig, jni_str};
use rushlight_base::memory::allocated_memory;
use rushlight_base::{Result, Scalar, ensure, handles, list};
use rushlight_tensor::{Generator, Tensor};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

/// Amount of memory above which a garbage collection is requested; `i64::MAX` disables it.
static PRESSURE_LIMIT: AtomicI64 = AtomicI64::new(i64::MAX);

/// Memory of a small tensor besides its elements, on both sides.
const HANDLE_BYTES: i64 = 512;
/// Handles are counted after this many tensors returned by a thread: summing the counters costs more than reading one.
const COUNT_EVERY: u32 = 1024;

thread_local! {
    static GIVEN: Cell<u32> = const { Cell::new(0) };
}

/// The native memory held by Java: elements, and the handles themselves.
pub(crate) fn weight() -> i64 {
    allocated_memory() + handles::live() * HANDLE_BYTES
}

/// The value that [`weight`] is compared with: most of the time only the elements, which cost a few loads.
fn estimate() -> i64 {
    let given = GIVEN.get().wrapping_add(1);
    GIVEN.set(given);
    if given.is_multiple_of(COUNT_EVERY) { weight() } else { allocated_memory() }
}

/// Enables the memory check.
pub(crate) fn set_pressure_limit(bytes: i64) {
    PRESSURE_LIMIT.store(bytes, Ordering::Relaxed);
}

/// Called before an allocation fails: a garbage collection may free some. Only on threads that the JVM knows: the class
/// is found through the running native method.
pub(crate) fn reclaim() {
    let Ok(vm) = JavaVM::singleton() else { return };
    if !vm.is_thread_attached().unwrap_or(false) {
        return;
    }
    // Failures here are not reported: the error that follows reports that memory is exhausted.
    let _ = vm.attach_current_thread(|env| -> jni::errors::Result<()> {
        if env.exception_check() {
            return Ok(());
        }
        let called = env
            .find_class(jni_str!("org/rushlight/internal/Memory"))
            .and_then(|class| env.call_static_method(&class, jni_str!("reclaim"), jni_sig!("()V"), &[]));
        if called.is_err() {
            env.exception_clear();
        }
        Ok(())
    });
}

/// The call: its environment, and conversion of its arguments.
///
/// Most calls pass only numbers and handles and never need the environment; entering it costs more than they do, so it
/// is entered at first use.
pub struct Frame<'l> {
    raw: *mut JNIEnv,
    entered: Option<AttachGuard<'l>>,
}

impl<'l> Frame<'l> {
    pub(super) fn new(env: EnvUnowned<'l>) -> Frame<'l> {
        Frame { raw: env.into_raw(), entered: None }
    }

    /// The function table, for calls that need no more: entering the environment costs more than they do.
    pub(crate) fn raw(&self) -> *mut JNIEnv {
        self.raw
    }

    /// The environment, for calls without a method here.
    pub(crate) fn env(&mut self) -> &mut Env<'l> {
        let raw = self.raw;
        // SAFETY: the JVM passed the pointer to the native method whose stack frame this value is in; `guard` neither
        // moves it afterwards nor lets it outlive the call, and inner calls have left their frames.
        self.entered.get_or_insert_with(|| unsafe { AttachGuard::from_unowned(raw) }).borrow_env_mut()
    }

    fn elements<T: TypeArray + Clone + Default>(
        &mut self,
        array: &JPrimitiveArray<'_, T>,
        name: Argument<'_>,
    ) -> Result<Vec<T>> {
        ensure!(!array.is_null(), NullPointer, "{name} is null");
        let mut values = list::filled(array.len(self.env()).map_err(border)?, T::default())?;
        array.get_region(self.env(), 0, &mut values).map_err(border)?;
        Ok(values)
    }

    /// The numbers of a `long[]`.
    pub fn longs<'a>(&mut self, array: &JLongs<'_>, name: impl Into<Argument<'a>>) -> Result<Vec<i64>> {
        self.elements(array, name.into())
    }

    /// The numbers of a `long[]`, or `None` for null.
    pub fn optional_longs(&mut self, array: &JLongs<'_>) -> Result<Option<Vec<i64>>> {
        if array.is_null() { Ok(None) } else { self.elements(array, "".into()).map(Some) }
    }

    /// The numbers of a `double[]`.
    pub fn doubles<'a>(&mut self, array: &JDoubles<'_>, name: impl Into<Argument<'a>>) -> Result<Vec<f64>> {
        self.elements(array, name.into())
    }

    /// The numbers of a `double[]`, or `None` for null.
    pub fn optional_doubles(&mut self, array: &JDoubles<'_>) -> Result<Option<Vec<f64>>> {
        if array.is_null() { Ok(None) } else { self.elements(array, "".into()).map(Some) }
    }

    /// The numbers of three arrays of their parts.
    pub fn scalars<'a>(
        &mut self,
        tags: &JInts<'_>,
        bits: &JLongs<'_>,
        imags: &JDoubles<'_>,
        name: impl Into<Argument<'a>>,
    ) -> Result<Vec<Scalar>> {
        let name = name.into();
        let (tags, bits, imags) = (self.elements(tags, name)?, self.elements(bits, name)?, self.elements(imags, name)?);
        ensure!(
            tags.len() == bits.len() && bits.len() == imags.len(),
            Value,
            "{name} has an incomplete complex number"
        );
        let parts = tags.into_iter().zip(bits).zip(imags);
        list::try_collect(parts.map(|((tag, bits), imag)| convert::scalar(tag, bits, imag)))
    }

    /// The values of a `boolean[]`.
    pub fn booleans<'a>(&mut self, array: &JBooleans<'_>, name: impl Into<Argument<'a>>) -> Result<Vec<bool>> {
        self.elements(array, name.into())
    }

    /// The tensors behind a `long[]` of handles.
    pub fn tensors<'a>(&mut self, array: &JLongs<'_>, name: impl Into<Argument<'a>>) -> Result<BorrowedList> {
        let name = name.into();
        let handles = self.elements(array, name)?;
        let tensors = handles.into_iter().map(|handle| TensorHandle::of_element(handle).get(name));
        list::try_collect(tensors).map(BorrowedList)
    }

    /// The tensors behind a `long[]` of handles, 0 being none. Null is an empty list.
    pub fn optional_tensors(&mut self, array: &JLongs<'_>) -> Result<BorrowedOptionalList> {
        let handles = self.optional_longs(array)?.unwrap_or_default();
        let tensors = handles.into_iter().map(|handle| TensorHandle::of_element(handle).optional());
        list::collect(tensors).map(BorrowedOptionalList)
    }

    /// A string.
    pub fn string<'a>(&mut self, text: &JString<'_>, name: impl Into<Argument<'a>>) -> Result<String> {
        let name = name.into();
        ensure!(!text.is_null(), NullPointer, "{name} is null");
        self.text(text)
    }

    /// A string, or `None` for null.
    pub fn optional_string(&mut self, text: &JString<'_>) -> Result<Option<String>> {
        if text.is_null() { Ok(None) } else { self.text(text).map(Some) }
    }

    /// A string in UTF-8, which has no lone surrogates: the conversion replaces them by U+FFFD, so that two names could
    /// become one.
    fn text(&mut self, text: &JString<'_>) -> Result<String> {
        const REPLACEMENT: char = '\u{FFFD}';
        let converted = text.try_to_string(self.env()).map_err(border)?;
        if converted.contains(REPLACEMENT) {
            let replacement = REPLACEMENT.to_string();
            let original = text.mutf8_chars(self.env()).map_err(border)?;
            let bytes = original.to_bytes();
            let before = bytes.windows(replacement.len()).filter(|part| *part == replacement.as_bytes()).count();
            ensure!(
                converted.matches(REPLACEMENT).count() == before,
                Value,
                "the string '{converted}' has a lone surrogate, which UTF-8 cannot encode"
            );
        }
        Ok(converted)
    }

    /// The strings of a `String[]`.
    pub(crate) fn strings<'a>(
        &mut self,
        array: &JObjectArray<'_, JString<'_>>,
        name: impl Into<Argument<'a>>,
    ) -> Result<Vec<String>> {
        let name = name.into();
        ensure!(!array.is_null(), NullPointer, "{name} is null");
        let length = array.len(self.env()).map_err(border)?;
        let mut strings = list::with_capacity(length)?;
        for index in 0..length {
            // One local reference at a time: a large model has more names than a frame has capacity for.
            let text = array.get_element(self.env(), index).map_err(border)?;
            strings.push(self.string(&text, name)?);
            self.env().delete_local_ref(text);
        }
        Ok(strings)
    }

    /// Requests a garbage collection if Java holds much memory.
    #[inline]
    pub(super) fn check_pressure(&mut self) {
        let weight = estimate();
        if weight > PRESSURE_LIMIT.load(Ordering::Relaxed) {
            self.report_pressure(weight);
        }
    }

    /// Returns a tensor to Java, and requests a garbage collection if Java holds much memory.
    #[inline(never)]
    pub fn give(&mut self, tensor: Tensor) -> jlong {
        self.check_pressure();
        handle::give(tensor)
    }

    /// Returns tensors to Java.
    pub fn give_all(&mut self, tensors: impl IntoIterator<Item = Tensor>) -> Result<jlongArray> {
        self.give_all_optional(tensors.into_iter().map(Some))
    }

    /// Returns tensors to Java, 0 for missing ones.
    pub fn give_all_optional(&mut self, tensors: impl IntoIterator<Item = Option<Tensor>>) -> Result<jlongArray> {
        let tensors = list::collect(tensors)?;
        // The arrays are created first: if that fails, no tensor has been passed yet.
        let mut handles = list::with_capacity(tensors.len())?;
        let array = JLongs::new(self.env(), tensors.len()).map_err(border)?;
        handles.extend(tensors.into_iter().map(|tensor| tensor.map_or(0, |tensor| self.give(tensor))));
        array.set_region(self.env(), 0, &handles).map_err(border)?;
        Ok(array.as_raw())
    }

    /// Returns tensors with their names to Java: a `String[]` and a `long[]` of handles.
    pub(crate) fn give_named(&mut self, tensors: Vec<(String, Tensor)>) -> Result<jobjectArray> {
        let names = JObjectArray::<JString<'_>>::new(self.env(), tensors.len(), JString::null()).map_err(border)?;
        for (index, (name, _)) in tensors.iter().enumerate() {
            let name = self.env().new_string(name).map_err(border)?;
            names.set_element(self.env(), index, &name).map_err(border)?;
            self.env().delete_local_ref(name);
        }
        let pair = JObjectArray::<JObject<'_>>::new(self.env(), 2, JObject::null()).map_err(border)?;
        pair.set_element(self.env(), 0, JObject::from(names)).map_err(border)?;
        let handles = self.give_all(tensors.into_iter().map(|(_, tensor)| tensor))?;
        self.set_array(&pair, 1, handles)?;
        Ok(pair.as_raw())
    }

    /// Stores an array of handles in an `Object[]`.
    fn set_array(&mut self, into: &JObjectArray<'_, JObject<'_>>, index: usize, array: jlongArray) -> Result<()> {
        // SAFETY: `give_all` has just created the local reference in this frame.
        let array = unsafe { JObject::from_raw(self.env(), array) };
        into.set_element(self.env(), index, &array).map_err(border)
    }

    /// Returns a generator to Java.
    pub(crate) fn give_generator(&mut self, generator: Generator) -> jlong {
        handle::give_generator(generator)
    }

    /// A number as an `org.rushlight.Scalar`.
    pub fn give_scalar(&mut self, scalar: Scalar) -> Result<jobject> {
        let (tag, bits, imag) = convert::parts(scalar);
        let class = self.env().find_class(jni_str!("org/rushlight/Scalar")).map_err(border)?;
        let made = self.env().call_static_method(
            &class,
            jni_str!("ofParts"),
            jni_sig!("(IJD)Lorg/rushlight/Scalar;"),
            &[JValue::Int(tag), JValue::Long(bits), JValue::Double(imag)],
        );
        Ok(made.and_then(|made| made.l()).map_err(border)?.into_raw())
    }

    /// A string for Java.
    pub(crate) fn give_string(&mut self, text: &str) -> Result<jobject> {
        Ok(JObject::from(self.env().new_string(text).map_err(border)?).into_raw())
    }

    /// Calls `Memory.pressure`, which sets the next limit.
    #[cold]
    fn report_pressure(&mut self, weight: i64) {
        let called = self
            .env()
            .find_class(jni_str!("org/rushlight/internal/Memory"))
            .and_then(|class| self.env().call_static_method(&class, jni_str!("pressure"), jni_sig!("()V"), &[]));
        if called.is_err() {
            // A failure is ignored: the result of the operator matters more.
            self.env().exception_clear();
            set_pressure_limit(weight.saturating_mul(2));
        }
    }
}
