using System;
using System.Runtime.InteropServices;
using System.Text;

namespace Rushlight {
    /// <summary>Strings that a function returns: UTF-8 and NUL-terminated.</summary>
    static class Utf8 {
        /// <summary>Copies a borrowed string; null for NULL.</summary>
        public static string Read(IntPtr text) {
            if (text == IntPtr.Zero) return null;
            int length = 0;
            while (Marshal.ReadByte(text, length) != 0) ++length;
            var bytes = new byte[length];
            Marshal.Copy(text, bytes, 0, length);
            return Encoding.UTF8.GetString(bytes);
        }
    }
}
