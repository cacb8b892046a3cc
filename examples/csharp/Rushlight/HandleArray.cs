using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Rushlight {
    /// <summary>
    /// The addresses of several handles, for a function that takes an array. Until it is disposed of, the handles cannot be
    /// freed, not even by another thread or a finalizer.
    /// </summary>
    sealed class HandleArray : IDisposable {
        readonly List<SafeHandle> held = new List<SafeHandle>();

        /// <summary>The addresses.</summary>
        public IntPtr[] Addresses { get; }

        /// <summary>Acquires the handles.</summary>
        public HandleArray(IReadOnlyList<Tensor> tensors) {
            Addresses = new IntPtr[tensors.Count];
            try {
                for (int i = 0; i < Addresses.Length; ++i) {
                    SafeHandle handle = tensors[i].Handle;
                    bool added = false;
                    handle.DangerousAddRef(ref added);
                    held.Add(handle);
                    Addresses[i] = handle.DangerousGetHandle();
                }
            } catch {
                Dispose();
                throw;
            }
        }

        /// <summary>Releases the handles.</summary>
        public void Dispose() {
            foreach (SafeHandle handle in held) handle.DangerousRelease();
            held.Clear();
        }
    }
}
