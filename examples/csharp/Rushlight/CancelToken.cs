using System;
using Rushlight.Interop;

namespace Rushlight {
    /// <summary>Cancels the calls of the threads that have entered it, at once or when its time is over.</summary>
    public sealed class CancelToken : IDisposable {
        readonly CancelTokenHandle handle;

        /// <summary>Creates a token that is not cancelled and has no deadline.</summary>
        public CancelToken() { RushlightException.Check(Native.rlt_cancel_token_new(out handle)); }

        /// <summary>Cancels the calls. Any thread may call it.</summary>
        public void Cancel() { RushlightException.Check(Native.rlt_cancel_token_cancel(handle)); }

        /// <summary>Sets the deadline, from now.</summary>
        public void SetTimeout(TimeSpan time) {
            RushlightException.Check(Native.rlt_cancel_token_set_timeout(handle, checked(time.Ticks * 100)));
        }

        /// <summary>Enters the token: calls of the thread end once it is cancelled, until the result is disposed of.</summary>
        public Entered Enter() {
            RushlightException.Check(Native.rlt_cancel_token_enter(handle));
            return new Entered(handle);
        }

        /// <summary>Frees the token. Threads that have entered it keep it until they leave it.</summary>
        public void Dispose() { handle.Dispose(); }

        /// <summary>Leaves a token.</summary>
        public struct Entered : IDisposable {
            readonly CancelTokenHandle handle;

            internal Entered(CancelTokenHandle handle) { this.handle = handle; }

            /// <summary>Leaves the token, on the thread that entered it.</summary>
            public void Dispose() { RushlightException.Check(Native.rlt_cancel_token_leave(handle)); }
        }
    }
}
