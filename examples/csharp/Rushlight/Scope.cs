using System;
using System.Collections.Generic;

namespace Rushlight {
    /// <summary>
    /// Disposes of the tensors that the thread creates in it, except for those that <see cref="Keep"/> takes out. Scopes
    /// nest. A frame has one, so that the temporaries of the frame wait for no garbage collection.
    /// </summary>
    public sealed class Scope : IDisposable {
        [ThreadStatic] static Scope innermost;

        readonly Scope outer;
        readonly List<Tensor> tensors = new List<Tensor>();

        /// <summary>Opens a scope.</summary>
        public Scope() {
            outer = innermost;
            innermost = this;
        }

        /// <summary>Moves a tensor to the next outer scope, or to none.</summary>
        public Tensor Keep(Tensor tensor) {
            if (tensors.Remove(tensor) && outer != null) outer.tensors.Add(tensor);
            return tensor;
        }

        /// <summary>Adds a new tensor to the innermost scope of the thread.</summary>
        internal static void Add(Tensor tensor) { innermost?.tensors.Add(tensor); }

        /// <summary>Closes the scope, which must be the innermost one of the thread.</summary>
        public void Dispose() {
            if (innermost != this) throw new InvalidOperationException("scopes are closed in reverse order, on their own thread");
            innermost = outer;
            foreach (Tensor tensor in tensors) tensor.Dispose();
            tensors.Clear();
        }
    }
}
