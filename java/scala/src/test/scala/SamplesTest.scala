import org.junit.jupiter.api.Assertions.{assertArrayEquals, assertEquals, assertTrue}
import org.junit.jupiter.api.Test
import org.rushlight.{DType, Index, NoGrad, Reduction, Scope, Tensor, TensorOptions, Torch}
import org.rushlight.data.{DataLoader, DistributedSampler, Example, TensorDataset}
import org.rushlight.inference.Predictor
import org.rushlight.nn.{Conv2d, CrossEntropyLoss, Functional, InterpolationMode, LSTM, Linear, MaxPool2d, Module, ReLU, Sequential, Upsample}
import org.rushlight.optim.{Adam, SGD}
import org.rushlight.training.{Accuracy, Training}
import scala.jdk.CollectionConverters.*
import scala.util.Using

/** Programs in Scala: static methods, options, modules, training and serving. */
class SamplesTest:
  /** A model as users write them. */
  private class Net extends Module:
    private val fc1 = registerModule("fc1", Linear(2, 16))
    private val fc2 = registerModule("fc2", Linear(16, 2))
    override def forward(input: Tensor): Tensor = fc2.forward(fc1.forward(input).relu())

  private def scoped[A](body: Scope => A): A = Using.resource(Scope())(body)

  @Test def staticMethodsAreVisible(): Unit = scoped: _ =>
    Torch.manualSeed(0)
    val x = Torch.randn(2, 3)
    val y = Tensor.of(1f, 2f, 3f)
    assertArrayEquals(Array(2L, 3L), x.add(y).shape())
    assertEquals(6.0, y.sum().item().doubleValue())
    assertArrayEquals(Array(0f, 2f), Functional.relu(Tensor.of(-1f, 2f)).toFloatArray())
    assertEquals(3.0, Functional.l1Loss(Tensor.of(1f, 2f), Tensor.of(0f, 0f), Reduction.SUM).item().doubleValue())
    assertEquals(DType.FLOAT64, Torch.zeros(Array(2L), TensorOptions.of(DType.FLOAT64)).dtype())
    assertArrayEquals(Array(5L, 6L), Torch.arange(0, 12).view(3, 4).get(Index.at(1), Index.slice(1, 3)).toLongArray())

  @Test def optionsAreVisible(): Unit = scoped: _ =>
    val conv = Conv2d(Conv2d.Options(3, 6, 3).withPadding(1).withStride(2))
    val lstm = LSTM(LSTM.Options(4, 5).withBidirectional(true))
    val pool = MaxPool2d(MaxPool2d.Options(2).withCeilMode(true))
    val twice = Upsample(Upsample.Options().withScaleFactor(2).withMode(InterpolationMode.BILINEAR))
    assertArrayEquals(Array(1L, 6L, 4L, 4L), conv.forward(Torch.ones(1, 3, 8, 8)).shape())
    assertEquals(8, lstm.parameters().size())
    assertArrayEquals(Array(1L, 1L, 3L, 3L), pool.forward(Torch.ones(1, 1, 5, 5)).shape())
    assertArrayEquals(Array(1L, 1L, 4L, 4L), twice.forward(Torch.ones(1, 1, 2, 2)).shape())
    List(conv, lstm, pool, twice).foreach(_.close())

  @Test def aModelLearns(): Unit = scoped: _ =>
    Torch.manualSeed(1)
    val net = Net()
    val optimizer = SGD(net.parameters(), SGD.Options(0.5).withMomentum(0.9))
    val input = Tensor.of(Array(0f, 0f, 0f, 1f, 1f, 0f, 1f, 1f), 4, 2)
    val target = Tensor.of(0L, 1L, 1L, 0L)
    val loss = CrossEntropyLoss()
    for _ <- 1 to 400 do
      scoped: _ =>
        optimizer.zeroGrad()
        loss.forward(net.forward(input), target).backward()
        optimizer.step()
    Using.resource(NoGrad()): _ =>
      net.eval()
      assertArrayEquals(Array(0L, 1L, 1L, 0L), net.forward(input).argmax(1L).toLongArray())
    optimizer.close()
    net.close()

  @Test def aTrainingWithALoader(): Unit = scoped: _ =>
    Torch.manualSeed(2)
    val points = TensorDataset(Torch.arange(0, 8).to(DType.FLOAT32).view(8, 1), Torch.arange(0, 8).ge(4).to(DType.INT64))
    val loader = DataLoader.of(points, DataLoader.Options(4).withSampler(DistributedSampler(1, 0)))
    val model = Sequential(Linear(1, 8), ReLU(), Linear(8, 2))
    val optimizer = Adam(model.parameters(), Adam.Options(0.05))
    val training = Training(model, Functional.crossEntropy(_, _), optimizer, Training.Options().withMetrics(Accuracy()))
    training.fit(loader, 60)
    assertEquals(1.0, training.evaluate(loader).metrics().asScala("accuracy"))
    List(loader, points, optimizer, model).foreach(_.close())

  @Test def aPredictorServes(): Unit = scoped: _ =>
    Using.resource(Predictor.of((input: Tensor) => input.mul(2), Predictor.Options().withMaxBatchSize(4))): predictor =>
      assertArrayEquals(Array(2f, 4f), predictor.predict(Tensor.of(1f, 2f)).toFloatArray())
      assertTrue(predictor.metrics().completed() == 1)
