// Fits y = 2 a - 3 b + 1 by gradient descent.
import org.rushlight.*;
import org.rushlight.nn.Linear;
import org.rushlight.optim.SGD;

class Hello {
    public static void main(String[] arguments) {
        Torch.manualSeed(0);
        try (Scope scope = new Scope(); Linear model = new Linear(2, 1); SGD optimizer = new SGD(model.parameters(), 0.1)) {
            Tensor x = Torch.randn(64, 2);
            Tensor y = x.mm(Tensor.of(2f, -3f).view(2, 1)).add(1);
            for (int step = 0; step < 300; step++) {
                try (Scope temporaries = new Scope()) {
                    optimizer.zeroGrad();
                    Tensor error = model.forward(x).sub(y);
                    error.mul(error).mean().backward();
                    optimizer.step();
                }
            }
            System.out.println(model.weight() + "\n" + model.bias());
        }
    }
}
