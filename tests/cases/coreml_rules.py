"""Formats of CoreML's models, and a count of the nodes that a prediction takes."""

from packager.verification.partition.rules import Prediction

MLPROGRAM, NEURAL_NETWORK = "MLProgram", "NeuralNetwork"


def taken(prediction: Prediction) -> int:
    return sum(len(partition) for partition in prediction.partitions)
