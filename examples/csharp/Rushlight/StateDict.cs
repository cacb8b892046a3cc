using System;
using Rushlight.Interop;

namespace Rushlight {
    /// <summary>Named tensors, such as those of a file that <c>torch.save(model.state_dict(), path)</c> wrote.</summary>
    public sealed class StateDict : IDisposable {
        readonly StateDictHandle handle;

        StateDict(StateDictHandle handle) { this.handle = handle; }

        /// <summary>Reads a <c>.pt</c> or <c>.safetensors</c> file.</summary>
        public static StateDict Load(string path) {
            RushlightException.Check(Native.rlt_state_dict_load(path, Native.RLT_FORMAT_AUTO, out StateDictHandle handle));
            return new StateDict(handle);
        }

        /// <summary>The tensor of a name.</summary>
        public Tensor this[string name] {
            get {
                RushlightException.Check(Native.rlt_state_dict_get(handle, name, out TensorHandle tensor));
                return new Tensor(tensor);
            }
        }

        /// <summary>The names in the order of the file.</summary>
        public string[] Names {
            get {
                RushlightException.Check(Native.rlt_state_dict_len(handle, out long length));
                var names = new string[length];
                for (long i = 0; i < length; ++i) {
                    RushlightException.Check(Native.rlt_state_dict_name_at(handle, i, out IntPtr name));
                    names[i] = Utf8.Read(name);
                }
                GC.KeepAlive(this);
                return names;
            }
        }

        /// <summary>Frees the dict and its references to tensors.</summary>
        public void Dispose() { handle.Dispose(); }
    }
}
