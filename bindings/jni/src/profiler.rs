//! The profiler and ranges of the program. `NativeProfiler` is the Java side.

use crate::support::{EnvUnowned, JClass, JLongs, JString, border, guard, jboolean, jint, jlong, jlongArray, jobject};
use jni::objects::JObjectArray;
use rushlight_base::{Result, err, handles, list};
use rushlight_tensor::observe::{self, Described, Range, Scope};
use rushlight_tensor::profile::{self, Options, Profile, SortBy, Table};

/// A profile that Java owns and keeps alive during the call.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct ProfileHandle(jlong);

impl ProfileHandle {
    fn get(&self) -> Result<&Profile> {
        // SAFETY: only `org.rushlight.Profiler` has handles, which `stop` created from a box, and it holds theirs open during
        // the call.
        unsafe { (self.0 as *const Profile).as_ref() }.ok_or_else(|| err!(NullPointer, "argument 'profile' is null"))
    }
}

/// A range that Java owns; 0: nothing observes it.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct RangeHandle(jlong);

/// `NativeProfiler.start`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeProfiler_start<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    shapes: jboolean,
    memory: jboolean,
    this_thread: jboolean,
) {
    guard(env, |_| profile::start(Options { shapes, memory, this_thread, scopes: 0 }))
}

/// `NativeProfiler.stop`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeProfiler_stop<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jlong {
    guard(env, |_| {
        let profile = profile::stop()?;
        handles::made();
        Ok(Box::into_raw(Box::new(profile)) as jlong)
    })
}

/// `NativeProfiler.free`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeProfiler_free<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    profile: ProfileHandle,
) {
    guard(env, |_| {
        if profile.0 != 0 {
            handles::freed();
            // SAFETY: the handle came from a box in `stop`; its wrapper frees it once, and does not use it afterwards.
            drop(unsafe { Box::from_raw(profile.0 as *mut Profile) });
        }
        Ok(())
    })
}

/// `NativeProfiler.isEnabled`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeProfiler_isEnabled<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jboolean {
    guard(env, |_| Ok(profile::is_enabled()))
}

/// `NativeProfiler.table`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeProfiler_table<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    profile: ProfileHandle,
    sort_by: JString<'l>,
    rows: jint,
    by_shape: jboolean,
) -> jobject {
    guard(env, |frame| {
        let sort_by: SortBy = frame.string(&sort_by, "sortBy")?.parse()?;
        let table = Table { sort_by, rows: usize::try_from(rows).ok(), by_shape };
        frame.give_string(&profile.get()?.table(table)?)
    })
}

/// `NativeProfiler.chromeTrace`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeProfiler_chromeTrace<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    profile: ProfileHandle,
    path: JString<'l>,
) {
    guard(env, |frame| {
        let path = frame.string(&path, "path")?;
        profile.get()?.save_chrome_trace(path.as_ref())
    })
}

/// `NativeProfiler.names`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeProfiler_names<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    profile: ProfileHandle,
) -> jobject {
    guard(env, |frame| {
        let names = &profile.get()?.names;
        let array = JObjectArray::<JString<'_>>::new(frame.env(), names.len(), JString::null()).map_err(border)?;
        for (index, name) in names.iter().enumerate() {
            let name = frame.env().new_string(name).map_err(border)?;
            array.set_element(frame.env(), index, &name).map_err(border)?;
            frame.env().delete_local_ref(name);
        }
        Ok(array.as_raw())
    })
}

/// `NativeProfiler.events`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeProfiler_events<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    profile: ProfileHandle,
) -> jlongArray {
    guard(env, |frame| {
        let numbers = numbers(profile.get()?)?;
        let array = JLongs::new(frame.env(), numbers.len()).map_err(border)?;
        array.set_region(frame.env(), 0, &numbers).map_err(border)?;
        Ok(array.as_raw())
    })
}

/// The events, one after the other: their numbers, then the inputs, each with its argument, dtype (-1: none) and sizes.
fn numbers(profile: &Profile) -> Result<Vec<i64>> {
    let mut numbers = Vec::new();
    for event in &profile.events {
        let fields = [
            event.name as i64,
            event.scope as i64,
            i64::from(event.depth),
            event.parent.map_or(-1, |parent| parent as i64),
            event.thread as i64,
            event.forward_thread as i64,
            event.sequence,
            event.start as i64,
            event.duration as i64,
            event.self_duration as i64,
            event.allocated,
            event.freed,
            event.self_bytes,
            event.inputs.len() as i64,
        ];
        append(&mut numbers, &fields)?;
        for input in &event.inputs {
            let dtype = input.dtype.map_or(-1, |dtype| dtype as i64);
            append(&mut numbers, &[i64::from(input.argument), dtype, input.sizes.len() as i64])?;
            append(&mut numbers, &input.sizes)?;
        }
    }
    Ok(numbers)
}

fn append(numbers: &mut Vec<i64>, more: &[i64]) -> Result<()> {
    more.iter().try_for_each(|number| list::push(numbers, *number))
}

/// `NativeProfiler.begin`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeProfiler_begin<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    name: JString<'l>,
) -> jlong {
    guard(env, |frame| {
        let name = frame.string(&name, "name")?;
        let Some(range) = observe::begin(Scope::User, Described { name, ..Described::default() }) else { return Ok(0) };
        handles::made();
        Ok(Box::into_raw(Box::new(range)) as jlong)
    })
}

/// `NativeProfiler.end`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeProfiler_end<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    range: RangeHandle,
) {
    guard(env, |_| {
        if range.0 != 0 {
            handles::freed();
            // SAFETY: the handle came from a box in `begin`; `Profiler.Range` passes it once, and does not use it afterwards.
            drop(unsafe { Box::from_raw(range.0 as *mut Range) });
        }
        Ok(())
    })
}
