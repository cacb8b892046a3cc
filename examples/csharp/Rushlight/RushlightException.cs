using System;
using Rushlight.Interop;

namespace Rushlight {
    /// <summary>A call failed. The message names the operator, shapes and dtypes.</summary>
    public sealed class RushlightException : Exception {
        /// <summary>The error number: one of <c>Native.RLT_ERROR_*</c>.</summary>
        public int Code { get; }

        /// <summary>Creates an exception.</summary>
        public RushlightException(int code, string message) : base(message) { Code = code; }

        /// <summary>Throws the last error of the calling thread if a status reports one.</summary>
        public static void Check(int status) {
            if (status != Native.RLT_OK) throw new RushlightException(status, Utf8.Read(Native.rlt_last_error_message()));
        }
    }
}
