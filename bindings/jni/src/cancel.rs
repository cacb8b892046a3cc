//! Cancel tokens of Java: `org.rushlight.CancelToken` and `CancelScope`.

use crate::support::{CancelTokenHandle, EnvUnowned, JClass, guard, jboolean, jlong};
use rushlight_base::cancel::{self, CancelToken};
use std::time::Duration;

/// `NativeCore.cancelTokenNew`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_cancelTokenNew<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
) -> jlong {
    guard(env, |_| Ok(CancelTokenHandle::give(CancelToken::new())))
}

/// `NativeCore.cancelTokenFree`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_cancelTokenFree<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    token: CancelTokenHandle,
) {
    guard(env, |_| {
        token.free();
        Ok(())
    })
}

/// `NativeCore.cancelTokenCancel`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_cancelTokenCancel<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    token: CancelTokenHandle,
) {
    guard(env, |_| {
        token.get("token")?.cancel();
        Ok(())
    })
}

/// `NativeCore.cancelTokenSetTimeout`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_cancelTokenSetTimeout<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    token: CancelTokenHandle,
    nanoseconds: jlong,
) {
    guard(env, |_| {
        token.get("token")?.set_timeout(u64::try_from(nanoseconds).ok().map(Duration::from_nanos));
        Ok(())
    })
}

/// `NativeCore.cancelTokenIsCancelled`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_cancelTokenIsCancelled<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    token: CancelTokenHandle,
) -> jboolean {
    guard(env, |_| Ok(token.get("token")?.is_cancelled()))
}

/// `NativeCore.cancelTokenEnter`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_cancelTokenEnter<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    token: CancelTokenHandle,
) {
    guard(env, |_| cancel::enter(&token.get("token")?))
}

/// `NativeCore.cancelTokenLeave`
#[unsafe(no_mangle)]
pub extern "system" fn Java_org_rushlight_internal_NativeCore_cancelTokenLeave<'l>(
    env: EnvUnowned<'l>,
    _class: JClass<'l>,
    token: CancelTokenHandle,
) {
    guard(env, |_| cancel::leave(&token.get("token")?))
}
