using System;
using Rushlight.Interop;
// System has a class of this name.
using ModuleHandle = Rushlight.Interop.ModuleHandle;

namespace Rushlight {
    /// <summary>A module that <c>torch.jit.save</c> wrote.</summary>
    public sealed class ScriptModule : IDisposable {
        readonly ModuleHandle handle;

        ScriptModule(ModuleHandle handle) { this.handle = handle; }

        /// <summary>Reads a file.</summary>
        public static ScriptModule Load(string path) {
            RushlightException.Check(Native.rlt_module_load(path, out ModuleHandle handle));
            return new ScriptModule(handle);
        }

        /// <summary>Runs <c>forward</c>, whose result must be a tensor.</summary>
        public Tensor Forward(params Tensor[] inputs) {
            using (var handles = new HandleArray(inputs)) {
                var arguments = new Value[inputs.Length];
                for (int i = 0; i < arguments.Length; ++i) {
                    arguments[i].tag = Native.RLT_VALUE_TENSOR;
                    arguments[i].@as.tensor = handles.Addresses[i];
                }
                RushlightException.Check(
                    Native.rlt_module_run(handle, "forward", arguments, arguments.LongLength, null, 0, out Value result));
                if (result.tag != Native.RLT_VALUE_TENSOR) {
                    int tag = result.tag;
                    Native.rlt_value_free(ref result);
                    throw new InvalidOperationException($"forward returned a value with the tag {tag}, not a tensor");
                }
                // The value is owned: its tensor now belongs to the handle.
                return new Tensor(new TensorHandle(result.@as.tensor, true));
            }
        }

        /// <summary>Frees the module.</summary>
        public void Dispose() { handle.Dispose(); }
    }
}
