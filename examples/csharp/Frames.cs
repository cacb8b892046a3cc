// A game loop that runs networks: one whose weights PyTorch saved, a TorchScript module, and one that learns while the
// game runs. It checks each result and ends with 1 if one is wrong.
// Usage: Frames FOLDER, where FOLDER has tests/data of the repository: io/model.pt and script/classifier.pt
using System;
using System.Globalization;
using System.IO;
using System.Threading;
using Rushlight;
using Rushlight.Interop;

static class Frames {
    static int failures;

    static void Expect(string what, string expected, string found) {
        bool same = expected == found;
        if (!same) ++failures;
        Console.WriteLine(same ? $"{what}: {found}" : $"{what}: {found}, expected {expected}");
    }

    static string Text(double value) { return value.ToString("0.###", CultureInfo.InvariantCulture); }

    /// <summary>Weights of PyTorch: Linear(3, 2), ReLU, Linear(2, 1). The input of a frame is in an array that the network
    /// reads without a copy.</summary>
    static void SavedWeights(string file) {
        using (var whole = new Scope())
        using (StateDict weights = StateDict.Load(file))
        using (new NoGrad()) {
            Tensor weight0 = weights["0.weight"], bias0 = weights["0.bias"];
            Tensor weight2 = weights["2.weight"], bias2 = weights["2.bias"];
            var state = new float[3];
            Tensor input = Tensor.Over(state, 1, 3);
            for (int frame = 0; frame < 4; ++frame) {
                for (int i = 0; i < state.Length; ++i) state[i] = frame - 2;
                using (var temporaries = new Scope()) {
                    Tensor hidden = input.Linear(weight0, bias0).Relu();
                    double value = hidden.Linear(weight2, bias2).Item();
                    // The weights are 0 to 5, 10 and 11, 20 and 21, 30.
                    int t = frame - 2;
                    double expected = 20 * Math.Max(3 * t + 10, 0) + 21 * Math.Max(12 * t + 11, 0) + 30;
                    Expect($"weights of PyTorch, frame {frame}", Text(expected), Text(value));
                }
            }
        }
    }

    /// <summary>A module of torch.jit.save, which finds the color of a picture.</summary>
    static void Script(string file) {
        using (var whole = new Scope())
        using (ScriptModule module = ScriptModule.Load(file)) {
            var pixels = new float[3 * 2 * 2];
            Tensor picture = Tensor.Over(pixels, 1, 3, 2, 2);
            for (int color = 0; color < 3; ++color) {
                for (int i = 0; i < pixels.Length; ++i) pixels[i] = i / 4 == color ? 1 : 0;
                using (var temporaries = new Scope()) {
                    Tensor scores = module.Forward(picture);
                    Expect($"module of TorchScript, color {color}", Text(color), Text(scores.Argmax(1).Item()));
                }
            }
        }
    }

    /// <summary>A layer that learns y = 2 a - 3 b + 1, one step of gradient descent in each frame.</summary>
    static void Learning() {
        using (var whole = new Scope()) {
            Tensor x = Tensor.FromArray(new float[] { -1, -1, -1, 1, 1, -1, 1, 1 }, 4, 2);
            Tensor y = Tensor.FromArray(new float[] { 2, -4, 6, 0 }, 4, 1);
            Tensor weight = Tensor.Zeros(1, 2), bias = Tensor.Zeros(1);
            weight.RequiresGrad = bias.RequiresGrad = true;
            for (int frame = 0; frame < 60; ++frame) {
                using (var temporaries = new Scope()) {
                    Tensor error = x.Linear(weight, bias) - y;
                    Tensor squares = error * error;
                    squares.Mean().Backward();
                    using (new NoGrad()) {
                        foreach (Tensor parameter in new[] { weight, bias }) {
                            parameter.Sub_(parameter.Grad, 0.1);
                            parameter.Grad = null;
                        }
                    }
                }
            }
            float[] learned = Tensor.Cat(0, weight.Sum(0), bias).ToArray();
            Expect("learned", "2 -3 1", string.Join(" ", Array.ConvertAll(learned, value => Text(value))));
        }
    }

    /// <summary>A network that does not fit into its frame is cancelled, and the next frame is not.</summary>
    static void Budget() {
        using (var whole = new Scope())
        using (var token = new CancelToken()) {
            Tensor weight = Tensor.Ones(512, 512);
            int code = Native.RLT_OK;
            token.SetTimeout(TimeSpan.FromMilliseconds(20));
            using (token.Enter()) {
                try {
                    for (int layer = 0; layer < 1000000; ++layer) {
                        using (var temporaries = new Scope()) weight.Matmul(weight);
                    }
                } catch (RushlightException e) {
                    code = e.Code;
                }
            }
            Expect("a network that is too large", $"error {Native.RLT_ERROR_CANCELLED}", $"error {code}");
            Expect("the next frame", "2", Text((Tensor.Ones() + 1).Item()));
        }
    }

    /// <summary>A failed call is an exception with the code and the message of the library.</summary>
    static void Errors() {
        using (var whole = new Scope()) {
            Tensor x = Tensor.Ones(2, 3);
            string found = "no error";
            try {
                x.Matmul(x);
            } catch (RushlightException e) {
                found = e.Code + " " + e.Message.Replace("\n", ";");
            }
            Expect("an error", $"{Native.RLT_ERROR_RUNTIME} mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3);  in operator mm",
                found);
            found = "no error";
            try {
                ScriptModule.Load("/there/is/no/such/file.pt");
            } catch (RushlightException e) {
                found = e.Code.ToString();
            }
            Expect("a missing file", Native.RLT_ERROR_IO.ToString(), found);
            Tensor disposed = Tensor.Ones(1);
            disposed.Dispose();
            found = "no error";
            try {
                disposed.Relu();
            } catch (ObjectDisposedException) {
                found = "ObjectDisposedException";
            }
            Expect("a tensor that was disposed of", "ObjectDisposedException", found);
        }
    }

    static long LiveHandles() {
        RushlightException.Check(Native.rlt_live_handles(out long handles));
        return handles;
    }

    /// <summary>Tensors that the program forgets are freed by their finalizers.</summary>
    static void Forgotten() {
        long before = LiveHandles(), during = 0;
        // On a thread of its own, whose stack has no reference to a tensor once it has ended.
        var thread = new Thread(() => {
            for (int i = 0; i < 1000; ++i) Tensor.Over(new float[4], 4);
            during = LiveHandles();
        });
        thread.Start();
        thread.Join();
        if (during <= before) Expect("handles in use", "more than " + before, during.ToString());
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Expect("forgotten tensors", "0 handles are left", $"{LiveHandles() - before} handles are left");
    }

    static int Main(string[] arguments) {
        string folder = arguments.Length > 0 ? arguments[0] : Path.Combine("tests", "data");
        SavedWeights(Path.Combine(folder, "io", "model.pt"));
        Script(Path.Combine(folder, "script", "classifier.pt"));
        Learning();
        Budget();
        Errors();
        Expect("handles at the end", "0", LiveHandles().ToString());
        Forgotten();
        return failures == 0 ? 0 : 1;
    }
}
