"""CoreML's rules, compared with the provider's source: the nodes that it takes, and the reasons for the rest."""

from packager.verification.partition.rules import Prediction

MLPROGRAM, NEURAL_NETWORK = "MLProgram", "NeuralNetwork"


def taken(prediction: Prediction) -> int:
    return sum(len(partition) for partition in prediction.partitions)
