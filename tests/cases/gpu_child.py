"""The program that runs TensorRT: its decisions and its protocol, with stand-ins for TensorRT and pycuda."""

import numpy

F32 = numpy.float32
